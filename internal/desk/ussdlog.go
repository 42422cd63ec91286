package desk

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

const (
	saidEach    = 200 * time.Millisecond // what nobody waits for is stored so often
	saidMost    = 20_000                 // steps that wait for the database; above, the oldest are given up
	menusEach   = time.Second
	sweepEach   = 5 * time.Second
	forgetEach  = 10 * time.Minute
	endedRemain = ussd.SameMost + 1000
)

// said gathers what sessions leave behind, so that a moment's sessions are one
// transaction.
type said struct {
	mu       sync.Mutex
	sessions map[int64]ussd.Session
	rest     ussd.Batch
	waiting  []chan error
	wake     chan struct{}
	lost     int64
}

func newSaid() *said { return &said{sessions: map[int64]ussd.Session{}, wake: make(chan struct{}, 1)} }

// later adds to what is stored at the next occasion.
func (s *said) later(b ussd.Batch) { s.add(b, nil) }

// put adds, and where wait is set returns once it is stored for good.
func (s *said) put(ctx context.Context, b ussd.Batch, wait bool) error {
	if !wait {
		s.later(b)
		return nil
	}
	done := make(chan error, 1)
	s.add(b, done)
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *said) add(b ussd.Batch, done chan error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range b.Sessions {
		if old, ok := s.sessions[x.ID]; ok { // its begin is not stored yet
			x.Status, x.Body, x.USSDID = old.Status, old.Body, old.USSDID
		}
		s.sessions[x.ID] = x
	}
	s.rest.Saved, s.rest.Joined = append(s.rest.Saved, b.Saved...), append(s.rest.Joined, b.Joined...)
	s.rest.Steps = append(s.rest.Steps, b.Steps...)
	if over := len(s.rest.Steps) - saidMost; over > 0 {
		s.rest.Steps, s.lost = append(s.rest.Steps[:0], s.rest.Steps[over:]...), s.lost+int64(over)
	}
	if done != nil {
		s.waiting = append(s.waiting, done)
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// again takes back what could not be stored; what came since is newer.
func (s *said) again(b ussd.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range b.Sessions {
		if newer, ok := s.sessions[x.ID]; ok {
			newer.Status, newer.Body, newer.USSDID = x.Status, x.Body, x.USSDID
			x = newer
		}
		s.sessions[x.ID] = x
	}
	s.rest.Steps = append(b.Steps, s.rest.Steps...)
	s.rest.Saved, s.rest.Joined = append(b.Saved, s.rest.Saved...), append(b.Joined, s.rest.Joined...)
}

func (s *said) take() (b ussd.Batch, waiting []chan error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, waiting = s.rest, s.waiting
	for _, x := range s.sessions {
		b.Sessions = append(b.Sessions, x)
	}
	s.rest, s.waiting, s.sessions = ussd.Batch{}, nil, map[int64]ussd.Session{}
	return b, waiting
}

// Prepare reads the menus and closes what an earlier process left open. It
// comes before the first answer.
func (s *Sessions) Prepare(ctx context.Context) error {
	if err := s.readMenus(ctx); err != nil {
		return err
	}
	for id := range s.known.Load().accounts {
		if err := s.store.EndOpenUSSDSessions(ctx, id, ussd.EndedByRestart); err != nil {
			return err
		}
	}
	return nil
}

// Store stores what was said until ctx ends; Drain stores the rest.
func (s *Sessions) Store(ctx context.Context) {
	for pause(ctx, saidEach, s.said.wake) {
		s.write(ctx)
	}
}

// Run keeps the menus current and forgets phones that are silent, until ctx
// ends.
func (s *Sessions) Run(ctx context.Context) {
	news := s.feed.Listen(MenusName, AccountName(0))
	defer news.Close()
	menus, sweep, forget := time.NewTicker(menusEach), time.NewTicker(sweepEach), time.NewTicker(forgetEach)
	defer menus.Stop()
	defer sweep.Stop()
	defer forget.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-news.Nudged():
			news.Take()
			s.renew(ctx)
		case <-menus.C:
			s.renew(ctx)
		case <-sweep.C:
			s.sweep(s.now().UnixMilli())
		case <-forget.C:
			s.forget(ctx)
		}
	}
}

// Drain stores what is left to store.
func (s *Sessions) Drain(ctx context.Context) error {
	b, waiting := s.said.take()
	return s.keep(ctx, b, waiting)
}

