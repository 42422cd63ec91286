package storage

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
)

// exportPage is how many rows an export reads at a time: each page is a
// question of its own, so that no long read keeps the log of writes from being
// folded in.
const exportPage = 2000

// EachMessage gives the messages of a campaign that pass the filter, in the
// order of rows: what a download tells of them, and nothing of how they are
// kept. Bounds and limit of the filter are not used. The next page is read
// while the last one is being used.
func (db listStore) EachMessage(ctx context.Context, f sms.MessageFilter) iter.Seq2[sms.Message, error] {
	f.After, f.Before, f.Limit = 0, 0, exportPage-1
	// f moves on while an earlier page is still looked through.
	searched := f
	var of sms.Campaign
	return prefetch(ctx, func(ctx context.Context) (rows iter.Seq[sms.Message], more bool, err error) {
		if of.ID == 0 {
			if of, err = campaignStore(db).messagesOf(ctx, f.CampaignID); err != nil || of.ID == 0 {
				return nil, false, err
			}
		}
		if f.Number != "" {
			var list []sms.Message
			list, f.After, err = campaignStore(db).FindMessages(ctx, f)
			return slices.Values(list), f.After > 0, err
		}
		if rows, f.After, more, err = db.packedMessages(ctx, f, of); searched.Searches() && err == nil {
			rows = admitted(rows, func(m sms.Message) bool {
				return strings.HasSuffix(m.Number, searched.Ends) && searched.Admits(m.Number, m.Text, &db.networks)
			})
		}
		return rows, more, err
	})
}

func admitted(rows iter.Seq[sms.Message], admits func(sms.Message) bool) iter.Seq[sms.Message] {
	return func(yield func(sms.Message) bool) {
		for m := range rows {
			if admits(m) && !yield(m) {
				return
			}
		}
	}
}

const (
	// packedColumns are what packedMessage reads, in its order.
	packedColumns = "id, row_no, number, state, status, late, error_code, reason, code, sent_at, done_date, " +
		"changed_at, parts, text, provider_id, attempt_id"
	packedFields = 16
	fieldEnd     = "\x1f"
	rowEnd       = "\x1e"
)

// packedMessages reads a page of messages, of which the last is named, as one
// text: to fetch a million rows value by value costs several times what the
// database takes to find them. The text is taken apart when the rows are asked
// for. Where a value holds one of the signs between the values itself, the page
// is read in the plain way.
func (db listStore) packedMessages(ctx context.Context, f sms.MessageFilter,
	of sms.Campaign) (rows iter.Seq[sms.Message], last int64, more bool, err error) {
	query, args := packedQuery(f, of)
	var packed string
	var n int
	if err := db.reader.QueryRowContext(ctx, query, args...).Scan(&n, &last, &packed); err != nil {
		return nil, 0, false, fmt.Errorf("read messages: %w", err)
	}
	if n == 0 {
		return slices.Values([]sms.Message(nil)), 0, false, nil
	}
	if strings.Count(packed, rowEnd) != n-1 || strings.Count(packed, fieldEnd) != n*(packedFields-1) {
		list, more, err := campaignStore(db).Messages(ctx, f)
		if len(list) > 0 {
			last = list[len(list)-1].ID
		}
		return slices.Values(list), last, more, err
	}
	return func(yield func(sms.Message) bool) {
		for row := range strings.SplitSeq(packed, rowEnd) {
			if !yield(shown(packedMessage(row), of)) {
				return
			}
		}
	}, last, n > f.Limit, nil
}

func packedQuery(f sms.MessageFilter, of sms.Campaign) (string, arguments) {
	columns := "id, concat_ws('" + fieldEnd + "', " + packedColumns + ") as packed"
	where, args := messageConditions(f)
	rows := fmt.Sprintf("select %s from message where %s order by id limit %d", columns, where, f.Limit+1)
	if narrow(f) {
		rows = standingMessages(f, of, columns, "asc")
	}
	return "select count(*), coalesce(max(id), 0), coalesce(string_agg(packed, '" + rowEnd + "'), '') from (" + rows +
		") q", args
}

// packedMessage reads one row of packedColumns, whose numbers are integers in
// the schema.
func packedMessage(row string) sms.Message {
	var fields [packedFields]string
	for i := range fields {
		fields[i], row, _ = strings.Cut(row, fieldEnd)
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(fields[i], 10, 64)
		return n
	}
	return sms.Message{ID: number(0), Row: number(1), Number: fields[2], State: sms.State(fields[3]), Reason: fields[7],
		Code: fields[8], SentAt: number(9), ChangedAt: number(11),
		Parts: int(number(12)), Text: fields[13], ProviderID: fields[14], AttemptID: number(15),
		Delivery: sms.Delivery{Status: sms.Status(fields[4]), Late: fields[5] == "1" || fields[5] == "t",
			ErrorCode: fields[6], DoneDate: fields[10]}}
}

