package query

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/internal/ground/cache"
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

// sw is a boolean filter: not sent, false or true.
type sw uint8

const (
	swNone sw = iota
	swOff
	swOn
)

// criteria is what Run needs: the checked values of the parameters.
type criteria struct {
	window window
	// overlap: start_date and end_date are lap, which events overlap, and not in window.
	overlap sw
	lap     window
	search  readmodel.Expression
	typos   typos
	step    int // of the search, a place in spellings

	months, weekdays, minutes []int64   // as the read model has them, ascending; nil: not sent
	allDay                    bool      // time_of_day names all_day
	times                     []dayTime // of time_of_day
	shortest, longest         *int64    // seconds; nil: not sent
	languages                 []calendar.ID
	cities, countries         []string // keys of places; nil: not sent
	box                       *box
	free                      sw
	costs                     []span // hundredths, ascending
	costUnknown               bool
	bands                     []band // of cost_band, but unknown

	facets     []string
	facetLimit int
	facetQuery facetQuery
	collapse   bool

	categories, tags, venues, organizers []calendar.ID // nil: not sent
	featured, ticketed, geoloc           sw
	near                                 *circle
	include                              []calendar.ID // events and terms; nil: not sent
	postParent                           calendar.ID

	statuses      []calendar.Status // nil: not sent
	trashedSince  *int64            // what came into the trash since then, instead of what the caller sees
	eventStatuses []string          // nil: not sent

	ofEvent      bool          // event or post was sent
	linked       []calendar.ID // the records of the kind that this event links to
	hasEvents    sw
	upcomingAt   calendar.Wall // only_with_upcoming: the present second, UTC
	onlyUpcoming bool

	exclude   []calendar.ID
	orderBy   string
	desc      bool
	hideEmpty sw
	parent    calendar.ID
	slug      string

	of     Of      // the record that events are of
	source *source // of a calendar widget

	zoom      int             // of a map
	kinds     []calendar.Kind // of suggestions
	suggested int             // of each kind

	sort string // a word of sort; "": the order of all lists
	walk *walk  // in steps; nil: in pages

	sheet Sheet

	strict sw   // strict_dates
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
		Criteria: &Criteria{Kind: r.Kind, Lang: r.Lang, Caller: r.Caller, embeds: EmbedAll, withdrawn: r.Past.Withdrawn, run: criteria{window: newWindow(), lap: r.Sheet.lap(), sheet: r.Sheet}},
		s:        s, past: r.Past, in: r.Input, now: s.now(),
		startDefault: calendar.NoWall, endDefault: calendar.NoWall,
	}
	var missing []string
	for i := range t.params {
		if p := &t.params[i]; p.Required && !q.sent(p.Name) {
			missing = append(missing, p.Name)
		}
	}
	if missing != nil {
		return nil, &calendar.Error{Code: calendar.CodeMissingParam, Missing: missing}
	}
	if !r.Past.Now.IsZero() {
		q.now = r.Past.Now
	}
	if r.Kind == calendar.KindEvent {
		q.openWalk()
	}
	q.resolved = cache.Numbers(q.resolved, s.o.ProtectedNow)
	for _, p := range t.inTurn {
		if p.read(ctx, &q, p); q.sent(p.Name) {
			q.LooksUp = q.LooksUp || p.LooksUp
			q.run.hides = q.run.hides || p.Hides
		}
	}
	if q.err != nil {
		return nil, q.err
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
	q.Cost = 1
	for i := range t.params {
		if p := &t.params[i]; p.cost != nil && q.sent(p.Name) {
			q.Cost += p.cost(&q)
		}
	}
	if err := s.Afford(q.Cost); err != nil {
		return nil, err
	}
	if q.Kind == calendar.KindEvent {
		if q.run.of = r.Of; r.Of != (Of{}) {
			q.run.hides = true
		}
		q.Paged, q.Status, q.Search = q.sent("page") || q.sent("per_page") || q.run.walk != nil, q.run.statuses != nil, q.run.search.Query != ""
		q.Sent = q.links(t.params, true)
	}
	q.Links = q.links(t.params, false)
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

// readPoint reads a point in time no further than that there is one: it says which
// Service is asked, so who asks has read it before.
func readPoint(_ context.Context, q *parser, p *Param) { q.text(p.Name, 0) }

func readLanguage(_ context.Context, q *parser, _ *Param) {
	q.Lang = calendar.Language(q.in, q.Lang, &q.bad)
}

func readSearch(_ context.Context, q *parser, p *Param) {
	text, ok := q.text(p.Name, maxSearch)
	if !ok {
		return
	}
	if text == "0" {
		q.bad.Add(p.Name, calendar.ReasonZero)
	}
	q.run.search = readmodel.ParseSearch(text, q.Lang)
	if q.Kind.IsPost() && !q.run.search.Within() {
		q.bad.Add(p.Name, calendar.ReasonTooMuch, strconv.Itoa(readmodel.MaxWords))
	}
}

func readSwitch(to func(*criteria) *sw) func(context.Context, *parser, *Param) {
	return func(_ context.Context, q *parser, p *Param) { *to(&q.run) = q.boolean(p.Name) }
}

func readText(to func(*criteria) *string) func(context.Context, *parser, *Param) {
	return func(_ context.Context, q *parser, p *Param) { *to(&q.run), _ = q.text(p.Name, 0) }
}

func readNamed(k calendar.Kind, to func(*criteria) *[]calendar.ID) func(context.Context, *parser, *Param) {
	return func(ctx context.Context, q *parser, p *Param) { *to(&q.run) = q.named(ctx, p.Name, k) }
}

func readKnown(k calendar.Kind, to func(*criteria) *[]calendar.ID) func(context.Context, *parser, *Param) {
	return func(ctx context.Context, q *parser, p *Param) { *to(&q.run) = q.known(ctx, p.Name, k) }
}

func readSlugs(to func(*criteria) *[]calendar.ID) func(context.Context, *parser, *Param) {
	return func(ctx context.Context, q *parser, p *Param) { *to(&q.run) = q.slugs(ctx, p.Name) }
}

// readRecord reads the id of a record that there has to be.
func readRecord(k calendar.Kind, to func(*criteria) *calendar.ID) func(context.Context, *parser, *Param) {
	return func(ctx context.Context, q *parser, p *Param) {
		id, ok := q.id(p.Name)
		if !ok {
			return
		}
		if q.load(ctx, k, []calendar.ID{id})[0] == nil {
			q.bad.Add(p.Name, calendar.UnknownReason(k), id.String())
			return
		}
		*to(&q.run) = id
	}
}

// readIDs reads a list of ids; whether they are known does not matter.
func readIDs(_ context.Context, q *parser, p *Param) {
	list := q.list(p.Name)
	out := newDistinct(len(list))
	for _, e := range list {
		id, ok := calendar.ParseID(e)
		if !ok {
			q.bad.Add(p.Name, calendar.ReasonTypeID)
			return
		}
		out.add(id)
	}
	q.run.include = out.ids
}

func readUpcoming(_ context.Context, q *parser, p *Param) {
	if q.boolean(p.Name) == swOn {
		q.run.onlyUpcoming = true
		q.run.upcomingAt = calendar.Wall(q.now.Unix())
		q.resolved = q.resolved.Number(int64(q.run.upcomingAt))
	}
}

func readOrder(_ context.Context, q *parser, p *Param) {
	order, _ := q.text(p.Name, 0)
	q.run.desc = order != "" && !strings.EqualFold(order, "asc")
}

// Formats are the words of the parameter format.
var Formats = []string{"json", "ics", "rss", "atom", "jsonfeed", "geojson", "csv", "ndjson"}

// readWord reads one of the words of the row.
func readWord(to func(*Output, string)) func(context.Context, *parser, *Param) {
	return func(_ context.Context, q *parser, p *Param) {
		word, ok := q.text(p.Name, 0)
		switch {
		case !ok:
		case slices.Contains(p.Enum, word):
			to(&q.Output, word)
		default:
			q.bad.Add(p.Name, calendar.ReasonWord, strings.Join(p.Enum, ","))
		}
	}
}

// readWords reads a list of words of the row.
func readWords(to func(*criteria) *[]string) func(context.Context, *parser, *Param) {
	return func(_ context.Context, q *parser, p *Param) { *to(&q.run) = q.words(p) }
}

func (q *parser) words(p *Param) []string {
	list := q.list(p.Name)
	for _, e := range list {
		if !slices.Contains(p.Enum, e) {
			q.bad.Add(p.Name, calendar.ReasonWord, strings.Join(p.Enum, ","))
			return nil
		}
	}
	return list
}

func readFlag(to func(*Output) *bool) func(context.Context, *parser, *Param) {
	return func(_ context.Context, q *parser, p *Param) { *to(&q.Output) = q.boolean(p.Name) == swOn }
}

func readHighlightLength(_ context.Context, q *parser, p *Param) {
	n := q.integer(p.Name, defHighlight)
	if n < minHighlight || n > maxHighlight {
		q.bad.Add(p.Name, calendar.ReasonRange, strconv.Itoa(minHighlight), strconv.Itoa(maxHighlight))
	}
	q.HighlightLength = int(n)
}

func readSlug(_ context.Context, q *parser, p *Param) {
	text, _ := q.text(p.Name, 0)
	q.run.slug = strings.ToLower(text)
}

// raw gives the text of a parameter that takes one value, trimmed. Empty text
// and values of another form are refused.
func (q *parser) raw(name string, wrongType calendar.Reason) (string, bool) {
	v, sent := q.in[name]
	if !sent {
		return "", false
	}
	text, ok := v.(string)
	if !ok && v != nil {
		q.bad.Add(name, wrongType)
		return "", false
	}
	text = calendar.Trim(text)
	if text == "" {
		q.bad.Add(name, calendar.ReasonEmpty)
		return "", false
	}
	return text, true
}

// text reads a text of at most limit characters, 0 without a limit.
func (q *parser) text(name string, limit int) (string, bool) {
	text, ok := q.raw(name, calendar.ReasonTypeText)
	if ok && limit > 0 && utf8.RuneCountInString(text) > limit {
		q.bad.Add(name, calendar.ReasonTooLong, strconv.Itoa(limit))
		return "", false
	}
	return text, ok
}

func (q *parser) boolean(name string) sw {
	text, ok := q.raw(name, calendar.ReasonTypeBool)
	if !ok {
		return swNone
	}
	switch v, ok := calendar.ParseBool(text); {
	case !ok:
		q.bad.Add(name, calendar.ReasonTypeBool)
		return swNone
	case v:
		return swOn
	default:
		return swOff
	}
}

func (q *parser) integer(name string, otherwise int64) int64 {
	text, ok := q.raw(name, calendar.ReasonTypeInteger)
	if !ok {
		return otherwise
	}
	n, ok := calendar.ParseNearestInt(text)
	if !ok {
		q.bad.Add(name, calendar.ReasonTypeInteger)
		return otherwise
	}
	return n
}

func readPage(_ context.Context, q *parser, p *Param) {
	n := q.integer(p.Name, 1)
	if n < 1 || n > maxPage {
		q.bad.Add(p.Name, calendar.ReasonRange, "1", strconv.Itoa(maxPage))
	}
	q.Page = int(n)
}

func readPerPage(_ context.Context, q *parser, p *Param) {
	n := q.integer(p.Name, defPerPage)
	if n < 1 {
		q.bad.Add(p.Name, calendar.ReasonTooSmall, "1")
	}
	q.PerPage = int(min(n, int64(q.s.o.PerPageMax)))
}

func (q *parser) number(name string) (float64, bool) {
	text, ok := q.raw(name, calendar.ReasonTypeNumber)
	if !ok {
		return 0, false
	}
	n, ok := calendar.ParseNumber(text)
	if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
		q.bad.Add(name, calendar.ReasonTypeNumber)
		return 0, false
	}
	return n, true
}

