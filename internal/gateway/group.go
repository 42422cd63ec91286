package gateway

import (
	"context"
	"net/http"
	"strconv"

	"smsdesk/internal/sms"
)

// Groups lists the account's contact groups (§4.7). The list names no parents.
func (c *Client) Groups(ctx context.Context) ([]sms.Group, error) {
	records, err := c.list(ctx, "/Group")
	if err != nil {
		return nil, err
	}
	list := make([]sms.Group, 0, len(records))
	for _, r := range records {
		list = append(list, sms.Group{
			ID:           r.integer("GroupId"),
			Name:         r.text("GroupName"),
			ContactCount: r.integer("ContactCount"),
		})
	}
	return list, nil
}

// CreateGroup makes a group (§4.7) and returns the service's words, which do
// not tell its id. It is never repeated.
func (c *Client) CreateGroup(ctx context.Context, name string) (string, error) {
	return c.change(ctx, http.MethodPost, "/Group", nil, map[string]any{"GroupName": name}, subject{"group", name})
}

// CreateSubGroup makes a group under another one (§4.7). It is never repeated.
func (c *Client) CreateSubGroup(ctx context.Context, parent int64, name string) (string, error) {
	return c.change(ctx, http.MethodPost, "/Group/"+strconv.FormatInt(parent, 10)+"/SubGroup", nil,
		map[string]any{"GroupName": name}, subject{"group", name})
}

// UpdateGroup renames a group (§4.7). It is never repeated.
func (c *Client) UpdateGroup(ctx context.Context, id int64, name string) (string, error) {
	return c.change(ctx, http.MethodPut, "/Group", idQuery(id), map[string]any{"GroupName": name}, subject{"group", name})
}

// DeleteGroup deletes a group for good and takes its contacts out of it
// (§4.7). It is never repeated.
func (c *Client) DeleteGroup(ctx context.Context, id int64) (string, error) {
	return c.change(ctx, http.MethodDelete, "/Group", idQuery(id), nil, subject{noun: "group"})
}
