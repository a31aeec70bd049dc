package proof_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/proof"
)

// signing is a store, its log and what a signer of it is made from.
type signing struct {
	*testing.T
	store *memstore.Store
	log   *proof.Log
	dir   string
	told  *bytes.Buffer
}

func setup(t *testing.T) *signing {
	t.Helper()
	store := memstore.New()
	return &signing{T: t, store: store, log: proof.NewLog(store), dir: t.TempDir(), told: &bytes.Buffer{}}
}

// write appends entries, each of a tag of its own.
func (signing *signing) write(n int) {
	signing.Helper()
	for range n {
		id, err := signing.store.NewID(signing.Context())
		if err != nil {
			signing.Fatal(err)
		}
		results := signing.store.Append(signing.Context(), eventstore.Append{
			Time: time.Unix(int64(id), 0), Actor: 7,
			Drafts: []eventstore.Draft{{Entry: eventstore.Entry{
				Kind:    calendar.KindTag,
				ID:      id,
				Version: 1,
				Change:  "tag.created",
				Fields:  json.RawMessage(`{}`),
				State:   json.RawMessage(`{}`),
			}}},
		})
		if results.Err != nil {
			signing.Fatal(results.Err)
		}
	}
}

// ring is that of an embedded store.
func (signing *signing) ring() proof.Keyring {
	file := filepath.Join(signing.dir, "audit.key")
	return proof.Keyring{File: file, Notes: []string{file + ".note"}, Address: origin}
}

// named is the ring of keys that settings name, with their notes in a folder.
func (signing *signing) named(dir string, keys ...*proof.PrivateKey) proof.Keyring {
	ring := proof.Keyring{Keys: keys, Address: origin}
	for _, privateKey := range keys {
		ring.Notes = append(ring.Notes, filepath.Join(dir, fmt.Sprintf("%08x.note", privateKey.KeyHash())))
	}
	return ring
}

func (signing *signing) signer(ring proof.Keyring, signerOptions proof.SignerOptions) *proof.Signer {
	signing.Helper()
	signerOptions.Log = slog.New(slog.NewTextHandler(signing.told, nil))
	return proof.NewSigner(signing.log, ring, signerOptions)
}

// own returns a signer with the key of an embedded store.
func (signing *signing) own() *proof.Signer {
	signing.Helper()
	return signing.signer(signing.ring(), proof.SignerOptions{})
}

// with returns a signer with keys that settings name, and their notes in a folder.
func (signing *signing) with(dir string, keys ...*proof.PrivateKey) *proof.Signer {
	signing.Helper()
	return signing.signer(signing.named(dir, keys...), proof.SignerOptions{})
}

// ok ends the test with an error.
func (signing *signing) ok(err error) {
	signing.Helper()
	if err != nil {
		signing.Fatal(err)
	}
}

func (signing *signing) sign(signer *proof.Signer) eventstore.Checkpoint {
	signing.Helper()
	checkpoint, err := signer.Sign(signing.Context())
	signing.ok(err)
	return checkpoint
}

func (signing *signing) vkeys(checkpoint *eventstore.Checkpoint) proof.Keys {
	signing.Helper()
	keys, err := proof.ReadKeys(checkpoint)
	signing.ok(err)
	return keys
}

func (signing *signing) leaves() []digest {
	signing.Helper()
	entries, err := signing.store.Read(signing.Context(), eventstore.Range{Limit: 1 << 20, Leaves: true})
	signing.ok(err)
	var leaves []digest
	for _, entry := range entries {
		leaves = append(leaves, entry.Leaf)
	}
	return leaves
}

// checkpoints returns all of the log.
func (signing *signing) checkpoints() []eventstore.Checkpoint {
	signing.Helper()
	found, err := signing.store.Find(signing.Context(), eventstore.Lookup{Signed: eventstore.Range{Limit: 100}})
	signing.ok(err)
	return found.Signed
}

