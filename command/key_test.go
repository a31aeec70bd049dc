package command_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
)

// TestKey: keys of requests whose record was erased, and of callers whose role has changed.
func TestKey(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	create := write{op: "create venue", caller: author, in: `{"venue":"Hall","image":"https://a.example/i.png"}`, key: "k"}
	first := bench.must(create)
	create.caller.Role = calendar.Contributor // who may not name images by their URLs
	again := bench.must(create)
	if text := cmp.Diff(first.Record, again.Record, cmpopts.IgnoreFields(calendar.Record{}, "Rendered")); text != "" || !again.Replayed || again.Position != first.Position {
		t.Errorf("replayed %t, position %d, want %d; record (-first +again):\n%s", again.Replayed, again.Position, first.Position, text)
	}
	if _, err := bench.Erase(t.Context(), command.Request{Kind: first.Record.Kind, Target: command.Target{ID: first.Record.ID}}); err != nil {
		t.Fatal(err)
	}
	if res, err := bench.do(create); refusal(err) != "rest_record_erased" {
		t.Errorf("after the erasure: got %+v, %v", res, err)
	}
}

// together runs n calls at once on two services on one store, as two processes have. The store
// is slow, so calls that run together have all decided before the first of them is appended.
func (bench *bench) together(n int, call func(service *command.Service, i int) (command.Result, error)) ([]command.Result, []error) {
	bench.t.Helper()
	services := [2]*command.Service{newService(slow{bench.store}), newService(slow{bench.store})}
	out, errs := make([]command.Result, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { out[i], errs[i] = call(services[i%2], i) })
	}
	group.Wait()
	return out, errs
}

// slow is a store in a synctest bubble where an Append takes a while.
type slow struct{ eventstore.Store }

func (slow slow) Append(ctx context.Context, addition eventstore.Append) eventstore.Result {
	<-time.After(time.Millisecond)
	return slow.Store.Append(ctx, addition)
}

// count returns how many records of a kind there are.
func (bench *bench) count(kind calendar.Kind) int {
	bench.t.Helper()
	states, err := bench.store.Records(bench.t.Context(), kind, 0, 100)
	if err != nil {
		bench.t.Fatal(err)
	}
	return len(states)
}

