package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

const (
	ussdEach   = 2 * time.Millisecond // 500 requests a second
	ussdFor    = time.Minute
	ussdBar    = 300 * time.Millisecond
	ussdOpen   = 100_000
	ussdMemory = 200 * mib
	// ussdTurn is how many callers are in the menu at once: each types once a
	// second.
	ussdTurn = 500
)

// callers are people who walk through the survey, whose answers are kept
// before they are thanked.
type callers struct {
	*served
	at     string
	client *http.Client
}

func dialled(ctx context.Context, s *served) (*callers, error) {
	menu, err := s.db.CreateMenu(ctx, s.account.ID, ussd.Examples()[2], "secret", 1)
	if err != nil {
		return nil, err
	}
	if _, err := s.db.PublishMenu(ctx, menu, 1, 2, s.by, func(ussd.Draft, []ussd.Published) error {
		return nil
	}); err != nil {
		return nil, err
	}
	addresses, err := s.db.CallbackAddresses(ctx, s.account.ID, sms.CallbackUSSD, time.Now().UnixMilli())
	if err != nil || len(addresses) == 0 {
		return nil, errors.Join(err, errors.New("the account has no address for USSD"))
	}
	time.Sleep(2 * time.Second) // the running desk reads new menus every second
	return &callers{served: s, at: s.base + "/ussd/" + addresses[0].Token,
		client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 512}}}, nil
}

// step is the request of a caller: 0 dials, 1 to 3 answer.
func (c *callers) step(phone, step int) error {
	stage, text := 3, []string{"*347*13#", "1", "1/2/2026", "2"}[step]
	if step == 0 {
		stage = 2
	}
	want := []string{"How was it?", "On which day", "May we send", "goodbye"}[step]
	body := fmt.Sprintf(
		`{"msisdn":"234803%07d","network":"mtn","shortcode":"347","text":%q,"session":{"type":{"code":%d}},"backend":{"cuap":`+
			`{"header":{"command_id":111,"command_len":"9"}}}}`,
		phone, text, stage)
	resp, err := c.client.Post(c.at, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	var a struct {
		Text    string
		Session struct{ Type struct{ Code int } }
		OpType  int `json:"op_type"`
	}
	if err = errors.Join(err, json.Unmarshal(raw, &a)); err != nil {
		return err
	}
	if end := step == 3; !strings.Contains(a.Text, want) || end != (a.Session.Type.Code == 4) || end != (a.OpType == 2) ||
		resp.StatusCode != http.StatusOK {
		return fmt.Errorf("step %d of caller %d was answered %s: %s", step, phone, resp.Status, bytes.TrimSpace(raw))
	}
	return nil
}

// rounds lets callers come in rounds of ussdTurn. Nobody types before the last
// answer is on the screen; the time until then counts.
func (c *callers) rounds(ctx context.Context, from int) ([]time.Duration, error) {
	var answered sync.Map // number of a request -> closed when it is answered
	of := func(i int) chan struct{} {
		done, _ := answered.LoadOrStore(i, make(chan struct{}))
		return done.(chan struct{})
	}
	return paced(ctx, ussdEach, func(i int) error {
		round, place := i/(4*ussdTurn), i%(4*ussdTurn)
		defer close(of(i))
		if place >= ussdTurn {
			<-of(i - ussdTurn)
			answered.Delete(i - ussdTurn)
		}
		return c.step(from+round*ussdTurn+place%ussdTurn, place/ussdTurn)
	})
}

// benchUSSD measures how fast callers are answered at 500 requests a second,
// alone and while lists are imported, and what 100,000 open sessions weigh.
func benchUSSD(ctx context.Context, e env) ([]line, error) {
	path := e.path("ussd.csv")
	if err := writeFile(path, ordinaryList(importRows)); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(path) }()
	s, err := serve(ctx, e, "dialled")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	c, err := dialled(ctx, s)
	if err != nil {
		return nil, err
	}
	before, err := residentOf(s.process.Process.Pid)
	if err != nil {
		return nil, err
	}
	weight, err := c.crowd(before)
	if err != nil {
		return nil, err
	}
	idle, err := c.during(ctx, 1_000_000, func(ctx context.Context) error { return sleep(ctx, 10*time.Second) })
	if err != nil {
		return nil, err
	}
	imports := 0
	busy, err := c.during(ctx, 2_000_000, func(ctx context.Context) error {
		for began := time.Now(); time.Since(began) < ussdFor; imports++ {
			if _, err := s.importList(ctx, path); err != nil {
				return err
			}
		}
		return nil
	})
	return []line{
		{name: "ussd: 100,000 sessions open", figure: fmt.Sprintf("%.0f MiB above idle", weight/mib), against: "of 200 MiB",
			ratio: weight / ussdMemory, bar: 1, most: true},
		latency(fmt.Sprintf("ussd: 500 requests a second while %d lists of a million rows are imported, all answers right",
			imports), busy, idle, ussdBar),
	}, err
}

// during sends callers while do runs.
func (c *callers) during(ctx context.Context, from int,
	do func(ctx context.Context) error) (took []time.Duration, err error) {
	calling, stop := context.WithCancel(ctx)
	defer stop()
	var fault error
	var wg sync.WaitGroup
	wg.Go(func() { took, fault = c.rounds(calling, from) })
	err = do(ctx)
	stop()
	wg.Wait()
	return took, errors.Join(err, fault)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// crowd opens sessions as fast as they are answered, and tells what they weigh.
func (c *callers) crowd(before float64) (weight float64, err error) {
	var next atomic.Int64
	var faults [16]error
	var wg sync.WaitGroup
	for w := range faults {
		wg.Go(func() {
			for {
				phone := int(next.Add(1))
				if phone > ussdOpen || faults[w] != nil {
					return
				}
				faults[w] = c.step(phone, 0)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(faults[:]...); err != nil {
		return 0, err
	}
	after, err := residentOf(c.process.Process.Pid)
	return after - before, err
}
