package views

import (
	"bytes"
	"encoding/json"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// SimulatorPage is a phone in the page. What it does is real: the
// same request goes to the same address as a network's would.
type SimulatorPage struct {
	Formatter
	NoAccount bool
	Dialled   string // as typed
	Network   string
	Number    string
	Session   string // of the session that is open; "" for none
	Draft     int64  // menu whose draft is tried, 0: what is published
	Name      string // of that menu
	Heard     *ussd.PhoneOutput
	Bad       sms.Invalid
}

func (p SimulatorPage) open() bool { return p.Session != "" }

func networkOptions() (list []Option) {
	for _, n := range ussd.Networks() {
		list = append(list, Option{Value: n, Label: n})
	}
	return list
}

func (p SimulatorPage) took() string {
	words := "Answered in " + micros(p.Heard.Took)
	if p.Heard.Took > 1_000_000 {
		words += ", which is too slow for some networks"
	}
	return words
}

// micros shows microseconds as people read them.
func micros(n int64) string {
	switch {
	case n < 10_000:
		n = max(n, 100)
		return Number(int(n/1000)) + "." + Number(int(n%1000/100)) + " ms"
	case n < 1_000_000:
		return Number(int(n/1000)) + " ms"
	}
	return Number(int(n/1_000_000)) + "." + Number(int(n%1_000_000/100_000)) + " s"
}

func dialFrom(p SimulatorPage) string { return p.Dialled + " on " + p.Network }

func heardText(p SimulatorPage) string {
	if p.Heard.Text == "" {
		return "(nothing)"
	}
	return p.Heard.Text
}

func heardUnder(p SimulatorPage) string {
	if p.open() {
		return "Session open"
	}
	return "Session ended"
}

// pretty indents JSON; anything else stays as it is.
func pretty(raw string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(raw), "", "  ") != nil {
		return raw
	}
	return b.String()
}
