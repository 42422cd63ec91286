package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"smsdesk/internal/gateway"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
	"smsdesk/storage"
	"smsdesk/web"
)

// front is what stands before the desk for as long as the process runs, whether
// the data folder can be used or not: the sockets, which are never closed in
// between, the inbox with its spool, and the tokens of callbacks.
type front struct {
	serveCommand
	env
	doors  []*door // of the pages; then of the callbacks where they have one of their own
	inbox  *storage.Inbox
	cache  *storage.CallbackCache
	tokens atomic.Pointer[map[[32]byte]sms.CallbackToken]
	stored atomic.Pointer[func()] // told after each commit of the inbox

	aside     int       // reports that went to the spool since asideSaid; the inbox's goroutine counts
	asideSaid time.Time // when that was last in the log

	keeping, serving         errgroup.Group
	stopKeeping, stopServing context.CancelFunc
	open, left, kept         sync.Once
	failed                   chan error
}

// door is a socket with what answers there at the moment.
type door struct {
	at      net.Listener
	server  *http.Server
	handler atomic.Pointer[http.Handler]
}

func (d *door) show(h http.Handler) { d.handler.Store(&h) }

// ServeHTTP lets the handler of this moment answer.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) { (*d.handler.Load()).ServeHTTP(w, r) }

const (
	// startSoon is how long a start may take before reports are acknowledged
	// without the desk.
	startSoon = time.Second
	// startAgain is the rest between two tries to open the data folder.
	startAgain = 3 * time.Second
)

