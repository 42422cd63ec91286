package sheet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"smsdesk/internal/sms"
)

// list is everything that came out of a file.
type list struct {
	Profile
	rows  []Row
	tally Tally
}

// read reads a file to its end.
func read(data string, o Options) (list, error) {
	r, err := Open(strings.NewReader(data), int64(len(data)), o)
	if err != nil {
		return list{}, err
	}
	defer r.Close()
	l := list{Profile: r.Profile()}
	for {
		row, err := r.Next()
		if err == io.EOF {
			l.tally = r.Tally()
			return l, r.Close()
		}
		if err != nil {
			if _, again := r.Next(); fmt.Sprint(again) != fmt.Sprint(err) {
				return l, fmt.Errorf("after %w comes %w", err, again)
			}
			return l, err
		}
		l.rows = append(l.rows, row)
	}
}

func mustRead(t *testing.T, data string, o Options) list {
	t.Helper()
	l, err := read(data, o)
	if err != nil {
		t.Fatalf("reading %.80q: %v", data, err)
	}
	return l
}

// sentence is what staff are told of an error.
func sentence(err error) string {
	var bad sms.Invalid
	if errors.As(err, &bad) && len(bad) == 1 {
		for _, s := range bad {
			return s
		}
	}
	return fmt.Sprintf("no sentence: %v", err)
}

// show writes rows as "2: a|b" with a problem in front of its cells.
func show(rows []Row) []string {
	var all []string
	for _, r := range rows {
		s := fmt.Sprintf("%d: %s", r.Number, strings.Join(r.Cells, "|"))
		if r.Problem != "" {
			s = fmt.Sprintf("%d! %s ! %s", r.Number, strings.Join(r.Cells, "|"), r.Problem)
		}
		all = append(all, s)
	}
	return all
}

