package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// facet is what lists of events may be counted by (LISTINGS 3.5).
type facet struct {
	name    string
	kind    calendar.Kind // of the linked records that are counted, the most frequent first; 0: options are
	blanked bool          // events that the caller gets blanked count in it
	field   string        // that the spans of options are of
	options []option      // in order
	// read reads an entry of the parameter that is the word of none of options.
	read func(entry string) (option, bool)
}

// The facets, in the order of the interface.
var facets = []facet{
	{name: "categories", kind: calendar.KindCategory},
	{name: "tags", kind: calendar.KindTag},
	{name: "venue", kind: calendar.KindVenue},
	{name: "organizer", kind: calendar.KindOrganizer},
	{name: "city", kind: calendar.KindVenue},
	{name: "country", kind: calendar.KindVenue},
	{name: "month", blanked: true, field: readmodel.FieldMonth, read: readMonth}, // whatever there is
	{name: "weekday", blanked: true, field: readmodel.FieldWeekday, options: weekdays, read: readWeekday},
	{name: "time_of_day", field: readmodel.FieldMinute, options: timesOfDay, read: readTime},
	{name: "in_language", blanked: true, options: languages},
	{name: "ticketed", options: either(isTrue(readmodel.FieldTicketed))},
	{name: "featured", options: either(isTrue(readmodel.FieldFeatured))},
	{name: "free", options: either(isFree)},
	{name: "cost_band", field: readmodel.FieldCost, read: readCostBand}, // those of the settings
}

// Facets are the names of the facets of lists of events; askedFacets those that facet_query
// takes.
var Facets, askedFacets = func() (all, asked []string) {
	for _, f := range facets {
		if all = append(all, f.name); f.kind != 0 {
			asked = append(asked, f.name)
		}
	}
	return all, asked
}()

func facetOf(name string) *facet { return &facets[slices.Index(Facets, name)] }

// options returns those of a facet.
func (s *Service) options(name string) []option {
	f := facetOf(name)
	if f.field == readmodel.FieldCost {
		return s.bands
	}
	return f.options
}

const maxMonths = 240

// Facet is how many events of a list have each value, the parameter of the facet's name
// left out.
type Facet struct {
	Name   string
	Total  int // values with a count above 0
	Values []FacetValue
}

// FacetValue is one value of a facet. Label is "" where the value is a word.
type FacetValue struct {
	Value, Label string
	Count        int
	Selected     bool

	// Of the record that it is:
	Slug   string
	Parent calendar.ID
	Level  int // of categories: live ones above
	City   string
	In     calendar.Lang // the language of the label
}

// facetQuery keeps the values of a facet of which the label contains a text.
type facetQuery struct{ facet, text string }

func readFacetQuery(q *parser, v *param.Value) {
	word, ok := v.Text(0)
	if !ok {
		return
	}
	facet, text, _ := strings.Cut(word, ":")
	text = readmodel.Fold(calendar.Trim(text))
	if facet = calendar.Trim(facet); text == "" || !slices.Contains(askedFacets, facet) || !slices.Contains(q.Facets, facet) {
		v.Refuse(calendar.ReasonFacet, strings.Join(askedFacets, ","))
		return
	}
	q.facetQuery = facetQuery{facet, text}
}

func readFacets(q *parser, v *param.Value) {
	q.Facets = v.Words()
	q.Cost += len(q.Facets)
}

// facetCount makes one facet of a list.
type facetCount struct {
	*facet
	c       *Criteria
	options []option          // those of the facet, and chosen ones that are none of them
	own     int               // of options: of the facet
	visible *visible          // linked records
	places  *grouping[string] // of visible; nil: the facet is of the records
}

// counting is what a list asks of the index, with its facets, in one query.
type counting struct {
	base, narrow readmodel.Filter // what no facet leaves out, and the rest of the list's filter
	of           []readmodel.Selection
	counts       []*facetCount
}

