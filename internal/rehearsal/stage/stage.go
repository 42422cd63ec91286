// Package stage plays rehearsals, one after another. It must never know a real
// account's credentials or the provider's address.
//
// A rehearsal runs the desk's own code: the orders, the dispatcher with its
// licences, breaker and rate limiter, the gateway's client and the receiver, against
// the sandbox, so that requests, parts, doubts and pauses are counted and not
// guessed. To keep it away from everything real it gets a desk of its own: a
// database in a folder that is removed afterwards, a journal in memory, an
// account with made-up credentials, and a client whose only connections are pipes
// to a sandbox in this process. There is no socket, so nothing can leave, and of the
// real desk's tables it writes the row of the rehearsal alone. A clock that runs up
// to a hundred times as fast takes the waiting out.
package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sms"
)

// Store is what a Stage reads of the real desk, and the rehearsals that it writes.
type Store interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	Recipients(ctx context.Context, campaign int64) iter.Seq2[sms.Recipient, error]
	Past(ctx context.Context, account, since int64) (rehearsal.Past, error)
	BeginRehearsal(ctx context.Context, now int64) (rehearsal.Rehearsal, error)
	InterruptRehearsals(ctx context.Context, now int64) error
	Rehearsal(ctx context.Context, id int64) (rehearsal.Rehearsal, error)
	SaveRehearsal(ctx context.Context, r rehearsal.Rehearsal) error
}

// Stage plays what was ordered.
type Stage struct {
	store  Store
	folder string
	feed   *feed.Feed
	log    *slog.Logger
	now    func() time.Time
	rest   time.Duration // at each stop of one that is watched
	stuck  time.Duration // how long nothing may leave before it is given up
}

// New returns a Stage whose rehearsals have their folders in folder; Run makes it
// work.
func New(store Store, folder string, news *feed.Feed, log *slog.Logger, now func() time.Time) *Stage {
	return &Stage{store: store, folder: folder, feed: news, log: log, now: now, rest: watchRests, stuck: stuckAfter}
}

const (
	prefix     = "rehearsal-"
	looks      = 30 * time.Second
	watchRests = 3 * time.Second
	// stuckAfter is longer than any wait for the rate, which is over a minute where
	// the clock does not run faster.
	stuckAfter = 5 * time.Minute
	saveEvery  = 400 * time.Millisecond
)

// Run plays what waits until ctx ends. What an earlier process left in the middle
// is over, and its folder is removed.
func (s *Stage) Run(ctx context.Context) {
	s.clear()
	if err := s.store.InterruptRehearsals(ctx, s.now().UnixMilli()); err != nil && ctx.Err() == nil {
		s.log.Error("rehearsals of an earlier process are not ended", "error", err)
	}
	news := s.feed.Subscribe(feed.Rehearsals)
	defer news.Close()
	for {
		r, err := s.store.BeginRehearsal(ctx, s.now().UnixMilli())
		switch {
		case err == nil:
			s.perform(ctx, r)
			continue
		case !errors.Is(err, sms.ErrNotFound) && ctx.Err() == nil:
			s.log.Error("no rehearsal is begun", "error", err)
		}
		if !feed.Pause(ctx, looks, news.C()) {
			return
		}
		news.Take()
	}
}

// clear removes the folders that an earlier process left.
func (s *Stage) clear() {
	left, err := filepath.Glob(filepath.Join(s.folder, prefix+"*"))
	for _, folder := range left {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	if err != nil {
		s.log.Warn("the folder of a rehearsal is not removed", "error", err)
	}
}

// perform plays one and stores how it ended.
func (s *Stage) perform(ctx context.Context, r rehearsal.Rehearsal) {
	s.tell(r)
	playing, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.watchStop(playing, r.ID, stop)
	}()
	p := &play{Stage: s, r: r}
	err := p.run(playing)
	stopped := playing.Err() != nil
	stop()
	<-done
	switch {
	case ctx.Err() != nil:
		// The next start says that it was interrupted.
		return
	case stopped:
		s.tell(r)
		return
	case err != nil:
		s.log.Error("a rehearsal failed", "rehearsal", r.ID, "error", err)
		p.r.State = rehearsal.Failed
	default:
		p.r.State = rehearsal.Done
	}
	p.r.EndedAt = s.now().UnixMilli()
	if err := s.store.SaveRehearsal(ctx, p.r); err != nil && !errors.Is(err, sms.ErrConflict) {
		s.log.Error("what a rehearsal found is not stored", "rehearsal", r.ID, "error", err)
	}
	s.tell(r)
}

// watchStop ends the play once a person stopped it.
func (s *Stage) watchStop(ctx context.Context, id int64, stop func()) {
	news := s.feed.Subscribe(feed.Rehearsal(id))
	defer news.Close()
	for {
		if r, err := s.store.Rehearsal(ctx, id); err == nil && !r.Open() {
			stop()
			return
		}
		if !feed.Pause(ctx, time.Second, news.C()) {
			return
		}
		news.Take()
	}
}

// tell says that a rehearsal has changed.
func (s *Stage) tell(r rehearsal.Rehearsal) { s.feed.Publish(feed.Rehearsal(r.ID)) }

// save stores how far it is, and ends the play where a person stopped it.
func (p *play) save(ctx context.Context) error {
	if time.Since(p.saved) < saveEvery {
		return nil
	}
	p.saved = time.Now()
	if err := p.store.SaveRehearsal(ctx, p.r); err != nil {
		return fmt.Errorf("store how far a rehearsal is: %w", err)
	}
	p.tell(p.r)
	return nil
}

// makeFolder makes the folder of one rehearsal, and the function that removes it.
func (s *Stage) makeFolder() (folder string, remove func(), err error) {
	folder, err = os.MkdirTemp(s.folder, prefix)
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for a rehearsal: %w", err)
	}
	return folder, func() {
		if err := os.RemoveAll(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.log.Warn("the folder of a rehearsal is not removed", "folder", strings.TrimPrefix(folder, s.folder), "error", err)
		}
	}, nil
}
