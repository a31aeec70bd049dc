package world

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"daybook/internal/httpapi"
)

// Documentation is a served documentation that answers are held against.
type Documentation struct {
	*openapi3.T
	sync.Mutex // of schemas

	paths   *chi.Mux
	schemas *jsonschema.Compiler
}

// documents are what answers are held against, by the names of totals: what else is set makes
// no difference to answers. It takes a while to read.
var documents = struct {
	sync.Mutex
	known map[string]*Documentation
}{known: map[string]*Documentation{}}

func (world *World) documentation() *Documentation {
	documents.Lock()
	defer documents.Unlock()
	key := fmt.Sprint(world.totals)
	if documents.known[key] == nil { // not that of the world, whose requests may be counted
		documents.known[key] = New(world, Options{HTTP: httpapi.Options{TotalHeaders: world.totals}}).Document()
	}
	return documents.known[key]
}

// Document returns the documentation that the service serves.
func (world *World) Document() *Documentation {
	recorder := httptest.NewRecorder()
	world.Handler.ServeHTTP(recorder, httptest.NewRequestWithContext(world.Context(), http.MethodGet, Root+"/doc", nil))
	documentation := &Documentation{paths: chi.NewMux(), schemas: jsonschema.NewCompiler()}
	documentation.schemas.AssertFormat()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(recorder.Body.Bytes()))
	must(world, err)
	must(world, documentation.schemas.AddResource(Base, value))
	documentation.T, err = openapi3.NewLoader().LoadFromData(recorder.Body.Bytes())
	must(world, err)
	must(world, documentation.Validate(world.Context()))
	for template := range documentation.Paths.Map() {
		documentation.paths.HandleFunc(strings.Replace(template, "{tile}", "*", 1), http.NotFound)
	}
	return documentation
}

// Check returns an error when an answer to a request is not what the documentation says.
// Bodies of requests are not looked at: more spellings of a value are taken than are documented.
// Paths and methods that are not documented have the refusals of step 1 only. What stands
// outside of the usual roots is not looked at, nor are compressed bodies.
func (documentation *Documentation) Check(request *http.Request, response *Response) error {
	before, below, inside := strings.Cut(request.URL.Path, httpapi.Namespace)
	if !inside || !slices.Contains([]string{"/api/", "/fr/api/", "/es/api/", "/cn/api/"}, before) {
		return nil
	}
	segments := strings.FieldsFunc(below, func(letter rune) bool { return letter == '/' })
	template := strings.Replace(documentation.paths.Find(chi.NewRouteContext(), http.MethodGet, "/"+strings.Join(segments, "/")), "*", "{tile}", 1)
	operation := cmp.Or(documentation.Paths.Value(template), &openapi3.PathItem{}).Operations()[request.Method]
	if operation == nil {
		if slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestURITooLong, http.StatusTooManyRequests}, response.Status) {
			return nil
		}
		return errors.New("an answer of an undocumented operation")
	}
	reference := operation.Responses.Status(response.Status)
	if reference == nil {
		return errors.New("the status is not documented")
	}
	escape := strings.NewReplacer("/", "~1").Replace
	at := cmp.Or(reference.Ref, fmt.Sprintf("#/paths/%s/%s/responses/%d", escape(template), strings.ToLower(request.Method), response.Status))
	unknown := maps.Clone(response.Header)
	for _, name := range []string{"Content-Type", "Content-Length", "Date", "Connection", "Warning", "X-Robots-Tag"} { // of HTTP, and of settings
		delete(unknown, name)
	}
	for name, header := range reference.Value.Headers {
		delete(unknown, http.CanonicalHeaderKey(name))
		text := response.Header.Get(name)
		if _, err := strconv.Atoi(text); err != nil && text != "" && header.Value.Schema.Value.Type.Is("integer") {
			return fmt.Errorf("the header %s is no number: %w", name, err)
		}
	}
	media, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	content := reference.Value.Content
	switch {
	case len(unknown) > 0:
		return fmt.Errorf("headers that are not documented: %v", unknown)
	case content == nil:
		return nil
	case content[media] == nil:
		return fmt.Errorf("the content type %q is not documented", media)
	case !jsonMedia.MatchString(media) || response.Header.Get("Content-Encoding") != "":
		return nil
	}
	documentation.Lock()
	schema, err := documentation.schemas.Compile(Base + at + "/content/" + escape(media) + "/schema")
	documentation.Unlock()
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(response.Body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

var jsonMedia = regexp.MustCompile(`[/+]json$`)
