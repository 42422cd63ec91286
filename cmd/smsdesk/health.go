package main

import (
	"context"
	"errors"
	"time"

	"smsdesk/internal/health"
	"smsdesk/storage"
)

// readyWaits is how long a balancer is kept waiting for a database.
const readyWaits = 2 * time.Second

// ready is why the pages are of no use now, "" when they are.
func (s *server) ready(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, readyWaits)
	defer cancel()
	err := s.db.Ready(ctx)
	if errors.Is(err, storage.ErrNewerSchema) {
		return err.Error()
	}
	held := ""
	if err == nil {
		held, err = s.held(ctx)
	}
	if err != nil {
		s.log.Error("not ready", "error", err)
		return "the database does not answer"
	}
	if held != "" {
		return "nothing is sent: an administrator must answer the question that the pages and \"smsdesk doctor\" show"
	}
	return ""
}

// held is why nobody on this desk sends, "" when everybody may.
func (s *server) held(ctx context.Context) (string, error) {
	return s.db.ReadSetting(ctx, health.SettingQuestion)
}
