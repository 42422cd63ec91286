package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/storage/log"
	"smsdesk/storage/query"
)

// Journal is the dispatch journal: an append-only log of numbered, chained
// lines beside the database or on another disk, with one line a licence, synced
// before the first byte of its request. By it an older copy of the database is
// told from an intact one (README.md). It is safe for use by many goroutines.
type Journal struct {
	cfg    JournalConfig
	db     *core
	folder string

	turn   sync.Mutex // held by the one who writes
	log    *log.Log   // nil before Start
	unlock func()
	begins int64  // number of this process's start line
	sum    string // of the last line that is synced

	mu     sync.Mutex
	lines  []byte // committed in the database, not written yet
	put    int64  // number of the last of them
	synced int64  // number of the last line that is synced
	stuck  error  // why nothing can be written; nil: it can
	began  int64  // when the segment began, milliseconds
	newest int64  // the clock of the last line before this start, milliseconds
	tried  time.Time
	named  map[string]bool // campaigns whose name the segment holds
}

// JournalConfig says where the journal is and who writes it.
type JournalConfig struct {
	// Dir is the folder in which dispatch.journal stands; the data folder where
	// it is "".
	Dir     string
	Program string // the version, for people
	FS      log.FS // nil: the machine's own
}

const (
	journalFolder  = "dispatch.journal"
	journalEnding  = ".j"
	segmentBytes   = 64 << 20
	segmentMaxAge  = 31 * 24 * time.Hour
	elsewhereName  = "ELSEWHERE"
	journalRetries = time.Second
)

// NewJournal returns the journal of a database's data folder. Nothing is made
// or opened before Compare and Start.
func NewJournal(db *DB, cfg JournalConfig) *Journal {
	if cfg.FS == nil {
		cfg.FS = log.Disk{}
	}
	dir := cfg.Dir
	if dir == "" {
		dir = db.data
	}
	return &Journal{cfg: cfg, db: db.core, folder: filepath.Join(dir, journalFolder)}
}

// Folder is where the journal's segments stand.
func (j *Journal) Folder() string { return j.folder }

// OnDataDisk says whether the journal is on the disk that holds the data, so that both are lost or put back together.
func (j *Journal) OnDataDisk() bool {
	var data, own syscall.Stat_t
	if syscall.Stat(j.db.data, &data) != nil || syscall.Stat(j.folder, &own) != nil {
		return false
	}
	return data.Dev == own.Dev
}

func (j *Journal) config() log.Config {
	return log.Config{Dir: j.folder, Ending: journalEnding, FS: j.cfg.FS, MaxBytes: segmentBytes, Head: j.head}
}

// head is a segment's first line. The writer calls it through the log.
func (j *Journal) head() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.named = map[string]bool{}
	line, _, err := writeLine(journalSegment{Kind: lineSegment, Desk: j.db.desk, Node: j.db.node,
		Key: j.db.people.check(), N: j.synced + 1, Prev: j.sum})
	if err != nil {
		return nil
	}
	return line
}

// Close closes the journal.
func (j *Journal) Close() error {
	j.turn.Lock()
	defer j.turn.Unlock()
	if j.log == nil {
		return nil
	}
	j.db.journal.Store(nil)
	err := j.log.Close()
	j.log = nil
	j.unlock()
	return err
}

// lock takes the journal's folder for this process.
func (j *Journal) lock() (func(), error) {
	if err := j.cfg.FS.MakeFolder(j.folder); err != nil {
		return nil, fmt.Errorf("make the journal's folder: %w", err)
	}
	unlock, err := lockFile(filepath.Join(j.folder, "lock"), false)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("another smsdesk writes the journal %s. Stop it first, or give another --journal", j.folder)
	}
	return unlock, err
}

// enqueue takes over a line that has just been committed. It is called in the
// order of the commits.
func (j *Journal) enqueue(seq int64, line []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if seq != j.put+1 {
		// A commit that was reported as failed has happened after all. Its line
		// stands in the database; what is in the queue goes there with it.
		j.stuck = errors.New("a line before it is missing")
		return
	}
	j.lines, j.put = append(j.lines, line...), seq
}

