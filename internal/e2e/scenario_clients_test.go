package e2e

import (
	"io"
	"net/http"
	"strings"
)

// What clients meet over time: keys that are kept, tokens that are withdrawn,
// bodies of unknown length, lists right after writes.

func withdrawnTokens(scene *scene) {
	scene = scene.alone(settings{})
	old := scene.as("author")
	made := old.event(newWord(), nil)
	draft := old.event(newWord(), obj{"status": "draft"})
	scene.svc.withdraw(scene.t, "author")
	for _, a := range []*answer{
		old.get("/events"), old.get(made), old.get("/doc"), old.post("/events", eventBody(newWord(), nil)),
		old.patch(made, obj{"title": "x"}), old.delete(made), old.get(draft),
	} {
		if a.status != 401 || a.header.Get("WWW-Authenticate") == "" {
			scene.t.Errorf("%s: status %d, want 401 with WWW-Authenticate", a.request, a.status)
		}
	}
	scene.nobody.read(made).field("title", made.str("title"))
	scene.editor.read(draft).field("status", "draft")
	scene.svc.renew(scene.t, "author")
	scene.as("author").read(draft).field("status", "draft")
	old.get("/events").want(401)
}

// streamed hides the length of a body, so the client sends it in chunks.
type streamed struct{ io.Reader }

func chunkedBodies(scene *scene) {
	send := func(text string) (status int) {
		scene.t.Helper()
		request, err := http.NewRequestWithContext(scene.t.Context(), http.MethodPost, scene.svc.url+root+"/tags", streamed{strings.NewReader(text)})
		if err != nil {
			scene.t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+scene.svc.users["editor"].token)
		res, err := scene.svc.client.Do(request)
		if err != nil {
			scene.t.Fatal(err)
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			scene.t.Fatal(err)
		}
		return res.StatusCode
	}
	w := newWord()
	if status := send(`{"name":"` + w + `"}`); status != 201 {
		scene.t.Errorf("a body in chunks: status %d, want 201", status)
	}
	scene.editor.counting("tags", w, 1)
	if status := send(`{"name":"` + strings.Repeat("x", 2<<20) + `"}`); status != 413 {
		scene.t.Errorf("2 MiB in chunks: status %d, want 413", status)
	}
	if status := send(""); status != 400 {
		scene.t.Errorf("no chunk: status %d, want 400", status)
	}
}
