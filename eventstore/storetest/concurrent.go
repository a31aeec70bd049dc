package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
)

// atOnce runs count functions at the same time and waits for them.
func atOnce(count int, do func(i int)) {
	start := make(chan struct{})
	var running sync.WaitGroup
	for i := range count {
		running.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	running.Wait()
}

// race is a case in which writers append at the same time what a row of the script
// says. One of them is to win, the others are to be answered that they lost; <writer> is
// the winner there.
func race(row, lost string) func(t testing.TB, harness Harness) {
	return func(t testing.TB, harness Harness) {
		fixture := setup(t, harness)
		const writers = 16
		for round := range 5 {
			fill := func(text string, writer int) string {
				return strings.NewReplacer("<writer>", strconv.Itoa(100*round+writer+1), "<round>", strconv.Itoa(round), "<entry>", strconv.Itoa(round+1)).Replace(text)
			}
			answers := make([]string, writers)
			atOnce(writers, func(i int) { answers[i] = strings.Join(fixture.answers("-", fill(row, i)), "") })
			winner := -1
			for i, answer := range answers {
				if answer == strconv.Itoa(round+1) {
					winner = i
				}
			}
			for i, answer := range answers {
				if want := fill(lost, winner); i != winner && answer != want {
					fixture.Errorf("round %d: writer %d is answered %s, want %s", round, i, answer, want)
				}
			}
			if fixture.readings(); fixture.Failed() {
				return
			}
		}
	}
}

// together: a reader that asks for what is after its position sees every entry once and
// in order while 64 writers append, and none that the head has not reached. Each writer
// reads what it wrote, and harms none when it loses.
func together(t testing.TB, harness Harness) {
	fixture := setup(t, harness)
	const writers, each = 64, 12
	fixture.row("tag:9999.0 +held => 1")
	ctx, cancel := fixture.patient()
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() {
		for position := calendar.Position(1); position < writers*each+1; {
			page, err := fixture.store.Read(ctx, eventstore.Range{After: uint64(position), Limit: 50, Recent: true})
			if err == nil && len(page) == 0 {
				_, err = eventstore.Wait(ctx, fixture.store, position)
			}
			for i := range page {
				if position++; page[i].Position != position {
					err = fmt.Errorf("entry %d was read", page[i].Position)
				}
			}
			head, headErr := fixture.store.Head(ctx, eventstore.Point{})
			if err = errors.Join(err, headErr); err != nil || head.Position < position {
				fixture.Errorf("the reader is at %d, the head at %d: %v", position, head.Position, err)
				return
			}
		}
	})
	atOnce(writers, func(weight int) {
		var before calendar.Position
		for count := range each {
			if weight%4 == 0 {
				row := fmt.Sprintf("tag:%d.0 +held", 1000+weight)
				if answer := fixture.answers("-", row); answer[0] != "claim s/held is held by 9999" {
					fixture.Errorf("%s: %s", row, answer)
				}
			}
			id := calendar.ID(weight + 1)
			result := fixture.one(fixture.parse(fmt.Sprintf("tag:%d.%d +c%d", id, count, id))[0])
			states, err := fixture.store.Load(fixture.ctx, id)
			if err = errors.Join(result.Err, err); err != nil {
				fixture.Errorf("writer %d: %v", weight, err)
				return
			}
			if result.Position <= before || states[0].Position != result.Position || states[0].Version != int64(count+1) {
				fixture.Errorf("writer %d wrote entry %d after %d; it reads %+v", weight, result.Position, before, states[0])
			}
			before = result.Position
		}
	})
	running.Wait()
	if log := fixture.readings(); len(log) != writers*each+1 {
		fixture.Errorf("the log has %d entries, want %d", len(log), writers*each+1)
	}
}

func freshIDs(t testing.TB, harness Harness) {
	fixture := setup(t, harness)
	var mutex sync.Mutex
	given := map[calendar.ID]bool{}
	atOnce(16, func(int) {
		for range 20 {
			id, err := fixture.store.NewID(fixture.ctx)
			mutex.Lock()
			if err != nil || id <= 0 || given[id] {
				fixture.Errorf("NewID returns %d, %v; it was returned before: %t", id, err, given[id])
			}
			given[id] = true
			mutex.Unlock()
		}
	})
	// Nor are those that came from elsewhere, after a restart too.
	fixture.row("tag:5000.0 => 1")
	for range 2 {
		if id := fixture.newID(); id <= 5000 {
			fixture.Errorf("NewID returns %d after 5000 was used", id)
		}
		fixture.reopen()
	}
}

// asked is a store that says when it was asked for its head.
type asked struct {
	eventstore.Store

	head chan struct{}
}

func (asked *asked) Head(ctx context.Context, point eventstore.Point) (eventstore.Head, error) {
	defer func() { asked.head <- struct{}{} }()
	return asked.Store.Head(ctx, point)
}

