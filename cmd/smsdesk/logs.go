package main

import (
	"context"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage"
)

// The logs beside the journal: of delivery reports and of blocks
// (storage/README.md).

const (
	logsEvery = 5 * time.Second
	// logsForget is how often old segments are removed.
	logsForget = time.Hour
)

// logFolder is the folder of the journal.
func (s *server) logFolder() string {
	if s.logs != "" {
		return s.logs
	}
	return s.storage.Data
}

// openLogs opens the logs as far as they are there. The inbox uses them from
// then on.
func (s *server) openLogs(ctx context.Context) (err error) {
	if s.reports, err = s.db.OpenReportLog(ctx, s.logFolder(), time.Now); err != nil {
		return err
	}
	s.closers = append(s.closers, s.reports.Close)
	applied, err := s.db.LogCursor(ctx)
	if err != nil {
		return err
	}
	s.inbox.LogWith(s.reports, applied)
	return nil
}

// meetInbox tells when the inbox is not the one that this desk had.
func (s *server) meetInbox(ctx context.Context) error {
	sentences, err := s.inbox.Meet(ctx, s.db)
	if err != nil {
		return err
	}
	for _, text := range sentences {
		s.log.Warn(text)
		if err := s.db.Tell(ctx, text, time.Now().UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}

// beginLogs is called once nothing stands against sending, so the folder of the
// logs is the right one. It returns when what the logs hold is applied; false
// when ctx has ended before.
func (s *server) beginLogs(ctx context.Context) bool {
	for {
		err := s.reports.Create()
		if err == nil {
			err = s.receiver.Replay(ctx)
		}
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		s.log.Error("nothing is sent yet: the logs beside the journal are not applied", "error", err)
		select {
		case <-ctx.Done():
			return false
		case <-time.After(logsEvery):
		}
	}
}

// keepLogs looks for a log that was not there, says what is wrong with them and
// removes what is old, until ctx ends.
func (s *server) keepLogs(ctx context.Context) {
	said, seen, tidied := "-", int64(0), time.Time{}
	for {
		if err := s.reports.Look(ctx); err != nil {
			s.complain(ctx, "the log of delivery reports was not looked for", err)
		}
		if sentence := logSentence(s.reports); sentence != said {
			if err := s.db.PutSetting(ctx, sms.SettingLogs, sentence); err != nil {
				s.complain(ctx, "the state of the logs was not noted", err)
			} else if said = sentence; said != "" {
				s.log.Error(said)
			}
		}
		if last := s.inbox.Last(); last != seen {
			err := s.db.SeeInbox(ctx, last)
			s.complain(ctx, "not noted how far the inbox is", err)
			if err == nil {
				seen = last
			}
		}
		if time.Since(tidied) > logsForget {
			tidied = time.Now()
			s.complain(ctx, "old delivery reports were not removed from the log", s.forgetLogs(ctx))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(logsEvery):
		}
	}
}

func (s *server) complain(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.Error(what, "error", err)
	}
}

func (s *server) forgetLogs(ctx context.Context) error {
	set, err := s.db.Setting(ctx, sms.SettingRetention)
	if err != nil {
		return err
	}
	r, err := sms.ReadRetention(set)
	if err != nil {
		return err
	}
	applied, err := s.db.LogCursor(ctx)
	if err != nil {
		return err
	}
	return s.reports.Forget(r.LogBefore(time.Now()), applied)
}

// logSentence says why reports cannot be logged, "" while they can.
func logSentence(l *storage.ReportLog) string {
	why := l.Trouble()
	if why == "" {
		return ""
	}
	return "Delivery reports cannot be written to their log beside the journal: " + why + ". They are still acknowledged and kept in the inbox. " +
		"Make the folder available and writable again; smsdesk will then continue automatically."
}
