package workers_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
)

// ended is a store in which one campaign has ended, and the account's records.
type ended struct {
	workers.ReaderStore
	campaign sms.Campaign
	read     int64 // when the balance was read
	reads    int
}

func (e *ended) Accounts(context.Context) ([]sms.Account, error) { return []sms.Account{{ID: 1}}, nil }
func (e *ended) MarkLate(context.Context, int64, int64, int64) ([]int64, error) {
	return nil, nil
}
func (e *ended) DoubtRateAnswers(context.Context, int64, string, int64) (bool, error) {
	return false, nil
}
func (e *ended) RecordSettings(context.Context, int64) (s sms.RecordSettings, err error) {
	return s, nil
}
func (e *ended) Balances(context.Context, int64) ([]sms.Balance, error) {
	return []sms.Balance{{ReadAt: e.read}}, nil
}
func (e *ended) Reading(context.Context, int64, sms.RecordKind) (sms.Reading, error) {
	return sms.Reading{At: e.read}, nil
}
func (e *ended) Campaigns(_ context.Context, f sms.CampaignFilter) (list []sms.CampaignRow, more bool, err error) {
	for _, state := range f.States {
		if state == e.campaign.State {
			list = append(list, sms.CampaignRow{Campaign: e.campaign})
		}
	}
	return list, false, nil
}
func (e *ended) PurgeDrafts(context.Context, int64) error            { return nil }
func (e *ended) PurgeWritten(context.Context, int64) error           { return nil }
func (e *ended) Tidy(context.Context, int64) (bool, error)           { return false, nil }
func (e *ended) PurgeSessions(context.Context, int64, int64) error   { return nil }
func (e *ended) PurgeTokenRequests(context.Context, int64) error     { return nil }
func (e *ended) UnmailedAlarms(context.Context) ([]sms.Alarm, error) { return nil, nil }

func (e *ended) ReadBalance(context.Context, sms.Account) error {
	e.reads++
	e.read = time.Now().UnixMilli()
	return nil
}
func (e *ended) ReadRecords(ctx context.Context, a sms.Account) error { return e.ReadBalance(ctx, a) }
func (e *ended) Standing(sms.Account, time.Time) health.ClockStanding {
	return health.ClockStanding{State: health.ClockUnchecked}
}

// TestTheBalanceIsReadAfterACampaignEnded: one that was cancelled has spent
// money, too.
func TestTheBalanceIsReadAfterACampaignEnded(t *testing.T) {
	for state, want := range map[sms.CampaignState]int{sms.CampaignFinished: 1, sms.CampaignCancelled: 1,
		sms.CampaignRunning: 0} {
		synctest.Test(t, func(t *testing.T) {
			now := time.Now().UnixMilli()
			e := &ended{read: now, campaign: sms.Campaign{ID: 1, State: state, StartedAt: now, FinishedAt: now + 60_000}}
			reader := workers.NewReader(e, e, e, feed.New(), slog.New(slog.DiscardHandler), time.Now)
			ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
			defer stop()
			time.Sleep(61 * time.Second)
			reader.Run(ctx)
			if e.reads != want {
				t.Errorf("%s: the balance was read %d times, want %d", state, e.reads, want)
			}
		})
	}
}
