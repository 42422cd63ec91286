package ussd

import (
	"strings"
	"unicode/utf8"

	"smsdesk/internal/sms"
)

// The longest text that networks show, in septets and in UCS-2 units; the
// specification names no limit.
const (
	MaxPlain   = 182
	MaxUnicode = 80
)

// Length is how long a screen is, in what it is carried in.
type Length struct {
	Units   int // septets, or UCS-2 units
	Unicode bool
}

// Most is the limit that the length is to be compared with.
func (l Length) Most() int {
	if l.Unicode {
		return MaxUnicode
	}
	return MaxPlain
}

// Fits says that one screen holds the text.
func (l Length) Fits() bool { return l.Units <= l.Most() }

// Measure measures a text.
func Measure(text string) Length {
	s := sms.CountSegments(text, false)
	return Length{Units: s.Units, Unicode: s.Unicode}
}

func fits(text string) bool { return Measure(text).Fits() }

// width orders texts by how much room they take.
func width(text string) int {
	l := Measure(text)
	if l.Unicode {
		return l.Units * MaxPlain / MaxUnicode
	}
	return l.Units
}

// pages divides lines over screens. Every one but the last ends with more,
// every one but the first with back, the first too where first is set.
func pages(lines []string, more, back string, first bool) []string {
	if few(lines) {
		if whole := joined(lines, "", where(first, back)); fits(whole) {
			return []string{whole}
		}
	}
	var out []string
	var page []string
	for len(lines) > 0 {
		foot := where(first || len(out) > 0, back)
		if few(lines) {
			if last := joined(append(page, lines...), "", foot); fits(last) {
				return append(out, last)
			}
		}
		if fits(joined(append(page, lines[0]), more, foot)) {
			page, lines = append(page, lines[0]), lines[1:]
			continue
		}
		if len(page) == 0 {
			head, rest := cut(lines[0], func(s string) bool { return fits(joined([]string{s}, more, foot)) })
			page = append(page, head)
			lines = append([]string{rest}, lines[1:]...)
		}
		out, page = append(out, joined(page, more, foot)), nil
	}
	if len(page) > 0 {
		out = append(out, joined(page, "", where(first || len(out) > 0, back)))
	}
	return out
}

// few says that one screen may hold the lines, without measuring all of a long
// list again for each of its pages. A septet takes at most three bytes.
func few(lines []string) bool {
	bytes := 0
	for _, l := range lines {
		if bytes += len(l) + 1; bytes > 3*MaxPlain {
			return false
		}
	}
	return true
}

func where(is bool, s string) string {
	if is {
		return s
	}
	return ""
}

func joined(lines []string, more, back string) string {
	all := append([]string(nil), lines...)
	for _, foot := range []string{more, back} {
		if foot != "" {
			all = append(all, foot)
		}
	}
	return strings.Join(all, "\n")
}

// cut divides a line that is too long at a space, or where it must be.
func cut(line string, fit func(string) bool) (head, rest string) {
	at, space := 0, 0
	for at < len(line) {
		// The width is that of what stands there, which may be no letter at all.
		r, width := utf8.DecodeRuneInString(line[at:])
		if !fit(line[:at+width]) {
			break
		}
		if at += width; r == ' ' {
			space = at
		}
	}
	if space > 0 && at < len(line) {
		at = space
	}
	if at == 0 { // a foot that leaves no room at all
		_, at = utf8.DecodeRuneInString(line)
	}
	return strings.TrimRight(line[:at], " "), strings.TrimLeft(line[at:], " ")
}

// Preview is a screen as callers see it, on all its pages. Values that only a
// caller brings show their marks.
func (p *Program) Preview(key, language string) []string {
	if _, ok := p.places[key]; !ok {
		return []string{""}
	}
	s := p.At(key, language)
	screen := p.Screens[s.screen]
	texts := []string{p.In(screen.Text, language)}
	for _, c := range screen.Choices {
		texts = append(texts, p.In(c.Text, language))
	}
	for _, t := range texts {
		for _, mark := range sms.Placeholders(t) {
			s.Put(mark, "##"+mark+"##")
		}
	}
	if screen.Back {
		s.trail = append(s.trail, 0)
	}
	return p.pagesOf(&s)
}
