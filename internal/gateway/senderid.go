package gateway

import (
	"context"
	"net/http"

	"smsdesk/internal/sms"
)

// SenderIDs lists the account's sender IDs (§4.6).
func (c *Client) SenderIDs(ctx context.Context) ([]sms.SenderID, error) {
	records, err := c.list(ctx, "/SenderId")
	if err != nil {
		return nil, err
	}
	list := make([]sms.SenderID, 0, len(records))
	for _, r := range records {
		list = append(list, sms.SenderID{
			ID:            r.integer("Id"),
			CompanyID:     r.integer("CompanyId"),
			Text:          r.text("Sender-Id", "SenderId"),
			Purpose:       r.text("Purpose"),
			IsActive:      r.boolean("IsActive"),
			ApproveStatus: r.text("ApproveStatus"),
			CreatedDate:   r.text("CreatedDate"),
			ApprovedDate:  r.text("ApprovedDate"),
		})
	}
	return list, nil
}

// CreateSenderID asks for a sender ID by a call that the specification does not
// show (§4.9) and some services of the family have. It is never repeated.
func (c *Client) CreateSenderID(ctx context.Context, text, purpose string) (string, error) {
	return c.change(ctx, http.MethodPost, "/SenderId", nil, map[string]any{"SenderId": text, "Purpose": purpose},
		subject{"sender ID", text})
}

// UpdateSenderID changes the purpose of a sender ID; text must be the existing
// one (§4.6). It returns the service's words and is never repeated.
func (c *Client) UpdateSenderID(ctx context.Context, id int64, text, purpose string) (string, error) {
	return c.change(ctx, http.MethodPut, "/SenderId", idQuery(id),
		map[string]any{"SenderId": text, "Purpose": purpose}, subject{"sender ID", text})
}

// DeleteSenderID deletes a sender ID for good (§4.6). It is never repeated.
func (c *Client) DeleteSenderID(ctx context.Context, id int64) (string, error) {
	return c.change(ctx, http.MethodDelete, "/SenderId", idQuery(id), nil, subject{noun: "sender ID"})
}
