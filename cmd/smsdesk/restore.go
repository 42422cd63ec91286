package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"smsdesk/storage"
	"smsdesk/storage/backup"
)

type restoreCommand struct {
	From           string `arg:"" optional:"" help:"Folder of one backup, such as backups/2026-11-21T1610Z." type:"path"`
	Take           string `help:"The old data folder: its journal, logs, spools and inbox are copied, so that no one gets a message twice. Stop the smsdesk that uses it first." type:"path"`
	Key            string `help:"The file smsdesk.key of the desk; without it that of --take, else the one in the backup." type:"path"`
	PassphraseFile string `help:"File with the passphrase of the key in the backup; it is asked for where left out." type:"path"`
	Identity       string `help:"age identity file, where the key in the backup is encrypted for a recipient." type:"path"`
	Here           bool   `help:"Restore nothing: say that the data folder was put back from a snapshot, so that the next start sends nothing until someone has checked."`
}

// Run makes the data folder named by --data from a backup. It sends nothing.
func (c restoreCommand) Run(ctx context.Context, e env) error {
	bad := e.check()
	switch {
	case c.Here && (c.From != "" || c.Take != ""):
		bad = append(bad, "--here: it marks the folder named by --data; leave the backup and --take out")
	case !c.Here && c.From == "":
		bad = append(bad, "name the folder of a backup, such as backups/2026-11-21T1610Z")
	}
	if len(bad) > 0 {
		return bad
	}
	if c.Here {
		if err := backup.Here(ctx, e.storage, operator()); err != nil {
			return err
		}
		fmt.Fprintf(e.out, "Marked %s as put back from a snapshot.\n", e.storage.Data)
		return e.sayNext(ctx)
	}
	identity := ""
	if c.Identity != "" {
		raw, err := os.ReadFile(c.Identity)
		if err != nil {
			return flagErrors{"--identity: " + err.Error()}
		}
		identity = string(raw)
	}
	done, err := backup.Restore(ctx, backup.RestoreOrder{From: c.From, To: e.storage, Logs: e.logs, Take: c.Take,
		Key: backup.KeyFrom{File: c.Key, Identity: identity, Passphrase: func() (string, error) {
			return passphrase(c.PassphraseFile, false)
		}}})
	if err != nil {
		return err
	}
	m := done.Manifest
	fmt.Fprintf(e.out, "Restored the backup of %s, by %s, into %s.\n",
		time.UnixMilli(m.MadeAt).UTC().Format("2 January 2006, 15:04 UTC"), m.By, e.storage.Data)
	for _, note := range done.Notes {
		fmt.Fprintln(e.out, note)
	}
	return e.sayNext(ctx)
}

// sayNext says what the next start will ask, and how to start.
func (e env) sayNext(ctx context.Context) error {
	sentence, err := e.willAsk(ctx)
	if err != nil {
		return err
	}
	if sentence != "" {
		fmt.Fprintln(e.out, sentence)
	}
	smsdesk := "smsdesk --data " + e.storage.Data
	if e.logs != "" {
		smsdesk += " --journal " + e.logs
	}
	_, err = fmt.Fprintf(e.out,
		"Nothing was sent. Next: %s serve. It takes delivery reports, and sends nothing until an administrator has accepted the "+
			"older state on the page or with: %[1]s doctor --accept-rollback\n", smsdesk)
	return err
}

// willAsk is the sentence of the question that the next start asks; "" for a database that the start upgrades first.
func (e env) willAsk(ctx context.Context) (string, error) {
	db, err := storage.Look(ctx, e.storage)
	if errors.Is(err, storage.ErrOlderSchema) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	q, err := e.openJournal(db).Compare(ctx, false)
	return q.Sentence(zoneOf(ctx, db)), err
}
