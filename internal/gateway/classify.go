package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"smsdesk/internal/sms"
)

// outcome says what may be concluded from the end of a send call
// (internal/workers/README.md, What may be sent again). Whatever is not proven is doubt. Numbers and
// ids of rows stay as given, because they are compared; every other text of
// the service has lost the credentials by the time it gets here.
func (c *Client) outcome(call sms.Call, s oneShotResult) sms.Outcome {
	o := c.judge(call, s)
	o.HTTPStatus, o.Written = s.status, s.written
	for i := range o.Rows {
		o.Rows[i].Description = c.redact.brief(o.Rows[i].Description, maxDescription)
	}
	o.Excerpt = c.redact.brief(string(s.body[:min(len(s.body), redactSource+1)]), maxExcerpt)
	return o
}

func (c *Client) judge(call sms.Call, s oneShotResult) sms.Outcome {
	switch {
	case s.written == 0:
		return sms.Outcome{Class: sms.ClassNothingLeft, Reason: c.nothingLeft(s)}
	case s.status == 0:
		return lost(call, cause(s.err, c.redact))
	case s.status == http.StatusTooManyRequests:
		return c.judgeRate(call, s)
	case s.status >= 500 || s.status == http.StatusRequestTimeout:
		return unclear(call, fmt.Sprintf("HTTP status %d", s.status))
	case s.status >= 300 && s.status < 400:
		return held(
			"The provider redirected the request, and we do not follow redirects. Check the provider's API URL. The messages were probably not sent.")
	case s.err != nil:
		return lost(call, cause(s.err, c.redact))
	case s.status >= 400 && s.status < 500:
		return c.judgeRefusal(call, s)
	case s.status == http.StatusOK, s.status == http.StatusCreated, s.status == http.StatusAccepted:
		e, err := c.envelope(s)
		if err != nil {
			return unclear(call, err.Error())
		}
		return judgeEnvelope(call, e)
	}
	return unclear(call, fmt.Sprintf("HTTP status %d", s.status))
}

// envelope parses an answer; its description has lost the credentials.
func (c *Client) envelope(s oneShotResult) (envelope, error) {
	e, err := parseEnvelope(s.body)
	e.description = c.redact.brief(e.description, maxDescription)
	return e, err
}

func (c *Client) nothingLeft(s oneShotResult) string {
	var refused refusal
	switch {
	case s.limited() && !errors.Is(s.rateTimeout, context.Canceled):
		return fmt.Sprintf("The limit of %d requests per minute left no room in time. Nothing was sent.", c.limiter.rate)
	case errors.As(s.err, &refused):
		return "smsdesk blocked this request. Nothing was sent. Cause: " + c.redact.brief(refused.Error(), maxDescription)
	case errors.Is(s.err, context.Canceled):
		return "The request was cancelled before it was sent. Nothing was sent."
	}
	return "We cannot reach the provider. Nothing was sent. Cause: " + cause(s.err, c.redact)
}

// judgeRate: 429 means by contract that the call was not executed (§8), unless
// the same answer says that it was.
func (c *Client) judgeRate(call sms.Call, s oneShotResult) sms.Outcome {
	e, err := c.envelope(s)
	if err == nil && (e.code == "000" || e.hasData()) {
		return unclear(call, "HTTP status 429 together with a result")
	}
	o := sms.Outcome{
		Class:  sms.ClassRate,
		Reason: fmt.Sprintf("We have reached the provider's limit of %d requests per minute.", c.limiter.rate),
	}
	if err == nil {
		o.Code, o.Description = e.code, e.description
	}
	if wait, ok := retryAfter(s.header.Get("Retry-After"), c.now()); ok {
		o.RetryAfter = wait
	}
	return o
}

// judgeRefusal reads a status of 400 to 499. A body that is no JSON or knows
// no ErrorCode leaves the status alone to speak; a broken envelope is doubt.
func (c *Client) judgeRefusal(call sms.Call, s oneShotResult) sms.Outcome {
	e, err := c.envelope(s)
	switch {
	case errors.Is(err, errNoEnvelope) && !looksLikeJSON(s.body), errors.Is(err, errNoCode) && !e.hasData():
		reason := fmt.Sprintf(
			"The provider refused the request with HTTP status %d for a reason we do not recognise. The messages were probably not sent.", s.status)
		if s.status == http.StatusRequestEntityTooLarge || s.status == http.StatusRequestURITooLong {
			reason += " Fewer recipients per request may help."
		}
		return held(reason)
	case err != nil:
		return unclear(call, err.Error())
	case e.code == "000":
		return unclear(call, fmt.Sprintf("HTTP status %d together with a success", s.status))
	}
	return judgeEnvelope(call, e)
}

func looksLikeJSON(body []byte) bool {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	return bytes.HasPrefix(body, []byte("{")) || bytes.HasPrefix(body, []byte("["))
}

func judgeEnvelope(call sms.Call, e envelope) sms.Outcome {
	doubt := func(detail string) sms.Outcome {
		o := unclear(call, detail)
		o.Code, o.Description = e.code, e.description
		return o
	}
	switch {
	case e.code == "":
		return doubt(errNoCode.Error())
	case e.code == "000":
		rows, err := e.rows()
		if err != nil {
			return doubt(err.Error())
		}
		if call.Kind == sms.CallGroup && len(rows) == 0 {
			return doubt("the provider's answer lists no recipients of the group")
		}
		return sms.Outcome{Class: sms.ClassAnswered, Code: e.code, Description: e.description,
			Rows: attribute(call.Recipients, rows)}
	case e.hasData():
		return doubt(fmt.Sprintf("error code %s together with a result", e.code))
	}
	if l, ok := listed(e.code); ok {
		return sms.Outcome{Class: sms.ClassListed, Code: e.code, Description: e.description, Fault: l.fault,
			Reason: l.sentence}
	}
	return sms.Outcome{Class: sms.ClassHold, Code: e.code, Description: e.description,
		Reason: unlisted(e.code, e.description)}
}

func held(reason string) sms.Outcome {
	return sms.Outcome{Class: sms.ClassHold, Reason: reason}
}

// lost is doubt because the connection ended before a whole answer was read.
func lost(call sms.Call, detail string) sms.Outcome {
	what, they := sending(call)
	return sms.Outcome{Class: sms.ClassDoubt,
		Reason: fmt.Sprintf("We lost the connection while sending %s, so we cannot tell whether %s went out. Cause: %s", what,
			they, detail)}
}

// unclear is doubt because an answer was read that proves nothing.
func unclear(call sms.Call, detail string) sms.Outcome {
	what, they := sending(call)
	return sms.Outcome{Class: sms.ClassDoubt,
		Reason: fmt.Sprintf(
			"The provider gave no clear answer when we sent %s. We cannot tell whether %s went out. Cause: %s", what, they, detail)}
}

func sending(call sms.Call) (what, they string) {
	switch {
	case call.Kind == sms.CallGroup:
		return "to a group", "the messages"
	case len(call.Recipients) == 1:
		return "1 message", "it"
	}
	return fmt.Sprintf("%d messages", len(call.Recipients)), "they"
}
