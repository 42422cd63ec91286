package web

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/phone"
	"smsdesk/internal/picture"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// TestOverviewBegins: nothing is there, and the page says what to do.
func TestOverviewBegins(t *testing.T) {
	s := newSite(t)
	s.as(s.boss).get("/").is(200).has("Overview", "No provider account connected", "Connect to the provider")
	s.clinic()
	page := s.as(s.boss).get("/").is(200).has("No messages yet", "Send yourself a test message")
	s.leads(page)
	viewer := s.hire("vera@example.com", sms.Viewer)
	s.as(viewer).get("/").is(200).has("No messages yet").lacks("New message", "Send yourself")
}

// TestOverviewSaysWhatNeedsSomebody: a broken network, a pause, a doubt and a
// report that nobody knows, each with the way to it.
func TestOverviewSaysWhatNeedsSomebody(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	for slot := range 8 {
		var numbers []string
		for i := range 10 {
			numbers = append(numbers, fmt.Sprintf("0803%07d", 1000+slot*10+i))
		}
		c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: strings.Join(numbers, "\n"),
			Text: fmt.Sprint("Slot ", slot)})
		s.send(a, 10, accept)
		status := "DELIVRD"
		if slot >= 4 {
			status = "UNDELIV"
		}
		for _, m := range s.messages(c) {
			s.reports(a, sms.DeliveryReport{ProviderID: m.ProviderID, Mobile: m.Number, Status: status, ErrorCode: "27"})
		}
		s.clock.pass(10 * time.Minute)
	}
	s.reports(a, sms.DeliveryReport{ProviderID: "nobody-knows", Mobile: "2348039999999", Status: "DELIVRD"})
	page := s.as(s.boss).get("/").is(200)
	page.has("Needs your attention", "MTN: messages from CLINIC have been failing since",
		"of today's messages have not been delivered", "1 delivery report matches no message", "Its message ID is not one the provider gave us.",
		"failing since", "Messages in the last 30 days", "Latest campaigns", "No scheduled campaigns.")
	s.leads(page)
	if got := page.text("#today-all"); got != "80" {
		t.Errorf("today: %q", got)
	}
	if got := page.text("#heat-0 .sum"); !strings.HasPrefix(got, "50.0%") || page.text("#heat-0 th") != "MTN" {
		t.Errorf("the network: %q", got)
	}
	if says := page.attr("#days svg", "aria-label"); says != "Messages in the last 30 days. 40 delivered, 40 not "+
		"delivered and 0 awaiting report. Busiest: Wednesday 3 June with 80 messages." {
		t.Errorf("the columns say %q", says)
	}
	page.count("#actions li", 4).count("#actions .btn:not(.quiet)", 1)
	viewer := s.hire("vera@example.com", sms.Viewer)
	s.as(viewer).get("/").is(200).has("have been failing").lacks("0803 000 0")
}

