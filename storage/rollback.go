package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/series"
	"smsdesk/internal/sms"
	"smsdesk/storage/log"
	"smsdesk/storage/query"
)

// Accept lets smsdesk work with an older state because an administrator says
// so. What the journal knows and this database does not is in doubt afterwards,
// or remembered so that it is left out wherever it comes from again; every
// started campaign is paused. Each step may be repeated: after a crash the same
// question is there. now is in milliseconds; zone is that of the sentences kept.
// The error is sms.ErrConflict where there is no question any more.
func (j *Journal) Accept(ctx context.Context, by string, zone *time.Location, now int64) (done health.Answered,
	err error) {
	unlock, err := j.take()
	if err != nil {
		return done, err
	}
	defer unlock()
	c, err := j.compare(ctx, false)
	if err != nil {
		return done, fmt.Errorf("accept the older state: %w", err)
	}
	if c.question.Relation.MaySend() {
		return done, fmt.Errorf("%w: journal and database agree", sms.ErrConflict)
	}
	a := accepting{journal: j, compared: c, by: by, zone: zone, now: now, doubtful: map[string]int64{}}
	if err := a.run(ctx); err != nil {
		return done, fmt.Errorf("accept the older state: %w", err)
	}
	return a.done, nil
}

// accepting is one Accept on its way.
type accepting struct {
	journal  *Journal
	compared *compared
	by       string
	zone     *time.Location
	now      int64
	unknown  []journalLine
	doubtful map[string]int64 // by campaign
	done     health.Answered
}

func (a *accepting) run(ctx context.Context) error {
	q := a.compared.question
	a.done = health.Answered{Relation: q.Relation, Messages: q.Messages, KnownUntil: q.KnownUntil, CopyAt: q.CopyAt}
	if err := a.readUnknown(ctx); err != nil {
		return err
	}
	if err := a.doubtEarlier(ctx); err != nil {
		return err
	}
	if err := a.remember(ctx); err != nil {
		return err
	}
	if err := a.pauseAll(ctx); err != nil {
		return err
	}
	return a.finish(ctx)
}

// readUnknown gathers the licences that this copy does not know. Of a journal
// of somebody else nothing is believed.
func (a *accepting) readUnknown(ctx context.Context) error {
	relation := a.compared.question.Relation
	if relation == health.RelationCopy {
		relation = a.compared.question.Beneath
	}
	if relation == health.RelationForeign || a.compared.earlier != nil {
		return nil
	}
	l, err := log.Open(a.journal.config())
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	a.unknown, err = a.journal.unknown(ctx, l, l.Segments())
	return err
}

// doubtEarlier puts messages into doubt of which a journal of an earlier
// version names the rows: their numbers and texts are not known to it.
func (a *accepting) doubtEarlier(ctx context.Context) error {
	if a.compared.earlier == nil {
		return nil
	}
	for some := range slices.Chunk(a.compared.earlier.unknown, rememberedPerTx) {
		if err := a.journal.db.update(ctx, "doubt what an earlier journal names", func(t *tx) error {
			var touched []int64
			for _, l := range some {
				for _, id := range l.Messages {
					n, err := t.doubtAfterRollback(ctx, l.Campaign, id, rollbackReason, l.At, a.now)
					if err != nil {
						return err
					}
					if a.done.Doubtful += n; n > 0 {
						touched = appendNew(touched, l.Campaign)
					}
				}
				if err := t.AcceptJournalLine(ctx, l.UID, a.now); err != nil {
					return err
				}
			}
			return t.finishAll(ctx, touched, a.now)
		}); err != nil {
			return err
		}
	}
	return nil
}

// rememberedPerTx is how many lines one transaction remembers.
const rememberedPerTx = 50

