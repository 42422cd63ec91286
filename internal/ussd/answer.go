package ussd

import (
	"bytes"
	"encoding/json"
)

// Answer is what the caller sees next.
type Answer struct {
	End  bool   // close the session after this text
	Text string // may contain line breaks
	// Failed says that the menu has nothing to show: a deed that must not be
	// passed over did not succeed. Such an answer ends, and its Text is "".
	Failed bool
}

type coded struct {
	Code int    `json:"code"`
	Name string `json:"name"`
}

type answerHeader struct {
	CommandID  int    `json:"command_id"`
	CommandLen string `json:"command_len"`
	ReceiverID string `json:"receiver_id"`
	SenderID   string `json:"sender_id"`
}

type answerBody struct {
	MSISDN    string `json:"msisdn"`
	Network   string `json:"network"`
	ShortCode string `json:"shortcode"`
	Text      string `json:"text"`
	Session   struct {
		Type coded `json:"type"`
		UI   coded `json:"ui"`
	} `json:"session"`
	OpType  int `json:"op_type"`
	Backend struct {
		CUAP struct {
			Header answerHeader `json:"header"`
		} `json:"cuap"`
	} `json:"backend"`
}

// JSON writes the answer to r in the shape of §6.2: "continue" keeps the
// session open and asks for input, "end" closes it. It never fails: text that
// is not UTF-8 is mended.
func (a Answer) JSON(r Request) []byte {
	b := answerBody{MSISDN: r.MSISDN, Network: r.Network, ShortCode: r.ShortCode, Text: a.Text}
	b.Session.Type, b.Session.UI, b.OpType = coded{3, "continue"}, coded{1, "input"}, 1
	b.Backend.CUAP.Header = answerHeader{112, r.CommandLen, r.ReceiverID, r.SenderID}
	if a.End {
		b.Session.Type, b.Session.UI, b.OpType = coded{4, "end"}, coded{2, "dialog"}, 2
		b.Backend.CUAP.Header.CommandID = 113
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	// Networks show what they get: an escaped "&" or "<" would reach the screen.
	e.SetEscapeHTML(false)
	if err := e.Encode(b); err != nil {
		panic(err) // strings and ints always encode
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}
