package sandbox

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answer is what a call comes to: an envelope (§1), or instead of it an HTTP status without one, a page of
// HTML, or a cut connection.
type answer struct {
	code        int
	description string
	data        any // nil leaves Data out
	xml         bool

	status int  // other than 0: this status and no envelope
	html   bool // a page of HTML under status 200 and no envelope
	cut    bool // the connection is reset and nothing answered

	form  string   // how ErrorCode is written, one of codeForms
	lower bool     // names in lower case
	early []report // to be delivered before the answer is written
}

// The error codes of §7, and those the notes on the service add to them.
const (
	codeNoCredentials  = 1
	codeNoSenderID     = 3
	codeNoMessage      = 4
	codeBadCredentials = 7
	codeInactive       = 8
	codeUnauthorized   = 10
	codeBadSenderID    = 15
	codeBadGroup       = 17
	codeBadSchedule    = 19
	codeBlank          = 20
	codeNoCredit       = 21
	codeMissing        = 23
	codeGroupExists    = 27
	codeNotFound       = 28
	codeRecordExists   = 29
	codeNoReport       = 41
)

var descriptions = map[int]string{
	codeNoCredentials:  "Account details cannot be blank",
	codeNoSenderID:     "SenderId cannot be blank",
	codeNoMessage:      "Message cannot be blank",
	codeBadCredentials: "Invalid username or password",
	codeInactive:       "Account inactive",
	codeUnauthorized:   "Unauthorized API access",
	codeBadSenderID:    "Invalid SenderId",
	codeBadGroup:       "Invalid group",
	codeBadSchedule:    "Invalid schedule date",
	codeBlank:          "Message or mobile number cannot be blank",
	codeNoCredit:       "Insufficient credits",
	codeMissing:        "A required parameter is missing",
	codeGroupExists:    "Already exist",
	codeNotFound:       "Can not be found",
	codeRecordExists:   "Record already exists",
	codeNoReport:       "Report not found",
}

func success(data any) answer { return answer{description: "Success", data: data} }

func failure(code int) answer { return answer{code: code, description: descriptions[code]} }

// broken is the answer where the state file could not be written: nothing was executed.
func (s *Sandbox) broken(err error) answer {
	s.log.Error("the sandbox cannot store a change", "error", err)
	return answer{status: http.StatusInternalServerError}
}

// httpStatus is 0 for a cut connection. Logical errors come with 200.
func (a answer) httpStatus() int {
	switch {
	case a.cut:
		return 0
	case a.status != 0:
		return a.status
	}
	return http.StatusOK
}

func (s *Sandbox) write(w http.ResponseWriter, c *call, a answer) {
	switch {
	case a.cut:
		cut(w)
		return
	case a.html:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!DOCTYPE html>\n<html><head><title>Service</title></head><body><h1>Please wait</h1></body></html>\n")
		return
	case a.status != 0:
		if a.status == http.StatusTooManyRequests && s.cfg.RetryAfter > 0 {
			seconds := (s.cfg.RetryAfter + time.Second - 1) / time.Second
			w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
		}
		http.Error(w, http.StatusText(a.status), a.status)
		return
	}
	body, kind, err := a.encode()
	if err != nil {
		s.log.Error("the sandbox cannot write an answer", "call", c.seq, "error", err)
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if _, err := w.Write(body); err != nil {
		s.log.Debug("the caller of the sandbox was gone before its answer", "call", c.seq)
	}
}

// encode writes the JSON by hand, because one of the forms of ErrorCode is not JSON.
func (a answer) encode() (body []byte, kind string, err error) {
	if a.xml {
		body, err = a.encodeXML()
		return body, "application/xml", err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	fmt.Fprintf(&b, `{%s:%s,%s:`, a.name("ErrorCode"), codeToken(a.form, a.code), a.name("ErrorDescription"))
	if err := enc.Encode(a.description); err != nil {
		return nil, "", fmt.Errorf("encode the description: %w", err)
	}
	b.Truncate(b.Len() - 1)
	if a.data != nil {
		b.WriteString(`,` + a.name("Data") + `:`)
		if err := enc.Encode(a.payload()); err != nil {
			return nil, "", fmt.Errorf("encode Data: %w", err)
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return b.Bytes(), "application/json", nil
}

func (a answer) name(specified string) string {
	if a.lower {
		specified = strings.ToLower(specified)
	}
	return strconv.Quote(specified)
}

// payload is Data with its names as the answer spells them.
func (a answer) payload() any {
	if !a.lower {
		return a.data
	}
	raw, err := json.Marshal(a.data)
	var plain any
	if err != nil || json.Unmarshal(raw, &plain) != nil {
		return a.data
	}
	return lowerNames(plain)
}

func lowerNames(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = lowerNames(v[i])
		}
	case map[string]any:
		low := make(map[string]any, len(v))
		for name, value := range v {
			low[strings.ToLower(name)] = lowerNames(value)
		}
		return low
	}
	return v
}

func (a answer) encodeXML() ([]byte, error) {
	body, err := xml.Marshal(struct {
		XMLName          xml.Name `xml:"Response"`
		ErrorCode        int
		ErrorDescription string
		Data             any
	}{ErrorCode: a.code, ErrorDescription: a.description, Data: a.data})
	if err != nil {
		return nil, fmt.Errorf("encode XML: %w", err)
	}
	return append([]byte(xml.Header), body...), nil
}

// codeForms are the ways of writing ErrorCode: a number (7), three digits as text ("007"), the number as text
// ("7"), three bare digits (007), which is no JSON, and a fraction (7.0).
var codeForms = []string{"number", "text007", "text7", "bare007", "point"}

func codeToken(form string, code int) string {
	switch form {
	case "text007":
		return fmt.Sprintf(`"%03d"`, code)
	case "text7":
		return fmt.Sprintf(`"%d"`, code)
	case "bare007":
		return fmt.Sprintf("%03d", code)
	case "point":
		return fmt.Sprintf("%d.0", code)
	}
	return strconv.Itoa(code)
}

// cut resets the connection without a byte of answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	raw := conn
	if t, ok := raw.(*tls.Conn); ok {
		raw = t.NetConn()
	}
	if t, ok := raw.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = raw.Close()
}
