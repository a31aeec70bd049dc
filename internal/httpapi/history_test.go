package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// told gives a value of each entry of a page.
func told(r *world.Response, path string) []any {
	out := []any{}
	for i := range r.Len("entries") {
		v, _ := r.Lookup(fmt.Sprintf("entries.%d.%s", i, path))
		out = append(out, v)
	}
	return out
}

func wantTold(t *testing.T, r *world.Response, path string, want ...any) {
	t.Helper()
	got := told(r, path)
	for i, v := range want {
		if n, ok := v.(int); ok {
			want[i] = float64(n)
		}
	}
	if !reflect.DeepEqual(got, append([]any{}, want...)) {
		t.Errorf("%s of entries: got %v, want %v", path, got, want)
	}
}

// HISTORY 20.1.
func TestHistoryPages(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	event := w.As(calendar.Editor).Event("Quay concert", nil)
	path := event.Path(calendar.KindEvent)
	for i := range 3 {
		w.As(calendar.Editor).Update(path, obj{"title": fmt.Sprintf("Title %d", i)})
	}
	auditor := w.As(calendar.Auditor)
	wantTold(t, auditor.Read(path+"/history"), "version", 4, 3, 2, 1)
	wantTold(t, auditor.Get(path+"/history?order=asc"), "version", 1, 2, 3, 4)
	wantTold(t, auditor.Get(path+"/history?after=1&before=4"), "version", 3, 2)
	wantTold(t, auditor.Get(path+"/history?limit=5000"), "version", 4, 3, 2, 1)
	wantTold(t, auditor.Read(path+"/history?after=9"), "version")
	wantTold(t, auditor.Read(path+"/history?after=99999999999999999999"), "version") // there is no number behind it
	if auditor.Get(path + "/history?after=9").Has("looked_to") {
		t.Error("looked_to though nothing was looked at")
	}
	for _, order := range []string{"desc", "asc"} {
		var seen []any
		at := path + "/history?order=" + order + "&limit=1&field=title"
		for range 9 {
			r := auditor.Read(at)
			seen = append(seen, told(r, "version")...)
			next, more := r.Lookup("next_rest_url")
			if !more {
				break
			}
			if link := r.Header.Get("Link"); link != "<"+next.(string)+`>; rel="next"` {
				t.Errorf("Link: got %s, want that of %s", link, next)
			}
			_, at, _ = strings.Cut(next.(string), "/calendar/events/v1")
		}
		want := []any{4.0, 3.0, 2.0, 1.0}
		if order == "asc" {
			slices.Reverse(want)
		}
		if !reflect.DeepEqual(seen, want) {
			t.Errorf("walk %s: got %v, want %v", order, seen, want)
		}
	}
	url := world.Base + "/api/calendar/events/v1" + path + "/history"
	auditor.Get(path+"/history?limit=1&foo=1").WantField("rest_url", url+"?limit=1").
		WantField("next_rest_url", url+"?before=4&limit=1").WantField("looked_to", 4)
	auditor.Get(path+"/history?multilang_language=fr&action=updated,created&order=asc&limit=2").
		WantField("next_rest_url", url+"?order=asc&after=2&limit=2&action=updated%2Ccreated&multilang_language=fr")
	for sent, name := range map[string]string{
		"order=up": "order", "order=": "order", "limit=0": "limit", "limit=x": "limit", "limit=": "limit", "after=-1": "after", "before=x": "before",
		"action=changed": "action", "action=": "action", "field=modified": "field", "field=date_utc": "field", "field=multilang_language": "field",
	} {
		auditor.Get(path + "/history?" + sent).WantBad(name)
	}
	auditor.Get("/events/999/history").WantCode(404, "rest-event-not-found")
	auditor.Get("/venues/"+event.ID().String()+"/history").WantCode(404, "venue-not-found")
	auditor.Get("/events/by-slug/quay-concert/history").WantCode(404, "rest_no_route")
	first := w.As(calendar.Anonymous).Get(path + "/history")
	if got := first.Header.Get("Cache-Control"); got != "public, no-cache" {
		t.Errorf("Cache-Control: %s", got)
	}
	if got := first.Header.Get("Cache-Groups"); got != fmt.Sprintf(`"daybook-%d"`, event.ID()) {
		t.Errorf("Cache-Groups: %s", got)
	}
	w.As(calendar.Anonymous).With("If-None-Match", first.ETag()).Get(path + "/history").Want(304)
	if got := w.As(calendar.Anonymous).Get(path + "/history?order=x").Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control of an error: %s", got)
	}
	if got := auditor.Get(path + "/history").Header.Get("Cache-Control"); got != "no-store, private" {
		t.Errorf("Cache-Control with credentials: %s", got)
	}
}

