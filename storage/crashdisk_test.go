package storage

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlitelib "modernc.org/sqlite/lib"

	storagelog "smsdesk/storage/log"
)

// crashDisk is a folder on a disk that fails on purpose, for SQLite and for
// logs. Nothing is synced in earnest: what is not synced is remembered, and a
// power cut takes it away. It is not for a folder that several disks share.
type crashDisk struct {
	root string

	mu    sync.Mutex
	ops   int  // writes, syncs and changes of the folder so far
	fails int  // the operation that fails; 0: none
	cut   bool // power is cut there: all that come later fail too
	half  bool // a write that fails leaves half of itself
	lies  bool // a sync does not last
	dead  bool
	files map[string]*crashFile
}

// crashFile is what a power cut would do to a file.
type crashFile struct {
	fresh   bool // the folder does not know it for good
	changes []crashChange
}

// crashChange is one that is not synced yet.
type crashChange struct {
	at     int64
	before []byte // what was there
	after  []byte
	was    int64 // the file's length before
	size   int64 // and after a truncation; below 0: a write
}

var errCrashDisk = errors.New("a fault on purpose")

// crashDisks finds the disk of a path. SQLite knows one list of file layers for
// the whole process.
type crashDisks struct {
	once  sync.Once
	mu    sync.Mutex
	disks []*crashDisk

	under   *sqlitelib.Tsqlite3_vfs
	vfs     *sqlitelib.Tsqlite3_vfs
	methods map[uintptr]*sqlitelib.Tsqlite3_io_methods // ours, by the layer's own
	open    map[uintptr]openCrashFile                  // by sqlite3_file
	kept    []any                                      // functions of which SQLite has the address
}

type openCrashFile struct {
	disk  *crashDisk
	path  string
	under *sqlitelib.Tsqlite3_io_methods
	del   bool
}

var theCrashDisks = &crashDisks{
	methods: map[uintptr]*sqlitelib.Tsqlite3_io_methods{},
	open:    map[uintptr]openCrashFile{},
}

// newCrashDisk is the disk of a folder until the test ends.
func newCrashDisk(t *testing.T, root string) *crashDisk {
	t.Helper()
	all := theCrashDisks
	all.once.Do(all.register)
	d := &crashDisk{root: root, files: map[string]*crashFile{}}
	all.mu.Lock()
	all.disks = append(all.disks, d)
	all.mu.Unlock()
	t.Cleanup(func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		for i, one := range all.disks {
			if one == d {
				all.disks = append(all.disks[:i:i], all.disks[i+1:]...)
				return
			}
		}
	})
	return d
}

func (all *crashDisks) of(path string) *crashDisk {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, d := range all.disks {
		if strings.HasPrefix(path, d.root+string(filepath.Separator)) {
			return d
		}
	}
	return nil
}

// arm makes the n-th operation from now on fail.
func (d *crashDisk) arm(n int, cut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ops, d.fails, d.cut = 0, n, cut
}

// struck says whether the fault has happened.
func (d *crashDisk) struck() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fails > 0 && d.ops >= d.fails
}

// due counts an operation. The caller holds mu.
func (d *crashDisk) due() bool {
	d.ops++
	if d.ops == d.fails {
		d.dead = d.cut
		return true
	}
	return d.dead
}

func (d *crashDisk) file(path string) *crashFile {
	f := d.files[path]
	if f == nil {
		f = &crashFile{}
		d.files[path] = f
	}
	return f
}

// written notes a change before it is made. The caller holds mu.
func (d *crashDisk) written(path string, after []byte, at, size int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	c := crashChange{at: at, was: info.Size(), size: size, after: append([]byte(nil), after...)}
	if size >= 0 {
		c.at = size
		c.before = make([]byte, max(0, c.was-size))
	} else {
		c.before = make([]byte, min(max(0, c.was-at), int64(len(after))))
	}
	if _, err := f.ReadAt(c.before, c.at); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	one := d.file(path)
	one.changes = append(one.changes, c)
	return nil
}

// sync makes a file's changes last. The caller holds mu.
func (d *crashDisk) sync(path string) {
	if !d.lies {
		d.file(path).changes = nil
	}
}

// restart brings the disk back as a power cut leaves it: of what was not synced
// each sector is there or not, as chance has it; without chance nothing is.
// Where power was not cut, all is there.
func (d *crashDisk) restart(t *testing.T, chance *rand.Rand) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for path, f := range d.files {
		if d.dead {
			if err := f.undo(path, chance); err != nil {
				t.Fatal(err)
			}
		}
	}
	if shared, err := filepath.Glob(filepath.Join(d.root, "*-shm")); d.dead && err == nil {
		for _, path := range shared {
			_ = os.Remove(path)
		}
	}
	d.files, d.fails, d.dead, d.lies = map[string]*crashFile{}, 0, false, false
}

