package sms

import (
	"testing"

	"pgregory.net/rapid"
)

// However messages stand, the finer counts are those of the messages
// themselves and lose none of them.
func TestCountStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tally, want, delivery := Tally{}, map[State]int64{}, map[Status]int64{}
		var claimed, interim, total int64
		for _, s := range States() {
			for _, status := range append(Statuses(), "") {
				for _, late := range []bool{false, true} {
					if s != Accepted && (status != "" || late) {
						continue
					}
					n := rapid.Int64Range(0, 3).Draw(t, string(s)+string(status))
					tally[StandingKey(s, status, late)] += n
					want[s] += n
					total += n
					switch {
					case s == Claimed:
						claimed += n
					case s == Accepted && status == "":
						delivery[NoReport] += n
					case s == Accepted:
						delivery[status] += n
						if status == Acceptd {
							interim += n
						}
					}
				}
			}
		}
		states, reported := CountStates(tally, claimed, interim)
		for _, s := range States() {
			if got, there := states[s]; !there || got != want[s] {
				t.Errorf("%s: %d, want %d", s, got, want[s])
			}
			total -= states[s]
		}
		for _, s := range append(Statuses(), NoReport) {
			if got, there := reported[s]; !there || got != delivery[s] {
				t.Errorf("%s: %d, want %d", s, got, delivery[s])
			}
		}
		if total != 0 {
			t.Errorf("%d messages are not counted", total)
		}
	})
}
