package sheet

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

// formatPairs is the table of number formats and values. The columns of
// LibreOffice are written with "go test ./internal/sheet -run FormatPairs
// -write", which runs soffice (Debian: libreoffice-calc); the test alone
// needs none. Such a run is looked at line by line before it is committed.
const formatPairs = "testdata/formats.tsv"

// formatPair is a line of the table.
type formatPair struct {
	code, value            string // value with a quotation mark in front is a text
	epoch                  string // 1900 or 1904
	want, excelize, office string
	why                    string // where the three differ
}

func readPairs(t testing.TB) (comments []string, pairs []formatPair) {
	t.Helper()
	b, err := os.ReadFile(formatPairs)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "# ") {
			comments = append(comments, line)
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 7 {
			t.Fatalf("%q has %d cells, not 7", line, len(cells))
		}
		for i, c := range cells[:6] {
			if i == 2 {
				continue
			}
			if cells[i], err = strconv.Unquote(`"` + strings.ReplaceAll(c, `"`, `\"`) + `"`); err != nil {
				t.Fatalf("%q: %v", c, err)
			}
		}
		pairs = append(pairs, formatPair{cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6]})
	}
	return comments, pairs
}

// pairBook is a workbook in which each row of column A has one pair.
func pairBook(t testing.TB, pairs []formatPair, epoch string) string {
	t.Helper()
	var styles, xfs, rows strings.Builder
	for i, p := range pairs {
		n := strconv.Itoa(i + 1)
		id := strconv.Itoa(200 + i)
		if builtin, is := strings.CutPrefix(p.code, "builtin "); is {
			id = builtin
		} else {
			styles.WriteString(`<numFmt numFmtId="` + id + `" formatCode="` + escapeXML(p.code) + `"/>`)
		}
		xfs.WriteString(`<xf numFmtId="` + id + `" fontId="0" fillId="0" borderId="0" applyNumberFormat="1"/>`)
		if text, is := strings.CutPrefix(p.value, `"`); is {
			rows.WriteString(`<row r="` + n + `"><c r="A` + n + `" s="` + n + `" t="inlineStr"><is><t xml:space="preserve">` + escapeXML(text) +
				`</t></is></c></row>`)
		} else {
			rows.WriteString(`<row r="` + n + `"><c r="A` + n + `" s="` + n + `"><v>` + p.value + `</v></c></row>`)
		}
	}
	book := plainBook(rows.String()).with("xl/styles.xml", `<styleSheet `+mainNS+`><numFmts>`+styles.String()+`</numFmts>`+
		`<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills>`+
		`<borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0"/></cellStyleXfs>`+
		`<cellXfs><xf numFmtId="0"/>`+xfs.String()+`</cellXfs></styleSheet>`)
	book["[Content_Types].xml"] = contentTypes
	if epoch == "1904" {
		book["xl/workbook.xml"] = strings.Replace(book["xl/workbook.xml"], "<workbookPr/>", `<workbookPr date1904="1"/>`, 1)
	}
	return book.pack(t)
}

const contentTypes = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` +
	`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
	`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
	`<Default Extension="xml" ContentType="application/xml"/>` +
	`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
	`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>` +
	`<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`

