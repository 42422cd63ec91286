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
// next page the old one is still there and hears of changes. What it fetched
// would be answered with 401 and lead to "your session has ended".
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
	front := httptest.NewServer(slow)
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	p.open2(front.URL + "/")
	p.do2(p.WaitForFunction("document.documentElement.dataset.live === 'on'", nil))
	p.do2(p.Evaluate(`() => {
		setInterval(() => ['account:1', 'campaigns:1'].forEach(topic => htmx.trigger('#live', topic)), 50);
		[...document.forms].find(f => f.action.endsWith('/signout')).requestSubmit();
	}`))
	p.do(p.WaitForURL(regexp.MustCompile(`/signin\?done=signedout$`)))
	p.quiet()
}
