package ussd

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"smsdesk/internal/sms"
)

// Problem is something wrong with a menu, in words for staff. Stops says that
// the menu must not be published like this.
type Problem struct {
	Screen string // key; "" for the menu as a whole
	Text   string
	Stops  bool
}

// Check lists what is wrong with a menu: first what stops it, each in the order
// of the screens. callers are names that the desk gives a value of its own.
func Check(m Menu) []Problem {
	c := &check{m: m, known: map[string]bool{}}
	c.whole()
	for _, n := range OwnNames() {
		c.known[sms.PlaceholderKey(n)] = true
	}
	for _, s := range m.Screens {
		c.names(s)
	}
	for i, s := range m.Screens {
		c.screen(i, s)
	}
	c.paths()
	c.lengths()
	slices.SortStableFunc(c.found, func(a, b Problem) int {
		switch {
		case a.Stops == b.Stops:
			return 0
		case a.Stops:
			return -1
		}
		return 1
	})
	return c.found
}

// Stops says that one of the problems forbids publishing.
func Stops(list []Problem) bool {
	return slices.ContainsFunc(list, func(p Problem) bool { return p.Stops })
}

// OwnNames are the values that every session has.
func OwnNames() []string { return []string{NumberName, NetworkName} }

// The names of the values that every session has.
const (
	NumberName  = "Number"
	NetworkName = "Network"
)

type check struct {
	m     Menu
	known map[string]bool // marks with a value somewhere in the menu
	found []Problem
}

func (c *check) stop(screen, format string, args ...any) {
	c.found = append(c.found, Problem{Screen: screen, Text: fmt.Sprintf(format, args...), Stops: true})
}

func (c *check) warn(screen, format string, args ...any) {
	c.found = append(c.found, Problem{Screen: screen, Text: fmt.Sprintf(format, args...)})
}

func (c *check) whole() {
	m := c.m
	switch code := strings.ReplaceAll(m.Code, "*", ""); {
	case code == "":
		c.stop("", "The menu has no short code")
	case strings.Trim(code, "0123456789") != "" || strings.Contains(m.Code, "**") || strings.Trim(m.Code, "*") != m.Code ||
		len(m.Code) > 20:
		c.stop("", "Short code must be digits, for example 347 or 347*12, without the first * and last #")
	}
	for _, n := range m.Networks {
		if !slices.Contains(Networks(), n) {
			c.stop("", "There is no network called %q", n)
		}
	}
	if len(m.Languages) == 0 || len(m.Languages) > MaxLanguages {
		c.stop("", "A menu must have 1 to %d languages", MaxLanguages)
	}
	if len(m.Screens) == 0 || len(m.Screens) > MaxScreens {
		c.stop("", "The menu needs 1 to %d screens", MaxScreens)
	}
	for i, l := range m.Languages {
		if l.Code == "" || slices.ContainsFunc(m.Languages[:i], func(o Language) bool { return o.Code == l.Code }) {
			c.stop("", "Each language needs its own code, for example en")
		}
	}
	for i, t := range m.Tables {
		switch {
		case t.Name == "" || slices.ContainsFunc(m.Tables[:i], func(o Table) bool { return o.Name == t.Name }):
			c.stop("", "Each table needs a name of its own")
		case len(t.Columns) == 0 || len(t.Rows) == 0:
			c.stop("", "The table %q has no rows", t.Name)
		case len(t.Rows) > MaxRows:
			c.stop("", "The table %q has more than %d rows", t.Name, MaxRows)
		}
	}
}

// names notes which marks get a value on this screen.
func (c *check) names(s Screen) {
	add := func(n string) { c.known[sms.PlaceholderKey(n)] = true }
	add(s.Save)
	if s.Kind == Pick {
		c.columns(s.Table, add)
	}
	for _, a := range s.Does {
		add(a.Into)
		if a.Kind == LookUp {
			c.columns(a.Table, add)
		}
	}
}

func (c *check) columns(table string, add func(string)) {
	t, _ := c.m.Table(table)
	for _, name := range t.Columns {
		add(name)
	}
}

