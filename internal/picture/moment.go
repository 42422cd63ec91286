// Package picture computes what pages draw from counts: which figures stand in
// a picture, and where. It knows neither how counts are kept nor how a page is
// written; lengths are plain numbers, and what is drawn can be counted again.
package picture

import (
	"slices"
	"time"
)

// Moment is what changed in one stretch of time that begins at At (milliseconds
// UTC): how many messages left, and of how many it became known what happened to
// them. Each message stands in one moment of Sent, and in at most one of the others.
type Moment struct {
	At        int64
	Sent      int64
	Delivered int64
	Failed    int64 // not delivered
	Unsure    int64 // unknown, no report in time, or to be decided
}

// Add is both together, at m's time.
func (m Moment) Add(o Moment) Moment {
	return Moment{At: m.At, Sent: m.Sent + o.Sent, Delivered: m.Delivered + o.Delivered, Failed: m.Failed + o.Failed,
		Unsure: m.Unsure + o.Unsure}
}

// Open is how many of those that left are still without a result.
func (m Moment) Open() int64 { return max(m.Sent-m.Delivered-m.Failed-m.Unsure, 0) }

// Counts are kept by the second for FineFor from a campaign's start, by the
// minute afterwards, and after that time seconds are folded to minutes where
// there are more than Most of them: a short campaign keeps its picture.
const (
	Fine    = time.Second
	Coarse  = time.Minute
	FineFor = 24 * time.Hour
	Most    = 120 // stretches in one picture
)

// Slot is the beginning of the second or minute in which something that happened
// at the given time is counted, for a campaign that began at start.
func Slot(at, start int64) int64 {
	width := Fine.Milliseconds()
	if at-start >= FineFor.Milliseconds() {
		width = Coarse.Milliseconds()
	}
	return at - at%width
}

// steps are the widths that a stretch of a picture may have.
var steps = [...]time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second,
	30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour}

// Step is the narrowest width with which a picture from one time to another has
// at most Most stretches.
func Step(from, until int64, folded bool) time.Duration {
	for _, s := range steps {
		if (until-from)/s.Milliseconds() < Most && (!folded || s >= Coarse) {
			return s
		}
	}
	return steps[len(steps)-1]
}

// folded says that there are no seconds any more.
func folded(list []Moment) bool {
	return len(list) > 1 && !slices.ContainsFunc(list, func(m Moment) bool {
		return m.At%Coarse.Milliseconds() != 0 && max(m.Sent, m.Delivered, m.Failed, m.Unsure) > 0
	})
}
