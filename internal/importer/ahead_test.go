package importer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/ground/pause"
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
		case 0: // a slug that is free again, at once and much later
			add(`{"action":"create","kind":"event","key":"u%d","fields":{"title":"Single %d","start_date":"2026-07-04","end_date":"2026-07-04"}}`, i, i)
			add(`{"action":"update","kind":"event","key":"e%d","fields":{"slug":"moved-%d"}}`, i, i)
			add(`{"action":"create","kind":"event","key":"v%d","fields":{"title":"Concert %d","start_date":"2026-07-04","end_date":"2026-07-04"}}`, i, i%3)
			if i > 0 {
				add(`{"action":"update","kind":"event","key":"u%d","fields":{"slug":"left-%d"}}`, i-7, i)
				add(`{"action":"create","kind":"event","key":"w%d","fields":{"title":"Single %d","start_date":"2026-07-04","end_date":"2026-07-04"}}`, i, i-7)
			}
		case 1:
			add(`{"action":"update","kind":"event","key":"e%d","fields":{"title":"Gig"}}`, i)
			add(`{"action":"update","kind":"event","key":"e%d","fields":{"website":"https://a.example/%d"}}`, i, i)
		case 2:
			add(`{"action":"create","kind":"event","key":"f%d","fields":{"title":"Part","start_date":"2026-07-04","end_date":"2026-07-04","post_parent":{"key":"e%d"}}}`, i, i)
		case 3:
			add(`{"action":"delete","kind":"event","key":"e%d"}`, i)
			add(`{"action":"create","kind":"event","key":"e%d","fields":{"title":"Again"}}`, i) // refused
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

// TestOrder: the log of an import is that of one line after the other, and of what is
// refused.
func TestOrder(t *testing.T) {
	t.Parallel()
	lines := many(60)
	single := setup(t)
	var want importer.Report
	for i := range lines {
		r := single.run("s", lines[:i+1]...)
		want.Lines++
		want.Applied += r.Applied
		for _, refused := range r.Refused {
			if refused.Line == int64(i+1) {
				want.Refused = append(want.Refused, refused)
			}
		}
	}
	whole := setup(t)
	if d := cmp.Diff(want, whole.run("s", lines...)); d != "" || len(want.Refused) < 10 || want.Applied < 100 {
		t.Errorf("report of %d lines (-single +whole):\n%s", len(lines), d)
	}
	if d := cmp.Diff(log(t, single.store), log(t, whole.store)); d != "" {
		t.Errorf("log (-single +whole):\n%s", d)
	}
	if d := cmp.Diff(states(t, single.store), states(t, whole.store)); d != "" {
		t.Errorf("records (-single +whole):\n%s", d)
	}
}

// linked finds the ids in a record.
var linked = regexp.MustCompile(`"(?:id|author|parent|post_parent|venue|organizer|categories|tags)":\[?[0-9,]+`)

// states gives the records of a store, each with its first place in the log for its id.
func states(t *testing.T, store eventstore.Store) []string {
	t.Helper()
	entries, err := store.ReadAll(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	place := map[string]string{}
	for i, e := range slices.Backward(entries) {
		place[e.ID.String()] = fmt.Sprint("r", i)
	}
	all, err := store.Records(t.Context(), 0, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range all {
		out = append(out, linked.ReplaceAllStringFunc(string(s.Record), func(link string) string {
			return regexp.MustCompile("[0-9]+").ReplaceAllStringFunc(link, func(id string) string { return place[id] })
		}))
	}
	slices.Sort(out)
	return out
}

// counted is a store that counts its calls of Append that write, and does something
// before one of them.
type counted struct {
	*memstore.Store

	calls, appends int
	looks          int // other calls
	before         func(appends []eventstore.Append)
	beforeLook     func()
}

func (c *counted) look() {
	if c.looks++; c.beforeLook != nil {
		c.beforeLook()
	}
}

func (c *counted) Find(ctx context.Context, claims []calendar.Claim, names []calendar.Name) ([]calendar.ID, [][]calendar.ID, error) {
	c.look()
	return c.Store.Find(ctx, claims, names)
}

func (c *counted) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	c.look()
	return c.Store.Load(ctx, ids...)
}

func (c *counted) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	c.look()
	return c.Store.NewIDs(ctx, n)
}

func (c *counted) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	if f := c.before; f != nil {
		f(appends)
	}
	c.calls++
	c.appends += len(appends)
	return c.Store.Append(ctx, appends)
}

func event(key, title, more string) string {
	return fmt.Sprintf(`{"action":"create","kind":"event","key":%q,"fields":{"title":%q,"start_date":"2026-07-04","end_date":"2026-07-04"%s}}`, key, title, more)
}

