package sheet

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// significant is how many digits a spreadsheet program keeps of a number; what
// lies behind is the noise of binary fractions.
const significant = 15

// appendShown appends a number as a format shows it. ok is false where the
// program shows that it cannot, as for a day before 1900.
func (f *numberFormat) appendShown(dst []byte, v float64, from1904 bool) (shown []byte, ok bool) {
	s, signed := f.choose(v)
	if s.shows == pieceDate {
		return s.appendDate(dst, v, from1904)
	}
	if s.exponent < len(s.pieces) && s.shows == pieceDigit && wholeNumber(v) {
		// Digits that a program left out help nobody who is written to.
		return appendGeneral(dst, v), true
	}
	if v < 0 && signed && (s.shows == pieceDigit || s.shows == pieceGeneral) {
		dst = append(dst, '-')
	}
	v = math.Abs(v)
	switch {
	case s.shows == pieceGeneral, s.shows == pieceText:
		for _, p := range s.pieces {
			if p.kind == pieceGeneral || p.kind == pieceText {
				dst = appendGeneral(dst, v)
			} else {
				dst = append(dst, p.text...)
			}
		}
		return dst, true
	case s.shows == pieceLiteral:
		for _, p := range s.pieces {
			dst = append(dst, p.text...)
		}
		return dst, true
	case s.slash < len(s.pieces) && v < 1e15:
		return s.appendFraction(dst, v), true
	case s.exponent < len(s.pieces):
		return s.appendScientific(dst, v), true
	}
	return s.appendDecimal(dst, v), true
}

// wholeNumber tells of a number that has the looks of a phone or account
// number: whole, with seven digits or more, and all of them known.
func wholeNumber(v float64) bool {
	return v == math.Trunc(v) && math.Abs(v) >= 1e6 && math.Abs(v) < 1e15
}

// fixed rounds v times 10^shift, which is not negative, to some decimals, half
// up, by the digits that count. whole is "" for 0.
func fixed(v float64, shift, decimals int) (whole, behind []byte) {
	var room [32]byte
	text := strconv.AppendFloat(room[:0], v, 'e', significant-1, 64)
	e := bytes.IndexByte(text, 'e')
	power, _ := strconv.Atoi(string(text[e+1:]))
	digits := append([]byte{'0', text[0]}, text[2:e]...)
	if v == 0 {
		power = 0
	}
	// The value is 0.digits times 10^point.
	point := power + 2 + shift
	keep := point + decimals
	switch {
	case keep < 0:
		digits = digits[:0]
	case keep < len(digits):
		up := digits[keep] >= '5'
		digits = digits[:keep]
		for i := keep - 1; up && i >= 0; i-- {
			if digits[i]++; digits[i] <= '9' {
				up = false
			} else {
				digits[i] = '0'
			}
		}
		if up {
			digits, point = append([]byte{'1'}, digits...), point+1
		}
	}
	if point < 0 {
		digits, point = append(bytes.Repeat([]byte{'0'}, -point), digits...), 0
	}
	if short := point + decimals - len(digits); short > 0 {
		digits = append(digits, bytes.Repeat([]byte{'0'}, short)...)
	}
	return bytes.TrimLeft(digits[:point], "0"), digits[point : point+decimals]
}

// appendDecimal appends a number with a fixed number of decimals.
func (s *section) appendDecimal(dst []byte, v float64) []byte {
	whole, behind := fixed(v, s.scale, digitsIn(s.pieces[min(s.point+1, len(s.pieces)):]))
	dst = appendWhole(dst, s.pieces[:s.point], whole, s.thousands)
	if s.point == len(s.pieces) {
		return dst
	}
	return appendBehind(append(dst, '.'), s.pieces[s.point+1:], behind)
}

func digitsIn(pieces []piece) (n int) {
	for _, p := range pieces {
		if p.kind == pieceDigit {
			n++
		}
	}
	return n
}

