package httpapi_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// pagesWorld is a World with pages.
func pagesWorld(t *testing.T, o world.Options) *world.World {
	t.Helper()
	o.Unchecked = true
	if o.Pages == nil {
		o.Pages = &pages.Options{}
	}
	return world.New(t, o)
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
		if r := page(w, path); r.Status != status {
			t.Errorf("%s: status %d, want %d", path, r.Status, status)
		}
	}
}

// nodes are the elements of a page for which fits holds.
func nodes(t *testing.T, body []byte, fits func(n *html.Node) bool) (out []*html.Node) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && fits(n) {
			out = append(out, n)
		}
	}
	return out
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(t *testing.T, r *world.Response, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(string(r.Body), part) {
			t.Errorf("%s lacks %q:\n%s", r.Request, part, r.Body)
		}
	}
}

func lacks(t *testing.T, r *world.Response, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(string(r.Body), part) {
			t.Errorf("%s has %q:\n%s", r.Request, part, r.Body)
		}
	}
}

// A page has 50 versions; drafts among them do not count.
func TestPagesOfLongHistories(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	path := editor.Event("Quay", nil).Path(calendar.KindEvent)
	for n := 2; n <= 130; n++ {
		body := obj{"title": fmt.Sprintf("Quay %d", n)}
		switch n {
		case 60:
			body["status"] = "draft"
		case 90:
			body["status"] = "publish"
		}
		editor.Update(path, body)
	}
	var seen []string
	for n := 1; n <= 2; n++ {
		r := page(w, fmt.Sprintf("/event/quay/history/?page=%d", n)).Want(200)
		items := nodes(t, r.Body, func(n *html.Node) bool { return attr(n, "data-version") != "" })
		if len(items) != 50 {
			t.Errorf("page %d has %d versions", n, len(items))
		}
		for _, item := range items {
			seen = append(seen, attr(item, "data-version"))
		}
		has(t, r, `<nav id="pager"`)
	}
	var want []string
	for n := 130; n >= 1; n-- {
		if (n >= 90 || n < 60) && len(want) < 100 {
			want = append(want, fmt.Sprint(n))
		}
	}
	if !slices.Equal(seen, want) {
		t.Errorf("versions %v", seen)
	}
	wantPages(t, w, 404, "/event/quay/history/?page=3")
}

// A version that a checkpoint covers links its proof, also on a page that was kept before, and
// the page links the newest checkpoint (PAGES P2.6).
func TestProofsOfHistories(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	path := editor.Event("Quay", nil).Path(calendar.KindEvent)
	of := func(r *world.Response, name string) (hrefs []string) {
		for _, n := range nodes(t, r.Body, func(n *html.Node) bool { return attr(n, name) != "" }) {
			hrefs = append(hrefs, attr(n, "href"))
		}
		return hrefs
	}
	head, err := w.Store.Head(t.Context(), eventstore.Point{})
	if err != nil {
		t.Fatal(err)
	}
	editor.Update(path, obj{"title": "Quay!"})
	for range 3 { // from the second time on it is kept
		r := page(w, "/fr/event/quay/history/").Want(200)
		lacks(t, r, "data-proof", `id="checkpoint"`)
	}
	note := eventstore.Checkpoint{Size: head.Position, Origin: "calendar.example.org", Note: []byte("note\n"), Time: w.Clock.Now()}
	if err := w.Store.Append(t.Context(), []eventstore.Append{{Checkpoint: &note}})[0].Err; err != nil {
		t.Fatal(err)
	}
	r := page(w, "/fr/event/quay/history/").Want(200)
	proofs := of(r, "data-proof")
	if want := fmt.Sprintf("/fr/api/calendar/events/v1/proof/inclusion?position=%d", head.Position); !slices.Equal(proofs, []string{want}) {
		t.Errorf("proofs %v, want %s", proofs, want)
	}
	has(t, r, `<section id="checkpoint"`, `href="/fr/docs/#routes-history"`, `href="/fr/api/calendar/events/v1/checkpoint"`)
	for _, u := range []string{proofs[0], "/fr/api/calendar/events/v1/checkpoint"} {
		w.As(calendar.Anonymous).Get("/" + u).Want(200)
	}
}
