package views

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"smsdesk/internal/sms"
)

// TestSendingHoursInALine: what differs is told, by name where it is short.
func TestSendingHoursInALine(t *testing.T) {
	own := func(days ...time.Weekday) (h sms.Hours) {
		h.From, h.To = 480, 1200
		for _, d := range days {
			h.Own[d] = sms.DayHours{Set: true, From: 540, To: 840}
		}
		return h
	}
	closed := own()
	closed.Own[time.Sunday] = sms.DayHours{Set: true, Closed: true}
	abroad := closed
	abroad.Own[time.Saturday], abroad.Zone = sms.DayHours{Set: true, From: 540, To: 840}, "Africa/Nairobi"
	for want, h := range map[string]sms.Hours{
		"Any time":                                  {},
		"8:00am to 8:00pm":                          own(),
		"8:00am to 8:00pm, not on Sunday":           closed,
		"8:00pm to 6:30am":                          {From: 1200, To: 390},
		"8:00am to 8:00pm, other hours on Saturday": own(time.Saturday),
		"8:00am to 8:00pm, other hours on 3 days":   own(time.Saturday, time.Monday, time.Friday),
		"8:00am to 8:00pm, not on Sunday, other hours on Saturday, Nairobi time": abroad,
	} {
		if got := hoursWords(h); got != want {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
	}
}

// TestWhetherCampaignsSendNow says until when, in the zone of the page.
func TestWhetherCampaignsSendNow(t *testing.T) {
	lagos, _ := time.LoadLocation("Africa/Lagos")
	at := func(hour int) time.Time { return time.Date(2026, 6, 3, hour, 0, 0, 0, lagos) }
	day, night := sms.Hours{From: 480, To: 1200}, sms.Hours{From: 1200, To: 480}
	there := sms.Hours{From: 480, To: 1200, Zone: "Africa/Nairobi"}
	for _, c := range []struct {
		hours sms.Hours
		at    time.Time
		want  string
	}{
		{sms.Hours{}, at(3), "Campaigns send at any time"},
		{day, at(10), "Campaigns send now, until 8:00pm"},
		{day, at(21), "Campaigns wait now, until tomorrow at 8:00am"},
		{night, at(21), "Campaigns send now, until tomorrow at 8:00am"},
		{there, at(10), "Campaigns send now, until 6:00pm"},
	} {
		if got := openWords(c.hours, c.at); got != c.want {
			t.Errorf("%s at %s: %q, want %q", c.hours.Words(), c.at, got, c.want)
		}
	}
}

// TestTheWeekIsWhatTheHoursSay: each strip is open where campaigns may send.
func TestTheWeekIsWhatTheHoursSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minute := rapid.IntRange(0, dayMinutes-1)
		h := sms.Hours{From: minute.Draw(t, "from"), To: minute.Draw(t, "to")}
		for d := range h.Own {
			if rapid.Bool().Draw(t, "own") {
				h.Own[d] = sms.DayHours{Set: true, Closed: rapid.Bool().Draw(t, "closed"), From: minute.Draw(t, "a"),
					To: minute.Draw(t, "b")}
			}
		}
		if !h.Valid() {
			return
		}
		for i, d := range weekOf(h) {
			m := minute.Draw(t, "at")
			at := time.Date(2026, 6, 1+i, 0, m, 0, 0, time.UTC) // a Monday
			share, shown := 100*(float64(m)+.5)/dayMinutes, false
			for _, s := range d.Open {
				shown = shown || s.From <= share && share < s.From+s.Long
			}
			if at.Weekday() != d.Day || shown != h.Open(at) {
				t.Fatalf("%+v on %s at minute %d: drawn %v, open %v", h, d.Day, m, shown, h.Open(at))
			}
		}
	})
}

