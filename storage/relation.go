package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/storage/log"
	"smsdesk/storage/query"
)

// entry is a line of the journal, or a piece of it that cannot be read.
type entry struct {
	line    journalLine
	sum     string
	at      log.Position
	bytes   int64
	damaged bool
}

// compared is what a look at both sides found.
type compared struct {
	question health.Question
	head     query.JournalHead
	last     entry                   // the last readable line; its sum is "" where there is none
	tail     int64                   // unreadable bytes behind it
	lines    []query.JournalLinesRow // of the database, which the journal lacks (R2)
	earlier  *earlierJournal         // of a version that knew no heads
	segments []string
	end      log.Position // where the journal's readable part ends
	headless bool         // the tail begins where a segment does
}

// Compare looks at the database and the journal and says how they stand to each
// other. It changes nothing. live says that another process may be sending: the
// journal may then be ahead by what it does at this moment.
func (j *Journal) Compare(ctx context.Context, live bool) (health.Question, error) {
	c, err := j.compare(ctx, live)
	return wrapNotFound(c.question, err, "compare journal and database")
}

func (j *Journal) compare(ctx context.Context, live bool) (*compared, error) {
	c := &compared{question: health.Question{Folder: j.folder}}
	var err error
	if c.head, err = j.db.read().JournalHead(ctx, j.db.node); orNone(err) != nil {
		return nil, err
	}
	c.question.CopyAt = c.head.At
	mark, err := j.db.copyMark(ctx)
	if err != nil {
		return nil, err
	}
	c.question.Mark = mark
	if err := j.relate(ctx, c, live); err != nil {
		return nil, err
	}
	if mark != nil {
		c.question.Beneath, c.question.Relation = c.question.Relation, health.RelationCopy
	}
	return c, nil
}

// copyMark reads what a backup says of itself, nil where it is none.
func (db *core) copyMark(ctx context.Context) (*health.Copy, error) {
	raw, err := db.ReadSetting(ctx, health.SettingCopy)
	if err != nil || raw == "" {
		return nil, err
	}
	var mark health.Copy
	if err := json.Unmarshal([]byte(raw), &mark); err != nil {
		return nil, fmt.Errorf("read the copy's mark: %w", err)
	}
	return &mark, nil
}

// relate finds the row of the table.
func (j *Journal) relate(ctx context.Context, c *compared, live bool) error {
	q := &c.question
	if c.head.Seq == 0 {
		if path := j.earlierFile(); path != "" {
			return j.relateEarlier(ctx, c, path)
		}
	}
	if q.Detail = j.whereElse(); q.Detail != "" {
		q.Relation = health.RelationBehind
		return nil
	}
	l, err := log.Open(j.config())
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	c.segments = l.Segments()
	if q.Detail, err = j.foreign(l); err != nil || q.Detail != "" {
		q.Relation = health.RelationForeign
		return err
	}
	if q.Relation, err = j.decide(ctx, c, l); err != nil || q.Relation.MaySend() {
		return err
	}
	if err := j.count(ctx, c, l); err != nil {
		return err
	}
	if live && q.Relation == health.RelationAhead && q.Messages == 0 {
		q.Relation = health.RelationAgrees
	}
	return nil
}

// whereElse says where else the journal may be, when it is not where it is
// looked for.
func (j *Journal) whereElse() string {
	if expected := j.expected(); expected != "" {
		return fmt.Sprintf("The journal is expected in %s: mount that disk, or start with --journal %s.", expected,
			filepath.Dir(expected))
	}
	return ""
}

// foreign says why nothing of the journal may be believed.
func (j *Journal) foreign(l *log.Log) (why string, err error) {
	for _, name := range l.Segments() {
		head, ok, err := firstLine(l, name)
		switch {
		case err != nil:
			return "", err
		case !ok:
		case head.Desk != j.db.desk:
			return "This journal belongs to another desk: put the right one into " + j.folder + ".", nil
		case head.Node != j.db.node:
			return "This journal belongs to another data folder of this desk: put the right one into " + j.folder + ".", nil
		case head.Key != j.db.people.check():
			return "This journal was written with another key: put the right smsdesk.key beside the database.", nil
		}
	}
	return "", nil
}

var errReadEnough = errors.New("enough was read")

func firstLine(l *log.Log, segment string) (s journalSegment, ok bool, err error) {
	err = l.Read(segment, 0, func(line log.Line) error {
		s, ok = readSegment(line.Text)
		return errReadEnough
	})
	if errors.Is(err, errReadEnough) {
		err = nil
	}
	return s, ok, err
}

