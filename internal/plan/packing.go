package plan

import "math"

// packing puts rows of given sizes into as few calls as it can find, each of
// at most capacity bytes and limit rows. The twin of a row is the next one of
// the same number (0: none); it stays out of sight until the call of the row
// before it is closed, so no call can hold a number twice.
type packing struct {
	size            []int32 // at most capacity each
	twin            []int32 // nil: no number stands twice
	capacity, limit int
}

// pack returns the call of each row and the number of calls.
func (p packing) pack() (call []int32, calls int) { return newFilling(p).fill() }

// queues holds the visible rows by a key, first in first out.
type queues struct {
	head, tail []int32 // by key; a row and one, 0: none
	next       []int32 // by row, likewise
}

func newQueues(keys, rows int) queues {
	return queues{make([]int32, keys), make([]int32, keys), make([]int32, rows)}
}

func (q queues) append(key int, row int32) {
	if q.head[key] == 0 {
		q.head[key] = row + 1
	} else {
		q.next[q.tail[key]-1] = row + 1
	}
	q.tail[key] = row + 1
}

func (q queues) prepend(key int, row int32) {
	q.next[row] = q.head[key]
	if q.head[key] == 0 {
		q.tail[key] = row + 1
	}
	q.head[key] = row + 1
}

// pop takes the first row of the key, -1: there is none.
func (q queues) pop(key int) int32 {
	row := q.head[key] - 1
	if row >= 0 {
		q.head[key] = q.next[row]
	}
	return row
}

// filling packs rows one call after another: it takes rows in their order, out
// of a small window, such that what is left of the call can be expected to be
// filled by rows like those that are left, and ends with the two rows that
// fill it best.
type filling struct {
	packing
	call    []int32 // a call and one, 0: none yet
	calls   int
	hidden  []bool
	bySize  queues
	visible []int // by size
	low     int   // no visible size is below
	high    int   // nor above
	window  []int32
	cursor  int // the first row that never was in the window

	left    int // rows without a call, and sums of their sizes
	sum, sq float64

	mean, spread, reach float64 // set once a call
}

// windowRows is how many rows in order are looked at for the next one.
const windowRows = 32

// lastRows is the room, in rows of mean size, from which on a call is ended by
// looking for rows of the right sizes.
const lastRows = 2.5

func newFilling(p packing) *filling {
	f := &filling{packing: p, call: make([]int32, len(p.size)), hidden: make([]bool, len(p.size)),
		bySize: newQueues(p.capacity+1, len(p.size)), visible: make([]int, p.capacity+1), low: p.capacity}
	for _, t := range p.twin {
		if t > 0 {
			f.hidden[t] = true
		}
	}
	for i, s := range p.size {
		f.left++
		f.sum += float64(s)
		f.sq += float64(s) * float64(s)
		if !f.hidden[i] {
			f.show(int32(i))
			f.bySize.append(int(s), int32(i))
		}
	}
	return f
}

// show counts a row as visible.
func (f *filling) show(row int32) {
	s := int(f.size[row])
	f.visible[s]++
	f.low, f.high = min(f.low, s), max(f.high, s)
}

// fill gives every row its call, numbered from 0.
func (f *filling) fill() ([]int32, int) {
	var taken []int32
	for f.left > 0 {
		f.calls++
		f.mean = f.sum / float64(f.left)
		f.spread = math.Sqrt(max(f.sq/float64(f.left)-f.mean*f.mean, 0))
		f.reach = max(f.mean, float64(f.capacity)/float64(f.limit))
		taken = f.fillOne(taken[:0])
		for _, row := range taken {
			f.reveal(row)
		}
	}
	for i := range f.call {
		f.call[i]--
	}
	return f.call, f.calls
}