// appendWhole puts the digits in front of the point into their places, which
// are filled from the right. The first place takes all that are too many.
func appendWhole(dst []byte, pieces []piece, whole []byte, thousands bool) []byte {
	left := digitsIn(pieces)
	if left == 0 {
		dst = appendGrouped(dst, whole, len(whole), thousands)
	}
	for _, p := range pieces {
		if p.kind != pieceDigit {
			dst = append(dst, p.text...)
			continue
		}
		if n := len(whole) - left + 1; n > 0 {
			dst = appendGrouped(dst, whole[:n], left+n-1, thousands)
			whole = whole[n:]
		} else if p.text != "#" {
			fill := byte('0')
			if p.text == "?" {
				fill = ' '
			}
			dst = append(dst, fill)
			if thousands && left > 1 && left%3 == 1 {
				dst = append(dst, map[byte]byte{'0': ',', ' ': ' '}[fill])
			}
		}
		left--
	}
	return dst
}

// appendGrouped appends digits of which the first has place left, counted from
// 1 at the point.
func appendGrouped(dst, digits []byte, left int, thousands bool) []byte {
	if !thousands {
		return append(dst, digits...)
	}
	for _, d := range digits {
		dst = append(dst, d)
		if left > 1 && left%3 == 1 {
			dst = append(dst, ',')
		}
		left--
	}
	return dst
}

// appendBehind puts the digits behind the point into their places.
func appendBehind(dst []byte, pieces []piece, behind []byte) []byte {
	used := len(bytes.TrimRight(behind, "0"))
	i := 0
	for _, p := range pieces {
		switch {
		case p.kind != pieceDigit:
			dst = append(dst, p.text...)
			continue
		case p.text == "0" || i < used:
			dst = append(dst, behind[i])
		case p.text == "?":
			dst = append(dst, ' ')
		}
		i++
	}
	return dst
}

// appendScientific appends a number with an exponent, which is a multiple of
// the places in front of the point.
func (s *section) appendScientific(dst []byte, v float64) []byte {
	front := s.pieces[:min(s.point, s.exponent)]
	var back []piece
	if s.point < s.exponent {
		back = s.pieces[s.point+1 : s.exponent]
	}
	places, decimals, power := max(digitsIn(front), 1), digitsIn(back), 0
	if v != 0 {
		power = int(math.Floor(math.Log10(v)))
		// A number just below a power of ten may round up to it.
		if whole, _ := fixed(v, -power, decimals); len(whole) > 1 && places == 1 {
			power++
		} else if len(whole) == 0 {
			power--
		}
	}
	if places > 1 {
		power = int(math.Floor(float64(power)/float64(places))) * places
	}
	whole, behind := fixed(v, s.scale-power, decimals)
	dst = appendWhole(dst, front, whole, false)
	if s.point < s.exponent {
		dst = appendBehind(append(dst, '.'), back, behind)
	}
	dst = append(dst, 'E')
	switch {
	case power < 0:
		dst = append(dst, '-')
	case s.pieces[s.exponent].text[1] == '+':
		dst = append(dst, '+')
	}
	digits := strconv.Itoa(max(power, -power))
	if power == 0 {
		digits = ""
	}
	return appendWhole(dst, s.pieces[s.exponent+1:], []byte(digits), false)
}

// appendFraction appends a number as a fraction with the denominator of the
// format, or with the best one that has as many digits.
func (s *section) appendFraction(dst []byte, v float64) []byte {
	over := s.slash - 1
	for over > 0 && s.pieces[over-1].kind == pieceDigit {
		over--
	}
	under := s.slash + 1
	for under < len(s.pieces) && s.pieces[under].counts() {
		under++
	}
	front, above, below := s.pieces[:over], s.pieces[over:s.slash], s.pieces[s.slash+1:under]
	split := digitsIn(front) > 0
	rest, whole := v, 0.0
	if split {
		whole, rest = math.Modf(v)
	}
	n, d := nearest(rest, below)
	if split && n == d {
		whole, n = whole+1, 0
	}
	digits, _ := fixed(whole, 0, 0)
	if !split {
		return s.appendStroke(appendWhole(dst, front, nil, false), above, below, n, d, under)
	}
	if n == 0 && whole == 0 {
		digits = []byte{'0'}
	}
	dst = appendWhole(dst, front, digits, s.thousands)
	if n > 0 {
		return s.appendStroke(dst, above, below, n, d, under)
	}
	// Where nothing is left, the places stay empty.
	dst = append(dst, bytes.Repeat([]byte{' '}, len(above)+1+len(below))...)
	for _, p := range s.pieces[under:] {
		dst = append(dst, p.text...)
	}
	return dst
}

