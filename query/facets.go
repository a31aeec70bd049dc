package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// facet is what lists of events may be counted by (LISTINGS 3.5). Those of linked records
// are in the order of counts, and facet_query takes them.
type facet struct {
	name    string
	kind    calendar.Kind // of the linked records; 0: none
	blanked bool          // events that the caller gets blanked count in it

	tally  func(f *facetCount) readmodel.Tally
	values func(f *facetCount, got *readmodel.Tallied) facetValues
}

// The facets, in the order of the interface.
var facets = []facet{
	{name: "categories", kind: calendar.KindCategory, tally: (*facetCount).tallyLinked, values: (*facetCount).linked},
	{name: "tags", kind: calendar.KindTag, tally: (*facetCount).tallyLinked, values: (*facetCount).linked},
	{name: "venue", kind: calendar.KindVenue, tally: (*facetCount).tallyLinked, values: (*facetCount).linked},
	{name: "organizer", kind: calendar.KindOrganizer, tally: (*facetCount).tallyLinked, values: (*facetCount).linked},
	placeFacet("city", func(v *visible) *names { return &v.cities }, func(r *criteria) []string { return r.cities }),
	placeFacet("country", func(v *visible) *names { return &v.countries }, func(r *criteria) []string { return r.countries }),
	{name: "month", blanked: true, tally: tallyOf(readmodel.FieldMonth), values: (*facetCount).months},
	{name: "weekday", blanked: true, tally: tallyOf(readmodel.FieldWeekday), values: (*facetCount).weekdays},
	{name: "time_of_day", tally: tallyOf(readmodel.FieldMinute, isTrue(readmodel.FieldAllDay)), values: (*facetCount).timesOfDay},
	{name: "in_language", blanked: true, tally: tallyOf(readmodel.FieldLanguages), values: (*facetCount).languages},
	switchFacet("ticketed", isTrue(readmodel.FieldTicketed), func(r *criteria) sw { return r.ticketed }),
	switchFacet("featured", isTrue(readmodel.FieldFeatured), func(r *criteria) sw { return r.featured }),
	switchFacet("free", isFree, func(r *criteria) sw { return r.free }),
	{name: "cost_band", tally: (*facetCount).tallyBands, values: (*facetCount).costBands},
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

const (
	defFacetLimit = 20
	maxFacetLimit = 100
	mostMonths    = 240
)

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
	if facet = calendar.Trim(facet); text == "" || !slices.Contains(askedFacets, facet) || !slices.Contains(q.run.facets, facet) {
		v.Refuse(calendar.ReasonFacet, strings.Join(askedFacets, ","))
		return
	}
	q.run.facetQuery = facetQuery{facet, text}
}

// WithoutFacets has lists of the criteria count none: their answer shows none.
func (c *Criteria) WithoutFacets() { c.run.facets = nil }

// facetCount makes one facet of a list.
type facetCount struct {
	*facet
	st      *state
	c       *Criteria
	visible *visible // of facets of linked records
	labels  []string // of visible, folded

	selection, place int // of the answer
}

// counting is what a list asks of the index for its facets, in one query: those of which
// the parameter was not sent are about the same selection.
type counting struct {
	base, narrow readmodel.Filter // what no facet leaves out, and the rest of the list's filter
	of           []readmodel.Selection
	counts       []*facetCount
}

// counting prepares the facets of a list.
func (st *state) counting(ctx context.Context, c *Criteria) (*counting, error) {
	chosen, err := st.choice(ctx, c)
	if err != nil {
		return nil, err
	}
	counted := func(name string) bool { return slices.Contains(c.run.facets, name) }
	f := &counting{base: c.protect(chosen.parts(func(name string) bool { return !counted(name) }))}
	if rest := chosen.parts(counted); len(rest) > 0 {
		f.narrow = rest
	}
	type about struct {
		without string
		hides   bool
	}
	known := map[about]int{}
	for _, name := range c.run.facets {
		count, err := st.facet(ctx, c, name)
		if err != nil {
			return nil, err
		}
		key := about{hides: !count.blanked && !c.run.hides}
		if slices.ContainsFunc(chosen, func(p chosenPart) bool { return p.facet == name }) {
			key.without = name
		}
		at, ok := known[key]
		if !ok {
			at = len(f.of)
			known[key] = at
			parts := chosen.parts(func(name string) bool { return counted(name) && name != key.without })
			if b := blanked(c.Caller); b != nil && key.hides {
				parts = append(parts, not(b))
			}
			f.of = append(f.of, readmodel.Selection{})
			if len(parts) > 0 {
				f.of[at].Filter = parts
			}
		}
		count.selection, count.place = at, len(f.of[at].Tallies)
		f.of[at].Tallies = append(f.of[at].Tallies, count.tally(count))
		f.counts = append(f.counts, count)
	}
	return f, nil
}

