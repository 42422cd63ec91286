package views

import (
	"strings"

	"smsdesk/internal/sms"
)

// FindPage is what the search box found.
type FindPage struct {
	Formatter
	Typed string
	Word  string // stands for Typed in addresses
	Ended bool   // the address names a search that is not known any more
	Words bool   // words were looked for, no number
	Wrong string // why Typed is no number that can be looked for

	Latest        []sms.FoundMessage // the latest message to each number
	Campaigns     []sms.CampaignRow
	MoreCampaigns bool
	Contacts      []sms.Contact
	MoreContacts  bool
	Templates     []sms.Template
	Topics        []Link
}

// Title is the page's heading.
func (p FindPage) Title() string {
	if p.Typed == "" {
		return "Find"
	}
	return "“" + Shorten(p.Typed, 60) + "”"
}

func (p FindPage) sub() string {
	switch {
	case p.Ended:
		return "This search has expired. Type it into the box again."
	case p.Typed == "":
		return "Type a number or its last 4 digits, or words of a campaign, a contact, a template or the help."
	case p.Wrong != "":
		return p.Wrong + "."
	case p.Words:
		return "Looked through campaigns and their messages, contacts, templates and the help."
	}
	return "Looked through contacts and the messages of the last 13 months."
}

func (p FindPage) nothing() bool {
	return len(p.Latest)+len(p.Campaigns)+len(p.Contacts)+len(p.Templates)+len(p.Topics) == 0
}

// all is the page of all messages that were found.
func (p FindPage) all() string { return With(MessagesPath, "find", p.Word) }

// HelpTopics are the parts of the help whose heading or words hold what was typed.
func HelpTopics(typed string) []Link {
	var found []Link
	for _, t := range helpTopics() {
		if strings.Contains(strings.ToLower(t.Text+" "+t.words), strings.ToLower(typed)) {
			found = append(found, Link{Text: t.Text, Href: HelpPath + t.Href})
		}
	}
	return found
}

func (p FindPage) moreContacts() Link {
	if !p.MoreContacts {
		return Link{}
	}
	return Link{Text: "Show all contacts", Href: With(ContactsPath, "find", p.Word)}
}

func (p FindPage) moreCampaigns() Link {
	if !p.MoreCampaigns {
		return Link{}
	}
	return Link{Text: "Show their messages", Href: p.all()}
}
