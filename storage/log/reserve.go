package log

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// zero makes a part of a file zeros.
func zero(f File, from, to int64) error {
	zeros := make([]byte, max(0, min(1<<20, to-from)))
	for from < to {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), to-from)], from)
		if from += int64(n); err != nil {
			return err
		}
	}
	return nil
}

// reserved is the name of the segment that is kept ready. It is as long as those
// of segments: on a disk that is full the folder cannot grow.
func (l *Log) reserved() string { return l.path(strings.Repeat("0", l.cfg.Digits) + ".prepare") }

// Prepare makes the reserved segment, unless it is there: a file of zeros that
// becomes the next segment, whose blocks are there already when the disk is full.
// A segment that was one is never made shorter, and is reserved again in place of
// being removed.
func (l *Log) Prepare() error {
	l.mu.Lock()
	prepared := l.prepared
	l.mu.Unlock()
	if prepared {
		return nil
	}
	// Not locked: what is appended meanwhile does not wait for all these zeros.
	if err := l.prepare(); err != nil {
		return fmt.Errorf("reserve a segment of %s: %w", l.cfg.Dir, err)
	}
	l.mu.Lock()
	l.prepared = true
	l.mu.Unlock()
	return nil
}

func (l *Log) prepare() error {
	if l.holds(l.reserved()) {
		return nil
	}
	part := l.reserved() + ".part"
	if err := l.cfg.FS.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := l.cfg.FS.MakeFolder(l.cfg.Dir); err != nil {
		return err
	}
	f, err := l.cfg.FS.Create(part)
	if err != nil {
		return err
	}
	if err = zero(f, 0, l.cfg.Reserve); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = l.cfg.FS.Rename(part, l.reserved())
	}
	if err != nil {
		return errors.Join(err, l.cfg.FS.Remove(part))
	}
	return l.cfg.FS.SyncFolder(l.cfg.Dir)
}

// holds says that a file has the size of the reserved one.
func (l *Log) holds(path string) bool {
	f, err := l.cfg.FS.Open(path)
	if err != nil {
		return false
	}
	size, err := f.Size()
	return errors.Join(err, f.Close()) == nil && size == l.cfg.Reserve
}

// create makes a segment's file, or takes the reserved one; kept is then its size.
func (l *Log) create(path string) (f File, kept int64, err error) {
	if l.prepared {
		l.prepared = false
		if l.cfg.FS.Rename(l.reserved(), path) == nil {
			f, err = l.cfg.FS.Open(path)
			return f, l.cfg.Reserve, err
		}
	}
	f, err = l.cfg.FS.Create(path)
	return f, 0, err
}

// drop removes a segment's file, or reserves it again: on a disk that is full
// others would be quicker to take its blocks.
func (l *Log) drop(name string) error {
	path := l.path(name)
	if l.cfg.Reserve > 0 && !l.prepared && l.holds(path) && l.blank(path) == nil &&
		l.cfg.FS.Rename(path, l.reserved()) == nil {
		l.prepared = true
		return nil
	}
	if err := l.cfg.FS.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (l *Log) blank(path string) error {
	f, err := l.cfg.FS.Open(path)
	if err != nil {
		return err
	}
	if err = zero(f, 0, l.cfg.Reserve); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
