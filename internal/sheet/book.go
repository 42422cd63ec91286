package sheet

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"smsdesk/internal/sms"
)

// The limits of a workbook. Nothing in it is unpacked by name or further than
// its directory says; these bound what the directory may say.
const (
	maxInflated  = 256 << 20
	maxPart      = 128 << 20
	maxSmallPart = 16 << 20 // of the parts that are no sheet and no texts
	maxEntries   = 1000
	maxDirectory = 2 << 20
)

// book is a workbook: a ZIP container with a directory of sheets. Only the
// parts with sheets, texts and formats are ever read.
type book struct {
	parts   map[string]*zip.File // by path in small letters
	tabs    []Tab
	paths   []string // of the tabs
	tables  []int    // of the tabs of an OpenDocument spreadsheet: which of its tables each is
	texts   string   // path of the shared strings; "" without
	formats *formats
	tempDir string
}

// openBook makes the source of a workbook and settles its sheet.
func (r *Reader) openBook(size int64) error {
	o := &r.profile.Options
	b, err := openBook(r.file, size, *o)
	if err != nil {
		return damage(err)
	}
	if r.profile.Kind, r.profile.Sheets = XLSX, b.tabs; b.tables != nil {
		r.profile.Kind = ODS
	}
	o.Encoding, o.Delimiter = "", 0
	at := b.choose(o.Sheet)
	if at < 0 {
		return sms.Invalid{"sheet": fmt.Sprintf("The file has no sheet called %q. Choose another", o.Sheet)}
	}
	o.Sheet = b.tabs[at].Name
	if r.source, err = b.openSheet(at); err != nil {
		r.source = nil
		return damage(err)
	}
	return nil
}

func (b *book) openSheet(i int) (source, error) {
	if b.tables != nil {
		return openODSSheet(b, i)
	}
	return openWorksheet(b, i, false)
}

// numbersSummary is the sheet that Apple Numbers puts in front of an export.
const numbersSummary = "Export Summary"

// choose is the place of the sheet with a name, or -1. Without a name it is the
// first visible sheet with more than one row: a cover page is no list.
func (b *book) choose(name string) int {
	best, most := 0, -1
	for i, t := range b.tabs {
		if name != "" {
			if t.Name == name {
				return i
			}
			continue
		}
		if !t.Hidden && most < 2 && (t.Name != numbersSummary || i+1 == len(b.tabs)) {
			n := min(t.Rows, 2)
			if b.tables == nil {
				n = countRows(b, i, 2)
			}
			if n < 0 || n > most {
				// What is damaged is chosen too, so that staff hear of it.
				best, most = i, n
				if n < 0 {
					most = 2
				}
			}
		}
	}
	if name != "" {
		return -1
	}
	return best
}

// damage is the sentence for a workbook that is at odds with itself.
func damage(err error) error {
	if errors.Is(err, errDamaged) {
		return sms.Invalid{"file": unreadable}
	}
	return err
}

func openBook(file *boundedReader, size int64, o Options) (*book, error) {
	file.left = maxDirectory
	z, err := zip.NewReader(file, size)
	file.left = -1
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, errDamaged
	}
	b := &book{parts: map[string]*zip.File{}, tempDir: o.TempDir}
	names := map[string]bool{}
	for _, f := range z.File {
		name := strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/"))
		names[name] = true
		if b.parts[name] == nil {
			b.parts[name] = f
		}
	}
	if b.isODS() {
		if err := checkContainer(z.File); err != nil {
			return nil, err
		}
		return b, b.readODS()
	}
	main, err := b.mainPart()
	if err != nil {
		return nil, err
	}
	if b.parts[main] == nil {
		return nil, refuseContainer(names, b.mimetype())
	}
	if err := checkContainer(z.File); err != nil {
		return nil, err
	}
	b.formats = newFormats(o.Country)
	styles, err := b.readWorkbook(main)
	if err != nil {
		return nil, err
	}
	if len(b.tabs) == 0 {
		return nil, errDamaged
	}
	if b.parts[styles] != nil {
		err = b.eachStart(styles, b.formats.learn)
	}
	return b, err
}

