package lists_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/lists"
	"smsdesk/internal/radar"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// people are the rows of n contacts.
func people(first, n int) string {
	var b strings.Builder
	b.WriteString("phone,name\n")
	for i := range n {
		fmt.Fprintf(&b, "0803%07d,Person %d\n", first+i, first+i)
	}
	return b.String()
}

func (r *kit) checkedList(text, content string) sms.List {
	r.T.Helper()
	l := r.upload("a.csv", content)
	return r.checked(l, order(l, text))
}

// started has a campaign made of a list and starts it.
func (r *kit) started(text, content string) sms.Campaign {
	r.T.Helper()
	l := r.checkedList(text, content)
	c, err := r.DB.Campaign(r.Ctx, l.CampaignID)
	if err != nil {
		r.T.Fatal(err)
	}
	return r.Start(c)
}

const closedText = "Dear ##name##, we are closed."

// TestWhoGotNearlyThisTextIsFound number by number, not list by list. Twelve
// more were found before; forty more, half of it and one sign were not.
func TestWhoGotNearlyThisTextIsFound(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	if l := r.checkedList(closedText, people(0, 200)); l.State != sms.ListMade || l.Tally.Already != nil {
		t.Fatalf("%+v", l)
	}
	sent := r.started(closedText, people(0, 200))
	by := r.By
	r.By = sms.User{ID: 7, Name: "Bola Ade", Role: sms.Sender, Active: true}
	for name, c := range map[string]struct {
		text, content string
		got, of       int64
	}{
		"the same":                {closedText, people(0, 200), 200, 200},
		"12 more":                 {closedText, people(0, 212), 200, 212},
		"40 more":                 {closedText, people(0, 240), 200, 240},
		"40 others":               {closedText, people(40, 200), 160, 200},
		"half of it":              {closedText, people(0, 100), 100, 100},
		"one sign more":           {closedText + "!", people(0, 200), 200, 200},
		"other case and blanks":   {"DEAR  ##name## - we are\nclosed", people(0, 200), 200, 200},
		"another placeholder":     {"Dear ##phone##, we are closed.", people(0, 200), 200, 200},
		"filled otherwise":        {closedText, strings.ReplaceAll(people(0, 200), "Person", "Dr"), 200, 200},
		"five of a thousand":      {closedText, people(195, 1005), 5, 1005},
		"four of a thousand":      {closedText, people(196, 1004), 0, 0},
		"one of ten":              {closedText, people(199, 10), 1, 10},
		"one of eleven":           {closedText, people(199, 11), 0, 0},
		"another text":            {"Dear ##name##, we are open.", people(0, 200), 0, 0},
		"one letter more":         {"Dear ##name##, we are closed. A", people(0, 200), 0, 0},
		"nobody of them":          {closedText, people(500, 200), 0, 0},
		"the same, above a limit": {closedText, people(0, 1200), 200, 1200},
	} {
		l := r.checkedList(c.text, c.content)
		a := l.Tally.Already
		if c.got == 0 {
			if l.State != sms.ListMade || a.Asks() {
				t.Errorf("%s: %s %+v", name, l.State, a)
			}
			continue
		}
		if l.State != sms.ListChecked || a == nil || a.Recipients != c.got || a.Of != c.of || a.CampaignID != sent.ID ||
			a.ByName != by.Name || a.Waiting != c.got || a.Campaigns != 1 || l.Tally.Good != c.of {
			t.Errorf("%s: %s %+v", name, l.State, a)
		}
	}
}

// TestOwnTextsAreHeldOneByOne: a row with a text of its own is compared by that
// text, and with a filled template nearly all of which is placeholders.
func TestOwnTextsAreHeldOneByOne(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	const own = "phone,message\n08031234561,Your balance is 500\n08031234562,Your balance is 700\n08031234563,Good morning\n"
	l := r.upload("a.csv", own)
	o := order(l, "")
	o.Message = 1
	l = r.checked(l, o)
	c, err := r.DB.Campaign(r.Ctx, l.CampaignID)
	if err != nil || c.TextKey != radar.KeyEach {
		t.Fatalf("%+v %v", c, err)
	}
	r.Start(c)
	l = r.upload("b.csv", strings.NewReplacer("700", "800", "Good morning", "GOOD MORNING!").Replace(own))
	o = order(l, "")
	o.Message = 1
	if a := r.checked(l, o).Tally.Already; a == nil || a.Recipients != 2 || a.Of != 3 {
		t.Errorf("%+v", a)
	}
	l = r.upload("c.csv", strings.Replace(own, "message", "Words", 1))
	if a := r.checked(l, order(l, "##Words##")).Tally.Already; a == nil || a.Recipients != 3 {
		t.Errorf("%+v", a)
	}
}

func TestATypedCampaignIsComparedToo(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	typed := r.Start(r.Draft("CLINIC", "Hello", "08031234567", "08031234568"))
	l := r.checkedList("Hello", "phone\n08031234568\n08031234567\n")
	if a := l.Tally.Already; a == nil || a.CampaignID != typed.ID || a.Recipients != 2 {
		t.Fatalf("%s %+v", l.State, a)
	}
	l, err := r.Desk.LeaveOutAlready(r.Ctx, r.By, l.UID, l.Version, false, true)
	if err != nil {
		t.Fatal(err)
	}
	l = r.made(l, lists.MakeOrder{})
	if c, err := r.DB.Campaign(r.Ctx, l.CampaignID); err != nil || c.Fingerprint != typed.Fingerprint ||
		c.Text != "Hello" || c.CallsText != 1 || !c.SendAgain {
		t.Errorf("%+v %v", c, err)
	}
}

