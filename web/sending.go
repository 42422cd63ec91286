package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// sendingFields are an account's sending settings as the forms show them.
func sendingFields(a sms.Account) views.SendingForm {
	limit := func(n int64) string {
		if n == 0 {
			return ""
		}
		return views.Number(int(n))
	}
	l := a.Limits
	p := views.SendingForm{HoursZone: a.Hours.Zone, Abroad: a.Abroad, TypeAbove: limit(a.ConfirmCountAbove),
		ApproveAbove: limit(a.ApproveAbove), CallLimit: views.Number(a.CallLimit), URLBudget: views.Number(a.URLBudget),
		SendByGet: a.SendByGet,
		Limits: map[string]string{"cap_messages": limit(l.CapMessages), "cap_days": limit(l.CapDays),
			"day_most": limit(l.MaxPerDay), "person_most": limit(l.MaxPerCampaign), "person_day_most": limit(l.MaxPerUserDay)}}
	p.From, p.To = a.Hours.Ends()
	for d, own := range a.Hours.Own {
		p.Days[d].Mode = own.Mode()
		p.Days[d].From, p.Days[d].To = own.Ends()
	}
	return p
}

// typedInto puts what was sent of a page into a form; what was not sent stays
// as it is stored.
func typedInto(p *views.SendingForm, f url.Values, section views.AccountSection) {
	field := func(name string, to *string) {
		if f.Has(name) {
			*to = page.FirstLetters(strings.TrimSpace(f.Get(name)), 40)
		}
	}
	switch section {
	case views.SectionHours:
		field("hours_from", &p.From)
		field("hours_to", &p.To)
		field("hours_zone", &p.HoursZone)
		for d := range p.Days {
			name := views.DayName(d)
			field(name, &p.Days[d].Mode)
			field(name+"_from", &p.Days[d].From)
			field(name+"_to", &p.Days[d].To)
		}
	case views.SectionLimits:
		for name, value := range p.Limits {
			field(name, &value)
			p.Limits[name] = value
		}
		field("type_above", &p.TypeAbove)
		field("approve_above", &p.ApproveAbove)
		p.Abroad = f.Get("abroad") != ""
	case views.SectionAdvanced:
		field("call_limit", &p.CallLimit)
		field("url_budget", &p.URLBudget)
		if f.Has("send_by") {
			p.SendByGet = f.Get("send_by") == "get"
		}
	}
}

// count reads a number with or without commas; what is none is below 0, which
// the account's own check refuses.
func count(text string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	if err != nil {
		return -1
	}
	return n
}

// limit is count for a field in which nothing is no limit.
func limit(text string) int64 {
	if text == "" {
		return 0
	}
	return int64(count(text))
}

// putSending puts the form of a page into what an account does.
func putSending(s *desk.Sending, p views.SendingForm, section views.AccountSection) error {
	switch section {
	case views.SectionHours:
		hours, err := readWeek(p)
		s.Hours = hours
		return err
	case views.SectionLimits:
		s.Abroad, s.TypeAbove, s.ApproveAbove = p.Abroad, limit(p.TypeAbove), limit(p.ApproveAbove)
		s.Limits = sms.Limits{CapMessages: limit(p.Limits["cap_messages"]), CapDays: limit(p.Limits["cap_days"]),
			MaxPerDay: limit(p.Limits["day_most"]), MaxPerCampaign: limit(p.Limits["person_most"]),
			MaxPerUserDay: limit(p.Limits["person_day_most"])}
	case views.SectionAdvanced:
		s.CallLimit, s.URLBudget, s.SendByGet = count(p.CallLimit), max(count(p.URLBudget), 1), p.SendByGet
	}
	return nil
}

// readWeek reads the sending hours of the week.
func readWeek(p views.SendingForm) (sms.Hours, error) {
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
	return hours, bad.Or()
}

// sendingSave takes the form of one page or, at the address that there was
// before there were pages, of several at once; what is wrong is shown on its page.
func (s *accounts) sendingSave(sections ...views.AccountSection) page.Handler {
	return func(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
		a, err := s.accountOf(r)
		if err != nil {
			return err
		}
		p, err := s.settings(v, a, sections[0])
		if err != nil {
			return err
		}
		bad := sms.Invalid{}
		for _, section := range sections {
			typedInto(&p.Sending, r.PostForm, section)
			page.Merge(bad, putSending(&desk.Sending{}, p.Sending, section))
		}
		if len(bad) == 0 {
			_, err = s.desk.SaveSending(r.Context(), v.User, a.ID, func(x *desk.Sending) {
				for _, section := range sections {
					_ = putSending(x, p.Sending, section) // read without a fault above
				}
			})
			if err != nil && !errors.As(err, &bad) {
				return err
			}
		}
		if len(bad) > 0 {
			p.Bad, p.Section = bad, views.SectionOf(bad)
			return s.showSettings(w, r, v, p)
		}
		if err := s.saveCreates(r, v, a, p.Records, sections); err != nil {
			return err
		}
		return page.Redirect(w, r, page.WithDone(views.SectionPath(a.ID, sections[0]), "saved"))
	}
}

// saveCreates takes whether records are made at the provider, which stands with
// the advanced settings and has no other fault than that it is not stored. The
// address of before has a form of its own for it.
func (s *accounts) saveCreates(r *http.Request, v *page.Visit, a sms.Account, stored views.Records,
	sections []views.AccountSection) error {
	creates := r.PostForm.Get("creates") != ""
	if !slices.Equal(sections, []views.AccountSection{views.SectionAdvanced}) || creates == stored.Creates {
		return nil
	}
	_, err := s.desk.SaveRecordSettings(r.Context(), v.User, a.ID, func(x *sms.RecordSettings) { x.Creates = creates })
	return err
}
