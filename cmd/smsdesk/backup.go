package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"smsdesk/internal/health"
	"smsdesk/storage"
	"smsdesk/storage/backup"
)

type backupCommand struct {
	Dir            string `arg:"" help:"Folder that holds backups; each gets a folder of its own in it." type:"path"`
	WithoutLists   bool   `help:"Leave the uploaded lists out."`
	WithJournal    bool   `help:"Add the journal and the logs, for the case that the whole machine is lost."`
	WithKey        bool   `help:"Add the key, encrypted with a passphrase that is asked for."`
	PassphraseFile string `help:"File with that passphrase." type:"path"`
	Recipient      string `help:"Add the key, encrypted for this age recipient (age1…) instead."`
	Spool          string `help:"The --spool of serve, where it has one." env:"SMSDESK_SPOOL" type:"path"`
}

// passphraseVariable holds the passphrase of the key in a backup.
const passphraseVariable = "SMSDESK_BACKUP_PASSPHRASE"

// Run makes one backup, beside a desk that runs or not.
func (c backupCommand) Run(ctx context.Context, e env) error {
	bad := e.check()
	lock, err := c.lock()
	if err != nil {
		bad = append(bad, "--with-key: "+err.Error())
	}
	if len(bad) > 0 {
		return bad
	}
	o := backup.Order{Storage: e.storage, Spool: c.Spool, To: c.Dir, NoLists: c.WithoutLists, Journal: c.WithJournal,
		Logs: e.logs, Key: lock, By: operator(),
		Program: programVersion(), Now: time.Now}
	made, err := backup.Make(ctx, o)
	if bad := rememberBackup(ctx, e.storage, made, err, time.Now()); bad != nil {
		e.log.Warn("the Backup page does not know of this backup", "error", bad)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(e.out, "Made %s: %s, verified.\n", made.Folder, humanize.Bytes(uint64(made.Bytes())))
	if made.Key == "" {
		fmt.Fprintf(e.out, "The key is not in it. Keep a copy of %s in another place.\n",
			filepath.Join(e.storage.Data, "smsdesk.key"))
	}
	if made.SameDisk {
		fmt.Fprintln(e.out, "It lies on the same disk as the data. Copy it to another one: a broken disk takes both.")
	}
	return nil
}

func (c backupCommand) lock() (*backup.KeyLock, error) {
	switch {
	case c.Recipient != "":
		return backup.ForRecipient(c.Recipient)
	case !c.WithKey && c.PassphraseFile != "":
		return nil, errors.New("--passphrase-file is for --with-key. Give both or neither")
	case !c.WithKey:
		return nil, nil
	}
	text, err := passphrase(c.PassphraseFile, true)
	if err != nil {
		return nil, err
	}
	return backup.ByPassphrase(text)
}

// passphrase reads it from the file, the environment or the terminal, where a new one is asked for twice.
func passphrase(file string, anew bool) (string, error) {
	if file != "" {
		raw, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read the passphrase: %w", err)
		}
		return strings.TrimRight(string(raw), "\r\n"), nil
	}
	if text := os.Getenv(passphraseVariable); text != "" {
		return text, nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return "", fmt.Errorf("there is no terminal to ask for the passphrase. Give --passphrase-file or %s",
			passphraseVariable)
	}
	first, err := ask(os.Stderr, "Passphrase of the key: ")
	if err != nil || !anew {
		return first, err
	}
	second, err := ask(os.Stderr, "The same again: ")
	if err == nil && first != second {
		err = errors.New("the two passphrases are not the same")
	}
	return first, err
}

func ask(w io.Writer, question string) (string, error) {
	fmt.Fprint(w, question)
	text, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(w)
	if err != nil {
		return "", fmt.Errorf("read the passphrase: %w", err)
	}
	return string(text), nil
}

// operator is who runs the command, as the machine knows them.
func operator() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "Command line"
}

// rememberBackup stores what became of a backup in the desk that it is of.
func rememberBackup(ctx context.Context, c storage.Config, made backup.Made, failure error, now time.Time) error {
	set, err := storage.SettingIn(ctx, c.File(), health.SettingBackup)
	if err != nil {
		return err
	}
	text, err := afterBackup(set, made, failure, now)
	if err != nil {
		return err
	}
	return storage.PutSettingIn(ctx, c.File(), health.SettingBackup, text)
}

// afterBackup is the setting after one more backup, or after one that failed.
func afterBackup(set string, made backup.Made, failure error, now time.Time) (string, error) {
	b, err := health.ReadBackup(set)
	if err != nil {
		return "", err
	}
	if failure != nil {
		b.FailedAt, b.Problem = now.UnixMilli(), failure.Error()
	} else {
		b = health.Backup{At: made.MadeAt, Took: made.Took, Bytes: made.Bytes(), Folder: made.Folder, By: made.By,
			Verified: true, SameDisk: made.SameDisk,
			WithKey: made.Key != ""}
	}
	text, err := json.Marshal(b)
	return string(text), err
}

// backup says how old the latest backup is.
func (x *examination) backup(ctx context.Context) ([]finding, error) {
	set, err := x.db.ReadSetting(ctx, health.SettingBackup)
	if err != nil {
		return nil, err
	}
	b, err := health.ReadBackup(set)
	if err != nil {
		return nil, err
	}
	const how = "Run: smsdesk backup DIR"
	old := x.now.Sub(time.UnixMilli(b.At))
	var list []finding
	switch b.State(health.BackupPlan{}, x.now) {
	case health.BackupNone:
		return []finding{found(notice, "no backup was ever made. %s", how)}, nil
	case health.BackupFailed:
		list = append(list, found(fault, "the backup of %s failed: %s. %s", stamp(b.FailedAt), b.Problem, how))
	case health.BackupOld:
		list = append(list, found(notice, "the last backup is %s old. %s", days(old), how))
	case health.BackupFine:
		list = append(list, found(fine, "the last backup is %s old: %s", days(old), b.Folder))
	}
	if _, err := os.Stat(b.Folder); b.At > 0 && errors.Is(err, os.ErrNotExist) {
		list = append(list,
			found(notice, "the last backup is no longer in %s. Check whether its disk is mounted, or make another", b.Folder))
	}
	return list, nil
}

func days(old time.Duration) string {
	switch {
	case old < time.Hour:
		return "less than 1 hour"
	case old < 48*time.Hour:
		return fmt.Sprintf("%d hours", int(old.Hours()))
	}
	return fmt.Sprintf("%d days", int(old.Hours()/24))
}
