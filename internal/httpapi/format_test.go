package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
)

// lines is a format of its own: a line for each record between a first and a last one.
type lines struct {
	*listing
	most int
}

func (e *lines) begin(b []byte) []byte {
	return append(append(append(b, "of "...), e.criteria.Kind.Collection()...), '\n')
}

func (e *lines) item(b []byte, v *query.View) ([]byte, error) {
	if len(v.Record.Slug()) > e.most {
		return b, query.ErrTooLarge
	}
	return append(append(b, v.Record.Slug()...), '\n'), nil
}

func (e *lines) end(b []byte) []byte {
	return fmt.Appendf(b, "total %d at %s\n", e.list.Total, e.links.self)
}

var linesFormat = &format{
	Format: &formats.Format{Name: "lines", Media: []string{"text/x-lines"}},
	header: []string{"text/x-lines; charset=utf-8"},
	open:   func(a *api, l *listing) encoder { return &lines{l, a.o.MaxAnswer} },
}

// TestFormats: a format that is one row and an encoder has all that lists have.
func TestFormats(t *testing.T) {
	t.Parallel()
	var runs int
	state := query.Generation{Shown: shownAt(1)}
	slug := strings.Repeat("slug-", 100)
	a, err := newAPI(Deps{Commands: fakeCommands{}, Records: fakeRecords(), Users: fakeUsers{}, Queries: fakeQueries{
		generation: func() (query.Generation, error) { return state, nil },
		parse: func(r query.Request) (*query.Criteria, error) {
			return &query.Criteria{Kind: r.Kind, Lang: r.Lang, Page: 1, PerPage: 3, Key: fmt.Sprint(r.Input)}, nil
		},
		run: func() (*query.List, error) {
			runs++
			tag := tagRecord("Open air")
			tag.Fields["slug"] = slug
			return &query.List{Views: []query.View{{Record: tag}, {Record: tag}, {Record: tag}}, Total: 9, TotalPages: 3, Position: 7}, nil
		},
	}}, Options{BaseURL: "https://h", MaxAnswer: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	a.formats = append(allFormats[:1:1], linesFormat)
	get := func(path string, headers ...string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/"+Namespace+path, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w
	}
	for accept, want := range map[string]string{
		"":                               "application/json; charset=utf-8",
		"*/*":                            "application/json; charset=utf-8",
		"text/*":                         "application/json; charset=utf-8",
		"text/x-lines;q=0":               "application/json; charset=utf-8",
		"text/html, */*;q=0.1":           "application/json; charset=utf-8",
		"application/json,text/x-lines":  "application/json; charset=utf-8",
		"text/x-lines":                   "text/x-lines; charset=utf-8",
		"TEXT/X-Lines;a=b":               "text/x-lines; charset=utf-8",
		"text/x-lines, application/json": "text/x-lines; charset=utf-8",
		"application/json;q=0.5, text/x-lines;q=0.75": "text/x-lines; charset=utf-8",
		"text/html, text/x-lines;q=0.1":               "text/x-lines; charset=utf-8",
	} {
		if got := get("/tags", "Accept", accept).Header().Get("Content-Type"); got != want {
			t.Errorf("Accept %q: got %s, want %s", accept, got, want)
		}
	}
	if runs > 4 { // what was asked for a second time is kept
		t.Errorf("%d lists were made in two formats", runs)
	}

	asLines := []string{"Accept", "text/x-lines"}
	one, other := get("/tags"), get("/tags", asLines...)
	if want := "of tags\n" + strings.Repeat(slug+"\n", 3) + "total 9 at https://h/api/" + Namespace + "/tags/\n"; other.Body.String() != want {
		t.Errorf("body: got %s, want %s", other.Body, want)
	}
	for _, name := range []string{"X-Total", "X-TotalPages", "Link", "Daybook-Position", "Content-Language", "Vary", "Cache-Control"} {
		if got, want := other.Header().Get(name), one.Header().Get(name); got != want || got == "" {
			t.Errorf("%s: got %q, want %q as in JSON", name, got, want)
		}
	}
	tag := other.Header().Get("ETag")
	if tag == one.Header().Get("ETag") || !strings.HasPrefix(tag, `W/"`) {
		t.Errorf("ETag %s, in JSON %s", tag, one.Header().Get("ETag"))
	}
	if w := get("/tags", append(asLines, "If-None-Match", tag)...); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("its own tag: %d", w.Code)
	}
	if w := get("/tags", "If-None-Match", tag); w.Code != http.StatusOK {
		t.Errorf("its tag on JSON: %d", w.Code)
	}
	small := get("/tags", append(asLines, "Accept-Encoding", "zstd")...)
	plain, err := zstd.NewReader(small.Body)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	var text strings.Builder
	if _, err := plain.WriteTo(&text); err != nil || text.String() != other.Body.String() || small.Header().Get("Content-Encoding") != "zstd" {
		t.Errorf("compressed: %v, %v, %s", err, small.Header(), text.String())
	}
	state.Content++
	if again := get("/tags", asLines...).Header().Get("ETag"); again == tag {
		t.Error("another state has the same tag")
	}
	a.o.MaxAnswer = 1000
	for what, most := range map[string]string{"list": slug, "record": strings.Repeat("x", 1001)} {
		slug, state.Content = most, state.Content+1
		if w := get("/tags", asLines...); w.Code != http.StatusBadRequest || w.Header().Get("Content-Type") != valueJSON[0] {
			t.Errorf("a %s that is too large: %d %s", what, w.Code, w.Body)
		}
	}

	if content := (&route{kind: calendar.KindTag}).content(a.formats); len(content) != 2 || content["text/x-lines"].Schema == nil {
		t.Errorf("documented as %v", content)
	}
}
