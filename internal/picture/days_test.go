package picture

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func number(t *rapid.T, text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestColumnsHoldTheirFigures: every figure above 0 is one part that can be seen,
// the parts of a column do not cover each other, and nothing leaves the box.
func TestColumnsHoldTheirFigures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.SliceOfN(rapid.SliceOfN(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 40),
			rapid.Int64Range(0, 5_000_000)), 3, 3), 1, 30).Draw(t, "places")
		c := NewColumns(places, 174)
		for i, figures := range places {
			col, floor, seen := c.List[i], 174.0, 0
			for _, p := range col.Parts {
				y, h := number(t, p.Y), number(t, p.H)
				if p.N != figures[p.Series] || h < partLeast || y < 0 || y+h > floor+0.15 {
					t.Fatalf("place %d: %+v of %v above %v", i, p, figures, floor)
				}
				floor, seen = y, seen+1
			}
			for _, n := range figures {
				if n > 0 {
					seen--
				}
			}
			if seen != 0 || col.N != figures[0]+figures[1]+figures[2] || col.N > c.Top {
				t.Fatalf("place %d: %+v of %v, top %d", i, col, figures, c.Top)
			}
		}
	})
}

func TestRoundTop(t *testing.T) {
	for n, want := range map[int64]int64{0: 1, 1: 1, 2: 2, 3: 5, 6: 10, 11: 20, 21: 25, 26: 50, 51: 100, 101: 200, 201: 250,
		22_410: 25_000, 50_001: 100_000} {
		if got := RoundTop(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
}

// TestACellsGradeIsItsShare: the tone says the same as the figure in it.
func TestACellsGradeIsItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Cell{Delivered: rapid.Int64Range(0, 300).Draw(t, "delivered"), Failed: rapid.Int64Range(0, 60).Draw(t, "failed")}
		share, grade := c.Share(), c.Grade()
		want := map[bool]int{share >= 98: 5, share < 98 && share >= 96: 4, share < 96 && share >= 92: 3,
			share < 92 && share >= 80: 2, share < 80: 1}[true]
		if c.Final() < FewFinals {
			want = 0
		}
		if grade != want || share == 100 && c.Failed > 0 || share < 0 != (c.Final() == 0) {
			t.Fatalf("%+v: %d%% is grade %d, want %d", c, share, grade, want)
		}
	})
}

// TestLasts: the mean day tells the days, the range holds them, and a few days
// tell nothing.
func TestLasts(t *testing.T) {
	if _, ok := Lasts(1000, []float64{0, 9, 0, 9, 9, 9, 0}); ok {
		t.Error("four days with sending tell nothing")
	}
	if l, ok := Lasts(1000, []float64{100, 100, 100, 100, 100}); !ok || l.Days != 10 || l.Least != 10 || l.Most != 10 {
		t.Errorf("the same every day: %+v", l)
	}
	if l, _ := Lasts(-5, []float64{100, 100, 100, 100, 100}); l.Days != 0 {
		t.Errorf("nothing left: %+v", l)
	}
	rapid.Check(t, func(t *rapid.T) {
		used := rapid.SliceOfN(rapid.Float64Range(0, 1000), 14, 14).Draw(t, "used")
		l, ok := Lasts(rapid.Float64Range(0, 1e6).Draw(t, "left"), used)
		if ok && (l.Least > l.Days || l.Days > l.Most || math.IsNaN(l.Days)) {
			t.Fatalf("%+v", l)
		}
	})
}

// TestACourseStands: a level stands until it changes, on nothing left, and goes to
// nothing at the time that is foreseen where that is near enough.
func TestACourseStands(t *testing.T) {
	c := NewCourse([]Level{{0, 100}, {600, 50}}, 1000, 1500)
	if c.Edge != "M0 60H400V530H666.7" || c.Ahead != "M666.7 530L1000 1000" || !strings.HasSuffix(c.Area, "V1000H0Z") {
		t.Errorf("%+v", c)
	}
	if y, ok := c.Up(50, 200); !ok || y != "106" {
		t.Errorf("half of it is at %s", y)
	}
	if far := NewCourse([]Level{{0, 100}}, 1000, 10_000); far.Until != 2000 || far.Ahead != "M500 60L1000 164.4" {
		t.Errorf("far away: %+v", far)
	}
	if none := NewCourse([]Level{{0, 0}, {500, 0}}, 1000, 0); none.Edge != "M0 1000H500V1000H1000" || none.Ahead != "" {
		t.Errorf("nothing: %+v", none)
	}
}
