package backup

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"

	"smsdesk/internal/health"
	"smsdesk/internal/migrated"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

const (
	began      = 1_795_277_400_000 // 2026-11-21T16:10:00Z
	passphrase = "correct horse battery"
	listUID    = "0123456789abcdef0123456789abcdef"
)

// desks is a data folder with an account, a campaign of 40 messages, an uploaded list and both spools.
var desks = &migrated.Template{Make: func(data string) error {
	ctx := context.Background()
	db, err := storage.Open(ctx, storage.Config{Data: data})
	if err != nil {
		return err
	}
	a, err := db.CreateAccount(ctx, sms.Account{Name: "Clinic", BaseURL: "https://api.example.com/v2", PerMinute: 100,
		CallLimit: 10, Country: "NG",
		Timezone: "Africa/Lagos"}, sms.Credentials{ClientID: "client", APIKey: "a-key-of-thirteen"}, began)
	if err != nil {
		return err
	}
	messages := make([]sms.Message, 40)
	for i := range messages {
		messages[i] = sms.Message{Number: fmt.Sprintf("23480300%05d", i), Text: "Hello", Parts: 1}
	}
	draft := sms.Campaign{AccountID: a.ID, Name: "A campaign", SenderID: "CLINIC", CreatedBy: 1, CreatedName: "Ada Obi",
		Text: "Hello"}
	if _, _, err := db.CreateDraft(ctx, draft, strings.Repeat("1", 32), messages, 0, began); err != nil {
		return err
	}
	in, err := storage.OpenInbox(ctx, data, "", 0)
	if err != nil {
		return err
	}
	if _, _, err := db.KeepUpload(listUID, strings.NewReader("phone\n08030000001\n"), 1000); err != nil {
		return err
	}
	return errors.Join(in.Close(), db.Close(), os.WriteFile(filepath.Join(data, "lists", listUID, "rows.db"),
		[]byte("made again"), 0o600),
		os.WriteFile(filepath.Join(data, "ussd.spool"), []byte(`{"a":1}`+"\n"), 0o600),
		os.Mkdir(filepath.Join(data, "spool"), 0o700),
		os.WriteFile(filepath.Join(data, "spool", "00000000000000000000.prepare"), make([]byte, 1000), 0o600),
		os.WriteFile(filepath.Join(data, "spool", "00000000000000000001.reports"), []byte("1 5 \"\" \"a=b\"\n"), 0o600))
}}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func order(t *testing.T, data string) Order {
	t.Helper()
	return Order{Storage: storage.Config{Data: data}, To: filepath.Join(t.TempDir(), "backups"), By: "J. Otieno",
		Program: "test",
		Now:     func() time.Time { return time.UnixMilli(began) }}
}

func locked(t *testing.T) *KeyLock {
	t.Helper()
	k, err := ByPassphrase(passphrase)
	must(t, err)
	k.recipient.(*age.ScryptRecipient).SetWorkFactor(10)
	return k
}

func makeOne(t *testing.T, o Order) Made {
	t.Helper()
	made, err := Make(t.Context(), o)
	must(t, err)
	return made
}

func fresh(t *testing.T) string { return filepath.Join(t.TempDir(), "new") }

func saying() (string, error) { return passphrase, nil }

func restoreFrom(made Made, to string) RestoreOrder {
	return RestoreOrder{From: made.Folder, To: storage.Config{Data: to}, Key: KeyFrom{Passphrase: saying}}
}

// refused restores and wants an error with these words, and no folder that somebody could serve.
func refused(t *testing.T, o RestoreOrder, words ...string) {
	t.Helper()
	_, err := Restore(t.Context(), o)
	if err == nil {
		t.Errorf("restored, wanted %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v; wanted %q", err, w)
		}
	}
	if exists(filepath.Join(o.To.Data, databaseName)) {
		t.Errorf("%v, and there is a database all the same", err)
	}
}

