package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"smsdesk/internal/sms"
)

const (
	// jsonMost bounds the body of an order in JSON.
	jsonMost = 64 << 20
	// valueMost bounds one row of it, and every other value: only so much is
	// ever in memory.
	valueMost = 1 << 20
)

// campaignOrder is what a program asks for, without the rows.
type campaignOrder struct {
	Account     string
	SenderID    string
	Name        string
	Text        string
	Template    string
	PhoneColumn string
	ScheduleAt  int64 // ms, 0: none
	SkipBad     bool
	Send        bool
	// What follows was not always there. A request that says nothing of it has the
	// sum that it had, so that it is still known by its Idempotency-Key.
	Flash bool   `json:",omitempty"`
	Group string `json:",omitempty"` // name of a group at the provider, instead of a list
	// WithProvider lets the provider keep the campaign until ScheduleAt.
	WithProvider bool `json:",omitempty"`
	// Duplicates is what to do with rows that say the same to the same number:
	// "" or leaveOut, or refuse.
	Duplicates string `json:",omitempty"`
	// IfAlreadySent is what to do about recipients who got nearly the same text
	// lately: "" or send, leaveOut, or refuse.
	IfAlreadySent string `json:",omitempty"`
	// Audience is the name of a saved audience, instead of a list.
	Audience string `json:",omitempty"`
	// KeepFirst leaves out every row whose number an earlier row has.
	KeepFirst bool `json:",omitempty"`
	// Fill says what fills a placeholder in rows that have nothing for it.
	Fill map[string]string `json:",omitempty"`
	// Sheet and Hidden say what of a workbook is read: "" is the first sheet with rows.
	Sheet  string `json:",omitempty"`
	Hidden bool   `json:",omitempty"`
	// MayRepeat changes nothing of what is made: the same request with it is the same.
	MayRepeat bool `json:"-"`
}

// fieldReader reads the value of a field into what the order has for it.
type fieldReader struct {
	text  func(*string) error
	yes   func(*bool) error
	texts func(*map[string]string) error
	names func(*[]string) error
}

// set takes one field by its name in a request. known is false for a name that
// says nothing to us: such are refused, because what they ask for is not done.
func (o *campaignOrder) set(name string, read fieldReader) (known bool, err error) {
	bools := map[string]*bool{"skipBad": &o.SkipBad, "send": &o.Send, "mayRepeat": &o.MayRepeat, "flash": &o.Flash,
		"scheduleWithProvider": &o.WithProvider, "keepFirst": &o.KeepFirst, "includeHidden": &o.Hidden}
	texts := map[string]*string{"account": &o.Account, "senderId": &o.SenderID, "name": &o.Name, "text": &o.Text,
		"template": &o.Template, "phoneColumn": &o.PhoneColumn, "group": &o.Group, "duplicates": &o.Duplicates,
		"ifAlreadySent": &o.IfAlreadySent, "audience": &o.Audience, "sheet": &o.Sheet}
	switch name {
	case "fill":
		return true, read.texts(&o.Fill)
	case "scheduleAt":
		var raw string
		if err := read.text(&raw); err != nil || raw == "" {
			return true, err
		}
		at, err := time.Parse(time.RFC3339, raw)
		if err != nil {
			return true, wrongField(http.StatusUnprocessableEntity, "scheduleAt",
				wantsTime)
		}
		o.ScheduleAt = at.UnixMilli()
		return true, nil
	}
	if bools[name] != nil {
		return true, read.yes(bools[name])
	}
	if texts[name] == nil {
		return false, nil
	}
	return true, read.text(texts[name])
}

