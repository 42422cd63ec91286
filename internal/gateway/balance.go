package gateway

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"

	"smsdesk/internal/sms"
)

// Balance reads what is left on the account (§4.1). Credits stay as given.
func (c *Client) Balance(ctx context.Context) ([]sms.Balance, error) {
	s, err := c.readBalance(ctx, "json")
	if err != nil {
		return nil, err
	}
	e, err := c.parseResponse(s, subject{})
	if err != nil {
		return nil, err
	}
	list, err := e.balances()
	if err != nil {
		return nil, unreadable(s.status)
	}
	return c.readNow(list), nil
}

// balances are the entries of Data (§2.2).
func (e envelope) balances() ([]sms.Balance, error) {
	records, err := e.records()
	list := make([]sms.Balance, 0, len(records))
	for _, r := range records {
		list = append(list, sms.Balance{PluginType: r.text("PluginType"), Credits: r.text("Credits")})
	}
	return list, err
}

func (c *Client) readNow(list []sms.Balance) []sms.Balance {
	at := c.now().UnixMilli()
	for i := range list {
		list[i].ReadAt = at
	}
	return list
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
		if _, err := c.parseResponse(s, subject{}); err != nil {
			return "", err
		}
	}
	if len(s.body) > redactSource {
		return "", &Error{HTTPStatus: s.status, Sentence: "The provider's answer is too long to show"}
	}
	return c.redact.text(string(s.body)), nil
}

// BalanceXML asks for the balance as XML (§4.1). The shape of that answer is not
// specified: every element that holds a PluginType or a Credits counts, in
// whatever it stands, and an answer without any is read as none. A service that
// answers with JSON whatever was asked for is read as such. raw is what
// BalanceIn returns.
func (c *Client) BalanceXML(ctx context.Context) (list []sms.Balance, raw string, err error) {
	if raw, err = c.BalanceIn(ctx, "xml"); err != nil {
		return nil, "", err
	}
	if e, err := parseEnvelope([]byte(raw)); err == nil {
		list, err = e.balances()
		if err != nil {
			return nil, "", unreadable(http.StatusOK)
		}
		return c.readNow(list), raw, nil
	}
	return c.readNow(balancesIn(raw)), raw, nil
}

// balancesIn finds pairs of PluginType and Credits, as elements or attributes
// and without regard to case or namespace. What is no XML ends the search.
func balancesIn(raw string) (list []sms.Balance) {
	d := xml.NewDecoder(strings.NewReader(raw))
	d.Strict = false
	// What is said of the encoding is ignored: the text is UTF-8 by now.
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var name string
	var open sms.Balance
	put := func(field, value string) {
		value = strings.TrimSpace(value)
		switch {
		case value == "":
		case strings.EqualFold(field, "PluginType"):
			if open.PluginType != "" {
				list, open = append(list, open), sms.Balance{}
			}
			open.PluginType = value
		case strings.EqualFold(field, "Credits"):
			if open.Credits != "" {
				list, open = append(list, open), sms.Balance{}
			}
			open.Credits = value
		}
		if open.PluginType != "" && open.Credits != "" {
			list, open = append(list, open), sms.Balance{}
		}
	}
	for {
		token, err := d.Token()
		if err != nil {
			return list
		}
		switch t := token.(type) {
		case xml.StartElement:
			name = t.Name.Local
			for _, a := range t.Attr {
				put(a.Name.Local, a.Value)
			}
		case xml.CharData:
			put(name, string(t))
		case xml.EndElement:
			name = ""
		}
	}
}

func (c *Client) readBalance(ctx context.Context, format string) (oneShotResult, error) {
	if format != "json" && format != "xml" {
		return oneShotResult{}, &Error{Sentence: fmt.Sprintf("We cannot read the balance as %q", format)}
	}
	return c.read(ctx, "/Balance", nil, http.Header{
		"Accept":       {"application/" + format},
		"Content-Type": {"application/" + format},
		"Type":         {format},
	})
}
