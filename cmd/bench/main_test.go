package main

import (
	"fmt"
	"strings"
	"testing"

	"smsdesk/internal/gateway"
	"smsdesk/internal/plan"
)

func TestALineSaysWhetherItsBarIsMet(t *testing.T) {
	for _, c := range []struct {
		line line
		want string
	}{
		{line{name: "plan", figure: "102 calls", against: "lower bound 100", ratio: 1.02, bar: 1.02, most: true},
			"plan: 102 calls, lower bound 100, ratio 1.0200, at most 1.0200, ok"},
		{line{name: "plan", figure: "103 calls", against: "lower bound 100", ratio: 1.03, bar: 1.02, most: true},
			"plan: 103 calls, lower bound 100, ratio 1.0300, at most 1.0200, below"},
		{line{name: "csv", figure: "5 rows/s", against: "peer 10 rows/s", ratio: 0.5, bar: 0.5}, "csv: 5 rows/s, peer 10 rows/s, ratio 0.50, at least 0.50, ok"},
		{line{name: "csv", figure: "4 rows/s", against: "peer 10 rows/s", ratio: 0.4, bar: 0.5}, "csv: 4 rows/s, peer 10 rows/s, ratio 0.40, at least 0.50, below"},
		{line{name: "told", figure: "1", against: "9", ratio: 0.1}, "told: 1, 9, ratio 0.10, no bar, ok"},
	} {
		if got := c.line.String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestRunRefusesWhatThereIsNot(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"-run", "^nothing$", "-dir", t.TempDir()}, &out); err == nil {
		t.Error("a bench that is not there was run")
	}
	if err := run(t.Context(), []string{"-child", "nothing"}, &out); err == nil {
		t.Error("a measurement that is not there was made")
	}
	out.Reset()
	if err := run(t.Context(), []string{"-list"}, &out); err != nil ||
		strings.Count(out.String(), "\n") != len(benches()) {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestLowerBound compares with lists whose best plan is plain.
func TestLowerBound(t *testing.T) {
	for _, c := range []struct {
		rows, length, callLimit int
		want                    float64
	}{
		{100, 10, 10, 10},   // the limit of rows decides
		{100, 974, 100, 50}, // two fill a URL to the last byte
		{100, 975, 100, 100},
		{99, 635, 100, 33}, // three of 650 leave 51 bytes that nothing fits
	} {
		rows := make([]plan.Row, c.rows)
		for i := range rows {
			rows[i] = plan.Row{Number: fmt.Sprint(2348030000000 + i), Text: strings.Repeat("a", c.length)}
		}
		l := plan.Limits{CallLimit: c.callLimit, Room: func(bool) int { return 1982 }}
		n, _ := gateway.PairSize(rows[0].Number, rows[0].Text)
		if got := lowerBound(l, rows); got != c.want {
			t.Errorf("%d rows of %d bytes in %d: %v calls, want %v", c.rows, n, l.Room(false), got, c.want)
		}
	}
}
