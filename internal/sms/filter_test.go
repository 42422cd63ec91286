package sms

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestFilterMatches(t *testing.T) {
	ada := Contact{Number: "2348030000101", Name: "Ada  OBI", Tags: []string{"Parents", "VIP"},
		Fields: map[string]string{"paid": "No", "town": "Ibadan", "owes": "₦5,000.50", "due": "31/01/2026"}}
	for _, c := range []struct {
		key  string
		op   Op
		with string
		want bool
	}{
		{"paid", Is, "no", true}, {"paid", Is, " NO ", true}, {"paid", IsNot, "no", false}, {"paid", Is, "yes", false}, {"town", Contains, "BAD", true},
		{"name", Is, "ada obi", true}, {"name", Contains, "obi", true}, {"tag", Is, "parents", true}, {"tag", Is, "vip", true}, {"tag", Is, "teachers", false},
		{"tag", IsNot, "vip", false}, {"tag", IsNot, "teachers", true}, {"tag", Contains, "aren", true},
		{"tag", Filled, "", true}, {"class", Empty, "", true}, {"class", Filled, "", false},
		{"owes", More, "5000", true}, {"owes", More, "5,000.50", false}, {"owes", Less, "6000", true},
		{"due", Less, "2026-02-01", true}, {"due", More, "2026-02-01", false},
		{"town", More, "5", false}, {"town", Less, "5", false}, {"class", Less, "5", false}, {"class", IsNot, "2b", true},
	} {
		if got := (Filter{Conditions: []Condition{{c.key, c.op, c.with}}}).Match(ada); got != c.want {
			t.Errorf("%s %s %q: %v", c.key, c.op, c.with, got)
		}
	}
	both := Filter{Conditions: []Condition{{"paid", Is, "no"}, {"town", Is, "Lagos"}}}
	either := Filter{Any: true, Conditions: both.Conditions}
	if both.Match(ada) || !either.Match(ada) || !(Filter{}).Match(ada) || !(Filter{Any: true}).Match(ada) {
		t.Error("all and any are mixed up")
	}
	if got := both.Words([]ContactColumn{{"paid", "Paid"}, {"town", "Town"}}); got != "Paid is no and Town is Lagos" {
		t.Error(got)
	}
}

func TestFilterSaysWhatIsWrong(t *testing.T) {
	columns := []ContactColumn{{"paid", "Paid"}}
	for _, c := range []Condition{{"gone", Is, "x"}, {"paid", "", "x"}, {"paid", "drop table", "x"}, {"paid", Is, "  "},
		{"paid", More, "much"}, {"number", Is, "0803"}} {
		if (Filter{Conditions: []Condition{c}}).Check(columns) == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	for _, c := range []Condition{{"paid", Is, "no"}, {"name", Contains, "a"}, {"tag", IsNot, "x"}, {"paid", Empty, ""},
		{"paid", More, "₦5"}, {"paid", Less, "2026-01-31"}} {
		if err := (Filter{Conditions: []Condition{c}}).Check(columns); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if (Filter{Conditions: slices.Repeat([]Condition{{"paid", Is, "no"}}, MaxFilterConditions+1)}).Check(columns) == nil {
		t.Error("a filter without end is taken")
	}
}

func someFilter(r *rand.Rand, values []string) Filter {
	f := Filter{Any: r.IntN(2) == 0}
	for range 1 + r.IntN(3) {
		f.Conditions = append(f.Conditions, Condition{[]string{"paid", "town", "name", "tag"}[r.IntN(4)],
			Ops()[r.IntN(len(Ops()))], values[r.IntN(len(values))]})
	}
	return f
}

func someContact(r *rand.Rand, values []string) Contact {
	pick := func() string { return values[r.IntN(len(values))] }
	c := Contact{Name: pick(), Fields: map[string]string{}}
	for _, key := range []string{"paid", "town"} {
		if v := pick(); v != "" {
			c.Fields[key] = v
		}
	}
	c.Tags = ReadTags(pick() + "," + pick())
	return c
}

// TestFilterLaws: everybody is either in or out, all and any are each other's
// mirror, and no order or writing of a value changes anything.
func TestFilterLaws(t *testing.T) {
	values := []string{"", "no", "No", "YES", "Ibadan", "ibadan ", "Port  Harcourt", "5", "5,000", "-2", "2026-01-31",
		"01/02/2026", "ẸGBẸ", "ẹgbẹ", "a,b"}
	opposite := map[Op]Op{Is: IsNot, IsNot: Is, Empty: Filled, Filled: Empty}
	r := rand.New(rand.NewPCG(1, 2))
	met := 0
	for range 20_000 {
		f, c := someFilter(r, values), someContact(r, values)
		in := f.Match(c)
		if in {
			met++
		}
		mirror, known := Filter{Any: !f.Any}, true
		for _, x := range f.Conditions {
			other, ok := opposite[x.Op]
			known = known && ok
			mirror.Conditions = append(mirror.Conditions, Condition{x.Key, other, x.Value})
		}
		if known && mirror.Match(c) == in {
			t.Fatalf("%+v is in %+v and in its opposite, or in neither", c, f)
		}
		slices.Reverse(f.Conditions)
		c.Name = strings.ToUpper(c.Name)
		for i := range f.Conditions {
			f.Conditions[i].Value = " " + strings.ToUpper(f.Conditions[i].Value) + "\t"
		}
		if f.Match(c) != in {
			t.Fatalf("order or case changed %+v of %+v", f, c)
		}
	}
	if met == 0 || met == 20_000 {
		t.Errorf("%d of 20,000 met their filter: the test shows nothing", met)
	}
}

func FuzzFoldValue(f *testing.F) {
	for _, s := range []string{"", "Ada  Obi", "ẸGBẸ", "a\nB", "\x00 x", "İ", "ﬁ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, v string) {
		once := FoldValue(v)
		if FoldValue(once) != once {
			t.Errorf("%q is folded to %q, and that to %q", v, once, FoldValue(once))
		}
		tidy := TidyValue(v, MaxContactValue)
		if TidyValue(tidy, MaxContactValue) != tidy || len([]rune(tidy)) > MaxContactValue ||
			strings.ContainsFunc(tidy, unicode.IsControl) {
			t.Errorf("%q is tidied to %q", v, tidy)
		}
	})
}
