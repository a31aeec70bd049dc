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

// Limits of interface 9.
const (
	maxPage    = 1_000_000_000
	maxSearch  = 500
	maxRadius  = 20000
	defPerPage = 10
	maxLat     = 90
	maxLng     = 180

	minHighlight = 40
	maxHighlight = 1000
	defHighlight = 200
)

// criteria is what Run needs: the checked values of the parameters.
type criteria struct {
	window window
	// overlap: start_date and end_date are lap, which events overlap, and not in window.
	overlap bool
	lap     window
	search  readmodel.Expression
	typos   typos
	step    int // of the search, a place in spellings

	filters choice              // of parameters that say it by themselves
	chosen  map[string][]option // of facets
	shorter *int64              // duration_min, in minutes; nil: not sent

	facets     []string
	facetLimit int
	facetQuery facetQuery
	collapse   bool

	named   [calendar.KindTag + 1][]calendar.ID // linked records that events are filtered by; nil: not sent
	of      Of                                  // the record that events are of
	geoloc  *bool
	near    *circle
	box     *box
	places  map[string][]string // keys of cities and countries
	include []calendar.ID       // events and terms; nil: not sent

	statuses     []calendar.Status // nil: not sent
	trashedSince *int64            // what came into the trash since then, instead of what the caller sees

	ofEvent      bool          // event or post was sent
	linked       []calendar.ID // the records of the kind that this event links to
	hasEvents    *bool
	upcomingAt   calendar.Wall // only_with_upcoming: the present second, UTC
	onlyUpcoming bool

	orderBy   string
	desc      bool
	hideEmpty *bool

	source *source // of a calendar widget

	zoom      int             // of a map
	kinds     []calendar.Kind // of suggestions
	suggested int             // of each kind

	sort string // a word of sort; "": the order of all lists
	walk *walk  // in steps; nil: in pages

	sheet Sheet

	strict bool // strict_dates
	hides  bool // a parameter was sent that leaves blanked events out
}

