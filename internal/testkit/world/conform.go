package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"daybook/internal/httpapi"
)

// Documentation is a served documentation that answers are held against.
type Documentation struct{ *openapi3.T }

// documents keeps what was parsed by its bytes: services with equal settings
// share one.
var documents = struct {
	sync.Mutex
	parsed map[string]Documentation
}{parsed: map[string]Documentation{}}

// ReadDocumentation parses and validates the answer of /doc.
func ReadDocumentation(ctx context.Context, served []byte) (Documentation, error) {
	documents.Lock()
	defer documents.Unlock()
	if d, known := documents.parsed[string(served)]; known {
		return d, nil
	}
	doc, err := openapi3.NewLoader().LoadFromData(served)
	if err != nil {
		return Documentation{}, fmt.Errorf("load documentation: %w", err)
	}
	if err := doc.Validate(context.WithoutCancel(ctx)); err != nil {
		return Documentation{}, fmt.Errorf("documentation: %w", err)
	}
	documents.parsed[string(served)] = Documentation{doc}
	return Documentation{doc}, nil
}

// Document gives the documentation that the service serves.
func (w *World) Document() Documentation {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.Handler.ServeHTTP(rec, httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, Root+"/doc", nil))
	d, err := ReadDocumentation(w.t.Context(), rec.Body.Bytes())
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// conforms fails the test when an answer is not what the documentation says. Answers that
// no schema tells apart are looked at once: it takes far longer than to make them.
func (w *World) conforms(r *http.Request, res *Response) {
	w.t.Helper()
	_, path, inside := strings.Cut(slashes.ReplaceAllString(r.URL.EscapedPath(), "/"), httpapi.Namespace)
	if !inside {
		return
	}
	template, _ := match(strings.TrimSuffix(path, "/"))
	like := fmt.Sprintln(r.Method, template, r.URL.RawQuery == "", r.Header.Get("Content-Type"), res.Status,
		slices.Sorted(maps.Keys(res.Header)), res.Header.Get("Content-Type"), shape(res.sent), shape(string(res.Body)))
	if _, known := w.like.LoadOrStore(like, true); known {
		return
	}
	if err := w.document().Check(r, res.sent, res.Status, res.Header, res.Body); err != nil {
		w.t.Errorf("%s: status %d: %v", res.Request, res.Status, err)
	}
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

var slashes = regexp.MustCompile("//+")

// Check gives an error when an answer to a request, or a body that was taken, is
// not what the documentation says. sent is the body of the request. Paths and
// methods that are not documented have the refusals of step 1 only. What stands
// outside of the namespace is not looked at.
func (d Documentation) Check(r *http.Request, sent string, status int, header http.Header, body []byte) error {
	_, path, known := strings.Cut(slashes.ReplaceAllString(r.URL.EscapedPath(), "/"), httpapi.Namespace)
	if !known {
		return nil
	}
	template, params := match(strings.TrimSuffix(path, "/"))
	item := d.Paths.Value(template)
	if item == nil || item.GetOperation(r.Method) == nil {
		if status != http.StatusNotFound && status != http.StatusMethodNotAllowed && status != http.StatusRequestURITooLong {
			return errors.New("an answer of an undocumented operation")
		}
		return nil
	}
	// Formats that parameters and headers ask for stand at the path with the ending.
	ended := d.Paths.Value(strings.ReplaceAll(template, "by-slug/{slug}", "{id}") + ".{format}")
	if media, _, _ := mime.ParseMediaType(header.Get("Content-Type")); status == http.StatusOK && ended != nil && media != "application/json" && ended.GetOperation(r.Method) != nil {
		item = ended
	}
	route := &routers.Route{Spec: d.T, Path: template, PathItem: item, Method: r.Method, Operation: item.GetOperation(r.Method)}
	if err := taken(route, r, sent, status); err != nil {
		return fmt.Errorf("a body that was taken is not as documented: %w", err)
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 status, Header: header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	input.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(r.Context(), input); err != nil {
		return fmt.Errorf("the answer is not as documented: %w", err)
	}
	return nil
}

// Admits gives an error when the documentation does not admit a JSON body of a
// POST to a collection ("/events").
func (d Documentation) Admits(ctx context.Context, collection, body string) error {
	item := d.Paths.Value(collection)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, collection, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	return openapi3filter.ValidateRequestBody(ctx, &openapi3filter.RequestValidationInput{
		Request: r, Route: &routers.Route{Spec: d.T, Path: collection, PathItem: item, Method: r.Method, Operation: item.Post},
		Options: &openapi3filter.Options{},
	}, item.Post.RequestBody.Value)
}

// taken holds a JSON body that a write took against the documentation: what can
// be sent has to stand there. A query may bring required fields, so bodies
// beside one are not looked at.
func taken(route *routers.Route, r *http.Request, sent string, status int) error {
	if route.Operation.RequestBody == nil || status >= http.StatusMultipleChoices || sent == "" ||
		r.URL.RawQuery != "" || r.Header.Get("Content-Type") != "application/json" {
		return nil
	}
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(strings.NewReader(sent))
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
		if before, ending, ended := strings.Cut(parts[0], "."); ended {
			return "/" + before + ".{format}", map[string]string{"format": ending}
		}
		return "/" + parts[0], nil
	case len(parts) == 2 && strings.Trim(parts[1], "0123456789") == "":
		return "/" + parts[0] + "/{id}", map[string]string{"id": parts[1]}
	case len(parts) == 2 && strings.Contains(parts[1], "."):
		id, ending, _ := strings.Cut(parts[1], ".")
		return "/" + parts[0] + "/{id}.{format}", map[string]string{"id": id, "format": ending}
	case len(parts) == 3 && strings.HasPrefix(parts[2], "events."):
		return "/" + parts[0] + "/{id}/events.{format}", map[string]string{"id": parts[1], "format": strings.TrimPrefix(parts[2], "events.")}
	case len(parts) == 3 && parts[0] != "tile" && strings.Trim(parts[1], "0123456789") == "":
		return "/" + parts[0] + "/{id}/" + parts[2], map[string]string{"id": parts[1]}
	case len(parts) == 3 && parts[1] == "by-slug":
		return "/" + parts[0] + "/by-slug/{slug}", map[string]string{"slug": parts[2]}
	case parts[0] == "tile" && len(parts) > 1:
		return "/tile/{level}/{tile}", map[string]string{"level": parts[1], "tile": strings.Join(parts[2:], "/")}
	default:
		return path, nil
	}
}
