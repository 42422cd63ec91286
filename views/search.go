package views

import "smsdesk/internal/sms"

// SearchPage is the messages of an account, to find one person's.
type SearchPage struct {
	Formatter
	NoAccount bool
	CanSend   bool
	Typed     string // a number or words, as typed
	Words     string // of a campaign's name or text that were looked for
	Number    string // MSISDN that was looked for
	Ends      string // last digits that were looked for
	Ended     bool   // the address names a search that is not known any more
	Tile      sms.Tile
	From, To  string // days, as typed
	Campaign  int64
	Campaigns []sms.Campaign // to choose from
	Rows      []sms.FoundMessage
	Recipient Recipient // behind Number
	First     string    // addresses of pages, "" for none
	Next      string
	Bad       sms.Invalid
}

func (p SearchPage) sought() bool { return p.Number != "" || p.Ends != "" || p.Words != "" }

// filtered says that something other than a number narrows what is shown.
func (p SearchPage) filtered() bool {
	return p.Tile != "" || p.From != "" || p.To != "" || p.Campaign > 0
}

// to names what was looked for, as far as this person may see it.
func (p SearchPage) to() string {
	switch {
	case p.Number != "":
		return "to " + p.Phone(p.Number)
	case p.Ends != "":
		return "to numbers ending in " + p.Ends
	case p.Words != "":
		return "of campaigns with “" + Shorten(p.Words, 60) + "” in the name or text"
	}
	return ""
}

func (p SearchPage) caption() string {
	words := "Messages"
	if p.sought() && p.First == "" && p.Next == "" && len(p.Rows) > 0 {
		words = Plural(len(p.Rows), "message", "messages")
	}
	if to := p.to(); to != "" {
		words += " " + to
	}
	if len(p.Rows) == 0 {
		return words
	}
	return words + ", newest campaign first"
}

func (p SearchPage) empty() EmptyProps {
	switch {
	case p.filtered() && p.sought():
		return EmptyProps{Glyph: GlyphSearch, Title: "No messages " + p.to() + " match these filters.",
			Action: Link{Text: "Clear filters", Href: MessagesPath}}
	case p.sought():
		return EmptyProps{Glyph: GlyphSearch, Title: "No messages " + p.to() + " in the last 13 months.",
			Action: Link{Text: "Show all messages", Href: MessagesPath}}
	case p.filtered():
		return EmptyProps{Glyph: GlyphSearch, Title: "No messages match these filters.",
			Action: Link{Text: "Clear filters", Href: MessagesPath}}
	case p.CanSend:
		return EmptyProps{Glyph: GlyphMessage, Title: "No messages yet.", Action: Link{Text: "New message", Href: NewPath}}
	}
	return EmptyProps{Glyph: GlyphMessage, Title: "No messages yet.",
		Text: "Messages will appear here once someone sends a campaign."}
}

func (p SearchPage) tiles() []Option {
	list := []Option{{Value: "", Label: "Any status"}}
	for _, t := range sms.Tiles() {
		list = append(list, Option{Value: string(t), Label: t.Words()})
	}
	return list
}

func (p SearchPage) campaigns() []Option {
	list := []Option{{Value: "", Label: "All campaigns"}}
	for _, c := range p.Campaigns {
		list = append(list, Option{Value: id(c.ID), Label: Shorten(c.Name, 40)})
	}
	return list
}

func (p SearchPage) chosen() string {
	if p.Campaign == 0 {
		return ""
	}
	return id(p.Campaign)
}

// recipient is whom a found message went to.
func (p SearchPage) recipient(m sms.FoundMessage) string {
	switch {
	case m.Number != "":
		return p.Phone(m.Number)
	case m.Campaign.GroupName != "":
		return "Group " + Shorten(m.Campaign.GroupName, 40)
	}
	return "No number"
}
