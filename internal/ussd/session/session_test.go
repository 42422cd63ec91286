package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// remembered keeps what sessions leave behind, in memory.
type remembered struct {
	mu      sync.Mutex
	menus   []ussd.Published
	last    map[int64]ussd.Session
	steps   map[int64][]ussd.Step
	saved   []ussd.SavedAnswer
	spooled []ussd.SavedAnswer
	joined  []ussd.SignUp
	blocked map[string]sms.BlockKind
	broken  atomic.Bool
}

func newRemembered(menus ...ussd.Menu) *remembered {
	r := &remembered{last: map[int64]ussd.Session{}, steps: map[int64][]ussd.Step{}, blocked: map[string]sms.BlockKind{}}
	for i, m := range menus {
		r.menus = append(r.menus, ussd.Published{AccountID: 1, MenuID: int64(i + 1), Version: 1, Menu: m})
	}
	return r
}

func (r *remembered) Accounts(context.Context) ([]sms.Account, error) {
	return []sms.Account{{ID: 1, Country: "NG", Timezone: "Africa/Lagos"}}, nil
}

func (r *remembered) PublishedMenus(context.Context) ([]ussd.Published, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]ussd.Published(nil), r.menus...), nil
}

func (r *remembered) PutUSSDSessions(_ context.Context, b ussd.Batch) error {
	if r.broken.Load() {
		return errors.New("the disk is full")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range b.Sessions {
		r.last[s.ID] = s
	}
	for _, s := range b.Steps {
		r.steps[s.SessionID] = append(r.steps[s.SessionID], s)
	}
	r.saved, r.joined = append(r.saved, b.Saved...), append(r.joined, b.Joined...)
	return nil
}

func (r *remembered) Append(b ussd.Batch) error {
	if r.broken.Load() {
		return errors.New("the disk is full")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spooled = append(r.spooled, b.Saved...)
	return nil
}

func (r *remembered) Read() (ussd.Batch, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return ussd.Batch{Saved: r.spooled}, nil
}

func (r *remembered) Mark() int64       { return 0 }
func (r *remembered) Clear(int64) error { return nil }

func (r *remembered) EndOpenUSSDSessions(context.Context, int64, string) error { return nil }
func (r *remembered) PurgeUSSDSessions(context.Context, int64) (int, error)    { return 0, nil }
func (r *remembered) ReadSetting(context.Context, string) (string, error)      { return "", nil }

func (r *remembered) BlockByUSSD(_ context.Context, _ int64, msisdn, _ string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := strings.TrimPrefix(msisdn, "+")
	if r.blocked[number] != "" {
		return false, nil
	}
	r.blocked[number] = sms.BlockedByUSSD
	return true, nil
}

func (r *remembered) UnblockByUSSD(_ context.Context, _ int64, number, _ string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blocked[number] != sms.BlockedByUSSD {
		return false, nil
	}
	delete(r.blocked, number)
	return true, nil
}

func (r *remembered) BlockedAmong(_ context.Context, _ int64, numbers []string) (map[string]sms.Blocked, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string]sms.Blocked{}
	for _, n := range numbers {
		if k := r.blocked[n]; k != "" {
			found[n] = sms.Blocked{Number: n, Kind: k}
		}
	}
	return found, nil
}

func (r *remembered) SearchMessages(context.Context, sms.MessageSearch) ([]sms.FoundMessage, sms.MessageCursor, error) {
	m := sms.Message{AccountID: 1, State: sms.Accepted, Delivery: sms.Delivery{Status: "DELIVRD"},
		ChangedAt: time.Date(2026, 5, 3, 9, 0, 0, 0, time.UTC).UnixMilli()}
	return []sms.FoundMessage{{Message: m}}, sms.MessageCursor{}, nil
}

// clock is a wall clock that a test moves.
type clock struct{ ms atomic.Int64 }

func (c *clock) now() time.Time { return time.UnixMilli(c.ms.Load()) }

type ussdRig struct {
	*Sessions
	t     testing.TB
	store *remembered
	clock *clock
	n     atomic.Int64
}

func newUSSDRig(t testing.TB, hook func(context.Context, ussd.Question) (string, error), menus ...ussd.Menu) *ussdRig {
	t.Helper()
	r := &ussdRig{t: t, store: newRemembered(menus...), clock: &clock{}}
	r.clock.ms.Store(time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC).UnixMilli())
	r.Sessions = New(r.store, r.store, hook, r.store, feed.New(), slog.New(slog.DiscardHandler), r.clock.now)
	if err := r.Prepare(context.Background()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { r.Store(ctx) })
	t.Cleanup(func() { stop(); wg.Wait() })
	return r
}

