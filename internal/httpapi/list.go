package httpapi

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/ground/cache"
	"daybook/internal/param"
	"daybook/query"
	"daybook/query/readmodel"
)

// list answers a list (section 4).
func (call *call) list() error {
	call.format = call.formatOf()
	asksPast, err := call.asksPast()
	if err != nil {
		return err
	}
	if asksPast {
		call.format = &formats.JSON
		return call.listThen()
	}
	alias, cached := call.aliased()
	if cached != nil {
		call.cache = CacheHit
		return call.sendAnswer(cached)
	}
	if call.ServeStale {
		call.lastGood = call.key(lastKey, query.Generation{}, int64(call.caller.ID), call.asked().Text(call.request.URL.RawQuery))
	}
	notFound := call.findOf() // reported when the parameters are good
	return call.ask(query.Request{Caller: call.caller}, notFound, &question{
		smaller: []string{"per_page", "_fields"}, alias: alias, streams: call.feed(),
		make: func(ctx context.Context) (*answer, error) { return call.runList(ctx, "") },
	})
}

// asksPast reports whether a read names a point in time, by the parameter or by the header,
// and whether the caller may. Answers to it are those of the past from then on.
func (call *call) asksPast() (asks bool, err error) {
	if call.byHeader = !call.route.Past || !call.sends(param.AsOf); call.byHeader {
		asks = call.route.Timed && call.request.Header.Get(headerAcceptTime) != "" && call.mayReadPast() == nil
	} else {
		asks, err = true, call.mayReadPast()
	}
	if asks {
		call.fresh = valueAskBack
	}
	return asks, err
}

// sends reports whether the query has a parameter.
func (call *call) sends(name string) bool {
	for _, pair := range call.query {
		if base, _ := param.SplitName(pair.Name); base == name {
			return true
		}
	}
	return false
}

// aliased names the answer to the query string of a list at this second, so that it is found
// without reading parameters, and returns it where it is cached. "": whether there is one hangs on
// more than that.
func (call *call) aliased() (alias string, reply *answer) {
	if call.caller.Role != calendar.Anonymous || call.route.Of != 0 || call.request.Header.Get(headerMinPosition) != "" {
		return "", nil
	}
	generation, err := call.Queries.Generation(call.context)
	if err != nil {
		return "", nil
	}
	alias = call.key(aliasKey, generation, call.Now().Unix(), call.asked().Text(call.request.URL.RawQuery))
	if named, ok := call.answers.Get(alias); ok {
		reply, _ = call.answers.Get(named.key)
	}
	return alias, reply
}

// runList makes the answer to a list: on one page, but for feeds that name none. original is the
// URL of the list of the present that one of the past is of.
func (call *call) runList(ctx context.Context, original string) (*answer, error) {
	if call.feed() && !call.criteria.Paged {
		return call.whole(ctx)
	}
	list, err := call.lists.Run(ctx, call.criteria)
	if err != nil {
		return nil, err
	}
	l := &listing{list: list}
	if original != "" {
		l.addLink(originalLink(original))
	}
	if call.feed() {
		if err := call.dress(ctx, l); err != nil {
			return nil, err
		}
	}
	return call.encode(l, call.weakTag(call.cacheKey))
}

// ask reads the parameters of a list of the present state, and answers the question for it.
func (call *call) ask(request query.Request, refused error, question *question) error {
	call.sent = call.readPosition(headerMinPosition)
	request = call.listRequest(request)
	request.Refused = call.problems.Fields
	if err := cmp.Or(call.parse(request), refused); err != nil {
		return err
	}
	call.language = call.criteria.Lang
	question.lists, question.moves, question.turns, question.asked = true, true, call.turns, call.askedFor()
	if question.streams = question.streams && !call.criteria.Paged; call.criteria.LooksUp {
		question.alias = ""
	}
	return call.read(question)
}

// reachedState returns the state that lists show. Where another generation of the read
// model answers than the one that was waited for, it waits for that one.
func (call *call) reachedState() (query.Generation, error) {
	for {
		generation, err := call.Queries.Generation(call.context)
		if err != nil || generation.Position >= call.reached {
			return generation, err
		}
		_, err = call.await(calendar.Caller{}, call.reached)
		if problem, ok := errors.AsType[*calendar.Error](err); ok && problem.Code == calendar.CodePositionNotReached && call.late(generation.Position) == nil {
			call.reached, err = call.sent, nil
		}
		if err != nil {
			return generation, err
		}
	}
}

// late is the error of an answer that is older than what was waited for: it is refused
// only where that was asked for by its position.
func (call *call) late(position calendar.Position) error {
	if position < call.sent {
		return refusal(calendar.CodePositionNotReached)
	}
	return nil
}

