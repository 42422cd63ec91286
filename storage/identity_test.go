package storage

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"smsdesk/internal/sms"
)

// contents is every file below a folder with a hash of what is in it.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, folder)] = fmt.Sprintf("%x", sha256.Sum256(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// usedFolder is a data folder with an account, closed.
func usedFolder(t *testing.T) string {
	t.Helper()
	f := newFixture(t)
	f.must(f.db.Close())
	return f.data
}

func remove(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNothingIsMadeForAFolderThatLostAPart: whatever is missing, no way of opening
// makes another in its place, and each says what is missing.
func TestNothingIsMadeForAFolderThatLostAPart(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(data string)
		want  string
	}{
		"the key is missing":               {func(data string) { remove(t, filepath.Join(data, "smsdesk.key")) }, "smsdesk.key is missing"},
		"the database is missing":          {func(data string) { remove(t, filepath.Join(data, "smsdesk.db")) }, "smsdesk.db is missing"},
		"the database has no bytes":        {func(data string) { write(t, filepath.Join(data, "smsdesk.db"), "") }, "smsdesk.db is empty"},
		"the database has tables, no rows": {emptyDatabase(t), "smsdesk.db is empty"},
		"only the journal is left": {func(data string) {
			remove(t, filepath.Join(data, "smsdesk.db"), filepath.Join(data, "smsdesk.key"))
			write(t, filepath.Join(data, "dispatch.journal"), "{}\n")
		}, "smsdesk.db is missing"},
		"an empty database beside a journal": {func(data string) {
			remove(t, filepath.Join(data, "smsdesk.key"))
			write(t, filepath.Join(data, "smsdesk.db"), "")
			write(t, filepath.Join(data, "dispatch.journal"), "{}\n")
		}, "smsdesk.db is empty"},
		"the key of another desk": {func(data string) {
			write(t, filepath.Join(data, "smsdesk.key"), strings.Repeat("ab", 32)+"\n")
		}, "is not the key of this database"},
		"the key is damaged":        {func(data string) { write(t, filepath.Join(data, "smsdesk.key"), "ab\n") }, "is damaged"},
		"the database is no SQLite": {func(data string) { write(t, filepath.Join(data, "smsdesk.db"), strings.Repeat("x", 9000)) }, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			data := usedFolder(t)
			c.spoil(data)
			before := contents(t, data)
			for way, open := range map[string]func(context.Context, Config) (*DB, error){"Open": Open,
				"OpenExisting": OpenExisting, "Look": Look} {
				db, err := open(t.Context(), Config{Data: data})
				if err == nil {
					_ = db.Close()
					t.Errorf("%s opens it", way)
					continue
				}
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s says %q, want %q", way, err, c.want)
				}
				after := contents(t, data)
				delete(after, "/open.lock")
				delete(before, "/open.lock")
				if d := cmp.Diff(before, after); d != "" {
					t.Errorf("%s changed the folder:\n%s", way, d)
				}
			}
		})
	}
}

func emptyDatabase(t *testing.T) func(data string) {
	return func(data string) {
		remove(t, filepath.Join(data, "smsdesk.db"))
		migrateTo(t, filepath.Join(data, "smsdesk.db"), newestSchema())
	}
}

