package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// readTyped reads what suggestions are for.
func (parser *parser) readTyped() {
	value := parser.parameter("q")
	if text, ok := value.Text(); ok {
		if parser.parseSearch(value, text); parser.Search.IsZero() {
			value.Refuse(calendar.ReasonNoWord)
		}
		parser.fromNow()
	}
	words := parser.parameter("kinds").Words()
	for _, kind := range calendar.Kinds {
		if words == nil || slices.Contains(words, kind.Collection()) {
			parser.kinds = append(parser.kinds, kind)
		}
	}
	parser.suggested = parser.parameter("limit").Int()
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
func (service *Service) Suggest(ctx context.Context, criteria *Criteria) (suggesteds []Suggested, position calendar.Position, err error) {
	suggesteds, err = planned(ctx, service, criteria, func(plan *listPlan) []Suggested {
		position = plan.generation.Position
		result := make([]Suggested, len(plan.kinds))
		group, all := errgroup.WithContext(ctx) // a read model elsewhere answers for all kinds at the same time
		for i, kind := range plan.kinds {
			group.Go(func() error {
				of, plan := *criteria, *plan
				of.Kind, plan.Criteria, plan.ctx = kind, &of, all
				result[i] = plan.suggest()
				return plan.err
			})
		}
		plan.err = group.Wait()
		return result
	})
	return suggesteds, position, err
}

func (plan *listPlan) suggest() (suggested Suggested) {
	plan.stepped(func() int {
		if plan.Kind == calendar.KindEvent {
			suggested.List = plan.suggestEvents()
		} else {
			suggested.List = plan.suggestOthers()
		}
		return len(suggested.List)
	})
	suggested.Kind, suggested.Spelling = plan.Kind, plan.spelling()
	return suggested
}

func (plan *listPlan) suggestEvents() []Suggestion {
	name := plan.text().InName()
	page := plan.search(readmodel.Query{
		Kind: plan.Kind, Filter: append(plan.coming(plan.upcomingAt), name), Limit: plan.suggested,
		Sort:     append([]readmodel.Sort{{Rank: &readmodel.Relevance{Text: name}, Desc: true}}, byStart(false)...),
		Collapse: &readmodel.Collapse{Field: readmodel.FieldTitleKey.In(plan.Lang)},
	})
	suggestions := make([]Suggestion, len(page.Documents))
	for i, document := range page.Documents {
		suggestions[i] = Suggestion{Record: document.Record, Status: document.Record.Status(plan.moment), Count: document.Repeats.Count}
		if venues := plan.among(calendar.KindVenue, document.Record.Fields.IDs("venue")); venues != nil {
			suggestions[i].Venue = venues[0].record
		}
	}
	return suggestions
}

func (plan *listPlan) suggestOthers() (all []Suggestion) {
	name := plan.text().InName()
	and := readmodel.And{}
	if plan.Kind.IsPost() {
		and = append(and, plan.published)
	}
	found := keys(plan.tally(plan.Kind, readmodel.FieldID, append(and, name)))
	if len(found) == 0 {
		return nil
	}
	counts := plan.eventsOf(plan.Kind, append(plan.coming(plan.upcomingAt), in(linkFields[plan.Kind], found...)))
	named, directory, rank := map[string]int{}, plan.directory(plan.Kind), readmodel.Relevance{Text: name}
	for _, id := range found {
		option := directory.find(id)
		if option == nil || counts[id] == 0 {
			continue
		}
		record := option.record
		label, _ := record.Name(plan.Lang)
		suggestion := Suggestion{Record: record, Status: record.Status(plan.moment), Count: counts[id], score: rank.Score(record), name: readmodel.FoldTitle(label)}
		named[suggestion.name]++
		all = append(all, suggestion)
	}
	slices.SortFunc(all, func(a, b Suggestion) int {
		return cmp.Or(b.score-a.score, b.Count-a.Count, strings.Compare(a.name, b.name), cmp.Compare(a.Record.ID, b.Record.ID))
	})
	all = all[:min(len(all), plan.suggested)]
	for i := range all {
		all[i].Namesake = plan.Kind == calendar.KindVenue && named[all[i].name] > 1
	}
	return all
}