// HISTORY 20.2 and 20.4.
func TestHistoryChanges(t *testing.T) {
	t.Parallel()
	w, editor, _ := newWorld(t)
	event := editor.Event("Quay concert & picnic", obj{"start_date": "2026-07-04 18:30", "end_date": "2026-07-05 21:00"})
	path := event.Path(calendar.KindEvent)
	editor.Update(path, obj{"start_date": "2026-07-05 19:00", "title": "Quay"})
	r := editor.Get(path + "/history?limit=1")
	r.WantField("entries.0.changes.0.field", "title").WantField("entries.0.changes.0.before", "Quay concert & picnic").WantField("entries.0.changes.0.language", "en").
		WantField("entries.0.changes.1.field", "start_date").WantField("entries.0.changes.1.before", "2026-07-04 18:30:00").WantField("entries.0.changes.1.after", "2026-07-05 19:00:00")
	if n := r.Len("entries.0.changes"); n != 2 {
		t.Errorf("got %d changes, want 2", n)
	}
	editor.Under(calendar.LangFR).Update(path, obj{"title": "Quai"})
	editor.Get(path+"/history?limit=1").WantField("entries.0.changes.0.language", "fr").WantField("entries.0.changes.0.before", nil).
		WantField("entries.0.changes.0.sentence", "title (fr): “Quai”").WantField("entries.0.name", "Quay")
	// HISTORY 20.3: root and selector give the same texts.
	fr, selected := editor.Under(calendar.LangFR).Get(path+"/history?after=1&before=3"), editor.Get(path+"/history?after=1&before=3&multilang_language=fr")
	for _, r := range []*world.Response{fr, selected} {
		r.WantField("entries.0.summary", "Modification : titre : de «\u00a0Quay concert & picnic\u00a0» à «\u00a0Quay\u00a0»; début : de 4 juillet 2026 18:30 à 5 juillet 2026 19:00")
	}
	editor.Update(path, obj{})
	editor.Get(path+"/history?limit=1").WantField("entries.0.changes", []any{}).WantField("entries.0.summary", "Changed").WantField("entries.0.action", "updated")
	for range 2 {
		editor.Update(path, obj{"password": "s3cret"})
	}
	r = editor.Get(path + "/history?field=password")
	wantTold(t, r, "changes.0.sentence", "password: changed", "password: set")
	wantTold(t, r, "changes.0.before", true, nil)
	wantTold(t, r, "changes.0.after", true, true)
	if body := string(r.Body); strings.Contains(body, "s3cret") || strings.Contains(body, "hash") || strings.Contains(body, "argon") {
		t.Errorf("the password shows: %s", body)
	}
	// What the service keeps beside is not shown; a linked record has its name as of the entry.
	venue := editor.Create(calendar.KindVenue, obj{"venue": "Old Mill"})
	editor.Update(path, obj{"venue": venue.ID(), "password": ""})
	editor.Update(venue.Path(calendar.KindVenue), obj{"venue": "New Mill"})
	editor.Update(path, obj{"venue": ""})
	r = editor.Get(path + "/history?field=venue")
	wantTold(t, r, "summary", "Changed: venues: removed “New Mill”", "Changed: venues: added “Old Mill”; password: removed")
	if body := string(r.Body); strings.Contains(body, "modified") || strings.Contains(body, "utc_") {
		t.Errorf("what is kept beside shows: %s", body)
	}
	if got := r.Header.Get("Cache-Groups"); got != fmt.Sprintf(`"daybook-%d", "daybook-%d"`, event.ID(), venue.ID()) {
		t.Errorf("Cache-Groups: %s", got)
	}
	// A venue that is private now has no name for others.
	editor.Update(venue.Path(calendar.KindVenue), obj{"status": "private"})
	wantTold(t, w.As(calendar.Anonymous).Get(path+"/history?field=venue"), "summary",
		fmt.Sprintf("Changed: venues: removed #%d", venue.ID()))
	editor.Delete(path).Want(200)
	editor.Update(path, obj{})
	wantTold(t, editor.Get(path+"/history?limit=2"), "action", "restored", "trashed")
	wantTold(t, editor.Get(path+"/history?limit=2"), "summary", "Restored", "Moved to the trash")
	wantTold(t, editor.Get(path+"/history?limit=2"), "changes.1.sentence", "status: from trash to published", "status: from published to trash")
}

