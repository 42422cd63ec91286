package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/health"
	"smsdesk/internal/lists"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

const (
	importRows   = 1_000_000
	importSender = "CLINIC"
	// reportsEach and pagesEach are how often a report comes and a page is
	// asked for while a list is imported.
	reportsEach = 5 * time.Millisecond
	pagesEach   = 50 * time.Millisecond
	// The bars of a report's answer and of a page.
	reportBar = 200 * time.Millisecond
	pageBar   = 100 * time.Millisecond
)

// benchImport measures the check of a list, which reads, normalises, finds
// repetitions, judges and stores its rows, against the sqlite3 command's
// .import of the same file, and then a whole import in a running smsdesk to
// which reports and people come meanwhile.
func benchImport(ctx context.Context, e env) ([]line, error) {
	path := e.path("import.csv")
	if err := writeFile(path, ordinaryList(importRows)); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(path) }()
	ours, err := newChecking(ctx, e, "import", path)
	if err != nil {
		return nil, err
	}
	took, err := turns(ctx, func() error { return ours.check(ctx) }, func() error { return shellImport(ctx, e, path) })
	if err = errors.Join(err, ours.close()); err != nil {
		return nil, err
	}
	lines := []line{{name: "import: a million rows checked and stored", figure: rate(importRows, took[0]),
		against: "sqlite3 .import into the same table, journal and synchronous off " + rate(importRows, took[1]),
		ratio:   took[1].Seconds() / took[0].Seconds(), bar: 1}}
	more, err := benchServing(ctx, e, path)
	return append(lines, more...), err
}

// shellImport has the sqlite3 command import the file. Its table is that of
// the staged rows without the column of the verdicts, which the file does not
// have; the row's number is the rowid in both.
func shellImport(ctx context.Context, e env, path string) error {
	target := e.path("peer.db")
	if err := os.Remove(target); err != nil && !os.IsNotExist(err) {
		return err
	}
	c := exec.CommandContext(ctx, "sqlite3", target)
	c.Stdin = strings.NewReader(
		"pragma page_size=8192; pragma journal_mode=off; pragma synchronous=off; pragma locking_mode=exclusive; pragma cache_size=-4000;\n" +
			"create table row (number integer not null, text text not null);\n.import --csv --skip 1 " + path + " row\nselect count(*) from row;\n")
	out, err := c.CombinedOutput()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), strconv.Itoa(importRows)) {
		return errors.Join(err, fmt.Errorf("import by sqlite3: %.300s", out))
	}
	return nil
}

// checking is a desk that checks one list again and again.
type checking struct {
	db    *storage.DB
	lists *lists.Lists
	feed  *feed.Feed
	list  sms.List
}

func newChecking(ctx context.Context, e env, folder, path string) (*checking, error) {
	db, err := storage.Open(ctx, storage.Config{Data: e.path(folder)})
	if err != nil {
		return nil, err
	}
	c := &checking{db: db, feed: feed.New()}
	d := benchDesk(db, c.feed)
	c.lists = benchLists(db, d, c.feed)
	account, err := benchAccount(ctx, db, d)
	if err == nil {
		c.list, err = uploadFile(ctx, c.lists, desk.Operator(), account.ID, path)
	}
	return c, err
}

// offline is a desk's way to the provider where the bench sends nothing: how
// large calls may be is known without asking.
type offline struct{}

func (offline) For(_ context.Context, a sms.Account) (desk.Gateway, error) {
	return gateway.Open(gateway.Config{BaseURL: a.BaseURL, Location: a.Location(), PerMinute: a.PerMinute,
		Credentials: sms.Credentials{ClientID: "c", APIKey: "k"}, Log: slog.New(slog.DiscardHandler), Now: time.Now})
}

func (offline) Standing(sms.Account, time.Time) health.ClockStanding {
	return health.ClockStanding{State: health.ClockUnchecked}
}

// benchDesk is a desk that gives orders on a database and never sends.
func benchDesk(db *storage.DB, news *feed.Feed) *desk.Desk {
	return desk.New(desk.Stores{Accounts: db, Again: db, Audit: db, Campaigns: db, Door: db, Doubts: db, Journal: db,
		Menus:  db,
		People: db, Records: db, Reads: db, Rehearsals: db, Staff: db},
		offline{}, news, slog.New(slog.DiscardHandler), time.Now)
}

// benchLists takes that desk's orders about lists.
func benchLists(db *storage.DB, d *desk.Desk, news *feed.Feed) *lists.Lists {
	log := slog.New(slog.DiscardHandler)
	return lists.New(db, lists.Config{Feed: news, Log: log, Now: time.Now, Audit: feed.AuditTo(db, log, time.Now),
		Checks: d, Corrected: db, Already: db})
}

