package log

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// FS is the file layer on which logs stand, so that a test can fail any write
// or sync of it.
type FS interface {
	// MakeFolder makes a folder and those above it, for their owner only.
	MakeFolder(dir string) error
	// Names lists a folder's files in order; none where there is no folder.
	Names(dir string) ([]string, error)
	// Create makes a file that must not exist yet, for its owner only.
	Create(path string) (File, error)
	// Open opens a file for reading and, where that is permitted, for writing.
	Open(path string) (File, error)
	// Rename and Remove change the folder; SyncFolder makes that last.
	Rename(from, to string) error
	Remove(path string) error
	SyncFolder(dir string) error
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync returns when what was written is on the disk.
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
}

// Disk is the machine's own file layer.
type Disk struct{}

// MakeFolder makes a folder; each that is new is synced into the one above it.
func (d Disk) MakeFolder(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.MakeFolder(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return err
	}
	return d.SyncFolder(filepath.Dir(dir))
}

// Names lists a folder's files in order.
func (Disk) Names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Create makes a file.
func (Disk) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

// Open opens a file, for reading only where nothing else is permitted.
func (Disk) Open(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

// Rename renames a file or a folder.
func (Disk) Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file.
func (Disk) Remove(path string) error { return os.Remove(path) }

// SyncFolder makes what was made, renamed and removed in a folder survive a
// power cut.
func (Disk) SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

type diskFile struct{ *os.File }

// Sync leaves out what nobody needs to read the file, such as its times.
func (f diskFile) Sync() error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var synced error
	err = raw.Control(func(fd uintptr) {
		for synced = syscall.EINTR; errors.Is(synced, syscall.EINTR); {
			synced = syscall.Fdatasync(int(fd))
		}
	})
	return errors.Join(err, synced)
}

func (f diskFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
