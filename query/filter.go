package query

import (
	"context"

	"daybook/calendar"
	"daybook/internal/htmltext"
	"daybook/query/readmodel"
)

// published admits the posts that are published at a moment: scheduled ones
// whose time has come are (interface 5.4).
func published(now int64) readmodel.Filter {
	return readmodel.Or{
		hasStatus(calendar.StatusPublish),
		readmodel.And{
			hasStatus(calendar.StatusFuture),
			readmodel.Range{Field: readmodel.FieldPublished, Max: &now},
		},
	}
}

// scheduled admits the posts whose publication lies ahead.
func scheduled(now int64) readmodel.Filter {
	next := now + 1
	return readmodel.And{
		hasStatus(calendar.StatusFuture),
		readmodel.Range{Field: readmodel.FieldPublished, Min: &next},
	}
}

func notHidden() readmodel.Filter {
	return not(isTrue(readmodel.FieldHidden))
}

// countedEvents admits the events that counts and suggestions are of, for every caller: listed
// ones (interface 1.2) without a password, whose links are secret (6.3). Of those that had
// none at a moment of the past, the ones that have one now are left out, too.
func countedEvents(now int64, protectedNow []calendar.ID) readmodel.And {
	f := readmodel.And{published(now), notHidden(), not(isProtected)}
	if len(protectedNow) > 0 {
		f = append(f, not(withIDs(protectedNow)))
	}
	return f
}

func not(f readmodel.Filter) readmodel.Filter { return readmodel.Not{Filter: f} }

func isTrue(field string) readmodel.Filter { return readmodel.Term{Field: field, Value: "true"} }

func withIDs(ids []calendar.ID) readmodel.Filter {
	return readmodel.In{Field: readmodel.FieldID, IDs: ids}
}

var isProtected readmodel.Filter = isTrue(readmodel.FieldProtected)

func ofAuthor(c calendar.Caller) readmodel.Filter {
	return readmodel.In{Field: readmodel.FieldAuthor, IDs: []calendar.ID{c.ID}}
}

func hasStatus(s calendar.Status) readmodel.Filter {
	return readmodel.Term{Field: readmodel.FieldStatus, Value: string(s)}
}

// visible admits the posts that the caller sees without a status filter
// (interface 4.4): no trash.
func (s *shared) visible(c calendar.Caller) readmodel.Filter {
	switch viewOf(c) {
	case viewAll:
		return not(hasStatus(calendar.StatusTrash))
	case viewOwn:
		return readmodel.Or{
			s.published,
			readmodel.And{ofAuthor(c), not(hasStatus(calendar.StatusTrash))},
		}
	default:
		return s.published
	}
}

