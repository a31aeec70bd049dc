package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"
	"golang.org/x/sync/errgroup"

	"daybook/query/readmodel"
)

// roles tells which generations there are; a zero one is not there.
type roles struct {
	live, kept, next generation
	all              map[generation][]string // the indices of each
	aliases          map[string]map[string]json.RawMessage
}

// has tells whether an index has an alias.
func (r *roles) has(index, alias string) bool {
	_, has := r.aliases[index][alias]
	return has
}

// whole tells whether the generation that answers has all its indices and
// aliases.
func (r *roles) whole(n names) bool {
	for _, c := range collections {
		if !r.has(n.index(c, r.live), n.live(c)) {
			return false
		}
	}
	return r.writable(n, r.live)
}

// writable tells whether a generation has all its indices, to be written to.
func (r *roles) writable(n names, g generation) bool {
	for _, c := range collections {
		if !r.has(n.index(c, g), n.write(c, g)) {
			return false
		}
	}
	return true
}

// roles reads the aliases.
func (x *Index) roles(ctx context.Context) (roles, error) {
	n := x.names()
	var found map[string]struct {
		Aliases map[string]json.RawMessage `json:"aliases"`
	}
	err := x.c.do(ctx, x.o.Timeout, "read the aliases", esapi.IndicesGetAliasRequest{Index: []string{n.prefix + "-*"}}, &found)
	r := roles{all: map[generation][]string{}, aliases: map[string]map[string]json.RawMessage{}}
	if errors.Is(err, errGone) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	for index, about := range found {
		collection, g, ok := n.parse(index)
		if !ok {
			continue
		}
		r.all[g] = append(r.all[g], index)
		r.aliases[index] = about.Aliases
		if collection != stateName {
			continue
		}
		for alias, role := range map[string]*generation{n.live(stateName): &r.live, n.kept(): &r.kept, n.next(): &r.next} {
			if _, has := about.Aliases[alias]; !has {
				continue
			}
			if !role.isZero() {
				return r, fmt.Errorf("%w: alias %s stands for two generations, %s and %s", readmodel.ErrUnavailable, alias, *role, g)
			}
			*role = g
		}
	}
	return r, nil
}

// ensure makes the first generation. All who start at once make the same one: an
// index comes into being together with its aliases, by whoever is first, and the
// state comes last.
func (x *Index) ensure(ctx context.Context) error {
	r, err := x.roles(ctx)
	if err != nil || !r.live.isZero() {
		return err
	}
	return x.createAll(ctx, generation{fingerprint(), 1}, x.names().live)
}