func TestTogether(t *testing.T) {
	t.Parallel()
	const n = 8
	for name, play := range map[string]func(t *testing.T, b *bench){
		"updates of one record all apply": func(t *testing.T, b *bench) {
			t.Helper()
			b.must(event("e", ""))
			_, errs := b.together(n, func(service *command.Service, i int) (command.Result, error) {
				return service.Update(t.Context(), b.request(write{op: "update event", on: "e", caller: editor, in: fmt.Sprintf(`{"excerpt":"%d"}`, i)}))
			})
			if v := b.stored("e").Version; errors.Join(errs...) != nil || v != n+1 {
				t.Errorf("version %d, want %d, %v", v, n+1, errors.Join(errs...))
			}
		},
		"with If-Match one wins": func(t *testing.T, b *bench) {
			t.Helper()
			b.must(event("e", ""))
			_, errs := b.together(n, func(service *command.Service, _ int) (command.Result, error) {
				return service.Update(t.Context(), b.request(write{op: "update event", on: "e", caller: editor, ifMatch: []int64{1}}))
			})
			lost := 0
			for _, err := range errs {
				if refusal(err) == "rest_precondition_failed" {
					lost++
				} else if err != nil {
					t.Error(err)
				}
			}
			if lost != n-1 || b.stored("e").Version != 2 {
				t.Errorf("%d lost, want %d; version %d", lost, n-1, b.stored("e").Version)
			}
		},
		"equal titles get slugs of their own, and what they name is made once": func(t *testing.T, b *bench) {
			t.Helper()
			request := b.request(event("", `"venue":{"venue":"Hall"},"tags":["New"],"image":"https://a.example/i.png"`))
			results, errs := b.together(n, func(service *command.Service, _ int) (command.Result, error) {
				return service.Create(t.Context(), request)
			})
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, res := range results {
				seen[res.Record.Slug()] = true
			}
			if len(seen) != n || b.count(calendar.KindVenue) != 1 || b.count(calendar.KindTag) != 1 || b.count(calendar.KindImage) != 1 {
				t.Errorf("%d slugs, %d venues, %d tags, %d images", len(seen), b.count(calendar.KindVenue), b.count(calendar.KindTag), b.count(calendar.KindImage))
			}
		},
		"one name is made once, whatever the slugs": func(t *testing.T, b *bench) {
			t.Helper()
			_, _ = b.together(2*n, func(service *command.Service, i int) (command.Result, error) {
				slug := `"slug":"slug-` + strconv.Itoa(i) + `"`
				return service.Create(t.Context(), b.request([]write{
					term("tag", "", `{"name":"Jazz",`+slug+`}`), venue("", `{"venue":"Hall",`+slug+`}`),
					event("", slug+`,"venue":{"venue":"Hall"},"tags":["Jazz"]`), event("", slug+`,"venue":{"venue":"Hall"},"tags":["Jazz"]`),
				}[i%4]))
			})
			if b.count(calendar.KindEvent) == 0 || b.count(calendar.KindVenue) != 1 || b.count(calendar.KindTag) != 1 {
				t.Errorf("%d events, %d venues, %d tags", b.count(calendar.KindEvent), b.count(calendar.KindVenue), b.count(calendar.KindTag))
			}
		},
		"one key writes once": func(t *testing.T, b *bench) {
			t.Helper()
			created := event("", "")
			created.key = "k"
			request := b.request(created)
			before := b.head()
			results, errs := b.together(n, func(service *command.Service, _ int) (command.Result, error) {
				return service.Create(t.Context(), request)
			})
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			first := 0
			for _, res := range results {
				if !res.Replayed {
					first++
				}
				if res.Record.ID != results[0].Record.ID || res.Position != results[0].Position {
					t.Errorf("answers %d at %d and %d at %d", res.Record.ID, res.Position, results[0].Record.ID, results[0].Position)
				}
			}
			if first != 1 || b.head() != before+1 {
				t.Errorf("%d wrote, %d entries", first, b.head()-before)
			}
		},
		"categories never end in a cycle, children never below a deleted one": func(t *testing.T, b *bench) {
			t.Helper()
			const n = 20
			for i := range n {
				b.must(term("category", "c"+strconv.Itoa(i), `{"name":"c`+strconv.Itoa(i)+`"}`))
			}
			_, errs := b.together(4*n, func(service *command.Service, i int) (command.Result, error) {
				on := "c" + strconv.Itoa(i%n)
				if i%16 == 15 {
					return service.Delete(t.Context(), b.request(write{op: "delete category", on: on, caller: editor}))
				}
				return service.Update(t.Context(), b.request(write{op: "update category", on: on, caller: editor, in: fmt.Sprintf(`{"parent":{{c%d}}}`, (i%n+i/n*5+1)%n)}))
			})
			for _, err := range errs {
				switch text := refusal(err); text {
				case "", "not-found", "rest_invalid_param parent=unknown_category", "rest_unavailable":
				default:
					t.Error(text)
				}
			}
			checkInvariants(t.Context(), t, b.store)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { play(t, setup(t)) })
		})
	}
}

