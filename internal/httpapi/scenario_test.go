package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit"
)

// TestRefusals: what is refused, with which status and code, in which order of
// checks (7.2).
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	editor := w.As(calendar.Editor)
	event := editor.Event("Quay concert", testkit.Object{"venue": testkit.Object{"venue": "Hall"}})
	draft := editor.Event("Draft", testkit.Object{"status": "draft"})
	trashed := editor.Create(calendar.KindVenue, testkit.Object{"venue": "Gone"})
	editor.Delete(trashed.Path(calendar.KindVenue)).Want(http.StatusOK)
	tag := editor.Create(calendar.KindTag, testkit.Object{"name": "Open air"})
	eventPath, tagPath := event.Path(calendar.KindEvent), tag.Path(calendar.KindTag)
	large := `{"description":"` + strings.Repeat("x", 1<<20) + `"}`

	for name, tc := range map[string]struct {
		as     calendar.Role
		method string
		path   string
		body   any
		header []string
		status int
		code   string
		allow  string
	}{
		"unknown path":                         {0, "GET", "/nothing", nil, nil, 404, "rest_no_route", ""},
		"prefix alone":                         {0, "GET", "//api", nil, nil, 404, "rest_no_route", ""},
		"home":                                 {0, "GET", "//", nil, nil, 404, "rest_no_route", ""},
		"english segment":                      {0, "GET", "//en/api/calendar/events/v1/events", nil, nil, 404, "rest_no_route", ""},
		"id that is no digits":                 {0, "GET", "/events/x1", nil, nil, 404, "rest_no_route", ""},
		"negative id":                          {0, "GET", "/events/-1", nil, nil, 404, "rest_no_route", ""},
		"empty slug":                           {0, "GET", "/events/by-slug/", nil, nil, 404, "rest_no_route", ""},
		"by slug on terms":                     {0, "GET", "/tags/by-slug/open-air", nil, nil, 404, "rest_no_route", ""},
		"below a record":                       {0, "GET", eventPath + "/x", nil, nil, 404, "rest_no_route", ""},
		"unknown path before bad credentials":  {0, "GET", "/nothing", nil, []string{"Authorization", "Bearer x"}, 404, "rest_no_route", ""},
		"unknown path, odd method":             {0, "FOO", "/nothing", nil, nil, 404, "rest_no_route", ""},
		"odd method":                           {0, "FOO", "/events", nil, nil, 405, "rest_method_not_allowed", "GET, HEAD, POST, OPTIONS"},
		"put on a collection":                  {calendar.Editor, "PUT", "/events", "{}", nil, 405, "rest_method_not_allowed", "GET, HEAD, POST, OPTIONS"},
		"post on the index":                    {calendar.Editor, "POST", "", "{}", nil, 405, "rest_method_not_allowed", "GET, HEAD, OPTIONS"},
		"405 before credentials":               {0, "DELETE", "/events", nil, []string{"Authorization", "Bearer x"}, 405, "rest_method_not_allowed", "GET, HEAD, POST, OPTIONS"},
		"no method override":                   {calendar.Editor, "GET", eventPath + "?_method=DELETE&_envelope=1", nil, []string{"X-HTTP-Method-Override", "PUT"}, 200, "", ""},
		"long request line":                    {0, "GET", "/events?search=" + strings.Repeat("x", 17<<10), nil, nil, 414, "rest_uri_too_long", ""},
		"long request line of an unknown path": {0, "GET", "/nothing?a=" + strings.Repeat("x", 17<<10), nil, nil, 414, "rest_uri_too_long", ""},

		"wrong token on a public read":     {0, "GET", "/events", nil, []string{"Authorization", "Bearer wrong"}, 401, "incorrect_password", "GET, HEAD, OPTIONS"},
		"unknown scheme":                   {0, "GET", "/events", nil, []string{"Authorization", "Digest x"}, 401, "rest_invalid_credentials", ""},
		"unknown user":                     {0, "GET", "", nil, []string{"Authorization", "Basic bm9ib2R5Ong="}, 401, "invalid_username", ""},
		"wrong token with OPTIONS":         {0, "OPTIONS", "/events", nil, []string{"Authorization", "Bearer wrong"}, 401, "incorrect_password", ""},
		"credentials before parameters":    {0, "GET", "/events?page=x", nil, []string{"Authorization", "Bearer wrong"}, 401, "incorrect_password", ""},
		"anonymous write":                  {0, "POST", "/events", "{", nil, 401, "rest_forbidden", "GET, HEAD, OPTIONS"},
		"anonymous write of the unknown":   {0, "DELETE", "/events/9999", nil, nil, 401, "rest_forbidden", ""},
		"subscriber before the body":       {calendar.Subscriber, "POST", "/events", "{", nil, 403, "rest_forbidden", "GET, HEAD, OPTIONS"},
		"auditor writes nothing":           {calendar.Auditor, "DELETE", eventPath, nil, nil, 403, "rest_forbidden", ""},
		"contributor on terms":             {calendar.Contributor, "POST", "/categories", "{", nil, 403, "rest_forbidden", ""},
		"author on tags":                   {calendar.Author, "PATCH", "/tags/9999", "{", nil, 403, "rest_forbidden", ""},
		"malformed body":                   {calendar.Editor, "POST", "/events", `{"title":`, nil, 400, "rest_invalid_json", ""},
		"body that is no object":           {calendar.Editor, "PATCH", "/events/9999", `[]`, nil, 400, "rest_invalid_json", ""},
		"large body":                       {calendar.Editor, "POST", "/events", large, nil, 413, "rest_body_too_large", ""},
		"large body of the unknown":        {calendar.Editor, "PATCH", "/events/9999", large, nil, 413, "rest_body_too_large", ""},
		"missing before invalid":           {calendar.Editor, "POST", "/events", `{"featured":"x"}`, []string{"Idempotency-Key", "\x80"}, 400, "rest_missing_callback_param", ""},
		"bad value on a foreign record":    {calendar.Contributor, "PATCH", eventPath, `{"featured":"x"}`, nil, 400, "rest_invalid_param", ""},
		"bad value of the unknown":         {calendar.Editor, "PATCH", "/events/9999", `{"featured":"x"}`, nil, 400, "rest_invalid_param", ""},
		"unknown before foreign":           {calendar.Contributor, "PATCH", "/events/9999", `{}`, nil, 404, "rest-event-not-found", ""},
		"foreign record":                   {calendar.Contributor, "PATCH", eventPath, `{}`, []string{"If-Match", `"99-x"`}, 403, "rest_forbidden", ""},
		"foreign record by slug":           {calendar.Author, "DELETE", "/events/by-slug/quay-concert", nil, nil, 403, "rest_forbidden", ""},
		"stale version before the handler": {calendar.Editor, "DELETE", trashed.Path(calendar.KindVenue), nil, []string{"If-Match", `"1-x"`}, 412, "rest_precondition_failed", ""},
		"trashed already":                  {calendar.Editor, "DELETE", trashed.Path(calendar.KindVenue), nil, nil, 410, "venue-is-in-trash", ""},
		"term exists":                      {calendar.Editor, "POST", "/tags", `{"name":"OPEN AIR"}`, nil, 400, "term_exists", ""},
		"tag with a parent":                {calendar.Editor, "PATCH", tagPath, `{"parent":5}`, nil, 400, "rest_taxonomy_not_hierarchical", ""},
		"terms past the end":               {0, "GET", "/tags?page=2", nil, nil, 200, "", ""},

		"zero id":                      {0, "GET", "/events/0", nil, nil, 404, "rest-event-not-found", ""},
		"id beyond all":                {0, "GET", "/events/99999999999999999999", nil, nil, 404, "rest-event-not-found", ""},
		"id of another kind":           {0, "GET", "/organizers/" + itoa(event.ID()), nil, nil, 404, "organizer-not-found", ""},
		"slug with a slash":            {0, "GET", "/events/by-slug/a%2Fb", nil, nil, 404, "rest-event-not-found", ""},
		"parameters before existence":  {0, "GET", "/events/9999?multilang_language=de", nil, nil, 400, "rest_invalid_param", ""},
		"password that is a list":      {0, "GET", eventPath + "?password[]=x", nil, nil, 400, "rest_invalid_param", ""},
		"fields that are an object":    {0, "GET", eventPath + "?_fields[a]=x", nil, nil, 400, "rest_invalid_param", ""},
		"draft of others":              {0, "GET", draft.Path(calendar.KindEvent), nil, nil, 403, "event-not-accessible", ""},
		"trashed venue":                {0, "GET", trashed.Path(calendar.KindVenue), nil, nil, 403, "venue-not-accessible", ""},
		"page past the end":            {0, "GET", "/venues?page=7", nil, nil, 404, "venue-archive-page-not-found", ""},
		"bad position":                 {0, "GET", "/events?page=0", nil, []string{"Daybook-Min-Position", "x"}, 400, "rest_invalid_param", ""},
		"position not reached":         {0, "GET", "/events?page=9", nil, []string{"Daybook-Min-Position", "99999"}, 503, "rest_position_not_reached", ""},
		"position beyond all":          {0, "GET", "/tags", nil, []string{"Daybook-Min-Position", "99999999999999999999"}, 503, "rest_position_not_reached", ""},
		"position is ignored on reads": {0, "GET", eventPath, nil, []string{"Daybook-Min-Position", "x"}, 200, "", ""},
		"empty headers":                {calendar.Editor, "PATCH", tagPath, "{}", []string{"Idempotency-Key", "", "If-Match", ""}, 200, "", ""},
		"bad key":                      {calendar.Editor, "PATCH", tagPath, `{"name":""}`, []string{"Idempotency-Key", strings.Repeat("k", 256)}, 400, "rest_invalid_param", ""},
		"bad key on delete":            {calendar.Editor, "DELETE", "/tags/9999", nil, []string{"Idempotency-Key", strings.Repeat("k", 256)}, 404, "tag-not-found", ""},
		"bad selector in options":      {0, "OPTIONS", "/events?multilang_language=xx", nil, nil, 400, "rest_invalid_param", ""},
		"bad selector in doc":          {0, "GET", "/doc?multilang_language=", nil, nil, 400, "rest_invalid_param", ""},
	} {
		client := w.As(tc.as).With(tc.header...)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := client.In(t).Do(tc.method, tc.path, tc.body)
			if tc.code == "" {
				got.Want(tc.status)
			} else {
				got.WantCode(tc.status, tc.code)
			}
			if tc.allow != "" && got.Header.Get("Allow") != tc.allow {
				t.Errorf("Allow %q, want %q", got.Header.Get("Allow"), tc.allow)
			}
			if challenged := len(got.Header.Values("WWW-Authenticate")) == 2; challenged != (tc.status == http.StatusUnauthorized) {
				t.Errorf("WWW-Authenticate %q", got.Header.Values("WWW-Authenticate"))
			}
			if waits := got.Header.Get("Retry-After") != ""; waits != (tc.status == http.StatusServiceUnavailable) {
				t.Errorf("Retry-After %q", got.Header.Get("Retry-After"))
			}
			if got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("Vary") != varyOf(tc.method, tc.path) ||
				got.Header.Get("Content-Language") != "en" {
				t.Errorf("headers %v", got.Header)
			}
		})
	}
	w.As(calendar.Anonymous).With("Daybook-Min-Position", "-1").Get("/events?page=0").WantBad("page", "Daybook-Min-Position")
	w.As(calendar.Editor).With("Idempotency-Key", "ü").Patch(tagPath, `{"name":""}`).WantBad("name", "Idempotency-Key")
	w.As(calendar.Editor).Post("/tags", `{"name":"open air"}`).WantField("data.term_id", tag.ID())
	missing := w.As(calendar.Editor).Post("/events", `{"title":null}`).WantCode(http.StatusBadRequest, "rest_missing_callback_param")
	missing.WantField("data.params", []any{"title", "start_date", "end_date"})
}

