package sms

import (
	"strconv"
	"time"
)

// ListState is how far an uploaded list has come.
type ListState string

// The states of a list.
const (
	ListUploaded ListState = "uploaded" // stored; its message and columns are not chosen yet
	ListChecking ListState = "checking" // its rows are being read and checked
	ListChecked  ListState = "checked"  // every row has a verdict; a person decides what to do with the bad ones
	ListMaking   ListState = "making"   // its rows are being put into a campaign, which is not visible yet
	ListMade     ListState = "made"     // the campaign is there
	ListFailed   ListState = "failed"   // Problem says why; the file can be read in another way or replaced
)

// ListPurpose says what becomes of a list.
type ListPurpose string

// The purposes.
const (
	ForCampaign ListPurpose = ""         // an uploaded file
	ForAudience ListPurpose = "audience" // the people of an audience, for a campaign
	ForContacts ListPurpose = "contacts" // an uploaded file; its rows become contacts
)

// List is an uploaded file on its way to a campaign. It belongs to the person
// who uploaded it and is forgotten ListKept after its last change unless a
// campaign was made of it.
type List struct {
	ID          int64
	UID         string // random; names it in URLs and in the data folder
	AccountID   int64
	Purpose     ListPurpose
	State       ListState
	Problem     string // a sentence for staff while ListFailed
	Version     int64  // for compare-and-set
	FileName    string // as given, at most 100 runes; shown, never used as a path
	Size        int64  // bytes
	Hash        string // SHA-256 of the file's bytes, hex
	Reading     ListReading
	HeaderKey   string // tells lists with the same column names; "" without names
	Order       ListOrder
	Tally       ListTally
	Done        int64 // rows checked, or put into the campaign, so far
	Total       int64 // of about so many
	CampaignID  int64 // 0 until ListMade
	Again       bool  // the person wants to send it to those too who got nearly this text
	Comparing   bool  // Done and Total are messages of earlier campaigns that are looked through
	Sum         int64 // of the rows as staged: tells what a power cut damaged
	CreatedBy   int64
	CreatedName string
	CreatedAt   int64
	ChangedAt   int64
}

// ListReading is how a file is read: what was found out, or chosen instead.
type ListReading struct {
	Kind      string // "CSV", "pairs", "XLSX" or "ODS"
	Encoding  string
	Delimiter string // one character
	HeaderRow int    // number of the row with the column names, -1: the first row is data
	Sheet     string
	Hidden    bool // hidden rows are included
	Columns   []string
	Audience  int64 `json:",omitempty"` // whose people the file holds, 0: none
	// Added are who gets the message beside the rows of the file: their rows
	// follow its last one.
	Added []ListSource `json:",omitempty"`
	// Series is the series of which the list's campaign is a run, 0: none.
	Series    int64 `json:",omitempty"`
	SeriesRun int   `json:",omitempty"`
}

// ListSource is some recipients that were added to a list: an audience as it was
// then, or numbers that were typed.
type ListSource struct {
	Audience int64  `json:",omitempty"` // 0: typed numbers
	Name     string `json:",omitempty"` // of the audience
	File     string `json:",omitempty"` // in the list's folder, with the audience's people
	Typed    string `json:",omitempty"` // the numbers as they were typed
	Rows     int64
}

// AddedRows is how many rows follow those of the file.
func (r ListReading) AddedRows() (n int64) {
	for _, s := range r.Added {
		n += s.Rows
	}
	return n
}

// ListOrder says what to make of the rows. Columns are counted from 0, -1: none.
type ListOrder struct {
	Name     string // of the campaign; proposed from the file's name when empty
	SenderID string
	Template string // name of the service's template whose text Text is, "" for own text
	Text     string // with marks ##Name##; "" when Message names a column
	Flash    bool
	OnlyNew  bool `json:",omitempty"` // who got nearly the same text lately is left out without a question
	Phone    int
	Message  int
	Own      bool // Text and Message are both given: a row with something in its Message column gets that
	// Fields says which column fills a mark, Fixed which one text for everybody
	// does; keys are PlaceholderKey of the mark.
	Fields map[string]int
	Fixed  map[string]string
	// Empty says what fills a mark in rows whose cell is empty; keys as of Fields.
	Empty map[string]string
	// FirstOnly leaves out every row whose number an earlier row has.
	FirstOnly bool
}

// RowKind is what the check has to say of a row. A bad row cannot be sent; a
// left-out one is not sent; of the others something is worth knowing.
type RowKind string

// The kinds.
const (
	RowMissing    RowKind = "missing"    // bad: no number, or nothing for a mark
	RowNumber     RowKind = "number"     // bad: the number cannot be used
	RowText       RowKind = "text"       // bad: the text cannot be sent
	RowUnreadable RowKind = "unreadable" // bad: the row itself cannot be read
	RowBlocked    RowKind = "blocked"    // left out: the number is on the blocked list
	RowRepeat     RowKind = "repeat"     // left out: same number and text as an earlier row
	RowOtherText  RowKind = "othertext"  // worth knowing: the number has another text in an earlier row
	RowRepaired   RowKind = "repaired"   // worth knowing: the number was written differently
	RowOften      RowKind = "often"      // left out: the person got as many messages as the account allows
	RowAlready    RowKind = "already"    // left out: the person sends only to those who did not get nearly this text
	RowLonger     RowKind = "longer"     // worth knowing: special letters make the text need more parts
	RowCorrected  RowKind = "corrected"  // worth knowing: a person corrected a cell
	RowSecond     RowKind = "second"     // left out: the number is in an earlier row, and the first of each is kept
)

