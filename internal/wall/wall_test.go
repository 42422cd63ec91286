package wall

import (
	"testing"
	"time"
)

func TestALinkEndsWithItsCampaign(t *testing.T) {
	day := (24 * time.Hour).Milliseconds()
	l := Link{MadeAt: day}
	for _, c := range []struct {
		name          string
		revoked       int64
		now, finished int64
		works         bool
	}{
		{"while it is sent", 0, 20 * day, 0, true},
		{"the day after the end", 0, 3*day - 1, 2 * day, true},
		{"then no more", 0, 3 * day, 2 * day, false},
		{"a campaign that stands still", 0, 31 * day, 0, false},
		{"revoked", 2 * day, 2 * day, 0, false},
	} {
		l.RevokedAt = c.revoked
		if got := l.Works(c.now, c.finished); got != c.works {
			t.Errorf("%s: works is %t", c.name, got)
		}
	}
}

func TestStrangersReadTheFirstWords(t *testing.T) {
	for name, want := range map[string]string{
		"Polio drops":                             "Polio drops",
		"School fees reminder for Ada Obi, 3B":    "School fees reminder…",
		"Oluwafunmilayo-Adebayo-Williams-Okonkwo": "Oluwafunmilayo-Adebayo-Willi…",
		"": "",
	} {
		if got := Title(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}
