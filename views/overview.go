package views

import (
	"fmt"
	"math/big"
	"strconv"
	"time"

	"smsdesk/internal/sms"
)

// OverviewPage is the first page: what needs somebody, and how it goes.
type OverviewPage struct {
	Formatter
	Account   sms.Account // ID 0: none yet
	CanSend   bool
	CanSetUp  bool
	Used      bool // there is or was a campaign
	Balance   Balance
	Credit    *big.Rat // of the balance, nil where it cannot be read
	Unpaid    int64    // parts that are still to be sent
	Decisions int64
	Decide    string // where to decide
	Approvals int64  // campaigns that this person may approve
	Paused    []sms.Campaign
	Unmatched int64
	Silent    int64 // messages without a report although none has come for long
	LastAt    int64 // when the last report came
	NoSender  bool  // no sender ID can be used
	Today     sms.Tally
	Latest    []sms.CampaignRow
	Coming    []sms.Campaign
	Days      []DayCount          // oldest first
	Lanes     []sms.NetworkSeries // of the last 24 hours
	Failing   []sms.FailingNumber
	Backups   Backups // for administrators
	Live      Refresh
}

// DayCount is what became of the messages that left on one day.
type DayCount struct {
	Day   time.Time
	Tally sms.Tally
}

// Unmatched reports are counted up to unmatchedMost.
const unmatchedMost = 1000

// action is one thing that somebody should look at.
type action struct {
	id, title, text string
	tone            Tone
	link            Link
}

// actions lists what needs somebody, the gravest first.
func (p OverviewPage) actions() (list []action) {
	for _, found := range []action{p.unreachable(), p.doubt(), p.approvals(), p.failed(), p.silence(), p.credit(),
		p.sender(), p.Backups.attention(), p.unmatched()} {
		if found.id != "" {
			list = append(list, found)
		}
	}
	for _, c := range p.Paused {
		list = append(list, action{domID("paused", c.ID), Shorten(c.Name, 60) + " is paused",
			p.MaskNumbers(withStop(c.Pause)),
			ToneWarn, Link{"View campaign", CampaignPath(c.ID)}})
	}
	for i, l := range p.Lanes {
		if f, ok := l.Failing(); ok {
			list = append(list, action{domID("failing", i), p.failing(l, f), failingText(f), ToneBad,
				Link{"View undelivered messages", MessagesPath + "?tile=" + string(sms.TileFailed)}})
		}
	}
	return list
}

func (p OverviewPage) unreachable() action {
	if p.Account.Failure == "" {
		return action{}
	}
	title := "We cannot reach the provider"
	if p.Account.ReachedAt > 0 {
		title = "We have not reached the provider since " + p.When(p.Account.ReachedAt)
	}
	a := action{"unreachable", title, withStop(p.MaskNumbers(p.Account.Failure)) +
		" Nothing is lost. We will keep trying.",
		ToneBad, Link{}}
	if p.CanSetUp {
		a.link = Link{"Check the connection settings", SectionPath(p.Account.ID, SectionConnection)}
	}
	return a
}

func (p OverviewPage) doubt() action {
	if p.Decisions == 0 {
		return action{}
	}
	to := p.Decide
	if to == "" {
		to = "/campaigns?state=needs-decision"
	}
	return action{"decide", needDecision(p.Decisions), capitalise(plural(int64(p.Decisions), "it", "they")) +
		" may or may not have been sent. Nothing will be sent again unless you decide so.", ToneWarn, Link{"Review and decide", to}}
}

// A share of failures is worth a word from so many messages on.
const (
	failedLeast = 20
	failedShare = 0.2
)

func (p OverviewPage) failed() action {
	failed, delivered := p.Today.Tile(sms.TileFailed), p.Today.Tile(sms.TileDelivered)
	if all := failed + delivered; all < failedLeast || float64(failed) <= failedShare*float64(all) {
		return action{}
	}
	return action{"failed", Percent(failed, failed+delivered) + " of today's messages have not been delivered",
		Number(int(failed)) + " of " + Number(int(failed+delivered)) +
			" messages with a final result. Each campaign's breakdown shows why.", ToneBad,
		Link{"View undelivered messages", MessagesPath + "?tile=" + string(sms.TileFailed) + "&from=" +
			p.Now.Format(time.DateOnly)}}
}

func (p OverviewPage) silence() action {
	if p.Silent == 0 {
		return action{}
	}
	return action{"silent", "No delivery report for " + lasting(p.Now.Sub(time.UnixMilli(p.LastAt))),
		Plural(int(p.Silent), "message is", "messages are") +
			" awaiting a report. The provider may have stopped sending reports, or may not be able to reach smsdesk.", ToneWarn,
		Link{"View delivery reports", ReportsPath}}
}