// TestGroups: lines are committed many at a time.
func TestGroups(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store := &counted{Store: b.store.(*memstore.Store)}
	admin := b.admin
	b = on(t, store)
	b.admin = admin
	var lines []string
	for i := range 2000 {
		lines = append(lines, event(fmt.Sprint("e", i), "Concert", ""))
	}
	if r := b.run("s", lines...); r.Applied != 2000 {
		t.Fatalf("%d lines were applied, %d refused", r.Applied, len(r.Refused))
	}
	// While nothing is read a commit begins with what there is, so how many there are
	// is a matter of the machine.
	if store.calls > store.appends/2 {
		t.Errorf("%d lines were committed in %d calls", store.appends, store.calls)
	}
	if got := b.byKey("s", "e1999").Slug(); got != "concert-2000" {
		t.Errorf("the last one has the slug %s", got)
	}
}

// TestLooks: what lines ask the store for is asked for many of them at once.
func TestLooks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run("s", venueLine)
	store := &counted{Store: b.store.(*memstore.Store)}
	admin := b.admin
	b = on(t, store)
	b.admin = admin
	const n = 200
	store.beforeLook = func() { _ = pause.For(t.Context(), 2*time.Millisecond) } // lines are read meanwhile, also on a busy machine
	lines := []string{venueLine}
	for i := range n {
		lines = append(lines, event(fmt.Sprint("e", i), fmt.Sprint("Concert ", i), `,"venue":{"key":"hall"}`))
	}
	r := strings.NewReader(strings.Join(lines, "\n"))
	report, err := b.importer("s").Run(t.Context(), r)
	if err != nil || report.Applied != n || report.Repeated != 1 {
		t.Fatalf("%d lines were applied, %d repeated: %v", report.Applied, report.Repeated, err)
	}
	if store.looks > n {
		t.Errorf("%d lines asked the store %d times", n, store.looks)
	}
}

// TestRival: another writer is faster than lines that are on their way: they are
// applied on what he left, nothing refers to what did not come to be, and what is
// reported is what was done.
func TestRival(t *testing.T) {
	t.Parallel()
	update := `{"action":"update","kind":"event","key":"e","fields":{"title":"Gig"}}`
	other := func(b *bench, r command.Request) {
		r.Lang, r.Caller = calendar.LangEN, b.admin
		var err error
		if r.Target.ID == 0 {
			_, err = b.commands.Create(b.t.Context(), r)
		} else {
			_, err = b.commands.Update(b.t.Context(), r)
		}
		if err != nil {
			b.t.Error(err)
		}
	}
	concert := calendar.Input{"title": "Concert", "start_date": "2026-07-04", "end_date": "2026-07-04"}
	cases := map[string]struct {
		lines []string
		when  string // what the draft of the moment changes
		rival func(b, fresh *bench)
		want  importer.Report
		check func(t *testing.T, b *bench)
	}{
		"slug": {
			lines: []string{event("e", "Concert", ""), update, event("f", "Concert", "")}, when: "event.created",
			rival: func(_, fresh *bench) { other(fresh, command.Request{Kind: calendar.KindEvent, Input: concert}) },
			want:  importer.Report{Lines: 3, Applied: 3},
			check: func(t *testing.T, b *bench) {
				t.Helper()
				if e, f := b.byKey("s", "e"), b.byKey("s", "f"); e == nil || e.Version != 2 || e.Slug() != "concert-2" && e.Slug() != "concert-3" || f == nil || f.Slug() == e.Slug() {
					t.Errorf("got %+v and %+v", e, f)
				}
			},
		},
		"term": {
			lines: []string{tagLine, event("e", "Concert", `,"tags":[{"key":"air"}]`), event("f", "Party", `,"tags":["open air"]`)}, when: "tag.created",
			rival: func(_, fresh *bench) {
				other(fresh, command.Request{Kind: calendar.KindTag, Input: calendar.Input{"name": "open AIR"}})
			},
			want: importer.Report{Lines: 3, Applied: 3},
			check: func(t *testing.T, b *bench) {
				t.Helper()
				air := b.byKey("s", "air")
				if name := air.Fields.Text("name")[calendar.LangEN]; name != "open AIR" {
					t.Errorf("the tag is %q", name)
				}
				for _, key := range []string{"e", "f"} {
					if tags := b.byKey("s", key).Fields.IDs("tags"); len(tags) != 1 || tags[0] != air.ID {
						t.Errorf("%s has the tags %v, want %d", key, tags, air.ID)
					}
				}
			},
		},
		"record": {
			lines: []string{event("e", "Concert", ""), event("f", "Party", ""), update}, when: "event.updated",
			rival: func(b, fresh *bench) {
				id := b.byKey("s", "e").ID
				other(fresh, command.Request{Kind: calendar.KindEvent, Target: command.Target{ID: id}, Input: calendar.Input{"website": "https://a.example"}})
			},
			want: importer.Report{Lines: 3, Applied: 3},
			check: func(t *testing.T, b *bench) {
				t.Helper()
				if e := b.byKey("s", "e"); e.Version != 3 || e.Fields.String("website") == "" || e.Fields.Text("title")[calendar.LangEN] != "Gig" {
					t.Errorf("got %+v", e)
				}
			},
		},
		"key": {
			lines: []string{event("e", "Concert", ""), update, event("f", "Party", `,"post_parent":{"key":"e"}`)}, when: "event.created",
			rival: func(_, fresh *bench) {
				other(fresh, command.Request{
					Kind: calendar.KindTag, Input: calendar.Input{"name": "x"},
					Mark: &calendar.ImportMark{Source: "s", Line: 9, Key: "e"},
				})
			},
			want: importer.Report{Lines: 3, Refused: []importer.Refusal{{Line: 1, Key: "e"}, {Line: 2, Key: "e"}, {Line: 3, Key: "f"}}},
			check: func(t *testing.T, b *bench) {
				t.Helper()
				if b.byKey("s", "f") != nil {
					t.Error("an event has a parent that is none")
				}
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &counted{Store: memstore.New()}
			b, fresh := on(t, store), on(t, store.Store)
			var err error
			if b.admin, err = b.users.Ensure(t.Context(), "importing", calendar.Administrator, 0); err != nil {
				t.Fatal(err)
			}
			fresh.admin = b.admin
			met := false
			store.before = func(appends []eventstore.Append) {
				for _, a := range appends {
					if !met && len(a.Drafts) > 0 && a.Drafts[len(a.Drafts)-1].Change == c.when {
						if c.when == "event.updated" && b.byKey("s", "e") == nil {
							continue // with its create
						}
						met = true
						c.rival(b, fresh)
					}
				}
			}
			lines := c.lines
			if c.when == "event.updated" { // so that the event is there by then
				b.run("s", lines[:2]...)
			}
			got := b.run("s", lines...)
			got.Applied, got.Repeated = got.Applied+got.Repeated, 0
			for i := range got.Refused {
				got.Refused[i].Reason = ""
			}
			if d := cmp.Diff(c.want, got); d != "" || !met {
				t.Errorf("the rival came: %v; report (-want +got):\n%s", met, d)
			}
			c.check(t, b)
		})
	}
}

