package views

import (
	"smsdesk/internal/sms"
)

// AccountRow is one account in the list.
type AccountRow struct {
	Href, Name, BaseURL, KeyHint, Rate string
	Test                               bool
	Connection                         Connection
}

// AccountForm is how an account is reached, as its form shows it. The two
// secrets are never in it.
type AccountForm struct {
	ID                                 int64 // 0 for a new one
	Test                               bool
	SandboxURL                         string
	Name, BaseURL, KeyHint             string
	Plan, PerMinute                    string
	Country, Timezone, Currency, Price string
	DefaultSender                      string
	Senders                            []string
	SecretsLost                        bool
}

func (p AccountForm) deck(bad sms.Invalid) Deck {
	d := Deck{Form: "set", Say: "Saving asks the provider for the balance",
		Button: ButtonProps{ID: "save", Text: "Save and test"}}
	if len(bad) > 0 {
		d.Undo = NewAccountPath
	}
	return d
}

func plans() []Option {
	return []Option{{Value: "100", Label: "100, the standard plan"}, {Value: "1000", Label: "1,000, the premium plan"},
		{Value: OtherPlan, Label: "Other", More: true}}
}

func senderHint(p AccountForm) string {
	if len(p.Senders) == 0 {
		return "No approved sender IDs yet. Save and test to refresh the list."
	}
	return "Preselected in new messages. Only approved and active sender IDs are listed."
}

func keyEnds(hint string) string {
	if hint == "" {
		return "stored"
	}
	return "ends …" + hint
}

// OtherPlan is the choice of a rate that is none of the provider's two plans.
const OtherPlan = "other"

var accountOrder = []string{"name", "base_url", "client_id", "api_key", "plan", "per_minute", "default_sender",
	"country", "timezone", "currency", "price_per_part"}

func (p AccountForm) secretHint(bad sms.Invalid, what, kept string) string {
	switch {
	case len(bad) > 0 && p.SecretsLost && p.ID == 0:
		return "For security we do not show it again. Paste it again."
	case p.ID == 0:
		return what
	}
	return kept
}

func (p AccountForm) senderOptions() []Option {
	var list []Option
	known := p.DefaultSender == ""
	for _, s := range p.Senders {
		list = append(list, Option{Value: s, Label: s})
		known = known || s == p.DefaultSender
	}
	if !known {
		list = append(list, Option{Value: p.DefaultSender, Label: p.DefaultSender + " (no longer approved)"})
	}
	return list
}
