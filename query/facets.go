package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// facet is what lists of events may be counted by (LISTINGS 3.5).
type facet struct {
	name    string
	asked   bool                                // facet_query takes it: it is in the order of counts
	blanked bool                                // events that the caller gets blanked count in it
	kind    calendar.Kind                       // of the linked records that it is through
	tally   func(f *facetCount) readmodel.Tally // what it asks of the index
	make    func(f *facetCount, got *readmodel.Tallied) Facet
}

// The facets, in the order of the interface. The first ones are of linked records.
var facets = []facet{
	{name: "categories", asked: true, kind: calendar.KindCategory, tally: (*facetCount).askLinked, make: (*facetCount).linked},
	{name: "tags", asked: true, kind: calendar.KindTag, tally: (*facetCount).askLinked, make: (*facetCount).linked},
	{name: "venue", asked: true, kind: calendar.KindVenue, tally: (*facetCount).askLinked, make: (*facetCount).linked},
	{name: "organizer", asked: true, kind: calendar.KindOrganizer, tally: (*facetCount).askLinked, make: (*facetCount).linked},
	{name: "city", asked: true, kind: calendar.KindVenue, tally: (*facetCount).askPlaces, make: (*facetCount).placed},
	{name: "country", asked: true, kind: calendar.KindVenue, tally: (*facetCount).askPlaces, make: (*facetCount).placed},
	{name: "month", blanked: true, tally: askField(readmodel.FieldMonth), make: (*facetCount).months},
	{name: "weekday", blanked: true, tally: askField(readmodel.FieldWeekday), make: (*facetCount).weekdays},
	{name: "time_of_day", tally: askField(readmodel.FieldMinute, isOn(readmodel.FieldAllDay)), make: (*facetCount).timesOfDay},
	{name: "in_language", blanked: true, tally: askField(readmodel.FieldLanguages), make: (*facetCount).languages},
	{name: "ticketed", tally: askSwitch(isOn(readmodel.FieldTicketed)), make: switchOf(func(r *criteria) sw { return r.ticketed })},
	{name: "featured", tally: askSwitch(isOn(readmodel.FieldFeatured)), make: switchOf(func(r *criteria) sw { return r.featured })},
	{name: "free", tally: askSwitch(isFree), make: switchOf(func(r *criteria) sw { return r.free })},
	{name: "cost_band", tally: (*facetCount).askBands, make: (*facetCount).costBands},
}

