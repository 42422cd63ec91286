package views

import (
	"fmt"
	"strings"
	"testing"

	"smsdesk/internal/sms"
)

// The pages of a list with the same text in every place that a file or a
// person could fill.

func listUpload(text string) UploadPage {
	lists := []sms.List{{UID: text, FileName: text, State: sms.ListUploaded},
		{UID: "b", FileName: text, State: sms.ListMade}}
	return UploadPage{Form: UploadForm{Token: text}, Replaces: &lists[0], For: text, Lists: lists,
		Example: [][]string{{text}, {text}}, Errors: sms.Invalid{"file": text}}
}

func listMessage(text string) ListMessagePage {
	return ListMessagePage{
		List: sms.List{UID: text, FileName: text, Reading: sms.ListReading{Kind: "CSV", Encoding: text, Delimiter: text,
			Sheet: text, HeaderRow: 1}},
		Order: sms.ListOrder{Phone: 0, Message: -1, Text: "##x## " + strings.ReplaceAll(text, "#", ""), Name: text,
			SenderID: text, Fixed: map[string]string{"x": text}},
		Columns: []ListColumn{{Name: text, Examples: []string{text}}, {Name: text + strings.Repeat("long", 10)}, {Name: "x"}},
		Sheets:  []ListSheet{{Name: text}, {Name: text, Hidden: true}}, Encodings: []string{text},
		First: []ListFirst{{Cells: []string{text}}, {Row: 1, Cells: []string{text}}}, Notices: []string{text},
		SenderIDs: []string{text},
		Templates: []sms.Template{{ID: 1, Name: text}}, MaxParts: 6, Question: text,
		Filled: ListFilled{Row: 2, Text: text, Runs: []TextSpan{{Text: text, Filled: true}}, Missing: []string{text}},
		Errors: sms.Invalid{"phone": text, "text": text, "field:x": text, "list": text},
	}
}

func listCheck(text string) ListCheckPage {
	tally := sms.ListTally{Rows: 9, Good: 3, Kinds: map[sms.RowKind]int64{sms.RowNumber: 1, sms.RowRepaired: 1,
		sms.RowLonger: 1}, Fixes: map[string]int64{text: 1}, Letters: text,
		Already: &sms.AlreadySent{Recipients: 2, Of: 3, Awaiting: 1, CampaignID: 1, Name: text, ByName: text}}
	note := func(k sms.RowKind, column int) sms.RowNote {
		return sms.RowNote{Row: 3, Kind: k, Column: column, Text: text, Before: text, After: text, Cells: []string{text}}
	}
	return ListCheckPage{
		List: sms.List{UID: text, FileName: text, State: sms.ListChecked, Tally: tally,
			Reading: sms.ListReading{Columns: []string{text, text}}},
		Notes: []sms.RowNote{note(sms.RowNumber, 0), note(sms.RowUnreadable, -1)}, Upload: UploadForm{Token: text},
		Errors: sms.Invalid{"rows": text},
	}
}

// A fault in no cell, or in one that the table has no room for, has a column
// of its own; else there is none.
func TestFaultsBesideTheCells(t *testing.T) {
	p := ListCheckPage{List: sms.List{State: sms.ListChecked,
		Tally:   sms.ListTally{Rows: 2, Kinds: map[sms.RowKind]int64{sms.RowNumber: 1}},
		Reading: sms.ListReading{Columns: []string{"phone", "name"}}}}
	for column, beside := range map[int]bool{-1: true, 0: false, 1: false, 40: true} {
		p.Kind = string(sms.RowLonger)
		p.Notes = []sms.RowNote{{Row: 2, Kind: sms.RowLonger, Column: column, Text: "wrong", Cells: []string{"12", "Ada"}}}
		_, doc := render(t, ListCheck(PageFrame{}, p))
		if got := doc.Find("#notes th:contains('Problem')").Length() == 1; got != beside {
			t.Errorf("column %d: beside %v", column, got)
		}
		if n := doc.Find("#notes .cell-note").Length(); n != 1 {
			t.Errorf("column %d: the fault stands %d times", column, n)
		}
	}
}

