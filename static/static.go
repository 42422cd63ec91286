// Package static holds the files a browser needs, inside the binary: the
// stylesheets, the scripts, the icons. It names each by an address that changes
// when its content does, so that a browser may keep it for ever. It must never
// know a page, a user or a request other than one for such a file.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
)

//go:embed css/*.css *.js *.svg
var files embed.FS

// sheets are the files of css that are served one after another as app.css,
// without their comments and spaces. The first says in which order the layers
// have power; the others stand as they are read, and rules of the same layer
// that are equally strong go by this order.
const sheets = "order tokens reset base layout buttons tiles tables notes forms texts live pictures flow settings utilities"

// alone are the files of css that a page loads beside app.css, each under its own
// name: "wall" is served as wall.css.
const alone = "calendar wall"

// Prefix is where Handler is mounted.
const Prefix = "/static/"

type file struct {
	address     string
	contentType string
	plain       []byte
	zipped      []byte
}

// The table is a pure function of the embedded files, worked out at first use.
var table = sync.OnceValue(func() map[string]file {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("static: reading the embedded files: " + err.Error())
	}
	all := map[string]file{"app.css": newFile("app.css", minified(stylesheet()))}
	for _, name := range strings.Fields(alone) {
		all[name+".css"] = newFile(name+".css", minified(read("css/"+name+".css")))
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			all[entry.Name()] = newFile(entry.Name(), read(entry.Name()))
		}
	}
	return all
})

func read(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic("static: reading " + name + ": " + err.Error())
	}
	return content
}

// stylesheet is app.css as it is written, with its comments and its air.
func stylesheet() []byte {
	var sheet []byte
	for _, name := range strings.Fields(sheets) {
		sheet = append(sheet, read("css/"+name+".css")...)
	}
	return sheet
}

func minified(sheet []byte) []byte {
	m := minify.New()
	m.AddFunc("text/css", css.Minify)
	small, err := m.Bytes("text/css", sheet)
	if err != nil {
		panic("static: minifying a stylesheet: " + err.Error())
	}
	return small
}

func newFile(name string, content []byte) file {
	sum := sha256.Sum256(content)
	return file{
		address:     Prefix + hex.EncodeToString(sum[:8]) + "/" + name,
		contentType: contentType(name),
		plain:       content,
		zipped:      zip(content),
	}
}

// Path returns the address of a file by its name, such as "app.css" ->
// "/static/0123456789abcdef/app.css". It panics on a name that is not here:
// names are written in the source, so that is a mistake in the program.
func Path(name string) string {
	f, ok := table()[name]
	if !ok {
		panic("static: no file " + name)
	}
	return f.address
}

// Handler answers the addresses that Path gives, and 404 to everything else
// below Prefix, an address with the hash of an older content included.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := table()[path.Base(r.URL.Path)]
		if !ok || f.address != r.URL.Path {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
			return
		}
		f.serve(w, r)
	})
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	body := f.plain
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	if len(f.zipped) < len(f.plain) && acceptsGzip(r.Header.Values("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body = f.zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		// A browser that has gone away is nobody's error.
		_, _ = w.Write(body)
	}
}

func acceptsGzip(values []string) bool {
	for _, item := range strings.Split(strings.Join(values, ","), ",") {
		coding, params, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		name, q, weighted := strings.Cut(strings.TrimSpace(params), "=")
		if !weighted || !strings.EqualFold(strings.TrimSpace(name), "q") {
			return true
		}
		weight, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
		return err == nil && weight > 0
	}
	return false
}

// The system's own table of types differs from machine to machine, so the few
// types that matter are fixed.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

func zip(content []byte) []byte {
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("static: compressing in memory: " + err.Error())
	}
	return buf.Bytes()
}
