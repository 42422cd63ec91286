package page

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A stream that nobody reads must end by its write deadline, not hold a
// goroutine for ever.
func TestLiveWriterGivesUp(t *testing.T) {
	out := eventWriter{w: deaf{httptest.NewRecorder()}}
	out.control = http.NewResponseController(out.w)
	if out.events([]string{"campaign:1"}) || out.comment() {
		t.Error("a failed write counts as written")
	}
}

type deaf struct{ http.ResponseWriter }

func (deaf) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