func TestSign(t *testing.T) {
	t.Parallel()
	signing := setup(t)
	signer := signing.own()
	if _, err := os.Stat(signing.ring().File); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a key before the first checkpoint: %v", err)
	}
	signing.write(3)
	checkpoint := signing.sign(signer)
	info, err := os.Stat(signing.ring().File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v", info, err)
	}
	vkey := signing.vkeys(&checkpoint).Keys[0].VKey
	name, size, root := signedBy(t, checkpoint.Note, vkey)
	if name != origin || size != 3 || root != treeHash(signing.leaves()) || checkpoint.Origin != origin || checkpoint.Size != 3 {
		t.Errorf("signed %s %d %x", name, size, root)
	}
	head, err := signing.store.Head(t.Context(), eventstore.Point{})
	if err != nil || head.Position != 3 {
		t.Errorf("signing appended: head %d, %v", head.Position, err)
	}

	if again := signing.sign(signer); !bytes.Equal(again.Note, checkpoint.Note) {
		t.Error("without a new entry another checkpoint was signed")
	}
	signing.write(300)
	signing.sign(signer)
	// Another process goes on with the same key, and signs nothing that is signed.
	other := signing.own()
	if got := signing.sign(other); got.Size != 303 {
		t.Errorf("another signer: size %d", got.Size)
	}
	signing.write(1)
	last := signing.sign(other)
	if _, size, root := signedBy(t, last.Note, vkey); size != 304 || root != treeHash(signing.leaves()) {
		t.Errorf("signed %d %x", size, root)
	}
	if all := signing.checkpoints(); len(all) != 3 {
		t.Errorf("%d checkpoints are stored", len(all))
	}
	kept, err := os.ReadFile(signing.ring().Notes[0])
	if err != nil || !bytes.Equal(kept, last.Note) {
		t.Errorf("beside the key: %q, %v", kept, err)
	}
	if signer.Stats().Fault != nil || signing.told.Len() > 0 {
		t.Errorf("fault %v, log %s", signer.Stats().Fault, signing.told)
	}
}

// An origin is that of the setting, else the address, else the first entry; then the
// kept one, whatever the address becomes.
func TestOrigin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, setting, address, want string
	}{
		{"setting", "log.example/1", "a.example", "log.example/1"},
		{"address", "", "a.example", "a.example"},
		{"entry", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			signing := setup(t)
			ring := signing.ring()
			ring.Origin, ring.Address = tt.setting, tt.address
			if _, err := signing.signer(ring, proof.SignerOptions{}).Sign(t.Context()); tt.want == "" && !errors.Is(err, proof.ErrNoCheckpoint) {
				t.Errorf("before the first entry: %v", err)
			}
			signing.write(1)
			want := tt.want
			if want == "" {
				want = fmt.Sprintf("daybook/%x", signing.leaves()[0][:8])
			}
			if checkpoint := signing.sign(signing.signer(ring, proof.SignerOptions{})); checkpoint.Origin != want {
				t.Errorf("origin %s, want %s", checkpoint.Origin, want)
			}
			ring.Address = "b.example"
			signing.write(1)
			if checkpoint := signing.sign(signing.signer(ring, proof.SignerOptions{})); checkpoint.Origin != want {
				t.Errorf("at another address: origin %s, want %s", checkpoint.Origin, want)
			}
			ring.Origin = "other.example"
			if err := signing.signer(ring, proof.SignerOptions{}).Follow(t.Context()); !errors.Is(err, proof.ErrOrigin) {
				t.Errorf("another setting: %v, want ErrOrigin", err)
			}
			for origin, refusal := range map[string]error{"other.example": proof.ErrOrigin, want: nil, "": nil} {
				if err := signing.signer(proof.Keyring{Origin: origin}, proof.SignerOptions{}).Follow(t.Context()); !errors.Is(err, refusal) {
					t.Errorf("without a key and with the setting %q: %v, want %v", origin, err, refusal)
				}
			}
		})
	}
}

// HISTORY 20.27: two keys give two signatures; a checkpoint by the new one alone
// verifies after the old one is gone, and the keys tell from where to where.
func TestRotation(t *testing.T) {
	t.Parallel()
	signing := setup(t)
	old, fresh := newKey(t), newKey(t)
	sign := func(keys ...*proof.PrivateKey) eventstore.Checkpoint {
		signing.write(1)
		return signing.sign(signing.with(signing.dir, keys...))
	}
	first := sign(old)
	both := sign(old, fresh)
	for _, privateKey := range []*proof.PrivateKey{old, fresh} {
		signedBy(t, both.Note, privateKey.Public.String())
	}
	sign(fresh)
	last := sign(fresh)
	if _, size, root := signedBy(t, last.Note, fresh.Public.String()); size != 4 || root != treeHash(signing.leaves()) {
		t.Errorf("signed %d %x", size, root)
	}
	if _, err := proof.Open(last.Note, old.Public); !errors.Is(err, proof.ErrUnsigned) {
		t.Errorf("the old key: %v, want ErrUnsigned", err)
	}
	if k := signing.vkeys(&first); len(k.Keys) != 1 || k.Keys[0].ToSize != nil || k.Keys[0].FromSize != 1 {
		t.Errorf("keys at first: %+v", k)
	}
	k := signing.vkeys(&last)
	if len(k.Keys) != 2 || k.Keys[0].VKey != old.Public.String() || k.Keys[0].ToSize == nil || *k.Keys[0].ToSize != 2 ||
		k.Keys[1].VKey != fresh.Public.String() || k.Keys[1].FromSize != 2 || k.Keys[1].ToSize != nil {
		t.Errorf("keys at last: %+v", k)
	}
	other, err := proof.NewKey("other.example")
	signing.ok(err)
	signing.write(1)
	signer := signing.signer(proof.Keyring{Keys: []*proof.PrivateKey{fresh, other}}, proof.SignerOptions{})
	if _, err := signer.Sign(t.Context()); !errors.Is(err, proof.ErrOrigin) || !errors.Is(signer.Stats().Fault, proof.ErrOrigin) {
		t.Errorf("a key of another log: %v, %v", err, signer.Stats().Fault)
	}
	if _, err := signing.signer(proof.Keyring{}, proof.SignerOptions{}).Sign(t.Context()); !errors.Is(err, proof.ErrNoKey) {
		t.Errorf("without a key: %v, want ErrNoKey", err)
	}
}

