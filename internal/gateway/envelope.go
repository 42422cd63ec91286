package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"smsdesk/internal/sms"
)

var (
	errNoEnvelope = errors.New("the provider's answer is not a result")
	errNoCode     = errors.New("the provider's answer has no error code")
	errRepeated   = errors.New("the provider's answer repeats a field")
	errNoRows     = errors.New("the provider's answer has no list of results")
)

// envelope is the common frame of every answer (§1).
type envelope struct {
	code        string // three digits; "" when it is missing, null or not a number
	description string
	data        json.RawMessage
}

// parseEnvelope reads a body that must be one JSON object and nothing else,
// with an ErrorCode and no name twice, in whatever case. A bare ErrorCode like
// 007, which is not JSON, is repaired first.
func parseEnvelope(body []byte) (envelope, error) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if !utf8.Valid(body) {
		return envelope{}, errNoEnvelope
	}
	if !json.Valid(body) {
		body = repairCodes(body)
	}
	r, err := parseRecord(body)
	if err != nil {
		return envelope{}, errNoEnvelope
	}
	if r.repeated {
		return envelope{}, errRepeated
	}
	e := envelope{data: r.raw("Data"), description: r.text("ErrorDescription")}
	raw := r.raw("ErrorCode")
	if raw == nil {
		return e, errNoCode
	}
	e.code, _ = errorCode(raw)
	return e, nil
}

// hasData says that Data holds anything: for a refused send that is a
// contradiction. null, "", [] and nothing at all are empty.
func (e envelope) hasData() bool {
	var b bytes.Buffer
	if e.data == nil || json.Compact(&b, e.data) != nil {
		return false
	}
	s := b.String()
	return s != "null" && s != `""` && s != "[]"
}

// words is Data where it is text, as for changes, else the description.
func (e envelope) words() string {
	var s string
	if json.Unmarshal(e.data, &s) == nil && s != "" {
		return s
	}
	return e.description
}

