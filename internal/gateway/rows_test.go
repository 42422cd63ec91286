package gateway

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"smsdesk/internal/sms"
)

const (
	ada = "2348030000001"
	obi = "2348030000002"
	eve = "2348030990001"
)

// TestRowsWithoutAWholeNumber: which recipients an answer settles whose rows
// hide their numbers or leave them out.
func TestRowsWithoutAWholeNumber(t *testing.T) {
	const yes, no, doubt = sms.Accepted, sms.Refused, sms.InDoubt
	tests := []struct {
		name string
		to   []string
		data string
		want []sms.State
	}{
		{"one recipient, one row, no number", []string{ada}, `[{"MessageId":"a"}]`, []sms.State{yes}},
		{"as one object", []string{ada}, `{"messageid":"a"}`, []sms.State{yes}},
		{"an empty number", []string{ada}, `[{"MobileNumber":"","MessageId":"a"}]`, []sms.State{yes}},
		{"a null number", []string{ada}, `[{"MobileNumber":null,"MessageId":"a"}]`, []sms.State{yes}},
		{"no id", []string{ada}, `[{}]`, []sms.State{doubt}},
		{"an id and a code", []string{ada}, `[{"MessageId":"a","MessageErrorCode":401}]`, []sms.State{doubt}},
		{"refused", []string{ada}, `[{"MessageId":"","MessageErrorCode":401}]`, []sms.State{no}},
		{"two rows", []string{ada}, `[{"MessageId":"a"},{"MessageId":"b"}]`, []sms.State{doubt}},
		{"two recipients, two rows", []string{ada, obi}, `[{"MessageId":"a"},{"MessageId":"b"}]`, []sms.State{doubt, doubt}},
		{"two recipients, one row", []string{ada, obi}, `[{"MessageId":"a"}]`, []sms.State{doubt, doubt}},
		{"another number", []string{ada}, `[{"MobileNumber":"` + obi + `","MessageId":"a"}]`, []sms.State{doubt}},
		{"masked, one fits", []string{ada, obi}, `[{"MobileNumber":"234803****002","MessageId":"b"}]`, []sms.State{doubt, yes}},
		{"masked as at home", []string{ada, obi}, `[{"MobileNumber":"0803XXX0002","MessageId":"b"}]`, []sms.State{doubt, yes}},
		{"masked behind +", []string{ada, obi}, `[{"MobileNumber":"+234 803 ••• 0001","MessageId":"a"}]`, []sms.State{yes, doubt}},
		{"masked in two places", []string{ada, eve}, `[{"MobileNumber":"2348**0*9*001","MessageId":"a"}]`, []sms.State{doubt, yes}},
		{"masked at the end", []string{ada, eve}, `[{"MobileNumber":"234803000***","MessageId":"a"}]`, []sms.State{yes, doubt}},
		{"masked, two fit", []string{ada, eve}, `[{"MobileNumber":"234803****001","MessageId":"a"}]`, []sms.State{doubt, doubt}},
		{"masked, two fit and one is named", []string{ada, eve},
			`[{"MobileNumber":"234803****001","MessageId":"a"},{"MobileNumber":"` + eve + `","MessageId":"b"}]`,
			[]sms.State{doubt, yes}},
		{"masked against a whole number", []string{ada, obi},
			`[{"MobileNumber":"234803****001","MessageId":"a"},{"MobileNumber":"` + ada + `","MessageId":"","MessageErrorCode":5}]`,
			[]sms.State{no, doubt}},
		{"masked, none fits", []string{ada}, `[{"MobileNumber":"234803****777","MessageId":"a"}]`, []sms.State{doubt}},
		{"masked digits that make up a number", []string{ada}, `[{"MobileNumber":"2348030*000001","MessageId":"a"}]`,
			[]sms.State{doubt}},
		{"too little is shown", []string{ada, obi}, `[{"MobileNumber":"**********002","MessageId":"b"}]`, []sms.State{doubt, doubt}},
		{"all is hidden", []string{ada}, `[{"MobileNumber":"*************","MessageId":"a"}]`, []sms.State{yes}},
	}
	c := open(t, "http://127.0.0.1:1/v2")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			call := numbered(tt.to)
			o := c.outcome(call, oneShotResult{written: 1, status: 200, body: []byte(`{"ErrorCode":0,"Data":` + tt.data + `}`)})
			var got []sms.State
			for _, m := range sms.Settle(call.Recipients, o, "NG").Messages {
				got = append(got, m.To)
			}
			if !slices.Equal(got, tt.want) {
				t.Fatalf("%v, want %v: %+v", got, tt.want, o)
			}
		})
	}
}

