package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// Journal takes the answers to what the journal asks when an older state came
// back, and says what that state forgot.
type Journal struct {
	work
	store  JournalStore
	signin *loginLimiter
	sent   sentCounts
}

// JournalStore is what those orders need to be remembered.
type JournalStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	CloseGap(ctx context.Context, id int64, by string, now int64) (closed bool, err error)
	DeleteRemembered(ctx context.Context, from, before int64) (int64, error)
	IncludeSent(ctx context.Context, campaign int64) error
	JournalGaps(ctx context.Context, limit int) ([]health.JournalGap, error)
	PutSetting(ctx context.Context, name, value string) error
	Question(ctx context.Context) (*health.Question, error)
	RememberedIn(ctx context.Context, c sms.Campaign) (list []health.RememberedSend, parts int64, err error)
	ReadSetting(ctx context.Context, name string) (string, error)
	Tally(ctx context.Context, id int64) (sms.Tally, error)
	UserByEmail(ctx context.Context, email string) (sms.User, string, error)
}

// AcceptOlderState answers the open question about an older state: smsdesk is
// to work with it. relation is that of the question as it was shown. The
// dispatcher carries the answer out; until then Setting health.SettingAnswering
// says health.AnswerDoing. The error is sms.ErrConflict where another question, or
// none, is open. The field of its Invalid is current, for the password.
func (d *Journal) AcceptOlderState(ctx context.Context, by sms.User, password string, relation health.Relation,
	ip string) error {
	if err := by.May(sms.Administrator, "accept the older state"); err != nil {
		return err
	}
	q, err := d.store.Question(ctx)
	if err != nil {
		return err
	}
	if q == nil || q.Relation != relation {
		return fmt.Errorf("accept the older state: %w", sms.ErrConflict)
	}
	if err := d.checkCurrent(ctx, by, password, ip); err != nil {
		return err
	}
	answer, err := json.Marshal(health.Answer{By: by.Name, Relation: relation})
	if err != nil {
		return fmt.Errorf("accept the older state: %w", err)
	}
	if err := d.store.PutSetting(ctx, health.SettingAnswering, health.AnswerDoing); err != nil {
		return err
	}
	if err := d.store.PutSetting(ctx, health.SettingAnswer, string(answer)); err != nil {
		return err
	}
	d.audit(ctx, by, "journal.answer", string(relation), q.Sentence(time.UTC))
	d.feed.Publish(feed.Journal)
	return nil
}

// checkCurrent asks for the person's own password once more. Wrong ones count
// as sign-ins that failed. The field of its Invalid is current.
func (d *Journal) checkCurrent(ctx context.Context, by sms.User, password, ip string) error {
	if password == "" {
		return sms.Invalid{"current": "Enter your password"}
	}
	left, ok := d.signin.reserve(by.Email, ip)
	if !ok {
		return sms.Invalid{"current": tooManyTries}
	}
	u, hash, err := d.store.UserByEmail(ctx, by.Email)
	if err != nil {
		return err
	}
	if ok, err = d.signin.hashing.matches(ctx, password, hash); err != nil {
		return err
	}
	if !ok {
		d.audit(ctx, u, "password.fail", userName(u.ID), "")
		return sms.Invalid{"current": wrongCurrent(left)}
	}
	d.signin.reset(by.Email)
	return nil
}

// CloseGap ends the warnings about an accepted older state because somebody
// knows that nothing was sent that the journal does not know. The error is
// sms.ErrConflict where that gap is not open.
func (d *Journal) CloseGap(ctx context.Context, by sms.User, id int64) error {
	if err := by.May(sms.Administrator, "close the gap"); err != nil {
		return err
	}
	closed, err := d.store.CloseGap(ctx, id, by.Name, d.ms())
	if err == nil && !closed {
		err = fmt.Errorf("close the gap: %w", sms.ErrConflict)
	}
	if err != nil {
		return err
	}
	d.audit(ctx, by, "journal.close", "gap:"+strconv.FormatInt(id, 10),
		"smsdesk sent nothing that the journal does not know")
	d.feed.Publish(feed.Journal)
	return nil
}

