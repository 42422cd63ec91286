package workers_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/gateway"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
)

// sequence is what of a request happened, in its order.
type sequence struct {
	mu   sync.Mutex
	said []string
}

func (o *sequence) note(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said = append(o.said, what)
}

func (o *sequence) list() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.said)
}

// notingStore notes when a licence is given.
type notingStore struct {
	workers.DispatchStore
	order *sequence
	fails error
}

func (s notingStore) License(ctx context.Context, a *sms.Attempt, now int64) error {
	s.order.note("license")
	if s.fails != nil {
		return s.fails
	}
	return s.DispatchStore.License(ctx, a, now)
}

// notingJournal is a journal that writes nothing, and fails as it is told.
type notingJournal struct {
	order *sequence
	fails error
}

func (j notingJournal) Append(*sms.Attempt) error {
	j.order.note("append")
	return j.fails
}

func (notingJournal) Ready(context.Context) error { return nil }

// notingGateway notes the first byte: what its licence lets go.
type notingGateway struct {
	rig.Service
	order *sequence
}

func (g notingGateway) send(ctx context.Context, call sms.Call, licence func() error,
	send func(context.Context, sms.Call, func() error) sms.Outcome) sms.Outcome {
	return send(ctx, call, func() error {
		err := licence()
		if err == nil {
			g.order.note("send")
		}
		return err
	})
}

func (g notingGateway) Send(ctx context.Context, call sms.Call, licence func() error) sms.Outcome {
	return g.send(ctx, call, licence, g.Service.Send)
}

func (g notingGateway) SendUrgent(ctx context.Context, call sms.Call, licence func() error) sms.Outcome {
	return g.send(ctx, call, licence, g.Service.SendUrgent)
}

// TestNothingLeavesBeforeTheJournalHasIt: first the licence, then the journal's
// line, then the first byte. Where either fails nothing is sent, and the
// messages wait as before.
func TestNothingLeavesBeforeTheJournalHasIt(t *testing.T) {
	for name, c := range map[string]struct {
		licence, journal error
		want             string
		sent             int
	}{
		"all is well":          {nil, nil, "license append send", 1},
		"no licence":           {sms.ErrConflict, nil, "license", 0},
		"the journal is full":  {nil, errors.New("no space left on device"), "license append", 0},
		"the journal is ended": {nil, errors.New("behind"), "license append", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newKit(t, sandbox.Config{}, nil)
			var o sequence
			accounts := gateway.NewAccounts(func(opening gateway.Opening[rig.Service]) (rig.Service, error) {
				if before, is := opening.After.(notingGateway); is {
					opening.After = before.Service
				}
				g, err := rig.Open(opening)
				return notingGateway{g, &o}, err
			}, r.DB, slog.New(slog.DiscardHandler))
			started := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(1)...))
			d := workers.NewDispatcher(notingStore{r.DB, &o, c.licence}, notingJournal{&o, c.journal},
				gateway.See(accounts, rig.ForSending), r.Feed, 8, slog.New(slog.DiscardHandler), time.Now)
			ctx, stop := context.WithCancel(r.Ctx)
			done := make(chan error, 1)
			go func() { done <- d.Run(ctx) }()
			for deadline := time.Now().Add(15 * time.Second); !slices.Contains(o.list(),
				strings.Fields(c.want)[len(strings.Fields(c.want))-1]) && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if got := strings.Join(o.list(), " "); !strings.HasPrefix(got, c.want) ||
				(c.sent == 0) == strings.Contains(got, "send") {
				t.Errorf("%s, want %s", got, c.want)
			}
			tally, err := r.DB.Tally(r.Ctx, started.ID)
			if n := len(r.Ledger()); err != nil || n != c.sent || tally["queued"] != int64(1-c.sent) {
				t.Errorf("%d sent, %v %v", n, tally, err)
			}
		})
	}
}