func itoa(id calendar.ID) string { return id.String() }

// TestErrorLanguage: messages are in the language of the request.
func TestErrorLanguage(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	nobody, editor := w.As(calendar.Anonymous), w.As(calendar.Editor)
	english := nobody.Get("/events/9999").String("message")
	for name, tc := range map[string]struct {
		got *testkit.Response
		tag string
	}{
		"root":                     {nobody.Under(calendar.LangFR).Get("/events/9999"), "fr"},
		"selector":                 {nobody.Under(calendar.LangFR).Get("/events/9999?multilang_language=cn"), "zh-Hans"},
		"unknown path":             {nobody.Under(calendar.LangES).Get("/nothing"), "es"},
		"no namespace":             {nobody.Do("GET", "//cn/nothing", nil), "zh-Hans"},
		"bad credentials":          {nobody.With("Authorization", "x").Get("/events?multilang_language=fr"), "fr"},
		"bad selector":             {nobody.Under(calendar.LangFR).Get("/events?multilang_language=de"), "fr"},
		"selector in the body":     {editor.Under(calendar.LangFR).Post("/tags", `{"name":"","multilang_language":"es"}`), "es"},
		"body over query":          {editor.Post("/tags?multilang_language=fr", `{"name":"","multilang_language":"es"}`), "es"},
		"bad selector in the body": {editor.Under(calendar.LangFR).Post("/tags?multilang_language=es", `{"name":"x","multilang_language":"de"}`), "fr"},
		"method":                   {nobody.Under(calendar.LangFR).Do("PUT", "/events", nil), "fr"},
	} {
		if got := tc.got.Header.Get("Content-Language"); got != tc.tag {
			t.Errorf("%s: Content-Language %s, want %s", name, got, tc.tag)
		}
		if message := tc.got.String("message"); message == "" || message == english {
			t.Errorf("%s: message %q", name, message)
		}
	}
	problem := nobody.Under(calendar.LangES).With("Accept", "application/problem+json").Get("/venues?event=9999&has_events=2").Want(http.StatusBadRequest)
	if got := problem.Header.Get("Content-Type"); got != "application/problem+json; charset=utf-8" {
		t.Errorf("Content-Type %s", got)
	}
	problem.WantField("type", "urn:daybook:error:rest_invalid_param").WantField("instance", "/es/api/calendar/events/v1/venues").
		WantField("details.has_events.code", "rest_invalid_type").WantField("status", 400)
}

