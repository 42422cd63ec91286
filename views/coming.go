package views

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"smsdesk/internal/sms"
)

// comingPlace is one place of what is coming: a day, or everything later.
type comingPlace struct {
	title, none string
	cards       []comingCard
	more        int // cards that are not shown
}

// comingCard is one campaign that has a time to start.
type comingCard struct {
	id          int64
	name, facts string
	care        string // what stands in its way
}

const (
	comingDays  = 4 // today and the next three
	comingCards = 2
)

// coming puts campaigns into places by the day on which they start.
func (p OverviewPage) coming() []comingPlace {
	places := make([]comingPlace, comingDays+1)
	today := midnight(p.Now)
	for i := range comingDays {
		day := today.AddDate(0, 0, i)
		places[i] = comingPlace{title: day.Format("Monday"), none: "nothing"}
		if i == 0 {
			places[i].title = "Today, " + places[i].title
		}
		if p.quiet(day) {
			places[i].none = "no sending hours"
		}
	}
	places[comingDays] = comingPlace{title: "Later", none: "nothing"}
	parts := p.Unpaid
	for _, c := range p.Coming {
		parts -= c.Parts
	}
	for _, c := range p.Coming {
		parts += c.Parts
		place := comingDays
		for i := range comingDays {
			if p.at(c.SendAt).Before(today.AddDate(0, 0, i+1)) {
				place = i
				break
			}
		}
		if len(places[place].cards) == comingCards {
			places[place].more++
			continue
		}
		places[place].cards = append(places[place].cards, comingCard{id: c.ID, name: p.named(c),
			facts: p.comingFacts(c, place == comingDays), care: p.inTheWay(c, parts)})
	}
	return places
}

// quiet says that no part of a day is open for sending.
func (p OverviewPage) quiet(day time.Time) bool {
	if p.Account.Hours.Always() {
		return false
	}
	for at := day; at.Before(day.AddDate(0, 0, 1)); at = at.Add(15 * time.Minute) {
		if p.Account.Hours.Open(at) {
			return false
		}
	}
	return true
}

func (p OverviewPage) comingFacts(c sms.Campaign, later bool) string {
	at := p.at(c.SendAt)
	words := Clock(at)
	switch {
	case at.Before(p.Now) && c.State == sms.CampaignScheduled:
		words = "in a few seconds"
	case later:
		words = at.Format("2 Jan ") + words
	}
	words += " · " + campaignTo(c)
	if c.GroupID == "" && p.Price.Known() {
		words += " · " + strings.TrimSuffix(reckoned(p.Account.Currency, p.Price.of(c.Parts)), ".00")
	}
	return words
}

// inTheWay says what keeps a campaign from starting; parts are those to be paid
// for until it is done.
func (p OverviewPage) inTheWay(c sms.Campaign, parts int64) string {
	if c.State == sms.CampaignAwaiting {
		return "needs approval"
	}
	if p.Credit == nil || !p.Price.Known() || p.Account.Test {
		return ""
	}
	if short := new(big.Rat).Sub(p.Price.of(parts), p.Credit); short.Sign() > 0 {
		return "balance too low by " + strings.TrimSuffix(reckoned(p.Account.Currency, short), ".00")
	}
	return ""
}

// twins says that another campaign on the page has the same name, and that one of
// them was started, or is to start, at the same time.
func (p OverviewPage) twins(c sms.Campaign) (same, sameTime bool) {
	others := slices.Concat(p.Coming, p.Paused)
	for _, r := range p.Latest {
		others = append(others, r.Campaign)
	}
	for _, o := range others {
		if o.ID != c.ID && o.Name == c.Name {
			same, sameTime = true, sameTime || p.began(o) == p.began(c)
		}
	}
	return same, sameTime
}

// named is a campaign's name, told apart from others of the same name by its time,
// and where that is the same by its number.
func (p OverviewPage) named(c sms.Campaign) string {
	switch same, sameTime := p.twins(c); {
	case sameTime:
		return c.Name + " (" + campaignNumber(c) + ")"
	case same:
		return c.Name + " (" + p.began(c) + ")"
	}
	return c.Name
}

func campaignNumber(c sms.Campaign) string { return "no. " + id(c.ID) }

// began is when a campaign was started, or is to start, or was written.
func (p OverviewPage) began(c sms.Campaign) string {
	if c.StartedAt == 0 && c.SendAt > 0 {
		return p.ShortTime(c.SendAt)
	}
	return strings.TrimPrefix(campaignWhen(p.Formatter, c), "today at ")
}
