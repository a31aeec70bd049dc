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

// Facets are the facets of lists of events (LISTINGS 3.5).
var Facets = []string{
	"categories", "tags", "venue", "organizer", "city", "country", "month", "weekday", "time_of_day", "in_language",
	"ticketed", "featured", "free", "cost_band",
}

// askedFacets are those that facet_query takes: the ones in the order of counts.
var askedFacets = Facets[:6]

// shownOnBlanked are the facets that blanked events count in.
var shownOnBlanked = []string{"month", "weekday", "in_language"}

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

// facetCount makes one facet: what it asks of the index, and what becomes of the answer.
type facetCount struct {
	*facetRun
	name  string
	tally readmodel.Tally
	make  func(f *facetCount, got *readmodel.Tallied) (Facet, error)

	// Of facets through other records:
	kind    calendar.Kind
	chosen  []calendar.ID // of the parameter
	dir     *directory
	visible *visible
	places  *names
	detail  string // of venues that the places are named by

	selection, place int // of the answer
}

// facetRun is one answer.
type facetRun struct {
	ctx context.Context //nolint:containedctx // it lives as long as the call
	s   *Service
	c   *Criteria
}

// counting is what a list asks of the index for its facets, in one query: those of which
// the parameter was not sent are about the same selection.
type counting struct {
	base, narrow readmodel.Filter // what no facet leaves out, and the rest of the list's filter
	of           []readmodel.Selection
	counts       []*facetCount
}

// counting prepares the facets of a list.
func (s *Service) counting(ctx context.Context, c *Criteria, snap *snapshot) (*counting, error) {
	chosen, err := s.choice(ctx, c, snap)
	if err != nil {
		return nil, err
	}
	counts := make([]*facetCount, len(c.run.facets))
	run := &facetRun{ctx, s, c}
	common := map[string]bool{} // parts that no facet leaves out
	sent := map[string]bool{}
	for i := range chosen {
		sent[chosen[i].facet] = true
	}
	for i, name := range c.run.facets {
		if counts[i], err = run.count(ctx, name, snap); err != nil {
			return nil, err
		}
	}
	for name := range sent {
		common[name] = !slices.Contains(c.run.facets, name)
	}
	common[""] = true
	f := &counting{base: c.protect(chosen.parts(func(facet string) bool { return common[facet] })), counts: counts}
	if rest := chosen.parts(func(facet string) bool { return !common[facet] }); len(rest) > 0 {
		f.narrow = rest
	}
	type about struct {
		without string
		hides   bool
	}
	known := map[about]int{}
	for _, count := range counts {
		key := about{hides: !slices.Contains(shownOnBlanked, count.name) && !c.run.hides}
		if sent[count.name] {
			key.without = count.name
		}
		at, ok := known[key]
		if !ok {
			at = len(f.of)
			known[key] = at
			parts := chosen.parts(func(facet string) bool { return !common[facet] && facet != key.without })
			if b := blanked(c.Caller); b != nil && key.hides {
				parts = append(parts, readmodel.Not{Filter: b})
			}
			f.of = append(f.of, readmodel.Selection{})
			if len(parts) > 0 {
				f.of[at].Filter = parts
			}
		}
		count.selection, count.place = at, len(f.of[at].Tallies)
		f.of[at].Tallies = append(f.of[at].Tallies, count.tally)
	}
	return f, nil
}

// facets makes the facets of what was counted.
func (f *counting) facets(got [][]readmodel.Tallied) (out []Facet, err error) {
	out = make([]Facet, len(f.counts))
	for i, count := range f.counts {
		if out[i], err = count.make(count, &got[count.selection][count.place]); err != nil {
			return nil, err
		}
		out[i].Name = count.name
	}
	return out, nil
}

