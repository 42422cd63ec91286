package sms

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// written are the forms in which a service writes one of our numbers back.
func written(t *rapid.T, number string) string {
	national := number[3:]
	return rapid.SampledFrom([]string{number, "+" + number, "00" + number, "0" + national, national, "+234 " +
		national[:3] + " " + national[3:],
		"+234(0)" + national, number[:6] + "-" + number[6:]}).Draw(t, "form")
}

// answered draws what a service says about one number and what must follow.
func answered(t *rapid.T, number, label string) (rows []ResultRow, want Settled) {
	row := func(id, code, words string) ResultRow {
		return ResultRow{Number: written(t, number), ProviderID: id, Code: code, Description: words}
	}
	switch rapid.SampledFrom([]string{"accepted", "twice", "same twice", "beside a refusal", "refused", "id and code",
		"neither", "missing"}).Draw(t, label) {
	case "accepted":
		return []ResultRow{row("id-"+number, "", "")}, Settled{To: Accepted, ProviderID: "id-" + number}
	case "twice":
		return []ResultRow{row("id-"+number, "", ""), row("other-"+number, "", "")},
			Settled{To: Accepted, Aliases: []string{"id-" + number, "other-" + number}}
	case "same twice":
		return []ResultRow{row("id-"+number, "", ""), row("id-"+number, "", "")},
			Settled{To: Accepted, ProviderID: "id-" + number}
	case "beside a refusal":
		return []ResultRow{row("", "401", "no"), row("id-"+number, "", ""), row("bad-"+number, "5", "")},
			Settled{To: Accepted, ProviderID: "id-" + number}
	case "refused":
		return []ResultRow{row("", "401", " filter mismatch ")}, Settled{To: Refused, Code: "401", Reason: "filter mismatch"}
	case "id and code":
		return []ResultRow{row("id-"+number, "401", "both")}, Settled{To: InDoubt, Code: "401"}
	case "neither":
		return []ResultRow{row("", "", "")}, Settled{To: InDoubt}
	}
	return nil, Settled{To: InDoubt}
}

// TestSettleMatchesByNumberOnly: whatever the order, the form
// of the numbers, the repetitions and the rows for strangers, every recipient
// is settled once, by the rows of its own number.
func TestSettleMatchesByNumberOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "recipients")
		var to []Recipient
		var rows []ResultRow
		want := map[int64]Settled{}
		for i := range n {
			r := Recipient{MessageID: int64(1000 + i), Number: fmt.Sprintf("23480300%05d", i*7)}
			said, outcome := answered(t, r.Number, fmt.Sprint("answer ", i))
			to, rows, want[r.MessageID] = append(to, r), append(rows, said...), outcome
		}
		strangers := rapid.IntRange(0, 3).Draw(t, "strangers")
		for i := range strangers {
			rows = append(rows, ResultRow{Number: fmt.Sprintf("23490300%05d", i), ProviderID: fmt.Sprint("strange-", i)})
		}
		rows = rapid.Permutation(rows).Draw(t, "rows")
		to = rapid.Permutation(to).Draw(t, "order")
		got := Settle(to, Outcome{Class: ClassAnswered, Rows: rows}, "NG")

		if len(got.Messages) != n || len(got.Strange) != strangers {
			t.Fatalf("%d of %d settled, %d of %d rows strange", len(got.Messages), n, len(got.Strange), strangers)
		}
		all := AttemptAccepted
		for i, m := range got.Messages {
			if m.MessageID != to[i].MessageID {
				t.Fatalf("message %d stands at the place of %d", m.MessageID, to[i].MessageID)
			}
			w := want[m.MessageID]
			if w.To != Accepted {
				all = AttemptPartial
			}
			if len(w.Aliases) > 0 {
				w.Aliases = firstGiven(rows, w.Aliases)
				w.ProviderID, w.Aliases = w.Aliases[0], w.Aliases[1:]
			}
			if w.To == InDoubt {
				if m.Reason == "" {
					t.Fatal("a doubt without a reason")
				}
				w.Reason = m.Reason
			}
			w.MessageID = m.MessageID
			if d := cmp.Diff(w, m); d != "" {
				t.Fatal(d)
			}
		}
		if got.State != all {
			t.Fatalf("the attempt is %s, want %s", got.State, all)
		}
	})
}

// firstGiven sorts ids by their place in the answer: the first one counts.
func firstGiven(rows []ResultRow, ids []string) []string {
	place := func(id string) int {
		return slices.IndexFunc(rows, func(r ResultRow) bool { return r.ProviderID == id })
	}
	sorted := slices.Clone(ids)
	slices.SortFunc(sorted, func(a, b string) int { return place(a) - place(b) })
	return sorted
}

func TestSettleDoesNotTurnARowIntoTwoAcceptances(t *testing.T) {
	to := []Recipient{{MessageID: 1, Number: reported}, {MessageID: 2, Number: reported}}
	got := Settle(to, Outcome{Class: ClassAnswered, Rows: []ResultRow{{Number: reported, ProviderID: "a"}}}, "NG")
	if got.Messages[0].To != Accepted || got.Messages[1].To != InDoubt {
		t.Errorf("one row for two messages with one number: %+v", got.Messages)
	}
}

func TestSettleOfAnAnswerForStrangersIsDoubt(t *testing.T) {
	to := []Recipient{{MessageID: 1, Number: reported}}
	got := Settle(to, Outcome{Class: ClassAnswered, Rows: []ResultRow{{Number: "2348030000102", ProviderID: "a"}}}, "NG")
	if got.Messages[0].To != InDoubt || got.State != AttemptPartial || len(got.Strange) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestSettleOfAWholeCall(t *testing.T) {
	to := []Recipient{{MessageID: 1, Number: reported}, {MessageID: 2, Number: "2348030000102"}}
	for class, want := range map[Class]struct {
		attempt AttemptState
		message State
	}{
		"P":     {AttemptNotSent, Queued},
		"C":     {AttemptNotSent, Queued},
		"C'":    {AttemptNotSent, Queued},
		"H":     {AttemptHeld, Held},
		"D":     {AttemptInDoubt, InDoubt},
		"crash": {AttemptInDoubt, InDoubt},
		"":      {AttemptInDoubt, InDoubt},
		"new":   {AttemptInDoubt, InDoubt},
	} {
		o := Outcome{Class: class, Code: "021", Reason: "why", Rows: []ResultRow{{Number: reported, ProviderID: "a"}}}
		got := Settle(to, o, "NG")
		if got.State != want.attempt || len(got.Messages) != 2 {
			t.Errorf("class %q: %+v", class, got)
		}
		for i, m := range got.Messages {
			if m.To != want.message || m.MessageID != to[i].MessageID || m.ProviderID != "" || m.Code != "021" ||
				m.Reason != "why" {
				t.Errorf("class %q: message %+v", class, m)
			}
			if !Sending.MayBecome(m.To, class) {
				t.Errorf("class %q wants the forbidden move to %s", class, m.To)
			}
		}
	}
}
