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

func TestContactOrdersSayWhatIsWrong(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	save := func(o desk.ContactOrder) (sms.Contact, sms.Invalid) {
		o.AccountID = r.Account.ID
		c, err := r.Desk.SaveContact(r.Ctx, r.By, o)
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
	if _, err := r.Desk.SaveContact(r.Ctx, sms.User{ID: 9, Role: sms.Viewer, Active: true},
		desk.ContactOrder{}); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("a viewer may: %v", err)
	}
}

// TestTwoPeopleChangeOneAudience: who loses is told that, and not that the name
// is taken.
func TestTwoPeopleChangeOneAudience(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	save := func(id, version int64, name string) (sms.Audience, error) {
		return r.Desk.SaveAudience(r.Ctx, r.By, desk.AudienceOrder{ID: id, Version: version, AccountID: r.Account.ID,
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
	r := newKit(t, sandbox.Config{}, nil)
	c, err := r.Desk.SaveContact(r.Ctx, r.By, desk.ContactOrder{AccountID: r.Account.ID, Number: "0803 000 0101",
		Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	const people = 8
	errs := make([]error, people)
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() {
			_, errs[i] = r.Desk.SaveContact(r.Ctx, r.By, desk.ContactOrder{ID: c.ID, Version: c.Version, AccountID: r.Account.ID,
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
	now, err := r.DB.Contact(r.Ctx, c.ID)
	if err != nil || saved < 0 || now.Name != fmt.Sprint("Ada ", saved) || now.Version != c.Version+1 {
		t.Errorf("person %d saved, stored is %+v, %v", saved, now, err)
	}
}
