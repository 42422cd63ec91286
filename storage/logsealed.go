package storage

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"sync"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/log"
)

// sealedLog is an append-only log of sealed records beside the journal
// (storage/README.md): that of delivery reports or that of blocks. A record is
// one line,
//
//	SEQ SP BASE64 SP CRC LF
//
// BASE64 is AES-256-GCM of lines of JSON, bound to the desk, the log and SEQ.
// It is not compressed: the database keeps the same reports for longer and
// does not compress them either, so the log at most doubles what a report
// takes, and the answer waits for nothing but the disk.
type sealedLog struct {
	db     *core
	name   string // of the log
	cursor string // name of the place up to which it was applied
	period string // a segment begins when the time in this layout is another
	desk   string
	aead   cipher.AEAD
	check  string // tells another key
	now    func() time.Time
	cfg    log.Config

	mu    sync.Mutex
	log   *log.Log
	heads []segmentHead // one a segment
	seq   int64         // of the last record
	entry int64         // the last of the owner's entries in it
	tail  *log.Position // what stands behind was cut off by a crash
	fresh bool          // the next record begins a segment: the last one is damaged
	away  string        // why nothing may be appended, "" otherwise
	fault error         // of the last append
}

// segmentHead is the first line of a segment.
type segmentHead struct {
	Kind  string `json:"k"` // "segment"
	Log   string `json:"log"`
	Desk  string `json:"desk"`
	Key   string `json:"key"`
	Seq   int64  `json:"n"` // of the last record before it
	Entry int64  `json:"e"` // the last entry before it
	At    int64  `json:"t"` // clock in milliseconds; shown, and for retention
}

func (h segmentHead) readable() bool { return h.Kind == "segment" }

const (
	segmentEnding = ".log"
	sealedAhead   = 1 << 20
	// recordBytes is how long the lines of one record become: sealed and in
	// base64 they stay below log.MaxLine.
	recordBytes = 512 << 10
)

var errAway = errors.New("the log is not there")

