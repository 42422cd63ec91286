package sms

import "strings"

// Segments tells how a text is carried on the air and what is paid for it.
type Segments struct {
	Parts   int    // what is paid; 0 for an empty text
	Units   int    // septets for GSM-7, where an extension character counts two; UTF-16 units for UCS-2
	Left    int    // units still free in the last part
	Unicode bool   // carried as UCS-2
	Odd     []rune // distinct letters outside GSM-7, in order of first appearance
}

// gsm7Basic is the default alphabet of GSM 03.38 without the escape, which is no letter.
const gsm7Basic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
	"¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"

// gsm7Extension is the extension table: an escape and one septet each.
const gsm7Extension = "\f^{}\\[~]|€"

// IsGSM7 tells whether r can be carried in GSM-7, in one septet or in two.
func IsGSM7(r rune) bool { return septets(r) > 0 }

// CountSegments counts the parts of text by GSM 03.38: 160 septets in one part and 153 in each of
// several, or 70 and 67 UTF-16 units where unicode is set (Is_Unicode, §4.2) or a letter is outside GSM-7.
// A character of two units is never cut in two by the end of a part. A byte that is not UTF-8 counts
// as U+FFFD.
func CountSegments(text string, unicode bool) Segments {
	if !unicode && plainText(text) {
		return plainSegments(len(text))
	}
	s := Segments{Unicode: unicode}
	seen := map[rune]bool{}
	for _, r := range text {
		if !IsGSM7(r) && !seen[r] {
			seen[r] = true
			s.Odd = append(s.Odd, r)
			s.Unicode = true
		}
	}
	width, single, several := septets, 160, 153
	if s.Unicode {
		width, single, several = utf16Units, 70, 67
	}
	parts, used := 1, 0
	for _, r := range text {
		w := width(r)
		s.Units += w
		if used+w > several {
			parts, used = parts+1, 0
		}
		used += w
	}
	switch {
	case text == "":
		s.Left = single
	case s.Units <= single:
		s.Parts, s.Left = 1, single-s.Units
	default:
		s.Parts, s.Left = parts, several-used
	}
	return s
}

// plainText tells whether each byte of text is a letter of one septet, as in
// most texts.
func plainText(text string) bool {
	for i := range len(text) {
		if !oneSeptet[text[i]] {
			return false
		}
	}
	return text != ""
}

var oneSeptet = func() (one [256]bool) {
	for c := range byte(0x80) {
		one[c] = septets(rune(c)) == 1
	}
	return one
}()

func plainSegments(septets int) Segments {
	if septets <= 160 {
		return Segments{Parts: 1, Units: septets, Left: 160 - septets}
	}
	parts := (septets + 152) / 153
	return Segments{Parts: parts, Units: septets, Left: 153*parts - septets}
}

// septets is the width of r in GSM-7, 0 where GSM-7 does not have it.
func septets(r rune) int {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= ' ' && r <= '?':
		return 1
	case strings.ContainsRune(gsm7Basic, r):
		return 1
	case strings.ContainsRune(gsm7Extension, r):
		return 2
	}
	return 0
}

// utf16Units is the width of r in UCS-2 as phones carry it: a surrogate pair takes two.
func utf16Units(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}