// TestTags: entity tags of records and what is asked with them (2.9).
func TestTags(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	created := editor.Event("Concert", testkit.Object{"venue": testkit.Object{"venue": "Hall"}, "categories": "Jazz"})
	path := created.Path(calendar.KindEvent)
	if created.Header.Get("Location") != testkit.Base+testkit.Root+path {
		t.Errorf("Location %s", created.Header.Get("Location"))
	}
	read := editor.Get(path).Want(http.StatusOK)
	if read.ETag() != created.ETag() || !strings.HasPrefix(read.ETag(), `"1-`) {
		t.Errorf("tag of the write %s, of the read %s", created.ETag(), read.ETag())
	}
	if read.Header.Get("Last-Modified") != "Fri, 01 May 2026 12:00:00 GMT" {
		t.Errorf("Last-Modified %s", read.Header.Get("Last-Modified"))
	}
	for name, header := range map[string]string{"same": read.ETag(), "weak": "W/" + read.ETag(), "list": `"x", ` + read.ETag(), "any": "*"} {
		again := editor.With("If-None-Match", header).Get(path).Want(http.StatusNotModified)
		if len(again.Body) != 0 || again.ETag() != read.ETag() || again.Header.Get("Content-Type") != "" {
			t.Errorf("%s: body %q, headers %v", name, again.Body, again.Header)
		}
		editor.With("If-None-Match", header).Do(http.MethodHead, path, nil).Want(http.StatusNotModified)
	}
	editor.With("If-None-Match", `"1-other"`).Get(path).Want(http.StatusOK)
	editor.With("If-Modified-Since", "Fri, 01 May 2099 12:00:00 GMT").Get(path).Want(http.StatusOK)
	if tag := editor.Get(path + "?_fields=id").ETag(); tag == read.ETag() {
		t.Error("_fields has the same tag")
	}
	if tag := editor.Under(calendar.LangFR).Get(path).ETag(); tag == read.ETag() {
		t.Error("another root has the same tag")
	}

	// A write of a linked record changes the tag, not the version.
	editor.Patch("/venues/"+itoa(calendar.ID(read.Int("venue.id"))), testkit.Object{"city": "Rome"}).Want(http.StatusOK)
	changed := nobody.Get(path).Want(http.StatusOK)
	if changed.ETag() == read.ETag() || !strings.HasPrefix(changed.ETag(), `"1-`) {
		t.Errorf("tag %s after a change of the venue, before %s", changed.ETag(), read.ETag())
	}
	changed.WantField("venue.city", "Rome")

	// If-Match compares the version only.
	head := w.Head()
	for _, header := range []string{`"2-x"`, `"x"`, `"2-a", "3-b"`} {
		editor.With("If-Match", header).Patch(path, "{}").WantCode(http.StatusPreconditionFailed, "rest_precondition_failed")
	}
	if w.Head() != head {
		t.Error("a refused write wrote")
	}
	updated := editor.With("If-Match", `W/"1-whatever"`).Patch(path, "{}").Want(http.StatusOK)
	if !strings.HasPrefix(updated.ETag(), `"2-`) || updated.Position() != w.Head() {
		t.Errorf("tag %s, position %d of %d", updated.ETag(), updated.Position(), w.Head())
	}
	editor.With("If-Match", "*").Put(path, nil).Want(http.StatusOK)
	editor.With("If-Match", `"99-x"`).Create(calendar.KindTag, testkit.Object{"name": "x"})
	w.Clock.Add(1500 * time.Millisecond)
	deleted := editor.With("If-Match", `"1-a", "3-b"`).Delete(path).Want(http.StatusOK).WantField("status", "trash")
	if !strings.HasPrefix(deleted.ETag(), `"4-`) || deleted.Has("json_ld") {
		t.Errorf("tag %s", deleted.ETag())
	}
}

