package page

import (
	"context"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// PricesFrom is how far back campaigns tell what a part costs.
const PricesFrom = 90 * 24 * time.Hour

// UsableSenders are the approved sender IDs of an account, each once.
func (s *Site) UsableSenders(v *Visit, a sms.Account) ([]string, error) {
	all, err := s.store.SenderIDs(v.R.Context(), a.ID)
	if err != nil {
		return nil, err
	}
	var usable []string
	for _, id := range all {
		if id.Usable() && !Contains(usable, id.Text) {
			usable = append(usable, id.Text)
		}
	}
	return usable, nil
}

// UsableTemplates are the approved templates of an account.
func (s *Site) UsableTemplates(ctx context.Context, a sms.Account) ([]sms.Template, error) {
	all, err := s.store.Templates(ctx, a.ID)
	var usable []sms.Template
	for _, t := range all {
		if t.Usable() {
			usable = append(usable, t)
		}
	}
	return usable, err
}

// Priced are the campaigns that tell what a part costs.
type Priced interface {
	Costs(ctx context.Context, account, since int64) ([]sms.Cost, error)
}

// PriceOf is what a part costs, as it was set or as campaigns tell it.
func PriceOf(ctx context.Context, store Priced, a sms.Account, now time.Time) (views.Price, error) {
	costs, err := store.Costs(ctx, a.ID, now.Add(-PricesFrom).UnixMilli())
	overall, _ := sms.LearnPrices(sms.PriceSamples(costs))
	return views.PriceOf(a, overall), err
}

// Backups is what there is to say about them.
func (s *Site) Backups(ctx context.Context, v *Visit) (views.Backups, error) {
	set, err := s.store.ReadSetting(ctx, health.SettingBackup)
	if err != nil {
		return views.Backups{}, err
	}
	b := views.Backups{Formatter: s.Formatter(v, v.Account)}
	if b.Last, err = health.ReadBackup(set); err != nil {
		return b, err
	}
	if s.Backup != nil {
		b.Plan, b.Doing = s.Backup.Plan(), s.Backup.Doing()
	}
	for _, a := range v.Accounts {
		b.Live = b.Live || !a.Test
	}
	return b, nil
}

// balanceBands are what people should know of the balance, whatever page they
// are on: that it is low, and the latest alarm that nobody has seen to.
func (v *Visit) balanceBands(ctx context.Context, balances []sms.Balance) ([]views.Banner, error) {
	settings, err := v.site.store.RecordSettings(ctx, v.Account.ID)
	if err != nil {
		return nil, err
	}
	var bands []views.Banner
	more := views.Link{Text: "View balance", Href: views.BalancePath}
	if b := sms.ForMessages(balances); b != nil && b.Below(settings.WarnBelow) {
		bands = append(bands, views.Banner{ID: "balance-low", Tone: views.ToneWarn,
			Text: views.LowBalance(v.Account, *b, settings.WarnBelow), Link: more})
	}
	alarms, err := v.site.store.Alarms(ctx, v.Account.ID)
	for _, a := range alarms {
		if a.Kind != sms.AlarmLow {
			return append(bands, views.Banner{ID: "balance-alarm", Tone: views.ToneWarn, Text: a.Sentence(v.Account.Location()) +
				".", Link: more}), err
		}
	}
	return bands, err
}

// Formatter is for whom a page about an account's things is made.
func (s *Site) Formatter(v *Visit, a sms.Account) views.Formatter {
	return views.Formatter{Now: s.Now().In(a.Location()), Country: a.Country, Masked: !v.User.Role.AtLeast(sms.Sender)}
}

// About fits a frame to a thing that may belong to another account than the
// chosen one: what is said about test mode must be true of the thing.
func About(f views.PageFrame, v *Visit, a sms.Account) views.PageFrame {
	if a.ID == v.Account.ID {
		return f
	}
	f.Account.Test = a.Test
	f.Bands = append(f.Bands, views.Banner{ID: "other-account", Tone: views.ToneWarn,
		Text: "This belongs to another account, " + a.Name + ". You are using " + v.Account.Name +
			". Switch account to see it."})
	return f
}

// DecisionHref leads to the one campaign that waits for a decision, or to the
// list of those that do.
func (s *Site) DecisionHref(ctx context.Context, account int64) (string, error) {
	rows, _, err := s.store.Campaigns(ctx, sms.CampaignFilter{AccountID: account, Decision: true, Limit: 2})
	if err != nil || len(rows) != 1 {
		return "", err
	}
	return views.DoubtPath(rows[0].Campaign.ID), nil
}

// RecordPage is what the pages about the chosen account's records have in common.
func (s *Site) RecordPage(v *Visit, kind sms.RecordKind, bad sms.Invalid) (views.RecordPage, error) {
	ctx, a := v.R.Context(), v.Account
	p := views.RecordPage{Formatter: s.Formatter(v, a), Account: a.Name, NoAccount: a.ID == 0, Bad: bad,
		MaySend: v.User.Role.AtLeast(sms.Sender), MayManage: v.User.Role.AtLeast(sms.Manager)}
	reading, err := s.store.Reading(ctx, a.ID, kind)
	if err != nil {
		return p, err
	}
	settings, err := s.store.RecordSettings(ctx, a.ID)
	p.Reading, p.Creates = reading, settings.Creates
	return p, err
}

const (
	// silenceAfter is how long no report may come while messages wait for one.
	silenceAfter = 30 * time.Minute
)

const (
	// silenceReach is how long before the last report a message may have been
	// sent that makes the silence odd.
	silenceReach = 10 * time.Minute
)

// Silence counts the messages sent since about the last report, when that is
// long ago. Reports that never came at all are another page's matter.
func (s *Site) Silence(ctx context.Context, a sms.Account, last int64) (int64, error) {
	now := s.Now()
	if last == 0 || now.Sub(time.UnixMilli(last)) < silenceAfter {
		return 0, nil
	}
	return s.store.CountSilent(ctx, a.ID, last-silenceReach.Milliseconds(), now.Add(-silenceReach).UnixMilli())
}

// Retention is how long numbers and texts are kept.
func (s *Site) Retention(ctx context.Context) (sms.Retention, error) {
	return sms.ReadRetention(s.store.ReadSetting(ctx, sms.SettingRetention))
}
