package views

import (
	"slices"
	"time"

	"smsdesk/internal/sms"
)

// arrivalMinutes is how much of the past the picture of arrivals shows.
const arrivalMinutes = 60

// The heights of the picture of arrivals in pixels: figures above the columns,
// columns, and the line on which they stand.
const arrivalsTop, arrivalsBottom = 18, 80

// FirstArrivalMinute is when the picture of arrivals begins, in milliseconds.
func (p ReportPage) FirstArrivalMinute() int64 {
	return p.Now.Truncate(time.Minute).Add(-(arrivalMinutes - 1) * time.Minute).UnixMilli()
}

// arrivalsChart is the reports of every minute, oldest first, with its highest.
type arrivalsChart struct {
	Formatter
	minutes []sms.ReceiverMinute
	most    int64
	peak    int // index of the minute with the most
}

func (p ReportPage) arrivals() arrivalsChart {
	first := p.FirstArrivalMinute()
	a := arrivalsChart{Formatter: p.Formatter, minutes: make([]sms.ReceiverMinute, arrivalMinutes)}
	for i := range a.minutes {
		a.minutes[i].Minute = first + int64(i)*time.Minute.Milliseconds()
	}
	for _, m := range p.Health.Minutes {
		i := (m.Minute - first) / time.Minute.Milliseconds()
		if i < 0 || i >= arrivalMinutes {
			continue
		}
		a.minutes[i] = m
		if sum := m.Answered + m.Lost; sum > a.most {
			a.most, a.peak = sum, int(i)
		}
	}
	return a
}

// says is the picture in one sentence or two.
func (a arrivalsChart) says() string {
	var received, lost int64
	for _, m := range a.minutes {
		received, lost = received+m.Answered, lost+m.Lost
	}
	if received+lost == 0 {
		return "No reports in the last hour."
	}
	words := Plural(int(received), "report", "reports") + " received, at most " + Number(int(a.most)) + " per minute, at " +
		Clock(a.at(a.minutes[a.peak].Minute)) + "."
	if lost > 0 {
		words += " " + Plural(int(lost), "report was", "reports were") + " lost."
	}
	return words
}

// across is a place on the time line, in percent of its width.
func across(i, of float64) string { return unit(100*i/of) + "%" }

// columns are the parts of every minute's column, received below lost. What is
// there has at least 2 pixels.
func (a arrivalsChart) columns() (list []column) {
	for i, m := range a.minutes {
		bottom := float64(arrivalsBottom)
		for _, part := range []struct {
			tone Tone
			n    int64
		}{{ToneInfo, m.Answered}, {ToneBad, m.Lost}} {
			if part.n == 0 {
				continue
			}
			high := max(float64(arrivalsBottom-arrivalsTop)*float64(part.n)/float64(a.most), 2)
			list = append(list, column{class: part.tone.class(), x: across(float64(i)+0.14, arrivalMinutes),
				width: across(0.72, arrivalMinutes), y: unit(bottom - high), height: unit(high)})
			bottom -= high
		}
	}
	return list
}

func (a arrivalsChart) peakX() string {
	switch a.peakAnchor() {
	case "start":
		return "0"
	case "end":
		return "100%"
	}
	return across(float64(a.peak)+0.5, arrivalMinutes)
}

func (a arrivalsChart) peakAnchor() string {
	switch {
	case a.peak < 3:
		return "start"
	case a.peak >= arrivalMinutes-3:
		return "end"
	}
	return "middle"
}

// tick is a time under the line.
type tick struct{ x, anchor, words string }

func (a arrivalsChart) ticks() []tick {
	at := func(i int) string { return Clock(a.at(a.minutes[i].Minute)) }
	return []tick{{"0", "start", at(0)}, {"33.3%", "middle", at(20)}, {"66.7%", "middle", at(40)}, {"100%", "end", "now"}}
}

// table is the minutes in which anything came, newest first.
func (a arrivalsChart) table() []sms.ReceiverMinute {
	list := slices.DeleteFunc(slices.Clone(a.minutes), func(m sms.ReceiverMinute) bool { return m.Answered+m.Lost == 0 })
	slices.Reverse(list)
	return list
}
