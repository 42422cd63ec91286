package workers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// Mailer sends a mail to people outside of the desk.
type Mailer interface {
	Mail(ctx context.Context, to []string, subject, text string) error
}

type guardStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	RecordSettings(ctx context.Context, account int64) (sms.RecordSettings, error)
	UpdateCampaign(ctx context.Context, id, now int64, change func(*sms.Campaign) error) (sms.Campaign, error)
	Reading(ctx context.Context, account int64, kind sms.RecordKind) (sms.Reading, error)
	PutAlarm(ctx context.Context, a sms.Alarm) error
	UnmailedAlarms(ctx context.Context) ([]sms.Alarm, error)
	AlarmMailed(ctx context.Context, id int64) error
}

const (
	// minBalanceMaxAge is how old the balance may be while something is sent that has
	// to stop at a floor, and how often it is read after campaigns.
	minBalanceMaxAge = 20 * time.Second
	// mailAgain is how long after a mail that failed the next one is tried, and
	// mailFor how long an alarm is worth a mail.
	mailAgain = 5 * time.Minute
	mailFor   = 24 * time.Hour
)

// MailWith makes a Reader mail what people should know of a balance.
func (r *Reader) MailWith(m Mailer) { r.mailer = m }

// needsBalanceCheck says that the account has a floor and that something is being sent.
func (r *Reader) needsBalanceCheck(ctx context.Context, account int64) (bool, error) {
	s, err := r.store.RecordSettings(ctx, account)
	if err != nil || s.Floor <= 0 {
		return false, err
	}
	running, err := r.running(ctx, account)
	return len(running) > 0, err
}

func (r *Reader) running(ctx context.Context, account int64) ([]sms.CampaignRow, error) {
	list, _, err := r.store.Campaigns(ctx, sms.CampaignFilter{AccountID: account,
		States: []sms.CampaignState{sms.CampaignRunning}, Limit: 100})
	return list, err
}

// enforceMinBalance pauses what is being sent once the balance has come down to the
// account's floor. A balance that cannot be read as an amount stops nothing.
func (r *Reader) enforceMinBalance(ctx context.Context, a sms.Account) error {
	s, err := r.store.RecordSettings(ctx, a.ID)
	if err != nil || s.Floor <= 0 {
		return err
	}
	balances, err := r.store.Balances(ctx, a.ID)
	if err != nil {
		return err
	}
	b := sms.ForMessages(balances)
	if b == nil || !b.Below(s.Floor+1) {
		return nil
	}
	running, err := r.running(ctx, a.ID)
	if err != nil {
		return err
	}
	paused := false
	for _, row := range running {
		if row.Campaign.StartedAt > b.ReadAt {
			continue
		}
		_, err := r.store.UpdateCampaign(ctx, row.Campaign.ID, r.now().UnixMilli(), func(c *sms.Campaign) error {
			return c.PauseFor(sms.PauseFloor, sms.FloorSentence(*b))
		})
		if errors.Is(err, sms.ErrConflict) {
			continue // somebody stopped it meanwhile, or it ended
		}
		if err != nil {
			return err
		}
		paused = true
		r.feed.Publish(feed.Campaign(row.Campaign.ID), feed.Campaigns(a.ID))
	}
	if !paused {
		return nil
	}
	r.log.Warn("sending is paused: the balance came down to the floor", "account", a.ID)
	return r.store.PutAlarm(ctx, sms.Alarm{AccountID: a.ID, Kind: sms.AlarmFloor, PluginType: b.PluginType, At: b.ReadAt,
		From: b.ReadAt, Before: b.Credits, After: b.Credits})
}

// sendAlerts mails what nobody was mailed about yet. Without a mailer or an
// address an alarm is only shown.
func (r *Reader) sendAlerts(ctx context.Context) error {
	list, err := r.store.UnmailedAlarms(ctx)
	if err != nil || len(list) == 0 || r.now().Sub(r.mailed) < mailAgain {
		return err
	}
	for _, alarm := range list {
		if err := r.mailAlarm(ctx, alarm); err != nil {
			r.mailed = r.now()
			return err
		}
		if err := r.store.AlarmMailed(ctx, alarm.ID); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) mailAlarm(ctx context.Context, alarm sms.Alarm) error {
	s, err := r.store.RecordSettings(ctx, alarm.AccountID)
	if err != nil {
		return err
	}
	to := s.Addresses()
	if r.mailer == nil || len(to) == 0 || r.now().UnixMilli()-alarm.At > mailFor.Milliseconds() {
		return nil
	}
	a, err := r.store.Account(ctx, alarm.AccountID)
	if err != nil {
		return err
	}
	sentence := alarm.Sentence(a.Location())
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	text := fmt.Sprintf(
		"%s\r\n\r\nAccount: %s\r\nWe send this email once. See the Balance page in smsdesk for details.\r\n", sentence, a.Name)
	subject, _, _ := strings.Cut(sentence, ". ")
	return r.mailer.Mail(ctx, to, "smsdesk: "+strings.TrimSuffix(subject, "."), text)
}
