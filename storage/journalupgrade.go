package storage

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/storage/log"
	"smsdesk/storage/query"
)

// earlierLicence is a line of the journal of versions up to schema 25: one file
// without numbers, checksums and people.
type earlierLicence struct {
	UID      string  `json:"uid"`
	Account  int64   `json:"account"`
	Campaign int64   `json:"campaign"`
	Epoch    int64   `json:"epoch"`
	At       int64   `json:"at"` // milliseconds
	Messages []int64 `json:"messages"`
}

// earlierJournal is what such a file holds.
type earlierJournal struct {
	path    string
	unknown []earlierLicence
}

const earlierEnding = ".before"

// earlierFile finds the file of an earlier version, "" where there is none. It
// keeps another name from the middle of its upgrade on.
func (j *Journal) earlierFile() string {
	path := filepath.Join(j.db.data, journalFolder)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return path
	}
	if info, err := os.Stat(j.folder); err == nil && info.IsDir() {
		return ""
	}
	if _, err := os.Stat(path + earlierEnding); err == nil {
		return path + earlierEnding
	}
	return ""
}

// relateEarlier compares the database with a journal of an earlier version. All
// of it is read: without a head nothing tells where to begin.
func (j *Journal) relateEarlier(ctx context.Context, c *compared, path string) error {
	q := &c.question
	lines, unreadable, err := readEarlier(path)
	if err != nil {
		return err
	}
	c.earlier = &earlierJournal{path: path}
	there := map[string]bool{}
	accepted, err := j.db.acceptedLicences(ctx)
	if err != nil {
		return err
	}
	by := map[int64]*health.RememberedSend{}
	for _, l := range lines {
		there[l.UID] = true
		known, err := j.db.licensed(ctx, l.UID)
		if err != nil {
			return err
		}
		if known || accepted[l.UID] {
			continue
		}
		c.earlier.unknown = append(c.earlier.unknown, l)
		if by[l.Campaign] == nil {
			by[l.Campaign] = &health.RememberedSend{FirstAt: l.At}
		}
		by[l.Campaign].Messages += int64(len(l.Messages))
		by[l.Campaign].LastAt = l.At
	}
	for _, r := range by {
		q.Campaigns = append(q.Campaigns, *r)
		q.Messages, q.KnownUntil = q.Messages+r.Messages, max(q.KnownUntil, r.LastAt)
	}
	missing, err := j.lacking(ctx, there)
	q.Unreadable = unreadable
	switch {
	case err != nil:
		return err
	case len(c.earlier.unknown) > 0:
		// Such a line holds numbers of rows only: what it stands for cannot be
		// remembered, so nothing may be said for certain.
		q.Relation = health.RelationDamaged
	case missing > 0:
		q.Relation = health.RelationBehind
	default:
		q.Relation = health.RelationStarted
	}
	return nil
}

// readEarlier reads the whole file. A line that cannot be read and is not the
// last one is damage.
func readEarlier(path string) (lines []earlierLicence, unreadable int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("read the journal of an earlier version: %w", err)
	}
	defer func() { _ = f.Close() }()
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		text, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, fmt.Errorf("read the journal of an earlier version: %w", err)
		}
		var l earlierLicence
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if json.Unmarshal(text, &l) == nil && l.UID != "" {
				lines = append(lines, l)
			} else {
				unreadable += int64(len(text))
			}
		}
		if err != nil {
			return lines, unreadable, nil
		}
	}
}

// licensedPerRead is how many attempts are read at a time.
const licensedPerRead = 1000

// lacking counts the requests that have left here and are not in the journal:
// then the journal is not the newest one.
func (j *Journal) lacking(ctx context.Context, there map[string]bool) (missing int, err error) {
	err = j.db.eachLicensed(ctx, 0, func(a query.LicensedAttemptsRow) error {
		left := a.State != string(sms.AttemptSending) && a.Class != string(sms.ClassNothingLeft) &&
			a.Class != string(sms.ClassCrash)
		if left && !there[a.Uid] {
			missing++
		}
		return nil
	})
	return missing, err
}

func (db *core) eachLicensed(ctx context.Context, since int64, do func(query.LicensedAttemptsRow) error) error {
	after := int64(0)
	for {
		rows, err := db.read().LicensedAttempts(ctx, max(since, 1), after, licensedPerRead)
		if err != nil {
			return fmt.Errorf("list licences: %w", err)
		}
		for _, r := range rows {
			if err := do(r); err != nil {
				return err
			}
			after = r.ID
		}
		if len(rows) < licensedPerRead {
			return nil
		}
	}
}

