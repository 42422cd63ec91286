// Package sandbox plays the bulk-SMS service: its whole HTTP API (§4), its delivery reports (§6.1) and, on
// demand, its misbehaviour, over real HTTP in both directions. It is for development, for demonstrations and
// for tests of any program that talks to such a service; no text ever reaches a phone.
//
// It is written from the service's specification alone. It must never know how our own client writes or reads
// the wire: a wire struct shared with the client would hide a shared mistake. Of ours it imports only the
// counting of parts. Where the specification is silent it does what the notes on the service record, and
// Balance asked for as XML answers with elements named like the JSON fields, a guess.
package sandbox

import (
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Config says which account the sandbox plays. Only APIKey and ClientID must be given.
type Config struct {
	APIKey, ClientID string

	// DLRURL is the registered delivery-report URL (§6.1); its own query string is kept. Empty holds
	// reports back until SetDLRURL.
	DLRURL string

	// USSDURL is the registered USSD endpoint (§6.2), which the phones of the control page call.
	USSDURL string

	// PerMinute is the number of calls allowed in any 60 s (§8). 0 stands for 100, a negative number for no limit.
	PerMinute int

	// RetryAfter is sent in whole seconds with every 429; 0 sends no such header, as the specification shows none.
	RetryAfter time.Duration

	// State is a file that outlives the process. Empty keeps everything in memory.
	State string

	// Location is the zone of schedule times and of every date in answers and reports; nil is UTC.
	Location *time.Location

	// Currency is the sign before the credit, ₦ where empty. Credit is what a new account holds and
	// PricePerPart what a part costs, both in hundredths; 0 stands for 1,000,000.00 and for 4.00.
	Currency             string
	Credit, PricePerPart int64

	// A report leaves between ReportMin and ReportMax after the text was accepted, or after its scheduled
	// time; both 0 stand for 0.2 s and 2 s. ReportTimeout is how long the receiver may take, 0 stands for 10 s.
	ReportMin, ReportMax, ReportTimeout time.Duration

	// SenderIDs are approved beside those of a new account.
	SenderIDs []string

	// Fate chooses what a number meets, as the number 1 to 14 of a test number's ending; 0 is an ordinary
	// number. Nil: the number's own ending chooses.
	Fate func(number string) int

	// Carry takes delivery reports to their address in place of the network.
	Carry http.RoundTripper

	// Seed makes the random choices of delays and faults repeatable.
	Seed   uint64
	Faults Faults

	Log *slog.Logger     // nil logs nothing
	Now func() time.Time // nil is time.Now
}

// Sandbox is one account at the service. Its methods are safe for concurrent use.
type Sandbox struct {
	cfg     Config
	log     *slog.Logger
	now     func() time.Time
	luck    *luck
	client  *http.Client
	page    *template.Template
	dlr     atomic.Pointer[url.URL]
	ussd    atomic.Pointer[string]
	phone   *Phone
	phones  phones
	calls   callLog
	window  window
	reports counters
	told    []Reported // reports sent; mu holds it

	closing   chan struct{}
	closeOnce sync.Once
	wake      chan struct{}

	mu        sync.Mutex // guards what follows
	file      *os.File
	texts     []text  // in order of acceptance; elements never change
	reported  []uint8 // by text: reports settled so far
	byID      map[uuid.UUID]int
	queue     reportQueue
	inFlight  int
	credit    int64
	throttled map[string]bool // numbers of ending 11 that have had their 429
	senders   []senderID
	templates []messageTemplate
	groups    []group
	lastID    int64 // of any record
}

// New opens the state file, where one is named, and fills a new account with its first records. It starts
// nothing: reports leave only while Run runs.
func New(cfg Config) (*Sandbox, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("configure the sandbox: %w", err)
	}
	page, err := template.New("control").Parse(controlHTML)
	if err != nil {
		return nil, fmt.Errorf("read the control page: %w", err)
	}
	s := &Sandbox{
		cfg:       cfg,
		log:       cfg.Log,
		now:       cfg.Now,
		luck:      newLuck(cfg.Seed, cfg.Faults),
		client:    reportClient(cfg.ReportTimeout, cfg.Carry),
		page:      page,
		phone:     NewPhone(),
		phones:    phones{open: map[string]Press{}},
		window:    window{limit: cfg.PerMinute},
		closing:   make(chan struct{}),
		wake:      make(chan struct{}, 1),
		byID:      map[uuid.UUID]int{},
		throttled: map[string]bool{},
	}
	if cfg.DLRURL != "" {
		u, err := parseDLRURL(cfg.DLRURL)
		if err != nil {
			return nil, fmt.Errorf("configure the sandbox: %w", err)
		}
		s.dlr.Store(u)
	}
	if cfg.USSDURL != "" {
		if err := s.SetUSSDURL(cfg.USSDURL); err != nil {
			return nil, fmt.Errorf("configure the sandbox: %w", err)
		}
	}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("open the sandbox's state: %w", err)
	}
	return s, nil
}

