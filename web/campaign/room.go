// Package campaign is the pages of campaigns, from a text or a list to what became
// of its messages, and of messages themselves. It must never know USSD, an
// account's credentials or who may sign in.
package campaign

import "smsdesk/web/page"

// Questions are what each noun's pages ask of the storage.
type Questions struct {
	Base      baseQuestions
	Beside    besideQuestions
	Campaign  campaignQuestions
	Message   messageQuestions
	Confirm   confirmQuestions
	Draft     draftQuestions
	Upload    uploadQuestions
	Doubt     doubtQuestions
	Overview  overviewQuestions
	Find      findQuestions
	Rehearsal rehearsalQuestions
	Wall      wallQuestions
}

// Orders are what people do on these pages.
type Orders struct {
	Campaign  campaignOrders
	Message   messageOrders
	Download  downloadOrders
	Confirm   confirmOrders
	Draft     draftOrders
	Audience  audienceOrders
	Upload    uploadOrders
	Correct   correctOrders
	Doubt     doubtOrders
	Rehearsal rehearsalOrders
	Wall      wallOrders
}

// Config is what they need to work.
type Config struct {
	Ask Questions
	Do  Orders
}

// Room are the pages of campaigns, messages and lists, each noun in its own type.
type Room struct {
	Campaigns  *campaigns
	Messages   *messages
	Downloads  *downloads
	Confirms   *confirms
	Drafts     *drafts
	Uploads    *uploads
	Doubts     *doubts
	Overviews  *overviews
	Finds      *finds
	Rehearsals *rehearsals
	Walls      *walls
}

// New returns them, over what every page stands on.
func New(site *page.Site, c Config) *Room {
	common := &base{Site: site, store: c.Ask.Base}
	confirm := &confirms{base: common, store: c.Ask.Confirm, desk: c.Do.Confirm}
	made := &campaigns{base: common, store: c.Ask.Campaign, beside: c.Ask.Beside, desk: c.Do.Campaign}
	return &Room{
		Campaigns: made,
		Messages:  &messages{base: common, store: c.Ask.Message, desk: c.Do.Message},
		Downloads: &downloads{base: common, lists: c.Do.Download, downloads: make(page.Seats, downloadsMost)},
		Confirms:  confirm,
		Drafts:    &drafts{base: common, store: c.Ask.Draft, desk: c.Do.Draft, lists: c.Do.Audience},
		Uploads: &uploads{base: common, store: c.Ask.Upload, lists: c.Do.Upload, corrections: c.Do.Correct,
			desk: c.Do.Draft},
		Doubts:     &doubts{base: common, store: c.Ask.Doubt, desk: c.Do.Doubt},
		Overviews:  &overviews{base: common, store: c.Ask.Overview},
		Finds:      &finds{base: common, store: c.Ask.Find},
		Rehearsals: &rehearsals{base: common, store: c.Ask.Rehearsal, desk: c.Do.Rehearsal, confirms: confirm},
		Walls:      &walls{campaigns: made, store: c.Ask.Wall, desk: c.Do.Wall},
	}
}
