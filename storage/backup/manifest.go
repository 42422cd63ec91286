// Package backup makes and restores backups of a desk: folders with a copy of the database and the inbox, the spools,
// the uploaded lists and, encrypted, the key, with a manifest that tells every damage. It knows files; what is in a
// database is storage's matter, and what an older state means is decided at the next start (storage/README.md).
//
// Times are milliseconds since 1970 UTC.
package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"smsdesk/storage"
)

const (
	format       = "smsdesk backup 1"
	formatPrefix = "smsdesk backup "
	manifestName = "manifest.json"
	maxManifest  = 256 << 20

	databaseName = "smsdesk.db"
	inboxName    = "inbox.db"
	keyName      = "smsdesk.key"
	sealedKey    = "key.age"
	ussdName     = "ussd.spool"
	reserveName  = "outcomes.reserve"
	spoolName    = "spool"
	spoolEnds    = ".reports"
	listsName    = "lists"
	uploadName   = "upload"
	addedName    = "added-"
)

// witnesses are what tells an older state from the newest one. They are in a backup only when asked for.
func witnesses() []string { return []string{"dispatch.journal", "reports.log", "blocks.log"} }

// Manifest says what a backup holds. Files are in the order of their names, which are paths with slashes.
type Manifest struct {
	Format  string                      `json:"format"`
	UID     string                      `json:"uid"`
	Desk    string                      `json:"desk"`
	MadeAt  int64                       `json:"madeAt"` // when it was begun
	Took    int64                       `json:"took"`   // milliseconds
	By      string                      `json:"by"`
	Program string                      `json:"program"`
	Schema  int64                       `json:"schema"`
	Head    int64                       `json:"head"` // of the journal, as the database knows it
	Sum     string                      `json:"sum"`
	Lists   bool                        `json:"lists"`   // uploaded lists are in it
	Journal bool                        `json:"journal"` // journal and logs are in it
	Key     string                      `json:"key"`     // "", "passphrase" or "recipient": how it is encrypted
	Rows    map[string]map[string]int64 `json:"rows"`    // by file and table
	Files   []File                      `json:"files"`
	Seal    string                      `json:"seal"` // SHA-256 of the manifest in which this is ""
}

