package query

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// Param is one row of a parameter table of interface 4: all that is known of a parameter
// stands in it, but for its description (internal/texts).
type Param struct {
	param.Row[parser]

	// Hides says that a filter by it leaves out the events that the caller gets
	// blanked: they do not show what it asks for.
	Hides bool

	// lookUp reads in place of Read what is checked against the store, so that the same
	// text may mean another thing a moment later.
	lookUp func(ctx context.Context, q *parser, v *param.Value)
	// ahead puts the row before those that are less ahead, when they are read and
	// refused: the language decides how a search is read, strict_dates how dates are.
	ahead int
	// link changes what links carry and keys hold: what was sent when it is nil.
	link func(q *parser, v any, sent bool) (any, bool)
}

// The readers of rows put what was sent into the criteria, with what it costs. What it means
// beyond its text, by the moment or the store, goes into parser.resolved.

// Parameters are those of a list, in the order of the interface.
type Parameters []Param

// IsList reports whether a name is that of a parameter that takes several values.
func (p Parameters) IsList(name string) bool {
	i := slices.IndexFunc(p, func(p Param) bool { return p.Name == name })
	return i >= 0 && p[i].IsList()
}

// without returns the parameters but for those of the names.
func (p Parameters) without(names []string) Parameters {
	return slices.DeleteFunc(p, func(p Param) bool { return slices.Contains(names, p.Name) })
}

// Params returns the parameters of a list; nil for kinds without one. The caller must not
// change them.
func Params(k calendar.Kind) Parameters {
	if int(k) >= len(tables) {
		return nil
	}
	return tables[k].params
}

// IsDefault reports whether a parameter of a list says what holds without it.
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
	params Parameters
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

func newTable(params Parameters) table {
	t := table{params, make([]*Param, len(params))}
	for i := range params {
		t.inTurn[i] = &params[i]
	}
	slices.SortStableFunc(t.inTurn, func(a, b *Param) int { return b.ahead - a.ahead })
	return t
}

// rowOf is a row of internal/param.
func rowOf(r param.Row[parser]) Param { return Param{Row: r} }

// row is a parameter of a name, a type and a reader.
func row(name, declared string, read func(q *parser, v *param.Value)) Param {
	return rowOf(param.Row[parser]{Param: param.Param{Name: name, Type: declared}, Read: read})
}

// boolean is what may be true, false or not sent.
func boolean(name string, to func(*criteria) **bool) Param {
	return row(name, "boolean", func(q *parser, v *param.Value) {
		if is, ok := v.Bool(); ok {
			*to(&q.run) = &is
		}
	})
}

// flag is what is false where it was not sent.
func flag(name, declared string, to func(*criteria) *bool) Param {
	return row(name, declared, func(q *parser, v *param.Value) { *to(&q.run), _ = v.Bool() })
}

// linkedBy is a filter of events by linked records of a kind.
func linkedBy(name string, k calendar.Kind, find func(*parser, context.Context, *param.Value, calendar.Kind) []calendar.ID) Param {
	return storeChecked(name, "array of integer", func(ctx context.Context, q *parser, v *param.Value) { q.run.named[k] = find(q, ctx, v, k) }).hiding()
}

// termsOf is a list of terms of the kind of the list.
func termsOf(name string, use func(*parser, []calendar.ID)) Param {
	p := storeChecked(name, "array of integer", func(ctx context.Context, q *parser, v *param.Value) {
		if ids := q.terms(ctx, v, q.Kind, false); ids != nil {
			use(q, ids)
		}
	})
	p.Named = true
	return p
}

// storeChecked is a parameter whose check asks the store.
func storeChecked(name, declared string, lookUp func(ctx context.Context, q *parser, v *param.Value)) Param {
	p := row(name, declared, nil)
	if declared == "integer" { // an id
		p = p.schema(map[string]any{"minimum": 1})
	}
	p.lookUp = lookUp
	return p
}

// What rows have besides.

func (p Param) hiding() Param {
	p.Hides = true
	return p
}

func (p Param) early(n int) Param {
	p.ahead = n
	return p
}

func (p Param) linked(link func(q *parser, v any, sent bool) (any, bool)) Param {
	p.link = link
	return p
}

func (p Param) standard(value string) Param {
	p.Default = value
	return p
}

