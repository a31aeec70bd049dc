package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/htmltext"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// DefaultRadius is how far from a place events are, in kilometres, where nothing is said.
const DefaultRadius = 25

// parser reads the parameters of one request and collects the refused ones.
type parser struct {
	*Service
	*Criteria
	value *param.Value
	now   time.Time
	bad   calendar.Problems
	ctx   context.Context // of the lookups
	err   error           // of a lookup, not of the request

	ofEvent readmodel.Filter // admits what the event that was sent links to; nil: none was

	defaults [2]string // of the first of DateParams, that apply
	// resolved is what was sent means beyond its text, by the moment and the store.
	resolved cache.Key
}

// Parse checks the parameters of a list request and resolves dates, names and
// ids. Refused parameters come back all at once as *calendar.Error; other errors
// are those of the store.
func (service *Service) Parse(ctx context.Context, request Request) (*Criteria, error) {
	if request.Params == nil {
		request.Params = Params(request.Kind.Collection())
	}
	q := parser{
		Service: service, ctx: ctx, now: cmp.Or(request.Past.Now, service.settings.Now()),
		Criteria: &Criteria{
			Request: request, Cost: 1, window: request.Sheet.window(), hides: request.Of != (Of{}), chosen: map[string][]option{},
		},
		resolved: cache.Numbers(cache.Numbers(nil, service.settings.ProtectedNow), request.Past.Withdrawn),
	}
	q.value = param.NewValue(q.Input, &q.bad)
	q.read()
	q.link()
	if q.Walk != nil {
		q.checkWalk()
	}
	q.bad.Fields = append(q.bad.Fields, request.Refused...)
	if err := cmp.Or(q.value.Missing(), q.err, q.bad.Err(), service.Afford(q.Cost)); err != nil {
		return nil, err
	}
	q.Key = q.makeKey()
	return q.Criteria, nil
}

// Afford refuses what costs more than a request may.
func (service *Service) Afford(cost int) error {
	if cost > service.settings.QueryBudget {
		return &calendar.Error{Code: calendar.CodeQueryTooCostly, Cost: cost, Limit: service.settings.QueryBudget}
	}
	return nil
}

// parameter returns what was sent for one; nothing for one that the list does not have. It is
// valid up to the next call.
func (parser *parser) parameter(name string) *param.Value {
	return parser.value.Of(parser.Params.Find(name))
}

// sent reports whether a parameter of the list was sent.
func (parser *parser) sent(name string) bool {
	_, sent := parser.Input[name]
	return sent && parser.Params.Find(name) != nil
}

// where filters by a parameter.
func (parser *parser) where(filter readmodel.Filter) {
	parser.filters = append(parser.filters, filter)
}

// read puts what was sent into the criteria, with what it costs. What that means beyond its
// text, by the moment or the store, goes into parser.resolved.
func (parser *parser) read() {
	parser.Lang = parser.value.Language(parser.Lang)
	parser.Page = parser.parameter("page").Int()
	parser.PerPage = min(parser.parameter("per_page").Int(), parser.settings.PerPageMax)
	parser.Fields = parser.parameter("_fields").Fields()
	parser.Embeds = EmbedsOf(parser.Fields)
	parser.parameter("as_of").Text() // read before, as it says which Service is asked
	parser.readSearch()
	parser.readStatus()
	switch {
	case parser.Kind == calendar.KindEvent:
		parser.readEvents()
	case parser.Kind.IsTerm():
		parser.readTerms()
	}
	parser.Paged = parser.sent("page") || parser.sent("per_page") || parser.Walk != nil

	// Of linked records (interface 4.10, 4.11).
	if has, ok := parser.parameter("has_events").Bool(); ok {
		parser.hasEvents = &has
	}
	if coming, _ := parser.parameter("only_with_upcoming").Bool(); coming {
		parser.fromNow()
	}
	parser.readEvent("post")
	parser.readEvent("event") // wins
	if parser.ofEvent != nil {
		parser.where(parser.ofEvent)
		if parser.Kind.IsTerm() { // hide_empty has no effect
			parser.hasEvents = nil
		}
	}
}

// readTerms reads what only lists of categories and tags have (interface 4.11).
func (parser *parser) readTerms() {
	if ids := parser.terms(parser.parameter("exclude"), parser.Kind, false); ids != nil {
		parser.where(not(withIDs(ids)))
	}
	parser.includeOnly(parser.terms(parser.parameter("include"), parser.Kind, false))
	order, ok := parser.parameter("order").Text()
	parser.desc = ok && !strings.EqualFold(order, "asc")
	parser.orderBy, _ = parser.parameter("orderby").Text()
	if hide, sent := parser.parameter("hide_empty").Bool(); hide || !sent {
		parser.hasEvents = new(true)
	}
	parser.readRecord("parent", calendar.KindCategory, readmodel.FieldParent)
	if slug, ok := parser.parameter("slug").Text(); ok {
		parser.where(readmodel.Term{Field: readmodel.FieldSlug, Value: strings.ToLower(slug)})
	}
}