// facets makes the facets of what was counted.
func (f *counting) facets(got [][]readmodel.Tallied) []Facet {
	out := make([]Facet, len(f.counts))
	for i, count := range f.counts {
		values := count.values(count, &got[count.selection][count.place])
		if count.kind != 0 {
			out[i] = count.mostFrequent(&values)
		} else {
			out[i] = values.inOrder()
		}
		out[i].Name = count.name
	}
	return out
}

// facet prepares one facet.
func (st *state) facet(ctx context.Context, c *Criteria, name string) (*facetCount, error) {
	f := &facetCount{facet: &facets[slices.Index(Facets, name)], st: st, c: c}
	if f.kind == 0 {
		return f, nil
	}
	d, err := st.directory(ctx, f.kind)
	if err == nil {
		f.visible, f.labels = d.visible(c.Caller, st.shared, c.withdrawn), d.labels[c.Lang]()
	}
	return f, err
}

// facetValues are the values that a facet may have.
type facetValues struct {
	// Of a facet in an order of its own: its values, and chosen ones that are none of them.
	values, others []FacetValue

	// Of a facet in the order of counts: the counts by place, the chosen places, chosen values
	// without a place, and what is known of a place.
	counts  []int
	chosen  map[int]bool
	unknown []string
	level   func(at int) int
	folded  func(at int) string // label
	value   func(at int) FacetValue
}

func (v *facetValues) add(value string, count int, selected bool) {
	v.values = append(v.values, FacetValue{Value: value, Count: count, Selected: selected})
}

// inOrder returns the values that have a count or are chosen.
func (v *facetValues) inOrder() (out Facet) {
	for _, value := range v.values {
		if value.Count > 0 {
			out.Total++
		}
		if value.Selected || value.Count > 0 && len(out.Values) < mostMonths {
			out.Values = append(out.Values, value)
		}
	}
	out.Values = append(out.Values, v.others...)
	return out
}

// mostFrequent returns the first values by count, and the chosen ones that are not among them.
func (f *facetCount) mostFrequent(v *facetValues) (out Facet) {
	fits := func(folded string) bool {
		q := &f.c.run.facetQuery
		return q.facet != f.name || strings.Contains(folded, q.text)
	}
	value := func(at int) FacetValue {
		value := v.value(at)
		value.Level, value.Count, value.Selected = v.level(at), v.counts[at], v.chosen[at]
		return value
	}
	compare := func(a, b int) int {
		if v.counts[a] != v.counts[b] {
			return v.counts[b] - v.counts[a]
		}
		if c := cmp.Or(v.level(a)-v.level(b), strings.Compare(v.folded(a), v.folded(b))); c != 0 {
			return c
		}
		return strings.Compare(v.value(a).Value, v.value(b).Value)
	}
	var first []int // places
	for at, n := range v.counts {
		if n == 0 || f.c.run.facetQuery.facet == f.name && !fits(v.folded(at)) {
			continue
		}
		out.Total++
		full := len(first) == f.c.run.facetLimit
		if full && compare(at, first[len(first)-1]) > 0 {
			continue // as most are
		}
		if full {
			first = first[:len(first)-1]
		}
		i, _ := slices.BinarySearchFunc(first, at, compare)
		first = slices.Insert(first, i, at)
	}
	for _, at := range first {
		out.Values = append(out.Values, value(at))
	}
	var others []FacetValue
	for at := range v.chosen {
		if !slices.Contains(first, at) && fits(v.folded(at)) {
			others = append(others, value(at))
		}
	}
	for _, text := range v.unknown {
		if fits(text) {
			others = append(others, FacetValue{Value: text, Label: text, Selected: true})
		}
	}
	slices.SortFunc(others, func(a, b FacetValue) int {
		return cmp.Or(b.Count-a.Count, a.Level-b.Level, strings.Compare(readmodel.Fold(a.Label), readmodel.Fold(b.Label)), strings.Compare(a.Value, b.Value))
	})
	out.Values = append(out.Values, others...)
	return out
}

