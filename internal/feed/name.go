package feed

import (
	"fmt"
	"strconv"
)

// The names that the Feed carries.

const (
	// Journal names whether database and journal agree.
	Journal = "journal"
	// Backup names what is known of the desk's backups.
	Backup = "backup"
	// Retention names the setting of how long numbers and texts are kept.
	Retention = "retention"
	// Menus names the published USSD menus of all accounts.
	Menus = "menus"
	// Lists names what waits to be checked or made into a campaign.
	Lists = "import"
	// AllContacts names the contacts of all accounts: somebody packs them.
	AllContacts = "contacts"
)

// Campaign names one campaign.
func Campaign(id int64) string { return "campaign:" + strconv.FormatInt(id, 10) }

// Campaigns names the list of an account's campaigns.
func Campaigns(account int64) string { return "campaigns:" + strconv.FormatInt(account, 10) }

// Message names one message.
func Message(id int64) string { return "message:" + strconv.FormatInt(id, 10) }

// Account names an account: its balance, connection and pause. Account 0 names
// which accounts there are.
func Account(id int64) string { return "account:" + strconv.FormatInt(id, 10) }

// Blocked names the list of an account's blocked numbers.
func Blocked(account int64) string { return "blocked:" + strconv.FormatInt(account, 10) }

// Asked names the questions to the service that people put for an account.
func Asked(account int64) string { return "asked:" + strconv.FormatInt(account, 10) }

// Reports names an account's delivery reports.
func Reports(account int64) string { return "reports:" + strconv.FormatInt(account, 10) }

// Records names an account's records of every kind.
func Records(account int64) string { return fmt.Sprintf("records:%d", account) }

// Contacts names the contacts and audiences of an account.
func Contacts(account int64) string { return fmt.Sprintf("contacts:%d", account) }

// USSD names an account's USSD sessions.
func USSD(account int64) string { return "ussd:" + strconv.FormatInt(account, 10) }

// List names one uploaded list.
func List(uid string) string { return "list:" + uid }

// Applied names what reports of an account have changed: campaigns and messages
// by their ids.
func Applied(account int64, campaigns, messages []int64) []string {
	names := []string{Reports(account), Campaigns(account)}
	for _, id := range campaigns {
		names = append(names, Campaign(id))
	}
	for _, id := range messages {
		names = append(names, Message(id))
	}
	return names
}

// Rehearsals names what waits to be rehearsed.
const Rehearsals = "rehearsals"

// Rehearsal names one rehearsal.
func Rehearsal(id int64) string { return "rehearsal:" + strconv.FormatInt(id, 10) }