// Facets are the names of the facets of lists of events; askedFacets those that facet_query
// takes.
var Facets, askedFacets = func() (all, asked []string) {
	for _, f := range facets {
		if all = append(all, f.name); f.asked {
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

// keeps tells whether a folded label stays.
func (q *facetQuery) keeps(facet, folded string) bool {
	return q.facet != facet || strings.Contains(folded, q.text)
}

func readFacetLimit(_ context.Context, q *parser, p *Param) {
	n := q.integer(p.Name, defFacetLimit)
	if n < 1 || n > maxFacetLimit {
		q.bad.Add(p.Name, calendar.ReasonRange, "1", strconv.Itoa(maxFacetLimit))
	}
	q.run.facetLimit = int(n)
}

func readFacetQuery(_ context.Context, q *parser, p *Param) {
	word, ok := q.text(p.Name, 0)
	if !ok {
		return
	}
	facet, text, _ := strings.Cut(word, ":")
	text = readmodel.Fold(calendar.Trim(text))
	if facet = calendar.Trim(facet); text == "" || !slices.Contains(askedFacets, facet) || !slices.Contains(q.run.facets, facet) {
		q.bad.Add(p.Name, calendar.ReasonFacet, strings.Join(askedFacets, ","))
		return
	}
	q.run.facetQuery = facetQuery{facet, text}
}

func readCollapse(_ context.Context, q *parser, p *Param) {
	word, ok := q.text(p.Name, 0)
	if ok && !slices.Contains(p.Enum, word) {
		q.bad.Add(p.Name, calendar.ReasonWord, strings.Join(p.Enum, ","))
	}
	q.run.collapse = ok
}

// WithoutFacets has lists of the criteria count none: their answer shows none.
func (c *Criteria) WithoutFacets() { c.run.facets = nil }

// facetCount makes one facet of a list.
type facetCount struct {
	*facet
	st      *state
	c       *Criteria
	visible *visible // of facets through linked records
	ranks   ranks    // of visible

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
				parts = append(parts, readmodel.Not{Filter: b})
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
		out[i] = count.make(count, &got[count.selection][count.place])
		out[i].Name = count.name
	}
	return out
}

// facet prepares one facet.
func (st *state) facet(ctx context.Context, c *Criteria, name string) (*facetCount, error) {
	at := slices.Index(Facets, name)
	f := &facetCount{facet: &facets[at], st: st, c: c}
	if f.kind == 0 {
		return f, nil
	}
	d, err := st.directory(ctx, f.kind)
	if err != nil {
		return nil, err
	}
	f.visible = d.visible(c.Caller, st.shared, c.withdrawn)
	if f.name == linkField(f.kind) {
		f.ranks, err = d.ranked(ctx, c.Lang)
	}
	return f, err
}

func isOn(field string) readmodel.Filter { return readmodel.Term{Field: field, Value: "true"} }

// askField counts the values of a field, and parts.
func askField(field string, parts ...readmodel.Filter) func(*facetCount) readmodel.Tally {
	return func(*facetCount) readmodel.Tally { return readmodel.Tally{Field: field, Parts: parts} }
}

// askSwitch counts what a filter admits, and what it does not.
func askSwitch(on readmodel.Filter) func(*facetCount) readmodel.Tally {
	return askField("", on, readmodel.Not{Filter: on})
}

// askLinked counts linked records, and the trees of categories.
func (f *facetCount) askLinked() readmodel.Tally {
	return readmodel.Tally{Field: linkField(f.kind), Parts: f.visible.parts}
}

// askPlaces counts the venues of cities or countries.
func (f *facetCount) askPlaces() readmodel.Tally {
	return readmodel.Tally{Field: linkField(f.kind), Groups: f.places().groups}
}

func (f *facetCount) places() *names {
	if f.name == "country" {
		return &f.visible.countries
	}
	return &f.visible.cities
}

// candidate is a value of a facet that is ordered by counts.
type candidate struct {
	at    int // in the directory, or among the places; −1: of a chosen one that is not there
	n     int
	level int
	rank  int32

	chosen bool
	id     calendar.ID // of a chosen one that is not there
}

// first keeps those that come first, by count and then by another order, and those that
// are chosen.
type first struct {
	limit int
	less  func(a, b *candidate) int // of equal counts
	total int
	top   []candidate
	more  []candidate // chosen ones
	next  candidate   // the one that is added; less takes it off the stack
}

func (f *first) add(c candidate) {
	if c.chosen {
		f.more = append(f.more, c)
	}
	if c.n == 0 {
		return
	}
	f.total++
	f.next = c
	switch last := len(f.top) - 1; {
	case len(f.top) < f.limit:
		f.top = append(slices.Grow(f.top, f.limit-len(f.top)), c)
	case f.compare(&f.next, &f.top[last]) < 0:
		f.top[last] = c
	default: // as most are
		return
	}
	for at := len(f.top) - 1; at > 0 && f.compare(&f.top[at], &f.top[at-1]) < 0; at-- {
		f.top[at], f.top[at-1] = f.top[at-1], f.top[at]
	}
}

func (f *first) compare(a, b *candidate) int {
	if a.n != b.n {
		return b.n - a.n
	}
	return f.less(a, b)
}

// all gives the first ones, and after them the chosen ones that are not among them. Of
// those without any count, as many as there is room for stand in their order, too.
func (f *first) all() []candidate {
	slices.SortFunc(f.more, func(a, b candidate) int { return f.compare(&a, &b) })
	out := f.top
	for i := range f.more {
		if !slices.ContainsFunc(f.top, func(c candidate) bool { return f.compare(&c, &f.more[i]) == 0 }) {
			out = append(out, f.more[i])
		}
	}
	return out
}

// linked makes a facet of ids.
func (f *facetCount) linked(got *readmodel.Tallied) Facet {
	d, lang := f.visible, f.c.Lang
	isCategory := f.kind == calendar.KindCategory
	list := first{limit: f.c.run.facetLimit, less: func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.rank, b.rank), cmp.Compare(a.id, b.id))
	}}
	add := func(at, n int, chosen bool) {
		if !d.seen[at] || !f.c.run.facetQuery.keeps(f.name, f.ranks.folded[at]) {
			return
		}
		c := candidate{at: at, n: n, rank: f.ranks.at[at], chosen: chosen}
		if isCategory {
			c.level = d.level(at)
		}
		list.add(c)
	}
	left := slices.Clone(f.c.run.linkedIDs(f.kind)) // of which nothing is counted
	take := func(id calendar.ID) bool {
		i := slices.Index(left, id)
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		return i >= 0
	}
	// Both are by id; a category with others below it is counted as a part.
	next, part := 0, 0
	for _, v := range got.Values {
		for next < len(d.records) && int64(d.records[next].ID) < v.Value {
			next++
		}
		if next == len(d.records) {
			break
		}
		for part < len(d.parents) && d.parents[part] < next {
			part++
		}
		if int64(d.records[next].ID) == v.Value && d.seen[next] && (part >= len(d.parents) || d.parents[part] != next) {
			add(next, v.N, take(d.records[next].ID))
		}
	}
	for i, at := range d.parents {
		if n := got.Parts[i]; n > 0 {
			add(at, n, take(d.records[at].ID))
		}
	}
	for _, id := range left {
		if at, ok := d.find(id); ok && d.seen[at] {
			add(at, 0, true)
		} else if f.c.run.facetQuery.keeps(f.name, id.String()) {
			list.add(candidate{at: -1, id: id, chosen: true})
		}
	}
	all := list.all()
	out := Facet{Total: list.total, Values: make([]FacetValue, len(all))}
	for i := range all {
		c := &all[i]
		v := FacetValue{Count: c.n, Selected: c.chosen}
		if c.at < 0 { // the caller does not see it
			v.Value, v.Label = c.id.String(), c.id.String()
			out.Values[i] = v
			continue
		}
		r := d.records[c.at]
		v.Value, v.Label = r.ID.String(), d.label(c.at, lang)
		v.Slug, v.Parent, v.Level, v.City = r.Slug(), r.Fields.ID("parent"), c.level, r.Fields.String("city")
		_, v.In = r.Name(lang)
		out.Values[i] = v
	}
	return out
}

