package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"smsdesk/internal/sms"
)

const (
	goodRow  = `{"MobileNumber":"2348031230101","MessageId":"a-1"}`
	goodBody = `{"ErrorCode":0,"ErrorDescription":"Success","Data":[` + goodRow + `]}`
)

func TestGoldenBodies(t *testing.T) {
	const a, l, h, d = sms.ClassAnswered, sms.ClassListed, sms.ClassHold, sms.ClassDoubt
	tests := []struct {
		name string
		body string
		want sms.Class
	}{
		{"success", goodBody, a},
		{"success with space around", " \r\n" + goodBody + "\n\t", a},
		{"success behind a BOM", "\ufeff" + goodBody, a},
		{"code as text", `{"ErrorCode":"0","Data":[` + goodRow + `]}`, a},
		{"code 000 as text", `{"ErrorCode":"000","ErrorDescription":"null","Data":[` + goodRow + `]}`, a},
		{"bare 000", `{"ErrorCode": 000 ,"ErrorDescription":"Success","Data":[` + goodRow + `]}`, a},
		{"more names", `{"ErrorCode":0,"Data":[` + goodRow + `],"Balance":{"x":[1]}}`, a},
		{"numbers as numbers", `{"ErrorCode":0,"Data":[{"MobileNumber":2348031230101,"MessageId":17}]}`, a},
		{"row refused as number", `{"ErrorCode":0,"Data":[{"MobileNumber":"1","MessageId":"","MessageErrorCode":401}]}`, a},
		{"row refused as text", `{"ErrorCode":0,"Data":[{"MobileNumber":"1","MessageId":null,"MessageErrorCode":"401"}]}`, a},
		{"row refused with a bare 012", `{"ErrorCode":0,"Data":[{"MobileNumber":"1","MessageId":"","MessageErrorCode":012}]}`, a},
		{"row code null", `{"ErrorCode":0,"Data":[{"MobileNumber":"1","MessageId":"x","MessageErrorCode":null}]}`, a},
		{"no rows", `{"ErrorCode":0,"ErrorDescription":"Success","Data":[]}`, a},
		{"empty object", `{}`, d},
		{"empty body", ``, d},
		{"null", `null`, d},
		{"HTML", `<html><body>ErrorCode 0</body></html>`, d},
		{"text", `OK`, d},
		{"array", `[` + goodBody + `]`, d},
		{"truncated", goodBody[:len(goodBody)-2], d},
		{"code missing", `{"ErrorDescription":"Success","Data":[` + goodRow + `]}`, d},
		{"code null", `{"ErrorCode":null,"Data":[` + goodRow + `]}`, d},
		{"code empty", `{"ErrorCode":"","Data":[` + goodRow + `]}`, d},
		{"code false", `{"ErrorCode":false,"Data":[` + goodRow + `]}`, d},
		{"code 0.0", `{"ErrorCode":0.0,"Data":[` + goodRow + `]}`, a},
		{"code -0", `{"ErrorCode":-0,"Data":[` + goodRow + `]}`, d},
		{"code a word", `{"ErrorCode":"Success"}`, d},
		{"code an object", `{"ErrorCode":{"x":0},"Data":[` + goodRow + `]}`, d},
		{"code twice", `{"ErrorCode":7,"ErrorCode":0,"Data":[` + goodRow + `]}`, d},
		{"code twice, other case", `{"ErrorCode":0,"errorcode":7,"Data":[` + goodRow + `]}`, d},
		{"code twice, escaped", `{"ErrorCode":0,"\u0045rrorCode":7,"Data":[` + goodRow + `]}`, d},
		{"data twice", `{"ErrorCode":0,"Data":[],"Data":[` + goodRow + `]}`, d},
		{"second object", goodBody + goodBody, d},
		{"second value", goodBody + `0`, d},
		{"trailing comma", `{"ErrorCode":0,"Data":[` + goodRow + `],}`, d},
		{"names in other case", `{"errorCode":0,"data":[` + goodRow + `]}`, a},
		{"data in other case", `{"ErrorCode":0,"data":[` + goodRow + `]}`, a},
		{"refusal in other case", `{"errorcode":7,"ErrorDescription":"Invalid username or password"}`, l},
		{"refusal in other case, bare 007", `{"ERRORCODE":007,"ErrorDescription":"x"}`, l},
		{"code 0.5", `{"ErrorCode":0.5,"Data":[` + goodRow + `]}`, d},
		{"code 0.", `{"ErrorCode":"0.","Data":[` + goodRow + `]}`, d},
		{"code 0e0", `{"ErrorCode":0e0,"Data":[` + goodRow + `]}`, d},
		{"row names in other case", `{"ErrorCode":0,"Data":[{"mobilenumber":"1","messageid":"x"}]}`, a},
		{"row repeats a name in other case", `{"ErrorCode":0,"Data":[{"MobileNumber":"1","MessageId":"x","messageId":"y"}]}`, d},
		{"data an empty object", `{"ErrorCode":0,"Data":{}}`, a},
		{"data missing", `{"ErrorCode":0,"ErrorDescription":"Success"}`, d},
		{"data null", `{"ErrorCode":0,"Data":null}`, d},
		{"data text", `{"ErrorCode":0,"Data":"sent"}`, d},
		{"data one object", `{"ErrorCode":0,"Data":` + goodRow + `}`, a},
		{"data of text", `{"ErrorCode":0,"Data":["a-1"]}`, d},
		{"data with null", `{"ErrorCode":0,"Data":[` + goodRow + `,null]}`, d},
		{"row says it twice", `{"ErrorCode":0,"Data":[{"MobileNumber":"1","MessageId":"x","MessageId":""}]}`, d},
		{"row with an object id", `{"ErrorCode":0,"Data":[{"MobileNumber":"1","MessageId":{}}]}`, d},
		{"not UTF-8", `{"ErrorCode":0,"Data":[{"MobileNumber":"1","MessageId":"` + "\xff" + `"}]}`, d},
		{"listed", `{"ErrorCode":7,"ErrorDescription":"Invalid username or password"}`, l},
		{"listed, bare 007", `{"ErrorCode":007,"ErrorDescription":"x"}`, l},
		{"listed, null data", `{"ErrorCode":"010","ErrorDescription":"x","Data":null}`, l},
		{"listed with rows", `{"ErrorCode":7,"ErrorDescription":"x","Data":[` + goodRow + `]}`, d},
		{"listed with rows in other case", `{"ErrorCode":7,"ErrorDescription":"x","data":[` + goodRow + `]}`, d},
		{"listed with text", `{"ErrorCode":7,"ErrorDescription":"x","Data":"y"}`, d},
		{"listed with an object", `{"ErrorCode":7,"ErrorDescription":"x","Data":{}}`, d},
		{"unlisted", `{"ErrorCode":21,"ErrorDescription":"insufficient credits"}`, h},
		{"group code on a send", `{"ErrorCode":"028","ErrorDescription":"Can not be found"}`, h},
		{"unlisted with rows", `{"ErrorCode":21,"Data":[` + goodRow + `]}`, d},
		{"bare code inside text only", `{"ErrorDescription":"\"ErrorCode\":000","Data":[` + goodRow + `]}`, d},
		{"code too long", `{"ErrorCode":"0000000000","Data":[` + goodRow + `]}`, d},
	}
	if len(tests) < 40 {
		t.Fatal("fewer than 40 bodies")
	}
	c := open(t, "http://127.0.0.1:1/v2")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := c.outcome(textCall("2348031230101"), oneShotResult{written: 1, status: 200, body: []byte(tt.body)})
			if o.Class != tt.want {
				t.Fatalf("class %q, want %q: %s", o.Class, tt.want, o.Reason)
			}
			if o.Class != sms.ClassAnswered && o.Reason == "" {
				t.Fatal("no reason")
			}
		})
	}
}

