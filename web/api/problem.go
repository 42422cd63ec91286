package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// Problem is what a program is told of an error (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Instance names the request in smsdesk's log.
	Instance string       `json:"instance,omitempty"`
	Errors   []fieldError `json:"errors,omitempty"`
	// BadRows counts the rows that cannot be sent; Rows lists the first of them.
	BadRows int64      `json:"badRows,omitempty"`
	Rows    []rowError `json:"rows,omitempty"`
	// AlreadySent counts the recipients for whom nothing was sent.
	AlreadySent *AlreadySent `json:"alreadySent,omitempty"`

	retryAfter int // seconds, 0: none
}

type fieldError struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

type rowError struct {
	Row    int64  `json:"row"`
	Detail string `json:"detail"`
}

func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Title, p.Detail) }

const ProblemJSON = "application/problem+json"

// The problems that have a name of their own; the others are about:blank, of
// which the status says everything.
const (
	problemBlank   = "about:blank"
	ProblemBadRows = "urn:smsdesk:problem:bad-rows"
	problemFields  = "urn:smsdesk:problem:fields"
	ProblemKey     = "urn:smsdesk:problem:idempotency-key"
	ProblemState   = "urn:smsdesk:problem:state"
	ProblemAlready = "urn:smsdesk:problem:already-sent"
	ProblemRepeat  = "urn:smsdesk:problem:may-repeat"
)

func newProblem(status int, detail string) *Problem {
	return &Problem{Type: problemBlank, Title: http.StatusText(status), Status: status, Detail: stopped(detail)}
}

// stopped ends a sentence.
func stopped(sentence string) string {
	if sentence == "" {
		return ""
	}
	return strings.TrimSuffix(sentence, ".") + "."
}

// wrongField is a problem with one field of a request.
func wrongField(status int, field, sentence string) *Problem {
	return wrongFields(status, sms.Invalid{field: sentence})
}

func wrongFields(status int, bad sms.Invalid) *Problem {
	p := newProblem(status, "")
	p.Type, p.Title = problemFields, "Validation failed"
	for _, field := range slices.Sorted(maps.Keys(bad)) {
		p.Errors = append(p.Errors, fieldError{field, stopped(bad[field])})
	}
	p.Detail = p.Errors[0].Field + ": " + p.Errors[0].Detail
	return p
}

// apiField is the name in a request of what an order calls by a form's name.
func apiField(name string) string {
	if mark, ok := strings.CutPrefix(name, "field:"); ok {
		return "fields." + mark
	}
	if known := map[string]string{"sender_id": "senderId", "numbers": "rows", "time": "scheduleAt", "which": "scheduleAt",
		"phone": "phoneColumn", "message": "text", "may_repeat": "mayRepeat",
		"test_number": "phone"}[name]; known != "" {
		return known
	}
	return name
}

// mayRepeatProblem says that some may get a message twice, and how to go on.
func mayRepeatProblem(sentence string) *Problem {
	p := newProblem(http.StatusConflict, stopped(sentence)+
		" Nothing was sent. Send \"mayRepeat\": true to send all the same")
	p.Type = ProblemRepeat
	return p
}

// changedTo gives a conflict a sentence of its own.
func changedTo(err error, sentence string) error {
	if !errors.Is(err, sms.ErrConflict) {
		return err
	}
	p := newProblem(http.StatusConflict, sentence)
	p.Type = ProblemState
	return p
}

// apiProblem finds the problem details for an error.
func apiProblem(err error) *Problem {
	var p *Problem
	var large *http.MaxBytesError
	var bad sms.Invalid
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &large):
		return newProblem(http.StatusRequestEntityTooLarge, fmt.Sprintf("Body must be %d bytes or smaller", large.Limit))
	case errors.As(err, &bad) && len(bad) == 1 && bad["may_repeat"] != "":
		return mayRepeatProblem(bad["may_repeat"])
	case errors.As(err, &bad) && len(bad) > 0:
		named := sms.Invalid{}
		for field, sentence := range bad {
			named[apiField(field)] = sentence
		}
		return wrongFields(http.StatusUnprocessableEntity, named)
	case errors.Is(err, sms.ErrNotFound):
		return newProblem(http.StatusNotFound, "Not found")
	case errors.Is(err, sms.ErrForbidden):
		return newProblem(http.StatusForbidden, "The token's user does not have permission")
	case errors.Is(err, sms.ErrConflict):
		p := newProblem(http.StatusConflict, "Conflict: it has changed. Nothing was done twice")
		p.Type = ProblemState
		return p
	case errors.Is(err, os.ErrDeadlineExceeded):
		return newProblem(http.StatusRequestTimeout, "Request timed out")
	case errors.Is(err, context.DeadlineExceeded):
		p := newProblem(http.StatusServiceUnavailable, "Timed out. Retry later")
		p.retryAfter = 10
		return p
	case health.TroubleOf(err) != "":
		p := newProblem(http.StatusServiceUnavailable, health.TroubleOf(err).Sentence())
		p.retryAfter = 10
		return p
	}
	return newProblem(http.StatusInternalServerError, "Something went wrong in smsdesk")
}

// Tell answers with a problem that belongs to no order: text is its
// sentence, reference names the request in the log.
func Tell(w http.ResponseWriter, log *slog.Logger, status int, text, reference string) {
	p := newProblem(status, text)
	p.Instance = reference
	writeProblem(w, log, p)
}

func writeProblem(w http.ResponseWriter, log *slog.Logger, p *Problem) {
	body, err := json.Marshal(p)
	if err != nil {
		log.Error("problem not written", "error", err)
	}
	w.Header().Set("Content-Type", ProblemJSON)
	w.Header().Set("Cache-Control", "no-store")
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(p.retryAfter))
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n'))
}
