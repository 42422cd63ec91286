package sms

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"smsdesk/internal/phone"
)

const reported = "2348030000101"

// weight is the order of the statuses, typed out by hand.
var weight = map[string]int{"ACCEPTD": 1, "UNKNOWN": 2, "DELETED": 3, "EXPIRED": 4, "UNDELIV": 5, "REJECTD": 6,
	"BLACKLIST": 7, "DELIVRD": 8}

func TestPrecedenceOfStatuses(t *testing.T) {
	if len(Statuses()) != len(weight) {
		t.Fatalf("%d statuses, §3.2 has %d", len(Statuses()), len(weight))
	}
	for _, a := range Statuses() {
		if a.Final() != (weight[string(a)] > 2) {
			t.Errorf("%s.Final() = %v", a, a.Final())
		}
		for _, b := range Statuses() {
			m := Message{State: Accepted, Number: reported}
			m, _ = m.Apply(DeliveryReport{Mobile: reported, Status: string(a)}, "NG")
			m, _ = m.Apply(DeliveryReport{Mobile: reported, Status: string(b)}, "NG")
			want := a
			if weight[string(b)] > weight[string(a)] {
				want = b
			}
			if m.Delivery.Status != want {
				t.Errorf("%s then %s gives %s, want %s", a, b, m.Delivery.Status, want)
			}
			if conflict := a.Final() && b.Final() && a != b; m.Delivery.Conflict != conflict {
				t.Errorf("%s then %s: conflict %v, want %v", a, b, m.Delivery.Conflict, conflict)
			}
		}
	}
	if Status("ENROUTE").Final() || Status("").Final() {
		t.Error("a status that §3.2 does not list is final")
	}
}

func TestParseStatus(t *testing.T) {
	for raw, ok := range map[string]bool{"DELIVRD": true, " delivrd\t": true, "Blacklist": true, "": false,
		"ENROUTE": false, "DELIVERED": false, "DELIVRD DELIVRD": false, "0": false} {
		if _, got := ParseStatus(raw); got != ok {
			t.Errorf("ParseStatus(%q) = %v", raw, got)
		}
	}
}

// expected is what a set of reports must come to, found without looking at
// their order.
func expected(late bool, reports []DeliveryReport) Delivery {
	d := Delivery{Late: late}
	finals := map[string]bool{}
	for _, r := range reports {
		s, ok := ParseStatus(r.Status)
		if !ok || phone.Key(r.Mobile, "NG") != reported {
			continue
		}
		if weight[string(s)] > 2 {
			finals[string(s)] = true
			d.Late = false
		}
		a, b := weight[string(s)], weight[string(d.Status)]
		if a > b || a == b && (r.ErrorCode > d.ErrorCode || r.ErrorCode == d.ErrorCode && r.DoneDate > d.DoneDate) {
			d.Status, d.ErrorCode, d.DoneDate = s, r.ErrorCode, r.DoneDate
		}
	}
	d.Conflict = len(finals) > 1
	return d
}

func anyReport() *rapid.Generator[DeliveryReport] {
	words := []string{"ENROUTE", "", "DELIVERED", "delivrd", " UNDELIV ", "Acceptd"}
	for _, s := range Statuses() {
		words = append(words, string(s))
	}
	return rapid.Custom(func(t *rapid.T) DeliveryReport {
		return DeliveryReport{
			Mobile: rapid.SampledFrom([]string{reported, reported, "+" + reported, "08030000101", "00" + reported,
				"2348030000102", ""}).Draw(t, "mobile"),
			Status:    rapid.SampledFrom(words).Draw(t, "status"),
			ErrorCode: rapid.SampledFrom([]string{"", "000", "001", "27"}).Draw(t, "code"),
			DoneDate:  rapid.SampledFrom([]string{"", "2026-03-01 10:00", "2026-03-01 10:01"}).Draw(t, "done"),
		}
	})
}

func applyAll(m Message, reports []DeliveryReport) Message {
	for _, r := range reports {
		m, _ = m.Apply(r, "NG")
	}
	return m
}

func TestReportsJoinInAnyOrderAndNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SliceOfN(anyReport(), 0, 6).Draw(t, "reports")
		late := rapid.Bool().Draw(t, "late")
		m := Message{State: Accepted, Number: reported, ProviderID: "a", Delivery: Delivery{Late: late}}
		want := expected(late, set)
		again := append(set[:len(set):len(set)], rapid.SliceOfN(rapid.SampledFrom(append(set, DeliveryReport{Mobile: "1"})),
			0, 6).Draw(t, "repeated")...)
		got := applyAll(m, rapid.Permutation(again).Draw(t, "order"))
		if d := cmp.Diff(want, got.Delivery); d != "" {
			t.Fatal(d)
		}
		got.Delivery = m.Delivery
		if d := cmp.Diff(m, got); d != "" {
			t.Fatalf("a report changed more than the delivery:\n%s", d)
		}
		// Joining two halves is joining the whole: what one half came to may
		// be told again as a report.
		cut := rapid.IntRange(0, len(set)).Draw(t, "cut")
		half := applyAll(m, set[:cut]).Delivery
		if half.Status != "" && !half.Conflict {
			joined := applyAll(applyAll(m, set[cut:]),
				[]DeliveryReport{{Mobile: reported, Status: string(half.Status), ErrorCode: half.ErrorCode,
					DoneDate: half.DoneDate}})
			if d := cmp.Diff(want, joined.Delivery); d != "" {
				t.Fatalf("halves:\n%s", d)
			}
		}
	})
}

func TestAll720OrdersOfSixReports(t *testing.T) {
	set := []DeliveryReport{
		{Mobile: reported, Status: "ACCEPTD", DoneDate: "2026-03-01 10:00"},
		{Mobile: "+" + reported, Status: "UNKNOWN", ErrorCode: "9"},
		{Mobile: "08030000101", Status: "EXPIRED", ErrorCode: "27"},
		{Mobile: reported, Status: "delivrd", ErrorCode: "000", DoneDate: "2026-03-01 10:02"},
		{Mobile: reported, Status: "DELIVRD", ErrorCode: "000", DoneDate: "2026-03-01 10:05"},
		{Mobile: "2348030000999", Status: "BLACKLIST"},
	}
	want := Delivery{Status: Delivrd, ErrorCode: "000", DoneDate: "2026-03-01 10:05", Conflict: true}
	orders := 0
	var walk func(done, rest []DeliveryReport)
	walk = func(done, rest []DeliveryReport) {
		if len(rest) == 0 {
			orders++
			m := applyAll(Message{State: Accepted, Number: reported, Delivery: Delivery{Late: true}}, done)
			if m.Delivery != want {
				t.Fatalf("order %v gives %+v", done, m.Delivery)
			}
		}
		for i := range rest {
			others := append(append([]DeliveryReport{}, rest[:i]...), rest[i+1:]...)
			walk(append(done[:len(done):len(done)], rest[i]), others)
		}
	}
	walk(nil, set)
	if orders != 720 {
		t.Fatalf("%d orders", orders)
	}
}

func TestEffectsOfAReport(t *testing.T) {
	accepted := Message{State: Accepted, Number: reported, ProviderID: "a"}
	delivered := accepted
	delivered.Delivery = Delivery{Status: Delivrd, ErrorCode: "000"}
	for _, c := range []struct {
		name string
		m    Message
		r    DeliveryReport
		want Effect
	}{
		{"first", accepted, DeliveryReport{Mobile: reported, Status: "ACCEPTD"}, Changed},
		{"again", delivered, DeliveryReport{Mobile: reported, Status: "DELIVRD", ErrorCode: "000"}, Repeated},
		{"weaker", delivered, DeliveryReport{Mobile: reported, Status: "ACCEPTD"}, Repeated},
		{"another final", delivered, DeliveryReport{Mobile: reported, Status: "UNDELIV"}, Changed},
		{"another number", accepted, DeliveryReport{Mobile: "2348030000102", Status: "DELIVRD"}, WrongNumber},
		{"no number", accepted, DeliveryReport{Status: "DELIVRD"}, WrongNumber},
		{"unlisted word", accepted, DeliveryReport{Mobile: reported, Status: "ENROUTE"}, Unrecognised},
		{"no word", accepted, DeliveryReport{Mobile: reported}, Unrecognised},
	} {
		after, effect := c.m.Apply(c.r, "NG")
		if effect != c.want {
			t.Errorf("%s: %s, want %s", c.name, effect, c.want)
		}
		if changed := after != c.m; changed != (effect == Changed) {
			t.Errorf("%s: %s and changed=%v", c.name, effect, changed)
		}
	}
	for _, s := range States() {
		m := Message{State: s, Number: reported}
		after, effect := m.Apply(DeliveryReport{Mobile: reported, Status: "DELIVRD"}, "NG")
		if s != Accepted && (effect != NotMatched || after != m) {
			t.Errorf("a report moved a message that is %s: %s", s, effect)
		}
	}
}

func TestOnlyAFinalReportEndsLateness(t *testing.T) {
	for _, s := range Statuses() {
		m := Message{State: Accepted, Number: reported, Delivery: Delivery{Late: true}}
		m, _ = m.Apply(DeliveryReport{Mobile: reported, Status: string(s)}, "NG")
		if m.Delivery.Late == s.Final() {
			t.Errorf("%s leaves late=%v", s, m.Delivery.Late)
		}
	}
}
