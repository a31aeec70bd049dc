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
	s    *Service
	past Past
	in   calendar.Input
	now  time.Time
	bad  calendar.Problems
	ctx  context.Context // of the lookups
	err  error           // of a lookup, not of the request

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
func (s *Service) Parse(ctx context.Context, request Request) (*Criteria, error) {
	q := parser{
		Criteria: &Criteria{
			Kind: request.Kind, Lang: request.Lang, Caller: request.Caller, Cost: 1, Embeds: EmbedAll, withdrawn: request.Past.Withdrawn,
			window: newWindow(), lap: request.Sheet.lap(), sheet: request.Sheet, of: request.Of, hides: request.Of != (Of{}),
		},
		s: s, past: request.Past, in: request.Input, now: cmp.Or(request.Past.Now, s.now()), ctx: ctx,
		startDefault: calendar.NoWall, endDefault: calendar.NoWall,
	}
	isEvent := request.Kind == calendar.KindEvent
	if isEvent {
		q.openWalk()
	}
	q.resolved = cache.Numbers(q.resolved, s.o.ProtectedNow)
	params := request.Params
	if params == nil {
		params = Params(request.Kind)
	}
	value := param.NewValue(q.in, &q.bad)
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
	if err := cmp.Or(q.bad.Err(), s.Afford(q.Cost)); err != nil {
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
func (s *Service) Afford(cost int) error {
	if cost > s.o.QueryBudget {
		return &calendar.Error{Code: calendar.CodeQueryTooCostly, Cost: cost, Limit: s.o.QueryBudget}
	}
	return nil
}

func (q *parser) sent(name string) bool {
	_, sent := q.in[name]
	return sent
}

// The readers of the rows.

func readSearch(q *parser, value *param.Value) {
	text, ok := text(value)
	if !ok {
		return
	}
	if text == "0" {
		value.Refuse(calendar.ReasonZero)
	}
	if q.Kind.IsTerm() {
		q.where("", readmodel.Contains{Fields: []string{readmodel.FieldNameLower(q.Lang), readmodel.FieldSlug}, Value: htmltext.NameKey(text)})
		return
	}
	if q.search = readmodel.ParseSearch(text, q.Lang); !q.search.Within() {
		value.Refuse(calendar.ReasonTooMuch, strconv.Itoa(readmodel.MaxWords))
	}
}

// where filters by the parameter that a facet has the name of, "" by another one.
func (q *parser) where(facet string, filter readmodel.Filter) { q.filters.add(facet, filter) }

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

func readEventStatus(q *parser, value *param.Value) {
	words := value.Words()
	either := make(readmodel.Or, len(words))
	for i, word := range words {
		either[i] = readmodel.Term{Field: readmodel.FieldEventStatus, Value: word}
	}
	if len(either) > 0 {
		q.where("", either)
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
func (q *parser) writtenBy(authors []calendar.ID) { q.where("", in(readmodel.FieldAuthor, authors...)) }

// includeOnly admits some records alone.
func (q *parser) includeOnly(ids []calendar.ID) {
	q.include = ids
	q.where("", withIDs(ids))
}

func readUpcoming(q *parser, value *param.Value) {
	if is, _ := value.Bool(); is {
		q.fromNow()
	}
}

// fromNow limits counts to events that have not ended.
func (q *parser) fromNow() {
	q.upcomingAt = calendar.Wall(q.now.Unix())
	q.resolved = q.resolved.Number(int64(q.upcomingAt))
}

func readOrder(q *parser, value *param.Value) {
	order, _ := value.Text(0)
	q.desc = order != "" && !strings.EqualFold(order, "asc")
}

// readHideEmpty hides terms without events where nothing else is said.
func readHideEmpty(q *parser, value *param.Value) {
	if hide, sent := value.Bool(); hide || !sent {
		q.hasEvents = new(true)
	}
}

func readSlug(q *parser, value *param.Value) {
	if text, ok := value.Text(0); ok {
		q.where("", readmodel.Term{Field: readmodel.FieldSlug, Value: strings.ToLower(text)})
	}
}

func readPerPage(q *parser, value *param.Value) {
	n, ok := value.Whole(1, math.MaxInt64)
	if !ok {
		n = bound(value, "default")
	}
	q.PerPage = int(min(n, int64(q.s.o.PerPageMax)))
}

func readFields(q *parser, value *param.Value) {
	q.Fields = value.Fields()
	q.Embeds = EmbedsOf(q.Fields)
}

// date reads a date of the years 0001–9999, as it is compared.
func (q *parser) date(value *param.Value) (date calendar.Date, ok bool) {
	if date, ok = value.Date(); !ok {
		return date, false
	}
	wall := date.Wall(q.now, q.s.o.Site)
	if date.IsInstant() {
		wall = calendar.WallOf(date.Instant(q.now, q.s.o.Site))
	}
	if ok = wall.InYears(); !ok {
		value.Refuse(calendar.ReasonDateRange)
	}
	return date, ok
}

// read puts a date on the window of interface 4.6. Bounds with a default admit the date itself.
func (e edge) read(q *parser, value *param.Value) {
	equal := value.Moving != nil
	q.fixed = q.fixed || !equal && q.sent(value.Name)
	date, ok := q.date(value)
	if !ok {
		return
	}
	q.Moves = q.Moves || date.IsWord()
	window := &q.window
	if (q.overlap || q.sheet.Period) && equal {
		window = &q.lap
	}
	instant, zone := date.IsInstant(), q.s.o.Site
	if q.sheet != (Sheet{}) { // the bounds are of one kind, so that Exact can tell them
		instant, zone = q.sheet.Zone != nil, cmp.Or(q.sheet.Zone, zone)
	}
	wall, bound := date.Wall(q.now, zone), date.Instant(q.now, zone).Unix()
	if !instant {
		zone, bound = nil, int64(wall)
	}
	switch first, last := daysIn(wall, wall, zone); {
	case q.strict:
	case e.lower && equal:
		bound = first
	default:
		bound = last
	}
	q.resolved = q.resolved.Number(bound)
	span, end := window.spans(zone)
	if !e.start {
		span = end
	}
	beyond := int64(1)
	if equal {
		beyond = 0
	}
	if e.lower {
		span.Min = max(span.Min, bound+beyond)
	} else {
		span.Max = min(span.Max, bound-beyond)
	}
}

// DateParams are the parameters that bound the dates of a list; when does not stand next to them.
var DateParams = []string{"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after"}

// readWhen puts the days of a word on the window that events overlap.
func readWhen(q *parser, value *param.Value) {
	word, ok := value.Text(0)
	for _, name := range DateParams {
		if q.sent(value.Name) && q.sent(name) {
			value.Refuse(calendar.ReasonTogether, name)
			q.bad.Add(name, calendar.ReasonTogether, value.Name)
		}
	}
	if !ok || !value.Known(word) {
		return
	}
	q.fixed, q.Moves = true, true
	first, last := DaysOf(word, q.now, q.s.o.Site, q.s.o.Sunday)
	q.lap.days(first, last, q.sheet.Zone)
	q.resolved = q.resolved.Number(int64(first))
}

// closeWindow puts the defaults on a window that has none of starts_* and ends_*.
func (q *parser) closeWindow() {
	if q.include != nil || q.source != nil { // dates are checked, and then of no effect
		q.window, q.lap = newWindow(), newWindow()
		q.Moves = false
		if q.source != nil {
			q.where("", q.source.filter(blanked(q.Caller)))
		}
		return
	}
	window, sheet := &q.window, &q.sheet
	if sheet.Past && window[wallEnd].Max >= int64(calendar.WallOf(q.now.In(q.s.o.Site))) { // else it says more
		window[wallEnd].Max = readmodel.AllNumbers.Max
		window[utcEnd].Max = min(window[utcEnd].Max, q.now.Unix()-1)
	}
	if q.fixed || sheet.Past || sheet.Period {
		return
	}
	if q.overlap {
		window = &q.lap
	}
	site := cmp.Or(sheet.Zone, q.s.o.Site)
	lower, upper := window.spans(sheet.Zone)
	if !q.sent("start_date") {
		q.startDefault, q.Moves = startOfWindow(q.now, site), true
		if !q.strict {
			q.startDefault = q.startDefault.Midnight()
		}
		lower.Min = max(lower.Min, calendar.WallToInstant(q.startDefault, sheet.Zone).Unix())
	}
	if !q.sent("end_date") {
		q.endDefault, q.Moves = endOfWindow(q.now, site), true
		upper.Max = min(upper.Max, calendar.WallToInstant(q.endDefault, sheet.Zone).Unix())
	}
}

// The place of interface 4.8: the two rows of the point are read one after the other,
// and then its radius.

// readDegrees reads degrees within the bounds of the row.
func readDegrees(value *param.Value) *float64 {
	n, ok := value.Number()
	if limit := bound(value, "maximum"); ok && math.Abs(n) > float64(limit) {
		value.Refuse(calendar.ReasonRange, strconv.FormatInt(-limit, 10), strconv.FormatInt(limit, 10))
		ok = false
	}
	if !ok {
		return nil
	}
	return &n
}

func readLongitude(q *parser, value *param.Value) {
	q.lng = readDegrees(value)
	lat, lng := q.sent("geoloc_lat"), q.sent(value.Name)
	switch {
	case lat && !lng:
		value.Refuse(calendar.ReasonPairMissing, "geoloc_lat")
	case lng && !lat:
		q.bad.Add("geoloc_lat", calendar.ReasonPairMissing, value.Name)
	}
	if q.geoloc != nil && !*q.geoloc && (lat || lng) {
		q.bad.Add("geoloc", calendar.ReasonGeolocConflict)
	}
}

func readRadius(q *parser, value *param.Value) {
	km, ok := value.Number()
	if limit := bound(value, "maximum"); ok && (km <= 0 || km > float64(limit)) {
		value.Refuse(calendar.ReasonRangeAbove, "0", strconv.FormatInt(limit, 10))
	}
	if !ok {
		km = DefaultRadius
	}
	if q.lat != nil && q.lng != nil {
		q.near = &circle{lat: *q.lat, lng: *q.lng, km: km}
	}
}

// statuses are the values of the status filter (interface 4.9).
var statuses = []string{"publish", "future", "draft", "pending", "private", "trash"}

// readStatus reads the status filter and checks that the caller may use it.
func readStatus(q *parser, value *param.Value) {
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
	if viewOf(q.Caller) == viewPublic && (len(out) != 1 || out[0] != calendar.StatusPublish) {
		value.Refuse(calendar.ReasonStatusFilter)
		return
	}
	q.statuses = out
}

// addDistinct adds an id that is not there: one has several texts, as 5 and 05.
func addDistinct(ids []calendar.ID, id calendar.ID) []calendar.ID {
	if slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}
