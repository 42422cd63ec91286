package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"smsdesk/internal/sms"
	"smsdesk/storage/log"
)

// ReportLog holds every delivery report before it is acknowledged, for as long
// as the setting says. A database that was put back from a copy gets its
// reports back from it (storage/README.md). An entry has the id under which
// the inbox keeps the report; ids of entries are never given again.
type ReportLog struct {
	sealedLog

	names sync.Mutex
	uids  map[int64]string // of accounts, by id
	asked time.Time        // when the database was last asked for them

	noting sync.Mutex
	notes  []byte // lines that wait to be written
	wake   func() // tells the inbox that some do
}

// ReportLogFolder is the log's folder beside the journal.
const ReportLogFolder = "reports.log"

// OpenReportLog opens the log in the folder of the journal. Where the log is
// not there although reports were applied from one, or is another desk's,
// nothing is appended before Create: its disk may not be there yet.
func (db *core) OpenReportLog(ctx context.Context, journal string, now func() time.Time) (*ReportLog, error) {
	return db.openReportLog(ctx, journal, now, nil)
}

func (db *core) openReportLog(ctx context.Context, journal string, now func() time.Time,
	fs log.FS) (*ReportLog, error) {
	l := &ReportLog{uids: map[int64]string{}, sealedLog: sealedLog{db: db, cursor: reportCursor, name: "report",
		period: time.DateOnly, now: now,
		cfg: log.Config{Dir: filepath.Join(journal, ReportLogFolder)}}}
	if err := db.openSealed(ctx, &l.sealedLog, fs); err != nil {
		return nil, fmt.Errorf("open the log of delivery reports: %w", err)
	}
	return l, nil
}

// Look looks again for a log that was not there.
func (l *ReportLog) Look(ctx context.Context) error { return l.lookAgain(ctx) }

const reportCursor = "report log"

// Create lets the log be made where there is none: the journal beside it is
// there and is this desk's. One of another desk is set aside.
func (l *ReportLog) Create() error { return l.create() }

// Close closes the log.
func (l *ReportLog) Close() error { return l.close() }

// Trouble is why reports cannot be logged, "" while they can.
func (l *ReportLog) Trouble() string { return l.trouble() }

// skip says that nobody has the ids up to this one that the log lacks.
func (l *ReportLog) skip(upTo int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entry = max(l.entry, upTo)
}

// Last is the number of the last record and the id of the last report.
func (l *ReportLog) Last() (record, report int64) { return l.last() }

// Away says that nothing is appended before Create.
func (l *ReportLog) Away() bool { return l.isAway() }

// Forget removes what arrived before the given time and was applied up to the
// cursor, a segment at a time.
func (l *ReportLog) Forget(before, cursor int64) error {
	return l.forget(before, cursor, byEntry)
}

// loggedReport is a line of the log.
type loggedReport struct {
	Kind    string `json:"k,omitempty"` // "" for a report
	ID      int64  `json:"i"`
	Account string `json:"a"` // its uid: row ids are given again after a restore
	At      int64  `json:"t"`
	Remote  string `json:"f"`
	Query   string `json:"q,omitempty"`
	Raw     []byte `json:"b,omitempty"` // a query that is no UTF-8
}

// put appends records of lesser entries and then reports in the order of their
// ids.
func (l *ReportLog) put(ctx context.Context, list []sms.RawReport, records ...sealedRecord) error {
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	enc.SetEscapeHTML(false)
	for i, k := range list {
		row := loggedReport{ID: k.ID, Account: l.accountUID(ctx, k.AccountID), At: k.ReceivedAt, Remote: k.Remote,
			Query: k.Query}
		if !utf8.ValidString(k.Query) {
			row.Query, row.Raw = "", []byte(k.Query)
		}
		if err := enc.Encode(row); err != nil {
			return fmt.Errorf("log delivery reports: %w", err)
		}
		if i == len(list)-1 || lines.Len()+len(list[i+1].Query) > recordBytes {
			records = append(records, sealedRecord{k.ID, bytes.Clone(lines.Bytes())})
			lines.Reset()
		}
	}
	if _, err := l.append(records); err != nil {
		return fmt.Errorf("log delivery reports: %w", err)
	}
	return nil
}