// createAll makes the indices of a generation, the state after all others; alias
// gives the alias that each gets, "" none.
func (x *Index) createAll(ctx context.Context, g generation, alias func(collection string) string) error {
	// At once: an engine takes changes that come together in one step.
	group, within := errgroup.WithContext(ctx)
	for _, c := range collections {
		if c != stateName {
			group.Go(func() error { return x.create(within, c, g, alias(c)) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return x.create(ctx, stateName, g, alias(stateName))
}

// create makes an index of a generation unless it is there.
func (x *Index) create(ctx context.Context, collection string, g generation, alias string) error {
	n := x.names()
	aliases := []string{n.write(collection, g)}
	if alias != "" {
		aliases = append(aliases, alias)
	}
	err := x.c.do(ctx, changeLimit, "make index "+n.index(collection, g), esapi.IndicesCreateRequest{
		Index: n.index(collection, g),
		Body:  bytes.NewReader(definition(x.o, collection, aliases...)),
	}, nil)
	if e, ok := errors.AsType[*serverError](err); ok && e.Type == kindExists {
		err = nil
	}
	if err != nil || collection != stateName {
		return err
	}
	// The position is there from the start, so that reading it tells the
	// generation; who made the index may have been killed before.
	return x.start(ctx, g)
}

func (x *Index) start(ctx context.Context, g generation) error {
	lines := fmt.Appendf(nil, `{"index":{"_index":%q,"_id":%q,"version_type":"external","version":0}}`+"\n"+`{"what":%q,"position":0}`+"\n",
		x.names().write(stateName, g), whatPosition, whatPosition)
	return x.bulkAll(ctx, []*item{{lines: lines}})
}

// change runs a change of the generations with the present roles.
func (x *Index) change(ctx context.Context, what string, do func(r *roles) error) error {
	r, err := x.roles(ctx)
	if err == nil {
		err = do(&r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// drop deletes the indices of all generations but some, by their full names.
func (x *Index) drop(ctx context.Context, r *roles, but ...generation) error {
	var indices []string
	for g, of := range r.all {
		if !slices.Contains(but, g) {
			indices = append(indices, of...)
		}
	}
	slices.Sort(indices)
	missing := true
	for part := range slices.Chunk(indices, 20) { // names stand in the request line
		if err := x.c.do(ctx, changeLimit, "drop indices", esapi.IndicesDeleteRequest{
			Index: part, IgnoreUnavailable: &missing,
		}, nil); err != nil {
			return err
		}
	}
	return nil
}

// Next implements readmodel.Generations. A generation of a rebuild that was killed is used
// when it has the present schema, a position, and takes writes, also by another process.
func (x *Index) Next(ctx context.Context) (readmodel.Index, error) {
	next := newIndex(x.c, x.o)
	return next, x.change(ctx, "next generation", func(r *roles) (err error) {
		usable := !r.next.isZero() && r.next.current() && r.writable(x.names(), r.next)
		if usable {
			usable, err = x.usable(ctx, r.next)
		}
		if next.fixed = r.next; err == nil && !usable {
			next.fixed, err = x.fresh(ctx, r)
		}
		return err
	})
}

// usable reports whether a generation has a position and all its indices take writes.
// Only a server that is busy or out of reach leaves that open: that is an error.
func (x *Index) usable(ctx context.Context, g generation) (bool, error) {
	_, err := x.stateOf(ctx, x.names().index(stateName, g))
	if err == nil {
		// A change of a document that is not there is a conflict, and writes nothing.
		items := make([]*item, len(collections))
		for i, c := range collections {
			items[i] = &item{lines: fmt.Appendf(nil, `{"index":{"_index":%q,"_id":"0","if_seq_no":0,"if_primary_term":1}}`+"\n{}\n", x.names().write(c, g))}
		}
		err = x.bulkAll(ctx, items)
	}
	if err != nil && (errors.Is(err, errNoPosition) || broken(err)) {
		x.o.Log.Warn("coming generation is of no use, another one is made", "generation", g.String(), "error", err)
		return false, nil
	}
	return err == nil, err
}

// broken reports whether a server answered that something is wrong with an index: not
// that it is busy, starts, or cannot be reached.
func broken(err error) bool {
	e, ok := errors.AsType[*serverError](err)
	return ok && e.status >= 400 && e.status < 500 && e.status != http.StatusTooManyRequests
}

// fresh makes an empty coming generation, in place of the one that there is, and drops what
// has no role.
func (x *Index) fresh(ctx context.Context, r *roles) (generation, error) {
	if err := x.drop(ctx, r, r.live, r.kept); err != nil {
		return generation{}, err
	}
	g := generation{fingerprint(), 1}
	if x.o.Follow {
		// Not the name of one that somebody deleted, which others may still know.
		g.number = int(x.o.Now().Unix())
	}
	for other := range r.all {
		g.number = max(g.number, other.number+1)
	}
	return g, x.createAll(ctx, g, func(collection string) string {
		if collection == stateName {
			return x.names().next()
		}
		return ""
	})
}

type aliasActions []object

func (a *aliasActions) add(index, alias string) {
	*a = append(*a, object{"add": object{"index": index, "alias": alias}})
}

// remove fails the whole step when the alias is not there: another process was
// first.
func (a *aliasActions) remove(index, alias string) {
	*a = append(*a, object{"remove": object{"index": index, "alias": alias, "must_exist": true}})
}

func (x *Index) move(ctx context.Context, a aliasActions) error {
	return x.c.do(ctx, changeLimit, "move the aliases", esapi.IndicesUpdateAliasesRequest{
		Body: bytes.NewReader(encode(object{"actions": a})),
	}, nil)
}

// swap adds the actions that put a generation in the place of the live one.
func (x *Index) swap(a *aliasActions, r *roles, g generation) {
	n := x.names()
	for _, c := range collections {
		if old := n.index(c, r.live); r.has(old, n.live(c)) {
			a.remove(old, n.live(c))
		}
		a.add(n.index(c, g), n.live(c))
	}
}

// ours reads the marks of a generation and tells whether it was made from the history of
// the event store.
func (x *Index) ours(ctx context.Context, g generation) (readmodel.Marks, bool, error) {
	s, err := x.stateOf(ctx, x.names().index(stateName, g))
	if err != nil || s.marks.Reach.Position == 0 || x.o.Holds == nil {
		return s.marks, err == nil, err
	}
	ours, err := x.o.Holds(ctx, s.marks.Reach)
	return s.marks, ours, err
}

// Promote puts the coming generation in place: one request moves all aliases.
// Readers of other processes change over within Options.RefreshInterval; until
// then they read the old one, which is kept. A writer of any process goes on from
// the position of the new one, see Moved.
//
// Before that it removes the alias by which the position of the old one is written, so
// that writers get ErrMoved and the old one does not come further meanwhile. A process that
// ends in between leaves a generation that is not whole: Sound says so, and the next rebuild
// goes on.
func (x *Index) Promote(ctx context.Context) error {
	return x.change(ctx, "promote", func(r *roles) error {
		if r.next.isZero() {
			return readmodel.ErrNoNext
		}
		n := x.names()
		state, write := n.index(stateName, r.live), n.write(stateName, r.live)
		if r.has(state, write) {
			var a aliasActions
			a.remove(state, write)
			if err := x.move(ctx, a); err != nil {
				return err
			}
		} else if of := r.aliases[state]; of != nil { // an earlier call removed it
			of[write] = nil
		}
		// One that somebody deleted a part of, that cannot be read, or that is of another
		// history, is nothing to go back to.
		keep := r.whole(n) || !r.live.isZero() && !r.live.current()
		if keep {
			var err error
			if keep, err = x.outdone(ctx, r); err != nil {
				return err
			}
		}
		var a aliasActions
		x.swap(&a, r, r.next)
		a.remove(n.index(stateName, r.next), n.next())
		kept := r.kept
		if keep {
			if !r.kept.isZero() {
				a.remove(n.index(stateName, r.kept), n.kept())
			}
			a.add(state, n.kept())
			a.add(state, write)
			kept = r.live
		}
		if err := x.move(ctx, a); err != nil {
			return err
		}
		x.forget()
		x.o.Log.Info("generation promoted", "generation", r.next.String(), "before", r.live.String())
		if err := x.drop(ctx, r, r.next, kept); err != nil {
			// The aliases have moved; the next rebuild drops it.
			x.o.Log.Warn("old generation is not dropped", "error", err)
		}
		return nil
	})
}

// outdone makes sure that the coming generation is not behind the one that answers, and
// reports whether that one is worth keeping.
func (x *Index) outdone(ctx context.Context, r *roles) (keep bool, err error) {
	old, ours, err := x.ours(ctx, r.live)
	switch {
	case errors.Is(err, errNoPosition), broken(err):
		x.o.Log.Warn("replaced generation is not kept", "generation", r.live.String(), "error", err)
		return false, nil
	case err != nil || !ours:
		return false, err
	case !r.live.current(): // no list comes from it
		return true, nil
	}
	next, err := x.stateOf(ctx, x.names().index(stateName, r.next))
	if err == nil && next.marks.All.Position < old.All.Position {
		err = fmt.Errorf("%w: at %d, not at %d", readmodel.ErrBehind, next.marks.All.Position, old.All.Position)
	}
	return true, err
}

// Back implements readmodel.Generations.
func (x *Index) Back(ctx context.Context) error {
	return x.change(ctx, "go back", func(r *roles) error {
		if r.kept.isZero() {
			return readmodel.ErrNoGeneration
		}
		if _, ours, err := x.ours(ctx, r.kept); err != nil {
			return err
		} else if !ours {
			return fmt.Errorf("%w: the one that is kept was made from another history", readmodel.ErrNoGeneration)
		}
		n := x.names()
		var a aliasActions
		x.swap(&a, r, r.kept)
		a.remove(n.index(stateName, r.kept), n.kept())
		a.add(n.index(stateName, r.live), n.kept())
		if err := x.move(ctx, a); err != nil {
			return err
		}
		x.forget()
		x.o.Log.Info("generation put back", "generation", r.kept.String(), "instead_of", r.live.String())
		return nil
	})
}

// Discard drops the coming generation, and what rebuilds that were killed left.
func (x *Index) Discard(ctx context.Context) error {
	return x.change(ctx, "discard", func(r *roles) error { return x.drop(ctx, r, r.live, r.kept) })
}

// Forget drops every generation but the one that answers.
func (x *Index) Forget(ctx context.Context) error {
	return x.change(ctx, "forget", func(r *roles) error { return x.drop(ctx, r, r.live) })
}

// Reset empties the index: an empty generation takes its place in one step, so
// that no read fails, and the old one is dropped. Its coming generation, if
// there is one, is dropped too.
func (x *Index) Reset(ctx context.Context) error {
	return x.change(ctx, "reset", func(r *roles) error {
		g, err := x.fresh(ctx, r)
		if err != nil {
			return err
		}
		x.mu.Lock()
		isNext := !x.fixed.isZero()
		if isNext {
			x.fixed = g
		}
		x.bound = state{gen: g}
		x.mu.Unlock()
		if !isNext {
			var a aliasActions
			x.swap(&a, r, g)
			a.remove(x.names().index(stateName, g), x.names().next())
			if err := x.move(ctx, a); err != nil {
				return err
			}
			if err := x.drop(ctx, r, g, r.kept); err != nil {
				return err
			}
		}
		x.forget()
		return nil
	})
}
