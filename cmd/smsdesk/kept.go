package main

import (
	"context"
	"path/filepath"

	"smsdesk/internal/lists"
	"smsdesk/storage"
	"smsdesk/web/kept"
	"smsdesk/web/page"
)

// openKept opens the place for what is sent after a session's end. A desk works
// without it: then such a form is lost.
func (s *server) openKept() {
	room := func(size int64) bool {
		free, err := storage.FreeSpace(s.storage.Data)
		return err == nil && free-size >= lists.MinFreeSpace
	}
	folder, err := kept.Open(filepath.Join(s.storage.Data, "kept"), wall, room)
	if err != nil {
		s.log.Error("what is sent after a session's end will not be kept", "error", err)
		return
	}
	s.kept = folder
}

// keeping is nil where nothing can be kept.
func (s *server) keeping() page.Kept {
	if s.kept == nil {
		return nil
	}
	return s.kept
}

func (s *server) sweepKept(ctx context.Context) {
	if s.kept == nil {
		return
	}
	s.kept.Run(ctx, func(err error) { s.log.Error("old forms are not removed", "error", err) })
}
