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
func (call *call) targetOf() target {
	if call.route.bySlug {
		slug := call.chi.URLParam("slug")
		if plain, err := url.PathUnescape(slug); err == nil {
			slug = plain
		}
		return target{slug: strings.ToLower(slug)}
	}
	n, err := strconv.ParseInt(call.chi.URLParam("id"), 10, 64)
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
		Param: param.Param{Name: "format", In: "query", Type: "string", Text: "arg.format", Enum: formats.Names(func(format *formats.Format) bool { return format.Single || format.Disposition == "" }), Extension: true},
		Read: func(_ *singleParams, value *param.Value) {
			if word, ok := value.Raw(); ok {
				value.Known(calendar.Trim(word))
			}
		},
	}
	singlePassword = param.Row[singleParams]{
		Param: param.Param{Name: "password", In: "query", Type: "string", Text: "arg.password.read", Schema: passwordSchema},
		Read: func(params *singleParams, value *param.Value) {
			text, _ := value.Raw()
			params.password = calendar.Trim(text) // as where it is set
			if utf8.RuneCountInString(params.password) > calendar.MaxPassword {
				value.Refuse(calendar.ReasonTooLong, strconv.Itoa(calendar.MaxPassword))
			}
		},
	}
	singlePoint  = param.Param{Name: history.ParamPoint, In: "query", Type: "string", Text: "arg.as_of.single", Extension: true, Schema: object{"minLength": 1}}
	singleFields = param.Row[singleParams]{
		Param: param.Param{Name: "_fields", In: "query", Type: "array of string", Text: "arg.fields", Extension: true},
		Read:  func(params *singleParams, value *param.Value) { params.fields = value.Fields() },
	}
)

// readSingleParams checks the parameters of a single read, and the point in time that it
// asks for.
func (call *call) readSingleParams(asksPast bool) (out singleParams, err error) {
	var problems calendar.Problems
	input := call.query.Input(func(name string) bool { return name == singleFields.Name })
	value := param.NewValue(input, &problems)
	if call.route.kind == calendar.KindEvent {
		singleFormat.ReadFrom(value, &out)
		if !call.route.bySlug {
			singlePassword.ReadFrom(value, &out)
		}
	}
	if asksPast {
		if out.point, out.byHeader, err = call.readPoint(input, &problems); err != nil {
			return out, err
		}
	}
	call.lang = value.Language(call.loc.lang)
	singleFields.ReadFrom(value, &out)
	return out, problems.Err()
}

// readRecord answers a single read by id or slug.
func (call *call) readRecord() error {
	asksPast, err := call.asksPast()
	if err != nil {
		return err
	}
	params, err := call.readSingleParams(asksPast)
	if err != nil {
		return err
	}
	if format := call.formatOf(call.request.Header); format.exports() && !asksPast {
		call.format = format
		params.fields = nil
	}
	if asksPast {
		return call.readThen(&params)
	}
	q := &question{smaller: []string{"_fields"}}
	q.make = func(ctx context.Context, _ answerState) (*answer, error) { return call.makeSingle(ctx, &params) }
	if call.caller.Role == calendar.Anonymous && params.password == "" { // those with a password share no answer
		call.shareSingle(call.request.Context(), &params, q)
	}
	return call.read(q)
}

// singleAnswer renders a record that was changed at a time, or returns query.ErrTooLarge.
func (call *call) singleAnswer(singleParams *singleParams, view *query.View, changed time.Time) (*answer, error) {
	writer := call.renderer.Writer(render.Answer{Links: &call.root.Links, Lang: call.lang, LD: true, Fields: singleParams.fields, Limit: call.o.MaxAnswer})
	body, err := written(func(data []byte) ([]byte, error) {
		data, err := writer.Record(data, view)
		if len(data) > call.o.MaxAnswer {
			err = query.ErrTooLarge
		}
		return data, err
	})
	if err != nil {
		return nil, err
	}
	var fields []string
	if singleParams.fields != nil {
		fields = slices.Sorted(slices.Values(singleParams.fields))
	}
	ans := newAnswer(body, valueJSON, call.recordTag(call.root, call.lang, view, fields), call.lang)
	ans.add(headerModified, changed.UTC().Format(http.TimeFormat))
	return ans, nil
}

// shareSingle lets others share the answer to a single read: an anonymous one without a
// password, by the record as asked for, the head of the store and the state of the read
// model (for counts and due publications). While one of these cannot be had, or the read
// model lags behind the store, nothing is shared.
func (call *call) shareSingle(ctx context.Context, singleParams *singleParams, question *question) {
	head, err := call.Records.Head(ctx)
	if err != nil {
		return
	}
	generation, err := call.Queries.Generation(ctx)
	if err != nil || generation.Position < head {
		return
	}
	question.state = func(context.Context) (query.Generation, error) { return generation, nil }
	question.moves, question.space, question.number = true, singleKey, int64(head)
	target := call.targetOf()
	question.asked = call.asked().Number(int64(call.lang)).Number(int64(target.id)).Text(target.slug).Texts(singleParams.fields)
}

// makeSingle makes the answer to a single read.
func (call *call) makeSingle(ctx context.Context, singleParams *singleParams) (*answer, error) {
	target := call.targetOf()
	verify := func(ctx context.Context, id calendar.ID) (bool, error) {
		return call.tryPassword(ctx, id, singleParams.password)
	}
	embeds := query.EmbedsOf(singleParams.fields)
	if call.format != nil {
		embeds |= query.EmbedTouched
	}
	view, err := call.Queries.Read(ctx, call.route.kind, target.id, target.slug, call.caller, call.lang, embeds, verify)
	if err != nil {
		return nil, err
	}
	if call.format != nil {
		return call.singleEvent(ctx, &view)
	}
	ans, err := call.singleAnswer(singleParams, &view, view.Record.Changed)
	if err == nil && call.route.Timed && call.mayReadPast() == nil {
		ans.add(headerLink, resourceLinks(call.root.Self(view.Record)))
	}
	return ans, err
}
