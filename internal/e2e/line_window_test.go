package e2e

// Lines 31 to 36: the date window, on a service whose site zone is
// America/New_York and where it is 2030-05-01, 22:00: the next day in UTC.

// yorkEvent makes an event on york's service that a tag finds.
func (s *scene) yorkEvent(tag, zone, start, end string) *answer {
	s.t.Helper()
	return s.york.as(s.t, "editor").create("events", obj{
		"title": start + " " + end, "timezone": zone, "start_date": start, "end_date": end, "tags": []string{tag},
	})
}

// ask asks york for the events of a tag.
func (s *scene) ask(tag string, params ...string) *answer {
	s.t.Helper()
	return s.york.as(s.t, "").list("events", append([]string{"tags", tag}, params...)...)
}

const newYork = "America/New_York"

func defaultWindow(s *scene) {
	tag := newWord()
	s.yorkEvent(tag, newYork, "2030-04-30 23:59:59", "2030-05-01 10:00:00") // running or gone
	first := s.yorkEvent(tag, newYork, "2030-05-01 00:00:00", "2030-05-01 00:00:00")
	late := s.yorkEvent(tag, newYork, "2030-05-01 23:59:00", "2030-05-02 10:00:00")
	last := s.yorkEvent(tag, newYork, "2032-05-01 22:00:00", "2032-05-01 23:59:59")
	s.yorkEvent(tag, newYork, "2032-05-01 22:00:00", "2032-05-02 00:00:00")
	tokyo := s.yorkEvent(tag, "Asia/Tokyo", "2030-05-01 00:00:00", "2030-05-01 01:00:00") // its own wall clock counts

	base := s.york.url + root + "/events/?per_page=10&start_date=2030-05-01%2000%3A00%3A00&end_date=2032-05-01%2023%3A59%3A59&"
	s.ask(tag).found(first, tokyo, late, last).field("rest_url", base+"tags="+tag)
	s.york.as(s.t, "editor").under("fr").list("events", "tags", tag).found(first, tokyo, late, last)
	s.ask(tag, "strict_dates", "false").found(first, tokyo, late, last)
	// Declared as 23:59:00: exact when strict.
	s.ask(tag, "strict_dates", "true").found(late, last).field("rest_url", s.york.url+root+
		"/events/?per_page=10&start_date=2030-05-01%2023%3A59%3A00&end_date=2032-05-01%2023%3A59%3A59&strict_dates=true&tags="+tag)
	s.york.as(s.t, "").read("").fields(obj{
		"routes./calendar/events/v1/events.endpoints.0.args.start_date.default": "2030-05-01 23:59:00",
		"routes./calendar/events/v1/events.endpoints.0.args.end_date.default":   "2032-05-01 23:59:59",
	})
}

func otherBounds(s *scene) {
	tag := newWord()
	past := s.yorkEvent(tag, newYork, "2020-01-01 10:00:00", "2020-01-01 11:00:00")
	running := s.yorkEvent(tag, newYork, "2030-04-01 10:00:00", "2030-05-20 11:00:00")
	soon := s.yorkEvent(tag, newYork, "2030-05-10 10:00:00", "2030-05-10 11:00:00")
	far := s.yorkEvent(tag, newYork, "2040-05-10 10:00:00", "2040-05-10 11:00:00")
	s.ask(tag).found(soon)
	s.ask(tag, "end_date", "2041-01-01").found(soon, far).field("rest_url", s.york.url+root+
		"/events/?per_page=10&start_date=2030-05-01%2000%3A00%3A00&end_date=2041-01-01&tags="+tag)
	s.ask(tag, "end_date", "2025-01-01").found() // a past one alone finds nothing
	s.ask(tag, "start_date", "2019-01-01").found(past, running, soon)
	s.ask(tag, "start_date", "2019-01-01", "end_date", "2025-01-01").found(past)
	for _, c := range []struct {
		param, value string
		want         []*answer
	}{
		{"starts_after", "2019-01-01", []*answer{past, running, soon, far}},
		{"starts_before", "2050-01-01", []*answer{past, running, soon, far}},
		{"ends_after", "2019-01-01", []*answer{past, running, soon, far}},
		{"ends_before", "2050-01-01", []*answer{past, running, soon, far}},
		{"ends_after", "2030-05-10", []*answer{running, far}},
		{"starts_before", "2030-05-01", []*answer{past, running}},
	} {
		got := s.ask(tag, c.param, c.value).found(c.want...)
		rest := c.param + "=" + c.value + "&tags=" + tag
		got.field("rest_url", s.york.url+root+"/events/?per_page=10&"+rest)
	}
	s.ask(tag, "ends_after", "2019-01-01", "start_date", "2030-05-01").found(soon, far)
	s.ask(tag, "starts_after", "2019-01-01", "end_date", "2030-12-31").found(past, running, soon)
	// Running or coming.
	s.ask(tag, "ends_after", "now", "strict_dates", "true").found(running, soon, far)
}

