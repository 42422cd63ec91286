package web

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// TestThePicturesFiguresAreTheCounts: what stands in the pictures of a campaign of
// any fate, and in the tables behind them, is what the database counts.
func TestThePicturesFiguresAreTheCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 2))
	for round := range 6 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			s := newSite(t)
			a := s.clinic()
			c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(40)})
			s.send(a, 2+random.IntN(3), accept)
			statuses := []string{"DELIVRD", "DELIVRD", "DELIVRD", "UNDELIV", "EXPIRED", "UNKNOWN", "ACCEPTD", ""}
			for i := range 40 {
				if status := statuses[random.IntN(len(statuses))]; status != "" {
					s.clock.pass(time.Duration(random.IntN(4_000)) * time.Millisecond)
					s.reports(a, report(strconv.Itoa(1000+i), status, "000"))
				}
			}
			tally, err := s.db.Tally(t.Context(), c.ID)
			s.must(err)
			page := s.as(s.boss).get(views.CampaignPath(c.ID)).is(200)
			n := func(tile sms.Tile) int64 { return tally.Tile(tile) }
			unsure := n(sms.TileUnknown) + n(sms.TileDecision)
			sent := n(sms.TileNetwork) + n(sms.TileDelivered) + n(sms.TileFailed) + unsure
			sums := make([]int64, 4)
			page.page().Find("#flow-table tbody tr").Each(func(_ int, row *goquery.Selection) {
				row.Find("td").Each(func(i int, cell *goquery.Selection) { sums[i] += figure(t, cell.Text()) })
			})
			if want := []int64{sent, n(sms.TileDelivered), n(sms.TileFailed), unsure}; fmt.Sprint(sums) != fmt.Sprint(want) {
				t.Errorf("the table adds up to %v, want %v", sums, want)
			}
			for words, want := range map[string]int64{"Delivered": n(sms.TileDelivered), "Not delivered": n(sms.TileFailed),
				"Awaiting report": n(sms.TileNetwork), "Unknown, to decide": unsure} {
				got := int64(0)
				page.page().Find(".ends text").Each(func(_ int, e *goquery.Selection) {
					if number := e.Find("tspan").Text(); strings.TrimSuffix(e.Text(), number) == words+" " {
						got = figure(t, number)
					}
				})
				if got != want {
					t.Errorf("the picture says %s %d, want %d", words, got, want)
				}
			}
			bins, rows := int64(0), page.page().Find("#speed-table tbody td")
			rows.Each(func(_ int, cell *goquery.Selection) { bins += figure(t, cell.Text()) })
			if rows.Length() > 0 && bins != n(sms.TileDelivered) || rows.Length() == 0 && n(sms.TileDelivered) >= 20 {
				t.Errorf("the histogram holds %d of %d", bins, n(sms.TileDelivered))
			}
		})
	}
}

func figure(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTheBreakdownsFiguresAreTheCounts: the curve's table adds up to what left and
// what became of it, and each number of the matrix is as many messages as it opens.
func TestTheBreakdownsFiguresAreTheCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 3))
	for round := range 4 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			s := newSite(t)
			a := s.clinic()
			var numbers []string
			for i := range 40 {
				numbers = append(numbers, []string{"0803", "0805", "0802"}[random.IntN(3)]+fmt.Sprintf("%07d", 1000+i))
			}
			c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: strings.Join(numbers, " ")})
			s.send(a, 1, accept)
			s.clock.pass(time.Duration(random.IntN(100)) * time.Second)
			s.send(a, 9, accept)
			for _, m := range s.messages(c) {
				status := []string{"DELIVRD", "UNDELIV", "EXPIRED", "REJECTD", "UNKNOWN", ""}[random.IntN(6)]
				if m.ProviderID != "" && status != "" {
					s.clock.pass(time.Duration(random.IntN(9_000)) * time.Millisecond)
					s.reports(a, sms.DeliveryReport{ProviderID: m.ProviderID, Mobile: m.Number, Status: status})
				}
			}
			tally, err := s.db.Tally(t.Context(), c.ID)
			s.must(err)
			b := s.as(s.boss)
			page := b.get(views.CampaignPath(c.ID) + "/breakdown").is(200)
			n := func(tile sms.Tile) int64 { return tally.Tile(tile) }
			sums := make([]int64, 3)
			page.page().Find("#curve-table tbody tr").Each(func(_ int, row *goquery.Selection) {
				row.Find("td").Each(func(i int, cell *goquery.Selection) { sums[i] += figure(t, cell.Text()) })
			})
			sent := n(sms.TileNetwork) + n(sms.TileDelivered) + n(sms.TileFailed) + n(sms.TileUnknown)
			if want := []int64{sent, n(sms.TileDelivered), n(sms.TileFailed)}; fmt.Sprint(sums) != fmt.Sprint(want) {
				t.Errorf("the table adds up to %v, want %v", sums, want)
			}
			if got := figure(t, page.text("#matrix-together td:last-child")); got != n(sms.TileFailed) {
				t.Errorf("the matrix holds %d, want %d", got, n(sms.TileFailed))
			}
			page.page().Find("#matrix tbody a").Each(func(_ int, cell *goquery.Selection) {
				href, _ := cell.Attr("href")
				number := figure(t, strings.TrimSuffix(cell.Text(), cell.Find(".vh").Text()))
				if rows := b.get(href).is(200).page().Find("#messages tbody tr").Length(); int64(rows) != number {
					t.Errorf("%s says %d and opens %d", href, number, rows)
				}
			})
		})
	}
}

// TestABreakdownIsComparedWithTheOneBefore of the same name, and says why nothing was
// sent for a while.
func TestABreakdownIsComparedWithTheOneBefore(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	first := s.started(s.boss, desk.Order{AccountID: a.ID, Name: "June reminder", Numbers: typed(4)})
	s.send(a, 9, accept)
	s.reports(a, report("1000", "DELIVRD", "000"))
	b.get(views.CampaignPath(first.ID)+"/breakdown").count("#compared", 0)
	s.clock.pass(time.Hour)
	second := s.started(s.boss, desk.Order{AccountID: a.ID, Name: "June reminder", Numbers: typed(12), Text: "Another"})
	s.send(a, 1, accept)
	b.post(views.CampaignPath(second.ID) + "/stop").is(303)
	s.clock.pass(40 * time.Second)
	b.post(views.CampaignPath(second.ID) + "/continue").is(303)
	s.send(a, 9, accept)
	page := b.get(views.CampaignPath(second.ID)+"/breakdown").is(200).has("without sending, stopped by "+s.boss.Name+".",
		"1 (25.0%)")
	if href := page.attr("#compared-with", "href"); href != views.CampaignPath(first.ID) {
		t.Errorf("compared with %s", href)
	}
	s.leads(page)
}