// request is one whose bytes no other has.
func (r *ussdRig) request(stage ussd.Stage, number, text string) ussd.Request {
	q := ussd.Request{MSISDN: number, Network: "mtn", ShortCode: "347", Text: text, Stage: stage}
	copy(q.Digest[:], fmt.Sprint(r.n.Add(1)))
	return q
}

func (r *ussdRig) ask(q ussd.Request) string {
	r.t.Helper()
	a, err := r.Answer(context.Background(), 1, q)
	if err != nil {
		return "error: " + err.Error()
	}
	text := strings.ReplaceAll(a.Text, "\n", " / ")
	if a.End {
		text += " |"
	}
	return text
}

func (r *ussdRig) has(got, want string) {
	r.t.Helper()
	if !strings.Contains(got, want) {
		r.t.Fatalf("%q lacks %q", got, want)
	}
}

const (
	menuStart = "1. Stop all messages"
	menuSure  = "1. Yes, stop"
)

func TestUSSDSessions(t *testing.T) {
	optOut := ussd.Examples()[0]
	begin, next := ussd.Begin, ussd.Continue
	tests := map[string]func(r *ussdRig){
		"continue without begin": func(r *ussdRig) { r.has(r.ask(r.request(next, "08030000101", "1")), ussd.Expired+" |") },
		"continue after end": func(r *ussdRig) {
			r.has(r.ask(r.request(begin, "08030000101", "*347*1*1#")), "Done.")
			r.has(r.ask(r.request(next, "08030000101", "1")), ussd.Expired)
		},
		"no menu": func(r *ussdRig) {
			q := r.request(begin, "08030000101", "*348#")
			q.ShortCode = "348"
			r.has(r.ask(q), ussd.NoMenu+" |")
		},
		"three ways to write one number": func(r *ussdRig) {
			r.has(r.ask(r.request(begin, "+2348030000101", "*347#")), menuStart)
			r.has(r.ask(r.request(next, "08030000101", "1")), menuSure)
			r.has(r.ask(r.request(next, "8030000101", "1")), "Done.")
		},
		"the id of another session": func(r *ussdRig) {
			q := r.request(begin, "08030000101", "*347#")
			q.SessionID = "a"
			r.has(r.ask(q), menuStart)
			q = r.request(next, "08030000101", "1")
			q.SessionID = "b"
			r.has(r.ask(q), ussd.Expired)
			q = r.request(next, "08030000101", "1")
			q.SessionID = "a"
			r.has(r.ask(q), menuSure)
		},
		"without a number the id counts": func(r *ussdRig) {
			q := r.request(begin, "", "*347#")
			q.SessionID = "a"
			r.has(r.ask(q), menuStart)
			q = r.request(next, "", "1")
			q.SessionID = "a"
			r.has(r.ask(q), menuSure)
			r.has(r.ask(r.request(begin, "", "*347#")), ussd.Apology)
		},
		"begin starts afresh": func(r *ussdRig) {
			r.has(r.ask(r.request(begin, "08030000101", "*347#")), menuStart)
			r.has(r.ask(r.request(next, "08030000101", "1")), menuSure)
			r.has(r.ask(r.request(begin, "08030000101", "*347#")), menuStart)
			r.has(r.ask(r.request(next, "08030000101", "1")), menuSure)
		},
		"silence": func(r *ussdRig) {
			r.has(r.ask(r.request(begin, "08030000101", "*347#")), menuStart)
			r.clock.ms.Add(ussd.MaxIdle)
			r.has(r.ask(r.request(next, "08030000101", "1")), menuSure)
			r.clock.ms.Add(ussd.MaxIdle + 1)
			r.has(r.ask(r.request(next, "08030000101", "1")), ussd.Expired)
		},
		"hanging up": func(r *ussdRig) {
			r.has(r.ask(r.request(begin, "08030000101", "*347#")), menuStart)
			q := r.request(next, "08030000101", "")
			q.CommandID = ussd.HungUp
			r.has(r.ask(q), ussd.Over)
			r.has(r.ask(r.request(next, "08030000101", "1")), ussd.Expired)
		},
		"the same bytes": func(r *ussdRig) {
			r.has(r.ask(r.request(begin, "08030000101", "*347#")), menuStart)
			q := r.request(next, "08030000101", "1")
			r.has(r.ask(q), menuSure)
			r.clock.ms.Add(ussd.MaxSame)
			r.has(r.ask(q), menuSure)
			r.clock.ms.Add(1)
			r.has(r.ask(q), "Done.") // later it is a new answer
		},
		"the same key twice": func(r *ussdRig) {
			const asked = "We received this twice. To confirm, send it again."
			q := r.request(begin, "08030000101", "*347#")
			r.has(r.ask(q), menuStart)
			r.clock.ms.Add(1)
			if got := r.ask(q); strings.Contains(got, asked) {
				r.t.Fatalf("dialling asks: %q", got)
			}
			q = r.request(next, "08030000101", "1")
			r.has(r.ask(q), menuSure)
			if got := r.ask(q); strings.Contains(got, asked) || !strings.Contains(got, menuSure) {
				r.t.Fatalf("what came while the first was answered: %q", got)
			}
			r.clock.ms.Add(1)
			r.has(r.ask(q), asked)
			r.has(r.ask(q), menuSure)
			if len(r.store.blocked) > 0 {
				r.t.Fatal("a request that may be a repetition did what cannot be undone")
			}
			// Another mark in the request says that it is a press.
			q.Digest[0]++
			q.Rest[0]++
			r.has(r.ask(q), "Done.")
		},
		"the same key twice goes nowhere new": func(r *ussdRig) {
			r.has(r.ask(r.request(begin, "08030000101", "*347#")), menuStart)
			q := r.request(next, "08030000101", "7")
			first := r.ask(q)
			r.clock.ms.Add(1)
			if got := r.ask(q); got != first {
				r.t.Fatalf("%q became %q", first, got)
			}
		},
		"a network that marks its requests is not asked": func(r *ussdRig) {
			r.has(r.ask(r.request(begin, "08030000101", "*347#")), menuStart)
			for i := range byte(2) {
				q := r.request(next, "08030000101", "7")
				q.Rest[0] = i
				r.ask(q)
			}
			q := r.request(next, "08030000101", "1")
			r.has(r.ask(q), menuSure)
			r.clock.ms.Add(1)
			if got := r.ask(q); strings.Contains(got, "twice") || !strings.Contains(got, menuSure) {
				r.t.Fatal(got)
			}
		},
		"blocked by a person, not unblocked by a phone": func(r *ussdRig) {
			r.store.blocked["2348030000101"] = sms.BlockedByStaff
			r.has(r.ask(r.request(begin, "08030000101", "*347*2#")), "Ask at the clinic.")
			r.has(r.ask(r.request(begin, "08030000102", "*347*2#")), "Done. You will get our messages again.")
		},
		"status": func(r *ussdRig) {
			r.has(r.ask(r.request(begin, "08030000101", "*347*3#")), "Your last message: delivered, on 3 May. |")
		},
		"a new version": func(r *ussdRig) {
			r.has(r.ask(r.request(begin, "08030000101", "*347#")), menuStart)
			m := ussd.Examples()[0]
			m.Screens[0].Text, m.Screens[1].Text = ussd.Words{"en": "New"}, ussd.Words{"en": "New"}
			r.store.menus = []ussd.Published{{AccountID: 1, MenuID: 1, Version: 2, Menu: m}}
			if err := r.readMenus(context.Background()); err != nil {
				r.t.Fatal(err)
			}
			r.has(r.ask(r.request(next, "08030000101", "1")), "You will get no more messages from us.")
			r.has(r.ask(r.request(begin, "08030000102", "*347#")), "New / 1.")
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(newUSSDRig(t, nil, optOut)) })
	}
}

