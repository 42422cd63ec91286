package workers_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/storage"
)

// A simulation is some minutes in the life of a desk with real storage, with
// dispatcher, receiver, scheduler and limiter, in a bubble of time: a service
// that fails, processes that are killed, copies that come back, a clock that is
// set. All that happens comes from the seed. The ledger of the service is the
// oracle: nobody gets a text twice, unless the desk said so and a person said
// send.

var (
	simulationSeed  = flag.Uint64("simulation.seed", 0, "the one seed that TestSimulation plays; 0: many")
	simulationSeeds = flag.Int("simulation.seeds", 0, "how many seeds TestSimulation plays; 0: as the gate does")
)

const clientID = "client-1"

const (
	gateSeeds = 300
	soakSeeds = 100_000
)

func TestSimulation(t *testing.T) {
	if *simulationSeed > 0 {
		simulate(t, *simulationSeed, control{})
		return
	}
	most := gateSeeds
	if os.Getenv("SMSDESK_SOAK") != "" {
		most = soakSeeds
	}
	if *simulationSeeds > 0 {
		most = *simulationSeeds
	}
	var next atomic.Uint64
	for range 2 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for seed := next.Add(1); seed <= uint64(most) && !t.Failed(); seed = next.Add(1) {
				simulate(t, seed, control{})
			}
		})
	}
}

// simulation is one history.
type simulation struct {
	t       *testing.T
	dice    *rand.Rand
	control control
	wrong   []string
	folder  string // data, and copies of it
	service *sandbox.Sandbox
	wire    *wire
	skew    atomic.Int64
	story   []string
	lives   []*life // the last one is the process that runs
	copies  int
	texts   []string
	account int64
	// perMinute is the account's rate.
	perMinute int
	by        sms.User

	answered []sandbox.Executed // of which the report was handed over
	acked    map[string]bool    // reports that were acknowledged, by message ID
	twice    map[string]bool    // by number and text: a person was told, and said send
	never    map[string]int     // how often the journal knew it when a person accepted
	dark     map[string]bool    // by number and text: its line may not be readable any more
}

// control is a mistake that a simulation must find.
type control struct {
	asksNothing bool // the database believes that it knows what the journal holds
	forgets     bool // a limiter that begins anew at each start
}

// simulate plays one history and returns what was wrong.
func simulate(t *testing.T, seed uint64, c control) (wrong []string) {
	t.Helper()
	folder := simulationFolder(t)
	if err := os.Mkdir(filepath.Join(folder, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := rig.CopyFolder(filepath.Join(folder, "data")); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, seed, folder)
		s.control = c
		defer func() {
			wrong = s.wrong
			if t.Failed() || len(wrong) > 0 && c == (control{}) {
				t.Errorf("seed %d:\n\t%s\n%s\nAgain: go test ./internal/desk -run 'TestSimulation$' -simulation.seed %d",
					seed, strings.Join(s.story, "\n\t"), strings.Join(wrong, "\n"), seed)
			}
		}()
		s.play()
	})
	if err := os.RemoveAll(folder); err != nil {
		t.Error(err)
	}
	return wrong
}

func newSimulation(t *testing.T, seed uint64, folder string) *simulation {
	s := &simulation{t: t, dice: rand.New(rand.NewPCG(seed, 1)), folder: folder, wire: newWire(), acked: map[string]bool{},
		twice: map[string]bool{}, never: map[string]int{}, dark: map[string]bool{}}
	s.perMinute = 14 + 8*s.dice.IntN(11)
	s.by = sms.User{ID: 1, Name: "Ada Obi", Role: sms.Administrator, Active: true}
	return s
}

// A simulation that finds nothing may be one that looks at nothing.
func TestSimulationFindsMistakes(t *testing.T) {
	controls := map[string]control{"no question": {asksNothing: true}, "a limiter that forgets": {forgets: true}}
	for name, c := range controls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(300) {
				if wrong := simulate(t, 1+seed, c); len(wrong) > 0 {
					t.Logf("seed %d: %s", 1+seed, wrong[0])
					return
				}
			}
			t.Error("nothing was found")
		})
	}
}

