package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

// builds keeps each variant of the binary, built once for all tests.
type builds struct {
	mu     sync.Mutex
	folder string
	made   map[string]string
}

var binaries = &builds{made: map[string]string{}}

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "smsdesk-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binaries.folder = folder
	code := m.Run()
	theStage.close()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// seats are the stories that may be played at once: three on the smallest machine
// of the gate, which has two cores, because each story waits now and then.
var seats = make(chan struct{}, 3)

// beside lets a story run beside others, after those that run alone: it
// measures no time, and no moment in it has to be met that a busy machine misses.
func beside(t *testing.T) {
	t.Helper()
	t.Parallel()
	seats <- struct{}{}
	t.Cleanup(func() { <-seats })
}

// waits lets a story that mostly waits run beside all others.
func waits(t *testing.T) {
	t.Helper()
	t.Parallel()
}

// mistaken is the one build of all negative controls: it repeats what is in doubt,
// acknowledges reports before they are on disk, and its limiter begins anew at each start. Each
// control looks for its own mistake. One build, because each costs the compilation of nearly all.
const mistaken = "naive_retry,naive_acknowledge,forgetful_limiter,shifted_clock"

// only keeps the sentences that hold the words.
func only(list []string, words string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return !strings.Contains(s, words) })
}

// many is how many of something a story takes: most of them only in make soak.
func many(gate, most int) int {
	if os.Getenv("SMSDESK_SOAK") != "" {
		return most
	}
	return gate
}

// binary builds cmd/smsdesk with the given build tags.
func binary(t *testing.T, tags string) string {
	t.Helper()
	binaries.mu.Lock()
	defer binaries.mu.Unlock()
	if path, ok := binaries.made[tags]; ok {
		return path
	}
	path := filepath.Join(binaries.folder, "smsdesk-"+tags)
	build := exec.Command("go", "build", "-tags", tags, "-ldflags", "-s -w", "-o", path, "smsdesk/cmd/smsdesk")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build with tags %q: %v\n%s", tags, err, out)
	}
	binaries.made[tags] = path
	return path
}

// process is one running smsdesk.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	output *lockedBuffer
	ended  chan struct{}
	err    error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs the binary until the test ends.
func start(t *testing.T, path string, args ...string) *process {
	t.Helper()
	return startCommand(t, exec.Command(path, args...))
}

// startCommand runs a command until the test ends, with files that it finds
// open from descriptor 3 on.
func startCommand(t *testing.T, cmd *exec.Cmd, files ...*os.File) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, output: &lockedBuffer{}, ended: make(chan struct{})}
	p.cmd.ExtraFiles = files
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.Env = append(append(os.Environ(), "TZ=UTC"), cmd.Env...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("output of %s:\n%s", strings.Join(cmd.Args[1:], " "), tail(p.output.String(), 6000))
		}
	})
	return p
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}

// kill ends the process at once, as a power cut would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// stop asks the process to end and waits for it.
func (p *process) stop() error {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return p.err
	case <-time.After(patience):
		p.t.Fatalf("still running %s after SIGTERM", patience)
		return nil
	}
}

// command runs the binary once and returns what it printed and its exit code.
func command(t *testing.T, path string, args ...string) (output string, code int) {
	t.Helper()
	return commandWith(t, nil, path, args...)
}

