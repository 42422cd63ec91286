package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

const (
	// questionLooks is how often database and journal are compared again while a
	// question is open: a journal that is put back answers it.
	questionLooks = 5 * time.Second
	// answerLooks is how often an administrator's answer is looked for.
	answerLooks = 500 * time.Millisecond
	stuckLooks  = time.Second
	// journalForgets is how often old segments are looked for.
	journalForgets = time.Hour
)

// runDispatcher starts the journal and then the loops that send. While database and
// journal do not agree nothing is sent: the question is shown until an
// administrator has answered it, or until both agree.
func (s *server) runDispatcher(ctx context.Context) error {
	said := ""
	for ctx.Err() == nil {
		q, err := s.journal.Start(ctx, time.Now().UnixMilli())
		if err == nil {
			for err = s.showQuestion(ctx, nil); err != nil && ctx.Err() == nil; err = s.showQuestion(ctx, nil) {
				s.log.Error("why nothing is sent cannot be stored", "error", err)
				s.outage.Note(err)
				time.Sleep(questionLooks)
			}
			return s.send(ctx)
		}
		sentence := "The journal cannot be used: " + err.Error()
		if errors.Is(err, storage.ErrQuestion) {
			sentence = q.Sentence(s.zone(ctx))
			err = s.showQuestion(ctx, &q)
		} else {
			err = s.db.PutSetting(ctx, health.SettingStuck, sentence)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Error("why nothing is sent cannot be shown", "error", err)
		}
		if sentence != said {
			s.log.Error("nothing is sent", "reason", sentence)
			said = sentence
		}
		s.awaitAnswer(ctx)
	}
	return nil
}

// send applies what the logs hold and then runs what sends and schedules.
func (s *server) send(ctx context.Context) error {
	if !s.beginLogs(ctx) {
		return nil
	}
	loops, sending := errgroup.WithContext(ctx)
	loops.Go(func() error { s.scheduler.Run(sending); return nil })
	loops.Go(func() error { s.repeater.Run(sending); return nil })
	loops.Go(func() error { s.watchJournal(sending); return nil })
	loops.Go(func() error { return s.dispatcher.Run(sending) })
	return loops.Wait()
}

// showQuestion stores the question for the pages; nil: there is none.
func (s *server) showQuestion(ctx context.Context, q *health.Question) error {
	s.question.Store(q)
	err := s.db.PutQuestion(ctx, q)
	if q == nil {
		err = errors.Join(err, s.db.PutSetting(ctx, health.SettingStuck, ""), s.showDisk(ctx))
	}
	s.feed.Publish(feed.Journal)
	return err
}

// showDisk notes for the pages whether the journal shares a disk with the data.
func (s *server) showDisk(ctx context.Context) error {
	shared := ""
	if s.journal.OnDataDisk() {
		shared = "yes"
	}
	return s.db.PutSetting(ctx, health.SettingJournalShared, shared)
}

// zone is the one in which sentences for the whole desk tell the time.
func (s *server) zone(ctx context.Context) *time.Location { return zoneOf(ctx, s.db) }

func zoneOf(ctx context.Context, db *storage.DB) *time.Location {
	accounts, err := db.Accounts(ctx)
	if err != nil || len(accounts) == 0 {
		return time.UTC
	}
	return accounts[0].Location()
}

// awaitAnswer waits for an administrator's answer and carries it out, or until
// it is time to compare again.
func (s *server) awaitAnswer(ctx context.Context) {
	again := time.NewTimer(questionLooks)
	defer again.Stop()
	looks := time.NewTicker(answerLooks)
	defer looks.Stop()
	for {
		answer, err := takeAnswer(ctx, s.db)
		if err == nil && answer != nil {
			err = s.accept(ctx, answer)
			s.showAnswered(ctx, err)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Error("the answer about the older state was not carried out", "error", err)
		}
		if answer != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			return
		case <-looks.C:
		}
	}
}

// showAnswered ends what the page says of an answer that is being carried out;
// after an error it says why it was not.
func (s *server) showAnswered(ctx context.Context, failed error) {
	why := ""
	switch {
	case errors.Is(failed, sms.ErrConflict):
		why = "The question had changed before your answer was carried out. Read it again."
	case failed != nil:
		why = "Your answer was not carried out: " + failed.Error() + ". Nothing was sent. Try again."
	}
	if err := s.db.PutSetting(ctx, health.SettingAnswering, why); err != nil && ctx.Err() == nil {
		s.log.Error("what became of the answer cannot be shown", "error", err)
	}
	s.feed.Publish(feed.Journal)
}

// takeAnswer reads an answer that the pages or the command line left, and
// removes it; nil: there is none.
func takeAnswer(ctx context.Context, db *storage.DB) (*health.Answer, error) {
	raw, err := db.ReadSetting(ctx, health.SettingAnswer)
	if err != nil || raw == "" {
		return nil, err
	}
	if err := db.PutSetting(ctx, health.SettingAnswer, ""); err != nil {
		return nil, err
	}
	var answer health.Answer
	if err := json.Unmarshal([]byte(raw), &answer); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return &answer, nil
}

// accept carries out an answer, if it is about the question that is open.
func (s *server) accept(ctx context.Context, answer *health.Answer) error {
	if q := s.question.Load(); q == nil || q.Relation != answer.Relation {
		return fmt.Errorf("%w: it is about another question", sms.ErrConflict)
	}
	done, err := s.journal.Accept(ctx, answer.By, s.zone(ctx), time.Now().UnixMilli())
	if err != nil {
		return err
	}
	s.log.Warn("an older state was accepted", "messages", done.Messages, "in_doubt", done.Doubtful, "campaigns_paused",
		done.Campaigns)
	return s.db.PutAudit(ctx, sms.Audit{At: time.Now().UnixMilli(), User: sms.User{Name: answer.By},
		Action: "journal.accept", Object: string(done.Relation), Detail: done.Sentence(s.zone(ctx))})
}

// watchJournal shows when the journal cannot be written, and when it can again,
// and removes what is old of it.
func (s *server) watchJournal(ctx context.Context) {
	said, tidied := "", time.Time{}
	for {
		if time.Since(tidied) > journalForgets {
			tidied = time.Now()
			s.logError(ctx, "old lines of the journal were not removed", s.journal.Forget(ctx, tidied.UnixMilli()))
		}
		why := ""
		if err := s.journal.Stuck(); err != nil {
			why = fmt.Sprintf("The journal cannot be written: %s. Nothing is sent until it can: look at the disk of %s", err,
				s.journal.Folder())
			_ = s.journal.Ready(ctx)
		}
		if why != said {
			if why != "" {
				s.log.Error("nothing is sent", "reason", why)
			}
			if err := s.db.PutSetting(ctx, health.SettingStuck, why); err == nil {
				said = why
				s.feed.Publish(feed.Journal)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(stuckLooks):
		}
	}
}