// migrateTo brings the file to a schema, as the program of that time left it.
func migrateTo(t *testing.T, path string, version int64) {
	t.Helper()
	db, err := sql.Open("sqlite", sqliteDSN(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	folder, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, folder, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}

// TestOnlyAnEmptyFolderBecomesADesk, and only for those who may make one.
func TestOnlyAnEmptyFolderBecomesADesk(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "mistyped")
	for _, data := range []string{missing, t.TempDir()} {
		for way, open := range map[string]func(context.Context, Config) (*DB, error){"OpenExisting": OpenExisting,
			"Look": Look} {
			_, err := open(t.Context(), Config{Data: data})
			if !errors.Is(err, ErrNoDesk) || !strings.Contains(err.Error(), data) {
				t.Errorf("%s of %s: %v", way, data, err)
			}
		}
		if files, err := os.ReadDir(data); err == nil && len(files) > 0 {
			t.Errorf("%s holds %v", data, files)
		}
	}
	if _, err := os.Stat(missing); !os.IsNotExist(err) {
		t.Error("the mistyped folder was made")
	}
	db := open(t, missing)
	if _, err := os.Stat(filepath.Join(missing, makingName)); !os.IsNotExist(err) {
		t.Errorf("the mark of a folder in the making is left: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for way, open := range map[string]func(context.Context, Config) (*DB, error){"Open": Open,
		"OpenExisting": OpenExisting, "Look": Look} {
		db, err := open(t.Context(), Config{Data: missing})
		if err != nil {
			t.Fatalf("%s: %v", way, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAnInterruptedCreationGoesOn stops it behind each of its steps.
func TestAnInterruptedCreationGoesOn(t *testing.T) {
	key, database := "smsdesk.key", "smsdesk.db"
	for name, left := range map[string]func(data string){
		"the mark":   func(string) {},
		"half a key": func(data string) { write(t, filepath.Join(data, key+".new"), "ab") },
		"the key":    func(data string) { write(t, filepath.Join(data, key), strings.Repeat("ab", 32)+"\n") },
		"a database of no bytes": func(data string) {
			write(t, filepath.Join(data, key), strings.Repeat("ab", 32)+"\n")
			write(t, filepath.Join(data, database), "")
		},
		"half of the tables": func(data string) {
			write(t, filepath.Join(data, key), strings.Repeat("ab", 32)+"\n")
			migrateTo(t, filepath.Join(data, database), 7)
		},
		"all of the tables": func(data string) {
			write(t, filepath.Join(data, key), strings.Repeat("ab", 32)+"\n")
			migrateTo(t, filepath.Join(data, database), newestSchema())
		},
		"everything": func(data string) {
			db, err := Open(t.Context(), Config{Data: data})
			if err != nil || db.Close() != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(data, makingName), "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			write(t, filepath.Join(data, makingName), "")
			left(data)
			db := open(t, data)
			if _, err := db.CreateAccount(t.Context(), anAccount("Clinic"), sms.Credentials{ClientID: "c", APIKey: "k"},
				began); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(data, makingName)); !os.IsNotExist(err) {
				t.Errorf("the mark is left: %v", err)
			}
			again := open(t, data)
			if list, err := again.Accounts(t.Context()); err != nil || len(list) != 1 {
				t.Errorf("%v %v", list, err)
			}
		})
	}
}

// TestAWrongKeyIsSaidAtOnce, also beside a database of before there was a value
// to check it by, and where there is no secret yet.
func TestAWrongKeyIsSaidAtOnce(t *testing.T) {
	for name, folder := range map[string]func() string{
		"with its check value": func() string { return usedFolder(t) },
		"of an earlier version": func() string {
			f := newFixture(t)
			_, err := f.db.writer.ExecContext(f.ctx, "delete from setting where name = $1", settingKeyCheck)
			f.must(err)
			f.must(f.db.Close())
			return f.data
		},
		"before the first secret": func() string { return schema.Folder(t) },
	} {
		t.Run(name, func(t *testing.T) {
			data := folder()
			path := filepath.Join(data, "smsdesk.key")
			right, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, strings.Repeat("ab", 32)+"\n")
			if _, err := Open(t.Context(), Config{Data: data}); err == nil ||
				!strings.Contains(err.Error(), "is not the key of this database") {
				t.Errorf("%v", err)
			}
			write(t, path, string(right))
			db := open(t, data)
			if got, err := db.ReadSetting(t.Context(), settingKeyCheck); err != nil || got == "" {
				t.Errorf("no value to check the key by: %q %v", got, err)
			}
		})
	}
}

// TestANewerSchemaIsRefused by every way of opening, before anything is written.
func TestANewerSchemaIsRefused(t *testing.T) {
	f := newFixture(t)
	_, err := f.db.writer.ExecContext(f.ctx, "insert into goose_db_version (version_id, is_applied) values ($1, true)",
		newestSchema()+1)
	f.must(err)
	f.must(f.db.Close())
	before := contents(t, f.data)
	want := fmt.Sprintf("schema %d, and this program knows only up to schema %d", newestSchema()+1, newestSchema())
	for way, open := range map[string]func(context.Context, Config) (*DB, error){"Open": Open,
		"OpenExisting": OpenExisting, "Look": Look} {
		if _, err := open(f.ctx, Config{Data: f.data}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", way, err)
		}
		if d := cmp.Diff(before, contents(t, f.data)); d != "" {
			t.Errorf("%s changed the folder:\n%s", way, d)
		}
	}
}

// TestADeskNoticesThatItsDatabaseWasUpgraded by a program that is newer.
func TestADeskNoticesThatItsDatabaseWasUpgraded(t *testing.T) {
	f := newFixture(t)
	f.must(f.db.Ready(f.ctx))
	_, err := f.db.writer.ExecContext(f.ctx, "insert into goose_db_version (version_id, is_applied) values ($1, true)",
		newestSchema()+1)
	f.must(err)
	if err := f.db.Ready(f.ctx); !errors.Is(err, ErrNewerSchema) {
		t.Errorf("%v", err)
	}
}

// TestAnOlderSchemaIsNotUpgradedUnderARunningDesk, and not by looking.
func TestAnOlderSchemaIsNotUpgradedUnderARunningDesk(t *testing.T) {
	f := newFixture(t)
	release, err := f.db.AcquireDispatchLock()
	f.must(err)
	_, err = f.db.writer.ExecContext(f.ctx, "delete from goose_db_version where version_id = $1", newestSchema())
	f.must(err)
	if _, err := Open(f.ctx, Config{Data: f.data}); err == nil ||
		!strings.Contains(err.Error(), "while another smsdesk serves it") {
		t.Errorf("%v", err)
	}
	release()
	if _, err := Look(f.ctx, Config{Data: f.data}); !errors.Is(err, ErrOlderSchema) {
		t.Errorf("%v", err)
	}
}

// TestTwoFoldersWithOneDatabaseCannotServeAtOnce, by whatever name it goes.
func TestTwoFoldersWithOneDatabaseCannotServeAtOnce(t *testing.T) {
	elsewhere, one, two := filepath.Join(t.TempDir(), "desk.db"), t.TempDir(), t.TempDir()
	db, err := Open(t.Context(), Config{Data: one, Database: "sqlite:" + elsewhere})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	key, err := os.ReadFile(filepath.Join(one, "smsdesk.key"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(two, "smsdesk.key"), string(key))
	alias := filepath.Join(t.TempDir(), "alias.db")
	if err := os.Symlink(elsewhere, alias); err != nil {
		t.Fatal(err)
	}
	release, err := db.AcquireDispatchLock()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{elsewhere, alias} {
		other, err := Open(t.Context(), Config{Data: two, Database: "sqlite:" + path})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.AcquireDispatchLock(); err == nil || !strings.Contains(err.Error(), "already using the database") {
			t.Errorf("%s: %v", path, err)
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}
	release()
	release, err = db.AcquireDispatchLock()
	if err != nil {
		t.Fatal(err)
	}
	release()
}

// TestLookingChangesNothing, whether the desk runs, has stopped or was killed.
func TestLookingChangesNothing(t *testing.T) {
	f := newFixture(t)
	f.start("Hello", numbers(3)...)
	look := func(data string) {
		t.Helper()
		db, err := Look(f.ctx, Config{Data: data})
		f.must(err)
		if list, err := db.Accounts(f.ctx); err != nil || len(list) != 1 {
			t.Errorf("%v %v", list, err)
		}
		f.must(db.Check(f.ctx))
		if list, err := db.CountMismatches(f.ctx); err != nil || len(list) != 0 {
			t.Errorf("%v %v", list, err)
		}
		if err := db.PutSetting(f.ctx, "a", "b"); err == nil {
			t.Error("a look wrote")
		}
		f.must(db.Close())
	}
	unchanged := func(what, data string) {
		t.Helper()
		before := contents(t, data)
		look(data)
		after := contents(t, data)
		// What SQLite shares between processes is no part of the database.
		delete(after, "/smsdesk.db-shm")
		delete(before, "/smsdesk.db-shm")
		if d := cmp.Diff(before, after); d != "" {
			t.Errorf("%s:\n%s", what, d)
		}
	}
	unchanged("a running desk", f.data)
	killed := t.TempDir()
	for name := range maps.Keys(contents(t, f.data)) {
		if strings.HasPrefix(name, "/smsdesk.") && !strings.HasSuffix(name, "-shm") {
			raw, err := os.ReadFile(f.data + name)
			f.must(err)
			write(t, killed+name, string(raw))
		}
	}
	unchanged("a killed desk", killed)
	f.must(f.db.Close())
	unchanged("a stopped desk", f.data)
}
