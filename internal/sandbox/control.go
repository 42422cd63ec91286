package sandbox

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
)

//go:embed control.html
var controlHTML string

// State sums the sandbox up, as GET /_sandbox/state answers it. Credit is in hundredths. ReportsOwed are still
// to be sent; ReportsAnswered got 200 and ReportsLost did not, both since the start.
type State struct {
	Texts           int   `json:"texts"`
	Credit          int64 `json:"credit"`
	ReportsOwed     int   `json:"reportsOwed"`
	ReportsAnswered int64 `json:"reportsAnswered"`
	ReportsLost     int64 `json:"reportsLost"`
}

// State is a snapshot. A text's further reports count as owed once the one before them is done.
func (s *Sandbox) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{
		Texts: len(s.texts), Credit: s.credit, ReportsOwed: len(s.queue) + s.inFlight,
		ReportsAnswered: s.reports.answered.Load(), ReportsLost: s.reports.lost.Load(),
	}
}

// Calls lists the last 10,000 calls to the service in their order, without credentials.
func (s *Sandbox) Calls() []CallRecord { return s.calls.list() }

// SetFaults replaces every fault.
func (s *Sandbox) SetFaults(f Faults) error {
	if err := f.check(); err != nil {
		return fmt.Errorf("set the faults: %w", err)
	}
	s.luck.setFaults(f)
	s.nudge()
	return nil
}

// control is what a developer or a test uses to look behind the service: never part of the service itself.
func (s *Sandbox) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_sandbox/{$}", s.controlPage)
	mux.HandleFunc("GET /_sandbox/faults", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.luck.current()) })
	mux.HandleFunc("POST /_sandbox/faults", s.postFaults)
	mux.HandleFunc("GET /_sandbox/ledger", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.Ledger()) })
	mux.HandleFunc("GET /_sandbox/reports", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.Reported()) })
	mux.HandleFunc("GET /_sandbox/calls", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.calls.list()) })
	mux.HandleFunc("GET /_sandbox/state", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.State()) })
	mux.HandleFunc("POST /_sandbox/senderid/{id}", s.postSenderID)
	mux.HandleFunc("POST /_sandbox/template/{id}", s.postTemplate)
	mux.HandleFunc("POST /_sandbox/credit", s.postCredit)
	mux.HandleFunc("POST /_sandbox/ussd", s.postUSSD)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		mux.ServeHTTP(w, r)
	})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
}

type controlView struct {
	State     State
	Credits   string
	Amount    string
	DLR       string
	PerMinute int
	Faults    []setting
	Senders   []senderID
	Templates []messageTemplate
	Groups    []group
	Calls     []CallRecord
	USSD      bool
	Phone     *exchange
}

func (s *Sandbox) controlPage(w http.ResponseWriter, _ *http.Request) {
	f := s.luck.current()
	v := controlView{State: s.State(), PerMinute: s.cfg.PerMinute, Faults: f.settings(), Calls: s.calls.list(),
		USSD: s.ussd.Load() != nil, Phone: s.phones.shown()}
	slices.Reverse(v.Calls)
	v.Calls = v.Calls[:min(len(v.Calls), 20)]
	if u := s.dlr.Load(); u != nil {
		v.DLR = u.Scheme + "://" + u.Host + "/…"
	}
	s.mu.Lock()
	v.Credits, v.Amount = s.credits(), fmt.Sprintf("%d.%02d", s.credit/100, s.credit%100)
	v.Senders, v.Templates, v.Groups = slices.Clone(s.senders), slices.Clone(s.templates), slices.Clone(s.groups)
	s.mu.Unlock()
	var b bytes.Buffer
	if err := s.page.Execute(&b, v); err != nil {
		s.log.Error("the sandbox cannot show its control page", "error", err)
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = b.WriteTo(w)
}

// postFaults replaces every fault by those of a JSON object or of the page's form; what is not named is off.
func (s *Sandbox) postFaults(w http.ResponseWriter, r *http.Request) {
	var f Faults
	var err error
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	form := kind == "application/x-www-form-urlencoded"
	if form {
		values := map[string]string{}
		if err = r.ParseForm(); err == nil {
			for name := range r.PostForm {
				values[name] = r.PostForm.Get(name)
			}
			f, err = faultsFrom(values)
		}
	} else {
		var raw []byte
		if raw, err = io.ReadAll(r.Body); err == nil {
			err = json.Unmarshal(raw, &f)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.luck.setFaults(f)
	if form {
		http.Redirect(w, r, "/_sandbox/", http.StatusSeeOther)
		return
	}
	writeJSON(w, f)
}

// postSenderID plays the provider's staff: they approve or refuse, switch on or off.
func (s *Sandbox) postSenderID(w http.ResponseWriter, r *http.Request) {
	s.decide(w, r, func(approve, active bool) (entry, bool) {
		i := s.senderIndex(r.PathValue("id"))
		if i < 0 {
			return entry{}, false
		}
		x := s.senders[i]
		if x.IsActive = active; approve && x.ApproveStatus != approved {
			x.ApproveStatus, x.ApprovedDate = approved, s.day()
		} else if !approve {
			x.ApproveStatus, x.ApprovedDate = pending, ""
		}
		return entry{Sender: &x}, true
	})
}

func (s *Sandbox) postTemplate(w http.ResponseWriter, r *http.Request) {
	s.decide(w, r, func(approve, active bool) (entry, bool) {
		i := s.templateIndex(r.PathValue("id"))
		if i < 0 {
			return entry{}, false
		}
		t := s.templates[i]
		if approve && !t.IsApproved {
			t.ApprovedDate = s.day()
		}
		t.IsApproved, t.IsActive = approve, active
		return entry{Template: &t}, true
	})
}

// decide reads the fields approved and active of a form; a missing one is no.
func (s *Sandbox) decide(w http.ResponseWriter, r *http.Request, change func(approve, active bool) (entry, bool)) {
	approve, _ := strconv.ParseBool(r.PostFormValue("approved"))
	active, _ := strconv.ParseBool(r.PostFormValue("active"))
	s.mu.Lock()
	e, found := change(approve, active)
	var err error
	if found {
		err = s.commit(e)
	}
	s.mu.Unlock()
	switch {
	case !found:
		http.NotFound(w, r)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		http.Redirect(w, r, "/_sandbox/", http.StatusSeeOther)
	}
}

func (s *Sandbox) postCredit(w http.ResponseWriter, r *http.Request) {
	amount, err := strconv.ParseFloat(r.PostFormValue("amount"), 64)
	if err != nil || !(amount >= 0 && amount <= 1e12) {
		http.Error(w, "amount: a sum such as 57524.50 is needed", http.StatusBadRequest)
		return
	}
	credit := int64(math.Round(amount * 100))
	s.mu.Lock()
	err = s.commit(entry{Credit: &credit})
	s.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, "/_sandbox/", http.StatusSeeOther)
}
