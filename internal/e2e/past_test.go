package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"daybook/internal/httpapi"
)

// pastLines are the lines of the checklist of HISTORY.md about the past of records and
// lists: reads as of a point, mementos.
var pastLines = []line{
	{name: "times_of_versions", check: timesOfVersions},
	{name: "linked_records_then", check: linkedThen},
	{name: "permanent_urls", check: permanentURLs},
	{name: "slugs_then", check: slugsThen},
	{name: "gates_of_single_reads", check: gatesOfSingles},
	{name: "drafts_before_publication", check: draftsBefore},
	{name: "scheduled_then", check: scheduledThen},
	{name: "protected_then", check: protectedThen},
	{name: "lists_then", check: listsThen},
	{name: "lists_without_what_is_withdrawn", check: listsWithdrawn},
	{name: "counts_then", check: countsThen},
	{name: "parameters_then", check: parametersThen},
	{name: "accept_datetime", check: acceptDatetime},
	{name: "memento_links", check: mementoLinks},
	{name: "timemaps", check: timeMaps},
	{name: "closed_history", check: closedHistory},
	{name: "headers_of_the_past", check: headersThen},
}

// TestPast plays them on the embedded size.
func TestPast(t *testing.T) { t.Parallel(); run(t, embedded, pastLines) }

// story is a record that was written again and again, a minute apart.
type story struct {
	path  string
	id    int64
	times []time.Time // of the versions, from the first
}

// tell makes a record of a collection and updates it, on a service of its own clock.
func (s *scene) tell(as, collection string, bodies ...obj) *story {
	s.t.Helper()
	var out story
	for i, b := range bodies {
		s.svc.clock.Add(time.Minute)
		out.times = append(out.times, s.svc.clock.Now())
		if i == 0 {
			made := s.as(as).create(collection, body(collection, newWord(), b))
			out.path, out.id = made.path(), made.id()
			continue
		}
		s.as(as).update(out.path, b)
	}
	return &out
}

// at is a point: a time, to the millisecond.
func at(t time.Time) string { return "?as_of=" + t.UTC().Format("2006-01-02T15:04:05.000Z") }

func version(n int) string { return fmt.Sprintf("?as_of=version%%3A%d", n) }

// HISTORY 20.11: as_of with the time of an entry shows its version, a millisecond earlier
// the one before, before the first one nothing. What is no point is 400.
func timesOfVersions(s *scene) {
	s = s.alone(settings{})
	for _, collection := range collections {
		name := nameField(collection)
		story := s.tell("editor", collection, obj{name: "one"}, obj{name: "two"}, obj{name: "three"})
		for _, who := range []string{"", "auditor"} {
			caller := s.as(who)
			for i, want := range []string{"one", "two", "three"} {
				caller.read(story.path+at(story.times[i])).field(name, want).lacks(`"count"`)
				caller.read(story.path+version(i+1)).field(name, want)
				if i > 0 {
					caller.read(story.path+at(story.times[i].Add(-time.Millisecond))).field(name, []string{"one", "two"}[i-1])
				}
			}
			// Without a fraction it is the whole second.
			caller.read(story.path+"?as_of="+story.times[1].Format("2006-01-02T15:04:05Z")).field(name, "two")
			caller.read(story.path+"?as_of="+itoa(story.times[1].Unix())).field(name, "two")
			caller.read(story.path+"?as_of=now").field(name, "three")
			caller.get(story.path+at(story.times[0].Add(-time.Millisecond))).code(404, notFound(collection))
			caller.get(story.path+version(99)).code(404, "rest_version_not_found")
			for _, bad := range []string{"=tomorrow", "=" + position(s.head()+1), "=", "[]=now"} {
				caller.get(story.path + "?as_of" + bad).bad("as_of")
				caller.get("/" + collection + "?as_of" + bad).bad("as_of")
			}
			caller.get("/" + collection + "?as_of=version:2").bad("as_of")
			caller.get("/"+collection+"/99999?as_of=now").code(404, notFound(collection))
		}
	}
	// Elsewhere it is unknown.
	s.nobody.read("/doc?as_of=never")
	s.editor.update(s.editor.event(newWord(), nil).path()+"?as_of=never", nil)
}