// newFront opens the sockets. Connections wait in them until somebody answers.
func newFront(ctx context.Context, c serveCommand, e env) (*front, error) {
	f := &front{serveCommand: c, env: e, failed: make(chan error, 1)}
	if err := f.listen(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	f.inbox = storage.NewInbox(e.storage.Data, c.Spool)
	f.cache = storage.NewCallbackCache(e.storage.Data, c.Spool)
	if list, known := f.cache.Read(); known {
		f.know(list)
	}
	keep, stopKeeping := context.WithCancel(context.WithoutCancel(ctx))
	f.stopKeeping, f.stopServing = stopKeeping, func() {}
	f.keeping.Go(func() error { return f.inbox.Run(keep, f.nudge, f.spooled) })
	return f, nil
}

// listen opens the addresses of the pages and, where they have one of their
// own, of the callbacks. What a service manager has opened for them is used
// instead: it stays open over a restart.
func (f *front) listen() error {
	var addrs []string
	for _, addr := range []string{f.Listen, f.CallbackListen} {
		if addr != "" {
			addrs = append(addrs, addr)
		}
	}
	passed, err := passedListeners(len(addrs))
	if err != nil {
		return err
	}
	for i, addr := range addrs {
		d := &door{}
		// The pages' server has no write time-out: live pages stay open.
		d.server = &http.Server{Handler: d, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute,
			MaxHeaderBytes: 64 << 10,
			ErrorLog:       slog.NewLogLogger(f.log.Handler(), slog.LevelDebug)}
		if i > 0 {
			d.server.ReadHeaderTimeout, d.server.ReadTimeout, d.server.WriteTimeout = 3*time.Second, 5*time.Second, 9*time.Second
		}
		if len(passed) > 0 {
			f.log.Info("serving on a socket of the service manager", "address", passed[i].Addr().String())
			d.at = passed[i]
		} else if d.at, err = net.Listen("tcp", addr); err != nil {
			return fmt.Errorf("listen on %s: %w", addr, err)
		}
		f.doors = append(f.doors, d)
	}
	return nil
}

// show lets these answer from now on: pages at the first door, callbacks at the
// second, or both at one.
func (f *front) show(ctx context.Context, pages, callbacks http.Handler) {
	f.doors[0].show(pages)
	if len(f.doors) > 1 {
		f.doors[1].show(callbacks)
	}
	f.open.Do(func() {
		serve, stop := context.WithCancel(context.WithoutCancel(ctx))
		f.stopServing = stop
		for _, d := range f.doors {
			f.serving.Go(func() error { return f.fail(serveUntil(serve, d.server, d.at)) })
		}
		f.keeping.Go(func() error { f.inbox.KeepSpace(serve, f.unreserved); return nil })
	})
}

// fail reports the first error that must end the process.
func (f *front) fail(err error) error {
	if err != nil {
		select {
		case f.failed <- err:
		default:
		}
	}
	return err
}

// leave answers who was let in, and nobody else.
func (f *front) leave() (err error) {
	f.left.Do(func() {
		f.stopServing()
		err = f.serving.Wait()
	})
	return err
}

// keepLast stores what was acknowledged and returns when nothing is left.
func (f *front) keepLast() (err error) {
	f.kept.Do(func() {
		f.stopKeeping()
		err = f.keeping.Wait()
	})
	return err
}

// close closes what leave and keepLast have left.
func (f *front) close() (err error) {
	for _, d := range f.doors {
		err = errors.Join(err, unlessClosed(d.at.Close()))
	}
	if f.inbox != nil {
		err = errors.Join(err, f.leave(), f.keepLast(), f.inbox.Close())
	}
	return err
}

func (f *front) nudge() {
	if stored := f.stored.Load(); stored != nil {
		(*stored)()
	}
}

func (f *front) unreserved(why error) {
	f.log.Warn("no space is reserved for delivery reports of a time in which the disk is full", "error", why)
}

// raise builds the desk. Where that takes its time, or the data folder cannot
// be used, reports are acknowledged meanwhile and the pages say what is wrong;
// it tries until it succeeds. An error is one that trying again does not mend.
// After ctx has ended there may be no desk.
func (f *front) raise(ctx context.Context) (*server, error) {
	said := health.Trouble("")
	for {
		s, err := f.build(ctx, said)
		if err == nil || ctx.Err() != nil {
			return s, nil
		}
		trouble := f.trouble(err)
		if trouble == "" || !f.served() {
			return nil, err
		}
		if trouble != said {
			said = trouble
			f.log.Error("the desk cannot be opened: "+trouble.Sentence(), "error", err)
		}
		f.wait(ctx, trouble.Sentence())
		select {
		case <-ctx.Done():
			return nil, nil
		case err := <-f.failed:
			return nil, err
		case <-time.After(startAgain):
		}
	}
}

// build tries once. said is the trouble that the pages tell already.
func (f *front) build(ctx context.Context, said health.Trouble) (*server, error) {
	type built struct {
		s   *server
		err error
	}
	done := make(chan built, 1)
	go func() {
		s, err := newServer(ctx, f)
		done <- built{s, err}
	}()
	if said == "" {
		select {
		case b := <-done:
			return b.s, b.err
		case <-time.After(startSoon):
			f.wait(ctx, startSentence)
		}
	}
	select {
	case b := <-done:
		return b.s, b.err
	case <-ctx.Done():
	}
	// Another process may hold the folder for as long as it likes.
	select {
	case b := <-done:
		return b.s, b.err
	case <-time.After(stopAnswers):
		return nil, ctx.Err()
	}
}

const startSentence = "smsdesk is starting, so nothing is being sent. Opening a large data folder, or one that another program uses, takes a while."

// trouble is what keeps the data folder from being used. A disk that is full
// fails in many ways, so it is asked itself.
func (f *front) trouble(err error) health.Trouble {
	t := storage.TroubleOf(err)
	if p, ok := errors.AsType[*fs.PathError](err); ok && p.Op == "chmod" && errors.Is(err, syscall.EPERM) {
		return "" // the files are somebody else's
	}
	if (t == health.TroubleFailing || t == health.TroubleReadOnly) && storage.Full(f.storage.Data) {
		return health.TroubleFull
	}
	return t
}

// served says that there is a desk in the data folder, for which it is worth to
// wait. A folder that never held one is a mistake in the flags.
func (f *front) served() bool {
	return f.tokens.Load() != nil || len(f.storage.Files()) > 0
}

// wait answers without a desk: reports go to the spool, callers of USSD are
// told that it is closed, and every page says why.
func (f *front) wait(ctx context.Context, sentence string) {
	callbacks := withDeadlines(gateway.NewCallback(gateway.CallbackConfig{Reports: caller{front: f}, Sessions: apology{},
		Log: f.log}))
	f.show(ctx, web.Waiting(web.WaitingConfig{Sentence: sentence, Receives: f.receives, Callbacks: f.known(callbacks),
		Secure: f.secure(), Log: f.log}),
		web.Waiting(web.WaitingConfig{Receives: f.receives, Callbacks: f.known(callbacks), CallbacksOnly: true, Log: f.log}))
}

// apology ends every session: there is no desk yet.
type apology struct{}

func (apology) Answer(context.Context, int64, ussd.Request) (ussd.Answer, error) {
	return ussd.Answer{End: true, Text: ussd.Apology}, nil
}

// known turns callbacks away with 503 while nobody knows whose tokens are valid.
func (f *front) known(callbacks http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.tokens.Load() == nil {
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		callbacks.ServeHTTP(w, r)
	})
}

// receives says whether a delivery report would be acknowledged now.
func (f *front) receives(ctx context.Context) bool {
	if f.tokens.Load() == nil {
		return false
	}
	err := f.inbox.Takes(ctx)
	if err != nil {
		f.log.Error("no delivery report can be stored", "error", err)
	}
	return err == nil
}

func (f *front) secure() bool { return strings.HasPrefix(f.PublicURL, "https:") }
