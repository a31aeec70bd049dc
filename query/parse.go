package query

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Limits of interface 9.
const (
	maxPage     = 1_000_000_000
	maxElements = 1000
	maxSearch   = 500
	maxRadius   = 20000
	defPerPage  = 10
	defRadius   = 25
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
	search string

	categories, tags, venues, organizers []calendar.ID // nil: not sent
	featured, ticketed, geoloc           sw
	near                                 *readmodel.Near
	include                              []calendar.ID // events and terms; nil: not sent
	postParent                           calendar.ID

	statuses []calendar.Status // nil: not sent

	ofEvent      bool          // event or post was sent
	linked       []calendar.ID // the records of the kind that this event links to
	hasEvents    sw
	upcomingAt   calendar.Wall // only_with_upcoming: the present second, UTC
	onlyUpcoming bool

	exclude   []calendar.ID
	orderBy   string
	desc      bool
	hideEmpty bool
	parent    calendar.ID
	slug      string
}

// parser reads the parameters of one request and collects the refused ones.
type parser struct {
	s    *Service
	in   calendar.Input
	kind calendar.Kind
	who  calendar.Caller
	lang calendar.Lang
	now  time.Time
	bad  calendar.Problems
	err  error // of a lookup, not of the request
	run  criteria

	startDefault, endDefault calendar.Wall // NoWall: no default applied
}

// Parse checks the parameters of a list request and resolves dates, names and
// ids. Refused parameters come back all at once as *calendar.Error; other errors
// are those of the store.
func (s *Service) Parse(ctx context.Context, r Request) (*Criteria, error) {
	params := Params(r.Kind)
	q := parser{
		s: s, in: r.Input, kind: r.Kind, who: r.Caller, now: s.now(),
		startDefault: calendar.NoWall, endDefault: calendar.NoWall,
	}
	q.lang = calendar.Language(r.Input, r.Lang, &q.bad)
	c := &Criteria{Kind: r.Kind, Lang: q.lang, Caller: r.Caller}
	c.Page = q.page()
	c.PerPage = q.perPage()
	c.Fields = q.fields()
	c.embeds = EmbedsOf(c.Fields)
	if text, ok := q.text("search", maxSearch); ok {
		if text == "0" {
			q.bad.Add("search", calendar.ReasonZero)
		}
		if r.Kind.IsPost() && !readmodel.ParseSearch(text, q.lang).Within() {
			q.bad.Add("search", calendar.ReasonTooMuch, strconv.Itoa(readmodel.MaxWords), strconv.Itoa(readmodel.MaxRows))
		}
		q.run.search = text
	}
	switch {
	case r.Kind == calendar.KindEvent:
		q.events(ctx)
	case r.Kind.IsPost():
		q.linkedPosts(ctx)
	default:
		q.terms(ctx)
	}
	if q.err != nil {
		return nil, q.err
	}
	if err := q.bad.Err(); err != nil {
		return nil, err
	}
	c.run = q.run
	c.Links = q.links(params, c)
	c.key = c.makeKey()
	return c, nil
}

func (q *parser) events(ctx context.Context) {
	q.dates()
	q.run.categories = q.named(ctx, "categories", calendar.KindCategory)
	q.run.tags = q.named(ctx, "tags", calendar.KindTag)
	q.run.venues = q.known(ctx, "venue", calendar.KindVenue)
	q.run.organizers = q.known(ctx, "organizer", calendar.KindOrganizer)
	q.run.featured = q.boolean("featured")
	q.status()
	q.place()
	q.run.include = q.ids("include")
	if id, ok := q.id("post_parent"); ok && q.record(ctx, "post_parent", id, calendar.KindEvent) != nil {
		q.run.postParent = id
	}
	q.run.ticketed = q.boolean("ticketed")
}

func (q *parser) linkedPosts(ctx context.Context) {
	q.ofEvent(ctx, "event")
	q.run.hasEvents = q.boolean("has_events")
	if q.boolean("only_with_upcoming") == swOn {
		q.run.onlyUpcoming = true
		q.run.upcomingAt = calendar.Wall(q.now.Unix())
	}
	q.status()
}

