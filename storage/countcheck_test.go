package storage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/health"
)

// TestEveryCountThatIsWrongIsFound: each kept count is made wrong in turn, and
// named with its campaign and key.
func TestEveryCountThatIsWrongIsFound(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(4)...)
	a := f.license(f.claim(3))
	f.settle(a, answer(a))
	f.apply(f.report(a, 0, "DELIVRD"), f.report(a, 1, "ACCEPTD"), f.report(a, 2, "UNDELIV"))
	if list := f.miscounts(); len(list) != 0 {
		t.Fatalf("%v", list)
	}
	tally := func(key string, kept, counted int64) health.Miscount {
		return health.Miscount{Of: health.CountOf{Table: "messages", Campaign: c.ID, Key: key}, Kept: kept, Counted: counted}
	}
	for wrong, want := range map[string]health.Miscount{
		"update campaign_tally set n = n + 1 where key = 'delivered'":                          tally("delivered", 2, 1),
		"delete from campaign_tally where key = 'acceptd'":                                     tally("acceptd", 0, 1),
		"insert into campaign_tally (campaign_id, key, n) select id, 'doubt', 7 from campaign": tally("doubt", 7, 0),
		"update campaign set recipients = 5":                                                   {Of: health.CountOf{Table: "recipients", Campaign: c.ID}, Kept: 5, Counted: 4},
		"update traffic_quarter set n = 9 where key = 'undelivered'":                           {Of: health.CountOf{Table: "traffic by quarters", Account: f.account.ID, Key: "undelivered"}, Kept: 9, Counted: 1},
		"update traffic set n = 9 where key = 'undelivered'":                                   {Of: health.CountOf{Table: "traffic", Account: f.account.ID}, Kept: 9, Counted: 1},
		"update campaign_cut set n = 9 where kind = 'network' and key = 'undelivered'":         {Of: health.CountOf{Table: "by network", Campaign: c.ID}, Kept: 9, Counted: 1},
		"update campaign_usage set parts = 9":                                                  {Of: health.CountOf{Table: "usage", Campaign: c.ID}, Kept: 9, Counted: 3},
		"update usage_day set parts = 9":                                                       {Of: health.CountOf{Table: "usage by days", Account: f.account.ID}, Kept: 9, Counted: 3},
		"update campaign_flow set failed = 9 where failed = 1": {
			Of: health.CountOf{Table: "over time", Campaign: c.ID, Key: "failed"}, Kept: 9, Counted: 1},
		"update campaign_wait set n = 9 where key = 'failed'": {
			Of: health.CountOf{Table: "time to report", Campaign: c.ID}, Kept: 9, Counted: 1},
	} {
		_, err := f.db.writer.ExecContext(f.ctx, wrong)
		f.must(err)
		list := f.miscounts()
		if len(list) != 1 {
			t.Fatalf("%s: %v", wrong, list)
		}
		got := list[0]
		if want.Of.Key == "" {
			got.Of.Key = ""
		}
		got.Of.At = 0
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s:\n%s", wrong, d)
		}
		f.mend(list[0])
	}
}

func (f *fixture) miscounts() []health.Miscount {
	f.t.Helper()
	list, err := f.db.CountMismatches(f.ctx)
	f.must(err)
	return list
}

// mend puts the right figure back, as the recount gave it.
func (f *fixture) mend(m health.Miscount) {
	f.t.Helper()
	for _, statement := range []string{
		"update campaign set recipients = 4",
		"delete from campaign_tally",
		"insert into campaign_tally (campaign_id, key, n) values (1, 'delivered', 1), (1, 'undelivered', 1), (1, 'network', 1), (1, 'queued', 1), (1, 'acceptd', 1)",
		"update traffic_quarter set n = 1 where key = 'undelivered'", "update traffic set n = 1 where key = 'undelivered'",
		"update campaign_cut set n = 1 where kind = 'network' and key = 'undelivered'",
		"update campaign_usage set parts = 3", "update usage_day set parts = 3",
		"update campaign_flow set failed = 1 where failed = 9", "update campaign_wait set n = 1 where key = 'failed'",
	} {
		_, err := f.db.writer.ExecContext(f.ctx, statement)
		f.must(err)
	}
	if list := f.miscounts(); len(list) != 0 {
		f.t.Fatalf("after %v: %v", m, list)
	}
}
