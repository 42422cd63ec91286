package storage

import (
	"context"

	"smsdesk/internal/wall"
	"smsdesk/storage/query"
)

// wallStore keeps the links to wall screens, by the SHA-256 of their secrets.
type wallStore struct{ *core }

// CreateWallLink stores a link under the SHA-256 of its secret.
func (db wallStore) CreateWallLink(ctx context.Context, hash [32]byte, l wall.Link) (wall.Link, error) {
	err := db.update(ctx, "create a link to a wall screen", func(t *tx) (err error) {
		l.ID, err = t.InsertWallLink(ctx, query.InsertWallLinkParams{CampaignID: l.CampaignID, Hash: hash[:],
			MadeBy: l.MadeBy, MadeName: l.MadeName, MadeAt: l.MadeAt})
		return err
	})
	return l, err
}

// WallLinkByHash finds a link, working or not.
func (db wallStore) WallLinkByHash(ctx context.Context, hash [32]byte) (wall.Link, error) {
	row, err := db.read().WallLinkByHash(ctx, hash[:])
	return foundOne(row, err, wallLink, "read a link to a wall screen")
}

// WallLinks are the links of a campaign that were not revoked, newest first, at
// most 100.
func (db wallStore) WallLinks(ctx context.Context, campaign int64) ([]wall.Link, error) {
	rows, err := db.read().WallLinks(ctx, campaign)
	return foundAll(rows, err, wallLink, "list the links to a wall screen")
}

// RevokeWallLink ends a link of a campaign; revoked is false when it had ended
// before, or is not one of that campaign.
func (db wallStore) RevokeWallLink(ctx context.Context, campaign, id, now int64) (revoked bool, err error) {
	err = db.update(ctx, "revoke a link to a wall screen", func(t *tx) error {
		n, err := t.Queries.RevokeWallLink(ctx, id, campaign, now)
		revoked = n == 1
		return err
	})
	return revoked && err == nil, err
}

func wallLink(r query.WallLink) wall.Link {
	return wall.Link{ID: r.ID, CampaignID: r.CampaignID, MadeBy: r.MadeBy, MadeName: r.MadeName, MadeAt: r.MadeAt,
		RevokedAt: r.RevokedAt}
}