func (q *parser) id(name string) (calendar.ID, bool) {
	text, ok := q.raw(name, calendar.ReasonTypeID)
	if !ok {
		return 0, false
	}
	id, ok := calendar.ParseID(text)
	if !ok {
		q.bad.Add(name, calendar.ReasonTypeID)
	}
	return id, ok
}

// list reads the elements of a list; nil when it was not sent or is refused. A
// list without any element is refused.
func (q *parser) list(name string) []string {
	v, sent := q.in[name]
	if !sent {
		return nil
	}
	out, reason := elements(v)
	switch {
	case reason != "":
		q.bad.Add(name, reason)
	case len(out) == 0:
		q.bad.Add(name, calendar.ReasonEmpty)
	case len(out) > calendar.MaxElements:
		q.bad.Add(name, calendar.ReasonTooMany, strconv.Itoa(calendar.MaxElements))
	default:
		return out
	}
	return nil
}

// elements gives the elements of a list as texts, trimmed, empty ones skipped
// and equal ones once.
func elements(v any) ([]string, calendar.Reason) {
	switch v.(type) {
	case nil, string, []any:
	default:
		return nil, calendar.ReasonTypeList
	}
	parsed := calendar.ParseList(v)
	out := make([]string, len(parsed))
	for i, e := range parsed {
		text, ok := e.(string)
		if !ok {
			return nil, calendar.ReasonTypeList
		}
		out[i] = text
	}
	return out, ""
}

