package e2e

import (
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// TestCommandsWorkBeforeTheFirstServe: what sets a desk up makes folder, key and
// schema where they are missing, and needs no reachable service; what reads a
// desk or changes one makes nothing and says that there is none.
func TestCommandsWorkBeforeTheFirstServe(t *testing.T) {
	beside(t)
	bin := binary(t, "")
	password := writeFile(t, "password", "correct horse battery staple\n")
	key := writeFile(t, "key", "CANARY-k3y/with+signs==\n")
	for name, args := range map[string][]string{
		"user add":    {"user", "add", "--email", "ada@example.com", "--name", "Ada Obi", "--role", "administrator", "--password-file", password},
		"account add": {"account", "add", "--name", "Clinic", "--base-url", "https://gateway.example/v2", "--client-id", "c", "--api-key-file", key},
		"version":     {"version"},
	} {
		t.Run(name, func(t *testing.T) {
			must(t, bin, append([]string{"--data", filepath.Join(t.TempDir(), "new", "data")}, args...)...)
		})
	}
	for _, args := range [][]string{{"user", "list"}, {"token", "list"}, {"retention", "show"}, {"doctor"}} {
		data := filepath.Join(t.TempDir(), "mistyped")
		if out, code := command(t, bin, append([]string{"--data", data}, args...)...); code != 1 ||
			!strings.Contains(out, "there is no desk in "+data) {
			t.Errorf("%v: exit %d\n%s", args, code, out)
		}
		if _, err := os.Stat(data); !os.IsNotExist(err) {
			t.Errorf("%v made the folder", args)
		}
	}
}

// TestEveryCommandRefusesANewerSchema, before anything is written.
func TestEveryCommandRefusesANewerSchema(t *testing.T) {
	beside(t)
	bin, data := binary(t, ""), filepath.Join(t.TempDir(), "data")
	password, key := writeFile(t, "password", adaPassword), writeFile(t, "key", "k")
	must(t, bin, "--data", data, "user", "add", "--email", "ada@example.com", "--name", "Ada Obi", "--role", "sender",
		"--password-file", password)
	db, err := sql.Open("sqlite", filepath.Join(data, "smsdesk.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("insert into goose_db_version (version_id, is_applied) values (9999, true)")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before := contents(t, data)
	for _, args := range [][]string{{"serve", "--listen", freeAddr(t)}, {"doctor"}, {"doctor", "--counts"},
		{"doctor", "--accept-rollback"}, {"user", "list"},
		{"user", "add", "--email", "b@example.com", "--name", "B", "--role", "sender", "--password-file", password},
		{"account", "add", "--name", "Clinic", "--base-url", "https://gateway.example/v2", "--client-id", "c", "--api-key-file", key},
		{"account", "show", "--name", "Clinic"}, {"account", "test", "--name", "Clinic"}, {"token", "list"},
		{"token", "add", "--name", "B", "--user", "ada@example.com"},
		{"token", "revoke", "--id", "1"}, {"retention", "show"}, {"retention", "set", "--messages", "1", "--reports", "1", "--calls", "1"}} {
		out, code := command(t, bin, append([]string{"--data", data}, args...)...)
		if code != 1 || !strings.Contains(out, "has schema 9999") ||
			!strings.Contains(out, "Run the newer smsdesk that wrote it") {
			t.Errorf("%v: exit %d\n%s", args, code, out)
		}
		if after := contents(t, data); !maps.Equal(before, after) {
			t.Fatalf("%v changed the folder: %d files, then %d", args, len(before), len(after))
		}
	}
}

// contents is every file below a folder with what is in it.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		files[path] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestADeskIsNobodyElses: whatever the umask of whoever starts it, files and
// folders of a new desk are for their owner alone.
func TestADeskIsNobodyElses(t *testing.T) {
	beside(t)
	data, addr := filepath.Join(t.TempDir(), "data"), freeAddr(t)
	cmd := exec.Command("sh", "-c", `umask 000; exec "$0" "$@"`, binary(t, ""), "--data", data, "serve", "--listen", addr)
	startCommand(t, cmd).ready(addr)
	seen := 0
	err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if seen++; err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil || seen < 6 {
		t.Errorf("%d files and folders: %v", seen, err)
	}
	if out, code := command(t, binary(t, ""), "--data", data, "doctor"); code != 0 {
		t.Errorf("doctor beside a new desk: exit %d\n%s", code, out)
	}
}

// TestATokenIsPrintedOnce: its secret is the last word of what makes it, and
// stands nowhere afterwards.
func TestATokenIsPrintedOnce(t *testing.T) {
	beside(t)
	bin, data := binary(t, ""), filepath.Join(t.TempDir(), "data")
	must(t, bin, "--data", data, "user", "add", "--email", "ada@example.com", "--name", "Ada Obi", "--role", "sender",
		"--password-file", writeFile(t, "password", adaPassword))
	out := must(t, bin, "--data", data, "token", "add", "--name", "Billing", "--user", "Ada@Example.com")
	words := strings.Fields(out)
	secret := words[len(words)-1]
	if !sms.TokenLike(secret) || strings.Count(out, secret) != 1 {
		t.Fatalf("the last word of %q is no token", out)
	}
	for _, args := range [][]string{{"token", "list"}, {"token", "revoke", "--id", "1"}, {"token", "revoke", "--id", "1"},
		{"token", "list"}, {"doctor"}} {
		if out := must(t, bin, append([]string{"--data", data}, args...)...); strings.Contains(out,
			secret[len(sms.TokenPrefix):]) {
			t.Errorf("%v prints the secret", args)
		}
	}
	files, err := filepath.Glob(filepath.Join(data, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		if raw, err := os.ReadFile(file); err == nil && strings.Contains(string(raw), secret[len(sms.TokenPrefix):]) {
			t.Errorf("%s holds the secret", filepath.Base(file))
		}
	}
	for _, args := range [][]string{{"token", "add", "--name", "Billing", "--user", "nobody@example.com"},
		{"token", "add", "--name", " ", "--user", "ada@example.com"}, {"token", "revoke", "--id", "9"}} {
		if out, code := command(t, bin, append([]string{"--data", data}, args...)...); code != 2 ||
			!strings.Contains(out, "smsdesk: --") {
			t.Errorf("%v: exit %d\n%s", args, code, out)
		}
	}
}

func TestAnAccountIsShownWithAddressesAndWithoutSecrets(t *testing.T) {
	beside(t)
	bin, data := binary(t, ""), filepath.Join(t.TempDir(), "data")
	must(t, bin, "--data", data, "account", "add", "--name", "Clinic", "--base-url", "https://gateway.example/v2",
		"--client-id", "CANARY-client",
		"--api-key-file", writeFile(t, "key", "CANARY-k3y/with+signs=="), "--hours", "08:00-20:00", "--price", "4.00",
		"--abroad", "--url-budget", "8000", "--type-above", "200")
	if out, code := command(t, bin, "--data", data, "account", "add", "--name", "Other", "--base-url",
		"https://gateway.example/v2", "--client-id", "x", "--api-key-file", writeFile(t, "key", "y"),
		"--hours", "8", "--price", "four", "--url-budget", "400", "--type-above=-1"); code != 2 ||
		!strings.Contains(out, "--hours") || !strings.Contains(out, "--price") ||
		!strings.Contains(out, "between 500 and 8,000") || !strings.Contains(out, "between 0 and 1,000,000") {
		t.Errorf("bad limits: exit %d\n%s", code, out)
	}
	out := must(t, bin, "--data", data, "account", "show", "--name", "Clinic", "--public-url", "https://sms.example.org")
	if strings.Contains(out, "CANARY") {
		t.Errorf("a secret is shown:\n%s", out)
	}
	for _, want := range []string{"https://sms.example.org/dlr/", "https://sms.example.org/ussd/",
		"100 requests per minute", "Africa/Lagos", "₦", "08:00 to 20:00"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	if out, code := command(t, bin, "--data", data, "account", "test", "--name", "Clinic"); code != 1 ||
		strings.Contains(out, "CANARY") {
		t.Errorf("testing an unreachable account: exit %d\n%s", code, out)
	}
}

// TestBadConfigurationIsListedWholeAndOpensNothing: every fault at once, exit
// 2, no folder made and no port opened.
func TestBadConfigurationIsListedWholeAndOpensNothing(t *testing.T) {
	beside(t)
	bin, data := binary(t, ""), filepath.Join(t.TempDir(), "data")
	out, code := command(t, bin, "--data", data, "--database", "postgres://user:secret@db.example/smsdesk", "serve",
		"--listen", "nowhere", "--callback-listen", "also-nowhere", "--public-url", "ftp://x", "--calls-in-flight", "0")
	if code != 2 {
		t.Errorf("exit %d, want 2", code)
	}
	for _, want := range []string{"--database", "--listen", "--callback-listen", "--public-url", "--calls-in-flight"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not named:\n%s", want, out)
		}
	}
	if strings.Contains(out, "secret") {
		t.Errorf("the database's password is printed:\n%s", out)
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Error("the data folder was made")
	}
	for _, args := range [][]string{
		{"account", "add", "--name", "", "--base-url", "http://gateway.example/v1", "--client-id", "c", "--api-key-file",
			"/does/not/exist", "--per-minute", "1000001", "--country", "Nigeria", "--timezone", "Lagos"},
		{"user", "add", "--email", "x", "--name", "", "--role", "king", "--password-file", "/does/not/exist"},
		{"serve", "--no-such-flag"},
	} {
		if out, code := command(t, bin, append([]string{"--data", data}, args...)...); code != 2 {
			t.Errorf("%s: exit %d, want 2\n%s", strings.Join(args[:2], " "), code, out)
		}
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Error("the data folder was made by a command with bad flags")
	}
}

// TestServeAnswersSoonBesideCommandsAndStopsWithoutDoubt drives the whole by
// the command line: serve runs, an account is added beside it, a campaign of
// 300 goes out with a slow service, and SIGTERM leaves nothing in doubt.
func TestServeAnswersSoonBesideCommandsAndStopsWithoutDoubt(t *testing.T) {
	p := newPair(t, binary(t, ""), 10, "--faults", "latency=200ms")
	p.serve().kill()
	began := time.Now()
	desk := p.serve()
	took := time.Since(began)
	t.Logf("healthz answered %d ms after the start on an existing folder", took.Milliseconds())
	if took > time.Second {
		t.Errorf("healthz answered after %s", took)
	}
	must(t, p.bin, "--data", p.data, "account", "test", "--name", "Clinic")
	must(t, p.bin, "--data", p.data, "user", "list")
	must(t, p.bin, "--data", p.data, "doctor")
	if out, code := command(t, p.bin, "--data", p.data, "serve", "--listen", freeAddr(t)); code != 1 ||
		!strings.Contains(out, "already using") {
		t.Errorf("a second serve on one folder: exit %d\n%s", code, out)
	}
	numbers := numbersFrom(2000, 300)
	c := p.send(numbers, "Stop politely")
	waitFor(t, patience, "some accepted messages", func() bool {
		tally, err := p.db.Tally(t.Context(), c.ID)
		return err == nil && tally["network"]+tally["delivered"] > 15
	})
	// Something is left, however slow the machine is.
	setFaults(t, p.sandbox, `{"latency":"3s"}`)
	if err := desk.stop(); err != nil {
		t.Errorf("exit: %v", err)
	}
	setFaults(t, p.sandbox, "{}")
	tally, err := p.db.Tally(t.Context(), c.ID)
	if err != nil || tally["doubt"] != 0 || tally["sending"] != 0 || tally["queued"] == 0 || tally.Total() != 300 {
		t.Errorf("after SIGTERM: %v %v", tally, err)
	}
	desk = p.serve()
	waitFor(t, longPatience, "the end", func() bool { return p.campaign(c.ID).State == sms.CampaignFinished })
	for _, w := range p.dishonest(c.ID, numbers) {
		t.Error(w)
	}
	if err := desk.stop(); err != nil {
		t.Errorf("exit: %v", err)
	}
	for _, secret := range []string{"k+/y==", "k%2B%2Fy%3D%3D", "client-7", "Stop politely", numbers[0]} {
		if strings.Contains(desk.output.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

// TestARestoredBackupSendsNothingAgain: an older copy of the database is put
// back after messages were sent from it.
func TestARestoredBackupSendsNothingAgain(t *testing.T) {
	waits(t)
	p := newPair(t, binary(t, ""), 10, "--faults", "latency=3s")
	desk := p.serve()
	numbers := numbersFrom(5000, 40)
	c := p.send(numbers, "Restored")
	stopBefore(t, p, desk, c.ID)
	p.copyDatabase("smsdesk.db", "before.db")
	setFaults(t, p.sandbox, "{}")
	desk = p.serve()
	p.keepGoing(c.ID)
	waitFor(t, patience, "the end", func() bool { return p.campaign(c.ID).State == sms.CampaignFinished })
	if err := desk.stop(); err != nil {
		t.Error(err)
	}
	sent := len(ledger(t, p.sandbox))
	p.copyDatabase("before.db", "smsdesk.db")
	p.keepGoing(c.ID)
	desk = p.serve()
	time.Sleep(2 * time.Second)
	if now := len(ledger(t, p.sandbox)); now != sent {
		t.Fatalf("a restored copy sent %d messages again", now-sent)
	}
	out, code := command(t, p.bin, "--data", p.data, "doctor")
	if code == 0 || !strings.Contains(out, "The journal knows of") {
		t.Errorf("doctor: exit %d\n%s", code, out)
	}
	must(t, p.bin, "--data", p.data, "user", "add", "--email", "administrator@example.com", "--name", "Ada Obi", "--role",
		"administrator", "--password-file", writeFile(t, "password", adaPassword))
	if _, page := newCrawler(t, "http://"+p.listen, sms.Administrator).get("/campaigns"); !strings.Contains(page.Text(),
		"The journal knows of") {
		t.Error("the pages do not say why nothing is sent")
	}
	if out := must(t, p.bin, "--data", p.data, "doctor", "--accept-rollback"); !strings.Contains(out,
		"in doubt or remembered") {
		t.Errorf("accepted: %s", out)
	}
	if got := p.campaign(c.ID); got.State != sms.CampaignFinished &&
		(got.State != sms.CampaignPaused || got.PauseCode != sms.PauseCopy) {
		t.Errorf("after the answer the campaign is %s, %q", got.State, got.Pause)
	}
	waitFor(t, patience, "the end after the rollback was accepted", func() bool {
		p.keepGoing(c.ID)
		return p.campaign(c.ID).State == sms.CampaignFinished
	})
	if now := len(ledger(t, p.sandbox)); now != sent {
		t.Errorf("%d messages were sent again after the rollback was accepted", now-sent)
	}
	for _, m := range p.messages(c.ID) {
		if m.State != sms.InDoubt && m.State != sms.Accepted {
			t.Errorf("%s is %s", m.Number, m.State)
		}
	}
	if err := desk.stop(); err != nil {
		t.Error(err)
	}
}

// stopBefore keeps the campaign from sending and ends the desk, so that the
// copy made next knows the messages as unsent.
func stopBefore(t *testing.T, p *pair, desk *process, campaign int64) {
	t.Helper()
	_, err := p.db.UpdateCampaign(t.Context(), campaign, time.Now().UnixMilli(), func(c *sms.Campaign) error {
		if c.MayStop() {
			return c.Stop()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := desk.stop(); err != nil {
		t.Fatal(err)
	}
	if int64(len(ledger(t, p.sandbox))) == p.campaign(campaign).Recipients {
		t.Fatal("everything was sent before the campaign could be stopped: this run proves nothing")
	}
}

// TestCallbacksOnTheirOwnAddress: with --callback-listen the pages' address
// does not answer callbacks and the other way round.
func TestCallbacksOnTheirOwnAddress(t *testing.T) {
	beside(t)
	p := newPair(t, binary(t, ""), 10)
	callbacks := freeAddr(t)
	p.flags = []string{"--callback-listen", callbacks}
	p.serve()
	path := strings.TrimPrefix(p.callback("DLR"), "http://"+p.listen)
	query := "?messageId=x&mobile=2348030000101&submitDate=&doneDate=&status=DELIVRD&errorCode=000&shortMessage="
	for address, want := range map[string]int{
		callbacks + path + query:                              200,
		callbacks + "/dlr/" + strings.Repeat("0", 64) + query: 404,
		callbacks + "/signin":                                 404,
		callbacks + "/livez":                                  200,
		callbacks + "/readyz":                                 200,
		callbacks + "/healthz":                                404,
		p.listen + "/healthz":                                 200,
		p.listen + "/livez":                                   200,
		p.listen + "/readyz":                                  200,
		p.listen + "/readyz?for=reports":                      200,
	} {
		resp, err := http.Get("http://" + address)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d %q, want %d", address, resp.StatusCode, body, want)
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(get(t, "http://"+p.listen+path+query))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		t.Error("the pages' address takes reports although they have an address of their own")
	}
}

func get(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
