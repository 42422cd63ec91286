package sandbox

import (
	"container/heap"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const reportWorkers = 64

// report is one delivery report owed: the next one of a text, by the text's index. Due is in unix milliseconds.
type report struct {
	due  int64
	text int
}

type reportQueue []report

func (q reportQueue) Len() int           { return len(q) }
func (q reportQueue) Less(i, j int) bool { return q[i].due < q[j].due }
func (q reportQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *reportQueue) Push(x any)        { *q = append(*q, x.(report)) }
func (q *reportQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

type counters struct{ answered, lost atomic.Int64 }

// Reported is one line of /_sandbox/reports: how often a report was sent, and how often the owner's endpoint
// acknowledged it.
type Reported struct {
	MessageID string `json:"messageId"`
	Status    string `json:"status"`
	Sent      int    `json:"sent"`
	Answered  int    `json:"answered"`
}

// Reported lists the reports sent since the sandbox started, in the order of their ends.
func (s *Sandbox) Reported() []Reported {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

// SetDLRURL registers the address for delivery reports from now on; empty holds them back. An address that
// cannot be called changes nothing and is logged.
func (s *Sandbox) SetDLRURL(address string) {
	if address == "" {
		s.dlr.Store(nil)
		return
	}
	u, err := parseDLRURL(address)
	if err != nil {
		s.log.Error("the sandbox keeps its delivery-report address", "error", err)
		return
	}
	s.dlr.Store(u)
	s.nudge()
}

// parseDLRURL never shows the address: its path may hold the owner's token.
func parseDLRURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("the delivery-report address is not an http or https address")
	}
	return u, nil
}

func reportClient(timeout time.Duration, carry http.RoundTripper) *http.Client {
	if carry == nil {
		carry = &http.Transport{
			DialContext:         (&net.Dialer{}).DialContext,
			MaxIdleConnsPerHost: reportWorkers,
			// A receiver that restarts must not find reports on their way over connections to its predecessor.
			IdleConnTimeout: 2 * time.Second,
		}
	}
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     carry,
	}
}

// Run delivers reports, at most 64 at a time, until ctx ends; then it ends too, and reports cut short stay owed
// in the state file. It returns nil.
func (s *Sandbox) Run(ctx context.Context) error {
	jobs := make(chan report)
	var workers sync.WaitGroup
	for range reportWorkers {
		workers.Go(func() {
			for r := range jobs {
				s.deliver(ctx, r)
			}
		})
	}
	defer workers.Wait()
	defer close(jobs)
	for {
		r, wait, ok := s.nextReport()
		if ok {
			select {
			case jobs <- r:
				continue
			case <-ctx.Done():
				s.requeue(r)
				return nil
			}
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-s.wake:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
		t.Stop()
	}
}

// nextReport takes the first report that is due. Otherwise it says how long to wait: never long, because the
// wall clock may be set while a timer runs.
func (s *Sandbox) nextReport() (r report, wait time.Duration, ok bool) {
	const longest = 200 * time.Millisecond
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 || s.dlr.Load() == nil || s.luck.current().HoldReports {
		return report{}, longest, false
	}
	wait = time.Duration(s.queue[0].due-s.now().UnixMilli()) * time.Millisecond
	if wait > 0 {
		return report{}, min(wait, longest), false
	}
	s.inFlight++
	return heap.Pop(&s.queue).(report), 0, true
}

func (s *Sandbox) requeue(r report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	heap.Push(&s.queue, r)
}

// enqueue queues the next report of a text if it has one left. The caller holds mu.
func (s *Sandbox) enqueue(index int, due int64) {
	if int(s.reported[index]) < len(reportSequences[s.texts[index].fate].reports) {
		heap.Push(&s.queue, report{due: due, text: index})
	}
}

func (s *Sandbox) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Sandbox) reportDelay() time.Duration {
	return s.luck.between(s.cfg.ReportMin, s.cfg.ReportMax)
}

// reportEarly delivers reports while the caller still waits for its answer. The caller may hang up meanwhile.
func (s *Sandbox) reportEarly(early []report) {
	slots := make(chan struct{}, reportWorkers)
	var all sync.WaitGroup
	for _, r := range early {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			s.deliver(context.Background(), r)
		})
	}
	all.Wait()
}

