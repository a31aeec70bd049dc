package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/ground/cachekey"
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
	ctx := r.Context()
	k := c.route.kind
	least, badPosition := minPosition(r.Header)
	known := c.caller.Role != calendar.Anonymous

	// Without anything to wait for, the same query string in the same second
	// and state has the same answer: it need not be parsed again.
	generation, err := a.Queries.Generation(ctx)
	now := a.o.Now().Unix()
	alias := ""
	if err == nil && !known && least == 0 && badPosition == nil {
		alias = c.key(aliasKey, generation, now, c.asked().Text(r.URL.RawQuery))
		if ans := a.answers.get(alias); ans != nil {
			c.cache = CacheHit
			return a.sendAnswer(w, r, ans)
		}
	}

	var criteria *query.Criteria
	parseErr := a.inTurn(ctx, r, c, a.turns, func() (err error) {
		criteria, err = a.Queries.Parse(ctx, query.Request{
			Kind: k, Input: inputOf(c.query, func(name string) bool { return listNames[k][name] }), Lang: c.loc.lang, Caller: c.caller,
		})
		return err
	})
	if parseErr = withProblem(parseErr, badPosition); parseErr != nil {
		return a.staleOr(w, r, parseErr)
	}
	c.lang = criteria.Lang
	if known || least > 0 {
		if err := a.await(ctx, c, least); err != nil {
			return a.staleOr(w, r, err)
		}
		work := a.workContext(ctx, c, a.o.ReadDeadline)
		defer work.end()
		ctx = work //nolint:contextcheck // a workContext stands on the context of the request
	}
	if known || least > 0 || err != nil {
		if generation, err = a.Queries.Generation(ctx); err != nil {
			return a.staleOr(w, r, err)
		}
	}
	asked := c.asked().Text(criteria.Key)
	key := c.key(listKey, generation, 0, asked)
	// What was never asked for will hardly be asked for again in this state:
	// sending it from where it was written costs less than keeping it.
	keep := a.o.ServeStale || a.asked.before(key[len(key)-len(asked):])
	var (
		buffer *[]byte // of who has the turn: there are more who wait for it
		ans    *answer
		out    ready
	)
	defer func() {
		if buffer != nil {
			giveBuffer(buffer)
		}
	}()
	// The turn comes before it makes a list for others too: they are not to wait for it.
	err = a.inTurn(ctx, r, c, a.turns, func() (err error) {
		buffer = takeBuffer()
		ans, err = a.once(ctx, c, key, keep, func(ctx context.Context) (*answer, error) {
			made, err := a.makeList(ctx, buffer, c.root, criteria, key)
			if err == nil {
				made.passing = a.passed(ctx, generation)
			}
			return made, err
		})
		if err == nil {
			out, err = a.readyFor(r, ans)
		}
		return err
	})
	if err != nil {
		return a.staleOr(w, r, a.tooLarge(err, "per_page", "_fields"))
	}
	if keep && !ans.passing && alias != "" && !criteria.LooksUp {
		a.answers.set(alias, ans)
	}
	if a.o.ServeStale {
		a.answers.set(c.lastGoodKey(r), ans)
	}
	return a.sendReady(w, r, &out)
}

// await waits until lists show what the caller is to see, without a slot.
func (a *api) await(ctx context.Context, c *call, least calendar.Position) error {
	if !c.pass.enter(stageWait, 1) {
		return calendar.Fail(calendar.CodeUnavailable, 0)
	}
	defer c.pass.resume()
	wait := a.workContext(ctx, c, a.o.PositionWait+a.o.ReadDeadline)
	defer wait.end()
	return a.Queries.Await(wait, c.caller, least) //nolint:contextcheck // a workContext stands on the context of the request
}

// asked begins the key of what a request asks for, whatever the state of the read
// model: its root and its kind. The handler adds the rest.
func (c *call) asked() cachekey.Key {
	return make(cachekey.Key, 0, 256).Text(c.root.key).Number(int64(c.route.kind))
}

// key names an answer to what was asked under a state of the read model. All that
// is kept or made once for many stands under such a key.
func (c *call) key(space byte, g query.Generation, now int64, asked cachekey.Key) string {
	var buffer [320]byte
	k := append(cachekey.Key(buffer[:0]), space)
	return g.Key(k).Number(now).Join(asked).String()
}

