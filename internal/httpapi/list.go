package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/history"
	"daybook/query"
	"daybook/query/readmodel"
)

// listNames tells for each kind which parameters of its list are lists.
var listNames = func() (t [len(pages)]map[string]bool) {
	for _, k := range calendar.Kinds {
		t[k] = map[string]bool{}
		for _, p := range query.Params(k) {
			t[k][p.Name] = p.IsList()
		}
	}
	return t
}()

// list answers a list (section 4).
func (a *api) list(w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	c.format = a.formatOf(c, r.Header)
	asksPast := false
	if c.route.past {
		var err error
		if asksPast, err = a.asksPast(r, c); err != nil {
			return err
		}
	}
	if asksPast {
		c.format = a.formats[0]
		ans, err := a.findListThen(r, c)
		if err != nil {
			return a.tooLarge(err, "per_page", "_fields")
		}
		return a.sendAnswer(w, r, ans)
	}
	ans, whole, err := a.findList(r, c)
	if whole != nil {
		return a.sendWhole(w, r, whole)
	}
	if err != nil {
		if ans = a.lastGood(w, r, c, err); ans == nil {
			return a.tooLarge(err, "per_page", "_fields")
		}
	}
	return a.sendAnswer(w, r, ans)
}

// waitsFor tells whether a list is to show something first: the writes of a caller with
// credentials, or a position that was sent.
func waitsFor(c *call, least calendar.Position) bool {
	return c.caller.Role != calendar.Anonymous || least > 0
}

// whenReached waits until a list shows what it is to show, and gives the context of the
// work that begins then, which has to be ended.
func (a *api) whenReached(ctx context.Context, c *call, least calendar.Position) (_ context.Context, end func(), err error) {
	if !waitsFor(c, least) {
		return ctx, func() {}, nil
	}
	c.sent = least
	if c.reached, err = a.await(ctx, c, c.caller, least); err != nil {
		return ctx, nil, err
	}
	work := a.workContext(ctx, c, a.o.ReadDeadline)
	return work, work.end, nil
}

// reachedState gives the state that lists show. Where another generation of the read
// model answers than the one that was waited for, it waits for that one.
func (a *api) reachedState(ctx context.Context, c *call) (query.Generation, error) {
	for {
		g, err := a.Queries.Generation(ctx)
		if err != nil || g.Position >= c.reached {
			return g, err
		}
		_, err = a.await(ctx, c, calendar.Caller{}, c.reached)
		if e, ok := errors.AsType[*calendar.Error](err); ok && e.Code == calendar.CodePositionNotReached && c.late(g.Position) == nil {
			c.reached, err = c.sent, nil
		}
		if err != nil {
			return g, err
		}
	}
}

// reopens is how often an answer is made again that shows another state than lists do
// by then.
const reopens = 3