// openSealed opens a log of the desk; it makes and changes nothing.
func (db *core) openSealed(ctx context.Context, l *sealedLog, fs log.FS) (err error) {
	l.desk = db.desk
	key, err := hkdf.Key(sha256.New, db.seal.key, nil, "smsdesk "+l.name+" log v1", 32)
	if err != nil {
		return fmt.Errorf("make the key of the %s log: %w", l.name, err)
	}
	block, err := aes.NewCipher(key)
	if err == nil {
		l.aead, err = cipher.NewGCMWithRandomNonce(block)
	}
	if err != nil {
		return fmt.Errorf("make the key of the %s log: %w", l.name, err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("check"))
	l.check = hex.EncodeToString(mac.Sum(nil)[:8])
	l.cfg.FS, l.cfg.Ending, l.cfg.Ahead, l.cfg.Head = fs, segmentEnding, sealedAhead, l.head
	return l.look(ctx)
}

// find reads what is there. The caller holds mu.
func (l *sealedLog) find() (err error) {
	l.log, l.seq, l.entry, l.heads, l.tail, l.fresh = nil, 0, 0, nil, nil, false
	if l.log, err = log.Open(l.cfg); err != nil {
		return err
	}
	names := l.log.Segments()
	for _, name := range names {
		h, err := l.readHead(name)
		if err != nil {
			return err
		}
		l.heads = append(l.heads, h)
	}
	// The last segment in which anything can be read says where the log ends.
	for i := len(names) - 1; i >= 0; i-- {
		known, damaged, err := l.findEnd(names[i], i == len(names)-1)
		if err != nil {
			return err
		}
		l.fresh = l.fresh || damaged
		if known {
			break
		}
	}
	return nil
}

func (l *sealedLog) readHead(segment string) (h segmentHead, err error) {
	err = l.log.Read(segment, 0, func(line log.Line) error {
		if text, sum, ok := cutLast(line.Text); ok && line.Whole && string(sum) == lineSum(text) {
			if json.Unmarshal(text, &h) != nil {
				h = segmentHead{}
			}
		}
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return h, err
}

func cutLast(line []byte) (before, last []byte, ok bool) {
	at := bytes.LastIndexByte(line, ' ')
	if at < 0 {
		return nil, nil, false
	}
	return line[:at], line[at+1:], true
}

// findEnd looks for the last record of a segment. Of the last segment it notes
// what a crash has cut off.
func (l *sealedLog) findEnd(segment string, last bool) (known, damaged bool, err error) {
	h := l.heads[slices.Index(l.log.Segments(), segment)]
	if known = h.readable(); known {
		l.seq, l.entry = max(l.seq, h.Seq), max(l.entry, h.Entry)
	}
	damaged = !known
	var bad int64
	err = l.log.Read(segment, 0, func(line log.Line) error {
		if line.At.Offset == 0 {
			return nil
		}
		seq, body, ok := l.open(h, line)
		switch {
		case ok:
			known, damaged, bad = true, !h.readable() || !line.Whole, 0
			l.seq, l.tail = seq, nil
			if entry, _, ok := cutEntry(body); ok {
				l.entry = max(l.entry, entry)
			}
		case last && (!line.Whole || bytes.IndexByte(line.Text, 0) >= 0):
			// What was not synced ends early or has holes, and stands at the end.
			if l.tail == nil {
				at := line.At
				l.tail = &at
			}
		default:
			damaged, l.tail, bad = true, nil, bad+1
		}
		return nil
	})
	l.seq += bad
	return known, damaged, err
}

// open opens a record of a segment.
func (l *sealedLog) open(h segmentHead, line log.Line) (seq int64, body []byte, ok bool) {
	text, sum, ok := cutLast(line.Text)
	if !line.Whole && len(sum) > recordSumLength {
		sum = sum[:recordSumLength] // only its line feed is damaged
	}
	if !ok || string(sum) != recordSum(text) {
		return 0, nil, false
	}
	number, sealed, ok := bytes.Cut(text, []byte{' '})
	if !ok {
		return 0, nil, false
	}
	seq, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil {
		return 0, nil, false
	}
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(sealed)))
	n, err := base64.StdEncoding.Decode(raw, sealed)
	if err == nil {
		body, err = l.aead.Open(nil, nil, raw[:n], l.place(h, seq))
	}
	return seq, body, err == nil
}

// place is what a record is bound to: the desk is that of its segment. A copy
// from before desks had ids names another one than the segments do.
func (l *sealedLog) place(h segmentHead, seq int64) []byte {
	desk := l.desk
	if h.readable() {
		desk = h.Desk
	}
	return fmt.Appendf(nil, "%s %s %d", desk, l.name, seq)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const recordSumLength = 8

func recordSum(text []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)) }

// cutEntry splits a record into its last entry and its lines.
func cutEntry(body []byte) (entry int64, lines []byte, ok bool) {
	first, lines, ok := bytes.Cut(body, []byte{'\n'})
	entry, err := strconv.ParseInt(string(first), 10, 64)
	return entry, lines, ok && err == nil
}

// head makes the first line of a new segment.
func (l *sealedLog) head() []byte {
	h := segmentHead{Kind: "segment", Log: l.name, Desk: l.desk, Key: l.check, Seq: l.seq, Entry: l.entry,
		At: l.now().UnixMilli()}
	text, _ := json.Marshal(h)
	l.heads = append(l.heads, h)
	return fmt.Appendf(nil, "%s %s\n", text, lineSum(text))
}

// foreign says that the last segment was sealed with another key, so it is
// another desk's.
func (l *sealedLog) foreign() bool {
	if len(l.heads) == 0 {
		return false
	}
	h := l.heads[len(l.heads)-1]
	return h.readable() && (h.Log != l.name || h.Key != l.check)
}

// current is the head of the segment that the next record goes to.
func (l *sealedLog) current() segmentHead {
	if len(l.heads) == 0 {
		return segmentHead{}
	}
	return l.heads[len(l.heads)-1]
}

// sealedRecord is what one record will hold.
type sealedRecord struct {
	entry int64 // the last of the owner's entries up to here
	lines []byte
}

