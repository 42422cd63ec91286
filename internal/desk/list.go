package desk

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

type listStore interface {
	CreateList(ctx context.Context, l sms.List, token string, now int64) (made sms.List, created bool, err error)
	List(ctx context.Context, uid string) (sms.List, error)
	ListByToken(ctx context.Context, token string) (sms.List, error)
	UpdateList(ctx context.Context, uid string, now int64, change func(*sms.List) error) (sms.List, error)
	DeleteList(ctx context.Context, l sms.List) error
	ListMapping(ctx context.Context, account int64, headerKey string) (sms.ListOrder, error)
	PutListMapping(ctx context.Context, account int64, headerKey string, o sms.ListOrder, now int64) error
	ListNotes(ctx context.Context, uid string, f sms.RowFilter) (list []sms.RowNote, more bool, err error)
	ListFolder(uid string) string
	KeepUpload(uid string, body io.Reader, most int64) (size int64, hash string, err error)
	Upload(uid string) (sms.File, error)
	DropUpload(uid string) error
	FreeSpace() (int64, error)
	Setting(ctx context.Context, name string) (string, error)
}

// UploadOrder is a file that a person gives.
type UploadOrder struct {
	AccountID int64
	Purpose   sms.ListPurpose
	FileName  string // as given; only ever shown
	Token     string // one-use: the same token gives the same list
	Size      int64  // as announced, for the sentence about files that are too large; 0: not known
	Reading   *sms.ListReading
	Replaces  string // UID of a list of the same person whose order is kept, ""
	Most      int64  // largest size in bytes; 0: as set
}

// MakeOrder says what a person decided about a checked list.
type MakeOrder struct {
	LeaveOut bool // the bad rows
	Again    bool // although it looks like an earlier campaign
}

const (
	// leastFree is what the disk must still take beside a list (S-20).
	leastFree = 1 << 30
	// sniffMost is how long a page waits for a file to be opened; a workbook
	// at its limits takes seconds.
	sniffMost = 20 * time.Second
	// countMost is how long the rows of a new list may be counted.
	countMost = 250 * time.Millisecond
	// importName is what the Importer listens to.
	importName = "import"
)

// ListName names one uploaded list.
func ListName(uid string) string { return "list:" + uid }

// UploadList stores a file as a list of the person and finds out how it is
// read. The field of its Invalid is file. A file over the limit is also
// sms.ErrTooLarge. Whatever is refused leaves nothing behind.
func (d *Desk) UploadList(ctx context.Context, by sms.User, o UploadOrder, body io.Reader) (sms.List, error) {
	if err := may(by, sms.Sender, "upload list"); err != nil {
		return sms.List{}, err
	}
	account, err := d.store.Account(ctx, o.AccountID)
	if err != nil {
		return sms.List{}, err
	}
	if len(o.Token) < 32 || len(o.Token) > 128 {
		return sms.List{}, fmt.Errorf("upload list: %w: the form is not one of ours", sms.ErrConflict)
	}
	if made, err := d.store.ListByToken(ctx, o.Token); !errors.Is(err, sms.ErrNotFound) {
		return ownUpload(made, by, err)
	}
	most, err := d.uploadMost(ctx, o.Most)
	if err != nil {
		return sms.List{}, err
	}
	if o.Size > most {
		return sms.List{}, tooLarge(o.Size, most)
	}
	if err := d.roomFor(max(o.Size, 0)); err != nil {
		return sms.List{}, err
	}
	uid := newUID()
	l := sms.List{UID: uid, AccountID: o.AccountID, Purpose: o.Purpose, FileName: shownFileName(o.FileName), CreatedBy: by.ID, CreatedName: by.Name}
	if l.Size, l.Hash, err = d.store.KeepUpload(uid, body, most); err != nil {
		if errors.Is(err, sms.ErrTooLarge) {
			return sms.List{}, tooLarge(0, most)
		}
		return sms.List{}, err
	}
	made, err := d.takeIn(ctx, by, account, l, o)
	if err != nil || made.UID != uid {
		err = errors.Join(err, d.store.DropUpload(uid))
	}
	if err != nil {
		return sms.List{}, err
	}
	return ownUpload(made, by, nil)
}

