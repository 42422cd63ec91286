package api

import (
	_ "embed"
	"net/http"
)

// openAPIFile describes every address under apiPath (OpenAPI 3.1); a test holds
// it against the table of routes and against live answers.
//
//go:embed openapi.yaml
var openAPIFile []byte

func OpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(openAPIFile)
}