// A row to fix has a field where its fault is, and says once what is wrong; a
// fault in no cell has none.
func TestFieldsOfRowsToFix(t *testing.T) {
	p := ListCheckPage{List: sms.List{UID: "u", State: sms.ListChecked,
		Tally:   sms.ListTally{Rows: 2, Kinds: map[sms.RowKind]int64{sms.RowNumber: 1}},
		Reading: sms.ListReading{Columns: []string{"phone", "name"}}}}
	for column, fields := range map[int]int{-1: 0, 0: 1, 1: 1, 40: 1} {
		p.Notes = []sms.RowNote{{Row: 2, Kind: sms.RowNumber, Column: column, Text: "Wrong", Cells: []string{"12", "Ada"}}}
		_, doc := render(t, ListCheck(PageFrame{}, p))
		if n := doc.Find("#notes input.input[form=make]").Length(); n != fields {
			t.Errorf("column %d: %d fields", column, n)
		}
		if got := doc.Find("#fault-2").Text(); got != "Wrong" {
			t.Errorf("column %d: %q", column, got)
		}
	}
	p.Notes = []sms.RowNote{{Row: 2, Kind: sms.RowNumber, Text: "Too short", Cells: []string{"13", "Ada"}}}
	p.Fixed = map[int64][]sms.Correction{2: {{Row: 2, Given: "12", Corrected: "13"}}}
	_, doc := render(t, ListCheck(PageFrame{}, p))
	if got := strings.TrimSpace(doc.Find("#row-2 .what").Text()); got != "Still wrong: too short  In the file: 12" {
		t.Errorf("typed and wrong: %q", got)
	}
	p.Notes, p.Done = nil, []sms.RowNote{{Row: 2, Kind: sms.RowCorrected, Text: "Corrected by Ada", Before: "12", After: "14",
		Cells: []string{"14", "Ada"}}}
	_, doc = render(t, ListCheck(PageFrame{}, p))
	if got := doc.Find("#row-2.done").Text(); !strings.Contains(got, "12 →  14") || !strings.Contains(got, "Ready") ||
		doc.Find("#row-2 input").Length() != 0 {
		t.Errorf("typed and right: %q", got)
	}
}

// The cells of the map add up, and what is in one can be seen.
func TestTheMapOfAFile(t *testing.T) {
	fine := []sms.MapCell{{First: 2, Last: 7, Ready: 1, Fix: 5}, {First: 8, Last: 13, Ready: 4, Fix: 2, Repaired: 1},
		{First: 14, Last: 19, Ready: 6}, {First: 20, Last: 25, Repeated: 3}}
	for range 3 {
		fine = append(fine, fine...)
	}
	var all, some sms.MapCell
	for _, c := range fine {
		all.Ready, all.Fix, all.Repeated, all.Repaired = all.Ready+c.Ready, all.Fix+c.Fix, all.Repeated+c.Repeated,
			all.Repaired+c.Repaired
	}
	few := coarse(fine)
	for _, c := range few {
		some.Ready, some.Fix, some.Repeated, some.Repaired = some.Ready+c.Ready, some.Fix+c.Fix, some.Repeated+c.Repeated,
			some.Repaired+c.Repaired
	}
	if len(few) > coarseCells || all != some {
		t.Errorf("%d cells: %+v, want %+v", len(few), some, all)
	}
	if got := mapWords(fine[1]); got != "Rows 8 to 13: 4 ready, 2 to fix, 1 repaired" {
		t.Error(got)
	}
	if got := fmt.Sprint(mapShares(fine[1])); got != "[{fix  0 13} { url(#map-repaired) 13 9}]" {
		t.Error(got)
	}
	if got := fmt.Sprint(mapShares(sms.MapCell{First: 1, Last: 30_000, Ready: 29_999, Fix: 1})); got != "[{fix  0 3}]" {
		t.Error(got)
	}
}

func TestProgressInWords(t *testing.T) {
	p := ListCheckPage{List: sms.List{State: sms.ListChecking, Done: 42_000, Total: 100_000}}
	for want, change := range map[string]func(){
		"Checked 42,000 of 100,000 rows | Checking the list: 25%":         func() {},
		"Checked 42,000 rows | Checking the list":                         func() { p.List.Total = 0 },
		"Dividing 800 messages into requests | Creating the campaign: 0%": func() { p.List.State, p.List.Done, p.List.Total = sms.ListMaking, 0, 800 },
		"Prepared 900 of 900 messages | Creating the campaign: 100%":      func() { p.List.State, p.List.Done, p.List.Total = sms.ListMaking, 900, 800 },
	} {
		saved := p
		change()
		if got := p.progress() + " | " + p.spoken(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		p = saved
	}
}
