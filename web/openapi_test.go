package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"smsdesk/web/api"
)

// description is openapi.yaml as a reader of it understands it.
func description(t testing.TB) (*openapi3.T, routers.Router) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return doc, router
}

// described holds an answer against the description: every test of the API
// goes through here, errors included.
func (s *site) described(r *http.Request, a answer) {
	s.t.Helper()
	if s.openapi == nil {
		_, s.openapi = description(s.t)
	}
	asked := httptest.NewRequest(r.Method, "http://"+r.Host+r.URL.RequestURI(), nil)
	asked.Header = r.Header
	route, params, err := s.openapi.FindRoute(asked)
	if err != nil {
		if a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed {
			s.t.Errorf("%s %s is not described, and answered %d", r.Method, r.URL.Path, a.status)
		}
		return
	}
	in := &openapi3filter.RequestValidationInput{Request: asked, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, ExcludeRequestBody: true,
			IncludeResponseStatus: true}}
	if a.status < 300 {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			s.t.Errorf("%s %s is answered although its description forbids it: %v", r.Method, r.URL, err)
		}
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: a.status, Header: a.header,
		Options: in.Options}
	out.Body = io.NopCloser(bytes.NewReader([]byte(a.body)))
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		s.t.Errorf("%s %s answers %d, not as described: %v\n%.500s", r.Method, r.URL, a.status, err, a.body)
	}
}

// Every address for programs is described, and nothing else is.
func TestTheDescriptionHasEveryRoute(t *testing.T) {
	s := newSite(t)
	doc, _ := description(t)
	var there, told []string
	for _, rt := range s.web.programTable() {
		there = append(there, rt.Method+" "+rt.Pattern)
	}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			told = append(told, method+" "+api.Path+path)
			if operation.OperationID == "" || operation.Summary == "" || operation.Responses.Default() == nil {
				t.Errorf("%s %s is not whole", method, path)
			}
		}
	}
	slices.Sort(there)
	slices.Sort(told)
	if !slices.Equal(there, told) {
		t.Errorf("answered:\n%s\ndescribed:\n%s", strings.Join(there, "\n"), strings.Join(told, "\n"))
	}
	if doc.OpenAPI != "3.1.0" || doc.Servers[0].URL != api.Path {
		t.Errorf("OpenAPI %s for %s", doc.OpenAPI, doc.Servers[0].URL)
	}
}

func TestTheDescriptionIsServedWithoutAToken(t *testing.T) {
	s := newSite(t)
	got := s.browser().get(api.Path + "/openapi.yaml").is(200)
	file, err := os.ReadFile("api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got.body != string(file) || got.header.Get("Content-Type") != "application/yaml; charset=utf-8" {
		t.Errorf("%q", got.header)
	}
}

// A description that answers cannot break proves nothing.
func TestTheDescriptionRefusesWrongAnswers(t *testing.T) {
	doc, _ := description(t)
	good := map[string]any{"type": "about:blank", "title": "x", "status": 404.0}
	schema := doc.Components.Schemas["Problem"].Value
	if err := schema.VisitJSON(good, openapi3.EnableJSONSchema2020()); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{"status": "404", "surprise": 1.0, "type": nil} {
		bad := map[string]any{"type": "about:blank", "title": "x", "status": 404.0}
		bad[name] = value
		if err := schema.VisitJSON(bad, openapi3.EnableJSONSchema2020()); err == nil {
			t.Errorf("%s = %v goes through", name, value)
		}
	}
}
