package sandbox

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestSendAnswersInTheSpecifiedShape(t *testing.T) {
	v := start(t)
	row := func(number string) string {
		return `\{"MobileNumber":"` + number + `","MessageId":"` + uuidForm + `"\}`
	}
	two := regexp.MustCompile(`^\{"ErrorCode":0,"ErrorDescription":"Success","Data":\[` + row("2348031234567") + "," +
		row("2348031234568") + `\]\}$`)
	q := func(values ...string) string {
		out := creds
		for i := 0; i < len(values); i += 2 {
			out += "&" + values[i] + "=" + url.QueryEscape(values[i+1])
		}
		return out
	}
	body := func(rest string) string { return `{` + jsonCreds + `,` + rest + `}` }
	for _, c := range []struct {
		name string
		call func() reply
	}{
		{"POST", func() reply {
			return v.post("/v2/SendSMS",
				body(
					`"SenderId":"CLINIC","Message":"Hi ₦5","MobileNumbers":"2348031234567,2348031234568","Is_Unicode":true,"Is_Flash":false,"SchedTime":"","GroupId":""`))
		}},
		{"POST with drifted names", func() reply {
			return v.post("/v2/SendSMS",
				body(
					`"senderid":"CLINIC","MESSAGE":"Hi ₦5","MobileNumber":"2348031234567, 2348031234568,","is_unicode":"1","ScheduleTime":"","groupId":""`))
		}},
		{"GET", func() reply {
			return v.get("/v2/SendSMS?" + q("SenderId", "CLINIC", "Message", "Hi ₦5", "MobileNumber",
				"2348031234567,2348031234568", "Is_Unicode", "true"))
		}},
		{"GET with drifted names", func() reply {
			return v.get("/v2/SendSMS?" + q("senderId", "CLINIC", "message", "Hi ₦5", "mobilenumbers",
				"2348031234567,2348031234568", "SchedTime", ""))
		}},
		{"bulk GET", func() reply {
			return v.get("/v2/SendBulkSMS?" + q("SenderId", "CLINIC", "MobileNumber_Message",
				"2348031234567^Hi ₦5~2348031234568^Hi ₦5"))
		}},
		{"bulk POST", func() reply {
			return v.post("/v2/SendBulkSMS",
				body(
					`"SenderId":"CLINIC","MessageParameters":[{"Number":"2348031234567","Text":"Hi ₦5"},{"number":2348031234568,"TEXT":"Hi ₦5"}]`))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(v.ledger())
			r := c.call()
			if !two.MatchString(r.body) || r.status != 200 || r.header.Get("Content-Type") != "application/json; charset=utf-8" {
				t.Fatalf("%d %q %s %v", r.status, r.header.Get("Content-Type"), r.body, r.err)
			}
			ledger := v.ledger()[before:]
			if len(ledger) != 2 {
				t.Fatalf("%d texts in the ledger, want 2", len(ledger))
			}
			for i, row := range v.rows(r) {
				if l := ledger[i]; l["messageId"] != row["MessageId"] || l["number"] != row["MobileNumber"] ||
					l["text"] != "Hi ₦5" || l["senderId"] != "CLINIC" || l["call"] != ledger[0]["call"] {
					t.Errorf("row %v against ledger %v", row, l)
				}
			}
		})
	}
}

func TestLedgerShape(t *testing.T) {
	v := start(t)
	if r := v.get("/_sandbox/ledger"); strings.TrimSpace(r.body) != "[]" {
		t.Errorf("empty ledger: %s", r.body)
	}
	before := time.Now().UnixMilli()
	v.sendTo("2348031234567", "a <b> & c")
	form := regexp.MustCompile(`^\[\{"number":"2348031234567","text":"a <b> & c","senderId":"CLINIC","messageId":"` +
		uuidForm + `","call":1,"at":\d{13}\}\]\n$`)
	if r := v.get("/_sandbox/ledger"); !form.MatchString(r.body) {
		t.Errorf("ledger: %s", r.body)
	}
	if at := int64(v.ledger()[0]["at"].(float64)); at < before || at > time.Now().UnixMilli() {
		t.Errorf("at %d is not now", at)
	}
}

