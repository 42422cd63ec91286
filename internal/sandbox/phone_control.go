package sandbox

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"sync"
)

// phones are the phones of the control page: each number has one session.
type phones struct {
	mu   sync.Mutex
	open map[string]Press // by number, while a session is open
	last *exchange
}

// exchange is the last thing a handset did, as JSON and on the control page.
type exchange struct {
	Number  string          `json:"number"`
	Network string          `json:"network"`
	Input   string          `json:"input"`
	Text    string          `json:"text"`
	End     bool            `json:"end"`
	Problem string          `json:"problem"`
	Millis  float64         `json:"millis"`
	Request json.RawMessage `json:"request"`
	Answer  json.RawMessage `json:"answer"`
}

// SetUSSDURL registers the endpoint that the phones call (§6.2).
func (s *Sandbox) SetUSSDURL(raw string) error {
	u, err := parseDLRURL(raw)
	if err != nil {
		return err
	}
	text := u.String()
	s.ussd.Store(&text)
	return nil
}

// postUSSD presses a phone's keys: the first input of a number is dialled, the
// next ones answer, "hang up" ends its session, and with "time out" the network
// does.
func (s *Sandbox) postUSSD(w http.ResponseWriter, r *http.Request) {
	number, network, input := r.PostFormValue("number"), r.PostFormValue("network"), r.PostFormValue("input")
	url := s.ussd.Load()
	if url == nil || number == "" {
		http.Error(w, "number, network and input are needed, and an endpoint that is registered", http.StatusBadRequest)
		return
	}
	p := s.phones.press(number, network, input)
	p.URL = *url
	h, err := s.phone.Press(r.Context(), p)
	if err != nil {
		h.Problem = err.Error()
	}
	x := exchange{Number: number, Network: network, Input: input, Text: h.Text, End: h.End, Problem: h.Problem,
		Millis: float64(h.Took.Microseconds()) / 1000, Request: h.Request, Answer: h.Answer}
	s.phones.done(p, x, err == nil)
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Accept")); kind == "application/json" {
		writeJSON(w, x)
		return
	}
	http.Redirect(w, r, "/_sandbox/#ussd", http.StatusSeeOther)
}

func (h *phones) press(number, network, input string) Press {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, open := h.open[number]
	switch {
	case open && (input == "hang up" || input == "time out"):
		p.Stage, p.Text, p.Cut = 4, "", input == "time out"
	case open:
		p.Stage, p.Text = 3, input
	default:
		code, _, _ := strings.Cut(strings.Trim(input, "*#"), "*")
		p = Press{Number: number, Network: network, Code: code, Text: input, Stage: 2}
	}
	return p
}

// done notes what came back. Without an answer the network keeps the session
// for a while, so that the same can be tried again.
func (h *phones) done(p Press, x exchange, answered bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last = &x; !answered {
		return
	}
	if delete(h.open, p.Number); !x.End && x.Problem == "" {
		h.open[p.Number] = p
	}
}

func (h *phones) shown() *exchange {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}
