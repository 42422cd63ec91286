package sheet

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// pieceKind is what a piece of a number format stands for.
type pieceKind int

const (
	pieceLiteral pieceKind = iota
	pieceDigit             // "0", "#" or "?"
	piecePoint
	pieceComma
	piecePercent
	pieceExponent // "E+" or "E-"
	pieceSlash
	pieceText    // "@"
	pieceGeneral // the word General
	pieceDate    // a run of one letter, in small letters, such as "yyyy"
	pieceElapsed // such a run in brackets: hours, minutes or seconds that do not begin again
	pieceHalf    // AM/PM or A/P
)

type piece struct {
	kind pieceKind
	text string
}

// section is one of the up to four parts of a number format.
type section struct {
	pieces    []piece
	operator  string // of a condition such as [<100], "" without
	operand   float64
	months    *names // those of the language of its tag
	shows     pieceKind
	scale     int // powers of ten that a value is multiplied by
	thousands bool
	point     int // the piece with the decimal point, or behind the last
	exponent  int // the piece with the exponent, or behind the last
	slash     int // the piece with the stroke of a fraction, or behind the last
	fraction  int // digits of a second
}

// numberFormat is a number format as ECMA-376 Part 1, 18.8.31 describes it.
type numberFormat struct {
	numbers []section // one to three, for positive numbers, negative ones and zero
	text    *section  // for texts, nil where they are shown as they are
}

// parseFormat reads a format code. It reads any code; what makes no sense in it
// is shown as it stands.
func parseFormat(code string) *numberFormat {
	all := []section{{}}
	for rest := code; rest != ""; {
		now := &all[len(all)-1]
		switch n, p, kind := scanPiece(rest, now); kind {
		case scannedBreak:
			all, rest = append(all, section{}), rest[n:]
		case scannedNothing:
			rest = rest[n:]
		default:
			now.pieces, rest = append(now.pieces, p), rest[n:]
		}
	}
	f := &numberFormat{}
	for i := range all[:min(len(all), 4)] {
		s := &all[i]
		s.settle()
		switch {
		case i == 3, s.shows == pieceText && (len(all) > 1 || len(s.pieces) > 1):
			f.text = s
		case s.shows == pieceText:
			// "@" alone: numbers and texts are shown as they are.
			f.numbers = append(f.numbers, section{shows: pieceGeneral, pieces: []piece{{kind: pieceGeneral}}})
		default:
			f.numbers = append(f.numbers, *s)
		}
	}
	if len(f.numbers) == 0 {
		f.numbers = []section{{shows: pieceGeneral, pieces: []piece{{kind: pieceGeneral}}}}
	}
	return f
}

// scanned is what scanPiece found.
type scanned int

const (
	scannedPiece scanned = iota
	scannedNothing
	scannedBreak
)

// symbols are the codes of one character.
var symbols = map[byte]pieceKind{'0': pieceDigit, '#': pieceDigit, '?': pieceDigit, '.': piecePoint, ',': pieceComma,
	'%': piecePercent, '/': pieceSlash, '@': pieceText}

// scanPiece reads what code begins with, which is n bytes long. What stands in
// brackets may say something of the whole section.
func scanPiece(code string, s *section) (n int, p piece, kind scanned) {
	c := code[0]
	if k, is := symbols[c]; is {
		return 1, piece{k, code[:1]}, scannedPiece
	}
	switch c {
	case ';':
		return 1, p, scannedBreak
	case '"':
		inner, _, _ := strings.Cut(code[1:], `"`)
		return min(len(inner)+2, len(code)), piece{pieceLiteral, inner}, scannedPiece
	case '\\', '_', '*':
		_, w := utf8.DecodeRuneInString(code[1:])
		switch {
		case c == '\\':
			return 1 + w, piece{pieceLiteral, code[1 : 1+w]}, scannedPiece
		case c == '_':
			return 1 + w, piece{pieceLiteral, " "}, scannedPiece
		}
		return 1 + w, p, scannedNothing
	case '[':
		inner, _, closed := strings.Cut(code[1:], "]")
		if !closed {
			return 1, piece{pieceLiteral, "["}, scannedPiece
		}
		p, kind = s.bracket(inner)
		return len(inner) + 2, p, kind
	}
	return scanWord(code)
}

var words = []piece{{pieceGeneral, "General"}, {pieceHalf, "AM/PM"}, {pieceHalf, "A/P"}}

// scanWord reads a code of letters, else one character as it is.
func scanWord(code string) (n int, p piece, kind scanned) {
	for _, word := range words {
		if n := len(word.text); len(code) >= n && strings.EqualFold(code[:n], word.text) {
			return n, piece{word.kind, code[:n]}, scannedPiece
		}
	}
	c := code[0] | ' '
	if c == 'e' && len(code) > 1 && (code[1] == '+' || code[1] == '-') {
		return 2, piece{pieceExponent, code[:2]}, scannedPiece
	}
	if strings.IndexByte("ymdhsbe", c) < 0 || code[0] < 'A' {
		_, w := utf8.DecodeRuneInString(code)
		return w, piece{pieceLiteral, code[:w]}, scannedPiece
	}
	for n < len(code) && code[n]|' ' == c {
		n++
	}
	return n, piece{pieceDate, strings.ToLower(code[:n])}, scannedPiece
}

