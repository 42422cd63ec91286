package plan

import (
	"slices"

	"smsdesk/internal/sms"
)

// division is a plan in the making. What one text has in common goes by POST
// /SendSMS where that costs fewer calls than its share of the URLs that it
// would fill as pairs; the rest is packed into URLs.
type division struct {
	limits  Limits
	rows    []row
	again   map[uint64]bool // numbers of more than one row
	unicode []bool          // by text
	text    []int32         // of each group
	start   []int32         // where each group's rows begin in order; one more at the end
	order   []int32
	assign  []int32
	calls   int32
}

func newDivision(l Limits, rows []row, unicode []bool) *division {
	d := &division{limits: l, rows: rows, again: repeated(rows), unicode: unicode, assign: make([]int32, len(rows))}
	for i := range d.assign {
		d.assign[i] = -1
	}
	d.group()
	return d
}

// group sorts the rows into groups of one text in which no number stands
// twice: a text's second row for a number opens a group of its own.
func (d *division) group() {
	d.text = make([]int32, len(d.unicode))
	for i := range d.text {
		d.text[i] = int32(i)
	}
	type pair struct {
		number uint64
		text   int32
	}
	type nth struct{ text, n int32 }
	met, further := map[pair]int32{}, map[nth]int32{}
	of := make([]int32, len(d.rows))
	for i, r := range d.rows {
		of[i] = r.text
		if !d.again[r.number] {
			continue
		}
		k := pair{r.number, r.text}
		if n := met[k]; n > 0 {
			g, ok := further[nth{r.text, n}]
			if !ok {
				g = int32(len(d.text))
				further[nth{r.text, n}] = g
				d.text = append(d.text, r.text)
			}
			of[i] = g
		}
		met[k]++
	}
	d.start = make([]int32, len(d.text)+1)
	for _, g := range of {
		d.start[g]++
	}
	end := int32(0)
	for g, n := range d.start {
		end += n
		d.start[g] = end
	}
	d.order = make([]int32, len(d.rows))
	for i, g := range slices.Backward(of) {
		d.start[g]--
		d.order[d.start[g]] = int32(i)
	}
}

// fits says that a row can go as a pair in a call of that capacity.
func (r row) fits(capacity int) bool { return r.size > 0 && int(r.size) <= capacity }

// divide assigns the rows, those of each alphabet apart. The groups are not
// needed any more once it is known what is posted.
func (d *division) divide() {
	for _, unicode := range []bool{false, true} {
		capacity := d.limits.capacity(unicode)
		shares, singles := d.shares(unicode, capacity)
		choosePosts(shares, singles, capacity, d.limits.CallLimit)
		for _, s := range shares {
			d.post(s, capacity)
		}
	}
	d.text, d.start, d.order = nil, nil, nil
	for _, unicode := range []bool{false, true} {
		d.pack(d.left(unicode), d.limits.capacity(unicode))
	}
}

// left are the rows of one alphabet that go as pairs.
func (d *division) left(unicode bool) []int32 {
	is := func(i int, r row) bool { return d.assign[i] < 0 && d.unicode[r.text] == unicode }
	n := 0
	for i, r := range d.rows {
		if is(i, r) {
			n++
		}
	}
	list := make([]int32, 0, n)
	for i, r := range d.rows {
		if is(i, r) {
			list = append(list, int32(i))
		}
	}
	return list
}

// shares lists the groups of one alphabet for which POST is a question, and
// the sum of all others, whose rows go as pairs.
func (d *division) shares(unicode bool, capacity int) (list []share, singles load) {
	for g, text := range d.text {
		if d.unicode[text] != unicode {
			continue
		}
		s := share{group: int32(g)}
		for _, i := range d.order[d.start[g]:d.start[g+1]] {
			s.rows++
			if r := d.rows[i]; r.fits(capacity) {
				s.bytes += int(r.size)
			} else {
				s.bound++
			}
		}
		if s.rows == 1 && s.bound == 0 {
			singles.rows++
			singles.bytes += s.bytes
		} else {
			list = append(list, s)
		}
	}
	return list, singles
}

// post makes a group's POST calls: first of what cannot go as pairs, then of
// the rest in order.
func (d *division) post(s share, capacity int) {
	rows := d.order[d.start[s.group]:d.start[s.group+1]]
	room := min(s.posts*d.limits.CallLimit, len(rows))
	bound := 0
	for _, i := range rows {
		if !d.rows[i].fits(capacity) {
			d.assign[i] = d.calls + int32(bound/d.limits.CallLimit)
			bound++
		}
	}
	for _, i := range rows {
		if bound == room {
			break
		}
		if d.assign[i] < 0 {
			d.assign[i] = d.calls + int32(bound/d.limits.CallLimit)
			bound++
		}
	}
	d.calls += int32(s.posts)
}

