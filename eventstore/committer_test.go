package eventstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"daybook/calendar"
)

// appendOf returns an Append of one record.
func appendOf(id calendar.ID) Append {
	return Append{Drafts: []Draft{{Entry: Entry{
		Kind:    calendar.KindTag,
		ID:      id,
		Version: 1,
		Change:  "tag.changed",
		Fields:  []byte(`{}`),
		State:   []byte(`{}`),
	}}}}
}

// commits notes the ids of the commits of a committer, each of which takes some time.
type commits struct {
	takes time.Duration
	bad   map[calendar.ID]error
	seen  []string
	begun []time.Time
	cut   bool // one of them was cut off
}

func (commits *commits) commit(ctx context.Context, items []*Item) (*Group, error) {
	text := ""
	var err error
	for _, item := range items {
		id := item.Drafts[0].ID
		text += " " + id.String()
		err = errors.Join(err, commits.bad[id])
		item.Result = Result{Position: calendar.Position(id)}
	}
	commits.seen, commits.begun = append(commits.seen, text[1:]), append(commits.begun, time.Now())
	<-time.After(commits.takes)
	commits.cut = commits.cut || ctx.Err() != nil
	return &Group{}, err
}

func (commits *commits) start() *Committer {
	return NewCommitter(context.Background(), commits.commit, nil)
}

// TestDelay: one caller never waits; where callers come together each commit waits for as
// many as the last ones found, but not for long.
func TestDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := commits{takes: 400 * time.Microsecond}
		group := log.start()
		defer group.Close()
		together := func(n int) time.Duration {
			var callers sync.WaitGroup
			began := time.Now()
			for i := range n {
				callers.Go(func() { group.Append(t.Context(), appendOf(calendar.ID(i+1))) })
			}
			callers.Wait()
			return log.begun[len(log.begun)-1].Sub(began)
		}
		alone := func(why string, want time.Duration) {
			t.Helper()
			if waited := together(1); waited != want {
				t.Errorf("%s: waits %s, want %s", why, waited, want)
			}
		}
		for range 100 {
			alone("one caller", 0)
		}
		together(3) // the first of them alone
		log.seen = nil
		together(3)
		if !slices.ContainsFunc(log.seen, func(ids string) bool { return len(ids) > 1 }) {
			t.Errorf("three callers have the commits %q", log.seen)
		}
		group.crowd, log.seen = 3, nil
		if waited := together(3); waited != 0 || len(log.seen) != 1 {
			t.Errorf("all that are expected wait %s and have the commits %q", waited, log.seen)
		}
		alone("others may be late", maxDelay)
		alone("others may be late again", maxDelay)
		for range 50 {
			together(1)
		}
		alone("others have gone away", 0)
	})
}

// TestCommits: a commit takes no further items once it has so many bytes, and its error is
// that of all of them; those whose caller has gone are left out.
func TestCommits(t *testing.T) {
	t.Parallel()
	third := make([]byte, maxBytes/3+1)
	for _, c := range []struct {
		name string
		bad  map[calendar.ID]error
		want []string
		lost []calendar.ID
	}{
		{"some at a time", nil, []string{"1", "2 3 4", "5 7"}, nil},
		{"the engine is broken", map[calendar.ID]error{3: ErrUnavailable}, []string{"1", "2 3 4", "5 7"}, []calendar.ID{2, 3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log := commits{takes: time.Second, bad: c.bad}
				group := log.start()
				results := map[calendar.ID]Result{}
				var callers sync.WaitGroup
				var mutex sync.Mutex
				call := func(ctx context.Context, id calendar.ID) {
					callers.Go(func() {
						addition := appendOf(id)
						addition.Drafts[0].Fields = third
						got := group.Append(ctx, addition)
						mutex.Lock()
						defer mutex.Unlock()
						results[id] = got
					})
					synctest.Wait()
				}
				gone, cancel := context.WithCancel(t.Context())
				call(gone, 1) // it commits, and may go before it is answered
				call(t.Context(), 2)
				call(t.Context(), 3)
				call(t.Context(), 4)
				call(t.Context(), 5)
				call(gone, 6)
				call(t.Context(), 7)
				cancel()
				callers.Wait()
				if group.Close(); log.cut {
					t.Error("a commit was cut off")
				}
				delete(results, 1)
				if !slices.Equal(log.seen, c.want) {
					t.Errorf("commits %q, want %q", log.seen, c.want)
				}
				for id, res := range results {
					lost := slices.Contains(c.lost, id) || id == 6
					if (res.Err != nil) != lost || !lost && res.Position != calendar.Position(id) {
						t.Errorf("append %d is answered %+v", id, res)
					}
				}
				if res := group.Append(t.Context(), appendOf(8)); !errors.Is(res.Err, ErrClosed) {
					t.Errorf("a closed committer answers %+v", res)
				}
			})
		})
	}
}

// TestBounds: a commit takes no more once it has so many bytes or items, and one call always.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		percent []int // of maxBytes
		want    []int // items
	}{
		{[]int{1, 60, 60, 200, 10}, []int{1, 2, 1, 1}},
		{make([]int, 300), []int{1, maxItems, 299 - maxItems}},
	} {
		synctest.Test(t, func(t *testing.T) {
			log := commits{takes: time.Second}
			group := log.start()
			var callers sync.WaitGroup
			for id, percent := range tt.percent {
				a := appendOf(calendar.ID(id + 1))
				a.Drafts[0].Fields = make([]byte, percent*maxBytes/100)
				callers.Go(func() { group.Append(t.Context(), a) })
				synctest.Wait()
			}
			callers.Wait()
			group.Close()
			var got []int
			for _, ids := range log.seen {
				got = append(got, len(strings.Fields(ids)))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("commits of %d items, want %d", got, tt.want)
			}
		})
	}
}

// TestSignal: the head moves forward alone but to another history, each move wakes, and
// an erasure makes another epoch.
func TestSignal(t *testing.T) {
	t.Parallel()
	mark := func(position calendar.Position, hash byte) Mark {
		return Mark{Position: position, Hash: [32]byte{hash}}
	}
	signal := NewSignal(Head{Mark: mark(5, 5), UUID: [16]byte{9}})
	for _, step := range []struct {
		name  string
		do    func()
		moved bool
		want  string // position, hash, UUID, history, erasures
	}{
		{"at the start", func() {}, false, "5 5 9 1 0"},
		{"back", func() { signal.Move(mark(4, 4), false) }, false, "5 5 9 1 0"},
		{"forward", func() { signal.Move(mark(6, 6), false) }, true, "6 6 9 1 0"},
		{"an erasure", func() { signal.Move(Mark{}, true) }, true, "6 6 9 1 1"},
		{"another history", func() { signal.Reset(Head{Mark: mark(3, 7), UUID: [16]byte{8}}) }, true, "3 7 8 2 1"},
		{"closed", signal.Close, true, "3 7 8 2 1"},
		{"closed again", signal.Close, true, "3 7 8 2 1"},
		{"after that", func() { signal.Move(mark(9, 9), true) }, true, "3 7 8 2 1"},
	} {
		before := signal.Head().Moved
		step.do()
		moved := false
		select {
		case <-before:
			moved = true
		default:
		}
		head := signal.Head()
		if got := fmt.Sprint(head.Position, head.Hash[0], head.UUID[0], head.Epoch.History, head.Epoch.Erasures); got != step.want || moved != step.moved || signal.Epoch() != head.Epoch {
			t.Errorf("%s: %s, moved %t, want %s, %t", step.name, got, moved, step.want, step.moved)
		}
	}
}
