package views

import (
	"time"

	"github.com/a-h/templ"
)

// dayPicture is the day on which a campaign starts, from midnight to midnight:
// the sending hours, and where the campaign stands.
type dayPicture struct {
	Open  []Share
	Run   Share
	Words []dayWord
	Label string
}

// dayWord stands below the picture.
type dayWord struct {
	At     float64 // per cent
	Text   string
	Class  string
	Anchor string
}

func (w dayWord) x() string { return inPercent(w.At) }

const (
	dayMinutes = 24 * 60
	// nearWords is how near another label may stand to that of the start, in per
	// cent of the day: two hours and a half.
	nearWords = 150.0 * 100 / dayMinutes
)

// day is the picture of the day of the start; without sending hours there is
// nothing to draw.
func (p Plan) day() dayPicture {
	var d dayPicture
	if p.Hours.Always() || p.From.IsZero() {
		return d
	}
	start := p.Forecast.Starts.In(p.From.Location())
	begin := midnight(start)
	share := func(t time.Time) float64 { return 100 * t.Sub(begin).Minutes() / dayMinutes }
	open := -1.0
	for m := range dayMinutes + 1 {
		at := begin.Add(time.Duration(m) * time.Minute)
		is := m < dayMinutes && p.Hours.Open(at)
		switch {
		case is && open < 0:
			open = share(at)
		case !is && open >= 0:
			d.Open = append(d.Open, Share{From: open, Long: min(share(at), 100) - open})
			open = -1
		}
	}
	d.Run = Share{From: share(start), Long: max(min(100*p.Forecast.Takes.Minutes()/dayMinutes, 100-share(start)), .5)}
	words := Clock(start)
	if !start.After(p.Now) {
		words = "now " + words
	}
	d.Label = "Sending hours are " + p.Hours.Words() + ". It starts at " + Clock(start)
	d.Words = append(d.Words, dayWord{At: d.Run.From, Text: words, Class: "b", Anchor: anchor(d.Run.From)})
	add := func(at float64, text string) {
		if at-d.Run.From > nearWords || d.Run.From-at > nearWords {
			d.Words = append(d.Words, dayWord{At: at, Text: text, Anchor: anchor(at)})
		}
	}
	for _, o := range d.Open {
		add(o.From, Clock(begin.Add(time.Duration(o.From*dayMinutes/100)*time.Minute)))
		add(o.From+o.Long, Clock(begin.Add(time.Duration((o.From+o.Long)*dayMinutes/100)*time.Minute)))
	}
	return d
}

// anchor keeps words at the edges inside the picture.
func anchor(at float64) string {
	switch {
	case at < 6:
		return "start"
	case at > 94:
		return "end"
	}
	return "middle"
}

// spreadPicture is the band from the least to the most that it may cost.
func spreadPicture(label string) templ.Component {
	return shareBar(label, "10", []Share{{Class: "soft", From: 27, Long: 46}, {Class: "full", From: 49.5, Long: 1}})
}
