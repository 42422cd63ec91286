package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/lists"
	"smsdesk/internal/sms"
)

// pressRounds are measured after one that is not: the tables then hold a million
// messages already.
const pressRounds = 2

// benchPress measures how a checked list becomes a campaign, which divides its
// messages into calls and stores them, against the sqlite3 command that puts the
// same rows into the same indexed tables in one statement. Both begin with the same
// database, in turns, and its tables grow with each round.
func benchPress(ctx context.Context, e env) ([]line, error) {
	path := e.path("press.csv")
	if err := writeFile(path, ordinaryList(importRows)); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(path) }()
	c, err := newChecking(ctx, e, "press", path)
	if err != nil {
		return nil, err
	}
	var ours, theirs time.Duration
	for round := range 1 + pressRounds {
		o, t, err := c.press(ctx, e, path)
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		if round > 0 {
			ours, theirs = ours+o, theirs+t
		}
	}
	return []line{{name: "press: a million checked rows become a campaign", figure: rate(pressRounds*importRows, ours),
		against: "sqlite3 puts the same rows into the same tables " + rate(pressRounds*importRows, theirs),
		ratio:   theirs.Seconds() / ours.Seconds(), bar: 1}}, c.close()
}

// press makes a campaign of the list, and has sqlite3 store its rows in a copy
// of the database as it was before.
func (c *checking) press(ctx context.Context, e env, path string) (ours, theirs time.Duration, err error) {
	if c.list, err = uploadFile(ctx, c.lists, desk.Operator(), c.list.AccountID, path); err != nil {
		return 0, 0, err
	}
	from, to := filepath.Join(e.path("press"), "smsdesk.db"), e.path("press-copy.db")
	defer func() { _ = os.Remove(to) }()
	if _, err := shell(ctx, from, ".backup "+to+"\n"); err != nil {
		return 0, 0, err
	}
	if ours, err = c.makeCampaign(ctx); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	out, err := shell(ctx, to, fmt.Sprintf(shellPress, from, c.list.CampaignID))
	theirs = time.Since(began)
	if err == nil && !strings.HasSuffix(strings.TrimSpace(out), fmt.Sprint(importRows)) {
		err = fmt.Errorf("insert by sqlite3: %.300s", out)
	}
	return ours, theirs, err
}

// shellPress has the settings of smsdesk's own connection. What it wrote stays in
// the write-ahead log, as it does there.
const shellPress = `.dbconfig no_ckpt_on_close on
attach 'file:%[1]s?mode=ro' as desk;
pragma main.journal_mode = wal; pragma main.synchronous = full; pragma foreign_keys = 1;
pragma main.cache_size = -8000; pragma wal_autocheckpoint = 8000; pragma temp_store = memory;
insert into main.campaign select * from desk.campaign where id = %[2]d;
insert into main.message select * from desk.message where campaign_id = %[2]d order by id;
select changes();
`

func shell(ctx context.Context, database, input string) (string, error) {
	c := exec.CommandContext(ctx, "sqlite3", database)
	c.Stdin = strings.NewReader(input)
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("sqlite3: %w: %.300s", err, out)
	}
	return string(out), err
}

// makeCampaign has the list checked and measures the time from then until its
// campaign is there.
func (c *checking) makeCampaign(ctx context.Context) (took time.Duration, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	news := c.feed.Subscribe(feed.List(c.list.UID))
	defer news.Close()
	list, err := c.order(ctx)
	if err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- lists.NewImporter(c.lists, c.db).Run(ctx) }()
	var checked time.Time
	for list.State == sms.ListChecking || list.State == sms.ListMaking {
		<-news.C()
		news.Take()
		if list, err = c.db.List(ctx, list.UID); err != nil {
			return 0, err
		}
		if list.State == sms.ListMaking && checked.IsZero() {
			checked = time.Now()
		}
	}
	took = time.Since(checked)
	if list.State != sms.ListMade {
		return 0, fmt.Errorf("the list is %s: %s %+v", list.State, list.Problem, list.Tally)
	}
	stop()
	c.list = list
	return took, <-ended
}