// checkContainer refuses a container beyond the limits by what its directory
// says; reading stops where the directory says, so it cannot lie upwards.
func checkContainer(files []*zip.File) error {
	if len(files) > maxEntries {
		return errDamaged
	}
	var total uint64
	for _, f := range files {
		if f.Flags&1 != 0 {
			return refuse("The selected file is password protected. Remove the password and upload it again")
		}
		size := min(f.UncompressedSize64, 1<<50)
		if total += size; size > maxPart && total <= maxInflated {
			return refuse(
				"Each part of the selected file must be smaller than %s when opened. Yours has one of %s. Remove sheets, pictures and columns you do not need",
				megabytes(maxPart), megabytes(int64(size)))
		}
	}
	if total > maxInflated {
		return refuse(
			"The selected file must be smaller than %s. Yours is %s when unzipped. Remove sheets, pictures and columns you do not need",
			megabytes(maxInflated), megabytes(int64(total)))
	}
	return nil
}

// mimetype is what an OpenDocument container says of itself.
func (b *book) mimetype() string {
	f := b.parts["mimetype"]
	if f == nil {
		return ""
	}
	r, err := f.Open()
	if err != nil {
		return ""
	}
	defer r.Close()
	text, _ := io.ReadAll(io.LimitReader(r, 100))
	return string(text)
}

// mainPart is the path of the workbook part.
func (b *book) mainPart() (string, error) {
	main := "xl/workbook.xml"
	if b.parts["_rels/.rels"] == nil {
		return main, nil
	}
	err := b.eachStart("_rels/.rels", func(m *xmlReader) error {
		if string(m.name) == "Relationship" && strings.HasSuffix(m.attr("Type"), "/officeDocument") {
			main = resolve("", m.attr("Target"))
		}
		return nil
	})
	return main, err
}

// readWorkbook lists the sheets and finds the parts that belong to them.
func (b *book) readWorkbook(main string) (styles string, err error) {
	targets := map[string]string{}
	b.texts = path.Join(path.Dir(main), "sharedstrings.xml")
	rels := path.Join(path.Dir(main), "_rels", path.Base(main)+".rels")
	if b.parts[rels] == nil {
		return "", errDamaged
	}
	err = b.eachStart(rels, func(m *xmlReader) error {
		if string(m.name) != "Relationship" {
			return nil
		}
		target := resolve(path.Dir(main), m.attr("Target"))
		switch kind := path.Base(m.attr("Type")); kind {
		case "worksheet":
			targets[m.attr("Id")] = target
		case "sharedStrings":
			b.texts = target
		case "styles":
			styles = target
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return styles, b.eachStart(main, func(m *xmlReader) error {
		switch string(m.name) {
		case "workbookPr":
			b.formats.from1904 = isTrue(m.rawAttr("date1904"))
		case "sheet":
			if target := targets[m.attr("id")]; b.parts[target] != nil && len(b.tabs) < maxEntries {
				state := m.attr("state")
				b.tabs = append(b.tabs, Tab{Name: m.attr("name"), Hidden: state != "" && state != "visible", Rows: -1})
				b.paths = append(b.paths, target)
			}
		}
		return nil
	})
}

// eachStart calls do for each element of a small part.
func (b *book) eachStart(name string, do func(*xmlReader) error) error {
	m, closer, err := b.open(name, maxSmallPart)
	if err != nil {
		return err
	}
	defer closer.Close()
	for {
		kind, err := m.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if kind == tokenStart {
			if err := do(m); err != nil {
				return err
			}
		}
	}
}

// open reads a part. A part that is larger than limit ends in damage.
func (b *book) open(name string, limit int64) (*xmlReader, io.Closer, error) {
	f := b.parts[name]
	if f == nil {
		return nil, nil, errDamaged
	}
	r, err := f.Open()
	if err != nil {
		return nil, nil, errDamaged
	}
	return newMarkup(io.LimitReader(r, limit)), r, nil
}

// resolve is the path of a relationship's target. One that leads out of the
// container names no part.
func resolve(dir, target string) string {
	if !strings.HasPrefix(target, "/") {
		target = dir + "/" + target
	}
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+target), "/"))
}

func isTrue(value []byte) bool { return string(value) == "1" || string(value) == "true" }
