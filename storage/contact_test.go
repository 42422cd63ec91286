package storage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"smsdesk/internal/sms"
)

func (f *fixture) person(n int, name string, fields map[string]string, tags ...string) sms.Contact {
	return sms.Contact{AccountID: f.account.ID, Number: fmt.Sprintf("23480300%05d", n), Name: name, Fields: fields,
		Tags: tags, Source: "test"}
}

func (f *fixture) merge(people ...sms.Contact) (added, changed int64) {
	f.t.Helper()
	added, changed, err := f.db.MergeContacts(f.ctx, f.account.ID, people,
		[]sms.ContactColumn{{Key: "paid", Name: "Paid"}, {Key: "town", Name: "Town"}}, 0, f.now())
	f.must(err)
	return added, changed
}

func (f *fixture) packContacts() {
	f.t.Helper()
	for more := true; more; {
		var err error
		more, err = f.db.PackContacts(f.ctx)
		f.must(err)
	}
}

// TestContactsAnswerAsTheFilterSays: whatever was changed and whatever is
// packed meanwhile, the pages of a filter and its count are those whom the
// filter matches one by one. The gate asks a sample of the filters that make soak
// asks.
func TestContactsAnswerAsTheFilterSays(t *testing.T) {
	filters := 4
	if os.Getenv("SMSDESK_SOAK") != "" {
		filters = 60
	}
	f := newFixture(t)
	r := rand.New(rand.NewPCG(7, 8))
	values := []string{"", "no", "Yes", "Ibadan", "Port Harcourt", "5", "₦7,000"}
	pick := func() string { return values[r.IntN(len(values))] }
	model := map[string]sms.Contact{}
	for round := range 6 {
		var people []sms.Contact
		for _, n := range r.Perm(9000)[:2500] {
			c := f.person(n, pick()+" "+fmt.Sprint(n),
				map[string]string{"paid": pick(), "town": fmt.Sprint(pick(), r.IntN(400))}, sms.ReadTags(pick())...)
			people = append(people, c)
			old, known := model[c.Number]
			if !known {
				old = sms.Contact{AccountID: c.AccountID, Number: c.Number}
			}
			model[c.Number] = old.Merge(c)
		}
		f.merge(people...)
		if round%2 == 0 {
			f.packContacts()
		}
		for range 20 {
			list, _, err := f.db.Contacts(f.ctx, sms.ContactFilter{AccountID: f.account.ID, Before: r.Int64N(9000) + 1,
				Limit: 1})
			f.must(err)
			if len(list) == 1 && r.IntN(3) == 0 {
				_, err := f.db.DeleteContact(f.ctx, f.account.ID, list[0].ID)
				f.must(err)
				delete(model, list[0].Number)
			}
		}
		for range filters {
			filter := sms.Filter{Any: r.IntN(2) == 0}
			for range r.IntN(3) {
				filter.Conditions = append(filter.Conditions,
					sms.Condition{Key: []string{"paid", "town", "name", "tag", "gone"}[r.IntN(5)], Op: sms.Ops()[r.IntN(7)],
						Value: pick()})
			}
			var want []string
			for _, c := range model {
				if filter.Match(c) {
					want = append(want, c.Number)
				}
			}
			f.sameContacts(filter, want)
		}
	}
}

// sameContacts compares all pages, the count and the walk with what is wanted.
func (f *fixture) sameContacts(filter sms.Filter, want []string) {
	f.t.Helper()
	slices.Sort(want)
	n, err := f.db.CountContacts(f.ctx, f.account.ID, filter)
	f.must(err)
	_, _, found, err := f.db.FindContacts(f.ctx, sms.ContactFilter{AccountID: f.account.ID, Filter: filter, Before: 700,
		Limit: 3})
	if f.must(err); found != n {
		f.t.Fatalf("%+v: %d counted, %d found", filter, n, found)
	}
	var pages, walk []string
	for page := (sms.ContactFilter{AccountID: f.account.ID, Filter: filter, Limit: 1370}); ; {
		list, more, err := f.db.Contacts(f.ctx, page)
		f.must(err)
		for _, c := range list {
			if page.Before > 0 && c.ID >= page.Before {
				f.t.Fatalf("contact %d stands behind %d", c.ID, page.Before)
			}
			pages, page.Before = append(pages, c.Number), c.ID
		}
		if !more {
			break
		}
	}
	f.must(f.db.EachContact(f.ctx, sms.Audience{AccountID: f.account.ID, Kind: sms.Filtered, Filter: filter},
		func(c sms.Contact) error {
			walk = append(walk, c.Number)
			return nil
		}))
	slices.Sort(pages)
	slices.Sort(walk)
	if !slices.Equal(pages, want) || !slices.Equal(walk, want) || n != int64(len(want)) {
		f.t.Fatalf("%+v: %d on the pages, %d counted, %d walked; %d wanted", filter, len(pages), n, len(walk), len(want))
	}
}

