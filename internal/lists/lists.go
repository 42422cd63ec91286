// Package lists is what becomes of an uploaded file: it is read, checked row by
// row, and made into a campaign or into contacts; and what came of a campaign
// leaves as a file again. It alone opens uploaded files. It makes drafts and
// starts nothing: it must never know what sends them, nor the provider.
package lists

import (
	"context"
	"io"
	"log/slog"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/plan"
	"smsdesk/internal/radar"
	"smsdesk/internal/sms"
)

// Lists takes the orders of staff about uploaded lists. What takes longer than
// a request is left to the Importer.
type Lists struct {
	store     Store
	feed      *feed.Feed
	log       *slog.Logger
	now       func() time.Time
	audit     feed.Audit
	stops     *sms.StopLinks
	checks    Checks
	corrected Corrected
	already   AlreadyStore
	profiles  *profileCache
	surveys   *surveyCache
}

// Config is what lists are worked on with.
type Config struct {
	Feed  *feed.Feed
	Log   *slog.Logger
	Now   func() time.Time // the wall clock
	Audit feed.Audit
	Stops *sms.StopLinks // nil: texts hold no links
	Checks
	Corrected
	Already AlreadyStore
}

// AlreadyStore is asked who got nearly the same text, and remembers what is
// decided about a campaign for that.
type AlreadyStore interface {
	radar.Store
	FillTextKeys(ctx context.Context) (more bool, err error)
	ReopenList(ctx context.Context, uid string, c sms.Campaign, now int64,
		change func(*sms.List) error) (sms.List, error)
}

// Corrected is what people corrected in lists and added to them.
type Corrected interface {
	Addition(uid, name string) (sms.File, error)
	KeepAddition(uid, name string, body io.Reader, most int64) error
	// Corrections lists the corrected cells of a list in the order of rows.
	Corrections(ctx context.Context, list int64) ([]sms.Correction, error)
}

// Checks is what is known of an account's sending.
type Checks interface {
	// SenderProblem says why an account cannot send with a sender ID; "": it can.
	SenderProblem(ctx context.Context, account int64, sender string) (string, error)
	// PlanLimits are the bounds of the calls that send a campaign.
	PlanLimits(ctx context.Context, a sms.Account, c sms.Campaign) (plan.Limits, error)
}

// Store is what the orders need to be remembered.
type Store interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	Audience(ctx context.Context, id int64) (sms.Audience, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	ContactColumns(ctx context.Context, account int64) ([]sms.ContactColumn, error)
	CountAudience(ctx context.Context, a sms.Audience) (int64, error)
	CreateList(ctx context.Context, l sms.List, token string, now int64) (made sms.List, created bool, err error)
	DeleteList(ctx context.Context, l sms.List) error
	DropUpload(uid string) error
	EachContact(ctx context.Context, a sms.Audience, do func(sms.Contact) error) error
	FreeSpace() (int64, error)
	KeepUpload(uid string, body io.Reader, most int64) (size int64, hash string, err error)
	List(ctx context.Context, uid string) (sms.List, error)
	ListByToken(ctx context.Context, token string) (sms.List, error)
	ListFolder(uid string) string
	ListMapping(ctx context.Context, account int64, headerKey string) (sms.ListOrder, error)
	ListNotes(ctx context.Context, uid string, f sms.RowFilter) (list []sms.RowNote, more bool, err error)
	PutListMapping(ctx context.Context, account int64, headerKey string, o sms.ListOrder, now int64) error
	ReadSetting(ctx context.Context, name string) (string, error)
	UpdateList(ctx context.Context, uid string, now int64, change func(*sms.List) error) (sms.List, error)
	Upload(uid string) (sms.File, error)
}

// New returns what takes orders about lists.
func New(store Store, c Config) *Lists {
	return &Lists{store: store, feed: c.Feed, log: c.Log, now: c.Now, audit: c.Audit, stops: c.Stops, checks: c.Checks,
		corrected: c.Corrected, already: c.Already,
		profiles: &profileCache{}, surveys: &surveyCache{}}
}

func (d *Lists) ms() int64 { return d.now().UnixMilli() }
