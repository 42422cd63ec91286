package desk

import "sync"

// Feed tells live pages that something changed. It carries names, never data
// ("campaign:42"), so a lost notice costs nothing: the page asks again.
type Feed struct {
	mu        sync.Mutex
	listeners map[*Listener]struct{}
}

// NewFeed returns a feed that nobody listens to.
func NewFeed() *Feed { return &Feed{listeners: map[*Listener]struct{}{}} }

// Listener holds a set of dirty names and one slot: telling never blocks, and
// a thousand changes are one nudge.
type Listener struct {
	feed  *Feed
	names map[string]bool // wanted
	dirty map[string]bool
	nudge chan struct{}
}

// Listen hears of the given names until Close.
func (f *Feed) Listen(names ...string) *Listener {
	l := &Listener{feed: f, names: map[string]bool{}, dirty: map[string]bool{}, nudge: make(chan struct{}, 1)}
	for _, n := range names {
		l.names[n] = true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners[l] = struct{}{}
	return l
}

// Tell says that these things changed. Call it after the commit, never before.
func (f *Feed) Tell(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.listeners {
		told := false
		for _, n := range names {
			if l.names[n] {
				l.dirty[n], told = true, true
			}
		}
		if !told {
			continue
		}
		select {
		case l.nudge <- struct{}{}:
		default:
		}
	}
}

// Nudged is ready when Take has something to give.
func (l *Listener) Nudged() <-chan struct{} { return l.nudge }

// Take returns the names that changed since the last Take.
func (l *Listener) Take() []string {
	l.feed.mu.Lock()
	defer l.feed.mu.Unlock()
	names := make([]string, 0, len(l.dirty))
	for n := range l.dirty {
		names = append(names, n)
		delete(l.dirty, n)
	}
	return names
}

// Close stops listening.
func (l *Listener) Close() {
	l.feed.mu.Lock()
	defer l.feed.mu.Unlock()
	delete(l.feed.listeners, l)
}
