package main

import (
	"context"
	"time"

	"smsdesk/internal/health"
)

// examinedLog is a log of reports or of blocks, as doctor looks at it.
type examinedLog interface {
	Trouble() string
	Check(ctx context.Context) (n int, lost string, err error)
	Close() error
}

// reportLog reads the whole log of delivery reports.
func (x *examination) reportLog(ctx context.Context) ([]finding, error) {
	return x.sealedLog(ctx, "delivery reports", "reports", func() (examinedLog, error) {
		return x.db.OpenReportLog(ctx, x.logFolder(), time.Now)
	})
}

// blockLog reads the whole log of blocked numbers.
func (x *examination) blockLog(ctx context.Context) ([]finding, error) {
	return x.sealedLog(ctx, "blocked numbers", "lines", func() (examinedLog, error) {
		return x.db.OpenBlockLog(ctx, x.logFolder(), time.Now)
	})
}

func (x *examination) sealedLog(ctx context.Context, of, counted string,
	open func() (examinedLog, error)) ([]finding, error) {
	desk, err := x.db.ReadSetting(ctx, health.SettingDesk)
	if err != nil || desk == "" {
		return []finding{found(fine, "there is no log of %s yet", of)}, err
	}
	l, err := open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }()
	if why := l.Trouble(); why != "" {
		return []finding{found(fault,
			"the log of %s cannot be used: %s. Put it back, or make its disk available", of, why)}, nil
	}
	n, lost, err := l.Check(ctx)
	if err != nil {
		return nil, err
	}
	if lost != "" {
		return []finding{found(notice,
			"%s %s in the log cannot be read. They come back only from the database; keep a backup of it", of, lost)}, nil
	}
	return []finding{found(fine, "the log of %s is whole (%d %s)", of, n, counted)}, nil
}
