package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Press is what somebody does on a phone of the network: dial, answer or hang
// up. Stage is that of §3.3: 2 dials Text, 3 answers with it, 4 hangs up.
// Cut says that the network ends the session, and not the caller. Session goes
// into id.session where the network sends one; it may be "".
type Press struct {
	URL, Number, Network, Code, Text, Session string
	Stage                                     int
	Cut                                       bool
}

// Heard is what came back. Problem says in words what is wrong with the answer
// by §6.2; "" when all is right.
type Heard struct {
	Request, Answer json.RawMessage
	Status          int
	Took            time.Duration
	Text            string
	End             bool
	Problem         string
}

// Phone calls a USSD endpoint over HTTP as the networks do. Its methods are
// safe for concurrent use.
type Phone struct{ client *http.Client }

// NewPhone returns a phone whose calls take at most 15 s.
func NewPhone() *Phone {
	return &Phone{client: &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}}
}

// Press makes one request and judges the answer. An error means that there was
// none.
func (p *Phone) Press(ctx context.Context, b Press) (Heard, error) {
	body := callbackBody(b)
	h := Heard{Request: body}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL, bytes.NewReader(body))
	if err != nil {
		return h, errors.New("dial: the address of the endpoint cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	began := time.Now()
	resp, err := p.client.Do(req)
	if err != nil {
		return h, fmt.Errorf("dial: no answer: %w", cause(err))
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	h.Took, h.Status = time.Since(began), resp.StatusCode
	if err != nil {
		return h, fmt.Errorf("dial: the answer broke off: %w", err)
	}
	if h.Problem = h.read(raw); resp.StatusCode != http.StatusOK {
		h.Problem = "The endpoint answered " + resp.Status
	}
	return h, nil
}

// cause is an error of the client without the address, whose end is a secret.
func cause(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// object is one JSON object.
type object map[string]any

// callbackBody writes a request in the way of the number's network: what is
// left out or written differently is what gateways were seen to do.
func callbackBody(b Press) []byte {
	name := map[int]string{2: "begin", 3: "continue", 4: "end"}[b.Stage]
	kind := object{"code": b.Stage, "name": name}
	body := object{"msisdn": b.Number, "network": b.Network, "shortcode": b.Code, "text": b.Text,
		"session": object{"type": kind}}
	ui := object{"code": 1, "name": "input"}
	if b.Stage == 2 {
		ui = object{"code": 0, "name": "none"}
		body["status"] = object{"code": 200, "message": "OK"}
		body["id"] = object{"session": b.Session, "ussd": "u-" + b.Code}
	} else {
		body["op_type"] = map[int]int{3: 3, 4: 4}[b.Stage]
	}
	command := map[int]int{2: 111, 3: 112, 4: 114}[b.Stage]
	if b.Cut {
		command = 113
	}
	header := object{"command_id": command, "command_status": 0, "receiver_id": "346", "sender_id": "5001"}
	cuap := object{"header": header}
	switch b.Network {
	case "mtn":
		header["command_length"] = "145"
		if b.Stage == 2 {
			cuap["body"] = object{"code_scheme": "15", "msisdn": b.Number, "service_code": b.Code, "ussd_content": b.Text,
				"ussd_op_type": "1", "ussd_version": "32"}
		} else {
			body["id"] = object{"session": b.Session}
		}
		body["session"] = object{"type": kind, "ui": ui}
		body["backend"] = object{"cuap": cuap}
	case "glo": // numbers as text, no ui
		header["command_len"] = 140
		body["session"] = object{"type": object{"code": fmt.Sprint(b.Stage), "name": name}}
		body["msisdn"] = "+" + b.Number
		body["backend"] = object{"cuap": cuap}
	case "airtel": // no backend at all; a hang-up is known by its stage
		body["msisdn"] = "0" + strings.TrimPrefix(b.Number, "234")
		body["session"] = object{"type": kind, "ui": ui}
	default: // 9mobile: no short code after the begin
		header["command_len"] = "138"
		body["backend"] = object{"cuap": cuap}
		if b.Stage > 2 {
			body["shortcode"] = ""
		}
	}
	out, err := json.Marshal(body)
	if err != nil {
		panic(err) // text and numbers always encode
	}
	return out
}

// read judges an answer by the two shapes of §6.2. Names count as they are
// written there, and what is to be echoed must be what was sent, as text.
func (h *Heard) read(raw []byte) (problem string) {
	var answer, request object
	if err := json.Unmarshal(raw, &answer); err != nil || answer == nil {
		return "The answer is not the JSON of a USSD answer"
	}
	if err := json.Unmarshal(h.Request, &request); err != nil {
		return "The request is not JSON"
	}
	h.Answer = raw
	words, ok := answer["text"].(string)
	if !ok {
		return "The answer lacks the text"
	}
	h.Text = words
	for _, name := range []string{"msisdn", "network", "shortcode"} {
		if answer[name] != request[name] {
			return fmt.Sprintf("%s in the answer does not match the request", name)
		}
	}
	kind, ui := answer.at("session", "type"), answer.at("session", "ui")
	got := []any{kind["code"], kind["name"], ui["code"], ui["name"], answer["op_type"],
		answer.at("backend", "cuap", "header")["command_id"]}
	switch {
	case slices.Equal(got, []any{3.0, "continue", 1.0, "input", 1.0, 112.0}):
	case slices.Equal(got, []any{4.0, "end", 2.0, "dialog", 2.0, 113.0}):
		h.End = true
	default:
		return fmt.Sprintf("The answer is inconsistent: %v", got)
	}
	return echoed(request.at("backend", "cuap", "header"), answer.at("backend", "cuap", "header"))
}

// echoed judges the backend header: three texts that are the request's.
func echoed(sent, got object) (problem string) {
	for _, name := range []string{"command_len", "receiver_id", "sender_id"} {
		want, there := sent[name]
		if !there && name == "command_len" {
			want, there = sent["command_length"]
		}
		text := ""
		if there {
			text = fmt.Sprint(want)
		}
		if got[name] != text {
			return fmt.Sprintf("The backend header was not echoed: %s is %v", name, got[name])
		}
	}
	return ""
}

// at is the object that stands under these names, empty where there is none.
func (o object) at(names ...string) object {
	for _, name := range names {
		next, _ := o[name].(map[string]any)
		o = next
	}
	return o
}
