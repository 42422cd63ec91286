package sheet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

func reject(rows ...Rejected) iter.Seq2[Rejected, error] {
	return func(yield func(Rejected, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func rejected(fix string, cells ...string) Rejected {
	return Rejected{Row: Row{Cells: cells}, Fix: fix}
}

var rejectedLayouts = []struct {
	name   string
	layout Layout
	rows   []Rejected
	want   []string
}{
	{"ordinary", Layout{Header: []string{"phone", "name"}, Columns: 2},
		[]Rejected{rejected("Too short: has 9 digits, needs 11", "080355501", "Ada"),
			rejected("Missing: enter a phone number", "", "a \"b\", c\nd")},
		[]string{"phone|name|What to fix", "080355501|Ada|Too short: has 9 digits, needs 11",
			"|a \"b\", c\nd|Missing: enter a phone number"}},
	{"ragged", Layout{Header: []string{"phone", "name"}, Columns: 2}, []Rejected{rejected("x", "1"), rejected("y", "1", "2", "3", "4")},
		[]string{"phone|name|What to fix", "1||x", "1|2|y|3|4"}},
	{"wider than its names", Layout{Header: []string{"phone"}, Columns: 3}, []Rejected{rejected("x", "1", "2", "3")},
		[]string{"phone|||What to fix", "1|2|3|x"}},
	{"no names", Layout{Columns: 2}, []Rejected{rejected("x", "1", "2")}, []string{"1|2|x"}},
	{"rejected before", Layout{Header: []string{"phone", "What to fix"}, Columns: 2},
		[]Rejected{rejected("new", "1", "old"), rejected("new", "1"), rejected("new", "1", "old", "3")},
		[]string{"phone|What to fix", "1|new", "1|new", "1|new|3"}},
}

func TestWriteCSV(t *testing.T) {
	for _, c := range rejectedLayouts {
		var b bytes.Buffer
		if err := WriteCSV(&b, c.layout, reject(c.rows...)); err != nil {
			t.Fatal(err)
		}
		text, marked := strings.CutPrefix(b.String(), "\ufeff")
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord = -1
		all, err := r.ReadAll()
		var got []string
		for _, cells := range all {
			got = append(got, strings.Join(cells, "|"))
		}
		if !marked || err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestFormulasAreDefused(t *testing.T) {
	hot := []string{"=1+1", "+2348035550101", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠x", " =1+1",
		"\u00a0=1"}
	cold := []string{"2348035550101", "0803 555 0101", "a=b", "", "'=1", "\",\"=1+1", "Ada"}
	for i, cell := range slices.Concat(hot, cold) {
		var b bytes.Buffer
		if err := WriteCSV(&b, Layout{Columns: 1}, reject(rejected("x", cell))); err != nil {
			t.Fatal(err)
		}
		want := cell
		if i < len(hot) {
			want = "'" + cell
		}
		if line := "\ufeff\"" + strings.ReplaceAll(want, `"`, `""`) + "\",\"x\"\r\n"; b.String() != line {
			t.Errorf("%q is written as %q, want %q", cell, b.String(), line)
		}
		for _, bad := range []string{"\"=", "\"+", "\"-", "\"@", "\"\t", "\"\r", "\"\n"} {
			if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(b.String(), `""`, ""), "\"\r\n", ""), bad) {
				t.Errorf("%q opens a cell in %q", bad, b.String())
			}
		}
	}
}

func TestWriteXLSX(t *testing.T) {
	for _, c := range rejectedLayouts {
		var b bytes.Buffer
		if err := WriteXLSX(&b, c.layout, reject(c.rows...)); err != nil {
			t.Fatal(err)
		}
		f, err := excelize.OpenReader(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		all, err := f.GetRows("Sheet1")
		var got []string
		for _, cells := range all {
			got = append(got, strings.Join(cells, "|"))
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.want)
		}
	}
	var b bytes.Buffer
	cells := []string{"+2348035550101", "08035550101", "=1+1", "a\nb <&> \" é", "\x00"}
	if err := WriteXLSX(&b, Layout{Columns: 5}, reject(rejected("x", cells...))); err != nil {
		t.Fatal(err)
	}
	back := mustRead(t, b.String(), Options{HeaderRow: NoHeader})
	if cells[4] = "\ufffd"; !slices.Equal(back.rows[0].Cells, append(cells, "x")) {
		t.Errorf("read back as %q", back.rows[0].Cells)
	}
	isText(t, b.Bytes(), "A1", "C1", "A5000", "F9")
}

// isText holds when a program will keep what is typed into the cells as text.
func isText(t *testing.T, book []byte, cells ...string) {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(book))
	if err != nil {
		t.Fatal(err)
	}
	own, err := f.GetCellStyle("Sheet1", cells[0])
	if err != nil {
		t.Fatal(err)
	}
	if style, err := f.GetStyle(own); err != nil || style.CustomNumFmt == nil || *style.CustomNumFmt != "@" {
		t.Errorf("%s itself is not Text: %+v %v", cells[0], style, err)
	}
	for _, cell := range cells {
		column, _, err := excelize.SplitCellName(cell)
		if err != nil {
			t.Fatal(err)
		}
		id, err := f.GetColStyle("Sheet1", column)
		if err != nil {
			t.Fatal(err)
		}
		style, err := f.GetStyle(id)
		if err != nil || style.NumFmt != 49 && (style.CustomNumFmt == nil || *style.CustomNumFmt != "@") {
			t.Errorf("%s is not Text: %+v %v", cell, style, err)
		}
	}
	if kind, err := f.GetCellType("Sheet1", cells[0]); err != nil || kind != excelize.CellTypeInlineString &&
		kind != excelize.CellTypeSharedString {
		t.Errorf("%s has type %v, %v", cells[0], kind, err)
	}
}

var errRows = errors.New("database gone")

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWritersPassErrorsOn(t *testing.T) {
	failing := func(yield func(Rejected, error) bool) {
		if yield(rejected("x", "1"), nil) {
			yield(Rejected{}, errRows)
		}
	}
	for name, write := range map[string]func(io.Writer, Layout, iter.Seq2[Rejected, error]) error{"CSV": WriteCSV,
		"XLSX": WriteXLSX} {
		if err := write(io.Discard, Layout{}, failing); !errors.Is(err, errRows) {
			t.Errorf("%s: %v", name, err)
		}
		many := func(yield func(Rejected, error) bool) {
			for range 100_000 {
				if !yield(rejected("x", strings.Repeat("y", 200)), nil) {
					return
				}
			}
		}
		if err := write(full{}, Layout{}, many); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s to a full disk: %v", name, err)
		}
	}
}

func TestExample(t *testing.T) {
	for _, marks := range [][]string{nil, {"First Name", "Date"}, {"Odd thing"}} {
		var book, text bytes.Buffer
		if err := errors.Join(Example(&book, marks), ExampleCSV(&text, marks)); err != nil {
			t.Fatal(err)
		}
		isText(t, book.Bytes(), "A1", "A2", "A1000")
		a, b := mustRead(t, book.String(), Options{}), mustRead(t, text.String(), Options{})
		if !slices.Equal(show(a.rows), show(b.rows)) || !slices.Equal(a.Header, b.Header) || len(a.rows) != 3 {
			t.Errorf("%q: %q %q, as CSV %q %q", marks, a.Header, show(a.rows), b.Header, show(b.rows))
		}
		m := Guess(a.Header, a.Sample, "NG")
		if m.Phone != 0 || (m.Message == 1) != (marks == nil) || len(MatchMarks(marks, a.Columns)) != len(marks) {
			t.Errorf("%q: %+v for %q", marks, m, a.Header)
		}
		for _, row := range a.rows {
			for _, c := range row.Cells {
				if c == "" || opensFormula(c) {
					t.Errorf("%q: a cell %q", marks, c)
				}
			}
		}
	}
}

func TestRejectedRowsComeBack(t *testing.T) {
	before := mustRead(t, "\"phone\";name;text\n0803;Ada;\"a; b\"\n;Bola;=1+1\n123;\"C\nD\";x;y\n", Options{})
	var rows []Rejected
	for _, row := range before.rows {
		rows = append(rows, Rejected{row, fmt.Sprintf("fix %d", row.Number)})
	}
	layout := Layout{Header: before.Header, Columns: before.tally.Columns}
	for name, write := range map[string]func(io.Writer, Layout, iter.Seq2[Rejected, error]) error{"CSV": WriteCSV,
		"XLSX": WriteXLSX} {
		var b bytes.Buffer
		if err := write(&b, layout, reject(rows...)); err != nil {
			t.Fatal(err)
		}
		after := mustRead(t, b.String(), Options{})
		if len(after.rows) != 3 || HeaderKey(after.Header[:3]) != HeaderKey(before.Header) {
			t.Fatalf("%s: %q %q", name, after.Header, show(after.rows))
		}
		for i, row := range after.rows {
			for j, c := range before.rows[i].Cells {
				if got := row.Cells[j]; got != c && got != "'"+c {
					t.Errorf("%s: row %d: %q became %q", name, i, before.rows[i].Cells, row.Cells)
				}
			}
			if row.Cells[4] != fmt.Sprintf("fix %d", before.rows[i].Number) {
				t.Errorf("%s: %q", name, row.Cells)
			}
		}
	}
}
