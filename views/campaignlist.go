package views

import (
	"strconv"

	"smsdesk/internal/sms"
)

// CampaignListPage is the list of campaigns, newest first.
type CampaignListPage struct {
	Formatter
	Account  sms.Account
	Rows     []sms.CampaignRow
	Tab      string // a key of CampaignTabs
	Name     string // part of the name that was searched for
	SenderID string // "": every one
	Person   int64  // who wrote or sent it, 0: whoever
	From, To string // days as typed, "": any
	Senders  []string
	People   []sms.User
	CanSend  bool
	Next     string
	Prev     string
	Errors   sms.Invalid
	Live     Refresh // of the rows that may still change
}

// CampaignTabs are the ways to look at the list: the word in the address and
// the word on screen.
func CampaignTabs() [][2]string {
	return [][2]string{{"", "All"}, {"running", "Running"}, {"scheduled", "Scheduled"},
		{"needs-decision", "Needs your decision"}, {"needs-approval", "Needs approval"},
		{"finished", "Finished"}, {"drafts", "Drafts"}, {"test", "Test"}}
}

// Address is the list's with its filters, under a tab.
func (p CampaignListPage) Address(tab string) string {
	address := With(With(With(CampaignsPath, "state", tab), "name", p.Name), "sender", p.SenderID)
	if p.Person > 0 {
		address = With(address, "person", id(p.Person))
	}
	return With(With(address, "from", p.From), "to", p.To)
}

func (p CampaignListPage) tabs() []Tab {
	var tabs []Tab
	for _, t := range CampaignTabs() {
		tabs = append(tabs, Tab{Text: t[1], Href: p.Address(t[0]), Current: t[0] == p.Tab})
	}
	return tabs
}

// narrowed says that the form above the list holds something.
func (p CampaignListPage) narrowed() bool {
	return p.Name != "" || p.SenderID != "" || p.Person > 0 || p.From != "" || p.To != ""
}

// further says that a filter is set that is not seen until it is opened.
func (p CampaignListPage) further() bool {
	return p.SenderID != "" || p.Person > 0 || p.From != "" || p.To != ""
}

func (p CampaignListPage) senders() []Option {
	var options []Option
	known := p.SenderID == ""
	for _, s := range p.Senders {
		options = append(options, Option{Value: s, Label: s})
		known = known || s == p.SenderID
	}
	if !known {
		options = append(options, Option{Value: p.SenderID, Label: p.SenderID})
	}
	return options
}

func (p CampaignListPage) people() []Option {
	var options []Option
	for _, u := range p.People {
		options = append(options, Option{Value: id(u.ID), Label: u.Name})
	}
	return options
}

func (p CampaignListPage) person() string {
	if p.Person == 0 {
		return ""
	}
	return strconv.FormatInt(p.Person, 10)
}

// cost is what a campaign is estimated to cost, "–" where that is not known:
// without a price, to a gateway group, or cancelled before anything was sent.
func (p CampaignListPage) cost(c sms.Campaign) string {
	if p.Account.PricePerPart <= 0 || c.GroupID != "" || c.State == sms.CampaignCancelled && c.StartedAt == 0 {
		return "–"
	}
	return Money(p.Account.Currency, c.Parts*p.Account.PricePerPart)
}

func (p CampaignListPage) empty() EmptyProps {
	switch {
	case len(p.Errors) > 0:
		return EmptyProps{Glyph: GlyphSearch, Title: "No search was run", Text: "Correct the date first.",
			Action: Link{Text: "Clear filters", Href: CampaignsPath}}
	case p.narrowed():
		return EmptyProps{Glyph: GlyphSearch, Title: "No campaigns match.",
			Action: Link{Text: "Clear filters", Href: CampaignsPath}}
	case p.Tab == "needs-approval":
		return EmptyProps{Glyph: GlyphTick, Title: "No campaigns need approval",
			Action: Link{Text: "Show all campaigns", Href: CampaignsPath}}
	case p.Tab == "needs-decision":
		return EmptyProps{Glyph: GlyphTick, Title: "No campaigns need your decision",
			Action: Link{Text: "Show all campaigns", Href: CampaignsPath}}
	case p.Tab != "":
		return EmptyProps{Glyph: GlyphCampaign, Title: "No campaigns here.",
			Action: Link{Text: "Show all campaigns", Href: CampaignsPath}}
	case p.CanSend:
		return EmptyProps{Glyph: GlyphCampaign, Title: "Nothing sent yet",
			Text:   "Start with a few numbers. You will see the cost before anything is sent.",
			Action: Link{Text: "New message", Href: NewPath}}
	}
	return EmptyProps{Glyph: GlyphCampaign, Title: "Nothing sent yet",
		Text: "Campaigns will appear here once someone sends one."}
}

// moving says that a campaign's row may still change by itself.
func moving(r sms.CampaignRow) bool {
	switch r.Campaign.State {
	case sms.CampaignRunning, sms.CampaignPaused, sms.CampaignScheduled, sms.CampaignAwaiting:
		return true
	case sms.CampaignDraft:
		return false
	}
	return r.Tally.Tile(sms.TileNetwork)+r.Tally.Tile(sms.TileUnknown)+r.Tally.Tile(sms.TileDecision) > 0
}

// Moving lists the rows that may still change by themselves.
func Moving(rows []sms.CampaignRow) (ids []int64) {
	for _, r := range rows {
		if moving(r) {
			ids = append(ids, r.Campaign.ID)
		}
	}
	return ids
}
