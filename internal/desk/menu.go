package desk

import (
	"context"
	"fmt"
	"strings"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// Menus takes the orders about USSD menus.
type Menus struct {
	work
	store MenuStore
}

// MenuStore is what those orders need to be remembered.
type MenuStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	CreateMenu(ctx context.Context, account int64, m ussd.Menu, secret string, now int64) (id int64, err error)
	DeleteMenu(ctx context.Context, id int64) error
	MenuDraft(ctx context.Context, id int64) (ussd.Draft, error)
	MenuVersion(ctx context.Context, id int64, no int) (ussd.Version, error)
	PublishMenu(ctx context.Context, id, revision, now int64, by sms.User,
		allow func(d ussd.Draft, others []ussd.Published) error) (no int, err error)
	PutSetting(ctx context.Context, name, value string) error
	SaveMenu(ctx context.Context, id, revision int64, m ussd.Menu, now int64) error
	WithdrawMenu(ctx context.Context, id int64) error
}

// MenuName names a USSD menu in the record of who did what.
func MenuName(id int64) string { return fmt.Sprintf("menu:%d", id) }

// CreateMenu stores a menu that nobody can dial before it is published.
func (d *Menus) CreateMenu(ctx context.Context, by sms.User, account int64, m ussd.Menu) (id int64, err error) {
	if err := by.May(sms.Manager, "create menu"); err != nil {
		return 0, err
	}
	if _, err := d.store.Account(ctx, account); err != nil {
		return 0, err
	}
	if id, err = d.store.CreateMenu(ctx, account, m, NewToken(), d.ms()); err != nil {
		return 0, err
	}
	d.audit(ctx, by, "menu.create", MenuName(id), m.Name)
	return id, nil
}

// EditMenu changes the draft of a menu. revision is that of the page on which
// the change was made; ErrConflict where somebody else was faster.
func (d *Menus) EditMenu(ctx context.Context, by sms.User, id, revision int64,
	edit func(m *ussd.Menu) error) (ussd.Draft, error) {
	if err := by.May(sms.Manager, "edit menu"); err != nil {
		return ussd.Draft{}, err
	}
	draft, err := d.store.MenuDraft(ctx, id)
	if err != nil {
		return draft, err
	}
	if err := edit(&draft.Menu); err != nil {
		return draft, err
	}
	if err := d.store.SaveMenu(ctx, id, revision, draft.Menu, d.ms()); err != nil {
		return draft, err
	}
	draft.Revision = revision + 1
	return draft, nil
}

// PublishMenu lets callers walk through the draft from their next session on;
// those under way keep the version in which they began. Its Invalid is about
// the menu as a whole.
func (d *Menus) PublishMenu(ctx context.Context, by sms.User, id, revision int64) (no int, err error) {
	if err := by.May(sms.Manager, "publish menu"); err != nil {
		return 0, err
	}
	no, err = d.store.PublishMenu(ctx, id, revision, d.ms(), by, func(draft ussd.Draft, others []ussd.Published) error {
		if ussd.Stops(ussd.Check(draft.Menu)) {
			return sms.Invalid{"menu": "This menu cannot be published yet. Fix the problems listed below"}
		}
		for _, o := range others {
			if o.AccountID == draft.AccountID && o.MenuID != id && o.Menu.Overlaps(draft.Menu) {
				return sms.Invalid{"menu": fmt.Sprintf(
					"The menu %q already uses *%s#. Unpublish it, or choose another code or other networks", o.Menu.Name, o.Menu.Code)}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	d.audit(ctx, by, "menu.publish", MenuName(id), fmt.Sprintf("version %d", no))
	d.feed.Publish(feed.Menus)
	return no, nil
}

// WithdrawMenu leaves callers without the menu; sessions under way go on.
func (d *Menus) WithdrawMenu(ctx context.Context, by sms.User, id int64) error {
	if err := by.May(sms.Manager, "withdraw menu"); err != nil {
		return err
	}
	if err := d.store.WithdrawMenu(ctx, id); err != nil {
		return err
	}
	d.audit(ctx, by, "menu.withdraw", MenuName(id), "")
	d.feed.Publish(feed.Menus)
	return nil
}

// DeleteMenu deletes a menu that callers cannot reach any more.
func (d *Menus) DeleteMenu(ctx context.Context, by sms.User, id int64) error {
	if err := by.May(sms.Manager, "delete menu"); err != nil {
		return err
	}
	draft, err := d.store.MenuDraft(ctx, id)
	if err != nil {
		return err
	}
	if draft.Published > 0 {
		return sms.Invalid{"menu": "Unpublish the menu before you delete it. Callers can still reach it"}
	}
	if err := d.store.DeleteMenu(ctx, id); err != nil {
		return err
	}
	d.audit(ctx, by, "menu.delete", MenuName(id), draft.Menu.Name)
	return nil
}

// RestoreMenu makes an earlier version the draft again.
func (d *Menus) RestoreMenu(ctx context.Context, by sms.User, id, revision int64, no int) error {
	v, err := d.store.MenuVersion(ctx, id, no)
	if err != nil {
		return err
	}
	_, err = d.EditMenu(ctx, by, id, revision, func(m *ussd.Menu) error { *m = v.Menu; return nil })
	return err
}

// KeepSessions sets for how many days USSD sessions and answers are kept.
func (d *Menus) KeepSessions(ctx context.Context, by sms.User, days string) error {
	if err := by.May(sms.Administrator, "keep USSD sessions"); err != nil {
		return err
	}
	days = strings.TrimSpace(days)
	n := 0
	if _, err := fmt.Sscanf(days, "%d", &n); err != nil || fmt.Sprint(n) != days || n < 1 || n > 3650 {
		return sms.Invalid{"days": "Days must be between 1 and 3,650"}
	}
	if err := d.store.PutSetting(ctx, ussd.SettingKeep, days); err != nil {
		return err
	}
	d.audit(ctx, by, "ussd.keep", "setting:"+ussd.SettingKeep, days+" days")
	return nil
}
