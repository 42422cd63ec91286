package desk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"smsdesk/internal/feed"
	"smsdesk/internal/phone"
	"smsdesk/internal/radar"
	"smsdesk/internal/sms"
)

// Campaigns takes the orders about campaigns, from the first draft to the last
// start. Whatever lets messages leave asks its checks.
type Campaigns struct {
	work
	store   CampaignStore
	people  *People
	records *Records
	journal *Journal
}

// CampaignStore is what those orders need to be remembered.
type CampaignStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	BlockedSince(ctx context.Context, c sms.Campaign, most int) (messages, parts int64, known bool, err error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	CreateDraft(ctx context.Context, c sms.Campaign, token string, messages []sms.Message, replaces,
		now int64) (made sms.Campaign, created bool, err error)
	IncludeSent(ctx context.Context, campaign int64) error
	Message(ctx context.Context, id int64) (sms.Message, error)
	ListByID(ctx context.Context, id int64) (sms.List, error)
	Messages(ctx context.Context, f sms.MessageFilter) (list []sms.Message, more bool, err error)
	Recipients(ctx context.Context, campaign int64) iter.Seq2[sms.Recipient, error]
	ReplanDraft(ctx context.Context, c sms.Campaign, messages []sms.Message, now int64) (sms.Campaign, error)
	SaveWritten(ctx context.Context, user, account int64, key, form string, now int64) error
	SetTestNumber(ctx context.Context, user int64, number string) error
	Tally(ctx context.Context, id int64) (sms.Tally, error)
	UpdateCampaign(ctx context.Context, id, now int64, change func(*sms.Campaign) error) (sms.Campaign, error)
	Users(ctx context.Context) ([]sms.User, error)
	radar.Store
}

// Order is what a person typed for a campaign to a few numbers or to a group.
type Order struct {
	AccountID int64
	Name      string // proposed from the text when empty
	SenderID  string
	Numbers   string // as typed or pasted
	GroupID   string // a gateway group instead of numbers
	GroupName string
	Text      string
	Template  string            // name of the service's template whose text Text is, "" for own text
	Fixed     map[string]string // what stands in the place of each mark of Text, for everybody; by sms.PlaceholderKey
	Flash     bool
	Token     string // one-use: the same token gives the same campaign
	Replaces  int64  // a draft of the same person that this one takes the place of, or 0
	testOf    int64  // the campaign whose text is tried on the person's own phone, or 0
}

// maxTyped is the most numbers that can be typed; more belong into a list.
const maxTyped = 1000

// CreateCampaign checks an order and stores it as a draft, for the person to
// confirm. Blocked numbers are left out: their messages are skipped from the
// start. The fields of its Invalid are sender_id, numbers, text, name and, for a
// mark without a text, "field:" with its sms.PlaceholderKey.
func (d *Campaigns) CreateCampaign(ctx context.Context, by sms.User, o Order) (sms.Campaign, error) {
	if err := by.May(sms.Sender, "create campaign"); err != nil {
		return sms.Campaign{}, err
	}
	account, err := d.store.Account(ctx, o.AccountID)
	if err != nil {
		return sms.Campaign{}, err
	}
	if len(o.Token) < 32 || len(o.Token) > 128 {
		return sms.Campaign{}, fmt.Errorf("create campaign: %w: the form is not one of ours", sms.ErrConflict)
	}
	if err := d.mayReplace(ctx, by, o.Replaces); err != nil {
		return sms.Campaign{}, err
	}
	c, messages, bad := prepare(account, o)
	if sentence, err := d.records.SenderProblem(ctx, o.AccountID, o.SenderID); err != nil {
		return sms.Campaign{}, err
	} else if sentence != "" {
		bad["sender_id"] = sentence
	}
	if _, unreadable := bad["numbers"]; !unreadable {
		if sentence, err := d.people.leaveOutBlocked(ctx, account, &c, messages); err != nil {
			return sms.Campaign{}, err
		} else if sentence != "" {
			bad["numbers"] = sentence
		}
	}
	if err := bad.Or(); err != nil {
		return sms.Campaign{}, err
	}
	limit, err := d.records.textLimit(ctx, account, c)
	if err != nil {
		return sms.Campaign{}, err
	}
	if err := divided(limit, &c, messages); err != nil {
		return sms.Campaign{}, err
	}
	c.CreatedBy, c.CreatedName, c.TestOf = by.ID, by.Name, o.testOf
	made, created, err := d.store.CreateDraft(ctx, c, o.Token, messages, o.Replaces, d.ms())
	if err != nil {
		return sms.Campaign{}, err
	}
	if made.CreatedBy != by.ID {
		return sms.Campaign{}, fmt.Errorf("create campaign: %w: the form was used by somebody else", sms.ErrConflict)
	}
	if created {
		d.feed.Publish(feed.Campaigns(o.AccountID))
	}
	return made, nil
}

