package lists_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/desk"
	"smsdesk/internal/lists"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// importer starts the loop that works on lists.
func (r *kit) importer() {
	r.T.Helper()
	r.importerOn(r.DB)
}

func (r *kit) importerOn(store lists.ImporterStore) {
	r.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	im := lists.NewImporter(r.Desk.Lists, store)
	go func() { done <- im.Run(ctx) }()
	r.T.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.T.Errorf("importer: %v", err)
		}
	})
}

func (r *kit) upload(name, content string) sms.List {
	r.T.Helper()
	l, err := r.Desk.UploadList(r.Ctx, r.By, lists.UploadOrder{AccountID: r.Account.ID, FileName: name,
		Token: desk.NewToken()}, strings.NewReader(content))
	if err != nil {
		r.T.Fatal(err)
	}
	return l
}

// order is what the desk proposes, with a sender ID and a text.
func order(l sms.List, text string) sms.ListOrder {
	o := l.Order
	o.SenderID, o.Text = "CLINIC", text
	if text != "" {
		o.Message = -1
		for _, m := range sms.Placeholders(text) {
			for i, c := range l.Reading.Columns {
				if sms.PlaceholderKey(c) == sms.PlaceholderKey(m) {
					o.Fields[sms.PlaceholderKey(m)] = i
				}
			}
		}
	}
	return o
}

// settled waits until a list needs a person, or has its campaign.
func (r *kit) settled(uid string) sms.List {
	r.T.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		l, err := r.DB.List(r.Ctx, uid)
		if err != nil {
			r.T.Fatal(err)
		}
		if l.State != sms.ListChecking && l.State != sms.ListMaking {
			return l
		}
		if time.Now().After(deadline) {
			r.T.Fatalf("list is still %s", l.State)
		}
	}
}

func (r *kit) checked(l sms.List, o sms.ListOrder) sms.List {
	r.T.Helper()
	if _, err := r.Desk.CheckList(r.Ctx, r.By, l.UID, l.Version, o); err != nil {
		r.T.Fatal(err)
	}
	return r.settled(l.UID)
}

func (r *kit) made(l sms.List, m lists.MakeOrder) sms.List {
	r.T.Helper()
	if _, err := r.Desk.MakeCampaign(r.Ctx, r.By, l.UID, l.Version, m); err != nil {
		r.T.Fatal(err)
	}
	return r.settled(l.UID)
}

func (r *kit) listMessages(campaign int64) []sms.Message {
	r.T.Helper()
	list, _, err := r.DB.Messages(r.Ctx, sms.MessageFilter{CampaignID: campaign, Limit: 10_000})
	if err != nil {
		r.T.Fatal(err)
	}
	return list
}

func TestACleanListGoesStraightToItsCampaign(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	l := r.upload(`C:\Users\Ada\june-list.csv`, "Phone,First name\n08031234567,Ada\n08031234568,Bola\n")
	if l.FileName != "june-list.csv" || l.State != sms.ListUploaded || l.Order.Phone != 0 {
		t.Fatalf("%+v", l)
	}
	l = r.checked(l, order(l, "Dear ##First name##, we are closed on Monday."))
	if l.State != sms.ListMade || l.CampaignID == 0 {
		t.Fatalf("%+v", l)
	}
	c, err := r.DB.Campaign(r.Ctx, l.CampaignID)
	if err != nil || c.State != sms.CampaignDraft || c.Recipients != 2 || c.Parts != 2 || c.Name != "june-list" ||
		c.ListID != l.ID || c.CallsPairs+c.CallsText != 1 || c.Text != "" {
		t.Fatalf("%+v %v", c, err)
	}
	var got []string
	for _, m := range r.listMessages(c.ID) {
		got = append(got, fmt.Sprintf("%d %s %s %s %d", m.Row, m.Number, m.Text, m.State, m.Call))
	}
	want := "[2 2348031234567 Dear Ada, we are closed on Monday. draft 0 3 2348031234568 Dear Bola, we are closed on Monday. draft 0]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v", got)
	}
}

func (r *kit) leftovers() []string {
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(r.DB.ListFolder("x")), "*"))
	return found
}

