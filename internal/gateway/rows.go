package gateway

import (
	"slices"
	"strings"

	"smsdesk/internal/sms"
)

// maskSigns stand in a number in the place of digits that are hidden.
const maskSigns = "*xX#•●…?"

// minShown is how many digits a masked number must show to be told from those
// of the other recipients.
const minShown = 4

// attribute gives rows whose number is missing or masked the number of their
// recipient where only one can be meant: a row without any digit where one
// recipient has one row, a masked number where it fits one recipient and no
// other row could be about that one. Such a row that could mean two recipients
// or none loses its number, so that it settles nobody. A call to a group, whose
// numbers are not known here, keeps its rows as they are.
func attribute(to []sms.Recipient, rows []sms.ResultRow) []sms.ResultRow {
	if len(to) == 0 || !slices.ContainsFunc(rows, veiled) {
		return rows
	}
	alone := len(to) == 1 && len(rows) == 1
	forms := make([][]string, len(to))
	for i, r := range to {
		forms[i] = formsOf(r.Number)
	}
	meant, claims := make([]int, len(rows)), make([]int, len(to))
	for i, row := range rows {
		meant[i] = -1
		fitting := 0
		for k := range to {
			if fits(row.Number, forms[k]) {
				fitting++
				claims[k]++
				meant[i] = k
			}
		}
		if fitting != 1 || shown(row.Number) < minShown && !alone {
			meant[i] = -1
		}
	}
	out := slices.Clone(rows)
	for i, row := range rows {
		switch k := meant[i]; {
		case !veiled(row):
		case k >= 0 && claims[k] == 1:
			out[i].Number = to[k].Number
		default:
			out[i].Number = ""
		}
	}
	return out
}

// veiled says that a row's number is missing or masked.
func veiled(r sms.ResultRow) bool {
	return shown(r.Number) == 0 || strings.ContainsAny(r.Number, maskSigns)
}

// shown is how many digits of a number can be seen.
func shown(number string) (n int) {
	for _, r := range number {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	return n
}

// formsOf are the ways in which a service may write a number of ours: whole,
// with 00, and nationally behind a country code of one to three digits.
func formsOf(number string) []string {
	forms := []string{number, "00" + number}
	for code := 1; code <= min(3, len(number)); code++ {
		forms = append(forms, number[code:], "0"+number[code:])
	}
	return forms
}

// fits says that the written number can be that of the forms. Each run of mask
// signs stands for one digit or more, because not every service keeps the
// length; a number without any digit fits all.
func fits(written string, forms []string) bool {
	if shown(written) == 0 {
		return true
	}
	pieces := piecesOf(written)
	return slices.ContainsFunc(forms, func(form string) bool { return matches(pieces, form) })
}

// piecesOf cuts a number at its runs of mask signs; what is neither digit nor
// mask is dropped.
func piecesOf(written string) (pieces []string) {
	var piece strings.Builder
	masked := false
	for _, r := range written {
		switch {
		case strings.ContainsRune(maskSigns, r):
			if !masked {
				pieces = append(pieces, piece.String())
				piece.Reset()
			}
			masked = true
		case r >= '0' && r <= '9':
			piece.WriteRune(r)
			masked = false
		}
	}
	return append(pieces, piece.String())
}

// matches says that the digits are the pieces in their order with one digit or
// more between any two, the first piece at the beginning, the last at the end.
func matches(pieces []string, digits string) bool {
	rest, ok := strings.CutPrefix(digits, pieces[0])
	if !ok || len(pieces) == 1 {
		return ok && rest == ""
	}
	for _, piece := range pieces[1 : len(pieces)-1] {
		at := -1
		if len(rest) > 0 {
			at = strings.Index(rest[1:], piece)
		}
		if at < 0 {
			return false
		}
		rest = rest[1+at+len(piece):]
	}
	last := pieces[len(pieces)-1]
	return len(rest) > len(last) && strings.HasSuffix(rest, last)
}
