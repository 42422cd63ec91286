package lists

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// profileCache keeps how the last few lists begin, because a preview is asked for
// at every pause in typing and a workbook takes a while to open.
type profileCache struct {
	mu   sync.Mutex
	kept []cachedProfile
}

type cachedProfile struct {
	uid     string
	version int64
	profile sheet.Profile
}

const (
	profilesKept = 8
	// maxProfile bounds the bytes of one kept beginning.
	maxProfile = 256 << 10
	// detectTimeout is how long a page waits for a file to be opened; a workbook
	// at its limits takes seconds.
	detectTimeout = 20 * time.Second
	// countTimeout is how long the rows of a new list may be counted.
	countTimeout = 250 * time.Millisecond
)

func (p *profileCache) find(l sms.List) (sheet.Profile, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.kept {
		if k.uid == l.UID && k.version == l.Version {
			return k.profile, true
		}
	}
	return sheet.Profile{}, false
}

func (p *profileCache) keep(l sms.List, profile sheet.Profile) {
	size := 0
	for _, row := range profile.Sample {
		for _, c := range row.Cells {
			size += len(c)
		}
	}
	if size > maxProfile {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = append(p.kept, cachedProfile{l.UID, l.Version, profile})
	if len(p.kept) > profilesKept {
		p.kept = append([]cachedProfile(nil), p.kept[1:]...)
	}
}

// headerKey tells lists with the same columns and the same purpose.
func headerKey(l sms.List, p sheet.Profile) string {
	key := sheet.HeaderKey(p.Header)
	if key != "" && l.Purpose == sms.ForContacts {
		key = "contacts " + key
	}
	return key
}

// detectFile opens a list's file far enough to say how it is read. Rows are counted
// as long as count; 0: that was not long enough.
func (d *Lists) detectFile(ctx context.Context, account sms.Account, l sms.List, r sms.ListReading,
	count time.Duration) (sheet.Profile, int64, error) {
	type answer struct {
		profile sheet.Profile
		rows    int64
		err     error
	}
	done := make(chan answer, 1)
	go func() {
		reader, err := d.openList(ctx, account, l, r)
		if err != nil {
			done <- answer{err: err}
			return
		}
		a := answer{profile: reader.Profile(), rows: countRows(reader.Reader, count)}
		a.err = reader.Close()
		done <- a
	}()
	timer := time.NewTimer(detectTimeout)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.profile, a.rows, a.err
	case <-timer.C:
		return sheet.Profile{}, 0,
			sms.Invalid{"file": "This file takes too long to open. Remove sheets, pictures and columns you do not need"}
	case <-ctx.Done():
		return sheet.Profile{}, 0, ctx.Err()
	}
}

// countRows counts the rows unless that takes longer than most. What is wrong
// with them is for the check to say.
func countRows(reader *sheet.Reader, most time.Duration) int64 {
	for began := time.Now(); time.Since(began) < most; {
		for range rowsPerBatch {
			if _, err := reader.Next(); err == io.EOF {
				return int64(reader.Tally().Rows)
			} else if err != nil {
				return 0
			}
		}
	}
	return 0
}

// openList opens a list's file, to be read with what people corrected in it.
func (d *Lists) openList(ctx context.Context, account sms.Account, l sms.List, r sms.ListReading) (*rowReader, error) {
	fixed, err := d.corrected.Corrections(ctx, l.ID)
	if err != nil {
		return nil, err
	}
	file, err := d.store.Upload(l.UID)
	if errors.Is(err, sms.ErrNotFound) {
		return nil, sms.Invalid{"file": "The file is not in this backup. Upload it again"}
	}
	if err != nil {
		return nil, err
	}
	o := sheet.Options{Encoding: sheet.Encoding(r.Encoding), HeaderRow: r.HeaderRow, Sheet: r.Sheet,
		IncludeHidden: r.Hidden, Country: account.Country,
		TempDir: d.store.ListFolder(l.UID)}
	o.Delimiter, _ = utf8.DecodeRuneInString(r.Delimiter)
	if r.Delimiter == "" {
		o.Delimiter = 0
	}
	reader, err := sheet.Open(file, l.Size, o)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	rows := &rowReader{Reader: reader, file: file, fixed: byRow(fixed)}
	rows.follow(fixed, l.Order.Phone)
	if len(l.Reading.Added) > 0 {
		rows.added = &addedReader{list: l, country: account.Country, abroad: account.Abroad, store: d.corrected}
	}
	return rows, nil
}

func readingOf(p sheet.Profile) sms.ListReading {
	r := sms.ListReading{Kind: string(p.Kind), Encoding: string(p.Options.Encoding), HeaderRow: p.Options.HeaderRow,
		Sheet:  p.Options.Sheet,
		Hidden: p.Options.IncludeHidden, Columns: p.Columns}
	if p.Options.Delimiter != 0 {
		r.Delimiter = string(p.Options.Delimiter)
	}
	return r
}

// Profile is how a list begins, with what its columns seem to hold.
type Profile struct {
	sheet.Profile
	Guess sheet.Mapping
}

// Question is what to ask a person where the guess is not sure, or "".
func (p Profile) Question() string { return p.Guess.Question(p.Columns) }

// ListProfile reads how a list begins, and proposes what to make of it.
func (d *Lists) ListProfile(ctx context.Context, by sms.User, uid string) (sms.List, Profile, error) {
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return l, Profile{}, err
	}
	account, err := d.store.Account(ctx, l.AccountID)
	if err != nil {
		return l, Profile{}, err
	}
	p, ok := d.profiles.find(l)
	if !ok {
		if p, _, err = d.detectFile(ctx, account, l, l.Reading, 0); err != nil {
			return l, Profile{}, err
		}
		d.profiles.keep(l, p)
	}
	return l, Profile{p, sheet.Guess(p.Header, p.Sample, account.Country)}, nil
}

// Encodings are the names of the encodings that a list may have.
func Encodings() []string {
	var names []string
	for _, e := range sheet.Encodings() {
		names = append(names, string(e))
	}
	return names
}

// MatchMarks finds for each mark of a text the column of the same name.
func MatchMarks(marks, columns []string) map[string]int { return sheet.MatchMarks(marks, columns) }
