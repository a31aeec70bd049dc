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
func (engine *Index) roles(ctx context.Context) (*roles, error) {
	names := engine.names()
	var found map[string]struct {
		Aliases map[string]json.RawMessage `json:"aliases"`
	}
	err := engine.conn.do(ctx, engine.options.Timeout, "read the aliases", esapi.IndicesGetAliasRequest{Index: []string{names.prefix + "-*"}}, &found)
	if err != nil && !errors.Is(err, errGone) {
		return nil, err
	}
	aliases := &roles{all: map[generation][]string{}, aliases: map[string]map[string]json.RawMessage{}}
	for index, about := range found {
		collection, g, ok := names.parse(index)
		if !ok {
			continue
		}
		aliases.all[g] = append(aliases.all[g], index)
		aliases.aliases[index] = about.Aliases
		if collection != stateName {
			continue
		}
		for alias, role := range map[string]*generation{names.live(stateName): &aliases.live, names.kept(): &aliases.kept} {
			if !aliases.has(index, alias) {
				continue
			}
			if !role.isZero() {
				return nil, fmt.Errorf("%w: alias %s stands for two generations, %s and %s", readmodel.ErrUnavailable, alias, *role, g)
			}
			*role = g
		}
	}
	return aliases, nil
}

// Sound implements readmodel.Generations. While a generation of another schema answers, all
// methods but those of generations, Marks, Visible and Wait give ErrSchema.
func (engine *Index) Sound(ctx context.Context) error {
	roles, err := engine.roles(ctx)
	if err != nil {
		return err
	}
	names := engine.names()
	switch {
	case !roles.live.isZero() && !roles.live.current():
		return fmt.Errorf("%w: it is that of another version of the program", readmodel.ErrUnsound)
	case !roles.have(names, names.live) || !roles.have(names, func(text string) string { return names.write(text, roles.live) }):
		return fmt.Errorf("%w: it is not there, or not all of it", readmodel.ErrUnsound)
	}
	_, err = engine.look(ctx, engine.options.Now(), noRefresh)
	return err
}

// Next implements readmodel.Generations: it makes the indices, and drops what has no role.
func (engine *Index) Next(ctx context.Context) (readmodel.Index, error) {
	next := newIndex(engine.conn, engine.options)
	return next, engine.change(ctx, "next generation", func(aliases *roles) error {
		if err := engine.drop(ctx, aliases, aliases.live, aliases.kept); err != nil {
			return err
		}
		// Not the name of one that somebody deleted, which others may still know.
		g := generation{fingerprint(), int(engine.options.Now().UnixMilli())}
		for other := range aliases.all {
			g.number = max(g.number, other.number+1)
		}
		engine.mu.Lock()
		next.fixed, engine.next = g, g
		engine.mu.Unlock()
		var group errgroup.Group // an engine takes changes that come together in one step, and makes also what is cancelled
		for _, text := range collections {
			index := engine.names().index(text, g)
			group.Go(func() error {
				return engine.conn.do(ctx, changeLimit, "make index "+index, esapi.IndicesCreateRequest{
					Index: index, Body: bytes.NewReader(definition(engine.options, text, engine.names().write(text, g))),
				}, nil)
			})
		}
		return group.Wait()
	})
}