func waiting(t testing.TB, harness Harness) {
	fixture := setup(t, harness)
	ended, cancel := context.WithCancel(fixture.ctx)
	cancel()
	type outcome struct {
		head calendar.Position
		err  error
	}
	const waiters = 5
	woken := make(chan outcome, waiters)
	wait := func(count int, after calendar.Position) { // returns when count wait
		store := &asked{fixture.store, make(chan struct{}, 10*count)}
		for range count {
			go func() {
				ctx, cancel := fixture.patient()
				defer cancel()
				head, err := eventstore.Wait(ctx, store, after)
				woken <- outcome{head.Position, err}
			}()
		}
		for range count {
			<-store.head
		}
	}
	expect := func(what string, got outcome, head calendar.Position, err error) {
		fixture.Helper()
		if err == nil && got.head != head || !errors.Is(got.err, err) {
			fixture.Errorf("%s: Wait returns %d, %v, want %d, %v", what, got.head, got.err, head, err)
		}
	}
	now := func(ctx context.Context, after calendar.Position) outcome {
		head, err := eventstore.Wait(ctx, fixture.store, after)
		return outcome{head.Position, err}
	}
	expect("on an empty store", now(ended, 0), 0, context.Canceled)
	wait(waiters, 0)
	fixture.row("tag:1.0 => 1")
	for range waiters {
		expect("for the first entry", <-woken, 1, nil)
	}
	expect("behind the head", now(fixture.ctx, 0), 1, nil)
	expect("at the head", now(ended, 1), 1, context.Canceled)
	wait(1, 1)
	fixture.row("7/k/1/1@1 => 1") // it moves no head
	fixture.row("tag:2.0 => 2")
	expect("for the next entry", <-woken, 2, nil)
	wait(1, 2)
	fixture.row("erase tag:1.1 => 3")
	expect("for an erasure", <-woken, 3, nil)
	wait(1, 3)
	fixture.reopen()
	expect("on a closed store", <-woken, 0, eventstore.ErrClosed)
	expect("after a restart", now(fixture.ctx, 2), 3, nil)
}

// calls returns the errors of the methods of a store.
func (fixture *fixture) calls(ctx context.Context) map[string]error {
	claims := []calendar.Claim{{Space: "s", Key: "a"}}
	store, errs := fixture.store, map[string]error{}
	for _, row := range []string{"tag:1.1", "7/k/1/1@1", "-"} {
		errs["Append of "+row] = store.Append(ctx, fixture.parse(row)[0]).Err
	}
	_, errs["Receipt"] = store.Receipt(ctx, 7, "k")
	errs["Sync"] = store.Sync(ctx)
	_, errs["NewID"] = store.NewID(ctx)
	_, errs["Load"] = store.Load(ctx, 1)
	_, errs["At"] = store.At(ctx, eventstore.Point{Position: 1}, 1)
	_, errs["Find"] = store.Find(ctx, eventstore.Lookup{Claims: claims, Names: claims, Slugs: claims, Signed: eventstore.Range{Limit: 1}})
	_, errs["Records"] = store.Records(ctx, 0, 0, 1)
	_, errs["Read"] = store.Read(ctx, eventstore.Range{Limit: 1})
	_, errs["Read of leaves"] = store.Read(ctx, eventstore.Range{Limit: 1, Leaves: true})
	_, errs["Head of a point"] = store.Head(ctx, eventstore.Point{Position: 1})
	return errs
}

// endedContexts: those that ended before a call end it, and those that end during calls
// leave the store whole.
func endedContexts(t testing.TB, harness Harness) {
	fixture := setup(t, harness)
	fixture.row("tag:1.0 => 1")
	ended, cancel := context.WithCancel(fixture.ctx)
	cancel()
	for method, err := range fixture.calls(ended) {
		if !errors.Is(err, context.Canceled) {
			fixture.Errorf("%s: %v, want context.Canceled", method, err)
		}
	}
	fixture.row("tag:2.0 => 2")
	atOnce(32, func(i int) {
		ctx, cancel := context.WithCancel(fixture.ctx)
		defer cancel()
		if i%2 == 0 {
			go cancel()
		}
		id := calendar.ID(i + 10)
		result := fixture.store.Append(ctx, fixture.parse(fmt.Sprintf("tag:%d.0", id))[0])
		if result.Err != nil && (i%2 == 1 || !errors.Is(result.Err, context.Canceled)) {
			fixture.Errorf("append %d: %v", i, result.Err)
		}
		states, err := fixture.store.Load(fixture.ctx, id)
		if err != nil || result.Err == nil && (states[0].Version != 1 || states[0].Position != result.Position) {
			fixture.Errorf("append %d is answered %+v; Load returns %+v, %v", i, result, states, err)
		}
	})
	fixture.readings()
}

func closed(t testing.TB, harness Harness) {
	fixture := setup(t, harness)
	fixture.row("tag:1.0 +a => 1")
	for range 2 {
		fixture.must("Close", fixture.store.Close())
	}
	errs := fixture.calls(fixture.ctx)
	_, errs["Head"] = fixture.store.Head(fixture.ctx, eventstore.Point{})
	_, errs["Wait"] = eventstore.Wait(fixture.ctx, fixture.store, 1)
	for method, err := range errs {
		if !errors.Is(err, eventstore.ErrClosed) {
			fixture.Errorf("%s: %v, want ErrClosed", method, err)
		}
	}
}
