package sms

import (
	"math/big"
	"strings"
	"unicode"
)

// Balance is one entry of §2.2. Credits is text and is shown as given.
type Balance struct {
	PluginType string
	Credits    string
	ReadAt     int64
}

// Amount reads the decimal amount out of Credits: a currency sign or letters
// with a minus at either end of them, thousands commas and a decimal point are
// understood. A point right before the digits belongs to an abbreviation only
// where the amount has a point of its own: "Rs.500" may be a half. ok is false
// when the text is anything else; then nothing may be calculated from it.
func (b Balance) Amount() (amount *big.Rat, ok bool) {
	s := strings.TrimSpace(b.Credits)
	start := strings.IndexAny(s, "0123456789")
	if start < 0 {
		return nil, false
	}
	negative, fits := readSign(s[:start])
	pointBefore := strings.HasSuffix(s[:start], ".")
	s = s[start:]
	digits := strings.ReplaceAll(s, ",", "")
	points := strings.Count(digits, ".")
	if !fits || strings.Trim(digits, "0123456789.") != "" || points > 1 || len(digits) > 40 || !commasFit(s) ||
		pointBefore && points == 0 {
		return nil, false
	}
	amount, ok = new(big.Rat).SetString(digits)
	if ok && negative {
		amount.Neg(amount)
	}
	return amount, ok
}

// readSign reads what stands before the digits: letters, currency signs and
// spaces, with at most one minus at either end. A minus or comma elsewhere
// could mean anything.
func readSign(before string) (negative, fits bool) {
	sign := strings.TrimSpace(before)
	for _, minus := range []string{"-", "−"} {
		if rest := strings.TrimPrefix(sign, minus); rest != sign {
			negative, sign = true, rest
			break
		}
		if rest := strings.TrimSuffix(sign, minus); rest != sign {
			negative, sign = true, rest
			break
		}
	}
	for _, r := range sign {
		if !unicode.IsLetter(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Sc, r) && r != '.' {
			return false, false
		}
	}
	return negative, true
}

// commasFit refuses "1,5" and "12,34,567": a comma that does not part
// thousands may be a decimal comma, and guessing would move the point.
func commasFit(s string) bool {
	whole, frac, _ := strings.Cut(s, ".")
	if strings.Contains(frac, ",") {
		return false
	}
	for i, g := range strings.Split(whole, ",") {
		if i > 0 && len(g) != 3 || i == 0 && strings.Contains(whole, ",") && (g == "" || len(g) > 3) {
			return false
		}
	}
	return true
}

// MessageStatus is the answer of §4.8, which the specification does not show:
// the fields seen in the field, and the raw text of Data for a person to read.
type MessageStatus struct {
	ProviderID string
	Number     string
	SenderID   string
	Status     string
	ErrorCode  string
	SubmitDate string
	DoneDate   string
	Raw        string
}
