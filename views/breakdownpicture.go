package views

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/picture"
	"smsdesk/internal/sms"
)

// curveHeight is how high the breakdown's curve is, in pixels.
const curveHeight = 150

// gapLeast is the shortest time without sending that is worth a word.
const gapLeast = 10 * time.Second

// curve is the campaign's flow, one stretch after another. Requests that leave
// seldom leave no gaps.
func (p BreakdownPage) curve() (picture.Flow, picture.Curve) {
	f := p.flow()
	between := 3 * time.Minute / time.Duration(max(p.Account.PerMinute, 1))
	return f, picture.NewCurve(f, max(gapLeast, between))
}

func curveSays(f picture.Flow, c picture.Curve) string {
	sum := f.Total()
	return "Sent and reported " + flowStep(f) + ": " + Number(int(sum.Sent)) + " sent, " + Number(int(sum.Delivered)) +
		" delivered, " + Number(int(sum.Failed)) + " not delivered; at most " + Number(int(c.Most)) + " at a time."
}

// gapsShown is how many times without sending are told.
const gapsShown = 5

// gapWords tell a time without sending, with its reason where that is known.
func (p BreakdownPage) gapWords(f picture.Flow, g picture.Gap) string {
	words := p.moment(f, g.From) + " to " + p.moment(f, g.Until) + ": " + Span(g.Long()) + " without sending"
	if why := p.gapReason(g); why != "" {
		words += ", " + why
	}
	return words + "."
}

func (p BreakdownPage) gapReason(g picture.Gap) string {
	// What ends a time of sending is noted a moment before or after its last request.
	within := func(at int64) bool { return at > g.From-gapLeast.Milliseconds() && at <= g.Until }
	for _, line := range p.Audit {
		if line.Action == "campaign.stop" && within(line.At) {
			return "stopped by " + line.User.Name
		}
	}
	switch {
	case within(p.TooFast):
		return "at the provider's rate limit (429)"
	case !p.Account.Hours.Always() && !p.Account.Hours.Open(p.at((g.From+g.Until)/2)):
		return "outside sending hours"
	}
	return ""
}

// matrix is why messages were not delivered, by network.
type matrix struct {
	networks []networkShare
	rows     []matrixRow
	failed   []int64 // by network
	all      int64
	sent     int64
}

type matrixRow struct {
	standing sms.DisplayStatus
	raw      string
	n        []int64 // by network
	all      int64
}

func (p BreakdownPage) matrix() (m matrix) {
	m.networks = p.networks()
	m.failed = make([]int64, len(m.networks))
	for _, s := range sms.DisplayStatuses() {
		row := matrixRow{standing: s, raw: string(statusOf(s.Key)), n: make([]int64, len(m.networks))}
		for i, network := range m.networks {
			row.n[i] = network.tally[s.Key]
			row.all += row.n[i]
			m.sent += row.n[i]
		}
		if s.Tile != sms.TileFailed || row.all == 0 {
			continue
		}
		for i, n := range row.n {
			m.failed[i] += n
		}
		m.all += row.all
		m.rows = append(m.rows, row)
	}
	slices.SortStableFunc(m.rows, func(a, b matrixRow) int { return int(b.all - a.all) })
	return m
}

// shade is how strong a cell's ground is, by the share of its network's messages.
func (m matrix) shade(i int, n int64) string {
	switch sent := m.networks[i].tally.Total(); {
	case n == 0:
		return "m0"
	case n*200 < sent:
		return "m1"
	case n*100 < sent:
		return "m2"
	}
	return "m3"
}

// bad says that a network's share is twice the campaign's own.
func (m matrix) bad(i int) bool {
	sent := m.networks[i].tally.Total()
	return len(m.networks) > 1 && m.failed[i] > 0 && m.failed[i]*m.sent >= 2*m.all*sent
}