// head is the position of the last write that was answered.
func (s *scene) head() uint64 { return s.svc.position.Load() }

// HISTORY 20.12: what is linked is as of the same point, and under both gates.
func linkedThen(s *scene) {
	s = s.alone(settings{})
	ed, nobody := s.editor, s.nobody
	venue := ed.add("venues", "Old")
	tag := ed.add("tags", "Jazz")
	s.svc.clock.Add(time.Minute)
	event := ed.event(newWord(), obj{"venue": venue.id(), "tags": tag.id(), "organizer": obj{"organizer": "Inline"}})
	s.svc.clock.Add(time.Minute)
	ed.update(venue, obj{"venue": "New"})
	renamed := s.head()
	s.svc.clock.Add(time.Minute)
	ed.update(event, obj{"title": "Second"})
	path := event.path()
	for _, c := range []*caller{nobody, s.as("auditor")} {
		c.read(path+version(1)).field("venue.venue", "Old").field("organizer.0.organizer", "Inline").field("tags.0.name", "Jazz").lacks(`"count"`)
		c.read(path+"?as_of=now").field("venue.venue", "New").field("title", "Second")
		c.read(path+fmt.Sprintf("?as_of=position:%d", renamed)).field("venue.venue", "New").field("title", event.at("title"))
		c.read(path+fmt.Sprintf("?as_of=position:%d", renamed-1)).field("venue.venue", "Old")
	}
	// Deleted now: for readers of all alone. Trashed now: as well.
	ed.remove(tag)
	ed.remove(venue)
	nobody.read(path+version(1)).field("tags", list{}).field("venues", list{}).lacks("Old", "Jazz")
	s.as("auditor").read(path+version(1)).field("tags.0.name", "Jazz").field("venue.venue", "Old")
	nobody.get(tag.path()+version(1)).code(404, "tag-not-found")
	s.as("auditor").read(tag.path()+version(1)).field("name", "Jazz")
	s.as("auditor").get(tag.path()+version(2)).code(404, "tag-not-found")
}

// HISTORY 20.13: a permanent URL returns the same bytes after further changes,
// cacheable for a while, and 304.
func permanentURLs(s *scene) {
	s = s.alone(settings{})
	caller, nobody := s.editor, s.nobody
	venue := caller.add("venues", "Old")
	event := caller.event(newWord(), obj{"venue": venue.id()})
	path := event.path()
	first := nobody.read(path + version(1))
	first.head("Cache-Control", "public, max-age=300")
	if !strings.HasPrefix(first.etag(), `"1-`) {
		s.t.Errorf("ETag %s", first.etag())
	}
	s.svc.clock.Add(time.Hour)
	caller.update(venue, obj{"venue": "New"})
	caller.update(path, obj{"title": "Other"})
	caller.update(path, obj{"slug": newWord()})
	again := nobody.read(path + version(1))
	if string(again.body) != string(first.body) || again.etag() != first.etag() || again.header.Get("Last-Modified") != first.header.Get("Last-Modified") {
		s.t.Errorf("version 1 changed:\n%s\n%s", first.body, again.body)
	}
	unchanged := nobody.with("If-None-Match", first.etag()).get(path + version(1)).want(304)
	unchanged.head("Cache-Control", "public, max-age=300")
	nobody.read(path+at(s.svc.clock.Now())).head("Cache-Control", "public, no-cache")
	s.as("author").read(path+version(1)).head("Cache-Control", "no-store, private")
	nobody.read(path+version(1)).head("Cache-Groups", fmt.Sprintf(`"daybook-%d", "daybook-%d"`, event.id(), venue.id()))
	nobody.under("fr").read(path+version(1)).field("rest_url", s.svc.url+"/fr"+root+path)
}

