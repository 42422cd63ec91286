// Package series is the pages of campaigns that repeat, and of all campaigns by day.
// It must never know how a message is written, a list checked or a campaign sent:
// each run has a page of its own in web/campaign.
package series

import "smsdesk/web/page"

// Config is what the pages ask of the storage, and what people do on them.
type Config struct {
	Calendar calendarQuestions
	Ask      seriesQuestions
	Do       seriesOrders
}

// Room are the pages, each noun in its own type.
type Room struct {
	Calendars *calendars
	Series    *repeats
}

// New returns them, over what every page stands on.
func New(site *page.Site, c Config) *Room {
	return &Room{Calendars: &calendars{Site: site, store: c.Calendar}, Series: &repeats{Site: site, store: c.Ask, desk: c.Do}}
}
