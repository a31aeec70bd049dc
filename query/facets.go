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
	for _, facet := range facets {
		if all = append(all, facet.name); facet.kind != 0 {
			asked = append(asked, facet.name)
		}
	}
	return all, asked
}()

func facetOf(name string) *facet { return &facets[slices.Index(Facets, name)] }

// options returns those of a facet.
func (service *Service) options(name string) []option {
	facet := facetOf(name)
	if facet.field == readmodel.FieldCost {
		return service.bands
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

func readFacetQuery(parser *parser, value *param.Value) {
	word, ok := value.Text()
	if !ok {
		return
	}
	facet, text, _ := strings.Cut(word, ":")
	text = readmodel.Fold(calendar.Trim(text))
	if facet = calendar.Trim(facet); text == "" || !slices.Contains(askedFacets, facet) || !slices.Contains(parser.Facets, facet) {
		value.Refuse(calendar.ReasonFacet, strings.Join(askedFacets, ","))
		return
	}
	parser.facetQuery = facetQuery{facet, text}
}

func readFacets(parser *parser, value *param.Value) {
	parser.Facets = value.Words()
	parser.Cost += len(parser.Facets)
}

// facetCount makes one facet of a list.
type facetCount struct {
	*facet
	criteria *Criteria
	options  []option        // those of the facet, and chosen ones that are none of them
	own      int             // of options: of the facet; 0: all values are
	visible  *visibleRecords // linked records
	// Of linked records: those that each value stands for, and of places the values.
	groups [][]calendar.ID
	places []string
}

// facet prepares one facet.
func (state *state) facet(ctx context.Context, criteria *Criteria, name string) (*facetCount, error) {
	own := state.options(name)
	count := &facetCount{facet: facetOf(name), criteria: criteria, options: slices.Clone(own), own: len(own)}
	for _, option := range criteria.chosen[name] {
		if !slices.ContainsFunc(count.options, option.same) {
			count.options = append(count.options, option)
		}
	}
	if count.kind == 0 {
		return count, nil
	}
	var err error
	if count.visible, err = state.visible(ctx, criteria, count.kind); err != nil {
		return nil, err
	}
	count.groups = count.visible.trees
	if names := count.visible.names[name]; names != nil {
		count.places, count.groups = slices.AppendSeq([]string{}, maps.Keys(names)), nil
		slices.Sort(count.places)
		for _, key := range count.places {
			count.groups = append(count.groups, names[key])
		}
	}
	return count, nil
}

// tally asks for the counts among what a filter admits.
func (facetCount *facetCount) tally(among readmodel.Filter) readmodel.Tally {
	tally := readmodel.Tally{Filter: among}
	switch {
	case facetCount.kind != 0:
		tally.Field = linkField(facetCount.kind)
		tally.Parts = partsOf(tally.Field, facetCount.groups)
	case facetCount.field == readmodel.FieldMonth: // there may be any
		tally.Field = facetCount.field
	default:
		for i := range facetCount.options {
			tally.Parts = append(tally.Parts, anyOf(facetCount.field, facetCount.options[i:i+1]))
		}
	}
	return tally
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
func groupCounts(groups [][]calendar.ID, got *readmodel.TallyAnswer) []int {
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
func (facetCount *facetCount) made(got *readmodel.TallyAnswer) Facet {
	out, limit := Facet{Name: facetCount.name}, maxMonths
	var all []FacetValue
	if facetCount.kind != 0 {
		all, limit = facetCount.mostFrequent(got), facetCount.criteria.facetLimit
	} else {
		all = facetCount.inOrder(got)
	}
	for i, facetValue := range all {
		if facetValue.Count > 0 && (i < facetCount.own || facetCount.own == 0) {
			out.Total++
		}
		if facetValue.Selected || facetValue.Count > 0 && out.Total <= limit {
			out.Values = append(out.Values, facetValue)
		}
	}
	return out
}

// inOrder returns the values of options.
func (facetCount *facetCount) inOrder(got *readmodel.TallyAnswer) (all []FacetValue) {
	options, count := facetCount.options, func(at int, _ option) int { return got.Parts[at] }
	if facetCount.field == readmodel.FieldMonth {
		for id := range got.Values {
			options = append(options, month(int64(id)))
		}
		slices.SortFunc(options, func(a, b option) int { return strings.Compare(a.word, b.word) })
		options = slices.CompactFunc(options, option.same)
		count = func(_ int, o option) int { return got.Values[o.numbers[0]] }
	}
	for at, o := range options {
		all = append(all, FacetValue{Value: o.word, Label: o.label, Count: count(at, o), Selected: slices.ContainsFunc(facetCount.criteria.chosen[facetCount.name], o.same)})
	}
	return all
}

// mostFrequent returns the values of linked records, the first ones by count.
func (facetCount *facetCount) mostFrequent(got *readmodel.TallyAnswer) []FacetValue {
	all := facetCount.counted(got)
	if facetQuery := facetCount.criteria.facetQuery; facetQuery.facet == facetCount.name {
		all = slices.DeleteFunc(all, func(facetValue FacetValue) bool { return !strings.Contains(facetValue.SortKey, facetQuery.text) })
	}
	slices.SortFunc(all, func(facetValue, value FacetValue) int {
		return cmp.Or(value.Count-facetValue.Count, facetValue.Level-value.Level, strings.Compare(facetValue.SortKey, value.SortKey), strings.Compare(facetValue.Value, value.Value))
	})
	return all
}

// counted returns the values that have a count or are chosen; of a chosen one that the caller
// does not see the word that was sent.
func (facetCount *facetCount) counted(got *readmodel.TallyAnswer) (all []FacetValue) {
	visible, lang, chosen := facetCount.visible, facetCount.criteria.Lang, map[string]bool{}
	if facetCount.places != nil {
		for _, key := range facetCount.criteria.places[facetCount.name] {
			chosen[key] = true
		}
	} else {
		for _, id := range facetCount.criteria.named[facetCount.kind] {
			chosen[id.String()] = true
		}
	}
	for at, n := range groupCounts(facetCount.groups, got) {
		if n == 0 && len(chosen) == 0 {
			continue
		}
		facetValue := FacetValue{Count: n}
		if facetCount.places != nil {
			facetValue.Value, facetValue.Label = facetCount.places[at], facetCount.spelling(at, got)
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
func (facetCount *facetCount) spelling(at int, got *readmodel.TallyAnswer) string {
	label, counts := facetCount.places[at], map[string]int{}
	for _, id := range facetCount.groups[at] {
		if got.Values[id] == 0 {
			continue
		}
		venue, _ := facetCount.visible.find(id)
		spelling := facetCount.visible.records[venue].Fields.String(facetCount.name)
		counts[spelling]++
		if n := counts[spelling] - counts[label]; n > 0 || n == 0 && spelling < label {
			label = spelling
		}
	}
	return label
}
