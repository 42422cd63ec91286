package campaign

import (
	"strings"
	"unicode"

	"smsdesk/internal/sms"
	"smsdesk/views"
)

// standard is what takes the place of a special character where nothing of the
// meaning is lost, with its name. Characters of a language are not here: they
// are kept as they are written.
var standard = map[rune]views.PlainChange{
	'“': {Name: "curly quotation mark", To: `"`}, '”': {Name: "curly quotation mark", To: `"`},
	'„': {Name: "low quotation mark", To: `"`}, '«': {Name: "angled quotation mark", To: `"`},
	'»': {Name: "angled quotation mark", To: `"`}, '‘': {Name: "curly apostrophe", To: "'"},
	'’': {Name: "curly apostrophe", To: "'"}, '‚': {Name: "low apostrophe", To: "'"}, '´': {Name: "accent", To: "'"},
	'`': {Name: "backtick", To: "'"}, '–': {Name: "long dash", To: "-"}, '—': {Name: "long dash", To: "-"},
	'‐': {Name: "hyphen", To: "-"}, '‑': {Name: "non-breaking hyphen", To: "-"}, '−': {Name: "minus sign", To: "-"},
	'…': {Name: "three dots", To: "..."}, '•': {Name: "bullet", To: "-"}, '·': {Name: "middle dot", To: "-"},
	'₦': {Name: "naira sign", To: "N"}, '×': {Name: "times sign", To: "x"}, '→': {Name: "arrow", To: "->"},
	'™': {Name: "trade mark sign", To: "TM"}, '®': {Name: "registered sign", To: "(R)"},
	'©': {Name: "copyright sign", To: "(C)"}, '½': {Name: "one half", To: "1/2"}, '\t': {Name: "tab", To: " "},
	'\u00a0': {Name: "non-breaking space", To: " "}, '\u202f': {Name: "narrow space", To: " "},
	'\u2009': {Name: "thin space", To: " "}, '\u2007': {Name: "figure space", To: " "},
	'\u200b': {Name: "invisible character", To: ""}, '\ufeff': {Name: "invisible character", To: ""},
	'\u2060': {Name: "invisible character", To: ""}, '\u00ad': {Name: "soft hyphen", To: ""},
}

// inStandard writes a text in standard characters as far as nothing is lost,
// and tells what was changed and what was left.
func inStandard(text string) (plain string, about views.PlainText) {
	var b strings.Builder
	places := map[rune]int{}
	for _, r := range text {
		change, ok := standard[r]
		switch {
		case sms.IsGSM7(r):
			b.WriteRune(r)
			continue
		case !ok:
			b.WriteRune(r)
			if letter := string(r); !unicode.Is(unicode.M, r) && !contains(about.Left, letter) {
				about.Left = append(about.Left, letter)
			}
			continue
		}
		b.WriteString(change.To)
		if at, seen := places[r]; seen {
			about.Changes[at].Times++
			continue
		}
		places[r] = len(about.Changes)
		change.From, change.Times = string(r), 1
		if change.To == " " || change.To == "" || unicode.IsSpace(r) {
			change.From = "␣"
		}
		about.Changes = append(about.Changes, change)
	}
	plain = b.String()
	about.Before, about.After = sms.CountSegments(text, false).Parts, sms.CountSegments(plain, false).Parts
	return plain, about
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}
