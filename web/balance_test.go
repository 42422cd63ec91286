package web

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/picture"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// TestTheBalancesFiguresAreWhatWasUsed: the columns, the table behind them and the
// downloaded table hold the parts that were accepted and what they cost, whatever
// was sent when; and how long the balance lasts is told from five days on.
func TestTheBalancesFiguresAreWhatWasUsed(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 5))
	for round := range 3 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			s := newSite(t)
			a := s.clinic(func(a *sms.Account) { a.PricePerPart, a.Currency = int64(1+random.IntN(900)), "₦" })
			s.must(s.db.PutBalances(t.Context(), a.ID, []sms.Balance{{PluginType: "SMS", Credits: "₦57,524.50"}},
				s.clock.now().UnixMilli()))
			want, month := map[string]int64{}, ""
			for day := range 8 {
				page := s.as(s.boss).get("/balance").is(200)
				if told := !strings.Contains(page.text("#balance-live"), "Too few days"); told != (day > picture.FewDays-1) {
					t.Errorf("after %d days: %q", day, page.text("#balance-live"))
				}
				parts := int64(1 + random.IntN(9))
				s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: scattered(random, int(parts)), Text: fmt.Sprint("Day ", day)})
				s.send(a, 9, accept)
				now := s.clock.now().In(a.Location())
				if now.Format("2006-01") != month {
					want, month = map[string]int64{}, now.Format("2006-01")
				}
				want[now.Format("Monday 2 January")] += parts
				s.clock.pass(24 * time.Hour)
			}
			s.usageSays(t, a, month, want)
		})
	}
}

func (s *site) usageSays(t *testing.T, a sms.Account, month string, want map[string]int64) {
	t.Helper()
	all := int64(0)
	for _, parts := range want {
		all += parts
	}
	page := s.as(s.boss).get("/balance?month=" + month).is(200)
	cost := views.Money("₦", all*a.PricePerPart)
	if head := page.text("#usage h2"); !strings.HasSuffix(head, ": "+cost+" for "+views.Plural(int(all), "part", "parts")) {
		t.Errorf("%q, want %s for %d", head, cost, all)
	}
	if last := page.text("#usage-table tbody tr:last-child"); !strings.Contains(last, cost) {
		t.Errorf("the table ends with %q, want %s", last, cost)
	}
	columns := page.page().Find("#usage-days svg a")
	columns.Each(func(_ int, column *goquery.Selection) {
		day, says, _ := strings.Cut(column.Find("title").Text(), ": ")
		exact, left := want[day]*a.PricePerPart, ""
		if left = views.Money("₦", exact); exact >= 10_000 {
			left = views.Money("₦", (exact+50)/100*100)
		}
		if says != strings.TrimSuffix(left, ".00") || exact == 0 {
			t.Errorf("%s: %q, want %s", day, says, left)
		}
	})
	if columns.Length() != len(want) {
		t.Errorf("%d columns of %d days", columns.Length(), len(want))
	}
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(s.as(s.boss).get("/balance/usage.csv?month="+
		month).is(200).body, "\ufeff"))).ReadAll()
	s.must(err)
	sum := int64(0)
	for _, row := range rows[1:] {
		var whole, hundredths int64
		_, err := fmt.Sscanf(row[len(row)-1], "%d.%d", &whole, &hundredths)
		s.must(err)
		sum += 100*whole + hundredths
	}
	if rows[0][len(rows[0])-1] != "Estimated cost" || sum != all*a.PricePerPart {
		t.Errorf("the downloaded table costs %d under %q, want %d", sum, rows[0], all*a.PricePerPart)
	}
}

// TestTheBalanceTakesWhatIsPlannedOff before it tells how long the rest lasts.
func TestTheBalanceTakesWhatIsPlannedOff(t *testing.T) {
	now := time.Date(2026, time.June, 3, 12, 0, 0, 0, time.UTC)
	balance := func(credits string, unpaid int64) string {
		p := views.BalancePage{Balances: []sms.Balance{{PluginType: "SMS", Credits: credits}}}
		left, _ := p.Balances[0].Amount()
		p.Outlook = views.Outlook{Now: now, Currency: "₦", Left: left, Unpaid: unpaid,
			Price: views.PriceOf(sms.Account{PricePerPart: 400}, sms.LearntPrice{}),
			Used:  []int64{100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100}}
		var out strings.Builder
		if err := views.BalanceLive(p).Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for _, tc := range []struct {
		credits string
		unpaid  int64
		want    string
	}{
		{"₦4,400.00", 0, "Lasts about 11 days, to 14 June"},
		{"₦4,400.00", 500, "Lasts about 6 days, to 9 June"},
		{"₦4,400.00", 500, "after ₦2,000 for what is still to be sent"},
		{"₦4,400.00", 1200, "Not enough for what is still to be sent"},
		{"₦399.00", 0, "Lasts less than a day"},
		{"₦400,000.00", 0, "Lasts more than a year"},
	} {
		if page := balance(tc.credits, tc.unpaid); !strings.Contains(page, tc.want) {
			t.Errorf("%s less %d parts: %q is not in %q", tc.credits, tc.unpaid, tc.want, page)
		}
	}
}

// TestManyReadingsAreOnePicture: the page stays as small as with few of them.
func TestManyReadingsAreOnePicture(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	for i := range 400 {
		s.must(s.db.PutBalances(t.Context(), a.ID, []sms.Balance{{PluginType: "SMS", Credits: fmt.Sprintf("₦%d.00", 9000-i)}},
			s.clock.now().UnixMilli()))
		s.clock.pass(time.Minute)
	}
	page := s.as(s.boss).get("/balance").is(200)
	if n := strings.Count(page.attr("#balance-line path.e", "d"), "V"); n < 100 || n > 120 {
		t.Errorf("%d steps are drawn of 400 readings", n)
	}
	page.has("Lowest ₦8601.00")
}
