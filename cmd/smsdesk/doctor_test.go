package main

import (
	"bytes"
	stdsql "database/sql"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

// program runs one command and gives what it printed.
func program(t *testing.T, args ...string) (output string, code int) {
	t.Helper()
	var out bytes.Buffer
	code = run(args, &out, &out)
	return out.String(), code
}

// newDesk is a data folder with one account.
func newDesk(t *testing.T) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	db, err := storage.Open(t.Context(), storage.Config{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	a := sms.Account{Name: "Clinic", BaseURL: "https://api.example.com/v2", PerMinute: 100, CallLimit: 10, URLBudget: 2000,
		MaxParts: 6, Country: "NG",
		Timezone: "Africa/Lagos", Currency: "₦", LateAfter: sms.DefaultLateAfter}
	if _, err := db.CreateAccount(t.Context(), a, sms.Credentials{ClientID: "c", APIKey: "k"}, 1); err != nil {
		t.Fatal(err)
	}
	journal := storage.NewJournal(db, storage.JournalConfig{})
	_, err = journal.Start(t.Context(), 1)
	must(t, err)
	must(t, journal.Close())
	must(t, db.Close())
	if err := (env{storage: storage.Config{Data: data}, log: slog.New(slog.DiscardHandler)}).makePrivate(); err != nil {
		t.Fatal(err)
	}
	return data
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAMistypedFolderIsNoDesk: no command that reads makes one, and each says so.
func TestAMistypedFolderIsNoDesk(t *testing.T) {
	data := filepath.Join(t.TempDir(), "mistyped")
	for _, args := range [][]string{{"doctor"}, {"doctor", "--counts"}, {"doctor", "--accept-rollback"}, {"user", "list"},
		{"token", "list"},
		{"token", "revoke", "--id", "1"}, {"retention", "show"}, {"retention", "set", "--messages", "1", "--reports", "1", "--calls", "1"},
		{"account", "show", "--name", "Clinic"}, {"account", "test", "--name", "Clinic"}} {
		out, code := program(t, append([]string{"--data", data}, args...)...)
		if code != exitFault || !strings.Contains(out, "there is no desk in "+data) || strings.Contains(out, "ok ") {
			t.Errorf("%v: exit %d\n%s", args, code, out)
		}
		if _, err := os.Stat(data); !os.IsNotExist(err) {
			t.Fatalf("%v made the folder", args)
		}
	}
}

// backedUp stores what became of the latest backups.
func backedUp(t *testing.T, data string, b health.Backup) {
	t.Helper()
	text, err := json.Marshal(b)
	must(t, err)
	must(t, storage.PutSettingIn(t.Context(), filepath.Join(data, "smsdesk.db"), health.SettingBackup, string(text)))
}

// TestDoctorTellsByItsExitStatus: a sound desk is 0; each thing that is wrong
// with one is named, and its grade decides the status.
func TestDoctorTellsByItsExitStatus(t *testing.T) {
	sound := newDesk(t)
	backedUp(t, sound, health.Backup{At: time.Now().UnixMilli(), Folder: sound})
	if out, code := program(t, "--data", sound, "doctor", "--counts"); code != exitOK || strings.Contains(out, "fault") ||
		strings.Contains(out, "warn") {
		t.Errorf("a sound desk: exit %d\n%s", code, out)
	}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, data string)
		want  string
		code  int
	}{
		"key of another desk": {func(t *testing.T, data string) {
			must(t, os.WriteFile(filepath.Join(data, "smsdesk.key"), []byte(strings.Repeat("ab", 32)), 0o600))
		}, "fault  the key file", exitFault},
		"no backup": {func(*testing.T, string) {}, "warn   no backup was ever made. Run: smsdesk backup DIR", exitOK},
		"an old backup that is gone": {func(t *testing.T, data string) {
			backedUp(t, data, health.Backup{At: time.Now().AddDate(0, 0, -8).UnixMilli(), Folder: "/mnt/gone"})
		},
			"warn   the last backup is 8 days old. Run: smsdesk backup DIR\nwarn   the last backup is no longer in /mnt/gone.", exitOK},
		"a backup that failed": {func(t *testing.T, data string) {
			backedUp(t, data, health.Backup{FailedAt: 1, Problem: "the disk is full"})
		}, "failed: the disk is full. Run: smsdesk backup DIR", exitFault},
		"one secret of another key": {func(t *testing.T, data string) {
			sql(t, data, "update account set api_key = x'00'")
		}, "fault  open what is sealed", exitFault},
		"database for all to read": {func(t *testing.T, data string) {
			must(t, os.Chmod(filepath.Join(data, "smsdesk.db"), 0o644))
		}, "smsdesk.db is readable or writable by others (mode 644)", exitFault},
		"a report that waits": {func(t *testing.T, data string) {
			must(t, os.Mkdir(filepath.Join(data, "spool"), 0o700))
			must(t, os.WriteFile(filepath.Join(data, "spool", "1.reports"), []byte("1 2 \"r\" \"q\"\n1 2 \"half"), 0o600))
		}, "warn   1 delivery reports wait in the spool", exitOK},
		"an inbox that is lost": {func(t *testing.T, data string) {
			sql(t, data, "insert into inbox_cursor (name, position) values ('inbox', 7)")
		}, "fault  the inbox inbox.db is missing", exitFault},
		"an inbox that is damaged": {func(t *testing.T, data string) {
			must(t, os.WriteFile(filepath.Join(data, "inbox.db"), bytes.Repeat([]byte("x"), 9000), 0o600))
		}, "fault  the inbox inbox.db cannot be read", exitFault},
		"an unknown proxy": {func(t *testing.T, data string) {
			db, err := storage.Open(t.Context(), storage.Config{Data: data})
			must(t, err)
			(&proxyWatch{settings: db, log: slog.New(slog.DiscardHandler), now: time.Now}).saw(t.Context(), "10.0.0.7")
			must(t, db.Close())
		}, "from 10.0.0.7 carried X-Forwarded-For", exitOK},
		"a paused account": {func(t *testing.T, data string) {
			sql(t, data, "update account set pause = 'Check the API key'")
		}, "fault  account \"Clinic\" is paused: Check the API key", exitFault},
		"a wrong count": {func(t *testing.T, data string) {
			sql(t, data, "insert into traffic_quarter (account_id, quarter, key, n) values (1, 0, 'delivered', 9)")
		}, "fault  count of ", exitFault},
		"an older schema": {func(t *testing.T, data string) {
			sql(t, data, "delete from goose_db_version where version_id > 24")
		}, "warn   the database was made by an earlier version of smsdesk: it has schema 24", exitOK},
		"a newer schema": {func(t *testing.T, data string) {
			sql(t, data, "insert into goose_db_version (version_id, is_applied) values (9999, true)")
		}, "has schema 9999, and this program knows only up to", exitFault},
		"a damaged database": {func(t *testing.T, data string) {
			f, err := os.OpenFile(filepath.Join(data, "smsdesk.db"), os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteAt(bytes.Repeat([]byte{0xff}, 3*4096), 40*4096)
			must(t, err)
			must(t, f.Close())
		}, "fault  ", exitFault},
	} {
		t.Run(name, func(t *testing.T) {
			data := newDesk(t)
			c.spoil(t, data)
			out, code := program(t, "--data", data, "doctor", "--counts")
			if code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("exit %d, want %d and %q\n%s", code, c.code, c.want, out)
			}
		})
	}
}

// sql changes a closed database as nobody should.
func sql(t *testing.T, data, statement string) {
	t.Helper()
	db, err := stdsql.Open("sqlite", filepath.Join(data, "smsdesk.db"))
	must(t, err)
	_, err = db.ExecContext(t.Context(), statement)
	must(t, err)
	must(t, db.Close())
}
