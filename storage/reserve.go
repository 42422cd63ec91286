package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Reserve keeps outcomes that the database does not take at the moment, on space
// that was set aside before: a disk that is full must not make anybody forget
// what was sent. It is one file in the data folder, and another one beside the
// spool where that is elsewhere. A file is a row of lines
//
//	BODY SP SUM LF
//
// and zeros behind them. BODY is a JSON object, SUM the first 16 bytes of its
// SHA-256 in hexadecimal digits; a line whose sum is wrong was never whole.
type Reserve struct {
	mu     sync.Mutex
	places []*reservePlace
}

// reserveName is that of its files.
const reserveName = "outcomes.reserve"

type reservePlace struct {
	path string
	f    *os.File // nil until it is there
	size int64
	end  int64           // of what is used
	live map[string]bool // attempts whose outcomes stand here and are needed
	left []sms.Unsettled // those that an earlier process left
}

// NewReserve returns the reserve of a data folder; spool is "" where it is in
// the data folder, too. Kept and Hold open its files.
func NewReserve(data, spool string) *Reserve {
	r := &Reserve{places: []*reservePlace{{path: filepath.Join(data, reserveName)}}}
	if spool != "" {
		r.places = append(r.places, &reservePlace{path: filepath.Join(spool, reserveName)})
	}
	return r
}

// Kept lists the outcomes that an earlier process left, also beside an error
// about a file that cannot be read.
func (r *Reserve) Kept() (list []sms.Unsettled, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{}
	for _, p := range r.places {
		if bad := p.open(); bad != nil && !errors.Is(bad, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("read the reserve for outcomes: %w", bad))
		}
		for _, u := range p.left {
			if p.live[u.UID] && !seen[u.UID] {
				seen[u.UID] = true
				list = append(list, u)
			}
		}
	}
	return list, err
}

// Hold makes every file at least so long, in bytes. What could not be set aside
// is tried again by the next Hold.
func (r *Reserve) Hold(size int64) (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.places {
		if bad := p.hold(size); bad != nil {
			err = errors.Join(err, fmt.Errorf("reserve space for outcomes: %w", bad))
		}
	}
	return err
}

// Put returns once the outcome cannot be lost.
func (r *Reserve) Put(u sms.Unsettled) error {
	line, err := reserveLine(u)
	if err != nil {
		return fmt.Errorf("keep an outcome: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.places {
		bad := p.put(u.UID, line)
		if bad == nil {
			return nil
		}
		err = errors.Join(err, bad)
	}
	return fmt.Errorf("keep an outcome: %w", err)
}

// Done says that the outcome of an attempt is stored. When none is needed any
// more, nothing is left of them.
func (r *Reserve) Done(uid string) (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.places {
		if !p.live[uid] {
			continue
		}
		if delete(p.live, uid); len(p.live) > 0 {
			continue
		}
		if bad := p.clear(); bad != nil {
			err = errors.Join(err, fmt.Errorf("clear the reserve for outcomes: %w", bad))
		}
	}
	return err
}

// Close closes the files.
func (r *Reserve) Close() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.places {
		if p.f != nil {
			err = errors.Join(err, p.f.Close())
			p.f = nil
		}
	}
	return err
}

// open opens the file if it is there and reads what was left in it.
func (p *reservePlace) open() error {
	if p.f != nil {
		return nil
	}
	raw, err := os.ReadFile(p.path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(p.path, os.O_RDWR, 0o600)
	// What a file holds that cannot be written is needed all the same.
	if p.live == nil {
		p.live, p.left = map[string]bool{}, readReserve(raw)
		for _, u := range p.left {
			p.live[u.UID] = true
		}
	}
	if err != nil {
		return err
	}
	p.f, p.size, p.end = f, int64(len(raw)), int64(len(bytes.TrimRight(raw, "\x00")))
	return nil
}

func (p *reservePlace) hold(size int64) error {
	err := p.open()
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(p.path), 0o700); err == nil {
			err = fillFile(p.path, size)
		}
		if err == nil {
			err = p.open()
		}
	}
	if err != nil || p.size >= size {
		return err
	}
	if err = zero(p.f, p.size, size); err == nil {
		err = p.f.Sync()
	}
	if err != nil {
		// Half of it would be of no use, and may be the last space there is.
		return errors.Join(err, p.f.Truncate(p.size))
	}
	p.size = size
	return nil
}

