package e2e

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// fillDisk makes the disk with the data folder full until the returned function
// is called. Where a file system may be mounted, the folder is put on a small
// one of its own; elsewhere the process is kept from making files longer, which
// is a disk that is full for what grows.
func (p *pair) fillDisk(desk func() *process) (free func()) {
	p.t.Helper()
	if p.mounted {
		filler := filepath.Join(p.data, "filler")
		f, err := os.Create(filler)
		p.must(err)
		block := make([]byte, 64<<10)
		for size := len(block); size > 0; { // to the last byte
			if _, err = f.Write(block[:size]); err != nil {
				size /= 2
			}
		}
		if !errors.Is(err, syscall.ENOSPC) {
			p.t.Fatalf("the disk is not full: %v", err)
		}
		p.must(f.Close())
		return func() { p.must(os.Remove(filler)) }
	}
	limit := func(soft string) {
		p.t.Helper()
		if out, err := exec.Command("prlimit", "--pid", strconv.Itoa(desk().cmd.Process.Pid), "--fsize="+soft+
			":").CombinedOutput(); err != nil {
			p.t.Fatalf("prlimit: %v %s", err, out)
		}
	}
	limit(strconv.Itoa(reserveBytes + 64<<10))
	return func() { limit("unlimited") }
}

// reserveBytes is the space that this desk reserves for outcomes.
const reserveBytes = 1 << 20

// smallDisk puts the data folder on a file system of its own, where that may be
// done; the pair must not serve.
func (p *pair) smallDisk(size string) {
	p.t.Helper()
	p.must(p.db.Close())
	defer p.openDB()
	aside := p.data + ".aside"
	p.must(os.Rename(p.data, aside))
	p.must(os.Mkdir(p.data, 0o700))
	p.mounted = syscall.Mount("tmpfs", p.data, "tmpfs", 0, "mode=0700,size="+size) == nil
	if p.mounted {
		p.t.Cleanup(func() { _ = syscall.Unmount(p.data, syscall.MNT_DETACH) })
	}
	p.must(os.CopyFS(p.data, os.DirFS(aside)))
	p.must(filepath.WalkDir(p.data, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			err = os.Chmod(path, 0o600)
		}
		return err
	}))
}

// get asks for a page as somebody who is signed in, without ending the test.
func (c *crawler) text(path string) string {
	resp, err := c.client.Get(c.base.String() + path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// TestAnOutageDoubtsNothing: the disk is full, or the database is locked, for
// longer than a minute (five by make soak), or the desk is killed and started meanwhile. Nobody is
// in doubt, nobody is sent anything twice, every report is acknowledged while
// the desk runs, the pages say what is wrong, and it recovers by itself.
func TestAnOutageDoubtsNothing(t *testing.T) {
	waits(t)
	const messages = 3000
	long := time.Duration(many(70, 300)) * time.Second
	for _, c := range []struct {
		name   string
		full   bool // else locked
		kill   bool
		lasts  time.Duration
		says   []string
		others []string // in the log of a desk that was killed
	}{
		{name: "full", full: true, lasts: long, says: []string{"is full", "cannot be read or written"}},
		{name: "locked", lasts: long, says: []string{"has locked the database"}},
		{name: "killed while full", full: true, kill: true, lasts: 25 * time.Second},
		{name: "killed while locked", kill: true, lasts: 25 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, binary(t, ""), 10, "--faults", "latency=300ms")
			if c.full {
				p.smallDisk("160m")
			}
			desk := p.serve()
			var administrator *crawler
			if !c.kill {
				administrator = p.staff(sms.Administrator)
			}
			numbers := numbersFrom(1, messages)
			campaign, _ := p.seed(killRows(numbers))
			p.begin(campaign)
			waitFor(t, longPatience, "the first answers", func() bool {
				return p.state(campaign.ID, "network")+p.state(campaign.ID, "delivered") > 200
			})

			began := time.Now()
			var mend func()
			if c.full {
				free := p.fillDisk(func() *process { return desk })
				mend = func() { free() }
			} else {
				mend = p.lockDatabase()
			}
			time.Sleep(5 * time.Second)
			executed := len(ledger(t, p.sandbox))
			if c.kill {
				desk.kill()
				desk = start(t, p.bin, append([]string{"--data", p.data, "serve", "--listen", p.listen, "--no-sandbox"},
					p.flags...)...)
				if !p.mounted && c.full {
					mend = p.fillDisk(func() *process { return desk })
				}
			}
			time.Sleep(c.lasts - time.Since(began))
			select {
			case <-desk.ended:
				t.Fatalf("the process ended: %v", desk.err)
			default:
			}
			now := len(ledger(t, p.sandbox))
			if now != executed {
				t.Errorf("%d messages were sent although nothing could be stored", now-executed)
			}
			if now == messages {
				t.Fatal("everything had been sent: this run proves nothing")
			}
			if administrator != nil {
				page := administrator.text("/campaigns")
				said := false
				for _, sentence := range c.says {
					said = said || strings.Contains(page, sentence)
				}
				if !said {
					t.Errorf("the page does not say what is wrong:\n%s", tail(page, 3000))
				}
			}
			mend()
			mended := time.Now()
			desk.ready(p.listen)
			waitFor(t, patience, "the end", func() bool { return p.campaign(campaign.ID).State == sms.CampaignFinished })
			t.Logf("%d messages waited for %s and went out within %s", messages-now, c.lasts,
				time.Since(mended).Round(time.Second))
			for _, w := range p.dishonest(campaign.ID, numbers) {
				t.Error(w)
			}
			if n := p.state(campaign.ID, "doubt"); n != 0 {
				t.Errorf("%d messages are in doubt", n)
			}
			if !c.kill {
				p.acknowledgedAll(campaign.ID)
			}
			if err := desk.stop(); err != nil {
				t.Error(err)
			}
			if n := strings.Count(desk.output.String(), "level=ERROR"); n > 40 {
				t.Errorf("%d errors in the log", n)
			}
		})
	}
}

