package postgres_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/port"
	"daybook/eventstore/postgres"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/storetest"
	"daybook/internal/access"
	"daybook/internal/demo"
	"daybook/internal/htmltext"
)

// keyedWriter gives every create an idempotency key and keeps its answer.
type keyedWriter struct {
	*command.Service

	n atomic.Int64
}

func (w *keyedWriter) Create(ctx context.Context, r command.Request) (command.Result, error) {
	n := w.n.Add(1)
	r.Key = fmt.Sprintf("key-%d", n)
	r.Fingerprint = sha256.Sum256([]byte(r.Key))
	return w.Service.Create(ctx, r)
}

// Update protects some of the events.
func (w *keyedWriter) Update(ctx context.Context, r command.Request) (command.Result, error) {
	if r.Kind == calendar.KindEvent && r.Target.ID%5 == 0 {
		r.Input["password"] = "open sesame"
	}
	return w.Service.Update(ctx, r)
}

// TestMoveUp: a SQLite store with records of all kinds, secrets, users and
// receipts is carried into PostgreSQL whole, and goes on there.
func TestMoveUp(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "daybook.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	if _, _, err := access.New(port.Adapt(from)).EnsureAdministrator(ctx); err != nil {
		t.Fatal(err)
	}
	if _, _, err := access.New(port.Adapt(from)).Add(ctx, "ann", calendar.Editor, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := access.New(port.Adapt(from)).Revoke(ctx, "ann", 0); err != nil {
		t.Fatal(err)
	}
	rules := &calendar.Rules{Site: time.UTC, Clean: htmltext.New()}
	service, err := command.New(port.Adapt(from), rules, noHasher{}, command.Options{})
	if err != nil {
		t.Fatal(err)
	}
	writer := &keyedWriter{Service: service}
	town, err := demo.Read()
	if err != nil {
		t.Fatal(err)
	}
	callers := map[string]calendar.Caller{}
	for _, name := range town.Users {
		callers[name] = calendar.Caller{ID: 1, Role: calendar.Administrator}
	}
	_, err = town.Fill(ctx, writer, demo.Options{Seed: 7, Now: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), Callers: callers})
	if err != nil {
		t.Fatal(err)
	}

	gone := eraseTag(t, from)
	renamed, err := from.NewIDs(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	var named calendar.Position
	for v := range int64(2) {
		res := from.Append(ctx, []eventstore.Append{tag(t, renamed, v+1, "renamed")})[0]
		if res.Err != nil {
			t.Fatal(res.Err)
		}
		named = res.Position - 1
	}
	for _, size := range []calendar.Position{3, 600} {
		c := eventstore.Checkpoint{Size: size, Origin: "o", Note: []byte("o\n"), Time: time.Unix(int64(size), 0), Keys: "k"}
		if err := from.PutCheckpoint(ctx, c); err != nil {
			t.Fatal(err)
		}
	}

	name := schema(t)
	to := open(t, server(t), postgres.Options{Schema: name})
	steps := map[string]calendar.Position{}
	hash, n, err := eventstore.Copy(ctx, from, to, func(step string, done, _ calendar.Position) { steps[step] = done })
	if err != nil {
		t.Fatal(err)
	}
	if head, err := from.Head(ctx); err != nil || n != head || n < 600 {
		t.Errorf("%d entries are copied, the head is %d, %v", n, head, err)
	}
	if diff := cmp.Diff(map[string]calendar.Position{"verify": n, "copy": n, "verify copy": n}, steps); diff != "" {
		t.Errorf("progress differs (-want +got):\n%s", diff)
	}
	if again, _, err := storetest.Verify(ctx, from, nil); err != nil || again != hash {
		t.Errorf("the hash is %x, that of the other store %x, %v", hash, again, err)
	}
	if diff := cmp.Diff(wholeOf(t, from, int(writer.n.Load())), wholeOf(t, to, int(writer.n.Load())), storetest.Alike); diff != "" {
		t.Errorf("the stores differ (-sqlite +postgres):\n%s", diff[:min(len(diff), 4000)])
	}
	if res := to.Append(ctx, []eventstore.Append{tag(t, gone.ID, gone.Expected+2, "back")})[0]; !errors.Is(res.Err, eventstore.ErrConflict) {
		t.Errorf("the erased record takes a change: %+v", res)
	}
	if states, err := to.Load(ctx, gone.ID); err != nil {
		t.Error(err)
	} else if res := to.Erase(ctx, gone); res.Err != nil || res.Position != states[0].Position {
		t.Errorf("the erased record is erased again at %+v, not at %d", res, states[0].Position)
	}
	if id, err := to.SlugAt(ctx, calendar.KindTag, "renamed-0", eventstore.Point{Position: named}); err != nil || id != renamed {
		t.Errorf("the slug of before was that of %d, %v, want %d", id, err, renamed)
	}
	if ids, err := to.Former(ctx, calendar.KindTag, "renamed-0"); err != nil || !slices.Equal(ids, []calendar.ID{renamed}) {
		t.Errorf("the slug of before was that of %d, %v, want %d", ids, err, renamed)
	}
	// It goes on: fresh ids, positions, claims.
	id, err := to.NewIDs(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if states, err := to.Load(ctx, id); err != nil || states[0].Version != 0 {
		t.Errorf("the fresh id %d is used, %v", id, err)
	}
	a := tag(t, id, 1, "later")
	if res := to.Append(ctx, []eventstore.Append{a})[0]; res.Err != nil || res.Position != n+1 {
		t.Errorf("append: %+v, want position %d", res, n+1)
	}
	if _, _, err := storetest.Verify(ctx, to, nil); err != nil {
		t.Errorf("Verify after the append: %v", err)
	}

	if _, _, err := eventstore.Copy(ctx, from, to, nil); !errors.Is(err, eventstore.ErrNotEmpty) {
		t.Errorf("copied again: got %v, want ErrNotEmpty", err)
	}
	if err := to.Restore(ctx, from, nil); !errors.Is(err, eventstore.ErrNotEmpty) {
		t.Errorf("restored again: got %v, want ErrNotEmpty", err)
	}
}

// eraseTag erases a tag of a store, and gives the erasure.
func eraseTag(t *testing.T, s *sqlite.Store) eventstore.Erasure {
	t.Helper()
	states, err := s.Records(t.Context(), calendar.KindTag, 0, 1)
	if err != nil || len(states) == 0 {
		t.Fatalf("no tag, %v", err)
	}
	before, err := calendar.DecodeRecord(states[0].Record)
	if err != nil {
		t.Fatal(err)
	}
	c, err := calendar.Erase(before)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 5, 2, 0, 0, 0, 0, time.UTC)
	d, after := storetest.Draft(t, before, c, now)
	e := eventstore.Erasure{Kind: d.Kind, ID: d.ID, Expected: d.Expected, Time: now, State: d.State, Claims: calendar.Claims(after)}
	if res := s.Erase(t.Context(), e); res.Err != nil {
		t.Fatal(res.Err)
	}
	return e
}

