package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"daybook/calendar"
	"daybook/query/readmodel"
)

type timeOf = time.Time

// view is what is known of the generation that answers.
type view struct {
	gen      generation
	position calendar.Position // that is kept
	visible  calendar.Position // up to which searches show everything
	at       time.Time         // when generation and position were read
	shown    time.Time         // when visible was the position
}

// noRefresh asks look for generation and position alone.
const noRefresh = calendar.Position(math.MaxUint64)

func (x *Index) names() names { return names{x.o.Prefix} }

func (x *Index) present() view {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen
}

// look gives the view as of since or later: with want 0 all of it, with noRefresh
// all but visible; else it is enough that want is visible. Who finds it too old
// reads it anew, for all who wait: the kept position, and when that is at least
// want and not yet visible, one refresh of all indices makes it so. The position
// was read before the refresh and documents are written before their position, so
// searches then show everything up to it.
func (x *Index) look(ctx context.Context, since time.Time, want calendar.Position) (view, error) {
	enough := func(v view) bool {
		switch {
		case v.gen.isZero():
			return false
		case want == 0:
			return !v.shown.Before(since)
		default:
			return !v.at.Before(since) || v.visible >= want
		}
	}
	if v := x.present(); enough(v) {
		return v, ctx.Err()
	}
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-ctx.Done():
		return view{}, ctx.Err()
	}
	if v := x.present(); enough(v) {
		return v, ctx.Err()
	}
	v, err := x.read(ctx, want)
	if errors.Is(err, errGone) { // dropped between two requests: another one answers
		v, err = x.read(ctx, want)
	}
	if errors.Is(err, errGone) {
		err = fmt.Errorf("%w: %w", readmodel.ErrUnavailable, err)
	}
	if err != nil {
		return view{}, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen = v
	return v, nil
}

// read reads the view; see look.
func (x *Index) read(ctx context.Context, want calendar.Position) (view, error) {
	v := view{at: x.o.Now()}
	var err error
	if v.gen, v.position, err = x.kept(ctx); err != nil {
		return v, err
	}
	if was := x.present(); was.gen == v.gen {
		v.visible, v.shown = min(was.visible, v.position), was.shown
	}
	if v.position > v.visible && v.position >= want {
		if err := x.refresh(ctx, x.names().all(v.gen)...); err != nil {
			return v, err
		}
		v.visible = v.position
	}
	if v.visible == v.position {
		v.shown = v.at
	}
	return v, nil
}

func (x *Index) refresh(ctx context.Context, indices ...string) error {
	return x.c.do(ctx, x.o.WriteTimeout, "refresh", esapi.IndicesRefreshRequest{Index: indices}, nil)
}

// kept reads which generation answers, and its position: one read of the position
// by its id, which needs no refresh.
func (x *Index) kept(ctx context.Context) (generation, calendar.Position, error) {
	x.mu.Lock()
	fixed := x.fixed
	x.mu.Unlock()
	name := x.names().live(stateName)
	if !fixed.isZero() {
		name = x.names().index(stateName, fixed)
	}
	var a struct {
		Index  string `json:"_index"`
		Source struct {
			Position calendar.Position `json:"position"`
			Origin   string            `json:"origin"`
		} `json:"_source"`
	}
	err := x.c.do(ctx, x.o.Timeout, "read the position", esapi.GetRequest{Index: name, DocumentID: whatPosition}, &a)
	if err != nil {
		return generation{}, 0, err
	}
	_, g, ok := x.names().parse(a.Index)
	if !ok {
		return generation{}, 0, fmt.Errorf("read the position: %w: %s stands for %s", readmodel.ErrUnavailable, name, a.Index)
	}
	if a.Source.Origin != "" {
		// Asked for after the index was read: what is there was in the store before.
		origin, err := x.origin(ctx)
		if err != nil {
			return generation{}, 0, err
		}
		if x.o.Origin != nil && origin != a.Source.Origin {
			return generation{}, 0, ErrForeign
		}
	}
	return g, a.Source.Position, nil
}