// tallyOf counts the values of a field, and parts.
func tallyOf(field string, parts ...readmodel.Filter) func(*facetCount) readmodel.Tally {
	return func(*facetCount) readmodel.Tally { return readmodel.Tally{Field: field, Parts: parts} }
}

// tallyLinked counts linked records, and the trees of categories.
func (f *facetCount) tallyLinked() readmodel.Tally {
	return readmodel.Tally{Field: linkField(f.kind), Parts: f.visible.parts}
}

// linked returns the values of a facet of ids.
func (f *facetCount) linked(got *readmodel.Tallied) facetValues {
	d := f.visible
	out := facetValues{
		counts: make([]int, len(d.records)), chosen: map[int]bool{}, level: d.level,
		folded: func(at int) string { return f.labels[at] },
		value: func(at int) FacetValue {
			r := d.records[at]
			label, in := r.Name(f.c.Lang)
			return FacetValue{Value: r.ID.String(), Label: label, In: in, Slug: r.Slug(), Parent: r.Fields.ID("parent"), City: r.Fields.String("city")}
		},
	}
	at := 0
	for _, v := range got.Values { // both are by id
		for at < len(d.records) && int64(d.records[at].ID) < v.Value {
			at++
		}
		if at < len(d.records) && int64(d.records[at].ID) == v.Value && d.seen[at] {
			out.counts[at] = v.N
		}
	}
	for i, at := range d.parents {
		if d.seen[at] {
			out.counts[at] = got.Parts[i]
		}
	}
	for _, id := range f.c.run.linkedIDs(f.kind) {
		if at, ok := d.find(id); ok && d.seen[at] {
			out.chosen[at] = true
		} else {
			out.unknown = append(out.unknown, id.String())
		}
	}
	return out
}

// placeFacet counts the cities or countries of venues.
func placeFacet(name string, of func(*visible) *names, chosen func(*criteria) []string) facet {
	return facet{
		name: name, kind: calendar.KindVenue,
		tally: func(f *facetCount) readmodel.Tally {
			return readmodel.Tally{Field: readmodel.FieldVenue, Groups: of(f.visible).groups}
		},
		values: func(f *facetCount, got *readmodel.Tallied) facetValues {
			places := of(f.visible)
			labels := make([]string, len(places.keys))
			label := func(at int) string {
				if labels[at] == "" {
					labels[at] = f.spelling(places, at, got)
				}
				return labels[at]
			}
			out := facetValues{
				counts: got.Groups, chosen: map[int]bool{}, level: func(int) int { return 0 },
				folded: func(at int) string { return readmodel.Fold(label(at)) },
				value:  func(at int) FacetValue { return FacetValue{Value: places.keys[at], Label: label(at)} },
			}
			for _, key := range slices.Compact(slices.Sorted(slices.Values(chosen(&f.c.run)))) {
				if at, ok := places.index[key]; ok {
					out.chosen[at] = true
				} else {
					out.unknown = append(out.unknown, key)
				}
			}
			return out
		},
	}
}

