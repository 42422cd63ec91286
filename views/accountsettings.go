package views

import (
	"maps"
	"slices"
	"strings"

	"smsdesk/internal/sms"
)

// AccountSection is one of the pages of an account's settings.
type AccountSection string

// The pages, by the last part of their address.
const (
	SectionConnection AccountSection = "connection"
	SectionHours      AccountSection = "hours"
	SectionLimits     AccountSection = "limits"
	SectionMoney      AccountSection = "money"
	SectionAdvanced   AccountSection = "advanced"
)

// AccountSections are all of them, in their order.
func AccountSections() []AccountSection {
	return []AccountSection{SectionConnection, SectionHours, SectionLimits, SectionMoney, SectionAdvanced}
}

// Words is the name of the page.
func (s AccountSection) Words() string {
	return map[AccountSection]string{SectionConnection: "Connection", SectionHours: "Sending hours",
		SectionLimits: "Limits and approval", SectionMoney: "Money", SectionAdvanced: "Advanced"}[s]
}

func (s AccountSection) glyph() Glyph {
	return map[AccountSection]Glyph{SectionConnection: GlyphConnect, SectionHours: GlyphWaiting,
		SectionLimits: GlyphApproval, SectionMoney: GlyphMoney, SectionAdvanced: GlyphAdvanced}[s]
}

// fields are those of the page's form, in their order.
func (s AccountSection) fields() []string {
	switch s {
	case SectionHours:
		return []string{"hours_from", "hours_to", "day_1", "day_2", "day_3", "day_4", "day_5", "day_6", "day_0",
			"hours_zone"}
	case SectionLimits:
		return []string{"approve_above", "type_above", "person_most", "day_most", "person_day_most", "cap_messages",
			"cap_days", "abroad"}
	case SectionMoney:
		return []string{"price_from", "price_per_part", "currency", "warn_below"}
	case SectionAdvanced:
		return []string{"call_limit", "url_budget", "send_by", "creates"}
	}
	return accountOrder[:len(accountOrder)-2] // an account that is there has money on a page of its own
}

// SectionOf is the first page with a field that is wrong.
func SectionOf(bad sms.Invalid) AccountSection {
	for _, s := range AccountSections() {
		if slices.ContainsFunc(s.fields(), func(field string) bool { return bad[field] != "" }) {
			return s
		}
	}
	return SectionConnection
}

// AccountSettings are an account's settings with one of their pages.
type AccountSettings struct {
	Formatter
	Account sms.Account // as it is stored
	Section AccountSection
	Index   bool // the list is the page: a phone shows nothing else
	// The forms as typed, or as stored.
	Form    AccountForm
	Sending SendingForm
	Money   MoneyForm
	Bad     sms.Invalid
	Refused bool // Bad is why the form was not stored, and not why a test of what is stored failed

	Connection         Connection
	Took               int // milliseconds that the provider took to answer the test that was just made, else 0
	SandboxURL         string
	Balance            *sms.Balance // nil while it is not known
	Records            Records
	Conflicts          sms.Invalid // of the limits as they are stored
	Senders, Approvers int         // team members who may send, and those who may approve
	SentToday          int64       // recipients
	Price              Price
	Learnt             sms.LearntPrice
	Costs              []sms.Cost // the newest first
}

// now is what is set on a page, in a line of the list; bad where it is a trouble.
func (p AccountSettings) now(s AccountSection) (words string, bad bool) {
	a := p.Account
	switch {
	case s == SectionConnection && a.Pause != "":
		return "Sending is paused", true
	case s == SectionConnection:
		return capitalise(strings.TrimPrefix(p.Connection.Text, "Provider: ")), p.Connection.Tone == ToneBad
	case s == SectionHours:
		return hoursWords(a.Hours), false
	case s == SectionLimits && len(p.Conflicts) > 0:
		return "Limits contradict each other", true
	case s == SectionLimits:
		return limitWords(a), false
	case s == SectionMoney:
		return p.priceWords(), false
	}
	return Plural(a.CallLimit, "recipient", "recipients") + " per request", false
}

func (p AccountSettings) priceWords() string {
	switch {
	case !p.Price.Known():
		return "Price per part not known yet"
	case p.Price.Learned > 0:
		return amount(p.currency(), p.Price.Middle) + " per part, learned"
	}
	return amount(p.currency(), p.Price.Middle) + " per part"
}

// currency is the sign before amounts: the account's, else that of its balance.
func (p AccountSettings) currency() string {
	if p.Account.Currency == "" && p.Balance != nil {
		return p.Balance.Currency()
	}
	return p.Account.Currency
}