func TestABackupIsRestored(t *testing.T) {
	o := order(t, desks.Folder(t))
	o.Key = locked(t)
	var said []string
	o.Progress = func(doing string) { said = append(said, doing) }
	made := makeOne(t, o)
	if filepath.Base(made.Folder) != "2026-11-21T1610Z" || made.MadeAt != began || made.By != "J. Otieno" ||
		!made.SameDisk || made.Key != "passphrase" ||
		made.Rows[databaseName]["message"] != 40 || !slices.Contains(said, "Verifying") {
		t.Errorf("%+v", made)
	}
	var names []string
	for _, f := range made.Files {
		names = append(names, f.Name)
		info, err := os.Stat(filepath.Join(made.Folder, f.Name))
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", f.Name, info.Mode().Perm())
		}
	}
	want := []string{"inbox.db", "key.age", "lists/" + listUID + "/upload", "smsdesk.db",
		"spool/00000000000000000001.reports", "ussd.spool"}
	if !slices.Equal(names, want) {
		t.Errorf("the backup holds %v, want %v", names, want)
	}
	left, err := os.ReadDir(o.To)
	must(t, err)
	if len(left) != 2 {
		t.Errorf("beside the backup and its lock there is more: %v", left)
	}
	to := fresh(t)
	done, err := Restore(t.Context(), restoreFrom(made, to))
	must(t, err)
	if len(done.Notes) != 1 || !strings.Contains(done.Notes[0], "--spool") {
		t.Errorf("%+v", done)
	}
	db, err := storage.Open(t.Context(), storage.Config{Data: to})
	must(t, err)
	defer func() { _ = db.Close() }()
	accounts, err := db.Accounts(t.Context())
	must(t, err)
	if c, err := db.Credentials(t.Context(), accounts[0].ID); err != nil || c.APIKey != "a-key-of-thirteen" {
		t.Errorf("credentials of the restored desk: %v", err)
	}
	if list, _, err := db.Messages(t.Context(), sms.MessageFilter{CampaignID: 1, Limit: 100}); err != nil ||
		len(list) != 40 {
		t.Errorf("%d messages, %v", len(list), err)
	}
	set, err := db.ReadSetting(t.Context(), health.SettingCopy)
	must(t, err)
	var mark health.Copy
	must(t, json.Unmarshal([]byte(set), &mark))
	if mark.UID != made.UID || mark.MadeAt != began || mark.By != "J. Otieno" || mark.Cursors == nil {
		t.Errorf("mark %+v", mark)
	}
	if f, err := db.Upload(listUID); err != nil {
		t.Errorf("the uploaded list: %v", err)
	} else {
		must(t, f.Close())
	}
}

// TestTheKeyIsNeverInClear looks for the key in every form in every file of a backup.
func TestTheKeyIsNeverInClear(t *testing.T) {
	data := desks.Folder(t)
	text, err := os.ReadFile(filepath.Join(data, keyName))
	must(t, err)
	raw, err := hex.DecodeString(strings.TrimSpace(string(text)))
	must(t, err)
	files := 0
	for name, change := range map[string]func(*Order){"with the key": func(o *Order) {
		o.Key = locked(t)
	}, "without": func(o *Order) { o.Journal = true }} {
		o := order(t, data)
		change(&o)
		made := makeOne(t, o)
		must(t, filepath.WalkDir(made.Folder, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			files++
			if bytes.Contains(b, raw) || bytes.Contains(bytes.ToLower(b), bytes.TrimSpace(text)) || e.Name() == keyName {
				t.Errorf("%s: %s holds the key", name, path)
			}
			return err
		}))
	}
	if files < 10 {
		t.Errorf("only %d files were looked at", files)
	}
}

// damages are ways in which a file is not what was written.
func damages() map[string]func(name string, b []byte) error {
	put := os.WriteFile
	flip := func(at func(n int) int) func(string, []byte) error {
		return func(name string, b []byte) error {
			b = bytes.Clone(b)
			b[at(len(b))] ^= 4
			return put(name, b, 0o600)
		}
	}
	return map[string]func(string, []byte) error{
		"first byte":  flip(func(int) int { return 0 }),
		"middle byte": flip(func(n int) int { return n / 2 }),
		"last byte":   flip(func(n int) int { return n - 1 }),
		"cut":         func(name string, b []byte) error { return put(name, b[:len(b)-1], 0o600) },
		"longer":      func(name string, b []byte) error { return put(name, append(bytes.Clone(b), 0), 0o600) },
		"empty":       func(name string, _ []byte) error { return put(name, nil, 0o600) },
		"missing":     func(name string, _ []byte) error { return os.Remove(name) },
		"link": func(name string, b []byte) error {
			other := name + ".other"
			return errors.Join(put(other, b, 0o600), os.Remove(name), os.Symlink(other, name))
		},
		"pipe": func(name string, _ []byte) error { return errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o600)) },
	}
}

