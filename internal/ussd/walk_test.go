package ussd

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// doings notes what a menu asked for and answers as told.
type doings struct {
	did    []string
	refuse map[ActionKind]bool
	into   string
}

func (d *doings) Do(a Action, _ *State) (string, bool) {
	d.did = append(d.did, string(a.Kind)+" "+a.List)
	return d.into, !d.refuse[a.Kind]
}

func (d *doings) Record(name, text string) bool {
	d.did = append(d.did, "record "+name+"="+text)
	return true
}

// play dials and types, and returns what the screens said, "|" for the end.
func play(m Menu, d *doings, dialled []string, typed ...string) (screens []string) {
	p := NewProgram(m)
	s, a := p.Begin(dialled, []Value{{NumberName, "0803 123 4567"}}, d)
	say := func() {
		text := strings.ReplaceAll(a.Text, "\n", " / ")
		if a.End {
			text += " |"
		}
		screens = append(screens, text)
	}
	say()
	for _, t := range typed {
		a = p.Next(&s, t, d)
		say()
	}
	return screens
}

func TestExamplesAreWithoutProblems(t *testing.T) {
	for _, m := range Examples() {
		if found := Check(m); len(found) > 0 {
			t.Errorf("%s: %v", m.Name, found)
		}
	}
}

func TestWalk(t *testing.T) {
	tests := []struct {
		name    string
		menu    Menu
		dialled []string
		typed   []string
		doings  doings
		want    []string
		did     []string
	}{
		{"opt out, with a slip, back and again", optOut(), nil, []string{"7", "1", "0", " 1 ", "1"}, doings{}, []string{
			"Messages from the clinic to 0803 123 4567 / 1. Stop all messages / 2. Start messages again / 3. What became of my last message?",
			"That is not a valid choice. / Messages from the clinic to 0803 123 4567 / 1. Stop all messages / 2. Start " +
				"messages again / 3. What became of my last message?",
			"You will get no more messages from us. Stop all messages? / 1. Yes, stop / 0. Back",
			"Messages from the clinic to 0803 123 4567 / 1. Stop all messages / 2. Start messages again / 3. What became of my last message?",
			"You will get no more messages from us. Stop all messages? / 1. Yes, stop / 0. Back",
			"Done. You will get no more messages from us. Dial again to start them. |"}, []string{"block "}},
		{"dialled all the way", optOut(), []string{"1", "1"}, nil, doings{},
			[]string{"Done. You will get no more messages from us. Dial again to start them. |"}, []string{"block "}},
		{"a dialled answer that is none stops there", optOut(), []string{"9", "1"}, nil, doings{}, []string{
			"That is not a valid choice. / Messages from the clinic to 0803 123 4567 / 1. Stop all messages / 2. Start " +
				"messages again / 3. What became of my last message?"}, nil},
		{"a deed that fails leads elsewhere", optOut(), nil, []string{"2"}, doings{refuse: map[ActionKind]bool{Unblock: true}}, []string{
			"Messages from the clinic to 0803 123 4567 / 1. Stop all messages / 2. Start messages again / 3. What became of my last message?",
			"We cannot start messages to this number from here. Ask at the clinic. |"}, []string{"unblock "}},
		{"what a deed tells is shown", optOut(), []string{"3"}, nil, doings{into: "delivered, on 3 May"},
			[]string{"Your last message: delivered, on 3 May. |"}, []string{"status "}},
		{"a table in another language", schoolFee(), []string{"2"}, []string{"12", "1003"}, doings{}, []string{
			"Shigar da lambar dalibi / 0. Baya", "Lambar tana da 4 zuwa 6. / Shigar da lambar dalibi / 0. Baya", "Saura na Chidi: 4,000 naira |"}, nil},
		{"not in the table", schoolFee(), []string{"1"}, []string{"9999", "2"}, doings{}, []string{
			"Enter the pupil number / 0. Back", "We do not know the number 9999. / 1. Try again / 2. Leave", "Ask at the office. Goodbye. |"}, nil},
		{"answers that are kept", survey(), nil, []string{"3", "Wait ##less##", "31/2/2026", "1/2/2026", "1"}, doings{}, []string{
			"Thank you for your visit. How was it? / 1. Good / 2. Fair / 3. Bad", "What should we do better? / 0. Back",
			"On which day were you here? (day/month/year) / 0. Back", "Enter the day like 31/12/2026. / On which day were you here? (day/month/year) / 0. Back",
			"May we send you news? / 1. Yes / 2. No", "Thank you. You are on the list. |"},
			[]string{"record Satisfied=Bad", "record Reason=Wait ##less##", "record Day=01/02/2026", "join News"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := play(tt.menu, &tt.doings, tt.dialled, tt.typed...)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.did, tt.doings.did); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLongListIsPaged(t *testing.T) {
	m := Menu{Languages: english(), Tables: []Table{{Name: "Towns", Columns: []string{"Town"}}}, Screens: []Screen{
		{Key: "a", Kind: Pick, Table: "Towns", Column: "Town", Save: "Town", Next: "b", Text: en("Where?")}, {Key: "b", Kind: Finish, Text: en("##Town##")}}}
	for i := range 200 {
		m.Tables[0].Rows = append(m.Tables[0].Rows, []string{fmt.Sprintf("Town number %d", i+1)})
	}
	typed := make([]string, 40)
	for i := range typed {
		typed[i] = moreKey
	}
	seen := play(m, &doings{}, nil, typed...)
	whole := strings.Join(seen, "\n")
	for i := range 200 {
		if line := fmt.Sprintf("%d. Town number %d", i+1, i+1); !strings.Contains(whole, line) {
			t.Fatalf("%q is on no page", line)
		}
	}
	for i, s := range seen {
		if i > 0 && i < 20 && (!strings.HasSuffix(s, "0. Back") || strings.Contains(s, "Where?")) {
			t.Errorf("page %d: %s", i+1, s)
		}
	}
	if got := play(m, &doings{}, nil, moreKey, moreKey, backKey, "133"); got[3] != got[1] ||
		got[4] != "Town number 133 |" {
		t.Error(got)
	}
}

func TestLongEndIsPaged(t *testing.T) {
	m := Menu{Languages: english(), Screens: []Screen{{Key: "a", Kind: Finish, Text: en(strings.Repeat("ọrọ ", 60))}}}
	typed := make([]string, 9)
	for i := range typed {
		typed[i] = moreKey
	}
	got := play(m, &doings{}, nil, typed...)
	if strings.HasSuffix(got[0], "|") || !strings.HasSuffix(got[len(got)-1], "|") ||
		strings.Count(strings.Join(got[:4], " "), "ọrọ") < 50 {
		t.Error(got)
	}
}

func TestDialled(t *testing.T) {
	whole, part, glo := NewProgram(Menu{Code: "347"}), NewProgram(Menu{Code: "347*12"}),
		NewProgram(Menu{Code: "347", Networks: []string{"glo"}})
	tests := []struct {
		network, code, text string
		want                *Program
		inputs              []string
	}{
		{"mtn", "347", "*347#", whole, nil},
		{"mtn", "347", "*347*1*2#", whole, []string{"1", "2"}},
		{"mtn", "347", "*347*12#", part, nil},
		{"mtn", "347", "*347*12*5#", part, []string{"5"}},
		{"mtn", "347", "*347*123#", whole, []string{"123"}},
		{"glo", "347", "*347*1#", glo, []string{"1"}},
		{"mtn", "347", "", whole, nil},
		{"mtn", "", "*347#", whole, nil},
		{"mtn", "*347#", "hello", whole, nil},
		{"mtn", "348", "*348#", nil, nil},
		{"mtn", "3471", "*3471#", nil, nil},
		{"mtn", "", "", nil, nil},
	}
	for _, tt := range tests {
		p, inputs := Dialled([]*Program{whole, part, glo}, tt.network, tt.code, tt.text)
		if p != tt.want || !cmp.Equal(inputs, tt.inputs) {
			t.Errorf("%+v: got %v %v", tt, p, inputs)
		}
	}
}

func TestCheckFinds(t *testing.T) {
	base := func(edit func(m *Menu)) Menu { m := optOut(); edit(&m); return m }
	tests := []struct {
		menu  Menu
		want  string
		stops bool
	}{
		{base(func(m *Menu) { m.Screens[0].Choices[1].Next = "" }), "Choice 2 does not lead to a screen", true},
		{base(func(m *Menu) { m.Screens[0].Choices[1].Next = "gone" }), "Choice 2 leads to a screen that no longer exists", true},
		{base(func(m *Menu) { m.Screens[1].Choices = nil }), "Screen 2 has no way back or end", true},
		{base(func(m *Menu) { m.Screens[1].Choices[0].Next = "sure" }), "Callers can never reach an end from here", true},
		{base(func(m *Menu) { m.Screens = append(m.Screens, Screen{Key: "x", Kind: Finish, Text: en("x")}) }), "No screen leads here", false},
		{base(func(m *Menu) { m.Screens[2].Text = en("##Nobody##") }), "This screen uses ##Nobody##, which has no value here", true},
		{base(func(m *Menu) { m.Screens[2].Text = en("") }), "This screen has no text", true},
		{base(func(m *Menu) {
			m.Screens[2].Text = en(strings.Repeat("x", 183))
		}), "May be too long for one screen: up to 183 characters, and networks show 182. Callers will see 2 pages", false},
		{base(func(m *Menu) {
			m.Screens[2].Text = en(strings.Repeat("ọ", 81))
		}),
			"May be too long for one screen: up to 81 characters with special characters, and networks show 80. Callers will see 2 pages", false},
		{base(func(m *Menu) { m.Code = "*347#" }), "Short code must be digits, for example 347 or 347*12, without the first * and last #", true},
		{base(func(m *Menu) { m.Networks = []string{"vodafone"} }), `There is no network called "vodafone"`, true},
		{base(func(m *Menu) {
			m.Screens[2].Does = []Action{{Kind: Call, URL: "http://example.com", Into: "A", Fallback: "x"}}
		}), "The webhook's address must begin with https://", true},
		{base(func(m *Menu) {
			m.Languages = append(m.Languages, Language{Code: "ha", Name: "Hausa"})
		}), "This screen has no text in Hausa; the English one is shown", false},
	}
	for _, tt := range tests {
		found := Check(tt.menu)
		ok := false
		for _, p := range found {
			ok = ok || p.Text == tt.want && p.Stops == tt.stops
		}
		if !ok || Stops(found) != tt.stops {
			t.Errorf("%q (stops %v) is not in %v", tt.want, tt.stops, found)
		}
	}
}

func TestTheLongestValueCounts(t *testing.T) {
	m := schoolFee()
	long, all := NewProgram(m).Longest("balance", "en")
	if want := len("To pay for Chidi: 12,500 naira"); long.Units != want || all != 1 {
		t.Errorf("%d on %d pages, want %d", long.Units, all, want)
	}
}

func TestDiff(t *testing.T) {
	a, b := optOut(), optOut()
	b.Screens[0].Text = en("Other")
	b.Screens = append(b.Screens[:5:5], Screen{Key: "new", Title: "New"})
	b.Code = "348"
	var got []string
	for _, c := range Diff(a, b) {
		got = append(got, c.What+" "+c.Title)
	}
	if d := cmp.Diff([]string{"changed Short code", "changed Start", "added New", "removed Last message"}, got); d != "" {
		t.Error(d)
	}
	if len(Diff(a, optOut())) > 0 {
		t.Error("a menu differs from itself")
	}
}

// FuzzMenu walks menus that are nonsense with inputs that are nonsense: nothing
// panics, and no screen is longer than networks show.
func FuzzMenu(f *testing.F) {
	for i := range Examples() {
		f.Add(uint8(i), "Hello ##Number##", "1\n2\n00\n0\nx")
	}
	f.Fuzz(func(t *testing.T, which uint8, text, typed string) {
		m := Examples()[int(which)%len(Examples())]
		for i := range m.Screens {
			if i%2 == int(which)%2 {
				m.Screens[i].Text = en(shorten(text, maxText))
			}
			if which > 100 {
				m.Screens[i].Next, m.Screens[i].Kind = typed, Kind(text)
			}
		}
		Check(m)
		p := NewProgram(m)
		s, a := p.Begin(strings.Split(typed, "*"), nil, &doings{into: text})
		for _, input := range strings.Split(typed, "\n") {
			if utf8.ValidString(text) && !fits(a.Text) {
				t.Fatalf("%d of %q", Measure(a.Text).Units, a.Text)
			}
			if a.End {
				break
			}
			a = p.Next(&s, input, &doings{})
		}
	})
}
