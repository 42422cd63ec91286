package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Journal is the dispatch journal: an append-only file beside the database
// with one line a licence, synced before the first byte of the call. A
// database that lacks what the journal holds was rolled back (reliability.md,
// section 5).
type Journal struct {
	mu   sync.Mutex
	file *os.File
	torn bool // the last write failed and may have left half a line
}

// OpenJournal opens the journal of a data folder for appending. A last line
// that a crash cut off is ended, so that the next one stands alone.
func OpenJournal(data string) (*Journal, error) {
	path := filepath.Join(data, "dispatch.journal")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the dispatch journal: %w", err)
	}
	end, err := f.Seek(0, io.SeekEnd)
	last := []byte{'\n'}
	if err == nil && end > 0 {
		_, err = f.ReadAt(last, end-1)
	}
	if err == nil && last[0] != '\n' {
		_, err = f.Write([]byte{'\n'})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the dispatch journal: %w", err), f.Close())
	}
	return &Journal{file: f}, nil
}

// Append writes one licence and syncs it to disk.
func (j *Journal) Append(a *sms.Attempt) error {
	line, err := json.Marshal(sms.Licence{UID: a.UID, Account: a.AccountID, Campaign: a.CampaignID, Epoch: a.Epoch, At: a.LicensedAt, Messages: a.Messages})
	if err != nil {
		return fmt.Errorf("write the dispatch journal: %w", err)
	}
	line = append(line, '\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.torn {
		line = append([]byte{'\n'}, line...)
	}
	_, err = j.file.Write(line)
	if j.torn = err != nil; err != nil {
		return fmt.Errorf("write the dispatch journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("sync the dispatch journal: %w", err)
	}
	return nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// journalBlock is how much of the journal is read at once, from its end.
const journalBlock = 1 << 20

// Ahead lists the licences in the journal that the database does not know of,
// oldest first. They stand at the end: reading goes backwards in blocks until
// a block holds nothing unknown, so a long journal costs nothing at a start.
func (j *Journal) Ahead(ctx context.Context, db *DB) ([]sms.Licence, error) {
	end, err := j.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("read the dispatch journal: %w", err)
	}
	var ahead []sms.Licence
	for end > 0 {
		var lines []sms.Licence
		if lines, end, err = j.linesBefore(end); err != nil {
			return nil, err
		}
		var unknown []sms.Licence
		for _, l := range lines {
			known, err := db.knowsLicence(ctx, l.UID)
			if err != nil {
				return nil, err
			}
			if !known {
				unknown = append(unknown, l)
			}
		}
		if len(unknown) == 0 {
			break
		}
		ahead = append(unknown, ahead...)
	}
	return ahead, nil
}

// linesBefore reads the whole lines of the block that ends at end, and says
// where the block before it ends. A line that a crash cut off is passed over:
// no byte of its call had left.
func (j *Journal) linesBefore(end int64) (lines []sms.Licence, start int64, err error) {
	for size := int64(journalBlock); ; size *= 2 {
		start = max(0, end-size)
		block := make([]byte, end-start)
		if _, err := j.file.ReadAt(block, start); err != nil {
			return nil, 0, fmt.Errorf("read the dispatch journal: %w", err)
		}
		if start > 0 {
			cut := bytes.IndexByte(block, '\n') + 1
			if cut == 0 || cut == len(block) {
				continue
			}
			block, start = block[cut:], start+int64(cut)
		}
		for _, text := range bytes.Split(block, []byte{'\n'}) {
			var l sms.Licence
			if json.Unmarshal(text, &l) == nil && l.UID != "" {
				lines = append(lines, l)
			}
		}
		return lines, start, nil
	}
}

func (db *DB) knowsLicence(ctx context.Context, uid string) (bool, error) {
	a, err := db.read().AttemptByUID(ctx, uid)
	if err == nil && a.LicensedAt > 0 {
		return true, nil
	}
	if err != nil && !errors.Is(classify(err), sms.ErrNotFound) {
		return false, fmt.Errorf("look up a licence: %w", err)
	}
	n, err := db.read().JournalLineAccepted(ctx, uid)
	if err != nil {
		return false, fmt.Errorf("look up a licence: %w", err)
	}
	return n > 0, nil
}

// AcceptRollback makes the messages of those licences in doubt: they were
// sent, perhaps, by a database that was since replaced by an older copy. It
// returns how many messages came into doubt.
func (db *DB) AcceptRollback(ctx context.Context, lines []sms.Licence, now int64) (doubtful int64, err error) {
	err = db.update(ctx, "accept the rollback", func(t *tx) error {
		doubtful = 0
		var touched []int64
		for _, l := range lines {
			for _, id := range l.Messages {
				n, err := t.doubtAfterRollback(ctx, l, id, now)
				if err != nil {
					return err
				}
				if doubtful += n; n > 0 {
					touched = appendNew(touched, l.Campaign)
				}
			}
			if err := t.AcceptJournalLine(ctx, l.UID, now); err != nil {
				return err
			}
		}
		return t.finishAll(ctx, touched, now)
	})
	return doubtful, err
}

// doubtAfterRollback walks an unsent message through the legal states into
// doubt, in an attempt that says where the doubt comes from. Ids are given
// again after a rollback: a message made after the licence is another one.
func (t *tx) doubtAfterRollback(ctx context.Context, l sms.Licence, id, now int64) (int64, error) {
	row, err := t.MessageByID(ctx, id)
	if errors.Is(classify(err), sms.ErrNotFound) || err == nil && (row.CampaignID != l.Campaign || row.CreatedAt > l.At || !sms.State(row.State).Unsent()) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	of, err := t.campaign(ctx, row.CampaignID)
	if err != nil {
		return 0, err
	}
	m := message(row)
	shown := of.Shows(m.State)
	switch {
	case shown == sms.Draft:
		return 0, t.cancelAfterRollback(ctx, m, now)
	case m.State == sms.Draft:
		if n, err := t.QueueDraft(ctx, id, now); err != nil || n != 1 {
			return 0, orUnexpected(err)
		}
	case m.State == sms.Claimed:
		if err := t.release(ctx, m.AttemptID, now); err != nil {
			return 0, err
		}
		shown = of.Shows(sms.Queued)
	}
	a := sms.Attempt{UID: randomHex(16), AccountID: m.AccountID, CampaignID: m.CampaignID, State: sms.AttemptSending}
	a.ID, err = t.InsertAttempt(ctx, query.InsertAttemptParams{Uid: a.UID, AccountID: m.AccountID, CampaignID: m.CampaignID, Epoch: l.Epoch, Kind: string(sms.CallText), Recipients: 1, PreparedAt: l.At})
	if err != nil {
		return 0, err
	}
	if err := t.InsertAttemptMessage(ctx, a.ID, id); err != nil {
		return 0, err
	}
	if err := t.DoubtInFlight(ctx, id); err != nil {
		return 0, err
	}
	if _, err := t.ClaimMessages(ctx, a.ID, now); err != nil {
		return 0, err
	}
	if n, err := t.LicenseLost(ctx, a.ID, l.At); err != nil || n != 1 {
		return 0, orUnexpected(err)
	}
	if _, err := t.LicenseMessages(ctx, a.ID, l.At); err != nil {
		return 0, err
	}
	t.moved(m.CampaignID, sms.StandingKey(shown, "", false), "sending", 1)
	if _, err := t.endAttempt(ctx, &a, sms.Settlement{State: sms.AttemptInDoubt}, sms.Outcome{Class: sms.ClassCrash, Reason: rollbackReason}, now); err != nil {
		return 0, err
	}
	return 1, t.settleMessages(ctx, of, &a, []sms.Settled{{MessageID: id, To: sms.InDoubt, Reason: rollbackReason}}, sms.Sending, sms.ClassCrash, now)
}

const rollbackReason = "An older copy of the database was put back after this message had been handed to the provider."

// release ends the claim that the copy was made in the middle of.
func (t *tx) release(ctx context.Context, attemptID, now int64) error {
	row, err := t.AttemptByID(ctx, attemptID)
	if err != nil {
		return err
	}
	a := attempt(row)
	if a.State != sms.AttemptPrepared {
		return fmt.Errorf("attempt %d: %w", a.ID, errUnexpected)
	}
	_, err = t.recover(ctx, &a, now)
	return err
}

// cancelAfterRollback: the copy knows the campaign only as a draft, but it was
// started and sent from. Starting it again would send twice.
func (t *tx) cancelAfterRollback(ctx context.Context, m sms.Message, now int64) error {
	n, err := t.SettleMessage(ctx, query.SettleMessageParams{ID: m.ID, State: string(sms.Cancelled), Reason: rollbackReason, ChangedAt: now, State_2: string(sms.Draft)})
	if err != nil || n != 1 {
		return orUnexpected(err)
	}
	t.moved(m.CampaignID, "draft", "stopped", 1)
	return nil
}
