package web

import (
	"encoding/json"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"smsdesk/internal/wording"
)

// banned is shared, so that each text is looked at once in a run.
var banned = wording.NewChecker()

// saysOneWord fails the test when a page says what no page should: every page
// that a test of this package gets is read, whatever the test is about.
func (a answer) saysOneWord(r *http.Request) {
	a.t.Helper()
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		return
	}
	texts, err := wording.Visible(strings.NewReader(a.body))
	if err != nil {
		a.t.Fatal(err)
	}
	for _, f := range banned.Check(texts...) {
		a.t.Errorf("%s %s says %s", r.Method, r.URL.Path, f)
	}
}

// TestTheAPISaysOneWord reads the sentences of openapi.yaml. Names of fields and
// values are interfaces and stay: those in backticks or before a colon.
func TestTheAPISaysOneWord(t *testing.T) {
	doc, _ := description(t)
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	names, checker, read := regexp.MustCompile("`[^`]*`|\\b[a-zA-Z:-]+:"), wording.NewChecker(), 0
	for text := range sentences(root) {
		read++
		for _, f := range checker.Check(names.ReplaceAllString(text, "")) {
			t.Errorf("openapi.yaml says %s", f)
		}
	}
	if read < 60 {
		t.Errorf("only %d sentences were read", read)
	}
}

// sentences are what a description says to its reader, at any depth.
func sentences(part any) iter.Seq[string] {
	return func(yield func(string) bool) {
		switch part := part.(type) {
		case map[string]any:
			for key, value := range part {
				text, isText := value.(string)
				if isText && slices.Contains([]string{"description", "summary", "title"}, key) && !yield(text) {
					return
				}
				for text := range sentences(value) {
					if !yield(text) {
						return
					}
				}
			}
		case []any:
			for _, value := range part {
				for text := range sentences(value) {
					if !yield(text) {
						return
					}
				}
			}
		}
	}
}