// DeleteRemembered removes what is remembered of requests made in [from,
// before), ms UTC: their recipients may be sent the same text again. It returns
// how many messages that were.
func (d *Journal) DeleteRemembered(ctx context.Context, by sms.User, from, before int64) (int64, error) {
	if err := by.May(sms.Administrator, "forget what was remembered"); err != nil {
		return 0, err
	}
	if from <= 0 || before <= from {
		return 0, fmt.Errorf("forget what was remembered: %w", sms.ErrNotFound)
	}
	n, err := d.store.DeleteRemembered(ctx, from, before)
	if err != nil {
		return n, err
	}
	d.sent.clear()
	day := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
	d.audit(ctx, by, "journal.forget", feed.Journal, fmt.Sprintf("%d messages of %s to %s", n, day(from), day(before)))
	d.feed.Publish(feed.Journal)
	return n, nil
}

// IncludeSent lets a draft go to recipients too who are remembered as having
// got its text. The error is sms.ErrConflict where it is not a draft any more.
func (d *Journal) IncludeSent(ctx context.Context, by sms.User, id int64) (sms.Campaign, error) {
	if err := by.May(sms.Sender, "send to remembered recipients"); err != nil {
		return sms.Campaign{}, err
	}
	c, err := d.store.Campaign(ctx, id)
	if err != nil || c.IncludeSent {
		return c, err
	}
	if !c.MayStart() {
		return c, fmt.Errorf("include remembered recipients of campaign %d: %w", id, sms.ErrConflict)
	}
	list, _, err := d.remembered(ctx, c)
	if err != nil {
		return c, err
	}
	if err := d.store.IncludeSent(ctx, id); err != nil {
		return c, err
	}
	d.audit(ctx, by, "campaign.include_sent", feed.Campaign(id), fmt.Sprintf("%d messages", health.SumSends(list)))
	d.feed.Publish(feed.Campaign(id))
	return d.store.Campaign(ctx, id)
}

// RepeatWarning is what has to be said before anything of a campaign is sent,
// "" where nothing has to: an older state came back, and somebody may have got
// the same from what is not known here.
func (d *Journal) RepeatWarning(ctx context.Context, c sms.Campaign) (string, error) {
	g, err := d.gapOf(ctx, c)
	if err != nil || !g.found {
		return "", err
	}
	return d.repeatSentence(ctx, c, g.JournalGap)
}

// RepeatWarningForProgram is what a program is told before it makes a campaign
// that it wants to be sent, "" where nothing has to be, or mayRepeat answers it.
func (d *Journal) RepeatWarningForProgram(ctx context.Context, by sms.User, a sms.Account, mayRepeat bool,
	token int64) (string, error) {
	c := sms.Campaign{AccountID: a.ID, CreatedAt: d.ms()}
	return d.repeatProblem(ctx, by, c, mayRepeat, token)
}

// gap is one about which something has to be said.
type gap struct {
	health.JournalGap
	found bool
}

// gapsLooked is how many accepted questions are looked at.
const gapsLooked = 50

// gapOf finds the gap that a campaign must not silently run into: a question
// that is open, an accepted one whose time is not over, or one that was accepted
// after the campaign was made, which may then have run already.
func (d *Journal) gapOf(ctx context.Context, c sms.Campaign) (gap, error) {
	if c.TestOf > 0 {
		return gap{}, nil
	}
	// In this order: accepting ends the question and leaves the gap in one step.
	q, err := d.store.Question(ctx)
	if err != nil {
		return gap{}, err
	}
	if q != nil {
		return gap{health.JournalGap{Relation: q.Relation, CopyAt: q.CopyAt, KnownUntil: q.KnownUntil, AcceptedAt: d.ms()},
			true}, nil
	}
	list, err := d.store.JournalGaps(ctx, gapsLooked)
	if err != nil {
		return gap{}, err
	}
	for _, g := range list {
		if g.ClosedBy == "" && (g.Open(d.now()) || g.AcceptedAt >= c.CreatedAt || c.PauseCode == sms.PauseCopy) {
			return gap{g, true}, nil
		}
	}
	return gap{}, nil
}

