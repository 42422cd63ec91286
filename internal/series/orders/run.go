package orders

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/series"
	"smsdesk/internal/sms"
)

// RunLists make the list of a run.
type RunLists interface {
	// RunList brings it one step further and gives it as it stands.
	RunList(ctx context.Context, by sms.User, s series.Series, r series.Run) (sms.List, error)
}

// pricesFrom is how far back campaigns tell what a part costs, and pricesLeast how
// many of them it takes.
const (
	pricesFrom  = 90 * 24 * time.Hour
	pricesLeast = 3
)

// Advance brings a series further: it begins the runs that are due soon, and brings
// those that are begun nearer to a scheduled campaign. What was missed by more than
// series.MaxLate is asked about. It may be called at any time, also after a crash in
// its middle.
func (d *Series) Advance(ctx context.Context, id int64, lists RunLists) error {
	s, err := d.store.Series(ctx, id)
	if err != nil {
		return err
	}
	maker, err := d.maker(ctx, s)
	if err != nil {
		return err
	}
	if s.State == series.Active {
		if s, err = d.begin(ctx, s, maker); err != nil {
			return err
		}
	}
	runs, err := d.store.SeriesRuns(ctx, id, series.MostRuns)
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(runs) {
		if r.State == series.Making && (s.State == series.Active || s.State == series.Ended) {
			if s, err = d.make(ctx, s, maker, r, lists); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin takes the days that are due soon as runs, unless something changed that a
// person agreed to: then the series pauses.
func (d *Series) begin(ctx context.Context, s series.Series, maker sms.User) (series.Series, error) {
	lead, err := d.lead(ctx, s)
	if err != nil || s.NextAt == 0 || d.now().Add(lead).UnixMilli() < s.NextAt {
		return s, err
	}
	why, err := d.changed(ctx, s, maker)
	if err != nil {
		return s, err
	}
	return d.save(ctx, s, func(now *series.Series) (runs []series.Run, err error) {
		if why != "" {
			now.PauseFor(why)
			return nil, nil
		}
		for next, ok := now.Next(); ok && next.At.At <= d.now().Add(lead).UnixMilli(); next, ok = now.Next() {
			r := now.Begin(next)
			if r.Late(d.now()) {
				r.State, r.Why = series.Asking, r.MissedSentence()
				// One question is enough: whoever answers it knows the others by it.
				for i := range runs {
					if runs[i].State == series.Asking {
						runs[i].State, runs[i].Why = series.Skipped, "It was missed, and so was the next one, which is asked about"
					}
				}
			}
			runs = append(runs, r)
		}
		now.Look()
		return runs, nil
	})
}

// lead is how long before its time a run is made.
func (d *Series) lead(ctx context.Context, s series.Series) (time.Duration, error) {
	account, err := d.store.Account(ctx, s.AccountID)
	if err != nil || account.ApproveAbove == 0 {
		return series.Lead, err
	}
	a, err := d.store.Audience(ctx, s.Audience)
	if errors.Is(err, sms.ErrNotFound) {
		return series.Lead, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := d.store.CountAudience(ctx, a)
	if err != nil || n <= account.ApproveAbove {
		return series.Lead, err
	}
	return series.ApprovalLead, nil
}

// changed says what is not any more as it was agreed to, or "".
func (d *Series) changed(ctx context.Context, s series.Series, maker sms.User) (string, error) {
	if maker.May(sms.Sender, "send series") != nil {
		return s.CreatedName + ", in whose name it sends, can no longer send. Resume it to send it in your name", nil
	}
	sentence, err := d.audienceProblem(ctx, s.AccountID, s.Audience)
	if err != nil {
		return "", err
	}
	if sentence != "" {
		return "Its audience is empty or was deleted. Add contacts to it, or stop the series", nil
	}
	if sentence, err = d.desk.SenderProblem(ctx, s.AccountID, s.SenderID); err != nil || sentence != "" {
		return sentence, err
	}
	if s.Template == "" {
		return "", nil
	}
	t, err := d.desk.UsableTemplate(ctx, maker, s.AccountID, s.Template)
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return bad["template"], nil
	}
	if err == nil && t.Text != s.Text {
		return fmt.Sprintf("The text of its template %q was changed. Read the new text, then resume", s.Template), nil
	}
	return "", err
}

// make brings a run nearer to a scheduled campaign.
func (d *Series) make(ctx context.Context, s series.Series, maker sms.User, r series.Run,
	lists RunLists) (series.Series, error) {
	if r.Late(d.now()) {
		return d.ask(ctx, s, r, r.MissedSentence())
	}
	l, err := lists.RunList(ctx, maker, s, r)
	if sentence, ok := sentenceOf(err); ok {
		return d.ask(ctx, s, r, sentence)
	}
	if err != nil {
		return s, err
	}
	r.ListUID, r.LeftOut = l.UID, l.Tally.Bad()
	switch l.State {
	case sms.ListFailed:
		return d.ask(ctx, s, r, l.Problem)
	case sms.ListMade:
		// From here on the run counts as prepared, unless somebody paused or stopped
		// the series meanwhile.
		r.CampaignID = l.CampaignID
		if s, err = d.put(ctx, s, r, series.Making, r.Why); err != nil {
			return s, err
		}
		return d.schedule(ctx, s, maker, r)
	}
	return s, nil
}

// schedule gives the campaign of a run its time, or puts it before a second person.
func (d *Series) schedule(ctx context.Context, s series.Series, maker sms.User, r series.Run) (series.Series, error) {
	c, err := d.store.Campaign(ctx, r.CampaignID)
	if errors.Is(err, sms.ErrNotFound) {
		return d.put(ctx, s, r, series.Skipped, "Its draft was deleted")
	}
	if err != nil {
		return s, err
	}
	if !c.MayStart() {
		return d.put(ctx, s, r, series.Made, r.Why)
	}
	over, err := d.overCeiling(ctx, s, c)
	if err != nil {
		return s, err
	}
	if over != "" {
		return d.tooDear(ctx, s, r, over)
	}
	at := r.At
	if soonest := d.now().Add(time.Minute); at.At < soonest.UnixMilli() {
		at = sms.ScheduleAt(soonest.In(at.Time().Location()))
	}
	needed, err := d.desk.NeedsApproval(ctx, c)
	if err != nil {
		return s, err
	}
	order := desk.StartOrder{Version: c.Version}
	if needed {
		_, err = d.desk.AskApproval(ctx, maker, c.ID, desk.Ask{StartOrder: order, At: at})
	} else {
		_, err = d.desk.ScheduleCampaign(ctx, maker, c.ID, at, order)
	}
	if sentence, ok := sentenceOf(err); ok {
		return d.ask(ctx, s, r, sentence)
	}
	if err != nil {
		return s, err
	}
	return d.put(ctx, s, r, series.Made, r.Why)
}

// overCeiling says that a campaign would cost more than a run of the series may.
func (d *Series) overCeiling(ctx context.Context, s series.Series, c sms.Campaign) (string, error) {
	if s.Ceiling == 0 {
		return "", nil
	}
	account, err := d.store.Account(ctx, s.AccountID)
	if err != nil {
		return "", err
	}
	price := big.NewRat(account.PricePerPart, 100)
	if account.PricePerPart == 0 {
		costs, err := d.store.Costs(ctx, account.ID, d.now().Add(-pricesFrom).UnixMilli())
		if err != nil {
			return "", err
		}
		learnt, _ := sms.LearnPrices(sms.PriceSamples(costs))
		if learnt.Samples < pricesLeast {
			return "What a part costs is not known yet, so nobody can say whether a run stays below its ceiling. " +
				"Set the price in the account's settings, or resume without a ceiling", nil
		}
		price = learnt.Middle
	}
	cost := new(big.Rat).Mul(price, big.NewRat(c.Parts, 1))
	if cost.Cmp(big.NewRat(s.Ceiling, 100)) <= 0 {
		return "", nil
	}
	return fmt.Sprintf("The run would cost about %s%s, more than its ceiling of %s%s. Resume with another ceiling, or stop it",
		account.Currency, cost.FloatString(2), account.Currency, big.NewRat(s.Ceiling, 100).FloatString(2)), nil
}

// tooDear pauses a series over the cost of a run, which is asked about.
func (d *Series) tooDear(ctx context.Context, s series.Series, r series.Run, why string) (series.Series, error) {
	return d.save(ctx, s, func(now *series.Series) ([]series.Run, error) {
		if r.State, r.Why = series.Asking, why; now.State == series.Active {
			now.PauseFor(why)
		}
		return []series.Run{r}, nil
	})
}

// ask leaves a run to a person.
func (d *Series) ask(ctx context.Context, s series.Series, r series.Run, why string) (series.Series, error) {
	d.log.Warn("run of a series held for a person", "series", s.ID, "run", r.N)
	return d.put(ctx, s, r, series.Asking, why)
}

func (d *Series) put(ctx context.Context, s series.Series, r series.Run, state series.RunState,
	why string) (series.Series, error) {
	return d.save(ctx, s, func(*series.Series) ([]series.Run, error) {
		r.State, r.Why = state, why
		return []series.Run{r}, nil
	})
}

// save changes a series and its runs, unless somebody changed any of them since s was
// read: then the error is sms.ErrConflict.
func (d *Series) save(ctx context.Context, s series.Series,
	change func(*series.Series) ([]series.Run, error)) (series.Series, error) {
	after, err := d.store.UpdateSeries(ctx, s.ID, d.ms(), unchanged(s, change))
	if err != nil {
		return s, err
	}
	d.feed.Publish(feed.Campaigns(s.AccountID))
	return after, nil
}

func unchanged(s series.Series, change func(*series.Series) ([]series.Run, error)) func(*series.Series) ([]series.Run,
	error) {
	return func(now *series.Series) ([]series.Run, error) {
		if now.Version != s.Version {
			return nil, fmt.Errorf("change series %d: %w", s.ID, sms.ErrConflict)
		}
		return change(now)
	}
}

// sentenceOf is the first sentence of an Invalid, by the names of its fields.
func sentenceOf(err error) (string, bool) {
	bad, ok := errors.AsType[sms.Invalid](err)
	if !ok || len(bad) == 0 {
		return "", false
	}
	return bad[slices.Min(slices.Collect(maps.Keys(bad)))], true
}
