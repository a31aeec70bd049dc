package query

import (
	"cmp"
	"context"
	"maps"
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
	facet := facetOf(name)
	if facet.field == readmodel.FieldCost {
		return s.bands
	}
	return facet.options
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
	// SortKey is the folded label, by which values of equal counts are ordered.
	SortKey string
}

// facetQuery keeps the values of a facet of which the label contains a text.
type facetQuery struct{ facet, text string }

func readFacetQuery(q *parser, value *param.Value) {
	word, ok := value.Text(0)
	if !ok {
		return
	}
	facet, text, _ := strings.Cut(word, ":")
	text = readmodel.Fold(calendar.Trim(text))
	if facet = calendar.Trim(facet); text == "" || !slices.Contains(askedFacets, facet) || !slices.Contains(q.Facets, facet) {
		value.Refuse(calendar.ReasonFacet, strings.Join(askedFacets, ","))
		return
	}
	q.facetQuery = facetQuery{facet, text}
}

func readFacets(q *parser, value *param.Value) {
	q.Facets = value.Words()
	q.Cost += len(q.Facets)
}

// facetCount makes one facet of a list.
type facetCount struct {
	*facet
	c       *Criteria
	options []option // those of the facet, and chosen ones that are none of them
	own     int      // of options: of the facet; 0: all values are
	visible *visible // linked records
	// Of linked records: those that each value stands for, and of places the values.
	groups [][]calendar.ID
	places []string
}

// facet prepares one facet.
func (st *state) facet(ctx context.Context, criteria *Criteria, name string) (*facetCount, error) {
	own := st.options(name)
	f := &facetCount{facet: facetOf(name), c: criteria, options: slices.Clone(own), own: len(own)}
	for _, option := range criteria.chosen[name] {
		if !slices.ContainsFunc(f.options, option.same) {
			f.options = append(f.options, option)
		}
	}
	if f.kind == 0 {
		return f, nil
	}
	var err error
	if f.visible, err = st.visible(ctx, criteria, f.kind); err != nil {
		return nil, err
	}
	f.groups = f.visible.trees
	if names := f.visible.names[name]; names != nil {
		f.places, f.groups = slices.AppendSeq([]string{}, maps.Keys(names)), nil
		slices.Sort(f.places)
		for _, key := range f.places {
			f.groups = append(f.groups, names[key])
		}
	}
	return f, nil
}

// tally asks for the counts among what a filter admits.
func (f *facetCount) tally(among readmodel.Filter) readmodel.Tally {
	t := readmodel.Tally{Filter: among}
	switch {
	case f.kind != 0:
		t.Field = linkField(f.kind)
		t.Parts = partsOf(t.Field, f.groups)
	case f.field == readmodel.FieldMonth: // there may be any
		t.Field = f.field
	default:
		for i := range f.options {
			t.Parts = append(t.Parts, anyOf(f.field, f.options[i:i+1]))
		}
	}
	return t
}

// partsOf are the parts of a tally that count the events of groups of linked records. Those of
// a single record are counted as values.
func partsOf(field string, groups [][]calendar.ID) (parts []readmodel.Filter) {
	for _, group := range groups {
		if len(group) > 1 {
			parts = append(parts, in(field, group...))
		}
	}
	return parts
}

// groupCounts returns the counts of the groups.
func groupCounts(groups [][]calendar.ID, got *readmodel.Tallied) []int {
	counts, parts := make([]int, len(groups)), got.Parts
	for at, group := range groups {
		if len(group) > 1 {
			counts[at], parts = parts[0], parts[1:]
		} else {
			counts[at] = got.Values[group[0]]
		}
	}
	return counts
}

// made makes the facet of what was counted: the first values, and the chosen ones.
func (f *facetCount) made(got *readmodel.Tallied) Facet {
	out, limit := Facet{Name: f.name}, maxMonths
	var all []FacetValue
	if f.kind != 0 {
		all, limit = f.mostFrequent(got), f.c.facetLimit
	} else {
		all = f.inOrder(got)
	}
	for i, facetValue := range all {
		if facetValue.Count > 0 && (i < f.own || f.own == 0) {
			out.Total++
		}
		if facetValue.Selected || facetValue.Count > 0 && out.Total <= limit {
			out.Values = append(out.Values, facetValue)
		}
	}
	return out
}

// inOrder returns the values of options.
func (f *facetCount) inOrder(got *readmodel.Tallied) (all []FacetValue) {
	options, count := f.options, func(at int, _ option) int { return got.Parts[at] }
	if f.field == readmodel.FieldMonth {
		for n := range got.Values {
			options = append(options, month(int64(n)))
		}
		slices.SortFunc(options, func(a, b option) int { return strings.Compare(a.word, b.word) })
		options = slices.CompactFunc(options, option.same)
		count = func(_ int, o option) int { return got.Values[o.numbers[0]] }
	}
	for at, o := range options {
		all = append(all, FacetValue{Value: o.word, Label: o.label, Count: count(at, o), Selected: slices.ContainsFunc(f.c.chosen[f.name], o.same)})
	}
	return all
}

// mostFrequent returns the values of linked records, the first ones by count.
func (f *facetCount) mostFrequent(got *readmodel.Tallied) []FacetValue {
	all := f.counted(got)
	if facetQuery := f.c.facetQuery; facetQuery.facet == f.name {
		all = slices.DeleteFunc(all, func(v FacetValue) bool { return !strings.Contains(v.SortKey, facetQuery.text) })
	}
	slices.SortFunc(all, func(a, b FacetValue) int {
		return cmp.Or(b.Count-a.Count, a.Level-b.Level, strings.Compare(a.SortKey, b.SortKey), strings.Compare(a.Value, b.Value))
	})
	return all
}

// counted returns the values that have a count or are chosen; of a chosen one that the caller
// does not see the word that was sent.
func (f *facetCount) counted(got *readmodel.Tallied) (all []FacetValue) {
	visible, lang, chosen := f.visible, f.c.Lang, map[string]bool{}
	if f.places != nil {
		for _, key := range f.c.places[f.name] {
			chosen[key] = true
		}
	} else {
		for _, id := range f.c.named[f.kind] {
			chosen[id.String()] = true
		}
	}
	for at, n := range groupCounts(f.groups, got) {
		if n == 0 && len(chosen) == 0 {
			continue
		}
		facetValue := FacetValue{Count: n}
		if f.places != nil {
			facetValue.Value, facetValue.Label = f.places[at], f.spelling(at, got)
		} else if record := visible.records[at]; visible.seen[at] {
			facetValue.Label, facetValue.In = record.Name(lang)
			facetValue.Value, facetValue.Slug, facetValue.Parent, facetValue.City = record.ID.String(), record.Slug(), record.Fields.ID("parent"), record.Fields.String("city")
			facetValue.Level = len(visible.above(at))
		}
		if facetValue.Selected = chosen[facetValue.Value]; facetValue.Value != "" && (n > 0 || facetValue.Selected) {
			facetValue.SortKey = readmodel.Fold(facetValue.Label)
			delete(chosen, facetValue.Value)
			all = append(all, facetValue)
		}
	}
	for word := range chosen {
		all = append(all, FacetValue{Value: word, Label: word, SortKey: word, Selected: true})
	}
	return all
}

// spelling returns the most frequent spelling of a place among the visible venues that are
// counted, of equally frequent ones the first by code points; the key of a chosen place that
// nothing carries.
func (f *facetCount) spelling(at int, got *readmodel.Tallied) string {
	label, counts := f.places[at], map[string]int{}
	for _, id := range f.groups[at] {
		if got.Values[id] == 0 {
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
