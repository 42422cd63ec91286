package desk_test

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// refuseTemplates is a service that answers everything but the templates.
func refuseTemplates(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/Template") {
			_, _ = w.Write([]byte(`{"ErrorCode":10,"ErrorDescription":"Unauthorized API access"}`))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func TestTemplatesAreReadAndKept(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	proof, err := r.Desk.TestAccount(r.Ctx, r.By, r.Account.ID)
	if err != nil || len(proof.Templates) != 5 {
		t.Fatalf("%+v %v", proof.Templates, err)
	}
	usable := map[string]bool{}
	list, err := r.DB.Templates(r.Ctx, r.Account.ID)
	for _, m := range list {
		usable[m.Name] = m.Usable()
	}
	want := map[string]bool{"Appointment": true, "Fees": false, "Holiday": true, "Results ready": true,
		"Old price list": false}
	if err != nil || !maps.Equal(usable, want) {
		t.Errorf("%v %v", usable, err)
	}
	if reading, err := r.DB.Reading(r.Ctx, r.Account.ID, sms.RecordTemplates); err != nil || reading.At == 0 ||
		reading.Failure != "" {
		t.Errorf("%+v %v", reading, err)
	}
}

// TestAnAccountWithoutTemplatesIsConnected: who may not list templates may
// still send.
func TestAnAccountWithoutTemplatesIsConnected(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	server := httptest.NewServer(refuseTemplates(r.Sandbox.Handler()))
	t.Cleanup(server.Close)
	a, err := r.Desk.SaveAccount(r.Ctx, r.By, r.Account.ID, func(a *sms.Account, _ *sms.Credentials) {
		a.BaseURL = server.URL + "/v2"
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.DB.PutTemplates(r.Ctx, a.ID, []sms.Template{{ID: 1, Name: "Kept"}}, 5); err != nil {
		t.Fatal(err)
	}
	if err := r.Desk.RefreshAccount(r.Ctx, r.By, a.ID); err != nil {
		t.Fatal(err)
	}
	reading, err := r.DB.Reading(r.Ctx, a.ID, sms.RecordTemplates)
	if err != nil || reading.At != 5 ||
		reading.Failure != "API access is turned off for this account. Ask the provider to turn it on" {
		t.Errorf("%+v %v", reading, err)
	}
	list, err := r.DB.Templates(r.Ctx, a.ID)
	if err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	if now, err := r.DB.Account(r.Ctx, a.ID); err != nil || now.Failure != "" || now.ReachedAt == 0 {
		t.Errorf("%+v %v", now, err)
	}
}

func TestRefreshNeedsASenderAndALivingAccount(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	if err := r.Desk.RefreshAccount(r.Ctx, sms.User{ID: 9, Role: sms.Viewer, Active: true}, r.Account.ID); !errors.Is(err,
		sms.ErrForbidden) {
		t.Errorf("a viewer: %v", err)
	}
	if err := r.Desk.RefreshAccount(r.Ctx, r.By, 99); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("no account: %v", err)
	}
	r.Service.Close()
	if err := r.Desk.RefreshAccount(r.Ctx, r.By, r.Account.ID); err == nil {
		t.Error("nobody answered and nothing was said")
	}
	if a, err := r.DB.Account(r.Ctx, r.Account.ID); err != nil || a.Failure == "" {
		t.Errorf("%+v %v", a, err)
	}
}

func TestMarksAreFilledForEverybody(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	order := func(text string, fixed map[string]string) (sms.Campaign, error) {
		return r.Desk.CreateCampaign(r.Ctx, r.By, desk.Order{AccountID: r.Account.ID, SenderID: "CLINIC",
			Numbers: "08030000101", Text: text, Fixed: fixed, Token: desk.NewToken()})
	}
	for _, c := range []struct {
		text  string
		fixed map[string]string
		want  string
	}{
		{"Come on ##Date##, ##date##.", map[string]string{"date": " Monday "}, "Come on Monday, Monday."},
		{"From ##First name##", map[string]string{"firstname": "##Date##"}, "From ##Date##"},
		{"##A## or\r\n##B##", map[string]string{"a": "1\r\n2", "b": "3"}, "1\n2 or\n3"},
		{"Sale ## now", nil, "Sale ## now"},
	} {
		if made, err := order(c.text, c.fixed); err != nil || made.Text != c.want {
			t.Errorf("%q became %q, %v; want %q", c.text, made.Text, err, c.want)
		}
	}
	for key, c := range map[string]struct {
		text  string
		fixed map[string]string
	}{
		"field:name":        {"Dear ##Name##", nil},
		"field:appointment": {"Dear ##Name##, come to your ##Appointment##", map[string]string{"name": "Ada", "appointment": "  "}},
		"text":              {"##Name##", map[string]string{"name": strings.Repeat("a", 2000)}},
	} {
		_, err := order(c.text, c.fixed)
		var bad sms.Invalid
		if !errors.As(err, &bad) || len(bad) != 1 || bad[key] == "" {
			t.Errorf("%q with %v: %v", c.text, c.fixed, err)
		}
	}
}
