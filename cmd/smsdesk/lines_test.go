package main_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	// habit is how many columns a line has at most as a rule, mostColumns what
	// none may exceed. A tab counts as one.
	habit       = 120
	mostColumns = 160
	// tooLong is how many lines exceed mostColumns. Tables are left, one row to a
	// line: the provider's answers in gateway/balance_test.go, the wrong counts in
	// storage/miscount_test.go, the requests in web/apicreate_test.go, the list of
	// tables in storage/plan_test.go, and flags whose help is a struct tag, which
	// cannot be broken.
	tooLong = 25
)

func TestLinesAreReadable(t *testing.T) {
	sources := files(t, ".go")
	maps.Copy(sources, files(t, ".templ"))
	long, above := 0, map[string]int{}
	for file, text := range sources {
		if generatedLine.MatchString(text) {
			continue
		}
		for line := range strings.Lines(text) {
			switch n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); {
			case n > mostColumns:
				above[file]++
			case n > habit:
				long++
			}
		}
	}
	t.Logf("measured: %d lines exceed %d columns, %d exceed %d", total(above), mostColumns, long, habit)
	if total(above) <= tooLong {
		return
	}
	t.Errorf("%d lines exceed %d columns, and there were %d; wrap yours", total(above), mostColumns, tooLong)
	for _, file := range slices.Sorted(maps.Keys(above)) {
		t.Logf("%s: %d", file, above[file])
	}
}
