package query

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Run answers the criteria. A page past the end of a list of posts is
// *calendar.Error with CodePageNotFound.
func (s *Service) Run(ctx context.Context, c *Criteria) (*List, error) {
	snap, err := s.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.run(ctx, c, snap)
	if err == nil && c.Page > 1 && len(list.Views) == 0 && c.Kind.IsPost() {
		return nil, calendar.Fail(calendar.CodePageNotFound, c.Kind)
	}
	return list, err
}

// Several answers the criteria of several lists of events as of one state, and calls use
// with each list in their order; a page past the end is an empty one. It may begin anew:
// use is called for the first again then.
func (s *Service) Several(ctx context.Context, cs []*Criteria, use func(i int, list *List) error) error {
	return s.index.Still(ctx, func(ctx context.Context) error {
		snap, err := s.snapshot(ctx)
		if err != nil {
			return err
		}
		for i, c := range cs {
			list, err := s.run(ctx, c, snap)
			if err != nil {
				return err
			}
			if err := use(i, list); err != nil {
				return err
			}
		}
		return nil
	})
}

// run answers the criteria as of a generation; a page past the end is empty.
func (s *Service) run(ctx context.Context, c *Criteria, snap *snapshot) (list *List, err error) {
	var (
		page  readmodel.Page
		order []readmodel.Sort
		f     *counting
	)
	c, err = s.stepped(c, func(c *Criteria) (int, error) {
		at, err := s.selection(ctx, c, snap)
		if err != nil {
			return 0, err
		}
		by, err := s.order(ctx, c, snap)
		if err != nil {
			return 0, err
		}
		got, err := s.page(ctx, c, at, by, snap)
		if f == nil || got.Total > 0 { // where no step finds anything, the facets are of the first, too
			f, order, page = at, by, got
		}
		return got.Total, err
	})
	if err != nil {
		return nil, err
	}
	list = &List{
		Total:      page.Total,
		TotalPages: (page.Total + c.PerPage - 1) / c.PerPage,
		Position:   page.Position,
		Spelling:   c.run.spelling(),
	}
	if w := c.run.walk; w != nil && len(page.Documents) > c.PerPage {
		page.Documents = page.Documents[:c.PerPage]
		list.Next = w.next(order, page.Documents[c.PerPage-1].Record, c.run.step)
	}
	if list.Views, err = s.views(ctx, c, page.Documents, order, snap); err == nil && c.run.facets != nil {
		list.Facets, err = f.facets(page.Tallied)
	}
	return list, err
}

// selection gives what a list is of.
func (s *Service) selection(ctx context.Context, c *Criteria, snap *snapshot) (*counting, error) {
	if c.run.facets != nil {
		return s.counting(ctx, c, snap)
	}
	f, err := s.filter(ctx, c, snap)
	return &counting{base: f}, err
}

func (s *Service) filter(ctx context.Context, c *Criteria, snap *snapshot) (readmodel.And, error) {
	switch {
	case c.Kind == calendar.KindEvent:
		return s.eventFilter(ctx, c, snap)
	case c.Kind.IsPost():
		return s.linkedFilter(ctx, c, snap)
	default:
		return s.termFilter(ctx, c, snap)
	}
}

