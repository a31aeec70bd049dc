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

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
	"daybook/query/readmodel/readmodeltest"
)

// aliases returns the indices of a prefix with their aliases.
func (e engine) aliases(t *testing.T, prefix string) map[string][]string {
	t.Helper()
	var found map[string]struct {
		Aliases map[string]any `json:"aliases"`
	}
	if err := json.Unmarshal([]byte(ask(t, http.MethodGet, e.url(t)+"/"+prefix+"-*/_alias", "")), &found); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for index, about := range found {
		out[index] = []string{}
		for a := range about.Aliases {
			if !strings.HasSuffix(a, "-write") {
				out[index] = append(out[index], strings.TrimPrefix(a, prefix+"-"))
			}
		}
		slices.Sort(out[index])
	}
	return out
}

// TestGenerations: a rebuild next to the one that answers, killed and begun again by
// another process, promoted and taken back, while others write.
func TestGenerations(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		o := elastic.Options{Prefix: e.prefix(t), RefreshInterval: 50 * time.Millisecond}
		writer, reader, rebuilder := e.open(t, o), e.open(t, o), e.open(t, o)
		position(t, writer, 0)
		mustWrite(t, writer, tags(1, 10))

		next, err := rebuilder.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustWrite(t, next, tags(1, 4))
		position(t, writer, 10) // is not touched
		// Another process begins again.
		killed := rebuilder
		rebuilder = e.open(t, o)
		if next, err = rebuilder.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := killed.Promote(t.Context()); !errors.Is(err, readmodel.ErrNoNext) {
			t.Errorf("promote of what another rebuild dropped: %v", err)
		}
		position(t, next, 0)
		mustWrite(t, next, tags(1, 8))
		if got := total(t, next); got != 8 {
			t.Errorf("%d tags in the coming generation, want 8", got)
		}

		moved := make(chan error, 1)
		go func() { moved <- writer.Moved(t.Context()) }()
		if err := rebuilder.Promote(t.Context()); !errors.Is(err, readmodel.ErrBehind) {
			t.Fatalf("promoted from 10 back to 8: %v", err)
		}
		if _, err := writer.Write(t.Context(), tags(11, 12)); !errors.Is(err, readmodel.ErrMoved) {
			t.Errorf("write to what is about to be replaced: %v, want ErrMoved", err)
		}
		position(t, writer, 10)
		mustWrite(t, next, tags(9, 10))
		if err := rebuilder.Promote(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-moved; err != nil {
			t.Errorf("moved: %v", err)
		}
		if _, err := writer.Write(t.Context(), tags(11, 12)); !errors.Is(err, readmodel.ErrMoved) {
			t.Errorf("write after the promotion: %v, want ErrMoved", err)
		}
		position(t, writer, 10)
		mustWrite(t, writer, tags(11, 12))
		if err := reader.Wait(t.Context(), 12); err != nil || total(t, reader) != 12 {
			t.Errorf("the reader does not follow: %v", err)
		}

		if err := rebuilder.Back(t.Context()); err != nil {
			t.Fatal(err)
		}
		position(t, writer, 10)
		if err := rebuilder.Back(t.Context()); err != nil {
			t.Fatal(err)
		}
		position(t, writer, 12)
		// Two promotions drop the first generation.
		for range 2 {
			if next, err = rebuilder.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
			mustWrite(t, next, tags(1, 20))
			if err := rebuilder.Promote(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		roles := map[string]int{}
		for index, aliases := range e.aliases(t, o.Prefix) {
			if strings.HasPrefix(index, o.Prefix+"-state-") {
				roles[strings.Join(aliases, ",")]++
			}
		}
		if diff := cmp.Diff(map[string]int{"state": 1, "kept": 1}, roles); diff != "" {
			t.Errorf("roles (-want +got):\n%s", diff)
		}
		if n := len(e.aliases(t, o.Prefix)); n != 12 {
			t.Errorf("%d indices are left, want 12", n)
		}
	})
}

// TestAnotherSchema: an index of another program version is not misread; a new
// generation is made next to it.
func TestAnotherSchema(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		prefix := e.prefix(t)
		for _, c := range []string{"events", "venues", "organizers", "categories", "tags", "state"} {
			ask(t, http.MethodPut, e.url(t)+"/"+prefix+"-"+c+"-00000000-7", fmt.Sprintf(`{"aliases":{"%s-%s":{}},"settings":{"number_of_replicas":0}}`, prefix, c))
		}
		ask(t, http.MethodPut, e.url(t)+"/"+prefix+"-state-00000000-7/_doc/position", `{"what":"position","position":99}`)
		x := e.attach(t, e.url(t), elastic.Options{Prefix: prefix})
		if err := x.Sound(t.Context()); !errors.Is(err, readmodel.ErrUnsound) {
			t.Fatalf("sound: %v, want ErrUnsound", err)
		}
		_, err := search(t.Context(), x, readmodel.Query{Kind: calendar.KindTag})
		_, write := x.Write(t.Context(), tags(1, 1))
		for _, err := range []error{err, write} {
			if !errors.Is(err, elastic.ErrSchema) || !errors.Is(err, readmodel.ErrUnavailable) {
				t.Errorf("error %v, want ErrSchema", err)
			}
		}
		next, err := x.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustWrite(t, next, tags(1, 5))
		if err := x.Promote(t.Context()); err != nil {
			t.Fatal(err)
		}
		position(t, x, 5)
		if err := x.Sound(t.Context()); err != nil || total(t, x) != 5 {
			t.Errorf("after the promotion it is not sound: %v", err)
		}
	})
}

