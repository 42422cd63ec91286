package desk_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

func (r *rig) importPeople(name, content string) sms.List {
	r.t.Helper()
	l, err := r.desk.UploadList(r.ctx, r.by, desk.UploadOrder{AccountID: r.account.ID, Purpose: sms.ForContacts,
		FileName: name, Token: desk.NewToken()}, strings.NewReader(content))
	if err != nil {
		r.t.Fatal(err)
	}
	if l = r.checked(l, l.Order); l.State == sms.ListChecked {
		l = r.made(l, desk.MakeOrder{LeaveOut: true})
	}
	if l.State != sms.ListMade {
		r.t.Fatalf("the list is %s: %s", l.State, l.Problem)
	}
	return l
}

func (r *rig) people() (list []string) {
	r.t.Helper()
	all, _, err := r.db.Contacts(r.ctx, sms.ContactFilter{AccountID: r.account.ID, Limit: 1000})
	if err != nil {
		r.t.Fatal(err)
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
	r := newRig(t, sandbox.Config{}, nil)
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
	r := newRig(t, sandbox.Config{}, nil)
	r.importer()
	file := "Phone,Name\n08030000101,Ada\n08030000102,Bola\n"
	r.importPeople("june.csv", file)
	if _, err := r.desk.BlockByUSSD(r.ctx, r.account.ID, "08030000101", "pressed 3"); err != nil {
		t.Fatal(err)
	}
	list, _, err := r.db.Contacts(r.ctx, sms.ContactFilter{AccountID: r.account.ID, Prefix: "2348030000101", Limit: 5})
	if err != nil || len(list) != 1 || list[0].BlockedKind != sms.BlockedByUSSD {
		t.Fatalf("%+v %v", list, err)
	}
	if _, err := r.desk.DeleteContact(r.ctx, r.by, r.account.ID, list[0].ID); err != nil {
		t.Fatal(err)
	}
	r.importPeople("june.csv", file)
	a, err := r.desk.SaveAudience(r.ctx, r.by, desk.AudienceOrder{AccountID: r.account.ID, Name: "All. Of them",
		Filter: sms.Filter{Conditions: []sms.Condition{{Key: sms.KeyName, Op: sms.Filled}}}})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.db.CountBlockedIn(r.ctx, a); err != nil || n != 1 {
		t.Errorf("%d blocked in the audience, %v", n, err)
	}
	l, err := r.desk.ListAudience(r.ctx, r.by, r.account.ID, a.ID, desk.NewToken())
	if err != nil {
		t.Fatal(err)
	}
	l = r.checked(l, order(l, "Dear ##Name##, come in."))
	if l.State != sms.ListChecked || l.Tally.Good != 1 || l.Tally.Kinds[sms.RowBlocked] != 1 ||
		l.Tally.Kinds[sms.RowRepaired] != 0 || l.Order.Name != "All. Of them" {
		t.Fatalf("%+v", l)
	}
	l = r.made(l, desk.MakeOrder{})
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
	r := newRig(t, sandbox.Config{}, nil)
	r.importer()
	for _, o := range []desk.ContactOrder{
		{Number: "08030000101", Name: "Ada", Column: "Mobile number", Value: "08050000101"},
		{Number: "08030000102", Name: "Bola", Fields: map[string]string{"mobilenumber": "08050000102"}, Column: "Phone", Value: "08050000103"},
	} {
		o.AccountID = r.account.ID
		if _, err := r.desk.SaveContact(r.ctx, r.by, o); err != nil {
			t.Fatal(err)
		}
	}
	a, err := r.desk.SaveAudience(r.ctx, r.by, desk.AudienceOrder{AccountID: r.account.ID, Name: "All",
		Filter: sms.Filter{Conditions: []sms.Condition{{Key: sms.KeyName, Op: sms.Filled}}}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := r.desk.ListAudience(r.ctx, r.by, r.account.ID, a.ID, desk.NewToken())
	if err != nil || l.Order.Phone != 0 {
		t.Fatalf("the numbers are taken from column %d of %q, %v", l.Order.Phone, l.Reading.Columns, err)
	}
}

func TestContactOrdersSayWhatIsWrong(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	save := func(o desk.ContactOrder) (sms.Contact, sms.Invalid) {
		o.AccountID = r.account.ID
		c, err := r.desk.SaveContact(r.ctx, r.by, o)
		var bad sms.Invalid
		if err != nil && !errors.As(err, &bad) {
			t.Fatal(err)
		}
		return c, bad
	}
	ada, bad := save(desk.ContactOrder{Number: "0803 000 0101", Name: " Ada  Obi ", Tags: "VIP, vip, Parents",
		Column: "Town", Value: "Ibadan"})
	if bad != nil || ada.Number != "2348030000101" || ada.Name != "Ada Obi" ||
		fmt.Sprint(ada.Tags, ada.Fields) != "[Parents VIP] map[town:Ibadan]" {
		t.Errorf("%+v %v", ada, bad)
	}
	for field, o := range map[string]desk.ContactOrder{
		"number": {Number: "0803"}, "column": {Number: "08030000102", Column: "TOWN"}, "name": {Number: "08030000102", Name: strings.Repeat("a", 101)},
		"tags":       {Number: "08030000102", Tags: "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21"},
		"field:town": {Number: "08030000102", Fields: map[string]string{"town": strings.Repeat("a", 201)}},
	} {
		if _, bad := save(o); bad[field] == "" {
			t.Errorf("%s: %v", field, bad)
		}
	}
	if _, bad := save(desk.ContactOrder{Number: "+234 803 000 0101"}); !strings.Contains(bad["number"], "Ada Obi") {
		t.Errorf("a second one with the number: %v", bad)
	}
	if _, err := r.desk.SaveContact(r.ctx, sms.User{ID: 9, Role: sms.Viewer, Active: true},
		desk.ContactOrder{}); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("a viewer may: %v", err)
	}
}

// TestTwoPeopleChangeOneAudience: who loses is told that, and not that the name
// is taken.
func TestTwoPeopleChangeOneAudience(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	save := func(id, version int64, name string) (sms.Audience, error) {
		return r.desk.SaveAudience(r.ctx, r.by, desk.AudienceOrder{ID: id, Version: version, AccountID: r.account.ID,
			Name: name, Kind: sms.Picked})
	}
	a, err := save(0, 0, "Parents")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := save(0, 0, "Board"); err != nil {
		t.Fatal(err)
	}
	var bad sms.Invalid
	if _, err := save(a.ID, 1, "Board"); !errors.As(err, &bad) || bad["name"] == "" {
		t.Errorf("a name that is taken: %v", err)
	}
	const people = 8
	errs := make([]error, people)
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() { _, errs[i] = save(a.ID, 1, fmt.Sprint("Parents ", i)) })
	}
	all.Wait()
	saved := 0
	for i, err := range errs {
		if err == nil {
			saved++
		} else if !errors.Is(err, sms.ErrConflict) {
			t.Errorf("person %d: %v", i, err)
		}
	}
	if saved != 1 {
		t.Errorf("%d people saved", saved)
	}
}

// TestTwoPeopleChangeOneContact: one of them is told, also when both press at
// the same moment, and a number that is taken meanwhile is another thing.
func TestTwoPeopleChangeOneContact(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	c, err := r.desk.SaveContact(r.ctx, r.by, desk.ContactOrder{AccountID: r.account.ID, Number: "0803 000 0101",
		Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	const people = 8
	errs := make([]error, people)
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() {
			_, errs[i] = r.desk.SaveContact(r.ctx, r.by, desk.ContactOrder{ID: c.ID, Version: c.Version, AccountID: r.account.ID,
				Number: "0803 000 0101", Name: fmt.Sprint("Ada ", i)})
		})
	}
	all.Wait()
	saved := slices.IndexFunc(errs, func(err error) bool { return err == nil })
	for i, err := range errs {
		if i != saved && !errors.Is(err, sms.ErrConflict) {
			t.Errorf("person %d: %v", i, err)
		}
	}
	now, err := r.db.Contact(r.ctx, c.ID)
	if err != nil || saved < 0 || now.Name != fmt.Sprint("Ada ", saved) || now.Version != c.Version+1 {
		t.Errorf("person %d saved, stored is %+v, %v", saved, now, err)
	}
}
