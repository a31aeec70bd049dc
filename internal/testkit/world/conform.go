package world

import (
	"bytes"
	"cmp"
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
	"github.com/santhosh-tekuri/jsonschema/v6"

	"daybook/internal/httpapi"
)

// Documentation is a served documentation that answers are held against.
type Documentation struct {
	*openapi3.T
	paths   map[string]*regexp.Regexp // by their templates
	schemas *jsonschema.Compiler
	mutex   sync.Mutex
	known   map[string]answer // by all that answers have besides their bodies
}

// answer is what the documentation says about answers that differ in their bodies only.
type answer struct {
	err    error
	schema *jsonschema.Schema // nil: the body is no JSON
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
		documentation = &Documentation{paths: map[string]*regexp.Regexp{}, schemas: jsonschema.NewCompiler(), known: map[string]answer{}}
		documentation.schemas.AssertFormat()
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(served))
		if err == nil {
			err = documentation.schemas.AddResource(Base, value)
		}
		if err == nil {
			documentation.T, err = openapi3.NewLoader().LoadFromData(served)
		}
		if err == nil {
			err = documentation.Validate(context.WithoutCancel(t.Context()))
		}
		if err != nil {
			t.Fatalf("documentation: %v", err)
		}
		for template := range documentation.Paths.Map() {
			documentation.paths[template] = regexp.MustCompile("^/*" + pathParts.Replace(regexp.QuoteMeta(template)) + "/*$")
		}
		documents.parsed[string(served)] = documentation
	}
	return documentation
}

// pathParts are the forms of what is between slashes.
var pathParts = strings.NewReplacer("/", "/+", `\{id\}`, "[0-9]+", `\{slug\}`, "[^/]+", `\{level\}`, "[^/]*", `\{tile\}`, ".*", `\{format\}`, "[^/]*")

// Document returns the documentation that the service serves.
func (world *World) Document() *Documentation {
	world.t.Helper()
	recorder := httptest.NewRecorder()
	world.Handler.ServeHTTP(recorder, httptest.NewRequestWithContext(world.t.Context(), http.MethodGet, Root+"/doc", nil))
	return ReadDocumentation(world.t, recorder.Body.Bytes())
}

// Check returns an error when an answer to a request is not what the documentation says.
// Bodies of requests are not looked at: more spellings of a value are taken than are documented.
// Paths and methods that are not documented have the refusals of step 1 only. What stands
// outside of the namespace is not looked at. The values of headers are looked at once.
func (documentation *Documentation) Check(request *http.Request, status int, header http.Header, body []byte) error {
	_, path, inside := strings.Cut(request.URL.EscapedPath(), httpapi.Namespace)
	if !inside {
		return nil
	}
	template := ""
	for known, form := range documentation.paths {
		if form.MatchString("/" + path) {
			template = known
		}
	}
	like := fmt.Sprintln(request.Method, template, status, slices.Sorted(maps.Keys(header)), header.Get("Content-Type"))
	documentation.mutex.Lock()
	answer, known := documentation.known[like]
	if !known {
		answer.schema, answer.err = documentation.answer(request, template, status, header)
		documentation.known[like] = answer
	}
	documentation.mutex.Unlock()
	if answer.schema == nil {
		return answer.err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err == nil {
		err = answer.schema.Validate(value)
	}
	return err
}

// answer looks at all but the body of an answer, and returns the schema of that.
func (documentation *Documentation) answer(request *http.Request, template string, status int, header http.Header) (*jsonschema.Schema, error) {
	item := documentation.Paths.Value(template)
	if item == nil || item.GetOperation(request.Method) == nil {
		if status != http.StatusNotFound && status != http.StatusMethodNotAllowed && status != http.StatusRequestURITooLong {
			return nil, errors.New("an answer of an undocumented operation")
		}
		return nil, nil
	}
	route := &routers.Route{Spec: documentation.T, Path: template, PathItem: item, Method: request.Method, Operation: item.GetOperation(request.Method)}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, Route: route},
		Status:                 status, Header: header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: true},
	}
	if err := openapi3filter.ValidateResponse(request.Context(), input); err != nil {
		return nil, fmt.Errorf("the answer is not as documented: %w", err)
	}
	response := route.Operation.Responses.Status(status)
	for name := range header {
		if !slices.Contains(httpHeaders, name) && !slices.ContainsFunc(slices.Collect(maps.Keys(response.Value.Headers)), func(one string) bool { return strings.EqualFold(one, name) }) {
			return nil, fmt.Errorf("the header %s is not documented", name)
		}
	}
	media, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	switch {
	case response.Value.Content == nil:
		return nil, nil
	case response.Value.Content[media] == nil:
		return nil, fmt.Errorf("the content type %q is not documented", media)
	case !jsonMedia.MatchString(media):
		return nil, nil
	}
	escape := strings.NewReplacer("/", "~1").Replace
	at := cmp.Or(response.Ref, fmt.Sprintf("#/paths/%s/%s/responses/%d", escape(template), strings.ToLower(request.Method), status))
	return documentation.schemas.Compile(Base + at + "/content/" + escape(media) + "/schema")
}

var jsonMedia = regexp.MustCompile(`[/+]json$`)

// httpHeaders are those that OpenAPI leaves to HTTP.
var httpHeaders = []string{"Content-Type", "Content-Length", "Date", "Connection"}