func (f *crashFile) undo(path string, chance *rand.Rand) error {
	if f.fresh {
		return os.Remove(path)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := len(f.changes) - 1; i >= 0; i-- {
		c := f.changes[i]
		_, err := file.WriteAt(c.before, c.at)
		if err = errors.Join(err, file.Truncate(c.was)); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	const sector = 512
	for _, c := range f.changes {
		if chance == nil {
			break
		}
		if c.size >= 0 {
			if chance.IntN(2) == 0 {
				err = errors.Join(err, file.Truncate(c.size))
			}
			continue
		}
		for from := 0; from < len(c.after); from += sector {
			if chance.IntN(2) == 0 {
				_, wrong := file.WriteAt(c.after[from:min(from+sector, len(c.after))], c.at+int64(from))
				err = errors.Join(err, wrong)
			}
		}
	}
	return errors.Join(err, file.Close())
}

// The layer of logs.

func (d *crashDisk) logs() storagelog.FS { return crashLogs{disk: d} }

type crashLogs struct {
	storagelog.Disk
	disk *crashDisk
}

func (l crashLogs) Create(path string) (storagelog.File, error) {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	if l.disk.due() {
		return nil, errCrashDisk
	}
	f, err := l.Disk.Create(path)
	if err != nil {
		return nil, err
	}
	l.disk.file(path).fresh = true
	return crashLogFile{f, l.disk, path}, nil
}

func (l crashLogs) Open(path string) (storagelog.File, error) {
	f, err := l.Disk.Open(path)
	if err != nil {
		return nil, err
	}
	return crashLogFile{f, l.disk, path}, nil
}

func (l crashLogs) Rename(from, to string) error {
	return l.change(func() error {
		err := l.Disk.Rename(from, to)
		if f := l.disk.files[from]; err == nil && f != nil {
			l.disk.files[to] = f
			delete(l.disk.files, from)
		}
		return err
	})
}

func (l crashLogs) Remove(path string) error {
	return l.change(func() error {
		delete(l.disk.files, path)
		return l.Disk.Remove(path)
	})
}

func (l crashLogs) MakeFolder(dir string) error {
	return l.change(func() error { return os.MkdirAll(dir, 0o700) })
}

func (l crashLogs) SyncFolder(dir string) error {
	return l.change(func() error {
		for path, f := range l.disk.files {
			f.fresh = f.fresh && (filepath.Dir(path) != dir || l.disk.lies)
		}
		return nil
	})
}

func (l crashLogs) change(make func() error) error {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	if l.disk.due() {
		return errCrashDisk
	}
	return make()
}

type crashLogFile struct {
	storagelog.File
	disk *crashDisk
	path string
}

func (f crashLogFile) WriteAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	due := f.disk.due()
	if due && (!f.disk.half || f.disk.ops != f.disk.fails) {
		return 0, errCrashDisk
	}
	if due {
		b = b[:len(b)/2]
	}
	if err := f.disk.written(f.path, b, at, -1); err != nil {
		return 0, err
	}
	n, err := f.File.WriteAt(b, at)
	if due {
		err = errCrashDisk
	}
	return n, err
}

func (f crashLogFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.due() {
		return errCrashDisk
	}
	if err := f.disk.written(f.path, nil, 0, size); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f crashLogFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.due() {
		return errCrashDisk
	}
	f.disk.sync(f.path)
	return nil
}

// The layer of SQLite: that of the machine, with another open and delete, and
// for the files of a crashDisk another write, truncate, sync and close.

// at is memory that belongs to SQLite.
func at[T any](p uintptr) *T { return (*T)(*(*unsafe.Pointer)(unsafe.Pointer(&p))) }

// function is one of SQLite's, given by its address.
func function[F any](p uintptr) F {
	var f F
	*(*uintptr)(unsafe.Pointer(&f)) = p
	return f
}

// address is that of a function of ours, which lives as long as the process.
func address[F any](all *crashDisks, f F) uintptr {
	all.kept = append(all.kept, f)
	return *(*uintptr)(unsafe.Pointer(&f))
}

type (
	vfsOpen   = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	vfsDelete = func(tls *libc.TLS, vfs, name uintptr, folder int32) int32
	fileClose = func(tls *libc.TLS, file uintptr) int32
	fileWrite = func(tls *libc.TLS, file, from uintptr, n int32, at int64) int32
	fileSize  = func(tls *libc.TLS, file uintptr, size int64) int32
	fileSync  = func(tls *libc.TLS, file uintptr, flags int32) int32
)

// register makes ours the layer that is used where none is named. Files of
// other folders go to the machine's own untouched.
func (all *crashDisks) register() {
	tls := libc.NewTLS()
	all.under = at[sqlitelib.Tsqlite3_vfs](sqlitelib.Xsqlite3_vfs_find(tls, 0))
	own := *all.under
	all.vfs = &own
	name, err := libc.CString("crashdisk")
	if err != nil {
		panic(err)
	}
	all.vfs.FzName, all.vfs.FpNext = name, 0
	all.vfs.FxOpen = address(all, vfsOpen(all.xOpen))
	all.vfs.FxDelete = address(all, vfsDelete(all.xDelete))
	if rc := sqlitelib.Xsqlite3_vfs_register(tls, uintptr(unsafe.Pointer(all.vfs)), 1); rc != sqlitelib.SQLITE_OK {
		panic("the file layer is refused")
	}
}

func (all *crashDisks) xOpen(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	open := function[vfsOpen](all.under.FxOpen)
	var d *crashDisk
	path := ""
	if name != 0 {
		path = libc.GoString(name)
		d = all.of(path)
	}
	if d == nil {
		return open(tls, uintptr(unsafe.Pointer(all.under)), name, file, flags, out)
	}
	_, missing := os.Stat(path)
	d.mu.Lock()
	if missing != nil && d.due() {
		d.mu.Unlock()
		at[sqlitelib.Tsqlite3_file](file).FpMethods = 0
		return sqlitelib.SQLITE_CANTOPEN
	}
	if missing != nil {
		d.file(path).fresh = true
	}
	d.mu.Unlock()
	if rc := open(tls, uintptr(unsafe.Pointer(all.under)), name, file, flags, out); rc != sqlitelib.SQLITE_OK {
		return rc
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	f := at[sqlitelib.Tsqlite3_file](file)
	own := all.methods[f.FpMethods]
	if own == nil {
		own = all.methodsOver(f.FpMethods)
		all.methods[f.FpMethods] = own
	}
	under := at[sqlitelib.Tsqlite3_io_methods](f.FpMethods)
	all.open[file] = openCrashFile{d, path, under, flags&sqlitelib.SQLITE_OPEN_DELETEONCLOSE != 0}
	f.FpMethods = uintptr(unsafe.Pointer(own))
	return sqlitelib.SQLITE_OK
}

func (all *crashDisks) methodsOver(under uintptr) *sqlitelib.Tsqlite3_io_methods {
	own := *at[sqlitelib.Tsqlite3_io_methods](under)
	own.FxClose = address(all, fileClose(all.xClose))
	own.FxWrite = address(all, fileWrite(all.xWrite))
	own.FxTruncate = address(all, fileSize(all.xTruncate))
	own.FxSync = address(all, fileSync(all.xSync))
	return &own
}

func (all *crashDisks) opened(file uintptr) openCrashFile {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.open[file]
}

func (all *crashDisks) xClose(tls *libc.TLS, file uintptr) int32 {
	f := all.opened(file)
	all.mu.Lock()
	delete(all.open, file)
	all.mu.Unlock()
	return function[fileClose](f.under.FxClose)(tls, file)
}

func (all *crashDisks) xWrite(tls *libc.TLS, file, from uintptr, n int32, where int64) int32 {
	f := all.opened(file)
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	due := d.due()
	if due && (!d.half || d.ops != d.fails) {
		return sqlitelib.SQLITE_IOERR_WRITE
	}
	if due {
		n /= 2
	}
	if !f.del {
		if err := d.written(f.path, unsafe.Slice(at[byte](from), n), where, -1); err != nil {
			return sqlitelib.SQLITE_IOERR_WRITE
		}
	}
	rc := function[fileWrite](f.under.FxWrite)(tls, file, from, n, where)
	if due {
		rc = sqlitelib.SQLITE_IOERR_WRITE
	}
	return rc
}

func (all *crashDisks) xTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	f := all.opened(file)
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.due() {
		return sqlitelib.SQLITE_IOERR_TRUNCATE
	}
	if err := f.disk.written(f.path, nil, 0, size); err != nil {
		return sqlitelib.SQLITE_IOERR_TRUNCATE
	}
	return function[fileSize](f.under.FxTruncate)(tls, file, size)
}

// xSync lasts: SQLite syncs the folder together with a file that is new.
func (all *crashDisks) xSync(_ *libc.TLS, file uintptr, _ int32) int32 {
	f := all.opened(file)
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.due() {
		return sqlitelib.SQLITE_IOERR_FSYNC
	}
	f.disk.sync(f.path)
	f.disk.file(f.path).fresh = false
	return sqlitelib.SQLITE_OK
}

func (all *crashDisks) xDelete(tls *libc.TLS, _, name uintptr, folder int32) int32 {
	path := libc.GoString(name)
	if d := all.of(path); d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.due() {
			return sqlitelib.SQLITE_IOERR_DELETE
		}
		delete(d.files, path)
	}
	return function[vfsDelete](all.under.FxDelete)(tls, uintptr(unsafe.Pointer(all.under)), name, folder)
}