// HISTORY 20.14: by slug, as_of finds the record that had it then.
func slugsThen(s *scene) {
	s = s.alone(settings{})
	caller, nobody := s.editor, s.nobody
	for _, collection := range posts {
		text, other := newWord(), newWord()
		first := caller.create(collection, body(collection, "First", obj{"slug": text}))
		had := s.svc.clock.Now()
		s.svc.clock.Add(time.Minute)
		caller.update(first, obj{"slug": other})
		second := caller.create(collection, body(collection, "Second", obj{"slug": text}))
		path := "/" + collection + "/by-slug/" + text
		then := nobody.read(path+at(had)).field("id", first.id()).field("slug", text)
		then.head("Memento-Datetime", "").head("Link", "")
		nobody.read(path+"?as_of=now").field("id", second.id())
		nobody.get("/"+collection+"/by-slug/"+other+at(had)).code(404, notFound(collection))
		nobody.get(path + "?as_of=version:1").bad("as_of")
		// No negotiation by time.
		nobody.with("Accept-Datetime", "never").read(path).field("id", second.id()).head("Vary", "Accept, Accept-Encoding, Authorization, Origin")
		caller.remove(first)
		nobody.get(path + at(had)).want(403)
		s.as("auditor").read(path+at(had)).field("id", first.id())
	}
}

// HISTORY 20.8: what is trashed, private, protected or draft now has no public past;
// restored, its public versions are there again. Each gate of each state is a row of a test
// of package history.
func gatesOfSingles(s *scene) {
	s = s.alone(settings{})
	ed, nobody := s.editor, s.nobody
	for code, hide := range map[string]obj{"event-not-accessible": {"status": "private"}, "event-password-protected": {"password": "secret"}, "event-no-longer-available": nil} {
		made := ed.add("events", newWord())
		path := made.path()
		if hide == nil {
			ed.remove(path)
		} else {
			ed.update(path, hide)
		}
		for _, text := range []string{version(1), "?as_of=now", version(2), "/timemap", version(99)} { // a version that there is not tells nothing
			nobody.get(path+text).code(403, code)
			s.as("author").get(path+text).code(403, code)
		}
		for _, reader := range []string{"editor", "auditor"} {
			s.as(reader).read(path+version(1)).field("status", "publish")
			s.as(reader).read(path + version(2))
		}
		ed.update(path, obj{"status": "publish", "password": ""})
		nobody.read(path+version(1)).field("status", "publish")
		nobody.get(path + version(2)).want(403)
		nobody.read(path + version(3))
	}
	// An author reads the past of an own trashed event, and its present is 403 as before.
	au := s.as("author")
	own := au.event(newWord(), nil)
	au.remove(own)
	au.read(own.path()+version(1)).field("status", "publish")
	au.read(own.path()+"?as_of=now").field("status", "trash")
	au.get(own).code(403, "event-no-longer-available")
	s.as("author2").get(own.path()+version(1)).code(403, "event-no-longer-available")
}

// HISTORY 20.6, 20.7: a draft before publication is not public.
func draftsBefore(s *scene) {
	s = s.alone(settings{})
	story := s.tell("author", "events", obj{"title": "Secretword", "status": "draft"}, obj{"title": "Open", "status": "publish"}, obj{"status": "draft"}, obj{"status": "publish"})
	for n, open := range []bool{false, true, false, true} {
		s.as("author").read(story.path + version(n+1))
		if open {
			s.nobody.read(story.path+version(n+1)).field("title", "Open").lacks("Secretword")
		} else {
			s.nobody.get(story.path+version(n+1)).code(403, "event-not-accessible").lacks("Secretword")
		}
	}
	s.nobody.get(story.path+at(story.times[0])).code(403, "event-not-accessible")
	if links := s.nobody.read(story.path + version(4)).header.Get("Link"); !strings.Contains(links, `version%3A2>; rel="first prev memento"`) || !strings.Contains(links, `version%3A4>; rel="last memento"`) {
		s.t.Errorf("links %s", links)
	}
}

// HISTORY 20.10: a scheduled event, public since without a change.
func scheduledThen(s *scene) {
	s = s.alone(settings{})
	caller, nobody := s.editor, s.nobody
	now := s.svc.clock.Now()
	due := now.Add(time.Hour)
	event := caller.event(newWord(), obj{"status": "future", "date": due.Format("2006-01-02 15:04:05")}).field("status", "future")
	path, word := event.path(), event.str("title")
	nobody.get(path+version(1)).code(403, "event-not-accessible")
	s.svc.clock.Add(2 * time.Hour)
	nobody.read(path + version(1))
	nobody.list("events", "search", word, "as_of", due.Add(-time.Second).Format(time.RFC3339)).field("total", 0)
	nobody.list("events", "search", word, "as_of", due.Format(time.RFC3339)).field("total", 1).field("events.0.status", "publish")
	s.as("auditor").list("events", "search", word, "as_of", due.Add(-time.Second).Format(time.RFC3339)).field("events.0.status", "future")
}

