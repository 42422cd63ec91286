package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"

	"smsdesk/internal/sms"
)

// The kinds of an Error that carries no code, for errors.Is.
var (
	// ErrUnreachable: no answer to a read, or a change of which nothing left.
	ErrUnreachable = errors.New("the provider cannot be reached")
	// ErrRate: the request rate is used up (§8), by the service's word or ours.
	ErrRate = errors.New("the request rate is used up")
)

// Error is why a read or a change failed. All of it may be shown to people.
type Error struct {
	Code        string // three digits (§7), "" when the answer carried none
	Description string // ErrorDescription as given, credentials removed
	HTTPStatus  int    // 0 when there was no answer
	Sentence    string // what happened and what to do
	Detail      string // the technical cause, for those who can use it
	fault       sms.Fault
	kind        error
}

// Blames is what the provider blames, "" for nothing that we know.
func (e *Error) Blames() sms.Fault { return e.fault }

// Error returns the sentence.
func (e *Error) Error() string { return e.Sentence }

// Is tells the kinds apart: ErrUnreachable, ErrRate, sms.ErrUncertain,
// sms.ErrTaken (027), sms.ErrGone (028), and context.Canceled where the caller
// gave up.
func (e *Error) Is(target error) bool {
	switch target {
	case sms.ErrTaken:
		return e.Code == "027"
	case sms.ErrGone:
		return e.Code == "028"
	}
	return e.kind != nil && e.kind == target
}

// subject is the record that a call is about; it words the sentences.
type subject struct{ noun, name string }

func unreachable(detail string) *Error {
	return &Error{Sentence: "We cannot reach the provider", Detail: detail, kind: ErrUnreachable}
}

// failed is a read that got no whole answer.
func (c *Client) failed(err error) *Error {
	if errors.Is(err, context.Canceled) {
		return stopped()
	}
	return unreachable(cause(err, c.redact))
}

func stopped() *Error {
	return &Error{Sentence: "Cancelled before the provider answered", kind: context.Canceled}
}

func uncertainError(status int) *Error {
	return &Error{
		HTTPStatus: status,
		Sentence:   "We lost the connection and cannot tell whether the change was made. Refresh the list before you try again",
		kind:       sms.ErrUncertain,
	}
}

func unreadable(status int) *Error {
	return &Error{HTTPStatus: status, Sentence: "We could not read the provider's answer. Check the provider's API URL"}
}

func (c *Client) rateError(status int) *Error {
	return &Error{HTTPStatus: status, kind: ErrRate,
		Sentence: fmt.Sprintf("We have reached the provider's limit of %d requests per minute. Try again in a minute",
			c.limiter.rate)}
}

func (c *Client) waitError(err error) *Error {
	if errors.Is(err, context.Canceled) {
		return stopped()
	}
	return c.rateError(0)
}

// parseResponse turns an answer into its envelope, or into an *Error when it is
// anything but a success (§1, §7).
func (c *Client) parseResponse(s oneShotResult, about subject) (envelope, error) {
	if s.status == http.StatusTooManyRequests {
		return envelope{}, c.rateError(s.status)
	}
	if s.status >= 300 && s.status < 400 {
		return envelope{}, &Error{HTTPStatus: s.status,
			Sentence: "The provider redirected the request, and we do not follow redirects. Check the provider's API URL"}
	}
	e, err := c.envelope(s)
	switch {
	case err == nil && e.code != "" && e.code != "000":
		return envelope{}, c.codeError(e, s.status, about)
	case s.status != http.StatusOK:
		return envelope{}, &Error{HTTPStatus: s.status,
			Sentence: fmt.Sprintf("The provider answered with HTTP status %d and no result", s.status)}
	case err != nil || e.code == "":
		return envelope{}, unreadable(s.status)
	}
	return e, nil
}

func (c *Client) codeError(e envelope, status int, about subject) *Error {
	said := e.description
	out := &Error{Code: e.code, Description: said, HTTPStatus: status}
	l, ok := listed(e.code)
	switch {
	case ok:
		out.Sentence, out.fault = l.sentence, l.fault
	case e.code == "027" && about.name != "":
		out.Sentence = fmt.Sprintf("There is already a %s called “%s”. Choose another name", about.noun, about.name)
	case e.code == "028" && about.noun == "message":
		out.Sentence = "The provider has no record of this message"
	case e.code == "028" && about.noun != "":
		out.Sentence = fmt.Sprintf("This %s no longer exists at the provider. We have removed it from the list", about.noun)
	default:
		out.Sentence = fmt.Sprintf("The provider answered “%s” (code %s)", said, e.code)
	}
	return out
}

// cause says in plain words why a connection failed. It never shows a URL.
func cause(err error, r redactor) string {
	var (
		unknown  *net.DNSError
		authCA   x509.UnknownAuthorityError
		authHost x509.HostnameError
		authBad  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		alert    tls.AlertError
		timeout  net.Error
		asked    *url.Error
	)
	switch {
	case errors.Is(err, errForbidden):
		return "the URL points to a private network"
	case errors.Is(err, context.Canceled):
		return "stopped"
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return "the host name does not exist"
	case errors.As(err, &unknown):
		return "the host name could not be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.As(err, &authCA):
		return "the certificate is not trusted"
	case errors.As(err, &authHost):
		return "the certificate is for a different host"
	case errors.As(err, &authBad), errors.As(err, &verify):
		return "the certificate is not valid"
	case errors.As(err, &record):
		return "the server does not support TLS"
	case errors.As(err, &alert):
		return "the TLS handshake was refused"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) &&
		timeout.Timeout():
		return "the request timed out"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		return "the connection was closed"
	case errors.As(err, &asked):
		return r.brief(asked.Err.Error(), maxDescription)
	case err == nil:
		return ""
	}
	return r.brief(err.Error(), maxDescription)
}
