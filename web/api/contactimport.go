package api

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/desk"
	"smsdesk/internal/lists"
	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// importMost bounds contacts in JSON, which are in memory at once. A file may be
// larger.
const importMost = 4 << 20

// importOrder asks for contacts to be added and changed.
type importOrder struct {
	Account     string          `json:"account"`
	Tags        []string        `json:"tags"` // for all of them
	SkipBad     bool            `json:"skipBad"`
	Contacts    []importContact `json:"contacts"`
	PhoneColumn string          `json:"-"` // what follows is for a file
	Columns     []string        `json:"-"` // those that are kept; nil: all
	Sheet       string          `json:"-"`
	Hidden      bool            `json:"-"`
}

type importContact struct {
	Phone  string            `json:"phone"`
	Name   string            `json:"name"`
	Fields map[string]string `json:"fields"`
	Tags   []string          `json:"tags"`
}

// importColumns are the first columns of contacts in JSON; their fields follow.
func importColumns() []string { return []string{"Phone number", "Name", "Tags"} }

// Imported is what became of contacts.
type Imported struct {
	Rows     int64    `json:"rows"`
	Added    int64    `json:"added"`
	Changed  int64    `json:"changed"`
	Repeated int64    `json:"duplicates"` // same number as an earlier row
	Bad      int64    `json:"bad"`        // left out with skipBad
	Warnings []string `json:"warnings"`
}

// importRequest is an order to import with the list that it came with.
type importRequest struct {
	importOrder
	list io.Reader
	size int64
	file string // its name; "" for JSON
}

func (o importRequest) field() string {
	if o.file == "" {
		return "contacts"
	}
	return "file"
}

// ImportContacts adds the contacts of a file, or of JSON, and changes those that are
// known by their numbers. They go the way of a list that a person uploads.
func (s Kept) ImportContacts(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	if err := s.uploads.enter(r.Context()); err != nil {
		return err
	}
	var o importRequest
	done, err := s.spooled(w, r, importMost, func(to *tempFile, form bool, limit int64) (err error) {
		if form {
			o.file, err = readForm(r, to, limit, o.set)
			o.list, o.size = to.body(), to.size
			return err
		}
		if _, err = readBody(r, &o.importOrder); err == nil {
			err = writeContacts(to, o.Contacts)
		}
		o.list, o.size = to.body(), to.size
		return err
	})
	s.uploads.leave()
	defer done()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), makeTime)
	defer cancel()
	answer, err := s.importContacts(ctx, p, o)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, answer)
}

// set takes one field of a form by its name.
func (o *importRequest) set(name string, read fieldReader) (known bool, err error) {
	texts := map[string]*string{"account": &o.Account, "phoneColumn": &o.PhoneColumn, "sheet": &o.Sheet}
	switch name {
	case "skipBad":
		return true, read.yes(&o.SkipBad)
	case "includeHidden":
		return true, read.yes(&o.Hidden)
	case "columns":
		return true, read.names(&o.Columns)
	case "tags":
		return true, read.names(&o.Tags)
	}
	if texts[name] == nil {
		return false, nil
	}
	return true, read.text(texts[name])
}

// writeContacts writes contacts as the list that a person would upload.
func writeContacts(to io.Writer, all []importContact) error {
	if len(all) == 0 {
		return wrongField(http.StatusUnprocessableEntity, "contacts", "contacts must have at least one contact")
	}
	columns, at := importColumns(), map[string]int{}
	for i, name := range columns {
		at[sms.PlaceholderKey(name)] = i
	}
	for i, c := range all {
		if strings.TrimSpace(c.Phone) == "" {
			return wrongField(http.StatusUnprocessableEntity, fmt.Sprintf("contacts[%d].phone", i), "phone is required")
		}
		for _, name := range slices.Sorted(maps.Keys(c.Fields)) {
			key := sms.PlaceholderKey(name)
			column, there := at[key]
			switch {
			case key == "" || sms.Reserved(key) || there && column < len(importColumns()):
				return wrongField(http.StatusUnprocessableEntity, fmt.Sprintf("contacts[%d].fields.%s", i, shortened(name)),
					"No column can have this name")
			case !there:
				at[key] = len(columns)
				columns = append(columns, name)
			}
		}
	}
	out := csv.NewWriter(to)
	err := out.Write(columns)
	for _, c := range all {
		row := make([]string, len(columns))
		row[0], row[1], row[2] = c.Phone, c.Name, strings.Join(c.Tags, ",")
		for _, name := range slices.Sorted(maps.Keys(c.Fields)) {
			row[at[sms.PlaceholderKey(name)]] = c.Fields[name]
		}
		err = errors.Join(err, out.Write(row))
	}
	out.Flush()
	return errors.Join(err, out.Error())
}

