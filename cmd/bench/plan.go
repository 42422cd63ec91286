package main

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"

	"smsdesk/internal/gateway"
	"smsdesk/internal/plan"
	"smsdesk/internal/sms"
)

const (
	planned  = 1_000_000
	overhead = 200 // bytes of a URL around its pairs, as usual credentials make them
)

// mixture is a kind of list that people send, with the bar of its calls.
type mixture struct {
	name string
	bar  float64
	text func(i int, rng *rand.Rand) string
}

func mixtures() []mixture {
	return []mixture{
		{"plan of equal lengths", 1.04, func(_ int, rng *rand.Rand) string { return words(rng, 120) }},
		{"plan of mixed lengths", 1.04, func(_ int, rng *rand.Rand) string { return words(rng, 20+rng.IntN(280)) }},
	}
}

// words is a text of n characters with about as many spaces as people write.
// A space and a comma take three bytes in a URL.
func words(rng *rand.Rand, n int) string {
	const letters = "eeeeeetttttaaaaaooooiiiinnnnsssshhhrrrdddlllcccuummwwffggyyppbbvk      .,"
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rng.IntN(len(letters))]
	}
	return string(b)
}

func benchPlan(ctx context.Context, _ env) ([]line, error) {
	var lines []line
	for _, m := range mixtures() {
		rng := rand.New(rand.NewPCG(1, 1))
		rows := make([]plan.Row, planned)
		for i := range rows {
			rows[i] = plan.Row{ID: int64(i), Number: fmt.Sprint(2348030000000 + i), Text: m.text(i, rng)}
		}
		const room = sms.DefaultURLBudget - overhead + len("~")
		limits := plan.Limits{CallLimit: sms.DefaultCallLimit, Size: gateway.PairSize, Room: func(bool) int { return room }}
		var made plan.Plan
		took, err := turns(ctx, func() error {
			p := plan.New(limits, len(rows))
			for _, r := range rows {
				if err := p.Add(r); err != nil {
					return err
				}
			}
			made = p.Plan()
			return nil
		}, func() error { least(rows); return nil })
		if err != nil {
			return nil, err
		}
		bound := lowerBound(limits, rows)
		lines = append(lines,
			line{name: m.name, figure: fmt.Sprintf("%d calls", made.Calls), against: fmt.Sprintf("lower bound %.0f", bound),
				ratio: float64(made.Calls) / bound, bar: m.bar, most: true},
			line{name: m.name + ", time", figure: fmt.Sprintf("%.2f s for a million", took[0].Seconds()),
				against: fmt.Sprintf("hashing and sorting alone %.2f s", took[1].Seconds()),
				ratio:   took[0].Seconds() / took[1].Seconds(), bar: 6, most: true})
	}
	return lines, nil
}

// least is the work that no planner gets around: tell the texts apart, count
// their bytes, sort them by size.
func least(rows []plan.Row) []uint64 {
	seed, sizes := maphash.MakeSeed(), make([]uint64, len(rows))
	for i, r := range rows {
		n, _ := gateway.PairSize(r.Number, r.Text)
		sizes[i] = uint64(n)<<32 | maphash.String(seed, r.Text)&0xffffffff
	}
	slices.Sort(sizes)
	return sizes
}

// lowerBound is a number of calls of pairs that no plan for texts that all
// differ goes below. It weighs each pair such that no call can hold more than
// one in all, and sums the weights: by bytes, by rows, in proportions between
// the two, and by the dual feasible functions of Fekete and Schepers.
func lowerBound(l plan.Limits, rows []plan.Row) float64 {
	capacity := l.Room(false)
	count := map[int]float64{}
	for _, r := range rows {
		n, _ := gateway.PairSize(r.Number, r.Text)
		count[n]++
	}
	sum := func(weight func(n int) float64) (all float64) {
		for n, of := range count {
			all += of * min(weight(n), 1)
		}
		return all
	}
	size := func(n int) float64 { return float64(n) / float64(capacity) }
	best := 0.0
	for i := range 21 {
		share := float64(i) / 20
		best = max(best, sum(func(n int) float64 { return share*size(n) + (1-share)/float64(l.CallLimit) }))
	}
	for k := 1; k <= 100; k++ {
		best = max(best, sum(func(n int) float64 {
			if n*(k+1)%capacity == 0 {
				return size(n)
			}
			return float64(n*(k+1)/capacity) / float64(k)
		}))
	}
	return math.Ceil(best - 1e-6)
}
