package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/storage"
	"smsdesk/web"
	"smsdesk/web/page"
)

const (
	reportMessages    = 1_000_000
	reportConnections = 64
	reportSeconds     = 4
	openReports       = 1000 // a second
	openSeconds       = 10
	// The bars of an answer: at full speed, while a list is imported, and at
	// 1,000 reports a second.
	fullBar     = 20 * time.Millisecond
	importedBar = 50 * time.Millisecond
	openBar     = 100 * time.Millisecond
	benchToken  = "a-token-that-nobody-guesses"
)

// benchReports compares what reports cost when they are kept, and when they are
// kept and applied, with the same handler behind the same router that keeps
// nothing. The callers are a process of their own.
func benchReports(ctx context.Context, e env) ([]line, error) {
	synced, err := syncTime(e.dir)
	if err != nil {
		return nil, err
	}
	kept, err := newIntake(ctx, e, "kept", false)
	if err != nil {
		return nil, err
	}
	defer kept.stop()
	applied, err := newIntake(ctx, e, "applied", true)
	if err != nil {
		return nil, err
	}
	defer applied.stop()
	nothing := &intake{keep: func(context.Context, sms.RawReport) error { return nil }}
	var best [3]intakeRun
	for range rounds {
		for i, side := range []*intake{nothing, kept, applied} {
			r, err := side.closed(ctx, e)
			if err != nil {
				return nil, err
			}
			if r.rate > best[i].rate {
				best[i] = r
			}
		}
	}
	open, err := applied.open(ctx, e)
	if err != nil {
		return nil, err
	}
	ceiling := "the same router without storage " + perSecond(best[0].rate)
	return []line{
		{name: "reports: the disk", figure: fmt.Sprintf("%.2f ms to write and sync 16 KiB", ms(synced)),
			against: fmt.Sprintf("%d waiting for each sync would be %s", reportConnections,
				perSecond(reportConnections/synced.Seconds())),
			ratio: best[1].rate * synced.Seconds() / reportConnections},
		{name: "reports: acknowledged after the sync", figure: perSecond(best[1].rate), against: ceiling, ratio: best[1].rate / best[0].rate, bar: 0.5},
		slowest("reports: acknowledged after the sync, slowest", best[1].p99, fullBar),
		{name: "reports: acknowledged and applied, kept up with", figure: perSecond(best[2].rate), against: ceiling, ratio: best[2].rate / best[0].rate, bar: 0.3},
		slowest(fmt.Sprintf("reports: answered at %d a second", openReports), open.p99, openBar),
		{name: fmt.Sprintf("reports: answered at %d a second, usual", openReports),
			figure: fmt.Sprintf("p50 %.1f ms, the slowest %.1f ms", ms(open.p50), ms(open.most)), against: perSecond(open.rate) +
				" came, all were kept once", ratio: open.rate / openReports},
	}, nil
}

func slowest(name string, p99, bar time.Duration) line {
	return line{name: name, figure: fmt.Sprintf("p99 %.1f ms", ms(p99)), against: fmt.Sprintf("of %.0f ms", ms(bar)),
		ratio: p99.Seconds() / bar.Seconds(), bar: 1, most: true}
}

func perSecond(rate float64) string { return fmt.Sprintf("%.0f reports/s", rate) }

