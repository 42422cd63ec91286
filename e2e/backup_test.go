package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

const (
	backedUpMessages = 2400
	backedUpText     = "Backed up"
	passphrase       = "SMSDESK_BACKUP_PASSPHRASE=correct horse battery"
)

// midway is a campaign under way, and a hook in its middle: it returns once the rest was sent and the desk has
// stopped. before is what had been carried out when the hook ended.
func midway(t *testing.T, hook func(p *pair)) (p *pair, c sms.Campaign, before, after map[string]int) {
	t.Helper()
	p = newPair(t, binary(t, ""), 10, "--faults", "latency=200ms")
	desk := p.serve()
	messages := make([]sms.Message, backedUpMessages)
	for i, n := range numbersFrom(20_000, backedUpMessages) {
		messages[i] = sms.Message{Number: n, Text: backedUpText, Parts: 1}
	}
	c, _ = p.seed(messages)
	p.begin(c)
	sent := func(n int) {
		t.Helper()
		waitFor(t, longPatience, fmt.Sprint(n, " executed messages"), func() bool { return len(ledger(t, p.sandbox)) >= n })
	}
	sent(200)
	// However long the hook takes, the campaign is under way before, during and after it.
	setFaults(t, p.sandbox, `{"latency":"5s"}`)
	hook(p)
	setFaults(t, p.sandbox, `{"latency":"200ms"}`)
	before = p.times()
	sent(min(len(before)+400, backedUpMessages))
	if err := desk.stop(); err != nil {
		t.Fatal(err)
	}
	after = p.times()
	if len(after)-len(before) < 300 {
		t.Fatalf("%d messages were sent after the copy: this run proves nothing", len(after)-len(before))
	}
	t.Logf("%d of %d messages were sent before the copy was whole, %d when the desk stopped", len(before),
		backedUpMessages, len(after))
	return p, c, before, after
}

// times counts how often each number and text was carried out.
func (p *pair) times() map[string]int {
	p.t.Helper()
	all := map[string]int{}
	for _, e := range ledger(p.t, p.sandbox) {
		all[e.Number+" "+e.Text]++
	}
	return all
}

// moveTo goes over to another data folder of the same desk.
func (p *pair) moveTo(data string) {
	p.t.Helper()
	if err := p.db.Close(); err != nil {
		p.t.Fatal(err)
	}
	p.data = data
	p.openDB()
}

// holds starts the desk on an older state and holds that it sends nothing by itself, and that doctor and a page say
// why.
func (p *pair) holds(after map[string]int) *process {
	p.t.Helper()
	desk := p.serve()
	time.Sleep(4 * time.Second)
	if now := p.times(); !maps.Equal(now, after) {
		p.t.Fatalf("the restored desk sent by itself: %d executions more", sum(now)-sum(after))
	}
	if out, code := command(p.t, p.bin, "--data", p.data, "doctor"); code == 0 || !strings.Contains(out, "fault") {
		p.t.Errorf("doctor says nothing of it: exit %d\n%s", code, out)
	}
	return desk
}

func sum(times map[string]int) (n int) {
	for _, one := range times {
		n += one
	}
	return n
}

// TestTheBackupAndRestoreOfTheREADME: its three commands, with a campaign under way. Nothing is sent by itself; after a
// person has accepted and continued, everybody gets the message once.
func TestTheBackupAndRestoreOfTheREADME(t *testing.T) {
	waits(t)
	var made string
	p, c, _, after := midway(t, func(p *pair) {
		to := filepath.Join(t.TempDir(), "backups")
		out := mustWith(t, []string{passphrase}, p.bin, "--data", p.data, "backup", to, "--with-key")
		made = strings.TrimSuffix(strings.Fields(out)[1], ":")
	})
	fresh := filepath.Join(t.TempDir(), "new")
	out := mustWith(t, []string{passphrase}, p.bin, "restore", made, "--data", fresh, "--take", p.data)
	if !strings.Contains(out, "Nothing was sent. Next: ") || !strings.Contains(out, "The journal knows of ") {
		t.Errorf("restore says\n%s", out)
	}
	p.moveTo(fresh)
	desk := p.holds(after)
	must(t, p.bin, "--data", p.data, "doctor", "--accept-rollback")
	time.Sleep(3 * time.Second)
	if now := p.times(); !maps.Equal(now, after) {
		t.Fatalf("accepting sent %d messages: a person continues each campaign", sum(now)-sum(after))
	}
	waitFor(t, longPatience, "the end of the continued campaign", func() bool {
		p.keepGoing(c.ID)
		return p.campaign(c.ID).State == sms.CampaignFinished
	})
	for who, n := range p.times() {
		if n > 1 {
			t.Errorf("%s was executed %d times", who, n)
		}
	}
	tally, err := p.db.Tally(t.Context(), c.ID)
	if err != nil || tally.Total() != backedUpMessages || tally["queued"] != 0 {
		t.Errorf("%v %v", tally, err)
	}
	if err := desk.stop(); err != nil {
		t.Error(err)
	}
}

