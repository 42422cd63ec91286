package lists_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"smsdesk/internal/feed"
	"smsdesk/internal/lists"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// staged is all that the check of a list says, in the order of rows.
func (r *kit) staged(l sms.List) (lines []string) {
	r.T.Helper()
	for row, err := range r.DB.StagedRows(r.Ctx, l.UID, l.Sum) {
		if err != nil {
			r.T.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%d %s %q %d %q", row.Row, row.MSISDN(), row.Text, row.Parts, row.Kind))
	}
	for _, k := range sms.RowKinds() {
		notes, _, err := r.DB.ListNotes(r.Ctx, l.UID, sms.RowFilter{Kinds: []sms.RowKind{k}, Limit: 1000})
		if err != nil {
			r.T.Fatal(err)
		}
		for _, n := range notes {
			if n.Kind == sms.RowRepeat || n.Kind == sms.RowSecond || n.Kind == sms.RowOtherText {
				// What the file has is not known of a row that was clean before.
				n.Before = ""
			}
			lines = append(lines, fmt.Sprintf("%d %s %d %q %q %q %d", n.Row, n.Kind, n.Column, n.Text, n.Before, n.After, n.Other))
		}
	}
	return lines
}

// checkedAgain has all rows of a list checked from the file, and gives the list.
func (r *kit) checkedAgain(uid string) sms.List {
	r.T.Helper()
	_, err := r.DB.UpdateList(r.Ctx, uid, 1, func(l *sms.List) error { l.State = sms.ListChecking; return nil })
	if err != nil {
		r.T.Fatal(err)
	}
	r.Feed.Publish(feed.Lists)
	return r.settled(uid)
}

// What is corrected in place must be what a check of the whole file finds, with
// the same verdicts, sentences and counts.
func TestACorrectedCellIsJudgedAsTheWholeFileWouldBe(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	r.Block("08031234569")
	number := rapid.SampledFrom([]string{"08031234567", "08031234568", "08031234569", "0803123", "", "0803 123 4567x",
		"08031234567 / 08031234569", "0803 123 4568 or 08031234567, 08031234570", "08031234571 & 0803123"})
	value := rapid.SampledFrom([]string{"Ada", "Bola", "", "ọmọ", strings.Repeat("long ", 250)})
	rapid.Check(t, func(t *rapid.T) {
		var file strings.Builder
		file.WriteString("phone,name\n")
		rows := rapid.IntRange(2, 9).Draw(t, "rows")
		// One row is to be fixed, so that the list waits for a person.
		file.WriteString("x,Ada\n")
		for range rows {
			fmt.Fprintf(&file, "%s,%s\n", number.Draw(t, "number"), value.Draw(t, "value"))
		}
		l := r.upload("a.csv", file.String())
		o := order(l, rapid.SampledFrom([]string{"Dear ##name##", "Hello"}).Draw(t, "text"))
		o.FirstOnly = rapid.Bool().Draw(t, "first only")
		l = r.checked(l, o)
		if l.State != sms.ListChecked {
			t.Fatalf("%s: %s", l.State, l.Problem)
		}
		for range rapid.IntRange(1, 6).Draw(t, "corrections") {
			c := lists.Cell{Row: int64(rapid.IntRange(2, rows+6).Draw(t, "row")), Column: rapid.IntRange(0, 1).Draw(t, "column")}
			if what := rapid.IntRange(0, 5).Draw(t, "what"); what < 2 {
				l = r.splitOrNot(t, l, what == 0, rapid.SampledFrom([][]int64{nil, {c.Row}}).Draw(t, "rows"))
				continue
			}
			if c.Value = number.Draw(t, "to"); c.Column == 1 {
				c.Value = value.Draw(t, "to")
			}
			_, err := r.Desk.Correct(r.Ctx, r.By, l.UID, []lists.Cell{c})
			if err != nil && !errors.Is(err, sms.ErrNotFound) {
				t.Fatal(err)
			}
			l = r.settled(l.UID)
		}
		inPlace, tally := r.staged(l), l.Tally
		l = r.checkedAgain(l.UID)
		if l.State != sms.ListChecked {
			t.Fatalf("checked as a whole it is %s: %s", l.State, l.Problem)
		}
		if d := cmp.Diff(r.staged(l), inPlace); d != "" {
			t.Fatalf("the whole file says otherwise (-file +in place):\n%s", d)
		}
		// In place it is an upper bound; one text must be one.
		if tally.Texts < min(l.Tally.Texts, 2) {
			t.Fatalf("%d texts are told, there are %d", tally.Texts, l.Tally.Texts)
		}
		for _, of := range []*sms.ListTally{&tally, &l.Tally} {
			of.Texts, of.LookedAt = 0, 0
			maps.DeleteFunc(of.Kinds, func(_ sms.RowKind, n int64) bool { return n == 0 })
			maps.DeleteFunc(of.Lacks, func(_ int, n int64) bool { return n == 0 })
		}
		if d := cmp.Diff(l.Tally, tally); d != "" {
			t.Fatalf("the whole file counts otherwise (-file +in place):\n%s", d)
		}
	})
}

// splitOrNot has rows made of rows, or takes them back, and gives the list.
func (r *kit) splitOrNot(t *rapid.T, l sms.List, split bool, rows []int64) sms.List {
	do := r.Desk.Unsplit
	if split {
		do = r.Desk.Split
	}
	if _, err := do(r.Ctx, r.By, l.UID, rows); err != nil {
		t.Fatal(err)
	}
	return r.settled(l.UID)
}

const toFix = "phone,name,amount\n0803123,Ada,10\n08031234567,Bola,\n08031234568,Chidi,\n08031234568,Dayo,30\n"

// mendable is a checked list with rows to fix: 2 for its number, 3 and 4 for
// their amounts.
func (r *kit) mendable() sms.List {
	r.T.Helper()
	l := r.upload("fees.csv", toFix)
	l = r.checked(l, order(l, "Dear ##name##, pay ##amount##"))
	if l.State != sms.ListChecked || l.Tally.Bad() != 3 || l.Tally.Good != 1 {
		r.T.Fatalf("%+v", l)
	}
	return l
}

func (r *kit) corrected(uid string, cells ...lists.Cell) sms.List {
	r.T.Helper()
	if _, err := r.Desk.Correct(r.Ctx, r.By, uid, cells); err != nil {
		r.T.Fatal(err)
	}
	return r.settled(uid)
}

func TestACorrectionIsSentAndToldOfAndTheFileStays(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	l := r.mendable()
	l = r.corrected(l.UID, lists.Cell{Row: 2, Column: 0, Value: " 0803 555 0101 "}, lists.Cell{Row: 3, Column: 2, Value: "5"})
	if l.Tally.Bad() != 1 || l.Tally.Good != 3 || l.Tally.Kinds[sms.RowCorrected] != 2 || l.Tally.Fixes["Removed spaces"] != 0 {
		t.Fatalf("%+v", l.Tally)
	}
	l = r.made(l, lists.MakeOrder{LeaveOut: true})
	var got []string
	for _, m := range r.listMessages(l.CampaignID) {
		if m.State == sms.Draft {
			got = append(got, fmt.Sprint(m.Row, " ", m.Number, " ", m.Text))
		}
	}
	want := []string{"2 2348035550101 Dear Ada, pay 10", "3 2348031234567 Dear Bola, pay 5", "5 2348031234568 Dear Dayo, pay 30"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	d, err := r.Desk.DownloadCampaign(r.Ctx, r.By, lists.DownloadOrder{Filter: sms.MessageFilter{CampaignID: l.CampaignID},
		Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	var lines []string
	for row, err := range d.Rows {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Join(row[:4], "|"))
	}
	for i, want := range []string{"phone|name|amount|Corrected",
		"0803 555 0101|Ada|10|phone was “0803123”, corrected by Ada Obi on 20",
		"08031234567|Bola|5|amount was empty, corrected by Ada Obi on 20", "08031234568|Chidi||", "08031234568|Dayo|30|"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
	file, err := r.DB.Upload(l.UID)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	whole := make([]byte, len(toFix))
	if _, err := file.ReadAt(whole, 0); err != nil || string(whole) != toFix {
		t.Errorf("the file is %q now (%v)", whole, err)
	}
}

func TestWhatTheFileHasTakesACorrectionBack(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	first := r.mendable()
	before := r.staged(first)
	r.corrected(first.UID, lists.Cell{Row: 2, Column: 0, Value: "08035550101"})
	l := r.corrected(first.UID, lists.Cell{Row: 2, Column: 0, Value: "0803123"})
	if d := cmp.Diff(before, r.staged(l)); d != "" {
		t.Error(d)
	}
	if all, err := r.DB.Corrections(r.Ctx, l.ID); len(all) != 0 || err != nil {
		t.Errorf("%+v %v", all, err)
	}
}

func TestOneValueFillsWhatIsEmptyAndIsTakenBack(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	l := r.mendable()
	if _, err := r.Desk.FillEmpty(r.Ctx, r.By, l.UID, l.Version, "amount", "99"); err != nil {
		t.Fatal(err)
	}
	if l = r.settled(l.UID); l.Tally.Bad() != 1 || l.Tally.Good != 3 || l.State != sms.ListChecked {
		t.Fatalf("%s %+v", l.State, l.Tally)
	}
	if lines := strings.Join(r.staged(l), "\n"); !strings.Contains(lines, `"Dear Bola, pay 99"`) ||
		!strings.Contains(lines, `"Dear Dayo, pay 30"`) {
		t.Error(lines)
	}
	if _, err := r.Desk.FillEmpty(r.Ctx, r.By, l.UID, l.Version, "amount", ""); err != nil {
		t.Fatal(err)
	}
	if l = r.settled(l.UID); l.Tally.Bad() != 3 || l.Tally.Good != 1 {
		t.Errorf("%+v", l.Tally)
	}
}

func TestOnlyTheFirstOfEachNumberIsKept(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	l := r.mendable()
	l = r.corrected(l.UID, lists.Cell{Row: 4, Column: 2, Value: "20"})
	if l.Tally.Good != 2 || l.Tally.Kinds[sms.RowOtherText] != 1 {
		t.Fatalf("%+v", l.Tally)
	}
	if _, err := r.Desk.KeepFirst(r.Ctx, r.By, l.UID, l.Version, true); err != nil {
		t.Fatal(err)
	}
	l = r.settled(l.UID)
	if l.Tally.Good != 1 || l.Tally.Kinds[sms.RowSecond] != 1 || l.Tally.LeftOut() != 1 {
		t.Fatalf("%+v", l.Tally)
	}
	if lines := strings.Join(r.staged(l), "\n"); !strings.Contains(lines, `5 2348031234568 "Dear Dayo, pay 30" 1 "second"`) ||
		!strings.Contains(lines, `5 second 0 "This number is in row 4`) {
		t.Error(lines)
	}
	if _, err := r.Desk.KeepFirst(r.Ctx, r.By, l.UID, l.Version, false); err != nil {
		t.Fatal(err)
	}
	if l = r.settled(l.UID); l.Tally.Good != 2 {
		t.Errorf("%+v", l.Tally)
	}
}

// The database says what was corrected, and the file with the verdicts does not
// yet: as a process leaves them that ends between the two.
func TestACorrectionIsKeptWhereTheVerdictsWereNotWritten(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	l := func() sms.List { r.importer(); return r.mendable() }()
	staging := filepath.Join(r.DB.ListFolder(l.UID), "rows.db")
	before, err := os.ReadFile(staging)
	if err != nil {
		t.Fatal(err)
	}
	l = r.corrected(l.UID, lists.Cell{Row: 2, Column: 0, Value: "08035550101"})
	if err := os.WriteFile(staging, before, 0o600); err != nil {
		t.Fatal(err)
	}
	l = r.made(l, lists.MakeOrder{LeaveOut: true})
	if l.State != sms.ListChecked || l.Tally.Good != 2 || !strings.Contains(strings.Join(r.staged(l), "\n"), "2348035550101") {
		t.Errorf("%s %+v", l.State, l.Tally)
	}
}

func TestWhatMustNotBeCorrected(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	l := r.mendable()
	other := r.By
	other.ID++
	for name, err := range map[string]error{
		"a clean row":      second(r.Desk.Correct(r.Ctx, r.By, l.UID, []lists.Cell{{Row: 5, Value: "08035550101"}})),
		"no row":           second(r.Desk.Correct(r.Ctx, r.By, l.UID, []lists.Cell{{Row: 99, Value: "1"}})),
		"no column":        second(r.Desk.Correct(r.Ctx, r.By, l.UID, []lists.Cell{{Row: 2, Column: 3, Value: "1"}})),
		"a negative one":   second(r.Desk.Correct(r.Ctx, r.By, l.UID, []lists.Cell{{Row: 2, Column: -1, Value: "1"}})),
		"somebody's list":  second(r.Desk.Correct(r.Ctx, other, l.UID, []lists.Cell{{Row: 2, Value: "08035550101"}})),
		"no such column":   second(r.Desk.FillEmpty(r.Ctx, r.By, l.UID, l.Version, "age", "1")),
		"somebody's order": second(r.Desk.KeepFirst(r.Ctx, other, l.UID, l.Version, true)),
	} {
		if !errors.Is(err, sms.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var bad sms.Invalid
	_, err := r.Desk.Correct(r.Ctx, r.By, l.UID, []lists.Cell{{Row: 3, Column: 2, Value: strings.Repeat("9", 4001)}})
	if !errors.As(err, &bad) || bad["cell:3:2"] == "" {
		t.Errorf("a cell without end: %v", err)
	}
	if _, err := r.Desk.KeepFirst(r.Ctx, r.By, l.UID, l.Version-1, true); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("an old page: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// A file that is read in another way has other rows and columns.
func TestAnotherReadingForgetsCorrections(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	l := r.mendable()
	l = r.corrected(l.UID, lists.Cell{Row: 2, Column: 0, Value: "08035550101"})
	reading := l.Reading
	reading.Hidden = true
	l, err := r.Desk.ReadList(r.Ctx, r.By, l.UID, reading)
	if all, bad := r.DB.Corrections(r.Ctx, l.ID); err != nil || bad != nil || len(all) != 1 {
		t.Errorf("hidden rows: %+v %v %v", all, err, bad)
	}
	reading.HeaderRow = -1
	l, err = r.Desk.ReadList(r.Ctx, r.By, l.UID, reading)
	if all, bad := r.DB.Corrections(r.Ctx, l.ID); err != nil || bad != nil || len(all) != 0 {
		t.Errorf("no header: %+v %v %v", all, err, bad)
	}
}
