package views

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// PageFrame is everything around a page's own content. Words are ready to show.
type PageFrame struct {
	Title   string // of this page, without prefix and product name
	Path    string // path and query of this page: forms in the frame come back here
	Error   bool   // the page shows a form that was not accepted
	Theme   string // "light", "dark" or "" for the system's wish
	Nav     string // Key of the item that is open
	Items   []NavItem
	CanSend bool // shows the button for a new message
	NoKeys  bool // the keys / and ? do nothing here, by the person's choice

	User     User
	Account  Account
	Accounts []Account // those the person may choose from; a chooser appears from two up

	Balance    Balance
	Connection Connection
	// NeedDecision counts messages in doubt or held; above 0 it stands under
	// Campaigns and leads to NeedDecisionHref.
	NeedDecision     int
	NeedDecisionHref string
	// NeedApproval counts the campaigns that this person may approve.
	NeedApproval int

	Bands  []Banner
	Crumbs []Link
	Deck   templ.Component // stays at the foot of the window; nil for none
	// ConnectHref is where an account is connected; empty for those who may not.
	ConnectHref string

	// Live names the topics this page listens to; empty for a page at rest.
	// Paused keeps the stream closed.
	Live   []string
	Paused bool
	Sheet  string // the stylesheet that this page needs beside app.css, "" for none
	// Again is a page that is loaded anew now and then where there are no scripts.
	Again bool
	// Side makes navigation counts, balance and connection refetch themselves;
	// the zero value leaves them as they were when the page was read.
	Side Refresh
}

// User is the person who is signed in.
type User struct {
	Name, Email, RoleName string
}

// Account is one connection to the provider as the frame names it.
type Account struct {
	ID   string
	Name string
	Test bool
}

// Balance is the credit as the provider wrote it, and when it was read.
type Balance struct {
	Text   string // "₦57,524.50"; empty when it was never read
	ReadAt string // "10:48am"
}

// Connection is the state of the provider in words.
type Connection struct {
	Tone Tone
	Text string // "Provider: connected, 2 minutes ago"
}

// NavItem is one entry of the navigation; Apart begins another group of them.
type NavItem struct {
	Key, Href, Label string
	Glyph            Glyph
	Apart            bool
}

// Banner stands above a page's heading: something needs an action first.
type Banner struct {
	ID   string
	Tone Tone
	Text string
	Link Link
}

// Link is words that lead somewhere; without Href it is only words.
type Link struct {
	Text, Href string
}

const product = "smsdesk"

func (f PageFrame) documentTitle() string {
	title := f.Title + " – " + product
	if f.Title == "" {
		title = product
	}
	if f.Error {
		title = "Error: " + title
	}
	if f.Account.Test {
		title = "TEST · " + title
	}
	return title
}

func (f PageFrame) favicon() string {
	if f.Account.Test {
		return "favicon-test.svg"
	}
	return "favicon.svg"
}

func (f PageFrame) theme() string {
	if f.Theme == "light" || f.Theme == "dark" {
		return f.Theme
	}
	return "auto"
}

func (f PageFrame) decisionHref() string {
	if f.NeedDecisionHref != "" {
		return f.NeedDecisionHref
	}
	return "/campaigns?state=needs-decision"
}

// words are the credit as the provider wrote it.
func (b Balance) words() string {
	if b.Text == "" {
		return "Balance"
	}
	return b.Text
}

// connection says when the balance was read, or what keeps the provider from
// being asked.
func (f PageFrame) connection() string {
	words := strings.TrimPrefix(f.Connection.Text, "Provider: ")
	if f.Connection.Tone == ToneOK && f.Balance.ReadAt != "" {
		return "as of " + f.Balance.ReadAt
	}
	return words
}

// initials are the first letters of the first and the last word of a name.
func initials(name string) string {
	out := ""
	words := strings.Fields(name)
	for i, word := range words {
		if i == 0 || i == len(words)-1 {
			r, _ := utf8.DecodeRuneInString(word)
			out += string(unicode.ToUpper(r))
		}
	}
	return out
}

// atMost999 keeps a count as short as its place.
func atMost999(n int) string {
	if n > 999 {
		return "999+"
	}
	return strconv.Itoa(n)
}

// shortcut tells assistive technology, and our script, which key leads here.
func shortcut(f PageFrame) templ.Attributer {
	if f.NoKeys {
		return templ.OrderedAttributes{}
	}
	return templ.OrderedAttributes{{Key: "aria-keyshortcuts", Value: "/"}}
}

// With returns address with the query parameter name set to value, or without
// it where value is empty. An address that cannot be read comes back unchanged.
func With(address, name, value string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	query := u.Query()
	if value == "" {
		query.Del(name)
	} else {
		query.Set(name, value)
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// Number writes n with thousands apart: 1196 -> "1,196".
func Number(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var groups []string
	for len(digits) > 3 {
		groups = append(groups, digits[len(digits)-3:])
		digits = digits[:len(digits)-3]
	}
	groups = append(groups, digits)
	slices.Reverse(groups)
	out := sign + groups[0]
	for _, g := range groups[1:] {
		out += "," + g
	}
	return out
}

// Plural writes the count with its noun: Plural(1, "message", "messages") ->
// "1 message".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// When says a time as staff do: "today at 10:48am", "yesterday at 9:00am",
// "tomorrow at 9:00am", "Monday 3 June at 9:00am", with the year where it is
// another one. Both times are shown in the zone of t.
func When(t, now time.Time) string {
	now = now.In(t.Location())
	clock := Clock(t)
	switch day := midnight(t); {
	case day.Equal(midnight(now)):
		return "today at " + clock
	case day.Equal(midnight(now.AddDate(0, 0, -1))):
		return "yesterday at " + clock
	case day.Equal(midnight(now.AddDate(0, 0, 1))):
		return "tomorrow at " + clock
	case t.Year() == now.Year():
		return t.Format("Monday 2 January") + " at " + clock
	default:
		return t.Format("2 January 2006") + " at " + clock
	}
}

// Clock writes the time of day: "10:48am".
func Clock(t time.Time) string {
	return t.Format("3:04pm")
}

func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}

func (f PageFrame) side() Refresh {
	r := f.Side
	r.ID = "side"
	if f.Paused {
		r.On = nil
	}
	return r
}
