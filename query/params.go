package query

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
)

// Param is one row of a parameter table of interface 4: all that is known of a
// parameter stands in it, but for its description (internal/texts).
type Param struct {
	Name string
	// Declared is the type of the table: "integer", "string", "date" (a text of
	// interface 2.4), "boolean", "number", "array of integer", "array of
	// string", "" untyped.
	Declared  string
	Format    string // "double", "date-time", "" none
	Default   string // declared default as JSON text, "" none
	Enum      []string
	Extension bool
	Required  bool

	// Many says that it takes several values, though it is declared as one.
	Many bool
	// Named says that the entries of the list may be slugs or names beside ids.
	Named bool
	// LooksUp says that its check asks the store, so that the same text may mean
	// another thing a moment later.
	LooksUp bool
	// Hides says that a filter by it leaves out the events that the caller gets
	// blanked: they do not show what it asks for.
	Hides bool
	// Schema are the further keywords of its schema in the documentation. PerPage
	// says that the setting of that name is its maximum.
	Schema  map[string]any
	PerPage bool
	// Moving gives the default that moves with the day; nil: none does.
	Moving func(now time.Time, site *time.Location) calendar.Wall

	// cost is what the request costs more for it, when it is sent and good; nil: nothing.
	cost func(q *parser) int
	// ahead puts the row before those that are less ahead, when they are read and
	// refused: the language decides how a search is read, strict_dates how dates are.
	ahead int
	// read checks what was sent, if anything, and puts it into the criteria. What it
	// means beyond its text, by the moment or the store, goes into parser.resolved.
	read func(ctx context.Context, q *parser, p *Param)
	// link changes what links carry and keys hold: what was sent when it is nil.
	link func(q *parser, v any, sent bool) (any, bool)
}

// IsList tells whether the parameter takes several values: sent more than once,
// all of them count (interface 2.1).
func (p *Param) IsList() bool { return p.Many || strings.HasPrefix(p.Declared, "array of ") }

// Params gives the parameter table of a list, in the order of the interface; nil
// for kinds without a list. The caller must not change it.
func Params(k calendar.Kind) []Param {
	if int(k) >= len(tables) {
		return nil
	}
	return tables[k].params
}

// IsDefault tells that a parameter of a list says what holds without it.
func IsDefault(k calendar.Kind, name, value string) bool {
	for _, p := range Params(k) {
		if standard := strings.Trim(p.Default, `"`); p.Name == name && standard != "" {
			is, ok := calendar.ParseBool(value)
			return value == standard || standard == "false" && ok && !is
		}
	}
	return false
}

// table is the parameter table of a list.
type table struct {
	params []Param
	inTurn []*Param // in the order in which they are read
}

// The tables of interface 4.5, 4.10 and 4.11.
var tables = [calendar.KindTag + 1]table{
	calendar.KindEvent:     newTable(eventParams()),
	calendar.KindVenue:     newTable(linkedParams()),
	calendar.KindOrganizer: newTable(linkedParams()),
	calendar.KindCategory:  newTable(termParams(calendar.KindCategory)),
	calendar.KindTag:       newTable(termParams(calendar.KindTag)),
}

func newTable(params []Param) table {
	t := table{params, make([]*Param, len(params))}
	for i := range params {
		t.inTurn[i] = &params[i]
	}
	slices.SortStableFunc(t.inTurn, func(a, b *Param) int { return b.ahead - a.ahead })
	return t
}

// Rows that every list has.
func pageParam() Param {
	return Param{Name: "page", Declared: "integer", Default: "1", ahead: 5, read: readPage, link: linkNothing, Schema: map[string]any{"minimum": 1, "maximum": maxPage}}
}

func perPageParam() Param {
	return Param{Name: "per_page", Declared: "integer", Default: `"10"`, ahead: 4, read: readPerPage, link: linkPerPage, Schema: map[string]any{"minimum": 1, "default": defPerPage}, PerPage: true}
}

func languageParam() Param {
	return Param{Name: "multilang_language", Declared: "string", Enum: calendar.LangNames(), ahead: 6, read: readLanguage}
}

func pointParam() Param {
	return Param{Name: "as_of", Declared: "string", Extension: true, read: readPoint, link: linkPoint, Schema: map[string]any{"minLength": 1}}
}

func fieldsParam() Param {
	return Param{Name: "_fields", Declared: "array of string", Extension: true, ahead: 3, read: readFields, link: linkFields}
}

func statusParam() Param {
	return Param{Name: "status", Declared: "string", Many: true, read: readStatus, Schema: map[string]any{
		"type": "array", "items": map[string]any{"type": "string", "enum": strings.Split(statusWords, ",")},
	}}
}

func searchParam() Param {
	return Param{Name: "search", Declared: "string", ahead: 2, read: readSearch, Schema: map[string]any{"minLength": 1, "maxLength": maxSearch}}
}

