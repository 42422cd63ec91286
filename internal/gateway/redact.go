package gateway

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	redactedMark   = "•••"
	maxExcerpt     = 2 << 10
	maxDescription = 500
	// redactSource bounds the work of redacting an answer of up to 4 MiB.
	redactSource = 16 << 10
)

// redactor removes the credentials from any text, in whatever form they come
// back: raw, escaped for a URL, for JSON or for HTML, once or several times,
// wholly or in part.
type redactor struct {
	forms   *regexp.Regexp // nil: nothing to hide
	longest int            // bytes that one secret may take in an escaped form
}

func newRedactor(secrets ...string) redactor {
	var all []string
	r := redactor{}
	for _, s := range secrets {
		if s == "" {
			continue
		}
		var b strings.Builder
		for _, c := range s {
			b.WriteString(runeForms(c))
		}
		all = append(all, b.String())
		r.longest = max(r.longest, 12*len(s))
	}
	if all != nil {
		r.forms = regexp.MustCompile(strings.Join(all, "|"))
	}
	return r
}

// runeForms matches one character in every form in which it may be written.
func runeForms(c rune) string {
	forms := []string{regexp.QuoteMeta(string(c)), percentForm(c), escapeForm(c),
		fmt.Sprintf(`&(?:amp;)*#0*%d;`, c), `&(?:amp;)*#[xX]0*` + hexForm(fmt.Sprintf("%x", c)) + `;`}
	switch c {
	case ' ':
		forms = append(forms, `\+`, percentForm('+'))
	case '/', '"', '\'', '\\':
		forms = append(forms, `\\+`+regexp.QuoteMeta(string(c)))
	}
	if name, ok := map[rune]string{'&': "amp", '<': "lt", '>': "gt", '"': "quot", '\'': "apos"}[c]; ok {
		forms = append(forms, `&(?:amp;)*`+name+`;`)
	}
	return "(?:" + strings.Join(forms, "|") + ")"
}

func percentForm(c rune) string {
	var b strings.Builder
	for _, x := range []byte(string(c)) {
		b.WriteString(`%(?:25)*` + hexForm(fmt.Sprintf("%02x", x)))
	}
	return b.String()
}

func escapeForm(c rune) string {
	if hi, lo := utf16.EncodeRune(c); hi != utf8.RuneError {
		return `\\+u` + hexForm(fmt.Sprintf("%04x", hi)) + `\\+u` + hexForm(fmt.Sprintf("%04x", lo))
	}
	form := `\\+u` + hexForm(fmt.Sprintf("%04x", c))
	if c < 0x80 {
		form += `|\\+x` + hexForm(fmt.Sprintf("%02x", c))
	}
	return form
}

// hexForm matches hexadecimal digits in either case.
func hexForm(digits string) string {
	var b strings.Builder
	for _, d := range digits {
		if d >= 'a' {
			fmt.Fprintf(&b, "[%c%c]", d, d-'a'+'A')
		} else {
			b.WriteRune(d)
		}
	}
	return b.String()
}

// text returns s as valid UTF-8 without the credentials. Where the mark and
// its neighbours would spell a secret again, nothing of s is kept.
func (r redactor) text(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r.forms == nil {
		return s
	}
	out := r.forms.ReplaceAllString(s, redactedMark)
	if out != s && r.forms.MatchString(out) {
		return ""
	}
	return out
}

// brief is the beginning of what the service said: at most n bytes of valid
// UTF-8, no control characters but line breaks and tabs, no credentials.
func (r redactor) brief(s string, n int) string {
	if s == "" {
		return ""
	}
	cut := len(s) > redactSource
	s = r.text(s[:min(len(s), redactSource)])
	if cut {
		// The cut may have gone through a secret, which then was not recognised.
		s = clip(s, max(0, len(s)-r.longest))
	}
	clean := strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return -1
		}
		return c
	}, s)
	if clean != s {
		// What was removed may have stood inside a secret.
		clean = r.text(clean)
	}
	return clip(clean, n)
}

// clip cuts s to at most n bytes without cutting through a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