// parse reads the parameters of a list, in the turn of the client: names may be many.
func (call *call) parse(request query.Request) error {
	leave, err := call.pass.Turn(call.context, call.turns, false)
	if err != nil {
		return err
	}
	defer leave()
	criteria, err := call.lists.Parse(call.context, request)
	if err != nil {
		return err
	}
	if call.feed() {
		criteria.Embeds |= query.EmbedTouched
		if !call.format.Facets {
			criteria.Facets = nil
		}
	}
	call.criteria = criteria
	return nil
}

// listRequest completes the request of a list as the read side takes it.
func (call *call) listRequest(request query.Request) query.Request {
	request.Kind, request.Lang = cmp.Or(call.route.Kind, calendar.KindEvent), call.location.language
	if request.Params == nil {
		request.Params = query.Params(request.Kind.Collection())
	}
	if call.record != nil {
		request.Of = query.Of{Kind: call.record.Record.Kind, ID: call.record.Record.ID}
	}
	call.input = call.query.Input(request.Params.IsList)
	request.Input = call.input
	if !call.route.Past { // other lists have no past
		delete(request.Input, param.AsOf)
	}
	return request
}

// asked begins the key of what a request asks for, whatever the state of the read
// model: its root, its route and the format. The handler adds the rest.
func (call *call) asked() cache.Key {
	key := call.root.addTo(make(cache.Key, 0, 256)).Text(call.route.Pattern)
	if call.format != nil {
		key = key.Text(call.format.Name)
	}
	if view := call.record; view != nil {
		key = key.Number(int64(view.Record.ID)).Number(int64(view.Record.Sum)).Text(string(view.Status))
	}
	return key
}

// key names an answer to what was asked under a state of the read model. All that
// is kept or made once for many stands under such a key.
func (call *call) key(space byte, generation query.Generation, now int64, asked cache.Key) string {
	var buffer [320]byte
	key := append(cache.Key(buffer[:0]), space)
	return generation.Key(key).Number(now).Join(asked).String()
}

// sentLastGood sends the last good answer in the place of an error that says that the read model
// is out of reach, where the operator allows it, and reports whether it did.
func (call *call) sentLastGood(err error) bool {
	if call.lastGood == "" || !errors.Is(err, readmodel.ErrUnavailable) {
		return false
	}
	answer, ok := call.answers.Get(call.lastGood)
	if !ok || answer.position < call.sent {
		return false
	}
	call.cache = CacheStale
	call.header[headerWarning] = []string{`110 - "Response is Stale"`}
	return call.sendAnswer(answer) == nil
}

// readPosition reads a header that names a position: 0 where it was not sent, the greatest one for
// one beyond all.
func (call *call) readPosition(name string) calendar.Position {
	text := call.request.Header.Get(name)
	if text != "" && !calendar.IsDigits(text) {
		call.problems.Add(name, calendar.ReasonHeaderPosition)
		return 0
	}
	number, _ := strconv.ParseUint(text, 10, 63)
	return calendar.Position(number)
}

// maxLinks bounds the header Link, in bytes. Each of its links holds all that the
// client sent, and many clients and proxies take no header beyond 8 KiB: above it
// the links stand in the body alone.
const maxLinks = 8 << 10

// addLink adds a link to the header where that has room for it.
func (listing *listing) addLink(link string) {
	if link == "" || len(listing.links)+len(link) > maxLinks {
		return
	}
	if listing.links != "" {
		listing.links += ", "
	}
	listing.links += link
}

// address is that of the list, without its query (4.3).
func (call *call) address() string {
	address := call.root.Collection(call.route.Kind)
	if call.record != nil {
		address = call.root.Self(call.record.Record) + "/" + calendar.KindEvent.Collection()
	}
	if call.route.Ended {
		return address + "." + call.format.Name
	}
	return address + "/"
}

// link fills in the links of a list to its pages (4.3); one in steps has that to the next one.
func (call *call) link(listing *listing) {
	criteria, list, address := call.criteria, listing.list, call.address()
	urls, page, steps := param.LinksTo(address, criteria.Links), criteria.Page, criteria.Walk != nil
	listing.Self = cmp.Or(listing.Self, urls.Page(page))
	var links []string
	add := func(rel, url string) { links = append(links, "<"+url+`>; rel="`+rel+`"`) }
	switch {
	case !steps && page < list.TotalPages:
		listing.Next = urls.Page(page + 1)
	case steps && list.Next != "":
		next := param.LinksTo(address, criteria.LinksOf(list.Next))
		listing.Next = next.Page(1)
	}
	if listing.Next != "" {
		add("next", listing.Next)
	}
	if !steps && page > 1 {
		if listing.Previous = urls.Page(page - 1); page-1 <= list.TotalPages {
			add("prev", listing.Previous)
		}
	}
	if !steps && list.Total > 0 {
		add("first", urls.Page(1))
		add("last", urls.Page(list.TotalPages))
	}
	listing.addLink(strings.Join(links, ", "))
}