func (f *filling) fillOne(taken []int32) []int32 {
	room, rows := f.capacity, f.limit
	take := func(row int32) {
		s := int(f.size[row])
		f.call[row] = int32(f.calls)
		f.visible[s]--
		f.left--
		f.sum -= float64(s)
		f.sq -= float64(s) * float64(s)
		room -= s
		rows--
		taken = append(taken, row)
	}
	for rows > 0 {
		f.narrow()
		if room < f.low || f.low > f.high {
			break
		}
		if rows > 2 && float64(room) >= lastRows*f.mean {
			if row := f.choose(room, rows); row >= 0 {
				take(row)
				continue
			}
		}
		a, b := f.lastTwo(room, rows)
		take(f.popSize(a))
		if b > 0 {
			take(f.popSize(b))
		}
	}
	return taken
}

// narrow brings the bounds to sizes that are visible.
func (f *filling) narrow() {
	for f.low <= f.high && f.visible[f.low] == 0 {
		f.low++
	}
	for f.high >= f.low && f.visible[f.high] == 0 {
		f.high--
	}
}

// choose takes the first row of the window after which the room that is left
// suits a whole number of rows of the mean size, within what chance would make
// of them; when there is none, the row that comes nearest. -1: no row fits.
func (f *filling) choose(room, rows int) int32 {
	f.refill()
	best, nearest := -1, math.Inf(1)
	for i, row := range f.window {
		if i >= windowRows {
			break
		}
		s := int(f.size[row])
		if s > room {
			continue
		}
		if miss := f.miss(float64(room-s), float64(rows-1)); miss < nearest {
			best, nearest = i, miss
			if miss <= 0 {
				break
			}
		}
	}
	if best < 0 {
		return -1
	}
	row := f.window[best]
	f.window = append(f.window[:best], f.window[best+1:]...)
	return row
}

// miss is by how many bytes too few or too many are left for the rows that the
// call can still take; not above 0: it is well.
func (f *filling) miss(room, rows float64) float64 {
	k := max(math.Round(room/f.mean), 1)
	most := f.mean
	if k >= rows {
		k, most = rows, f.reach
	}
	chance := f.spread * math.Sqrt(k)
	return max(k*f.mean-chance-room, room-k*most-chance)
}

// refill drops the rows that were taken by size from the window and moves the
// cursor on until it is full.
func (f *filling) refill() {
	kept := f.window[:0]
	for _, row := range f.window {
		if f.call[row] == 0 {
			kept = append(kept, row)
		}
	}
	f.window = kept
	for len(f.window) < windowRows && f.cursor < len(f.size) {
		if f.call[f.cursor] == 0 && !f.hidden[f.cursor] {
			f.window = append(f.window, int32(f.cursor))
		}
		f.cursor++
	}
}

// lastTwo finds the one or two visible sizes that fill the room best; among
// equals those of which most are left. b is 0 where one alone does.
func (f *filling) lastTwo(room, rows int) (a, b int) {
	best, most := 0, 0
	for i, j := f.low, f.high; rows >= 2 && i <= j; {
		switch {
		case f.visible[i] == 0:
			i++
		case f.visible[j] == 0 || i+j > room || i == j && f.visible[i] < 2:
			j--
		default:
			if n := min(f.visible[i], f.visible[j]); i+j > best || i+j == best && n > most {
				a, b, best, most = j, i, i+j, n
			}
			i++
		}
	}
	for s := min(room, f.high); s > best && s >= f.low; s-- {
		if f.visible[s] > 0 {
			return s, 0
		}
	}
	return a, b
}

// popSize takes the first visible row of a size that has one.
func (f *filling) popSize(size int) int32 {
	row := f.bySize.pop(size)
	for f.call[row] > 0 {
		row = f.bySize.pop(size)
	}
	return row
}

// reveal shows the twin of a row whose call is closed.
func (f *filling) reveal(row int32) {
	if f.twin == nil || f.twin[row] == 0 {
		return
	}
	twin := f.twin[row]
	f.hidden[twin] = false
	f.show(twin)
	f.bySize.prepend(int(f.size[twin]), twin)
	if int(twin) < f.cursor {
		f.window = append(f.window, 0)
		copy(f.window[1:], f.window)
		f.window[0] = twin
	}
}
