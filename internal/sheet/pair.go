package sheet

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	problemPair  = "We cannot tell where this message ends. Upload the list as CSV or XLSX instead"
	problemCaret = `Has no "^" between the number and the message`
)

// pairs reads phone^message, one on a line or parted by "~". Each has two
// cells and, as there are no escapes in this form, its number counts the lines
// and pairs before it. What stands between separators and is no pair belongs
// to the message before it, which is then a problem: sending the half of a
// message is worse than asking.
type pairs struct {
	s       *records
	held    record // the pair that may still go on
	holding bool
	begun   bool
	ended   bool
	before  byte // the separator in front of the next piece
}

func newPairs(s *records) *pairs { return &pairs{s: s, before: '\n'} }

func (p *pairs) next() (record, error) {
	for !p.ended {
		piece, separator, err := p.piece()
		if err == io.EOF {
			p.ended = true
			break
		}
		if err != nil {
			return record{}, err
		}
		rec, fresh := p.read(piece, separator)
		if !fresh {
			continue
		}
		done, full := p.held, p.holding
		p.held, p.holding = rec, true
		if full {
			return done, nil
		}
	}
	if !p.holding {
		return record{}, io.EOF
	}
	p.holding = false
	return p.held, nil
}

// piece is the text up to the next separator, with its number counted, and the
// separator before it. A piece is never longer than MaxRecord bytes and one.
func (p *pairs) piece() (piece []byte, separator byte, err error) {
	w := p.s.window()
	if len(w) == 0 {
		if p.s.fault != nil {
			return nil, 0, p.s.fault
		}
		return nil, 0, io.EOF
	}
	separator = p.before
	p.s.number++
	n := 0
	for n < len(w) && n <= MaxRecord && w[n] != '~' && w[n] != '\n' {
		n++
	}
	if p.before = 0; n < len(w) && n <= MaxRecord {
		p.before = w[n]
	}
	p.s.consume(min(n+1, len(w)))
	return w[:n], separator, nil
}

// read makes a record of a piece, or adds the piece to the one held.
func (p *pairs) read(piece []byte, separator byte) (rec record, fresh bool) {
	if len(piece) > MaxRecord {
		rec = p.record(piece[:keptOfLong-splitRune(piece[:keptOfLong])])
		rec.Problem = problemLong
		p.begun = true
		p.skip()
		return rec, true
	}
	piece = trimReturns(piece)
	if len(bytes.Trim(piece, " \t\x1a")) == 0 {
		return record{}, false
	}
	first := !p.begun
	p.begun = true
	phone, _, paired := bytes.Cut(piece, []byte{'^'})
	if phoneLike(string(phone)) {
		return p.record(piece), true
	}
	if first && paired && isPhoneName(string(phone)) {
		return record{}, false
	}
	if p.holding {
		if len(p.held.Cells[1])+len(piece) <= MaxRecord {
			p.held.Cells[1] += string(separator) + string(piece)
			clean(p.held.Cells)
		}
		p.held.Problem = problemPair
		return record{}, false
	}
	rec = p.record(piece)
	if !paired {
		rec.Cells, rec.Problem = []string{"", rec.Cells[0]}, problemCaret
	}
	return rec, true
}

func (p *pairs) record(piece []byte) record {
	phone, message, _ := strings.Cut(string(piece), "^")
	rec := record{Row: Row{Number: p.s.number, Cells: []string{phone, message}}, columns: 2}
	if rec.Problem = problemOf(piece, 2, p.s.encoding); rec.Problem != "" {
		clean(rec.Cells)
	}
	return rec
}

// skip passes over the rest of a piece that is too long.
func (p *pairs) skip() {
	for w := p.s.window(); len(w) > 0 && p.before == 0; w = p.s.window() {
		n := bytes.IndexAny(w, "~\n")
		if n >= 0 {
			p.before = w[n]
		} else {
			n = len(w)
		}
		p.s.consume(min(n+1, len(w)))
	}
}

// phoneLike tells whether what stands before a "^" is meant as a number, right
// or wrong.
func phoneLike(s string) bool {
	digits, letters := 0, 0
	for _, r := range s {
		switch {
		case strings.ContainsRune(",;|\t\"", r):
			return false
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return digits >= 5 && letters <= 2 && utf8.RuneCountInString(s) <= 40
}

// looksPaired tells whether most lines of the sample, or pairs of its one
// line, have a number before a "^".
func looksPaired(sample []byte, whole bool) bool {
	if bytes.IndexByte(sample, '^') < 0 {
		return false
	}
	s := newPairs(newRecords(bytes.NewReader(sample), '^', UTF8))
	good, full, all := 0, 0, 0
	for all < SampleRows {
		rec, err := s.next()
		if err != nil {
			break
		}
		all++
		if rec.Problem == "" {
			good++
		}
		if rec.Problem == "" && rec.Cells[1] != "" {
			full++
		}
	}
	if !whole && all > 1 {
		all--
	}
	return full > 0 && 2*good >= all
}