// commandWith is command with more in its environment.
func commandWith(t *testing.T, env []string, path string, args ...string) (output string, code int) {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if exit, ok := err.(*exec.ExitError); ok {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// must runs the binary once and fails the test unless it exits with 0.
func must(t *testing.T, path string, args ...string) string {
	t.Helper()
	return mustWith(t, nil, path, args...)
}

// mustWith is must with more in its environment.
func mustWith(t *testing.T, env []string, path string, args ...string) string {
	t.Helper()
	out, code := commandWith(t, env, path, args...)
	if code != 0 {
		t.Fatalf("%s: exit %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// ports are those that freeAddr has given away: below those that the system
// gives to connections, so that nothing takes one before the process that it is
// meant for.
var ports atomic.Uint32

// freeAddr returns a loopback address that nothing listens on, and that no other
// story gets.
func freeAddr(t *testing.T) string {
	t.Helper()
	const first, many = 12_000, 20_000
	from := uint32(os.Getpid()*61) % many // two runs at once begin apart
	for range many {
		addr := fmt.Sprintf("127.0.0.1:%d", first+(from+ports.Add(1))%many)
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

// ready waits until the process answers /healthz.
func (p *process) ready(addr string) {
	p.t.Helper()
	waitFor(p.t, patience, "an answer of "+addr+"/healthz", func() bool {
		select {
		case <-p.ended:
			p.t.Fatalf("ended instead of serving: %v\n%s", p.err, p.output)
		default:
		}
		resp, err := http.Get("http://" + addr + "/healthz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// What a story waits for has come long before, on any machine: these only end a
// story that went wrong. How fast something has to be is said where it is measured.
const (
	patience     = time.Minute
	longPatience = 5 * time.Minute // for a whole campaign
)

// waitFor asks until it is done, and fails the test when that takes too long. A
// question that is dear, such as the whole ledger, is asked less often: waiting
// takes a fifth of a core at most from the stories beside it.
func waitFor(t *testing.T, most time.Duration, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(most)
	for {
		asked := time.Now()
		if done() {
			return
		}
		now := time.Now()
		if now.After(deadline) {
			t.Fatalf("waited %s in vain for %s", most, what)
		}
		time.Sleep(max(10*time.Millisecond, min(4*now.Sub(asked), time.Second/4)))
	}
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// executed is one line of the sandbox's ledger.
type executed struct {
	Number    string `json:"number"`
	Text      string `json:"text"`
	MessageID string `json:"messageId"`
	Call      int64  `json:"call"`
}

func ledger(t *testing.T, addr string) []executed {
	t.Helper()
	var list []executed
	getJSON(t, "http://"+addr+"/_sandbox/ledger", &list)
	return list
}

func getJSON(t *testing.T, url string, v any) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
}

func setFaults(t *testing.T, addr, faults string) {
	t.Helper()
	resp, err := http.Post("http://"+addr+"/_sandbox/faults", "application/json", strings.NewReader(faults))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode >= 300 {
		t.Fatalf("faults %s: %s %s", faults, resp.Status, body)
	}
}

// pair is a desk and a sandbox that run as two processes.
type pair struct {
	t       *testing.T
	bin     string
	data    string
	listen  string
	sandbox string // address
	flags   []string
	env     []string // beside the test's own
	db      *storage.DB
	mounted bool // the data folder is a file system of its own
	account sms.Account
}

// newPair starts a sandbox and makes a data folder with an account for it.
func newPair(t *testing.T, bin string, callLimit int, sandboxFlags ...string) *pair {
	t.Helper()
	p := &pair{t: t, bin: bin, data: filepath.Join(t.TempDir(), "data"), listen: freeAddr(t), sandbox: freeAddr(t)}
	must(t, bin, "--data", p.data, "account", "add", "--name", "Clinic", "--base-url", "http://"+p.sandbox+"/v2",
		"--client-id", "client-7",
		"--api-key-file", writeFile(t, "key", "k+/y=="), "--per-minute", "100000", "--call-limit", fmt.Sprint(callLimit))
	dlr := p.callback("DLR")
	args := append([]string{"sandbox", "--listen", p.sandbox, "--api-key", "k+/y==", "--client-id", "client-7",
		"--dlr-url", dlr, "--per-minute", "0"}, sandboxFlags...)
	start(t, bin, args...).ready(p.sandbox)
	p.openDB()
	t.Cleanup(func() { _ = p.db.Close() })
	var err error
	if p.account, err = p.db.AccountNamed(context.Background(), "Clinic"); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pair) openDB() {
	p.t.Helper()
	db, err := storage.Open(context.Background(), storage.Config{Data: p.data})
	if err != nil {
		p.t.Fatal(err)
	}
	p.db = db
}

// copyDatabase copies one database file over another while nobody has either
// open; closing it first brings everything out of the write-ahead log.
func (p *pair) copyDatabase(from, to string) {
	p.t.Helper()
	if err := p.db.Close(); err != nil {
		p.t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(p.data, from))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, leftover := range []string{"-wal", "-shm"} {
		if err := os.Remove(filepath.Join(p.data, to+leftover)); err != nil && !os.IsNotExist(err) {
			p.t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(p.data, to), b, 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.openDB()
}

// callback returns a callback address as "account show" prints it.
func (p *pair) callback(kind string) string {
	p.t.Helper()
	for _, line := range strings.Split(must(p.t, p.bin, "--data", p.data, "account", "show", "--name", "Clinic",
		"--public-url", "http://"+p.listen), "\n") {
		if strings.Contains(line, kind) {
			return line[strings.Index(line, "http"):]
		}
	}
	p.t.Fatalf("account show prints no %s address", kind)
	return ""
}

// serve starts the desk and waits until it answers.
func (p *pair) serve() *process {
	p.t.Helper()
	cmd := exec.Command(p.bin, append([]string{"--data", p.data, "serve", "--listen", p.listen, "--no-sandbox"},
		p.flags...)...)
	cmd.Env = p.env
	s := startCommand(p.t, cmd)
	s.ready(p.listen)
	return s
}

// send makes and starts a campaign as the desk does for a person.
func (p *pair) send(numbers []string, text string) sms.Campaign {
	p.t.Helper()
	ctx := context.Background()
	waitFor(p.t, longPatience, "the sender IDs", func() bool {
		list, err := p.db.SenderIDs(ctx, p.account.ID)
		return err == nil && len(list) > 0
	})
	d := p.desk()
	c, err := d.CreateCampaign(ctx, desk.Operator(),
		desk.Order{AccountID: p.account.ID, SenderID: "CLINIC", Numbers: strings.Join(numbers, "\n"), Text: text,
			Token: desk.NewToken()})
	if err != nil {
		p.t.Fatal(err)
	}
	if c, err = d.StartCampaign(ctx, desk.Operator(), c.ID, desk.StartOrder{Version: c.Version}); err != nil {
		p.t.Fatal(err)
	}
	return c
}

// keepGoing does what a person does with a campaign that the breaker paused.
func (p *pair) keepGoing(id int64) {
	p.t.Helper()
	_, err := p.db.UpdateCampaign(context.Background(), id, time.Now().UnixMilli(), func(c *sms.Campaign) error {
		if c.MayContinue() {
			return c.Continue(*c, time.Now())
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// messages lists every message of a campaign.
func (p *pair) messages(id int64) []sms.Message {
	p.t.Helper()
	list, _, err := p.db.Messages(context.Background(), sms.MessageFilter{CampaignID: id, Limit: 1_000_000})
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

func (p *pair) campaign(id int64) sms.Campaign {
	p.t.Helper()
	c, err := p.db.Campaign(context.Background(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// numbersFrom makes n ordinary numbers, all delivered by the sandbox.
func numbersFrom(first, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("23480312%05d", first+i)
	}
	return list
}
