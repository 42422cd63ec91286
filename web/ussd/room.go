// Package ussd is the pages of USSD menus, of the simulator, and of callers. It must
// never know a campaign or a list.
package ussd

import (
	"context"

	"smsdesk/internal/ussd"
	"smsdesk/web/page"
)

// Questions are what each noun's pages ask of the storage.
type Questions struct {
	MenuBase menuBaseQuestions
	Menu     menuQuestions
	Caller   callerQuestions
}

// Orders are what people do on these pages.
type Orders struct {
	Menu   menuOrders
	Caller callerOrders
}

// Config is what they need to work.
type Config struct {
	Ask Questions
	Do  Orders
	// Press makes one request of the simulator's phone at the account's USSD
	// endpoint, over HTTP; Try lets a simulated session walk through a draft.
	Press func(ctx context.Context, account int64, p ussd.PhoneInput) (ussd.PhoneOutput, error)
	Try   func(session string, d ussd.Draft)
}

// Room are the pages of USSD menus and of their callers.
type Room struct {
	Menus   *menus
	Callers *callers
}

// New returns them, over what every page stands on.
func New(site *page.Site, c Config) *Room {
	common := &menubase{Site: site, store: c.Ask.MenuBase}
	return &Room{
		Menus:   &menus{menubase: common, store: c.Ask.Menu, desk: c.Do.Menu, press: c.Press, try: c.Try},
		Callers: &callers{menubase: common, store: c.Ask.Caller, desk: c.Do.Caller},
	}
}
