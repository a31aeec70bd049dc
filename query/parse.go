package query

import (
	"cmp"
	"context"
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