func TestEveryDamagedFileIsRefused(t *testing.T) {
	o := order(t, desks.Folder(t))
	o.Key = locked(t)
	made := makeOne(t, o)
	names := []string{manifestName}
	for _, f := range made.Files {
		names = append(names, f.Name)
	}
	for _, file := range names {
		for kind, damage := range damages() {
			path := filepath.Join(made.Folder, file)
			b, err := os.ReadFile(path)
			must(t, err)
			must(t, damage(path, b))
			to := fresh(t)
			if _, err := Restore(t.Context(), restoreFrom(made, to)); err == nil || file != manifestName &&
				!errors.Is(err, ErrDamaged) {
				t.Errorf("%s, %s: %v", file, kind, err)
			}
			if exists(to) {
				t.Errorf("%s, %s: the new folder was made", file, kind)
			}
			must(t, os.RemoveAll(path))
			must(t, os.WriteFile(path, b, 0o600))
			must(t, removeFile(path+".other"))
		}
	}
	if _, err := Restore(t.Context(), restoreFrom(made, fresh(t))); err != nil {
		t.Errorf("with everything as it was: %v", err)
	}
}

// TestAForgedManifestIsRefused: its own sum is right, and what it says is not.
func TestAForgedManifestIsRefused(t *testing.T) {
	data := desks.Folder(t)
	made, other := makeOne(t, order(t, data)), makeOne(t, order(t, data))
	key := filepath.Join(data, keyName)
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("secret"), 0o600))
	size, sum, err := hashFile(outside)
	must(t, err)
	for name, c := range map[string]struct {
		forge func(*Manifest)
		words string
	}{
		"up":             {func(m *Manifest) { m.Files = append([]File{{"../outside", size, sum}}, m.Files...) }, "does not belong"},
		"absolute":       {func(m *Manifest) { m.Files = append([]File{{outside, size, sum}}, m.Files...) }, "does not belong"},
		"inner up":       {func(m *Manifest) { m.Files = append(m.Files, File{"spool/../../x", size, sum}) }, "does not belong"},
		"key in clear":   {func(m *Manifest) { m.Files = append(m.Files[:2:2], File{keyName, size, sum}) }, "does not belong"},
		"twice":          {func(m *Manifest) { m.Files = slices.Insert(m.Files, 0, m.Files[0]) }, "does not belong"},
		"no database":    {func(m *Manifest) { m.Files = m.Files[:1] }, "names no smsdesk.db"},
		"fewer rows":     {func(m *Manifest) { m.Rows[databaseName]["message"]-- }, "does not hold the rows"},
		"another backup": {func(m *Manifest) { m.UID = other.UID }, "another backup"},
		"newer schema":   {func(m *Manifest) { m.Schema = 9000 }, "made by a newer smsdesk"},
		"newer format":   {func(m *Manifest) { m.Format = "smsdesk backup 2" }, "made by a newer smsdesk"},
		"another format": {func(m *Manifest) { m.Format = "tar" }, "was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(made.Folder, manifestName)
			before, err := os.ReadFile(path)
			must(t, err)
			m, err := Read(made.Folder)
			must(t, err)
			c.forge(&m)
			must(t, os.WriteFile(path, m.encode(), 0o600))
			refused(t, RestoreOrder{From: made.Folder, To: storage.Config{Data: fresh(t)}, Key: KeyFrom{File: key}}, c.words)
			must(t, os.WriteFile(path, before, 0o600))
		})
	}
	refused(t, RestoreOrder{From: t.TempDir(), To: storage.Config{Data: fresh(t)}, Key: KeyFrom{File: key}},
		"is no backup", "2026-11-21T1610Z")
}

func TestOnlyANewOrEmptyFolderIsRestoredInto(t *testing.T) {
	data := desks.Folder(t)
	made := makeOne(t, order(t, data))
	o := RestoreOrder{From: made.Folder, Key: KeyFrom{File: filepath.Join(data, keyName)}}
	full := t.TempDir()
	must(t, os.WriteFile(filepath.Join(full, "notes.txt"), []byte("mine"), 0o600))
	o.To = storage.Config{Data: full}
	refused(t, o, "is not empty", "notes.txt")
	o.To = storage.Config{Data: data}
	if _, err := Restore(t.Context(), o); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("over the desk itself: %v", err)
	}
	o.To = storage.Config{Data: fresh(t), Database: "sqlite:" + filepath.Join(data, databaseName)}
	if _, err := Restore(t.Context(), o); err == nil || !strings.Contains(err.Error(), "there is a database already") {
		t.Errorf("over another database: %v", err)
	}
	disk := t.TempDir()
	must(t, os.Mkdir(filepath.Join(disk, "lost+found"), 0o700))
	elsewhere := filepath.Join(t.TempDir(), "else.db")
	o.To = storage.Config{Data: disk, Database: "sqlite:" + elsewhere}
	_, err := Restore(t.Context(), o)
	must(t, err)
	if !exists(elsewhere) || exists(filepath.Join(disk, partName)) {
		t.Error("the database is not where it was asked for")
	}
}

