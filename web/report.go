package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// reports is the log of delivery reports, and the times without any.
type reports struct {
	*page.Site
	store reportQuestions
	desk  reportOrders
}

// reportQuestions are what reports ask of the storage.
type reportQuestions interface {
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	Candidates(ctx context.Context, r sms.StoredReport, country string) ([]sms.Message, error)
	CountSilent(ctx context.Context, account, from, until int64) (int64, error)
	Forgotten(ctx context.Context, account int64) (int64, error)
	Inquiry(ctx context.Context, account, from int64) (sms.StatusCheck, error)
	LastReportAt(ctx context.Context, account int64) (int64, error)
	Message(ctx context.Context, id int64) (sms.Message, error)
	NewerReports(ctx context.Context, account int64, kind sms.ReportKind, key int64) (int64, error)
	PostedSince(ctx context.Context, account, since int64) (int64, error)
	PulseMinutes(ctx context.Context, account, since int64) ([]sms.ReceiverMinute, error)
	PulseSince(ctx context.Context, account, since int64) (sms.ReceiverMinute, error)
	Refused(ctx context.Context, before int64, limit int) (list []sms.ReceiverMinute, more bool, err error)
	Reports(ctx context.Context, f sms.ReportFilter) (list []sms.StoredReport, more bool, err error)
	SuspiciousReports(ctx context.Context, account int64) (int64, error)
}

// reportOrders are what people do on these pages.
type reportOrders interface {
	AskAboutGap(ctx context.Context, by sms.User, account, from int64) error
	Gaps(ctx context.Context) ([]sms.Outage, error)
	LinkReport(ctx context.Context, by sms.User, key, message int64) error
	StopAsking(ctx context.Context, by sms.User, account, from int64) error
}

const (
	reportsPage = 50
	shownGaps   = 20
	// unmatchedFirst is how many unmatched reports stand above the log.
	unmatchedFirst = 5
)

// reportList is the log of delivery reports.
func (s *reports) reportList(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	q := r.URL.Query()
	p := views.ReportPage{Formatter: s.Formatter(v, v.Account), Kind: q.Get("kind")}
	if !slices.ContainsFunc(views.ReportTabs(), func(t [2]string) bool { return t[0] == p.Kind }) {
		p.Kind = ""
	}
	p.CanLink, p.CanAsk, p.CanSetUp = v.User.Role.AtLeast(sms.Manager), v.User.Role.AtLeast(sms.Sender),
		v.User.Role.AtLeast(sms.Administrator)
	p.CanExport = p.CanAsk
	seen := page.Number(q.Get("seen"))
	if !page.IsFragment(r) {
		var err error
		if seen, err = s.addReports(r, v, &p); err != nil {
			return err
		}
	}
	if err := s.addHealth(r, v, &p, seen); err != nil {
		return err
	}
	p.Live = views.Refresh{ID: "reports-live", URL: views.ReportsPath + "?" +
		url.Values{"kind": {p.Kind}, "seen": {strconv.FormatInt(seen, 10)}}.Encode(),
		On: []string{feed.Reports(max(v.Account.ID, 1))}}
	if page.IsFragment(r) {
		return s.Render(w, r, http.StatusOK, views.ReportsLive(p))
	}
	f := v.LiveFrame("Delivery reports", "reports", p.Live.On...)
	if f.Paused {
		p.Live.On = nil
	}
	return s.Render(w, r, http.StatusOK, views.ReportLog(f, p))
}