// Bad says that a row of this kind stops the list until it is corrected or
// left out.
func (k RowKind) Bad() bool {
	return k == RowMissing || k == RowNumber || k == RowText || k == RowUnreadable
}

// LeftOut says that a row of this kind is not sent without anybody deciding.
func (k RowKind) LeftOut() bool {
	return k == RowBlocked || k == RowRepeat || k == RowOften || k == RowSecond || k == RowAlready
}

// RowKinds lists the kinds in the order of the check page.
func RowKinds() []RowKind {
	return []RowKind{RowMissing, RowNumber, RowText, RowUnreadable, RowBlocked, RowRepeat, RowOtherText, RowRepaired,
		RowLonger, RowOften, RowCorrected, RowSecond, RowAlready}
}

// RowNote is what the check says of one row: one note a kind and row.
type RowNote struct {
	Row    int64 // as in the spreadsheet
	Kind   RowKind
	Column int      // where the fault is, -1: in no single cell
	Text   string   // the sentence of the cell (ux 2.5)
	Before string   // the value as it stands in the file
	After  string   // for RowRepaired: the number as it will be used
	Other  int64    // for RowRepeat and RowOtherText: the earlier row
	Cells  []string // the row as it stands, at most the first 12 columns, each cut at 80 runes
}

// RowFilter says which notes are wanted, in the order of rows.
type RowFilter struct {
	Kinds []RowKind // none: the bad ones
	After int64     // rows above this
	Upto  int64     // no rows above this; 0: all
	Limit int
}

// RowVerdict is all that the check says of one row.
type RowVerdict struct {
	Row   ListRow
	Notes []RowNote
}

// Correction is a cell of a list as a person corrected it.
type Correction struct {
	Row, From        int64 // From: the row of which a person made this one, 0: it is one of the file
	Column           int
	Given, Corrected string // what the file has, what a person typed
	By               int64  // user
	ByName           string
	At               int64 // milliseconds UTC
}

// MapCell counts some rows that follow each other in a list.
type MapCell struct {
	First, Last, Ready, Fix, Repeated, Repaired int64 // the numbers of the first and the last row, and counts
}

// ListTally counts the rows of a checked list.
type ListTally struct {
	Rows           int64 // all, without blank, hidden and header rows
	Good           int64 // to be sent
	Hidden, Blank  int64
	Headers        int64             // rows that say the names of the columns again
	Several        int64             // rows to fix that have several numbers in their cell
	Last           int64             // number of the last row before those that were made of others
	Kinds          map[RowKind]int64 // bad and left-out rows are in exactly one of those kinds
	Fixes          map[string]int64  // what was repaired, in words, such as "Removed spaces"
	Parts          int64             // of the rows to be sent
	Unicode        int64             // rows to be sent that need Unicode
	Longest        int64             // the row to be sent with the most parts, 0: none
	Odd            int64             // the first row to be sent that needs Unicode, 0: none
	Letters        string            // the special letters that make texts longer, at most 20
	Texts          int64             // different texts among the rows to be sent
	Columns        int               // of the widest row
	Added, Changed int64             // of a list for contacts that is made: who was new, and of whom something was
	Map            []MapCell         // the rows of the list from its first to its last
	Lacks          map[int]int64     // by column: rows with nothing in it that need it
	// Already are those of Good who got nearly the same text lately, nil where
	// nobody did; LookedAt is when that was looked up (ms).
	Already  *AlreadySent
	LookedAt int64
}

// Bad counts the rows that cannot be sent.
func (t ListTally) Bad() (n int64) {
	for k, of := range t.Kinds {
		if k.Bad() {
			n += of
		}
	}
	return n
}

// LeftOut counts the rows that are not sent although nothing is wrong with
// them.
func (t ListTally) LeftOut() (n int64) {
	for k, of := range t.Kinds {
		if k.LeftOut() {
			n += of
		}
	}
	return n
}

const (
	// ListKept is how long a list of which no campaign was made is kept after
	// its last change.
	ListKept = 24 * time.Hour
	// MaxListBytes is the largest file where nothing else is set, in bytes.
	MaxListBytes = 256 << 20
)

// SettingMaxList names the setting that holds the largest file in bytes.
const SettingMaxList = "upload_most"

// ListRow is the verdict on one row of a checked list.
type ListRow struct {
	Row     int64 // as in the spreadsheet
	Number  int64 // MSISDN with country code; 0 when it could not be read
	Text    string
	Unicode bool
	Parts   int
	Kind    RowKind // why it is not sent; "" when it is
	Reason  string  // the sentence of Kind, where it was left out after the check
}

// MSISDN is the number as messages hold it, "" for none.
func (r ListRow) MSISDN() string {
	if r.Number == 0 {
		return ""
	}
	return strconv.FormatInt(r.Number, 10)
}

// Clean says that nothing about a checked list needs a person's eye, so that a
// campaign is made of it at once.
func (t ListTally) Clean() bool {
	return t.Good > 0 && t.Bad() == 0 && t.LeftOut() == 0 && t.Hidden == 0 && t.Kinds[RowOtherText] == 0 &&
		t.Kinds[RowCorrected] == 0 && !t.Already.Asks()
}

// File is an uploaded file, open for reading.
type File interface {
	ReadAt(p []byte, off int64) (n int, err error)
	Close() error
}
