package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

// Counts are a campaign's messages by state. Their sum is the number of its
// rows; a message that waits for the campaign's start counts as queued.
type Counts struct {
	Queued        int64 `json:"queued"`
	Claimed       int64 `json:"claimed"`
	Sending       int64 `json:"sending"`
	Accepted      int64 `json:"accepted"`
	Refused       int64 `json:"refused"`
	InDoubt       int64 `json:"inDoubt"`
	Held          int64 `json:"held"`
	Skipped       int64 `json:"skipped"`
	Cancelled     int64 `json:"cancelled"`
	ClosedUnknown int64 `json:"closedUnknown"`
	ClosedResent  int64 `json:"closedResent"`
}

// Delivery are the accepted messages by what was last reported.
type Delivery struct {
	Delivrd   int64 `json:"DELIVRD"`
	Undeliv   int64 `json:"UNDELIV"`
	Expired   int64 `json:"EXPIRED"`
	Deleted   int64 `json:"DELETED"`
	Unknown   int64 `json:"UNKNOWN"`
	Acceptd   int64 `json:"ACCEPTD"`
	Rejectd   int64 `json:"REJECTD"`
	Blacklist int64 `json:"BLACKLIST"`
	None      int64 `json:"none"`
}

// Plan is how a campaign's messages go to the provider.
type Plan struct {
	Calls   int64   `json:"calls"`
	Text    int64   `json:"text"`    // calls with one text for many numbers
	Pairs   int64   `json:"pairs"`   // calls with a text for each number
	Minutes float64 `json:"minutes"` // at the account's rate
}

type Campaign struct {
	ID         int64    `json:"id"`
	Name       string   `json:"name"`
	Account    string   `json:"account"`
	SenderID   string   `json:"senderId"`
	Text       string   `json:"text"`
	State      string   `json:"state"`
	Reason     string   `json:"reason"` // why smsdesk paused it, or who cancelled it
	Test       bool     `json:"test"`
	Flash      bool     `json:"flash"`
	Group      string   `json:"group"`                // the provider's group that it goes to, "" for none
	HandedOver bool     `json:"scheduleWithProvider"` // the provider keeps it until scheduleAt
	Rows       int64    `json:"rows"`
	Parts      int64    `json:"parts"`
	Counts     Counts   `json:"counts"`
	Delivery   Delivery `json:"delivery"`
	// AlreadySent is told of one campaign, not in a list of them.
	AlreadySent *AlreadySent `json:"alreadySent,omitempty"`
	// Remembered counts rows of a draft that an older database knows to be sent.
	Remembered int64   `json:"remembered,omitempty"`
	Plan       Plan    `json:"plan"`
	CreatedAt  *string `json:"createdAt"`
	CreatedBy  string  `json:"createdBy"`
	ScheduleAt *string `json:"scheduleAt"`
	StartedAt  *string `json:"startedAt"`
	StartedBy  string  `json:"startedBy"`
	FinishedAt *string `json:"finishedAt"`
	ApprovedAt *string `json:"approvedAt"`
	ApprovedBy string  `json:"approvedBy"` // the second person, "" where none was asked
}

type CampaignPage struct {
	Items      []Campaign `json:"items"`
	NextCursor *string    `json:"nextCursor"`
}

