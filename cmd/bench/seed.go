package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage"
)

// seeded is a database full of messages, made for measuring.
type seeded struct {
	data      string
	account   int64
	messages  int64
	largest   int64 // messages of campaign 1 and of those like it
	campaigns int64
	fresh     bool // no message has a report yet
}

const (
	largeCampaign = 100_000
	smallCampaign = 1_000
	people        = 2_000_000
	// doubtful is about how many campaigns have messages in doubt, however many
	// there are: people decide about them.
	doubtful = 150
)

// seed fills a fresh data folder with n messages. At least a tenth is in
// campaigns of largest messages, of which campaign 1 is one, the others in
// campaigns of 1,000. The indexes are taken away meanwhile: to build them in
// order afterwards is what makes ten million rows a matter of minutes.
func seed(ctx context.Context, data string, n, largest int64) (*seeded, error) {
	return seedAs(ctx, data, n, largest, false)
}

// seedFresh is seed with messages of which none has a report yet.
func seedFresh(ctx context.Context, data string, n, largest int64) (*seeded, error) {
	return seedAs(ctx, data, n, largest, true)
}

func seedAs(ctx context.Context, data string, n, largest int64, fresh bool) (*seeded, error) {
	db, err := storage.Open(ctx, storage.Config{Data: data})
	if err != nil {
		return nil, err
	}
	account, err := db.CreateAccount(ctx, sms.Account{Name: "Seeded", BaseURL: "https://api.example.com/v2",
		PerMinute: 1000, CallLimit: 100, URLBudget: 2000, MaxParts: 6,
		Country: "NG", Timezone: "Africa/Lagos", Currency: "₦", LateAfter: sms.DefaultLateAfter},
		sms.Credentials{ClientID: "client", APIKey: "a-key-of-thirteen"}, 1)
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	raw, err := sql.Open("sqlite", "file:"+filepath.Join(data, "smsdesk.db")+
		"?_pragma=synchronous(OFF)&_pragma=cache_size(-400000)&_pragma=temp_store(2)&_pragma=foreign_keys(0)")
	if err != nil {
		return nil, err
	}
	raw.SetMaxOpenConns(1)
	large := max(1, n/10/largest)
	small := (n - large*largest) / smallCampaign
	s := &seeded{data: data, account: account.ID, messages: large*largest + small*smallCampaign, largest: largest,
		campaigns: large + small, fresh: fresh}
	err = errors.Join(s.fill(ctx, raw, large), raw.Close())
	return s, err
}

