package query

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// Param is one row of params.json: all that is known of a parameter stands in it, but for its
// description (internal/texts) and its reader.
type Param struct {
	param.Row[parser]

	// Lists are the lists that have it, by the name of ParamsOf.
	Lists []string
	// Hides reports that a filter by it leaves out the events that the caller gets
	// blanked: they do not show what it asks for.
	Hides bool
	// LooksUp reports that its check asks the store, so that the same text may mean another
	// thing a moment later.
	LooksUp bool
	// Unlinked reports that links and keys do not hold it.
	Unlinked bool
	// Free reports that it may change from step to step of a walk, or that it stands in what
	// a cursor belongs to by another name.
	Free bool
	// Early puts the row before those with less of it, when rows are read and refused: the
	// language decides how a search is read, strict_dates how dates are.
	Early int
	// Reader is the name of its reader; "": that of the parameter.
	Reader string
}

// reader puts what was sent into the criteria, with what it costs. It is also called where
// nothing was sent. What that means beyond its text, by the moment or the store, goes into
// parser.resolved.
type reader func(q *parser, value *param.Value)

// Parameters are those of a list, in the order of the interface.
type Parameters []Param

// maxEarly is the greatest Param.Early.
const maxEarly = 6

// IsList reports whether a name is that of a parameter that takes several values.
func (parameters Parameters) IsList(name string) bool {
	i := slices.IndexFunc(parameters, func(param Param) bool { return param.Name == name })
	return i >= 0 && parameters[i].IsList()
}

// Params returns the parameters of a list; nil for kinds without one. The caller must not
// change them.
func Params(kind calendar.Kind) Parameters { return tables[kind.Collection()] }

// ParamsOf returns the parameters of another list: of the "source" of calendar widgets
// (LISTINGS 1.13), a "map" (1.11), each of "several" searches (5) or "suggest" (4). The
// caller must not change them.
func ParamsOf(list string) Parameters { return tables[list] }

// IsDefault reports whether a parameter of a list says what holds without it.
func IsDefault(kind calendar.Kind, name, value string) bool {
	for _, param := range Params(kind) {
		if standard := strings.Trim(param.Default, `"`); param.Name == name && standard != "" {
			is, ok := calendar.ParseBool(value)
			return value == standard || standard == "false" && ok && !is
		}
	}
	return false
}

//go:embed params.json
var paramsFile []byte

// words are the words of parameters that other tables have.
var words = map[string][]string{
	"event_status":       calendar.SpecOf(calendar.KindEvent).Field("event_status").Enum,
	"facets":             Facets,
	"format":             formats.Names(func(*formats.Format) bool { return true }),
	"in_language":        calendar.LangNames(),
	"multilang_language": calendar.LangNames(),
	"when":               Days,
}

var tables = func() map[string]Parameters {
	var rows Parameters
	if err := json.Unmarshal(paramsFile, &rows); err != nil {
		panic(err)
	}
	tables := map[string]Parameters{}
	for _, row := range rows {
		if row.Enum == nil {
			row.Enum = words[row.Name]
		}
		switch row.Read = readers[cmp.Or(row.Reader, row.Name)]; row.Name {
		case "facet_query":
			row.Schema = map[string]any{"pattern": `^\s*(` + strings.Join(askedFacets, "|") + `):\s*\S`}
		case "start_date":
			row.Moving = startOfWindow
		case "end_date":
			row.Moving = endOfWindow
		}
		for _, list := range row.Lists {
			tables[list] = append(tables[list], row)
		}
	}
	return tables
}()