// takeIn reads the beginning of a stored file and makes it a list.
func (d *Desk) takeIn(ctx context.Context, by sms.User, account sms.Account, l sms.List, o UploadOrder) (sms.List, error) {
	reading := sms.ListReading{}
	if o.Reading != nil {
		reading = *o.Reading
	}
	profile, rows, err := d.sniff(ctx, account, l, reading, countMost)
	if err != nil {
		return sms.List{}, err
	}
	l.Reading, l.HeaderKey, l.Total = readingOf(profile), headerKey(l, profile), rows
	if l.Order, err = d.proposed(ctx, account, l, profile); err != nil {
		return sms.List{}, err
	}
	if o.Replaces != "" {
		old, err := d.ownList(ctx, by, o.Replaces)
		switch {
		case err == nil && old.AccountID == l.AccountID && old.Purpose == l.Purpose:
			l.Order = carryOver(old, l)
		case err != nil && !errors.Is(err, sms.ErrNotFound):
			return sms.List{}, err
		}
	}
	made, created, err := d.store.CreateList(ctx, l, o.Token, d.ms())
	if err == nil && created {
		d.audit(ctx, by, "list.upload", ListName(made.UID), fmt.Sprintf("%s, %s bytes", made.FileName, humanize.Comma(made.Size)))
	}
	return made, err
}

// headerKey tells lists with the same columns and the same purpose.
func headerKey(l sms.List, p sheet.Profile) string {
	key := sheet.HeaderKey(p.Header)
	if key != "" && l.Purpose == sms.ForContacts {
		key = "contacts " + key
	}
	return key
}

func ownUpload(l sms.List, by sms.User, err error) (sms.List, error) {
	if err == nil && l.CreatedBy != by.ID {
		return sms.List{}, fmt.Errorf("upload list: %w: the form was used by somebody else", sms.ErrConflict)
	}
	return l, err
}

func (d *Desk) uploadMost(ctx context.Context, most int64) (int64, error) {
	if most > 0 {
		return most, nil
	}
	set, err := d.store.Setting(ctx, sms.SettingListMost)
	if err != nil {
		return 0, err
	}
	if n, err := strconv.ParseInt(set, 10, 64); err == nil && n > 0 {
		return n, nil
	}
	return sms.ListMost, nil
}

// tooLarge is the refusal of a file of size bytes; 0: its size is not known,
// as it was cut off at the limit.
func tooLarge(size, most int64) error {
	var bad sms.Invalid
	if !errors.As(sheet.CheckSize(max(size, most+1), most), &bad) {
		bad = sms.Invalid{}
	}
	if size == 0 {
		bad["file"] = sheet.OverSize(most)
	}
	return fmt.Errorf("upload list: %w: %w", sms.ErrTooLarge, bad)
}

func (d *Desk) roomFor(size int64) error {
	free, err := d.store.FreeSpace()
	if err != nil {
		return err
	}
	if free-size < leastFree {
		return sms.Invalid{"file": "The disk of this system is almost full, so no list can be taken in. Ask an administrator to make room"}
	}
	return nil
}

func newUID() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

const fileNameMost = 100 // runes

