// Command bench is the measuring bench: it runs parts of smsdesk alone, on
// files and loads that it makes itself, and compares each with a ceiling, a
// peer or a lower bound in the same run, so that the figures mean the same on a
// slow machine as on a fast one. It must never touch a desk's data folder.
//
// Each figure is one line:
//
//	name: figure, what it is compared with, ratio, bar, ok|below
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

// bench is one thing that is measured. A bench whose lines hold ratios measures
// both sides in turns, so that a busy minute spoils neither alone.
type bench struct {
	name, about string
	run         func(ctx context.Context, e env) ([]line, error)
}

// benches are all there are, in the order of a run.
func benches() []bench {
	return []bench{
		{"plan", "a million messages divided into calls", benchPlan},
		{"csv", "a CSV of a million rows read", benchCSV},
		{"xlsx", "a workbook of 200,000 rows read", benchXLSX},
		{"import", "a list of a million rows checked and made into a campaign", benchImport},
		{"press", "a checked list of a million rows made into a campaign", benchPress},
		{"ussd", "USSD callers while a list is imported, and 100,000 of them at once", benchUSSD},
		{"pages", "pages over a million and ten million messages", benchPages},
		{"contacts", "pages and filters over a million contacts", benchContacts},
		{"radar", "who of a million rows got nearly the text of ten million messages", benchRadar},
		{"export", "a million rows downloaded", benchExport},
		{"reports", "delivery reports taken and applied", benchReports},
		{"reports-import", "delivery reports taken while a list is imported", benchReportsImporting},
		{"flood", "more delivery reports than can be taken, forged and slow calls", benchFlood},
		{"live", "open live pages while reports arrive", benchLive},
	}
}

// children are what a bench runs in a process of its own, where memory is
// measured. The figures come back by name.
func children() map[string]func(args []string) (figures, error) {
	return map[string]func(args []string) (figures, error){
		"read":    childRead,
		"export":  childExport,
		"reports": childReports,
		"flood":   childFlood,
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

var errBelow = errors.New("a bar is missed")

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("run", "", "run only the benches whose name matches this `expression`")
	strict := flags.Bool("strict", false, "fail when a bar is missed")
	folder := flags.String("dir", "", "make the files in this `folder`; the system's for such things without it")
	list := flags.Bool("list", false, "list the benches")
	child := flags.String("child", "", "for the bench itself: do `one` measurement and answer in JSON")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *child != "" {
		return answer(out, *child, flags.Args())
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	dir, err := os.MkdirTemp(*folder, "bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ran, below := 0, 0
	for _, b := range benches() {
		switch {
		case !wanted.MatchString(b.name):
			continue
		case *list:
			fmt.Fprintf(out, "%-12s %s\n", b.name, b.about)
			ran++
			continue
		}
		ran++
		lines, err := b.run(ctx, env{dir: dir})
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		for _, l := range lines {
			fmt.Fprintln(out, l)
			if !l.ok() {
				below++
			}
		}
	}
	switch {
	case ran == 0:
		return fmt.Errorf("no bench is called %q; -list shows them", *only)
	case below > 0 && *strict:
		return fmt.Errorf("%w: %d of the lines say below", errBelow, below)
	}
	return nil
}
