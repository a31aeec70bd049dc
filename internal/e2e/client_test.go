package e2e

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
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
	*world.Client

	svc *service
}

// as gives a caller by the name of a user; "nobody" is no one.
func (service *service) as(t *testing.T, name string) *caller {
	t.Helper()
	return &caller{service.User(name).In(t), service}
}

// under returns the same caller under the root of a language.
func (caller *caller) under(language string) *caller {
	lang, _ := calendar.ParseLang(language)
	return caller.of(caller.Under(lang))
}

// with gives a caller that sends further headers: names and values by turns.
func (caller *caller) with(pairs ...string) *caller { return caller.of(caller.With(pairs...)) }

func (caller *caller) of(client *world.Client) *caller {
	out := *caller
	out.Client = client
	return &out
}

// raw is a body with its media type.
type raw struct{ media, text string }

// do sends a request to a record that was answered, or to a path as clients of worlds take it.
// body is raw, or what they take.
func (caller *caller) do(method string, to, body any) *answer {
	caller.Helper()
	path, isPath := to.(string)
	if !isPath {
		path = to.(*answer).Path()
	}
	client := caller.Client
	if sent, is := body.(raw); is {
		client, body = client.With("Content-Type", sent.media), sent.text
	}
	return &answer{client.Do(method, path, body)}
}

