package sms

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Hours is the part of every day in which campaigns may send, in minutes after
// midnight: from From until before To. Equal ones mean always; a To before From
// lies on the next day, and belongs to the day on which it begins.
type Hours struct {
	From, To int
	Own      [7]DayHours // by weekday, Sunday first: what differs from the other days
	Zone     string      // an IANA name; "" is the account's
}

// DayHours is what one day of the week has instead of the hours of the others.
type DayHours struct {
	Set      bool
	Closed   bool // nothing is sent on this day
	From, To int  // equal ones: the whole day
}

// ReadDay reads what one day of the week has of its own: mode is "" for the
// hours of the others, "closed" for nothing or "own" for two times of day, both
// empty for the whole day. The fields of its Invalid are from and to.
func ReadDay(mode, from, to string) (DayHours, error) {
	switch mode {
	case "":
		return DayHours{}, nil
	case "closed":
		return DayHours{Set: true, Closed: true}, nil
	}
	h, err := ReadHours(from, to)
	if bad, ok := errors.AsType[Invalid](err); ok {
		return DayHours{}, Invalid{"from": bad["hours_from"], "to": bad["hours_to"]}
	}
	return DayHours{Set: true, From: h.From, To: h.To}, err
}

// Mode is what ReadDay reads.
func (d DayHours) Mode() string {
	switch {
	case !d.Set:
		return ""
	case d.Closed:
		return "closed"
	}
	return "own"
}

// Ends are the two times of day as a form shows them, both "" for the whole
// day, and where there are none.
func (d DayHours) Ends() (from, to string) { return Hours{From: d.From, To: d.To}.Ends() }

// Day is the part of one weekday, in minutes after midnight; closed says that it has none.
func (h Hours) Day(d time.Weekday) (from, to int, closed bool) {
	if own := h.Own[d]; own.Set {
		return own.From, own.To, own.Closed
	}
	return h.From, h.To, false
}

// differs says that some day has hours of its own.
func (h Hours) differs() bool { return h.Own != [7]DayHours{} }

// in is a moment in the zone of the hours.
func (h Hours) in(at time.Time) time.Time {
	if h.Zone == "" {
		return at
	}
	zone, err := time.LoadLocation(h.Zone)
	if err != nil {
		return at
	}
	return at.In(zone)
}

// ReadHours reads two times of day. The fields of its Invalid are hours_from
// and hours_to; two empty ones are no quiet hours.
func ReadHours(from, to string) (Hours, error) {
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	if from == "" && to == "" {
		return Hours{}, nil
	}
	bad := Invalid{}
	read := func(field, text string) int {
		hour, minute, ok := ReadClock(text)
		switch {
		case text == "":
			bad[field] = "Enter both times, or leave both empty"
		case !ok:
			bad[field] = "Enter a time of day, for example 08:00"
		}
		return hour*60 + minute
	}
	h := Hours{From: read("hours_from", from), To: read("hours_to", to)}
	if len(bad) == 0 && h.From == h.To {
		bad["hours_to"] = "Start and end must be different. Leave both empty to send at any time"
	}
	return h, bad.Or()
}

// Valid says that all ends are minutes of a day, that something may be sent on
// some day, and that the zone is one.
func (h Hours) Valid() bool {
	minute := func(m int) bool { return m >= 0 && m < minutesOfDay }
	open := false
	for d := range h.Own {
		from, to, closed := h.Day(time.Weekday(d))
		if !minute(from) || !minute(to) {
			return false
		}
		open = open || !closed
	}
	_, err := time.LoadLocation(h.Zone)
	return open && err == nil && minute(h.From) && minute(h.To)
}

// Ends are the two times of day as a form shows them, both "" where every day
// is open as a whole.
func (h Hours) Ends() (from, to string) {
	if h.From == h.To {
		return "", ""
	}
	return clock(h.From), clock(h.To)
}

func clock(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// Always says that there are no quiet hours.
func (h Hours) Always() bool { return h.From == h.To && !h.differs() }

// Open says whether campaigns may send at a moment, read in its own zone
// unless the hours have one.
func (h Hours) Open(at time.Time) bool {
	if h.Always() {
		return true
	}
	at = h.in(at)
	minute := at.Hour()*60 + at.Minute()
	from, to, closed := h.Day(at.Weekday())
	if !closed && (from == to || from <= minute && (minute < to || to < from)) {
		return true
	}
	from, to, closed = h.Day((at.Weekday() + 6) % 7)
	return !closed && to < from && minute < to
}

// Next is the first moment from at on in which campaigns may send: at itself
// when they may now. On a day on which the clocks change it goes by what they
// show: an opening that is left out is where the clocks go on, one that comes
// twice counts both times.
func (h Hours) Next(at time.Time) time.Time {
	if h.Always() || !h.Valid() {
		return at
	}
	zone := at.Location()
	for at = h.in(at); !h.Open(at); {
		at = at.Add(-time.Duration(at.Second())*time.Second - time.Duration(at.Nanosecond()))
		opens := at.Add(time.Duration(h.until(at)) * time.Minute)
		if _, change := at.ZoneBounds(); !change.IsZero() && !opens.Before(change) {
			opens = change
		}
		at = opens
	}
	return at.In(zone)
}

// until is how many minutes of the clock there are from a moment that is not
// open to the next opening.
func (h Hours) until(at time.Time) int {
	minute := at.Hour()*60 + at.Minute()
	for ahead := range 8 {
		from, to, closed := h.Day((at.Weekday() + time.Weekday(ahead)) % 7)
		if from == to {
			from = 0
		}
		if wait := ahead*minutesOfDay + from - minute; !closed && wait > 0 {
			return wait
		}
	}
	return minutesOfDay
}

// Pause is the part of the day in which they may not, such as "20:00 to
// 08:00".
func (h Hours) Pause() string {
	if h.differs() {
		return "one day's closing time until the next day's opening time"
	}
	return clock(h.To) + " to " + clock(h.From)
}

const minutesOfDay = 24 * 60

// SendsAt is the first moment from at on at which a campaign of the account may
// send: at itself when it may now. Sending hours hold for every campaign, the
// urgent ones too: whoever gets a text at night does not know how it was
// ordered. They are about phones: a campaign that is handed over to the service
// may be handed over at any hour, and its own time was checked when a person
// chose it. And a test goes to the phone of the person who waits for it.
func SendsAt(a Account, c Campaign, at time.Time) time.Time {
	if c.HandOver || c.TestOf > 0 {
		return at
	}
	return a.Hours.Next(at.In(a.Location()))
}

// Words is the part of the day as staff read it, such as "08:00 to 20:00,
// Saturday 09:00 to 13:00, not on Sunday".
func (h Hours) Words() string {
	part := func(from, to int) string {
		if from == to {
			return "at any hour"
		}
		return clock(from) + " to " + clock(to)
	}
	words := []string{part(h.From, h.To)}
	for i := range h.Own {
		d := time.Weekday((i + 1) % 7)
		switch own := h.Own[d]; {
		case !own.Set:
		case own.Closed:
			words = append(words, "closed on "+d.String())
		default:
			words = append(words, d.String()+" "+part(own.From, own.To))
		}
	}
	if h.Zone != "" {
		words = append(words, ZoneCity(h.Zone)+" time")
	}
	return strings.Join(words, ", ")
}

// ZoneCity is the place that a zone is named after.
func ZoneCity(zone string) string {
	_, city, found := strings.Cut(zone, "/")
	if !found {
		return zone
	}
	return strings.ReplaceAll(city, "_", " ")
}