// shownFileName keeps of a file's name what can be shown: no folders, nothing
// that cannot be seen or turns the text round.
func shownFileName(raw string) string {
	name := path.Base(strings.ReplaceAll(strings.ToValidUTF8(raw, "�"), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	if runes := []rune(name); len(runes) > fileNameMost {
		name = string(runes[:fileNameMost-1]) + "…"
	}
	if name == "" || name == "." || name == "/" || name == ".." {
		return "list"
	}
	return name
}

// nameFromFile proposes a campaign's name.
func nameFromFile(file string) string {
	name := strings.TrimSpace(strings.TrimSuffix(file, path.Ext(file)))
	if name == "" {
		return file
	}
	return name
}

func (d *Desk) ownList(ctx context.Context, by sms.User, uid string) (sms.List, error) {
	l, err := d.store.List(ctx, uid)
	if err == nil && l.CreatedBy != by.ID {
		return sms.List{}, fmt.Errorf("list of somebody else: %w", sms.ErrNotFound)
	}
	return l, err
}

// sniff opens a list's file far enough to say how it is read. Rows are counted
// as long as count; 0: that was not long enough.
func (d *Desk) sniff(ctx context.Context, account sms.Account, l sms.List, r sms.ListReading, count time.Duration) (sheet.Profile, int64, error) {
	type answer struct {
		profile sheet.Profile
		rows    int64
		err     error
	}
	done := make(chan answer, 1)
	go func() {
		reader, closer, err := d.openList(account, l, r)
		if err != nil {
			done <- answer{err: err}
			return
		}
		a := answer{profile: reader.Profile(), rows: countRows(reader, count)}
		a.err = errors.Join(reader.Close(), closer.Close())
		done <- a
	}()
	timer := time.NewTimer(sniffMost)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.profile, a.rows, a.err
	case <-timer.C:
		return sheet.Profile{}, 0, sms.Invalid{"file": "This file takes too long to open. Remove sheets, pictures and columns you do not need"}
	case <-ctx.Done():
		return sheet.Profile{}, 0, ctx.Err()
	}
}

// countRows counts the rows unless that takes longer than most. What is wrong
// with them is for the check to say.
func countRows(reader *sheet.Reader, most time.Duration) int64 {
	for began := time.Now(); time.Since(began) < most; {
		for range rowsAtOnce {
			if _, err := reader.Next(); err == io.EOF {
				return int64(reader.Tally().Rows)
			} else if err != nil {
				return 0
			}
		}
	}
	return 0
}

// openList opens a list's file. The closer is that of the file.
func (d *Desk) openList(account sms.Account, l sms.List, r sms.ListReading) (*sheet.Reader, io.Closer, error) {
	file, err := d.store.Upload(l.UID)
	if err != nil {
		return nil, nil, err
	}
	o := sheet.Options{Encoding: sheet.Encoding(r.Encoding), HeaderRow: r.HeaderRow, Sheet: r.Sheet, IncludeHidden: r.Hidden, Country: account.Country,
		TempDir: d.store.ListFolder(l.UID)}
	o.Delimiter, _ = utf8.DecodeRuneInString(r.Delimiter)
	if r.Delimiter == "" {
		o.Delimiter = 0
	}
	reader, err := sheet.Open(file, l.Size, o)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return reader, file, nil
}

func readingOf(p sheet.Profile) sms.ListReading {
	r := sms.ListReading{Kind: string(p.Kind), Encoding: string(p.Options.Encoding), HeaderRow: p.Options.HeaderRow, Sheet: p.Options.Sheet,
		Hidden: p.Options.IncludeHidden, Columns: p.Columns}
	if p.Options.Delimiter != 0 {
		r.Delimiter = string(p.Options.Delimiter)
	}
	return r
}

// ReadList reads a list in another way. The fields of its Invalid are file,
// encoding, delimiter, header and sheet. What was chosen about columns is
// proposed anew.
func (d *Desk) ReadList(ctx context.Context, by sms.User, uid string, r sms.ListReading) (sms.List, error) {
	if err := may(by, sms.Sender, "read list"); err != nil {
		return sms.List{}, err
	}
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	account, err := d.store.Account(ctx, l.AccountID)
	if err != nil {
		return l, err
	}
	profile, rows, err := d.sniff(ctx, account, l, r, countMost)
	if err != nil {
		return l, err
	}
	fresh := l
	fresh.Reading, fresh.HeaderKey = readingOf(profile), headerKey(l, profile)
	if fresh.Order, err = d.proposed(ctx, account, fresh, profile); err != nil {
		return l, err
	}
	fresh.Order = carryOver(l, fresh)
	return d.changeList(ctx, l, func(now *sms.List) error {
		if now.Version != l.Version || !editable(now.State) {
			return sms.ErrConflict
		}
		now.Reading, now.HeaderKey, now.Order = fresh.Reading, fresh.HeaderKey, fresh.Order
		now.State, now.Problem, now.Tally, now.Sum, now.Done, now.Total, now.Again = sms.ListUploaded, "", sms.ListTally{}, 0, 0, rows, false
		return nil
	})
}

func editable(s sms.ListState) bool {
	return s == sms.ListUploaded || s == sms.ListChecked || s == sms.ListFailed
}

func (d *Desk) changeList(ctx context.Context, l sms.List, change func(*sms.List) error) (sms.List, error) {
	after, err := d.store.UpdateList(ctx, l.UID, d.ms(), change)
	if err != nil {
		return l, err
	}
	d.feed.Tell(ListName(l.UID), importName)
	return after, nil
}

// ListProfile reads how a list begins, and proposes what to make of it.
func (d *Desk) ListProfile(ctx context.Context, by sms.User, uid string) (sms.List, sheet.Profile, error) {
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return l, sheet.Profile{}, err
	}
	if p, ok := d.profiles.find(l); ok {
		return l, p, nil
	}
	account, err := d.store.Account(ctx, l.AccountID)
	if err != nil {
		return l, sheet.Profile{}, err
	}
	p, _, err := d.sniff(ctx, account, l, l.Reading, 0)
	if err == nil {
		d.profiles.keep(l, p)
	}
	return l, p, err
}

