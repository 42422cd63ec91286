package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// records are the pages of templates, sender IDs and groups.
type records struct {
	*page.Site
	store recordQuestions
	desk  recordOrders
}

// recordQuestions are what records ask of the storage.
type recordQuestions interface {
	CampaignsOfTemplate(ctx context.Context, account, id int64) (list []sms.Campaign, waiting int64, err error)
	CountScheduledByGroup(ctx context.Context, account, id int64) (int64, error)
	Groups(ctx context.Context, account int64) ([]sms.Group, error)
	LastSentDays(ctx context.Context, account int64) (map[string]string, error)
	SenderIDs(ctx context.Context, account int64) ([]sms.SenderID, error)
	CountScheduledBySender(ctx context.Context, account int64, text string) (int64, error)
	TemplateDraft(ctx context.Context, account, id int64) (sms.TemplateDraft, error)
	TemplateDrafts(ctx context.Context, account int64) ([]sms.TemplateDraft, error)
	TemplateUses(ctx context.Context, account int64) (map[int64]sms.TemplateUse, error)
	Templates(ctx context.Context, account int64) ([]sms.Template, error)
}

// recordOrders are what people do on these pages.
type recordOrders interface {
	ChooseDefaultSender(ctx context.Context, by sms.User, account, id int64) error
	CreateGroup(ctx context.Context, by sms.User, account, parent int64, name string) (said string, err error)
	CreateSenderID(ctx context.Context, by sms.User, account int64, text, purpose string) (said string, err error)
	CreateTemplate(ctx context.Context, by sms.User, account, draft int64) (said string, err error)
	DeleteGroup(ctx context.Context, by sms.User, account, id int64, typed string) (said string, err error)
	DeleteSenderID(ctx context.Context, by sms.User, account, id int64) (said string, err error)
	DeleteTemplate(ctx context.Context, by sms.User, account, id int64) (said string, err error)
	DeleteTemplateDraft(ctx context.Context, by sms.User, account, id int64) error
	RefreshRecords(ctx context.Context, by sms.User, account int64, kind sms.RecordKind) error
	RenameGroup(ctx context.Context, by sms.User, account, id int64, seen, name string) (said string, err error)
	SaveRecordSettings(ctx context.Context, by sms.User, account int64,
		change func(*sms.RecordSettings)) (sms.RecordSettings, error)
	SaveTemplateDraft(ctx context.Context, by sms.User, draft sms.TemplateDraft) (sms.TemplateDraft, error)
	UpdatePurpose(ctx context.Context, by sms.User, account, id int64, seen, purpose string) (said string, err error)
	UpdateTemplate(ctx context.Context, by sms.User, account int64, seen sms.Template, name,
		text string) (said string, err error)
}

func (s *records) recordFrame(v *page.Visit, title string, bad sms.Invalid, crumbs ...views.Link) views.PageFrame {
	f := v.Frame(title, "records")
	f.Crumbs, f.Error = crumbs, len(bad) > 0
	return f
}

// refreshRecords reads records of one kind again and goes back to their page,
// which says what came of it.
func (s *records) refreshRecords(kind sms.RecordKind, back string) page.Handler {
	return func(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
		ctx, cancel := context.WithTimeout(r.Context(), refreshTimeout)
		defer cancel()
		switch err := s.desk.RefreshRecords(ctx, v.User, v.Account.ID, kind); {
		case err == nil:
			page.Redirect(w, r, page.WithDone(back, "read"))
		case errors.Is(err, sms.ErrNotFound) || errors.Is(err, sms.ErrForbidden):
			return err
		default:
			s.Log.Warn(string(kind)+" not read", "id", page.RequestID(r.Context()), "account", v.Account.ID, "error", err)
			page.Redirect(w, r, back)
		}
		return nil
	}
}

// backTo answers an address that only takes forms.
func backTo(back string) page.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
		return page.Redirect(w, r, back)
	}
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
func (s *records) recordSettingsSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	_, err := s.desk.SaveRecordSettings(r.Context(), v.User, id, func(x *sms.RecordSettings) {
		x.Creates = r.PostForm.Get("creates") != ""
	})
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.SectionPath(id, views.SectionAdvanced), "saved"))
}
