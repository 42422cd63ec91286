package web

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// maker stands for the desk's own backups.
type maker struct {
	plan    health.BackupPlan
	doing   string
	started []string
}

func (m *maker) Plan() health.BackupPlan { return m.plan }
func (m *maker) Start(by string)         { m.started = append(m.started, by) }
func (m *maker) Doing() string           { return m.doing }

func (s *site) backedUp(b health.Backup) {
	s.t.Helper()
	text, err := json.Marshal(b)
	s.must(err)
	s.must(s.db.PutSetting(s.t.Context(), health.SettingBackup, string(text)))
}

func TestTheBackupPage(t *testing.T) {
	m := &maker{}
	s := newSite(t, func(c *Config) { c.Backups = m })
	s.clinic()
	boss, sender := s.as(s.boss), s.as(s.hire("s@example.com", sms.Sender))
	sender.get(views.BackupPath).is(403)
	sender.post(views.BackupPath).is(403)
	ago := func(d time.Duration) int64 { return s.clock.now().Add(-d).UnixMilli() }

	boss.get(views.BackupPath).is(200).has("No backup was ever made", "smsdesk makes no automatic backups", "--backup",
		"smsdesk restore").lacks("Back up now")
	boss.post(views.BackupPath).is(404)
	boss.get("/").is(200).has("No backup was ever made", "Open the Backup page")
	sender.get("/").is(200).lacks("No backup was ever made")

	m.plan = health.BackupPlan{Folder: "/mnt/" + strings.Repeat("a-long-folder-name/", 12) + "backups",
		Every: 24 * time.Hour,
		Keep:  7, Retry: time.Minute}
	good := health.Backup{At: ago(3 * time.Hour), Took: 1200, Bytes: 12_345_678, Folder: m.plan.Folder +
		"/2026-11-21T1610Z",
		By: "J. Otieno", Verified: true}
	s.backedUp(good)
	boss.get(views.BackupPath).is(200).has("3 hours ago, by J. Otieno", "12 MB", "2026-11-21T1610Z",
		"Keep a copy of smsdesk.key", "Every day", "The newest 7", "Back up now").
		lacks("same disk", "No backup")
	boss.get("/").is(200).lacks("Open the Backup page")
	boss.post(views.BackupPath).is(303)
	if len(m.started) != 1 || m.started[0] != s.boss.Name {
		t.Errorf("started by %v", m.started)
	}
	m.doing = "Copying the database"
	boss.get(views.BackupPath).is(200).has("Copying the database…").lacks("Back up now")
	m.doing = ""

	old := good
	old.At, old.SameDisk, old.WithKey = ago(49*time.Hour), true, true
	s.backedUp(old)
	boss.get(views.BackupPath).is(200).has("The last backup is 2 days old", "on the same disk as the data",
		"Yes, encrypted")
	boss.get("/").is(200).has("The last backup is 2 days old")

	bad := good
	bad.FailedAt, bad.Problem = ago(time.Minute),
		"a backup needs about 2.1 GB, and the disk of /mnt has 40 MB left. Make room or give another folder"
	s.backedUp(bad)
	boss.get(views.BackupPath).is(200).has("failed", "A backup needs about 2.1 GB", "The last good one is 3 hours old.")
	boss.get("/").is(200).has("A backup needs about 2.1 GB")
}

// TestNobodyIsAskedForBackupsOfATestDesk: there is nothing to lose.
func TestNobodyIsAskedForBackupsOfATestDesk(t *testing.T) {
	s := newSite(t)
	s.as(s.boss).get("/").is(200).lacks("No backup was ever made")
	s.as(s.boss).get(views.BackupPath).is(200).has("No backup yet")
}