// lastGoodKey names the last good answer of a request, whatever the state.
func (c *call) lastGoodKey(r *http.Request) string {
	return c.key(lastKey, query.Generation{}, int64(c.caller.ID), c.asked().Text(r.URL.RawQuery))
}

// staleOr answers with the last good answer when the read model is out of reach
// and the operator allows it, else with the error.
func (a *api) staleOr(w http.ResponseWriter, r *http.Request, err error) error {
	if !a.o.ServeStale || !errors.Is(err, readmodel.ErrUnavailable) {
		return err
	}
	ans := a.answers.get(callOf(r).lastGoodKey(r))
	if ans == nil {
		return err
	}
	callOf(r).cache = CacheStale
	w.Header()[headerWarning] = []string{`110 - "Response is Stale"`}
	return a.sendAnswer(w, r, ans)
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

// makeList runs a list and writes its envelope (4.1) into a buffer, where the
// body of the answer stays.
func (a *api) makeList(ctx context.Context, buffer *[]byte, rt *root, criteria *query.Criteria, key string) (*answer, error) {
	list, err := a.appendItems(ctx, buffer, rt, criteria)
	if err != nil {
		return nil, err
	}
	b := *buffer
	links := pageLinks(rt, criteria, list)
	b = append(b, `],"rest_url":`...)
	b = appendString(b, links.self)
	b = appendFilled(b, `,"next_rest_url":`, links.next, &plainSafe)
	b = appendFilled(b, `,"previous_rest_url":`, links.previous, &plainSafe)
	b = append(b, `,"total":`...)
	b = strconv.AppendInt(b, int64(list.Total), 10)
	b = append(b, `,"total_pages":`...)
	b = strconv.AppendInt(b, int64(list.TotalPages), 10)
	b = append(b, '}')
	*buffer = b

	ans := newAnswer(b, a.weakTag(key), criteria.Lang)
	ans.add(headerPosition, list.Position.String())
	total, pages := strconv.Itoa(list.Total), strconv.Itoa(list.TotalPages)
	for _, names := range a.totals {
		ans.add(names[0], total)
		ans.add(names[1], pages)
	}
	if links.header != "" {
		ans.add(headerLink, links.header)
	}
	return ans, nil
}

// appendItems runs a list and writes its envelope up to the last record.
func (a *api) appendItems(ctx context.Context, buffer *[]byte, rt *root, criteria *query.Criteria) (*query.List, error) {
	list, err := a.Queries.Run(ctx, criteria)
	if err != nil {
		return nil, err
	}
	p := renderer{a: a, root: rt, lang: criteria.Lang, fields: fieldSet(criteria.Fields)}
	b := append(append((*buffer)[:0], `{"`...), criteria.Kind.Collection()...)
	b = append(b, `":[`...)
	for i := range list.Views {
		if b, err = p.appendItem(appendComma(b, i), &list.Views[i]); err != nil {
			return nil, err
		}
	}
	*buffer = b
	return list, nil
}

// appendItem writes a record of a list. It gives query.ErrTooLarge when the answer gets
// larger than it may.
func (p *renderer) appendItem(b []byte, v *query.View) ([]byte, error) {
	from := len(b)
	p.limit = p.a.o.MaxAnswer
	if p.fields != nil {
		p.limit += from // most of the record goes again
	}
	b = p.appendView(b, v)
	if p.fields != nil {
		b = append(b[:from], keepFields(b[from:], p.fields)...)
	}
	if p.over || len(b) > p.a.o.MaxAnswer {
		return b, query.ErrTooLarge
	}
	return b, nil
}

// maxLinks bounds the header Link, in bytes. Each of its links holds all that the
// client sent, and many clients and proxies take no header beyond 8 KiB: above it
// the links stand in the body alone.
const maxLinks = 8 << 10

// pageSet are the links of one page of a list (4.3).
type pageSet struct{ self, next, previous, header string }

func pageLinks(rt *root, criteria *query.Criteria, list *query.List) pageSet {
	links := query.LinksTo(rt.collection(criteria.Kind)+"/", criteria.Links)
	page := criteria.Page
	set := pageSet{self: links.Page(page)}
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
