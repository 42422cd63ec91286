package sheet

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

const mainNS = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`

// parts is a workbook before it is packed.
type parts map[string]string

// plainBook is a workbook of one sheet with the given rows.
func plainBook(rows string) parts {
	return parts{
		"[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
		"_rels/.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
			`Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml": `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><workbook ` + mainNS +
			` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><workbookPr/><sheets>` +
			`<sheet name="People" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>` +
			`<Relationship Id="rId3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" ` +
			`Target="sharedStrings.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml": `<?xml version="1.0"?><worksheet ` + mainNS +
			`><sheetViews><sheetView/></sheetViews><cols><col min="1" max="2"/></cols><sheetData>` + rows +
			`</sheetData><pageMargins/></worksheet>`,
	}
}

func (p parts) with(name, text string) parts { p[name] = text; return p }

func (p parts) pack(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestSpeed)
	})
	names := []string{}
	for name := range p {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, p[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func smallBook(t testing.TB) string {
	return plainBook(
		`<row r="1"><c r="A1" t="inlineStr"><is><t>phone</t></is></c><c r="B1" t="s"><v>0</v></c></row><row r="2"><c r="A2">`+
			`<v>2348030000101</v></c><c r="B2" s="1"><v>45292</v></c></row>`).
		with("xl/sharedStrings.xml", `<sst><si><t>date</t></si></sst>`).
		with("xl/styles.xml", `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`).pack(t)
}

// bigBook has n rows of a number and a text of its own among the shared ones.
func bigBook(t testing.TB, n int) string {
	var rows, texts strings.Builder
	rows.WriteString(
		`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c></row>`)
	texts.WriteString(`<sst ` + mainNS + `><si><t>phone</t></si><si><t>name</t></si><si><t>text</t></si>`)
	for i := range n {
		fmt.Fprintf(&rows,
			`<row r="%d"><c r="A%d"><v>%d</v></c><c r="B%d" t="s"><v>%d</v></c><c r="C%d" t="s"><v>%d</v></c></row>`, i+2, i+2,
			2348030000000+i, i+2, 2*i+3, i+2, 2*i+4)
		fmt.Fprintf(&texts,
			`<si><t>Ada %d</t></si><si><t>Dear customer number %d, your parcel is with us. Please bring this code when you come `+
				`for it: %d. We are open until five every day.</t></si>`, i, i, i*7919)
	}
	texts.WriteString(`</sst>`)
	return plainBook(rows.String()).with("xl/sharedStrings.xml", texts.String()).with("xl/styles.xml", `<styleSheet `+
		mainNS+`/>`).pack(t)
}

func TestBook(t *testing.T) {
	got := mustRead(t, smallBook(t), Options{Country: "NG"})
	if got.Kind != XLSX || !slices.Equal(got.Header, []string{"phone", "date"}) ||
		!slices.Equal(show(got.rows), []string{"2: 2348030000101|01/01/2024"}) {
		t.Errorf("%s %q %q", got.Kind, got.Header, show(got.rows))
	}
	if got.Options.Sheet != "People" || got.Options.HeaderRow != 1 || got.Options.Encoding != "" {
		t.Errorf("%+v", got.Options)
	}
}

func TestCells(t *testing.T) {
	styles := `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-409]d mmmm yyyy;@"/><numFmt numFmtId="165" ` +
		`formatCode="0.00E+00"/><numFmt numFmtId="166" formatCode="&quot;day &quot;0"/><numFmt numFmtId="167" ` +
		`formatCode="[Red][$USD]0.00\d_y"/></numFmts>` +
		`<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/>` +
		`<xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="20"/><xf numFmtId="22"/><xf numFmtId="46"/><xf numFmtId="9"/>` +
		`<xf numFmtId="167"/></cellXfs><dxfs><xf numFmtId="14"/></dxfs></styleSheet>`
	texts := `<x:sst xmlns:x="y"><x:si><x:t>plain</x:t></x:si><si><r><rPr><b/></rPr><t xml:space="preserve">rich </t></r>` +
		`<r><t>text</t></r><rPh sb="0" eb="1"><t>reading</t></rPh></si>` +
		`<si><t>a_x000D_
b &amp; &lt;c&gt; &#233;&#x1F600; &unknown;</t></si><si><t><![CDATA[<raw> & ]]>x</t></si><si/><si><t>_x005F_x0041_</t></si></x:sst>`
	for _, c := range []struct{ cell, want string }{
		{`<c r="A1"><v>2348030000101</v></c>`, "2348030000101"},
		{`<c r="A1" s="3"><v>2348030000101</v></c>`, "2348030000101"},
		{`<c r="A1"><v>2.348030000101E12</v></c>`, "2348030000101"},
		{`<c r="A1"><v>2.348030000101E+12</v></c>`, "2348030000101"},
		{`<c r="A1"><v>8035550101.0</v></c>`, "8035550101"},
		{`<c r="A1" t="n"><v>0.30000000000000004</v></c>`, "0.3"},
		{`<c r="A1"><v>-12.5</v></c>`, "-12.5"},
		{`<c r="A1"><v>1E+300</v></c>`, "1E+300"},
		{`<c r="A1" s="8"><v>0.5</v></c>`, "50%"},
		{`<c r="A1" s="4"><v>7</v></c>`, "day 7"},
		{`<c r="A1" s="9"><v>7</v></c>`, "USD7.00d "},
		{`<c r="A1" t="str"><f>"2.34803E+12"</f><v>2.34803E+12</v></c>`, "2.34803E+12"},
		{`<c r="A1" s="1"><v>46150</v></c>`, "08/05/2026"},
		{`<c r="A1" s="2"><v>46150</v></c>`, "8 May 2026"},
		{`<c r="A1" s="5"><v>0.4375</v></c>`, "10:30"},
		{`<c r="A1" s="6"><v>46150.4375</v></c>`, "08/05/2026 10:30"},
		{`<c r="A1" s="7"><v>1.5</v></c>`, "36:00:00"},
		{`<c r="A1" t="d"><v>2026-05-08T00:00:00</v></c>`, "2026-05-08"},
		{`<c r="A1" t="b"><v>1</v></c>`, "TRUE"},
		{`<c r="A1" t="b"><v>0</v></c>`, "FALSE"},
		{`<c r="A1" t="e"><f>X()</f><v>#N/A</v></c>`, "#N/A"},
		{`<c r="A1" t="s"><v>0</v></c>`, "plain"},
		{`<c r="A1" t="s"><v>1</v></c>`, "rich text"},
		{`<c r="A1" t="s"><v>2</v></c>`, "a\nb & <c> é😀 &unknown;"},
		{`<c r="A1" t="s"><v>3</v></c>`, "<raw> & x"},
		{`<c r="A1" t="s"><v>5</v></c>`, "_x0041_"},
		{`<c r="A1" t="inlineStr"><is><t>in</t><r><t>line</t></r></is></c>`, "inline"},
		{`<c t="inlineStr"><is><t>no reference</t></is></c>`, "no reference"},
		{`<x:c r='A1' t='str'><!-- > < --><x:v>prefixed<?pi > ?></x:v></x:c>`, "prefixed"},
		{`<c r="A1" t="str" x="a&gt;b>c"><v>=1+1</v></c>`, "=1+1"},
		{`<c r="A1" t="s"><v>4</v></c><c r="B1"><v>1</v></c>`, "|1"},
		{`<c r="C1"><v>3</v></c><c r="A1"><v>1</v></c>`, "1||3"},
		{`<c r="A1"><v>1</v></c><c r="XFD1" s="3"/>`, "1"},
	} {
		got := mustRead(t, plainBook(`<row>`+c.cell+`</row>`).with("xl/styles.xml", styles).with("xl/sharedStrings.xml",
			texts).pack(t), Options{HeaderRow: NoHeader, Country: "NG"})
		if cells := strings.Join(got.rows[0].Cells, "|"); len(got.rows) != 1 || cells != c.want {
			t.Errorf("%s is read as %q, want %q", c.cell, cells, c.want)
		}
	}
	for country, want := range map[string]string{"": "2026-05-08", "US": "05/08/2026", "ke": "08/05/2026"} {
		got := mustRead(t, plainBook(`<row><c s="1"><v>46150</v></c></row>`).with("xl/styles.xml", styles).pack(t),
			Options{HeaderRow: NoHeader, Country: country})
		if got.rows[0].Cells[0] != want {
			t.Errorf("a short date in %q is %q", country, got.rows[0].Cells[0])
		}
	}
	old := plainBook(`<row><c s="1"><v>44688</v></c></row>`).with("xl/styles.xml", styles)
	old["xl/workbook.xml"] = strings.Replace(old["xl/workbook.xml"], "<workbookPr/>", `<workbookPr date1904="1"/>`, 1)
	if got := mustRead(t, old.pack(t), Options{HeaderRow: NoHeader}); got.rows[0].Cells[0] != "2026-05-08" {
		t.Errorf("days from 1904: %q", got.rows[0].Cells[0])
	}
}