// remember keeps who was sent what by requests that this copy does not know.
func (a *accepting) remember(ctx context.Context) error {
	db := a.journal.db
	for some := range slices.Chunk(a.unknown, rememberedPerTx) {
		if err := db.update(ctx, "remember sent messages", func(t *tx) error {
			for _, l := range some {
				for _, h := range readPeople(l.People) {
					if err := t.Remember(ctx, query.RememberParams{Hash: h[:], CampaignUid: l.Campaign, AccountUid: l.Account,
						Test:       l.Test == 1,
						LicensedAt: l.At, AcceptedAt: a.now}); err != nil {
						return err
					}
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// pauseAll pauses every started campaign that has something unsent, and what of
// it the journal names comes into doubt.
func (a *accepting) pauseAll(ctx context.Context) error {
	rows, err := a.journal.db.read().PausableCampaigns(ctx)
	if err != nil {
		return fmt.Errorf("list campaigns: %w", err)
	}
	for _, r := range rows {
		c := campaign(r.Campaign, r.Test)
		if c.Started() {
			if err := a.doubt(ctx, c, campaignUID(r.Campaign.Token)); err != nil {
				return err
			}
		}
		if err := a.pause(ctx, c.ID); err != nil {
			return err
		}
	}
	return a.pauseSeries(ctx)
}

// pauseSeries pauses what would make campaigns by itself: a series may have been
// stopped, or its runs moved, since this state.
func (a *accepting) pauseSeries(ctx context.Context) error {
	return a.journal.db.update(ctx, "pause series", func(t *tx) error {
		if err := t.AskOpenRuns(ctx, series.OlderState, a.now); err != nil {
			return err
		}
		return t.PauseActiveSeries(ctx, series.OlderState, a.now)
	})
}

func (a *accepting) pause(ctx context.Context, id int64) error {
	paused := false
	err := a.journal.db.update(ctx, "pause a campaign", func(t *tx) error {
		row, err := t.CampaignByID(ctx, id)
		if err != nil {
			return err
		}
		// A witness, or an answer that was cut off, may have paused it before.
		if paused = campaign(row.Campaign, row.Test).PausedForCopy(); paused {
			return nil
		}
		paused, err = t.pauseForCopy(ctx, row.Campaign, row.Test, a.compared.question.Sentence(a.zone), a.now)
		return err
	})
	if err == nil && paused {
		a.done.Campaigns++
	}
	return err
}

// pauseForCopy pauses a campaign that could send, until a person continues it.
func (t *tx) pauseForCopy(ctx context.Context, row query.Campaign, test bool, sentence string,
	now int64) (paused bool, err error) {
	c := campaign(row, test)
	if !c.PauseForCopy(sentence) {
		return false, nil
	}
	return true, t.putCampaign(ctx, &c, now)
}

// doubt walks through a campaign's unsent messages for those that the journal
// names.
func (a *accepting) doubt(ctx context.Context, c sms.Campaign, uid string) error {
	named := map[person]int64{}
	for _, l := range a.unknown {
		if l.Campaign == uid {
			for _, h := range readPeople(l.People) {
				named[h] = l.At
			}
		}
	}
	if len(named) == 0 {
		return nil
	}
	db := a.journal.db
	after := int64(0)
	for {
		rows, err := db.read().UnsentOf(ctx, c.ID, after, sweptPerTx)
		if err != nil {
			return fmt.Errorf("list unsent messages: %w", err)
		}
		found := map[int64]int64{}
		for _, m := range rows {
			after = m.ID
			h := db.people.of(m.Number, m.Text)
			if c.GroupID != "" {
				h = db.people.ofGroup(c.GroupID, m.Text)
			}
			if at, ok := named[h]; ok {
				found[m.ID] = at
			}
		}
		if err := a.doubtThese(ctx, c.ID, uid, found); err != nil || len(rows) < sweptPerTx {
			return err
		}
	}
}

func (a *accepting) doubtThese(ctx context.Context, campaign int64, uid string, found map[int64]int64) error {
	if len(found) == 0 {
		return nil
	}
	doubtful := int64(0)
	err := a.journal.db.update(ctx, "doubt messages of an older state", func(t *tx) error {
		for id, at := range found {
			n, err := t.doubtAfterRollback(ctx, campaign, id, rollbackReason, at, a.now)
			if err != nil {
				return err
			}
			doubtful += n
		}
		return t.finishAll(ctx, []int64{campaign}, a.now)
	})
	a.doubtful[uid] += doubtful
	a.done.Doubtful += doubtful
	return err
}

// finish writes the accept's line to the journal and then, in one transaction,
// makes it the database's head.
func (a *accepting) finish(ctx context.Context) error {
	j, q := a.journal, a.compared.question
	line := journalLine{Kind: lineAccept, At: a.now, From: &journalPlace{a.compared.head.Seq, a.compared.head.Sum},
		Relation: string(q.Relation), By: a.by}
	if a.compared.earlier != nil {
		// What this database has licensed becomes the new journal.
		if err := a.close(ctx, nil); err != nil {
			return err
		}
		return j.upgrade(ctx, a.compared.earlier.path, a.now)
	}
	place, err := a.append(line)
	if err != nil {
		return err
	}
	if err := a.close(ctx, place); err != nil {
		return err
	}
	return j.db.refreshRemembered(ctx)
}

// append brings the accept's line behind everything that can be read. What is
// damaged stays where it is and a new segment begins; a journal of somebody
// else is set aside whole.
func (a *accepting) append(line journalLine) (*journalPlace, error) {
	j, c := a.journal, a.compared
	foreign := c.question.Relation == health.RelationForeign || c.question.Beneath == health.RelationForeign
	if foreign {
		if err := j.setAside(a.now); err != nil {
			return nil, err
		}
		c.last, c.segments = entry{}, nil
	}
	line.N, line.Prev = max(c.last.line.N, c.head.Seq)+1, c.last.sum
	if line.Prev == "" {
		line.Prev = noSum
	}
	text, sum, err := writeLine(line)
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	j.synced, j.sum = line.N-1, line.Prev
	j.mu.Unlock()
	l, err := log.Open(j.config())
	if err != nil {
		return nil, err
	}
	if c.tail > 0 || c.question.Unreadable > 0 {
		err = l.Roll()
	}
	if err == nil {
		err = l.Append(text)
	}
	return &journalPlace{line.N, sum}, errors.Join(err, l.Close())
}

// spill renames the folder of a journal that is not this desk's.
func (j *Journal) setAside(now int64) error {
	aside := fmt.Sprintf("%s.aside-%d", j.folder, now)
	if err := os.Rename(j.folder, aside); err != nil {
		return fmt.Errorf("set the journal aside: %w", err)
	}
	return j.cfg.FS.MakeFolder(j.folder)
}

// close ends the question in one transaction.
func (a *accepting) close(ctx context.Context, place *journalPlace) error {
	j, q := a.journal, a.compared.question
	err := j.db.update(ctx, "accept the older state", func(t *tx) error {
		for _, l := range a.unknown {
			if err := t.AcceptJournalLine(ctx, l.Attempt, a.now); err != nil {
				return err
			}
		}
		for _, r := range q.Campaigns {
			if r.UID == "" {
				continue
			}
			if err := t.RememberCampaign(ctx, query.RememberCampaignParams{Uid: r.UID, Name: r.Name,
				StartedName: r.StartedName, FirstAt: r.FirstAt, LastAt: r.LastAt,
				Messages: r.Messages, Doubtful: a.doubtful[r.UID]}); err != nil {
				return err
			}
		}
		if place != nil {
			head, err := t.JournalHead(ctx, j.db.node)
			if err = orNone(err); err != nil {
				return err
			}
			if err := t.DropJournalLines(ctx, j.db.node, place.N); err != nil {
				return err
			}
			if err := t.PutJournalHead(ctx, query.PutJournalHeadParams{Node: j.db.node, Generation: head.Generation,
				Seq: place.N, Sum: place.Sum, At: a.now}); err != nil {
				return err
			}
		}
		if err := t.takeAllPlaces(ctx, a.now); err != nil {
			return err
		}
		// A fall of the balance since then is what was answered just now.
		if err := t.ForgetWitnessed(ctx); err != nil {
			return err
		}
		for _, name := range []string{health.SettingCopy, health.SettingQuestion} {
			if _, err := t.DeleteSetting(ctx, name); err != nil {
				return err
			}
		}
		_, err := t.InsertJournalGap(ctx, query.InsertJournalGapParams{Relation: string(q.Relation),
			Sentence: q.Sentence(a.zone), CopyAt: q.CopyAt, KnownUntil: q.KnownUntil,
			Messages: q.Messages, Doubtful: a.done.Doubtful, Campaigns: a.done.Campaigns, AcceptedAt: a.now, AcceptedBy: a.by,
			ClosesAt: a.now + health.GapOpen.Milliseconds()})
		return err
	})
	return err
}

// JournalGaps lists accepted questions, the newest first.
func (db *core) JournalGaps(ctx context.Context, limit int) ([]health.JournalGap, error) {
	rows, err := db.read().JournalGaps(ctx, int32(limit))
	if err != nil {
		return nil, fmt.Errorf("list accepted older states: %w", err)
	}
	list := make([]health.JournalGap, len(rows))
	for i, r := range rows {
		list[i] = health.JournalGap{ID: r.ID, Relation: health.Relation(r.Relation), Sentence: r.Sentence, CopyAt: r.CopyAt,
			KnownUntil: r.KnownUntil, Messages: r.Messages,
			Doubtful: r.Doubtful, Campaigns: r.Campaigns, AcceptedAt: r.AcceptedAt, AcceptedBy: r.AcceptedBy,
			ClosesAt: r.ClosesAt, ClosedBy: r.ClosedBy}
	}
	return list, nil
}

// OpenGap is the newest gap that still has to be told; its ID is 0 where there
// is none.
func (db *core) OpenGap(ctx context.Context, now int64) (health.JournalGap, error) {
	list, err := db.JournalGaps(ctx, 1)
	if err != nil || len(list) == 0 || !list[0].Open(time.UnixMilli(now)) {
		return health.JournalGap{}, err
	}
	return list[0], nil
}

// CloseGap ends a gap because somebody knows that nothing was sent; false where
// it is not open.
func (db *core) CloseGap(ctx context.Context, id int64, by string, now int64) (closed bool, err error) {
	err = db.update(ctx, "close the gap", func(t *tx) error {
		n, err := t.CloseJournalGap(ctx, id, now, by)
		closed = n == 1
		return err
	})
	return closed && err == nil, err
}

// Question reads the question that is open, nil where there is none.
func (db *core) Question(ctx context.Context) (*health.Question, error) {
	raw, err := db.ReadSetting(ctx, health.SettingQuestion)
	if err != nil || raw == "" {
		return nil, err
	}
	var q health.Question
	if err := json.Unmarshal([]byte(raw), &q); err != nil {
		return nil, fmt.Errorf("read the open question: %w", err)
	}
	return &q, nil
}

// PutQuestion stores the question for the pages; nil: there is none.
func (db *core) PutQuestion(ctx context.Context, q *health.Question) error {
	raw := []byte{}
	if q != nil {
		var err error
		if raw, err = json.Marshal(q); err != nil {
			return fmt.Errorf("write the open question: %w", err)
		}
	}
	return db.PutSetting(ctx, health.SettingQuestion, string(raw))
}

// doubtAfterRollback walks an unsent message of a campaign through the legal
// states into doubt, in an attempt that says where the doubt comes from. at is
// when its request was licensed. It returns 1 where the message was unsent.
func (t *tx) doubtAfterRollback(ctx context.Context, campaignID, id int64, reason string, at, now int64) (int64,
	error) {
	row, err := t.MessageByID(ctx, id)
	if errors.Is(classify(err), sms.ErrNotFound) || err == nil && (row.CampaignID != campaignID ||
		!sms.State(row.State).Unsent()) {
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
		// The copy knows the campaign as a draft only: what was sent of it is
		// remembered, and left out when it is started again.
		return 0, nil
	case m.State == sms.Draft:
		if n, err := t.QueueDraft(ctx, id, now); err != nil || n != 1 {
			return 0, conflictIfNil(err)
		}
	case m.State == sms.Claimed:
		if err := t.release(ctx, m.AttemptID, now); err != nil {
			return 0, err
		}
		shown = of.Shows(sms.Queued)
	}
	a := sms.Attempt{UID: randomHex(16), AccountID: m.AccountID, CampaignID: m.CampaignID, State: sms.AttemptSending}
	a.ID, err = t.InsertAttempt(ctx, query.InsertAttemptParams{Uid: a.UID, AccountID: m.AccountID,
		CampaignID: m.CampaignID, Kind: string(sms.CallText), Recipients: 1, PreparedAt: at})
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
	if n, err := t.LicenseLost(ctx, a.ID, at); err != nil || n != 1 {
		return 0, conflictIfNil(err)
	}
	if _, err := t.LicenseMessages(ctx, a.ID, at); err != nil {
		return 0, err
	}
	t.moveTally(m.CampaignID, sms.StandingKey(shown, "", false), "sending", 1)
	if _, err := t.endAttempt(ctx, &a, sms.Settlement{State: sms.AttemptInDoubt}, sms.Outcome{Class: sms.ClassCrash,
		Reason: reason}, now); err != nil {
		return 0, err
	}
	return 1, t.settleMessages(ctx, of, &a, []sms.Settled{{MessageID: id, To: sms.InDoubt, Reason: reason}}, sms.Sending,
		sms.ClassCrash, now)
}

const rollbackReason = "An older copy of the database was put back after this message had been handed to the provider."

// release ends the claim that the copy was made in the middle of.
func (t *tx) release(ctx context.Context, attemptID, now int64) error {
	row, err := t.AttemptByID(ctx, attemptID)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("attempt %d: %w", attemptID, errUnexpected)
	}
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
