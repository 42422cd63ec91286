package sandbox

import (
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

func (v *service) form(path, fields string, headers ...string) reply {
	v.t.Helper()
	return v.do("POST", path, fields, append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
}

func (v *service) page() *goquery.Document {
	v.t.Helper()
	r := v.get("/_sandbox/")
	if r.status != 200 || r.header.Get("Content-Type") != "text/html; charset=utf-8" {
		v.t.Fatalf("%d %s", r.status, r.header.Get("Content-Type"))
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(r.body))
	if err != nil {
		v.t.Fatal(err)
	}
	return doc
}

func TestControlPageSetsFaults(t *testing.T) {
	v := start(t)
	fields := url.Values{}
	v.page().Find(`form[action="/_sandbox/faults"] [name]`).Each(func(_ int, field *goquery.Selection) {
		name, _ := field.Attr("name")
		if kind, _ := field.Attr("type"); kind == "checkbox" {
			return
		}
		value, _ := field.Attr("value")
		fields.Set(name, value+field.Find("option[selected]").Text())
	})
	fields.Set("cutAfter", "1")
	fields.Set("codeForm", "bare007")
	fields.Set("inactive", "true")
	if r := v.form("/_sandbox/faults", fields.Encode()); r.status != 303 || r.header.Get("Location") != "/_sandbox/" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if f := v.s.luck.current(); f.CutAfter != 1 || f.CodeForm != "bare007" || !f.Inactive || f.Unauthorized {
		t.Errorf("%+v", f)
	}
	page := v.page()
	if on := page.Find("input[name=inactive]").Is("[checked]"); !on {
		t.Error("the page does not show that the account is inactive")
	}
	if got, _ := page.Find("input[name=cutAfter]").Attr("value"); got != "1" {
		t.Errorf("the page shows cutAfter %s", got)
	}
	if r := v.form("/_sandbox/faults", "cutAfter=7"); r.status != 400 || !strings.Contains(r.body, "cutAfter") {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := v.post("/_sandbox/faults", `{"cutAfter":[1]}`); r.status != 400 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if f := v.s.luck.current(); f.CutAfter != 1 {
		t.Error("a refused change was made")
	}
	if r := v.form("/_sandbox/faults", "cutAfter=1", "Sec-Fetch-Site", "cross-site"); r.status != 403 {
		t.Errorf("a form of another site: %d", r.status)
	}
	if r := v.post("/_sandbox/faults", `{}`); r.status != 200 || !strings.Contains(r.body, `"cutAfter":0`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	if f := v.s.luck.current(); f != (Faults{CodeForm: f.CodeForm}) || f.Inactive {
		t.Errorf("an empty object switches everything off: %+v", f)
	}
}

func TestControlPageEscapesAndHidesSecrets(t *testing.T) {
	v := start(t, func(c *Config) { c.DLRURL += "?token=very-secret" })
	v.post("/v2/Template", `{`+jsonCreds+`,"TemplateName":"<script>alert(1)</script>","MessageTemplate":"\"><img src=x>"}`)
	v.get("/v2/Balance?" + creds)
	r := v.get("/_sandbox/")
	if strings.Contains(r.body, "<script>") || strings.Contains(r.body, "<img") {
		t.Error("markup of a template reached the page")
	}
	for _, secret := range []string{"very-secret", "/dlr/token", testKey, testClient} {
		if strings.Contains(r.body, secret) {
			t.Errorf("%s is on the page", secret)
		}
	}
	if r.header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(r.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("headers %v", r.header)
	}
}

func TestControlDecidesAboutRecords(t *testing.T) {
	v := start(t)
	if r := v.form("/_sandbox/senderid/103", "approved=true&active=true"); r.status != 303 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	row := v.rows(v.get("/v2/SenderId?" + creds))[2]
	if row["Sender-Id"] != "PENDING1" || row["ApproveStatus"] != "Approved" || row["ApprovedDate"] == "" {
		t.Errorf("%v", row)
	}
	send := func() any {
		return v.rows(v.post("/v2/SendSMS", `{`+jsonCreds+
			`,"SenderId":"PENDING1","Message":"x","MobileNumbers":"2348031234567"}`))[0]["MessageId"]
	}
	if send() == "" {
		t.Error("an approved sender ID is refused")
	}
	v.form("/_sandbox/senderid/103", "active=true")
	if send() != "" {
		t.Error("a sender ID sends after its approval was taken away")
	}
	v.form("/_sandbox/template/106", "approved=true")
	if row := v.rows(v.get("/v2/Template?" + creds))[1]; row["IsApproved"] != true || row["IsActive"] != false {
		t.Errorf("%v", row)
	}
	for _, path := range []string{"/_sandbox/senderid/999", "/_sandbox/template/x", "/_sandbox/nothing"} {
		if r := v.form(path, "approved=true"); r.status != 404 {
			t.Errorf("%s: %d", path, r.status)
		}
	}
	for _, amount := range []string{"", "x", "-1", "NaN", "1e300"} {
		if r := v.form("/_sandbox/credit", "amount="+amount); r.status != 400 {
			t.Errorf("amount %q: %d", amount, r.status)
		}
	}
	if r := v.get("/_sandbox/state"); !strings.HasPrefix(r.body, `{"texts":1,"credit":99999600,"reports`) {
		t.Errorf("%s", r.body)
	}
}