func encode(t *testing.T, e encoding.Encoding, s string) string {
	t.Helper()
	out, err := e.NewEncoder().String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEncodings(t *testing.T) {
	plain := "phone,name,text\r\n08035550101,Zoë,\"Déjà vu, 5 £\"\r\n08035550102,Bola,a\r\n"
	wide := "phone,name,text\r\n08035550101,Zoë,\"ọjọ́ 5 ₦, 😀\"\r\n08035550102,Ṣadé,\"\"\"x\"\"\"\r\n"
	le, be := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	for _, c := range []struct {
		name, data, text string
		want             Encoding
	}{
		{"ASCII", "phone,name\n08035550101,Ada\n", "phone,name\n08035550101,Ada\n", UTF8},
		{"UTF-8", wide, wide, UTF8},
		{"UTF-8 with mark", "\xef\xbb\xbf" + wide, wide, UTF8},
		{"UTF-8 with mark and quoted header", "\xef\xbb\xbf\"phone\",\"name\"\n08035550101,Ada\n", "phone,name\n08035550101,Ada\n", UTF8},
		{"UTF-16LE with mark", "\xff\xfe" + encode(t, le, wide), wide, UTF16LE},
		{"UTF-16BE with mark", "\xfe\xff" + encode(t, be, wide), wide, UTF16BE},
		{"UTF-16LE without mark", encode(t, le, wide), wide, UTF16LE},
		{"UTF-16BE without mark", encode(t, be, wide), wide, UTF16BE},
		{"UTF-16LE, tabs (Excel's Unicode Text)", "\xff\xfe" + encode(t, le, strings.ReplaceAll(plain, ",", "\t")), strings.ReplaceAll(plain, ",", "\t"), UTF16LE},
		{"Windows-1252", encode(t, charmap.Windows1252, plain), plain, Windows1252},
		{"Windows-1252 in the last row of a long file", "phone,name\n" + strings.Repeat("08035550101,Ada\n", 30_000) +
			"08035550102,Zo\xeb\n", "phone,name\n" + strings.Repeat("08035550101,Ada\n", 30_000) + "08035550102,Zoë\n", Windows1252},
		{"Latin-1 is read as Windows-1252", encode(t, charmap.ISO8859_1, plain), plain, Windows1252},
	} {
		got := mustRead(t, c.data, Options{})
		want := mustRead(t, "\xef\xbb\xbf"+c.text, Options{})
		if got.Options.Encoding != c.want {
			t.Errorf("%s: encoding %s, want %s", c.name, got.Options.Encoding, c.want)
		}
		if !slices.Equal(show(got.rows), show(want.rows)) || !slices.Equal(got.Header, want.Header) {
			t.Errorf("%s: %q %.200q, want %q %.200q", c.name, got.Header, show(got.rows), want.Header, show(want.rows))
		}
	}
}

func TestLettersAcrossChunksAreCounted(t *testing.T) {
	for shift := range 4 {
		data := strings.Repeat("x", shift) + strings.Repeat("€😀é", 100_000)
		if good, bad, err := countUTF8(strings.NewReader(data)); bad != 0 || good < 100_000 || err != nil {
			t.Errorf("shifted by %d: %d good, %d bad, %v", shift, good, bad, err)
		}
		if good, bad, err := countUTF8(strings.NewReader(data + "\xe2\x82")); bad != 2 || good < 100_000 || err != nil {
			t.Errorf("cut off, shifted by %d: %d good, %d bad, %v", shift, good, bad, err)
		}
	}
}

func TestAnotherEncodingCanBeChosen(t *testing.T) {
	data := "phone,name\n08035550101,Zo\xebl\n"
	for e, want := range map[Encoding]string{Windows1252: "Zoël", "Windows-1251": "Zoлl", "IBM850": "ZoÙl",
		"Macintosh": "ZoÎl"} {
		if got := mustRead(t, data, Options{Encoding: e}); got.rows[0].Cells[1] != want {
			t.Errorf("%s: %q, want %q", e, got.rows[0].Cells[1], want)
		}
	}
	if _, err := read(data, Options{Encoding: "EBCDIC"}); sentence(
		err) != `"EBCDIC" is not an encoding we can read. Choose one from the list` {
		t.Error(err)
	}
	for _, e := range Encodings() {
		if !e.known() {
			t.Errorf("%s is offered and not known", e)
		}
	}
}

func TestFewBadBytesAreTheFaultOfTheirRows(t *testing.T) {
	got := mustRead(t, "phone,name\n08035550101,Ṣadé Ọlá\n08035550102,Zo\xeb\n08035550103,Ẹmí\n", Options{})
	want := []string{
		"2: 08035550101|Ṣadé Ọlá",
		"3! 08035550102|Zo\ufffd ! Has characters that are not valid UTF-8. Choose another encoding or retype the row",
		"4: 08035550103|Ẹmí",
	}
	if !slices.Equal(show(got.rows), want) || got.Options.Encoding != UTF8 || got.tally.Problems != 1 {
		t.Errorf("%q as %s", show(got.rows), got.Options.Encoding)
	}
	odd := "\xff\xfe" + encode(t, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "phone,name\n08035550101,A") +
		"\x00\xd8\n\x00" + "0\x00"
	got = mustRead(t, odd, Options{})
	if len(got.rows) != 2 ||
		got.rows[0].Problem != "Has characters that are not valid UTF-16LE. Choose another encoding or retype the row" {
		t.Errorf("half a surrogate pair: %q", show(got.rows))
	}
}

func TestDelimitersAndHeaders(t *testing.T) {
	for _, c := range []struct {
		name, data string
		delimiter  rune
		header     int
		columns    string
		first      string
	}{
		{"comma", "phone,name\n08035550101,Ada\n", ',', 1, "phone|name", "2: 08035550101|Ada"},
		{"semicolon, commas in the text", "phone;text\n08035550101;Hello, Ada\n08035550102;Hello, Bola\n", ';', 1, "phone|text", "2: 08035550101|Hello, Ada"},
		{"semicolon, no names, a comma in each text", "08035550101;Hello, Ada\n08035550102;Hello, Bola\n", ';', NoHeader,
			"Column A|Column B", "1: 08035550101|Hello, Ada"},
		{"tab", "phone\ttext\n08035550101\tHello; Ada, you | me\n", '\t', 1, "phone|text", "2: 08035550101|Hello; Ada, you | me"},
		{"bar", "phone|text\n08035550101|Hello, Ada; you\n", '|', 1, "phone|text", "2: 08035550101|Hello, Ada; you"},
		{"told by Excel's first line", "sep=;\r\nphone;text\r\n08035550101;a,b\r\n", ';', 1, "phone|text", "2: 08035550101|a,b"},
		{"one column", "phone\n08035550101\n08035550102\n", ',', 1, "phone", "2: 08035550101"},
		{"one column, no name", "08035550101\n08035550102\n", ',', NoHeader, "Column A", "1: 08035550101"},
		{"a title above", "June reminders 2026-06-01\n\nphone,name\n08035550101,Ada\n", ',', 3, "phone|name", "4: 08035550101|Ada"},
		{"a title above names we do not know", "June reminders\nline,who\n08035550101,Ada\n", ',', 2, "line|who", "3: 08035550101|Ada"},
		{"first number is wrong, no names", "0803 5S5 0101,Ada\n08035550102,Bola\n", ',', NoHeader, "Column A|Column B", "1: 0803 5S5 0101|Ada"},
		{"shortened numbers", "phone,name\n2.34803E+12,Ada\n", ',', 1, "phone|name", "2: 2.34803E+12|Ada"},
		{"a name is missing", "phone,,date\n08035550101,Ada,3 June,more\n", ',', 1, "phone|Column B|date|Column D", "2: 08035550101|Ada|3 June|more"},
		{"names with spaces and quotes", " \"Phone No.\" ,\"Full, name\"\n08035550101,Ada\n", ',', 1, "Phone No.|Full, name", "2: 08035550101|Ada"},
		{"the name of a phone column among the data", "line,channel\n08035550101,mobile\n08035550102,tel\n", ',', 1, "line|channel", "2: 08035550101|mobile"},
		{"two titles with dates", "Due 2026-06-01\nPrinted 2026-05-30\nphone,name\n08035550101,Ada\n", ',', 3, "phone|name", "4: 08035550101|Ada"},
		{"formatted columns", "phone,name,,\n08035550101,Ada,,\n", ',', 1, "phone|name", "2: 08035550101|Ada||"},
		{"an empty last column without names", "08035550101,\n08035550102,\n", ',', NoHeader, "Column A|Column B", "1: 08035550101|"},
		{"names only words", "who,what\nAda,a\n", ',', 1, "who|what", "2: Ada|a"},
	} {
		got := mustRead(t, c.data, Options{})
		if got.Options.Delimiter != c.delimiter || got.Options.HeaderRow != c.header ||
			strings.Join(got.Columns, "|") != c.columns || show(got.rows)[0] != c.first {
			t.Errorf("%s: %q, header in %d, %q, %q", c.name, got.Options.Delimiter, got.Options.HeaderRow, got.Columns,
				show(got.rows)[0])
		}
		if got.Kind != CSV || got.tally.Rows != len(got.rows) {
			t.Errorf("%s: %s, %d rows", c.name, got.Kind, got.tally.Rows)
		}
	}
}

func TestDelimiterAndHeaderCanBeChosen(t *testing.T) {
	data := "a;b,c\nphone;x,y\n\n08035550101;1,2\n"
	got := mustRead(t, data, Options{Delimiter: ';', HeaderRow: 1})
	if !slices.Equal(got.Header, []string{"a", "b,c"}) ||
		!slices.Equal(show(got.rows), []string{"2: phone|x,y", "4: 08035550101|1,2"}) || got.tally.Blank != 1 {
		t.Errorf("%q %q %+v", got.Header, show(got.rows), got.tally)
	}
	got = mustRead(t, data, Options{HeaderRow: NoHeader, Delimiter: ','})
	if got.Header != nil || len(got.rows) != 3 || got.rows[0].Cells[0] != "a;b" {
		t.Errorf("%q %q", got.Header, show(got.rows))
	}
	if got := mustRead(t, strings.Repeat("x,1\n", 90)+"phone,n\n0803,2\n",
		Options{HeaderRow: 91}); got.Header[0] != "phone" || got.rows[0].Number != 92 {
		t.Errorf("a late header: %q %q", got.Header, show(got.rows))
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Delimiter: 'x'}, "Choose what separates the columns: comma, semicolon, tab or vertical bar"},
		{Options{HeaderRow: 3}, "Row 3 is empty. Choose the row with the column names"},
		{Options{HeaderRow: 1204}, "Row 1,204 is empty. Choose the row with the column names"},
	} {
		if _, err := read(data, c.o); sentence(err) != c.want {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

func TestNotices(t *testing.T) {
	if got := mustRead(t, "08035550101,Ada\n", Options{}).Notices(); !slices.Equal(got,
		[]string{"The first row looks like data, not column names"}) {
		t.Errorf("%q", got)
	}
	if got := mustRead(t, "phone,name\n08035550101,Ada\n", Options{}).Notices(); got != nil {
		t.Errorf("%q", got)
	}
	if got := mustRead(t, "08035550101^Hi\n", Options{}).Notices(); got != nil {
		t.Errorf("%q", got)
	}
	for n, want := range map[int]string{0: "", 1: "1 hidden row is left out", 14: "14 hidden rows are left out",
		1204: "1,204 hidden rows are left out"} {
		if got := (Tally{Hidden: n}).Notice(); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestTooManyRows(t *testing.T) {
	row := "8035550101\n"
	for _, c := range []struct {
		rows int
		want string
	}{
		{1_000_000, ""},
		{1_000_001, "The selected file has 1,000,001 rows. The limit is 1,000,000. Split it into two files"},
		{1_048_577, "The selected file has 1,048,577 rows. The limit is 1,000,000. Split it into two files"},
		{2_204_310, "The selected file has 2,204,310 rows. The limit is 1,000,000. Split it into 3 files"},
	} {
		data := "phone\n" + strings.Repeat(row, c.rows) + "\n\n"
		r, err := Open(strings.NewReader(data), int64(len(data)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for err == nil {
			if _, err = r.Next(); err == nil {
				n++
			}
		}
		if got := sentence(err); n != MaxRows || err != io.EOF && got != c.want || err == io.EOF && c.want != "" {
			t.Errorf("%d rows: %d read, then %v", c.rows, n, err)
		}
		if err == io.EOF && (r.Tally().Blank != 2 || r.Progress() != 1) {
			t.Errorf("%+v, progress %v", r.Tally(), r.Progress())
		}
	}
}

func TestRowsMayBeKept(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "%d,\"name %d\"\n", 8035550000+i, i)
	}
	for i, row := range mustRead(t, b.String(), Options{}).rows {
		if row.Cells[0] != fmt.Sprint(8035550000+i) || row.Cells[1] != fmt.Sprintf("name %d", i) {
			t.Fatalf("row %d became %q", i, row.Cells)
		}
		if row.Cells = append(row.Cells, "x"); row.Number != i+1 {
			t.Fatalf("row %d has number %d", i, row.Number)
		}
	}
}

// broken is a disk that fails.
type broken struct {
	io.ReaderAt
	from int64
}

var errDisk = errors.New("disk on fire")

func (b broken) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.from {
		return 0, errDisk
	}
	return b.ReaderAt.ReadAt(p, off)
}

func TestFailureOfTheDiskIsNoFaultOfTheFile(t *testing.T) {
	text := "phone,name\n" + strings.Repeat("08035550101,Ada\n", 100_000)
	for name, data := range map[string]string{"CSV": text, "UTF-16": "\xff\xfe" +
		encode(t, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), text), "XLSX": bigBook(t, 30_000)} {
		for _, from := range []int64{0, 100, 5000, 300_000, int64(len(data)) - 1} {
			r, err := Open(broken{strings.NewReader(data), from}, int64(len(data)), Options{})
			for err == nil {
				_, err = r.Next()
			}
			if !errors.Is(err, errDisk) {
				t.Errorf("%s failing at %d: %v", name, from, err)
			}
		}
	}
}

func TestAnOffsetBelowZeroIsNoFailureOfTheDisk(t *testing.T) {
	file := &boundedReader{r: strings.NewReader("x"), left: -1}
	if _, err := file.ReadAt(make([]byte, 1), -1); err == nil || file.failure() != nil {
		t.Errorf("%v, %v", err, file.failure())
	}
}

func TestAPanicEndsInASentence(t *testing.T) {
	r, err := Open(strings.NewReader("phone\n1\n"), 8, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.ahead, r.source = nil, nil
	if _, err := r.Next(); sentence(err) != unreadable {
		t.Error(err)
	}
}

// sane holds of every row that any file gives.
func sane(t *testing.T, l list) {
	t.Helper()
	last := 0
	for _, row := range l.rows {
		size := 0
		for _, c := range row.Cells {
			size += len(c)
			if !utf8.ValidString(c) || strings.Contains(c, "\x00") {
				t.Fatalf("row %d has a cell %q", row.Number, c)
			}
		}
		if row.Number <= last || len(row.Cells) > MaxColumns || size > 3*MaxRecord {
			t.Fatalf("row %d after %d: %d cells, %d bytes", row.Number, last, len(row.Cells), size)
		}
		last = row.Number
	}
	if len(l.rows) != l.tally.Rows || l.tally.Problems > l.tally.Rows {
		t.Fatalf("%d rows, %+v", len(l.rows), l.tally)
	}
}

func FuzzSniff(f *testing.F) {
	for _, s := range []string{"phone,name\n0803,Ada\n", "0803^Hi~0804^Ho", "\xff\xfe0\x00,\x001\x00", "PK\x03\x04",
		"%PDF-1.7", "sep=;\na;b\n", "a\rb\rc", "\"\n\"a,\"b\nc", oleMagic} {
		f.Add([]byte(s))
	}
	f.Add([]byte(smallBook(f)))
	f.Fuzz(func(t *testing.T, data []byte) {
		bare := &Reader{file: &boundedReader{r: bytes.NewReader(data), left: -1}}
		for err := bare.open(int64(len(data))); err == nil; {
			_, err = bare.advance() // Next would hide a panic
		}
		p, err := Detect(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if strings.HasPrefix(sentence(err), "no sentence") || sentence(err) == "" {
				t.Fatalf("refused without a sentence: %v", err)
			}
			return
		}
		found, err := read(string(data), Options{})
		told, err2 := read(string(data), p.Options)
		if fmt.Sprint(err) != fmt.Sprint(err2) || !slices.Equal(show(found.rows), show(told.rows)) {
			t.Fatalf("found out %q (%v), told the same %q (%v)", show(found.rows), err, show(told.rows), err2)
		}
		if err == nil {
			sane(t, found)
		}
		for i, row := range p.Sample {
			if i < len(found.rows) && row.Number != found.rows[i].Number {
				t.Fatalf("the sample has row %d where Next has %d", row.Number, found.rows[i].Number)
			}
		}
	})
}

// TestTheNamesAgain: a row that says the names of the columns again is no row
// of data, and is counted.
func TestTheNamesAgain(t *testing.T) {
	got := mustRead(t, "Phone,Name,\n08035550101,Ada\n PHONE ,name,,\nphone,Name,Bola\n08035550102,Name\nPhone,Name\n", Options{})
	if want := []string{"2: 08035550101|Ada", "4: phone|Name|Bola", "5: 08035550102|Name"}; !slices.Equal(show(got.rows), want) {
		t.Errorf("%q, want %q", show(got.rows), want)
	}
	if got.tally.Headers != 2 || got.tally.Rows != 3 {
		t.Errorf("%+v", got.tally)
	}
	if got := mustRead(t, "08035550101,Ada\n08035550101,Ada\n", Options{}); got.tally.Headers != 0 || len(got.rows) != 2 {
		t.Errorf("without names: %+v", got.tally)
	}
}

// TestTenThousandCommas: columns that are empty in the whole row come from
// formatting, also beyond the limit of columns.
func TestTenThousandCommas(t *testing.T) {
	tail := strings.Repeat(",", 10_001)
	for name, data := range map[string]string{
		"in every row":   "phone,name" + tail + "\n08035550101,Ada" + tail + "\r\n08035550102,Bola" + tail + "\n",
		"in one row":     "phone,name\n08035550101,Ada" + tail + "\n08035550102,Bola\n",
		"behind quotes":  "phone,name\n08035550101,\"Ada\"" + tail + "\n08035550102,Bola\n",
		"empty quotes":   "phone,name\n08035550101,Ada" + strings.Repeat(`,""`, 10_001) + "\n08035550102,Bola\n",
		"and some space": "phone,name\n08035550101,Ada" + tail + "  \n08035550102,Bola\n",
	} {
		got := mustRead(t, data, Options{})
		if want := []string{"2: 08035550101|Ada", "3: 08035550102|Bola"}; !slices.Equal(show(got.rows), want) || got.tally.Problems != 0 ||
			!slices.Equal(got.Columns, []string{"phone", "name"}) {
			t.Errorf("%s: %.200q %+v %.200q", name, show(got.rows), got.tally, got.Columns)
		}
	}
	far := "phone,name\n08035550101,Ada" + tail + "x\n"
	if got := mustRead(t, far, Options{}); got.tally.Problems != 1 {
		t.Errorf("a value beyond the limit: %+v", got.tally)
	}
}

func TestColumnsOfOneName(t *testing.T) {
	got := mustRead(t, "Amount,phone,amount, AMOUNT ,,\n1,08035550101,2,3\n", Options{})
	if same := got.SameNames(); len(same) != 1 || !slices.Equal(same[0], []int{0, 2, 3}) {
		t.Errorf("%v", same)
	}
	if want := []string{`3 columns are called "Amount". Check which one is used`}; !slices.Equal(got.Notices(), want) {
		t.Errorf("%q", got.Notices())
	}
}
