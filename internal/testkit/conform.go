package testkit

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"daybook/internal/httpapi"
)

// documents keeps the parsed documentation by its bytes: Worlds with equal
// settings share one.
var documents = struct {
	sync.Mutex
	parsed map[string]*openapi3.T
}{parsed: map[string]*openapi3.T{}}

// Document gives the documentation that the service serves, parsed and
// validated.
func (w *World) Document() *openapi3.T {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.Handler.ServeHTTP(rec, httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, Root+"/doc", nil))
	documents.Lock()
	defer documents.Unlock()
	if doc := documents.parsed[rec.Body.String()]; doc != nil {
		return doc
	}
	doc, err := openapi3.NewLoader().LoadFromData(rec.Body.Bytes())
	if err != nil {
		w.t.Fatalf("load documentation: %v", err)
	}
	if err := doc.Validate(context.WithoutCancel(w.t.Context())); err != nil {
		w.t.Fatalf("documentation: %v", err)
	}
	documents.parsed[rec.Body.String()] = doc
	return doc
}

var slashes = regexp.MustCompile("//+")

// conforms fails the test when an answer is not what the documentation says.
// Paths and methods that are not documented have the refusals of step 1 only.
func (w *World) conforms(r *http.Request, res *Response) {
	w.t.Helper()
	_, path, known := strings.Cut(slashes.ReplaceAllString(r.URL.EscapedPath(), "/"), httpapi.Namespace)
	if !known {
		return
	}
	doc := w.Document()
	path = strings.TrimSuffix(path, "/")
	template, params := match(path)
	item := doc.Paths.Value(template)
	if item == nil || item.GetOperation(r.Method) == nil {
		if res.Status != http.StatusNotFound && res.Status != http.StatusMethodNotAllowed && res.Status != http.StatusRequestURITooLong {
			w.t.Errorf("%s: status %d of an undocumented operation", res.Request, res.Status)
		}
		return
	}
	route := &routers.Route{Spec: doc, Path: template, PathItem: item, Method: r.Method, Operation: item.GetOperation(r.Method)}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 res.Status, Header: res.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	input.SetBodyBytes(res.Body)
	if err := w.taken(route, r, res); err != nil {
		w.t.Errorf("%s: a body that was taken is not as documented: %v", res.Request, err)
	}
	if err := openapi3filter.ValidateResponse(w.t.Context(), input); err != nil {
		w.t.Errorf("%s: status %d: the answer is not as documented: %v", res.Request, res.Status, err)
	}
}

// taken holds a JSON body that a write took against the documentation: what can
// be sent has to stand there. A query may bring required fields, so bodies
// beside one are not looked at.
func (w *World) taken(route *routers.Route, r *http.Request, res *Response) error {
	if route.Operation.RequestBody == nil || res.Status >= http.StatusMultipleChoices || len(res.sent) == 0 ||
		r.URL.RawQuery != "" || r.Header.Get("Content-Type") != "application/json" {
		return nil
	}
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(strings.NewReader(res.sent))
	return openapi3filter.ValidateRequestBody(r.Context(), &openapi3filter.RequestValidationInput{
		Request: again, Route: route, Options: &openapi3filter.Options{},
	}, route.Operation.RequestBody.Value)
}

// match finds the template of a path below the namespace.
func match(path string) (template string, params map[string]string) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	switch {
	case path == "":
		return "/", nil
	case len(parts) == 1:
		return "/" + parts[0], nil
	case len(parts) == 2 && strings.Trim(parts[1], "0123456789") == "":
		return "/" + parts[0] + "/{id}", map[string]string{"id": parts[1]}
	case len(parts) == 3 && parts[1] == "by-slug":
		return "/" + parts[0] + "/by-slug/{slug}", map[string]string{"slug": parts[2]}
	default:
		return path, nil
	}
}