// deliver sends one report once, or twice where that fault strikes, and settles it: a report that was not
// received is discarded (§6.1). Only one cut short by the end of ctx stays owed.
func (s *Sandbox) deliver(ctx context.Context, r report) {
	s.mu.Lock()
	t, number := s.texts[r.text], s.reported[r.text]
	s.mu.Unlock()
	word := reportSequences[t.fate].reports[number]
	registered := s.dlr.Load()
	if registered == nil {
		s.requeue(r)
		return
	}
	parameters := s.parameters(t, word)
	times := 1
	if s.luck.strikes(func(f Faults) float64 { return f.Duplicates }) {
		times = 2
	}
	told := Reported{MessageID: t.id.String(), Status: word}
	defer func() { s.note(told) }()
	for range times {
		told.Sent++
		err := s.callBack(ctx, *registered, parameters)
		switch {
		case ctx.Err() != nil:
			s.requeue(r)
			return
		case err != nil:
			s.reports.lost.Add(1)
			s.log.Info("a delivery report of the sandbox was not received", "message", t.id, "status", word, "error", err)
		default:
			s.reports.answered.Add(1)
			told.Answered++
		}
	}
	s.settle(r, t, number+1)
}

func (s *Sandbox) note(r Reported) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, r)
}

// settle notes that a report is done and queues the text's next one a little behind it, so that a fate's order
// is kept.
func (s *Sandbox) settle(r report, t text, done uint8) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	if err := s.commit(entry{Settled: &settledEntry{ID: t.id, Reports: done}}); err != nil {
		s.log.Error("the sandbox cannot note a sent report", "message", t.id, "error", err)
		return
	}
	s.enqueue(r.text, s.now().Add(s.cfg.ReportMin).UnixMilli())
	s.nudge()
}

// parameters are the seven of §2.6. They depend on the text alone, so that a repeated report is the same to the
// byte.
func (s *Sandbox) parameters(t text, word string) url.Values {
	done, id := t.due, t.id.String()
	if word == "ACCEPTD" {
		done = t.at
	}
	if s.luck.current().ReportID == "upper" {
		id = strings.ToUpper(id)
	}
	return url.Values{
		"messageId":    {id},
		"mobile":       {s.form(t.number)},
		"submitDate":   {s.date(t.at)},
		"doneDate":     {s.date(done)},
		"status":       {word},
		"errorCode":    {statusErrors[word]},
		"shortMessage": {t.text},
	}
}

// report is the call to the registered address: a GET with the parameters behind the address's own query (§6.1),
// or what the fault ReportForm asks instead.
func (s *Sandbox) report(ctx context.Context, address url.URL, parameters url.Values) (*http.Request, error) {
	method, kind, body := http.MethodGet, "", ""
	switch s.luck.current().ReportForm {
	case "postForm":
		method, kind, body = http.MethodPost, "application/x-www-form-urlencoded", parameters.Encode()
	case "postJSON":
		plain := map[string]string{}
		for name := range parameters {
			plain[name] = parameters.Get(name)
		}
		text, err := json.Marshal(plain)
		if err != nil {
			return nil, fmt.Errorf("encode the report: %w", err)
		}
		method, kind, body = http.MethodPost, "application/json", string(text)
	case "postQuery":
		method = http.MethodPost
	}
	if body == "" {
		address.RawQuery = strings.TrimPrefix(address.RawQuery+"&"+parameters.Encode(), "&")
	}
	// With a body it cannot rewind, the transport does not repeat the call by itself when a reused connection
	// breaks. An empty one is not sent.
	req, err := http.NewRequestWithContext(ctx, method, address.String(), io.NopCloser(strings.NewReader(body)))
	if err != nil {
		return nil, errors.New("make the callback")
	}
	req.ContentLength = int64(len(body))
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	return req, nil
}

// callBack makes one call and wants 200. Its errors do not show the address.
func (s *Sandbox) callBack(ctx context.Context, address url.URL, parameters url.Values) error {
	req, err := s.report(ctx, address, parameters)
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if withAddress, ok := errors.AsType[*url.Error](err); ok {
		err = withAddress.Err
	}
	if err != nil {
		return fmt.Errorf("call back: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("call back: status %d", resp.StatusCode)
	}
	return nil
}
