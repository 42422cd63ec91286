package page

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/sessions"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// Visit is one request as a handler sees it: who asks and for which account.
type Visit struct {
	site     *Site
	R        *http.Request
	session  *sessions.Session
	User     sms.User // the zero User for a stranger
	Since    int64    // when this browser signed in
	lost     error    // why a cookie leads to no session; nil without a cookie
	Account  sms.Account
	Accounts []sms.Account
}

// newVisit never returns nil, so that an error can be shown in any case.
func (s *Site) newVisit(r *http.Request) (*Visit, error) {
	session, err := s.sessions.New(r, s.sessions.name)
	v := &Visit{site: s, R: r, session: session}
	if errors.Is(err, sms.ErrNotFound) {
		v.lost, err = err, nil
	}
	if err != nil {
		return v, err
	}
	known, ok := signedIn(session)
	if !ok {
		return v, nil
	}
	accounts, err := s.store.Accounts(r.Context())
	if err != nil {
		return v, err
	}
	v.User, v.Since, v.Accounts = known.User, known.CreatedAt, accounts
	v.Account = choose(accounts, known.AccountID)
	return v, nil
}

// choose finds the account a browser works with; without a choice, or after
// the chosen one has gone, it is the first.
func choose(accounts []sms.Account, id int64) sms.Account {
	for _, a := range accounts {
		if a.ID == id {
			return a
		}
	}
	if len(accounts) > 0 {
		return accounts[0]
	}
	return sms.Account{}
}

// Token is the secret of this browser's session.
func (v *Visit) Token() string { return v.session.ID }

// Now is the time in the chosen account's zone.
func (v *Visit) Now() time.Time { return v.site.Now().In(v.Account.Location()) }

// At is a stored time in the chosen account's zone.
func (v *Visit) At(ms int64) time.Time { return time.UnixMilli(ms).In(v.Account.Location()) }

// When says a stored time as people do: "today at 10:48am".
func (v *Visit) When(ms int64) string { return views.When(v.At(ms), v.Now()) }

// navigation is the whole of it; items that a role may not open are not shown,
// and of two with one key the later takes the place of the earlier.
var navigation = []struct {
	least sms.Role
	item  views.NavItem
}{
	{sms.Viewer, views.NavItem{Key: "overview", Href: "/", Label: "Overview", Glyph: views.GlyphOverview}},
	{sms.Viewer, views.NavItem{Key: "campaigns", Href: views.CampaignsPath, Label: "Campaigns", Glyph: views.GlyphCampaign}},
	{sms.Viewer, views.NavItem{Key: "messages", Href: views.MessagesPath, Label: "Messages", Glyph: views.GlyphMessage}},
	{sms.Viewer, views.NavItem{Key: "contacts", Href: views.ContactsPath, Label: "Contacts", Glyph: views.GlyphContacts}},
	{sms.Viewer, views.NavItem{Key: "ussd", Href: views.USSDPath, Label: "USSD", Glyph: views.GlyphUSSD}},
	{sms.Viewer, views.NavItem{Key: "records", Href: views.TemplatesPath, Label: "Templates, senders",
		Glyph: views.GlyphRecords, Apart: true}},
	{sms.Viewer, views.NavItem{Key: "reports", Href: views.ReportsPath, Label: "Delivery reports", Glyph: views.GlyphReports}},
	{sms.Sender, views.NavItem{Key: "settings", Href: views.BlockedPath, Label: "Settings", Glyph: views.GlyphSettings}},
	{sms.Administrator, views.NavItem{Key: "settings", Href: views.AccountsPath, Label: "Settings", Glyph: views.GlyphSettings}},
	{sms.Viewer, views.NavItem{Key: "help", Href: views.HelpPath, Label: "Help", Glyph: views.GlyphDecide}},
}

