package sms

import "strings"

// Span is a piece of a text. Filled says that it stands in the place of a
// mark.
type Span struct {
	Text   string
	Filled bool
}

// Spans tells what Fill put in the place of the marks of a template, by
// comparing the two texts. Where that could be read in more than one way, all
// of text is one stretch that is not filled. The pieces always make up text.
func Spans(template, text string) []Span {
	whole := []Span{{Text: text}}
	fixed := between(template)
	last := len(fixed) - 1
	if last == 0 || len(text) < len(fixed[0])+len(fixed[last]) || !strings.HasPrefix(text, fixed[0]) ||
		!strings.HasSuffix(text, fixed[last]) {
		return whole
	}
	inner := text[len(fixed[0]) : len(text)-len(fixed[last])]
	middle := fixed[1:last]
	at, ok := onlyPlaces(inner, middle)
	if !ok {
		return whole
	}
	var out []Span
	add := func(text string, filled bool) {
		if text != "" {
			out = append(out, Span{Text: text, Filled: filled})
		}
	}
	add(fixed[0], false)
	from := 0
	for i, words := range middle {
		add(inner[from:at[i]], true)
		add(words, false)
		from = at[i] + len(words)
	}
	add(inner[from:], true)
	add(fixed[last], false)
	return out
}

// between lists the words of a template before, between and after its marks.
// Marks with nothing between them count as one.
func between(template string) []string {
	var fixed []string
	for rest := template; ; {
		before, _, after, ok := nextMark(rest)
		if !ok {
			return append(fixed, rest)
		}
		if before != "" || len(fixed) == 0 {
			fixed = append(fixed, before)
		}
		rest = after
	}
}

// onlyPlaces finds where the words stand in text, one after the other; false
// where they do not, or could stand elsewhere too.
func onlyPlaces(text string, words []string) (at []int, ok bool) {
	at = make([]int, len(words))
	from := 0
	for i, w := range words {
		place := strings.Index(text[from:], w)
		if place < 0 {
			return nil, false
		}
		at[i] = from + place
		from = at[i] + len(w)
	}
	to := len(text)
	for i := len(words) - 1; i >= 0; i-- {
		if strings.LastIndex(text[:to], words[i]) != at[i] {
			return nil, false
		}
		to = at[i]
	}
	return at, true
}
