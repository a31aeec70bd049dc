package query

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// readTyped reads what was typed.
func readTyped(parser *parser, value *param.Value) {
	text, ok := value.Text()
	if !ok {
		return
	}
	parser.search = readmodel.ParseSearch(text, parser.Lang)
	switch expression := &parser.search; {
	case expression.IsZero():
		value.Refuse(calendar.ReasonNoWord)
	case !expression.Within():
		value.Refuse(calendar.ReasonTooMuch, strconv.Itoa(readmodel.MaxWords))
	}
	parser.fromNow()
}

func readKinds(parser *parser, value *param.Value) {
	list := value.Words()
	for _, kind := range calendar.Kinds {
		if list == nil || slices.Contains(list, kind.Collection()) {
			parser.kinds = append(parser.kinds, kind)
		}
	}
}

// Suggested are the suggestions of a kind.
type Suggested struct {
	Kind               calendar.Kind
	readmodel.Spelling // that they fit with
	List               []Suggestion
}

// Suggestion is a record whose name fits what was typed.
type Suggestion struct {
	Record *calendar.Record
	Status calendar.Status  // that holds now
	Venue  *calendar.Record // of events: the first one that everybody sees, nil for none
	Count  int              // events: that have the name; others: coming events
	// Namesake tells that another venue that fits has the same name.
	Namesake bool

	score int    // others than events: how well they fit
	name  string // and their name, folded
}

// Suggest answers the criteria of suggestions: for each kind those that fit best. What
// they show is the public view, no matter who asks.
func (service *Service) Suggest(ctx context.Context, criteria *Criteria) (out []Suggested, position calendar.Position, err error) {
	out, err = present(ctx, service, func(st *state) ([]Suggested, error) {
		position = st.gen.Position
		out := make([]Suggested, len(criteria.kinds))
		group, all := errgroup.WithContext(ctx) // a read model elsewhere answers for all kinds at the same time
		for i := range out {
			group.Go(func() (err error) {
				out[i], err = st.suggestKind(all, criteria, criteria.kinds[i])
				return err
			})
		}
		return out, group.Wait()
	})
	return out, position, err
}

func (state *state) suggestKind(ctx context.Context, criteria *Criteria, kind calendar.Kind) (suggested Suggested, err error) {
	suggest := state.suggestOthers
	if kind == calendar.KindEvent {
		suggest = state.suggestEvents
	}
	found, err := stepped(criteria, func(criteria *Criteria) (_ int, err error) {
		suggested.List, err = suggest(ctx, criteria, kind)
		return len(suggested.List), err
	})
	suggested.Kind, suggested.Spelling = kind, found.spelling()
	return suggested, err
}

func (state *state) suggestEvents(ctx context.Context, criteria *Criteria, kind calendar.Kind) ([]Suggestion, error) {
	name := criteria.name()
	page, err := state.view.Search(ctx, readmodel.Query{
		Kind: kind, Filter: append(state.coming(criteria.upcomingAt), name), Limit: criteria.suggested,
		Sort:     append([]readmodel.Sort{{Rank: &readmodel.Relevance{Text: name}, Desc: true}}, byStart(false)...),
		Collapse: &readmodel.Collapse{Field: readmodel.FieldTitleKey(criteria.Lang)},
	})
	if err != nil || page.Total == 0 {
		return nil, err
	}
	venues, err := state.visible(ctx, criteria, calendar.KindVenue)
	if err != nil {
		return nil, err
	}
	out := make([]Suggestion, len(page.Documents))
	for i, document := range page.Documents {
		out[i] = Suggestion{Record: document.Record, Status: document.Record.Status(state.moment()), Count: document.Repeats.Count}
		for _, id := range slices.Backward(document.Record.Fields.IDs("venue")) {
			if at, ok := venues.find(id); ok && venues.sees(at) {
				out[i].Venue = venues.records[at]
			}
		}
	}
	return out, nil
}

func (state *state) suggestOthers(ctx context.Context, criteria *Criteria, kind calendar.Kind) ([]Suggestion, error) {
	name := criteria.name()
	and := readmodel.And{name}
	if kind.IsPost() {
		and = append(and, state.published)
	}
	found, err := readmodel.Counts(ctx, state.view, kind, readmodel.FieldID, and)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	counts, err := state.eventsOf(ctx, kind, append(state.coming(criteria.upcomingAt), in(linkField(kind), keys(found)...)))
	if err != nil {
		return nil, err
	}
	directory, err := state.directory(ctx, kind)
	if err != nil {
		return nil, err
	}
	all := make([]Suggestion, 0, len(found))
	named := map[string]int{}
	rank := readmodel.Relevance{Text: name}
	for id := range found {
		at, ok := directory.find(id)
		if !ok || counts[id] == 0 {
			continue
		}
		record := directory.records[at]
		label, _ := record.Name(criteria.Lang)
		suggestion := Suggestion{Record: record, Status: record.Status(state.moment()), Count: counts[id], score: rank.Score(record), name: readmodel.FoldTitle(label)}
		named[suggestion.name]++
		all = append(all, suggestion)
	}
	slices.SortFunc(all, func(a, b Suggestion) int {
		return cmp.Or(b.score-a.score, b.Count-a.Count, strings.Compare(a.name, b.name), cmp.Compare(a.Record.ID, b.Record.ID))
	})
	all = all[:min(len(all), criteria.suggested)]
	for i := range all {
		all[i].Namesake = kind == calendar.KindVenue && named[all[i].name] > 1
	}
	return all, nil
}

// Typed is what suggestions are for.
func (criteria *Criteria) Typed() readmodel.Expression { return criteria.search }