// ServeHTTP passes a request on over the network.
func (service *service) ServeHTTP(writer http.ResponseWriter, in *http.Request) {
	request, err := http.NewRequestWithContext(in.Context(), in.Method, service.Base+in.RequestURI, in.Body)
	if err != nil {
		http.Error(writer, err.Error(), http.StatusBadGateway)
		return
	}
	request.Header, request.ContentLength, request.Host = in.Header.Clone(), in.ContentLength, in.Header.Get("Host")
	if request.Header.Get("Content-Type") == "" {
		request.Header.Del("Content-Type")
	}
	// What a test has written is in the lists of no one, too.
	if _, asked := request.Header["Daybook-Min-Position"]; !asked && request.Header.Get("Authorization") == "" {
		request.Header.Set("Daybook-Min-Position", service.positionText())
	}
	response, err := service.client.Do(request)
	if err != nil {
		http.Error(writer, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	maps.Copy(writer.Header(), response.Header)
	writer.WriteHeader(response.StatusCode)
	_, _ = io.Copy(writer, response.Body)
	if number, err := strconv.ParseUint(response.Header.Get("Daybook-Position"), 10, 64); err == nil && request.Method != http.MethodGet {
		service.reached(number)
	}
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
	caller.Helper()
	return caller.do(http.MethodGet, to, nil)
}

func (caller *caller) post(to, body any) *answer {
	caller.Helper()
	return caller.do(http.MethodPost, to, body)
}

func (caller *caller) patch(to, body any) *answer {
	caller.Helper()
	return caller.do(http.MethodPatch, to, body)
}

func (caller *caller) delete(to any) *answer {
	caller.Helper()
	return caller.do(http.MethodDelete, to, nil)
}

// remove deletes a record and wants 200.
func (caller *caller) remove(to any) *answer {
	caller.Helper()
	return caller.delete(to).want(200)
}

// create posts to a collection and wants 201.
func (caller *caller) create(collection string, body any) *answer {
	caller.Helper()
	return caller.post("/"+collection, body).want(201)
}

// add makes a record of a collection that has nothing but a name.
func (caller *caller) add(collection, name string) *answer {
	caller.Helper()
	return caller.create(collection, body(collection, name, nil))
}

// event makes an event on 2026-06-10, 10:00 to 12:00, with further fields.
func (caller *caller) event(title string, more obj) *answer {
	caller.Helper()
	return caller.create("events", eventBody(title, more))
}

func eventBody(title string, more obj) obj {
	body := obj{"title": title, "start_date": "2026-06-10 10:00:00", "end_date": "2026-06-10 12:00:00"}
	maps.Copy(body, more)
	return body
}

// update patches a record and wants 200.
func (caller *caller) update(to, body any) *answer {
	caller.Helper()
	return caller.patch(to, body).want(200)
}

// read gets a record and wants 200.
func (caller *caller) read(to any) *answer {
	caller.Helper()
	return caller.get(to).want(200)
}

// list asks for a list with parameters, names and values by turns, and wants
// 200.
func (caller *caller) list(collection string, params ...string) *answer {
	caller.Helper()
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
type answer struct{ *world.Response }

// want fails the test when the status is another one.
func (answer *answer) want(status int) *answer {
	answer.Helper()
	answer.Want(status)
	return answer
}

// code fails the test unless the answer is an error of this status and code in
// the shape of section 7.1.
func (answer *answer) code(status int, code string) *answer {
	answer.Helper()
	if answer.WantCode(status, code).String("message") == "" {
		answer.Fatalf("%s: no message", answer.Request)
	}
	return answer
}

// bad fails the test unless the answer is 400 rest_invalid_param that names
// just these parameters, each with a text.
func (answer *answer) bad(names ...string) *answer {
	answer.Helper()
	answer.WantBad(names...)
	for _, name := range names {
		if s, ok := answer.Get("data.params").(obj)[name].(string); !ok || s == "" {
			answer.Errorf("%s: no text for %s", answer.Request, name)
		}
	}
	return answer
}

// naming fails the test unless the message of a parameter holds a text.
func (answer *answer) naming(param, text string) {
	answer.Helper()
	params, _ := answer.Get("data.params").(obj)
	if got, _ := params[param].(string); !strings.Contains(got, text) {
		answer.Errorf("%s: %s is refused with %q, which does not name %q", answer.Request, param, got, text)
	}
}

// field fails the test when the value at a path, as JSON, is another one.
func (answer *answer) field(path string, want any) *answer {
	answer.Helper()
	answer.WantField(path, want)
	return answer
}

// fields is field for several paths.
func (answer *answer) fields(want obj) *answer {
	answer.Helper()
	for path, value := range want {
		answer.field(path, value)
	}
	return answer
}

// without fails the test when one of the paths is there.
func (answer *answer) without(paths ...string) *answer {
	answer.Helper()
	for _, text := range paths {
		if value, ok := answer.Lookup(text); ok {
			answer.Errorf("%s: there is %s = %v", answer.Request, text, value)
		}
	}
	return answer
}

// having fails the test when one of the paths is missing.
func (answer *answer) having(paths ...string) *answer {
	answer.Helper()
	for _, text := range paths {
		if !answer.Has(text) {
			answer.Errorf("%s: there is no %s\n%s", answer.Request, text, answer.Body)
		}
	}
	return answer
}

// keys fails the test unless the object at a path has just these keys.
func (answer *answer) keys(path string, want ...string) *answer {
	answer.Helper()
	got := slices.Sorted(maps.Keys(answer.Get(path).(obj)))
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), got); diff != "" {
		answer.Errorf("%s: keys of %s (-want +got)\n%s", answer.Request, path, diff)
	}
	return answer
}

// lacks fails the test when the answer holds a text anywhere.
func (answer *answer) lacks(texts ...string) *answer {
	answer.Helper()
	for _, text := range texts {
		if bytes.Contains(answer.Body, []byte(text)) {
			answer.Errorf("%s: the answer holds %q\n%s", answer.Request, text, answer.Body)
		}
	}
	return answer
}

// head fails the test when a header has another value; "" wants none.
func (answer *answer) head(name, want string) *answer {
	answer.Helper()
	if got := strings.Join(answer.Header.Values(name), " | "); got != want {
		answer.Errorf("%s: status %d, %s: %q, want %q", answer.Request, answer.Status, name, got, want)
	}
	return answer
}

// len returns the length of the array at a path.
func (answer *answer) len(path string) int {
	answer.Helper()
	return answer.Int(path + ".#")
}

// bySlug returns the path of the record by slug.
func (answer *answer) bySlug() string {
	answer.Helper()
	return "/" + answer.Collection() + "/by-slug/" + url.PathEscape(answer.String("slug"))
}

func wantLen(answer *answer, path string, want int) {
	answer.Helper()
	if got := answer.len(path); got != want {
		answer.Errorf("%s: %d in %s, want %d\n%s", answer.Request, got, path, want, answer.Body)
	}
}

// found fails the test unless the list holds just these records in this order,
// on one page.
func (answer *answer) found(want ...*answer) *answer {
	answer.Helper()
	ids := make([]calendar.ID, len(want))
	for i, w := range want {
		ids[i] = w.ID()
	}
	if got := answer.IDs(); !slices.Equal(got, ids) {
		answer.Errorf("%s: found %v, want %v", answer.Request, got, ids)
	}
	return answer.field("total", len(want))
}

func (answer *answer) position() string { return answer.Header.Get("Daybook-Position") }

// same fails the test unless two records are equal but for some keys.
func same(t *testing.T, want, got *answer, except ...string) {
	t.Helper()
	if diff := cmp.Diff(stripped(want, except), stripped(got, except)); diff != "" {
		t.Errorf("%s and %s differ (-first +second)\n%s", want.Request, got.Request, diff)
	}
}

func stripped(answer *answer, except []string) any {
	return strip(answer.Get("."), except)
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
	caller.Helper()
	caller.svc.settle()
	before := caller.read(to)
	return func() {
		caller.Helper()
		after := caller.read(to)
		if before.ETag() != after.ETag() || !reflect.DeepEqual(before.Get("."), after.Get(".")) {
			caller.Errorf("%s changed: %s, then %s\n%s", before.Request, before.ETag(), after.ETag(), cmp.Diff(before.Get("."), after.Get(".")))
		}
	}
}

// settle waits until lists and counts show all that was written.
func (service *service) settle() {
	service.Helper()
	service.User("administrator").Read("/tags?per_page=1")
}

// none fails the test unless no record of a collection, of any status, is found
// by a text.
func (caller *caller) none(collection, text string) {
	caller.Helper()
	caller.counting(collection, text, 0)
}

// counting fails the test unless a text finds so many records, of any status.
func (caller *caller) counting(collection, text string, want int) {
	caller.Helper()
	params := []string{"search", text, "per_page", "100"}
	switch collection {
	case "categories", "tags":
		params = append(params, "hide_empty", "false")
	case "events":
		params = append(params, "starts_after", "0001-01-02", "status", allStatuses)
	default:
		params = append(params, "status", allStatuses)
	}
	administrator := caller.of(caller.svc.User("administrator").In(caller.TB))
	administrator.list(collection, params...).field("total", want)
}

const allStatuses = "publish,future,draft,pending,private,trash"
