package lists

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"smsdesk/internal/feed"
	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// Corrections takes the orders of staff who mend a checked list where they see
// it. The uploaded file stays as it is.
type Corrections struct {
	lists *Lists
	store CorrectionStore
}

// CorrectionStore is what corrections need to be remembered.
type CorrectionStore interface {
	BlockedAmong(ctx context.Context, account int64, numbers []string) (map[string]sms.Blocked, error)
	CorrectAgain(ctx context.Context, l sms.List, cells []sms.Correction, gone []int64, now int64) (sms.List, error)
	Corrections(ctx context.Context, list int64) ([]sms.Correction, error)
	CorrectRows(ctx context.Context, l sms.List, tally sms.ListTally, cells []sms.Correction, rows []sms.RowVerdict,
		now int64) (sms.List, error)
	GotRecently(ctx context.Context, account int64, number string, since int64) (int64, error)
	StagedNotes(ctx context.Context, uid string, row int64) ([]sms.RowNote, error)
	StagedRow(ctx context.Context, uid string, row int64) (sms.ListRow, error)
	StagedWith(ctx context.Context, uid string, number int64, limit int) ([]sms.ListRow, error)
}

// NewCorrections returns what takes orders about the cells of lists.
func NewCorrections(l *Lists, store CorrectionStore) *Corrections {
	return &Corrections{lists: l, store: store}
}

// Cell is a cell of a list as a person typed it.
type Cell struct {
	Row    int64
	Column int
	Value  string
}

const (
	// maxCellsAtOnce is the most cells of one order.
	maxCellsAtOnce = 200
	// maxSame is the most rows with one number that are looked at in place; a list
	// with more is checked again as a whole.
	maxSame = 1000
	// correctTries is how often an order is begun again because the list was changed
	// meanwhile.
	correctTries = 5
)

// Correct puts what a person typed in the place of what the file has, and checks
// those rows again. Only rows that need fixing, or that were corrected before,
// can be corrected; what the file has takes a correction back. Cells that are as
// they were cost nothing. The fields of its Invalid are "cell:ROW:COLUMN".
func (d *Corrections) Correct(ctx context.Context, by sms.User, uid string, cells []Cell) (sms.List, error) {
	if len(cells) > maxCellsAtOnce {
		return sms.List{}, fmt.Errorf("correct list: %w: %d cells at once", sms.ErrConflict, len(cells))
	}
	return d.order(by, "correct list", func() (sms.List, error) { return d.correct(ctx, by, uid, cells) })
}

// order carries out an order, and begins it again where the list was changed
// meanwhile.
func (d *Corrections) order(by sms.User, what string, do func() (sms.List, error)) (sms.List, error) {
	if err := by.May(sms.Sender, what); err != nil {
		return sms.List{}, err
	}
	for try := 1; ; try++ {
		l, err := do()
		if !errors.Is(err, sms.ErrConflict) || try == correctTries || l.State != sms.ListChecked {
			return l, err
		}
	}
}

func (d *Corrections) correct(ctx context.Context, by sms.User, uid string, cells []Cell) (sms.List, error) {
	e, err := d.mendable(ctx, by, uid)
	l := e.list
	if err != nil {
		return l, err
	}
	bad := sms.Invalid{}
	for _, c := range cells {
		if err := e.put(ctx, by, c, bad); err != nil {
			return l, err
		}
	}
	if err := bad.Or(); err != nil || len(e.cells) == 0 {
		return l, err
	}
	if e.whole {
		return e.checkAgain(ctx, by, "list.correct", cellsOfList(e))
	}
	if err := e.check(ctx); err != nil {
		return l, err
	}
	alreadyStale(&e.tally)
	after, err := d.store.CorrectRows(ctx, l, e.tally, e.cells, e.verdicts(), d.lists.ms())
	if err != nil {
		return l, err
	}
	d.lists.audit(ctx, by, "list.correct", feed.List(uid), cellsOfList(e))
	d.lists.feed.Publish(feed.List(uid))
	if e.again {
		return d.again(ctx, after, func(*sms.ListOrder) {})
	}
	return after, nil
}

func cellsOfList(e *edit) string { return strconv.Itoa(len(e.cells)) + " cells of " + e.list.FileName }

// FillEmpty says what stands in the place of a mark in rows that have nothing
// for it; "" takes that back. All rows are checked again. The field of its
// Invalid is "fill:" with the key of the mark.
func (d *Corrections) FillEmpty(ctx context.Context, by sms.User, uid string, version int64,
	mark, value string) (sms.List, error) {
	value = strings.TrimSpace(strings.ToValidUTF8(value, "�"))
	key := sms.PlaceholderKey(mark)
	return d.change(ctx, by, uid, version, func(l sms.List, o *sms.ListOrder) error {
		if _, column := o.Fields[key]; !column {
			return fmt.Errorf("fill a column: %w", sms.ErrNotFound)
		}
		if utf8.RuneCountInString(value) > maxCorrected {
			return sms.Invalid{"fill:" + key: tooLong()}
		}
		if o.Empty == nil {
			o.Empty = map[string]string{}
		}
		if o.Empty[key] = value; value == "" {
			delete(o.Empty, key)
		}
		return nil
	})
}