func TestWhatIsRefusedLeavesNothingBehind(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	for name, content := range map[string]string{"": "", "a.csv": "%PDF-1.4 x", "b.csv": "phone,name\n"} {
		_, err := r.Desk.UploadList(r.Ctx, r.By, lists.UploadOrder{AccountID: r.Account.ID, FileName: name,
			Token: desk.NewToken()}, strings.NewReader(content))
		if err == nil {
			t.Errorf("%q was taken", content)
		}
		t.Log(err)
	}
	if left := r.leftovers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// dirty is a list of the kind that people have.
const dirty = `Phone,First name,Date
0803 123 4501,Ada,3 June
8031234502,Bola,4 June
080312345,Chidi,5 June
,Dayo,5 June
08031234504,,6 June
08031234505,Ẹni,#N/A
0803 5S5 0101,Femi,7 June
08031234501,Ada,3 June
08031234502,Gbenga,8 June
08031234506,Blocked,8 June
2.34803E+12,Hauwa,9 June
08031234507;08031234508,Ife,9 June
`

func (r *kit) notes(uid string, kinds ...sms.RowKind) (list []string) {
	r.T.Helper()
	f := sms.RowFilter{Kinds: kinds, Limit: 2}
	for {
		notes, more, err := r.DB.ListNotes(r.Ctx, uid, f)
		if err != nil {
			r.T.Fatal(err)
		}
		for _, n := range notes {
			list = append(list, fmt.Sprintf("%d %s %d %s", n.Row, n.Kind, n.Column, n.Text))
			f.After = n.Row
		}
		if !more {
			return list
		}
	}
}

func TestADirtyListSaysWhatIsWrongWithEachRow(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.Block("08031234506")
	r.importer()
	l := r.upload("dirty.csv", dirty)
	if l.Total != 12 {
		t.Errorf("%d rows were counted", l.Total)
	}
	l = r.checked(l, order(l, "Dear ##First name##, see you on ##Date##."))
	if l.State != sms.ListChecked || l.Tally.Rows != 12 || l.Tally.Good != 3 || l.Tally.Bad() != 7 ||
		l.Tally.LeftOut() != 2 {
		t.Fatalf("%s %+v", l.State, l.Tally)
	}
	want := []string{
		"4 number 0 Too short: has 9 digits, needs 11",
		"5 missing 0 Missing: enter a phone number",
		"6 missing 1 Missing: enter a first name",
		"7 text 2 Cell shows the formula error #N/A. Fix the formula",
		`8 number 0 Contains letters: character 7 of "0803 5S5 0101" is S`,
		"12 number 0 Excel has shortened this number (2.34803E+12), so its last digits are lost. Set the column to Text and re-enter the number",
		"13 number 0 Cell has two numbers. Put each on its own row",
	}
	if d := cmp.Diff(want, r.notes(l.UID)); d != "" {
		t.Errorf("bad rows (-want +got):\n%s", d)
	}
	blocked := r.notes(l.UID, sms.RowBlocked)
	if len(blocked) != 1 || !strings.HasPrefix(blocked[0], "11 blocked 0 Number blocked since ") {
		t.Errorf("%q", blocked)
	}
	want = []string{"2 repaired 0 Removed spaces", "3 repaired 0 Added the missing 0",
		"9 repeat 0 Same number and message as row 2", "10 othertext 0 This number is also in row 3"}
	if d := cmp.Diff(want, r.notes(l.UID, sms.RowRepeat, sms.RowOtherText, sms.RowRepaired, sms.RowLonger)); d != "" {
		t.Errorf("others (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]int64{"Removed spaces": 1, "Added the missing 0": 1}, l.Tally.Fixes); d != "" {
		t.Error(d)
	}
	var bad sms.Invalid
	_, err := r.Desk.MakeCampaign(r.Ctx, r.By, l.UID, l.Version, lists.MakeOrder{})
	if errors.As(err, &bad); bad["rows"] != "7 rows have errors. Fix them and upload the list again, or leave them out" {
		t.Errorf("%v", err)
	}
	l = r.made(l, lists.MakeOrder{LeaveOut: true})
	var got []string
	for _, m := range r.listMessages(l.CampaignID) {
		got = append(got, fmt.Sprintf("%d %s %s %s %.12s", m.Row, m.State, m.Code, m.Number, m.Reason))
	}
	want = []string{"2 draft  2348031234501 ", "3 draft  2348031234502 ", "4 skipped number  Too short: h",
		"5 skipped missing  Missing: ent", "6 skipped missing  Missing: ent",
		"7 skipped text  Cell shows t", "8 skipped number  Contains let", "9 skipped repeat 2348031234501 Same number ", "10 draft  2348031234502 ",
		"11 skipped blocked 2348031234506 Number block", "12 skipped number  Excel has sh", "13 skipped number  Cell has two"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
	c, err := r.DB.Campaign(r.Ctx, l.CampaignID)
	if err != nil || c.Recipients != 12 || c.Parts != 3 {
		t.Errorf("%+v %v", c, err)
	}
	tally, err := r.DB.Tally(r.Ctx, c.ID)
	if d := cmp.Diff(sms.Tally{"draft": 3, "leftout": 9}, tally); d != "" || err != nil {
		t.Errorf("%s %v", d, err)
	}
	r.rejected(l)
}

// rejected downloads the bad rows of the dirty list.
func (r *kit) rejected(l sms.List) {
	r.T.Helper()
	rows, err := r.Desk.RejectedRows(r.Ctx, r.By, l.UID)
	if err != nil {
		r.T.Fatal(err)
	}
	var b strings.Builder
	if err := rows.Write(&b, false); err != nil {
		r.T.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\r\n")
	if len(lines) != 8 || lines[0] != "\ufeff"+`"Phone","First name","Date","What to fix"` ||
		lines[1] != `"080312345","Chidi","5 June","Too short: has 9 digits, needs 11"` ||
		lines[5] != `"0803 5S5 0101","Femi","7 June","Contains letters: character 7 of ""0803 5S5 0101"" is S"` {
		r.T.Errorf("%q", lines)
	}
}

func TestWhatWasChosenIsRemembered(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	l := r.upload("a.csv", "Nr,Line,Who\n1,08031234567,Ada\n2,08031234568,Bola\n")
	o := order(l, "Dear ##Name##, hello from ##Us##")
	o.Phone, o.Fields, o.Fixed = 1, map[string]int{"name": 2}, map[string]string{"us": "the clinic"}
	var bad sms.Invalid
	_, err := r.Desk.CheckList(r.Ctx, r.By, l.UID, l.Version, order(l, "Dear ##Name##"))
	if errors.As(err,
		&bad); bad["field:name"] != "The message uses ##Name##. Choose a column for it, or enter one text for everyone" {
		t.Errorf("%v", err)
	}
	_, profile, err := r.Desk.ListProfile(r.Ctx, r.By, l.UID)
	text, missing := r.Desk.PreviewRow(o, profile.Sample[1].Cells)
	if text != "Dear Bola, hello from the clinic" || missing != nil || err != nil {
		t.Errorf("%q %v %v", text, missing, err)
	}
	if made := r.checked(l, o); made.State != sms.ListMade {
		t.Fatalf("%+v", made)
	}
	again := r.upload("b.csv", "NR,line,who\n1,08031234567,Ada\n")
	if again.Order.Phone != 1 || again.Order.Fields["name"] != 2 || again.Order.Fixed["us"] != "the clinic" ||
		again.Order.SenderID != "CLINIC" || again.Order.Text != "" || again.Order.Name != "b" {
		t.Errorf("%+v", again.Order)
	}
	// Send again with a new file, whose columns stand in another order.
	l, err = r.Desk.UploadList(r.Ctx, r.By, lists.UploadOrder{AccountID: r.Account.ID, FileName: "c.csv",
		Token: desk.NewToken(), Replaces: l.UID},
		strings.NewReader("Who,Line\nChidi,08031234569\n"))
	if err != nil || l.Order.Phone != 1 || l.Order.Fields["name"] != 0 || l.Order.Text != o.Text || l.Order.Name != "c" {
		t.Errorf("%+v %v", l.Order, err)
	}
}

func TestAListIsItsOwnPersonsAlone(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	l := r.upload("a.csv", "phone\n08031234567\n")
	other := sms.User{ID: 2, Name: "Bola Ade", Role: sms.Administrator, Active: true}
	viewer := r.By
	viewer.Role = sms.Viewer
	for name, by := range map[string]sms.User{"somebody else": other, "a viewer": viewer} {
		want := sms.ErrNotFound
		if name == "a viewer" {
			want = sms.ErrForbidden
		}
		_, check := r.Desk.CheckList(r.Ctx, by, l.UID, l.Version, order(l, "Hello"))
		_, read := r.Desk.ReadList(r.Ctx, by, l.UID, l.Reading)
		_, makes := r.Desk.MakeCampaign(r.Ctx, by, l.UID, l.Version, lists.MakeOrder{})
		_, rows := r.Desk.RejectedRows(r.Ctx, by, l.UID)
		for doing, err := range map[string]error{"check": check, "read": read, "make": makes, "rows": rows,
			"drop": r.Desk.DropList(r.Ctx, by, l.UID)} {
			if !errors.Is(err, want) {
				t.Errorf("%s by %s: %v", doing, name, err)
			}
		}
	}
	if err := r.Desk.DropList(r.Ctx, r.By, l.UID); err != nil {
		t.Error(err)
	}
	if left := r.leftovers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestEverybodyPressesTwice: one list a token, one campaign a list.
func TestEverybodyPressesTwice(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	token := desk.NewToken()
	at := func(n int, do func() (sms.List, error)) (all []sms.List) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				l, err := do()
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				all = append(all, l)
				mu.Unlock()
			})
		}
		wg.Wait()
		return all
	}
	var l sms.List
	for _, one := range at(20, func() (sms.List, error) {
		return r.Desk.UploadList(r.Ctx, r.By, lists.UploadOrder{AccountID: r.Account.ID, FileName: "a.csv", Token: token},
			strings.NewReader("phone\n08031234567\n080312\n"))
	}) {
		if l.UID != "" && one.UID != l.UID {
			t.Fatal("two lists of one form")
		}
		l = one
	}
	if left := r.leftovers(); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	at(20, func() (sms.List, error) { return r.Desk.CheckList(r.Ctx, r.By, l.UID, l.Version, order(l, "Hello")) })
	if _, err := r.Desk.CheckList(r.Ctx, r.By, l.UID, l.Version, order(l, "Another text")); !errors.Is(err,
		sms.ErrConflict) {
		t.Errorf("another order under an old version: %v", err)
	}
	r.importer()
	l = r.settled(l.UID)
	at(20, func() (sms.List, error) {
		return r.Desk.MakeCampaign(r.Ctx, r.By, l.UID, l.Version, lists.MakeOrder{LeaveOut: true})
	})
	r.settled(l.UID)
	at(20, func() (sms.List, error) {
		return r.Desk.MakeCampaign(r.Ctx, r.By, l.UID, l.Version, lists.MakeOrder{LeaveOut: true})
	})
	list, _, err := r.DB.Campaigns(r.Ctx, sms.CampaignFilter{AccountID: r.Account.ID, Limit: 10})
	if err != nil || len(list) != 1 {
		t.Errorf("%d campaigns, %v", len(list), err)
	}
}

func TestNumbersAbroadAreASetting(t *testing.T) {
	for _, abroad := range []bool{false, true} {
		r := newKit(t, sandbox.Config{}, func(a *sms.Account) { a.Abroad = abroad })
		r.importer()
		l := r.upload("a.csv", "phone\n+447911123456\n08031234567\n")
		l = r.checked(l, order(l, "Hello"))
		typed := desk.Order{AccountID: r.Account.ID, SenderID: "CLINIC", Numbers: "+447911123456", Text: "Hello",
			Token: desk.NewToken()}
		_, err := r.Desk.CreateCampaign(r.Ctx, r.By, typed)
		const want = "Number is in Guernsey, and sending abroad is turned off"
		if abroad {
			if l.State != sms.ListMade || err != nil {
				t.Errorf("%+v %v", l, err)
			}
			continue
		}
		var bad sms.Invalid
		if errors.As(err, &bad); bad["numbers"] != want || fmt.Sprint(r.notes(l.UID)) != "[2 number 0 "+want+"]" {
			t.Errorf("%v %q", err, r.notes(l.UID))
		}
	}
}
