package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/history"
	"daybook/internal/param"
	"daybook/internal/render"
	"daybook/query"
)

// target is the record that a path names.
type target struct {
	id   calendar.ID // 0 when it is no id that can be
	slug string      // "" on routes by id
}

// targetOf reads the record from the path; a slug is percent-decoded and
// lower-cased (3.7).
func (c *call) targetOf() target {
	if c.route.bySlug {
		slug := c.chi.URLParam("slug")
		if plain, err := url.PathUnescape(slug); err == nil {
			slug = plain
		}
		return target{slug: strings.ToLower(slug)}
	}
	n, err := strconv.ParseInt(c.chi.URLParam("id"), 10, 64)
	if err != nil {
		n = 0
	}
	return target{id: calendar.ID(n)}
}

// singleParams are the parameters of a single read (5.2).
type singleParams struct {
	password string
	fields   []string // nil: all
	point    history.Point
	byHeader bool // Accept-Datetime names the point
}

// readSingleParams checks the parameters of a single read, and the point in time that it
// asks for.
func (a *api) readSingleParams(r *http.Request, c *call, asksPast bool) (singleParams, error) {
	var (
		out      singleParams
		problems calendar.Problems
	)
	in := inputOf(c.query, func(name string) bool { return name == "_fields" })
	if c.route.kind == calendar.KindEvent {
		if word, sent := textParam(in, "format", &problems); sent && !slices.Contains(singleFormats, calendar.Trim(word)) {
			problems.Add("format", calendar.ReasonWord, strings.Join(singleFormats, ","))
		}
	}
	if c.route.kind == calendar.KindEvent && !c.route.bySlug {
		switch v := in["password"].(type) {
		case nil:
		case string:
			out.password = calendar.Trim(v) // as where it is set
			if len([]rune(out.password)) > calendar.MaxPassword {
				problems.Add("password", calendar.ReasonTooLong, strconv.Itoa(calendar.MaxPassword))
			}
		default:
			problems.Add("password", calendar.ReasonTypeText)
		}
	}
	if asksPast {
		var err error
		if out.point, out.byHeader, err = a.readPoint(r, c, in, &problems); err != nil {
			return out, err
		}
	}
	c.lang = calendar.Language(in, c.loc.lang, &problems)
	fieldsRow.ReadFrom(param.NewValue(in, &problems), &out)
	return out, problems.Err()
}

// fieldsRow are the fields that a single read shows.
var fieldsRow = param.Row[singleParams]{
	Param: param.Param{Name: "_fields", In: "query", Type: "array of string", Text: "arg.fields", Extension: true},
	Read:  func(p *singleParams, v *param.Value) { p.fields = v.Fields() },
}

// single is a single read whose parameters are checked.
type single struct {
	kind   calendar.Kind
	target target
	singleParams
	root   *root
	lang   calendar.Lang
	caller calendar.Caller
	r      *http.Request // those with a password share no answer
	// mementos tells that the answer names those of the record.
	mementos bool
	format   *format // nil: JSON
}

// singleFormats are the formats of single events.
var singleFormats = formats.Names(func(f *formats.Format) bool { return f.Single || f.Disposition == "" })

// readRecord answers a single read by id or slug.
func (a *api) readRecord(w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	asksPast := false
	if c.route.past {
		var err error
		if asksPast, err = a.asksPast(r, c); err != nil {
			return err
		}
	}
	params, err := a.readSingleParams(r, c, asksPast)
	if err != nil {
		return err
	}
	if f := a.formatOf(c, r.Header); f.exports() && !asksPast {
		c.format = f
		params.fields = nil
	}
	s := single{
		kind: c.route.kind, target: c.targetOf(), singleParams: params,
		root: c.root, lang: c.lang, caller: c.caller, r: r,
		mementos: c.route.timed && a.mayReadPast(c) == nil,
		format:   c.format,
	}
	if asksPast {
		return a.readThen(w, r, &s)
	}
	q := &question{smaller: []string{"_fields"}}
	q.make = func(ctx context.Context, _ stated) (*answer, error) { return a.makeSingle(ctx, &s) }
	if s.caller.Role == calendar.Anonymous && s.password == "" {
		a.shareSingle(r.Context(), c, &s, q)
	}
	return a.read(w, r, c, q)
}

// singleAnswer renders a record that was changed at a time, or returns query.ErrTooLarge.
func (a *api) singleAnswer(s *single, v *query.View, changed time.Time) (*answer, error) {
	w := a.renderer.Writer(render.Answer{Links: &s.root.Links, Lang: s.lang, LD: true, Fields: s.fields, Limit: a.o.MaxAnswer})
	body, err := written(func(b []byte) ([]byte, error) {
		b, err := w.Record(b, v)
		if len(b) > a.o.MaxAnswer {
			err = query.ErrTooLarge
		}
		return b, err
	})
	if err != nil {
		return nil, err
	}
	var fields []string
	if s.fields != nil {
		fields = slices.Sorted(slices.Values(s.fields))
	}
	ans := newAnswer(body, valueJSON, a.recordTag(s.root, s.lang, v, fields), s.lang)
	ans.add(headerModified, changed.UTC().Format(http.TimeFormat))
	return ans, nil
}

// shareSingle lets others share the answer to a single read: an anonymous one without a
// password, by the record as asked for, the head of the store and the state of the read
// model (for counts and due publications). While one of these cannot be had, or the read
// model lags behind the store, nothing is shared.
func (a *api) shareSingle(ctx context.Context, c *call, s *single, q *question) {
	head, err := a.Records.Head(ctx)
	if err != nil {
		return
	}
	generation, err := a.Queries.Generation(ctx)
	if err != nil || generation.Position < head {
		return
	}
	q.state = func(context.Context, *call) (query.Generation, error) { return generation, nil }
	q.moves, q.space, q.number = true, singleKey, int64(head)
	q.asked = c.asked().Number(int64(s.lang)).Number(int64(s.target.id)).Text(s.target.slug).Texts(s.fields)
}

// makeSingle makes the answer to a single read.
func (a *api) makeSingle(ctx context.Context, s *single) (*answer, error) {
	verify := func(ctx context.Context, id calendar.ID) (bool, error) {
		return a.tryPassword(ctx, s.r, id, s.password)
	}
	embeds := query.EmbedsOf(s.fields)
	if s.format != nil {
		embeds |= query.EmbedTouched
	}
	v, err := a.Queries.Read(ctx, s.kind, s.target.id, s.target.slug, s.caller, s.lang, embeds, verify)
	if err != nil {
		return nil, err
	}
	if s.format != nil {
		return a.singleEvent(ctx, s, &v)
	}
	ans, err := a.singleAnswer(s, &v, v.Record.Changed)
	if err == nil && s.mementos {
		ans.add(headerLink, resourceLinks(s.root.Self(v.Record)))
	}
	return ans, err
}
