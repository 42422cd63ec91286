package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// TestNothingTypedIsLost: somebody signs out everywhere while a message is being
// written elsewhere. Whoever wrote it signs in again and goes on.
func TestNothingTypedIsLost(t *testing.T) {
	beside(t)
	o := openOffice(t)
	newTab(t, newBrowser(t), o.base).firstRun(o)
	for name, options := range map[string]playwright.BrowserNewContextOptions{
		"with scripts": {},
		"without scripts on a phone": {JavaScriptEnabled: playwright.Bool(false),
			Viewport: &playwright.Size{Width: 390, Height: 844}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTab(t, newBrowser(t), o.base, options)
			p.signIn(adaEmail, adaPassword)
			if options.JavaScriptEnabled == nil {
				p.goesOnElsewhere(o)
			}
			p.goesOnWriting(o)
			p.goesOnUploading(o, options.JavaScriptEnabled == nil)
			p.quiet()
		})
	}
}

// endsElsewhere ends every session of the person, in another browser.
func (p *tab) endsElsewhere(o *office) {
	p.t.Helper()
	other := newTab(p.t, newBrowser(p.t), o.base)
	other.signIn(adaEmail, adaPassword)
	other.open("/me")
	other.press("Sign out everywhere")
	other.do(other.WaitForURL(regexp.MustCompile(`/signin\?done=everywhere$`)))
}

// comesBack signs in on the page to which the press led.
func (p *tab) comesBack(to *regexp.Regexp) {
	p.t.Helper()
	p.sees("What you sent is kept for 1 hour. Nothing was changed or sent.")
	p.fill("Email address", adaEmail)
	p.fill("Password", adaPassword)
	p.press("Sign in")
	p.do(p.WaitForURL(to))
}

// goesOnElsewhere types in one browser and goes on in another.
func (p *tab) goesOnElsewhere(o *office) {
	p.t.Helper()
	p.open("/new")
	p.numbers("0803 000 0001")
	p.do(p.GetByLabel("Message", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).PressSequentially("Come at 9"))
	other := newTab(p.t, newBrowser(p.t), o.base)
	other.signIn(adaEmail, adaPassword)
	waitFor(p.t, patience, "what was typed", func() bool {
		other.open("/new")
		return strings.Contains(other.text("#main"), "“Come at 9”")
	})
	other.picture("written")
	other.follow("Continue this message")
	other.press("Continue")
	other.do(other.WaitForURL(regexp.MustCompile(`/campaigns/\d+/confirm$`)))
	other.sees("0803 000 0001")
}

func (p *tab) goesOnWriting(o *office) {
	p.t.Helper()
	p.open("/new")
	p.numbers("0803 000 0001\n0803 000 0002")
	p.fill("Message", "Dear parents,\n“school” opens at 9.")
	p.endsElsewhere(o)
	p.press("Continue")
	p.comesBack(regexp.MustCompile(`/new\?kept=`))
	text, err := p.GetByLabel("Message", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).InputValue()
	p.do(err)
	if text != "Dear parents,\n“school” opens at 9." {
		p.t.Errorf("the message is %q", text)
	}
	p.press("Continue")
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+/confirm$`)))
	p.sees("Send 2 messages now")
}

func (p *tab) goesOnUploading(o *office, scripts bool) {
	p.t.Helper()
	p.open("/new/list")
	p.endsElsewhere(o)
	file := filepath.Join(p.t.TempDir(), "parents.csv")
	p.do(os.WriteFile(file, []byte("phone,name\n0803 000 0001,Ada\n0803 000 0002,Bola\n"), 0o600))
	p.do(p.Locator("input[type=file]").SetInputFiles([]string{file}))
	if !scripts {
		p.press("Upload")
	}
	p.comesBack(regexp.MustCompile(`/kept\?kept=`))
	p.complaints = nil // of the 401 by which the upload learns that it is signed out
	p.sees("Your file has not been uploaded yet")
	p.sees("parents.csv")
	p.picture("kept")
	p.press("Upload it now")
	p.reaches(atMessage)
}
