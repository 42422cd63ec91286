package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// TestEveryPageIsAccessibleAndFits runs axe (WCAG 2.2 AA and best practice)
// over every page in light and dark, and looks for sideways scrolling from 320
// to 1280 px.
func TestEveryPageIsAccessibleAndFits(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.open("/signin")
	p.firstRun(o)
	p.press("Watch a rehearsal")
	p.rehearsalEnds(true)
	p.compose(
		"Ọ dàbọ̀: a text with letters that cost a part and one_very_long_word_without_any_place_to_break_it_anywhere_at_all",
		"0803 000 0001", "0803 000 0002", "0803 000 0010")

	p.press("Send 3 messages now")
	p.row("0803 000 0001", "Delivered")
	campaign := p.URL()
	p.compose("Lost", "0803 000 0008")
	draft := p.URL()
	p.compose("Later", "0803 000 0001")
	scheduled := p.later("Tomorrow 9:00am", "Schedule for tomorrow at 9:00am")

	p.compose("A text whose answer is lost, and nobody knows", "0803 000 0008")
	p.press("Send 1 message now")
	p.row("0803 000 0008", "Needs your decision")
	doubt := p.URL() + "/doubt"

	password := writeFile(t, "password", adaPassword)
	must(t, binary(t, ""), "--data", o.data, "user", "add", "--email", "bola@example.com", "--name", "Bola Ade", "--role",
		"approver", "--password-file", password)
	p.approveAbove("1")
	p.asksApproval("A text that a second person has to approve", "0803 000 0001", "0803 000 0101")
	waits := p.URL()
	p.compose("Another one to approve", "0803 000 0001", "0803 000 0101")
	ask := p.URL()
	second := newTab(t, b, o.base)
	second.signIn("bola@example.com", adaPassword)
	approver, err := second.Context().StorageState()
	if err != nil {
		t.Fatal(err)
	}

	p.open("/settings/blocked")
	p.fill("Phone numbers", "0803 000 0101, 0803 000 0102, 0803 000 0004")
	p.fill("Note (optional)", "one_very_long_word_without_any_place_to_break_it_anywhere_at_all")
	p.press("Block numbers")
	p.sees("Numbers blocked.")
	p.open("/settings/blocked/3/unblock")
	p.fill("Why are you unblocking this number?", "one_very_long_word_without_any_place_to_break_it_anywhere_at_all")
	p.press("Unblock this number")
	p.open("/settings/tokens")
	p.fill("What is it for?", "one_very_long_word_without_any_place_to_break_it_anywhere_at_all")
	p.press("Create a token")
	p.sees("Token created")

	p.open("/templates/new")
	p.fill("Name", "one_very_long_word_without_any_place_to_break_it_anywhere_at_all")
	p.fill("Text",
		"one_very_long_word_without_any_place_to_break_it_anywhere_at_all ##and_a_mark_that_is_just_as_long_as_it##")
	p.press("Save the draft")
	p.sees("Draft saved in smsdesk.")

	fresh := p.upload("fresh_list_with_one_very_long_name_without_any_place_to_break_it_anywhere_at_all.csv",
		dirtyRows(120))
	dirty := p.upload("dirty.csv", dirtyRows(120))
	p.do2(p.Locator("select[name=sender_id]").SelectOption(playwright.SelectOptionValues{Values: &[]string{"CLINIC"}}))
	p.fill("Message", "Dear ##name##, this is for you and for nobody else. Ọ dàbọ̀ ##Time##")
	p.do2(p.Locator(`[id="field:time"]`).SelectOption(playwright.SelectOptionValues{Values: &[]string{"fixed"}}))
	p.fill("##Time## for everyone", "9:00am")
	p.press("Continue")
	p.sees("rows to fix")

	p.menuFrom("School fee balance")
	p.open("/ussd/menus/1/publish")
	p.press("Publish School fee balance")
	p.menuFrom("Empty menu")
	p.dial("*347*12*1#", "mtn", "0803 000 0102")
	p.sees("Enter the pupil number")
	p.open("/ussd/sessions")
	p.follow("0803 000 0102")
	session := p.URL()
	p.importPeople(peopleFile)
	p.sees("4 added")
	p.open("/contacts?column=paid&op=is&value=no")
	p.fill("Save this filter as an audience. Name", "one_very_long_word_without_any_place_to_break_it_anywhere_at_all")
	p.press("Save audience")
	p.sees("contacts now.")

	p.open("/series/new")
	p.fill("Name", "one_very_long_word_without_any_place_to_break_it_anywhere_at_all")
	p.do2(p.Locator("#audience").SelectOption(playwright.SelectOptionValues{Indexes: &[]int{1}}))
	p.fill("Own text", "one_very_long_word_without_any_place_to_break_it_anywhere_at_all ##Name##")
	p.press("Review the dates")
	p.press("Start the series")
	p.sees("The series is active.")
	coming, err := p.Locator("#coming tbody tr").First().GetAttribute("id")
	p.do(err)
	coming = strings.TrimPrefix(coming, "day-")

	state, err := p.Context().StorageState()
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{"/", campaign + "/breakdown", campaign + "?network=MTN", campaign + "?text=nothing", "/messages",
		"/messages?tile=failed", campaign + "/again", "/messages/2/again", "/new", draft, draft + "?row=1", scheduled,
		scheduled + "/schedule", scheduled + "/schedule?when=hour", scheduled + "/schedule?when=at&day=x", scheduled +
			"/cancel", "/campaigns?state=scheduled", "/campaigns", waits, ask, strings.TrimSuffix(waits, "/approval"),
		strings.TrimSuffix(waits, "/approval") + "/give-up", "/campaigns?state=needs-approval",
		"/campaigns?sender=CLINIC&from=x", "/campaigns?state=finished", "/campaigns?name=nothing", campaign, campaign +
			"?tile=failed", campaign + "/stop", "/messages/1", "/messages/3",
		"/calendar", "/calendar?view=week&at=" + coming, "/series", "/series/new", "/series/1", "/series/1?move=" + coming,
		"/series/1/stop", "/rehearsals/1", "/help", "/me", "/setup/tasks", "/settings/account", "/settings/account/new", "/settings/account/1",
		"/settings/account/1/connection", "/settings/account/1/hours", "/settings/account/1/limits", "/settings/account/1/money",
		"/settings/account/1/advanced",
		"/settings/reports", "/settings/reports/rotate", "/settings/team", "/settings/retention", "/settings/backup",
		"/settings/journal", "/settings/team/1", "/settings/tokens", "/settings/tokens/1/revoke",
		"/new/list", "/new/list?replaces=" + filepath.Base(dirty), fresh + "/message", dirty + "/message", fresh + "/delete",
		dirty + "/check", dirty + "/check?kind=repaired", dirty + "/check?kind=repeat",
		"/contacts", "/contacts?column=paid&op=is&value=no&column=town&op=more&value=x&join=any",
		"/contacts?column=paid&op=is&value=nothing", "/contacts?before=2", "/contacts/3", "/contacts/4", "/contacts/new",
		"/contacts/4/edit", "/contacts/4/delete", "/contacts/import",
		"/contacts/audiences", "/contacts/audiences/new", "/contacts/audiences/1", "/contacts/audiences/1/delete", "/s/AAAAAAAAAAAAAAAAAAAAAA",
		"/settings/blocked", "/settings/blocked?before=2", "/settings/blocked/1/unblock", "/messages/1/block", doubt,
		campaign + "/doubt", "/reports", "/reports?kind=unmatched", "/reports?kind=duplicates", "/reports?kind=refused",
		"/no-such-page",
		"/templates", "/templates?q=nothing", "/templates/105", "/templates/105/edit", "/templates/105/delete",
		"/templates/new", "/templates/drafts/1", "/templates/drafts/1/delete",
		"/senders", "/senders/101", "/senders/101/delete", "/groups", "/groups/new", "/groups/107", "/groups/107/sub", "/groups/107/delete", "/new?group=107",
		"/balance", "/balance?by=network", "/balance?by=month", "/balance?days=90",
		"/ussd", "/ussd/new", "/ussd/menus/1", "/ussd/menus/1?screen=balance&lang=ha", "/ussd/menus/1/screen?key=start",
		"/ussd/menus/1/screen?key=number", "/ussd/menus/1/screen?key=balance", "/ussd/menus/1/screen/remove?key=start",
		"/ussd/menus/1/restore?version=1", "/ussd/menus/1/settings", "/ussd/menus/1/publish", "/ussd/menus/1/versions",
		"/ussd/menus/1/withdraw", "/ussd/menus/1/answers", "/ussd/menus/2", "/ussd/menus/2/publish", "/ussd/menus/2/delete",
		"/ussd/menus/2/answers", "/ussd/simulator", "/ussd/simulator?draft=2", "/ussd/sessions", "/ussd/sessions?kind=open", "/ussd/sessions?kind=slow", session}
	open := func(state *playwright.StorageState) *tab {
		return newTab(t, b, o.base,
			playwright.BrowserNewContextOptions{StorageState: state.ToOptionalStorageState()}).withAxe()
	}
	decide := open(approver)
	decide.open2(waits)
	decide.sees("Approve this campaign?")
	decide.isAccessible("the approver's page")
	view := open(state)
	for _, path := range pages {
		view.open2(path)
		view.isAccessible(path)
	}
	t.Logf("measured: %d pages checked by axe and for sideways scrolling", len(pages)+1)
}