func (s Kept) importContacts(ctx context.Context, p apiCaller, o importRequest) (Imported, error) {
	a, err := s.accountFor(ctx, o.Account)
	if err != nil {
		return Imported{}, err
	}
	upload := lists.UploadOrder{AccountID: a.ID, Purpose: sms.ForContacts, FileName: o.file, Token: desk.NewToken(),
		Size: o.size}
	switch {
	case o.file == "":
		upload.FileName = apiFileName
		upload.Reading = &sms.ListReading{Kind: string(sheet.CSV), Encoding: string(sheet.UTF8), Delimiter: ",", HeaderRow: 1}
	case o.Sheet != "" || o.Hidden:
		upload.Reading = &sms.ListReading{Sheet: o.Sheet, Hidden: o.Hidden}
	}
	l, err := s.lists.UploadList(ctx, p.user, upload, o.list)
	if err != nil {
		return Imported{}, listFault(err, o.field())
	}
	made, err := s.workOff(ctx, p, l, listWork{field: o.field(),
		check: func(l sms.List) error {
			order, err := s.contactOrder(ctx, p, o, l)
			if err == nil {
				_, err = s.lists.CheckList(ctx, p.user, l.UID, l.Version, order)
			}
			return err
		},
		decide: func(l sms.List) error { return s.decideContacts(ctx, p, o, l) }})
	if err != nil {
		return Imported{}, err
	}
	t := made.Tally
	answer := Imported{Rows: t.Rows, Added: t.Added, Changed: t.Changed, Repeated: t.Kinds[sms.RowRepeat], Bad: t.Bad(),
		Warnings: []string{}}
	if o.file == "" {
		return answer, nil
	}
	told, err := s.warnings(ctx, p, made.ID)
	answer.Warnings = append(answer.Warnings, told...)
	return answer, err
}

// contactOrder says what becomes of the columns: what their names and contents say,
// and not what a person chose for such files before.
func (s Kept) contactOrder(ctx context.Context, p apiCaller, o importRequest, l sms.List) (sms.ListOrder, error) {
	_, profile, err := s.lists.ListProfile(ctx, p.user, l.UID)
	if err != nil {
		return sms.ListOrder{}, err
	}
	l.HeaderKey = ""
	order, err := s.lists.ProposeOrder(ctx, l, profile.Profile)
	if err != nil {
		return order, err
	}
	order.Fixed = map[string]string{sms.KeyTag: strings.Join(o.Tags, ",")}
	column := func(field, name string) (int, error) {
		at := slices.IndexFunc(l.Reading.Columns, func(c string) bool {
			return sms.PlaceholderKey(c) == sms.PlaceholderKey(name)
		})
		if at < 0 {
			return at, wrongField(http.StatusUnprocessableEntity, field, fmt.Sprintf("No column is called %q", shortened(name)))
		}
		return at, nil
	}
	if o.file == "" {
		order.Phone = 0
	}
	if o.PhoneColumn != "" {
		if order.Phone, err = column("phoneColumn", o.PhoneColumn); err != nil {
			return order, err
		}
	}
	kept := map[int]bool{}
	for _, name := range o.Columns {
		at, err := column("columns", name)
		if err != nil {
			return order, err
		}
		kept[at] = true
	}
	keepColumns(&order, l.Reading.Columns, func(at int) bool {
		return at != order.Phone && (o.Columns == nil || kept[at])
	})
	return order, nil
}

// keepColumns makes fields of the columns that are to be kept, and of no others: what
// was taken for the number and is not it is a column like any.
func keepColumns(o *sms.ListOrder, columns []string, keep func(at int) bool) {
	used := map[int]bool{}
	for key, at := range o.Fields {
		if used[at] = true; !keep(at) {
			delete(o.Fields, key)
		}
	}
	for at, name := range columns {
		key := sms.PlaceholderKey(name)
		if _, taken := o.Fields[key]; keep(at) && !used[at] && !taken && key != "" && !sms.Reserved(key) {
			o.Fields[key] = at
		}
	}
}

// decideContacts has the contacts made, unless there are bad rows that are not to be
// skipped.
func (s Kept) decideContacts(ctx context.Context, p apiCaller, o importRequest, l sms.List) error {
	if bad := l.Tally.Bad(); bad > 0 && (!o.SkipBad || l.Tally.Good == 0) {
		sentence := "1 row cannot be a contact. Nothing was imported"
		if bad != 1 {
			sentence = humanize.Comma(bad) + " rows cannot be contacts. Nothing was imported"
		}
		above := int64(0)
		if o.file == "" {
			above = 1 // the names of the columns stand above what came as JSON
		}
		return s.rowsProblem(ctx, l, sentence, bad, above)
	}
	_, err := s.lists.MakeCampaign(ctx, p.user, l.UID, l.Version, lists.MakeOrder{LeaveOut: true})
	return err
}
