package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// parents imports two contacts and saves them as an audience.
func (p *tab) parents(numbers ...string) {
	p.t.Helper()
	p.open("/contacts/import")
	p.choose(writeFile(p.t, "parents.csv", "phone,name\n"+strings.Join(numbers, ",Ada\n")+",Bola\n"))
	p.do(p.WaitForURL(regexp.MustCompile(`/contacts/import/\w+$`)))
	p.do(p.Locator("main button.btn:not(.quiet)").Last().Click())
	p.do(p.WaitForURL(regexp.MustCompile(`/contacts\?list=`)))
	p.open("/contacts/audiences/new")
	p.fill("Name of the audience", "Parents")
	p.press("Save audience")
	p.sees("Saved.")
}

// tabbed presses Tab from the top of the page to the last of these elements. They
// must come in this order, and nothing that has the focus may be under the bar.
func (p *tab) tabbed(want ...string) {
	p.t.Helper()
	p.do2(p.Evaluate("document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)"))
	p.do2(p.Evaluate("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')"))
	var seen []string
	for range 120 {
		p.do(p.Keyboard().Press("Tab"))
		found, err := p.Evaluate(`() => {
			const e = document.activeElement, deck = document.getElementById('deck');
			const at = e.getBoundingClientRect(), bar = deck.getBoundingClientRect();
			const under = !deck.contains(e) && at.left >= bar.left && !e.matches('.way-in') &&
				at.height < 300 && at.height > 1 && at.bottom > bar.top + 1 && at.top < bar.bottom;
			return [e.id, under ? e.outerHTML.slice(0, 80) : ''];
		}`)
		p.do(err)
		got := found.([]any)
		if under := fmt.Sprint(got[1]); under != "" {
			p.t.Errorf("%s: under the bar has the focus: %s", p.URL(), under)
		}
		seen = append(seen, fmt.Sprint(got[0]))
		if got[0] == want[len(want)-1] {
			break
		}
	}
	from := 0
	for _, id := range want {
		at := slices.Index(seen[from:], id)
		if at < 0 {
			p.t.Errorf("%s: %q does not come after %q in %q", p.URL(), id, want[:slices.Index(want, id)], seen)
			return
		}
		from += at
	}
}

// TestEveryWayIsThreePages: a clean list goes out from its first page in three
// presses with own text, with a template and to an audience alike, and the
// primary action of every page on the way is in sight. Without scripts a file
// goes up with the message that is written beside it, and leads straight on.
func TestEveryWayIsThreePages(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	defaultSender(t, o)
	p.parents("08034000101", "08034000102")
	plain := newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false)})
	plain.signIn(adaEmail, adaPassword)
	for i, p := range []*tab{p, plain} {
		scripts := p != plain
		for _, way := range []string{"own text", "template", "audience"} {
			presses, number := 0, 0
			press := func(words string) {
				t.Helper()
				presses++
				p.press(words)
			}
			p.open("/campaigns")
			presses++
			p.follow("New message")
			p.do(p.WaitForURL(regexp.MustCompile(`/new$`)))
			p.inSight("#check", false)
			if way == "audience" {
				number = 2
				p.do(p.Locator(`label[for="way-audience"]`).Click())
				p.do(p.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Parents"}).First().Click())
			} else {
				number = 3
				rows := "phone,name,date,place\n"
				for n := range number {
					rows += fmt.Sprintf("%s,Ada %d,Monday,Room 4\n", ordinaryNumber(1000*(i+1)+100*len(way)+n), n)
				}
				p.choose(writeFile(t, "june.csv", rows))
			}
			if scripts || way == "audience" {
				p.reaches(atMessage)
				p.inSight("#check", false)
			}
			if way == "template" {
				p.do2(p.Locator("select[name=template]").SelectOption(
					playwright.SelectOptionValues{Labels: &[]string{"Results ready"}}))
				if scripts {
					p.do(p.Locator(`[id="field:place"]`).WaitFor())
				}
			} else {
				p.fill("Message", fmt.Sprintf("Dear ##name##, come at nine (%s, %d).", way, i))
			}
			if scripts || way == "audience" {
				press("Continue")
			} else {
				press("Upload and continue")
			}
			p.onward()
			p.inSight("#send-now", false)
			press(fmt.Sprintf("Send %d messages now", number))
			p.reaches(atCampaign)
			const most = 3
			t.Logf("%s, scripts %t: %d presses", way, scripts, presses)
			if presses > most {
				t.Errorf("%s, scripts %t: %d presses, want %d", way, scripts, presses, most)
			}
		}
		p.quiet()
	}
}

