package storage

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// The provider's answers stand in the log of reports too, written without
// anybody waiting for it. After an older database has come back they say which
// messages in doubt were taken, and under which ids: reports then find them.
// They settle what is in doubt and nothing else (storage/README.md).

const (
	lineAnswer = "answer"
	// maxUnwritten bounds the answers in memory while the log cannot be written.
	maxUnwritten = 4 << 20
	// answersFor is how long answers wait for a message in doubt.
	answersFor = 30 * 24 * time.Hour
)

// loggedAnswer is a line of the log. Its entry is given when it is written.
type loggedAnswer struct {
	Kind     string     `json:"k"`
	Attempt  string     `json:"u"`
	Account  string     `json:"a"`
	Campaign string     `json:"c"`
	At       int64      `json:"t"`
	Taken    [][]string `json:"m"` // the hash of number and text, then the ids
}

// NoteAnswersIn lets answers be logged from now on.
func (db callStore) NoteAnswersIn(l *ReportLog) { db.answers.Store(l) }

// noteAnswer hands the ids that an answer gave to the log.
func (db callStore) noteAnswer(ctx context.Context, a *sms.Attempt, campaign string, s sms.Settlement, now int64) {
	l := db.answers.Load()
	if l == nil || a.Call.Kind == sms.CallGroup {
		return
	}
	hashes := map[int64]person{}
	for i, h := range db.people.ofCall(a.Call) {
		hashes[a.Call.Recipients[i].MessageID] = h
	}
	line := loggedAnswer{Kind: lineAnswer, Attempt: a.UID, Account: l.accountUID(ctx, a.AccountID), Campaign: campaign,
		At: now}
	for _, m := range s.Messages {
		if h, known := hashes[m.MessageID]; known && m.To == sms.Accepted && m.ProviderID != "" {
			line.Taken = append(line.Taken, append([]string{base64.RawURLEncoding.EncodeToString(h[:]), m.ProviderID},
				m.Aliases...))
		}
	}
	if len(line.Taken) > 0 {
		l.note(line)
	}
}

// note lets a line be written with the next reports.
func (l *ReportLog) note(line loggedAnswer) {
	text, _ := json.Marshal(line)
	l.noting.Lock()
	if len(l.notes)+len(text) < maxUnwritten && !l.isAway() {
		l.notes = append(append(l.notes, text...), '\n')
	}
	wake := l.wake
	l.noting.Unlock()
	if wake != nil {
		wake()
	}
}

func (l *ReportLog) hasNotes() bool {
	l.noting.Lock()
	defer l.noting.Unlock()
	return len(l.notes) > 0
}

// takeNotes gives the lines that wait, as records of one entry.
func (l *ReportLog) takeNotes(entry int64) (records []sealedRecord) {
	l.noting.Lock()
	text := l.notes
	l.notes = nil
	l.noting.Unlock()
	var lines []byte
	for line := range bytes.Lines(text) {
		if len(lines)+len(line) > recordBytes {
			records, lines = append(records, sealedRecord{entry, lines}), nil
		}
		lines = append(lines, line...)
	}
	return append(records, sealedRecord{entry, lines})
}

// TakeAnswers keeps the answers behind an entry for messages in doubt. Those of
// requests whose end the database knows are left out.
func (l *ReportLog) TakeAnswers(ctx context.Context, after int64) error {
	uids, err := l.db.accountUIDs(ctx)
	if err != nil {
		return err
	}
	var list []loggedAnswer
	_, err = l.since(after, byEntry, func(_, _ int64, lines []byte) error {
		for line := range bytes.Lines(lines) {
			var row loggedAnswer
			if err := json.Unmarshal(line, &row); err != nil {
				return err
			}
			if row.Kind == lineAnswer {
				list = append(list, row)
			}
		}
		if len(list) < owedPerStmt {
			return nil
		}
		err := l.keepAnswers(ctx, uids, list)
		list = list[:0]
		return err
	})
	if err == nil {
		err = l.keepAnswers(ctx, uids, list)
	}
	if err != nil {
		return fmt.Errorf("read the provider's answers in the log: %w", err)
	}
	return nil
}

func (l *ReportLog) keepAnswers(ctx context.Context, uids map[string]int64, list []loggedAnswer) error {
	if len(list) == 0 {
		return nil
	}
	return l.db.update(ctx, "keep the provider's answers", func(t *tx) error {
		for _, row := range list {
			account := accountOf(uids, row.Account)
			of, err := t.AttemptByUID(ctx, row.Attempt)
			unknown := errors.Is(classify(err), sms.ErrNotFound)
			if err != nil && !unknown {
				return err
			}
			if account == 0 || !unknown && of.State != string(sms.AttemptSending) && of.State != string(sms.AttemptInDoubt) {
				continue
			}
			for _, m := range row.Taken {
				hash, err := base64.RawURLEncoding.DecodeString(m[0])
				if err != nil || len(m) < 2 {
					continue
				}
				if err := t.PutLoggedAnswer(ctx, query.PutLoggedAnswerParams{AccountID: account, CampaignUid: row.Campaign,
					Hash: hash, ProviderID: m[1],
					Aliases: strings.Join(m[2:], "\n"), At: row.At}); err != nil {
					return err
				}
			}
		}
		return t.ForgetLoggedAnswers(ctx, l.now().Add(-answersFor).UnixMilli())
	})
}

// answered settles messages in doubt by answers that the log holds.
func (p *reconcilePass) answered(ctx context.Context, t *tx, done *sms.ApplyResult) (int, error) {
	n, err := t.AnyLoggedAnswer(ctx, p.account)
	if err != nil || n == 0 {
		return 0, err
	}
	rows, err := t.DoubtsAfter(ctx, p.account, p.walked)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		m, uid := message(r.Message), campaignUID(r.Token)
		p.walked = m.ID
		hash := p.people.of(m.Number, m.Text)
		list, err := t.LoggedAnswers(ctx, p.account, uid, hash[:])
		if err != nil {
			return 0, err
		}
		if len(list) != 1 {
			continue // none, or two requests: which of both this one was is not known
		}
		ids := []string{list[0].ProviderID}
		if err := t.leaveDoubt(ctx, m, sms.Accepted, ids[0], "", "", p.now); err != nil {
			return 0, err
		}
		for _, alias := range strings.Fields(list[0].Aliases) {
			if err := t.InsertAlias(ctx, m.AccountID, alias, m.ID); err != nil {
				return 0, err
			}
			ids = append(ids, alias)
		}
		if err := t.DeleteLoggedAnswer(ctx, p.account, uid, hash[:]); err != nil {
			return 0, err
		}
		done.Messages, done.Campaigns = appendNew(done.Messages, m.ID), appendNew(done.Campaigns, m.CampaignID)
		if err := t.applyWaiting(ctx, m.AccountID, ids, p.country, p.now); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}
