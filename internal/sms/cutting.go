package sms

import (
	"math"
	"slices"
	"sort"
)

// cutting packs rows by patterns: how many rows of each size class one call
// holds. Which patterns, and how often each, is the cutting-stock problem; its
// linear relaxation is solved by generating columns (Gilmore and Gomory, 1961)
// and rounded down. The rows that rounding leaves over get no call here.
type cutting struct {
	packing
	class  []int     // by size
	top    []int     // the greatest size of each class, ascending
	demand []float64 // rows of each class

	// As many patterns as classes, how often each is used, and the inverse of
	// the matrix that they form, a row of it for each pattern.
	patterns [][]int32
	times    []float64
	inverse  [][]float64
	worth    []float64 // what a row of each class costs now, in calls: the dual values
	bound    float64   // no packing has fewer calls; 0: not known
	work     int       // steps done

	// counted holds, by rows, what knapsack found; nil where calls cannot be
	// full by rows or where there is no time to weigh that.
	counted []knapsack
	free    knapsack // with any number of rows
}

const (
	// maxClasses bounds the tableau. Where more sizes occur, they are rounded
	// up to the top of their class.
	maxClasses = 96
	// minClasses is how many classes a search that counts rows is worth.
	minClasses = 16
	// maxWork is the steps after which the patterns found so far have to do,
	// about a second; maxSearch those of one search that counts rows.
	maxWork   = 3_000_000_000
	maxSearch = 6_000_000
	// goodRatio of lower bound to solution ends the search.
	goodRatio = 0.999
)

func newCutting(p packing) *cutting {
	c := &cutting{packing: p, free: newKnapsack(p.capacity)}
	rows := p.histogram()
	classes := maxClasses
	smallest := slices.IndexFunc(rows, func(n int) bool { return n > 0 })
	if p.capacity/smallest > p.limit && maxSearch/(p.limit*p.capacity) >= minClasses {
		classes = min(maxSearch/(p.limit*p.capacity), classes)
		for range p.limit + 1 {
			c.counted = append(c.counted, newKnapsack(p.capacity))
		}
	}
	c.classify(rows, classes)
	return c
}

// classify divides the sizes into at most that many classes such that rounding
// up costs about the same in each.
func (c *cutting) classify(rows []int, classes int) {
	bytes := 0
	for size, n := range rows {
		bytes += size * n
	}
	cost := sort.Search(bytes, func(cost int) bool { return len(tops(rows, cost)) <= classes })
	c.top = tops(rows, cost)
	slices.Reverse(c.top)
	c.class = make([]int, len(rows))
	c.demand = make([]float64, len(c.top))
	k := 0
	for size, n := range rows {
		c.class[size] = min(k, len(c.top)-1)
		c.demand[c.class[size]] += float64(n)
		if k < len(c.top) && size == c.top[k] {
			k++
		}
	}
}

// tops lists the greatest sizes of classes, descending, when rounding up may
// cost each class that many bytes.
func tops(rows []int, cost int) (list []int) {
	spent := 0
	for size := len(rows) - 1; size > 0; size-- {
		if rows[size] == 0 {
			continue
		}
		if len(list) > 0 {
			spent += rows[size] * (list[len(list)-1] - size)
		}
		if len(list) == 0 || spent > cost {
			list, spent = append(list, size), 0
		}
	}
	return list
}

// cut returns the call of each row counted from 1, 0 for rows without one, and
// the number of calls.
func (c *cutting) cut() (call []int32, calls int) {
	c.solve()
	uses, total := make([]int, len(c.patterns)), 0
	for i, t := range c.times {
		uses[i] = int(t + 1e-6)
		total += uses[i]
	}
	call = make([]int32, len(c.size))
	hidden := c.unseen()
	line := newQueues(len(c.top), len(c.size))
	for i, s := range c.size {
		if !hidden[i] {
			line.append(c.class[s], int32(i))
		}
	}
	// The patterns take turns in proportion, so that rows of all sizes are
	// used up alike and calls stay near the order of the rows.
	credit := make([]int, len(uses))
	var taken []int32
	for range total {
		next := 0
		for i := range credit {
			credit[i] += uses[i]
			if credit[i] > credit[next] {
				next = i
			}
		}
		credit[next] -= total
		taken = taken[:0]
		for k, n := range c.patterns[next] {
			for ; n > 0; n-- {
				if row := line.pop(k); row >= 0 {
					taken = append(taken, row)
				}
			}
		}
		if len(taken) > 0 {
			calls++
		}
		for _, row := range taken {
			call[row] = int32(calls)
			if c.twin != nil && c.twin[row] > 0 {
				line.prepend(c.class[c.size[c.twin[row]]], c.twin[row])
			}
		}
	}
	return call, calls
}

