package importer_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/access"
	"daybook/internal/htmltext"
	"daybook/internal/importer"
)

var now = time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)

type plainHasher struct{}

func (plainHasher) Hash(_ context.Context, text string) ([]byte, error) { return []byte(text), nil }

func (plainHasher) Verify(_ context.Context, data []byte, text string) (bool, error) {
	return string(data) == text, nil
}

// bench is a store with an importing user.
type bench struct {
	t        *testing.T
	store    eventstore.Store
	commands *command.Service
	users    *access.Users
	admin    calendar.Caller
}

func setup(t *testing.T) *bench {
	t.Helper()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	bench := on(t, store)
	var err error
	if bench.admin, err = bench.users.Ensure(t.Context(), "importing", calendar.Administrator, 0); err != nil {
		t.Fatal(err)
	}
	return bench
}

// on makes a bench on a store, as after a restart.
func on(t *testing.T, store eventstore.Store) *bench {
	t.Helper()
	commands := command.New(store, &calendar.Rules{Site: time.UTC, Clean: htmltext.New()}, plainHasher{}, func() time.Time { return now })
	b := &bench{t: t, store: store, commands: commands, users: access.New(store)}
	b.users.Now = func() time.Time { return now }
	return b
}

func (bench *bench) importer(source string) *importer.Importer {
	bench.t.Helper()
	im, err := importer.New(bench.store, bench.commands, bench.users, importer.Options{Source: source, Caller: bench.admin, Progress: func(importer.Report) {}})
	if err != nil {
		bench.t.Fatal(err)
	}
	return im
}

func (bench *bench) run(source string, lines ...string) importer.Report {
	bench.t.Helper()
	report, err := bench.importer(source).Run(bench.t.Context(), strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		bench.t.Fatal(err)
	}
	if report.Lines != report.Applied+report.Repeated+int64(len(report.Refused)) {
		bench.t.Errorf("the numbers do not add up: %+v", report)
	}
	return report
}

func (bench *bench) head() calendar.Position {
	bench.t.Helper()
	head, err := bench.store.Head(bench.t.Context(), eventstore.Point{})
	if err != nil {
		bench.t.Fatal(err)
	}
	return head.Position
}

// byKey returns the record of a key of the source "s", deleted or not, nil for none.
func (bench *bench) byKey(key string) *calendar.Record {
	bench.t.Helper()
	found, err := bench.store.Find(bench.t.Context(), eventstore.Lookup{Claims: []calendar.Claim{calendar.ImportClaim("s", key)}})
	if err != nil {
		bench.t.Fatal(err)
	}
	if found.Holders[0] == 0 {
		return nil
	}
	states, err := bench.store.Load(bench.t.Context(), found.Holders[0])
	if err != nil {
		bench.t.Fatal(err)
	}
	rec, err := calendar.DecodeRecord(states[0].Record)
	if err != nil {
		bench.t.Fatal(err)
	}
	return rec
}

const (
	venueLine  = `{"action":"create","kind":"venue","key":"hall","at":"2018-07-16T12:00:00+02:00","author":"ann","fields":{"venue":"Hall","city":"Rome"}}`
	topLine    = `{"action":"create","kind":"category","key":"music","fields":{"name":"Music"}}`
	childLine  = `{"action":"create","kind":"category","key":"jazz","fields":{"name":"Jazz","parent":{"key":"music"}}}`
	tagLine    = `{"action":"create","kind":"tag","key":"air","fields":{"name":"Open air"}}`
	eventLine  = `{"action":"put","kind":"event","key":"e","at":1531784972,"author":"bob","reason":"first","fields":{"title":"Concert","start_date":"2026-07-04","end_date":"2026-07-04","venue":{"key":"hall"},"categories":[{"key":"jazz"}],"tags":[{"key":"air"},"New"]}}`
	updateLine = `{"action":"put","kind":"event","key":"e","at":1531784999,"author":"ann","lang":"fr","fields":{"title":"Concert au quai","venue":[]}}`
	deleteLine = `{"action":"delete","kind":"event","key":"e","at":"2019-01-01T00:00:00Z","author":"bob"}`
	endLine    = `{"action":"delete","kind":"category","key":"music"}`
)