// upgrade makes a journal of today out of the attempts that the database holds.
// It may be cut off anywhere and is begun again then; the database gets its
// head last.
func (j *Journal) upgrade(ctx context.Context, path string, now int64) error {
	fresh := j.folder + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("upgrade the journal: %w", err)
	}
	last, err := j.writeAttempts(ctx, fresh, now)
	if err != nil {
		return fmt.Errorf("upgrade the journal: %w", err)
	}
	if before := filepath.Join(j.db.data, journalFolder+earlierEnding); path != before {
		if err = os.Rename(path, before); err == nil {
			err = j.cfg.FS.SyncFolder(j.db.data)
		}
	}
	if err == nil {
		err = j.cfg.FS.Rename(fresh, j.folder)
	}
	if err == nil {
		err = j.cfg.FS.SyncFolder(filepath.Dir(j.folder))
	}
	if err == nil {
		err = j.db.putHead(ctx, last, now)
	}
	if err != nil {
		return fmt.Errorf("upgrade the journal: %w", err)
	}
	return nil
}

// journalKept is how long lines of the journal are kept.
const journalKept = 400 * 24 * time.Hour

// writeAttempts writes one line for each attempt that was licensed within the
// time for which the journal is kept and whose numbers are known still.
func (j *Journal) writeAttempts(ctx context.Context, folder string, now int64) (last journalPlace, err error) {
	last.Sum = noSum
	head, _, err := writeLine(journalSegment{Kind: lineSegment, Desk: j.db.desk, Node: j.db.node,
		Key: j.db.people.check(), N: 1, Prev: noSum})
	if err != nil {
		return last, err
	}
	l, err := log.Open(log.Config{Dir: folder, Ending: journalEnding, FS: j.cfg.FS, Head: func() []byte { return head }})
	if err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	var lines []byte
	add := func(line journalLine) error {
		line.N, line.Prev = last.N+1, last.Sum
		text, sum, err := writeLine(line)
		if err != nil {
			return err
		}
		lines, last = append(lines, text...), journalPlace{line.N, sum}
		if len(lines) < 1<<20 {
			return nil
		}
		err = l.Append(lines)
		lines = lines[:0]
		return err
	}
	if err := add(journalLine{Kind: lineStart, At: now, Program: j.cfg.Program}); err != nil {
		return last, err
	}
	if err := j.db.eachLicensed(ctx, now-journalKept.Milliseconds(), func(a query.LicensedAttemptsRow) error {
		line, err := j.lineOf(ctx, a)
		if err != nil || line.People == "" {
			return err
		}
		return add(line)
	}); err != nil {
		return last, err
	}
	return last, l.Append(lines)
}

// lineOf is the line that an attempt would have had.
func (j *Journal) lineOf(ctx context.Context, a query.LicensedAttemptsRow) (journalLine, error) {
	db := j.db
	account, err := db.read().AccountByID(ctx, a.AccountID)
	if err != nil {
		return journalLine{}, err
	}
	of, err := db.read().CampaignByID(ctx, a.CampaignID)
	if err != nil {
		return journalLine{}, err
	}
	line := journalLine{Kind: lineLicence, At: a.LicensedAt, Attempt: a.Uid, Campaign: campaignUID(of.Campaign.Token),
		Account: account.Uid}
	if account.Test {
		line.Test = 1
	}
	if a.Kind == string(sms.CallGroup) {
		line.Group, line.People = 1, writePeople([]person{db.people.ofGroup(a.GroupID, a.Text)})
		return line, nil
	}
	rows, err := db.read().AttemptMessages(ctx, a.ID)
	if err != nil {
		return line, err
	}
	var people []person
	for _, m := range rows {
		if m.Text != "" {
			people = append(people, db.people.of(m.Number, m.Text))
		}
	}
	line.People = writePeople(people)
	return line, nil
}

// putHead sets the head of this node; its generation stays.
func (db *core) putHead(ctx context.Context, at journalPlace, now int64) error {
	return db.update(ctx, "set the journal's head", func(t *tx) error {
		head, err := t.JournalHead(ctx, db.node)
		if err = orNone(err); err != nil {
			return err
		}
		return t.PutJournalHead(ctx, query.PutJournalHeadParams{Node: db.node, Generation: head.Generation, Seq: at.N,
			Sum: at.Sum, At: now})
	})
}
