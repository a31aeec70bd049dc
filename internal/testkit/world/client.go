package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"daybook/calendar"
)

// Client sends requests as one user under one root. What fails is reported to its test.
type Client struct {
	testing.TB

	User  calendar.ID // 0 for nobody
	Name  string
	Token string

	world  *World
	root   string
	header http.Header
}

// Under gives a client of the same user under the root of a language.
func (client *Client) Under(language calendar.Lang) *Client {
	result := *client
	result.root = strings.TrimPrefix("/"+language.String(), "/en") + Root
	return &result
}

// With gives a client that sends further headers: names and values by turns.
func (client *Client) With(pairs ...string) *Client {
	result := *client
	result.header = client.header.Clone()
	for pair := range slices.Chunk(pairs, 2) {
		result.header.Set(pair[0], pair[1])
	}
	return &result
}

// In gives a client for a subtest.
func (client *Client) In(t testing.TB) *Client {
	result := *client
	result.TB = t
	return &result
}

// Object is a JSON object to send.
type Object = map[string]any

// Do sends a request. A path below the root begins with "/" and stands after
// {root}; one that begins with "//" is taken as it is, without the first slash.
// body is nil, a text that is sent as JSON as it stands, url.Values for a form,
// or any value that is encoded as JSON.
func (client *Client) Do(method, path string, body any) *Response {
	client.Helper()
	target := client.root + path
	if strings.HasPrefix(path, "//") {
		target = path[1:]
	}
	sent, contentType := "", "application/json"
	switch body := body.(type) {
	case nil:
		contentType = ""
	case string:
		sent = body
	case url.Values:
		sent, contentType = body.Encode(), "application/x-www-form-urlencoded"
	default:
		sent = JSON(client.TB, body)
	}
	request := httptest.NewRequestWithContext(client.Context(), method, target, strings.NewReader(sent))
	request.Host = "calendar.example.org"
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	maps.Copy(request.Header, client.header)
	recorder := httptest.NewRecorder()
	client.world.Handler.ServeHTTP(recorder, request)
	response := &Response{TB: client.TB, Request: client.Name + ": " + method + " " + target, Status: recorder.Code, Header: recorder.Header(), Body: recorder.Body.Bytes()}
	if !client.world.unchecked {
		if err := client.world.documentation().Check(request, response); err != nil {
			client.Errorf("%s: status %d: %v", response.Request, response.Status, err)
		}
	}
	return response
}

// JSON returns a value as JSON.
func JSON(t testing.TB, value any) string {
	t.Helper()
	encoded, err := json.Marshal(value)
	must(t, err)
	return string(encoded)
}

// Get reads a path.
func (client *Client) Get(path string) *Response {
	client.Helper()
	return client.Do(http.MethodGet, path, nil)
}

// Read reads a path and wants 200.
func (client *Client) Read(path string) *Response {
	client.Helper()
	return client.Get(path).Want(http.StatusOK)
}

// Post sends a body to a path.
func (client *Client) Post(path string, body any) *Response {
	client.Helper()
	return client.Do(http.MethodPost, path, body)
}

// Update patches a path and wants 200.
func (client *Client) Update(path string, body any) *Response {
	client.Helper()
	return client.Do(http.MethodPatch, path, body).Want(http.StatusOK)
}

// Create posts to a collection, wants 201, and returns the answer.
func (client *Client) Create(kind calendar.Kind, body any) *Response {
	client.Helper()
	return client.Post("/"+kind.Collection(), body).Want(http.StatusCreated)
}

// Event makes an event with a title, of two hours in ten days, and further
// fields; it returns the answer.
func (client *Client) Event(title string, more Object) *Response {
	client.Helper()
	day := client.world.Clock.Now().AddDate(0, 0, 10).Format("2006-01-02")
	body := Object{"title": title, "start_date": day + " 10:00:00", "end_date": day + " 12:00:00"}
	maps.Copy(body, more)
	return client.Create(calendar.KindEvent, body)
}

// Response is an answer.
type Response struct {
	testing.TB

	Request string // user, method and path, for messages
	Status  int
	Header  http.Header
	Body    []byte
}

// Want fails the test when the status is another one.
func (response *Response) Want(status int) *Response {
	response.Helper()
	if response.Status != status {
		response.Fatalf("%s: status %d, want %d\n%s", response.Request, response.Status, status, response.Body)
	}
	return response
}

