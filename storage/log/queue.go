package log

import "sync"

// Queue appends lines of many goroutines in the order in which they were put
// in. Whoever waits first writes what all have put in by then, with one sync.
type Queue struct {
	write func(lines []byte) error

	mu      sync.Mutex
	turn    sync.Mutex // held by the one who writes
	lines   []byte
	waiting *batch
}

// batch is what will be written together.
type batch struct {
	done bool
	err  error
}

// NewQueue returns a Queue; write appends whole lines, such as Log.Append.
func NewQueue(write func(lines []byte) error) *Queue { return &Queue{write: write} }

// Ticket stands for a line that was put in.
type Ticket struct {
	queue *Queue
	batch *batch
}

// Put puts lines in and returns at once. Lines are written in the order of the
// calls.
func (q *Queue) Put(lines []byte) Ticket {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = &batch{}
	}
	q.lines = append(q.lines, lines...)
	return Ticket{q, q.waiting}
}

// Wait returns once the line is synced; the error is that of its batch. A
// ticket may be waited for once.
func (t Ticket) Wait() error {
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
