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
	_ = call.readParams(call.route.params)
	if asksPast {
		if err := call.readPoint(); err != nil {
			return err
		}
	}
	if err := call.invalid(); err != nil {
		return err
	}
	question := &question{smaller: []string{"_fields"}, make: call.single}
	if asksPast {
		question.make = call.then
		return call.read(question)
	}
	if call.format = call.formatOf(); call.feed() {
		call.fields = nil
	}
	if call.caller.Role == calendar.Anonymous && call.password == "" { // those with a password share no answer
		call.share(question)
	}
	return call.read(question)
}

// recordAnswer renders a record that was changed at a time, or returns query.ErrTooLarge.
func (call *call) recordAnswer(view *query.View, changed time.Time) (*answer, error) {
	answer, err := call.showRecord(view, render.Answer{LD: true, Fields: call.fields, Limit: call.MaxAnswer})
	if err == nil {
		answer.add(headerModified, changed.UTC().Format(http.TimeFormat))
	}
	return answer, err
}

// share lets others share the answer to a single read: an anonymous one without a
// password, by the record as asked for, the head of the store and the state of the read
// model (for counts and due publications). While one of these cannot be had, or the read
// model lags behind the store, nothing is shared.
func (call *call) share(question *question) {
	head, err := call.Records.Head(call.context)
	if err != nil {
		return
	}
	generation, err := call.Queries.Generation(call.context)
	if err != nil || generation.Position < head {
		return
	}
	call.state, question.moves, question.asked = generation, true, call.asked().Number(int64(head)).Number(int64(call.language)).Number(int64(call.target.ID)).Text(call.target.Slug).Texts(call.fields)
}

// single makes the answer to a single read.
func (call *call) single(ctx context.Context) (*answer, error) {
	embeds := query.EmbedsOf(call.fields)
	if call.feed() {
		embeds |= query.EmbedTouched
	}
	view, err := call.Queries.Read(ctx, call.route.Kind, call.target.ID, call.target.Slug, call.caller, call.language, embeds, call.opens(call.password))
	if err != nil {
		return nil, err
	}
	if call.feed() {
		return call.singleEvent(ctx, &view)
	}
	answer, err := call.recordAnswer(&view, view.Record.Changed)
	if err == nil && call.route.Timed && call.mayReadPast() == nil {
		answer.add(headerLink, resourceLinks(call.root.Self(view.Record)))
	}
	return answer, err
}

// opens returns what reports whether a password that the request brings opens an event. Every way
// to send one leads here, so that wrong ones are counted together.
func (call *call) opens(password string) func(context.Context, calendar.ID) (bool, error) {
	return func(ctx context.Context, event calendar.ID) (bool, error) {
		return call.tries.Try(ctx, &call.pass, event, password, call.Commands.CheckPassword)
	}
}
