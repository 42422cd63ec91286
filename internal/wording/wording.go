// Package wording lists what smsdesk does not say to people, and what it says
// instead. Only tests ask it. It must never know where a text comes from.
package wording

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// Finding is one banned wording in a text.
type Finding struct {
	Found   string // the wording with a little of what stands around it
	Instead string // what to write
}

func (f Finding) String() string { return fmt.Sprintf("%q: write %s", f.Found, f.Instead) }

// Checker finds banned wordings in texts. It is safe for use by several tests at
// once, and looks at each text once: pages have most of theirs in common.
type Checker struct {
	list        []rule
	placeholder *regexp.Regexp // its name is stored
	mu          sync.Mutex
	seen        map[string]bool
}

type rule struct {
	pattern *regexp.Regexp
	instead string
}

// NewChecker makes a Checker of all banned wordings.
func NewChecker() *Checker {
	c := &Checker{seen: map[string]bool{}, placeholder: regexp.MustCompile(`##[^#]+##`)}
	for _, b := range banned() {
		c.list = append(c.list, rule{regexp.MustCompile(b[0]), b[1]})
	}
	return c
}

// Check finds the banned wordings in texts that it has not seen before, each
// rule at most once in a text.
func (c *Checker) Check(texts ...string) (found []Finding) {
	for _, t := range texts {
		t = c.placeholder.ReplaceAllString(strings.ToLower(strings.Join(strings.Fields(t), " ")), "##")
		if c.isNew(t) {
			found = append(found, c.check(t)...)
		}
	}
	return found
}

func (c *Checker) isNew(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.seen[text]
	c.seen[text] = true
	return !known
}

func (c *Checker) check(text string) (found []Finding) {
	for _, r := range c.list {
		if at := r.pattern.FindStringIndex(text); at != nil {
			from, to := max(0, at[0]-around), min(len(text), at[1]+around)
			found = append(found, Finding{Found: strings.ToValidUTF8(text[from:to], ""), Instead: r.instead})
		}
	}
	return found
}

// around is how many bytes before and after it a Finding shows.
const around = 40

// Visible is what people read on a page or hear of it: its text, labels,
// placeholders and busy words, but not what somebody typed into a form.
// Each text is that of one block or attribute.
func Visible(page io.Reader) (texts []string, err error) {
	root, err := html.Parse(page)
	if err != nil {
		return nil, fmt.Errorf("read a page: %w", err)
	}
	var b strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			if !slices.Contains([]string{"script", "style", "textarea"}, n.Parent.Data) {
				b.WriteString(n.Data)
			}
		case html.ElementNode:
			for _, a := range n.Attr {
				if slices.Contains(spoken(), a.Key) {
					texts = append(texts, a.Val)
				}
			}
			if isBlock(n.Data) {
				texts = append(texts, b.String())
				b.Reset()
			}
		}
	}
	return append(texts, b.String()), nil
}

func spoken() []string { return []string{"alt", "aria-label", "data-busy", "placeholder", "title"} }

func isBlock(tag string) bool {
	return !slices.Contains([]string{"a", "abbr", "b", "bdi", "code", "em", "i", "kbd", "small", "span", "strong", "time"},
		tag)
}