var all = []string{venueLine, topLine, childLine, tagLine, eventLine, "", updateLine, deleteLine, endLine}

func TestRun(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	if text := cmp.Diff(importer.Report{Lines: 8, Applied: 8}, bench.run("s", all...)); text != "" {
		t.Fatalf("report (-want +got):\n%s", text)
	}
	record := bench.byKey("e")
	history, err := bench.store.Read(t.Context(), eventstore.Range{Record: record.ID, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	type act struct {
		Change, At, By, Client, Request, Reason string
	}
	names := map[calendar.ID]string{}
	users, err := bench.users.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range users {
		names[user.ID] = user.Name + " " + user.Role.String()
		if user.Active {
			t.Errorf("user %s has a token", user.Name)
		}
	}
	var got []act
	for _, entry := range history {
		line := regexp.MustCompile(`:[0-9a-f]{12}$`).ReplaceAllString(entry.Cause.Request, ":digest")
		got = append(got, act{entry.Change, entry.Time.Format(time.RFC3339), names[entry.Actor], entry.Cause.Client, line, entry.Cause.Reason})
	}
	want := []act{
		{"event.created", "2018-07-16T23:49:32Z", "bob editor", "import", "s:5:digest", "first"},
		{"event.updated", "2018-07-16T23:49:59Z", "ann editor", "import", "s:7:digest", ""},
		{"event.trashed", "2019-01-01T00:00:00Z", "bob editor", "import", "s:8:digest", ""},
	}
	if text := cmp.Diff(want, got); text != "" {
		t.Errorf("history (-want +got):\n%s", text)
	}
	first, err := calendar.DecodeRecord(history[0].State)
	if err != nil {
		t.Fatal(err)
	}
	if ids := first.Fields.IDs("venue"); !slices.Equal(ids, []calendar.ID{bench.byKey("hall").ID}) {
		t.Errorf("venue %v", ids)
	}
	if ids := first.Fields.IDs("categories"); !slices.Equal(ids, []calendar.ID{bench.byKey("jazz").ID}) {
		t.Errorf("categories %v", ids)
	}
	if tags := first.Fields.IDs("tags"); len(tags) != 2 || tags[0] != bench.byKey("air").ID {
		t.Errorf("tags %v", tags)
	}
	if got := names[record.Author()]; got != "bob editor" {
		t.Errorf("author %s", got)
	}
	if title := record.Fields.Text("title"); title[calendar.LangEN] != "Concert" || title[calendar.LangFR] != "Concert au quai" {
		t.Errorf("title %v", title)
	}
	if h := bench.byKey("hall"); h.Fields.Wall("date_utc").String() != "2018-07-16 10:00:00" {
		t.Errorf("the venue is of %v", h.Fields.Wall("date_utc"))
	}
	if m := bench.byKey("music"); !m.Deleted {
		t.Error("the category is not deleted")
	}
	if j := bench.byKey("jazz"); j.Fields.ID("parent") != 0 {
		t.Error("its child has it still")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	text := `{"action":"create","kind":"venue","fields":{"venue":"` + strings.Repeat("x", 5<<20) + `"}}`
	for _, c := range []struct {
		name, line, want string
	}{
		{"no JSON", `{"action"`, `not a line of this form: unexpected end of JSON`},
		{"two objects", `{"action":"create","kind":"tag"} {}`, `not a line of this form: '{' at byte 33 after the end`},
		{"invalid UTF-8", `{"action":"create","kind":"tag","fields":{"name":"caf` + "\xe9" + `"}}`, `not a line of this form: invalid UTF-8`},
		{"half of a pair", `{"action":"create","kind":"tag","fields":{"name":"a\ud83d"}}`, `not a line of this form: half of a surrogate pair`},
		{"no object", `["create"]`, `not a line of this form: must be an object, not array`},
		{"wrong type", `{"action":"create","kind":"tag","key":5}`, `not a line of this form: key: a number cannot stand here`},
		{"unknown member", `{"action":"create","kind":"tag","feilds":{}}`, `not a line of this form: unknown field "feilds"`},
		{"kind", `{"action":"create","kind":"user"}`, `kind: must be event, venue, organizer, category or tag, not "user"`},
		{"action", `{"action":"drop","kind":"tag","key":"a"}`, `action: must be create, update, delete or put, not "drop"`},
		{"moment", `{"action":"create","kind":"tag","at":"yesterday"}`, `not a line of this form: at: must be an RFC 3339 time or Unix seconds, not "yesterday"`},
		{"no moment", `{"action":"create","kind":"tag","at":"0001-01-01T00:00:00Z","fields":{"name":"x"}}`, `not a line of this form: at: the year has to be 2 to 9999, not 1`},
		{"language", `{"action":"create","kind":"tag","lang":"de"}`, `lang: must be cn, en, fr or es, not "de"`},
		{"no key", `{"action":"update","kind":"tag"}`, `key or id: missing, update needs one of them`},
		{"both", `{"action":"update","kind":"tag","key":"a","id":1}`, `key and id: only one of them may be given`},
		{"key", `{"action":"put","kind":"tag","key":"#1"}`, `key: must have at most 500 bytes, no control characters, and not begin with #`},
		{"unknown key", `{"action":"delete","kind":"tag","key":"nope"}`, `key "nope": no record has it`},
		{"unknown id", `{"action":"delete","kind":"tag","id":999}`, `The tag was not found.`},
		{"unknown link", `{"action":"create","kind":"event","fields":{"title":"x","start_date":"2026-01-01","end_date":"2026-01-01","venue":[{"key":"nope"}]}}`, `venue: no record has the key "nope"`},
		{"fields", `{"action":"create","kind":"event","fields":{"title":"x","start_date":"soon","end_date":"2026-01-01","website":"x"}}`, `start_date: `},
		{"missing field", `{"action":"create","kind":"event","fields":{"title":"x"}}`, `start_date, end_date`},
		{"author", `{"action":"create","kind":"tag","author":"a:b","fields":{"name":"x"}}`, `author: bad user name: must not contain a colon`},
		{"key of another record", venueLine, `venue 2 has the key "hall": import key in use`},
		{"kind of another record", `{"action":"update","kind":"event","key":"hall"}`, `not`},
		{"rights", `{"action":"create","kind":"tag","author":"reader","fields":{"name":"x"}}`, `not allowed`},
		{"too long", text, `the line is longer than 4194304 bytes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bench := setup(t)
			if _, _, err := bench.users.Add(t.Context(), "reader", calendar.Subscriber, 0); err != nil {
				t.Fatal(err)
			}
			report := bench.run("s", venueLine, c.line, topLine)
			if report.Applied != 2 || len(report.Refused) != 1 || report.Refused[0].Line != 2 {
				t.Fatalf("report %+v", report)
			}
			if got := report.Refused[0].Reason; !strings.Contains(got, strings.TrimPrefix(c.want, "venue 2 ")) {
				t.Errorf("reason:\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestMendedLine(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	bad := `{"action":"create","kind":"event","key":"e","fields":{"title":"x","start_date":"soon","end_date":"2026-01-01"}}`
	good := strings.Replace(bad, "soon", "2026-01-01", 1)
	if report := bench.run("s", bad, tagLine); len(report.Refused) != 1 || report.Applied != 1 {
		t.Fatalf("report %+v", report)
	}
	if report := bench.run("s", good, tagLine); report.Applied != 1 || report.Repeated != 1 {
		t.Fatalf("report %+v", report)
	}
	if bench.byKey("e") == nil {
		t.Error("the mended line made nothing")
	}
}

// TestMendedTooLate: a line that was refused is never said to be applied when it
// was not, also when later lines of its record were.
func TestMendedTooLate(t *testing.T) {
	t.Parallel()
	const (
		create = `{"action":"create","kind":"event","key":"e","fields":{"title":"One","start_date":"2026-01-01","end_date":"2026-01-01"}}`
		bad    = `{"action":"update","kind":"event","key":"e","fields":{"start_date":"soon"}}`
		title  = `{"action":"update","kind":"event","key":"e","fields":{"title":"Two"}}`
		slug   = `{"action":"update","kind":"event","key":"e","fields":{"slug":"two"}}`
	)
	good := strings.Replace(bad, "soon", "2025-12-31", 1)
	bench := setup(t)
	if report := bench.run("s", create, bad, title, bad, slug, tagLine); report.Applied != 4 || len(report.Refused) != 2 {
		t.Fatalf("report %+v", report)
	}
	// Others go on with the record meanwhile.
	if _, err := bench.commands.Update(t.Context(), command.Request{
		Kind: calendar.KindEvent, Target: command.Target{ID: bench.byKey("e").ID}, Input: calendar.Input{"website": "https://a.example"}, Lang: calendar.LangEN, Caller: bench.admin,
	}); err != nil {
		t.Fatal(err)
	}
	before := bench.head()
	for line, want := range map[string]string{
		bad:  "start_date: must be",
		good: "line 5 of this record was applied before this one: put the change at the end",
	} {
		report := bench.run("s", create, line, title, line, slug, tagLine)
		if report.Applied != 0 || report.Repeated != 4 || len(report.Refused) != 2 {
			t.Fatalf("report %+v", report)
		}
		for i, got := range report.Refused {
			if !strings.HasPrefix(got.Reason, want) || got.Line != int64(2*i+2) {
				t.Errorf("line %d: %s, want %s", got.Line, got.Reason, want)
			}
		}
	}
	if got := bench.head(); got != before {
		t.Errorf("the repeats made %d entries", got-before)
	}
	// What the reason says is what helps.
	if report := bench.run("s", create, bad, title, bad, slug, tagLine, good); report.Applied != 1 || report.Repeated != 4 {
		t.Errorf("report %+v", report)
	}
	if record := bench.byKey("e"); record.Fields.Wall("start_date").String() != "2025-12-31 00:00:00" {
		t.Errorf("the event is of %v", record.Fields.Wall("start_date"))
	}
}

// TestMendedCreates: a create that was refused is not taken for what later lines
// made under its key or its name.
func TestMendedCreates(t *testing.T) {
	t.Parallel()
	bad := strings.Replace(tagLine, `"name":"Open air"`, `"name":""`, 1)
	for _, later := range []string{
		strings.Replace(tagLine, "create", "put", 1),      // the key
		strings.Replace(tagLine, `"air"`, `"outside"`, 1), // the name
	} {
		bench := setup(t)
		if report := bench.run("s", bad, later); report.Applied != 1 || len(report.Refused) != 1 {
			t.Fatalf("report %+v", report)
		}
		if report := bench.run("s", tagLine, later); report.Applied != 0 || report.Repeated != 1 || len(report.Refused) != 1 {
			t.Errorf("report %+v", report)
		}
	}
}

// TestRepeatAfterChanges: a line that was applied is passed over whatever became
// of its links and its record.
func TestRepeatAfterChanges(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	lines := []string{
		topLine, childLine, tagLine, venueLine, eventLine, updateLine, endLine,
		`{"action":"delete","kind":"tag","key":"air"}`, `{"action":"delete","kind":"venue","key":"hall"}`,
		`{"action":"create","kind":"category","key":"old","author":"cy","fields":{"name":"Old"}}`,
		`{"action":"update","kind":"category","key":"old","author":"cy","fields":{"description":"x"}}`,
		`{"action":"delete","kind":"category","key":"old","author":"cy"}`,
	}
	if text := cmp.Diff(importer.Report{Lines: 12, Applied: 12}, bench.run("s", lines...)); text != "" {
		t.Fatalf("report (-want +got):\n%s", text)
	}
	before := bench.head()
	if text := cmp.Diff(importer.Report{Lines: 12, Repeated: 12}, bench.run("s", lines...)); text != "" {
		t.Errorf("report of the second run (-want +got):\n%s", text)
	}
	if got := bench.head(); got != before {
		t.Errorf("the second run made %d entries", got-before)
	}
}

// TestAnotherFile: lines of another content under the numbers of lines that were
// applied are refused.
func TestAnotherFile(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	tag := func(name string) string { return `{"action":"create","kind":"tag","fields":{"name":"` + name + `"}}` }
	rename := `{"action":"update","kind":"venue","key":"hall","fields":{"city":"Bari"}}`
	if report := bench.run("s", tag("a"), venueLine, tag("b"), rename); report.Applied != 4 {
		t.Fatalf("report %+v", report)
	}
	before := bench.head()
	report := bench.run("s", tag("c"), strings.Replace(venueLine, "Rome", "Pisa", 1), tag("b"), strings.Replace(rename, "Bari", "Lecce", 1))
	if report.Applied != 0 || report.Repeated != 1 || len(report.Refused) != 3 || bench.head() != before {
		t.Fatalf("report %+v", report)
	}
	for _, refusal := range report.Refused {
		if want := fmt.Sprintf("line %d was applied with another content: ", refusal.Line); !strings.HasPrefix(refusal.Reason, want) || !strings.Contains(refusal.Reason, "--source") {
			t.Errorf("got %s, want %s and what to do", refusal.Reason, want)
		}
	}
	// Another form is not another content.
	spaced := `{ "fields": {"city": "Rome", "venue": "Hall"}, "author": "ann", "at": 1531735200, "key": "hall", "kind": "venue", "action": "create" }`
	if report := bench.run("s", tag("a"), spaced, tag("b"), rename); report.Repeated != 4 {
		t.Errorf("report %+v", report)
	}
}

// TestTwoImportsAtOnce: of a source that two processes import at once each line is
// applied once, and neither refuses what the other has applied.
func TestTwoImportsAtOnce(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf(`{"action":"put","kind":"tag","key":"k%d","fields":{"name":"t%d","description":"%d"}}`, i%5, i%5, i))
	}
	reports := make([]importer.Report, 2)
	var group sync.WaitGroup
	for i := range reports {
		other := on(t, bench.store)
		other.admin = bench.admin
		group.Go(func() { reports[i] = other.run("s", lines...) })
	}
	group.Wait()
	if n := reports[0].Applied + reports[1].Applied; n != 40 || len(reports[0].Refused)+len(reports[1].Refused) != 0 {
		t.Errorf("reports %+v", reports)
	}
}

func TestWithoutKeys(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	line := `{"action":"create","kind":"venue","fields":{"venue":"Hall"}}`
	if report := bench.run("s", line, line); report.Applied != 2 {
		t.Fatalf("report %+v", report)
	}
	if report := bench.run("s", line, line); report.Repeated != 2 {
		t.Fatalf("report %+v", report)
	}
	id := bench.byKey("#1").ID
	update := fmt.Sprintf(`{"action":"update","kind":"venue","id":%d,"fields":{"city":"Rome"}}`, id)
	for range 2 {
		bench.run("other", update)
	}
	// A line by id leaves the key.
	if report := bench.run("s", line, line, update); report.Applied != 1 || report.Repeated != 2 {
		t.Fatalf("report %+v", report)
	}
	if record := bench.byKey("#1"); record == nil || record.Version != 3 || record.Fields.String("city") != "Rome" {
		t.Errorf("venue %+v", record)
	}
}

// TestTermsThatAreThere gives a key to a term of the name, and only one.
func TestTermsThatAreThere(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	made, err := bench.commands.Create(t.Context(), command.Request{
		Kind: calendar.KindTag, Input: calendar.Input{"name": "open AIR"}, Lang: calendar.LangEN, Caller: bench.admin,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []importer.Report{{Lines: 1, Applied: 1}, {Lines: 1, Repeated: 1}} {
		if text := cmp.Diff(want, bench.run("s", tagLine)); text != "" {
			t.Errorf("report (-want +got):\n%s", text)
		}
	}
	if got := bench.byKey("air"); got.ID != made.Record.ID || got.Fields.Text("name")[calendar.LangEN] != "open AIR" {
		t.Errorf("tag %+v", got)
	}
	report := bench.run("s", tagLine, strings.Replace(tagLine, `"air"`, `"second"`, 1))
	if len(report.Refused) != 1 || bench.byKey("air") == nil || bench.byKey("second") != nil {
		t.Errorf("report %+v", report)
	}
}

func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	if report := bench.run("s", "\uFEFF"+venueLine, tagLine); report.Applied != 2 {
		t.Errorf("report %+v", report)
	}
	if report := bench.run("t", tagLine, "\uFEFF"+tagLine); len(report.Refused) != 1 {
		t.Errorf("report of a mark in the middle %+v", report)
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	if _, err := writer.Write([]byte(venueLine)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	data := buffer.Bytes()
	report, err := bench.importer("s").Run(t.Context(), bytes.NewReader(data))
	if err != nil || report.Applied != 1 {
		t.Errorf("report %+v, %v", report, err)
	}
	if _, err := bench.importer("t").Run(t.Context(), bytes.NewReader(data[:len(data)-9])); err == nil {
		t.Error("a file that is cut was read to its end")
	}
	if report, err := bench.importer("u").Run(t.Context(), strings.NewReader("")); err != nil || report.Lines != 0 {
		t.Errorf("an empty file: %+v, %v", report, err)
	}
}

// dying is a store whose process dies in the n-th Append: before it is written, or after,
// when no one hears of it.
type dying struct {
	*memstore.Store

	mutex sync.Mutex
	left  int
	after bool
}

var errDied = errors.New("died")

func (dying *dying) Append(ctx context.Context, addition eventstore.Append) eventstore.Result {
	dying.mutex.Lock()
	defer dying.mutex.Unlock()
	dying.left--
	switch {
	case dying.left >= 0:
		return dying.Store.Append(ctx, addition)
	case dying.left == -1 && dying.after:
		dying.Store.Append(ctx, addition)
	}
	return eventstore.Result{Err: errDied}
}

// TestDeath kills the import at every place and runs it again: the records are those of an
// import without a break.
func TestDeath(t *testing.T) {
	t.Parallel()
	whole := setup(t)
	whole.run("s", all...)
	want := records(t, whole.store)
	for _, after := range []bool{false, true} {
		for n := range int(whole.head()) - 1 {
			t.Run(fmt.Sprintf("in append %d after %v", n+1, after), func(t *testing.T) {
				t.Parallel()
				bench := setup(t)
				store := bench.store.(*memstore.Store)
				broken := on(t, &dying{Store: store, left: n, after: after})
				broken.admin = bench.admin
				_, err := broken.importer("s").Run(t.Context(), strings.NewReader(strings.Join(all, "\n")))
				if n < len(all)-2 && !errors.Is(err, errDied) {
					t.Fatalf("the import did not die: %v", err)
				}
				store = store.Reopen()
				t.Cleanup(func() { _ = store.Close() })
				again := on(t, store)
				again.admin = bench.admin
				again.run("s", all...)
				if text := cmp.Diff(want, records(t, store)); text != "" {
					t.Errorf("records (-whole +broken):\n%s", text)
				}
			})
		}
	}
}

// TestFailoverDuringImport: an import whose lines were lost on the way says so, and
// is whole when it is run again.
func TestFailoverDuringImport(t *testing.T) {
	t.Parallel()
	lines := all[:7]
	for n := 1; n <= 4; n++ { // after so many appends
		store := &losing{Store: memstore.New()}
		bench := on(t, store)
		var err error
		if bench.admin, err = bench.users.Ensure(t.Context(), "importing", calendar.Administrator, 0); err != nil {
			t.Fatal(err)
		}
		store.left.Store(int32(n))
		if _, err := bench.importer("s").Run(t.Context(), strings.NewReader(strings.Join(lines, "\n"))); !errors.Is(err, eventstore.ErrHistory) {
			t.Errorf("after %d appends: got %v", n, err)
		}
		again := bench.run("s", lines...)
		want := setup(t).run("s", lines...)
		if again.Lines != want.Lines || len(again.Refused) != len(want.Refused) || bench.byKey("e") == nil {
			t.Errorf("after %d appends: the second run did %+v, want %+v", n, again, want)
		}
	}
}

// losing is a store that loses its last entries after some appends.
type losing struct {
	*memstore.Store

	left atomic.Int32
}

func (losing *losing) Append(ctx context.Context, addition eventstore.Append) eventstore.Result {
	result := losing.Store.Append(ctx, addition)
	if losing.left.Add(-1) == 0 {
		losing.Rewind(1)
	}
	return result
}
