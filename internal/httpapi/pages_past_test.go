package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// pagesWorld is a World with pages.
func pagesWorld(t *testing.T, options world.Options) *world.World {
	t.Helper()
	if options.Pages == nil {
		options.Pages = &pages.Options{ExternalLinks: true}
	}
	return world.New(t, options)
}

// newPages makes a world with pages, and an editor of it.
func newPages(t *testing.T) (*world.World, *world.Client) {
	t.Helper()
	w := pagesWorld(t, world.Options{})
	return w, w.As(calendar.Editor)
}

// page reads a page as everybody.
func page(w *world.World, path string) *world.Response {
	return w.As(calendar.Anonymous).With("Accept", "text/html").Get("/" + path)
}

// wantPages wants pages to have a status.
func wantPages(t *testing.T, w *world.World, status int, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if response := page(w, path); response.Status != status {
			t.Errorf("%s: status %d, want %d", path, response.Status, status)
		}
	}
}

func has(t *testing.T, response *world.Response, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(string(response.Body), part) {
			t.Errorf("%s lacks %q:\n%s", response.Request, part, response.Body)
		}
	}
}

func lacks(t *testing.T, response *world.Response, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(string(response.Body), part) {
			t.Errorf("%s has %q:\n%s", response.Request, part, response.Body)
		}
	}
}

// A page has 50 versions; drafts among them do not count.
func TestPagesOfLongHistories(t *testing.T) {
	t.Parallel()
	world, editor := newPages(t)
	path := editor.Event("Quay", nil).Path()
	for n := 2; n <= 130; n++ {
		editor.Update(path, obj{"title": fmt.Sprint("Quay ", n), "status": map[bool]string{true: "draft", false: "publish"}[n >= 60 && n < 90]})
	}
	var seen, want []string
	for n := 130; n >= 1; n-- {
		if (n >= 90 || n < 60) && len(want) < 100 {
			want = append(want, fmt.Sprint(n))
		}
	}
	for n := 1; n <= 2; n++ {
		sheet := readPage(t, world, fmt.Sprintf("/event/quay/history/?page=%d", n))
		sheet.one("nav[id=pager]")
		for _, item := range sheet.all("[data-version]") {
			seen = append(seen, valueOf(item, "data-version"))
		}
		if len(seen) != 50*n {
			t.Errorf("page %d ends with version %d", n, len(seen))
		}
	}
	if !slices.Equal(seen, want) {
		t.Errorf("versions %v", seen)
	}
	wantPages(t, world, 404, "/event/quay/history/?page=3")
}

// A version that a checkpoint covers links its proof, also on a page that was kept before, and
// the page links the newest checkpoint (PAGES P2.6).
func TestProofsOfHistories(t *testing.T) {
	t.Parallel()
	world, editor := newPages(t)
	path := editor.Event("Quay", nil).Path()
	size := world.Head()
	editor.Update(path, obj{"title": "Quay!"})
	for range 3 { // from the second time on it is kept
		lacks(t, page(world, "/fr/event/quay/history/").Want(200), "data-proof", `id="checkpoint"`)
	}
	note := eventstore.Checkpoint{Size: size, Origin: "calendar.example.org", Note: []byte("note\n"), Time: world.Clock.Now()}
	if err := world.Store.Append(t.Context(), eventstore.Append{Checkpoint: &note}).Err; err != nil {
		t.Fatal(err)
	}
	sheet := readPage(t, world, "/fr/event/quay/history/")
	const api = "/fr/api/calendar/events/v1"
	proof := valueOf(sheet.one("a[data-proof]"), "href")
	if want := fmt.Sprintf("%s/proof/inclusion?position=%d", api, size); proof != want {
		t.Errorf("proof %s, want %s", proof, want)
	}
	has(t, sheet.Response, `<section id="checkpoint"`, `href="/fr/docs/#routes-history"`, `href="`+api+`/checkpoint"`)
	wantPages(t, world, 200, proof, api+"/checkpoint")
}