// TestSameMethods: POST, PUT and PATCH on one record are one operation.
func TestSameMethods(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	editor := w.As(calendar.Editor)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch} {
		e := editor.Event("Concert "+method, testkit.Object{"cost": "5", "featured": true})
		got := editor.Do(method, e.Path(calendar.KindEvent), testkit.Object{"title": "T", "id": 99}).Want(http.StatusOK)
		got.WantField("title", "T").WantField("cost", "$5").WantField("featured", true).WantField("id", e.ID())
		editor.Do(method, "/events/by-slug/"+strings.ToUpper(e.String("slug")), nil).Want(http.StatusOK).WantField("title", "T")
	}
}

// TestSources: where values come from (2.1).
func TestSources(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	editor := w.As(calendar.Editor)
	dates := "start_date=2026-06-01+10:00&end_date=2026-06-01+12:00"

	form, err := url.ParseQuery(dates + "&title=Form&venue[venue]=Hall&venue[city]=Rome&organizer[0][organizer]=Trust&organizer[1][organizer]=Guild&tags[]=a,b&tags[]=c&featured=on")
	if err != nil {
		t.Fatal(err)
	}
	editor.Post("/events", form).Want(http.StatusCreated).WantField("venue.city", "Rome").WantField("organizer.1.organizer", "Guild").
		WantField("featured", true).WantField("tags.0.name", "a,b").WantField("tags.1.name", "c")

	const boundary = "x0x"
	multipart := "--x0x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nMulti\r\n" +
		"--x0x\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\nPNG\r\n" +
		"--x0x\r\nContent-Disposition: form-data; name=\"tags[]\"\r\n\r\nc\r\n--x0x--\r\n"
	got := editor.With("Content-Type", "multipart/form-data; boundary="+boundary).Post("/events?"+dates, multipart).Want(http.StatusCreated)
	got.WantField("title", "Multi").WantField("tags.0.name", "c").WantField("image", false)

	// The body wins over the query, both are merged.
	editor.Post("/events?title=Query&"+dates+"&cost=3", `{"title":"Body"}`).Want(http.StatusCreated).
		WantField("title", "Body").WantField("cost", "$3")
	// A body of another type is ignored.
	editor.With("Content-Type", "text/plain").Post("/events?title=Query2&"+dates, `{"title":"Body"}`).Want(http.StatusCreated).WantField("title", "Query2")
	editor.With("Content-Type", "").Post("/tags", `{"name":"untyped"}`).Want(http.StatusCreated)
	editor.With("Content-Type", "application/vnd.x+json").Post("/tags", `{"name":"typed"}`).Want(http.StatusCreated)
	// Ids of body and query never name the record; equal tags of a form count once.
	one := editor.Create(calendar.KindTag, testkit.Object{"name": "one"})
	two := editor.Create(calendar.KindTag, testkit.Object{"name": "two"})
	editor.Patch(one.Path(calendar.KindTag)+"?id="+itoa(two.ID()), testkit.Object{"id": two.ID(), "description": "x"}).Want(http.StatusOK).WantField("id", one.ID())
	editor.Do(http.MethodDelete, one.Path(calendar.KindTag)+"?id="+itoa(two.ID()), `{"id":5`).Want(http.StatusOK).WantField("id", one.ID())
	// A body on a read is ignored.
	editor.Do(http.MethodGet, "/tags/"+itoa(two.ID()), `{"multilang_language":"xx"`).Want(http.StatusOK)
	// Slug in the body renames, the path names the record.
	venue := editor.Create(calendar.KindVenue, testkit.Object{"venue": "Old place"})
	editor.Patch("/venues/by-slug/old-place?slug=other", `{"slug":"new-place"}`).Want(http.StatusOK).WantField("id", venue.ID()).WantField("slug", "new-place")
	editor.Get("/venues/by-slug/old-place").WantCode(http.StatusNotFound, "venue-not-found")
	editor.Get("/venues/by-slug/NEW-place/?slug=x").Want(http.StatusOK).WantField("id", venue.ID())
}

