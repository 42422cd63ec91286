package api

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// tempFile is a file without a name: it is gone when it is closed, or when the
// process ends in whatever way. What a program sends waits there until all of
// it is known, so that memory does not grow with it.
type tempFile struct {
	file *os.File
	sum  hash.Hash
	size int64
}

// newSpool makes a spool in a folder, "" for the system's.
func newSpool(folder string) (*tempFile, error) {
	f, err := os.CreateTemp(folder, "request-*")
	if err != nil {
		return nil, fmt.Errorf("make a file for a request: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("make a file for a request: %w", err), f.Close())
	}
	return &tempFile{file: f, sum: sha256.New()}, nil
}

func (s *tempFile) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	s.sum.Write(p[:n])
	s.size += int64(n)
	if err != nil {
		err = fmt.Errorf("keep a request: %w", err)
	}
	return n, err
}

// body reads what was written, from its beginning.
func (s *tempFile) body() io.Reader { return io.NewSectionReader(s.file, 0, s.size) }

func (s *tempFile) Close() error { return s.file.Close() }
