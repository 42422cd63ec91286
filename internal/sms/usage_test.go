package sms

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPricesThatAreThereAreLearnt makes campaigns at prices by network, of which
// each network has one campaign of its own: the prices are found exactly, in
// whatever order the campaigns come.
func TestPricesThatAreThereAreLearnt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		networks := []string{"", "9mobile", "Airtel", "Glo", "MTN"}
		price, samples := map[string]*big.Rat{}, []PriceSample{}
		for _, n := range networks {
			price[n] = big.NewRat(rapid.Int64Range(1, 2000).Draw(t, "price"), 100)
			parts := rapid.Int64Range(1, 100_000).Draw(t, "parts")
			samples = append(samples, PriceSample{Parts: map[string]int64{n: parts},
				Fell: new(big.Rat).Mul(price[n], big.NewRat(parts, 1))})
		}
		for range rapid.IntRange(0, 8).Draw(t, "mixed") {
			s := PriceSample{Parts: map[string]int64{}, Fell: new(big.Rat)}
			for _, n := range networks {
				s.Parts[n] = rapid.Int64Range(0, 1000).Draw(t, "parts")
				s.Fell.Add(s.Fell, new(big.Rat).Mul(price[n], big.NewRat(s.Parts[n], 1)))
			}
			samples = append(samples, s)
		}
		overall, learnt := LearnPrices(rapid.Permutation(samples).Draw(t, "order"))
		if len(learnt) != len(networks) || overall.Samples < len(networks) || overall.Low.Cmp(overall.Middle) > 0 ||
			overall.Middle.Cmp(overall.High) > 0 {
			t.Fatalf("%+v %+v", overall, learnt)
		}
		low, high := slices.MinFunc(learnt, byMiddle).Middle, slices.MaxFunc(learnt, byMiddle).Middle
		if overall.Low.Cmp(low) < 0 || overall.High.Cmp(high) > 0 {
			t.Errorf("overall %s to %s lies outside of the networks' %s to %s", overall.Low, overall.High, low, high)
		}
		for _, p := range learnt {
			if p.Low.Cmp(price[p.Network]) != 0 || p.High.Cmp(price[p.Network]) != 0 {
				t.Errorf("%q costs %s and was learnt as %s to %s", p.Network, price[p.Network], p.Low, p.High)
			}
		}
	})
}

func byMiddle(a, b LearntPrice) int { return a.Middle.Cmp(b.Middle) }

// TestOneNetworkIsToldByWhatTheOthersLeave: no campaign went to Glo alone.
func TestOneNetworkIsToldByWhatTheOthersLeave(t *testing.T) {
	_, learnt := LearnPrices([]PriceSample{
		{Parts: map[string]int64{"MTN": 100, "Glo": 50}, Fell: big.NewRat(700, 1)},
		{Parts: map[string]int64{"MTN": 10}, Fell: big.NewRat(40, 1)},
		{Parts: map[string]int64{"MTN": 10}, Fell: big.NewRat(42, 1)},
		{Parts: map[string]int64{"MTN": 10}, Fell: big.NewRat(38, 1)},
		{Parts: map[string]int64{"Airtel": 1, "9mobile": 1}, Fell: big.NewRat(9, 1)},
		{Parts: map[string]int64{"MTN": 5}, Fell: big.NewRat(-5, 1)},
		{Parts: map[string]int64{}, Fell: big.NewRat(5, 1)},
		{Parts: map[string]int64{"MTN": 5}},
	})
	got := ""
	for _, p := range learnt {
		got += fmt.Sprintf("%s %s %s %s of %d; ", p.Network, p.Low.FloatString(2), p.Middle.FloatString(2),
			p.High.FloatString(2), p.Samples)
	}
	if want := "Glo 6.00 6.00 6.00 of 1; MTN 3.80 4.00 4.20 of 3; "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if overall, none := LearnPrices(nil); overall.Samples != 0 || none != nil {
		t.Errorf("nothing was learnt from nothing: %+v %+v", overall, none)
	}
}

func TestUsageIsSummed(t *testing.T) {
	days := []UsageDay{
		{Day: "2026-06-01", SenderID: "CLINIC", Network: "MTN", Usage: Usage{2, 4}},
		{Day: "2026-06-01", SenderID: "SCHOOL", Network: "Glo", Usage: Usage{1, 1}},
		{Day: "2026-06-02", SenderID: "SCHOOL", Network: "MTN", Usage: Usage{5, 9}},
	}
	if got := SumUsage(days, false, func(d UsageDay) string {
		return d.SenderID
	}); !slices.Equal(got, []UsageRow{{"SCHOOL", Usage{6, 10}}, {"CLINIC", Usage{2, 4}}}) {
		t.Errorf("%v", got)
	}
	if got := SumUsage(days, true, func(d UsageDay) string {
		return d.Day[:7]
	}); !slices.Equal(got, []UsageRow{{"2026-06", Usage{8, 14}}}) {
		t.Errorf("%v", got)
	}
}

