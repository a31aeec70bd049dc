package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/pages"
)

// TestEmbedded: links of pages for frames of other sites leave the frame, their lists are
// those of the others, and the script of the element is small.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	programme(t, w)
	for _, path := range []string{"/embed/event/until-midnight/", "/embed/event/protected/", "/embed/events/", "/embed/events/?view=month&theme=light&categories=jazz", "/embed/events/?past=true"} {
		for _, a := range readPage(t, w, path).all("a") {
			if valueOf(a, "target") != "_top" || strings.Contains(valueOf(a, "href"), "/embed/") {
				t.Errorf("%s: a link to %s in %q", path, valueOf(a, "href"), valueOf(a, "target"))
			}
		}
	}
	list, jazz := readPage(t, w, "/embed/events/?categories=jazz"), readPage(t, w, "/events/?categories=jazz")
	if diff := cmp.Diff(idsUnder(jazz.results()), idsUnder(list.results())); diff != "" || list.total() != jazz.total() {
		t.Error(diff)
	}
	if packed := w.As(calendar.Anonymous).With("Accept-Encoding", "gzip").Do(http.MethodGet, "//embed/v1/daybook-calendar.js", nil); len(packed.Body) > 12_000 || packed.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("the script takes %d bytes", len(packed.Body))
	}
}