// bracket reads what stands in brackets: a colour, which is not shown, a
// condition, a currency with its language, or a span of time.
func (s *section) bracket(inner string) (p piece, kind scanned) {
	if currency, is := strings.CutPrefix(inner, "$"); is {
		currency, locale, _ := strings.Cut(currency, "-")
		if locale != "" {
			s.months = namesOf(locale)
		}
		return piece{pieceLiteral, currency}, scannedPiece
	}
	operator := inner[:len(inner)-len(strings.TrimLeft(inner, "<>="))]
	if operand, err := strconv.ParseFloat(strings.TrimSpace(inner[len(operator):]), 64); operator != "" && err == nil {
		s.operator, s.operand = operator, operand
		return p, scannedNothing
	}
	if letters := strings.ToLower(inner); letters != "" && strings.Trim(letters, letters[:1]) == "" &&
		strings.Contains("hms", letters[:1]) {
		return piece{pieceElapsed, letters}, scannedPiece
	}
	return p, scannedNothing
}

// settle finds out what a section shows and where its parts are.
func (s *section) settle() {
	s.shows = pieceLiteral
	for _, p := range s.pieces {
		switch {
		case p.kind == pieceDate, p.kind == pieceElapsed, p.kind == pieceHalf:
			s.shows = pieceDate
		case s.shows == pieceDate:
		case p.kind == pieceDigit && s.shows != pieceText:
			s.shows = pieceDigit
		case (p.kind == pieceText || p.kind == pieceGeneral) && s.shows == pieceLiteral:
			s.shows = p.kind
		}
	}
	switch s.shows {
	case pieceDate:
		s.settleDate()
	case pieceDigit:
		s.settleNumber()
	}
}

// settleNumber finds the parts of a number and takes out the commas: between
// digits they ask for thousands, behind them they divide by a thousand.
func (s *section) settleNumber() {
	kept := s.pieces[:0:0]
	last := slices.IndexFunc(s.pieces, func(p piece) bool { return p.kind == piecePoint || p.kind == pieceExponent })
	if last < 0 {
		last = len(s.pieces)
	}
	digit := func(p piece) bool { return p.kind == pieceDigit }
	for i, p := range s.pieces {
		before := slices.ContainsFunc(s.pieces[:i], digit)
		switch {
		case p.kind == pieceComma && i < last && before && slices.ContainsFunc(s.pieces[i:last], digit):
			s.thousands = true
		case p.kind == pieceComma && before && !slices.ContainsFunc(s.pieces[i:], digit), p.kind == pieceComma && i < last && before:
			s.scale -= 3
		case p.kind == piecePercent:
			s.scale += 2
			kept = append(kept, piece{pieceLiteral, "%"})
		default:
			kept = append(kept, p)
		}
	}
	s.pieces = kept
	find := func(kind pieceKind) int {
		if i := slices.IndexFunc(s.pieces, func(p piece) bool { return p.kind == kind }); i >= 0 {
			return i
		}
		return len(s.pieces)
	}
	s.point, s.exponent, s.slash = find(piecePoint), find(pieceExponent), find(pieceSlash)
	if n := len(s.pieces); s.point < n || s.exponent < n || s.slash == 0 || s.slash+1 >= n || s.pieces[s.slash-1].kind != pieceDigit ||
		!s.pieces[s.slash+1].counts() {
		s.slash = n
	}
}

// counts tells of a place for a digit, and of a digit of a denominator.
func (p piece) counts() bool {
	return p.kind == pieceDigit || p.kind == pieceLiteral && p.text != "" && strings.Trim(p.text, "0123456789") == ""
}

// matches tells whether the condition of a section holds.
func (s *section) matches(v float64) bool {
	switch s.operator {
	case "<":
		return v < s.operand
	case "<=":
		return v <= s.operand
	case ">":
		return v > s.operand
	case ">=":
		return v >= s.operand
	case "<>":
		return v != s.operand
	}
	return v == s.operand
}

// choose is the section for a number. signed says that a negative number has
// its sign in front: only a section for negative numbers alone has none.
func (f *numberFormat) choose(v float64) (s *section, signed bool) {
	n := f.numbers
	if n[0].operator != "" || len(n) > 1 && n[1].operator != "" {
		return f.chooseByCondition(v)
	}
	switch {
	case len(n) == 1, v > 0, v == 0 && len(n) == 2:
		return &n[0], true
	case v < 0:
		return &n[1], false
	}
	return &n[2], true
}

// chooseByCondition goes by the conditions. A second section without one is for
// negative numbers where there is a third, and else for all that is left.
func (f *numberFormat) chooseByCondition(v float64) (s *section, signed bool) {
	n := f.numbers
	switch {
	case n[0].operator != "" && n[0].matches(v), n[0].operator == "" && v > 0, len(n) == 1:
		return &n[0], !n[0].negativesOnly()
	case n[1].operator != "" && n[1].matches(v):
		return &n[1], !n[1].negativesOnly()
	case n[1].operator == "" && (v < 0 || len(n) == 2):
		return &n[1], n[1].shows == pieceGeneral
	case len(n) > 2:
		return &n[2], true
	}
	return &n[0], true
}

// negativesOnly tells whether the condition is that of all negative numbers.
func (s *section) negativesOnly() bool {
	return (s.operator == "<" || s.operator == "<=") && s.operand == 0
}

// appendText appends a text as a section for texts shows it.
func (s *section) appendText(dst []byte, text []byte) []byte {
	for _, p := range s.pieces {
		switch p.kind {
		case pieceText:
			dst = append(dst, text...)
		case pieceGeneral:
			dst = append(dst, text...)
		default:
			dst = append(dst, p.text...)
		}
	}
	return dst
}