// benchAccount is an account whose service is not there, with a sender ID.
func benchAccount(ctx context.Context, db *storage.DB, d *desk.Desk) (sms.Account, error) {
	a, err := d.CreateAccount(ctx, desk.Operator(), sms.Account{Name: "Bench", BaseURL: "http://127.0.0.1:1/v2",
		Country: "NG", Timezone: "Africa/Lagos",
		PerMinute: 100, CallLimit: 100}, sms.Credentials{ClientID: "c", APIKey: "k"})
	if err != nil {
		return a, err
	}
	return a, db.PutSenderIDs(ctx, a.ID, []sms.SenderID{{ID: 1, Text: importSender, IsActive: true,
		ApproveStatus: "Approved"}}, 1)
}

func (c *checking) close() error { return c.db.Close() }

func uploadFile(ctx context.Context, d *lists.Lists, by sms.User, account int64, path string) (sms.List, error) {
	f, err := os.Open(path)
	if err != nil {
		return sms.List{}, err
	}
	defer func() { _ = f.Close() }()
	return d.UploadList(ctx, by, lists.UploadOrder{AccountID: account, FileName: filepath.Base(path),
		Token: desk.NewToken()}, f)
}

// order orders the check of the list.
func (c *checking) order(ctx context.Context) (sms.List, error) {
	o := c.list.Order
	o.SenderID = importSender
	return c.lists.CheckList(ctx, desk.Operator(), c.list.UID, c.list.Version, o)
}

// check orders the check and waits until every row has its verdict. The
// campaign that follows is not waited for.
func (c *checking) check(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	list, err := c.order(ctx)
	if err != nil {
		return err
	}
	news := c.feed.Subscribe(feed.List(list.UID))
	defer news.Close()
	ended := make(chan error, 1)
	go func() { ended <- lists.NewImporter(c.lists, c.db).Run(ctx) }()
	for list.State == sms.ListChecking {
		<-news.C()
		if list, err = c.db.List(ctx, list.UID); err != nil {
			return err
		}
	}
	if list.Tally.Good != importRows {
		return fmt.Errorf("of the list %d rows are good: %s %s", list.Tally.Good, list.State, list.Problem)
	}
	stop()
	if err := <-ended; err != nil {
		return err
	}
	// The same file can be checked again: the campaign was not made.
	c.list, err = c.db.UpdateList(context.WithoutCancel(ctx), list.UID, 1, func(l *sms.List) error {
		l.State = sms.ListUploaded
		return nil
	})
	return err
}

// served is a running smsdesk with a person who is signed in.
type served struct {
	db       *storage.DB
	process  *exec.Cmd
	base     string
	client   *http.Client
	account  sms.Account
	by       sms.User
	callback string
}

func benchServing(ctx context.Context, e env, path string) ([]line, error) {
	s, err := serve(ctx, e, "served")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	idle, err := s.load(ctx, e, func() error { time.Sleep(5 * time.Second); return nil })
	if err != nil {
		return nil, err
	}
	began := time.Now()
	var checked time.Duration
	busy, err := s.load(ctx, e, func() error {
		checked, err = s.importList(ctx, path)
		return err
	})
	if err != nil {
		return nil, err
	}
	whole := time.Since(began)
	peak, err := peakOf(s.process.Process.Pid)
	return []line{
		{name: "import: from the press to the campaign, in a running smsdesk", figure: rate(importRows, whole),
			against: "of them the check alone " + rate(importRows, checked),
			ratio:   checked.Seconds() / whole.Seconds()},
		memory("import: memory of the running smsdesk", peak, 150),
		latency("import: reports answered meanwhile", busy.reports, idle.reports, reportBar),
		latency("import: pages answered meanwhile", busy.pages, idle.pages, pageBar),
	}, err
}

// latency is the line of the slowest of a hundred answers.
func latency(name string, busy, idle []time.Duration, bar time.Duration) line {
	at := p99(busy)
	return line{name: name, figure: fmt.Sprintf("p99 %.1f ms of %d", ms(at), len(busy)),
		against: fmt.Sprintf("of %.0f ms (idle %.1f ms)", ms(bar), ms(p99(idle))),
		ratio:   at.Seconds() / bar.Seconds(), bar: 1, most: true}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func p99(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)*99-1)/100]
}

// serve builds smsdesk and starts it in a folder with an account and a person.
func serve(ctx context.Context, e env, folder string) (s *served, err error) {
	binary, data := e.path("smsdesk"), e.path(folder)
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary,
		"smsdesk/cmd/smsdesk").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build smsdesk: %w: %s", err, out)
	}
	at, err := freeAddress()
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	s = &served{base: "http://" + at, client: &http.Client{Jar: jar, Timeout: time.Minute}}
	if s.db, err = storage.Open(ctx, storage.Config{Data: data}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	d := benchDesk(s.db, feed.New())
	if s.account, err = benchAccount(ctx, s.db, d); err != nil {
		return s, err
	}
	if s.by, err = d.CreateUser(ctx, desk.Operator(), benchPerson, "Bench", sms.Administrator, benchPassword); err != nil {
		return s, err
	}
	if s.callback, err = s.callbackOf(ctx, s.account.ID); err != nil {
		return s, err
	}
	s.process = exec.CommandContext(ctx, binary, "--data", data, "serve", "--listen", at, "--no-sandbox")
	if err := s.process.Start(); err != nil {
		return s, err
	}
	return s, s.enter(ctx)
}

