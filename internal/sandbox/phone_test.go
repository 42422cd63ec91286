package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const goesOn = `{"msisdn":"2348030000101","network":"mtn","shortcode":"347","text":"1. Yes","session":{"type":{"code":3,` +
	`"name":"continue"},"ui":{"code":1,"name":"input"}},"op_type":1,
 "backend":{"cuap":{"header":{"command_id":112,"command_len":"145","receiver_id":"346","sender_id":"5001"}}}}`

func TestPhoneJudgesAnswers(t *testing.T) {
	tests := []struct{ name, answer, problem string }{
		{"right", goesOn, ""},
		{"end", strings.NewReplacer(`3,"name":"continue"`, `4,"name":"end"`, `1,"name":"input"`, `2,"name":"dialog"`,
			`"op_type":1`, `"op_type":2`, "112", "113").Replace(goesOn), ""},
		{"contradiction", strings.Replace(goesOn, "112", "113", 1), "inconsistent"},
		{"a code as text", strings.Replace(goesOn, `"code":3`, `"code":"3"`, 1), "inconsistent"},
		{"no text", strings.Replace(goesOn, `"text"`, `"words"`, 1), "lacks"},
		{"text in capitals", strings.Replace(goesOn, `"text"`, `"Text"`, 1), "lacks"},
		{"no short code", strings.Replace(goesOn, `"shortcode"`, `"short_code"`, 1), "shortcode"},
		{"another number", strings.Replace(goesOn, "2348030000101", "2348030000102", 1), "msisdn"},
		{"no echo", strings.Replace(goesOn, `"sender_id"`, `"sender"`, 1), "echoed"},
		{"another length", strings.Replace(goesOn, `"145"`, `""`, 1), "echoed"},
		{"a length as a number", strings.Replace(goesOn, `"145"`, "145", 1), "echoed"},
		{"no JSON", "<html>", "not the JSON"},
		{"null", "null", "not the JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, tt.answer)
			}))
			defer s.Close()
			h, err := NewPhone().Press(context.Background(),
				Press{URL: s.URL, Number: "2348030000101", Network: "mtn", Code: "347", Text: "*347#", Stage: 2})
			if err != nil || (tt.problem == "") != (h.Problem == "") || !strings.Contains(h.Problem, tt.problem) ||
				h.End != (tt.name == "end") {
				t.Errorf("%v, %+v", err, h)
			}
		})
	}
}

// TestNetworksDiffer: what each network leaves out or writes differently.
func TestNetworksDiffer(t *testing.T) {
	for network, want := range map[string]string{"mtn": `"command_length":"145"`, "glo": `"command_len":140`,
		"9mobile": `"command_len":"138"`, "airtel": `"msisdn":"08030000101"`} {
		for command, stage := range map[string]int{"111": 2, "112": 3, "113": 4, "114": 4} {
			body := callbackBody(Press{Number: "2348030000101", Network: network, Code: "347", Text: "x", Stage: stage,
				Cut: command == "113"})
			var whole map[string]any
			if err := json.Unmarshal(body, &whole); err != nil || !strings.Contains(string(body), want) {
				t.Errorf("%s: %v in %s", network, err, body)
			}
			if got := strings.Contains(string(body), `"command_id":`+command); got != (network != "airtel") {
				t.Errorf("%s, stage %d: %s", network, stage, body)
			}
		}
	}
}