// counting prepares a list and its facets.
func (st *state) counting(ctx context.Context, c *Criteria) (*counting, error) {
	chosen, err := st.choice(ctx, c)
	if err != nil {
		return nil, err
	}
	counted := func(name string) bool { return slices.Contains(c.Facets, name) }
	f := &counting{base: c.protect(chosen.parts(func(name string) bool { return !counted(name) }))}
	if rest := chosen.parts(counted); len(rest) > 0 {
		f.narrow = rest
	}
	for _, name := range c.Facets {
		count, err := st.facet(ctx, c, name)
		if err != nil {
			return nil, err
		}
		parts := chosen.parts(func(other string) bool { return counted(other) && other != name })
		if b := blanked(c.Caller); b != nil && !count.blanked && !c.hides {
			parts = append(parts, not(b))
		}
		f.of = append(f.of, readmodel.Selection{Filter: parts, Tallies: []readmodel.Tally{count.tally()}})
		f.counts = append(f.counts, count)
	}
	return f, nil
}

// facets makes the facets of what was counted; nil where none were asked for.
func (f *counting) facets(got [][]readmodel.Tallied) (out []Facet) {
	for i, count := range f.counts {
		made := count.inOrder
		if count.kind != 0 {
			made = count.mostFrequent
		}
		out = append(out, made(&got[i][0]))
	}
	return out
}

// facet prepares one facet.
func (st *state) facet(ctx context.Context, c *Criteria, name string) (*facetCount, error) {
	own := st.options(name)
	f := &facetCount{facet: facetOf(name), c: c, options: slices.Clone(own), own: len(own)}
	for _, o := range c.chosen[name] {
		if !slices.ContainsFunc(f.options, o.same) {
			f.options = append(f.options, o)
		}
	}
	if f.kind == 0 {
		return f, nil
	}
	var err error
	if f.visible, err = st.visible(ctx, c, f.kind); err != nil {
		return nil, err
	}
	f.places = f.visible.names[name]
	return f, nil
}

func (f *facetCount) tally() readmodel.Tally {
	switch {
	case f.places != nil:
		return readmodel.Tally{Field: readmodel.FieldVenue, Groups: f.places.groups}
	case f.kind != 0:
		return readmodel.Tally{Field: linkField(f.kind), Parts: f.visible.parts}
	}
	t := readmodel.Tally{Field: f.field}
	if f.field == readmodel.FieldCost {
		t.Field = ""
	}
	for _, o := range f.options {
		if f.isPart(&o) {
			t.Parts = append(t.Parts, anyOf(f.field, []option{o}))
		}
	}
	return t
}

// isPart reports whether an option is counted by itself: costs are not counted by their value.
func (f *facet) isPart(o *option) bool { return o.spans == nil || f.field == readmodel.FieldCost }

// inOrder makes a facet of options: those that have a count or are chosen.
func (f *facetCount) inOrder(got *readmodel.Tallied) Facet {
	out := Facet{Name: f.name}
	options, parts, own := f.options, got.Parts, f.own
	if f.field == readmodel.FieldMonth {
		for _, v := range got.Values {
			options = append(options, month(v.Value))
		}
		slices.SortFunc(options, func(a, b option) int { return strings.Compare(a.word, b.word) })
		options = slices.CompactFunc(options, option.same)
		own = len(options)
	}
	for i, o := range options {
		value := FacetValue{Value: o.word, Label: o.label, Selected: slices.ContainsFunc(f.c.chosen[f.name], o.same)}
		if f.isPart(&o) {
			value.Count, parts = parts[0], parts[1:]
		} else {
			value.Count = countIn(got.Values, o.spans)
		}
		if value.Count > 0 && i < own {
			out.Total++
		}
		if value.Selected || value.Count > 0 && len(out.Values) < maxMonths {
			out.Values = append(out.Values, value)
		}
	}
	return out
}