// TestTheOverviewsFiguresAreTheCounts: what stands in the columns and in the map of
// networks and hours, and in the tables behind them, is what the messages say.
func TestTheOverviewsFiguresAreTheCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 1))
	statuses := []string{"DELIVRD", "DELIVRD", "DELIVRD", "UNDELIV", "EXPIRED", "UNKNOWN", "ACCEPTD", ""}
	for round := range 4 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			s := newSite(t)
			a := s.clinic()
			days, hours := map[string][4]int64{}, map[string]picture.Cell{}
			for batch := range 5 {
				c := s.started(s.boss, desk.Order{AccountID: a.ID, Text: fmt.Sprint("Batch ", batch), Numbers: scattered(random, 12)})
				s.send(a, 12, func(call sms.Call) sms.Outcome {
					o := accept(call)
					for i := range o.Rows {
						o.Rows[i].ProviderID += fmt.Sprint("-", batch)
					}
					return o
				})
				for _, m := range s.messages(c) {
					if status := statuses[random.IntN(len(statuses))]; status != "" {
						s.reports(a, sms.DeliveryReport{ProviderID: m.ProviderID, Mobile: m.Number, Status: status, ErrorCode: "27"})
					}
				}
				for _, m := range s.messages(c) {
					left := time.UnixMilli(m.SentAt).In(a.Location())
					place := slices.Index([]sms.Tile{sms.TileDelivered, sms.TileFailed, sms.TileNetwork}, m.Standing().Tile)
					day := days[left.Format("Monday 2 January")]
					day[(place+4)%4]++
					days[left.Format("Monday 2 January")] = day
					hour := phone.Network(m.Number) + left.Format(" 2 15")
					cell := picture.Cell{Sent: 1}
					switch place {
					case 0:
						cell.Delivered = 1
					case 1:
						cell.Failed = 1
					}
					hours[hour] = hours[hour].Add(cell)
				}
				s.clock.pass(time.Duration(random.IntN(20*60)) * time.Minute)
			}
			s.theColumnsSay(t, days)
			s.theMapSays(t, a, hours)
		})
	}
}

// scattered are numbers of several networks.
func scattered(random *rand.Rand, n int) string {
	var numbers []string
	for i := range n {
		prefix := []string{"0803", "0805", "0802", "0809"}[random.IntN(4)]
		numbers = append(numbers, fmt.Sprintf("%s%07d", prefix, 1000+i))
	}
	return strings.Join(numbers, "\n")
}

func (s *site) theColumnsSay(t *testing.T, want map[string][4]int64) {
	t.Helper()
	page, seen := s.as(s.boss).get("/").is(200), 0
	page.page().Find("#days-table tbody tr").Each(func(_ int, row *goquery.Selection) {
		name := strings.TrimSpace(row.Find("th").Text())
		row.Find("td").Each(func(i int, cell *goquery.Selection) {
			if n := want[name][i]; figure(t, cell.Text()) != n {
				t.Errorf("%s: figure %d is %s, want %d", name, i, cell.Text(), n)
			}
		})
		all := want[name][0] + want[name][1] + want[name][2] + want[name][3]
		column := page.page().Find("#days svg a").FilterFunction(func(_ int, a *goquery.Selection) bool {
			return strings.HasPrefix(a.Find("title").Text(), name+": "+views.Plural(int(all), "message", "messages"))
		})
		if seen++; column.Length() != min(1, int(all)) {
			t.Errorf("%s: %d columns of %d messages", name, column.Length(), all)
		}
	})
	if seen != 30 {
		t.Errorf("%d days", seen)
	}
}

func (s *site) theMapSays(t *testing.T, a sms.Account, want map[string]picture.Cell) {
	t.Helper()
	page, now := s.as(s.boss).get("/").is(200), s.clock.now().In(a.Location())
	left := map[string]bool{}
	for hour, cell := range want {
		left[hour] = cell.Sent > 0
	}
	page.page().Find(".heat tbody tr").Each(func(_ int, row *goquery.Selection) {
		row.Find("td:not(.sum)").Each(func(i int, cell *goquery.Selection) {
			key := row.Find("th").Text() + now.Add(time.Duration(i-23)*time.Hour).Format(" 2 15")
			delete(left, key)
			words := cell.AttrOr("title", "")
			if w := want[key]; w.Sent == 0 && words != "nothing sent" || w.Sent > 0 && (!strings.HasPrefix(words,
				fmt.Sprintf("%d delivered, %d not delivered", w.Delivered, w.Failed)) ||
				w.Share() >= 0 && !strings.HasPrefix(cell.Text(), fmt.Sprint(w.Share()))) {
				t.Errorf("%s: %q %q, want %+v", key, cell.Text(), words, w)
			}
		})
	})
	for hour := range left {
		if at, err := time.ParseInLocation("2 15", hour[strings.Index(hour, " ")+1:], a.Location()); err == nil &&
			at.Day() == now.Day() {
			t.Errorf("%s is not in the map", hour)
		}
	}
}

