package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
)

// group finds a group of an account as it was last read.
func (d *Records) group(ctx context.Context, account, id int64) (sms.Group, error) {
	list, err := d.store.Groups(ctx, account)
	return recordOf("group", id, list, err, func(x sms.Group) int64 { return x.ID })
}

func (d *Records) groupNamed(ctx context.Context, account int64, name string) (bool, error) {
	list, err := d.store.Groups(ctx, account)
	return slices.ContainsFunc(list, func(g sms.Group) bool { return g.Name == name }), err
}

func groupName(name string) (string, error) {
	name = sms.TidyName(name)
	if sentence := sms.NameProblem("group", name); sentence != "" {
		return name, sms.Invalid{"name": sentence}
	}
	return name, nil
}

// CreateGroup makes a group at the service, under another one where parent is
// not 0 (§4.7). The service does not tell its id: it is known here once the
// list shows the name. The fields of its Invalid are name and provider.
func (d *Records) CreateGroup(ctx context.Context, by sms.User, account, parent int64,
	name string) (said string, err error) {
	if err := by.May(sms.Manager, "create group"); err != nil {
		return "", err
	}
	if name, err = groupName(name); err != nil {
		return "", err
	}
	there := false // before the call, as far as is known here
	said, err = d.updateAtProvider(ctx, by, recordChange{kind: sms.RecordGroups, account: account, action: "group.create",
		detail: name,
		check: func(ctx context.Context) (err error) {
			if parent != 0 {
				if _, err := d.group(ctx, account, parent); err != nil {
					return err
				}
			}
			if there, err = d.groupNamed(ctx, account, name); err != nil || there {
				return err
			}
			return d.store.ExpectGroup(ctx, account, name, parent, d.ms())
		},
		call: func(ctx context.Context, g Gateway) (string, error) {
			if parent != 0 {
				return g.CreateSubGroup(ctx, parent, name)
			}
			return g.CreateGroup(ctx, name)
		},
		forget: func(ctx context.Context) error { return d.store.DeleteGroup(ctx, account, parent) },
		shows: func(ctx context.Context) (bool, error) {
			now, err := d.groupNamed(ctx, account, name)
			return now && !there, err
		}})
	if err != nil && !there {
		// A change in doubt may still appear; what was refused must not make a
		// group of the same name, made elsewhere, look as if it were ours.
		if bad, ok := errors.AsType[sms.Invalid](err); errors.Is(err, sms.ErrGone) || ok && bad["name"] != "" {
			err = errors.Join(err, d.store.UnexpectGroup(context.WithoutCancel(ctx), account, name))
		}
	}
	return said, err
}

// RenameGroup gives a group another name at the service (§4.7). seen is the
// name that the person saw: when somebody else has renamed it since, nothing is
// done and the field of the Invalid is changed. Other fields are name and provider.
func (d *Records) RenameGroup(ctx context.Context, by sms.User, account, id int64, seen,
	name string) (said string, err error) {
	if err := by.May(sms.Manager, "rename group"); err != nil {
		return "", err
	}
	if name, err = groupName(name); err != nil {
		return "", err
	}
	return d.updateAtProvider(ctx, by, recordChange{kind: sms.RecordGroups, account: account, action: "group.rename",
		detail: seen + " to " + name,
		check: func(ctx context.Context) error {
			now, err := d.group(ctx, account, id)
			if err == nil && sms.TidyName(now.Name) != sms.TidyName(seen) {
				err = sms.Invalid{"changed": fmt.Sprintf(
					"Someone renamed this group to “%s” while you had it open. Check the name, then save again", now.Name)}
			}
			return err
		},
		call:   func(ctx context.Context, g Gateway) (string, error) { return g.UpdateGroup(ctx, id, name) },
		keep:   func(ctx context.Context) error { return d.store.ChangeGroup(ctx, account, id, name) },
		forget: func(ctx context.Context) error { return d.store.DeleteGroup(ctx, account, id) },
		shows: func(ctx context.Context) (bool, error) {
			now, err := d.group(ctx, account, id)
			return now.Name == name, err
		}})
}

// DeleteGroup deletes a group at the service for good (§4.7); typed is its name
// as the person typed it. The fields of its Invalid are typed and provider.
func (d *Records) DeleteGroup(ctx context.Context, by sms.User, account, id int64,
	typed string) (said string, err error) {
	if err := by.May(sms.Manager, "delete group"); err != nil {
		return "", err
	}
	g, err := d.group(ctx, account, id)
	if err != nil {
		return "", err
	}
	forget := func(ctx context.Context) error { return d.store.DeleteGroup(ctx, account, id) }
	return d.updateAtProvider(ctx, by, recordChange{kind: sms.RecordGroups, account: account, action: "group.delete",
		detail: g.Name,
		check: func(ctx context.Context) error {
			now, err := d.group(ctx, account, id)
			if err == nil && sms.TidyName(typed) != sms.TidyName(now.Name) {
				err = sms.Invalid{"typed": fmt.Sprintf("Enter the group's name, “%s”, to delete it", now.Name)}
			}
			return err
		},
		call: func(ctx context.Context, g Gateway) (string, error) { return g.DeleteGroup(ctx, id) },
		keep: forget, forget: forget,
		shows: func(ctx context.Context) (bool, error) { return isGone(d.group(ctx, account, id)) }})
}

// groupProblem says why a campaign cannot go to its group, or "". One that is
// not known is looked for at the service; where that does not answer, what was
// read last counts.
func (d *Records) groupProblem(ctx context.Context, c sms.Campaign) (string, error) {
	id, err := strconv.ParseInt(strings.TrimSpace(c.GroupID), 10, 64)
	if c.GroupID == "" || err != nil {
		return "", nil
	}
	if _, err = d.group(ctx, c.AccountID, id); !errors.Is(err, sms.ErrNotFound) {
		return "", err
	}
	if err := d.lookUpRecords(ctx, c.AccountID, sms.RecordGroups); err != nil {
		return fmt.Sprintf("We could not check the group %s with the provider. Try again", c.GroupName), nil
	}
	if _, err = d.group(ctx, c.AccountID, id); errors.Is(err, sms.ErrNotFound) {
		return fmt.Sprintf("The group %s no longer exists at the provider. Choose another group", c.GroupName), nil
	}
	return "", err
}
