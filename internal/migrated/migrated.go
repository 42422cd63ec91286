// Package migrated gives tests a data folder whose database already has its
// schema: running every migration for each test costs 95 to 157 ms.
package migrated

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Template is a data folder that was made once in this process. All copies are
// of one desk: they share its key and whatever else was made at random with it.
// A test that needs two desks has Make fill a folder of its own.
type Template struct {
	// Make fills an empty folder and leaves nothing open in it.
	Make func(data string) error

	once  sync.Once
	files map[string][]byte
	err   error
}

// Folder is a new copy, removed after the test.
func (m *Template) Folder(t testing.TB) string {
	t.Helper()
	data := t.TempDir()
	if err := m.Copy(data); err != nil {
		t.Fatal(err)
	}
	return data
}

// Copy puts a copy into a folder that is there already.
func (m *Template) Copy(data string) error {
	m.once.Do(func() { m.files, m.err = keep(m.Make) })
	if m.err != nil {
		return m.err
	}
	for name, content := range m.files {
		path := filepath.Join(data, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// keep reads the files into memory: a folder that outlives the first test would
// have nobody who removes it.
func keep(fill func(string) error) (map[string][]byte, error) {
	data, err := os.MkdirTemp("", "migrated")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(data) }()
	if err := fill(data); err != nil {
		return nil, fmt.Errorf("make a data folder to copy: %w", err)
	}
	files := map[string][]byte{}
	folder := os.DirFS(data)
	err = fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(folder, name)
		return err
	})
	return files, err
}