func TestSendRefusesWholeCalls(t *testing.T) {
	v := start(t)
	post := func(rest string) reply { return v.post("/v2/SendSMS", `{`+jsonCreds+rest+`}`) }
	for _, c := range []struct {
		name              string
		r                 reply
		code, description string
	}{
		{"no sender ID", post(`,"Message":"x","MobileNumbers":"2348031234567"`), "3", "SenderId cannot be blank"},
		{"blank sender ID", post(`,"SenderId":" ","Message":"x","MobileNumbers":"2348031234567"`), "3", "SenderId cannot be blank"},
		{"no sender ID, GET", v.get("/v2/SendSMS?" + creds + "&Message=x&MobileNumber=2348031234567"), "3", "SenderId cannot be blank"},
		{"no sender ID, bulk", v.get("/v2/SendBulkSMS?" + creds + "&MobileNumber_Message=2348031234567%5Ex"), "3", "SenderId cannot be blank"},
		{"no message", post(`,"SenderId":"CLINIC","MobileNumbers":"2348031234567"`), "4", "Message cannot be blank"},
		{"no number", post(`,"SenderId":"CLINIC","Message":"x","MobileNumbers":" , "`), "20", "Message or mobile number cannot be blank"},
		{"no pair", v.get("/v2/SendBulkSMS?" + creds + "&SenderId=CLINIC"), "20", "Message or mobile number cannot be blank"},
		{"pair without text", v.get("/v2/SendBulkSMS?" + creds +
			"&SenderId=CLINIC&MobileNumber_Message=2348031234567%5Ex~2348031234568"), "20", "Message or mobile number cannot be blank"},
		{"parameters missing", v.post("/v2/SendBulkSMS", `{`+jsonCreds+`,"SenderId":"CLINIC"}`), "20", "Message or mobile number cannot be blank"},
		{"unknown group", post(`,"SenderId":"CLINIC","Message":"x","GroupId":"999"`), "17", "Invalid group"},
		{"schedule in another form",
			post(`,"SenderId":"CLINIC","Message":"x","MobileNumbers":"2348031234567","SchedTime":"2031-01-02T10:00"`), "19",
			"Invalid schedule date"},
		{"schedule with seconds", v.get("/v2/SendSMS?" + creds +
			"&SenderId=CLINIC&Message=x&MobileNumber=2348031234567&scheduleTime=2031-01-02+10:00:00"), "19", "Invalid schedule date"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v.t = t
			v.fails(c.r, c.code, c.description)
		})
	}
	v.t = t
	if n := len(v.ledger()); n != 0 {
		t.Errorf("%d texts executed", n)
	}
}

func TestPairsAreSplitAtTheFirstCaret(t *testing.T) {
	v := start(t)
	v.rows(v.get("/v2/SendBulkSMS?" + creds + "&SenderId=CLINIC&MobileNumber_Message=" +
		url.QueryEscape("2348031234567^a^b~2348031234568^c d")))
	l := v.ledger()
	if len(l) != 2 || l[0]["text"] != "a^b" || l[1]["text"] != "c d" {
		t.Errorf("ledger %v", l)
	}
}

