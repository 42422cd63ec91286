package lists

import (
	"testing"

	"pgregory.net/rapid"
)

// TestSeenAgainstAMap compares the table with the plain thing.
func TestSeenAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type pair struct {
			number int64
			text   string
		}
		s, pairs, firsts := newNumberSet(), map[pair]int64{}, map[int64]int64{}
		texts := map[string]bool{}
		n := rapid.IntRange(1, 3000).Draw(t, "rows")
		spread := rapid.Int64Range(1, 2000).Draw(t, "spread")
		letters := rapid.IntRange(1, 5).Draw(t, "texts")
		random := rapid.Uint64().Draw(t, "seed")
		for row := int64(2); row < int64(n)+2; row++ {
			random = random*6364136223846793005 + 1442695040888963407
			p := pair{2348030000000 + int64(random>>33)%spread, string(rune('a' + int(random>>20)%letters))}
			repeat, other := s.add(p.number, s.hash(p.text), row)
			if repeat != pairs[p] {
				t.Fatalf("row %d: repeat of %d, want %d", row, repeat, pairs[p])
			}
			if want := firsts[p.number]; repeat == 0 && other != want {
				t.Fatalf("row %d: other text in %d, want %d", row, other, want)
			}
			if firsts[p.number] == 0 {
				firsts[p.number] = row
			}
			if pairs[p] == 0 {
				pairs[p] = row
			}
			texts[p.text] = true
		}
		if s.first.n != len(firsts) || s.texts() != int64(len(texts)) {
			t.Fatalf("counts are off")
		}
	})
}
