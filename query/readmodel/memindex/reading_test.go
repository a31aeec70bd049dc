package memindex

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/readmodeltest"
)

// watched is a context that tells when it is looked at: an answer does so outside
// of the lock only.
type watched struct {
	context.Context
	looked func()
}

func (w watched) Err() error {
	w.looked()
	return w.Context.Err()
}

// shelf is an index of events with titles, and what it should hold.
type shelf struct {
	x    *Index
	held map[calendar.ID]readmodel.Document
	next calendar.Position
}

func newShelf(tb testing.TB) *shelf {
	tb.Helper()
	x, err := New(Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return &shelf{x: x, held: map[calendar.ID]readmodel.Document{}}
}

// put makes the document of an event; without a title it is deleted.
func (s *shelf) put(tb testing.TB, id calendar.ID, title string) readmodel.Document {
	tb.Helper()
	s.next++
	r := &calendar.Record{
		ID: id, Kind: calendar.KindEvent, Version: int64(s.next), Home: calendar.LangEN, Changed: time.Unix(1_900_000_000, 0).UTC(), Deleted: title == "",
		Fields: calendar.Fields{"title": calendar.Text{calendar.LangEN: title}, "status": "publish"},
	}
	body, err := calendar.EncodeRecord(r)
	if err != nil {
		tb.Fatal(err)
	}
	s.held[id] = readmodel.Document{Position: s.next, Record: r, Body: body}
	return s.held[id]
}

func (s *shelf) write(tb testing.TB, docs ...readmodel.Document) {
	tb.Helper()
	if _, err := s.x.Write(context.Background(), readmodel.Batch{Documents: docs, Mark: readmodeltest.At(s.next)}); err != nil {
		tb.Fatal(err)
	}
}

func (s *shelf) fill(tb testing.TB, n int, title func(i int) string) {
	tb.Helper()
	docs := make([]readmodel.Document, n)
	for i := range docs {
		docs[i] = s.put(tb, calendar.ID(1+i), title(i))
	}
	s.write(tb, docs...)
}

func titled(query string) readmodel.Text {
	return readmodel.Text{Fields: []string{readmodel.TextName}, Search: readmodel.ParseSearch(query, calendar.LangEN)}
}

func (s *shelf) search(ctx context.Context, f readmodel.Filter) (readmodel.Page, error) {
	return s.x.Search(ctx, readmodel.Query{Kind: calendar.KindEvent, Filter: f, Limit: 1000, Sort: []readmodel.Sort{{Field: readmodel.FieldID}}})
}

// within fails when f waits for something.
func within(tb testing.TB, what string, f func()) {
	tb.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		tb.Fatalf("%s waits for a search", what)
	}
}

// TestScanHoldsNoLock: while a search looks into documents, everything else goes
// on, and the search still answers with the state of one moment.
func TestScanHoldsNoLock(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{"row": `"of the"`, "without a row": `-"the of"`, "beginnings": "some othe"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			s.x.mostSteps = 100
			s.fill(t, 300, func(i int) string { return fmt.Sprintf("some%d of the other%d", i, i) })
			looks := 0
			ctx := watched{t.Context(), func() {
				if looks++; looks != 3 {
					return
				}
				within(t, "a write", func() {
					s.write(t, s.put(t, 7, "nothing and the of"), s.put(t, 8, ""), s.put(t, 999, "some of the other"))
				})
				within(t, "Visible", func() {
					if p, err := s.x.Visible(context.Background()); err != nil || p.Position != s.next {
						t.Errorf("visible %d, %v; want %d", p.Position, err, s.next)
					}
				})
				within(t, "another search", func() {
					if page, err := s.search(context.Background(), titled("nothing")); err != nil || page.Total != 1 {
						t.Errorf("the other search found %d, %v; want 1", page.Total, err)
					}
				})
			}}
			page, err := s.search(ctx, titled(query))
			if err != nil || looks < 3 {
				t.Fatalf("%v after %d looks at the context", err, looks)
			}
			if page.Total != 299 || page.Position != s.next || page.Documents[298].Record.ID != 999 {
				t.Errorf("found %d at %d, want 299 at %d, the new one among them", page.Total, page.Position, s.next)
			}
		})
	}
}

