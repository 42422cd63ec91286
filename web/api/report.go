package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// Report is a delivery report as it was received (§3).
type Report struct {
	ID         int64         `json:"id"`
	ReceivedAt *string       `json:"receivedAt"`
	Times      int64         `json:"times"` // how often it arrived
	LastAt     *string       `json:"lastAt"`
	Phone      string        `json:"phone"`
	Status     string        `json:"status"` // as reported
	ErrorCode  string        `json:"errorCode"`
	MessageID  string        `json:"messageId"` // the provider's
	SubmitDate string        `json:"submitDate"`
	DoneDate   string        `json:"doneDate"`
	Text       string        `json:"text"`
	Effect     string        `json:"effect"`
	Suspicious bool          `json:"suspicious"`
	Message    *int64        `json:"message"` // ours
	MayBe      []ReportOwner `json:"mayBe"`
}

// ReportOwner is a message that an unmatched report may be about.
type ReportOwner struct {
	Message    int64 `json:"message"`
	CampaignID int64 `json:"campaignId"`
	MayLink    bool  `json:"mayLink"`
}

// reportsMost is how many reports are listed at once: for each unmatched one, the
// messages that it may be about are looked for.
const reportsMost = 100

// ListReports lists the reports of an account, newest first.
func (s Follow) ListReports(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	at, err := readPage(r)
	if err != nil {
		return err
	}
	a, err := s.Kept().accountAsked(r)
	if err != nil {
		return err
	}
	kind := sms.ReportKind(r.URL.Query().Get("kind"))
	if !slices.Contains([]sms.ReportKind{sms.ReportsAll, sms.ReportsUnmatched, sms.ReportsRepeated}, kind) {
		return wrongField(http.StatusBadRequest, "kind", "Must be unmatched or duplicates")
	}
	list, more, err := s.follow.Reports(r.Context(), sms.ReportFilter{AccountID: a.ID, Kind: kind, Before: at.cursor,
		Limit: min(at.limit, reportsMost)})
	if err != nil {
		return err
	}
	answer := page[Report]{Items: []Report{}}
	for _, x := range list {
		form, err := s.reportForm(r.Context(), a, x, p.masked())
		if err != nil {
			return err
		}
		answer.Items = append(answer.Items, form)
		answer.NextCursor = cursorAfter(more, x.Key)
	}
	return writeJSON(w, http.StatusOK, answer)
}

func (s Follow) reportForm(ctx context.Context, a sms.Account, x sms.StoredReport, masked bool) (Report, error) {
	f := Report{ID: x.Key, ReceivedAt: moment(x.ReceivedAt), Times: x.Times, LastAt: moment(x.LastAt),
		Phone: cmp.Or(phone.Key(x.Mobile, a.Country), x.Mobile), Status: x.Status, ErrorCode: x.ErrorCode,
		MessageID: x.ProviderID, SubmitDate: x.SubmitDate, DoneDate: x.DoneDate, Text: x.ShortMessage,
		Effect: string(x.Effect), Suspicious: x.Suspicious, MayBe: []ReportOwner{}}
	if masked {
		f.Phone = phone.ForLog(f.Phone)
	}
	if x.MessageID > 0 {
		f.Message = &x.MessageID
		return f, nil
	}
	if x.Effect != sms.NotMatched {
		return f, nil
	}
	list, err := s.follow.Candidates(ctx, x, a.Country)
	for _, m := range list {
		f.MayBe = append(f.MayBe, ReportOwner{m.ID, m.CampaignID, sms.MayLink(m, x.DeliveryReport, a.Country)})
	}
	return f, err
}

// LinkReport ties an unmatched report to a message, and answers with the message.
func (s Follow) LinkReport(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Message int64 `json:"message"`
	}
	key, err := apiID(r)
	if err != nil {
		return err
	}
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	if _, err := s.store.Message(r.Context(), said.Message); errors.Is(err, sms.ErrNotFound) {
		return wrongField(http.StatusUnprocessableEntity, "message", "No message with this id")
	}
	if err := s.orders.LinkReport(r.Context(), p.user, key, said.Message); err != nil {
		return changedTo(err, "The report or the message is not as it was, or does not fit. Nothing was linked")
	}
	return s.writeMessage(w, r, p, said.Message)
}

// Gap is a time in which delivery reports could not be taken.
type Gap struct {
	From   *string `json:"from"`
	Until  *string `json:"until"`
	Silent int64   `json:"silent"` // messages that have no report since
	Check  *Check  `json:"check"`  // the questions about them; nil: nobody asked
}

// Check is how far the provider was asked about the messages of a gap.
type Check struct {
	State    string  `json:"state"`
	Total    int64   `json:"total"`
	Asked    int64   `json:"asked"`
	Resolved int64   `json:"resolved"`
	By       string  `json:"by"`
	Since    *string `json:"since"`
}

// ListGaps lists the gaps of the last seven days, newest first.
func (s Follow) ListGaps(w http.ResponseWriter, r *http.Request, _ apiCaller) error {
	a, err := s.Kept().accountAsked(r)
	if err != nil {
		return err
	}
	list, err := s.orders.Gaps(r.Context())
	if err != nil {
		return err
	}
	slices.Reverse(list)
	answer := page[Gap]{Items: []Gap{}}
	for _, g := range list {
		form, err := s.gapForm(r.Context(), a, g)
		if err != nil {
			return err
		}
		answer.Items = append(answer.Items, form)
	}
	return writeJSON(w, http.StatusOK, answer)
}

func (s Follow) gapForm(ctx context.Context, a sms.Account, g sms.Outage) (Gap, error) {
	f := Gap{From: moment(g.From), Until: moment(g.Until)}
	var err error
	if f.Silent, err = s.follow.CountSilent(ctx, a.ID, g.From-sms.GapReach.Milliseconds(), g.Until); err != nil {
		return f, err
	}
	i, err := s.follow.Inquiry(ctx, a.ID, g.From)
	if errors.Is(err, sms.ErrNotFound) {
		return f, nil
	}
	f.Check = &Check{string(i.State), i.Total, i.Asked, i.Resolved, i.By.Name, moment(i.StartedAt)}
	return f, err
}

// AskAboutGap asks the provider about the messages whose reports may be lost.
func (s Follow) AskAboutGap(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	return s.gapOrder(w, r, p, s.orders.AskAboutGap)
}

// StopAsking ends those questions.
func (s Follow) StopAsking(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	return s.gapOrder(w, r, p, s.orders.StopAsking)
}

func (s Follow) gapOrder(w http.ResponseWriter, r *http.Request, p apiCaller,
	order func(ctx context.Context, by sms.User, account, from int64) error) error {
	var said struct {
		Account string `json:"account"`
		From    string `json:"from"`
	}
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	a, err := s.accountFor(r.Context(), said.Account)
	if err != nil {
		return err
	}
	const unknown = "Give from as GET told it"
	from, err := time.Parse(time.RFC3339, said.From)
	if err != nil {
		return wrongField(http.StatusUnprocessableEntity, "from", unknown)
	}
	list, err := s.orders.Gaps(r.Context())
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(g sms.Outage) bool { return g.From == from.UnixMilli() })
	if at < 0 {
		return wrongField(http.StatusUnprocessableEntity, "from", unknown)
	}
	if err := order(r.Context(), p.user, a.ID, list[at].From); err != nil {
		return err
	}
	form, err := s.gapForm(r.Context(), a, list[at])
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, form)
}
