package sheet

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"
)

// scan reads text as records with a delimiter, blank ones left out.
func scan(r io.Reader, delimiter byte) ([]record, error) {
	s := newRecords(r, delimiter, UTF8)
	var all []record
	for {
		rec, err := s.next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if !blank(rec) {
			all = append(all, rec)
		}
	}
}

func TestUglyRecords(t *testing.T) {
	long := strings.Repeat("x", MaxRecord)
	for _, c := range []struct {
		name, data string
		want       []string
	}{
		{"ragged", "a,b,c\n1\n1,2\n1,2,3,4\n", []string{"1: a|b|c", "2: 1", "3: 1|2", "4: 1|2|3|4"}},
		{"no end of line at the end", "a,b\n1,2", []string{"1: a|b", "2: 1|2"}},
		{"an empty last cell", "a,b\n1,", []string{"1: a|b", "2: 1|"}},
		{"an empty last cell behind a quote", "\"a\",", []string{"1: a|"}},
		{"blank rows keep the numbers", "a\n\n \r\n,,\nb\n", []string{"1: a", "5: b"}},
		{"quoted line breaks keep Excel's numbers", "a,\"x\r\ny\nz\"\nb,c\n", []string{"1: a|x\ny\nz", "2: b|c"}},
		{"doubled quotes", "\"a \"\"b\"\" c\",\"\"\n", []string{"1: a \"b\" c|"}},
		{"bare quotes", "5\" pipe,\"say \"hi\" to me\",x\"y\n", []string{"1: 5\" pipe|say \"hi\" to me|x\"y"}},
		{"spaces around quotes", "a, \"b, c\" ,d\n", []string{"1: a|b, c|d"}},
		{"a lone return", "a,b\rc,d\ne,f\n", []string{"1! a|b\rc|d ! " + problemReturn, "3: e|f"}},
		{"a lone return in a row with quotes", "a,\"q\",b\rc\ne,f\n", []string{"1! a|q|b\rc ! " + problemReturn, "3: e|f"}},
		{"a lone return in quotes", "a,\"b\rc\"\ne,f\n", []string{"1: a|b\nc", "2: e|f"}},
		{"line ends converted twice", "a,b\r\r\nc,d\r\r\n", []string{"1: a|b", "2: c|d"}},
		{"NUL", "a,b\nx\x00,y\nc,d\n", []string{"1: a|b", "2! x\ufffd|y ! " + problemNUL, "3: c|d"}},
		{"NUL in quotes", "a,\"b\x00\"\nc,d\n", []string{"1! a|b\ufffd ! " + problemNUL, "2: c|d"}},
		{"formulas are data", "a,\"=cmd|' /C calc'!A0\"\nb,@SUM(1)\n", []string{"1: a|=cmd|' /C calc'!A0", "2: b|@SUM(1)"}},
		{"an unclosed quote to the end", "a,\"b\nc,d\ne,f\n", []string{"1! a|\"b ! " + problemQuote, "2: c|d", "3: e|f"}},
		{"an unclosed quote with quotes below", "a,\"b\nc,\"d\"\ne,\"f, g\"\n", []string{"1! a|\"b ! " + problemQuote, "2: c|d", "3: e|f, g"}},
		{"an unclosed quote in the last row", "a,b\nc,\"d", []string{"1: a|b", "2! c|\"d ! " + problemQuote}},
		{"a quote opened in each row", "a,\"b\na,\"b\na,\"b\n", []string{"1! a|\"b ! " + problemQuote, "2! a|\"b ! " + problemQuote, "3! a|\"b ! " + problemQuote}},
		{"a row that is too long", "a\n" + long + "x,1\nb\n", []string{"1: a", "2! " + long[:keptOfLong] + " ! " + problemLong, "3: b"}},
		{"a row that is too long in quotes", "a\n\"" + long + "\"\nb\n", []string{"1: a", "2! \"" + long[:keptOfLong-1] + " ! " + problemLong, "3: b"}},
		{"the longest row", long[:MaxRecord] + "\nb\n", []string{"1: " + long, "2: b"}},
		{"a byte order mark in the middle is a letter", "a\n\ufeffb\n", []string{"1: a", "2: \ufeffb"}},
		{"the end of file of DOS", "a,b\r\nc,d\r\n\x1a", []string{"1: a|b", "2: c|d"}},
		{"nothing", "", nil},
		{"a quote", "\"", []string{"1! \" ! " + problemQuote}},
		{"a letter cut in two by the limit", strings.Repeat("x", keptOfLong-1) + "é" + long + "\nb",
			[]string{"1! " + strings.Repeat("x", keptOfLong-1) + " ! " + problemLong, "2: b"}},
	} {
		for chunk, r := range map[string]io.Reader{"whole": strings.NewReader(c.data),
			"halves": iotest.HalfReader(strings.NewReader(c.data)), "bytes": iotest.OneByteReader(strings.NewReader(c.data))} {
			got, err := scan(r, ',')
			var rows []Row
			for _, rec := range got {
				rows = append(rows, rec.Row)
			}
			if err != nil || !slices.Equal(show(rows), c.want) {
				t.Errorf("%s, in %s: %.300q, want %.300q (%v)", c.name, chunk, show(rows), c.want, err)
			}
		}
	}
}

