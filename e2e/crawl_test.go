package e2e

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/sms"
	"smsdesk/internal/wording"
	"smsdesk/storage"
)

// crawler is a person of one role who opens every link and presses every button.
type crawler struct {
	t      *testing.T
	role   sms.Role
	base   *url.URL
	client *http.Client
	seen   map[string]bool
	kinds  map[string]int
	banned *wording.Checker
	todo   []string
	forms  int
	pages  int
}

// TestEveryLinkAndButtonLeadsSomewhere crawls the desk once per role. A link
// that is shown must open, a form that is shown must be taken or answered with
// what is wrong; nothing is shown that the role may not do, and no page says a word
// that smsdesk does not use.
func TestEveryLinkAndButtonLeadsSomewhere(t *testing.T) {
	beside(t)
	o := openOffice(t)
	password := writeFile(t, "password", adaPassword)
	for _, role := range sms.Roles() {
		must(t, binary(t, ""), "--data", o.data, "user", "add", "--email", string(role)+"@example.com", "--name", "A "+
			role.Title(), "--role", string(role), "--password-file", password)
	}
	seedForCrawl(t, o)
	seedLists(t, o)
	seedMenu(t, o)
	seedApproval(t, o)
	for _, role := range sms.Roles() {
		t.Run(string(role), func(t *testing.T) {
			c := newCrawler(t, o.base, role)
			c.run("/", "/help", "/me", "/campaigns?state=needs-decision", "/campaigns/1", "/campaigns/1/breakdown",
				"/campaigns/1?network=MTN&text=Crawl", "/campaigns/2", "/campaigns/2/doubt", "/campaigns?state=needs-approval",
				"/campaigns/3", "/reports", "/reports?kind=unmatched", "/reports?kind=refused", "/ussd", "/ussd/sessions")
			t.Logf("%s: %d pages opened, %d forms pressed", role, c.pages, c.forms)
			if c.pages < 10 || c.forms < 3 {
				t.Errorf("only %d pages and %d forms: the crawl did not get in", c.pages, c.forms)
			}
		})
	}
}

// seedForCrawl makes a finished campaign, one in doubt and a draft.
func seedForCrawl(t *testing.T, o *office) {
	t.Helper()
	c := newCrawler(t, o.base, sms.Sender)
	for _, numbers := range []string{"08030000001\n08030000002\n08030000010", "08030000008", "08030000003"} {
		var page *goquery.Document
		waitFor(t, patience, "an approved sender ID", func() bool {
			_, page = c.get("/new")
			return page.Find("select[name=sender_id] option[value=CLINIC]").Length() == 1
		})
		form := values(page.Find("form:has(textarea[name=numbers])"))
		form.Set("numbers", numbers)
		form.Set("text", "Crawl "+numbers)
		form.Set("sender_id", "CLINIC")
		resp := c.post("/new", form)
		if resp.StatusCode != http.StatusSeeOther {
			t.Fatalf("composing: %s", resp.Status)
		}
		confirm := resp.Header.Get("Location")
		if strings.HasSuffix(numbers, "0003") {
			return
		}
		_, page = c.get(confirm)
		form = values(page.Find("form[action$='/start']"))
		if resp := c.post(strings.TrimSuffix(confirm, "/confirm")+"/start", form); resp.StatusCode != http.StatusSeeOther {
			t.Fatalf("starting: %s", resp.Status)
		}
	}
}

// seedMenu makes a USSD menu.
func seedMenu(t *testing.T, o *office) {
	t.Helper()
	c := newCrawler(t, o.base, sms.Manager)
	_, page := c.get("/ussd/new")
	form := values(page.Find("form#new-menu"))
	form.Set("from", "1")
	if resp := c.post("/ussd/new", form); resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("making a menu: %s", resp.Status)
	}
}

