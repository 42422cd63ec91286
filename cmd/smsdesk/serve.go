package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/health"
	"smsdesk/internal/lists"
	"smsdesk/internal/rehearsal/stage"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/series/orders"
	"smsdesk/internal/sms"
	"smsdesk/internal/ussd/session"
	"smsdesk/internal/workers"
	"smsdesk/storage"
	"smsdesk/web"
	"smsdesk/web/campaign"
	"smsdesk/web/kept"
	"smsdesk/web/page"
	"smsdesk/web/series"
	"smsdesk/web/ussd"
)

type serveCommand struct {
	Listen         string        `default:"127.0.0.1:8080" help:"Listen address for the web pages." env:"SMSDESK_LISTEN"`
	PublicURL      string        `name:"public-url" help:"Public URL of this smsdesk, for staff and the provider; default http://LISTEN." env:"SMSDESK_PUBLIC_URL"`
	CallbackListen string        `help:"Separate listen address for delivery reports and USSD." env:"SMSDESK_CALLBACK_LISTEN"`
	CallsInFlight  int           `default:"8" help:"Maximum concurrent requests per account. After a crash, messages in these requests are in doubt." env:"SMSDESK_CALLS_IN_FLIGHT"`
	Sandbox        bool          `default:"true" negatable:"" help:"Run the embedded sandbox with its test account." env:"SMSDESK_SANDBOX"`
	TrustedProxy   []string      `help:"Trusted reverse proxies for X-Forwarded-For, for example 10.0.0.0/8." env:"SMSDESK_TRUSTED_PROXY"`
	Heartbeat      time.Duration `default:"10s" help:"Heartbeat interval; missing heartbeats are shown as outages." env:"SMSDESK_HEARTBEAT"`
	Mail           mailFlags     `embed:""`
	Backup         backupFlags   `embed:""`
	Spool          string        `help:"Fallback folder for delivery reports when the inbox is not writable, ideally on another disk. Default: data/spool." env:"SMSDESK_SPOOL" type:"path"`
	Dev            bool          `help:"Show developer pages, for example /styleguide." env:"SMSDESK_DEV"`
}

// stopCalls is how long calls in flight may take to finish at a stop.
const stopCalls = 90 * time.Second

// Run serves until it is told to stop; then it stops claiming, lets calls in
// flight finish, drains the inbox and closes.
func (c serveCommand) Run(ctx context.Context, e env) (err error) {
	c, bad := c.normalize()
	if bad = append(e.check(), bad...); len(bad) > 0 {
		return bad
	}
	if err := e.storage.Served(); err != nil {
		return err
	}
	f, err := newFront(ctx, c, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	s, err := f.raise(ctx)
	if s == nil {
		return err
	}
	defer s.close()
	return s.run(ctx)
}

// normalize fills in what follows from the rest and lists what is wrong.
func (c serveCommand) normalize() (serveCommand, flagErrors) {
	var bad flagErrors
	for _, l := range []struct{ flag, addr string }{{"--listen", c.Listen}, {"--callback-listen", c.CallbackListen}} {
		if l.addr == "" {
			continue
		}
		if _, port, err := net.SplitHostPort(l.addr); err != nil || port == "" {
			bad = append(bad, fmt.Sprintf("%s: %q is not an address like 127.0.0.1:8080", l.flag, l.addr))
		}
	}
	if c.CallbackListen != "" && c.CallbackListen == c.Listen {
		bad = append(bad, "--callback-listen: leave it out to answer callbacks on --listen")
	}
	for _, p := range c.TrustedProxy {
		if _, _, err := net.ParseCIDR(p); err != nil {
			bad = append(bad, fmt.Sprintf("--trusted-proxy: %q is not a network like 10.0.0.0/8", p))
		}
	}
	if c.Heartbeat < 100*time.Millisecond || c.Heartbeat > time.Minute {
		bad = append(bad, "--heartbeat: give a time from 100ms to 1m")
	}
	bad = append(bad, c.Mail.check()...)
	bad = append(bad, c.Backup.check()...)
	if c.CallsInFlight < 1 || c.CallsInFlight > 64 {
		bad = append(bad, "--calls-in-flight: give a number from 1 to 64")
	}
	if c.PublicURL == "" {
		c.PublicURL = "http://" + reachable(c.Listen)
	} else {
		bad = append(bad, checkPublicURL(c.PublicURL)...)
	}
	return c, bad
}

// reachable turns a listen address into one that this machine can call.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// server is a running desk: its parts, in the order in which they are closed.
type server struct {
	*front
	db         *storage.DB
	feed       *feed.Feed
	accounts   *gateway.Accounts[campaignLine]
	desk       *desk.Desk
	journal    *storage.Journal
	reports    *storage.ReportLog
	blocks     *storage.BlockLog
	receiver   *workers.Receiver
	sessions   *session.Sessions
	phone      *sandbox.Phone
	dispatcher *workers.Dispatcher
	scheduler  *workers.Scheduler
	repeater   *workers.Repeater
	series     *orders.Series
	lists      *lists.Lists
	downloads  *lists.Downloads
	importer   *lists.Importer
	reader     *workers.Reader
	reconciler *workers.Reconciler
	forgetter  *workers.RetentionJob
	stage      *stage.Stage
	backups    *backups
	pulse      *workers.ReceiverStats
	sandbox    *sandbox.Sandbox
	sandboxURL string
	service    *listening // of the sandbox
	outage     *workers.Outage
	witness    *workers.Witness
	closers    []func() error
	stopping   chan struct{}
	proxies    *proxyWatch
	kept       *kept.Folder                    // nil: nothing is kept
	question   atomic.Pointer[health.Question] // why nothing is sent; nil: it is
}

type listening struct {
	at     net.Listener
	server *http.Server
}

// newServer builds a desk in the data folder, or nothing.
func newServer(ctx context.Context, f *front) (*server, error) {
	db, err := f.env.open(ctx, nil, f.Spool)
	if err != nil {
		return nil, err
	}
	s := &server{front: f, db: db, feed: feed.New(), stopping: make(chan struct{})}
	if err := s.build(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *server) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		if err := s.closers[i](); err != nil {
			s.log.Error("not closed cleanly", "error", err)
		}
	}
	if err := s.db.Close(); err != nil {
		s.log.Error("database not closed cleanly", "error", err)
	}
}