// TestTheOverviewRenewsItsParts: what comes with a fragment takes the place of what
// has its name, and never goes into it.
func TestTheOverviewRenewsItsParts(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: "0803 000 0101"})
	s.send(a, 1, accept)
	fragment := s.as(s.boss).fragment("/?days=14").is(200).has("Messages in the last 14 days")
	parts := fragment.page().Find("hx-partial")
	parts.Each(func(_ int, part *goquery.Selection) {
		if id := part.Children().First().AttrOr("id", ""); "#"+id != part.AttrOr("hx-target", "") || part.Children().Length() != 1 {
			t.Errorf("the part for %s is %q", part.AttrOr("hx-target", ""), id)
		}
	})
	if parts.Length() != 2 {
		t.Errorf("%d parts", parts.Length())
	}
}

// TestTwoCampaignsOfOneName are told apart by their time wherever that does not
// stand beside them, and by their number where even that is the same.
func TestTwoCampaignsOfOneName(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	for range 2 {
		c := s.started(s.boss, desk.Order{AccountID: a.ID, Name: "Reminder", Numbers: "0803 000 0101", Text: "Come."})
		s.send(a, 1, accept)
		s.reports(a, report(s.messages(c)[0].ProviderID, "DELIVRD", "000"))
	}
	s.as(s.boss).get("/").is(200).count("#latest tbody tr", 2).has("no. 1", "no. 2")
}

// TestOverviewTellsNumbersToCheck: failed twice, not blocked, as far as a role
// may see and do; nothing where there is none.
func TestOverviewTellsNumbersToCheck(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	for round, status := range []string{"UNDELIV", "EXPIRED"} {
		c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: "0803 000 0101\n0803 000 0102\n0805 000 0103",
			Text: fmt.Sprint("Round ", round)})
		s.send(a, 3, func(call sms.Call) sms.Outcome {
			o := accept(call)
			for i := range o.Rows {
				o.Rows[i].ProviderID += fmt.Sprint("-", round)
			}
			return o
		})
		for i, m := range s.messages(c) {
			if i == 2 && round > 0 {
				status = "DELIVRD"
			}
			s.reports(a, sms.DeliveryReport{ProviderID: m.ProviderID, Mobile: m.Number, Status: status, ErrorCode: "27"})
		}
		if round == 0 {
			b.get("/").is(200).lacks("Numbers to check")
		}
	}
	page := b.get("/").is(200).has("Numbers to check").count("#check tbody tr", 2)
	s.leads(page)
	row := strings.Join(strings.Fields(page.text("#check tbody tr")), " ")
	for _, words := range []string{"0803 000 0102", "2 times", "Not delivered, expired", "EXPIRED, code 27",
		"View messages", "Block"} {
		if !strings.Contains(row, words) {
			t.Errorf("%q is not in %q", words, row)
		}
	}
	b.get(b.post(views.MessagesPath+"/search", "message", page.attr("#check input[name=message]", "value")).header.Get(
		"Location")).is(200).has("2 messages to 0803 000 0102")

	viewer := s.as(s.hire("vera@example.com", sms.Viewer))
	viewer.get("/").is(200).has("Numbers to check", "2 times").lacks("0803 000 010",
		"23480300010").count("#check a[href$='/block']", 0)

	_, _, err := s.desk.BlockNumbers(t.Context(), s.boss, desk.BlockOrder{AccountID: a.ID, Numbers: "0803 000 0102"})
	s.must(err)
	b.get("/").is(200).has("0803 000 0101").count("#check tbody tr", 1)
	b.fragment("/").is(200).lacks("Numbers to check")
}