// page finds the documents of the page.
func (s *Service) page(ctx context.Context, c *Criteria, f *counting, order []readmodel.Sort, snap *snapshot) (readmodel.Page, error) {
	if c.Kind.IsTerm() {
		switch c.run.orderBy {
		case "count":
			counts, err := snap.counts(ctx, s, c.Kind)
			if err != nil {
				return readmodel.Page{}, err
			}
			return s.ranked(ctx, c, f.base, func(a, b calendar.ID) int { return cmp.Compare(counts[a], counts[b]) })
		case "include":
			if c.run.include != nil {
				place := make(map[calendar.ID]int, len(c.run.include))
				for i, id := range c.run.include {
					place[id] = i
				}
				return s.ranked(ctx, c, f.base, func(a, b calendar.ID) int { return cmp.Compare(place[a], place[b]) })
			}
		}
	}
	q := readmodel.Query{
		Kind: c.Kind, Filter: f.base, Narrow: f.narrow, Tallies: f.of,
		Sort: order, Offset: (c.Page - 1) * c.PerPage, Limit: c.PerPage, Collapse: c.collapse(),
	}
	if w := c.run.walk; w != nil {
		q.After = w.at
		q.Limit++ // tells whether there is more
		if w.at != nil && len(w.at) != len(order) {
			return readmodel.Page{}, &calendar.Error{Code: calendar.CodeInvalidParam, Fields: []calendar.FieldError{{Field: "cursor", Reason: calendar.ReasonCursor}}}
		}
	}
	return s.index.Search(ctx, q)
}

// collapse tells how repeats are put together, nil where they are not.
func (c *Criteria) collapse() *readmodel.Collapse {
	if !c.run.collapse {
		return nil
	}
	return &readmodel.Collapse{Field: readmodel.FieldRepeats, Alone: blanked(c.Caller)}
}

// order gives the order of the list.
func (s *Service) order(ctx context.Context, c *Criteria, snap *snapshot) ([]readmodel.Sort, error) {
	switch {
	case c.run.sort == "distance":
		venues, err := snap.directory(ctx, s, calendar.KindVenue)
		if err != nil {
			return nil, err
		}
		metres := venues.visible(c.Caller, snap, c.withdrawn).metres(c.run.near)
		return append([]readmodel.Sort{{Field: readmodel.FieldVenue, Desc: c.run.desc, Least: metres}}, byStart(c.run.desc)...), nil
	case c.run.sort == sortRelevance && c.run.search.Query != "":
		// That of events which the caller gets blanked is of their title.
		rank := &readmodel.Relevance{Text: c.text(eventTexts), Title: blanked(c.Caller)}
		return append([]readmodel.Sort{{Rank: rank, Desc: true}}, byStart(false)...), nil
	}
	return c.order(), nil
}

// byStart is the order of events by start (interface 4.4).
func byStart(desc bool) []readmodel.Sort {
	return []readmodel.Sort{{Field: readmodel.FieldStart, Desc: desc}, {Field: readmodel.FieldDate, Desc: desc}, {Field: readmodel.FieldID, Desc: desc}}
}

