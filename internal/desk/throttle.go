package desk

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"
)

// The limits of signing in (OWASP ASVS 5.0, 6.1.1). There is no permanent
// lock, so nobody can lock a colleague out for longer than maxLock.
const (
	freeTries   = 5
	maxLock     = 15 * time.Minute
	addressRate = 20 // tries a minute from one network address
	forgetTries = 24 * time.Hour
	throttleCap = 20_000 // remembered addresses of each kind
)

// loginLimiter slows down guessing, by the person's email address and by the
// network address it comes from. Both count: rotating one of them must not help.
type loginLimiter struct {
	mu      sync.Mutex
	now     func() time.Time
	people  map[[32]byte]attempts
	sources map[netip.Prefix]window
	hashing hasher
}

type attempts struct {
	failed int
	last   time.Time
	until  time.Time // no try before this
}

type window struct {
	began time.Time
	count int
}

func newLoginLimiter(now func() time.Time) *loginLimiter {
	return &loginLimiter{now: now, people: map[[32]byte]attempts{}, sources: map[netip.Prefix]window{},
		hashing: newHasher()}
}

// reserve counts a try before the password is looked at, so that many at once
// get no more tries than one after another. left is how many stay after this
// one; ok is false when it must not be made. An ip that cannot be read is one
// address of its own.
func (t *loginLimiter) reserve(email, ip string) (left int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if !t.source(ip, now) {
		return 0, false
	}
	who := sha256.Sum256([]byte(email))
	p := t.people[who]
	if now.Before(p.until) {
		return 0, false
	}
	if now.Sub(p.last) > forgetTries {
		p = attempts{}
	}
	p.failed, p.last = p.failed+1, now
	if p.failed >= freeTries {
		p.until = now.Add(min(time.Second<<min(p.failed-freeTries+1, 20), maxLock))
	}
	if _, known := t.people[who]; !known && len(t.people) >= throttleCap {
		t.forgetOldest(now)
	}
	t.people[who] = p
	return max(freeTries-p.failed, 0), true
}

// reset forgets the failures of a person who has proved who they are.
func (t *loginLimiter) reset(email string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.people, sha256.Sum256([]byte(email)))
}

func (t *loginLimiter) source(ip string, now time.Time) bool {
	from := network(ip)
	m, known := t.sources[from]
	if now.Sub(m.began) >= time.Minute {
		m = window{began: now}
	}
	if m.count >= addressRate {
		return false
	}
	if !known && len(t.sources) >= throttleCap {
		for k, v := range t.sources {
			if now.Sub(v.began) >= time.Minute {
				delete(t.sources, k)
			}
		}
		if len(t.sources) >= throttleCap {
			return false
		}
	}
	m.count++
	t.sources[from] = m
	return true
}

// network is the address, or for IPv6 the /64 that one customer has.
func network(ip string) netip.Prefix {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return netip.Prefix{}
	}
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}

// forgetOldest makes room: first what is too old to count, then the person
// with the fewest failures, so that flooding with made-up addresses does not
// free one that is being attacked.
func (t *loginLimiter) forgetOldest(now time.Time) {
	var least [32]byte
	found := false
	for k, p := range t.people {
		if now.Sub(p.last) > forgetTries {
			delete(t.people, k)
			continue
		}
		if b := t.people[least]; !found || p.failed < b.failed || p.failed == b.failed && p.last.Before(b.last) {
			least, found = k, true
		}
	}
	if found && len(t.people) >= throttleCap {
		delete(t.people, least)
	}
}
