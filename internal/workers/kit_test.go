package workers_test

import (
	"testing"

	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// kit is a rig with what the tests of workers do to it.
type kit struct{ *rig.Rig }

func newKit(t testing.TB, cfg sandbox.Config, change func(*sms.Account)) *kit {
	t.Helper()
	return &kit{rig.New(t, cfg, change)}
}
