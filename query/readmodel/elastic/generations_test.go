package elastic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
	"daybook/query/readmodel/readmodeltest"
)

// aliases returns the indices of a prefix with their aliases.
func (engine engine) aliases(t *testing.T, prefix string) map[string][]string {
	t.Helper()
	var found map[string]struct {
		Aliases map[string]any `json:"aliases"`
	}
	if err := json.Unmarshal([]byte(ask(t, http.MethodGet, engine.url(t)+"/"+prefix+"-*/_alias", "")), &found); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for index, about := range found {
		out[index] = []string{}
		for text := range about.Aliases {
			if !strings.HasSuffix(text, "-write") {
				out[index] = append(out[index], strings.TrimPrefix(text, prefix+"-"))
			}
		}
		slices.Sort(out[index])
	}
	return out
}

// TestAnotherSchema: an index of another program version is not misread; a new
// generation is made next to it.
func TestAnotherSchema(t *testing.T) {
	engine := onOne(t)
	prefix := engine.prefix(t)
	for _, text := range []string{"events", "venues", "organizers", "categories", "tags", "state"} {
		ask(t, http.MethodPut, engine.url(t)+"/"+prefix+"-"+text+"-00000000-7", fmt.Sprintf(`{"aliases":{"%s-%s":{}},"settings":{"number_of_replicas":0}}`, prefix, text))
	}
	ask(t, http.MethodPut, engine.url(t)+"/"+prefix+"-state-00000000-7/_doc/position", `{"what":"position","position":99}`)
	index := engine.attach(t, engine.url(t), elastic.Options{Prefix: prefix})
	if err := index.Sound(t.Context()); !errors.Is(err, readmodel.ErrUnsound) {
		t.Fatalf("sound: %v, want ErrUnsound", err)
	}
	_, err := search(t.Context(), index, readmodel.Query{Kind: calendar.KindTag})
	_, write := index.Write(t.Context(), tags(1, 1))
	for _, err := range []error{err, write} {
		if !errors.Is(err, elastic.ErrSchema) || !errors.Is(err, readmodel.ErrUnavailable) {
			t.Errorf("error %v, want ErrSchema", err)
		}
	}
	next, err := index.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, next, tags(1, 5))
	if err := index.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	position(t, index, 5)
	if err := index.Sound(t.Context()); err != nil || total(t, index) != 5 {
		t.Errorf("after the promotion it is not sound: %v", err)
	}
}

// history is that of an event store: the one of readmodeltest.At up to split, and one of
// its own from there to the head.
type history struct {
	own         byte
	split, head calendar.Position
	epoch       uint64
	failing     error
}

func (history *history) holds(_ context.Context, mark calendar.Mark) (bool, error) {
	want := readmodeltest.At(mark.Position)
	if mark.Position > history.split {
		want.Hash[0] ^= history.own
	}
	return mark == want && mark.Position <= history.head, history.failing
}

func (history *history) first(context.Context) (calendar.Mark, error) {
	mark := readmodeltest.At(1)
	if history.split == 0 {
		mark.Hash[0] ^= history.own
	}
	return mark, history.failing
}

// hands are those of a clock that is put forward.
type hands struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (hands *hands) now() time.Time {
	hands.mu.Lock()
	defer hands.mu.Unlock()
	return time.Now().Add(hands.ahead)
}

func (hands *hands) pass(duration time.Duration) {
	hands.mu.Lock()
	defer hands.mu.Unlock()
	hands.ahead += duration
}

