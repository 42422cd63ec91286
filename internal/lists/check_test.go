package lists

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

type fataller interface {
	Helper()
	Fatalf(format string, args ...any)
}

// judgeAll checks rows and holds the verdicts against each other: every row
// ends as exactly one thing, and the counts are those of the verdicts.
func judgeAll(t fataller, c *checker, rows []sheet.Row) []sms.ListRow {
	t.Helper()
	var all []sms.ListRow
	kinds, listed := map[sms.RowKind]int64{}, map[sms.RowKind]int64{}
	good, parts := int64(0), int64(0)
	sent := map[string]bool{}
	for batch := range slices.Chunk(rows, 7) {
		j := c.checkBatch(rowBatch{rows: batch, share: 1})
		if len(j.rows) != len(batch) {
			t.Fatalf("%d verdicts on %d rows", len(j.rows), len(batch))
		}
		all = append(all, j.rows...)
		for _, n := range j.notes {
			listed[n.Kind]++
			if n.Text == "" || n.Row == 0 || len(n.Cells) > noteCells {
				t.Fatalf("a note says nothing: %+v", n)
			}
		}
	}
	for i, v := range all {
		switch {
		case v.Row != int64(rows[i].Number):
			t.Fatalf("row %d was judged as row %d", rows[i].Number, v.Row)
		case v.Kind == "":
			good++
			parts += int64(v.Parts)
			key := fmt.Sprint(v.Number, " ", v.Text)
			if v.Number == 0 || strings.TrimSpace(v.Text) == "" || v.Parts < 1 || v.Parts > c.account.MaxParts || sent[key] ||
				slices.Contains(c.blocked, v.Number) {
				t.Fatalf("this must not be sent: %+v", v)
			}
			sent[key] = true
		case !v.Kind.Bad() && !v.Kind.LeftOut():
			t.Fatalf("row %d is left out for %q", v.Row, v.Kind)
		case v.Kind.Bad() && v.Number != 0:
			t.Fatalf("a bad row has a number: %+v", v)
		}
		if v.Kind != "" {
			kinds[v.Kind]++
		}
	}
	tally := c.result(sheet.Tally{})
	if tally.Rows != int64(len(rows)) || tally.Good != good || tally.Good+tally.Bad()+tally.LeftOut() != tally.Rows ||
		tally.Parts != parts {
		t.Fatalf("%d rows, %d good, %d bad, %d left out, %d parts; %d good with %d parts were seen", tally.Rows, tally.Good,
			tally.Bad(), tally.LeftOut(), tally.Parts, good, parts)
	}
	for _, k := range sms.RowKinds() {
		if (k.Bad() || k.LeftOut()) && (tally.Kinds[k] != kinds[k] || listed[k] != kinds[k]) {
			t.Fatalf("%s: %d counted, %d listed, %d verdicts", k, tally.Kinds[k], listed[k], kinds[k])
		}
	}
	return all
}

var testAccount = sms.Account{Country: "NG", MaxParts: 2, Timezone: "Africa/Lagos"}

func cellOf(values ...string) *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(values), rapid.StringN(0, 12, 40))
}

func TestEveryRowEndsAsExactlyOneThing(t *testing.T) {
	phone := cellOf("08031234567", "8031234567", "+234 803 123 4567", "080312", "", " ", "08031234568", "2.34803E+12",
		"0803;0804", "#####", "08031234569.0", "0900000")
	value := cellOf("Ada", "", "#N/A", "ọmọ", "##Date##", strings.Repeat("long ", 70), "a^b~c")
	rapid.Check(t, func(t *rapid.T) {
		l := sms.List{Reading: sms.ListReading{Columns: []string{"phone", "name", "date"}}}
		l.Order = sms.ListOrder{Phone: 0, Message: -1,
			Text:   rapid.SampledFrom([]string{"Hello", "Dear ##Name##, on ##Date##", "##Name##"}).Draw(t, "text"),
			Fields: map[string]int{"name": 1, "date": 2}, Fixed: map[string]string{}}
		if rapid.Bool().Draw(t, "message column") {
			l.Order.Message, l.Order.Text = 1, ""
		}
		rows := make([]sheet.Row, rapid.IntRange(1, 60).Draw(t, "rows"))
		for i := range rows {
			rows[i] = sheet.Row{Number: 2*i + 2, Cells: []string{phone.Draw(t, "phone"), value.Draw(t, "name"),
				value.Draw(t, "date")}[:rapid.IntRange(0, 3).Draw(t, "cells")]}
			if rapid.IntRange(0, 20).Draw(t, "problem") == 0 {
				rows[i].Problem = "Cannot be read"
			}
		}
		judgeAll(t, newChecker(testAccount, l, []int64{2348031234568}, nil), rows)
	})
}

