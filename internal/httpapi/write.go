package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/internal/httpapi/admit"
	"daybook/internal/render"
	"daybook/query"
)

// create answers POST on a collection.
func (c *call) create() error {
	return c.write(c.Commands.Create, http.StatusCreated)
}

// update answers POST, PUT and PATCH on one record.
func (c *call) update() error {
	return c.write(c.Commands.Update, http.StatusOK)
}

// write carries out a create or an update; steps 3 to 10 of section 7.2.
func (c *call) write(do func(context.Context, command.Request) (command.Result, error), status int) error {
	body, err := c.receive(maxBody)
	if err != nil {
		return err
	}
	req, err := c.writeRequest(body)
	if err != nil {
		return err
	}
	ctx, cancel := c.within(c.o.WriteDeadline) // from here on: the body may have been long in coming
	defer cancel()
	res, err := do(ctx, req)
	if err != nil {
		return err
	}
	return c.answerWrite(ctx, res, status)
}

// receive reads the body of a request, without a slot: it may be long in coming.
func (c *call) receive(limit int64) ([]byte, error) {
	if c.r.ContentLength == 0 || c.r.ContentLength > limit {
		return readBody(c.w, c.r, limit)
	}
	size := c.r.ContentLength
	if size < 0 {
		size = limit
	}
	if !c.pass.Enter(admit.Body, max(size, admit.LeastBody)) {
		return nil, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	body, err := readBody(c.w, c.r, limit)
	if err == nil && !c.pass.Enter(admit.Work, 1) {
		return nil, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	return body, err
}

// writeRequest makes the command of a request with a body. The general right was
// checked before.
func (c *call) writeRequest(body []byte) (command.Request, error) {
	fields := calendar.SpecOf(c.route.kind)
	isList := func(name string) bool { // sent twice in a form, all values of a list count
		field := fields.Field(name)
		return field != nil && strings.HasPrefix(field.Declared, "array")
	}
	read := func(pairs []pair) calendar.Input { return inputOf(pairs, isList, "cost") }
	in, err := decodeBody(c.r.Header.Get(headerType), body, read)
	if err != nil {
		return command.Request{}, err
	}
	req := c.command(merge(read(c.query), in))
	if value, sent := req.Input["multilang_language"]; sent {
		selector, _ := value.(string)
		c.lang = c.loc.lang
		if lang, ok := calendar.ParseLang(selector); ok {
			c.lang = lang
		}
	}
	if key := c.r.Header.Get(headerKey); key != "" {
		if isPrintable(key) && len(key) <= maxKey {
			req.Key = key
			req.Fingerprint = fingerprint(c.r, body)
		} else {
			req.Extra = append(req.Extra, calendar.FieldError{Field: headerKey, Reason: calendar.ReasonHeaderKey})
		}
	}
	return req, nil
}

// command makes the command of a request from its input.
func (c *call) command(in calendar.Input) command.Request {
	req := command.Request{
		Kind: c.route.kind, Input: in, Lang: c.loc.lang, Caller: c.caller,
		Cause: eventstore.Cause{Client: shorten(c.r.UserAgent()), Request: c.id[0]},
	}
	req.Extra = invalidPairs(c.query)
	reason, bad := reasonOf(in, c.r.Header)
	if req.Cause.Reason = reason; bad != nil {
		req.Extra = append(req.Extra, *bad)
	}
	if c.route.Single {
		t := c.targetOf()
		req.Target = command.Target{ID: t.id, Slug: t.slug}
		req.IfMatch = matchVersions(c.r.Header)
	}
	return req
}

// delete answers DELETE: its body is ignored.
func (c *call) delete() error {
	in := merge(inputOf(c.query, nil), nil)
	res, err := c.Commands.Delete(c.r.Context(), c.command(in))
	if err != nil {
		return err
	}
	return c.answerWrite(c.r.Context(), res, http.StatusOK)
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
func (c *call) answerWrite(ctx context.Context, res command.Result, status int) error {
	c.lang = res.Lang
	var moment query.Moment
	if res.Replayed {
		moment.Own = res.Record.Changed
	} else if c.r.Method != http.MethodDelete || res.Record.Kind.IsPost() { // a deleted term is shown as it was
		c.pass.Enter(admit.Wait, 1)
		c.Queries.AwaitCounts(ctx, res.Record, res.Position)
		c.pass.Resume()
	}
	var view query.View
	rendered := func(embeds query.Embeds, answer render.Answer) ([]byte, error) {
		answer.Links, answer.Lang = &c.root.Links, res.Lang
		return written(func(data []byte) (_ []byte, err error) {
			if view, err = c.Queries.View(ctx, c.caller, res.Record, res.Lang, embeds, moment); err != nil {
				return data, err
			}
			return c.renderer.Writer(answer).Record(data, &view)
		})
	}
	body, err := rendered(query.EmbedAll, render.Answer{Limit: c.o.MaxAnswer})
	if errors.Is(err, query.ErrTooLarge) {
		body, err = rendered(query.EmbedCategories|query.EmbedTags, render.Answer{Bare: true})
	}
	if err != nil {
		return fmt.Errorf("view %s %d after its write: %w", res.Record.Kind, res.Record.ID, err)
	}
	header := c.w.Header()
	header[headerETag] = []string{c.recordTag(c.root, res.Lang, &view, nil)}
	header[headerPosition] = []string{res.Position.String()}
	if status == http.StatusCreated {
		header[headerLocation] = []string{c.root.Self(res.Record)}
	}
	if res.Replayed {
		header[headerReplayed] = valueTrue
	}
	c.sendJSON(status, body)
	return nil
}
