package e2e

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"

	"smsdesk/internal/sms"
	"smsdesk/storage"
)

var (
	atMessage  = regexp.MustCompile(`/lists/[0-9a-f]+/message(\?kept=\w+)?$`)
	atConfirm  = regexp.MustCompile(`/campaigns/\d+/confirm$`)
	atCampaign = regexp.MustCompile(`/campaigns/\d+$`)
)

// choose gives the page a file, as a person does who picks or drops it.
func (p *tab) choose(path string) {
	p.t.Helper()
	p.do(p.Locator("input[type=file]").First().SetInputFiles([]string{path}))
}

// pick takes an option by its words in the select with this label.
func (p *tab) pick(label, words string) {
	p.t.Helper()
	p.do2(p.GetByLabel(label, playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).SelectOption(
		playwright.SelectOptionValues{Labels: &[]string{words}}))
}

func (p *tab) reaches(at *regexp.Regexp) {
	p.t.Helper()
	p.do(p.WaitForURL(at))
}

// defaultSender makes CLINIC the sender ID that forms begin with.
func defaultSender(t *testing.T, o *office) {
	t.Helper()
	db, err := storage.Open(context.Background(), storage.Config{Data: o.data})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	accounts, err := db.Accounts(context.Background())
	if err != nil || len(accounts) != 1 {
		t.Fatalf("%d accounts, %v", len(accounts), err)
	}
	_, err = db.UpdateAccount(context.Background(), accounts[0].ID, time.Now().UnixMilli(),
		func(a *sms.Account, _ *sms.Credentials) error {
			a.DefaultSender = "CLINIC"
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

// ordinaryNumber is the nth national number with no fate of its own.
func ordinaryNumber(n int) string { return fmt.Sprintf("0803%07d", 4000000+n) }

// clean writes a list of n rows in which nothing is wrong, each with a text of
// its own, and tells what each number is to get.
func clean(t *testing.T, name string, n int) (path string, want map[string]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("phone,message\n")
	want = map[string]string{}
	for i := range n {
		text := fmt.Sprintf("Row %d: your appointment is on day %d", i, i%28+1)
		fmt.Fprintf(&b, "%s,%s\n", ordinaryNumber(i), text)
		want["234"+ordinaryNumber(i)[1:]] = text
	}
	return writeFile(t, name, b.String()), want
}

// executedOnce compares the sandbox's ledger with what each number was to get.
func executedOnce(t *testing.T, sandbox string, want map[string]string) {
	t.Helper()
	times := map[string]int{}
	for _, e := range ledger(t, sandbox) {
		times[e.Number]++
		if want[e.Number] != e.Text {
			t.Errorf("%s got %q, want %q", e.Number, e.Text, want[e.Number])
		}
	}
	for n := range want {
		if times[n] != 1 {
			t.Errorf("%s was executed %d times", n, times[n])
		}
	}
}

func (p *tab) finishes() {
	p.t.Helper()
	if err := p.GetByText("Finished").First().WaitFor(); err != nil {
		p.t.Fatalf("the campaign never finishes: %s", p.text("main"))
	}
}

// TestACleanListInThreeClicks: 1,200 rows, three pages, three clicks.
func TestACleanListInThreeClicks(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	defaultSender(t, o)
	path, want := clean(t, "june-list.csv", 1200)
	p.open("/campaigns")
	pages := []string{}
	p.OnFrameNavigated(func(f playwright.Frame) {
		if f == p.MainFrame() {
			pages = append(pages, f.URL())
		}
	})
	began := time.Now()
	p.follow("New message")
	p.do(p.WaitForURL(regexp.MustCompile(`/new$`)))
	p.choose(path)
	p.reaches(atMessage)
	p.picture("list-message")
	p.inSight("#check", false)
	p.press("Continue")
	p.reaches(atConfirm)
	p.picture("list-confirm")
	p.press("Send 1,200 messages now")
	p.reaches(atCampaign)
	t.Logf("measured: a clean list of 1,200 rows, from New message to its campaign in %d ms",
		time.Since(began).Milliseconds())
	// Three clicks, and three pages: to write, to send, and the campaign. The first has another address with the file.
	if len(pages) != 4 || !strings.HasSuffix(pages[0], "/new") || !atMessage.MatchString(pages[1]) {
		t.Errorf("the way has %d pages: %v", len(pages), pages)
	}
	p.finishes()
	executedOnce(t, o.sandbox, want)
	p.quiet()
}

// dirty is a German Excel's export: semicolons, Windows-1252, a title above the
// names, numbers written in many ways, and four rows that cannot be sent.
func dirty(t *testing.T) (path string, want map[string]string) {
	t.Helper()
	rows := []string{
		"Beiträge Juni;;",
		"Full Name;Mobile No;Amount due",
		"Ada Jürgens;0803 400 0001;1.200",
		"Bola;8034000002;900",
		"Chidi;+234 (0)803 400 0003;50",
		"Dele;2348034000004.0;75",
		"Efe;2.34803E+12;10",
		"Femi;0803 5S5 0101;10",
		"Gbenga;;10",
		"Hauwa;08034000008 / 08034000009;10",
		"Ada Jürgens;0803 400 0001;1.200",
		"Ify;08034000010;12",
	}
	text := strings.NewReplacer("ä", "\xe4", "ü", "\xfc").Replace(strings.Join(rows, "\r\n") + "\r\n")
	say := func(name, amount string) string { return "Dear " + name + ", you owe " + amount + ". Thank you" }
	return writeFile(t, "beitraege.csv", text), map[string]string{
		"2348034000001": say("Ada Jürgens", "1.200"), "2348034000002": say("Bola", "900"), "2348034000003": say("Chidi", "50"),
		"2348034000004": say("Dele", "75"), "2348034000010": say("Ify", "12")}
}

// mapping fills in the message of the dirty list and leads to its check.
func (p *tab) mapping() {
	p.t.Helper()
	p.reaches(atMessage)
	p.fill("Message", "Dear ##name##, you owe ##amount##. Thank you")
	if button := p.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Update preview"}); visible(button) {
		p.do(button.Click())
	}
	p.pick("##name##", "Full Name")
	p.pick("##amount##", "Amount due")
	p.picture("list-columns")
	p.press("Continue")
	p.sees("Fix them here")
}

// TestADirtyList: columns are chosen, numbers repaired, four rows left out and
// downloaded, the rest sent; with scripts and without.
func TestADirtyList(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	defaultSender(t, o)
	path, want := dirty(t)
	p.open("/new/list")
	p.choose(path)
	p.mapping()
	p.picture("list-check")
	p.inSight("#go-on", false)
	for _, words := range []string{"Excel has shortened this number (2.34803E+12)", `character 7 of "0803 5S5 0101" is S`,
		"Missing: enter a phone number", "Cell has two numbers", "We fixed 4 phone numbers", "1 row is a duplicate"} {
		p.sees(words)
	}
	p.rejected()
	p.press("Leave out 4 rows and continue")
	p.reaches(atConfirm)
	p.sees("Left out")
	p.press("Send 5 messages now")
	p.reaches(atCampaign)
	p.finishes()
	executedOnce(t, o.sandbox, want)
	p.tile("Not sent or closed", "5")
	p.quiet()

	plain := newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false),
		Viewport: &playwright.Size{Width: 390, Height: 844}})
	plain.signIn(adaEmail, adaPassword)
	plain.open("/new/list")
	plain.choose(path)
	plain.press("Upload")
	plain.reaches(atMessage)
	if got, err := plain.Locator("#list select[name='field:name']").InputValue(); err == nil && got == "" {
		t.Error("the columns were not remembered for the same column names")
	}
	plain.mappingWithoutScript()
	plain.sees("All 5 recipients got nearly this text")
	plain.press("Leave out 4 rows and continue")
	plain.onward()
	plain.do(plain.GetByLabel("Send it to them again").Check())
	plain.press("Send 5 messages now")
	plain.reaches(atCampaign)
	waitFor(t, patience, "the second campaign", func() bool { return len(ledger(t, o.sandbox)) == 10 })
}