func (s *server) build(ctx context.Context) error {
	release, err := s.db.AcquireDispatchLock()
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() error { release(); return nil })
	s.journal = s.env.openJournal(s.db)
	s.closers = append(s.closers, s.journal.Close)
	cursor, err := s.db.InboxCursor(ctx)
	if err != nil {
		return err
	}
	if err := s.openLogs(ctx); err != nil {
		return err
	}
	s.closers = append(s.closers, s.inbox.Shut)
	if err = s.inbox.Open(ctx, cursor); err != nil {
		return err
	}
	if err := s.meetInbox(ctx); err != nil {
		return err
	}
	s.accounts = gateway.NewAccounts(opener(s.log, time.Now), s.db, s.log)
	s.watchClock(s.journal.Newest)
	forDesk, sending := gateway.See(s.accounts, forOrders), gateway.See(s.accounts, forSending)
	s.desk = desk.New(orderStores(s.db), forDesk, s.feed, s.log, wall)
	stopKey, err := s.db.StopKey()
	if err != nil {
		return err
	}
	links, err := sms.NewStopLinks(s.PublicURL, stopKey)
	if err != nil {
		return err
	}
	s.desk.UseStopLinks(links)
	s.lists = lists.New(s.db, lists.Config{Feed: s.feed, Log: s.log, Now: wall, Audit: feed.AuditTo(s.db, s.log, wall),
		Stops: links, Checks: s.desk.Records, Corrected: s.db, Already: s.db})
	s.downloads = lists.NewDownloads(s.lists, s.db)
	s.receiver = workers.NewReceiver(s.inbox, s.db, gateway.ParseReport, s.feed, s.log, wall)
	s.receiver.ReplayFrom(s.reports)
	// A webhook inside this network is only for a desk that nobody else reaches.
	spool, err := storage.OpenUSSDSpool(s.storage.Data)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, spool.Close)
	s.sessions = session.New(s.db, spool, gateway.NewWebhook(s.isLocalOnly()).Ask, s.desk.People, s.feed, s.log, wall)
	s.phone = sandbox.NewPhone()
	s.openKept()
	s.dispatcher = workers.NewDispatcher(s.db, s.journal, sending, s.feed, s.CallsInFlight, s.log, wall)
	s.scheduler = workers.NewScheduler(workers.SchedulerConfig{Store: s.db, Orders: s.desk.Campaigns, Clocks: s.accounts,
		Feed: s.feed, Log: s.log, Now: wall, Elapsed: elapsed})
	s.series = orders.New(s.db, s.desk, s.feed, s.log, wall)
	s.repeater = workers.NewRepeater(s.db, repeats{s.series, s.lists}, s.log, wall)
	s.importer = lists.NewImporter(s.lists, s.db)
	s.reader = workers.NewReader(s.db, desk.NewReadings(s.db, forDesk, wall), s.accounts, s.feed, s.log, wall)
	if s.Mail.SMTP != "" {
		m, err := newMailer(s.Mail, wall)
		if err != nil {
			return err
		}
		s.reader.MailWith(m)
	}
	s.reconciler = workers.NewReconciler(s.db, sending, s.feed, s.log, wall)
	s.forgetter = workers.NewRetentionJob(s.db, s.feed, s.log, wall)
	s.stage = stage.New(s.db, s.storage.Data, s.feed, s.log, wall)
	s.backups = s.newBackups()
	s.pulse = workers.NewPulse(s.db, s.answersCallbacks, s.Heartbeat, s.feed, s.log, wall)
	s.endure()
	s.listenToBalance()
	if s.Sandbox {
		if err := s.buildSandbox(ctx); err != nil {
			return err
		}
	}
	if err := s.sessions.Prepare(ctx); err != nil {
		return err
	}
	s.proxies = &proxyWatch{settings: s.db, log: s.log, now: time.Now}
	if err := s.proxies.forget(ctx); err != nil {
		return err
	}
	unkept, err := s.readTokens(ctx)
	if unkept != nil {
		s.log.Warn("callback addresses not kept", "error", unkept)
	}
	return err
}