// refuses checks that a signer signs nothing, says why once and shows it.
func (signing *signing) refuses(what string, signer *proof.Signer, want error) {
	signing.Helper()
	before := len(signing.checkpoints())
	for range 2 {
		if _, err := signer.Sign(signing.Context()); !errors.Is(err, want) {
			signing.Errorf("%s: Sign: %v, want %v", what, err, want)
		}
	}
	if err := signer.Follow(signing.Context()); !errors.Is(err, want) {
		signing.Errorf("%s: Follow: %v, want %v", what, err, want)
	}
	if n := len(signing.checkpoints()); n != before {
		signing.Errorf("%s: %d checkpoints, there were %d", what, n, before)
	}
}

// A key next to the note of another one, and one that cannot be read, sign nothing until the
// operator says so.
func TestKeyWithoutNote(t *testing.T) {
	t.Parallel()
	// Both begin with a checkpoint of 5 entries.
	setup := func(t *testing.T) *signing {
		t.Helper()
		s := setup(t)
		s.write(5)
		s.sign(s.own())
		return s
	}
	t.Run("note of another key", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		other := newKey(t)
		s.write(1)
		s.sign(s.signer(proof.Keyring{Keys: []*proof.PrivateKey{other}}, proof.SignerOptions{}))
		s.ok(os.WriteFile(s.ring().Notes[0], must(eventstore.CheckpointAt(t.Context(), s.store, 0)).Note, 0o600))
		s.write(1)
		s.refuses("with the note of another key", s.own(), proof.ErrUnconfirmed)
	})
	t.Run("key unreadable", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.ok(os.WriteFile(s.ring().File, []byte("torn"), 0o600))
		signer := s.own()
		s.refuses("with half a key", signer, proof.ErrKeyMissing)
		if !errors.Is(signer.Stats().Fault, proof.ErrKeyMissing) {
			t.Errorf("fault %v", signer.Stats().Fault)
		}
	})
}

// Without the note of a checkpoint next to its key there is no checkpoint.
func TestNoteNotStored(t *testing.T) {
	t.Parallel()
	signing := setup(t)
	key := newKey(t)
	signing.write(3)
	ring := signing.named(filepath.Join(signing.dir, "gone"), key)
	signer := signing.signer(ring, proof.SignerOptions{})
	signing.refuses("no folder for the note", signer, proof.ErrNotStored)
	if !errors.Is(signer.Stats().Fault, proof.ErrNotStored) {
		t.Errorf("fault %v", signer.Stats().Fault)
	}
	signing.ok(os.Mkdir(filepath.Dir(ring.Notes[0]), 0o700))
	if checkpoint := signing.sign(signer); checkpoint.Size != 3 || signer.Stats().Fault != nil {
		t.Errorf("with a folder: size %d, fault %v", checkpoint.Size, signer.Stats().Fault)
	}
}

