package ussd

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"strings"
)

// Stage is where a session stands (§3.3).
type Stage int

// The stages of §3.3 with the codes that session.type carries.
const (
	Begin    Stage = 2
	Continue Stage = 3
	End      Stage = 4
)

// String is the name that session.type carries beside the code.
func (s Stage) String() string {
	switch s {
	case Begin:
		return "begin"
	case Continue:
		return "continue"
	case End:
		return "end"
	}
	return "unknown"
}

// Request is one callback of §6.2. The msisdn is what the network says; it is
// not proof of who is calling.
type Request struct {
	MSISDN    string // as given: "+234…", "080…" and "80…" occur
	Network   string
	ShortCode string // may be empty
	Text      string // the dialled string at begin, the input at continue
	Stage     Stage
	SessionID string // id.session, often empty
	USSDID    string // id.ussd
	Status    string // status.code and status.message, such as "200 OK"
	Body      string // backend.cuap.body as it came, "" without one
	// Digest tells requests of the same bytes from others, Rest those that are the
	// same but for their text.
	Digest, Rest [16]byte

	// Echoed from backend.cuap.header, "" where the request has none.
	CommandID  string // 114 says that the user hung up
	CommandLen string
	ReceiverID string
	SenderID   string
}

// ErrMalformed: the body is not a request of §6.2.
var ErrMalformed = errors.New("not a USSD request")

// ParseRequest reads a callback body. Numbers may come as text and text as
// numbers, and everything may be missing but session.type or a command_id that
// tells the stage; op_type is ignored, because networks fill it differently. With ErrMalformed the Request still
// holds whatever could be read, so that it can be answered.
func ParseRequest(body []byte) (Request, error) {
	top, ok := object(body)
	if !ok {
		return Request{}, ErrMalformed
	}
	id, _ := object(top["id"])
	session, _ := object(top["session"])
	kind, _ := object(session["type"])
	backend, _ := object(top["backend"])
	cuap, _ := object(backend["cuap"])
	header, _ := object(cuap["header"])
	status, _ := object(top["status"])
	sum, rest := sha256.Sum256(body), restOf(top)
	r := Request{
		MSISDN:     text(top["msisdn"]),
		Network:    text(top["network"]),
		ShortCode:  text(top["shortcode"]),
		Text:       text(top["text"]),
		Stage:      stage(text(kind["code"]), text(kind["name"])),
		SessionID:  text(id["session"]),
		USSDID:     text(id["ussd"]),
		Status:     strings.TrimSpace(text(status["code"]) + " " + text(status["message"])),
		Body:       kept(cuap["body"]),
		Digest:     [16]byte(sum[:16]),
		Rest:       [16]byte(rest[:16]),
		CommandID:  text(header["command_id"]),
		CommandLen: text(header["command_len"]),
		ReceiverID: text(header["receiver_id"]),
		SenderID:   text(header["sender_id"]),
	}
	if r.CommandLen == "" {
		r.CommandLen = text(header["command_length"])
	}
	if r.Stage == 0 {
		r.Stage = commandStage(r.CommandID)
	}
	if r.Stage == 0 {
		return r, ErrMalformed
	}
	return r, nil
}

// restOf sums up a request without its text.
func restOf(top map[string]json.RawMessage) [32]byte {
	rest := maps.Clone(top)
	delete(rest, "text")
	plain, err := json.Marshal(rest)
	if err != nil {
		return [32]byte{}
	}
	return sha256.Sum256(plain)
}

// HungUp is the command of a caller who hung up.
const HungUp = "114"

// commandStage tells the stage of a request that has lost its session.type.
func commandStage(command string) Stage {
	switch command {
	case "111":
		return Begin
	case "112":
		return Continue
	case "113", HungUp:
		return End
	}
	return 0
}

// kept is an object as it came, in one line.
func kept(raw json.RawMessage) string {
	var b bytes.Buffer
	if _, ok := object(raw); !ok || json.Compact(&b, raw) != nil {
		return ""
	}
	return strings.ToValidUTF8(b.String(), "\ufffd")
}

func stage(code, name string) Stage {
	if n, err := strconv.Atoi(strings.TrimSpace(code)); err == nil && n >= int(Begin) && n <= int(End) {
		return Stage(n)
	}
	for _, s := range []Stage{Begin, Continue, End} {
		if strings.EqualFold(strings.TrimSpace(name), s.String()) {
			return s
		}
	}
	return 0
}

func object(raw []byte) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	err := json.Unmarshal(raw, &m)
	return m, err == nil && m != nil
}

// text reads a string, or a number or boolean as it is written.
func text(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || raw[0] == '"' {
		return ""
	}
	return string(raw)
}