func (s *seeded) fill(ctx context.Context, raw *sql.DB, large int64) error {
	indexes, err := dropIndexes(ctx, raw, "message")
	if err != nil {
		return err
	}
	// A year of campaigns, the large ones spread among the small.
	now := time.Now().UnixMilli()
	step := 365 * 24 * time.Hour.Milliseconds() / (s.campaigns + 1)
	every := max(1, s.campaigns/large)
	for _, q := range []struct {
		text string
		args []any
	}{
		{`with recursive c(i) as (select 1 union all select i + 1 from c where i < $1)
insert into campaign (account_id, token, name, sender_id, text, unicode, flash, group_id, group_name, state, pause,
  pause_code, canary, version, recipients, parts, fingerprint,
  window_from, created_by, created_name, started_by, started_name, created_at, started_at, finished_at, changed_at)
select $2, 'seed-' || i, 'Reminder ' || i, 'CLINIC', '', 0, 0, '', '', 'finished', '', '', 'passed', 1,
  case when (i - 1) % $3 = 0 and (i - 1) / $3 < $4 then $5 else $6 end, 0, '', 0, 1, 'Ada Obi', 1, 'Ada Obi',
  $7 - ($1 - i) * $8, $7 - ($1 - i) * $8, $7 - ($1 - i) * $8 + 60000, $7
from c`, []any{s.campaigns, s.account, every, large, s.largest, smallCampaign, now, step}},
		{`with recursive r(campaign, n, size, at) as (
  select id, 1, recipients, created_at from campaign where id = 1
  union all
  select case when r.n < r.size then r.campaign else c.id end, case when r.n < r.size then r.n + 1 else 1 end, c.recipients, c.created_at
  from r join campaign c on c.id = r.campaign + (r.n >= r.size))
insert into message (account_id, campaign_id, row_no, number, text, text_hash, unicode, parts, state, reason, code, attempt_id, provider_id, evidence,
  status, error_code, done_date, conflict, late, created_at, sent_at, changed_at, call_no)
select $1, campaign, n + 1, cast(2348030000000 + (n * 7919 + campaign * 104729) % $2 as text),
  'Dear patient ' || n || ', your appointment is on 14 March at 09:30. Reply to 0803 555 0101 to change it. Thank you.', x'0102030405060708', 0, 1,
  case when n % 1000 = 7 and campaign % $4 = 1 then 'in_doubt' when n % 1000 = 8 then 'refused'
    when n % 200 = 9 then 'skipped' when n = 777 and campaign % 997 = 0 then 'held' else 'accepted' end, '', '', n / 100,
  'id-' || campaign || '-' || n, '',
  case when $3 or n % 1000 = 7 and campaign % $4 = 1 or n % 1000 = 8 or n % 200 = 9
    or n = 777 and campaign % 997 = 0 then '' when n % 20 = 1 then 'UNDELIV' when n % 100 = 2 then 'EXPIRED'
    when n % 100 = 3 then 'REJECTD' when n % 500 = 4 then 'BLACKLIST'
    when n % 100 = 5 then '' when n % 100 = 6 then 'UNKNOWN' else 'DELIVRD' end,
  case when $3 then '' else '000' end, case when $3 then '' else '2606030949' end, 0, n % 200 = 5 and not $3,
  at, at + n, at + n + 4000, n / 100 from r`, []any{s.account, people, s.fresh, max(2, s.campaigns/doubtful)}},
	} {
		if _, err := raw.ExecContext(ctx, q.text, q.args...); err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	for _, text := range indexes {
		if _, err := raw.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("build an index: %w", err)
		}
	}
	return s.count(ctx, raw)
}

func dropIndexes(ctx context.Context, raw *sql.DB, table string) (texts []string, err error) {
	rows, err := raw.QueryContext(ctx,
		"select name, sql from sqlite_master where type = 'index' and tbl_name = $1 and sql is not null", table)
	if err != nil {
		return nil, err
	}
	var names []string
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		names, texts = append(names, name), append(texts, text)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, err := raw.ExecContext(ctx, "drop index "+name); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// count writes the tallies of what was filled in.
func (s *seeded) count(ctx context.Context, raw *sql.DB) error {
	rows, err := raw.QueryContext(ctx,
		"select campaign_id, state, status, late, count(*) from message group by campaign_id, state, status, late")
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	type cell struct {
		campaign int64
		key      string
	}
	tally := map[cell]int64{}
	for rows.Next() {
		var campaign, n int64
		var state, status string
		var late bool
		if err := rows.Scan(&campaign, &state, &status, &late, &n); err != nil {
			return errors.Join(fmt.Errorf("count: %w", err), rows.Close())
		}
		tally[cell{campaign, sms.StandingKey(sms.State(state), sms.Status(status), late)}] += n
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("count: %w", err)
	}
	tx, err := raw.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	for c, n := range tally {
		if _, err := tx.ExecContext(ctx, "insert into campaign_tally (campaign_id, key, n) values ($1, $2, $3)", c.campaign,
			c.key, n); err != nil {
			return errors.Join(fmt.Errorf("count: %w", err), tx.Rollback())
		}
	}
	// The counts by time and network are made anew when the desk opens.
	if _, err := tx.ExecContext(ctx, "delete from setting where name = 'traffic_counted'"); err != nil {
		return errors.Join(fmt.Errorf("count: %w", err), tx.Rollback())
	}
	return tx.Commit()
}
