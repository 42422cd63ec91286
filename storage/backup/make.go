package backup

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/health"
	"smsdesk/storage"
)

// Order says what is to be backed up and where to.
type Order struct {
	Storage  storage.Config
	Spool    string // folder of reports that the inbox could not take; "" is spool in the data folder
	To       string // folder that holds backups; made where the one above it is there
	NoLists  bool
	Journal  bool     // add journal and logs
	Logs     string   // folder of the journal and the logs; "" is the data folder
	Key      *KeyLock // nil leaves the key out
	By       string
	Program  string
	Now      func() time.Time
	Progress func(doing string) // told what is done next; may be nil

	free func(folder string) (int64, error)
}

// Made is a backup that is whole and was verified.
type Made struct {
	Manifest
	Folder   string // of this backup
	SameDisk bool   // it lies on the disk of the data
}

// making is a backup on its way.
type making struct {
	Order
	began    time.Time
	part     string // its folder until it is whole
	manifest Manifest
}

// step is one part of making a backup.
type step struct {
	doing string
	do    func(context.Context, *making) error
}

// steps follow a report on its way from the spool through the inbox into the database. In any other order one that
// was acknowledged before the backup began can be in none of the copies.
func steps() []step {
	return []step{
		{"Copying the spools", copySpools},
		{"Copying the inbox", copyInbox},
		{"Copying the database", copyDatabase},
		{"Copying the uploaded lists", copyLists},
		{"Copying the journal", copyWitnesses},
		{"Encrypting the key", copyKey},
	}
}

// Make makes one backup beside a desk that goes on. What fails leaves nothing behind.
func Make(ctx context.Context, o Order) (Made, error) { return makeBy(ctx, o, steps()) }

func makeBy(ctx context.Context, o Order, steps []step) (made Made, err error) {
	if err := o.check(); err != nil {
		return made, err
	}
	unlock, err := lock(o.To)
	if err != nil {
		return made, err
	}
	defer unlock()
	if err := errors.Join(sweep(o.To), o.room()); err != nil {
		return made, err
	}
	m := &making{Order: o, began: o.Now()}
	folder, err := m.begin()
	if err != nil {
		return made, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(m.part))
		}
	}()
	for _, s := range steps {
		m.say(s.doing)
		if err := errors.Join(ctx.Err(), s.do(ctx, m)); err != nil {
			return made, fmt.Errorf("%s: %w", strings.ToLower(s.doing[:1])+s.doing[1:], err)
		}
	}
	m.say("Verifying")
	if err := m.finish(ctx, folder); err != nil {
		return made, err
	}
	same, err := sameDisk(o.Storage.Data, o.To)
	return Made{m.manifest, folder, same}, err
}

func (m *making) say(doing string) {
	if m.Progress != nil {
		m.Progress(doing)
	}
}

func (o Order) logs() string {
	if o.Logs != "" {
		return o.Logs
	}
	return o.Storage.Data
}

func (o Order) check() error {
	if _, err := os.Stat(o.Storage.File()); err != nil {
		return fmt.Errorf("there is no desk to back up in %s: %w", o.Storage.Data, err)
	}
	err := os.Mkdir(o.To, 0o700)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf(
			"the folder %s cannot be made, because the one above it is missing. Make it, or look whether its disk is mounted", o.To)
	case err != nil && !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("make the folder of backups: %w", err)
	}
	if info, err := os.Stat(o.To); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file and not a folder. Move it away or give another folder", o.To)
	}
	return nil
}

