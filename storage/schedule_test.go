package storage

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

// planned schedules a draft, as the desk does.
func (f *fixture) planned(text string, at int64) sms.Campaign {
	f.t.Helper()
	c, err := f.db.UpdateCampaign(f.ctx, f.newDraft(text, numbers(3)...).ID, f.now(), func(c *sms.Campaign) error {
		return c.ScheduleAt(sms.Schedule{At: at, Zone: "Africa/Lagos", Offset: 3600}, adaObi, c.Version, true)
	})
	f.must(err)
	return c
}

func TestAScheduleIsRememberedAndSendsNothing(t *testing.T) {
	f := newFixture(t)
	c := f.planned("a", began+5000)
	if d := cmp.Diff(c, func() sms.Campaign { got := f.campaign(c.ID); got.Version = c.Version; return got }()); d != "" {
		t.Error(d)
	}
	if got := f.campaign(c.ID); got.Schedule() != (sms.Schedule{At: began + 5000, Zone: "Africa/Lagos", Offset: 3600}) ||
		!got.SendAgain || got.State != sms.CampaignScheduled {
		t.Errorf("%+v", got)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Draft: 3})
	if a := f.claimAfter(0, 10); a != nil {
		t.Errorf("a scheduled campaign was claimed: %+v", a)
	}
	f.must(f.db.PurgeDrafts(f.ctx, f.now()))
	f.check()
}

func TestDueCampaignsAreThoseWhoseTimeHasCome(t *testing.T) {
	f := newFixture(t)
	third, first, second := f.planned("a", began+3000), f.planned("b", began+1000), f.planned("c", began+2000)
	f.newDraft("d", numbers(1)...)
	f.start("e", numbers(1)...)
	for at, want := range map[int64][]int64{began + 999: nil, began + 1000: {first.ID},
		began + 2999: {first.ID, second.ID}, began + 9000: {first.ID, second.ID, third.ID}} {
		got, err := f.db.DueCampaigns(f.ctx, at)
		if f.must(err); !slices.Equal(got, want) {
			t.Errorf("at %d: %v, want %v", at-began, got, want)
		}
	}
}

// TestADueCampaignStartsOnce: whoever comes second finds it started.
func TestADueCampaignStartsOnce(t *testing.T) {
	f := newFixture(t)
	c := f.planned("a", began)
	var won, lost atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_, err := f.db.UpdateCampaign(f.ctx, c.ID, f.now(), func(now *sms.Campaign) error {
				return now.StartDue(c.Version, time.UnixMilli(f.now()))
			})
			switch {
			case err == nil:
				won.Add(1)
			case errors.Is(err, sms.ErrConflict):
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 || lost.Load() != 49 {
		t.Errorf("%d starts won, %d lost", won.Load(), lost.Load())
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Queued: 3})
	f.check()
}

// A campaign that was held instead of started has all of its messages yet, and
// going on with it is its first start.
func TestAHeldCampaignKeepsItsMessagesUntilItStarts(t *testing.T) {
	f := newFixture(t)
	c := f.planned("a", began)
	f.set(c.ID, sms.CampaignPaused)
	if got := f.campaign(c.ID); !got.Held() || got.MayStop() {
		t.Fatalf("%+v", got)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Draft: 3})
	f.set(c.ID, sms.CampaignRunning)
	f.wantStates(c.ID, map[sms.State]int{sms.Queued: 3})
	f.check()
}

// Taking a schedule back after a long time must not make an old draft of it
// that the next cleaning takes away.
func TestADraftThatWasScheduledIsNotForgottenAtOnce(t *testing.T) {
	f := newFixture(t)
	c := f.planned("a", began+5000)
	before := f.now()
	f.set(c.ID, sms.CampaignDraft)
	f.must(f.db.PurgeDrafts(f.ctx, before))
	f.wantStates(c.ID, map[sms.State]int{sms.Draft: 3})
	f.must(f.db.PurgeDrafts(f.ctx, f.now()))
	if _, err := f.db.Campaign(f.ctx, c.ID); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