// TestChildOfADeletedCategory: a category that is put below one while that is deleted is
// moved up with the other children, and one that comes later is refused.
func TestChildOfADeletedCategory(t *testing.T) {
	t.Parallel()
	for name, mine := range map[string]write{
		"deleted": {op: "delete category", on: "parent", caller: editor},
		"moved":   {op: "update category", on: "child", caller: editor, in: `{"parent":{{parent}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bench := setup(t)
			bench.must(term("category", "parent", `{"name":"Music"}`))
			bench.must(term("category", "child", `{"name":"Jazz"}`))
			bench.must(term("category", "other", `{"name":"Blues"}`))
			other := write{op: "update category", on: "other", caller: editor, in: `{"parent":{{parent}}}`}
			if name == "moved" {
				other = write{op: "delete category", on: "parent", caller: editor}
			}
			service := newService(&beforeAppend{Store: bench.store, do: func() { bench.must(other) }})
			if name == "deleted" {
				if _, err := service.Delete(t.Context(), bench.request(mine)); err != nil {
					t.Error(err)
				}
			} else if _, err := service.Update(t.Context(), bench.request(mine)); refusal(err) != "rest_invalid_param parent=unknown_category" {
				t.Errorf("got %q", refusal(err))
			}
			checkInvariants(t.Context(), t, bench.store)
		})
	}
}

// TestFoundIsDurable: an equal place is answered when it is durable.
func TestFoundIsDurable(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	bench.must(venue("v", `{"venue":"Hall"}`))
	service := newService(unsynced{bench.store})
	if _, err := service.Create(t.Context(), bench.request(venue("", `{"venue":"Hall"}`))); refusal(err) != "rest_unavailable" {
		t.Errorf("got %q", refusal(err))
	}
}

// unsynced is a store that cannot make durable what can be read.
type unsynced struct{ eventstore.Store }

func (unsynced) Sync(context.Context) error { return eventstore.ErrUnavailable }

// TestKeyOfAnotherProcess: the same request at two processes is carried out by one;
// the other, which looked for the key before and would refuse it now, returns the
// same answer.
func TestKeyOfAnotherProcess(t *testing.T) {
	t.Parallel()
	for _, sent := range []write{
		{op: "create tag", in: `{"name":"Open air"}`},
		{op: "update event", on: "e", in: `{"title":"y"}`, ifMatch: []int64{1}},
		{op: "update tag", on: "gone", in: `{"name":"Outside"}`},
		{op: "update event", on: "e", in: `{"tags":["gone"]}`, caller: author},
	} {
		t.Run(sent.op+" "+sent.in, func(t *testing.T) {
			t.Parallel()
			bench := setup(t)
			bench.must(write{op: "create event", as: "e", caller: author, in: `{"title":"x","start_date":"2026-07-04","end_date":"2026-07-04"}`})
			bench.must(term("tag", "gone", `{"name":"gone"}`))
			if sent.key = "k"; sent.caller == (calendar.Caller{}) {
				sent.caller = editor
			}
			var first command.Result
			slower := newService(&between{Store: bench.store, then: func() {
				first = bench.must(sent)
				bench.must(write{op: "delete tag", on: "gone", caller: editor})
			}})
			do := slower.Create
			if sent.on != "" {
				do = slower.Update
			}
			second, err := do(t.Context(), bench.request(sent))
			if err != nil || !second.Replayed || second.Position != first.Position {
				t.Errorf("second: %v, replayed %t at %d, want the answer of %d", err, second.Replayed, second.Position, first.Position)
			}
			other := sent
			other.in = `{"name":"Outside","title":"z"}`
			if _, err := bench.do(other); refusal(err) != "rest_idempotency_key_reused" {
				t.Errorf("another request with the key: got %q", refusal(err))
			}
		})
	}
}

// between does something once, after the first look for a key.
type between struct {
	eventstore.Store
	once sync.Once
	then func()
}

func (between *between) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	receipt, err := between.Store.Receipt(ctx, user, key)
	between.once.Do(between.then)
	return receipt, err
}

func TestAttemptsEnd(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	service := newService(losing{bench.store})
	_, err := service.Create(t.Context(), bench.request(venue("", `{"venue":"Hall"}`)))
	if refusal(err) != "rest_unavailable" || !errors.Is(err, eventstore.ErrConflict) {
		t.Errorf("got %v", err)
	}
}

// losing is a store where another writer is always first.
type losing struct{ eventstore.Store }

func (losing) Append(context.Context, eventstore.Append) eventstore.Result {
	return eventstore.Result{Err: eventstore.ErrConflict}
}
