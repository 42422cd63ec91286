package sms

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// Op is how a condition compares.
type Op string

// The comparisons. Of two numbers or two days More and Less compare those; a
// value that is neither is never more or less.
const (
	Is       Op = "is"
	IsNot    Op = "isnt"
	Contains Op = "has"
	More     Op = "more"
	Less     Op = "less"
	Empty    Op = "empty"
	Filled   Op = "filled"
)

// Ops lists the comparisons in the order of a form.
func Ops() []Op { return []Op{Is, IsNot, Contains, More, Less, Empty, Filled} }

// Words is the comparison in a sentence.
func (o Op) Words() string {
	switch o {
	case Is:
		return "is"
	case IsNot:
		return "is not"
	case Contains:
		return "contains"
	case More:
		return "is greater than"
	case Less:
		return "is less than"
	case Empty:
		return "is empty"
	case Filled:
		return "is not empty"
	}
	return string(o)
}

// Alone says that the comparison needs no value.
func (o Op) Alone() bool { return o == Empty || o == Filled }

// Condition asks one thing of a contact.
type Condition struct {
	Key   string // of the column, KeyName or KeyTag
	Op    Op
	Value string
}

// Filter says which contacts are wanted: those that meet all conditions, or
// with Any at least one. Without conditions it is everybody.
type Filter struct {
	Any        bool
	Conditions []Condition
}

// MaxFilterConditions is how many conditions a filter may have.
const MaxFilterConditions = 10

// Everybody says that the filter leaves nobody out.
func (f Filter) Everybody() bool { return len(f.Conditions) == 0 }

// Check says what is wrong with a filter; the fields of its Invalid are
// "condition:" with the place of the condition, counted from 0.
func (f Filter) Check(columns []ContactColumn) error {
	bad := Invalid{}
	for i, c := range f.Conditions {
		at := "condition:" + strconv.Itoa(i)
		known := c.Key == KeyName || c.Key == KeyTag
		for _, column := range columns {
			known = known || column.Key == c.Key
		}
		switch {
		case !known:
			bad[at] = "This column no longer exists. Choose another"
		case c.Op.Words() == string(c.Op) && c.Op != Is:
			bad[at] = "Choose a condition"
		case !c.Op.Alone() && FoldValue(c.Value) == "":
			bad[at] = "Enter a value"
		case (c.Op == More || c.Op == Less) && !measurable(c.Value):
			bad[at] = "Enter a number or a date, for example 5000 or 2026-01-31"
		}
	}
	if len(f.Conditions) > MaxFilterConditions {
		bad["condition:"+strconv.Itoa(MaxFilterConditions)] = "Filter must have 10 conditions or fewer"
	}
	return bad.Or()
}

// Words is the filter as staff read it: "paid is no and town is Ibadan".
func (f Filter) Words(columns []ContactColumn) string {
	if f.Everybody() {
		return "everyone"
	}
	join := " and "
	if f.Any {
		join = " or "
	}
	var parts []string
	for _, c := range f.Conditions {
		name := c.Key
		for _, column := range columns {
			if column.Key == c.Key {
				name = column.Name
			}
		}
		words := name + " " + c.Op.Words()
		if !c.Op.Alone() {
			words += " " + c.Value
		}
		parts = append(parts, words)
	}
	return strings.Join(parts, join)
}

// Keys lists the columns that the filter looks at, each once.
func (f Filter) Keys() []string {
	var keys []string
	seen := map[string]bool{}
	for _, c := range f.Conditions {
		if !seen[c.Key] {
			seen[c.Key] = true
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// Match says whether a contact is wanted.
func (f Filter) Match(c Contact) bool {
	for _, condition := range f.Conditions {
		if condition.Matcher()(FoldValue(c.Value(condition.Key))) == f.Any {
			return f.Any
		}
	}
	return !f.Any || f.Everybody()
}

// Matcher is the condition for values that FoldValue has folded. Of several
// tags one that fits is enough; IsNot wants that none does.
func (c Condition) Matcher() func(folded string) bool {
	want := FoldValue(c.Value)
	one := c.single(want)
	switch {
	case c.Key != KeyTag || c.Op.Alone():
		return one
	case c.Op == IsNot:
		is := Condition{Key: c.Key, Op: Is, Value: c.Value}.Matcher()
		return func(folded string) bool { return !is(folded) }
	}
	return func(folded string) bool {
		for tag := range strings.SplitSeq(folded, "\n") {
			if one(tag) {
				return true
			}
		}
		return false
	}
}

// Needle is what stands somewhere in every folded value that meets the
// condition, "" for nothing in particular.
func (c Condition) Needle() string {
	if c.Op == Is || c.Op == Contains {
		return FoldValue(c.Value)
	}
	return ""
}

func (c Condition) single(want string) func(string) bool {
	switch c.Op {
	case Is:
		return func(v string) bool { return v == want }
	case IsNot:
		return func(v string) bool { return v != want }
	case Contains:
		return func(v string) bool { return strings.Contains(v, want) }
	case Empty:
		return func(v string) bool { return v == "" }
	case Filled:
		return func(v string) bool { return v != "" }
	case More, Less:
		sign := 1
		if c.Op == Less {
			sign = -1
		}
		if limit, ok := amount(want); ok {
			return func(v string) bool { n, ok := amount(v); return ok && cmp.Compare(n, limit)*sign > 0 }
		}
		if limit, ok := day(want); ok {
			return func(v string) bool { d, ok := day(v); return ok && d.Compare(limit)*sign > 0 }
		}
	}
	return func(string) bool { return false }
}

// FoldValue is a value as comparisons see it: NFC, lower case, white space
// folded. Lines stay apart.
func FoldValue(v string) string {
	plain := true
	for i := range len(v) {
		if b := v[i]; b >= 0x80 || b >= 'A' && b <= 'Z' || b < ' ' && b != '\n' || b == ' ' &&
			(i == 0 || i == len(v)-1 || v[i-1] == ' ') {
			plain = false
			break
		}
	}
	if plain {
		return v
	}
	var lines []string
	for line := range strings.SplitSeq(strings.ToLower(norm.NFC.String(v)), "\n") {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return norm.NFC.String(strings.Join(lines, "\n"))
}

func measurable(v string) bool {
	_, number := amount(FoldValue(v))
	_, date := day(FoldValue(v))
	return number || date
}

// amount reads a number, with commas between thousands and a currency sign in
// front of it where people write them.
func amount(v string) (float64, bool) {
	if len(v) > 0 && len(v) < 16 {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return float64(n), true
		}
	}
	v = strings.TrimLeft(v, "₦$£€ ")
	if v == "" || v[0] > '9' || strings.Trim(v, "0123456789.,-") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(v, ",", ""), 64)
	return n, err == nil
}

// day reads a day in the orders that staff write: the year first, or the day
// first.
func day(v string) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, "02/01/2006", "2/1/2006", "02-01-2006", "02.01.2006", "2 jan 2006",
		"2 january 2006", time.DateTime} {
		if t, err := time.Parse(layout, v); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