// syncTime is the usual time of an append of a few pages with its sync.
func syncTime(dir string) (time.Duration, error) {
	f, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	page, took := make([]byte, 16<<10), make([]time.Duration, 0, 200)
	for range cap(took) {
		began := time.Now()
		_, err := f.Write(page)
		if err = errors.Join(err, f.Sync()); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// intake answers reports in this process: with nothing behind it, with the
// inbox, or with everything up to the messages' counts.
type intake struct {
	keep     func(context.Context, sms.RawReport) error
	inbox    *storage.Inbox
	db       *storage.DB
	account  int64
	receiver *workers.Receiver
	next     int   // report that comes next
	answered int64 // in all runs
	ended    []func() error
}

func newIntake(ctx context.Context, e env, name string, apply bool) (*intake, error) {
	data := e.path(name)
	s := &intake{account: 1}
	messages := int64(smallCampaign)
	if apply {
		messages = reportMessages
	}
	seeded, err := seedFresh(ctx, data, messages, messages)
	if err != nil {
		return nil, err
	}
	s.account = seeded.account
	if s.db, err = storage.Open(ctx, storage.Config{Data: data}); err != nil {
		return nil, err
	}
	s.ended = append(s.ended, s.db.Close)
	logged, err := s.db.OpenReportLog(ctx, data, time.Now)
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.ended = append(s.ended, logged.Close)
	s.inbox = storage.NewInbox(data, "")
	s.inbox.LogWith(logged, 0)
	s.keep = s.inbox.Keep
	s.ended = append(s.ended, s.inbox.Close)
	if err := s.inbox.Open(ctx, 0); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	told := func() {}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	if apply {
		s.receiver = workers.NewReceiver(s.inbox, s.db, gateway.ParseReport, feed.New(), slog.New(slog.DiscardHandler),
			time.Now)
		s.receiver.ReplayFrom(logged)
		told = s.receiver.Notify
		running.Go(func() { s.receiver.Run(ctx) })
	}
	running.Go(func() { _ = s.inbox.Run(ctx, told, func(int, error) {}) })
	s.ended = append(s.ended, func() error { stop(); running.Wait(); return os.RemoveAll(data) })
	return s, nil
}

func (s *intake) stop() error {
	var errs []error
	for i := len(s.ended) - 1; i >= 0; i-- {
		errs = append(errs, s.ended[i]())
	}
	s.ended = nil
	return errors.Join(errs...)
}

// intakeRun is what callers saw, and for applied reports the rate at which
// they were applied too.
type intakeRun struct {
	rate           float64
	p50, p99, most time.Duration
}

func (s *intake) closed(ctx context.Context, e env) (intakeRun, error) {
	return s.run(ctx, e, "closed", reportConnections, reportSeconds)
}

func (s *intake) open(ctx context.Context, e env) (intakeRun, error) {
	return s.run(ctx, e, "open", openReports, openSeconds)
}

// run lets callers in and waits until everything that they told is applied. A
// report that was answered and is not there is an error.
func (s *intake) run(ctx context.Context, e env, model string, size, seconds int) (r intakeRun, err error) {
	address, stop, err := s.serve()
	if err != nil {
		return r, err
	}
	defer stop()
	began := time.Now()
	f, err := e.child(ctx, "reports", address+"/dlr/"+benchToken, model, strconv.Itoa(size), strconv.Itoa(seconds),
		strconv.Itoa(s.next))
	if err != nil {
		return r, err
	}
	s.next += int(f["asked"])
	s.answered += int64(f["answered"])
	took := f["seconds"]
	if s.inbox != nil {
		if err := s.settled(ctx); err != nil {
			return r, err
		}
	}
	if s.receiver != nil && model == "closed" {
		// The callers' process needs a moment to start and to end.
		took = max(took, time.Since(began).Seconds()-f["around"])
	}
	return intakeRun{rate: f["answered"] / took, p50: seconds64(f["p50"]), p99: seconds64(f["p99"]),
		most: seconds64(f["most"])}, nil
}

func seconds64(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// settled waits until all reports are applied, where they are, and compares
// their number with the answers.
func (s *intake) settled(ctx context.Context) error {
	if s.receiver == nil {
		list, err := s.inbox.After(ctx, s.answered-1, 2)
		if err != nil || len(list) != 1 || list[0].ID != s.answered {
			return errors.Join(err, fmt.Errorf("%d reports were acknowledged, and the inbox ends elsewhere", s.answered))
		}
		return nil
	}
	for {
		cursor, err := s.db.InboxCursor(ctx)
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if cursor == s.answered {
			return s.complete(ctx)
		}
		if cursor > s.answered {
			return fmt.Errorf("%d reports were acknowledged and %d kept", s.answered, cursor)
		}
		time.Sleep(time.Millisecond)
	}
}

// complete compares what was applied with what was acknowledged.
func (s *intake) complete(ctx context.Context) error {
	n, err := s.db.ReportArrivals(ctx, s.account)
	if err != nil || n != s.answered {
		return errors.Join(err, fmt.Errorf("%d reports were acknowledged and %d are stored", s.answered, n))
	}
	return nil
}

// intakeReports keeps what an intake is sent.
type intakeReports struct{ to *intake }

func (b intakeReports) Account(hash [32]byte) (int64, bool) {
	return max(1, b.to.account), hash == sha256.Sum256([]byte(benchToken))
}

func (b intakeReports) Keep(ctx context.Context, account, at int64, remote, query string) error {
	return b.to.keep(ctx, sms.RawReport{AccountID: account, ReceivedAt: at, Remote: remote, Query: query})
}

func (intakeReports) Receives(context.Context) bool       { return true }
func (intakeReports) Refused()                            {}
func (intakeReports) TakesPosts([32]byte) bool            { return false }
func (intakeReports) Posted(int64)                        {}
func (intakeReports) Answered(int64, time.Duration, bool) {}

// serve answers reports behind the router of all pages.
func (s *intake) serve() (address string, stop func(), err error) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	callbacks := gateway.NewCallback(gateway.CallbackConfig{Reports: intakeReports{s}, Log: log})
	routes := web.New(web.Config{
		Config: page.Config{Feed: feed.New(), Log: log, PublicURL: "http://127.0.0.1:8080", Now: time.Now},
		Spool:  os.TempDir(),
	}).Routes(callbacks)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: routes, ReadHeaderTimeout: 3 * time.Second, IdleTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String(), func() { _ = server.Close() }, nil
}

// benchReportsImporting is a running smsdesk that takes reports about a million
// messages of one account at full speed, alone and while a list of a million
// rows is imported into another.
func benchReportsImporting(ctx context.Context, e env) ([]line, error) {
	path := e.path("reports.csv")
	if err := writeFile(path, ordinaryList(importRows)); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(path) }()
	seeded, err := seedFresh(ctx, e.path("reported"), reportMessages, reportMessages)
	if err != nil {
		return nil, err
	}
	s, err := serve(ctx, e, "reported")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	callback, err := s.callbackOf(ctx, seeded.account)
	if err != nil {
		return nil, err
	}
	call := func(until string, from int) (figures, error) {
		return e.child(ctx, "reports", callback, "closed", strconv.Itoa(reportConnections), until, strconv.Itoa(from))
	}
	alone, err := call("10", 0)
	if err != nil {
		return nil, err
	}
	type ended struct {
		f   figures
		err error
	}
	calls, flag := make(chan ended, 1), e.path("importing")
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		return nil, err
	}
	go func() {
		f, err := call("while "+flag, int(alone["asked"]))
		calls <- ended{f, err}
	}()
	_, err = s.importList(ctx, path)
	if err = errors.Join(err, os.Remove(flag)); err != nil {
		return nil, err
	}
	busy := <-calls
	if busy.err != nil {
		return nil, busy.err
	}
	if err := s.wholly(ctx, seeded.account, int64(alone["answered"]+busy.f["answered"])); err != nil {
		return nil, err
	}
	own, meanwhile := alone["answered"]/alone["seconds"], busy.f["answered"]/busy.f["seconds"]
	return []line{
		{name: "reports: during an import of a million rows", figure: perSecond(meanwhile), against: "alone " + perSecond(own), ratio: meanwhile / own, bar: 0.5},
		slowest("reports: during an import, slowest", seconds64(busy.f["p99"]), importedBar),
	}, nil
}