func escapeXML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// oursOf, excelizeOf and officeOf are what each makes of the pairs of a book.
func oursOf(t testing.TB, book string, n int) []string {
	t.Helper()
	out := make([]string, n)
	r, err := Open(strings.NewReader(book), int64(len(book)), Options{HeaderRow: NoHeader, IncludeHidden: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		row, err := r.Next()
		if err != nil {
			return out
		}
		out[row.Number-1] = row.Cells[0]
	}
}

func excelizeOf(t testing.TB, book string, n int) []string {
	t.Helper()
	f, err := excelize.OpenReader(strings.NewReader(book))
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, n)
	for i := range out {
		if out[i], err = f.GetCellValue("People", "A"+strconv.Itoa(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func officeOf(t testing.TB, book string, n int) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pairs.xlsx"), []byte(book), 0o644); err != nil {
		t.Fatal(err)
	}
	// Comma, quotation mark, UTF-8, from line 1, language of the system, quote
	// what needs it, cells as shown.
	c := exec.Command("soffice", "-env:UserInstallation=file://"+dir+"/profile", "--headless", "--convert-to",
		"csv:Text - txt - csv (StarCalc):44,34,76,1", "--outdir", dir, filepath.Join(dir, "pairs.xlsx"))
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	b, err := os.ReadFile(filepath.Join(dir, "pairs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, n)
	for i, line := range strings.Split(string(b), "\n") {
		if line == "" || i >= n {
			continue
		}
		cells, err := csv.NewReader(strings.NewReader(line)).Read()
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out[i] = cells[0]
	}
	return out
}

// TestFormatPairs: a number is read as its cell shows it. Most pairs of the
// table are the same to us, excelize and LibreOffice; of the others each says
// whom we follow and why.
func TestFormatPairs(t *testing.T) {
	comments, pairs := readPairs(t)
	out, alike := comments, 0
	for _, epoch := range []string{"1900", "1904"} {
		some := slices.DeleteFunc(slices.Clone(pairs), func(p formatPair) bool { return p.epoch != epoch })
		book := pairBook(t, some, epoch)
		ours, theirs := oursOf(t, book, len(some)), excelizeOf(t, book, len(some))
		var office []string
		if *write {
			office = officeOf(t, book, len(some))
		}
		for i, p := range some {
			if *write {
				out = append(out, strings.Join([]string{quoted(p.code), quoted(p.value), epoch, quoted(ours[i]), quoted(theirs[i]),
					quoted(office[i]), p.why}, "\t"))
				continue
			}
			if ours[i] != p.want || theirs[i] != p.excelize {
				t.Errorf("%q %s: %q, and excelize %q; the table has %q and %q", p.code, p.value, ours[i], theirs[i], p.want, p.excelize)
			}
			switch same := p.want == p.excelize && p.want == p.office; {
			case same && p.why == "":
				alike++
			case same == (p.why != ""):
				t.Errorf("%q %s: %q, excelize %q, LibreOffice %q, because %q", p.code, p.value, p.want, p.excelize, p.office, p.why)
			}
		}
	}
	if *write {
		if err := os.WriteFile(formatPairs, []byte(strings.Join(out, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if alike < 300 {
		t.Errorf("%d pairs are the same to all three", alike)
	}
	t.Logf("%d pairs, %d of them the same to all three", len(pairs), alike)
}

func quoted(s string) string {
	s = strconv.Quote(s)
	return strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`)
}

// TestFormatsEnd: codes that nobody would write end, and soon.
func TestFormatsEnd(t *testing.T) {
	pieces := []string{"y", "m", "d", "h", "s", "[h]", ";", "\"", "\\", "@", "0", ".", "#", "[Red]", "AM/PM", "_", "*",
		"E+", "[$-409]", "/", "?", "%", ",", "[<5]", "General"}
	r := rand.New(rand.NewPCG(3, 4))
	start := time.Now()
	for range 30_000 {
		code := ""
		for range r.IntN(14) {
			code += pieces[r.IntN(len(pieces))]
		}
		checkFormat(t, code, float64(r.IntN(60000)-20000)/7)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("30,000 formats took %v", took)
	}
}

func checkFormat(t *testing.T, code string, v float64) {
	start := time.Now()
	f := parseFormat(code)
	shown, _ := f.appendShown(nil, v, false)
	if took := time.Since(start); took > time.Second {
		t.Errorf("%q takes %v for %v", code, took, v)
	}
	if len(shown) > 4096+8*len(code) {
		t.Errorf("%q shows %v in %d bytes", code, v, len(shown))
	}
	if utf8.ValidString(code) && !utf8.Valid(shown) {
		t.Errorf("%q shows %v as %q", code, v, shown)
	}
	if f.text != nil {
		f.text.appendText(nil, []byte("x"))
	}
}

func FuzzFormat(f *testing.F) {
	for _, code := range []string{"#,##0.00_);(#,##0.00)", "[h]:mm:ss.00", "# ??/??", "##0.0E+0", `"a"@`, "[>1]0;[$₦-468]#", "0,,%", "/", "0/0", "E+"} {
		f.Add(code, 1234.5)
	}
	f.Fuzz(func(t *testing.T, code string, v float64) {
		if utf8.RuneCountInString(code) <= maxFormatCode && !math.IsNaN(v) && !math.IsInf(v, 0) {
			checkFormat(t, code, v)
		}
	})
}

func BenchmarkFormats(b *testing.B) {
	for _, code := range []string{"#,##0.00", "dd/mm/yyyy", "0%", "# ??/??"} {
		b.Run(code, func(b *testing.B) {
			f, room := parseFormat(code), make([]byte, 0, 64)
			for b.Loop() {
				f.appendShown(room, 46150.4375, false)
			}
		})
	}
}
