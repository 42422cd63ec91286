package lists_test

import (
	"log/slog"
	"testing"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/lists"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// kit is a rig with what the tests of lists do to it.
type kit struct{ *rig.Rig }

func newKit(t testing.TB, cfg sandbox.Config, change func(*sms.Account)) *kit {
	t.Helper()
	return &kit{rig.New(t, cfg, change)}
}

// listsOn takes orders about lists on another store.
func (r *kit) listsOn(store lists.Store) *lists.Lists {
	log := slog.New(slog.DiscardHandler)
	return lists.New(store, lists.Config{Feed: r.Feed, Log: log, Now: time.Now, Audit: feed.AuditTo(r.DB, log, time.Now),
		Checks: r.Desk, Corrected: r.DB, Already: r.DB})
}