// origin gives the name of the event store, "" while it has none.
func (x *Index) origin(ctx context.Context) (string, error) {
	x.mu.Lock()
	known := x.store
	x.mu.Unlock()
	if known != "" || x.o.Origin == nil {
		return known, nil
	}
	name, err := x.o.Origin(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: ask for the event store: %w", readmodel.ErrUnavailable, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.store = name
	return name, nil
}

// Position gives the position that is kept in the generation that answers now,
// and binds the writer to that generation.
func (x *Index) Position(ctx context.Context) (calendar.Position, error) {
	v, err := x.look(ctx, x.o.Now(), noRefresh)
	if err != nil {
		return 0, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.bound = v.gen
	return v.position, nil
}

// Visible gives the position up to which queries show everything, as of
// Options.RefreshInterval ago or later: most calls cost nothing. It can go back
// when another generation comes to answer.
func (x *Index) Visible(ctx context.Context) (calendar.Position, error) {
	v, err := x.look(ctx, x.o.Now().Add(-x.o.RefreshInterval), 0)
	return v.visible, err
}

// The waits between two looks at a position that has not come yet.
const (
	firstLook = 5 * time.Millisecond
	lastLook  = 100 * time.Millisecond
)

// Wait waits until Visible is at least p: until the kept position is, then for one
// refresh that all who wait share. While the engine is out of reach it gives
// ErrUnavailable at once.
func (x *Index) Wait(ctx context.Context, p calendar.Position) error {
	since := x.o.Now()
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		if x.present().visible >= p {
			return ctx.Err()
		}
		x.mu.Lock()
		moved := x.moved
		x.mu.Unlock()
		v, err := x.look(ctx, since, p)
		if err != nil {
			return err
		}
		if v.visible >= p {
			return nil
		}
		if err := pauseFor(ctx, pause, moved); err != nil {
			return err
		}
		since = x.o.Now()
		select {
		case <-moved:
		default: // a look that another one took during the pause is as good
			since = since.Add(-pause / 2)
		}
	}
}

// pauseFor waits until the time is over, the signal comes or the context ends.
func pauseFor(ctx context.Context, d time.Duration, signal <-chan struct{}) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-signal:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wake tells those who wait in this process that a position was written.
func (x *Index) wake() {
	x.mu.Lock()
	defer x.mu.Unlock()
	close(x.moved)
	x.moved = make(chan struct{})
}

// forget makes the next look a new one: another generation answers.
func (x *Index) forget() {
	x.mu.Lock()
	x.seen.at, x.seen.shown = time.Time{}, time.Time{}
	x.mu.Unlock()
	x.wake()
}

// Moved waits until another generation answers than the one that the writer is
// bound to, and gives nil then: the writer has to read Position again. Promote,
// Back and Reset of this Index are noticed at once, those of others within
// Options.RefreshInterval. Failures of the engine are waited out; the error is
// the context's.
func (x *Index) Moved(ctx context.Context) error {
	for {
		x.mu.Lock()
		bound, moved := x.bound, x.moved
		x.mu.Unlock()
		v, err := x.look(ctx, x.o.Now().Add(-x.o.RefreshInterval), noRefresh)
		if err == nil && !bound.isZero() && v.gen != bound {
			return nil
		}
		if err := pauseFor(ctx, x.o.RefreshInterval, moved); err != nil {
			return err
		}
	}
}

// Poisoned gives the poison kept in the index, by id, the latest included.
func (x *Index) Poisoned(ctx context.Context) ([]readmodel.Poison, error) {
	return x.poisoned(ctx, true)
}

// PoisonedLately is Poisoned for less: without what came within the last
// Options.RefreshInterval, and without a refresh.
func (x *Index) PoisonedLately(ctx context.Context) ([]readmodel.Poison, error) {
	return x.poisoned(ctx, false)
}

func (x *Index) poisoned(ctx context.Context, latest bool) ([]readmodel.Poison, error) {
	var out []readmodel.Poison
	err := x.reading(ctx, func(v view) error {
		out = nil
		index := x.names().index(stateName, v.gen)
		if latest {
			if err := x.refresh(ctx, index); err != nil {
				return err
			}
		}
		return x.walk(ctx, index, object{"query": term(fieldWhat, whatPoison), "sort": byID}, scanPage, func(h *hit) (bool, error) {
			var p struct {
				ID       calendar.ID       `json:"id"`
				Position calendar.Position `json:"position"`
				Reason   string            `json:"reason"`
			}
			if err := json.Unmarshal(h.Source, &p); err != nil {
				return false, fmt.Errorf("read poison %s: %w", h.ID, err)
			}
			out = append(out, readmodel.Poison(p))
			return true, nil
		})
	})
	return out, err
}
