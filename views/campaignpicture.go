package views

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/picture"
	"smsdesk/internal/sms"
)

// CampaignPicture are the counts that a campaign's pictures are drawn from.
type CampaignPicture struct {
	Flow  []picture.Moment
	Waits []picture.Wait
	Price Price
}

// plotHeight is how high the areas are, in pixels.
const plotHeight = 150

// kinds are the words and tones of what a ring and its areas show.
func kindTone(kind string) Tone {
	switch kind {
	case picture.Delivered:
		return ToneOK
	case picture.Failed:
		return ToneBad
	case picture.Unsure:
		return ToneWarn
	}
	return ToneInfo
}

func bandWords(kind string) string {
	switch kind {
	case picture.Delivered:
		return sms.TileDelivered.Words()
	case picture.Failed:
		return sms.TileFailed.Words()
	case picture.Unsure:
		return "Unknown, to decide"
	}
	return sms.TileNetwork.Words()
}

func (p CampaignPage) settled() picture.Moment {
	tile := p.Tally.Tile
	m := picture.Moment{Delivered: tile(sms.TileDelivered), Failed: tile(sms.TileFailed),
		Unsure: tile(sms.TileUnknown) + tile(sms.TileDecision)}
	m.Sent = m.Delivered + m.Failed + m.Unsure + tile(sms.TileNetwork)
	return m
}

func (p CampaignPage) arcs() []picture.Arc { return picture.Ring(p.settled(), p.Tally.Total()) }

// until is where the picture ends: now while messages leave, otherwise with the
// last thing that happened, so that standing still does not press it flat.
func (p CampaignPage) until() int64 {
	if p.sending() {
		return p.Now.UnixMilli()
	}
	return picture.Last(p.Picture.Flow)
}

func (p CampaignPage) flow() picture.Flow {
	return picture.NewFlow(p.Picture.Flow, p.Tally.Total(), p.Campaign.StartedAt, p.until())
}

// flowBox is the box of a flow's paths.
func flowBox(f picture.Flow) string { return "0 0 " + strconv.Itoa(len(f.Stretches)) + " 1000" }

func flowTitle(p CampaignPage, f picture.Flow) string {
	if p.sending() {
		return "Since " + p.axis(f.From, f.Until-f.From > dayLong)
	}
	from, until := p.axis(f.From, f.Until-f.From > dayLong), p.axis(f.Until, f.Until-f.From > dayLong)
	if from == until {
		return from
	}
	return from + " to " + until
}

const dayLong = 24 * 60 * 60 * 1000

// moment is a time on the axis, with seconds where they matter.
func (o Formatter) moment(f picture.Flow, at int64) string {
	switch {
	case f.Until-f.From > dayLong:
		return o.axis(at, true)
	case f.Step < time.Minute:
		return strings.ToLower(o.at(at).Format("3:04:05pm"))
	}
	return o.axis(at, false)
}

func flowStep(f picture.Flow) string {
	if f.Step == time.Second {
		return "every second"
	}
	return "every " + Span(f.Step)
}

// Span is a duration in words: "2 min 5 s".
func Span(d time.Duration) string {
	d = d.Round(time.Second)
	switch hours, minutes, seconds := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60; {
	case hours >= 48:
		return Plural(hours/24, "day", "days")
	case hours > 0 && minutes > 0:
		return Number(hours) + " h " + Number(minutes) + " min"
	case hours > 0:
		return Number(hours) + " h"
	case minutes > 0 && seconds > 0:
		return Number(minutes) + " min " + Number(seconds) + " s"
	case minutes > 0:
		return Number(minutes) + " min"
	default:
		return Number(seconds) + " s"
	}
}

// flowEnd is the name of a band at its right end.
type flowEnd struct {
	tone        Tone
	words, n    string
	y, lead, at string
}