// shown are the sentences that stand at fields: of what was sent or, while
// nothing was, of what is stored.
func (p AccountSettings) shown() AccountSettings {
	if len(p.Bad) == 0 && p.Section == SectionLimits {
		p.Bad = maps.Clone(p.Conflicts)
	}
	return p
}

func (p AccountSettings) path() string { return SectionPath(p.Account.ID, p.Section) }

func (p AccountSettings) deck() Deck {
	d := Deck{Form: "set", Desk: p.Index, Button: ButtonProps{ID: "save"}}
	switch p.Section {
	case SectionHours:
		d.Button.Text, d.Say = "Save sending hours", openWords(p.Account.Hours, p.Now)
	case SectionLimits:
		d.Button.Text, d.Say = "Save limits", "Sent to "+Plural(int(p.SentToday), "recipient", "recipients")+" today"
	case SectionMoney:
		d.Button.Text, d.Say = "Save money settings", "The balance has not been read yet"
		if p.Balance != nil {
			d.Say = "The balance was " + p.Balance.Credits + " " + p.When(p.Balance.ReadAt)
		}
	case SectionAdvanced:
		d.Button.Text, d.Say = "Save advanced settings", "For campaigns that are made from now on"
	default:
		d.Button.Text, d.Say = "Save and test", "Saving asks the provider for the balance"
	}
	switch {
	case p.Refused:
		d.Undo = p.path()
	case len(p.Bad) > 0:
		d.Say = "Saved, but the test did not work"
	}
	return d
}

func (p AccountSettings) busy() string {
	if p.Section == SectionConnection {
		return "Testing…"
	}
	return "Saving…"
}

// connected are the facts of an account that answers.
func (p AccountSettings) connected() string {
	var words []string
	if p.Balance != nil {
		words = append(words, "Balance "+p.Balance.Credits)
	}
	words = append(words, of(p.Records.SenderIDs, p.Records.UsableSenderIDs, "sender ID", "sender IDs"),
		of(p.Records.Templates, p.Records.UsableTemplates, "template", "templates"))
	if p.Took > 0 {
		words = append(words, "answered in "+Number(p.Took)+" ms")
	}
	return strings.Join(append(words, "checked "+p.When(p.Account.ReachedAt)), " · ")
}

// of counts things of which some can be used.
func of(all, usable int, one, many string) string {
	if usable == all {
		return Plural(all, one, many)
	}
	return Plural(all, one, many) + ", " + Number(usable) + " usable"
}

func (p AccountSettings) hoursHint() string {
	words := ZoneWords(p.Now) + ". Both empty: at any time."
	if p.Account.Country == "NG" {
		words += " 08:00 to 20:00 is usual in Nigeria."
	}
	return words
}

func (p AccountSettings) approvalHint() string {
	words := "Someone else approves larger campaigns, also those from API programs. "
	if p.Approvers == 1 {
		return words + "1 team member can approve, but not their own campaigns."
	}
	return words + Plural(p.Approvers, "team member", "team members") + " can approve."
}

func (p AccountSettings) learnedHint() string {
	if p.Learnt.Samples == 0 {
		return "Learned: the middle of what campaigns cost, from " + Number(minLearned) +
			" campaigns on. Or type what the provider charges."
	}
	return "Learned is the middle of the last " + Plural(p.Learnt.Samples, "campaign", "campaigns") +
		". Type a price if the provider told you another."
}

func (p AccountSettings) priceOptions() []Option {
	learned := "Learned from campaigns"
	if p.Learnt.Samples >= minLearned {
		learned = "Learned: " + amount(p.currency(), p.Learnt.Middle)
	}
	return []Option{{Value: "learned", Label: learned}, {Value: "typed", Label: "Typed", More: true}}
}

func (p AccountSettings) noDots() string {
	return "No campaign of the last 90 days tells the price yet. One does when nothing else was sent until the balance " +
		"was read again."
}

func (p AccountSettings) middleWords() string {
	return "Middle of " + Plural(p.Learnt.Samples, "campaign", "campaigns") + ": " + amount(p.currency(), p.Learnt.Middle)
}

// Records is what is kept of an account's records at the provider.
type Records struct {
	SenderIDs, UsableSenderIDs int
	Templates, UsableTemplates int
	ReadAt                     string // when, in words; "" for never
	Creates                    bool   // the account may make records at the provider
	Failure                    string // why the templates could not be read the last time
}

func (r Records) readAt() string {
	if r.ReadAt == "" {
		return "Not refreshed yet."
	}
	return "Refreshed " + r.ReadAt + "."
}

func ofWhich(all, usable int) string {
	switch {
	case all == 0:
		return "None"
	case usable == all:
		return Number(all)
	}
	return Number(all) + " (" + Number(usable) + " usable)"
}