// accountsInterval is how often the database is asked for an account that is not
// known.
const accountsInterval = time.Second

// accountUID is the random id of an account; its row id behind a "#" where the
// database cannot be asked.
func (l *ReportLog) accountUID(ctx context.Context, id int64) string {
	l.names.Lock()
	defer l.names.Unlock()
	if uid, ok := l.uids[id]; ok {
		return uid
	}
	if time.Since(l.asked) > accountsInterval {
		l.asked = time.Now()
		// Where it cannot be asked, the row id stands for the account.
		uids, _ := l.db.accountUIDs(ctx)
		for uid, id := range uids {
			l.uids[id] = uid
		}
	}
	if uid, ok := l.uids[id]; ok {
		return uid
	}
	return "#" + strconv.FormatInt(id, 10)
}

// accountUIDs gives the row ids of accounts by their random ids.
func (db *core) accountUIDs(ctx context.Context) (map[string]int64, error) {
	rows, err := db.reader.QueryContext(ctx, `select uid, id from account`)
	uids := map[string]int64{}
	if err := forEachRow(rows, err, func(scan func(...any) error) error {
		var uid string
		var id int64
		err := scan(&uid, &id)
		uids[uid] = id
		return err
	}); err != nil {
		return nil, fmt.Errorf("list accounts: %w", err)
	}
	return uids, nil
}

// Entries gives the reports behind a cursor, in order. Those of accounts that
// this database does not know are left out and counted. lost says in words of
// which days reports cannot be read, "" where all can.
func (l *ReportLog) Entries(ctx context.Context, cursor int64,
	each func([]sms.RawReport) error) (strangers int, lost string, err error) {
	uids, err := l.db.accountUIDs(ctx)
	if err != nil {
		return 0, "", err
	}
	gone, err := l.since(cursor, byEntry, func(_, _ int64, lines []byte) error {
		var list []sms.RawReport
		for line := range bytes.Lines(lines) {
			var row loggedReport
			if err := json.Unmarshal(line, &row); err != nil {
				return err
			}
			if row.Kind != "" || row.ID <= cursor {
				continue
			}
			k := sms.RawReport{ID: row.ID, ReceivedAt: row.At, Remote: row.Remote, Query: row.Query + string(row.Raw)}
			if k.AccountID = accountOf(uids, row.Account); k.AccountID == 0 {
				strangers++
				continue
			}
			list = append(list, k)
		}
		if len(list) == 0 {
			return nil
		}
		return each(list)
	})
	if err != nil {
		return 0, "", fmt.Errorf("read the log of delivery reports: %w", err)
	}
	return strangers, daysOf(gone, time.Local), nil
}

// Check reads the whole log and counts its reports. lost says in words of which
// days they cannot be read, "" where all can.
func (l *ReportLog) Check(ctx context.Context) (n int, lost string, err error) {
	strangers, lost, err := l.Entries(ctx, l.first(), func(list []sms.RawReport) error {
		n += len(list)
		return ctx.Err()
	})
	return n + strangers, lost, err
}

// first is the entry behind which the oldest segment begins.
func (l *ReportLog) first() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.heads) == 0 {
		return 0
	}
	return l.heads[0].Entry
}

func sortedKept(byID map[int64]sms.RawReport) []sms.RawReport {
	list := make([]sms.RawReport, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		list = append(list, byID[id])
	}
	return list
}

func accountOf(uids map[string]int64, uid string) int64 {
	if digits, ok := strings.CutPrefix(uid, "#"); ok {
		id, _ := strconv.ParseInt(digits, 10, 64)
		return id
	}
	return uids[uid]
}

// LogCursor is the last entry of the log up to which all are applied.
func (db *core) LogCursor(ctx context.Context) (int64, error) {
	n, err := db.read().Cursor(ctx, reportCursor)
	if errors.Is(classify(err), sms.ErrNotFound) {
		return 0, nil
	}
	return wrapNotFound(n, err, "read the cursor of the report log")
}
