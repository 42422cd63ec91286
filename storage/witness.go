package storage

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// What a snapshot of the whole folder hides nobody inside can know: database and
// journal agree (storage/README.md). Two witnesses outside may tell. The balance
// is lower than what was sent from here explains, or a report comes for a
// message that was never sent from here.
//
// They miss much, and are no more than what they see. The balance misses what
// somebody topped up in between, as much as requests may have cost that were not
// charged, accounts that others use, and a balance or price that cannot be read.
// A report comes in time or it does not.

// witnessing looks at one reading of an account's balances.
type witnessing struct {
	*tx
	db      *core
	account int64
	head    int64 // of the journal
	start   int64 // of this process in the journal
	sends   bool  // it has started its journal
	paid    string
}

func (t *tx) witness(ctx context.Context, db *core, account int64, list []sms.Balance) (*witnessing, error) {
	w := &witnessing{tx: t, db: db, account: account}
	if b := sms.ForMessages(list); b != nil {
		w.paid = b.PluginType
	}
	j := db.journal.Load()
	if j == nil {
		return w, nil
	}
	head, err := t.JournalHead(ctx, db.node)
	w.sends, w.head, w.start = true, head.Seq, j.begins
	return w, orNone(err)
}

// look places a reading beside the journal. The first one after a start is
// compared with the last one before it. A process that has not started its
// journal must not hide that one, so what it reads has no place.
func (w *witnessing) look(ctx context.Context, now sms.Balance) (seen sighting, err error) {
	seen = sighting{tx: w.tx, seq: -1}
	if !w.sends {
		return seen, nil
	}
	seen.seq = w.head
	before, err := w.WitnessedBalance(ctx, w.account, now.PluginType)
	if errors.Is(classify(err), sms.ErrNotFound) {
		return seen, nil
	}
	if err != nil {
		return seen, fmt.Errorf("find the reading before the start: %w", err)
	}
	seen.before = before.Seq
	if before.Seq >= w.start || now.PluginType != w.paid {
		return seen, nil
	}
	unspent, err := w.unspent(ctx, before, now)
	if err != nil || unspent == nil {
		return seen, err
	}
	seen.asked = true
	return seen, w.ask(ctx, before, now, unspent)
}

// sighting is a reading in its place.
type sighting struct {
	*tx
	seq, before int64
	asked       bool
}

func (s sighting) touch(ctx context.Context, known query.Balance, now int64) error {
	if s.seq < 0 {
		return s.TouchBalance(ctx, known.ID, now)
	}
	return s.TouchBalanceAt(ctx, query.TouchBalanceAtParams{ID: known.ID, ReadAt: now, Seq: s.seq, SeqBefore: s.before})
}

// unspent is what of a fall of the balance no request explains that this
// database knows; nil where there is nothing, or where that cannot be known.
// What was licensed behind the last reading but one counts whole, and so does
// what was licensed up to a quarter of an hour before the last one: it may have
// been charged late. Requests in doubt count as charged.
func (w *witnessing) unspent(ctx context.Context, before query.Balance, now sms.Balance) (*big.Rat, error) {
	fall, ok := sms.Fall(balance(before), now)
	if !ok || fall.Sign() <= 0 {
		return nil, nil
	}
	settings, err := accountTx{w.tx}.recordSettings(ctx, w.account)
	if err != nil || settings.OthersSend {
		return nil, err
	}
	accounts, err := w.sharing(ctx)
	if err != nil {
		return nil, err
	}
	parts, known := map[string]int64{}, true
	since := before.ReadAt - chargeLag.Milliseconds()
	for _, id := range accounts {
		if known, err = w.charged(ctx, id, since, now.ReadAt, before.SeqBefore, parts); err != nil || !known {
			return nil, err
		}
	}
	most, known, err := w.most(ctx, parts, now.ReadAt)
	if err != nil || !known {
		return nil, err
	}
	if fall.Sub(fall, most); fall.Sign() <= 0 {
		return nil, nil
	}
	return fall, nil
}

// charged adds the parts of an account's requests that may have been charged
// since a time, or that stand in the journal behind a line. It is not known what
// a group has, nor when messages are charged that the provider keeps.
func (w *witnessing) charged(ctx context.Context, account, since, until, behind int64,
	parts map[string]int64) (known bool, err error) {
	kept, err := w.HandedOverBetween(ctx, account, since, until)
	if err != nil || kept > 0 {
		return false, wrapErr(err, "look for campaigns that were handed over")
	}
	rows, err := w.ChargedSince(ctx, account, since, behind)
	if err != nil {
		return false, fmt.Errorf("list what may have been charged: %w", err)
	}
	for _, r := range rows {
		if r.GroupID != "" {
			return false, nil
		}
		parts[phone.Network(r.Number)] += max(r.Parts, 1)
	}
	return true, nil
}

// sharing lists the accounts that are the same one for the provider.
func (w *witnessing) sharing(ctx context.Context) ([]int64, error) {
	rows, err := w.Accounts(ctx)
	if err != nil {
		return nil, fmt.Errorf("list accounts: %w", err)
	}
	clients, base := map[int64]string{}, ""
	for _, a := range rows {
		if clients[a.ID], err = w.db.seal.open(a.ClientID, "account:"+a.Uid+":client_id"); err != nil {
			return nil, err
		}
		if a.ID == w.account {
			base = a.BaseUrl
		}
	}
	var list []int64
	for _, a := range rows {
		if a.BaseUrl == base && clients[a.ID] == clients[w.account] {
			list = append(list, a.ID)
		}
	}
	return list, nil
}

// pricesFrom is how far back campaigns tell what a part costs.
const pricesFrom = 90 * 24 * time.Hour

