package sms

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxPlaceholder is the longest name of a mark, in bytes. Two "##" further apart
// are decoration.
const maxPlaceholder = 100

// Placeholders lists the names of the marks ##Name## of a text (§2.3), each once, in
// order of first appearance and as first written. Names that PlaceholderKey makes
// equal are one.
func Placeholders(text string) []string {
	var names []string
	seen := map[string]bool{}
	for rest := text; ; {
		_, name, after, ok := nextMark(rest)
		if !ok {
			return names
		}
		if key := PlaceholderKey(name); !seen[key] {
			seen[key] = true
			names = append(names, name)
		}
		rest = after
	}
}

// Fill puts values in the place of the marks of text, in one pass: a value is
// data, so a mark inside a value stays as it is. value is asked once for each
// mark, with the name as written; where it answers false the mark stays in out
// and its name is listed in missing, each once. Without marks out is text.
func Fill(text string, value func(name string) (string, bool)) (out string, missing []string) {
	before, name, after, ok := nextMark(text)
	if !ok {
		return text, nil
	}
	var b strings.Builder
	b.Grow(len(text))
	seen := map[string]bool{}
	for rest := text; ; before, name, after, ok = nextMark(rest) {
		if !ok {
			b.WriteString(rest)
			return b.String(), missing
		}
		b.WriteString(before)
		if v, known := value(name); known {
			b.WriteString(v)
		} else {
			b.WriteString(rest[len(before) : len(rest)-len(after)])
			if key := PlaceholderKey(name); !seen[key] {
				seen[key] = true
				missing = append(missing, name)
			}
		}
		rest = after
	}
}

// PlaceholderKey is what decides whether a mark and a column bear the same name: the
// name without case, white space, "_" and "-".
func PlaceholderKey(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '\ufeff' || r == '\u200b' || unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFC.String(name))
}

// nextMark cuts text around its first mark. A name has no "#" and no line
// break in it, at least one letter or digit, and at most maxPlaceholder bytes.
func nextMark(text string) (before, name, after string, ok bool) {
	for from := 0; ; {
		i := strings.Index(text[from:], "##")
		if i < 0 {
			return "", "", "", false
		}
		start := from + i + len("##")
		n := strings.IndexAny(text[start:min(len(text), start+maxPlaceholder+1)], "#\r\n")
		if n > 0 && strings.HasPrefix(text[start+n:], "##") {
			if name := strings.TrimSpace(text[start : start+n]); validName(name) {
				return text[:start-len("##")], name, text[start+n+len("##"):], true
			}
		}
		// One step only: "###Name##" begins with its second "#".
		from = start - 1
	}
}

func validName(name string) bool {
	return utf8.ValidString(name) && strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	})
}
