package campaign

import (
	"errors"
	"net/http"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// approvalOf is whether the draft needs a second person, and who could be it.
func (s *confirms) approvalOf(r *http.Request, v *page.Visit, c sms.Campaign, a sms.Account,
	out sms.Outgoing) (views.Approval, error) {
	p := views.Approval{Needed: a.NeedsApproval(c, out) || c.Waits()}
	if !p.Needed {
		return p, nil
	}
	by := v.User
	if c.Waits() {
		by.ID = c.Approval.AskedBy
	}
	list, err := s.desk.Approvers(r.Context(), by, c)
	for _, u := range list {
		p.By = append(p.By, u.Name)
	}
	return p, err
}

// approvalAsk asks for the approval of a draft with the choice of time that
// the form holds.
func (s *confirms) approvalAsk(w http.ResponseWriter, r *http.Request, v *page.Visit, c sms.Campaign,
	a sms.Account) error {
	f := r.PostForm
	ask := desk.Ask{StartOrder: startOrder(r)}
	var err error
	if when := f.Get("when"); c.MayStart() && when != "" && when != views.WhenNow {
		var p views.SchedulePage
		p, ask.At, err = s.scheduleTyped(r, s.schedulePage(r, v, c, a))
		ask.HandOver = p.HandOver
	} else if f.Get("hand_over") != "" {
		err = sms.Invalid{"hand_over": "Choose a time, or untick this box"}
	}
	if err == nil {
		_, err = s.desk.AskApproval(r.Context(), v.User, c.ID, ask)
	}
	return s.ordered(w, r, v, c, a, err, views.ApprovalPath(c.ID))
}

func (s *confirms) ApprovalShow(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	if !c.Waits() {
		return page.Redirect(w, r, views.CampaignPath(c.ID))
	}
	if page.IsFragment(r) {
		p, err := s.approvalPreview(r, v, c, a)
		if err != nil {
			return err
		}
		return s.Render(w, r, http.StatusOK, views.ConfirmPreview(p))
	}
	return s.showApproval(w, r, v, c, a, nil)
}

func (s *confirms) approvalPreview(r *http.Request, v *page.Visit, c sms.Campaign,
	a sms.Account) (views.Preview, error) {
	p, err := s.preview(r, v, c, a, nil)
	p.Path = views.ApprovalPath(c.ID)
	return p, err
}

// showApproval shows what the second person has to see, or shows it again with
// what is wrong.
func (s *confirms) showApproval(w http.ResponseWriter, r *http.Request, v *page.Visit, c sms.Campaign, a sms.Account,
	bad sms.Invalid) error {
	base, err := s.confirmPage(r, v, c, a)
	if err != nil {
		return err
	}
	p := views.ApprovalPage{ConfirmPage: base, CanApprove: c.MayApprove(v.User),
		Own:     v.User.ID == c.CreatedBy || v.User.ID == c.Approval.AskedBy,
		CanSend: v.User.Role.AtLeast(sms.Sender), Reason: page.FirstLetters(r.PostForm.Get("reason"), 600)}
	p.Errors, p.Live = bad, views.Refresh{ID: "cost"}
	if p.Preview, err = s.approvalPreview(r, v, c, a); err != nil {
		return err
	}
	later := views.SchedulePage{HandOver: c.HandOver}
	if at := c.Schedule(); at.At > s.Now().UnixMilli() {
		later.Chosen = &at
	}
	if p.Plan, err = s.plan(r.Context(), c, a, later); err != nil {
		return err
	}
	p.Already.Error, p.Already.Action = bad["again"], ""
	f := page.About(v.Frame(p.Title(), "campaigns"), v, a)
	f.Crumbs, f.Error = campaignCrumbs(c), len(bad) > 0
	return s.Render(w, r, page.Status(r, bad), views.ApprovalShow(f, p))
}

// ApprovalGive is the second person's yes.
func (s *confirms) ApprovalGive(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.approvalAnswer(w, r, v, func(id int64) error {
		_, err := s.desk.ApproveCampaign(r.Context(), v.User, id,
			desk.ApproveOrder{Version: page.Number(r.PostForm.Get("version")), Again: r.PostForm.Get("again") != "",
				MayRepeat: r.PostForm.Get("may_repeat") != ""})
		return err
	})
}

// ApprovalReturn is the second person's no.
func (s *confirms) ApprovalReturn(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.approvalAnswer(w, r, v, func(id int64) error {
		_, err := s.desk.ReturnCampaign(r.Context(), v.User, id, page.Number(r.PostForm.Get("version")),
			r.PostForm.Get("reason"))
		return err
	})
}

func (s *confirms) approvalAnswer(w http.ResponseWriter, r *http.Request, v *page.Visit,
	order func(id int64) error) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	err = order(c.ID)
	var bad sms.Invalid
	switch {
	case errors.As(err, &bad) && c.Waits():
		return s.showApproval(w, r, v, c, a, bad)
	case errors.Is(err, sms.ErrConflict):
		return s.ShowProblem(w, r, v, s.answeredAlready(v, c))
	case errors.Is(err, sms.ErrForbidden) && v.User.Role.AtLeast(sms.Approver):
		return s.ShowProblem(w, r, v, views.Problem{Status: http.StatusForbidden, Title: "Someone else has to approve this",
			Text: "You created this campaign or asked for approval, so you cannot approve it.",
			Link: views.Link{Text: "View campaign", Href: views.CampaignPath(c.ID)}})
	case err != nil:
		return err
	}
	return page.Redirect(w, r, views.CampaignPath(c.ID))
}

// answeredAlready is the page for whoever decided about a campaign that is not
// what was shown any more.
func (s *confirms) answeredAlready(v *page.Visit, c sms.Campaign) views.Problem {
	p := views.Problem{Status: http.StatusConflict, Title: "This campaign is no longer waiting for approval",
		Text: "It was withdrawn, sent back or cancelled. Nothing changed.",
		Link: views.Link{Text: "View campaign", Href: views.CampaignPath(c.ID)}}
	if c.Approval.ApprovedAt > 0 {
		p.Title, p.Text = "This campaign has already been approved", "Approved by "+c.Approval.ApprovedName+" "+
			v.When(c.Approval.ApprovedAt)+". Nothing was sent twice."
	}
	return p
}

func (s *confirms) ApprovalTakeBack(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.campaignOrder(w, r, v, s.desk.WithdrawApproval)
}

func (s *confirms) ApprovalBack(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	id := page.PathID(r)
	return page.Redirect(w, r, views.ApprovalPath(id))
}
