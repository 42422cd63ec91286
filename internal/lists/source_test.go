package lists_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/desk"
	"smsdesk/internal/lists"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// parents is an audience of three: the first two have an amount.
func (r *kit) parents(name string) sms.Audience {
	r.T.Helper()
	r.peopleFrom("phone,name,amount\n08031234501,Ada,10\n08031234502,Bola,20\n08031234503,Chidi,\n")
	a, err := r.Desk.SaveAudience(r.Ctx, r.By, desk.AudienceOrder{AccountID: r.Account.ID, Name: name})
	if err != nil {
		r.T.Fatal(err)
	}
	return a
}

// peopleFrom imports contacts.
func (r *kit) peopleFrom(file string) {
	r.T.Helper()
	l, err := r.Desk.UploadList(r.Ctx, r.By, lists.UploadOrder{AccountID: r.Account.ID, FileName: "people.csv",
		Purpose: sms.ForContacts, Token: desk.NewToken()}, strings.NewReader(file))
	if err != nil {
		r.T.Fatal(err)
	}
	if l = r.checked(l, l.Order); l.State != sms.ListMade {
		r.T.Fatalf("%+v", l)
	}
}

func (r *kit) texts(campaign int64) map[string][]string {
	r.T.Helper()
	all, _, err := r.DB.Messages(r.Ctx, sms.MessageFilter{CampaignID: campaign, Limit: 100})
	if err != nil {
		r.T.Fatal(err)
	}
	texts := map[string][]string{}
	for _, m := range all {
		if m.Number != "" && m.Text != "" {
			texts[m.Number] = append(texts[m.Number], m.Text)
		}
	}
	return texts
}

