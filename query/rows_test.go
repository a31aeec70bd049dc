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
	"daybook/query/readmodel"
)

// samples are those of a row in testdata/samples.txt.
func samples(tb testing.TB, k calendar.Kind, name string) []string {
	tb.Helper()
	for _, line := range readLines(tb, "samples.txt") {
		cells := strings.Split(strings.ReplaceAll(line, "$cursor", sampleCursor(tb)), " | ")
		if cells[0] == name || cells[0] == k.String()+" "+name {
			return cells[1:]
		}
	}
	return nil
}

// sampleCursor is one of the list without parameters.
func sampleCursor(tb testing.TB) string {
	tb.Helper()
	s, _, _, _ := setup(tb, world(tb))
	c, err := s.Parse(tb.Context(), Request{Kind: calendar.KindEvent, Lang: calendar.LangEN, Caller: editor, Input: calendar.Input{"cursor": "*"}})
	if err != nil {
		tb.Fatal(err)
	}
	return cursor{Now: c.walk.Now, At: []readmodel.Key{{N: 1, Has: true}, {}, {N: 100, Has: true}}}.encode(c.walk.params)
}

// wrongRows says what is wrong with the row of a table: which of its columns does not
// say what its reader does.
func wrongRows(t *testing.T, k calendar.Kind, rows Parameters, name string) (wrong []string) {
	t.Helper()
	of := samples(t, k, name)
	if len(of) < 2 {
		return []string{"no samples"}
	}
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	s, store, _, now := setup(t, world(t))
	parse := func(sent string) *Criteria {
		in := calendar.Input{}
		values, err := url.ParseQuery(sent)
		for name := range values {
			in[name] = values.Get(name)
		}
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Parse(t.Context(), Request{Kind: k, Input: in, Caller: editor, Lang: calendar.LangEN, Params: rows})
		if err != nil {
			t.Fatalf("%s %s: %v", k, sent, err)
		}
		return c
	}
	keys := map[string]bool{}
	for _, sent := range of[:2] {
		store.loaded, store.looked = 0, 0
		c := parse(sent)
		if asked := store.loaded+store.looked > 0; asked != c.LooksUp {
			say("%s: asks the store %t, is marked %t", sent, asked, c.LooksUp)
		}
		keys[c.Key] = true
		links := LinksTo("", c.Links)
		link := strings.TrimPrefix(links.Page(c.Page), "?")
		carried, _ := url.ParseQuery(link)
		values, _ := url.ParseQuery(sent)
		for p := range values {
			if carried.Get(p) != values.Get(p) && (p != "page" || c.Page != 1) {
				say("%s: the link has %s=%q", sent, p, carried.Get(p))
			}
		}
		if again := parse(link); !again.same(c) {
			say("%s: %s is another list", sent, link)
		}
	}
	if len(keys) != 2 {
		say("two values have one key")
	}
	if len(of) > 2 {
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
		if name == "when" {
			step = 24 * time.Hour
		}
		*now = now.Add(step)
		after := parse(of[2])
		if before.same(after) {
			t.Fatalf("%s: means the same a moment later", of[2])
		}
		if before.Key == after.Key {
			say("%s: means another thing and has the same key", of[2])
		}
	}
	if k == calendar.KindEvent {
		wrong = append(wrong, showsBlanked(t, rows, of[0])...)
	}
	return wrong
}

// same reports whether two criteria have the same answer at one generation.
func (c *Criteria) same(o *Criteria) bool {
	a, b := *c, *o
	for _, x := range []*Criteria{&a, &b} {
		x.Key, x.Links, x.Sent, x.Paged, x.Moves, x.LooksUp = "", nil, nil, false, false, false
	}
	if a.walk != nil && b.walk != nil { // whose cursors know whether the window was sent
		if !slices.Equal(a.walk.At, b.walk.At) {
			return false
		}
		a.walk, b.walk = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// showsBlanked compares lists over an event that the caller gets blanked with those over
// one that shows the same and has nothing else: no filter is to tell them apart.
func showsBlanked(t *testing.T, rows Parameters, sent string) (wrong []string) {
	t.Helper()
	records := world(t)
	at := slices.IndexFunc(records, func(r *calendar.Record) bool { return r.ID == 106 })
	full := records[at]
	lists := func(protected bool) (out [2][]calendar.ID) {
		for i := range out {
			f := fields{"author": full.Author()}
			if i == 0 {
				maps.Copy(f, full.Fields)
			}
			f["protected"] = protected
			other := slices.Clone(records)
			other[at] = event(t, full.ID, "Secret jam", "2030-05-16 09:00:00", "2030-05-16 10:00:00", f)
			s, _, _, _ := setup(t, other)
			c, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(sent), Lang: calendar.LangEN, Params: rows})
			if err != nil {
				return out // not for everybody
			}
			c.Page, c.PerPage = 1, 50
			l, err := s.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			out[i] = idsOf(l)
		}
		return out
	}
	if l := lists(true); !slices.Equal(l[0], l[1]) {
		wrong = append(wrong, fmt.Sprintf("%s tells what a blanked event has: %v, %v", sent, l[0], l[1]))
	}
	marked := false
	for _, p := range rows {
		marked = marked || p.Hides && strings.Contains("&"+sent, "&"+p.Name+"=")
	}
	if l := lists(false); marked && slices.Equal(l[0], l[1]) {
		wrong = append(wrong, sent+" leaves blanked events out for nothing")
	}
	return wrong
}

// changed gives a table with other rows in place of some, of a sample.
func (p Parameters) changed(sent string, change func(*Param)) Parameters {
	params := slices.Clone(p)
	for i := range params {
		if strings.Contains("&"+sent, "&"+params[i].Name+"=") {
			change(&params[i])
		}
	}
	return params
}

// TestRows: the columns of every row say what its reader does, and a row that is changed
// as a hasty hand would is found.
func TestRows(t *testing.T) {
	t.Parallel()
	unresolved := func(p *Param) {
		read := p.Read
		p.Read = func(q *parser, v *param.Value) {
			n := len(q.resolved)
			read(q, v)
			q.resolved = q.resolved[:n]
		}
	}
	for _, k := range calendar.Kinds {
		for _, p := range Params(k) {
			t.Run(k.String()+" "+p.Name, func(t *testing.T) {
				t.Parallel()
				for _, wrong := range wrongRows(t, k, Params(k), p.Name) {
					t.Error(wrong)
				}
				of := samples(t, k, p.Name)
				found := func(what, sent string, change func(*Param)) {
					t.Helper()
					if len(wrongRows(t, k, Params(k).changed(sent, change), p.Name)) == 0 {
						t.Error(what, "is not found")
					}
				}
				if p.Name != "page" {
					found("a row that is not in links and keys", of[0], func(p *Param) { p.Unlinked = true })
				}
				if len(of) > 2 {
					found("a meaning that is not in the key", of[2], unresolved)
				}
				if p.Hides {
					found("a row that tells what is blanked", of[0], func(p *Param) { p.Hides = false })
				}
			})
		}
	}
}