// shared gives the answer to a list in the state that lists show: one that is cached, else
// produce makes it, in the turn of the client, once for all who ask. It is not older than
// what was waited for, as the state may be another one by the time that it is made.
func (a *api) shared(ctx context.Context, r *http.Request, c *call, space byte, asked cache.Key, keep bool,
	produce func(ctx context.Context, state query.Generation, key string) (*answer, error),
) (ans *answer, err error) {
	// What was never asked for will hardly be asked for again in this state:
	// sending it from where it was written costs less than keeping it.
	keep = a.asked.before(asked.String()) || keep
	for try := 0; ; try++ {
		state, err := a.reachedState(ctx, c)
		if err != nil {
			return nil, err
		}
		key := c.key(space, state, 0, asked)
		// The turn comes before it makes a list for others too: they are not to wait for it.
		err = a.inTurn(ctx, r, c, a.turns, func() (err error) {
			ans, err = a.once(ctx, c, key, &state, keep, func(ctx context.Context) (*answer, error) { return produce(ctx, state, key) })
			if err != nil {
				return err
			}
			// In this turn, as what is made is larger than what is sent: were it to wait for
			// another one, all who wait would hold both.
			return a.pack(r, c, ans)
		})
		if err != nil || ans.position >= c.reached {
			return ans, err
		}
		if try == reopens {
			return ans, c.late(ans.position)
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

// findList gives the answer to a list: one that is kept, else the parameters are read,
// the read model is asked, and what it found is written in the format of the request. One
// that is answered whole is given back, to be sent as it is made.
func (a *api) findList(r *http.Request, c *call) (*answer, *whole, error) {
	ctx := r.Context()
	least, refused := minPosition(r.Header)
	waits := waitsFor(c, least)
	unfit := a.findOf(ctx, c) // told when the parameters are good

	// Without anything to wait for, the same query string in the same second
	// and state has the same answer: it need not be parsed again.
	generation, err := a.Queries.Generation(ctx)
	alias := ""
	if err == nil && !waits && refused == nil && unfit == nil {
		alias = c.key(aliasKey, generation, a.o.Now().Unix(), c.asked().Text(r.URL.RawQuery))
		if ans, ok := a.aliased(alias); ok {
			c.cache = CacheHit
			return ans, nil, nil
		}
	}
	criteria, bad := a.parse(ctx, r, c, c.listRequest(), a.Queries.Parse)
	if bad = withProblem(bad, refused); bad != nil {
		return nil, nil, bad
	}
	c.lang = criteria.Lang
	if unfit != nil {
		return nil, nil, unfit
	}
	ctx, end, late := a.whenReached(ctx, c, least)
	if late != nil {
		return nil, nil, late
	}
	defer end()
	asked := a.askedFor(c, criteria)
	if c.feed() && !criteria.Paged {
		if generation, err = a.reachedState(ctx, c); err != nil {
			return nil, nil, err
		}
		return nil, &whole{c: c, criteria: criteria, generation: generation, asked: asked}, nil
	}
	ans, err := a.shared(ctx, r, c, listKey, asked, a.o.ServeStale, func(ctx context.Context, state query.Generation, key string) (*answer, error) {
		list, err := a.Queries.Run(ctx, criteria)
		if err != nil {
			return nil, err
		}
		l := &listing{root: c.root, criteria: criteria, list: list, address: c.address()}
		if c.feed() {
			if err := a.dress(ctx, c, l, state); err != nil {
				return nil, err
			}
		}
		return a.encode(c, l, a.weakTag(key))
	})
	if err != nil {
		return nil, nil, err
	}
	if alias != "" && ans.key != "" && !criteria.LooksUp {
		a.keepAlias(alias, ans)
	}
	if a.o.ServeStale {
		a.answers.Set(c.lastGoodKey(r), ans)
	}
	return ans, nil, nil
}

// parse reads the parameters of a list, in the turn of the client: names may be many.
func (a *api) parse(ctx context.Context, r *http.Request, c *call, q query.Request, by func(context.Context, query.Request) (*query.Criteria, error)) (criteria *query.Criteria, err error) {
	err = a.inTurn(ctx, r, c, a.turns, func() (err error) {
		criteria, err = by(ctx, q)
		return err
	})
	if err == nil && c.feed() {
		criteria.Touch()
		if !c.format.facets() {
			criteria.WithoutFacets()
		}
	}
	return criteria, err
}

// listRequest is the request of a list as the read side takes it.
func (c *call) listRequest() query.Request {
	k := c.route.kind
	in := inputOf(c.query, func(name string) bool { return listNames[k][name] })
	if !c.route.past { // other lists have no past
		delete(in, history.ParamPoint)
	}
	return query.Request{Kind: k, Input: in, Lang: c.loc.lang, Caller: c.caller, Of: c.of()}
}

// await waits until lists show what a caller is to see, without a slot, and gives the
// position that was reached.
func (a *api) await(ctx context.Context, c *call, of calendar.Caller, least calendar.Position) (calendar.Position, error) {
	if !c.pass.enter(stageWait, 1) {
		return 0, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	defer c.pass.resume()
	wait := a.workContext(ctx, c, a.o.PositionWait+a.o.ReadDeadline)
	defer wait.end()
	return a.Queries.Await(wait, of, least) //nolint:contextcheck // a workContext stands on the context of the request
}

// asked begins the key of what a request asks for, whatever the state of the read
// model: its root, its kind and the format. The handler adds the rest.
func (c *call) asked() cache.Key {
	k := make(cache.Key, 0, 256).Text(c.root.key).Number(int64(c.route.kind))
	if c.format != nil {
		k = k.Text(c.format.name)
	}
	if c.route != nil && (c.route.of != 0 || c.route.ended) {
		k = k.Number(int64(c.route.number))
	}
	if v := c.record; v != nil {
		k = k.Number(int64(v.Record.ID)).Number(int64(v.Record.Sum)).Text(string(v.Status))
	}
	return k
}

// key names an answer to what was asked under a state of the read model. All that
// is kept or made once for many stands under such a key.
func (c *call) key(space byte, g query.Generation, now int64, asked cache.Key) string {
	var buffer [320]byte
	k := append(cache.Key(buffer[:0]), space)
	return g.Key(k).Number(now).Join(asked).String()
}

// lastGoodKey names the last good answer of a request, whatever the state.
func (c *call) lastGoodKey(r *http.Request) string {
	return c.key(lastKey, query.Generation{}, int64(c.caller.ID), c.asked().Text(r.URL.RawQuery))
}

// lastGood gives the last good answer of a request when an error says that the read
// model is out of reach and the operator allows it; else nil.
func (a *api) lastGood(w http.ResponseWriter, r *http.Request, c *call, err error) *answer {
	if !a.o.ServeStale || !errors.Is(err, readmodel.ErrUnavailable) {
		return nil
	}
	least, _ := minPosition(r.Header)
	ans, ok := a.answers.Get(c.lastGoodKey(r))
	if !ok || ans.position < least {
		return nil
	}
	c.cache = CacheStale
	w.Header()[headerWarning] = []string{`110 - "Response is Stale"`}
	return ans
}

// minPosition reads Daybook-Min-Position (2.10).
func minPosition(h http.Header) (calendar.Position, *calendar.FieldError) {
	v := h.Get(headerMinPosition)
	if v == "" {
		return 0, nil
	}
	if !calendar.IsDigits(v) {
		return 0, &calendar.FieldError{Field: headerMinPosition, Reason: calendar.ReasonHeaderPosition}
	}
	n, err := strconv.ParseUint(v, 10, 63)
	if err != nil {
		n = 1<<63 - 1 // beyond every position: waits in vain
	}
	return calendar.Position(n), nil
}

// withProblem adds a problem to what parsing found, so that all are named at
// once.
func withProblem(err error, problem *calendar.FieldError) error {
	if problem == nil {
		return err
	}
	if err == nil {
		return &calendar.Error{Code: calendar.CodeInvalidParam, Fields: []calendar.FieldError{*problem}}
	}
	if e, ok := errors.AsType[*calendar.Error](err); ok && e.Code == calendar.CodeInvalidParam {
		both := *e
		both.Fields = append(slices.Clone(e.Fields), *problem)
		return &both
	}
	return err
}

// maxLinks bounds the header Link, in bytes. Each of its links holds all that the
// client sent, and many clients and proxies take no header beyond 8 KiB: above it
// the links stand in the body alone.
const maxLinks = 8 << 10

// pageSet are the links of one page of a list (4.3).
type pageSet struct{ self, next, previous, header string }

// with gives the header Link with other links before those of the pages.
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
	links := query.LinksTo(address, criteria.Links)
	page := criteria.Page
	set := pageSet{self: links.Page(page)}
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
	var header strings.Builder
	header.Grow(4 * (len(set.self) + len(`<>; rel="first", page=1000000&`)))
	add := func(url, rel string) {
		if header.Len() > 0 {
			header.WriteString(", ")
		}
		header.WriteByte('<')
		header.WriteString(url)
		header.WriteString(`>; rel="`)
		header.WriteString(rel)
		header.WriteByte('"')
	}
	if page < list.TotalPages {
		set.next = links.Page(page + 1)
		add(set.next, "next")
	}
	if page > 1 {
		set.previous = links.Page(page - 1)
		if page-1 <= list.TotalPages {
			add(set.previous, "prev")
		}
	}
	if list.Total > 0 {
		add(links.Page(1), "first")
		add(links.Page(list.TotalPages), "last")
		if header.Len() <= maxLinks {
			set.header = header.String()
		}
	}
	return set
}
