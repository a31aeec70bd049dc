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
	"testing/synctest"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/proof"
	"daybook/internal/testkit"
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
func (s *signing) write(n int) {
	s.Helper()
	for range n {
		id, err := s.store.NewIDs(s.Context(), 1)
		if err != nil {
			s.Fatal(err)
		}
		r := s.store.Append(s.Context(), []eventstore.Append{{
			Time: time.Unix(int64(id), 0), Actor: 7,
			Drafts: []eventstore.Draft{{Kind: calendar.KindTag, ID: id, Change: "tag.created", Fields: json.RawMessage(`{}`), State: json.RawMessage(`{}`)}},
		}})
		if r[0].Err != nil {
			s.Fatal(r[0].Err)
		}
	}
}

// ring is that of an embedded store.
func (s *signing) ring() proof.Keyring {
	file := filepath.Join(s.dir, "audit.key")
	return proof.Keyring{File: file, Kept: file + ".note", Address: origin}
}

func (s *signing) signer(ring proof.Keyring, o proof.SignerOptions) *proof.Signer {
	s.Helper()
	o.Log = slog.New(slog.NewTextHandler(s.told, nil))
	signer, err := proof.NewSigner(s.log, ring, o)
	if err != nil {
		s.Fatal(err)
	}
	return signer
}

func (s *signing) sign(signer *proof.Signer) eventstore.Checkpoint {
	s.Helper()
	c, err := signer.Sign(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return c
}

func (s *signing) vkeys(c *eventstore.Checkpoint) proof.Keys {
	s.Helper()
	k, err := proof.ReadKeys(c)
	if err != nil {
		s.Fatal(err)
	}
	return k
}

func (s *signing) leaves() []testkit.Digest {
	s.Helper()
	leaves, err := s.store.Leaves(s.Context(), 0, 1<<20)
	if err != nil {
		s.Fatal(err)
	}
	return leaves
}

func TestSign(t *testing.T) {
	t.Parallel()
	s := setup(t)
	signer := s.signer(s.ring(), proof.SignerOptions{})
	if _, err := os.Stat(s.ring().File); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a key before the first checkpoint: %v", err)
	}
	s.write(3)
	c := s.sign(signer)
	info, err := os.Stat(s.ring().File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v", info, err)
	}
	vkey := s.vkeys(&c).Keys[0].VKey
	name, size, root := testkit.SignedBy(t, c.Note, vkey)
	if name != origin || size != 3 || root != testkit.TreeHash(s.leaves()) || c.Origin != origin || c.Size != 3 {
		t.Errorf("signed %s %d %x", name, size, root)
	}
	head, err := s.store.Head(t.Context())
	if err != nil || head != 3 {
		t.Errorf("signing appended: head %d, %v", head, err)
	}

	if again := s.sign(signer); !bytes.Equal(again.Note, c.Note) {
		t.Error("without a new entry another checkpoint was signed")
	}
	s.write(300)
	s.sign(signer)
	// Another process goes on with the same key, and signs nothing that is signed.
	other := s.signer(s.ring(), proof.SignerOptions{})
	if got := s.sign(other); got.Size != 303 {
		t.Errorf("another signer: size %d", got.Size)
	}
	s.write(1)
	last := s.sign(other)
	if _, size, root := testkit.SignedBy(t, last.Note, vkey); size != 304 || root != testkit.TreeHash(s.leaves()) {
		t.Errorf("signed %d %x", size, root)
	}
	all, err := s.store.Checkpoints(t.Context(), 0, 10)
	if err != nil || len(all) != 3 {
		t.Errorf("%d checkpoints are kept, %v", len(all), err)
	}
	kept, err := os.ReadFile(s.ring().Kept)
	if err != nil || !bytes.Equal(kept, last.Note) {
		t.Errorf("beside the key: %q, %v", kept, err)
	}
	if signer.Fault() != nil || s.told.Len() > 0 {
		t.Errorf("fault %v, log %s", signer.Fault(), s.told)
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
			s := setup(t)
			ring := s.ring()
			ring.Origin, ring.Address = tt.setting, tt.address
			if _, err := s.signer(ring, proof.SignerOptions{}).Sign(t.Context()); tt.want == "" && !errors.Is(err, proof.ErrNoCheckpoint) {
				t.Errorf("before the first entry: %v", err)
			}
			s.write(1)
			want := tt.want
			if want == "" {
				want = fmt.Sprintf("daybook/%x", s.leaves()[0][:8])
			}
			if c := s.sign(s.signer(ring, proof.SignerOptions{})); c.Origin != want {
				t.Errorf("origin %s, want %s", c.Origin, want)
			}
			ring.Address = "b.example"
			s.write(1)
			if c := s.sign(s.signer(ring, proof.SignerOptions{})); c.Origin != want {
				t.Errorf("at another address: origin %s, want %s", c.Origin, want)
			}
			ring.Origin = "other.example"
			if err := s.signer(ring, proof.SignerOptions{}).Check(t.Context()); !errors.Is(err, proof.ErrOrigin) {
				t.Errorf("another setting: %v, want ErrOrigin", err)
			}
			if err := s.log.CheckOrigin(t.Context(), "other.example"); !errors.Is(err, proof.ErrOrigin) {
				t.Errorf("CheckOrigin: %v, want ErrOrigin", err)
			}
			if err := errors.Join(s.log.CheckOrigin(t.Context(), want), s.log.CheckOrigin(t.Context(), "")); err != nil {
				t.Errorf("CheckOrigin: %v", err)
			}
		})
	}
}