// eventParams is the table of interface 4.5.
func eventParams() []Param {
	return []Param{
		pageParam(),
		perPageParam(),
		{Name: "start_date", Declared: "string", Format: "date-time", read: edge{start: true, lower: true, equal: true, floor: true}.read, Moving: startOfWindow, link: linkStart},
		{Name: "end_date", Declared: "string", Format: "date-time", read: edge{equal: true}.read, Moving: endOfWindow, link: linkEnd},
		{Name: "starts_before", Declared: "date", read: edge{start: true}.read},
		{Name: "starts_after", Declared: "date", read: edge{start: true, lower: true}.read},
		{Name: "ends_before", Declared: "date", read: edge{}.read},
		{Name: "ends_after", Declared: "date", read: edge{lower: true}.read},
		{Name: "strict_dates", Default: `"false"`, ahead: 1, read: readSwitch(func(r *criteria) *sw { return &r.strict }), Schema: map[string]any{"default": false}},
		searchParam(),
		{Name: "categories", Declared: "array of integer", Named: true, LooksUp: true, Hides: true, read: readNamed(calendar.KindCategory, func(r *criteria) *[]calendar.ID { return &r.categories })},
		{Name: "tags", Declared: "array of integer", Named: true, LooksUp: true, Hides: true, read: readNamed(calendar.KindTag, func(r *criteria) *[]calendar.ID { return &r.tags })},
		{Name: "venue", Declared: "array of integer", LooksUp: true, Hides: true, read: readKnown(calendar.KindVenue, func(r *criteria) *[]calendar.ID { return &r.venues })},
		{Name: "organizer", Declared: "array of integer", LooksUp: true, Hides: true, read: readKnown(calendar.KindOrganizer, func(r *criteria) *[]calendar.ID { return &r.organizers })},
		{Name: "featured", Declared: "boolean", Hides: true, read: readSwitch(func(r *criteria) *sw { return &r.featured })},
		statusParam(),
		{Name: "geoloc", Declared: "boolean", Hides: true, read: readSwitch(func(r *criteria) *sw { return &r.geoloc })},
		{Name: "geoloc_lat", Declared: "number", Format: "double", Hides: true, read: readLat, Schema: map[string]any{"minimum": -maxLat, "maximum": maxLat}},
		{Name: "geoloc_lng", Declared: "number", Format: "double", Hides: true, read: readLng, Schema: map[string]any{"minimum": -maxLng, "maximum": maxLng}},
		{Name: "geoloc_radius", Declared: "number", Format: "double", Default: strconv.Itoa(DefaultRadius), Extension: true, read: readRadius, Schema: map[string]any{"exclusiveMinimum": 0, "maximum": maxRadius}},
		{Name: "include", Declared: "array of integer", read: readIDs},
		{Name: "post_parent", Declared: "integer", LooksUp: true, Hides: true, read: readRecord(calendar.KindEvent, func(r *criteria) *calendar.ID { return &r.postParent })},
		{Name: "ticketed", Declared: "boolean", Hides: true, read: readSwitch(func(r *criteria) *sw { return &r.ticketed })},
		{Name: "event_status", Declared: "array of string", Enum: calendar.EventStatuses(), Extension: true, Hides: true, read: readWords(func(r *criteria) *[]string { return &r.eventStatuses })},
		pointParam(),
		languageParam(),
		fieldsParam(),
		{Name: "format", Declared: "string", Enum: Formats, Extension: true, read: readWord(func(o *Output, word string) { o.Format = word })},
		{Name: "features", Declared: "string", Default: `"events"`, Enum: []string{"events", "venues"}, Extension: true, read: readWord(func(o *Output, word string) { o.Venues = word == "venues" })},
		{Name: "csv_bom", Declared: "boolean", Default: "false", Extension: true, read: readFlag(func(o *Output) *bool { return &o.BOM })},
		{Name: "csv_raw", Declared: "boolean", Default: "false", Extension: true, read: readFlag(func(o *Output) *bool { return &o.Raw })},
		{Name: "overlap", Declared: "boolean", Extension: true, ahead: 1, read: readSwitch(func(r *criteria) *sw { return &r.overlap })},
		{Name: "when", Declared: "string", Enum: Days, Extension: true, read: readWhen},
		{Name: "month", Declared: "array of string", Extension: true, read: readMonths, Schema: map[string]any{"items": map[string]any{"type": "string", "pattern": `^[0-9]{4}-(0[1-9]|1[0-2])$`}}},
		{Name: "weekday", Declared: "array of string", Extension: true, read: readWeekdays},
		{Name: "time_of_day", Declared: "array of string", Extension: true, Hides: true, read: readTimesOfDay},
		{Name: "duration_min", Declared: "integer", Extension: true, Hides: true, read: readDuration(func(r *criteria) **int64 { return &r.shortest }), Schema: map[string]any{"minimum": 0, "maximum": maxDuration}},
		{Name: "duration_max", Declared: "integer", Extension: true, Hides: true, read: readDuration(func(r *criteria) **int64 { return &r.longest }), Schema: map[string]any{"minimum": 0, "maximum": maxDuration}},
		{Name: "in_language", Declared: "array of string", Enum: calendar.LangNames(), Extension: true, read: readInLanguage},
		{Name: "city", Declared: "array of string", Extension: true, Hides: true, read: readPlaces(func(r *criteria) *[]string { return &r.cities })},
		{Name: "country", Declared: "array of string", Extension: true, Hides: true, read: readPlaces(func(r *criteria) *[]string { return &r.countries })},
		{Name: "bbox", Declared: "array of number", Extension: true, Hides: true, read: readBox, link: linkBox, Schema: map[string]any{"minItems": 4, "maxItems": 4}},
		{Name: "free", Declared: "boolean", Extension: true, Hides: true, read: readSwitch(func(r *criteria) *sw { return &r.free })},
		{Name: "cost_band", Declared: "array of string", Extension: true, Hides: true, read: readCostBands},
		{Name: "sort", Declared: "string", Enum: []string{"start", "end", "relevance", "distance", "published", "modified"}, Extension: true, read: readSort, cost: costOfSort},
		{Name: "order", Declared: "string", Extension: true, read: readDirection, link: linkDirection},
		{Name: "typos", Declared: "string", Default: `"off"`, Enum: []string{"off", "auto", "on"}, Extension: true, read: readTypos, cost: costOfTypos},
		{Name: "highlight", Declared: "boolean", Default: "false", Extension: true, read: readFlag(func(o *Output) *bool { return &o.Highlight }), cost: costOfHighlight},
		{Name: "highlight_length", Declared: "integer", Default: strconv.Itoa(defHighlight), Extension: true, read: readHighlightLength, Schema: map[string]any{"minimum": minHighlight, "maximum": maxHighlight}},
		{Name: "facets", Declared: "array of string", Enum: Facets, Extension: true, read: readWords(func(r *criteria) *[]string { return &r.facets }), cost: func(q *parser) int { return len(q.run.facets) }},
		{Name: "facet_limit", Declared: "integer", Default: strconv.Itoa(defFacetLimit), Extension: true, read: readFacetLimit, Schema: map[string]any{"minimum": 1, "maximum": maxFacetLimit}},
		{Name: "facet_query", Declared: "string", Extension: true, read: readFacetQuery, Schema: map[string]any{"pattern": `^\s*(` + strings.Join(askedFacets, "|") + `):\s*\S`}},
		{Name: "collapse", Declared: "string", Enum: []string{"repeats"}, Extension: true, read: readCollapse, cost: func(*parser) int { return 2 }},
		{Name: "cursor", Declared: "string", Extension: true, read: readCursor, Schema: map[string]any{"minLength": 1, "maxLength": maxCursor}},
	}
}