func TestWhatABalanceFell(t *testing.T) {
	for _, c := range []struct {
		before, after, want string
	}{
		{"₦57,524.50", "₦53,524.50", "4000.00"}, {"₦1.00", "₦2.00", "-1.00"}, {"₦1.00", "-₦1.00", "2.00"},
		{"₦1.00", "$0.50", ""}, {"₦1.00", "none", ""}, {"KSh7578560.8000", "KSh7578560.3000", "0.50"},
	} {
		fall, ok := Fall(Balance{Credits: c.before}, Balance{Credits: c.after})
		if ok != (c.want != "") || ok && fall.FloatString(2) != c.want {
			t.Errorf("%s to %s: %v %v, want %q", c.before, c.after, fall, ok, c.want)
		}
	}
	b := Balance{Credits: "₦1,000.00"}
	if b.Below(0) || b.Below(100_000) || !b.Below(100_001) || (Balance{Credits: "?"}).Below(5) {
		t.Error("below")
	}
	at := time.Date(2026, 6, 3, 9, 0, 0, 0, time.UTC).UnixMilli()
	a := Alarm{Kind: AlarmFall, PluginType: "SMS", Before: "₦57,524.50", After: "₦53,524.50", From: at, At: at + 300_000}
	if want := "The SMS balance fell ₦4,000.00, from ₦57,524.50 to ₦53,524.50 between 3 June 2026 at 09:00 and 3 June " +
		"2026 at 09:05, although smsdesk sent nothing. Someone else may be using the account: ask the provider"; a.Sentence(time.UTC) != want {
		t.Errorf("%s", a.Sentence(time.UTC))
	}
}

// TestAGroupTreeHoldsEachGroupOnce whatever parents the groups claim.
func TestAGroupTreeHoldsEachGroupOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "groups")
		list := make([]Group, n)
		for i := range list {
			list[i] = Group{ID: int64(i), ParentID: rapid.Int64Range(-1, int64(n)+1).Draw(t, "parent")}
		}
		tree := GroupTree(list)
		seen := map[int64]int{}
		for i, g := range tree {
			seen[g.ID]++
			if i == 0 && g.Depth != 0 || i > 0 && g.Depth > tree[i-1].Depth+1 {
				t.Errorf("a jump in depth at %d: %+v", i, tree)
			}
		}
		if len(tree) != n || len(seen) != n {
			t.Errorf("%d of %d groups: %+v", len(seen), n, tree)
		}
	})
	tree := GroupTree([]Group{{ID: 5, Name: "Staff"}, {ID: 1, Name: "Parents"}, {ID: 7, Name: "Mothers", ParentID: 1},
		{ID: 9, Name: "Class 1", ParentID: 7}})
	got := ""
	for _, g := range tree {
		got += fmt.Sprint(g.Name, g.Depth, g.SubGroups, " ")
	}
	if got != "Staff0 0 Parents0 1 Mothers1 1 Class 12 0 " {
		t.Errorf("%q", got)
	}
}

func TestRecordRules(t *testing.T) {
	for text, ok := range map[string]bool{"CLINIC": true, "abc": true, "12345678901": true, "ab": false,
		"123456789012": false, "MY SHOP": false, "Ọja": false, "": false} {
		if (SenderTextProblem(text) == "") != ok {
			t.Errorf("%q: %q", text, SenderTextProblem(text))
		}
	}
	added, gone := MarksChanged("Dear ##Name##, on ##Date##", "Dear ##name##, at ##Place## (##Place##)")
	if !slices.Equal(added, []string{"Place"}) || !slices.Equal(gone, []string{"Date"}) {
		t.Errorf("%v %v", added, gone)
	}
	for to, ok := range map[string]bool{"": true, "ada@example.com, bola@example.com": true, "ada": false,
		"a@b\r\nBcc: x@y": false, "Ada <a@b>": false} {
		if err := (RecordSettings{MailTo: to}).Check(); (err == nil) != ok {
			t.Errorf("%q: %v", to, err)
		}
	}
	if (RecordSettings{Floor: -1, WarnBelow: maxPrice + 1}).Check() == nil {
		t.Error("odd amounts")
	}
}
