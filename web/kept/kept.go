// Package kept keeps what people sent after their session had ended, each in a
// sealed file, until they have signed in again. It must never know a page, nor
// what is in a form.
package kept

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"filippo.io/age"
)

const (
	// Most is the largest body that is kept, in bytes.
	Most = 256 << 20
	// Life is how long a body is kept.
	Life = time.Hour
	// sweepEvery is how often what is too old is removed.
	sweepEvery = 5 * time.Minute
	// keyHead begins every key of the library; it is left out of addresses.
	keyHead = "AGE-SECRET-KEY-1"
	unready = ".part"
)

var (
	// ErrNone says that nothing is kept for this person under this key: it was
	// used, is too old or never was.
	ErrNone = errors.New("nothing is kept")
	// ErrNoRoom says that the body is too large, or the disk too full, or that
	// another one of the same person is on its way.
	ErrNoRoom = errors.New("no room to keep it")
)

// About is what a body needs to be sent again.
type About struct {
	Path   string // with the query
	Type   string // Content-Type
	Length int64  // -1: not told
}

// Folder holds one body a person at most. A file is named by its person and
// sealed with a key that is stored nowhere: neither the person nor the key
// alone opens it.
type Folder struct {
	path string
	now  func() time.Time
	room func(size int64) bool

	mu   sync.Mutex // of files that are put in place or taken away
	busy map[int64]bool
}

// Open makes the folder where it is missing and removes what was not finished
// or is too old. room says whether the disk takes so many bytes more.
func Open(path string, now func() time.Time, room func(size int64) bool) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for kept forms: %w", err)
	}
	f := &Folder{path: path, now: now, room: room, busy: map[int64]bool{}}
	return f, f.sweep(true)
}

// Keep seals a body for a person and returns the key that opens it once. What
// was kept for the same person before is gone then.
func (f *Folder) Keep(person int64, about About, body io.Reader) (key string, err error) {
	size := about.Length
	if size < 0 {
		size = Most
	}
	if size > Most || !f.room(size) || !f.begin(person) {
		return "", ErrNoRoom
	}
	defer f.end(person)
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return "", fmt.Errorf("keep a form: %w", err)
	}
	part := f.file(person) + unready
	if err = f.write(part, id.Recipient(), about, body); err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		err = os.Rename(part, f.file(person))
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("keep a form: %w", err), ignoreMissing(os.Remove(part)))
	}
	return strings.ToLower(strings.TrimPrefix(id.String(), keyHead)), nil
}

func (f *Folder) begin(person int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy[person] {
		return false
	}
	f.busy[person] = true
	return true
}

func (f *Folder) end(person int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, person)
}

func (f *Folder) file(person int64) string {
	return filepath.Join(f.path, strconv.FormatInt(person, 10))
}

func (f *Folder) write(name string, to age.Recipient, about About, body io.Reader) (err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err == nil {
			err = os.Chtimes(name, f.now(), f.now())
		}
	}()
	sealed, err := age.Encrypt(file, to)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(sealed).Encode(about); err != nil {
		return err
	}
	n, err := io.Copy(sealed, io.LimitReader(body, Most+1))
	if err != nil {
		return err
	}
	if n > Most {
		return ErrNoRoom
	}
	return sealed.Close()
}

// Form is a body that was kept. It has to be closed.
type Form struct {
	About
	io.Reader
	file *os.File
}

// Close ends the reading.
func (f *Form) Close() error { return f.file.Close() }

// Look opens what is kept for a person and leaves it there; ErrNone where
// nothing is.
func (f *Folder) Look(person int64, key string) (*Form, error) {
	id, err := age.ParseX25519Identity(keyHead + strings.ToUpper(key))
	if err != nil {
		return nil, ErrNone
	}
	file, err := os.Open(f.file(person))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("open a kept form: %w", err)
	}
	form, err := f.unseal(file, id)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return form, nil
}

func (f *Folder) unseal(file *os.File, id age.Identity) (*Form, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("open a kept form: %w", err)
	}
	if f.old(info) {
		return nil, ErrNone
	}
	opened, err := age.Decrypt(file, id)
	if wrong := (*age.NoIdentityMatchError)(nil); errors.As(err, &wrong) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("open a kept form: %w", err)
	}
	form, rest := &Form{file: file}, bufio.NewReader(opened)
	head, err := rest.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(head, &form.About)
	}
	if err != nil {
		return nil, fmt.Errorf("open a kept form: %w", err)
	}
	form.Reader = rest
	return form, nil
}

func (f *Folder) old(info fs.FileInfo) bool { return f.now().Sub(info.ModTime()) >= Life }

// Take is Look for the one time that the body is used: nothing is kept then.
func (f *Folder) Take(person int64, key string) (*Form, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	form, err := f.Look(person, key)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.file(person)); err != nil {
		return nil, errors.Join(fmt.Errorf("take a kept form: %w", err), form.Close())
	}
	return form, nil
}

// Run removes what is too old until ctx ends; failed is told what could not be.
func (f *Folder) Run(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := f.sweep(false); err != nil {
				failed(err)
			}
		}
	}
}

// sweep removes what is too old. Nothing is being written when the desk starts,
// so that what is unfinished then has lost its writer.
func (f *Folder) sweep(starting bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := os.ReadDir(f.path)
	if err != nil {
		return fmt.Errorf("sweep kept forms: %w", err)
	}
	var failed error
	for _, entry := range all {
		info, err := entry.Info()
		if err != nil {
			failed = errors.Join(failed, ignoreMissing(err))
			continue
		}
		if f.old(info) || starting && strings.HasSuffix(entry.Name(), unready) {
			failed = errors.Join(failed, ignoreMissing(os.Remove(filepath.Join(f.path, entry.Name()))))
		}
	}
	if failed != nil {
		return fmt.Errorf("sweep kept forms: %w", failed)
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