func readFields(_ context.Context, q *parser, _ *Param) {
	q.Fields = Fields(q.in, &q.bad)
	q.embeds = EmbedsOf(q.Fields)
}

// Fields reads _fields (interface 2.12): nil for all; empty counts as not sent.
func Fields(in calendar.Input, bad *calendar.Problems) []string {
	v, sent := in["_fields"]
	if !sent {
		return nil
	}
	out, reason := elements(v)
	switch {
	case reason != "":
		bad.Add("_fields", reason)
	case len(out) > calendar.MaxElements:
		bad.Add("_fields", calendar.ReasonTooMany, strconv.Itoa(calendar.MaxElements))
	case len(out) > 0:
		return out
	}
	return nil
}

// read reads a date of the window of interface 4.6.
func (e edge) read(_ context.Context, q *parser, p *Param) {
	text, ok := q.raw(p.Name, calendar.ReasonTypeDate)
	if !ok {
		return
	}
	q.fixed = q.fixed || p.Moving == nil
	d, ok := calendar.ParseDate(text)
	if !ok {
		q.bad.Add(p.Name, calendar.ReasonDate)
		return
	}
	if !inYears(d, q.now, q.s.o.Site) {
		q.bad.Add(p.Name, calendar.ReasonDateRange)
		return
	}
	q.Moves = q.Moves || d.IsWord()
	w := &q.run.window
	if (q.run.overlap == swOn || q.run.sheet.Period) && p.Moving != nil {
		w = &q.run.lap
	}
	instant, zone := d.IsInstant(), q.s.o.Site
	if q.run.sheet != (Sheet{}) { // the bounds are of one kind, so that Exact can tell them
		instant, zone = q.run.sheet.Zone != nil, cmp.Or(q.run.sheet.Zone, zone)
	}
	bound := e.apply(w, d, instant, q.run.strict == swOn, q.now, zone)
	q.resolved = q.resolved.Number(bound)
}

