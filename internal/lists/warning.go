package lists

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/sms"
)

// Warnings says what of a file is not in the campaign that was made of it, or
// may not be what its writer meant; nil where there is nothing to say. Pages
// ask instead.
func (d *Lists) Warnings(ctx context.Context, by sms.User, uid string) ([]string, error) {
	l, p, err := d.ListProfile(ctx, by, uid)
	if err != nil {
		return nil, err
	}
	var all []string
	if n := l.Tally.Hidden; n > 0 {
		all = append(all, rowsWere(n, "hidden row")+" left out")
	}
	if n := l.Tally.Headers; n > 0 {
		all = append(all, rowsWere(n, "row")+" left out because the column names are repeated there")
	}
	for _, t := range p.Sheets {
		switch {
		case t.Name == p.Options.Sheet:
		case t.Hidden:
			all = append(all, fmt.Sprintf("The hidden sheet %q was not read", t.Name))
		default:
			all = append(all, fmt.Sprintf("The sheet %q was not read. Only %q was", t.Name, p.Options.Sheet))
		}
	}
	for _, same := range p.SameNames() {
		all = append(all, fmt.Sprintf("%d columns are called %q. Only the first was used", len(same), p.Columns[same[0]]))
	}
	return all, nil
}

func rowsWere(n int64, what string) string {
	if n == 1 {
		return "1 " + what + " was"
	}
	return humanize.Comma(n) + " " + what + "s were"
}
