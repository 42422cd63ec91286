// Package series is campaigns that repeat: on which days and at what time, which
// of them have gone, which wait for an answer, and why a series pauses. It is
// values and arithmetic over days. It must never know who is stored where, how a
// list is made or sent, nor how a page looks.
package series

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/sms"
)

// Unit is what a rule counts in.
type Unit string

// The units.
const (
	Daily   Unit = "day"
	Weekly  Unit = "week"
	Monthly Unit = "month"
)

// Short says what happens in a month that is shorter than the day of the rule.
type Short string

// The two of them.
const (
	LastDay Short = "last" // it goes on the last day of that month
	NoRun   Short = "skip" // nothing goes in that month
)

// Rule is when a series goes. Days are written as 2026-11-23, in the zone.
type Rule struct {
	Unit     Unit
	Step     int     // every Step-th day, week or month, from 1
	Weekdays [7]bool `json:",omitempty"` // of Weekly, Sunday first
	MonthDay int     `json:",omitempty"` // of Monthly, 1 to 31; 0: the last day
	Short    Short   `json:",omitempty"` // of Monthly with MonthDay above 28
	Hour     int
	Minute   int
	Zone     string // IANA name
	From     string // no day before this one
	Until    string `json:",omitempty"` // no day after this one
	Count    int    `json:",omitempty"` // so many runs, where Until is ""
	// Moved are single days that differ: "" where nothing goes on that day, else
	// the time to which it was moved, as 2026-11-24T10:30.
	Moved map[string]string `json:",omitempty"`
}

const (
	// MostRuns is how many runs a series has at most, and MostDays how many days
	// there are from its first day to its last.
	MostRuns = 400
	MostDays = 2 * 366
	// MostStep is the largest Step.
	MostStep = 12
	day      = "2006-01-02"
	moment   = "2006-01-02T15:04"
)

// Date is one day of a rule.
type Date struct {
	Day string // of the rule, also where it was moved
	At  sms.Schedule
	// Note says what is unusual about it: moved, another day or time than usual.
	Note string
	// Skipped says that nothing goes; Note says why.
	Skipped bool
}

// Dates are the days of the rule after the given one ("": all) in their order, at
// most limit of them. done is how many runs there were before; skipped days do not
// count.
func (r Rule) Dates(after string, done, limit int) (list []Date) {
	zone := r.location()
	from, err := time.Parse(day, r.From)
	if err != nil {
		return nil
	}
	for i := 0; i <= MostDays && len(list) < limit; i++ {
		d := from.AddDate(0, 0, i)
		if r.Until != "" && d.Format(day) > r.Until || r.Until == "" && done >= r.Count {
			return list
		}
		if d.Format(day) <= after {
			continue
		}
		date, is := r.on(d, from, zone)
		if !is {
			continue
		}
		if list = append(list, date); !date.Skipped {
			done++
		}
	}
	return list
}

// on says what goes on a day.
func (r Rule) on(d, from time.Time, zone *time.Location) (Date, bool) {
	date := Date{Day: d.Format(day)}
	is := false
	switch r.Unit {
	case Daily:
		is = int(d.Sub(from).Hours()/24)%r.step() == 0
	case Weekly:
		is = r.Weekdays[d.Weekday()] && weeks(from, d)%r.step() == 0
	case Monthly:
		is = r.onMonth(&date, d, months(from, d))
	}
	if !is || date.Skipped {
		return date, is
	}
	if to, moved := r.Moved[date.Day]; moved {
		return r.moved(date, to, zone), true
	}
	at, note := at(time.Date(d.Year(), d.Month(), d.Day(), r.Hour, r.Minute, 0, 0, time.UTC), zone)
	date.At = at
	if note != "" {
		date.Note = note
	}
	return date, true
}

// onMonth says whether a day is the rule's day of its month. A month without that
// day is told on its last one.
func (r Rule) onMonth(date *Date, d time.Time, since int) bool {
	if since%r.step() != 0 {
		return false
	}
	last := d.AddDate(0, 0, 1).Day() == 1
	switch {
	case r.MonthDay == 0:
		return last
	case d.Day() == r.MonthDay:
		return true
	case !last || d.Day() > r.MonthDay:
		return false
	}
	date.Note = fmt.Sprintf("%s has no %s, so it is sent on the last day", d.Format("January"), ordinal(r.MonthDay))
	if r.Short == NoRun {
		date.Note, date.Skipped = fmt.Sprintf("%s has no %s", d.Format("January"), ordinal(r.MonthDay)), true
	}
	return true
}

func (r Rule) moved(date Date, to string, zone *time.Location) Date {
	wall, err := time.Parse(moment, to)
	if err != nil {
		date.Skipped, date.Note = true, "Left out"
		return date
	}
	usual := time.Date(0, 1, 1, r.Hour, r.Minute, 0, 0, time.UTC)
	date.At, _ = at(wall, zone)
	d, _ := time.Parse(day, date.Day)
	date.Note = "Moved from " + d.Format("Monday 2 January") + ", " + usual.Format("3:04pm")
	return date
}