// broken is a store whose dump fails at its end.
type broken struct{ eventstore.Dumper }

func (broken) Receipts(context.Context, int64, int) ([]eventstore.KeptReceipt, int64, error) {
	return nil, 0, errors.New("disk gone")
}

// TestMoveUpWhole: a copy that fails at its end leaves the store empty.
func TestMoveUpWhole(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "daybook.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	if res := from.Append(ctx, []eventstore.Append{tag(t, 1, 1, "jazz")})[0]; res.Err != nil {
		t.Fatal(res.Err)
	}
	to := open(t, server(t), postgres.Options{Schema: schema(t)})
	if _, _, err := eventstore.Copy(ctx, broken{from}, to, nil); err == nil || !strings.Contains(err.Error(), "disk gone") {
		t.Errorf("the copy that fails: %v", err)
	}
	if head, err := to.Head(ctx); err != nil || head != 0 {
		t.Errorf("the head is %d, %v", head, err)
	}
	if _, n, err := eventstore.Copy(ctx, from, to, nil); err != nil || n != 1 {
		t.Errorf("the copy after it: %d entries, %v", n, err)
	}
}

// whole is all that a store gives.
type whole struct {
	Entries  []eventstore.Entry
	States   []eventstore.State
	Commits  []eventstore.Commit
	Leaves   [][32]byte
	Holders  []calendar.ID
	Found    [][]calendar.ID
	Receipts []*eventstore.Receipt
	History  [][]eventstore.Entry

	Past        [][]eventstore.Entry // of the same records, half way
	Slugs       []calendar.ID        // who had the slugs of the log then
	Checkpoints []eventstore.Checkpoint
	UUID        [16]byte
}