// TestWhatWasPromisedIsStored: where the database does not take an answer, the
// caller is not told that it was taken.
func TestWhatWasPromisedIsStored(t *testing.T) {
	survey := ussd.Examples()[2]
	survey.Code = "347"
	r := newUSSDRig(t, nil, survey)
	r.has(r.ask(r.request(ussd.Begin, "08030000101", "*347#")), "How was it?")
	r.has(r.ask(r.request(ussd.Continue, "08030000101", "1")), "On which day")
	if got, _ := r.store.Read(); len(got.Saved) != 1 || got.Saved[0].Text != "Good" {
		t.Fatalf("spooled %v before the caller was answered", got)
	}
	r.store.broken.Store(true)
	if got := r.ask(r.request(ussd.Continue, "08030000101", "1/2/2026")); !strings.HasPrefix(got, "error") {
		t.Fatal(got)
	}
	r.store.broken.Store(false)
	r.has(r.ask(r.request(ussd.Continue, "08030000101", "1")), ussd.Expired)
}

func TestWebhookAndItsFallback(t *testing.T) {
	m := ussd.Menu{Name: "Hook", Code: "347", Languages: []ussd.Language{{Code: "en", Name: "English"}},
		Screens: []ussd.Screen{
			{Key: "a", Kind: ussd.Finish, Text: ussd.Words{"en": "It says ##Said##"},
				Does: []ussd.Action{{Kind: ussd.Call, URL: "https://example.org", Into: "Said", Fallback: "nothing today"}}}}}
	for want, hook := range map[string]func(context.Context, ussd.Question) (string, error){
		"It says yes |": func(_ context.Context, q ussd.Question) (string, error) {
			return map[string]string{"2348030000101": "yes"}[q.Body.Number], nil
		},
		"It says nothing today |": func(ctx context.Context, _ ussd.Question) (string, error) { <-ctx.Done(); return "", ctx.Err() },
	} {
		r := newUSSDRig(t, hook, m)
		began := time.Now()
		r.has(r.ask(r.request(ussd.Begin, "08030000101", "*347#")), want)
		if took := time.Since(began); took > 1500*time.Millisecond {
			t.Errorf("answered after %s", took)
		}
	}
}

