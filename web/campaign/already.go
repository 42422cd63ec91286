package campaign

import (
	"errors"
	"net/http"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// What the buttons of the card about recipients who got nearly the same text say.
const (
	doLeaveOut = "leave-out"
	doTakeBack = "take-back"
	doAll      = "all"
)

// already is the card about those who got nearly the text of a draft.
func (s *confirms) already(r *http.Request, p views.ConfirmPage) (views.AlreadyCard, error) {
	c := p.Campaign
	card := views.AlreadyCard{Formatter: p.Formatter, Version: c.Version, Asks: !c.SendAgain,
		Again: r.PostForm.Get("again") != "" || c.SendAgain}
	var err error
	if card.Sent, err = s.desk.AlreadySent(r.Context(), c); err != nil {
		return card, err
	}
	if p.List != nil && c.AgainOf == 0 {
		if a := p.List.Tally.Already; a != nil && a.LeftOut {
			card.Left = &views.LeftOutAlready{N: a.Recipients, At: a.LastAt}
		}
		if p.Mine && c.State == sms.CampaignDraft {
			card.Action = views.ListPath(p.List.UID, "/already")
		}
		return card, nil
	}
	if c.AgainOf > 0 || c.GroupID != "" || c.State != sms.CampaignDraft {
		return card, nil
	}
	card.Action = views.CampaignPath(c.ID) + "/already"
	skipped, _, err := s.store.Messages(r.Context(), sms.MessageFilter{CampaignID: c.ID,
		States: []sms.State{sms.Skipped}, Limit: typedMost})
	for _, m := range skipped {
		if m.Code == sms.CodeAlready {
			if card.Left == nil {
				card.Left = &views.LeftOutAlready{}
			}
			card.Left.N++
		}
	}
	return card, err
}

// Already leaves those out of a draft who got nearly the same text, or takes
// them back.
func (s *confirms) Already(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id, do := page.PathID(r), r.PostForm.Get("do")
	c, err := s.desk.LeaveOutOfDraft(r.Context(), v.User, id, page.Number(r.PostForm.Get("version")), do == doLeaveOut)
	if errors.Is(err, sms.ErrConflict) {
		if c.MayStart() {
			return page.Redirect(w, r, views.ConfirmPath(id))
		}
		return s.ShowProblem(w, r, v, s.startedAlready(v, c))
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.ConfirmPath(id), alreadyDone(do)))
}

// alreadyDone is the word of the sentence that says what a button did.
func alreadyDone(do string) string {
	switch do {
	case doLeaveOut:
		return "alreadyout"
	case doTakeBack:
		return "alreadyback"
	}
	return "alreadyall"
}

// ListAlready decides about those of a list who got nearly the same text: before
// its campaign is made, or by making it anew.
func (s *uploads) ListAlready(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, _, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	do, version := r.PostForm.Get("do"), page.Number(r.PostForm.Get("version"))
	if l.State == sms.ListMade {
		return s.remake(w, r, v, l, do, version)
	}
	after, err := s.lists.LeaveOutAlready(r.Context(), v.User, l.UID, version, do == doLeaveOut,
		do == doAll)
	if errors.Is(err, sms.ErrConflict) {
		return page.Redirect(w, r, views.ListNext(l))
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.ListPath(after.UID, "/check"), alreadyDone(do)))
}

// remake makes the campaign of a list anew.
func (s *uploads) remake(w http.ResponseWriter, r *http.Request, v *page.Visit, l sms.List, do string,
	version int64) error {
	c, err := s.store.Campaign(r.Context(), l.CampaignID)
	if err == nil && c.Version != version {
		err = sms.ErrConflict
	}
	var after sms.List
	if err == nil {
		after, err = s.lists.Remake(r.Context(), v.User, l.UID, c, do == doLeaveOut)
	}
	if errors.Is(err, sms.ErrConflict) || errors.Is(err, sms.ErrNotFound) {
		return page.Redirect(w, r, views.ListNext(l))
	}
	if err != nil {
		return err
	}
	return s.redirectToList(w, r, after)
}