func startsAround(s *scene) {
	tag := newWord()
	before := s.yorkEvent(tag, newYork, "2030-05-09 22:00:00", "2030-05-12")
	on := s.yorkEvent(tag, newYork, "2030-05-10 00:00:00", "2030-05-12")
	late := s.yorkEvent(tag, newYork, "2030-05-10 23:59:58", "2030-05-12")
	after := s.yorkEvent(tag, newYork, "2030-05-11 00:00:00", "2030-05-12")
	for _, language := range []string{"en", "fr", "es", "cn"} {
		caller := s.york.as(s.t, "").under(language)
		for _, day := range []string{"2030-05-10", "2030-05-10 15:00:00", "May 10 2030", "05/10/2030"} {
			caller.list("events", "tags", tag, "starts_after", day).found(after)
			caller.list("events", "tags", tag, "starts_before", day).found(before, on, late)
			caller.list("events", "tags", tag, "start_date", day).found(on, late, after)
		}
	}
	s.ask(tag, "strict_dates", "true", "starts_before", "2030-05-10").found(before)
	s.ask(tag, "strict_dates", "true", "starts_after", "2030-05-10").found(late, after)
	s.ask(tag, "strict_dates", "true", "start_date", "2030-05-10").found(on, late, after)
	// Words stand on the clock of the site zone.
	s.ask(tag, "starts_after", "+9 days").found(after)
	s.ask(tag, "start_date", "friday").found(before, on, late, after) // 2030-05-03
	s.ask(tag, "starts_before", "next friday").found()
	s.ask(tag, "starts_before", "+1 week").found()
	s.ask(tag, "starts_before", "+8 days").found(before)
}

func endsBefore(s *scene) {
	tag := newWord()
	caller := s.york.as(s.t, "editor")
	all := caller.create("events", obj{"title": "All day", "start_date": "2030-05-10", "end_date": "2030-05-10", "all_day": true, "tags": []string{tag}}).
		field("end_date", "2030-05-10 23:59:59").field("timezone", newYork)
	noon := s.yorkEvent(tag, newYork, "2030-05-10 10:00:00", "2030-05-10 12:00:00")
	next := s.yorkEvent(tag, newYork, "2030-05-10 20:00:00", "2030-05-11 00:00:00")
	s.ask(tag, "ends_before", "2030-05-10").found(noon)
	s.ask(tag, "end_date", "2030-05-10").found(all, noon)
	s.ask(tag, "end_date", "2030-05-10 16:00:00").found(all, noon)
	s.ask(tag, "ends_after", "2030-05-10").found(next)
	s.ask(tag, "ends_before", "2030-05-11").found(all, noon, next)
	s.ask(tag, "ends_after", "2030-05-09").found(all, noon, next)
}

// strictExamples are the events A and B of section 4.6.
func (s *scene) strictExamples() (tag string, a, b *answer) {
	s.t.Helper()
	tag = newWord()
	a = s.yorkEvent(tag, "Asia/Tokyo", "2030-05-10 09:00:00", "2030-05-10 10:00:00").field("utc_start_date", "2030-05-10 00:00:00")
	b = s.yorkEvent(tag, newYork, "2030-05-10 15:00:00", "2030-05-10 16:00:00").field("utc_start_date", "2030-05-10 19:00:00")
	return tag, a, b
}

func strictWallClock(s *scene) {
	tag, a, b := s.strictExamples()
	strict := func(params ...string) *answer {
		return s.ask(tag, append([]string{"strict_dates", "true"}, params...)...)
	}
	strict("start_date", "2030-05-10 09:00:00").found(a, b)
	strict("start_date", "2030-05-10 09:00:01").found(b)
	strict("starts_after", "2030-05-10 15:00:00").found()
	strict("starts_after", "2030-05-10 14:59:59").found(b)
	strict("start_date", "2030-05-10").found(a, b)
	strict("starts_after", "2029-01-01", "end_date", "2030-05-10").found()
	strict("starts_after", "2029-01-01", "end_date", "2030-05-10 10:00").found(a)
	strict("starts_before", "2030-05-10 09:00:00").found()
	strict("starts_before", "2030-05-10 09:00:01").found(a)
	strict("ends_before", "2030-05-10T10:00:01").found(a)
	strict("ends_after", "2030-05-10 10:00:00").found(b)
	strict("start_date", "+9 days 3pm").found(b)
}

func offsetFilters(s *scene) {
	tag, a, b := s.strictExamples()
	strict := func(params ...string) *answer {
		return s.ask(tag, append([]string{"strict_dates", "true"}, params...)...)
	}
	strict("start_date", "2030-05-10T09:00:00-04:00").found(b)
	strict("start_date", "1904670000").found(b)
	strict("start_date", "1904670001").found()
	strict("start_date", "2030-05-10T00:00:00Z").found(a, b)
	strict("start_date", "2030-05-10T09:00:00+0900").found(a, b)
	strict("starts_after", "2030-05-10T00:00:00Z").found(b)
	strict("starts_before", "2030-05-10T00:00:01Z").found(a)
	strict("ends_before", "2030-05-10T01:00:00Z").found()
	strict("ends_before", "2030-05-10T01:00:00.9Z").found() // fractions are dropped
	strict("ends_after", "2030-05-10T01:00:00Z").found(b)
	// Whole days: the day of an instant is its day in the site zone.
	s.ask(tag, "start_date", "2030-05-10T02:00:00Z").found(a, b) // from 2030-05-09 04:00:00 UTC
	s.ask(tag, "start_date", "2030-05-11T02:00:00Z").found(b)
	s.ask(tag, "starts_after", "2030-05-10T02:00:00Z").found(b)
	s.ask(tag, "starts_before", "2030-05-10T02:00:00Z").found(a)
	// A plus sign that is not encoded is a blank.
	s.york.as(s.t, "").get("/events?start_date=2030-05-10T09:00:00+09:00").bad("start_date")
	s.york.as(s.t, "").read("/events?start_date=2030-05-10T09:00:00%2B09:00&tags="+tag).field("rest_url",
		s.york.url+root+"/events/?per_page=10&start_date=2030-05-10T09%3A00%3A00%2B09%3A00&end_date=2032-05-01%2023%3A59%3A59&tags="+tag)
}
