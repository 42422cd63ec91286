// Package feed tells whoever listens that something changed: names, never data,
// so that a lost notice costs nothing. Beside it stands the line that the audit
// log keeps of what was done. It must never know who listens, nor why.
package feed

import "sync"

// Feed tells live pages that something changed. It carries names, never data
// ("campaign:42"), so a lost notice costs nothing: the page asks again.
type Feed struct {
	mu        sync.Mutex
	listeners map[string]map[*Listener]struct{} // by name
}

// New returns a feed that nobody listens to.
func New() *Feed { return &Feed{listeners: map[string]map[*Listener]struct{}{}} }

// Listener holds a set of dirty names and one slot: telling never blocks, and
// a thousand changes are one nudge.
type Listener struct {
	feed  *Feed
	names []string // wanted
	dirty map[string]bool
	nudge chan struct{}
}

// Subscribe hears of the given names until Close.
func (f *Feed) Subscribe(names ...string) *Listener {
	l := &Listener{feed: f, names: names, dirty: map[string]bool{}, nudge: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range names {
		if f.listeners[n] == nil {
			f.listeners[n] = map[*Listener]struct{}{}
		}
		f.listeners[n][l] = struct{}{}
	}
	return l
}

// Publish says that these things changed. Call it after the commit, never before.
// It costs as much as there are names and listeners to them: a batch of reports
// names a thousand messages at which nobody looks.
func (f *Feed) Publish(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range names {
		for l := range f.listeners[n] {
			l.dirty[n] = true
			select {
			case l.nudge <- struct{}{}:
			default:
			}
		}
	}
}

// C is ready when Take has something to give.
func (l *Listener) C() <-chan struct{} { return l.nudge }

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
	for _, n := range l.names {
		delete(l.feed.listeners[n], l)
		if len(l.feed.listeners[n]) == 0 {
			delete(l.feed.listeners, n)
		}
	}
}