// A new log that was begun on servers is signed on by its key, wherever that is put.
func TestBeginOnServers(t *testing.T) {
	t.Parallel()
	signing := setup(t)
	old := newKey(t)
	signing.write(2)
	signing.sign(signing.with(signing.dir, old))
	signing.write(1)
	privateKey, err := signing.with(signing.dir, old).Begin(t.Context(), "second.example/log")
	signing.ok(err)
	signing.write(1)
	signing.refuses("the former key", signing.with(signing.dir, old), proof.ErrOrigin)
	if data := must(os.ReadFile(signing.named(signing.dir, old).Notes[0])); !bytes.HasPrefix(data, []byte(origin+"\n2\n")) {
		t.Errorf("the note of the former key: %s", data)
	}
	elsewhere := t.TempDir()
	if checkpoint := signing.sign(signing.with(elsewhere, privateKey)); checkpoint.Size != 4 || checkpoint.Origin != privateKey.Name() {
		t.Errorf("the new log: %s, %d", checkpoint.Origin, checkpoint.Size)
	}
	signing.write(1)
	signing.refuses("in another folder", signing.with(filepath.Join(elsewhere, "other"), privateKey), proof.ErrUnconfirmed)
}

// A new log begins with the next entry where the former one has signed the last one.
func TestBeginWithoutEntries(t *testing.T) {
	t.Parallel()
	signing := setup(t)
	signing.write(2)
	signing.sign(signing.own())
	signer := signing.own()
	privateKey, err := signer.Begin(t.Context(), "second.example/log")
	signing.ok(err)
	if data := must(os.ReadFile(signing.ring().File)); string(data) != privateKey.Text() {
		t.Errorf("the key file does not hold the new key: %s", data)
	}
	if _, err := os.Stat(signing.ring().File + ".former"); err != nil {
		t.Errorf("the former key: %v", err)
	}
	if checkpoint := signing.sign(signer); checkpoint.Size != 2 || checkpoint.Origin != origin {
		t.Errorf("before the next entry: %s, %d", checkpoint.Origin, checkpoint.Size)
	}
	signing.write(1)
	if checkpoint := signing.sign(signer); checkpoint.Size != 3 || checkpoint.Origin != "second.example/log" {
		t.Errorf("the new log: %s, %d", checkpoint.Origin, checkpoint.Size)
	}
	if _, err := signer.Begin(t.Context(), "second.example/log"); err == nil {
		t.Error("the same log was begun again")
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// witness is one as C2SP tlog-witness tells, by its own code.
type witness struct {
	*witnessKey
	mu    sync.Mutex
	size  int
	root  tlog.Hash
	calls []string
	alter func(http.ResponseWriter, string) bool // answers in its place
}

func (witness *witness) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	witness.mu.Lock()
	defer witness.mu.Unlock()
	witness.calls = append(witness.calls, strings.SplitN(string(body), "\n", 2)[0])
	if request.Method != http.MethodPost || request.URL.Path != "/w/add-checkpoint" {
		http.NotFound(out, request)
		return
	}
	head, note, _ := strings.Cut(string(body), "\n\n")
	lines := strings.Split(head, "\n")
	var from int
	if _, err := fmt.Sscanf(lines[0], "old %d", &from); err != nil {
		http.Error(out, "old", http.StatusBadRequest)
		return
	}
	var path tlog.TreeProof
	for _, l := range lines[1:] {
		data, err := base64.StdEncoding.DecodeString(l)
		if err != nil || len(data) != 32 {
			http.Error(out, "proof", http.StatusBadRequest)
			return
		}
		path = append(path, tlog.Hash(data))
	}
	text, _, _ := strings.Cut(note, "\n\n")
	text += "\n"
	parts := strings.Split(text, "\n")
	var size int
	_, _ = fmt.Sscan(parts[1], &size)
	data, _ := base64.StdEncoding.DecodeString(parts[2])
	switch {
	case from != witness.size:
		out.Header().Set("Content-Type", "text/x.tlog.size")
		out.WriteHeader(http.StatusConflict)
		fmt.Fprintf(out, "%d\n", witness.size)
		return
	case from == 0 && len(path) > 0 || from > 0 && tlog.CheckTree(path, int64(size), tlog.Hash(data), int64(from), witness.root) != nil:
		http.Error(out, "inconsistent", http.StatusUnprocessableEntity)
		return
	}
	if witness.alter != nil && witness.alter(out, text) {
		return
	}
	witness.size, witness.root = size, tlog.Hash(data)
	_, _ = io.WriteString(out, "— unknown.example AAAAAAAA\n"+witness.line(1700000000, text))
}

// HISTORY 20.30: a witness that answers has its line, one that is down or signs wrongly
// has none and delays nothing.
func TestWitnesses(t *testing.T) {
	t.Parallel()
	signing := setup(t)
	good, quantum := &witness{witnessKey: newEd25519Witness("w1.example")}, &witness{witnessKey: newMLDSAWitness("w2.example")}
	wrong := &witness{witnessKey: newEd25519Witness("w3.example")}
	wrong.alter = func(writer http.ResponseWriter, text string) bool {
		_, _ = io.WriteString(writer, wrong.line(1700000000, text+"x"))
		return true
	}
	down := &witness{witnessKey: newEd25519Witness("w4.example")}
	release := make(chan struct{})
	down.alter = func(http.ResponseWriter, string) bool { <-release; return true }
	var list []*proof.Witness
	for _, w := range []*witness{good, quantum, wrong, down} {
		server := httptest.NewServer(w)
		t.Cleanup(server.Close)
		p, err := proof.ParseWitness(w.vkey + "@" + server.URL + "/w/")
		signing.ok(err)
		list = append(list, p)
	}
	t.Cleanup(func() { close(release) }) // before the servers end
	signer := signing.signer(signing.ring(), proof.SignerOptions{Witnesses: list})
	signing.write(3)
	checkpoint := signing.sign(signer)
	lines := func(size calendar.Position) string {
		return string(must(eventstore.CheckpointAt(t.Context(), signing.store, size)).Note)
	}
	// cosign waits for the lines of those that answer, while another one hangs.
	cosign := func(checkpoint eventstore.Checkpoint) (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		asked := make(chan struct{})
		go func() { defer close(asked); signer.Cosign(ctx, checkpoint) }()
		for wanted := time.Now().Add(time.Minute); ; {
			note := lines(checkpoint.Size)
			if strings.Contains(note, "w1.example") && strings.Contains(note, "w2.example") {
				return func() { cancel(); <-asked }
			}
			if time.Now().After(wanted) {
				t.Fatalf("the lines of those that answer are missing:\n%s", note)
			}
			time.Sleep(time.Millisecond) //nolint:forbidigo // until a condition holds
		}
	}
	end := cosign(checkpoint)
	// The next one goes to those that are free; they know the size that they had.
	signing.write(4)
	next := signing.sign(signer)
	if next.Size != 7 {
		t.Fatalf("size %d while a witness hangs", next.Size)
	}
	end()
	cosign(next)()
	// One that has lost what it knew, and one that a former process has asked.
	signing.write(300)
	last := signing.sign(signer)
	good.mu.Lock()
	good.size, good.root = 3, tlog.Hash(treeHash(signing.leaves()[:3]))
	good.mu.Unlock()
	cosign(last)()
	for _, size := range []calendar.Position{3, 7, 307} {
		note := lines(size)
		for _, w := range []*witness{good, quantum} {
			key, err := proof.ParseKey(w.vkey)
			signing.ok(err)
			if got, err := proof.Open([]byte(note), key); err != nil || got.Size != size {
				t.Errorf("checkpoint of %d by %s: %+v, %v\n%s", size, w.name, got, err, note)
			}
		}
		if strings.Contains(note, "w3.example") || strings.Contains(note, "w4.example") || strings.Contains(note, "unknown") {
			t.Errorf("checkpoint of %d has a line that does not verify:\n%s", size, note)
		}
	}
	if want := []string{"old 0", "old 3", "old 7", "old 3"}; strings.Join(good.calls, ",") != strings.Join(want, ",") {
		t.Errorf("calls %q, want %q", good.calls, want)
	}
	if keys := signing.vkeys(&last); len(keys.Witnesses) != 4 || keys.Witnesses[0] != good.vkey {
		t.Errorf("witnesses %q", keys.Witnesses)
	}
	if stats := signer.Stats(); stats.Signed != 3 || stats.Cosigned != 6 || stats.Refused == 0 {
		t.Errorf("stats %+v", stats)
	}
}

func TestParseWitness(t *testing.T) {
	t.Parallel()
	witnessKey, log := newEd25519Witness("w@x.example"), newKey(t)
	if witness, err := proof.ParseWitness(witnessKey.vkey + "@https://w.example/a/"); err != nil || witness.URL != "https://w.example/a" || witness.Key.String() != witnessKey.vkey {
		t.Errorf("%+v, %v", witness, err)
	}
	for _, bad := range []string{
		"", witnessKey.vkey, witnessKey.vkey + "@ftp://w.example", witnessKey.vkey + "@https://", witnessKey.vkey + "@https://w.example?a", witnessKey.vkey + "@https://w.example#a",
		log.Public.String() + "@https://w.example", "x@https://w.example",
	} {
		if witness, err := proof.ParseWitness(bad); !errors.Is(err, proof.ErrForm) {
			t.Errorf("%q: %+v, %v; want ErrForm", bad, witness, err)
		}
	}
}
