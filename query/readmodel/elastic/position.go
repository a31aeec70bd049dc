package elastic

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"daybook/calendar"
	"daybook/query/readmodel"
)

type timeOf = time.Time

// view is what is known of the generation that answers.
type view struct {
	gen     generation
	marks   readmodel.Marks // that are kept
	origin  calendar.Mark   // see Options.First
	heals   int64
	visible readmodel.Shown // what searches show
	at      time.Time       // when generation and marks were read
	shown   time.Time       // when visible was what is kept
}

// kept is what searches show after a refresh.
func (v *view) kept() readmodel.Shown {
	return readmodel.Shown{Mark: v.marks.All, Content: uint64(calendar.HashStart.Text(v.gen.String()).Number(uint64(v.heals)))}
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
			return !v.at.Before(since) || v.visible.Position >= want
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
	if err != nil && !errors.Is(err, readmodel.ErrForeign) {
		return view{}, err
	}
	if err != nil {
		v = view{} // what was seen before is not true any more
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen = v
	return v, err
}

// read reads the view; see look.
func (x *Index) read(ctx context.Context, want calendar.Position) (view, error) {
	at := x.o.Now()
	v, err := x.state(ctx)
	if err != nil {
		return v, err
	}
	v.at = at
	kept := v.kept()
	if was := x.present(); was.gen == v.gen && was.visible.Position <= kept.Position {
		v.visible, v.shown = was.visible, was.shown
	}
	if v.visible != kept && kept.Position >= want {
		if err := x.refresh(ctx, x.names().all(v.gen)...); err != nil {
			return v, err
		}
		v.visible = kept
	}
	if v.visible == kept {
		v.shown = v.at
	}
	return v, nil
}

func (x *Index) refresh(ctx context.Context, indices ...string) error {
	return x.c.do(ctx, x.o.Timeout, "refresh", esapi.IndicesRefreshRequest{Index: indices}, nil)
}

// state reads which generation answers, and its marks: one read by ids, which needs
// no refresh.
func (x *Index) state(ctx context.Context) (view, error) {
	x.mu.Lock()
	fixed := x.fixed
	x.mu.Unlock()
	name := x.names().live(stateName)
	if !fixed.isZero() {
		name = x.names().index(stateName, fixed)
	}
	v, err := x.stateOf(ctx, name)
	if err == nil {
		err = x.compare(ctx, &v)
	}
	return v, err
}

// stateOf reads the marks of a generation by a name of its state.
func (x *Index) stateOf(ctx context.Context, name string) (view, error) {
	var v view
	var a struct {
		Docs []struct {
			Index   string `json:"_index"`
			Version int64  `json:"_version"`
			Found   bool   `json:"found"`
			Error   *struct {
				Type   string `json:"type"`
				Reason string `json:"reason"`
			} `json:"error"`
			Source struct {
				Position calendar.Position `json:"position"`
				Hash     string            `json:"hash"`
			} `json:"_source"`
		} `json:"docs"`
	}
	const what = "read the position"
	err := x.c.do(ctx, x.o.Timeout, what, esapi.MgetRequest{
		Index: name, Body: bytes.NewReader(encode(object{"ids": list{whatPosition, whatReach, whatOrigin, whatHeals}})),
	}, &a)
	if err != nil {
		return v, err
	}
	if len(a.Docs) != 4 {
		return v, fmt.Errorf("%s: %w: %d documents for 4", what, readmodel.ErrUnavailable, len(a.Docs))
	}
	for i := range a.Docs {
		if e := a.Docs[i].Error; e != nil {
			status := http.StatusServiceUnavailable
			switch e.Type {
			case kindNoIndex:
				status = http.StatusNotFound
			case kindClosed:
				status = http.StatusBadRequest
			}
			return v, fmt.Errorf("%s: %w", what, translate(&serverError{status: status, kind: e.Type, reason: e.Reason}))
		}
	}
	if !a.Docs[0].Found {
		return v, fmt.Errorf("%s: %w: %s has none", what, errNoPosition, name)
	}
	var ok bool
	if _, v.gen, ok = x.names().parse(a.Docs[0].Index); !ok {
		return v, fmt.Errorf("%s: %w: %s stands for %s", what, readmodel.ErrUnavailable, name, a.Docs[0].Index)
	}
	for i, m := range [...]*calendar.Mark{&v.marks.All, &v.marks.Reach, &v.origin} {
		m.Position = a.Docs[i].Source.Position
		hash, err := hex.DecodeString(a.Docs[i].Source.Hash)
		if err != nil {
			return v, fmt.Errorf("%s: %w: hash: %w", what, readmodel.ErrUnavailable, err)
		}
		copy(m.Hash[:], hash)
	}
	if v.marks.Reach.Position < v.marks.All.Position {
		v.marks.Reach = v.marks.All
	}
	v.heals = a.Docs[3].Version
	return v, nil
}

// errNoPosition says that a generation has lost its position, or was cut off before it
// had one: only another generation mends that.
var errNoPosition = fmt.Errorf("%w: generation without a position", readmodel.ErrUnavailable)

// held is what the event store was found to hold.
type held struct {
	gen   generation
	reach calendar.Mark
	epoch uint64
}

// compare makes sure that a generation was made from the history of the event store.
// That is asked after the index was read: what is there was in the store before.
func (x *Index) compare(ctx context.Context, v *view) error {
	if x.o.Holds == nil || v.marks.Reach.Position == 0 || !v.gen.current() {
		return nil
	}
	now := held{v.gen, v.marks.Reach, x.o.Epoch()}
	x.mu.Lock()
	known := x.held
	x.mu.Unlock()
	if known == now {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, x.o.Timeout)
	defer cancel()
	holds, err := x.o.Holds(within, now.reach)
	if err != nil {
		if known.gen == now.gen && known.epoch == now.epoch && ctx.Err() == nil {
			return nil // the store is away, and was of this history
		}
		return fmt.Errorf("%w: ask the event store for entry %d: %w", readmodel.ErrUnavailable, now.reach.Position, err)
	}
	if !holds {
		if v.origin.Position > 0 {
			if ours, err := x.o.Holds(within, v.origin); err == nil && !ours {
				return readmodel.ErrOtherStore
			}
		}
		return readmodel.ErrForeign
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.held = now
	return nil
}

// Marks gives the marks that are kept in the generation that answers now, and binds
// the writer to that generation.
func (x *Index) Marks(ctx context.Context) (readmodel.Marks, error) {
	v, err := x.look(ctx, x.o.Now(), noRefresh)
	if err != nil {
		return readmodel.Marks{}, err
	}
	x.bind(v)
	return v.marks, nil
}

// bind binds the writer to a generation.
func (x *Index) bind(v view) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.bound, x.reach, x.origin = v.gen, v.marks.Reach, v.origin
}

// Visible gives what queries show, as of Options.RefreshInterval ago or later: most
// calls cost nothing. Its position can go back when another generation comes to
// answer.
func (x *Index) Visible(ctx context.Context) (readmodel.Shown, error) {
	if s := stillOf(ctx); s != nil {
		return s.view.visible, nil
	}
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
		if x.present().visible.Position >= p {
			return ctx.Err()
		}
		x.mu.Lock()
		moved := x.moved
		x.mu.Unlock()
		v, err := x.look(ctx, since, p)
		if err != nil {
			return err
		}
		if v.visible.Position >= p {
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

// forget makes the next look a new one: another generation answers, or a record was
// healed.
func (x *Index) forget() {
	x.mu.Lock()
	x.seen.at, x.seen.shown = time.Time{}, time.Time{}
	x.mu.Unlock()
	x.wake()
}

// Moved waits until another generation answers than the one that the writer is
// bound to, and gives nil then: the writer has to read Marks again. Promote,
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

// Quarantined gives the quarantined records, kept in the index, by id, the latest included.
func (x *Index) Quarantined(ctx context.Context) ([]readmodel.Quarantined, error) {
	return x.quarantined(ctx, true)
}

// QuarantinedLately is Quarantined for less: without what came within the last
// Options.RefreshInterval, and without a refresh.
func (x *Index) QuarantinedLately(ctx context.Context) ([]readmodel.Quarantined, error) {
	return x.quarantined(ctx, false)
}

func (x *Index) quarantined(ctx context.Context, latest bool) ([]readmodel.Quarantined, error) {
	var out []readmodel.Quarantined
	err := x.reading(ctx, func(v view) error {
		out = nil
		index := x.names().index(stateName, v.gen)
		if latest {
			if err := x.refresh(ctx, index); err != nil {
				return err
			}
		}
		return x.walk(ctx, index, object{"query": term(fieldWhat, whatQuarantined), "sort": byID}, scanPage, func(h *hit) (bool, error) {
			var p struct {
				ID       calendar.ID       `json:"id"`
				Position calendar.Position `json:"position"`
				Reason   string            `json:"reason"`
			}
			if err := json.Unmarshal(h.Source, &p); err != nil {
				return false, fmt.Errorf("read quarantined record %s: %w", h.ID, err)
			}
			out = append(out, readmodel.Quarantined(p))
			return true, nil
		})
	})
	return out, err
}