func numbered(numbers []string) sms.Call {
	call := sms.Call{Kind: sms.CallText, SenderID: "CLINIC", Text: "Hello"}
	for i, n := range numbers {
		call.Recipients = append(call.Recipients, sms.Recipient{MessageID: int64(i), Number: n})
	}
	return call
}

// TestNoRowMakesAFalseAcceptance: whatever a service hides of the numbers, in
// whatever order and however often, a message counts as accepted only by an id
// that its own number was given, and a masked row that more than one number
// fits settles nobody.
func TestNoRowMakesAFalseAcceptance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfNDistinct(rapid.Custom(someNumber), 1, 8, rapid.ID).Draw(t, "numbers")
		var rows []sms.ResultRow
		owner := map[string]string{}
		for i, n := range numbers {
			for j := range rapid.IntRange(0, 2).Draw(t, "rows") {
				row := sms.ResultRow{Number: veil(t, n)}
				if rapid.Bool().Draw(t, "accepted") {
					row.ProviderID = fmt.Sprint("id-", i, "-", j)
					owner[row.ProviderID] = n
				} else {
					row.Code = "401"
				}
				rows = append(rows, row)
			}
		}
		rows = rapid.Permutation(rows).Draw(t, "order")
		call := numbered(numbers)
		given := attribute(call.Recipients, rows)
		for i, m := range sms.Settle(call.Recipients, sms.Outcome{Class: sms.ClassAnswered, Rows: given}, "NG").Messages {
			ids := append([]string{m.ProviderID}, m.Aliases...)
			for _, id := range ids {
				if id != "" && owner[id] != numbers[i] {
					t.Fatalf("%s is accepted by the id of %s: %v became %v", numbers[i], owner[id], rows, given)
				}
			}
			if m.To == sms.Refused && !slices.ContainsFunc(rows, func(r sms.ResultRow) bool {
				return r.Code != "" && fits(r.Number, formsOf(numbers[i]))
			}) {
				t.Fatalf("%s is refused without a row for it: %v", numbers[i], rows)
			}
		}
		for i, r := range rows {
			fitting := 0
			for _, n := range numbers {
				if fits(r.Number, formsOf(n)) {
					fitting++
				}
			}
			if veiled(r) && fitting != 1 && given[i].Number != "" {
				t.Fatalf("%q, which fits %d numbers, was given to %s", r.Number, fitting, given[i].Number)
			}
		}
	})
}

// someNumber draws numbers that are alike, so that masks fit several.
func someNumber(t *rapid.T) string {
	return "234803" + fmt.Sprintf("%03d", rapid.IntRange(0, 3).Draw(t, "middle")*11) +
		fmt.Sprintf("%04d", rapid.IntRange(0, 30).Draw(t, "end"))
}

// veil writes a number as a service may: whole, masked with or without its
// length, or not at all.
func veil(t *rapid.T, number string) string {
	form := rapid.SampledFrom([]string{number, "+" + number, "0" + number[3:], "00" + number}).Draw(t, "form")
	from := rapid.IntRange(0, len(form)-1).Draw(t, "from")
	to := rapid.IntRange(from+1, len(form)).Draw(t, "to")
	sign := rapid.SampledFrom([]string{"*", "X", "•"}).Draw(t, "sign")
	switch rapid.IntRange(0, 3).Draw(t, "veil") {
	case 0:
		return form
	case 1:
		return ""
	case 2:
		return form[:from] + strings.Repeat(sign, to-from) + form[to:]
	}
	return form[:from] + sign + form[to:]
}

// FuzzAttribute: a row only ever gets the number of a recipient that it fits.
func FuzzAttribute(f *testing.F) {
	f.Add("234803****001", "0803XXX0002", "")
	f.Add("*", "2348030*000001", "•")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		call := numbered([]string{ada, obi, eve})
		rows := []sms.ResultRow{{Number: a, ProviderID: "a"}, {Number: b, ProviderID: "b"}, {Number: c, ProviderID: "c"}}
		for i, r := range attribute(call.Recipients, rows) {
			if r.Number != rows[i].Number && r.Number != "" && !fits(rows[i].Number, formsOf(r.Number)) {
				t.Fatalf("%q became %q", rows[i].Number, r.Number)
			}
		}
	})
}
