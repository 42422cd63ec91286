// Package session answers callers: it holds where each phone stands in a menu,
// does what screens ask for and remembers what was said. It must never know
// campaigns, the secrets of accounts, or HTTP.
package session

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// Sessions answers USSD sessions (§6.2): it walks callers through the menus
// that are published, does what screens ask for and remembers what was said.
// Where callers stand is in memory only: after a restart they are told that
// the session has expired, because an input must never meet another screen
// than the one on the phone.
type Sessions struct {
	store  Store
	hook   func(ctx context.Context, q ussd.Question) (string, error)
	blocks OptOuts
	feed   *feed.Feed
	log    *slog.Logger
	now    func() time.Time

	known   atomic.Pointer[published]
	tries   sync.Map // id.session of a trial -> *try
	marks   sync.Map // networkKey of those whose requests are each marked, so that no press looks like a retry
	shards  [64]shard
	open    atomic.Int64
	number  atomic.Int64
	said    *said // since the last look
	spool   Spool
	spooled sync.Mutex // held from spooling until due has it
	due     *said      // on its way into the database
}

// Spool keeps what callers were promised until the database has it.
type Spool interface {
	// Append returns once the batch cannot be lost.
	Append(b ussd.Batch) error
	Read() (ussd.Batch, error)
	// Mark is where the spool ends; Clear forgets what stands before it.
	Mark() int64
	Clear(mark int64) error
}

// Store is what sessions need to be remembered.
type Store interface {
	Accounts(ctx context.Context) ([]sms.Account, error)
	PublishedMenus(ctx context.Context) ([]ussd.Published, error)
	PutUSSDSessions(ctx context.Context, b ussd.Batch) error
	EndOpenUSSDSessions(ctx context.Context, account int64, why string) error
	PurgeUSSDSessions(ctx context.Context, before int64) (gone int, err error)
	ReadSetting(ctx context.Context, name string) (string, error)
	BlockedAmong(ctx context.Context, account int64, numbers []string) (map[string]sms.Blocked, error)
	SearchMessages(ctx context.Context, f sms.MessageSearch) (list []sms.FoundMessage, next sms.MessageCursor, err error)
}

// OptOuts are the orders of callers that concern their number; Desk has them.
type OptOuts interface {
	BlockByUSSD(ctx context.Context, account int64, msisdn, proof string) (fresh bool, err error)
	UnblockByUSSD(ctx context.Context, account int64, number, proof string) (done bool, err error)
}

// published is everything callers can reach, as of one moment.
type published struct {
	accounts map[int64]sms.Account
	programs map[int64][]*ussd.Program
	menus    map[*ussd.Program]*ussd.Published
}

type shard struct {
	mu    sync.Mutex
	calls map[callKey]*call
}

// callKey is a phone: it has one session at a time.
type callKey struct {
	account int64
	phone   string // network and number; without a number what else identifies it
}

// call is where one phone stands. Its lock keeps the requests of one phone in
// order, while those of others go on.
type call struct {
	mu       sync.Mutex
	about    ussd.Session
	program  *ussd.Program
	menu     *ussd.Published // of program
	state    ussd.State
	digest   [16]byte
	last     pressed
	answer   ussd.Answer
	answered int64 // milliseconds; 0 before the first answer
	readable bool  // about.Number is a number to which messages can go
	gone     bool  // taken out of its shard
}

// pressed is the last request of a phone: its text and what else it held.
type pressed struct {
	text  string
	rest  [16]byte
	stage ussd.Stage
}

// New returns Sessions without menus: Prepare reads them, Run keeps
// them current. hook asks the owner's webhook and returns its words.
func New(store Store, spool Spool, hook func(ctx context.Context, q ussd.Question) (string, error),
	blocks OptOuts, news *feed.Feed, log *slog.Logger, now func() time.Time) *Sessions {
	s := &Sessions{store: store, hook: hook, blocks: blocks, feed: news, log: log, now: now, said: newSaid(),
		due: newSaid(), spool: spool}
	for i := range s.shards {
		s.shards[i].calls = map[callKey]*call{}
	}
	s.known.Store(&published{})
	return s
}

// Answer answers one request. An error means that our part failed and that the
// caller has to be told so; the session is over then.
func (s *Sessions) Answer(ctx context.Context, account int64, r ussd.Request) (ussd.Answer, error) {
	known := s.known.Load()
	a, ok := known.accounts[account]
	if !ok {
		return ussd.Answer{}, fmt.Errorf("answer USSD: account %d: %w", account, sms.ErrNotFound)
	}
	arrived := s.now()
	number, readable := readCaller(r.MSISDN, a.Country)
	key, ok := keyOf(account, number, r)
	if !ok {
		return ussd.Answer{End: true, Text: ussd.Apology}, nil
	}
	c := s.hold(key, r.Stage == ussd.Begin && r.CommandID != ussd.HungUp)
	if c == nil {
		return stranger(r), nil
	}
	whole := false
	began := s.now()
	defer func() {
		if !whole { // a panic on the way: the caller is told that it is over
			s.end(c, ussd.EndedByFault)
		}
		c.mu.Unlock()
	}()
	c.about.AccountID, c.about.Number, c.readable = account, number, readable
	if again, is := s.again(c, r, arrived.UnixMilli()); is {
		whole = true
		return again, nil
	}
	answer, err := s.turn(ctx, known, c, r, began)
	whole = true
	return answer, err
}