// records reads Data for lists: an array of objects, one object, or nothing.
func (e envelope) records() ([]record, error) {
	if !e.hasData() {
		return nil, nil
	}
	if r, err := parseRecord(e.data); err == nil {
		return []record{r}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(e.data, &list); err != nil {
		return nil, errNoRows
	}
	out := make([]record, 0, len(list))
	for _, raw := range list {
		r, err := parseRecord(raw)
		if err != nil {
			return nil, errNoRows
		}
		out = append(out, r)
	}
	return out, nil
}

// rows reads Data of a send (§2.1): an array of objects, or one object where
// there is one row.
func (e envelope) rows() ([]sms.ResultRow, error) {
	var list []json.RawMessage
	if data := bytes.TrimSpace(e.data); bytes.HasPrefix(data, []byte("{")) {
		list = []json.RawMessage{data}
	} else if err := json.Unmarshal(e.data, &list); err != nil || list == nil {
		return nil, errNoRows
	}
	rows := make([]sms.ResultRow, 0, len(list))
	for _, raw := range list {
		r, err := parseRecord(raw)
		if err != nil {
			return nil, errNoRows
		}
		row, ok := resultRow(r)
		if r.repeated {
			return nil, errRepeated
		}
		if !ok {
			return nil, errNoRows
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func resultRow(r record) (sms.ResultRow, bool) {
	for _, name := range []string{"MobileNumber", "MessageId", "MessageErrorCode"} {
		if raw := bytes.TrimSpace(r.raw(name)); len(raw) > 0 &&
			(raw[0] == '{' || raw[0] == '[' || raw[0] == 't' || raw[0] == 'f') {
			return sms.ResultRow{}, false
		}
	}
	row := sms.ResultRow{
		Number:      r.text("MobileNumber"),
		ProviderID:  strings.TrimSpace(r.text("MessageId")),
		Code:        strings.TrimSpace(r.text("MessageErrorCode")),
		Description: r.text("MessageErrorDescription"),
	}
	if code, ok := errorCode(r.raw("MessageErrorCode")); ok {
		row.Code = code
	}
	if row.Code == "000" {
		row.Code = ""
	}
	return row, true
}

// errorCode reads a code given as number or text and writes it as §7 does,
// with three digits. Anything but digits, and zeros behind a point, is no code.
func errorCode(raw json.RawMessage) (string, bool) {
	s := string(bytes.TrimSpace(raw))
	if strings.HasPrefix(s, `"`) {
		if json.Unmarshal(raw, &s) != nil {
			return "", false
		}
	}
	if whole, zeros, ok := strings.Cut(s, "."); ok && zeros != "" && strings.Trim(zeros, "0") == "" {
		s = whole
	}
	if s == "" || len(s) > 9 || strings.Trim(s, "0123456789") != "" {
		return "", false
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("%03d", n), true
}

// repairCodes drops the leading zeros of a bare ErrorCode or MessageErrorCode.
// Text in quotes is passed over, so nothing inside it is taken for a code.
func repairCodes(body []byte) []byte {
	out := make([]byte, 0, len(body))
	text := ""
	for i := 0; i < len(body); {
		switch c := body[i]; {
		case c == '"':
			end := stringEnd(body, i)
			text = string(body[i:end])
			out = append(out, body[i:end]...)
			i = end
		case c == ':' && (strings.EqualFold(text, `"ErrorCode"`) || strings.EqualFold(text, `"MessageErrorCode"`)):
			out = append(out, c)
			i++
			for i < len(body) && strings.IndexByte(" \t\r\n", body[i]) >= 0 {
				i++
			}
			for i+1 < len(body) && body[i] == '0' && body[i+1] >= '0' && body[i+1] <= '9' {
				i++
			}
			text = ""
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

// stringEnd is the index behind the JSON string that starts at i.
func stringEnd(body []byte, i int) int {
	for j := i + 1; j < len(body); j++ {
		switch body[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return len(body)
}

// record is a JSON object read with patience: names are found as specified
// first, then without regard to case.
type record struct {
	names    []string
	values   map[string]json.RawMessage
	repeated bool // a name occurs twice, without regard to case
}

func parseRecord(raw []byte) (record, error) {
	r := record{values: map[string]json.RawMessage{}}
	if !json.Valid(raw) {
		return r, errNoEnvelope
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return r, errNoEnvelope
	}
	folded := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		var v json.RawMessage
		if err != nil || !ok || d.Decode(&v) != nil {
			return r, errNoEnvelope
		}
		if lower := strings.ToLower(name); folded[lower] {
			r.repeated = true
		} else {
			folded[lower] = true
		}
		if _, ok := r.values[name]; !ok {
			r.names = append(r.names, name)
			r.values[name] = v
		}
	}
	return r, nil
}

// raw is the value of the first name that occurs; nil when none does.
func (r record) raw(names ...string) json.RawMessage {
	for _, want := range names {
		if v, ok := r.values[want]; ok {
			return v
		}
	}
	for _, want := range names {
		for _, name := range r.names {
			if strings.EqualFold(name, want) {
				return r.values[name]
			}
		}
	}
	return nil
}

// text is a value as text: a number or boolean as it is written, null as "".
func (r record) text(names ...string) string {
	raw := bytes.TrimSpace(r.raw(names...))
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// integer is a value as a whole number, given as number or text; else 0.
func (r record) integer(names ...string) int64 {
	whole, frac, _ := strings.Cut(strings.TrimSpace(r.text(names...)), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.Trim(frac, "0") != "" {
		return 0
	}
	return n
}

// boolean is true for true, 1, "1", "true", "yes", "y" and "active".
func (r record) boolean(names ...string) bool {
	switch strings.ToLower(strings.TrimSpace(r.text(names...))) {
	case "true", "1", "yes", "y", "active":
		return true
	}
	return false
}