// ProposeOrder is what was last chosen for lists with these column names, else
// a guess.
func (d *Desk) ProposeOrder(ctx context.Context, l sms.List, p sheet.Profile) (sms.ListOrder, error) {
	account, err := d.store.Account(ctx, l.AccountID)
	if err != nil {
		return sms.ListOrder{}, err
	}
	return d.proposed(ctx, account, l, p)
}

func (d *Desk) proposed(ctx context.Context, account sms.Account, l sms.List, p sheet.Profile) (sms.ListOrder, error) {
	guess := sheet.Guess(p.Header, p.Sample, account.Country)
	o := sms.ListOrder{Name: nameFromFile(l.FileName), SenderID: account.DefaultSender, Phone: guess.Phone, Message: guess.Message,
		Fields: map[string]int{}, Fixed: map[string]string{}}
	switch l.Purpose {
	case sms.ForContacts:
		o.Message, o.Fields = -1, contactFields(p.Columns, guess.Phone)
	case sms.ForAudience:
		o.Name, o.Message = l.FileName, -1
		// Written here, with the number first, whatever else looks like one.
		o.Phone = 0
	}
	if l.HeaderKey == "" {
		return o, nil
	}
	known, err := d.store.ListMapping(ctx, account.ID, l.HeaderKey)
	if errors.Is(err, sms.ErrNotFound) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	known.Name, known.Text, known.Template = o.Name, "", ""
	return known, nil
}

// carryOver is the order of an earlier list for a new one: columns are found
// again by their names.
func carryOver(old, fresh sms.List) sms.ListOrder {
	o := old.Order
	place := func(column int) int {
		if column < 0 || column >= len(old.Reading.Columns) {
			return -1
		}
		for i, name := range fresh.Reading.Columns {
			if sms.MarkKey(name) == sms.MarkKey(old.Reading.Columns[column]) {
				return i
			}
		}
		return -1
	}
	if o.Phone = place(o.Phone); o.Phone < 0 {
		o.Phone = fresh.Order.Phone
	}
	if o.Message >= 0 || o.Text == "" {
		if o.Message = place(o.Message); o.Message < 0 {
			o.Message = fresh.Order.Message
		}
	}
	o.Fields = map[string]int{}
	for key, column := range old.Order.Fields {
		if at := place(column); at >= 0 {
			o.Fields[key] = at
		}
	}
	o.Name = fresh.Order.Name
	return o
}

// PreviewList fills the text for the sample row at place row, counted from 0.
// missing names the marks that nothing fills in it.
func (d *Desk) PreviewList(ctx context.Context, by sms.User, uid string, o sms.ListOrder, row int) (text string, missing []string, err error) {
	_, p, err := d.ListProfile(ctx, by, uid)
	if err != nil {
		return "", nil, err
	}
	if row < 0 || row >= len(p.Sample) {
		return "", nil, fmt.Errorf("preview list: %w: there is no such row", sms.ErrNotFound)
	}
	f := newFilling(o)
	if d.stops != nil {
		f.link = d.stops.Sample
	}
	text, missing = f.preview(p.Sample[row].Cells)
	return text, missing, nil
}