// answer lets the desk answer. Pages and callbacks have separate servers, where
// both addresses are given, so that a flood of one does not starve the other.
func (s *server) answer(ctx context.Context) {
	callbacks := withDeadlines(gateway.NewCallback(gateway.CallbackConfig{Reports: caller{s.front, s.pulse},
		Sessions: s.sessions, Log: s.log}))
	besides := callbacks
	if s.CallbackListen != "" {
		besides = nil
	}
	stored := s.receiver.Notify
	s.stored.Store(&stored)
	s.show(ctx, s.pages().Routes(besides), callbacks)
}

func (s *server) pages() *web.Web {
	ask := web.Questions{
		Health: s.db, Account: s.db, Endpoint: s.db, Journal: s.db, Balance: s.db, Report: s.db,
		Record: s.db, People: s.db, Blocked: s.db, Staff: s.db, Token: s.db, API: s.db, APIKept: s.db,
		APIFollow: s.db,
	}
	do := web.Orders{
		Account: s.desk, Endpoint: s.desk.Accounts, Retention: s.desk.Accounts, Backup: s.desk.Accounts,
		Journal: s.desk.Journal, Balance: s.desk.Records, Report: s.desk.Doubts, Record: s.desk.Records,
		People: s.desk.People, Audience: s.lists, Blocked: s.desk.People, OptOut: s.desk.People, Staff: s.desk.Staff,
		Token: s.desk.Staff, Door: s.desk, API: s.desk, APILists: s.lists, APIData: s.desk, APITokens: s.desk,
		APIDrafts: s.desk, APIDecide: s.desk,
	}
	campaigns := campaign.Config{
		Ask: campaign.Questions{Base: s.db, Beside: s.db, Campaign: s.db, Message: s.db, Confirm: s.db, Draft: s.db, Upload: s.db,
			Doubt: s.db, Overview: s.db, Find: s.db, Rehearsal: s.db, Wall: s.db},
		Do: campaign.Orders{Campaign: s.desk, Message: s.desk, Download: s.downloads,
			Confirm: s.desk, Draft: s.desk.Campaigns, Upload: s.lists,
			Correct: lists.NewCorrections(s.lists, s.db), Audience: s.lists, Doubt: s.desk.Doubts,
			Rehearsal: s.desk.Rehearsals, Wall: s.desk.Walls},
	}
	menus := ussd.Config{
		Ask: ussd.Questions{MenuBase: s.db, Menu: s.db, Caller: s.db},
		Do:  ussd.Orders{Menu: s.desk.Menus, Caller: s.desk.Menus}, Press: s.press, Try: s.sessions.Try,
	}
	site := page.Config{Ask: s.db, Do: s.desk, Feed: s.feed, Log: s.log, Now: wall,
		PublicURL: s.PublicURL, Secure: s.secure(), Proxies: s.TrustedProxy, Backups: s.backups, Outage: s.outage.Sentence,
		Witness: s.witness.Sentence, Stopping: s.stopping, Kept: s.keeping()}
	return web.New(web.Config{Config: site, Ask: ask, Do: do, Campaign: campaigns, USSD: menus,
		Series: series.Config{Calendar: s.db, Ask: s.db, Do: s.series}, Dev: s.Dev,
		SandboxURL: s.sandboxURL, Spool: s.storage.Data,
		Mails: s.Mail.SMTP != "", Ready: s.ready, Receives: s.receives, Proxied: s.proxies.saw})
}

