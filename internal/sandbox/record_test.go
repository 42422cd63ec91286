package sandbox

import (
	"regexp"
	"strings"
	"testing"
)

func TestBalance(t *testing.T) {
	v := start(t, func(c *Config) { c.Credit = 57_524_50 })
	const asJSON = `{"ErrorCode":0,"ErrorDescription":"Success","Data":[{"PluginType":"SMS","Credits":"₦57,524.50"}]}`
	const asXML = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<Response><ErrorCode>0</ErrorCode><ErrorDescription>Success</ErrorDescription><Data><PluginType>SMS</PluginType>` +
		`<Credits>₦57,524.50</Credits></Data></Response>`
	for _, c := range []struct {
		name    string
		headers []string
		want    string
	}{
		{"no header", nil, asJSON},
		{"Type json", []string{"Type", "json"}, asJSON},
		{"Type xml", []string{"Type", "xml"}, asXML},
		{"Type XML", []string{"Type", "XML"}, asXML},
		{"Content-Type xml", []string{"Content-Type", "application/xml; charset=utf-8"}, asXML},
		{"Content-Type json", []string{"Content-Type", "application/json"}, asJSON},
		{"Type before Content-Type", []string{"Type", "json", "Content-Type", "application/xml"}, asJSON},
	} {
		r := v.get("/v2/Balance?"+creds, c.headers...)
		if r.body != c.want {
			t.Errorf("%s: %s", c.name, r.body)
		}
		if isXML := strings.HasPrefix(r.header.Get("Content-Type"), "application/xml"); isXML != (c.want == asXML) {
			t.Errorf("%s: %s", c.name, r.header.Get("Content-Type"))
		}
	}
}

func TestBalanceFailsInTheFormAskedFor(t *testing.T) {
	v := start(t)
	want := `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<Response><ErrorCode>7</ErrorCode><ErrorDescription>Invalid username or password</ErrorDescription></Response>`
	if r := v.get("/v2/Balance?ApiKey=x&ClientId=y", "Type", "xml"); r.body != want {
		t.Errorf("got %s", r.body)
	}
	if r := v.get("/v2/Group?"+creds, "Type", "xml"); !strings.HasPrefix(r.body, "{") {
		t.Errorf("only Balance knows XML: %s", r.body)
	}
}

func TestTemplates(t *testing.T) {
	v := start(t)
	list := v.get("/v2/Template?" + creds)
	want := `{"ErrorCode":0,"ErrorDescription":"Success","Data":[{"TemplateId":105,"CompanyId":1,"TemplateName":` +
		`"Appointment","MessageTemplate":"Dear ##Name##, your appointment is on ##Date##.","IsApproved":true,"IsActive":true,` +
		`"CreatededDate":"Mar 19, 2018","ApprovedDate":"Mar 21, 2018"},` +
		`{"TemplateId":106,"CompanyId":1,"TemplateName":"Fees","MessageTemplate":"Dear ##Name##, school fees of ##Amount## ` +
		`are due.","IsApproved":false,"IsActive":true,"CreatededDate":"Mar 19, 2018","ApprovedDate":"Mar 21, 2018"},`
	if !strings.HasPrefix(list.body, want) {
		t.Fatalf("got  %s\nwant %s", list.body, want)
	}
	state := map[any][2]any{}
	for _, row := range v.rows(list) {
		state[row["TemplateName"]] = [2]any{row["IsApproved"], row["IsActive"]}
	}
	for name, want := range map[string][2]bool{"Appointment": {true, true}, "Fees": {false, true}, "Holiday": {true, true},
		"Results ready": {true, true}, "Old price list": {true, false}} {
		if state[name] != [2]any{want[0], want[1]} {
			t.Errorf("%s: %v, want %v", name, state[name], want)
		}
	}
	body := `{` + jsonCreds + `,"TemplateName":"Visit","MessageTemplate":"Dear ##Name##, <come> & see us."}`
	v.says(v.do("PUT", "/v2/Template?id=105", body), "Template updated Successfully.")
	v.fails(v.do("PUT", "/v2/Template?id=999", body), "28", "Can not be found")
	v.fails(v.do("PUT", "/v2/Template", body), "23", "A required parameter is missing")
	v.fails(v.do("PUT", "/v2/Template?id=105", `{`+jsonCreds+`,"TemplateName":"Visit"}`), "23",
		"A required parameter is missing")
	v.says(v.post("/v2/Template", strings.Replace(body, "Visit", "New", 1)), "Template Added successfully.")
	v.fails(v.post("/v2/Template", `{`+jsonCreds+`,"TemplateName":"New"}`), "23", "A required parameter is missing")
	v.says(v.do("DELETE", "/v2/Template?id=106&"+creds, ""), "Template deleted Successfully.")
	v.fails(v.do("DELETE", "/v2/Template?id=106&"+creds, ""), "28", "Can not be found")
	v.fails(v.do("DELETE", "/v2/Template?id=abc&"+creds, ""), "28", "Can not be found")
	v.fails(v.do("DELETE", "/v2/Template?"+creds, ""), "23", "A required parameter is missing")
	rows := v.rows(v.get("/v2/Template?" + creds))
	if len(rows) != 5 || rows[0]["TemplateName"] != "Visit" ||
		rows[0]["MessageTemplate"] != "Dear ##Name##, <come> & see us." || rows[0]["IsApproved"] != true {
		t.Errorf("after the changes: %v", rows)
	}
	if n := rows[4]; n["TemplateName"] != "New" || n["IsApproved"] != false || n["TemplateId"].(float64) <= 111 ||
		n["ApprovedDate"] != "" {
		t.Errorf("a new template awaits approval under a new id: %v", n)
	}
}

func TestSenderIDs(t *testing.T) {
	v := start(t)
	list := v.get("/v2/SenderId?" + creds)
	first := `{"ErrorCode":0,"ErrorDescription":"Success","Data":[{"Id":101,"CompanyId":1,"Sender-Id":"CLINIC","Purpose":` +
		`"Appointments","IsActive":true,"CreatedDate":"Mar 19, 2018","ApproveStatus":"Approved","ApprovedDate":"Mar 21, ` +
		`2018"},`
	if !strings.HasPrefix(list.body, first) {
		t.Fatalf("got %s", list.body)
	}
	state := map[any][2]any{}
	for _, row := range v.rows(list) {
		state[row["Sender-Id"]] = [2]any{row["ApproveStatus"], row["IsActive"]}
	}
	for name, want := range map[string][2]any{"CLINIC": {"Approved", true}, "SCHOOL": {"Approved", true},
		"PENDING1": {"Pending", true}, "OLDNAME": {"Approved", false}} {
		if state[name] != want {
			t.Errorf("%s: %v, want %v", name, state[name], want)
		}
	}
	body := func(sender, purpose string) string {
		return `{` + jsonCreds + `,"SenderId":"` + sender + `","Purpose":"` + purpose + `"}`
	}
	v.says(v.do("PUT", "/v2/SenderId?id=101", body("CLINIC", "Reminders")), "SenderId updated Successfully.")
	v.fails(v.do("PUT", "/v2/SenderId?id=101", body("OTHER", "Reminders")), "15", "Invalid SenderId")
	v.fails(v.do("PUT", "/v2/SenderId?id=101", body("", "Reminders")), "3", "SenderId cannot be blank")
	v.fails(v.do("PUT", "/v2/SenderId?id=101", body("CLINIC", "")), "23", "A required parameter is missing")
	v.fails(v.do("PUT", "/v2/SenderId?id=999", body("CLINIC", "x")), "28", "Can not be found")
	v.says(v.post("/v2/SenderId", body("NEWNAME", "x")), "SenderId added successfully.")
	v.fails(v.post("/v2/SenderId", body("NEWNAME", "x")), "29", "Record already exists")
	v.fails(v.post("/v2/SenderId", body("no", "x")), "15", "Invalid SenderId")
	v.fails(v.post("/v2/SenderId", body("WITH SPACE", "x")), "15", "Invalid SenderId")
	v.says(v.do("DELETE", "/v2/SenderId?id=102&"+creds, ""), "SenderId deleted Successfully.")
	v.fails(v.do("DELETE", "/v2/SenderId?id=102&"+creds, ""), "28", "Can not be found")
	v.fails(v.do("DELETE", "/v2/SenderId?"+creds, ""), "23", "A required parameter is missing")
	if rows := v.rows(v.get("/v2/SenderId?" + creds)); len(rows) != 4 || rows[0]["Purpose"] != "Reminders" {
		t.Errorf("after the changes: %v", rows)
	}
	row := v.rows(v.post("/v2/SendSMS", `{`+jsonCreds+
		`,"SenderId":"SCHOOL","Message":"x","MobileNumbers":"2348031234567"}`))[0]
	if row["MessageId"] != "" {
		t.Errorf("a deleted sender ID still sends: %v", row)
	}
}

func TestGroups(t *testing.T) {
	v := start(t)
	want := `{"ErrorCode":0,"ErrorDescription":"Success","Data":[{"GroupId":107,"GroupName":"Parents","ContactCount":12},` +
		`{"GroupId":108,"GroupName":"Staff","ContactCount":4}]}`
	if r := v.get("/v2/Group?" + creds); r.body != want {
		t.Fatalf("got  %s\nwant %s", r.body, want)
	}
	named := func(name string) string { return `{` + jsonCreds + `,"GroupName":"` + name + `"}` }
	v.says(v.post("/v2/Group", named("Class 1")), "success#New Group added successfully.")
	v.fails(v.post("/v2/Group", named("Class 1")), "27", "Already exist")
	v.fails(v.post("/v2/Group", named("")), "23", "A required parameter is missing")
	v.says(v.post("/v2/Group/107/SubGroup", named("Mothers")), "success#New Group added successfully.")
	v.says(v.post("/v2/Group/"+v.groupID("Mothers")+"/SubGroup", named("Mothers of class 1")),
		"success#New Group added successfully.")
	v.fails(v.post("/v2/Group/107/SubGroup", named("Mothers")), "27", "Already exist")
	v.fails(v.post("/v2/Group/999/SubGroup", named("Fathers")), "28", "Can not be found")
	v.fails(v.post("/v2/Group/x/SubGroup", named("Fathers")), "28", "Can not be found")
	v.says(v.do("PUT", "/v2/Group?id=108", named("Teachers")), "Group updated Successfully.")
	v.says(v.do("PUT", "/v2/Group?id=108", named("Teachers")), "Group updated Successfully.")
	v.fails(v.do("PUT", "/v2/Group?id=108", named("Parents")), "27", "Already exist")
	v.fails(v.do("PUT", "/v2/Group?id=999", named("Nobody")), "28", "Can not be found")
	v.fails(v.do("PUT", "/v2/Group?id=108", named("")), "23", "A required parameter is missing")
	if rows := v.rows(v.get("/v2/Group?" + creds)); len(rows) != 5 || rows[1]["GroupName"] != "Teachers" ||
		rows[1]["ContactCount"] != 4.0 {
		t.Errorf("after the changes: %v", rows)
	}
	v.says(v.do("DELETE", "/v2/Group?id=107&"+creds, ""), "Group deleted successfully.")
	v.fails(v.do("DELETE", "/v2/Group?id=107&"+creds, ""), "28", "Can not be found")
	v.fails(v.do("DELETE", "/v2/Group?"+creds, ""), "23", "A required parameter is missing")
	rows := v.rows(v.get("/v2/Group?" + creds))
	if len(rows) != 2 || rows[0]["GroupName"] != "Teachers" || rows[1]["GroupName"] != "Class 1" {
		t.Errorf("deleting a group takes its sub-groups: %v", rows)
	}
}

func TestMessageStatus(t *testing.T) {
	v := start(t)
	id := v.rows(v.sendTo("2348030000005", "Hello"))[0]["MessageId"].(string)
	v.dlr.wait(t, 1)
	date := `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`
	form := regexp.MustCompile(
		`^\{"ErrorCode":0,"ErrorDescription":"Success","Data":\{"MobileNumber":"2348030000005","SenderId":"CLINIC","Message":` +
			`"Hello","SubmitDate":"` + date + `","DoneDate":"` + date + `","MessageId":"` + id +
			`","Status":"BLACKLIST","ErrorCode":"104"\}\}$`)
	if r := v.get("/v2/MessageStatus?" + creds + "&MessageId=" + id); !form.MatchString(r.body) {
		t.Errorf("got %s", r.body)
	}
	v.fails(v.get("/v2/MessageStatus?"+creds+"&MessageId=7d3e9a34-0000-4000-8000-000000000000"), "41", "Report not found")
	v.fails(v.get("/v2/MessageStatus?"+creds+"&MessageId=x"), "41", "Report not found")
	v.fails(v.get("/v2/MessageStatus?"+creds), "23", "A required parameter is missing")
}
