package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/storage"
)

// inboxed is a desk that has been served once.
func inboxed(t *testing.T) (data string) {
	t.Helper()
	data = newDesk(t)
	in, err := storage.OpenInbox(t.Context(), data, "", 0)
	must(t, err)
	must(t, in.Close())
	return data
}

func lastBackup(t *testing.T, data string) (b health.Backup) {
	t.Helper()
	set, err := storage.SettingIn(t.Context(), filepath.Join(data, "smsdesk.db"), health.SettingBackup)
	must(t, err)
	b, err = health.ReadBackup(set)
	must(t, err)
	return b
}

func TestBackupAndRestoreByCommand(t *testing.T) {
	data, to := inboxed(t), filepath.Join(t.TempDir(), "backups")
	t.Setenv(passphraseVariable, "correct horse battery")
	out, code := program(t, "--data", data, "backup", to, "--with-key")
	if code != exitOK || !strings.Contains(out, "verified.") || !strings.Contains(out, "on the same disk") ||
		strings.Contains(out, "key is not in it") {
		t.Fatalf("exit %d\n%s", code, out)
	}
	b := lastBackup(t, data)
	if !b.Verified || !b.SameDisk || !b.WithKey || b.Bytes == 0 || filepath.Dir(b.Folder) != to || b.By != operator() {
		t.Errorf("remembered: %+v", b)
	}
	fresh := filepath.Join(t.TempDir(), "new")
	out, code = program(t, "restore", b.Folder, "--data", fresh)
	if code != exitOK || !strings.Contains(out, "Restored the backup of ") || !strings.Contains(out, "is not known") ||
		!strings.Contains(out, "Nothing was sent. Next: smsdesk --data "+fresh+" serve") {
		t.Fatalf("exit %d\n%s", code, out)
	}
	if out, code := program(t, "--data", fresh, "restore", b.Folder); code != exitFault ||
		!strings.Contains(out, "is not empty") {
		t.Errorf("a second time: exit %d\n%s", code, out)
	}
	must(t, os.WriteFile(filepath.Join(b.Folder, "inbox.db"), nil, 0o600))
	if out, code := program(t, "--data", fresh+"2", "restore", b.Folder); code != exitFault ||
		!strings.Contains(out, "the backup is damaged: inbox.db") {
		t.Errorf("damaged: exit %d\n%s", code, out)
	}
	if out, code := program(t, "--data", data, "restore", "--here"); code != exitOK ||
		!strings.Contains(out, "put back from a snapshot") {
		t.Errorf("--here: exit %d\n%s", code, out)
	}
	for _, args := range [][]string{{"restore"}, {"restore", "--here", b.Folder},
		{"backup", to, "--passphrase-file", data}, {"backup", to, "--recipient", "x"},
		{"serve", "--backup-every", "1s"}, {"serve", "--backup-keep", "0"}, {"serve", "--backup-recipient", "x"}} {
		if out, code := program(t, append([]string{"--data", data}, args...)...); code != exitUsage {
			t.Errorf("%v: exit %d\n%s", args, code, out)
		}
	}
	if out, code := program(t, "--data", filepath.Join(t.TempDir(), "mistyped"), "backup", to); code != exitFault ||
		!strings.Contains(out, "there is no desk") {
		t.Errorf("exit %d\n%s", code, out)
	}
	must(t, os.RemoveAll(to))
	must(t, os.WriteFile(to, nil, 0o600))
	if out, code := program(t, "--data", data, "backup", to); code != exitFault {
		t.Errorf("exit %d\n%s", code, out)
	}
	if b := lastBackup(t, data); b.FailedAt == 0 || b.Problem == "" || b.At == 0 {
		t.Errorf("after one that failed: %+v", b)
	}
}

func waitUntil(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}

// TestADeskBacksItselfUp: the first at once, then when asked, and no more than are to be kept.
func TestADeskBacksItselfUp(t *testing.T) {
	data, to := inboxed(t), filepath.Join(t.TempDir(), "backups")
	db, err := storage.OpenExisting(t.Context(), storage.Config{Data: data})
	must(t, err)
	defer func() { _ = db.Close() }()
	s := &server{front: &front{env: env{storage: storage.Config{Data: data}, log: newLog(t.Output(), "text")}}, db: db,
		feed: feed.New()}
	s.Backup = backupFlags{Folder: to, Every: 1 << 40, Keep: 2}
	b := s.newBackups()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { b.Run(ctx); close(ended) }()
	defer func() { stop(); <-ended }()
	kept := func() (names []string) {
		entries, _ := os.ReadDir(to)
		for _, e := range entries {
			if e.IsDir() {
				names = append(names, e.Name())
			}
		}
		return names
	}
	var made []int64
	for i := range 3 {
		if i > 0 {
			b.Start("Ada Obi")
		}
		waitUntil(t, func() bool {
			return b.Doing() == "" && lastBackup(t, data).At > 0 && !slices.Contains(made, lastBackup(t, data).At)
		})
		made = append(made, lastBackup(t, data).At)
	}
	if names := kept(); len(names) != 2 {
		t.Errorf("kept %v", names)
	}
	if last := lastBackup(t, data); last.By != "Ada Obi" {
		t.Errorf("%+v", last)
	}
	must(t, os.RemoveAll(to))
	must(t, os.WriteFile(to, nil, 0o600))
	b.Start("Ada Obi")
	waitUntil(t, func() bool { return lastBackup(t, data).FailedAt > 0 && b.Doing() == "" })
	text, err := json.Marshal(lastBackup(t, data))
	must(t, err)
	if !strings.Contains(string(text), "backups") {
		t.Errorf("%s", text)
	}
}
