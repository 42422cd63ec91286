package storage

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// An old desk is a folder as the program of an earlier schema left it, with
// something in each of its tables.
type oldDesk struct {
	t    *testing.T
	data string
	db   *sql.DB
	seal sealer
}

func newOldDesk(t *testing.T, version int64) *oldDesk {
	t.Helper()
	o := &oldDesk{t: t, data: t.TempDir()}
	raw, err := makeKey(filepath.Join(o.data, keyName))
	o.must(err)
	o.seal, err = newSealer(raw)
	o.must(err)
	migrateTo(t, o.path(), version)
	o.db, err = sql.Open("sqlite", sqliteDSN(o.path()))
	o.must(err)
	t.Cleanup(func() { _ = o.db.Close() })
	return o
}

func (o *oldDesk) path() string { return filepath.Join(o.data, "smsdesk.db") }

func (o *oldDesk) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *oldDesk) exec(text string, args ...any) {
	o.t.Helper()
	if _, err := o.db.ExecContext(o.t.Context(), text, args...); err != nil {
		o.t.Fatalf("%s: %v", text, err)
	}
}

func (o *oldDesk) number(text string, args ...any) (n int64) {
	o.t.Helper()
	o.must(o.db.QueryRowContext(o.t.Context(), text, args...).Scan(&n))
	return n
}

func (o *oldDesk) tables() (list []string) {
	o.t.Helper()
	rows, err := o.db.QueryContext(o.t.Context(),
		"select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name <> 'goose_db_version' order by rowid")
	o.must(forEachRow(rows, err, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		list = append(list, name)
		return err
	}))
	return list
}

// put stores one row. Columns that are not given, or that the table does not
// have yet, are left to their kind: references point at row 1.
func (o *oldDesk) put(table string, values map[string]any) {
	o.t.Helper()
	var columns []string
	var args []any
	rows, err := o.db.QueryContext(o.t.Context(),
		`select name, type, pk > 0 and (select count(*) from pragma_table_info($1) where pk > 0) = 1, dflt_value is not null
from pragma_table_info($1)`, table)
	o.must(forEachRow(rows, err, func(scan func(...any) error) error {
		var name, kind string
		var key, preset bool
		if err := scan(&name, &kind, &key, &preset); err != nil {
			return err
		}
		value, given := values[name]
		switch {
		case given:
		case key && name == "id" && kind == "INTEGER", preset:
			return nil
		case name == "id" && kind == "INTEGER", strings.HasSuffix(name, "_id") && !strings.HasSuffix(name, "provider_id") &&
			kind == "INTEGER":
			value = 1
		case kind == "INTEGER":
			value = 0
		case kind == "BLOB":
			value = []byte{}
		default:
			value = ""
		}
		columns, args = append(columns, name), append(args, value)
		return nil
	}))
	o.exec(fmt.Sprintf("insert into %s (%s) values (%s)", table, strings.Join(columns, ", "),
		sqliteFile{}.placeholders(len(columns))),
		args...)
}

// The days on which an old desk sent, in the account's zone.
var (
	firstDay  = time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC).UnixMilli() // 2 March in Lagos
	secondDay = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC).UnixMilli()
)

// counted are the tables that count others; they are filled last.
var counted = []string{"campaign_tally", "traffic", "traffic_quarter", "campaign_cut", "campaign_flow",
	"campaign_wait", "usage_day", "campaign_usage"}

// fill stores a life: an account with its secrets, a campaign that ended, with
// messages in every state, and one that did not begin; and a row in each other
// table.
func (o *oldDesk) fill() {
	o.t.Helper()
	uid, hash := strings.Repeat("a", 32), []byte(strings.Repeat("h", 32))
	o.put("account", map[string]any{"uid": uid, "name": "Clinic", "base_url": "https://api.example.com/v2",
		"client_id": o.seal.seal("client", "account:"+uid+":client_id"),
		"api_key":   o.seal.seal("key", "account:"+uid+":api_key"), "per_minute": 100, "call_limit": 10, "url_budget": 2000, "max_parts": 6, "country": "NG",
		"timezone": "Africa/Lagos", "currency": "₦", "late_after": sms.DefaultLateAfter})
	o.put("callback_token", map[string]any{"hash": hash, "kind": sms.CallbackDLR,
		"sealed": o.seal.seal("token", tokenPlace(hash))})
	tables := o.tables()
	if slices.Contains(tables, "app_user") {
		o.put("app_user", map[string]any{"email": "ada@example.com", "name": "Ada Obi", "role": "administrator", "active": 1})
	}
	if slices.Contains(tables, "campaign") {
		for i, state := range []string{"finished", "draft"} {
			o.put("campaign", map[string]any{"token": fmt.Sprint("t", i), "name": "Reminder", "sender_id": "CLINIC",
				"text": "Hello", "state": state, "version": 1, "started_by": 1 - i})
		}
	}
	if slices.Contains(tables, "message") {
		o.put("attempt", map[string]any{"uid": "u1", "state": "done", "kind": "text", "sender_id": "CLINIC", "class": "A"})
		o.messages()
	}
	if slices.Contains(tables, "ussd_menu") {
		o.put("ussd_menu", map[string]any{"draft": "{}", "secret": o.seal.seal("secret", menuPlace(1))})
	}
	for _, table := range tables {
		if !slices.Contains(counted, table) && o.number("select count(*) from "+table) == 0 {
			o.put(table, nil)
		}
	}
	o.count()
}