// ofCell is the address of the messages behind a cell of the matrix.
func (p BreakdownPage) ofCell(n networkShare, key string) string {
	query := url.Values{"tile": {string(sms.TileFailed)}, "network": {n.filter()}}
	if key != "" {
		query.Set("state", key)
	}
	return p.address(CampaignPath(p.Campaign.ID), query)
}

// networkTime is how long a network's deliveries took, and usually take.
type networkTime struct {
	name   string
	h      picture.Histogram
	spread picture.Spread
	usual  picture.Histogram
}

// times are the networks with enough reports, those with the most messages first.
func (p BreakdownPage) times() (list []networkTime) {
	for _, n := range p.networks() {
		of := func(waits []picture.Wait) picture.Histogram {
			return picture.NewHistogram(slices.DeleteFunc(slices.Clone(waits), func(w picture.Wait) bool {
				return w.Network != n.name
			}), sms.ReportDelivered)
		}
		if h := of(p.Picture.Waits); h.N >= picture.FewReports {
			list = append(list, networkTime{n.words(), h, picture.NewSpread(h), of(p.Usual)})
		}
	}
	return list
}

// usualAt is where the network's usual median stands, "" where too little is known.
func (t networkTime) usualAt() string {
	if t.usual.N < picture.FewReports {
		return ""
	}
	seconds, _ := t.usual.Within(0.5)
	return picture.Axis(seconds)
}

// slow says that 95 % take half as long again as they usually do.
func (t networkTime) slow() bool {
	usual, known := t.usual.Within(0.95)
	now, _ := t.h.Within(0.95)
	return known && t.usual.N >= picture.FewReports && now > 1.5*usual
}

// slowWords name the networks that are slow.
func slowWords(list []networkTime) (words string) {
	for _, t := range list {
		if t.slow() {
			words += " " + t.name + " is slow: usually half " + within(t.usual, 0.5) + " and 95% " + within(t.usual, 0.95) + "."
		}
	}
	return words
}

// shortly is within for a column that says so in its head.
func shortly(h picture.Histogram, share float64) string {
	return strings.TrimPrefix(within(h, share), "within ")
}

// spreadTicks are the times on the axis, in seconds.
var spreadTicks = []int64{0, 15, 60}

func tickAnchor(seconds int64) string {
	if seconds == 0 {
		return "start"
	}
	return "middle"
}

// Earlier is the campaign before this one with the same name.
type Earlier struct {
	Campaign sms.Campaign
	Tally    sms.Tally
	Waits    []picture.Wait
}

// compared are the figures of this campaign beside those of the one before it.
type compared struct{ words, now, before string }

func (p BreakdownPage) compared() []compared {
	if p.Earlier == nil {
		return nil
	}
	time := func(h picture.Histogram, share float64) string {
		if h.N < picture.FewReports {
			return "too few reports"
		}
		return within(h, share)
	}
	share := func(t sms.Tally, tile sms.Tile) string {
		return Number(int(t.Tile(tile))) + " (" + Percent(t.Tile(tile), t.Total()) + ")"
	}
	now, before := p.speed(), picture.NewHistogram(p.Earlier.Waits, sms.ReportDelivered)
	both := func(words string, of func(sms.Tally) string) compared {
		return compared{words, of(p.Tally), of(p.Earlier.Tally)}
	}
	return []compared{
		both("Messages", func(t sms.Tally) string { return Number(int(t.Total())) }),
		both("Delivered", func(t sms.Tally) string { return share(t, sms.TileDelivered) }),
		both("Not delivered", func(t sms.Tally) string { return share(t, sms.TileFailed) }),
		{"Half delivered", time(now, 0.5), time(before, 0.5)},
		{"95% delivered", time(now, 0.95), time(before, 0.95)},
	}
}

func spreadTick(seconds int64) string { return picture.Axis(float64(seconds)) + "%" }

func curveBox(f picture.Flow) string { return "0 0 " + strconv.Itoa(len(f.Stretches)) + " 1000" }
