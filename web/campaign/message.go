package campaign

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// messages are the pages of messages, and the search for them.
type messages struct {
	*base
	store messageQuestions
	desk  messageOrders
}

// messageQuestions are what messages ask of the storage.
type messageQuestions interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	BlockedAmong(ctx context.Context, account int64, numbers []string) (map[string]sms.Blocked, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	// CampaignNames lists the latest started campaigns, of which little
	// more than id and name is filled in.
	CampaignNames(ctx context.Context, account int64, limit int) ([]sms.Campaign, error)
	ContactByNumber(ctx context.Context, account int64, number string) (sms.Contact, error)
	EndedBlocks(ctx context.Context, account int64, number string, limit int) ([]sms.EndedBlock, error)
	Message(ctx context.Context, id int64) (sms.Message, error)
	MessageAsked(ctx context.Context, id int64) ([]sms.StatusQuery, error)
	MessageAttempts(ctx context.Context, id int64) ([]sms.Attempt, error)
	MessageReports(ctx context.Context, id int64) ([]sms.StoredReport, error)
	Resent(ctx context.Context, message int64) (predecessor int64, successor int64, err error)
	SearchMessages(ctx context.Context, f sms.MessageSearch) (list []sms.FoundMessage, next sms.MessageCursor, err error)
}

// messageOrders are what people do on these pages.
type messageOrders interface {
	AskMessage(ctx context.Context, by sms.User, message int64) error
	BlockNumbers(ctx context.Context, by sms.User, o desk.BlockOrder) (added int, all int, err error)
	Resend(ctx context.Context, by sms.User, o desk.ResendOrder) (sms.Campaign, error)
}

func (s *messages) Show(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, a, err := s.message(r, v)
	if err != nil {
		return err
	}
	topics := []string{feed.Message(p.Message.ID), feed.Campaign(p.Campaign.ID)}
	p.Live = views.Refresh{ID: "message-live", URL: r.URL.Path, On: topics}
	if page.IsFragment(r) {
		return s.Render(w, r, http.StatusOK, views.MessageLive(p))
	}
	f := page.About(v.LiveFrame(p.Title(), "campaigns", topics...), v, a)
	f.Crumbs = campaignCrumbs(p.Campaign)
	if f.Paused {
		p.Live.On = nil
	}
	return s.Render(w, r, http.StatusOK, views.MessageShow(f, p))
}

// Ask asks the provider what became of a message.
func (s *messages) Ask(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	if err := s.desk.AskMessage(r.Context(), v.User, id); err != nil && !errors.Is(err, sms.ErrConflict) {
		return err
	}
	return page.Redirect(w, r, page.WithDone(fmt.Sprint("/messages/", id), "asked"))
}

// Back answers an address that only takes forms.
func (s *messages) Back(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	id := page.PathID(r)
	return page.Redirect(w, r, fmt.Sprint("/messages/", id))
}

func (s *messages) message(r *http.Request, v *page.Visit) (p views.MessagePage, a sms.Account, err error) {
	id := page.PathID(r)
	ctx := r.Context()
	if p.Message, err = s.store.Message(ctx, id); err != nil {
		return p, a, err
	}
	if p.Campaign, err = s.store.Campaign(ctx, p.Message.CampaignID); err != nil {
		return p, a, err
	}
	if a, err = s.store.Account(ctx, p.Message.AccountID); err != nil {
		return p, a, err
	}
	if p.Attempts, err = s.store.MessageAttempts(ctx, id); err != nil {
		return p, a, err
	}
	if l, err := s.listBehind(ctx, p.Campaign); err != nil {
		return p, a, err
	} else if l != nil {
		p.Template = l.Order.Text
	}
	if p.Asked, err = s.store.MessageAsked(ctx, id); err != nil {
		return p, a, err
	}
	retention, err := s.Retention(ctx)
	if err != nil {
		return p, a, err
	}
	if p.Before, p.After, err = s.store.Resent(ctx, id); err != nil {
		return p, a, err
	}
	p.Reports, err = s.store.MessageReports(ctx, id)
	p.Formatter = s.Formatter(v, a)
	p.Retention = retention
	if err != nil || p.Message.Number == "" {
		return p, a, err
	}
	blocked, err := s.store.BlockedAmong(ctx, a.ID, []string{p.Message.Number})
	if b, is := blocked[p.Message.Number]; is {
		p.Blocked = &b
	}
	return p, a, err
}

func (s *messages) AgainForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showMessageAgain(w, r, v, nil)
}

func (s *messages) showMessageAgain(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	p, a, err := s.message(r, v)
	if err != nil {
		return err
	}
	if !p.MayRepeat() {
		return page.Redirect(w, r, p.Path())
	}
	f := page.About(v.Frame("Send again?", "campaigns"), v, a)
	f.Crumbs, f.Error = append(campaignCrumbs(p.Campaign), views.Link{Text: p.Title(), Href: p.Path()}), len(bad) > 0
	return s.Render(w, r, page.Status(r, bad), views.AgainMessage(f,
		views.AgainMessagePage{MessagePage: p, Token: desk.NewToken(), Bad: bad}))
}

// Again makes a draft of one message.
func (s *messages) Again(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, _, err := s.message(r, v)
	if err != nil {
		return err
	}
	c, err := s.desk.Resend(r.Context(), v.User, desk.ResendOrder{CampaignID: p.Campaign.ID, MessageID: p.Message.ID,
		Token: r.PostForm.Get("token")})
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.showMessageAgain(w, r, v, bad)
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, views.ConfirmPath(c.ID))
}

func (s *messages) BlockForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showMessageBlock(w, r, v, "", nil)
}

func (s *messages) showMessageBlock(w http.ResponseWriter, r *http.Request, v *page.Visit, note string,
	bad sms.Invalid) error {
	p, a, err := s.message(r, v)
	if err != nil {
		return err
	}
	if !p.MayBlock() {
		return page.Redirect(w, r, p.Path())
	}
	f := page.About(v.Frame("Block this number?", "campaigns"), v, a)
	f.Crumbs, f.Error = append(campaignCrumbs(p.Campaign), views.Link{Text: p.Title(), Href: p.Path()}), len(bad) > 0
	return s.Render(w, r, page.Status(r, bad), views.BlockMessage(f,
		views.BlockMessagePage{MessagePage: p, Note: note, Bad: bad}))
}

// Block blocks the number that a message went to.
func (s *messages) Block(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, a, err := s.message(r, v)
	if err != nil {
		return err
	}
	if p.MayBlock() {
		note := r.PostForm.Get("note")
		_, _, err := s.desk.BlockNumbers(r.Context(), v.User,
			desk.BlockOrder{AccountID: a.ID, Numbers: "+" + p.Message.Number, Note: note})
		if bad, ok := errors.AsType[sms.Invalid](err); ok {
			return s.showMessageBlock(w, r, v, note, bad)
		}
		if err != nil {
			return err
		}
	}
	return page.Redirect(w, r, page.WithDone(p.Path(), "blockedone"))
}