// append writes records with one sync and returns the last one's number.
func (l *sealedLog) append(records []sealedRecord) (seq int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.fault = err }()
	if l.away != "" {
		return 0, errAway
	}
	if err := l.ready(); err != nil {
		return 0, err
	}
	var text []byte
	h := l.current()
	seq, entry := l.seq, l.entry
	for _, r := range records {
		seq++
		entry = max(entry, r.entry)
		body := append(strconv.AppendInt(nil, r.entry, 10), '\n')
		sealed := l.aead.Seal(nil, nil, append(body, r.lines...), l.place(h, seq))
		from := len(text)
		text = append(strconv.AppendInt(text, seq, 10), ' ')
		text = base64.StdEncoding.AppendEncode(text, sealed)
		text = fmt.Appendf(text, " %s\n", recordSum(text[from:]))
	}
	if err := l.log.Append(text); err != nil {
		l.keepHeads()
		return 0, err
	}
	l.seq, l.entry = seq, entry
	return seq, nil
}

// ready cuts off what a crash has left and begins a segment where it is time.
func (l *sealedLog) ready() error {
	if l.tail != nil {
		if err := l.log.Cut(*l.tail); err != nil {
			return err
		}
		l.tail = nil
	}
	if len(l.heads) == 0 {
		return nil
	}
	began := time.UnixMilli(l.heads[len(l.heads)-1].At).UTC().Format(l.period)
	if !l.fresh && began == l.now().UTC().Format(l.period) {
		return nil
	}
	if err := l.log.Roll(); err != nil {
		l.keepHeads()
		return err
	}
	l.fresh = false
	return nil
}

// keepHeads forgets the head of a segment that was not made after all.
func (l *sealedLog) keepHeads() {
	l.heads = l.heads[:min(len(l.heads), len(l.log.Segments()))]
}

// unread is a stretch of a log that cannot be read, in milliseconds of the
// clock.
type unread struct{ from, until int64 }

// since gives the records behind a cursor; place is what the cursor counts.
func (l *sealedLog) since(cursor int64, place placing, each func(seq, entry int64, lines []byte) error) (
	lost []unread, err error) {
	l.mu.Lock()
	names, heads := l.log.Segments(), slices.Clone(l.heads)
	end := l.log.End()
	if l.tail != nil {
		end.Offset = l.tail.Offset
	}
	l.mu.Unlock()
	first := 0
	for i, h := range heads {
		if h.readable() && place(h.Seq, h.Entry) <= cursor {
			first = i
		}
	}
	r := reading{l: l, cursor: cursor, place: place, each: each, end: end}
	if len(heads) > 0 && heads[first].readable() {
		r.seq, r.at = heads[first].Seq, place(heads[first].Seq, heads[first].Entry)
		if r.at > cursor {
			r.lost = append(r.lost, unread{0, heads[0].At})
		}
	}
	for i := first; i < len(names); i++ {
		until := l.now().UnixMilli()
		if i+1 < len(heads) && heads[i+1].readable() {
			until = heads[i+1].At
		}
		if err := r.segment(names[i], heads[i], until); err != nil {
			return nil, err
		}
	}
	if r.at >= cursor {
		r.settle() // otherwise the cursor is in what cannot be read at the end
	}
	return r.lost, nil
}

// placing says what a log's cursor counts: records, or entries in them.
type placing func(seq, entry int64) int64

func byRecord(seq, _ int64) int64  { return seq }
func byEntry(_, entry int64) int64 { return entry }

// reading goes through a log and notes what cannot be read.
type reading struct {
	l      *sealedLog
	cursor int64
	place  placing
	each   func(seq, entry int64, lines []byte) error
	end    log.Position
	seq    int64    // of the record before
	at     int64    // its place
	hidden []unread // between that record and the next that can be read
	lost   []unread
}

