package storage

import "sync"

// lineQueue appends lines of many goroutines in the order in which they were put
// in. Whoever waits first writes what all have put in by then, with one sync.
type lineQueue struct {
	write func(lines []byte) error

	mu      sync.Mutex
	turn    sync.Mutex // held by the one who writes
	lines   []byte
	waiting *lineBatch
}

// lineBatch is what will be written together.
type lineBatch struct {
	done bool
	err  error
}

// newQueue returns a lineQueue; write appends whole lines, such as Log.Append.
func newQueue(write func(lines []byte) error) *lineQueue { return &lineQueue{write: write} }

// lineTicket stands for a line that was put in.
type lineTicket struct {
	queue *lineQueue
	batch *lineBatch
}

// Put puts lines in and returns at once. Lines are written in the order of the
// calls.
func (q *lineQueue) Put(lines []byte) lineTicket {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = &lineBatch{}
	}
	q.lines = append(q.lines, lines...)
	return lineTicket{q, q.waiting}
}

// Wait returns once the line is synced; the error is that of its lineBatch. A
// ticket may be waited for once.
func (t lineTicket) Wait() error {
	q := t.queue
	q.turn.Lock()
	defer q.turn.Unlock()
	if t.batch.done {
		return t.batch.err
	}
	q.mu.Lock()
	lines, b := q.lines, q.waiting
	q.lines, q.waiting = nil, nil
	q.mu.Unlock()
	b.err = q.write(lines)
	b.done = true
	return b.err
}