// TestTheLadderOfLimits: the bands follow the numbers in whatever order, cover
// the scale, and say what happens.
func TestTheLadderOfLimits(t *testing.T) {
	const both = "Up to 1,000 recipients: sent at once; up to 50,000 recipients: needs approval; more: cannot be sent"
	for _, c := range []struct {
		approve, typed, most int64
		want                 string
		ticks                string
	}{
		{0, 0, 0, "Any number: sent at once", ""},
		{1000, 0, 50_000, both,
			"1,000 50,000"},
		{1000, 5000, 50_000,
			both, "1,000 50,000"},
		{5000, 1000, 0,
			"Up to 1,000 recipients: sent at once; up to 5,000 recipients: the number is typed; more: needs approval",
			"1,000 5,000"},
		{100, 200, 50, "Up to 50 recipients: sent at once; more: cannot be sent", "50"},
		{0, 0, 3_000_000, "Up to 3,000,000 recipients: sent at once; more: cannot be sent", "3,000,000"},
	} {
		l := ladderOf(sms.Account{ApproveAbove: c.approve, ConfirmCountAbove: c.typed,
			Limits: sms.Limits{MaxPerCampaign: c.most}})
		var ticks []string
		for _, tick := range l.Ticks {
			ticks = append(ticks, tick.Text)
		}
		if l.Label != c.want || strings.Join(ticks, " ") != c.ticks {
			t.Errorf("%+v: %q with %q", c, l.Label, ticks)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 100_000_000)
		a := sms.Account{ApproveAbove: n.Draw(t, "approve"), ConfirmCountAbove: n.Draw(t, "typed"),
			Limits: sms.Limits{MaxPerCampaign: n.Draw(t, "most")}}
		at := 0.0
		for _, s := range ladderOf(a).Bands {
			if math.Abs(s.From-at) > .001 || s.Long < 0 {
				t.Fatalf("%+v begins at %g, not %g", s, s.From, at)
			}
			at = s.From + s.Long
		}
		if math.Abs(at-100) > .001 {
			t.Fatalf("%+v ends at %g", a, at)
		}
	})
}

// TestThePriceOfEachCampaign: each dot is inside the picture, the one that is
// far from the others is told, and the oldest comes first.
func TestThePriceOfEachCampaign(t *testing.T) {
	now := time.Date(2026, 6, 3, 12, 0, 0, 0, time.UTC)
	costs := func(prices ...int64) (list []sms.Cost, price sms.LearntPrice) {
		for i, each := range prices {
			before := big.NewRat(100_000, 1)
			after := new(big.Rat).Sub(before, big.NewRat(each*50, 100))
			list = append(list, sms.Cost{Known: true, Alone: true,
				Campaign: sms.Campaign{ID: int64(i + 1), StartedAt: now.AddDate(0, 0, -i).UnixMilli(), Name: "June"},
				Networks: []sms.NetworkUsage{{Usage: sms.Usage{Messages: 50, Parts: 50}}},
				Before:   sms.Balance{Credits: "₦" + before.FloatString(2)},
				After:    sms.Balance{Credits: "₦" + after.FloatString(2)}})
		}
		price, _ = sms.LearnPrices(sms.PriceSamples(list))
		return list, price
	}
	list, price := costs(400, 401, 400, 420, 399)
	c := priceChartOf(list, price, "₦", now)
	if len(c.Dots) != 5 || c.First != "30 May" || c.Last != "today" || len(c.far()) != 1 || !c.Dots[1].Far ||
		c.Label != "Price per part in 5 campaigns: ₦3.99 to ₦4.20, in the middle ₦4.00" {
		t.Errorf("%+v", c)
	}
	if same := priceChartOf(list[:1], price, "₦", now); same.First != "" || same.Last != "today" {
		t.Errorf("one campaign is of %q and %q", same.First, same.Last)
	}
	if none := priceChartOf(nil, sms.LearntPrice{}, "₦", now); len(none.Dots) != 0 || len(none.Lines) != 0 {
		t.Errorf("%+v", none)
	}
	rapid.Check(t, func(t *rapid.T) {
		list, price := costs(rapid.SliceOfN(rapid.Int64Range(0, 100_000), 1, 9).Draw(t, "prices")...)
		c := priceChartOf(list, price, "₦", now)
		if len(c.Dots) != len(list) || len(c.Lines) < 2 || len(c.Lines) > 6 {
			t.Fatalf("%d dots of %d, %d lines", len(c.Dots), len(list), len(c.Lines))
		}
		for _, d := range c.Dots {
			if d.X < 0 || d.X > 100 || d.Y < priceTop-.001 || d.Y > priceBottom+.001 {
				t.Fatalf("%+v", d)
			}
		}
	})
}