func (p OverviewPage) credit() action {
	if p.Credit == nil || p.Account.Test {
		return action{}
	}
	if p.Credit.Sign() <= 0 {
		return action{"balance", "The balance is zero or below", "The provider reports " + p.Balance.Text +
			". Top up before you send.", ToneBad, Link{}}
	}
	cost := big.NewRat(p.Unpaid*p.Account.PricePerPart, 100)
	if p.Account.PricePerPart == 0 || cost.Cmp(p.Credit) <= 0 {
		return action{}
	}
	return action{"balance", "The balance does not cover the messages still to be sent",
		"They need about " + amount(p.Account.Currency, cost) + " and the balance is " + p.Balance.Text +
			". Top up, or the provider will refuse messages.", ToneWarn, Link{}}
}

func (p OverviewPage) sender() action {
	if !p.NoSender {
		return action{}
	}
	a := action{"sender", "No usable sender ID",
		"The provider has not approved one, or has withdrawn its approval. You cannot send until one is approved.", ToneWarn, Link{}}
	if p.CanSetUp {
		a.link = Link{"See sender IDs", SectionPath(p.Account.ID, SectionConnection)}
	}
	return a
}

func (p OverviewPage) unmatched() action {
	if p.Unmatched == 0 {
		return action{}
	}
	count := Plural(int(p.Unmatched), "delivery report matches", "delivery reports match")
	if p.Unmatched >= unmatchedMost {
		count = Number(unmatchedMost) + " or more delivery reports match"
	}
	return action{"unmatched", count + " no message",
		plural(p.Unmatched, "Its message ID is not one", "Their message IDs are not ones") + " the provider gave us.",
		ToneInfo, Link{"View reports", ReportsPath + "?kind=unmatched"}}
}

func (p OverviewPage) failing(l sms.NetworkSeries, f sms.Failing) string {
	return laneName(l) + ": messages from " + l.SenderID + " have been failing since " + p.ShortTime(f.Since)
}

func failingText(f sms.Failing) string {
	return fmt.Sprintf("%s of %s sent since then were not delivered. Before that, %.0f%% were not.", Number(int(f.Failed)),
		Plural(int(f.Ended), "message", "messages"), f.Before*100)
}

func laneName(l sms.NetworkSeries) string {
	if l.Network == "" {
		return "Unknown network"
	}
	return l.Network
}

func (p OverviewPage) tiles() []TileProps {
	all, today := p.Today.Total(), "&from="+p.Now.Format(time.DateOnly)
	tile := func(t sms.Tile) TileProps {
		n := p.Today.Tile(t)
		out := TileProps{ID: "today-" + string(t), Label: t.Words(), Value: Number(int(n)), Tone: toneOf(t.Tone()),
			Glyph: tileGlyph(t), Href: MessagesPath + "?tile=" + string(t) + today}
		if n > 0 && all > 0 {
			out.More = Percent(n, all)
		}
		return out
	}
	list := []TileProps{{ID: "today-all", Label: "Messages sent", Value: Number(int(all)), Glyph: GlyphMessage,
		Href: MessagesPath + "?" + today[1:]},
		tile(sms.TileDelivered), tile(sms.TileFailed), tile(sms.TileNetwork)}
	if p.Today.Tile(sms.TileUnknown) > 0 {
		list = append(list, tile(sms.TileUnknown))
	}
	if p.Balance.Text != "" {
		list = append(list, TileProps{ID: "balance", Label: "Balance", Value: p.Balance.Text, More: "at " + p.Balance.ReadAt,
			Glyph: GlyphBalance})
	}
	return list
}

// spoken is what a screen reader hears when something new needs somebody.
func (p OverviewPage) spoken() string {
	list := p.actions()
	if len(list) == 0 {
		return ""
	}
	return withStop(list[0].title)
}

func (p OverviewPage) empty() EmptyProps {
	switch {
	case p.Account.ID == 0 && p.CanSetUp:
		return EmptyProps{Glyph: GlyphSettings, Title: "No provider account connected",
			Text:   "Connect a provider account, or try smsdesk with the test account.",
			Action: Link{"Connect to the provider", SetupTasksPath}}
	case p.Account.ID == 0:
		return EmptyProps{Glyph: GlyphSettings, Title: "No provider account connected",
			Text: "Ask an administrator to connect one."}
	}
	return EmptyProps{Glyph: GlyphMessage, Title: "No messages yet",
		Text: "Messages will appear here once someone sends a campaign."}
}