// parser reads the parameters of one request and collects the refused ones.
type parser struct {
	*Criteria
	s    *Service
	past Past
	in   calendar.Input
	now  time.Time
	bad  calendar.Problems
	err  error // of a lookup, not of the request

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
func (s *Service) Parse(ctx context.Context, r Request) (*Criteria, error) {
	switch {
	case r.Source:
		return s.parse(ctx, r, sourceTable)
	case r.Map:
		return s.parse(ctx, r, clusterTable)
	case r.Suggest:
		return s.parse(ctx, r, suggestTable)
	}
	return s.parse(ctx, r, tables[r.Kind])
}

func (s *Service) parse(ctx context.Context, r Request, t table) (*Criteria, error) {
	q := parser{
		Criteria: &Criteria{
			Kind: r.Kind, Lang: r.Lang, Caller: r.Caller, Cost: 1, embeds: EmbedAll, withdrawn: r.Past.Withdrawn,
			run: criteria{window: newWindow(), lap: r.Sheet.lap(), sheet: r.Sheet, of: r.Of, hides: r.Of != (Of{})},
		},
		s: s, past: r.Past, in: r.Input, now: s.now(),
		startDefault: calendar.NoWall, endDefault: calendar.NoWall,
	}
	if !r.Past.Now.IsZero() {
		q.now = r.Past.Now
	}
	if r.Kind == calendar.KindEvent {
		q.openWalk()
	}
	if r.Source {
		q.run.source = &source{timed: newWindow(), days: open}
	}
	q.resolved = cache.Numbers(q.resolved, s.o.ProtectedNow)
	v := param.NewValue(q.in, &q.bad)
	for _, p := range t.inTurn {
		p.ReadFrom(v, &q)
		if p.lookUp != nil {
			p.lookUp(ctx, &q, v)
		}
		q.LooksUp = q.LooksUp || p.lookUp != nil && q.sent(p.Name)
		q.run.hides = q.run.hides || p.Hides && q.sent(p.Name)
	}
	if err := cmp.Or(v.Missing(), q.err); err != nil {
		return nil, err
	}
	if q.Kind == calendar.KindEvent {
		q.closeWindow()
	}
	if q.run.walk != nil {
		q.checkWalk(t.params, r.Of)
	}
	if err := q.bad.Err(); err != nil {
		return nil, err
	}
	if err := s.Afford(q.Cost); err != nil {
		return nil, err
	}
	if q.Kind == calendar.KindEvent {
		q.Paged, q.Status, q.Search = q.sent("page") || q.sent("per_page") || q.run.walk != nil, q.run.statuses != nil, q.run.search.Query != ""
	}
	q.Sent, q.Links = q.links(t.params)
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

func readSearch(q *parser, v *param.Value) {
	text, ok := v.Text(maxSearch)
	if !ok {
		return
	}
	if text == "0" {
		v.Refuse(calendar.ReasonZero)
	}
	if q.Kind.IsTerm() {
		q.where("", readmodel.Contains{Fields: []string{readmodel.FieldNameLower(q.Lang), readmodel.FieldSlug}, Value: htmltext.NameKey(text)})
		return
	}
	if q.run.search = readmodel.ParseSearch(text, q.Lang); !q.run.search.Within() {
		v.Refuse(calendar.ReasonTooMuch, strconv.Itoa(readmodel.MaxWords))
	}
}

// where filters by the parameter that a facet has the name of, "" by another one.
func (q *parser) where(facet string, f readmodel.Filter) { q.run.filters.add(facet, f) }

// readRecord filters by the id of a record that there has to be.
func readRecord(k calendar.Kind, field string) func(context.Context, *parser, *param.Value) {
	return func(ctx context.Context, q *parser, v *param.Value) {
		id, ok := v.ID()
		if !ok {
			return
		}
		if q.load(ctx, k, []calendar.ID{id})[0] == nil {
			v.Refuse(calendar.UnknownReason(k), id.String())
			return
		}
		q.where("", in(field, id))
	}
}

func readEventStatus(q *parser, v *param.Value) {
	words := v.Words()
	either := make(readmodel.Or, len(words))
	for i, word := range words {
		either[i] = readmodel.Term{Field: readmodel.FieldEventStatus, Value: word}
	}
	if len(either) > 0 {
		q.where("", either)
	}
}

// readIDs reads a list of ids; whether they are known does not matter.
func readIDs(q *parser, v *param.Value) {
	var ids []calendar.ID
	for _, e := range v.List() {
		id, ok := calendar.ParseID(e)
		if !ok {
			v.Refuse(calendar.ReasonTypeID)
			return
		}
		ids = addDistinct(ids, id)
	}
	if ids != nil {
		q.include(ids)
	}
}

// include admits some records alone.
func (q *parser) include(ids []calendar.ID) {
	q.run.include = ids
	q.where("", withIDs(ids))
}

func readUpcoming(q *parser, v *param.Value) {
	if is, _ := v.Bool(); is {
		q.run.onlyUpcoming = true
		q.run.upcomingAt = calendar.Wall(q.now.Unix())
		q.resolved = q.resolved.Number(int64(q.run.upcomingAt))
	}
}

func readOrder(q *parser, v *param.Value) {
	order, _ := v.Text(0)
	q.run.desc = order != "" && !strings.EqualFold(order, "asc")
}

func readSlug(q *parser, v *param.Value) {
	if text, ok := v.Text(0); ok {
		q.where("", readmodel.Term{Field: readmodel.FieldSlug, Value: strings.ToLower(text)})
	}
}

func readPerPage(q *parser, v *param.Value) {
	n, ok := v.Whole(1, math.MaxInt64)
	if !ok {
		n = defPerPage
	}
	q.PerPage = int(min(n, int64(q.s.o.PerPageMax)))
}

func readFields(q *parser, v *param.Value) {
	q.Fields = v.Fields()
	q.embeds = EmbedsOf(q.Fields)
}

// read reads a date of the window of interface 4.6.
func (e edge) read(q *parser, v *param.Value) {
	if _, sent := v.Sent(); !sent {
		return
	}
	q.fixed = q.fixed || v.Moving == nil
	d, ok := v.Date()
	if !ok {
		return
	}
	if !inYears(d, q.now, q.s.o.Site) {
		v.Refuse(calendar.ReasonDateRange)
		return
	}
	q.Moves = q.Moves || d.IsWord()
	w := &q.run.window
	if (q.run.overlap || q.run.sheet.Period) && v.Moving != nil {
		w = &q.run.lap
	}
	instant, zone := d.IsInstant(), q.s.o.Site
	if q.run.sheet != (Sheet{}) { // the bounds are of one kind, so that Exact can tell them
		instant, zone = q.run.sheet.Zone != nil, cmp.Or(q.run.sheet.Zone, zone)
	}
	bound := e.apply(w, d, instant, q.run.strict, q.now, zone)
	q.resolved = q.resolved.Number(bound)
}

// DateParams are the parameters that bound the dates of a list; when does not stand beside them.
var DateParams = []string{"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after"}

// readWhen puts the days of a word on the window that events overlap.
func readWhen(q *parser, v *param.Value) {
	word, ok := v.Text(0)
	for _, name := range DateParams {
		if q.sent(v.Name) && q.sent(name) {
			v.Refuse(calendar.ReasonTogether, name)
			q.bad.Add(name, calendar.ReasonTogether, v.Name)
		}
	}
	if !ok || !v.Known(word) {
		return
	}
	q.fixed, q.Moves = true, true
	first, last := DaysOf(word, q.now, q.s.o.Site, q.s.o.Sunday)
	q.run.lap.days(first, last, q.run.sheet.Zone)
	q.resolved = q.resolved.Number(int64(first))
}

// closeWindow puts the defaults on a window that has none of starts_* and ends_*.
func (q *parser) closeWindow() {
	if q.run.include != nil || q.run.source != nil { // dates are checked, and then of no effect
		q.run.window, q.run.lap = newWindow(), newWindow()
		q.Moves = false
		if q.run.source != nil {
			q.where("", q.run.source.filter(blanked(q.Caller)))
		}
		return
	}
	w, sheet := &q.run.window, &q.run.sheet
	if sheet.Past && w.end.max >= int64(calendar.WallOf(q.now.In(q.s.o.Site))) { // else it says more
		w.end.max = open.max
		w.utcEnd.lower(q.now.Unix() - 1)
	}
	if q.fixed || sheet.Past || sheet.Period {
		return
	}
	if q.run.overlap {
		w = &q.run.lap
	}
	start, end := DefaultWindow(q.now, cmp.Or(sheet.Zone, q.s.o.Site))
	lower, upper := w.spans(sheet.Zone)
	if !q.sent("start_date") {
		if !q.run.strict {
			start = dayOf(start)
		}
		q.startDefault, q.Moves = start, true
		lower.raise(calendar.WallToInstant(start, sheet.Zone).Unix())
	}
	if !q.sent("end_date") {
		q.endDefault, q.Moves = end, true
		upper.lower(calendar.WallToInstant(end, sheet.Zone).Unix())
	}
}

// The place of interface 4.8: the two rows of the point are read one after the other,
// and then its radius.

func readLat(q *parser, v *param.Value) { q.lat = coordinate(v, maxLat) }

func readLng(q *parser, v *param.Value) {
	q.lng = coordinate(v, maxLng)
	lat, lng := q.sent("geoloc_lat"), q.sent(v.Name)
	switch {
	case lat && !lng:
		v.Refuse(calendar.ReasonPairMissing, "geoloc_lat")
	case lng && !lat:
		q.bad.Add("geoloc_lat", calendar.ReasonPairMissing, v.Name)
	}
	if q.run.geoloc != nil && !*q.run.geoloc && (lat || lng) {
		q.bad.Add("geoloc", calendar.ReasonGeolocConflict)
	}
}

func readRadius(q *parser, v *param.Value) {
	km, ok := v.Number()
	if ok && (km <= 0 || km > maxRadius) {
		v.Refuse(calendar.ReasonRangeAbove, "0", strconv.Itoa(maxRadius))
	}
	if !ok {
		km = DefaultRadius
	}
	if q.lat != nil && q.lng != nil {
		q.run.near = &circle{lat: *q.lat, lng: *q.lng, km: km}
	}
}

// coordinate reads degrees from -limit to limit.
func coordinate(v *param.Value, limit int) *float64 {
	n, ok := v.Number()
	if ok && (n < -float64(limit) || n > float64(limit)) {
		v.Refuse(calendar.ReasonRange, strconv.Itoa(-limit), strconv.Itoa(limit))
		return nil
	}
	if !ok {
		return nil
	}
	return &n
}

// statuses are the values of the status filter (interface 4.9).
var statuses = []string{"publish", "future", "draft", "pending", "private", "trash"}

// readStatus reads the status filter and checks that the caller may use it.
func readStatus(q *parser, v *param.Value) {
	list := v.List()
	if list == nil {
		return
	}
	out := make([]calendar.Status, 0, len(list))
	for _, e := range list {
		if !slices.Contains(statuses, e) {
			v.Refuse(calendar.ReasonStatus, strings.Join(statuses, ","))
			return
		}
		out = append(out, calendar.Status(e))
	}
	if viewOf(q.Caller) == viewPublic && (len(out) != 1 || out[0] != calendar.StatusPublish) {
		v.Refuse(calendar.ReasonStatusFilter)
		return
	}
	q.run.statuses = out
}

// addDistinct adds an id that is not there: one has several texts, as 5 and 05.
func addDistinct(ids []calendar.ID, id calendar.ID) []calendar.ID {
	if slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}
