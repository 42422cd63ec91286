package page

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"smsdesk/views"
)

const (
	// FormMost bounds what a form may send, formTime how long that may take.
	FormMost = 1 << 20
	FormTime = time.Minute
	// policy lets a page use its own files and nothing else.
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'"
)

// Recovered turns a panic into a page. It stands outermost, so the reference
// comes from the answer's header.
func (s *Site) Recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
			id := ww.Header().Get(requestIDHeader)
			s.Log.Error("panic", "id", id, "method", r.Method, "panic", p, "stack", string(debug.Stack()))
			if ww.Status() != 0 {
				panic(http.ErrAbortHandler)
			}
			for _, name := range []string{"Content-Encoding", "Content-Length", "Set-Cookie"} {
				ww.Header().Del(name)
			}
			s.ShowProblem(ww, r, s.Stranger(r), views.Broken(id))
		}()
		next.ServeHTTP(ww, r)
	})
}

const requestIDHeader = "X-Request-Id"

type requestIDKey struct{}

// RequestID names a request in the log and on an error page.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// An id that the client sends is not taken: it would be a line of theirs in
// our log.
func Identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()[:10]
		w.Header().Set(requestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id)))
	})
}

// Guarded tells browsers what a page may load and do.
func (s *Site) Guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
		if s.Secure {
			h.Set("Strict-Transport-Security", "max-age=63072000; includeSubDomains")
		}
		next.ServeHTTP(w, r)
	})
}

// ClientIP decides whom a request comes from: the peer, unless the peer is a
// proxy that we were told to believe.
func (s *Site) ClientIP(next http.Handler) http.Handler {
	if len(s.proxies) > 0 {
		return middleware.ClientIPFromXFF(s.proxies...)(next)
	}
	return middleware.ClientIPFromRemoteAddr(next)
}

// Logged writes one line for every answer: never a query, a body or a cookie,
// and no path that holds a secret.
func (s *Site) Logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		began, path := time.Now(), r.URL.Path
		finished := false
		defer func() {
			status := ww.Status()
			switch {
			case !finished && status == 0:
				status = http.StatusInternalServerError
			case status == 0:
				status = http.StatusOK
			}
			pattern := chi.RouteContext(r.Context()).RoutePattern()
			level := slog.LevelInfo
			if r.Method == http.MethodOptions && pattern == "/dlr/*" {
				level = slog.LevelDebug // the receiver's own heartbeat
			}
			s.Log.LogAttrs(r.Context(), level, "request", slog.String("id", RequestID(r.Context())),
				slog.String("method", method(r)),
				slog.String("path", loggable(path, pattern)), slog.Int("status", status), slog.Int("bytes", ww.BytesWritten()),
				slog.Duration("took", time.Since(began)), slog.String("ip", middleware.GetClientIP(r.Context())))
		}()
		next.ServeHTTP(ww, r)
		finished = true
	})
}

// A method is whatever the client typed.
func method(r *http.Request) string {
	if len(r.Method) > 10 {
		return "other"
	}
	return r.Method
}

// loggable is the path, or its pattern where the path itself is a secret or
// leads nowhere, which a mistyped secret does.
func loggable(path, pattern string) string {
	if pattern == "" || pattern == "/*" {
		return "(none)"
	}
	if strings.Contains(pattern, "{token}") || strings.HasSuffix(pattern, "/*") {
		return pattern
	}
	return path
}

// Private keeps what a page shows out of every cache.
func Private(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Add("Vary", "HX-Request")
		next.ServeHTTP(w, r)
	})
}

// limitBody refuses a body that is too large, before it is read where its size
// is told and while it is read where it is not.
func (s *Site) limitBody(most int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > most {
			w.Header().Set("Connection", "close")
			s.ShowProblem(w, r, s.Stranger(r), views.TooLarge("1MB"))
			return
		}
		if r.Body != http.NoBody {
			// Where the connection has no deadline there is none to miss.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(FormTime))
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		next.ServeHTTP(w, r)
	})
}

// slowBody lets a body take as long as it wants while it keeps coming. How much
// of it there may be, its handler says.
func slowBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != http.NoBody {
			r.Body = &patientBody{ReadCloser: r.Body, control: http.NewResponseController(w)}
		}
		next.ServeHTTP(w, r)
	})
}

type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
	until   time.Time
}

func (b *patientBody) Read(p []byte) (int, error) {
	if now := time.Now(); b.until.Sub(now) < FormTime/2 {
		b.until = now.Add(FormTime)
		// Where the connection has no deadline there is none to miss.
		_ = b.control.SetReadDeadline(b.until)
	}
	return b.ReadCloser.Read(p)
}

func (s *Site) rejectCrossOrigin(w http.ResponseWriter, r *http.Request) {
	s.Log.Warn("form from another site refused", "id", RequestID(r.Context()), "method", r.Method)
	s.ShowProblem(w, r, s.Stranger(r), views.Problem{
		Status: http.StatusForbidden, Title: "This form was sent from another site",
		Text: "Nothing was changed. Open smsdesk in a new window and try there.",
		Link: views.Link{Text: "Open smsdesk", Href: "/"},
	})
}
