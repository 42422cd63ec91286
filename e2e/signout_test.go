package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"testing"
	"time"
)

// TestAPageThatSignsOutAsksNothingMore: between the end of the session and the
// next page the old one is still there and hears of changes. What it fetched, or
// was just fetching, would be answered with 401 and lead to "You were signed out".
func TestAPageThatSignsOutAsksNothingMore(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	desk, err := url.Parse(o.base)
	p.do(err)
	slow := httputil.NewSingleHostReverseProxy(desk)
	slow.ModifyResponse = func(r *http.Response) error {
		if r.Request.URL.Path == "/signout" {
			time.Sleep(time.Second)
		}
		return nil
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/side" { // what was asked before comes too late
			select {
			case <-time.After(300 * time.Millisecond):
			case <-r.Context().Done():
				return
			}
		}
		slow.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	p.open2(front.URL + "/")
	p.do(p.Locator("html[data-live=on]").WaitFor())
	p.do2(p.Evaluate(`() => {
		const nudge = () => ['account:1', 'campaigns:1'].forEach(topic => htmx.trigger('#live', topic));
		setInterval(nudge, 50);
		nudge();
		[...document.forms].find(f => f.action.endsWith('/signout')).requestSubmit();
	}`))
	p.do(p.WaitForURL(regexp.MustCompile(`/signin\?done=signedout$`)))
	p.quiet()
}
