package query

import (
	"cmp"
	"context"
	"math"
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
	*Criteria
	service *Service
	past    Past
	input   calendar.Input
	now     time.Time
	bad     calendar.Problems
	ctx     context.Context // of the lookups
	err     error           // of a lookup, not of the request

	opened *walk // of the cursor that was sent; nil: it is none

	fixed                    bool          // a date was sent that has no default
	startDefault, endDefault calendar.Wall // NoWall: no default applied
	lat, lng                 *float64      // nil: not sent, or refused
	// resolved is what was sent means beyond its text, by the moment and the store.
	resolved cache.Key
}

// Parse checks the parameters of a list request and resolves dates, names and
// ids. Refused parameters come back all at once as *calendar.Error; other errors
// are those of the store.
func (service *Service) Parse(ctx context.Context, request Request) (*Criteria, error) {
	q := parser{
		Criteria: &Criteria{
			Kind: request.Kind, Lang: request.Lang, Caller: request.Caller, Cost: 1, Embeds: EmbedAll, withdrawn: request.Past.Withdrawn,
			window: newWindow(), lap: request.Sheet.lap(), sheet: request.Sheet, of: request.Of, hides: request.Of != (Of{}),
		},
		service: service, past: request.Past, input: request.Input, now: cmp.Or(request.Past.Now, service.now()), ctx: ctx,
		startDefault: calendar.NoWall, endDefault: calendar.NoWall,
	}
	isEvent := request.Kind == calendar.KindEvent
	if isEvent {
		q.openWalk()
	}
	q.resolved = cache.Numbers(q.resolved, service.o.ProtectedNow)
	params := request.Params
	if params == nil {
		params = Params(request.Kind)
	}
	value := param.NewValue(q.input, &q.bad)
	for early := maxEarly; early >= 0; early-- {
		for i := range params {
			if p := &params[i]; p.Early == early {
				p.ReadFrom(value, &q)
				q.LooksUp = q.LooksUp || p.LooksUp && q.sent(p.Name)
				q.hides = q.hides || p.Hides && q.sent(p.Name)
			}
		}
	}
	if err := cmp.Or(value.Missing(), q.err); err != nil {
		return nil, err
	}
	if isEvent {
		q.closeWindow()
	}
	if q.walk != nil {
		q.checkWalk(params)
	}
	q.bad.Fields = append(q.bad.Fields, request.Refused...)
	if err := cmp.Or(q.bad.Err(), service.Afford(q.Cost)); err != nil {
		return nil, err
	}
	if isEvent {
		q.Paged, q.Status, q.Search = q.sent("page") || q.sent("per_page") || q.walk != nil, q.statuses != nil, q.search.Query != ""
	}
	q.Sent, q.Links = q.links(params)
	q.Key = q.makeKey()
	return q.Criteria, nil
}

// Afford refuses what costs more than a request may.
func (service *Service) Afford(cost int) error {
	if cost > service.o.QueryBudget {
		return &calendar.Error{Code: calendar.CodeQueryTooCostly, Cost: cost, Limit: service.o.QueryBudget}
	}
	return nil
}

func (parser *parser) sent(name string) bool {
	_, sent := parser.input[name]
	return sent
}

// The readers of the rows.

func readSearch(parser *parser, value *param.Value) {
	text, ok := text(value)
	if !ok {
		return
	}
	if text == "0" {
		value.Refuse(calendar.ReasonZero)
	}
	if parser.Kind.IsTerm() {
		parser.where("", readmodel.Contains{Fields: []string{readmodel.FieldNameLower(parser.Lang), readmodel.FieldSlug}, Value: htmltext.NameKey(text)})
		return
	}
	if parser.search = readmodel.ParseSearch(text, parser.Lang); !parser.search.Within() {
		value.Refuse(calendar.ReasonTooMuch, strconv.Itoa(readmodel.MaxWords))
	}
}

// where filters by the parameter that a facet has the name of, "" by another one.
func (parser *parser) where(facet string, filter readmodel.Filter) { parser.filters.add(facet, filter) }

// readRecord filters by the id of a record that there has to be.
func readRecord(kind calendar.Kind, field string) reader {
	return func(q *parser, value *param.Value) {
		id, ok := value.ID()
		switch {
		case !ok:
		case q.load(kind, []calendar.ID{id})[0] == nil:
			value.Refuse(calendar.UnknownReason(kind), id.String())
		default:
			q.where("", in(field, id))
		}
	}
}

func readEventStatus(parser *parser, value *param.Value) {
	words := value.Words()
	either := make(readmodel.Or, len(words))
	for i, word := range words {
		either[i] = readmodel.Term{Field: readmodel.FieldEventStatus, Value: word}
	}
	if len(either) > 0 {
		parser.where("", either)
	}
}

