package lists

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// edit is some cells of a checked list being corrected: the verdicts on their
// rows, and on the rows with the same numbers, are made anew without reading the
// file.
type edit struct {
	d       *Corrections
	list    sms.List
	account sms.Account
	tally   sms.ListTally
	fixed   map[int64][]sms.Correction
	cells   []sms.Correction   // to be stored
	given   map[int64][]string // by row: what is to be checked
	before  map[int64]standing // of every row that may change
	after   map[int64]standing
	again   bool    // the whole list must be checked again
	whole   bool    // and nothing is to be judged in place
	gone    []int64 // rows that were made of others and are taken out
}

// standing is a row with what is said of it.
type standing struct {
	row   sms.ListRow
	notes []sms.RowNote
	fixes map[string]int64
	odd   []rune
}

func (d *Corrections) edit(ctx context.Context, l sms.List) (*edit, error) {
	account, err := d.lists.store.Account(ctx, l.AccountID)
	if err != nil {
		return nil, err
	}
	all, err := d.store.Corrections(ctx, l.ID)
	if err != nil {
		return nil, err
	}
	e := &edit{d: d, list: l, account: account, tally: l.Tally, fixed: byRow(all), given: map[int64][]string{},
		before: map[int64]standing{}, after: map[int64]standing{}}
	if e.fixed == nil {
		e.fixed = map[int64][]sms.Correction{}
	}
	e.tally.Kinds, e.tally.Fixes = maps.Clone(l.Tally.Kinds), maps.Clone(l.Tally.Fixes)
	e.tally.Map, e.tally.Lacks = slices.Clone(l.Tally.Map), maps.Clone(l.Tally.Lacks)
	if e.tally.Lacks == nil {
		e.tally.Lacks = map[int]int64{}
	}
	return e, nil
}

// put takes in a cell that a person typed.
func (e *edit) put(ctx context.Context, by sms.User, c Cell, bad sms.Invalid) error {
	value := strings.TrimSpace(strings.ToValidUTF8(c.Value, "�"))
	if utf8.RuneCountInString(value) > maxCorrected {
		bad[fmt.Sprintf("cell:%d:%d", c.Row, c.Column)] = tooLong()
		return nil
	}
	cells, err := e.cellsOf(ctx, c.Row)
	if err != nil {
		return err
	}
	if c.Column < 0 || c.Column >= max(len(cells), len(e.list.Reading.Columns)) {
		return fmt.Errorf("correct row %d: %w: there is no column %d", c.Row, sms.ErrNotFound, c.Column)
	}
	if cell(cells, c.Column) == value {
		return nil
	}
	fix := sms.Correction{Row: c.Row, Column: c.Column, Corrected: value, By: by.ID, ByName: by.Name}
	if c.Column < len(cells) {
		fix.Given = cells[c.Column]
	}
	was := slices.IndexFunc(e.fixed[c.Row], func(f sms.Correction) bool { return f.Column == c.Column })
	if was >= 0 {
		fix.Given, fix.From = e.fixed[c.Row][was].Given, e.fixed[c.Row][was].From
		e.fixed[c.Row] = slices.Delete(slices.Clone(e.fixed[c.Row]), was, was+1)
	}
	if value == strings.TrimSpace(fix.Given) && fix.From == 0 {
		fix.Corrected = fix.Given
	} else {
		e.fixed[c.Row] = append(slices.Clone(e.fixed[c.Row]), fix)
		slices.SortFunc(e.fixed[c.Row], func(a, b sms.Correction) int { return a.Column - b.Column })
	}
	e.cells = append(e.cells, fix)
	for _, m := range e.made() {
		if m.From != c.Row {
			continue
		}
		// The rows made of this one have its cells.
		if e.whole = true; m.Column == c.Column && value == strings.TrimSpace(m.Given) {
			e.unmake(by, m)
		}
	}
	e.given[c.Row] = correct(cells, []sms.Correction{fix})
	return nil
}

// cellsOf are the cells of a row that may be corrected, as they stand now.
func (e *edit) cellsOf(ctx context.Context, row int64) ([]string, error) {
	if cells, known := e.given[row]; known {
		return cells, nil
	}
	s, err := e.standingOf(ctx, row)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(s.notes, func(n sms.RowNote) bool { return n.Kind.Bad() || n.Kind == sms.RowCorrected })
	if at < 0 || s.notes[at].Kind == sms.RowUnreadable {
		return nil, fmt.Errorf("correct row %d: %w: it is not to be fixed", row, sms.ErrNotFound)
	}
	e.before[row] = s
	return s.notes[at].Cells, nil
}

