package lists_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/lists"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

func (r *kit) importPeople(name, content string) sms.List {
	r.T.Helper()
	l, err := r.Desk.UploadList(r.Ctx, r.By, lists.UploadOrder{AccountID: r.Account.ID, Purpose: sms.ForContacts,
		FileName: name, Token: desk.NewToken()}, strings.NewReader(content))
	if err != nil {
		r.T.Fatal(err)
	}
	if l = r.checked(l, l.Order); l.State == sms.ListChecked {
		l = r.made(l, lists.MakeOrder{LeaveOut: true})
	}
	if l.State != sms.ListMade {
		r.T.Fatalf("the list is %s: %s", l.State, l.Problem)
	}
	return l
}

func (r *kit) people() (list []string) {
	r.T.Helper()
	all, _, err := r.DB.Contacts(r.Ctx, sms.ContactFilter{AccountID: r.Account.ID, Limit: 1000})
	if err != nil {
		r.T.Fatal(err)
	}
	for _, c := range all {
		list = append(list, fmt.Sprint(c.Number, " ", c.Name, " ", c.Fields, " ", c.Tags))
	}
	slices.Sort(list)
	return list
}

// TestContactsComeFromASheetAsEveryListDoes: repaired numbers, bad rows and
// repeats are told as for a campaign, and what a second file tells is added.
func TestContactsComeFromASheetAsEveryListDoes(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	l := r.importPeople("june.csv",
		"Phone,Full name,Town,Tags\n0803 000 0101,Ada Obi,Ibadan,\"Parents, VIP\"\n08030000102,Bola,,\n080312,Nobody,,\n08030000101,Ada again,Lagos,\n")
	if l.Tally.Good != 2 || l.Tally.Added != 2 || l.Tally.Kinds[sms.RowNumber] != 1 || l.Tally.Kinds[sms.RowRepeat] != 1 ||
		l.Tally.Kinds[sms.RowRepaired] != 1 {
		t.Errorf("%+v", l.Tally)
	}
	l = r.importPeople("july.csv", "Number,Name,Town\n08030000102,,Kano\n08030000103,Chidi,\n08030000101,Ada Obi,Ibadan\n")
	if l.Tally.Added != 1 || l.Tally.Changed != 1 {
		t.Errorf("%+v", l.Tally)
	}
	want := []string{"2348030000101 Ada Obi map[town:Ibadan] [Parents VIP]", "2348030000102 Bola map[town:Kano] []",
		"2348030000103 Chidi map[] []"}
	if got := r.people(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestARepeatedUploadBringsNobodyBack: who opted out stays out, however often
// they are imported, uploaded or deleted and imported again.
func TestARepeatedUploadBringsNobodyBack(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	file := "Phone,Name\n08030000101,Ada\n08030000102,Bola\n"
	r.importPeople("june.csv", file)
	if _, err := r.Desk.BlockByUSSD(r.Ctx, r.Account.ID, "08030000101", "pressed 3"); err != nil {
		t.Fatal(err)
	}
	list, _, err := r.DB.Contacts(r.Ctx, sms.ContactFilter{AccountID: r.Account.ID, Prefix: "2348030000101", Limit: 5})
	if err != nil || len(list) != 1 || list[0].BlockedKind != sms.BlockedByUSSD {
		t.Fatalf("%+v %v", list, err)
	}
	if _, err := r.Desk.DeleteContact(r.Ctx, r.By, r.Account.ID, list[0].ID); err != nil {
		t.Fatal(err)
	}
	r.importPeople("june.csv", file)
	a, err := r.Desk.SaveAudience(r.Ctx, r.By, desk.AudienceOrder{AccountID: r.Account.ID, Name: "All. Of them",
		Filter: sms.Filter{Conditions: []sms.Condition{{Key: sms.KeyName, Op: sms.Filled}}}})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.DB.CountBlockedIn(r.Ctx, a); err != nil || n != 1 {
		t.Errorf("%d blocked in the audience, %v", n, err)
	}
	l, err := r.Desk.ListAudience(r.Ctx, r.By, r.Account.ID, a.ID, desk.NewToken())
	if err != nil {
		t.Fatal(err)
	}
	l = r.checked(l, order(l, "Dear ##Name##, come in."))
	if l.State != sms.ListChecked || l.Tally.Good != 1 || l.Tally.Kinds[sms.RowBlocked] != 1 ||
		l.Tally.Kinds[sms.RowRepaired] != 0 || l.Order.Name != "All. Of them" {
		t.Fatalf("%+v", l)
	}
	l = r.made(l, lists.MakeOrder{})
	var got []string
	for _, m := range r.listMessages(l.CampaignID) {
		got = append(got, fmt.Sprint(m.Number, " ", m.State, " ", m.Text))
	}
	want := []string{"2348030000101 skipped Dear Ada, come in.", "2348030000102 draft Dear Bola, come in."}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestAnAudienceIsWrittenToByItsNumbers, also where another column of its people
// looks more like phone numbers.
func TestAnAudienceIsWrittenToByItsNumbers(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	for _, o := range []desk.ContactOrder{
		{Number: "08030000101", Name: "Ada", Column: "Mobile number", Value: "08050000101"},
		{Number: "08030000102", Name: "Bola", Fields: map[string]string{"mobilenumber": "08050000102"}, Column: "Phone", Value: "08050000103"},
	} {
		o.AccountID = r.Account.ID
		if _, err := r.Desk.SaveContact(r.Ctx, r.By, o); err != nil {
			t.Fatal(err)
		}
	}
	a, err := r.Desk.SaveAudience(r.Ctx, r.By, desk.AudienceOrder{AccountID: r.Account.ID, Name: "All",
		Filter: sms.Filter{Conditions: []sms.Condition{{Key: sms.KeyName, Op: sms.Filled}}}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := r.Desk.ListAudience(r.Ctx, r.By, r.Account.ID, a.ID, desk.NewToken())
	if err != nil || l.Order.Phone != 0 {
		t.Fatalf("the numbers are taken from column %d of %q, %v", l.Order.Phone, l.Reading.Columns, err)
	}
}