// wholly waits until a running smsdesk has applied so many reports, and says
// so when it has another number at last.
func (s *served) wholly(ctx context.Context, account, answered int64) error {
	n, err := s.settled(ctx, account, answered)
	if err == nil && n != answered {
		err = fmt.Errorf("%d reports were acknowledged and %d are stored", answered, n)
	}
	return err
}

// settled waits until so many reports of an account are stored, or until no
// more of them come, and says how many there are.
func (s *served) settled(ctx context.Context, account, answered int64) (n int64, err error) {
	for stands := 0; stands < 60; stands++ {
		now, err := s.db.ReportArrivals(ctx, account)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return n, err
		}
		if now > n {
			n, stands = now, 0
		}
		if n >= answered {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	return n, nil
}

// childReports calls an address with reports about the messages of campaign 1:
// closed with some callers who each wait for their answer, for some seconds or
// while a file is there; open with so many a second, whether answers come or
// not, measured from the moment at which each was due.
func childReports(args []string) (figures, error) {
	if len(args) != 5 {
		return nil, errors.New("an address, a model, a size, an end and the first report are to be named")
	}
	started := time.Now()
	size, err := strconv.Atoi(args[2])
	if err != nil {
		return nil, err
	}
	from, err := strconv.Atoi(args[4])
	if err != nil {
		return nil, err
	}
	c := &caller{address: args[0], next: from, client: &http.Client{Timeout: 30 * time.Second,
		Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024, DisableCompression: true}}}
	began := time.Now()
	if args[1] == "open" {
		err = c.open(size, args[3])
	} else {
		err = c.closed(size, args[3])
	}
	if err != nil {
		return nil, err
	}
	end := time.Now()
	slices.Sort(c.took)
	at := func(of int) float64 { return c.took[(len(c.took)*of-1)/1000].Seconds() }
	return figures{"asked": float64(c.next - from), "answered": float64(len(c.took)), "seconds": end.Sub(began).Seconds(),
		"p50": at(500), "p99": at(990), "most": at(1000),
		"around": began.Sub(started).Seconds() + time.Since(end).Seconds()}, nil
}

