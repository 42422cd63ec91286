package ussd

import (
	"slices"
	"strconv"
)

// Networks are the values of the field network that §6.2 expects.
func Networks() []string { return []string{"9mobile", "mtn", "glo", "airtel"} }

// Menu is what a caller of one short code can walk through. Its JSON form is
// that of an export, and of what is stored.
type Menu struct {
	Name string `json:"name"`
	// Code is the short code without the leading "*" and the trailing "#"
	// (§6.2); "347*12" is a part of another's code.
	Code string `json:"code"`
	// Networks are those that the menu answers on, in lower case; none: all.
	Networks  []string   `json:"networks,omitempty"`
	Languages []Language `json:"languages"` // the first is spoken until a caller chooses
	Screens   []Screen   `json:"screens"`   // a session begins on the first
	Tables    []Table    `json:"tables,omitempty"`
}

// Language is one in which the screens are written, with the words that stand
// on many of them.
type Language struct {
	Code  string `json:"code"` // such as "en"
	Name  string `json:"name"`
	Back  string `json:"back,omitempty"`
	More  string `json:"more,omitempty"`
	Wrong string `json:"wrong,omitempty"` // said above a screen whose answer was not understood
}

// Words are one text in several languages, by the language's code.
type Words map[string]string

// Kind is what a screen expects of the caller.
type Kind string

// The kinds.
const (
	Choose Kind = "choose" // one of numbered choices
	Ask    Kind = "ask"    // words of the caller's own
	Pick   Kind = "pick"   // a row of a table, by number
	Finish Kind = "end"    // nothing: the session is over
)

// Screen is one thing a caller sees.
type Screen struct {
	Key   string   `json:"key"` // unique in the menu; never changes
	Title string   `json:"title"`
	Kind  Kind     `json:"kind"`
	Text  Words    `json:"text"` // with ##Name## for values
	Does  []Action `json:"does,omitempty"`
	// Choices belong to Choose; of the others Next is where an answer leads.
	Choices []Choice `json:"choices,omitempty"`
	Next    string   `json:"next,omitempty"`
	Rule    Rule     `json:"rule,omitzero"` // of Ask
	// Table and Column are what Pick lists.
	Table  string `json:"table,omitempty"`
	Column string `json:"column,omitempty"`
	// Save is the name under which later screens show the answer; Record also
	// keeps it for staff.
	Save   string `json:"save,omitempty"`
	Record bool   `json:"record,omitempty"`
	Back   bool   `json:"back,omitempty"`
}

// Choice is one numbered line of a screen.
type Choice struct {
	Text Words  `json:"text"`
	Next string `json:"next"`
	// Language, where set, is spoken from then on.
	Language string `json:"language,omitempty"`
}

// Form is what a rule asks of an answer.
type Form string

// The forms.
const (
	AnyText Form = "text"
	Digits  Form = "digits"
	Date    Form = "date"  // day, month and year: 31/12/2026, 31-12-2026 or 31122026
	Listed  Form = "table" // one of a table's column
)

// Rule is what a caller may type. Min and Max count characters; 0 stands for 1
// and for the most that a screen takes.
type Rule struct {
	Form   Form   `json:"form,omitempty"`
	Min    int    `json:"min,omitempty"`
	Max    int    `json:"max,omitempty"`
	Table  string `json:"table,omitempty"`
	Column string `json:"column,omitempty"`
	Wrong  Words  `json:"wrong,omitempty"`
}

// ActionKind is what a screen does before it is shown.
type ActionKind string

// The deeds.
const (
	Block   ActionKind = "block"   // nothing more is sent to the caller
	Unblock ActionKind = "unblock" // takes back what Block did
	Join    ActionKind = "join"    // puts the caller onto the list List
	Status  ActionKind = "status"  // ##Into## becomes what became of the last message
	LookUp  ActionKind = "lookup"  // the row of Table whose Column is the value By; its cells become values
	Call    ActionKind = "webhook" // asks URL; ##Into## becomes the answer, or Fallback
)

// Action is one deed of a screen. Otherwise is the screen to show instead where
// it did not succeed; "" goes on.
type Action struct {
	Kind      ActionKind `json:"deed"`
	List      string     `json:"list,omitempty"`
	Into      string     `json:"into,omitempty"`
	Table     string     `json:"table,omitempty"`
	Column    string     `json:"column,omitempty"`
	By        string     `json:"by,omitempty"`
	URL       string     `json:"url,omitempty"`
	Fallback  string     `json:"fallback,omitempty"`
	Otherwise string     `json:"otherwise,omitempty"`
}

// Table is a small list that comes with the menu, such as fees by pupil.
type Table struct {
	Name    string     `json:"name"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// Most of what a menu may hold; the sizes keep a whole account's menus in
// memory.
const (
	MaxScreens   = 200
	MaxChoices   = 30
	MaxRows      = 5000
	MaxPick      = 300 // rows of a table from which callers pick
	MaxLanguages = 6
	MaxTyped     = 160 // characters of one answer
	MaxInto      = 60  // characters of a webhook's answer
	maxTitle     = 60
	maxText      = 1000
)

// On says that the menu answers on the network.
func (m Menu) On(network string) bool {
	return len(m.Networks) == 0 || slices.Contains(m.Networks, network)
}

// Overlaps says that both menus would answer the same call.
func (m Menu) Overlaps(o Menu) bool {
	if m.Code != o.Code {
		return false
	}
	return (len(m.Networks) == 0) == (len(o.Networks) == 0) &&
		(len(m.Networks) == 0 || slices.ContainsFunc(m.Networks, o.On))
}

// Screen finds a screen by its key.
func (m Menu) Screen(key string) (Screen, bool) {
	i := m.index(key)
	if i < 0 {
		return Screen{}, false
	}
	return m.Screens[i], true
}

func (m Menu) index(key string) int {
	return slices.IndexFunc(m.Screens, func(s Screen) bool { return s.Key == key })
}

// Table finds a table by its name.
func (m Menu) Table(name string) (Table, bool) {
	i := slices.IndexFunc(m.Tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return Table{}, false
	}
	return m.Tables[i], true
}

// column is the place of a column, -1 for none.
func (t Table) column(name string) int { return slices.Index(t.Columns, name) }

func (t Table) longest(column int) string {
	long := ""
	for _, r := range t.Rows {
		if column < len(r) && width(r[column]) > width(long) {
			long = r[column]
		}
	}
	return long
}

// In is the text in the language, else in the menu's first.
func (m Menu) In(w Words, language string) string {
	if t := w[language]; t != "" || len(m.Languages) == 0 {
		return t
	}
	return w[m.Languages[0].Code]
}

func (l Language) back() string  { return or(l.Back, "Back") }
func (l Language) more() string  { return or(l.More, "More") }
func (l Language) twice() string { return "We received this twice. To confirm, send it again." }
func (l Language) wrong() string { return or(l.Wrong, "That is not a valid choice.") }

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// NewKey is a key that no screen of the menu has.
func (m Menu) NewKey() string {
	for n := len(m.Screens) + 1; ; n++ {
		if key := "s" + strconv.Itoa(n); m.index(key) < 0 {
			return key
		}
	}
}
