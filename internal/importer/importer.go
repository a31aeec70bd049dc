// Package importer applies changes from a file as ordinary commands, under their original
// times and authors.
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
// too, and run again: what was applied is skipped, the rest is applied. A
// source is therefore a file that only grows at its end. A refused line may be
// mended in place as long as no later line of its record was applied; after that
// it is refused, and the change belongs at the end. A line that was applied to
// a record and then changed is refused too: each change is kept with a digest of
// its line.
//
// Many lines are applied at the same time, each after those before it that name the same
// record, key or slug. Ids and positions are therefore not in the order of the file.
package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/internal/access"
	"daybook/internal/texts"
)

// Options of an Importer; all are required.
type Options struct {
	// Source names where the lines come from: 1 to 64 letters, digits, ".", "_",
	// "-". Keys belong to it.
	Source string
	// Caller is who imports: the author of lines without one, and the actor that
	// makes users.
	Caller calendar.Caller
	// Progress is called after every hundred lines and at the end.
	Progress func(Report)
}

// Refusal is one line that was not applied.
type Refusal struct {
	Line   int64  `json:"line"`
	Key    string `json:"key,omitempty"`
	Reason string `json:"reason"`
}

// Report says what an import did. Lines = Applied + Repeated + len(Refused).
type Report struct {
	Lines    int64     `json:"lines"` // that are not blank
	Applied  int64     `json:"applied"`
	Repeated int64     `json:"repeated"` // applied by an earlier run
	Refused  []Refusal `json:"refused"`
	Stopped  string    `json:"stopped,omitempty"` // why it did not come to the end of its lines
}

// Importer applies one source.
type Importer struct {
	store    eventstore.Store
	commands *command.Service
	users    *access.Users
	options  Options
	report   Report
	epoch    uint64          // history of the store that the run began in
	jobs     []*job          // that are not counted yet
	changes  map[string]*job // the last one that changes what has a name, since all were counted
}

// MaxSource is the longest name of a source, in bytes.
const MaxSource = 64

var sourceForm = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9._-]{1,%d}$`, MaxSource))

// New makes an Importer; it starts nothing.
func New(store eventstore.Store, commands *command.Service, users *access.Users, options Options) (*Importer, error) {
	if !sourceForm.MatchString(options.Source) {
		return nil, fmt.Errorf("importer: source %q: must be 1 to %d letters, digits, dots, dashes and underscores", options.Source, MaxSource)
	}
	return &Importer{store: store, commands: commands, users: users, options: options}, nil
}

// apply carries out one line.
func (importer *Importer) apply(ctx context.Context, line *line) (repeated bool, err error) {
	if line.bad != nil {
		return false, line.bad
	}
	request := command.Request{
		Kind: line.kind, Lang: line.language, At: line.At.Time, Epoch: importer.epoch,
		Cause: eventstore.Cause{Client: "import", Request: fmt.Sprintf("%s:%d:%s", importer.options.Source, line.number, line.digest), Reason: line.Reason},
		Mark:  &calendar.ImportMark{Source: importer.options.Source, Line: line.number, Key: line.key},
	}
	request.Target.ID = line.ID
	// First of all: what was applied needs no author, links or rights any more.
	if repeated, err = importer.commands.Applied(ctx, &request); repeated || err != nil {
		return repeated, err
	}
	switch {
	case line.Action == ActionCreate:
		request.Target.ID = 0
	case request.Target.ID == 0 && line.Action != ActionPut:
		return false, refusef("key %q: no record has it", line.Key)
	}
	if request.Caller = importer.options.Caller; line.Author != "" {
		request.Caller, err = importer.users.Ensure(ctx, line.Author, calendar.Editor, request.Caller.ID) // histories hold changes to the posts of others
	}
	switch {
	case errors.Is(err, access.ErrBadName):
		return false, refusef("author: %v", err)
	case err != nil:
		return false, err
	}
	if err = importer.resolve(ctx, line); err != nil {
		return false, err
	}
	request.Input = line.Fields
	write := importer.commands.Update
	switch {
	case line.Action == ActionDelete:
		write = importer.commands.Delete
	case request.Target.ID == 0:
		write = importer.create
	}
	result, err := write(ctx, request)
	return result.Repeated, err
}

// create makes a record. A term of the name that is there already gets the key
// instead, so that other lines can name it.
func (importer *Importer) create(ctx context.Context, request command.Request) (command.Result, error) {
	result, err := importer.commands.Create(ctx, request)
	if problem, ok := errors.AsType[*calendar.Error](err); ok && problem.Code == calendar.CodeTermExists {
		request.Target.ID, request.Input = problem.TermID, nil
		if adopted, again := importer.commands.Update(ctx, request); again == nil {
			return adopted, nil
		}
	}
	return result, err
}

// resolve makes the keys in a line ids.
func (importer *Importer) resolve(ctx context.Context, line *line) error {
	for field, value := range line.links {
		key, ok := keyOf(*value)
		if !ok {
			continue
		}
		id, err := importer.commands.Imported(ctx, importer.options.Source, key)
		switch {
		case err != nil:
			return err
		case id == 0:
			return refusef("%s: no record has the key %q", field.Name, key)
		}
		*value = json.Number(id.String())
	}
	return nil
}

// refusal returns the reason of an error that is about the line, and whether it is
// one.
func refusal(err error) (string, bool) {
	if _, ok := errors.AsType[command.ImportError](err); ok {
		return err.Error(), true
	}
	problem, ok := errors.AsType[*calendar.Error](err)
	if !ok || problem.Code == calendar.CodeUnavailable {
		return "", false
	}
	if len(problem.Fields) == 0 {
		return texts.Message(problem, calendar.LangEN), true
	}
	reasons := make([]string, len(problem.Fields))
	for i, fieldError := range problem.Fields {
		reasons[i] = texts.FieldMessage(fieldError, calendar.LangEN)
	}
	return strings.Join(reasons, "; "), true
}