// TestSourcesAddUpInABrowser: a file, typed numbers and an audience get one
// message each, whoever is in two of them once; a group sets them aside.
func TestSourcesAddUpInABrowser(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	defaultSender(t, o)
	p.parents("08034000101", "08034000102")
	plain := newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false),
		Viewport: &playwright.Size{Width: 390, Height: 844}})
	plain.signIn(adaEmail, adaPassword)
	want := map[string]string{}
	for i, p := range []*tab{p, plain} {
		text := fmt.Sprintf("School opens at %d.", 8+i)
		file := writeFile(t, "june.csv", "phone,name\n08034000101,Ada\n08034000103,Chidi\n")
		p.open("/new")
		p.numbers("0803 400 0103\n0803 400 0104")
		p.fill("Message", text)
		p.do(p.Locator(`label[for="way-file"]`).Click())
		p.choose(file)
		if p == plain {
			p.press("Upload")
		}
		p.reaches(atMessage)
		p.sees("2 from the file + 2 typed =")
		p.do(p.Locator(`label[for="way-audience"]`).Click())
		p.press("Parents")
		p.sees("2 from the file + 2 typed + 2 in Parents =")
		p.sees("numbers, 2 twice")
		p.inSight("#check", false)
		p.do(p.Locator(`label[for="way-group"]`).Click())
		p.do(p.Locator(".of-group .picks button").First().Click())
		p.sees("Set aside: june.csv and 2 typed numbers.")
		p.inSight("#check", false)
		p.press("Bring that back")
		p.reaches(atMessage)
		p.sees("numbers, 2 twice")
		p.picture("sources")
		p.press("Continue")
		waitFor(t, patience, "the check", func() bool { return strings.Contains(p.text("main"), "Rows 4 to 5 are of") })
		p.sees("2 rows are duplicates")
		p.inSight("#go-on", false)
		p.press("Continue with 4 messages")
		p.onward()
		p.press("Send 4 messages now")
		p.reaches(atCampaign)
		waitFor(t, patience, "the messages", func() bool { return len(ledger(t, o.sandbox)) == 4*(i+1) })
		for n := range 4 {
			want[fmt.Sprintf("234803400010%d/%s", n+1, text)] = text
		}
	}
	times := map[string]int{}
	for _, e := range ledger(t, o.sandbox) {
		times[e.Number+"/"+e.Text]++
	}
	for key := range want {
		if times[key] != 1 {
			t.Errorf("%s was executed %d times", key, times[key])
		}
	}
	p.quiet()
}

// TestTabsFollowTheReading: on each page of the flow Tab goes from the top to the
// primary action in the order in which one reads.
func TestTabsFollowTheReading(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	defaultSender(t, o)
	p.open("/new")
	p.numbers("0803 400 0001")
	p.fill("Message", "Come “at” nine.")
	p.do(p.Locator("#plain").WaitFor())
	p.tabbed("way-numbers", "numbers", "sender_id", "template", "text", "plain", "check")
	path, _ := dirty(t)
	p.open("/new/list")
	p.choose(path)
	p.reaches(atMessage)
	p.fill("Message", "Dear ##name##, you owe ##amount##. Thank you")
	p.do(p.Locator(`[id="field:name"]`).WaitFor())
	p.pick("##name##", "Full Name")
	p.pick("##amount##", "Amount due")
	p.do(p.Locator("#see-longest").WaitFor())
	p.tabbed("without", "way-numbers", "sender_id", "template", "text", "message", "field:name", "field:amount", "see-longest",
		"check")
	p.press("Continue")
	p.sees("Fix them here")
	p.tabbed("cell-7-1", "cell-8-1", "cell-9-1", "cell-10-1", "split-10", "go-on")
	p.press("Leave out 4 rows and continue")
	p.reaches(atConfirm)
	p.tabbed("name", "send-now")
	p.quiet()
}
