package phone

import (
	"strings"
	"unicode"
)

// maxSeveral is the most numbers that are read out of one cell.
const maxSeveral = 10

// Several gives the numbers of a cell for which Parse says that it has two, each
// as it is written. It is nil where that is not certain; whether each can be
// sent to is not looked at where a sign or a word stands between them.
func Several(raw, country string, abroad bool) []string {
	if _, err := Parse(raw, country, abroad); err == nil || err.Error() != sentenceTwo {
		return nil
	}
	var all []string
	for _, piece := range between(raw) {
		if countDigits(piece) == 0 {
			continue
		}
		if _, err := Parse(piece, country, abroad); err != nil && err.Error() == sentenceTwo {
			first, rest := cutOnce(piece, country, abroad)
			if first == "" {
				return nil
			}
			all = append(all, first, rest)
			continue
		}
		if countDigits(piece) < minNumber {
			return nil
		}
		all = append(all, piece)
	}
	if len(all) < 2 || len(all) > maxSeveral {
		return nil
	}
	return all
}

// minNumber is the fewest digits that a number has.
const minNumber = 7

// between parts a cell at the signs and words that stand in no number. A "+"
// behind a number begins another.
func between(raw string) (pieces []string) {
	var piece strings.Builder
	end := func() {
		if s := trimmed(piece.String()); s != "" {
			pieces = append(pieces, s)
		}
		piece.Reset()
	}
	for _, r := range raw {
		plus := r == '+' || r == '＋'
		switch {
		case plus && countDigits(piece.String()) >= minNumber:
			end()
			piece.WriteRune(r)
		case strings.ContainsRune("/,\n\r", r) || !plus && !unicode.IsDigit(r) && removal(r) == "":
			end()
		default:
			piece.WriteRune(r)
		}
	}
	end()
	return pieces
}

// trimmed is a piece without what stood between it and its neighbours.
func trimmed(piece string) string {
	piece = strings.TrimFunc(piece, func(r rune) bool {
		return !unicode.IsDigit(r) && !strings.ContainsRune("+＋()", r)
	})
	if strings.Count(piece, "(") != strings.Count(piece, ")") {
		piece = strings.Trim(piece, "() ")
	}
	return piece
}

// cutOnce parts two numbers with nothing but spaces and the like between them,
// where there is one place at which both are numbers that can be sent to.
func cutOnce(s, country string, abroad bool) (first, rest string) {
	at := 0 // digits of the first
	for i, r := range s {
		before, behind := trimmed(s[:i]), trimmed(s[i:])
		if i == 0 || !unicode.IsDigit(r) || countDigits(before) < minNumber || countDigits(behind) < minNumber {
			continue
		}
		_, one := Parse(before, country, abroad)
		_, two := Parse(behind, country, abroad)
		if one != nil || two != nil || at == countDigits(before) {
			continue
		}
		if at != 0 {
			return "", ""
		}
		at, first, rest = countDigits(before), before, behind
	}
	return first, rest
}