// TestSmallWindow: what the suite asks about events holds where the server gives few
// documents at a time, so that orders by the least number of ids are put together.
func TestSmallWindow(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		readmodeltest.RunEvents(t, e.open(t, elastic.Options{Prefix: e.prefix(t), MaxResultWindow: readmodel.WalkStep}))
	})
}

// TestLongQueries: what one query of the engine cannot hold is answered as well.
func TestLongQueries(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		x := e.open(t, elastic.Options{})
		long := strings.Repeat("a", 480)
		names := []string{long + "b", strings.Repeat("ab", 250), "short", strings.Repeat("音乐", 400)}
		var b readmodel.Batch
		for i, name := range names {
			b.Mark.Position++
			b.Documents = append(b.Documents, tag(calendar.ID(i+1), b.Mark.Position, name))
		}
		var phrases, words []string
		for i := range readmodel.MaxWords / 2 {
			phrases = append(phrases, fmt.Sprintf(`"a%d b"`, i))
			words = append(words, fmt.Sprintf("a%d b", i))
		}
		characters := strings.Repeat("音乐会", 100)
		split := characters[:300] + "・" + characters[300:]
		for i, title := range []string{
			strings.Join(words, " "), strings.Join(words[1:], " "), "a3 b", characters + "jazzy", characters + "jarring", characters, split,
		} {
			b.Mark.Position++
			b.Documents = append(b.Documents, record(&calendar.Record{
				ID: calendar.ID(100 + i), Kind: calendar.KindEvent, Version: 1, Home: calendar.LangFR, Changed: readmodeltest.Now,
				Fields: calendar.Fields{"title": calendar.Text{calendar.LangFR: title}},
			}, b.Mark.Position))
		}
		mustWrite(t, x, b)
		fields := []string{readmodel.FieldNameLower(calendar.LangEN), readmodel.FieldSlug}
		text := func(query string) readmodel.Text {
			return readmodel.Text{
				Fields: readmodel.SchemaOf(calendar.KindEvent).Texts(), Search: readmodel.ParseSearch(query, calendar.LangES),
				Spelling: readmodel.Spelling{Joined: true},
			}
		}
		for _, c := range []struct {
			kind calendar.Kind
			f    readmodel.Filter
		}{
			{calendar.KindTag, readmodel.Contains{Fields: fields, Value: long}},
			{calendar.KindTag, readmodel.Contains{Fields: fields, Value: strings.Repeat("a", 64)}},
			{calendar.KindTag, readmodel.Contains{Fields: fields, Value: strings.Repeat("ba", 200)}},
			{calendar.KindTag, readmodel.Contains{Fields: fields, Value: strings.Repeat("乐音", 250)}},
			{calendar.KindTag, readmodel.Contains{Fields: fields, Value: strings.Repeat("x", 500)}},
			{calendar.KindTag, readmodel.Contains{Fields: fields, Value: "*?\\"}},
			{calendar.KindTag, readmodel.Contains{Fields: fields}},
			{calendar.KindEvent, text(strings.Join(phrases, " "))},
			{calendar.KindEvent, text(strings.ReplaceAll(strings.Join(words, "  "), " b", "-b"))},
			{calendar.KindEvent, text("-" + strings.Join(phrases[:3], " -"))},
			{calendar.KindEvent, text(strings.Repeat("a1 b2 ", 80))},
			{calendar.KindEvent, text(strings.Repeat("é", 500))},
			{calendar.KindEvent, text(characters + "jazz")},
			{calendar.KindEvent, text("-" + characters + "jazz -" + characters[3:] + "jar")},
			{calendar.KindEvent, text(characters)},
			{calendar.KindEvent, text(split)},
		} {
			var want []calendar.ID
			for i := range b.Documents {
				if d := &b.Documents[i]; d.Record.Kind == c.kind && readmodel.Match(c.f, d) {
					want = append(want, d.Record.ID)
				}
			}
			p, err := search(t.Context(), x, readmodel.Query{Kind: c.kind, Filter: c.f, Limit: 50})
			if err != nil {
				t.Errorf("%.80v: %v", c.f, err)
				continue
			}
			var got []calendar.ID
			for _, d := range p.Documents {
				got = append(got, d.Record.ID)
			}
			if !cmp.Equal(want, got) {
				t.Errorf("%.80v: %v, want %v", c.f, got, want)
			}
		}
	})
}

