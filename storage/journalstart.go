package storage

import (
	"context"
	"errors"
	"fmt"

	"smsdesk/internal/health"
	"smsdesk/storage/log"
	"smsdesk/storage/query"
)

// ErrQuestion: a person has to answer for an older state first.
var ErrQuestion = errors.New("database and journal do not agree")

// Start takes the journal for this process, brings database and journal into
// order after a crash, and writes that smsdesk has started: first in the
// database, then in the journal, and then the database lets go of the line. In
// any other order a torn start looks like a copy, or a copy like a torn start.
// Licences are possible afterwards. The error is ErrQuestion where the two do
// not agree; the question then holds why.
func (j *Journal) Start(ctx context.Context, now int64) (health.Question, error) {
	unlock, err := j.take()
	if err != nil {
		return health.Question{}, err
	}
	defer func() {
		if unlock != nil {
			unlock()
		}
	}()
	c, err := j.agree(ctx)
	if err == nil && c.earlier != nil {
		if err = j.upgrade(ctx, c.earlier.path, now); err == nil {
			c, err = j.agree(ctx)
		}
		if err == nil {
			unlock, err = j.lock()
		}
	}
	if err == nil {
		err = j.start(ctx, c, now)
	}
	if err != nil {
		return c.question, fmt.Errorf("start the journal: %w", err)
	}
	j.unlock, unlock = unlock, nil
	return c.question, nil
}

// take locks the folder, unless a file of an earlier version has its name or it
// is not where it is looked for.
func (j *Journal) take() (func(), error) {
	if j.earlierFile() != "" || j.whereElse() != "" {
		return func() {}, nil
	}
	return j.lock()
}

// agree compares; the error is ErrQuestion where a person has to answer.
func (j *Journal) agree(ctx context.Context) (*compared, error) {
	c, err := j.compare(ctx, false)
	if err != nil {
		return &compared{}, err
	}
	if !c.question.Relation.MaySend() {
		err = ErrQuestion
	}
	return c, err
}

func (j *Journal) start(ctx context.Context, c *compared, now int64) error {
	l, err := log.Open(j.config())
	if err != nil {
		return err
	}
	j.log = l
	if err := j.startLine(ctx, c, now); err != nil {
		j.log = nil
		return errors.Join(err, l.Close())
	}
	return nil
}

// startLine repairs what a crash left and writes the line of this start.
func (j *Journal) startLine(ctx context.Context, c *compared, now int64) error {
	j.synced, j.sum = c.last.line.N, c.last.sum
	if j.sum == "" {
		j.sum = noSum
	}
	if c.question.Relation == health.RelationCutOff {
		if err := j.cutTail(c); err != nil {
			return err
		}
		if err := j.appendRows(c.lines); err != nil {
			return err
		}
	}
	if c.question.Relation == health.RelationStarted {
		if err := j.db.putHead(ctx, journalPlace{j.synced, j.sum}, now); err != nil {
			return err
		}
	}
	schema, err := j.db.schema(ctx)
	if err != nil {
		return err
	}
	line := journalLine{Kind: lineStart, At: now, Program: j.cfg.Program, Schema: schema}
	if err := j.record(ctx, line, now); err != nil {
		return err
	}
	if err := j.noteElsewhere(); err != nil {
		return err
	}
	j.mu.Lock()
	j.put, j.stuck, j.lines, j.began, j.newest = j.synced, nil, nil, now, c.last.line.At
	j.mu.Unlock()
	if err := j.db.refreshRemembered(ctx); err != nil {
		return err
	}
	j.begins = j.synced
	j.db.journal.Store(j)
	return j.db.PutSetting(ctx, health.SettingJournal, j.folder)
}

// cutTail removes the half line that a crash left. A segment in which no line
// can be read may have lost its head as well: it is set aside whole.
func (j *Journal) cutTail(c *compared) error {
	last := j.log.End().Segment
	switch {
	case c.tail == 0:
		return nil
	case c.end.Segment == last:
		return j.log.Cut(c.end)
	}
	return j.log.SetAside(last, ".torn")
}

// record takes a new generation and writes its line to the database, the
// journal, and then out of the database.
func (j *Journal) record(ctx context.Context, line journalLine, now int64) error {
	generation := int64(0)
	err := j.db.update(ctx, "write the start's line", func(t *tx) error {
		line.N, line.Prev = j.synced+1, j.sum
		head, err := t.JournalHead(ctx, j.db.node)
		if err = orNone(err); err != nil {
			return err
		}
		generation = head.Generation + 1
		line.Generation = generation
		text, sum, err := writeLine(line)
		if err != nil {
			return err
		}
		if err := t.DropJournalLines(ctx, j.db.node, j.synced); err != nil {
			return err
		}
		if err := t.PutJournalLine(ctx, j.db.node, line.N, string(text)); err != nil {
			return err
		}
		return t.PutJournalHead(ctx, query.PutJournalHeadParams{Node: j.db.node, Generation: generation, Seq: line.N,
			Sum: sum, At: now})
	})
	if err != nil {
		return err
	}
	rows, err := j.db.read().JournalLines(ctx, j.db.node, j.synced)
	if err != nil {
		return fmt.Errorf("read the start's line: %w", err)
	}
	if err := j.appendRows(rows); err != nil {
		return err
	}
	err = j.db.update(ctx, "let go of the start's line", func(t *tx) error {
		return t.DropJournalLines(ctx, j.db.node, j.synced)
	})
	if err == nil {
		j.db.generation = generation
	}
	return err
}

// schema is the number of the newest migration that the database has had.
func (db *core) schema(ctx context.Context) (version int64, err error) {
	if err = db.reader.QueryRowContext(ctx, `select coalesce(max(version_id), 0) from goose_db_version`).Scan(
		&version); err != nil {
		return 0, fmt.Errorf("read the schema's number: %w", err)
	}
	return version, nil
}

// Forget removes segments of which all lines are older than the time for which
// the journal is kept, and what is remembered of such lines. An even older copy
// of the database is a question all the same: its head is not found.
func (j *Journal) Forget(ctx context.Context, now int64) error {
	if j.db.remembers.Load() {
		if _, err := (callStore{j.db}).DeleteRemembered(ctx, 0, now-journalKept.Milliseconds()); err != nil {
			return err
		}
	}
	j.turn.Lock()
	defer j.turn.Unlock()
	if j.log == nil {
		return nil
	}
	segments := j.log.Segments()
	for i := 1; i < len(segments); i++ {
		newest := int64(0)
		if err := j.each(j.log, segments[i-1:i], func(e entry) error {
			newest = max(newest, e.line.At)
			return ctx.Err()
		}); err != nil {
			return err
		}
		if newest == 0 || newest > now-journalKept.Milliseconds() {
			return nil
		}
		if err := j.log.Remove(segments[i]); err != nil {
			return err
		}
	}
	return nil
}
