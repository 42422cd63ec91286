package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	floodReports = 20_000 // a second
	floodSeconds = 30
	floodMemory  = 512 * mib
	floodPageBar = 500 * time.Millisecond
	// floodCalls is how many calls of the provider may be under way, and
	// providerWaits how long it waits for each.
	floodCalls    = 1000
	providerWaits = 10 * time.Second

	forgedCalls = 10_000
	forgedBar   = time.Millisecond

	slowCallers = 2000
	slowSeconds = 60
	slowEach    = 20 * time.Millisecond
	slowBar     = 200 * time.Millisecond

	// steadySeconds is how long each rate is tried in the search for the
	// highest.
	steadySeconds = 5
	steadyStep    = 1000
	steadyMost    = 20_000
)

// benchFlood is a running smsdesk that is told more reports than it can take,
// called with wrong tokens, and called by many who never finish their call.
func benchFlood(ctx context.Context, e env) ([]line, error) {
	seeded, err := seedFresh(ctx, e.path("flooded"), reportMessages, reportMessages)
	if err != nil {
		return nil, err
	}
	s, err := serve(ctx, e, "flooded")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	f := &flood{served: s, account: seeded.account}
	if f.callback, err = s.callbackOf(ctx, f.account); err != nil {
		return nil, err
	}
	var lines []line
	for _, part := range []func(context.Context, env) ([]line, error){f.forged, f.highest, f.slow, f.over} {
		more, err := part(ctx, e)
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	return lines, nil
}

// flood shadows the callback of the account that is flooded.
type flood struct {
	*served
	account  int64
	callback string
	next     int   // report that comes next
	kept     int64 // acknowledged in all parts
}

// tell lets so many reports come each second.
func (f *flood) tell(ctx context.Context, e env, each, seconds int) (figures, error) {
	told, err := e.child(ctx, "flood", f.callback, strconv.Itoa(each), strconv.Itoa(seconds), strconv.Itoa(f.next))
	if err != nil {
		return nil, err
	}
	f.next += int(told["asked"])
	f.kept += int64(told["kept"])
	return told, nil
}

// forged calls with a wrong token, one call after another.
func (f *flood) forged(context.Context, env) ([]line, error) {
	wrong := []string{f.base + "/dlr/" + strings.Repeat("A", 43), f.callback[:len(f.callback)-1] + "-"}
	var took [2][]time.Duration
	for i := range forgedCalls {
		asked := time.Now()
		resp, err := f.client.Get(wrong[i%2] + "?" + reportQuery(i))
		if err != nil {
			return nil, err
		}
		_ = resp.Body.Close()
		took[i%2] = append(took[i%2], time.Since(asked))
		if resp.StatusCode != http.StatusNotFound {
			return nil, fmt.Errorf("a wrong token was answered %s", resp.Status)
		}
	}
	at := [2]time.Duration{p99(took[0]), p99(took[1])}
	middle := [2]time.Duration{took[0][len(took[0])/2], took[1][len(took[1])/2]}
	slower := max(at[0], at[1])
	return []line{
		{name: "flood: a wrong token is refused", figure: fmt.Sprintf("p99 %.2f ms of %d", ms(slower), forgedCalls),
			against: fmt.Sprintf("of %.0f ms, the call over loopback included", ms(forgedBar)),
			ratio:   slower.Seconds() / forgedBar.Seconds(), bar: 1, most: true},
		{name: "flood: a token with one letter wrong", figure: fmt.Sprintf("p50 %.3f ms", ms(middle[1])),
			against: fmt.Sprintf("one that is all wrong %.3f ms", ms(middle[0])),
			ratio:   middle[1].Seconds() / middle[0].Seconds()},
	}, nil
}

// highest looks for the highest rate at which every report is acknowledged in
// time. Each is tried twice: other things happen on a machine.
func (f *flood) highest(ctx context.Context, e env) ([]line, error) {
	best, at := 0, 0.0
	for each, tries := steadyStep, 0; each <= steadyMost && tries < 2; tries++ {
		told, err := f.tell(ctx, e, each, steadySeconds)
		if err != nil {
			return nil, err
		}
		if told["kept"] == told["asked"] && told["p99"] <= openBar.Seconds() {
			best, at = each, told["p99"]
			each, tries = each+steadyStep, -1
		}
	}
	if err := f.stored(ctx); err != nil {
		return nil, err
	}
	return []line{{name: "flood: the highest rate at which each report is acknowledged in time",
		figure: perSecond(float64(best)), against: fmt.Sprintf("%d a second, p99 %.1f of %.0f ms", openReports, 1000*at,
			ms(openBar)),
		ratio: float64(best) / openReports, bar: 1}}, nil
}

// slow holds connections open whose calls never end, each of them anew as soon
// as it is closed, and tells reports meanwhile.
func (f *flood) slow(ctx context.Context, e env) ([]line, error) {
	holding, stop := context.WithTimeout(ctx, slowSeconds*time.Second)
	defer stop()
	to, err := url.Parse(f.callback)
	if err != nil {
		return nil, err
	}
	request := "GET " + to.Path + "?messageId=slow HTTP/1.1\r\nHost: " + to.Host + "\r\nX-Slow: " +
		strings.Repeat("a", 1000)
	var all sync.WaitGroup
	var mu sync.Mutex
	var fault error
	closed := 0
	for range slowCallers {
		all.Go(func() {
			for holding.Err() == nil {
				err := crawl(holding, to.Host, request)
				mu.Lock()
				if closed++; fault == nil && holding.Err() == nil {
					fault = err
				}
				mu.Unlock()
			}
		})
	}
	took, err := paced(holding, slowEach, func(i int) error { return f.get(f.callback + "?" + reportQuery(f.next+i)) })
	f.next += len(took)
	f.kept += int64(len(took))
	all.Wait()
	if err = errors.Join(err, fault); err != nil {
		return nil, err
	}
	if err := f.stored(ctx); err != nil {
		return nil, err
	}
	return []line{{name: fmt.Sprintf("flood: reports answered beside %d slow callers", slowCallers),
		figure:  fmt.Sprintf("p99 %.1f ms of %d", ms(p99(took)), len(took)),
		against: fmt.Sprintf("of %.0f ms (%d slow calls were ended)", ms(slowBar), closed),
		ratio:   p99(took).Seconds() / slowBar.Seconds(), bar: 1, most: true}}, nil
}

// crawl sends a request a letter at a time until the other side has enough. It
// is an error not to be let in.
func crawl(ctx context.Context, host, request string) error {
	conn, err := (&net.Dialer{Timeout: providerWaits}).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for i := 0; i < len(request) && ctx.Err() == nil; i++ {
		if _, err := io.WriteString(conn, request[i:i+1]); err != nil {
			return nil
		}
		time.Sleep(250 * time.Millisecond)
	}
	return nil
}

// over tells more reports than can be taken, and people look at pages.
func (f *flood) over(ctx context.Context, e env) ([]line, error) {
	looking, stop := context.WithCancel(ctx)
	defer stop()
	var pages []time.Duration
	var fault error
	var all sync.WaitGroup
	all.Go(func() {
		pages, fault = paced(looking, pagesEach, func(i int) error {
			return f.get(f.base + []string{"/campaigns", "/reports", "/", "/settings/account"}[i%4])
		})
	})
	told, err := f.tell(ctx, e, floodReports, floodSeconds)
	stop()
	all.Wait()
	if err = errors.Join(err, fault); err != nil {
		return nil, err
	}
	resident, err := peakOf(f.process.Process.Pid)
	if err = errors.Join(err, f.stored(ctx)); err != nil {
		return nil, err
	}
	slices.Sort(pages)
	return []line{
		{name: fmt.Sprintf("flood: %d reports a second for %d s", floodReports, floodSeconds),
			figure: fmt.Sprintf("%.0f came, %.0f were acknowledged and all of them are stored", told["asked"], told["kept"]),
			against: fmt.Sprintf("%.0f turned away with 503, %.0f given up by the caller after %s", told["busy"],
				told["unanswered"], providerWaits), ratio: told["kept"] / told["asked"]},
		{name: "flood: memory of the running smsdesk", figure: fmt.Sprintf("%.0f MiB", resident/mib),
			against: fmt.Sprintf("of %d MiB", floodMemory/mib), ratio: resident / floodMemory, bar: 1, most: true},
		{name: "flood: pages answered meanwhile", figure: fmt.Sprintf("p95 %.1f ms of %d", ms(p95(pages)), len(pages)),
			against: fmt.Sprintf("of %.0f ms", ms(floodPageBar)), ratio: p95(pages).Seconds() / floodPageBar.Seconds(), bar: 1,
			most: true},
	}, nil
}

// stored waits until as many reports are stored as were acknowledged. One that
// the caller gave up may have been stored too.
func (f *flood) stored(ctx context.Context) error {
	n, err := f.settled(ctx, f.account, f.kept)
	if err == nil && (n < f.kept || n > int64(f.next)) {
		err = fmt.Errorf("of %d reports %d were acknowledged and %d are stored", f.next, f.kept, n)
	}
	return err
}

// childFlood tells reports at the moments when they are due, as a provider
// does that never repeats one and waits for each for a while.
func childFlood(args []string) (figures, error) {
	if len(args) != 4 {
		return nil, errors.New("an address, a rate, seconds and the first report are to be named")
	}
	var number [3]int
	for i := range number {
		n, err := strconv.Atoi(args[i+1])
		if err != nil {
			return nil, err
		}
		number[i] = n
	}
	each, seconds, from := number[0], number[1], number[2]
	p := &provider{address: args[0], client: &http.Client{Timeout: providerWaits,
		Transport: &http.Transport{MaxConnsPerHost: floodCalls, MaxIdleConns: floodCalls, MaxIdleConnsPerHost: floodCalls,
			DisableCompression: true}}, answers: map[int]int{}}
	var all sync.WaitGroup
	due := time.Now()
	for i := range each * seconds {
		due = due.Add(time.Second / time.Duration(each))
		time.Sleep(time.Until(due))
		at := due
		all.Go(func() { p.tell(from+i, at) })
	}
	all.Wait()
	if len(p.took) == 0 {
		return nil, errors.New("no report was acknowledged")
	}
	kept, busy := float64(p.answers[http.StatusOK]), float64(p.answers[http.StatusServiceUnavailable])
	if other := each*seconds - p.answers[http.StatusOK] - p.answers[http.StatusServiceUnavailable] - p.answers[0]; other > 0 {
		return nil, fmt.Errorf("%d reports were answered neither 200 nor 503: %v", other, p.answers)
	}
	return figures{"asked": float64(each * seconds), "kept": kept, "busy": busy, "unanswered": float64(p.answers[0]),
		"p99": p99(p.took).Seconds()}, nil
}

type provider struct {
	address string
	client  *http.Client
	mu      sync.Mutex
	answers map[int]int // by status; 0 for none
	took    []time.Duration
}

func (p *provider) tell(i int, due time.Time) {
	status := 0
	resp, err := p.client.Get(p.address + "?" + reportQuery(i))
	if err == nil {
		status = resp.StatusCode
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[status]++
	if status == http.StatusOK {
		p.took = append(p.took, time.Since(due))
	}
}