func flowEnds(f picture.Flow) (list []flowEnd) {
	var places []float64
	bands := slices.DeleteFunc(slices.Clone(f.Bands), func(b picture.Band) bool { return b.N == 0 })
	for _, b := range slices.Backward(bands) {
		places = append(places, b.Middle*plotHeight)
	}
	apart := picture.Apart(places, 20, plotHeight)
	for i, b := range slices.Backward(bands) {
		k := len(bands) - 1 - i
		list = append(list, flowEnd{tone: kindTone(b.Kind), words: bandWords(b.Kind), n: Number(int(b.N)),
			y: picture.Unit(apart[k] + 4), at: picture.Unit(apart[k] - 5),
			lead: "M0 " + picture.Unit(places[k]) + "L14 " + picture.Unit(apart[k])})
	}
	return list
}

func flowSays(p CampaignPage, f picture.Flow) string {
	sum := f.Total()
	return "Of " + Plural(int(f.All), "message", "messages") + ", " + Number(int(sum.Sent)) + " have left: " +
		Number(int(sum.Delivered)) + " delivered, " + Number(int(sum.Failed)) + " not delivered, " +
		Number(int(sum.Unsure)) + " unknown or to decide, " + Number(int(sum.Open())) + " awaiting their report."
}

// flowRows is how many rows the table behind a flow has at most.
const flowRows = 20

// ringWords are the big line beside the ring and what follows it.
func (p CampaignPage) ringWords() (big, small string) {
	pace := p.pace()
	switch {
	case p.Campaign.State == sms.CampaignPaused, p.Campaign.State == sms.CampaignStopped:
		return "Nothing is being sent", ""
	case p.waitsBehind() != "" && p.resting() == "":
		return "Starts " + strings.TrimPrefix(about(turnOf(p).Ends, p.Now, turnOf(p).Takes), "today "), ""
	case p.sending() && p.resting() == "" && pace == p.timeLeft():
		left := TimeLeft(p.forecast().Takes)
		return left, strings.TrimPrefix(pace, left)
	case p.over():
		if at := picture.Last(p.Picture.Flow); at > p.Campaign.StartedAt {
			return "Finished in " + Span(time.Duration(at-p.Campaign.StartedAt)*time.Millisecond+time.Second) + ".", " " + pace
		}
	}
	if first, rest, ok := strings.Cut(pace, ". "); ok {
		return first + ".", " " + rest
	}
	return pace, ""
}

// over says that nothing of the campaign is still to come.
func (p CampaignPage) over() bool {
	return p.Campaign.State == sms.CampaignFinished && !p.handed() && p.Tally.Tile(sms.TileNetwork) == 0 &&
		p.Tally.Tile(sms.TileDecision) == 0
}

// whyNot is one reason why messages did not arrive, and what to do about it.
type whyNot struct {
	key, words, advice string
	n                  int64
}

// whys are the reasons that there are, the most frequent first.
func (p CampaignPage) whys() (list []whyNot) {
	for _, s := range sms.DisplayStatuses() {
		if s.Tile == sms.TileFailed && p.Tally[s.Key] > 0 {
			list = append(list, whyNot{s.Key, s.Words, whatToDo(s.Key), p.Tally[s.Key]})
		}
	}
	slices.SortStableFunc(list, func(a, b whyNot) int { return int(b.n - a.n) })
	return list
}

func whatToDo(key string) string {
	switch key {
	case "expired":
		return "Phone off or out of coverage. Can be sent again."
	case "undelivered":
		return "The network could not deliver it. Can be sent again."
	case "deleted":
		return "The network deleted it. Can be sent again."
	case "rejected":
		return "Change the text or the sender ID first."
	case "blocked":
		return "On a block list. It will be left out."
	}
	return ""
}

// costOf is what so many messages of the campaign cost, with a comma before it; ""
// where no price or no length is known.
func (p CampaignPage) costOf(n int64) string {
	c := p.Campaign
	if !p.Picture.Price.Known() || n == 0 || c.Recipients == 0 || c.Parts == 0 || c.GroupID != "" {
		return ""
	}
	cost := p.Picture.Price.of(c.Parts)
	cost.Mul(cost, big.NewRat(n, c.Recipients))
	words := strings.TrimSuffix(reckoned(p.Account.Currency, cost), ".00")
	if c.Parts%c.Recipients != 0 {
		words = "about " + words
	}
	return ", " + words
}