// count prepares one facet.
func (r *facetRun) count(ctx context.Context, name string, snap *snapshot) (*facetCount, error) {
	f := &facetCount{facetRun: r, name: name, make: (*facetCount).linked}
	switch name {
	case "categories":
		f.kind, f.chosen = calendar.KindCategory, r.c.run.categories
	case "tags":
		f.kind, f.chosen = calendar.KindTag, r.c.run.tags
	case "venue", "city", "country":
		f.kind, f.chosen = calendar.KindVenue, r.c.run.venues
	case "organizer":
		f.kind, f.chosen = calendar.KindOrganizer, r.c.run.organizers
	case "month":
		f.tally.Field, f.make = readmodel.FieldMonth, (*facetCount).months
	case "weekday":
		f.tally.Field, f.make = readmodel.FieldWeekday, (*facetCount).weekdays
	case "time_of_day":
		f.tally = readmodel.Tally{Field: readmodel.FieldMinute, Parts: allDayPart}
		f.make = (*facetCount).timesOfDay
	case "in_language":
		f.tally.Field, f.make = readmodel.FieldLanguages, (*facetCount).languages
	case "cost_band":
		f.costBands()
	default:
		f.tally.Parts, f.make = switchParts[name], (*facetCount).switches
	}
	if f.kind == 0 {
		return f, nil
	}
	var err error
	if f.dir, err = snap.directory(ctx, r.s, f.kind); err != nil {
		return nil, err
	}
	f.visible = f.dir.visible(r.c.Caller, snap, r.c.withdrawn)
	f.tally.Field = linkField(f.kind)
	switch name {
	case "categories":
		f.tally.Parts = f.dir.parts
	case "city":
		f.places, f.detail, f.make = &f.visible.cities, "city", (*facetCount).placed
	case "country":
		f.places, f.detail, f.make = &f.visible.countries, "country", (*facetCount).placed
	}
	if f.places != nil {
		f.tally.Groups = f.places.groups
	}
	return f, nil
}

func isOn(field string) readmodel.Filter { return readmodel.Term{Field: field, Value: "true"} }

// The parts of tallies of which nothing changes.
var (
	allDayPart  = []readmodel.Filter{isOn(readmodel.FieldAllDay)}
	switchParts = map[string][]readmodel.Filter{
		"ticketed": {isOn(readmodel.FieldTicketed), readmodel.Not{Filter: isOn(readmodel.FieldTicketed)}},
		"featured": {isOn(readmodel.FieldFeatured), readmodel.Not{Filter: isOn(readmodel.FieldFeatured)}},
		"free":     {isFree, readmodel.Not{Filter: isFree}},
	}
)

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
func (f *facetCount) linked(got *readmodel.Tallied) (Facet, error) {
	d, lang := f.dir, f.c.Lang
	ranks, err := d.ranked(f.ctx, lang)
	if err != nil {
		return Facet{}, err
	}
	isCategory := f.kind == calendar.KindCategory
	list := first{limit: f.c.run.facetLimit, less: func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.rank, b.rank), cmp.Compare(a.id, b.id))
	}}
	add := func(at, n int, chosen bool) {
		if !f.visible.seen[at] || !f.c.run.facetQuery.keeps(f.name, ranks.folded[at]) {
			return
		}
		c := candidate{at: at, n: n, rank: ranks.at[at], chosen: chosen}
		if isCategory {
			c.level = d.level(at)
		}
		list.add(c)
	}
	left := slices.Clone(f.chosen) // of which nothing is counted
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
		if int64(d.records[next].ID) == v.Value && f.visible.seen[next] && (part >= len(d.parents) || d.parents[part] != next) {
			add(next, v.N, take(d.records[next].ID))
		}
	}
	for i, at := range d.parents {
		if n := got.Parts[i]; n > 0 {
			add(at, n, take(d.records[at].ID))
		}
	}
	for _, id := range left {
		if at, ok := d.find(id); ok && f.visible.seen[at] {
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
	return out, nil
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
		place, _ := f.dir.find(id)
		spelling := f.dir.records[place].Fields.String(f.detail)
		counts[spelling]++
		if n := counts[spelling] - counts[label]; n > 0 || n == 0 && spelling < label {
			label = spelling
		}
	}
	return label
}