// change runs a change of the generations with the present roles.
func (engine *Index) change(ctx context.Context, what string, do func(roles *roles) error) error {
	roles, err := engine.roles(ctx)
	if err == nil {
		err = do(roles)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// drop deletes the indices of all generations but some, by their full names.
func (engine *Index) drop(ctx context.Context, roles *roles, but ...generation) error {
	var indices []string
	for generation, of := range roles.all {
		if !slices.Contains(but, generation) {
			indices = append(indices, of...)
		}
	}
	slices.Sort(indices)
	for part := range slices.Chunk(indices, 20) { // names stand in the request line
		if err := engine.conn.do(ctx, changeLimit, "drop indices", esapi.IndicesDeleteRequest{
			Index: part, IgnoreUnavailable: new(true),
		}, nil); err != nil {
			return err
		}
	}
	return nil
}

// broken reports whether a server answered that something is wrong with an index: not
// that it is busy, starts, or cannot be reached.
func broken(err error) bool {
	status := statusOf(err)
	return status >= 400 && status < 500 && status != http.StatusTooManyRequests
}

// ours reads the state of a generation and reports whether it was made from the history of
// the event store.
func (engine *Index) ours(ctx context.Context, generation generation) (state state, ours bool, err error) {
	state, err = engine.stateOf(ctx, engine.names().index(stateName, generation))
	if err != nil || state.marks.Reach.Position == 0 || engine.options.Holds == nil {
		return state, err == nil, err
	}
	ours, err = engine.options.Holds(ctx, state.marks.Reach)
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
func (engine *Index) Promote(ctx context.Context) error {
	engine.mu.Lock()
	next := engine.next
	engine.mu.Unlock()
	return engine.change(ctx, "promote", func(aliases *roles) error {
		if aliases.all[next] == nil || next == aliases.live {
			return readmodel.ErrNoNext
		}
		names := engine.names()
		state, write := names.index(stateName, aliases.live), names.write(stateName, aliases.live)
		if aliases.has(state, write) {
			if err := engine.move(ctx, aliasAction("remove", state, write)); err != nil {
				return err
			}
		}
		keep, err := engine.outdone(ctx, aliases, next)
		if err != nil {
			return err
		}
		if err := engine.replace(ctx, aliases, next, keep); err != nil {
			return err
		}
		remaining := []generation{next}
		if keep {
			remaining = append(remaining, aliases.live)
		}
		if err := engine.drop(ctx, aliases, remaining...); err != nil {
			// The aliases have moved; the next rebuild drops it.
			engine.options.Log.Warn("old generation is not dropped", "error", err)
		}
		return nil
	})
}

// outdone makes sure that the coming generation is not behind the one that answers, and
// reports whether that one is worth keeping: not when somebody deleted a part of it, when it
// cannot be read, or is of another history.
func (engine *Index) outdone(ctx context.Context, roles *roles, next generation) (keep bool, err error) {
	if roles.live.isZero() || roles.live.current() && !roles.have(engine.names(), engine.names().live) {
		return false, nil
	}
	old, ours, err := engine.ours(ctx, roles.live)
	switch {
	case broken(err):
		engine.options.Log.Warn("replaced generation is not kept", "generation", roles.live.String(), "error", err)
		return false, nil
	case err != nil || !ours:
		return false, err
	case !roles.live.current(): // no list comes from it
		return true, nil
	}
	state, err := engine.stateOf(ctx, engine.names().index(stateName, next))
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

func (engine *Index) move(ctx context.Context, actions ...object) error {
	return engine.conn.do(ctx, changeLimit, "move the aliases", esapi.IndicesUpdateAliasesRequest{
		Body: bytes.NewReader(encode(object{"actions": actions})),
	}, nil)
}

// replace puts a generation in the place of the one that answers, which Back returns to when
// it is kept.
func (engine *Index) replace(ctx context.Context, roles *roles, generation generation, keep bool) error {
	names := engine.names()
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
	if err := engine.move(ctx, actions...); err != nil {
		return err
	}
	engine.forget()
	engine.options.Log.Info("generation put in place", "generation", generation.String(), "before", roles.live.String())
	return nil
}

// Back implements readmodel.Generations.
func (engine *Index) Back(ctx context.Context) error {
	return engine.change(ctx, "go back", func(aliases *roles) error {
		if aliases.kept.isZero() {
			return readmodel.ErrNoGeneration
		}
		if _, ours, err := engine.ours(ctx, aliases.kept); err != nil {
			return err
		} else if !ours {
			return fmt.Errorf("%w: the one that is kept was made from another history", readmodel.ErrNoGeneration)
		}
		return engine.replace(ctx, aliases, aliases.kept, true)
	})
}

// Forget drops every generation but the one that answers.
func (engine *Index) Forget(ctx context.Context) error {
	return engine.change(ctx, "forget", func(aliases *roles) error { return engine.drop(ctx, aliases, aliases.live) })
}
