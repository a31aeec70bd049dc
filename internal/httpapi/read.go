package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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

// The parameters of single reads. The point in time is read by readPoint.
var (
	singleFormat = param.Row[singleParams]{
		Param: param.Param{Name: "format", In: "query", Type: "string", Text: "arg.format", Enum: formats.Names(func(f *formats.Format) bool { return f.Single || f.Disposition == "" }), Extension: true},
		Read: func(_ *singleParams, v *param.Value) {
			if word, ok := v.Raw(); ok {
				v.Known(calendar.Trim(word))
			}
		},
	}
	singlePassword = param.Row[singleParams]{
		Param: param.Param{Name: "password", In: "query", Type: "string", Text: "arg.password.read", Schema: passwordSchema},
		Read: func(p *singleParams, v *param.Value) {
			text, _ := v.Raw()
			p.password = calendar.Trim(text) // as where it is set
			if utf8.RuneCountInString(p.password) > calendar.MaxPassword {
				v.Refuse(calendar.ReasonTooLong, strconv.Itoa(calendar.MaxPassword))
			}
		},
	}
	singlePoint  = param.Param{Name: history.ParamPoint, In: "query", Type: "string", Text: "arg.as_of.single", Extension: true, Schema: object{"minLength": 1}}
	singleFields = param.Row[singleParams]{
		Param: param.Param{Name: "_fields", In: "query", Type: "array of string", Text: "arg.fields", Extension: true},
		Read:  func(p *singleParams, v *param.Value) { p.fields = v.Fields() },
	}
)

// readSingleParams checks the parameters of a single read, and the point in time that it
// asks for.
func (c *call) readSingleParams(asksPast bool) (out singleParams, err error) {
	var problems calendar.Problems
	in := inputOf(c.query, func(name string) bool { return name == singleFields.Name })
	value := param.NewValue(in, &problems)
	if c.route.kind == calendar.KindEvent {
		singleFormat.ReadFrom(value, &out)
		if !c.route.bySlug {
			singlePassword.ReadFrom(value, &out)
		}
	}
	if asksPast {
		if out.point, out.byHeader, err = c.readPoint(in, &problems); err != nil {
			return out, err
		}
	}
	c.lang = value.Language(c.loc.lang)
	singleFields.ReadFrom(value, &out)
	return out, problems.Err()
}

// readRecord answers a single read by id or slug.
func (c *call) readRecord() error {
	asksPast, err := c.asksPast()
	if err != nil {
		return err
	}
	params, err := c.readSingleParams(asksPast)
	if err != nil {
		return err
	}
	if format := c.formatOf(c.r.Header); format.exports() && !asksPast {
		c.format = format
		params.fields = nil
	}
	if asksPast {
		return c.readThen(&params)
	}
	q := &question{smaller: []string{"_fields"}}
	q.make = func(ctx context.Context, _ stated) (*answer, error) { return c.makeSingle(ctx, &params) }
	if c.caller.Role == calendar.Anonymous && params.password == "" { // those with a password share no answer
		c.shareSingle(c.r.Context(), &params, q)
	}
	return c.read(q)
}

// singleAnswer renders a record that was changed at a time, or returns query.ErrTooLarge.
func (c *call) singleAnswer(p *singleParams, view *query.View, changed time.Time) (*answer, error) {
	writer := c.renderer.Writer(render.Answer{Links: &c.root.Links, Lang: c.lang, LD: true, Fields: p.fields, Limit: c.o.MaxAnswer})
	body, err := written(func(data []byte) ([]byte, error) {
		data, err := writer.Record(data, view)
		if len(data) > c.o.MaxAnswer {
			err = query.ErrTooLarge
		}
		return data, err
	})
	if err != nil {
		return nil, err
	}
	var fields []string
	if p.fields != nil {
		fields = slices.Sorted(slices.Values(p.fields))
	}
	ans := newAnswer(body, valueJSON, c.recordTag(c.root, c.lang, view, fields), c.lang)
	ans.add(headerModified, changed.UTC().Format(http.TimeFormat))
	return ans, nil
}

// shareSingle lets others share the answer to a single read: an anonymous one without a
// password, by the record as asked for, the head of the store and the state of the read
// model (for counts and due publications). While one of these cannot be had, or the read
// model lags behind the store, nothing is shared.
func (c *call) shareSingle(ctx context.Context, p *singleParams, q *question) {
	head, err := c.Records.Head(ctx)
	if err != nil {
		return
	}
	generation, err := c.Queries.Generation(ctx)
	if err != nil || generation.Position < head {
		return
	}
	q.state = func(context.Context) (query.Generation, error) { return generation, nil }
	q.moves, q.space, q.number = true, singleKey, int64(head)
	of := c.targetOf()
	q.asked = c.asked().Number(int64(c.lang)).Number(int64(of.id)).Text(of.slug).Texts(p.fields)
}

// makeSingle makes the answer to a single read.
func (c *call) makeSingle(ctx context.Context, p *singleParams) (*answer, error) {
	of := c.targetOf()
	verify := func(ctx context.Context, id calendar.ID) (bool, error) {
		return c.tryPassword(ctx, id, p.password)
	}
	embeds := query.EmbedsOf(p.fields)
	if c.format != nil {
		embeds |= query.EmbedTouched
	}
	view, err := c.Queries.Read(ctx, c.route.kind, of.id, of.slug, c.caller, c.lang, embeds, verify)
	if err != nil {
		return nil, err
	}
	if c.format != nil {
		return c.singleEvent(ctx, &view)
	}
	ans, err := c.singleAnswer(p, &view, view.Record.Changed)
	if err == nil && c.route.Timed && c.mayReadPast() == nil {
		ans.add(headerLink, resourceLinks(c.root.Self(view.Record)))
	}
	return ans, err
}
