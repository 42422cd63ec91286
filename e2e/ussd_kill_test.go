package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// heard is what the sandbox's phone tells of one press.
type heard struct {
	Text    string
	End     bool
	Problem string
}

// handset presses keys on a phone of the sandbox.
func handset(addr, number, network, input string) (h heard, err error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/_sandbox/ussd",
		strings.NewReader(url.Values{"number": {number}, "network": {network}, "input": {input}}.Encode()))
	if err != nil {
		return h, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return h, err
	}
	defer func() { _ = resp.Body.Close() }()
	return h, json.NewDecoder(resp.Body).Decode(&h)
}

// TestKillInTheMiddleOfSessions kills the desk with kill -9 while phones talk.
// A session that was under way ends politely, an answer that a caller was
// thanked for is kept, and no session stays open for ever.
func TestKillInTheMiddleOfSessions(t *testing.T) {
	beside(t)
	o := newPair(t, binary(t, ""), 10)
	ctx := context.Background()
	survey := ussd.Examples()[2]
	menu, err := o.db.CreateMenu(ctx, o.account.ID, survey, "secret", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.db.PublishMenu(ctx, menu, 1, 2, sms.User{Name: "Ada"}, func(ussd.Draft, []ussd.Published) error {
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	phones := freeAddr(t)
	start(t, o.bin, "sandbox", "--listen", phones, "--ussd-url", o.callback("USSD")).ready(phones)
	desk := o.serve()
	var mu sync.Mutex
	thanked, expired, whole := map[string]int{}, 0, 0
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			network := ussd.Networks()[w%4]
			for n := 0; ; n++ {
				number := fmt.Sprintf("234803%03d%04d", w+100, n)
				for step, input := range []string{"*347*13#", "1", "1/2/2026", "2"} {
					select {
					case <-stop:
						return
					default:
					}
					h, err := handset(phones, number, network, input)
					for ; err == nil && h.Problem != ""; h, err = handset(phones, number, network, input) {
						time.Sleep(50 * time.Millisecond) // the desk is down at the moment: the network tries again
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					switch {
					case h.Text == ussd.Expired:
						expired++
					case step == 1 && strings.Contains(h.Text, "On which day"), step == 2 && strings.Contains(h.Text, "May we send"):
						thanked[number]++
					case step == 3 && h.End:
						whole++
					case h.Text == ussd.Apology:
					case step > 0:
						t.Errorf("step %d: %q", step, h.Text)
					}
					mu.Unlock()
					if h.End {
						break
					}
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(3, 1))
	// On a slow machine it takes more kills until enough sessions met one and went through.
	enough := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return expired > 0 && whole >= 20 && len(thanked) >= 50
	}
	kills := 0
	for ; kills < 12 || kills < 60 && !enough(); kills++ {
		time.Sleep(time.Duration(300+random.IntN(400)) * time.Millisecond)
		desk.kill()
		desk = o.serve()
	}
	time.Sleep(500 * time.Millisecond)
	close(stop)
	wg.Wait()
	if err := desk.stop(); err != nil {
		t.Error(err)
	}
	o.serve()
	kept := map[string]int{}
	if err := o.db.EachAnswers(ctx, menu, 0, func(answers []ussd.SavedAnswer) bool {
		for _, a := range answers {
			kept[a.Number]++
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for number, n := range thanked {
		if kept[number] < n {
			t.Errorf("%s was thanked for %d answers, %d are kept", number, n, kept[number])
		}
	}
	open, err := o.db.CountOpenUSSDSessions(ctx, o.account.ID)
	if err != nil || open > 0 {
		t.Errorf("%d sessions are open for ever: %v", open, err)
	}
	if !enough() {
		t.Errorf("%d sessions met a restart, %d went through, %d were thanked: this run proves nothing", expired, whole,
			len(thanked))
	}
	t.Logf("%d sessions met one of %d kills, %d went through, %d callers were thanked and all their answers are kept",
		expired, kills, whole, len(thanked))
}
