package lists

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// Downloads takes the orders of staff about what came of a campaign.
type Downloads struct {
	lists *Lists
	store DownloadStore
}

// DownloadStore is what downloads are made of.
type DownloadStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	AuditOf(ctx context.Context, object string) ([]sms.Audit, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	EachAttempt(ctx context.Context, campaign int64) iter.Seq2[sms.Attempt, error]
	EachMessage(ctx context.Context, f sms.MessageFilter) iter.Seq2[sms.Message, error]
	EachReport(ctx context.Context, campaign int64) iter.Seq2[sms.StoredReport, error]
	ListByID(ctx context.Context, id int64) (sms.List, error)
	Tally(ctx context.Context, id int64) (sms.Tally, error)
}

// NewDownloads returns what takes orders about downloads.
func NewDownloads(l *Lists, store DownloadStore) *Downloads {
	return &Downloads{lists: l, store: store}
}

// DownloadOrder says what of a campaign a person takes away.
type DownloadOrder struct {
	Filter sms.MessageFilter // of one campaign; bounds and limit are not used
	What   string            // of the filter, in words without numbers and texts, for the audit log
	Format string            // the end of the file's name: "csv" or "xlsx"
}

// Download is a table on its way out. Rows is read once, names of columns
// first, and each row is done with before the next; Close must be called.
type Download struct {
	Name  string // a safe name for the file
	Rows  iter.Seq2[[]string, error]
	xlsx  bool
	close func() error
}

// Write writes the table as the file that was asked for, as it is read.
func (d *Download) Write(w io.Writer) error {
	if d.xlsx {
		return sheet.WriteTableXLSX(w, d.Rows)
	}
	return sheet.WriteTableCSV(w, d.Rows)
}

// Close lets go of the files behind the rows.
func (d *Download) Close() error { return d.close() }

// DownloadCampaign gives the messages of a campaign as a table: the columns of
// the uploaded list as they stand in the file, and behind them what became of
// each row. It is audited before the first row is read.
func (d *Downloads) DownloadCampaign(ctx context.Context, by sms.User, o DownloadOrder) (*Download, error) {
	if err := by.May(sms.Sender, "download a campaign"); err != nil {
		return nil, err
	}
	c, account, file, err := d.campaign(ctx, o.Filter.CampaignID)
	if err != nil {
		return nil, err
	}
	out := &Download{Name: fileName(c.Name) + "." + o.Format,
		Rows: resultRows{account, c, file}.table(d.store.EachMessage(ctx, o.Filter)), close: file.close,
		xlsx: o.Format == "xlsx"}
	d.lists.audit(ctx, by, "campaign.download", feed.Campaign(c.ID), strings.TrimSpace(o.Format+" "+o.What))
	return out, nil
}

// fileName makes a file's name of what people wrote: letters, digits and "-",
// which no system and no shell takes for anything else.
func fileName(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 60 {
			break
		}
	}
	if name = strings.Trim(b.String(), "-"); name == "" {
		return "campaign"
	}
	return name
}

// uploadedList is the list that a campaign was made of, read from its first row
// on. The zero original has no rows and no columns.
type uploadedList struct {
	list   sms.List
	header []string
	reader *rowReader
	row    sheet.Row
	zone   *time.Location
}

// campaign gives a campaign with its account and the opened list behind it.
func (d *Downloads) campaign(ctx context.Context, id int64) (c sms.Campaign, a sms.Account, file *uploadedList,
	err error) {
	if c, err = d.store.Campaign(ctx, id); err != nil {
		return c, a, nil, err
	}
	if a, err = d.store.Account(ctx, c.AccountID); err != nil {
		return c, a, nil, err
	}
	file, err = d.openOriginal(ctx, a, c)
	return c, a, file, err
}

// openOriginal opens the list behind a campaign; typed campaigns have none,
// and a file is not kept for ever.
func (d *Downloads) openOriginal(ctx context.Context, account sms.Account, c sms.Campaign) (*uploadedList, error) {
	if c.ListID == 0 {
		return &uploadedList{}, nil
	}
	l, err := d.store.ListByID(ctx, c.ListID)
	if errors.Is(err, sms.ErrNotFound) {
		return &uploadedList{}, nil
	}
	if err != nil {
		return nil, err
	}
	reader, err := d.lists.openList(ctx, account, l, l.Reading)
	if errors.Is(err, sms.ErrNotFound) {
		return &uploadedList{list: l}, nil
	}
	if err != nil {
		return nil, err
	}
	return &uploadedList{list: l, header: reader.Profile().Columns, reader: reader, zone: account.Location()}, nil
}