// countIn returns how many documents have a value within spans.
func countIn(values []readmodel.Value, spans []span) (n int) {
	for _, s := range spans {
		at, _ := slices.BinarySearchFunc(values, s.min, func(v readmodel.Value, least int64) int { return cmp.Compare(v.Value, least) })
		for ; at < len(values) && values[at].Value <= s.max; at++ {
			n += values[at].N
		}
	}
	return n
}

// ranked is a value of a facet in the order of counts.
type ranked struct {
	FacetValue

	folded string // label
}

// mostFrequent makes a facet of linked records: the first values by count, and the chosen
// ones that are not among them.
func (f *facetCount) mostFrequent(got *readmodel.Tallied) Facet {
	out := Facet{Name: f.name}
	all := f.ranked(got)
	if q := f.c.facetQuery; q.facet == f.name {
		all = slices.DeleteFunc(all, func(r ranked) bool { return !strings.Contains(r.folded, q.text) })
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(b.Count-a.Count, a.Level-b.Level, strings.Compare(a.folded, b.folded), strings.Compare(a.Value, b.Value))
	})
	for _, r := range all {
		if r.Count > 0 {
			out.Total++
		}
		if r.Selected || r.Count > 0 && out.Total <= f.c.facetLimit {
			out.Values = append(out.Values, r.FacetValue)
		}
	}
	return out
}

// ranked returns the values that have a count or are chosen; of a chosen one that the caller
// does not see the word that was sent.
func (f *facetCount) ranked(got *readmodel.Tallied) (all []ranked) {
	d, lang, chosen, counts := f.visible, f.c.Lang, map[string]bool{}, got.Groups
	if f.places != nil {
		for _, key := range f.c.places[f.name] {
			chosen[key] = true
		}
	} else {
		for _, id := range f.c.named[f.kind] {
			chosen[id.String()] = true
		}
		counts = d.counts(got)
	}
	for at, n := range counts {
		if n == 0 && len(chosen) == 0 {
			continue
		}
		r := ranked{FacetValue: FacetValue{Count: n}}
		if f.places != nil {
			r.Value, r.Label = f.places.keys[at], f.spelling(at, got)
			r.folded = readmodel.Fold(r.Label)
		} else if record := d.records[at]; d.seen[at] {
			r.Label, r.In = record.Name(lang)
			r.Value, r.Slug, r.Parent, r.City = record.ID.String(), record.Slug(), record.Fields.ID("parent"), record.Fields.String("city")
			r.Level, r.folded = len(d.above(at)), d.labels[lang]()[at]
		}
		if r.Selected = chosen[r.Value]; r.Value != "" && (n > 0 || r.Selected) {
			delete(chosen, r.Value)
			all = append(all, r)
		}
	}
	for word := range chosen {
		all = append(all, ranked{FacetValue{Value: word, Label: word, Selected: true}, word})
	}
	return all
}

// counts returns the counts of records, by place.
func (d *directory) counts(got *readmodel.Tallied) []int {
	counts := make([]int, len(d.records))
	for _, v := range got.Values {
		if at, known := d.find(calendar.ID(v.Value)); known {
			counts[at] = v.N
		}
	}
	for i, at := range d.parents {
		counts[at] = got.Parts[i]
	}
	return counts
}

// spelling returns the most frequent spelling of a place among the visible venues that are
// counted, of equally frequent ones the first by code points; the key of a chosen place that
// nothing carries.
func (f *facetCount) spelling(at int, got *readmodel.Tallied) string {
	label, counts := f.places.keys[at], map[string]int{}
	for _, id := range f.places.groups[at] {
		if readmodel.CountOf(got.Values, int64(id)) == 0 {
			continue
		}
		venue, _ := f.visible.find(id)
		spelling := f.visible.records[venue].Fields.String(f.name)
		counts[spelling]++
		if n := counts[spelling] - counts[label]; n > 0 || n == 0 && spelling < label {
			label = spelling
		}
	}
	return label
}
