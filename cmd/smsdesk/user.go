package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"text/tabwriter"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

type userCommand struct {
	Add  userAdd  `cmd:"" help:"Add a user."`
	List userList `cmd:"" help:"List team members."`
}

type userAdd struct {
	Email        string `required:"" help:"Email address, used to sign in."`
	Name         string `required:"" help:"Display name."`
	Role         string `required:"" help:"viewer, sender, approver, manager or administrator."`
	PasswordFile string `required:"" help:"File that holds the password." env:"SMSDESK_PASSWORD_FILE"`
}

// Run adds a person; it works before, beside and after serve.
func (c userAdd) Run(ctx context.Context, e env) error {
	var bad flagErrors
	role, ok := sms.ParseRole(c.Role)
	if !ok {
		bad = append(bad, fmt.Sprintf("--role: %q must be viewer, sender, approver, manager or administrator", c.Role))
	}
	password, err := readSecret(c.PasswordFile)
	if err != nil {
		bad = append(bad, "--password-file: "+err.Error())
	}
	db, err := e.open(ctx, bad)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	u, err := e.desk(db).CreateUser(ctx, desk.Operator(), c.Email, c.Name, role, password)
	if err != nil {
		return sentences(err)
	}
	_, err = fmt.Fprintf(e.out, "Added %s <%s> as %s.\n", u.Name, u.Email, u.Role)
	return err
}

type userList struct{}

// Run lists people.
func (userList) Run(ctx context.Context, e env, db *storage.DB) error {
	users, err := db.Users(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "EMAIL\tNAME\tROLE\tACTIVE")
	for _, u := range users {
		fmt.Fprintf(w, "%s\t%s\t%s\t%t\n", u.Email, u.Name, u.Role, u.Active)
	}
	return w.Flush()
}

// desk builds the orders for a single command: nothing runs behind it.
func (e env) desk(db *storage.DB) *desk.Desk {
	return desk.New(orderStores(db),
		gateway.See(gateway.NewAccounts(opener(e.log, time.Now), db, e.log), forOrders), feed.New(), e.log, time.Now)
}

// orderStores is one database for the orders of every noun.
func orderStores(db *storage.DB) desk.Stores {
	return desk.Stores{Accounts: db, Again: db, Audit: db, Campaigns: db, Door: db, Doubts: db, Journal: db, Menus: db,
		People: db, Records: db, Reads: db, Rehearsals: db, Staff: db, Walls: db}
}

func readSecret(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	s := strings.TrimRight(string(b), "\r\n")
	if s == "" {
		return "", errors.New("the file is empty")
	}
	return s, nil
}

// sentences turns what is wrong with the fields into faults of the command line.
func sentences(err error) error {
	bad, ok := errors.AsType[sms.Invalid](err)
	if !ok {
		return err
	}
	var list flagErrors
	for field, sentence := range bad {
		list = append(list, "--"+strings.ReplaceAll(field, "_", "-")+": "+sentence)
	}
	sort.Strings(list)
	return list
}