// cells appends those of a row of the file, as many as there are columns. Rows
// must be asked for in rising order; blanks stand for a row that is not there.
func (o *uploadedList) cells(to []string, row int64) ([]string, error) {
	if o.reader == nil {
		return to, nil
	}
	for int64(o.row.Number) < row {
		next, err := o.reader.Next()
		if err == io.EOF {
			next, err = sheet.Row{Number: int(row) + 1}, nil
		}
		if err != nil {
			return to, fmt.Errorf("read the list again: %w", err)
		}
		o.row = next
	}
	for i := range o.header {
		cell := ""
		if int64(o.row.Number) == row && i < len(o.row.Cells) {
			cell = o.row.Cells[i]
		}
		to = append(to, cell)
	}
	if o.mended() {
		to = append(to, o.words(row))
	}
	return to, nil
}

// mended says that some cells are not as they are in the file.
func (o *uploadedList) mended() bool {
	return o.reader != nil && (len(o.reader.fixed) > 0 || len(o.list.Order.Empty) > 0)
}

// columns are the names of the list's columns, and one that says what was
// corrected where something was.
func (o *uploadedList) columns() []string {
	if !o.mended() {
		return slices.Clone(o.header)
	}
	return append(slices.Clone(o.header), "Corrected")
}

// words say what was corrected in a row, by whom and when.
func (o *uploadedList) words(row int64) string {
	var words []string
	for _, c := range o.reader.fixed[row] {
		if c.From != 0 {
			words = append(words, fmt.Sprintf("made of row %d, %s was “%s”, by %s on %s", c.From, o.name(c.Column), c.Given,
				c.ByName, stamp(c.At, o.zone)))
			continue
		}
		was := "empty"
		if c.Given != "" {
			was = "“" + c.Given + "”"
		}
		words = append(words, fmt.Sprintf("%s was %s, corrected by %s on %s", o.name(c.Column), was, c.ByName,
			stamp(c.At, o.zone)))
	}
	if int64(o.row.Number) == row {
		for _, key := range slices.Sorted(maps.Keys(o.list.Order.Empty)) {
			if column, is := o.list.Order.Fields[key]; is && cell(o.row.Cells, column) == "" {
				words = append(words, fmt.Sprintf("%s was empty, filled with “%s”", o.name(column), o.list.Order.Empty[key]))
			}
		}
	}
	return strings.Join(words, "; ")
}

func (o *uploadedList) name(column int) string {
	if column < len(o.header) {
		return o.header[column]
	}
	return "Column " + strconv.Itoa(column+1)
}

func (o *uploadedList) close() error {
	if o.reader == nil {
		return nil
	}
	return o.reader.Close()
}

// resultRows tells what became of the rows of a campaign.
type resultRows struct {
	account  sms.Account
	campaign sms.Campaign
	file     *uploadedList
}

// outcomeColumns are what is told of each message, behind the list's own.
func outcomeColumns() []string {
	return []string{"Row", "Phone number", "State", "Status", "Error code", "Reason", "Sent", "Done date", "Last change",
		"Parts", "Message", "Message ID", "Request"}
}

func (o resultRows) table(messages iter.Seq2[sms.Message, error]) iter.Seq2[[]string, error] {
	t := &statusWriter{words: map[fate]string{}, sent: timeFormatter{zone: o.account.Location()},
		changed: timeFormatter{zone: o.account.Location()}}
	return func(yield func([]string, error) bool) {
		if !yield(append(o.file.columns(), outcomeColumns()...), nil) {
			return
		}
		var row []string
		for m, err := range messages {
			row = row[:0]
			if err == nil {
				row, err = o.file.cells(row, m.Row)
			}
			if row = t.outcome(row, m); !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// statusWriter puts what became of a million messages into words.
type statusWriter struct {
	words         map[fate]string
	sent, changed timeFormatter
}

// fate is what the words of a message's standing depend on.
type fate struct {
	state  sms.State
	status sms.Status
	late   bool
}

func (t *statusWriter) outcome(row []string, m sms.Message) []string {
	f := fate{m.State, m.Delivery.Status, m.Delivery.Late}
	words, told := t.words[f]
	if !told {
		words = m.Standing().Words
		t.words[f] = words
	}
	number, request := strconv.FormatInt, ""
	if m.AttemptID > 0 {
		request = number(m.AttemptID, 10)
	}
	code := m.Delivery.ErrorCode
	if code == "" && m.State != sms.Skipped {
		code = m.Code
	}
	return append(row, number(m.Row, 10), m.Number, words, string(m.Delivery.Status), code, m.Reason,
		t.sent.format(m.SentAt),
		m.Delivery.DoneDate,
		t.changed.format(m.ChangedAt), strconv.Itoa(m.Parts), m.Text, m.ProviderID, request)
}

// stamp is a stored time as spreadsheets sort it, in the account's zone.
func stamp(ms int64, zone *time.Location) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).In(zone).Format(time.DateTime)
}

// timeFormatter is stamp for a column of times: messages of one call left in the same
// second, so the last one said is kept.
type timeFormatter struct {
	zone   *time.Location
	second int64
	text   string
}

func (s *timeFormatter) format(ms int64) string {
	if second := ms / 1000; ms == 0 || second != s.second {
		s.second, s.text = second, stamp(ms, s.zone)
	}
	return s.text
}
