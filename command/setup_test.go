package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
)

// now is the moment of all tests; site is the site zone.
var (
	now     = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	site, _ = time.LoadLocation("America/New_York")
)

// The callers; their ids are those of user records.
var (
	subscriber  = calendar.Caller{ID: 1, Role: calendar.Subscriber}
	contributor = calendar.Caller{ID: 2, Role: calendar.Contributor}
	author      = calendar.Caller{ID: 3, Role: calendar.Author}
	editor      = calendar.Caller{ID: 4, Role: calendar.Editor}
	admin       = calendar.Caller{ID: 5, Role: calendar.Administrator}
	auditor     = calendar.Caller{ID: 6, Role: calendar.Auditor}
)

// cleaner is a small calendar.Cleaner.
type cleaner struct{}

var tag = regexp.MustCompile(`<[^>]*>`)

func (cleaner) Name(text string) string {
	return strings.TrimSpace(html.UnescapeString(tag.ReplaceAllString(text, "")))
}

func (cleaner) HTML(text string) string { return strings.TrimSpace(text) }

func (cleaner) ASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r > 127 {
			return -1
		}
		return r
	}, text)
}

// hasher is a Hasher that is fast and safe for nothing.
type hasher struct{}

func (hasher) Hash(_ context.Context, text string) ([]byte, error) {
	return []byte("hash of " + text), nil
}

func (hasher) Verify(_ context.Context, hash []byte, text string) (bool, error) {
	return string(hash) == "hash of "+text, nil
}

// bench is one service on an empty store that knows the users.
type bench struct {
	*command.Service
	t     *testing.T
	store *memstore.Store
	named map[string]calendar.ID // what {{name}} in inputs means
}

