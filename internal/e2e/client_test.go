package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/internal/testkit/world"
)

// obj is a JSON object, list a JSON array.
type (
	obj  = map[string]any
	list = []any
)

// root is the path of the English root.
const root = "/api/calendar/events/v1"

// caller sends requests to a service as one user under one root.
type caller struct {
	t      *testing.T
	svc    *service
	name   string // "" for nobody
	root   string
	header http.Header
}

// as gives a caller by the name of a user; "" is no one.
func (s *service) as(t *testing.T, name string) *caller {
	t.Helper()
	if _, known := s.users[name]; !known {
		t.Fatalf("no user %q", name)
	}
	c := &caller{t: t, svc: s, name: name, root: root, header: http.Header{}}
	if name != "" {
		c.header.Set("Authorization", "Bearer "+s.users[name].token)
	}
	return c
}

// under returns the same caller under the root of a language.
func (c *caller) under(language string) *caller {
	out := *c
	out.root = root
	if language != "en" {
		out.root = "/" + language + root
	}
	return &out
}

// with gives a caller that sends further headers: names and values by turns.
func (c *caller) with(pairs ...string) *caller {
	out := *c
	out.header = c.header.Clone()
	for i := 0; i+1 < len(pairs); i += 2 {
		out.header.Set(pairs[i], pairs[i+1])
	}
	return &out
}

// collectionNamed finds the collection in a URL: the last one, as the root has such a word.
var collectionNamed = regexp.MustCompile(`^[^?]*/(events|venues|organizers|categories|tags)\b`)

// raw is a body with its media type.
type raw struct{ media, text string }

// do sends a request to a record that was answered, or to a path below {root}; one that
// begins with "=" is taken from the service's own root, without the sign. body is nil, raw,
// url.Values for a form, or any value that is encoded as JSON.
func (c *caller) do(method string, to, body any) *answer {
	c.t.Helper()
	path, isPath := to.(string)
	if !isPath {
		path = to.(*answer).path()
	}
	target := c.svc.url + c.root + path
	if strings.HasPrefix(path, "=") {
		target = c.svc.url + path[1:]
	}
	var sent raw
	switch b := body.(type) {
	case nil:
	case raw:
		sent = b
	case url.Values:
		sent = raw{"application/x-www-form-urlencoded", b.Encode()}
	default:
		sent = raw{"application/json", plainText(c.t, b)}
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, target, strings.NewReader(sent.text))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = c.header.Clone()
	if sent.media != "" {
		r.Header.Set("Content-Type", sent.media)
	}
	a := c.svc.exchange(c.t, r)
	a.request = method + " " + path
	if named := collectionNamed.FindStringSubmatch(target); named != nil {
		a.collection = named[1]
	}
	if c.name != "" {
		a.request = c.name + ": " + a.request
	}
	return a
}

// exchange sends a request to the service; some answers are held against the documentation.
func (s *service) exchange(t *testing.T, r *http.Request) *answer {
	t.Helper()
	// What a test has written is in the lists of no one, too.
	if _, asked := r.Header["Daybook-Min-Position"]; !asked && r.Header.Get("Authorization") == "" {
		r.Header.Set("Daybook-Min-Position", s.positionText())
	}
	r.Host = r.Header.Get("Host")
	res, err := s.client.Do(r)
	must(t, err)
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	must(t, err)
	a := &answer{t: t, request: r.Method + " " + r.URL.Path, status: res.StatusCode, header: res.Header, body: content}
	if s.toCheck(r, a.status) {
		if err := s.documentation().Check(r, a.status, a.header, a.plain()); err != nil {
			t.Errorf("%s: status %d: %v", a.request, a.status, err)
		}
	}
	if n, err := strconv.ParseUint(res.Header.Get("Daybook-Position"), 10, 64); err == nil && r.Method != http.MethodGet {
		s.reached(n)
	}
	return a
}

// world returns the service as plays know it.
func (s *service) world(t *testing.T) *world.World {
	t.Helper()
	tokens := map[string]string{}
	for name, u := range s.users {
		if role, second := strings.CutSuffix(name, "2"); second {
			name = "other-" + role
		}
		tokens[name] = u.token
	}
	return world.Over(t, http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		r, err := http.NewRequestWithContext(in.Context(), in.Method, s.url+in.RequestURI, in.Body)
		must(t, err)
		r.Header, r.ContentLength = in.Header, in.ContentLength
		a := s.exchange(t, r)
		maps.Copy(w.Header(), a.header)
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
	}), s.clock, s.url, tokens)
}

