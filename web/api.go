package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"golang.org/x/time/rate"

	"smsdesk/internal/sms"
)

// apiPath begins every address that is for other programs. There no cookie is
// looked at and none is set; who asks is told by a bearer token.
const apiPath = "/api/v1"

// forPrograms says that errors at this address are told as problem details.
func forPrograms(r *http.Request) bool {
	return r.URL.Path == "/api" || strings.HasPrefix(r.URL.Path, "/api/")
}

// programHandler answers one request of one program, or returns an error, of
// which handleProgram alone makes problem details.
type programHandler func(w http.ResponseWriter, r *http.Request, p program) error

// program is who asks: the token, and the person as whom it acts.
type program struct {
	token sms.Token
	user  sms.User
}

// masked says that this person sees phone numbers only in part.
func (p program) masked() bool { return !p.user.Role.AtLeast(sms.Sender) }

type apiQuestions interface {
	AccountNamed(ctx context.Context, name string) (sms.Account, error)
	CountCampaign(ctx context.Context, id int64) (sms.CampaignCount, error)
	CountCampaigns(ctx context.Context, f sms.CampaignFilter) (list []sms.CampaignCount, more bool, err error)
	Tokens(ctx context.Context, user int64) ([]sms.Token, error)
	Token(ctx context.Context, id int64) (sms.Token, error)
	List(ctx context.Context, uid string) (sms.List, error)
	ListNotes(ctx context.Context, uid string, f sms.RowFilter) ([]sms.RowNote, bool, error)
}

// programTable is every address for programs, and who may.
func (s *Web) programTable() []route {
	campaigns := apiPath + "/campaigns"
	return []route{
		{method: "GET", pattern: apiPath + "/openapi.yaml", least: outside, plain: http.HandlerFunc(openAPI)},
		{method: "GET", pattern: campaigns, least: sms.Viewer, program: s.apiCampaignList},
		{method: "POST", pattern: campaigns, least: sms.Sender, program: s.apiCreate, upload: true},
		{method: "GET", pattern: campaigns + "/{id}", least: sms.Viewer, program: s.apiCampaign},
		{method: "GET", pattern: campaigns + "/{id}/messages", least: sms.Viewer, program: s.apiMessageList},
		{method: "POST", pattern: campaigns + "/{id}/send", least: sms.Sender, program: s.apiSend},
		{method: "POST", pattern: campaigns + "/{id}/stop", least: sms.Sender, program: s.apiStop},
		{method: "POST", pattern: campaigns + "/{id}/continue", least: sms.Sender, program: s.apiContinue},
		{method: "POST", pattern: campaigns + "/{id}/cancel", least: sms.Sender, program: s.apiCancel},
		{method: "GET", pattern: apiPath + "/messages/{id}", least: sms.Viewer, program: s.apiMessage},
	}
}

// handleProgram is the one way from an address for programs to its handler: who
// is it, may they, not too often, answer.
func (s *Web) handleProgram(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		p, err := s.programOf(r)
		if err == nil && !p.user.Role.AtLeast(rt.least) {
			err = newProblem(http.StatusForbidden, "The person as whom this token acts has the role "+p.user.Role.Title()+"; this needs the role "+rt.least.Title())
		}
		if err == nil {
			err = s.pace.wait(r.Context(), p.token.ID)
		}
		if err == nil && !rt.upload {
			if r.Body != http.NoBody {
				// Where the connection has no deadline there is none to miss.
				_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formTime))
			}
			r.Body = http.MaxBytesReader(w, r.Body, formMost)
		}
		if err == nil {
			err = rt.program(w, r, p)
		}
		if err != nil {
			s.failProgram(w, r, p, rt, err)
		}
	})
}

func (s *Web) failProgram(w http.ResponseWriter, r *http.Request, who program, rt route, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return
	}
	p := apiProblem(err)
	if p.Status >= http.StatusInternalServerError && p.Status != http.StatusServiceUnavailable {
		p.Instance = requestID(r.Context())
		s.log.Error("request failed", "id", p.Instance, "method", r.Method, "route", rt.pattern, "user", who.user.ID, "token", who.token.ID, "error", err)
	}
	switch p.Status {
	case http.StatusUnauthorized:
		challenge := `Bearer realm="smsdesk"`
		if r.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
	case http.StatusForbidden:
		w.Header().Set("WWW-Authenticate", `Bearer realm="smsdesk", error="insufficient_scope"`)
	}
	s.writeProblem(w, p)
}