// simulationFolder is in memory where the machine has such a folder: thousands
// of histories are otherwise only waiting for the disk.
func simulationFolder(t *testing.T) string {
	t.Helper()
	for _, dir := range []string{"/dev/shm", ""} {
		if folder, err := os.MkdirTemp(dir, "simulation"); err == nil {
			t.Cleanup(func() { _ = os.RemoveAll(folder) })
			return folder
		}
	}
	t.Fatal("no folder can be made")
	return ""
}

func (s *simulation) data() string { return filepath.Join(s.folder, "data") }

func (s *simulation) wall() time.Time { return time.Now().Add(time.Duration(s.skew.Load())) }

func (s *simulation) note(format string, args ...any) {
	s.story = append(s.story, time.Now().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func (s *simulation) fault(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

func (s *simulation) chance(percent int) bool { return s.dice.IntN(100) < percent }

// play is the history itself.
func (s *simulation) play() {
	var err error
	s.service, err = sandbox.New(sandbox.Config{APIKey: rig.Key, ClientID: clientID, PerMinute: -1, Seed: s.dice.Uint64()})
	if err != nil {
		s.t.Fatal(err)
	}
	server := &http.Server{Handler: s.service.Handler(), ErrorLog: nil}
	serving := make(chan struct{})
	go func() { defer close(serving); _ = server.Serve(s.wire) }()
	defer func() {
		for _, l := range s.lives {
			l.die()
		}
		_ = server.Close()
		<-serving
		for _, l := range s.lives {
			l.running.Wait()
		}
	}()
	s.start()
	s.open()
	for range 4 + s.dice.IntN(7) {
		s.act()
		time.Sleep(time.Duration(s.dice.IntN(8000)) * time.Millisecond)
		s.report()
		if s.t.Failed() {
			break
		}
	}
	s.finish()
}

// open makes the account.
func (s *simulation) open() {
	l := s.now()
	a := sms.Account{Name: "Clinic", BaseURL: "http://127.0.0.1:1/v2", PerMinute: s.perMinute,
		CallLimit: 1 + s.dice.IntN(4),
		Country:   "NG", Timezone: "Africa/Lagos", Currency: "₦"}
	a, err := l.desk.CreateAccount(l.ctx, s.by, a, sms.Credentials{ClientID: clientID, APIKey: rig.Key})
	if err == nil {
		s.account = a.ID
		approved := sms.SenderID{ID: 1, Text: "CLINIC", IsActive: true, ApproveStatus: "Approved"}
		err = l.db.PutSenderIDs(l.ctx, a.ID, []sms.SenderID{approved}, s.wall().UnixMilli())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// likely is something that may happen, and how often.
type likely struct {
	percent int
	do      func()
}

// act is one thing that happens.
func (s *simulation) act() {
	all := []likely{
		{35, s.campaign}, {10, s.schedule}, {10, s.stop}, {15, s.kill}, {10, s.copy}, {25, s.restore},
		{15, s.setClock}, {25, s.misbehave},
	}
	switch {
	case s.control.asksNothing:
		all = []likely{{60, s.campaign}, {40, s.copy}, {40, s.restore}}
	case s.control.forgets:
		all = []likely{{80, s.campaign}, {40, s.kill}}
	}
	for _, a := range all {
		if s.chance(a.percent) {
			a.do()
			if s.chance(70) {
				return
			}
		}
	}
}

// life is one process of the desk.
type life struct {
	s       *simulation
	ctx     context.Context
	cancel  context.CancelFunc
	db      *storage.DB
	inbox   *storage.Inbox
	journal *storage.Journal
	reports *storage.ReportLog
	desk    *desk.Desk
	dead    atomic.Bool
	conns   sync.Map // net.Conn that are open
	running sync.WaitGroup
}

func (s *simulation) now() *life { return s.lives[len(s.lives)-1] }

// start begins a process. Where it asks a question, a person answers it after a
// while.
func (s *simulation) start() {
	l := &life{s: s}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	s.lives = append(s.lives, l)
	var err error
	if l.db, err = storage.Open(l.ctx, storage.Config{Data: s.data()}); err != nil {
		s.t.Fatalf("open: %v", err)
	}
	if err := l.openReports(); err != nil {
		s.t.Fatalf("open what keeps reports: %v", err)
	}
	news, log := feed.New(), slog.New(slog.DiscardHandler)
	accounts := gateway.NewAccounts(l.gateway, l.db, log)
	l.desk = desk.New(rig.Stores(l.db), gateway.See(accounts, rig.ForOrders), news, log, s.wall)
	l.journal = storage.NewJournal(l.db, storage.JournalConfig{Program: "simulation"})
	receiver := workers.NewReceiver(l.inbox, l.db, gateway.ParseReport, news, log, s.wall)
	receiver.ReplayFrom(l.reports)
	l.running.Go(func() { _ = l.inbox.Run(l.ctx, receiver.Notify, func(int, error) {}) })
	l.running.Go(func() { receiver.Run(l.ctx) })
	q, err := l.journal.Start(l.ctx, s.wall().UnixMilli())
	if errors.Is(err, storage.ErrQuestion) {
		s.note("start: the desk asks (%s)", q.Relation)
		s.accept(l)
		q, err = l.journal.Start(l.ctx, s.wall().UnixMilli())
	}
	if err != nil {
		s.t.Fatalf("start: %v: %s", err, q.Sentence(time.UTC))
	}
	if err := errors.Join(l.reports.Create(), receiver.Replay(l.ctx)); err != nil {
		s.t.Fatalf("apply the log of reports: %v", err)
	}
	began := time.Now()
	scheduler := workers.NewScheduler(workers.SchedulerConfig{Store: l.db, Orders: l.desk, Clocks: accounts, Feed: news,
		Log: log, Now: s.wall, Elapsed: func() time.Duration { return time.Since(began) }})
	dispatcher := workers.NewDispatcher(l.db, l.journal, gateway.See(accounts, rig.ForSending), news, 3, log, s.wall)
	dispatcher.Endure(mortalReserve{storage.NewReserve(s.data(), ""), l}, workers.NewOutage(log, s.wall))
	l.running.Go(func() { scheduler.Run(l.ctx) })
	l.running.Go(func() {
		if err := dispatcher.Run(l.ctx); err != nil && !l.dead.Load() {
			s.t.Errorf("the dispatcher ends: %v", err)
		}
	})
}

func (l *life) openReports() error {
	cursor, err := l.db.InboxCursor(l.ctx)
	if err != nil {
		return err
	}
	if l.reports, err = l.db.OpenReportLog(l.ctx, l.s.data(), time.Now); err != nil {
		return err
	}
	applied, err := l.db.LogCursor(l.ctx)
	if err != nil {
		return err
	}
	l.inbox = storage.NewInbox(l.s.data(), "")
	l.inbox.LogWith(l.reports, applied)
	if err := l.inbox.Open(l.ctx, cursor); err != nil {
		return err
	}
	_, err = l.inbox.Meet(l.ctx, l.db)
	return err
}

// mortalReserve takes whatever a dead process puts into it, and forgets it.
type mortalReserve struct {
	*storage.Reserve
	of *life
}

func (r mortalReserve) Put(u sms.Unsettled) error {
	if r.of.dead.Load() {
		return nil
	}
	return r.Reserve.Put(u)
}

func (r mortalReserve) Done(uid string) error {
	if r.of.dead.Load() {
		return nil
	}
	return r.Reserve.Done(uid)
}

// gateway is the real client over the simulation's wire.
func (l *life) gateway(o gateway.Opening[rig.Service]) (rig.Service, error) {
	if l.s.control.forgets {
		o.Before = sms.CallsBefore{}
	}
	cfg := gateway.Config{BaseURL: o.Account.BaseURL, Credentials: o.Secrets, PerMinute: o.Account.PerMinute,
		Before: o.Before, Heard: o.Heard, Throttled: o.Throttled, AnswerTimeout: 10 * time.Second, Dial: l.dial}
	if before, open := o.After.(rig.Client); open {
		cfg.After = before.Client
	}
	g, err := gateway.Open(cfg)
	return rig.Client{Client: g}, err
}

var errDead = errors.New("the process was killed")

// dial fails for a process that is dead, whose connections are gone.
func (l *life) dial(context.Context) (net.Conn, error) {
	if l.dead.Load() {
		return nil, errDead
	}
	conn := l.s.wire.dial()
	l.conns.Store(conn, nil)
	return conn, nil
}

// die is kill -9: nothing that the process does afterwards reaches the service
// or the folder.
func (l *life) die() {
	l.dead.Store(true)
	l.conns.Range(func(c, _ any) bool { _ = c.(net.Conn).Close(); return true })
	if l.journal != nil {
		_ = l.journal.Close()
	}
	if l.inbox != nil {
		_ = l.inbox.Close()
	}
	if l.reports != nil {
		_ = l.reports.Close()
	}
	if l.db != nil {
		_ = l.db.Close()
	}
	l.cancel()
	synctest.Wait()
}

func (s *simulation) kill() {
	s.note("kill")
	s.now().die()
	time.Sleep(time.Duration(s.dice.IntN(3000)) * time.Millisecond)
	s.start()
}

func (s *simulation) text() string {
	text := fmt.Sprintf("text %d", len(s.texts))
	s.texts = append(s.texts, text)
	return text
}

// draft makes a campaign; some are made again that the desk does not know any more.
func (s *simulation) draft() (sms.Campaign, bool) {
	l := s.now()
	var to []string
	for _, n := range s.dice.Perm(12)[:1+s.dice.IntN(8)] {
		to = append(to, rig.Ordinary(12)[n])
	}
	c, err := l.desk.CreateCampaign(l.ctx, s.by, desk.Order{AccountID: s.account, SenderID: "CLINIC",
		Numbers: strings.Join(to, "\n"), Text: s.text(), Token: desk.NewToken()})
	if err != nil {
		s.note("a campaign is not made: %v", err)
		return c, false
	}
	return c, true
}

func (s *simulation) campaign() {
	c, made := s.draft()
	if !made {
		return
	}
	l := s.now()
	_, err := l.desk.StartCampaign(l.ctx, s.by, c.ID, desk.StartOrder{Version: c.Version, Again: true, MayRepeat: true})
	s.note("campaign %d to %d: %v", c.ID, c.Recipients, err)
}

func (s *simulation) schedule() {
	c, made := s.draft()
	if !made {
		return
	}
	l := s.now()
	at := s.wall().Add(time.Minute + time.Duration(s.dice.IntN(20))*time.Second)
	o := desk.StartOrder{Version: c.Version, Again: true, MayRepeat: true}
	_, err := l.desk.ScheduleCampaign(l.ctx, s.by, c.ID, sms.ScheduleAt(at), o)
	s.note("campaign %d to %d at %s: %v", c.ID, c.Recipients, at.Format(time.TimeOnly), err)
}

// stop stops a campaign or lets it go on.
func (s *simulation) stop() {
	l := s.now()
	for _, c := range s.campaigns() {
		switch {
		case c.MayStop():
			_, err := l.desk.StopCampaign(l.ctx, s.by, c.ID)
			s.note("campaign %d is stopped: %v", c.ID, err)
			return
		case c.MayContinue():
			s.proceed(c)
			return
		}
	}
}

// proceed lets a campaign go on. Where it was paused for a copy, the page says
// that some may get it twice.
func (s *simulation) proceed(c sms.Campaign) {
	l := s.now()
	if c.PauseCode == sms.PauseCopy {
		for _, m := range s.messages(l.db, c.ID) {
			s.twice[m.Number+" "+m.Text] = true
		}
	}
	_, err := l.desk.ContinueCampaign(l.ctx, s.by, c.ID, desk.ContinueOrder{MayRepeat: true})
	s.note("campaign %d goes on (%s): %v", c.ID, c.PauseCode, err)
}

func (s *simulation) campaigns() []sms.Campaign {
	list, _, err := s.now().db.Campaigns(s.now().ctx, sms.CampaignFilter{AccountID: s.account, Limit: 1000})
	if err != nil {
		s.t.Fatal(err)
	}
	campaigns := make([]sms.Campaign, len(list))
	for i, row := range list {
		campaigns[i] = row.Campaign
	}
	return campaigns
}

func (s *simulation) messages(db *storage.DB, campaign int64) []sms.Message {
	list, _, err := db.Messages(context.Background(), sms.MessageFilter{CampaignID: campaign, Limit: 1000})
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

func (s *simulation) setClock() {
	to := []time.Duration{0, time.Hour, -time.Hour, 3 * time.Minute}[s.dice.IntN(4)]
	s.note("the clock is set: %s", to)
	s.skew.Store(int64(to))
}

func (s *simulation) misbehave() {
	p := func() float64 {
		if s.chance(70) {
			return 0
		}
		return s.dice.Float64() / 3
	}
	latency := time.Duration(s.dice.IntN(4)*s.dice.IntN(4000)) * time.Millisecond
	f := sandbox.Faults{Latency: latency, TooMany: p(), ErrorBefore: p(), ErrorAfter: p(), CutBefore: p(),
		CutAfter: p(), HTMLBefore: p(), HTMLAfter: p(), MissingRows: p()}
	s.note("the service misbehaves: %+v", f)
	if err := s.service.SetFaults(f); err != nil {
		s.t.Fatal(err)
	}
}

// copy stops the desk, as whoever copies its folder should, or does not.
func (s *simulation) copy() {
	s.now().die()
	s.copies++
	s.note("copy %d is made", s.copies)
	if err := os.CopyFS(filepath.Join(s.folder, fmt.Sprint(s.copies)), os.DirFS(s.data())); err != nil {
		s.t.Fatal(err)
	}
	time.Sleep(time.Duration(s.dice.IntN(3000)) * time.Millisecond)
	s.start()
}

// restore puts the database of a copy back, beside one journal or another.
func (s *simulation) restore() {
	if s.copies == 0 {
		return
	}
	s.now().die()
	from := filepath.Join(s.folder, fmt.Sprint(1+s.dice.IntN(s.copies)))
	for _, name := range []string{"smsdesk.db", "smsdesk.db-wal", "smsdesk.db-shm"} {
		_ = os.Remove(filepath.Join(s.data(), name))
		content, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, os.ErrNotExist) || strings.HasSuffix(name, "-shm") {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(s.data(), name), content, 0o600)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	journal := filepath.Join(s.data(), "dispatch.journal")
	what := "kept"
	sort := s.dice.IntN(4)
	for key, n := range s.ledger() {
		// What the journal knows is not sent again, whatever a person says.
		if s.dark[key] = s.dark[key] || sort < 2; !s.dark[key] {
			s.never[key] = n
		}
	}
	switch sort {
	case 0:
		what = "lost"
		if err := os.RemoveAll(journal); err != nil {
			s.t.Fatal(err)
		}
	case 1:
		what = "damaged"
		s.damage(journal)
	}
	if s.control.asksNothing && sort >= 2 {
		s.blindfold(journal)
	}
	s.note("the database of %s is put back, the journal is %s", filepath.Base(from), what)
	s.start()
}

// blindfold makes the database believe that it knows the last line of the journal.
func (s *simulation) blindfold(journal string) {
	names, err := filepath.Glob(filepath.Join(journal, "*.j"))
	if err != nil || len(names) == 0 {
		return
	}
	content, err := os.ReadFile(names[len(names)-1])
	if err != nil {
		s.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	body, sum, _ := strings.Cut(lines[len(lines)-1], "} ")
	var line struct{ N int64 }
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.data(), "smsdesk.db"))
	if err == nil {
		err = json.Unmarshal([]byte(body+"}"), &line)
	}
	if err == nil {
		_, err = db.Exec("update journal_head set seq = ?, sum = ?", line.N, sum)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		s.t.Fatal(err)
	}
}

// damage flips a byte of the journal, or cuts its end.
func (s *simulation) damage(journal string) {
	names, err := filepath.Glob(filepath.Join(journal, "*.j"))
	if err != nil || len(names) == 0 {
		return
	}
	path := names[len(names)-1]
	content, err := os.ReadFile(path)
	if err != nil || len(content) == 0 {
		s.t.Fatal(err)
	}
	at := s.dice.IntN(len(content))
	if s.chance(50) {
		content = content[:at]
	} else {
		content[at] ^= 0x20
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// accept is an administrator who answers the question.
func (s *simulation) accept(l *life) {
	time.Sleep(time.Duration(s.dice.IntN(5000)) * time.Millisecond)
	done, err := l.journal.Accept(l.ctx, "Ada Obi", time.UTC, s.wall().UnixMilli())
	if err != nil {
		s.t.Fatalf("accept: %v", err)
	}
	s.note("accepted: %s", done.Sentence(time.UTC))
}

// report has the service hand over reports of what it has carried out.
func (s *simulation) report() {
	l := s.now()
	for _, e := range s.service.Ledger()[len(s.answered):] {
		if s.chance(30) {
			return
		}
		s.answered = append(s.answered, e)
		values := url.Values{"messageId": {e.MessageID}, "mobile": {e.Number}, "status": {"DELIVRD"}, "errorCode": {"000"}}
		q := values.Encode()
		if l.inbox.Keep(l.ctx, sms.RawReport{AccountID: s.account, ReceivedAt: s.wall().UnixMilli(), Query: q}) == nil {
			s.acked[e.MessageID] = true
		}
	}
}

// ledger is how often each number got each text.
func (s *simulation) ledger() map[string]int {
	n := map[string]int{}
	for _, e := range s.service.Ledger() {
		n[strings.TrimPrefix(e.Number, "+")+" "+e.Text]++
	}
	return n
}

// finish lets all that is left be sent, and looks whether all is as it should be.
func (s *simulation) finish() {
	if err := s.service.SetFaults(sandbox.Faults{}); err != nil {
		s.t.Fatal(err)
	}
	for range 40 {
		if s.settled() {
			break
		}
		time.Sleep(5 * time.Second)
	}
	s.report()
	time.Sleep(7 * time.Second)
	s.check()
}

// settled lets what waits for a person go on; true: there is nothing left.
func (s *simulation) settled() bool {
	all := true
	for _, c := range s.campaigns() {
		if c.MayContinue() {
			s.proceed(c)
		}
		if c.State == sms.CampaignRunning || c.State == sms.CampaignScheduled {
			all = false
		}
	}
	return all
}

func (s *simulation) check() {
	l, sent := s.now(), s.ledger()
	for key, n := range sent {
		switch known := s.never[key]; {
		case n > 1 && !s.twice[key]:
			s.fault("%s was sent %d times and nobody was told", key, n)
		case known > 0 && n > known:
			s.fault("%s was sent %d times although the journal knew of %d", key, n, known)
		}
	}
	for _, c := range s.campaigns() {
		for _, m := range s.messages(l.db, c.ID) {
			n := sent[m.Number+" "+m.Text]
			// Where the journal was lost, the desk has said that it does not know.
			unknown := s.dark[m.Number+" "+m.Text]
			switch {
			case n == 0 && m.State == sms.Accepted:
				s.fault("%s %s is %s and was never sent", m.Number, m.Text, m.State)
			case n > 0 && !unknown && (m.State == sms.Refused || m.State == sms.Queued):
				s.fault("%s %s is %s and was sent", m.Number, m.Text, m.State)
			}
		}
	}
	reports, _, err := l.db.Reports(l.ctx, sms.ReportFilter{AccountID: s.account, Limit: 10_000})
	for id := range s.acked {
		if !slices.ContainsFunc(reports, func(r sms.StoredReport) bool { return r.ProviderID == id }) {
			s.fault("the acknowledged report of %s is lost (%v)", id, err)
		}
	}
	wrong, err := l.db.CountMismatches(l.ctx)
	if err = errors.Join(err, l.db.Check(l.ctx)); err != nil || len(wrong) > 0 {
		s.fault("%v %+v", err, wrong)
	}
	s.rate()
}

// rate counts the calls of each minute.
func (s *simulation) rate() {
	var at []int64
	seen := map[int64]bool{}
	for _, e := range s.service.Ledger() {
		if !seen[e.Call] {
			seen[e.Call] = true
			at = append(at, e.At)
		}
	}
	slices.Sort(at)
	for i := range at {
		if j := i + s.perMinute; j < len(at) && at[j]-at[i] < time.Minute.Milliseconds() {
			times := []string{}
			for _, a := range at {
				times = append(times, time.UnixMilli(a).UTC().Format("04:05.000"))
			}
			s.fault("more than %d calls in %d ms: %s", s.perMinute, at[j]-at[i], strings.Join(times, " "))
			return
		}
	}
}

// wire is a network in memory: real sockets do not keep to a bubble's time.
type wire struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newWire() *wire { return &wire{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (w *wire) dial() net.Conn {
	ours, theirs := net.Pipe()
	select {
	case w.conns <- theirs:
	case <-w.closed:
	}
	return ours
}

func (w *wire) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.closed:
		return nil, io.EOF
	}
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

func (w *wire) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
