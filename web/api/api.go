// Package api is what other programs can ask, over tokens and JSON; openapi.yaml
// describes it. It must never know a page, a view, a cookie or a session.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/lists"
	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// API answers other programs.
type API struct {
	store    Questions
	desk     Orders
	data     DataOrders
	kept     KeptQuestions
	tokens   TokenOrders
	lists    ListOrders
	drafts   DraftOrders
	follow   FollowQuestions
	orders   FollowOrders
	feed     *feed.Feed
	log      *slog.Logger
	now      func() time.Time
	pace     *tokenLimiter // of programs
	uploads  semaphore     // for what programs send
	stopping <-chan struct{}
	keys     *keyLock // Idempotency-Keys in work
	id       func(ctx context.Context) string
	spool    string // the folder for what programs send, until it is a list
}

// Config is what it needs to work.
type Config struct {
	Ask  Questions
	Do   Orders
	Data DataOrders
	Kept KeptQuestions
	// Drafts changes campaigns that have not started.
	Drafts DraftOrders
	// Follow and Decide are about what became of messages.
	Follow FollowQuestions
	Decide FollowOrders
	// Tokens knows programs.
	Tokens TokenOrders
	// Lists takes the files that programs send.
	Lists ListOrders
	Feed  *feed.Feed
	Log   *slog.Logger
	Now   func() time.Time
	// RequestID names a request in the log.
	RequestID func(ctx context.Context) string
	// Spool is the folder for what programs send, until it is a list; "" is the
	// system's for such files.
	Spool string
	// Stopping is closed when the desk stops: whoever waits is told to come again.
	Stopping <-chan struct{}
}

func New(c Config) *API {
	return &API{store: c.Ask, desk: c.Do, data: c.Data, kept: c.Kept, tokens: c.Tokens, lists: c.Lists, feed: c.Feed,
		drafts: c.Drafts, follow: c.Follow, orders: c.Decide, log: c.Log, now: c.Now, id: c.RequestID, pace: newPace(),
		uploads: make(semaphore, uploadsAtOnce), keys: newKeys(), spool: c.Spool, stopping: c.Stopping}
}

// A body that is no list may have bodyMost bytes and take bodyTime.
const (
	bodyMost = 1 << 20
	bodyTime = time.Minute
)

// Questions are what api ask of the storage.
type Questions interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	AccountNamed(ctx context.Context, name string) (sms.Account, error)
	Accounts(ctx context.Context) ([]sms.Account, error)
	Balances(ctx context.Context, account int64) ([]sms.Balance, error)
	BlockedNumbers(ctx context.Context, f sms.BlockedFilter) (list []sms.Blocked, more bool, err error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	Contacts(ctx context.Context, f sms.ContactFilter) (list []sms.Contact, more bool, err error)
	CountCampaign(ctx context.Context, id int64) (sms.CampaignCount, error)
	CountCampaigns(ctx context.Context, f sms.CampaignFilter) (list []sms.CampaignCount, more bool, err error)
	Groups(ctx context.Context, account int64) ([]sms.Group, error)
	List(ctx context.Context, uid string) (sms.List, error)
	ListByID(ctx context.Context, id int64) (sms.List, error)
	ListNotes(ctx context.Context, uid string, f sms.RowFilter) ([]sms.RowNote, bool, error)
	Message(ctx context.Context, id int64) (sms.Message, error)
	Messages(ctx context.Context, f sms.MessageFilter) (list []sms.Message, more bool, err error)
	SenderIDs(ctx context.Context, account int64) ([]sms.SenderID, error)
	Templates(ctx context.Context, account int64) ([]sms.Template, error)
	// Setting is "" for what was never set.
	ReadSetting(ctx context.Context, name string) (string, error)
}

// KeptQuestions are what is asked about contacts and template drafts.
type KeptQuestions interface {
	Audience(ctx context.Context, id int64) (sms.Audience, error)
	Audiences(ctx context.Context, account int64, limit int) ([]sms.Audience, error)
	ContactColumns(ctx context.Context, account int64) ([]sms.ContactColumn, error)
	TemplateDraft(ctx context.Context, account, id int64) (sms.TemplateDraft, error)
	TemplateDrafts(ctx context.Context, account int64) ([]sms.TemplateDraft, error)
}

