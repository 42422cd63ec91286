package views

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"golang.org/x/net/html"
)

func render(t *testing.T, c templ.Component) (string, *goquery.Document) {
	t.Helper()
	var out strings.Builder
	if err := c.Render(t.Context(), &out); err != nil {
		t.Fatalf("render: %v", err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(out.String()))
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	return out.String(), doc
}

func plain(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := w.Write([]byte(templ.EscapeString(text)))
		return err
	})
}

func frameOf(text string) PageFrame {
	return PageFrame{
		Title: text, Path: "/page?x=" + text, Nav: "campaigns", CanSend: true, Theme: text,
		Items: []NavItem{{Key: "overview", Href: "/", Label: text, Glyph: GlyphOverview},
			{Key: "campaigns", Href: "/campaigns", Label: text, Glyph: GlyphCampaign, Apart: true}},
		User:         User{Name: text, Email: text, RoleName: text},
		Account:      Account{ID: text, Name: text, Test: true},
		Accounts:     []Account{{ID: text, Name: text, Test: true}, {ID: "2", Name: text}},
		Balance:      Balance{Text: text, ReadAt: text},
		Connection:   Connection{Tone: ToneOK, Text: text},
		NeedDecision: 3,
		ConnectHref:  text,
		Bands:        []Banner{{ID: text, Tone: ToneWarn, Text: text, Link: Link{Text: text, Href: text}}},
		Crumbs:       []Link{{Text: text, Href: text}, {Text: text}},
		Live:         []string{"campaign:42", text},
		Side:         Refresh{URL: text, On: []string{"account:1", text}},
	}
}

