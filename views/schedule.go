package views

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/sms"
)

// The choices of "When to send".
const (
	WhenNow      = "now"
	WhenHour     = "hour"
	WhenTomorrow = "tomorrow"
	WhenAt       = "at"
)

// SchedulePage asks when a campaign is to start, and then, with Chosen, for
// the last yes.
type SchedulePage struct {
	Formatter
	Campaign sms.Campaign
	Zone     *time.Location
	When     string // one of the choices
	Day      string // as typed
	Time     string
	Which    sms.DSTChoice
	Ask      bool // the time of day comes twice on that day
	Chosen   *sms.Schedule
	Already  *sms.AlreadySent // nil where nobody got nearly this text
	Again    bool
	Fresh    bool  // it may also be sent now
	HandOver bool  // the provider is to keep it until then
	Asked    int64 // the number of recipients where it has to be typed, 0 where not
	Typed    string
	Repeat   Repeat
	Errors   sms.Invalid
}

// moved says that the campaign has a time already.
func (p SchedulePage) moved() bool { return p.Campaign.MayReschedule() }

// Title is the page's heading.
func (p SchedulePage) Title() string {
	if p.moved() {
		return "Change the time"
	}
	return "Schedule"
}

func (p SchedulePage) options() []Option {
	now := p.Now.In(p.Zone)
	hour, tomorrow := sms.InAnHour(p.Now, p.Zone).Time(), sms.TomorrowMorning(p.Now, p.Zone).Time()
	var options []Option
	if p.Fresh {
		options = append(options, Option{Value: WhenNow, Label: "Now"})
	}
	return append(options,
		Option{Value: WhenHour, Label: "In 1 hour", Hint: capitalise(strings.TrimPrefix(When(hour, now), "today at "))},
		Option{Value: WhenTomorrow, Label: "Tomorrow", Hint: Clock(tomorrow) + ", " + tomorrow.Format("Monday")},
		Option{Value: WhenAt, Label: "Pick a time"})
}

func (p SchedulePage) whenField() Field { return Field{Name: "when", Error: p.Errors["when"]} }

// whenID is the id of a choice; the first is where an error leads.
func whenID(i int) string {
	if i == 0 {
		return "when"
	}
	return "when-" + strconv.Itoa(i)
}

func (p SchedulePage) zoneHint() string {
	return "Times are in " + ZoneWords(p.Now.In(p.Zone)) + " (now " + Clock(p.Now.In(p.Zone)) +
		"). You can cancel until sending starts."
}

func (p SchedulePage) whiches() []Option {
	read, err := time.Parse("15:04", p.Time)
	words := p.Time
	if err == nil {
		words = Clock(read)
	}
	return []Option{{Value: string(sms.Earlier), Label: "First " + words, Hint: "Before the clocks go back"},
		{Value: string(sms.Later), Label: "Second " + words, Hint: "After the clocks go back"}}
}

func (p SchedulePage) button() string {
	at := p.Chosen.Time()
	words := When(at, p.Now.In(at.Location()))
	if which := p.Chosen.DSTChoiceAt(); which != "" {
		words += " (the " + string(which) + ")"
	}
	switch {
	case p.HandOver:
		return "Schedule with the provider for " + words
	case p.moved():
		return "Change to " + words
	}
	return "Schedule for " + words
}

func (p SchedulePage) typedLabel() string { return "Type " + id(p.Asked) + " to confirm" }

func (p SchedulePage) terms() []KeyValue {
	at := p.Chosen.Time()
	clock := Clock(at)
	if which := p.Chosen.DSTChoiceAt(); which != "" {
		clock += ", the " + string(which) + " one"
	}
	to := Number(int(p.Campaign.Recipients))
	if p.Campaign.GroupID != "" {
		to = "Group " + p.Campaign.GroupName
	}
	return []KeyValue{{Name: "Date", Text: at.Format("Monday 2 January 2006")}, {Name: "Time", Text: clock},
		{Name: "Time zone", Text: ZoneWords(at)}, {Name: "Recipients", Text: to}}
}

// otherTime leads back to the question, with what was chosen in it.
func (p SchedulePage) otherTime() string {
	return With(With(SchedulePath(p.Campaign.ID), "day", p.Day), "time", p.Time)
}

func (p SchedulePage) back() Link {
	if p.moved() {
		return Link{Text: "Keep the current time", Href: CampaignPath(p.Campaign.ID)}
	}
	return Link{Text: "Back", Href: CampaignPath(p.Campaign.ID) + "/confirm"}
}

// ZoneWords names the zone of a moment: "West Africa Time", where its short
// name is known and means one thing only, else "Berlin time (UTC+2)".
func ZoneWords(at time.Time) string {
	name := at.Location().String()
	short, offset := at.Zone()
	if strings.HasPrefix(name, "Africa/") {
		if words := map[string]string{"WAT": "West Africa Time", "EAT": "East Africa Time", "CAT": "Central Africa Time",
			"SAST": "South Africa Standard Time",
			"GMT":  "Greenwich Mean Time"}[short]; words != "" {
			return words
		}
	}
	if name == "UTC" {
		return "UTC"
	}
	city := strings.ReplaceAll(name[strings.LastIndex(name, "/")+1:], "_", " ")
	return city + " time (" + offsetWords(offset) + ")"
}

func offsetWords(seconds int) string {
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	hours, minutes := seconds/3600, seconds/60%60
	if minutes == 0 {
		return "UTC" + sign + strconv.Itoa(hours)
	}
	return fmt.Sprintf("UTC%s%d:%02d", sign, hours, minutes)
}

func capitalise(words string) string {
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// startsAt says when a scheduled campaign starts, in the zone in which that
// was chosen.
func (o Formatter) startsAt(c sms.Campaign) string {
	at := c.Schedule().Time()
	if due, _ := c.Schedule().Due(o.Now); due {
		return "in a few seconds"
	}
	return When(at, o.Now)
}

func (p CampaignPage) startsZone() string {
	at := p.Campaign.Schedule().Time()
	return at.Format("Monday 2 January 2006") + ", " + Clock(at) + " " + ZoneWords(at) + ". Scheduled by " +
		p.Campaign.StartedName + ". You can cancel until sending starts."
}

// zoneMoved says that the zone's rules changed after the time was chosen.
func (p CampaignPage) zoneMoved() string {
	s := p.Campaign.Schedule()
	if !s.Moved() {
		return ""
	}
	return "The rules of this time zone changed after you chose the time: " + Clock(s.Meant()) + " is now " +
		Clock(s.Time()) + ". Check the time."
}

func (p CampaignPage) continueWords() string {
	if p.Campaign.Held() {
		return "Send now"
	}
	return "Continue sending"
}

func (p CampaignPage) pausedTitle() string {
	if p.Campaign.Held() {
		return "It was not sent on time"
	}
	return "Sending is paused"
}

func (p SchedulePage) already() AlreadyCard {
	return AlreadyCard{Formatter: p.Formatter, Sent: p.Already, Asks: true, Again: p.Again, Error: p.Errors["again"]}
}
