package phone

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Phone is a number as it goes to the gateway, with what was repaired.
type Phone struct {
	Number string   // digits with country code, no "+" and no "00"
	Fixes  []string // what was changed, in the words shown to staff; nil when nothing was
}

// KnownCountry says that numbers of the ISO 3166 region can be read.
func KnownCountry(country string) bool {
	return len(country) == 2 && phonenumbers.GetCountryCodeForRegion(strings.ToUpper(country)) != 0
}

// Parse reads a number as people write it, in the given country unless it
// says otherwise. abroad allows numbers of other countries. The error is the
// sentence that says what is wrong.
func Parse(raw, country string, abroad bool) (Phone, error) {
	c, sentence := tidy(raw)
	if sentence != "" {
		return Phone{}, errors.New(sentence)
	}
	country = strings.ToUpper(country)
	n, sentence := readPhone(c, country, abroad)
	if sentence != "" {
		return Phone{}, errors.New(sentence)
	}
	return Phone{Number: n, Fixes: append(c.fixes, prefixFix(c.digits, n, country)...)}, nil
}

// DialledDigits counts the digits of a mobile number as people dial it in the
// country.
func DialledDigits(country string) (n int) {
	p := phonenumbers.GetExampleNumberForType(country, phonenumbers.MOBILE)
	if p == nil {
		return 0
	}
	for _, r := range phonenumbers.Format(p, phonenumbers.NATIONAL) {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

func prefixFix(digits, number, country string) []string {
	code := fmt.Sprint(phonenumbers.GetCountryCodeForRegion(country))
	national := strings.TrimPrefix(number, code)
	if digits == national && national != number && phonenumbers.GetNddPrefixForRegion(country, true) == "0" {
		return []string{"Added the missing 0"}
	}
	return nil
}

// Key reduces a number in any of the forms that answers and reports use
// to one that can be compared: the country code and the digits behind it, with
// "+", "00" and the national zero taken away, for a number of the country; the
// bare digits for any other. Only keys of the same country may be compared,
// and a key is not a number to send to. It never fails.
func Key(raw, country string) string { return KeysOf(country).Key(raw) }

// Keys makes the match keys of one country, for many numbers in a row.
type Keys struct {
	code     string // "" for a country that is not known
	national int    // digits of a mobile number without its leading zero
}

// KeysOf reads what the country's numbers look like, which takes longer
// than many keys.
func KeysOf(country string) Keys {
	country = strings.ToUpper(country)
	national := nationalDigits(country)
	if national == 0 {
		return Keys{}
	}
	return Keys{fmt.Sprint(phonenumbers.GetCountryCodeForRegion(country)), national}
}

// Key is MatchKey in this country.
func (k Keys) Key(raw string) string {
	digits := raw
	if strings.Trim(raw, "0123456789") != "" {
		var b strings.Builder
		for _, r := range raw {
			if r >= '0' && r <= '9' {
				b.WriteRune(r)
			}
		}
		digits = b.String()
	}
	digits = strings.TrimPrefix(digits, "00")
	if k.national == 0 || digits == "" {
		return digits
	}
	rest, withCode := strings.CutPrefix(digits, k.code)
	switch {
	case digits[0] == '0':
		return k.code + digits[1:]
	case withCode && len(digits) > k.national:
		return k.code + strings.TrimPrefix(rest, "0")
	case len(digits) <= k.national:
		return k.code + digits
	}
	return digits
}

// nationalDigits is the length of a mobile number of the country without its
// leading zero; 0 for a country that is not known.
func nationalDigits(country string) int {
	p := phonenumbers.GetExampleNumberForType(country, phonenumbers.MOBILE)
	if p == nil {
		return 0
	}
	return len(phonenumbers.GetNationalSignificantNumber(p))
}

// Show writes a number as people of the country write it: national form
// at home, "+" and country code abroad.
func Show(number, country string) string {
	if Removed(number) {
		return RemovedWords
	}
	p, err := phonenumbers.Parse("+"+number, strings.ToUpper(country))
	if err != nil {
		return number
	}
	if p.GetCountryCode() == int32(phonenumbers.GetCountryCodeForRegion(strings.ToUpper(country))) {
		return phonenumbers.Format(p, phonenumbers.NATIONAL)
	}
	return phonenumbers.Format(p, phonenumbers.INTERNATIONAL)
}

// Mask hides the middle of a shown number from people who may not see it
// whole: "0803 ••• 0101".
func Mask(number, country string) string {
	shown := []rune(Show(number, country))
	digits := 0
	for _, r := range shown {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	seen := 0
	for i, r := range shown {
		if unicode.IsDigit(r) {
			if seen >= 4 && seen < digits-4 || digits < 9 && seen < digits-2 {
				shown[i] = '•'
			}
			seen++
		}
	}
	return string(shown)
}

// longNumber is a run of digits that may be somebody's phone number, however
// it is written.
var longNumber = regexp.MustCompile(`[0-9](?:[ ().+-]{0,2}[0-9]){6,}`)

// MaskText hides what may be a phone number in words that somebody else chose,
// such as the provider's reason, from people who may not see numbers whole.
func MaskText(text string) string { return longNumber.ReplaceAllString(text, "•••") }

// ForLog masks a number for a log line: "2348••••0101".
func ForLog(number string) string {
	if len(number) < 9 || Removed(number) {
		return "••••"
	}
	return number[:4] + "••••" + number[len(number)-4:]
}

// noCountry is the name of what is no country.
const noCountry = "this country"

// CountryName is the name on screen of the ISO 3166 region, with its article:
// "the United Kingdom"; "this country" for what is no country.
func CountryName(country string) string {
	region, err := language.ParseRegion(country)
	if err != nil || !region.IsCountry() {
		return noCountry
	}
	name := display.English.Regions().Name(region)
	if strings.HasPrefix(name, "United ") || strings.HasSuffix(name, " Republic") || strings.HasSuffix(name, " Islands") ||
		slices.Contains([]string{"Bahamas", "Gambia", "Netherlands", "Philippines", "Maldives", "Comoros"}, name) {
		return "the " + name
	}
	return name
}

// Numbers is what was read from a text that people typed or pasted.
type Numbers struct {
	Good     []string // MSISDNs, each once, in the order of the text
	Repeated int      // entries left out because the number stood there before
	Bad      []Bad
}

// Bad is an entry that is no number we can send to.
type Bad struct {
	Raw      string
	Sentence string
}

// Entries are the numbers of a text as they are written, one by one, as ReadAll
// parts them.
func Entries(text, country string, abroad bool) []string {
	var all []string
	for _, entry := range split(text) {
		if phones, err := readEntry(entry, country, abroad); err == nil && len(phones) > 1 {
			all = append(all, strings.Fields(entry)...)
		} else {
			all = append(all, entry)
		}
	}
	return all
}

// split parts a text where numbers are parted by anything but spaces.
func split(text string) (entries []string) {
	for _, entry := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r,;\t|", r) }) {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// ReadAll reads numbers that stand one on a line or parted by commas,
// semicolons, tabs, bars or, where each piece is a number by itself, spaces.
// abroad allows numbers of other countries.
func ReadAll(text, country string, abroad bool) Numbers {
	var n Numbers
	seen := map[string]bool{}
	for _, entry := range split(text) {
		phones, err := readEntry(entry, country, abroad)
		if err != nil {
			n.Bad = append(n.Bad, Bad{Raw: entry, Sentence: err.Error()})
			continue
		}
		for _, p := range phones {
			if seen[p.Number] {
				n.Repeated++
				continue
			}
			seen[p.Number] = true
			n.Good = append(n.Good, p.Number)
		}
	}
	return n
}

func readEntry(entry, country string, abroad bool) ([]Phone, error) {
	p, err := Parse(entry, country, abroad)
	if err == nil {
		return []Phone{p}, nil
	}
	pieces := strings.Fields(entry)
	if len(pieces) < 2 {
		return nil, err
	}
	var phones []Phone
	for _, piece := range pieces {
		p, bad := Parse(piece, country, abroad)
		if bad != nil {
			return nil, err
		}
		phones = append(phones, p)
	}
	return phones, nil
}