func (c *check) screen(i int, s Screen) {
	if s.Key == "" || slices.ContainsFunc(c.m.Screens[:i], func(o Screen) bool { return o.Key == s.Key }) {
		c.stop(s.Key, "Two screens have the same key %q", s.Key)
	}
	c.words(s.Key, "This screen", s.Text)
	switch s.Kind {
	case Choose:
		c.choices(i, s)
	case Ask:
		c.leads(s.Key, "The answer", s.Next)
		c.rule(s)
	case Pick:
		c.leads(s.Key, "The answer", s.Next)
		c.cells(s.Key, s.Table, s.Column)
		if t, _ := c.m.Table(s.Table); len(t.Rows) > MaxPick {
			c.stop(s.Key, "%d lines is too long to page through. Offer up to %d, or let callers type an answer and look it up",
				len(t.Rows), MaxPick)
		}
	case Finish:
	default:
		c.stop(s.Key, "Choose what the caller does on this screen")
	}
	if s.Record && s.Save == "" {
		c.stop(s.Key, "Give the saved answer a name")
	}
	for _, a := range s.Does {
		c.deed(s.Key, a)
	}
}

func (c *check) choices(at int, s Screen) {
	if len(s.Choices) == 0 {
		c.stop(s.Key, "Screen %d has no way back or end", at+1)
	}
	if len(s.Choices) > MaxChoices {
		c.stop(s.Key, "This screen has more than %d choices", MaxChoices)
	}
	for i, ch := range s.Choices {
		what := fmt.Sprintf("Choice %d", i+1)
		c.words(s.Key, what, ch.Text)
		c.leads(s.Key, what, ch.Next)
		if ch.Language != "" && !slices.ContainsFunc(c.m.Languages, func(l Language) bool { return l.Code == ch.Language }) {
			c.stop(s.Key, "%s switches to a language this menu does not have: %s", what, ch.Language)
		}
	}
}

func (c *check) rule(s Screen) {
	r := s.Rule
	switch r.Form {
	case AnyText, Digits, Date, "":
	case Listed:
		c.cells(s.Key, r.Table, r.Column)
	default:
		c.stop(s.Key, "There is no rule called %q", r.Form)
	}
	if r.Min < 0 || r.Max < 0 || r.Max > MaxTyped || r.Max > 0 && r.Min > r.Max {
		c.stop(s.Key, "The length of the answer must be between 1 and %d characters", MaxTyped)
	}
}

func (c *check) cells(screen, table, column string) {
	t, ok := c.m.Table(table)
	switch {
	case !ok:
		c.stop(screen, "There is no table called %q", table)
	case t.column(column) < 0:
		c.stop(screen, "The table %q has no column %q", table, column)
	}
}

func (c *check) leads(screen, what, next string) {
	switch {
	case next == "":
		c.stop(screen, "%s does not lead to a screen", what)
	case c.m.index(next) < 0:
		c.stop(screen, "%s leads to a screen that no longer exists", what)
	}
}

func (c *check) words(screen, what string, w Words) {
	for i, l := range c.m.Languages {
		text := w[l.Code]
		switch {
		case strings.TrimSpace(text) == "" && i == 0:
			c.stop(screen, "%s has no text", what)
		case strings.TrimSpace(text) == "":
			c.warn(screen, "%s has no text in %s; the %s one is shown", what, l.Name, c.m.Languages[0].Name)
		case utf8.RuneCountInString(text) > maxText:
			c.stop(screen, "%s is longer than %d characters", what, maxText)
		}
		for _, mark := range sms.Placeholders(text) {
			if !c.known[sms.PlaceholderKey(mark)] {
				c.stop(screen, "%s uses ##%s##, which has no value here", what, mark)
			}
		}
	}
}

func (c *check) deed(screen string, a Action) {
	if a.Otherwise != "" {
		c.leads(screen, "The fallback", a.Otherwise)
	}
	switch a.Kind {
	case Block, Unblock:
	case Join:
		if strings.TrimSpace(a.List) == "" {
			c.stop(screen, "Choose a sign-up list")
		}
	case Status:
		if a.Into == "" {
			c.stop(screen, "Name the status result")
		}
	case LookUp:
		c.cells(screen, a.Table, a.Column)
		if !c.known[sms.PlaceholderKey(a.By)] || a.By == "" {
			c.stop(screen, "Choose the answer to look up")
		}
		if a.Otherwise == "" {
			c.stop(screen, "Choose the screen for \"not found\"")
		}
	case Call:
		u, err := url.Parse(a.URL)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !sms.Loopback(u.Hostname())):
			c.stop(screen, "The webhook's address must begin with https://")
		case a.Into == "":
			c.stop(screen, "Say under which name the webhook's answer is shown")
		case a.Fallback == "":
			c.stop(screen, "Enter what to show if the webhook does not respond")
		}
	default:
		c.stop(screen, "Unknown action %q", a.Kind)
	}
}