// TestValuesAreData: what stands in a cell is never looked through for marks.
func TestValuesAreData(t *testing.T) {
	l := sms.List{Reading: sms.ListReading{Columns: []string{"phone", "name", "date"}},
		Order: sms.ListOrder{Message: -1, Text: "##Name## ##name##: ##Date##",
			Fields: map[string]int{"name": 1, "date": 2}}}
	got := judgeAll(t, newChecker(testAccount, l, nil, nil),
		[]sheet.Row{{Number: 2, Cells: []string{"08031234567", "##Date##", "%s ##Name##"}}})
	if got[0].Text != "##Date## ##Date##: %s ##Name##" {
		t.Errorf("%q", got[0].Text)
	}
}

func TestSentencesAboutTexts(t *testing.T) {
	for name, c := range map[string]struct {
		text, value string
		column      int // of the message, -1: text
		kind        sms.RowKind
		want        string
	}{
		"missing value":         {"Dear ##Name##", " ", -1, sms.RowMissing, "Missing: enter a name"},
		"missing, with a vowel": {"Pay ##Amount##", "", -1, sms.RowMissing, "Missing: enter an amount"},
		"missing message":       {"", "", 1, sms.RowMissing, "Missing: enter a message"},
		"formula error":         {"Dear ##Name##", "#REF!", -1, sms.RowText, "Cell shows the formula error #REF!. Fix the formula"},
		"too long for a field": {"Dear ##Name##", strings.Repeat("x", 310), -1, sms.RowText,
			`Message must be 306 characters or fewer. Yours is 9 over. Shorten "first"`},
		"too long in its column": {"", strings.Repeat("x", 310), 1, sms.RowText, "Message must be 306 characters or fewer. Yours is 4 over"},
		"special characters":     {"Dear ##Name##", strings.Repeat("ọ", 70), -1, sms.RowLonger, `This message needs 2 parts because of "ọ"`},
	} {
		l := sms.List{Reading: sms.ListReading{Columns: []string{"phone", "first"}},
			Order: sms.ListOrder{Message: c.column, Text: c.text,
				Fields: map[string]int{"name": 1, "amount": 1}}}
		j := newChecker(testAccount, l, nil, nil).checkBatch(
			rowBatch{rows: []sheet.Row{{Number: 2, Cells: []string{"08031234567", c.value}}}})
		if len(j.notes) != 1 || j.notes[0].Kind != c.kind || j.notes[0].Text != c.want {
			t.Errorf("%s: %+v", name, j.notes)
		}
	}
}

// TestNotesOfHarmlessThingsAreFewButCounted.
func TestNotesOfHarmlessThingsAreFewButCounted(t *testing.T) {
	l := sms.List{Reading: sms.ListReading{Columns: []string{"phone"}}, Order: sms.ListOrder{Message: -1, Text: "Hello"}}
	c, kept := newChecker(testAccount, l, nil, nil), 0
	for i := range 3 * knownNotes {
		_, notes := c.row(sheet.Row{Number: i + 2, Cells: []string{fmt.Sprintf("803%07d", i)}})
		kept += len(notes)
	}
	if tally := c.result(sheet.Tally{}); kept != knownNotes || tally.Kinds[sms.RowRepaired] != 3*knownNotes ||
		tally.Fixes["Added the missing 0"] != 3*knownNotes {
		t.Errorf("%d notes, %+v", kept, tally)
	}
}

// FuzzListCheck reads whatever comes as a list and checks its rows.
func FuzzListCheck(f *testing.F) {
	for _, s := range []string{"phone,name\n08031234567,Ada\n", "08031234567^Hello~08031234568^You",
		"phone;name\r\n\"0803\n\";x\n", "a\x00b,c\n1,2\n"} {
		f.Add([]byte(s), "Dear ##Name##", 0, 1)
	}
	f.Fuzz(func(t *testing.T, data []byte, text string, phone, message int) {
		reader, err := sheet.Open(strings.NewReader(string(data)), int64(len(data)),
			sheet.Options{Country: "NG", TempDir: t.TempDir()})
		if err != nil {
			return
		}
		defer func() { _ = reader.Close() }()
		l := sms.List{FileName: "x", Reading: readingOf(reader.Profile())}
		l.Order = tidyOrder(sms.ListOrder{Phone: phone, Message: message, Text: text,
			Fields: map[string]int{"name": message}}, l)
		if len(checkOrder(testAccount, l, l.Order)) > 0 {
			return
		}
		var rows []sheet.Row
		for len(rows) < 1000 {
			r, err := reader.Next()
			if err == io.EOF || err != nil {
				break
			}
			rows = append(rows, r)
		}
		judgeAll(t, newChecker(testAccount, l, []int64{2348031234568}, nil), rows)
	})
}