// HISTORY 20.9: a password opens the present alone.
func protectedThen(s *scene) {
	s = s.alone(settings{})
	caller, nobody := s.editor, s.nobody
	event := caller.event(newWord(), obj{"description": "Hidden"})
	path, word := event.path(), event.str("title")
	caller.update(path, obj{"password": "letmein"})
	nobody.read(path + "?password=letmein")
	for _, text := range []string{version(1), version(2), "?as_of=now"} {
		nobody.get(path+text+"&password=letmein").code(403, "event-password-protected").lacks("Hidden")
	}
	nobody.list("events", "search", word, "as_of", "now").field("total", 0)
	// Protected then and not now: blanked where it would have been.
	locked := s.head()
	caller.update(path, obj{"password": ""})
	nobody.get(path+fmt.Sprintf("?as_of=position:%d", locked)).code(403, "event-password-protected")
	nobody.list("events", "search", word, "as_of", position(locked)).field("total", 1).field("events.0.description", "")
	nobody.list("events", "search", word, "as_of", position(locked-1)).field("events.0.description", "<p>Hidden</p>")
}

// HISTORY 20.15: totals, order, 404 past the end and default window are those of the
// moment, and links keep the point as an instant.
func listsThen(s *scene) {
	s = s.alone(settings{})
	caller, nobody := s.editor, s.nobody
	text := newWord()
	a := caller.event(text+" A", obj{"start_date": "2026-05-01 10:00", "end_date": "2026-05-01 11:00"})
	b := caller.event(text+" B", obj{"start_date": "2026-05-03 10:00", "end_date": "2026-05-03 11:00"})
	then := s.svc.clock.Now()
	s.svc.clock.Add(24 * time.Hour)
	c := caller.event(text+" C", obj{"start_date": "2026-05-02 10:00", "end_date": "2026-05-02 11:00"})
	caller.update(b, obj{"start_date": "2026-05-09 10:00", "end_date": "2026-05-09 11:00"})
	s.svc.clock.Add(24 * time.Hour)
	nobody.list("events", "search", text).found(b)
	past := nobody.list("events", "search", text, "as_of", then.Format("2006-01-02 15:04:05")).found(a, b)
	past.field("total", 2).field("events.1.start_date", "2026-05-03 10:00:00")
	instant := "&as_of=" + strings.ReplaceAll(then.Format("2006-01-02T15:04:05Z"), ":", "%3A")
	past.field("rest_url", s.svc.url+root+"/events/?per_page=10&start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59&search="+text+instant)
	past.head("Memento-Datetime", then.Format(http.TimeFormat)).head("Cache-Control", "public, no-cache")
	first := nobody.list("events", "as_of", "-2 days", "per_page", "1", "multilang_language", "fr", "_fields", "id").field("total", 2)
	next := first.str("next_rest_url")
	if !strings.HasSuffix(next, instant+"&multilang_language=fr&_fields=id") || !strings.Contains(next, "?page=2&per_page=1&start_date=2026-05-01%2000%3A00%3A00") {
		s.t.Errorf("next page %s", next)
	}
	second := nobody.read("=" + strings.TrimPrefix(next, s.svc.url))
	second.field("events", list{obj{"id": b.id()}})
	nobody.get("/events?page=3&per_page=1&as_of=-2%20days").code(404, "event-archive-page-not-found")
	at := nobody.list("events", "search", text, "as_of", position(s.head()-1), "start_date", "2026-01-01").found(a, c, b)
	at.head("Daybook-Position", itoa(int64(s.head())-1))
	if url := at.str("rest_url"); !strings.HasSuffix(url, fmt.Sprintf("&as_of=position%%3A%d", s.head()-1)) {
		s.t.Errorf("rest_url %s", url)
	}
	nobody.list("venues", "as_of", "2000-01-01").field("total", 0).head("Daybook-Position", "0")
	nobody.with("Daybook-Min-Position", "never").list("events", "as_of", "now")
	// The tag changes with the answer.
	nobody.with("If-None-Match", past.etag()).get("/events" + pairs("search", text, "as_of", then.Format("2006-01-02 15:04:05"))).want(304)
	caller.update(a, obj{"status": "draft"})
	nobody.with("If-None-Match", past.etag()).list("events", "search", text, "as_of", then.Format("2006-01-02 15:04:05")).found(b)
}