// TestManyCounts: every value is counted, not the most frequent ones.
func TestManyCounts(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		const n = 10_500
		x := e.open(t, elastic.Options{Prefix: e.prefix(t)})
		mustWrite(t, x, tags(1, n))
		counts, err := countsOf(t.Context(), x, calendar.KindTag, readmodel.FieldID)
		if err != nil || len(counts) != n || counts[1] != 1 || counts[n] != 1 {
			t.Errorf("%d counts, %v; want %d", len(counts), err, n)
		}
		ids := make([]calendar.ID, 0, 70_000)
		for id := range calendar.ID(70_000) {
			ids = append(ids, 70_001-id-1)
		}
		p, err := search(t.Context(), x, readmodel.Query{Kind: calendar.KindTag, Filter: readmodel.In{Field: readmodel.FieldID, IDs: ids}})
		if err != nil || p.Total != n {
			t.Errorf("%d of %d ids, %v", p.Total, n, err)
		}
		got, err := readmodel.Get(t.Context(), x, ids)
		if err != nil || len(got) != n {
			t.Errorf("get: %d, %v", len(got), err)
		}
	})
}

// TestDeletedParts: a generation of which somebody deleted a part is not whole;
// the next one takes its place, has a name of its own and is gone back to, not to
// the broken one.
func TestDeletedParts(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		o := elastic.Options{Prefix: e.prefix(t), RefreshInterval: 20 * time.Millisecond}
		x := e.attach(t, e.url(t), o)
		whole := func(want bool) {
			t.Helper()
			if err := x.Sound(t.Context()); errors.Is(err, readmodel.ErrUnsound) == want || want && err != nil {
				t.Fatalf("sound: %v; want whole: %v", err, want)
			}
		}
		out := func() {
			t.Helper()
			_, search := search(t.Context(), x, readmodel.Query{Kind: calendar.KindTag})
			_, write := x.Write(t.Context(), tags(90, 91))
			for what, err := range map[string]error{"search": search, "write": write} {
				if !errors.Is(err, readmodel.ErrUnavailable) && !errors.Is(err, readmodel.ErrMoved) {
					t.Errorf("%s of a broken generation: %v", what, err)
				}
			}
			if _, err := x.Marks(t.Context()); lasting(err) {
				t.Errorf("position of a broken generation: %v", err)
			}
		}
		made := map[string]bool{}
		fill := func(n calendar.ID) {
			t.Helper()
			next, err := x.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			mustWrite(t, next, tags(1, n))
			if err := x.Promote(t.Context()); err != nil {
				t.Fatal(err)
			}
			whole(true)
			position(t, x, calendar.Position(n))
			if got := total(t, x); got != int(n) {
				t.Errorf("%d tags, want %d", got, n)
			}
			for index, aliases := range e.aliases(t, o.Prefix) {
				if slices.Contains(aliases, "state") {
					if made[index] {
						t.Errorf("%s was there before", index)
					}
					made[index] = true
				}
			}
		}
		whole(false) // it makes none by itself
		out()
		fill(3)
		part := func(collection string) string {
			t.Helper()
			for index, aliases := range e.aliases(t, o.Prefix) {
				if slices.Contains(aliases, collection) {
					return e.url(t) + "/" + index
				}
			}
			t.Fatalf("no index answers for %s", collection)
			return ""
		}
		ask(t, http.MethodDelete, part("tags"), "")
		whole(false)
		out()
		fill(4)
		if err := x.Back(t.Context()); !errors.Is(err, readmodel.ErrNoGeneration) {
			t.Errorf("back to the broken one: %v", err)
		}
		ask(t, http.MethodDelete, part("state"), "")
		whole(false)
		fill(5)
		ask(t, http.MethodDelete, part("venues")+"/_alias/"+o.Prefix+"-venues", "")
		whole(false)
		fill(6)
		if n := len(e.aliases(t, o.Prefix)); n != 6 {
			t.Errorf("%d indices are left, want 6", n)
		}
	})
}