// spelling returns the most frequent spelling of a place among the visible venues that are
// counted, of equally frequent ones the first by code points; the key of a chosen place that
// nothing carries.
func (f *facetCount) spelling(at int, got *readmodel.Tallied) string {
	label, counts := f.places().keys[at], map[string]int{}
	for _, id := range f.places().groups[at] {
		if readmodel.CountOf(got.Values, int64(id)) == 0 {
			continue
		}
		place, _ := f.visible.find(id)
		spelling := f.visible.records[place].Fields.String(f.name)
		counts[spelling]++
		if n := counts[spelling] - counts[label]; n > 0 || n == 0 && spelling < label {
			label = spelling
		}
	}
	return label
}

// placed makes a facet of cities or countries.
func (f *facetCount) placed(got *readmodel.Tallied) Facet {
	places, chosen := f.places(), f.c.run.cities
	if f.name == "country" {
		chosen = f.c.run.countries
	}
	left := map[string]bool{}
	for _, key := range chosen {
		left[key] = true
	}
	labels := make([]string, len(got.Groups))
	label := func(at int) string {
		if labels[at] == "" {
			labels[at] = f.spelling(at, got)
		}
		return labels[at]
	}
	list := first{limit: f.c.run.facetLimit, less: func(a, b *candidate) int {
		if a.at == b.at {
			return 0
		}
		return cmp.Or(cmp.Compare(readmodel.Fold(label(a.at)), readmodel.Fold(label(b.at))), cmp.Compare(places.keys[a.at], places.keys[b.at]))
	}}
	asked := f.c.run.facetQuery.facet == f.name
	for at, n := range got.Groups {
		key := places.keys[at]
		isChosen := left[key]
		if n == 0 && !isChosen || asked && !f.c.run.facetQuery.keeps(f.name, readmodel.Fold(label(at))) {
			continue
		}
		delete(left, key)
		list.add(candidate{at: at, n: n, chosen: isChosen})
	}
	var out Facet
	for _, c := range list.all() {
		out.Values = append(out.Values, FacetValue{Value: places.keys[c.at], Label: label(c.at), Count: c.n, Selected: c.chosen})
	}
	out.Total = list.total
	for _, key := range slices.Sorted(maps.Keys(left)) { // of no venue
		if f.c.run.facetQuery.keeps(f.name, key) {
			out.Values = append(out.Values, FacetValue{Value: key, Label: key, Selected: true})
		}
	}
	return out
}

// take adds a value in its turn; one without any count is there when it is chosen.
func (out *Facet) take(v FacetValue) {
	if v.Count > 0 {
		out.Total++
	}
	if v.Count > 0 || v.Selected {
		out.Values = append(out.Values, v)
	}
}

