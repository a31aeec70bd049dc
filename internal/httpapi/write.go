package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/internal/httpapi/admit"
	"daybook/internal/param"
	"daybook/internal/render"
	"daybook/query"
)

// writing returns what carries out a write, steps 3 to 10 of section 7.2, and answers it with a
// status.
func writing(do func(Commands, context.Context, command.Request) (command.Result, error), status int) work {
	return func(call *call) (err error) {
		var body []byte
		if call.request.Method != http.MethodDelete { // whose body is ignored
			if body, err = call.receive(maxBody); err != nil {
				return err
			}
		}
		request, err := call.command(body)
		if err != nil {
			return err
		}
		call.begin(call.WriteDeadline) // from here on: the body may have been long in coming
		result, err := do(call.Commands, call.context, request)
		if err != nil {
			return err
		}
		return call.answerWrite(result, status)
	}
}

// receive reads the body of a request, without a slot: it may be long in coming. More than the
// limit is 413.
func (call *call) receive(limit int64) ([]byte, error) {
	size := call.request.ContentLength
	switch {
	case size > limit:
		return nil, refusal(calendar.CodeBodyTooLarge)
	case size == 0:
		return nil, nil
	case size < 0:
		size = limit
	}
	if err := call.pass.Enter(admit.Body, max(size, admit.LeastBody)); err != nil {
		return nil, err
	}
	var buffer bytes.Buffer
	buffer.Grow(int(size) + bytes.MinRead)
	_, err := buffer.ReadFrom(http.MaxBytesReader(call.writer, call.request.Body, limit))
	_, large := errors.AsType[*http.MaxBytesError](err)
	switch late := call.context.Err(); {
	case err == nil:
		return buffer.Bytes(), call.pass.Enter(admit.Work, 1)
	case large:
		return nil, refusal(calendar.CodeBodyTooLarge)
	// After a body that is late or cut, the context has ended too; the client may
	// still be there.
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, param.BadBody("the body did not come in time")
	case late != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, late
	}
	return nil, param.BadBody("the body ended early")
}

// command makes the command of a request. The general right was checked before.
func (call *call) command(body []byte) (command.Request, error) {
	fields := calendar.SpecOf(call.route.Kind)
	isList := func(name string) bool { // sent twice in a form, all values of a list count
		field := fields.Field(name)
		return field != nil && strings.HasPrefix(field.Declared, "array")
	}
	sent, err := param.DecodeBody(call.request.Header.Get(headerType), body, isList, "cost")
	if err != nil {
		return command.Request{}, err
	}
	input := calendar.Input{} // the body wins over the query, and the path over both
	maps.Copy(input, call.query.Input(isList, "cost"))
	maps.Copy(input, sent)
	delete(input, "id")
	problems := calendar.Problems{Fields: call.query.Invalid()}
	var reported calendar.Problems // by the decision
	call.language = calendar.Language(input, call.location.language, &reported)
	request := command.Request{
		Kind: call.route.Kind, Input: input, Lang: call.location.language, Caller: call.caller,
		Cause: eventstore.Cause{Client: shorten(call.request.UserAgent()), Request: call.id[0], Reason: param.ReadReason(input, call.request.Header.Get(param.HeaderReason), &problems)},
	}
	if call.route.Single {
		request.Target, request.IfMatch = call.target, matchVersions(call.request.Header)
	}
	if key := call.request.Header.Get(headerKey); key != "" && call.request.Method != http.MethodDelete {
		if param.IsPrintable(key) && len(key) <= maxKey {
			request.Key, request.Fingerprint = key, fingerprint(call.request, body)
		} else {
			problems.Add(headerKey, calendar.ReasonHeaderKey)
		}
	}
	request.Extra = problems.Fields
	return request, nil
}

// matchVersions reads If-Match: the versions that it names, 0 for "*"; nil when
// it was not sent. What is no tag of this service fits never.
func matchVersions(header http.Header) []int64 {
	values := header["If-Match"]
	if strings.TrimSpace(strings.Join(values, ",")) == "" {
		return nil
	}
	versions := []int64{}
	for tag := range tagsOf(values) {
		if tag == "*" {
			versions = append(versions, 0)
			continue
		}
		inner, quoted := strings.CutPrefix(tag, `"`)
		number, _, marked := strings.Cut(inner, "-")
		if count, err := strconv.ParseInt(number, 10, 64); quoted && marked && err == nil && count > 0 {
			versions = append(versions, count)
		}
	}
	return versions
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
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// answerWrite answers what a write did. The record is the one that the write made, also
// when a repeated request is answered; all that it links to, and counts, are those of now.
// The write is done: where there is no room to wait for the counts the request keeps its
// slot, and an answer that would be larger than it may is given without the venues and
// organizers, as a sparse record.
func (call *call) answerWrite(result command.Result, status int) error {
	call.language = result.Lang
	var moment query.Moment
	if result.Replayed {
		moment.Own = result.Record.Changed
	} else if call.request.Method != http.MethodDelete || result.Record.Kind.IsPost() { // a deleted term is shown as it was
		_ = call.pass.Enter(admit.Wait, 1)
		call.Queries.AwaitCounts(call.context, result.Record, result.Position)
		call.pass.Resume()
	}
	show := func(embeds query.Embeds, shown render.Answer) (*answer, error) {
		view, err := call.Queries.View(call.context, call.caller, result.Record, result.Lang, embeds, moment)
		if err != nil {
			return nil, err
		}
		return call.showRecord(&view, shown)
	}
	reply, err := show(query.EmbedAll, render.Answer{Limit: call.MaxAnswer})
	if errors.Is(err, query.ErrTooLarge) {
		reply, err = show(query.EmbedCategories|query.EmbedTags, render.Answer{Bare: true})
	}
	if err != nil {
		return fmt.Errorf("view %s %d after its write: %w", result.Record.Kind, result.Record.ID, err)
	}
	reply.status = status
	reply.show(result.Position)
	if status == http.StatusCreated {
		reply.add(headerLocation, call.root.Self(result.Record))
	}
	if result.Replayed {
		reply.add(headerReplayed, "true")
	}
	return call.sendAnswer(reply)
}
