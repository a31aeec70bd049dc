package importer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/importer"
)

// many are lines that rest on lines before them in each way: by key, by the name of
// a term, by the slug, by version, by the tree of categories, by new users.
func many(n int) []string {
	lines := []string{topLine, childLine, tagLine, venueLine}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for i := range n {
		add(`{"action":"create","kind":"event","key":"e%d","at":%d,"author":"u%d","fields":{"title":"Concert %d","start_date":"2026-07-04","end_date":"2026-07-04","venue":{"key":"hall"},"tags":["New %d","open air"]}}`,
			i, 1_700_000_000+i, i/10, i%3, i/5)
		switch i % 7 {
		case 0: // a record that is linked, changed and deleted
			add(`{"action":"create","kind":"venue","key":"v%d","fields":{"venue":"Quay %d"}}`, i, i)
			add(`{"action":"create","kind":"event","key":"w%d","fields":{"title":"Single","start_date":"2026-07-04","end_date":"2026-07-04","venue":{"key":"v%d"},"organizer":{"organizer":"Choir"}}}`, i, i)
			add(`{"action":"update","kind":"venue","key":"v%d","fields":{"city":"Bari"}}`, i)
			add(`{"action":"create","kind":"event","key":"x%d","fields":{"title":"Single","start_date":"2026-07-04","end_date":"2026-07-04","venue":{"key":"v%d"}}}`, i, i)
			add(`{"action":"delete","kind":"venue","key":"v%d"}`, i)
			add(`{"action":"create","kind":"event","key":"y%d","fields":{"title":"Late","start_date":"2026-07-04","end_date":"2026-07-04","venue":{"key":"v%d"}}}`, i, i) // refused
		case 1:
			add(`{"action":"update","kind":"event","key":"e%d","fields":{"title":"Gig"}}`, i)
			add(`{"action":"update","kind":"event","key":"e%d","fields":{"website":"https://a.example/%d"}}`, i, i)
		case 2:
			add(`{"action":"create","kind":"event","key":"f%d","fields":{"title":"Part","start_date":"2026-07-04","end_date":"2026-07-04","post_parent":{"key":"e%d"}}}`, i, i)
		case 3:
			add(`{"action":"create","kind":"event","key":"d%d","fields":{"title":"Gone %d","start_date":"2026-07-04","end_date":"2026-07-04"}}`, i, i)
			add(`{"action":"delete","kind":"event","key":"d%d"}`, i)
			add(`{"action":"create","kind":"event","key":"d%d","fields":{"title":"Again"}}`, i) // refused
		case 4:
			add(`{"action":"create","kind":"category","key":"c%d","fields":{"name":"Sub %d","parent":{"key":"jazz"}}}`, i, i)
			add(`{"action":"put","kind":"event","key":"e%d","fields":{"categories":[{"key":"c%d"},{"key":"music"}]}}`, i, i)
		case 5:
			add(`{"action":"delete","kind":"category","key":"c%d"}`, i-1)
			add(`{"action":"create","kind":"tag","key":"t%d","fields":{"name":"new %d"}}`, i, i/5) // is there
		case 6:
			add(`{"action":"create","kind":"event","key":"g%d","fields":{"title":"x","start_date":"soon","end_date":"2026-01-01"}}`, i) // refused
		}
	}
	return append(lines, endLine)
}

// TestOrder: the records that an import makes are those of one line after the other, and so
// is what is refused.
func TestOrder(t *testing.T) {
	t.Parallel()
	lines := many(60)
	single := setup(t)
	var want importer.Report
	for i := range lines {
		report := single.run("s", lines[:i+1]...)
		want.Lines++
		want.Applied += report.Applied
		for _, refused := range report.Refused {
			if refused.Line == int64(i+1) {
				want.Refused = append(want.Refused, refused)
			}
		}
	}
	whole := setup(t)
	if text := cmp.Diff(want, whole.run("s", lines...)); text != "" || len(want.Refused) < 10 || want.Applied < 100 {
		t.Errorf("report of %d lines (-single +whole):\n%s", len(lines), text)
	}
	if text := cmp.Diff(records(t, single.store), records(t, whole.store)); text != "" {
		t.Errorf("records (-single +whole):\n%s", text)
	}
}

// ids finds those in a record.
var ids = regexp.MustCompile(`"(?:id|author|parent|post_parent|venue|organizer|categories|tags)":\[?[0-9,]+`)

