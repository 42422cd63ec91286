package page

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"smsdesk/internal/sms"
)

// TestPagesShareARendering: a crowd costs a few renderings, nobody gets one
// that began before they asked, and roles do not share.
func TestPagesShareARendering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var version, renderings atomic.Int64
		s := &Site{shares: newShares()}
		rt := Route{Shared: ByRole, Do: func(w http.ResponseWriter, _ *http.Request, v *Visit) error {
			renderings.Add(1)
			_, err := w.Write([]byte(strconv.FormatInt(version.Load(), 10) + string(v.User.Role)))
			return err
		}}
		var all sync.WaitGroup
		for range 20 {
			at := version.Add(1)
			for i := range 50 {
				role := sms.Viewer
				if i%2 == 0 {
					role = sms.Sender
				}
				all.Go(func() {
					r, w := httptest.NewRequest(http.MethodGet, "/reports", nil), httptest.NewRecorder()
					err := s.share(w, r, &Visit{R: r, User: sms.User{Role: role}}, rt)
					shown, told := w.Body.String(), len(w.Body.String())-len(role)
					if err != nil || told < 1 || shown[told:] != string(role) {
						t.Errorf("%s got %q, %v", role, shown, err)
						return
					}
					if n, err := strconv.ParseInt(shown[:told], 10, 64); err != nil || n < at {
						t.Errorf("asked at %d and got %q", at, shown)
					}
				})
			}
			synctest.Wait()
		}
		all.Wait()
		if n := renderings.Load(); n > 2*20+2 {
			t.Errorf("%d renderings for 1,000 pages", n)
		}
	})
}
