package gateway

import (
	"context"
	"fmt"
	"net/http"

	"smsdesk/internal/sms"
)

// Balance reads what is left on the account (§4.1). Credits stay as given.
func (c *Client) Balance(ctx context.Context) ([]sms.Balance, error) {
	s, err := c.readBalance(ctx, "json")
	if err != nil {
		return nil, err
	}
	e, err := c.understand(s, subject{})
	if err != nil {
		return nil, err
	}
	records, err := e.records()
	if err != nil {
		return nil, unreadable(s.status)
	}
	at := c.now().UnixMilli()
	list := make([]sms.Balance, 0, len(records))
	for _, r := range records {
		list = append(list, sms.Balance{PluginType: r.text("PluginType"), Credits: r.text("Credits"), ReadAt: at})
	}
	return list, nil
}

// BalanceIn reads the balance in the format "json" or "xml" and returns the
// answer's text of at most 16 KiB, credentials removed. The shape of the XML is not specified.
func (c *Client) BalanceIn(ctx context.Context, format string) (string, error) {
	s, err := c.readBalance(ctx, format)
	if err != nil {
		return "", err
	}
	// A refusal may come as JSON whatever was asked for.
	if e, err := c.envelope(s); s.status != http.StatusOK || err == nil && e.code != "000" {
		if _, err := c.understand(s, subject{}); err != nil {
			return "", err
		}
	}
	if len(s.body) > redactSource {
		return "", &Error{HTTPStatus: s.status, Sentence: "The provider's answer is too long to be shown"}
	}
	return c.redact.text(string(s.body)), nil
}

func (c *Client) readBalance(ctx context.Context, format string) (shot, error) {
	if format != "json" && format != "xml" {
		return shot{}, &Error{Sentence: fmt.Sprintf("The balance cannot be read as %q", format)}
	}
	return c.read(ctx, "/Balance", nil, http.Header{
		"Accept":       {"application/" + format},
		"Content-Type": {"application/" + format},
		"Type":         {format},
	})
}
