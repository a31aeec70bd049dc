package e2e

import (
	"io"
	"net/http"
	"strings"
)

// What clients meet over time: keys that are kept, tokens that are withdrawn,
// bodies of unknown length, lists right after writes.

func withdrawnTokens(s *scene) {
	s = s.alone(settings{})
	old := s.as("author")
	made := old.event(newWord(), nil)
	draft := old.event(newWord(), obj{"status": "draft"})
	s.svc.withdraw(s.t, "author")
	for _, a := range []*answer{
		old.get("/events"), old.get(made), old.get("/doc"), old.post("/events", eventBody(newWord(), nil)),
		old.patch(made, obj{"title": "x"}), old.delete(made), old.get(draft),
	} {
		if a.status != 401 || a.header.Get("WWW-Authenticate") == "" {
			s.t.Errorf("%s: status %d, want 401 with WWW-Authenticate", a.request, a.status)
		}
	}
	s.nobody.read(made).field("title", made.str("title"))
	s.editor.read(draft).field("status", "draft")
	s.svc.renew(s.t, "author")
	s.as("author").read(draft).field("status", "draft")
	old.get("/events").want(401)
}

// streamed hides the length of a body, so the client sends it in chunks.
type streamed struct{ io.Reader }

func chunkedBodies(s *scene) {
	send := func(text string) (status int) {
		s.t.Helper()
		request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.svc.url+root+"/tags", streamed{strings.NewReader(text)})
		if err != nil {
			s.t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+s.svc.users["editor"].token)
		res, err := s.svc.client.Do(request)
		if err != nil {
			s.t.Fatal(err)
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			s.t.Fatal(err)
		}
		return res.StatusCode
	}
	w := newWord()
	if status := send(`{"name":"` + w + `"}`); status != 201 {
		s.t.Errorf("a body in chunks: status %d, want 201", status)
	}
	s.editor.counting("tags", w, 1)
	if status := send(`{"name":"` + strings.Repeat("x", 2<<20) + `"}`); status != 413 {
		s.t.Errorf("2 MiB in chunks: status %d, want 413", status)
	}
	if status := send(""); status != 400 {
		s.t.Errorf("no chunk: status %d, want 400", status)
	}
}
