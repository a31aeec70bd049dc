package elastic

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// state is what is known of a generation.
type state struct {
	generation generation
	marks      readmodel.Marks // stored in it
	first      calendar.Mark   // see Options.First; zero where there was no document
	quarantine quarantine
	readAt     time.Time // when these were read

	shown   readmodel.VisibleState // by searches, at least
	shownAt time.Time              // when shown was all that is stored
}

// quarantine are the quarantined records, by id, with the version of their document.
type quarantine struct {
	records               []readmodel.Quarantined
	version, number, term int // of the document; 0: there is none
}

// stored is what searches show after a refresh. The quarantine changes behind what is healed.
func (state *state) stored() readmodel.VisibleState {
	return readmodel.VisibleState{Mark: state.marks.All, Content: uint64(calendar.HashStart.Text(state.generation.String()).Number(uint64(state.quarantine.version)))}
}

// noRefresh has look return generation and marks alone.
const noRefresh = calendar.Position(math.MaxUint64)

func (engine *Index) known() state {
	engine.mu.Lock()
	defer engine.mu.Unlock()
	return engine.seen
}

// look returns the state as of since or later: with want 0 searches show all of it, else it
// is enough that they show want, or that want is not stored. What is missing is read once
// for all callers, and made visible by one refresh of all indices: documents are written
// before their position, so searches then show everything up to it.
func (engine *Index) look(ctx context.Context, since time.Time, want calendar.Position) (state, error) {
	for gone := false; ; {
		s := engine.known()
		read := !s.generation.isZero() && !s.readAt.Before(since)
		if want == 0 && !s.shownAt.Before(since) || want > 0 && (s.shown.Position >= want || read && s.marks.All.Position < want) {
			return s, ctx.Err()
		}
		name, step := "read", engine.readState
		if read {
			name, step = "refresh", engine.showState
		}
		done := engine.steps.DoChan(name, func() (any, error) { return nil, step(context.WithoutCancel(ctx)) })
		select {
		case result := <-done:
			if errors.Is(result.Err, errGone) && !gone { // dropped since it was read: another one answers
				gone, since = true, engine.options.Now()
			} else if result.Err != nil {
				return state{}, result.Err
			}
		case <-ctx.Done():
			return state{}, ctx.Err()
		}
	}
}

// readState reads the state of the generation that answers: one read by ids, which needs no
// refresh.
func (engine *Index) readState(ctx context.Context) error {
	instant := engine.options.Now()
	name := engine.names().live(stateName)
	if !engine.fixed.isZero() {
		name = engine.names().index(stateName, engine.fixed)
	}
	s, err := engine.stateOf(ctx, name)
	if err == nil {
		err = engine.compare(ctx, &s)
	}
	engine.mu.Lock()
	defer engine.mu.Unlock()
	switch seen := &engine.seen; {
	case errors.Is(err, readmodel.ErrForeign):
		engine.seen = state{} // it does not hold any more
		return err
	case err != nil:
		return err
	case seen.generation == s.generation && seen.shown.Position <= s.marks.All.Position:
		s.shown, s.shownAt = seen.shown, seen.shownAt
	}
	s.readAt = instant
	if s.shown == s.stored() {
		s.shownAt = instant
	}
	engine.seen = s
	return nil
}

// showState makes what was stored visible.
func (engine *Index) showState(ctx context.Context) error {
	state := engine.known()
	if state.shown != state.stored() {
		if err := engine.conn.do(ctx, engine.options.Timeout, "refresh", esapi.IndicesRefreshRequest{Index: engine.names().records(state.generation)}, nil); err != nil {
			return err
		}
	}
	engine.mu.Lock()
	defer engine.mu.Unlock()
	if engine.seen.generation == state.generation {
		engine.seen.shown, engine.seen.shownAt = state.stored(), state.readAt
	}
	return nil
}

// storedMark is a mark as it is stored.
type storedMark struct {
	Position calendar.Position `json:"position"`
	Hash     []byte            `json:"hash"`
}

func (storedMark storedMark) mark() calendar.Mark {
	mark := calendar.Mark{Position: storedMark.Position}
	copy(mark.Hash[:], storedMark.Hash)
	return mark
}

func stored(mark calendar.Mark) storedMark { return storedMark{mark.Position, mark.Hash[:]} }