// campaignForm is a campaign as programs see it. One whose account smsdesk has
// paused is paused: nothing of it is sent.
func campaignForm(c sms.CampaignCount, a sms.Account) Campaign {
	x, n, d := c.Campaign, c.States, c.Delivery
	f := Campaign{ID: x.ID, Name: x.Name, Account: a.Name, SenderID: x.SenderID, Text: x.Text, State: string(x.State),
		Reason: x.Pause, Test: x.Test, Flash: x.Flash, Group: x.GroupName, HandedOver: x.HandOver,
		Rows: total(n), Parts: x.Parts, CreatedAt: moment(x.CreatedAt), CreatedBy: x.CreatedName,
		ScheduleAt: moment(x.SendAt), StartedAt: moment(x.StartedAt),
		StartedBy: x.StartedName, FinishedAt: moment(x.FinishedAt), ApprovedAt: moment(x.Approval.ApprovedAt),
		ApprovedBy: x.Approval.ApprovedName}
	if x.State == sms.CampaignRunning && a.Pause != "" {
		f.State, f.Reason = string(sms.CampaignPaused), a.Pause
	}
	f.Counts = Counts{Queued: n[sms.Draft] + n[sms.Queued], Claimed: n[sms.Claimed], Sending: n[sms.Sending],
		Accepted: n[sms.Accepted], Refused: n[sms.Refused],
		InDoubt: n[sms.InDoubt], Held: n[sms.Held], Skipped: n[sms.Skipped], Cancelled: n[sms.Cancelled],
		ClosedUnknown: n[sms.ClosedUnknown], ClosedResent: n[sms.ClosedResent]}
	f.Delivery = Delivery{Delivrd: d[sms.Delivrd], Undeliv: d[sms.Undeliv], Expired: d[sms.Expired],
		Deleted: d[sms.Deleted], Unknown: d[sms.Unknown],
		Acceptd: d[sms.Acceptd], Rejectd: d[sms.Rejectd], Blacklist: d[sms.Blacklist], None: d[sms.NoReport]}
	calls := x.CallsText + x.CallsPairs
	f.Plan = Plan{Calls: calls, Text: x.CallsText, Pairs: x.CallsPairs,
		Minutes: math.Round(100*float64(calls)/float64(max(a.PerMinute, 1))) / 100}
	return f
}

func total(n map[sms.State]int64) (sum int64) {
	for _, of := range n {
		sum += of
	}
	return sum
}

// programCampaign finds the campaign of an address with its account.
func (s *API) programCampaign(r *http.Request) (sms.CampaignCount, sms.Account, error) {
	id, err := apiID(r)
	if err != nil {
		return sms.CampaignCount{}, sms.Account{}, err
	}
	return s.countCampaign(r.Context(), id)
}

func (s *API) countCampaign(ctx context.Context, id int64) (sms.CampaignCount, sms.Account, error) {
	c, err := s.store.CountCampaign(ctx, id)
	if err != nil {
		return c, sms.Account{}, err
	}
	a, err := s.store.Account(ctx, c.Campaign.AccountID)
	return c, a, err
}

func (s *API) PublishImport(w http.ResponseWriter, r *http.Request, _ apiCaller) error {
	c, a, err := s.programCampaign(r)
	if err != nil {
		return err
	}
	return s.write(w, r, http.StatusOK, c, a)
}

// ListCampaigns lists campaigns from the newest on.
func (s *API) ListCampaigns(w http.ResponseWriter, r *http.Request, _ apiCaller) error {
	p, err := readPage(r)
	if err != nil {
		return err
	}
	f := sms.CampaignFilter{Before: p.cursor, Limit: p.limit}
	if name := r.URL.Query().Get("account"); name != "" {
		a, err := s.store.AccountNamed(r.Context(), name)
		if errors.Is(err, sms.ErrNotFound) {
			return wrongField(http.StatusBadRequest, "account", "No account with this name")
		}
		if err != nil {
			return err
		}
		f.AccountID = a.ID
	}
	list, more, err := s.store.CountCampaigns(r.Context(), f)
	if err != nil {
		return err
	}
	accounts, err := s.store.Accounts(r.Context())
	if err != nil {
		return err
	}
	by := map[int64]sms.Account{}
	for _, a := range accounts {
		by[a.ID] = a
	}
	answer := CampaignPage{Items: []Campaign{}}
	for _, c := range list {
		answer.Items = append(answer.Items, campaignForm(c, by[c.Campaign.AccountID]))
		answer.NextCursor = cursorAfter(more, c.Campaign.ID)
	}
	return writeJSON(w, http.StatusOK, answer)
}

// write answers with one campaign.
func (s *API) write(w http.ResponseWriter, r *http.Request, status int, c sms.CampaignCount, a sms.Account) error {
	form, err := s.one(r.Context(), c, a)
	if err != nil {
		return err
	}
	return writeJSON(w, status, form)
}

// programOrder gives an order about the campaign of an address and answers with
// the campaign as it is then.
func (s *API) programOrder(w http.ResponseWriter, r *http.Request,
	order func(context.Context, sms.Campaign, sms.Account) error) error {
	c, a, err := s.programCampaign(r)
	if err != nil {
		return err
	}
	err = order(r.Context(), c.Campaign, a)
	if errors.Is(err, sms.ErrConflict) {
		return s.stateProblem(r.Context(), c.Campaign.ID)
	}
	if err != nil {
		return err
	}
	if c, a, err = s.countCampaign(r.Context(), c.Campaign.ID); err != nil {
		return err
	}
	return s.write(w, r, http.StatusOK, c, a)
}

