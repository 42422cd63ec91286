package sms

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const licensed = 1_700_000_000_000

func minutes(n float64) int64 { return int64(n * 60_000) }

func doubtful(id int64, text string) Message {
	return Message{ID: id, Number: "2348030000001", Text: text, State: InDoubt, SentAt: licensed}
}

func unmatched(text string, at int64) DeliveryReport {
	return DeliveryReport{ProviderID: "p", Mobile: "08030000001", Status: "DELIVRD", ShortMessage: text, ReceivedAt: at}
}

func TestFitReport(t *testing.T) {
	long := "Your appointment is on Monday at nine."
	tests := []struct {
		name, sent, told, mobile string
		at                       int64
		want                     Fit
	}{
		{"same", long, long, "2348030000001", 0, FitWhole},
		{"number as people dial it", long, long, "0803 000 0001", 0, FitWhole},
		{"white space folded", "a  b\nc", " a b c ", "+2348030000001", 0, FitWhole},
		{"NFC", "Ada\u0301", "Ad\u00e1", "2348030000001", 0, FitWhole},
		{"another number", long, long, "2348030000002", 0, FitNone},
		{"no number", long, long, "", 0, FitNone},
		{"another text", long, "Your appointment is on Tuesday at nine.", "2348030000001", 0, FitNone},
		{"letter case counts", "hello there", "Hello there", "2348030000001", 0, FitNone},
		{"no text", long, "", "2348030000001", 0, FitNone},
		{"both without text", " ", "", "2348030000001", 0, FitNone},
		{"cut at 20", long, long[:20], "2348030000001", 0, FitPart},
		{"cut with an ellipsis", long, long[:22] + "…", "2348030000001", 0, FitPart},
		{"cut at 19", long, long[:19], "2348030000001", 0, FitNone},
		{"20 runes, not bytes", strings.Repeat("ọ", 30), strings.Repeat("ọ", 19), "2348030000001", 0, FitNone},
		{"longer than what was sent", long, long + " Thanks.", "2348030000001", 0, FitNone},
		{"5 minutes before", long, long, "2348030000001", -minutes(5), FitWhole},
		{"earlier", long, long, "2348030000001", -minutes(5) - 1, FitNone},
		{"72 hours after", long, long, "2348030000001", minutes(72 * 60), FitWhole},
		{"later", long, long, "2348030000001", minutes(72*60) + 1, FitNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := unmatched(tt.told, licensed+tt.at)
			r.Mobile = tt.mobile
			if got := FitReport(doubtful(1, tt.sent), r, "NG"); got != tt.want {
				t.Errorf("fit %d, want %d", got, tt.want)
			}
		})
	}
	never := doubtful(1, long)
	never.SentAt = 0
	if FitReport(never, unmatched(long, 5), "NG") != FitNone {
		t.Error("a message without a licence fits a report")
	}
}

func TestOwner(t *testing.T) {
	in := doubtful(1, "Hello")
	other := doubtful(2, "Hello ")
	with := func(change func(*Message)) Message {
		m := doubtful(3, "Hello")
		change(&m)
		return m
	}
	group := with(func(m *Message) { m.Number = "" })
	sending := with(func(m *Message) { m.State = Sending })
	byPerson := with(func(m *Message) { m.State, m.Evidence = Accepted, ByPerson })
	byReport := with(func(m *Message) { m.State, m.Evidence, m.ProviderID = Accepted, ByReport, "q" })
	closed := with(func(m *Message) { m.State, m.Evidence = ClosedUnknown, ByPerson })
	resent := with(func(m *Message) { m.State, m.Evidence = ClosedResent, ByPerson })
	old := with(func(m *Message) { m.SentAt = licensed - minutes(72*60) - 10 })
	cut := with(func(m *Message) { m.Text = "Hello and a good morning to everybody" })
	tests := []struct {
		name  string
		among []Message
		want  int64 // 0: none
	}{
		{"the only one", []Message{in}, 1},
		{"two", []Message{in, other}, 0},
		{"nobody", nil, 0},
		{"one that is being sent may be meant", []Message{in, sending}, 0},
		{"a group may be meant", []Message{in, group}, 0},
		{"never a group itself", []Message{group}, 0},
		{"one that a person called sent may be meant", []Message{in, byPerson}, 0},
		{"one that a person closed may be meant", []Message{in, closed}, 0},
		{"one that was sent again may be meant", []Message{in, resent}, 0},
		{"one with its own report is explained", []Message{in, byReport}, 1},
		{"one of another time is not meant", []Message{in, old}, 1},
		{"one with a longer text is not meant", []Message{in, cut}, 1},
		{"what a person called sent gets its report", []Message{byPerson}, 3},
		{"a second id of what a report settled", []Message{byReport}, 3},
		{"being sent: the answer comes first", []Message{sending}, 0},
		{"closed stays closed", []Message{closed}, 0},
		{"only a cut text", []Message{cut}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := unmatched("Hello", licensed+1000)
			m, ok := Owner(r, tt.among, "NG", r.ReceivedAt+minutes(2)+1)
			if ok != (tt.want > 0) || m.ID != tt.want {
				t.Errorf("%d %v, want %d", m.ID, ok, tt.want)
			}
			if _, ok := Owner(r, tt.among, "NG", r.ReceivedAt+minutes(2)); ok {
				t.Error("a report of 120 s is believed; it must be older")
			}
			r.ProviderID = ""
			if _, ok := Owner(r, tt.among, "NG", r.ReceivedAt+minutes(9)); ok {
				t.Error("a report without an id is believed")
			}
		})
	}
}