// HISTORY 20.27: two keys give two signatures; a checkpoint by the new one alone
// verifies after the old one is gone, and the keys tell from where to where.
func TestRotation(t *testing.T) {
	t.Parallel()
	s := setup(t)
	old, fresh := newKey(t), newKey(t)
	sign := func(keys ...*proof.PrivateKey) eventstore.Checkpoint {
		s.write(1)
		return s.sign(s.signer(proof.Keyring{Keys: keys, Address: origin, Kept: filepath.Join(s.dir, "note")}, proof.SignerOptions{}))
	}
	first := sign(old)
	both := sign(old, fresh)
	for _, k := range []*proof.PrivateKey{old, fresh} {
		testkit.SignedBy(t, both.Note, k.Public.String())
	}
	sign(fresh)
	last := sign(fresh)
	if _, size, root := testkit.SignedBy(t, last.Note, fresh.Public.String()); size != 4 || root != testkit.TreeHash(s.leaves()) {
		t.Errorf("signed %d %x", size, root)
	}
	if _, err := proof.Open(last.Note, old.Public); !errors.Is(err, proof.ErrUnsigned) {
		t.Errorf("the old key: %v, want ErrUnsigned", err)
	}
	if k := s.vkeys(&first); len(k.Keys) != 1 || k.Keys[0].ToSize != nil || k.Keys[0].FromSize != 1 {
		t.Errorf("keys at first: %+v", k)
	}
	k := s.vkeys(&last)
	if len(k.Keys) != 2 || k.Keys[0].VKey != old.Public.String() || k.Keys[0].ToSize == nil || *k.Keys[0].ToSize != 2 ||
		k.Keys[1].VKey != fresh.Public.String() || k.Keys[1].FromSize != 2 || k.Keys[1].ToSize != nil {
		t.Errorf("keys at last: %+v", k)
	}
	other, err := proof.NewKey("other.example")
	if err != nil {
		t.Fatal(err)
	}
	s.write(1)
	signer := s.signer(proof.Keyring{Keys: []*proof.PrivateKey{fresh, other}}, proof.SignerOptions{})
	if _, err := signer.Sign(t.Context()); !errors.Is(err, proof.ErrOrigin) || !errors.Is(signer.Fault(), proof.ErrOrigin) {
		t.Errorf("a key of another log: %v, %v", err, signer.Fault())
	}
	if _, err := s.signer(proof.Keyring{}, proof.SignerOptions{}).Sign(t.Context()); !errors.Is(err, proof.ErrNoKey) {
		t.Errorf("without a key: %v, want ErrNoKey", err)
	}
}