func (e *edit) standingOf(ctx context.Context, row int64) (s standing, err error) {
	if s.row, err = e.d.store.StagedRow(ctx, e.list.UID, row); err != nil {
		return s, err
	}
	s.notes, err = e.d.store.StagedNotes(ctx, e.list.UID, row)
	for _, n := range s.notes {
		if n.Kind == sms.RowRepaired {
			s.fixes = map[string]int64{}
			for _, f := range strings.Split(n.Text, ", ") {
				s.fixes[f]++
			}
		}
	}
	return s, err
}

// check makes the verdicts anew and counts what changed.
func (e *edit) check(ctx context.Context) error {
	numbers := map[int64]bool{}
	for row, cells := range e.given {
		s, err := e.judge(ctx, sheet.Row{Number: int(row), Cells: cells})
		if err != nil {
			return err
		}
		e.after[row] = s
		numbers[e.before[row].row.Number], numbers[s.row.Number] = true, true
	}
	delete(numbers, 0)
	for number := range numbers {
		if err := e.settle(ctx, number); err != nil {
			return err
		}
	}
	for row := range e.after {
		if err := e.recount(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// judge is the verdict on a row as if it were alone in its list.
func (e *edit) judge(ctx context.Context, r sheet.Row) (s standing, err error) {
	c := newChecker(e.account, e.list, nil, e.d.lists.stops)
	c.fixed = e.fixed
	if e.list.Purpose != sms.ForContacts {
		phone, _, _ := c.phones.read(cell(r.Cells, e.list.Order.Phone))
		known, err := e.d.store.BlockedAmong(ctx, e.account.ID, []string{sms.ListRow{Number: phone.number}.MSISDN()})
		if err != nil {
			return s, err
		}
		if len(known) > 0 {
			c.blocked = []int64{phone.number}
		}
		if e.account.Limits.Capped() {
			since := e.account.Limits.CapSince(e.d.lists.now()).UnixMilli()
			c.often = func(number string) (int64, error) { return e.d.store.GotRecently(ctx, e.account.ID, number, since) }
		}
		defer func() {
			for i, n := range s.notes {
				if b, is := known[n.After]; is && n.Kind == sms.RowBlocked {
					s.notes[i].Text, s.notes[i].After = b.Sentence(e.d.lists.now().In(e.account.Location())), ""
				}
			}
		}()
	}
	s.row, s.notes = c.row(r)
	s.fixes, s.odd = c.tally.Fixes, []rune(c.tally.Letters)
	return s, c.failed
}

// settle says which of the rows with one number are sent: of those with one text
// the first, as when the whole list is checked.
func (e *edit) settle(ctx context.Context, number int64) error {
	rows, err := e.d.store.StagedWith(ctx, e.list.UID, number, maxSame+1)
	if err != nil {
		return err
	}
	if len(rows) > maxSame {
		e.again = true
		return nil
	}
	was := e.repeats(rows)
	rows = slices.DeleteFunc(rows, func(r sms.ListRow) bool { _, typed := e.given[r.Row]; return typed })
	for row := range e.given {
		if s := e.after[row]; s.row.Number == number {
			rows = append(rows, s.row)
		}
	}
	slices.SortFunc(rows, func(a, b sms.ListRow) int { return cmp.Compare(a.Row, b.Row) })
	is := e.repeats(rows)
	for _, r := range rows {
		s, typed := e.after[r.Row]
		if !typed && was[r.Row] == is[r.Row] {
			continue
		}
		if !typed {
			if s, err = e.standingOf(ctx, r.Row); err != nil {
				return err
			}
			e.before[r.Row] = s
			s.notes = slices.DeleteFunc(slices.Clone(s.notes), func(n sms.RowNote) bool { return aboutRepeats(n.Kind) })
		}
		e.after[r.Row] = e.repeated(s, is[r.Row])
	}
	return nil
}

// repeat is how a row stands to the rows before it with its number: kind is ""
// where it is sent all the same.
type repeat struct {
	kind sms.RowKind
	row  int64 // the earlier one, 0: none
}

func aboutRepeats(k sms.RowKind) bool {
	return k == sms.RowRepeat || k == sms.RowSecond || k == sms.RowOtherText
}

func (e *edit) repeats(rows []sms.ListRow) map[int64]repeat {
	of, seen := map[int64]repeat{}, newNumberSet()
	for _, r := range rows {
		if r.Kind != "" && !aboutRepeats(r.Kind) {
			continue
		}
		text := uint64(0)
		if e.list.Purpose != sms.ForContacts {
			text = seen.hash(r.Text)
		}
		same, other := seen.add(r.Number, text, r.Row)
		switch {
		case same != 0:
			of[r.Row] = repeat{sms.RowRepeat, same}
		case other != 0 && e.list.Order.FirstOnly:
			of[r.Row] = repeat{sms.RowSecond, other}
		case other != 0:
			of[r.Row] = repeat{"", other}
		}
	}
	return of
}

// repeated is a row with how it stands to earlier ones.
func (e *edit) repeated(s standing, r repeat) standing {
	if s.row.Kind != "" && !aboutRepeats(s.row.Kind) {
		return s
	}
	s.row.Kind = r.kind
	if r.row == 0 {
		return s
	}
	n := sms.RowNote{Row: s.row.Row, Kind: cmp.Or(r.kind, sms.RowOtherText), Column: e.list.Order.Phone, Other: r.row}
	switch n.Kind {
	case sms.RowRepeat:
		n.Text = repeatSentence(e.list.Purpose, r.row)
	case sms.RowSecond:
		n.Text = secondSentence(r.row)
	default:
		n.Text = otherSentence(r.row)
	}
	if len(s.notes) > 0 {
		n.Cells = s.notes[0].Cells
	} else {
		n.Cells = make([]string, e.list.Order.Phone+1)
		n.Cells[e.list.Order.Phone] = s.row.MSISDN()
	}
	n.Cells = noteRow(n.Cells, false)
	if at := e.list.Order.Phone; at < len(n.Cells) {
		n.Before = n.Cells[at]
	}
	s.notes = append(slices.Clone(s.notes), n)
	if r.kind != "" {
		// Of a row that is left out nothing else is worth knowing.
		s.notes = slices.DeleteFunc(s.notes, func(n sms.RowNote) bool {
			return n.Kind == sms.RowRepaired || n.Kind == sms.RowLonger || n.Kind == sms.RowOtherText
		})
		s.fixes = nil
	}
	return s
}

// recount counts a row as it is now instead of as it was.
func (e *edit) recount(ctx context.Context, row int64) error {
	before, after, t := e.before[row], e.after[row], &e.tally
	for _, side := range []struct {
		standing
		n int64
	}{{before, -1}, {after, 1}} {
		here := place{ready: side.row.Kind == ""}
		for _, n := range side.notes {
			t.Kinds[n.Kind] += side.n
			here.note(n.Kind)
			if n.Kind == sms.RowMissing {
				t.Lacks[n.Column] += side.n
			}
			if severalIn(e.account, e.list.Order.Phone, n) {
				t.Several += side.n
			}
		}
		for f, n := range side.fixes {
			if t.Fixes[f] += side.n * n; t.Fixes[f] <= 0 {
				delete(t.Fixes, f)
			}
		}
		at, _ := slices.BinarySearchFunc(t.Map, row, func(c sms.MapCell, row int64) int { return cmp.Compare(c.Last, row) })
		if at < len(t.Map) {
			addPlace(&t.Map[at], here, side.n)
		}
		if side.row.Kind != "" {
			continue
		}
		t.Good += side.n
		t.Parts += side.n * int64(side.row.Parts)
		if side.row.Unicode {
			t.Unicode += side.n
		}
	}
	same := after.row.Kind == "" && before.row.Text == after.row.Text
	if before.row.Kind == "" && !same && (t.Longest == row || t.Odd == row) {
		// Which row is that now, only all of them together say.
		e.again = true
	}
	if after.row.Kind != "" || before.row.Kind == "" && same {
		return nil
	}
	return e.count(ctx, after)
}

// count takes a row to be sent into what is known of all their texts.
func (e *edit) count(ctx context.Context, s standing) error {
	t := &e.tally
	if t.Texts++; newRenderer(e.list.Order).constant() {
		t.Texts = 1
	}
	if s.row.Unicode && (t.Odd == 0 || s.row.Row < t.Odd) {
		t.Odd = s.row.Row
	}
	for _, r := range s.odd {
		if utf8.RuneCountInString(t.Letters) < maxLetters && !strings.ContainsRune(t.Letters, r) {
			t.Letters += string(r)
		}
	}
	if t.Longest == 0 {
		t.Longest = s.row.Row
		return nil
	}
	longest, err := e.d.store.StagedRow(ctx, e.list.UID, t.Longest)
	if errors.Is(err, sms.ErrNotFound) {
		return nil
	}
	units := func(r sms.ListRow) int { return sms.CountSegments(r.Text, false).Units }
	if err == nil && cmp.Or(cmp.Compare(s.row.Parts, longest.Parts), cmp.Compare(units(s.row), units(longest)),
		cmp.Compare(longest.Row, s.row.Row)) > 0 {
		t.Longest = s.row.Row
	}
	return err
}

// verdicts are the rows that changed, in their order.
func (e *edit) verdicts() []sms.RowVerdict {
	var all []sms.RowVerdict
	for _, row := range slices.Sorted(maps.Keys(e.after)) {
		all = append(all, sms.RowVerdict{Row: e.after[row].row, Notes: e.after[row].notes})
	}
	return all
}
