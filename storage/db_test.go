package storage

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

func TestSettingsAreReadBackFromEveryConnection(t *testing.T) {
	f := newFixture(t)
	if err := f.db.engine.assert(f.ctx, f.db.writer); err != nil {
		t.Error(err)
	}
	conns := make([]*sql.Conn, sqliteReaders)
	for i := range conns {
		c, err := f.db.reader.Conn(f.ctx)
		f.must(err)
		conns[i] = c
		var mode, sync, query string
		f.must(c.QueryRowContext(f.ctx, "pragma journal_mode").Scan(&mode))
		f.must(c.QueryRowContext(f.ctx, "pragma synchronous").Scan(&sync))
		f.must(c.QueryRowContext(f.ctx, "pragma query_only").Scan(&query))
		if mode != "wal" || sync != "2" || query != "1" {
			t.Errorf("reader %d: journal_mode %s, synchronous %s, query_only %s", i, mode, sync, query)
		}
	}
	for _, c := range conns {
		f.must(c.Close())
	}
	if _, err := f.db.reader.ExecContext(f.ctx, "insert into setting (name, value) values ('a', 'b')"); err == nil {
		t.Error("a reader wrote")
	}
}

func TestADatabaseWithWeakerSettingsIsRefused(t *testing.T) {
	for _, c := range []struct{ name, right, wrong string }{
		{"synchronous", "FULL", "OFF"}, {"synchronous", "FULL", "NORMAL"}, {"journal_mode", "WAL", "DELETE"}, {"journal_mode", "WAL", "MEMORY"},
		{"foreign_keys", "1", "0"}, {"busy_timeout", "10000", "0"}, {"busy_timeout", "10000", "9999"},
	} {
		pragma := func(value string) string { return url.QueryEscape(c.name + "(" + value + ")") }
		dsn := sqliteDSN(filepath.Join(t.TempDir(), "a.db"))
		db, err := sql.Open("sqlite", strings.Replace(dsn, pragma(c.right), pragma(c.wrong), 1))
		if err != nil {
			t.Fatal(err)
		}
		if err := (sqliteFile{}).assert(t.Context(), db); err == nil || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s %s: %v", c.name, c.wrong, err)
		}
		_ = db.Close()
	}
}

func TestSQLiteVersion(t *testing.T) {
	for version, want := range map[string]bool{"3.51.3": true, "3.51.10": true, "3.52.0": true, "4.0.0": true,
		"3.51.2": false, "3.50.4": false, "2.99.99": false, "": false, "x": false, "3.51": false} {
		if got := versionAtLeast(version, 3, 51, 3); got != want {
			t.Errorf("atLeast(%q) = %v", version, got)
		}
	}
}

// TestThePinnedPair: another libc under the same driver has corrupted files
// before; the two are released together.
func TestThePinnedPair(t *testing.T) {
	want := map[string]string{"modernc.org/sqlite": "v1.60.1", "modernc.org/libc": "v1.77.1"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("no build information")
	}
	met := 0
	for _, m := range info.Deps {
		if v, pinned := want[m.Path]; pinned {
			met++
			if m.Version != v || m.Replace != nil {
				t.Errorf("%s is %s (replaced: %v), want %s", m.Path, m.Version, m.Replace != nil, v)
			}
		}
	}
	raw, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for path, version := range want {
		if !strings.Contains(string(raw), path+" "+version) {
			t.Errorf("go.mod does not pin %s %s", path, version)
		}
	}
	if met != 0 && met != len(want) {
		t.Errorf("%d of %d modules in the build", met, len(want))
	}
}

const openIn = "SMSDESK_TEST_OPEN_IN"

// TestOpenInAnotherProcess is the other process of the test below.
func TestOpenInAnotherProcess(t *testing.T) {
	if data := os.Getenv(openIn); data != "" {
		openAtOnce(t, data, 3)
	}
}

// TestManyOpenAFreshFolderAtOnce: several commands may be the first.
func TestManyOpenAFreshFolderAtOnce(t *testing.T) {
	data := filepath.Join(t.TempDir(), "new", "folder")
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			c := exec.Command(os.Args[0], "-test.run=^TestOpenInAnotherProcess$")
			c.Env = append(os.Environ(), openIn+"="+data)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("another process: %v\n%s", err, out)
			}
		})
	}
	openAtOnce(t, data, 20)
	others.Wait()
	if info, err := os.Stat(filepath.Join(data, "smsdesk.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file %v, %v", info, err)
	}
	if info, err := os.Stat(data); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data folder %v, %v", info, err)
	}
	db := open(t, data)
	accounts, err := db.Accounts(t.Context())
	if err != nil || len(accounts) != 26 {
		t.Fatalf("%d accounts, %v", len(accounts), err)
	}
	for _, a := range accounts {
		if c, err := db.Credentials(t.Context(), a.ID); err != nil || c.APIKey != "key of "+a.Name {
			t.Errorf("account %s: %q, %v", a.Name, c.APIKey, err)
		}
	}
}

