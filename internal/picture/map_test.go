package picture

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Whatever leads where: no box covers another, all stand in the picture, a way
// that is not one back leads on to the right, and the thickest is for all callers.
func TestAMapHasRoomForEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "screens")
		spots := make([]Spot, n)
		for i := range spots {
			spots[i].Seen = int64(rapid.IntRange(0, 1000).Draw(t, "seen"))
			spots[i].Left = int64(rapid.IntRange(0, int(spots[i].Seen)).Draw(t, "left"))
		}
		var ways []Way
		known := map[string]bool{}
		for range rapid.IntRange(0, 20).Draw(t, "ways") {
			w := Way{From: rapid.IntRange(0, n-1).Draw(t, "from"), To: rapid.IntRange(0, n-1).Draw(t, "to"),
				Callers: int64(rapid.IntRange(0, 1500).Draw(t, "callers"))}
			if key := fmt.Sprint(w.From, w.To); !known[key] {
				known[key] = true
				ways = append(ways, w)
			}
		}
		m := NewMap(spots, ways)
		for i, s := range m.Spots {
			if s.X < 0 || s.Y < 0 || s.X+BoxWidth > m.Width || s.Y+BoxHeight > m.Height {
				t.Fatalf("box %d at %d,%d is outside %d×%d", i, s.X, s.Y, m.Width, m.Height)
			}
			if s.Seen != spots[i].Seen || s.Left != spots[i].Left {
				t.Fatalf("box %d counts %+v, want %+v", i, s, spots[i])
			}
			for j, o := range m.Spots[:i] {
				if s.X == o.X && s.Y < o.Y+BoxHeight && o.Y < s.Y+BoxHeight {
					t.Fatalf("boxes %d and %d cover each other", i, j)
				}
			}
		}
		for i, w := range m.Ways {
			if w.Callers != ways[i].Callers || w.Path == "" || w.Thick > wireMost || w.LabelY > m.Height {
				t.Fatalf("way %d is %+v, given %+v", i, w, ways[i])
			}
			from, to := m.Spots[w.From], m.Spots[w.To]
			if !w.Back && from.Layer >= 0 && from.X >= to.X {
				t.Fatalf("way %d leads from %+v to %+v", i, from, to)
			}
		}
	})
}

func TestALongWayRunsAbove(t *testing.T) {
	m := NewMap([]Spot{{Seen: 100}, {Seen: 40}, {Seen: 90}}, []Way{{From: 0, To: 2, Callers: 60},
		{From: 0, To: 1, Callers: 40}, {From: 1, To: 2, Callers: 30}, {From: 2, To: 0, Callers: 1}})
	if m.Spots[2].Layer != 2 || m.Spots[1].Layer != 1 || !m.Ways[3].Back || m.Ways[0].Back {
		t.Errorf("%+v", m)
	}
	if m.Ways[0].LabelY >= m.Spots[1].Y || m.Ways[0].Thick != 15.6 || m.Ways[3].Thick != 1 {
		t.Errorf("%+v", m.Ways)
	}
}
