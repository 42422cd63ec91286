package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"smsdesk/internal/radar"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

const (
	radarRows     = 1_000_000
	radarMessages = 10_000_000
	radarUID      = "radar"
	radarTemplate = "Dear patient ##no##, your appointment is on 14 March. Reply to 0803 555 0101 to change it."
	// radarRead is how long one read of messages may take.
	radarRead = 200 * time.Millisecond
)

// benchRadar looks for recipients of a checked list of a million rows who got
// nearly the same text, where all of ten million messages of 30 days had it,
// against the sqlite3 command's join of the same tables.
func benchRadar(ctx context.Context, e env) ([]line, error) {
	data := e.path("radar")
	seeded, err := seed(ctx, data, radarMessages, largeCampaign)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(data) }()
	since, err := seeded.alike(ctx)
	if err != nil {
		return nil, err
	}
	db, err := storage.Open(ctx, storage.Config{Data: data})
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	sum, err := stageRadar(ctx, db)
	if err != nil {
		return nil, err
	}
	var got, joined int64
	var reads []time.Duration
	took, err := turns(ctx, func() error {
		last := time.Now()
		found, err := radar.Look(ctx, db, radar.Search{Account: seeded.account, Key: radar.TemplateKey(radarTemplate),
			Since: since, Rows: radarRows, Progress: func(done, _ int64) error {
				if done > largeCampaign {
					reads = append(reads, time.Since(last))
				}
				last = time.Now()
				return nil
			}}, stagedForRadar(ctx, db, sum))
		got = found.Already().Recipients
		return err
	}, func() error {
		joined, err = shellJoin(ctx, data, db.ListFolder(radarUID), seeded.account, since)
		return err
	})
	if err == nil && (got != joined || got == 0) {
		err = fmt.Errorf("%d got it, the join says %d", got, joined)
	}
	if err != nil {
		return nil, err
	}
	return []line{
		{name: "radar: who of a million got nearly this text, of ten million messages", figure: seconds(took[0]),
			against: "sqlite3's own join of the same tables " + seconds(took[1]),
			ratio:   took[0].Seconds() / took[1].Seconds(), bar: 3, most: true},
		{name: "radar: one read, after which others have their turn", figure: fmt.Sprintf("p99 %.1f ms of %d", ms(p99(reads)), len(reads)),
			against: fmt.Sprintf("of %.0f ms", ms(radarRead)), ratio: p99(reads).Seconds() / radarRead.Seconds(), bar: 1, most: true},
	}, nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// alike gives all campaigns nearly the same text, within the last 30 days. It
// returns their beginning.
func (s *seeded) alike(ctx context.Context) (since int64, err error) {
	raw, err := sql.Open("sqlite", "file:"+filepath.Join(s.data, "smsdesk.db")+"?_pragma=synchronous(OFF)")
	if err != nil {
		return 0, err
	}
	now := time.Now()
	_, err = raw.ExecContext(ctx, "update campaign set text_key = $1, started_at = $2 - id", radar.TemplateKey(radarTemplate),
		now.UnixMilli())
	return now.Add(-sms.AlreadySentWithin).UnixMilli(), errors.Join(err, raw.Close())
}

// stageRadar writes a checked list: half of its numbers are among those written
// to.
func stageRadar(ctx context.Context, db *storage.DB) (sum int64, err error) {
	if err := os.MkdirAll(db.ListFolder(radarUID), 0o700); err != nil {
		return 0, err
	}
	return db.WriteStaging(ctx, radarUID, func(put func([]sms.ListRow, []sms.RowNote) error) error {
		const each = 1000
		for first := int64(0); first < radarRows; first += each {
			rows := make([]sms.ListRow, each)
			for i := range rows {
				n := first + int64(i)
				rows[i] = sms.ListRow{Row: n + 2, Number: 2348030000000 + people/2 + n*2,
					Text: fmt.Sprintf("Dear patient %d, your appointment is on 14 March.", n), Parts: 1}
			}
			if err := put(rows, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func stagedForRadar(ctx context.Context, db *storage.DB, sum int64) iter.Seq2[radar.Row, error] {
	return func(yield func(radar.Row, error) bool) {
		for r, err := range db.StagedRows(ctx, radarUID, sum) {
			if !yield(radar.Row{Number: r.Number, Text: r.Text}, err) {
				return
			}
		}
	}
}

// shellJoin has the sqlite3 command join the staged rows with the messages.
func shellJoin(ctx context.Context, data, folder string, account, since int64) (n int64, err error) {
	c := exec.CommandContext(ctx, "sqlite3", filepath.Join(data, "smsdesk.db"))
	c.Stdin = strings.NewReader(fmt.Sprintf(`pragma cache_size=-64000; pragma mmap_size=8000000000;
attach '%s' as list;
select count(*) from (select r.row_no, max(m.sent_at) from campaign c join message m on m.campaign_id = c.id
join list.row r on r.number = cast(m.number as integer)
where c.account_id = %d and c.text_key = %d and c.started_at > %d and r.verdict < 65536
and (m.state in ('sending', 'in_doubt', 'closed_unknown', 'closed_resent')
  or m.state = 'accepted' and m.status in ('', 'ACCEPTD', 'UNKNOWN', 'DELIVRD')
  or m.state in ('draft', 'queued', 'claimed') and c.state <> 'cancelled')
group by r.row_no);
`, filepath.Join(folder, "rows.db"), account, radar.TemplateKey(radarTemplate), since))
	out, err := c.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("join by sqlite3: %w: %.300s", err, out)
	}
	lines := strings.Fields(string(out))
	if _, err = fmt.Sscan(lines[len(lines)-1], &n); err != nil {
		err = fmt.Errorf("join by sqlite3: %.300s", out)
	}
	return n, err
}
