package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"smsdesk/storage"
)

type doctorCommand struct {
	Counts         bool   `help:"Recount all messages and reports and compare with the stored counts. Reads the whole database, changes nothing."`
	AcceptRollback bool   `help:"After restoring an older database: put messages sent since that backup in doubt and allow sending."`
	Spool          string `help:"The --spool of serve, where it has one." env:"SMSDESK_SPOOL" type:"path"`
}

var errFaulty = errors.New("something needs attention")

// grade is how a check came out.
type grade int

const (
	fine   grade = iota
	notice       // somebody should know it; the exit status stays 0
	fault        // somebody must do something; the exit status is 1
)

func (g grade) String() string { return [...]string{"ok", "warn", "fault"}[g] }

// finding is one line that doctor prints. The text of a notice and of a fault
// says what is wrong and what to do.
type finding struct {
	grade grade
	text  string
}

func found(g grade, format string, args ...any) finding {
	return finding{g, fmt.Sprintf(format, args...)}
}

// examination is one run of doctor.
type examination struct {
	env
	doctorCommand
	now time.Time
	db  *storage.DB // for reading; nil where it could not be opened
}

// check is one thing that doctor looks at. It changes nothing, also beside a
// desk that runs, and may find several things; an error is a fault, too.
type check struct {
	name string
	look func(x *examination, ctx context.Context) ([]finding, error)
	// shut says that the check can do without the database.
	shut bool
}

// checks are all that there are, in the order in which they are printed.
func checks() []check {
	return []check{
		{name: "database file", look: (*examination).databaseFile},
		{name: "key", look: (*examination).key},
		{name: "dispatch journal", look: (*examination).journal},
		{name: "inbox", look: (*examination).inbox},
		{name: "log of delivery reports", look: (*examination).reportLog},
		{name: "log of blocked numbers", look: (*examination).blockLog},
		{name: "spool", look: (*examination).spool, shut: true},
		{name: "file modes", look: (*examination).modes, shut: true},
		{name: "disk space", look: (*examination).disk, shut: true},
		{name: "reverse proxy", look: (*examination).proxy},
		{name: "backups", look: (*examination).backup},
		{name: "clock", look: (*examination).clock},
		{name: "accounts", look: (*examination).accounts},
		{name: "counts", look: (*examination).counts},
	}
}

// Run checks the data folder and prints one line for each thing found. It makes
// and changes nothing unless told to accept a rollback.
func (c doctorCommand) Run(ctx context.Context, e env) error {
	if bad := e.check(); len(bad) > 0 {
		return bad
	}
	if c.AcceptRollback {
		if err := c.accept(ctx, e); err != nil {
			return err
		}
	}
	x := &examination{env: e, doctorCommand: c, now: time.Now()}
	worst, err := x.open(ctx)
	if err != nil {
		return err
	}
	if x.db != nil {
		defer func() { _ = x.db.Close() }()
	}
	for _, each := range checks() {
		if x.db != nil || each.shut {
			worst = max(worst, x.run(ctx, each))
		}
	}
	if worst == fault {
		return errFaulty
	}
	return nil
}

// open opens the database for reading and says how that went. Its error is for
// a folder in which there is nothing to look at.
func (x *examination) open(ctx context.Context) (worst grade, err error) {
	x.db, err = storage.Look(ctx, x.storage)
	switch {
	case err == nil:
		return x.say(found(fine, "the database opens, and its schema is that of this program")), nil
	case errors.Is(err, storage.ErrNoDesk):
		return fault, err
	case errors.Is(err, storage.ErrOlderSchema):
		return x.say(found(notice, "%s", err)), nil
	}
	return x.say(found(fault, "%s", err)), nil
}

func (x *examination) run(ctx context.Context, c check) (worst grade) {
	list, err := c.look(x, ctx)
	for _, f := range list {
		worst = max(worst, x.say(f))
	}
	if err != nil {
		worst = x.say(found(fault, "%s could not be checked: %s", c.name, err))
	}
	return worst
}

func (x *examination) say(f finding) grade {
	fmt.Fprintf(x.out, "%-6s %s\n", f.grade, f.text)
	return f.grade
}

func (x *examination) databaseFile(ctx context.Context) ([]finding, error) {
	if err := x.db.Check(ctx); err != nil {
		return []finding{found(fault, "%s. Stop smsdesk and restore a backup", err)}, nil
	}
	return []finding{found(fine, "the database file is intact")}, nil
}

func (x *examination) key(ctx context.Context) ([]finding, error) {
	n, err := x.db.Sealed(ctx)
	if err != nil {
		return []finding{found(fault,
			"%s. Enter the account's API key and client ID anew in Settings, Connection, or restore a backup", err)}, nil
	}
	return []finding{found(fine, "the key opens what is sealed (%d secrets)", n)}, nil
}

func (x *examination) accounts(ctx context.Context) (list []finding, err error) {
	accounts, err := x.db.Accounts(ctx)
	for _, a := range accounts {
		if a.Pause != "" {
			list = append(list, found(fault, "account %q is paused: %s", a.Name, a.Pause))
		}
	}
	return list, err
}

// mostMiscounts is how many wrong counts are printed one by one.
const mostMiscounts = 100

func (x *examination) counts(ctx context.Context) (list []finding, err error) {
	if !x.Counts {
		return nil, nil
	}
	wrong, err := x.db.CountMismatches(ctx)
	if err != nil {
		return nil, err
	}
	for i, m := range wrong {
		if i == mostMiscounts {
			return append(list, found(fault, "%d more counts differ", len(wrong)-i)), nil
		}
		list = append(list, found(fault, "count of %s", m))
	}
	if len(wrong) == 0 {
		list = append(list, found(fine, "all counts match the messages and reports"))
	}
	return list, nil
}
