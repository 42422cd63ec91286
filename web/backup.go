package web

import (
	"context"
	"net/http"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// Backups are the desk's own, which it makes while it runs.
type Backups interface {
	// Plan says how they are made; the zero value is not at all.
	Plan() sms.BackupPlan
	// Start begins one, unless one is being made.
	Start(by string)
	// Doing says what is being done at the moment, "" for nothing.
	Doing() string
}

// backups is what there is to say about them.
func (s *Web) backups(ctx context.Context, v *visit) (views.Backups, error) {
	set, err := s.store.Setting(ctx, sms.SettingBackup)
	if err != nil {
		return views.Backups{}, err
	}
	b := views.Backups{Outlook: s.outlook(v, v.account)}
	if b.Last, err = sms.ReadBackup(set); err != nil {
		return b, err
	}
	if s.backup != nil {
		b.Plan, b.Doing = s.backup.Plan(), s.backup.Doing()
	}
	for _, a := range v.accounts {
		b.Live = b.Live || !a.Test
	}
	return b, nil
}

func (s *Web) backupShow(w http.ResponseWriter, r *http.Request, v *visit) error {
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

func (s *Web) backupMake(w http.ResponseWriter, r *http.Request, v *visit) error {
	if s.backup == nil || s.backup.Plan().Folder == "" {
		return sms.ErrNotFound
	}
	if err := s.desk.BackUp(r.Context(), v.user, s.backup.Start); err != nil {
		return err
	}
	redirect(w, r, views.BackupPath)
	return nil
}