// everything renders each shared piece with the same text in every place that
// a page could fill.
func everything(text string) map[string]templ.Component {
	field := Field{Name: text, Label: text, Hint: text, Error: text, Value: text}
	options := []Option{{Value: text, Label: text, Hint: text}, {Value: "b", Label: text}}
	with := func(c templ.Component) templ.Component {
		return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
			return c.Render(templ.WithChildren(ctx, plain(text)), w)
		})
	}
	return map[string]templ.Component{
		"page":         with(Page(frameOf(text))),
		"bare":         with(Bare(frameOf(text))),
		"paused":       with(Page(PageFrame{Title: text, Live: []string{text}, Paused: true})),
		"error page":   ErrorPage(frameOf(text), Problem{Title: text, Text: text, Reference: text, Link: Link{Text: text, Href: text}}),
		"header":       with(Header(Heading{Title: text, Sub: text})),
		"card":         with(Card(text)),
		"tiles":        with(Tiles(text)),
		"tile":         Tile(TileProps{ID: text, Label: text, Value: text, More: text, Href: text, Glyph: GlyphInfo, Current: true}),
		"tile at rest": Tile(TileProps{Label: text, Value: text}),
		"tag":          Tag(ToneBad, GlyphFailed, text),
		"chips":        Chips(text, []Chip{{Text: text, Href: text, Glyph: GlyphClose}, {Text: text}}),
		"bar":          Bar(BarProps{ID: text, Label: text, Segments: []Segment{{Words: text, Count: 2}}}),
		"progress":     Progress(text, text, 1, 2),
		"table":        with(Table(TableProps{ID: text, Caption: text, Label: text})),
		"cell error":   CellError(text, text),
		"cell note":    with(CellNote(text, text)),
		"file drop":    FileDrop(UploadForm{Token: text, Account: text, Replaces: text, Label: text, Error: text}),
		"spreadsheet":  Spreadsheet(text, []ListFirst{{Row: 1, Cells: []string{text, text}}, {Cells: []string{text}}}),
		"upload":       Upload(frameOf(text), listUpload(text)),
		"list message": ListMessage(frameOf(text), listMessage(text)),
		"list parts":   ListMessageParts(listMessage(text)),
		"list check":   ListCheck(frameOf(text), listCheck(text)),
		"pager":        Pager(PagerProps{Text: text, Previous: text, Next: text}),
		"tabs":         Tabs(text, []Tab{{Text: text, Href: text, Current: true, Count: 2}}),
		"note":         with(Note(NoteProps{ID: text, Tone: ToneTest, Title: text})),
		"empty":        Empty(EmptyProps{Title: text, Text: text, Action: Link{Text: text, Href: text}}),
		"steps":        Steps([]string{text, text, text}, 1),
		"tasks":        Tasks([]Task{{Text: text, Href: text, Hint: text, Status: text}}),
		"bubble":       Bubble(BubbleProps{ID: text, From: text, Under: text, Text: []TextSpan{{Text: text, Filled: true}, {Text: text}}}),
		"timeline": Timeline([]TimelineEvent{{ID: text, Title: text, Text: text, Time: text, Stamp: text, Raw: text,
			Source: text, CopyName: text, CopyValue: text}}),
		"dl":          DL([]KeyValue{{Name: text, Text: text}, {Name: text, View: Tag(ToneOK, GlyphTick, text)}}),
		"form":        with(Form(FormProps{ID: text, Action: text, Busy: text, Upload: true})),
		"button":      Button(ButtonProps{ID: text, Text: text, Name: text, Value: text}),
		"link button": Button(ButtonProps{ID: text, Text: text, Href: text}),
		"summary":     ErrorSummary([]FieldError{{ID: text, Text: text}, {Text: text}}),
		"input":       Input(InputProps{Field: field, Autocomplete: text, InputMode: text, Type: "email"}),
		"textarea":    TextArea(TextAreaProps{Field: field, Counter: text, Watch: Watch{URL: text, Target: text}}),
		"counter":     Counter(text, text, text),
		"select":      Select(SelectProps{Field: field, Options: options, Prompt: text}),
		"radios":      Radios(RadiosProps{Field: field, Options: options}),
		"checkbox":    Checkbox(CheckboxProps{Field: field}),
		"hidden":      Hidden(text, text),
		"more":        with(More(text, text)),
		"copy field":  CopyField(CopyProps{ID: text, Label: text, Hint: text, Value: text}),
		"copy text":   CopyText(text, text, text),
		"live region": with(LiveRegion(Refresh{ID: text, URL: text, On: []string{text}})),
		"live part":   with(LivePart(text)),
		"live stream": LiveStream([]string{text}),
		"say":         Say(text),
		"live mark":   LiveMark(LiveMarkProps{Path: "/?x=" + text, ReadAt: text}),
		"paused mark": LiveMark(LiveMarkProps{Path: "/?x=" + text, ReadAt: text, Paused: true}),
	}
}

var payloads = []string{
	`<script>alert(1)</script>`,
	`"><script>alert(1)</script>`,
	`'><img src=x onerror=alert(1)>`,
	`" onmouseover="alert(1)`,
	`' onfocus='alert(1)' autofocus='`,
	`</title><svg onload=alert(1)>`,
	`</textarea><script>alert(1)</script>`,
	`</option></select><iframe srcdoc="x">`,
	`javascript:alert(1)`,
	`JaVaScRiPt:alert(1)`,
	`data:text/html,<script>alert(1)</script>`,
	`<hx-partial hx-target="body"><b>x</b></hx-partial>`,
	`"><div hx-get="/x" hx-trigger="load">`,
	`</td></tr></table><form action="https://example.org">`,
	`<!--<img src="--><img src=x onerror=alert(1)//">`,
	`<style>*{display:none}</style>`,
	`<base href="https://example.org/">`,
	`<meta http-equiv="refresh" content="0;url=https://example.org">`,
	`<template><b>x</b></template>`,
	"<svg><a xlink:href=\"javascript:alert(1)\"><text>x</text></a></svg>",
	"\u0000<b>x</b>\u202e&lt;script&gt;",
	`<math><mi//xlink:href="data:x,<script>alert(1)</script>">`,
}