// HISTORY 20.31: a store put back to before the last checkpoint signs nothing and says
// why, also when it has grown beyond; a new log begins with a new key.
func TestPutBack(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.write(5)
	s.sign(s.signer(s.ring(), proof.SignerOptions{}))
	s.write(5)
	s.sign(s.signer(s.ring(), proof.SignerOptions{}))

	// A store of five entries comes back; what lies beside the key stays.
	before := s.store
	back := setup(t)
	back.dir = s.dir
	for _, e := range must(before.ReadAll(t.Context(), 0, 5)) {
		back.write(1)
		_ = e
	}
	for _, grown := range []int{0, 10} {
		back.write(grown)
		signer := back.signer(back.ring(), proof.SignerOptions{})
		for range 2 {
			if _, err := signer.Sign(t.Context()); !errors.Is(err, proof.ErrNotExtended) {
				t.Fatalf("with %d more entries: %v, want ErrNotExtended", grown, err)
			}
		}
		if !errors.Is(signer.Fault(), proof.ErrNotExtended) || signer.Stats().Extends {
			t.Errorf("fault %v", signer.Fault())
		}
		if n := strings.Count(back.told.String(), "log does not extend its last checkpoint"); n != 1 {
			t.Errorf("the log tells it %d times:\n%s", n, back.told)
		}
		back.told.Reset()
		if _, err := back.store.Checkpoint(t.Context(), 0); !errors.Is(err, eventstore.ErrNotFound) {
			t.Errorf("something was signed: %v", err)
		}
	}

	signer := back.signer(back.ring(), proof.SignerOptions{})
	k, err := signer.Begin(t.Context(), "second.example/log")
	if err != nil {
		t.Fatal(err)
	}
	c := must(back.store.Checkpoint(t.Context(), 0))
	if name, size, root := testkit.SignedBy(t, c.Note, k.Public.String()); name != "second.example/log" || size != 15 || root != testkit.TreeHash(back.leaves()) {
		t.Errorf("the new log: %s %d %x", name, size, root)
	}
	back.write(1)
	if c := back.sign(signer); c.Origin != "second.example/log" || c.Size != 16 || signer.Fault() != nil {
		t.Errorf("the new log goes on with %s %d, fault %v", c.Origin, c.Size, signer.Fault())
	}
	if b, err := os.ReadFile(back.ring().File); err != nil || string(b) != k.Text() {
		t.Errorf("the key file does not hold the new key: %v", err)
	}
	if _, err := os.Stat(back.ring().File + ".former"); err != nil {
		t.Errorf("the former key: %v", err)
	}
	if _, err := signer.Begin(t.Context(), "second.example/log"); err == nil {
		t.Error("the same log was begun again")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A log whose leaves changed under its checkpoint is not signed on.
func TestChangedLeaves(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.write(300)
	s.sign(s.signer(s.ring(), proof.SignerOptions{}))
	s.write(1)
	changed := proof.NewLog(changedStore{s.store})
	signer, err := proof.NewSigner(changed, s.ring(), proof.SignerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := signer.Check(t.Context()); !errors.Is(err, proof.ErrNotExtended) {
		t.Errorf("Check: %v, want ErrNotExtended", err)
	}
	if _, err := signer.Sign(t.Context()); !errors.Is(err, proof.ErrNotExtended) {
		t.Errorf("Sign: %v, want ErrNotExtended", err)
	}
}

type changedStore struct{ *memstore.Store }

func (s changedStore) Leaves(ctx context.Context, after calendar.Position, limit int) ([][32]byte, error) {
	leaves, err := s.Store.Leaves(ctx, after, limit)
	if after <= 100 && after+calendar.Position(len(leaves)) > 100 {
		leaves = append([][32]byte(nil), leaves...)
		leaves[100-after][0] ^= 1
	}
	return leaves, err
}

func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t)
		s.write(2)
		signer := s.signer(s.ring(), proof.SignerOptions{Interval: time.Minute})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- signer.Run(ctx) }()
		signed := func() int {
			synctest.Wait()
			return len(must(s.store.Checkpoints(t.Context(), 0, 100)))
		}
		if n := signed(); n != 0 {
			t.Errorf("%d checkpoints at the start", n)
		}
		for i := range 5 {
			time.Sleep(time.Minute) //nolint:forbidigo // the clock of the bubble
			if n := signed(); n != i/2+1 {
				t.Errorf("after %d minutes %d checkpoints", i+1, n)
			}
			if i%2 == 1 {
				s.write(1)
			}
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
}

// witness is one as C2SP tlog-witness tells, by its own code.
type witness struct {
	*witnessKey
	mu    sync.Mutex
	size  int
	root  testkit.Digest
	calls []string
	alter func(http.ResponseWriter, string) bool // answers in its place
}

func (w *witness) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, strings.SplitN(string(body), "\n", 2)[0])
	if r.Method != http.MethodPost || r.URL.Path != "/w/add-checkpoint" {
		http.NotFound(out, r)
		return
	}
	head, note, _ := strings.Cut(string(body), "\n\n")
	lines := strings.Split(head, "\n")
	var from int
	if _, err := fmt.Sscanf(lines[0], "old %d", &from); err != nil {
		http.Error(out, "old", http.StatusBadRequest)
		return
	}
	var path []testkit.Digest
	for _, l := range lines[1:] {
		b, err := base64.StdEncoding.DecodeString(l)
		if err != nil || len(b) != 32 {
			http.Error(out, "proof", http.StatusBadRequest)
			return
		}
		path = append(path, testkit.Digest(b))
	}
	text, _, _ := strings.Cut(note, "\n\n")
	text += "\n"
	parts := strings.Split(text, "\n")
	var size int
	_, _ = fmt.Sscan(parts[1], &size)
	b, _ := base64.StdEncoding.DecodeString(parts[2])
	switch {
	case from != w.size:
		out.Header().Set("Content-Type", "text/x.tlog.size")
		out.WriteHeader(http.StatusConflict)
		fmt.Fprintf(out, "%d\n", w.size)
		return
	case from == 0 && len(path) > 0 || from > 0 && !testkit.Consistent(from, size, path, w.root, testkit.Digest(b)):
		http.Error(out, "inconsistent", http.StatusUnprocessableEntity)
		return
	}
	if w.alter != nil && w.alter(out, text) {
		return
	}
	w.size, w.root = size, testkit.Digest(b)
	_, _ = io.WriteString(out, "— unknown.example AAAAAAAA\n"+w.line(1700000000, text))
}