func (c *Config) complete() error {
	var faults []error
	if c.APIKey == "" || c.ClientID == "" {
		faults = append(faults, errors.New("an ApiKey and a ClientId are needed"))
	}
	if c.ReportMax < c.ReportMin {
		faults = append(faults, errors.New("the longest delay of a report is below the shortest"))
	}
	if c.Credit < 0 || c.PricePerPart < 0 {
		faults = append(faults, errors.New("credit and price cannot be below zero"))
	}
	if err := c.Faults.check(); err != nil {
		faults = append(faults, err)
	}
	if c.PerMinute == 0 {
		c.PerMinute = 100
	}
	if c.ReportMin == 0 && c.ReportMax == 0 {
		c.ReportMin, c.ReportMax = 200*time.Millisecond, 2*time.Second
	}
	if c.ReportTimeout == 0 {
		c.ReportTimeout = 10 * time.Second
	}
	if c.Location == nil {
		c.Location = time.UTC
	}
	if c.Currency == "" {
		c.Currency = "₦"
	}
	if c.Credit == 0 {
		c.Credit = 100_000_000
	}
	if c.PricePerPart == 0 {
		c.PricePerPart = 400
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return errors.Join(faults...)
}

// Close cuts short every artificial delay and closes the state file. Calls that come afterwards answer 500
// where they would change something. End Run and the HTTP server first.
func (s *Sandbox) Close() error {
	s.closeOnce.Do(func() { close(s.closing) })
	s.client.CloseIdleConnections()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	if err := file.Close(); err != nil {
		return fmt.Errorf("close the sandbox's state: %w", err)
	}
	return nil
}

// Handler serves the service below /v2 (paths in any case, since resellers differ in it), the control page below
// /_sandbox/ and /healthz.
func (s *Sandbox) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/v2/", s.serveCall)
	mux.HandleFunc("/V2/", s.serveCall)
	mux.Handle("/_sandbox/", http.NewCrossOriginProtection().Handler(s.control()))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "ok")
	})
	return mux
}

// operations is the service's whole interface (§4.1 to §4.8) and the two calls some resellers add to it:
// creating a template and a sender ID, and SendBulkSMS by POST.
var operations = map[string]func(*Sandbox, *call) answer{
	"GET /Balance":              (*Sandbox).balance,
	"POST /SendSMS":             (*Sandbox).sendSMS,
	"GET /SendSMS":              (*Sandbox).sendSMS,
	"GET /SendBulkSMS":          (*Sandbox).sendPairs,
	"POST /SendBulkSMS":         (*Sandbox).sendParameters,
	"GET /Template":             (*Sandbox).listTemplates,
	"POST /Template":            (*Sandbox).createTemplate,
	"PUT /Template":             (*Sandbox).updateTemplate,
	"DELETE /Template":          (*Sandbox).deleteTemplate,
	"GET /SenderId":             (*Sandbox).listSenderIDs,
	"POST /SenderId":            (*Sandbox).createSenderID,
	"PUT /SenderId":             (*Sandbox).updateSenderID,
	"DELETE /SenderId":          (*Sandbox).deleteSenderID,
	"GET /Group":                (*Sandbox).listGroups,
	"POST /Group":               (*Sandbox).createGroup,
	"PUT /Group":                (*Sandbox).updateGroup,
	"DELETE /Group":             (*Sandbox).deleteGroup,
	"POST /Group/{id}/SubGroup": (*Sandbox).createSubGroup,
	"GET /MessageStatus":        (*Sandbox).messageStatus,
}

