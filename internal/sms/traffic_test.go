package sms

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"smsdesk/internal/phone"
)

// lane draws a lane in which messages of each slot fail with a chance.
func lane(r *rand.Rand, slots, each int, chance func(slot int) float64) NetworkSeries {
	l := NetworkSeries{Network: "Glo", SenderID: "CLINIC"}
	for i := range slots {
		s := LaneSlot{At: int64(i) * TrafficSlot.Milliseconds(), Sent: int64(each)}
		for range each {
			if r.Float64() < chance(i) {
				s.Failed++
			} else {
				s.Delivered++
			}
		}
		l.Points = append(l.Points, s)
	}
	return l
}

func TestALaneOfOneChanceNeverFails(t *testing.T) {
	alarms := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		chance := r.Float64()
		if f, ok := lane(r, 1+r.IntN(144), 1+r.IntN(40), func(int) float64 { return chance }).Failing(); ok {
			t.Logf("seed %d, chance %.2f: %+v", seed, chance, f)
			alarms++
		}
	}
	if alarms > 0 {
		t.Errorf("%d of 3,000 calm lanes were called failing", alarms)
	}
}

func TestALaneThatBreaksIsFoundWhereItBroke(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		slots, each := rapid.IntRange(20, 144).Draw(t, "slots"), rapid.IntRange(20, 60).Draw(t, "each")
		broke := rapid.IntRange(4, slots-4).Draw(t, "broke")
		f, ok := lane(r, slots, each, func(i int) float64 {
			if i < broke {
				return 0.05
			}
			return 0.8
		}).Failing()
		// One slot in a hundred thousand before it fails by chance as often.
		at, slot := int64(broke)*TrafficSlot.Milliseconds(), TrafficSlot.Milliseconds()
		if !ok || f.Since < at-slot || f.Since > at+slot {
			t.Fatalf("broke at %d: %+v, %v", at, f, ok)
		}
		if f.Before > 0.3 || f.After < 0.5 || f.Failed > f.Ended {
			t.Fatalf("%+v", f)
		}
	})
}

func TestALaneThatCameBackIsNotFailing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	l := lane(r, 60, 40, func(i int) float64 {
		if i >= 30 && i < 50 {
			return 0.9
		}
		return 0.05
	})
	if f, ok := l.Failing(); ok {
		t.Errorf("%+v", f)
	}
	if _, ok := (NetworkSeries{Points: l.Points[:45]}).Failing(); !ok {
		t.Error("it was not found while it lasted")
	}
}

// TestAFewMessagesProveNothing: whatever happens to fewer than there must be.
func TestAFewMessagesProveNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := NetworkSeries{}
		before, after := rapid.IntRange(0, failingBefore-1).Draw(t, "before"), rapid.IntRange(0, 1000).Draw(t, "after")
		if rapid.Bool().Draw(t, "few after") {
			before, after = rapid.IntRange(0, 1000).Draw(t, "many"), rapid.IntRange(0, failingAfter-1).Draw(t, "few")
		}
		l.Points = []LaneSlot{{At: 0, Delivered: int64(before)}, {At: 1, Failed: int64(after)}}
		if f, ok := l.Failing(); ok {
			t.Fatalf("%+v", f)
		}
	})
}

// TestLanesKeepEveryMessage: any traffic in any order gives the same lanes,
// which hold each message once.
func TestLanesKeepEveryMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []Traffic
		total := int64(0)
		for range rapid.IntRange(0, 30).Draw(t, "rows") {
			one := Traffic{At: int64(rapid.IntRange(0, 5).Draw(t, "at")),
				Network:  rapid.SampledFrom([]string{"", "MTN", "Glo"}).Draw(t, "network"),
				SenderID: rapid.SampledFrom([]string{"A", "B"}).Draw(t, "sender"),
				Key:      rapid.SampledFrom([]string{"network", "delivered", "blocked", "expired", "late"}).Draw(t, "key"),
				N:        int64(rapid.IntRange(0, 9).Draw(t, "n"))}
			list, total = append(list, one), total+one.N
		}
		lanes := Lanes(list)
		sum := int64(0)
		for _, l := range lanes {
			sum += l.Total().Sent
			if l.Total().Delivered+l.Total().Failed > l.Total().Sent {
				t.Fatalf("%+v", l)
			}
		}
		if sum != total {
			t.Fatalf("%d messages in the lanes, %d in the traffic", sum, total)
		}
		turned := slices.Clone(list)
		slices.Reverse(turned)
		if a, b := fmt.Sprint(lanes), fmt.Sprint(Lanes(turned)); a != b {
			t.Fatalf("the order matters:\n%s\n%s", a, b)
		}
	})
}

// TestNetworksAreThoseOfTheirPrefix: what is remembered of another number with
// the same beginning is never wrong, however short the numbers are.
func TestNetworksAreThoseOfTheirPrefix(t *testing.T) {
	known := &phone.Networks{}
	for _, number := range []string{"25411000", "25410000", "254", "2547"} {
		if got, want := known.Of(number), phone.Network(number); got != want {
			t.Errorf("%s: %q, want %q", number, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.SampledFrom([]string{"234", "254", "233", "27", "44", "256", "91", "1", ""}).Draw(t, "start")
		number := start + rapid.StringMatching(`[0-9]{0,11}`).Draw(t, "rest")
		if got, want := known.Of(number), phone.Network(number); got != want {
			t.Fatalf("%s: %q, want %q", number, got, want)
		}
	})
}