// records returns those of a store, with slugs and names in place of ids, sorted.
func records(t *testing.T, store eventstore.Store) []string {
	t.Helper()
	held, err := store.Records(t.Context(), 0, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, h := range held {
		record, err := calendar.DecodeRecord(h.Record)
		if err != nil {
			t.Fatal(err)
		}
		names[record.ID.String()] = record.Kind.String() + " " + record.Slug() + record.Fields.String("name") + fmt.Sprint(record.Fields["imports"])
	}
	var out []string
	for _, h := range held {
		text := ids.ReplaceAllStringFunc(string(h.Record), func(link string) string {
			return regexp.MustCompile("[0-9]+").ReplaceAllStringFunc(link, func(id string) string { return names[id] })
		})
		out = append(out, fmt.Sprintf("%s %q", text, h.Secret))
	}
	slices.Sort(out)
	return out
}

// watched is a store that does something before an Append.
type watched struct {
	*memstore.Store
	before func(addition eventstore.Append)
}

func (watched *watched) Append(ctx context.Context, addition eventstore.Append) eventstore.Result {
	watched.before(addition)
	return watched.Store.Append(ctx, addition)
}

func event(key, title, more string) string {
	return fmt.Sprintf(`{"action":"create","kind":"event","key":%q,"fields":{"title":%q,"start_date":"2026-07-04","end_date":"2026-07-04"%s}}`, key, title, more)
}

// TestRival: another writer is faster than lines that are on their way: they are
// applied on what he left, nothing refers to what did not come to be, and what is
// reported is what was done.
func TestRival(t *testing.T) {
	t.Parallel()
	update := `{"action":"update","kind":"event","key":"e","fields":{"title":"Gig"}}`
	other := func(b *bench, request command.Request) {
		request.Lang, request.Caller = calendar.LangEN, b.admin
		if _, err := b.commands.Create(b.t.Context(), request); err != nil {
			b.t.Error(err)
		}
	}
	cases := map[string]struct {
		lines []string
		when  string // what the draft of the moment changes
		rival func(fresh *bench)
		want  importer.Report
		check func(t *testing.T, b *bench)
	}{
		"term": {
			lines: []string{tagLine, event("e", "Concert", `,"tags":[{"key":"air"}]`), event("f", "Party", `,"tags":["open air"]`)}, when: "tag.created",
			rival: func(fresh *bench) {
				other(fresh, command.Request{Kind: calendar.KindTag, Input: calendar.Input{"name": "open AIR"}})
			},
			want: importer.Report{Lines: 3, Applied: 3},
			check: func(t *testing.T, b *bench) {
				t.Helper()
				air := b.byKey("air")
				if name := air.Fields.Text("name")[calendar.LangEN]; name != "open AIR" {
					t.Errorf("the tag is %q", name)
				}
				for _, key := range []string{"e", "f"} {
					if tags := b.byKey(key).Fields.IDs("tags"); len(tags) != 1 || tags[0] != air.ID {
						t.Errorf("%s has the tags %v, want %d", key, tags, air.ID)
					}
				}
			},
		},
		"key": {
			lines: []string{event("e", "Concert", ""), update, event("f", "Party", `,"post_parent":{"key":"e"}`)}, when: "event.created",
			rival: func(fresh *bench) {
				other(fresh, command.Request{
					Kind: calendar.KindTag, Input: calendar.Input{"name": "x"},
					Mark: &calendar.ImportMark{Source: "s", Line: 9, Key: "e"},
				})
			},
			want: importer.Report{Lines: 3, Refused: []importer.Refusal{{Line: 1, Key: "e"}, {Line: 2, Key: "e"}, {Line: 3, Key: "f"}}},
			check: func(t *testing.T, b *bench) {
				t.Helper()
				if b.byKey("f") != nil {
					t.Error("an event has a parent that is none")
				}
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &watched{Store: memstore.New(), before: func(eventstore.Append) {}}
			b, fresh := on(t, store), on(t, store.Store)
			var err error
			if b.admin, err = b.users.Ensure(t.Context(), "importing", calendar.Administrator, 0); err != nil {
				t.Fatal(err)
			}
			fresh.admin = b.admin
			var met atomic.Bool
			store.before = func(a eventstore.Append) {
				if len(a.Drafts) > 0 && a.Drafts[len(a.Drafts)-1].Change == c.when && !met.Swap(true) {
					c.rival(fresh)
				}
			}
			got := b.run("s", c.lines...)
			for i := range got.Refused {
				got.Refused[i].Reason = ""
			}
			if text := cmp.Diff(c.want, got); text != "" || !met.Load() {
				t.Errorf("the rival came: %v; report (-want +got):\n%s", met.Load(), text)
			}
			c.check(t, b)
		})
	}
}

// TestKeyAndID: lines that name one record by its key and by its id are applied in order.
func TestKeyAndID(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	lines := []string{event("e", "Concert", "")}
	bench.run("s", lines...)
	admin := bench.admin
	bench = on(t, &watched{Store: bench.store.(*memstore.Store), before: func(a eventstore.Append) {
		if len(a.Drafts) > 0 && strings.Contains(string(a.Drafts[0].Fields), "website") {
			<-time.After(2 * time.Millisecond) // lines by id are faster
		}
	}})
	bench.admin = admin
	for i := range 20 {
		lines = append(lines, fmt.Sprintf(`{"action":"update","kind":"event","key":"e","fields":{"website":"https://a.example/%d"}}`, i),
			fmt.Sprintf(`{"action":"update","kind":"event","id":%d,"fields":{"title":"Gig %d"}}`, bench.byKey("e").ID, i))
	}
	if report := bench.run("s", lines...); report.Applied != 40 || report.Repeated != 1 {
		t.Errorf("%d lines were applied, %d repeated, refused %v", report.Applied, report.Repeated, report.Refused)
	}
}

// TestSlowLines: a line of a source that says no more for now is applied at once.
func TestSlowLines(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	pipeReader, pipeWriter := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := bench.importer("s").Run(t.Context(), pipeReader)
		ended <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	position := bench.head()
	for _, line := range []string{tagLine, venueLine, topLine} {
		if _, err := io.WriteString(pipeWriter, line+"\n"); err != nil {
			t.Fatal(err)
		}
		head, err := eventstore.Wait(ctx, bench.store, position)
		if err != nil {
			t.Fatalf("the line was not applied: %v", err)
		}
		position = head.Position
	}
	// Whatever ends the source, what it gave is applied.
	if _, err := io.WriteString(pipeWriter, strings.Replace(tagLine, "air", "field", 2)+"\n"+updateLine+"\n"); err != nil {
		t.Fatal(err)
	}
	broke := errors.New("line broke")
	_ = pipeWriter.CloseWithError(broke)
	if err := <-ended; !errors.Is(err, broke) || bench.byKey("field") == nil {
		t.Errorf("the import ended with %v, the last line made %v", err, bench.byKey("field"))
	}
}
