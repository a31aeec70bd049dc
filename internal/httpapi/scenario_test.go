package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// obj is a JSON object to send.
type obj = world.Object

// newWorld makes a world, with an editor of it and a client without credentials.
func newWorld(t *testing.T, optionses ...world.Options) (w *world.World, editor, nobody *world.Client) {
	t.Helper()
	w = world.New(t, slices.Concat(optionses, []world.Options{{}})[0])
	return w, w.As(calendar.Editor), w.As(calendar.Anonymous)
}

func itoa(id calendar.ID) string { return id.String() }

// TestPreflightsThatNameMuch: of the names of headers that a preflight sends, only so many
// and so long ones are answered (2.11).
func TestPreflightsThatNameMuch(t *testing.T) {
	t.Parallel()
	nobody := world.New(t, world.Options{}).As(calendar.Anonymous)
	var many strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&many, "h%d,", i%1000)
	}
	for names, want := range map[string]string{
		"x-foo, accept,<bad>":                               ", x-foo",
		strings.Repeat("x", 5000) + ",late":                 ", late",
		many.String() + strings.Repeat("x", 5000) + ",late": ", h0, h1, h2",
	} {
		pre := nobody.With("Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", names).Do("OPTIONS", "/events/5", nil).Want(http.StatusOK)
		_, more, _ := strings.Cut(pre.Header.Get("Access-Control-Allow-Headers"), "Last-Event-ID")
		if !strings.HasPrefix(more, want) || strings.Count(more, ",") != 1 && !strings.HasSuffix(more, ", h63") {
			t.Errorf("%.40s: %s", names, more)
		}
	}
}

// TestForeignPages: a write that a page of another site sends is refused, whatever its body,
// before its credentials are looked at (2.11, 7.2).
func TestForeignPages(t *testing.T) {
	t.Parallel()
	const allowed, base = "https://good.example", "https://cal.example:8443"
	w := world.New(t, world.Options{HTTP: httpapi.Options{AllowedOrigins: []string{allowed}, BaseURL: base + "/site"}})
	host := strings.TrimPrefix(world.Base, "https://") // of the requests
	event := w.As(calendar.Editor).Event("Quay", nil).Path()
	for i, row := range []string{ // Origin and Sec-Fetch-Site; the first ten are its own
		"|", allowed + "|", allowed + "|cross-site", base + "|", "https://CAL.example:8443|same-origin", "http://" + host + "|", "|same-origin", "|none", " |",
		"https://" + host + "|same-site", // behind a proxy that ends TLS
		"|cross-site", "|same-site", "https://evil.example|", "https://evil.example|same-origin", "null|", "null|same-origin", "https://cal.example|", "https://cal.example:8444|",
		"http://" + host + ":81|", "http://evil." + host + "|", host + "|", "https://good.example.evil.example|", "http://good.example|", "file://|",
	} {
		origin, site, _ := strings.Cut(row, "|")
		var head []string
		for name, text := range map[string]string{"Origin": origin, "Sec-Fetch-Site": site} {
			if text != "" {
				head = append(head, name, strings.TrimSpace(text))
			}
		}
		foreign := i >= 10
		admin, nobody := w.As(calendar.Administrator).With(head...), w.As(calendar.Anonymous).With(head...)
		for _, got := range []*world.Response{
			admin.Post("/tags", `{"name":"a"}`), admin.Do(http.MethodPut, event, nil), admin.Do(http.MethodPatch, "/events/by-slug/quay", nil), admin.Do(http.MethodDelete, "/events/99999999", nil),
			admin.With("Content-Type", "text/plain").Post("/tags", strings.Repeat("x", 2<<20)), nobody.With("Authorization", "Bearer wrong").Post(event, nil),
		} {
			if is := got.Status == http.StatusForbidden && got.String("code") == "rest_forbidden_origin"; is != foreign {
				t.Errorf("%s: %s: %d %s", row, got.Request, got.Status, got.Body)
			}
		}
		// Reads are open, and the route counts first.
		nobody.Read(event)
		nobody.Do(http.MethodOptions, event, nil).Want(http.StatusOK)
		nobody.Post("/events/search", `{"searches":[{}]}`).Want(http.StatusOK)
		nobody.Post("/nothing", "{}").WantCode(http.StatusNotFound, "rest_no_route")
		nobody.Post("/doc", "{}").WantCode(http.StatusMethodNotAllowed, "rest_method_not_allowed")
	}
}
