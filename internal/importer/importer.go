// Package importer applies changes from a file as ordinary commands, in order,
// under their original times and authors.
//
// The form is NDJSON, plain or gzip: one JSON object on a line.
//
//	{"action":"create","kind":"venue","key":"hall","at":"2024-03-01T09:00:00Z",
//	 "author":"ann","fields":{"venue":"Hall","city":"Rome"}}
//	{"action":"create","kind":"event","key":"e1","at":1709290000,"author":"bob",
//	 "fields":{"title":"Concert","start_date":"2024-05-01","end_date":"2024-05-01",
//	 "venue":{"key":"hall"},"tags":["Open air"]}}
//	{"action":"update","kind":"event","key":"e1","fields":{"title":"Gig"}}
//	{"action":"delete","kind":"event","key":"e1"}
//
//	action  create, update, delete; put creates what the key does not name yet
//	        and updates it else
//	kind    event, venue, organizer, category, tag
//	key     the name of the record in this source; the same on all of its lines
//	id      in place of key: a record that the service has, by its id
//	at      moment of the change, RFC 3339 or Unix seconds; without it: now
//	author  name of the user who made it; without it: the user who imports
//	lang    language of the texts: cn, en (without it), fr, es
//	reason  why, for the history
//	fields  the fields of the interface (sections 3.1 to 3.4). Where the
//	        interface takes ids of records, {"key": "…"} names one of this source
//
// Unknown authors become users without a token. An update sends what it changes,
// a field that is null or empty is cleared, as on the interface.
//
// A line that cannot be applied is refused with a reason, and the others go on.
// Each record keeps the number of the last line that was applied to it, in the
// same commit as the change. So an import can be stopped anywhere, by a crash
// too, and run again: what was applied is passed over, the rest is applied. A
// source is therefore a file that only grows at its end. A refused line may be
// mended in place as long as no later line of its record was applied; after that
// it is refused, and the change belongs at the end. A line that was applied to
// a record and then changed is refused too: each change is kept with a digest of
// its line.
//
// Lines are decided one after the other and committed in groups, in the order of the
// file, while the next ones are read and decided: see ahead.
package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/port"
	"daybook/internal/access"
	"daybook/internal/texts"
)

// Authors finds the users that lines name.
type Authors interface {
	// Ensure gives the user of a name; when there is none it makes one with the
	// role and without a token. A name that no user can have is
	// access.ErrBadName.
	Ensure(ctx context.Context, name string, role calendar.Role, actor calendar.ID) (calendar.Caller, error)
}

// Options of an Importer. Source is required.
type Options struct {
	// Source names where the lines come from: 1 to 64 letters, digits, ".", "_",
	// "-". Keys belong to it.
	Source string
	// Caller is who imports: the author of lines without one, and the actor that
	// makes users.
	Caller calendar.Caller
	// Role is that of users that are made; Anonymous: Editor, because histories
	// hold changes to the posts of others.
	Role calendar.Role
	// Progress, when set, is called after every hundred lines and at the end.
	Progress func(Report)
}

// Refusal is one line that was not applied.
type Refusal struct {
	Line   int64
	Key    string
	Reason string
}

// Report says what an import did. Lines = Applied + Repeated + len(Refused).
type Report struct {
	Lines    int64 // that are not blank
	Applied  int64
	Repeated int64 // applied by an earlier run
	Refused  []Refusal
}

// Importer applies one source.
type Importer struct {
	store   port.Adapted
	service *command.Service
	authors Authors
	o       Options

	ahead    *ahead
	coming   []*line          // that were read and looked ahead at
	commands *command.Service // on what is ahead
	report   Report

	// What follows holds in one epoch of the store, that of the run.
	epoch   uint64
	callers map[string]calendar.Caller
	keys    map[string]calendar.ID // of records that lines named
}

// MaxSource is the longest name of a source, in bytes.
const MaxSource = 64

