package lists

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/feed"
	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

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

// UploadList stores a file as a list of the person and finds out how it is
// read. The field of its Invalid is file. A file over the limit is also
// sms.ErrTooLarge. Whatever is refused leaves nothing behind.
func (d *Lists) UploadList(ctx context.Context, by sms.User, o UploadOrder, body io.Reader) (sms.List, error) {
	if err := by.May(sms.Sender, "upload list"); err != nil {
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
	l := sms.List{UID: uid, AccountID: o.AccountID, Purpose: o.Purpose, FileName: sms.ShownFileName(o.FileName),
		CreatedBy: by.ID, CreatedName: by.Name}
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
func (d *Lists) takeIn(ctx context.Context, by sms.User, account sms.Account, l sms.List,
	o UploadOrder) (sms.List, error) {
	reading := sms.ListReading{}
	if o.Reading != nil {
		reading = *o.Reading
	}
	profile, rows, err := d.detectFile(ctx, account, l, reading, countTimeout)
	if err != nil {
		return sms.List{}, err
	}
	l.Reading, l.HeaderKey, l.Total = readingOf(profile), headerKey(l, profile), rows
	l.Reading.Audience, l.Reading.Series, l.Reading.SeriesRun = reading.Audience, reading.Series, reading.SeriesRun
	if l.Order, err = d.proposed(ctx, account, l, profile); err != nil {
		return sms.List{}, err
	}
	var old sms.List
	if o.Replaces != "" {
		old, err = d.ownList(ctx, by, o.Replaces)
		switch {
		case err == nil && old.AccountID == l.AccountID && old.Purpose == l.Purpose:
			l.Order = carryOver(old, l)
		case err != nil && !errors.Is(err, sms.ErrNotFound):
			return sms.List{}, err
		}
	}
	made, created, err := d.store.CreateList(ctx, l, o.Token, d.ms())
	if err == nil && created {
		d.audit(ctx, by, "list.upload", feed.List(made.UID),
			fmt.Sprintf("%s, %s bytes", made.FileName, humanize.Comma(made.Size)))
		if len(old.Reading.Added) > 0 && old.State != sms.ListMade && old.Purpose == l.Purpose {
			return d.TakeSources(ctx, by, made.UID, old.UID)
		}
	}
	return made, err
}

func ownUpload(l sms.List, by sms.User, err error) (sms.List, error) {
	if err == nil && l.CreatedBy != by.ID {
		return sms.List{}, fmt.Errorf("upload list: %w: the form was used by somebody else", sms.ErrConflict)
	}
	return l, err
}

func (d *Lists) uploadMost(ctx context.Context, most int64) (int64, error) {
	if most > 0 {
		return most, nil
	}
	set, err := d.store.ReadSetting(ctx, sms.SettingMaxList)
	if err != nil {
		return 0, err
	}
	if n, err := strconv.ParseInt(set, 10, 64); err == nil && n > 0 {
		return n, nil
	}
	return sms.MaxListBytes, nil
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

func (d *Lists) roomFor(size int64) error {
	free, err := d.store.FreeSpace()
	if err != nil {
		return err
	}
	if free-size < MinFreeSpace {
		return sms.Invalid{"file": "We cannot accept uploads because the disk is almost full. Ask an administrator to free up space"}
	}
	return nil
}

func newUID() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// MinFreeSpace is what the disk must still take beside a list, in bytes.
const MinFreeSpace = 1 << 30

// nameFromFile proposes a campaign's name.
func nameFromFile(file string) string {
	name := strings.TrimSpace(strings.TrimSuffix(file, path.Ext(file)))
	if name == "" {
		return file
	}
	return name
}
