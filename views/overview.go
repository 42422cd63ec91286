package views

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
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
	Price     Price               // of a part; not known where nothing is to be paid for
	Days      []DayCount          // oldest first
	Lanes     []sms.NetworkSeries // of the last 24 hours
	Balances  []sms.BalanceSpan   // the last reading of each of Days, oldest first
	WarnBelow int64               // hundredths, 0 for none
	Outlook   Outlook
	Failing   []sms.FailingNumber
	Backups   Backups // for administrators
	Live      Refresh
}

// DayCount is what became of the messages that left on one day.
type DayCount struct {
	Day   time.Time
	Tally sms.Tally
}

// LastDays are the last days up to today, oldest first, without any counts.
func LastDays(now time.Time, n int) (list []DayCount) {
	today := midnight(now)
	for back := n - 1; back >= 0; back-- {
		list = append(list, DayCount{Day: today.AddDate(0, 0, -back), Tally: sms.Tally{}})
	}
	return list
}

// Unmatched reports are counted up to unmatchedMost.
const unmatchedMost = 1000

// action is one thing that somebody should look at.
type action struct {
	id, title, text string
	tone            Tone
	glyph           Glyph
	link            Link
}

// actions lists what needs somebody, what costs most while nobody looks first.
func (p OverviewPage) actions() (list []action) {
	add := func(found ...action) {
		for _, one := range found {
			if one.id != "" {
				list = append(list, one)
			}
		}
	}
	add(p.doubt())
	for _, c := range p.Paused {
		add(action{domID("paused", c.ID), "“" + Shorten(p.named(c), 60) + "” is paused", p.MaskNumbers(withStop(c.Pause)),
			ToneBad, GlyphPaused, Link{"See why", CampaignPath(c.ID)}})
	}
	add(p.unreachable(), p.silence())
	for i, l := range p.Lanes {
		if f, ok := l.Failing(); ok {
			add(action{domID("failing", i), p.failing(l, f), failingText(f), ToneBad, GlyphAlert,
				Link{"View undelivered", MessagesPath + "?tile=" + string(sms.TileFailed)}})
		}
	}
	add(p.failed(), p.credit(), p.sender(), p.approvals(), p.Backups.attention(), p.unmatched())
	return list
}

// needsShown is how many lines are seen at once.
const needsShown = 5

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
		ToneBad, GlyphAlert, Link{}}
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
		" may or may not have been sent. Nothing will be sent again unless you decide so.", ToneWarn, GlyphDecide,
		Link{"Review and decide", to}}
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
			" messages with a final result. Each campaign's breakdown shows why.", ToneBad, GlyphFailed,
		Link{"View undelivered", MessagesPath + "?tile=" + string(sms.TileFailed) + "&from=" +
			p.Now.Format(time.DateOnly)}}
}

func (p OverviewPage) silence() action {
	if p.Silent == 0 {
		return action{}
	}
	return action{"silent", "No delivery report for " + lasting(p.Now.Sub(time.UnixMilli(p.LastAt))),
		Plural(int(p.Silent), "message is", "messages are") +
			" awaiting a report. The provider may have stopped sending reports, or may not be able to reach smsdesk.", ToneWarn, GlyphReports,
		Link{"View reports", ReportsPath}}
}

func (p OverviewPage) credit() action {
	if p.Credit == nil || p.Account.Test {
		return action{}
	}
	if p.Credit.Sign() <= 0 {
		return action{"balance", "The balance is zero or below", "The provider reports " + p.Balance.Text +
			". Top up before you send.", ToneBad, GlyphBalance, Link{"View balance", BalancePath}}
	}
	if !p.Price.Known() {
		return action{}
	}
	cost := p.Price.of(p.Unpaid)
	if cost.Cmp(p.Credit) <= 0 {
		return action{}
	}
	return action{"balance", "The balance does not cover the messages still to be sent",
		"They need about " + amount(p.Account.Currency, cost) + " and the balance is " + p.Balance.Text +
			". Top up, or the provider will refuse messages.", ToneWarn, GlyphBalance,
		Link{"View balance", BalancePath}}
}

