package query

import (
	"cmp"
	"context"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// published admits the posts that are published at a moment: scheduled ones
// whose time has come are (interface 5.4).
func published(now int64) readmodel.Filter {
	due := readmodel.AtMost(readmodel.FieldPublished, now)
	return readmodel.Or{hasStatus(calendar.StatusPublish), readmodel.And{hasStatus(calendar.StatusFuture), due}}
}

// countedEvents admits the events that counts and suggestions are of, for every caller: listed
// ones (interface 1.2) without a password, whose links are secret (6.3). Of those that had
// none at a moment of the past, the ones that have one now are left out, too.
func countedEvents(now int64, protectedNow []calendar.ID) readmodel.And {
	and := readmodel.And{published(now), notHidden, not(isProtected)}
	if len(protectedNow) > 0 {
		and = append(and, not(withIDs(protectedNow)))
	}
	return and
}

func not(filter readmodel.Filter) readmodel.Filter { return readmodel.Not{Filter: filter} }

func isTrue(field string) readmodel.Filter { return readmodel.Term{Field: field, Value: "true"} }

func in(field string, ids ...calendar.ID) readmodel.Filter {
	return readmodel.In{Field: field, IDs: ids}
}

func withIDs(ids []calendar.ID) readmodel.Filter { return in(readmodel.FieldID, ids...) }

func hasStatus(status calendar.Status) readmodel.Filter {
	return readmodel.Term{Field: readmodel.FieldStatus, Value: string(status)}
}

var (
	isProtected = isTrue(readmodel.FieldProtected)
	notHidden   = not(isTrue(readmodel.FieldHidden))
	notTrashed  = not(hasStatus(calendar.StatusTrash))
)

func ofAuthor(caller calendar.Caller) readmodel.Filter { return in(readmodel.FieldAuthor, caller.ID) }

// listed admits the posts that the caller sees without a status filter
// (interface 4.4): no trash.
func (shared *shared) listed(caller calendar.Caller) readmodel.Filter {
	switch viewOf(caller) {
	case viewAll:
		return notTrashed
	case viewOwn:
		return readmodel.Or{shared.published, readmodel.And{ofAuthor(caller), notTrashed}}
	default:
		return shared.published
	}
}

// withStatus admits the posts of the status filter that the caller may see
// (interface 4.9).
func (shared *shared) withStatus(caller calendar.Caller, statuses []calendar.Status) readmodel.Filter {
	out := readmodel.Or{}
	for _, status := range statuses {
		if status == calendar.StatusPublish {
			out = append(out, shared.published)
			continue
		}
		and := readmodel.And{hasStatus(status)}
		if status == calendar.StatusFuture {
			and = append(and, readmodel.AtLeast(readmodel.FieldPublished, shared.second+1))
		}
		if viewOf(caller) != viewAll {
			and = append(and, ofAuthor(caller))
		}
		out = append(out, and)
	}
	return out
}

// blanked admits the events that the caller gets blanked (interface 6.3); nil
// when there are none for this caller.
func blanked(caller calendar.Caller) readmodel.Filter {
	switch viewOf(caller) {
	case viewAll:
		return nil
	case viewOwn:
		return readmodel.And{isProtected, not(ofAuthor(caller))}
	default:
		return isProtected
	}
}

// text is the search in all texts of the kind, name that in names alone.
func (criteria *Criteria) text() readmodel.Text {
	return readmodel.Text{Fields: readmodel.SchemaOf(criteria.Kind).Texts, Search: criteria.search, Spelling: criteria.spelling()}
}

func (criteria *Criteria) name() readmodel.Text {
	text := criteria.text()
	text.Fields = []string{readmodel.TextName}
	return text
}

// choice is what a list filters by.
type choice []chosenFilter

// chosenFilter is the filter of a parameter that a facet has the name of, "" of others.
type chosenFilter struct {
	facet  string
	filter readmodel.Filter
}

func (choice *choice) add(facet string, filters ...readmodel.Filter) {
	for _, filter := range filters {
		*choice = append(*choice, chosenFilter{facet, filter})
	}
}

// parts returns the filters that fit.
func (choice choice) parts(fits func(facet string) bool) readmodel.And {
	out := make(readmodel.And, 0, len(choice)+2)
	for i := range choice {
		if fits(choice[i].facet) {
			out = append(out, choice[i].filter)
		}
	}
	return out
}

// filter makes the filter of a list (interface 4.5, 4.10, 4.11).
func (state *state) filter(ctx context.Context, criteria *Criteria) (readmodel.And, error) {
	choice, err := state.choice(ctx, criteria)
	return criteria.protect(choice.parts(func(string) bool { return true })), err
}

// choice returns what a list filters by, but for its search.
func (state *state) choice(ctx context.Context, criteria *Criteria) (choice choice, err error) {
	if len(criteria.withdrawn) > 0 {
		choice.add("", not(withIDs(criteria.withdrawn)))
	}
	switch {
	case criteria.trashedSince != nil:
		choice.add("", hasStatus(calendar.StatusTrash), not(isProtected), readmodel.AtLeast(readmodel.FieldModified, *criteria.trashedSince))
	case criteria.statuses != nil:
		choice.add("", state.withStatus(criteria.Caller, criteria.statuses))
	case criteria.Kind.IsPost():
		choice.add("", state.listed(criteria.Caller))
	}
	choice = append(choice, criteria.filters...)
	if criteria.Kind != calendar.KindEvent {
		and, err := state.byEvents(ctx, criteria)
		choice.add("", and...)
		return choice, err
	}
	choice.add("", notHidden)
	choice.add("", criteria.window.filters()...)
	choice.add("", criteria.lap.overlaps(nil)...)
	for i := range facets {
		err = cmp.Or(err, state.addChosen(ctx, criteria, &choice, facets[i].name, &facets[i], criteria.chosen[facets[i].name]))
	}
	if of := criteria.of; of.ID != 0 {
		err = cmp.Or(err, state.addChosen(ctx, criteria, &choice, "", facetOf(linkField(of.Kind)), []option{recordOption(of.ID)}))
	}
	return choice, cmp.Or(err, state.addPlaces(ctx, criteria, &choice))
}

// addChosen adds the filter by some options of a facet; of records as far as the caller sees
// them.
func (state *state) addChosen(ctx context.Context, criteria *Criteria, choice *choice, name string, facet *facet, chosen []option) error {
	if chosen == nil {
		return nil
	}
	if facet.kind != 0 {
		visible, err := state.visible(ctx, criteria, facet.kind)
		if err != nil {
			return err
		}
		var ids []calendar.ID
		for _, option := range chosen {
			if facet.isPlace() {
				option.numbers = visible.names[facet.name][option.word]
			}
			ids = append(ids, option.numbers...)
		}
		chosen = []option{{numbers: visible.among(visible.withBelow(ids))}}
	}
	choice.add(name, anyOf(facet.field, chosen))
	return nil
}

// protect adds the search, and keeps what is blanked for the caller out of the
// filters that would tell it (interface 4.5).
func (criteria *Criteria) protect(and readmodel.And) readmodel.And {
	var filter readmodel.Filter
	if criteria.Kind == calendar.KindEvent {
		filter = blanked(criteria.Caller)
	}
	if filter != nil && criteria.hides {
		and = append(and, not(filter))
		filter = nil
	}
	switch {
	case criteria.search.Query == "":
		return and
	case filter == nil:
		return append(and, criteria.text())
	default:
		return append(and, readmodel.Or{readmodel.And{not(filter), criteria.text()}, readmodel.And{filter, criteria.name()}})
	}
}

// byEvents are the filters of a list of linked records by the events that they have (interface
// 4.10, 4.11).
func (state *state) byEvents(ctx context.Context, criteria *Criteria) (and readmodel.And, err error) {
	withEvents := func(counts map[calendar.ID]int, failed error) readmodel.Filter {
		ids, above := state.withAbove(ctx, criteria.Kind, counts)
		err = cmp.Or(err, failed, above)
		return withIDs(ids)
	}
	if criteria.hasEvents != nil {
		with := withEvents(state.countedOf(ctx, criteria.Kind))
		if !*criteria.hasEvents {
			with = not(with)
		}
		and = append(and, with)
	}
	if criteria.upcomingAt != 0 {
		and = append(and, withEvents(state.eventsOf(ctx, criteria.Kind, state.coming(criteria.upcomingAt))))
	}
	return and, err
}