// TestIdempotency (2.10).
func TestIdempotency(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	editor, other := w.As(calendar.Editor), w.AsOther(calendar.Editor)
	keyed := editor.With("Idempotency-Key", "key 1")
	const body = `{"name":"Open <air>"}`
	first := keyed.Post("/tags", body).Want(http.StatusCreated)
	if first.Header.Get("Idempotency-Replayed") != "" {
		t.Error("the first answer is marked as repeated")
	}
	path := first.Path(calendar.KindTag)
	editor.Patch(path, `{"name":"Renamed"}`).Want(http.StatusOK)
	head := w.Head()
	again := keyed.Post("/tags", body).Want(http.StatusCreated)
	if string(again.Body) != string(first.Body) || again.ETag() != first.ETag() || again.Position() != first.Position() ||
		again.Header.Get("Location") != first.Header.Get("Location") || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("first %s %v\nagain %s %v", first.Body, first.Header, again.Body, again.Header)
	}
	for name, got := range map[string]*testkit.Response{
		"another body":  keyed.Post("/tags", body+" "),
		"another query": keyed.Post("/tags?x=1", body),
		"another path":  keyed.Post("/categories", body),
		"another root":  keyed.Under(calendar.LangFR).Post("/tags", body),
	} {
		if got.Status != http.StatusUnprocessableEntity || got.String("code") != "rest_idempotency_key_reused" {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	if w.Head() != head {
		t.Error("a repeated or refused request wrote")
	}
	// Keys belong to one user; refused requests are not kept.
	other.With("Idempotency-Key", "key 1").Post("/tags", `{"name":"Mine"}`).Want(http.StatusCreated)
	editor.With("Idempotency-Key", "k2").Post("/tags", `{"name":""}`).WantBad("name")
	editor.With("Idempotency-Key", "k2").Post("/tags", `{"name":"Now good"}`).Want(http.StatusCreated)
	// Updates too, by every method; the method is part of the request.
	up := editor.With("Idempotency-Key", "k3")
	updated := up.Patch(path, `{"description":"x"}`).Want(http.StatusOK)
	if repeated := up.Patch(path, `{"description":"x"}`).Want(http.StatusOK); repeated.ETag() != updated.ETag() {
		t.Errorf("tag %s, repeated %s", updated.ETag(), repeated.ETag())
	}
	up.Put(path, `{"description":"x"}`).WantCode(http.StatusUnprocessableEntity, "rest_idempotency_key_reused")
	// An equal record that is there: nothing is written, the key is kept.
	venue := editor.Create(calendar.KindVenue, testkit.Object{"venue": "Hall"})
	equal := editor.With("Idempotency-Key", "k4")
	for range 2 {
		equal.Post("/venues", testkit.Object{"venue": "hall"}).Want(http.StatusCreated).WantField("id", venue.ID())
	}
	equal.Post("/venues", testkit.Object{"venue": "Other"}).WantCode(http.StatusUnprocessableEntity, "rest_idempotency_key_reused")
	// Deletes ignore the key.
	editor.With("Idempotency-Key", "k3").Delete(path).Want(http.StatusOK)
}

// TestPositions: what a list shows, and who waits (2.10).
func TestPositions(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	editor.Event("First", nil)
	before := nobody.Get("/events").Want(http.StatusOK).WantField("total", 1)
	release := w.Hold()
	second := editor.Event("Second", nil)
	if got := nobody.Get("/events").Want(http.StatusOK).WantField("total", 1); got.Position() != before.Position() || got.ETag() != before.ETag() {
		t.Errorf("position %d, before %d", got.Position(), before.Position())
	}
	nobody.Get(second.Path(calendar.KindEvent)).Want(http.StatusOK)
	nobody.Get("/events/by-slug/second").Want(http.StatusOK)
	// With credentials the list waits as long as it may, then answers what it has.
	editor.Get("/events").Want(http.StatusOK).WantField("total", 1)
	nobody.With("Daybook-Min-Position", second.Position().String()).Get("/events").WantCode(http.StatusServiceUnavailable, "rest_position_not_reached")
	release()
	after := nobody.With("Daybook-Min-Position", second.Position().String()).Get("/events").Want(http.StatusOK).WantField("total", 2)
	if after.Position() != w.Head() || after.ETag() == before.ETag() {
		t.Errorf("position %d of %d", after.Position(), w.Head())
	}
	editor.Get("/events").Want(http.StatusOK).WantField("total", 2)
}

// TestListHeaders: totals, further pairs, links (2.8, 4.1, 4.3).
func TestListHeaders(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{HTTP: httpapi.Options{TotalHeaders: [][2]string{{"X-WP-Total", "x-wp-totalpages"}}}})
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		editor.Event(name, testkit.Object{"categories": "Jazz, blues"})
	}
	page := nobody.Get("/events?categories=jazz,blues&page=2&per_page=2&strict_dates=false&foo=1").Want(http.StatusOK)
	page.WantField("total", 5).WantField("total_pages", 3)
	link := func(page string) string {
		return testkit.Base + testkit.Root + "/events/?" + page + "per_page=2&start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59&strict_dates=false&categories=jazz%2Cblues"
	}
	page.WantField("rest_url", link("page=2&")).WantField("next_rest_url", link("page=3&")).WantField("previous_rest_url", link(""))
	want := "<" + link("page=3&") + `>; rel="next", <` + link("") + `>; rel="prev", <` + link("") + `>; rel="first", <` + link("page=3&") + `>; rel="last"`
	if got := page.Header.Get("Link"); got != want {
		t.Errorf("Link\n%s, want\n%s", got, want)
	}
	for name, want := range map[string]string{"X-Total": "5", "X-TotalPages": "3", "X-WP-Total": "5", "X-WP-TotalPages": "3"} {
		if got := page.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := page.Header.Get("Access-Control-Expose-Headers"); !strings.HasPrefix(got, "X-Total, X-TotalPages, X-Wp-Total, X-Wp-Totalpages, Link, ETag, ") {
		t.Errorf("exposed %s", got)
	}
	var ids strings.Builder // of records that there may be
	for id := range 999 {
		fmt.Fprintf(&ids, "%d,", 1000+id)
	}
	ids.WriteString(page.IDs(calendar.KindEvent)[0].String())
	long := nobody.Get("/events?include="+ids.String()).Want(http.StatusOK).WantField("total", 1)
	if got := long.Header.Get("Link"); got != "" || !strings.Contains(long.String("rest_url"), "1998%2C") {
		t.Errorf("a Link of %d bytes, and the body links to %v", len(got), long.String("rest_url"))
	}
	last := nobody.Get("/events?page=3&per_page=2").Want(http.StatusOK)
	if last.Has("next_rest_url") || !last.Has("previous_rest_url") {
		t.Error("links of the last page")
	}
	empty := nobody.Get("/organizers").Want(http.StatusOK).WantField("total", 0).WantField("total_pages", 0)
	if empty.Has("next_rest_url") || empty.Has("previous_rest_url") || empty.Header.Get("Link") != "" || empty.Header.Get("X-Total") != "0" {
		t.Errorf("empty list: %s %v", empty.Body, empty.Header)
	}
	past := nobody.Get("/categories?page=9&per_page=1").Want(http.StatusOK).WantField("total", 2).
		WantField("previous_rest_url", testkit.Base+testkit.Root+"/categories/?page=8&per_page=1")
	if got := past.Header.Get("Link"); strings.Contains(got, "prev") || strings.Contains(got, "next") || !strings.Contains(got, "last") {
		t.Errorf("Link past the end: %s", got)
	}
	nobody.Get("/tags/").Want(http.StatusOK).WantField("rest_url", testkit.Base+testkit.Root+"/tags/")
}

