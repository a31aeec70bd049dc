package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/port"
)

// Bounds of the lines that are committed together: no more are begun with when one
// of them is reached.
const (
	groupLines = 256
	groupBytes = 1 << 20
)

// errUndone says that lines before the present one were lost to other writers. They
// have to be applied anew, and then the present one.
var errUndone = errors.New("lines before this one were not committed")

// ahead is a store as it will be when the lines that are decided are committed, in
// groups and in order, while those after them are decided. Who reads a record that
// is still to be committed waits for it, because nothing may refer to what another
// writer can yet prevent; but for the record of the present line: a change of that is
// held to the version before. It is for one goroutine.
type ahead struct {
	port.Adapted

	alone bool        // each line is committed by itself
	line  *line       // that is applied now; nil once it is kept to be committed
	own   calendar.ID // the record that it changes; 0: a new one

	queue []decided
	bytes int
	group int // number of the group that the queue becomes
	sent  []decided
	done  chan []eventstore.Result // of those that were sent; nil: none are

	// What the decided lines leave, each with the group that does.
	records map[calendar.ID]record
	claims  map[calendar.Claim]holder
	names   map[calendar.Name]int

	// What the store was asked for lines that come, all of them at once: holders of
	// claims, 0 for free ones, and records that lines name. An append drops what it
	// changes, and whoever else changes it is met when the line is committed.
	asked  map[calendar.Claim]calendar.ID
	loaded map[calendar.ID]eventstore.State // for the lines that come
	coming int                              // lines that will take an id
	fresh  calendar.ID                      // the first of ids that are kept for them,
	kept   int                              // and how many there are

	committed func()  // is told of each line
	undone    []*line // by errUndone, in order
}

// mostAsked is of how many claims the holders are kept.
const mostAsked = 10_000

// decided is a line and what is to be committed of it.
type decided struct {
	line   *line
	append eventstore.Append
}

type record struct {
	state  eventstore.State
	claims []calendar.Claim
	group  int
}

type holder struct {
	id    calendar.ID // 0: nobody any more
	group int
}

func newAhead(store port.Adapted, committed func()) *ahead {
	a := &ahead{Adapted: store, committed: committed}
	a.forget()
	return a
}

// forget drops what is decided.
func (a *ahead) forget() {
	a.queue, a.bytes = nil, 0
	a.records, a.claims, a.names = map[calendar.ID]record{}, map[calendar.Claim]holder{}, map[calendar.Name]int{}
	a.asked, a.loaded, a.coming, a.kept = map[calendar.Claim]calendar.ID{}, nil, 0, 0
}

// ask asks the store for what lines that come ask for one by one. Without an answer
// they still can.
func (a *ahead) ask(ctx context.Context, claims []calendar.Claim, ids []calendar.ID) {
	if len(a.asked) > mostAsked {
		clear(a.asked)
	}
	a.loaded = nil
	claims = slices.DeleteFunc(claims, func(c calendar.Claim) bool {
		_, pending := a.claims[c]
		_, known := a.asked[c]
		return pending || known
	})
	pending := func(id calendar.ID) bool { _, there := a.records[id]; return there }
	if len(claims) > 0 {
		if holders, _, err := a.Adapted.Find(ctx, claims, nil); err == nil {
			for i, c := range claims {
				if !pending(holders[i]) {
					a.asked[c] = holders[i]
				}
			}
		}
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), pending)
	if len(ids) == 0 {
		return
	}
	if states, err := a.Adapted.Load(ctx, ids...); err == nil {
		a.loaded = make(map[calendar.ID]eventstore.State, len(ids))
		for i, id := range ids {
			a.loaded[id] = states[i]
		}
	}
}

// drop forgets what the store said of a record that is changed.
func (a *ahead) drop(id calendar.ID) {
	delete(a.loaded, id)
	for c, holder := range a.asked {
		if holder == id {
			delete(a.asked, c)
		}
	}
}

// NewIDs does eventstore.Store, for lines that come too.
func (a *ahead) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	if a.kept < n {
		first, err := a.Adapted.NewIDs(ctx, n+a.coming)
		if err != nil {
			return 0, err
		}
		a.fresh, a.kept = first, n+a.coming
	}
	first := a.fresh
	a.fresh, a.kept = a.fresh+calendar.ID(n), a.kept-n
	return first, nil
}

// Append does eventstore.Store: one change of records is kept to be committed with
// others, all else is carried out when what was kept is committed.
func (a *ahead) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	if a.alone || len(appends) != 1 || len(appends[0].Drafts) == 0 || appends[0].Receipt != nil {
		if err := a.settle(ctx); err != nil {
			out := make([]eventstore.Result, len(appends))
			for i := range out {
				out[i].Err = err
			}
			return out
		}
		return a.Adapted.Append(ctx, appends)
	}
	one := appends[0]
	for i := range one.Drafts {
		d := &one.Drafts[i]
		before := a.records[d.ID]
		for _, c := range before.claims {
			if a.claims[c].id == d.ID {
				a.claims[c] = holder{0, a.group}
			}
		}
		state := eventstore.State{Kind: d.Kind, ID: d.ID, Version: d.Expected + 1, Record: d.State, Secret: d.Secret}
		if state.Secret == nil {
			state.Secret = before.state.Secret
		}
		a.records[d.ID] = record{state, d.Claims, a.group}
		if d.Expected > 0 {
			a.drop(d.ID)
		}
		for _, c := range d.Claims {
			a.claims[c] = holder{d.ID, a.group}
			delete(a.asked, c)
		}
		for _, n := range d.Names {
			a.names[n] = a.group
		}
		a.bytes += len(d.Fields) + len(d.State)
	}
	a.queue = append(a.queue, decided{a.line, one})
	a.line = nil
	return make([]eventstore.Result, 1)
}

