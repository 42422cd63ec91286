package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"smsdesk/internal/series"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// seriesStore are campaigns that repeat, and their runs.
type seriesStore struct{ *core }

// CreateSeries stores a new series; the token makes it one. created is false
// where it was there already.
func (db seriesStore) CreateSeries(ctx context.Context, s series.Series, token string,
	now int64) (made series.Series, created bool, err error) {
	rule, err := json.Marshal(s.Rule)
	if err != nil {
		return s, false, fmt.Errorf("write the rule of a series: %w", err)
	}
	var id int64
	err = db.update(ctx, "create series", func(t *tx) error {
		created = false
		if id, err = t.SeriesByToken(ctx, token); !errors.Is(classify(err), sms.ErrNotFound) {
			return err
		}
		created = true
		id, err = t.InsertSeries(ctx, query.InsertSeriesParams{Uid: s.UID, AccountID: s.AccountID, Token: token, Name: s.Name,
			SenderID: s.SenderID, Template: s.Template, Text: s.Text, Flash: s.Flash, AudienceID: s.Audience, Rule: string(rule),
			Ceiling: s.Ceiling, State: string(s.State), NextAt: s.NextAt, CreatedBy: s.CreatedBy, CreatedName: s.CreatedName,
			CreatedAt: now})
		return err
	})
	if err != nil {
		return s, false, err
	}
	made, err = db.Series(ctx, id)
	return made, created, err
}

// Series is one series.
func (db seriesStore) Series(ctx context.Context, id int64) (series.Series, error) {
	row, err := db.read().SeriesByID(ctx, id)
	return readOne(row, err, seriesOf, "read a series")
}

// SeriesList lists the series of an account, the newest first.
func (db seriesStore) SeriesList(ctx context.Context, account int64, limit int) ([]series.Series, error) {
	rows, err := db.read().SeriesOfAccount(ctx, account, int32(limit))
	return readAll(rows, err, func(r query.SeriesOfAccountRow) (series.Series, error) {
		return seriesOf(query.SeriesByIDRow(r))
	}, "list series")
}

// SeriesToLookAt lists series of which a run is begun, or is due before the given
// time.
func (db seriesStore) SeriesToLookAt(ctx context.Context, before int64) ([]int64, error) {
	ids, err := db.read().SeriesToLookAt(ctx, before)
	return wrapNotFound(ids, err, "look for series")
}

// UpdateSeries changes a series, and the runs that change gives with it, in one
// transaction. change may be called more than once.
func (db seriesStore) UpdateSeries(ctx context.Context, id, now int64,
	change func(*series.Series) ([]series.Run, error)) (after series.Series, err error) {
	err = db.update(ctx, "change series", func(t *tx) error {
		row, err := t.SeriesByID(ctx, id)
		if after, err = readOne(row, err, seriesOf, "read a series"); err != nil {
			return err
		}
		runs, err := change(&after)
		if err != nil {
			return err
		}
		if err := putSeries(ctx, t.Queries, after, now); err != nil {
			return err
		}
		for _, r := range runs {
			if err := putSeriesRun(ctx, t.Queries, id, r, now); err != nil {
				return err
			}
		}
		after.Version, after.ChangedAt = after.Version+1, now
		return nil
	})
	return after, err
}

func putSeries(ctx context.Context, q *query.Queries, s series.Series, now int64) error {
	rule, err := json.Marshal(s.Rule)
	if err != nil {
		return err
	}
	n, err := q.UpdateSeries(ctx, query.UpdateSeriesParams{ID: s.ID, Version: s.Version, Name: s.Name,
		SenderID: s.SenderID, Template: s.Template, Text: s.Text, Rule: string(rule), Ceiling: s.Ceiling,
		State: string(s.State), Pause: s.Pause, RunCount: int64(s.Runs), LastDay: s.LastDay, NextAt: s.NextAt,
		CreatedBy: s.CreatedBy, CreatedName: s.CreatedName, ChangedAt: now})
	if err == nil && n != 1 {
		err = errUnexpected
	}
	return err
}

func putSeriesRun(ctx context.Context, q *query.Queries, id int64, r series.Run, now int64) error {
	return q.PutSeriesRun(ctx, query.PutSeriesRunParams{SeriesID: id, Run: int64(r.N), Day: r.Day, DueAt: r.At.At,
		Zone: r.At.Zone, ZoneOffset: int64(r.At.Offset), State: string(r.State), Why: r.Why, ListUid: r.ListUID,
		CampaignID: r.CampaignID, LeftOut: r.LeftOut, ChangedAt: now})
}

// SeriesRuns lists the runs of a series that were begun, the latest first.
func (db seriesStore) SeriesRuns(ctx context.Context, id int64, limit int) (list []series.Run, err error) {
	rows, err := db.read().SeriesRuns(ctx, id, int32(limit))
	return foundAll(rows, err, seriesRunOf, "list runs of a series")
}

// SeriesRun is one run that was begun.
func (db seriesStore) SeriesRun(ctx context.Context, id int64, n int) (series.Run, error) {
	row, err := db.read().SeriesRun(ctx, id, int64(n))
	row, err = wrapNotFound(row, err, "read a run of a series")
	return seriesRunOf(row), err
}

func seriesOf(row query.SeriesByIDRow) (series.Series, error) {
	r := row.Series
	s := series.Series{ID: r.ID, UID: r.Uid, AccountID: r.AccountID, Name: r.Name, SenderID: r.SenderID,
		Template: r.Template, Text: r.Text, Flash: r.Flash, Audience: r.AudienceID, AudienceName: row.Audience,
		Ceiling: r.Ceiling, State: series.State(r.State), Pause: r.Pause, Runs: int(r.RunCount), LastDay: r.LastDay,
		NextAt: r.NextAt, Version: r.Version, CreatedBy: r.CreatedBy, CreatedName: r.CreatedName, CreatedAt: r.CreatedAt,
		ChangedAt: r.ChangedAt}
	if err := json.Unmarshal([]byte(r.Rule), &s.Rule); err != nil {
		return s, fmt.Errorf("read the rule of series %d: %w", r.ID, err)
	}
	return s, nil
}

func seriesRunOf(r query.SeriesRun) series.Run {
	return series.Run{SeriesID: r.SeriesID, N: int(r.Run), Day: r.Day,
		At:    sms.Schedule{At: r.DueAt, Zone: r.Zone, Offset: int(r.ZoneOffset)},
		State: series.RunState(r.State), Why: r.Why, ListUID: r.ListUid, CampaignID: r.CampaignID, LeftOut: r.LeftOut,
		ChangedAt: r.ChangedAt}
}

// Calendar lists the campaigns of an account that started in [from, to), or are to
// start then, in the order of those times; at most 500 of each.
func (db seriesStore) Calendar(ctx context.Context, account, from, to int64) ([]sms.Campaign, error) {
	started, err := db.read().CalendarStarted(ctx, account, from, to)
	list, err := foundAll(started, err, func(r query.CalendarStartedRow) sms.Campaign {
		return campaign(r.Campaign, r.Test)
	}, "list campaigns of some days")
	if err != nil {
		return nil, err
	}
	coming, err := db.read().CalendarComing(ctx, account, from, to)
	more, err := foundAll(coming, err, func(r query.CalendarComingRow) sms.Campaign {
		return campaign(r.Campaign, r.Test)
	}, "list scheduled campaigns of some days")
	return append(list, more...), err
}
