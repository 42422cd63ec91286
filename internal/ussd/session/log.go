package session

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

const (
	saidEach    = 200 * time.Millisecond // what nobody waits for is stored so often
	saidMost    = 20_000                 // steps that wait for the database; above, the oldest are given up
	menusEach   = time.Second
	sweepEach   = 5 * time.Second
	forgetEach  = 10 * time.Minute
	endedRemain = ussd.MaxSame + 1000
)

// said gathers what sessions leave behind, so that a moment's sessions are one
// transaction.
type said struct {
	mu       sync.Mutex
	sessions map[int64]ussd.Session
	rest     ussd.Batch
	waiting  []chan error
	lost     int64
}

func newSaid() *said { return &said{sessions: map[int64]ussd.Session{}} }

// later adds to what is stored at the next occasion.
func (s *said) later(b ussd.Batch) { s.add(b, nil) }

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
	s.trim()
	if done != nil {
		s.waiting = append(s.waiting, done)
	}
}

// trim gives up the oldest steps where the database takes none for long.
func (s *said) trim() {
	if len(s.rest.Steps) <= saidMost {
		return
	}
	over := len(s.rest.Steps) - saidMost*3/4 // many at once: each costs a copy of the rest
	s.rest.Steps, s.lost = append([]ussd.Step(nil), s.rest.Steps[over:]...), s.lost+int64(over)
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
	s.trim()
	s.rest.Saved, s.rest.Joined = append(b.Saved, s.rest.Saved...), append(b.Joined, s.rest.Joined...)
}

// given says how many steps were given up since it was last asked.
func (s *said) given() (lost int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost, s.lost = s.lost, 0
	return lost
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
	mark := s.spool.Mark()
	b, err := s.spool.Read()
	if err == nil && !b.Empty() {
		err = s.store.PutUSSDSessions(ctx, b)
	}
	if err == nil {
		err = s.spool.Clear(mark)
	}
	if err != nil {
		return err
	}
	for id := range s.known.Load().accounts {
		if err := s.store.EndOpenUSSDSessions(ctx, id, ussd.EndedByRestart); err != nil {
			return err
		}
	}
	return nil
}

// Store brings what was said into the database until ctx ends; Drain the rest.
func (s *Sessions) Store(ctx context.Context) {
	for feed.Pause(ctx, saidEach, nil) {
		s.hand()
		if err := s.write(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("USSD sessions not stored", "error", err)
		}
	}
}

// Run keeps the menus current and forgets phones that are silent, until ctx
// ends.
func (s *Sessions) Run(ctx context.Context) {
	news := s.feed.Subscribe(feed.Menus, feed.Account(0))
	defer news.Close()
	menus, sweep, forget := time.NewTicker(menusEach), time.NewTicker(sweepEach), time.NewTicker(forgetEach)
	defer menus.Stop()
	defer sweep.Stop()
	defer forget.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-news.C():
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
	s.hand()
	return s.write(ctx)
}

// promise returns once what a caller is promised cannot be lost. Whoever comes
// first spools for all who wait by then: no caller waits for another goroutine
// than that of a caller.
func (s *Sessions) promise(ctx context.Context, b ussd.Batch) error {
	done := make(chan error, 1)
	s.said.add(b, done)
	s.hand()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hand takes what was said since the last look, spools what somebody waits for
// and hands it on. What could not be spooled is not kept: its callers are told
// so.
func (s *Sessions) hand() {
	s.spooled.Lock()
	defer s.spooled.Unlock()
	b, waiting := s.said.take()
	if b.Empty() {
		return
	}
	if len(waiting) > 0 {
		err := s.spool.Append(promised(b))
		if err != nil {
			b.Saved, b.Joined = nil, nil
			s.log.Error("USSD answers not spooled", "callers", len(waiting), "error", err)
		}
		for _, w := range waiting {
			w <- err
		}
	}
	s.due.later(b)
}

// promised is what callers wait for, with the sessions that it belongs to:
// answers go when their session does.
func promised(b ussd.Batch) ussd.Batch {
	of := map[int64]bool{}
	for _, a := range b.Saved {
		of[a.SessionID] = true
	}
	p := ussd.Batch{Saved: b.Saved, Joined: b.Joined}
	for _, x := range b.Sessions {
		if of[x.ID] {
			p.Sessions = append(p.Sessions, x)
		}
	}
	return p
}

// write stores what was handed on; what could not be stored is tried again.
// The spool is cleared up to where it ended when the database's part was taken.
func (s *Sessions) write(ctx context.Context) error {
	s.spooled.Lock()
	mark := s.spool.Mark()
	b, _ := s.due.take()
	s.spooled.Unlock()
	if lost := s.said.given() + s.due.given(); lost > 0 {
		s.log.Error("steps of USSD sessions given up: the database takes them too slowly", "steps", lost)
	}
	if !b.Empty() {
		if err := s.store.PutUSSDSessions(ctx, b); err != nil {
			s.due.again(b)
			return err
		}
	}
	if mark > 0 {
		if err := s.spool.Clear(mark); err != nil {
			return err
		}
	}
	told := map[string]bool{}
	for _, x := range b.Sessions {
		if name := feed.USSD(x.AccountID); !told[name] {
			told[name] = true
			s.feed.Publish(name)
		}
	}
	return nil
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
	next := &published{accounts: map[int64]sms.Account{}, programs: map[int64][]*ussd.Program{},
		menus: map[*ussd.Program]*ussd.Published{}}
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
			silent := !over && now-c.about.LastAt > ussd.MaxIdle
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
	if set, err := s.store.ReadSetting(ctx, ussd.SettingKeep); err == nil && set != "" {
		if n, err := strconv.Atoi(set); err == nil && n > 0 {
			days = n
		}
	}
	before := ussd.SessionID(s.now().AddDate(0, 0, -days).UnixMilli(), 0)
	for ctx.Err() == nil {
		gone, err := s.store.PurgeUSSDSessions(ctx, before)
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
	s.tries.Store(session, &try{account: d.AccountID, program: ussd.NewProgram(d.Menu),
		until: s.now().Add(tryMost).UnixMilli(),
		menu:  ussd.Published{AccountID: d.AccountID, MenuID: d.ID, Menu: d.Menu, Secret: d.Secret}})
}

func (s *Sessions) tried(session string, account, now int64) *try {
	t, ok := s.tries.Load(session)
	if !ok || t.(*try).account != account || t.(*try).until < now {
		return nil
	}
	return t.(*try)
}
