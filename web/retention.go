package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// retentions is the page about how long numbers and texts are kept.
type retentions struct {
	*page.Site
	desk retentionOrders
}

// retentionOrders are what people do on these pages.
type retentionOrders interface {
	SaveRetention(ctx context.Context, by sms.User, r sms.Retention) error
}

func (s *retentions) retentionForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	set, err := s.Retention(r.Context())
	if err != nil {
		return err
	}
	months := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	return s.showRetention(w, r, v, views.RetentionForm{Messages: months(set.Messages), Reports: months(set.Reports),
		Calls: months(set.Calls), Log: months(set.LogDays)})
}

func (s *retentions) showRetention(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.RetentionForm) error {
	f := v.Frame("How long things are kept", "settings")
	f.Error = len(p.Bad) > 0
	return s.Render(w, r, page.Status(r, p.Bad), views.Retention(f, p))
}

func (s *retentions) retentionSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	field := func(name string) string { return page.FirstLetters(strings.TrimSpace(r.PostForm.Get(name)), 40) }
	p := views.RetentionForm{Messages: field("messages"), Reports: field("reports"), Calls: field("calls"),
		Log: field("log")}
	months := func(text string) int {
		if text == "" {
			return 0
		}
		n, err := strconv.Atoi(text)
		if err != nil || n == 0 {
			return -1
		}
		return n
	}
	err := s.desk.SaveRetention(r.Context(), v.User,
		sms.Retention{Messages: months(p.Messages), Reports: months(p.Reports), Calls: months(p.Calls),
			LogDays: months(p.Log)})
	if errors.As(err, &p.Bad) {
		return s.showRetention(w, r, v, p)
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.RetentionPath, "saved"))
}
