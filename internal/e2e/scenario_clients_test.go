package e2e

import (
	"io"
	"net/http"
	"strings"

	"daybook/internal/testkit/world"
)

// What clients meet over time: keys that are kept, tokens that are withdrawn,
// bodies of unknown length, lists right after writes.

func withdrawnTokens(scene *scene) {
	scene = scene.alone(world.Options{})
	old := scene.as("author")
	made := old.event(newWord(), nil)
	draft := old.event(newWord(), obj{"status": "draft"})
	_, err := scene.svc.Users.Revoke(scene.t.Context(), "author", 0)
	must(scene.t, err)
	for _, a := range []*answer{
		old.get("/events"), old.get(made), old.get("/doc"), old.post("/events", eventBody(newWord(), nil)),
		old.patch(made, obj{"title": "x"}), old.delete(made), old.get(draft),
	} {
		if a.Status != 401 || a.Header.Get("WWW-Authenticate") == "" {
			scene.t.Errorf("%s: status %d, want 401 with WWW-Authenticate", a.Request, a.Status)
		}
	}
	scene.nobody.read(made).field("title", made.String("title"))
	scene.editor.read(draft).field("status", "draft")
	_, token, err := scene.svc.Users.NewToken(scene.t.Context(), "author", 0)
	must(scene.t, err)
	old.with("Authorization", "Bearer "+token).read(draft).field("status", "draft")
	old.get("/events").want(401)
}

// streamed hides the length of a body, so the client sends it in chunks.
type streamed struct{ io.Reader }

func chunkedBodies(scene *scene) {
	send := func(text string) (status int) {
		scene.t.Helper()
		request, err := http.NewRequestWithContext(scene.t.Context(), http.MethodPost, scene.svc.Base+root+"/tags", streamed{strings.NewReader(text)})
		if err != nil {
			scene.t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+scene.svc.User("editor").Token)
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
