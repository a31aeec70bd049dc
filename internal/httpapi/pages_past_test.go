package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/html"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/storetest"
	"daybook/internal/httpapi"
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

// leads wants a page to lead to another one, in one step.
func leads(t *testing.T, w *world.World, from, to string) {
	t.Helper()
	r := page(w, from)
	if got := r.Header.Get("Location"); r.Status != http.StatusMovedPermanently || got != to {
		t.Errorf("%s: %d to %q, want %q", from, r.Status, got, to)
	}
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

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// classTexts are the texts of the elements of a class.
func classTexts(t *testing.T, body []byte, class string) (out []string) {
	t.Helper()
	for _, n := range nodes(t, body, func(n *html.Node) bool { return attr(n, "class") == class }) {
		out = append(out, textOf(n))
	}
	return out
}

func erase(t *testing.T, w *world.World, event calendar.ID) {
	t.Helper()
	if _, err := w.Commands.Erase(t.Context(), command.Erasure{Kind: calendar.KindEvent, ID: event}); err != nil {
		t.Fatal(err)
	}
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

// PAGES 13.11: former slugs lead to the page of today in one step; whoever has a slug now
// has it.
func TestPagesOfFormerSlugs(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	event := editor.Event("Quay", obj{"slug": "first"})
	path := event.Path(calendar.KindEvent)
	for _, slug := range []string{"second", "third"} {
		editor.Update(path, obj{"slug": slug})
	}
	wantPages(t, w, 200, "/event/third/", "/fr/event/third/")
	for _, old := range []string{"first", "second"} {
		leads(t, w, "/event/"+old+"/", "/event/third/")
		leads(t, w, "/fr/event/"+old+"/", "/fr/event/third/")
		leads(t, w, "/event/"+old+"/?tz=Asia/Tokyo&b=2&a=1", "/event/third/?tz=Asia/Tokyo&b=2&a=1")
		leads(t, w, "/event/"+old+"/history/?page=1", "/event/third/history/?page=1")
		leads(t, w, "/embed/event/"+old+"/?theme=dark", "/embed/event/third/?theme=dark")
		wantPages(t, w, 404, "/venue/"+old+"/", "/events/tag/"+old+"/")
	}
	other := editor.Event("Other", obj{"slug": "first"})
	has(t, page(w, "/event/first/").Want(200), "Other")
	leads(t, w, "/event/second/", "/event/third/")

	// Of several the last one; a draft that has the slug has it, too.
	editor.Update(other.Path(calendar.KindEvent), obj{"slug": "fourth"})
	leads(t, w, "/event/first/", "/event/fourth/")
	draft := editor.Event("Draft", obj{"slug": "first", "status": "draft"})
	wantPages(t, w, 404, "/event/first/")
	editor.Update(draft.Path(calendar.KindEvent), obj{"status": "publish"})
	has(t, page(w, "/event/first/").Want(200), "Draft")
	editor.Update(other.Path(calendar.KindEvent), obj{"status": "private"})
	editor.Update(other.Path(calendar.KindEvent), obj{"slug": "fifth"})
	wantPages(t, w, 404, "/event/fourth/", "/event/fifth/", "/event/fourth/history/")

	// A slug that only versions had which were not for everybody leads nowhere, and does not
	// stand in the way of who had it before.
	for _, k := range []calendar.Kind{calendar.KindEvent, calendar.KindVenue, calendar.KindOrganizer} {
		first := "/" + k.String() + "/"
		create := func(more obj) string {
			if k == calendar.KindEvent {
				return editor.Event("A name", more).Path(k)
			}
			more[k.NameField()] = "One of " + fmt.Sprint(more["slug"])
			return editor.Create(k, more).Path(k)
		}
		moved := create(obj{"slug": "shared"})
		editor.Update(moved, obj{"slug": "today"})
		at := create(obj{"slug": "working-title", "status": "draft"})
		for _, now := range []obj{{"slug": "shared"}, {"slug": "pending", "status": "pending"}, {"slug": "private", "status": "private"}, {"slug": "ahead", "status": "publish", "date": "2099-01-01"}} {
			editor.Update(at, now)
		}
		leads(t, w, first+"shared/", first+"today/")
		editor.Update(at, obj{"slug": "public", "date": "2020-01-01"})
		editor.Update(at, obj{"slug": "now"})
		wantPages(t, w, 200, first+"now/")
		leads(t, w, first+"public/", first+"now/")
		leads(t, w, first+"shared/", first+"today/")
		never := []string{first + "working-title/", first + "pending/", first + "private/", first + "ahead/", first + "working-title/history/", "/fr" + first + "working-title/"}
		wantPages(t, w, 404, never...)
		editor.Delete(at).Want(200)
		wantPages(t, w, 404, never...)
		wantPages(t, w, 410, first+"now/", first+"public/", first+"now__trashed/")
	}

	for _, k := range []calendar.Kind{calendar.KindVenue, calendar.KindOrganizer, calendar.KindCategory, calendar.KindTag} {
		name := k.NameField()
		r := editor.Create(k, obj{name: "A name", "slug": "old-" + k.String()})
		at := r.Path(k)
		editor.Update(at, obj{"slug": "new-" + k.String()})
		first := "/" + k.String()
		if k.IsTerm() {
			first = "/events" + first
		}
		leads(t, w, "/es"+first+"/old-"+k.String()+"/?past=true", "/es"+first+"/new-"+k.String()+"/?past=true")
		leads(t, w, first+"/old-"+k.String()+"/history/", first+"/new-"+k.String()+"/history/")
		wantPages(t, w, 200, first+"/new-"+k.String()+"/", first+"/new-"+k.String()+"/history/")
	}
}

// PAGES 13.12: what was public once is gone, and nothing of it is told; what never was is
// unknown.
func TestPagesOfWhatIsGone(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	gone := func(code string, paths ...string) {
		t.Helper()
		for _, path := range paths {
			r := page(w, path)
			if r.Status != http.StatusGone {
				t.Errorf("%s: status %d, want 410", path, r.Status)
				continue
			}
			has(t, r, `data-page="error"`, `data-code="`+code+`"`, `id="search-form"`, `href="/events/"`, `href="/"`)
			lacks(t, r, "Quay", "quay-description")
		}
	}
	for _, k := range []calendar.Kind{calendar.KindEvent, calendar.KindVenue, calendar.KindOrganizer} {
		kind := k.String()
		more := obj{"slug": "old", "description": "quay-description"}
		var r *world.Response
		if k == calendar.KindEvent {
			r = editor.Event("Quay", more)
		} else {
			more[k.NameField()] = "Quay"
			r = editor.Create(k, more)
		}
		at, id := r.Path(k), fmt.Sprint(r.Int("id"))
		editor.Update(at, obj{"slug": "new"})
		leads(t, w, "/?"+kind+"="+id, "/"+kind+"/new/")
		leads(t, w, "/cn/?tz=Asia/Tokyo&"+kind+"="+id, "/cn/"+kind+"/new/?tz=Asia/Tokyo")
		editor.Delete(at).Want(200)
		gone(kind+"-gone", "/"+kind+"/new/", "/"+kind+"/old/", "/"+kind+"/new__trashed/", "/?"+kind+"="+id, "/"+kind+"/new/history/")
		editor.Update(at, obj{})
		wantPages(t, w, 200, "/"+kind+"/new/")
		wantPages(t, w, 404, "/"+kind+"/new__trashed/") // of a version that nobody could open

		// Never public: unknown, as a draft and in the trash.
		more["slug"], more["status"] = "draft-only", "draft"
		if k == calendar.KindEvent {
			r = editor.Event("Quay", more)
		} else {
			r = editor.Create(k, more)
		}
		at, id = r.Path(k), fmt.Sprint(r.Int("id"))
		wantPages(t, w, 404, "/"+kind+"/draft-only/", "/?"+kind+"="+id)
		editor.Delete(at).Want(200)
		wantPages(t, w, 404, "/"+kind+"/draft-only/", "/"+kind+"/draft-only__trashed/", "/?"+kind+"="+id, "/"+kind+"/draft-only/history/")
	}
	for _, k := range []calendar.Kind{calendar.KindCategory, calendar.KindTag} {
		at := editor.Create(k, obj{"name": "Quay", "slug": "old"}).Path(k)
		editor.Update(at, obj{"slug": "new"})
		editor.Delete(at).Want(200)
		gone(k.String()+"-gone", "/events/"+k.String()+"/new/", "/events/"+k.String()+"/old/")
	}
}

// A scheduled event was public once its time had come, though nobody wrote it; in the trash
// before that it never was.
func TestPagesOfScheduledEventsThatAreGone(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	soon := obj{"status": "future", "date": w.Clock.Now().Add(time.Hour).Format("2006-01-02 15:04:05")}
	early, late := editor.Event("Early", soon), editor.Event("Late", soon)
	editor.Delete(early.Path(calendar.KindEvent)).Want(200)
	w.Clock.Add(2 * time.Hour)
	editor.Delete(late.Path(calendar.KindEvent)).Want(200)
	wantPages(t, w, 404, "/event/early/")
	wantPages(t, w, 410, "/event/late/")
}

// An erased record tells nothing: its slugs were never had.
func TestPagesOfErasedRecords(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	one := editor.Event("One", obj{"slug": "one"})
	editor.Update(one.Path(calendar.KindEvent), obj{"slug": "two"})
	other := editor.Event("Other", obj{"slug": "one"})
	editor.Delete(other.Path(calendar.KindEvent)).Want(200)
	wantPages(t, w, 410, "/event/one/")
	erase(t, w, other.ID())
	leads(t, w, "/event/one/", "/event/two/")
	wantPages(t, w, 404, "/event/one__trashed/", fmt.Sprintf("/?event=%d", other.Int("id")))
	erase(t, w, one.ID())
	wantPages(t, w, 404, "/event/one/", "/event/two/", fmt.Sprintf("/?event=%d", one.Int("id")), "/event/two/history/")
}

// PAGES 13.14: a sentence for each version, in four languages.
func TestPagesOfHistory(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	mill := editor.Create(calendar.KindVenue, obj{"venue": "Old Mill"})
	hall := editor.Create(calendar.KindVenue, obj{"venue": "River Hall"})
	event := editor.Event("Quay concert", obj{
		"slug": "quay", "start_date": "2026-07-04 18:30:00", "end_date": "2026-07-04 21:00:00", "venue": mill.Int("id"),
		"description": "<p>The quay is open from noon on.</p>",
	})
	path := event.Path(calendar.KindEvent)
	w.Clock.Add(time.Hour)
	editor.With("Daybook-Reason", "secret reason").Update(path, obj{"start_date": "2026-07-05 19:00:00", "end_date": "2026-07-05 21:00:00", "venue": hall.Int("id")})
	editor.Update(path, obj{"title": "Night at the quay", "description": "<p>The quay is closed from noon on.</p>"})

	r := page(w, "/event/quay/history/").Want(200)
	has(t, r, `<ol id="history"`, `data-page="history"`, `content="noindex, follow"`, `rel="canonical" href="https://calendar.example.org/event/quay/history/"`,
		"<del><span class=\"hidden\">removed </span><bdi>open</bdi></del>", "<ins><span class=\"hidden\">added </span><bdi>closed</bdi></ins>",
		">Old Mill</td><td dir=\"auto\">River Hall<", "Saturday, July 4, 2026, 6:30\u00a0PM", `href="/event/quay/?as_of=version%3A1"`, `<form id="compare"`)
	lacks(t, r, "secret reason", "editor", "is closed", `data-empty`)
	items := nodes(t, r.Body, func(n *html.Node) bool { return attr(n, "data-version") != "" })
	var versions []string
	for _, n := range items {
		versions = append(versions, attr(n, "data-version"))
		if attr(n, "data-position") == "" {
			t.Error("an item without position")
		}
	}
	if !slices.Equal(versions, []string{"3", "2", "1"}) {
		t.Errorf("versions %v", versions)
	}
	for lang, want := range map[string][]string{
		"": {
			"Changed: title: from “Quay concert” to “Night at the quay”; description: text changed",
			"Changed: start: from 4 July 2026 18:30 to 5 July 2026 19:00; end: from 4 July 2026 21:00 to 5 July 2026 21:00; venues: added “River Hall”, removed “Old Mill”",
			"Created: “Quay concert”",
		},
		"/fr": {
			"Modification : titre : de « Quay concert » à « Night at the quay »; description : texte modifié",
			"Modification : début : de 4 juillet 2026 18:30 à 5 juillet 2026 19:00; fin : de 4 juillet 2026 21:00 à 5 juillet 2026 21:00; lieux : ajout de « River Hall », retrait de « Old Mill »",
			"Création : « Quay concert »",
		},
		"/es": {
			"Modificación: título: de «Quay concert» a «Night at the quay»; descripción: texto modificado",
			"Modificación: inicio: de 4 de julio de 2026 18:30 a 5 de julio de 2026 19:00; fin: de 4 de julio de 2026 21:00 a 5 de julio de 2026 21:00; lugares: adición de «River Hall», retirada de «Old Mill»",
			"Creación: «Quay concert»",
		},
		"/cn": {
			"修改：标题：由 “Quay concert” 改为 “Night at the quay”；描述：文本已修改",
			"修改：开始时间：由 2026年7月4日 18:30 改为 2026年7月5日 19:00；结束时间：由 2026年7月4日 21:00 改为 2026年7月5日 21:00；场地：添加 “River Hall”，移除 “Old Mill”",
			"创建：“Quay concert”",
		},
	} {
		if got := classTexts(t, page(w, lang+"/event/quay/history/").Want(200).Body, "sentence"); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", lang, got, want)
		}
	}

	// As it was.
	for _, point := range []string{"version%3A1", "position%3A" + attr(items[2], "data-position"), "2026-05-01T12:00:00Z"} {
		then := page(w, "/event/quay/?as_of="+point).Want(200)
		has(t, then, "Quay concert", "Old Mill", `data-badge="version"`, `class="then"`, "This is version 1, of Friday, May 1, 2026, 12:00\u00a0PM UTC.", `content="noindex, follow"`,
			`<link rel="canonical" href="https://calendar.example.org/event/quay/">`, `href="/event/quay/"`)
		has(t, then, `href="/fr/event/quay/?as_of=`+strings.ReplaceAll(point, ":", "%3A"))
		lacks(t, then, "Night at the quay", "River Hall", "ld+json", "calendar.google")
	}
	has(t, page(w, "/fr/event/quay/?as_of=version:2").Want(200), "Ceci est la version 2", "River Hall")
	has(t, page(w, "/event/quay/?as_of=").Want(200), "Night at the quay")
	wantPages(t, w, 404, "/event/quay/?as_of=version:4", "/event/quay/?as_of=2026-04-01")
	for _, bad := range []string{"x", "position:999999", "2027-01-01", "version:0"} {
		has(t, page(w, "/event/quay/?as_of="+bad).Want(400), `id="error-as_of"`)
	}

	// Two versions.
	d := page(w, "/event/quay/history/?from=1&to=3").Want(200)
	has(t, d, `<section id="difference">`, "From version 1 to version 3", `value="1"`, `value="3"`, "venues: added “River Hall”")
	has(t, d, `href="/fr/event/quay/history/?from=1&amp;to=3"`, `<a href="/event/quay/" dir="auto">Night at the quay</a>`)
	has(t, page(w, "/event/quay/history/?from=3&to=1").Want(200), "from “Night at the quay” to “Quay concert”")
	has(t, page(w, "/event/quay/history/?from=&to=2").Want(200), "From version 1 to version 2")
	lacks(t, page(w, "/event/quay/history/?from=&to=").Want(200), `id="difference"`)
	has(t, page(w, "/event/quay/history/?from=x&to=2").Want(400), `id="error-from"`, `value="x"`, `value="2"`, `aria-describedby="error-from"`,
		`<a href="#compare-from">From version</a>`, "<title>Something was not understood. From version")
	both := page(w, "/event/quay/history/?from=x&page=0").Want(400)
	has(t, both, `id="error-from"`, `id="error-page"`)
	if n := strings.Count(string(both.Body), `id="error-from"`); n != 1 {
		t.Errorf("the problem stands %d times", n)
	}
	wantPages(t, w, 404, "/event/quay/history/?from=1&to=9", "/event/quay/history/?page=2")
	wantPages(t, w, 400, "/event/quay/history/?page=0", "/event/quay/history/?page=x", "/event/quay/history/?tz=foo")
	has(t, page(w, "/event/quay/history/?tz=Asia/Tokyo").Want(200), "9:00\u00a0PM JST")
	has(t, page(w, "/event/quay/").Want(200), "Version 3, changed Friday, May 1, 2026", `href="/event/quay/history/"`)

	// One version.
	has(t, page(w, "/venue/old-mill/history/").Want(200), `id="results" data-total="0" data-empty="true"`, "Not changed since Friday, May 1, 2026.", `data-version="1"`, `href="/venue/old-mill/"`)
	lacks(t, page(w, "/venue/old-mill/history/"), "as_of=")
}

// What was not open is not told: neither drafts before publication nor what is protected
// now; nothing links what is closed.
func TestPagesOfHistoryThatIsClosed(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	event := editor.Event("Draft title", obj{"slug": "quay", "status": "draft"})
	path := event.Path(calendar.KindEvent)
	editor.Update(path, obj{"title": "Public title", "status": "publish"})
	r := page(w, "/event/quay/history/").Want(200)
	if got := classTexts(t, r.Body, "sentence"); !slices.Equal(got, []string{"Published: “Public title”"}) {
		t.Errorf("got %q", got)
	}
	lacks(t, r, "Draft title")
	wantPages(t, w, 404, "/event/quay/?as_of=version:1", "/event/quay/history/?from=1&to=2")
	editor.Update(path, obj{"password": "open sesame"})
	wantPages(t, w, 404, "/event/quay/history/", "/event/quay/?as_of=version:2", "/fr/event/quay/history/")
	lacks(t, page(w, "/event/quay/").Want(200), "history/", "as_of")
	opened := unlock(w.As(calendar.Anonymous).With("Accept", "text/html"), "/event/quay/", "open sesame").Want(200)
	has(t, opened, "Version 3, changed")
	lacks(t, opened, "history/", "as_of")

	for _, setting := range []httpapi.PublicHistory{httpapi.PublicHistoryProofs, httpapi.PublicHistoryNone} {
		w := pagesWorld(t, world.Options{HTTP: httpapi.Options{PublicHistory: setting}})
		editor := w.As(calendar.Editor)
		event := editor.Event("Quay", nil)
		editor.Update(event.Path(calendar.KindEvent), obj{"start_date": "2026-05-12 10:00:00", "end_date": "2026-05-12 12:00:00"})
		editor.Create(calendar.KindTag, obj{"name": "jazz"})
		wantPages(t, w, 404, "/event/quay/history/", "/event/quay/?as_of=version:1", "/events/tag/jazz/history/", "/event/nothing/history/")
		for _, at := range []string{"/event/quay/", "/events/tag/jazz/"} {
			r := page(w, at).Want(200)
			lacks(t, r, "history/", "EventRescheduled")
			has(t, r, "changed")
		}
	}
}

// Who sees more of the past sees it in previews: drafts, who made a change, and why.
func TestPagesOfHistoryInPreviews(t *testing.T) {
	t.Parallel()
	w := pagesWorld(t, world.Options{HTTP: httpapi.Options{PublicHistory: httpapi.PublicHistoryNone}})
	editor := w.As(calendar.Editor)
	event := editor.Event("First draft", obj{"slug": "quay", "status": "draft"})
	path := event.Path(calendar.KindEvent)
	editor.With("Daybook-Reason", "hall double-booked").Update(path, obj{"title": "Second draft"})
	read := func(c *world.Client, path string) *world.Response {
		return c.With("Accept", "text/html").Get("/" + path)
	}
	for _, role := range []calendar.Role{calendar.Auditor, calendar.Editor} {
		r := read(w.As(role), "/event/quay/history/?preview=true").Want(200)
		has(t, r, "by <bdi>editor</bdi> · <bdi>hall double-booked</bdi>", "First draft", `href="/event/quay/?as_of=version%3A1&amp;preview=true"`, `id="preview"`)
		has(t, read(w.As(role), "/event/quay/?as_of=version:1&preview=true").Want(200), "First draft", `data-badge="version"`)
	}
	for _, c := range []*world.Client{w.As(calendar.Contributor), w.AsOther(calendar.Author)} {
		read(c, "/event/quay/history/?preview=true").Want(404)
	}
	editor.Update(path, obj{"status": "publish"})
	wantPages(t, w, 404, "/event/quay/history/")
	lacks(t, page(w, "/event/quay/").Want(200), "history/")
	has(t, read(w.As(calendar.Auditor), "/event/quay/?preview=true").Want(200), `href="/event/quay/history/?preview=true"`)
	read(w.As(calendar.Subscriber), "/event/quay/history/?preview=true").Want(404)
}

// PAGES 3.2: a start that was moved after publication.
func TestPagesOfEventsThatWereMoved(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	to := func(start string) obj {
		return obj{"start_date": start, "end_date": "2026-09-01 21:00:00", "timezone": "America/New_York"}
	}
	event := editor.Event("Quay", to("2026-07-04 18:30:00"))
	path := event.Path(calendar.KindEvent)
	scheduled := func() {
		t.Helper()
		has(t, page(w, "/event/quay/").Want(200), "schema.org/EventScheduled")
		lacks(t, page(w, "/event/quay/"), "previousStartDate")
	}
	scheduled()
	editor.Update(path, obj{"title": "Quay!", "end_date": "2026-09-01 22:00:00"})
	scheduled()
	editor.Update(path, to("2026-08-05 19:00:00"))
	editor.Update(path, obj{"title": "Quay?"})
	has(t, page(w, "/event/quay/").Want(200), "schema.org/EventRescheduled", `"previousStartDate":"2026-07-04T18:30:00-04:00"`, `"startDate":"2026-08-05T19:00:00-04:00"`)

	// What is moved back was moved last from where it was between.
	editor.Update(path, to("2026-07-04 18:30:00"))
	has(t, page(w, "/event/quay/").Want(200), `"previousStartDate":"2026-08-05T19:00:00-04:00"`)
	editor.Update(path, obj{"timezone": "Europe/Paris"})
	has(t, page(w, "/event/quay/").Want(200), `"previousStartDate":"2026-07-04T18:30:00-04:00"`)
	editor.Update(path, obj{"title": "Quay"})
	has(t, page(w, "/event/quay/").Want(200), `"previousStartDate":"2026-07-04T18:30:00-04:00"`)

	draft := editor.Event("Mill", obj{"status": "draft"})
	editor.Update(draft.Path(calendar.KindEvent), to("2026-08-05 19:00:00"))
	editor.Update(draft.Path(calendar.KindEvent), obj{"status": "publish"})
	lacks(t, page(w, "/event/mill/").Want(200), "previousStartDate")
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

// countsHistory counts the entries that histories are read of.
type countsHistory struct {
	eventstore.Store

	read atomic.Int64
}

func (c *countsHistory) History(ctx context.Context, id calendar.ID, after int64, limit int) ([]eventstore.Entry, error) {
	entries, err := c.Store.History(ctx, id, after, limit)
	c.read.Add(int64(len(entries)))
	return entries, err
}

// A page of a long history reads what it shows, and little more.
func TestPagesOfLongHistoriesReadLittle(t *testing.T) {
	t.Parallel()
	store := &countsHistory{Store: memstore.New()}
	w := pagesWorld(t, world.Options{Store: store})
	event := w.As(calendar.Editor).Event("Quay", nil)
	states, err := w.Store.Load(t.Context(), event.ID())
	if err != nil {
		t.Fatal(err)
	}
	r, err := calendar.DecodeRecord(states[0].Record)
	if err != nil {
		t.Fatal(err)
	}
	const versions = 3000
	for r.Version < versions {
		var drafts []eventstore.Draft
		for range min(versions-r.Version, 250) {
			var d eventstore.Draft
			d, r = storetest.Draft(t, r, calendar.Change{
				Name: "event.updated", Kind: r.Kind, ID: r.ID, Fields: calendar.Fields{"title": calendar.Text{calendar.LangEN: fmt.Sprintf("Quay %d", r.Version+1)}},
			}, w.Clock.Now())
			drafts = append(drafts, d)
		}
		if res := w.Store.Append(t.Context(), []eventstore.Append{{Drafts: drafts, Time: w.Clock.Now()}})[0]; res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	for n, first := range map[int]int{1: 3000, 31: 1500, 60: 50} {
		before := store.read.Load()
		r := page(w, fmt.Sprintf("/event/quay/history/?page=%d", n)).Want(200)
		items := nodes(t, r.Body, func(n *html.Node) bool { return attr(n, "data-version") != "" })
		if len(items) != 50 || attr(items[0], "data-version") != fmt.Sprint(first) {
			t.Errorf("page %d: %d versions, the first %s", n, len(items), attr(items[0], "data-version"))
		}
		if read := store.read.Load() - before; read > 400 {
			t.Errorf("page %d reads %d versions", n, read)
		}
	}
	wantPages(t, w, 404, "/event/quay/history/?page=61")
	wantPages(t, w, 200, "/event/quay/") // looks whether it was moved
	before := store.read.Load()
	w.As(calendar.Editor).Update(event.Path(calendar.KindEvent), obj{"title": "Quay!"})
	wantPages(t, w, 200, "/event/quay/")
	if read := store.read.Load() - before; read > 20 {
		t.Errorf("an event page reads %d versions again", read)
	}

	// So do the answers for a draft that was in the trash all the time, once it was looked at.
	draft := w.As(calendar.Editor).Event("Draft", obj{"slug": "draft", "status": "draft"}).Path(calendar.KindEvent)
	for n := range 40 {
		w.As(calendar.Editor).Update(draft, obj{"title": fmt.Sprintf("Draft %d", n)})
	}
	w.As(calendar.Editor).Delete(draft).Want(200)
	wantPages(t, w, 404, "/event/draft/")
	before = store.read.Load()
	wantPages(t, w, 404, "/event/draft/", "/event/draft__trashed/")
	if read := store.read.Load() - before; read != 0 {
		t.Errorf("%d versions are read again", read)
	}
}