// readEvents reads what only lists of events have (interface 4.5, LISTINGS 1 to 4).
func (parser *parser) readEvents() {
	parser.readCursor() // first: words and defaults of dates are of its moment
	parser.readSource()
	parser.includeOnly(parser.parameter("include").IDs())
	parser.readWindow()
	for i := range facets {
		parser.readFacet(&parser.facets[i])
	}
	if authors := parser.parameter("author").IDs(); authors != nil {
		parser.where(in(readmodel.FieldAuthor, authors...))
	}
	parser.readRecord("post_parent", calendar.KindEvent, readmodel.FieldPostParent)
	if words := parser.parameter("event_status").Words(); words != nil {
		either := make(readmodel.Or, len(words))
		for i, word := range words {
			either[i] = readmodel.Term{Field: readmodel.FieldEventStatus, Value: word}
		}
		parser.where(either)
	}
	shortest, limited := parser.parameter("duration_min").Whole() // in minutes
	if limited {
		parser.where(readmodel.AtLeast(readmodel.FieldDuration, shortest*60))
	}
	if longest, ok := parser.parameter("duration_max").Whole(); ok {
		if limited && shortest > longest {
			parser.value.Refuse(calendar.ReasonTooSmall, strconv.FormatInt(shortest, 10))
		}
		parser.where(readmodel.AtMost(readmodel.FieldDuration, longest*60))
	}
	parser.readPlace()
	parser.readOrder()
	parser.readTypos()
	if parser.Highlight, _ = parser.parameter("highlight").Bool(); parser.Highlight {
		parser.Cost++
	}
	parser.HighlightLength = parser.parameter("highlight_length").Int()
	parser.readFacets()
	if _, parser.collapse = parser.parameter("collapse").Word(); parser.collapse {
		parser.Cost += 2
	}
	parser.parameter("format").Word() // read before, as it says who encodes the list
	features, _ := parser.parameter("features").Word()
	parser.Venues = features == "venues"
	parser.BOM, _ = parser.parameter("csv_bom").Bool()
	parser.Raw, _ = parser.parameter("csv_raw").Bool()
	parser.zoom = parser.parameter("zoom").Int()
	parser.readTyped()
}

func (parser *parser) readSearch() {
	value := parser.parameter("search")
	text, ok := value.Text()
	switch {
	case !ok:
	case text == "0":
		value.Refuse(calendar.ReasonZero)
	case parser.Kind.IsTerm():
		parser.where(readmodel.Contains{Fields: []string{readmodel.FieldNameLower.In(parser.Lang), readmodel.FieldSlug}, Value: htmltext.NameKey(text)})
	default:
		parser.parseSearch(value, text)
	}
}

// parseSearch reads a search.
func (parser *parser) parseSearch(value *param.Value, text string) {
	if parser.Search = readmodel.ParseSearch(text, parser.Lang); !parser.Search.Within() {
		value.Refuse(calendar.ReasonTooMuch, strconv.Itoa(readmodel.MaxWords))
	}
}

// readRecord filters by the id of a record that there has to be.
func (parser *parser) readRecord(name string, kind calendar.Kind, field string) {
	value := parser.parameter(name)
	id, ok := value.ID()
	switch {
	case !ok:
	case parser.load(kind, id)[0] == nil:
		value.Refuse(calendar.UnknownReason(kind), id.String())
	default:
		parser.where(in(field, id))
	}
}

// includeOnly admits some records alone; nil: all.
func (parser *parser) includeOnly(ids []calendar.ID) {
	if parser.include = ids; ids != nil {
		parser.where(withIDs(ids))
	}
}

// fromNow limits counts to events that have not ended.
func (parser *parser) fromNow() {
	parser.upcomingAt = calendar.Wall(parser.now.Unix())
	parser.resolved = parser.resolved.Number(int64(parser.upcomingAt))
}

// statuses are the values of the status filter (interface 4.9).
var statuses = []string{"publish", "future", "draft", "pending", "private", "trash"}

// readStatus reads the status filter and checks that the caller may use it.
func (parser *parser) readStatus() {
	value := parser.parameter("status")
	for _, word := range value.List() {
		if !slices.Contains(statuses, word) {
			value.Refuse(calendar.ReasonStatus, strings.Join(statuses, ","))
			return
		}
		parser.statuses = append(parser.statuses, calendar.Status(word))
	}
	if all := parser.statuses; all != nil && ownerOf(parser.Caller) == nobody && (len(all) != 1 || all[0] != calendar.StatusPublish) {
		value.Refuse(calendar.ReasonStatusFilter)
	}
}

// typosOn is a word of typos, of which "off" is "" here (LISTINGS 3.3).
const typosOn = "on"

func (parser *parser) readTypos() {
	value := parser.parameter("typos")
	word, sent := value.Text()
	if parser.Typos = sent; !sent {
		word = value.Standard()
	}
	switch on, known := calendar.ParseBool(word); {
	case on:
		parser.typos = typosOn
	case !known && word != "" && value.Known(word):
		parser.typos = word
	}
	if parser.typos != "" {
		parser.Cost += 3
	}
}

