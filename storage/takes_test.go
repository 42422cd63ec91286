package storage

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// TestTakesSaysWhetherAReportCouldBeKept: through the inbox, through the spool
// while the inbox is locked, and not at all where neither can be written. The
// probes leave nothing behind.
func TestTakesSaysWhetherAReportCouldBeKept(t *testing.T) {
	data, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "spool")
	in := NewInbox(data, elsewhere)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	spooled := 0
	go func() { ended <- in.Run(ctx, func() {}, func(n int, _ error) { spooled += n }) }()
	takes := func(want bool) {
		t.Helper()
		in.asking.Lock()
		in.asked = time.Time{}
		in.asking.Unlock()
		if err := in.Takes(t.Context()); (err == nil) != want {
			t.Fatalf("takes: %v, want %v", err, want)
		}
	}
	takes(true) // it is not open yet: the spool
	if err := in.Open(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	takes(true)
	in.using.Lock()
	if _, err := in.db.Exec("pragma query_only = 1"); err != nil {
		t.Fatal(err)
	}
	in.using.Unlock()
	takes(true) // the spool again
	if err := os.RemoveAll(elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := in.spool.Close(); err != nil {
		t.Fatal(err)
	}
	in.spool = newSpool(elsewhere, 0)
	write(t, elsewhere, "a file where the folder should be")
	takes(false)
	remove(t, elsewhere)
	in.using.Lock()
	if _, err := in.db.Exec("pragma query_only = 0"); err != nil {
		t.Fatal(err)
	}
	in.using.Unlock()
	takes(true)
	if err := in.Keep(t.Context(), sms.RawReport{AccountID: 1, Query: "a report"}); err != nil {
		t.Fatal(err)
	}
	list, err := in.After(t.Context(), 0, 100)
	if err != nil || len(list) != 1 || list[0].ID != 1 || spooled != 0 {
		t.Errorf("%+v %v, %d spooled", list, err, spooled)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
}

// TestTakesIsNotAskedAtEveryProbe: what was found out holds for a second.
func TestTakesIsNotAskedAtEveryProbe(t *testing.T) {
	in := NewInbox(t.TempDir(), "")
	in.asked, in.taken = time.Now(), os.ErrInvalid
	if err := in.Takes(t.Context()); err != os.ErrInvalid {
		t.Errorf("%v", err)
	}
}

// TestSpooledCountsWhatWaits, in files with reserved space behind the lines, too.
func TestSpooledCountsWhatWaits(t *testing.T) {
	folder := t.TempDir()
	if n, err := Spooled(filepath.Join(folder, "none")); n != 0 || err != nil {
		t.Errorf("no folder: %d %v", n, err)
	}
	write(t, filepath.Join(folder, "1"+spoolEnding), "1 2 \"r\" \"q\"\n\n1 2 \"half")
	write(t, filepath.Join(folder, "2"+spoolEnding), "1 2 \"r\" \"q\"\n1 3 \"r\" \"q\"\n"+string(make([]byte, 3<<20)))
	write(t, filepath.Join(folder, "00000000000000000000.prepare"), string(make([]byte, 1<<20)))
	if n, err := Spooled(folder); n != 3 || err != nil {
		t.Errorf("%d %v", n, err)
	}
}