type caller struct {
	address string
	client  *http.Client
	mu      sync.Mutex
	next    int
	took    []time.Duration
	fault   error
}

func (c *caller) closed(callers int, until string) error {
	flag, whileThere := strings.CutPrefix(until, "while ")
	seconds, err := strconv.Atoi(until)
	if err != nil && !whileThere {
		return err
	}
	deadline := time.Now().Add(time.Duration(seconds) * time.Second)
	goes := func() bool { return time.Now().Before(deadline) }
	if whileThere {
		goes = func() bool { _, err := os.Stat(flag); return err == nil }
	}
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for goes() && c.call(time.Now()) {
			}
		})
	}
	all.Wait()
	return c.fault
}

func (c *caller) open(each int, seconds string) error {
	n, err := strconv.Atoi(seconds)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	due := time.Now()
	for range n * each {
		due = due.Add(time.Second / time.Duration(each))
		time.Sleep(time.Until(due))
		at := due
		all.Go(func() { c.call(at) })
	}
	all.Wait()
	return c.fault
}

// call sends the next report; false when it was not acknowledged.
func (c *caller) call(asked time.Time) bool {
	c.mu.Lock()
	i := c.next
	c.next++
	c.mu.Unlock()
	resp, err := c.client.Get(c.address + "?" + reportQuery(i))
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		err = errors.Join(err, resp.Body.Close())
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("a report was answered %s", resp.Status)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.fault = err
		return false
	}
	c.took = append(c.took, time.Since(asked))
	return true
}

// reportWindow is how many messages' reports come all mixed up.
const reportWindow = 20_000

// reportQuery is report i as the service would send it: every twentieth comes
// twice, and neighbours come mixed up, as campaigns that are sent together do.
func reportQuery(i int) string {
	n := i - i/20
	n = n/reportWindow*reportWindow + (n%reportWindow)*7919%reportWindow + 1
	number := 2348030000000 + (n*7919+104729)%people
	return fmt.Sprintf(
		"messageId=id-1-%d&mobile=%d&submitDate=2026-06-03+09:48&doneDate=2026-06-03+09:49&status=DELIVRD&errorCode=000&shortMessage=Dear+patient+%d", n, number, n)
}
