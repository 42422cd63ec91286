package e2e

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

// memoryMost is what the whole process may have resident while it works on the
// largest lists.
const memoryMost = 100 << 20

// desk is a second desk on the same data folder, which gives orders as the
// pages do; the serving process works on them.
func (p *pair) desk() *desk.Desk {
	return desk.New(p.db, desk.NewGateways(nil, p.db, time.Now), desk.NewFeed(), slog.New(slog.DiscardHandler), time.Now)
}

// upload stores a file as a list and has it checked.
func (p *pair) upload(path, text string) sms.List {
	p.t.Helper()
	ctx := context.Background()
	waitFor(p.t, 20*time.Second, "the sender IDs", func() bool {
		list, err := p.db.SenderIDs(ctx, p.account.ID)
		return err == nil && len(list) > 0
	})
	f, err := os.Open(path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	d := p.desk()
	l, err := d.UploadList(ctx, desk.Operator(), desk.UploadOrder{AccountID: p.account.ID, FileName: filepath.Base(path), Token: desk.NewToken()}, f)
	if err != nil {
		p.t.Fatal(err)
	}
	o := l.Order
	o.SenderID, o.Text = "CLINIC", text
	if text != "" {
		o.Message = -1
	}
	if l, err = d.CheckList(ctx, desk.Operator(), l.UID, l.Version, o); err != nil {
		p.t.Fatal(err)
	}
	return l
}

func (p *pair) list(uid string) sms.List {
	p.t.Helper()
	l, err := p.db.List(context.Background(), uid)
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

// bigList writes a CSV of a number and 120 characters a row.
func bigList(t *testing.T, rows int) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "list.csv"))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprint(w, "phone,message\n")
	for i := range rows {
		fmt.Fprintf(w, "%011d,\"%-120s\"\n", 8030000000+i, fmt.Sprintf("Dear customer, your parcel %09d is with us. Please bring this code when you come for it, and pay no one who asks.", i))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// peak is the most memory that the process had resident, in bytes.
func (p *process) peak() int64 {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return n << 10
		}
	}
	p.t.Fatal("the system does not tell the peak of memory")
	return 0
}

// TestMemoryOfAMillionRows: the whole process stays below 100 MiB from the
// upload to the campaign.
func TestMemoryOfAMillionRows(t *testing.T) {
	const rows = 1_000_000
	p := newPair(t, binary(t, ""), 100)
	s := p.serve()
	before := s.peak()
	l := p.upload(bigList(t, rows), "")
	state, peaks := l.State, map[sms.ListState]int64{}
	waitFor(t, 5*time.Minute, "the campaign", func() bool {
		l = p.list(l.UID)
		if l.State != state {
			peaks[state], state = s.peak(), l.State
		}
		return l.State != sms.ListChecking && l.State != sms.ListMaking
	})
	if l.State != sms.ListMade || l.Tally.Good != rows || p.campaign(l.CampaignID).Recipients != rows {
		t.Fatalf("%+v", l)
	}
	t.Logf("peak: %d MiB idle, %d after the check, %d at the end", before>>20, peaks[sms.ListChecking]>>20, s.peak()>>20)
	if s.peak() > memoryMost {
		t.Errorf("%d MiB were resident, at most %d may be", s.peak()>>20, memoryMost>>20)
	}
}