// Orders are what programs do.
type Orders interface {
	AlreadySent(ctx context.Context, c sms.Campaign) (*sms.AlreadySent, error)
	AskApproval(ctx context.Context, by sms.User, id int64, o desk.Ask) (sms.Campaign, error)
	CancelCampaign(ctx context.Context, by sms.User, id int64) (sms.Campaign, error)
	CancelSchedule(ctx context.Context, by sms.User, id int64) (sms.Campaign, error)
	ContinueCampaign(ctx context.Context, by sms.User, id int64, o desk.ContinueOrder) (sms.Campaign, error)
	CreateCampaign(ctx context.Context, by sms.User, o desk.Order) (sms.Campaign, error)
	HandOverCampaign(ctx context.Context, by sms.User, id int64, at sms.Schedule, o desk.StartOrder) (sms.Campaign, error)
	NeedsApproval(ctx context.Context, c sms.Campaign) (bool, error)
	ProposeSchedule(ctx context.Context, by sms.User, id int64, at sms.Schedule) (sms.Campaign, error)
	RepeatWarningForProgram(ctx context.Context, by sms.User, a sms.Account, mayRepeat bool, token int64) (string, error)
	RescheduleCampaign(ctx context.Context, by sms.User, id int64, at sms.Schedule, o desk.StartOrder) (sms.Campaign, error)
	Resend(ctx context.Context, by sms.User, o desk.ResendOrder) (sms.Campaign, error)
	ResumeAccount(ctx context.Context, by sms.User, id int64) error
	ScheduleCampaign(ctx context.Context, by sms.User, id int64, at sms.Schedule, o desk.StartOrder) (sms.Campaign, error)
	SendTest(ctx context.Context, by sms.User, campaign int64, o desk.TestOrder) (sms.Campaign, error)
	StartCampaign(ctx context.Context, by sms.User, id int64, o desk.StartOrder) (sms.Campaign, error)
	StopCampaign(ctx context.Context, by sms.User, id int64) (sms.Campaign, error)
	UsableTemplate(ctx context.Context, by sms.User, account int64, name string) (sms.Template, error)
}

// FollowQuestions are what is asked about what became of messages.
type FollowQuestions interface {
	Candidates(ctx context.Context, r sms.StoredReport, country string) ([]sms.Message, error)
	CountSilent(ctx context.Context, account, from, until int64) (int64, error)
	Decision(ctx context.Context, id int64) (sms.Decision, error)
	DoubtGroups(ctx context.Context, c sms.Campaign, country string, after int64, limit int,
		now int64) (list []sms.DoubtGroup, more bool, err error)
	Inquiry(ctx context.Context, account, from int64) (sms.StatusCheck, error)
	MessageAsked(ctx context.Context, id int64) ([]sms.StatusQuery, error)
	Proposals(ctx context.Context, campaign int64) ([]sms.Decision, error)
	Reports(ctx context.Context, f sms.ReportFilter) (list []sms.StoredReport, more bool, err error)
	SearchMessages(ctx context.Context, f sms.MessageSearch) (list []sms.FoundMessage, next sms.MessageCursor, err error)
}

// FollowOrders are what programs do about what became of messages.
type FollowOrders interface {
	AskAboutGap(ctx context.Context, by sms.User, account, from int64) error
	AskMessage(ctx context.Context, by sms.User, message int64) error
	DecideDoubts(ctx context.Context, by sms.User, campaign int64, choices []sms.DecisionItem,
		readAt int64) (sms.DecisionResult, error)
	DropDoubts(ctx context.Context, by sms.User, id int64) (sms.Decision, error)
	Gaps(ctx context.Context) ([]sms.Outage, error)
	LinkReport(ctx context.Context, by sms.User, key, message int64) error
	StopAsking(ctx context.Context, by sms.User, account, from int64) error
}

// Follow answers programs about what became of messages.
type Follow struct{ *API }

// Follow are those addresses.
func (s *API) Follow() Follow { return Follow{s} }

// TokenOrders are who a program is, and which of its requests it repeats.
type TokenOrders interface {
	EndRequest(ctx context.Context, by sms.User, r sms.TokenRequest) error
	OpenRequest(ctx context.Context, by sms.User, r sms.TokenRequest) (sms.TokenRequest, error)
	UseToken(ctx context.Context, secret string) (sms.Token, error)
}

