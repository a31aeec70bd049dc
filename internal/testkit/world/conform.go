package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"daybook/internal/httpapi"
)

// Documentation is a served documentation that answers are held against.
type Documentation struct {
	*openapi3.T
	found sync.Map // what Check returned, by what a schema sees of an answer
}

// documents keeps what was parsed by its bytes: services with equal settings
// share one.
var documents = struct {
	sync.Mutex
	parsed map[string]*Documentation
}{parsed: map[string]*Documentation{}}

// ReadDocumentation parses and validates the answer of /doc.
func ReadDocumentation(t testing.TB, served []byte) *Documentation {
	t.Helper()
	documents.Lock()
	defer documents.Unlock()
	documentation, known := documents.parsed[string(served)]
	if !known {
		doc, err := openapi3.NewLoader().LoadFromData(served)
		if err == nil {
			err = doc.Validate(context.WithoutCancel(t.Context()))
		}
		if err != nil {
			t.Fatalf("documentation: %v", err)
		}
		documentation = &Documentation{T: doc}
		documents.parsed[string(served)] = documentation
	}
	return documentation
}

// Document returns the documentation that the service serves.
func (world *World) Document() *Documentation {
	world.t.Helper()
	rec := httptest.NewRecorder()
	world.Handler.ServeHTTP(rec, httptest.NewRequestWithContext(world.t.Context(), http.MethodGet, Root+"/doc", nil))
	return ReadDocumentation(world.t, rec.Body.Bytes())
}

// What is no JSON is a text.
func init() {
	for _, media := range []string{"application/x-ndjson", "text/csv", "text/event-stream", "application/link-format", "text/calendar", "application/rss+xml", "application/atom+xml"} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.PlainBodyDecoder)
	}
	for _, media := range []string{"application/feed+json", "application/geo+json"} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.JSONBodyDecoder)
	}
}

// Check returns an error when an answer to a request is not what the documentation says.
// Bodies are not looked at: more spellings of a value are taken than are documented. Paths and
// methods that are not documented have the refusals of step 1 only. What stands
// outside of the namespace is not looked at. Answers that no schema tells apart are looked at
// once: it takes far longer than to make them.
func (documentation *Documentation) Check(request *http.Request, status int, header http.Header, body []byte) error {
	template := templateOf(request)
	if template == "" {
		return nil
	}
	like := fmt.Sprintln(request.Method, template, status, slices.Sorted(maps.Keys(header)), header.Get("Content-Type"), shape(string(body)))
	found, known := documentation.found.Load(like)
	if !known {
		found = documentation.check(request, template, status, header, body)
		documentation.found.Store(like, found)
	}
	err, _ := found.(error)
	return err
}

func (documentation *Documentation) check(request *http.Request, template string, status int, header http.Header, body []byte) error {
	item := documentation.Paths.Value(template)
	if item == nil || item.GetOperation(request.Method) == nil {
		if status != http.StatusNotFound && status != http.StatusMethodNotAllowed && status != http.StatusRequestURITooLong {
			return errors.New("an answer of an undocumented operation")
		}
		return nil
	}
	route := &routers.Route{Spec: documentation.T, Path: template, PathItem: item, Method: request.Method, Operation: item.GetOperation(request.Method)}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, Route: route},
		Status:                 status, Header: header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	input.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(request.Context(), input); err != nil {
		return fmt.Errorf("the answer is not as documented: %w", err)
	}
	documented := route.Operation.Responses.Status(status).Value.Headers
	for name := range header {
		if !slices.Contains(httpHeaders, name) && !slices.ContainsFunc(slices.Collect(maps.Keys(documented)), func(one string) bool { return strings.EqualFold(one, name) }) {
			return fmt.Errorf("the header %s is not documented", name)
		}
	}
	return nil
}

// httpHeaders are those that OpenAPI leaves to HTTP.
var httpHeaders = []string{"Content-Type", "Content-Length", "Date", "Connection"}

// templates are the paths of the documentation by the forms of paths, the first that fits.
var templates = []struct {
	form     *regexp.Regexp
	template string
}{
	{regexp.MustCompile(`^/([^/.]*)\.[^/]*$`), "/$1.{format}"},
	{regexp.MustCompile(`^/([^/]+)/[0-9]+$`), "/$1/{id}"},
	{regexp.MustCompile(`^/([^/]+)/[^/.]*\.[^/]*$`), "/$1/{id}.{format}"},
	{regexp.MustCompile(`^/([^/]+)/[^/]+/events\.[^/]*$`), "/$1/{id}/events.{format}"},
	{regexp.MustCompile(`^/([^/]+)/by-slug/[^/]*$`), "/$1/by-slug/{slug}"},
	{regexp.MustCompile(`^/tile/.*$`), "/tile/{level}/{tile}"},
	{regexp.MustCompile(`^/([^/]+)/[0-9]+/([^/]+)$`), "/$1/{id}/$2"},
}

var slashes = regexp.MustCompile("//+")

// templateOf returns the path of a request as the documentation has it, "" outside of the
// namespace.
func templateOf(request *http.Request) string {
	_, path, inside := strings.Cut(slashes.ReplaceAllString(request.URL.EscapedPath(), "/"), httpapi.Namespace)
	if !inside {
		return ""
	}
	path = "/" + strings.Trim(path, "/")
	for _, t := range templates {
		if t.form.MatchString(path) {
			return t.form.ReplaceAllString(path, t.template)
		}
	}
	return path
}