// Append returns once the line of the attempt's licence is on the disk. After
// an error no byte of the request may leave.
func (j *Journal) Append(a *sms.Attempt) error {
	j.turn.Lock()
	defer j.turn.Unlock()
	j.mu.Lock()
	synced, stuck, lines, put := j.synced, j.stuck, j.lines, j.put
	j.mu.Unlock()
	switch {
	case a.JournalSeq == 0:
		return errors.New("write the dispatch journal: the attempt has no licence")
	case synced >= a.JournalSeq:
		return nil
	case stuck != nil:
		return fmt.Errorf("write the dispatch journal: %w", stuck)
	case j.log == nil:
		return errors.New("write the dispatch journal: it is closed")
	}
	err := j.log.Append(lines)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		j.stuck, j.lines = err, nil
		return fmt.Errorf("write the dispatch journal: %w", err)
	}
	j.synced, j.lines = put, j.lines[len(lines):]
	j.sum = lastSum(lines)
	return nil
}

// lastSum is the checksum of the last of whole lines.
func lastSum(lines []byte) string {
	return string(lines[len(lines)-1-2*sumBytes : len(lines)-1])
}

// Ready says why nothing can be licensed because of the journal, and brings it
// back into order where that is possible: once a second at most.
func (j *Journal) Ready(ctx context.Context) error {
	j.mu.Lock()
	stuck, wait := j.stuck, time.Since(j.tried) < journalRetries
	old := j.began > 0 && time.Now().UnixMilli()-j.began > segmentMaxAge.Milliseconds()
	j.mu.Unlock()
	if stuck == nil && !old {
		return nil
	}
	if wait {
		return stuck
	}
	j.mu.Lock()
	j.tried = time.Now()
	j.mu.Unlock()
	return j.repair(ctx)
}

// repair appends what the database has committed and the journal lacks, and
// begins a new segment where the last one is old.
func (j *Journal) repair(ctx context.Context) error {
	// No licence is committed meanwhile: the lines are then all there are.
	j.db.licensing.Lock()
	defer j.db.licensing.Unlock()
	j.turn.Lock()
	defer j.turn.Unlock()
	if j.log == nil {
		return errors.New("the journal is closed")
	}
	rows, err := j.db.read().JournalLines(ctx, j.db.node, j.synced)
	if err != nil {
		return fmt.Errorf("read the lines that the journal lacks: %w", err)
	}
	if time.Now().UnixMilli()-j.began > segmentMaxAge.Milliseconds() {
		if err := j.log.Roll(); err != nil {
			return err
		}
		j.began = time.Now().UnixMilli()
	}
	if err := j.appendRows(rows); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stuck, j.lines, j.put = nil, nil, j.synced
	return nil
}

// appendRows appends lines of the database that follow on the last synced one.
// The caller writes.
func (j *Journal) appendRows(rows []query.JournalLinesRow) error {
	var lines []byte
	last := j.synced
	for _, r := range rows {
		if r.Seq != last+1 {
			return fmt.Errorf("line %d of the journal is missing in the database", last+1)
		}
		lines, last = append(lines, r.Line...), r.Seq
	}
	if len(lines) == 0 {
		return nil
	}
	if err := j.log.Append(lines); err != nil {
		return err
	}
	j.mu.Lock()
	j.synced, j.sum = last, lastSum(lines)
	j.mu.Unlock()
	return nil
}

// Stuck says why nothing can be written; nil while it can.
func (j *Journal) Stuck() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stuck
}

func (j *Journal) syncedUpTo() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.synced
}

// Newest is what the clock said when the last line before this start was
// written; zero where that is not known.
func (j *Journal) Newest() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.newest == 0 {
		return time.Time{}
	}
	return time.UnixMilli(j.newest)
}

// nameOf says whether a line should tell the campaign's name: once a segment.
func (j *Journal) nameOf(campaign string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.named == nil {
		j.named = map[string]bool{}
	}
	known := j.named[campaign]
	j.named[campaign] = true
	return !known
}

// forgetNames makes the next lines tell names again: one that told it may not
// have been committed.
func (j *Journal) forgetNames() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.named = nil
}

