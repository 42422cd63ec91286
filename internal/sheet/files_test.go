package sheet

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"smsdesk/internal/phone"
)

const (
	// filesFolder holds lists as programs and people write them. Its README says
	// of each who wrote it, what we do with it and why.
	filesFolder = "testdata/files"
	// filesRead is what is read of each of them.
	filesRead = "testdata/files.txt"
)

// TestFiles: of each file comes what stands in testdata/files.txt. With -write
// that is written again, to be looked at.
func TestFiles(t *testing.T) {
	if *write {
		writeFiles(t)
	}
	told, err := os.ReadFile(filepath.Join(filesFolder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|[^|]+\\|[^|]+\\|$").FindAllStringSubmatch(string(told), -1) {
		rows[m[1]] = true
	}
	entries, err := os.ReadDir(filesFolder)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	n := 0
	for _, e := range entries {
		if e.Name() == "README.md" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if n++; !rows[e.Name()] {
			t.Errorf("README.md does not say who wrote %s and what we do", e.Name())
		}
		delete(rows, e.Name())
		all.WriteString(fileRead(t, e.Name()))
	}
	for name := range rows {
		t.Errorf("%s is not there", name)
	}
	if n < 40 {
		t.Errorf("%d files", n)
	}
	if *write {
		if err := os.WriteFile(filesRead, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filesRead)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(all.String(), "\n")); d != "" {
		t.Errorf("read otherwise than the table says:\n%s", d)
	}
}

// shownRows is how many rows of a file stand in the table.
const shownRows = 12

// fileRead is what is read of a file, in words.
func fileRead(t *testing.T, name string) string {
	data, err := os.ReadFile(filepath.Join(filesFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "== %s\n", name)
	got, err := read(string(data), Options{Country: "NG"})
	if err != nil {
		fmt.Fprintf(&b, "refused: %s\n", sentence(err))
		return b.String()
	}
	o := got.Options
	fmt.Fprintf(&b, "%s %s", got.Kind, o.Encoding)
	if o.Delimiter != 0 {
		fmt.Fprintf(&b, " %q", o.Delimiter)
	}
	for _, s := range got.Sheets {
		fmt.Fprintf(&b, " [%s%s]", map[bool]string{true: "hidden "}[s.Hidden], s.Name)
	}
	if o.Sheet != "" {
		fmt.Fprintf(&b, " sheet %s", o.Sheet)
	}
	fmt.Fprintf(&b, ", names in row %d: %s\n", o.HeaderRow, strings.Join(got.Columns, "|"))
	for _, n := range got.Notices() {
		fmt.Fprintf(&b, "notice: %s\n", n)
	}
	guess := Guess(got.Header, got.Sample, "NG")
	if q := guess.Question(got.Columns); q != "" {
		fmt.Fprintf(&b, "asks: %s\n", q)
	}
	for i, row := range got.rows {
		if i == shownRows {
			fmt.Fprintf(&b, "  and %d more\n", len(got.rows)-shownRows)
			break
		}
		line := strings.ReplaceAll(show([]Row{row})[0], "\n", "⏎")
		if guess.Phone >= 0 && guess.Phone < len(row.Cells) && row.Problem == "" {
			line += " → " + numberOrSentence(row.Cells[guess.Phone])
		}
		fmt.Fprintf(&b, "  %s\n", strings.Map(func(r rune) rune {
			if r < ' ' {
				return '�'
			}
			return r
		}, line))
	}
	y := got.tally
	fmt.Fprintf(&b, "%d rows, %d with problems, %d hidden, %d blank, %d with the names again\n", y.Rows, y.Problems, y.Hidden, y.Blank, y.Headers)
	return b.String()
}

func numberOrSentence(cell string) string {
	if fault := CellFault(cell); fault != "" {
		return fault
	}
	p, err := phone.Parse(cell, "NG", false)
	if err != nil {
		return err.Error()
	}
	return p.Number
}

// writeFiles writes the files that excelize, LibreOffice and gnumeric write,
// from workbooks that excelize makes. It needs soffice and ssconvert (Debian:
// libreoffice-calc, gnumeric), and -write.
func writeFiles(t *testing.T) {
	for name, fill := range map[string]func(*excelize.File) []error{"excelize-plain.xlsx": fillPlain,
		"excelize-formats.xlsx": fillFormats, "excelize-1904.xlsx": fill1904, "excelize-hidden.xlsx": fillHidden,
		"excelize-locked.xlsx": fillPlain} {
		o := excelize.Options{}
		if name == "excelize-locked.xlsx" {
			o.Password = "secret"
		}
		f := excelize.NewFile()
		for _, err := range fill(f) {
			if err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		if err := f.Write(&b, o); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(filesFolder, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	office := func(from, to, filter string) {
		run(t, "soffice", "-env:UserInstallation=file://"+dir+"/profile", "--headless", "--convert-to", filter, "--outdir", dir,
			filepath.Join(filesFolder, from))
		made := strings.TrimSuffix(from, filepath.Ext(from)) + "." + strings.Split(filter, ":")[0]
		data, err := os.ReadFile(filepath.Join(dir, made))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(filesFolder, to), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const csv = "csv:Text - txt - csv (StarCalc):"
	office("excelize-plain.xlsx", "libreoffice-plain.ods", "ods")
	office("excelize-plain.xlsx", "libreoffice-plain.xlsx", "xlsx")
	office("excelize-plain.xlsx", "libreoffice-plain.csv", csv+"44,34,76,1")
	office("excelize-plain.xlsx", "libreoffice-cp1252.csv", csv+"59,34,1,1")
	office("excelize-plain.xlsx", "libreoffice-utf16.csv", csv+"9,34,65535,1")
	office("excelize-plain.xlsx", "libreoffice-old.xls", "xls")
	office("excelize-plain.xlsx", "libreoffice-flat.fods", "fods")
	office("excelize-plain.xlsx", "libreoffice-page.html", "html")
	office("excelize-formats.xlsx", "libreoffice-formats.ods", "ods")
	office("excelize-formats.xlsx", "libreoffice-formats.xlsx", "xlsx")
	office("excelize-formats.xlsx", "libreoffice-formats.csv", csv+"44,34,76,1")
	office("excelize-hidden.xlsx", "libreoffice-hidden.ods", "ods")
	office("excelize-1904.xlsx", "libreoffice-1904.ods", "ods")
	for _, c := range [][3]string{{"excelize-plain.xlsx", "gnumeric-plain.xlsx", "Gnumeric_Excel:xlsx2"},
		{"excelize-plain.xlsx", "gnumeric-plain.ods", "Gnumeric_OpenCalc:odf"}, {"excelize-plain.xlsx", "gnumeric-plain.csv", "Gnumeric_stf:stf_csv"},
		{"excelize-formats.xlsx", "gnumeric-formats.ods", "Gnumeric_OpenCalc:odf"},
		{"excelize-formats.xlsx", "gnumeric-formats.csv", "Gnumeric_stf:stf_csv"},
		{"excelize-hidden.xlsx", "gnumeric-hidden.xlsx", "Gnumeric_Excel:xlsx2"},
		{"excelize-plain.xlsx", "gnumeric-own.gnumeric", "Gnumeric_XmlIO:sax"}} {
		run(t, "ssconvert", "-T", c[2], filepath.Join(filesFolder, c[0]), filepath.Join(filesFolder, c[1]))
	}
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if said, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, said)
	}
}

// put writes rows of values into a sheet.
func put(f *excelize.File, sheet string, rows ...[]any) (errs []error) {
	for i, values := range rows {
		errs = append(errs, f.SetSheetRow(sheet, "A"+strconv.Itoa(i+1), &values))
	}
	return errs
}

func fillPlain(f *excelize.File) []error {
	return put(f, "Sheet1", []any{"Name", "Phone No.", "Text"}, []any{"Adé Ọlá", "08035550101", "Dear Adé,\nyour parcel is here"},
		[]any{"Bola \"Junior\"", 8035550102, "It costs 5,000; pay on delivery"}, []any{nil, nil, nil},
		[]any{"Chidi & Söhne", 2348035550103, "= no formula"}, []any{"Dayo", "0803-555-0104", " spaces "})
}

// fillFormats has a column of every kind of number format.
func fillFormats(f *excelize.File) []error {
	codes := []string{"", "0.00E+00", `"₦"#,##0.00`, "0%", "00000", "dd/mm/yyyy", "h:mm AM/PM", "[h]:mm", "# ?/?", `"Dear "@`, "00000000000"}
	errs := put(f, "Sheet1", []any{"id", "phone", "amount", "share", "code", "day", "time", "span", "part", "text", "other phone"},
		[]any{1, 2348035550101, 1234567.5, 0.15, 123, 46150, 0.4375, 1.5, 0.5, "Ada", 8035550101},
		[]any{2, 2348035550102, -20, 1.5, 7, 46151.5, 0.75, 0.25, 2.25, "Bola", 8035550102},
		[]any{3, 2348035550103, 0, 0.005, 0, 36526, 0, 100, 3, "Chidi", 8035550103})
	for i, code := range codes {
		if code == "" {
			continue
		}
		style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &code})
		column, err2 := excelize.ColumnNumberToName(i + 1)
		errs = append(errs, err, err2, f.SetCellStyle("Sheet1", column+"2", column+"4", style))
	}
	return errs
}

func fill1904(f *excelize.File) []error {
	yes, code := true, "d mmmm yyyy"
	style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &code})
	errs := append(put(f, "Sheet1", []any{"phone", "day"}, []any{"08035550101", 44688}, []any{"08035550102", 0}), err)
	return append(errs, f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &yes}), f.SetCellStyle("Sheet1", "B2", "B3", style))
}

func fillHidden(f *excelize.File) []error {
	_, err := f.NewSheet("Old")
	_, err2 := f.NewSheet("Notes")
	errs := append([]error{err, err2}, put(f, "Sheet1", []any{"phone", "name"}, []any{"08035550101", "Ada"}, []any{"08035550102", "Bola"},
		[]any{"08035550103", "Chidi"})...)
	errs = append(errs, put(f, "Old", []any{"phone"}, []any{"08035550109"})...)
	errs = append(errs, put(f, "Notes", []any{"Please send before Friday"})...)
	return append(errs, f.SetRowVisible("Sheet1", 3, false), f.SetSheetVisible("Old", false))
}
