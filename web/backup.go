package web

import (
	"context"
	"net/http"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// backups is the page about backups.
type backups struct {
	*Site
	desk backupOrders
}

// backupOrders are what people do on these pages.
type backupOrders interface {
	BackUp(ctx context.Context, by sms.User, start func(by string)) error
}

// Backups are the desk's own, which it makes while it runs.
type Backups interface {
	// Plan says how they are made; the zero value is not at all.
	Plan() sms.BackupPlan
	// Start begins one, unless one is being made.
	Start(by string)
	// Doing says what is being done at the moment, "" for nothing.
	Doing() string
}

func (s *backups) backupShow(w http.ResponseWriter, r *http.Request, v *visit) error {
	b, err := s.backups(r.Context(), v)
	if err != nil {
		return err
	}
	p := views.BackupPage{Backups: b, Renew: views.Refresh{ID: "backup-live", URL: views.BackupPath, On: []string{feed.Backup}}}
	f := v.liveFrame("Backup", "settings", feed.Backup)
	if f.Paused {
		p.Renew.On = nil
	}
	if isFragment(r) {
		return s.render(w, r, http.StatusOK, views.BackupLive(p))
	}
	return s.render(w, r, http.StatusOK, views.BackupShow(f, p))
}

func (s *backups) backupMake(w http.ResponseWriter, r *http.Request, v *visit) error {
	if s.backup == nil || s.backup.Plan().Folder == "" {
		return sms.ErrNotFound
	}
	if err := s.desk.BackUp(r.Context(), v.user, s.backup.Start); err != nil {
		return err
	}
	redirect(w, r, views.BackupPath)
	return nil
}
