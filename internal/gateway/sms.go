package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"smsdesk/internal/sms"
)

// schedLayout is the format of SchedTime and scheduleTime (§4.2 to §4.4).
const schedLayout = "2006-01-02 15:04"

// Send makes one send call, at most once (internal/workers/README.md, One attempt): CallText
// by POST /SendSMS (§4.2), CallPairs by GET /SendBulkSMS (§4.4), CallGroup by
// POST /SendSMS with GroupId and no numbers. Config.ByGet makes the two POSTs
// a GET /SendSMS (§4.3). licence is called exactly once when the connection
// stands and before the first byte, or not at all; its error keeps everything
// here. ctx counts until then.
func (c *Client) Send(ctx context.Context, call sms.Call, licence func() error) sms.Outcome {
	return c.send(ctx, Bulk, call, licence)
}

// SendUrgent is Send with the places that are kept for urgent single sends.
func (c *Client) SendUrgent(ctx context.Context, call sms.Call, licence func() error) sms.Outcome {
	return c.send(ctx, Urgent, call, licence)
}

func (c *Client) send(ctx context.Context, p Priority, call sms.Call, licence func() error) sms.Outcome {
	req, err := c.sendRequest(call)
	if err == nil && licence == nil {
		err = errors.New("it has no licence")
	}
	if err != nil {
		return sms.Outcome{Class: sms.ClassNothingLeft, Reason: "This request cannot be made: " + c.redact.text(err.Error()) +
			". Nothing was sent."}
	}
	return c.outcome(call, c.sendOnce(ctx, p, req, licence))
}

func (c *Client) sendRequest(call sms.Call) (*http.Request, error) {
	if err := checkCall(call); err != nil {
		return nil, err
	}
	ctx := context.Background()
	switch {
	case call.Kind == sms.CallPairs:
		pairs, err := EncodePairs(call.Recipients)
		if err != nil {
			return nil, err
		}
		q := c.sendQuery(call)
		q.Set("MobileNumber_Message", pairs)
		return c.request(ctx, http.MethodGet, "/SendBulkSMS", q, nil)
	case c.goesByGet(call):
		return c.request(ctx, http.MethodGet, "/SendSMS", c.getQuery(call), nil)
	}
	return c.request(ctx, http.MethodPost, "/SendSMS", nil, map[string]any{
		"SenderId":      call.SenderID,
		"Message":       call.Text,
		"MobileNumbers": numbers(call.Recipients),
		"Is_Unicode":    call.Unicode,
		"Is_Flash":      call.Flash,
		"SchedTime":     c.schedTime(call),
		"GroupId":       call.GroupID,
	})
}

// getQuery is a call as GET /SendSMS takes it (§4.3).
func (c *Client) getQuery(call sms.Call) url.Values {
	q := c.sendQuery(call)
	q.Set("Message", call.Text)
	q.Set("MobileNumber", numbers(call.Recipients))
	if call.GroupID != "" {
		q.Set("groupId", call.GroupID)
	}
	return q
}

// goesByGet says that a call goes by GET /SendSMS: the account wants it, and
// the whole URL keeps within its length. A text that is too long for a URL goes
// by POST.
func (c *Client) goesByGet(call sms.Call) bool {
	return c.byGet > 0 && call.Kind != sms.CallPairs && len(c.target("/SendSMS", c.getQuery(call))) <= c.byGet
}

// sendQuery holds what both GET forms share.
func (c *Client) sendQuery(call sms.Call) url.Values {
	q := url.Values{
		"SenderId":   {call.SenderID},
		"Is_Unicode": {strconv.FormatBool(call.Unicode)},
		"Is_Flash":   {strconv.FormatBool(call.Flash)},
	}
	if at := c.schedTime(call); at != "" {
		q.Set("scheduleTime", at)
	}
	return q
}

func (c *Client) schedTime(call sms.Call) string {
	if call.SchedTime.IsZero() {
		return ""
	}
	return call.SchedTime.In(c.location).Format(schedLayout)
}

func numbers(to []sms.Recipient) string {
	list := make([]string, len(to))
	for i, r := range to {
		list[i] = r.Number
	}
	return strings.Join(list, ",")
}

// checkCall refuses what would reach the wrong people or none.
func checkCall(call sms.Call) error {
	if !utf8.ValidString(call.Text) || !utf8.ValidString(call.SenderID) || !utf8.ValidString(call.GroupID) {
		return errors.New("it holds text that is not UTF-8")
	}
	switch call.Kind {
	case sms.CallGroup:
		if strings.TrimSpace(call.GroupID) == "" || len(call.Recipients) > 0 {
			return errors.New("a call to a group names one group and no numbers")
		}
		return nil
	case sms.CallText, sms.CallPairs:
		if call.GroupID != "" {
			return errors.New("a call to numbers names no group")
		}
		return checkNumbers(call.Recipients)
	}
	return fmt.Errorf("its kind %q is not known", string(call.Kind))
}

func checkNumbers(to []sms.Recipient) error {
	if len(to) == 0 {
		return errors.New("it has no recipients")
	}
	seen := make(map[string]bool, len(to))
	for _, r := range to {
		switch {
		case r.Number == "" || strings.Trim(r.Number, "0123456789") != "":
			return errors.New("a number is not made of digits alone")
		case seen[r.Number]:
			return errors.New("a number appears twice")
		}
		seen[r.Number] = true
	}
	return nil
}

// EncodePairs writes recipients as the value of MobileNumber_Message (§4.4),
// before it is URL-encoded. The format has no escape: a text with "^" or "~"
// could reach another number, so it is refused, and so is a number that is not
// all digits or stands there twice.
func EncodePairs(to []sms.Recipient) (string, error) {
	if err := checkNumbers(to); err != nil {
		return "", err
	}
	pairs := make([]string, len(to))
	for i, r := range to {
		if strings.ContainsAny(r.Text, pairSeparators) {
			return "", errors.New(`a text with "^" or "~" cannot stand in a list of pairs`)
		}
		if !utf8.ValidString(r.Text) {
			return "", errors.New("it holds text that is not UTF-8")
		}
		pairs[i] = r.Number + "^" + r.Text
	}
	return strings.Join(pairs, "~"), nil
}