// HISTORY 20.5.
func TestWhoSeesActors(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	author := w.As(calendar.Author)
	event := author.With("User-Agent", "curl/8", "X-Request-Id", "r1", "Daybook-Reason", "hall double-booked").Event("Quay", nil)
	path := event.Path(calendar.KindEvent)
	for role, keys := range map[calendar.Role][]string{
		calendar.Anonymous: nil, calendar.Subscriber: nil, calendar.Contributor: nil, calendar.Author: {"actor", "reason"},
		calendar.Editor:        {"actor", "client", "request", "reason"},
		calendar.Administrator: {"actor", "client", "request", "reason"}, calendar.Auditor: {"actor", "client", "request", "reason"},
	} {
		for _, at := range []string{path + "/history", "/changes?id=" + event.ID().String()} {
			r := w.As(role).Read(at)
			for _, key := range []string{"actor", "client", "request", "reason"} {
				if r.Has("entries.0."+key) != slices.Contains(keys, key) {
					t.Errorf("%s, %s: %s", role, at, r.Body)
				}
			}
		}
	}
	if other := w.AsOther(calendar.Author).Get(path + "/history"); other.Has("entries.0.actor") {
		t.Errorf("another author: %s", other.Body)
	}
	w.As(calendar.Auditor).Get(path+"/history").WantField("entries.0.actor.name", "author").WantField("entries.0.reason", "hall double-booked").
		WantField("entries.0.client", "curl/8").WantField("entries.0.request", "r1")
}

