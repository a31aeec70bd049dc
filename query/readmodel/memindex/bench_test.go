package memindex_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
	"daybook/query/readmodel/readmodeltest"
)

// benchOf fills an index with a corpus of n events.
func benchOf(b *testing.B, n int) (*memindex.Index, *readmodeltest.Corpus) {
	b.Helper()
	x, err := memindex.Open(b.Context(), filepath.Join(b.TempDir(), "index"), memindex.Options{})
	if err != nil {
		b.Fatal(err)
	}
	c := readmodeltest.NewCorpus(n, 1)
	err = c.Fill(func(batch readmodel.Batch) error {
		_, err := x.Write(b.Context(), batch)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return x, c
}

// BenchmarkIndex measures searches, another one each time unless their name says otherwise,
// counts, writes and snapshots.
func BenchmarkIndex(b *testing.B) {
	window := func(i int, more ...readmodel.Filter) readmodel.Query {
		return readmodel.Query{Kind: calendar.KindEvent, Filter: append(readmodeltest.Window(i%400), more...), Sort: readmodeltest.ByStart(), Limit: 10}
	}
	text := func(i, typos int, query string) readmodel.Query {
		return window(i, readmodel.Text{Fields: readmodel.SchemaOf(calendar.KindEvent).Texts(), Search: readmodel.ParseSearch(query, calendar.LangEN), Spelling: readmodel.Spelling{Typos: typos}})
	}
	best := func(q readmodel.Query) readmodel.Query {
		and, _ := q.Filter.(readmodel.And)
		if found, is := and[len(and)-1].(readmodel.Text); is {
			q.Sort = append([]readmodel.Sort{{Rank: &readmodel.Relevance{Text: found}, Desc: true}}, q.Sort...)
		}
		return q
	}
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			x, c := benchOf(b, n)
			measure := func(name string, do func(i int) error) {
				b.Run(name, func(b *testing.B) {
					from := processor(b)
					for i := 1; b.Loop(); i++ {
						if err := do(i); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64((processor(b)-from).Microseconds())/float64(b.N), "cpu-µs/op")
				})
			}
			search := func(name string, query func(i int) readmodel.Query) {
				measure(name, func(i int) error {
					_, err := viewOf(b, x).Search(b.Context(), query(i))
					return err
				})
			}
			search("the same list", func(int) readmodel.Query { return window(0) })
			search("window", func(i int) readmodel.Query { return window(i) })
			search("page", func(i int) readmodel.Query {
				lo, hi := int64(-i), int64(1)<<40+int64(i)
				q := window(0)
				q.Filter = append(readmodeltest.Listed(), readmodel.Range{Field: readmodel.FieldStart, Min: &lo}, readmodel.Range{Field: readmodel.FieldEnd, Max: &hi})
				q.Offset = i * 7919 % (n / 2)
				return q
			})
			search("category and tag", func(i int) readmodel.Query {
				return window(i, readmodel.In{Field: readmodel.FieldCategories, IDs: []calendar.ID{readmodeltest.CorpusCategory + calendar.ID(i%20)}},
					readmodel.In{Field: readmodel.FieldTags, IDs: []calendar.ID{readmodeltest.CorpusTag + calendar.ID(i%50)}})
			})
			search("words", func(i int) readmodel.Query { return text(i, 0, c.Word(40+i%200)+" "+c.Word(300+i%700)) })
			search("frequent words", func(i int) readmodel.Query { return text(i, 0, c.Word(i%10)+" "+c.Word(20+i%7)) })
			search("beginning", func(i int) readmodel.Query { return text(i, 0, c.Word(i % 200)[:3]) })
			search("phrase", func(i int) readmodel.Query { return text(i, 0, `"`+c.Word(i%10)+" "+c.Word(i%20)+`"`) })
			search("without", func(i int) readmodel.Query { return text(i, 0, c.Word(40+i%200)+" -"+c.Word(i%40)) })
			search("typo", func(i int) readmodel.Query { return text(i, 2, "q"+c.Word(40+i%200)) })
			search("typo, best first", func(i int) readmodel.Query { return best(text(i, 2, "q"+c.Word(40+i%200))) })
			search("best first", func(i int) readmodel.Query { return best(text(i, 0, c.Word(i%10))) })
			measure("counts", func(int) error {
				_, err := readmodel.Counts(b.Context(), viewOf(b, x), calendar.KindEvent, readmodel.FieldTags, readmodeltest.Listed(), nil)
				return err
			})
			measure("update", func(i int) error {
				d := c.Event(i % n)
				_, err := x.Write(b.Context(), readmodel.Batch{Documents: []readmodel.Document{d}, Mark: readmodeltest.At(d.Position)})
				return err
			})
			measure("snapshot", func(int) error { return x.Snapshot(b.Context()) })
		})
	}
}

func BenchmarkMemory(b *testing.B) {
	x, _ := benchOf(b, 100_000)
	var m runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&m)
	}
	b.ReportMetric(float64(m.HeapAlloc)/1e6, "heap-MB")
	b.ReportMetric(float64(m.HeapSys)/1e6, "heapsys-MB")
	runtime.KeepAlive(x)
}

// processor gives the time of the processor that this process has used.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
