package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
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
	p.choose(writeFile(p.t, name, content))
	p.reaches(atMessage)
	path, _, _ := strings.Cut(strings.TrimPrefix(p.URL(), p.base), "/message")
	return path
}

// A file that is refused takes nothing away of what was typed on the same
// page; another one goes.
func TestARefusedFileKeepsThePage(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	p.open("/new")
	p.fill("Message", "Half a thought")
	p.choose(writeFile(t, "scan.csv", "%PDF-1.7 and so on"))
	p.sees("The selected file must be a CSV, TSV, TXT, XLSX or ODS. Yours is a PDF")
	if text, err := p.Locator("#text").InputValue(); err != nil || text != "Half a thought" {
		t.Errorf("the message is %q, %v", text, err)
	}
	if focus, err := p.Evaluate("document.activeElement.id"); err != nil || focus != "file" {
		t.Errorf("the focus is on %v, %v", focus, err)
	}
	if title, err := p.Title(); err != nil || !strings.Contains(title, "Error: ") {
		t.Errorf("the title is %q, %v", title, err)
	}
	p.choose(writeFile(t, "june.csv", dirtyRows(3)))
	p.reaches(atMessage)
}

// An upload shows how far it is, and Cancel leaves nothing of it.
func TestAnUploadIsCancelled(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	p.open("/new/list")
	line, err := p.Context().NewCDPSession(p.Page)
	p.do(err)
	p.do2(line.Send("Network.enable", nil))
	p.do2(line.Send("Network.emulateNetworkConditions",
		map[string]any{"offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 100 << 10}))
	p.choose(writeFile(t, "slow.csv", "phone\n"+strings.Repeat("08031234567\n", 500_000)))
	p.sees("Uploading slow.csv")
	share := p.Locator(".going > span").Filter(playwright.LocatorFilterOptions{HasText: "%"})
	p.do(share.WaitFor())
	p.picture("list-uploading")
	p.press("Cancel")
	if visible(p.Locator(".going")) {
		t.Error("the progress stays")
	}
	p.do2(p.Reload())
	if n, err := p.Locator("#lists").Count(); err != nil || n != 0 {
		t.Errorf("%d tables of lists, %v", n, err)
	}
	waitFor(t, patience, "nothing left of the file", func() bool {
		left, err := filepath.Glob(filepath.Join(o.data, "lists", "*"))
		return err == nil && len(left) == 0
	})
}

// A file over the limit is refused in words within a second, whether the
// page's script sees its size or the browser just sends it.
func TestAFileOverTheLimit(t *testing.T) {
	beside(t)
	for name, script := range map[string]bool{"with script": true, "without script": false} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(t)
			p := newTab(t, newBrowser(t), o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: &script})
			p.firstRun(o)
			db, err := storage.Open(t.Context(), storage.Config{Data: o.data})
			if err == nil {
				err = errors.Join(db.PutSetting(t.Context(), sms.SettingMaxList, "1048576"), db.Close())
			}
			p.do(err)
			p.open("/new/list")
			p.choose(writeFile(t, "big.csv", "phone\n"+strings.Repeat("08031234567\n", 3_000_000)))
			if !script {
				p.press("Upload")
			}
			p.sees(
				"The selected file must be smaller than 1MB. Yours is 35MB. Remove sheets, pictures and columns you do not need")
		})
	}
}
