package lists

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"smsdesk/internal/series"
	"smsdesk/internal/sms"
)

// RunList brings the list of a run of a series one step further and gives it as it
// stands: made of the audience as it is now, checked, and made into a draft without
// the rows that cannot be sent. It belongs to by, in whose name the series sends. It
// is called until the list is made or failed, and again after a crash; a run has one
// list. The fields of its Invalid are those of ListAudience, CheckList and
// MakeCampaign.
func (d *Lists) RunList(ctx context.Context, by sms.User, s series.Series, r series.Run) (sms.List, error) {
	if err := by.May(sms.Sender, "send series"); err != nil {
		return sms.List{}, err
	}
	sum := sha256.Sum256([]byte(series.Token(s.UID, r.N)))
	token := hex.EncodeToString(sum[:])
	l, err := d.store.ListByToken(ctx, token)
	if errors.Is(err, sms.ErrNotFound) {
		l, err = d.runUpload(ctx, by, s, r, token)
	}
	if err != nil {
		return l, err
	}
	switch l.State {
	case sms.ListUploaded:
		return d.CheckList(ctx, by, l.UID, l.Version, runOrder(l, s, r))
	case sms.ListChecked:
		return d.MakeCampaign(ctx, by, l.UID, l.Version, MakeOrder{LeaveOut: true})
	}
	return l, nil
}

// runUpload makes the list of a run.
func (d *Lists) runUpload(ctx context.Context, by sms.User, s series.Series, r series.Run,
	token string) (sms.List, error) {
	a, _, err := d.audience(ctx, s.AccountID, s.Audience)
	if err != nil {
		return sms.List{}, err
	}
	from, err := d.audienceFile(ctx, a)
	if err != nil {
		return sms.List{}, err
	}
	defer func() { _ = from.Close() }()
	reading := audienceReading(a)
	reading.Series, reading.SeriesRun = s.ID, r.N
	return d.UploadList(ctx, by, UploadOrder{AccountID: s.AccountID, Purpose: sms.ForAudience, FileName: a.Name,
		Token: token, Reading: reading}, from)
}

// runOrder is what is made of the list of a run: every mark is filled by the column
// of its name, and nobody gets it twice.
func runOrder(l sms.List, s series.Series, r series.Run) sms.ListOrder {
	o := sms.ListOrder{Name: s.CampaignName(r), SenderID: s.SenderID, Template: s.Template, Text: s.Text, Flash: s.Flash,
		Phone: 0, Message: -1, Fields: map[string]int{}, Fixed: map[string]string{}, FirstOnly: true}
	for i, column := range l.Reading.Columns {
		if key := sms.PlaceholderKey(column); i > 0 && key != "" {
			if _, taken := o.Fields[key]; !taken {
				o.Fields[key] = i
			}
		}
	}
	return o
}