func stranger(r ussd.Request) ussd.Answer {
	if r.Stage == ussd.End || r.CommandID == ussd.HungUp {
		return ussd.Answer{End: true, Text: ussd.Over}
	}
	return ussd.Answer{End: true, Text: ussd.Expired}
}

// readCaller reads what the network says of the caller; "" when it says
// nothing that could be told from others. readable says that it is a number.
func readCaller(msisdn, country string) (number string, readable bool) {
	if p, err := phone.Parse(msisdn, country, true); err == nil {
		return p.Number, true
	}
	digits := phone.Key(msisdn, country)
	return digits[:min(len(digits), 20)], false
}

// keyOf finds what identifies the phone: its number on the network, else
// id.session, else the sender of the header. The short code is not part of it:
// requests lack it, and no phone has two sessions.
func keyOf(account int64, number string, r ussd.Request) (callKey, bool) {
	network := clean(strings.ToLower(r.Network), 20)
	switch {
	case number != "":
		return callKey{account, network + " " + number}, true
	case r.SessionID != "":
		return callKey{account, network + " #" + clean(r.SessionID, idMost)}, true
	case r.SenderID != "":
		return callKey{account, network + " @" + clean(r.SenderID, idMost)}, true
	}
	return callKey{}, false
}

// idMost is how much of an id is kept.
const idMost = 100

// clean makes what a stranger sent fit to be kept.
func clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

func (s *Sessions) shard(k callKey) *shard {
	h := uint32(k.account)
	for i := range len(k.phone) {
		h = h*31 + uint32(k.phone[i])
	}
	return &s.shards[h%uint32(len(s.shards))]
}

// hold finds the phone's call and locks it; without one it is made where make
// says so, else nil.
func (s *Sessions) hold(k callKey, make bool) *call {
	sh := s.shard(k)
	for {
		sh.mu.Lock()
		c := sh.calls[k]
		if c == nil && make {
			c = &call{}
			sh.calls[k] = c
			s.open.Add(1)
		}
		sh.mu.Unlock()
		if c == nil {
			return nil
		}
		c.mu.Lock()
		if !c.gone {
			return c
		}
		c.mu.Unlock()
	}
}

// networkKey is what of requests decides whether each is marked.
type networkKey struct {
	account int64
	network string
}

// again answers a request of the same bytes as the one before it. That the
// service sent it again is sure where it came before the answer, where it is
// not an input to a session that is open, and where this network's requests are
// each marked; then the answer is repeated. Otherwise nothing tells it from a
// second press of the same key: for a short time what cannot be undone is asked
// for, and everything else repeats its answer.
func (s *Sessions) again(c *call, r ussd.Request, arrived int64) (ussd.Answer, bool) {
	if c.answered == 0 || r.Digest != c.digest || arrived-c.answered > ussd.MaxSame {
		return ussd.Answer{}, false
	}
	open := c.program != nil && c.about.EndedAt == 0
	_, marked := s.marks.Load(networkKey{c.about.AccountID, c.about.Network})
	if open && r.Stage == ussd.Continue && arrived > c.answered && !marked {
		if asked, asks := c.program.Twice(&c.state, r.Text); asks {
			return asked, true
		}
	}
	return c.answer, true
}

// learn notes a network whose requests differ although one key was pressed
// twice in one session.
func (s *Sessions) learn(c *call, r ussd.Request) {
	now := pressed{clean(r.Text, 200), r.Rest, r.Stage}
	if now.stage == ussd.Continue && now.stage == c.last.stage && now.text == c.last.text && now.rest != c.last.rest {
		s.marks.Store(networkKey{c.about.AccountID, c.about.Network}, true)
	}
	c.last = now
}

// turn is one request of a phone whose earlier ones are answered.
func (s *Sessions) turn(ctx context.Context, known *published, c *call, r ussd.Request,
	began time.Time) (ussd.Answer, error) {
	now := began.UnixMilli()
	hungUp := r.CommandID == ussd.HungUp
	running := c.program != nil && c.about.EndedAt == 0
	if running && now-c.about.LastAt > ussd.MaxIdle {
		s.end(c, ussd.EndedByTime)
		running = false
	}
	switch {
	case hungUp || r.Stage == ussd.End:
		if running {
			c.about.LastAt = now
			s.end(c, map[bool]string{true: ussd.EndedByCaller, false: ussd.EndedByService}[hungUp])
		}
		return ussd.Answer{End: true, Text: ussd.Over}, nil
	case r.Stage == ussd.Begin:
		if running {
			s.end(c, ussd.EndedByBegin)
		}
		return s.step(ctx, c, r, began, func(d *deeds) ussd.Answer { return s.begin(known, c, r, d, now) })
	case !running || r.SessionID != "" && c.about.ServiceID != "" && clean(r.SessionID, idMost) != c.about.ServiceID:
		return ussd.Answer{End: true, Text: ussd.Expired}, nil
	}
	return s.step(ctx, c, r, began, func(d *deeds) ussd.Answer { return c.program.Next(&c.state, r.Text, d) })
}