// CheckList stores what is to be made of a list, remembers it for lists with
// the same column names, and has the rows checked. The fields of its Invalid
// are sender_id, text, name, phone, message and "field:" with the key of a
// mark. A second press is given the list as it is.
func (d *Desk) CheckList(ctx context.Context, by sms.User, uid string, version int64, o sms.ListOrder) (sms.List, error) {
	if err := may(by, sms.Sender, "check list"); err != nil {
		return sms.List{}, err
	}
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	account, err := d.store.Account(ctx, l.AccountID)
	if err != nil {
		return l, err
	}
	o = tidyOrder(o, l.FileName)
	if err := d.orderProblems(ctx, account, l, o); err != nil {
		return l, err
	}
	if l.Version != version {
		return pressedAgain(l, sameOrder(l.Order, o))
	}
	l, err = d.changeList(ctx, l, func(now *sms.List) error {
		if now.Version != version || !editable(now.State) {
			return sms.ErrConflict
		}
		now.Order, now.State, now.Problem = o, sms.ListChecking, ""
		now.Tally, now.Sum, now.Done, now.Again = sms.ListTally{}, 0, 0, false
		return nil
	})
	if errors.Is(err, sms.ErrConflict) {
		if l, err = d.ownList(ctx, by, uid); err == nil {
			return pressedAgain(l, sameOrder(l.Order, o))
		}
	}
	if err != nil || l.HeaderKey == "" {
		return l, err
	}
	return l, d.rememberOrder(ctx, l)
}

func (d *Desk) orderProblems(ctx context.Context, account sms.Account, l sms.List, o sms.ListOrder) error {
	if l.Purpose == sms.ForContacts {
		columns, err := d.store.ContactColumns(ctx, account.ID)
		return errors.Join(err, checkContactOrder(l, o, columns))
	}
	bad := checkOrder(account, l, o)
	if d.stops == nil && slices.ContainsFunc(sms.Marks(o.Text), sms.IsStopMark) {
		bad["text"] = "Links to stop messages need a public address of this desk. Ask an administrator, or take ##" + sms.StopMark + "## out"
	}
	if sentence, err := d.senderProblem(ctx, l.AccountID, o.SenderID); err != nil {
		return err
	} else if sentence != "" {
		bad["sender_id"] = sentence
	}
	return bad.Or()
}

// pressedAgain gives whoever pressed a button twice what the first press did.
func pressedAgain(l sms.List, same bool) (sms.List, error) {
	if same && !editable(l.State) || same && l.State == sms.ListChecked {
		return l, nil
	}
	return l, fmt.Errorf("list %s: %w", l.UID, sms.ErrConflict)
}

// rememberOrder keeps what is known of the columns, also of marks that this
// text does not use.
func (d *Desk) rememberOrder(ctx context.Context, l sms.List) error {
	o := l.Order
	known, err := d.store.ListMapping(ctx, l.AccountID, l.HeaderKey)
	if err != nil && !errors.Is(err, sms.ErrNotFound) {
		return err
	}
	fields := map[string]int{}
	for _, from := range []map[string]int{known.Fields, o.Fields} {
		for k, v := range from {
			fields[k] = v
		}
	}
	for k := range o.Fixed {
		delete(fields, k)
	}
	o.Fields, o.Name, o.Text, o.Template, o.Flash = fields, "", "", "", false
	return d.store.PutListMapping(ctx, l.AccountID, l.HeaderKey, o, d.ms())
}

// MakeCampaign has a campaign made of a checked list. Its Invalid has rows
// where bad rows are not to be left out, and again where it looks like an
// earlier campaign and the person did not say that it is meant. A second press
// is given the list as it is, and makes no second campaign.
func (d *Desk) MakeCampaign(ctx context.Context, by sms.User, uid string, version int64, m MakeOrder) (sms.List, error) {
	if err := may(by, sms.Sender, "make campaign"); err != nil {
		return sms.List{}, err
	}
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	if l.State == sms.ListMaking || l.State == sms.ListMade {
		return l, nil
	}
	if l.State != sms.ListChecked {
		return l, fmt.Errorf("make campaign: %w: the list is %s", sms.ErrConflict, l.State)
	}
	if err := mayMake(l.Tally, m); err != nil {
		return l, err
	}
	after, err := d.changeList(ctx, l, func(now *sms.List) error {
		if now.Version != version || now.State != sms.ListChecked {
			return sms.ErrConflict
		}
		now.State, now.Again, now.Done, now.Total = sms.ListMaking, m.Again && l.Tally.Same != nil, 0, l.Tally.Rows
		return nil
	})
	if errors.Is(err, sms.ErrConflict) {
		if l, err = d.ownList(ctx, by, uid); err == nil && (l.State == sms.ListMaking || l.State == sms.ListMade) {
			return l, nil
		}
		return l, errors.Join(err, fmt.Errorf("make campaign: %w", sms.ErrConflict))
	}
	return after, err
}

