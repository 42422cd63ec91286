package sheet

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxFormats bounds what is learned from a workbook's styles, and
	// maxParsed how many of its number formats are understood; Excel has about
	// 250.
	maxFormats = 1 << 16
	maxParsed  = 1 << 10
	// maxFormatCode is the longest number format that Excel allows, in
	// characters.
	maxFormatCode = 255
)

// formats turn the numbers of a workbook into text as their cells show it.
type formats struct {
	codes    map[int]string        // number formats of the workbook's own
	parsed   map[int]*numberFormat // by their number; nil for General
	styles   []*numberFormat       // of each cell style, nil for General
	inStyles bool                  // the list of cell styles has begun
	from1904 bool                  // days count from 1904, not 1900
	short    string                // a date in the form of the region
}

func newFormats(country string) *formats {
	short := "dd/mm/yyyy"
	switch strings.ToUpper(country) {
	case "":
		short = "yyyy-mm-dd"
	case "US":
		short = "mm/dd/yyyy"
	}
	return &formats{codes: map[int]string{}, parsed: map[int]*numberFormat{}, short: short}
}

// learn takes in one element of the styles part.
func (f *formats) learn(m *xmlReader) error {
	switch string(m.name) {
	case "numFmt":
		id, err := strconv.Atoi(string(m.rawAttr("numFmtId")))
		if code := m.attr("formatCode"); err == nil && len(f.codes) < maxFormats && utf8.RuneCountInString(code) <= maxFormatCode {
			f.codes[id] = code
		}
	case "cellXfs":
		f.inStyles = true
	case "cellStyles", "dxfs":
		f.inStyles = false
	case "xf":
		if f.inStyles && len(f.styles) < maxFormats {
			id, _ := strconv.Atoi(string(m.rawAttr("numFmtId")))
			f.styles = append(f.styles, f.format(id))
		}
	}
	return nil
}

// format is number format id, nil for General.
func (f *formats) format(id int) *numberFormat {
	if parsed, known := f.parsed[id]; known || len(f.parsed) >= maxParsed {
		return parsed
	}
	code, own := f.codes[id]
	if !own {
		code = f.builtin(id)
	}
	var parsed *numberFormat
	if code != "" && code != "@" && !strings.EqualFold(code, "General") {
		parsed = parseFormat(code)
	}
	f.parsed[id] = parsed
	return parsed
}

// builtins are the formats that workbooks name by number alone (ECMA-376 Part 1,
// 18.8.30).
var builtins = map[int]string{
	1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
	15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
	32: "h:mm", 33: "h:mm:ss", 34: "h:mm", 35: "h:mm:ss", 55: "h:mm", 56: "h:mm:ss",
	37: "#,##0_);(#,##0)", 38: "#,##0_);(#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);(#,##0.00)",
	41: `_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)`, 43: `_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)`,
	45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0",
}

// builtin is the code of a format that the workbook does not give, "" for
// General and for those whose currency follows the region, which a workbook
// that uses them gives.
func (f *formats) builtin(id int) string {
	switch id {
	case 14, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58:
		return f.short
	case 22:
		return f.short + " h:mm"
	}
	return builtins[id]
}

// of is the format of a cell style, nil for General.
func (f *formats) of(style int) *numberFormat {
	if style > 0 && style < len(f.styles) {
		return f.styles[style]
	}
	return nil
}

// appendNumber appends the number written as raw, in cell style number style.
// What is no number is appended as it is.
func (f *formats) appendNumber(dst, raw []byte, style int) []byte {
	raw = bytes.TrimSpace(raw)
	format := f.of(style)
	if format == nil && plainInteger(raw) {
		return append(dst, raw...)
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return append(dst, raw...)
	}
	if format != nil {
		if shown, ok := format.appendShown(dst, n, f.from1904); ok {
			return shown
		}
	}
	return appendGeneral(dst, n)
}

// plainInteger tells whether raw is written as it is to be shown.
func plainInteger(raw []byte) bool {
	if len(raw) == 0 || len(raw) > 15 || raw[0] == '0' && len(raw) > 1 {
		return false
	}
	for _, b := range raw {
		if b < '0' || b > '9' {
			return false
		}
	}
	return true
}