// callbackOf is where reports of an account are told.
func (s *served) callbackOf(ctx context.Context, account int64) (string, error) {
	addresses, err := s.db.CallbackAddresses(ctx, account, sms.CallbackDLR, time.Now().UnixMilli())
	if err != nil || len(addresses) == 0 {
		return "", errors.Join(err, errors.New("the account has no address for reports"))
	}
	return s.base + "/dlr/" + addresses[0].Token, nil
}

const (
	benchPerson   = "bench@example.com"
	benchPassword = "a long enough pass phrase"
)

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (s *served) stop() {
	if s.process != nil && s.process.Process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
	}
	_ = s.db.Close()
}

// enter waits until smsdesk answers and signs in.
func (s *served) enter(ctx context.Context) error {
	var last error
	for range 200 {
		resp, err := s.client.PostForm(s.base+"/signin", url.Values{"email": {benchPerson}, "password": {benchPassword}})
		if err == nil {
			_ = resp.Body.Close()
			return s.get(s.base + "/campaigns")
		}
		if last = errors.Join(err, ctx.Err()); ctx.Err() != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return last
}

func (s *served) get(address string) error {
	resp, err := s.client.Get(address)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || strings.Contains(resp.Request.URL.Path, "signin") {
		return fmt.Errorf("%s: %s at %s", address, resp.Status, resp.Request.URL.Path)
	}
	return nil
}

// importList orders the import as a person does and waits for the campaign.
func (s *served) importList(ctx context.Context, path string) (checked time.Duration, err error) {
	news := feed.New()
	d := benchLists(s.db, benchDesk(s.db, news), news)
	l, err := uploadFile(ctx, d, s.by, s.account.ID, path)
	if err != nil {
		return 0, err
	}
	o := l.Order
	o.SenderID = importSender
	began := time.Now()
	if l, err = d.CheckList(ctx, s.by, l.UID, l.Version, o); err != nil {
		return 0, err
	}
	for l.State == sms.ListChecking || l.State == sms.ListMaking {
		time.Sleep(10 * time.Millisecond)
		if l, err = s.db.List(ctx, l.UID); err != nil {
			return 0, err
		}
		if l.State == sms.ListMaking && checked == 0 {
			checked = time.Since(began)
		}
	}
	if l.State != sms.ListMade || l.Tally.Good != importRows {
		err = fmt.Errorf("the list is %s: %s %+v", l.State, l.Problem, l.Tally)
	}
	return checked, err
}

// answers are how long answers took, from the moment at which each was due to
// be asked for, so that a queue of them counts too.
type answers struct{ reports, pages []time.Duration }

// load sends reports and asks for pages while do runs.
func (s *served) load(ctx context.Context, _ env, do func() error) (a answers, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var faults [2]error
	var wg sync.WaitGroup
	report := func(i int) error {
		return s.get(s.callback + "?status=DELIVRD&errorCode=000&messageId=bench-" + strconv.Itoa(i) +
			"&mobile=2348031234567&doneDate=" + strconv.FormatInt(time.Now().UnixNano(), 10))
	}
	pages := []string{"/campaigns", "/new", "/new/list", "/settings/account"}
	page := func(i int) error { return s.get(s.base + pages[i%len(pages)]) }
	wg.Go(func() { a.reports, faults[0] = paced(ctx, reportsEach, report) })
	wg.Go(func() { a.pages, faults[1] = paced(ctx, pagesEach, page) })
	err = do()
	stop()
	wg.Wait()
	return a, errors.Join(err, faults[0], faults[1])
}

// paced asks at fixed times, whether or not earlier answers have come, with at
// most a few hundred under way.
func paced(ctx context.Context, each time.Duration, ask func(i int) error) (took []time.Duration, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	places := make(chan struct{}, 256)
	due := time.Now()
	for i := 0; ctx.Err() == nil; i++ {
		due = due.Add(each)
		time.Sleep(time.Until(due))
		places <- struct{}{}
		asked := due
		wg.Go(func() {
			fault := ask(i)
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(asked))
			if err == nil {
				err = fault
			}
			<-places
		})
	}
	wg.Wait()
	return took, err
}

// peakOf is the most bytes that a process had resident.
func peakOf(pid int) (float64, error) { return peakIn(fmt.Sprintf("/proc/%d/status", pid)) }