// HISTORY 20.17, second half: lists lack what is withdrawn now, totals included; and what
// it links to, under both gates.
func listsWithdrawn(s *scene) {
	s = s.alone(settings{})
	caller, nobody, auditor := s.editor, s.nobody, s.as("auditor")
	text := newWord()
	venue := caller.create("venues", obj{"venue": text + " hall", "geo_lat": 10, "geo_lng": 10})
	tag := caller.add("tags", text)
	a := s.as("author").event(text+" a", obj{"venue": venue.id(), "tags": tag.id()})
	b := caller.event(text+" b", obj{"venue": venue.id(), "tags": tag.id()})
	c := caller.event(text+" c", nil)
	point := position(s.head())
	for _, hide := range []obj{{"status": "private"}, {"password": "x"}, nil} {
		if hide == nil {
			caller.remove(a)
		} else {
			caller.update(a, hide)
		}
		nobody.list("events", "search", text, "as_of", point).found(b, c)
		nobody.list("events", "include", a.idText(), "as_of", point).found()
		s.as("author").list("events", "search", text, "as_of", point).found(a, b, c)
		nobody.get("/venues?event=" + a.idText() + "&as_of=" + point).bad("event")
		auditor.list("venues", "event", a.idText(), "as_of", point).found(venue)
		caller.update(a, obj{"status": "publish", "password": ""})
		nobody.list("events", "search", text, "as_of", point).found(a, b, c)
	}
	caller.remove(venue)
	caller.remove(tag)
	then := nobody.list("events", "search", text, "as_of", point).found(a, b, c)
	then.field("events.1.venues", list{}).field("events.1.tags", list{}).lacks("hall")
	for param, value := range map[string]string{"venue": venue.idText(), "tags": text, "geoloc": "true"} {
		nobody.list("events", param, value, "as_of", point).found()
		auditor.list("events", param, value, "as_of", point).found(a, b)
	}
	for _, gone := range []*answer{venue, tag} {
		nobody.list(gone.collection, "search", text, "as_of", point).found()
		auditor.list(gone.collection, "search", text, "as_of", point).found(gone)
	}
}

// HISTORY 7.2: counts, has_events and only_with_upcoming are figures of that point.
func countsThen(s *scene) {
	s = s.alone(settings{})
	ed, nobody := s.editor, s.nobody
	tag, venue := ed.add("tags", newWord()), ed.add("venues", newWord())
	empty := s.head()
	first := ed.event(newWord(), obj{"tags": tag.id(), "venue": venue.id()})
	one := s.head()
	ed.event(newWord(), obj{"tags": tag.id(), "venue": venue.id()})
	ed.update(first, obj{"status": "draft"})
	nobody.list("tags", "as_of", position(empty), "hide_empty", "0").field("tags.0.count", 0)
	// What is withdrawn now counts all the same, as it did; what is protected now does not, nor
	// does what was protected at the point, for anybody.
	secret := ed.event(newWord(), obj{"tags": newWord(), "venue": obj{"venue": newWord()}})
	open := s.head()
	ed.update(secret, obj{"password": "sesame"})
	locked := s.head()
	expect := func(point uint64, count, venues int) {
		s.t.Helper()
		for _, who := range []string{"", "auditor"} {
			c := s.as(who)
			c.list("tags", "as_of", position(point), "include", tag.idText(), "hide_empty", "0").field("tags.0.count", count)
			c.list("venues", "as_of", position(point), "has_events", "true").field("total", venues)
			c.list("venues", "as_of", position(point), "only_with_upcoming", "true").field("total", venues)
		}
	}
	expect(empty, 0, 0)
	expect(one, 1, 1)
	expect(one+1, 2, 1)
	expect(open, 1, 1)
	expect(locked, 1, 1)
	nobody.get("/venues" + pairs("as_of", position(locked), "event", secret.idText())).bad("event")
	ed.update(secret, obj{"password": ""})
	expect(open, 1, 2)
	expect(locked, 1, 1)
	s.svc.clock.Add(365 * 24 * time.Hour)
	nobody.list("venues", "only_with_upcoming", "true").field("total", 0)
	expect(one, 1, 1)
}