// openAtOnce opens the folder n times in parallel and stores a secret each.
func openAtOnce(t *testing.T, data string, n int) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			db, err := Open(t.Context(), Config{Data: data})
			if err != nil {
				t.Error(err)
				return
			}
			name := randomHex(8)
			_, err = db.CreateAccount(t.Context(), anAccount(name), sms.Credentials{ClientID: "c", APIKey: "key of " + name}, 1)
			if err = errors.Join(err, db.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestOneProcessDispatches(t *testing.T) {
	data := t.TempDir()
	a, b := open(t, data), open(t, data)
	release, err := a.AcquireDispatchLock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.AcquireDispatchLock(); err == nil || !strings.Contains(err.Error(),
		"another smsdesk is already using the data folder "+data) {
		t.Errorf("the second one: %v", err)
	}
	release()
	release, err = b.AcquireDispatchLock()
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func TestConfigCheckNamesNoSecret(t *testing.T) {
	for _, good := range []string{"", "sqlite:/a/b.db", "sqlite:b.db"} {
		if err := (Config{Database: good}).Check(); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"postgres://user:hunter2@db.example.com:5432/sms?password=hunter2",
		"host=db user=sms password=hunter2", "host=db password=a:hunter2",
		"hunter2", "user:hunter2@db", "postgres:user:hunter2", "postgres:///sms?password=hunter2", "mysql://user:hunter2@/db", "SQLITE:hunter2", "://hunter2"} {
		err := Config{Database: bad, Data: t.TempDir()}.Check()
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "sqlite:PATH") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := (Config{Database: "postgres://user:hunter2@db.example.com/sms"}).Check(); !strings.Contains(err.Error(),
		"postgres://db.example.com/…") {
		t.Errorf("the person cannot tell which database is meant: %v", err)
	}
}

func TestADatabaseElsewhereWithAHostileName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a?mode=memory#b%20c d.db")
	db, err := Open(t.Context(), Config{Data: t.TempDir(), Database: "sqlite:" + path})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.PutSetting(t.Context(), "a", "b"), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if _, err := Open(t.Context(), Config{Data: t.TempDir(), Database: "sqlite::memory:"}); err == nil {
		t.Error("a database that forgets everything was opened")
	}
}

func TestAFailedUpdateChangesNothing(t *testing.T) {
	f := newFixture(t)
	boom := errors.New("boom")
	c := f.newDraft("Hello", numbers(3)...)
	_, err := f.db.UpdateCampaign(f.ctx, c.ID, f.now(), func(c *sms.Campaign) error {
		return errors.Join(letGo(c, time.UnixMilli(f.now())), boom)
	})
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "save campaign") {
		t.Errorf("%v", err)
	}
	if got := f.campaign(c.ID); got != c {
		t.Errorf("%+v became %+v", c, got)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Draft: 3})
	cancelled, cancel := context.WithCancel(f.ctx)
	cancel()
	if err := f.db.PutSetting(cancelled, "a", "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	f.check()
}

func TestReadyAndCheck(t *testing.T) {
	f := newFixture(t)
	f.must(f.db.Ready(f.ctx))
	f.must(f.db.Check(f.ctx))
	f.must(f.db.Close())
	if f.db.Ready(f.ctx) == nil || f.db.Check(f.ctx) == nil {
		t.Error("a closed database is ready")
	}
}

func TestADamagedFileIsNotFine(t *testing.T) {
	f := newFixture(t)
	f.newDraft("Hello", numbers(3000)...)
	f.must(f.db.Close())
	path := filepath.Join(f.data, "smsdesk.db")
	raw, err := os.ReadFile(path)
	f.must(err)
	for i := len(raw) / 2; i < len(raw)/2+8192; i++ {
		raw[i] ^= 0x5a
	}
	f.must(os.WriteFile(path, raw, 0o600))
	db, err := Open(f.ctx, Config{Data: f.data})
	if err != nil {
		return
	}
	defer func() { _ = db.Close() }()
	if err := db.Check(f.ctx); err == nil {
		t.Error("8 KiB of damage went unnoticed")
	}
}