// most is the most that the parts can have cost.
func (w *witnessing) most(ctx context.Context, parts map[string]int64, now int64) (*big.Rat, bool, error) {
	if len(parts) == 0 {
		return new(big.Rat), true, nil
	}
	row, err := w.AccountByID(ctx, w.account)
	if err != nil {
		return nil, false, err
	}
	costs, err := usageStore{w.db}.Costs(ctx, w.account, now-pricesFrom.Milliseconds())
	if err != nil {
		return nil, false, err
	}
	_, learnt := sms.LearnPrices(sms.PriceSamples(costs))
	most, known := sms.MostSpent(parts, row.PricePerPart, learnt)
	return most, known, nil
}

// ask pauses what the account could send, and says why.
func (w *witnessing) ask(ctx context.Context, before query.Balance, now sms.Balance, unspent *big.Rat) error {
	rows, err := w.PausableCampaigns(ctx)
	if err != nil {
		return fmt.Errorf("list campaigns: %w", err)
	}
	for _, r := range rows {
		if r.Campaign.AccountID != w.account {
			continue
		}
		if _, err := w.pauseForCopy(ctx, r.Campaign, r.Test, sms.UnspentSentence(now, unspent), now.ReadAt); err != nil {
			return err
		}
	}
	_, err = w.InsertAlarm(ctx, query.InsertAlarmParams{AccountID: w.account, Kind: string(sms.AlarmUnspent),
		PluginType: now.PluginType, At: now.ReadAt,
		FromAt: before.ReadAt, Before: before.Credits, After: now.Credits})
	return err
}

// AwaitsReading says whether the balance of an account has to be read before
// its first request: there is a reading of before the start to compare with, in
// an amount, and others do not send from the account.
func (db callStore) AwaitsReading(ctx context.Context, account int64) (bool, error) {
	j := db.journal.Load()
	if j == nil {
		return false, nil
	}
	settings, err := accountStore(db).RecordSettings(ctx, account)
	if err != nil || settings.OthersSend {
		return false, err
	}
	latest, err := accountStore(db).Balances(ctx, account)
	if err != nil {
		return false, err
	}
	b := sms.ForMessages(latest)
	if b == nil {
		return false, nil
	}
	before, err := db.read().WitnessedBalance(ctx, account, b.PluginType)
	if errors.Is(classify(err), sms.ErrNotFound) {
		// What was read has no place in the journal: once more, for the next start.
		_, readable := b.Amount()
		return readable, nil
	}
	if err != nil {
		return false, fmt.Errorf("find the reading before the start: %w", err)
	}
	_, readable := balance(before).Amount()
	return readable && before.Seq < j.begins, nil
}

// unsentTo finds messages to a number that have not left.
const unsentTo = `select m.id, m.campaign_id, m.text from message m where ` + byNumber + `
and m.state in ('draft', 'queued', 'claimed') order by m.id limit 100`

// witness looks for reports under an id that nobody was given which are about a
// message that is still to be sent. Somebody sent it: that message is in doubt,
// and its campaign waits for a person. A forged report can do no more than that;
// nothing is ever sent because of it, or sent again.
func (a *reportBatch) witness(ctx context.Context, done *sms.ApplyResult, now int64) error {
	var able map[int64]query.PausableCampaignsRow
	for _, r := range a.rows {
		if r.effect != sms.NotMatched || r.ProviderID == "" || r.ShortMessage == "" || !a.inserted[r.event()] {
			continue
		}
		if able == nil {
			rows, err := a.PausableCampaigns(ctx)
			if err != nil {
				return fmt.Errorf("list campaigns: %w", err)
			}
			able = map[int64]query.PausableCampaignsRow{}
			for _, row := range rows {
				if campaign(row.Campaign, row.Test).Started() {
					able[row.Campaign.ID] = row
				}
			}
		}
		if len(able) == 0 {
			return nil
		}
		if err := a.testify(ctx, r, able, done, now); err != nil {
			return fmt.Errorf("compare a report with what is still to be sent: %w", err)
		}
	}
	return nil
}

func (a *reportBatch) testify(ctx context.Context, r *batchReport, able map[int64]query.PausableCampaignsRow,
	done *sms.ApplyResult, now int64) error {
	number := a.matchKeys(r.AccountID).Key(r.Mobile)
	if number == "" {
		return nil
	}
	var id, of int64
	rows, err := a.sql.QueryContext(ctx, unsentTo, r.AccountID, number, tailOf(number))
	if err = forEachRow(rows, err, func(scan func(...any) error) error {
		var message, campaign int64
		var text string
		err := scan(&message, &campaign, &text)
		if _, started := able[campaign]; id == 0 && started && sms.SameText(r.ShortMessage, []string{text}) {
			id, of = message, campaign
		}
		return err
	}); err != nil || id == 0 {
		return err
	}
	// It may be about one whose answer is not here yet, or was lost.
	left, err := a.mayHaveLeft(ctx, sms.StoredReport{DeliveryReport: r.DeliveryReport}, a.countries[r.AccountID])
	if err != nil {
		return err
	}
	for _, m := range left {
		if m.State != sms.Claimed && sms.SameText(r.ShortMessage, []string{m.Text}) {
			return nil
		}
	}
	n, err := a.doubtAfterRollback(ctx, of, id, sms.ReportedReason, r.ReceivedAt, now)
	if err != nil || n == 0 {
		return err
	}
	done.Doubted++
	done.Messages, done.Campaigns = append(done.Messages, id), appendNew(done.Campaigns, of)
	row, err := a.CampaignByID(ctx, of)
	if err != nil {
		return err
	}
	if _, err := a.pauseForCopy(ctx, row.Campaign, row.Test, sms.ReportedSentence, now); err != nil {
		return err
	}
	return a.finishAll(ctx, []int64{of}, now)
}