// placed makes a facet of cities or countries.
func (f *facetCount) placed(got *readmodel.Tallied) (Facet, error) {
	chosen := f.c.run.cities
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
		return cmp.Or(cmp.Compare(readmodel.Fold(label(a.at)), readmodel.Fold(label(b.at))), cmp.Compare(f.places.keys[a.at], f.places.keys[b.at]))
	}}
	asked := f.c.run.facetQuery.facet == f.name
	for at, n := range got.Groups {
		key := f.places.keys[at]
		isChosen := left[key]
		if n == 0 && !isChosen || asked && !f.c.run.facetQuery.keeps(f.name, readmodel.Fold(label(at))) {
			continue
		}
		delete(left, key)
		list.add(candidate{at: at, n: n, chosen: isChosen})
	}
	var out Facet
	for _, c := range list.all() {
		out.Values = append(out.Values, FacetValue{Value: f.places.keys[c.at], Label: label(c.at), Count: c.n, Selected: c.chosen})
	}
	out.Total = list.total
	for _, key := range slices.Sorted(maps.Keys(left)) { // of no venue
		if f.c.run.facetQuery.keeps(f.name, key) {
			out.Values = append(out.Values, FacetValue{Value: key, Label: key, Selected: true})
		}
	}
	return out, nil
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

func (f *facetCount) months(got *readmodel.Tallied) (out Facet, err error) {
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
	return out, nil
}

func (f *facetCount) weekdays(got *readmodel.Tallied) (out Facet, err error) {
	for day := int64(1); day <= 7; day++ {
		out.take(FacetValue{Value: strconv.FormatInt(day, 10), Count: readmodel.CountOf(got.Values, day), Selected: slices.Contains(f.c.run.weekdays, day)})
	}
	return out, nil
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

func (f *facetCount) timesOfDay(got *readmodel.Tallied) (out Facet, err error) {
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
	return out, nil
}

func (f *facetCount) languages(got *readmodel.Tallied) (out Facet, err error) {
	for _, l := range calendar.Langs {
		id := readmodel.LanguageID(l)
		out.take(FacetValue{Value: l.String(), Count: readmodel.CountOf(got.Values, int64(id)), Selected: slices.Contains(f.c.run.languages, id)})
	}
	return out, nil
}

func (f *facetCount) switches(got *readmodel.Tallied) (out Facet, err error) {
	r := &f.c.run
	is := map[string]sw{"ticketed": r.ticketed, "featured": r.featured, "free": r.free}[f.name]
	out.take(FacetValue{Value: "true", Count: got.Parts[0], Selected: is == swOn})
	out.take(FacetValue{Value: "false", Count: got.Parts[1], Selected: is == swOff})
	return out, nil
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

// costBands prepares the facet of costs: the bands of the options, what is unknown, and
// the chosen bands that are none of those.
func (f *facetCount) costBands() {
	s, chosen := f.s, f.c.run.bands
	var others []band
	for _, b := range chosen {
		if !slices.ContainsFunc(s.bands, b.same) && !slices.ContainsFunc(others, b.same) {
			others = append(others, b)
		}
	}
	f.tally.Parts = s.bandParts
	if others != nil {
		f.tally.Parts = slices.Clone(s.bandParts)
		for _, b := range others {
			f.tally.Parts = append(f.tally.Parts, costBand(b.within))
		}
	}
	f.make = func(f *facetCount, got *readmodel.Tallied) (out Facet, err error) {
		for i, b := range s.bands {
			v := FacetValue{Value: b.word, Label: b.word, Count: got.Parts[i], Selected: slices.ContainsFunc(chosen, b.same)}
			if i == 0 {
				v.Label = ""
			}
			out.take(v)
		}
		n := len(s.bands)
		out.take(FacetValue{Value: "unknown", Count: got.Parts[n], Selected: f.c.run.costUnknown})
		for i, b := range others {
			out.Values = append(out.Values, FacetValue{Value: b.word, Label: b.word, Count: got.Parts[n+1+i], Selected: true})
		}
		return out, nil
	}
}
