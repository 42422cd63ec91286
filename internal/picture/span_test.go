package picture

import (
	"testing"

	"pgregory.net/rapid"
)

// TestABarStandsInItsSpan: whatever the moments, a bar can be seen and stays inside,
// and one that ends later does not end further left.
func TestABarStandsInItsSpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) int64 { return rapid.Int64Range(0, 1_000_000).Draw(t, name) }
		s := Span{From: at("from"), Until: at("until")}
		from := at("begins")
		until := from + at("takes")
		x, width := s.Bar(from, until)
		if x < 0 || width < leastBar || x+width > 100.001 {
			t.Fatalf("%v from %d to %d: %v, %v wide", s, from, until, x, width)
		}
		if s.At(from) > s.At(until) {
			t.Fatalf("%d stands behind %d", from, until)
		}
	})
}
