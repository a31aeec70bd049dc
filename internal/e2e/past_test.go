package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// pastLines are the lines of the checklist of HISTORY.md about the past of records and
// lists: reads as of a point, mementos.
var pastLines = []line{
	{name: "times_of_versions", check: timesOfVersions},
	{name: "linked_records_then"},
	{name: "permanent_urls"},
	{name: "slugs_then"},
	{name: "gates_of_single_reads"},
	{name: "drafts_before_publication", check: draftsBefore},
	{name: "scheduled_then"},
	{name: "protected_then"},
	{name: "lists_then"},
	{name: "lists_without_what_is_withdrawn"},
	{name: "counts_then"},
	{name: "parameters_then"},
	{name: "accept_datetime"},
	{name: "memento_links", check: mementoLinks},
	{name: "timemaps", check: timeMaps},
	{name: "closed_history"},
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
