package sms

import (
	"slices"
	"testing"
)

func TestFillCall(t *testing.T) {
	r := func(id int64, number, text string) Recipient {
		return Recipient{MessageID: id, Number: number, Text: text}
	}
	for _, c := range []struct {
		name        string
		messages    []Recipient
		limit, room int
		kind        CallKind
		want        []int64
	}{
		{"nothing", nil, 10, 100, CallText, nil},
		{"one text", []Recipient{r(1, "1", "a"), r(2, "2", "a")}, 10, 0, CallText, []int64{1, 2}},
		{"one text, a number twice", []Recipient{r(1, "1", "a"), r(2, "1", "a"), r(3, "3", "a")}, 10, 0, CallText, []int64{1, 3}},
		{"the limit", []Recipient{r(1, "1", "a"), r(2, "2", "b"), r(3, "3", "c")}, 2, 100, CallPairs, []int64{1, 2}},
		{"a limit of nothing", []Recipient{r(1, "1", "a"), r(2, "2", "b")}, 0, 100, CallText, []int64{1}},
		{"the last byte", []Recipient{r(1, "1", "a"), r(2, "2", "b")}, 10, 11, CallPairs, []int64{1, 2}},
		{"a byte too many", []Recipient{r(1, "1", "a"), r(2, "2", "b")}, 10, 10, CallText, []int64{1}},
		{"a long one in between", []Recipient{r(1, "1", "a"), r(2, "2", "long long long"), r(3, "3", "c")}, 10, 11, CallPairs, []int64{1, 3}},
		{"too long for any URL", []Recipient{r(1, "1", "long long long"), r(2, "2", "b"), r(3, "3", "long long long")}, 10, 11, CallText, []int64{1, 3}},
		{"a text that injects", []Recipient{r(1, "1", "a~2^b"), r(2, "2", "b"), r(3, "3", "a~2^b")}, 10, 100, CallText, []int64{1, 3}},
		{"one behind the first", []Recipient{r(1, "1", "a"), r(2, "2", "^"), r(3, "3", "c")}, 10, 100, CallPairs, []int64{1, 3}},
		{"more of one text than pairs", []Recipient{r(1, "1", "a"), r(2, "2", "b"), r(3, "3", "a"), r(4, "4", "a")}, 10, 11, CallText, []int64{1, 3, 4}},
	} {
		kind, taken := FillCall(c.messages, c.limit, c.room)
		var got []int64
		for _, r := range taken {
			got = append(got, r.MessageID)
		}
		if kind != c.kind || !slices.Equal(got, c.want) {
			t.Errorf("%s: %s %v, want %s %v", c.name, kind, got, c.kind, c.want)
		}
	}
}