// solve finds the patterns and how often each is used.
func (c *cutting) solve() {
	c.begin()
	bound := 0.0
	defer func() {
		// Rounded sizes fill more calls than the true ones have to.
		if len(c.top) == c.sizes() {
			c.bound = bound
		}
	}()
	for c.work < maxWork {
		c.value()
		total, price := 0.0, 0.0
		for i := range c.times {
			total += c.times[i]
			price += max(c.worth[i], 0) * c.demand[i]
		}
		pattern, worth := c.search()
		if pattern == nil {
			return
		}
		bound = max(bound, price/worth)
		if worth <= 1+1e-6 || bound >= goodRatio*total || bound >= total-0.5 || !c.enter(pattern) {
			return
		}
	}
}

// begin sets a pattern of one class for each.
func (c *cutting) begin() {
	n := len(c.top)
	c.patterns, c.inverse = make([][]int32, n), make([][]float64, n)
	c.times, c.worth = make([]float64, n), make([]float64, n)
	for i := range n {
		k := min(c.capacity/c.top[i], c.limit)
		c.patterns[i], c.inverse[i] = make([]int32, n), make([]float64, n)
		c.patterns[i][i] = int32(k)
		c.inverse[i][i] = 1 / float64(k)
		c.times[i] = c.demand[i] / float64(k)
	}
}

func (c *cutting) value() {
	clear(c.worth)
	for _, row := range c.inverse {
		for j, v := range row {
			c.worth[j] += v
		}
	}
	c.work += len(c.worth) * len(c.worth)
}

// search finds the pattern whose rows are worth most; nil where it would have
// to count rows and cannot.
func (c *cutting) search() (pattern []int32, worth float64) {
	c.work += c.capacity * len(c.top)
	clear(c.free.worth)
	c.free.fill(c.free, c.top, c.worth)
	pattern = make([]int32, len(c.top))
	rows, room := 0, c.capacity
	for room > 0 && c.free.last[room] >= 0 {
		k := c.free.last[room]
		pattern[k]++
		rows++
		room -= c.top[k]
	}
	if rows <= c.limit {
		return pattern, c.free.worth[c.capacity]
	}
	if c.counted == nil {
		return nil, 0
	}
	c.work += c.limit * c.capacity * len(c.top)
	clear(pattern)
	for n := 1; n <= c.limit; n++ {
		copy(c.counted[n].worth, c.counted[n-1].worth)
		c.counted[n].fill(c.counted[n-1], c.top, c.worth)
	}
	room = c.capacity
	for n := c.limit; n > 0; n-- {
		if k := c.counted[n].last[room]; k >= 0 {
			pattern[k]++
			room -= c.top[k]
		}
	}
	return pattern, c.counted[c.limit].worth[c.capacity]
}

// enter replaces a pattern of the tableau by one that saves calls: the first
// one that its use drives out.
func (c *cutting) enter(pattern []int32) bool {
	n := len(c.top)
	column := make([]float64, n)
	out, times := -1, math.Inf(1)
	for i, row := range c.inverse {
		for j, k := range pattern {
			if k > 0 {
				column[i] += row[j] * float64(k)
			}
		}
		if column[i] > 1e-9 && c.times[i]/column[i] < times {
			out, times = i, c.times[i]/column[i]
		}
	}
	if out < 0 {
		return false
	}
	pivot := c.inverse[out]
	for j := range pivot {
		pivot[j] /= column[out]
	}
	for i, row := range c.inverse {
		if i == out || column[i] == 0 {
			continue
		}
		for j, v := range pivot {
			row[j] -= column[i] * v
		}
		c.times[i] = max(c.times[i]-column[i]*times, 0)
	}
	c.patterns[out], c.times[out] = pattern, times
	c.work += 2 * n * n
	return true
}

// knapsack is, for each number of bytes, the greatest worth of rows that fit
// into them and the class of the row that was added last, -1 for none.
type knapsack struct {
	worth []float64
	last  []int16
}

func newKnapsack(capacity int) knapsack {
	return knapsack{make([]float64, capacity+1), make([]int16, capacity+1)}
}

// fill adds one row to what stands in base; any number of rows where base is k
// itself.
func (k knapsack) fill(base knapsack, sizes []int, worth []float64) {
	for i := range k.last {
		k.last[i] = -1
	}
	for class, size := range sizes {
		if worth[class] <= 0 {
			continue
		}
		to, last := k.worth[size:], k.last[size:]
		from := base.worth[:len(to)]
		for i, w := range from {
			if w += worth[class]; w > to[i] {
				to[i], last[i] = w, int16(class)
			}
		}
	}
}
