package ussd

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const beginBody = `{"msisdn":"2348031230101","network":"mtn","shortcode":"347","text":"*347#",
 "session":{"type":{"code":2,"name":"begin"},"ui":{"code":0,"name":"none"}},"status":{"code":200,"message":"OK"},
 "id":{"session":"s-1","ussd":"u-9"},
 "backend":{"cuap":{"body":{"code_scheme":"15","msisdn":"2348031230101"},
  "header":{"command_id":111,"command_length":"145","command_status":0,"receiver_id":"346","sender_id":"5001"}}}}`

func TestParseRequest(t *testing.T) {
	full := Request{MSISDN: "2348031230101", Network: "mtn", ShortCode: "347", Text: "*347#", Stage: Begin,
		SessionID: "s-1", USSDID: "u-9", Status: "200 OK", Body: `{"code_scheme":"15","msisdn":"2348031230101"}`,
		CommandID: "111", CommandLen: "145", ReceiverID: "346", SenderID: "5001"}
	tests := []struct {
		name string
		body string
		want Request
		bad  bool
	}{
		{"§6.2 begin", beginBody, full, false},
		{"§6.2 continue", `{"msisdn":"2348031230101","network":"glo","shortcode":"347","text":"1","op_type":3,
			"session":{"type":{"code":3,"name":"continue"},"ui":{"code":1,"name":"input"}}}`,
			Request{MSISDN: "2348031230101", Network: "glo", ShortCode: "347", Text: "1", Stage: Continue}, false},
		{"§6.2 end", `{"msisdn":"1","session":{"type":{"code":4,"name":"end"}}}`, Request{MSISDN: "1", Stage: End}, false},
		{"codes as text", `{"msisdn":2348031230101,"text":1,"session":{"type":{"code":"3","name":""}}}`,
			Request{MSISDN: "2348031230101", Text: "1", Stage: Continue}, false},
		{"name only", `{"session":{"type":{"name":"BEGIN"}}}`, Request{Stage: Begin}, false},
		{"code wins over name", `{"session":{"type":{"code":3,"name":"begin"}}}`, Request{Stage: Continue}, false},
		{"op_type says end, session says continue", `{"op_type":4,"session":{"type":{"code":3}}}`, Request{Stage: Continue}, false},
		{"abort", `{"session":{"type":{"code":4}},"backend":{"cuap":{"header":{"command_id":"114","command_len":20}}}}`,
			Request{Stage: End, CommandID: "114", CommandLen: "20"}, false},
		{"command_len before command_length", `{"session":{"type":{"code":2}},"backend":{"cuap":{"header":{"command_len":"7","command_length":"8"}}}}`,
			Request{Stage: Begin, CommandLen: "7"}, false},
		{"backend of another kind", `{"session":{"type":{"code":2}},"backend":[1,2],"id":"x"}`, Request{Stage: Begin}, false},
		{"null fields", `{"msisdn":null,"text":null,"session":{"type":{"code":2}}}`, Request{Stage: Begin}, false},
		{"no session keeps the rest", `{"msisdn":"234","text":"1"}`, Request{MSISDN: "234", Text: "1"}, true},
		{"stage 9", `{"session":{"type":{"code":9}}}`, Request{}, true},
		{"empty", ``, Request{}, true},
		{"null", `null`, Request{}, true},
		{"array", `[]`, Request{}, true},
		{"unescaped input", `{"msisdn":"234","text":"a"b","session":{"type":{"code":3}}}`, Request{}, true},
		{"two values", beginBody + beginBody, Request{}, true},
		{"too deep", strings.Repeat(`{"a":`, 12000), Request{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseRequest([]byte(tt.body))
			if (err != nil) != tt.bad || err != nil && !errors.Is(err, ErrMalformed) {
				t.Fatalf("error %v, want bad %v", err, tt.bad)
			}
			got.Digest, got.Rest = [16]byte{}, [16]byte{}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Fatal(d)
			}
		})
	}
}

func TestAnswerJSON(t *testing.T) {
	r, err := ParseRequest([]byte(beginBody))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		answer Answer
		want   string
	}{
		{Answer{Text: "1. Buy <data>\n2. Pay & go"}, `{"msisdn":"2348031230101","network":"mtn","shortcode":"347","text":"1. Buy <data>\n2. Pay & go",` +
			`"session":{"type":{"code":3,"name":"continue"},"ui":{"code":1,"name":"input"}},"op_type":1,` +
			`"backend":{"cuap":{"header":{"command_id":112,"command_len":"145","receiver_id":"346","sender_id":"5001"}}}}`},
		{Answer{End: true, Text: "Bye"}, `{"msisdn":"2348031230101","network":"mtn","shortcode":"347","text":"Bye",` +
			`"session":{"type":{"code":4,"name":"end"},"ui":{"code":2,"name":"dialog"}},"op_type":2,` +
			`"backend":{"cuap":{"header":{"command_id":113,"command_len":"145","receiver_id":"346","sender_id":"5001"}}}}`},
	}
	for _, tt := range tests {
		if got := string(tt.answer.JSON(r)); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func FuzzUSSD(f *testing.F) {
	f.Add([]byte(beginBody), "Welcome", false)
	f.Add([]byte(`{"msisdn":"234","text":"a"b"}`), "x\xff\u2028", true)
	f.Add([]byte(`{"session":{"type":{"code":"4"}},"backend":{"cuap":{"header":{"sender_id":{"a":1}}}}}`), "", true)
	f.Add([]byte(strings.Repeat("[", 4000)), "", false)
	f.Fuzz(func(t *testing.T, body []byte, text string, end bool) {
		r, err := ParseRequest(body)
		if err == nil && (r.Stage < Begin || r.Stage > End) {
			t.Fatalf("stage %d without an error", r.Stage)
		}
		out := Answer{End: end, Text: text}.JSON(r)
		var got map[string]any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v in %q", err, out)
		}
		name, ui, op, command := "continue", "input", 1.0, 112.0
		if end {
			name, ui, op, command = "end", "dialog", 2.0, 113.0
		}
		header := map[string]any{"command_id": command}
		for _, k := range []string{"command_len", "receiver_id", "sender_id"} {
			s, ok := got["backend"].(map[string]any)["cuap"].(map[string]any)["header"].(map[string]any)[k].(string)
			if !ok {
				t.Fatalf("%s is not text in %s", k, out)
			}
			header[k] = s
		}
		want := map[string]any{
			"session": map[string]any{
				"type": map[string]any{"code": op + 2, "name": name},
				"ui":   map[string]any{"code": op, "name": ui},
			},
			"op_type": op,
			"backend": map[string]any{"cuap": map[string]any{"header": header}},
		}
		for _, k := range []string{"msisdn", "network", "shortcode", "text"} {
			s, ok := got[k].(string)
			if !ok {
				t.Fatalf("%s is not text in %s", k, out)
			}
			want[k] = s
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

// TestRestTellsPressesApart: the text alone does not change what else a request holds.
func TestRestTellsPressesApart(t *testing.T) {
	rest := func(body string) [16]byte {
		r, err := ParseRequest([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return r.Rest
	}
	first := rest(`{"msisdn":"234","text":"1","session":{"type":{"code":3}},"id":{"ussd":"u-1"}}`)
	if first != rest(`{"text":"22","id":{"ussd":"u-1"},"msisdn":"234","session":{"type":{"code":3}}}`) {
		t.Error("another text is another request")
	}
	if first == rest(`{"msisdn":"234","text":"1","session":{"type":{"code":3}},"id":{"ussd":"u-2"}}`) {
		t.Error("another mark is the same request")
	}
}
