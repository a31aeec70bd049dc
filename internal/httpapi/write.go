package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/internal/httpapi/admit"
	"daybook/internal/param"
	"daybook/internal/render"
	"daybook/query"
)

// create answers POST on a collection.
func (call *call) create() error {
	return call.write(call.Commands.Create, http.StatusCreated)
}

// update answers POST, PUT and PATCH on one record.
func (call *call) update() error {
	return call.write(call.Commands.Update, http.StatusOK)
}

// write carries out a create or an update; steps 3 to 10 of section 7.2.
func (call *call) write(do func(context.Context, command.Request) (command.Result, error), status int) error {
	body, err := call.receive(maxBody)
	if err != nil {
		return err
	}
	req, err := call.writeRequest(body)
	if err != nil {
		return err
	}
	ctx, cancel := call.within(call.o.WriteDeadline) // from here on: the body may have been long in coming
	defer cancel()
	res, err := do(ctx, req)
	if err != nil {
		return err
	}
	return call.answerWrite(ctx, res, status)
}

// writeRequest makes the command of a request with a body. The general right was
// checked before.
func (call *call) writeRequest(body []byte) (command.Request, error) {
	fields := calendar.SpecOf(call.route.kind)
	isList := func(name string) bool { // sent twice in a form, all values of a list count
		field := fields.Field(name)
		return field != nil && strings.HasPrefix(field.Declared, "array")
	}
	input, err := param.DecodeBody(call.request.Header.Get(headerType), body, isList, "cost")
	if err != nil {
		return command.Request{}, err
	}
	req := call.command(merge(call.query.Input(isList, "cost"), input))
	var reported calendar.Problems // by the decision
	call.lang = calendar.Language(req.Input, call.loc.lang, &reported)
	if key := call.request.Header.Get(headerKey); key != "" {
		if isPrintable(key) && len(key) <= maxKey {
			req.Key = key
			req.Fingerprint = fingerprint(call.request, body)
		} else {
			req.Extra = append(req.Extra, calendar.FieldError{Field: headerKey, Reason: calendar.ReasonHeaderKey})
		}
	}
	return req, nil
}

// command makes the command of a request from its input.
func (call *call) command(input calendar.Input) command.Request {
	req := command.Request{
		Kind: call.route.kind, Input: input, Lang: call.loc.lang, Caller: call.caller,
		Cause: eventstore.Cause{Client: shorten(call.request.UserAgent()), Request: call.id[0]},
	}
	req.Extra = call.query.Invalid()
	reason, bad := reasonOf(input, call.request.Header)
	if req.Cause.Reason = reason; bad != nil {
		req.Extra = append(req.Extra, *bad)
	}
	if call.route.Single {
		target := call.targetOf()
		req.Target = command.Target{ID: target.id, Slug: target.slug}
		req.IfMatch = matchVersions(call.request.Header)
	}
	return req
}

// delete answers DELETE: its body is ignored.
func (call *call) delete() error {
	input := merge(call.query.Input(nil), nil)
	res, err := call.Commands.Delete(call.request.Context(), call.command(input))
	if err != nil {
		return err
	}
	return call.answerWrite(call.request.Context(), res, http.StatusOK)
}

// merge puts the body over the query and takes out what only the path may say.
func merge(query, body calendar.Input) calendar.Input {
	input := make(calendar.Input, len(query)+len(body))
	maps.Copy(input, query)
	maps.Copy(input, body)
	delete(input, "id")
	return input
}

// fingerprint names a request for its idempotency key: method, path, query and
// body. A request line holds no line breaks. It is kept with receipts, so its form
// stays.
func fingerprint(request *http.Request, body []byte) [32]byte {
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "%s\n%s\n%s\n", request.Method, request.URL.EscapedPath(), request.URL.RawQuery)
	_, _ = hash.Write(body)
	return [32]byte(hash.Sum(nil))
}

// shorten keeps the beginning of a user agent.
func shorten(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}

// answerWrite answers what a write did. The record is the one that the write made, also
// when a repeated request is answered; all that it links to, and counts, are those of now.
// The write is done: where there is no room to wait for the counts the request keeps its
// slot, and an answer that would be larger than it may is given without the venues and
// organizers, as a sparse record.
func (call *call) answerWrite(ctx context.Context, res command.Result, status int) error {
	call.lang = res.Lang
	var moment query.Moment
	if res.Replayed {
		moment.Own = res.Record.Changed
	} else if call.request.Method != http.MethodDelete || res.Record.Kind.IsPost() { // a deleted term is shown as it was
		_ = call.pass.Enter(admit.Wait, 1)
		call.Queries.AwaitCounts(ctx, res.Record, res.Position)
		call.pass.Resume()
	}
	var view query.View
	rendered := func(embeds query.Embeds, answer render.Answer) ([]byte, error) {
		answer.Links, answer.Lang = &call.root.Links, res.Lang
		return written(func(data []byte) (_ []byte, err error) {
			if view, err = call.Queries.View(ctx, call.caller, res.Record, res.Lang, embeds, moment); err != nil {
				return data, err
			}
			return call.renderer.Writer(answer).Record(data, &view)
		})
	}
	body, err := rendered(query.EmbedAll, render.Answer{Limit: call.o.MaxAnswer})
	if errors.Is(err, query.ErrTooLarge) {
		body, err = rendered(query.EmbedCategories|query.EmbedTags, render.Answer{Bare: true})
	}
	if err != nil {
		return fmt.Errorf("view %s %d after its write: %w", res.Record.Kind, res.Record.ID, err)
	}
	ans := newAnswer(body, valueJSON, call.recordTag(call.root, res.Lang, &view, nil), res.Lang)
	ans.status = status
	ans.show(res.Position)
	if status == http.StatusCreated {
		ans.add(headerLocation, call.root.Self(res.Record))
	}
	if res.Replayed {
		ans.add(headerReplayed, "true")
	}
	return call.sendAnswer(ans)
}
