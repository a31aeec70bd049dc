package audit

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
)

// asked gives the answer to a role as JSON, or the code of the error with its fields.
func asked(t *testing.T, h func(*http.Request, calendar.Caller) (int, any, error), path string, as calendar.Role) (code, body string) {
	t.Helper()
	_, v, err := h(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody), calendar.Caller{ID: 1, Role: as})
	if e, ok := errors.AsType[*calendar.Error](err); ok {
		code = string(e.Code)
		for _, f := range e.Fields {
			code += " " + f.Field + "=" + string(f.Reason)
		}
		return code, ""
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return "", string(b)
}

func TestHandler(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	day := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for v := range int64(3) {
		r := store.Append(t.Context(), []eventstore.Append{{
			Time: day.AddDate(0, 0, int(v)), Actor: 7,
			Drafts: []eventstore.Draft{{
				Kind: calendar.KindTag, ID: 5, Expected: v, Change: "tag.updated",
				Fields: json.RawMessage(`{}`), State: json.RawMessage(`{"v":` + string(rune('1'+v)) + `}`), Secret: []byte("hidden"),
			}},
		}})
		if r[0].Err != nil {
			t.Fatal(r[0].Err)
		}
	}
	h := Handler(store)
	const none, auditor = calendar.Anonymous, calendar.Auditor
	for _, c := range []struct {
		name, path  string
		as          calendar.Role
		code        calendar.Code
		fields      string
		want, never string
	}{
		{"anonymous", "/history/tag/5", none, calendar.CodeUnauthorized, "", "", "state"},
		{"editor", "/history/tag/5", calendar.Editor, calendar.CodeForbidden, "", "", "state"},
		{"one record", "/history/tag/5", auditor, "", "", `"version":3`, "hidden"},
		{"page", "/history/tag/5?limit=2", calendar.Administrator, "", "", `"next":"2"`, `"version":3`},
		{"next page", "/history/tag/5?limit=2&after=2", calendar.Administrator, "", "", `"version":3`, "next"},
		{"all", "/history?after=1", auditor, "", "", `"position":2`, `"position":1,`},
		{"at", "/history/tag/5?at=2026-05-02T13:00:00Z", auditor, "", "", `"version":2`, `"version":3`},
		{"before it was", "/history/tag/5?at=2026-04-02T13:00:00Z", auditor, calendar.CodeNotFound, "", "", "state"},
		{"bad moment", "/history/tag/5?at=may", auditor, calendar.CodeInvalidParam, " at=date", "", "state"},
		{"bad numbers", "/history?after=x&limit=0", auditor, calendar.CodeInvalidParam, " after=type_integer limit=range", "", "entries"},
		{"other kind", "/history/venue/5", auditor, calendar.CodeNotFound, "", "", "state"},
		{"unknown", "/history/tag/6", auditor, calendar.CodeNotFound, "", "", "state"},
		{"no kind", "/history/foo/6", auditor, calendar.CodeNoRoute, "", "", "state"},
		{"no path", "/history/tag/6/7", auditor, calendar.CodeNoRoute, "", "", "state"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, body := asked(t, h, c.path, c.as)
			if code != string(c.code)+c.fields || !strings.Contains(body, c.want) || strings.Contains(body, c.never) {
				t.Errorf("got %q %s, want %q with %q and without %q", code, body, string(c.code)+c.fields, c.want, c.never)
			}
		})
	}
}

// TestLargeEntries: a page that bytes end says that there is a next one, and the
// state at a moment is looked for in all of them.
func TestLargeEntries(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	day := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	state := json.RawMessage(`{"v":"` + strings.Repeat("x", eventstore.PageBytes/2) + `"}`)
	const versions = 7
	for v := range int64(versions) {
		r := store.Append(t.Context(), []eventstore.Append{{Time: day.AddDate(0, 0, int(v)), Drafts: []eventstore.Draft{{
			Kind: calendar.KindTag, ID: 5, Expected: v, Change: "tag.updated", Fields: json.RawMessage(`{}`), State: state,
		}}}})
		if r[0].Err != nil {
			t.Fatal(r[0].Err)
		}
	}
	h := Handler(store)
	get := func(path string) (p page) {
		t.Helper()
		code, body := asked(t, h, path, calendar.Auditor)
		if err := json.Unmarshal([]byte(body), &p); err != nil {
			t.Fatalf("%s: %s, %v", path, code, err)
		}
		return p
	}
	for _, path := range []string{"/history", "/history/tag/5"} {
		n := 0
		for next := "0"; next != ""; {
			p := get(path + "?after=" + next)
			n += len(p.Entries)
			next = p.Next
		}
		if n != versions {
			t.Errorf("%s gives %d entries, want %d", path, n, versions)
		}
	}
	if p := get("/history/tag/5?at=2027-01-01T00:00:00Z"); p.Entries[0].Version != versions {
		t.Errorf("the last version is %d", p.Entries[0].Version)
	}
}