// withAxe has axe in every page that the tab opens from now on. Handed over once: half a
// megabyte for each page anew costs as much as what axe does there.
func (p *tab) withAxe() *tab {
	p.t.Helper()
	axe := filepath.Join("..", ".cache", "axe", "package", "axe.min.js")
	if _, err := os.Stat(axe); err != nil {
		p.t.Fatal("axe-core is not here. Run: make deps")
	}
	p.do(p.AddInitScript(playwright.Script{Path: &axe}))
	return p
}

// isAccessible looks at the page in every width and scheme. It is loaded once:
// its parts depend on neither, and dark is other colours only.
func (p *tab) isAccessible(path string) {
	p.t.Helper()
	for _, width := range []int{1280, 768, 390, 320} {
		p.do(p.SetViewportSize(width, 900))
		p.fits(path, width)
		if width != 1280 && width != 390 {
			continue
		}
		p.do(p.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: playwright.ColorSchemeLight}))
		p.passesAxe(path, "light", width,
			"{type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}")
		p.wholePicture(path, "light", width)
		p.do(p.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: playwright.ColorSchemeDark}))
		p.passesAxe(path, "dark", width, "{type: 'rule', values: ['color-contrast', 'link-in-text-block']}")
		p.wholePicture(path, "dark", width)
	}
}