// comingTo stands under the campaign's name: the table has half the page.
func comingTo(c sms.Campaign) string {
	if c.GroupID != "" {
		return campaignTo(c)
	}
	return Plural(int(c.Recipients), "recipient", "recipients")
}

// days is the chart of the last days.
func (p OverviewPage) days() ChartProps {
	c := ChartProps{ID: "days", Name: "Messages in the last 14 days", Head: "Day",
		Series: []ChartSeries{{"Delivered", ToneOK}, {"Not delivered", ToneBad}, {"Other", ToneInfo}}}
	busiest, most := "", int64(0)
	for _, d := range p.Days {
		delivered, failed := d.Tally.Tile(sms.TileDelivered), d.Tally.Tile(sms.TileFailed)
		c.Points = append(c.Points, ChartPoint{Label: d.Day.Format("Monday 2 January"), Short: d.Day.Format("2 Jan"),
			Values: []int{int(delivered), int(failed), int(d.Tally.Total() - delivered - failed)}})
		if n := d.Tally.Total(); n > most {
			busiest, most = d.Day.Format("Monday 2 January"), n
		}
	}
	c.Says = Number(c.total(0)) + " delivered, " + Number(c.total(1)) + " not delivered, " + Number(c.total(2)) + " open."
	if most > 0 {
		c.Says += " Busiest: " + busiest + " with " + Plural(int(most), "message", "messages") + "."
	}
	return c
}

// hours is how many hours of each lane are shown, the present one included.
const hours = 24

// hourly puts a lane into hours, the oldest first.
func (p OverviewPage) hourly(l sms.NetworkSeries) []sms.LaneSlot {
	out := make([]sms.LaneSlot, hours)
	first := p.Now.Truncate(time.Hour).Add(-(hours - 1) * time.Hour).UnixMilli()
	for i := range out {
		out[i].At = first + int64(i)*time.Hour.Milliseconds()
	}
	for _, s := range l.Points {
		if i := (s.At - first) / time.Hour.Milliseconds(); s.At >= first && i < hours {
			out[i].Sent, out[i].Delivered, out[i].Failed = out[i].Sent+s.Sent, out[i].Delivered+s.Delivered,
				out[i].Failed+s.Failed
		}
	}
	return out
}

// tooFew is how many messages say nothing about how a lane goes.
const tooFew = 50

// lanesShown bounds the table: some accounts have many sender IDs.
const lanesShown = 12

func (p OverviewPage) lanes() []sms.NetworkSeries { return p.Lanes[:min(len(p.Lanes), lanesShown)] }

// sparkline is a lane's hours as a small chart.
func (p OverviewPage) sparkline(l sms.NetworkSeries) (list []column) {
	const wide, high = 4.0, 24.0
	most := int64(1)
	slots := p.hourly(l)
	for _, s := range slots {
		most = max(most, s.Sent)
	}
	for i, s := range slots {
		y := high
		for _, part := range []struct {
			tone Tone
			n    int64
		}{{ToneOK, s.Delivered}, {ToneBad, s.Failed}, {ToneMute, s.Sent - s.Delivered - s.Failed}} {
			if part.n <= 0 {
				continue
			}
			tall := max(high*float64(part.n)/float64(most), 1)
			y -= tall
			list = append(list, column{class: part.tone.class(), x: unit(float64(i) * wide), y: unit(max(y, 0)),
				width: unit(wide - 1), height: unit(tall)})
		}
	}
	return list
}

func (p OverviewPage) sparkName(l sms.NetworkSeries) string {
	t := l.Total()
	return laneName(l) + ", " + l.SenderID + ", the last 24 hours: " + Percent(t.Delivered, t.Delivered+t.Failed) +
		" delivered"
}

// hourWords is one hour of one lane for the table.
func hourWords(s sms.LaneSlot) string {
	if s.Sent == 0 {
		return "–"
	}
	return Percent(s.Delivered, s.Delivered+s.Failed) + " of " + strconv.FormatInt(s.Sent, 10)
}

// hourRow is one hour of all lanes.
type hourRow struct {
	label string
	cells []string
}

func (p OverviewPage) hourRows() (rows []hourRow) {
	for i := hours - 1; i >= 0; i-- {
		var row hourRow
		sent := int64(0)
		for _, l := range p.lanes() {
			s := p.hourly(l)[i]
			sent += s.Sent
			row.label = p.When(s.At)
			row.cells = append(row.cells, hourWords(s))
		}
		if sent > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}