// lock keeps a second backup out of the folder.
func lock(to string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(to, "backup.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the folder of backups: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another backup is being made in %s. Wait until it has ended", to), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

const (
	nameForm = "2006-01-02T1504Z"
	partEnds = ".part"
	// spare is how much room there must be beside what is copied.
	spare = 32 << 20
)

// sweep removes what a backup left behind that was cut off.
func sweep(to string) error {
	entries, err := os.ReadDir(to)
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), partEnds); is && ours(name) && e.IsDir() {
			err = errors.Join(err, os.RemoveAll(filepath.Join(to, e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("tidy up the folder of backups: %w", err)
	}
	return nil
}

// ours says whether a folder's name is one that a backup gets.
func ours(name string) bool {
	return regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d{4}Z(-\d+)?$`).MatchString(name)
}

// room refuses to begin what would fill the disk.
func (o Order) room() error {
	var need int64 = spare
	for _, file := range []string{o.Storage.File(), filepath.Join(o.Storage.Data, inboxName)} {
		n, err := storage.FileSize(file)
		if err != nil {
			return err
		}
		need += n
	}
	copied := []string{filepath.Join(o.Storage.Data, spoolName)}
	if !o.NoLists {
		copied = append(copied, filepath.Join(o.Storage.Data, listsName))
	}
	if o.Journal {
		for _, name := range witnesses() {
			copied = append(copied, filepath.Join(o.logs(), name))
		}
	}
	for _, folder := range copied {
		names, err := plainFiles(folder, ".")
		if err != nil {
			return fmt.Errorf("look what there is to back up: %w", err)
		}
		for _, name := range names {
			if info, err := os.Lstat(filepath.Join(folder, name)); err == nil {
				need += info.Size()
			}
		}
	}
	free := freeSpace
	if o.free != nil {
		free = o.free
	}
	left, err := free(o.To)
	if err == nil && left < need {
		err = fmt.Errorf("a backup needs about %s, and the disk of %s has %s left. Make room or give another folder",
			humanize.Bytes(uint64(need)), o.To, humanize.Bytes(uint64(max(left, 0))))
	}
	return err
}

func freeSpace(folder string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("look how full the disk is: %w", err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}

func sameDisk(a, b string) (bool, error) {
	var devices [2]uint64
	for i, name := range []string{a, b} {
		var s syscall.Stat_t
		if err := syscall.Stat(name, &s); err != nil {
			return false, fmt.Errorf("look at the disk of %s: %w", name, err)
		}
		devices[i] = uint64(s.Dev)
	}
	return devices[0] == devices[1], nil
}

// begin makes the folder. Two backups of one minute get different names.
func (m *making) begin() (folder string, err error) {
	uid := make([]byte, 16)
	rand.Read(uid)
	m.manifest = Manifest{Format: format, UID: hex.EncodeToString(uid), MadeAt: m.began.UnixMilli(), By: m.By,
		Program: m.Program, Lists: !m.NoLists,
		Journal: m.Journal, Rows: map[string]map[string]int64{}}
	name := m.began.UTC().Format(nameForm)
	for i := 1; ; i++ {
		folder = filepath.Join(m.To, name)
		if i > 1 {
			folder = fmt.Sprintf("%s-%d", folder, i)
		}
		if _, err := os.Lstat(folder); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", fmt.Errorf("make the backup's folder: %w", err)
		}
	}
	m.part = folder + partEnds
	if err := os.Mkdir(m.part, 0o700); err != nil {
		return "", fmt.Errorf("make the backup's folder: %w", err)
	}
	return folder, nil
}

func (m *making) in(name string) string { return filepath.Join(m.part, filepath.FromSlash(name)) }

// copyAll copies files of the data folder. One that is gone by now went where a later step looks.
func (m *making) copyAll(base string, names []string, as func(name string) string) error {
	for _, name := range names {
		size, sum, err := copyPlain(filepath.Join(base, filepath.FromSlash(name)), m.in(as(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		m.manifest.Files = append(m.manifest.Files, File{as(name), size, sum})
	}
	return nil
}

func same(name string) string { return name }

func copySpools(_ context.Context, m *making) error {
	base := m.Spool
	if base == "" {
		base = filepath.Join(m.Storage.Data, spoolName)
	}
	names, err := spooled(base, ".")
	if err == nil {
		err = m.copyAll(base, names, func(name string) string { return spoolName + "/" + name })
	}
	return errors.Join(err, m.copyAll(m.Storage.Data, []string{ussdName}, same))
}

func copyInbox(ctx context.Context, m *making) error {
	from := filepath.Join(m.Storage.Data, inboxName)
	if _, err := os.Stat(from); err != nil {
		return fmt.Errorf("the inbox of this desk is missing. Start the desk once, then make the backup: %w", err)
	}
	return m.copyDatabaseFile(ctx, from, inboxName)
}

func copyDatabase(ctx context.Context, m *making) error {
	if err := m.copyDatabaseFile(ctx, m.Storage.File(), databaseName); err != nil {
		return err
	}
	mark, err := storage.MarkCopy(ctx, m.in(databaseName),
		health.Copy{UID: m.manifest.UID, MadeAt: m.manifest.MadeAt, By: m.By})
	m.manifest.Head, m.manifest.Sum = mark.Head, mark.Sum
	return err
}

func (m *making) copyDatabaseFile(ctx context.Context, from, name string) error {
	m.manifest.Files = append(m.manifest.Files, File{Name: name})
	return storage.CopyFile(ctx, from, m.in(name))
}

func copyLists(_ context.Context, m *making) error {
	if m.NoLists {
		return nil
	}
	names, err := uploads(m.Storage.Data)
	return errors.Join(err, m.copyAll(m.Storage.Data, names, same))
}

func copyWitnesses(_ context.Context, m *making) error {
	if !m.Journal {
		return nil
	}
	for _, folder := range witnesses() {
		names, err := plainFiles(m.logs(), folder)
		if err = errors.Join(err, m.copyAll(m.logs(), names, same)); err != nil {
			return err
		}
	}
	return nil
}

func copyKey(_ context.Context, m *making) error {
	if m.Key == nil {
		return nil
	}
	key, err := os.ReadFile(filepath.Join(m.Storage.Data, keyName))
	if err != nil {
		return err
	}
	sealed, err := m.Key.encrypt(key)
	if err != nil {
		return err
	}
	size, sum, err := write(m.in(sealedKey), bytes.NewReader(sealed))
	m.manifest.Key = m.Key.how
	m.manifest.Files = append(m.manifest.Files, File{sealedKey, size, sum})
	return err
}

// finish counts, writes the manifest, opens everything again and gives the folder its name.
func (m *making) finish(ctx context.Context, folder string) error {
	for i, f := range m.manifest.Files {
		if f.Name != databaseName && f.Name != inboxName {
			continue
		}
		c, err := storage.ReadContents(ctx, m.in(f.Name), false)
		if err == nil {
			m.manifest.Files[i].Size, m.manifest.Files[i].SHA256, err = hashFile(m.in(f.Name))
		}
		if err != nil {
			return err
		}
		m.manifest.Rows[f.Name] = c.Rows
		if f.Name == databaseName {
			m.manifest.Schema, m.manifest.Desk = c.Schema, c.Desk
		}
	}
	slices.SortFunc(m.manifest.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	m.manifest.Took = m.Now().Sub(m.began).Milliseconds()
	if _, _, err := write(m.in(manifestName), bytes.NewReader(m.manifest.encode())); err != nil {
		return fmt.Errorf("write the backup's manifest: %w", err)
	}
	if err := syncFolders(m.part); err != nil {
		return fmt.Errorf("sync the backup: %w", err)
	}
	written, err := Read(m.part)
	if err == nil {
		err = Verify(ctx, m.part, written)
	}
	if err != nil {
		return fmt.Errorf("the backup was written and does not hold what it should: %w", err)
	}
	if err := os.Rename(m.part, folder); err != nil {
		return fmt.Errorf("name the backup: %w", err)
	}
	return syncFolder(m.To)
}

// Thin removes the oldest backups of one desk beyond the newest keep. What is no backup of this desk stays.
func Thin(to, desk string, keep int) (removed []string, err error) {
	unlock, err := lock(to)
	if err != nil {
		return nil, err
	}
	defer unlock()
	entries, err := os.ReadDir(to)
	if err != nil {
		return nil, fmt.Errorf("list the backups: %w", err)
	}
	type kept struct {
		name string
		at   int64
	}
	var all []kept
	for _, e := range entries {
		if !e.IsDir() || !ours(e.Name()) {
			continue
		}
		if m, err := Read(filepath.Join(to, e.Name())); err == nil && m.Desk == desk {
			all = append(all, kept{e.Name(), m.MadeAt})
		}
	}
	slices.SortFunc(all, func(a, b kept) int { return int(min(max(b.at-a.at, -1), 1)) })
	for _, old := range all[min(keep, len(all)):] {
		// Under this name the next backup removes what a crash leaves of it.
		gone := filepath.Join(to, old.name+partEnds)
		err := os.Rename(filepath.Join(to, old.name), gone)
		if err == nil {
			err = os.RemoveAll(gone)
		}
		if err != nil {
			return removed, fmt.Errorf("remove an old backup: %w", err)
		}
		removed = append(removed, old.name)
	}
	return removed, nil
}