// TestOwnerNeverGuesses: of messages in doubt that all fit, one is an owner and
// two are none, in whatever order they are listed.
func TestOwnerNeverGuesses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5).Draw(t, "fitting")
		var list []Message
		for i := range n {
			list = append(list, doubtful(int64(i+1), "Hello"+strings.Repeat(" ", i)))
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "others") {
			list = append(list, doubtful(int64(100+i), fmt.Sprint("Other ", i)))
		}
		list = rapid.Permutation(list).Draw(t, "order")
		m, ok := Owner(unmatched("Hello", licensed), list, "NG", licensed+minutes(3))
		if ok != (n == 1) || ok && m.ID != 1 {
			t.Fatalf("%d fit and the owner is %d, %v", n, m.ID, ok)
		}
	})
}

func TestMayLink(t *testing.T) {
	r := unmatched("Your appointment is on Monday", licensed)
	for state, want := range map[State]bool{InDoubt: true, Queued: false, Sending: false, Held: false,
		ClosedUnknown: false, ClosedResent: false, Refused: false, Accepted: false} {
		m := doubtful(1, "Your appointment is on Monday at nine.")
		if m.State = state; MayLink(m, r, "NG") != want {
			t.Errorf("%s: %v", state, !want)
		}
	}
	m := doubtful(1, "Your appointment is on Monday at nine.")
	m.State, m.Evidence = Accepted, ByPerson
	nameless := r
	nameless.ProviderID = ""
	if !MayLink(m, r, "NG") || MayLink(doubtful(1, "Something else entirely, really"), r, "NG") ||
		MayLink(m, nameless, "NG") {
		t.Error("the evidence rules do not hold for people")
	}
}

func TestAskedJudge(t *testing.T) {
	m := doubtful(1, "Hello")
	m.State, m.ProviderID = Accepted, "p"
	answer := func(number, status string) MessageStatus {
		return MessageStatus{Number: number, Status: status, ErrorCode: "000"}
	}
	tests := []struct {
		name string
		a    StatusQuery
		want Effect
		as   Status
	}{
		{"listed status", StatusQuery{Why: AskedProof, Answer: answer("08030000001", "DELIVRD")}, Changed, Delivrd},
		{"asked because of a gap", StatusQuery{Why: AskedGap, Answer: answer("2348030000001", "UNDELIV")}, Changed, Undeliv},
		{"unlisted status confirms", StatusQuery{Why: AskedProof, Answer: answer("2348030000001", "SUBMITTED")}, Confirmed, ""},
		{"unlisted status is shown", StatusQuery{Why: AskedGap, Answer: answer("2348030000001", "SUBMITTED")}, NotConclusive, ""},
		{"no number enters no rule", StatusQuery{Why: AskedGap, Answer: answer("", "DELIVRD")}, NotConclusive, ""},
		{"no record at all confirms", StatusQuery{Why: AskedProof}, Confirmed, ""},
		{"another number", StatusQuery{Why: AskedProof, Answer: answer("2348030000009", "DELIVRD")}, Suspicious, ""},
		{"another number in a gap", StatusQuery{Why: AskedGap, Answer: answer("2348030000009", "DELIVRD")}, NotConclusive, ""},
		{"an error", StatusQuery{Why: AskedProof, Code: "041"}, Suspicious, ""},
		{"an error in a gap", StatusQuery{Why: AskedGap, Code: "041"}, NotConclusive, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			after, effect := tt.a.Evaluate(m, "NG")
			if effect != tt.want || after.Delivery.Status != tt.as || after.State != Accepted {
				t.Errorf("%s, %+v", effect, after)
			}
		})
	}
}

