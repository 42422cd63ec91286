package sms

import (
	"fmt"
	"time"
)

// Hours is the part of every day in which campaigns may send, in minutes after
// midnight of the account's zone: from From until before To. Equal ones mean
// always; a To before From lies on the next day.
type Hours struct{ From, To int }

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
// when they may now.
func (h Hours) Next(at time.Time) time.Time {
	if h.Open(at) {
		return at
	}
	for day := range 2 {
		opens := time.Date(at.Year(), at.Month(), at.Day()+day, h.From/60, h.From%60, 0, 0, at.Location())
		if opens.After(at) {
			return opens
		}
	}
	return at
}

// Pause is the part of the day in which they may not, such as "20:00 to
// 08:00".
func (h Hours) Pause() string { return Hours{From: h.To, To: h.From}.Words() }

// Words is the part of the day as staff read it, such as "08:00 to 20:00".
func (h Hours) Words() string {
	return fmt.Sprintf("%02d:%02d to %02d:%02d", h.From/60, h.From%60, h.To/60, h.To%60)
}