// mappingWithoutScript does what mapping does, pressing on where a page says
// that work goes on.
func (p *tab) mappingWithoutScript() {
	p.t.Helper()
	p.fill("Message", "Dear ##name##, you owe ##amount##. Thank you")
	p.press("Update preview")
	p.pick("##name##", "Full Name")
	p.pick("##amount##", "Amount due")
	p.press("Continue")
	waitFor(p.t, patience, "the end of the check", func() bool {
		if strings.Contains(p.text("main"), "Fix them here") {
			return true
		}
		p.follow("Refresh")
		return false
	})
}

// onward loads the page again until the confirmation is there.
func (p *tab) onward() {
	p.t.Helper()
	waitFor(p.t, patience, "the confirmation", func() bool {
		if atConfirm.MatchString(p.URL()) {
			return true
		}
		p.do2(p.Reload())
		return false
	})
}

// rejected downloads the bad rows and reads them as their sender would.
func (p *tab) rejected() {
	p.t.Helper()
	download, err := p.ExpectDownload(func() error {
		return p.Locator("#rejected-csv").Click()
	})
	p.do(err)
	path := filepath.Join(p.t.TempDir(), "rejected.csv")
	p.do(download.SaveAs(path))
	raw, err := os.ReadFile(path)
	p.do(err)
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(raw), "\ufeff"))).ReadAll()
	p.do(err)
	if len(rows) != 5 || rows[0][0] != "Full Name" || rows[0][len(rows[0])-1] != "What to fix" {
		p.t.Fatalf("the download is not the bad rows in their layout: %q", rows)
	}
	for i, name := range []string{"Efe", "Femi", "Gbenga", "Hauwa"} {
		if rows[i+1][0] != name || rows[i+1][len(rows[i+1])-1] == "" {
			p.t.Errorf("row %d of the download is %q", i+1, rows[i+1])
		}
	}
}