func TestRowsAreRefusedOneByOne(t *testing.T) {
	v := start(t)
	send := func(sender, numbers string) []map[string]any {
		return v.rows(v.post("/v2/SendSMS", `{`+jsonCreds+`,"SenderId":"`+sender+`","Message":"x","MobileNumbers":"`+numbers+
			`"}`))
	}
	for _, sender := range []string{"PENDING1", "OLDNAME", "NOBODY", "clinic"} {
		for _, row := range send(sender, "2348031234567,2348031234568") {
			if row["MessageId"] != "" || row["MessageErrorCode"] != 401.0 ||
				!strings.Contains(row["MessageErrorDescription"].(string), "source_address filter mismatch") ||
				row["Custom"] != "" {
				t.Errorf("%s: %v", sender, row)
			}
		}
	}
	if n := len(v.ledger()); n != 0 {
		t.Fatalf("%d texts executed", n)
	}
	rows := send("SCHOOL", "2348030000010,2348031234567,+2348031234567,08031234567,234803x,234803")
	if len(rows) != 6 || rows[0]["MessageErrorCode"] != 401.0 || rows[0]["MessageId"] != "" || rows[1]["MessageId"] == "" {
		t.Fatalf("rows %v", rows)
	}
	if _, has := rows[1]["MessageErrorCode"]; has {
		t.Errorf("an accepted row with an error code: %v", rows[1])
	}
	for _, row := range rows[2:] {
		if row["MessageErrorCode"] != 13.0 || row["MessageId"] != "" {
			t.Errorf("not a number: %v", row)
		}
	}
	if l := v.ledger(); len(l) != 1 || l[0]["number"] != "2348031234567" {
		t.Errorf("ledger %v", l)
	}
}

func TestGroupSend(t *testing.T) {
	v := start(t)
	id := v.groupID("Parents")
	rows := v.rows(v.post("/v2/SendSMS", `{`+jsonCreds+`,"SenderId":"SCHOOL","Message":"x","MobileNumbers":"","GroupId":"`+
		id+`"}`))
	if len(rows) != 12 {
		t.Fatalf("%d rows, want the 12 contacts", len(rows))
	}
	if got := v.rows(v.get("/v2/SendSMS?" + creds + "&SenderId=SCHOOL&Message=x&MobileNumber=2348031234567&groupId=" +
		id)); len(got) != 13 {
		t.Errorf("%d rows, want one and the 12 contacts", len(got))
	}
	if n := len(v.ledger()); n != 25 {
		t.Errorf("%d texts executed", n)
	}
	v.says(v.post("/v2/Group", `{`+jsonCreds+`,"GroupName":"Nobody"}`), "success#New Group added successfully.")
	r := v.post("/v2/SendSMS", `{`+jsonCreds+`,"SenderId":"SCHOOL","Message":"x","GroupId":`+v.groupID("Nobody")+`}`)
	if r.body != `{"ErrorCode":0,"ErrorDescription":"Success","Data":[]}` {
		t.Errorf("a group without contacts: %s", r.body)
	}
}

func TestCreditFallsByParts(t *testing.T) {
	v := start(t, func(c *Config) { c.Credit, c.PricePerPart, c.Currency = 6_000_00, 4_00, "KSh" })
	credits := func() string { return v.rows(v.get("/v2/Balance?" + creds))[0]["Credits"].(string) }
	steps := []struct {
		call func() reply
		want string
	}{
		{func() reply { return v.sendTo("2348031234567", "x") }, "KSh5,996.00"},
		{func() reply { return v.sendTo("2348031234567,2348031234568", strings.Repeat("x", 161)) }, "KSh5,980.00"},
		{func() reply { return v.sendTo("2348031234567", strings.Repeat("ọ", 71)) }, "KSh5,972.00"},
		{func() reply {
			return v.post("/v2/SendSMS", `{`+jsonCreds+`,"SenderId":"CLINIC","Message":"`+strings.Repeat("x", 71)+
				`","MobileNumbers":"2348031234567","Is_Unicode":true}`)
		}, "KSh5,964.00"},
		{func() reply { return v.sendTo("2348030000010", "refused costs nothing") }, "KSh5,964.00"},
		{func() reply {
			return v.get("/v2/SendBulkSMS?" + creds + "&SenderId=CLINIC&MobileNumber_Message=" +
				url.QueryEscape("2348031234567^"+strings.Repeat("x", 161)+"~2348031234568^x"))
		}, "KSh5,952.00"},
	}
	for i, step := range steps {
		v.rows(step.call())
		if got := credits(); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
	}
	v.do("POST", "/_sandbox/credit", "amount=7.99", "Content-Type", "application/x-www-form-urlencoded")
	before := len(v.ledger())
	v.fails(v.sendTo("2348031234567,2348031234568", "x"), "21", "Insufficient credits")
	v.rows(v.sendTo("2348031234567", "x"))
	v.fails(v.sendTo("2348031234567", "x"), "21", "Insufficient credits")
	if n := len(v.ledger()) - before; n != 1 {
		t.Errorf("%d texts executed, want 1", n)
	}
	if got := credits(); got != "KSh3.99" {
		t.Errorf("credit %s, want KSh3.99", got)
	}
}

