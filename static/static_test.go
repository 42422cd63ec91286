package static

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Vendored files are the ones their authors published, byte for byte:
// htmx.org 4.0.1 (dist/htmx.min.js, dist/ext/hx-sse.min.js).
func TestVendoredFilesAreUnchanged(t *testing.T) {
	for name, want := range map[string]string{
		"htmx.min.js":   "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
		"hx-sse.min.js": "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103",
	} {
		sum := sha256.Sum256(table()[name].plain)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s has sha256 %s, want %s", name, got, want)
		}
	}
}

func TestWeights(t *testing.T) {
	weight := func(names ...string) (raw, zipped int) {
		for _, name := range names {
			f, ok := table()[name]
			if !ok {
				t.Fatalf("no file %s", name)
			}
			raw, zipped = raw+len(f.plain), zipped+len(f.zipped)
		}
		return raw, zipped
	}
	for _, tc := range []struct {
		what        string
		names       []string
		raw, zipped int
	}{
		{"stylesheet", []string{"app.css"}, math.MaxInt, 14_000},
		{"stylesheet of a calendar, beside it", []string{"calendar.css"}, math.MaxInt, 1_000},
		{"stylesheet of a wall screen, beside it", []string{"wall.css"}, math.MaxInt, 1_000},
		{"all scripts", []string{"htmx.min.js", "hx-sse.min.js", "app.js"}, 60_000, 20_000},
		{"own script", []string{"app.js"}, 9_000, 3_500},
		{"icons", []string{"icons.svg"}, 12_000, 4_000},
	} {
		raw, zipped := weight(tc.names...)
		t.Logf("%s: %d bytes, %d compressed", tc.what, raw, zipped)
		if raw > tc.raw || zipped > tc.zipped {
			t.Errorf("%s weighs %d bytes, %d compressed; the bar is %d and %d", tc.what, raw, zipped, tc.raw, tc.zipped)
		}
	}
}

func TestEverySheetIsServed(t *testing.T) {
	entries, err := files.ReadDir("css")
	if err != nil {
		t.Fatal(err)
	}
	served := strings.Fields(sheets + " " + alone)
	for _, entry := range entries {
		if !slices.Contains(served, strings.TrimSuffix(entry.Name(), ".css")) {
			t.Errorf("css/%s is part of no stylesheet", entry.Name())
		}
	}
	if len(entries) != len(served) {
		t.Errorf("%d sheets in css, %d are served", len(entries), len(served))
	}
}

func TestHandler(t *testing.T) {
	types := map[string]string{
		"app.css":          "text/css; charset=utf-8",
		"wall.css":         "text/css; charset=utf-8",
		"app.js":           "text/javascript; charset=utf-8",
		"htmx.min.js":      "text/javascript; charset=utf-8",
		"icons.svg":        "image/svg+xml",
		"favicon.svg":      "image/svg+xml",
		"favicon-test.svg": "image/svg+xml",
	}
	for name, contentType := range types {
		for _, encoding := range []string{"", "gzip, br"} {
			w := ask(http.MethodGet, Path(name), encoding)
			if w.Code != http.StatusOK {
				t.Fatalf("%s: status %d", name, w.Code)
			}
			for header, want := range map[string]string{
				"Content-Type":           contentType,
				"X-Content-Type-Options": "nosniff",
				"Cache-Control":          "public, max-age=31536000, immutable",
				"Vary":                   "Accept-Encoding",
				"Content-Length":         strconv.Itoa(w.Body.Len()),
			} {
				if got := w.Header().Get(header); got != want {
					t.Errorf("%s with %q: %s is %q, want %q", name, encoding, header, got, want)
				}
			}
			if got := body(t, w); got != string(table()[name].plain) {
				t.Errorf("%s with %q: the body is not the file", name, encoding)
			}
		}
	}
}

func TestHandlerChoosesGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"":                   false,
		"gzip":               true,
		"br, GZIP;q=0.5":     true,
		"gzip; q=0":          false,
		"gzip;q=0.000":       false,
		"identity, deflate":  false,
		"br;q=1.0, gzip;q=x": false,
	} {
		got := ask(http.MethodGet, Path("app.css"), header).Header().Get("Content-Encoding") == "gzip"
		if got != want {
			t.Errorf("Accept-Encoding %q: compressed %v, want %v", header, got, want)
		}
	}
}

func TestHandlerRefuses(t *testing.T) {
	hash := strings.Split(Path("app.css"), "/")[2]
	for _, address := range []string{
		"/static/", "/static/app.css", "/static/0000000000000000/app.css", "/static/" + hash + "/app.js",
		"/static/" + hash + "/static.go", "/static/" + hash + "/x/app.css", "/static/" + hash + "/",
		"/static/" + hash + "/../" + hash + "/app.css", "/other/" + hash + "/app.css",
	} {
		if w := ask(http.MethodGet, address, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", address, w.Code)
		}
	}
	if w := ask(http.MethodPost, Path("app.css"), ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d, want 405", w.Code)
	}
	w := ask(http.MethodHead, Path("app.css"), "")
	if w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Length") == "0" {
		t.Errorf("HEAD: status %d, %d bytes, Content-Length %q", w.Code, w.Body.Len(), w.Header().Get("Content-Length"))
	}
}

