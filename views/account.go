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

// AccountForm is an account as its form shows it. The two secrets are never in
// it. Proof is the sentence of a test that worked, Trouble that of one that
// did not, Pause why sending is paused.
type AccountForm struct {
	ID                                 int64 // 0 for a new one
	Test                               bool
	Action, SandboxURL                 string
	Name, BaseURL, KeyHint             string
	Plan, PerMinute                    string
	Country, Timezone, Currency, Price string
	DefaultSender                      string
	Senders                            []string
	Records                            Records
	SecretsLost                        bool
	Proof, Trouble, Pause              string
	Sending                            SendingForm
	Bad                                sms.Invalid
}