func (r *reading) segment(name string, h segmentHead, until int64) error {
	gap := unread{h.At, until}
	if !h.readable() {
		r.hidden = append(r.hidden, unread{0, until})
	}
	return r.l.log.Read(name, 0, func(line log.Line) error {
		if line.At.Offset == 0 {
			return nil
		}
		if name == r.end.Segment && line.At.Offset >= r.end.Offset {
			return nil
		}
		seq, body, ok := r.l.open(h, line)
		var entry int64
		var lines []byte
		if ok {
			entry, lines, ok = cutEntry(body)
		}
		if !ok {
			r.hidden = append(r.hidden, gap)
			return nil
		}
		if seq != r.seq+1 && len(r.hidden) == 0 {
			r.hidden = append(r.hidden, gap)
		}
		r.seq, r.at = seq, r.place(seq, entry)
		if r.at <= r.cursor {
			// What could not be read before it was not needed.
			r.hidden = nil
			return nil
		}
		r.settle()
		return r.each(seq, entry, lines)
	})
}

func (r *reading) settle() {
	r.lost = append(r.lost, r.hidden...)
	r.hidden = nil
}

// look reads what is there and notes why nothing may be appended, if so. Its
// error is that of the database.
func (l *sealedLog) look(ctx context.Context) error {
	known, err := l.db.read().Cursor(ctx, l.cursor)
	if err != nil && !errors.Is(classify(err), sms.ErrNotFound) {
		return fmt.Errorf("read the cursor of the %s log: %w", l.name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.log != nil {
		_ = l.log.Close()
	}
	l.away = ""
	if failed := l.find(); failed != nil {
		if l.log != nil {
			_ = l.log.Close()
		}
		l.log, l.away = nil, failed.Error()
		return nil
	}
	switch {
	case l.foreign():
		l.away = "it belongs to another desk, or was written with another key"
	case err == nil && known > 0 && len(l.heads) == 0:
		l.away = "it is missing in " + l.cfg.Dir
	}
	return nil
}

// lookAgain looks whether a log that was not there has come back.
func (l *sealedLog) lookAgain(ctx context.Context) error {
	if !l.isAway() {
		return nil
	}
	return l.look(ctx)
}

func (l *sealedLog) isAway() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.away != ""
}

// create lets a log be made where there is none; one of another desk is set
// aside, and nothing of it is lost.
func (l *sealedLog) create() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away == "" || l.log == nil {
		return nil
	}
	if l.foreign() {
		l.seq, l.entry = 0, 0
		for _, name := range l.log.Segments() {
			if err := l.log.SetAside(name, ".foreign"); err != nil {
				return err
			}
		}
		if err := l.find(); err != nil {
			return err
		}
	}
	l.away = ""
	return nil
}

// forget removes the segments whose records are all older than the given time
// and not behind the cursor.
func (l *sealedLog) forget(before, cursor int64, place placing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.log == nil {
		return nil
	}
	names := l.log.Segments()
	keep := 0
	for i := 1; i < len(l.heads) && i < len(names); i++ {
		if h := l.heads[i]; h.readable() && h.At < before && place(h.Seq, h.Entry) <= cursor {
			keep = i
		}
	}
	if keep == 0 {
		return nil
	}
	err := l.log.Remove(names[keep])
	l.heads = l.heads[len(l.heads)-len(l.log.Segments()):]
	return err
}

// last is the last record and its entry.
func (l *sealedLog) last() (seq, entry int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seq, l.entry
}

func (l *sealedLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.log == nil {
		return nil
	}
	return l.log.Close()
}

// trouble is why nothing can be appended, "" where it can.
func (l *sealedLog) trouble() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away != "" {
		return l.away
	}
	if l.fault != nil {
		return l.fault.Error()
	}
	return ""
}

// daysOf says in words of which days something is, "" for nothing.
func daysOf(list []unread, zone *time.Location) string {
	if len(list) == 0 {
		return ""
	}
	from, until := list[0].from, list[0].until
	for _, u := range list {
		from, until = min(from, u.from), max(until, u.until)
	}
	last := time.UnixMilli(until).In(zone).Format("2 January")
	if from == 0 {
		return "up to " + last
	}
	first := time.UnixMilli(from).In(zone)
	if first.Format("2 January") == last {
		return "of " + last
	}
	layout := "2 January"
	if first.Month() == time.UnixMilli(until).In(zone).Month() {
		layout = "2"
	}
	return "of " + first.Format(layout) + " to " + last
}
