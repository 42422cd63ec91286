package health

import (
	"testing"
	"time"
)

func TestWhatIsToBeSaidAboutBackups(t *testing.T) {
	now := time.UnixMilli(1_795_277_400_000)
	ago := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	daily := BackupPlan{Folder: "/backups", Every: 24 * time.Hour, Keep: 7, Retry: 15 * time.Minute}
	for name, c := range map[string]struct {
		b    Backup
		p    BackupPlan
		want BackupState
		next time.Duration // from now
	}{
		"never made":          {Backup{}, BackupPlan{}, BackupNone, 0},
		"planned, not made":   {Backup{}, daily, BackupNone, 0},
		"fresh":               {Backup{At: ago(time.Hour)}, daily, BackupFine, 23 * time.Hour},
		"one was missed":      {Backup{At: ago(48 * time.Hour)}, daily, BackupFine, -24 * time.Hour},
		"two were missed":     {Backup{At: ago(49 * time.Hour)}, daily, BackupOld, -25 * time.Hour},
		"failed":              {Backup{At: ago(time.Hour), FailedAt: ago(time.Minute)}, daily, BackupFailed, 14 * time.Minute},
		"first one failed":    {Backup{FailedAt: ago(time.Minute)}, daily, BackupFailed, 14 * time.Minute},
		"by hand, 6 days old": {Backup{At: ago(6 * 24 * time.Hour)}, BackupPlan{}, BackupFine, 0},
		"by hand, 8 days old": {Backup{At: ago(8 * 24 * time.Hour)}, BackupPlan{}, BackupOld, 0},
		"clock was fast":      {Backup{At: ago(-time.Hour)}, daily, BackupFine, 0},
	} {
		if got := c.b.State(c.p, now); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if next := c.b.Next(c.p, now).Sub(now); c.p.Folder != "" && next != c.next {
			t.Errorf("%s: the next one in %s, want %s", name, next, c.next)
		}
	}
	if _, err := ReadBackup("{"); err == nil {
		t.Error("a damaged setting was read")
	}
}
