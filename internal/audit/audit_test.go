package audit

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
)

type users map[string]calendar.Role

func (u users) Authenticate(_ context.Context, a string) (calendar.Caller, error) {
	if a == "" {
		return calendar.Caller{}, nil
	}
	r, ok := u[a]
	if !ok {
		return calendar.Caller{}, calendar.Fail(calendar.CodeIncorrectPassword, 0)
	}
	return calendar.Caller{ID: 1, Role: r}, nil
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
	h := Handler(store, users{"auditor": calendar.Auditor, "admin": calendar.Administrator, "editor": calendar.Editor})
	for _, c := range []struct {
		name, path, as string
		status         int
		want, never    string
	}{
		{"anonymous", "/history/tag/5", "", 401, "auditor", "state"},
		{"wrong token", "/history/tag/5", "nobody", 401, "auditor", "state"},
		{"editor", "/history/tag/5", "editor", 403, "forbidden", "state"},
		{"one record", "/history/tag/5", "auditor", 200, `"version":3`, "hidden"},
		{"page", "/history/tag/5?limit=2", "admin", 200, `"next":"2"`, `"version":3`},
		{"next page", "/history/tag/5?limit=2&after=2", "admin", 200, `"version":3`, "next"},
		{"all", "/history?after=1", "auditor", 200, `"position":2`, `"position":1,`},
		{"at", "/history/tag/5?at=2026-05-02T13:00:00Z", "auditor", 200, `"version":2`, `"version":3`},
		{"before it was", "/history/tag/5?at=2026-04-02T13:00:00Z", "auditor", 404, "moment", "state"},
		{"bad moment", "/history/tag/5?at=may", "auditor", 400, "at:", "state"},
		{"bad numbers", "/history?after=x&limit=0", "auditor", 400, "after: must be a whole number from 0; limit:", "entries"},
		{"other kind", "/history/venue/5", "auditor", 404, "No venue", "state"},
		{"unknown", "/history/tag/6", "auditor", 404, "No tag", "state"},
		{"no kind", "/history/foo/6", "auditor", 404, "KIND", "state"},
		{"no path", "/history/tag/6/7", "auditor", 404, "KIND", "state"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, http.NoBody)
			r.Header.Set("Authorization", c.as)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			body := w.Body.String()
			if w.Code != c.status || !strings.Contains(body, c.want) || strings.Contains(body, c.never) {
				t.Errorf("got %d %s, want %d with %q and without %q", w.Code, body, c.status, c.want, c.never)
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
	h := Handler(store, users{"auditor": calendar.Auditor})
	get := func(path string) (p page) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		r.Header.Set("Authorization", "auditor")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d, %v", path, w.Code, err)
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
