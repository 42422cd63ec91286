package desk

import (
	"context"
	"crypto/sha256"
	"fmt"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/internal/wall"
)

// Walls takes the orders about links to wall screens.
type Walls struct {
	work
	store WallStore
}

// WallStore is what those orders need to be remembered.
type WallStore interface {
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	CreateWallLink(ctx context.Context, hash [32]byte, l wall.Link) (wall.Link, error)
	RevokeWallLink(ctx context.Context, campaign, id, now int64) (revoked bool, err error)
	WallLinkByHash(ctx context.Context, hash [32]byte) (wall.Link, error)
}

// MakeWallLink makes a link to a campaign's wall screen and returns its secret,
// which is shown once and stored nowhere. sms.ErrConflict for a campaign that was
// not started, or ended so long ago that a link would not work.
func (d *Walls) MakeWallLink(ctx context.Context, by sms.User, campaign int64) (secret string, err error) {
	if err := by.May(sms.Manager, "make a link to a wall screen"); err != nil {
		return "", err
	}
	c, err := d.store.Campaign(ctx, campaign)
	if err != nil {
		return "", err
	}
	l := wall.Link{CampaignID: c.ID, MadeBy: by.ID, MadeName: by.Name, MadeAt: d.ms()}
	if !c.Started() || !l.Works(l.MadeAt, c.FinishedAt) {
		return "", fmt.Errorf("make a link to the wall screen of campaign %d: %w", c.ID, sms.ErrConflict)
	}
	secret = NewToken()
	if l, err = d.store.CreateWallLink(ctx, sha256.Sum256([]byte(secret)), l); err != nil {
		return "", err
	}
	d.audit(ctx, by, "wall.create", feed.Campaign(c.ID), fmt.Sprintf("link %d", l.ID))
	return secret, nil
}

// RevokeWallLink ends a link at once. One that has ended already is not an error.
func (d *Walls) RevokeWallLink(ctx context.Context, by sms.User, campaign, id int64) error {
	if err := by.May(sms.Manager, "revoke a link to a wall screen"); err != nil {
		return err
	}
	revoked, err := d.store.RevokeWallLink(ctx, campaign, id, d.ms())
	if revoked {
		d.audit(ctx, by, "wall.revoke", feed.Campaign(campaign), fmt.Sprintf("link %d", id))
	}
	return err
}

// OpenWall finds the link behind a secret, and its campaign. sms.ErrNotFound when it
// does not work: unknown, revoked or over.
func (d *Walls) OpenWall(ctx context.Context, secret string) (wall.Link, sms.Campaign, error) {
	l, err := d.store.WallLinkByHash(ctx, sha256.Sum256([]byte(secret)))
	if err != nil {
		return wall.Link{}, sms.Campaign{}, err
	}
	c, err := d.store.Campaign(ctx, l.CampaignID)
	if err == nil && !l.Works(d.ms(), c.FinishedAt) {
		err = fmt.Errorf("the link has ended: %w", sms.ErrNotFound)
	}
	if err != nil {
		return wall.Link{}, sms.Campaign{}, err
	}
	return l, c, nil
}