// resource is the path below /v2, as operations spells it whatever its case, with the parent group's id taken out
// of a sub-group's path.
func resource(path string) (name, parent string) {
	name = path[min(len("/v2"), len(path)):]
	if id, ok := strings.CutPrefix(strings.ToLower(name), "/group/"); ok {
		if id, ok := strings.CutSuffix(id, "/subgroup"); ok && id != "" && !strings.Contains(id, "/") {
			return "/Group/{id}/SubGroup", id
		}
	}
	for key := range operations {
		if _, known, _ := strings.Cut(key, " "); strings.EqualFold(known, name) {
			return known, ""
		}
	}
	return name, ""
}

func (s *Sandbox) serveCall(w http.ResponseWriter, r *http.Request) {
	name, parent := resource(r.URL.Path)
	operation, known := operations[r.Method+" "+name]
	c, err := s.receive(r)
	if err != nil {
		s.calls.finish(c, http.StatusRequestEntityTooLarge)
		http.Error(w, "Request Entity Too Large", http.StatusRequestEntityTooLarge)
		return
	}
	c.parent = parent
	a := answer{status: http.StatusNotFound}
	if known {
		a = s.play(c, operation)
		a.xml = name == "/Balance" && wantsXML(r.Header)
	} else if allowsOther(name) {
		a.status = http.StatusMethodNotAllowed
	}
	s.calls.finish(c, a.httpStatus())
	s.write(w, c, a)
}

func allowsOther(name string) bool {
	for key := range operations {
		if strings.HasSuffix(key, " "+name) {
			return true
		}
	}
	return false
}

// play carries one call through the rate limit, the faults and the operation. Half of the latency lies before
// the operation and half behind it, and a caller who hangs up meanwhile does not stop it: a service that has
// the request executes it.
func (s *Sandbox) play(c *call, operation func(*Sandbox, *call) answer) answer {
	if !s.window.admit(s.now()) {
		return answer{status: http.StatusTooManyRequests}
	}
	draw := s.luck.draw()
	s.pause(draw.latency / 2)
	if a, hit := draw.before(); hit {
		return a
	}
	a := s.execute(c, operation, draw)
	s.reportEarly(a.early)
	s.pause(draw.latency - draw.latency/2)
	return draw.after(a)
}

func (s *Sandbox) execute(c *call, operation func(*Sandbox, *call) answer, draw draw) answer {
	if a, refused := s.authenticate(c, draw.faults); refused {
		return a
	}
	c.early = draw.early
	s.mu.Lock()
	defer s.mu.Unlock()
	return operation(s, c)
}

// authenticate checks the credentials (§5) and the two switches of the account.
func (s *Sandbox) authenticate(c *call, f Faults) (a answer, refused bool) {
	key, client := c.value("apikey"), c.value("clientid")
	switch {
	case key == "" || client == "":
		return failure(codeNoCredentials), true
	case key != s.cfg.APIKey || client != s.cfg.ClientID:
		return failure(codeBadCredentials), true
	case f.Inactive:
		return failure(codeInactive), true
	case f.Unauthorized:
		return failure(codeUnauthorized), true
	}
	return answer{}, false
}

func (s *Sandbox) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.closing:
	}
}

// window is the rate limit: at most limit calls in any 60 s, in bursts as they come (§8). A refused call
// does not count.
type window struct {
	mu    sync.Mutex
	limit int
	calls []time.Time
}

func (w *window) admit(now time.Time) bool {
	if w.limit < 0 {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	gone := 0
	for gone < len(w.calls) && now.Sub(w.calls[gone]) >= time.Minute {
		gone++
	}
	w.calls = w.calls[gone:]
	if len(w.calls) >= w.limit {
		return false
	}
	w.calls = append(w.calls, now)
	return true
}

func (s *Sandbox) date(unixMilli int64) string {
	return time.UnixMilli(unixMilli).In(s.cfg.Location).Format("2006-01-02 15:04:05")
}

// day is the form of dates on records: abbreviated month, day, year (§2.3).
func (s *Sandbox) day() string { return s.now().In(s.cfg.Location).Format("Jan 2, 2006") }

func parseID(text string) (int64, bool) {
	id, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return id, err == nil
}