// TestFieldsParameter (2.12).
func TestFieldsParameter(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	nobody := w.As(calendar.Anonymous)
	path := w.As(calendar.Editor).Event("Concert", nil).Path(calendar.KindEvent)
	keys := func(r *testkit.Response, at string) int {
		t.Helper()
		return len(r.Want(http.StatusOK).Get(at).(map[string]any))
	}
	if n := keys(nobody.Get(path+"?_fields=id,title,foo"), ""); n != 2 {
		t.Errorf("%d keys", n)
	}
	if n := keys(nobody.Get(path+"?_fields[]=id&_fields[]=json_ld&_fields[]=url"), ""); n != 3 {
		t.Errorf("%d keys", n)
	}
	if n := keys(nobody.Get(path+"?_fields=foo"), ""); n != 0 {
		t.Errorf("%d keys", n)
	}
	whole := keys(nobody.Get(path), "")
	if n := keys(nobody.Get(path+"?_fields="), ""); n != whole {
		t.Errorf("%d keys of %d", n, whole)
	}
	many := "_fields="
	for i := range calendar.MaxElements + 1 {
		many += fmt.Sprint(i, ",")
	}
	for _, bad := range []string{"_fields[a]=x", "_fields[][a]=x", many} {
		one, list := nobody.Get(path+"?"+bad).Want(http.StatusBadRequest), nobody.Get("/events?"+bad).Want(http.StatusBadRequest)
		if !reflect.DeepEqual(one.Get("data.params"), list.Get("data.params")) {
			t.Errorf("%s: %s, in a list %s", bad, one.Body, list.Body)
		}
	}
	for range 2 { // the second time from the kept fragment
		list := nobody.Get("/events?_fields=slug,venue")
		if n := keys(list, "events.0"); n != 2 || !list.Has("total_pages") {
			t.Errorf("%s", list.Body)
		}
		if n := keys(nobody.Get("/events"), "events.0"); n != whole-1 {
			t.Errorf("%d keys of %d", n, whole-1)
		}
	}
}

// TestPaths: every spelling of a path (1.3, 1.4, 2.7).
func TestPaths(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{HTTP: httpapi.Options{
		BaseURL: "https://cal.example:8080/site", Prefixes: []string{"wp-json"}, Namespaces: []string{"other/v2"},
	}})
	nobody := w.As(calendar.Anonymous)
	event := w.As(calendar.Editor).Event("Concert", testkit.Object{"organizer": testkit.Object{"organizer": "Trust"}})
	id := itoa(event.ID())
	for path, self := range map[string]string{
		"//api/calendar/events/v1/events/" + id:            "https://cal.example:8080/site/api/calendar/events/v1/events/" + id,
		"///api//calendar/events/v1/events///" + id + "/":  "https://cal.example:8080/site/api/calendar/events/v1/events/" + id,
		"//site/api/calendar/events/v1/events/" + id + "/": "https://cal.example:8080/site/api/calendar/events/v1/events/" + id,
		"//site/fr/wp-json/other/v2/events/" + id:          "https://cal.example:8080/site/fr/wp-json/other/v2/events/" + id,
		"//cn/api/other/v2/events/by-slug/concert":         "https://cal.example:8080/site/cn/api/other/v2/events/" + id,
	} {
		got := nobody.Get(path).Want(http.StatusOK).WantField("rest_url", self).WantField("global_id", "cal.example:8080/site?id="+id)
		root, _, _ := strings.Cut(strings.TrimPrefix(self, "https://cal.example:8080/site"), "/wp-json")
		root, _, _ = strings.Cut(root, "/api")
		got.WantField("url", "https://cal.example:8080/site"+root+"/event/concert/")
	}
	nobody.Get("//site/wp-json").WantCode(http.StatusNotFound, "rest_no_route")
	head := nobody.Do(http.MethodHead, "/events/"+id, nil).Want(http.StatusOK)
	if len(head.Body) != 0 || head.Header.Get("Content-Length") == "0" || head.ETag() == "" {
		t.Errorf("HEAD: %q %v", head.Body, head.Header)
	}
}

// TestCrossOrigin (2.11).
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{HTTP: httpapi.Options{AllowedOrigins: []string{"https://good.example"}}})
	nobody, editor := w.As(calendar.Anonymous), w.As(calendar.Editor)
	const good, bad = "https://good.example", "https://bad.example"
	get := func(r *testkit.Response, name string) string { return r.Header.Get("Access-Control-" + name) }

	for _, r := range []*testkit.Response{
		nobody.Get("/events"), nobody.Get("/nothing"), nobody.Do("HEAD", "/tags", nil), nobody.Do("OPTIONS", "/tags", nil),
		nobody.With("Origin", bad).Get("/events/9999"), nobody.With("Authorization", "x").Get("/events"),
	} {
		if get(r, "Allow-Origin") != "*" || !strings.Contains(get(r, "Expose-Headers"), "Daybook-Position, Idempotency-Replayed, Location, Allow, Retry-After, WWW-Authenticate") {
			t.Errorf("%s: %v", r.Request, r.Header)
		}
	}
	if r := nobody.Do("OPTIONS", "/tags", nil); get(r, "Allow-Methods") != "" || r.Header.Get("Allow") != "GET, HEAD, POST, OPTIONS" {
		t.Errorf("plain OPTIONS: %v", r.Header)
	}
	pre := nobody.With("Origin", bad, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "X-Foo").Do("OPTIONS", "/events/5", nil).Want(http.StatusOK)
	if get(pre, "Allow-Methods") != "GET, HEAD, OPTIONS" || get(pre, "Max-Age") != "600" ||
		get(pre, "Allow-Headers") != "Authorization, Accept, Content-Type, If-Match, If-None-Match, Idempotency-Key, Daybook-Min-Position, Accept-Datetime, Daybook-Reason, Last-Event-ID" {
		t.Errorf("preflight: %v", pre.Header)
	}
	pre = nobody.With("Origin", bad, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "x-foo, accept,<bad>").Do("OPTIONS", "/events/5", nil)
	if !strings.HasSuffix(get(pre, "Allow-Headers"), "Last-Event-ID, x-foo") {
		t.Errorf("preflight of a read: %v", pre.Header)
	}
	var many strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&many, "h%d,", i%1000)
	}
	pre = nobody.With("Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", many.String()+strings.Repeat("x", 5000)+",late").Do("OPTIONS", "/events/5", nil)
	if got := get(pre, "Allow-Headers"); !strings.HasSuffix(got, "Last-Event-ID, h0, h1, "+got[strings.Index(got, "h2,"):]) || !strings.HasSuffix(got, ", h63") {
		t.Errorf("preflight that names very many: %s", got)
	}
	pre = nobody.With("Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", strings.Repeat("x", 5000)+",late").Do("OPTIONS", "/events/5", nil)
	if got := get(pre, "Allow-Headers"); !strings.HasSuffix(got, "Last-Event-ID, late") {
		t.Errorf("preflight with a long name: %s", got)
	}
	pre = nobody.With("Origin", good, "Access-Control-Request-Method", "PUT").Do("OPTIONS", "/events/5", nil)
	if get(pre, "Allow-Methods") != "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" {
		t.Errorf("preflight of an allowed origin: %v", pre.Header)
	}
	if r := editor.With("Origin", good).Post("/tags", `{"name":"a"}`).Want(http.StatusCreated); get(r, "Allow-Origin") != good || get(r, "Expose-Headers") == "" {
		t.Errorf("write from an allowed origin: %v", r.Header)
	}
	if r := nobody.With("Origin", good).Post("/tags", "{}"); get(r, "Allow-Origin") != good {
		t.Errorf("refused write from an allowed origin: %v", r.Header)
	}
	if r := editor.With("Origin", bad).Post("/tags", `{"name":"b"}`).Want(http.StatusForbidden); get(r, "Allow-Origin") != "" || get(r, "Expose-Headers") != "" {
		t.Errorf("write from another origin: %v", r.Header)
	}
}