func (q *parser) terms(ctx context.Context) {
	q.run.exclude = q.slugs(ctx, "exclude")
	q.run.include = q.slugs(ctx, "include")
	order, _ := q.text("order", 0)
	q.run.desc = order != "" && !strings.EqualFold(order, "asc")
	q.run.orderBy, _ = q.text("orderby", 0)
	q.run.hideEmpty = q.boolean("hide_empty") != swOff
	if q.kind == calendar.KindCategory {
		if id, ok := q.id("parent"); ok && q.record(ctx, "parent", id, calendar.KindCategory) != nil {
			q.run.parent = id
		}
	}
	q.ofEvent(ctx, "post")
	q.ofEvent(ctx, "event") // checked last, so that it wins
	if text, ok := q.text("slug", 0); ok {
		q.run.slug = strings.ToLower(text)
	}
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

func (q *parser) page() int {
	text, ok := q.raw("page", calendar.ReasonTypeInteger)
	if !ok {
		return 1
	}
	n, ok := calendar.ParseNearestInt(text)
	switch {
	case !ok:
		q.bad.Add("page", calendar.ReasonTypeInteger)
	case n < 1 || n > maxPage:
		q.bad.Add("page", calendar.ReasonRange, "1", strconv.Itoa(maxPage))
	default:
		return int(n)
	}
	return 1
}

func (q *parser) perPage() int {
	text, ok := q.raw("per_page", calendar.ReasonTypeInteger)
	if !ok {
		return defPerPage
	}
	n, ok := calendar.ParseNearestInt(text)
	switch {
	case !ok:
		q.bad.Add("per_page", calendar.ReasonTypeInteger)
		return defPerPage
	case n < 1:
		q.bad.Add("per_page", calendar.ReasonTooSmall, "1")
		return defPerPage
	}
	return int(min(n, int64(q.s.o.PerPageMax)))
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
	case len(out) > maxElements:
		q.bad.Add(name, calendar.ReasonTooMany, strconv.Itoa(maxElements))
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

// fields reads _fields; empty counts as not sent.
func (q *parser) fields() []string {
	v, sent := q.in["_fields"]
	if !sent {
		return nil
	}
	out, reason := elements(v)
	switch {
	case reason != "":
		q.bad.Add("_fields", reason)
	case len(out) > maxElements:
		q.bad.Add("_fields", calendar.ReasonTooMany, strconv.Itoa(maxElements))
	case len(out) > 0:
		return out
	}
	return nil
}

// ids reads a list of ids; whether they are known does not matter.
func (q *parser) ids(name string) []calendar.ID {
	list := q.list(name)
	out := newDistinct(len(list))
	for _, e := range list {
		id, ok := calendar.ParseID(e)
		if !ok {
			q.bad.Add(name, calendar.ReasonTypeID)
			return nil
		}
		out.add(id)
	}
	return out.ids
}

// dates reads the window of interface 4.6.
func (q *parser) dates() {
	strict := q.boolean("strict_dates") == swOn
	w := newWindow()
	_, include := q.in["include"]
	sent := 0 // bit i: parameter i
	for i, e := range edges {
		text, ok := q.raw(e.name, calendar.ReasonTypeDate)
		if !ok {
			continue
		}
		sent |= 1 << i
		d, ok := calendar.ParseDate(text)
		if !ok {
			q.bad.Add(e.name, calendar.ReasonDate)
			continue
		}
		if !inYears(d, q.now, q.s.o.Site) {
			q.bad.Add(e.name, calendar.ReasonDateRange)
			continue
		}
		e.apply(&w, d, strict, q.now, q.s.o.Site)
	}
	if include {
		q.run.window = newWindow() // dates are checked, and then of no effect
		return
	}
	if sent>>2 == 0 { // none of starts_* and ends_*
		start, end := DefaultWindow(q.now, q.s.o.Site)
		if sent&1 == 0 {
			if !strict {
				start = dayOf(start)
			}
			q.startDefault = start
			w.start.raise(int64(start))
		}
		if sent&2 == 0 {
			q.endDefault = end
			w.end.lower(int64(end))
		}
	}
	q.run.window = w
}

// place reads the parameters of interface 4.8.
func (q *parser) place() {
	q.run.geoloc = q.boolean("geoloc")
	lat, haveLat := q.coordinate("geoloc_lat", 90)
	lng, haveLng := q.coordinate("geoloc_lng", 180)
	_, sentLat := q.in["geoloc_lat"]
	_, sentLng := q.in["geoloc_lng"]
	switch {
	case sentLat && !sentLng:
		q.bad.Add("geoloc_lng", calendar.ReasonPairMissing, "geoloc_lat")
	case sentLng && !sentLat:
		q.bad.Add("geoloc_lat", calendar.ReasonPairMissing, "geoloc_lng")
	}
	if q.run.geoloc == swOff && (sentLat || sentLng) {
		q.bad.Add("geoloc", calendar.ReasonGeolocConflict)
	}
	km, ok := q.number("geoloc_radius")
	if ok && (km <= 0 || km > maxRadius) {
		q.bad.Add("geoloc_radius", calendar.ReasonRangeAbove, "0", strconv.Itoa(maxRadius))
	}
	if !ok {
		km = defRadius
	}
	if haveLat && haveLng {
		q.run.near = &readmodel.Near{Field: readmodel.FieldPoint, Lat: lat, Lng: lng, Km: km}
	}
}

func (q *parser) coordinate(name string, limit float64) (float64, bool) {
	v, ok := q.number(name)
	if ok && (v < -limit || v > limit) {
		l := strconv.Itoa(int(limit))
		q.bad.Add(name, calendar.ReasonRange, "-"+l, l)
		return 0, false
	}
	return v, ok
}

// statusWords are the values of the status filter (interface 4.9).
const statusWords = "publish,future,draft,pending,private,trash"

// status reads the status filter and checks that the caller may use it.
func (q *parser) status() {
	list := q.list("status")
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
			q.bad.Add("status", calendar.ReasonStatus, statusWords)
			return
		}
	}
	if viewOf(q.who) == viewPublic && (len(out) != 1 || out[0] != calendar.StatusPublish) {
		q.bad.Add("status", calendar.ReasonStatusFilter)
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
