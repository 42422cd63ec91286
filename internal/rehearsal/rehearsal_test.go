package rehearsal

import (
	"fmt"
	"math"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

func TestASampleIsTakenEvenly(t *testing.T) {
	for _, of := range []int64{20, 19_999, 20_000, 20_001, 33_333, 1_000_000} {
		n, last, gap := int64(0), int64(-1), int64(0)
		for at := range of {
			if Picks(at, of) {
				n, gap, last = n+1, max(gap, at-last), at
			}
		}
		if want := min(of, MaxRows); n != want || gap > (of+MaxRows-1)/MaxRows {
			t.Errorf("of %d rows %d are taken, at most %d apart; want %d", of, n, gap, want)
		}
	}
}

func TestWhatASampleSaysOfTheWhole(t *testing.T) {
	r := Rehearsal{All: 100_000, Rows: 20_000, Result: Result{Took: 60_000}}
	if r.Whole(3) != 15 || r.Takes() != 5*time.Minute || !r.Sampled() {
		t.Errorf("%d, %v", r.Whole(3), r.Takes())
	}
	if r.All = 20_000; r.Whole(3) != 3 || r.Takes() != time.Minute {
		t.Errorf("%d, %v", r.Whole(3), r.Takes())
	}
}

func TestSpeed(t *testing.T) {
	for perMinute, want := range map[int]int{1: 100, 100: 100, 200: 50, 1000: 10, 1_000_000: 1, 0: 100} {
		if got := Speed(perMinute); got != want {
			t.Errorf("at %d requests a minute it goes at %d times, want %d", perMinute, got, want)
		}
	}
}

// count draws n fates.
func count(d Day, network string, n int) map[string]int {
	met := map[string]int{}
	for i := range n {
		met[d.Fate(7, network, fmt.Sprintf("23480312%05d", i))]++
	}
	return met
}

func TestADayIsLearnedFromTheAccountsReports(t *testing.T) {
	past := Past{Refused: 50, Requests: map[sms.Class]int64{sms.ClassAnswered: 970, sms.ClassRate: 20, sms.ClassDoubt: 10},
		Traffic: []sms.Traffic{{Network: "MTN", Key: "delivered", N: 300}, {Network: "MTN", Key: "delivered", N: 500},
			{Network: "MTN", Key: "undelivered", N: 100}, {Network: "MTN", Key: NoReport, N: 100},
			{Network: "MTN", Key: "network", N: 9_000}, {Network: "Glo", Key: "expired", N: 29}}}
	day := Learn(past)
	if day.Reports != 929 || day.TooMany != .02 || day.Lost != .01 || day.Unreached != 0 {
		t.Fatalf("%+v", day)
	}
	const n = 20_000
	of := 1000.0 + 50*1000/1029
	for key, want := range map[string]float64{"delivered": 800 / of, "undelivered": 100 / of, NoReport: 100 / of, "refused": 48 / of} {
		if got := float64(count(day, "MTN", n)[key]) / n; math.Abs(got-want) > .01 {
			t.Errorf("%s is met by %.3f, want %.3f", key, got, want)
		}
	}
	// So few reports of a network say less than those of all.
	if got := count(day, "Glo", n); got["delivered"] < n/2 {
		t.Errorf("Glo: %v", got)
	}
	if again := count(day, "MTN", n); fmt.Sprint(again) != fmt.Sprint(count(day, "MTN", n)) {
		t.Error("the same day was different the second time")
	}
}

func TestTooFewReportsPromiseNoShares(t *testing.T) {
	day := Learn(Past{Traffic: []sms.Traffic{{Network: "MTN", Key: "undelivered", N: MinReports - 1}}})
	if r := (Rehearsal{Kind: Usual, Result: Result{Reports: day.Reports}}); r.Foretells() {
		t.Error("shares are promised")
	}
	if got := count(day, "MTN", 1000); got["undelivered"] > 100 {
		t.Errorf("%v", got)
	}
	all := Past{Traffic: []sms.Traffic{{Network: "MTN", Key: "undelivered", N: MinReports}}}
	if day := Learn(all); count(day, "MTN", 9)["undelivered"] != 9 {
		t.Errorf("%+v", day)
	}
	if r := (Rehearsal{Kind: Bad, Result: Result{Reports: MinReports}}); r.Foretells() {
		t.Error("a bad day promises shares")
	}
}