// TestEndOfARequestEndsItsSearch: nobody works for a client that has gone.
func TestEndOfARequestEndsItsSearch(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.x.mostSteps = 100
	s.fill(t, 1000, func(i int) string { return fmt.Sprintf("some%d of the other%d", i, i) })
	for _, query := range []string{`"of the"`, "some othe"} {
		ctx, cancel := context.WithCancel(t.Context())
		looks := 0
		_, err := s.search(watched{ctx, func() {
			if looks++; looks == 3 {
				cancel()
			}
		}}, titled(query))
		if !errors.Is(err, context.Canceled) || looks != 3 {
			t.Errorf("%s: %v after %d looks, want %v after 3", query, err, looks, context.Canceled)
		}
	}
}

// TestScansTakeTurns: as many searches read texts at a time as there are
// processors; one that waits for its turn ends with its request, and searches that
// read no text do not wait.
func TestScansTakeTurns(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.fill(t, 3, func(int) string { return "some of the other" })
	for range cap(s.x.scans) {
		s.x.scans <- struct{}{}
	}
	if page, err := s.search(t.Context(), titled("some -zebra")); err != nil || page.Total != 3 {
		t.Errorf("found %d, %v; want 3", page.Total, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := s.search(ctx, titled(`"of the"`)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	<-s.x.scans
	if page, err := s.search(t.Context(), titled(`"of the"`)); err != nil || page.Total != 3 {
		t.Errorf("found %d, %v; want 3", page.Total, err)
	}
}

// TestSearchAmongWrites: however much is written while a search is under way, its
// answer is what the filter means in the state that it names. Each round has an end of
// writes, as some searches never catch up; now and then it is so far that they begin anew.
func TestSearchAmongWrites(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(7, 1))
	words := strings.Fields("of the a jazz jazzy running runs ran music musical 音乐 音乐会 会")
	text := func(most int) string {
		out := make([]string, 1+g.IntN(most))
		for i := range out {
			out[i] = words[g.IntN(len(words))]
			if g.IntN(4) == 0 { // a word that comes and goes
				out[i] += strconv.Itoa(g.IntN(500))
			}
		}
		return strings.Join(out, " ")
	}
	for round := range 200 {
		s := newShelf(t)
		s.x.mostSteps = 1 + g.IntN(200)
		s.fill(t, 150, func(int) string { return text(6) })
		last := s.next + 4*fewDocs
		if round%20 == 0 {
			last = s.next + keptChanges + 4*fewDocs
		}
		ctx := watched{t.Context(), func() {
			if s.next > last {
				return
			}
			var docs []readmodel.Document
			switch g.IntN(10) {
			case 0:
				for range 2 * fewDocs {
					docs = append(docs, s.put(t, calendar.ID(1+g.IntN(200)), text(6)))
				}
			case 1, 2, 3:
				docs = append(docs, s.put(t, calendar.ID(1+g.IntN(200)), text(6)), s.put(t, calendar.ID(1+g.IntN(200)), ""))
			default:
				return
			}
			s.write(t, docs...)
		}}
		part := func() string {
			q := []string{"", "", "-"}[g.IntN(3)]
			if g.IntN(2) == 0 {
				return q + `"` + text(3) + `"`
			}
			return q + words[g.IntN(len(words))]
		}
		var f readmodel.Filter = titled(part() + " " + part())
		switch g.IntN(4) {
		case 0:
			f = readmodel.Not{Filter: f}
		case 1:
			f = readmodel.Or{readmodel.And{f, titled(part())}, readmodel.Not{Filter: titled(part())}}
		case 2:
			f = readmodel.And{readmodel.Not{Filter: titled(part())}, f}
		}
		page, err := s.search(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []calendar.ID
		for _, d := range page.Documents {
			got = append(got, d.Record.ID)
		}
		for id := calendar.ID(1); id <= 200; id++ {
			if d, ok := s.held[id]; ok && !d.Record.Deleted && readmodel.Match(f, &d) {
				want = append(want, id)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || page.Total != len(want) {
			t.Fatalf("round %d: %+v: found %d: %v\nwant %v", round, f, page.Total, got, want)
		}
	}
}

// TestSearchBeginsAnew: more changes than are remembered, and an index that is
// emptied, meanwhile.
func TestSearchBeginsAnew(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(s *shelf){
		"many changes": func(s *shelf) {
			s.write(t, s.put(t, 101, "other")) // the first that is not remembered
			for range keptChanges/100 + 1 {
				s.fill(t, 100, func(i int) string { return []string{"some of the other", "some of all the other"}[i%2] })
			}
		},
		"emptied": func(s *shelf) {
			if err := s.x.Reset(context.Background()); err != nil {
				t.Error(err)
			}
			s.fill(t, 50, func(int) string { return "of the new" })
		},
	} {
		s := newShelf(t)
		s.fill(t, 101, func(int) string { return "some of the other" })
		looks := 0
		page, err := s.search(watched{t.Context(), func() {
			if looks++; looks == 2 {
				meanwhile(s)
			}
		}}, titled(`"of the"`))
		if err != nil || page.Total != 50 || page.Position != s.next {
			t.Errorf("%s: found %d at %d, %v; want 50 at %d", name, page.Total, page.Position, err, s.next)
		}
	}
}

// TestWorkOfASearch: the steps of the worst searches that are taken stay within a
// bound that grows with the texts, and not with the parts of the search.
func TestWorkOfASearch(t *testing.T) {
	t.Parallel()
	const events = 4000
	s := newShelf(t)
	bytes := 0
	s.fill(t, events, func(i int) string {
		title := strings.Repeat("the of in a to and ", 20) + fmt.Sprint("word", i)
		bytes += len(title)
		return title
	})
	parts := func(n int, part func(i int) string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = part(i)
		}
		return strings.Join(all, " ")
	}
	words := strings.Fields("the of in a to and")
	other := func(i int) string { return words[i%6] + " " + words[(i*5+2)%6] }
	for name, query := range map[string]string{
		"one row":           `"of the"`,
		"many rows":         parts(readmodel.MaxRows, func(i int) string { return `"` + other(i) + `"` }),
		"without many rows": parts(readmodel.MaxRows, func(i int) string { return `-"` + other(i) + `"` }),
		"a long row":        `"` + strings.Repeat("the of in a to and ", 25) + `of"`,
		"without long rows": parts(readmodel.MaxRows, func(i int) string { return `-"` + strings.Repeat("the of in a to and ", 3) + words[i%6] + `"` }),
		"beginnings":        parts(readmodel.MaxWords, func(i int) string { return fmt.Sprint("word", i) }),
		"without":           parts(readmodel.MaxWords, func(i int) string { return fmt.Sprint("-word", i) }),
		"all the words":     "wo",
		"the same":          strings.Repeat(`"of the" wo `, 40),
	} {
		r := newReading(s.x, calendar.KindEvent, []readmodel.Filter{titled(query)})
		if err := r.run(t.Context(), func(*evaluation, int, result) {}); err != nil {
			t.Fatal(err)
		}
		work := r.work + r.steps
		r.release()
		// Each text once, and the lists and the sets of the words.
		if limit := bytes + 40*events; work > limit {
			t.Errorf("%s: %d steps, want at most %d", name, work, limit)
		}
	}
}

// TestRowsBeginWithAWord: the last byte of the number of one word is the number of
// another one; a row never begins there.
func TestRowsBeginWithAWord(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	all := make([]string, 1000)
	for i := range all {
		all[i] = fmt.Sprintf("w%d", i+1) // its number is i+1
	}
	s.write(t, s.put(t, 1, strings.Join(all, " ")), s.put(t, 2, "w5 w900 w6 w641 w6 w900 w5"), s.put(t, 3, "w900 w5 w6"))
	d := s.x.kinds[calendar.KindEvent].texts.dicts[calendar.LangEN]
	first, _ := d.ids.get("w5")
	if second, _ := d.ids.get("w641"); first != 5 || second != 5<<7+1 {
		t.Fatalf("numbers %d and %d", first, second)
	}
	page, err := s.search(t.Context(), titled(`"w5 w6"`))
	if err != nil || page.Total != 2 || page.Documents[1].Record.ID != 3 {
		t.Errorf("found %d, %v; want 1 and 3", page.Total, err)
	}
}