// Frame is everything around a page at rest. nav is the key of the open item.
// What it asks for and does not get is left out: a page must not fail for it.
func (v *Visit) Frame(title, nav string) views.PageFrame {
	f := views.PageFrame{Title: title, Path: v.path(), Theme: v.Theme(), Nav: nav}
	word := v.R.URL.Query().Get("done")
	if sentence := cmp.Or(done[word], overtaken(word)); sentence != "" {
		f.Bands = append(f.Bands, views.Banner{ID: "done", Tone: views.ToneOK, Text: sentence})
	}
	if v.User.ID == 0 {
		return f
	}
	if outage := v.site.outage(); outage != "" {
		f.Bands = append(f.Bands, views.Banner{ID: "outage", Tone: views.ToneBad, Text: outage})
	}
	f.User = views.User{Name: v.User.Name, Email: v.User.Email, RoleName: v.User.Role.Title()}
	f.CanSend, f.NoKeys = v.User.Role.AtLeast(sms.Sender), v.noKeys()
	for _, n := range navigation {
		if !v.User.Role.AtLeast(n.least) {
			continue
		}
		if last := len(f.Items) - 1; last >= 0 && f.Items[last].Key == n.item.Key {
			f.Items = f.Items[:last]
		}
		f.Items = append(f.Items, n.item)
	}
	for _, a := range v.Accounts {
		f.Accounts = append(f.Accounts, accountView(a))
	}
	if v.Account.ID != 0 {
		f.Account = accountView(v.Account)
		v.addAccount(&f)
	}
	return f
}

// LiveFrame is frame for a page with figures that move: the page listens to
// the topics, and its navigation, balance and connection renew themselves.
// ?pause=1 keeps it still.
func (v *Visit) LiveFrame(title, nav string, topics ...string) views.PageFrame {
	f := v.Frame(title, nav)
	f.Paused = v.R.URL.Query().Get("pause") != ""
	f.Live = topics
	if v.Account.ID != 0 {
		side := []string{feed.Account(v.Account.ID), feed.Campaigns(v.Account.ID)}
		f.Side = views.Refresh{URL: views.SidePath + "?" + url.Values{"nav": {nav}, "path": {f.Path}}.Encode(), On: side}
		for _, topic := range side {
			if !Contains(f.Live, topic) {
				f.Live = append(f.Live, topic)
			}
		}
	}
	return f
}

// Contains says that s is in the list.
func Contains(list []string, s string) bool {
	return slices.Contains(list, s)
}

func accountView(a sms.Account) views.Account {
	return views.Account{ID: strconv.FormatInt(a.ID, 10), Name: a.Name, Test: a.Test}
}

func (v *Visit) addAccount(f *views.PageFrame) {
	ctx, a := v.R.Context(), v.Account
	administers := v.User.Role.AtLeast(sms.Administrator)
	if administers {
		f.ConnectHref = views.NewAccountPath
	}
	balances, err := v.site.store.Balances(ctx, a.ID)
	if err == nil {
		f.Balance = BalanceView(balances, a)
	}
	bands, unread := v.balanceBands(ctx, balances)
	f.Bands = append(f.Bands, bands...)
	question, unknown := v.site.store.Question(ctx)
	if question != nil {
		band := views.Banner{ID: "rollback", Tone: views.ToneBad, Text: question.Sentence(a.Location()) +
			" Nothing is sent until an administrator has answered."}
		if administers && v.R.URL.Path != views.JournalPath {
			band.Link = views.Link{Text: "Review and answer", Href: views.JournalPath}
		}
		f.Bands = append(f.Bands, band)
	}
	stuck, failing := v.site.store.ReadSetting(ctx, health.SettingStuck)
	if unknown = errors.Join(unknown, failing); stuck != "" {
		f.Bands = append(f.Bands, views.Banner{ID: "journal", Tone: views.ToneBad, Text: stuck})
	}
	if waits := v.site.witness(ctx, a.ID); waits != "" {
		f.Bands = append(f.Bands, views.Banner{ID: "witness", Tone: views.ToneWarn, Text: waits})
	}
	logs, untold := v.logBands(ctx)
	f.Bands = append(f.Bands, logs...)
	if sentence := v.site.desk.ClockStanding(a).Sentence(); sentence != "" {
		f.Bands = append(f.Bands, views.Banner{ID: "clock-wrong", Tone: views.ToneBad, Text: sentence + "."})
	}
	decisions, failed := v.site.store.Decisions(ctx, a.ID)
	if f.NeedDecision = int(decisions); decisions > 0 && failed == nil {
		f.NeedDecisionHref, failed = v.site.DecisionHref(ctx, a.ID)
	}
	var waiting error
	if v.User.Role.AtLeast(sms.Approver) {
		var n int64
		n, waiting = v.site.store.Awaiting(ctx, a.ID, v.User.ID)
		f.NeedApproval = int(n)
	}
	if err := errors.Join(err, unread, unknown, untold, failed, waiting); err != nil && ctx.Err() == nil {
		v.site.Log.Error("the frame is not complete", "id", RequestID(ctx), "error", err)
	}
	f.Connection = Connection(a, v.site.Now())
	if a.Pause != "" {
		band := views.Banner{ID: "account-paused", Tone: views.ToneBad, Text: "Sending is paused for " + a.Name + ". " +
			strings.TrimSuffix(a.Pause, ".") + "."}
		if administers {
			band.Link = views.Link{Text: "Check the connection settings", Href: views.SectionPath(a.ID, views.SectionConnection)}
		}
		f.Bands = append(f.Bands, band)
	}
}