// Load does eventstore.Store.
func (a *ahead) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	for _, id := range ids {
		if r, there := a.records[id]; there && id == a.own && len(ids) == 1 {
			return []eventstore.State{r.state}, nil
		} else if there {
			if err := a.settle(ctx); err != nil {
				return nil, err
			}
			break
		}
	}
	states := make([]eventstore.State, len(ids))
	for i, id := range ids {
		var there bool
		if states[i], there = a.loaded[id]; !there {
			return a.Adapted.Load(ctx, ids...)
		}
	}
	return states, nil
}

// History does eventstore.Store.
func (a *ahead) History(ctx context.Context, id calendar.ID, after int64, limit int) ([]eventstore.Entry, error) {
	if _, there := a.records[id]; there {
		if err := a.settle(ctx); err != nil {
			return nil, err
		}
	}
	return a.Adapted.History(ctx, id, after, limit)
}

// Find does eventstore.Store. A claim that is to be committed is told at once: who
// asks for it takes another one.
func (a *ahead) Find(ctx context.Context, claims []calendar.Claim, names []calendar.Name) ([]calendar.ID, [][]calendar.ID, error) {
	for _, n := range names {
		if _, there := a.names[n]; there {
			if err := a.settle(ctx); err != nil {
				return nil, nil, err
			}
			break
		}
	}
	if holders, all := a.holders(claims); all && len(names) == 0 {
		return holders, nil, nil
	}
	holders, found, err := a.Adapted.Find(ctx, claims, names)
	if err != nil {
		return nil, nil, err
	}
	if !a.moving(claims, holders, found) {
		for i := 0; i < len(claims) && !a.alone; i++ {
			a.asked[claims[i]] = holders[i]
		}
		return holders, found, nil
	}
	if err := a.settle(ctx); err != nil {
		return nil, nil, err
	}
	return a.Adapted.Find(ctx, claims, names)
}

// holders gives the holders of claims as far as all of them are known.
func (a *ahead) holders(claims []calendar.Claim) ([]calendar.ID, bool) {
	out := make([]calendar.ID, len(claims))
	for i, c := range claims {
		h, there := a.claims[c]
		if out[i] = h.id; !there {
			out[i], there = a.asked[c]
		}
		if !there {
			return nil, false
		}
	}
	return out, true
}

// moving tells whether what was found may be otherwise when all is committed.
func (a *ahead) moving(claims []calendar.Claim, holders []calendar.ID, found [][]calendar.ID) bool {
	for i, c := range claims {
		_, claimed := a.claims[c]
		if _, there := a.records[holders[i]]; there || claimed {
			return true
		}
	}
	for _, ids := range found {
		for _, id := range ids {
			if _, there := a.records[id]; there {
				return true
			}
		}
	}
	return false
}

// full tells whether it is time to commit.
func (a *ahead) full() bool { return len(a.queue) >= groupLines || a.bytes >= groupBytes }

// send begins to commit what is decided, when nothing else is.
func (a *ahead) send(ctx context.Context) {
	if a.done != nil || len(a.queue) == 0 {
		return
	}
	appends := make([]eventstore.Append, len(a.queue))
	for i := range a.queue {
		appends[i] = a.queue[i].append
	}
	done := make(chan []eventstore.Result, 1)
	a.sent, a.done = a.queue, done
	a.queue, a.bytes = nil, 0
	a.group++
	go func() { done <- a.Adapted.Append(ctx, appends) }()
}

// receive waits for what was sent, if anything was.
func (a *ahead) receive() error {
	if a.done == nil {
		return nil
	}
	return a.received(<-a.done)
}

// received takes the results of what was sent. A line that another writer was faster
// than is to be applied anew; so are those that were decided after it, as they may
// rest on it.
func (a *ahead) received(results []eventstore.Result) error {
	sent := a.sent
	a.sent, a.done = nil, nil
	for i, r := range results {
		_, held := errors.AsType[*eventstore.ClaimError](r.Err)
		switch {
		case r.Err == nil:
			a.committed()
		case held || errors.Is(r.Err, eventstore.ErrConflict):
			a.undone = append(a.undone, sent[i].line)
		default:
			return lineFault(sent[i].line.n, r.Err)
		}
	}
	if len(a.undone) == 0 {
		a.leave(a.group - 1)
		return nil
	}
	for i := range a.queue {
		a.undone = append(a.undone, a.queue[i].line)
	}
	a.forget()
	return errUndone
}

// leave drops what a group left: the store has it.
func (a *ahead) leave(group int) {
	for id, r := range a.records {
		if r.group == group {
			delete(a.records, id)
		}
	}
	for c, h := range a.claims {
		if h.group == group {
			delete(a.claims, c)
		}
	}
	for n, g := range a.names {
		if g == group {
			delete(a.names, n)
		}
	}
}

// settle waits until all that is decided is committed.
func (a *ahead) settle(ctx context.Context) error {
	for a.done != nil || len(a.queue) > 0 {
		a.send(ctx)
		if err := a.receive(); err != nil {
			return err
		}
	}
	return nil
}

// stopped is an error that ends the import, with its line.
type stopped struct{ error }

// Unwrap gives the error.
func (s stopped) Unwrap() error { return s.error }

func lineFault(n int64, err error) error {
	if errors.Is(err, eventstore.ErrHistory) {
		return stopped{lostHistory(n)}
	}
	return stopped{fmt.Errorf("import line %d: %w", n, err)}
}