// model is what one phone must see, worked out without sessions, locks and
// time: a program walked alone.
type model struct {
	p    *ussd.Program
	s    ussd.State
	open bool
}

type nothing struct{}

func (nothing) Do(ussd.Action, *ussd.State) (string, bool) { return "delivered, on 3 May", true }
func (nothing) Record(string, string) bool                 { return true }

func (m *model) ask(stage ussd.Stage, number, text string) string {
	var a ussd.Answer
	switch {
	case stage == ussd.Begin:
		_, inputs := ussd.Dialled([]*ussd.Program{m.p}, "mtn", "347", text)
		m.s, a = m.p.Begin(inputs, []ussd.Value{{Name: ussd.NumberName, Text: phone.Show(number, "NG")},
			{Name: ussd.NetworkName, Text: "mtn"}}, nothing{})
	case !m.open && stage == ussd.End:
		a = ussd.Answer{End: true, Text: ussd.Over}
	case !m.open:
		a = ussd.Answer{End: true, Text: ussd.Expired}
	case stage == ussd.End:
		a = ussd.Answer{End: true, Text: ussd.Over}
	default:
		a = m.p.Next(&m.s, text, nothing{})
	}
	m.open = !a.End
	return a.Text
}

// TestInterleavedSessions lets 10,000 phones talk at once, each in order, and
// compares every answer with the model's.
func TestInterleavedSessions(t *testing.T) {
	menu := ussd.Examples()[0]
	r := newUSSDRig(t, nil, menu)
	const phones, workers = 10_000, 32
	var wrong atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			var mine []int
			models := map[int]*model{}
			for i := w; i < phones; i += workers {
				mine = append(mine, i)
				models[i] = &model{p: ussd.NewProgram(menu)}
			}
			for range 8 * len(mine) {
				i := mine[random.IntN(len(mine))]
				number := fmt.Sprintf("234803%07d", i)
				stage := []ussd.Stage{ussd.Begin, ussd.Continue, ussd.Continue, ussd.Continue, ussd.Continue,
					ussd.End}[random.IntN(6)]
				text := []string{"1", "1", "0", "00", "3", "x"}[random.IntN(6)]
				if stage == ussd.Begin {
					text = []string{"*347#", "*347*1#", "*347*1*1#", "*347*7#"}[random.IntN(4)]
				}
				want := models[i].ask(stage, number, text)
				a, err := r.Answer(context.Background(), 1, r.request(stage, number, text))
				if err != nil || a.Text != want || a.End == models[i].open {
					if wrong.Add(1) < 5 {
						t.Errorf("phone %d, %s %q: %v %+v, want %q", i, stage, text, err, a, want)
					}
				}
			}
		})
	}
	wg.Wait()
	if err := r.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	open := 0
	r.store.mu.Lock()
	for _, s := range r.store.last {
		if s.EndedAt == 0 {
			open++
		}
		if len(r.store.steps[s.ID]) == 0 {
			t.Error("a session without a step")
		}
	}
	r.store.mu.Unlock()
	r.clock.ms.Add(ussd.MaxIdle + 1)
	r.sweep(r.clock.ms.Load())
	if r.Open() != 0 || open == 0 {
		t.Errorf("%d phones are kept, %d sessions were open", r.Open(), open)
	}
}