// programOf finds the program behind a request's token.
func (s *Web) programOf(r *http.Request) (program, error) {
	scheme, secret, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return program{}, newProblem(http.StatusUnauthorized, "Send a token in the header Authorization: Bearer …")
	}
	t, err := s.desk.UseToken(r.Context(), strings.TrimSpace(secret))
	if errors.Is(err, sms.ErrNotFound) {
		return program{}, newProblem(http.StatusUnauthorized, "This token does not work: it is unknown or revoked, or its person may not sign in any more")
	}
	return program{t, t.User}, err
}

// nowhereProgram answers addresses for programs that do not exist.
func (s *Web) nowhereProgram(w http.ResponseWriter, _ *http.Request) {
	s.writeProblem(w, newProblem(http.StatusNotFound, "There is nothing at this address"))
}

// wrongMethodProgram answers methods that an address for programs does not take.
func (s *Web) wrongMethodProgram(m *chi.Mux, w http.ResponseWriter, r *http.Request) {
	for _, allowed := range []struct{ method, words string }{{http.MethodGet, "GET, HEAD"}, {http.MethodPost, "POST"}} {
		if m.Match(chi.NewRouteContext(), allowed.method, r.URL.Path) {
			w.Header().Add("Allow", allowed.words)
		}
	}
	s.writeProblem(w, newProblem(http.StatusMethodNotAllowed, "This address does not take this method"))
}

// writeJSON writes a whole answer or nothing of it.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write an answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A program that has gone away is nobody's error.
	_, _ = w.Write(append(body, '\n'))
	return nil
}

// moment is a stored time for programs; nil for never.
func moment(ms int64) *string {
	if ms == 0 {
		return nil
	}
	text := time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
	return &text
}

// apiID reads the number of a thing out of the address.
func apiID(r *http.Request) (int64, error) { return pathID(r, "id") }

const (
	pageDefault = 100
	pageMost    = 1000
)

// page is which part of a list is asked for. An empty cursor is the first.
type page struct {
	limit  int
	cursor int64
}

func readPage(r *http.Request) (page, error) {
	q := r.URL.Query()
	p := page{limit: pageDefault}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > pageMost {
			return p, wrongField(http.StatusBadRequest, "limit", "Give a number from 1 to 1,000")
		}
		p.limit = n
	}
	if text := q.Get("cursor"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return p, wrongField(http.StatusBadRequest, "cursor", "Give back the nextCursor of the page before, as it was")
		}
		p.cursor = n
	}
	return p, nil
}

// cursorAfter is the cursor of the page after the one that ends with this id; nil
// after the last.
func cursorAfter(more bool, last int64) *string {
	if !more {
		return nil
	}
	text := strconv.FormatInt(last, 10)
	return &text
}

// pace slows a program down that asks faster than a person could read, and
// refuses one that asks faster still.
type pace struct {
	mu sync.Mutex
	by map[int64]*rate.Limiter
}

const (
	paceRate  = 200 // requests a second of one token
	paceBurst = 1000
	paceWait  = 5 * time.Second // the most that a request waits for its turn
)

func newPace() *pace { return &pace{by: map[int64]*rate.Limiter{}} }

func (p *pace) of(token int64) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by[token] == nil {
		p.by[token] = rate.NewLimiter(paceRate, paceBurst)
	}
	return p.by[token]
}

func (p *pace) wait(ctx context.Context, token int64) error {
	turn := p.of(token).Reserve()
	delay := turn.Delay()
	if delay > paceWait {
		turn.Cancel()
		slow := newProblem(http.StatusTooManyRequests, fmt.Sprintf("One token may ask %d times a second. Wait and ask again", paceRate))
		slow.retryAfter = int(delay/time.Second) + 1
		return slow
	}
	if delay <= 0 {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