func TestMergingContactsChangesOnlyWhatIsTold(t *testing.T) {
	f := newFixture(t)
	if added, changed := f.merge(f.person(1, "Ada", map[string]string{"paid": "no"}, "Parents"),
		f.person(2, "Bola", nil)); added != 2 || changed != 0 {
		t.Errorf("added %d, changed %d", added, changed)
	}
	if added, changed := f.merge(f.person(1, "", map[string]string{"paid": "", "town": "Ibadan"}, "parents", "VIP"),
		f.person(2, "Bola", nil), f.person(3, "", nil)); added != 1 || changed != 1 {
		t.Errorf("added %d, changed %d", added, changed)
	}
	c, err := f.db.ContactByNumber(f.ctx, f.account.ID, "2348030000001")
	f.must(err)
	if c.Name != "Ada" || fmt.Sprint(c.Fields) != "map[paid:no town:Ibadan]" || fmt.Sprint(c.Tags) != "[Parents VIP]" {
		t.Errorf("%+v", c)
	}
	c.Number = "2348030000002"
	if _, err := f.db.SaveContact(f.ctx, c, nil, f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("two contacts with one number: %v", err)
	}
}

// TestTheSecondOfTwoWhoChangeAContactIsTold: also when the first was an import.
func TestTheSecondOfTwoWhoChangeAContactIsTold(t *testing.T) {
	f := newFixture(t)
	f.merge(f.person(1, "Ada", nil))
	seen, err := f.db.ContactByNumber(f.ctx, f.account.ID, "2348030000001")
	f.must(err)
	first := seen
	first.Name = "Ada Obi"
	first, err = f.db.SaveContact(f.ctx, first, nil, f.now())
	f.must(err)
	late := seen
	late.Name = "Adaobi"
	if _, err := f.db.SaveContact(f.ctx, late, nil, f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("the second one: %v", err)
	}
	f.merge(f.person(1, "", map[string]string{"town": "Ibadan"}))
	first.Name = "Ada O."
	if _, err := f.db.SaveContact(f.ctx, first, nil, f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("after an import: %v", err)
	}
	now, err := f.db.Contact(f.ctx, seen.ID)
	f.must(err)
	if now.Name != "Ada Obi" || now.Fields["town"] != "Ibadan" || now.Version != seen.Version+2 {
		t.Errorf("%+v", now)
	}
	now.Name = "Adaobi"
	if saved, err := f.db.SaveContact(f.ctx, now, nil, f.now()); err != nil || saved.Version != now.Version+1 {
		t.Errorf("whoever has seen it: %+v %v", saved, err)
	}
}

func TestAudienceByHand(t *testing.T) {
	f := newFixture(t)
	f.merge(f.person(1, "Ada", nil), f.person(2, "Bola", nil), f.person(3, "Chidi", nil))
	a, err := f.db.CreateAudience(f.ctx, sms.Audience{AccountID: f.account.ID, Name: "Friends", Kind: sms.Picked},
		[]int64{1, 2}, f.now())
	f.must(err)
	if _, err := f.db.CreateAudience(f.ctx, sms.Audience{AccountID: f.account.ID, Name: "Friends", Kind: sms.Filtered},
		nil, f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("two audiences of one name: %v", err)
	}
	n, err := f.db.ChangeMembers(f.ctx, a.ID, []int64{2, 3}, true)
	if f.must(err); n != 1 {
		t.Errorf("%d added", n)
	}
	_, err = f.db.DeleteContact(f.ctx, f.account.ID, 1)
	f.must(err)
	n, err = f.db.CountAudience(f.ctx, a)
	if f.must(err); n != 2 {
		t.Errorf("%d members", n)
	}
	list, more, err := f.db.Contacts(f.ctx, sms.ContactFilter{AccountID: f.account.ID, Audience: a.ID, Limit: 1})
	if f.must(err); !more || len(list) != 1 || list[0].Name != "Chidi" {
		t.Errorf("%+v", list)
	}
	of, err := f.db.AudiencesOf(f.ctx, 3)
	if f.must(err); len(of) != 1 || of[0].Name != "Friends" {
		t.Errorf("%+v", of)
	}
	_, err = f.db.DeleteAudience(f.ctx, a.ID)
	f.must(err)
	if _, err := f.db.Contact(f.ctx, 2); err != nil {
		t.Errorf("a person went with the audience: %v", err)
	}
}