// withStatus admits the posts of the status filter that the caller may see
// (interface 4.9).
func (s *shared) withStatus(c calendar.Caller, statuses []calendar.Status) readmodel.Filter {
	own := viewOf(c) != viewAll
	out := make(readmodel.Or, 0, len(statuses))
	for _, status := range statuses {
		var f readmodel.Filter
		switch status {
		case calendar.StatusPublish:
			out = append(out, s.published)
			continue
		case calendar.StatusFuture:
			f = scheduled(s.second)
		case calendar.StatusDraft, calendar.StatusPending, calendar.StatusPrivate, calendar.StatusTrash:
			f = hasStatus(status)
		}
		if own {
			f = readmodel.And{ofAuthor(c), f}
		}
		out = append(out, f)
	}
	if len(out) == 1 {
		return out[0]
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

// The texts that a search looks in (interface 4.7).
var (
	eventTexts = []string{readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt}
	venueTexts = []string{
		readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt,
		readmodel.TextAddress, readmodel.TextCity, readmodel.TextCountry, readmodel.TextProvince,
		readmodel.TextState, readmodel.TextStateProv, readmodel.TextZip, readmodel.TextPhone, readmodel.TextWebsite,
	}
	organizerTexts = []string{
		readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt,
		readmodel.TextPhone, readmodel.TextEmail, readmodel.TextWebsite,
	}
)

func (c *Criteria) text(fields []string) readmodel.Text {
	return readmodel.Text{Fields: fields, Search: c.run.search, Spelling: c.run.spelling()}
}

// posts starts the filter of a list of posts with what the caller may see.
func (c *Criteria) posts(g *shared) readmodel.And {
	f := c.withdrawn.leaveOut(make(readmodel.And, 0, 8), c.Kind)
	switch {
	case c.run.trashedSince != nil:
		trashed := readmodel.Range{Field: readmodel.FieldModified, Min: c.run.trashedSince}
		return append(f, hasStatus(calendar.StatusTrash), not(isProtected), trashed)
	case c.run.statuses != nil:
		return append(f, g.withStatus(c.Caller, c.run.statuses))
	}
	return append(f, g.visible(c.Caller))
}

// appendSwitch adds a boolean filter.
func appendSwitch(f readmodel.And, field string, v sw) readmodel.And {
	switch v {
	case swOn:
		return append(f, isTrue(field))
	case swOff:
		return append(f, not(isTrue(field)))
	default:
		return f
	}
}

// anyTerm admits what has one of the values.
func anyTerm(field string, values []string) readmodel.Or {
	out := make(readmodel.Or, len(values))
	for i, v := range values {
		out[i] = readmodel.Term{Field: field, Value: v}
	}
	return out
}

// choice is what a list of events filters by, in the order of its parameters.
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

// parts returns the filters that fit, nil for all.
func (c choice) parts(fits func(facet string) bool) readmodel.And {
	out := make(readmodel.And, 0, len(c)+2)
	for i := range c {
		if fits == nil || fits(c[i].facet) {
			out = append(out, c[i].filter)
		}
	}
	return out
}

// eventFilter makes the filter of a list of events (interface 4.5).
func (st *state) eventFilter(ctx context.Context, c *Criteria) (readmodel.And, error) {
	f, err := st.choice(ctx, c)
	return c.protect(f.parts(nil)), err
}

func (st *state) choice(ctx context.Context, c *Criteria) (f choice, err error) {
	r := &c.run
	f.add("", append(c.posts(st.shared), notHidden())...)
	if r.include != nil {
		f.add("", withIDs(r.include))
	}
	f.add("", r.window.filters(nil)...)
	if r.source != nil {
		f.add("", r.source.filter())
	}
	f.add("", r.lap.overlaps(nil)...)
	r.moments(&f)
	r.costFilters(&f)
	f.add("featured", appendSwitch(nil, readmodel.FieldFeatured, r.featured)...)
	f.add("ticketed", appendSwitch(nil, readmodel.FieldTicketed, r.ticketed)...)
	if r.eventStatuses != nil {
		f.add("", anyTerm(readmodel.FieldEventStatus, r.eventStatuses))
	}
	if r.postParent != 0 {
		f.add("", readmodel.In{Field: readmodel.FieldPostParent, IDs: []calendar.ID{r.postParent}})
	}
	for _, k := range linkKinds {
		if ids := r.linkedIDs(k); ids != nil {
			if err := st.addLinked(ctx, c, &f, linkField(k), k, ids); err != nil {
				return nil, err
			}
		}
	}
	if r.of.ID != 0 {
		if err := st.addLinked(ctx, c, &f, "", r.of.Kind, []calendar.ID{r.of.ID}); err != nil {
			return nil, err
		}
	}
	return f, st.addPlaces(ctx, c, &f)
}

// addLinked adds the filter by linked records of a kind, as far as the caller sees them.
func (st *state) addLinked(ctx context.Context, c *Criteria, f *choice, facet string, k calendar.Kind, ids []calendar.ID) error {
	if k != calendar.KindTag {
		d, err := st.directory(ctx, k)
		if err != nil {
			return err
		}
		if k == calendar.KindCategory {
			ids = d.withBelow(ids)
		} else {
			ids = d.visible(c.Caller, st.shared, c.withdrawn).among(ids)
		}
	}
	f.add(facet, readmodel.In{Field: linkField(k), IDs: c.withdrawn.without(k, ids)})
	return nil
}

// linkedIDs are the linked records of a kind that a filter names, nil for none.
func (r *criteria) linkedIDs(k calendar.Kind) []calendar.ID {
	switch k {
	case calendar.KindVenue:
		return r.venues
	case calendar.KindOrganizer:
		return r.organizers
	case calendar.KindCategory:
		return r.categories
	default:
		return r.tags
	}
}

// protect adds the search, and keeps what is blanked for the caller out of the
// filters that would tell it (interface 4.5).
func (c *Criteria) protect(f readmodel.And) readmodel.And {
	r := &c.run
	b := blanked(c.Caller)
	if b != nil && r.hides {
		f = append(f, not(b))
		b = nil
	}
	switch {
	case r.search.Query == "":
		return f
	case b == nil:
		return append(f, c.text(eventTexts))
	case len(r.search.Not) == 0:
		// What fits in the title fits in all texts: one search, then a look at
		// the few that are blanked.
		return append(f, c.text(eventTexts), readmodel.Or{
			not(b), readmodel.And{b, c.text(eventTexts[:1])},
		})
	default:
		return append(f, readmodel.Or{
			readmodel.And{not(b), c.text(eventTexts)},
			readmodel.And{b, c.text(eventTexts[:1])},
		})
	}
}

// linkedFilter makes the filter of a list of venues or organizers (interface
// 4.10).
func (st *state) linkedFilter(ctx context.Context, c *Criteria) (readmodel.And, error) {
	r := &c.run
	f := c.posts(st.shared)
	if r.ofEvent {
		f = append(f, withIDs(r.linked))
	}
	if r.hasEvents != swNone {
		used, err := st.allCounts(ctx, c.Kind)
		if err != nil {
			return nil, err
		}
		in := withIDs(keys(used))
		if r.hasEvents == swOff {
			in = not(in)
		}
		f = append(f, in)
	}
	if r.onlyUpcoming {
		ids, err := st.withUpcoming(ctx, c.Kind, r.upcomingAt)
		if err != nil {
			return nil, err
		}
		f = append(f, withIDs(ids))
	}
	if r.search.Query != "" {
		texts := venueTexts
		if c.Kind == calendar.KindOrganizer {
			texts = organizerTexts
		}
		f = append(f, c.text(texts))
	}
	return f, nil
}

// termFilter makes the filter of a list of terms (interface 4.11).
func (st *state) termFilter(ctx context.Context, c *Criteria) (readmodel.And, error) {
	r := &c.run
	f := c.withdrawn.leaveOut(make(readmodel.And, 0, 6), c.Kind)
	if r.search.Query != "" {
		f = append(f, readmodel.Contains{
			Fields: []string{readmodel.FieldNameLower(c.Lang), readmodel.FieldSlug}, Value: htmltext.NameKey(r.search.Query),
		})
	}
	if r.exclude != nil {
		f = append(f, not(withIDs(r.exclude)))
	}
	if r.include != nil {
		f = append(f, withIDs(r.include))
	}
	if r.parent != 0 {
		f = append(f, readmodel.In{Field: readmodel.FieldParent, IDs: []calendar.ID{r.parent}})
	}
	if r.slug != "" {
		f = append(f, readmodel.Term{Field: readmodel.FieldSlug, Value: r.slug})
	}
	if r.ofEvent {
		return append(f, withIDs(r.linked)), nil
	}
	if r.hideEmpty != swOff {
		ids, err := st.usedTerms(ctx, c.Kind)
		if err != nil {
			return nil, err
		}
		f = append(f, withIDs(ids))
	}
	return f, nil
}
