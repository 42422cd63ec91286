package sms

import (
	"fmt"
	"strings"
	"time"
)

// Hours is the part of every day in which campaigns may send, in minutes after
// midnight of the account's zone: from From until before To. Equal ones mean
// always; a To before From lies on the next day.
type Hours struct{ From, To int }

// ReadHours reads two times of day. The fields of its Invalid are hours_from
// and hours_to; two empty ones are no quiet hours.
func ReadHours(from, to string) (Hours, error) {
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	if from == "" && to == "" {
		return Hours{}, nil
	}
	bad := Invalid{}
	read := func(field, text string) int {
		hour, minute, ok := readClock(text)
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
		bad["hours_to"] = "Enter two different times, or leave both empty"
	}
	return h, bad.Or()
}

// Valid says that both ends are minutes of a day.
func (h Hours) Valid() bool {
	return h.From >= 0 && h.From < minutesOfDay && h.To >= 0 && h.To < minutesOfDay
}

// Ends are the two times of day as a form shows them, both "" without quiet
// hours.
func (h Hours) Ends() (from, to string) {
	if h.Always() {
		return "", ""
	}
	from, to, _ = strings.Cut(h.Words(), " to ")
	return from, to
}

// Always says that there are no quiet hours.
func (h Hours) Always() bool { return h.From == h.To }

// Open says whether campaigns may send at a moment, read in its own zone.
func (h Hours) Open(at time.Time) bool {
	minute := at.Hour()*60 + at.Minute()
	switch {
	case h.Always():
		return true
	case h.From < h.To:
		return h.From <= minute && minute < h.To
	}
	return minute >= h.From || minute < h.To
}

// Next is the first moment from at on in which campaigns may send: at itself
// when they may now. On a day on which the clocks change it goes by what they
// show: an opening that is left out is where the clocks go on, one that comes
// twice counts both times.
func (h Hours) Next(at time.Time) time.Time {
	for !h.Open(at) {
		at = at.Add(-time.Duration(at.Second())*time.Second - time.Duration(at.Nanosecond()))
		minute := at.Hour()*60 + at.Minute()
		opens := at.Add(time.Duration((h.From-minute+minutesOfDay)%minutesOfDay) * time.Minute)
		if _, change := at.ZoneBounds(); !change.IsZero() && !opens.Before(change) {
			opens = change
		}
		at = opens
	}
	return at
}

// Pause is the part of the day in which they may not, such as "20:00 to
// 08:00".
func (h Hours) Pause() string { return Hours{From: h.To, To: h.From}.Words() }

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

// Words is the part of the day as staff read it, such as "08:00 to 20:00".
func (h Hours) Words() string {
	return fmt.Sprintf("%02d:%02d to %02d:%02d", h.From/60, h.From%60, h.To/60, h.To%60)
}
