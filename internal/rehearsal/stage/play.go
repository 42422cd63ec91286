package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/phone"
	"smsdesk/internal/plan"
	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sms"
)

const (
	// answersIn is how long the provider takes for an answer, as rehearsed.
	answersIn = 300 * time.Millisecond
	inFlight  = 8
	// settlesIn is how much later reports have settled the doubts that they can.
	settlesIn = 10 * time.Minute
	// reportsIn bounds how long the last reports are waited for.
	reportsIn = 30 * time.Second
	looksAt   = 20 * time.Millisecond
	// backoffIn is how long a connection that failed makes the next one wait.
	backoffIn = 3 * time.Second
	// maxPauses bounds how often it is continued: on the worst day each request is
	// lost, and nobody would go on.
	maxPauses = 20
)

var (
	errGaveUp = errors.New("the rehearsal paused too often")
	errStuck  = errors.New("nothing more left in the rehearsal")
)

// play is one rehearsal at work.
type play struct {
	*Stage
	r     rehearsal.Rehearsal
	saved time.Time
	house *house
	draft sms.Campaign // as it is in the house
	rows  []sms.Recipient
}

// run plays it to its end. Its folder is gone afterwards.
func (p *play) run(ctx context.Context) error {
	account, err := p.store.Account(ctx, p.r.AccountID)
	if err != nil {
		return err
	}
	s := setting{account: account, seed: uint64(p.r.CampaignID), start: p.now(), latency: answersIn, inFlight: inFlight,
		speed: rehearsal.Speed(account.PerMinute)}
	var source sms.Campaign
	if p.r.Kind == rehearsal.Watch {
		s, source = watched(s), watchedCampaign()
		p.rows = watchedRows()
	} else if source, err = p.read(ctx, &s); err != nil {
		return err
	}
	s.sender = source.SenderID
	p.r.Rows, p.r.Result.Speed, p.r.Result.Reports = int64(len(p.rows)), s.speed, s.day.Reports
	folder, remove, err := p.makeFolder()
	if err != nil {
		return err
	}
	defer remove()
	if p.house, err = newHouse(ctx, folder, s); err != nil {
		return err
	}
	err = p.perform(ctx, source)
	return errors.Join(err, p.house.end())
}

// read takes the rows of the real draft and learns the day.
func (p *play) read(ctx context.Context, s *setting) (sms.Campaign, error) {
	c, err := p.store.Campaign(ctx, p.r.CampaignID)
	if err != nil {
		return c, err
	}
	past, err := p.store.Past(ctx, p.r.AccountID, p.now().Add(-rehearsal.Reach).UnixMilli())
	if err != nil {
		return c, err
	}
	if s.day = rehearsal.Learn(past); p.r.Kind == rehearsal.Bad {
		s.day = rehearsal.BadDay()
	}
	at := int64(0)
	for row, err := range p.store.Recipients(ctx, c.ID) {
		if err != nil {
			return c, err
		}
		if rehearsal.Picks(at, p.r.All) && at < p.r.All {
			p.rows = append(p.rows, row)
		}
		at++
	}
	if len(p.rows) == 0 {
		return c, fmt.Errorf("rehearse campaign %d: %w: nobody is left of its list", c.ID, sms.ErrNotFound)
	}
	return c, nil
}

// perform lets the house send the rows and finds out what became of them.
func (p *play) perform(ctx context.Context, source sms.Campaign) error {
	if err := p.enter(ctx, source); err != nil {
		return err
	}
	h := p.house
	started, err := h.desk.StartCampaign(ctx, h.by, p.draft.ID,
		desk.StartOrder{Version: p.draft.Version, Again: true, FromToken: true, MayRepeat: true})
	if err != nil {
		return err
	}
	if p.r.Kind == rehearsal.Watch {
		return p.showSteps(ctx, started)
	}
	if err := p.untilSent(ctx, never); err != nil {
		return err
	}
	if err := p.untilReported(ctx); err != nil {
		return err
	}
	if _, err := p.settle(ctx); err != nil {
		return err
	}
	return p.find(ctx, started)
}