// addReports reads the page's rows. seen is the newest report there was.
func (s *reports) addReports(r *http.Request, v *page.Visit, p *views.ReportPage) (seen int64, err error) {
	ctx, before := r.Context(), page.Number(r.URL.Query().Get("before"))
	here := views.With(views.ReportsPath, "kind", p.Kind)
	if before > 0 {
		p.First = here
	}
	if p.Kind == "refused" {
		more := false
		if p.Refused, more, err = s.store.Refused(ctx, before, reportsPage); err == nil && more {
			p.Next = views.With(here, "before", strconv.FormatInt(p.Refused[len(p.Refused)-1].Minute, 10))
		}
		return 0, err
	}
	if p.Kind == "" && before == 0 {
		f := sms.ReportFilter{AccountID: v.Account.ID, Kind: sms.ReportsUnmatched, Limit: unmatchedFirst}
		if p.Unmatched, p.MoreUnmatched, err = s.reportRows(ctx, v, f); err != nil {
			return 0, err
		}
	}
	f := sms.ReportFilter{AccountID: v.Account.ID, Kind: sms.ReportKind(p.Kind), Before: before, Limit: reportsPage}
	more := false
	if p.Rows, more, err = s.reportRows(ctx, v, f); err != nil {
		return 0, err
	}
	if more {
		p.Next = views.With(here, "before", strconv.FormatInt(p.Rows[len(p.Rows)-1].Report.Key, 10))
	}
	if len(p.Rows) > 0 && before == 0 {
		return p.Rows[0].Report.Key, nil
	}
	return before, nil
}

func (s *reports) reportRows(ctx context.Context, v *page.Visit,
	f sms.ReportFilter) (rows []views.ReportRow, more bool, err error) {
	list, more, err := s.store.Reports(ctx, f)
	if err != nil {
		return nil, false, err
	}
	for _, x := range list {
		row, err := s.reportRow(ctx, v, x)
		if err != nil {
			return nil, false, err
		}
		rows = append(rows, row)
	}
	return rows, more, nil
}

func (s *reports) reportRow(ctx context.Context, v *page.Visit, x sms.StoredReport) (row views.ReportRow, err error) {
	row = views.ReportRow{Report: x, StillYoung: s.Now().UnixMilli()-x.ReceivedAt <= sms.EvidenceGrace.Milliseconds()}
	var of *sms.Message
	if x.MessageID > 0 {
		m, err := s.store.Message(ctx, x.MessageID)
		if err != nil && !errors.Is(err, sms.ErrNotFound) {
			return row, err
		}
		if err == nil {
			row.Message, of = &m, &m
		}
	} else if x.Effect == sms.NotMatched {
		list, err := s.store.Candidates(ctx, x, v.Account.Country)
		if err != nil {
			return row, err
		}
		if len(list) > 0 {
			i := max(slices.IndexFunc(list, func(m sms.Message) bool {
				return sms.MayLink(m, x.DeliveryReport, v.Account.Country)
			}), 0)
			row.Likely, of, row.Rivals = &list[i], &list[i], len(list)-1
			row.MayLink = sms.MayLink(list[i], x.DeliveryReport, v.Account.Country)
		}
	}
	if of != nil {
		c, err := s.store.Campaign(ctx, of.CampaignID)
		if err == nil {
			row.Campaign = &c
		} else if !errors.Is(err, sms.ErrNotFound) {
			return row, err
		}
	}
	return row, nil
}

// addHealth reads how the receiving of reports stands.
func (s *reports) addHealth(r *http.Request, v *page.Visit, p *views.ReportPage, seen int64) error {
	ctx, a, now := r.Context(), v.Account, v.Now()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location()).UnixMilli()
	h := &p.Health
	refused, err := s.store.PulseSince(ctx, 0, midnight)
	if err != nil {
		return err
	}
	h.Refused = refused.Refused
	for _, ask := range []func() error{
		func() (err error) { h.Last, err = s.store.LastReportAt(ctx, a.ID); return },
		func() (err error) { h.Today, err = s.store.PulseSince(ctx, a.ID, midnight); return },
		func() (err error) {
			h.Minutes, err = s.store.PulseMinutes(ctx, a.ID, p.FirstArrivalMinute())
			return
		},
		func() (err error) { h.Posted, err = postedLately(ctx, s.store, a, s.Now()); return },
		func() (err error) { h.Suspicious, err = s.store.SuspiciousReports(ctx, a.ID); return },
		func() (err error) { h.Forgotten, err = s.store.Forgotten(ctx, a.ID); return },
		func() (err error) { h.Gaps, err = s.gaps(ctx, a.ID); return },
		func() (err error) { h.Silent, err = s.Silence(ctx, a, h.Last); return },
		func() (err error) {
			h.Newer, err = s.store.NewerReports(ctx, a.ID, sms.ReportKind(p.Kind), seen)
			return
		},
	} {
		if err := ask(); err != nil {
			return err
		}
	}
	return nil
}

