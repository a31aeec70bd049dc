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
func (service *service) as(t *testing.T, name string) *caller {
	t.Helper()
	if _, known := service.users[name]; !known {
		t.Fatalf("no user %q", name)
	}
	c := &caller{t: t, svc: service, name: name, root: root, header: http.Header{}}
	if name != "" {
		c.header.Set("Authorization", "Bearer "+service.users[name].token)
	}
	return c
}

// under returns the same caller under the root of a language.
func (caller *caller) under(language string) *caller {
	out := *caller
	out.root = root
	if language != "en" {
		out.root = "/" + language + root
	}
	return &out
}

// with gives a caller that sends further headers: names and values by turns.
func (caller *caller) with(pairs ...string) *caller {
	out := *caller
	out.header = caller.header.Clone()
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
func (caller *caller) do(method string, to, body any) *answer {
	caller.t.Helper()
	path, isPath := to.(string)
	if !isPath {
		path = to.(*answer).path()
	}
	target := caller.svc.url + caller.root + path
	if strings.HasPrefix(path, "=") {
		target = caller.svc.url + path[1:]
	}
	var sent raw
	switch b := body.(type) {
	case nil:
	case raw:
		sent = b
	case url.Values:
		sent = raw{"application/x-www-form-urlencoded", b.Encode()}
	default:
		sent = raw{"application/json", plainText(caller.t, b)}
	}
	request, err := http.NewRequestWithContext(caller.t.Context(), method, target, strings.NewReader(sent.text))
	if err != nil {
		caller.t.Fatal(err)
	}
	request.Header = caller.header.Clone()
	if sent.media != "" {
		request.Header.Set("Content-Type", sent.media)
	}
	a := caller.svc.exchange(caller.t, request)
	a.request = method + " " + path
	if named := collectionNamed.FindStringSubmatch(target); named != nil {
		a.collection = named[1]
	}
	if caller.name != "" {
		a.request = caller.name + ": " + a.request
	}
	return a
}

// exchange sends a request to the service; some answers are held against the documentation.
func (service *service) exchange(t *testing.T, request *http.Request) *answer {
	t.Helper()
	// What a test has written is in the lists of no one, too.
	if _, asked := request.Header["Daybook-Min-Position"]; !asked && request.Header.Get("Authorization") == "" {
		request.Header.Set("Daybook-Min-Position", service.positionText())
	}
	request.Host = request.Header.Get("Host")
	res, err := service.client.Do(request)
	must(t, err)
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	must(t, err)
	a := &answer{t: t, request: request.Method + " " + request.URL.Path, status: res.StatusCode, header: res.Header, body: content}
	if service.toCheck(request, a.status) {
		if err := service.documentation().Check(request, a.status, a.header, a.plain()); err != nil {
			t.Errorf("%s: status %d: %v", a.request, a.status, err)
		}
	}
	if number, err := strconv.ParseUint(res.Header.Get("Daybook-Position"), 10, 64); err == nil && request.Method != http.MethodGet {
		service.reached(number)
	}
	return a
}

// world returns the service as plays know it.
func (service *service) world(t *testing.T) *world.World {
	t.Helper()
	tokens := map[string]string{}
	for name, user := range service.users {
		if role, second := strings.CutSuffix(name, "2"); second {
			name = "other-" + role
		}
		tokens[name] = user.token
	}
	return world.Over(t, http.HandlerFunc(func(writer http.ResponseWriter, in *http.Request) {
		request, err := http.NewRequestWithContext(in.Context(), in.Method, service.url+in.RequestURI, in.Body)
		must(t, err)
		request.Header, request.ContentLength = in.Header, in.ContentLength
		answer := service.exchange(t, request)
		maps.Copy(writer.Header(), answer.header)
		writer.WriteHeader(answer.status)
		_, _ = writer.Write(answer.body)
	}), service.clock, service.url, tokens)
}

// toCheck reports whether an answer is to be held against the documentation: that
// takes longer than the request, so of each operation and status some.
func (service *service) toCheck(request *http.Request, status int) bool {
	const some = 2
	path := request.URL.EscapedPath()
	at := strings.Index(path, root)
	if at != 0 && (at != 3 || !strings.Contains("/cn/es/fr", path[:at])) || strings.Contains(path, "%") {
		return false
	}
	path = regexp.MustCompile(`/\d+|/by-slug/[^/]+`).ReplaceAllString(path[at:], "/*")
	service.mu.Lock()
	defer service.mu.Unlock()
	key := fmt.Sprint(request.Method, path, status)
	service.checked[key]++
	return service.checked[key] <= some
}

// reached notes the position of a write.
func (service *service) reached(number uint64) {
	for {
		old := service.position.Load()
		if number <= old || service.position.CompareAndSwap(old, number) {
			return
		}
	}
}

func (caller *caller) get(to any) *answer {
	caller.t.Helper()
	return caller.do(http.MethodGet, to, nil)
}

func (caller *caller) post(to, body any) *answer {
	caller.t.Helper()
	return caller.do(http.MethodPost, to, body)
}

func (caller *caller) patch(to, body any) *answer {
	caller.t.Helper()
	return caller.do(http.MethodPatch, to, body)
}

func (caller *caller) delete(to any) *answer {
	caller.t.Helper()
	return caller.do(http.MethodDelete, to, nil)
}

// remove deletes a record and wants 200.
func (caller *caller) remove(to any) *answer {
	caller.t.Helper()
	return caller.delete(to).want(200)
}

// create posts to a collection and wants 201.
func (caller *caller) create(collection string, body any) *answer {
	caller.t.Helper()
	return caller.post("/"+collection, body).want(201)
}

// add makes a record of a collection that has nothing but a name.
func (caller *caller) add(collection, name string) *answer {
	caller.t.Helper()
	return caller.create(collection, body(collection, name, nil))
}

// event makes an event on 2026-06-10, 10:00 to 12:00, with further fields.
func (caller *caller) event(title string, more obj) *answer {
	caller.t.Helper()
	return caller.create("events", eventBody(title, more))
}

func eventBody(title string, more obj) obj {
	body := obj{"title": title, "start_date": "2026-06-10 10:00:00", "end_date": "2026-06-10 12:00:00"}
	maps.Copy(body, more)
	return body
}

// update patches a record and wants 200.
func (caller *caller) update(to, body any) *answer {
	caller.t.Helper()
	return caller.patch(to, body).want(200)
}

// read gets a record and wants 200.
func (caller *caller) read(to any) *answer {
	caller.t.Helper()
	return caller.get(to).want(200)
}

// list asks for a list with parameters, names and values by turns, and wants
// 200.
func (caller *caller) list(collection string, params ...string) *answer {
	caller.t.Helper()
	return caller.get("/" + collection + pairs(params...)).want(200)
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
func (answer *answer) want(status int) *answer {
	answer.t.Helper()
	if answer.status != status {
		answer.t.Fatalf("%s: status %d, want %d\n%s", answer.request, answer.status, status, answer.body)
	}
	return answer
}

// code fails the test unless the answer is an error of this status and code in
// the shape of section 7.1.
func (answer *answer) code(status int, code string) *answer {
	answer.t.Helper()
	answer.want(status).field("code", code).field("data.status", status)
	if answer.str("message") == "" {
		answer.t.Fatalf("%s: no message", answer.request)
	}
	return answer
}

// bad fails the test unless the answer is 400 rest_invalid_param that names
// just these parameters, each with a text.
func (answer *answer) bad(names ...string) *answer {
	answer.t.Helper()
	answer.code(400, "rest_invalid_param")
	for name, text := range valueAt[obj](answer, "data.params") {
		if s, ok := text.(string); !ok || s == "" {
			answer.t.Errorf("%s: no text for %s", answer.request, name)
		}
	}
	return answer.keys("data.params", names...)
}

// naming fails the test unless the message of a parameter holds a text.
func (answer *answer) naming(param, text string) {
	answer.t.Helper()
	params, _ := answer.at("data.params").(obj)
	if got, _ := params[param].(string); !strings.Contains(got, text) {
		answer.t.Errorf("%s: %s is refused with %q, which does not name %q", answer.request, param, got, text)
	}
}

// json returns the whole answer, decoded.
func (answer *answer) json() any {
	answer.t.Helper()
	var err error
	answer.decode.Do(func() { err = json.Unmarshal(answer.body, &answer.value) })
	if err != nil {
		answer.t.Fatalf("%s: status %d, answer is no JSON: %v\n%s", answer.request, answer.status, err, answer.body)
	}
	return answer.value
}

// lookup returns the value at a path of keys and indexes ("events.0.title").
func (answer *answer) lookup(path string) (any, bool) {
	answer.t.Helper()
	return world.Lookup(answer.json(), path)
}

// at returns the value at a path; a missing one fails the test.
func (answer *answer) at(path string) any {
	answer.t.Helper()
	value, ok := answer.lookup(path)
	if !ok {
		answer.t.Fatalf("%s: status %d, no %s\n%s", answer.request, answer.status, path, answer.body)
	}
	return value
}

// field fails the test when the value at a path, as JSON, is another one.
func (answer *answer) field(path string, want any) *answer {
	answer.t.Helper()
	if diff := cmp.Diff(plain(answer.t, want), answer.at(path)); diff != "" {
		answer.t.Errorf("%s: %s (-want +got)\n%s", answer.request, path, diff)
	}
	return answer
}

// fields is field for several paths.
func (answer *answer) fields(want obj) *answer {
	answer.t.Helper()
	for path, value := range want {
		answer.field(path, value)
	}
	return answer
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
func (answer *answer) without(paths ...string) *answer {
	answer.t.Helper()
	for _, text := range paths {
		if value, ok := answer.lookup(text); ok {
			answer.t.Errorf("%s: there is %s = %v", answer.request, text, value)
		}
	}
	return answer
}

// having fails the test when one of the paths is missing.
func (answer *answer) having(paths ...string) *answer {
	answer.t.Helper()
	for _, text := range paths {
		if _, ok := answer.lookup(text); !ok {
			answer.t.Errorf("%s: there is no %s\n%s", answer.request, text, answer.body)
		}
	}
	return answer
}

// keys fails the test unless the object at a path has just these keys.
func (answer *answer) keys(path string, want ...string) *answer {
	answer.t.Helper()
	got := slices.Sorted(maps.Keys(valueAt[obj](answer, path)))
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), got); diff != "" {
		answer.t.Errorf("%s: keys of %s (-want +got)\n%s", answer.request, path, diff)
	}
	return answer
}

// lacks fails the test when the answer holds a text anywhere.
func (answer *answer) lacks(texts ...string) *answer {
	answer.t.Helper()
	for _, text := range texts {
		if bytes.Contains(answer.body, []byte(text)) {
			answer.t.Errorf("%s: the answer holds %q\n%s", answer.request, text, answer.body)
		}
	}
	return answer
}

// head fails the test when a header has another value; "" wants none.
func (answer *answer) head(name, want string) *answer {
	answer.t.Helper()
	if got := strings.Join(answer.header.Values(name), " | "); got != want {
		answer.t.Errorf("%s: status %d, %s: %q, want %q", answer.request, answer.status, name, got, want)
	}
	return answer
}

// valueAt returns the value at a path; another kind of value fails the test.
func valueAt[T any](answer *answer, path string) T {
	answer.t.Helper()
	value, ok := answer.at(path).(T)
	if !ok {
		answer.t.Fatalf("%s: %s is no %T\n%s", answer.request, path, value, answer.body)
	}
	return value
}

// str returns the text at a path.
func (answer *answer) str(path string) string {
	answer.t.Helper()
	return valueAt[string](answer, path)
}

// num returns the whole number at a path.
func (answer *answer) num(path string) int64 {
	answer.t.Helper()
	return int64(valueAt[float64](answer, path))
}

// len returns the length of the array at a path.
func (answer *answer) len(path string) int {
	answer.t.Helper()
	return len(valueAt[list](answer, path))
}

// id returns the id of the record.
func (answer *answer) id() int64 {
	answer.t.Helper()
	return answer.num("id")
}

// idText returns the id as text.
func (answer *answer) idText() string {
	answer.t.Helper()
	return strconv.FormatInt(answer.id(), 10)
}

// path returns the path of the record by id.
func (answer *answer) path() string {
	answer.t.Helper()
	return "/" + answer.collection + "/" + answer.idText()
}

// bySlug returns the path of the record by slug.
func (answer *answer) bySlug() string {
	answer.t.Helper()
	return "/" + answer.collection + "/by-slug/" + url.PathEscape(answer.str("slug"))
}

// ids returns the ids of the objects of an array.
func (answer *answer) ids(path string) []int64 {
	answer.t.Helper()
	out := make([]int64, answer.len(path))
	for i := range out {
		out[i] = answer.num(path + "." + strconv.Itoa(i) + ".id")
	}
	return out
}

func wantLen(answer *answer, path string, want int) {
	answer.t.Helper()
	if got := answer.len(path); got != want {
		answer.t.Errorf("%s: %d in %s, want %d\n%s", answer.request, got, path, want, answer.body)
	}
}

// found fails the test unless the list holds just these records in this order,
// on one page.
func (answer *answer) found(want ...*answer) *answer {
	answer.t.Helper()
	ids := make([]int64, len(want))
	for i, w := range want {
		ids[i] = w.id()
	}
	if got := answer.ids(answer.collection); !slices.Equal(got, ids) {
		answer.t.Errorf("%s: found %v, want %v", answer.request, got, ids)
	}
	return answer.field("total", len(want))
}

func (answer *answer) etag() string { return answer.header.Get("ETag") }

func (answer *answer) position() string { return answer.header.Get("Daybook-Position") }

// same fails the test unless two records are equal but for some keys.
func same(t *testing.T, want, got *answer, except ...string) {
	t.Helper()
	if diff := cmp.Diff(stripped(want, except), stripped(got, except)); diff != "" {
		t.Errorf("%s and %s differ (-first +second)\n%s", want.request, got.request, diff)
	}
}

func stripped(answer *answer, except []string) any {
	return strip(answer.json(), except)
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
func (caller *caller) unchanged(to any) (check func()) {
	caller.t.Helper()
	caller.svc.settle(caller.t)
	before := caller.read(to)
	return func() {
		caller.t.Helper()
		after := caller.read(to)
		if before.etag() != after.etag() || !reflect.DeepEqual(before.json(), after.json()) {
			caller.t.Errorf("%s changed: %s, then %s\n%s", before.request, before.etag(), after.etag(), cmp.Diff(before.json(), after.json()))
		}
	}
}

// settle waits until lists and counts show all that was written.
func (service *service) settle(t *testing.T) {
	t.Helper()
	service.as(t, "administrator").list("tags", "per_page", "1")
}

// none fails the test unless no record of a collection, of any status, is found
// by a text.
func (caller *caller) none(collection, text string) {
	caller.t.Helper()
	caller.counting(collection, text, 0)
}

// counting fails the test unless a text finds so many records, of any status.
func (caller *caller) counting(collection, text string, want int) {
	caller.t.Helper()
	params := []string{"search", text, "per_page", "100"}
	switch collection {
	case "categories", "tags":
		params = append(params, "hide_empty", "false")
	case "events":
		params = append(params, "starts_after", "0001-01-02", "status", allStatuses)
	default:
		params = append(params, "status", allStatuses)
	}
	caller.svc.as(caller.t, "administrator").list(collection, params...).field("total", want)
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
