package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestPace: who is alone never waits, a crowd is waited for a while, and is
// forgotten when it does not come back.
func TestPace(t *testing.T) {
	t.Parallel()
	const cost = 400 * time.Microsecond
	p := Delay{Commits: 2}
	for range 100 {
		p.Note(1, cost)
	}
	if got := p.Most(); got != 0 {
		t.Errorf("one caller waits %s, want no wait", got)
	}
	p.Note(8, cost)
	if got := p.Most(); p.enough() != 8 || got < cost || got > 2*cost {
		t.Errorf("8 callers are waited for as %d for %s, want at most two commits of %s", p.enough(), got, cost)
	}
	for range 50 {
		p.Note(1, cost)
	}
	if got := p.Most(); got != 0 {
		t.Errorf("a crowd that went away is waited for %s", got)
	}
	for range 100 {
		p.Note(8, time.Second)
	}
	if got := p.Most(); got != maxDelay {
		t.Errorf("slow commits make it wait %s, want %s", got, maxDelay)
	}
}

// TestQueueTakes: a take ends when enough calls are there, else with its
// most, and at once when the queue is closed.
func TestQueueTakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		calls int
		items int // of each call
		most  time.Duration
		close bool
		takes time.Duration
		want  int
	}{
		{"nobody is waited for", 1, 1, 0, false, 0, 1},
		{"enough come in time", 3, 1, 2 * time.Millisecond, false, time.Millisecond, 3},
		{"too few come", 2, 1, 2 * time.Millisecond, false, 2 * time.Millisecond, 2},
		{"many items of one call are one call", 1, 50, 2 * time.Millisecond, false, 2 * time.Millisecond, 50},
		{"closed meanwhile", 1, 1, 2 * time.Millisecond, true, time.Millisecond / 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := New[*member](100, 1<<20)
				var wg sync.WaitGroup
				wg.Go(func() {
					for i := range c.calls {
						if i > 0 {
							<-time.After(time.Millisecond / 2)
						}
						q.Add(callOf(c.items))
					}
					if c.close {
						<-time.After(time.Millisecond / 2)
						q.Close()
					}
				})
				begin := time.Now()
				if q.Wait() {
					t.Error("the queue is over")
				}
				got := q.Take(&Delay{Commits: 1, cost: c.most, crowd: 3})
				if took := time.Since(begin); len(got) != c.want || took != c.takes {
					t.Errorf("got %d items after %s, want %d after %s", len(got), took, c.want, c.takes)
				}
				wg.Wait()
				if q.calls != 0 {
					t.Errorf("%d calls are left", q.calls)
				}
			})
		})
	}
}

type member struct {
	Part

	name string
}

// callOf gives so many members of one call.
func callOf(n int) []*member {
	out := make([]*member, n)
	for i := range out {
		out[i] = &member{name: fmt.Sprint(i)}
	}
	Begin(out)
	return out
}

// TestTakeBounds: a commit takes no more than so many members, and no more once
// they have so many bytes; the rest keeps its place.
func TestTakeBounds(t *testing.T) {
	t.Parallel()
	q := New[*member](3, 100)
	var all []*member
	for _, size := range []int{10, 10, 10, 60, 60, 60, 200, 1} {
		m := &member{Part: Sized(size)}
		all = append(all, m)
		Begin([]*member{m})
		if !q.Add([]*member{m}) {
			t.Fatal("an open queue takes no members")
		}
	}
	q.Close()
	if q.Add(callOf(1)) {
		t.Error("a closed queue takes members")
	}
	for _, want := range []int{3, 2, 2, 1} {
		if q.Wait() {
			t.Fatal("over with members left")
		}
		got := q.Take(&Delay{})
		if !slices.Equal(got, all[:want]) {
			t.Fatalf("%d members, want the next %d", len(got), want)
		}
		all = all[want:]
	}
	if !q.Wait() || q.Len() != 0 || q.Idle() {
		t.Error("not over when closed and empty")
	}
}

