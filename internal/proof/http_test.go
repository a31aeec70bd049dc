package proof_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/httpapi"
	"daybook/internal/proof"
	"daybook/internal/testkit/world"
)

// proving is a World with a signer of its log.
type proving struct {
	*world.World
	key    *proof.PrivateKey
	signer *proof.Signer
	nobody *world.Client
}

func newProving(t *testing.T, options httpapi.Options) *proving {
	t.Helper()
	w := world.New(t, world.Options{HTTP: options})
	key, err := proof.NewKey("calendar.example.org/log")
	if err != nil {
		t.Fatal(err)
	}
	signer := proof.NewSigner(w.Proofs, proof.Keyring{Keys: []*proof.PrivateKey{key}, Origin: key.Name()}, proof.SignerOptions{Now: w.Clock.Now})
	return &proving{w, key, signer, w.As(calendar.Anonymous)}
}

func (proving *proving) sign() int {
	proving.Helper()
	checkpoint, err := proving.signer.Sign(proving.Context())
	if err != nil {
		proving.Fatal(err)
	}
	return int(checkpoint.Size)
}

func (proving *proving) leaves(n int) []digest {
	proving.Helper()
	entries, err := proving.Store.Read(proving.Context(), eventstore.Range{Limit: n, Leaves: true})
	var leaves []digest
	for _, entry := range entries {
		leaves = append(leaves, entry.Leaf)
	}
	if err != nil || len(leaves) < n {
		proving.Fatalf("%d leaves, %v", len(leaves), err)
	}
	return leaves[:n]
}

func (proving *proving) digest(value any) digest {
	proving.Helper()
	data, err := base64.StdEncoding.DecodeString(value.(string))
	if err != nil || len(data) != 32 {
		proving.Fatalf("%v is no hash", value)
	}
	return digest(data)
}

func (proving *proving) hashes(response *world.Response) (out []tlog.Hash) {
	proving.Helper()
	for _, value := range response.Get("hashes").([]any) {
		out = append(out, proving.digest(value))
	}
	return out
}

