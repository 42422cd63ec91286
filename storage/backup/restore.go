package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"smsdesk/internal/health"
	"smsdesk/storage"
)

// RestoreOrder says which backup becomes which data folder.
type RestoreOrder struct {
	From string         // folder of one backup
	To   storage.Config // a data folder that is not there yet, or is empty
	Logs string         // folder of the journal and the logs, "" for the data folder; what is there already stays
	Take string         // the old data folder, whose journal, logs, spools and inbox are taken over; "" takes none
	Key  KeyFrom

	between func(done string) error // told after each part; for tests
}

// Restored is a data folder that can be served.
type Restored struct {
	Manifest Manifest
	Notes    []string // what could not be taken over, as sentences
}

// Restore makes a data folder from a backup. It makes no key, sends nothing and changes neither the backup nor the
// folder that it takes from. Until it has ended no command opens the new folder; begun again, it starts anew.
func Restore(ctx context.Context, o RestoreOrder) (done Restored, err error) {
	m, err := Read(o.From)
	if err != nil {
		return done, err
	}
	if newest := storage.NewestSchema(); m.Schema > newest {
		return done,
			fmt.Errorf(
				"this backup was made by a newer smsdesk (%s; its schema is %d, this program knows %d). Restore it with that one",
				m.Program, m.Schema, newest)
	}
	if err := Verify(ctx, o.From, m); err != nil {
		return done, err
	}
	release, err := o.hold()
	if err != nil {
		return done, err
	}
	defer release()
	r := &restoring{RestoreOrder: o, manifest: m, kept: map[string]bool{}}
	for _, name := range witnesses() {
		r.kept[name] = o.Logs != "" && exists(filepath.Join(o.Logs, name))
	}
	key, err := r.key(ctx)
	if err != nil {
		return done, err
	}
	if err := r.begin(); err != nil {
		return done, err
	}
	for _, part := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"files", func(context.Context) error { return r.copyFiles() }},
		{"key", func(context.Context) error {
			_, _, err := write(filepath.Join(o.To.Data, keyName), bytes.NewReader(key))
			return err
		}},
		{"taken", r.takeOver},
		{"end", func(context.Context) error { return r.end() }},
	} {
		if err = errors.Join(ctx.Err(), part.do(ctx)); err == nil && o.between != nil {
			err = o.between(part.name)
		}
		if err != nil {
			return done, fmt.Errorf("restore the backup: %w", err)
		}
	}
	return Restored{m, r.notes}, nil
}

// restoring is a restore on its way.
type restoring struct {
	RestoreOrder
	manifest Manifest
	notes    []string
	kept     map[string]bool // witnesses that are where they belong already
}

func (o RestoreOrder) logs() string {
	if o.Logs != "" {
		return o.Logs
	}
	return o.To.Data
}