func (s *Sessions) write(ctx context.Context) {
	b, waiting := s.said.take()
	if err := s.keep(ctx, b, waiting); err != nil && ctx.Err() == nil {
		s.log.Error("USSD sessions not stored", "error", err)
		// Whoever waited has been told; the rest is tried again.
		s.said.again(b)
	}
}

func (s *Sessions) keep(ctx context.Context, b ussd.Batch, waiting []chan error) error {
	if b.Empty() {
		return nil
	}
	err := s.store.PutUSSDSessions(ctx, b)
	for _, w := range waiting {
		w <- err
	}
	told := map[string]bool{}
	for _, x := range b.Sessions {
		if name := USSDName(x.AccountID); !told[name] {
			told[name] = true
			s.feed.Tell(name)
		}
	}
	return err
}

func (s *Sessions) renew(ctx context.Context) {
	if err := s.readMenus(ctx); err != nil && ctx.Err() == nil {
		s.log.Error("USSD menus not read", "error", err)
	}
}

// readMenus makes what is published ready. A program that is still current
// stays the same, so that sessions know their menu by it.
func (s *Sessions) readMenus(ctx context.Context) error {
	accounts, err := s.store.Accounts(ctx)
	if err != nil {
		return err
	}
	list, err := s.store.PublishedMenus(ctx)
	if err != nil {
		return err
	}
	type version struct {
		menu int64
		no   int
	}
	ready := map[version]*ussd.Program{}
	for p, m := range s.known.Load().menus {
		ready[version{m.MenuID, m.Version}] = p
	}
	next := &published{accounts: map[int64]sms.Account{}, programs: map[int64][]*ussd.Program{}, menus: map[*ussd.Program]*ussd.Published{}}
	for _, a := range accounts {
		next.accounts[a.ID] = a
	}
	for _, m := range list {
		p := ready[version{m.MenuID, m.Version}]
		if p == nil {
			p = ussd.NewProgram(m.Menu)
		}
		next.programs[m.AccountID] = append(next.programs[m.AccountID], p)
		next.menus[p] = &m
	}
	s.known.Store(next)
	return nil
}

// sweep lets go of phones whose session is over or has gone silent.
func (s *Sessions) sweep(now int64) {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		for k, c := range sh.calls {
			if !c.mu.TryLock() {
				continue
			}
			if now-c.answered > endedRemain {
				c.answer = ussd.Answer{} // nothing repeats it any more
			}
			over := c.about.EndedAt > 0 || c.about.ID == 0
			silent := !over && now-c.about.LastAt > ussd.IdleMost
			if silent {
				s.end(c, ussd.EndedByTime)
			}
			if silent || over && now-c.answered > endedRemain {
				c.gone = true
				delete(sh.calls, k)
				s.open.Add(-1)
			}
			c.mu.Unlock()
		}
		sh.mu.Unlock()
	}
	s.tries.Range(func(id, t any) bool {
		if t.(*try).until < now {
			s.tries.Delete(id)
		}
		return true
	})
}

// forget deletes what is older than it may be kept.
func (s *Sessions) forget(ctx context.Context) {
	days := ussd.KeepDays
	if set, err := s.store.Setting(ctx, ussd.SettingKeep); err == nil && set != "" {
		if n, err := strconv.Atoi(set); err == nil && n > 0 {
			days = n
		}
	}
	before := ussd.SessionID(s.now().AddDate(0, 0, -days).UnixMilli(), 0)
	for ctx.Err() == nil {
		gone, err := s.store.ForgetUSSDSessions(ctx, before)
		if err != nil && !errors.Is(err, context.Canceled) {
			s.log.Error("old USSD sessions not deleted", "error", err)
		}
		if err != nil || gone == 0 {
			return
		}
	}
}

// try is a draft that one person walks through in the simulator.
type try struct {
	account int64
	program *ussd.Program
	menu    ussd.Published
	until   int64
}

const tryMost = 15 * time.Minute

// Try lets the session with this id, which must be a secret that begins with
// ussd.TrialPrefix, walk through a draft instead of what is published.
func (s *Sessions) Try(session string, d ussd.Draft) {
	s.tries.Store(session, &try{account: d.AccountID, program: ussd.NewProgram(d.Menu), until: s.now().Add(tryMost).UnixMilli(),
		menu: ussd.Published{AccountID: d.AccountID, MenuID: d.ID, Menu: d.Menu, Secret: d.Secret}})
}

func (s *Sessions) tried(session string, account, now int64) *try {
	t, ok := s.tries.Load(session)
	if !ok || t.(*try).account != account || t.(*try).until < now {
		return nil
	}
	return t.(*try)
}
