package views

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/sms"
)

// SendingForm is how an account sends, as its forms show it; "" stands for no
// limit.
type SendingForm struct {
	From, To             string     // times of day, both empty for any hour
	Days                 [7]DayForm // Sunday first
	HoursZone            string     // IANA name, "" for the account's
	Limits               map[string]string
	Abroad               bool
	TypeAbove            string
	ApproveAbove         string
	CallLimit, URLBudget string
	SendByGet            bool
}

// DayForm is one weekday's own sending hours as typed.
type DayForm struct{ Mode, From, To string }

// DayName is a weekday's name in the form.
func DayName(d int) string { return "day_" + strconv.Itoa(d) }

func dayModes() []Option {
	return []Option{{Value: "", Label: "As above"}, {Value: "own", Label: "These hours"},
		{Value: "closed", Label: "Closed"}}
}

func weekdays() []time.Weekday {
	return []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday,
		time.Sunday}
}

func sendMethods() []Option {
	return []Option{{Value: "post", Label: "POST"}, {Value: "get", Label: "GET"}}
}

func (p SendingForm) sendBy() string {
	if p.SendByGet {
		return "get"
	}
	return "post"
}

// minuteWords is a minute of the day as staff read it.
func minuteWords(minute int) string {
	return Clock(time.Date(2000, 1, 1, 0, minute, 0, 0, time.UTC))
}

func spanWords(from, to int) string {
	if from == to {
		return "Any time"
	}
	return minuteWords(from) + " to " + minuteWords(to)
}

// hoursWords are sending hours in one line: "8:00am to 8:00pm, not on Sunday".
func hoursWords(h sms.Hours) string {
	words, closed, other := []string{spanWords(h.From, h.To)}, []string(nil), []string(nil)
	for _, d := range weekdays() {
		switch own := h.Own[d]; {
		case own.Closed:
			closed = append(closed, d.String())
		case own.Set:
			other = append(other, d.String())
		}
	}
	switch {
	case len(closed) > 2:
		words = append(words, "closed on "+Number(len(closed))+" days")
	case len(closed) > 0:
		words = append(words, "not on "+and(closed))
	}
	switch {
	case len(other) > 2:
		words = append(words, "other hours on "+Number(len(other))+" days")
	case len(other) > 0:
		words = append(words, "other hours on "+and(other))
	}
	if h.Zone != "" {
		words = append(words, sms.ZoneCity(h.Zone)+" time")
	}
	return strings.Join(words, ", ")
}

// openWords says whether campaigns may send now, and until when that is so.
func openWords(h sms.Hours, now time.Time) string {
	switch {
	case h.Always():
		return "Campaigns send at any time"
	case !h.Open(now):
		return "Campaigns wait now, until " + When(h.Next(now), now)
	}
	if closes := closing(h, now); !closes.IsZero() {
		return "Campaigns send now, until " + strings.TrimPrefix(When(closes, now), "today at ")
	}
	return "Campaigns send now"
}

// closing is the first minute after now in which campaigns may not send, the
// zero time where there is none in a week.
func closing(h sms.Hours, now time.Time) time.Time {
	at := now.Truncate(time.Minute)
	if zone, err := time.LoadLocation(h.Zone); err == nil && h.Zone != "" {
		// Asked minute by minute, the zone must not be looked up each time.
		at, h.Zone = at.In(zone), ""
	}
	for range 8 * dayMinutes {
		if at = at.Add(time.Minute); !h.Open(at) {
			return at.In(now.Location())
		}
	}
	return time.Time{}
}

// weekDay is a day of the week with its 24 hours: those in which campaigns may
// send, with what the day before leaves of its own.
type weekDay struct {
	Day   time.Weekday
	Open  []Share
	Label string
}

func dayHours(h sms.Hours, d time.Weekday) (from, to int, closed bool) {
	if own := h.Own[d]; own.Set {
		return own.From, own.To, own.Closed
	}
	return h.From, h.To, false
}

func weekOf(h sms.Hours) (week []weekDay) {
	for _, d := range weekdays() {
		day := weekDay{Day: d}
		add := func(from, to int) {
			day.Open = append(day.Open, Share{Class: "ok", From: 100 * float64(from) / dayMinutes,
				Long: 100 * float64(to-from) / dayMinutes})
		}
		if from, to, closed := dayHours(h, (d+6)%7); !closed && to < from {
			add(0, to)
		}
		from, to, closed := dayHours(h, d)
		day.Label = d.String() + ": " + spanWords(from, to)
		switch {
		case closed:
			day.Label = d.String() + ": closed"
		case from == to:
			add(0, dayMinutes)
		case to < from:
			add(from, dayMinutes)
		default:
			add(from, to)
		}
		week = append(week, day)
	}
	return week
}

