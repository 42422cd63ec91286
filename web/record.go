package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"smsdesk/internal/sms"
	"smsdesk/views"
)

type recordQuestions interface {
	Groups(ctx context.Context, account int64) ([]sms.Group, error)
	GroupWaits(ctx context.Context, account, id int64) (int64, error)
	SenderWaits(ctx context.Context, account int64, text string) (int64, error)
	SenderDays(ctx context.Context, account int64) (map[string]string, error)
	TemplateDrafts(ctx context.Context, account int64) ([]sms.TemplateDraft, error)
	TemplateDraft(ctx context.Context, account, id int64) (sms.TemplateDraft, error)
	TemplateUses(ctx context.Context, account int64) (map[int64]sms.TemplateUse, error)
	CampaignsOfTemplate(ctx context.Context, account, id int64) (list []sms.Campaign, waiting int64, err error)
	CampaignTemplate(ctx context.Context, campaign int64) (sms.CampaignTemplate, error)
	RecordSettings(ctx context.Context, account int64) (sms.RecordSettings, error)
}

type balanceQuestions interface {
	BalanceHistory(ctx context.Context, account int64, pluginType string, since int64) ([]sms.BalanceSpan, error)
	Alarms(ctx context.Context, account int64) ([]sms.Alarm, error)
	UsageDays(ctx context.Context, account int64, from, to string) ([]sms.UsageDay, error)
	Costs(ctx context.Context, account, after int64) ([]sms.Cost, error)
	Cost(ctx context.Context, campaign int64) (sms.Cost, error)
}

func (s *Web) recordFrame(v *visit, title string, bad sms.Invalid, crumbs ...views.Link) views.Frame {
	f := v.frame(title, "records")
	f.Crumbs, f.Error = crumbs, len(bad) > 0
	return f
}

// refreshRecords reads records of one kind again and goes back to their page,
// which says what came of it.
func (s *Web) refreshRecords(kind sms.RecordKind, page string) handler {
	return func(w http.ResponseWriter, r *http.Request, v *visit) error {
		ctx, cancel := context.WithTimeout(r.Context(), refreshTimeout)
		defer cancel()
		switch err := s.desk.RefreshRecords(ctx, v.user, v.account.ID, kind); {
		case err == nil:
			redirect(w, r, withDone(page, "read"))
		case errors.Is(err, sms.ErrNotFound) || errors.Is(err, sms.ErrForbidden):
			return err
		default:
			s.log.Warn(string(kind)+" not read", "id", requestID(r.Context()), "account", v.account.ID, "error", err)
			redirect(w, r, page)
		}
		return nil
	}
}

// backTo answers an address that only takes forms.
func backTo(page string) handler {
	return func(w http.ResponseWriter, r *http.Request, _ *visit) error {
		redirect(w, r, page)
		return nil
	}
}

// changed goes back to a list after a change of a record: it was made, or the
// provider has no such record any more. Anything else is the caller's.
func changed(w http.ResponseWriter, r *http.Request, err error, page, done, gone string) (answered bool) {
	switch {
	case err == nil:
		redirect(w, r, withDone(page, done))
	case errors.Is(err, sms.ErrGone):
		redirect(w, r, withDone(page, gone))
	default:
		return false
	}
	return true
}

// among finds a record of a list by the id in the address.
func among[T any](r *http.Request, list []T, idOf func(T) int64) (found T, err error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	for _, x := range list {
		if err == nil && idOf(x) == id {
			return x, nil
		}
	}
	return found, fmt.Errorf("record: %w", sms.ErrNotFound)
}

// recordSettingsSave allows or forbids to make records at the provider.
func (s *Web) recordSettingsSave(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, err := pathID(r, "id")
	if err != nil {
		return err
	}
	_, err = s.desk.SaveRecordSettings(r.Context(), v.user, id, func(x *sms.RecordSettings) { x.Creates = r.PostForm.Get("creates") != "" })
	if err != nil {
		return err
	}
	redirect(w, r, withDone(views.AccountPath(id), "saved"))
	return nil
}