// DataOrders are what programs do with what an account keeps.
type DataOrders interface {
	BlockNumbers(ctx context.Context, by sms.User, o desk.BlockOrder) (added, all int, err error)
	ChangeMembers(ctx context.Context, by sms.User, account, audience int64, contacts []int64, in bool) (int64, error)
	ChooseDefaultSender(ctx context.Context, by sms.User, account, id int64) error
	CreateGroup(ctx context.Context, by sms.User, account, parent int64, name string) (said string, err error)
	CreateSenderID(ctx context.Context, by sms.User, account int64, text, purpose string) (said string, err error)
	CreateTemplate(ctx context.Context, by sms.User, account, draft int64) (said string, err error)
	DeleteAudience(ctx context.Context, by sms.User, account, id int64) (sms.Audience, error)
	DeleteContact(ctx context.Context, by sms.User, account, id int64) (sms.Contact, error)
	DeleteGroup(ctx context.Context, by sms.User, account, id int64, typed string) (said string, err error)
	DeleteSenderID(ctx context.Context, by sms.User, account, id int64) (said string, err error)
	DeleteTemplate(ctx context.Context, by sms.User, account, id int64) (said string, err error)
	DeleteTemplateDraft(ctx context.Context, by sms.User, account, id int64) error
	RenameGroup(ctx context.Context, by sms.User, account, id int64, seen, name string) (said string, err error)
	SaveAudience(ctx context.Context, by sms.User, o desk.AudienceOrder) (sms.Audience, error)
	SaveContact(ctx context.Context, by sms.User, o desk.ContactOrder) (sms.Contact, error)
	SaveTemplateDraft(ctx context.Context, by sms.User, d sms.TemplateDraft) (sms.TemplateDraft, error)
	UpdatePurpose(ctx context.Context, by sms.User, account, id int64, seen, purpose string) (said string, err error)
	UpdateTemplate(ctx context.Context, by sms.User, account int64, seen sms.Template, name, text string) (said string,
		err error)
	UnblockNumber(ctx context.Context, by sms.User, id int64, why string) (sms.Blocked, error)
}

// ListOrders are what programs do with lists.
type ListOrders interface {
	CheckList(ctx context.Context, by sms.User, uid string, version int64, o sms.ListOrder) (sms.List, error)
	DropList(ctx context.Context, by sms.User, uid string) error
	ListAudience(ctx context.Context, by sms.User, account, id int64, token string) (sms.List, error)
	ListProfile(ctx context.Context, by sms.User, uid string) (sms.List, lists.Profile, error)
	MakeCampaign(ctx context.Context, by sms.User, uid string, version int64, m lists.MakeOrder) (sms.List, error)
	ProposeOrder(ctx context.Context, l sms.List, p sheet.Profile) (sms.ListOrder, error)
	UploadList(ctx context.Context, by sms.User, o lists.UploadOrder, body io.Reader) (sms.List, error)
	Warnings(ctx context.Context, by sms.User, uid string) ([]string, error)
}

// Path begins every address that is for other programs. There no cookie is
// looked at and none is set; who asks is told by a bearer token.
const Path = "/api/v1"

// Handler answers one request of one program, or returns an error, of
// which handleProgram alone makes problem details.
type Handler func(w http.ResponseWriter, r *http.Request, p apiCaller) error

// apiCaller is who asks: the token, and the person as whom it acts.
type apiCaller struct {
	token sms.Token
	user  sms.User
}

// masked says that this person sees phone numbers only in part.
func (p apiCaller) masked() bool { return !p.user.Role.AtLeast(sms.Sender) }

// Handle is the one way from an address for programs to its handler: who
// is it, may they, not too often, answer.
// stream says that it takes a body of any size and looks after its size itself.
func (s *API) Handle(pattern string, least sms.Role, stream bool, do Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		p, err := s.programOf(r)
		if err == nil && !p.user.Role.AtLeast(least) {
			err = newProblem(http.StatusForbidden, "This token acts with the "+p.user.Role.Title()+" role, and this needs the "+
				least.Title()+" role")
		}
		if err == nil {
			err = s.pace.wait(r.Context(), p.token.ID)
		}
		if err == nil && !stream {
			if r.Body != http.NoBody {
				// Where the connection has no deadline there is none to miss.
				_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
			}
			r.Body = http.MaxBytesReader(w, r.Body, bodyMost)
		}
		if err == nil {
			err = do(w, r, p)
		}
		if err != nil {
			s.failProgram(w, r, p, pattern, err)
		}
	})
}

