package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A slow line may take longer than a form, as long as it goes on.
func TestPatienceMovesWithTheBody(t *testing.T) {
	var deadlines []time.Time
	h := slowBody(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := r.Body.(*patientBody)
		for range 3 {
			b.until = b.until.Add(-FormTime)
			if _, err := b.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
	}))
	h.ServeHTTP(deadlineWriter{httptest.NewRecorder(), &deadlines},
		httptest.NewRequest(http.MethodPost, "/", strings.NewReader("abc")))
	if len(deadlines) != 3 || time.Until(deadlines[2]) < FormTime/2 {
		t.Errorf("deadlines %v", deadlines)
	}
}

type deadlineWriter struct {
	http.ResponseWriter
	read *[]time.Time
}

func (d deadlineWriter) SetReadDeadline(at time.Time) error {
	*d.read = append(*d.read, at)
	return nil
}
