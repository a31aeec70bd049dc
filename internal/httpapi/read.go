package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/internal/render"
	"daybook/query"
)

// targetOf reads the record that the path names, with the id 0 where it is none that can be; a slug
// is percent-decoded and lower-cased (3.7).
func (call *call) targetOf() (target command.Target) {
	if !call.route.bySlug {
		if id, err := strconv.ParseInt(cmp.Or(call.chi.URLParam("id"), "0"), 10, 64); err == nil {
			target.ID = calendar.ID(id)
		}
		return target
	}
	slug := call.chi.URLParam("slug")
	if plain, err := url.PathUnescape(slug); err == nil {
		slug = plain
	}
	return command.Target{Slug: strings.ToLower(slug)}
}

// readRecord answers a single read by id or slug (5.2).
func (call *call) readRecord() error {
	asksPast, err := call.asksPast()
	if err != nil {
		return err
	}
	asked := call.readParams(call.route.params)
	if asksPast {
		if asked.point, asked.byHeader, err = call.readPoint(asked.input, &asked.problems); err != nil {
			return err
		}
	}
	if err := asked.err(); err != nil {
		return err
	}
	question := &question{smaller: []string{"_fields"}, make: asked.single}
	if asksPast {
		question.make = asked.then
		return call.read(question)
	}
	if call.format = call.formatOf(); call.feed() {
		asked.fields = nil
	}
	if call.caller.Role == calendar.Anonymous && asked.password == "" { // those with a password share no answer
		asked.share(question)
	}
	return call.read(question)
}

// recordAnswer renders a record that was changed at a time, or returns query.ErrTooLarge.
func (asked *readParams) recordAnswer(view *query.View, changed time.Time) (*answer, error) {
	answer, err := asked.showRecord(view, render.Answer{LD: true, Fields: asked.fields, Limit: asked.MaxAnswer})
	if err == nil {
		answer.add(headerModified, changed.UTC().Format(http.TimeFormat))
	}
	return answer, err
}

// share lets others share the answer to a single read: an anonymous one without a
// password, by the record as asked for, the head of the store and the state of the read
// model (for counts and due publications). While one of these cannot be had, or the read
// model lags behind the store, nothing is shared.
func (asked *readParams) share(question *question) {
	head, err := asked.Records.Head(asked.context)
	if err != nil {
		return
	}
	generation, err := asked.Queries.Generation(asked.context)
	if err != nil || generation.Position < head {
		return
	}
	asked.state, question.moves, question.asked = generation, true, asked.asked().Number(int64(head)).Number(int64(asked.language)).Number(int64(asked.target.ID)).Text(asked.target.Slug).Texts(asked.fields)
}

// single makes the answer to a single read.
func (asked *readParams) single(ctx context.Context) (*answer, error) {
	embeds := query.EmbedsOf(asked.fields)
	if asked.feed() {
		embeds |= query.EmbedTouched
	}
	view, err := asked.Queries.Read(ctx, asked.route.kind, asked.target.ID, asked.target.Slug, asked.caller, asked.language, embeds, asked.opens(asked.password))
	if err != nil {
		return nil, err
	}
	if asked.feed() {
		return asked.singleEvent(ctx, &view)
	}
	answer, err := asked.recordAnswer(&view, view.Record.Changed)
	if err == nil && asked.route.Timed && asked.mayReadPast() == nil {
		answer.add(headerLink, resourceLinks(asked.root.Self(view.Record)))
	}
	return answer, err
}