// HISTORY 20.27: the checkpoint verifies with the vkey by independent code, two are
// consistent, and positions are included; for all sizes: TestInclusion, TestConsistency.
func TestProofsOverHTTP(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	proving := newProving(t, httpapi.Options{})
	editor := proving.As(calendar.Editor)
	for _, path := range []string{"/checkpoint", "/checkpoint/keys", "/proof/inclusion?position=1", "/proof/consistency?from=0", "/checkpoint?size=1"} {
		proving.nobody.Get(path).WantCode(http.StatusNotFound, "rest_no_checkpoint")
	}
	proving.nobody.Get("/tile/0/000.p/1").WantCode(http.StatusNotFound, "rest_tile_not_found")
	editor.Event("One", nil)
	early := proving.sign()
	for i := range 4 {
		editor.Event(fmt.Sprint("Two ", i), nil)
	}
	size := proving.sign()
	leaves := proving.leaves(size)

	response := proving.nobody.Read("/checkpoint")
	if got := response.Header.Get("Content-Type") + "|" + response.Header.Get("Cache-Control"); got != "text/plain; charset=utf-8|public, no-cache" {
		t.Errorf("headers %s", got)
	}
	vkey := proving.key.Public.String()
	if origin, n, root := signedBy(t, response.Body, vkey); origin != proving.key.Name() || n != size || root != treeHash(leaves) {
		t.Errorf("checkpoint %s %d %x", origin, n, root)
	}
	if same := proving.nobody.Under(calendar.LangCN).Get("/checkpoint/?size=" + strconv.Itoa(size)); !bytes.Equal(same.Want(http.StatusOK).Body, response.Body) {
		t.Errorf("%s is another one", same.Request)
	}
	if _, n, _ := signedBy(t, proving.nobody.Read("/checkpoint?size="+strconv.Itoa(early)).Body, vkey); n != early {
		t.Errorf("the earlier one has size %d", n)
	}
	proving.nobody.Get("/checkpoint?size="+strconv.Itoa(size-1)).WantCode(http.StatusNotFound, "rest_no_checkpoint")

	keys := proving.nobody.Read("/checkpoint/keys").WantField("origin", proving.key.Name()).
		WantField("keys.0.vkey", vkey).WantField("keys.0.from_size", early).WantField("keys.0.to_size", nil)
	if keys.Int("keys.#") != 1 || keys.Int("witnesses.#") != 0 {
		t.Errorf("keys %s", keys.Body)
	}

	const position, from = 3, 2
	n := size - 1 // not the default
	response = proving.nobody.Read(fmt.Sprintf("/proof/inclusion?position=%d&size=%d", position, n)).WantField("index", position-1).WantField("origin", proving.key.Name())
	leaf, root := proving.digest(response.Get("leaf")), proving.digest(response.Get("root"))
	if err := tlog.CheckRecord(proving.hashes(response), int64(n), root, position-1, tlog.RecordHash(leaf[:])); err != nil || leaf != leaves[position-1] || root != treeHash(leaves[:n]) {
		t.Errorf("entry %d of %d: %v\n%s", position, n, err, response.Body)
	}
	response = proving.nobody.Read(fmt.Sprintf("/proof/consistency?from=%d&to=%d", from, n))
	before, after := proving.digest(response.Get("from_root")), proving.digest(response.Get("to_root"))
	if err := tlog.CheckTree(proving.hashes(response), int64(n), after, from, before); err != nil || before != treeHash(leaves[:from]) || after != treeHash(leaves[:n]) {
		t.Errorf("%d to %d: %v\n%s", from, n, err, response.Body)
	}
	proving.nobody.Read("/proof/inclusion?position=1").WantField("size", size)
	proving.nobody.Read("/proof/consistency?from=1").WantField("to", size)

	// HISTORY 20.29: a tlog-proof verifies against the checkpoint.
	plain := proving.nobody.With("Accept", "text/plain")
	text := plain.Read(fmt.Sprintf("/proof/inclusion?position=3&size=%d", size))
	head, note, _ := strings.Cut(string(text.Body), "\n\n")
	lines := strings.Split(head, "\n")
	if lines[0] != "c2sp.org/tlog-proof@v1" || lines[1] != "index 2" || text.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%s begins\n%s", text.Header.Get("Content-Type"), head)
	}
	var path tlog.RecordProof
	for _, line := range lines[2:] {
		path = append(path, proving.digest(line))
	}
	_, signed, root := signedBy(t, []byte(note), vkey)
	if err := tlog.CheckRecord(path, int64(signed), root, 2, tlog.RecordHash(leaves[2][:])); err != nil {
		t.Errorf("it does not prove entry 3: %v\n%s", err, text.Body)
	}
	plain.Get(fmt.Sprintf("/proof/inclusion?position=3&size=%d", size-1)).WantCode(http.StatusNotFound, "rest_no_checkpoint")

	for path, field := range map[string]string{
		"/checkpoint?size=0":                                    "size",
		"/checkpoint?size=1.5":                                  "size",
		"/proof/inclusion?position=0":                           "position",
		fmt.Sprint("/proof/inclusion?position=", size+1):        "position",
		fmt.Sprint("/proof/inclusion?position=1&size=", size+1): "size",
		"/proof/inclusion?position=3&size=2":                    "position",
		fmt.Sprint("/proof/consistency?from=", size+1):          "from",
		"/proof/consistency?from=3&to=2":                        "from",
		"/proof/consistency?from=0&to=0":                        "to",
		fmt.Sprint("/proof/consistency?from=0&to=", size+1):     "to",
		"/tile/0/000.p/1?multilang_language=xx":                 "multilang_language",
	} {
		if got := proving.nobody.Get(path).WantBad(field).Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control %s", path, got)
		}
	}
	for path, missing := range map[string]string{"/proof/inclusion?size=2": "position", "/proof/consistency?to=2": "from"} {
		proving.nobody.Get(path).WantCode(http.StatusBadRequest, "rest_missing_callback_param").WantField("data.params", []any{missing})
	}
}

// HISTORY 20.28: tiles over HTTP, with their headers; wrong forms are no tiles.
func TestTilesOverHTTP(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	proving := newProving(t, httpapi.Options{HistoryMaxAge: 100})
	author := proving.As(calendar.Editor)
	tag := author.Create(calendar.KindTag, world.Object{"name": "t"})
	for range 256 {
		author.Do(http.MethodPatch, tag.Path(), world.Object{})
	}
	size := proving.sign()
	leaves := proving.leaves(size)
	if size < 257 || size > 300 {
		t.Fatalf("a log of %d entries", size)
	}
	for path, width := range map[string]int{"000": 256, "000.p/255": 255} {
		response := proving.nobody.Read("/tile/0/" + path)
		bundle := proving.nobody.With("Accept-Encoding", "identity").Read("/tile/entries/" + path)
		var want, entries []byte
		for _, l := range leaves[:width] {
			h := leafNode(l[:])
			want = append(want, h[:]...)
			entries = append(append(entries, 0, 32), l[:]...)
		}
		if !bytes.Equal(response.Body, want) || !bytes.Equal(bundle.Body, entries) {
			t.Errorf("%s: %d and %d bytes", path, len(response.Body), len(bundle.Body))
		}
		cache := "public, no-cache"
		if width == 256 {
			cache = "public, max-age=31536000, immutable"
		}
		if got := response.Header.Get("Content-Type") + "|" + response.Header.Get("Cache-Control"); got != "application/octet-stream|"+cache {
			t.Errorf("%s: headers %s", path, got)
		}
	}
	if got := author.Get("/tile/0/000").Header.Get("Cache-Control"); got != "no-store, private" {
		t.Errorf("with credentials: %s", got)
	}
	for _, path := range []string{fmt.Sprint("0/001.p/", size-255), "1/000", "entries/001", "0/0"} { // all forms: TestParseTile
		if got := proving.nobody.Get("/tile/"+path).WantCode(http.StatusNotFound, "rest_tile_not_found").Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: %s", path, got)
		}
	}
	proving.nobody.Get("/tile").WantCode(http.StatusNotFound, "rest_no_route")
}

