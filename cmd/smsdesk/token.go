package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

type tokenCommand struct {
	Add    tokenAdd    `cmd:"" help:"Create an API token that acts as a user."`
	List   tokenList   `cmd:"" help:"List tokens."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token."`
}

type tokenAdd struct {
	Name string `required:"" help:"What the token is for."`
	User string `required:"" help:"Email address of the user the token acts as."`
}

// Run makes a token. Its secret is the last word printed, and is printed only
// here.
func (c tokenAdd) Run(ctx context.Context, e env, db *storage.DB) error {
	owner, _, err := db.UserByEmail(ctx, strings.ToLower(strings.TrimSpace(c.User)))
	if errors.Is(err, sms.ErrNotFound) {
		return flagErrors{fmt.Sprintf("--user: no user with the email address %q", c.User)}
	}
	if err != nil {
		return err
	}
	secret, t, err := e.desk(db).CreateToken(ctx, desk.Operator(), owner, c.Name)
	if err != nil {
		return sentences(err)
	}
	_, err = fmt.Fprintf(e.out, "Created token %d, %q, for %s <%s>. Copy it now, it is not shown again: %s\n", t.ID,
		t.Name, owner.Name, owner.Email, secret)
	return err
}

type tokenList struct{}

// Run lists tokens, without their secrets.
func (tokenList) Run(ctx context.Context, e env, db *storage.DB) error {
	tokens, err := db.Tokens(ctx, 0)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tUSER\tENDS\tMADE\tLAST USED\tWORKS")
	for _, t := range tokens {
		fmt.Fprintf(w, "%d\t%s\t%s\t…%s\t%s\t%s\t%t\n", t.ID, t.Name, t.User.Email, t.Hint, stamp(t.CreatedAt),
			stamp(t.UsedAt), t.Works())
	}
	return w.Flush()
}

func stamp(ms int64) string {
	if ms == 0 {
		return "never"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04 UTC")
}

type tokenRevoke struct {
	ID int64 `required:"" name:"id" help:"Number of the token, as \"token list\" shows it."`
}

// Run ends a token; one that has ended already stays so.
func (c tokenRevoke) Run(ctx context.Context, e env, db *storage.DB) error {
	t, err := e.desk(db).RevokeToken(ctx, desk.Operator(), c.ID)
	if errors.Is(err, sms.ErrNotFound) {
		return flagErrors{fmt.Sprintf("--id: no token with ID %d", c.ID)}
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.out, "Revoked token %d, %q.\n", t.ID, t.Name)
	return err
}
