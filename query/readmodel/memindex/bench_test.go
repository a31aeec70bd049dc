package memindex_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
	"daybook/query/readmodel/readmodeltest"
)

type bench struct {
	x *memindex.Index
	c *readmodeltest.Corpus
	n int
}

var benches = map[int]*bench{}

func benchOf(b *testing.B, n int) *bench {
	b.Helper()
	if have := benches[n]; have != nil {
		return have
	}
	clear(benches)
	x, err := memindex.New(memindex.Options{})
	if err != nil {
		b.Fatal(err)
	}
	have := &bench{x, readmodeltest.NewCorpus(n, 1), n}
	err = have.c.Fill(func(batch readmodel.Batch) error {
		_, err := x.Write(b.Context(), batch)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	benches[n] = have
	return have
}

func sizes(b *testing.B, f func(b *testing.B, have *bench)) {
	b.Helper()
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			have := benchOf(b, n)
			from := processor(b)
			f(b, have)
			b.ReportMetric(float64((processor(b)-from).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

func search(b *testing.B, x *memindex.Index, q readmodel.Query) readmodel.Page {
	b.Helper()
	p, err := x.Search(b.Context(), q)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func BenchmarkDefaultList(b *testing.B) {
	sizes(b, func(b *testing.B, have *bench) {
		b.Helper()
		q := readmodel.Query{Kind: calendar.KindEvent, Filter: readmodeltest.Window(0), Sort: readmodeltest.ByStart(), Limit: 10}
		total := 0
		for b.Loop() {
			total = search(b, have.x, q).Total
		}
		b.ReportMetric(float64(total), "total")
	})
}

func BenchmarkOtherWindow(b *testing.B) {
	sizes(b, func(b *testing.B, have *bench) {
		b.Helper()
		i := 0
		for b.Loop() {
			i++
			search(b, have.x, readmodel.Query{
				Kind: calendar.KindEvent, Filter: readmodeltest.Window(i % 400), Sort: readmodeltest.ByStart(), Limit: 10,
			})
		}
	})
}

// BenchmarkAnyPage asks for pages of all that come with another window each.
func BenchmarkAnyPage(b *testing.B) {
	sizes(b, func(b *testing.B, have *bench) {
		b.Helper()
		i := int64(0)
		for b.Loop() {
			i++
			lo, hi := -i, int64(1)<<40+i
			f := append(readmodeltest.Listed(), readmodel.Range{Field: readmodel.FieldStart, Min: &lo}, readmodel.Range{Field: readmodel.FieldEnd, Max: &hi})
			search(b, have.x, readmodel.Query{
				Kind: calendar.KindEvent, Filter: f, Sort: readmodeltest.ByStart(), Offset: int(i*7919) % (have.n / 2), Limit: 10,
			})
		}
	})
}

func BenchmarkCategoryTagAndWindow(b *testing.B) {
	sizes(b, func(b *testing.B, have *bench) {
		b.Helper()
		i := 0
		for b.Loop() {
			i++
			f := append(
				readmodeltest.Window(i%400),
				readmodel.In{Field: readmodel.FieldCategories, IDs: []calendar.ID{readmodeltest.CorpusCategory + calendar.ID(i%20)}},
				readmodel.In{Field: readmodel.FieldTags, IDs: []calendar.ID{readmodeltest.CorpusTag + calendar.ID(i%50)}},
			)
			search(b, have.x, readmodel.Query{Kind: calendar.KindEvent, Filter: f, Sort: readmodeltest.ByStart(), Limit: 10})
		}
	})
}

func BenchmarkDeepPage(b *testing.B) {
	sizes(b, func(b *testing.B, have *bench) {
		b.Helper()
		q := readmodel.Query{
			Kind: calendar.KindEvent, Filter: readmodeltest.Window(0), Sort: readmodeltest.ByStart(), Offset: have.n / 3, Limit: 10,
		}
		for b.Loop() {
			search(b, have.x, q)
		}
	})
}

func BenchmarkTextAndWindow(b *testing.B) {
	for _, kind := range []string{"words", "frequent", "beginning", "phrase", "without"} {
		b.Run(kind, func(b *testing.B) {
			sizes(b, func(b *testing.B, have *bench) {
				b.Helper()
				i, total := 0, 0
				for b.Loop() {
					i++
					var query string
					switch kind {
					case "words":
						query = have.c.Word(40+i%200) + " " + have.c.Word(300+i%700)
					case "frequent":
						query = have.c.Word(i%10) + " " + have.c.Word(20+i%7)
					case "beginning":
						query = have.c.Word(i % 200)[:3]
					case "phrase":
						query = `"` + have.c.Word(i%10) + " " + have.c.Word(i%20) + `"`
					default:
						query = have.c.Word(40+i%200) + " -" + have.c.Word(i%40)
					}
					f := append(readmodeltest.Window(i%400), readmodel.Text{Fields: readmodel.SchemaOf(calendar.KindEvent).Texts(), Search: readmodel.ParseSearch(
						query, calendar.LangEN)})
					total += search(b, have.x, readmodel.Query{Kind: calendar.KindEvent, Filter: f, Sort: readmodeltest.ByStart(), Limit: 10}).Total
				}
				b.ReportMetric(float64(total)/float64(i), "found/op")
			})
		})
	}
}

func BenchmarkNear(b *testing.B) {
	sizes(b, func(b *testing.B, have *bench) {
		b.Helper()
		total, i := 0, 0
		for b.Loop() {
			i++
			venues := search(b, have.x, readmodel.Query{
				Kind:   calendar.KindVenue,
				Filter: readmodel.Near{Field: readmodel.FieldPoint, Lat: 40 + float64(i%50)/25, Lng: -75, Km: 100}, Limit: 100_000,
			})
			ids := make([]calendar.ID, len(venues.Documents))
			for i := range venues.Documents {
				ids[i] = venues.Documents[i].Record.ID
			}
			total += search(b, have.x, readmodel.Query{
				Kind: calendar.KindEvent, Filter: append(readmodeltest.Window(0), readmodel.In{Field: readmodel.FieldVenue, IDs: ids}),
				Sort: readmodeltest.ByStart(), Limit: 10,
			}).Total
		}
		b.ReportMetric(float64(total)/float64(i), "found/op")
	})
}

func BenchmarkCounts(b *testing.B) {
	sizes(b, func(b *testing.B, have *bench) {
		b.Helper()
		for b.Loop() {
			for _, field := range []string{readmodel.FieldCategories, readmodel.FieldTags} {
				if _, err := have.x.Counts(b.Context(), calendar.KindEvent, field, readmodeltest.Listed()); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func BenchmarkUpdate(b *testing.B) {
	sizes(b, func(b *testing.B, have *bench) {
		b.Helper()
		docs := make([]readmodel.Document, 2000)
		for i := range docs {
			docs[i] = have.c.Event(i % have.n)
		}
		next := docs[len(docs)-1].Position
		i := 0
		for b.Loop() {
			d := docs[i%len(docs)]
			next++
			d.Position = next
			i++
			if _, err := have.x.Write(b.Context(), readmodel.Batch{Documents: []readmodel.Document{d}, Mark: readmodeltest.At(next)}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkMemory(b *testing.B) {
	have := benchOf(b, 100_000)
	var m runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&m)
	}
	b.ReportMetric(float64(m.HeapAlloc)/1e6, "heap-MB")
	b.ReportMetric(float64(m.HeapSys)/1e6, "heapsys-MB")
	runtime.KeepAlive(have)
}

func BenchmarkSnapshot(b *testing.B) {
	path := filepath.Join(b.TempDir(), "index")
	x, err := memindex.Open(b.Context(), path, memindex.Options{})
	if err != nil {
		b.Fatal(err)
	}
	c := readmodeltest.NewCorpus(100_000, 1)
	var last readmodel.Batch
	err = c.Fill(func(batch readmodel.Batch) error {
		last = batch
		_, err := x.Write(b.Context(), batch)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Write(b.Context(), readmodel.Batch{Mark: last.Mark}); err != nil {
				b.Fatal(err)
			}
			if err := x.Snapshot(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	x = nil
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			if x, err = memindex.Open(b.Context(), path, memindex.Options{}); err != nil {
				b.Fatal(err)
			}
		}
		if p, err := x.Marks(b.Context()); err != nil || p.All != last.Mark {
			b.Fatalf("marks %v, %v; want %s", p, err, last.Mark)
		}
	})
}

// BenchmarkTypos searches real words with a typo in each, and the best first: words of a
// calendar with an endless tail.
func BenchmarkTypos(b *testing.B) {
	have := benchOf(b, 50_000)
	fields := readmodel.SchemaOf(calendar.KindEvent).Texts()
	for _, c := range []struct {
		name  string
		typos int
		rank  bool
		query func(i int) string
	}{
		{"off", 0, false, func(i int) string { return have.c.Word(40 + i%200) }},
		{"word", 2, false, func(i int) string { return misspelt(have.c.Word(40+i%200), i) }},
		{"words", 2, false, func(i int) string {
			return misspelt(have.c.Word(40+i%200), i) + " " + misspelt(have.c.Word(300+i%700), i+1)
		}},
		{"best first", 2, true, func(i int) string { return misspelt(have.c.Word(40+i%200), i) + " " + have.c.Word(300+i%700) }},
		{"best of many", 0, true, func(i int) string { return have.c.Word(i % 10) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			i, total := 0, 0
			var took []time.Duration
			for b.Loop() {
				i++
				text := readmodel.Text{Fields: fields, Search: readmodel.ParseSearch(c.query(i), calendar.LangEN), Typos: c.typos}
				q := readmodel.Query{Kind: calendar.KindEvent, Filter: append(readmodeltest.Window(i%400), text), Sort: readmodeltest.ByStart(), Limit: 10}
				if c.rank {
					q.Sort = append([]readmodel.Sort{{Rank: &readmodel.Relevance{Text: text}, Desc: true}}, q.Sort...)
				}
				at := time.Now()
				total += search(b, have.x, q).Total
				took = append(took, time.Since(at))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			b.ReportMetric(float64(total)/float64(i), "found/op")
		})
	}
}

// misspelt makes one typo in a word.
func misspelt(word string, i int) string {
	r := []rune(word)
	at := i % len(r)
	switch i % 4 {
	case 0:
		return string(r[:at]) + "q" + string(r[at:])
	case 1:
		return string(r[:at]) + string(r[at+1:])
	case 2:
		r[at] = 'q'
	default:
		at = min(at, len(r)-2)
		r[at], r[at+1] = r[at+1], r[at]
	}
	return string(r)
}
