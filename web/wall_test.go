package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// wallCampaign is one of which some messages arrived and others wait.
func (s *site) wallCampaign() (sms.Account, sms.Campaign) {
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Name: "School fees reminder for Oluwadamilola, 3B",
		Numbers: typed(12), Text: "Dear Oluwadamilola, pay by Friday."})
	s.send(a, 1, accept)
	s.reports(a, report("1000", "DELIVRD", "000"), report("1001", "DELIVRD", "000"), report("1002", "UNDELIV", "101"))
	return a, c
}

// wallLink makes a link as the boss and returns its path.
func (s *site) wallLink(b *browser, c sms.Campaign) string {
	s.t.Helper()
	links := views.CampaignPath(c.ID) + "/wall"
	b.post(links).to(links)
	address := b.get(links).is(200).attr("#wall-address", "value")
	b.get(links).is(200).count("#wall-address", 0)
	return strings.TrimPrefix(address, "http://127.0.0.1:8080")
}

func TestAWallScreenShowsTheCounts(t *testing.T) {
	s := newSite(t)
	_, c := s.wallCampaign()
	b := s.as(s.hire("v@example.com", sms.Viewer))
	got := b.get(b.get(views.CampaignPath(c.ID)).attr("#wall", "href")).is(200).has(c.Name, "Leave wall screen")
	for tile, want := range map[string]string{"waiting": "7", "network": "2", "delivered": "2", "failed": "1",
		"notsent": "0"} {
		if n := got.text("#wall-" + tile + " b"); n != want {
			t.Errorf("%s is %q, want %s", tile, n, want)
		}
	}
	if live := b.fragment(got.attr("#wall", "hx-get")).is(200); live.html("#wall") != got.html("#wall") {
		t.Error("the fragment is not the screen")
	}
	s.browser().get(views.CampaignPath(c.ID) + "?view=wall").to("/signin?next=" +
		"%2Fcampaigns%2F" + strconv.FormatInt(c.ID, 10) + "%3Fview%3Dwall")
}

// TestALinkShowsCountsAlone: whoever holds it sees nothing of a person, and the
// secret stands in no log and not in the database.
func TestALinkShowsCountsAlone(t *testing.T) {
	s := newSite(t)
	a, c := s.wallCampaign()
	manager := s.as(s.hire("m@example.com", sms.Manager))
	path := s.wallLink(manager, c)
	stranger := s.browser()
	for _, got := range []answer{stranger.get(path).is(200), stranger.fragment(path).is(200)} {
		if got.text("#wall-delivered b") != "2" || got.text("h1") != "School fees reminder…" {
			t.Errorf("it shows %q", got.text("#wall"))
		}
		got.lacks("Oluwadamilola", "0803", "0805", "pay by", a.Name+" ", s.boss.Name, "Leave wall screen", "href=\"/campaigns")
	}
	secret := strings.TrimPrefix(path, "/wall/")
	stranger.get(path + "x").is(http.StatusNotFound)
	stranger.get("/wall/" + strings.Repeat("0", 64)).is(http.StatusNotFound)
	stranger.get("/wall/" + strings.Repeat("0", 64) + "/live").is(http.StatusNotFound)
	links, err := s.db.WallLinks(t.Context(), c.ID)
	s.must(err)
	if len(secret) < 64 || strings.Contains(s.log.String(), secret[:16]) || len(links) != 1 {
		t.Errorf("%d links; the log holds the secret: %t", len(links), strings.Contains(s.log.String(), secret[:16]))
	}
	if !strings.Contains(s.log.String(), "path=/wall/{token} ") {
		t.Error("the log does not say that a wall screen was opened")
	}
}

func TestALinkEnds(t *testing.T) {
	s := newSite(t)
	_, c := s.wallCampaign()
	b, stranger := s.as(s.boss), s.browser()
	links := views.CampaignPath(c.ID) + "/wall"
	s.as(s.hire("s@example.com", sms.Sender)).post(links).is(http.StatusForbidden)
	first, second := s.wallLink(b, c), s.wallLink(b, c)

	rows := b.get(links).has("2 working links")
	b.post(links+"/revoke", "link", rows.attr("#wall-links tbody tr:last-child input[name=link]", "value")).to(links)
	stranger.get(first).is(http.StatusNotFound)
	stranger.get(second).is(200)
	lines, err := s.db.AuditOf(t.Context(), feed.Campaign(c.ID))
	s.must(err)
	var actions []string
	for _, l := range lines {
		if strings.HasPrefix(l.Action, "wall.") {
			actions = append(actions, l.Action)
		}
	}
	if got := strings.Join(actions, " "); got != "wall.create wall.create wall.revoke" {
		t.Errorf("audited: %s", got)
	}

	b.post(views.CampaignPath(c.ID) + "/stop").to(views.CampaignPath(c.ID))
	b.post(views.CampaignPath(c.ID) + "/give-up").to(views.CampaignPath(c.ID))
	s.clock.pass(24*time.Hour - time.Second)
	stranger.get(second).is(200).has("Cancelled")
	s.clock.pass(time.Second)
	stranger.get(second).is(http.StatusNotFound)
	b = s.as(s.boss)
	b.get(links).count("#wall-links", 0).count("#wall-make", 0)
	b.post(links).is(http.StatusConflict)
}

// TestAWallScreenIsLive: a link streams what changed to four screens, until it is
// revoked.
func TestAWallScreenIsLive(t *testing.T) {
	s := newLiveSite(t, page.Live{Recheck: 50 * time.Millisecond})
	_, c := s.wallCampaign()
	b := s.as(s.boss)
	path := s.wallLink(b, c)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, events := s.listen(ctx, s.browser(), path+"/live")
	if got := next(t, events); got != feed.Campaign(c.ID) {
		t.Errorf("the first event is %q", got)
	}
	for range 3 {
		s.listen(ctx, s.browser(), path+"/live")
	}
	if fifth, _ := s.listen(ctx, s.browser(), path+"/live"); fifth.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a fifth screen gets %d", fifth.StatusCode)
	}
	links, err := s.db.WallLinks(t.Context(), c.ID)
	s.must(err)
	s.must(s.desk.RevokeWallLink(t.Context(), s.boss, c.ID, links[0].ID))
	ended(t, events)
}