// appendStroke appends n/d and what follows it in the format.
func (s *section) appendStroke(dst []byte, above, below []piece, n, d, under int) []byte {
	dst = appendWhole(dst, above, strconv.AppendInt(nil, int64(n), 10), false)
	dst = append(dst, '/')
	digits := strconv.Itoa(d)
	dst = append(dst, digits...)
	if digitsIn(below) > 0 && below[0].text == "?" {
		dst = append(dst, strings.Repeat(" ", max(0, digitsIn(below)-len(digits)))...)
	}
	for _, p := range s.pieces[under:] {
		dst = append(dst, p.text...)
	}
	return dst
}

// nearest is the fraction for v below 1 or above, with the denominator that
// the places under the stroke ask for.
func nearest(v float64, below []piece) (n, d int) {
	given := ""
	for _, p := range below {
		if p.text != "#" && p.text != "?" {
			given += p.text
		}
	}
	if d, err := strconv.Atoi(given); err == nil && d > 0 && len(given) == len(below) {
		return int(math.Floor(v*float64(d) + 0.5)), d
	}
	most := 1.0
	for range min(len(below), 5) {
		most *= 10
	}
	return bestFraction(v, most-1)
}

// bestFraction is the fraction nearest to v with a denominator up to most, by
// continued fractions.
func bestFraction(v, most float64) (n, d int) {
	p0, q0, p1, q1 := 0.0, 1.0, 1.0, 0.0
	for x := v; ; {
		a := math.Floor(x)
		if q0+a*q1 > most {
			break
		}
		p0, q0, p1, q1 = p1, q1, p0+a*p1, q0+a*q1
		if x-a < 1e-10 {
			return int(p1), int(q1)
		}
		x = 1 / (x - a)
	}
	k := math.Floor((most - q0) / q1)
	p, q := p0+k*p1, q0+k*q1
	if math.Abs(p/q-v) < math.Abs(p1/q1-v) {
		return int(p), int(q)
	}
	return int(p1), int(q1)
}

// appendGeneral appends a number without a format: as a cell of eleven
// characters shows it, but whole numbers with all their digits, because those
// of phones and accounts have more.
func appendGeneral(dst []byte, v float64) []byte {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', significant, 64), 64)
	a := math.Abs(rounded)
	switch {
	case a >= 1e21:
		return strconv.AppendFloat(dst, rounded, 'G', 6, 64)
	case a == math.Trunc(a):
		return strconv.AppendFloat(dst, rounded, 'f', -1, 64)
	}
	if rounded < 0 {
		dst = append(dst, '-')
	}
	if a < 1e-4 {
		if plain := strconv.FormatFloat(a, 'f', -1, 64); len(plain) <= 11 {
			return append(dst, plain...)
		}
		return strconv.AppendFloat(dst, a, 'G', 6, 64)
	}
	decimals := 9
	if a >= 10 {
		decimals = max(0, 9-int(math.Floor(math.Log10(a))))
	}
	whole, behind := fixed(a, 0, decimals)
	if len(whole) == 0 {
		whole = []byte{'0'}
	}
	dst = append(dst, whole...)
	if behind = bytes.TrimRight(behind, "0"); len(behind) > 0 {
		dst = append(append(dst, '.'), behind...)
	}
	return dst
}
