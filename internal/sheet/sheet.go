// Package sheet turns an uploaded list into rows: CSV and its relatives,
// phone^message pairs, XLSX and ODS. What a file is, its content says, not its
// name. Rows are read one after another, in memory that does not grow with
// the file, and a row that cannot be read is a row with a problem, not the end
// of the file. The same package guesses which column is which, and writes
// rejected rows and examples.
//
// It must never know who uploads, where rows are kept or what is sent: no
// database, no HTTP. It judges the shape of rows only; numbers, texts and
// repetitions are for its caller.
package sheet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/sms"
)

const (
	// MaxRows is the most rows that a list may have.
	MaxRows = 1_000_000
	// MaxColumns is the most columns that a row may have.
	MaxColumns = 1_000
	// MaxRecord is the most bytes of one row: as they stand in a text file,
	// or of its values in a workbook.
	MaxRecord = 64 << 10
	// SampleRows is the most rows that a Profile shows.
	SampleRows = 50
)

// Kind is what a file is by its content.
type Kind string

const (
	CSV   Kind = "CSV"   // records with a delimiter: comma, tab, semicolon or bar
	Pairs Kind = "pairs" // phone^message, one on a line or parted by "~" (§4.4)
	XLSX  Kind = "XLSX"
	ODS   Kind = "ODS"
)

// NoHeader in Options.HeaderRow says that the first row is data.
const NoHeader = -1

// Options say how a file is to be read. What has its zero value is found out
// by content.
type Options struct {
	Encoding  Encoding // of a text file; one of Encodings
	Delimiter rune     // of a CSV file: an ASCII character that is no letter, digit, quote or line end
	// HeaderRow is the number of the row with the column names, or NoHeader.
	// Rows above it are left out.
	HeaderRow     int
	Sheet         string // name of a workbook's sheet; else the first visible one
	IncludeHidden bool   // return a workbook's hidden rows too
	// Country (ISO 3166) says how to write a date whose format follows the
	// region of the computer, and "" that it is written year first.
	Country string
	// TempDir is where what is too big for memory goes; "" is the system's.
	// Files there have no name, so that nothing is left of them.
	TempDir string
}

// Profile is what a file turned out to be.
type Profile struct {
	Kind    Kind
	Options Options  // how it is read: nothing is left to find out
	Sheets  []Tab    // the sheets of a workbook, in its order; nil for other kinds
	Header  []string // the names in the header row, trimmed; nil when there is none
	Columns []string // what to call each column on screen: its name, or "Column C"
	Sample  []Row    // the first rows, which Next returns too
}

// Tab is one sheet of a workbook.
type Tab struct {
	Name   string
	Hidden bool
	// Rows counts the rows that are not hidden and not blank, with the header
	// row. It is -1 when nobody counted or the sheet cannot be read.
	Rows int
}

// Row is one row of a list. It is the caller's to keep.
type Row struct {
	Number int      // as a spreadsheet program numbers it, from 1
	Cells  []string // verbatim, valid UTF-8 without NUL; may be more or fewer than the columns
	Hidden bool
	// Problem says why the row cannot be used, in the words for staff. Cells
	// then hold what could be read of it.
	Problem string
}

// Tally counts what was read so far.
type Tally struct {
	Rows     int // returned by Next
	Problems int // those of them with a Problem
	Hidden   int // rows left out because they are hidden
	Blank    int // rows in which nothing stands; never returned
	Headers  int // rows that say the names of the columns again; never returned
	Columns  int // of the widest row returned
}

// Notices are the sentences about the whole file that staff should see before
// its rows are read (ux 2.4).
func (p Profile) Notices() []string {
	var all []string
	if len(p.Sheets) > 1 {
		all = append(all, fmt.Sprintf("The selected file has %d sheets. Choose the one to use", len(p.Sheets)))
	}
	if p.Options.HeaderRow == NoHeader && p.Kind != Pairs {
		all = append(all, "The first row looks like data, not column names")
	}
	for _, same := range p.SameNames() {
		all = append(all, fmt.Sprintf("%d columns are called %q. Check which one is used", len(same), p.Columns[same[0]]))
	}
	return all
}

// SameNames are the columns that share a name, by sms.PlaceholderKey: of each
// such name its columns, counted from 0.
func (p Profile) SameNames() [][]int {
	at, all := map[string]int{}, [][]int(nil)
	for i, name := range p.Header {
		key := sms.PlaceholderKey(name)
		if key == "" {
			continue
		}
		if _, seen := at[key]; !seen {
			at[key] = len(all)
			all = append(all, nil)
		}
		all[at[key]] = append(all[at[key]], i)
	}
	return slices.DeleteFunc(all, func(same []int) bool { return len(same) < 2 })
}

// Notice is the sentence about hidden rows, or "".
func (t Tally) Notice() string {
	switch t.Hidden {
	case 0:
		return ""
	case 1:
		return "1 hidden row is left out"
	}
	return humanize.Comma(int64(t.Hidden)) + " hidden rows are left out"
}

// ColumnName is the name that spreadsheet programs give column i, counted from
// 0: A, B, … Z, AA.
func ColumnName(i int) string {
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

// CheckSize refuses a file of more than limit bytes as sms.Invalid.
func CheckSize(size, limit int64) error {
	if size <= limit {
		return nil
	}
	return refuse(
		"The selected file must be smaller than %s. Yours is %s. Remove sheets, pictures and columns you do not need", megabytes(limit), megabytes(size))
}

// OverSize is the sentence for a file of which only is known that it has more
// than limit bytes.
func OverSize(limit int64) string {
	return fmt.Sprintf(
		"The selected file must be smaller than %s. Yours is larger. Remove sheets, pictures and columns you do not need", megabytes(limit))
}

// CellFault says why a value must not go into a message although it can be
// read, or "": a spreadsheet program put the failure of a formula, or the sign
// that a column is too narrow, in its place.
func CellFault(value string) string {
	v := strings.TrimSpace(value)
	switch {
	case strings.HasPrefix(v, "Err:5") && len(v) == len("Err:502"):
		return "Cell shows the formula error " + v + ". Fix the formula"
	case !strings.HasPrefix(v, "#"):
	case strings.Trim(v, "#") == "" && len(v) > 2:
		return "Cell shows " + v + " because the column is too narrow. Widen it and save the file again"
	default:
		for _, e := range formulaErrors {
			if strings.EqualFold(v, e) {
				return "Cell shows the formula error " + e + ". Fix the formula"
			}
		}
	}
	return ""
}

// formulaErrors are those of Excel, and of Google Sheets where it has its own.
var formulaErrors = []string{"#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#ERROR!", "#FIELD!",
	"#BLOCKED!", "#CONNECT!", "#UNKNOWN!", "#BUSY!", "#GETTING_DATA"}

// unreadable is the sentence for a file that is damaged, or hostile.
const unreadable = "We cannot read this file. Open it in Excel, choose Save As, choose CSV UTF-8, and upload that file"

func refuse(format string, args ...any) error {
	return sms.Invalid{"file": fmt.Sprintf(format, args...)}
}

func refuseType(what, instead string) error {
	sentence := "The selected file must be a CSV, TSV, TXT, XLSX or ODS. Yours is " + what
	if instead != "" {
		sentence += ". " + instead
	}
	return sms.Invalid{"file": sentence}
}

func megabytes(size int64) string {
	return humanize.Comma((size+1<<20-1)>>20) + "MB"
}