// TestDecidedMeanwhile: lines that were decided while others were committed are
// applied in order, on what those left, also when another writer was faster.
func TestDecidedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, rival := range []bool{false, true} {
		t.Run(fmt.Sprint("rival ", rival), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			store := &counted{Store: b.store.(*memstore.Store)}
			batch := on(t, store)
			batch.admin = b.admin
			// Commits wait until most of the lines that come meanwhile are decided.
			read := []chan struct{}{make(chan struct{}), make(chan struct{})}
			commits := 0
			store.before = func(appends []eventstore.Append) {
				if len(appends[0].Drafts) == 0 || commits == len(read) {
					return
				}
				<-read[commits]
				if commits++; !rival {
					return
				}
				commits = len(read) // what is applied anew waits for nothing
				if _, err := b.commands.Create(t.Context(), command.Request{
					Kind: calendar.KindEvent, Lang: calendar.LangEN, Caller: b.admin,
					Input: calendar.Input{"title": "Concert", "start_date": "2026-07-04", "end_date": "2026-07-04"},
				}); err != nil {
					t.Error(err)
				}
			}
			const n = 200
			r, w := io.Pipe()
			go func() {
				for i := range n {
					fmt.Fprintln(w, event(fmt.Sprint("e", i), "Concert", ""))
				}
				close(read[0])
				for i := range n {
					fmt.Fprintf(w, `{"action":"update","kind":"event","key":"e%d","fields":{"title":"Gig"}}`+"\n", i)
				}
				close(read[1])
				_ = w.Close()
			}()
			report, err := batch.importer("s").Run(t.Context(), r)
			if err != nil || report.Applied != 2*n || len(report.Refused) != 0 || commits != len(read) {
				t.Fatalf("%d lines were applied, %d refused: %v", report.Applied, len(report.Refused), err)
			}
			slugs := map[string]bool{}
			for i := range n {
				e := b.byKey("s", fmt.Sprint("e", i))
				if e == nil || e.Version != 2 || slugs[e.Slug()] {
					t.Fatalf("event %d is missing or has the slug of another one: %+v", i, e)
				}
				slugs[e.Slug()] = true
			}
		})
	}
}

// TestSlowLines: a line of a source that says no more for now is applied at once.
func TestSlowLines(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := b.importer("s").Run(t.Context(), r)
		ended <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	at := b.head()
	for _, line := range []string{tagLine, venueLine, topLine} {
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			t.Fatal(err)
		}
		before := at
		var err error
		if at, err = b.store.Wait(ctx, before); err != nil {
			t.Fatalf("the line was not applied: %v", err)
		}
	}
	// Whatever ends the source, what it gave is applied.
	if _, err := io.WriteString(w, strings.Replace(tagLine, "air", "field", 2)+"\n"+updateLine+"\n"); err != nil {
		t.Fatal(err)
	}
	broke := errors.New("line broke")
	_ = w.CloseWithError(broke)
	if err := <-ended; !errors.Is(err, broke) || b.byKey("s", "field") == nil {
		t.Errorf("the import ended with %v, the last line made %v", err, b.byKey("s", "field"))
	}
}