func wholeOf(t *testing.T, s eventstore.Verifier, keys int) whole {
	t.Helper()
	ctx := t.Context()
	var w whole
	errs := make([]error, 7)
	w.UUID, errs[6] = s.UUID(ctx)
	w.Checkpoints, errs[5] = s.Checkpoints(ctx, 0, 100)
	w.Entries, errs[0] = s.ReadAll(ctx, 0, 100_000)
	w.States, errs[1] = s.Records(ctx, 0, 0, 100_000)
	w.Commits, errs[2] = s.Commits(ctx, 0, 100_000)
	w.Leaves, errs[3] = s.Leaves(ctx, 0, 100_000)
	half := eventstore.Point{Position: calendar.Position(len(w.Entries) / 2)}
	for i := range w.Entries {
		slug, err := w.Entries[i].Slug()
		if err != nil {
			t.Fatal(err)
		}
		if slug == "" || i%3 > 0 {
			continue
		}
		id, err := s.SlugAt(ctx, w.Entries[i].Kind, slug, half)
		if err != nil {
			t.Fatal(err)
		}
		w.Slugs = append(w.Slugs, id)
	}
	var claims []calendar.Claim
	var names []calendar.Name
	for i := range w.States {
		r, err := calendar.DecodeRecord(w.States[i].Record)
		if err != nil {
			t.Fatal(err)
		}
		claims, names = append(claims, calendar.Claims(r)...), append(names, calendar.Names(r)...)
		if i%10 == 0 {
			h, err := s.History(ctx, r.ID, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			past, err := s.At(ctx, half, r.ID)
			if err != nil {
				t.Fatal(err)
			}
			w.History, w.Past = append(w.History, h), append(w.Past, past)
		}
	}
	w.Holders, w.Found, errs[4] = s.Find(ctx, claims, names)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		key := fmt.Sprintf("key-%d", i+1)
		res := s.Append(ctx, []eventstore.Append{{Receipt: &eventstore.Receipt{User: 1, Key: key, Fingerprint: sha256.Sum256([]byte(key))}}})[0]
		if res.Err != nil || res.Receipt == nil {
			t.Fatalf("receipt %s: %+v", key, res)
		}
		w.Receipts = append(w.Receipts, res.Receipt)
	}
	return w
}

// TestMoveUpLarge: entries that do not fit into one page are carried, too.
func TestMoveUpLarge(t *testing.T) {
	t.Parallel()
	from, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "daybook.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	service, err := command.New(port.Adapt(from), &calendar.Rules{Site: time.UTC, Clean: htmltext.New()}, noHasher{}, command.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const tags = 30
	for n := range tags {
		r := command.Request{
			Kind: calendar.KindTag, Caller: calendar.Caller{ID: 1, Role: calendar.Editor},
			Input: calendar.Input{"name": fmt.Sprintf("Large %d", n), "description": strings.Repeat("x", 190_000)},
		}
		if _, err := service.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	to := open(t, server(t), postgres.Options{Schema: schema(t)})
	if _, n, err := eventstore.Copy(t.Context(), from, to, nil); err != nil || n != tags {
		t.Errorf("%d entries are copied, %v", n, err)
	}
}

// noHasher keeps passwords as they are.
type noHasher struct{}

func (noHasher) Hash(_ context.Context, password string) ([]byte, error) {
	return []byte(password), nil
}

func (noHasher) Verify(_ context.Context, hash []byte, password string) (bool, error) {
	return string(hash) == password, nil
}