// gaps are the times without callbacks, newest first, with what is missing
// from them.
func (s *reports) gaps(ctx context.Context, account int64) ([]views.GapRow, error) {
	list, err := s.desk.Gaps(ctx)
	if err != nil || account == 0 {
		return nil, err
	}
	slices.Reverse(list)
	var rows []views.GapRow
	for _, g := range list[:min(len(list), shownGaps)] {
		row := views.GapRow{Gap: g}
		if row.Silent, err = s.store.CountSilent(ctx, account, g.From-sms.GapReach.Milliseconds(), g.Until); err != nil {
			return nil, err
		}
		switch i, err := s.store.Inquiry(ctx, account, g.From); {
		case err == nil:
			row.Inquiry = &i
		case !errors.Is(err, sms.ErrNotFound):
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// reportLink ties a report to the message that it is about.
func (s *reports) reportLink(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	key := page.PathID(r)
	if err := s.desk.LinkReport(r.Context(), v.User, key, page.Number(r.PostForm.Get("message"))); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.With(views.ReportsPath, "kind", string(sms.ReportsUnmatched)),
		"linked"))
}

func (s *reports) gapAsk(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.gapOrder(w, r, v, s.desk.AskAboutGap, "asking")
}

func (s *reports) gapStop(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.gapOrder(w, r, v, s.desk.StopAsking, "notasking")
}

func (s *reports) gapOrder(w http.ResponseWriter, r *http.Request, v *page.Visit,
	order func(context.Context, sms.User, int64, int64) error, done string) error {
	if err := order(r.Context(), v.User, v.Account.ID, page.Number(r.PostForm.Get("from"))); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.ReportsPath, done))
}

// reportBack answers addresses that only take forms.
func (s *reports) reportBack(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	return page.Redirect(w, r, views.ReportsPath)
}

// reportExport writes the log as CSV while it is read, page by page.
func (s *reports) reportExport(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	f := sms.ReportFilter{AccountID: v.Account.ID, Kind: sms.ReportKind(r.URL.Query().Get("kind")), Limit: 1000}
	list, more, err := s.store.Reports(r.Context(), f)
	if err != nil {
		return err
	}
	out := page.CSVAnswer(w, "delivery-reports-"+v.Now().Format("2006-01-02"))
	out.Write("Received", "Last received", "Times", "Phone number", "Status", "Error code", "Message ID", "Submit date",
		"Done date", "Text", "What it did", "Message", "Suspicious", "As received")
	for {
		for _, x := range list {
			out.Write(s.reportRecord(v, x)...)
		}
		if err := out.Flush(); err != nil || !more {
			return nil
		}
		f.Before = list[len(list)-1].Key
		if list, more, err = s.store.Reports(r.Context(), f); err != nil {
			// The answer has begun: cutting it off is all that can be said.
			s.Log.Error("a download was cut off", "error", err)
			panic(http.ErrAbortHandler)
		}
	}
}

func (s *reports) reportRecord(v *page.Visit, x sms.StoredReport) []string {
	mobile, stamp := x.Mobile, func(ms int64) string { return v.At(ms).Format(time.RFC3339) }
	if key := phone.Key(x.Mobile, v.Account.Country); key != "" {
		mobile = key
	}
	message, odd := "", ""
	if x.MessageID > 0 {
		message = fmt.Sprint(x.MessageID)
	}
	if x.Suspicious {
		odd = "yes"
	}
	return []string{stamp(x.ReceivedAt), stamp(x.LastAt), fmt.Sprint(x.Times), mobile, x.Status, x.ErrorCode, x.ProviderID,
		x.SubmitDate, x.DoneDate,
		x.ShortMessage, string(x.Effect), message, odd, x.Raw}
}
