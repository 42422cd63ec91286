package storage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"smsdesk/internal/sms"
)

func anUnsettled(uid string) sms.Unsettled {
	return sms.Unsettled{UID: uid, Country: "NG", At: began + 7,
		Outcome: sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Code: "000", Description: "Success",
			Rows: []sms.ResultRow{{Number: "2348030000001", ProviderID: "id \n\x00 1"},
				{Number: "2348030000002", Code: "401", Description: "filter"}}, Reason: "r", Excerpt: "e", Written: 99}}
}

// reserveOf opens the reserve as the next process does.
func reserveOf(t testing.TB, data, spool string, size int64) (*Reserve, []sms.Unsettled) {
	t.Helper()
	r := NewReserve(data, spool)
	t.Cleanup(func() { _ = r.Close() })
	left, err := r.Kept()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Hold(size); err != nil {
		t.Fatal(err)
	}
	return r, left
}

// TestTheReserveKeepsOutcomesOverAProcess: what was put there is read whole and
// in order, what was stored meanwhile is not, and no block is needed for it.
func TestTheReserveKeepsOutcomesOverAProcess(t *testing.T) {
	data := t.TempDir()
	path := filepath.Join(data, reserveName)
	r, left := reserveOf(t, data, "", 64<<10)
	if len(left) != 0 {
		t.Fatalf("%d outcomes in a new reserve", len(left))
	}
	before, err := os.Stat(path)
	if err != nil || before.Size() != 64<<10 || before.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", before, err)
	}
	want := []sms.Unsettled{anUnsettled("a"), anUnsettled("b"), anUnsettled("c")}
	for _, u := range want {
		r.must(t, r.Put(u))
	}
	r.must(t, r.Done("nobody"))
	r.must(t, r.Close())

	r, left = reserveOf(t, data, "", 64<<10)
	if d := cmp.Diff(want, left); d != "" {
		t.Fatal(d)
	}
	r.must(t, r.Put(anUnsettled("d")))
	for _, uid := range []string{"b", "a", "d"} {
		r.must(t, r.Done(uid))
	}
	if got, err := r.Kept(); err != nil || len(got) != 1 || got[0].UID != "c" {
		t.Errorf("%+v %v", got, err)
	}
	r.must(t, r.Done("c"))
	after, err := os.Stat(path)
	r.must(t, err)
	raw, err := os.ReadFile(path)
	r.must(t, err)
	if !os.SameFile(before, after) || after.Size() != before.Size() || strings.Trim(string(raw), "\x00") != "" {
		t.Errorf("after everything was stored %d bytes hold %q", after.Size(), strings.Trim(string(raw), "\x00"))
	}
	r.must(t, r.Close())
	if _, left = reserveOf(t, data, "", 128<<10); len(left) != 0 {
		t.Errorf("%d outcomes that are stored came back", len(left))
	}
	if after, err = os.Stat(path); err != nil || after.Size() != 128<<10 {
		t.Errorf("it did not grow: %d, %v", after.Size(), err)
	}
}