// check says what of the fields does not go together, and which text would not
// be sent as it is written.
func (o *campaignOrder) check() error {
	bad := sms.Invalid{}
	if sentence := changedText(o.Text); sentence != "" {
		bad["text"] = sentence
	}
	if o.Duplicates != "" && o.Duplicates != "leaveOut" && o.Duplicates != "refuse" {
		bad["duplicates"] = "Must be leaveOut or refuse"
	}
	switch o.IfAlreadySent {
	case "", alreadySend, alreadyRefuse:
	case alreadyLeaveOut:
		if o.Group != "" {
			bad["ifAlreadySent"] = "Must be send or refuse for a group, whose numbers are not known"
		}
	default:
		bad["ifAlreadySent"] = "Must be send, leaveOut or refuse"
	}
	if o.WithProvider && (o.ScheduleAt == 0 || !o.Send) {
		bad["scheduleWithProvider"] = "Needs scheduleAt and send"
	}
	for name, value := range o.Fill {
		if sentence := changedText(strings.TrimSpace(value)); sentence != "" {
			bad["fill."+shortened(name)] = sentence
		}
	}
	o.checkSource(bad)
	if len(bad) > 0 {
		return wrongFields(http.StatusUnprocessableEntity, bad)
	}
	return nil
}

// checkSource says what was asked for that rows alone have, where no rows are sent.
func (o *campaignOrder) checkSource(bad sms.Invalid) {
	if o.Audience != "" && o.Text == "" && o.Template == "" {
		bad["text"] = "Give text or template: contacts have no messages of their own"
	}
	if o.Group == "" && o.Audience == "" {
		return
	}
	if o.PhoneColumn != "" {
		bad["phoneColumn"] = "Only for rows and files"
	}
	if o.Group == "" {
		return
	}
	const unknown = "Not possible for a group, whose numbers are not known"
	if o.KeepFirst {
		bad["keepFirst"] = unknown
	}
	if len(o.Fill) > 0 {
		bad["fill"] = unknown
	}
	if o.Duplicates == "refuse" {
		bad["duplicates"] = unknown
	}
}

// changedText says why a text would reach people in another way than it was
// given, or "".
func changedText(text string) string {
	switch {
	case strings.ContainsRune(text, utf8.RuneError):
		return "Has a character that could not be read (U+FFFD). Send the text as UTF-8"
	case strings.Contains(text, "\r"):
		return "Has a carriage return, which is not sent. Write line breaks as \\n alone"
	case strings.ContainsRune(text, 0):
		return "Has the character U+0000, which cannot be sent"
	case strings.TrimSpace(text) != text:
		return "Begins or ends with a space or a line break, which is not sent. Remove it"
	}
	return ""
}

// unknownField refuses a field of which we know nothing.
func unknownField(name string) error {
	return wrongField(http.StatusUnprocessableEntity, shortened(name),
		"Unknown field. Nothing was done. "+Path+"/openapi.yaml lists the fields")
}

// jsonOrder reads an order in JSON value by value. rows takes each row as it
// comes.
type jsonOrder struct {
	order   campaignOrder
	meter   *meter
	in      *json.Decoder
	rows    *rowWriter
	hasRows bool
}

func readJSONOrder(body io.Reader, rows *rowWriter) (campaignOrder, error) {
	m := &meter{r: body, until: valueMost}
	j := &jsonOrder{meter: m, in: json.NewDecoder(m), rows: rows}
	j.in.UseNumber()
	j.in.DisallowUnknownFields()
	err := j.object()
	if err == nil {
		if _, more := j.in.Token(); more != io.EOF {
			err = notJSON("unexpected data after the object")
		}
	}
	if err == nil {
		err = j.check()
	}
	return j.order, jsonFault(err, "")
}

// check says what of the whole order does not go together.
func (j *jsonOrder) check() error {
	o, rows := j.order, j.rows.rows > 0
	switch {
	case o.Group != "" && rows:
		return wrongField(http.StatusUnprocessableEntity, "group", "Give either rows or group, not both")
	case o.Audience != "" && rows:
		return wrongField(http.StatusUnprocessableEntity, "audience", "Give either rows or audience, not both")
	case o.Audience != "" && o.Group != "":
		return wrongField(http.StatusUnprocessableEntity, "audience", "Give either group or audience, not both")
	case o.Group == "" && o.Audience == "" && !rows:
		return wrongField(http.StatusUnprocessableEntity, "rows", "rows must have at least one row")
	case o.Sheet != "":
		return wrongField(http.StatusUnprocessableEntity, "sheet", "Only for a file")
	case o.Hidden:
		return wrongField(http.StatusUnprocessableEntity, "includeHidden", "Only for a file")
	}
	return o.check()
}

