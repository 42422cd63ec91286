package storage

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"smsdesk/internal/sms"
)

func TestWhatIsTypedIsKeptForItsPersonAccountAndForm(t *testing.T) {
	f := newFixture(t)
	u, other := f.hire("bola@example.com", sms.Sender), f.hire("ada@example.com", sms.Sender)
	reads := func(user, account int64, key, want string, at int64) {
		t.Helper()
		form, saved, err := f.db.Written(f.ctx, user, account, key)
		if want == "" {
			if !errors.Is(err, sms.ErrNotFound) {
				t.Errorf("%q, %v", form, err)
			}
			return
		}
		if err != nil || form != want || saved != at {
			t.Errorf("%q at %d, %v; want %q at %d", form, saved, err, want, at)
		}
	}
	a := f.account.ID
	reads(u.ID, a, "one", "", 0)
	f.must(f.db.SaveWritten(f.ctx, u.ID, a, "one", "text=a", 100))
	f.must(f.db.SaveWritten(f.ctx, u.ID, a, "two", "text=x", 150))
	f.must(f.db.SaveWritten(f.ctx, u.ID, a, "one", "text=b", 200))
	f.must(f.db.SaveWritten(f.ctx, u.ID, a, "list 1", "text=y", 250))
	f.must(f.db.SaveWritten(f.ctx, other.ID, a, "one", "text=c", 300))
	reads(u.ID, a, "one", "text=b", 200)
	reads(u.ID, a, "two", "text=x", 150)
	if keys, err := f.db.WrittenKeys(f.ctx, u.ID, a, 9); err != nil || !slices.Equal(keys, []string{"one", "two"}) {
		t.Errorf("%q, %v", keys, err)
	}
	f.must(f.db.PurgeWritten(f.ctx, 201))
	reads(u.ID, a, "one", "", 0)
	reads(u.ID, a, "list 1", "text=y", 250)
	reads(other.ID, a, "one", "text=c", 300)
	f.must(f.db.SaveWritten(f.ctx, other.ID, a, "one", "", 400))
	reads(other.ID, a, "one", "", 0)
	for i := range writtenMost + 3 {
		f.must(f.db.SaveWritten(f.ctx, u.ID, a, fmt.Sprint(i), "text", int64(500+i)))
	}
	reads(u.ID, a, "2", "", 0)
	reads(u.ID, a, "list 1", "", 0)
	reads(u.ID, a, "3", "text", 503)
}
