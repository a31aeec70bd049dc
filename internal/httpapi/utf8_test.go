package httpapi_test

import (
	"net/http"
	"testing"

	"daybook/calendar"
)

// INTERFACE 2.1, 7.2: what is not valid UTF-8 is refused, and nothing is stored of it.
func TestInvalidUTF8(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	event := editor.Event("Jazz", nil)
	form := editor.With("Content-Type", "application/x-www-form-urlencoded")
	const dates = "&start_date=2026-06-01&end_date=2026-06-01"
	for _, body := range []string{"title=Caf%E9" + dates, "title=Caf\xe9" + dates, "title=a&x%FF=1" + dates} {
		form.Post("/events", body).WantCode(http.StatusBadRequest, "rest_invalid_json")
	}
	for _, body := range []string{`{"title":"\ud83d"}`, `{"title":"a\udc00b"}`, `{"title":"a","nosuch":{"\ud83d":1}}`, "{\"title\":\"\xff\"}"} {
		editor.Post("/events", body).WantCode(http.StatusBadRequest, "rest_invalid_json")
		editor.Patch(event.Path(calendar.KindEvent), body).WantCode(http.StatusBadRequest, "rest_invalid_json")
	}
	for _, path := range []string{
		"/events?search=%FF", "/events.ics?search=%C3", "/events?search=a&nosuch=1&search=%ff", "/venues?search=%FF", "/tags?search=%FF", "/suggest?search=%FF",
		"/events/clusters?zoom=1&search=%FF", "/events/calendar?start=2026-01-01&end=2026-02-01&search=%FF", "/changes?search=%FF",
		event.Path(calendar.KindEvent) + "?search=%FF", event.Path(calendar.KindEvent) + "/history?search=%FF", "?search=%FF", "/doc?search=%FF",
	} {
		nobody.Get(path).WantBad("search")
		nobody.Do(http.MethodHead, path, nil).Want(http.StatusBadRequest)
	}
	nobody.Get("/events?city[]=a&city[]=%FF&tags=%FE").WantBad("city", "tags")
	nobody.Get("/events?%FF=1").WantBad("\uFFFD")
	editor.Post("/events?title=%FF"+dates+"&featured=2", nil).WantBad("title", "featured")
	editor.Post("/events?venue[venue]=%FF"+dates, obj{"title": "a"}).WantBad("venue")
	editor.Patch(event.Path(calendar.KindEvent)+"?title=%FF", nil).WantBad("title")
	editor.Delete(event.Path(calendar.KindEvent) + "?reason=%FF").WantBad("reason")
	nobody.Read("/events?search=%C3%A9")
	editor.Event("\U0001F3B7", obj{"description": "caf\u00e9"}).WantField("title", "\U0001F3B7")
	editor.Post("/events", `{"title":"\ud83c\udfb7","start_date":"2026-06-01","end_date":"2026-06-01"}`).Want(http.StatusCreated).WantField("title", "\U0001F3B7")
	nobody.Get("/events").WantField("total", 3.0)
}

// INTERFACE 2.4: dates without signs, and fractions of a second behind wall clocks, on
// writes and in filters.
func TestDatesWithoutSigns(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	for sent, want := range map[string]string{
		"20270301": "2027-03-01 00:00:00", "20270301T1830": "2027-03-01 18:30:00", "20270301T183015": "2027-03-01 18:30:15", "20270301T1830+02:00": "2027-03-01 16:30:00",
		"2027-03-01T18:30:00.123456": "2027-03-01 18:30:00", "2027-03-01 18:30:00.5": "2027-03-01 18:30:00", "2027-03-01T18:30:00.5Z": "2027-03-01 18:30:00",
	} {
		event := editor.Event("Jazz "+sent, obj{"start_date": sent, "end_date": sent})
		event.WantField("start_date", want).WantField("end_date", want)
	}
	nobody.Read("/events?start_date=20270301&end_date=20270302").WantField("total", 7.0)
	nobody.Read("/events?start_date=20270302&end_date=20270303").WantField("total", 0.0)
	for _, bad := range []string{"20300230", "20301301", "2027-03-01T18:30:00,5", "20270301T1830.5"} {
		editor.Post("/events", obj{"title": "a", "start_date": bad, "end_date": "2030-01-01"}).WantBad("start_date")
		nobody.Get("/events?start_date=" + bad).WantBad("start_date")
	}
}