// readIDs reads a list of ids; whether they are known does not matter.
func readIDs(use func(q *parser, ids []calendar.ID)) reader {
	return func(q *parser, value *param.Value) {
		ids, wrong := idList(value)
		if wrong != "" {
			value.Refuse(calendar.ReasonTypeID)
		} else if ids != nil {
			use(q, ids)
		}
	}
}

// idList reads a list of ids, each once, and returns the first entry that is none.
func idList(value *param.Value) (ids []calendar.ID, wrong string) {
	for _, text := range value.List() {
		id, ok := calendar.ParseID(text)
		if !ok {
			return nil, text
		}
		ids = addDistinct(ids, id)
	}
	return ids, ""
}

// writtenBy admits the events of some authors alone.
func (parser *parser) writtenBy(authors []calendar.ID) {
	parser.where("", in(readmodel.FieldAuthor, authors...))
}

// includeOnly admits some records alone.
func (parser *parser) includeOnly(ids []calendar.ID) {
	parser.include = ids
	parser.where("", withIDs(ids))
}

func readUpcoming(parser *parser, value *param.Value) {
	if is, _ := value.Bool(); is {
		parser.fromNow()
	}
}

// fromNow limits counts to events that have not ended.
func (parser *parser) fromNow() {
	parser.upcomingAt = calendar.Wall(parser.now.Unix())
	parser.resolved = parser.resolved.Number(int64(parser.upcomingAt))
}

func readOrder(parser *parser, value *param.Value) {
	order, _ := value.Text(0)
	parser.desc = order != "" && !strings.EqualFold(order, "asc")
}

// readHideEmpty hides terms without events where nothing else is said.
func readHideEmpty(parser *parser, value *param.Value) {
	if hide, sent := value.Bool(); hide || !sent {
		parser.hasEvents = new(true)
	}
}

func readSlug(parser *parser, value *param.Value) {
	if text, ok := value.Text(0); ok {
		parser.where("", readmodel.Term{Field: readmodel.FieldSlug, Value: strings.ToLower(text)})
	}
}

func readPerPage(parser *parser, value *param.Value) {
	n, ok := value.Whole(1, math.MaxInt64)
	if !ok {
		n = value.Bound("default")
	}
	parser.PerPage = int(min(n, int64(parser.service.o.PerPageMax)))
}

func readFields(parser *parser, value *param.Value) {
	parser.Fields = value.Fields()
	parser.Embeds = EmbedsOf(parser.Fields)
}

// date reads a date of the years 0001–9999, as it is compared.
func (parser *parser) date(value *param.Value) (date calendar.Date, ok bool) {
	if date, ok = value.Date(); !ok {
		return date, false
	}
	wall := date.Wall(parser.now, parser.service.o.Site)
	if date.IsInstant() {
		wall = calendar.WallOf(date.Instant(parser.now, parser.service.o.Site))
	}
	if ok = wall.InYears(); !ok {
		value.Refuse(calendar.ReasonDateRange)
	}
	return date, ok
}

// read puts a date on the window of interface 4.6. Bounds with a default admit the date itself.
func (edge edge) read(parser *parser, value *param.Value) {
	equal := value.Moving != nil
	parser.fixed = parser.fixed || !equal && parser.sent(value.Name)
	date, ok := parser.date(value)
	if !ok {
		return
	}
	parser.Moves = parser.Moves || date.IsWord()
	window := &parser.window
	if (parser.overlap || parser.sheet.Period) && equal {
		window = &parser.lap
	}
	instant, zone := date.IsInstant(), parser.service.o.Site
	if parser.sheet != (Sheet{}) { // the bounds are of one kind, so that Exact can tell them
		instant, zone = parser.sheet.Zone != nil, cmp.Or(parser.sheet.Zone, zone)
	}
	wall, bound := date.Wall(parser.now, zone), date.Instant(parser.now, zone).Unix()
	if !instant {
		zone, bound = nil, int64(wall)
	}
	switch first, last := daysIn(wall, wall, zone); {
	case parser.strict:
	case edge.lower && equal:
		bound = first
	default:
		bound = last
	}
	parser.resolved = parser.resolved.Number(bound)
	span, end := window.spans(zone)
	if !edge.start {
		span = end
	}
	beyond := int64(1)
	if equal {
		beyond = 0
	}
	if edge.lower {
		span.Min = max(span.Min, bound+beyond)
	} else {
		span.Max = min(span.Max, bound-beyond)
	}
}

// DateParams are the parameters that bound the dates of a list; when does not stand next to them.
var DateParams = []string{"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after"}

