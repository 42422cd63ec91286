package desk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// maxCounted is the longest campaign whose newly blocked numbers are counted
// while a person waits for the page.
const maxCounted = 20_000

// Outgoing counts what of a draft would leave.
func (d *Campaigns) Outgoing(ctx context.Context, c sms.Campaign) (sms.Outgoing, error) {
	tally, err := d.store.Tally(ctx, c.ID)
	if err != nil {
		return sms.Outgoing{}, err
	}
	blocked, parts, known, err := d.store.BlockedSince(ctx, c, maxCounted)
	if err != nil {
		return sms.Outgoing{}, err
	}
	sent, sentParts, err := d.journal.remembered(ctx, c)
	return sms.Outgoing{Messages: max(0, tally["draft"]-blocked-health.SumSends(sent)),
		Parts:   max(0, c.Parts-parts-sentParts),
		LeftOut: tally["leftout"], Blocked: blocked, Unsure: !known, Sent: sent}, err
}

// typedProblem asks a person for the number of recipients of a large campaign. A
// run of a series has a ceiling of its cost instead: nobody is there to type.
func (d *Campaigns) typedProblem(ctx context.Context, c sms.Campaign, o StartOrder) (sentence string, err error) {
	if o.FromToken || c.GroupID != "" || c.SeriesID > 0 {
		return "", nil
	}
	account, err := d.store.Account(ctx, c.AccountID)
	if err != nil {
		return "", err
	}
	out, err := d.Outgoing(ctx, c)
	if err != nil || !out.Asks(account) {
		return "", err
	}
	return out.TypedProblem(o.Typed), nil
}

const maxCampaignName = 100 // characters

func checkCampaignName(name string) (trimmed, sentence string) {
	name = strings.Join(strings.Fields(strings.ToValidUTF8(name, "�")), " ")
	switch {
	case name == "":
		return name, "Enter a name for the campaign"
	case len([]rune(name)) > maxCampaignName:
		return name, "Name must be 100 characters or fewer"
	}
	return name, ""
}

// RenameCampaign gives a campaign that has not started another name. The field
// of its Invalid is name.
func (d *Campaigns) RenameCampaign(ctx context.Context, by sms.User, id int64, name string) (sms.Campaign, error) {
	name, sentence := checkCampaignName(name)
	if sentence != "" {
		return sms.Campaign{}, sms.Invalid{"name": sentence}
	}
	return d.updateCampaign(ctx, by, id, "campaign.rename", func(c *sms.Campaign) error { return c.Rename(name) })
}

// TestOrder asks for one message of a draft to be sent to a phone of the
// person's own.
type TestOrder struct {
	MessageID int64
	Number    string // as typed
	Token     string // one-use: the same token gives the same test
}

// SendTest sends the text of one message of a draft to one number, as a
// campaign of its own that starts at once: it is in every record, costs what
// it costs, and goes to no blocked number. The person's number is remembered.
// The fields of its Invalid are test_number and sender_id.
func (d *Campaigns) SendTest(ctx context.Context, by sms.User, campaign int64, o TestOrder) (sms.Campaign, error) {
	if err := by.May(sms.Sender, "send test"); err != nil {
		return sms.Campaign{}, err
	}
	c, err := d.store.Campaign(ctx, campaign)
	if err != nil {
		return c, err
	}
	m, err := d.store.Message(ctx, o.MessageID)
	if err == nil && m.CampaignID != c.ID {
		err = fmt.Errorf("send test of message %d: %w", m.ID, sms.ErrNotFound)
	}
	if err != nil {
		return sms.Campaign{}, err
	}
	account, err := d.store.Account(ctx, c.AccountID)
	if err != nil {
		return sms.Campaign{}, err
	}
	number, err := testNumber(o.Number, account)
	if err != nil {
		return sms.Campaign{}, err
	}
	made, err := d.CreateCampaign(ctx, by, Order{AccountID: c.AccountID, Name: testName(c.Name), SenderID: c.SenderID,
		Numbers: "+" + number,
		Text:    m.Text, Flash: c.Flash, Token: testToken(campaign, o), testOf: c.ID})
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return sms.Campaign{}, testInvalid(bad)
	}
	if err != nil {
		return made, err
	}
	if err := d.store.IncludeSent(ctx, made.ID); err != nil {
		return made, err
	}
	if made, err = d.StartCampaign(ctx, by, made.ID, StartOrder{Version: made.Version, Again: true}); err != nil {
		return made, err
	}
	d.audit(ctx, by, "campaign.test", feed.Campaign(campaign), "as campaign "+strconv.FormatInt(made.ID, 10))
	return made, d.store.SetTestNumber(ctx, by.ID, number)
}

// testNumber reads the one number of a test.
func testNumber(typed string, account sms.Account) (string, error) {
	if strings.TrimSpace(typed) == "" {
		return "", sms.Invalid{"test_number": "Enter the number of your own phone"}
	}
	if strings.ContainsAny(typed, ",;/|&\n") {
		return "", sms.Invalid{"test_number": "Enter one number"}
	}
	phone, err := phone.Parse(typed, account.Country, account.Abroad)
	if err != nil {
		return "", sms.Invalid{"test_number": err.Error()}
	}
	return phone.Number, nil
}

func testName(name string) string {
	letters := []rune("Test of " + name)
	return string(letters[:min(len(letters), maxCampaignName)])
}

// testToken makes a form's token good for one message to one number.
func testToken(campaign int64, o TestOrder) string {
	if o.Token == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "test %q %d %d %q", o.Token, campaign, o.MessageID, o.Number))
	return hex.EncodeToString(sum[:])
}

// testInvalid puts the sentences of a campaign to the one field of a test.
func testInvalid(bad sms.Invalid) sms.Invalid {
	if sentence := bad["sender_id"]; sentence != "" {
		return sms.Invalid{"sender_id": sentence}
	}
	for _, field := range []string{"numbers", "text", "name"} {
		if sentence := bad[field]; sentence != "" {
			return sms.Invalid{"test_number": sentence}
		}
	}
	return bad
}