func TestSheetsAndHiddenRows(t *testing.T) {
	f := excelize.NewFile()
	for i, name := range []string{"Cover", "Old", "June", "Empty"} {
		if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		for row := 1; row <= i*3 && name != "Empty"; row++ {
			for col, v := range []any{"08035550101", name} {
				if row == 1 {
					v = []any{"phone", "sheet"}[col]
				}
				cell, _ := excelize.CoordinatesToCellName(col+1, row)
				if err := f.SetCellValue(name, cell, v); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	f.SetActiveSheet(3)
	for _, err := range []error{f.DeleteSheet("Sheet1"), f.SetSheetVisible("Old", false),
		f.SetSheetVisible("Cover", false, true),
		f.SetRowVisible("June", 3, false), f.SetRowVisible("June", 5, false), f.SetCellValue("June", "A9", nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := f.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Detect(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if want := []Tab{{"Cover", true, 0}, {"Old", true, 3}, {"June", false, 4},
		{"Empty", false, 0}}; !slices.Equal(p.Sheets, want) {
		t.Errorf("%+v, want %+v", p.Sheets, want)
	}
	if p.Options.Sheet != "June" || !slices.Equal(p.Notices(),
		[]string{"The selected file has 4 sheets. Choose the one to use"}) {
		t.Errorf("%+v %q", p.Options, p.Notices())
	}
	june := mustRead(t, b.String(), Options{})
	if !slices.Equal(show(june.rows), []string{"2: 08035550101|June", "4: 08035550101|June", "6: 08035550101|June"}) ||
		june.tally.Notice() != "2 hidden rows are left out" {
		t.Errorf("%q %+v", show(june.rows), june.tally)
	}
	all := mustRead(t, b.String(), Options{IncludeHidden: true})
	if len(all.rows) != 5 || !all.rows[1].Hidden || all.rows[2].Hidden || all.tally.Hidden != 0 || len(all.Sample) != 5 {
		t.Errorf("%+v", all.rows)
	}
	if old := mustRead(t, b.String(), Options{Sheet: "Old"}); len(old.rows) != 2 || old.rows[0].Cells[1] != "Old" {
		t.Errorf("%q", show(old.rows))
	}
	for name, want := range map[string]string{"Empty": "The selected file is empty",
		"July": `The file has no sheet called "July". Choose another`} {
		if _, err := read(b.String(), Options{Sheet: name}); sentence(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAgreesWithExcelize writes workbooks with the library, in both of its
// ways, and reads them back with both.
func TestAgreesWithExcelize(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 11))
		f := excelize.NewFile()
		day := "dd mmm yyyy"
		date, err := f.NewStyle(&excelize.Style{CustomNumFmt: &day})
		if err != nil {
			t.Fatal(err)
		}
		var sw *excelize.StreamWriter
		if seed%2 == 0 {
			if sw, err = f.NewStreamWriter("Sheet1"); err != nil {
				t.Fatal(err)
			}
		}
		for row := 1; row < 40; row += 1 + r.IntN(2) {
			var values []any
			for range r.IntN(8) {
				values = append(values, []any{nil, "text", "é 😀 <&>\n\"x\" ", " lead", 2348030000000 + r.Int64N(1e6),
					math.Round(r.Float64()*1e7) / 1e4, -r.IntN(100), true, "0803555", "_x000D_",
					excelize.Cell{StyleID: date, Value: r.IntN(60000)}}[r.IntN(11)])
			}
			if sw != nil {
				err = sw.SetRow(fmt.Sprintf("A%d", row), values)
			} else {
				for i, v := range values {
					name, _ := excelize.CoordinatesToCellName(i+1, row)
					if c, ok := v.(excelize.Cell); ok {
						v, err = c.Value, f.SetCellStyle("Sheet1", name, name, date)
					}
					if v != nil && err == nil {
						err = f.SetCellValue("Sheet1", name, v)
					}
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if sw != nil {
			if err := sw.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		b, err := f.WriteToBuffer()
		if err != nil {
			t.Fatal(err)
		}
		back, err := excelize.OpenReader(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		want, err := back.GetRows("Sheet1")
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for i, cells := range want {
			if !blank(record{Row: Row{Cells: cells}}) {
				lines = append(lines, strings.ReplaceAll(fmt.Sprintf("%d: %s", i+1, strings.Join(cells, "|")), "\r", "\n"))
			}
		}
		if got := mustRead(t, b.String(), Options{HeaderRow: NoHeader}); !slices.Equal(show(got.rows), lines) {
			t.Fatalf("seed %d:\n%q\nexcelize reads\n%q", seed, show(got.rows), lines)
		}
	}
}

func TestTheFirstSheetWithAListIsChosen(t *testing.T) {
	for _, c := range []struct {
		name string
		rows map[string]int
		want string
	}{
		{"an empty sheet first", map[string]int{"A": 0, "B": 3}, "B"},
		{"a cover page first", map[string]int{"A": 1, "B": 3, "C": 5}, "B"},
		{"one row anywhere", map[string]int{"A": 0, "B": 1}, "B"},
		{"nothing anywhere", map[string]int{"A": 0, "B": 0}, ""},
	} {
		f := excelize.NewFile()
		for _, name := range []string{"A", "B", "C"} {
			if _, err := f.NewSheet(name); err != nil {
				t.Fatal(err)
			}
			for i := range c.rows[name] {
				if err := f.SetCellValue(name, fmt.Sprintf("A%d", i+1), "08035550101"); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := f.DeleteSheet("Sheet1"); err != nil {
			t.Fatal(err)
		}
		b, err := f.WriteToBuffer()
		if err != nil {
			t.Fatal(err)
		}
		p, err := Detect(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if p.Options.Sheet != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: sheet %q, %v", c.name, p.Options.Sheet, err)
		}
	}
}

func TestOtherMakersOfBooks(t *testing.T) {
	rows := `<row r="1"><c r="A1" t="str"><v>phone</v></c></row><row r="2"><c r="A2" t="str"><v>08035550101</v></c></row>`
	strict := plainBook(rows)
	for name, text := range strict {
		strict[name] = strings.ReplaceAll(text, "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
			"http://purl.oclc.org/ooxml/officeDocument/relationships")
	}
	slashes := parts{}
	for name, text := range plainBook(rows) {
		slashes["/"+strings.ToUpper(strings.ReplaceAll(name, "/", `\`))] = text
	}
	absolute := plainBook(rows)
	absolute["xl/_rels/workbook.xml.rels"] = strings.ReplaceAll(absolute["xl/_rels/workbook.xml.rels"], `Target="`,
		`Target="/xl/`)
	moved := plainBook(rows)
	moved["_rels/.rels"] = strings.ReplaceAll(moved["_rels/.rels"], "xl/workbook.xml", "book/main.xml")
	moved["book/main.xml"] = moved["xl/workbook.xml"]
	moved["book/_rels/main.xml.rels"] = moved["xl/_rels/workbook.xml.rels"]
	moved["book/worksheets/sheet1.xml"] = moved["xl/worksheets/sheet1.xml"]
	delete(moved, "xl/workbook.xml")
	utf16 := plainBook(rows)
	utf16["xl/worksheets/sheet1.xml"] = "\xff\xfe" +
		string(wide(strings.Replace(utf16["xl/worksheets/sheet1.xml"], `<?xml version="1.0"?>`,
			`<?xml version="1.0" encoding="UTF-16"?>`, 1)))
	for name, p := range map[string]parts{"strict": strict, "backslashes and capitals": slashes,
		"absolute targets": absolute, "other folders": moved, "UTF-16": utf16} {
		if got := mustRead(t, p.pack(t), Options{}); !slices.Equal(show(got.rows), []string{"2: 08035550101"}) {
			t.Errorf("%s: %q", name, show(got.rows))
		}
	}
}

func TestNothingIsLeftOfABook(t *testing.T) {
	dir, data := t.TempDir(), bigBook(t, 60_000)
	r, err := Open(strings.NewReader(data), int64(len(data)), Options{TempDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	files := func() int {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	for n := 0; ; n++ {
		row, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil || row.Cells[0] != fmt.Sprint(2348030000000+n) || row.Cells[1] != fmt.Sprintf("Ada %d", n) ||
			!strings.HasSuffix(row.Cells[2], "every day.") {
			t.Fatalf("%d: %+v %v", n, row, err)
		}
		if n%10_000 == 0 && files() != 0 {
			t.Fatal("a file with a name while reading: a kill would leave it")
		}
	}
	if spilled := r.source.(*worksheet).texts.aside.file != nil; !spilled {
		t.Error("the texts were small enough for memory, so the test shows nothing")
	}
	if err := r.Close(); err != nil || files() != 0 {
		t.Errorf("%v, %d files", err, files())
	}
	if err := r.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

func TestTextsInAnyOrder(t *testing.T) {
	const n = 40_000
	var rows, texts strings.Builder
	texts.WriteString("<sst>")
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		fmt.Fprintf(&rows, `<row><c t="s"><v>%d</v></c></row>`, r.IntN(n))
		fmt.Fprintf(&texts, "<si><t>%d %s</t></si>", i, strings.Repeat("filling ", 16+i%8))
	}
	texts.WriteString("</sst>")
	data := plainBook(rows.String()).with("xl/sharedStrings.xml", texts.String()).pack(t)
	reader, err := Open(strings.NewReader(data), int64(len(data)), Options{HeaderRow: NoHeader})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	r = rand.New(rand.NewPCG(1, 2))
	for range n {
		row, err := reader.Next()
		if i := r.IntN(n); err != nil || row.Cells[0] != fmt.Sprintf("%d %s", i, strings.Repeat("filling ", 16+i%8)) {
			t.Fatalf("row %d has %q, want text %d (%v)", row.Number, row.Cells, i, err)
		}
		if kept := reader.source.(*worksheet).texts.cached; kept > cachedBlocks {
			t.Fatalf("%d bytes of texts are in memory", kept)
		}
	}
}

// FuzzBook feeds parts of a workbook that no program would write. It looks
// below the recover that keeps a panic from the page.
func FuzzBook(f *testing.F) {
	for _, s := range [][3]string{
		{row1, "<sst><si><t>a</t></si></sst>", `<styleSheet><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>`},
		{`<row r="3" hidden="1"><c r="C3" t="s" s="1"><f>A1</f><v>0</v></c></row>`,
			"<sst><si><r><t>a_x000D_</t></r><rPh><t>b</t></rPh></si></sst>", `<styleSheet><numFmts><numFmt numFmtId="200" formatCode="[h]:mm"/></numFmts></styleSheet>`},
		{`<row><c t="inlineStr"><is><t><![CDATA[x]]></t></is></c><!-- c --><?p ?></row>`, "<sst/>", "<styleSheet/>"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, rows, texts, styles string) {
		data := plainBook(rows).with("xl/sharedStrings.xml", texts).with("xl/styles.xml", styles).pack(t)
		r := &Reader{file: &boundedReader{r: strings.NewReader(data), left: -1},
			profile: Profile{Options: Options{HeaderRow: NoHeader}}}
		err := r.open(int64(len(data)))
		l := list{}
		for err == nil {
			var row Row
			if row, err = r.advance(); err == nil {
				l.rows = append(l.rows, row)
			}
		}
		if err != io.EOF && strings.HasPrefix(sentence(err), "no sentence") {
			t.Fatalf("refused without a sentence: %v", err)
		}
		l.tally = r.Tally()
		sane(t, l)
	})
}
