package e2e

import (
	"fmt"
	"net/http"
	"regexp"
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
		for _, who := range []string{"", "subscriber", "auditor"} {
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
			caller.get(story.path+at(story.times[0].Add(-time.Millisecond))).code(404, notFound(collection)).head("Cache-Control", map[bool]string{true: "no-store", false: "no-store, private"}[who == ""])
			caller.get(story.path+version(99)).code(404, "rest_version_not_found")
			for _, bad := range []string{"tomorrow", "position:0", "position:" + itoa(int64(s.head())+1), "position:x", "position:", "version:0", "version:", "version:-1", "", "%20", "soon", "2026-02-30"} {
				caller.get(story.path + "?as_of=" + bad).bad("as_of")
			}
			for _, bad := range []string{"tomorrow", "position:0", "position:" + itoa(int64(s.head())+1), "version:2", "", "x"} {
				caller.get("/" + collection + "?as_of=" + bad).bad("as_of")
			}
			caller.get(story.path + "?as_of[]=now").bad("as_of")
			caller.get("/"+collection+"/99999?as_of=now").code(404, notFound(collection))
			caller.get("/" + collection + "/99999?as_of=never").bad("as_of")
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
	s.as("auditor").get(tag.path()+"?as_of=now").code(404, "tag-not-found")
	// What was written in the same write is there in the first version.
	nobody.read(path+version(1)).field("organizer.0.organizer", "Inline")
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
	again.head("Daybook-Position", itoa(again.num("id"))) // ids and positions go together here: the users, the venue, the event
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
		then := s.head()
		s.svc.clock.Add(time.Minute)
		had := s.svc.clock.Now()
		s.svc.clock.Add(time.Minute)
		caller.update(first, obj{"slug": other})
		s.svc.clock.Add(time.Minute)
		second := caller.create(collection, body(collection, "Second", obj{"slug": text}))
		path := "/" + collection + "/by-slug/" + text
		nobody.read(path+at(had)).field("id", first.id()).field("slug", text)
		nobody.read(path+fmt.Sprintf("?as_of=position:%d", then)).field("id", first.id())
		nobody.read(path+"?as_of=now").field("id", second.id())
		nobody.read(path).field("id", second.id())
		nobody.get("/"+collection+"/by-slug/"+other+at(had)).code(404, notFound(collection))
		nobody.get(path + "?as_of=version:1").bad("as_of")
		// No negotiation by time.
		nobody.with("Accept-Datetime", "never").read(path).field("id", second.id()).head("Vary", "Accept, Accept-Encoding, Authorization, Origin")
		if answer := nobody.read(path + at(had)); answer.header.Get("Memento-Datetime") != "" || answer.header.Get("Link") != "" {
			s.t.Errorf("%s: headers %v", answer.request, answer.header)
		}
		caller.remove(first)
		nobody.get(path + at(had)).want(403)
		s.as("auditor").read(path+at(had)).field("id", first.id())
	}
}