// stateOf reads the state of a generation by a name of its index.
func (engine *Index) stateOf(ctx context.Context, name string) (state state, err error) {
	var found struct {
		Docs []struct {
			Index   string       `json:"_index"`
			Version int          `json:"_version"`
			Number  int          `json:"_seq_no"`
			Term    int          `json:"_primary_term"`
			Error   *serverError `json:"error"`
			Source  struct {
				storedMark
				First       storedMark
				Quarantined []readmodel.Quarantined
			} `json:"_source"`
		} `json:"docs"`
	}
	const what = "read the position"
	ids := list{statePosition, stateReach, stateQuarantine}
	if err := engine.conn.do(ctx, engine.options.Timeout, what, esapi.MgetRequest{Index: name, Body: bytes.NewReader(encode(object{"ids": ids}))}, &found); err != nil {
		return state, err
	}
	if len(found.Docs) != len(ids) {
		return state, fmt.Errorf("%s: %w: %d documents for %d", what, readmodel.ErrUnavailable, len(found.Docs), len(ids))
	}
	for i := range found.Docs {
		d := &found.Docs[i]
		if d.Error != nil {
			d.Error.status = cmp.Or(map[string]int{kindNoIndex: http.StatusNotFound, kindClosed: http.StatusBadRequest}[d.Error.Type], http.StatusServiceUnavailable)
			return state, fmt.Errorf("%s: %w", what, translate(d.Error))
		}
	}
	position, reach, last := &found.Docs[0].Source, &found.Docs[1], &found.Docs[2]
	state.marks = readmodel.Marks{All: position.mark(), Reach: reach.Source.mark()}
	state.first = reach.Source.First.mark()
	state.quarantine = quarantine{last.Source.Quarantined, last.Version, last.Number, last.Term}
	var ok bool
	if _, state.generation, ok = engine.names().parse(reach.Index); !ok {
		return state, fmt.Errorf("%s: %w: %s stands for %s", what, readmodel.ErrUnavailable, name, reach.Index)
	}
	if state.marks.Reach.Position < state.marks.All.Position {
		state.marks.Reach = state.marks.All
	}
	return state, nil
}

// storeContents is what the event store was found to hold.
type storeContents struct {
	generation generation
	reach      calendar.Mark
	epoch      uint64
}

// compare makes sure that a generation was made from the history of the event store.
// The index was read before: what it has was in the store then.
func (engine *Index) compare(ctx context.Context, state *state) error {
	if engine.options.Holds == nil || state.marks.Reach.Position == 0 || !state.generation.current() {
		return nil
	}
	now := storeContents{state.generation, state.marks.Reach, engine.options.Epoch()}
	engine.mu.Lock()
	before := engine.held
	engine.mu.Unlock()
	if before == now {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, engine.options.Timeout)
	defer cancel()
	holds, err := engine.options.Holds(within, now.reach)
	switch {
	case err != nil && before.generation == now.generation && before.epoch == now.epoch:
		return nil // the store is away, and was of this history
	case err != nil:
		return fmt.Errorf("%w: ask the event store for entry %d: %w", readmodel.ErrUnavailable, now.reach.Position, err)
	case !holds:
		if state.first.Position > 0 {
			if ours, err := engine.options.Holds(within, state.first); err == nil && !ours {
				return readmodel.ErrOtherStore
			}
		}
		return readmodel.ErrForeign
	}
	engine.mu.Lock()
	defer engine.mu.Unlock()
	engine.held = now
	return nil
}

// Marks implements readmodel.Index, and binds the writer to the generation that answers.
func (engine *Index) Marks(ctx context.Context) (readmodel.Marks, error) {
	state, err := engine.look(ctx, engine.options.Now(), noRefresh)
	if err != nil {
		return readmodel.Marks{}, err
	}
	engine.mu.Lock()
	defer engine.mu.Unlock()
	engine.bound = state
	return state.marks, nil
}

// recent is how old a state may be that lists show.
func (engine *Index) recent() time.Time {
	return engine.options.Now().Add(-engine.options.RefreshInterval)
}

// Visible returns what queries show, as of Options.RefreshInterval ago or later: most
// calls cost nothing. Its position goes back when an older generation answers again.
func (engine *Index) Visible(ctx context.Context) (readmodel.VisibleState, error) {
	state, err := engine.look(ctx, engine.recent(), 0)
	return state.shown, err
}

// The waits between two looks at a position that has not come yet.
const (
	firstLook = 5 * time.Millisecond
	lastLook  = 100 * time.Millisecond
)

// Wait waits until the position is stored, then for one refresh that all callers share.
// While the servers are out of reach it is ErrUnavailable immediately.
func (engine *Index) Wait(ctx context.Context, position calendar.Position) error {
	since := engine.options.Now()
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		moved := engine.signal()
		state, err := engine.look(ctx, since, position)
		if err != nil || state.shown.Position >= position {
			return err
		}
		since = engine.options.Now() // what another caller reads during the pause is as good
		select {
		case <-time.After(pause):
		case <-moved:
			since = engine.options.Now()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// signal returns a channel that is closed when this process stores a position, or puts
// another generation in place.
func (engine *Index) signal() <-chan struct{} {
	engine.mu.Lock()
	defer engine.mu.Unlock()
	return engine.moved
}

// wake closes the channel of signal.
func (engine *Index) wake() {
	engine.mu.Lock()
	defer engine.mu.Unlock()
	close(engine.moved)
	engine.moved = make(chan struct{})
}

// forget has the state read again: another generation answers, or a record was healed.
func (engine *Index) forget() {
	engine.mu.Lock()
	engine.seen.readAt, engine.seen.shownAt = time.Time{}, time.Time{}
	engine.mu.Unlock()
	engine.wake()
}

// Moved waits until another generation answers than the one that the writer is
// bound to: the writer has to read Marks again. Promote and Back of this Index are
// noticed immediately, those of others within Options.RefreshInterval. Failures of the
// engine are waited out; the error is the context's.
func (engine *Index) Moved(ctx context.Context) error {
	for {
		moved := engine.signal()
		state, err := engine.look(ctx, engine.recent(), noRefresh)
		engine.mu.Lock()
		bound := engine.bound.generation
		engine.mu.Unlock()
		if err == nil && !bound.isZero() && state.generation != bound {
			return nil
		}
		select {
		case <-time.After(engine.options.RefreshInterval):
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
