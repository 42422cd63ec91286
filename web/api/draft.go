package api

import (
	"context"
	"net/http"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// DraftOrders are what programs do with campaigns that have not started.
type DraftOrders interface {
	IncludeSent(ctx context.Context, by sms.User, id int64) (sms.Campaign, error)
	Outgoing(ctx context.Context, c sms.Campaign) (sms.Outgoing, error)
	RenameCampaign(ctx context.Context, by sms.User, id int64, name string) (sms.Campaign, error)
	WithdrawApproval(ctx context.Context, by sms.User, id int64) (sms.Campaign, error)
}

// Drafts answers programs about campaigns that have not started.
type Drafts struct{ *API }

// Drafts are those addresses.
func (s *API) Drafts() Drafts { return Drafts{s} }

// Rename gives a campaign that has not started another name.
func (s Drafts) Rename(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Name string `json:"name"`
	}
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	return s.programOrder(w, r, func(ctx context.Context, c sms.Campaign, _ sms.Account) error {
		_, err := s.drafts.RenameCampaign(ctx, p.user, c.ID, said.Name)
		return err
	})
}

// Include lets a draft go to recipients too who are remembered as having got its text.
func (s Drafts) Include(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	return s.plainOrder(w, r, func(ctx context.Context, c sms.Campaign) error {
		_, err := s.drafts.IncludeSent(ctx, p.user, c.ID)
		return err
	})
}

// WithdrawApproval makes a campaign that waits for approval a draft again.
func (s Drafts) WithdrawApproval(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	return s.plainOrder(w, r, func(ctx context.Context, c sms.Campaign) error {
		_, err := s.drafts.WithdrawApproval(ctx, p.user, c.ID)
		return err
	})
}

// remembered counts what of a draft is left out because an older database knows no
// more of it than that it was sent.
func (s *API) remembered(ctx context.Context, c sms.Campaign) (int64, error) {
	if !c.MayStart() {
		return 0, nil
	}
	out, err := s.drafts.Outgoing(ctx, c)
	return health.SumSends(out.Sent), err
}
