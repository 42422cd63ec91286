package views

import (
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// MenuSettingsPage is the form of what belongs to the whole menu.
type MenuSettingsPage struct {
	ussd.Draft
	Bad sms.Invalid
}

// ScreenPage is the form of one screen.
type ScreenPage struct {
	ussd.Draft
	Screen ussd.Screen
	Found  []ussd.Problem // of this screen
	Shown  MenuPreview
}

func (p ScreenPage) field(name string, n int, l ussd.Language, label, value string) Field {
	if len(p.Menu.Languages) > 1 {
		label += " in " + l.Name
	}
	return Field{Name: ScreenField(name, n, l.Code), Label: label, Value: value}
}

// words is the field of the screen's text.
func (p ScreenPage) words(l ussd.Language) Field {
	f := p.field("text", -1, l, "Text", p.Screen.Text[l.Code])
	f.Hint = "Use ##Name## for a value: ##Number##, an earlier answer or a table column."
	return f
}

// ScreenField is the name of a field of the n-th choice or deed (-1: of the
// screen) in a language ("": none).
func ScreenField(name string, n int, language string) string {
	if n >= 0 {
		name += "-" + strconv.Itoa(n)
	}
	if language != "" {
		name += "-" + language
	}
	return name
}

func (p ScreenPage) kinds() []Option {
	return []Option{{Value: string(ussd.Choose), Label: "A choice", Hint: "Numbered choices, each leading to a screen."},
		{Value: string(ussd.Ask), Label: "A typed answer", Hint: "Digits, a date, text or a value from a table."},
		{Value: string(ussd.Pick), Label: "A choice from a table", Hint: "Long lists are shown in pages."},
		{Value: string(ussd.Finish), Label: "Nothing. The session ends here"}}
}

func (p ScreenPage) screens() []Option {
	list := make([]Option, len(p.Menu.Screens))
	for i, s := range p.Menu.Screens {
		list[i] = Option{Value: s.Key, Label: Number(i+1) + ". " + screenTitle(s)}
	}
	return list
}

func (p ScreenPage) languages() []Option {
	var list []Option
	for _, l := range p.Menu.Languages {
		list = append(list, Option{Value: l.Code, Label: l.Name})
	}
	return list
}

// lost says what goes with the screen.
func (p ScreenPage) lost() string {
	words := "This screen will be removed from the draft and cannot be restored."
	var from []string
	for _, s := range p.Menu.Screens {
		if s.Key != p.Screen.Key && slices.Contains(s.Exits(), p.Screen.Key) {
			from = append(from, "“"+Shorten(screenTitle(s), 40)+"”")
		}
	}
	if len(from) > 0 {
		words += " What leads to it from " + and(from) + " will no longer lead to a screen."
	}
	if p.Menu.Screens[0].Key == p.Screen.Key && len(p.Menu.Screens) > 1 {
		words += " Callers begin with “" + Shorten(screenTitle(p.Menu.Screens[1]), 40) + "” then."
	}
	return words
}

func (p ScreenPage) forms() []Option {
	return []Option{{Value: string(ussd.AnyText), Label: "Any text"}, {Value: string(ussd.Digits), Label: "Digits only"},
		{Value: string(ussd.Date), Label: "A date (day/month/year)"},
		{Value: string(ussd.Listed), Label: "A value from a table"}}
}

// Cell names a table's column in one word, for a select.
func Cell(table, column string) string {
	if table == "" && column == "" {
		return ""
	}
	return table + " / " + column
}

func (p ScreenPage) cells() []Option {
	var list []Option
	for _, t := range p.Menu.Tables {
		for _, c := range t.Columns {
			list = append(list, Option{Value: Cell(t.Name, c), Label: Cell(t.Name, c)})
		}
	}
	return list
}

func (p ScreenPage) deeds() []Option {
	return []Option{{Value: string(ussd.Block), Label: "Block the caller's number"},
		{Value: string(ussd.Unblock), Label: "Unblock the caller's number"},
		{Value: string(ussd.Join), Label: "Add the caller to a list"}, {Value: string(ussd.Status), Label: "Get the last message's status"},
		{Value: string(ussd.LookUp), Label: "Look up an answer in a table"}, {Value: string(ussd.Call), Label: "Call a webhook"}}
}

// choices are the screen's and an empty one behind them.
func (p ScreenPage) choices() []ussd.Choice {
	return append(slices.Clone(p.Screen.Choices), ussd.Choice{})
}

func (p ScreenPage) does() []ussd.Action { return append(slices.Clone(p.Screen.Does), ussd.Action{}) }

func length(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func choiceTitle(p ScreenPage, i int) string {
	if i == len(p.Screen.Choices) {
		return "Another choice"
	}
	return "Choice " + Number(i+1)
}

func deedTitle(p ScreenPage, i int) string {
	switch {
	case i < len(p.Screen.Does):
		return "What the screen does"
	case i > 0:
		return "Additional actions"
	}
	return "What the screen does (optional)"
}

func (p MenuSettingsPage) languages() []ussd.Language {
	return append(slices.Clone(p.Menu.Languages), ussd.Language{})
}

func (p MenuSettingsPage) tables() []ussd.Table {
	return append(slices.Clone(p.Menu.Tables), ussd.Table{})
}

func languageTitle(m ussd.Menu, i int) string {
	switch {
	case i == len(m.Languages):
		return "Another language"
	case i == 0:
		return "First language"
	}
	return m.Languages[i].Name
}

func tableTitle(m ussd.Menu, i int) string {
	if i == len(m.Tables) {
		return "Another table"
	}
	return "Table " + m.Tables[i].Name
}

func onNetwork(m ussd.Menu, n string) bool { return slices.Contains(m.Networks, n) }

// rowsText is a table as it is typed.
func rowsText(t ussd.Table) string {
	if len(t.Columns) == 0 {
		return ""
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	// A builder takes everything.
	_ = w.Write(t.Columns)
	_ = w.WriteAll(t.Rows)
	return strings.TrimRight(b.String(), "\n")
}
