// Command smsdesk is the web desk from which staff send bulk SMS. This package
// is the parts list: it turns flags and environment into values, builds each
// part with exactly what it needs, starts every goroutine and stops them in
// reverse. It holds no rules of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // zones must not depend on the machine

	"github.com/alecthomas/kong"

	"smsdesk/storage"
)

// command is the whole command line; every flag is also a SMSDESK_… variable.
type command struct {
	Data      string `help:"Data folder (database, inbox, journal and key)." default:"data" env:"SMSDESK_DATA" type:"path"`
	Database  string `help:"sqlite:PATH instead of smsdesk.db in the data folder." env:"SMSDESK_DATABASE"`
	Journal   string `help:"Folder of the journal and the logs, best on another disk; the data folder where left out." env:"SMSDESK_JOURNAL" type:"path"`
	LogFormat string `help:"Log format." enum:"text,json" default:"text" env:"SMSDESK_LOG_FORMAT"`

	Serve     serveCommand     `cmd:"" help:"Run the server."`
	Sandbox   sandboxCommand   `cmd:"" help:"Run a fake bulk-SMS provider for testing."`
	User      userCommand      `cmd:"" help:"Add and list team members."`
	Account   accountCommand   `cmd:"" help:"Manage provider accounts."`
	Token     tokenCommand     `cmd:"" help:"Manage API tokens."`
	Retention retentionCommand `cmd:"" help:"Show and set how long numbers and texts are kept."`
	Backup    backupCommand    `cmd:"" help:"Make a backup, also beside a desk that runs."`
	Restore   restoreCommand   `cmd:"" help:"Make a data folder from a backup."`
	Doctor    doctorCommand    `cmd:"" help:"Check the data folder and report problems."`
	Version   versionCommand   `cmd:"" help:"Print the version."`
}

// env is what every command gets.
type env struct {
	storage storage.Config
	logs    string // the folder of the journal and the logs; "": the data folder
	log     *slog.Logger
	out     io.Writer
}

func main() {
	syscall.Umask(forOthers)
	// A limit on the size of files is an error of the write, like a full disk.
	signal.Ignore(syscall.SIGXFSZ)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// exit codes.
const (
	exitOK    = 0
	exitFault = 1
	exitUsage = 2
)

// flagErrors lists everything that is wrong with a configuration.
type flagErrors []string

func (f flagErrors) Error() string { return strings.Join(f, "\n") }

func run(args []string, stdout, stderr io.Writer) int {
	var c command
	parser, err := kong.New(&c, kong.Name("smsdesk"), kong.Description("Send bulk SMS and track every message."),
		kong.Writers(stdout, stderr), kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(context.Background(), (*context.Context)(nil)))
	if err != nil {
		fmt.Fprintln(stderr, "smsdesk:", err)
		return exitUsage
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "smsdesk: %s\nRun \"smsdesk --help\" to see commands and flags.\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	e := env{storage: storage.Config{Data: c.Data, Database: c.Database}, log: newLog(stderr, c.LogFormat), out: stdout,
		logs: c.Journal}
	// What a command asks for: an existing desk is opened for those that take a database.
	var db *storage.DB
	if err = parsed.BindToProvider(func() (*storage.DB, error) {
		db, err = e.openExisting(ctx, nil)
		return db, err
	}); err == nil {
		err = parsed.Run(e)
	}
	if db != nil {
		err = errors.Join(err, db.Close())
	}
	var bad flagErrors
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &bad):
		for _, f := range bad {
			fmt.Fprintln(stderr, "smsdesk:", f)
		}
		return exitUsage
	default:
		fmt.Fprintln(stderr, "smsdesk:", err)
		return exitFault
	}
}

func newLog(w io.Writer, format string) *slog.Logger {
	if format == "json" {
		return slog.New(newQuietLog(slog.NewJSONHandler(w, nil)))
	}
	return slog.New(newQuietLog(slog.NewTextHandler(w, nil)))
}

// check lists the faults that every command shares.
func (e env) check() flagErrors {
	var bad flagErrors
	if strings.TrimSpace(e.storage.Data) == "" {
		bad = append(bad, "--data must not be empty")
	} else if info, err := os.Stat(e.storage.Data); err == nil && !info.IsDir() {
		bad = append(bad, fmt.Sprintf("--data: %s is a file, not a folder", e.storage.Data))
	}
	if err := e.storage.Check(); err != nil {
		bad = append(bad, "--database: "+err.Error())
	}
	return bad
}

// open checks the flags and opens the database for one command; in an empty
// folder it makes a desk. private are folders of its flags.
func (e env) open(ctx context.Context, bad flagErrors, private ...string) (*storage.DB, error) {
	return e.openBy(ctx, storage.Open, bad, private...)
}

// openExisting is open for a command that has nothing to do in a new desk.
func (e env) openExisting(ctx context.Context, bad flagErrors) (*storage.DB, error) {
	return e.openBy(ctx, storage.OpenExisting, bad)
}

func (e env) openBy(ctx context.Context, open func(context.Context,
	storage.Config) (*storage.DB, error), bad flagErrors,
	private ...string) (*storage.DB, error) {
	if bad = append(e.check(), bad...); len(bad) > 0 {
		return nil, bad
	}
	db, err := open(ctx, e.storage)
	if err != nil {
		return nil, err
	}
	if err := e.makePrivate(private...); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