func setup(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, store: memstore.New(), named: map[string]calendar.ID{}}
	t.Cleanup(func() { _ = b.store.Close() })
	for _, caller := range []calendar.Caller{subscriber, contributor, author, editor, admin, auditor} {
		addUser(t, b.store, caller)
	}
	for range 10 {
		if _, err := b.store.NewID(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.Service = newService(b.store)
	return b
}

func newService(store eventstore.Store) *command.Service {
	return command.New(store, &calendar.Rules{Site: site, Clean: cleaner{}}, hasher{}, func() time.Time { return now })
}

func addUser(t *testing.T, store eventstore.Store, caller calendar.Caller) {
	t.Helper()
	appendChange(t, store, calendar.Change{
		Name: "user.created", Kind: calendar.KindUser, ID: caller.ID, Home: calendar.LangEN,
		Fields: calendar.Fields{"name": caller.Role.String(), "role": caller.Role.String()},
	})
}

// appendChange appends the first change of a record.
func appendChange(t *testing.T, store eventstore.Store, change calendar.Change) {
	t.Helper()
	rec, err := calendar.Apply(nil, change, now)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := calendar.EncodeChange(change)
	if err != nil {
		t.Fatal(err)
	}
	state, err := calendar.EncodeRecord(rec)
	if err != nil {
		t.Fatal(err)
	}
	res := store.Append(t.Context(), eventstore.Append{Time: now, Drafts: []eventstore.Draft{{Entry: eventstore.Entry{
		Kind:    rec.Kind,
		ID:      rec.ID,
		Version: 1,
		Change:  change.Name,
		Fields:  fields,
		State:   state,
	}, Claims: calendar.Claims(rec)}}})
	if res.Err != nil {
		t.Fatal(res.Err)
	}
}

// write is one request in a table. Op is "create", "update" or "delete" and the
// kind: "create venue". On is the name of the record that it is about, "/slug"
// for a by-slug route.
type write struct {
	op      string
	on      string
	in      string // JSON; {{name}} is the id of a record
	caller  calendar.Caller
	lang    string // "" en
	ifMatch []int64
	key     string
	as      string // name for the record that comes out
	extra   []calendar.FieldError
	instant time.Time
	mark    *calendar.ImportMark
}

func (bench *bench) fill(text string) string {
	for name, id := range bench.named {
		text = strings.ReplaceAll(text, "{{"+name+"}}", id.String())
	}
	if strings.Contains(text, "{{") {
		bench.t.Fatalf("unknown name in %s", text)
	}
	return text
}

func input(t *testing.T, text string) calendar.Input {
	t.Helper()
	if text == "" {
		text = "{}"
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var input calendar.Input
	if err := decoder.Decode(&input); err != nil {
		t.Fatalf("input %s: %v", text, err)
	}
	return input
}

func (bench *bench) request(write write) command.Request {
	bench.t.Helper()
	_, kind, _ := strings.Cut(write.op, " ")
	k, ok := calendar.ParseKind(kind)
	if !ok {
		bench.t.Fatalf("kind of %q", write.op)
	}
	request := command.Request{
		Kind: k, Input: input(bench.t, bench.fill(write.in)), Lang: calendar.LangEN, Caller: write.caller, IfMatch: write.ifMatch,
		Cause: eventstore.Cause{Client: "test"}, Extra: write.extra, At: write.instant, Mark: write.mark,
	}
	if write.lang != "" {
		if request.Lang, ok = calendar.ParseLang(write.lang); !ok {
			bench.t.Fatalf("language %q", write.lang)
		}
	}
	if write.key != "" {
		request.Key = write.key
		copy(request.Fingerprint[:], write.op+write.on+write.in)
	}
	switch slug, bySlug := strings.CutPrefix(write.on, "/"); {
	case bySlug:
		request.Target.Slug = slug
	case write.on != "":
		request.Target.ID = bench.named[write.on]
		if request.Target.ID == 0 {
			if _, err := fmt.Sscan(write.on, &request.Target.ID); err != nil {
				bench.t.Fatalf("target %q", write.on)
			}
		}
	}
	return request
}

func (bench *bench) do(write write) (command.Result, error) {
	bench.t.Helper()
	request := bench.request(write)
	verb, _, _ := strings.Cut(write.op, " ")
	var res command.Result
	var err error
	switch verb {
	case "create":
		res, err = bench.Create(bench.t.Context(), request)
	case "update":
		res, err = bench.Update(bench.t.Context(), request)
	case "delete":
		res, err = bench.Delete(bench.t.Context(), request)
	default:
		bench.t.Fatalf("operation %q", write.op)
	}
	if err == nil && write.as != "" {
		bench.named[write.as] = res.Record.ID
	}
	return res, err
}

func (bench *bench) must(write write) command.Result {
	bench.t.Helper()
	res, err := bench.do(write)
	if err != nil {
		bench.t.Fatalf("%s %s %s: %v", write.op, write.on, write.in, err)
	}
	return res
}

func (bench *bench) head() calendar.Position {
	bench.t.Helper()
	head, err := bench.store.Head(bench.t.Context(), eventstore.Point{})
	if err != nil {
		bench.t.Fatal(err)
	}
	return head.Position
}

// stored returns the record of a name as the store has it.
func (bench *bench) stored(name string) *calendar.Record {
	bench.t.Helper()
	return bench.load(bench.named[name])
}

func (bench *bench) load(id calendar.ID) *calendar.Record {
	bench.t.Helper()
	states, err := bench.store.Load(bench.t.Context(), id)
	if err != nil {
		bench.t.Fatal(err)
	}
	rec, err := calendar.DecodeRecord(states[0].Record)
	if err != nil {
		bench.t.Fatal(err)
	}
	return rec
}

// fieldsOf returns the stored form of the fields of a record.
func fieldsOf(t *testing.T, record *calendar.Record) map[string]any {
	t.Helper()
	data, err := calendar.EncodeRecord(record)
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Fields map[string]any }
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out.Fields
}

// checkFields compares the fields that want names; null is for absent ones.
func (bench *bench) checkFields(record *calendar.Record, want string) {
	bench.t.Helper()
	var w map[string]any
	if err := json.NewDecoder(bytes.NewBufferString(bench.fill(want))).Decode(&w); err != nil {
		bench.t.Fatalf("wanted fields %s: %v", want, err)
	}
	all := fieldsOf(bench.t, record)
	got := make(map[string]any, len(w))
	for name := range w {
		got[name] = all[name]
	}
	if text := cmp.Diff(w, got); text != "" {
		bench.t.Errorf("fields of %s %d (-want +got):\n%s", record.Kind, record.ID, text)
	}
}

// refusal gives code and fields of an error in one line:
// "rest_invalid_param title=empty venue=inline".
func refusal(err error) string {
	if err == nil {
		return ""
	}
	if problem, ok := errors.AsType[*calendar.Error](err); ok {
		return problem.Error()
	}
	return "internal: " + err.Error()
}
