package memindex_test

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
	"daybook/query/readmodel/readmodeltest"
)

// common are the most frequent words of English text, the most frequent first.
var common = strings.Fields(`the of and to in a is that for it as was with be by on not he his but at are this have from or had
	an they which you were her all she there would their we him been has when who will more no if out so said what up its about into`)

// prose are texts as people write them: every other word is a common one, so
// that phrases of common words stand in most events.
func prose(g *rand.Rand, zipf *rand.Zipf, c *readmodeltest.Corpus, words int) string {
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch {
		case g.IntN(100) < 6:
			b.WriteString("of the")
		case g.IntN(100) < 45:
			b.WriteString(common[min(int(g.ExpFloat64()*10), len(common)-1)])
		default:
			b.WriteString(c.Word(int(zipf.Uint64())))
		}
	}
	return b.String()
}

// hostileIndex is an index of events with descriptions of some 880 characters.
func hostileIndex(tb testing.TB, events int) *memindex.Index {
	tb.Helper()
	x, err := memindex.New(memindex.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	c := readmodeltest.NewCorpus(events, 1)
	g := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(g, 1.07, 8, 39_999)
	for i := 0; i < events; {
		var b readmodel.Batch
		for ; i < events && len(b.Documents) < 1000; i++ {
			d := c.Event(i)
			d.Record.Fields["description"] = calendar.Text{calendar.LangEN: "<p>" + prose(g, zipf, c, 140) + "</p>"}
			if d.Body, err = calendar.EncodeRecord(d.Record); err != nil {
				tb.Fatal(err)
			}
			b.Documents = append(b.Documents, d)
			b.Mark = readmodeltest.At(d.Position)
		}
		if _, err := x.Write(tb.Context(), b); err != nil {
			tb.Fatal(err)
		}
	}
	return x
}

// joined puts as many parts into a search as it may have characters.
func joined(parts int, part func(i int) string) string {
	var b strings.Builder
	for i := range parts {
		p := part(i)
		if b.Len()+len(p)+1 > 500 {
			break
		}
		b.WriteString(p + " ")
	}
	return strings.TrimSpace(b.String())
}

// hostileSearches are the worst searches that are taken, by kind.
func hostileSearches() []struct{ name, query string } {
	const letters = "etaoinshrdlucmfwypvbgkjqxz"
	pair := func(i int) string { return common[i%8] + " " + common[(i/8+i+1)%12] }
	return []struct{ name, query string }{
		{"of the", `"of the"`},
		{"8 phrases", joined(8, func(i int) string { return `"` + pair(i) + `"` })},
		{"495 characters", joined(8, func(i int) string {
			return `-"` + strings.Repeat(pair(i)+" ", 11)[:54] + common[i] + `"`
		})},
		{"8 without", joined(8, func(i int) string { return `-"` + pair(i+3) + `"` })},
		{"8 of three", joined(8, func(i int) string { return `-"` + pair(i) + " " + common[i] + `"` })},
		{"of the same", `"of the of the"`},
		{"8 beginnings of two", joined(8, func(i int) string { return letters[i:i+1] + letters[(i*3)%8:(i*3)%8+1] })},
		{"32 beginnings of two", joined(32, func(i int) string { return letters[i%20:i%20+1] + letters[(i*3)%8:(i*3)%8+1] })},
		{"32 syllables", joined(32, func(i int) string {
			return strings.Fields("ba co di fe gu ha jo ka li mo nu pe qu ri so ta ve wi yo za ti in er ed me")[i%25]
		})},
		{"26 letters", joined(26, func(i int) string { return letters[i : i+1] })},
		{"32 beginnings of three", joined(32, func(i int) string {
			return strings.Fields("ban coc dib fec guf hag joh kaj lik mol num pen qua rip sor tas vet wiv yow zay tio ing erz edb men bac cod dif feg guh haj jok")[i]
		})},
		{"32 without", joined(32, func(i int) string {
			return "-" + strings.Fields("ban coc dib fec guf hag joh kaj lik mol num pen qua rip sor tas vet wiv yow zay tio ing erz edb men bac cod dif feg guh haj jok")[i]
		})},
	}
}

func BenchmarkHostile(b *testing.B) {
	x := hostileIndex(b, 100_000)
	for _, s := range hostileSearches() {
		b.Run(strings.ReplaceAll(s.name, " ", "_"), func(b *testing.B) {
			q := readmodel.Query{
				Kind: calendar.KindEvent, Sort: readmodeltest.ByStart(), Limit: 10,
				Filter: append(readmodeltest.Listed(), readmodel.Text{Fields: []string{readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt}, Search: readmodel.ParseSearch(
					s.query, calendar.LangEN)}),
			}
			next := calendar.Position(10_000_000)
			touched := readmodeltest.NewCorpus(1, 1)
			total := 0
			spent := time.Duration(0)
			for b.Loop() {
				// Writes between, so that nothing is known from the search before.
				b.StopTimer()
				var between readmodel.Batch
				for range 100 {
					next++
					touch := touched.Event(int(next))
					touch.Position = next
					between.Documents = append(between.Documents, touch)
				}
				if _, err := x.Write(b.Context(), between); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				from := processor(b)
				total = search(b, x, q).Total
				spent += processor(b) - from
			}
			b.ReportMetric(float64(total), "total")
			b.ReportMetric(float64(spent.Microseconds())/1e3/float64(b.N), "cpu-ms/op")
		})
	}
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