// HISTORY 7.2: parameters are checked as of the point.
func parametersThen(s *scene) {
	s = s.alone(settings{})
	caller, nobody := s.editor, s.nobody
	text := newWord()
	top := caller.create("categories", obj{"name": text + " top", "slug": text + "-top"})
	sub := caller.create("categories", obj{"name": text + " sub", "parent": top.id()})
	answer := caller.event(text, obj{"categories": sub.id()})
	there, before := position(s.head()), position(s.head()-2)
	caller.update(top, obj{"name": "Renamed", "slug": text + "-renamed"})
	for _, name := range []string{top.idText(), text + "-top", text + " TOP"} {
		nobody.list("events", "categories", name, "as_of", there).found(answer)
		nobody.get("/events" + pairs("categories", name, "as_of", "2000-01-01")).bad("categories")
	}
	nobody.get("/events" + pairs("categories", "Renamed", "as_of", there)).bad("categories")
	nobody.list("events", "categories", "Renamed", "as_of", "now").found(answer)
	nobody.list("categories", "event", answer.idText(), "as_of", there).found(sub)
	nobody.get("/categories" + pairs("event", answer.idText(), "as_of", before)).bad("event")
	nobody.list("categories", "slug", text+"-top", "hide_empty", "0", "as_of", there).found(top)
	// All that is refused at once: forms, the point, and what was not there.
	nobody.get("/events"+pairs("page", "0", "as_of", "never", "featured", "maybe")).bad("page", "as_of", "featured")
	nobody.get("/events"+pairs("page", "0", "as_of", before, "categories", "nothing")).bad("page", "categories")
}

// HISTORY 20.18: Accept-Datetime returns the body of as_of.
func acceptDatetime(s *scene) {
	s = s.alone(settings{})
	nobody := s.nobody
	story := s.tell("editor", "events", obj{"title": "one"}, obj{"title": "two"})
	when := func(t time.Time) *caller { return nobody.with("Accept-Datetime", t.UTC().Format(http.TimeFormat)) }
	url := s.svc.url + root + story.path
	of := func(t time.Time) string {
		return "?as_of=" + strings.ReplaceAll(t.UTC().Format("2006-01-02T15:04:05Z"), ":", "%3A")
	}
	got := when(story.times[1].Add(-time.Second)).read(story.path).field("title", "one")
	got.head("Content-Location", url+of(story.times[1].Add(-time.Second))).head("Memento-Datetime", story.times[1].Add(-time.Second).Format(http.TimeFormat))
	got.head("Vary", "Accept, Accept-Encoding, Authorization, Origin, Accept-Datetime").head("Cache-Control", "public, no-cache")
	if same := nobody.read(story.path + of(story.times[1].Add(-time.Second))); string(same.body) != string(got.body) || same.etag() != got.etag() || same.header.Get("Content-Location") != "" {
		s.t.Errorf("as_of gives %s\n%s\nthe header\n%s", same.etag(), same.body, got.body)
	}
	when(story.times[1]).read(story.path).field("title", "two")
	// Before the first one it is the first.
	first := when(story.times[0].Add(-time.Hour)).read(story.path).field("title", "one")
	first.head("Content-Location", url+version(1)).head("Memento-Datetime", story.times[0].Format(http.TimeFormat))
	// A time ahead is the present.
	when(story.times[1].Add(time.Hour)).read(story.path).field("title", "two").head("Memento-Datetime", s.svc.clock.Now().Format(http.TimeFormat))
	for _, bad := range []string{"never", "2026-05-01"} {
		nobody.with("Accept-Datetime", bad).get(story.path).bad("Accept-Datetime")
		nobody.with("Accept-Datetime", bad).get("/events").bad("Accept-Datetime")
		nobody.with("Accept-Datetime", bad).read(story.path + "?as_of=now") // ignored
	}
	nobody.with("Accept-Datetime", "").read(story.path).field("title", "two")
	listed := when(story.times[0]).list("events", "search", "one", "per_page", "3").field("total", 1)
	listed.head("Content-Location", s.svc.url+root+"/events/?per_page=3&search=one&as_of="+strings.TrimPrefix(of(story.times[0]), "?as_of="))
	listed.head("Memento-Datetime", story.times[0].Format(http.TimeFormat))
	if link := listed.header.Get("Link"); !strings.HasPrefix(link, "<"+s.svc.url+root+`/events/?per_page=3&search=one>; rel="original timegate", <`) {
		s.t.Errorf("Link %s", link)
	}
	when(story.times[0].Add(-time.Hour)).list("events", "search", "one").field("total", 0)
	nobody.list("events").head("Vary", "Accept, Accept-Encoding, Authorization, Origin, Accept-Datetime")
}