var errCutOff = errors.New("cut off")

// TestARestoreThatIsCutOffIsNoDesk: killed behind any part, the folder is opened by no command, and the same restore
// finishes it.
func TestARestoreThatIsCutOffIsNoDesk(t *testing.T) {
	data := desks.Folder(t)
	o := order(t, data)
	o.Key = locked(t)
	made := makeOne(t, o)
	for _, at := range []string{"files", "key", "taken"} {
		r := restoreFrom(made, fresh(t))
		r.Take = data
		r.between = func(done string) error {
			if done == at {
				return errCutOff
			}
			return nil
		}
		if _, err := Restore(t.Context(), r); !errors.Is(err, errCutOff) {
			t.Fatal(err)
		}
		if db, err := storage.Open(t.Context(), r.To); err == nil ||
			!strings.Contains(err.Error(), "Run the same smsdesk restore again") {
			t.Errorf("cut off after %s, and opened all the same: %v %v", at, db, err)
		}
		if exists(r.To.File()) {
			t.Errorf("cut off after %s, and an older program would find a database", at)
		}
		r.between = nil
		if _, err := Restore(t.Context(), r); err != nil {
			t.Errorf("restoring again after %s: %v", at, err)
			continue
		}
		db, err := storage.Open(t.Context(), r.To)
		must(t, err)
		must(t, db.Close())
	}
}

