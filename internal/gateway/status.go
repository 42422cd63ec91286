package gateway

import (
	"context"
	"net/url"
	"strings"

	"smsdesk/internal/sms"
)

// MessageStatus asks what became of one message (§4.8). id is the MessageId
// that sending returned. The shape of the answer is not specified: the fields
// are those seen in the field, and Raw is Data as given, at most 2 KiB, credentials removed.
// A nil error means that the service answered code 0, so it knows the id.
func (c *Client) MessageStatus(ctx context.Context, id string) (sms.MessageStatus, error) {
	s, err := c.read(ctx, "/MessageStatus", url.Values{"MessageId": {id}}, nil)
	if err != nil {
		return sms.MessageStatus{}, err
	}
	e, err := c.parseResponse(s, subject{noun: "message"})
	if err != nil {
		return sms.MessageStatus{}, err
	}
	m := sms.MessageStatus{ProviderID: id, Raw: c.redact.brief(string(e.data), maxExcerpt)}
	records, err := e.records()
	if err != nil || len(records) == 0 {
		return m, nil
	}
	r := records[0]
	if given := strings.TrimSpace(r.text("MessageId")); given != "" {
		m.ProviderID = given
	}
	m.Number = r.text("MobileNumber")
	m.SenderID = r.text("SenderId", "Sender-Id")
	m.Status = r.text("Status")
	m.ErrorCode = r.text("ErrorCode")
	m.SubmitDate = r.text("SubmitDate")
	m.DoneDate = r.text("DoneDate")
	return m, nil
}