func mayMake(t sms.ListTally, m MakeOrder) error {
	bad := sms.Invalid{}
	switch n := t.Bad(); {
	case t.Good == 0:
		bad["rows"] = "None of the rows can be sent. Correct them and upload the list again"
	case n == 1 && !m.LeaveOut:
		bad["rows"] = "1 row has an error. Correct it and upload the list again, or leave it out"
	case n > 1 && !m.LeaveOut:
		bad["rows"] = humanize.Comma(n) + " rows have errors. Correct them and upload the list again, or leave them out"
	}
	if t.Same != nil && !m.Again {
		bad["again"] = fmt.Sprintf("This looks like the campaign %q. Say that you want to send it again", t.Same.Name)
	}
	return bad.Or()
}

// DropList forgets a list with its file, unless a campaign was made of it.
func (d *Desk) DropList(ctx context.Context, by sms.User, uid string) error {
	if err := may(by, sms.Sender, "drop list"); err != nil {
		return err
	}
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return err
	}
	if l.State == sms.ListMade {
		return fmt.Errorf("drop list: %w: a campaign was made of it", sms.ErrConflict)
	}
	if err := d.store.DeleteList(ctx, l); err != nil {
		return err
	}
	d.feed.Tell(ListName(uid), importName)
	return d.store.DropUpload(uid)
}

// RejectedRows gives the bad rows of a checked list as they stand in the file,
// for a download. The file is read again while the rows are taken.
func (d *Desk) RejectedRows(ctx context.Context, by sms.User, uid string) (sheet.Layout, iter.Seq2[sheet.Rejected, error], error) {
	if err := may(by, sms.Sender, "list rejected rows"); err != nil {
		return sheet.Layout{}, nil, err
	}
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return sheet.Layout{}, nil, err
	}
	if l.State != sms.ListChecked && l.State != sms.ListMaking && l.State != sms.ListMade {
		return sheet.Layout{}, nil, fmt.Errorf("list rejected rows: %w: the list is %s", sms.ErrConflict, l.State)
	}
	account, err := d.store.Account(ctx, l.AccountID)
	if err != nil {
		return sheet.Layout{}, nil, err
	}
	_, profile, err := d.ListProfile(ctx, by, uid)
	if err != nil {
		return sheet.Layout{}, nil, err
	}
	layout := sheet.Layout{Header: profile.Header, Columns: l.Tally.Columns}
	return layout, func(yield func(sheet.Rejected, error) bool) {
		reader, file, err := d.openList(account, l, l.Reading)
		if err != nil {
			yield(sheet.Rejected{}, err)
			return
		}
		defer func() { _ = errors.Join(reader.Close(), file.Close()) }()
		for n, err := range d.badRows(ctx, uid) {
			var row sheet.Row
			for err == nil && row.Number < int(n.Row) {
				row, err = reader.Next()
			}
			if err == nil && row.Number > int(n.Row) {
				err = fmt.Errorf("row %d of list %s: %w", n.Row, uid, sms.ErrNotFound)
			}
			if !yield(sheet.Rejected{Row: row, Fix: n.Text}, err) || err != nil {
				return
			}
		}
	}, nil
}

const notesAtOnce = 1000

func (d *Desk) badRows(ctx context.Context, uid string) iter.Seq2[sms.RowNote, error] {
	return func(yield func(sms.RowNote, error) bool) {
		f := sms.RowFilter{Limit: notesAtOnce}
		for {
			notes, more, err := d.store.ListNotes(ctx, uid, f)
			if err != nil {
				yield(sms.RowNote{}, err)
				return
			}
			for _, n := range notes {
				if !yield(n, nil) {
					return
				}
				f.After = n.Row
			}
			if !more {
				return
			}
		}
	}
}