var readers = map[string]reader{
	"page":               whole(func(q *parser) *int { return &q.Page }),
	"per_page":           readPerPage,
	"multilang_language": func(q *parser, value *param.Value) { q.Lang = value.Language(q.Lang) },
	"_fields":            readFields,
	"as_of":              func(_ *parser, value *param.Value) { value.Text(0) }, // read before, as it says which Service is asked
	"search":             readSearch,
	"status":             readStatus,

	// Events (interface 4.5, LISTINGS 2 and 3).
	"start_date":       edge{start: true, lower: true}.read,
	"end_date":         edge{}.read,
	"starts_before":    edge{start: true}.read,
	"starts_after":     edge{start: true, lower: true}.read,
	"ends_before":      edge{}.read,
	"ends_after":       edge{lower: true}.read,
	"strict_dates":     flag(func(q *parser) *bool { return &q.strict }),
	"overlap":          flag(func(q *parser) *bool { return &q.overlap }),
	"when":             readWhen,
	"categories":       linkedBy(calendar.KindCategory),
	"tags":             linkedBy(calendar.KindTag),
	"venue":            linkedBy(calendar.KindVenue),
	"organizer":        linkedBy(calendar.KindOrganizer),
	"geoloc":           boolean(func(q *parser) **bool { return &q.geoloc }),
	"geoloc_lat":       func(q *parser, value *param.Value) { q.lat = readDegrees(value) },
	"geoloc_lng":       readLongitude,
	"geoloc_radius":    readRadius,
	"include":          readIDs((*parser).includeOnly),
	"author":           readIDs((*parser).writtenBy),
	"post_parent":      readRecord(calendar.KindEvent, readmodel.FieldPostParent),
	"event_status":     readEventStatus,
	"options":          readOptions,
	"duration_min":     readShortest,
	"duration_max":     readLongest,
	"city":             readPlaces,
	"country":          readPlaces,
	"bbox":             readBox,
	"sort":             readSort,
	"order":            readDirection,
	"typos":            readTypos,
	"highlight":        readHighlight,
	"highlight_length": whole(func(q *parser) *int { return &q.HighlightLength }),
	"facets":           readFacets,
	"facet_limit":      whole(func(q *parser) *int { return &q.facetLimit }),
	"facet_query":      readFacetQuery,
	"collapse":         readCollapse,
	"cursor":           readCursor,
	"format":           func(q *parser, value *param.Value) { q.Format = word(value) },
	"features":         func(q *parser, value *param.Value) { q.Venues = word(value) == "venues" },
	"csv_bom":          flag(func(q *parser) *bool { return &q.BOM }),
	"csv_raw":          flag(func(q *parser) *bool { return &q.Raw }),

	// Venues and organizers (interface 4.10), categories and tags (4.11).
	"event":              readEvent,
	"has_events":         boolean(func(q *parser) **bool { return &q.hasEvents }),
	"only_with_upcoming": readUpcoming,
	"exclude":            termsOf(func(q *parser, ids []calendar.ID) { q.where("", not(withIDs(ids))) }),
	"term include":       termsOf((*parser).includeOnly),
	"term order":         readOrder,
	"orderby":            func(q *parser, value *param.Value) { q.orderBy, _ = value.Text(0) },
	"hide_empty":         readHideEmpty,
	"parent":             readRecord(calendar.KindCategory, readmodel.FieldParent),
	"post":               readEvent,
	"slug":               readSlug,

	"start":         readBound(true),
	"end":           readBound(false),
	"timeZone":      readTimeZone,
	"zoom":          whole(func(q *parser) *int { return &q.zoom }),
	"q":             readTyped,
	"kinds":         readKinds,
	"limit":         whole(func(q *parser) *int { return &q.suggested }),
	"suggest typos": readSuggestTypos,
}

// whole is a whole number within the bounds of its row.
func whole(to func(*parser) *int) reader {
	return func(q *parser, value *param.Value) {
		*to(q), _ = strconv.Atoi(value.Default)
		if n, ok := value.Whole(value.Bound("minimum"), value.Bound("maximum")); ok {
			*to(q) = int(n)
		}
	}
}

// text is a text within the limit of its row.
func text(value *param.Value) (string, bool) { return value.Text(int(value.Bound("maxLength"))) }

// word is one of the words of its row, "" where none was sent.
func word(value *param.Value) string {
	if word, ok := value.Word(); ok {
		return word
	}
	return ""
}

// boolean is what may be true, false or not sent.
func boolean(to func(*parser) **bool) reader {
	return func(q *parser, value *param.Value) {
		if is, ok := value.Bool(); ok {
			*to(q) = &is
		}
	}
}

// flag is what is false where it was not sent.
func flag(to func(*parser) *bool) reader {
	return func(q *parser, value *param.Value) { *to(q), _ = value.Bool() }
}

// linkedBy is a filter of events by linked records of a kind: posts by id, terms by id, slug
// or shown name.
func linkedBy(kind calendar.Kind) reader {
	return func(q *parser, value *param.Value) {
		if kind.IsTerm() {
			q.named[kind] = q.terms(value, kind, true)
		} else {
			q.named[kind] = q.known(value, kind)
		}
	}
}

// termsOf is a list of terms of the kind of the list.
func termsOf(use func(*parser, []calendar.ID)) reader {
	return func(q *parser, value *param.Value) {
		if ids := q.terms(value, q.Kind, false); ids != nil {
			use(q, ids)
		}
	}
}

// FromJSON returns what was sent for the parameter in JSON as a query string would have it;
// what no text of it means stays as it is, and is refused when it is read.
func (p *Param) FromJSON(value any) any {
	list, isList := value.([]any)
	switch {
	case isList && p.IsList():
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = p.textOf(e)
		}
		return out
	case len(list) == 1:
		value = list[0]
	}
	return p.textOf(value)
}

// textOf returns a value of JSON as text, where the type of the parameter has it.
func (p *Param) textOf(value any) any {
	switch v := value.(type) {
	case json.Number:
		if p.IsList() || p.Type != "string" && p.Type != "date" {
			return v.String()
		}
	case bool:
		if p.IsList() || p.Type == "boolean" || p.Type == "" {
			return strconv.FormatBool(v)
		}
	}
	return value
}
