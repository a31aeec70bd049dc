package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"daybook/calendar"
)

// Client sends requests as one user under one root.
type Client struct {
	User  calendar.ID // 0 for nobody
	Name  string
	Token string

	w      *World
	root   string
	header http.Header
}

// Under gives a client of the same user under the root of a language.
func (c *Client) Under(lang calendar.Lang) *Client {
	out := *c
	out.root = strings.TrimPrefix("/"+lang.String(), "/en") + Root
	return &out
}

// With gives a client that sends further headers: names and values by turns.
func (c *Client) With(pairs ...string) *Client {
	out := *c
	out.header = c.header.Clone()
	for i := 0; i+1 < len(pairs); i += 2 {
		out.header.Add(pairs[i], pairs[i+1])
	}
	return &out
}

// In gives a client for a subtest: what fails is reported there.
func (c *Client) In(t testing.TB) *Client {
	out, world := *c, *c.w
	world.t = t
	out.w = &world
	return &out
}

// Object is a JSON object to send.
type Object = map[string]any

// Do sends a request. A path below the root begins with "/" and stands after
// {root}; one that begins with "//" is taken as it is, without the first slash.
// body is nil, a text that is sent as JSON as it stands, url.Values for a form,
// or any value that is encoded as JSON.
func (c *Client) Do(method, path string, body any) *Response {
	c.w.t.Helper()
	target := c.root + path
	if strings.HasPrefix(path, "//") {
		target = path[1:]
	}
	sent, contentType := "", "application/json"
	switch b := body.(type) {
	case nil:
		contentType = ""
	case string:
		sent = b
	case url.Values:
		sent, contentType = b.Encode(), "application/x-www-form-urlencoded"
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			c.w.t.Fatal(err)
		}
		sent = string(encoded)
	}
	request := httptest.NewRequestWithContext(c.w.t.Context(), method, target, strings.NewReader(sent))
	request.Host = "calendar.example.org"
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	maps.Copy(request.Header, c.header)
	rec := httptest.NewRecorder()
	c.w.Handler.ServeHTTP(rec, request)
	out := &Response{
		t: c.w.t, Request: method + " " + target, Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes(), sent: sent,
	}
	if !c.w.unchecked {
		c.w.conforms(request, out)
	}
	return out
}

// Get reads a path.
func (c *Client) Get(path string) *Response {
	c.w.t.Helper()
	return c.Do(http.MethodGet, path, nil)
}

// Read reads a path and wants 200.
func (c *Client) Read(path string) *Response {
	c.w.t.Helper()
	return c.Get(path).Want(http.StatusOK)
}

// Post sends a body to a path.
func (c *Client) Post(path string, body any) *Response {
	c.w.t.Helper()
	return c.Do(http.MethodPost, path, body)
}

// Patch sends a body to a path.
func (c *Client) Patch(path string, body any) *Response {
	c.w.t.Helper()
	return c.Do(http.MethodPatch, path, body)
}

// Update patches a path and wants 200.
func (c *Client) Update(path string, body any) *Response {
	c.w.t.Helper()
	return c.Patch(path, body).Want(http.StatusOK)
}

// Delete deletes a path.
func (c *Client) Delete(path string) *Response {
	c.w.t.Helper()
	return c.Do(http.MethodDelete, path, nil)
}

// Create posts to a collection, wants 201, and returns the answer.
func (c *Client) Create(kind calendar.Kind, body any) *Response {
	c.w.t.Helper()
	return c.Post("/"+kind.Collection(), body).Want(http.StatusCreated)
}

// Event makes an event with a title, of two hours in ten days, and further
// fields; it returns the answer.
func (c *Client) Event(title string, more Object) *Response {
	c.w.t.Helper()
	day := c.w.Clock.Now().AddDate(0, 0, 10).Format("2006-01-02")
	body := Object{"title": title, "start_date": day + " 10:00:00", "end_date": day + " 12:00:00"}
	maps.Copy(body, more)
	return c.Create(calendar.KindEvent, body)
}

// Response is an answer.
type Response struct {
	Request string // method and path, for messages
	Status  int
	Header  http.Header
	Body    []byte

	t     testing.TB
	sent  string // the request's body
	value any
}

// Want fails the test when the status is another one.
func (r *Response) Want(status int) *Response {
	r.t.Helper()
	if r.Status != status {
		r.t.Fatalf("%s: status %d, want %d\n%s", r.Request, r.Status, status, r.Body)
	}
	return r
}

// WantCode fails the test unless the answer is an error with a status and code.
func (r *Response) WantCode(status int, code string) *Response {
	r.t.Helper()
	return r.Want(status).WantField("code", code).WantField("data.status", status)
}

