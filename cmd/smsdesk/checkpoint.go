package main

import (
	"context"
	"time"
)

// checkpointEvery is how long what was committed may stand in the write-ahead log alone while nothing is written.
const checkpointEvery = 2 * time.Second

// keepLogShort empties the database's write-ahead log until ctx ends.
func (s *server) keepLogShort(ctx context.Context) {
	c, err := s.db.Checkpointer(ctx)
	if err != nil {
		s.log.Error("the write-ahead log is not kept short", "error", err)
		return
	}
	defer func() { _ = c.Close() }()
	said := ""
	for ctx.Err() == nil {
		err := c.Step(ctx)
		if err != nil && ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			s.log.Error("the write-ahead log is not kept short", "error", err)
		}
		if err == nil {
			said = ""
		}
		select {
		case <-ctx.Done():
		case <-time.After(checkpointEvery):
		}
	}
}