// at is the moment at which clocks of a zone show a date and time. A time that is
// left out as they go forward is the moment at which they do; of a time that comes
// twice it is the first.
func at(wall time.Time, zone *time.Location) (s sms.Schedule, note string) {
	found := sms.Occurrences(wall, zone)
	for moved := wall; len(found) == 0; {
		moved = moved.Add(time.Minute)
		if found = sms.Occurrences(moved, zone); len(found) > 0 {
			note = fmt.Sprintf("The clocks go forward: %s does not exist on that day, so it is sent at %s",
				wall.Format("3:04pm"), found[0].Format("3:04pm"))
		}
	}
	if len(found) > 1 {
		note = fmt.Sprintf("The clocks go back: %s happens twice on that day, and it is sent at the first", wall.Format("3:04pm"))
	}
	return sms.ScheduleAt(found[0]), note
}

func (r Rule) step() int { return max(r.Step, 1) }

func (r Rule) location() *time.Location {
	zone, err := time.LoadLocation(r.Zone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// weeks counts the weeks between those of two days; a week begins on Monday.
func weeks(from, to time.Time) int {
	monday := func(d time.Time) time.Time { return d.AddDate(0, 0, -int((d.Weekday()+6)%7)) }
	return int(monday(to).Sub(monday(from)).Hours() / 24 / 7)
}

func months(from, to time.Time) int {
	return (to.Year()-from.Year())*12 + int(to.Month()-from.Month())
}

// Check says what is wrong with a rule. The fields of its Invalid are unit, step,
// weekdays, month_day, from, until and count.
func (r Rule) Check(now time.Time) error {
	bad := sms.Invalid{}
	today := now.In(r.location()).Format(day)
	from, err := time.Parse(day, r.From)
	switch {
	case err != nil:
		bad["from"] = "Enter the first day, for example " + today
	case r.From < today:
		bad["from"] = "The first day must not be in the past"
	}
	if r.Unit != Daily && r.Unit != Weekly && r.Unit != Monthly {
		bad["unit"] = "Choose every day, week or month"
	}
	if r.Step < 1 || r.Step > MostStep {
		bad["step"] = fmt.Sprintf("Enter a number from 1 to %d", MostStep)
	}
	if r.Unit == Weekly && r.Weekdays == [7]bool{} {
		bad["weekdays"] = "Choose at least one day of the week"
	}
	if r.Unit == Monthly && (r.MonthDay < 0 || r.MonthDay > 31) {
		bad["month_day"] = "Choose a day of the month"
	}
	if r.Until != "" {
		until, failed := time.Parse(day, r.Until)
		switch {
		case failed != nil:
			bad["until"] = "Enter the last day, for example " + today
		case r.Until < r.From:
			bad["until"] = "The last day must not be before the first day"
		case err == nil && until.Sub(from) > MostDays*24*time.Hour:
			bad["until"] = "The last day must be within two years of the first"
		}
	} else if r.Count < 1 || r.Count > MostRuns {
		bad["count"] = fmt.Sprintf("Enter how often to send, from 1 to %d, or choose an end date", MostRuns)
	}
	if len(bad) == 0 && len(r.Dates("", 0, 1)) == 0 {
		bad["until"] = "No day of this series lies before its end. Choose a later one"
	}
	return bad.Or()
}

// Words are the rule as staff read it, such as "Every Monday at 9:00am" or "On the
// last day of every month at 5:30pm".
func (r Rule) Words() string {
	return r.days() + " at " + time.Date(0, 1, 1, r.Hour, r.Minute, 0, 0, time.UTC).Format("3:04pm")
}

func (r Rule) days() string {
	every := func(unit string) string {
		if r.step() == 1 {
			return "every " + unit
		}
		return fmt.Sprintf("every %d %ss", r.step(), unit)
	}
	switch r.Unit {
	case Weekly:
		var names []string
		for i := range r.Weekdays {
			if d := time.Weekday((i + 1) % 7); r.Weekdays[d] {
				names = append(names, d.String())
			}
		}
		if r.step() == 1 {
			return "Every " + join(names)
		}
		return join(names) + " of " + every("week")
	case Monthly:
		on := "On the " + ordinal(r.MonthDay) + " of "
		if r.MonthDay == 0 {
			on = "On the last day of "
		}
		return on + every("month")
	}
	words := every("day")
	return strings.ToUpper(words[:1]) + words[1:]
}

// Ends is how it ends, such as "until 31 December 2026" or "10 times".
func (r Rule) Ends() string {
	if until, err := time.Parse(day, r.Until); err == nil {
		return "until " + until.Format("2 January 2006")
	}
	if r.Count == 1 {
		return "once"
	}
	return strconv.Itoa(r.Count) + " times"
}

func join(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

func ordinal(n int) string {
	end := "th"
	switch {
	case n%100/10 == 1:
	case n%10 == 1:
		end = "st"
	case n%10 == 2:
		end = "nd"
	case n%10 == 3:
		end = "rd"
	}
	return strconv.Itoa(n) + end
}
