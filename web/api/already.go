package api

import (
	"context"
	"errors"
	"net/http"

	"smsdesk/internal/sms"
)

// AlreadySent is how many rows of a campaign go to recipients who got nearly
// the same text in the last 30 days.
type AlreadySent struct {
	Count          int64   `json:"count"`
	Of             int64   `json:"of"`
	AwaitingReport int64   `json:"awaitingReport"`
	InDoubt        int64   `json:"inDoubt"`
	Waiting        int64   `json:"waiting"`
	LastAt         *string `json:"lastAt"`
	Campaign       int64   `json:"campaign"`  // from which most of them got it
	Campaigns      int64   `json:"campaigns"` // from so many
	LeftOut        bool    `json:"leftOut"`
}

func alreadyForm(a *sms.AlreadySent) *AlreadySent {
	if a == nil || a.Recipients == 0 {
		return nil
	}
	return &AlreadySent{Count: a.Recipients, Of: a.Of, AwaitingReport: a.Awaiting, InDoubt: a.Doubt, Waiting: a.Waiting,
		LastAt: moment(a.LastAt), Campaign: a.CampaignID, Campaigns: a.Campaigns, LeftOut: a.LeftOut}
}

// What a program wants of recipients who got nearly the same text.
const (
	alreadySend     = "send" // as if nothing was said
	alreadyLeaveOut = "leaveOut"
	alreadyRefuse   = "refuse"
)

// one is a campaign as an answer about it alone tells it.
func (s *API) one(ctx context.Context, c sms.CampaignCount, a sms.Account) (Campaign, error) {
	form := campaignForm(c, a)
	already, err := s.already(ctx, c.Campaign)
	if err != nil {
		return form, err
	}
	form.AlreadySent = alreadyForm(already)
	form.Remembered, err = s.remembered(ctx, c.Campaign)
	return form, err
}

// already is what is known of those who got nearly the text of a campaign: of a
// draft as it is now, else as it was when its list was checked.
func (s *API) already(ctx context.Context, c sms.Campaign) (*sms.AlreadySent, error) {
	if c.MayStart() {
		if now, err := s.desk.AlreadySent(ctx, c); err != nil || now != nil {
			return now, err
		}
	}
	if c.ListID == 0 || c.AgainOf > 0 {
		return nil, nil
	}
	l, err := s.store.ListByID(ctx, c.ListID)
	if errors.Is(err, sms.ErrNotFound) {
		return nil, nil
	}
	return l.Tally.Already, err
}

// alreadyProblem refuses to send for a program that wants that.
func alreadyProblem(a *sms.AlreadySent) *Problem {
	p := newProblem(http.StatusConflict, a.Sentence()+`. Nothing was sent. Give "ifAlreadySent": "send" to send all the same`)
	p.Type, p.AlreadySent = ProblemAlready, alreadyForm(a)
	return p
}

// mayRefuse refuses to send a campaign where the program said so.
func (s *API) mayRefuse(ctx context.Context, c sms.Campaign, ifAlready string) error {
	if ifAlready != alreadyRefuse {
		return nil
	}
	a, err := s.desk.AlreadySent(ctx, c)
	if err == nil && a.Asks() {
		return alreadyProblem(a)
	}
	return err
}
