package desk

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"smsdesk/internal/sms"
)

func TestThrottleByPerson(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	th := newLoginLimiter(func() time.Time { return now })
	ip := 0
	try := func() bool {
		ip++
		_, ok := th.reserve("ada@example.com", fmt.Sprintf("198.51.100.%d", ip%250))
		return ok
	}
	for i := range freeTries {
		if !try() {
			t.Fatalf("try %d is refused", i+1)
		}
	}
	for n, want := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second,
		32 * time.Second, 64 * time.Second,
		128 * time.Second, 256 * time.Second, 512 * time.Second, 15 * time.Minute, 15 * time.Minute} {
		now = now.Add(want - time.Millisecond)
		if try() {
			t.Fatalf("wait %d is shorter than %v", n+1, want)
		}
		now = now.Add(time.Millisecond)
		if !try() {
			t.Fatalf("wait %d is longer than %v", n+1, want)
		}
	}
}

// However the tries are spread over addresses and time, one person's password
// is looked at no more than 100 times an hour.
func TestThrottleAnHour(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1_800_000_000, 0)
		th := newLoginLimiter(func() time.Time { return now })
		looked := 0
		for end := now.Add(time.Hour); now.Before(end); {
			from := rapid.IntRange(0, 255).Draw(t, "from")
			if _, ok := th.reserve("ada@example.com", fmt.Sprintf("2001:db8:%x::1", from)); ok {
				looked++
			}
			now = now.Add(time.Duration(rapid.IntRange(1, 20000).Draw(t, "ms")) * time.Millisecond)
		}
		if looked > 100 {
			t.Fatalf("%d in an hour", looked)
		}
	})
}

func TestThrottleBySource(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	th := newLoginLimiter(func() time.Time { return now })
	count := func(ip func(i int) string) (n int) {
		for i := range 100 {
			if _, ok := th.reserve(fmt.Sprintf("%s-%d", ip(0), i), ip(i)); ok {
				n++
			}
		}
		return n
	}
	for name, c := range map[string]struct {
		ip   func(i int) string
		want int
	}{
		"one address":               {func(int) string { return "203.0.113.7" }, addressRate},
		"one address as IPv6":       {func(int) string { return "::ffff:203.0.113.8" }, addressRate},
		"one /64":                   {func(i int) string { return fmt.Sprintf("2001:db8:1:2::%x", i) }, addressRate},
		"one /64 with zones":        {func(i int) string { return fmt.Sprintf("fe80::%x%%eth0", i) }, addressRate},
		"many /64":                  {func(i int) string { return fmt.Sprintf("2001:db8:2:%x::1", i) }, 100},
		"addresses that are no use": {func(i int) string { return fmt.Sprintf("x%d", i) }, addressRate},
	} {
		if got := count(c.ip); got != c.want {
			t.Errorf("%s: %d tries a minute, want %d", name, got, c.want)
		}
	}
	now = now.Add(time.Minute)
	if _, ok := th.reserve("other", "203.0.113.7"); !ok {
		t.Error("still refused a minute later")
	}
}

func TestThrottleCountsBeforeItLooks(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	th := newLoginLimiter(func() time.Time { return now })
	var mu sync.Mutex
	var wait sync.WaitGroup
	passed := 0
	for i := range 200 {
		wait.Go(func() {
			if _, ok := th.reserve("ada@example.com", fmt.Sprintf("198.51.%d.1", i)); ok {
				mu.Lock()
				passed++
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if passed != freeTries {
		t.Errorf("%d of 200 tries at once", passed)
	}
}

func TestThrottleIsBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	th := newLoginLimiter(func() time.Time { return now })
	for range freeTries {
		th.reserve("victim@example.com", "192.0.2.1")
	}
	for i := range throttleCap + 500 {
		if i%15 == 0 {
			now = now.Add(time.Millisecond)
		}
		th.reserve(fmt.Sprintf("made-up-%d", i), fmt.Sprintf("2001:db8:%x:%x::", i>>16, i&0xffff))
	}
	if len(th.people) > throttleCap || len(th.sources) > throttleCap {
		t.Errorf("%d people and %d sources are remembered", len(th.people), len(th.sources))
	}
	if p := th.people[sha("victim@example.com")]; p.failed < freeTries {
		t.Error("a flood of made-up addresses freed the one under attack")
	}
}

func TestCheckPassword(t *testing.T) {
	u := sms.User{Email: "ada.obi@clinic.example", Name: "Ada Obi"}
	for password, good := range map[string]bool{
		"correct pony battery lamp":     true,
		"fourteen chars":                false,
		"fifteen charac!":               true,
		"ọjọ́ ìbí ọmọ ọba":              true,
		"":                              false,
		"aaaaaaaaaaaaaaaaaaaa":          false,
		"abababababababab":              false,
		"123456789012345678":            false,
		"abcdefghijklmnopqrs":           false,
		"passwordpassword":              false,
		"Password12345678":              false,
		"qwertyuiopasdfgh":              false,
		"1q2w3e4r5t6y7u8i":              false,
		"thequickbrownfox1":             false,
		"ada.obi@clinic.example":        false,
		"AdaObi AdaObi 2026!":           false,
		"smsdesk-smsdesk-2026":          false,
		"smsdesk is a purple elephant":  true,
		"Ada likes to cycle on Sundays": true,
		"a\x00bcd efgh ijkl mnop":       false,
		"\xff\xfe not valid text here":  false,
	} {
		if got := checkPassword(password, u); (got == "") != good {
			t.Errorf("%q: %q", password, got)
		}
	}
	long := ""
	for len(long) < 128 {
		long += "horse-lamp-river"
	}
	if s := checkPassword("x"+long[1:127], u); s != "" {
		t.Errorf("127 bytes: %s", s)
	}
	if checkPassword("xy"+long+"z", u) == "" {
		t.Error("131 bytes are taken")
	}
}

func sha(s string) [32]byte { return sha256.Sum256([]byte(s)) }