// plainOrder is programOrder for what takes no fields.
func (s *API) plainOrder(w http.ResponseWriter, r *http.Request, order func(context.Context, sms.Campaign) error) error {
	if _, err := readBody(r, &struct{}{}); err != nil {
		return err
	}
	return s.programOrder(w, r, func(ctx context.Context, c sms.Campaign, _ sms.Account) error { return order(ctx, c) })
}

// stateProblem says that a campaign's state does not allow an order.
func (s *API) stateProblem(ctx context.Context, id int64) error {
	c, err := s.store.Campaign(ctx, id)
	if err != nil {
		return err
	}
	detail := fmt.Sprintf("This is not possible while the campaign is %s", c.State)
	if c.StartedAt > 0 && c.StartedName != "" {
		detail += fmt.Sprintf(". %s started it at %s", c.StartedName, *moment(c.StartedAt))
	}
	p := newProblem(http.StatusConflict, detail)
	p.Type = ProblemState
	return p
}

// Send starts a draft, or schedules it where it was made with a time. Asking
// again gives the campaign as it is, as long as it is on its way.
func (s *API) Send(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said sendOrder
	return s.keyedOrder(w, r, p, &said, func(ctx context.Context, c sms.Campaign, a sms.Account) error {
		if said.WithProvider && c.SendAt == 0 {
			return wrongField(http.StatusUnprocessableEntity, "scheduleWithProvider",
				"The campaign has no time. Create it with scheduleAt")
		}
		if said.IfAlreadySent != "" && said.IfAlreadySent != alreadySend && said.IfAlreadySent != alreadyRefuse {
			return wrongField(http.StatusUnprocessableEntity, "ifAlreadySent",
				"Must be send or refuse. Recipients are left out when the campaign is created")
		}
		_, err := s.startFor(ctx, p, c, a, said)
		return err
	})
}

// sendOrder is what the body of an order to send may say.
type sendOrder struct {
	MayRepeat     bool   `json:"mayRepeat"`
	WithProvider  bool   `json:"scheduleWithProvider"`
	IfAlreadySent string `json:"ifAlreadySent"`
}

// keyedOrder is programOrder for what sends: it reads the body, in which nothing
// unknown may stand, and does once what was asked for under one Idempotency-Key.
func (s *API) keyedOrder(w http.ResponseWriter, r *http.Request, p apiCaller, said any,
	order func(context.Context, sms.Campaign, sms.Account) error) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	body, err := readBody(r, said)
	if err != nil {
		return err
	}
	return s.programOrder(w, r, func(ctx context.Context, c sms.Campaign, a sms.Account) error {
		_, err := s.once(ctx, p, key, requestSum(r, body), func(string) (int64, error) { return c.ID, order(ctx, c, a) })
		return err
	})
}

// requestSum tells one order about a thing from others.
func requestSum(r *http.Request, body []byte) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%s %s %s", r.Method, r.URL.Path, body))
}

// readBody reads a small order into a struct; no body, and an empty one, says
// nothing. A field that the struct does not have is refused by its name.
func readBody(r *http.Request, into any) (body []byte, err error) {
	if body, err = io.ReadAll(r.Body); err != nil || len(bytes.TrimSpace(body)) == 0 {
		return body, err
	}
	in := json.NewDecoder(bytes.NewReader(body))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return body, jsonFault(err, "")
	}
	if _, err := in.Token(); err != io.EOF {
		return body, notJSON("unexpected data after the object")
	}
	return body, nil
}