func TestGroupNeedsRows(t *testing.T) {
	c := open(t, "http://127.0.0.1:1/v2")
	call := sms.Call{Kind: sms.CallGroup, GroupID: "1"}
	for body, want := range map[string]sms.Class{`{"ErrorCode":0,"Data":[]}`: sms.ClassDoubt,
		goodBody: sms.ClassAnswered} {
		if o := c.outcome(call, oneShotResult{written: 1, status: 200, body: []byte(body)}); o.Class != want {
			t.Errorf("%s: %q", body, o.Class)
		}
	}
}

func TestStatuses(t *testing.T) {
	const l, h, d, r = sms.ClassListed, sms.ClassHold, sms.ClassDoubt, sms.ClassRate
	listed := `{"ErrorCode":7,"ErrorDescription":"x"}`
	tests := []struct {
		status int
		body   string
		want   sms.Class
	}{
		{201, goodBody, sms.ClassAnswered}, {202, goodBody, sms.ClassAnswered},
		{101, "", d}, {203, goodBody, d}, {204, "", d}, {206, goodBody, d},
		{301, "", h}, {302, goodBody, h}, {303, "", h}, {304, "", h}, {307, "", h}, {308, "<html>", h},
		{400, "", h}, {404, "<html>", h}, {413, "", h}, {414, "too long", h}, {400, `{"Message":"bad"}`, h},
		{400, `{"ErrorCode":21,"ErrorDescription":"x"}`, h},
		{401, listed, l}, {403, listed, l},
		{400, goodBody, d}, {400, goodBody[:20], d}, {400, `{"Data":[` + goodRow + `]}`, d}, {400, `[` + goodRow, d},
		{401, `{"ErrorCode":7,"Data":[` + goodRow + `]}`, d},
		{408, listed, d}, {500, listed, d}, {502, "<html>", d}, {503, "", d}, {504, "", d}, {520, goodBody, d}, {599, listed, d}, {600, "", d},
		{429, "", r}, {429, "<html>", r}, {429, listed, r}, {429, `{"ErrorCode":429,"ErrorDescription":"slow"}`, r},
		{429, goodBody, d}, {429, `{"ErrorCode":7,"Data":[` + goodRow + `]}`, d},
	}
	c := open(t, "http://127.0.0.1:1/v2")
	for _, tt := range tests {
		o := c.outcome(textCall("1"), oneShotResult{written: 1, status: tt.status, body: []byte(tt.body)})
		if o.Class != tt.want || o.HTTPStatus != tt.status {
			t.Errorf("%d %s: %q, want %q", tt.status, tt.body, o.Class, tt.want)
		}
		if smaller := strings.Contains(o.Reason, "Fewer recipients"); smaller != (tt.status == 413 || tt.status == 414) {
			t.Errorf("%d: %s", tt.status, o.Reason)
		}
		broken := c.outcome(textCall("1"), oneShotResult{written: 1, status: tt.status, body: []byte(tt.body),
			err: errTooLarge})
		want := d
		if tt.want == r || tt.status/100 == 3 {
			want = tt.want
		}
		if broken.Class != want {
			t.Errorf("%d cut off: %q, want %q", tt.status, broken.Class, want)
		}
	}
}

