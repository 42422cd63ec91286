package sms

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStopLinksAreReadBackAndCannotBeMadeUp: each link gives its account and
// number back, shows neither, has one length, and opens with no other key and
// after no change.
func TestStopLinksAreReadBackAndCannotBeMadeUp(t *testing.T) {
	ours, err := NewStopLinks("https://desk.example.com/", bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := NewStopLinks("https://desk.example.com", bytes.Repeat([]byte{8}, 32))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewStopLinks("x", []byte("short")); err == nil {
		t.Error("a short key is taken")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		account, number := 1+r.Int64N(60_000), 1_000_000_000+r.Int64N(999_000_000_000_000)
		link := ours.Link(account, number)
		digits := ListRow{Number: number}.MSISDN()
		token, ok := strings.CutPrefix(link, "https://desk.example.com/s/")
		if !ok || len(link) != len(ours.Sample()) || strings.Contains(link, digits) || CountSegments(link, false).Unicode {
			t.Fatalf("%s", link)
		}
		if a, n, ok := ours.Read(token); !ok || a != account || n != digits {
			t.Fatalf("%d %d is read as %d %s %v", account, number, a, n, ok)
		}
		if _, _, ok := theirs.Read(token); ok {
			t.Fatal("another desk's key opens it")
		}
		b := []byte(token)
		i := r.IntN(len(b) - 1)
		if b[i]++; b[i] != token[i] {
			if _, _, ok := ours.Read(string(b)); ok {
				t.Fatalf("%s is taken", b)
			}
		}
	}
	for _, token := range []string{"", "x", strings.Repeat("x", 22), strings.Repeat("A", 22), strings.Repeat("x", 23),
		"../../../../etc/passwd"} {
		if a, n, ok := ours.Read(token); ok {
			t.Errorf("%q is read as %d %s", token, a, n)
		}
	}
}
