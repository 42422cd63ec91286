package sheet

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

const (
	saysPassword = "The selected file is password protected. Remove the password and upload it again"
	saysEmpty    = "The selected file is empty"
	saysNoRows   = "The selected file has column names but no rows. Add at least one row"
	saysType     = "The selected file must be a CSV, TSV, TXT, XLSX or ODS. Yours is "
	saysSave     = ". Open it in Excel, choose Save As, choose Excel Workbook (.xlsx), and upload that file"
	saysExport   = ". Open it, choose Save As, choose Excel Workbook (.xlsx), and upload that file"
)

// ole is an OLE container with a stream of the given name in its directory.
func ole(stream string) string {
	return oleMagic + strings.Repeat("\x00", 1000) + string(wide(stream)) + strings.Repeat("\x00", 2000)
}

func lockedBook(t *testing.T) string {
	t.Helper()
	f := excelize.NewFile()
	if err := f.SetCellValue("Sheet1", "A1", "phone"); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, excelize.Options{Password: "secret"}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// zipOf is a container with the given entries and nothing that makes it a book.
func zipOf(t *testing.T, names ...string) string {
	t.Helper()
	p := parts{}
	for _, n := range names {
		name, text, _ := strings.Cut(n, "=")
		p[name] = text
	}
	return p.pack(t)
}

func TestRefusals(t *testing.T) {
	noise := make([]byte, 5000)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	noise[0] = 0x9c
	for _, c := range []struct{ name, data, want string }{
		{"nothing", "", saysEmpty},
		{"only a mark", "\xef\xbb\xbf", saysEmpty},
		{"only white space", " \r\n\t\n\n", saysEmpty},
		{"only a mark of UTF-16", "\xff\xfe", saysEmpty},
		{"only empty cells", ",,,\n,,,\n", saysEmpty},
		{"names only", "phone,name\n", saysNoRows},
		{"names and blank rows", "phone,name\n\n,\n", saysNoRows},
		{"names only, in a book", plainBook(`<row><c t="str"><v>phone</v></c></row>`).pack(t), saysNoRows},
		{"an empty book", plainBook(``).pack(t), saysEmpty},
		{"a PDF named .csv", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\nphone,name\n", saysType + "a PDF"},
		{"PNG", "\x89PNG\r\n\x1a\n\x00\x00", saysType + "a picture"},
		{"JPEG", "\xff\xd8\xff\xe0\x00\x10JFIF", saysType + "a picture"},
		{"GIF", "GIF89a\x01\x00", saysType + "a picture"},
		{"BMP", "BM\x36\x00\x0c\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28", saysType + "a picture"},
		{"WebP", "RIFF\x24\x00\x00\x00WEBPVP8 ", saysType + "a picture"},
		{"HEIC", "\x00\x00\x00\x18ftypheic\x00\x00", saysType + "an image or a video"},
		{"gzip", "\x1f\x8b\x08\x00", saysType + "a compressed file. Unzip it and upload the file inside"},
		{"a web page named .xls", "\r\n<HTML><table><tr><td>phone", saysType + "a web page" + saysSave},
		{"XML", "\xef\xbb\xbf<?xml version=\"1.0\"?><Workbook>", saysType + "an XML file" + saysSave},
		{"contacts", "BEGIN:VCARD\r\nVERSION:3.0", saysType + "a contacts file (VCF)"},
		{"old Excel named .csv", ole("Workbook"), saysType + "an old Excel file (XLS)" + saysSave},
		{"old Word", ole("WordDocument"), saysType + "an old Word document (DOC)"},
		{"a locked book", ole("EncryptedPackage"), saysPassword},
		{"a book that the library locked", lockedBook(t), saysPassword},
		{"an OpenDocument text", zipOf(t, "mimetype=application/vnd.oasis.opendocument.text", "content.xml"), saysType + "an OpenDocument file"},
		{"XLSB", zipOf(t, "[Content_Types].xml", "xl/workbook.bin"), saysType + "an Excel binary workbook (XLSB)" + saysExport},
		{"Word", zipOf(t, "[Content_Types].xml", "word/document.xml"), saysType + "a Word document"},
		{"Numbers", zipOf(t, "Index/Document.iwa", "Metadata/Properties.plist"), saysType +
			"a Numbers document. Open it in Numbers, choose File, Export To, Excel, and upload that file"},
		{"a ZIP of ZIPs", zipOf(t, "lib 0.zip="+zipOf(t, "0.dll")), saysType + "a ZIP archive. Unzip it and upload the file inside"},
		{"names that lead out", zipOf(t, "../../etc/passwd", `..\xl\workbook.xml`), saysType + "a ZIP archive. Unzip it and upload the file inside"},
		{"an empty ZIP", "PK\x05\x06" + strings.Repeat("\x00", 18), saysType + "an empty ZIP archive"},
		{"noise", string(noise), unreadable},
		{"half a book", smallBook(t)[:700], unreadable},
		{"10,000 columns", strings.Repeat("h,", 9999) + "h\n1\n", "The selected file has 10,000 columns. The limit is 1,000. Remove the columns you do not need"},
		{"10,000 columns in a book", plainBook(`<row>` + strings.Repeat(`<c t="str"><v>h</v></c>`, 10_000) +
			`</row>`).pack(t), "The selected file has 10,000 columns. The limit is 1,000. Remove the columns you do not need"},
	} {
		p, err := Detect(strings.NewReader(c.data), int64(len(c.data)))
		if sentence(err) != c.want {
			t.Errorf("%s: %v (%s), want %s", c.name, err, p.Kind, c.want)
		}
	}
}

func TestANameAcrossChunksIsFound(t *testing.T) {
	for at := 256<<10 - 40; at < 256<<10+2; at++ {
		data := oleMagic + strings.Repeat("\x00", at) + string(wide("EncryptedPackage")) + strings.Repeat("\x00", 600_000)
		if _, err := Detect(strings.NewReader(data), int64(len(data))); sentence(err) != saysPassword {
			t.Fatalf("at %d: %v", at, err)
		}
	}
}

func TestCheckSize(t *testing.T) {
	if err := CheckSize(256<<20, 256<<20); err != nil {
		t.Error(err)
	}
	for size, want := range map[int64]string{310 << 20: "310MB", 256<<20 + 1: "257MB", 1 << 30: "1,024MB"} {
		if got := sentence(CheckSize(size, 256<<20)); got != "The selected file must be smaller than 256MB. Yours is "+want+
			". Remove sheets, pictures and columns you do not need" {
			t.Errorf("%d: %s", size, got)
		}
	}
}

// lie changes the sizes that the directory of a container gives for an entry.
func lie(t *testing.T, data, name string, size uint32) string {
	t.Helper()
	b := []byte(data)
	for i := 0; i+46 < len(b); i++ {
		if string(b[i:i+4]) == "PK\x01\x02" && strings.HasPrefix(string(b[i+46:]), name) {
			binary.LittleEndian.PutUint32(b[i+24:], size)
			return string(b)
		}
	}
	t.Fatalf("no entry %s", name)
	return ""
}

// strange says that an entry is packed in a way that nobody knows.
func strange(t *testing.T, data, name string) string {
	t.Helper()
	b := []byte(data)
	for i := 0; i+46 < len(b); i++ {
		if string(b[i:i+4]) == "PK\x01\x02" && strings.HasPrefix(string(b[i+46:]), name) {
			b[i+10] = 99
			return string(b)
		}
	}
	t.Fatalf("no entry %s", name)
	return ""
}

// inflating is a container in which one entry has size bytes of filling
// between head and tail.
func inflating(t *testing.T, p parts, name, head, filling, tail string, size int) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestSpeed)
	})
	for n, text := range p {
		if n == name {
			continue
		}
		w, err := z.Create(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	block := strings.Repeat(filling, 1+(1<<20)/len(filling))
	io.WriteString(w, head)
	for n := 0; n < size; n += len(block) {
		io.WriteString(w, block)
	}
	io.WriteString(w, tail)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// flip spoils the packed bytes of an entry without a word to its checksum.
func flip(t *testing.T, data, name string) string {
	t.Helper()
	b := []byte(data)
	i := strings.Index(data, name)
	if i < 0 {
		t.Fatalf("no entry %s", name)
	}
	for k := range 20 {
		b[i+len(name)+40+k] ^= 0x5a
	}
	return string(b)
}

const (
	row1  = `<row r="1"><c r="A1" t="str"><v>phone</v></c></row><row r="2"><c r="A2"><v>8035550101</v></c></row>`
	sheet = "xl/worksheets/sheet1.xml"
)

// hostileBooks are workbooks that no program writes, with what must come of
// each: the sentence, or "" where the rows are read nonetheless.
func hostileBooks(t *testing.T) map[string][2]string {
	t.Helper()
	head, tail := `<worksheet><sheetData>`+row1, `</sheetData></worksheet>`
	const mib, real = (1 << 20) / lighter, 1 << 20
	many := plainBook(row1)
	for i := range 1100 {
		many[fmt.Sprintf("xl/media/%d.png", i)] = ""
	}
	book := plainBook(row1).pack(t)
	ladder := plainBook(row1)
	ladder[sheet] = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>` + head + tail
	return map[string][2]string{
		"a row number beyond all":   {plainBook(row1 + `<row r="99999999"><c r="A99999999"><v>1</v></c></row>`).pack(t), unreadable},
		"a row number of 20 digits": {plainBook(row1 + `<row r="18446744073709551617"/>`).pack(t), unreadable},
		"a negative row number":     {plainBook(row1 + `<row r="-5"/>`).pack(t), unreadable},
		"rows that go back":         {plainBook(row1 + `<row r="1"><c r="A1"><v>1</v></c></row>`).pack(t), unreadable},
		"a column beyond all":       {plainBook(row1 + `<row r="3"><c r="ZZZZZZZZ3"><v>1</v></c></row>`).pack(t), unreadable},
		"no column":                 {plainBook(row1 + `<row r="3"><c r="33"><v>1</v></c></row>`).pack(t), unreadable},
		"a text that is not there":  {plainBook(row1 + `<row r="3"><c t="s"><v>5</v></c></row>`).pack(t), unreadable},
		"a negative text":           {plainBook(row1 + `<row r="3"><c t="s"><v>-1</v></c></row>`).pack(t), unreadable},
		"an element left open":      {plainBook(row1 + `<row r="3"><c>`).pack(t), unreadable},
		"elements crossed":          {plainBook(row1 + `<row r="3"><c></row></c>`).pack(t), unreadable},
		"elements in elements":      {plainBook(row1 + strings.Repeat(`<row><c><is>`, 200)).pack(t), unreadable},
		"a document type":           {ladder.pack(t), unreadable},
		"no sheet":                  {plainBook(row1).with("xl/workbook.xml", `<workbook/>`).pack(t), unreadable},
		"no XML":                    {plainBook(row1).with(sheet, `phone,name`).pack(t), unreadable},
		"an empty part":             {plainBook(row1).with(sheet, ``).pack(t), unreadable},
		"spoiled bytes":             {flip(t, bigBook(t, 2000), sheet), unreadable},
		"a sheet packed strangely":  {strange(t, book, sheet), unreadable},
		"texts packed strangely":    {strange(t, bigBook(t, 5), "xl/sharedStrings.xml"), unreadable},
		"no directory":              {strings.Replace(book, "PK\x05\x06", "PK\x05\x07", 1), unreadable},
		"more than 1,000 entries":   {many.pack(t), unreadable},
		"a size too small":          {lie(t, book, sheet, 20), unreadable},
		"a size too large":          {lie(t, book, sheet, 100_000), unreadable},
		"a size of 3 GiB": {lie(t, book, sheet, 3<<30),
			"The selected file must be smaller than 256MB. Yours is 3,073MB when unzipped. Remove sheets, pictures and columns you do not need"},
		"a picture of 300 MiB": {inflating(t, plainBook(row1), "xl/media/1.png", "", "0", "", 300*real),
			"The selected file must be smaller than 256MB. Yours is 301MB when unzipped. Remove sheets, pictures and columns you do not need"},
		"a sheet of 130 MiB": {inflating(t, plainBook(row1), sheet, head, " ", tail, 130*real),
			"Each part of the selected file must be smaller than 128MB when opened. Yours has one of 131MB. Remove sheets, pictures and columns you do not need"},
		"a picture of 70 MiB":       {inflating(t, plainBook(row1), "xl/media/1.png", "", "0", "", 70*mib), ""},
		"a cell of 70 MiB":          {inflating(t, plainBook(row1), sheet, head+`<row><c t="str"><v>`, "A", `</v></c></row>`+tail, 70*mib), unreadable},
		"a cell of 20 MiB in runs":  {inflating(t, plainBook(row1), sheet, head+`<row><c t="inlineStr"><is>`, "<r><t>A</t></r>", `</is></c></row>`+tail, 20*mib), ""},
		"a cell of 20 MiB of marks": {inflating(t, plainBook(row1), sheet, head+`<row><c t="str"><v>`, "A<x/>", `</v></c></row>`+tail, 20*mib), ""},
		"a text of 20 MiB in runs": {inflating(t, plainBook(row1+`<row><c t="s"><v>0</v></c></row>`), "xl/sharedStrings.xml",
			"<sst><si>", "<r><t>A</t></r>", "</si></sst>", 20*mib), ""},
		"3,000,000 texts": {inflating(t, plainBook(row1+`<row><c t="s"><v>300000</v></c></row>`),
			"xl/sharedStrings.xml", "<sst>", "<si/>", "</sst>", 16*mib), ""},
		"an attribute of 70 MiB":   {inflating(t, plainBook(row1), sheet, head+`<row x="`, "A", `"/>`+tail, 70*mib), unreadable},
		"an attribute of tag ends": {inflating(t, plainBook(row1), sheet, head+`<row x="`, ">", `"/>`+tail, 70*mib), unreadable},
		"a comment of 20 MiB":      {inflating(t, plainBook(row1), sheet, head+"<!--", "-> ", "-->"+tail, 20*mib), ""},
		"CDATA of 70 MiB":          {inflating(t, plainBook(row1), sheet, head+"<row><c><v><![CDATA[", "> ", "]]></v></c></row>"+tail, 70*mib), unreadable},
		"a style sheet of 60 MiB": {inflating(t, plainBook(row1), "xl/styles.xml", "<styleSheet><numFmts/>",
			`<numFmt numFmtId="1" formatCode="yyyy"/>`, "</styleSheet>", 60*real), unreadable},
		"16 MiB of formats": {inflating(t, plainBook(row1), "xl/styles.xml", "<styleSheet><cellXfs>",
			`<xf numFmtId="14"/>`, "</cellXfs></styleSheet>", 14*mib), ""},
		"a row of 16,384 columns": {plainBook(row1 + strings.Repeat(`<row><c r="XFD"><v>1</v></c></row>`, 300)).pack(t), ""},
		"a directory of a million": {"PK\x03\x04" + strings.Repeat("PK\x01\x02"+strings.Repeat("\x00", 42), 1<<20) +
			"PK\x05\x06" + strings.Repeat("\x00", 8) + "\x00\x00\xe0\x02" + "\x04\x00\x00\x00\x00\x00", unreadable},
		"20 MiB of open elements": {inflating(t, plainBook(row1), sheet, head, "<a>", tail, 20*mib), unreadable},
	}
}

// TestChecksumsAreRead changes one digit of a number, and one letter of a text,
// where nothing but the checksum can tell.
func TestChecksumsAreRead(t *testing.T) {
	p := plainBook(row1+`<row r="3"><c r="A3" t="s"><v>0</v></c></row>`).with("xl/sharedStrings.xml",
		`<sst><si><t>first text</t></si><si><t>never used</t></si></sst>`)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range p {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	if l := mustRead(t, whole, Options{}); len(l.rows) != 2 {
		t.Fatalf("%q", show(l.rows))
	}
	for _, change := range [][2]string{{"8035550101", "8035550191"}, {"first text", "worst text"},
		{"never used", "newer used"}} {
		if _, err := read(strings.Replace(whole, change[0], change[1], 1), Options{}); sentence(err) != unreadable {
			t.Errorf("%s for %s: %v", change[1], change[0], err)
		}
	}
}

func TestHostileBooks(t *testing.T) {
	for name, c := range hostileBooks(t) {
		dir := t.TempDir()
		var l list
		var err error
		grown := growth(t, func() {
			if _, err = Detect(strings.NewReader(c[0]), int64(len(c[0]))); err == nil || sentence(err) == unreadable {
				l, err = read(c[0], Options{TempDir: dir})
			}
		})
		if c[1] != "" && sentence(err) != c[1] || c[1] == "" && (err != nil || l.rows[0].Cells[0] != "8035550101") {
			t.Errorf("%s: %v, %d rows", name, err, len(l.rows))
		}
		if grown > 64*lighter {
			t.Errorf("%s: memory grew by %d MiB", name, grown)
		}
	}
}
