package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"smsdesk/internal/desk"
)

const (
	livePages      = 200
	livePerSession = 4 // streams that one session may have
	liveWarm       = 5 * time.Second
	liveFor        = 15 * time.Second
	liveBar        = time.Second
	// flatBar is how much more memory a running smsdesk may hold at the end
	// than after the first seconds.
	flatBar = 1.25
)

// benchLive is a running smsdesk with many open live pages while reports
// arrive: each page asks again for the parts of itself that move as soon as it
// hears of a change, as the report log does in a browser.
func benchLive(ctx context.Context, e env) ([]line, error) {
	s, err := serve(ctx, e, "live")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	ctx, stop := context.WithTimeout(ctx, liveWarm+liveFor)
	defer stop()
	watched := &watching{warm: time.Now().Add(liveWarm)}
	var all sync.WaitGroup
	for range livePages / livePerSession {
		token := desk.NewToken()
		if err := s.db.CreateSession(ctx, sha256.Sum256([]byte(token)), s.by.ID, "bench",
			time.Now().UnixMilli()); err != nil {
			return nil, err
		}
		for range livePerSession {
			all.Go(func() { watched.page(ctx, s, token) })
		}
	}
	var faults error
	var answered []time.Duration
	all.Go(func() {
		answered, faults = paced(ctx, time.Second/openReports, func(i int) error {
			return s.get(s.callback + "?" + reportQuery(i))
		})
	})
	time.Sleep(liveWarm)
	before, err := residentOf(s.process.Process.Pid)
	if err != nil {
		return nil, err
	}
	time.Sleep(liveFor - 500*time.Millisecond)
	after, err := residentOf(s.process.Process.Pid)
	all.Wait()
	if err = errors.Join(err, faults, watched.fault); err != nil {
		return nil, err
	}
	if len(watched.took) < livePages {
		return nil, fmt.Errorf("%d pages renewed themselves %d times", livePages, len(watched.took))
	}
	at := p95(watched.took)
	return []line{
		{name: fmt.Sprintf("live: report to screen on %d pages", livePages), figure: fmt.Sprintf("p95 %.0f ms of %d", ms(at), len(watched.took)),
			against: fmt.Sprintf("of %.0f ms (%d reports came, p99 of their answers %.1f ms)", ms(liveBar), len(answered),
				ms(p99(answered))), ratio: at.Seconds() / liveBar.Seconds(), bar: 1, most: true},
		{name: "live: memory stays flat", figure: fmt.Sprintf("%.0f MiB at the end", after/mib),
			against: fmt.Sprintf("%.0f MiB after %s", before/mib, liveWarm), ratio: after / before, bar: flatBar, most: true},
	}, nil
}

// residentOf is what a process has resident now, in bytes.
func residentOf(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for entry := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(entry, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib * 1024, err
		}
	}
	return 0, errors.New("measure memory: the system does not tell")
}

// watching gathers, for each renewal of a page, how old the oldest report can
// be that it shows first: reports come all the time, so it came right after
// the page before was asked for.
type watching struct {
	warm  time.Time
	mu    sync.Mutex
	took  []time.Duration
	fault error
}

func (w *watching) page(ctx context.Context, s *served, token string) {
	account := strconv.FormatInt(s.account.ID, 10)
	stream, err := s.as(ctx, token, "/live?t=reports:"+account+"&t=account:"+account+"&t=campaigns:"+account)
	if err != nil {
		w.note(ctx, err)
		return
	}
	defer func() { _ = stream.Body.Close() }()
	if stream.StatusCode != http.StatusOK {
		w.note(ctx, fmt.Errorf("a live page was answered %s", stream.Status))
		return
	}
	// A browser drops what it heard while it was fetching: one look shows all.
	changed := make(chan struct{}, 1)
	go func() {
		for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "event: reports") {
				select {
				case changed <- struct{}{}:
				default:
				}
			}
		}
	}()
	var last time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		asked := time.Now()
		for _, part := range []string{"/reports?kind=&seen=0", "/side?nav=reports&path=%2Freports"} {
			if err := s.renew(ctx, token, part); err != nil {
				w.note(ctx, err)
				return
			}
		}
		if !last.IsZero() && asked.After(w.warm) {
			w.mu.Lock()
			w.took = append(w.took, time.Since(last))
			w.mu.Unlock()
		}
		last = asked
	}
}

func (w *watching) note(ctx context.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() == nil && w.fault == nil {
		w.fault = err
	}
}

// renew asks for a part of a page as htmx does.
func (s *served) renew(ctx context.Context, token, part string) error {
	resp, err := s.as(ctx, token, part)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("a part of a page was answered %s", resp.Status)
	}
	return err
}

// as asks in a session for what a page fetches by itself.
func (s *served) as(ctx context.Context, token, page string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+page, nil)
	if err != nil {
		return nil, err
	}
	r.AddCookie(&http.Cookie{Name: "smsdesk", Value: token})
	r.Header.Set("HX-Request", "true")
	return http.DefaultClient.Do(r)
}