// HISTORY 20.8: what is trashed, private, protected or draft now has no public past;
// restored, its public versions are there again.
func gatesOfSingles(s *scene) {
	s = s.alone(settings{})
	ed, nobody := s.editor, s.nobody
	for _, collection := range posts {
		code := singular(collection) + "-not-accessible"
		for _, hide := range []obj{{"status": "draft"}, {"status": "private"}, {"status": "pending"}, {"password": "secret"}, nil} {
			if _, protects := hide["password"]; protects && collection != "events" {
				continue
			}
			made := ed.add(collection, newWord())
			path := made.path()
			want := code
			switch {
			case hide == nil:
				ed.remove(path)
				if collection == "events" {
					want = "event-no-longer-available"
				}
			case hide["password"] != nil:
				ed.update(path, hide)
				want = "event-password-protected"
			default:
				ed.update(path, hide)
			}
			for _, text := range []string{version(1), "?as_of=now", version(2), "?as_of=" + itoa(s.svc.clock.Now().Unix())} {
				nobody.get(path+text).code(403, want)
				s.as("author").get(path+text).code(403, want)
			}
			nobody.get(path+"/timemap").code(403, want)
			// A version that there is not tells nothing.
			nobody.get(path+version(99)).code(403, want)
			for _, reader := range []string{"editor", "auditor", "administrator"} {
				c := s.as(reader)
				c.read(path+version(1)).field("status", "publish")
				c.read(path + version(2))
				if hide == nil {
					c.read(path+version(2)).field("status", "trash")
				}
			}
			restored := obj{"status": "publish"}
			if collection == "events" {
				restored["password"] = ""
			}
			ed.update(path, restored)
			nobody.read(path+version(1)).field("status", "publish")
			nobody.get(path + version(2)).want(403)
			nobody.read(path + version(3))
			s.as("auditor").read(path + version(2))
		}
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
	nobody := s.nobody
	story := s.tell("author", "events", obj{"title": "Secretword", "status": "draft"}, obj{"description": "x"}, obj{"description": "y"}, obj{"title": "Open", "status": "publish"}, obj{"status": "draft"}, obj{"status": "publish"})
	for n, open := range []bool{false, false, false, true, false, true} {
		if open {
			nobody.read(story.path+version(n+1)).field("title", "Open").lacks("Secretword")
		} else {
			nobody.get(story.path+version(n+1)).code(403, "event-not-accessible").lacks("Secretword")
		}
		s.as("author").read(story.path + version(n+1))
		s.as("contributor").get(story.path + version(n+1)).want(map[bool]int{true: 200, false: 403}[open])
	}
	nobody.get(story.path+at(story.times[2])).code(403, "event-not-accessible")
	if links := nobody.read(story.path + version(6)).header.Get("Link"); !strings.Contains(links, `version%3A4>; rel="first prev memento"`) || !strings.Contains(links, `version%3A6>; rel="last memento"`) {
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
	nobody.get(path+at(due.Add(-time.Second))).code(403, "event-not-accessible")
	nobody.read(path+at(due)).field("status", "publish")
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
	nobody.list("events", "search", text, "as_of", "now").found(b)
	nobody.list("events", "search", text, "as_of", then.Format("2006-01-02T15:04:05.000Z")).field("rest_url", past.str("rest_url")[:strings.Index(past.str("rest_url"), instant)]+strings.Replace(instant, "Z", ".000Z", 1))
	at := nobody.list("events", "search", text, "as_of", position(s.head()-1), "start_date", "2026-01-01").found(a, c, b)
	at.head("Daybook-Position", itoa(int64(s.head())-1))
	if url := at.str("rest_url"); !strings.HasSuffix(url, fmt.Sprintf("&as_of=position%%3A%d", s.head()-1)) {
		s.t.Errorf("rest_url %s", url)
	}
	nobody.list("venues", "as_of", "2000-01-01").field("total", 0).head("Daybook-Position", "0")
	nobody.with("Daybook-Min-Position", "never").list("events", "as_of", "now")
	// The tag changes with the answer.
	again := nobody.list("events", "search", text, "as_of", then.Format("2006-01-02 15:04:05"))
	if again.etag() != past.etag() || !strings.HasPrefix(past.etag(), "W/") {
		s.t.Errorf("ETags %s, %s", past.etag(), again.etag())
	}
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
	a := s.as("author").event(text+" a", obj{"venue": venue.id()})
	caller.update(a, obj{"tags": tag.id()})
	b := caller.event(text+" b", obj{"venue": venue.id(), "tags": tag.id()})
	c := caller.event(text+" c", nil)
	point := position(s.head())
	nobody.list("events", "search", text, "as_of", point).found(a, b, c)
	nobody.list("events", "venue", venue.idText(), "as_of", point).found(a, b)
	for i, hide := range []func(path string){
		func(path string) { caller.update(path, obj{"status": "private"}) },
		func(path string) { caller.update(path, obj{"status": "draft"}) },
		func(path string) { caller.update(path, obj{"password": "x"}) },
		func(path string) { caller.remove(path) },
	} {
		hide(a.path())
		nobody.list("events", "search", text, "as_of", point).found(b, c).field("total", 2)
		nobody.list("events", "include", a.idText(), "as_of", point).field("total", 0)
		s.as("author2").list("events", "search", text, "as_of", point).found(b, c)
		s.as("author").list("events", "search", text, "as_of", point).found(a, b, c)
		auditor.list("events", "search", text, "as_of", point).found(a, b, c)
		nobody.get("/venues?event=" + a.idText() + "&as_of=" + point).bad("event")
		auditor.list("venues", "event", a.idText(), "as_of", point).found(venue)
		if i < 3 {
			caller.update(a, obj{"status": "publish", "password": ""})
		} else {
			caller.update(a, obj{"status": "publish"})
		}
		nobody.list("events", "search", text, "as_of", point).found(a, b, c)
	}
	caller.remove(venue)
	caller.remove(tag)
	then := nobody.list("events", "search", text, "as_of", point).found(a, b, c)
	then.field("events.1.venues", list{}).field("events.1.tags", list{}).lacks("hall")
	nobody.list("events", "venue", venue.idText(), "as_of", point).found()
	nobody.list("events", "tags", text, "as_of", point).found()
	nobody.list("events", "geoloc", "true", "as_of", point).found()
	nobody.list("venues", "search", text, "as_of", point).found()
	nobody.list("tags", "search", text, "as_of", point).found()
	auditor.list("events", "venue", venue.idText(), "as_of", point).found(a, b)
	auditor.list("events", "tags", text, "as_of", point).found(a, b)
	auditor.list("venues", "search", text, "as_of", point).found(venue)
	auditor.list("tags", "search", text, "as_of", point).found(tag).field("tags.0.count", 2)
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
	then := func(n uint64) string { return position(n) }
	nobody.list("tags", "as_of", then(empty)).field("total", 0)
	nobody.list("tags", "as_of", then(empty), "hide_empty", "0").field("tags.0.count", 0)
	// What is withdrawn now counts all the same, as it did.
	for _, who := range []string{"", "auditor"} {
		s.as(who).list("tags", "as_of", then(one)).field("tags.0.count", 1)
		s.as(who).list("tags", "as_of", then(one+1), "orderby", "count").field("tags.0.count", 2)
		s.as(who).list("tags", "as_of", "now").field("tags.0.count", 1)
		s.as(who).list("venues", "as_of", then(one), "has_events", "true").field("total", 1)
		s.as(who).list("venues", "as_of", then(empty), "has_events", "true").field("total", 0)
		s.as(who).list("venues", "as_of", then(one), "only_with_upcoming", "true").field("total", 1)
	}
	// Those that are protected now count no more, nor do they as of a point where they were,
	// anyone who asks.
	secret := ed.event(newWord(), obj{"tags": newWord(), "venue": obj{"venue": newWord()}})
	open := s.head()
	ed.update(secret, obj{"password": "sesame"})
	locked := s.head()
	expect := func(point uint64, want int) {
		s.t.Helper()
		for _, who := range []string{"", "author", "editor", "auditor"} {
			c := s.as(who)
			c.list("tags", "as_of", then(point)).field("total", 1+want)
			c.list("tags", "as_of", then(point), "include", secret.str("tags.0.slug"), "hide_empty", "0").field("tags.0.count", want)
			c.list("venues", "as_of", then(point), "has_events", "true").field("total", 1+want)
			c.list("venues", "as_of", then(point), "has_events", "false").field("total", 1-want)
			c.list("venues", "as_of", then(point), "only_with_upcoming", "true").field("total", 1+want)
		}
	}
	expect(open, 0)
	expect(locked, 0)
	for _, who := range []string{"", "auditor"} {
		s.as(who).get("/venues" + pairs("as_of", then(locked), "event", secret.idText())).bad("event")
	}
	ed.update(secret, obj{"password": ""})
	expect(open, 1)
	expect(locked, 0)
	ed.update(secret, obj{"password": "again"})
	expect(open, 0)
	s.svc.clock.Add(365 * 24 * time.Hour)
	nobody.list("venues", "only_with_upcoming", "true").field("total", 0)
	nobody.list("venues", "as_of", then(one), "only_with_upcoming", "true").field("total", 1)
}

// HISTORY 7.2: parameters are checked as of the point.
func parametersThen(s *scene) {
	s = s.alone(settings{})
	caller, nobody := s.editor, s.nobody
	text := newWord()
	top := caller.create("categories", obj{"name": text + " top", "slug": text + "-top"})
	sub := caller.create("categories", obj{"name": text + " sub", "parent": top.id()})
	answer := caller.event(text, obj{"categories": sub.id()})
	there := position(s.head())
	before := position(s.head() - 2)
	s.svc.clock.Add(time.Minute)
	caller.update(top, obj{"name": "Renamed", "slug": text + "-renamed"})
	for _, name := range []string{top.idText(), text + "-top", text + " TOP"} {
		nobody.list("events", "categories", name, "as_of", there).found(answer)
		nobody.get("/events" + pairs("categories", name, "as_of", "2000-01-01")).bad("categories")
	}
	nobody.get("/events" + pairs("categories", "Renamed", "as_of", there)).bad("categories")
	nobody.list("events", "categories", "Renamed", "as_of", "now").found(answer)
	nobody.get("/events" + pairs("categories", sub.idText(), "as_of", before)).bad("categories")
	nobody.list("categories", "parent", top.idText(), "as_of", there).found(sub)
	nobody.list("categories", "event", answer.idText(), "as_of", there).found(sub)
	nobody.get("/categories" + pairs("event", answer.idText(), "as_of", before)).bad("event")
	nobody.list("categories", "include", text+"-top", "hide_empty", "0", "as_of", there).found(top)
	nobody.list("categories", "slug", text+"-top", "hide_empty", "0", "as_of", there).found(top)
	// All that is refused at once: forms, the point, and what was not there.
	nobody.get("/events"+pairs("page", "0", "as_of", "never", "featured", "maybe")).bad("page", "as_of", "featured")
	nobody.get("/events"+pairs("page", "0", "as_of", before, "categories", "nothing")).bad("page", "categories")
	nobody.get("/events"+pairs("page", "0", "as_of", position(s.head()+1))).bad("page", "as_of")
	nobody.get("/events" + pairs("status", "draft", "as_of", there)).bad("status")
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
	when(story.times[0].Add(-time.Hour)).read(story.path+"?_fields=id").head("Content-Location", url+version(1)+"&_fields=id")
	// A time ahead is the present.
	when(story.times[1].Add(time.Hour)).read(story.path).field("title", "two").head("Memento-Datetime", s.svc.clock.Now().Format(http.TimeFormat))
	for _, bad := range []string{"never", "2026-05-01", "Fri, 01 May 2026 12:00:00 UTC", "Thu, 01 May 2026 12:00:00 GMT", "Fri, 1 May 2026 12:00:00 GMT"} {
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
	nobody.read(story.path).head("Vary", "Accept, Accept-Encoding, Authorization, Origin, Accept-Datetime")
	nobody.list("events").head("Vary", "Accept, Accept-Encoding, Authorization, Origin, Accept-Datetime")
	s.as("administrator").get(story.path+"?as_of=now").head("Vary", "Accept, Accept-Encoding, Authorization, Origin, Accept-Datetime")
}

// HISTORY 20.19: the links of versions.
func mementoLinks(s *scene) {
	s = s.alone(settings{})
	nobody := s.nobody
	for _, collection := range collections {
		story := s.tell("editor", collection, obj{"description": "1"}, obj{"description": "2"}, obj{"description": "3"}, obj{"description": "4"}, obj{"description": "5"})
		url := s.svc.url + root + story.path
		own := "<" + url + `>; rel="original timegate", <` + url + `/timemap>; rel="timemap"; type="application/link-format"`
		link := func(n int, rel string) string {
			return fmt.Sprintf(`, <%s%s>; rel="%s"; datetime="%s"`, url, version(n), rel, story.times[n-1].Format(http.TimeFormat))
		}
		for n, want := range []string{
			link(1, "first memento") + link(2, "next memento") + link(5, "last memento"),
			link(1, "first prev memento") + link(2, "memento") + link(3, "next memento") + link(5, "last memento"),
			link(1, "first memento") + link(2, "prev memento") + link(3, "memento") + link(4, "next memento") + link(5, "last memento"),
			link(1, "first memento") + link(3, "prev memento") + link(4, "memento") + link(5, "next last memento"),
			link(1, "first memento") + link(4, "prev memento") + link(5, "last memento"),
		} {
			nobody.read(story.path+version(n+1)).head("Link", own+want).head("Memento-Datetime", story.times[n].Format(http.TimeFormat))
		}
		present := nobody.read(story.path)
		present.head("Link", own)
		if present.header.Get("Memento-Datetime") != "" {
			s.t.Errorf("Memento-Datetime %q on a present answer", present.header.Get("Memento-Datetime"))
		}
		only := s.tell("editor", collection, nil)
		if got := nobody.read(only.path + version(1)).header.Get("Link"); !strings.HasSuffix(got, `; rel="first last memento"; datetime="`+only.times[0].Format(http.TimeFormat)+`"`) {
			s.t.Errorf("links of the only version: %s", got)
		}
	}
}

var linkLine = regexp.MustCompile(`^<([^>]+)>; rel="((?:first )?(?:last )?memento)"; datetime="([^"]+)"$`)

// HISTORY 20.20: the TimeMap in both formats, and its URLs.
func timeMaps(s *scene) {
	s = s.alone(settings{})
	nobody := s.nobody
	story := s.tell("author", "events", obj{"status": "draft"}, obj{"status": "publish"}, obj{"description": "1"}, obj{"status": "draft"}, obj{"status": "publish"})
	url := s.svc.url + root + story.path
	want := []int{2, 3, 5}
	links := nobody.read(story.path + "/timemap")
	links.head("Content-Type", "application/link-format")
	lines := strings.Split(string(links.body), ",\n")
	if len(lines) != 2+len(want) || lines[0] != "<"+url+`>; rel="original timegate"` ||
		lines[1] != fmt.Sprintf(`<%s/timemap>; rel="self"; type="application/link-format"; from="%s"; until="%s"`, url, story.times[1].Format(http.TimeFormat), story.times[4].Format(http.TimeFormat)) {
		s.t.Fatalf("TimeMap:\n%s", links.body)
	}
	asJSON := nobody.with("Accept", "application/json").read(story.path + "/timemap")
	asJSON.head("Content-Type", "application/json; charset=utf-8").fields(obj{"original": url, "timegate": url, "timemap": url + "/timemap"}).without("next_rest_url")
	if n := asJSON.len("mementos"); n != len(want) {
		s.t.Fatalf("%d mementos", n)
	}
	for i, n := range want {
		parts := linkLine.FindStringSubmatch(lines[2+i])
		if parts == nil || parts[1] != url+version(n) {
			s.t.Fatalf("memento %d: %s", n, lines[2+i])
		}
		if rel := map[int]string{0: "first memento", 1: "memento", 2: "last memento"}[i]; parts[2] != rel {
			s.t.Errorf("memento %d: %s", n, lines[2+i])
		}
		nobody.read("="+strings.TrimPrefix(parts[1], s.svc.url)).head("Memento-Datetime", parts[3])
		asJSON.field(fmt.Sprintf("mementos.%d", i), obj{"version": n, "time": story.times[n-1].Format("2006-01-02T15:04:05.000Z"), "url": url + version(n)})
	}
	if same := nobody.with("Accept", "application/link-format").read(story.path + "/timemap?format=json"); string(same.body) != string(asJSON.body) {
		s.t.Errorf("format=json: %s", same.body)
	}
	if same := nobody.with("Accept", "application/json").read(story.path + "/timemap?format=link"); strings.Replace(string(same.body), "?format=link", "", 1) != string(links.body) {
		s.t.Errorf("format=link: %s", same.body)
	}
	nobody.with("Accept", "application/json, application/link-format").read(story.path+"/timemap").head("Content-Type", "application/link-format")
	nobody.read(story.path+"/timemap?format=json&after=2").field("mementos.0.version", 3)
	nobody.read(story.path+"/timemap?format=json&after=9").field("mementos", list{})
	for name, bad := range map[string]string{"format": "xml", "after": "-1", "multilang_language": "de"} {
		nobody.get(story.path + "/timemap" + pairs(name, bad)).bad(name)
	}
	if n := s.as("auditor").read(story.path + "/timemap?format=json").len("mementos"); n != 5 {
		s.t.Errorf("an auditor gets %d versions", n)
	}
	nobody.get("/events/99999/timemap").code(404, "rest-event-not-found")
	nobody.get(strings.Replace(story.path, "events", "venues", 1)+"/timemap").code(404, "venue-not-found")
	// Without the deletion of a term.
	tag := s.tell("editor", "tags", nil, obj{"description": "x"})
	s.editor.remove(tag.path)
	nobody.get(tag.path+"/timemap").code(404, "tag-not-found")
	if n := s.as("auditor").read(tag.path + "/timemap?format=json").len("mementos"); n != 2 {
		s.t.Errorf("%d versions of a deleted tag", n)
	}
	nobody.with("If-None-Match", links.etag()).get(story.path + "/timemap").want(304)
	nobody.do(http.MethodOptions, story.path+"/timemap", nil).want(200).head("Allow", "GET, HEAD, OPTIONS")
	nobody.post(story.path+"/timemap", nil).code(405, "rest_method_not_allowed")
}

// HISTORY 20.26: the setting public-history, on the routes of this file.
func closedHistory(s *scene) {
	for _, setting := range []string{"none", "proofs"} {
		o := settings{}
		o.http.PublicHistory = httpapi.PublicHistory(setting)
		s := s.alone(o)
		story := s.tell("author", "events", obj{"title": "one"}, obj{"title": "two"})
		paths := []string{story.path + version(1), story.path + "?as_of=now", story.path + "?as_of=", "/events?as_of=now", "/events?as_of=never", story.path + "/timemap", "/events/99999?as_of=now"}
		for _, path := range paths {
			s.nobody.get(path).code(401, "rest_forbidden")
			s.as("author").get(path).code(403, "rest_forbidden")
			s.as("subscriber").get(path).code(403, "rest_forbidden")
		}
		for _, who := range []string{"editor", "administrator", "auditor"} {
			s.as(who).read(story.path+version(1)).field("title", "one")
			s.as(who).list("events", "as_of", story.times[0].Format(time.RFC3339)).field("events.0.title", "one")
			s.as(who).read(story.path + "/timemap")
			if s.as(who).read(story.path).header.Get("Link") == "" {
				s.t.Errorf("%s: no Memento headers for %s", setting, who)
			}
			s.as(who).with("Accept-Datetime", story.times[0].Format(http.TimeFormat)).read(story.path).field("title", "one")
		}
		for _, who := range []string{"", "author"} {
			for _, sent := range []string{story.times[0].Format(http.TimeFormat), "never"} {
				got := s.as(who).with("Accept-Datetime", sent).read(story.path).field("title", "two")
				for _, name := range []string{"Link", "Memento-Datetime", "Content-Location"} {
					if got.header.Get(name) != "" {
						s.t.Errorf("%s: %s %q", setting, name, got.header.Get(name))
					}
				}
				s.as(who).with("Accept-Datetime", sent).list("events").field("events.0.title", "two")
			}
		}
	}
}

// HISTORY 20.42, for these routes: texts in the language, problem details, and headers
// for other origins.
func headersThen(s *scene) {
	s = s.alone(settings{})
	story := s.tell("editor", "events", nil)
	for path, want := range map[string]struct {
		status int
		code   string
	}{
		story.path + version(9):            {404, "rest_version_not_found"},
		story.path + "?as_of=2000-01-01":   {404, "rest-event-not-found"},
		story.path + "?as_of=never":        {400, "rest_invalid_param"},
		"/events/99999/timemap":            {404, "rest-event-not-found"},
		"/events?as_of=version:1":          {400, "rest_invalid_param"},
		story.path + "/timemap?format=pdf": {400, "rest_invalid_param"},
	} {
		texts := map[string]bool{}
		for _, language := range []string{"en", "fr", "es", "cn"} {
			got := s.nobody.under(language).get(path).code(want.status, want.code)
			texts[got.str("message")] = true
			got.head("Cache-Control", "no-store")
			s.nobody.under(language).with("Accept", "application/problem+json").get(path).want(want.status).field("code", want.code).field("status", want.status).field("detail", got.at("message"))
		}
		if len(texts) != 4 {
			s.t.Errorf("%s: messages %v", path, texts)
		}
	}
	got := s.nobody.read(story.path + version(1))
	if answer := s.nobody.do(http.MethodHead, story.path+version(1), nil).want(200); answer.etag() != got.etag() || answer.header.Get("Link") != got.header.Get("Link") {
		s.t.Errorf("HEAD: %v", answer.header)
	}
}