// ladder is what happens to campaigns by their number of recipients, on a scale
// on which each power of ten is as long.
type ladder struct {
	Bands []Share
	Ticks []ladderTick
	Keys  []ladderKey
	First bool // there is room for the word at the beginning
	Label string
}

type ladderTick struct {
	At    float64
	Text  string
	Below bool // its words stand below the bar, as another's are near
}

func (t ladderTick) x() string { return inPercent(t.At) }

func (t ladderTick) y() string {
	if t.Below {
		return "62"
	}
	return "13"
}

type ladderKey struct{ Class, Words string }

// ladderKind is what happens to a campaign of so many recipients. Approval takes
// the place of typing the number.
func ladderKind(a sms.Account, n int64) ladderKey {
	switch most := a.Limits.MaxPerCampaign; {
	case most > 0 && n > most:
		return ladderKey{"mute thin", "Cannot be sent"}
	case a.ApproveAbove > 0 && n > a.ApproveAbove:
		return ladderKey{"warn thin", "Needs approval"}
	case a.ConfirmCountAbove > 0 && n > a.ConfirmCountAbove:
		return ladderKey{"soft", "The number is typed"}
	}
	return ladderKey{"okbg", "Sent at once"}
}

// ladderOf draws the limits of an account.
func ladderOf(a sms.Account) ladder {
	limits := []int64{a.ApproveAbove, a.ConfirmCountAbove, a.Limits.MaxPerCampaign}
	limits = slices.DeleteFunc(limits, func(n int64) bool { return n <= 0 || ladderKind(a, n) == ladderKind(a, n+1) })
	slices.Sort(limits)
	limits = slices.Compact(limits)
	top := 100_000.0
	for _, n := range limits {
		for float64(n) >= top {
			top *= 10
		}
	}
	share := func(n int64) float64 { return 100 * math.Log10(float64(n)) / math.Log10(top) }
	var l ladder
	var said []string
	from, low := 0.0, int64(0)
	band := func(to float64) {
		key := ladderKind(a, low+1)
		l.Bands = append(l.Bands, Share{Class: key.Class, From: from, Long: to - from})
		l.Keys = append(l.Keys, key)
	}
	for _, n := range limits {
		at := share(n)
		band(at)
		said = append(said, "up to "+Number(int(n))+" recipients: "+strings.ToLower(l.Keys[len(l.Keys)-1].Words))
		l.Ticks = append(l.Ticks, ladderTick{At: at, Text: Number(int(n))})
		from, low = at, n
	}
	band(100)
	rest := "more"
	if low == 0 {
		rest = "any number"
	}
	said = append(said, rest+": "+strings.ToLower(l.Keys[len(l.Keys)-1].Words))
	l.Label = capitalise(strings.Join(said, "; "))
	l.apart()
	return l
}

// apart puts the words of ticks that are near each other on two lines; on a phone
// seven letters take a sixth of the width.
func (l *ladder) apart() {
	const near = 18
	l.First = len(l.Ticks) == 0 || l.Ticks[0].At > 2*near
	for i := 1; i < len(l.Ticks); i++ {
		l.Ticks[i].Below = l.Ticks[i].At-l.Ticks[i-1].At < near && !l.Ticks[i-1].Below
	}
}

// limitWords are the limits in one line.
func limitWords(a sms.Account) string {
	var words []string
	add := func(n int64, text string) {
		if n > 0 && len(words) < 2 {
			words = append(words, strings.ReplaceAll(text, "#", Number(int(n))))
		}
	}
	add(a.ApproveAbove, "approval above #")
	add(a.Limits.MaxPerCampaign, "# per campaign")
	add(a.Limits.MaxPerDay, "# per day")
	add(a.Limits.MaxPerUserDay, "# per team member per day")
	add(a.Limits.CapMessages, "# to one recipient")
	add(a.ConfirmCountAbove, "number typed above #")
	if len(words) == 0 {
		return "No limits"
	}
	return capitalise(strings.Join(words, ", "))
}

func (l ladder) height() string {
	if slices.ContainsFunc(l.Ticks, func(t ladderTick) bool { return t.Below }) {
		return "66"
	}
	return "48"
}

// legend has each kind once, in the order in which they come.
func (l ladder) legend() (list []ladderKey) {
	for _, k := range l.Keys {
		if !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	return list
}