// TestRowsAreFixedInPlace: the keyboard goes from one wrong cell to the next,
// each is checked at once, and the rest is filled; without scripts a button
// saves what was typed.
func TestRowsAreFixedInPlace(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	defaultSender(t, o)
	path, want := dirty(t)
	p.open("/new/list")
	p.choose(path)
	p.mapping()
	p.inSight("#go-on", false)
	p.do(p.Locator("#cell-7-1").Fill("08034000005"))
	p.do(p.Keyboard().Press("Enter"))
	p.do(p.Locator("#row-7.done").WaitFor())
	p.sees("3 of 10 rows need fixing")
	if at, err := p.Evaluate("document.activeElement.id"); err != nil || at != "cell-8-1" {
		t.Errorf("the keyboard is at %v (%v)", at, err)
	}
	p.do(p.Locator("#cell-8-1").Fill("080340000"))
	p.do(p.Keyboard().Press("Enter"))
	p.sees("Still wrong: too short")
	p.do(p.Locator("#cell-9-1").Fill("08034000007"))
	p.do(p.Keyboard().Press("Tab"))
	p.sees("2 of 10 rows need fixing")
	p.picture("list-fixing")

	plain := newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false),
		Viewport: &playwright.Size{Width: 390, Height: 844}})
	plain.signIn(adaEmail, adaPassword)
	plain.do2(plain.Goto(p.URL()))
	plain.do(plain.Locator("#cell-8-1").Fill("08034000006"))
	plain.press("Save what I typed")
	plain.sees("1 of 10 rows needs fixing")
	plain.do(plain.Locator("#row-8.done").WaitFor())

	// The page of before does not know that, and what is typed last goes with the press.
	p.do(p.Locator("#cell-10-1").Fill("08034000009"))
	p.press("Leave out 2 rows and continue")
	p.reaches(atConfirm)
	p.press("Send 9 messages now")
	p.reaches(atCampaign)
	p.finishes()
	for number, name := range map[string]string{"2348034000005": "Efe", "2348034000006": "Femi", "2348034000007": "Gbenga",
		"2348034000009": "Hauwa"} {
		want[number] = "Dear " + name + ", you owe 10. Thank you"
	}
	executedOnce(t, o.sandbox, want)
	p.quiet()
}

// TestStopAndContinueAList: a running list is stopped, nothing leaves after
// two seconds, and it goes on to the end.
func TestStopAndContinueAList(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	defaultSender(t, o)
	// Long enough that something is left to stop, however slow the machine is.
	setFaults(t, o.sandbox, `{"latency":"3s"}`)
	path, want := clean(t, "long.csv", 3000)
	p.open("/new")
	p.choose(path)
	p.reaches(atMessage)
	p.press("Continue")
	p.reaches(atConfirm)
	p.press("Send 3,000 messages now")
	p.reaches(atCampaign)
	p.follow("Stop sending")
	p.press("Stop sending")
	p.sees("Stopped")
	setFaults(t, o.sandbox, `{"latency":"50ms"}`)
	time.Sleep(4 * time.Second)
	kept := len(ledger(t, o.sandbox))
	time.Sleep(2 * time.Second)
	if n := len(ledger(t, o.sandbox)); n != kept || n >= 3000 {
		t.Fatalf("%d were executed four seconds after Stop, then %d", kept, n)
	}
	t.Logf("measured: stopped after %d of 3,000 messages", kept)
	p.picture("list-stopped")
	p.press("Continue")
	p.finishes()
	executedOnce(t, o.sandbox, want)
	p.quiet()
}