// batch is some rows of an export, or why there are none.
type batch[T any] struct {
	rows iter.Seq[T]
	err  error
}

// prefetch gives rows page by page, reading a few pages ahead.
func prefetch[T any](ctx context.Context, next func(ctx context.Context) (rows iter.Seq[T], more bool,
	err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		pages := make(chan batch[T], 2)
		go func() {
			defer close(pages)
			for more := true; more; {
				rows, again, err := next(ctx)
				select {
				case pages <- batch[T]{rows, err}:
				case <-ctx.Done():
					return
				}
				more = again && err == nil
			}
		}()
		var none T
		for p := range pages {
			if p.err != nil {
				yield(none, p.err)
				return
			}
			for row := range p.rows {
				if !yield(row, nil) {
					return
				}
			}
		}
		if err := ctx.Err(); err != nil {
			yield(none, err)
		}
	}
}

// EachAttempt gives the calls of a campaign, oldest first.
func (db listStore) EachAttempt(ctx context.Context, campaign int64) iter.Seq2[sms.Attempt, error] {
	after := int64(0)
	return prefetch(ctx, func(ctx context.Context) (iter.Seq[sms.Attempt], bool, error) {
		rows, err := db.read().CampaignAttempts(ctx, campaign, after, exportPage)
		if err != nil {
			return nil, false, fmt.Errorf("list calls: %w", err)
		}
		list := make([]sms.Attempt, len(rows))
		for i, r := range rows {
			list[i], after = attempt(r), r.ID
		}
		return slices.Values(list), len(rows) == exportPage, nil
	})
}

// EachReport gives the delivery reports about messages of a campaign, message
// by message, in the order of arrival.
func (db listStore) EachReport(ctx context.Context, campaign int64) iter.Seq2[sms.StoredReport, error] {
	after := int64(0)
	return prefetch(ctx, func(ctx context.Context) (rows iter.Seq[sms.StoredReport], more bool, err error) {
		var list []sms.StoredReport
		for len(list) < exportPage {
			ids, err := campaignStore(db).ids(ctx, fmt.Sprintf(
				"select id from message where campaign_id = $1 and id > $2 order by id limit %d", reportsOf), []any{campaign, after})
			if err != nil {
				return nil, false, fmt.Errorf("list reports: %w", err)
			}
			if len(ids) == 0 {
				return slices.Values(list), false, nil
			}
			after = ids[len(ids)-1]
			some, err := db.reportsOf(ctx, ids)
			if err != nil {
				return nil, false, err
			}
			list = append(list, some...)
		}
		return slices.Values(list), true, nil
	})
}

// reportsOf is about how many messages one question for reports names.
const reportsOf = 500

func (db listStore) reportsOf(ctx context.Context, messages []int64) ([]sms.StoredReport, error) {
	rows, err := db.reader.QueryContext(ctx,
		`select id, account_id, inbox_id, received_at, last_at, times, provider_id, mobile, status, error_code, submit_date,
  done_date, short_message, raw, message_id, effect
  from delivery_report where message_id > 0 and message_id in (`+places(1, len(messages))+`)`, anys(messages)...)
	var inbox int64
	list, err := records(rows, err, func(r *sms.StoredReport) []any {
		return []any{&r.ID, &r.AccountID, &inbox, &r.ReceivedAt, &r.LastAt, &r.Times, &r.ProviderID, &r.Mobile,
			&r.Status, &r.ErrorCode, &r.SubmitDate, &r.DoneDate, &r.ShortMessage, &r.Raw, &r.MessageID, &r.Effect}
	})
	slices.SortFunc(list, func(a, b sms.StoredReport) int {
		if a.MessageID != b.MessageID {
			return int(min(max(a.MessageID-b.MessageID, -1), 1))
		}
		return int(min(max(a.ID-b.ID, -1), 1))
	})
	return wrapNotFound(list, err, "list reports")
}

// AuditOf lists what was done to an object, oldest first.
func (db listStore) AuditOf(ctx context.Context, object string) ([]sms.Audit, error) {
	rows, err := db.read().ObjectAudit(ctx, object)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	list := make([]sms.Audit, len(rows))
	for i, r := range rows {
		list[i] = sms.Audit{At: r.At, User: sms.User{ID: r.UserID, Name: r.UserName}, Action: r.Action, Object: r.Object,
			Detail: r.Detail}
	}
	return list, nil
}