func (p Param) words(enum ...string) Param {
	p.Enum = enum
	return p
}

func (p Param) schema(keywords map[string]any) Param {
	p.Schema = keywords
	return p
}

// bounds are those of a number in its schema.
func (p Param) bounds(least, most int) Param {
	return p.schema(map[string]any{"minimum": least, "maximum": most})
}

// extensions marks parameters that the interface has beyond its model.
func extensions(params ...Param) Parameters {
	for i := range params {
		params[i].Extension = true
	}
	return params
}

// Rows that every list has.

func pageParam() Param {
	return rowOf(param.Whole("page", 1, 1, maxPage, func(q *parser) *int { return &q.Page })).early(5).linked(linkNothing)
}

func perPageParam() Param {
	return row("per_page", "integer", readPerPage).standard(`"10"`).schema(map[string]any{"minimum": 1, "default": defPerPage}).early(4).linked(linkPerPage)
}

func searchParam() Param {
	return row("search", "string", readSearch).early(2).schema(map[string]any{"minLength": 1, "maxLength": maxSearch})
}

func statusParam() Param {
	p := row("status", "string", readStatus).schema(map[string]any{
		"type": "array", "items": map[string]any{"type": "string", "enum": statuses},
	})
	p.Many = true
	return p
}

func languageParam() Param {
	return rowOf(param.Language(func(q *parser) *calendar.Lang { return &q.Lang })).early(6)
}

// lastParams are those that end the table of every list. A point in time is read before,
// as it says which Service is asked.
func lastParams() Parameters {
	point := row("as_of", "string", func(_ *parser, v *param.Value) { v.Text(0) }).linked(linkPoint).schema(map[string]any{"minLength": 1})
	fields := row("_fields", "array of string", readFields).early(3).linked(linkFields)
	return slices.Insert(extensions(point, fields), 1, languageParam())
}

