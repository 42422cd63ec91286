package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// clockOnly is the build whose clock can be set, and which is right else.
const clockOnly = "shifted_clock"

// clocked is a pair whose desk has a clock that can be set.
type clocked struct {
	*pair
	shift string // file
}

// newClocked makes a pair with a rate of 100 requests per minute.
func newClocked(t *testing.T, tags string, sandboxFlags ...string) *clocked {
	t.Helper()
	c := &clocked{newPair(t, binary(t, tags), 1, sandboxFlags...), filepath.Join(t.TempDir(), "shift")}
	c.env = []string{"SMSDESK_CLOCK_SHIFT=" + c.shift}
	_, err := c.db.UpdateAccount(t.Context(), c.account.ID, time.Now().UnixMilli(),
		func(a *sms.Account, _ *sms.Credentials) error {
			a.PerMinute = 100
			return nil
		})
	c.must(err)
	return c
}

func (c *clocked) set(by time.Duration) {
	c.t.Helper()
	c.must(os.WriteFile(c.shift, []byte(by.String()), 0o600))
}

// doctor runs it by the desk's clock.
func (c *clocked) doctor() string {
	cmd := exec.Command(c.bin, "--data", c.data, "doctor")
	cmd.Env = append(os.Environ(), c.env...)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// called lists when the service was called, in ms, and how it answered.
func (c *clocked) called() (at []int64, status []int) {
	c.t.Helper()
	var list []struct {
		At     int64
		Status int
	}
	getJSON(c.t, "http://"+c.sandbox+"/_sandbox/calls", &list)
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b struct {
		At     int64
		Status int
	}) int {
		return int(a.At - b.At)
	})
	for _, r := range list {
		at, status = append(at, r.At), append(status, r.Status)
	}
	return at, status
}

// busiest is the most calls within any time of the length.
func busiest(at []int64, length time.Duration) int {
	most, from := 0, 0
	for i, t := range at {
		for t-at[from] >= length.Milliseconds() {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

const (
	rateKills     = 14
	rateKillEvery = 5 * time.Second
)

// TestTheRateOutlivesTheProcess: however often the desk is killed and its clock
// set by an hour, the service gets no more than 100 calls in any minute, and is
// left in peace for as long as it asked. A build whose limiter begins anew at
// each start is found out.
func TestTheRateOutlivesTheProcess(t *testing.T) {
	waits(t)
	binary(t, clockOnly)
	binary(t, mistaken)
	t.Run("kills", func(t *testing.T) {
		t.Parallel()
		minute, tenth, calls := killSending(t, clockOnly, rateKills)
		t.Logf("measured: %d kills, %d calls, busiest 60 s %d, busiest 10 s %d", rateKills, calls, minute, tenth)
		if minute > 100 || tenth > 25 || calls < 80 {
			t.Errorf("%d calls in 60 s, %d in 10 s, %d in all", minute, tenth, calls)
		}
	})
	t.Run("negative control", func(t *testing.T) {
		t.Parallel()
		minute, _, calls := killSending(t, mistaken, 9)
		t.Logf("measured: 9 kills, %d calls, busiest 60 s %d", calls, minute)
		if minute <= 100 {
			t.Errorf("a limiter that forgets went through unnoticed: %d calls in 60 s", minute)
		}
	})
	t.Run("wait", func(t *testing.T) {
		t.Parallel()
		waitAfterKill(t)
	})
}

func killSending(t *testing.T, tags string, kills int) (minute, tenth, calls int) {
	c := newClocked(t, tags, "--faults", "latency=50ms")
	running := c.serve()
	campaign, _ := c.seed(killRows(numbersFrom(1, 600)))
	c.begin(campaign)
	for i := range kills {
		time.Sleep(rateKillEvery)
		running.kill()
		c.set([]time.Duration{time.Hour, 0, -time.Hour, 0}[i%4])
		c.keepGoing(campaign.ID)
		running = c.serve()
	}
	at, _ := c.called()
	return busiest(at, time.Minute), busiest(at, 10*time.Second), len(at)
}

// waitAfterKill: 429 with Retry-After 30, kill -9, an hour on the clock, start.
func waitAfterKill(t *testing.T) {
	c := newClocked(t, clockOnly, "--retry-after", "30s")
	running := c.serve()
	campaign, _ := c.seed(killRows(numbersFrom(1, 40)))
	waitFor(t, longPatience, "the sender IDs", func() bool {
		list, err := c.db.SenderIDs(t.Context(), c.account.ID)
		return err == nil && len(list) > 0
	})
	setFaults(t, c.sandbox, `{"tooMany":1}`)
	c.begin(campaign)
	var told int64
	waitFor(t, patience, "a 429", func() bool {
		at, status := c.called()
		i := slices.Index(status, 429)
		if i >= 0 {
			told = at[i]
		}
		return i >= 0
	})
	waitFor(t, patience, "the wait to be stored", func() bool {
		before, err := c.db.CallsBefore(t.Context(), c.account.ID, 100)
		return err == nil && before.Throttle.Left > 0
	})
	running.kill()
	setFaults(t, c.sandbox, `{}`)
	c.set(time.Hour)
	running = c.serve()
	time.Sleep(4 * time.Second)
	running.kill()
	c.set(0)
	c.serve()
	next := int64(0)
	waitFor(t, patience, "the next call", func() bool {
		at, status := c.called()
		for i := range at {
			if at[i] > told+2000 && status[i] == 200 {
				next = at[i]
			}
		}
		return next > 0
	})
	t.Logf("measured: the next call came %.1f s after a 429 with Retry-After 30", float64(next-told)/1000)
	if next-told < 30_000 {
		t.Errorf("the next call came %d ms after a 429 with Retry-After 30", next-told)
	}
}

// TestAFastClockSendsNothingEarly: started with the clock an hour fast, the desk
// keeps what is scheduled, says so in the log and in doctor, and goes on by
// itself when the clock is put right.
func TestAFastClockSendsNothingEarly(t *testing.T) {
	waits(t)
	c := newClocked(t, clockOnly)
	running := c.serve()
	campaign := c.schedule(numbersFrom(1, 3), "See you in half an hour")
	running.kill()
	address := fmt.Sprintf("/%d", campaign.ID)
	due(t, c.db, address, time.Now().Add(50*time.Minute))
	c.set(time.Hour)
	running = c.serve()
	waitFor(t, patience, "the log to say so", func() bool {
		return strings.Contains(running.output.String(), "the computer's clock is wrong")
	})
	time.Sleep(3 * time.Second)
	if n, state := len(ledger(t, c.sandbox)), c.campaign(campaign.ID).State; n != 0 || state != sms.CampaignScheduled {
		t.Fatalf("%d messages went out 50 minutes early, and the campaign is %s", n, state)
	}
	if said := c.doctor(); !strings.Contains(said,
		"fault  account \"Clinic\": The clock of the computer that runs smsdesk is 60 minutes ahead of the provider's") {
		t.Errorf("doctor says %s", said)
	}
	c.set(0)
	due(t, c.db, address, time.Now().Add(time.Second))
	waitFor(t, patience, "the campaign's end", func() bool {
		return c.campaign(campaign.ID).State == sms.CampaignFinished
	})
	if said := c.doctor(); !strings.Contains(said, "ok     the clock agrees with the provider of account \"Clinic\"") {
		t.Errorf("doctor says %s", said)
	}
	if err := running.stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
}