// WantCode fails the test unless the answer is an error with a status and code.
func (response *Response) WantCode(status int, code string) *Response {
	response.Helper()
	return response.Want(status).WantField("code", code).WantField("data.status", status)
}

// WantBad fails the test unless the answer is 400 rest_invalid_param that names
// just these fields.
func (response *Response) WantBad(fields ...string) *Response {
	response.Helper()
	response.WantCode(http.StatusBadRequest, "rest_invalid_param")
	params := at[map[string]any](response, "data.params")
	slices.Sort(fields)
	if !slices.Equal(slices.Sorted(maps.Keys(params)), fields) {
		response.Fatalf("%s: refused params %v, want %v", response.Request, params, fields)
	}
	return response
}

// WantField fails the test when the value at a path is another one in JSON.
func (response *Response) WantField(path string, want any) *Response {
	response.Helper()
	if got, want := JSON(response, response.Get(path)), JSON(response, want); got != want {
		response.Errorf("%s: %s = %s, want %s\n%s", response.Request, path, got, want, response.Body)
	}
	return response
}

// Lookup returns the value at a path ("venue.id", "events.0.title"), and whether it is there.
func (response *Response) Lookup(path string) (any, bool) {
	response.Helper()
	var value any
	if err := json.Unmarshal(response.Body, &value); err != nil {
		response.Fatalf("%s: answer is no JSON: %v\n%s", response.Request, err, response.Body)
	}
	return lookup(value, path)
}

// lookup returns the value at a path of keys and indexes in decoded JSON, and whether it is
// there; "*" are all elements of a list, "#" is their number, "." the whole.
func lookup(value any, path string) (any, bool) {
	if path == "" || path == "." {
		return value, true
	}
	key, rest, _ := strings.Cut(path, ".")
	switch value := value.(type) {
	case map[string]any:
		if inner, ok := value[key]; ok {
			return lookup(inner, rest)
		}
	case []any:
		i, err := strconv.Atoi(key)
		switch {
		case key == "#":
			return float64(len(value)), true
		case key == "*":
			all := make([]any, len(value))
			for i := range value {
				all[i], _ = lookup(value[i], rest)
			}
			return all, true
		case err == nil && i >= 0 && i < len(value):
			return lookup(value[i], rest)
		}
	}
	return nil, false
}

// Get returns the value at a path; a missing one fails the test.
func (response *Response) Get(path string) any {
	response.Helper()
	value, ok := response.Lookup(path)
	if !ok {
		response.Fatalf("%s: no %s in the answer\n%s", response.Request, path, response.Body)
	}
	return value
}

// Has reports whether there is a value at a path.
func (response *Response) Has(path string) bool {
	response.Helper()
	_, ok := response.Lookup(path)
	return ok
}

// String returns the text at a path.
func (response *Response) String(path string) string {
	response.Helper()
	return at[string](response, path)
}

// Int returns the whole number at a path.
func (response *Response) Int(path string) int {
	response.Helper()
	return int(at[float64](response, path))
}

// at returns the value at a path; another kind of value fails the test.
func at[T any](response *Response, path string) T {
	response.Helper()
	value, ok := response.Get(path).(T)
	if !ok {
		response.Fatalf("%s: %s is no %T\n%s", response.Request, path, value, response.Body)
	}
	return value
}

// ID returns the id of the record.
func (response *Response) ID() calendar.ID {
	response.Helper()
	return calendar.ID(response.Int("id"))
}

// collections finds the collection in a request: the last one, as the root has such a word.
var collections = regexp.MustCompile(`^[^?]*/(events|venues|organizers|categories|tags)\b`)

// Collection is that of the records of the answer, by the path of the request.
func (response *Response) Collection() string {
	return collections.FindStringSubmatch(response.Request)[1]
}

// Path gives "/<collection>/<id>" of the record that the answer holds.
func (response *Response) Path() string {
	response.Helper()
	return fmt.Sprintf("/%s/%d", response.Collection(), response.ID())
}

// IDs returns the ids of the records of a list.
func (response *Response) IDs() (ids []calendar.ID) {
	response.Helper()
	for _, id := range at[[]any](response, response.Collection()+".*.id") {
		ids = append(ids, calendar.ID(id.(float64)))
	}
	return ids
}

// ETag returns the entity tag.
func (response *Response) ETag() string { return response.Header.Get("ETag") }

// Position gives Daybook-Position.
func (response *Response) Position() (position calendar.Position) {
	response.Helper()
	_, err := fmt.Sscan(response.Header.Get("Daybook-Position"), &position)
	must(response, err)
	return position
}
