package lists_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/lists"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

const inOneCell = "phone,name\n08031234567 / 08051234567,Ada\n08031234568,Bola\n0803 123 4569 or 0803123,Chidi\n"

// severals is a checked list with two rows that have two numbers: 2 with two good
// ones, 4 with one that is too short.
func (r *kit) severals() sms.List {
	r.T.Helper()
	l := r.upload("fees.csv", inOneCell)
	l = r.checked(l, order(l, "Dear ##name##"))
	if l.State != sms.ListChecked || l.Tally.Bad() != 2 || l.Tally.Several != 2 || l.Tally.Good != 1 || l.Tally.Last != 4 {
		r.T.Fatalf("%+v", l)
	}
	return l
}

func (r *kit) split(uid string, rows ...int64) sms.List {
	r.T.Helper()
	if _, err := r.Desk.Split(r.Ctx, r.By, uid, rows); err != nil {
		r.T.Fatal(err)
	}
	return r.settled(uid)
}

// ready are the rows of a checked list that are sent.
func (r *kit) ready(l sms.List) (rows []string) {
	r.T.Helper()
	for row, err := range r.DB.StagedRows(r.Ctx, l.UID, l.Sum) {
		if err != nil {
			r.T.Fatal(err)
		}
		if row.Kind == "" {
			rows = append(rows, fmt.Sprint(row.Row, " ", row.MSISDN(), " ", row.Text))
		}
	}
	return rows
}

func TestTwoRowsAreMadeOfOneWithTwoNumbers(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	first := r.severals()
	before := r.staged(first)
	l := r.split(first.UID, 2)
	if l.State != sms.ListChecked || l.Tally.Rows != 4 || l.Tally.Good != 3 || l.Tally.Several != 1 || l.Tally.Last != 4 {
		t.Fatalf("%s %+v", l.State, l.Tally)
	}
	want := []string{"2 2348031234567 Dear Ada", "3 2348031234568 Dear Bola", "5 2348051234567 Dear Ada"}
	if d := cmp.Diff(want, r.ready(l)); d != "" {
		t.Error(d)
	}
	// A second press changes nothing.
	if again := r.split(l.UID, 2); again.Version != l.Version {
		t.Errorf("%+v", again)
	}
	// What is corrected in the row counts for both.
	l = r.corrected(l.UID, lists.Cell{Row: 2, Column: 1, Value: "Ada Obi"})
	want[0], want[2] = "2 2348031234567 Dear Ada Obi", "5 2348051234567 Dear Ada Obi"
	if d := cmp.Diff(want, r.ready(l)); d != "" {
		t.Error(d)
	}
	l = r.corrected(l.UID, lists.Cell{Row: 2, Column: 1, Value: "Ada"})
	if _, err := r.Desk.Unsplit(r.Ctx, r.By, l.UID, []int64{2}); err != nil {
		t.Fatal(err)
	}
	l = r.settled(l.UID)
	if d := cmp.Diff(before, r.staged(l)); d != "" {
		t.Errorf("taken back (-before +after):\n%s", d)
	}
	if all, err := r.DB.Corrections(r.Ctx, l.ID); len(all) != 0 || err != nil {
		t.Errorf("%+v %v", all, err)
	}
}

func TestRowsAreMadeOfAllWithTwoNumbersAndTypedBack(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	r.Block("08051234567")
	l := r.split(r.severals().UID)
	if l.Tally.Rows != 5 || l.Tally.Good != 3 || l.Tally.Several != 0 || l.Tally.Bad() != 1 || l.Tally.Kinds[sms.RowBlocked] != 1 {
		t.Fatalf("%+v", l.Tally)
	}
	// The number that is too short is corrected in the row that was made for it.
	l = r.corrected(l.UID, lists.Cell{Row: 6, Column: 0, Value: "08031234570"})
	want := []string{"2 2348031234567 Dear Ada", "3 2348031234568 Dear Bola", "4 2348031234569 Dear Chidi",
		"6 2348031234570 Dear Chidi"}
	if d := cmp.Diff(want, r.ready(l)); d != "" {
		t.Error(d)
	}
	// What the file has, typed, takes the row back.
	l = r.corrected(l.UID, lists.Cell{Row: 4, Column: 0, Value: "0803 123 4569 or 0803123"})
	if d := cmp.Diff(want[:2], r.ready(l)); d != "" {
		t.Error(d)
	}
	if l.Tally.Rows != 4 || l.Tally.Several != 1 {
		t.Errorf("%+v", l.Tally)
	}
	// The next row that is made has a number that none had.
	if l = r.split(l.UID); l.Tally.Rows != 5 || l.Tally.Good != 3 || l.Tally.Bad() != 1 {
		t.Errorf("%+v", l.Tally)
	}
}

func TestAMadeRowIsToldOfInDownloadAndEvidence(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	l := r.made(r.split(r.severals().UID, 2), lists.MakeOrder{LeaveOut: true})
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
		lines = append(lines, strings.Join(row[:3], "|"))
	}
	for i, want := range []string{"phone|name|Corrected",
		"08031234567|Ada|phone was “08031234567 / 08051234567”, corrected by Ada Obi on 20", "08031234568|Bola|",
		"0803 123 4569 or 0803123|Chidi|", "08051234567|Ada|made of row 2, phone was “08031234567 / 08051234567”, by Ada Obi on 20"} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d of %q, want %q", i, lines, want)
		}
	}
	if got := r.evidenceFile(l.CampaignID, "corrections.csv"); !strings.Contains(got, "Made of row") ||
		!strings.Contains(got, `"2","phone","08031234567 / 08051234567","08031234567","Ada Obi",`) ||
		!strings.Contains(got, `"5","phone","08031234567 / 08051234567","08051234567","Ada Obi",`) || !strings.Contains(got, `,"2"`+"\n") {
		t.Error(got)
	}
}

// evidenceFile is one file of a campaign's evidence, with plain ends of lines.
func (r *kit) evidenceFile(campaign int64, name string) string {
	r.T.Helper()
	e, err := r.Desk.CampaignEvidence(r.Ctx, r.By, campaign)
	if err != nil {
		r.T.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	var whole bytes.Buffer
	if err := e.Write(r.Ctx, &whole); err != nil {
		r.T.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(whole.Bytes()), int64(whole.Len()))
	if err != nil {
		r.T.Fatal(err)
	}
	f, err := z.Open(name)
	if err != nil {
		r.T.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		r.T.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// Rows that were made of others are numbered behind the last one of the file, and
// a hidden row may be there.
func TestHiddenRowsThatAreIncludedTakeMadeRowsBack(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	l := r.split(r.severals().UID, 2)
	l = r.corrected(l.UID, lists.Cell{Row: 4, Column: 0, Value: "08031234570"})
	reading := l.Reading
	reading.Hidden = true
	if _, err := r.Desk.ReadList(r.Ctx, r.By, l.UID, reading); err != nil {
		t.Fatal(err)
	}
	all, err := r.DB.Corrections(r.Ctx, l.ID)
	if err != nil || len(all) != 1 || all[0].Row != 4 {
		t.Errorf("%+v %v", all, err)
	}
}

func TestWhoMayNotMakeRows(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	l := r.severals()
	other := r.By
	other.ID++
	for name, err := range map[string]error{
		"somebody's list":     second(r.Desk.Split(r.Ctx, other, l.UID, nil)),
		"somebody's way back": second(r.Desk.Unsplit(r.Ctx, other, l.UID, nil)),
	} {
		if !errors.Is(err, sms.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if same := r.split(l.UID, 3, 99); same.Version != l.Version {
		t.Errorf("a row with one number: %+v", same)
	}
}