// harms are what an operator, a foreign template or a full server does to an index, and
// what ends it.
func (e engine) harms(t *testing.T) map[string]struct{ do, undo func(index string) } {
	t.Helper()
	settings := func(body string) func(string) {
		return func(index string) {
			ask(t, http.MethodPut, e.url(t)+"/"+index+"/_settings", body)
		}
	}
	post := func(action string) func(string) {
		return func(index string) { ask(t, http.MethodPost, e.url(t)+"/"+index+"/"+action, "") }
	}
	return map[string]struct{ do, undo func(index string) }{
		"closed": {post("_close"), post("_open")},
		"pipeline of a foreign template": {
			settings(`{"index.default_pipeline":"` + run + `-none"}`), settings(`{"index.default_pipeline":null}`),
		},
		"block": {settings(`{"index.blocks.write":true}`), settings(`{"index.blocks.write":null}`)},
		"alias of two indices": {
			func(index string) {
				ask(t, http.MethodPut, e.url(t)+"/"+index+"-other", `{"aliases":{"`+index+`-write":{}},"settings":{"number_of_replicas":0}}`)
			},
			func(index string) { ask(t, http.MethodDelete, e.url(t)+"/"+index+"-other", "") },
		},
	}
}

// index returns the name of the index of a collection that answers.
func (e engine) index(t *testing.T, prefix, collection string) string {
	t.Helper()
	for index, aliases := range e.aliases(t, prefix) {
		if slices.Contains(aliases, collection) {
			return index
		}
	}
	t.Fatalf("no index answers for %s", collection)
	return ""
}

// TestGenerationOfNoUse: a coming generation that was cut off while it was made or filled, or
// that cannot be written, and one that answers and is damaged, are in the way of no rebuild.
func TestGenerationOfNoUse(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		o := elastic.Options{Prefix: e.prefix(t), RefreshInterval: 20 * time.Millisecond}
		p := e.proxy(t)
		n := calendar.ID(1)
		fill := func(what string) {
			t.Helper()
			x := e.attach(t, e.url(t), o) // another process
			next, err := x.Next(t.Context())
			if err != nil {
				t.Fatalf("%s: next: %v", what, err)
			}
			mustWrite(t, next, tags(1, n))
			if err := x.Promote(t.Context()); err != nil {
				t.Fatalf("%s: promote: %v", what, err)
			}
			position(t, x, calendar.Position(n))
			if err := x.Sound(t.Context()); err != nil || total(t, x) != int(n) {
				t.Errorf("%s: not sound: %v", what, err)
			}
			n++
		}
		x := e.attach(t, p.URL, o)
		p.set(func(r *http.Request, _ string) (int, string) {
			if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "-venues-") {
				return 503, `{"error":{"type":"x","reason":"y"},"status":503}`
			}
			return 0, ""
		})
		if _, err := x.Next(t.Context()); !errors.Is(err, readmodel.ErrUnavailable) {
			t.Fatalf("next without an index: %v", err)
		}
		p.set(nil)
		fill("cut off")
		for what, harm := range e.harms(t) {
			next, err := x.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			mustWrite(t, next, tags(90, 91))
			for index, aliases := range e.aliases(t, o.Prefix) {
				if len(aliases) == 0 && strings.HasPrefix(index, o.Prefix+"-"+[]string{"state", "events"}[len(what)%2]) {
					harm.do(index)
				}
			}
			fill(what)
		}
		for what, harm := range map[string]func(state string){
			"no position": func(state string) { ask(t, http.MethodDelete, e.url(t)+"/"+state+"/_doc/position", "") },
			"closed":      func(state string) { ask(t, http.MethodPost, e.url(t)+"/"+state+"/_close", "") },
		} {
			harm(e.index(t, o.Prefix, "state"))
			fill(what)
		}
	})
}