// Exits are the keys to which a screen can lead.
func (s Screen) Exits() (keys []string) {
	switch s.Kind {
	case Choose:
		for _, c := range s.Choices {
			keys = append(keys, c.Next)
		}
	case Ask, Pick:
		keys = append(keys, s.Next)
	}
	for _, a := range s.Does {
		if a.Otherwise != "" {
			keys = append(keys, a.Otherwise)
		}
	}
	return keys
}

// paths finds screens that nobody can reach, and those from which no end can
// be reached: there a caller goes round and round. Going back counts as
// neither.
func (c *check) paths() {
	if len(c.m.Screens) == 0 {
		return
	}
	reached := map[string]bool{}
	todo := []string{c.m.Screens[0].Key}
	for len(todo) > 0 {
		key := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		s, ok := c.m.Screen(key)
		if reached[key] || !ok {
			continue
		}
		reached[key] = true
		todo = append(todo, s.Exits()...)
	}
	ends := map[string]bool{}
	for more := true; more; {
		more = false
		for _, s := range c.m.Screens {
			if !ends[s.Key] && (s.Kind == Finish || slices.ContainsFunc(s.Exits(), func(k string) bool { return ends[k] })) {
				ends[s.Key], more = true, true
			}
		}
	}
	for _, s := range c.m.Screens {
		switch {
		case !reached[s.Key]:
			c.warn(s.Key, "No screen leads here")
		case !ends[s.Key]:
			c.stop(s.Key, "Callers can never reach an end from here")
		}
	}
}

// lengths warns of screens that need more than one page with the longest
// values there can be.
func (c *check) lengths() {
	p := NewProgram(c.m)
	for _, s := range c.m.Screens {
		for _, l := range c.m.Languages {
			long, all := p.Longest(s.Key, l.Code)
			if all > 1 && s.Kind != Pick {
				c.warn(s.Key, "May be too long for one screen%s: up to %d %s, and networks show %d. Callers will see %d pages",
					in(c.m, l), long.Units, units(long), long.Most(), all)
			}
		}
	}
}

func in(m Menu, l Language) string {
	if len(m.Languages) < 2 {
		return ""
	}
	return " in " + l.Name
}

func units(l Length) string {
	if l.Unicode {
		return "characters with special characters"
	}
	return "characters"
}

// Longest is how long a screen can get with the longest values that its marks
// can take, and on how many pages it is then shown. What callers type counts
// as letters of GSM-7.
func (p *Program) Longest(key, language string) (Length, int) {
	if len(p.Screens) == 0 || len(p.Languages) == 0 {
		return Length{}, 0
	}
	s := p.At(key, language)
	for _, n := range OwnNames() {
		s.Put(n, "2348031234567")
	}
	put := func(name, text string) {
		if v, ok := s.Value(name); !ok || width(text) > width(v) {
			s.Put(name, text)
		}
	}
	for _, o := range p.Screens {
		p.longestOf(o, put)
	}
	screen := p.Screens[s.screen]
	if screen.Back {
		s.trail = append(s.trail, 0)
	}
	lines := append([]string{p.fill(&s, p.In(screen.Text, language))}, p.items(&s, screen, p.speaks(&s))...)
	foot := where(screen.Back, backKey+". "+p.speaks(&s).back())
	return Measure(joined(lines, "", foot)), len(p.pagesOf(&s))
}

func (p *Program) longestOf(s Screen, put func(name, text string)) {
	columns := func(table string) {
		t, _ := p.Table(table)
		for i, name := range t.Columns {
			put(name, t.longest(i))
		}
	}
	if s.Kind == Pick {
		columns(s.Table)
	}
	for _, a := range s.Does {
		switch a.Kind {
		case LookUp:
			columns(a.Table)
		case Status:
			put(a.Into, LongestStatus)
		case Call:
			put(a.Into, strings.Repeat("m", MaxInto))
			put(a.Into, a.Fallback)
		}
	}
	if s.Save == "" {
		return
	}
	switch s.Kind {
	case Choose:
		for _, c := range s.Choices {
			for _, text := range c.Text {
				put(s.Save, text)
			}
		}
	case Pick:
		t, _ := p.Table(s.Table)
		if at := t.column(s.Column); at >= 0 {
			put(s.Save, t.longest(at))
		}
	case Ask:
		most := s.Rule.Max
		switch {
		case s.Rule.Form == Date:
			most = len("31/12/2026")
		case most == 0 || most > MaxTyped:
			most = MaxTyped
		}
		put(s.Save, strings.Repeat("m", most))
	}
}

// LongestStatus is the longest thing that Status tells.
const LongestStatus = "not delivered, deleted by the network, on 30 September"