// licence puts the line of a licence into its transaction: the head moves on,
// and the line stands in the database until the journal has it. It returns the
// line and its number.
func (t *tx) licence(ctx context.Context, db *core, l journalLine, now int64) (line []byte, seq int64, err error) {
	head, err := t.JournalHead(ctx, db.node)
	if err = orNone(err); err != nil {
		return nil, 0, err
	}
	if head.Generation != db.generation {
		return nil, 0, fmt.Errorf("%w: another process has started with this database", sms.ErrConflict)
	}
	l.N, l.Prev, l.Generation, l.At = head.Seq+1, head.Sum, head.Generation, now
	if head.Sum == "" {
		l.Prev = noSum
	}
	line, sum, err := writeLine(l)
	if err != nil {
		return nil, 0, err
	}
	if err := t.PutJournalLine(ctx, db.node, l.N, string(line)); err != nil {
		return nil, 0, err
	}
	err = t.PutJournalHead(ctx, query.PutJournalHeadParams{Node: db.node, Generation: l.Generation, Seq: l.N, Sum: sum,
		At: now})
	return line, l.N, err
}

// orNone passes over "there is no row".
func orNone(err error) error {
	if errors.Is(classify(err), sms.ErrNotFound) {
		return nil
	}
	return err
}

// elsewhere is what the data folder knows of a journal that is not in it.
type elsewhere struct {
	Folder string `json:"folder"`
	Desk   string `json:"desk"`
}

func (j *Journal) elsewherePath() string {
	return filepath.Join(j.db.data, journalFolder, elsewhereName)
}

// expected says where the journal was when smsdesk sent the last time, "" where
// that is where it is looked for now.
func (j *Journal) expected() string {
	raw, err := os.ReadFile(j.elsewherePath())
	var e elsewhere
	if err != nil || json.Unmarshal(raw, &e) != nil || e.Folder == j.folder {
		return ""
	}
	return e.Folder
}

// noteElsewhere writes down where the journal is, when that is not in the data
// folder: a start without the flag is then a question and not a new journal.
func (j *Journal) noteElsewhere() error {
	path := j.elsewherePath()
	if filepath.Dir(path) == j.folder {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	raw, err := json.Marshal(elsewhere{j.folder, j.db.desk})
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(path); err == nil && string(old) == string(raw) {
		return nil
	}
	if err := j.cfg.FS.MakeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	return replaceFile(path, raw)
}

// openNode finds the name of this data folder, or makes it, and writes it down
// where the folder has none.
func (db *core) openNode(ctx context.Context) error {
	written, err := db.writtenNode()
	if err != nil {
		return err
	}
	if err := db.findNode(ctx); err != nil || written != "" {
		return err
	}
	if db.node == "" {
		db.node = randomHex(16)
	}
	if err := replaceFile(filepath.Join(db.data, nodeFile), []byte(db.node+"\n")); err != nil {
		return fmt.Errorf("write the node's name: %w", err)
	}
	return nil
}

const nodeFile = "node"

// findNode finds the name of this data folder among several: 16 random bytes,
// made with the folder. A folder that lost it, or into which a backup was
// restored, and whose database names one only is that one. It is "" where there
// is none.
func (db *core) findNode(ctx context.Context) (err error) {
	if db.node, err = db.writtenNode(); err != nil || db.node != "" {
		return err
	}
	heads, err := db.read().JournalHeads(ctx)
	if err != nil {
		return fmt.Errorf("read the journal's heads: %w", err)
	}
	if len(heads) == 1 {
		db.node = heads[0].Node
	}
	return nil
}

func (db *core) writtenNode() (string, error) {
	raw, err := os.ReadFile(filepath.Join(db.data, nodeFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the node's name: %w", err)
	}
	if name := strings.TrimSpace(string(raw)); len(name) == 32 {
		return name, nil
	}
	return "", nil
}

// openDesk finds the desk's id, and makes it where there is none.
func (db *core) openDesk(ctx context.Context) error {
	if err := db.findDesk(ctx); err != nil || db.desk != "" {
		return err
	}
	db.desk = randomHex(16)
	return db.PutSetting(ctx, health.SettingDesk, db.desk)
}

func (db *core) findDesk(ctx context.Context) (err error) {
	db.desk, err = db.ReadSetting(ctx, health.SettingDesk)
	return err
}

// openJournalSide reads what licences need of the database. Before the journal
// has started they follow on whatever the last process left.
func (db *core) openJournalSide(ctx context.Context) error {
	head, err := db.read().JournalHead(ctx, db.node)
	if err = orNone(err); err != nil {
		return fmt.Errorf("read the journal's head: %w", err)
	}
	db.generation = head.Generation
	if db.people, err = newPeople(db.seal); err != nil {
		return err
	}
	return db.refreshRemembered(ctx)
}