func TestTheRightKeyIsNeeded(t *testing.T) {
	data, stranger := desks.Folder(t), t.TempDir()
	db, err := storage.Open(t.Context(), storage.Config{Data: stranger})
	must(t, err)
	must(t, db.Close())
	without := makeOne(t, order(t, data))
	o := order(t, data)
	o.Key = locked(t)
	with := makeOne(t, o)
	id, err := age.GenerateX25519Identity()
	must(t, err)
	o.Key, err = ForRecipient(id.Recipient().String() + "\n")
	must(t, err)
	addressed, err := Make(t.Context(), o)
	must(t, err)
	try := func(m Made, k KeyFrom) RestoreOrder {
		return RestoreOrder{From: m.Folder, To: storage.Config{Data: fresh(t)}, Key: k}
	}
	wrong := func() (string, error) { return "wrong horse battery", nil }
	refused(t, try(without, KeyFrom{}), "the key is not in this backup", "--key")
	refused(t, try(without, KeyFrom{File: filepath.Join(stranger, keyName)}), "does not belong to this backup")
	refused(t, try(without, KeyFrom{File: filepath.Join(data, databaseName)}), "this is no key")
	refused(t, try(with, KeyFrom{Passphrase: wrong}), "this passphrase does not open")
	refused(t, try(with, KeyFrom{}), "encrypted with a passphrase")
	refused(t, try(addressed, KeyFrom{Passphrase: saying}), "--identity")
	for _, o := range []RestoreOrder{try(without, KeyFrom{File: filepath.Join(data, keyName)}),
		try(addressed, KeyFrom{Identity: id.String()})} {
		if _, err := Restore(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
	if _, err := ByPassphrase("short"); err == nil {
		t.Error("a short passphrase was taken")
	}
	if _, err := ForRecipient("ssh-ed25519"); err == nil {
		t.Error("no recipient was taken for one")
	}
}

func TestABackupThatFailsLeavesNothing(t *testing.T) {
	data := desks.Folder(t)
	o := order(t, data)
	left := func() (names []string) {
		entries, err := os.ReadDir(o.To)
		must(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	o.free = func(string) (int64, error) { return 1000, nil }
	if _, err := Make(t.Context(), o); err == nil || !strings.Contains(err.Error(), "has 1.0 kB left. Make room") {
		t.Errorf("a full disk: %v", err)
	}
	o.free = nil
	for i := range steps() {
		some := steps()
		some[i].do = func(context.Context, *making) error { return syscall.ENOSPC }
		if _, err := makeBy(t.Context(), o, some); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("step %d: %v", i, err)
		}
	}
	if names := left(); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
	must(t, os.Mkdir(filepath.Join(o.To, "2026-11-20T0000Z.part"), 0o700))
	must(t, os.Mkdir(filepath.Join(o.To, "mine.part"), 0o700))
	makeOne(t, o)
	makeOne(t, o)
	if names := left(); !slices.Equal(names, []string{"2026-11-21T1610Z", "2026-11-21T1610Z-2", "backup.lock",
		"mine.part"}) {
		t.Errorf("there is %v", names)
	}
	unlock, err := lock(o.To)
	must(t, err)
	if _, err := Make(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another backup is being made") {
		t.Errorf("two at once: %v", err)
	}
	unlock()
	o.To = filepath.Join(o.To, "not", "there")
	if _, err := Make(t.Context(), o); err == nil || !strings.Contains(err.Error(), "its disk is mounted") {
		t.Errorf("%v", err)
	}
	o.Storage.Data = t.TempDir()
	if _, err := Make(t.Context(), o); err == nil || !strings.Contains(err.Error(), "there is no desk") {
		t.Errorf("%v", err)
	}
	if entries, _ := os.ReadDir(o.Storage.Data); len(entries) > 0 {
		t.Errorf("a backup of an empty folder made %v in it", entries)
	}
}

func TestOldBackupsAreRemoved(t *testing.T) {
	data := desks.Folder(t)
	o := order(t, data)
	for day := range 5 {
		o.Now = func() time.Time { return time.UnixMilli(began).AddDate(0, 0, day) }
		makeOne(t, o)
	}
	stays := []string{"2020-01-01T0000Z", "2026-11-01T0000Z", "2026-11-02T0000Z"}
	must(t, os.Mkdir(filepath.Join(o.To, stays[0]), 0o700))
	foreign, err := Read(filepath.Join(o.To, "2026-11-21T1610Z"))
	must(t, err)
	foreign.Desk = "another"
	must(t, os.Mkdir(filepath.Join(o.To, stays[1]), 0o700))
	must(t, os.WriteFile(filepath.Join(o.To, stays[1], manifestName), foreign.encode(), 0o600))
	kept := filepath.Join(t.TempDir(), "kept")
	must(t, os.Rename(filepath.Join(o.To, "2026-11-21T1610Z"), kept))
	must(t, os.Symlink(kept, filepath.Join(o.To, stays[2])))
	m, err := Read(filepath.Join(o.To, "2026-11-25T1610Z"))
	must(t, err)
	removed, err := Thin(o.To, m.Desk, 2)
	if err != nil || !slices.Equal(removed, []string{"2026-11-23T1610Z", "2026-11-22T1610Z"}) {
		t.Errorf("removed %v, %v", removed, err)
	}
	for _, name := range append(stays, "2026-11-24T1610Z", "2026-11-25T1610Z") {
		if !exists(filepath.Join(o.To, name)) {
			t.Errorf("%s is gone", name)
		}
	}
	if !exists(filepath.Join(kept, manifestName)) {
		t.Error("a backup behind a link was removed")
	}
}

// TestAFolderPutBackIsMarked is restore --here.
func TestAFolderPutBackIsMarked(t *testing.T) {
	data := desks.Folder(t)
	must(t, Here(t.Context(), storage.Config{Data: data}, "Ada Obi"))
	db, err := storage.Open(t.Context(), storage.Config{Data: data})
	must(t, err)
	defer func() { _ = db.Close() }()
	set, err := db.ReadSetting(t.Context(), health.SettingCopy)
	must(t, err)
	var mark health.Copy
	must(t, json.Unmarshal([]byte(set), &mark))
	if mark.By != "Ada Obi" || mark.UID != "" || mark.MadeAt != 0 {
		t.Errorf("%+v", mark)
	}
	release, err := db.AcquireDispatchLock()
	must(t, err)
	if err := Here(t.Context(), storage.Config{Data: data}, "Ada Obi"); err == nil ||
		!strings.Contains(err.Error(), "is serving") {
		t.Errorf("%v", err)
	}
	release()
	empty := t.TempDir()
	if err := Here(t.Context(), storage.Config{Data: empty}, ""); err == nil ||
		!strings.Contains(err.Error(), "there is no desk") {
		t.Errorf("%v", err)
	}
	if entries, _ := os.ReadDir(empty); len(entries) > 0 {
		t.Errorf("made %v", entries)
	}
}
