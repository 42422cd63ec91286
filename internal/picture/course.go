package picture

import (
	"math"
	"strings"
)

// Level is how much there was from a time on (milliseconds).
type Level struct {
	At    int64
	Value float64
}

// Course is how a level went, as steps because it stood until it changed, and
// where it goes. It stands on nothing left, so that a small fall looks small.
// Edge, Area and Ahead are paths in a box 1,000 wide and high.
type Course struct {
	From, Now, Until int64
	Edge, Area       string
	Ahead            string // "" where nobody knows
	bottom, top      float64
}

// courseAir is the share of the height above the highest level.
const courseAir = 0.06

// NewCourse draws levels, oldest first, up to now and on to the time when nothing
// will be left, 0 for unknown. What is to come takes at most half of the width.
func NewCourse(list []Level, now, empty int64) Course {
	c := Course{From: now, Now: now, Until: now}
	if len(list) == 0 {
		return c
	}
	c.From = min(list[0].At, now-1)
	for _, l := range list {
		c.top, c.bottom = max(c.top, l.Value), min(c.bottom, l.Value)
	}
	if empty > now {
		c.Until = min(empty, now+(now-c.From))
	}
	var edge strings.Builder
	last := list[len(list)-1].Value
	for i, l := range list {
		if i == 0 {
			edge.WriteString("M" + Unit(c.x(l.At)) + " " + Unit(c.y(l.Value)))
		} else {
			edge.WriteString("H" + Unit(c.x(l.At)) + "V" + Unit(c.y(l.Value)))
		}
	}
	edge.WriteString("H" + Unit(c.x(now)))
	c.Edge = edge.String()
	c.Area = c.Edge + "V1000H" + Unit(c.x(list[0].At)) + "Z"
	if c.Until > now {
		left := last * (1 - float64(c.Until-now)/float64(empty-now))
		c.Ahead = "M" + Unit(c.x(now)) + " " + Unit(c.y(last)) + "L" + Unit(c.x(c.Until)) + " " + Unit(c.y(left))
	}
	return c
}

func (c Course) x(at int64) float64 {
	return 1000 * float64(min(max(at, c.From), c.Until)-c.From) / float64(c.Until-c.From)
}

func (c Course) y(value float64) float64 {
	if c.top <= c.bottom {
		return 1000
	}
	return 1000 * (1 - (1-courseAir)*(value-c.bottom)/(c.top-c.bottom))
}

// Across is where a time is, in percent of the width.
func (c Course) Across(at int64) string { return Unit(c.x(at) / 10) }

// Up is where a level is, in pixels from the top of a box so many pixels high; ok
// is false where it is outside.
func (c Course) Up(value, high float64) (y string, ok bool) {
	at := c.y(value) * high / 1000
	return Unit(math.Max(at, 0)), at >= 0 && at <= high && c.top > c.bottom
}