func (r *Reserve) must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheReserveTakesTheOtherDisk when the data folder's file is full or is not
// there, and says so when both are.
func TestTheReserveTakesTheOtherDisk(t *testing.T) {
	data, spool := filepath.Join(t.TempDir(), "a file", "below"), filepath.Join(t.TempDir(), "spool")
	if err := os.WriteFile(filepath.Dir(data), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := NewReserve(data, spool)
	t.Cleanup(func() { _ = r.Close() })
	if err := r.Hold(1500); err == nil {
		t.Error("space was reserved in the place of a file")
	}
	var put []sms.Unsettled
	for i := 0; ; i++ {
		u := anUnsettled(fmt.Sprint(i))
		if err := r.Put(u); err != nil {
			break
		}
		put = append(put, u)
	}
	if len(put) == 0 || len(put) > 5 {
		t.Fatalf("%d outcomes in 1500 bytes", len(put))
	}
	other := NewReserve(t.TempDir(), spool)
	t.Cleanup(func() { _ = other.Close() })
	left, err := other.Kept()
	if d := cmp.Diff(put, left); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}

// TestATornReserveGivesWhatIsWhole: cut or overwritten anywhere, it gives only
// outcomes that were put there, each as it was.
func TestATornReserveGivesWhatIsWhole(t *testing.T) {
	var raw []byte
	was := map[string]sms.Unsettled{}
	for i := range 4 {
		u := anUnsettled(fmt.Sprint(i))
		line, err := reserveLine(u)
		if err != nil {
			t.Fatal(err)
		}
		raw, was[u.UID] = append(raw, line...), u
	}
	raw = append(raw, make([]byte, 500)...)
	if got := readReserve(raw); len(got) != 4 {
		t.Fatalf("%d of 4 outcomes", len(got))
	}
	rapid.Check(t, func(t *rapid.T) {
		torn := append([]byte(nil), raw...)
		from := rapid.IntRange(0, len(torn)).Draw(t, "from")
		to := min(len(torn), from+rapid.IntRange(1, 900).Draw(t, "bytes"))
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			torn = torn[:from]
		case 1:
			clear(torn[from:to])
		default:
			copy(torn[from:to], rapid.SliceOfN(rapid.Byte(), to-from, to-from).Draw(t, "rubbish"))
		}
		for _, u := range readReserve(torn) {
			if d := cmp.Diff(was[u.UID], u); d != "" {
				t.Fatal(d)
			}
		}
	})
}

// TestAKeptOutcomeIsSettledOnce: as if it had been stored at its time, before
// Recover would doubt it; a second time, or for what nobody licensed, nothing
// happens.
func TestAKeptOutcomeIsSettledOnce(t *testing.T) {
	judge := func(o sms.Outcome) func(sms.Canary, []sms.Finished) sms.Verdict {
		return func(c sms.Canary, recent []sms.Finished) sms.Verdict { return sms.Judge(o, c, recent) }
	}
	f := newFixture(t)
	c := f.proven("Hello", numbers(9)...)
	answered, refused, lost := f.license(f.claim(3)), f.license(f.claim(2)), f.license(f.claim(2))
	prepared := f.claim(2)
	keep := func(a *sms.Attempt, o sms.Outcome) sms.Unsettled {
		return sms.Unsettled{UID: a.UID, Country: "NG", At: f.now(), Outcome: o}
	}
	kept := []sms.Unsettled{keep(answered, answer(answered)),
		keep(refused, sms.Outcome{Class: sms.ClassListed, Code: "003", Fault: sms.FaultSender}),
		keep(prepared, answer(prepared)),
		keep(&sms.Attempt{UID: "of another database"}, answer(answered))}
	opened := []bool{true, true, false, false}
	for round := range 2 {
		for i, u := range kept {
			a, open, alert, err := f.db.SettleKept(f.ctx, u, judge(u.Outcome))
			if want := opened[i] && round == 0; err != nil || open != want || alert != (want && i == 1) {
				t.Errorf("round %d, outcome %d: %+v, open %v, alert %v, %v", round, i, a, open, alert, err)
			}
		}
	}
	released, doubtful, err := f.db.Recover(f.ctx, f.account.ID, f.now())
	if err != nil || released != 2 || doubtful != 2 {
		t.Errorf("recovered %d and %d, %v", released, doubtful, err)
	}
	if _, open, _, err := f.db.SettleKept(f.ctx, keep(lost, answer(lost)), judge(answer(lost))); err != nil || open {
		t.Errorf("what Recover has settled: open %v, %v", open, err)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: 3, sms.Queued: 4, sms.InDoubt: 2})
	attempts, err := f.db.MessageAttempts(f.ctx, answered.Messages[0])
	if err != nil || len(attempts) != 1 || attempts[0].EndedAt != kept[0].At || attempts[0].State != sms.AttemptAccepted {
		t.Errorf("%+v %v", attempts, err)
	}
	f.check()
}