// HISTORY 20.29: the opening of a public version yields the leaf; without rights there is
// none; that of an auditor has the actor.
func TestOpenings(t *testing.T) {
	t.Parallel()
	proving := newProving(t, httpapi.Options{})
	editor, auditor, author := proving.As(calendar.Editor), proving.As(calendar.Auditor), proving.As(calendar.Author)
	open := editor.Event("Open <b>&", nil).Position()
	draft := editor.Event("Hidden", world.Object{"status": "draft"}).Position()
	withdrawn := editor.Event("Withdrawn", nil)
	editor.Do(http.MethodPatch, withdrawn.Path(), world.Object{"status": "draft"})
	protected := editor.Event("Protected", nil)
	editor.Do(http.MethodPatch, protected.Path(), world.Object{"password": "xyz"})
	own := author.Event("Own", nil).Position()
	size := proving.sign()
	ask := func(client *world.Client, position calendar.Position) *world.Response {
		return client.Read("/proof/inclusion?position=" + position.String())
	}
	leaves := proving.leaves(size)
	check := func(response *world.Response, position calendar.Position) {
		t.Helper()
		if got := openedLeaf(t, response.Get("opening").(map[string]any)); got != leaves[position-1] || got != proving.digest(response.Get("leaf")) {
			t.Errorf("entry %d: the opening gives %x, the leaf is %x", position, got, leaves[position-1])
		}
	}
	response := ask(proving.nobody, open).WantField("opening.form", 2).WantField("opening.kind", "event").WantField("opening.version", 1)
	check(response, open)
	if !strings.Contains(response.String("opening.bodies.state.text"), "Open") {
		t.Errorf("state %s", response.Body)
	}
	for _, name := range []string{"actor", "cause", "fields", "secret"} {
		if body := response.Get("opening.bodies." + name).(map[string]any); len(body) != 1 || body["hash"] == "" {
			t.Errorf("anonymous gets %s: %v", name, body)
		}
	}
	if ask(author, own).Has("opening.bodies.actor.actor") {
		t.Error("an author gets the actor")
	}
	for position := calendar.Position(1); int(position) <= size; position++ {
		response := ask(auditor, position)
		check(response, position)
		if !response.Has("opening.bodies.actor.actor") || !response.Has("opening.bodies.cause.client") || !response.Has("opening.bodies.fields.text") || response.Has("opening.bodies.secret.salt") {
			t.Errorf("an auditor gets %s", response.Body)
		}
	}
	for _, position := range []calendar.Position{1, draft, withdrawn.Position(), protected.Position()} {
		if ask(proving.nobody, position).Has("opening") {
			t.Errorf("anonymous gets an opening of entry %d", position)
		}
	}
	if ask(editor, 1).Has("opening") { // of a user
		t.Error("an editor gets the opening of a user")
	}
	if !ask(editor, draft).Has("opening") {
		t.Error("an editor gets no opening of a draft")
	}
}

// HISTORY 20.26, for the routes of proofs.
func TestClosedProofs(t *testing.T) {
	t.Parallel()
	for _, openness := range []httpapi.PublicHistory{httpapi.PublicHistoryProofs, httpapi.PublicHistoryNone} {
		t.Run(string(openness), func(t *testing.T) {
			t.Parallel()
			proving := newProving(t, httpapi.Options{PublicHistory: openness})
			editor, author := proving.As(calendar.Editor), proving.As(calendar.Author)
			position := author.Event("One", nil).Position()
			proving.sign()
			for _, path := range []string{"/checkpoint", "/checkpoint/keys", "/proof/inclusion?position=" + position.String(), "/proof/consistency?from=0", "/tile/0/000.p/1"} {
				if openness == httpapi.PublicHistoryProofs {
					proving.nobody.Read(path)
					continue
				}
				proving.nobody.Get(path).WantCode(http.StatusUnauthorized, "rest_forbidden")
				author.Get(path).WantCode(http.StatusForbidden, "rest_forbidden")
				editor.Read(path)
			}
			if !editor.Read("/proof/inclusion?position=" + position.String()).Has("opening") {
				t.Error("an editor gets no opening")
			}
			if openness == httpapi.PublicHistoryProofs && author.Read("/proof/inclusion?position="+position.String()).Has("opening") {
				t.Error("an author gets an opening")
			}
		})
	}
}