func (d *Campaigns) mayReplace(ctx context.Context, by sms.User, id int64) error {
	if id == 0 {
		return nil
	}
	old, err := d.store.Campaign(ctx, id)
	if errors.Is(err, sms.ErrNotFound) {
		return nil
	}
	if err == nil && old.CreatedBy != by.ID {
		err = fmt.Errorf("replace draft: %w", sms.ErrForbidden)
	}
	return err
}

func prepare(account sms.Account, o Order) (sms.Campaign, []sms.Message, sms.Invalid) {
	bad := sms.Invalid{}
	text := filled(o, bad)
	segments := sms.CountSegments(text, false)
	if sentence := sms.CheckText(text, segments, account.MaxParts); sentence != "" && bad["text"] == "" {
		bad["text"] = sentence
	}
	name := strings.TrimSpace(o.Name)
	if name == "" {
		name = sms.NameFromText(text)
	}
	if name != "" {
		if _, sentence := checkCampaignName(name); sentence != "" {
			bad["name"] = sentence
		}
	}
	c := sms.Campaign{AccountID: account.ID, Name: name, SenderID: o.SenderID, Text: text, Unicode: segments.Unicode,
		Flash:   o.Flash,
		GroupID: o.GroupID, GroupName: o.GroupName, Template: o.Template, TextKey: radar.TemplateKey(o.Text)}
	if c.TextKey == radar.KeyEach {
		c.TextKey = radar.Key(text)
	}
	base := sms.Message{Text: text, Unicode: segments.Unicode, Parts: segments.Parts}
	if o.GroupID != "" {
		c.Recipients, c.Parts = 1, int64(segments.Parts)
		c.Fingerprint = sms.Fingerprint(o.SenderID, text, []string{"group " + o.GroupID})
		return c, []sms.Message{base}, bad
	}
	read := phone.ReadAll(o.Numbers, account.Country, account.Abroad)
	if sentence := numbersProblem(read); sentence != "" {
		bad["numbers"] = sentence
	}
	messages := make([]sms.Message, len(read.Good))
	for i, n := range read.Good {
		messages[i] = base
		messages[i].Row, messages[i].Number = int64(i+1), n
	}
	c.Recipients, c.Parts = int64(len(messages)), int64(len(messages)*segments.Parts)
	c.Fingerprint = sms.Fingerprint(o.SenderID, text, read.Good)
	return c, messages, bad
}

func numbersProblem(read phone.Numbers) string {
	switch {
	case len(read.Bad) == 1:
		return read.Bad[0].Sentence
	case len(read.Bad) > 1:
		return fmt.Sprintf("%d numbers cannot be used. First problem: %s", len(read.Bad), read.Bad[0].Sentence)
	case len(read.Good) == 0:
		return "Enter at least one phone number"
	case len(read.Good) > maxTyped:
		return fmt.Sprintf("You can enter up to 1,000 numbers. You entered %d. Upload a list instead", len(read.Good))
	}
	return ""
}

// StartOrder is what somebody says who lets a campaign go: now, at a time of
// its own, or by the provider's schedule.
type StartOrder struct {
	Version int64 // of the campaign as it was shown; another one is sms.ErrConflict
	// Again confirms that those are meant too who got nearly this text lately.
	Again bool
	// Typed is the number of recipients as a person typed it; it is looked at
	// only above the account's TypeAbove.
	Typed string
	// Blind confirms that a group's numbers can be neither shown nor checked.
	Blind bool
	// FromToken says that a program gives the order with an API token. What asks
	// a person is not asked then.
	FromToken bool
	// MayRepeat says that the person, or the program, was told that some may get
	// the messages twice and sends all the same.
	MayRepeat bool
	Token     int64 // the API token's id where FromToken
}