func TestScheduledSend(t *testing.T) {
	zone := time.FixedZone("WAT", 3600)
	var now atomic.Int64
	now.Store(time.Date(2030, 5, 1, 9, 0, 0, 0, zone).UnixMilli())
	v := start(t, func(c *Config) {
		c.Location = zone
		c.Now = func() time.Time { return time.UnixMilli(now.Load()) }
	})
	ids := []string{
		v.rows(v.post("/v2/SendSMS", `{`+jsonCreds+
			`,"SenderId":"CLINIC","Message":"x","MobileNumbers":"2348030000002","SchedTime":"2030-05-01 10:00"}`))[0]["MessageId"].(string),
		v.rows(v.get("/v2/SendSMS?" + creds +
			"&SenderId=CLINIC&Message=x&MobileNumber=2348030000009&scheduleTime=2030-05-01%2010:00"))[0]["MessageId"].(string),
		v.rows(v.get("/v2/SendBulkSMS?" + creds +
			"&SenderId=CLINIC&MobileNumber_Message=2348031234567%5Ex&scheduleTime=2030-05-01+10%3A00"))[0]["MessageId"].(string),
	}
	if n := len(v.ledger()); n != 3 {
		t.Errorf("%d texts accepted", n)
	}
	now.Add(time.Hour.Milliseconds() - 1)
	time.Sleep(250 * time.Millisecond) // Run looks at the clock at least every 200 ms
	if got := v.dlr.all(); len(got) != 0 {
		t.Errorf("reports before their time: %v", got)
	}
	if got := v.status(ids[0])["Status"]; got != "SCHEDULED" {
		t.Errorf("status before its time: %v", got)
	}
	now.Add(10)
	for _, report := range v.dlr.wait(t, 3) {
		if !slices.Contains(ids, report.Get("messageId")) || report.Get("submitDate") != "2030-05-01 09:00:00" ||
			report.Get("doneDate") != "2030-05-01 10:00:00" {
			t.Errorf("report %v", report)
		}
	}
	past := v.rows(v.post("/v2/SendSMS", `{`+jsonCreds+
		`,"SenderId":"CLINIC","Message":"x","MobileNumbers":"2348031234567","SchedTime":"2030-05-01 08:00"}`))
	if got := v.status(past[0]["MessageId"].(string))["Status"]; got != "SUBMITTED" {
		t.Errorf("a time that has passed is at once: %v", got)
	}
}

func (v *service) groupID(name string) string {
	v.t.Helper()
	for _, g := range v.rows(v.get("/v2/Group?" + creds)) {
		if g["GroupName"] == name {
			return fmt.Sprintf("%.0f", g["GroupId"])
		}
	}
	v.t.Fatalf("no group %s", name)
	return ""
}

// status is Data of MessageStatus: one object.
func (v *service) status(id string) map[string]any {
	v.t.Helper()
	var envelope struct{ Data map[string]any }
	r := v.get("/v2/MessageStatus?" + creds + "&MessageId=" + id)
	if err := json.Unmarshal([]byte(r.body), &envelope); err != nil || envelope.Data == nil {
		v.t.Fatalf("MessageStatus: %v: %s", err, r.body)
	}
	return envelope.Data
}