// toCheck reports whether an answer is to be held against the documentation: that
// takes longer than the request, so of each operation and status some.
func (s *service) toCheck(request *http.Request, status int) bool {
	const some = 2
	path := request.URL.EscapedPath()
	at := strings.Index(path, root)
	if at != 0 && (at != 3 || !strings.Contains("/cn/es/fr", path[:at])) || strings.Contains(path, "%") {
		return false
	}
	path = regexp.MustCompile(`/\d+|/by-slug/[^/]+`).ReplaceAllString(path[at:], "/*")
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprint(request.Method, path, status)
	s.checked[key]++
	return s.checked[key] <= some
}

// reached notes the position of a write.
func (s *service) reached(n uint64) {
	for {
		old := s.position.Load()
		if n <= old || s.position.CompareAndSwap(old, n) {
			return
		}
	}
}

func (c *caller) get(to any) *answer {
	c.t.Helper()
	return c.do(http.MethodGet, to, nil)
}

func (c *caller) post(to, body any) *answer {
	c.t.Helper()
	return c.do(http.MethodPost, to, body)
}

func (c *caller) patch(to, body any) *answer {
	c.t.Helper()
	return c.do(http.MethodPatch, to, body)
}

func (c *caller) delete(to any) *answer {
	c.t.Helper()
	return c.do(http.MethodDelete, to, nil)
}

// remove deletes a record and wants 200.
func (c *caller) remove(to any) *answer {
	c.t.Helper()
	return c.delete(to).want(200)
}

// create posts to a collection and wants 201.
func (c *caller) create(collection string, body any) *answer {
	c.t.Helper()
	return c.post("/"+collection, body).want(201)
}

// add makes a record of a collection that has nothing but a name.
func (c *caller) add(collection, name string) *answer {
	c.t.Helper()
	return c.create(collection, body(collection, name, nil))
}

// event makes an event on 2026-06-10, 10:00 to 12:00, with further fields.
func (c *caller) event(title string, more obj) *answer {
	c.t.Helper()
	return c.create("events", eventBody(title, more))
}

func eventBody(title string, more obj) obj {
	body := obj{"title": title, "start_date": "2026-06-10 10:00:00", "end_date": "2026-06-10 12:00:00"}
	maps.Copy(body, more)
	return body
}

// update patches a record and wants 200.
func (c *caller) update(to, body any) *answer {
	c.t.Helper()
	return c.patch(to, body).want(200)
}

// read gets a record and wants 200.
func (c *caller) read(to any) *answer {
	c.t.Helper()
	return c.get(to).want(200)
}

// list asks for a list with parameters, names and values by turns, and wants
// 200.
func (c *caller) list(collection string, params ...string) *answer {
	c.t.Helper()
	return c.get("/" + collection + pairs(params...)).want(200)
}

// query makes a query string of names and values by turns.
func pairs(params ...string) string {
	if len(params) == 0 {
		return ""
	}
	var builder strings.Builder
	for i := 0; i+1 < len(params); i += 2 {
		if builder.Len() > 0 {
			builder.WriteByte('&')
		}
		builder.WriteString(url.QueryEscape(params[i]) + "=" + url.QueryEscape(params[i+1]))
	}
	return "?" + builder.String()
}

// answer is what came back.
type answer struct {
	t          *testing.T
	request    string // for messages
	collection string // that the request named, "" for none
	status     int
	header     http.Header
	body       []byte
	decode     sync.Once // writers side by side may look at one answer
	value      any
}

// want fails the test when the status is another one.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: status %d, want %d\n%s", a.request, a.status, status, a.body)
	}
	return a
}

// code fails the test unless the answer is an error of this status and code in
// the shape of section 7.1.
func (a *answer) code(status int, code string) *answer {
	a.t.Helper()
	a.want(status).field("code", code).field("data.status", status)
	if a.str("message") == "" {
		a.t.Fatalf("%s: no message", a.request)
	}
	return a
}

// bad fails the test unless the answer is 400 rest_invalid_param that names
// just these parameters, each with a text.
func (a *answer) bad(names ...string) *answer {
	a.t.Helper()
	a.code(400, "rest_invalid_param")
	params, ok := a.at("data.params").(obj)
	if !ok {
		a.t.Fatalf("%s: data.params is no object\n%s", a.request, a.body)
	}
	got := make([]string, 0, len(params))
	for name, text := range params {
		got = append(got, name)
		if s, ok := text.(string); !ok || s == "" {
			a.t.Errorf("%s: no text for %s", a.request, name)
		}
	}
	slices.Sort(got)
	slices.Sort(names)
	if !slices.Equal(got, names) {
		a.t.Fatalf("%s: refused %q, want %q\n%s", a.request, got, names, a.body)
	}
	return a
}

