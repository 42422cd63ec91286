package desk_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// importer starts the loop that works on lists.
func (r *rig) importer() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	im := desk.NewImporter(r.desk, r.db)
	go func() { done <- im.Run(ctx) }()
	r.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("importer: %v", err)
		}
	})
}

func (r *rig) upload(name, content string) sms.List {
	r.t.Helper()
	l, err := r.desk.UploadList(r.ctx, r.by, desk.UploadOrder{AccountID: r.account.ID, FileName: name, Token: desk.NewToken()}, strings.NewReader(content))
	if err != nil {
		r.t.Fatal(err)
	}
	return l
}

// order is what the desk proposes, with a sender ID and a text.
func order(l sms.List, text string) sms.ListOrder {
	o := l.Order
	o.SenderID, o.Text = "CLINIC", text
	if text != "" {
		o.Message = -1
		for _, m := range sms.Marks(text) {
			for i, c := range l.Reading.Columns {
				if sms.MarkKey(c) == sms.MarkKey(m) {
					o.Fields[sms.MarkKey(m)] = i
				}
			}
		}
	}
	return o
}

// settled waits until a list needs a person, or has its campaign.
func (r *rig) settled(uid string) sms.List {
	r.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		l, err := r.db.List(r.ctx, uid)
		if err != nil {
			r.t.Fatal(err)
		}
		if l.State != sms.ListChecking && l.State != sms.ListMaking {
			return l
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("list is still %s", l.State)
		}
	}
}

func (r *rig) checked(l sms.List, o sms.ListOrder) sms.List {
	r.t.Helper()
	if _, err := r.desk.CheckList(r.ctx, r.by, l.UID, l.Version, o); err != nil {
		r.t.Fatal(err)
	}
	return r.settled(l.UID)
}

func (r *rig) listMessages(campaign int64) []sms.Message {
	r.t.Helper()
	list, _, err := r.db.Messages(r.ctx, sms.MessageFilter{CampaignID: campaign, Limit: 10_000})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func TestACleanListGoesStraightToItsCampaign(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	r.importer()
	l := r.upload(`C:\Users\Ada\june-list.csv`, "Phone,First name\n08031234567,Ada\n08031234568,Bola\n")
	if l.FileName != "june-list.csv" || l.State != sms.ListUploaded || l.Order.Phone != 0 {
		t.Fatalf("%+v", l)
	}
	l = r.checked(l, order(l, "Dear ##First name##, we are closed on Monday."))
	if l.State != sms.ListMade || l.CampaignID == 0 {
		t.Fatalf("%+v", l)
	}
	c, err := r.db.Campaign(r.ctx, l.CampaignID)
	if err != nil || c.State != sms.CampaignDraft || c.Recipients != 2 || c.Parts != 2 || c.Name != "june-list" || c.ListID != l.ID || c.CallsPairs+c.CallsText != 1 || c.Text != "" {
		t.Fatalf("%+v %v", c, err)
	}
	var got []string
	for _, m := range r.listMessages(c.ID) {
		got = append(got, fmt.Sprintf("%d %s %s %s %d", m.Row, m.Number, m.Text, m.State, m.Call))
	}
	want := "[2 2348031234567 Dear Ada, we are closed on Monday. draft 0 3 2348031234568 Dear Bola, we are closed on Monday. draft 0]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v", got)
	}
}

func (r *rig) leftovers() []string {
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(r.db.ListFolder("x")), "*"))
	return found
}

func TestWhatIsRefusedLeavesNothingBehind(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	for name, content := range map[string]string{"": "", "a.csv": "%PDF-1.4 x", "b.csv": "phone,name\n"} {
		_, err := r.desk.UploadList(r.ctx, r.by, desk.UploadOrder{AccountID: r.account.ID, FileName: name, Token: desk.NewToken()}, strings.NewReader(content))
		if err == nil {
			t.Errorf("%q was taken", content)
		}
		t.Log(err)
	}
	if left := r.leftovers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