// WantBad fails the test unless the answer is 400 rest_invalid_param that names
// just these fields.
func (r *Response) WantBad(fields ...string) *Response {
	r.t.Helper()
	r.WantCode(http.StatusBadRequest, "rest_invalid_param")
	params := at[map[string]any](r, "data.params")
	if !slices.Equal(slices.Sorted(maps.Keys(params)), slices.Sorted(slices.Values(fields))) {
		r.t.Fatalf("%s: refused params %v, want %v", r.Request, params, fields)
	}
	return r
}

// WantField fails the test when the value at a path is another one. Numbers are
// compared as float64, lists as []any.
func (r *Response) WantField(path string, want any) *Response {
	r.t.Helper()
	if n := reflect.ValueOf(want); n.CanInt() {
		want = float64(n.Int())
	}
	if got := r.Get(path); !reflect.DeepEqual(got, want) {
		r.t.Fatalf("%s: %s = %#v, want %#v\n%s", r.Request, path, got, want, r.Body)
	}
	return r
}

// JSON returns the whole answer, decoded.
func (r *Response) JSON() any {
	r.t.Helper()
	if r.value == nil {
		if err := json.Unmarshal(r.Body, &r.value); err != nil {
			r.t.Fatalf("%s: answer is no JSON: %v\n%s", r.Request, err, r.Body)
		}
	}
	return r.value
}

// Lookup returns the value at a path ("venue.id", "events.0.title"), and whether it is there.
func (r *Response) Lookup(path string) (any, bool) {
	r.t.Helper()
	return Lookup(r.JSON(), path)
}

// Lookup returns the value at a path of keys and indexes in decoded JSON, and whether it is
// there; "*" are all elements of a list, "#" is their number, "." the whole.
func Lookup(value any, path string) (any, bool) {
	if path == "" || path == "." {
		return value, true
	}
	key, rest, _ := strings.Cut(path, ".")
	switch value := value.(type) {
	case map[string]any:
		if inner, ok := value[key]; ok {
			return Lookup(inner, rest)
		}
	case []any:
		i, err := strconv.Atoi(key)
		switch {
		case key == "#":
			return float64(len(value)), true
		case key == "*":
			all := make([]any, len(value))
			for i := range value {
				all[i], _ = Lookup(value[i], rest)
			}
			return all, true
		case err == nil && i >= 0 && i < len(value):
			return Lookup(value[i], rest)
		}
	}
	return nil, false
}

// Get returns the value at a path; a missing one fails the test.
func (r *Response) Get(path string) any {
	r.t.Helper()
	value, ok := r.Lookup(path)
	if !ok {
		r.t.Fatalf("%s: no %s in the answer\n%s", r.Request, path, r.Body)
	}
	return value
}

// Has reports whether there is a value at a path.
func (r *Response) Has(path string) bool {
	r.t.Helper()
	_, ok := r.Lookup(path)
	return ok
}

// String returns the text at a path.
func (r *Response) String(path string) string {
	r.t.Helper()
	return at[string](r, path)
}

// Int returns the whole number at a path.
func (r *Response) Int(path string) int {
	r.t.Helper()
	return int(at[float64](r, path))
}

// Len returns the length of the list at a path.
func (r *Response) Len(path string) int {
	r.t.Helper()
	return len(at[[]any](r, path))
}

// at returns the value at a path; another kind of value fails the test.
func at[T any](response *Response, path string) T {
	response.t.Helper()
	value, ok := response.Get(path).(T)
	if !ok {
		response.t.Fatalf("%s: %s is no %T\n%s", response.Request, path, value, response.Body)
	}
	return value
}

// ID returns the id of the record.
func (r *Response) ID() calendar.ID {
	r.t.Helper()
	return calendar.ID(r.Int("id"))
}

// Path gives "/<collection>/<id>" of the record that the answer holds.
func (r *Response) Path(kind calendar.Kind) string {
	r.t.Helper()
	return fmt.Sprintf("/%s/%d", kind.Collection(), r.ID())
}

// IDs returns the ids of the records of a list.
func (r *Response) IDs(kind calendar.Kind) []calendar.ID {
	r.t.Helper()
	out := make([]calendar.ID, r.Len(kind.Collection()))
	for i := range out {
		out[i] = calendar.ID(r.Int(fmt.Sprintf("%s.%d.id", kind.Collection(), i)))
	}
	return out
}

// ETag returns the entity tag.
func (r *Response) ETag() string { return r.Header.Get("ETag") }

// Position gives Daybook-Position.
func (r *Response) Position() calendar.Position {
	r.t.Helper()
	n, err := strconv.ParseUint(r.Header.Get("Daybook-Position"), 10, 64)
	if err != nil {
		r.t.Fatalf("%s: Daybook-Position: %v", r.Request, err)
	}
	return calendar.Position(n)
}
