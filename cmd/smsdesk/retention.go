package main

import (
	"context"
	"fmt"
	"strconv"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

type retentionCommand struct {
	Show retentionShow `cmd:"" help:"Show how long numbers and texts are kept."`
	Set  retentionSet  `cmd:"" help:"Set how long numbers and texts are kept. Removed data cannot be restored."`
}

type retentionShow struct{}

// Run prints the months, one line a kind.
func (retentionShow) Run(ctx context.Context, e env, db *storage.DB) error {
	r, err := sms.ReadRetention(db.ReadSetting(ctx, sms.SettingRetention))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.out, "Messages: %s\nReports: %s\nRequests: %s\nLog of reports: %d days\n",
		monthsOf(r.Messages), monthsOf(r.Reports), monthsOf(r.Calls), r.Days())
	return err
}

func monthsOf(n int) string {
	if n == 0 {
		return "forever"
	}
	return strconv.Itoa(n) + " months"
}

type retentionSet struct {
	Messages int `required:"" help:"Months to keep messages after a campaign or block ends, 1 to 120; 0 for forever."`
	Reports  int `required:"" help:"Months from the arrival of a delivery report; 0 for forever."`
	Calls    int `required:"" help:"Months from the end of a request to the provider; 0 for forever."`
	Log      int `help:"Days that the log of delivery reports goes back; 0 is 30."`
}

// Run stores the setting; a running desk follows it within minutes.
func (c retentionSet) Run(ctx context.Context, e env) error {
	r := sms.Retention{Messages: c.Messages, Reports: c.Reports, Calls: c.Calls, LogDays: c.Log}
	if err := r.Check(); err != nil {
		return sentences(err)
	}
	db, err := e.openExisting(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := e.desk(db).SaveRetention(ctx, desk.Operator(), r); err != nil {
		return sentences(err)
	}
	_, err = fmt.Fprintln(e.out, "Saved.")
	return err
}