// hold keeps the folder that is taken from as it is. A desk that serves it goes on writing.
func (o RestoreOrder) hold() (release func(), err error) {
	if o.Take == "" {
		return func() {}, nil
	}
	if a, err := os.Stat(o.Take); err != nil || !a.IsDir() {
		return nil, fmt.Errorf("there is no folder %s to take the journal from", o.Take)
	}
	if sameFolder(o.Take, o.To.Data) {
		return nil, fmt.Errorf("the new folder and the old one are the same, %s. Give a new one as --data", o.Take)
	}
	f, err := os.OpenFile(filepath.Join(o.Take, "smsdesk.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look whether the old folder is being served: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil,
			errors.Join(
				fmt.Errorf("a smsdesk is serving %s. Stop it first, or its last messages are not in the journal that is taken",
					o.Take), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

func sameFolder(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// key finds the key and proves that it is the right one.
func (r *restoring) key(ctx context.Context) (key []byte, err error) {
	from := ""
	switch taken := filepath.Join(r.Take, keyName); {
	case r.Key.File != "":
		from = r.Key.File
	case r.Take != "" && exists(taken):
		from = taken
	case r.manifest.Key != "":
		var sealed []byte
		if sealed, err = os.ReadFile(filepath.Join(r.From, sealedKey)); err == nil {
			key, err = r.Key.decrypt(sealed, r.manifest.Key)
		}
	default:
		return nil,
			errors.New(
				"the key is not in this backup. Give the file smsdesk.key of the desk as --key; without it no credentials can be opened")
	}
	if from != "" {
		if key, err = os.ReadFile(from); err != nil {
			err = fmt.Errorf("read the key file: %w", err)
		}
	}
	if err != nil {
		return nil, err
	}
	fits, err := storage.KeyFits(ctx, filepath.Join(r.From, databaseName), key)
	if err == nil && !fits {
		err = errors.New(
			"the key does not belong to this backup: what is sealed in it does not open. Give the key that the desk had when the backup was made")
	}
	return key, err
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// begin takes the folder. What a restore left there that was cut off is removed.
func (r *restoring) begin() error {
	data := r.To.Data
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	entries, err := os.ReadDir(data)
	if err != nil {
		return fmt.Errorf("open the data folder: %w", err)
	}
	again := exists(filepath.Join(data, storage.RestoringName))
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == storage.RestoringName || name == "lost+found" || again && strings.HasSuffix(name, ".lock"):
		case again && (belongs(name) || slices.Contains([]string{keyName, partName, inboxName + partEnds, spoolName,
			listsName, reserveName}, name)):
			if err := os.RemoveAll(filepath.Join(data, name)); err != nil {
				return fmt.Errorf("remove what an earlier restore has left: %w", err)
			}
		default:
			return fmt.Errorf("%s is not empty: there is %q. Give a folder that does not exist yet", data, name)
		}
	}
	if file := r.To.File(); exists(file) {
		return fmt.Errorf("there is a database already, %s. Move it away first", file)
	}
	for _, name := range witnesses() {
		if r.Logs == "" {
			break
		}
		if err := os.RemoveAll(filepath.Join(r.Logs, name+partEnds)); err != nil {
			return fmt.Errorf("remove what an earlier restore has left: %w", err)
		}
	}
	if again {
		return nil
	}
	if _, _, err := write(filepath.Join(data, storage.RestoringName), strings.NewReader(r.manifest.UID+"\n")); err != nil {
		return fmt.Errorf("begin to restore: %w", err)
	}
	return errors.Join(syncFolder(data), syncFolder(filepath.Dir(data)))
}

// partName is the database until everything else is there, so that no program takes the folder for a desk.
const partName = databaseName + partEnds

func (r *restoring) copyFiles() error {
	for _, f := range r.manifest.Files {
		to := f.Name
		if top(f.Name) == spoolName && len(r.notes) == 0 {
			r.notes = append(r.notes,
				"Delivery reports wait in the folder spool. Where serve has --spool, move them there before it starts.")
		}
		switch {
		case f.Name == sealedKey:
			continue
		case f.Name == databaseName:
			to = partName
		}
		base := r.To.Data
		if slices.Contains(witnesses(), top(f.Name)) {
			// Those of the old folder, or what is there already, are newer.
			if base, to = r.logs(), r.underWay(f.Name); r.Take != "" || r.kept[top(f.Name)] {
				continue
			}
		}
		size, sum, err := copyPlain(filepath.Join(r.From, filepath.FromSlash(f.Name)),
			filepath.Join(base, filepath.FromSlash(to)))
		if err != nil {
			return err
		}
		if size != f.Size || sum != f.SHA256 {
			return fmt.Errorf("%w: %s changed while it was copied", ErrDamaged, f.Name)
		}
	}
	return nil
}

// underWay is the name of a file of a witness until all of it is there. In the data folder the mark of the restore says
// so; a folder elsewhere has none.
func (r *restoring) underWay(name string) string {
	first := top(name)
	if r.Logs == "" {
		return name
	}
	return first + partEnds + strings.TrimPrefix(name, first)
}

// placeWitnesses gives the witnesses that lie elsewhere their names.
func (r *restoring) placeWitnesses() error {
	for _, name := range witnesses() {
		placed := filepath.Join(r.logs(), name)
		if r.Logs != "" && exists(placed+partEnds) {
			if err := errors.Join(syncFolders(placed+partEnds), os.Rename(placed+partEnds, placed),
				syncFolder(r.Logs)); err != nil {
				return err
			}
		}
	}
	return nil
}

func top(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

// takeOver brings what the old folder knows and the backup does not.
func (r *restoring) takeOver(ctx context.Context) error {
	if r.Take == "" {
		return nil
	}
	for _, name := range witnesses() {
		names, err := plainFiles(r.Take, name)
		if err != nil {
			return err
		}
		if len(names) == 0 && name == witnesses()[0] && !r.kept[name] {
			r.notes = append(r.notes,
				fmt.Sprintf("There is no journal in %s: how many messages were sent after the backup is not known.", r.Take))
		}
		for _, file := range names {
			if r.kept[name] {
				break
			}
			if _, _, err := copyPlain(filepath.Join(r.Take, filepath.FromSlash(file)),
				filepath.Join(r.logs(), filepath.FromSlash(r.underWay(file)))); err != nil {
				return err
			}
		}
	}
	names, err := spooled(r.Take, spoolName)
	if err != nil {
		return err
	}
	for _, file := range names {
		// A file that is in both has grown since the backup.
		if err := os.Remove(filepath.Join(r.To.Data, filepath.FromSlash(file))); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := r.take(file); err != nil {
			return err
		}
	}
	// What the old database did not take settles requests that were under way at the backup.
	if err := r.take(reserveName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := r.takeUSSD(); err != nil {
		return err
	}
	return r.takeInbox(ctx)
}

func (r *restoring) take(name string) error {
	local := filepath.FromSlash(name)
	_, _, err := copyPlain(filepath.Join(r.Take, local), filepath.Join(r.To.Data, local))
	return err
}

// takeUSSD joins what callers were promised: the old folder's database has taken what is not in its spool any more.
func (r *restoring) takeUSSD() error {
	old, err := os.ReadFile(filepath.Join(r.Take, ussdName))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(old) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	file := filepath.Join(r.To.Data, ussdName)
	backed, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	_, _, err = write(file, io.MultiReader(bytes.NewReader(backed), strings.NewReader("\n"), bytes.NewReader(old)))
	return err
}

// takeInbox joins the old inbox with the backup's. A damaged one is left where it is.
func (r *restoring) takeInbox(ctx context.Context) error {
	from := filepath.Join(r.Take, inboxName)
	if !exists(from) {
		r.notes = append(r.notes, fmt.Sprintf("There is no inbox in %s. The report log has what arrived after the backup.",
			r.Take))
		return nil
	}
	part := filepath.Join(r.To.Data, inboxName+partEnds)
	err := storage.CopyFile(ctx, from, part)
	if err == nil {
		_, err = storage.ReadContents(ctx, part, true)
	}
	if err == nil {
		err = storage.JoinInboxes(ctx, part, filepath.Join(r.To.Data, inboxName))
	}
	if err != nil && ctx.Err() == nil {
		r.notes = append(r.notes,
			fmt.Sprintf("The inbox in %s cannot be taken over (%v). The report log has what arrived after the backup.", r.Take,
				err))
		return removeFile(part)
	}
	if err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(r.To.Data, inboxName))
}

func removeFile(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// end makes the folder one that can be served.
func (r *restoring) end() error {
	data, file := r.To.Data, r.To.File()
	if err := errors.Join(r.placeWitnesses(), syncFolders(data)); err != nil {
		return err
	}
	if filepath.Dir(file) == filepath.Clean(data) {
		if err := os.Rename(filepath.Join(data, partName), file); err != nil {
			return err
		}
	} else {
		// It may be on another disk.
		if _, _, err := copyPlain(filepath.Join(data, partName), file); err != nil {
			return err
		}
		if err := errors.Join(syncFolder(filepath.Dir(file)), os.Remove(filepath.Join(data, partName))); err != nil {
			return err
		}
	}
	if err := syncFolder(data); err != nil {
		return err
	}
	return errors.Join(os.Remove(filepath.Join(data, storage.RestoringName)), syncFolder(data))
}

// Here marks a data folder that was put back from a snapshot, as a backup is marked: the next start asks.
func Here(ctx context.Context, c storage.Config, by string) error {
	if !exists(c.File()) {
		return fmt.Errorf("there is no desk in %s: %s is missing", c.Data, path.Base(c.File()))
	}
	f, err := os.OpenFile(filepath.Join(c.Data, "smsdesk.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("look whether the folder is being served: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("a smsdesk is serving %s. Stop it first", c.Data)
	}
	_, err = storage.MarkCopy(ctx, c.File(), health.Copy{By: by})
	return err
}
