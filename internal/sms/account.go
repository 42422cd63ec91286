package sms

import (
	"errors"
	"maps"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/phone"
)

// Account is one set of credentials at one base URL, without the credentials.
type Account struct {
	ID                int64
	Name              string
	BaseURL           string
	KeyHint           string // the ApiKey's last four characters
	Test              bool   // the embedded sandbox
	PerMinute         int    // request rate (§8)
	CallLimit         int    // most recipients of one call; the service's own limit is not known
	URLBudget         int    // most bytes of a GET's URL
	MaxParts          int    // most parts of one message
	PricePerPart      int64  // in hundredths of the currency, 0 when not known
	Country           string // ISO 3166, helps to read numbers
	Timezone          string // IANA name
	Currency          string // sign or letters shown before amounts
	DefaultSender     string
	LateAfter         time.Duration // after this without a final report a message counts as late
	HoldOn429         bool          // hold messages on 429 instead of queueing them again
	SendByGet         bool          // one text goes by GET /SendSMS (§4.3) instead of POST
	TakePosts         bool          // delivery reports that come by POST are stored
	Abroad            bool          // numbers of other countries may be sent to
	Hours             Hours         // when campaigns may send; zero: always
	Limits            Limits        // zero: none
	ConfirmCountAbove int64         // campaigns with more recipients ask for their number to be typed; 0: none do
	ApproveAbove      int64         // campaigns with more recipients need the yes of a second person; 0: none do
	Doubt429          bool          // a report proved that this service executes calls that it answers with 429
	Pause             string        // why sending is paused, in plain words; "" when it is not
	PauseCode         string        // the provider's code behind Pause
	ReachedAt         int64         // the provider last answered
	FailedAt          int64         // the provider could last not be reached
	Failure           string        // why, in plain words; "" once it is reached again
	CreatedAt         int64
	ChangedAt         int64
}

// Credentials are the two secrets of §5. They are never shown, logged or put
// into an error.
type Credentials struct {
	ClientID string
	APIKey   string
}

// Defaults of an account where nothing else is said.
const (
	DefaultPerMinute = 100
	DefaultCallLimit = 100
	DefaultURLBudget = 2000
	MinURLBudget     = 500
	MaxURLBudget     = 8000
	DefaultMaxParts  = 6
	DefaultLateAfter = 72 * time.Hour
	DefaultTypeAbove = 5000
)

// Check lists everything that is wrong with the account's own fields. A zero
// URLBudget, MaxParts or LateAfter stands for its default.
func (a Account) Check() error {
	bad := Invalid{}
	if strings.TrimSpace(a.Name) == "" {
		bad["name"] = "Enter a name for this account"
	}
	if s := CheckBaseURL(a.BaseURL); s != "" {
		bad["base_url"] = s
	}
	if a.PerMinute < 1 || a.PerMinute > 1_000_000 {
		bad["per_minute"] = "Requests per minute must be between 1 and 1,000,000"
	}
	if a.CallLimit < 1 || a.CallLimit > 10_000 {
		bad["call_limit"] = "Recipients per request must be between 1 and 10,000"
	}
	if a.URLBudget < 0 || a.URLBudget > 0 && (a.URLBudget < MinURLBudget || a.URLBudget > MaxURLBudget) {
		bad["url_budget"] = "URL length must be between 500 and 8,000 bytes"
	}
	if a.ConfirmCountAbove < 0 || a.ConfirmCountAbove > 1_000_000 {
		bad["type_above"] = "Number of recipients must be between 0 and 1,000,000"
	}
	if a.ApproveAbove < 0 || a.ApproveAbove > 1_000_000 {
		bad["approve_above"] = "Number of recipients must be between 0 and 1,000,000"
	}
	if limits, ok := errors.AsType[Invalid](a.Limits.Check()); ok {
		maps.Copy(bad, limits)
	}
	if !a.Hours.Valid() {
		bad["hours_from"] = "Enter a start and an end time, for example 08:00 and 20:00"
	}
	if a.MaxParts < 0 || a.MaxParts > 255 {
		bad["max_parts"] = "Parts per message must be between 1 and 255"
	}
	if a.PricePerPart < 0 {
		bad["price_per_part"] = "Enter the price per part, or 0 if you do not know it"
	}
	if a.LateAfter < 0 {
		bad["late_after"] = "Enter after how many hours a missing report is late"
	}
	if !phone.KnownCountry(a.Country) {
		bad["country"] = "Enter a country as two letters, for example NG"
	}
	if _, err := time.LoadLocation(a.Timezone); err != nil || a.Timezone == "" || a.Timezone == "Local" {
		bad["timezone"] = "Enter a time zone, for example Africa/Lagos"
	}
	if len([]rune(a.Currency)) > 4 {
		bad["currency"] = "Currency sign must be 4 characters or fewer, for example ₦"
	}
	return bad.Or()
}

// CheckBaseURL returns the sentence that says why raw cannot be a base URL
// (§5, §9), or "".
func CheckBaseURL(raw string) string {
	raw = strings.TrimSpace(raw)
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Hostname() == "" {
		return "Enter the provider's API URL, for example https://api.example.com/v2"
	}
	switch {
	case u.User != nil || strings.ContainsAny(raw, "?#"):
		return "API URL must not contain a user name, a question mark or #"
	case u.Scheme != "https" && (u.Scheme != "http" || !Loopback(u.Hostname())):
		return "API URL must start with https://"
	case !strings.HasSuffix(strings.TrimSuffix(u.EscapedPath(), "/"), "/v2"):
		return "API URL must end with /v2"
	}
	return ""
}

const maxPrice = 1_000_000_00

var errPrice = errors.New("not a price")

// ReadPrice reads a decimal amount into hundredths; "" is 0, not known.
func ReadPrice(text string) (int64, error) {
	if text = strings.TrimSpace(text); text == "" {
		return 0, nil
	}
	whole, cents, _ := strings.Cut(strings.ReplaceAll(text, ",", ""), ".")
	if len(cents) > 2 || whole == "" || strings.Trim(whole+cents, "0123456789") != "" || len(whole) > 9 {
		return 0, errPrice
	}
	n, err := strconv.ParseInt(whole+(cents + "00")[:2], 10, 64)
	if err != nil || n > maxPrice {
		return 0, errPrice
	}
	return n, nil
}

// Loopback says that host names this machine.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// Local says that the account's service runs on this machine.
func (a Account) Local() bool {
	u, err := url.Parse(strings.TrimSpace(a.BaseURL))
	return a.Test || err == nil && Loopback(u.Hostname())
}

// Location is the account's zone; UTC when the name is not known any more.
func (a Account) Location() *time.Location {
	if l, err := time.LoadLocation(a.Timezone); err == nil && a.Timezone != "" {
		return l
	}
	return time.UTC
}

// The kinds of callback address.
const (
	CallbackDLR  = "dlr"
	CallbackUSSD = "ussd"
)

// CallbackToken is one secret of a callback address.
type CallbackToken struct {
	AccountID  int64
	Kind       string
	Hash       [32]byte // SHA-256 of the token
	Token      string   // "" unless asked for with CallbackAddresses
	CreatedAt  int64
	ValidUntil int64 // 0: the current one
	Posts      bool  // the account takes reports by POST
}