// HISTORY 20.30: a witness that answers has its line, one that is down or signs wrongly
// has none and delays nothing.
func TestWitnesses(t *testing.T) {
	t.Parallel()
	s := setup(t)
	good, quantum := &witness{witnessKey: newEd25519Witness("w1.example")}, &witness{witnessKey: newMLDSAWitness("w2.example")}
	wrong := &witness{witnessKey: newEd25519Witness("w3.example")}
	wrong.alter = func(w http.ResponseWriter, text string) bool {
		_, _ = io.WriteString(w, wrong.line(1700000000, text+"x"))
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
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	t.Cleanup(func() { close(release) }) // before the servers end
	signer := s.signer(s.ring(), proof.SignerOptions{Witnesses: list})
	s.write(3)
	c := s.sign(signer)
	lines := func(size calendar.Position) string {
		return string(must(s.store.Checkpoint(t.Context(), size)).Note)
	}
	// cosign waits for the lines of those that answer, while another one hangs.
	cosign := func(c eventstore.Checkpoint) (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		asked := make(chan struct{})
		go func() { defer close(asked); signer.Cosign(ctx, c) }()
		for wanted := time.Now().Add(time.Minute); ; {
			note := lines(c.Size)
			if strings.Contains(note, "w1.example") && strings.Contains(note, "w2.example") {
				return func() { cancel(); <-asked }
			}
			if time.Now().After(wanted) {
				t.Fatalf("the lines of those that answer are missing:\n%s", note)
			}
			time.Sleep(time.Millisecond) //nolint:forbidigo // until a condition holds
		}
	}
	end := cosign(c)
	// The next one goes to those that are free; they know the size that they had.
	s.write(4)
	next := s.sign(signer)
	if next.Size != 7 {
		t.Fatalf("size %d while a witness hangs", next.Size)
	}
	end()
	cosign(next)()
	// One that has lost what it knew, and one that a former process has asked.
	s.write(300)
	last := s.sign(signer)
	good.mu.Lock()
	good.size, good.root = 3, testkit.TreeHash(s.leaves()[:3])
	good.mu.Unlock()
	cosign(last)()
	for _, size := range []calendar.Position{3, 7, 307} {
		note := lines(size)
		keys := []*proof.Key{}
		for _, w := range []*witness{good, quantum} {
			k, err := proof.ParseKey(w.vkey)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, k)
		}
		if got, err := proof.Open([]byte(note), keys...); err != nil || len(got.By) != 2 {
			t.Errorf("checkpoint of %d: %+v, %v\n%s", size, got, err, note)
		}
		if strings.Contains(note, "w3.example") || strings.Contains(note, "w4.example") || strings.Contains(note, "unknown") {
			t.Errorf("checkpoint of %d has a line that does not verify:\n%s", size, note)
		}
	}
	if want := []string{"old 0", "old 3", "old 7", "old 3"}; strings.Join(good.calls, ",") != strings.Join(want, ",") {
		t.Errorf("calls %q, want %q", good.calls, want)
	}
	if k := s.vkeys(&last); len(k.Witnesses) != 4 || k.Witnesses[0] != good.vkey {
		t.Errorf("witnesses %q", k.Witnesses)
	}
	if n := signer.Stats(); n.Signed != 3 || n.Cosigned != 6 || n.Refused == 0 {
		t.Errorf("stats %+v", n)
	}
}

func TestParseWitness(t *testing.T) {
	t.Parallel()
	w, log := newEd25519Witness("w@x.example"), newKey(t)
	if p, err := proof.ParseWitness(w.vkey + "@https://w.example/a/"); err != nil || p.URL != "https://w.example/a" || p.Key.String() != w.vkey {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{
		"", w.vkey, w.vkey + "@ftp://w.example", w.vkey + "@https://", w.vkey + "@https://w.example?a", w.vkey + "@https://w.example#a",
		log.Public.String() + "@https://w.example", "x@https://w.example",
	} {
		if p, err := proof.ParseWitness(bad); !errors.Is(err, proof.ErrForm) {
			t.Errorf("%q: %+v, %v; want ErrForm", bad, p, err)
		}
	}
}