// lasting reports whether an error of a broken generation is none, or not to be waited
// out.
func lasting(err error) bool { return err != nil && !errors.Is(err, readmodel.ErrUnavailable) }

// history is that of an event store: the one of readmodeltest.At up to split, and one of
// its own from there to the head.
type history struct {
	own         byte
	split, head calendar.Position
	epoch       uint64
	failing     error
}

func (h *history) holds(_ context.Context, m calendar.Mark) (bool, error) {
	want := readmodeltest.At(m.Position)
	if m.Position > h.split {
		want.Hash[0] ^= h.own
	}
	return m == want && m.Position <= h.head, h.failing
}

func (h *history) first(context.Context) (calendar.Mark, error) {
	m := readmodeltest.At(1)
	if h.split == 0 {
		m.Hash[0] ^= h.own
	}
	return m, h.failing
}

// hands are those of a clock that is put forward.
type hands struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (h *hands) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.ahead)
}

func (h *hands) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ahead += d
}

// TestForeign: an index that was made from another history answers nothing and takes
// nothing: that of another store, one that lost its last entries, also when it has gone
// on past them, and one of which a writer was cut off before the position.
func TestForeign(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		prefix := e.prefix(t)
		now := &hands{}
		open := func(h *history) *elastic.Index {
			return e.open(t, elastic.Options{Prefix: prefix, Holds: h.holds, First: h.first, Epoch: func() uint64 { return h.epoch }, Now: now.now})
		}
		ours := &history{head: 99}
		a := open(ours)
		position(t, a, 0)
		mustWrite(t, a, tags(1, 3))

		foreign := func(what string, x *elastic.Index) {
			t.Helper()
			now.pass(time.Minute)
			_, search := search(t.Context(), x, readmodel.Query{Kind: calendar.KindTag})
			_, write := x.Write(t.Context(), tags(4, 5))
			_, at := x.Marks(t.Context())
			_, visible := x.Visible(t.Context())
			_, get := readmodel.Get(t.Context(), x, []calendar.ID{1})
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
		mustWrite(t, a, reached)
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
	})
}

// TestQuarantined: what probes ask for costs the engine no refresh, and processes that change
// the quarantine at the same time do not undo what the others did.
func TestQuarantined(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		p := e.proxy(t)
		x := e.through(t, p, elastic.Options{})
		quarantined := []readmodel.Quarantined{{ID: 7, Position: 2, Reason: "x"}}
		if _, err := x.Write(t.Context(), readmodel.Batch{Quarantined: quarantined, Mark: readmodeltest.At(2)}); err != nil {
			t.Fatal(err)
		}
		if err := x.Wait(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		before := p.count("_refresh")
		for range 10 {
			got, err := x.Quarantined(t.Context())
			if diff := cmp.Diff(quarantined, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		}
		if n := p.count("_refresh") - before; n != 0 {
			t.Errorf("%d refreshes, want none", n)
		}
		var writers sync.WaitGroup
		for id := range calendar.ID(5) {
			writers.Go(func() {
				b := readmodel.Batch{Quarantined: []readmodel.Quarantined{{ID: 10 + id, Position: 2}}, Healed: []calendar.ID{7}}
				if _, err := x.Write(t.Context(), b); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		if got, err := x.Quarantined(t.Context()); err != nil || len(got) != 5 || got[0].ID != 10 || got[4].ID != 14 {
			t.Errorf("quarantined: %v, %v", got, err)
		}
	})
}
