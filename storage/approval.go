package storage

import (
	"context"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Awaiting counts the account's campaigns that wait for an approval which this
// person may give.
func (db campaignStore) Awaiting(ctx context.Context, account, user int64) (int64, error) {
	n, err := db.read().CountAwaiting(ctx, account, user)
	return wrapNotFound(n, err, "count campaigns that wait for approval")
}

func (t *tx) putApproval(ctx context.Context, c sms.Campaign) error {
	p := c.Approval
	return t.SetApproval(ctx, query.SetApprovalParams{ID: c.ID, AskedBy: p.AskedBy, AskedName: p.AskedName,
		AskedAt: p.AskedAt, ApprovedBy: p.ApprovedBy,
		ApprovedName: p.ApprovedName, ApprovedAt: p.ApprovedAt, Returned: p.Returned, ReturnedBy: p.ReturnedBy,
		ReturnedName: p.ReturnedName, ReturnedAt: p.ReturnedAt})
}

func approval(r query.Campaign) sms.Approval {
	return sms.Approval{AskedBy: r.AskedBy, AskedName: r.AskedName, AskedAt: r.AskedAt, ApprovedBy: r.ApprovedBy,
		ApprovedName: r.ApprovedName,
		ApprovedAt:   r.ApprovedAt, Returned: r.Returned, ReturnedBy: r.ReturnedBy, ReturnedName: r.ReturnedName,
		ReturnedAt: r.ReturnedAt}
}
