package main

import (
	"context"

	"smsdesk/internal/lists"
	"smsdesk/internal/series/orders"
)

// repeats brings series further: what the desk decides, with the lists that it needs.
type repeats struct {
	series *orders.Series
	lists  *lists.Lists
}

// Advance brings one further.
func (r repeats) Advance(ctx context.Context, id int64) error {
	return r.series.Advance(ctx, id, r.lists)
}