// wholePicture keeps the whole page in the folder SMSDESK_PICTURES, where it is set.
func (p *tab) wholePicture(path, scheme string, width int) {
	folder := os.Getenv("SMSDESK_PICTURES")
	if folder == "" {
		return
	}
	name := filepath.Join(folder, fmt.Sprintf("%s %d %s.png", strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune("/?&=:", r) {
			return '-'
		}
		return r
	}, strings.TrimPrefix(path, p.base)), "-"), width, scheme))
	p.do2(p.Screenshot(playwright.PageScreenshotOptions{Path: &name, FullPage: playwright.Bool(true)}))
}

// open2 opens a path or a whole address.
func (p *tab) open2(path string) {
	p.t.Helper()
	if path[0] == '/' {
		path = p.base + path
	}
	p.do2(p.Goto(path))
}

func (p *tab) fits(path string, width int) {
	p.t.Helper()
	over, err := p.Evaluate("document.documentElement.scrollWidth - innerWidth")
	p.do(err)
	if fmt.Sprint(over) != "0" {
		p.t.Errorf("%s scrolls horizontally by %v px at %d px", path, over, width)
	}
}

// passesAxe runs the rules that only chooses, as axe's runOnly.
func (p *tab) passesAxe(path, scheme string, width int, only string) {
	p.t.Helper()
	result, err := p.Evaluate(`async () => {
		const r = await axe.run(document, {resultTypes: ['violations'], selectors: false, runOnly: ` + only + `});
		return JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 160))})));
	}`)
	p.do(err)
	var violations []struct {
		ID, Help string
		Nodes    []string
	}
	if err := json.Unmarshal([]byte(result.(string)), &violations); err != nil {
		p.t.Fatal(err)
	}
	for _, v := range violations {
		p.t.Errorf("%s (%s, %d px): %s: %s %q", path, scheme, width, v.ID, v.Help, v.Nodes)
	}
}