// HISTORY 20.6 to 20.9: what an anonymous caller reads of drafts and of what is withdrawn.
func TestPublicPast(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	event := editor.Event("Draft words", obj{"status": "draft"})
	path := event.Path(calendar.KindEvent)
	editor.Update(path, obj{"title": "Draft words 2"})
	editor.Update(path, obj{"title": "Quay"})
	nobody.Get(path+"/history").WantCode(403, "event-not-accessible")
	nobody.Get(path+"/diff").WantCode(403, "event-not-accessible")
	editor.Update(path, obj{"status": "publish"})
	r := nobody.Get(path + "/history")
	wantTold(t, r, "version", 4)
	wantTold(t, r, "action", "published")
	r.WantField("entries.0.changes", []any{}).WantField("entries.0.summary", "Published: “Quay”")
	if r.Has("entries.0.urls.diff") || !strings.HasSuffix(r.String("entries.0.urls.version"), path+"?as_of=version%3A4") {
		t.Errorf("urls: %s", r.Body)
	}
	nobody.Get(path+"/diff?from=3&to=4").WantCode(403, "event-not-accessible")
	nobody.Get(path+"/diff").WantField("from", obj{"version": 0.0}).WantField("to.version", 4)
	for _, at := range []string{path + "/history", path + "/diff?records=1", "/changes", "/changes?format=csv", "/changes?action=created,updated"} {
		if body := string(nobody.Read(at).Body); strings.Contains(body, "Draft words") {
			t.Errorf("%s holds the draft's text: %s", at, body)
		}
	}
	// 20.7: each run of published versions begins with published.
	editor.Update(path, obj{"excerpt": "open"})
	editor.Update(path, obj{"status": "draft"})
	editor.Update(path, obj{"status": "publish"})
	editor.Update(path, obj{"excerpt": "more"})
	r = nobody.Get(path + "/history?order=asc")
	wantTold(t, r, "version", 4, 5, 7, 8)
	wantTold(t, r, "action", "published", "updated", "published", "updated")
	wantTold(t, nobody.Get(path+"/history?action=published"), "version", 7, 4)
	wantTold(t, nobody.Get("/changes?order=asc&kind=event&action=updated"), "version", 5, 8)
	wantTold(t, editor.Get("/changes?order=asc&kind=event&action=published"), "version")
	nobody.Get(path+"/diff?from=5&to=7").WantField("changes", []any{}).WantField("patch", []any{}).WantField("summary", "Changed")
	nobody.Get(path+"/diff?to=7").WantField("from.version", 5)
	// 20.8: withdrawn now, it has no public past; restored, the public versions are there.
	withdraw := map[string]obj{"event-not-accessible": {"status": "private"}, "event-password-protected": {"password": "x"}}
	for code, fields := range withdraw {
		editor.Update(path, fields)
		for _, at := range []string{"/history", "/diff", "/diff?from=4&to=5", "/history?password=x"} {
			nobody.Get(path+at).WantCode(403, code) // 20.9: a password opens no past
		}
		wantTold(t, nobody.Get("/changes?kind=event"), "version")
		editor.Update(path, obj{"status": "publish", "password": ""})
	}
	editor.Delete(path).Want(200)
	nobody.Get(path+"/history").WantCode(403, "event-no-longer-available")
	wantTold(t, nobody.Get("/changes?kind=event"), "version")
	if got := editor.Read(path + "/history").Len("entries"); got != 13 {
		t.Errorf("an editor gets %d versions of a trashed event, want 13", got)
	}
	editor.Update(path, obj{})
	wantTold(t, nobody.Get(path+"/history?order=asc"), "version", 4, 5, 7, 8, 10, 12, 14)
	// A deleted term is there for readers of all only.
	tag := editor.Create(calendar.KindTag, obj{"name": "Jazz"}).Path(calendar.KindTag)
	editor.Delete(tag).Want(200)
	nobody.Get(tag+"/history").WantCode(404, "tag-not-found")
	r = editor.Get(tag + "/history")
	wantTold(t, r, "action", "deleted", "created")
	if r.Has("entries.0.urls.version") || !r.Has("entries.0.urls.diff") {
		t.Errorf("urls of a deletion: %s", r.Body)
	}
	// The author reads the past of an own trashed event.
	own := w.As(calendar.Author).Event("Own", nil).Path(calendar.KindEvent)
	w.As(calendar.Author).Delete(own).Want(200)
	wantTold(t, w.As(calendar.Author).Get(own+"/history"), "action", "trashed", "created")
	w.AsOther(calendar.Author).Get(own+"/history").WantCode(403, "event-no-longer-available")
}

// HISTORY 20.10: a scheduled version that went public without a change is open.
func TestScheduledVersionIsOpen(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	event := w.As(calendar.Editor).Event("Soon", obj{"date_utc": w.Clock.Now().Add(90e9).UTC().Format("2006-01-02 15:04:05")}).WantField("status", "future")
	path := event.Path(calendar.KindEvent)
	w.As(calendar.Anonymous).Get(path+"/history").WantCode(403, "event-not-accessible")
	w.Clock.Add(91e9)
	wantTold(t, w.As(calendar.Anonymous).Get(path+"/history"), "action", "created")
	w.As(calendar.Editor).Update(path, obj{"title": "Now"})
	wantTold(t, w.As(calendar.Anonymous).Get(path+"/history"), "action", "updated", "created")
	wantTold(t, w.As(calendar.Anonymous).Get("/changes?limit=1"), "action", "updated")
	// One that was changed before it went public never was.
	late := w.As(calendar.Editor).Event("Late", obj{"date_utc": w.Clock.Now().Add(90e9).UTC().Format("2006-01-02 15:04:05")}).Path(calendar.KindEvent)
	w.As(calendar.Editor).Update(late, obj{"title": "Later"})
	w.Clock.Add(91e9)
	wantTold(t, w.As(calendar.Anonymous).Get(late+"/history"), "version", 2)
	wantTold(t, w.As(calendar.Anonymous).Get("/changes?id="+strings.TrimPrefix(late, "/events/")), "version", 2)
}

