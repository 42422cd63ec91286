package web

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/web/api"
)

func TestProgramsKeepTemplateDrafts(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	m, manager := s.machine(s.hire("s@example.com", sms.Sender)), s.machine(s.hire("m@example.com", sms.Manager))
	viewer, at := s.machine(s.hire("v@example.com", sms.Viewer)), api.Path+"/template-drafts"
	made := form[api.TemplateDraft](m.post(at, `{"account":"Clinic","name":"Fees","text":"Dear ##Name##"}`).is(201))
	if made.Name != "Fees" || made.Text != "Dear ##Name##" || made.ChangedBy != "Ada Obi" || made.Version == 0 {
		t.Errorf("%+v", made)
	}
	for body, field := range map[string]string{`{"account":"Clinic","name":"","text":"x"}`: "name",
		`{"account":"Clinic","name":"x","text":""}`: "text", `{"account":"Clinic","name":"x","text":"y","id":3}`: "id"} {
		if p := m.post(at, body).problem(422); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
	}
	one := fmt.Sprintf("%s/%d", at, made.ID)
	change := fmt.Sprintf(`{"account":"Clinic","version":%d,"name":"Fees","text":"Dear all"}`, made.Version)
	s.clock.pass(time.Second)
	changed := form[api.TemplateDraft](m.order("PUT", one, change).is(200))
	if changed.Text != "Dear all" || changed.Version <= made.Version || changed.ID != made.ID {
		t.Errorf("%+v", changed)
	}
	m.order("PUT", one, change).problem(409)
	m.order("PUT", at+"/99", change).problem(404)
	var list struct{ Items []api.TemplateDraft }
	s.must(json.Unmarshal([]byte(viewer.get(at+"?account=Clinic").is(200).body), &list))
	if len(list.Items) != 1 || list.Items[0].Version != changed.Version {
		t.Errorf("%+v", list)
	}
	viewer.post(at, `{}`).problem(403)
	create := `{"account":"Clinic"}`
	m.post(one+"/create", create).problem(403)
	if p := manager.post(one+"/create", create).problem(422); p.Errors[0].Field != "provider" {
		t.Errorf("%+v", p)
	}
	manager.post(at+"/99/create", create).problem(404)
	m.order("DELETE", one+"?account=Clinic", "").is(200)
	m.order("DELETE", one+"?account=Clinic", "").problem(404)

	s.must(s.db.PutSenderIDs(t.Context(), a.ID, []sms.SenderID{
		{ID: 1, Text: "CLINIC", ApproveStatus: "Approved", IsActive: true},
		{ID: 2, Text: "OTHER", ApproveStatus: "Approved", IsActive: true}, {ID: 3, Text: "NEW"}},
		s.clock.now().UnixMilli()))
	sender := func(id int) string { return fmt.Sprintf("%s/sender-ids/%d/default", api.Path, id) }
	m.post(sender(2), create).problem(403)
	if got := form[api.SenderID](manager.post(sender(2), create).is(200)); !got.Default || got.Text != "OTHER" {
		t.Errorf("%+v", got)
	}
	if got := s.reload(a.ID); got.DefaultSender != "OTHER" {
		t.Errorf("%+v", got.DefaultSender)
	}
	if p := manager.post(sender(3), create).problem(422); p.Errors[0].Field != "id" {
		t.Errorf("%+v", p)
	}
	manager.post(sender(9), create).problem(404)
}
