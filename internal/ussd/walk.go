package ussd

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"smsdesk/internal/sms"
)

// What a caller types to go back and to see more. As texts they differ from
// every number of a choice.
const (
	backKey = "0"
	moreKey = "00"
)

// maxHistory is how many screens a caller can go back.
const maxHistory = 40

// Value is what a mark ##Name## stands for.
type Value struct{ Name, Text string }

// State is where one caller stands in a menu. It belongs to the Program that
// made it.
type State struct {
	Values   []Value
	trail    []int16
	screen   int16
	page     int16
	language int16
}

// Value is the value of a name, compared as marks are.
func (s *State) Value(name string) (string, bool) {
	key := sms.PlaceholderKey(name)
	for _, v := range s.Values {
		if sms.PlaceholderKey(v.Name) == key {
			return v.Text, true
		}
	}
	return "", false
}

// Put sets a value.
func (s *State) Put(name, text string) {
	if name == "" {
		return
	}
	key := sms.PlaceholderKey(name)
	for i, v := range s.Values {
		if sms.PlaceholderKey(v.Name) == key {
			s.Values[i].Text = text
			return
		}
	}
	s.Values = append(s.Values, Value{name, text})
}

// Doer does what a screen asks for beyond words.
type Doer interface {
	// Do does a deed other than LookUp, which needs nobody. ok is false where
	// it did not succeed; into is what the deed has to tell.
	Do(a Action, s *State) (into string, ok bool)
	// Record keeps an answer for staff; false where it could not.
	Record(name, text string) bool
}

// Begin starts at the first screen with values of the desk's own and walks on
// by what was dialled behind the code. An answer that a screen does not take
// ends the walk there.
func (p *Program) Begin(inputs []string, own []Value, do Doer) (State, Answer) {
	s := State{Values: own}
	if len(p.Screens) == 0 {
		return s, Answer{End: true}
	}
	a := p.enter(&s, 0, do, 0)
	for _, input := range inputs {
		if a.End {
			break
		}
		var taken bool
		if a, taken = p.step(&s, input, do); !taken {
			break
		}
	}
	return s, a
}

// Next takes what the caller typed.
func (p *Program) Next(s *State, input string, do Doer) Answer {
	a, _ := p.step(s, input, do)
	return a
}

// Twice is what a caller sees whose input came a second time, where nothing
// tells whether it was pressed twice or sent again by the service. asks says
// that taking it would do what cannot be undone, such as keep an answer or do a
// deed: then the same screen asks for it once more. Nothing is done, and s stays
// as it is.
func (p *Program) Twice(s *State, input string) (a Answer, asks bool) {
	tried, noted := s.copied(), &noted{}
	p.step(&tried, input, noted)
	if !noted.does {
		return Answer{}, false
	}
	same := s.copied()
	return p.show(&same, p.speaks(s).twice()), true
}

func (s *State) copied() State {
	c := *s
	c.Values, c.trail = slices.Clone(s.Values), slices.Clone(s.trail)
	return c
}

// noted is a Doer that only notes whether something would be done.
type noted struct{ does bool }

// Do notes every deed but a question.
func (n *noted) Do(a Action, _ *State) (into string, ok bool) {
	n.does = n.does || a.Kind != Status
	return "", true
}

// Record notes an answer.
func (n *noted) Record(string, string) bool {
	n.does = true
	return true
}

// Key is the key of the screen on which the caller stands.
func (p *Program) Key(s *State) string {
	if int(s.screen) < len(p.Screens) {
		return p.Screens[s.screen].Key
	}
	return ""
}

// Show is what the caller sees without doing anything, as a preview has it.
func (p *Program) Show(s *State) Answer {
	if len(p.Screens) == 0 {
		return Answer{End: true}
	}
	return p.show(s, "")
}

// At is the state of a caller on the screen with this key, who speaks the
// language and came from nowhere.
func (p *Program) At(key, language string) State {
	s := State{screen: p.places[key]}
	for i, l := range p.Languages {
		if l.Code == language {
			s.language = int16(i)
		}
	}
	return s
}

func (p *Program) step(s *State, input string, do Doer) (a Answer, taken bool) {
	input = strings.Join(strings.Fields(strings.ToValidUTF8(input, "")), " ")
	screen := p.Screens[s.screen]
	all := p.pagesOf(s)
	switch {
	case input == moreKey && int(s.page)+1 < len(all):
		s.page++
		return p.show(s, ""), true
	case input == backKey && s.page > 0:
		s.page--
		return p.show(s, ""), true
	case input == backKey && screen.Back && len(s.trail) > 0:
		s.screen, s.trail = s.trail[len(s.trail)-1], s.trail[:len(s.trail)-1]
		s.page = 0
		return p.show(s, ""), true
	}
	next, text, ok := p.take(s, screen, input)
	if !ok {
		return p.show(s, p.In(screen.Rule.Wrong, p.speaks(s).Code)+where(len(screen.Rule.Wrong) == 0, p.speaks(s).wrong())),
			false
	}
	s.Put(screen.Save, text)
	if screen.Save != "" && screen.Record && !do.Record(screen.Save, text) {
		return Answer{End: true, Failed: true}, true
	}
	s.trail = append(s.trail, s.screen)
	if len(s.trail) > maxHistory {
		s.trail = append(s.trail[:0], s.trail[1:]...)
	}
	return p.enter(s, p.place(next), do, 0), true
}

