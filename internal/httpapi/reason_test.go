package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/testkit/world"
)

// HISTORY 20.39.
func TestReasons(t *testing.T) {
	t.Parallel()
	w, editor, _ := newWorld(t)
	reason := func(path string) any {
		t.Helper()
		v, _ := editor.Get(path + "/history?limit=1").Lookup("entries.0.reason")
		return v
	}
	event := editor.With("Daybook-Reason", "caf%C3%A9 100%25 %0Aopen").Event("Quay", obj{"venue": obj{"venue": "Hall"}})
	path := event.Path(calendar.KindEvent)
	venue := fmt.Sprintf("/venues/%d", event.Int("venue.id"))
	if event.Has("reason") {
		t.Errorf("the answer shows it: %s", event.Body)
	}
	for _, at := range []string{path, venue} {
		if got := reason(at); got != "café 100%  open" {
			t.Errorf("%s by header: %v", at, got)
		}
	}
	for _, c := range []struct {
		header, query string
		body          obj
		want          any
	}{
		{"", "", obj{"reason": " hall\r\ndouble\tbooked\u0000 "}, "hall double booked"},
		{"from header", "", obj{"reason": "from body"}, "from body"},
		{"from header", "?reason=from+query", obj{}, "from query"},
		{"", "?reason=from+query", obj{"reason": "from body"}, "from body"},
		{"from header", "", obj{"reason": ""}, "from header"},
		{"from header", "", obj{"reason": nil}, "from header"},
		{"", "", obj{"reason": "<b>5 &lt; 6</b>"}, "<b>5 &lt; 6</b>"},
		{"", "", obj{"reason": strings.Repeat("é", 500)}, strings.Repeat("é", 500)},
		{"", "", obj{}, nil},
	} {
		client := editor
		if c.header != "" {
			client = client.With("Daybook-Reason", c.header)
		}
		client.Update(path+c.query, c.body)
		if got := reason(path); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
	editor.Patch(path, obj{"reason": strings.Repeat("é", 501)}).WantBad("reason")
	editor.Patch(path, obj{"reason": 5}).WantBad("reason")
	for _, bad := range []string{"caf\u00e9", "%", "%zz", "%FF", strings.Repeat("x", 501)} {
		editor.With("Daybook-Reason", bad).Patch(path, obj{"featured": "maybe"}).WantBad("featured", "Daybook-Reason")
		editor.With("Daybook-Reason", bad).Delete(path).WantBad("Daybook-Reason")
	}
	editor.Delete(path + "?reason=over").Want(200)
	if got := reason(path); got != "over" {
		t.Errorf("of a deletion: %v", got)
	}
	// The header is no part of the fingerprint, the parameter is.
	keyed := func(header string, body obj) *world.Response {
		return editor.With("Idempotency-Key", "k", "Daybook-Reason", header).Post("/tags", body)
	}
	keyed("one", obj{"name": "Jazz"}).Want(201)
	if r := keyed("two", obj{"name": "Jazz"}).Want(201); r.Header.Get("Idempotency-Replayed") != "true" {
		t.Error("another header is another request")
	}
	keyed("one", obj{"name": "Jazz", "reason": "x"}).WantCode(422, "rest_idempotency_key_reused")
	for _, at := range []string{"/changes", "/events", "/venues", venue, venue + "/history"} {
		if body := string(w.As(calendar.Anonymous).Get(at).Body); strings.Contains(body, "café") || strings.Contains(body, "reason") {
			t.Errorf("%s shows a reason: %s", at, body)
		}
	}
}
