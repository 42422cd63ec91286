package views

import (
	"strings"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// MenuRow is one menu of the list.
type MenuRow struct {
	ussd.Draft
	Problems int  // that stop publishing
	Newer    bool // the draft differs from what is published
}

// dial is a code as people dial it.
func dial(code string) string { return "*" + code + "#" }

// dialled says how callers reach a menu.
func dialled(m ussd.Menu) string {
	if m.Code == "" {
		return "No short code yet. " + networks(m) + "."
	}
	return "Dialled as " + dial(m.Code) + ". " + networks(m) + "."
}

// inShort is the same for a table.
func inShort(m ussd.Menu) string {
	if m.Code == "" {
		return "No short code yet"
	}
	return Shorten(dial(m.Code)+", "+strings.ToLower(networks(m)[:1])+networks(m)[1:], 30)
}

// inOneLine is the beginning of a screen's text for the outline.
func inOneLine(text string) string {
	return Shorten(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " · "), 90)
}

func networks(m ussd.Menu) string {
	if len(m.Networks) == 0 {
		return "All networks"
	}
	return and(m.Networks)
}

func (r MenuRow) state() (Tone, Glyph, string) {
	switch {
	case r.Published == 0:
		return ToneMute, GlyphTemplate, "Draft"
	case r.Newer:
		return ToneInfo, GlyphWaiting, "Version " + Number(r.Published) + " published, draft changed"
	}
	return ToneOK, GlyphDelivered, "Version " + Number(r.Published) + " published"
}

// MenusPage lists an account's menus.
type MenusPage struct {
	Formatter
	Rows      []MenuRow
	MayEdit   bool
	NoAccount bool
}

// ussdTabs are the pages about USSD; who may not send may not dial either.
func ussdTabs(f PageFrame, here string) []Tab {
	tabs := []Tab{{Text: "Menus", Href: USSDPath, Current: here == "menus"}}
	if f.CanSend {
		tabs = append(tabs, Tab{Text: "Simulator", Href: SimulatorPath, Current: here == "simulator"})
	}
	return append(tabs, Tab{Text: "Sessions", Href: SessionsPath, Current: here == "sessions"})
}

// inSimulator leads to the simulator, for who may dial.
func inSimulator(f PageFrame, menu int64) Link {
	to := Link{Text: "Open the simulator", Href: SimulatorPath}
	switch {
	case !f.CanSend:
		return Link{}
	case menu > 0:
		to.Href = With(SimulatorPath, "draft", id(menu))
	}
	return to
}

// NewMenuPage begins a menu: from an example, from a file, or empty.
type NewMenuPage struct {
	Chosen string
	Bad    sms.Invalid
}

func (p NewMenuPage) options() (list []Option) {
	about := []string{"Callers can stop and restart messages, and check their last message.",
		"Callers enter a pupil number and see the balance from a table in the menu. In English and Hausa.",
		"Asks three questions, saves the answers and adds callers to a sign-up list."}
	for i, m := range ussd.Examples() {
		list = append(list, Option{Value: Number(i), Label: m.Name, Hint: about[i]})
	}
	return append(list, Option{Value: "empty", Label: "Empty menu", Hint: "Starts with one screen."},
		Option{Value: "file", Label: "From a file", Hint: "A file downloaded from smsdesk."})
}

// MenuPage is the editor: the outline of the screens and one of them on a
// phone.
type MenuPage struct {
	Formatter
	ussd.Draft
	Newer   bool
	Found   []ussd.Problem
	Shown   MenuPreview
	MayEdit bool
	Bad     sms.Invalid
}

// MenuPreview is one screen as a phone shows it.
type MenuPreview struct {
	Key, Title, Language string
	Pages                []string
	Long                 ussd.Length
	Languages            []ussd.Language
	Base                 string // address without the language
}

func (p MenuPreview) count() string {
	words := Number(p.Long.Units) + " of " + Number(p.Long.Most()) + " characters with the longest values"
	if p.Long.Unicode {
		words += ", because of special characters"
	}
	if len(p.Pages) > 1 {
		words += ". Shown on " + Plural(len(p.Pages), "page", "pages")
	}
	return words
}

// outlined is a screen of the outline with its depth: that of the shortest way
// from the first.
type outlined struct {
	ussd.Screen
	depth int
	no    int
	last  bool
}

