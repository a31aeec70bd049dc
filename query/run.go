package query

import (
	"cmp"
	"context"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// farOffset is the offset from which on the total is asked for first, so that a
// page far past the end costs no engine a deep walk.
const farOffset = 10_000

// Run answers the criteria. A page past the end of a list of posts is
// *calendar.Error with CodePageNotFound.
func (s *Service) Run(ctx context.Context, c *Criteria) (*List, error) {
	snap, err := s.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var f readmodel.And
	switch {
	case c.Kind == calendar.KindEvent:
		f, err = s.eventFilter(ctx, c, snap)
	case c.Kind.IsPost():
		f, err = s.linkedFilter(ctx, c, snap)
	default:
		f, err = s.termFilter(ctx, c, snap)
	}
	if err != nil {
		return nil, err
	}
	page, err := s.page(ctx, c, f, snap)
	if err != nil {
		return nil, err
	}
	if c.Page > 1 && len(page.Documents) == 0 && c.Kind.IsPost() {
		return nil, calendar.Fail(calendar.CodePageNotFound, c.Kind)
	}
	list := &List{
		Total:      page.Total,
		TotalPages: (page.Total + c.PerPage - 1) / c.PerPage,
		Position:   page.Position,
	}
	list.Views, err = s.views(ctx, c, page.Documents, snap)
	return list, err
}

// page finds the documents of the page.
func (s *Service) page(ctx context.Context, c *Criteria, f readmodel.And, snap *snapshot) (readmodel.Page, error) {
	if c.Kind.IsTerm() {
		switch c.run.orderBy {
		case "count":
			counts, err := snap.counts(ctx, s, c.Kind)
			if err != nil {
				return readmodel.Page{}, err
			}
			return s.ranked(ctx, c, f, func(a, b calendar.ID) int { return cmp.Compare(counts[a], counts[b]) })
		case "include":
			if c.run.include != nil {
				place := make(map[calendar.ID]int, len(c.run.include))
				for i, id := range c.run.include {
					place[id] = i
				}
				return s.ranked(ctx, c, f, func(a, b calendar.ID) int { return cmp.Compare(place[a], place[b]) })
			}
		}
	}
	q := readmodel.Query{
		Kind: c.Kind, Filter: f, Sort: c.order(),
		Offset: (c.Page - 1) * c.PerPage, Limit: c.PerPage,
	}
	if q.Offset >= farOffset {
		total := q
		total.Offset, total.Limit = 0, 0
		if p, err := s.index.Search(ctx, total); err != nil || p.Total <= q.Offset {
			return p, err
		}
	}
	return s.index.Search(ctx, q)
}

// order gives the order of the list (interface 4.4, 4.11).
func (c *Criteria) order() []readmodel.Sort {
	switch {
	case c.Kind == calendar.KindEvent && c.run.include != nil:
		return []readmodel.Sort{{Field: readmodel.FieldDate}, {Field: readmodel.FieldID}}
	case c.Kind == calendar.KindEvent:
		return []readmodel.Sort{{Field: readmodel.FieldStart}, {Field: readmodel.FieldDate}, {Field: readmodel.FieldID}}
	case c.Kind.IsPost():
		return []readmodel.Sort{{Field: readmodel.FieldDate, Desc: true}, {Field: readmodel.FieldID, Desc: true}}
	}
	field := readmodel.FieldNameKey(c.Lang)
	switch c.run.orderBy {
	case "id", "none":
		return []readmodel.Sort{{Field: readmodel.FieldID, Desc: c.run.desc}}
	case "slug":
		field = readmodel.FieldSlug
	case "description":
		field = readmodel.FieldDescriptionKey(c.Lang)
	}
	return []readmodel.Sort{{Field: field, Desc: c.run.desc}, {Field: readmodel.FieldID}}
}

// ranked answers a page of terms in an order that the read model does not keep:
// by compare, then by id.
func (s *Service) ranked(ctx context.Context, c *Criteria, f readmodel.And, compare func(a, b calendar.ID) int) (readmodel.Page, error) {
	position, err := s.index.Visible(ctx)
	if err != nil {
		return readmodel.Page{}, err
	}
	found, err := s.index.Counts(ctx, c.Kind, readmodel.FieldID, f)
	if err != nil {
		return readmodel.Page{}, err
	}
	ids := keys(found)
	slices.SortStableFunc(ids, func(a, b calendar.ID) int {
		if c.run.desc {
			a, b = b, a
		}
		return compare(a, b)
	})
	page := readmodel.Page{Total: len(ids), Position: position}
	from := min((c.Page-1)*c.PerPage, len(ids))
	ids = ids[from:min(from+c.PerPage, len(ids))]
	documents, err := s.index.Get(ctx, ids)
	if err != nil {
		return readmodel.Page{}, err
	}
	page.Documents = make([]readmodel.Document, 0, len(ids))
	for _, id := range ids {
		if d, ok := documents[id]; ok {
			page.Documents = append(page.Documents, d)
		}
	}
	return page, nil
}

// views makes the views of a page, with what its events embed.
func (s *Service) views(ctx context.Context, c *Criteria, documents []readmodel.Document, snap *snapshot) ([]View, error) {
	now := time.Unix(snap.now, 0)
	out := make([]View, len(documents))
	for i, d := range documents {
		out[i].Record = d.Record
		if c.Kind.IsPost() {
			out[i].Status = d.Record.Status(now)
		}
	}
	switch {
	case c.Kind == calendar.KindEvent:
		if err := s.embed(ctx, c, out, snap, now); err != nil {
			return nil, err
		}
	case c.Kind.IsTerm() && len(out) > 0:
		counts, err := snap.counts(ctx, s, c.Kind)
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i].Count = counts[out[i].Record.ID]
		}
	}
	for i := range out {
		out[i].Mark = out[i].mark()
	}
	return out, nil
}

