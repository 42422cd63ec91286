package desk

import (
	"context"
	"fmt"

	"smsdesk/internal/sms"
)

// refusal is why a campaign may not go a way.
type refusal struct {
	check    sms.Check
	sentence string
}

type refusals []refusal

// checks asks what must be asked before a campaign goes a way on which its
// messages leave, now or later: every order of a person or a program and the
// Scheduler come through here. What a way leaves out, and why, is a column of
// sms.Transitions.
func (d *Campaigns) checks(ctx context.Context, by sms.User, c sms.Campaign, way sms.Way,
	o StartOrder) (refusals, error) {
	var list refusals
	for _, check := range way.Asks() {
		if check == sms.CheckBlind && list.of(sms.CheckGroup) != "" {
			continue // a group that is not there cannot be accepted unseen
		}
		sentence, err := d.check(ctx, by, c, way, check, o)
		if err != nil {
			return nil, err
		}
		if sentence != "" {
			list = append(list, refusal{check, sentence})
		}
	}
	return list, nil
}

// check says why one check does not let a campaign go, or "".
func (d *Campaigns) check(ctx context.Context, by sms.User, c sms.Campaign, way sms.Way, check sms.Check,
	o StartOrder) (string, error) {
	switch check {
	case sms.CheckSender:
		return d.records.SenderProblem(ctx, c.AccountID, c.SenderID)
	case sms.CheckTyped:
		return d.typedProblem(ctx, c, o)
	case sms.CheckGroup:
		return d.records.groupProblem(ctx, c)
	case sms.CheckBlind:
		return blindProblem(c, o), nil
	case sms.CheckLimit:
		return d.people.limitProblem(ctx, by, c)
	case sms.CheckApproval:
		return d.approvalProblem(ctx, c)
	case sms.CheckRepeat:
		return d.journal.repeatProblem(ctx, by, c, o.MayRepeat, o.Token)
	case sms.CheckSame:
		return d.sameProblem(ctx, c, way, o)
	}
	return "", fmt.Errorf("%s campaign %d: no answer to check %q", way, c.ID, check)
}

func blindProblem(c sms.Campaign, o StartOrder) string {
	if c.GroupID == "" || o.Blind || o.FromToken {
		return ""
	}
	return "Tick the box to confirm that we cannot show or check this group's numbers"
}

// sameProblem says how many recipients got nearly the same text lately, unless
// the person knows of it: was told in the form, or by the pause.
func (d *Campaigns) sameProblem(ctx context.Context, c sms.Campaign, way sms.Way, o StartOrder) (string, error) {
	if o.Again || c.SendAgain || c.Held() && c.PauseCode == sms.PauseSame {
		return "", nil
	}
	already, err := d.AlreadySent(ctx, c)
	if err != nil || !already.Asks() {
		return "", err
	}
	switch meantime := already.Sentence() + " in the meantime, from campaign \"" + already.Name + "\""; way {
	case sms.WayStartDue, sms.WayRelease:
		return meantime, nil
	case sms.WayApprove:
		return meantime + ". Tick the box to send it to them again", nil
	}
	if c.SeriesID > 0 {
		return already.Sentence() + ", from campaign \"" + already.Name + "\". Check this run and send it, or leave it out", nil
	}
	if already.Fresh() == 0 {
		return already.Sentence() + ". Tick the box to send it to them again", nil
	}
	return already.Sentence() + ". Tick the box to send it to them again, or leave them out", nil
}

// of is the sentence of one check, "" where that lets the campaign go.
func (list refusals) of(check sms.Check) string {
	for _, r := range list {
		if r.check == check {
			return r.sentence
		}
	}
	return ""
}

// fieldOf is the field of the forms where people read a refusal.
func fieldOf(check sms.Check) string {
	switch check {
	case sms.CheckSender:
		return "sender_id"
	case sms.CheckRepeat:
		return "may_repeat"
	case sms.CheckSame:
		return "again"
	}
	return string(check)
}

func (list refusals) invalid() sms.Invalid {
	bad := sms.Invalid{}
	for _, r := range list {
		bad[fieldOf(r.check)] = r.sentence
	}
	return bad
}

// holds is why nobody is asked and the start is left to a person instead: the
// code and the sentence of the pause.
func (list refusals) holds() (code, sentence string) {
	if len(list) == 0 {
		return "", ""
	}
	codes := map[sms.Check]string{sms.CheckSender: sms.PauseSender, sms.CheckGroup: sms.PauseGroup,
		sms.CheckSame: sms.PauseSame}
	return codes[list[0].check], list[0].sentence
}

// mayGo asks the checks of a way and returns their refusals as an Invalid.
func (d *Campaigns) mayGo(ctx context.Context, by sms.User, c sms.Campaign, way sms.Way, o StartOrder) error {
	list, err := d.checks(ctx, by, c, way, o)
	if err != nil {
		return err
	}
	return list.invalid().Or()
}
