package plan_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"smsdesk/internal/gateway"
	"smsdesk/internal/plan"
)

// mixture is a kind of list that people send.
type mixture struct {
	name    string
	most    float64 // calls for one of the lower bound, at 20,000 rows and more
	budget  int
	limit   int
	ordered bool // no text is shared by many rows, so calls can be near row order
	row     func(i, n int, rng *rand.Rand) plan.Row
}

func numbered(i int, text string) plan.Row {
	return plan.Row{ID: int64(i), Number: fmt.Sprint(2348030000000 + i), Text: text}
}

const letters = "eeeeeetttttaaaaaooooiiiinnnnsssshhhrrrdddlllcccuummwwffggyyppbbvk      .,"

func words(rng *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rng.IntN(len(letters))]
	}
	return string(b)
}

func name(rng *rand.Rand) string { return strings.Repeat("Adaobi", 3)[:3+rng.IntN(10)] }

var mixtures = []mixture{
	{"equal bytes", 1.0001, 2000, 100, true, func(i, _ int, _ *rand.Rand) plan.Row {
		return numbered(i, fmt.Sprintf("%0120d", i))
	}},
	{"equal letters", 1.04, 2000, 100, true, func(i, _ int, rng *rand.Rand) plan.Row {
		return numbered(i, words(rng, 120))
	}},
	{"mixed 20 to 300", 1.04, 2000, 100, true, func(i, _ int, rng *rand.Rand) plan.Row {
		return numbered(i, words(rng, 20+rng.IntN(280)))
	}},
	{"mixed 20 to 300, long URL", 1.04, 8000, 100, true, func(i, _ int, rng *rand.Rand) plan.Row {
		return numbered(i, words(rng, 20+rng.IntN(280)))
	}},
	{"mixed 10 to 60, long URL", 1.04, 8000, 100, true, func(i, _ int, rng *rand.Rand) plan.Row {
		return numbered(i, words(rng, 10+rng.IntN(50)))
	}},
	{"mixed 20 to 300, few a call", 1.04, 2000, 10, true, func(i, _ int, rng *rand.Rand) plan.Row {
		return numbered(i, words(rng, 20+rng.IntN(280)))
	}},
	{"three templates", 1.04, 2000, 100, true, func(i, _ int, rng *rand.Rand) plan.Row {
		n := name(rng)
		switch rng.IntN(3) {
		case 0:
			return numbered(i,
				fmt.Sprintf("Dear %s, your account %06d is due on Friday. Please pay at any branch or call us. Thank you.", n, i))
		case 1:
			return numbered(i, fmt.Sprintf("Hi %s, your code is %06d", n, i))
		}
		return numbered(i,
			fmt.Sprintf(
				"Dear parent of %s (%06d), the school will be closed from Monday to Wednesday next week because of the public "+
					"holiday. Lessons go on as usual on Thursday at 8 o'clock. Please send the signed form back. The Head Teacher", n, i))
	}},
	{"one template and its Unicode", 1.04, 2000, 100, true, func(i, _ int, rng *rand.Rand) plan.Row {
		n, pay := name(rng), 100+rng.IntN(90_000)
		if rng.IntN(3) == 0 {
			r := numbered(i, fmt.Sprintf("Ẹ káàbọ̀ %s (%06d), owó yín jẹ́ ₦%d", n, i, pay))
			r.Unicode = true
			return r
		}
		return numbered(i, fmt.Sprintf("Welcome %s (%06d), your balance is NGN %d. Visit us between 9:00 and 16:00.", n, i,
			pay))
	}},
	{"half share 2,000 texts", 1.04, 2000, 100, false, func(i, n int, rng *rand.Rand) plan.Row {
		if rng.IntN(2) == 0 {
			k := rng.IntN(2000)
			return numbered(i, words(rand.New(rand.NewPCG(uint64(k), 9)), 20+k%200))
		}
		return numbered(i, words(rng, 20+rng.IntN(280)))
	}},
	{"every text twice to thrice", 1.04, 2000, 100, false, func(i, n int, rng *rand.Rand) plan.Row {
		k := rng.IntN(n * 2 / 5)
		return numbered(i, words(rand.New(rand.NewPCG(uint64(k), 9)), 20+k%280))
	}},
	{"three rows a number", 1.04, 2000, 100, true, func(i, _ int, rng *rand.Rand) plan.Row {
		r := numbered(i/3, words(rng, 20+rng.IntN(280)))
		r.ID = int64(i)
		return r
	}},
}