// TestForeignPages: a write that a page of another site sends is refused, whatever its body,
// before its credentials are looked at (2.11, 7.2).
func TestForeignPages(t *testing.T) {
	t.Parallel()
	const allowed, base = "https://good.example", "https://cal.example:8443"
	w := testkit.New(t, testkit.Options{HTTP: httpapi.Options{AllowedOrigins: []string{allowed}, BaseURL: base + "/site"}})
	host := strings.TrimPrefix(testkit.Base, "https://") // of the requests
	editor := w.As(calendar.Editor)
	event := editor.Event("Quay", nil).Path(calendar.KindEvent)
	for _, tc := range []struct {
		header  []string
		foreign bool
	}{
		{nil, false},
		{[]string{"Origin", allowed}, false},
		{[]string{"Origin", allowed, "Sec-Fetch-Site", "cross-site"}, false},
		{[]string{"Origin", base}, false},
		{[]string{"Origin", "https://CAL.example:8443", "Sec-Fetch-Site", "same-origin"}, false},
		{[]string{"Origin", "http://" + host}, false},
		{[]string{"Origin", "https://" + host, "Sec-Fetch-Site", "same-site"}, false}, // behind a proxy that ends TLS
		{[]string{"Sec-Fetch-Site", "same-origin"}, false},
		{[]string{"Sec-Fetch-Site", "none"}, false},
		{[]string{"Origin", ""}, false},
		{[]string{"Sec-Fetch-Site", "cross-site"}, true},
		{[]string{"Sec-Fetch-Site", "same-site"}, true},
		{[]string{"Origin", "https://evil.example"}, true},
		{[]string{"Origin", "https://evil.example", "Sec-Fetch-Site", "same-origin"}, true},
		{[]string{"Origin", "null"}, true},
		{[]string{"Origin", "null", "Sec-Fetch-Site", "same-origin"}, true},
		{[]string{"Origin", "https://cal.example"}, true},      // another port
		{[]string{"Origin", "https://cal.example:8444"}, true}, // another port
		{[]string{"Origin", "http://" + host + ":81"}, true},
		{[]string{"Origin", "http://evil." + host}, true},
		{[]string{"Origin", host}, true},
		{[]string{"Origin", "https://good.example.evil.example"}, true},
		{[]string{"Origin", "http://good.example"}, true},
		{[]string{"Origin", "file://"}, true},
	} {
		for _, body := range []struct{ media, text string }{
			{"application/json", `{"name":"a"}`},
			{"application/x-www-form-urlencoded", "name=a"},
			{"multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\na\r\n--x--\r\n"},
			{"text/plain", "{"},
			{"", strings.Repeat("x", 2<<20)},
		} {
			head := append([]string{"Content-Type", body.media}, tc.header...)
			for _, at := range []struct{ method, path string }{
				{http.MethodPost, "/tags"}, {http.MethodPost, event}, {http.MethodPut, event}, {http.MethodPatch, "/events/by-slug/quay"}, {http.MethodDelete, "/events/99999999"},
			} {
				r := w.As(calendar.Administrator).With(head...).Do(at.method, at.path, body.text)
				if foreign := strings.Contains(string(r.Body), `"rest_forbidden_origin"`); foreign != tc.foreign || foreign && r.Status != http.StatusForbidden {
					t.Errorf("%v: %s %s as %s: %d %s", tc.header, at.method, at.path, body.media, r.Status, r.Body)
				}
				if tc.foreign {
					w.As(calendar.Anonymous).With(head...).With("Authorization", "Bearer wrong").Do(at.method, at.path, body.text).WantCode(http.StatusForbidden, "rest_forbidden_origin")
				}
			}
		}
		// Reads are open, and the route counts first.
		anybody := w.As(calendar.Anonymous).With(tc.header...)
		anybody.Get(event).Want(http.StatusOK)
		anybody.Do(http.MethodOptions, event, nil).Want(http.StatusOK)
		anybody.Post("/events/search", `{"searches":[{}]}`).Want(http.StatusOK)
		anybody.Post("/nothing", "{}").WantCode(http.StatusNotFound, "rest_no_route")
		anybody.Post("/doc", "{}").WantCode(http.StatusMethodNotAllowed, "rest_method_not_allowed")
	}
	if r := editor.With("Origin", "https://evil.example").Post("//fr/api/"+httpapi.Namespace+"/tags", `{"name":"a"}`).WantCode(http.StatusForbidden, "rest_forbidden_origin"); !strings.Contains(string(r.Body), "refusées") {
		t.Errorf("in French: %s", r.Body)
	}
}