// embed joins the venues, organizers, categories and tags of a page of events:
// one multi-get for all of them.
func (s *Service) embed(ctx context.Context, c *Criteria, views []View, snap *snapshot, now time.Time) error {
	var ids []calendar.ID
	for i := range views {
		v := &views[i]
		v.Blanked = calendar.NeedsPassword(c.Caller, v.Record)
		if v.Blanked {
			continue
		}
		for _, name := range linkFields {
			ids = append(ids, v.Record.Fields.IDs(name)...)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	documents, err := s.index.Get(ctx, ids)
	if err != nil {
		return err
	}
	get := func(id calendar.ID) *calendar.Record { return documents[id].Record }
	var counts [calendar.KindTag + 1]map[calendar.ID]int
	for i := range views {
		v := &views[i]
		if v.Blanked {
			continue
		}
		for _, k := range [...]calendar.Kind{calendar.KindCategory, calendar.KindTag} {
			if counts[k] == nil && len(v.Record.Fields.IDs(linkField(k))) > 0 {
				if counts[k], err = snap.counts(ctx, s, k); err != nil {
					return err
				}
			}
		}
		v.join(c.Caller, c.Lang, now, get, func(k calendar.Kind, id calendar.ID) int { return counts[k][id] })
	}
	return nil
}

// linkFields are the fields of an event that link to other records.
var linkFields = [...]string{
	linkField(calendar.KindVenue), linkField(calendar.KindOrganizer),
	linkField(calendar.KindCategory), linkField(calendar.KindTag),
}

// join fills in what an event embeds (interface 3.1.7): venues and organizers
// that are not trashed and that the caller could read singly, in stored order;
// live terms by shown name without case and accents, then id.
func (v *View) join(c calendar.Caller, l calendar.Lang, now time.Time,
	get func(calendar.ID) *calendar.Record, count func(calendar.Kind, calendar.ID) int,
) {
	posts := func(k calendar.Kind) []LinkedView {
		ids := v.Record.Fields.IDs(linkField(k))
		if len(ids) == 0 {
			return nil
		}
		out := make([]LinkedView, 0, len(ids))
		for _, id := range ids {
			r := get(id)
			if r == nil || r.Kind != k || r.Deleted {
				continue
			}
			st := r.Status(now)
			if st != calendar.StatusTrash && calendar.MayRead(c, r, now) {
				out = append(out, LinkedView{Record: r, Status: st})
			}
		}
		return out
	}
	terms := func(k calendar.Kind) []TermView {
		ids := v.Record.Fields.IDs(linkField(k))
		if len(ids) == 0 {
			return nil
		}
		out := make([]TermView, 0, len(ids))
		for _, id := range ids {
			if r := get(id); r != nil && r.Kind == k && !r.Deleted {
				out = append(out, TermView{Record: r, Count: count(k, id)})
			}
		}
		sortTerms(out, l)
		return out
	}
	v.Venues, v.Organizers = posts(calendar.KindVenue), posts(calendar.KindOrganizer)
	v.Categories, v.Tags = terms(calendar.KindCategory), terms(calendar.KindTag)
}

// sortTerms orders terms by shown name without case and accents, then id.
func sortTerms(terms []TermView, l calendar.Lang) {
	if len(terms) < 2 {
		return
	}
	type keyed struct {
		key  string
		term TermView
	}
	list := make([]keyed, len(terms))
	for i, t := range terms {
		name, _ := t.Record.Name(l)
		list[i] = keyed{readmodel.Fold(name), t}
	}
	slices.SortFunc(list, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.term.Record.ID, b.term.Record.ID))
	})
	for i := range list {
		terms[i] = list[i].term
	}
}