// eventParams is the table of interface 4.5.
func eventParams() Parameters {
	start, end := row("start_date", "string", edge{start: true, lower: true, equal: true, floor: true}.read).linked(linkStart), row("end_date", "string", edge{equal: true}.read).linked(linkEnd)
	start.Format, start.Moving = "date-time", startOfWindow
	end.Format, end.Moving = "date-time", endOfWindow
	categories, tags := linkedBy("categories", calendar.KindCategory, (*parser).namedTerms), linkedBy("tags", calendar.KindTag, (*parser).namedTerms)
	categories.Named, tags.Named = true, true
	degrees := func(name string, limit int, read func(q *parser, v *param.Value)) Param {
		p := row(name, "number", read).hiding().bounds(-limit, limit)
		p.Format = "double"
		return p
	}
	radius := degrees("geoloc_radius", maxRadius, readRadius).standard(strconv.Itoa(DefaultRadius)).schema(map[string]any{"exclusiveMinimum": 0, "maximum": maxRadius})
	radius.Hides, radius.Extension = false, true
	return slices.Concat(
		Parameters{
			pageParam(),
			perPageParam(),
			start,
			end,
			row("starts_before", "date", edge{start: true}.read),
			row("starts_after", "date", edge{start: true, lower: true}.read),
			row("ends_before", "date", edge{}.read),
			row("ends_after", "date", edge{lower: true}.read),
			flag("strict_dates", "", func(r *criteria) *bool { return &r.strict }).early(1).standard(`"false"`).schema(map[string]any{"default": false}),
			searchParam(),
			categories,
			tags,
			linkedBy("venue", calendar.KindVenue, (*parser).known),
			linkedBy("organizer", calendar.KindOrganizer, (*parser).known),
			row("featured", "boolean", readSwitch).hiding(),
			statusParam(),
			boolean("geoloc", func(r *criteria) **bool { return &r.geoloc }).hiding(),
			degrees("geoloc_lat", maxLat, readLat),
			degrees("geoloc_lng", maxLng, readLng),
			radius,
			row("include", "array of integer", readIDs),
			storeChecked("post_parent", "integer", readRecord(calendar.KindEvent, readmodel.FieldPostParent)).hiding(),
			row("ticketed", "boolean", readSwitch).hiding(),
		},
		extensions(row("event_status", "array of string", readEventStatus).words(calendar.EventStatuses()...).hiding()),
		lastParams(),
		extensions(
			rowOf(param.Word("format", formats.Names(func(*formats.Format) bool { return true }), func(q *parser, word string) { q.Format = word })),
			rowOf(param.Word("features", []string{"events", "venues"}, func(q *parser, word string) { q.Venues = word == "venues" })).standard(`"events"`),
			rowOf(param.Flag("csv_bom", func(q *parser) *bool { return &q.BOM })),
			rowOf(param.Flag("csv_raw", func(q *parser) *bool { return &q.Raw })),
			flag("overlap", "boolean", func(r *criteria) *bool { return &r.overlap }).early(1),
			row("when", "string", readWhen).words(Days...),
			row("month", "array of string", readOptions(readMonth)).schema(map[string]any{"items": map[string]any{"type": "string", "pattern": `^[0-9]{4}-(0[1-9]|1[0-2])$`}}),
			row("weekday", "array of string", readOptions(readWeekday)),
			row("time_of_day", "array of string", readOptions(readTime)).hiding(),
			row("duration_min", "integer", readDuration(true)).hiding().bounds(0, maxDuration),
			row("duration_max", "integer", readDuration(false)).hiding().bounds(0, maxDuration),
			row("in_language", "array of string", readWords).words(calendar.LangNames()...),
			row("city", "array of string", readPlaces).hiding(),
			row("country", "array of string", readPlaces).hiding(),
			row("bbox", "array of number", readBox).hiding().linked(linkBox).schema(map[string]any{"minItems": 4, "maxItems": 4}),
			row("free", "boolean", readSwitch).hiding(),
			row("cost_band", "array of string", readOptions(readCostBand)).hiding(),
			row("sort", "string", readSort).words("start", "end", "relevance", "distance", "published", "modified"),
			row("order", "string", readDirection).linked(linkDirection),
			typosParam(),
			row("highlight", "boolean", readHighlight).standard("false"),
			rowOf(param.Whole("highlight_length", defHighlight, minHighlight, maxHighlight, func(q *parser) *int { return &q.HighlightLength })),
			row("facets", "array of string", readFacets).words(Facets...),
			rowOf(param.Whole("facet_limit", defFacetLimit, 1, maxFacetLimit, func(q *parser) *int { return &q.run.facetLimit })),
			row("facet_query", "string", readFacetQuery).schema(map[string]any{"pattern": `^\s*(` + strings.Join(askedFacets, "|") + `):\s*\S`}),
			rowOf(param.Word("collapse", []string{"repeats"}, func(q *parser, _ string) { q.run.collapse, q.Cost = true, q.Cost+2 })),
			row("cursor", "string", readCursor).schema(map[string]any{"minLength": 1, "maxLength": maxCursor}),
		),
	)
}

func typosParam() Param {
	return row("typos", "string", readTypos).standard(`"off"`).words("off", "auto", "on")
}

// linkedParams is the table of interface 4.10.
func linkedParams() Parameters {
	has := boolean("has_events", func(r *criteria) **bool { return &r.hasEvents })
	has.Type = ""
	return append(Parameters{
		pageParam(),
		perPageParam(),
		searchParam(),
		storeChecked("event", "integer", readEvent),
		has,
		row("only_with_upcoming", "", readUpcoming).standard("false"),
		statusParam(),
	}, lastParams()...)
}

// termParams is the table of interface 4.11; parent is a row of categories only.
func termParams(k calendar.Kind) Parameters {
	params := Parameters{
		pageParam(),
		perPageParam(),
		searchParam(),
		termsOf("exclude", func(q *parser, ids []calendar.ID) { q.where("", not(withIDs(ids))) }),
		termsOf("include", (*parser).include),
		row("order", "string", readOrder),
		row("orderby", "string", func(q *parser, v *param.Value) { q.run.orderBy, _ = v.Text(0) }),
		boolean("hide_empty", func(r *criteria) **bool { return &r.hideEmpty }).standard(`"1"`).schema(map[string]any{"default": true}),
	}
	if k == calendar.KindCategory {
		params = append(params, storeChecked("parent", "integer", readRecord(calendar.KindCategory, readmodel.FieldParent)))
	}
	params = append(params, storeChecked("post", "integer", readEvent), storeChecked("event", "integer", readEvent), row("slug", "string", readSlug))
	return append(params, lastParams()...)
}
