package web

import (
	"context"
	"net/http"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// backups is the page about backups.
type backups struct {
	*page.Site
	desk backupOrders
}

// backupOrders are what people do on these pages.
type backupOrders interface {
	BackUp(ctx context.Context, by sms.User, start func(by string)) error
}

func (s *backups) backupShow(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	b, err := s.Backups(r.Context(), v)
	if err != nil {
		return err
	}
	p := views.BackupPage{Backups: b, Renew: views.Refresh{ID: "backup-live", URL: views.BackupPath,
		On: []string{feed.Backup}}}
	f := v.LiveFrame("Backup", "settings", feed.Backup)
	if f.Paused {
		p.Renew.On = nil
	}
	if page.IsFragment(r) {
		return s.Render(w, r, http.StatusOK, views.BackupLive(p))
	}
	return s.Render(w, r, http.StatusOK, views.BackupShow(f, p))
}

func (s *backups) backupMake(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if s.Backup == nil || s.Backup.Plan().Folder == "" {
		return sms.ErrNotFound
	}
	if err := s.desk.BackUp(r.Context(), v.User, s.Backup.Start); err != nil {
		return err
	}
	return page.Redirect(w, r, views.BackupPath)
}
