package phone

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The sentences about cells that are not one number.
const (
	sentenceMissing = "Missing: enter a phone number"
	sentenceTwo     = "Cell has two numbers. Put each on its own row"
)

// maxCell is the most characters that a cell with a number may have.
const maxCell = 100

// cleaned is a cell without what people and programs put around the digits.
type cleaned struct {
	digits string   // ASCII digits, "+" in front where the cell has it
	typed  int      // digits in the cell
	fixes  []string // what was changed, in the words for staff
	abroad bool     // the digits begin with a country code although there is no "+"
}

// Clean turns a cell into "+" and ASCII digits, or says why it cannot.
// The parser behind it would read "08031234567x" as a valid number, so
// everything that is not part of one is refused here.
func Clean(raw string) (digits string, fixes []string, sentence string) {
	c, sentence := tidy(raw)
	if sentence != "" {
		return "", nil, sentence
	}
	return c.digits, c.fixes, ""
}

// nothing is what people write where there is no number, in small letters and
// without dots.
var nothing = map[string]bool{
	"n/a": true, "n\\a": true, "na": true, "none": true, "nil": true, "null": true, "nan": true, "unknown": true, "tbd": true,
	"tba": true, "no": true, "no number": true, "no phone": true, "not available": true, "not given": true, "not provided": true,
	"empty": true, "blank": true, "undefined": true, "(none)": true, "(blank)": true, "?": true, "??": true, "???": true,
}

// tidy is Clean with what the sentences about the digits need to know.
func tidy(raw string) (c cleaned, sentence string) {
	s := strings.TrimSpace(raw)
	if s == "" || nothing[strings.ToLower(strings.ReplaceAll(s, ".", ""))] {
		return c, sentenceMissing
	}
	if len([]rune(s)) > maxCell {
		return c, "Too long: has more than 100 characters"
	}
	s = c.unwrap(s)
	if wide, whole, is := scientific(s); is && !whole {
		return c, fmt.Sprintf("Excel has shortened this number (%s), so its last digits are lost. "+
			"Set the column to Text and re-enter the number", s)
	} else if is {
		s = wide
		c.fix("Wrote out a number with an exponent (E+)")
	}
	if m := zeroFraction.FindStringSubmatch(s); m != nil {
		s = m[1]
		c.fix("Removed \"" + m[2] + "\"")
	}
	switch {
	case twoNumbers(s):
		return c, sentenceTwo
	case strings.ContainsAny(s, "\n\r"):
		return c, "Number has a line break. Put it on one line"
	}
	if sentence := c.take(s); sentence != "" {
		return c, sentence
	}
	if c.typed == 0 {
		return c, sentenceMissing
	}
	return c, ""
}

// zeroFraction is a whole number as a program writes it that keeps decimals.
var zeroFraction = regexp.MustCompile(`^(\+?[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)([.,]0{1,2})$`)

// links are the beginnings of addresses in which a number stands.
var links = regexp.MustCompile(`(?i)^(?:(?:https?://)?(?:www\.)?(?:wa\.me/|api\.whatsapp\.com/send/?\?phone=)|whatsapp://send\?phone=|` +
	`(tel:|callto:|sms:))`)

// unwrap takes off what stands around a whole cell.
func (c *cleaned) unwrap(s string) string {
	// ="0803…" is how programs keep Excel from eating the zero.
	if inner, ok := strings.CutPrefix(s, `="`); ok && strings.HasSuffix(inner, `"`) {
		s = strings.TrimSpace(strings.TrimSuffix(inner, `"`))
		c.fix(`Removed ="…"`)
	}
	for {
		last := s[max(len(s)-1, 0):]
		if last != ";" && last != "," {
			break
		}
		c.fix(map[string]string{";": "Removed a semicolon at the end", ",": "Removed a comma at the end"}[last])
		s = strings.TrimSpace(s[:len(s)-1])
	}
	m := links.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	s = s[len(m[0]):]
	if m[1] != "" {
		c.fix("Removed " + strings.ToLower(m[1]))
		return strings.TrimPrefix(s, "//")
	}
	c.fix("Read the number in a WhatsApp link")
	s = strings.Replace(s[:strings.IndexAny(s+"?", "?&#")], "%2B", "+", 1)
	// Such a link has the country code first, and no "+".
	c.abroad = s != "" && s[0] >= '1' && s[0] <= '9'
	return strings.TrimSuffix(s, "/")
}

func (c *cleaned) fix(words string) {
	if !slices.Contains(c.fixes, words) {
		c.fixes = append(c.fixes, words)
	}
}

