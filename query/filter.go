package query

import (
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// The owners besides single callers.
const (
	nobody    calendar.ID = 0
	everybody calendar.ID = -1
)

// ownerOf returns whose posts of every status a caller sees in lists, besides all published ones
// (interface 4.4).
func ownerOf(caller calendar.Caller) calendar.ID {
	switch {
	case caller.ReadsAll():
		return everybody
	case caller.ReadsOwn():
		return caller.ID
	default:
		return nobody
	}
}

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

// listed admits the posts that the caller sees without a status filter
// (interface 4.4): no trash.
func (plan *listPlan) listed() readmodel.Filter {
	switch owner := ownerOf(plan.Caller); owner {
	case everybody:
		return notTrashed
	case nobody:
		return plan.published
	default:
		return readmodel.Or{plan.published, readmodel.And{in(readmodel.FieldAuthor, owner), notTrashed}}
	}
}

// withStatus admits the posts of the status filter that the caller may see
// (interface 4.9).
func (plan *listPlan) withStatus() readmodel.Filter {
	result := readmodel.Or{}
	for _, status := range plan.statuses {
		if status == calendar.StatusPublish {
			result = append(result, plan.published)
			continue
		}
		and := readmodel.And{hasStatus(status)}
		if status == calendar.StatusFuture {
			and = append(and, readmodel.AtLeast(readmodel.FieldPublished, plan.moment.Unix()+1))
		}
		if owner := ownerOf(plan.Caller); owner != everybody {
			and = append(and, in(readmodel.FieldAuthor, owner))
		}
		result = append(result, and)
	}
	return result
}

// blanked admits the events that the caller gets blanked (interface 6.3); nil
// when there are none for this caller.
func blanked(caller calendar.Caller) readmodel.Filter {
	switch owner := ownerOf(caller); owner {
	case everybody:
		return nil
	case nobody:
		return isProtected
	default:
		return readmodel.And{isProtected, not(in(readmodel.FieldAuthor, owner))}
	}
}

// text is the search in all texts of the kind.
func (plan *listPlan) text() readmodel.Text {
	return readmodel.Text{Fields: readmodel.SchemaOf(plan.Kind).Texts, Search: plan.Search, Spelling: plan.spelling()}
}

// filter makes the filter of the list (interface 4.5, 4.10, 4.11), without the parameters of some
// facets. It keeps what is blanked for the caller out of the filters that would tell it.
func (plan *listPlan) filter(without ...string) readmodel.And {
	and := plan.others()
	for _, name := range Facets {
		if !slices.Contains(without, name) {
			and = append(and, plan.byFacet(name)...)
		}
	}
	switch hidden := blanked(plan.Caller); {
	case hidden == nil || plan.Kind != calendar.KindEvent:
	case plan.hides:
		and = append(and, not(hidden))
	case plan.Search.Query != "":
		return append(and, readmodel.Or{readmodel.And{not(hidden), plan.text()}, readmodel.And{hidden, plan.text().InName()}})
	}
	if plan.Search.Query != "" {
		and = append(and, plan.text())
	}
	return and
}

// byFacet is the filter by the parameter of a facet, none where it was not sent.
func (plan *listPlan) byFacet(name string) readmodel.And {
	if chosen := plan.chosen[name]; chosen != nil {
		return readmodel.And{plan.withOptions(name, chosen)}
	}
	return nil
}

// others are the filters of the list but for those by parameters of facets and its search.
func (plan *listPlan) others() readmodel.And {
	and := slices.Clip(plan.filters)
	if len(plan.Past.Withdrawn) > 0 {
		and = append(and, not(withIDs(plan.Past.Withdrawn)))
	}
	switch {
	case plan.of != nil:
		and = append(and, plan.of)
	case plan.statuses != nil:
		and = append(and, plan.withStatus())
	case plan.Kind.IsPost():
		and = append(and, plan.listed())
	}
	if plan.Kind != calendar.KindEvent {
		return append(and, plan.byEvents()...)
	}
	and = append(and, notHidden)
	and = append(and, plan.window.filters()...)
	if plan.Of.ID != 0 {
		and = append(and, plan.withOptions(linkFields[plan.Of.Kind], []option{numbered("", plan.Of.ID)}))
	}
	return append(and, plan.byPlaces()...)
}

// withOptions admits what one of some options of a facet does; of records as far as the
// caller sees them.
func (plan *listPlan) withOptions(name string, options []option) readmodel.Filter {
	facet := plan.facet(name)
	if facet.kind == 0 {
		return anyOf(facet.field, options)
	}
	directory := plan.directory(facet.kind)
	var ids []calendar.ID
	for _, option := range options {
		if facet.isPlace() {
			option.numbers = directory.names[name][option.word]
		}
		for _, id := range option.numbers {
			if known := directory.find(id); known != nil {
				ids = append(ids, known.numbers...)
			}
		}
	}
	slices.Sort(ids)
	return in(facet.field, recordsOf(plan.among(facet.kind, slices.Compact(ids)))...)
}

// byEvents are the filters of a list of linked records by the events that they have (interface
// 4.10, 4.11).
func (plan *listPlan) byEvents() (and readmodel.And) {
	if plan.hasEvents != nil {
		with := withIDs(plan.withAbove(plan.Kind, plan.countedOf(plan.Kind)))
		if !*plan.hasEvents {
			with = not(with)
		}
		and = append(and, with)
	}
	if plan.upcomingAt != 0 {
		and = append(and, withIDs(plan.withAbove(plan.Kind, plan.eventsOf(plan.Kind, plan.coming(plan.upcomingAt)))))
	}
	return and
}