// link makes the parameters that links carry, in the order of the table: what was sent, and
// that with the effective per_page and the defaults of the window.
func (parser *parser) link() {
	parser.Sent, parser.Links = make([]LinkParam, 0, len(parser.Input)), make([]LinkParam, 0, len(parser.Input)+3)
	for i := range parser.Params {
		parameter := &parser.Params[i].Param
		value, sent := parser.Input[parameter.Name]
		parser.hides = parser.hides || sent && parameter.Hides
		carried := sent // when nothing else is said
		switch parameter.Name {
		case "page":
			carried = false
		case "per_page":
			value, carried = strconv.Itoa(parser.PerPage), sent || parser.Kind.IsPost()
		case "_fields":
			carried = parser.Fields != nil
		case param.AsOf: // the point is a moment by now, and may have been named in a header
			if parser.Past.AsOf != "" {
				value, carried = parser.Past.AsOf, true
			}
		case "start_date", "end_date":
			if text := parser.defaults[slices.Index(DateParams, parameter.Name)]; text != "" {
				value, carried = text, true
			}
		case "order":
			carried = sent && (parser.Kind.IsTerm() || parser.sent("sort"))
		}
		if !carried {
			continue
		}
		before := len(parser.Links)
		parser.Links = parameter.AppendTo(parser.Links, value)
		if sent || parameter.Name == param.AsOf {
			parser.Sent = append(parser.Sent, parser.Links[before:]...)
		}
	}
}

// makeKey makes the key of the criteria. What was sent stands in it as in the
// links; next to it what depends on the moment (dates) and on the store (names,
// slugs, the links of an event).
func (parser *parser) makeKey() string {
	owner := ownerOf(parser.Caller)
	if parser.Kind.IsTerm() { // terms are the same for everybody
		owner = nobody
	}
	return fmt.Sprintf("%d %d %d %d %d %d %d %q %s",
		parser.Kind, parser.Lang, owner, parser.Page, parser.PerPage, parser.Of, parser.window, parser.Links, parser.resolved)
}

// readPlace reads the places of interface 4.8, and the box of LISTINGS 2.
func (parser *parser) readPlace() {
	if has, ok := parser.parameter("geoloc").Bool(); ok {
		parser.geoloc = &has
	}
	latitude, hasLat := parser.parameter("geoloc_lat").Number()
	longitude, hasLng := parser.parameter("geoloc_lng").Number()
	km, ok := parser.parameter("geoloc_radius").Number()
	if !ok {
		km = DefaultRadius
	}
	for name, other := range map[string]string{"geoloc_lat": "geoloc_lng", "geoloc_lng": "geoloc_lat"} {
		if parser.sent(name) && !parser.sent(other) {
			parser.bad.Add(other, calendar.ReasonPairMissing, name)
		}
	}
	switch {
	case !hasLat || !hasLng:
	case parser.geoloc != nil && !*parser.geoloc:
		parser.bad.Add("geoloc", calendar.ReasonGeolocConflict)
	default:
		parser.near = &circle{latitude: latitude, longitude: longitude, km: km}
	}
	if distances := parser.parameter("bbox").Numbers(); distances != nil {
		if len(distances) != 4 || !wholeWorld.holds(distances[1], distances[0]) || !wholeWorld.holds(distances[3], distances[2]) || distances[1] > distances[3] {
			parser.value.Refuse(calendar.ReasonBox)
			return
		}
		parser.box = &box{west: distances[0], south: distances[1], east: distances[2], north: distances[3]}
	}
}

// sortRelevance is the word of sort for the order of readmodel.Relevance.
const sortRelevance = "relevance"

// sortFields are the first keys of the orders that have no value in some events.
var sortFields = map[string]string{"published": readmodel.FieldPublished, "modified": readmodel.FieldModified}

// readOrder reads the order of events (LISTINGS 3.1).
func (parser *parser) readOrder() {
	value := parser.parameter("sort")
	if _, sent := value.Sent(); !sent {
		return
	}
	parser.sort, _ = value.Word()
	parser.desc = sortFields[parser.sort] != ""
	if parser.sort == "distance" || parser.sort == sortRelevance {
		parser.Cost++
	}
	if parser.sort == "distance" && (!parser.sent("geoloc_lat") || !parser.sent("geoloc_lng")) { // from nowhere
		value.Refuse(calendar.ReasonPairMissing, "geoloc_lat, geoloc_lng")
	}
	words := []string{"asc", "desc"}
	if parser.sort == sortRelevance { // best first, whatever is below it
		words = words[1:]
	}
	value = parser.parameter("order")
	if word, ok := value.Text(); ok {
		word = strings.ToLower(word)
		if !slices.Contains(words, word) {
			value.Refuse(calendar.ReasonWord, strings.Join(words, ", "))
		}
		parser.desc = word == "desc" && parser.sort != sortRelevance
	}
}