// pack makes calls of pairs of the rows.
func (d *division) pack(rows []int32, capacity int) {
	if len(rows) == 0 {
		return
	}
	p := packing{size: make([]int32, len(rows)), capacity: capacity, limit: d.limits.CallLimit}
	last := map[uint64]int{}
	for k, i := range rows {
		p.size[k] = d.rows[i].size
		number := d.rows[i].number
		if !d.again[number] {
			continue
		}
		if p.twin == nil {
			p.twin = make([]int32, len(rows))
		}
		if before, ok := last[number]; ok {
			p.twin[before] = int32(k)
		}
		last[number] = k
	}
	call, calls := p.pack()
	for k, i := range rows {
		d.assign[i] = d.calls + call[k]
	}
	d.calls += int32(calls)
}

// plan numbers the calls by their first rows and tells their kinds.
func (d *division) plan() Plan {
	p := Plan{Assign: d.assign, ByKind: map[sms.CallKind]int{}, pairs: make([]bool, d.calls)}
	number := make([]int32, d.calls)
	var text []int32
	for i, r := range d.rows {
		c := d.assign[i]
		if number[c] == 0 {
			text = append(text, r.text)
			number[c] = int32(len(text))
		}
		c = number[c] - 1
		p.Assign[i] = c
		p.pairs[c] = p.pairs[c] || text[c] != r.text
	}
	p.Calls = len(text)
	for _, pairs := range p.pairs {
		if pairs {
			p.ByKind[sms.CallPairs]++
		} else {
			p.ByKind[sms.CallText]++
		}
	}
	return p
}

// load is how much a number of rows would fill of calls of pairs.
type load struct{ rows, bytes int }

// share is what the rows of one group ask for.
type share struct {
	group       int32
	rows, bound int // all; those that cannot go as pairs
	bytes       int // of the others
	posts       int // POST calls
}

// asPairs is what remains for calls of pairs beside that many POST calls.
func (s share) asPairs(posts, limit int) load {
	n := max(s.rows-max(posts*limit, s.bound), 0)
	if n == 0 {
		return load{}
	}
	return load{n, s.bytes * n / (s.rows - s.bound)}
}

// price says what a byte and a row cost in calls of pairs, in calls.
type price struct{ byte, row float64 }

// enough guards the comparison of a sum of fractions with one whole call.
const enough = 1 - 1e-9

// best is the number of POST calls that costs least at the price: a POST call
// pays when the pairs that it replaces would have cost a call or more.
func (s share) best(p price, limit int) int {
	posts := (s.bound + limit - 1) / limit
	if s.rows == s.bound {
		return posts
	}
	one := p.byte*float64(s.bytes)/float64(s.rows-s.bound) + p.row
	if one*float64(limit) < enough {
		return posts
	}
	whole, rest := s.rows/limit, s.rows%limit
	if one*float64(rest) >= enough {
		whole++
	}
	return max(posts, whole)
}

// choosePosts sets how many POST calls each share makes. A call of pairs is
// full by its bytes or by its rows; whichever runs out first over all calls
// sets the price. Where both do, the price lies between, and the shares for
// which it makes no difference are used to fill both alike.
func choosePosts(shares []share, singles load, capacity, limit int) {
	bytes, rows := float64(max(capacity, 1)), float64(limit)
	at := func(t float64) price { return price{t / bytes, (1 - t) / rows} }
	excess := func(l load) float64 { return float64(l.bytes)/bytes - float64(l.rows)/rows }
	total := func(t float64) load {
		sum := singles
		for _, s := range shares {
			l := s.asPairs(s.best(at(t), limit), limit)
			sum.rows += l.rows
			sum.bytes += l.bytes
		}
		return sum
	}
	low, high := 0.0, 1.0
	if excess(total(high)) >= 0 {
		low = high
	} else if excess(total(low)) <= 0 {
		high = low
	}
	for range 30 {
		if low == high {
			break
		}
		if t := (low + high) / 2; excess(total(t)) > 0 {
			low = t
		} else {
			high = t
		}
	}
	sum := total(low)
	for i := range shares {
		s := &shares[i]
		s.posts = s.best(at(low), limit)
		if other := s.best(at(high), limit); other != s.posts && excess(sum) > 0 {
			was, is := s.asPairs(s.posts, limit), s.asPairs(other, limit)
			sum.rows += is.rows - was.rows
			sum.bytes += is.bytes - was.bytes
			s.posts = other
		}
	}
}