// order gives an order that the read model keeps (interface 4.4, 4.11).
func (c *Criteria) order() []readmodel.Sort {
	switch {
	case c.run.sort == "start", c.run.sort == sortRelevance:
		return byStart(c.run.desc)
	case c.run.sort == "end":
		return []readmodel.Sort{{Field: readmodel.FieldEnd, Desc: c.run.desc}, {Field: readmodel.FieldStart, Desc: c.run.desc}, {Field: readmodel.FieldID, Desc: c.run.desc}}
	case c.run.sort != "":
		return []readmodel.Sort{{Field: sortFields[c.run.sort], Desc: c.run.desc, Tail: true}, {Field: readmodel.FieldID, Desc: c.run.desc}}
	case c.Kind == calendar.KindEvent && c.run.include != nil:
		return []readmodel.Sort{{Field: readmodel.FieldDate}, {Field: readmodel.FieldID}}
	case c.Kind == calendar.KindEvent:
		return byStart(false)
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
func (s *Service) ranked(ctx context.Context, c *Criteria, f readmodel.Filter, compare func(a, b calendar.ID) int) (page readmodel.Page, err error) {
	err = s.index.Still(ctx, func(ctx context.Context) error {
		shown, err := s.index.Visible(ctx)
		if err != nil {
			return err
		}
		found, err := s.index.Counts(ctx, c.Kind, readmodel.FieldID, f)
		if err != nil {
			return err
		}
		ids := keys(found)
		slices.SortStableFunc(ids, func(a, b calendar.ID) int {
			if c.run.desc {
				a, b = b, a
			}
			return compare(a, b)
		})
		page = readmodel.Page{Total: len(ids), Position: shown.Position}
		from := min((c.Page-1)*c.PerPage, len(ids))
		ids = ids[from:min(from+c.PerPage, len(ids))]
		documents, err := s.index.Get(ctx, ids)
		if err != nil {
			return err
		}
		page.Documents = make([]readmodel.Document, 0, len(ids))
		for _, id := range ids {
			if d, ok := documents[id]; ok {
				page.Documents = append(page.Documents, d)
			}
		}
		return nil
	})
	return page, err
}

// views makes the views of a page, with what its events embed.
func (s *Service) views(ctx context.Context, c *Criteria, documents []readmodel.Document, order []readmodel.Sort, snap *snapshot) ([]View, error) {
	now := time.Unix(snap.now, 0)
	out := make([]View, len(documents))
	for i, d := range documents {
		out[i].Record, out[i].Repeats = d.Record, d.Repeats
		if c.Kind.IsPost() {
			out[i].Status = d.Record.Status(now)
		}
		out[i].Blanked = c.Kind == calendar.KindEvent && calendar.NeedsPassword(c.Caller, d.Record)
		if c.run.sort == "distance" {
			if at := order[0].Key(d.Record); at.Has {
				out[i].Distance = &at.N
			}
		}
	}
	switch {
	case c.Kind == calendar.KindEvent:
		if err := s.embed(ctx, joiner{caller: c.Caller, lang: c.Lang, now: now, withdrawn: c.withdrawn}, c.embeds, out, snap); err != nil {
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

// embed joins the venues, organizers, categories and tags of events that are not
// blanked: one multi-get for those that no answer of the generation had before.
func (s *Service) embed(ctx context.Context, j joiner, e Embeds, views []View, snap *snapshot) error {
	linked := make([]links, len(views))
	posts, terms := 0, 0
	for i := range views {
		v := &views[i]
		linked[i] = linksOf(v.Record).only(e)
		if !v.Blanked || e&EmbedTouched != 0 {
			posts += len(linked[i][0]) + len(linked[i][1])
			terms += len(linked[i][2]) + len(linked[i][3])
		}
	}
	ids := make([]calendar.ID, 0, posts+terms)
	for i := range views {
		if views[i].Blanked && e&EmbedTouched == 0 {
			continue
		}
		views[i].Touched = views[i].Record.Changed
		for _, list := range linked[i] {
			ids = append(ids, list...)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	found, err := snap.linked(ctx, s, ids, &allowance{caller: j.caller, lang: j.lang, now: j.now, left: s.o.MaxAnswer})
	if err != nil {
		return err
	}
	j.ids, j.found = ids, found
	j.posts, j.terms = make([]LinkedView, 0, posts), make([]TermView, 0, terms)
	for i := range views {
		v := &views[i]
		if e&EmbedTouched != 0 {
			v.Touched = j.touched(v.Record, linked[i])
		}
		if v.Blanked {
			continue
		}
		for at, k := range linkKinds {
			if k.IsTerm() && j.counts[k] == nil && len(linked[i][at]) > 0 {
				if j.counts[k], err = snap.counts(ctx, s, k); err != nil {
					return err
				}
			}
		}
		j.join(v, linked[i])
	}
	return nil
}

// linkKinds are the kinds that events link to.
var linkKinds = [...]calendar.Kind{calendar.KindVenue, calendar.KindOrganizer, calendar.KindCategory, calendar.KindTag}

// links are the ids that an event links to, by place in linkKinds.
type links [len(linkKinds)][]calendar.ID

func linksOf(event *calendar.Record) (l links) {
	for at, k := range linkKinds {
		l[at] = event.Fields.IDs(linkField(k))
	}
	return l
}

// linkedRecord is a record that an event links to, nil for an unknown one, its status now
// ("" for terms), and when it was written last.
type linkedRecord struct {
	record  *calendar.Record
	status  calendar.Status
	changed time.Time
}

func newLinkedRecord(r *calendar.Record, now time.Time) linkedRecord {
	l := linkedRecord{record: r}
	if r == nil {
		return l
	}
	l.changed = r.Changed
	if r.Kind.IsPost() {
		l.status = r.Status(now)
	}
	return l
}

// joiner fills in what events embed (interface 3.1.7).
type joiner struct {
	caller calendar.Caller
	lang   calendar.Lang
	now    time.Time
	ids    []calendar.ID  // of all that is linked, ascending
	found  []linkedRecord // by place in ids
	counts [calendar.KindTag + 1]map[calendar.ID]int
	// uncounted tells no counts; withdrawn are not shown.
	uncounted bool
	withdrawn *Withdrawn

	// All views share two arrays; a slice is cut from them for each list.
	posts []LinkedView
	terms []TermView
	keys  []string // of the terms that are being sorted
}

// get gives the record of one of ids.
func (j *joiner) get(id calendar.ID) linkedRecord {
	at, _ := slices.BinarySearch(j.ids, id)
	return j.found[at]
}

// touched gives the last touch of an event.
func (j *joiner) touched(r *calendar.Record, l links) time.Time {
	last := r.Changed
	for _, ids := range l {
		for _, id := range ids {
			if at := j.get(id).changed; at.After(last) {
				last = at
			}
		}
	}
	return last
}

func (j *joiner) join(v *View, l links) {
	v.Venues, v.Organizers = j.postsOf(l[0], linkKinds[0]), j.postsOf(l[1], linkKinds[1])
	v.Categories, v.Tags = j.termsOf(l[2], linkKinds[2]), j.termsOf(l[3], linkKinds[3])
}

// postsOf gives the venues or organizers that are not trashed and that the
// caller could read singly, in stored order.
func (j *joiner) postsOf(ids []calendar.ID, k calendar.Kind) []LinkedView {
	from := len(j.posts)
	for _, id := range ids {
		if l := j.get(id); l.record != nil && l.record.Kind == k && l.shows(j.caller, j.now) && !j.withdrawn.has(k, id) {
			j.posts = append(j.posts, LinkedView{Record: l.record, Status: l.status})
		}
	}
	if from == len(j.posts) {
		return nil
	}
	return j.posts[from:len(j.posts):len(j.posts)]
}

// termsOf gives the live terms by shown name without case and accents, then id.
func (j *joiner) termsOf(ids []calendar.ID, k calendar.Kind) []TermView {
	from := len(j.terms)
	for _, id := range ids {
		if r := j.get(id).record; r != nil && r.Kind == k && !r.Deleted && !j.withdrawn.has(k, id) {
			n := NoCount
			if !j.uncounted {
				n = j.counts[k][id]
			}
			j.terms = append(j.terms, TermView{Record: r, Count: n})
		}
	}
	if from == len(j.terms) {
		return nil
	}
	out := j.terms[from:len(j.terms):len(j.terms)]
	if len(out) > 1 {
		j.keys = j.keys[:0]
		for _, t := range out {
			name, _ := t.Record.Name(j.lang)
			j.keys = append(j.keys, readmodel.Fold(name))
		}
		sort.Sort(byName{j.keys, out})
	}
	return out
}

type byName struct {
	keys  []string
	terms []TermView
}

func (s byName) Len() int { return len(s.keys) }

func (s byName) Less(a, b int) bool {
	if s.keys[a] != s.keys[b] {
		return s.keys[a] < s.keys[b]
	}
	return s.terms[a].Record.ID < s.terms[b].Record.ID
}

func (s byName) Swap(a, b int) {
	s.keys[a], s.keys[b] = s.keys[b], s.keys[a]
	s.terms[a], s.terms[b] = s.terms[b], s.terms[a]
}