// DateParams are the parameters that bound the dates of a list; when does not stand beside them.
var DateParams = []string{"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after"}

// readWhen puts the days of a word on the window that events overlap.
func readWhen(_ context.Context, q *parser, p *Param) {
	word, ok := q.text(p.Name, 0)
	for _, name := range DateParams {
		if q.sent(p.Name) && q.sent(name) {
			q.bad.Add(p.Name, calendar.ReasonTogether, name)
			q.bad.Add(name, calendar.ReasonTogether, p.Name)
		}
	}
	if !ok || !slices.Contains(p.Enum, word) {
		if ok {
			q.bad.Add(p.Name, calendar.ReasonWord, strings.Join(p.Enum, ","))
		}
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
	if q.run.overlap == swOn {
		w = &q.run.lap
	}
	start, end := DefaultWindow(q.now, cmp.Or(sheet.Zone, q.s.o.Site))
	lower, upper := w.spans(sheet.Zone)
	if !q.sent("start_date") {
		if q.run.strict != swOn {
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

func readLat(_ context.Context, q *parser, p *Param) { q.lat = q.coordinate(p.Name, maxLat) }

func readLng(_ context.Context, q *parser, p *Param) {
	q.lng = q.coordinate(p.Name, maxLng)
	lat, lng := q.sent("geoloc_lat"), q.sent(p.Name)
	switch {
	case lat && !lng:
		q.bad.Add(p.Name, calendar.ReasonPairMissing, "geoloc_lat")
	case lng && !lat:
		q.bad.Add("geoloc_lat", calendar.ReasonPairMissing, p.Name)
	}
	if q.run.geoloc == swOff && (lat || lng) {
		q.bad.Add("geoloc", calendar.ReasonGeolocConflict)
	}
}

func readRadius(_ context.Context, q *parser, p *Param) {
	km, ok := q.number(p.Name)
	if ok && (km <= 0 || km > maxRadius) {
		q.bad.Add(p.Name, calendar.ReasonRangeAbove, "0", strconv.Itoa(maxRadius))
	}
	if !ok {
		km = DefaultRadius
	}
	if q.lat != nil && q.lng != nil {
		q.run.near = &circle{lat: *q.lat, lng: *q.lng, km: km}
	}
}

// coordinate reads degrees from -limit to limit.
func (q *parser) coordinate(name string, limit int) *float64 {
	v, ok := q.number(name)
	if ok && (v < -float64(limit) || v > float64(limit)) {
		q.bad.Add(name, calendar.ReasonRange, strconv.Itoa(-limit), strconv.Itoa(limit))
		return nil
	}
	if !ok {
		return nil
	}
	return &v
}

// statusWords are the values of the status filter (interface 4.9).
const statusWords = "publish,future,draft,pending,private,trash"

// readStatus reads the status filter and checks that the caller may use it.
func readStatus(_ context.Context, q *parser, p *Param) {
	list := q.list(p.Name)
	if list == nil {
		return
	}
	out := make([]calendar.Status, 0, len(list))
	for _, e := range list {
		switch st := calendar.Status(e); st {
		case calendar.StatusPublish, calendar.StatusFuture, calendar.StatusDraft,
			calendar.StatusPending, calendar.StatusPrivate, calendar.StatusTrash:
			out = append(out, st)
		default:
			q.bad.Add(p.Name, calendar.ReasonStatus, statusWords)
			return
		}
	}
	if viewOf(q.Caller) == viewPublic && (len(out) != 1 || out[0] != calendar.StatusPublish) {
		q.bad.Add(p.Name, calendar.ReasonStatusFilter)
		return
	}
	q.run.statuses = out
}

// distinct are ids in the order of their first place, each once: one has several
// texts, as 5 and 05.
type distinct struct {
	ids  []calendar.ID
	seen map[calendar.ID]struct{}
}

func newDistinct(most int) *distinct {
	return &distinct{seen: make(map[calendar.ID]struct{}, most)}
}

func (d *distinct) add(id calendar.ID) {
	if _, there := d.seen[id]; !there {
		d.seen[id] = struct{}{}
		d.ids = append(d.ids, id)
	}
}
