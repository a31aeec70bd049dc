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

// roles are the generations that there are; a zero one is not there.
type roles struct {
	live, kept generation
	all        map[generation][]string // the indices of each
	aliases    map[string]map[string]json.RawMessage
}

// have reports whether all indices of the generation that answers have an alias.
func (roles *roles) have(names names, alias func(collection string) string) bool {
	return !slices.ContainsFunc(collections, func(text string) bool { return !roles.has(names.index(text, roles.live), alias(text)) })
}

// has reports whether an index has an alias.
func (roles *roles) has(index, alias string) bool {
	_, has := roles.aliases[index][alias]
	return has
}

// roles reads the aliases.
func (x *Index) roles(ctx context.Context) (*roles, error) {
	names := x.names()
	var found map[string]struct {
		Aliases map[string]json.RawMessage `json:"aliases"`
	}
	err := x.conn.do(ctx, x.options.Timeout, "read the aliases", esapi.IndicesGetAliasRequest{Index: []string{names.prefix + "-*"}}, &found)
	if err != nil && !errors.Is(err, errGone) {
		return nil, err
	}
	r := &roles{all: map[generation][]string{}, aliases: map[string]map[string]json.RawMessage{}}
	for index, about := range found {
		collection, g, ok := names.parse(index)
		if !ok {
			continue
		}
		r.all[g] = append(r.all[g], index)
		r.aliases[index] = about.Aliases
		if collection != stateName {
			continue
		}
		for alias, role := range map[string]*generation{names.live(stateName): &r.live, names.kept(): &r.kept} {
			if !r.has(index, alias) {
				continue
			}
			if !role.isZero() {
				return nil, fmt.Errorf("%w: alias %s stands for two generations, %s and %s", readmodel.ErrUnavailable, alias, *role, g)
			}
			*role = g
		}
	}
	return r, nil
}

// Sound implements readmodel.Generations. While a generation of another schema answers, all
// methods but those of generations, Marks, Visible and Wait give ErrSchema.
func (x *Index) Sound(ctx context.Context) error {
	roles, err := x.roles(ctx)
	if err != nil {
		return err
	}
	names := x.names()
	switch {
	case !roles.live.isZero() && !roles.live.current():
		return fmt.Errorf("%w: it is that of another version of the program", readmodel.ErrUnsound)
	case !roles.have(names, names.live) || !roles.have(names, func(text string) string { return names.write(text, roles.live) }):
		return fmt.Errorf("%w: it is not there, or not all of it", readmodel.ErrUnsound)
	}
	_, err = x.look(ctx, x.options.Now(), noRefresh)
	return err
}

// Next implements readmodel.Generations: it makes the indices, and drops what has no role.
func (x *Index) Next(ctx context.Context) (readmodel.Index, error) {
	next := newIndex(x.conn, x.options)
	return next, x.change(ctx, "next generation", func(r *roles) error {
		if err := x.drop(ctx, r, r.live, r.kept); err != nil {
			return err
		}
		// Not the name of one that somebody deleted, which others may still know.
		g := generation{fingerprint(), int(x.options.Now().UnixMilli())}
		for other := range r.all {
			g.number = max(g.number, other.number+1)
		}
		x.mu.Lock()
		next.fixed, x.next = g, g
		x.mu.Unlock()
		var group errgroup.Group // an engine takes changes that come together in one step, and makes also what is cancelled
		for _, text := range collections {
			index := x.names().index(text, g)
			group.Go(func() error {
				return x.conn.do(ctx, changeLimit, "make index "+index, esapi.IndicesCreateRequest{
					Index: index, Body: bytes.NewReader(definition(x.options, text, x.names().write(text, g))),
				}, nil)
			})
		}
		return group.Wait()
	})
}