// HISTORY 20.21.
func TestDiff(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	event := editor.Event("Quay", obj{"cost": "5", "description": "One"})
	path := event.Path(calendar.KindEvent)
	editor.Under(calendar.LangFR).Update(path, obj{"title": "Quai", "featured": true, "description": ""})
	editor.Update(path, obj{"description": "", "title": "Pier"})
	r := nobody.Get(path + "/diff?from=1&to=3&records=true")
	r.WantField("from.version", 1).WantField("to.version", 3).WantField("from.record.title", obj{"en": "Quay"}).
		WantField("to.record.title", obj{"en": "Pier", "fr": "Quai"}).WantField("from.record.cost", []any{"5"}).
		WantField("patch", []any{
			obj{"op": "remove", "path": "/description"},
			obj{"op": "replace", "path": "/featured", "value": true},
			obj{"op": "replace", "path": "/title/en", "value": "Pier"},
			obj{"op": "add", "path": "/title/fr", "value": "Quai"},
		}).WantField("summary", "Changed: title: from “Quay” to “Pier”; title (fr): “Quai”; description: text removed; featured: from no to yes")
	if r.Has("from.record.password") {
		t.Error("a record has a password")
	}
	if got := r.Header.Get("Cache-Control"); got != "public, max-age=300" {
		t.Errorf("Cache-Control of two versions: %s", got)
	}
	if got := nobody.Get(path + "/diff?from=1").Header.Get("Cache-Control"); got != "public, no-cache" {
		t.Errorf("Cache-Control of the newest version: %s", got)
	}
	nobody.Get(path+"/diff?from=3&to=1").WantField("patch.1.value", false).WantField("patch.0.op", "add")
	nobody.Get(path+"/diff").WantField("from.version", 2).WantField("to.version", 3)
	nobody.Get(path+"/diff?to=1&records=1").WantField("from", obj{"version": 0.0, "record": obj{}})
	array := nobody.With("Accept", "application/json-patch+json").Get(path + "/diff?from=3&to=3")
	if string(array.Body) != "[]" || array.Header.Get("Content-Type") != "application/json-patch+json" {
		t.Errorf("equal versions: %s of %s", array.Body, array.Header.Get("Content-Type"))
	}
	nobody.With("Accept", "application/json-patch+json;q=0.4, application/json").Get(path+"/diff").WantField("to.version", 3)
	for sent, name := range map[string]string{"from=0": "from", "to=0": "to", "to=x": "to", "records=2": "records", "from=": "from"} {
		nobody.Get(path + "/diff?" + sent).WantBad(name)
	}
	nobody.Get(path+"/diff?from=9").WantCode(404, "rest_version_not_found")
	nobody.Get(path+"/diff?to=4").WantCode(404, "rest_version_not_found")
	editor.Update(path, obj{"password": "a"})
	editor.Update(path, obj{"title": "Pier 2"})
	editor.Update(path, obj{"password": "b"})
	editor.Get(path+"/diff?from=4&to=5").WantField("summary", "Changed: title: from “Pier” to “Pier 2”")
	editor.Get(path+"/diff?from=5&to=6").WantField("summary", "Changed: password: changed").WantField("patch", []any{})
	editor.Get(path+"/diff?from=6&to=4").WantField("changes.1.after", true)
}

