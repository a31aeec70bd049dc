package query

import (
	"cmp"
	"context"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// published admits the posts that are published at a moment: scheduled ones
// whose time has come are (interface 5.4).
func published(now int64) readmodel.Filter {
	due := readmodel.Range{Field: readmodel.FieldPublished, Max: &now}
	return readmodel.Or{hasStatus(calendar.StatusPublish), readmodel.And{hasStatus(calendar.StatusFuture), due}}
}

// countedEvents admits the events that counts and suggestions are of, for every caller: listed
// ones (interface 1.2) without a password, whose links are secret (6.3). Of those that had
// none at a moment of the past, the ones that have one now are left out, too.
func countedEvents(now int64, protectedNow []calendar.ID) readmodel.And {
	f := readmodel.And{published(now), notHidden, not(isProtected)}
	if len(protectedNow) > 0 {
		f = append(f, not(withIDs(protectedNow)))
	}
	return f
}

func not(f readmodel.Filter) readmodel.Filter { return readmodel.Not{Filter: f} }

func isTrue(field string) readmodel.Filter { return readmodel.Term{Field: field, Value: "true"} }

func in(field string, ids ...calendar.ID) readmodel.Filter {
	return readmodel.In{Field: field, IDs: ids}
}

func withIDs(ids []calendar.ID) readmodel.Filter { return in(readmodel.FieldID, ids...) }

func hasStatus(s calendar.Status) readmodel.Filter {
	return readmodel.Term{Field: readmodel.FieldStatus, Value: string(s)}
}

var (
	isProtected = isTrue(readmodel.FieldProtected)
	notHidden   = not(isTrue(readmodel.FieldHidden))
	notTrashed  = not(hasStatus(calendar.StatusTrash))
)

func ofAuthor(c calendar.Caller) readmodel.Filter { return in(readmodel.FieldAuthor, c.ID) }

// listed admits the posts that the caller sees without a status filter
// (interface 4.4): no trash.
func (s *shared) listed(c calendar.Caller) readmodel.Filter {
	switch viewOf(c) {
	case viewAll:
		return notTrashed
	case viewOwn:
		return readmodel.Or{s.published, readmodel.And{ofAuthor(c), notTrashed}}
	default:
		return s.published
	}
}

// withStatus admits the posts of the status filter that the caller may see
// (interface 4.9).
func (s *shared) withStatus(c calendar.Caller, statuses []calendar.Status) readmodel.Filter {
	out := readmodel.Or{}
	for _, status := range statuses {
		if status == calendar.StatusPublish {
			out = append(out, s.published)
			continue
		}
		f := readmodel.And{hasStatus(status)}
		if status == calendar.StatusFuture {
			f = append(f, readmodel.Range{Field: readmodel.FieldPublished, Min: new(s.second + 1)})
		}
		if viewOf(c) != viewAll {
			f = append(f, ofAuthor(c))
		}
		out = append(out, f)
	}
	return out
}

// blanked admits the events that the caller gets blanked (interface 6.3); nil
// when there are none for this caller.
func blanked(c calendar.Caller) readmodel.Filter {
	switch viewOf(c) {
	case viewAll:
		return nil
	case viewOwn:
		return readmodel.And{isProtected, not(ofAuthor(c))}
	default:
		return isProtected
	}
}

// text is the search in all texts of the kind, name that in names alone.
func (c *Criteria) text() readmodel.Text {
	return readmodel.Text{Fields: readmodel.SchemaOf(c.Kind).Texts(), Search: c.search, Spelling: c.spelling()}
}

func (c *Criteria) name() readmodel.Text {
	return readmodel.Text{Fields: []string{readmodel.TextName}, Search: c.search, Spelling: c.spelling()}
}

// choice is what a list filters by.
type choice []chosenPart

// chosenPart is the filter of a parameter that a facet has the name of, "" of others.
type chosenPart struct {
	facet  string
	filter readmodel.Filter
}

func (c *choice) add(facet string, filters ...readmodel.Filter) {
	for _, f := range filters {
		*c = append(*c, chosenPart{facet, f})
	}
}

// parts returns the filters that fit.
func (c choice) parts(fits func(facet string) bool) readmodel.And {
	out := make(readmodel.And, 0, len(c)+2)
	for i := range c {
		if fits(c[i].facet) {
			out = append(out, c[i].filter)
		}
	}
	return out
}

// filter makes the filter of a list (interface 4.5, 4.10, 4.11).
func (st *state) filter(ctx context.Context, c *Criteria) (readmodel.And, error) {
	f, err := st.choice(ctx, c)
	return c.protect(f.parts(func(string) bool { return true })), err
}

// choice returns what a list filters by, but for its search.
func (st *state) choice(ctx context.Context, c *Criteria) (f choice, err error) {
	if len(c.withdrawn) > 0 {
		f.add("", not(withIDs(c.withdrawn)))
	}
	switch {
	case c.trashedSince != nil:
		f.add("", hasStatus(calendar.StatusTrash), not(isProtected), readmodel.Range{Field: readmodel.FieldModified, Min: c.trashedSince})
	case c.statuses != nil:
		f.add("", st.withStatus(c.Caller, c.statuses))
	case c.Kind.IsPost():
		f.add("", st.listed(c.Caller))
	}
	if c.Kind == calendar.KindEvent {
		f.add("", notHidden)
		f.add("", c.window.filters()...)
		f.add("", c.lap.overlaps(nil)...)
	}
	f = append(f, c.filters...)
	if c.Kind == calendar.KindEvent {
		err = st.addLinked(ctx, c, &f)
		return f, err
	}
	by, err := st.byEvents(ctx, c)
	f.add("", by...)
	return f, err
}

// addLinked adds the filters of events by linked records, as far as the caller sees them.
func (st *state) addLinked(ctx context.Context, c *Criteria, f *choice) error {
	add := func(facet string, k calendar.Kind, ids []calendar.ID) error {
		if k != calendar.KindTag {
			shown, err := st.visible(ctx, c, k)
			if err != nil {
				return err
			}
			if k == calendar.KindCategory {
				ids = shown.withBelow(ids)
			} else {
				ids = shown.among(ids)
			}
		}
		f.add(facet, in(linkField(k), slices.DeleteFunc(slices.Clone(ids), c.withdrawn.has)...))
		return nil
	}
	for _, k := range linkKinds {
		if ids := c.named[k]; ids != nil {
			if err := add(linkField(k), k, ids); err != nil {
				return err
			}
		}
	}
	if of := c.of; of.ID != 0 {
		if err := add("", of.Kind, []calendar.ID{of.ID}); err != nil {
			return err
		}
	}
	return st.addPlaces(ctx, c, f)
}

// protect adds the search, and keeps what is blanked for the caller out of the
// filters that would tell it (interface 4.5).
func (c *Criteria) protect(f readmodel.And) readmodel.And {
	var b readmodel.Filter
	if c.Kind == calendar.KindEvent {
		b = blanked(c.Caller)
	}
	if b != nil && c.hides {
		f = append(f, not(b))
		b = nil
	}
	switch {
	case c.search.Query == "":
		return f
	case b == nil:
		return append(f, c.text())
	case len(c.search.Not) == 0:
		// What fits in the title fits in all texts: one search, then a look at
		// the few that are blanked.
		return append(f, c.text(), readmodel.Or{not(b), readmodel.And{b, c.name()}})
	default:
		return append(f, readmodel.Or{readmodel.And{not(b), c.text()}, readmodel.And{b, c.name()}})
	}
}

// byEvents are the filters of a list of linked records by the events that they have (interface
// 4.10, 4.11).
func (st *state) byEvents(ctx context.Context, c *Criteria) (f readmodel.And, err error) {
	withEvents := func(counts map[calendar.ID]int, failed error) readmodel.Filter {
		ids, above := st.withAbove(ctx, c.Kind, counts)
		err = cmp.Or(err, failed, above)
		return withIDs(ids)
	}
	if c.ofEvent {
		f = append(f, withIDs(c.linked))
	}
	if c.hasEvents != nil && (!c.ofEvent || !c.Kind.IsTerm()) {
		with := withEvents(st.countedOf(ctx, c.Kind))
		if !*c.hasEvents {
			with = not(with)
		}
		f = append(f, with)
	}
	if c.upcomingAt != 0 {
		f = append(f, withEvents(st.eventsOf(ctx, c.Kind, st.coming(c.upcomingAt))))
	}
	return f, err
}