// FuzzEnvelope: whatever the body, a success is only what an independent,
// plain reading of the same bytes also calls one.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(goodBody), 200)
	f.Add([]byte(`{"ErrorCode":007,"ErrorDescription":"x"}`), 200)
	f.Add([]byte(`{"ErrorCode":"000","Data":[{"MessageErrorCode":012}]}`), 201)
	f.Add([]byte(`{"ErrorCode":0,"errorCode":0,"Data":[]}`), 200)
	f.Add([]byte(`{"ErrorCode":28,"Data":"success#x"}`), 429)
	c := open(f, "http://127.0.0.1:1/v2")
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		o := c.outcome(textCall("1"), oneShotResult{written: 1, status: status, body: body})
		if len(o.Excerpt) > maxExcerpt || !utf8.ValidString(o.Excerpt) || o.Class == "" || o.Class == sms.ClassNothingLeft {
			t.Fatalf("%+v", o)
		}
		if o.Class == sms.ClassRate && status != 429 {
			t.Fatalf("429 out of %d", status)
		}
		if o.Class == sms.ClassAnswered {
			if err := plainSuccess(body, len(o.Rows)); err != nil {
				t.Fatalf("%q: %v", body, err)
			}
		}
		if o.Class == sms.ClassListed && bytes.Contains(body, []byte("MessageId\"")) && json.Valid(body) {
			var plain struct{ Data []any }
			if json.Unmarshal(body, &plain) == nil && len(plain.Data) > 0 {
				t.Fatalf("rows taken for a refusal: %q", body)
			}
		}
	})
}

func plainSuccess(body []byte, rows int) error {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if !json.Valid(body) {
		body = bytes.ReplaceAll(body, []byte("000"), []byte("0"))
		if !json.Valid(body) {
			return nil // a repaired bare code in another place; judged by the table
		}
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal(body, &named); err != nil {
		return err
	}
	plain := map[string]json.RawMessage{}
	for name, value := range named {
		if lower := strings.ToLower(name); plain[lower] != nil {
			return fmt.Errorf("%q is there twice", lower)
		}
		plain[strings.ToLower(name)] = value
	}
	code := strings.Trim(strings.TrimSpace(string(plain["errorcode"])), `"`)
	if value, err := strconv.ParseFloat(code, 64); err != nil || value != 0 {
		return fmt.Errorf("code %q", code)
	}
	var data []map[string]any
	if bytes.HasPrefix(bytes.TrimSpace(plain["data"]), []byte("{")) {
		plain["data"] = slices.Concat([]byte("["), plain["data"], []byte("]"))
	}
	if err := json.Unmarshal(plain["data"], &data); err != nil || data == nil || len(data) != rows {
		return fmt.Errorf("data %q, %d rows, %w", plain["data"], rows, err)
	}
	return nil
}