// readWhen puts the days of a word on the window that events overlap.
func readWhen(parser *parser, value *param.Value) {
	word, ok := value.Text(0)
	for _, name := range DateParams {
		if parser.sent(value.Name) && parser.sent(name) {
			value.Refuse(calendar.ReasonTogether, name)
			parser.bad.Add(name, calendar.ReasonTogether, value.Name)
		}
	}
	if !ok || !value.Known(word) {
		return
	}
	parser.fixed, parser.Moves = true, true
	first, last := DaysOf(word, parser.now, parser.service.o.Site, parser.service.o.Sunday)
	parser.lap.days(first, last, parser.sheet.Zone)
	parser.resolved = parser.resolved.Number(int64(first))
}

// closeWindow puts the defaults on a window that has none of starts_* and ends_*.
func (parser *parser) closeWindow() {
	if parser.include != nil || parser.source != nil { // dates are checked, and then of no effect
		parser.window, parser.lap = newWindow(), newWindow()
		parser.Moves = false
		if parser.source != nil {
			parser.where("", parser.source.filter(blanked(parser.Caller)))
		}
		return
	}
	window, sheet := &parser.window, &parser.sheet
	if sheet.Past && window[wallEnd].Max >= int64(calendar.WallOf(parser.now.In(parser.service.o.Site))) { // else it says more
		window[wallEnd].Max = readmodel.AllNumbers.Max
		window[utcEnd].Max = min(window[utcEnd].Max, parser.now.Unix()-1)
	}
	if parser.fixed || sheet.Past || sheet.Period {
		return
	}
	if parser.overlap {
		window = &parser.lap
	}
	site := cmp.Or(sheet.Zone, parser.service.o.Site)
	lower, upper := window.spans(sheet.Zone)
	if !parser.sent("start_date") {
		parser.startDefault, parser.Moves = startOfWindow(parser.now, site), true
		if !parser.strict {
			parser.startDefault = parser.startDefault.Midnight()
		}
		lower.Min = max(lower.Min, calendar.WallToInstant(parser.startDefault, sheet.Zone).Unix())
	}
	if !parser.sent("end_date") {
		parser.endDefault, parser.Moves = endOfWindow(parser.now, site), true
		upper.Max = min(upper.Max, calendar.WallToInstant(parser.endDefault, sheet.Zone).Unix())
	}
}

// The place of interface 4.8: the two rows of the point are read one after the other,
// and then its radius.

// readDegrees reads degrees within the bounds of the row.
func readDegrees(value *param.Value) *float64 {
	n, ok := value.Number()
	if limit := value.Bound("maximum"); ok && math.Abs(n) > float64(limit) {
		value.Refuse(calendar.ReasonRange, strconv.FormatInt(-limit, 10), strconv.FormatInt(limit, 10))
		ok = false
	}
	if !ok {
		return nil
	}
	return &n
}

func readLongitude(parser *parser, value *param.Value) {
	parser.lng = readDegrees(value)
	lat, lng := parser.sent("geoloc_lat"), parser.sent(value.Name)
	switch {
	case lat && !lng:
		value.Refuse(calendar.ReasonPairMissing, "geoloc_lat")
	case lng && !lat:
		parser.bad.Add("geoloc_lat", calendar.ReasonPairMissing, value.Name)
	}
	if parser.geoloc != nil && !*parser.geoloc && (lat || lng) {
		parser.bad.Add("geoloc", calendar.ReasonGeolocConflict)
	}
}

func readRadius(parser *parser, value *param.Value) {
	km, ok := value.Number()
	if limit := value.Bound("maximum"); ok && (km <= 0 || km > float64(limit)) {
		value.Refuse(calendar.ReasonRangeAbove, "0", strconv.FormatInt(limit, 10))
	}
	if !ok {
		km = DefaultRadius
	}
	if parser.lat != nil && parser.lng != nil {
		parser.near = &circle{lat: *parser.lat, lng: *parser.lng, km: km}
	}
}

// statuses are the values of the status filter (interface 4.9).
var statuses = []string{"publish", "future", "draft", "pending", "private", "trash"}

// readStatus reads the status filter and checks that the caller may use it.
func readStatus(parser *parser, value *param.Value) {
	list := value.List()
	if list == nil {
		return
	}
	out := make([]calendar.Status, 0, len(list))
	for _, text := range list {
		if !slices.Contains(statuses, text) {
			value.Refuse(calendar.ReasonStatus, strings.Join(statuses, ","))
			return
		}
		out = append(out, calendar.Status(text))
	}
	if viewOf(parser.Caller) == viewPublic && (len(out) != 1 || out[0] != calendar.StatusPublish) {
		value.Refuse(calendar.ReasonStatusFilter)
		return
	}
	parser.statuses = out
}

// addDistinct adds an id that is not there: one has several texts, as 5 and 05.
func addDistinct(ids []calendar.ID, id calendar.ID) []calendar.ID {
	if slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}