// naming fails the test unless the message of a parameter holds a text.
func (a *answer) naming(param, text string) {
	a.t.Helper()
	params, _ := a.at("data.params").(obj)
	if got, _ := params[param].(string); !strings.Contains(got, text) {
		a.t.Errorf("%s: %s is refused with %q, which does not name %q", a.request, param, got, text)
	}
}

// json returns the whole answer, decoded.
func (a *answer) json() any {
	a.t.Helper()
	var err error
	a.decode.Do(func() { err = json.Unmarshal(a.body, &a.value) })
	if err != nil {
		a.t.Fatalf("%s: status %d, answer is no JSON: %v\n%s", a.request, a.status, err, a.body)
	}
	return a.value
}

// lookup returns the value at a path of keys and indexes ("events.0.title").
func (a *answer) lookup(path string) (any, bool) {
	a.t.Helper()
	return world.Lookup(a.json(), path)
}

// at returns the value at a path; a missing one fails the test.
func (a *answer) at(path string) any {
	a.t.Helper()
	value, ok := a.lookup(path)
	if !ok {
		a.t.Fatalf("%s: status %d, no %s\n%s", a.request, a.status, path, a.body)
	}
	return value
}

// field fails the test when the value at a path, as JSON, is another one.
func (a *answer) field(path string, want any) *answer {
	a.t.Helper()
	if diff := cmp.Diff(plain(a.t, want), a.at(path)); diff != "" {
		a.t.Errorf("%s: %s (-want +got)\n%s", a.request, path, diff)
	}
	return a
}

// fields is field for several paths.
func (a *answer) fields(want obj) *answer {
	a.t.Helper()
	for path, value := range want {
		a.field(path, value)
	}
	return a
}