// Whatever text is put in, the tree of elements and attribute names is the one
// of a harmless word.
func TestTextNeverBecomesMarkup(t *testing.T) {
	harmless := everything("word")
	for name, component := range harmless {
		_, doc := render(t, component)
		want := shape(doc.Nodes[0])
		for _, payload := range payloads {
			source, doc := render(t, everything(payload)[name])
			if got := shape(doc.Nodes[0]); got != want {
				t.Errorf("%s with %q:\n got %s\nwant %s", name, payload, got, want)
			}
			doc.Find("[href], [action], [src]").Each(func(_ int, s *goquery.Selection) {
				for _, attribute := range []string{"href", "action", "src"} {
					address := strings.ToLower(strings.TrimSpace(s.AttrOr(attribute, "")))
					if strings.HasPrefix(address, "javascript:") || strings.HasPrefix(address, "data:") {
						t.Errorf("%s with %q: %s is %q", name, payload, attribute, address)
					}
				}
			})
			// htmx looks for this tag in the answer's text before it is parsed.
			if name != "live part" && name != "list parts" && strings.Contains(source, "<hx-") {
				t.Errorf("%s with %q: the source contains <hx-", name, payload)
			}
		}
	}
}

func shape(n *html.Node) string {
	var out strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		// Which letters are special, and which words can be placeholders, depends on the text.
		if n.Type == html.ElementNode && (n.Data == "mark" || slices.ContainsFunc(n.Attr,
			func(a html.Attribute) bool { return a.Key == "data-put" || a.Key == "id" && a.Val == "advice" })) {
			return
		}
		if n.Type == html.ElementNode {
			var names []string
			for _, a := range n.Attr {
				names = append(names, a.Key)
			}
			slices.Sort(names)
			fmt.Fprintf(&out, "<%s %s>", n.Data, strings.Join(names, " "))
		}
		if n.Type == html.CommentNode {
			out.WriteString("<!>")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		if n.Type == html.ElementNode {
			out.WriteString("</" + n.Data + ">")
		}
	}
	walk(n)
	return out.String()
}

// The pages run under a policy that forbids what stands in the markup itself.
func TestNothingInline(t *testing.T) {
	all := everything("word")
	all["style guide"] = StyleGuide(frameOf("word"))
	for name, component := range all {
		_, doc := render(t, component)
		doc.Find("*").Each(func(_ int, s *goquery.Selection) {
			node := s.Nodes[0]
			if node.Data == "style" || node.Data == "script" && s.AttrOr("src", "") == "" {
				t.Errorf("%s: an inline <%s>", name, node.Data)
			}
			for _, a := range node.Attr {
				switch {
				case a.Key == "style", strings.HasPrefix(a.Key, "on"), strings.HasPrefix(a.Key, "hx-on"):
					t.Errorf("%s: <%s %s>", name, node.Data, a.Key)
				case a.Key == "id" && strings.TrimSpace(a.Val) == "":
					t.Errorf("%s: <%s> with an empty id", name, node.Data)
				}
			}
		})
	}
}

// Pages and pieces are written in templ; what a policy forbids is looked for in
// the sources too, since not every page is rendered here.
func TestSourcesKeepTheRules(t *testing.T) {
	files, err := filepath.Glob("*.templ")
	if err != nil || len(files) == 0 {
		t.Fatalf("no templ files: %v", err)
	}
	forbidden := regexp.MustCompile(
		`(?i)\sstyle=|\son[a-z]+=|<style|<script(?: [^>]*)?>[^<]|hx-on|\bjs:|templ\.(?:Raw|JS|SafeURL|SafeClass|SafeCSS)`)
	live := regexp.MustCompile(`\shx-[a-z]`)
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(content), "\n") {
			if m := forbidden.FindString(line); m != "" {
				t.Errorf("%s:%d: %q has no place in a view", name, i+1, m)
			}
			if name != "live.templ" && live.MatchString(line) {
				t.Errorf("%s:%d: htmx attributes belong to live.templ", name, i+1)
			}
		}
	}
}