// begin finds the menu for what was dialled and starts it.
func (s *Sessions) begin(known *published, c *call, r ussd.Request, d *deeds, now int64) ussd.Answer {
	network := clean(strings.ToLower(strings.TrimSpace(r.Network)), 20)
	programs, about := known.programs[c.about.AccountID], known.menus
	if t := s.tried(r.SessionID, c.about.AccountID, now); t != nil {
		programs, about = []*ussd.Program{t.program}, map[*ussd.Program]*ussd.Published{t.program: &t.menu}
	}
	program, inputs := ussd.Dialled(programs, network, r.ShortCode, r.Text)
	menu := &ussd.Published{}
	if program != nil {
		menu = about[program]
	}
	c.program, c.menu = program, menu
	c.about = ussd.Session{ID: ussd.SessionID(now, s.number.Add(1)), AccountID: c.about.AccountID, MenuID: menu.MenuID,
		Version: menu.Version, Number: c.about.Number,
		Network: network, Code: clean(strings.Trim(strings.TrimSpace(or(r.Text, r.ShortCode)), "*#"), 100), BegunAt: now,
		Test:      strings.HasPrefix(r.SessionID, ussd.TrialPrefix),
		ServiceID: clean(r.SessionID, idMost), USSDID: clean(r.USSDID, idMost), Status: clean(r.Status, 100),
		Body: clean(r.Body, 2000)}
	if program == nil {
		return ussd.Answer{End: true, Text: ussd.NoMenu}
	}
	var own []ussd.Value
	if program.Uses(ussd.NumberName) {
		own = append(own, ussd.Value{Name: ussd.NumberName,
			Text: phone.Show(c.about.Number, known.accounts[c.about.AccountID].Country)})
	}
	if program.Uses(ussd.NetworkName) {
		own = append(own, ussd.Value{Name: ussd.NetworkName, Text: network})
	}
	var answer ussd.Answer
	c.state, answer = program.Begin(inputs, own, d)
	return answer
}

func or(s, other string) string {
	if strings.TrimSpace(s) == "" {
		return other
	}
	return s
}

// step lets the menu answer and keeps what it leaves behind. What callers were
// promised to be kept is kept before they are answered.
func (s *Sessions) step(ctx context.Context, c *call, r ussd.Request, began time.Time,
	walk func(*deeds) ussd.Answer) (ussd.Answer, error) {
	d := &deeds{s: s, ctx: ctx, c: c}
	answer := walk(d)
	s.learn(c, r)
	now := s.now()
	c.about.LastAt, c.about.Steps = now.UnixMilli(), c.about.Steps+1
	c.about.Slowest = max(c.about.Slowest, now.Sub(began).Microseconds())
	if c.program != nil {
		c.about.Screen = c.program.Key(&c.state)
	}
	switch {
	case answer.Failed:
		answer = ussd.Answer{End: true, Text: ussd.Apology}
		c.close(ussd.EndedByFault)
	case answer.End:
		c.close(ussd.EndedByMenu)
	}
	b := ussd.Batch{Sessions: []ussd.Session{c.about}, Saved: d.saved, Joined: d.joined,
		Steps: []ussd.Step{{SessionID: c.about.ID, No: c.about.Steps, At: c.about.LastAt,
			Screen: c.about.Screen, Input: clean(r.Text, 200), Text: answer.Text, Took: now.Sub(began).Microseconds(),
			End: answer.End}}}
	// The log has them now; 100,000 sessions need not.
	c.about.Status, c.about.Body, c.about.USSDID = "", "", ""
	var err error
	if len(d.saved)+len(d.joined) > 0 {
		err = s.promise(ctx, b)
	} else {
		s.said.later(b)
	}
	if err == nil {
		err = ctx.Err()
	}
	c.about.Slowest = max(c.about.Slowest, s.now().Sub(began).Microseconds())
	if err != nil {
		answer = ussd.Answer{End: true, Text: ussd.Apology}
		s.end(c, ussd.EndedByFault)
	}
	c.digest, c.answer, c.answered = r.Digest, answer, s.now().UnixMilli()
	if err != nil {
		return answer, fmt.Errorf("answer USSD: %w", err)
	}
	return answer, nil
}

func (c *call) close(why string) {
	if c.about.EndedAt == 0 {
		c.about.EndedAt, c.about.Ended = max(c.about.LastAt, c.about.BegunAt), why
	}
	c.state = ussd.State{}
}

// end closes a session that came to no end by itself and writes it down.
func (s *Sessions) end(c *call, why string) {
	if c.about.ID == 0 {
		return
	}
	c.about.EndedAt = 0
	c.close(why)
	s.said.later(ussd.Batch{Sessions: []ussd.Session{c.about}})
}

// Open counts the phones of which something is remembered.
func (s *Sessions) Open() int64 { return s.open.Load() }