// take finds where an answer leads and what it is called.
func (p *Program) take(s *State, screen Screen, input string) (next, text string, ok bool) {
	switch screen.Kind {
	case Choose:
		n, err := strconv.Atoi(input)
		if err != nil || n < 1 || n > len(screen.Choices) {
			return "", "", false
		}
		c := screen.Choices[n-1]
		text = p.fill(s, p.In(c.Text, p.speaks(s).Code))
		for i, l := range p.Languages {
			if l.Code == c.Language {
				s.language = int16(i)
			}
		}
		return c.Next, text, true
	case Pick:
		t, _ := p.Table(screen.Table)
		n, err := strconv.Atoi(input)
		at := t.column(screen.Column)
		if err != nil || n < 1 || n > len(t.Rows) || at < 0 || at >= len(t.Rows[n-1]) {
			return "", "", false
		}
		p.putRow(s, t, t.Rows[n-1])
		return screen.Next, t.Rows[n-1][at], true
	case Ask:
		text, ok = p.accept(screen.Rule, input)
		return screen.Next, text, ok
	}
	return "", "", false
}

func (p *Program) accept(r Rule, input string) (string, bool) {
	n, most := utf8.RuneCountInString(input), r.Max
	if most == 0 || most > MaxTyped {
		most = MaxTyped
	}
	switch r.Form {
	case Date:
		return readDate(input)
	case Digits:
		if strings.Trim(input, "0123456789") != "" {
			return "", false
		}
	case Listed:
		row, ok := p.row(r.Table, r.Column, input)
		if !ok {
			return "", false
		}
		t, _ := p.Table(r.Table)
		return row[t.column(r.Column)], true
	}
	return input, n >= max(r.Min, 1) && n <= most
}

// readDate reads day, month and year and writes them as 31/12/2026.
func readDate(input string) (string, bool) {
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune("/-. ", r) {
			return -1
		}
		return r
	}, input)
	if parts := strings.FieldsFunc(input, func(r rune) bool { return strings.ContainsRune("/-. ", r) }); len(parts) == 3 {
		for i, part := range parts[:2] {
			if len(part) == 1 {
				parts[i] = "0" + part
			}
		}
		digits = strings.Join(parts, "")
	}
	if len(digits) != 8 || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	day, _ := strconv.Atoi(digits[:2])
	month, _ := strconv.Atoi(digits[2:4])
	year, _ := strconv.Atoi(digits[4:])
	if year < 1900 || month < 1 || month > 12 || day < 1 || day > daysIn(month, year) {
		return "", false
	}
	return digits[:2] + "/" + digits[2:4] + "/" + digits[4:], true
}

func daysIn(month, year int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

func (p *Program) place(key string) int16 {
	if at, ok := p.places[key]; ok {
		return at
	}
	return -1
}

func (p *Program) speaks(s *State) Language {
	if int(s.language) < len(p.Languages) {
		return p.Languages[s.language]
	}
	return Language{}
}

// enter does what the screen does and shows it. Deeds that lead to screens
// with deeds that fail again end after a few.
func (p *Program) enter(s *State, at int16, do Doer, depth int) Answer {
	if at < 0 || depth > 5 {
		return Answer{End: true, Failed: true}
	}
	s.screen, s.page = at, 0
	for _, a := range p.Screens[at].Does {
		if p.do(s, a, do) || a.Otherwise == "" {
			continue
		}
		return p.enter(s, p.place(a.Otherwise), do, depth+1)
	}
	return p.show(s, "")
}

func (p *Program) do(s *State, a Action, do Doer) bool {
	if a.Kind == LookUp {
		by, _ := s.Value(a.By)
		row, ok := p.row(a.Table, a.Column, by)
		if ok {
			t, _ := p.Table(a.Table)
			p.putRow(s, t, row)
		}
		return ok
	}
	into, ok := do.Do(a, s)
	if !ok && into == "" {
		into = a.Fallback
	}
	s.Put(a.Into, shorten(into, MaxInto))
	return ok
}

func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most])
}

func (p *Program) putRow(s *State, t Table, row []string) {
	for i, c := range t.Columns {
		if i < len(row) {
			s.Put(c, row[i])
		}
	}
}

// fill puts values in the place of marks; a mark without a value shows nothing.
func (p *Program) fill(s *State, text string) string {
	out, _ := sms.Fill(text, func(name string) (string, bool) {
		v, _ := s.Value(name)
		return v, true
	})
	return out
}

// pagesOf are the texts of the screen on which the caller stands.
func (p *Program) pagesOf(s *State) []string {
	screen, l := p.Screens[s.screen], p.speaks(s)
	lines := strings.Split(p.fill(s, strings.ReplaceAll(p.In(screen.Text, l.Code), "\r", "")), "\n")
	return pages(append(lines, p.items(s, screen, l)...), moreKey+". "+l.more(), backKey+". "+l.back(),
		screen.Back && len(s.trail) > 0)
}

func (p *Program) items(s *State, screen Screen, l Language) (list []string) {
	switch screen.Kind {
	case Choose:
		for i, c := range screen.Choices {
			list = append(list, strconv.Itoa(i+1)+". "+p.fill(s, p.In(c.Text, l.Code)))
		}
	case Pick:
		t, _ := p.Table(screen.Table)
		at := t.column(screen.Column)
		for i, r := range t.Rows {
			if at >= 0 && at < len(r) {
				list = append(list, strconv.Itoa(i+1)+". "+r[at])
			}
		}
	}
	return list
}

// show is the page on which the caller stands. What is said above it takes
// room from nothing: where both do not fit, the page alone is shown.
func (p *Program) show(s *State, above string) Answer {
	all := p.pagesOf(s)
	s.page = min(s.page, int16(len(all)-1))
	text := all[s.page]
	if above != "" && fits(above+"\n"+text) {
		text = above + "\n" + text
	}
	return Answer{End: p.Screens[s.screen].Kind == Finish && int(s.page) == len(all)-1, Text: text}
}
