package picture

import "math"

// Lasting is how long something lasts that is used up, in days.
type Lasting struct {
	Mean        float64 // used a day
	Days        float64
	Least, Most float64 // 9 of 10 times between these; Most may be infinite
}

const (
	// FewDays with any use tell nothing.
	FewDays = 5
	// spread of the mean is taken so many standard errors wide.
	spread = 1.65
)

// Lasts tells how long what is left lasts when it is used as on these days, those
// without use among them; ok is false where they are too few to tell.
func Lasts(left float64, used []float64) (l Lasting, ok bool) {
	n, days := 0, float64(len(used))
	for _, u := range used {
		if u > 0 {
			n++
		}
		l.Mean += u / days
	}
	if n < FewDays {
		return Lasting{}, false
	}
	off := 0.0
	for _, u := range used {
		off += (u - l.Mean) * (u - l.Mean) / (days - 1)
	}
	wide := spread * math.Sqrt(off/days)
	left = math.Max(left, 0)
	l.Days, l.Least, l.Most = left/l.Mean, left/(l.Mean+wide), math.Inf(1)
	if l.Mean > wide {
		l.Most = left / (l.Mean - wide)
	}
	return l, true
}
