package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"

	"smsdesk/internal/sms"
	"smsdesk/storage"
)

// dirtyRows is a list with 4 rows to fix, one number twice and every third number
// written with spaces.
func dirtyRows(n int) string {
	var list strings.Builder
	list.WriteString("phone number,name,date of the appointment\n")
	for i := range n {
		number, name := fmt.Sprintf("0803123%04d", i), "Ada Obi"
		switch {
		case i == 12:
			number = "080312345"
		case i == 29:
			number = "2.34803E+12"
		case i == 75:
			name = ""
		case i == 96:
			number = "0803 5S5 0101"
		case i == 99:
			number = "08031230098"
		case i%3 == 0:
			number = fmt.Sprintf("0803 123 %04d", i)
		}
		fmt.Fprintf(&list, "%s,%s,%d June\n", number, name, i%30+1)
	}
	return list.String()
}

// upload chooses a file on the page for lists, which with script is all that
// there is to do, and returns the path of the list.
func (p *tab) upload(name, content string) string {
	p.t.Helper()
	p.open("/new/list")
	p.choose(name, content)
	p.do(p.WaitForURL(regexp.MustCompile(`/lists/[0-9a-f]{32}/message$`)))
	return strings.TrimSuffix(strings.TrimPrefix(p.URL(), p.base), "/message")
}

func (p *tab) choose(name, content string) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.do(p.Locator("input[type=file]").SetInputFiles(file))
}

func (p *tab) from(sender string) {
	p.t.Helper()
	p.do2(p.Locator("select[name=sender_id]").SelectOption(playwright.SelectOptionValues{Values: &[]string{sender}}))
}

// TestACleanListInFourPagesAndFourClicks: New message, the file, Check, Send.
func TestACleanListInFourPagesAndFourClicks(t *testing.T) {
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	p.open("/settings/account/1")
	p.do2(p.Locator("select[name=default_sender]").SelectOption(playwright.SelectOptionValues{Values: &[]string{"CLINIC"}}))
	p.press("Save")
	var list strings.Builder
	list.WriteString("Phone,First name,Date\n")
	for i := range 1200 {
		fmt.Fprintf(&list, "0803123%04d,Ada,%d June\n", i, i%30+1)
	}
	p.open("/campaigns")
	var pages []string
	p.OnFrameNavigated(func(f playwright.Frame) { pages = append(pages, strings.TrimPrefix(f.URL(), p.base)) })
	p.follow("New message")
	p.sees("To many people")
	p.choose("june-list.csv", list.String())
	p.do(p.WaitForURL(regexp.MustCompile(`/message$`)))
	p.fill("Message", "Dear ##First name##, your appointment is on ##Date##.")
	p.sees("Dear Ada, your appointment is on 1 June.")
	p.press("Check 1,200 rows")
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+/confirm$`)))
	p.press("Send 1,200 messages now")
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
	want := regexp.MustCompile(`^/new /lists/[0-9a-f]{32}/message /campaigns/\d+/confirm /campaigns/\d+$`)
	if got := strings.Join(pages, " "); !want.MatchString(got) {
		t.Errorf("the way was %s", got)
	}
	p.calm()
}

// TestADirtyList: what is wrong is seen at its cell, the rows to fix are
// downloaded, the others go.
func TestADirtyList(t *testing.T) {
	for name, script := range map[string]bool{"with script": true, "without script": false} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(t)
			p := newTab(t, newBrowser(t), o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: &script, AcceptDownloads: playwright.Bool(true)})
			p.firstRun(o)
			p.open("/new/list")
			p.choose("scan.csv", "%PDF-1.7 and so on")
			p.go1(script)
			p.sees("The selected file must be a CSV, TSV, TXT or XLSX. Yours is a PDF")
			p.choose("june.csv", dirtyRows(1200))
			p.go1(script)
			p.do(p.WaitForURL(regexp.MustCompile(`/message$`)))
			p.from("CLINIC")
			p.fill("Message", "Dear ##name##, your appointment is on ##when##.")
			if !script {
				p.press("Show preview")
			}
			p.do2(p.GetByLabel("##when##").SelectOption(playwright.SelectOptionValues{Labels: &[]string{"date of the appointment"}}))
			p.press("Check 1,200 rows")
			p.do(p.WaitForURL(regexp.MustCompile(`/check$`)))
			p.sees("4 rows to fix, out of 1,200")
			for row, fault := range map[string]string{"14": "Too short: has 9 digits, needs 11", "31": "Excel has shortened this number", "77": "Missing: enter a name", "98": "has S in place 7"} {
				if cell := p.text("#row-" + row + " .cell-err b"); !strings.Contains(cell, fault) {
					t.Errorf("row %s says %q", row, cell)
				}
			}
			p.sees("We fixed 396 phone numbers.")
			p.picture("check " + name)
			file, err := p.ExpectDownload(func() error { return p.Locator("#rejected-csv").Click() })
			p.do(err)
			path, err := file.Path()
			p.do(err)
			saved, err := os.ReadFile(path)
			if err != nil || strings.Count(string(saved), "\n") != 5 {
				t.Errorf("%v, saved as %q: %s", err, file.SuggestedFilename(), saved)
			}
			p.press("Leave out 4 rows and continue")
			p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+/confirm$`)))
			p.press("Send 1,196 messages now")
			p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
			p.calm()
		})
	}
}

// go1 presses what only a browser without script shows.
func (p *tab) go1(script bool) {
	p.t.Helper()
	if !script {
		p.press("Upload")
	}
}

// calm fails the test when the browser complained about more than refused
// forms.
func (p *tab) calm() {
	p.t.Helper()
	for _, c := range p.complaints {
		if !strings.Contains(c, "422") {
			p.t.Errorf("the browser complains: %s", c)
		}
	}
}

// A file over the limit is refused in words within a second, whether the
// page's script sees its size or the browser just sends it.
func TestAFileOverTheLimit(t *testing.T) {
	for name, script := range map[string]bool{"with script": true, "without script": false} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(t)
			p := newTab(t, newBrowser(t), o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: &script})
			p.firstRun(o)
			db, err := storage.Open(t.Context(), storage.Config{Data: o.data})
			if err == nil {
				err = errors.Join(db.PutSetting(t.Context(), sms.SettingListMost, "1048576"), db.Close())
			}
			p.do(err)
			p.open("/new/list")
			p.choose("big.csv", "phone\n"+strings.Repeat("08031234567\n", 3_000_000))
			p.go1(script)
			p.sees("The selected file must be smaller than 1MB. Yours is 35MB. Remove sheets, pictures and columns you do not need")
		})
	}
}