func (p OverviewPage) sender() action {
	if !p.NoSender {
		return action{}
	}
	a := action{"sender", "No usable sender ID",
		"The provider has not approved one, or has withdrawn its approval. You cannot send until one is approved.", ToneWarn,
		GlyphSenderID, Link{}}
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
		ToneInfo, GlyphReports, Link{"View reports", ReportsPath + "?kind=unmatched"}}
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

// todayLinks are what became of today's messages, each of which there are any.
func (p OverviewPage) todayLinks() (list []TileProps) {
	all, today := p.Today.Total(), "&from="+p.Now.Format(time.DateOnly)
	for _, t := range []sms.Tile{sms.TileDelivered, sms.TileFailed, sms.TileNetwork, sms.TileUnknown} {
		n := p.Today.Tile(t)
		if n == 0 {
			continue
		}
		words := Number(int(n)) + " " + strings.ToLower(t.Words())
		if t == sms.TileDelivered {
			words = Percent(n, all) + " delivered"
		}
		list = append(list, TileProps{ID: "today-" + string(t), Label: words, Tone: toneOf(t.Tone()),
			Href: MessagesPath + "?tile=" + string(t) + today})
	}
	return list
}

func (p OverviewPage) todayHref() string {
	return MessagesPath + "?from=" + p.Now.Format(time.DateOnly)
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

// OverviewDays are the numbers of days that the columns may show; the first is
// shown where none is asked for.
func OverviewDays() [2]int { return [2]int{30, 14} }

// spans are the links to the other number of days.
func (p OverviewPage) spans() (list []Tab) {
	for _, n := range OverviewDays() {
		address := "/"
		if n != OverviewDays()[0] {
			address = "/?days=" + strconv.Itoa(n)
		}
		list = append(list, Tab{Text: Number(n) + " days", Href: address, Current: n == len(p.Days)})
	}
	return list
}

// days are the columns of the last days; each leads to its campaigns.
func (p OverviewPage) days() DayColumnsProps {
	c := DayColumnsProps{ID: "days", Name: "Messages in the last " + Number(len(p.Days)) + " days",
		Noun:   [2]string{"message", "messages"},
		Series: []ChartSeries{{"Delivered", ToneOK}, {"Not delivered", ToneBad}, {"Awaiting report", ToneInfo}, {"Unknown", ToneWarn}},
		Today:  true, Show: count}
	busiest, most := "", int64(0)
	for _, d := range p.Days {
		day := d.Day.Format(time.DateOnly)
		tile := d.Tally.Tile
		delivered, failed, open := tile(sms.TileDelivered), tile(sms.TileFailed), tile(sms.TileNetwork)
		c.Days = append(c.Days, ColumnDay{Day: d.Day, Href: With(With(CampaignsPath, "from", day), "to", day),
			Values: []int64{delivered, failed, open, d.Tally.Total() - delivered - failed - open}})
		if n := d.Tally.Total(); n > most {
			busiest, most = d.Day.Format("Monday 2 January"), n
		}
	}
	if c.total(3) == 0 {
		c.Series = c.Series[:3]
		for i := range c.Days {
			c.Days[i].Values = c.Days[i].Values[:3]
		}
	}
	var said []string
	for i, s := range c.Series {
		said = append(said, Number(int(c.total(i)))+" "+strings.ToLower(s.Words))
	}
	c.Says = and(said) + "."
	if most > 0 {
		c.Says += " Busiest: " + busiest + " with " + Plural(int(most), "message", "messages") + "."
	}
	return c
}

// course is the small picture of the balance.
func (p OverviewPage) course() CourseProps {
	lasts, _ := p.Outlook.words()
	return CourseProps{Outlook: p.Outlook, Levels: levels(p.Balances), Warn: p.WarnBelow, High: 84,
		Says: "Balance over the last " + Number(len(p.Days)) + " days. " + withStop(lasts)}
}

// cost is what a campaign costs by the price that was set.
func (p OverviewPage) cost(c sms.Campaign) string {
	return strings.TrimSuffix(CampaignListPage{Formatter: p.Formatter, Account: p.Account}.cost(c), ".00")
}

// firstLink is the first line that leads somewhere.
func firstLink(list []action) int {
	return slices.IndexFunc(list, func(a action) bool { return a.link.Href != "" })
}
