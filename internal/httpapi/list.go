package httpapi

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/history"
	"daybook/query"
	"daybook/query/readmodel"
)

// list answers a list (section 4).
func (c *call) list() error {
	c.format = c.formatOf(c.r.Header)
	asksPast, err := c.asksPast()
	if err != nil {
		return err
	}
	if asksPast {
		c.format = c.formats[0]
		return c.listThen()
	}
	alias := c.aliasOf()
	if ans := c.aliased(alias); ans != nil {
		c.cache = CacheHit
		return c.sendAnswer(ans)
	}
	if c.o.ServeStale {
		c.lastGood = c.lastGoodKey()
	}
	question, err := c.listNow(alias)
	if err != nil {
		return err
	}
	return c.read(question)
}

// aliasOf names the answer to the query string of a list at this second, so that the answer
// is found without reading parameters. "": whether there is one hangs on more than that.
func (c *call) aliasOf() string {
	if c.caller.Role != calendar.Anonymous || c.route.of != 0 || c.r.Header.Get(headerMinPosition) != "" {
		return ""
	}
	generation, err := c.Queries.Generation(c.r.Context())
	if err != nil {
		return ""
	}
	return c.key(aliasKey, generation, c.o.Now().Unix(), c.asked().Text(c.r.URL.RawQuery))
}

// aliased returns the answer that is cached under an alias, else nil.
func (a *api) aliased(alias string) *answer {
	if alias == "" {
		return nil
	}
	of, ok := a.answers.Get(alias)
	if !ok {
		return nil
	}
	ans, _ := a.answers.Get(of.key)
	return ans
}

// setAlias caches the key of an answer under an alias. The answer itself would stay in
// memory there when its key has gone.
func (a *api) setAlias(alias string, ans *answer) {
	if alias != "" && ans.key != "" {
		a.answers.Set(alias, &answer{key: ans.key})
	}
}

// listNow reads the parameters of a list of the present.
func (c *call) listNow(alias string) (*question, error) {
	ctx := c.r.Context()
	request := c.listRequest()
	request.Refused = c.readLeast()
	of, notFound := c.findOf(ctx) // reported when the parameters are good
	request.Of = of
	criteria, err := c.parse(ctx, request, c.Queries.Parse)
	if err != nil {
		return nil, err
	}
	c.lang = criteria.Lang
	if notFound != nil {
		return nil, notFound
	}
	q := c.present()
	q.asked, q.smaller = c.askedFor(criteria), []string{"per_page", "_fields"}
	if !criteria.LooksUp {
		q.alias = alias
	}
	if c.feed() && !criteria.Paged {
		q.streams = true
		q.make = func(ctx context.Context, of stated) (*answer, error) { return c.makeWhole(ctx, criteria, of) }
		return q, nil
	}
	q.make = c.runList(c.Queries.Run, criteria, "")
	return q, nil
}

// runList returns what makes the answer to a list, with the URL of the list of the present that
// one of the past is of.
func (c *call) runList(run func(context.Context, *query.Criteria) (*query.List, error), criteria *query.Criteria, original string) func(context.Context, stated) (*answer, error) {
	return func(ctx context.Context, of stated) (*answer, error) {
		list, err := run(ctx, criteria)
		if err != nil {
			return nil, err
		}
		l := &listing{root: c.root, criteria: criteria, list: list, address: c.address()}
		if original != "" {
			l.original = originalLink(original)
		}
		if c.feed() {
			if err := c.dress(ctx, l, of.Generation); err != nil {
				return nil, err
			}
		}
		return c.encode(l, c.weakTag(of.key))
	}
}

// ask reads the parameters of another read of the present state of events, and makes the
// question of it.
func (c *call) ask(of query.Request) (*query.Criteria, *question, error) {
	of.Kind, of.Input, of.Lang, of.Refused = calendar.KindEvent, inputOf(c.query, of.Params.IsList), c.loc.lang, c.readLeast()
	criteria, err := c.parse(c.r.Context(), of, c.Queries.Parse)
	if err != nil {
		return nil, nil, err
	}
	c.lang = criteria.Lang
	q := c.present()
	q.asked = c.asked().Number(int64(c.route.number)).Text(criteria.Key)
	return criteria, q, nil
}

// reachedState returns the state that lists show. Where another generation of the read
// model answers than the one that was waited for, it waits for that one.
func (c *call) reachedState(ctx context.Context) (query.Generation, error) {
	for {
		generation, err := c.Queries.Generation(ctx)
		if err != nil || generation.Position >= c.reached {
			return generation, err
		}
		_, err = c.await(calendar.Caller{}, c.reached)
		if e, ok := errors.AsType[*calendar.Error](err); ok && e.Code == calendar.CodePositionNotReached && c.late(generation.Position) == nil {
			c.reached, err = c.sent, nil
		}
		if err != nil {
			return generation, err
		}
	}
}

// late is the error of an answer that is older than what was waited for: it is refused
// only where that was asked for by its position.
func (c *call) late(at calendar.Position) error {
	if at < c.sent {
		return calendar.Fail(calendar.CodePositionNotReached, 0)
	}
	return nil
}