func TestStyleGuideHangsTogether(t *testing.T) {
	f := frameOf("word")
	f.Live, f.Accounts[1].ID = []string{"campaign:42"}, "2"
	_, doc := render(t, StyleGuide(f))
	ids := map[string]int{}
	doc.Find("[id]").Each(func(_ int, s *goquery.Selection) { ids[s.AttrOr("id", "")]++ })
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %q stands %d times", id, n)
		}
	}
	for _, attribute := range []string{"for", "aria-describedby", "aria-labelledby", "data-copy"} {
		doc.Find("[" + attribute + "]").Each(func(_ int, s *goquery.Selection) {
			for _, id := range strings.Fields(s.AttrOr(attribute, "")) {
				if ids[id] == 0 {
					t.Errorf("%s points to %q, which is nowhere", attribute, id)
				}
			}
		})
	}
	doc.Find(".errors a").Each(func(_ int, s *goquery.Selection) {
		if id := strings.TrimPrefix(s.AttrOr("href", ""), "#"); ids[id] == 0 {
			t.Errorf("the error summary leads to %q, which is nowhere", id)
		}
	})
	doc.Find("input:not([type=hidden]), select, textarea").Each(func(_ int, s *goquery.Selection) {
		if doc.Find(`label[for="`+s.AttrOr("id", "")+`"]`).Length() != 1 {
			t.Errorf("%q has no label of its own", s.AttrOr("id", ""))
		}
	})
	if n := doc.Find("h1").Length(); n != 1 {
		t.Errorf("%d first headings", n)
	}
	if n := doc.Find(`nav [aria-current="page"]`).Length(); n < 1 {
		t.Error("the open navigation item is not marked")
	}
}