// enter puts the rows into the house as a draft.
func (p *play) enter(ctx context.Context, source sms.Campaign) error {
	h := p.house
	c := sms.Campaign{AccountID: h.account.ID, Name: "Rehearsal", SenderID: source.SenderID, Text: source.Text,
		Flash: source.Flash, CreatedBy: h.by.ID, CreatedName: h.by.Name, TextKey: source.TextKey}
	messages := make([]sms.Message, len(p.rows))
	for i, r := range p.rows {
		segments := sms.CountSegments(r.Text, false)
		messages[i] = sms.Message{Row: int64(i + 1), Number: r.Number, Text: r.Text, Unicode: segments.Unicode,
			Parts: segments.Parts}
		c.Unicode, c.Parts = c.Unicode || segments.Unicode, c.Parts+int64(segments.Parts)
	}
	limits, err := h.desk.PlanLimits(ctx, h.account, c)
	if err != nil {
		return err
	}
	planner := plan.New(limits, len(messages))
	for _, m := range messages {
		if err := planner.Add(plan.Row{ID: m.Row, Number: m.Number, Text: m.Text, Unicode: m.Unicode}); err != nil {
			return err
		}
	}
	planned := planner.Plan()
	for i := range messages {
		messages[i].Call = planned.Assign[i]
	}
	c.CallsText, c.CallsPairs = int64(planned.ByKind[sms.CallText]), int64(planned.ByKind[sms.CallPairs])
	p.r.Result.Parts = p.r.Whole(c.Parts)
	p.draft, _, err = h.db.CreateDraft(ctx, c, desk.NewToken(), messages, 0, h.clock.now().UnixMilli())
	return err
}

// never is the place to stop at of a play that nobody watches.
func never(sms.Tally) bool { return false }

// untilSent waits until nothing is left to send, or enough has left. A pause is
// noted and continued, as staff would after a look.
func (p *play) untilSent(ctx context.Context, enough func(sms.Tally) bool) error {
	for done, moved := int64(-1), time.Now(); ; {
		c, tally, err := p.look(ctx)
		if err != nil {
			return err
		}
		if p.r.Done != done {
			done, moved = p.r.Done, time.Now()
		}
		if enough(tally) || tally["queued"]+tally["sending"]+tally["draft"] == 0 {
			return nil
		}
		if c.State == sms.CampaignPaused {
			if err := p.goOn(ctx, c); err != nil {
				return err
			}
		}
		if time.Since(moved) > p.stuck {
			return errStuck
		}
		if !pause(ctx, looksAt) {
			return ctx.Err()
		}
	}
}

// look reads the campaign in the house and says how far it is.
func (p *play) look(ctx context.Context) (sms.Campaign, sms.Tally, error) {
	c, err := p.house.db.Campaign(ctx, p.draft.ID)
	if err != nil {
		return c, nil, err
	}
	tally, err := p.house.db.Tally(ctx, c.ID)
	if err != nil {
		return c, nil, err
	}
	p.r.Done = tally.Total() - tally["queued"] - tally["sending"] - tally["draft"]
	p.r.Result.Tally = tally
	return c, tally, p.save(ctx)
}

func (p *play) goOn(ctx context.Context, c sms.Campaign) error {
	if len(p.r.Result.Pauses) == maxPauses {
		return errGaveUp
	}
	p.r.Result.Pauses = append(p.r.Result.Pauses, c.Pause)
	_, err := p.house.desk.ContinueCampaign(ctx, p.house.by, c.ID, desk.ContinueOrder{MayRepeat: true})
	return err
}