func (j *jsonOrder) object() error {
	open, err := j.in.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('{') {
		return wrongField(http.StatusUnprocessableEntity, "body", "Body must be a JSON object")
	}
	for j.more() {
		if err := j.member(); err != nil {
			return err
		}
	}
	_, err = j.in.Token()
	return err
}

func (j *jsonOrder) member() error {
	key, err := j.in.Token()
	if err != nil {
		return err
	}
	name, _ := key.(string)
	if name == "rows" {
		return j.list()
	}
	known, err := j.order.set(name, fieldReader{
		text:  func(to *string) error { return decodeField(j.in, name, to) },
		yes:   func(to *bool) error { return decodeField(j.in, name, to) },
		texts: func(to *map[string]string) error { return decodeField(j.in, name, to) },
		names: func(to *[]string) error { return decodeField(j.in, name, to) },
	})
	if !known && err == nil {
		err = unknownField(name)
	}
	return err
}

// decodeField reads the value of a field; null leaves it as it is.
func decodeField[T any](in *json.Decoder, name string, to *T) error {
	var v *T
	err := jsonFault(in.Decode(&v), name)
	if err == nil && v != nil {
		*to = *v
	}
	return err
}

func (j *jsonOrder) list() error {
	open, err := j.in.Token()
	switch {
	case err != nil:
		return err
	case open == nil:
		return nil
	case open != json.Delim('['):
		return wrongField(http.StatusUnprocessableEntity, "rows", "rows must be an array of objects")
	case j.hasRows:
		return wrongField(http.StatusUnprocessableEntity, "rows", "Given twice")
	}
	j.hasRows = true
	for j.more() {
		var row *apiRow
		place := "rows[" + strconv.Itoa(j.rows.rows) + "]"
		if err := jsonFault(j.in.Decode(&row), place); err != nil {
			return err
		}
		if row == nil {
			return wrongField(http.StatusUnprocessableEntity, place, "Each row must be an object with phone")
		}
		if err := j.rows.add(*row); err != nil {
			return err
		}
	}
	_, err = j.in.Token()
	return err
}

// more says whether another value follows, and lets it into memory.
func (j *jsonOrder) more() bool {
	j.meter.until = j.in.InputOffset() + valueMost
	return j.in.More()
}

// wantsTime is what is said of a time that cannot be read.
const wantsTime = "Must be a date and time with offset, for example 2026-06-03T09:00:00+01:00 (RFC 3339)"

// meter refuses to read more than one value may have.
type meter struct {
	r     io.Reader
	read  int64
	until int64
}

var errValueTooLarge = errors.New("a value is too large")

func (m *meter) Read(p []byte) (int, error) {
	if m.read >= m.until {
		return 0, errValueTooLarge
	}
	n, err := m.r.Read(p[:min(int64(len(p)), m.until-m.read)])
	m.read += int64(n)
	return n, err
}

// unknownPrefix begins what encoding/json says of a field that a struct does not have.
const unknownPrefix = "json: unknown field "

func notJSON(why string) *Problem {
	return newProblem(http.StatusBadRequest, "The body cannot be read as JSON: "+why)
}

// jsonFault says what is wrong with a value of the given name.
func jsonFault(err error, name string) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &typed):
		if typed.Field != "" {
			name += "." + typed.Field
		}
		return wrongField(http.StatusUnprocessableEntity, name, wanted(typed))
	case errors.As(err, &syntax):
		return notJSON(fmt.Sprintf("%v, near byte %d", syntax, syntax.Offset))
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return notJSON("unexpected end")
	case strings.HasPrefix(err.Error(), unknownPrefix):
		if name != "" {
			name += "."
		}
		field, _ := strconv.Unquote(strings.TrimPrefix(err.Error(), unknownPrefix))
		return unknownField(name + field)
	case errors.Is(err, errValueTooLarge):
		if name == "" {
			name = "body"
		}
		return wrongField(http.StatusUnprocessableEntity, name, "a value must be 1MiB or smaller")
	}
	return err
}

func wanted(e *json.UnmarshalTypeError) string {
	switch e.Type.Kind().String() {
	case "bool":
		return "Give true or false, not a " + e.Value
	case "string":
		return "Give a text, not a " + e.Value
	}
	return "Give an object, not a " + e.Value
}