// BalanceView shows the credit for SMS, else the first there is.
func BalanceView(balances []sms.Balance, a sms.Account) views.Balance {
	for i, b := range balances {
		if b.PluginType == "SMS" || i == len(balances)-1 && len(balances) == 1 {
			return views.Balance{Text: b.Credits, ReadAt: views.Clock(time.UnixMilli(b.ReadAt).In(a.Location()))}
		}
	}
	if len(balances) > 0 {
		return views.Balance{Text: balances[0].Credits,
			ReadAt: views.Clock(time.UnixMilli(balances[0].ReadAt).In(a.Location()))}
	}
	return views.Balance{}
}

// Connection says in words whether the provider answers.
func Connection(a sms.Account, now time.Time) views.Connection {
	switch {
	case a.Failure != "" && a.ReachedAt == 0:
		return views.Connection{Tone: views.ToneBad, Text: "Provider: not connected"}
	case a.Failure != "":
		since := views.When(time.UnixMilli(a.ReachedAt).In(a.Location()), now.In(a.Location()))
		return views.Connection{Tone: views.ToneBad, Text: "Provider: unreachable since " + since}
	case a.ReachedAt == 0:
		return views.Connection{Tone: views.ToneMute, Text: "Provider: not checked yet"}
	}
	return views.Connection{Tone: views.ToneOK, Text: "Provider: connected, " + ago(now.Sub(time.UnixMilli(a.ReachedAt)))}
}

// ago says how long something is past: "2 minutes ago".
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return views.Plural(int(d/time.Minute), "minute", "minutes") + " ago"
	case d < 48*time.Hour:
		return views.Plural(int(d/time.Hour), "hour", "hours") + " ago"
	}
	return views.Plural(int(d/(24*time.Hour)), "day", "days") + " ago"
}

// path is this page's address, without what was to be shown once. A page that
// answers a form is the page that the form stands on.
func (v *Visit) path() string {
	if v.R.URL.Path == views.SidePath {
		return LocalPath(v.R.URL.Query().Get("path"), "/")
	}
	u := url.URL{Path: v.R.URL.Path}
	if v.R.Method == http.MethodGet {
		q := v.R.URL.Query()
		for _, once := range []string{"done", "tested", "token", "kept"} {
			q.Del(once)
		}
		if v.R.URL.Path == views.KeptPath {
			q.Set(keptField, v.R.URL.Query().Get(keptField)) // it is only shown there, and stays
		}
		u.RawQuery = q.Encode()
	}
	return LocalPath(u.String(), "/")
}

