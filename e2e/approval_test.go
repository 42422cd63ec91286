package e2e

import (
	"context"
	"regexp"
	"testing"

	"github.com/playwright-community/playwright-go"

	"smsdesk/internal/sms"
	"smsdesk/storage"
)

// approveAbove turns the second person on for the office's first account, as
// an administrator does it.
func (p *tab) approveAbove(n string) {
	p.t.Helper()
	p.open("/settings/account/1/limits")
	p.fill("Require approval above", n)
	p.press("Save limits")
	p.sees("Saved.")
}

// asksApproval composes a campaign and asks for its approval.
func (p *tab) asksApproval(text string, numbers ...string) {
	p.t.Helper()
	p.compose(text, numbers...)
	p.sees("This campaign needs approval")
	p.picture("approval-ask")
	p.press("Ask for approval")
	p.sees("Waiting for approval")
}

// TestTwoPeopleSendACampaign: Ada asks, Bola looks and sends it back, Ada asks
// again, Bola approves; the same with scripts turned off.
func TestTwoPeopleSendACampaign(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	ada := newTab(t, b, o.base)
	ada.firstRun(o)
	password := writeFile(t, "password", adaPassword)
	must(t, binary(t, ""), "--data", o.data, "user", "add", "--email", "bola@example.com", "--name", "Bola Ade", "--role",
		"approver", "--password-file", password)
	ada.approveAbove("1")
	phone := playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false),
		Viewport: &playwright.Size{Width: 390, Height: 844}}
	bola, plainAda, plainBola := newTab(t, b, o.base), newTab(t, b, o.base, phone), newTab(t, b, o.base, phone)
	bola.signIn("bola@example.com", adaPassword)
	plainAda.signIn(adaEmail, adaPassword)
	plainBola.signIn("bola@example.com", adaPassword)
	for i, pair := range [][2]*tab{{ada, bola}, {plainAda, plainBola}} {
		author, second := pair[0], pair[1]
		text := "Approve me, " + []string{"rich", "plain"}[i]
		author.asksApproval(text, "0803 000 0001", "0803 000 0101")
		author.sees("Waiting for Bola Ade")
		author.picture([]string{"approval-waits", "approval-waits-plain"}[i])
		if n := len(ledger(t, o.sandbox)); n != 2*i {
			t.Fatalf("%d messages went out before anybody approved", n-2*i)
		}
		second.open("/campaigns?state=needs-approval")
		if i == 0 { // on a phone it stands behind the menu
			second.sees("Approve 1")
		}
		second.picture([]string{"approval-list", "approval-list-plain"}[i])
		second.follow(text)
		second.follow("Review")
		second.sees("Approve this campaign?")
		second.follow("Next")
		second.sees("Message 2 of 2")
		second.fill("What has to change", "Friday is a holiday")
		second.press("Send back")
		second.sees("Sent back by Bola Ade")

		author.open("/campaigns?state=drafts")
		author.follow(text)
		author.sees("Friday is a holiday")
		author.follow("Check and send")
		author.press("Ask for approval")
		author.sees("Waiting for approval")

		second.open("/campaigns?state=needs-approval")
		second.follow(text)
		second.follow("Review")
		second.sees("Approve and send 2 messages")
		second.picture([]string{"approval-decide", "approval-decide-plain"}[i])
		second.press("Approve and send 2 messages")
		second.do(second.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
		second.sees("Approved by Bola Ade")
		if i == 0 {
			second.row("0803 000 0001", "Delivered")
		}
		waitFor(t, patience, "both messages", func() bool { return len(ledger(t, o.sandbox)) == 2*(i+1) })
		second.picture([]string{"approval-done", "approval-done-plain"}[i])
	}
	ada.quiet()
	bola.quiet()

	db, err := storage.Open(context.Background(), storage.Config{Data: o.data})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	list, _, err := db.Campaigns(context.Background(), sms.CampaignFilter{Limit: 10})
	if err != nil || len(list) != 2 {
		t.Fatalf("%d campaigns, %v", len(list), err)
	}
	for _, r := range list {
		if p := r.Campaign.Approval; p.ApprovedName != "Bola Ade" || p.AskedBy == p.ApprovedBy ||
			r.Campaign.CreatedBy == p.ApprovedBy {
			t.Errorf("%+v", p)
		}
	}
}
