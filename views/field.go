package views

import (
	"net/url"
	"strings"
)

// Field is what every input has. Name is the form name and, unless ID is set,
// the id to which an error summary leads. Error is a whole sentence.
type Field struct {
	ID, Name, Label, Hint, Error string
	Value                        string
	Aria                         string // names the field where no label of its own stands beside it
}

func (f Field) id() string {
	if f.ID != "" {
		return f.ID
	}
	return f.Name
}

func (f Field) describedBy() string {
	var ids []string
	if f.Hint != "" {
		ids = append(ids, f.id()+"-hint")
	}
	if f.Error != "" {
		ids = append(ids, f.id()+"-error")
	}
	return strings.Join(ids, " ")
}

func (f Field) class() string {
	if f.Error != "" {
		return "field bad"
	}
	return "field"
}

// Width is how wide an input is drawn, as a hint at what belongs in it.
type Width int

// The widths. WidthFull fills the column.
const (
	WidthFull Width = iota
	WidthMiddle
	WidthShort
)

func (w Width) class() string {
	switch w {
	case WidthMiddle:
		return "input mid"
	case WidthShort:
		return "input short"
	default:
		return "input"
	}
}

// InputProps describes a one-line input. Type is "text" unless set; a password
// is never given a Value.
type InputProps struct {
	Field
	Type         string
	Autocomplete string
	InputMode    string
	Width        Width
	Autofocus    bool
	ReadOnly     bool
}

func (p InputProps) kind() string {
	if p.Type == "" {
		return "text"
	}
	return p.Type
}

// TextAreaProps describes an input of several lines. Counter, where set, is the
// id of the element that counts, and is announced with the field.
type TextAreaProps struct {
	Field
	Rows    int
	Counter string
	Watch   Watch
}

func (p TextAreaProps) describedBy() string {
	return strings.TrimSpace(p.Field.describedBy() + " " + p.Counter)
}

func (p TextAreaProps) rows() int {
	if p.Rows > 0 {
		return p.Rows
	}
	return 4
}

// Option is one of several choices. More says that it asks for the row below it,
// which is hidden while another one is chosen.
type Option struct {
	Value, Label, Hint string
	More               bool
}

// SelectProps describes a choice from a list. Prompt is a first, empty option.
type SelectProps struct {
	Field
	Options []Option
	Prompt  string
	Width   Width
}

// RadiosProps describes a choice of which all options are seen. Label is the
// legend.
type RadiosProps struct {
	Field
	Options []Option
}

// The first radio carries the group's own id, so that a link in an error
// summary lands on something that takes the focus.
func (p RadiosProps) optionID(i int) string {
	if i == 0 {
		return p.id()
	}
	return domID(p.id(), i+1)
}

// CheckboxProps describes a yes or no. The value sent is "yes".
type CheckboxProps struct {
	Field
	Checked bool
}

// CopyProps describes a value that people carry elsewhere, such as an address.
type CopyProps struct {
	ID, Label, Hint, Value string
}

// FieldError is a sentence about a field, by the field's id. An empty ID is
// about the form as a whole.
type FieldError struct {
	ID, Text string
}

// With a colon in it, templ would take a fragment for another scheme.
func (e FieldError) href() string { return "#" + url.QueryEscape(e.ID) }

// FormProps describes a form. Busy replaces the pressed button's words while
// the answer is awaited; Upload sends files.
type FormProps struct {
	ID, Action, Busy string
	Method           string // "post" unless "get"
	Upload           bool
	Away             string // id of what is shown while no answer comes: with scripts the form is sent until one does
	Part             string // id of the element that the answer of a "get" form takes the place of, "" for the page
}

func (p FormProps) method() string {
	if p.Method == "get" {
		return "get"
	}
	return "post"
}

// Kind is how loud a button is.
type Kind int

// The kinds. A page has one Primary; Danger stands only on the page that says
// what will be lost.
const (
	Primary Kind = iota
	Quiet
	Danger
)

func (k Kind) class() string {
	switch k {
	case Quiet:
		return "btn quiet"
	case Danger:
		return "btn danger"
	default:
		return "btn"
	}
}

// ButtonProps describes a submit button, or with Href a link drawn as one.
type ButtonProps struct {
	ID, Text    string
	About       string // what only a screen reader says behind the text, where many have the same one
	Kind        Kind
	Small       bool
	Glyph       Glyph
	Href        string
	Name, Value string
}

func (p ButtonProps) class() string {
	if p.Small {
		return p.Kind.class() + " small"
	}
	return p.Kind.class()
}