// spelling returns the most frequent spelling of a place among the visible venues that are
// counted, of equally frequent ones the first by code points; the key of a chosen place that
// nothing carries.
func (f *facetCount) spelling(places *names, at int, got *readmodel.Tallied) string {
	label, counts := places.keys[at], map[string]int{}
	for _, id := range places.groups[at] {
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

func (f *facetCount) months(got *readmodel.Tallied) (out facetValues) {
	months := slices.Clone(f.c.run.months)
	for _, v := range got.Values {
		months = append(months, v.Value)
	}
	slices.Sort(months)
	for _, m := range slices.Compact(months) {
		text := fmt.Sprintf("%04d-%02d", m/12, m%12+1)
		out.values = append(out.values, FacetValue{Value: text, Label: text, Count: readmodel.CountOf(got.Values, m), Selected: slices.Contains(f.c.run.months, m)})
	}
	return out
}

func (f *facetCount) weekdays(got *readmodel.Tallied) (out facetValues) {
	for day := int64(1); day <= 7; day++ {
		out.add(strconv.FormatInt(day, 10), readmodel.CountOf(got.Values, day), slices.Contains(f.c.run.weekdays, day))
	}
	return out
}

// words of time_of_day in the order of the day.
var dayTimes = []dayTime{{"night", 0, 360}, {"morning", 360, 720}, {"afternoon", 720, 1080}, {"evening", 1080, dayMinutes}}

func (t dayTime) same(u dayTime) bool { return t.from == u.from && t.to == u.to }

func (t dayTime) count(got *readmodel.Tallied) (n int) {
	for _, v := range got.Values {
		after, before := int(v.Value) >= t.from, int(v.Value) < t.to
		if after && before || t.to <= t.from && (after || before) {
			n += v.N
		}
	}
	return n
}

func (f *facetCount) timesOfDay(got *readmodel.Tallied) (out facetValues) {
	chosen := f.c.run.times
	for _, t := range dayTimes {
		out.add(t.word, t.count(got), slices.ContainsFunc(chosen, t.same))
	}
	out.add("all_day", got.Parts[0], f.c.run.allDay)
	for i, t := range chosen {
		if !slices.ContainsFunc(dayTimes, t.same) && !slices.ContainsFunc(chosen[:i], t.same) {
			out.others = append(out.others, FacetValue{Value: t.word, Label: t.word, Count: t.count(got), Selected: true})
		}
	}
	return out
}

func (f *facetCount) languages(got *readmodel.Tallied) (out facetValues) {
	for _, l := range calendar.Langs {
		id := readmodel.LanguageID(l)
		out.add(l.String(), readmodel.CountOf(got.Values, int64(id)), slices.Contains(f.c.run.languages, id))
	}
	return out
}

// switchFacet counts what a filter admits, and what it does not.
func switchFacet(name string, on readmodel.Filter, sent func(*criteria) sw) facet {
	return facet{
		name: name, tally: tallyOf("", on, not(on)),
		values: func(f *facetCount, got *readmodel.Tallied) (out facetValues) {
			is := sent(&f.c.run)
			out.add("true", got.Parts[0], is == swOn)
			out.add("false", got.Parts[1], is == swOff)
			return out
		},
	}
}

// readBands makes the bands of costs of the options.
func (s *Service) readBands() error {
	s.bands = []band{{"free", span{readmodel.CostFree, readmodel.CostFree}}}
	add := func(from, to string) {
		within := span{readmodel.Hundredths(from), open.max}
		if to != "" {
			within.max = readmodel.Hundredths(to) - 1
		}
		s.bands = append(s.bands, band{from + "-" + to, within})
	}
	from := "0"
	for _, bound := range s.o.CostBands {
		if _, ok := price(bound); !ok || readmodel.Hundredths(bound) < readmodel.Hundredths(from) {
			return fmt.Errorf("query: cost band %q: a decimal of up to two places above the one before it is required", bound)
		}
		if readmodel.Hundredths(bound) > readmodel.Hundredths(from) {
			add(from, bound)
		}
		from = bound
	}
	add(from, "")
	for _, b := range s.bands {
		s.bandParts = append(s.bandParts, costBand(b.within))
	}
	s.bandParts = append(s.bandParts, costUnknown)
	return nil
}

func (b band) same(c band) bool { return b.within == c.within }

// otherBands are the chosen bands of costs that are none of the options.
func (f *facetCount) otherBands() (out []band) {
	for _, b := range f.c.run.bands {
		if !slices.ContainsFunc(f.st.bands, b.same) && !slices.ContainsFunc(out, b.same) {
			out = append(out, b)
		}
	}
	return out
}

// tallyBands counts the bands of costs of the options, what is unknown, and the other bands.
func (f *facetCount) tallyBands() readmodel.Tally {
	parts := slices.Clone(f.st.bandParts)
	for _, b := range f.otherBands() {
		parts = append(parts, costBand(b.within))
	}
	return readmodel.Tally{Parts: parts}
}

func (f *facetCount) costBands(got *readmodel.Tallied) (out facetValues) {
	for i, b := range f.st.bands {
		out.add(b.word, got.Parts[i], slices.ContainsFunc(f.c.run.bands, b.same))
		if i > 0 {
			out.values[i].Label = b.word
		}
	}
	n := len(f.st.bands)
	out.add("unknown", got.Parts[n], f.c.run.costUnknown)
	for i, b := range f.otherBands() {
		out.others = append(out.others, FacetValue{Value: b.word, Label: b.word, Count: got.Parts[n+1+i], Selected: true})
	}
	return out
}