// linkedParams is the table of interface 4.10.
func linkedParams() []Param {
	return []Param{
		pageParam(),
		perPageParam(),
		searchParam(),
		{Name: "event", Declared: "integer", LooksUp: true, read: readEvent},
		{Name: "has_events", read: readSwitch(func(r *criteria) *sw { return &r.hasEvents })},
		{Name: "only_with_upcoming", Default: "false", read: readUpcoming},
		statusParam(),
		pointParam(),
		languageParam(),
		fieldsParam(),
	}
}

// termParams is the table of interface 4.11; parent is a row of categories only.
func termParams(k calendar.Kind) []Param {
	params := []Param{
		pageParam(),
		perPageParam(),
		searchParam(),
		{Name: "exclude", Declared: "array of integer", Named: true, LooksUp: true, read: readSlugs(func(r *criteria) *[]calendar.ID { return &r.exclude })},
		{Name: "include", Declared: "array of integer", Named: true, LooksUp: true, read: readSlugs(func(r *criteria) *[]calendar.ID { return &r.include })},
		{Name: "order", Declared: "string", read: readOrder},
		{Name: "orderby", Declared: "string", read: readText(func(r *criteria) *string { return &r.orderBy })},
		{Name: "hide_empty", Declared: "boolean", Default: `"1"`, read: readSwitch(func(r *criteria) *sw { return &r.hideEmpty }), Schema: map[string]any{"default": true}},
	}
	if k == calendar.KindCategory {
		params = append(params, Param{Name: "parent", Declared: "integer", LooksUp: true, read: readRecord(calendar.KindCategory, func(r *criteria) *calendar.ID { return &r.parent })})
	}
	return append(
		params,
		Param{Name: "post", Declared: "integer", LooksUp: true, read: readEvent},
		Param{Name: "event", Declared: "integer", LooksUp: true, read: readEvent},
		Param{Name: "slug", Declared: "string", read: readSlug},
		pointParam(),
		languageParam(),
		fieldsParam(),
	)
}