// TestCommit: who has gone is left out; a refused group is tried one by one; a
// lasting error is that of all; a call is answered when all its members are.
func TestCommit(t *testing.T) {
	t.Parallel()
	refused, broken := errors.New("refused"), errors.New("broken")
	for _, c := range []struct {
		name   string
		bad    map[string]error // of members
		gone   bool             // the second call
		want   []string         // writes
		failed []string
	}{
		{name: "all at once", want: []string{"a0 a1 b0 c0"}},
		{name: "one has gone", gone: true, want: []string{"a0 a1 c0"}},
		{
			name: "one is refused", bad: map[string]error{"a1": refused},
			want: []string{"a0 a1 b0 c0", "a0", "a1", "b0", "c0"}, failed: []string{"a1 refused"},
		},
		{
			name: "the engine is broken", bad: map[string]error{"b0": broken},
			want: []string{"a0 a1 b0 c0"}, failed: []string{"a0 broken", "a1 broken", "b0 broken", "c0 broken"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var all []*member
			var calls []*Call
			for i, n := range []int{2, 1, 1} {
				one := make([]*member, n)
				for j := range one {
					one[j] = &member{name: fmt.Sprint(string(rune('a'+i)), j)}
				}
				calls = append(calls, Begin(one))
				all = append(all, one...)
			}
			if got := Calls(all); got != 3 {
				t.Errorf("%d calls, want 3", got)
			}
			if c.gone {
				gone, cancel := context.WithCancel(t.Context())
				cancel()
				if err := calls[1].Wait(gone); !errors.Is(err, context.Canceled) {
					t.Fatalf("a caller that goes gets %v", err)
				}
			}
			var writes, failed []string
			Commit(all, func(group []*member) error {
				text := ""
				var err error
				for _, m := range group {
					text += " " + m.name
					if c.bad[m.name] != nil {
						err = c.bad[m.name]
					}
				}
				writes = append(writes, text[1:])
				return err
			}, func(err error) bool { return errors.Is(err, broken) }, func(m *member, err error) {
				failed = append(failed, fmt.Sprint(m.name, " ", err))
			})
			if !slices.Equal(writes, c.want) || !slices.Equal(failed, c.failed) {
				t.Errorf("wrote %q and failed %q, want %q and %q", writes, failed, c.want, c.failed)
			}
			for i, call := range calls {
				if err := call.Wait(t.Context()); err != nil {
					t.Errorf("call %d: %v", i, err)
				}
			}
		})
	}
}

// TestLater: what nobody waits for goes before the members of the next commit, alone
// when none comes in time, and before the queue is over; nobody waits for it.
func TestLater(t *testing.T) {
	t.Parallel()
	later := func(q *Queue[*member], name string) *member {
		m := &member{name: name}
		if !q.AddLater(m) {
			t.Error("an open queue takes no member")
		}
		return m
	}
	synctest.Test(t, func(t *testing.T) {
		q := New[*member](2, 1<<20)
		begin := time.Now()
		alone := []*member{later(q, "a"), later(q, "b"), later(q, "c")}
		if !q.Idle() || q.Wait() {
			t.Error("waits for somebody, or is over")
		}
		if got := q.Take(&Delay{Commits: 1, cost: time.Second, crowd: 3}); !slices.Equal(got, alone) || time.Since(begin) != Linger {
			t.Errorf("%d go alone after %s, want %d after %s", len(got), time.Since(begin), len(alone), Linger)
		}
		with := later(q, "d")
		members := callOf(2)
		q.Add(members)
		got := q.Take(&Delay{})
		if !slices.Equal(got, append([]*member{with}, members...)) {
			t.Errorf("%d members, want the one that nobody waits for and two", len(got))
		}
		if n := Calls(got); n != 1 {
			t.Errorf("%d calls, want 1", n)
		}
		last := later(q, "e")
		q.Close()
		if q.AddLater(&member{}) {
			t.Error("a closed queue takes a member")
		}
		if q.Wait() {
			t.Error("over with a member left")
		}
		if got := q.TakeLater(); !slices.Equal(got, []*member{last}) {
			t.Errorf("%d members are left, want 1", len(got))
		}
		if !q.Wait() {
			t.Error("not over when closed and empty")
		}
		Commit(got, func([]*member) error { return nil }, func(error) bool { return false }, nil)
	})
	p := Delay{Commits: 1, cost: time.Millisecond, crowd: 3}
	if before := p; func() bool { p.Note(0, time.Hour); return p != before }() {
		t.Error("a commit that nobody waited for changes the pace")
	}
}