// change runs a change of the generations with the present roles.
func (x *Index) change(ctx context.Context, what string, do func(roles *roles) error) error {
	roles, err := x.roles(ctx)
	if err == nil {
		err = do(roles)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// drop deletes the indices of all generations but some, by their full names.
func (x *Index) drop(ctx context.Context, roles *roles, but ...generation) error {
	var indices []string
	for generation, of := range roles.all {
		if !slices.Contains(but, generation) {
			indices = append(indices, of...)
		}
	}
	slices.Sort(indices)
	missing := true
	for part := range slices.Chunk(indices, 20) { // names stand in the request line
		if err := x.conn.do(ctx, changeLimit, "drop indices", esapi.IndicesDeleteRequest{
			Index: part, IgnoreUnavailable: &missing,
		}, nil); err != nil {
			return err
		}
	}
	return nil
}

// broken reports whether a server answered that something is wrong with an index: not
// that it is busy, starts, or cannot be reached.
func broken(err error) bool {
	e, ok := errors.AsType[*serverError](err)
	return ok && e.status >= 400 && e.status < 500 && e.status != http.StatusTooManyRequests
}

// ours reads the state of a generation and reports whether it was made from the history of
// the event store.
func (x *Index) ours(ctx context.Context, generation generation) (state state, ours bool, err error) {
	state, err = x.stateOf(ctx, x.names().index(stateName, generation))
	if err != nil || state.marks.Reach.Position == 0 || x.options.Holds == nil {
		return state, err == nil, err
	}
	ours, err = x.options.Holds(ctx, state.marks.Reach)
	return state, ours, err
}

// Promote implements readmodel.Generations: one request moves all aliases. Readers of other
// processes change over within Options.RefreshInterval; until then they read the old one,
// which is kept. A writer of any process goes on from the position of the new one, see Moved.
//
// Before that it removes the alias by which the position of the old one is written, so
// that writers get ErrMoved and the old one does not come further meanwhile. A process that
// ends in between leaves a generation that is not whole: Sound says so, and the next rebuild
// mends that.
func (x *Index) Promote(ctx context.Context) error {
	x.mu.Lock()
	next := x.next
	x.mu.Unlock()
	return x.change(ctx, "promote", func(r *roles) error {
		if r.all[next] == nil || next == r.live {
			return readmodel.ErrNoNext
		}
		names := x.names()
		state, write := names.index(stateName, r.live), names.write(stateName, r.live)
		if r.has(state, write) {
			if err := x.move(ctx, aliasAction("remove", state, write)); err != nil {
				return err
			}
		}
		keep, err := x.outdone(ctx, r, next)
		if err != nil {
			return err
		}
		if err := x.replace(ctx, r, next, keep); err != nil {
			return err
		}
		remaining := []generation{next}
		if keep {
			remaining = append(remaining, r.live)
		}
		if err := x.drop(ctx, r, remaining...); err != nil {
			// The aliases have moved; the next rebuild drops it.
			x.options.Log.Warn("old generation is not dropped", "error", err)
		}
		return nil
	})
}

// outdone makes sure that the coming generation is not behind the one that answers, and
// reports whether that one is worth keeping: not when somebody deleted a part of it, when it
// cannot be read, or is of another history.
func (x *Index) outdone(ctx context.Context, roles *roles, next generation) (keep bool, err error) {
	if roles.live.isZero() || roles.live.current() && !roles.have(x.names(), x.names().live) {
		return false, nil
	}
	old, ours, err := x.ours(ctx, roles.live)
	switch {
	case broken(err):
		x.options.Log.Warn("replaced generation is not kept", "generation", roles.live.String(), "error", err)
		return false, nil
	case err != nil || !ours:
		return false, err
	case !roles.live.current(): // no list comes from it
		return true, nil
	}
	state, err := x.stateOf(ctx, x.names().index(stateName, next))
	if position, before := state.marks.All.Position, old.marks.All.Position; err == nil && position < before {
		err = fmt.Errorf("%w: at %d, not at %d", readmodel.ErrBehind, position, before)
	}
	return true, err
}

// aliasAction is a change of an alias. A remove fails the whole step when the alias is not
// there: another process was first.
func aliasAction(what, index, alias string) object {
	action := object{"index": index, "alias": alias}
	if what == "remove" {
		action["must_exist"] = true
	}
	return object{what: action}
}

func (x *Index) move(ctx context.Context, actions ...object) error {
	return x.conn.do(ctx, changeLimit, "move the aliases", esapi.IndicesUpdateAliasesRequest{
		Body: bytes.NewReader(encode(object{"actions": actions})),
	}, nil)
}

// replace puts a generation in the place of the one that answers, which Back returns to when
// it is kept.
func (x *Index) replace(ctx context.Context, roles *roles, generation generation, keep bool) error {
	names := x.names()
	actions := make([]object, 0, 2*len(collections)+3)
	for _, text := range collections {
		if old := names.index(text, roles.live); roles.has(old, names.live(text)) {
			actions = append(actions, aliasAction("remove", old, names.live(text)))
		}
		actions = append(actions, aliasAction("add", names.index(text, generation), names.live(text)))
	}
	if !roles.kept.isZero() {
		actions = append(actions, aliasAction("remove", names.index(stateName, roles.kept), names.kept()))
	}
	if keep {
		old := names.index(stateName, roles.live)
		actions = append(actions, aliasAction("add", old, names.kept()), aliasAction("add", old, names.write(stateName, roles.live)))
	}
	if err := x.move(ctx, actions...); err != nil {
		return err
	}
	x.forget()
	x.options.Log.Info("generation put in place", "generation", generation.String(), "before", roles.live.String())
	return nil
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
		return x.replace(ctx, r, r.kept, true)
	})
}

// Forget drops every generation but the one that answers.
func (x *Index) Forget(ctx context.Context) error {
	return x.change(ctx, "forget", func(r *roles) error { return x.drop(ctx, r, r.live) })
}