// File is one file of a backup.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Bytes is the size of all files.
func (m Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

func (m Manifest) has(name string) bool {
	return slices.ContainsFunc(m.Files, func(f File) bool { return f.Name == name })
}

func (m Manifest) encode() []byte {
	m.Seal = ""
	sum := sha256.Sum256(m.plain())
	m.Seal = hex.EncodeToString(sum[:])
	return m.plain()
}

// plain cannot fail: there is nothing in a manifest that JSON has no form for.
func (m Manifest) plain() []byte {
	text, _ := json.MarshalIndent(m, "", " ")
	return append(text, '\n')
}

// ErrDamaged is a backup that is not what was made.
var ErrDamaged = errors.New("the backup is damaged")

// Read reads a backup's manifest. It fails with ErrDamaged where it is not exactly as it was written.
func Read(folder string) (m Manifest, err error) {
	f, err := openPlain(filepath.Join(folder, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s is no backup: it has no %s. Give the folder of one backup, such as 2026-11-21T1610Z", folder,
			manifestName)
	}
	if err != nil {
		return m, fmt.Errorf("read the backup's manifest: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err = errors.Join(err, f.Close()); err != nil {
		return m, fmt.Errorf("read the backup's manifest: %w", err)
	}
	var kind struct {
		Format string `json:"format"`
	}
	if json.Unmarshal(text, &kind) == nil && kind.Format != format && strings.HasPrefix(kind.Format, formatPrefix) {
		return m, fmt.Errorf("%s was made by a newer smsdesk (its format is %q). Restore it with that one", folder,
			kind.Format)
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Format != format || !bytes.Equal(m.encode(), text) {
		return m, fmt.Errorf("%w: %s was changed after it was written. Take another backup", ErrDamaged, manifestName)
	}
	for i, f := range m.Files {
		if !belongs(f.Name) || i > 0 && m.Files[i-1].Name >= f.Name {
			return m, fmt.Errorf("%w: %s names a file %q that does not belong in a backup", ErrDamaged, manifestName, f.Name)
		}
	}
	for _, must := range []string{databaseName, inboxName} {
		if !m.has(must) {
			return m, fmt.Errorf("%w: %s names no %s", ErrDamaged, manifestName, must)
		}
	}
	return m, nil
}

// belongs says whether a name may stand in a manifest: a path inside the backup, of a kind that we write.
func belongs(name string) bool {
	top, _, nested := strings.Cut(name, "/")
	if !fs.ValidPath(name) || strings.Contains(name, `\`) {
		return false
	}
	if slices.Contains(witnesses(), top) {
		return true
	}
	if nested {
		return top == spoolName || top == listsName
	}
	return slices.Contains([]string{databaseName, inboxName, ussdName, sealedKey}, name)
}

// Verify reads every file of a backup and compares it with the manifest, and opens the databases.
func Verify(ctx context.Context, folder string, m Manifest) error {
	for _, f := range m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		size, sum, err := hashFile(filepath.Join(folder, filepath.FromSlash(f.Name)))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %s is missing. Take another backup", ErrDamaged, f.Name)
		}
		if err != nil {
			return fmt.Errorf("%w: %s cannot be read: %w", ErrDamaged, f.Name, err)
		}
		if size != f.Size || sum != f.SHA256 {
			return fmt.Errorf("%w: %s is not what was written. Take another backup", ErrDamaged, f.Name)
		}
	}
	for name, rows := range m.Rows {
		c, err := storage.ReadContents(ctx, filepath.Join(folder, name), true)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
		}
		if !maps.Equal(c.Rows, rows) {
			return fmt.Errorf("%w: %s does not hold the rows that %s counts", ErrDamaged, name, manifestName)
		}
		if name == databaseName && (c.Copy == nil || c.Copy.UID != m.UID || c.Schema != m.Schema) {
			return fmt.Errorf("%w: %s is that of another backup", ErrDamaged, name)
		}
	}
	return nil
}

// openPlain opens a regular file for reading. A link is refused: it leads to what the backup does not hold.
func openPlain(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a link and not a file", name)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func hashFile(name string) (size int64, sum string, err error) {
	f, err := openPlain(name)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// copyPlain copies a regular file into a new one and syncs it.
func copyPlain(from, to string) (size int64, sum string, err error) {
	in, err := openPlain(from)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = in.Close() }()
	return write(to, in)
}

// write makes a new file with what comes from r and syncs it.
func write(to string, r io.Reader) (size int64, sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return 0, "", err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(out, h), r)
	if err == nil {
		err = out.Sync()
	}
	return size, hex.EncodeToString(h.Sum(nil)), errors.Join(err, out.Close())
}

// syncFolders makes what was made in a folder and those below it survive a power loss.
func syncFolders(folder string) error {
	return filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return syncFolder(name)
	})
}

func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// plainFiles lists the regular files below a folder by their paths from base; none where the folder is missing.
func plainFiles(base, folder string) (names []string, err error) {
	err = filepath.WalkDir(filepath.Join(base, folder), func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		below, err := filepath.Rel(base, name)
		names = append(names, filepath.ToSlash(below))
		return err
	})
	return names, err
}

// spooled are the files of reports in a spool. Space that is reserved beside them is none.
func spooled(base, folder string) ([]string, error) {
	all, err := plainFiles(base, folder)
	return slices.DeleteFunc(all, func(name string) bool { return path.Ext(name) != spoolEnds }), err
}

// uploads are the uploaded files of a data folder: what was read of them can be made again.
func uploads(data string) ([]string, error) {
	all, err := plainFiles(data, listsName)
	return slices.DeleteFunc(all, func(name string) bool {
		return path.Base(name) != uploadName && !strings.HasPrefix(path.Base(name), addedName)
	}), err
}