// untilReported waits until every report that comes is applied.
func (p *play) untilReported(ctx context.Context) error {
	for until := time.Now().Add(reportsIn); p.house.sandbox.State().ReportsOwed > 0 && time.Now().Before(until); {
		if !pause(ctx, looksAt) {
			return ctx.Err()
		}
	}
	return p.house.receiver.Drain(ctx)
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// settle lets the reports prove what they can of the messages in doubt.
func (p *play) settle(ctx context.Context) (*rehearsal.Doubt, error) {
	h := p.house
	doubted, _, err := h.db.Messages(ctx, sms.MessageFilter{CampaignID: p.draft.ID, States: []sms.State{sms.InDoubt},
		Limit: rehearsal.MaxRows})
	if err != nil || len(doubted) == 0 {
		return nil, err
	}
	attempts, err := h.db.MessageAttempts(ctx, doubted[0].ID)
	if err != nil {
		return nil, err
	}
	d := &rehearsal.Doubt{Messages: int64(len(doubted)), Row: doubted[0].Row}
	if n := len(attempts); n > 0 {
		d.Recipients, d.Reason = attempts[n-1].Recipients, attempts[n-1].Reason
	}
	h.clock.skip(settlesIn)
	if err := h.db.Reconcile(ctx, h.account.ID, h.account.Country, h.clock.now().UnixMilli(),
		func(sms.ApplyResult) {}); err != nil {
		return nil, err
	}
	tally, err := h.db.Tally(ctx, p.draft.ID)
	d.Settled = d.Messages - tally["doubt"]
	p.r.Result.Doubt = d
	return d, err
}

// find writes down what became of every row, and holds it against what the
// sandbox really sent.
func (p *play) find(ctx context.Context, started sms.Campaign) error {
	h, out := p.house, &p.r.Result
	tally, err := h.db.Tally(ctx, p.draft.ID)
	if err != nil {
		return err
	}
	past, err := h.db.Past(ctx, h.account.ID, 0)
	if err != nil {
		return err
	}
	out.TooFast = past.Requests[sms.ClassRate]
	requests, last := h.journal.sum()
	out.Unreached = h.failed.Load()
	out.Requests, out.Took = requests, min(max(0, last.UnixMilli()-started.StartedAt), p.longest(requests))
	for key := range maps.Keys(tally) {
		if key == "network" {
			tally[rehearsal.NoReport] += tally[key]
			delete(tally, key)
		}
	}
	out.Tally = tally
	out.Lost = past.Requests[sms.ClassDoubt]
	p.r.Done = p.r.Rows
	return p.compare(ctx)
}

// longest is how many milliseconds so many requests take at most at the account's
// rate: a computer that is busy would measure its own slowness. After each 429 the
// rate is a fifth lower and grows back by one a minute.
func (p *play) longest(requests int64) int64 {
	h, rate := p.house, int64(max(p.house.account.PerMinute, 1))
	spare := h.latency + time.Duration(p.r.Result.Unreached)*backoffIn
	return (requests*60_000+rate-1)/rate + h.waits.Load() + p.r.Result.TooFast*rate*60_000/50 + spare.Milliseconds()
}

// compare goes through all messages once.
func (p *play) compare(ctx context.Context) error {
	type text struct{ number, text string }
	sent := map[text]int64{}
	for _, e := range p.house.sandbox.Ledger() {
		sent[text{e.Number, e.Text}]++
	}
	var networks phone.Networks
	by := map[string]*rehearsal.Network{}
	for after := int64(0); ; {
		list, more, err := p.house.db.Messages(ctx, sms.MessageFilter{CampaignID: p.draft.ID, After: after, Limit: 2000})
		if err != nil {
			return err
		}
		for _, m := range list {
			after = m.ID
			n := sent[text{m.Number, m.Text}]
			p.r.Result.Twice += max(0, n-1)
			if s := m.State; s != sms.Refused && s != sms.Skipped && s != sms.InDoubt && s != sms.Held && n == 0 {
				p.r.Result.Missing++
			}
			name := networks.Of(m.Number)
			if by[name] == nil {
				by[name] = &rehearsal.Network{Name: name}
			}
			by[name].Rows++
			switch m.Standing().Tile {
			case sms.TileDelivered:
				by[name].Delivered++
			case sms.TileFailed:
				by[name].Failed++
			}
		}
		if !more {
			break
		}
	}
	for _, n := range by {
		p.r.Result.Networks = append(p.r.Result.Networks, *n)
	}
	slices.SortFunc(p.r.Result.Networks, func(a, b rehearsal.Network) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), strings.Compare(a.Name, b.Name))
	})
	return nil
}