// TestAllow: methods that are open to the role (2.8).
func TestAllow(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	const read, all = "GET, HEAD, OPTIONS", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
	for _, tc := range []struct {
		as   calendar.Role
		path string
		want string
	}{
		{calendar.Anonymous, "/events/5", read},
		{calendar.Subscriber, "/events/5", read},
		{calendar.Auditor, "/events/5", read},
		{calendar.Contributor, "/events/5", all},
		{calendar.Contributor, "/events", "GET, HEAD, POST, OPTIONS"},
		{calendar.Contributor, "/tags/5", read},
		{calendar.Author, "/categories/5", all},
		{calendar.Author, "/tags", read},
		{calendar.Editor, "/tags", "GET, HEAD, POST, OPTIONS"},
		{calendar.Editor, "", read},
	} {
		got := w.As(tc.as).Get(tc.path)
		if got.Header.Get("Allow") != tc.want {
			t.Errorf("%s %s: Allow %s, want %s", tc.as, tc.path, got.Header.Get("Allow"), tc.want)
		}
		if private := got.Header.Get("Cache-Control") == "no-store, private"; private != (tc.as != calendar.Anonymous) {
			t.Errorf("%s %s: Cache-Control %q", tc.as, tc.path, got.Header.Get("Cache-Control"))
		}
	}
}

// TestProtected: reading an event with a password (6.3).
func TestProtected(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	event := editor.Event("Secret", testkit.Object{"cost": "5"})
	path := event.Path(calendar.KindEvent)
	nobody.Get(path).Want(http.StatusOK)
	editor.Patch("/events/by-slug/secret", `{"password":"ignored"}`).Want(http.StatusOK)
	nobody.Get(path).Want(http.StatusOK)
	editor.Patch(path, `{"password":"pass"}`).Want(http.StatusOK)

	nobody.Get(path).WantCode(http.StatusForbidden, "event-password-protected")
	nobody.Get(path+"?password=wrong").WantCode(http.StatusForbidden, "event-password-protected")
	nobody.Get(path+"?password=").WantCode(http.StatusForbidden, "event-password-protected")
	nobody.Get(path+"?password=pass").Want(http.StatusOK).WantField("cost", "$5")
	nobody.Get(path).WantCode(http.StatusForbidden, "event-password-protected")
	nobody.Get("/events/by-slug/secret?password=pass").WantCode(http.StatusForbidden, "event-password-protected")
	w.As(calendar.Auditor).Get("/events/by-slug/secret").Want(http.StatusOK)
	nobody.Get("/events?password=pass").Want(http.StatusOK).WantField("events.0.cost", "").WantField("events.0.all_day", nil)
	editor.Get("/events").Want(http.StatusOK).WantField("events.0.cost", "$5").WantField("events.0.all_day", false)
	nobody.Get("/events").Want(http.StatusOK).WantField("events.0.cost", "")
	for _, r := range []*testkit.Response{editor.Get(path), editor.Get("/events"), nobody.Get(path + "?password=pass")} {
		if strings.Contains(string(r.Body), "password") || strings.Contains(string(r.Body), "plain:") {
			t.Errorf("%s: %s", r.Request, r.Body)
		}
	}
	editor.Patch(path, `{"password":null}`).Want(http.StatusOK)
	nobody.Get(path).Want(http.StatusOK)
}

// TestFreshness: kept answers never hide a change, the passing of time included.
func TestFreshness(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	event := editor.Event("One", testkit.Object{"organizer": testkit.Object{"organizer": "Trust"}, "tags": "Air"})
	path := event.Path(calendar.KindEvent)
	for range 2 {
		nobody.Get(path).Want(http.StatusOK).WantField("title", "One")
		nobody.Get("/events").Want(http.StatusOK).WantField("events.0.title", "One")
		nobody.Get("/tags").Want(http.StatusOK).WantField("tags.0.count", 1)
	}
	editor.Patch(path, `{"title":"Two"}`).Want(http.StatusOK)
	editor.Patch("/organizers/"+itoa(calendar.ID(event.Int("organizer.0.id"))), `{"organizer":"Guild"}`).Want(http.StatusOK)
	for range 2 {
		nobody.Get(path).Want(http.StatusOK).WantField("title", "Two").WantField("organizer.0.organizer", "Guild")
		nobody.Get("/events").Want(http.StatusOK).WantField("events.0.title", "Two").WantField("events.0.organizer.0.organizer", "Guild")
	}
	// A scheduled event becomes published without any request.
	future := editor.Event("Later", testkit.Object{"date": "2026-05-01 13:00:00"}).WantField("status", "future")
	for range 2 {
		nobody.Get(future.Path(calendar.KindEvent)).WantCode(http.StatusForbidden, "event-not-accessible")
		nobody.Get("/events").WantField("total", 1)
	}
	tag := editor.Get(future.Path(calendar.KindEvent)).ETag()
	w.Clock.Add(2 * time.Hour)
	now := nobody.Get(future.Path(calendar.KindEvent)).Want(http.StatusOK).WantField("status", "publish")
	if now.ETag() == tag {
		t.Error("the tag is that of the scheduled event")
	}
	nobody.Get("/events").WantField("total", 2)
	editor.Delete(path).Want(http.StatusOK)
	nobody.Get(path).WantCode(http.StatusForbidden, "event-no-longer-available")
	nobody.Get("/events").WantField("total", 1)
	// Midnight moves the default window.
	w.Clock.Add(11 * 24 * time.Hour)
	nobody.Get("/events").WantField("total", 0)
}
