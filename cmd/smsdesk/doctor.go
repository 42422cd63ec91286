package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage"
)

type doctorCommand struct {
	Counts         bool `help:"Count all messages and reports anew and compare them with the counts that the pages show. It reads everything there is and changes nothing."`
	AcceptRollback bool `help:"Put the messages that an older copy of the database does not know as sent into doubt, and let sending start."`
}

var errFaulty = errors.New("something needs attention")

// Run checks the data folder and prints one line a check. It changes nothing
// unless told to accept a rollback.
func (c doctorCommand) Run(ctx context.Context, e env) error {
	db, err := e.open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	fmt.Fprintln(e.out, "ok     database opens with the settings that sending needs")
	healthy := checkKeyFile(e)
	if err := db.Check(ctx); err != nil {
		fmt.Fprintln(e.out, "fault  database file:", err)
		healthy = false
	} else {
		fmt.Fprintln(e.out, "ok     database file is whole")
	}
	fine, err := c.checkJournal(ctx, e, db)
	if err != nil {
		return err
	}
	accounts, err := db.Accounts(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if a.Pause != "" {
			fmt.Fprintf(e.out, "fault  account %q is paused: %s\n", a.Name, a.Pause)
			healthy = false
		}
	}
	if c.Counts {
		counted, err := checkCounts(ctx, e, db)
		if err != nil {
			return err
		}
		fine = fine && counted
	}
	if !healthy || !fine {
		return errFaulty
	}
	return nil
}

// mostMiscounts is how many wrong counts are printed one by one.
const mostMiscounts = 100

func checkCounts(ctx context.Context, e env, db *storage.DB) (fine bool, err error) {
	list, err := db.Miscounts(ctx)
	if err != nil {
		return false, err
	}
	for i, m := range list {
		if i == mostMiscounts {
			fmt.Fprintf(e.out, "fault  and %d more counts that differ\n", len(list)-i)
			break
		}
		fmt.Fprintln(e.out, "fault  count of", m)
	}
	if len(list) == 0 {
		fmt.Fprintln(e.out, "ok     all counts are what the messages and reports say")
	}
	return len(list) == 0, nil
}

func checkKeyFile(e env) bool {
	info, err := os.Stat(filepath.Join(e.storage.Data, "smsdesk.key"))
	if err == nil && info.Mode().Perm() != 0o600 {
		fmt.Fprintf(e.out, "fault  key file may be read by others (mode %o). Run: chmod 600 %s\n", info.Mode().Perm(), filepath.Join(e.storage.Data, "smsdesk.key"))
		return false
	}
	fmt.Fprintln(e.out, "ok     key file is private")
	return err == nil
}

func (c doctorCommand) checkJournal(ctx context.Context, e env, db *storage.DB) (fine bool, err error) {
	journal, err := storage.OpenJournal(e.storage.Data)
	if err != nil {
		return false, err
	}
	defer func() { _ = journal.Close() }()
	ahead, err := journal.Ahead(ctx, db)
	if err != nil {
		return false, err
	}
	switch {
	case len(ahead) == 0:
		fmt.Fprintln(e.out, "ok     dispatch journal and database agree")
		return true, nil
	case !c.AcceptRollback:
		fmt.Fprintf(e.out, "fault  %s\n", rollbackSentence(ahead))
		return false, nil
	}
	doubtful, err := db.AcceptRollback(ctx, ahead, time.Now().UnixMilli())
	if err != nil {
		return false, err
	}
	fmt.Fprintf(e.out, "ok     accepted: %d messages need a decision now. Sending starts again\n", doubtful)
	return true, nil
}

// rollbackSentence says which campaigns an older copy of the database would
// send from again.
func rollbackSentence(ahead []sms.Licence) string {
	messages, campaigns := 0, map[int64]bool{}
	for _, l := range ahead {
		messages += len(l.Messages)
		campaigns[l.Campaign] = true
	}
	return fmt.Sprintf("The database is older than the dispatch journal: %d messages of %d campaigns were sent after this copy was made (%s). Nothing is sent until an administrator runs: smsdesk doctor --accept-rollback",
		messages, len(campaigns), campaignList(campaigns))
}

func campaignList(ids map[int64]bool) string {
	text := ""
	for id := range ids {
		if text != "" {
			text += ", "
		}
		if len(text) > 60 {
			return text + "…"
		}
		text += fmt.Sprintf("campaign %d", id)
	}
	return text
}
