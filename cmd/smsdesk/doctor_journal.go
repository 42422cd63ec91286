package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"smsdesk/internal/health"
	"smsdesk/storage"
)

// openJournal is the journal of a database.
func (e env) openJournal(db *storage.DB) *storage.Journal {
	return storage.NewJournal(db, storage.JournalConfig{Dir: e.logs, Program: programVersion()})
}

// journal compares database and journal, and looks through the whole journal
// for what cannot be read: nothing depends on that while both agree, but an
// older copy could not be told by it.
func (x *examination) journal(ctx context.Context) ([]finding, error) {
	journal := x.openJournal(x.db)
	q, err := journal.Compare(ctx, true)
	if err != nil {
		return nil, err
	}
	if !q.Relation.MaySend() {
		return []finding{found(fault, "%s Nothing is sent until an administrator has answered on the pages or by: "+
			"smsdesk doctor --accept-rollback", q.Sentence(zoneOf(ctx, x.db)))}, nil
	}
	lines, segment, err := journal.Damage(ctx)
	if err != nil {
		return nil, err
	}
	if lines > 0 {
		return []finding{found(fault,
			"%d lines of the journal cannot be read, the first in %s. Nothing is held up, but an older copy of the "+
				"database could be recognised less well: look at that disk, and make a backup", lines, segment)}, nil
	}
	if q.Relation == health.RelationNew {
		return []finding{found(notice, "there is no journal yet; \"smsdesk serve\" makes one")}, nil
	}
	return []finding{found(fine, "dispatch journal matches the database")}, nil
}

// commandLine is who answers by the command line.
const commandLine = "Command line"

// accept answers the question about an older state. Where a desk serves the
// folder that one carries the answer out.
func (c doctorCommand) accept(ctx context.Context, e env) error {
	db, err := e.openExisting(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	journal, zone := e.openJournal(db), zoneOf(ctx, db)
	release, err := db.AcquireDispatchLock()
	served := err != nil
	if !served {
		defer release()
	}
	q, err := journal.Compare(ctx, served)
	if err != nil || q.Relation.MaySend() {
		return err
	}
	if served {
		return answerServed(ctx, e, db, q, zone)
	}
	done, err := journal.Accept(ctx, commandLine, zone, time.Now().UnixMilli())
	if err == nil {
		fmt.Fprintf(e.out, "ok     %s\n", done.Sentence(zone))
	}
	return err
}

// answerFor is how long a running desk may take to carry out an answer.
const answerFor = time.Minute

// answerServed leaves the answer to the desk that serves the folder and waits
// for what comes of it.
func answerServed(ctx context.Context, e env, db *storage.DB, q health.Question, zone *time.Location) error {
	raw, err := json.Marshal(health.Answer{By: commandLine, Relation: q.Relation})
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	before, err := newestGap(ctx, db)
	if err != nil {
		return err
	}
	if err := db.PutSetting(ctx, health.SettingAnswer, string(raw)); err != nil {
		return err
	}
	for until := time.Now().Add(answerFor); time.Now().Before(until); {
		g, err := newestGap(ctx, db)
		if err != nil {
			return err
		}
		if g.ID != before.ID {
			done := health.Answered{Relation: g.Relation, Messages: g.Messages, Campaigns: g.Campaigns, CopyAt: g.CopyAt}
			fmt.Fprintf(e.out, "ok     %s\n", done.Sentence(zone))
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(answerLooks):
		}
	}
	return fmt.Errorf("the desk that serves this folder has not carried out the answer within %s. Look at its log",
		answerFor)
}

func newestGap(ctx context.Context, db *storage.DB) (g health.JournalGap, err error) {
	list, err := db.JournalGaps(ctx, 1)
	if len(list) > 0 {
		g = list[0]
	}
	return g, err
}