// decide reads the segments from the database's head on.
func (j *Journal) decide(ctx context.Context, c *compared, l *log.Log) (health.Relation, error) {
	first := 0
	for i := len(c.segments) - 1; i >= 0; i-- {
		head, ok, err := firstLine(l, c.segments[i])
		if err != nil {
			return "", err
		}
		if !ok || head.N > c.head.Seq {
			continue
		}
		// A crash may leave a segment that was begun and holds nothing yet: the
		// journal's last line is then in the one before it.
		holds, err := j.holdsLine(l, c.segments[i])
		if err != nil {
			return "", err
		}
		if holds {
			first = i
			break
		}
	}
	var behind journalEnd
	found := c.head.Seq == 0
	err := j.each(l, c.segments[first:], func(e entry) error {
		if !e.damaged {
			c.last, c.tail = e, 0
			c.end = log.Position{Segment: e.at.Segment, Offset: e.at.Offset + e.bytes}
		} else {
			c.headless = c.headless && c.tail > 0 || c.tail == 0 && e.at.Offset == 0
			c.tail += e.bytes
		}
		if found {
			behind.add(e)
		}
		if !e.damaged && e.line.N == c.head.Seq && e.sum == c.head.Sum {
			found, behind = true, journalEnd{}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	c.question.Unreadable = behind.unreadable
	switch {
	case c.head.Seq == 0:
		return j.withoutHead(ctx, c, l)
	case !found && c.last.line.N < c.head.Seq:
		return j.behind(ctx, c)
	case !found:
		return health.RelationDiverged, nil
	case behind.unreadable > 0:
		return health.RelationDamaged, nil
	case behind.others > 0:
		return health.RelationAhead, nil
	case behind.starts > 0:
		return health.RelationStarted, nil
	}
	return health.RelationAgrees, nil
}

// holdsLine says whether a line of a segment can be read.
func (j *Journal) holdsLine(l *log.Log, segment string) (holds bool, err error) {
	err = j.each(l, []string{segment}, func(e entry) error {
		if holds = !e.damaged; holds {
			return errReadEnough
		}
		return nil
	})
	if errors.Is(err, errReadEnough) {
		err = nil
	}
	return holds, err
}

// journalEnd is what stands behind the database's head.
type journalEnd struct {
	starts, others int
	unreadable     int64
}

func (b *journalEnd) add(e entry) {
	switch {
	case e.damaged:
		b.unreadable += e.bytes
	case e.line.Kind == lineStart:
		b.starts++
	default:
		b.others++
	}
}

// withoutHead: the database has never written a line. That is a new desk, or
// one whose upgrade was cut off at its end, or a copy from before.
func (j *Journal) withoutHead(ctx context.Context, c *compared, l *log.Log) (health.Relation, error) {
	licensed, err := j.db.read().CountLicensed(ctx)
	if err != nil {
		return "", err
	}
	if c.last.sum == "" {
		if licensed == 0 && c.tail == 0 {
			return health.RelationNew, nil
		}
		// An older version made a journal at its first start.
		return health.RelationBehind, nil
	}
	unknown, err := j.unknown(ctx, l, c.segments)
	switch {
	case err != nil:
		return "", err
	case len(unknown) > 0 || c.tail > 0:
		return health.RelationDiverged, nil
	case licensed == 0 && c.last.line.Kind != lineStart:
		return health.RelationDiverged, nil
	}
	return health.RelationStarted, nil
}

// headBytes is what a segment's first line has at the most.
const headBytes = 256

// behind: the journal ends before the database's head. A crash leaves that only
// where all lines between stand in the database and none of their requests can
// have left without its line.
func (j *Journal) behind(ctx context.Context, c *compared) (health.Relation, error) {
	rows, err := j.db.read().JournalLines(ctx, j.db.node, c.last.line.N)
	if err != nil {
		return "", err
	}
	next, prev, size := c.last.line.N, c.last.sum, int64(0)
	if prev == "" {
		prev = noSum
	}
	for _, r := range rows {
		line, sum, ok := readLine(bytes.TrimSuffix([]byte(r.Line), []byte("\n")))
		if !ok || r.Seq != next+1 || line.Prev != prev {
			return health.RelationBehind, nil
		}
		left, err := j.mayHaveLeft(ctx, line)
		if err != nil {
			return "", err
		}
		if left {
			return health.RelationBehind, nil
		}
		next, prev, size = r.Seq, sum, size+int64(len(r.Line))
	}
	if c.headless {
		size += headBytes
	}
	if next != c.head.Seq || prev != c.head.Sum || c.tail > size {
		return health.RelationBehind, nil
	}
	c.lines = rows
	return health.RelationCutOff, nil
}

// mayHaveLeft says whether the request of a line that the journal lacks may have
// gone out although its line comes first: then the journal had it once.
func (j *Journal) mayHaveLeft(ctx context.Context, l journalLine) (bool, error) {
	if l.Kind == lineStart {
		return false, nil
	}
	a, err := j.db.read().AttemptByUID(ctx, l.Attempt)
	if orNone(err) != nil {
		return false, err
	}
	open := a.State == string(sms.AttemptSending) || a.State == string(sms.AttemptPrepared)
	return l.Kind != lineLicence || err != nil || !open && a.Class != string(sms.ClassNothingLeft), nil
}

// each gives the lines of segments in order. A line that does not join on to
// the one before it has something missing before it, which is damage.
func (j *Journal) each(l *log.Log, segments []string, do func(entry) error) error {
	prev, known := "", false
	for _, segment := range segments {
		first := true
		if err := l.Read(segment, 0, func(line log.Line) error {
			e := entry{at: line.At, bytes: line.Bytes}
			if first {
				first = false
				if s, ok := readSegment(line.Text); ok && line.Whole {
					if known && s.Prev != prev {
						known = false
						return do(entry{at: line.At, damaged: true, bytes: 1})
					}
					prev, known = s.Prev, true
					return nil
				}
			}
			var ok bool
			if e.line, e.sum, ok = readLine(line.Text); !ok || !line.Whole {
				known = false
				return do(entry{at: line.At, bytes: line.Bytes, damaged: true})
			}
			if known && e.line.Prev != prev {
				if err := do(entry{at: line.At, damaged: true, bytes: 1}); err != nil {
					return err
				}
			}
			prev, known = e.sum, true
			return do(e)
		}); err != nil {
			return err
		}
	}
	return nil
}

// unknown lists the licences of readable lines that the database has neither
// given nor accepted.
func (j *Journal) unknown(ctx context.Context, l *log.Log, segments []string) (list []journalLine, err error) {
	accepted, err := j.db.acceptedLicences(ctx)
	if err != nil {
		return nil, err
	}
	err = j.each(l, segments, func(e entry) error {
		if e.damaged || e.line.Kind != lineLicence || accepted[e.line.Attempt] {
			return nil
		}
		known, err := j.db.licensed(ctx, e.line.Attempt)
		if err == nil && !known {
			list = append(list, e.line)
		}
		return err
	})
	return list, err
}

func (db *core) acceptedLicences(ctx context.Context) (map[string]bool, error) {
	rows, err := db.read().AcceptedLicences(ctx)
	if err != nil {
		return nil, fmt.Errorf("list accepted licences: %w", err)
	}
	list := make(map[string]bool, len(rows))
	for _, uid := range rows {
		list[uid] = true
	}
	return list, nil
}

func (db *core) licensed(ctx context.Context, uid string) (bool, error) {
	a, err := db.read().AttemptByUID(ctx, uid)
	if orNone(err) != nil {
		return false, fmt.Errorf("look up a licence: %w", err)
	}
	return err == nil && a.LicensedAt > 0, nil
}

// count reads the whole journal for what a person is to be told.
func (j *Journal) count(ctx context.Context, c *compared, l *log.Log) error {
	unknown, err := j.unknown(ctx, l, c.segments)
	if err != nil {
		return err
	}
	c.question.Campaigns = j.summary(unknown)
	for _, r := range c.question.Campaigns {
		c.question.Messages += r.Messages
		c.question.KnownUntil = max(c.question.KnownUntil, r.LastAt)
	}
	if c.question.Relation == health.RelationBehind && c.last.sum != "" {
		c.question.KnownUntil = max(c.question.KnownUntil, c.last.line.At)
	}
	return nil
}

// summary gathers licences by campaign, the latest first.
func (j *Journal) summary(lines []journalLine) []health.RememberedSend {
	by := map[string]*health.RememberedSend{}
	for _, l := range lines {
		r := by[l.Campaign]
		if r == nil {
			r = &health.RememberedSend{UID: l.Campaign, FirstAt: l.At, LastAt: l.At}
			by[l.Campaign] = r
		}
		r.FirstAt, r.LastAt = min(r.FirstAt, l.At), max(r.LastAt, l.At)
		r.Messages += l.recipients()
		if n := j.db.people.openName(l.Name, j.db.desk, l.Campaign); n.Name != "" {
			r.Name, r.StartedName = n.Name, n.Started
		}
	}
	list := make([]health.RememberedSend, 0, len(by))
	for _, r := range by {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b health.RememberedSend) int {
		if a.LastAt != b.LastAt {
			return int(b.LastAt - a.LastAt)
		}
		return bytes.Compare([]byte(a.UID), []byte(b.UID))
	})
	return list
}

// Damage counts what of the journal's lines cannot be read, whole segments
// included, and where the first of it is. It reads everything.
func (j *Journal) Damage(ctx context.Context) (lines int, segment string, err error) {
	l, err := log.Open(j.config())
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = l.Close() }()
	err = j.each(l, l.Segments(), func(e entry) error {
		if e.damaged {
			if lines++; segment == "" {
				segment = e.at.Segment
			}
		}
		return ctx.Err()
	})
	return lines, segment, err
}
