package lists

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// Evidence is everything that is known of one campaign, on its way out as one
// archive; Close must be called.
type Evidence struct {
	Name     string // a safe name for the file
	from     *Downloads
	campaign sms.Campaign
	account  sms.Account
	file     *uploadedList
}

// CampaignEvidence gives the evidence of a campaign: the uploaded file and its
// hash, how it was read, the messages as they went out, who made and started
// it, every call with its answer, every delivery report, and what the audit log
// says. It is audited.
func (d *Downloads) CampaignEvidence(ctx context.Context, by sms.User, id int64) (*Evidence, error) {
	if err := by.May(sms.Manager, "take the evidence of a campaign"); err != nil {
		return nil, err
	}
	c, account, file, err := d.campaign(ctx, id)
	if err != nil {
		return nil, err
	}
	d.lists.audit(ctx, by, "campaign.evidence", feed.Campaign(id), "")
	return &Evidence{Name: "evidence-" + fileName(c.Name) + ".zip", from: d, campaign: c, account: account, file: file},
		nil
}

// Close lets go of the uploaded file.
func (e *Evidence) Close() error { return e.file.close() }

// Write writes the archive as it is read, so that its size costs no memory.
func (e *Evidence) Write(ctx context.Context, w io.Writer) error {
	z := zip.NewWriter(w)
	for _, part := range []struct {
		name  string
		write func(ctx context.Context, w io.Writer) error
	}{
		{"campaign.json", e.writeCampaign}, {"messages.csv", e.writeMessages}, {"calls.csv", e.writeCalls}, {"reports.csv", e.writeReports},
		{"audit.csv", e.writeAudit}, {e.file.archived(), e.writeOriginal},
		{e.file.addedName(), e.writeAdded}, {e.file.correctionsName(), e.writeCorrections},
	} {
		if part.name == "" {
			continue
		}
		out, err := z.CreateHeader(&zip.FileHeader{Name: part.name, Method: zip.Deflate, Modified: e.from.lists.now()})
		if err == nil {
			err = part.write(ctx, out)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", part.name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("finish the archive: %w", err)
	}
	return nil
}

// archived is the name under which the uploaded file stands in the archive, ""
// without a file. It is ours: what was uploaded names nothing.
func (o *uploadedList) archived() string {
	switch {
	case o.reader == nil:
		return ""
	case o.list.Reading.Kind == string(sheet.XLSX):
		return "original/list.xlsx"
	case o.list.Reading.Kind == string(sheet.ODS):
		return "original/list.ods"
	}
	return "original/list.csv"
}

// correctionsName is the name under which corrections stand in the archive, ""
// without any.
func (o *uploadedList) correctionsName() string {
	if o.reader == nil || len(o.reader.fixed) == 0 {
		return ""
	}
	return "corrections.csv"
}

// addedName is the name under which those stand in the archive who were added to
// the file, "" without any.
func (o *uploadedList) addedName() string {
	if o.reader == nil || len(o.list.Reading.Added) == 0 {
		return ""
	}
	return "original/added.csv"
}

// writeAdded tells who got the message beside the rows of the file: where each is
// from, and the row in the columns of the file.
func (e *Evidence) writeAdded(_ context.Context, w io.Writer) error {
	l := e.file.list
	return sheet.WriteTableCSV(w, func(yield func([]string, error) bool) {
		if !yield(append([]string{"From"}, l.Reading.Columns...), nil) {
			return
		}
		for _, s := range l.Reading.Added {
			from := s.Name
			if s.Audience == 0 {
				from = "Typed"
			}
			one := l
			one.Reading.Added = []sms.ListSource{s}
			rows := addedReader{list: one, country: e.account.Country, abroad: e.account.Abroad, store: e.from.lists.corrected}
			for n := 1; ; n++ {
				row, err := rows.next(n)
				if err == io.EOF {
					break
				}
				if !yield(append([]string{from}, row.Cells...), err) || err != nil {
					_ = rows.close()
					return
				}
			}
		}
	})
}

// writeCorrections tells what people corrected in the list; the file is as it
// came.
func (e *Evidence) writeCorrections(ctx context.Context, w io.Writer) error {
	all, err := e.from.lists.corrected.Corrections(ctx, e.file.list.ID)
	if err != nil {
		return err
	}
	zone := e.account.Location()
	return sheet.WriteTableCSV(w, table([]string{"Row", "Column", "In the file", "Corrected", "Who", "When", "Made of row"},
		func(yield func(sms.Correction, error) bool) {
			for _, c := range all {
				if !yield(c, nil) {
					return
				}
			}
		}, func(c sms.Correction) []string {
			from := ""
			if c.From != 0 {
				from = strconv.FormatInt(c.From, 10)
			}
			return []string{strconv.FormatInt(c.Row, 10), e.file.name(c.Column), c.Given, c.Corrected, c.ByName,
				stamp(c.At, zone), from}
		}))
}

// writeCampaign tells who ordered what, and how the file was read.
func (e *Evidence) writeCampaign(ctx context.Context, w io.Writer) error {
	tally, err := e.from.store.Tally(ctx, e.campaign.ID)
	if err != nil {
		return err
	}
	c, l, zone := e.campaign, e.file.list, e.account.Location()
	facts := map[string]any{
		"account": e.account.Name, "campaign": c.ID, "name": c.Name, "state": string(c.State), "sender_id": c.SenderID, "text": c.Text, "flash": c.Flash,
		"recipients": c.Recipients, "parts": c.Parts, "group": c.GroupName, "sends_again": c.AgainOf, "messages_by_standing": tally, "time_zone": zone.String(),
		"made_by": c.CreatedName, "made_at": stamp(c.CreatedAt, zone), "started_by": c.StartedName, "started_at": stamp(c.StartedAt, zone),
		"approval_asked_by": c.Approval.AskedName, "approval_asked_at": stamp(c.Approval.AskedAt, zone),
		"approved_by": c.Approval.ApprovedName, "approved_at": stamp(c.Approval.ApprovedAt, zone),
		"finished_at": stamp(c.FinishedAt, zone), "taken_at": e.from.lists.now().In(zone).Format(time.DateTime),
	}
	if l.UID != "" {
		facts["list"] = map[string]any{"file_name": l.FileName, "bytes": l.Size, "sha256": l.Hash,
			"kept": e.file.reader != nil, "uploaded_by": l.CreatedName,
			"uploaded_at": stamp(l.CreatedAt, zone), "reading": l.Reading, "mapping": l.Order, "rows": l.Tally}
	}
	j := json.NewEncoder(w)
	j.SetIndent("", "  ")
	return j.Encode(facts)
}

func (e *Evidence) writeMessages(ctx context.Context, w io.Writer) error {
	return sheet.WriteTableCSV(w, resultRows{e.account, e.campaign,
		&uploadedList{}}.table(e.from.store.EachMessage(ctx, sms.MessageFilter{CampaignID: e.campaign.ID})))
}

func (e *Evidence) writeCalls(ctx context.Context, w io.Writer) error {
	zone := e.account.Location()
	return sheet.WriteTableCSV(w, table([]string{"Request", "Prepared", "Left", "Answered", "State", "Kind", "Recipients",
		"Class", "HTTP status", "Code", "Reason", "Bytes written", "Answer, without credentials"},
		e.from.store.EachAttempt(ctx, e.campaign.ID), func(a sms.Attempt) []string {
			return []string{strconv.FormatInt(a.ID, 10), stamp(a.PreparedAt, zone), stamp(a.LicensedAt, zone),
				stamp(a.EndedAt, zone), string(a.State), string(a.Call.Kind),
				strconv.Itoa(a.Recipients), string(a.Class), strconv.Itoa(a.HTTPStatus), a.Code, a.Reason,
				strconv.FormatInt(a.Written, 10), a.Excerpt}
		}))
}

func (e *Evidence) writeReports(ctx context.Context, w io.Writer) error {
	zone := e.account.Location()
	return sheet.WriteTableCSV(w, table([]string{"Message", "Message ID", "Received", "Last received", "Times", "Number",
		"Status", "Error code", "Submit date", "Done date", "Short message", "Effect", "As received"},
		e.from.store.EachReport(ctx, e.campaign.ID), func(r sms.StoredReport) []string {
			return []string{strconv.FormatInt(r.MessageID, 10), r.ProviderID, stamp(r.ReceivedAt, zone), stamp(r.LastAt, zone),
				strconv.FormatInt(r.Times, 10), r.Mobile,
				r.Status, r.ErrorCode, r.SubmitDate, r.DoneDate, r.ShortMessage, string(r.Effect), r.Raw}
		}))
}

func (e *Evidence) writeAudit(ctx context.Context, w io.Writer) error {
	lines, err := e.from.store.AuditOf(ctx, feed.Campaign(e.campaign.ID))
	if err != nil {
		return err
	}
	zone := e.account.Location()
	return sheet.WriteTableCSV(w, table([]string{"When", "Who", "What", "Detail"},
		func(yield func(sms.Audit, error) bool) {
			for _, l := range lines {
				if !yield(l, nil) {
					return
				}
			}
		}, func(l sms.Audit) []string { return []string{stamp(l.At, zone), l.User.Name, l.Action, l.Detail} }))
}

// writeOriginal copies the uploaded file byte by byte; its hash stands in
// campaign.json.
func (e *Evidence) writeOriginal(_ context.Context, w io.Writer) error {
	file, err := e.from.lists.store.Upload(e.file.list.UID)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	_, err = io.Copy(w, io.NewSectionReader(file, 0, e.file.list.Size))
	return err
}

// table is rows of one kind with the names of their columns.
func table[T any](header []string, rows iter.Seq2[T, error], cells func(T) []string) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		if !yield(slices.Clone(header), nil) {
			return
		}
		for r, err := range rows {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(cells(r), nil) {
				return
			}
		}
	}
}
