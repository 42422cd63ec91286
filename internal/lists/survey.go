package lists

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// Survey is what the rows of a list come to with an order, before they are
// checked. Numbers that are blocked are counted with the others.
type Survey struct {
	Typed   int64 // rows of the numbers that are being typed
	Numbers int64 // different ones of rows that are ready
	ToFix   int64 // rows that are not
	Ready   int64 // rows that have a number and all that the text needs
	Twice   int64 // rows whose number an earlier row has
	Parts   int64 // of the rows that are ready
	Unicode int64 // rows with special characters, whether of the text or of a cell
	Extra   int64 // parts that those need more than in standard characters
	Texts   int64 // different texts
	Longest SurveyRow
	Special SurveyRow // the first row with special characters
	Whole   bool      // all rows of the list were read
	Rows    int64     // that were read
}

// SurveyRow is a row of the file; its number is 0 where there is none.
type SurveyRow struct {
	Row   int64
	Cells []string
}

const (
	// surveyRows, surveyBytes and surveyTime bound what is read of a list for a
	// survey, and what is kept of it: a page waits for it.
	surveyRows  = 20_000
	surveyBytes = 4 << 20
	surveyTime  = 500 * time.Millisecond
	// surveysKept is how many lists are kept, and how many answers.
	surveysKept = 4
	// maxTypedBytes is the longest text with numbers that is looked through while a
	// person types.
	maxTypedBytes = 64 << 10
	// maxSurveyBook is the largest workbook that is opened for a survey, in bytes:
	// opening one takes a while at every size.
	maxSurveyBook = 4 << 20
)

// surveyCache keeps the rows of the last few lists and what they came to.
type surveyCache struct {
	mu   sync.Mutex
	rows []surveyed
	came []surveyAnswer
}

type surveyed struct {
	uid     string
	version int64
	phone   int // column
	rows    []sheet.Row
	whole   bool
}

type surveyAnswer struct {
	key [sha256.Size]byte
	Survey
}

// Survey reads the first rows of a list of the person's own as they would be
// sent with an order, and behind them the numbers that are being typed.
func (d *Lists) Survey(ctx context.Context, by sms.User, uid string, o sms.ListOrder, typed string) (Survey, error) {
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return Survey{}, err
	}
	key, err := surveyKey(l, o, typed)
	if err != nil {
		return Survey{}, err
	}
	if s, known := d.surveys.answer(key); known {
		return s, nil
	}
	account, err := d.store.Account(ctx, l.AccountID)
	if err != nil {
		return Survey{}, err
	}
	if (l.Reading.Kind == "XLSX" || l.Reading.Kind == "ODS") && l.Size > maxSurveyBook {
		return Survey{}, nil
	}
	l.Order = tidyOrder(o, l)
	from, err := d.surveyed(ctx, account, l)
	if err != nil {
		return Survey{}, err
	}
	more := typedRows(account, l, from.rows, typed)
	from.rows = append(slices.Clip(from.rows), more...)
	s := survey(account, l, from, d.stops)
	s.Typed = int64(len(more))
	d.surveys.keepAnswer(surveyAnswer{key, s})
	return s, nil
}

func surveyKey(l sms.List, o sms.ListOrder, typed string) (key [sha256.Size]byte, err error) {
	text, err := json.Marshal([]any{l.UID, l.Version, o, typed})
	return sha256.Sum256(text), err
}

// surveyed are the first rows of a list.
func (d *Lists) surveyed(ctx context.Context, account sms.Account, l sms.List) (surveyed, error) {
	if s, known := d.surveys.find(l); known {
		return s, nil
	}
	l.Reading.Added = slices.DeleteFunc(slices.Clone(l.Reading.Added),
		func(s sms.ListSource) bool { return s.Audience == 0 })
	reader, err := d.openList(ctx, account, l, l.Reading)
	if err != nil {
		return surveyed{}, err
	}
	defer func() { _ = reader.Close() }()
	s, size := surveyed{uid: l.UID, version: l.Version, phone: l.Order.Phone}, 0
	for began := time.Now(); len(s.rows) < surveyRows && size < surveyBytes && time.Since(began) < surveyTime; {
		row, err := reader.Next()
		if err == io.EOF {
			s.whole = true
			break
		}
		if err != nil {
			return surveyed{}, err
		}
		for _, c := range row.Cells {
			size += len(c) + 16
		}
		s.rows = append(s.rows, row)
	}
	d.surveys.keepRows(s)
	return s, nil
}

