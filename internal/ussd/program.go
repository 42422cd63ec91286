package ussd

import (
	"strings"

	"smsdesk/internal/sms"
)

// Program is a menu made ready for walking. It never changes, so that any
// number of sessions may share it, and one that is under way keeps its own
// when another version is published.
type Program struct {
	Menu
	places map[string]int16
	rows   map[string]map[string]int // of a table's column: the row of a cell
	marks  map[string]bool           // that stand in a text, by their keys
}

// NewProgram makes a menu ready. A menu that Check finds fault with can be
// walked too, as the preview of a draft does: what leads nowhere ends.
func NewProgram(m Menu) *Program {
	p := &Program{Menu: m, places: map[string]int16{}, rows: map[string]map[string]int{}, marks: map[string]bool{}}
	for i, s := range m.Screens[:min(len(m.Screens), MaxScreens)] {
		if _, taken := p.places[s.Key]; !taken {
			p.places[s.Key] = int16(i)
		}
	}
	for _, s := range m.Screens {
		p.note(s.Text)
		for _, c := range s.Choices {
			p.note(c.Text)
		}
		p.ready(s.Rule.Table, s.Rule.Column)
		for _, a := range s.Does {
			p.ready(a.Table, a.Column)
		}
	}
	return p
}

func (p *Program) note(w Words) {
	for _, text := range w {
		for _, mark := range sms.Placeholders(text) {
			p.marks[sms.PlaceholderKey(mark)] = true
		}
	}
}

// Uses says that a text shows the value of this name.
func (p *Program) Uses(name string) bool { return p.marks[sms.PlaceholderKey(name)] }

func (p *Program) ready(table, column string) {
	t, ok := p.Table(table)
	at := t.column(column)
	name := table + "\x00" + column
	if !ok || at < 0 || p.rows[name] != nil {
		return
	}
	rows := make(map[string]int, len(t.Rows))
	for i, r := range t.Rows {
		if at < len(r) {
			if key := cellKey(r[at]); rows[key] == 0 {
				rows[key] = i + 1
			}
		}
	}
	p.rows[name] = rows
}

// cellKey is how a caller's words and a cell are compared.
func cellKey(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(text), ""))
}

func (p *Program) row(table, column, text string) ([]string, bool) {
	at := p.rows[table+"\x00"+column][cellKey(text)]
	if at == 0 {
		return nil, false
	}
	t, _ := p.Table(table)
	return t.Rows[at-1], true
}

// Dialled divides what was dialled into the code of one of the menus and what
// stands behind it: "*347*1*2#" is the menu of 347 with the answers 1 and 2.
// The longest code wins, and of two the one that names the network. code is
// the request's short code, for networks that do not send what was dialled.
func Dialled(list []*Program, network, code, text string) (found *Program, inputs []string) {
	for _, dialled := range []string{digitsOf(text), digitsOf(code)} {
		for _, p := range list {
			rest, ok := behind(dialled, p.Code)
			if !ok || !p.On(network) {
				continue
			}
			if found == nil || len(p.Code) > len(found.Code) || len(p.Code) == len(found.Code) && len(p.Networks) > 0 {
				found, inputs = p, rest
			}
		}
		if found != nil {
			return found, inputs
		}
	}
	return nil, nil
}

func digitsOf(dialled string) string {
	return strings.Trim(strings.TrimSpace(dialled), "*#")
}

func behind(dialled, code string) (inputs []string, ok bool) {
	rest, ok := strings.CutPrefix(dialled, code)
	if !ok || dialled == "" || code == "" || rest != "" && rest[0] != '*' {
		return nil, false
	}
	for part := range strings.SplitSeq(strings.Trim(rest, "*"), "*") {
		if part != "" {
			inputs = append(inputs, part)
		}
	}
	return inputs, true
}
