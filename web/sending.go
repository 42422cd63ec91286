package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// sendingFields are an account's sending settings as the form shows them.
func (s *Web) sendingFields(a sms.Account) views.SendingForm {
	p := views.SendingForm{Action: accountPath(a.ID) + "/sending", Abroad: a.Abroad, TypeAbove: strconv.FormatInt(a.TypeAbove, 10), ApproveAbove: strconv.FormatInt(a.ApproveAbove, 10),
		CallLimit: strconv.Itoa(a.CallLimit), URLBudget: strconv.Itoa(a.URLBudget), Zone: views.ZoneWords(s.now().In(a.Location())), Country: a.Country}
	p.From, p.To = a.Hours.Ends()
	return p
}

// sendingTyped is the form as it was sent.
func (s *Web) sendingTyped(f url.Values, a sms.Account) views.SendingForm {
	p := s.sendingFields(a)
	field := func(name string) string { return firstLetters(strings.TrimSpace(f.Get(name)), 40) }
	p.From, p.To, p.Abroad = field("hours_from"), field("hours_to"), f.Get("abroad") != ""
	p.TypeAbove, p.CallLimit, p.URLBudget = field("type_above"), field("call_limit"), field("url_budget")
	// A form that was opened before there was this field does not turn it off.
	if f.Has("approve_above") {
		p.ApproveAbove = field("approve_above")
	}
	return p
}

// readSending reads the form; what is no number is left for the account's own
// check to refuse.
func readSending(p views.SendingForm) (desk.Sending, error) {
	count := func(text string) int {
		n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
		if err != nil {
			return -1
		}
		return n
	}
	hours, err := sms.ReadHours(p.From, p.To)
	return desk.Sending{Hours: hours, Abroad: p.Abroad, TypeAbove: int64(count(p.TypeAbove)), ApproveAbove: int64(count(p.ApproveAbove)), CallLimit: count(p.CallLimit), URLBudget: max(count(p.URLBudget), 1)}, err
}

func (s *Web) sendingSave(w http.ResponseWriter, r *http.Request, v *visit) error {
	a, err := s.accountOf(r)
	if err != nil {
		return err
	}
	typed := s.sendingTyped(r.PostForm, a)
	sending, err := readSending(typed)
	bad := sms.Invalid{}
	merge(bad, err)
	changed := a
	changed.Hours, changed.TypeAbove, changed.ApproveAbove, changed.CallLimit, changed.URLBudget = sending.Hours, sending.TypeAbove, sending.ApproveAbove, sending.CallLimit, sending.URLBudget
	merge(bad, changed.Check())
	if len(bad) == 0 {
		_, err = s.desk.SaveSending(r.Context(), v.user, a.ID, sending)
		if err != nil && !errors.As(err, &bad) {
			return err
		}
	}
	if len(bad) > 0 {
		form := accountFields(a)
		form.Sending = typed
		return s.showAccount(w, r, v, form, bad)
	}
	redirect(w, r, withDone(accountPath(a.ID), "saved"))
	return nil
}