func (p CampaignPage) againWords(n int64) string {
	return "Send again to " + Number(int(n)) + p.costOf(n)
}

// laterAgain says what can be sent again once nothing more leaves.
func (p CampaignPage) laterAgain() string {
	n := FailedAgain(p.Tally)
	if n == 0 || p.Campaign.Decided() && p.MaySendAgain() || !p.CanSend {
		return ""
	}
	words := Number(int(n)) + " can be sent again when this campaign has ended"
	if cost := p.costOf(n); cost != "" {
		words += " for " + strings.TrimPrefix(cost, ", ")
	}
	return words + "."
}

// speed is how long deliveries took.
func (p CampaignPage) speed() picture.Histogram {
	return picture.NewHistogram(p.Picture.Waits, sms.ReportDelivered)
}

// speedHeight is how high the histogram's columns are, speedTop the room above.
const (
	speedHeight = 64
	speedTop    = 40
)

func within(h picture.Histogram, share float64) string {
	seconds, ok := h.Within(share)
	if !ok {
		return "over " + Span(time.Duration(seconds)*time.Second)
	}
	return "within " + Span(picture.Rounded(seconds))
}

func (p CampaignPage) speedTitle() string {
	if p.sending() || p.Tally.Tile(sms.TileNetwork) > 0 {
		return "How fast it arrives"
	}
	return "How fast it arrived"
}

func speedSays(h picture.Histogram) string {
	return "Half " + within(h, 0.5) + ", 95% " + within(h, 0.95) + "."
}

func binWords(b picture.Bin) string {
	from := Span(time.Duration(b.From) * time.Second)
	if b.To == 0 {
		return from + " and more"
	}
	return from + " to " + Span(time.Duration(b.To)*time.Second)
}

// markSide says on which side of its line a mark's words stand.
func markSide(m picture.Mark) string {
	switch {
	case m.In < 0.25:
		return "start"
	case m.In > 0.75:
		return "end"
	}
	return "middle"
}

// common is what all messages of a page have in common.
type common struct {
	label, note string
	text        []TextSpan
	column      string // the head of the column for what differs, "" for none
}

func (p CampaignPage) common() common {
	c := p.Campaign
	if p.Pattern == "" {
		return common{column: "Message"}
	}
	out := common{label: "Text", text: markRuns(p.Pattern)}
	if c.Parts > 0 && c.Recipients > 0 && c.Parts%c.Recipients == 0 {
		out.note = Plural(int(c.Parts/c.Recipients), "part", "parts") + " each"
	}
	if len(sms.Placeholders(p.Pattern)) > 0 {
		out.label, out.column = "Text, with placeholders", "Filled in"
		return out
	}
	out.note = strings.TrimSuffix("same for all · "+out.note, " · ")
	return out
}

// differs is what a message has of its own: what stands in the place of marks, or
// all of its text.
func (p CampaignPage) differs(m sms.Message) string {
	if p.Pattern == "" {
		return Shorten(m.Text, 60)
	}
	var filled []string
	for _, s := range sms.Spans(p.Pattern, m.Text) {
		if s.Filled {
			filled = append(filled, s.Text)
		}
	}
	if len(filled) == 0 {
		return Shorten(m.Text, 60)
	}
	return Shorten(strings.Join(filled, " · "), 60)
}

// took is how long it was from the request to the report that decided.
func took(m sms.Message) string {
	if m.State != sms.Accepted || m.Delivery.KnownAt == 0 || !m.Delivery.Status.Final() {
		return "–"
	}
	return Span(max(time.Duration(m.Delivery.KnownAt-m.SentAt)*time.Millisecond, time.Second))
}

// exactly is a time with its seconds, and with its day where that is another one.
func (o Formatter) exactly(ms int64) string {
	at := o.at(ms)
	if midnight(at).Equal(midnight(o.Now)) {
		return at.Format("3:04:05pm")
	}
	return at.Format("2 Jan, 3:04:05pm")
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

func binClass(b picture.Bin) string {
	if b.Late {
		return "mute"
	}
	return ToneOK.class()
}
