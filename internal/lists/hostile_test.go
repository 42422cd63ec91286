package lists_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"

	"smsdesk/internal/desk"
	"smsdesk/internal/health"
	"smsdesk/internal/lists"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

// endless is a file that never ends.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "08031234567\n"[int(e.read+int64(i))%12]
	}
	e.read += int64(len(p))
	return len(p), nil
}

// broken is an upload that is cut off.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func wide(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// archive is a ZIP container of one entry of that many letters.
func archive(t *testing.T, name string, letters int) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for entry, content := range map[string]string{"xl/workbook.xml": `<workbook><sheets><sheet name="a" r:id="r"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="r" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`} {
		w, err := z.Create(entry)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(w, zeros{}, int64(letters)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func book(t *testing.T, rows ...[]any) string {
	t.Helper()
	f := excelize.NewFile()
	for i, r := range rows {
		if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &r); err != nil {
			t.Fatal(err)
		}
	}
	b, err := f.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const unreadable = "We cannot read this file. Open it in Excel, choose Save As, choose CSV UTF-8, and upload that file"

// TestHostileFiles: each has its sentence (ux 2.4), and nothing of it is left.
func TestHostileFiles(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	ole := "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 504)
	for name, c := range map[string]struct {
		order lists.UploadOrder
		body  io.Reader
		want  string
	}{
		"over the limit": {lists.UploadOrder{Most: 10 << 20}, &endless{},
			"The selected file must be smaller than 10MB. Yours is larger. Remove sheets, pictures and columns you do not need"},
		"announced as too large": {lists.UploadOrder{Size: 310 << 20}, broken{},
			"The selected file must be smaller than 256MB. Yours is 310MB. Remove sheets, pictures and columns you do not need"},
		"empty":       {lists.UploadOrder{}, strings.NewReader(""), "The selected file is empty"},
		"only blanks": {lists.UploadOrder{}, strings.NewReader(" \r\n\r\n"), "The selected file is empty"},
		"only names":  {lists.UploadOrder{}, strings.NewReader("phone,name\r\n"), "The selected file has column names but no rows. Add at least one row"},
		"PDF named .csv": {lists.UploadOrder{FileName: "a.csv"}, strings.NewReader("%PDF-1.7\n%âãÏÓ\n1 0 obj\n"),
			"The selected file must be a CSV, TSV, TXT, XLSX or ODS. Yours is a PDF"},
		"picture": {lists.UploadOrder{}, strings.NewReader("\x89PNG\r\n\x1a\n"),
			"The selected file must be a CSV, TSV, TXT, XLSX or ODS. Yours is a picture"},
		"old Excel": {lists.UploadOrder{}, strings.NewReader(ole),
			"The selected file must be a CSV, TSV, TXT, XLSX or ODS. Yours is an old Excel file (XLS). Open it in Excel, choose " +
				"Save As, choose Excel Workbook (.xlsx), and upload that file"},
		"encrypted book": {lists.UploadOrder{}, strings.NewReader(ole + wide("EncryptedPackage")),
			"The selected file is password protected. Remove the password and upload it again"},
		"zip bomb": {lists.UploadOrder{}, strings.NewReader(archive(t, "xl/worksheets/sheet1.xml", 140<<20)),
			"Each part of the selected file must be smaller than 128MB when opened. Yours has one of 140MB. Remove sheets, pictures and columns you do not need"},
		"zip slip": {lists.UploadOrder{}, strings.NewReader(archive(t, "../../../etc/passwd", 10)), unreadable},
		"other archive": {lists.UploadOrder{},
			strings.NewReader(strings.ReplaceAll(archive(t, "list.csv", 10), "xl/", "xx/")),
			"The selected file must be a CSV, TSV, TXT, XLSX or ODS. Yours is a ZIP archive. Unzip it and upload the file inside"},
		"damaged book": {lists.UploadOrder{}, strings.NewReader("PK\x03\x04" + strings.Repeat("x", 4000)), unreadable},
		"10,000 columns": {lists.UploadOrder{},
			strings.NewReader(strings.Repeat("phone,", 9999) + "x\n" + strings.Repeat("1,", 9999) + "2\n"),
			"The selected file has 10,000 columns. The limit is 1,000. Remove the columns you do not need"},
		"binary that is no format": {lists.UploadOrder{}, strings.NewReader(strings.Repeat("\x01\x02\x03\x04\x00\x05", 1000)), unreadable},
		"connection cut":           {lists.UploadOrder{}, io.MultiReader(strings.NewReader("phone\n0803"), broken{}), ""},
	} {
		c.order.AccountID, c.order.Token = r.Account.ID, desk.NewToken()
		_, err := r.Desk.UploadList(r.Ctx, r.By, c.order, c.body)
		var bad sms.Invalid
		errors.As(err, &bad)
		if err == nil || bad["file"] != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if large := strings.Contains(c.want, "must be smaller than 10MB") ||
			c.order.Size > 0; errors.Is(err, sms.ErrTooLarge) != large {
			t.Errorf("%s: %v", name, err)
		}
		if left := r.leftovers(); len(left) > 0 {
			t.Errorf("%s left %v", name, left)
		}
	}
	if err := r.DB.PutSetting(r.Ctx, sms.SettingMaxList, "100"); err != nil {
		t.Fatal(err)
	}
	_, err := r.Desk.UploadList(r.Ctx, r.By, lists.UploadOrder{AccountID: r.Account.ID, Token: desk.NewToken()},
		&endless{})
	if !errors.Is(err, sms.ErrTooLarge) {
		t.Errorf("the setting is not honoured: %v", err)
	}
}

// TestOddFilesAreReadRowByRow: what is wrong is said of the row that it is in.
func TestOddFilesAreReadRowByRow(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	for name, c := range map[string]struct {
		content string
		good    int64
		bad     []string
	}{
		"UTF-16LE with a mark":      {"\xff\xfe" + wide("phone,message\r\n08031234567,Ọjọ́ dára\r\n"), 1, nil},
		"UTF-16LE without a mark":   {wide("phone,message\r\n08031234567,Hello to you all\r\n"), 1, nil},
		"mark before a quoted name": {"\ufeff\"phone\",\"message\"\r\n08031234567,Hello\r\n", 1, nil},
		"Windows-1252":              {"phone,message\n08031234567,caf\xe9 d\xe9j\xe0\n", 1, nil},
		"one bad byte": {"phone,message\n08031234567,Ọjọ́ dára púpọ̀\n08031234568,b\xe9\n", 1,
			[]string{"3 unreadable -1 Has characters that are not valid UTF-8. Choose another encoding or retype the row"}},
		"NUL": {"phone,message\n08031234567,a\x00b\n08031234568,Hello\n", 1,
			[]string{"2 unreadable -1 Has a hidden character that cannot be read (NUL). Delete it or retype the row"}},
		"quote that never closes": {"phone,message\n08031234567,\"Hello\n08031234568,Hello\n", 1,
			[]string{`2 unreadable -1 Has an opening quotation mark (") with no closing one. Add or delete it`}},
		"line break in a text": {"phone,message\n08031234567,\"Hello\nyou\"\n", 1, nil},
		"line break in a number": {"phone,message\n\"0803\n1234567\",Hello\n08031234568,Hello\n", 1,
			[]string{"2 number 0 Number has a line break. Put it on one line"}},
		"ragged":                   {"phone,message\n08031234567\n08031234568,Hello,more,and more\n", 1, []string{"2 missing 1 Missing: enter a message"}},
		"formulas are data":        {"phone,message\n08031234567,\"=1+1\"\n08031234568,@SUM(A1)\n", 2, nil},
		"pairs":                    {"08031234567^Hello~08031234568^You", 2, nil},
		"number typed as a number": {book(t, []any{"phone", "message"}, []any{2348031234567, "Hello"}, []any{8031234568, "Hello"}), 2, nil},
		"numbers that Excel shortened": {"phone,message\n2.34803E+12,Hello\n", 0,
			[]string{"2 number 0 Excel has shortened this number (2.34803E+12), so its last digits are lost. Set the column to Text and re-enter the number"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := *r
			r.T = t
			l := r.upload(name, c.content)
			l = r.checked(l, order(l, ""))
			if l.State != sms.ListMade && l.State != sms.ListChecked || l.Tally.Good != c.good ||
				fmt.Sprint(r.notes(l.UID)) != fmt.Sprint(c.bad) {
				t.Errorf("%s %s %+v %q", l.State, l.Problem, l.Tally, r.notes(l.UID))
			}
		})
	}
}

// TestAFileThatTurnsOutBadFails: what the first look cannot see is said after
// the check.
func TestAFileThatTurnsOutBadFails(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	var long strings.Builder
	long.WriteString("phone\n")
	for i := range 1_048_576 {
		fmt.Fprintf(&long, "%011d\n", 8030000000+i)
	}
	l := r.upload("rows.csv", long.String())
	l = r.checked(l, order(l, "Hello"))
	if l.State != sms.ListFailed ||
		l.Problem != "The selected file has 1,048,576 rows. The limit is 1,000,000. Split it into two files" {
		t.Errorf("%s %q", l.State, l.Problem)
	}
	torn := book(t, []any{"phone"}, []any{"08031234567"}, []any{"08031234568"})
	at := strings.Index(torn, "xl/worksheets/sheet1.xml") + 200
	l, err := r.Desk.UploadList(r.Ctx, r.By, lists.UploadOrder{AccountID: r.Account.ID, Token: desk.NewToken()},
		strings.NewReader(torn[:at]+"xxxx"+torn[at+4:]))
	if err == nil {
		l = r.checked(l, order(l, "Hello"))
	}
	if err != nil && sms.Sentence(err, "file") != unreadable || err == nil &&
		(l.State != sms.ListFailed || l.Problem != unreadable) {
		t.Errorf("%v %s %q", err, l.State, l.Problem)
	}
}

func TestFileNamesAreOnlyShown(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	for raw, want := range map[string]string{
		"../../etc/passwd": "passwd", `C:\lists\june.csv`: "june.csv", "": "list", "..": "list", "/": "list", "a\x00b\r\nc.csv": "abc.csv",
		"\u202egpj.exe": "gpj.exe", "<script>alert(1)<": "<script>alert(1)<", strings.Repeat("ọ", 300) +
			".csv": strings.Repeat("ọ", 99) + "…", "$(reboot).csv": "$(reboot).csv",
	} {
		l := r.upload(raw, "phone\n08031234567\n")
		if l.FileName != want {
			t.Errorf("%q is shown as %q", raw, l.FileName)
		}
		files, err := os.ReadDir(r.DB.ListFolder(l.UID))
		if err != nil || len(files) != 1 || files[0].Name() != "upload" || strings.Trim(l.UID, "0123456789abcdef") != "" {
			t.Errorf("%q: %v %v", raw, files, err)
		}
	}
}

// full is a store whose disk is almost full.
type full struct{ lists.Store }

func (full) FreeSpace() (int64, error) { return 1<<30 - 1, nil }

func TestAFullDiskTakesNoList(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	_, err := r.listsOn(full{r.DB}).UploadList(r.Ctx, r.By,
		lists.UploadOrder{AccountID: r.Account.ID, Token: desk.NewToken()}, broken{})
	if sms.Sentence(err,
		"file") != "We cannot accept uploads because the disk is almost full. Ask an administrator to free up space" {
		t.Error(err)
	}
}

// TestDamagedRowsAreCheckedAgain: staged rows are not synced, so a power cut
// can take some. Nothing is ever made of what is left.
func TestDamagedRowsAreCheckedAgain(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"gone":    os.Remove,
		"cut off": func(path string) error { return os.Truncate(path, 9000) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"zeroed": func(path string) error {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt(make([]byte, 9000), 26_000)
			return errors.Join(err, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newKit(t, sandbox.Config{}, nil)
			var content strings.Builder
			content.WriteString("phone\n0803\n")
			for i := range 2000 {
				fmt.Fprintf(&content, "%011d\n", 8030000000+i)
			}
			ctx, stop := context.WithCancel(r.Ctx)
			done := make(chan error, 1)
			go func() { done <- lists.NewImporter(r.Desk.Lists, r.DB).Run(ctx) }()
			l := r.upload("a.csv", content.String())
			l = r.checked(l, order(l, "Hello"))
			if l.State != sms.ListChecked || l.Tally.Good != 2000 {
				t.Fatalf("%+v", l)
			}
			stop()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if err := damage(filepath.Join(r.DB.ListFolder(l.UID), "rows.db")); err != nil {
				t.Fatal(err)
			}
			_, err := r.Desk.MakeCampaign(r.Ctx, r.By, l.UID, l.Version, lists.MakeOrder{LeaveOut: true})
			if err != nil {
				t.Fatal(err)
			}
			r.importer()
			l = r.settled(l.UID)
			if l.State != sms.ListChecked || l.Tally.Good != 2000 || len(r.notes(l.UID)) != 1 {
				t.Fatalf("%s %+v", l.State, l.Tally)
			}
			if l = r.made(l, lists.MakeOrder{LeaveOut: true}); l.State != sms.ListMade ||
				len(r.listMessages(l.CampaignID)) != 2001 {
				t.Errorf("%+v", l)
			}
		})
	}
}

// TestAListWithoutItsFileSaysSo: a backup need not hold the uploaded files. Nothing else is kept from its work.
func TestAListWithoutItsFileSaysSo(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	lost, other := r.upload("a.csv", "phone\n08030000001\n"), r.upload("b.csv", "phone\n08030000002\n")
	if err := r.DB.DropUpload(lost.UID); err != nil {
		t.Fatal(err)
	}
	r.importer()
	for _, l := range []sms.List{lost, other} {
		if _, err := r.Desk.CheckList(r.Ctx, r.By, l.UID, l.Version, order(l, "Hello")); err != nil {
			t.Fatal(err)
		}
	}
	if l := r.settled(lost.UID); l.State != sms.ListFailed ||
		l.Problem != "The file is not in this backup. Upload it again" {
		t.Errorf("%s: %q", l.State, l.Problem)
	}
	if l := r.settled(other.UID); l.State != sms.ListMade {
		t.Errorf("the list beside it is %s: %q", l.State, l.Problem)
	}
}

// TestWhatIsNotUsedIsForgotten moves the clock.
func TestWhatIsNotUsedIsForgotten(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	ahead := time.Duration(0)
	now := func() time.Time { return time.Now().Add(ahead) }
	r.Desk = rig.StaffOn(r.DB, r.Orders(), r.Feed, slog.New(slog.DiscardHandler), now)
	run := func() {
		ctx, stop := context.WithCancel(r.Ctx)
		done := make(chan error, 1)
		go func() { done <- lists.NewImporter(r.Desk.Lists, r.DB).Run(ctx) }()
		time.Sleep(100 * time.Millisecond)
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	unused := r.upload("a.csv", "phone\n08031234567\n")
	used := r.upload("b.csv", "phone\n08031234567\n")
	if _, err := r.Desk.CheckList(r.Ctx, r.By, used.UID, used.Version, order(used, "Hello")); err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(filepath.Dir(r.DB.ListFolder("x")), "feedbeef")
	if err := os.Mkdir(stray, 0o700); err != nil {
		t.Fatal(err)
	}
	exists := func(path ...string) bool {
		_, err := os.Stat(filepath.Join(path...))
		return err == nil
	}
	run()
	if used = r.settled(used.UID); used.State != sms.ListMade || !exists(stray) {
		t.Fatalf("%+v", used)
	}
	ahead = 23 * time.Hour
	run()
	if _, err := r.DB.List(r.Ctx, unused.UID); err != nil || !exists(r.DB.ListFolder(unused.UID), "upload") ||
		exists(stray) {
		t.Errorf("after 23 hours: %v, the stray folder is there: %v", err, exists(stray))
	}
	ahead = 25 * time.Hour
	run()
	if _, err := r.DB.List(r.Ctx, unused.UID); !errors.Is(err, sms.ErrNotFound) || exists(r.DB.ListFolder(unused.UID)) {
		t.Errorf("after 25 hours the unused list is still there: %v", err)
	}
	if folder := r.DB.ListFolder(used.UID); !exists(folder, "upload") || exists(folder, "rows.db") {
		t.Error("of a used list the file is kept and the staged rows are not")
	}
	ahead = 31 * 24 * time.Hour
	run()
	if l, err := r.DB.List(r.Ctx, used.UID); err != nil || l.State != sms.ListMade || exists(r.DB.ListFolder(used.UID)) {
		t.Errorf("after a month: %v", err)
	}
}

// TestAnImportLeavesNothingHalf: a list is dropped while it is made.
func TestAnImportLeavesNothingHalf(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	var content strings.Builder
	content.WriteString("phone\n")
	for i := range 20_000 {
		fmt.Fprintf(&content, "%011d\n", 8030000000+i)
	}
	l := r.upload("a.csv", content.String())
	if _, err := r.Desk.CheckList(r.Ctx, r.By, l.UID, l.Version, order(l, "Hello")); err != nil {
		t.Fatal(err)
	}
	r.importer()
	for l.State != sms.ListMaking {
		var err error
		if l, err = r.DB.List(r.Ctx, l.UID); err != nil || l.State == sms.ListMade {
			t.Fatalf("%+v %v", l, err)
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	if err := r.Desk.DropList(r.Ctx, r.By, l.UID); err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		var err error
		if more, err = r.DB.DeleteAbandonedImports(r.Ctx, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	if list, _, err := r.DB.Campaigns(r.Ctx, sms.CampaignFilter{AccountID: r.Account.ID, Limit: 10}); err != nil ||
		len(list) != 0 || len(r.leftovers()) != 0 {
		t.Errorf("%v %v %v", list, err, r.leftovers())
	}
}

// unstaged cannot write the rows of lists for the first few times.
type unstaged struct {
	*storage.DB
	left atomic.Int64
}

func (u *unstaged) WriteStaging(ctx context.Context, uid string,
	fill func(func([]sms.ListRow, []sms.RowNote) error) error) (int64, error) {
	if u.left.Add(-1) >= 0 {
		return 0, fmt.Errorf("stage the rows: %w", health.Troubled{Trouble: health.TroubleFull,
			Err: errors.New("database or disk is full")})
	}
	return u.DB.WriteStaging(ctx, uid, fill)
}

// TestAListWaitsForTheDisk and is not given up: its file need not be uploaded
// again because a disk was full for a while.
func TestAListWaitsForTheDisk(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	store := &unstaged{DB: r.DB}
	store.left.Store(4)
	l := r.upload("people.csv", "Phone,Name\n0803 000 0001,Ada\n0803 000 0002,Ben\n")
	r.importerOn(store)
	if l = r.checked(l, order(l, "Hello")); l.State == sms.ListFailed || store.left.Load() >= 0 {
		t.Errorf("the list is %s: %s; %d tries were left", l.State, l.Problem, store.left.Load())
	}
}