// done are the sentences that a page may show once, after a form; the address
// carries the word, so a made-up one says nothing.
var done = map[string]string{
	"saved":           "Saved.",
	"password":        "Password changed. You have been signed out of other browsers.",
	"rights":          "Saved. They will have to sign in again.",
	"blocked":         "Numbers blocked.",
	"blockedone":      "Number blocked.",
	"unblocked":       "Number unblocked.",
	"rotated":         "New URL created. Give it to the provider. The old URL will work for 7 more days.",
	"resumed":         "Sending continued.",
	"refreshed":       "Sender IDs, templates and balance refreshed.",
	"read":            "Refreshed from the provider.",
	"templatesaved":   "Template changed at the provider.",
	"templatedeleted": "Template deleted at the provider.",
	"templategone":    "This template no longer exists at the provider. We have removed it from the list.",
	"templatemade":    "Template created at the provider. It may need approval before you can use it.",
	"draftsaved":      "Draft saved in smsdesk.",
	"draftdeleted":    "Draft deleted.",
	"sendersaved":     "Purpose changed at the provider.",
	"senderdeleted":   "Sender ID deleted at the provider.",
	"sendergone":      "This sender ID no longer exists at the provider. We have removed it from the list.",
	"sendermade":      "Request sent to the provider. You can use the sender ID once it is approved.",
	"senderdefault":   "This is now the default sender ID.",
	"groupmade":       "Group created at the provider.",
	"subgroupmade":    "Sub-group created at the provider.",
	"groupsaved":      "Group renamed at the provider.",
	"groupdeleted":    "Group deleted at the provider.",
	"groupgone":       "This group no longer exists at the provider. We have removed it from the list.",
	"seen":            "Alerts dismissed.",
	"revoked":         "Token revoked.",
	"setup":           "Set-up finished. You are an administrator.",
	"signedout":       "You have signed out.",
	"everywhere":      "You have signed out everywhere.",
	"accepted":        "Welcome to smsdesk.",
	"listdeleted":     "List deleted.",
	"contactdeleted":  "Contact deleted.",
	"audiencedeleted": "Audience deleted. Its contacts are kept.",
	"decided":         "Decisions saved.",
	"proposed":        "Saved. Someone else has to agree before anything happens.",
	"dropped":         "Withdrawn. Nothing was decided.",
	"linked":          "Report linked to the message.",
	"asking":          "We are asking the provider about these messages. Sending takes priority, so this may take a while.",
	"asked":           "We will ask the provider when sending leaves room. The answer will appear below.",
	"notasking":       "Stopped asking the provider.",
	"published":       "Published. New callers will get this version.",
	"withdrawn":       "Unpublished. Callers will see that there is no menu.",
	"restored":        "Earlier version restored as the draft. Publish it to give it to callers.",
	"menudeleted":     "Menu deleted.",
	"gapclosed":       "Noted. No one will be warned about this older copy again.",
	"forgotten":       "Forgotten. These recipients may be sent the same text again.",
	"alreadyall":      "Noted. The campaign will go to all recipients.",
	"alreadyback":     "They are recipients again.",
	"alreadyout":      "Noted. Those who got nearly this text are left out.",
	"seriesstarted":   "The series is active. Its runs are prepared automatically.",
	"seriespaused":    "Paused. Nothing further is prepared until someone resumes the series.",
	"seriesresumed":   "Resumed.",
	"seriesstopped":   "Stopped for good.",
	"includesent":     "Noted. The campaign will go to them too.",
}

// WithDone is address with the word of a sentence to show once.
func WithDone(address, word string) string {
	if _, ok := done[word]; !ok {
		panic(fmt.Sprintf("web: no sentence for %q", word))
	}
	return views.With(address, "done", word)
}

// currentPage is the page on which a fragment stands, as htmx tells.
func currentPage(r *http.Request) string {
	u, err := url.Parse(r.Header.Get("HX-Current-URL"))
	if err != nil {
		return ""
	}
	return LocalPath((&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String(), "")
}

const preferenceLife = 365 * 24 * time.Hour

// SetTheme keeps the colours that a browser chose; anything but "light" and
// "dark" is the system's own.
func (s *Site) SetTheme(w http.ResponseWriter, theme string) {
	s.setPreference(w, "theme", theme, theme == "light" || theme == "dark")
}

// SetKeys keeps whether / and ? lead somewhere in this browser.
func (s *Site) SetKeys(w http.ResponseWriter, on bool) { s.setPreference(w, "keys", "off", !on) }

// setPreference keeps a choice in the browser, or forgets it.
func (s *Site) setPreference(w http.ResponseWriter, name, value string, keep bool) {
	options := s.sessions.options
	options.MaxAge = int(preferenceLife / time.Second)
	if !keep {
		value, options.MaxAge = "", -1
	}
	http.SetCookie(w, sessions.NewCookie(cookieName(name, s.Secure), value, &options))
}

// Theme is the browser's choice, "" for its own.
func (v *Visit) Theme() string {
	c, err := v.R.Cookie(cookieName("theme", v.site.Secure))
	if err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// noKeys says that this browser's person wants / and ? to be letters only.
func (v *Visit) noKeys() bool {
	c, err := v.R.Cookie(cookieName("keys", v.site.Secure))
	return err == nil && c.Value == "off"
}

// BareFrame is for the pages before a sign-in, whoever is signed in here.
func (v *Visit) BareFrame(title string) views.PageFrame {
	return views.PageFrame{Title: title, Path: "/", Theme: v.Theme()}
}
