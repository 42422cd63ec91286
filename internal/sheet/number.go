package sheet

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

const (
	// maxFormats bounds what is learned from a workbook's styles.
	maxFormats = 1 << 16
	// maxFormatCode is the longest number format that Excel allows, in bytes.
	maxFormatCode = 1 << 10
	maxDateCodes  = 256 // that one workbook may use
	cachedDates   = 1 << 12
)

// formats turn the numbers of a workbook into text: exact where they are
// numbers, as shown where they are dates.
type formats struct {
	codes    map[int]string // number formats of the workbook's own
	styles   []string       // of each cell style the date format, or "" for a number
	inStyles bool           // the list of cell styles has begun
	from1904 bool           // days count from 1904, not 1900
	short    string         // a date in the form of the region

	scratch *excelize.File // formats one date at a time
	ids     map[string]int
	shown   map[dated]string
}

type dated struct {
	code string
	day  float64
}

func newFormats(country string) *formats {
	short := "dd/mm/yyyy"
	switch strings.ToUpper(country) {
	case "":
		short = "yyyy-mm-dd"
	case "US":
		short = "mm/dd/yyyy"
	}
	return &formats{codes: map[int]string{}, short: short, ids: map[string]int{}, shown: map[dated]string{}}
}

// learn takes in one element of the styles part.
func (f *formats) learn(m *xmlReader) error {
	switch string(m.name) {
	case "numFmt":
		id, err := strconv.Atoi(string(m.rawAttr("numFmtId")))
		if code := m.attr("formatCode"); err == nil && len(f.codes) < maxFormats && len(code) <= maxFormatCode {
			f.codes[id] = code
		}
	case "cellXfs":
		f.inStyles = true
	case "cellStyles", "dxfs":
		f.inStyles = false
	case "xf":
		if f.inStyles && len(f.styles) < maxFormats {
			id, _ := strconv.Atoi(string(m.rawAttr("numFmtId")))
			f.styles = append(f.styles, f.dateCode(id))
		}
	}
	return nil
}

// dateCode is the number format id when it shows a date or time, else "".
func (f *formats) dateCode(id int) string {
	if code, own := f.codes[id]; own {
		if showsDate(code) {
			return code
		}
		return ""
	}
	switch id {
	case 14, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58:
		return f.short
	case 15:
		return "d-mmm-yy"
	case 16:
		return "d-mmm"
	case 17:
		return "mmm-yy"
	case 18:
		return "h:mm AM/PM"
	case 19:
		return "h:mm:ss AM/PM"
	case 20, 32, 34, 55:
		return "h:mm"
	case 21, 33, 35, 56:
		return "h:mm:ss"
	case 22:
		return f.short + " h:mm"
	case 45:
		return "mm:ss"
	case 46:
		return "[h]:mm:ss"
	case 47:
		return "mm:ss.0"
	}
	return ""
}

// showsDate tells whether a number format has a letter for a part of a date or
// time outside quotes, escapes and colours.
func showsDate(code string) bool {
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '"', '[':
			end := strings.IndexByte(code[i+1:], map[byte]byte{'"': '"', '[': ']'}[c])
			if end < 0 {
				return false
			}
			if inner := strings.ToLower(code[i+1 : i+1+end]); c == '[' && inner != "" && strings.Trim(inner, "hms") == "" {
				return true
			}
			i += end + 1
		case '\\', '_', '*':
			i++
		case 'y', 'Y', 'm', 'M', 'd', 'D', 'h', 'H', 's', 'S':
			return true
		}
	}
	return false
}

// appendNumber appends the number written as raw, in cell style number style.
// What is no number is appended as it is.
func (f *formats) appendNumber(dst, raw []byte, style int) []byte {
	raw = bytes.TrimSpace(raw)
	code := ""
	if style > 0 && style < len(f.styles) {
		code = f.styles[style]
	}
	if code == "" && plainInteger(raw) {
		return append(dst, raw...)
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return append(dst, raw...)
	}
	if code != "" {
		if shown := f.show(code, n); shown != "" {
			return append(dst, shown...)
		}
	}
	// Fifteen digits are what a spreadsheet program keeps of a number; what
	// lies behind is the noise of binary fractions.
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64)
	if a := math.Abs(rounded); a != 0 && (a < 1e-9 || a >= 1e21) {
		return strconv.AppendFloat(dst, rounded, 'G', -1, 64)
	}
	return strconv.AppendFloat(dst, rounded, 'f', -1, 64)
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

// show writes day n in a date format as Excel would, or returns "" when that
// cannot be done.
func (f *formats) show(code string, n float64) string {
	key := dated{code, n}
	if shown, ok := f.shown[key]; ok {
		return shown
	}
	if len(f.shown) >= cachedDates {
		clear(f.shown)
	}
	shown := f.format(code, n)
	f.shown[key] = shown
	return shown
}

// format asks the library, by way of a workbook of one cell.
func (f *formats) format(code string, n float64) (shown string) {
	defer func() {
		if recover() != nil {
			shown = ""
		}
	}()
	if f.scratch == nil {
		f.scratch = excelize.NewFile()
		if f.scratch.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &f.from1904}) != nil {
			return ""
		}
	}
	id, known := f.ids[code]
	if !known {
		if len(f.ids) == maxDateCodes {
			return ""
		}
		var err error
		if id, err = f.scratch.NewStyle(&excelize.Style{CustomNumFmt: &code}); err != nil {
			return ""
		}
		f.ids[code] = id
	}
	const tab, cell = "Sheet1", "A1"
	if f.scratch.SetCellFloat(tab, cell, n, -1, 64) != nil || f.scratch.SetCellStyle(tab, cell, cell, id) != nil {
		return ""
	}
	shown, err := f.scratch.GetCellValue(tab, cell)
	if err != nil {
		return ""
	}
	return shown
}
