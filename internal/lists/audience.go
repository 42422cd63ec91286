package lists

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"smsdesk/internal/sms"
)

// ListAudience makes a list of the people of an audience as they are now, as if
// it had been uploaded: it goes on with its message and its check, and nobody
// who joins later is in it. The token makes it one. The field of its Invalid is
// audience.
func (d *Lists) ListAudience(ctx context.Context, by sms.User, account, id int64, token string) (sms.List, error) {
	if err := by.May(sms.Sender, "send to audience"); err != nil {
		return sms.List{}, err
	}
	a, _, err := d.audience(ctx, account, id)
	if err != nil {
		return sms.List{}, err
	}
	from, err := d.audienceFile(ctx, a)
	if err != nil {
		return sms.List{}, err
	}
	defer func() { _ = from.Close() }()
	return d.UploadList(ctx, by, UploadOrder{AccountID: account, Purpose: sms.ForAudience, FileName: a.Name, Token: token,
		Reading: audienceReading(a)}, from)
}

// audienceReading is how audienceFile is read.
func audienceReading(a sms.Audience) *sms.ListReading {
	return &sms.ListReading{Encoding: "UTF-8", Delimiter: ",", HeaderRow: 1, Audience: a.ID}
}

// audience is an audience of an account that has people, and how many. The field
// of its Invalid is audience.
func (d *Lists) audience(ctx context.Context, account, id int64) (a sms.Audience, people int64, err error) {
	a, err = d.store.Audience(ctx, id)
	if err == nil && a.AccountID != account {
		err = fmt.Errorf("audience of another account: %w", sms.ErrNotFound)
	}
	if err != nil {
		return a, 0, err
	}
	if people, err = d.store.CountAudience(ctx, a); err == nil && people == 0 {
		err = sms.Invalid{"audience": "This audience is empty. Add contacts or change its filter"}
	}
	return a, people, err
}

// audienceFile gives people as a spreadsheet as it is written.
func (d *Lists) audienceFile(ctx context.Context, a sms.Audience) (*io.PipeReader, error) {
	columns, err := d.store.ContactColumns(ctx, a.AccountID)
	if err != nil {
		return nil, err
	}
	from, to := io.Pipe()
	go func() { to.CloseWithError(d.writeAudience(ctx, to, a, columns)) }()
	return from, nil
}

// writeAudience writes people as a spreadsheet.
func (d *Lists) writeAudience(ctx context.Context, w io.Writer, a sms.Audience, columns []sms.ContactColumn) error {
	out := csv.NewWriter(w)
	row := []string{"Phone number", "Name"}
	for _, c := range columns {
		row = append(row, c.Name)
	}
	err := out.Write(row)
	if err != nil {
		return err
	}
	err = d.store.EachContact(ctx, a, func(c sms.Contact) error {
		row = append(row[:0], "+"+c.Number, c.Name)
		for _, column := range columns {
			row = append(row, c.Fields[column.Key])
		}
		return out.Write(row)
	})
	out.Flush()
	return errors.Join(err, out.Error())
}