func (o *oldDesk) messages() {
	row := 0
	message := func(campaign, at int64, state sms.State, status sms.Status, more map[string]any) {
		row++
		values := map[string]any{"campaign_id": campaign, "row_no": row, "number": fmt.Sprintf("234803000%04d", row),
			"text": "Hello", "text_hash": []byte{byte(row)}, "parts": 1 + row%2,
			"state": state, "status": status, "attempt_id": 1, "sent_at": at, "provider_id": fmt.Sprint("p", row)}
		for name, value := range more {
			values[name] = value
		}
		o.put("message", values)
	}
	for _, at := range []int64{firstDay, secondDay} {
		for _, status := range []sms.Status{"", sms.Acceptd, sms.Delivrd, sms.Undeliv, sms.Expired, sms.Rejectd,
			sms.Unknown} {
			message(1, at, sms.Accepted, status, nil)
		}
	}
	message(1, firstDay, sms.Accepted, "", map[string]any{"late": 1})
	message(1, firstDay, sms.Accepted, sms.Delivrd, map[string]any{"number": "2348050000001"})
	for _, state := range []sms.State{sms.Refused, sms.InDoubt, sms.Held, sms.Skipped, sms.Cancelled, sms.ClosedUnknown,
		sms.ClosedResent} {
		message(1, firstDay, state, "", map[string]any{"code": "401"})
	}
	message(2, 0, sms.Draft, "", nil)
}

// count fills the counts that the program of that schema kept, except usage.
func (o *oldDesk) count() {
	o.t.Helper()
	ctx, tables := o.t.Context(), o.tables()
	if slices.Contains(tables, "message") {
		kept := counts{}
		_, err := kept.messages(ctx, o.db)
		o.must(err)
		for of, n := range kept {
			if of.Table == recipientsTable {
				o.exec("update campaign set recipients = $1 where id = $2", n, of.Campaign)
			} else if of.Key != interimKey || o.schema() >= 14 {
				o.put("campaign_tally", map[string]any{"campaign_id": of.Campaign, "key": of.Key, "n": n})
			}
		}
	}
	if slices.Contains(tables, "traffic") {
		kept, err := recountTraffic(ctx, beforeKnownAt{o.db, slices.Contains(tables, "campaign_flow")}, &phone.Networks{})
		o.must(err)
		for k, n := range kept.slots {
			o.put("traffic", map[string]any{"account_id": k.account, "slot": k.slot, "network": k.network, "sender_id": k.sender,
				"key": k.key, "n": n})
		}
		for k, n := range kept.quarters {
			o.put("traffic_quarter", map[string]any{"account_id": k.account, "quarter": k.quarter, "key": k.key, "n": n})
		}
		for k, n := range kept.cuts {
			o.put("campaign_cut", map[string]any{"campaign_id": k.campaign, "kind": string(k.kind), "name": k.name,
				"key": k.standing, "n": n})
		}
		o.put("setting", map[string]any{"name": settingTraffic, "value": "yes"})
		if slices.Contains(tables, "campaign_flow") {
			o.putFlow(kept)
		}
	}
}

func (o *oldDesk) putFlow(kept *traffic) {
	for k, m := range kept.flow {
		o.put("campaign_flow", map[string]any{"campaign_id": k.campaign, "at": k.at, "sent": m.Sent, "delivered": m.Delivered,
			"failed": m.Failed, "unsure": m.Unsure})
	}
	for k, n := range kept.waits {
		o.put("campaign_wait", map[string]any{"campaign_id": k.campaign, "network": k.network, "key": k.key, "low": k.low,
			"n": n})
	}
	o.put("setting", map[string]any{"name": settingFlow, "value": "yes"})
}

// beforeKnownAt answers questions about messages of a schema without known_at.
type beforeKnownAt struct {
	*sql.DB
	has bool
}

func (d beforeKnownAt) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if !d.has {
		text = strings.Replace(text, "known_at", "0", 1)
	}
	return d.DB.QueryContext(ctx, text, args...)
}

func (o *oldDesk) schema() int64 {
	return o.number("select max(version_id) from goose_db_version")
}