func (f *facetCount) months(got *readmodel.Tallied) (out Facet) {
	values := slices.Clone(got.Values)
	for _, m := range f.c.run.months {
		if !slices.ContainsFunc(values, func(v readmodel.Value) bool { return v.Value == m }) {
			values = append(values, readmodel.Value{Value: m})
		}
	}
	slices.SortFunc(values, func(a, b readmodel.Value) int { return cmp.Compare(a.Value, b.Value) })
	for _, v := range values {
		text := fmt.Sprintf("%04d-%02d", v.Value/12, v.Value%12+1)
		out.take(FacetValue{Value: text, Label: text, Count: v.N, Selected: slices.Contains(f.c.run.months, v.Value)})
	}
	if len(out.Values) > mostMonths {
		rest := slices.DeleteFunc(slices.Clone(out.Values[mostMonths:]), func(v FacetValue) bool { return !v.Selected })
		out.Values = append(out.Values[:mostMonths:mostMonths], rest...)
	}
	return out
}

func (f *facetCount) weekdays(got *readmodel.Tallied) (out Facet) {
	for day := int64(1); day <= 7; day++ {
		out.take(FacetValue{Value: strconv.FormatInt(day, 10), Count: readmodel.CountOf(got.Values, day), Selected: slices.Contains(f.c.run.weekdays, day)})
	}
	return out
}

// words of time_of_day in the order of the day.
var dayTimes = []dayTime{{"night", 0, 360}, {"morning", 360, 720}, {"afternoon", 720, 1080}, {"evening", 1080, dayMinutes}}

func (t dayTime) same(u dayTime) bool { return t.from == u.from && t.to == u.to }

func (t dayTime) count(got *readmodel.Tallied) (n int) {
	for _, v := range got.Values {
		minute := int(v.Value)
		in := minute >= t.from && minute < t.to
		if t.to <= t.from {
			in = minute >= t.from || minute < t.to
		}
		if in {
			n += v.N
		}
	}
	return n
}

func (f *facetCount) timesOfDay(got *readmodel.Tallied) (out Facet) {
	chosen := f.c.run.times
	for _, t := range dayTimes {
		out.take(FacetValue{Value: t.word, Count: t.count(got), Selected: slices.ContainsFunc(chosen, t.same)})
	}
	out.take(FacetValue{Value: "all_day", Count: got.Parts[0], Selected: f.c.run.allDay})
	for i, t := range chosen {
		if !slices.ContainsFunc(dayTimes, t.same) && !slices.ContainsFunc(chosen[:i], t.same) {
			out.Values = append(out.Values, FacetValue{Value: t.word, Label: t.word, Count: t.count(got), Selected: true})
		}
	}
	return out
}

func (f *facetCount) languages(got *readmodel.Tallied) (out Facet) {
	for _, l := range calendar.Langs {
		id := readmodel.LanguageID(l)
		out.take(FacetValue{Value: l.String(), Count: readmodel.CountOf(got.Values, int64(id)), Selected: slices.Contains(f.c.run.languages, id)})
	}
	return out
}

// switchOf makes the facet of a filter that is on or off.
func switchOf(sent func(*criteria) sw) func(*facetCount, *readmodel.Tallied) Facet {
	return func(f *facetCount, got *readmodel.Tallied) (out Facet) {
		is := sent(&f.c.run)
		out.take(FacetValue{Value: "true", Count: got.Parts[0], Selected: is == swOn})
		out.take(FacetValue{Value: "false", Count: got.Parts[1], Selected: is == swOff})
		return out
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

// askBands counts the bands of costs of the options, what is unknown, and the other bands.
func (f *facetCount) askBands() readmodel.Tally {
	parts := slices.Clone(f.st.bandParts)
	for _, b := range f.otherBands() {
		parts = append(parts, costBand(b.within))
	}
	return readmodel.Tally{Parts: parts}
}

func (f *facetCount) costBands(got *readmodel.Tallied) (out Facet) {
	for i, b := range f.st.bands {
		v := FacetValue{Value: b.word, Label: b.word, Count: got.Parts[i], Selected: slices.ContainsFunc(f.c.run.bands, b.same)}
		if i == 0 {
			v.Label = ""
		}
		out.take(v)
	}
	n := len(f.st.bands)
	out.take(FacetValue{Value: "unknown", Count: got.Parts[n], Selected: f.c.run.costUnknown})
	for i, b := range f.otherBands() {
		out.Values = append(out.Values, FacetValue{Value: b.word, Label: b.word, Count: got.Parts[n+1+i], Selected: true})
	}
	return out
}