func TestOldMacFile(t *testing.T) {
	got := mustRead(t, "phone,name\r08035550101,Ada\r\r08035550102,\"Bo\rla\"\r", Options{})
	if want := []string{"2: 08035550101|Ada", "4: 08035550102|Bo\nla"}; !slices.Equal(show(got.rows), want) {
		t.Errorf("%q", show(got.rows))
	}
}

func TestColumnsOfARow(t *testing.T) {
	wide := "phone,name\n" + strings.Repeat("1,", 1203) + "1\n" + strings.Repeat(",", 999) + "x\n" + `"a"` +
		strings.Repeat(`,"a"`, 2000) + "\n"
	got := mustRead(t, wide, Options{})
	if len(got.rows) != 3 ||
		got.rows[0].Problem != "Row has 1,204 columns. The limit is 1,000. Remove columns you do not need" ||
		got.rows[1].Problem != "" || len(got.rows[1].Cells) != 1000 ||
		got.rows[2].Problem != "Row has 2,001 columns. The limit is 1,000. Remove columns you do not need" ||
		len(got.rows[2].Cells) != 1000 {
		t.Errorf("%d rows, %q, %q", len(got.rows), got.rows[0].Problem, got.rows[2].Problem)
	}
	for _, n := range []int{1001, 10_000, 100_000} {
		_, err := read("h"+strings.Repeat(",h", n-1)+"\n1\n", Options{})
		if want := fmt.Sprintf("The selected file has %s columns. The limit is 1,000. Remove the columns you do not need",
			comma(n)); sentence(err) != want {
			t.Errorf("%d columns: %v", n, err)
		}
	}
}

func comma(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }

// randomTable is a table of the kind that any program may write.
func randomTable(r *rand.Rand) [][]string {
	pieces := []string{"a", "0803", " ", "\"", ",", ";", "\n", "é", "😀", "\t", "'", "=1+1", "x y", "\ufeff", "\\", "|", "",
		"long text of some words"}
	table := make([][]string, 1+r.IntN(30))
	for i := range table {
		table[i] = make([]string, 1+r.IntN(6))
		for j := range table[i] {
			for range r.IntN(4) {
				table[i][j] += pieces[r.IntN(len(pieces))]
			}
		}
	}
	return table
}

func TestAgreesWithEncodingCSV(t *testing.T) {
	for seed := range uint64(3000 / lighter) {
		r := rand.New(rand.NewPCG(seed, 7))
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Comma, w.UseCRLF = delimiters[r.IntN(len(delimiters))], r.IntN(2) == 0
		table := randomTable(r)
		if err := w.WriteAll(table); err != nil {
			t.Fatal(err)
		}
		got, err := scan(iotest.HalfReader(bytes.NewReader(b.Bytes())), byte(w.Comma))
		if err != nil {
			t.Fatal(err)
		}
		for n, cells := range table {
			if blank(record{Row: Row{Cells: cells}}) {
				continue
			}
			if len(got) == 0 || got[0].Number != n+1 || got[0].Problem != "" || !slices.Equal(got[0].Cells, cells) {
				t.Fatalf("seed %d: %q is read as %+v, not %q", seed, b.String(), got, cells)
			}
			got = got[1:]
		}
		if len(got) > 0 {
			t.Fatalf("seed %d: %q has %+v too many", seed, b.String(), got)
		}
	}
}

func FuzzCSVImport(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "\"a\"\"b\",\"c\nd\"\r\n", "\"a\n", "a,\"b\"c\n", "a\rb", ",,\n\n", "x\x00y",
		"\xff,1", " \"a\" ,b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := scan(bytes.NewReader(data), ',')
		if err != nil {
			t.Fatal(err)
		}
		l := list{tally: Tally{Rows: len(got)}}
		for _, rec := range got {
			l.rows = append(l.rows, rec.Row)
		}
		sane(t, l)
		plain := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		if len(data) > MaxRecord || !utf8.Valid(data) || bytes.ContainsAny(plain, "\x00\r") {
			return
		}
		std := csv.NewReader(bytes.NewReader(data))
		std.FieldsPerRecord = -1
		want, err := std.ReadAll()
		if err != nil {
			return
		}
		want = slices.DeleteFunc(want, func(cells []string) bool { return blank(record{Row: Row{Cells: cells}}) })
		if len(want) != len(got) {
			t.Fatalf("%q: %d records, encoding/csv has %d", data, len(got), len(want))
		}
		for i, cells := range want {
			if len(cells) <= MaxColumns && (got[i].Problem != "" || !slices.Equal(got[i].Cells, cells)) {
				t.Fatalf("%q: record %d is %q (%s), encoding/csv has %q", data, i, got[i].Cells, got[i].Problem, cells)
			}
		}
	})
}

// A row whose quote is never closed looks at the rows below only once: four
// times the rows cost about four times the time, not sixteen times.
func TestManyUnclosedQuotesCostLittle(t *testing.T) {
	least := func(rows int) time.Duration {
		data, best := strings.Repeat("a,\"b\n", rows), time.Duration(math.MaxInt64)
		for range 3 {
			start := time.Now()
			got, err := scan(strings.NewReader(data), ',')
			best = min(best, time.Since(start))
			if err != nil || len(got) != rows || got[rows-1].Problem != problemQuote {
				t.Fatalf("%d records of %d, %v", len(got), rows, err)
			}
		}
		return best
	}
	if few, many := least(50_000), least(200_000); many > 10*few {
		t.Errorf("%v for four times the rows of %v: each row looks at all the rows below", many, few)
	}
}