// startFor gives the order to send. What asks a person is not asked; where the
// account wants a second person's yes, that is asked for.
func (s *API) startFor(ctx context.Context, p apiCaller, c sms.Campaign, a sms.Account,
	said sendOrder) (sms.Campaign, error) {
	if c.Waits() && c.Approval.AskedBy == p.user.ID {
		return c, nil
	}
	if !c.MayStart() {
		if c.State == sms.CampaignStopped || c.State == sms.CampaignCancelled || c.StartedBy != p.user.ID {
			return c, fmt.Errorf("send campaign %d: %w", c.ID, sms.ErrConflict)
		}
		return c, nil
	}
	if err := s.mayRefuse(ctx, c, said.IfAlreadySent); err != nil {
		return c, err
	}
	o := desk.StartOrder{Version: c.Version, Again: true, FromToken: true, MayRepeat: said.MayRepeat, Token: p.token.ID}
	needed, err := s.desk.NeedsApproval(ctx, c)
	if err != nil {
		return c, err
	}
	if needed {
		ask := desk.Ask{StartOrder: o, HandOver: said.WithProvider}
		if c.SendAt > 0 {
			ask.At = scheduleFor(c.SendAt, a)
		}
		return s.desk.AskApproval(ctx, p.user, c.ID, ask)
	}
	if said.WithProvider {
		return s.desk.HandOverCampaign(ctx, p.user, c.ID, scheduleFor(c.SendAt, a), o)
	}
	if c.SendAt > 0 {
		return s.desk.ScheduleCampaign(ctx, p.user, c.ID, scheduleFor(c.SendAt, a), o)
	}
	return s.desk.StartCampaign(ctx, p.user, c.ID, o)
}

// testOrder asks for one message of a campaign on a phone of the person's own.
type testOrder struct {
	Phone   string `json:"phone"`
	Message int64  `json:"message"`
}

// Test sends the text of one message of a campaign to one number, as a campaign
// of its own.
func (s *API) Test(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	var said testOrder
	body, err := readBody(r, &said)
	if err != nil {
		return err
	}
	c, _, err := s.programCampaign(r)
	if err != nil {
		return err
	}
	return s.createdOnce(w, r, p, key, requestSum(r, body), func(token string) (int64, error) {
		if said.Message == 0 {
			list, _, err := s.store.Messages(r.Context(), sms.MessageFilter{CampaignID: c.Campaign.ID,
				States: []sms.State{sms.Draft}, Limit: 1})
			if err != nil {
				return 0, err
			}
			if len(list) == 0 {
				return 0, s.stateProblem(r.Context(), c.Campaign.ID)
			}
			said.Message = list[0].ID
		}
		test, err := s.desk.SendTest(r.Context(), p.user, c.Campaign.ID,
			desk.TestOrder{MessageID: said.Message, Number: said.Phone, Token: token})
		return test.ID, err
	})
}

// createdOnce answers with the campaign that an order made, once for a key.
func (s *API) createdOnce(w http.ResponseWriter, r *http.Request, p apiCaller, key string, sum [32]byte,
	order func(token string) (campaign int64, err error)) error {
	made, err := s.once(r.Context(), p, key, sum, order)
	if err != nil {
		return err
	}
	c, a, err := s.countCampaign(r.Context(), made)
	if err != nil {
		return err
	}
	w.Header().Set("Location", Path+"/campaigns/"+strconv.FormatInt(made, 10))
	return s.write(w, r, http.StatusCreated, c, a)
}

// Stop keeps back what has not left.
func (s *API) Stop(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	return s.plainOrder(w, r, func(ctx context.Context, c sms.Campaign) error {
		if c.State == sms.CampaignStopped {
			return nil
		}
		_, err := s.desk.StopCampaign(ctx, p.user, c.ID)
		return err
	})
}

// Continue lets a campaign go on, and its account where smsdesk paused that;
// for the account a stronger role is needed.
func (s *API) Continue(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		MayRepeat bool `json:"mayRepeat"`
	}
	return s.keyedOrder(w, r, p, &said, func(ctx context.Context, c sms.Campaign, a sms.Account) error {
		if c.State != sms.CampaignRunning && !c.MayContinue() {
			return fmt.Errorf("continue campaign %d: %w", c.ID, sms.ErrConflict)
		}
		if a.Pause != "" {
			if err := s.desk.ResumeAccount(ctx, p.user, a.ID); err != nil {
				return err
			}
		}
		if c.State == sms.CampaignRunning {
			return nil
		}
		_, err := s.desk.ContinueCampaign(ctx, p.user, c.ID, desk.ContinueOrder{MayRepeat: said.MayRepeat, Token: p.token.ID})
		return err
	})
}

// Cancel gives up what has not been sent, for good.
func (s *API) Cancel(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	return s.plainOrder(w, r, func(ctx context.Context, c sms.Campaign) error {
		_, err := s.desk.CancelCampaign(ctx, p.user, c.ID)
		return err
	})
}

// scheduleFor is a moment as the account's people see it.
func scheduleFor(ms int64, a sms.Account) sms.Schedule {
	return sms.ScheduleAt(time.UnixMilli(ms).In(a.Location()))
}