// FuzzUSSDSession sends two bodies of a stranger one after the other. Whatever
// they are, each answer has words that a phone can show, and after an end
// nothing goes on.
func FuzzUSSDSession(f *testing.F) {
	f.Add([]byte(`{"msisdn":"08030000101","network":"mtn","text":"*347*1#","session":{"type":{"code":2}}}`),
		[]byte(`{"msisdn":"+2348030000101","network":"mtn","text":"1","session":{"type":{"code":3}}}`), uint8(0))
	f.Add([]byte(`{"msisdn":"1","network":"glo","text":"*347*12*2#","session":{"type":{"code":"2"}}}`),
		[]byte(`{"msisdn":"1","network":"glo","text":"1003","session":{"type":{"code":"3"}}}`), uint8(1))
	f.Add([]byte(`{"network":"x","shortcode":"347*13","id":{"session":"a"},"session":{"type":{"code":2}}}`),
		[]byte(`{"network":"x","id":{"session":"a"},"text":"\ud800","session":{"type":{"code":3}}}`), uint8(2))
	f.Add([]byte(`{"backend":{"cuap":{"header":{"command_id":114,"sender_id":"a"}}}}`),
		[]byte(`{"session":{"type":{"code":4}}}`), uint8(0))
	rigs := make([]*ussdRig, len(ussd.Examples()))
	for i, m := range ussd.Examples() {
		rigs[i] = newUSSDRig(f, nil, m)
	}
	f.Fuzz(func(t *testing.T, first, second []byte, which uint8) {
		r := rigs[int(which)%len(rigs)]
		open := false
		for _, body := range [][]byte{first, second} {
			q, err := ussd.ParseRequest(body)
			if err != nil {
				continue
			}
			copy(q.Digest[:], fmt.Sprint(r.n.Add(1)))
			a, err := r.Answer(context.Background(), 1, q)
			if err != nil || a.Text == "" || !ussd.Measure(a.Text).Fits() {
				t.Fatalf("%v: %+v to %s", err, a, body)
			}
			if q.Stage == ussd.End && !a.End {
				t.Fatalf("an ended session goes on: %+v", a)
			}
			q.Stage, open = ussd.Continue, !a.End
			if !open && q.CommandID != ussd.HungUp {
				copy(q.Digest[:], fmt.Sprint(r.n.Add(1)))
				if a, err := r.Answer(context.Background(), 1, q); err != nil || !a.End {
					t.Fatalf("%v: %+v goes on after the end", err, a)
				}
			}
		}
	})
}