// TestAListByKeyboard: from sign-in to a stopped campaign without a mouse
// (ux 3.1).
func TestAListByKeyboard(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	defaultSender(t, o)
	// Long enough that something is left to stop, however slow the keys are.
	setFaults(t, o.sandbox, `{"latency":"3s"}`)
	path, _ := clean(t, "keys.csv", 1500)
	// Listened for from the start: the driver turns its own file dialog on while
	// the key is already on its way, and the browser's would open now and then.
	opened := make(chan playwright.FileChooser, 1)
	p.OnFileChooser(func(c playwright.FileChooser) { opened <- c })
	p.open("/campaigns")
	p.tabTo("New message")
	p.key("Enter")
	p.do(p.WaitForURL(regexp.MustCompile(`/new$`)))
	p.tabTo("the file")
	p.key("Enter")
	select {
	case chooser := <-opened:
		p.do(chooser.SetFiles([]string{path}))
	case <-time.After(patience):
		t.Fatal("Enter on the file field opens no dialog")
	}
	p.reaches(atMessage)
	p.tabTo("Continue")
	p.key("Enter")
	p.reaches(atConfirm)
	if n := p.tabTo("Send 1,500 messages now"); n > 40 {
		t.Errorf("%d presses of Tab to the Send button", n)
	}
	p.key("Enter")
	p.reaches(atCampaign)
	p.tabTo("Stop sending")
	p.key("Enter")
	p.do(p.WaitForURL(regexp.MustCompile(`/stop$`)))
	p.tabTo("Stop sending")
	p.key("Enter")
	p.sees("Stopped")
	p.quiet()
}

func (p *tab) key(name string) {
	p.t.Helper()
	p.do(p.Keyboard().Press(name))
}

// tabTo presses Tab until what has the focus bears the words, and says how
// often.
func (p *tab) tabTo(words string) int {
	p.t.Helper()
	seen := []string{}
	for n := 1; n <= 80; n++ {
		p.key("Tab")
		got, err := p.Evaluate(
			`() => { const e = document.activeElement; return e.id === 'file' ? 'the file' : (e.innerText || e.value || e.name || '').trim() }`)
		p.do(err)
		if got == words {
			return n
		}
		seen = append(seen, fmt.Sprint(got))
	}
	p.t.Fatalf("Tab never reaches %q on %s: %q", words, p.URL(), seen)
	return 0
}

// TestRowsAreMadeOfOneWithTwoNumbers: a cell with two numbers becomes two rows by
// one press, by keyboard and without scripts, and each number gets its message
// once.
func TestRowsAreMadeOfOneWithTwoNumbers(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	defaultSender(t, o)
	path := filepath.Join(t.TempDir(), "pairs.csv")
	list := "phone,name\n08034000001 / 08034000002,Ada\n08034000003,Bola\n0803 400 0004 or 0803 400 0005,Chidi\n" +
		"\"08034000006, 08034000007, 08034000008\",Dayo\n"
	if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	p.open("/new/list")
	p.choose(path)
	p.reaches(atMessage)
	p.fill("Message", "Dear ##name##")
	p.press("Continue")
	p.sees("3 rows have several numbers in one cell.")
	p.do(p.Locator("#split-2").Focus())
	p.do(p.Keyboard().Press("Enter"))
	p.sees("Row 6 was made of row 2.")
	p.sees("2 of 5 rows need fixing")
	p.picture("list-two-rows")

	plain := newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false),
		Viewport: &playwright.Size{Width: 390, Height: 844}})
	plain.signIn(adaEmail, adaPassword)
	plain.do2(plain.Goto(p.URL()))
	plain.press("Give each number its own row")
	plain.settles("8 messages are ready")
	plain.sees("Rows 6 to 9 were made of rows with several numbers.")
	plain.do2(plain.Goto(p.URL() + "?kind=corrected"))
	plain.do(plain.Locator("#row-2 button").Click())
	plain.settles("1 of 7 rows needs fixing")
	plain.press("Make two rows of row 2")
	plain.settles("8 messages are ready")

	p.do2(p.Reload())
	p.press("Continue with 8 messages")
	p.reaches(atConfirm)
	p.press("Send 8 messages now")
	p.reaches(atCampaign)
	p.finishes()
	want := map[string]string{"2348034000003": "Dear Bola"}
	for n, name := range map[int]string{1: "Ada", 2: "Ada", 4: "Chidi", 5: "Chidi", 6: "Dayo", 7: "Dayo", 8: "Dayo"} {
		want[fmt.Sprintf("234803400000%d", n)] = "Dear " + name
	}
	executedOnce(t, o.sandbox, want)
	p.quiet()
}

// settles waits, without scripts, until the rows of a list were checked again.
func (p *tab) settles(words string) {
	p.t.Helper()
	waitFor(p.t, patience, words, func() bool {
		if visible(p.GetByText(words).First()) {
			return true
		}
		p.do2(p.Reload())
		return false
	})
}
