package gateway_test

import (
	"slices"
	"testing"

	"smsdesk/internal/gateway"
	"smsdesk/internal/sms"
)

func TestFill(t *testing.T) {
	r := func(id int64, number, text string) sms.Recipient {
		return sms.Recipient{MessageID: id, Number: number, Text: text}
	}
	for _, c := range []struct {
		name        string
		messages    []sms.Recipient
		limit, room int
		kind        sms.CallKind
		want        []int64
	}{
		{"nothing", nil, 10, 100, sms.CallText, nil},
		{"one text", []sms.Recipient{r(1, "1", "a"), r(2, "2", "a")}, 10, 0, sms.CallText, []int64{1, 2}},
		{"one text, a number twice", []sms.Recipient{r(1, "1", "a"), r(2, "1", "a"), r(3, "3", "a")}, 10, 0, sms.CallText, []int64{1, 3}},
		{"the limit", []sms.Recipient{r(1, "1", "a"), r(2, "2", "b"), r(3, "3", "c")}, 2, 100, sms.CallPairs, []int64{1, 2}},
		{"a limit of nothing", []sms.Recipient{r(1, "1", "a"), r(2, "2", "b")}, 0, 100, sms.CallText, []int64{1}},
		{"the last byte", []sms.Recipient{r(1, "1", "a"), r(2, "2", "b")}, 10, 11, sms.CallPairs, []int64{1, 2}},
		{"a byte too many", []sms.Recipient{r(1, "1", "a"), r(2, "2", "b")}, 10, 10, sms.CallText, []int64{1}},
		{"a long one in between", []sms.Recipient{r(1, "1", "a"), r(2, "2", "long long long"), r(3, "3", "c")}, 10, 11, sms.CallPairs, []int64{1, 3}},
		{"too long for any URL", []sms.Recipient{r(1, "1", "long long long"), r(2, "2", "b"), r(3, "3", "long long long")}, 10, 11, sms.CallText, []int64{1, 3}},
		{"a text that injects", []sms.Recipient{r(1, "1", "a~2^b"), r(2, "2", "b"), r(3, "3", "a~2^b")}, 10, 100, sms.CallText, []int64{1, 3}},
		{"one behind the first", []sms.Recipient{r(1, "1", "a"), r(2, "2", "^"), r(3, "3", "c")}, 10, 100, sms.CallPairs, []int64{1, 3}},
		{"more of one text than pairs", []sms.Recipient{r(1, "1", "a"), r(2, "2", "b"), r(3, "3", "a"), r(4, "4", "a")}, 10, 11, sms.CallText, []int64{1, 3, 4}},
	} {
		kind, taken := gateway.Fill(c.messages, c.limit, c.room+1)
		var got []int64
		for _, r := range taken {
			got = append(got, r.MessageID)
		}
		if kind != c.kind || !slices.Equal(got, c.want) {
			t.Errorf("%s: %s %v, want %s %v", c.name, kind, got, c.kind, c.want)
		}
	}
}
