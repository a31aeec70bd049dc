package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
)

// sourceLists tells which parameters of the source of calendar widgets are lists.
var sourceLists = func() map[string]bool {
	t := map[string]bool{}
	for _, p := range query.SourceParams() {
		t[p.Name] = p.IsList()
	}
	return t
}()

// calendarSource answers the events of a range as an array for calendar widgets.
func (a *api) calendarSource(w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	ctx := r.Context()
	least, refused := minPosition(r.Header)
	var criteria *query.Criteria
	err := a.inTurn(ctx, r, c, a.turns, func() (err error) {
		criteria, err = a.Queries.Parse(ctx, query.Request{
			Kind: calendar.KindEvent, Input: inputOf(c.query, func(name string) bool { return sourceLists[name] }), Lang: c.loc.lang, Caller: c.caller, Source: true,
		})
		return err
	})
	if err = withProblem(err, refused); err != nil {
		return err
	}
	c.lang = criteria.Lang
	ctx, end, err := a.whenReached(ctx, c, least)
	if err != nil {
		return err
	}
	defer end()
	generation, err := a.reachedState(ctx, c)
	if err != nil {
		return err
	}
	key := c.key(listKey, generation, 0, c.asked().Number(int64(c.route.number)).Text(criteria.Key))
	if ans, ok := a.answers.Get(key); ok {
		c.cache = CacheHit
		return a.sendAnswer(w, r, ans)
	}
	if err := a.knowStore(ctx); err != nil {
		return err
	}
	var selection *query.Whole
	err = a.inTurn(ctx, r, c, a.turns, func() (err error) {
		selection, _, err = a.reachedWhole(ctx, c, criteria)
		return err
	})
	if err != nil {
		return err
	}
	defer selection.Close()
	n := 0
	ctx = under(ctx) // it may take as long as the client takes it
	if err := selection.Survey(ctx, func(r *calendar.Record) {
		if criteria.Shows(r) {
			n++
		}
	}); err != nil {
		return err
	}
	if n > a.o.CalendarLimit {
		return &calendar.Error{Code: calendar.CodeSelectionTooLarge, Total: n, Limit: a.o.CalendarLimit}
	}
	answerOf := func(body []byte) *answer {
		ans := newAnswer(body, valueJSON, a.weakTag(key), criteria.Lang)
		ans.show(selection.Position())
		for _, names := range a.totals {
			ans.add(names[0], strconv.Itoa(n))
		}
		return ans
	}
	out := &sending{a: a, w: w, r: r, c: c, ans: answerOf(nil), b: *takeBuffer()}
	e := &entries{a: a, root: c.root, lang: criteria.Lang, zone: criteria.Zone()}
	err = out.write(e, func(use func(*query.View) error) error {
		return selection.Each(ctx, func(v *query.View) error {
			if !criteria.Shows(v.Record) {
				return nil
			}
			return use(v)
		})
	})
	if err != nil || out.begun {
		return out.close(err) //nolint:contextcheck // a workContext stands on the context of the request
	}
	ans := answerOf(out.b)
	if now, err := a.Queries.Generation(ctx); err == nil && now == generation && ans.position >= now.Position && r.Method == http.MethodGet {
		a.keepAnswer(key, ans)
	}
	return a.sendAnswer(w, r, ans)
}

// entries writes the elements of the array.
type entries struct {
	a     *api
	root  *root
	lang  calendar.Lang
	zone  *time.Location // nil: that of each event
	n     int
	event formats.Event
}

func (e *entries) begin(b []byte) []byte { return append(b, '[') }
func (e *entries) end(b []byte) []byte   { return append(b, ']') }

func (e *entries) item(b []byte, v *query.View) ([]byte, error) {
	b = appendComma(b, e.n)
	e.n++
	e.a.show(&e.event, e.root, e.lang, v)
	t := &e.event.Times
	start, end := e.time(t.Start, t.UTCStart), e.time(t.End, t.UTCEnd)
	if t.AllDay {
		start, end = t.Start.UTC().Format(time.DateOnly), t.End.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	}
	return e.event.Entry(b, e.lang, start, end), nil
}

// time gives a time in the zone of the answer.
func (e *entries) time(w, utc calendar.Wall) string {
	if e.zone == nil {
		return string(formats.AppendInstant(nil, w, utc))
	}
	if e.zone == time.UTC {
		return utc.UTC().Format("2006-01-02T15:04:05Z")
	}
	return string(formats.AppendInstant(nil, calendar.WallOf(time.Unix(int64(utc), 0).In(e.zone)), utc))
}