// HISTORY 20.22 to 20.24.
func TestChanges(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	editor, auditor := w.As(calendar.Editor), w.As(calendar.Auditor)
	venue := editor.With("Daybook-Reason", "=1+1").Create(calendar.KindVenue, obj{"venue": "Hall, “A”"})
	event := w.As(calendar.Author).Event("Quay", obj{"venue": venue.ID(), "image": "https://img.example/a.jpg"})
	w.Clock.Add(10e9)
	since := w.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	editor.Update(event.Path(calendar.KindEvent), obj{"title": "Pier"})
	editor.Delete(venue.Path(calendar.KindVenue)).Want(200)
	all := auditor.Get("/changes?order=asc&limit=1000")
	all.WantField("head", int(w.Head())).WantField("looked_to", int(w.Head()))
	if got := all.Position(); got != w.Head() {
		t.Errorf("Daybook-Position: %d", got)
	}
	entries := all.Get("entries").([]any)
	pick := func(in func(e map[string]any) bool) (out []any) {
		for _, e := range entries {
			if in(e.(map[string]any)) {
				out = append(out, e.(map[string]any)["position"])
			}
		}
		return out
	}
	changes := func(e map[string]any, field string) bool {
		return slices.ContainsFunc(e["changes"].([]any), func(c any) bool { return c.(map[string]any)["field"] == field })
	}
	for sent, in := range map[string]func(e map[string]any) bool{
		"kind=venue,user":                     func(e map[string]any) bool { return e["kind"] == "venue" || e["kind"] == "user" },
		"kind=image":                          func(e map[string]any) bool { return e["kind"] == "image" },
		"id=" + event.ID().String() + ",9999": func(e map[string]any) bool { return e["id"] == float64(event.ID()) },
		"actor=0":                             func(e map[string]any) bool { return e["actor"].(map[string]any)["id"] == 0.0 },
		"action=trashed,updated":              func(e map[string]any) bool { return e["action"] == "trashed" || e["action"] == "updated" },
		"field=title":                         func(e map[string]any) bool { return changes(e, "title") },
		"field=url,status":                    func(e map[string]any) bool { return changes(e, "url") || changes(e, "status") },
		"since=" + url.QueryEscape(since):     func(e map[string]any) bool { return e["time"].(string) >= since },
		"until=" + url.QueryEscape(since):     func(e map[string]any) bool { return e["time"].(string) < since },
		"after=3":                             func(e map[string]any) bool { return e["position"].(float64) > 3 },
		"before=3":                            func(e map[string]any) bool { return e["position"].(float64) < 3 },
	} {
		want := pick(in)
		if got := told(auditor.Read("/changes?order=asc&"+sent), "position"); fmt.Sprint(got) != fmt.Sprint(want) || len(want) == 0 {
			t.Errorf("%s: got %v, want %v", sent, got, want)
		}
	}
	reversed := told(auditor.Get("/changes"), "position")
	slices.Reverse(reversed)
	if fmt.Sprint(reversed) != fmt.Sprint(told(all, "position")) {
		t.Errorf("newest first: %v", reversed)
	}
	w.As(calendar.Anonymous).Get("/changes?actor=1").WantBad("actor")
	w.As(calendar.Author).Get("/changes?actor=1").WantBad("actor")
	editor.Get("/changes?kind=user").WantBad("kind")
	editor.Get("/changes?field=role").WantBad("field")
	wantTold(t, auditor.Get("/changes?kind=user&limit=1"), "urls", nil)
	for sent, name := range map[string]string{
		"after=" + fmt.Sprint(w.Head()+1): "after", "id=x": "id", "id=0": "id", "id=": "id", "kind=foo": "kind", "since=soonish": "since", "until=": "until",
		"format=xml": "format", "actor=-1": "actor", "order=x": "order", "limit=0": "limit",
	} {
		auditor.Get("/changes?" + sent).WantBad(name)
	}
	if r := editor.Get("/changes"); slices.Contains(told(r, "kind"), any("user")) || slices.Contains(told(r, "kind"), any("image")) {
		t.Errorf("an editor sees users or images: %v", told(r, "kind"))
	}
	// The formats hold the same entries.
	page := auditor.Get("/changes?limit=3&order=asc")
	lines := auditor.With("Accept", "text/csv;q=0.5, application/x-ndjson").Get("/changes?limit=3&order=asc")
	var fromLines []any
	for line := range strings.Lines(string(lines.Body)) {
		var e any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		fromLines = append(fromLines, e)
	}
	if !reflect.DeepEqual(fromLines, page.Get("entries")) || lines.Header.Get("Content-Type") != "application/x-ndjson; charset=utf-8" {
		t.Errorf("ndjson: %s", lines.Body)
	}
	if lines.Header.Get("Link") == "" || lines.Position() != w.Head() || !strings.Contains(lines.Header.Get("Link"), "after=3") {
		t.Errorf("headers of ndjson: %v", lines.Header)
	}
	sheet := auditor.With("Accept", "application/x-ndjson").Get("/changes?format=csv&kind=venue&order=asc&limit=1")
	rows := strings.Split(string(sheet.Body), "\r\n")
	if rows[0] != "position,time,kind,id,version,action,actor,actor_name,client,request,reason,name,fields,summary" || len(rows) != 3 ||
		!strings.Contains(rows[1], ",'=1+1,\"Hall, “A”\",author;date;venue;slug;status;") && !strings.Contains(rows[1], ",'=1+1,\"Hall, “A”\",") {
		t.Errorf("csv: %q", rows)
	}
	if got := sheet.Header.Get("Content-Type"); got != "text/csv; charset=utf-8; header=present" {
		t.Errorf("type of csv: %s", got)
	}
	for accept, want := range map[string]string{
		"": "application/json", "*/*": "application/json", "text/csv, application/json": "application/json", "text/csv, application/json;q=0.9": "text/csv",
		"application/x-ndjson, text/csv": "application/x-ndjson", "text/html": "application/json", "text/csv;q=0": "application/json",
	} {
		if got := auditor.With("Accept", accept).Get("/changes?limit=1").Header.Get("Content-Type"); !strings.HasPrefix(got, want+";") {
			t.Errorf("Accept %q: got %s, want %s", accept, got, want)
		}
	}
	w.As(calendar.Anonymous).With("If-None-Match", w.As(calendar.Anonymous).Get("/changes").ETag()).Get("/changes").Want(304)
}

