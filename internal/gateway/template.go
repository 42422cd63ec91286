package gateway

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"smsdesk/internal/sms"
)

// Templates lists the account's templates (§4.5).
func (c *Client) Templates(ctx context.Context) ([]sms.Template, error) {
	records, err := c.list(ctx, "/Template")
	if err != nil {
		return nil, err
	}
	list := make([]sms.Template, 0, len(records))
	for _, r := range records {
		list = append(list, sms.Template{
			ID:           r.integer("TemplateId"),
			CompanyID:    r.integer("CompanyId"),
			Name:         r.text("TemplateName"),
			Text:         r.text("MessageTemplate"),
			IsApproved:   r.boolean("IsApproved"),
			IsActive:     r.boolean("IsActive"),
			CreatedDate:  r.text("CreatededDate", "CreatedDate"),
			ApprovedDate: r.text("ApprovedDate"),
		})
	}
	return list, nil
}

// CreateTemplate makes a template by a call that the specification does not
// show (§4.9) and some services of the family have. It is never repeated.
func (c *Client) CreateTemplate(ctx context.Context, name, text string) (string, error) {
	return c.change(ctx, http.MethodPost, "/Template", nil, map[string]any{"TemplateName": name, "MessageTemplate": text},
		subject{"template", name})
}

// UpdateTemplate changes name and text of a template (§4.5) and returns the
// service's words. It is never repeated.
func (c *Client) UpdateTemplate(ctx context.Context, id int64, name, text string) (string, error) {
	return c.change(ctx, http.MethodPut, "/Template", idQuery(id),
		map[string]any{"TemplateName": name, "MessageTemplate": text}, subject{"template", name})
}

// DeleteTemplate deletes a template for good (§4.5). It is never repeated.
func (c *Client) DeleteTemplate(ctx context.Context, id int64) (string, error) {
	return c.change(ctx, http.MethodDelete, "/Template", idQuery(id), nil, subject{noun: "template"})
}

func idQuery(id int64) url.Values {
	return url.Values{"id": {strconv.FormatInt(id, 10)}}
}
