package storage

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// minSpace is how much must be free for a disk not to count as full.
const minSpace = 256 << 10

// Full says that the disk with a folder has no space for smsdesk.
func Full(folder string) bool {
	var disk syscall.Statfs_t
	return syscall.Statfs(folder, &disk) == nil && disk.Bavail*uint64(disk.Bsize) < minSpace
}

// fillFile makes a file of that many zeros, synced. They are written, and not
// only promised by the file system: it must not need a block more when they are
// overwritten. A file of the size is left alone; what cannot be made whole
// leaves nothing behind.
func fillFile(path string, size int64) error {
	if info, err := os.Stat(path); err == nil && info.Size() == size {
		return nil
	}
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = zero(f, 0, size)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return syncFolder(filepath.Dir(path))
}

// zero overwrites a part of a file.
func zero(f *os.File, from, to int64) error {
	zeros := make([]byte, min(1<<20, max(0, to-from)))
	for from < to {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), to-from)], from)
		if from += int64(n); err != nil {
			return err
		}
	}
	return nil
}
