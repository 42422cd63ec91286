package phone

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// maxDigits is the most digits that a number has with its country code (E.164).
const maxDigits = 15

// readPhone gives the MSISDN of a cleaned cell, or says what is wrong with it.
func readPhone(c cleaned, country string, abroad bool) (number, sentence string) {
	home := int32(phonenumbers.GetCountryCodeForRegion(country))
	var known *phonenumbers.PhoneNumber // a number that is none, of a country that the cell names
	for _, try := range readings(c, fmt.Sprint(home)) {
		p, err := phonenumbers.Parse(try, country)
		if err != nil {
			continue
		}
		if !phonenumbers.IsValidNumber(p) {
			if known == nil && (strings.HasPrefix(c.digits, "+") || strings.HasPrefix(c.digits, "00") || c.abroad) {
				known = p
			}
			continue
		}
		if !abroad && !atHome(p, country) {
			return "", abroadSentence(p)
		}
		if sentence := kindSentence(p); sentence != "" {
			return "", sentence
		}
		return strings.TrimPrefix(phonenumbers.Format(p, phonenumbers.E164), "+"), ""
	}
	if known != nil && known.GetCountryCode() != home {
		return "", unknownSentence(known, abroad)
	}
	return "", lengthSentence(c, country)
}

// readings are the ways to read a number, the likely one first: as it stands,
// as one with a country code, and, because people keep the national zero
// behind the country code as in 234(0)803…, without that zero.
func readings(c cleaned, code string) []string {
	plain, plus := strings.CutPrefix(c.digits, "+")
	if rest, ok := strings.CutPrefix(plain, "00"); ok && !plus {
		plain, plus = rest, true
	}
	var all []string
	if plus && c.digits[0] == '0' {
		// The country's own way to dial abroad, such as 000 in Kenya.
		all = append(all, c.digits)
	}
	if !plus && !c.abroad {
		all = append(all, plain)
	}
	all = append(all, "+"+plain)
	if rest, ok := strings.CutPrefix(plain, code+"0"); ok {
		all = append(all, "+"+code+rest)
	}
	return all
}

// shared are the regions whose numbers belong to the numbering plan of another
// country and are dialled there as its own. Countries that only share a code,
// as Canada does with the United States, are abroad to each other.
var shared = map[string]string{"GG": "GB", "JE": "GB", "IM": "GB", "PR": "US", "VI": "US", "GU": "US", "AS": "US", "MP": "US",
	"AX": "FI", "SJ": "NO", "VA": "IT", "CC": "AU", "CX": "AU", "EH": "MA", "BL": "GP", "MF": "GP"}

func atHome(p *phonenumbers.PhoneNumber, country string) bool {
	region := phonenumbers.GetRegionCodeForNumber(p)
	return region == country || shared[region] == country || region == shared[country]
}

// abroadSentence refuses a right number of another country.
func abroadSentence(p *phonenumbers.PhoneNumber) string {
	if region := phonenumbers.GetRegionCodeForNumber(p); CountryName(region) != noCountry {
		return "Number is in " + CountryName(region) + ", and sending abroad is turned off"
	}
	return "Number is abroad, and sending abroad is turned off"
}

// unknownSentence refuses what names a country that has no such number.
func unknownSentence(p *phonenumbers.PhoneNumber, abroad bool) string {
	name := CountryName(phonenumbers.GetRegionCodeForCountryCode(int(p.GetCountryCode())))
	if name == noCountry {
		return fmt.Sprintf("No number begins with +%d. Check the digits", p.GetCountryCode())
	}
	sentence := "Not a mobile number in " + name
	switch {
	case !abroad:
		return sentence + ", and sending abroad is turned off"
	case phonenumbers.IsPossibleNumberWithReason(p) == phonenumbers.TOO_SHORT:
		return "Too short for a number in " + name + ". Check the digits"
	case phonenumbers.IsPossibleNumberWithReason(p) == phonenumbers.TOO_LONG:
		return "Too long for a number in " + name + ". Check the digits"
	}
	return sentence + ". Check the digits"
}

// kindSentence refuses a right number that no SMS reaches, or is "".
func kindSentence(p *phonenumbers.PhoneNumber) string {
	kind := ""
	switch phonenumbers.GetNumberType(p) {
	case phonenumbers.MOBILE, phonenumbers.FIXED_LINE_OR_MOBILE:
		return ""
	case phonenumbers.FIXED_LINE:
		kind = "Landline number"
	case phonenumbers.TOLL_FREE:
		kind = "Toll-free number"
	case phonenumbers.PREMIUM_RATE:
		kind = "Premium-rate number"
	case phonenumbers.SHARED_COST:
		kind = "Shared-cost number"
	case phonenumbers.VOIP:
		kind = "Internet phone number"
	case phonenumbers.PAGER:
		kind = "Pager number"
	case phonenumbers.VOICEMAIL:
		kind = "Voicemail number"
	case phonenumbers.PERSONAL_NUMBER:
		kind = "Forwarding number"
	case phonenumbers.UAN:
		kind = "Company number"
	}
	name := CountryName(phonenumbers.GetRegionCodeForNumber(p))
	switch {
	case kind == "":
		return "Not a mobile number in " + name
	case name == noCountry:
		return kind + ". Enter a mobile number"
	}
	return kind + " in " + name + ". Enter a mobile number"
}

// lengthSentence says what is wrong with a number of the country, by the
// digits as they were typed.
func lengthSentence(c cleaned, country string) string {
	national, code := nationalDigits(country), fmt.Sprint(phonenumbers.GetCountryCodeForRegion(country))
	plain, plus := strings.CutPrefix(c.digits, "+")
	abroadForm := plus || c.abroad || strings.HasPrefix(plain, "00")
	if national == 0 {
		return "Not a mobile number in " + CountryName(country) + ". Check the digits"
	}
	want, form := national, ""
	switch {
	case c.typed >= 2*national && (c.typed > maxDigits || !plus):
		return sentenceTwo
	case abroadForm && !strings.HasPrefix(strings.TrimPrefix(plain, "00"), code):
		return "Not a number with a country code. Check the digits"
	case strings.HasPrefix(plain, "00"):
		want, form = national+len(code)+2, " with 00 and the country code"
	case plus || strings.HasPrefix(plain, code) && c.typed > national:
		want, form = national+len(code), " with the country code"
		if strings.HasPrefix(plain, code+"0") {
			want++
			form = " with the country code and the 0"
		}
	case DialledDigits(country) > national && strings.HasPrefix(plain, "0"):
		want = DialledDigits(country)
	case DialledDigits(country) > national:
		form = " without the 0 in front"
	}
	switch {
	case c.typed < want:
		return fmt.Sprintf("Too short: has %s, needs %d%s", digitCount(c.typed), want, form)
	case c.typed > want:
		return fmt.Sprintf("Too long: has %s, needs %d%s", digitCount(c.typed), want, form)
	}
	return "Not a mobile number in " + CountryName(country) + ". Check the digits"
}

func digitCount(n int) string {
	if n == 1 {
		return "1 digit"
	}
	return strconv.Itoa(n) + " digits"
}
