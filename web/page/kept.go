package page

import (
	"context"
	"crypto/sha256"
	"strconv"
	"sync"
	"time"

	"smsdesk/internal/desk"
)

const searchLife = 12 * time.Hour

// KeepSearch keeps what a person looks for and returns the word that stands
// for it in addresses: a phone number stands in none, because addresses end up
// in histories and logs. The word is worth nothing to anybody else.
func (s *Site) KeepSearch(v *Visit, typed string) string {
	if typed == "" {
		return ""
	}
	word := desk.NewToken()[:32]
	s.searches.Put(searchKey(v, word), typed, s.Now())
	return word
}

// Search is what stands behind a word; ok is false once it is forgotten.
func (s *Site) Search(v *Visit, word string) (typed string, ok bool) {
	if word == "" {
		return "", true
	}
	typed = s.searches.look(searchKey(v, word), s.Now())
	return typed, typed != ""
}

func searchKey(v *Visit, word string) string {
	return strconv.FormatInt(v.User.ID, 10) + " " + word
}

// oneTimeValues hold what a browser is shown exactly once after a form, such as an
// invitation's address, or a message while another page is on the way: they are
// stored nowhere else, and an address that is loaded again must not make
// another.
type oneTimeValues struct {
	life time.Duration
	mu   sync.Mutex
	held map[[32]byte]slip
}

type slip struct {
	text  string
	until time.Time
}

const slipsCap = 1000

func newSlips(life time.Duration) *oneTimeValues {
	return &oneTimeValues{life: life, held: map[[32]byte]slip{}}
}

// Put keeps a text for whoever knows the secret.
func (s *oneTimeValues) Put(secret, text string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, held := range s.held {
		if len(s.held) >= slipsCap || !now.Before(held.until) {
			delete(s.held, k)
		}
	}
	s.held[sha256.Sum256([]byte(secret))] = slip{text, now.Add(s.life)}
}

// look reads a slip and leaves it where it is.
func (s *oneTimeValues) look(secret string, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[sha256.Sum256([]byte(secret))]
	if !now.Before(held.until) {
		return ""
	}
	return held.text
}

// Take reads a slip and forgets it.
func (s *oneTimeValues) Take(secret string, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(secret))
	held := s.held[key]
	delete(s.held, key)
	if !now.Before(held.until) {
		return ""
	}
	return held.text
}

// Seats are places for a few at once.
type Seats chan struct{}

func (s Seats) Enter(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s Seats) Leave() { <-s }
