package query

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/param"
)

// samples are those of a row in testdata/samples.txt.
func samples(tb testing.TB, kind calendar.Kind, name string) []string {
	tb.Helper()
	for _, line := range readLines(tb, "samples.txt") {
		if strings.HasPrefix(line, name+" | ") || strings.HasPrefix(line, kind.String()+" "+name+" | ") {
			return strings.Split(strings.ReplaceAll(line, "$cursor", sampleCursor(tb)), " | ")[1:]
		}
	}
	tb.Fatal("no samples")
	return nil
}

// sampleCursor is one of the list without parameters.
func sampleCursor(tb testing.TB) string {
	tb.Helper()
	service, _, _, _ := setup(tb, recordsIn(tb, "listings.txt"))
	l, _, err := list(tb, service, editor, input("cursor=*&per_page=1"))
	if err != nil {
		tb.Fatal(err)
	}
	return l.Next
}

// same reports whether two criteria have the same answer at one generation.
func (criteria *Criteria) same(o *Criteria) bool {
	a, b := *criteria, *o
	for _, x := range []*Criteria{&a, &b} {
		x.Key, x.Input, x.Links, x.Sent, x.Paged, x.Moves, x.LooksUp = "", nil, nil, nil, false, false, false
	}
	if a.Walk != nil && b.Walk != nil { // whose cursors know whether the window was sent
		if !slices.Equal(a.Walk.At, b.Walk.At) {
			return false
		}
		a.Walk, b.Walk = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// TestRows: the columns of every row say what its reader does: whether links and keys hold it,
// and whether it asks the store. Sent empty, every parameter is refused but _fields.
func TestRows(t *testing.T) {
	t.Parallel()
	for _, kind := range calendar.Kinds {
		for _, row := range Params(kind.Collection()) {
			t.Run(kind.String()+" "+row.Name, func(t *testing.T) {
				t.Parallel()
				service, store, _, now := setup(t, world(t))
				request := func(sent string) Request {
					input := calendar.Input{}
					values, _ := url.ParseQuery(sent)
					for name := range values {
						input[name] = values.Get(name)
					}
					return Request{Kind: kind, Input: input, Caller: editor, Lang: calendar.LangEN}
				}
				parse := func(sent string) *Criteria {
					criteria, err := service.Parse(t.Context(), request(sent))
					if err != nil {
						t.Fatalf("%s: %v", sent, err)
					}
					return criteria
				}
				of, keys := samples(t, kind, row.Name), map[string]bool{}
				for _, sent := range of[:2] {
					store.asked.Store(0)
					criteria := parse(sent)
					if asked := store.asked.Load() > 0; asked != criteria.LooksUp {
						t.Errorf("%s: asks the store %t, is marked %t", sent, asked, criteria.LooksUp)
					}
					keys[criteria.Key] = true
					links := param.LinksTo("", criteria.Links)
					link := strings.TrimPrefix(links.Page(criteria.Page), "?")
					if again := parse(link); !again.same(criteria) {
						t.Errorf("%s: %s is another list", sent, link)
					}
				}
				if len(keys) != 2 {
					t.Error("two values have one key")
				}
				for _, empty := range []any{"", " \u00a0\t", nil} {
					r := request(of[0])
					r.Input[row.Name] = empty
					_, err := service.Parse(t.Context(), r)
					problem, refused := asError(err)
					if named := refused && slices.ContainsFunc(problem.Fields, func(fieldError calendar.FieldError) bool { return fieldError.Field == row.Name }); named != (row.Name != "_fields") {
						t.Errorf("%s=%q: %v", row.Name, empty, err)
					}
				}
				if kind == calendar.KindEvent {
					showsBlanked(t, of[0], row.Hides)
				}
				if len(of) < 3 {
					return
				}
				before := parse(of[2])
				for _, slugs := range [][2]calendar.ID{{31, 33}, {40, 41}} { // they change names
					a, b := store.byID[slugs[0]], store.byID[slugs[1]]
					store.byID[a.ID] = record(t, a.Kind, a.ID, "A", fields{"slug": b.Slug()})
					store.byID[b.ID] = record(t, b.Kind, b.ID, "B", fields{"slug": a.Slug()})
				}
				store.byID[100] = event(t, 100, "Quay concert", "2030-05-10", "2030-05-10", fields{
					"venue": ids(53), "organizer": ids(63), "categories": ids(34), "tags": ids(43),
				})
				step := time.Second
				if row.Name == "when" {
					step = 24 * time.Hour
				}
				*now = now.Add(step)
				if after := parse(of[2]); before.same(after) || before.Key == after.Key {
					t.Errorf("%s: a moment later it means the same, or has the same key", of[2])
				}
			})
		}
	}
}

// showsBlanked compares lists over an event that the caller gets blanked with those over
// one that shows the same and has nothing else: no filter is to tell them apart.
func showsBlanked(t *testing.T, sent string, hides bool) {
	t.Helper()
	records := world(t)
	at := slices.IndexFunc(records, func(record *calendar.Record) bool { return record.ID == 106 })
	full := records[at]
	lists := func(protected bool) (out [2]string) {
		for i := range out {
			f := fields{"author": full.Author()}
			if i == 0 {
				maps.Copy(f, full.Fields)
			}
			f["protected"] = protected
			records[at] = event(t, full.ID, "Secret jam", "2030-05-16 09:00:00", "2030-05-16 10:00:00", f)
			service, _, _, _ := setup(t, records)
			in := input(sent + "&per_page=50")
			delete(in, "page")
			if l, _, err := list(t, service, anonymous, in); err == nil { // else not for everybody
				out[i] = fmt.Sprint(idsOf(l))
			}
		}
		return out
	}
	if l := lists(true); l[0] != l[1] {
		t.Errorf("%s tells what a blanked event has: %v, %v", sent, l[0], l[1])
	}
	if l := lists(false); hides && l[0] == l[1] {
		t.Errorf("%s leaves blanked events out for nothing", sent)
	}
}

// TestKey: criteria of one line of testdata/keys.txt have one key, those of two lines have two.
func TestKey(t *testing.T) {
	t.Parallel()
	service, _, _, _ := setup(t, world(t))
	lines := map[string]string{}
	for _, line := range readLines(t, "keys.txt") {
		keys := map[string]bool{}
		for row := range strings.SplitSeq(line, " | ") {
			row, french := strings.CutPrefix(row, "fr ")
			request := asked(t, row)
			if french {
				request.Lang = calendar.LangFR
			}
			criteria, err := service.Parse(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			keys[criteria.Key] = true
			if other := lines[criteria.Key]; other != "" && other != line {
				t.Errorf("%s has the key of %s", row, other)
			}
			lines[criteria.Key] = line
		}
		if len(keys) != 1 {
			t.Errorf("%s: %d keys", line, len(keys))
		}
	}
}
