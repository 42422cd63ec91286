package workers_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/rig"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
)

// watch is a Clock on clocks that a test sets.
type watch struct {
	*rig.Timetable
	clock   *workers.Clock
	mu      sync.Mutex
	newest  time.Time // of the journal
	boot    int64
	account sms.Account // as if elsewhere
	log     bytes.Buffer
}

func (w *watch) steady() health.Steady {
	return health.Steady{Boot: w.boot, Ms: w.Clocks.Elapsed().Milliseconds() + 3_000_000}
}

func (w *watch) journal() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.newest
}

// restart begins as a new process does.
func (w *watch) restart() {
	w.Stop()
	w.clock = workers.NewClock(w.DB, w.journal, w.Clocks.Wall, w.steady, slog.New(slog.NewTextHandler(&w.log, nil)))
	w.Accounts.TellTime(w.clock)
	w.Run()
}

// answers is an answer of the service, whose clock is so far from the true time.
func (w *watch) answers(off time.Duration) {
	w.clock.Hear(w.Timetable.Account.ID, time.Now().Add(off).Truncate(time.Second))
}

func (w *watch) stands(want health.ClockState, words string) {
	w.T.Helper()
	got := w.clock.Standing(w.account, w.Clocks.Wall())
	if got.State != want || !strings.Contains(got.Sentence(), words) || (words == "") != (got.Sentence() == "") {
		w.T.Errorf("the clock stands at %d, %q; want %d, %q", got.State, got.Sentence(), want, words)
	}
}

func watched(t *testing.T, play func(w *watch)) {
	t.Helper()
	rig.Scheduled(t, func(p *rig.Timetable) {
		w := &watch{Timetable: p, boot: 5, account: p.Account}
		w.account.BaseURL = "https://api.example.com/v2"
		w.restart()
		play(w)
	})
}

// TestAClockAnHourFastStartsNothing: from the start of the program on, in the
// middle of its life, and until it is put right; then without anybody's help.
func TestAClockAnHourFastStartsNothing(t *testing.T) {
	watched(t, func(w *watch) {
		soon, later := w.Order(5*time.Minute), w.Order(50*time.Minute)
		w.Clocks.Jump(time.Hour)
		w.restart()
		w.Pass(5 * time.Second)
		w.stands(health.ClockUnheard, "")
		w.Is(soon.ID, sms.CampaignScheduled, "")
		w.answers(0)
		w.Pass(5 * time.Second)
		w.stands(health.ClockWrong,
			"is 60 minutes ahead of the provider's. Scheduled campaigns wait. Set the computer's clock")
		w.Is(soon.ID, sms.CampaignScheduled, "")
		w.Is(later.ID, sms.CampaignScheduled, "")
		w.Clocks.Jump(-time.Hour)
		w.Pass(2 * time.Second)
		w.stands(health.ClockRight, "")
		w.Is(soon.ID, sms.CampaignScheduled, "")
		w.Pass(5 * time.Minute)
		w.Is(soon.ID, sms.CampaignRunning, "")
		w.Clocks.Jump(time.Hour)
		w.Pass(time.Minute)
		w.Is(later.ID, sms.CampaignScheduled, "")
		w.Clocks.Jump(-time.Hour)
		w.Pass(44*time.Minute - 40*time.Second)
		w.Is(later.ID, sms.CampaignScheduled, "")
		w.Pass(time.Minute)
		w.Is(later.ID, sms.CampaignRunning, "")
		if n := strings.Count(w.log.String(), "the computer's clock is wrong"); n != 2 {
			t.Errorf("said %d times: %s", n, w.log.String())
		}
	})
}

// TestAClockThatWasSlow: what became due long ago in truth is left to a person,
// with the true reason.
func TestAClockThatWasSlow(t *testing.T) {
	watched(t, func(w *watch) {
		w.answers(0)
		missed, next := w.Order(10*time.Minute), w.Order(50*time.Minute)
		w.Clocks.Jump(-2 * time.Hour)
		w.Pass(time.Hour)
		w.stands(health.ClockWrong, "is 2 hours behind the provider's")
		w.Is(missed.ID, sms.CampaignScheduled, "")
		w.Clocks.Jump(2 * time.Hour)
		w.Pass(2 * time.Second)
		w.Is(missed.ID, sms.CampaignPaused, "but the clock of the computer that runs smsdesk was wrong then")
		w.Is(next.ID, sms.CampaignRunning, "")
	})
}