func TestChoices(t *testing.T) {
	for _, s := range States() {
		for _, c := range []Choice{ChooseLater, ChooseSent, ChooseAgain, ChooseClose, ChooseQueue, "", "made up"} {
			to, ok := c.Becomes(s, CampaignRunning)
			if ok && s != InDoubt && s != Held {
				t.Errorf("%s %s", s, c)
			}
			if ok && s == InDoubt && to == Queued {
				t.Errorf("%s leads from doubt into the queue", c)
			}
			if want := map[State]string{InDoubt: "later sent again close", Held: "later close queue"}[s]; ok != (c != "" &&
				strings.Contains(" "+want+" ", " "+string(c)+" ")) {
				t.Errorf("%s from %s: %v", c, s, ok)
			}
			for _, of := range CampaignStates() {
				if _, may := c.Becomes(s, of); may != (ok && (c != ChooseQueue || of != CampaignCancelled)) {
					t.Errorf("%s from %s in a campaign that is %s: %v", c, s, of, may)
				}
			}
		}
	}
}

func TestTimings(t *testing.T) {
	var a, b Timings
	for range 98 {
		a.Add(2500 * time.Microsecond)
	}
	b.Add(40 * time.Millisecond)
	b.Add(time.Minute)
	a.Merge(b)
	if p50, p99, all := a.Within(0.5), a.Within(0.99), a.Within(1); p50 != 3*time.Millisecond ||
		p99 != 50*time.Millisecond || all != 18*time.Second {
		t.Errorf("%s %s %s", p50, p99, all)
	}
	if got := ParseTimings(a.String()); got != a {
		t.Errorf("%v is read as %v", a, got)
	}
	if got := ParseTimings(""); got != (Timings{}) || got.Within(0.99) != 0 || got.String() != "" {
		t.Errorf("%v", got)
	}
	if ParseTimings("x,1,2,"+strings.Repeat("1,", 90)) == (Timings{}) {
		t.Error("what can be read is lost")
	}
}

// TestOtherText: a cut text is the same text, a reason is another.
func TestOtherText(t *testing.T) {
	m := Message{Number: "2348030000001", Text: "Come to the clinic  on Monday."}
	for told, want := range map[string]bool{"": false, "Come to the clinic on Monday.": false, "Come to": false,
		"Come to the…": false, "Come to the ...": false,
		"Absent subscriber": true, "come to the clinic": true, "Come to the clinic on Monday. And more": true} {
		if got := OtherText(m, DeliveryReport{ShortMessage: told}); got != want {
			t.Errorf("%q: %v, want %v", told, got, want)
		}
	}
	if m.Text = ""; OtherText(m, DeliveryReport{ShortMessage: "x"}) {
		t.Error("a text that has been removed was compared")
	}
}

// The provider's answer to a question says when it came as a report does: it never
// takes back since when something is known.
func TestAnAnswerToAQuestionKeepsSinceWhenItIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		had  Delivery
		want int64
	}{
		"a report came before": {Delivery{Status: Delivrd, DoneDate: "2511221200", KnownAt: 1000}, 1000},
		"nothing was known":    {Delivery{}, 5000},
	} {
		m := Message{Number: "2348031234567", State: Accepted, ProviderID: "p", Delivery: c.had}
		q := StatusQuery{ProviderID: "p", Why: AskedProof, AskedAt: 5000,
			Answer: MessageStatus{Number: m.Number, Status: string(Delivrd), DoneDate: "2511221201"}}
		if after, e := q.Evaluate(m, "NG"); e != Changed || after.Delivery.KnownAt != c.want {
			t.Errorf("%s: %s, known since %d, want %d", name, e, after.Delivery.KnownAt, c.want)
		}
	}
}