// use counts what was accepted on the given days, as the program does since
// schema 20.
func (o *oldDesk) use(days ...int64) {
	for _, at := range days {
		day := time.UnixMilli(at).In(time.FixedZone("Lagos", 3600)).Format(time.DateOnly)
		for _, prefix := range []struct{ number, network string }{{"23480300", "MTN"}, {"23480500", "Glo"}} {
			const accepted = " from message where state = 'accepted' and sent_at = $1 and number like $2 and campaign_id = 1"
			n, parts := o.number("select count(*)"+accepted, at, prefix.number+"%"),
				o.number("select coalesce(sum(parts), 0)"+accepted, at, prefix.number+"%")
			if n == 0 {
				continue
			}
			o.put("usage_day", map[string]any{"day": day, "sender_id": "CLINIC", "user_id": 1, "network": prefix.network,
				"messages": n, "parts": parts})
			o.exec(`insert into campaign_usage (campaign_id, network, messages, parts) values (1, $1, $2, $3)
on conflict (campaign_id, network) do update set messages = messages + excluded.messages, parts = parts + excluded.parts`, prefix.network, n, parts)
		}
	}
}

// upgraded opens the folder with this program and asserts that every count is
// right, every secret opens and the file is sound.
func (o *oldDesk) upgraded() *DB {
	o.t.Helper()
	o.must(o.db.Close())
	db := open(o.t, o.data)
	list, err := db.CountMismatches(o.t.Context())
	o.must(err)
	for _, m := range list {
		o.t.Errorf("count of %s", m)
	}
	o.must(db.Check(o.t.Context()))
	var orphans int
	o.must(db.reader.QueryRowContext(o.t.Context(), "select count(*) from pragma_foreign_key_check").Scan(&orphans))
	if orphans > 0 {
		o.t.Errorf("%d rows point nowhere", orphans)
	}
	if n, err := db.Sealed(o.t.Context()); err != nil || n < 3 {
		o.t.Errorf("%d secrets open: %v", n, err)
	}
	return db
}

func days(t *testing.T, db *DB) []sms.UsageDay {
	t.Helper()
	list, err := db.UsageDays(t.Context(), 1, "2000-01-01", "2100-01-01")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// bothDays is the usage of an old desk's campaign.
func bothDays() []sms.UsageDay {
	day := func(day, network string, messages, parts int64) sms.UsageDay {
		return sms.UsageDay{Day: day, SenderID: "CLINIC", UserID: 1, UserName: "Ada Obi", Network: network,
			Usage: sms.Usage{Messages: messages, Parts: parts}}
	}
	return []sms.UsageDay{day("2026-03-02", "Glo", 1, 1), day("2026-03-02", "MTN", 8, 13), day("2026-03-05", "MTN", 7, 10)}
}

// TestEveryEarlierSchemaIsUpgradedWithWhatIsInIt: nothing is lost, nothing is
// counted wrong, and no table was left out of the test.
func TestEveryEarlierSchemaIsUpgradedWithWhatIsInIt(t *testing.T) {
	for version := int64(1); version <= newestSchema(); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			o := newOldDesk(t, version)
			o.fill()
			if version >= 20 {
				o.use(firstDay, secondDay)
			}
			for _, table := range o.tables() {
				// At schema 3 there are counts and nothing to be counted.
				if (version != 3 || table != "campaign_tally") && o.number("select count(*) from "+table) == 0 {
					t.Fatalf("%s is empty", table)
				}
			}
			db := o.upgraded()
			numbersAgree(t, db)
			if version < 4 {
				return
			}
			if d := cmp.Diff(bothDays(), days(t, db)); d != "" {
				t.Errorf("usage:\n%s", d)
			}
			if list, _, err := db.Messages(t.Context(), sms.MessageFilter{CampaignID: 1, Limit: 100}); err != nil ||
				len(list) != 23 {
				t.Errorf("%d messages, %v", len(list), err)
			}
			if list, _, err := db.CountCampaigns(t.Context(), sms.CampaignFilter{AccountID: 1, Limit: 10}); err != nil ||
				len(list) != 2 {
				t.Errorf("%d campaigns, %v", len(list), err)
			}
		})
	}
}

// TestUsageFromBeforeItWasCountedIsCountedOnce: a desk that took the step to
// schema 20 without it, and has counted since, gets what is missing and nothing
// twice.
func TestUsageFromBeforeItWasCountedIsCountedOnce(t *testing.T) {
	for name, since := range map[string][]int64{"all is missing": nil, "the first day is missing": {secondDay},
		"nothing is missing": {firstDay, secondDay}} {
		t.Run(name, func(t *testing.T) {
			o := newOldDesk(t, 19)
			o.fill()
			migrateTo(t, o.path(), 25)
			o.use(since...)
			db := o.upgraded()
			if d := cmp.Diff(bothDays(), days(t, db)); d != "" {
				t.Error(d)
			}
			if _, err := db.writer.ExecContext(t.Context(), "delete from setting where name = $1", settingUsage); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				db = open(t, o.data)
				if d := cmp.Diff(bothDays(), days(t, db)); d != "" {
					t.Errorf("counted again: %s", d)
				}
			}
		})
	}
}