// TestACopyWithoutItsJournalSendsNothing: the database and the key, put into a fresh folder, as README had it once. It
// carries no mark.
func TestACopyWithoutItsJournalSendsNothing(t *testing.T) {
	waits(t)
	copied := filepath.Join(t.TempDir(), "copied")
	p, c, _, after := midway(t, func(p *pair) {
		if err := os.Mkdir(copied, 0o700); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", "file:"+filepath.Join(p.data, "smsdesk.db")+"?mode=ro")
		if err == nil {
			_, err = db.ExecContext(context.Background(), "vacuum into ?", filepath.Join(copied, "smsdesk.db"))
		}
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		key, err := os.ReadFile(filepath.Join(p.data, "smsdesk.key"))
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, "smsdesk.key"), key, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	p.moveTo(copied)
	desk := p.holds(after)
	out, _ := command(t, p.bin, "--data", p.data, "doctor", "--accept-rollback")
	if !strings.Contains(out, "is not known. 1 campaign is paused.") {
		t.Errorf("accepting says\n%s", out)
	}
	time.Sleep(3 * time.Second)
	if now := p.times(); !maps.Equal(now, after) {
		t.Fatalf("accepting sent %d messages: a person continues each campaign", sum(now)-sum(after))
	}
	// Whoever continues was told that some get it twice: nobody can know who.
	waitFor(t, longPatience, "the end of the continued campaign", func() bool {
		p.keepGoing(c.ID)
		return p.campaign(c.ID).State == sms.CampaignFinished
	})
	if now := p.times(); len(now) != backedUpMessages || sum(now) == backedUpMessages {
		t.Errorf("%d people got it, %d messages were executed", len(now), sum(now))
	}
	if out, code := command(t, p.bin, "--data", p.data, "doctor"); code != 0 {
		t.Errorf("doctor afterwards: exit %d\n%s", code, out)
	}
	if err := desk.stop(); err != nil {
		t.Error(err)
	}
}

// TestACopyOfTheDatabaseFileAloneIsNotEmpty: cp smsdesk.db of a running desk, as people do it.
func TestACopyOfTheDatabaseFileAloneIsNotEmpty(t *testing.T) {
	beside(t)
	p := newPair(t, binary(t, ""), 10)
	p.serve()
	p.send(numbersFrom(30_000, 300), "Copied")
	waitFor(t, longPatience, "the ledger", func() bool { return len(ledger(t, p.sandbox)) == 300 })
	var n int
	waitFor(t, patience, "the messages in the file alone", func() bool {
		raw, err := os.ReadFile(filepath.Join(p.data, "smsdesk.db"))
		if err != nil {
			t.Fatal(err)
		}
		file := writeFile(t, "copied.db", string(raw))
		db, err := sql.Open("sqlite", "file:"+file+"?mode=ro&immutable=1")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if err := db.QueryRowContext(t.Context(), "select count(*) from message where state = 'accepted'").Scan(
			&n); err != nil {
			t.Logf("the copy: %v", err)
		}
		return n == 300
	})
	// A log is emptied once nothing was written to it between two looks.
	waitFor(t, patience, "a short log beside it", func() bool {
		info, err := os.Stat(filepath.Join(p.data, "smsdesk.db-wal"))
		return err == nil && info.Size() <= 1<<20
	})
}