func (s *API) failProgram(w http.ResponseWriter, r *http.Request, who apiCaller, pattern string, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return
	}
	p := apiProblem(err)
	if p.Status >= http.StatusInternalServerError && p.Status != http.StatusServiceUnavailable {
		p.Instance = s.id(r.Context())
		s.log.Error("request failed", "id", p.Instance, "method", r.Method, "route", pattern, "user", who.user.ID, "token",
			who.token.ID, "error", err)
	}
	switch p.Status {
	case http.StatusUnauthorized:
		challenge := `Bearer realm="smsdesk"`
		if r.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
	case http.StatusForbidden:
		w.Header().Set("WWW-Authenticate", `Bearer realm="smsdesk", error="insufficient_scope"`)
	}
	writeProblem(w, s.log, p)
}

// programOf finds the program behind a request's token.
func (s *API) programOf(r *http.Request) (apiCaller, error) {
	scheme, secret, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return apiCaller{}, newProblem(http.StatusUnauthorized, "Send a token in the Authorization header: Bearer <token>")
	}
	t, err := s.tokens.UseToken(r.Context(), strings.TrimSpace(secret))
	if errors.Is(err, sms.ErrNotFound) {
		return apiCaller{}, newProblem(http.StatusUnauthorized,
			"Token is unknown or revoked, or its user can no longer sign in")
	}
	return apiCaller{t, t.User}, err
}

// writeJSON writes a whole answer or nothing of it.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write an answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A program that has gone away is nobody's error.
	_, _ = w.Write(append(body, '\n'))
	return nil
}

// moment is a stored time for programs; nil for never.
func moment(ms int64) *string {
	if ms == 0 {
		return nil
	}
	text := time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
	return &text
}

// apiID reads the number of a thing out of the address.
func apiID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, fmt.Errorf("address: %w", sms.ErrNotFound)
	}
	return id, nil
}

const (
	pageDefault = 100
	pageMost    = 1000
)

// listPart is which part of a list is asked for. An empty cursor is the first.
type listPart struct {
	limit  int
	cursor int64
}

func readPage(r *http.Request) (listPart, error) {
	q := r.URL.Query()
	p := listPart{limit: pageDefault}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > pageMost {
			return p, wrongField(http.StatusBadRequest, "limit", "limit must be between 1 and 1,000")
		}
		p.limit = n
	}
	if text := q.Get("cursor"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return p, wrongField(http.StatusBadRequest, "cursor",
				"cursor must be the nextCursor of the previous page, unchanged")
		}
		p.cursor = n
	}
	return p, nil
}

// cursorAfter is the cursor of the page after the one that ends with this id; nil
// after the last.
func cursorAfter(more bool, last int64) *string {
	if !more {
		return nil
	}
	text := strconv.FormatInt(last, 10)
	return &text
}

// tokenLimiter slows a program down that asks faster than a person could read, and
// refuses one that asks faster still.
type tokenLimiter struct {
	mu sync.Mutex
	by map[int64]*rate.Limiter
}

const (
	paceRate  = 200 // requests a second of one token
	paceBurst = 1000
	paceWait  = 5 * time.Second // the most that a request waits for its turn
)

func newPace() *tokenLimiter { return &tokenLimiter{by: map[int64]*rate.Limiter{}} }

func (p *tokenLimiter) of(token int64) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by[token] == nil {
		p.by[token] = rate.NewLimiter(paceRate, paceBurst)
	}
	return p.by[token]
}

func (p *tokenLimiter) wait(ctx context.Context, token int64) error {
	turn := p.of(token).Reserve()
	delay := turn.Delay()
	if delay > paceWait {
		turn.Cancel()
		slow := newProblem(http.StatusTooManyRequests,
			fmt.Sprintf("Rate limit: %d requests per second per token. Retry later", paceRate))
		slow.retryAfter = int(delay/time.Second) + 1
		return slow
	}
	if delay <= 0 {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