// TestBreakdownCutsTheCampaign: by network, by reason and by time, as the
// messages themselves say.
func TestBreakdownCutsTheCampaign(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID,
		Numbers: "0803 000 0101\n0803 000 0102\n0805 000 0103\n0802 000 0104"})
	b := s.as(s.boss)
	address := fmt.Sprintf("/campaigns/%d/breakdown", c.ID)
	b.get(address).is(200).has("Networks appear once the provider has accepted messages.", "Nothing has been sent yet.",
		"No undelivered messages so far.")
	s.send(a, 4, accept)
	for i, m := range s.messages(c) {
		s.reports(a, sms.DeliveryReport{ProviderID: m.ProviderID, Mobile: m.Number,
			Status: []string{"DELIVRD", "UNDELIV", "EXPIRED", "ACCEPTD"}[i], ErrorCode: []string{"", "27", "", ""}[i]})
		s.clock.pass(time.Minute)
	}
	page := b.get(address).is(200).has("Sent and reported", "UNDELIV, code 27", "EXPIRED",
		"The phone was probably off or out of coverage for too long.", "Of those sent")
	s.leads(page)
	for network, want := range map[string]string{"MTN": "MTN50.0% of 2 10", "Glo": "Glo0% of 1 10",
		"Airtel": "Airtel0% of 1 01"} {
		if all := strings.Join(strings.Fields(page.text("#networks tbody")), " "); !strings.Contains(all, want) {
			t.Errorf("%s: %q", network, all)
		}
	}
	b.post(fmt.Sprintf("/campaigns/%d/find", c.ID), "number", "0803-000-0102").is(303)
	if to := b.post(fmt.Sprintf("/campaigns/%d/find", c.ID), "number", "0803-000-0102", "state",
		"undelivered").is(303).header.Get("Location"); strings.Contains(to, "0102") || !strings.Contains(to, "find=") || !strings.Contains(to, "state=undelivered") {
		t.Errorf("led to %q", to)
	} else {
		b.get(to).is(200).has("1 message found", "0803 000 0102").lacks("0803 000 0101")
		s.as(s.hire("vera@example.com", sms.Viewer)).get(to).is(200).has("This search has expired.").lacks("0803 000 0102")
	}
	b.post(fmt.Sprintf("/campaigns/%d/find", c.ID), "number",
		"12").is(422).has("Enter the full number, or at least its last 4 digits")
	b.get(fmt.Sprintf("/campaigns/%d?network=Glo&text=nowhere", c.ID)).is(200).has("No messages match.")
}

// TestAskingTheProvider: a sender asks, a viewer may not, and what was answered
// stands on the page.
func TestAskingTheProvider(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(1)})
	s.send(a, 1, accept)
	m := s.messages(c)[0]
	viewer := s.as(s.hire("vera@example.com", sms.Viewer))
	viewer.get(messagePath(m)).is(200).lacks("Ask the provider")
	viewer.post(messagePath(m) + "/ask").is(403)
	b := s.as(s.boss)
	b.get(messagePath(m)).is(200).has("Ask the provider for its status")
	b.post(messagePath(m) + "/ask").is(303)
	b.get(messagePath(m)).is(200).has("Status requested from the provider").lacks("Ask the provider for its status")
	q, err := s.db.NextAsked(t.Context(), a.ID)
	s.must(err)
	q.AskedAt, q.Answer.Status, q.Answer.Number, q.Answer.Raw = s.clock.now().UnixMilli(), "SUBMITTED", m.Number,
		`{"Status":"SUBMITTED","MobileNumber":"`+m.Number+`"}`
	_, _, err = s.db.PutAnswer(t.Context(), q, a.Country)
	s.must(err)
	b.get(messagePath(m)).is(200).has("Provider answer", "“SUBMITTED”", `"Status":"SUBMITTED"`, "No change.",
		"Ask the provider for its status")
	viewer.get(messagePath(m)).is(200).has("Provider answer").lacks(m.Number, `"Status":"SUBMITTED"`)
	b.get("/messages/999999/ask").is(303)
	b.post("/messages/999999/ask").is(404)
}