// plain gives a value as it comes back from JSON.
func plain(t *testing.T, value any) any {
	t.Helper()
	var out any
	if err := json.Unmarshal([]byte(plainText(t, value)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// without fails the test when one of the paths is there.
func (a *answer) without(paths ...string) *answer {
	a.t.Helper()
	for _, text := range paths {
		if value, ok := a.lookup(text); ok {
			a.t.Errorf("%s: there is %s = %v", a.request, text, value)
		}
	}
	return a
}

// having fails the test when one of the paths is missing.
func (a *answer) having(paths ...string) *answer {
	a.t.Helper()
	for _, text := range paths {
		if _, ok := a.lookup(text); !ok {
			a.t.Errorf("%s: there is no %s\n%s", a.request, text, a.body)
		}
	}
	return a
}

// keys fails the test unless the object at a path has just these keys.
func (a *answer) keys(path string, want ...string) *answer {
	a.t.Helper()
	o, ok := a.at(path).(obj)
	if !ok {
		a.t.Fatalf("%s: %s is no object\n%s", a.request, path, a.body)
	}
	got := make([]string, 0, len(o))
	for name := range o {
		got = append(got, name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		a.t.Errorf("%s: keys of %s (-want +got)\n%s", a.request, path, diff)
	}
	return a
}

// lacks fails the test when the answer holds a text anywhere.
func (a *answer) lacks(texts ...string) *answer {
	a.t.Helper()
	for _, text := range texts {
		if bytes.Contains(a.body, []byte(text)) {
			a.t.Errorf("%s: the answer holds %q\n%s", a.request, text, a.body)
		}
	}
	return a
}

// head fails the test when a header has another value; "" wants none.
func (a *answer) head(name, want string) *answer {
	a.t.Helper()
	if got := strings.Join(a.header.Values(name), " | "); got != want {
		a.t.Errorf("%s: status %d, %s: %q, want %q", a.request, a.status, name, got, want)
	}
	return a
}

// str returns the text at a path.
func (a *answer) str(path string) string {
	a.t.Helper()
	text, ok := a.at(path).(string)
	if !ok {
		a.t.Fatalf("%s: %s is no text\n%s", a.request, path, a.body)
	}
	return text
}

// num returns the whole number at a path.
func (a *answer) num(path string) int64 {
	a.t.Helper()
	n, ok := a.at(path).(float64)
	if !ok {
		a.t.Fatalf("%s: %s is no number\n%s", a.request, path, a.body)
	}
	return int64(n)
}

// len returns the length of the array at a path.
func (a *answer) len(path string) int {
	a.t.Helper()
	values, ok := a.at(path).(list)
	if !ok {
		a.t.Fatalf("%s: %s is no array\n%s", a.request, path, a.body)
	}
	return len(values)
}

// id returns the id of the record.
func (a *answer) id() int64 {
	a.t.Helper()
	return a.num("id")
}

// idText returns the id as text.
func (a *answer) idText() string {
	a.t.Helper()
	return strconv.FormatInt(a.id(), 10)
}

// path returns the path of the record by id.
func (a *answer) path() string {
	a.t.Helper()
	return "/" + a.collection + "/" + a.idText()
}

// bySlug returns the path of the record by slug.
func (a *answer) bySlug() string {
	a.t.Helper()
	return "/" + a.collection + "/by-slug/" + url.PathEscape(a.str("slug"))
}

// ids returns the ids of the objects of an array.
func (a *answer) ids(path string) []int64 {
	a.t.Helper()
	values, ok := a.at(path).(list)
	if !ok {
		a.t.Fatalf("%s: %s is no array\n%s", a.request, path, a.body)
	}
	out := make([]int64, len(values))
	for i := range values {
		out[i] = a.num(path + "." + strconv.Itoa(i) + ".id")
	}
	return out
}

func wantLen(a *answer, path string, want int) {
	a.t.Helper()
	if got := a.len(path); got != want {
		a.t.Errorf("%s: %d in %s, want %d\n%s", a.request, got, path, want, a.body)
	}
}

// found fails the test unless the list holds just these records in this order,
// on one page.
func (a *answer) found(want ...*answer) *answer {
	a.t.Helper()
	ids := make([]int64, len(want))
	for i, w := range want {
		ids[i] = w.id()
	}
	if got := a.ids(a.collection); !slices.Equal(got, ids) {
		a.t.Errorf("%s: found %v, want %v", a.request, got, ids)
	}
	return a.field("total", len(want))
}

func (a *answer) etag() string { return a.header.Get("ETag") }

func (a *answer) position() string { return a.header.Get("Daybook-Position") }

// same fails the test unless two records are equal but for some keys.
func same(t *testing.T, want, got *answer, except ...string) {
	t.Helper()
	if diff := cmp.Diff(stripped(want, except), stripped(got, except)); diff != "" {
		t.Errorf("%s and %s differ (-first +second)\n%s", want.request, got.request, diff)
	}
}

func stripped(a *answer, except []string) any {
	return strip(a.json(), except)
}

// strip leaves out some keys of objects, json_ld of embedded ones too.
func strip(value any, except []string) any {
	switch x := value.(type) {
	case obj:
		out := make(obj, len(x))
		for name, inner := range x {
			if slices.Contains(except, name) {
				continue
			}
			if slices.Contains(except, "json_ld") || slices.Contains(except, "count") {
				inner = strip(inner, []string{"json_ld", "count"})
			}
			out[name] = inner
		}
		return out
	case list:
		out := make(list, len(x))
		for i := range x {
			out[i] = strip(x[i], except)
		}
		return out
	default:
		return value
	}
}

// unchanged gives a check that a record is as it was when unchanged was called:
// the same version with the same content.
func (c *caller) unchanged(to any) (check func()) {
	c.t.Helper()
	c.svc.settle(c.t)
	before := c.read(to)
	return func() {
		c.t.Helper()
		after := c.read(to)
		if before.etag() != after.etag() || !reflect.DeepEqual(before.json(), after.json()) {
			c.t.Errorf("%s changed: %s, then %s\n%s", before.request, before.etag(), after.etag(), cmp.Diff(before.json(), after.json()))
		}
	}
}

// settle waits until lists and counts show all that was written.
func (s *service) settle(t *testing.T) {
	t.Helper()
	s.as(t, "administrator").list("tags", "per_page", "1")
}

// none fails the test unless no record of a collection, of any status, is found
// by a text.
func (c *caller) none(collection, text string) {
	c.t.Helper()
	c.counting(collection, text, 0)
}

// counting fails the test unless a text finds so many records, of any status.
func (c *caller) counting(collection, text string, want int) {
	c.t.Helper()
	params := []string{"search", text, "per_page", "100"}
	switch collection {
	case "categories", "tags":
		params = append(params, "hide_empty", "false")
	case "events":
		params = append(params, "starts_after", "0001-01-02", "status", allStatuses)
	default:
		params = append(params, "status", allStatuses)
	}
	c.svc.as(c.t, "administrator").list(collection, params...).field("total", want)
}

const allStatuses = "publish,future,draft,pending,private,trash"

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// plainText gives a value as JSON.
func plainText(t *testing.T, value any) string {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
