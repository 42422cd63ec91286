package lists

import (
	"strconv"
	"strings"

	"smsdesk/internal/phone"
	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// phoneReader reads the numbers of one list, as sms.ParsePhone does. Whether a
// number can be sent to hangs on its first digits, so what is learnt of one
// number holds for the others of its range.
type phoneReader struct {
	country string
	abroad  bool
	ranges  map[uint64]phoneRead // number is that of the range; nil: nothing is known of ranges
}

// phoneRead is a number with what was repaired.
type phoneRead struct {
	number int64
	fixes  []string
}

const (
	// rangeSize is the numbers of a range: those that differ in the last five
	// digits.
	rangeSize = 100_000
	// maxRanges bounds what a list of all numbers there are could take.
	maxRanges = 1 << 16
)

// ranged are the countries in which every range is used as a whole or not at
// all. In others, such as South Africa, it is not so.
var ranged = map[string]bool{"NG": true, "KE": true, "GH": true, "UG": true, "TZ": true, "IN": true}

func newPhoneReader(a sms.Account) *phoneReader {
	p := &phoneReader{country: a.Country, abroad: a.Abroad}
	if ranged[strings.ToUpper(a.Country)] && !a.Abroad {
		p.ranges = map[uint64]phoneRead{}
	}
	return p
}

// read reads a cell without white space around it. kind is "" for a number
// that can be sent to.
func (p *phoneReader) read(raw string) (phone phoneRead, kind sms.RowKind, sentence string) {
	key, last, plain := rangeOf(raw)
	if plain && p.ranges != nil {
		if r, known := p.ranges[key]; known {
			return phoneRead{r.number + last, r.fixes}, "", ""
		}
	}
	phone, kind, sentence = p.parse(raw)
	if kind == "" && plain && p.ranges != nil && len(p.ranges) < maxRanges {
		p.ranges[key] = phoneRead{phone.number - last, phone.fixes}
	}
	return phone, kind, sentence
}

// rangeOf names the range of a number that is written with ASCII digits and
// perhaps a "+", with the way in which it is written, and gives its place in
// it.
func rangeOf(raw string) (key uint64, last int64, plain bool) {
	digits, plus := strings.CutPrefix(raw, "+")
	if len(digits) < 7 || len(digits) > 15 {
		return 0, 0, false
	}
	n := uint64(0)
	for i := range len(digits) {
		d := digits[i] - '0'
		if d > 9 {
			return 0, 0, false
		}
		n = n*10 + uint64(d)
	}
	key = n/rangeSize<<5 | uint64(len(digits))<<1
	if plus {
		key |= 1
	}
	return key, int64(n % rangeSize), true
}

func (p *phoneReader) parse(raw string) (phoneRead, sms.RowKind, string) {
	if fault := sheet.CellFault(raw); fault != "" {
		return phoneRead{}, sms.RowNumber, fault
	}
	phone, err := phone.Parse(raw, p.country, p.abroad)
	if err != nil {
		sentence := err.Error()
		if strings.HasPrefix(sentence, "Missing") {
			return phoneRead{}, sms.RowMissing, sentence
		}
		return phoneRead{}, sms.RowNumber, sentence
	}
	n, err := strconv.ParseInt(phone.Number, 10, 64)
	if err != nil {
		return phoneRead{}, sms.RowNumber, "Not a valid mobile number. Check the digits"
	}
	return phoneRead{n, phone.Fixes}, "", ""
}

// numberOf is a message's number as it stands in a list's rows, 0 for none.
func numberOf(msisdn string) int64 {
	n, err := strconv.ParseInt(msisdn, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
