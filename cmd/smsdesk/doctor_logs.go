package main

import (
	"context"
	"time"

	"smsdesk/internal/health"
)

// reportLog reads the whole log of delivery reports.
func (x *examination) reportLog(ctx context.Context) ([]finding, error) {
	desk, err := x.db.ReadSetting(ctx, health.SettingDesk)
	if err != nil || desk == "" {
		return []finding{found(fine, "there is no log of delivery reports yet")}, err
	}
	l, err := x.db.OpenReportLog(ctx, x.logFolder(), time.Now)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }()
	if why := l.Trouble(); why != "" {
		return []finding{found(fault,
			"the log of delivery reports cannot be used: %s. Put it back, or make its disk available", why)}, nil
	}
	n, lost, err := l.Check(ctx)
	if err != nil {
		return nil, err
	}
	if lost != "" {
		return []finding{found(notice,
			"delivery reports %s in the log cannot be read. They come back only from the database; keep a backup of it", lost)}, nil
	}
	return []finding{found(fine, "the log of delivery reports is whole (%d reports)", n)}, nil
}

// blockLog reads the whole log of blocked numbers.
func (x *examination) blockLog(ctx context.Context) ([]finding, error) {
	desk, err := x.db.ReadSetting(ctx, health.SettingDesk)
	if err != nil || desk == "" {
		return []finding{found(fine, "there is no log of blocked numbers yet")}, err
	}
	l, err := x.db.OpenBlockLog(ctx, x.logFolder(), time.Now)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }()
	if why := l.Trouble(); why != "" {
		return []finding{found(fault,
			"the log of blocked numbers cannot be used: %s. Put it back, or make its disk available", why)}, nil
	}
	n, lost, err := l.Check(ctx)
	if err != nil {
		return nil, err
	}
	if lost != "" {
		return []finding{found(notice,
			"blocked numbers %s in the log cannot be read. They come back only from the database; keep a backup of it", lost)}, nil
	}
	return []finding{found(fine, "the log of blocked numbers is whole (%d lines)", n)}, nil
}