// HISTORY 20.19: the links of versions.
func mementoLinks(s *scene) {
	s = s.alone(settings{})
	story := s.tell("editor", "tags", obj{"description": "1"}, obj{"description": "2"}, obj{"description": "3"}, obj{"description": "4"}, obj{"description": "5"})
	url := s.svc.url + root + story.path
	own := "<" + url + `>; rel="original timegate", <` + url + `/timemap>; rel="timemap"; type="application/link-format"`
	for n, want := range []string{
		"1 first memento|2 next memento|5 last memento", "1 first prev memento|2 memento|3 next memento|5 last memento",
		"1 first memento|2 prev memento|3 memento|4 next memento|5 last memento", "1 first memento|3 prev memento|4 memento|5 next last memento",
		"1 first memento|4 prev memento|5 last memento",
	} {
		links := own
		for link := range strings.SplitSeq(want, "|") {
			at, rel, _ := strings.Cut(link, " ")
			links += fmt.Sprintf(`, <%s?as_of=version%%3A%s>; rel="%s"; datetime="%s"`, url, at, rel, story.times[at[0]-'1'].Format(http.TimeFormat))
		}
		s.nobody.read(story.path+version(n+1)).head("Link", links).head("Memento-Datetime", story.times[n].Format(http.TimeFormat))
	}
	s.nobody.read(story.path).head("Link", own).head("Memento-Datetime", "")
	for _, collection := range collections {
		only := s.tell("editor", collection, nil)
		if got := s.nobody.read(only.path + version(1)).header.Get("Link"); !strings.HasSuffix(got, `; rel="first last memento"; datetime="`+only.times[0].Format(http.TimeFormat)+`"`) {
			s.t.Errorf("links of the only version: %s", got)
		}
	}
}

// HISTORY 20.20: the TimeMap in both formats, and its URLs.
func timeMaps(s *scene) {
	s = s.alone(settings{})
	nobody := s.nobody
	story := s.tell("author", "events", obj{"status": "draft"}, obj{"status": "publish"}, obj{"description": "1"}, obj{"status": "draft"}, obj{"status": "publish"})
	url, path := s.svc.url+root+story.path, story.path+"/timemap"
	date := func(n int) string { return story.times[n-1].Format(http.TimeFormat) }
	links := nobody.read(path).head("Content-Type", "application/link-format")
	want := fmt.Sprintf(`<%s>; rel="original timegate",
<%[1]s/timemap>; rel="self"; type="application/link-format"; from="%s"; until="%s"`, url, date(2), date(5))
	asJSON := nobody.with("Accept", "application/json").read(path).head("Content-Type", "application/json; charset=utf-8").
		fields(obj{"original": url, "timegate": url, "timemap": url + "/timemap"}).without("next_rest_url", "mementos.3")
	for i, rel := range []string{"2 first memento", "3 memento", "5 last memento"} {
		n := int(rel[0] - '0')
		want += fmt.Sprintf(",\n<%s>; rel=\"%s\"; datetime=\"%s\"", url+version(n), rel[2:], date(n))
		nobody.read(story.path+version(n)).head("Memento-Datetime", date(n))
		asJSON.field(fmt.Sprintf("mementos.%d", i), obj{"version": n, "time": story.times[n-1].Format("2006-01-02T15:04:05.000Z"), "url": url + version(n)})
	}
	if string(links.body) != want {
		s.t.Errorf("TimeMap:\n%s\nwant\n%s", links.body, want)
	}
	same(s.t, asJSON, nobody.with("Accept", "application/link-format").read(path+"?format=json"))
	for accept, query := range map[string]string{"application/json": "?format=link", "application/json, application/link-format": ""} {
		nobody.with("Accept", accept).read(path+query).head("Content-Type", "application/link-format")
	}
	nobody.read(path+"?format=json&after=2").field("mementos.0.version", 3)
	for name, bad := range map[string]string{"format": "xml", "after": "-1", "multilang_language": "de"} {
		nobody.get(path + pairs(name, bad)).bad(name)
	}
	s.as("auditor").read(path + "?format=json").having("mementos.4").without("mementos.5")
	nobody.get("/events/99999/timemap").code(404, "rest-event-not-found")
	nobody.get(strings.Replace(path, "events", "venues", 1)).code(404, "venue-not-found")
	// Without the deletion of a term.
	tag := s.tell("editor", "tags", nil, obj{"description": "x"})
	s.editor.remove(tag.path)
	nobody.get(tag.path+"/timemap").code(404, "tag-not-found")
	s.as("auditor").read(tag.path + "/timemap?format=json").having("mementos.1").without("mementos.2")
	nobody.with("If-None-Match", links.etag()).get(path).want(304)
	nobody.do(http.MethodOptions, path, nil).want(200).head("Allow", "GET, HEAD, OPTIONS")
	nobody.post(path, nil).code(405, "rest_method_not_allowed")
}

