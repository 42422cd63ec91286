package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// oneShotResult is the observed end of one request that was made at most once.
type oneShotResult struct {
	written     int64 // request bytes that left on the raw socket
	status      int   // 0: no head of an answer was read
	header      http.Header
	body        []byte
	rateTimeout error // the limiter gave no place in time; nothing was tried
	err         error // why there is no whole answer
}

func (s oneShotResult) limited() bool { return s.rateTimeout != nil }

// refusal is the licence's no.
type refusal struct{ error }

var (
	errTooLarge = errors.New("the answer is larger than 4 MiB")
	errSurplus  = errors.New("the answer is longer than it says")
	errEncoded  = errors.New("the answer is compressed, which we did not ask for")
	errInterim  = errors.New("only informational (1xx) responses arrived")
	errSpoke    = errors.New("the server sent data or closed the connection before our request")
)

// sendOnce makes one request exactly once: a place under the rate, a fresh
// connection, the licence, then every byte from one buffer. It never follows,
// never repeats, never reuses. ctx counts until the licence; after it a
// cancelled context would only create doubt, so the answer time-out alone
// ends the call.
func (c *Client) sendOnce(ctx context.Context, p Priority, req *http.Request, licence func() error) oneShotResult {
	var request bytes.Buffer
	if err := req.Write(&request); err != nil {
		return oneShotResult{err: fmt.Errorf("write request: %w", err)}
	}
	ticket, err := c.limiter.take(ctx, p)
	if err != nil {
		return oneShotResult{rateTimeout: err, err: err}
	}
	began := time.Now()
	s := c.roundTrip(ctx, req.Method, request.Bytes(), licence)
	if s.written == 0 {
		ticket.release()
	} else {
		c.settleTicket(ticket, s)
	}
	c.logCall(req, s.status, began)
	return s
}

func (c *Client) roundTrip(ctx context.Context, method string, request []byte, licence func() error) oneShotResult {
	conn, err := c.dialer.open(ctx)
	if err != nil {
		return oneShotResult{err: err}
	}
	defer conn.Close()
	// Reading starts before the licence: a peer that has hung up by the time
	// the licence is given is then seen while still nothing has left.
	answers := make(chan oneShotResult, 1)
	go func() { answers <- readAnswer(conn, method) }()
	if err := ctx.Err(); err != nil {
		return oneShotResult{err: err}
	}
	if err := licence(); err != nil {
		return oneShotResult{err: refusal{err}}
	}
	select {
	case <-answers:
		return oneShotResult{err: errSpoke}
	default:
	}
	if err := conn.SetDeadline(time.Now().Add(c.answerTimeout)); err != nil {
		return oneShotResult{err: err}
	}
	if _, err := conn.Write(request); err != nil {
		return oneShotResult{written: conn.raw.sent.Load(), err: fmt.Errorf("write: %w", err)}
	}
	s := <-answers
	s.written = conn.raw.sent.Load()
	return s
}

// readAnswer reads one whole answer, passing over interim ones.
func readAnswer(conn net.Conn, method string) oneShotResult {
	limited := &io.LimitedReader{R: conn, N: maxAnswer + maxHead}
	r := bufio.NewReader(limited)
	for range 5 {
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return oneShotResult{err: err}
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			return readBody(resp, r, limited)
		}
	}
	return oneShotResult{err: errInterim}
}

func readBody(resp *http.Response, r *bufio.Reader, limited *io.LimitedReader) oneShotResult {
	s := oneShotResult{status: resp.StatusCode, header: resp.Header}
	s.body, s.err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	switch {
	case len(s.body) > maxAnswer || limited.N <= 0:
		s.body, s.err = s.body[:min(len(s.body), maxAnswer)], errTooLarge
	case s.err != nil:
	case encoding != "" && encoding != "identity":
		s.err = errEncoded
	case r.Buffered() > 0:
		s.err = errSurplus
	}
	return s
}