func TestEveryGlyphIsInTheSprite(t *testing.T) {
	sprite, err := os.ReadFile("../static/icons.svg")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("ui.go")
	if err != nil {
		t.Fatal(err)
	}
	glyphs := regexp.MustCompile(`Glyph\w+\s+Glyph = "([\w-]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(glyphs) < 30 {
		t.Fatalf("found only %d glyphs", len(glyphs))
	}
	for _, g := range glyphs {
		if !strings.Contains(string(sprite), `id="`+g[1]+`"`) {
			t.Errorf("no icon %q in the sprite", g[1])
		}
	}
}

func TestDocumentTitle(t *testing.T) {
	for want, f := range map[string]PageFrame{
		"Campaigns – smsdesk":                 {Title: "Campaigns"},
		"smsdesk":                             {},
		"Error: Sign in – smsdesk":            {Title: "Sign in", Error: true},
		"TEST · Campaigns – smsdesk":          {Title: "Campaigns", Account: Account{Test: true}},
		"TEST · Error: New message – smsdesk": {Title: "New message", Error: true, Account: Account{Test: true}},
	} {
		_, doc := render(t, Page(f))
		if got := doc.Find("title").First().Text(); got != want {
			t.Errorf("title %q, want %q", got, want)
		}
		icon := doc.Find("link[rel=icon]").AttrOr("href", "")
		if strings.HasSuffix(icon, "favicon-test.svg") != f.Account.Test {
			t.Errorf("%q has the icon %s", want, icon)
		}
	}
}

func TestFrameShowsWhatThePersonMay(t *testing.T) {
	_, doc := render(t, Page(PageFrame{Title: "x", User: User{Name: "Ada Obi"}}))
	for _, absent := range []string{`a[href="/new"]`, "#test-band", "#live", "#nav-decision", "#account-choice",
		".bands"} {
		if doc.Find(absent).Length() != 0 {
			t.Errorf("%s stands on a page without it", absent)
		}
	}
	f := frameOf("word")
	_, doc = render(t, Page(f))
	for _, present := range []string{`a[href="/new"]`, "#test-band", "#live", "#nav-decision", "#account-choice",
		"#say[role=status]", "details.menu summary", `form[action="/signout"][method="post"]`,
		`form[action="/find"][method="post"] input[name=q][aria-keyshortcuts]`, "#balance"} {
		if doc.Find(present).Length() != 1 {
			t.Errorf("%s stands %d times", present, doc.Find(present).Length())
		}
	}
	f.Paused = true
	_, doc = render(t, Page(f))
	if doc.Find("#live").Length() != 0 || doc.Find("#side[hx-get]").Length() != 0 {
		t.Error("a paused page still listens")
	}
}

func TestLiveContract(t *testing.T) {
	_, doc := render(t, LiveRegion(Refresh{ID: "tiles", URL: "/campaigns/42?part=tiles",
		On: []string{"campaign:42", "account:1"}}))
	for attribute, want := range map[string]string{
		"id": "tiles", "hx-get": "/campaigns/42?part=tiles", "hx-swap": "outerMorph",
		"hx-trigger": "campaign:42 from:body, account:1 from:body",
	} {
		if got := doc.Find("#tiles").AttrOr(attribute, ""); got != want {
			t.Errorf("%s is %q, want %q", attribute, got, want)
		}
	}
	_, doc = render(t, LiveRegion(Refresh{ID: "tiles"}))
	if doc.Find("#tiles").Length() != 1 || doc.Find("[hx-get]").Length() != 0 {
		t.Error("a region at rest is not at rest")
	}
	source, _ := render(t, LiveStream([]string{"campaign:42", "a&b"}))
	if !strings.Contains(source, `hx-sse:connect="/live?t=campaign%3A42&amp;t=a%26b"`) ||
		!strings.Contains(source, `hx-swap="none"`) {
		t.Errorf("stream element: %s", source)
	}
	var config map[string]any
	if err := json.Unmarshal([]byte(htmxConfig), &config); err != nil {
		t.Fatalf("htmx would not read its settings: %v", err)
	}
	for name, want := range map[string]any{"mode": "same-origin", "includeIndicatorCSS": false, "history": false} {
		if config[name] != want {
			t.Errorf("%s is %v, want %v", name, config[name], want)
		}
	}
}

// htmx must meet its extensions and our script before it starts; see documentEnd.
func TestScriptsComeInOrderAndLast(t *testing.T) {
	for name, component := range map[string]templ.Component{"page": Page(frameOf("word")), "bare": Bare(frameOf("word"))} {
		_, doc := render(t, component)
		var order []string
		doc.Find("#live, #say, script").Each(func(_ int, s *goquery.Selection) {
			if s.AttrOr("defer", s.AttrOr("async", "no")) != "no" {
				t.Errorf("%s: a script that may come late", name)
			}
			order = append(order, s.AttrOr("id", filepath.Base(s.AttrOr("src", ""))))
		})
		if want := []string{"live", "say", "htmx.min.js", "hx-sse.min.js", "app.js"}; !slices.Equal(order, want) {
			t.Errorf("%s: %v, want %v", name, order, want)
		}
		if doc.Find("head script").Length() != 0 {
			t.Errorf("%s: a script in the head", name)
		}
	}
}

func TestBarShares(t *testing.T) {
	bar := BarProps{Label: "1,000,001 messages",
		Segments: []Segment{{Words: "Waiting", Count: 0}, {Words: "Delivered", Count: 1_000_000},
			{Words: "Not delivered", Count: 1}, {Words: "Odd", Count: -3}}}
	shares := bar.shares()
	if len(shares) != 2 {
		t.Fatalf("%d shares, want 2", len(shares))
	}
	end := 0.0
	for _, s := range shares {
		var x, width float64
		if _, err := fmt.Sscanf(s.x+" "+s.width, "%f%% %f%%", &x, &width); err != nil {
			t.Fatal(err)
		}
		if width < 1 || x < end-.02 || x > end+.02 {
			t.Errorf("share from %s for %s after %f", s.x, s.width, end)
		}
		end = x + width
	}
	if end < 99.9 || end > 100.01 {
		t.Errorf("the bar ends at %f", end)
	}
	if got, want := bar.name(), "1,000,001 messages: delivered 1,000,000, not delivered 1"; got != want {
		t.Errorf("name %q, want %q", got, want)
	}
	if got := (BarProps{Label: "None"}).name(); got != "None: nothing yet" {
		t.Errorf("name of nothing: %q", got)
	}
}

func TestTextAreaKeepsItsFirstLine(t *testing.T) {
	_, doc := render(t, TextArea(TextAreaProps{Field: Field{Name: "text", Value: "\n\nthird line"}}))
	if got := doc.Find("textarea").Text(); got != "\n\nthird line" {
		t.Errorf("text %q", got)
	}
}

func TestBubbleAddsNoSpace(t *testing.T) {
	_, doc := render(t, Bubble(BubbleProps{Text: []TextSpan{{Text: "Dear "}, {Text: "Ada", Filled: true},
		{Text: ",\nhello"},
		{Text: "!"}}}))
	if got := doc.Find(".bubble").Text(); got != "Dear Ada,\nhello!" {
		t.Errorf("text %q", got)
	}
}

func TestPasswordIsNeverWrittenBack(t *testing.T) {
	source, _ := render(t, Input(InputProps{Field: Field{Name: "password", Value: "secret"}, Type: "password"}))
	if strings.Contains(source, "secret") {
		t.Error("the password stands in the page")
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1196: "1,196", 100_000: "100,000",
		1_204_310: "1,204,310", -1: "-1", -12_345: "-12,345"} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d) is %q, want %q", n, got, want)
		}
	}
	if Plural(1, "message", "messages") != "1 message" || Plural(1200, "message", "messages") != "1,200 messages" ||
		Plural(0, "message", "messages") != "0 messages" {
		t.Error("plural")
	}
}

func TestWhen(t *testing.T) {
	lagos := time.FixedZone("WAT", 3600)
	now := time.Date(2026, 6, 12, 22, 30, 0, 0, time.UTC) // 11:30pm in Lagos
	for want, at := range map[string]time.Time{
		"today at 10:48am":             time.Date(2026, 6, 12, 10, 48, 0, 0, lagos),
		"today at 12:05am":             time.Date(2026, 6, 12, 0, 5, 0, 0, lagos),
		"yesterday at 11:59pm":         time.Date(2026, 6, 11, 23, 59, 0, 0, lagos),
		"tomorrow at 9:00am":           time.Date(2026, 6, 13, 9, 0, 0, 0, lagos),
		"Wednesday 3 June at 12:00pm":  time.Date(2026, 6, 3, 12, 0, 0, 0, lagos),
		"31 December 2025 at 11:00pm":  time.Date(2025, 12, 31, 23, 0, 0, 0, lagos),
		"Thursday 1 January at 1:00am": time.Date(2026, 1, 1, 1, 0, 0, 0, lagos),
	} {
		if got := When(at, now); got != want {
			t.Errorf("When(%s) is %q, want %q", at, got, want)
		}
	}
}

func TestWith(t *testing.T) {
	for _, tc := range []struct{ address, name, value, want string }{
		{"/campaigns/42", "pause", "1", "/campaigns/42?pause=1"},
		{"/campaigns/42?state=sent&pause=1", "pause", "", "/campaigns/42?state=sent"},
		{"/campaigns/42?pause=1", "pause", "", "/campaigns/42"},
		{"/messages?q=a%26b", "after", "9", "/messages?after=9&q=a%26b"},
		{"%zz", "pause", "1", "%zz"},
	} {
		if got := With(tc.address, tc.name, tc.value); got != tc.want {
			t.Errorf("With(%q, %q, %q) is %q, want %q", tc.address, tc.name, tc.value, got, tc.want)
		}
	}
}