// A file, an audience and typed numbers are one list: whoever is in two of them
// is found as within a file, what one lacks is fixed in place, and each of the
// others gets one message.
func TestSourcesAddUp(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	a := r.parents("Parents")
	l := r.upload("june.csv", "amount,mobile,name\n99,08031234501,Ada\n12,08031234511,Dayo\n")
	l, err := r.Desk.AddAudience(r.Ctx, r.By, l.UID, a.ID)
	if err != nil || l.Total != 5 {
		t.Fatalf("%+v, %v", l, err)
	}
	if again, err := r.Desk.AddAudience(r.Ctx, r.By, l.UID, a.ID); err != nil || again.Version != l.Version {
		t.Errorf("added twice it is %+v, %v", again.Reading.Added, err)
	}
	typed := "0803 123 4511, 0803 123 4521\n08031234x"
	l, err = r.Desk.SetNumbers(r.Ctx, r.By, l.UID, typed)
	if err != nil || l.Total != 8 || lists.Typed(l) != typed {
		t.Fatalf("%+v, %v", l, err)
	}
	s, err := r.Desk.Survey(r.Ctx, r.By, l.UID, order(l, "Dear all"), typed)
	if err != nil || s.Rows != 8 || s.Numbers != 5 || s.Twice != 2 || s.ToFix != 1 {
		t.Errorf("surveyed are %+v, %v", s, err)
	}
	l = r.checked(l, order(l, "Dear ##name##, pay ##amount##"))
	if l.State != sms.ListChecked || l.Tally.Rows != 8 || l.Tally.Good != 4 || l.Tally.Bad() != 4 ||
		l.Tally.Kinds[sms.RowOtherText] != 1 {
		t.Fatalf("%+v", l.Tally)
	}
	notes, _, err := r.DB.ListNotes(r.Ctx, l.UID, sms.RowFilter{Limit: 10})
	rows := map[int64]sms.RowKind{}
	for _, n := range notes {
		rows[n.Row] = n.Kind
	}
	if want := map[int64]sms.RowKind{6: sms.RowMissing, 7: sms.RowMissing, 8: sms.RowMissing, 9: sms.RowNumber}; err != nil ||
		!maps.Equal(rows, want) {
		t.Fatalf("to fix are %v, %v", rows, err)
	}
	// A typed number becomes a whole row in place; the others are left out.
	l = r.corrected(l.UID, lists.Cell{Row: 8, Column: 0, Value: "7"}, lists.Cell{Row: 8, Column: 2, Value: "Efe"})
	inPlace, tally := r.staged(l), l.Tally
	l = r.checkedAgain(l.UID)
	if d := cmp.Diff(r.staged(l), inPlace); d != "" || l.Tally.Good != tally.Good {
		t.Errorf("the whole list says otherwise (-list +in place):\n%s", d)
	}
	l, err = r.Desk.MakeCampaign(r.Ctx, r.By, l.UID, l.Version, lists.MakeOrder{LeaveOut: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"2348031234501": {"Dear Ada, pay 99", "Dear Ada, pay 10"}, "2348031234511": {"Dear Dayo, pay 12"},
		"2348031234502": {"Dear Bola, pay 20"}, "2348031234521": {"Dear Efe, pay 7"}}
	if d := cmp.Diff(want, r.texts(r.settled(l.UID).CampaignID)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := r.Desk.SetNumbers(r.Ctx, r.By, l.UID, ""); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("after the campaign was made: %v", err)
	}
}

// Sources come and go; a file takes the place of another, or joins what is there.
func TestSourcesComeAndGo(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	one, two := r.parents("Parents"), r.parents("Teachers")
	l, err := r.Desk.ListAudience(r.Ctx, r.By, r.Account.ID, one.ID, desk.NewToken())
	if err != nil {
		t.Fatal(err)
	}
	if same, err := r.Desk.AddAudience(r.Ctx, r.By, l.UID, one.ID); err != nil || same.Version != l.Version {
		t.Errorf("an audience joins itself: %+v, %v", same.Reading.Added, err)
	}
	if l, err = r.Desk.AddAudience(r.Ctx, r.By, l.UID, two.ID); err != nil {
		t.Fatal(err)
	}
	if l, err = r.Desk.SetNumbers(r.Ctx, r.By, l.UID, "08031234599"); err != nil || l.Total != 7 {
		t.Fatalf("%+v, %v", l, err)
	}
	file := r.upload("a.csv", "phone,name\n08031234567,Zu\n")
	if file, err = r.Desk.TakeSources(r.Ctx, r.By, file.UID, l.UID); err != nil || file.Total != 8 ||
		!slices.EqualFunc(file.Reading.Added, []string{"Parents", "Teachers", ""},
			func(s sms.ListSource, name string) bool { return s.Name == name }) {
		t.Fatalf("%+v, %v", file.Reading.Added, err)
	}
	// A corrected file keeps who was added.
	file = r.checked(file, order(file, "Hello"))
	mended, err := r.Desk.UploadList(r.Ctx, r.By, lists.UploadOrder{AccountID: r.Account.ID, FileName: "b.csv",
		Token: desk.NewToken(), Replaces: file.UID}, strings.NewReader("phone,name\n08031234568,Zu\n08031234569,Xi\n"))
	if err != nil || mended.Total != 9 {
		t.Fatalf("%+v, %v", mended, err)
	}
	rest, err := r.Desk.WithoutFile(r.Ctx, r.By, mended.UID, desk.NewToken())
	if err != nil || rest.FileName != "Parents" || len(rest.Reading.Added) != 1 || rest.Reading.Added[0].Name != "Teachers" {
		t.Fatalf("%+v, %v", rest, err)
	}
	if rest, err = r.Desk.RemoveAudience(r.Ctx, r.By, rest.UID, two.ID); err != nil || rest.Reading.Added != nil ||
		rest.Total != 3 {
		t.Errorf("%+v, %v", rest, err)
	}
	if _, err := r.Desk.WithoutFile(r.Ctx, r.By, rest.UID, desk.NewToken()); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("a list of nobody is made: %v", err)
	}
	var bad sms.Invalid
	if _, err := r.Desk.SetNumbers(r.Ctx, r.By, rest.UID, strings.Repeat("08031234567\n", 1001)); !errors.As(err, &bad) ||
		bad["numbers"] == "" {
		t.Errorf("1,001 numbers: %v", err)
	}
	stranger := r.By
	stranger.ID = 99
	if _, err := r.Desk.SetNumbers(r.Ctx, stranger, rest.UID, "08031234567"); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("a stranger adds to it: %v", err)
	}
}