// acknowledgedAll waits until every message has a report, and fails for each
// that was not acknowledged or is not stored.
func (p *pair) acknowledgedAll(campaign int64) {
	p.t.Helper()
	waitFor(p.t, patience, "every report", func() bool { return p.state(campaign, "network") == 0 })
	refused := 0
	for _, r := range p.reported() {
		refused += r.Sent - r.Answered
	}
	if refused > 0 {
		p.t.Errorf("%d reports were not acknowledged", refused)
	}
	wrong, acknowledged, stored := p.unstored(campaign)
	p.t.Logf("%d reports acknowledged, %d stored", acknowledged, stored)
	for _, w := range wrong {
		p.t.Error(w)
	}
}

// TestFullFromTheStart: a disk that is full when the desk starts refuses no
// report, and the desk takes over when there is space.
func TestFullFromTheStart(t *testing.T) {
	waits(t)
	p := newPair(t, binary(t, ""), 10)
	p.smallDisk("48m")
	if !p.mounted {
		t.Log("no file system may be mounted here: the limit on files is tested instead")
	}
	desk := p.serve()
	report := p.callback("DLR")
	spool := filepath.Join(p.data, "spool")
	waitFor(t, patience, "space for reports", func() bool {
		list, err := os.ReadDir(spool)
		return err == nil && len(list) == 1 && filepath.Ext(list[0].Name()) == ".prepare"
	})
	p.must(desk.stop())
	p.must(p.db.Close())
	free := func() {}
	if p.mounted {
		free = p.fillDisk(nil)
	}
	desk = start(t, p.bin, "--data", p.data, "serve", "--listen", p.listen, "--no-sandbox")
	if !p.mounted {
		free = p.fillDisk(func() *process { return desk })
	}
	waitFor(t, patience, "an answer", func() bool {
		resp, err := http.Get("http://" + p.listen + "/livez")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	})
	stop := reportSteadily(t, report, 100)
	time.Sleep(12 * time.Second)
	free()
	desk.ready(p.listen)
	time.Sleep(time.Second)
	sent := stop()
	p.openDB()
	kept := map[string]bool{}
	waitFor(t, patience, "every report to be applied", func() bool {
		p.reportIDs(kept)
		return len(kept) == sent
	})
	t.Logf("%d reports, all acknowledged and applied", sent)
	p.must(desk.stop())
}
