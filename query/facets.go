package query

import (
	"cmp"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// facet is what lists of events may be counted by (LISTINGS 3.5).
type facet struct {
	name    string
	kind    calendar.Kind // of the linked records that are counted, the most frequent first; 0: options are
	blanked bool          // events that the caller gets blanked count in it
	field   string        // that the numbers of options are of
	options []option      // in order
	// read reads an entry of the parameter that is the word of none of options.
	read func(entry string) (option, bool)
}

// The facets, in the order of the interface; Service has the options of the last one.
var facets = []facet{
	{name: "categories", kind: calendar.KindCategory, field: readmodel.FieldCategories},
	{name: "tags", kind: calendar.KindTag, field: readmodel.FieldTags},
	{name: "venue", kind: calendar.KindVenue, field: readmodel.FieldVenue},
	{name: "organizer", kind: calendar.KindOrganizer, field: readmodel.FieldOrganizer},
	{name: "city", kind: calendar.KindVenue, field: readmodel.FieldVenue, read: readPlace},
	{name: "country", kind: calendar.KindVenue, field: readmodel.FieldVenue, read: readPlace},
	{name: "month", blanked: true, field: readmodel.FieldMonth, read: readMonth}, // whatever there is
	{name: "weekday", blanked: true, field: readmodel.FieldWeekday, options: weekdays, read: readWeekday},
	{name: "time_of_day", options: timesOfDay, read: readTime},
	{name: "in_language", blanked: true, field: readmodel.FieldLanguages, options: languages},
	{name: "ticketed", options: either(isTrue(readmodel.FieldTicketed))},
	{name: "featured", options: either(isTrue(readmodel.FieldFeatured))},
	{name: "free", options: either(isFree)},
	{name: "cost_band", read: readCostBand},
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

func (service *Service) facet(name string) *facet { return &service.facets[slices.Index(Facets, name)] }

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

// readFacets reads what lists are counted by.
func (parser *parser) readFacets() {
	parser.Facets = parser.parameter("facets").Words()
	parser.Cost += len(parser.Facets)
	parser.facetLimit = parser.parameter("facet_limit").Int()
	value := parser.parameter("facet_query")
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
	parser.facetTexts = map[string]string{facet: text}
}

// facetCount makes one facet of a list.
type facetCount struct {
	*facet
	*listPlan

	options []option // those of the facet, and chosen ones that are none of them
}

// facetCount prepares one facet.
func (plan *listPlan) facetCount(name string) *facetCount {
	facet := plan.facet(name)
	count := &facetCount{facet, plan, slices.Clip(facet.options)}
	switch {
	case count.isPlace():
		count.options = plan.placed(name)
	case count.kind != 0:
		count.options = slices.Clip(plan.directory(count.kind).options)
	}
	for _, chosen := range plan.chosen[name] {
		if !slices.ContainsFunc(count.options, chosen.is) {
			count.options = append(count.options, chosen)
		}
	}
	return count
}

// isPlace reports whether cities or countries are counted.
func (facet *facet) isPlace() bool { return facet.kind != 0 && facet.name != facet.field }

// tallyOf asks how many events that a filter admits have each of some options: those of a single
// number are counted as values of the field, others as parts.
func tallyOf(field string, options []option, among readmodel.Filter) readmodel.Tally {
	tally := readmodel.Tally{Filter: among, Field: field}
	for i := range options {
		if option := &options[i]; len(option.numbers) != 1 {
			tally.Parts = append(tally.Parts, cmp.Or(option.other, in(field, option.numbers...)))
		}
	}
	return tally
}

// countsOf returns the counts of the options of tallyOf.
func countsOf(options []option, got *readmodel.TallyAnswer) []int {
	counts, parts := make([]int, len(options)), got.Parts
	for index := range options {
		if numbers := options[index].numbers; len(numbers) == 1 {
			counts[index] = got.Values[numbers[0]]
		} else if len(parts) > 0 { // none after an error
			counts[index], parts = parts[0], parts[1:]
		}
	}
	return counts
}

// made makes the facet of what was counted: the first values, and the chosen ones.
func (facetCount *facetCount) made(got *readmodel.TallyAnswer) Facet {
	facet, limit := Facet{Name: facetCount.name}, maxMonths
	if facetCount.field == readmodel.FieldMonth {
		for id := range got.Values {
			facetCount.options = append(facetCount.options, month(id))
		}
		slices.SortFunc(facetCount.options, func(a, b option) int { return strings.Compare(a.word, b.word) })
		facetCount.options = slices.CompactFunc(facetCount.options, option.is)
	}
	var all []FacetValue
	for index, count := range countsOf(facetCount.options, got) {
		option := &facetCount.options[index]
		value := FacetValue{Value: option.word, Label: option.label, Count: count, Selected: slices.ContainsFunc(facetCount.chosen[facetCount.name], option.is)}
		if facetCount.kind == 0 || (count > 0 || value.Selected) && facetCount.describe(&value, option, got) {
			all = append(all, value)
		}
	}
	if facetCount.kind != 0 {
		limit = facetCount.facetLimit
		slices.SortFunc(all, func(a, b FacetValue) int { // the most frequent first
			return cmp.Or(b.Count-a.Count, a.Level-b.Level, strings.Compare(a.SortKey, b.SortKey), strings.Compare(a.Value, b.Value))
		})
	}
	own := facetCount.facet.options // nil: all are
	for i, value := range all {
		if value.Count > 0 && (i < len(own) || own == nil) {
			facet.Total++
		}
		if value.Selected || value.Count > 0 && facet.Total <= limit {
			facet.Values = append(facet.Values, value)
		}
	}
	return facet
}

// describe fills in what a value shows of its records, and reports whether it is shown. Of a
// chosen record that the caller does not see that is what was sent.
func (facetCount *facetCount) describe(value *FacetValue, option *option, got *readmodel.TallyAnswer) bool {
	switch {
	case facetCount.isPlace():
		value.Label = facetCount.spelling(option, got)
	case option.linked != nil && facetCount.sees(option.record):
		record := option.record
		value.Label, value.In = record.Name(facetCount.Lang)
		value.Slug, value.Parent, value.City = record.Slug(), record.Fields.ID("parent"), record.Fields.String("city")
		value.Level = len(facetCount.directory(facetCount.kind).above(option))
	case !value.Selected:
		return false
	default:
		value.Label, value.Count = value.Value, 0
	}
	value.SortKey = readmodel.Fold(value.Label)
	return strings.Contains(value.SortKey, facetCount.facetTexts[facetCount.name])
}

// spelling returns the most frequent spelling of a place among the venues that are counted, of
// equally frequent ones the first by code points; the key of a chosen place that nothing
// carries.
func (facetCount *facetCount) spelling(place *option, got *readmodel.TallyAnswer) string {
	label, counts, venues := place.word, map[string]int{}, facetCount.directory(facetCount.kind)
	for _, id := range place.numbers {
		venue := venues.find(id)
		if venue == nil || got.Values[id] == 0 { // nil after an error
			continue
		}
		spelling := venue.record.Fields.String(facetCount.name)
		counts[spelling]++
		if count := counts[spelling] - counts[label]; count > 0 || count == 0 && spelling < label {
			label = spelling
		}
	}
	return label
}
