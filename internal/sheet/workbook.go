package sheet

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
)

// What a workbook can hold.
const (
	bookRows = 1 << 20
	bookText = 1<<15 - 1 // UTF-16 units of one cell
)

// writeBook writes a workbook of one sheet, whose cells are all text, row by
// row as fill puts them. They go to w at once: the writers of libraries would
// gather the sheet in tens of megabytes of memory and in a file first.
func writeBook(w io.Writer, fill func(put func([]string) error) error) error {
	z := zip.NewWriter(w)
	for _, p := range bookParts() {
		part, err := z.Create(p.name)
		if err == nil {
			_, err = io.WriteString(part, xml.Header+p.content)
		}
		if err != nil {
			return fmt.Errorf("begin a workbook: %w", err)
		}
	}
	part, err := z.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		return fmt.Errorf("begin a workbook: %w", err)
	}
	s := &sheetWriter{b: bufio.NewWriterSize(part, 64<<10)}
	s.b.WriteString(xml.Header + `<worksheet xmlns="` + bookNS + `"><cols><col min="1" max="` +
		strconv.Itoa(maxBookColumns) + `" width="13" style="1"/></cols><sheetData>`)
	if err := fill(s.put); err != nil {
		return fmt.Errorf("fill a workbook: %w", err)
	}
	s.b.WriteString(`</sheetData></worksheet>`)
	if err := errors.Join(s.b.Flush(), z.Close()); err != nil {
		return fmt.Errorf("finish a workbook: %w", err)
	}
	return nil
}

const (
	bookNS     = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	relationNS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	packageNS  = "http://schemas.openxmlformats.org/package/2006/"
	mediaType  = "application/vnd.openxmlformats-officedocument.spreadsheetml."
)

// bookParts are all but the sheet. Style 1 is the number format Text.
func bookParts() []struct{ name, content string } {
	return []struct{ name, content string }{
		{"[Content_Types].xml", `<Types xmlns="` + packageNS + `content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Default Extension="xml" ContentType="application/xml"/>` +
			`<Override PartName="/xl/workbook.xml" ContentType="` + mediaType + `sheet.main+xml"/>` +
			`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + mediaType + `worksheet+xml"/>` +
			`<Override PartName="/xl/styles.xml" ContentType="` + mediaType + `styles+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="` + packageNS + `relationships"><Relationship Id="rId1" Type="` + relationNS +
			`/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"xl/workbook.xml", `<workbook xmlns="` + bookNS + `" xmlns:r="` + relationNS +
			`"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="` + packageNS + `relationships">` +
			`<Relationship Id="rId1" Type="` + relationNS +
			`/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="` + relationNS +
			`/styles" Target="styles.xml"/></Relationships>`},
		{"xl/styles.xml", `<styleSheet xmlns="` + bookNS + `"><numFmts count="1"><numFmt numFmtId="164" formatCode="@"/></numFmts>` +
			`<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>` +
			`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
			`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
			`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
			`<cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="164" fontId="0" ` +
			`fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>` +
			`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`},
	}
}

// sheetWriter writes rows. The buffer keeps the first error.
type sheetWriter struct {
	b     *bufio.Writer
	rows  int
	names []string // of the columns so far
	text  []byte
}

// put writes the next row; blank cells are left out.
func (s *sheetWriter) put(cells []string) error {
	if s.rows++; s.rows > bookRows {
		return errors.New("a workbook cannot hold so many rows")
	}
	row := strconv.Itoa(s.rows)
	s.b.WriteString(`<row r="` + row + `">`)
	for i, c := range cells {
		if i == len(s.names) {
			if i == maxBookColumns {
				return errors.New("a workbook cannot hold so many columns")
			}
			s.names = append(s.names, ColumnName(i))
		}
		if c == "" {
			continue
		}
		s.b.WriteString(`<c r="`)
		s.b.WriteString(s.names[i])
		s.b.WriteString(row)
		s.b.WriteString(`" s="1" t="inlineStr"><is><t xml:space="preserve">`)
		s.text = append(s.text[:0], unmarked(fitting(c))...)
		_ = xml.EscapeText(s.b, s.text) // kept by the buffer
		s.b.WriteString(`</t></is></c>`)
	}
	_, err := s.b.WriteString(`</row>`)
	return err
}

// fitting cuts off what a cell cannot hold.
func fitting(s string) string {
	if len(s) <= bookText {
		return s
	}
	units := 0
	for i, r := range s {
		if units += utf16.RuneLen(r); units > bookText {
			return s[:i]
		}
	}
	return s
}

// unmarked keeps programs from reading _x000D_ in a text as the sign that it
// stands for in workbooks.
func unmarked(s string) string {
	at := strings.Index(s, "_x")
	if at < 0 {
		return s
	}
	var b strings.Builder
	for ; at >= 0; at = strings.Index(s, "_x") {
		b.WriteString(s[:at])
		if _, marked := hexForm([]byte(s[at:min(at+len("_x0000_"), len(s))])); marked {
			b.WriteString("_x005F")
		}
		b.WriteByte('_')
		s = s[at+1:]
	}
	b.WriteString(s)
	return b.String()
}