func (p MenuPage) outline() []outlined {
	depth := map[string]int{}
	if len(p.Menu.Screens) > 0 {
		depth[p.Menu.Screens[0].Key] = 0
	}
	for range p.Menu.Screens {
		for _, s := range p.Menu.Screens {
			d, reached := depth[s.Key]
			if !reached {
				continue
			}
			for _, key := range s.Exits() {
				if old, known := depth[key]; !known || d+1 < old {
					depth[key] = d + 1
				}
			}
		}
	}
	list := make([]outlined, len(p.Menu.Screens))
	for i, s := range p.Menu.Screens {
		list[i] = outlined{s, min(depth[s.Key], 4), i, i == len(p.Menu.Screens)-1}
	}
	return list
}

func (p MenuPage) title(key string) string {
	s, ok := p.Menu.Screen(key)
	if !ok {
		return "nowhere"
	}
	return screenTitle(s)
}

func screenTitle(s ussd.Screen) string {
	if s.Title == "" {
		return s.Key
	}
	return s.Title
}

func screenPath(menu int64, key string) string {
	return With(MenuPath(menu)+"/screen", "key", key)
}

func removePath(menu int64, key string) string {
	return With(MenuPath(menu)+"/screen/remove", "key", key)
}

func restorePath(menu int64, version int) string {
	return With(MenuPath(menu)+"/restore", "version", Number(version))
}

func expects(k ussd.Kind) string {
	switch k {
	case ussd.Choose:
		return "Choices"
	case ussd.Ask:
		return "Typed answer"
	case ussd.Pick:
		return "List"
	case ussd.Finish:
		return "End"
	}
	return "Unknown"
}

func deedWords(a ussd.Action) string {
	switch a.Kind {
	case ussd.Block:
		return "Blocks the caller's number"
	case ussd.Unblock:
		return "Unblocks the caller's number"
	case ussd.Join:
		return "Adds the caller to the list " + a.List
	case ussd.Status:
		return "Gets the last message's status as ##" + a.Into + "##"
	case ussd.LookUp:
		return "Looks up ##" + a.By + "## in the table " + a.Table
	case ussd.Call:
		return "Calls the webhook for ##" + a.Into + "##"
	}
	return "Unknown"
}

// PublishPage asks before callers get a menu.
type PublishPage struct {
	ussd.Draft
	Found   []ussd.Problem
	Changes []ussd.Change
	Bad     sms.Invalid
}

// VersionsPage lists what callers walked through.
type VersionsPage struct {
	Formatter
	ussd.Draft
	Versions []ussd.Version // the newest first
	MayEdit  bool
}

func (p VersionsPage) changes(i int) []ussd.Change {
	if i+1 >= len(p.Versions) {
		return nil
	}
	return ussd.Diff(p.Versions[i+1].Menu, p.Versions[i].Menu)
}

// RestorePage asks before a version takes the place of the draft.
type RestorePage struct {
	ussd.Draft
	Version ussd.Version
	Changes []ussd.Change // from the draft to the version
}

func changeWords(c ussd.Change) string {
	switch {
	case c.Screen != "":
		return "Screen " + c.Title + ": " + c.What
	case c.What == "moved":
		return c.Title + " changed"
	}
	return c.Title + " changed"
}

// AskMenuPage asks before a menu is withdrawn or deleted.
type AskMenuPage struct {
	ussd.Draft
	Delete bool
	Bad    sms.Invalid
}

func problemTone(found []ussd.Problem) Tone {
	if ussd.Stops(found) {
		return ToneBad
	}
	return ToneWarn
}

func problemTitle(found []ussd.Problem) string {
	if ussd.Stops(found) {
		return "Fix before publishing"
	}
	return "Warnings"
}

func previewChips(p MenuPreview) (chips []Chip) {
	for _, l := range p.Languages {
		c := Chip{Text: l.Name, Href: With(p.Base, "lang", l.Code)}
		if l.Code == p.Language {
			c.Href, c.Glyph = "", GlyphTick
		}
		chips = append(chips, c)
	}
	return chips
}

func previewFrom(p MenuPreview, i int) string {
	if len(p.Pages) > 1 {
		return p.Title + ", page " + Number(i+1)
	}
	return p.Title
}