// The goal: at most 1.04 times the lower bound.
func TestPlanIsNearTheLowerBound(t *testing.T) {
	const n = 20_000
	for _, m := range mixtures {
		rng := rand.New(rand.NewPCG(1, 1))
		rows := make([]plan.Row, n)
		for i := range rows {
			rows[i] = m.row(i, n, rng)
		}
		l := bounds{CallLimit: m.limit, URLBudget: m.budget, Overhead: 200}
		p, least := planOf(t, l, rows), newBound(l, rows).calls()
		if ratio := float64(p.Calls) / least; ratio > m.most || ratio < 1-1e-9 {
			t.Errorf("%s: %d calls %v, lower bound %.1f, ratio %.4f, want at most %.4f", m.name, p.Calls, p.ByKind, least, ratio,
				m.most)
		}
	}
}

// bound reckons a number of calls that no plan can go below. It weighs each
// pair such that no call of pairs can hold more than one in all; the weights
// of all rows, less what POST calls can take over, are then a bound, and the
// best of several weightings counts. The weightings are the bytes and the rows
// in all proportions, and the dual feasible functions of Fekete and Schepers.
type bound struct {
	l      bounds
	shares map[bool]map[string][]int // by alphabet and text: bytes of the pairs, 0: none
	often  map[string]int
}

func newBound(l bounds, rows []plan.Row) *bound {
	b := &bound{l, map[bool]map[string][]int{false: {}, true: {}}, map[string]int{}}
	for _, r := range rows {
		b.add(r)
	}
	return b
}

func (b *bound) add(r plan.Row) {
	n, _ := gateway.PairSize(r.Number, r.Text)
	b.shares[r.Unicode][r.Text] = append(b.shares[r.Unicode][r.Text], n)
	b.often[r.Number]++
}

func (b *bound) calls() float64 {
	most := 0
	for _, n := range b.often {
		most = max(most, n)
	}
	return max(b.alphabet(false)+b.alphabet(true), float64(most))
}

func (b *bound) alphabet(unicode bool) float64 {
	capacity := b.l.URLBudget - b.l.Overhead + 1
	if unicode {
		capacity++
	}
	singles, shares := map[int]float64{}, [][]int{}
	for _, sizes := range b.shares[unicode] {
		for i, n := range sizes {
			if n > capacity {
				sizes[i] = 0
			}
		}
		slices.Sort(sizes)
		if len(sizes) == 1 {
			singles[sizes[0]]++
		} else {
			shares = append(shares, sizes)
		}
	}
	best := 0.0
	for _, w := range b.weightings(capacity) {
		sum := 0.0
		for n, rows := range singles {
			if n == 0 {
				sum += rows
			} else {
				sum += rows * min(w(n), 1)
			}
		}
		for _, sizes := range shares {
			sum += b.share(sizes, w)
		}
		best = max(best, sum)
	}
	return math.Ceil(best - 1e-6)
}

// share is the least that a text of these pairs costs: POST calls for some of
// its rows, the weights of the lightest others.
func (b *bound) share(sizes []int, w func(int) float64) float64 {
	bound, _ := slices.BinarySearch(sizes, 1)
	sums := make([]float64, 1, len(sizes)-bound+1)
	for _, n := range sizes[bound:] {
		sums = append(sums, w(n)) // no weighting gives more bytes less weight
	}
	for i := 1; i < len(sums); i++ {
		sums[i] += sums[i-1]
	}
	limit := b.l.CallLimit
	least := float64(len(sizes))
	for posts := (bound + limit - 1) / limit; ; posts++ {
		left := min(max(len(sizes)-posts*limit, 0), len(sums)-1)
		least = min(least, float64(posts)+sums[left])
		if left == 0 {
			return least
		}
	}
}

func (b *bound) weightings(capacity int) (list []func(int) float64) {
	if capacity <= 0 {
		return []func(int) float64{func(int) float64 { return 1 }}
	}
	size := func(n int) float64 { return float64(n) / float64(capacity) }
	for i := range 21 {
		t := float64(i) / 20
		list = append(list, func(n int) float64 { return t*size(n) + (1-t)/float64(b.l.CallLimit) })
	}
	for k := 1; k <= 100; k++ {
		list = append(list, func(n int) float64 {
			if n*(k+1)%capacity == 0 {
				return size(n)
			}
			return float64(n*(k+1)/capacity) / float64(k)
		})
	}
	return list
}
