package web

import (
	"fmt"
	"strings"
	"testing"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/api"
)

func TestATokenIsShownOnce(t *testing.T) {
	s := newSite(t)
	s.clinic()
	ada := s.hire("ada@example.com", sms.Sender)
	b := s.as(ada)
	page := b.get(views.TokensPath).is(200).has("No API tokens", "Acts as you").count("#user", 0)
	s.leads(page)
	b.post(views.TokensPath, "name", " ").is(422).has("Enter a name")
	b.post(views.TokensPath, "name", "Billing").to(views.TokensPath)
	shown := b.get(views.TokensPath).is(200).has("Token created", "1 active token", "Billing")
	s.leads(shown)
	secret := shown.attr("#token-secret", "value")
	b.get(views.TokensPath).is(200).lacks(secret, "Token created").has("…" + secret[len(secret)-4:])
	m := &machine{site: s, secret: secret}
	m.get(api.Path + "/campaigns").is(200)
	if b.get(views.TokensPath).is(200).text("#tokens tbody td:nth-of-type(3)") == "–" {
		t.Error("the use of the token is not seen")
	}
	if strings.Contains(s.log.String(), secret[len(sms.TokenPrefix):]) {
		t.Error("the token stands in the log")
	}
}

func TestWhoMayRevokeAToken(t *testing.T) {
	s := newSite(t)
	s.clinic()
	ada, eve := s.hire("ada@example.com", sms.Viewer), s.hire("eve@example.com", sms.Manager)
	m := s.machine(ada)
	path := fmt.Sprintf("%s/%d/revoke", views.TokensPath, m.token.ID)
	s.as(eve).get(views.TokensPath).is(200).has("No API tokens")
	s.as(eve).get(path).is(404)
	s.as(eve).post(path).is(404)
	s.as(eve).post(views.TokensPath, "name", "For Ada", "user", fmt.Sprint(ada.ID)).is(403)
	ask := s.as(ada).get(path).is(200).has("Revoke Billing?", "It has never been used.", "You cannot undo this")
	s.leads(ask)
	m.get(api.Path + "/campaigns").is(200)
	s.as(ada).post(path).to(views.TokensPath + "?done=revoked")
	m.get(api.Path + "/campaigns").problem(401)
	s.as(ada).get(views.TokensPath+"?done=revoked").has("Token revoked.", "Revoked")
	s.as(ada).get(path).to(views.TokensPath)

	boss := s.as(s.boss)
	page := boss.get(views.TokensPath).is(200).has("Acts as", "Ada Obi")
	s.leads(page)
	boss.post(views.TokensPath, "name", "For Ada", "user", fmt.Sprint(ada.ID)).to(views.TokensPath)
	secret := boss.get(views.TokensPath).attr("#token-secret", "value")
	other := &machine{site: s, secret: secret}
	other.get(api.Path + "/campaigns").is(200)
	other.post(api.Path+"/campaigns/1/send", "").problem(403)
	boss.post(views.TokensPath, "name", "For nobody", "user", "7777").is(422).has("This team member cannot sign in")
	list, err := s.db.Tokens(t.Context(), ada.ID)
	s.must(err)
	boss.post(fmt.Sprintf("%s/%d/revoke", views.TokensPath, list[0].ID)).to(views.TokensPath + "?done=revoked")
	other.get(api.Path + "/campaigns").problem(401)
}
