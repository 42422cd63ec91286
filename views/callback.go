package views

// CallbackPage is where the addresses stand that the provider calls.
type CallbackPage struct {
	Account       string
	Test          bool
	OnlyHere      bool // the public address leads to this computer only
	Reports, USSD CallbackAddress
	Last          LastReportNote
	AccountID     int64
	TakesPosts    bool // reports that come by POST are stored
}

// CallbackAddress is one address with its secret, and those that it replaced
// and that still work.
type CallbackAddress struct {
	Kind, URL, Rotate string
	Old               []OldAddress
}

// OldAddress works until a time in words.
type OldAddress struct {
	URL, Until string
}

// LastReportNote tells when the last delivery report came; an empty When means
// never. Again is the page to load without script.
type LastReportNote struct {
	When, Again string
	Posted      int64 // reports that came by POST in the last 7 days and were turned away
	Renew       Refresh
}

// RotateForm asks before an address is replaced.
type RotateForm struct {
	Action, Back, Account, Kind string
	AccountID                   int64
}
