package views

import (
	"strconv"
	"time"

	"smsdesk/internal/picture"
	"smsdesk/internal/sms"
)

// queueMost is how many campaigns a queue shows beside the page's own.
const queueMost = 4

// queue is what a campaign waits behind, on one time line.
type queue struct {
	span picture.Span
	bars []queueBar
	more int
	now  int64
	from int64 // when the page's campaign has its turn
	o    Formatter
	// title says what it waits behind.
	title string
}

// queueBar is one campaign: what it has sent until now, and what is still to come.
type queueBar struct {
	own               bool
	words             string
	doneX, doneW      string // percent, "" for nothing sent yet
	waitX, waitW      string
	textX, textAnchor string
}

// queue lays out the campaigns that take turns with one of which nothing has left.
func queueOf(p CampaignPage) (q queue, ok bool) {
	if p.waitsBehind() == "" || p.resting() != "" {
		return q, false
	}
	others := p.Pace.Others
	q.o, q.title = p.Formatter, "Waits behind “"+Shorten(others[0].Name, 40)+"”"
	if n := len(others); n > 1 {
		q.title = "Waits behind " + Number(n) + " campaigns"
	}
	q.now, q.from = p.Now.UnixMilli(), turnOf(p).Ends.UnixMilli()
	own := endsOf(p, CallsLeft(p.Campaign, p.Tally, p.Account), p.Pace.others())
	q.span = picture.Span{From: q.now, Until: own}
	if len(others) > queueMost {
		q.more, others = len(others)-queueMost, others[:queueMost]
	}
	ends := make([]int64, len(others))
	for i, o := range others {
		rest := []int64{CallsLeft(p.Campaign, p.Tally, p.Account)}
		for k, other := range p.Pace.Others {
			if k != i {
				rest = append(rest, other.Calls)
			}
		}
		ends[i] = endsOf(p, o.Calls, rest)
		// A campaign of days would press what is still to come flat.
		began := max(o.StartedAt, q.now-2*(own-q.now))
		q.span.From, q.span.Until = min(q.span.From, began), max(q.span.Until, ends[i])
	}
	for i, o := range others {
		words := Shorten(o.Name, 30) + ", " + Number(int(o.Messages)) + " left"
		q.bars = append(q.bars, q.bar(words, o.StartedAt, q.now, ends[i]))
	}
	last := q.bar("this one, "+Number(int(p.waiting())), q.now, q.from, own)
	last.own, last.doneX = true, ""
	q.bars = append(q.bars, last)
	return q, true
}

// endsOf is when so many requests have left, with the turns of others between them.
func endsOf(p CampaignPage, calls int64, others []int64) int64 {
	f := sms.Foresee(sms.Turns(calls, others), p.Account.PerMinute, sms.Hours{}, p.Now)
	if f.Ends.IsZero() {
		return p.Now.Add(sms.MaxScheduleAhead).UnixMilli()
	}
	return f.Ends.UnixMilli()
}

func (q queue) bar(words string, began, from, until int64) queueBar {
	b := queueBar{words: words, textAnchor: "start"}
	x, w := q.span.Bar(began, q.now)
	b.doneX, b.doneW = picture.Unit(x)+"%", picture.Unit(w)+"%"
	x, w = q.span.Bar(from, until)
	b.waitX, b.waitW, b.textX = picture.Unit(x)+"%", picture.Unit(w)+"%", picture.Unit(x+w+1)+"%"
	if x+w > 60 {
		b.textX, b.textAnchor = picture.Unit(max(x+w-1, 0))+"%", "end"
	}
	return b
}

func (q queue) height() int { return 40 * len(q.bars) }

// y is where the words of a bar stand: above it, so that no bar hides them.
func (q queue) y(i int) string { return strconv.Itoa(40*i + 15) }

func (q queue) barY(i int) string { return strconv.Itoa(40*i + 21) }

func (q queue) at(ms int64) string { return picture.Unit(q.span.At(ms)) + "%" }

func (q queue) says() string {
	return q.title + ". Starts about " + q.o.clockAt(q.from) + " and ends about " + q.o.clockAt(q.span.Until) + "."
}

func (o Formatter) clockAt(ms int64) string { return Clock(time.UnixMilli(ms).In(o.Now.Location())) }