// KeepFirst says whether, of rows with one number and different messages, only
// the first is sent. All rows are checked again.
func (d *Corrections) KeepFirst(ctx context.Context, by sms.User, uid string, version int64,
	only bool) (sms.List, error) {
	return d.change(ctx, by, uid, version, func(_ sms.List, o *sms.ListOrder) error {
		o.FirstOnly = only
		return nil
	})
}

// change changes what is to be made of a checked list, and has it checked again.
func (d *Corrections) change(ctx context.Context, by sms.User, uid string, version int64,
	change func(sms.List, *sms.ListOrder) error) (sms.List, error) {
	if err := by.May(sms.Sender, "change list"); err != nil {
		return sms.List{}, err
	}
	l, err := d.lists.ownList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	order := l.Order
	order.Empty = maps.Clone(order.Empty)
	if err := change(l, &order); err != nil {
		return l, err
	}
	if sameOrder(order, l.Order) {
		return l, nil
	}
	if l.Version != version || l.State != sms.ListChecked {
		return l, fmt.Errorf("change list: %w: the list is %s", sms.ErrConflict, l.State)
	}
	return d.again(ctx, l, func(o *sms.ListOrder) { *o = order })
}

// again has all rows of a list checked again.
func (d *Corrections) again(ctx context.Context, l sms.List, change func(*sms.ListOrder)) (sms.List, error) {
	return d.lists.changeList(ctx, l, func(now *sms.List) error {
		if now.Version != l.Version || now.State != sms.ListChecked {
			return sms.ErrConflict
		}
		change(&now.Order)
		now.State, now.Done, now.Sum, now.Again = sms.ListChecking, 0, 0, false
		return nil
	})
}

func tooLong() string {
	return "This has more than 4,000 characters. Shorten it"
}

// correct is a row with what a person corrected in it.
func correct(cells []string, fixed []sms.Correction) []string {
	if len(fixed) == 0 {
		return cells
	}
	out := slices.Clone(cells)
	for _, c := range fixed {
		for len(out) <= c.Column {
			out = append(out, "")
		}
		out[c.Column] = c.Corrected
	}
	return out
}

// correctedNote says of a row what a person corrected in it.
func correctedNote(r sheet.Row, fixed []sms.Correction) sms.RowNote {
	c, words := fixed[0], "Corrected by "+fixed[0].ByName
	if made := madeRows(fixed); len(made) > 0 {
		c = made[0]
		words = "Made of row " + strconv.FormatInt(c.From, 10) + " by " + c.ByName
	}
	return sms.RowNote{Row: int64(r.Number), Kind: sms.RowCorrected, Column: c.Column, Text: words,
		Before: cut(c.Given), After: cut(c.Corrected), Cells: noteRow(r.Cells, true)}
}

// typed says that a person typed the cell.
func (c *checker) typed(row int64, column int) bool {
	return slices.ContainsFunc(c.fixed[row], func(f sms.Correction) bool { return f.Column == column })
}

// byRow gathers corrections by their rows.
func byRow(all []sms.Correction) map[int64][]sms.Correction {
	if len(all) == 0 {
		return nil
	}
	rows := map[int64][]sms.Correction{}
	for _, c := range all {
		rows[c.Row] = append(rows[c.Row], c)
	}
	return rows
}

// rowReader reads the rows of a list with what people corrected in them.
type rowReader struct {
	*sheet.Reader
	file  io.Closer
	fixed map[int64][]sms.Correction
	added *addedReader       // what follows the file, nil for nothing
	last  int                // number of the row that was read last, of those that were not made of others
	made  []sms.Correction   // the rows made of others, which follow all, in their order
	cells map[int64][]string // by row: the cells of those of which others were made, as far as they were read
}

// Next is the next row; io.EOF behind the last.
func (r *rowReader) Next() (sheet.Row, error) {
	row, err := r.next()
	switch {
	case err == nil:
		r.last = row.Number
	case err == io.EOF:
		row, err = r.nextMade()
	}
	if err != nil {
		return row, err
	}
	row.Cells = correct(row.Cells, r.fixed[int64(row.Number)])
	if _, more := r.cells[int64(row.Number)]; more {
		r.cells[int64(row.Number)] = row.Cells
	}
	return row, nil
}

// nextMade is the next row that was made of another one, with that one's cells;
// io.EOF behind the last.
func (r *rowReader) nextMade() (sheet.Row, error) {
	for len(r.made) > 0 {
		m := r.made[0]
		r.made = r.made[1:]
		if cells := r.cells[m.From]; cells != nil {
			return sheet.Row{Number: int(m.Row), Cells: cells}, nil
		}
	}
	return sheet.Row{}, io.EOF
}

// follow says which rows were made of others, by the numbers in a column.
func (r *rowReader) follow(fixed []sms.Correction, column int) {
	for _, c := range madeRows(fixed) {
		if c.Column != column {
			continue
		}
		if r.cells == nil {
			r.cells = map[int64][]string{}
		}
		r.made, r.cells[c.From] = append(r.made, c), nil
	}
}

func (r *rowReader) next() (sheet.Row, error) {
	if r.added != nil && r.added.begun {
		return r.added.next(r.last + 1)
	}
	row, err := r.Reader.Next()
	if err == io.EOF && r.added != nil {
		r.added.begun = true
		return r.added.next(r.last + 1)
	}
	return row, err
}

func (r *rowReader) Close() error {
	err := errors.Join(r.Reader.Close(), r.file.Close())
	if r.added != nil {
		err = errors.Join(err, r.added.close())
	}
	return err
}