func (p *reservePlace) put(uid string, line []byte) error {
	if p.f == nil {
		return fmt.Errorf("there is no %s", p.path)
	}
	if p.end+int64(len(line)) > p.size {
		return fmt.Errorf("%s is full", p.path)
	}
	_, err := p.f.WriteAt(line, p.end)
	if err == nil {
		err = p.f.Sync()
	}
	if err != nil {
		return err
	}
	p.end += int64(len(line))
	p.live[uid] = true
	return nil
}

func (p *reservePlace) clear() error {
	if p.f == nil {
		return nil
	}
	err := zero(p.f, 0, p.end)
	if err == nil {
		err = p.f.Sync()
	}
	if err == nil {
		p.end, p.left = 0, nil
	}
	return err
}

// reserved is the body of a line.
type reserved struct {
	UID         string        `json:"uid"`
	Country     string        `json:"country"`
	At          int64         `json:"at"`
	Class       sms.Class     `json:"class"`
	HTTPStatus  int           `json:"status"`
	Code        string        `json:"code"`
	Fault       sms.Fault     `json:"fault,omitempty"`
	Description string        `json:"description"`
	Rows        []reservedRow `json:"rows"`
	Reason      string        `json:"reason"`
	Excerpt     string        `json:"excerpt"`
	Written     int64         `json:"written"`
}

type reservedRow struct {
	Number      string `json:"n"`
	ProviderID  string `json:"id"`
	Code        string `json:"c,omitempty"`
	Description string `json:"d,omitempty"`
}

func reserveLine(u sms.Unsettled) ([]byte, error) {
	o := u.Outcome
	r := reserved{UID: u.UID, Country: u.Country, At: u.At, Class: o.Class, HTTPStatus: o.HTTPStatus, Code: o.Code,
		Fault: o.Fault, Description: o.Description, Reason: o.Reason, Excerpt: o.Excerpt, Written: o.Written}
	for _, row := range o.Rows {
		r.Rows = append(r.Rows, reservedRow(row))
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return append(append(append(body, ' '), reserveSum(body)...), '\n'), nil
}

func reserveSum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16])
}

// readReserve reads the lines that are whole, in their order. What a failure has
// torn may stand before one that is whole, or hold zeros.
func readReserve(raw []byte) (list []sms.Unsettled) {
	for _, line := range bytes.FieldsFunc(raw, func(r rune) bool { return r == '\n' || r == 0 }) {
		at := bytes.LastIndexByte(line, ' ')
		if at < 0 || reserveSum(line[:at]) != string(line[at+1:]) {
			continue
		}
		var r reserved
		if json.Unmarshal(line[:at], &r) != nil {
			continue
		}
		u := sms.Unsettled{UID: r.UID, Country: r.Country, At: r.At,
			Outcome: sms.Outcome{Class: r.Class, HTTPStatus: r.HTTPStatus, Code: r.Code,
				Fault: r.Fault, Description: r.Description, Reason: r.Reason, Excerpt: r.Excerpt, Written: r.Written}}
		for _, row := range r.Rows {
			u.Outcome.Rows = append(u.Outcome.Rows, sms.ResultRow(row))
		}
		list = append(list, u)
	}
	return list
}

// SettleKept settles an attempt that is still open with an outcome that was kept
// for it. open is false where there was nothing to do any more: it is settled
// already, or this database does not know its licence. a is the attempt as it
// was found, with its class where it has ended.
func (db *core) SettleKept(ctx context.Context, u sms.Unsettled, judge func(sms.Canary, []sms.Finished) sms.Verdict) (
	a sms.Attempt, open, alert bool, err error) {
	known, err := db.read().AttemptByUID(ctx, u.UID)
	if errors.Is(classify(err), sms.ErrNotFound) {
		return a, false, false, nil
	}
	var row query.Attempt
	if err == nil {
		row, err = db.read().AttemptByID(ctx, known.ID)
	}
	if err != nil {
		return a, false, false, fmt.Errorf("find the attempt of an outcome: %w", classify(err))
	}
	a = attempt(row)
	licensed := a.State == sms.AttemptSending
	if !licensed && (a.State != sms.AttemptPrepared || u.Outcome.Class != sms.ClassNothingLeft) {
		return a, false, false, nil
	}
	messages, err := db.read().AttemptMessages(ctx, a.ID)
	if err != nil {
		return a, true, false, fmt.Errorf("list the messages of an outcome: %w", classify(err))
	}
	for _, m := range messages {
		a.Call.Recipients = append(a.Call.Recipients, sms.Recipient{MessageID: m.ID, Number: m.Number})
	}
	s := sms.Settle(a.Call.Recipients, u.Outcome, u.Country)
	alert, err = callStore{db}.Settle(ctx, &a, s, u.Outcome, u.Country, judge, u.At)
	return a, true, alert, err
}