// typedRows are numbers that are being typed, behind the rows of a list.
func typedRows(account sms.Account, l sms.List, before []sheet.Row, typed string) []sheet.Row {
	if len(typed) > maxTypedBytes {
		return nil
	}
	at := 0
	if len(before) > 0 {
		at = before[len(before)-1].Number
	}
	l.Reading.Added = []sms.ListSource{{Typed: typed}}
	from := addedReader{list: l, country: account.Country, abroad: account.Abroad}
	var rows []sheet.Row
	for {
		row, err := from.next(at + len(rows) + 1)
		if err != nil {
			return rows
		}
		rows = append(rows, row)
	}
}

// survey judges rows as the check does, except that what is not written or
// chosen yet is nobody's fault.
func survey(account sms.Account, l sms.List, from surveyed, stops *sms.StopLinks) Survey {
	c := newChecker(account, l, nil, stops)
	c.make = (*checker).unfinished
	s := Survey{Whole: from.whole, Rows: int64(len(from.rows))}
	at := map[int64][]string{}
	for _, row := range from.rows {
		longest, odd := c.tally.Longest, c.tally.Odd
		v, _ := c.row(row)
		if c.tally.Longest != longest || c.tally.Odd != odd {
			at[v.Row] = row.Cells
		}
		if v.Unicode && v.Kind == "" {
			s.Extra += int64(v.Parts - sms.CountSegments(inGSM7(v.Text), false).Parts)
		}
	}
	t := c.result(sheet.Tally{})
	s.Ready, s.Parts, s.Unicode, s.Texts = t.Good, t.Parts, t.Unicode, t.Texts
	s.Twice = t.Kinds[sms.RowRepeat] + t.Kinds[sms.RowSecond] + t.Kinds[sms.RowOtherText]
	for k, n := range t.Kinds {
		if k.Bad() {
			s.ToFix += n
		}
	}
	s.Numbers = s.Rows - s.Twice - s.ToFix
	s.Longest, s.Special = SurveyRow{t.Longest, at[t.Longest]}, SurveyRow{t.Odd, at[t.Odd]}
	return s
}

// inGSM7 is a text of the same length in the standard alphabet.
func inGSM7(text string) string {
	letters := []rune(text)
	for i, r := range letters {
		if !sms.IsGSM7(r) {
			letters[i] = 'a'
		}
	}
	return string(letters)
}

// unfinished is the text of a row while the message is being written: only what
// a row lacks that others have is at fault.
func (c *checker) unfinished(cells []string) (m message, kind sms.RowKind, column int, sentence string) {
	text, missing := c.fill.preview(cells)
	for _, name := range missing {
		if at := c.fill.byName[name].column; at >= 0 {
			return m, sms.RowMissing, at, ""
		}
	}
	if c.fill.message >= 0 && !c.fill.own && text == "" {
		return m, sms.RowMissing, c.fill.message, ""
	}
	if text != c.last.text || text == "" {
		c.last = message{text: text, count: sms.CountSegments(text, false), hash: c.seen.hash(text)}
	}
	return c.last, "", -1, ""
}

// PreviewRow fills the text for a row. missing names the marks that nothing
// fills in it.
func (d *Lists) PreviewRow(o sms.ListOrder, cells []string) (text string, missing []string) {
	f := newRenderer(o)
	if d.stops != nil {
		f.link = d.stops.Sample
	}
	return f.preview(cells)
}

func (p *surveyCache) answer(key [sha256.Size]byte) (Survey, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.came {
		if k.key == key {
			return k.Survey, true
		}
	}
	return Survey{}, false
}

func (p *surveyCache) find(l sms.List) (surveyed, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.rows {
		if k.uid == l.UID && k.version == l.Version && k.phone == l.Order.Phone {
			return k, true
		}
	}
	return surveyed{}, false
}

func (p *surveyCache) keepAnswer(a surveyAnswer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.came = lastOf(append(p.came, a))
}

func (p *surveyCache) keepRows(s surveyed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows = lastOf(append(p.rows, s))
}

// lastOf copies, so that what is dropped is not kept by what stays.
func lastOf[T any](all []T) []T {
	return append([]T(nil), all[max(len(all)-surveysKept, 0):]...)
}
