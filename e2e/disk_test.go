package e2e

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// nobody is who runs the desk where the test is root, which no mode keeps out.
const nobody = 65534

// lend gives a folder and what is in it to the user who runs the desk, who may
// write to it where so is said, and lets them reach it.
func lend(t *testing.T, folder string, writable bool) {
	t.Helper()
	file, dir := fs.FileMode(0o400), fs.FileMode(0o500)
	if writable {
		file, dir = 0o600, 0o700
	}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := file
		if e.IsDir() {
			mode = dir
		}
		if os.Geteuid() == 0 {
			err = os.Chown(path, nobody, nobody)
		}
		return errors.Join(err, os.Chmod(path, mode))
	})
	if err != nil {
		t.Fatal(err)
	}
	for up := filepath.Dir(folder); up != os.TempDir() && len(up) > len(os.TempDir()); up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// serveAsNobody starts the desk as a user whom modes keep out.
func (p *pair) serveAsNobody(flags ...string) *process {
	p.t.Helper()
	if err := os.Chmod(filepath.Dir(p.bin), 0o755); err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(p.bin, append([]string{"--data", p.data, "serve", "--listen", p.listen, "--no-sandbox"},
		flags...)...)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return startCommand(p.t, cmd)
}

// lockDatabase keeps everybody from writing until the returned function is called.
func (p *pair) lockDatabase() (unlock func()) {
	p.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.data, "smsdesk.db")+
		"?_pragma=busy_timeout(20000)&_txlock=exclusive")
	p.must(err)
	db.SetMaxOpenConns(1)
	tx, err := db.Begin()
	p.must(err)
	return func() {
		p.t.Helper()
		p.must(errors.Join(tx.Rollback(), db.Close()))
	}
}

type answered struct {
	status int
	header http.Header
	body   string
}

func ask(t *testing.T, method, url, body string) answered {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{resp.StatusCode, resp.Header, string(b)}
}

// TestADataFolderThatCannotBeUsedRefusesNoReport: the desk starts all the same,
// acknowledges reports, says what is wrong, and recovers by itself; not one
// report of 50 a second is refused, also while the whole desk takes over.
func TestADataFolderThatCannotBeUsedRefusesNoReport(t *testing.T) {
	waits(t)
	for _, c := range []struct {
		name, says string
		spoil      func(p *pair) (mend func())
	}{
		{"read-only", "cannot be written", func(p *pair) func() {
			lend(p.t, p.data, false)
			return func() { lend(p.t, p.data, true) }
		}},
		{"locked", "Another program has locked the database", func(p *pair) func() {
			lend(p.t, p.data, true)
			return p.lockDatabase()
		}},
		{"damaged", "is damaged", func(p *pair) func() {
			path := filepath.Join(p.data, "smsdesk.db")
			good, err := os.ReadFile(path)
			p.must(err)
			p.must(os.WriteFile(path, bytes.Repeat([]byte("not a database "), 4096), 0o600))
			lend(p.t, p.data, true)
			return func() { p.must(os.WriteFile(path, good, 0o600)) }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, binary(t, ""), 10)
			spool := filepath.Join(t.TempDir(), "elsewhere")
			p.flags = []string{"--spool", spool}
			p.must(p.serve().stop())
			report, ussd := p.callback("DLR"), p.callback("USSD")
			p.must(p.db.Close())
			mend := c.spoil(p)
			lend(t, spool, true)

			desk := p.serveAsNobody("--spool", spool)
			began := time.Now()
			base := "http://" + p.listen
			waitFor(t, patience, "an answer", func() bool {
				resp, err := http.Get(base + "/livez")
				if err == nil {
					_ = resp.Body.Close()
				}
				return err == nil && resp.StatusCode == http.StatusOK
			})
			t.Logf("it answers after %d ms", time.Since(began).Milliseconds())
			stop := reportSteadily(t, report, 50)
			var page answered
			waitFor(t, patience, "the page to say "+c.says, func() bool {
				page = ask(t, "GET", base+"/campaigns", "")
				return strings.Contains(page.body, c.says)
			})
			if page.status != http.StatusServiceUnavailable || page.header.Get("Retry-After") == "" ||
				!strings.Contains(page.body, "Delivery reports are accepted") {
				t.Errorf("%d %v\n%s", page.status, page.header, page.body)
			}
			for path, want := range map[string]int{"/readyz": 503, "/readyz?for=reports": 200, "/healthz": 503, "/livez": 200,
				"/api/v1/campaigns": 503, "/dlr/" + strings.Repeat("0", 64): 404} {
				if got := ask(t, "GET", base+path, ""); got.status != want {
					t.Errorf("%s: %d, want %d", path, got.status, want)
				}
			}
			if got := ask(t, "POST", ussd,
				`{"msisdn":"2348030000101","network":"mtn","session":{"id":"1","stage":"begin"},"text":"*347*1#"}`); got.status != http.StatusOK ||
				!strings.Contains(got.body, "not available at the moment") || !strings.Contains(got.body, "end") {
				t.Errorf("USSD: %d %s", got.status, got.body)
			}
			mend()
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
			if page := ask(t, "GET", base+"/signin", ""); page.status != http.StatusOK {
				t.Errorf("after the recovery: %d", page.status)
			}
			if err := desk.stop(); err != nil {
				t.Error(err)
			}
			if n := strings.Count(desk.output.String(), "level=ERROR"); n > 5 {
				t.Errorf("%d errors in the log", n)
			}
		})
	}
}

// TestAWrongConfigurationEndsTheStart, whatever the disk: it is nothing that
// waiting mends.
func TestAWrongConfigurationEndsTheStart(t *testing.T) {
	beside(t)
	p := newPair(t, binary(t, ""), 10)
	serve := func(data string) []string {
		return []string{"--data", data, "serve", "--listen", freeAddr(t), "--no-sandbox"}
	}
	refused := func(says string, args []string) {
		t.Helper()
		cmd := exec.Command(p.bin, args...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), says) {
			t.Errorf("%v, it says %q and not %q", err, out, says)
		}
	}
	desk := p.serve()
	refused("already using", serve(p.data))
	p.must(desk.stop())
	busy, _ := listenFile(t)
	refused("address already in use", []string{"--data", p.data, "serve", "--listen", busy, "--no-sandbox"})
	key := filepath.Join(p.data, "smsdesk.key")
	good, err := os.ReadFile(key)
	p.must(err)
	p.must(os.WriteFile(key, []byte("nonsense\n"), 0o600))
	refused("key file", serve(p.data))
	p.must(os.WriteFile(key, good, 0o600))
	file := writeFile(t, "no-folder", "")
	refused("is a file, not a folder", serve(file))
	refused("no-folder", serve(filepath.Join(file, "below")))
	if err := p.serve().stop(); err != nil {
		t.Error(err)
	}
	if list, err := p.db.CallbackTokens(t.Context(), time.Now().UnixMilli()); err != nil || len(list) == 0 ||
		list[0].Kind != sms.CallbackDLR {
		t.Errorf("%v %v", list, err)
	}
}