// HISTORY 20.26.
func TestPublicHistory(t *testing.T) {
	t.Parallel()
	for _, setting := range []httpapi.PublicHistory{httpapi.PublicHistoryProofs, httpapi.PublicHistoryNone} {
		w := world.New(t, world.Options{HTTP: httpapi.Options{PublicHistory: setting}})
		path := w.As(calendar.Author).Event("Quay", nil).Path(calendar.KindEvent)
		for _, at := range []string{path + "/history", path + "/diff?from=x", "/changes?limit=x", "/events/999/history"} {
			w.As(calendar.Anonymous).Get(at).WantCode(401, "rest_forbidden")
			w.As(calendar.Author).Get(at).WantCode(403, "rest_forbidden")
		}
		for _, at := range []string{path + "/history", path + "/diff", "/changes"} {
			w.As(calendar.Editor).Read(at)
		}
	}
}

// HISTORY 20.23: a page over entries that do not match is empty and has a next one.
func TestChangesOverMuchElse(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	w := world.New(t, world.Options{Store: store})
	tag := w.As(calendar.Editor).Create(calendar.KindTag, obj{"name": "Jazz"})
	r := recordOf(t, w, tag.ID())
	appends := make([]eventstore.Append, 6000)
	for i := range appends {
		c := calendar.Change{Name: "tag.updated", Kind: calendar.KindTag, ID: r.ID, Fields: calendar.Fields{"slug": fmt.Sprint("jazz-", i)}}
		d, next, err := eventstore.NewDraft(r, c, w.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		appends[i], r = eventstore.Append{Drafts: []eventstore.Draft{d}, Time: w.Clock.Now()}, next
	}
	for _, res := range store.Append(t.Context(), appends) {
		if res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	for _, order := range []string{"asc", "desc"} {
		for _, filter := range []string{"kind=event", "field=title", "action=trashed"} {
			pages, empty := 0, 0
			for at := "/changes?" + filter + "&order=" + order; at != ""; pages++ {
				page := w.As(calendar.Anonymous).Read(at)
				if page.Len("entries") == 0 {
					empty++
				}
				at = ""
				if next, more := page.Lookup("next_rest_url"); more {
					_, at, _ = strings.Cut(next.(string), "/calendar/events/v1")
				}
				if pages > 10 {
					t.Fatalf("%s %s: the walk does not end", filter, order)
				}
			}
			if pages != 2 || empty != 2 {
				t.Errorf("%s %s: %d pages, %d of them empty, want 2", filter, order, pages, empty)
			}
		}
	}
	page := w.As(calendar.Anonymous).Get(tag.Path(calendar.KindTag) + "/history?action=created")
	page.WantField("looked_to", 1002)
	wantTold(t, page, "version")
	wantTold(t, w.As(calendar.Anonymous).Get(tag.Path(calendar.KindTag)+"/history?action=created&before=1002"), "version", 1)
	wantTold(t, w.As(calendar.Anonymous).Get(tag.Path(calendar.KindTag)+"/history?limit=2&after=4990&before=5001"), "summary",
		"Changed: slug: from “jazz-4997” to “jazz-4998”", "Changed: slug: from “jazz-4996” to “jazz-4997”")
}

// HISTORY 14.4, 20.35: what is told of an erased record.
func TestHistoryOfAnErasedRecord(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	w := world.New(t, world.Options{Store: store})
	editor, auditor, nobody := w.As(calendar.Editor), w.As(calendar.Auditor), w.As(calendar.Anonymous)
	venue := editor.With("Daybook-Reason", "secret reason").Create(calendar.KindVenue, obj{"venue": "Erased words"})
	path := venue.Path(calendar.KindVenue)
	editor.Update(path, obj{"city": "Erased words"})
	event := editor.Event("Quay", obj{"venue": venue.ID()}).Path(calendar.KindEvent)
	w.Clock.Add(10e9)
	r := recordOf(t, w, venue.ID())
	gone, err := calendar.Apply(r, calendar.Change{Name: "venue.erased", Kind: calendar.KindVenue, ID: r.ID, Fields: calendar.Fields{}, Secret: []byte{}}, w.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	state, err := calendar.EncodeRecord(gone)
	if err != nil {
		t.Fatal(err)
	}
	done := store.Erase(t.Context(), eventstore.Erasure{
		Kind: calendar.KindVenue, ID: r.ID, Expected: r.Version, Time: w.Clock.Now(), Actor: 0, State: state,
		Cause: eventstore.Cause{Client: "cli", Reason: "asked for"},
	})
	if done.Err != nil {
		t.Fatal(done.Err)
	}
	page := auditor.Read(path + "/history")
	wantTold(t, page, "action", "erased", "updated", "created")
	wantTold(t, page, "summary", "Erased", "Content erased", "Content erased")
	wantTold(t, page, "reason", "asked for", nil, nil)
	wantTold(t, page, "redacted.version", nil, 3, 3)
	wantTold(t, page, "redacted.position", nil, int(done.Position), int(done.Position))
	for _, key := range []string{"name", "client", "request", "urls"} {
		if page.Has("entries.1."+key) || key != "client" && page.Has("entries.0."+key) {
			t.Errorf("%s shows: %s", key, page.Body)
		}
	}
	page.WantField("entries.1.changes", []any{}).WantField("entries.1.actor.name", "editor").
		WantField("entries.1.redacted.time", w.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	wantTold(t, auditor.Get("/changes?kind=venue"), "action", "erased", "updated", "created")
	nobody.Get(path+"/history").WantCode(410, "rest_record_erased")
	for _, at := range []string{path + "/diff", path + "/diff?from=1&to=2"} {
		nobody.Get(at).WantCode(410, "rest_record_erased")
		auditor.Get(at).WantCode(410, "rest_record_erased")
	}
	wantTold(t, nobody.Get("/changes?kind=venue"), "action")
	for _, who := range []*world.Client{nobody, auditor} {
		body := string(who.Get(event + "/history").Body)
		if strings.Contains(body, "Erased words") || !strings.Contains(body, fmt.Sprintf("added #%d", venue.ID())) {
			t.Errorf("sentences of an event that linked it: %s", body)
		}
	}
}

// HISTORY 20.42: an error is problem details on request, in the language of the request.
func TestErrorsOfThePast(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	path := w.As(calendar.Editor).Event("Quay", nil).Path(calendar.KindEvent)
	fr := w.As(calendar.Anonymous).Under(calendar.LangFR)
	fr.With("Accept", "application/problem+json").Get(path+"/diff?to=9").WantField("type", "urn:daybook:error:rest_version_not_found").
		WantField("status", 404).WantField("detail", "L’enregistrement n’a pas cette version.")
	fr.Get("/changes?after=99").WantField("data.params.after", "after: ne doit pas dépasser la position la plus récente, "+fmt.Sprint(w.Head()))
	fr.Get("/changes?kind=user").WantField("data.params.kind", "kind: doit être l’un de : event, venue, organizer, category, tag")
}

// recordOf gives a record as the store has it.
func recordOf(t *testing.T, w *world.World, id calendar.ID) *calendar.Record {
	t.Helper()
	found, err := w.Records.Load(t.Context(), id)
	if err != nil || found[0] == nil {
		t.Fatalf("record %d: %v", id, err)
	}
	return found[0]
}