// removals are the characters that people and programs put between digits,
// with what is said when they are taken out. White space is beside them.
var removals = []struct{ signs, words string }{
	{"-–—\u2010\u2011\u2012\u2015\u2212\u00ad\ufe63\uff0d", "Removed hyphens"},
	{"()[]（）", "Removed brackets"},
	{".·", "Removed dots"},
	{"_", "Removed underscores"},
	{"'’‘`´", "Removed apostrophes"},
	{"\"“”", "Removed quotation marks"},
	{"/", "Removed slashes"},
	{",", "Removed commas"},
	{"\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff\u061c\u180e",
		"Removed hidden characters"},
}

// Between tells whether a character may stand between the digits of a number
// and is taken out, as white space, hyphens and hidden characters are.
func Between(r rune) bool { return removal(r) != "" }

// removal is what is said when a character is taken out, "" for one that must
// not be.
func removal(r rune) string {
	if unicode.IsSpace(r) {
		return "Removed spaces"
	}
	for _, kind := range removals {
		if strings.ContainsRune(kind.signs, r) {
			return kind.words
		}
	}
	return ""
}

// take keeps the digits and says what else there was.
func (c *cleaned) take(s string) (sentence string) {
	digits := make([]byte, 0, len(s)+1)
	for i, r := range []rune(s) {
		switch {
		case r >= '0' && r <= '9':
			digits = append(digits, byte(r))
			c.typed++
		case unicode.IsDigit(r):
			digits = append(digits, '0'+byte(digitValue(r)))
			c.typed++
			c.fix("Changed the digits to 0 to 9")
		case (r == '+' || r == '＋') && c.typed == 0:
			if len(digits) > 0 {
				c.fix("Removed a second +")
				continue
			}
			digits = append(digits, '+')
		case removal(r) != "":
			c.fix(removal(r))
		case unicode.IsLetter(r):
			return fmt.Sprintf("Contains letters: character %d of %q is %c", i+1, s, r)
		default:
			return fmt.Sprintf("Contains a symbol: character %d of %q is %s", i+1, s, visible(r))
		}
	}
	if c.digits = string(digits); strings.HasPrefix(c.digits, "+0") {
		// No country code begins with 0.
		c.digits = c.digits[1:]
		c.fix("Removed the +")
	}
	return ""
}

// visible is a character as a sentence can show it.
func visible(r rune) string {
	if unicode.IsPrint(r) {
		return string(r)
	}
	return fmt.Sprintf("the hidden character U+%04X", r)
}

// twoNumbers tells a cell with two numbers from one number with signs in it:
// a number has seven digits or more, and digits behind a whole one and a sign
// begin another.
func twoNumbers(s string) bool {
	pieces := strings.FieldsFunc(s, func(r rune) bool {
		return strings.ContainsRune("/,\n\r", r) || !unicode.IsDigit(r) && removal(r) == ""
	})
	long := 0
	for _, p := range pieces {
		if countDigits(p) >= 7 {
			long++
		}
	}
	before, behind, cut := "", "", false
	if i := strings.IndexAny(s, "/,;|&\n"); i >= 0 {
		before, behind, cut = s[:i], s[i:], !strings.ContainsFunc(s, unicode.IsLetter)
	}
	return long > 1 || cut && countDigits(before) >= 10 && countDigits(behind) > 0
}

func countDigits(s string) (n int) {
	for _, r := range s {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// scientific reads a number with an exponent, such as 2.348030000001E+12. It is
// whole when no digit of it was left out.
func scientific(s string) (digits string, whole, is bool) {
	mantissa, exponent, cut := strings.Cut(strings.ToUpper(s), "E")
	if !cut || mantissa == "" || strings.Trim(mantissa, "0123456789.,") != "" ||
		exponent == "" || strings.Trim(exponent, "+0123456789") != "" {
		return "", false, false
	}
	front, behind, _ := strings.Cut(strings.ReplaceAll(mantissa, ",", "."), ".")
	n, err := strconv.Atoi(strings.TrimPrefix(exponent, "+"))
	if err != nil || n < minExponent || n > maxDigits || front == "" || strings.Contains(behind, ".") {
		return "", false, n >= minExponent
	}
	if len(behind) < n || strings.Trim(behind[n:], "0") != "" {
		return "", false, true
	}
	return front + behind[:n], true, true
}

// minExponent is the least exponent that a phone number gets.
const minExponent = 6

func digitValue(r rune) int {
	// Decimal digits stand in runs of ten in every script, so the value is
	// the distance to the run's first digit.
	v := 0
	for v < 9 && unicode.IsDigit(r-rune(v)-1) {
		v++
	}
	return v
}
