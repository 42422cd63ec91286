package main

import (
	"context"
	"errors"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// The logs beside the journal: of delivery reports and of blocks
// (storage/README.md).

const (
	logsEvery = 5 * time.Second
	// logsForget is how often old segments are removed.
	logsForget = time.Hour
)

// logFolder is the folder of the journal.
func (e env) logFolder() string {
	if e.logs != "" {
		return e.logs
	}
	return e.storage.Data
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
	s.db.NoteAnswersIn(s.reports)
	if s.blocks, err = s.db.OpenBlockLog(ctx, s.logFolder(), time.Now); err != nil {
		return err
	}
	s.closers = append(s.closers, s.blocks.Close)
	s.db.UseBlockLog(s.blocks)
	return s.replayBlocks(ctx)
}

// replayBlocks puts back the opt-outs that an older copy of the database lacks.
func (s *server) replayBlocks(ctx context.Context) error {
	applied, strangers, lost, err := s.db.ReplayBlocks(ctx)
	if applied > 0 {
		s.log.Info("blocked and unblocked numbers of the log were applied", "count", applied)
	}
	if strangers > 0 {
		s.log.Warn("the log holds blocked numbers of accounts that are not there", "count", strangers)
	}
	if lost == "" || err != nil {
		return err
	}
	text := "Blocked numbers " + lost + " cannot be replayed: the log of blocked numbers is damaged there. " +
		"If an older copy of the database was put back, enter the opt-outs of these days again before you send."
	return s.db.Tell(ctx, text, time.Now().UnixMilli())
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
		err := errors.Join(s.reports.Create(), s.blocks.Create())
		if err == nil {
			err = s.replayBlocks(ctx)
		}
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
		s.logError(ctx, "the logs were not looked for", errors.Join(s.reports.Look(ctx), s.blocks.Look(ctx)))
		s.logError(ctx, "the log of blocked numbers is not applied yet", s.replayBlocks(ctx))
		if err := s.db.LogBlocks(ctx); err != nil && s.blocks.Trouble() == "" {
			s.logError(ctx, "blocked numbers are not in their log yet", err)
		}
		if sentence := logSentence(s.reports.Trouble(), s.blocks.Trouble()); sentence != said {
			if err := s.db.PutSetting(ctx, health.SettingLogs, sentence); err != nil {
				s.logError(ctx, "the state of the logs was not noted", err)
			} else if said = sentence; said != "" {
				s.log.Error(said)
			}
		}
		if last := s.inbox.Last(); last != seen {
			err := s.db.SeeInbox(ctx, last)
			s.logError(ctx, "not noted how far the inbox is", err)
			if err == nil {
				seen = last
			}
		}
		if time.Since(tidied) > logsForget {
			tidied = time.Now()
			s.logError(ctx, "old delivery reports were not removed from the log", s.forgetLogs(ctx))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(logsEvery):
		}
	}
}

func (s *server) logError(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.Error(what, "error", err)
	}
}

func (s *server) forgetLogs(ctx context.Context) error {
	r, err := sms.ReadRetention(s.db.ReadSetting(ctx, sms.SettingRetention))
	if err != nil {
		return err
	}
	applied, err := s.db.LogCursor(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	return errors.Join(s.reports.Forget(r.LogBefore(now), applied),
		s.blocks.Forget(ctx, now.AddDate(0, 0, -blockLogDays).UnixMilli()))
}

// blockLogDays is how long blocks are kept: as long as the journal, so that an
// old backup loses no opt-out.
const blockLogDays = 400

// logSentence says why the logs cannot be written, "" while they can.
func logSentence(reports, blocks string) string {
	const mend = "Make the folder available and writable again; smsdesk will then continue automatically."
	switch {
	case reports != "":
		return "Delivery reports cannot be written to their log beside the journal: " + reports +
			". They are still acknowledged and kept in the inbox. " + mend
	case blocks != "":
		return "Blocked numbers cannot be written to their log beside the journal: " + blocks +
			". They are blocked all the same. " + mend
	}
	return ""
}