// HISTORY 20.26: the setting public-history, on the routes of this file.
func closedHistory(s *scene) {
	for _, setting := range []string{"none", "proofs"} {
		o := settings{}
		o.http.PublicHistory = httpapi.PublicHistory(setting)
		s := s.alone(o)
		story := s.tell("author", "events", obj{"title": "one"}, obj{"title": "two"})
		when := story.times[0].Format(http.TimeFormat)
		for _, path := range []string{story.path + version(1), story.path + "?as_of=", "/events?as_of=never", story.path + "/timemap", "/events/99999?as_of=now"} {
			s.nobody.get(path).code(401, "rest_forbidden")
			s.as("author").get(path).code(403, "rest_forbidden")
		}
		for _, who := range []string{"editor", "auditor"} {
			s.as(who).read(story.path+version(1)).field("title", "one")
			s.as(who).list("events", "as_of", story.times[0].Format(time.RFC3339)).field("events.0.title", "one")
			s.as(who).read(story.path + "/timemap")
			if s.as(who).with("Accept-Datetime", when).read(story.path).field("title", "one").header.Get("Link") == "" {
				s.t.Errorf("%s: no Memento headers for %s", setting, who)
			}
		}
		for _, sent := range []string{when, "never"} {
			for _, c := range []*caller{s.nobody.with("Accept-Datetime", sent), s.as("author").with("Accept-Datetime", sent)} {
				c.read(story.path).field("title", "two").head("Link", "").head("Memento-Datetime", "").head("Content-Location", "")
				c.list("events").field("events.0.title", "two")
			}
		}
	}
}

// HISTORY 20.42, for these routes: texts in the language, problem details, and HEAD.
func headersThen(s *scene) {
	s = s.alone(settings{})
	story := s.tell("editor", "events", nil)
	for path, code := range map[string]string{story.path + version(9): "rest_version_not_found", story.path + "?as_of=2000-01-01": "rest-event-not-found", "/events?as_of=never": "rest_invalid_param"} {
		texts := map[string]bool{}
		for _, language := range []string{"en", "fr", "es", "cn"} {
			c := s.nobody.under(language)
			got := c.get(path).field("code", code).head("Cache-Control", "no-store")
			texts[got.str("message")] = true
			c.with("Accept", "application/problem+json").get(path).want(got.status).field("code", code).field("status", got.status).field("detail", got.at("message"))
		}
		if len(texts) != 4 {
			s.t.Errorf("%s: messages %v", path, texts)
		}
	}
	got := s.nobody.read(story.path + version(1))
	s.nobody.do(http.MethodHead, story.path+version(1), nil).want(200).head("ETag", got.etag()).head("Link", got.header.Get("Link"))
}
