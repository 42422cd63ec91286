package views

import (
	"net/url"

	"smsdesk/internal/sms"
)

// The addresses of pages. web/routes.go says who may open them; whatever leads
// to a page takes its address from here.
const (
	SignInPath     = "/signin"
	SetupPath      = "/setup"
	SetupTasksPath = SetupPath + "/tasks"
	MePath         = "/me"
	HelpPath       = "/help"
	LivePath       = "/live" // the stream of what changed
	SidePath       = "/side" // the navigation alone
	FindPath       = "/find" // the one search box of every page
	KeptPath       = "/kept" // what was sent after the session had ended

	CampaignsPath   = "/campaigns"
	MessagesPath    = "/messages"
	ReportsPath     = "/reports"
	NewPath         = "/new"
	NewTemplatePath = NewPath + "/template"
	NewAudiencePath = NewPath + "/audience"
	NewGroupPath    = NewPath + "/group"
	NewWithoutPath  = NewPath + "/without" // who was chosen is left out again
	UploadPath      = NewPath + "/list"

	ContactsPath  = "/contacts"
	AudiencesPath = ContactsPath + "/audiences"
	ImportPath    = ContactsPath + "/import"

	TemplatesPath = "/templates"
	SendersPath   = "/senders"
	GroupsPath    = "/groups"
	BalancePath   = "/balance"

	USSDPath      = "/ussd"
	NewMenuPath   = USSDPath + "/new"
	SimulatorPath = USSDPath + "/simulator"
	SessionsPath  = USSDPath + "/sessions"

	AccountsPath   = "/settings/account"
	NewAccountPath = AccountsPath + "/new"
	BackupPath     = "/settings/backup"
	BlockedPath    = "/settings/blocked"
	CallbacksPath  = "/settings/reports" // where reports come in, not the log of them
	JournalPath    = "/settings/journal"
	RetentionPath  = "/settings/retention"
	TeamPath       = "/settings/team"
	TokensPath     = "/settings/tokens"
)

// AccountPath is the list of an account's settings, with the connection beside
// it where there is room.
func AccountPath(account int64) string { return AccountsPath + "/" + id(account) }

// SectionPath is one page of an account's settings.
func SectionPath(account int64, s AccountSection) string {
	return AccountPath(account) + "/" + string(s)
}

// ApprovalPath is the page on which a second person decides about a campaign.
func ApprovalPath(campaign int64) string { return CampaignPath(campaign) + "/approval" }

// AudiencePath is the address of an audience, or of one of its pages.
func AudiencePath(audience int64, page string) string {
	return AudiencesPath + "/" + id(audience) + page
}

func breakdownPath(campaign int64) string { return CampaignPath(campaign) + "/breakdown" }

// CallbackPath shows where an account's reports and USSD sessions come in.
func CallbackPath(account int64) string {
	return CallbacksPath + "?account=" + id(account)
}

// CampaignPath is the page of a campaign.
func CampaignPath(campaign int64) string { return CampaignsPath + "/" + id(campaign) }

// ConfirmPath is the page that is confirmed before a campaign starts.
func ConfirmPath(campaign int64) string { return CampaignPath(campaign) + "/confirm" }

// ContactPath is the address of a contact, or of one of its pages.
func ContactPath(contact int64, page string) string { return ContactsPath + "/" + id(contact) + page }

// DoubtPath is the page on which a campaign's messages in doubt are decided.
func DoubtPath(campaign int64) string { return CampaignPath(campaign) + "/doubt" }

// ListNext is the page on which a list goes on.
func ListNext(l sms.List) string {
	switch l.State {
	case sms.ListMade:
		if l.Purpose == sms.ForContacts {
			return With(ContactsPath, "list", l.UID)
		}
		return ConfirmPath(l.CampaignID)
	case sms.ListUploaded:
		return ListStart(l)
	}
	return ListPath(l.UID, "/check")
}

// ListPath is one of the pages of an uploaded list.
func ListPath(uid, page string) string { return "/lists/" + url.PathEscape(uid) + page }

// ListStart is the page on which it is chosen what to make of a list.
func ListStart(l sms.List) string {
	if l.Purpose == sms.ForContacts {
		return ImportPath + "/" + url.PathEscape(l.UID)
	}
	return ListPath(l.UID, "/message")
}

// MenuPath is the address of a menu's editor.
func MenuPath(menu int64) string { return USSDPath + "/menus/" + id(menu) }

// MessagePath is the page of a message.
func MessagePath(message int64) string { return MessagesPath + "/" + id(message) }

// RotatePath asks whether an account gets a new callback address of a kind.
func RotatePath(account int64, kind string) string {
	return CallbacksPath + "/rotate?" + url.Values{"account": {id(account)}, "kind": {kind}}.Encode()
}

// SchedulePath is the page on which a campaign's time is chosen.
func SchedulePath(campaign int64) string { return CampaignPath(campaign) + "/schedule" }

// SessionPath is the address of a USSD session.
func SessionPath(session int64) string { return SessionsPath + "/" + id(session) }

// UserPath is the page of a person of the team.
func UserPath(user int64) string { return TeamPath + "/" + id(user) }