// parse reads the parameters of a list, in the turn of the client: names may be many.
func (c *call) parse(ctx context.Context, request query.Request, by func(context.Context, query.Request) (*query.Criteria, error)) (criteria *query.Criteria, err error) {
	err = c.inTurn(ctx, c.turns, func() (err error) {
		criteria, err = by(ctx, request)
		return err
	})
	if err == nil && c.feed() {
		criteria.Embeds |= query.EmbedTouched
		if !c.format.facets() {
			criteria.Facets = nil
		}
	}
	return criteria, err
}

// listRequest is the request of a list as the read side takes it.
func (c *call) listRequest() query.Request {
	kind := c.route.kind
	in := inputOf(c.query, query.Params(kind).IsList)
	if !c.route.Past { // other lists have no past
		delete(in, history.ParamPoint)
	}
	return query.Request{Kind: kind, Input: in, Lang: c.loc.lang, Caller: c.caller}
}

// asked begins the key of what a request asks for, whatever the state of the read
// model: its root, its kind and the format. The handler adds the rest.
func (c *call) asked() cache.Key {
	key := make(cache.Key, 0, 256).Text(c.root.key).Number(int64(c.route.kind))
	if c.format != nil {
		key = key.Text(c.format.Name)
	}
	if c.route != nil && (c.route.of != 0 || c.route.Ended) {
		key = key.Number(int64(c.route.number))
	}
	if view := c.record; view != nil {
		key = key.Number(int64(view.Record.ID)).Number(int64(view.Record.Sum)).Text(string(view.Status))
	}
	return key
}

// key names an answer to what was asked under a state of the read model. All that
// is kept or made once for many stands under such a key.
func (c *call) key(space byte, generation query.Generation, now int64, asked cache.Key) string {
	var buffer [320]byte
	k := append(cache.Key(buffer[:0]), space)
	return generation.Key(k).Number(now).Join(asked).String()
}

// lastGoodKey names the last good answer of a request, whatever the state.
func (c *call) lastGoodKey() string {
	return c.key(lastKey, query.Generation{}, int64(c.caller.ID), c.asked().Text(c.r.URL.RawQuery))
}

// sentLastGood sends the last good answer in the place of an error that says that the read model
// is out of reach, where the operator allows it, and reports whether it did.
func (c *call) sentLastGood(err error) bool {
	if c.lastGood == "" || !errors.Is(err, readmodel.ErrUnavailable) {
		return false
	}
	ans, ok := c.answers.Get(c.lastGood)
	if !ok || ans.position < c.sent {
		return false
	}
	c.cache = CacheStale
	c.w.Header()[headerWarning] = []string{`110 - "Response is Stale"`}
	return c.sendAnswer(ans) == nil
}

// readLeast reads Daybook-Min-Position (2.10), and returns what is wrong with it.
func (c *call) readLeast() []calendar.FieldError {
	text := c.r.Header.Get(headerMinPosition)
	if text == "" {
		return nil
	}
	if !calendar.IsDigits(text) {
		return []calendar.FieldError{{Field: headerMinPosition, Reason: calendar.ReasonHeaderPosition}}
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		n = 1<<63 - 1 // beyond every position: waits in vain
	}
	c.sent = calendar.Position(n)
	return nil
}

// maxLinks bounds the header Link, in bytes. Each of its links holds all that the
// client sent, and many clients and proxies take no header beyond 8 KiB: above it
// the links stand in the body alone.
const maxLinks = 8 << 10

// pageSet are the links of one page of a list (4.3).
type pageSet struct{ self, next, previous, header string }

// with returns the header Link with other links before those of the pages.
func (s *pageSet) with(others string) string {
	switch {
	case others == "" || len(others) > maxLinks:
		return s.header
	case s.header == "" || len(others)+len(s.header) > maxLinks:
		return others
	default:
		return others + ", " + s.header
	}
}

func pageLinks(address string, criteria *query.Criteria, list *query.List) pageSet {
	urls := query.LinksTo(address, criteria.Links)
	page := criteria.Page
	set := pageSet{self: urls.Page(page)}
	if criteria.InSteps() {
		if list.Next != "" {
			next := query.LinksTo(address, criteria.LinksOf(list.Next))
			set.next = next.Page(1)
			if header := "<" + set.next + `>; rel="next"`; len(header) <= maxLinks {
				set.header = header
			}
		}
		return set
	}
	var links []string
	add := func(url, rel string) { links = append(links, "<"+url+`>; rel="`+rel+`"`) }
	if page < list.TotalPages {
		set.next = urls.Page(page + 1)
		add(set.next, "next")
	}
	if page > 1 {
		set.previous = urls.Page(page - 1)
		if page-1 <= list.TotalPages {
			add(set.previous, "prev")
		}
	}
	if list.Total > 0 {
		add(urls.Page(1), "first")
		add(urls.Page(list.TotalPages), "last")
		if header := strings.Join(links, ", "); len(header) <= maxLinks {
			set.header = header
		}
	}
	return set
}