func ask(method, address, encoding string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	r.URL.Path = address
	if encoding != "" {
		r.Header.Set("Accept-Encoding", encoding)
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w
}

func body(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var r io.Reader = w.Body
	if w.Header().Get("Content-Encoding") == "gzip" {
		zr, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		r = zr
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A page must run under style-src 'self' and script-src 'self'.
func TestOwnFilesSuitThePolicy(t *testing.T) {
	for name, forbidden := range map[string]string{
		"app.css":   `(?i)@import|url\(|expression`,
		"app.js":    `(?i)\beval\b|new Function|innerHTML|\.style\b|document\.write|setAttribute\('style|https?:`,
		"icons.svg": `(?i)<script|\bon\w+=|<style|style=|href=`,
	} {
		if m := regexp.MustCompile(forbidden).FindString(string(table()[name].plain)); m != "" {
			t.Errorf("%s contains %q", name, m)
		}
	}
}

func TestContrast(t *testing.T) {
	text := []struct{ fore, back string }{
		{"text", "bg"}, {"text", "surface"}, {"text", "surface-2"}, {"text-2", "bg"}, {"text-2", "surface"}, {"text-2", "surface-2"},
		{"link", "bg"}, {"link", "surface"}, {"link", "surface-2"}, {"link-hover", "bg"}, {"link-hover", "surface"},
		{"on-accent", "accent"}, {"on-accent", "accent-hover"}, {"on-danger", "danger"}, {"on-danger", "danger-hover"},
		{"ok", "ok-bg"}, {"bad", "bad-bg"}, {"warn", "warn-bg"}, {"info", "info-bg"}, {"mute", "mute-bg"}, {"test", "test-bg"},
		{"bad", "surface"}, {"bad", "bg"}, {"warn", "surface"}, {"warn", "surface-2"}, {"ok", "surface"},
		{"text", "ok-bg"}, {"text", "bad-bg"}, {"text", "warn-bg"}, {"text", "info-bg"},
		{"link", "ok-bg"}, {"link", "bad-bg"}, {"link", "warn-bg"}, {"link", "info-bg"},
		{"link-hover", "warn-bg"}, {"link-hover", "bad-bg"}, {"link-hover", "info-bg"},
	}
	shapes := []struct{ fore, back string }{
		{"ok-fill", "surface"}, {"bad-fill", "surface"}, {"warn-fill", "surface"}, {"info-fill", "surface"}, {"mute-fill", "surface"},
		{"ok-fill", "bg"}, {"bad-fill", "bg"}, {"warn-fill", "bg"}, {"info-fill", "bg"}, {"mute-fill", "bg"},
		{"bad-fill", "bad-bg"}, {"warn-fill", "warn-bg"}, {"info-fill", "info-bg"}, {"ok-fill", "ok-bg"}, {"test-fill", "test-bg"},
		{"line-strong", "surface"}, {"line-strong", "bg"}, {"accent", "surface"}, {"accent", "bg"},
		{"focus", "surface"}, {"focus", "bg"}, {"focus", "surface-2"}, {"info", "info-bg"},
	}
	light, dark, chosenDark := themes(t)
	for name, value := range dark {
		if chosenDark[name] != value {
			t.Errorf("--%s is %s by the system's wish and %q by choice", name, value, chosenDark[name])
		}
	}
	for theme, tokens := range map[string]map[string]string{"light": light, "dark": dark} {
		for _, p := range text {
			atLeast(t, theme, tokens, p.fore, p.back, 4.5)
		}
		for _, p := range shapes {
			atLeast(t, theme, tokens, p.fore, p.back, 3)
		}
	}
}

func atLeast(t *testing.T, theme string, tokens map[string]string, fore, back string, bar float64) {
	t.Helper()
	a, b := luminance(t, tokens[fore]), luminance(t, tokens[back])
	ratio := (math.Max(a, b) + .05) / (math.Min(a, b) + .05)
	if ratio < bar {
		t.Errorf("%s: --%s on --%s has %.2f : 1, want %.1f", theme, fore, back, ratio, bar)
	}
}

// themes reads the three token blocks of the stylesheet: light, dark by the
// system's wish, dark by the person's choice.
func themes(t *testing.T) (light, dark, chosenDark map[string]string) {
	t.Helper()
	css := everySheet()
	block := func(selector string) map[string]string {
		_, rest, found := strings.Cut(css, selector)
		inside, _, closed := strings.Cut(rest, "}")
		if !found || !closed {
			t.Fatalf("no block %q in app.css", selector)
		}
		tokens := map[string]string{}
		for _, m := range regexp.MustCompile(`--([\w-]+):\s*(#[0-9a-f]{6});`).FindAllStringSubmatch(inside, -1) {
			tokens[m[1]] = m[2]
		}
		if len(tokens) < 30 {
			t.Fatalf("block %q has only %d colours", selector, len(tokens))
		}
		return tokens
	}
	return block(":root {"), block(`:root:not([data-theme="light"]) {`), block(`:root[data-theme="dark"] {`)
}

// everySheet is all that is written, as it is written.
func everySheet() string {
	css := string(stylesheet())
	for _, name := range strings.Fields(alone) {
		css += string(read("css/" + name + ".css"))
	}
	return css
}

// luminance is the relative luminance of WCAG 2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) != 7 {
		t.Fatalf("no colour %q", colour)
	}
	var parts [3]float64
	for i := range parts {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatalf("colour %q: %v", colour, err)
		}
		c := float64(n) / 255
		if c <= .04045 {
			parts[i] = c / 12.92
		} else {
			parts[i] = math.Pow((c+.055)/1.055, 2.4)
		}
	}
	return .2126*parts[0] + .7152*parts[1] + .0722*parts[2]
}

// A token that no rule defines would silently fall back.
func TestEveryTokenUsedIsDefined(t *testing.T) {
	css := everySheet()
	defined := map[string]bool{}
	for _, m := range regexp.MustCompile(`--([\w-]+):`).FindAllStringSubmatch(css, -1) {
		defined[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`var\(--([\w-]+)`).FindAllStringSubmatch(css, -1) {
		if !defined[m[1]] {
			t.Errorf("--%s is used and defined nowhere", m[1])
		}
	}
	_, rules, _ := strings.Cut(css, "@layer reset {")
	if m := regexp.MustCompile(`:\s*#[0-9a-fA-F]{3,8}\b`).FindString(rules); m != "" {
		t.Errorf("a colour outside the tokens: %q", m)
	}
}
