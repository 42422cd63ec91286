package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/lists"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

const exported = 1_000_000

// exportQuery is what a download reads, for sqlite3 to read too.
const exportQuery = `select row_no, number, state, status, error_code, reason, sent_at, done_date, changed_at, parts,
  text, provider_id, attempt_id from message where campaign_id = 1 order by id;`

// benchExport compares the download of a campaign with sqlite3 writing the same
// rows.
func benchExport(ctx context.Context, e env) ([]line, error) {
	data := e.path("export")
	if _, err := seed(ctx, data, exported, exported); err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(data) }()
	peer := func() error {
		out, err := os.Create(e.path("peer.csv"))
		if err != nil {
			return err
		}
		c := exec.CommandContext(ctx, "sqlite3", "-readonly", "-csv", filepath.Join(data, "smsdesk.db"), exportQuery)
		c.Stdout = out
		return errors.Join(c.Run(), out.Close())
	}
	took, err := turns(ctx, func() error { return export(ctx, data, e.path("ours.csv"), "csv") }, peer)
	if err != nil {
		return nil, err
	}
	lines := []line{{name: "download of a million rows", figure: rate(exported, took[0]), against: "sqlite3 -csv " +
		rate(exported, took[1]),
		ratio: took[1].Seconds() / took[0].Seconds(), bar: 0.9}}
	for _, format := range []string{"csv", "xlsx"} {
		f, err := e.child(ctx, "export", data, e.path("ours."+format), format)
		if err != nil {
			return nil, err
		}
		lines = append(lines, memory("download of a million rows as "+format+", memory", f["peak"], 100))
	}
	return lines, nil
}

// childExport downloads where the memory counts.
func childExport(args []string) (figures, error) {
	if len(args) != 3 {
		return nil, errors.New("a data folder, a file and a format are to be named")
	}
	return figures{}, export(context.Background(), args[0], args[1], args[2])
}

func export(ctx context.Context, data, path, format string) error {
	db, err := storage.Open(ctx, storage.Config{Data: data})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	news := feed.New()
	d := lists.NewDownloads(benchLists(db, benchDesk(db, news), news), db)
	table, err := d.DownloadCampaign(ctx, desk.Operator(), lists.DownloadOrder{Filter: sms.MessageFilter{CampaignID: 1},
		Format: format})
	if err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return errors.Join(err, table.Close())
	}
	if err := errors.Join(table.Write(out), out.Close(), table.Close()); err != nil {
		return fmt.Errorf("write %s: %w", format, err)
	}
	return nil
}
