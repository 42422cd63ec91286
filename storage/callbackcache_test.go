package storage

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

// TestTheCallbackCacheKeepsTheNewestList: in either folder, by its count of
// changes and not by a clock, and of a damaged file nothing is believed.
func TestTheCallbackCacheKeepsTheNewestList(t *testing.T) {
	data, spool := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	if _, known := NewCallbackCache(data, spool).Read(); known {
		t.Error("a list that nobody wrote is known")
	}
	one := []sms.CallbackToken{{AccountID: 1, Kind: sms.CallbackDLR, Hash: [32]byte{1}, CreatedAt: 5, ValidUntil: 7}}
	two := append([]sms.CallbackToken{{AccountID: 2, Kind: sms.CallbackUSSD, Hash: [32]byte{255}, CreatedAt: 6}}, one...)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	is := func(want []sms.CallbackToken, when string) {
		t.Helper()
		got, known := NewCallbackCache(data, spool).Read()
		if d := cmp.Diff(want, got); d != "" || !known {
			t.Errorf("%s: known %v\n%s", when, known, d)
		}
	}
	must(NewCallbackCache(data, spool).Write(one))
	is(one, "written")
	before := NewCallbackCache(data, "") // the spool's copy stays older
	must(before.Write(two))
	is(two, "one copy is older")
	must(before.Write(two))
	for _, path := range []string{filepath.Join(data, callbackCacheName), filepath.Join(spool, callbackCacheName)} {
		info, err := os.Stat(path)
		must(err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %s", path, info.Mode())
		}
	}
	must(os.WriteFile(filepath.Join(data, callbackCacheName), []byte(`{"version":99,"tokens":[{"hash":"00"}]}`), 0o600))
	is(one, "one copy is damaged")

	// A folder that cannot be written hinders neither the other nor a later try.
	must(os.RemoveAll(spool))
	must(os.WriteFile(spool, nil, 0o600))
	c := NewCallbackCache(data, spool)
	if err := c.Write(two); err == nil {
		t.Error("a list was written into a file in the place of a folder")
	}
	is(two, "one folder cannot be written")
	must(os.Remove(spool))
	must(c.Write(two))
	must(os.Remove(filepath.Join(data, callbackCacheName)))
	is(two, "the folder can be written again")
}