// seedApproval makes the draft wait for a second person.
func seedApproval(t *testing.T, o *office) {
	t.Helper()
	db, err := storage.Open(t.Context(), storage.Config{Data: o.data})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	a, err := db.AccountNamed(t.Context(), "Sandbox")
	if err == nil {
		_, err = db.UpdateAccount(t.Context(), a.ID, time.Now().UnixMilli(), func(a *sms.Account, _ *sms.Credentials) error {
			a.ApproveAbove = 1
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	c := newCrawler(t, o.base, sms.Sender)
	_, page := c.get("/new")
	form := values(page.Find("form:has(textarea[name=numbers])"))
	form.Set("numbers", "08030000004\n08030000005")
	form.Set("text", "Crawl and approve")
	form.Set("sender_id", "CLINIC")
	confirm := c.post("/new", form).Header.Get("Location")
	_, page = c.get(confirm)
	form = values(page.Find("form[action$='/start']"))
	form.Set("sure", page.Find("#send-now").AttrOr("value", ""))
	if resp := c.post(strings.TrimSuffix(confirm, "/confirm")+"/start", form); resp.StatusCode != http.StatusSeeOther ||
		!strings.HasSuffix(resp.Header.Get("Location"), "/approval") {
		t.Fatalf("asking for approval with %v: %s to %q", form, resp.Status, resp.Header.Get("Location"))
	}
}

// seedLists uploads two lists: one without a message, one with rows to fix.
func seedLists(t *testing.T, o *office) {
	t.Helper()
	c := newCrawler(t, o.base, sms.Sender)
	for name, text := range map[string]string{"fresh.csv": "", "dirty.csv": "Dear ##name##, hello"} {
		_, page := c.get("/new/list")
		resp := c.send("/new/list", values(page.Find("form#upload")), name, dirtyRows(120))
		message := resp.Header.Get("Location")
		if resp.StatusCode != http.StatusSeeOther || !strings.HasSuffix(message, "/message") {
			t.Fatalf("uploading: %s, to %q", resp.Status, message)
		}
		if text == "" {
			continue
		}
		_, page = c.get(message)
		form := values(page.Find("form#list"))
		form.Set("text", text)
		form.Set("sender_id", "CLINIC")
		form.Set("do", "check")
		if resp := c.post(message, form); !strings.HasSuffix(resp.Header.Get("Location"), "/check") {
			t.Fatalf("checking: %s, to %q", resp.Status, resp.Header.Get("Location"))
		}
	}
}

func newCrawler(t *testing.T, base string, role sms.Role) *crawler {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &crawler{t: t, role: role, base: u, seen: map[string]bool{}, kinds: map[string]int{}, banned: wording.NewChecker(),
		client: &http.Client{Jar: jar, Timeout: patience,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if resp := c.post("/signin", url.Values{"email": {string(role) + "@example.com"},
		"password": {adaPassword}}); resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("%s cannot sign in: %s", role, resp.Status)
	}
	return c
}

func (c *crawler) get(path string) (*http.Response, *goquery.Document) {
	c.t.Helper()
	resp, err := c.client.Get(c.base.String() + path)
	if err != nil {
		c.t.Fatalf("%s: %v", path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	doc, err := goquery.NewDocumentFromReader(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp, doc
}

func (c *crawler) post(path string, form url.Values) *http.Response {
	c.t.Helper()
	req, err := http.NewRequest(http.MethodPost, c.base.String()+path, strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	resp, err := c.client.Do(req)
	if err != nil {
		c.t.Fatalf("%s: %v", path, err)
	}
	_ = resp.Body.Close()
	return resp
}

// send posts a form with a file.
func (c *crawler) send(path string, form url.Values, name, content string) *http.Response {
	c.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	form.Del("file")
	for field, all := range form {
		if err := w.WriteField(field, all[0]); err != nil {
			c.t.Fatal(err)
		}
	}
	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		c.t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, c.base.String()+path, &body)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	resp, err := c.client.Do(req)
	if err != nil {
		c.t.Fatalf("%s: %v", path, err)
	}
	_ = resp.Body.Close()
	return resp
}

const (
	// crawlKind is how many pages or presses that differ only in what they are
	// about are tried: a draft, a finished campaign, one in doubt.
	crawlKind = 5
	crawlMost = 2000
)

func (c *crawler) run(from ...string) {
	for c.todo = from; len(c.todo) > 0; {
		path := c.todo[0]
		c.todo = c.todo[1:]
		if c.fresh("GET", path) {
			c.visit(path)
		}
		if c.pages > crawlMost {
			c.t.Fatalf("%d pages and still no end, the last: %s", c.pages, path)
		}
	}
}

// fresh says that an address is worth trying, and counts it.
func (c *crawler) fresh(what, path string) bool {
	u, err := url.Parse(path)
	if err != nil {
		return false
	}
	q := u.Query()
	for _, drop := range []string{"after", "before", "done", "token", "pause"} {
		q.Del(drop)
	}
	u.RawQuery = q.Encode()
	key := what + " " + u.String()
	kind := crawlID.ReplaceAllString(key, "$1…")
	if c.seen[key] || c.kinds[kind] >= crawlKind {
		return false
	}
	c.seen[key] = true
	c.kinds[kind]++
	return true
}

var crawlID = regexp.MustCompile(`([/=])(\d+|[0-9a-f]{32})\b`)

func (c *crawler) visit(path string) {
	resp, doc := c.get(path)
	c.pages++
	if location := resp.Header.Get("Location"); resp.StatusCode == http.StatusSeeOther && location != "" {
		c.want(location)
		return
	}
	if resp.StatusCode != http.StatusOK {
		c.t.Errorf("%s is shown to a %s but answers %s", path, c.role, resp.Status)
		return
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		c.saysOneWord(path, doc)
	}
	doc.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
		href, _ := a.Attr("href")
		if id, inside := strings.CutPrefix(href, "#"); inside {
			if id != "" && doc.Find("#"+id).Length() == 0 {
				c.t.Errorf("%s: the link %q leads to no place on the page", path, a.Text())
			}
			return
		}
		c.want(href)
	})
	doc.Find("form").Each(func(_ int, f *goquery.Selection) { c.press(path, f) })
}

// saysOneWord holds a page against the words that no page says.
func (c *crawler) saysOneWord(path string, doc *goquery.Document) {
	c.t.Helper()
	page, err := doc.Html()
	if err != nil {
		c.t.Fatal(err)
	}
	texts, err := wording.Visible(strings.NewReader(page))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, f := range c.banned.Check(texts...) {
		c.t.Errorf("%s says %s", path, f)
	}
}

func (c *crawler) want(href string) {
	u, err := c.base.Parse(href)
	if err != nil {
		c.t.Errorf("%q is not an address", href)
		return
	}
	if u.Host == c.base.Host {
		u.Fragment = ""
		c.todo = append(c.todo, u.RequestURI())
	}
}

// press sends a form with what it holds. Signing out would end the crawl, and
// ending all sessions too; a list or record that is deleted has links that were
// seen.
func (c *crawler) press(page string, f *goquery.Selection) {
	action := f.AttrOr("action", page)
	u, err := c.base.Parse(action)
	if err != nil {
		c.t.Errorf("%s: the form's address %q cannot be read", page, action)
		return
	}
	method := strings.ToUpper(f.AttrOr("method", "GET"))
	if strings.Contains(u.Path, "signout") || strings.Contains(u.Path, "sessions") ||
		strings.HasSuffix(u.Path, "/delete") {
		return
	}
	form := values(f)
	buttons := f.Find("button[name]")
	if buttons.Length() == 0 {
		c.pressOne(page, f, method, *u, form, "")
	}
	buttons.Each(func(_ int, b *goquery.Selection) {
		pressed := url.Values{}
		for name, all := range form {
			pressed[name] = all
		}
		pressed.Set(b.AttrOr("name", ""), b.AttrOr("value", ""))
		c.pressOne(page, f, method, *u, pressed, b.AttrOr("name", "")+"="+b.AttrOr("value", ""))
	})
}

// pressOne presses one button of a form.
func (c *crawler) pressOne(page string, f *goquery.Selection, method string, u url.URL, form url.Values,
	button string) {
	if !c.fresh(method+" form "+button, u.RequestURI()) {
		return
	}
	c.forms++
	if method == "GET" {
		u.RawQuery = form.Encode()
		c.want(u.RequestURI())
		return
	}
	switch resp := c.post(u.RequestURI(), form); resp.StatusCode {
	case http.StatusOK, http.StatusSeeOther, http.StatusUnprocessableEntity, http.StatusConflict:
		if l := resp.Header.Get("Location"); l != "" {
			c.want(l)
		}
	default:
		c.t.Errorf("%s: the button %q (%s) is shown to a %s, but %s answers %s", page,
			strings.TrimSpace(f.Find("button").First().Text()), button, c.role, u.Path, resp.Status)
	}
}

// values is what a browser would send of a form that nobody touched.
func values(f *goquery.Selection) url.Values {
	v := url.Values{}
	f.Find("input[name], textarea[name], select[name], button[name]").Each(func(_ int, e *goquery.Selection) {
		name := e.AttrOr("name", "")
		kind := e.AttrOr("type", "")
		_, checked := e.Attr("checked")
		switch {
		case goquery.NodeName(e) == "textarea":
			v.Add(name, e.Text())
		case goquery.NodeName(e) == "select":
			chosen := e.Find("option[selected]").First()
			if chosen.Length() == 0 {
				chosen = e.Find("option").First()
			}
			v.Add(name, chosen.AttrOr("value", ""))
		case (kind == "checkbox" || kind == "radio") && !checked:
		case goquery.NodeName(e) == "button":
		default:
			v.Add(name, e.AttrOr("value", ""))
		}
	})
	return v
}
