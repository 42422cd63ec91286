package storage

import (
	"errors"
	"testing"

	"smsdesk/internal/sms"
)

func TestWhatIsTypedIsKeptForItsPersonAndAccount(t *testing.T) {
	f := newFixture(t)
	u, other := f.hire("bola@example.com", sms.Sender), f.hire("ada@example.com", sms.Sender)
	reads := func(user, account int64, want string, at int64) {
		t.Helper()
		form, saved, err := f.db.Written(f.ctx, user, account)
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
	reads(u.ID, a, "", 0)
	f.must(f.db.SaveWritten(f.ctx, u.ID, a, "text=a", 100))
	f.must(f.db.SaveWritten(f.ctx, u.ID, a, "text=b", 200))
	f.must(f.db.SaveWritten(f.ctx, other.ID, a, "text=c", 300))
	reads(u.ID, a, "text=b", 200)
	f.must(f.db.PurgeWritten(f.ctx, 201))
	reads(u.ID, a, "", 0)
	reads(other.ID, a, "text=c", 300)
	f.must(f.db.SaveWritten(f.ctx, other.ID, a, "", 400))
	reads(other.ID, a, "", 0)
}