var sourceForm = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9._-]{1,%d}$`, MaxSource))

// New makes an Importer; it starts nothing. It is for one goroutine.
func New(store port.Adapted, commands *command.Service, authors Authors, o Options) (*Importer, error) {
	if !sourceForm.MatchString(o.Source) {
		return nil, fmt.Errorf("importer: source %q: must be 1 to %d letters, digits, dots, dashes and underscores", o.Source, MaxSource)
	}
	if o.Role == calendar.Anonymous {
		o.Role = calendar.Editor
	}
	if o.Progress == nil {
		o.Progress = func(Report) {}
	}
	im := &Importer{store: store, service: commands, authors: authors, o: o, callers: map[string]calendar.Caller{}}
	im.begin()
	return im, nil
}

// begin forgets what lines that were not committed left.
func (im *Importer) begin() {
	im.keys = map[string]calendar.ID{}
	if im.ahead == nil {
		im.ahead = newAhead(im.store, func() { im.report.Applied++; im.count() })
	}
	im.commands = im.service.On(port.Adapt(im.ahead))
}

// count counts a line.
func (im *Importer) count() {
	if im.report.Lines++; im.report.Lines%100 == 0 {
		im.o.Progress(im.report)
	}
}

// Run applies all lines of r, which may be gzip. It ends early only with the
// context, when the store is out of reach or goes over to another history, in which
// lines that were applied may be missing, or when r cannot be read; running it
// again goes on from there. It is for one run.
func (im *Importer) Run(ctx context.Context, r io.Reader) (Report, error) {
	in, err := Open(r)
	if err != nil {
		return im.report, err
	}
	defer func() { im.o.Progress(im.report) }()
	im.epoch = im.store.Epoch()
	reading := read(in)
	err = im.run(ctx, reading.lines)
	// What is under way ends with the run, whatever ended it.
	reading.stop()
	if im.ahead.done != nil {
		<-im.ahead.done
	}
	return im.report, err
}

// run applies lines as they come.
func (im *Importer) run(ctx context.Context, lines <-chan *line) error {
	for {
		l, err := im.next(ctx, lines)
		if err == nil && l.fault != nil {
			if err = im.settled(ctx); err == nil && !errors.Is(l.fault, io.EOF) {
				return l.fault
			}
			if err == nil && im.store.Epoch() != im.epoch {
				return lostHistory(l.n)
			}
			if err == nil { // lines that were found applied are durable, too
				return im.store.Append(ctx, []eventstore.Append{{}})[0].Err
			}
		}
		if err == nil {
			err = im.take(ctx, l)
		}
		if err != nil {
			return err
		}
	}
}

// next gives the next line. While none has come, what is decided is committed.
func (im *Importer) next(ctx context.Context, lines <-chan *line) (*line, error) {
	for len(im.coming) == 0 {
		if im.coming = arrived(lines); len(im.coming) > 0 {
			im.lookAhead(ctx)
			break
		}
		im.ahead.send(ctx)
		select {
		case l := <-lines:
			im.coming = []*line{l}
		case results := <-im.ahead.done:
			if err := im.again(ctx, im.ahead.received(results)); err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	l := im.coming[0]
	im.coming = im.coming[1:]
	if l.makes && im.ahead.coming > 0 {
		im.ahead.coming--
	}
	return l, nil
}

// arrived gives the lines that wait, up to the end.
func arrived(lines <-chan *line) (out []*line) {
	for len(out) < linesAhead && (len(out) == 0 || out[len(out)-1].fault == nil) {
		select {
		case l := <-lines:
			out = append(out, l)
		default:
			return out
		}
	}
	return out
}

// lookAhead asks the store at once for what lines that come will ask for one by one:
// whether their keys and slugs are free, and the records that they name by keys.
func (im *Importer) lookAhead(ctx context.Context) {
	var claims []calendar.Claim
	var ids []calendar.ID
	for _, l := range im.coming {
		if l.bad != nil || l.fault != nil {
			continue
		}
		key := im.keyOf(l)
		id := im.keys[key]
		switch {
		case l.ID != 0:
			ids = append(ids, l.ID)
		case id != 0:
			ids = append(ids, id)
		case key != "":
			claims = append(claims, im.claimsOf(key)...)
			l.makes = l.Action == ActionCreate || l.Action == ActionPut
		}
		if _, sent := l.Fields["slug"]; sent || l.makes {
			if slug := im.commands.SlugOf(l.kind, l.Fields); slug.Key != "" {
				claims = append(claims, slug)
			}
		}
		_, _ = replaceKeys(l.Fields, func(_, key string) (any, error) { // it gives no error
			if id := im.keys[key]; id != 0 {
				ids = append(ids, id)
			}
			return nil, nil
		})
	}
	im.ahead.ask(ctx, claims, ids)
	im.ahead.coming = 0
	for _, l := range im.coming {
		if l.makes {
			for _, c := range im.claimsOf(im.keyOf(l)) {
				holder, asked := im.ahead.asked[c]
				l.makes = l.makes && asked && holder == 0
			}
		}
		if l.makes {
			im.ahead.coming++
		}
	}
}

// claimsOf are the claims of a record that has a key, or had it and is erased.
func (im *Importer) claimsOf(key string) []calendar.Claim {
	return []calendar.Claim{calendar.ImportClaim(im.o.Source, key), calendar.HashedImportClaim(im.o.Source, key)}
}

// keyOf gives the key of a line; one that makes a record has one in any case, so that
// it is not made twice.
func (im *Importer) keyOf(l *line) string {
	if l.Action == ActionCreate && l.Key == "" {
		return fmt.Sprintf("#%d", l.n)
	}
	return l.Key
}

// take decides a line and begins to commit when there are enough.
func (im *Importer) take(ctx context.Context, l *line) error {
	err := im.decide(ctx, l)
	if errors.Is(err, errUndone) {
		im.ahead.undone = append(im.ahead.undone, l)
	}
	if err == nil && im.ahead.full() {
		if err = im.ahead.receive(); err == nil {
			im.ahead.send(ctx)
		}
	}
	return im.again(ctx, err)
}

// settled waits until all lines are committed.
func (im *Importer) settled(ctx context.Context) error {
	return im.again(ctx, im.ahead.settle(ctx))
}

// again applies lines that were not committed, each by itself, after errUndone.
func (im *Importer) again(ctx context.Context, err error) error {
	if !errors.Is(err, errUndone) {
		return err
	}
	lines := im.ahead.undone
	im.ahead.undone = nil
	im.begin()
	im.ahead.alone = true
	defer func() { im.ahead.alone = false }()
	for _, l := range lines {
		if err := im.decide(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// decide decides a line: it is refused, or found applied, or on its way to be
// committed.
func (im *Importer) decide(ctx context.Context, l *line) error {
	im.ahead.line = l
	repeated, err := im.apply(ctx, l)
	if end, ok := errors.AsType[stopped](err); ok {
		return end
	}
	if errors.Is(err, errUndone) {
		return errUndone
	}
	reason, refused := refusal(err)
	switch {
	case err != nil && !refused:
		return lineFault(l.n, err)
	case refused:
		im.report.Refused = append(im.report.Refused, Refusal{Line: l.n, Key: l.Key, Reason: reason})
	case repeated:
		im.report.Repeated++
	case im.ahead.line == nil:
		return nil // counted when it is committed
	default:
		im.report.Applied++
	}
	im.count()
	return nil
}

func lostHistory(line int64) error {
	return fmt.Errorf("import line %d: %w, in which lines may be missing: import the source again", line, eventstore.ErrHistory)
}

// apply carries out one line.
func (im *Importer) apply(ctx context.Context, l *line) (repeated bool, err error) {
	if l.bad != nil {
		return false, l.bad
	}
	r := command.Request{
		Kind: l.kind, Lang: l.lang, At: l.At.Time,
		Cause: eventstore.Cause{Client: "import", Request: fmt.Sprintf("%s:%d:%s", im.o.Source, l.n, l.digest), Reason: l.Reason},
		Mark:  &calendar.ImportMark{Source: im.o.Source, Line: l.n, Key: im.keyOf(l)},
		Epoch: im.epoch,
	}
	if r.Target.ID = l.ID; l.ID == 0 {
		if r.Target.ID, err = im.find(ctx, r.Mark.Key); err != nil {
			return false, err
		}
	}
	// First of all: what was applied needs no author, links or rights any more.
	if r.Target.ID != 0 {
		im.ahead.own = r.Target.ID
		if repeated, err = im.commands.Applied(ctx, &r); err != nil || repeated {
			return repeated, err
		}
	}
	switch l.Action {
	case ActionCreate:
		r.Target.ID = 0
	case ActionUpdate, ActionDelete:
		if r.Target.ID == 0 {
			return false, refusef("key %q: no record has it", l.Key)
		}
	}
	if r.Caller, err = im.caller(ctx, l.Author); err != nil {
		return false, err
	}
	if r.Input, err = im.input(ctx, l.Fields); err != nil {
		return false, err
	}
	im.ahead.own = r.Target.ID
	var res command.Result
	switch {
	case l.Action == ActionDelete:
		res, err = im.commands.Delete(ctx, r)
	case r.Target.ID == 0:
		res, err = im.create(ctx, r)
	default:
		res, err = im.commands.Update(ctx, r)
	}
	if err != nil {
		return false, err
	}
	if r.Mark.Key != "" {
		im.keys[r.Mark.Key] = res.Record.ID
	}
	return res.Repeated, nil
}

// create makes a record. A term of the name that is there already gets the key
// instead, so that other lines can name it.
func (im *Importer) create(ctx context.Context, r command.Request) (command.Result, error) {
	res, err := im.commands.Create(ctx, r)
	if e, ok := errors.AsType[*calendar.Error](err); ok && e.Code == calendar.CodeTermExists {
		r.Target.ID, r.Input = e.TermID, nil
		if adopted, again := im.commands.Update(ctx, r); again == nil {
			return adopted, nil
		}
	}
	return res, err
}

// caller gives the user of a name.
func (im *Importer) caller(ctx context.Context, name string) (calendar.Caller, error) {
	if name == "" {
		return im.o.Caller, nil
	}
	if c, ok := im.callers[name]; ok {
		return c, nil
	}
	// Whoever is made stands in the log behind what was done before.
	if err := im.ahead.settle(ctx); err != nil {
		return calendar.Caller{}, err
	}
	c, err := im.authors.Ensure(ctx, name, im.o.Role, im.o.Caller.ID)
	if errors.Is(err, access.ErrBadName) {
		return c, refusef("author: %v", err)
	}
	if err != nil {
		return c, err
	}
	im.callers[name] = c
	return c, nil
}

// input makes the input of a command: keys become ids.
func (im *Importer) input(ctx context.Context, fields map[string]any) (calendar.Input, error) {
	return replaceKeys(fields, func(field, key string) (any, error) {
		id, err := im.find(ctx, key)
		if err != nil {
			return nil, err
		}
		if id == 0 {
			return nil, refusef("%s: no record has the key %q", field, key)
		}
		return json.Number(id.String()), nil
	})
}

// find gives the record that a key names, 0 when there is none.
func (im *Importer) find(ctx context.Context, key string) (calendar.ID, error) {
	if id, ok := im.keys[key]; ok || key == "" {
		return id, nil
	}
	holders, _, err := im.ahead.Find(ctx, im.claimsOf(key), nil)
	if err != nil {
		return 0, fmt.Errorf("find key %q: %w", key, err)
	}
	id := cmp.Or(holders...)
	if id != 0 {
		im.keys[key] = id
	}
	return id, nil
}

// refusal gives the reason of an error that is about the line, and whether it is
// one.
func refusal(err error) (string, bool) {
	if line, ok := errors.AsType[lineError](err); ok {
		return line.Error(), true
	}
	if errors.Is(err, command.ErrImportKey) || errors.Is(err, command.ErrImportOrder) || errors.Is(err, command.ErrImportChanged) {
		return err.Error(), true
	}
	e, ok := errors.AsType[*calendar.Error](err)
	if !ok || e.Code == calendar.CodeUnavailable {
		return "", false
	}
	if len(e.Fields) == 0 {
		return texts.Message(e, calendar.LangEN), true
	}
	reasons := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		reasons[i] = texts.FieldMessage(f, calendar.LangEN)
	}
	return strings.Join(reasons, "; "), true
}