// withDeadlines bounds one callback even on a listener that serves live pages.
func withDeadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, now := http.NewResponseController(w), time.Now()
		if err := errors.Join(c.SetReadDeadline(now.Add(5*time.Second)),
			c.SetWriteDeadline(now.Add(9*time.Second))); err != nil {
			http.Error(w, "", http.StatusInternalServerError)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// run starts every goroutine and stops them in reverse.
func (s *server) run(ctx context.Context) error {
	lastCtx, stopLast := context.WithCancel(context.WithoutCancel(ctx))
	serveCtx, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	beatCtx, stopBeats := context.WithCancel(context.WithoutCancel(ctx))
	loopCtx, stopLoops := context.WithCancel(ctx)
	defer stopLoops()
	var last, servers, loops, beats errgroup.Group
	s.answer(ctx)
	if s.sandbox != nil {
		servers.Go(func() error { return s.fail(serveUntil(serveCtx, s.service.server, s.service.at)) })
		servers.Go(func() error { return s.fail(s.sandbox.Run(serveCtx)) })
	}
	loops.Go(func() error { s.receiver.Run(loopCtx); return nil })
	loops.Go(func() error { s.reader.Run(loopCtx); return nil })
	loops.Go(func() error { s.keepTokens(loopCtx); return nil })
	last.Go(func() error { s.sessions.Store(lastCtx); return nil })
	last.Go(func() error { s.sessions.Run(lastCtx); return nil })
	loops.Go(func() error { return s.fail(ignoreIfStopped(loopCtx, s.importer.Run(loopCtx))) })
	loops.Go(func() error { s.reconciler.MatchReports(loopCtx); return nil })
	loops.Go(func() error { s.reconciler.QueryStatuses(loopCtx); return nil })
	loops.Go(func() error { s.forgetter.Run(loopCtx); return nil })
	loops.Go(func() error { s.stage.Run(loopCtx); return nil })
	loops.Go(func() error { s.keepLogShort(loopCtx); return nil })
	loops.Go(func() error { s.backups.Run(loopCtx); return nil })
	loops.Go(func() error { s.keepLogs(loopCtx); return nil })
	loops.Go(func() error { s.sweepKept(loopCtx); return nil })
	beats.Go(func() error { s.pulse.Run(beatCtx); return nil })
	loops.Go(func() error { return s.fail(ignoreIfStopped(loopCtx, s.runDispatcher(loopCtx))) })
	s.warn()
	s.welcome(ctx)

	var err error
	select {
	case <-ctx.Done():
		s.log.Info("stopping: no new calls, calls in flight may finish")
	case err = <-s.failed:
	}
	stopLoops()
	err = errors.Join(err, withTimeout(stopCalls, loops.Wait))
	close(s.stopping)
	// The last beat is taken while callbacks are still answered.
	stopBeats()
	err = errors.Join(err, beats.Wait())
	stopServing()
	err = errors.Join(err, s.leave(), servers.Wait())
	stopLast()
	return errors.Join(err, s.keepLast(), last.Wait(), s.receiver.Drain(context.WithoutCancel(ctx)),
		s.sessions.Drain(context.WithoutCancel(ctx)))
}

func unlessClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// ignoreIfStopped forgets the error of work that was told to stop in its middle.
func ignoreIfStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func withTimeout(most time.Duration, wait func() error) error {
	done := make(chan error, 1)
	go func() { done <- wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(most):
		return fmt.Errorf("requests still in flight after %s; their messages are now in doubt", most)
	}
}

// warn says what will not work although nothing is wrong with the flags.
func (s *server) warn() {
	if strings.HasPrefix(s.PublicURL, "http:") && !s.isLocalOnly() {
		s.log.Warn(
			"forms only work over https from other machines: put a TLS reverse proxy in front and set --public-url to its https URL")
	}
}

// welcome prints where to go; the set-up address is shown here only.
func (s *server) welcome(ctx context.Context) {
	token, needed, err := s.desk.OpenSetup(ctx)
	switch {
	case err != nil:
		s.log.Error("set-up not opened", "error", err)
	case needed:
		fmt.Fprintf(s.out, "smsdesk: open %s/setup?token=%s within 15 minutes to create the first administrator\n",
			s.PublicURL, token)
	default:
		fmt.Fprintf(s.out, "smsdesk: serving at %s\n", s.PublicURL)
	}
}