// TestOneOddAnswerChangesNothing: nor a second of doubt, nor a burst of them.
func TestOneOddAnswerChangesNothing(t *testing.T) {
	watched(t, func(w *watch) {
		for _, off := range []time.Duration{0, time.Second, -time.Second, 30 * time.Second} {
			w.answers(off)
			w.Pass(6 * time.Second)
			w.stands(health.ClockRight, "")
		}
		for range 10 {
			w.answers(2 * time.Hour)
			w.stands(health.ClockRight, "")
		}
		w.Pass(6 * time.Second)
		w.answers(0)
		w.stands(health.ClockRight, "")
		// A service that is sure of it is believed.
		for range 3 {
			w.Pass(6 * time.Second)
			w.answers(2 * time.Hour)
		}
		w.stands(health.ClockWrong, "is 2 hours behind the provider's")
		// Where the first two disagree, nothing starts until a third decides.
		w.boot++
		w.restart()
		w.answers(2 * time.Hour)
		w.Pass(6 * time.Second)
		w.answers(0)
		w.stands(health.ClockWrong, "is 2 hours behind the provider's")
		w.Pass(6 * time.Second)
		w.answers(0)
		w.stands(health.ClockRight, "")
	})
}

// TestWhatIsKnownAtAStart: under the same start of the computer what was heard
// before; else schedules wait for an answer, but not for ever.
func TestWhatIsKnownAtAStart(t *testing.T) {
	watched(t, func(w *watch) {
		w.answers(0)
		w.stands(health.ClockRight, "")
		w.restart()
		w.stands(health.ClockRight, "")
		w.Clocks.Jump(time.Hour)
		w.restart()
		w.stands(health.ClockWrong, "60 minutes ahead")
		w.Clocks.Jump(-time.Hour)
		w.boot++
		w.restart()
		w.stands(health.ClockUnheard, "")
		c := w.Order(time.Minute)
		w.Pass(9 * time.Minute)
		w.Is(c.ID, sms.CampaignScheduled, "")
		w.Pass(2 * time.Minute)
		w.stands(health.ClockUnchecked, "")
		w.Is(c.ID, sms.CampaignRunning, "")
		// An answer without a date is one: there is nothing to wait for.
		w.boot++
		w.restart()
		w.clock.Hear(w.Timetable.Account.ID, time.Time{})
		w.stands(health.ClockUnchecked, "")
	})
}

// TestTheJournalKnowsALaterTime: then the clock is behind, unless a service
// elsewhere says that it was ahead before. One on this computer has no other
// clock, so that it can accuse but not acquit.
func TestTheJournalKnowsALaterTime(t *testing.T) {
	watched(t, func(w *watch) {
		c := w.Order(5 * time.Minute)
		w.newest = w.Clocks.Wall().Add(2 * time.Hour)
		w.account.BaseURL = "http://127.0.0.1:1/v2"
		w.stands(health.ClockWrong, "is 2 hours behind the last request in the journal")
		w.answers(0)
		w.stands(health.ClockWrong, "is 2 hours behind the last request in the journal")
		w.Pass(6 * time.Minute)
		w.Is(c.ID, sms.CampaignScheduled, "")
		w.account.BaseURL = "https://api.example.com/v2"
		w.stands(health.ClockRight, "")
		w.account.BaseURL = "http://127.0.0.1:1/v2"
		w.mu.Lock()
		w.newest = time.Time{}
		w.mu.Unlock()
		w.stands(health.ClockUnchecked, "")
		w.Pass(2 * time.Second)
		w.Is(c.ID, sms.CampaignRunning, "")
	})
}

// TestAnUnwatchedClock: a Clock that nobody asks holds nothing.
func TestAnUnwatchedClock(t *testing.T) {
	rig.Scheduled(t, func(p *rig.Timetable) {
		if s := p.Desk.ClockStanding(p.Account); s.State != health.ClockUnchecked || s.Holds() {
			t.Errorf("%+v", s)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := health.ClockReading{At: health.Steady{Boot: 1, Ms: 1000}, Service: 5000, Wall: 5000}
		if by, known := r.Ahead(health.Steady{Boot: 1, Ms: 3000}, 97_000); !known || by != 90*time.Second {
			t.Errorf("%v %v", by, known)
		}
		if _, known := r.Ahead(health.Steady{Boot: 2, Ms: 3000}, 7000); known {
			t.Error("known although the computer was started since")
		}
	})
}