func (d *Journal) repeatSentence(ctx context.Context, c sms.Campaign, g health.JournalGap) (string, error) {
	account, err := d.store.Account(ctx, c.AccountID)
	if err != nil {
		return "", err
	}
	if c.GroupID != "" {
		return g.GroupWarning(c.GroupName, account.Location()), nil
	}
	if c.ID == 0 {
		return g.AnyWarning(account.Location()), nil
	}
	tally, err := d.store.Tally(ctx, c.ID)
	return g.Warning(tally["draft"]+tally["queued"]+tally["claimed"], account.Location()), err
}

// repeatProblem is what every way to sending asks: "" where nothing has to be
// said, or where it was said and the answer is to send all the same. A program
// is told once a token of campaigns that were made since.
func (d *Journal) repeatProblem(ctx context.Context, by sms.User, c sms.Campaign, said bool,
	token int64) (string, error) {
	g, err := d.gapOf(ctx, c)
	if err != nil || !g.found {
		return "", err
	}
	sentence, err := d.repeatSentence(ctx, c, g.JournalGap)
	if err != nil {
		return "", err
	}
	if said {
		object := feed.Campaign(c.ID)
		if c.ID == 0 {
			object = "token:" + strconv.FormatInt(token, 10)
		}
		d.audit(ctx, by, "campaign.may_repeat", object, sentence)
		return "", d.tokenTold(ctx, token, g.ID)
	}
	if since := c.CreatedAt > g.AcceptedAt && c.PauseCode != sms.PauseCopy; token > 0 && g.ID > 0 && since {
		told, err := d.store.ReadSetting(ctx, toldSetting(token))
		if err != nil || told == strconv.FormatInt(g.ID, 10) {
			return "", err
		}
	}
	return sentence, nil
}

func toldSetting(token int64) string { return "journal.told." + strconv.FormatInt(token, 10) }

// tokenTold notes that a program knows of a gap.
func (d *Journal) tokenTold(ctx context.Context, token, gap int64) error {
	if token == 0 || gap == 0 {
		return nil
	}
	return d.store.PutSetting(ctx, toldSetting(token), strconv.FormatInt(gap, 10))
}

// remembered counts the messages of a campaign that are left out because they
// were sent by requests that this copy of the database does not know.
func (d *Journal) remembered(ctx context.Context,
	c sms.Campaign) (list []health.RememberedSend, parts int64, err error) {
	if c.IncludeSent {
		return nil, 0, nil
	}
	gaps, err := d.store.JournalGaps(ctx, 1)
	if err != nil || len(gaps) == 0 {
		return nil, 0, err
	}
	newest := gaps[0].ID
	if known, ok := d.sent.get(c.ID, newest); ok {
		return known.list, known.parts, nil
	}
	list, parts, err = d.store.RememberedIn(ctx, c)
	if err == nil && c.MayStart() {
		d.sent.put(c.ID, sentCount{gap: newest, list: list, parts: parts})
	}
	return list, parts, err
}

// sentCount is what remembered found for a draft.
type sentCount struct {
	gap   int64 // the newest one then
	list  []health.RememberedSend
	parts int64
}

// sentCounts keeps what was counted of drafts, whose messages do not change:
// to count a long list takes seconds.
type sentCounts struct {
	mu sync.Mutex
	by map[int64]sentCount
}

// maxSentCounts is how many drafts are kept.
const maxSentCounts = 200

func (s *sentCounts) get(campaign, gap int64) (sentCount, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.by[campaign]
	return known, ok && known.gap == gap
}

func (s *sentCounts) put(campaign int64, c sentCount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil || len(s.by) >= maxSentCounts {
		s.by = map[int64]sentCount{}
	}
	s.by[campaign] = c
}

func (s *sentCounts) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by = nil
}