// TestForeign: an index that was made from another history answers nothing and takes
// nothing: that of another store, one that lost its last entries, also when it has gone
// on past them, and one of which a writer was cut off before the position.
func TestForeign(t *testing.T) {
	engine := onOne(t)
	prefix := engine.prefix(t)
	now := &hands{}
	open := func(h *history) *elastic.Index {
		return engine.open(t, elastic.Options{Prefix: prefix, Holds: h.holds, First: h.first, Epoch: func() uint64 { return h.epoch }, Now: now.now})
	}
	ours := &history{head: 99}
	index := open(ours)
	position(t, index, 0)
	mustWrite(t, index, tags(1, 3))

	foreign := func(what string, x *elastic.Index) {
		t.Helper()
		now.pass(time.Minute)
		_, search := search(t.Context(), x, readmodel.Query{Kind: calendar.KindTag})
		_, write := x.Write(t.Context(), tags(4, 5))
		_, at := x.Marks(t.Context())
		_, visible := x.Visible(t.Context())
		_, get := readmodel.Get(t.Context(), x, 1)
		for call, err := range map[string]error{
			"search": search, "write": write, "marks": at, "visible": visible, "get": get, "wait": x.Wait(t.Context(), 1),
		} {
			other := errors.Is(err, readmodel.ErrOtherStore) != strings.HasPrefix(what, "another store")
			if !errors.Is(err, readmodel.ErrForeign) || !errors.Is(err, readmodel.ErrUnavailable) || other {
				t.Errorf("%s: %s: %v, want ErrForeign", what, call, err)
			}
		}
	}
	foreign("another store, empty", open(&history{}))
	foreign("another store", open(&history{own: 2, head: 99}))
	foreign("put back", open(&history{head: 2}))
	foreign("put back and gone on", open(&history{own: 2, split: 2, head: 99}))
	position(t, open(&history{own: 2, split: 3, head: 99}), 3)

	// A process that lives sees it by the epoch, and nothing else makes it ask.
	lives := &history{head: 99}
	b := open(lives)
	position(t, b, 3)
	lives.failing = errors.New("the store is away")
	position(t, b, 3)
	now.pass(time.Minute)
	if _, err := b.Visible(t.Context()); err != nil {
		t.Errorf("visible without the store: %v", err)
	}
	if _, err := open(lives).Visible(t.Context()); !errors.Is(err, readmodel.ErrUnavailable) || !errors.Is(err, lives.failing) {
		t.Errorf("visible without the store at first: %v", err)
	}
	*lives = history{own: 2, split: 2, head: 99, epoch: 1}
	foreign("in another epoch", b)

	// Documents without a position.
	reached := tags(4, 6)
	reached.Mark, reached.Reach = calendar.Mark{}, readmodeltest.At(6)
	mustWrite(t, index, reached)
	position(t, open(ours), 3)
	foreign("cut off", open(&history{own: 2, split: 5, head: 99}))

	next, err := b.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := tags(1, 7)
	other.Mark.Hash[0] ^= 2
	mustWrite(t, next, other)
	if err := b.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	now.pass(time.Minute)
	position(t, b, 7)
	foreign("the one before", open(ours))
	// What was made from another history is nothing to go back to.
	if err := b.Back(t.Context()); !errors.Is(err, readmodel.ErrNoGeneration) {
		t.Errorf("back to a generation of another history: %v", err)
	}
}

// TestQuarantined: processes that change the quarantine at the same time do not undo what the
// others did.
func TestQuarantined(t *testing.T) {
	index := onOne(t).open(t, elastic.Options{})
	var writers sync.WaitGroup
	for id := range calendar.ID(5) {
		writers.Go(func() {
			batch := readmodel.Batch{Quarantined: []readmodel.Quarantined{{ID: 10 + id, Position: 2}}, Healed: []calendar.ID{7}}
			if _, err := index.Write(t.Context(), batch); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if got, err := index.Quarantined(t.Context()); err != nil || len(got) != 5 || got[0].ID != 10 || got[4].ID != 14 {
		t.Errorf("quarantined: %v, %v", got, err)
	}
}

// TestGenerationOfNoUse: a coming generation that was cut off while it was made, and one that
// answers and is damaged, are in the way of no rebuild; a process that was overtaken promotes
// nothing, a broken generation is not gone back to, and three promotions leave two.
func TestGenerationOfNoUse(t *testing.T) {
	engine := onOne(t)
	options := elastic.Options{Prefix: engine.prefix(t), RefreshInterval: 20 * time.Millisecond}
	id := calendar.ID(0)
	fill := func(what string) *elastic.Index {
		t.Helper()
		x := engine.attach(t, engine.url(t), options) // another process
		next, err := x.Next(t.Context())
		if err != nil {
			t.Fatalf("%s: next: %v", what, err)
		}
		id++
		mustWrite(t, next, tags(1, id))
		if err := x.Promote(t.Context()); err != nil {
			t.Fatalf("%s: promote: %v", what, err)
		}
		position(t, x, calendar.Position(id))
		if err := x.Sound(t.Context()); err != nil || total(t, x) != int(id) {
			t.Errorf("%s: not sound: %v", what, err)
		}
		return x
	}
	proxy := engine.proxy(t)
	proxy.set(func(request *http.Request, _ string) (int, string) {
		if request.Method == http.MethodPut && strings.Contains(request.URL.Path, "-venues-") {
			return 503, `{"error":{"type":"x","reason":"y"},"status":503}`
		}
		return 0, ""
	})
	if _, err := engine.attach(t, proxy.URL, options).Next(t.Context()); !errors.Is(err, readmodel.ErrUnavailable) {
		t.Fatalf("next without an index: %v", err)
	}
	x := fill("cut off")
	if _, err := x.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	fill("begun by another process")
	if err := x.Promote(t.Context()); !errors.Is(err, readmodel.ErrNoNext) {
		t.Errorf("promote of what another rebuild dropped: %v", err)
	}
	for _, harm := range [][2]string{{http.MethodDelete, "/_doc/position"}, {http.MethodPost, "/_close"}, {http.MethodDelete, ""}} {
		for index, aliases := range engine.aliases(t, options.Prefix) {
			if slices.Contains(aliases, "state") {
				ask(t, harm[0], engine.url(t)+"/"+index+harm[1], "")
			}
		}
		x = fill("after " + harm[0] + " " + harm[1])
	}
	if err := x.Back(t.Context()); !errors.Is(err, readmodel.ErrNoGeneration) {
		t.Errorf("back to the broken one: %v", err)
	}
	fill("sound")
	fill("sound")
	if got := len(engine.aliases(t, options.Prefix)); got != 12 {
		t.Errorf("%d indices are left, want 12", got)
	}
}
