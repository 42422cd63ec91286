package stage

import (
	"context"
	"fmt"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sms"
)

// A rehearsal that is watched has its made-up recipients in requests of watchCall,
// slow enough to be seen. The answer to one request is lost.
const (
	watchCall    = 8
	watchStopsAt = 60
	watchLost    = 15 // the request, from 0, whose answer is lost
	watchSpeed   = 10
	watchLatency = time.Second
	watchAgain   = 5 * time.Second
)

// watchText is what the made-up recipients get.
const watchText = "This is a rehearsal. No phone gets this message."

// watched is the setting of one.
func watched(s setting) setting {
	a := s.account
	a.PerMinute, a.CallLimit, a.SendByGet, a.HoldOn429, a.Doubt429 = 1000, watchCall, false, false, false
	s.account, s.day, s.speed, s.latency, s.inFlight = a, rehearsal.Day{}, watchSpeed, watchLatency, 1
	s.again = watchAgain
	fates := map[string]int{}
	for i, r := range watchedRows() {
		fates[r.Number] = watchFate(i)
	}
	s.fate = func(number string) int { return fates[number] }
	return s
}

func watchedCampaign() sms.Campaign {
	return sms.Campaign{SenderID: "REHEARSAL", Text: watchText}
}

// watchedRows are the recipients, of four networks.
func watchedRows() []sms.Recipient {
	rows := make([]sms.Recipient, rehearsal.WatchRows)
	for i := range rows {
		prefix := []string{"2348031", "2348051", "2348021", "2348091"}[i%4]
		rows[i] = sms.Recipient{Number: fmt.Sprintf("%s%06d", prefix, i+1), Text: watchText}
	}
	return rows
}

// watchFate is the ending of the sandbox that a recipient meets. Every fate comes
// up, and 8 together get no answer: reports prove 3 of those sent.
func watchFate(i int) int {
	if i/watchCall == watchLost {
		if i%watchCall < 3 {
			return 8
		}
		return 6
	}
	return map[int]int{3: 2, 23: 2, 43: 2, 63: 2, 83: 2, 103: 2, 133: 2, 153: 2, 173: 2, 193: 2,
		7: 3, 37: 3, 57: 3, 87: 3, 107: 3, 137: 3, 157: 3, 187: 3,
		11: 4, 61: 4, 161: 4, 16: 5, 66: 5, 166: 5, 21: 10, 71: 10, 141: 10, 171: 10,
		29: 12, 59: 12, 89: 12, 109: 12, 149: 12, 179: 12, 34: 6, 74: 6, 144: 6, 184: 6, 48: 7, 148: 7, 52: 9, 98: 11,
		155: 13}[i]
}

// showSteps plays it with its three stops.
func (p *play) showSteps(ctx context.Context, started sms.Campaign) error {
	for _, step := range []func(context.Context) (rehearsal.Step, error){p.stopStep, p.doubtStep, p.againStep} {
		s, err := step(ctx)
		if err != nil {
			return err
		}
		p.r.Result.Steps = append(p.r.Result.Steps, s)
		p.saved = time.Time{}
		if _, _, err := p.look(ctx); err != nil {
			return err
		}
		if !pause(ctx, p.rest) {
			return ctx.Err()
		}
	}
	return p.find(ctx, started)
}

// stopStep stops the campaign in its middle; the next one continues it.
func (p *play) stopStep(ctx context.Context) (rehearsal.Step, error) {
	s := rehearsal.Step{Name: rehearsal.StepStop}
	enough := func(t sms.Tally) bool { return t.Total()-t["queued"]-t["sending"] >= watchStopsAt }
	if err := p.untilSent(ctx, enough); err != nil {
		return s, err
	}
	if _, err := p.house.desk.StopCampaign(ctx, p.house.by, p.draft.ID); err != nil {
		return s, err
	}
	for {
		_, tally, err := p.look(ctx)
		if err != nil || tally["sending"] == 0 {
			s.Tally = tally
			return s, err
		}
		if !pause(ctx, looksAt) {
			return s, ctx.Err()
		}
	}
}

// doubtStep sends the rest, of which one answer is lost, and lets reports settle
// what they can. What is left is closed: nobody knows whether it was sent.
func (p *play) doubtStep(ctx context.Context) (rehearsal.Step, error) {
	s := rehearsal.Step{Name: rehearsal.StepDoubt}
	if _, err := p.house.desk.ContinueCampaign(ctx, p.house.by, p.draft.ID,
		desk.ContinueOrder{MayRepeat: true}); err != nil {
		return s, err
	}
	if err := p.untilSent(ctx, never); err != nil {
		return s, err
	}
	if err := p.untilReported(ctx); err != nil {
		return s, err
	}
	doubt, err := p.settle(ctx)
	if err != nil {
		return s, err
	}
	if s.Tally, err = p.house.db.Tally(ctx, p.draft.ID); err == nil && doubt != nil {
		s.Doubted, s.Settled = doubt.Messages, doubt.Settled
	}
	return s, err
}

// againStep counts who could be sent to again, and who not.
func (p *play) againStep(ctx context.Context) (rehearsal.Step, error) {
	s := rehearsal.Step{Name: rehearsal.StepAgain}
	tally, err := p.house.db.Tally(ctx, p.draft.ID)
	if err != nil {
		return s, err
	}
	s.Tally = tally
	for _, c := range sms.ResendChoices() {
		switch n := tally[c.Standing.Key]; {
		case c.May && c.Proposed:
			s.Again += n
		default:
			s.NotAgain += n
		}
	}
	return s, nil
}