// StartCampaign starts a draft. Whoever presses twice, reloads or goes back
// gets the campaign as it is; when somebody else started it first, or changed
// it, the error is sms.ErrConflict and the campaign says who and when. The
// fields of its Invalid are sender_id, group, blind, limit, again, typed,
// may_repeat and, where a second person has to say yes, approval.
func (d *Campaigns) StartCampaign(ctx context.Context, by sms.User, id int64, o StartOrder) (sms.Campaign, error) {
	if err := by.May(sms.Sender, "start campaign"); err != nil {
		return sms.Campaign{}, err
	}
	c, err := d.store.Campaign(ctx, id)
	if err != nil {
		return c, err
	}
	if !c.MayStart() {
		return alreadyStarted(c, by)
	}
	if err := d.mayGo(ctx, by, c, c.StartWay(), o); err != nil {
		return c, err
	}
	started, err := d.store.UpdateCampaign(ctx, id, d.ms(), func(c *sms.Campaign) error {
		return c.Start(by, o.Version, o.Again, d.now())
	})
	if err != nil {
		return d.notStarted(ctx, by, c, err)
	}
	d.audit(ctx, by, "campaign.start", feed.Campaign(id),
		fmt.Sprintf("%d messages, %d parts", started.Recipients, started.Parts))
	d.feed.Publish(feed.Campaign(id), feed.Campaigns(started.AccountID))
	return started, nil
}

// notStarted is what a start that failed gives back: after a conflict the campaign
// as it is, where the same person has started it before.
func (d *Campaigns) notStarted(ctx context.Context, by sms.User, c sms.Campaign, err error) (sms.Campaign, error) {
	if !errors.Is(err, sms.ErrConflict) {
		return c, err
	}
	if c, err = d.store.Campaign(ctx, c.ID); err != nil {
		return c, err
	}
	return alreadyStarted(c, by)
}

func alreadyStarted(c sms.Campaign, by sms.User) (sms.Campaign, error) {
	if c.StartedBy == by.ID && c.StartedAt > 0 {
		return c, nil
	}
	return c, fmt.Errorf("start campaign %d: %w", c.ID, sms.ErrConflict)
}

// StopCampaign keeps back what has not left. What is with the provider cannot
// be called back.
func (d *Campaigns) StopCampaign(ctx context.Context, by sms.User, id int64) (sms.Campaign, error) {
	return d.updateCampaign(ctx, by, id, "campaign.stop", (*sms.Campaign).Stop)
}

// ContinueOrder is what somebody says who continues a campaign.
type ContinueOrder struct {
	MayRepeat bool  // as in StartOrder
	Token     int64 // of the program that gives the order, 0: a person
}

// ContinueCampaign goes on sending, beginning with a small first call again. A
// campaign that was held at its scheduled time starts, and one that could not
// be handed over in time sends the rest by itself. The field of its Invalid is
// may_repeat.
func (d *Campaigns) ContinueCampaign(ctx context.Context, by sms.User, id int64,
	o ContinueOrder) (sms.Campaign, error) {
	if err := by.May(sms.Sender, "campaign.continue"); err != nil {
		return sms.Campaign{}, err
	}
	c, err := d.store.Campaign(ctx, id)
	if err != nil {
		return c, err
	}
	if !c.MayContinue() {
		return c, fmt.Errorf("continue campaign %d: %w", id, sms.ErrConflict)
	}
	order := StartOrder{MayRepeat: o.MayRepeat, Token: o.Token}
	if c.Held() {
		return d.release(ctx, by, c, order)
	}
	if err := d.mayGo(ctx, by, c, sms.WayContinue, order); err != nil {
		return c, err
	}
	return d.updateCampaign(ctx, by, id, "campaign.continue", func(now *sms.Campaign) error {
		return now.Continue(c, d.now())
	})
}

// CancelCampaign gives a campaign up for good: what has not left is never sent
// and nobody can continue it. Calls under way end as they end. Whoever cancels
// a cancelled one gets it as it is; one that has finished is sms.ErrConflict.
func (d *Campaigns) CancelCampaign(ctx context.Context, by sms.User, id int64) (sms.Campaign, error) {
	if err := by.May(sms.Sender, "campaign.cancel"); err != nil {
		return sms.Campaign{}, err
	}
	if c, err := d.store.Campaign(ctx, id); err != nil || c.State == sms.CampaignCancelled {
		return c, err
	}
	return d.updateCampaign(ctx, by, id, "campaign.cancel", func(c *sms.Campaign) error { return c.Cancel(by, d.now()) })
}

func (d *Campaigns) updateCampaign(ctx context.Context, by sms.User, id int64, action string,
	change func(*sms.Campaign) error) (sms.Campaign, error) {
	if err := by.May(sms.Sender, action); err != nil {
		return sms.Campaign{}, err
	}
	c, err := d.store.UpdateCampaign(ctx, id, d.ms(), change)
	if err != nil {
		return c, err
	}
	d.audit(ctx, by, action, feed.Campaign(id), "")
	d.feed.Publish(feed.Campaign(id), feed.Campaigns(c.AccountID))
	return c, nil
}
