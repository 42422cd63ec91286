package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// sendingFields are an account's sending settings as the form shows them.
func (s *accounts) sendingFields(a sms.Account) views.SendingForm {
	p := views.SendingForm{Action: views.AccountPath(a.ID) + "/sending", Abroad: a.Abroad,
		TypeAbove: strconv.FormatInt(a.ConfirmCountAbove, 10), ApproveAbove: strconv.FormatInt(a.ApproveAbove, 10),
		CallLimit: strconv.Itoa(a.CallLimit), URLBudget: strconv.Itoa(a.URLBudget), SendByGet: a.SendByGet,
		Zone: views.ZoneWords(s.Now().In(a.Location())), Country: a.Country, Limits: map[string]string{}}
	p.From, p.To = a.Hours.Ends()
	p.HoursZone = a.Hours.Zone
	for d, own := range a.Hours.Own {
		p.Days[d].Mode = own.Mode()
		p.Days[d].From, p.Days[d].To = own.Ends()
	}
	l := a.Limits
	for name, n := range map[string]int64{"cap_messages": l.CapMessages, "cap_days": l.CapDays, "day_most": l.MaxPerDay,
		"person_most": l.MaxPerCampaign, "person_day_most": l.MaxPerUserDay} {
		p.Limits[name] = strconv.FormatInt(n, 10)
	}
	return p
}

// sendingTyped is the form as it was sent.
func (s *accounts) sendingTyped(f url.Values, a sms.Account) views.SendingForm {
	p := s.sendingFields(a)
	field := func(name string) string { return page.FirstLetters(strings.TrimSpace(f.Get(name)), 40) }
	p.From, p.To, p.Abroad = field("hours_from"), field("hours_to"), f.Get("abroad") != ""
	p.HoursZone = field("hours_zone")
	for d := range p.Days {
		name := views.DayName(d)
		p.Days[d] = views.DayForm{Mode: field(name), From: field(name + "_from"), To: field(name + "_to")}
	}
	for name := range p.Limits {
		if f.Has(name) {
			p.Limits[name] = field(name)
		}
	}
	p.TypeAbove, p.CallLimit, p.URLBudget = field("type_above"), field("call_limit"), field("url_budget")
	// A form that was opened before there were these fields does not turn them off.
	if f.Has("approve_above") {
		p.ApproveAbove = field("approve_above")
	}
	if f.Has("send_by") {
		p.SendByGet = f.Get("send_by") == "get"
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
	bad := sms.Invalid{}
	hours, err := sms.ReadHours(p.From, p.To)
	page.Merge(bad, err)
	hours.Zone = p.HoursZone
	for d, typed := range p.Days {
		own, err := sms.ReadDay(typed.Mode, typed.From, typed.To)
		if wrong, ok := errors.AsType[sms.Invalid](err); ok {
			bad[views.DayName(d)] = strings.TrimSpace(wrong["from"] + " " + wrong["to"])
		}
		hours.Own[d] = own
	}
	if _, err := time.LoadLocation(p.HoursZone); err != nil {
		bad["hours_zone"], hours.Zone = "Enter a time zone, for example Africa/Lagos, or leave it empty", ""
	} else if len(bad) == 0 && !hours.Valid() {
		bad["hours_from"] = "Sending hours must include at least one day"
	}
	limit := func(name string) int64 { return int64(count(p.Limits[name])) }
	return desk.Sending{Hours: hours, Abroad: p.Abroad, TypeAbove: int64(count(p.TypeAbove)),
		ApproveAbove: int64(count(p.ApproveAbove)), CallLimit: count(p.CallLimit), URLBudget: max(count(p.URLBudget), 1), SendByGet: p.SendByGet,
		Limits: sms.Limits{CapMessages: limit("cap_messages"), CapDays: limit("cap_days"), MaxPerDay: limit("day_most"),
			MaxPerCampaign: limit("person_most"), MaxPerUserDay: limit("person_day_most")}}, bad.Or()
}

func (s *accounts) sendingSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.accountOf(r)
	if err != nil {
		return err
	}
	typed := s.sendingTyped(r.PostForm, a)
	sending, err := readSending(typed)
	bad := sms.Invalid{}
	page.Merge(bad, err)
	changed := a
	changed.Hours, changed.Limits = sending.Hours, sending.Limits
	changed.ConfirmCountAbove, changed.ApproveAbove = sending.TypeAbove, sending.ApproveAbove
	changed.CallLimit, changed.URLBudget, changed.SendByGet = sending.CallLimit, sending.URLBudget, sending.SendByGet
	page.Merge(bad, changed.Check())
	if len(bad) == 0 {
		_, err = s.desk.SaveSending(r.Context(), v.User, a.ID, sending)
		if err != nil && !errors.As(err, &bad) {
			return err
		}
	}
	if len(bad) > 0 {
		form := accountFields(a)
		form.Sending = typed
		return s.showAccount(w, r, v, form, bad)
	}
	return page.Redirect(w, r, page.WithDone(views.AccountPath(a.ID), "saved"))
}