// messagesOf counts a campaign's messages that leave and those that are left
// out because of nearly the same text.
func (r *kit) messagesOf(campaign int64) (leave, left int, reason string) {
	r.T.Helper()
	list, _, err := r.DB.Messages(r.Ctx, sms.MessageFilter{CampaignID: campaign, Limit: 1000})
	if err != nil {
		r.T.Fatal(err)
	}
	for _, m := range list {
		switch {
		case m.State == sms.Draft:
			leave++
		case m.Code == sms.CodeAlready:
			left, reason = left+1, m.Reason
		}
	}
	return leave, left, reason
}

// TestOnlyTheNewOnesAreSentTo, and those left out are taken back, before and
// after the campaign is made.
func TestOnlyTheNewOnesAreSentTo(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	r.started(closedText, people(0, 160))
	l := r.checkedList(closedText, people(0, 200))
	decide := func(leaveOut, again bool) {
		t.Helper()
		after, err := r.Desk.LeaveOutAlready(r.Ctx, r.By, l.UID, l.Version, leaveOut, again)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := r.Desk.LeaveOutAlready(r.Ctx, r.By, l.UID, l.Version, leaveOut, again); err != nil ||
			twice.Version != after.Version {
			t.Errorf("pressed twice: %+v %v", twice, err)
		}
		l = after
	}
	counts := func() string {
		return fmt.Sprint(l.Tally.Good, l.Tally.LeftOut(), l.Tally.Already.LeftOut, l.Again)
	}
	decide(true, false)
	if got := counts(); got != "40 160 true false" {
		t.Errorf("left out: %s", got)
	}
	decide(false, false)
	if got := counts(); got != "200 0 false false" {
		t.Errorf("taken back: %s", got)
	}
	decide(false, true)
	if got := counts(); got != "200 0 false true" {
		t.Errorf("to all: %s", got)
	}
	decide(true, false)
	l = r.made(l, lists.MakeOrder{})
	c := r.campaignOf(l)
	leave, left, reason := r.messagesOf(c.ID)
	if leave != 40 || left != 160 || !strings.HasPrefix(reason, "Got nearly this text on ") || c.Recipients != 200 ||
		c.Parts != 40 || c.SendAgain {
		t.Errorf("%d leave, %d left out: %q %+v", leave, left, reason, c)
	}
	for _, leaveOut := range []bool{false, true} {
		old := r.campaignOf(l)
		renamed, err := r.Desk.RenameCampaign(r.Ctx, r.By, old.ID, "Closed on Friday")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Desk.Remake(r.Ctx, r.By, l.UID, old, leaveOut); !errors.Is(err, sms.ErrConflict) {
			t.Errorf("made anew of what nobody saw: %v", err)
		}
		if _, err = r.Desk.Remake(r.Ctx, r.By, l.UID, renamed, leaveOut); err != nil {
			t.Fatal(err)
		}
		l = r.settled(l.UID)
		c = r.campaignOf(l)
		leave, left, _ := r.messagesOf(c.ID)
		if want := map[bool]int{false: 200, true: 40}[leaveOut]; leave != want || left != 200-want ||
			c.Name != "Closed on Friday" || c.SendAgain {
			t.Errorf("made anew %t: %d leave, %d left out, %+v", leaveOut, leave, left, c)
		}
		if _, err := r.DB.Campaign(r.Ctx, old.ID); !errors.Is(err, sms.ErrNotFound) {
			t.Errorf("the draft before is there: %v", err)
		}
	}
	r.Start(c)
	if _, err := r.Desk.Remake(r.Ctx, r.By, l.UID, c, true); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a started campaign was made anew: %v", err)
	}
}

func (r *kit) campaignOf(l sms.List) sms.Campaign {
	r.T.Helper()
	c, err := r.DB.Campaign(r.Ctx, l.CampaignID)
	if err != nil {
		r.T.Fatal(err)
	}
	return c
}

// TestACorrectedRowIsLookedUpToo, when the campaign is made.
func TestACorrectedRowIsLookedUpToo(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	r.started(closedText, people(0, 3))
	l := r.checkedList(closedText, "phone,name\n080312,Ada\n08031234567,Bola\n")
	if l.State != sms.ListChecked || l.Tally.Already != nil {
		t.Fatalf("%s %+v", l.State, l.Tally)
	}
	l = r.corrected(l.UID, lists.Cell{Row: 2, Column: 0, Value: "08030000001"})
	l = r.made(l, lists.MakeOrder{})
	if a := l.Tally.Already; a == nil || a.Recipients != 1 || a.Of != 2 || l.Tally.LookedAt == 0 {
		t.Errorf("%+v", l.Tally)
	}
	if _, err := r.Desk.StartCampaign(r.Ctx, r.By, l.CampaignID, desk.StartOrder{Version: 1}); said(err) == "" {
		t.Errorf("%v", err)
	}
}

// said is the sentence about those who got nearly the same text.
func said(err error) string {
	var bad sms.Invalid
	errors.As(err, &bad)
	return bad["again"]
}
