package readmodeltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Corpus makes records for benchmarks: n events with bodies of about 1.2 KB and
// words as frequent as in real text (Zipf), n/50 venues, n/100 organizers, 40
// categories and 300 tags. The same seed gives the same records.
type Corpus struct {
	g     generator
	zipf  *rand.Zipf
	words []string
	n     int
	next  calendar.Position
}

// Now is the day around which the events of a Corpus lie: half a year before to
// two and a half years after it.
var Now = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// The first ids of the kinds of a Corpus.
const (
	CorpusCategory  calendar.ID = 1
	CorpusTag       calendar.ID = 101
	CorpusVenue     calendar.ID = 1_000
	CorpusOrganizer calendar.ID = 500_000
	CorpusEvent     calendar.ID = 1_000_000
)

// NewCorpus makes a Corpus of n events.
func NewCorpus(n int, seed uint64) *Corpus {
	g := newGenerator(seed)
	c := &Corpus{g: g, zipf: rand.NewZipf(g.Rand, 1.07, 8, 39_999), n: n}
	syllables := strings.Fields("ba co di fe gu ha jo ka li mo nu pe qua ri so ta ven wi yo za tion ing er ed ment s")
	seen := map[string]bool{}
	for len(c.words) < 40_000 {
		var b strings.Builder
		for range 1 + g.IntN(4) {
			b.WriteString(pick(g, syllables))
		}
		if w := b.String(); !seen[w] && len(w) > 2 {
			seen[w] = true
			c.words = append(c.words, w)
		}
	}
	return c
}

// Word gives the word of a rank, 0 the most frequent one.
func (c *Corpus) Word(rank int) string { return c.words[rank] }

func (c *Corpus) text(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(c.words[c.zipf.Uint64()])
	}
	return b.String()
}

func (c *Corpus) document(r *calendar.Record) readmodel.Document {
	c.next++
	return document(r, c.next)
}

func (c *Corpus) record(k calendar.Kind, id calendar.ID, f calendar.Fields) readmodel.Document {
	return c.document(&calendar.Record{ID: id, Kind: k, Version: 1, Home: calendar.LangEN, Changed: Now, Fields: f})
}

func english(s string) (t calendar.Text) {
	t[calendar.LangEN] = s
	return t
}

// Linked gives the venues, organizers, categories and tags.
func (c *Corpus) Linked() []readmodel.Document {
	out := make([]readmodel.Document, 0, 340+c.n/50+c.n/100)
	for i := range 40 {
		out = append(out, c.record(calendar.KindCategory, CorpusCategory+calendar.ID(i), calendar.Fields{
			"name": english(c.text(2)), "slug": fmt.Sprintf("category-%d", i),
		}))
	}
	for i := range 300 {
		out = append(out, c.record(calendar.KindTag, CorpusTag+calendar.ID(i), calendar.Fields{
			"name": english(c.text(2)), "slug": fmt.Sprintf("tag-%d", i),
		}))
	}
	for i := range c.n / 50 {
		f := c.post(calendar.Fields{
			"venue": english(c.text(3)), "description": english(c.text(30)), "address": c.text(3), "city": c.text(1),
			"country": "United States", "zip": "02110", "slug": fmt.Sprintf("venue-%d", i),
		})
		if c.g.chance(90) {
			f["geo_lat"] = math.Round((40+5*c.g.NormFloat64())*1e4) / 1e4
			f["geo_lng"] = math.Round((-75+9*c.g.NormFloat64())*1e4) / 1e4
		}
		out = append(out, c.record(calendar.KindVenue, CorpusVenue+calendar.ID(i), f))
	}
	for i := range c.n / 100 {
		out = append(out, c.record(calendar.KindOrganizer, CorpusOrganizer+calendar.ID(i), c.post(calendar.Fields{
			"organizer": english(c.text(3)), "description": english(c.text(30)), "email": "hello@arts.example",
			"slug": fmt.Sprintf("organizer-%d", i),
		})))
	}
	return out
}

func (c *Corpus) post(f calendar.Fields) calendar.Fields {
	w := calendar.Wall(Now.Unix() - c.g.Int64N(365*86400))
	for _, name := range []string{"date", "date_utc", "modified", "modified_utc"} {
		f[name] = w
	}
	f["author"] = calendar.ID(900_000 + c.g.IntN(20))
	f["status"] = "publish"
	if c.g.chance(4) {
		f["status"] = pick(c.g, []string{"draft", "pending", "private"})
	}
	return f
}

// Event gives an event by its number, new each time.
func (c *Corpus) Event(i int) readmodel.Document {
	g := c.g
	start := calendar.Wall(Now.Unix() + (g.Int64N(3*365*96)-365*48)*900)
	end := start + calendar.Wall(3600*(1+g.IntN(8)))
	f := c.post(calendar.Fields{
		"title": english(c.text(5)), "description": english("<p>" + c.text(36) + "</p>\n<p>" + c.text(26) + "</p>"),
		"excerpt": english(c.text(10)), "slug": fmt.Sprintf("event-%d", i), "timezone": "America/New_York",
		"start_date": start, "end_date": end, "utc_start_date": start + 4*3600, "utc_end_date": end + 4*3600,
		"cost": []string{"$5", "$12"}, "website": "https://quay.example/?a=1", "featured": g.chance(10), "ticketed": g.chance(30),
		"hide_from_listings": g.chance(2), "all_day": false,
		"categories": []calendar.ID{CorpusCategory + calendar.ID(g.IntN(40))},
		"tags":       []calendar.ID{CorpusTag + calendar.ID(g.IntN(300)), CorpusTag + calendar.ID(g.IntN(300))},
		"organizer":  []calendar.ID{CorpusOrganizer + calendar.ID(g.IntN(max(1, c.n/100)))},
		"venue":      []calendar.ID{CorpusVenue + calendar.ID(g.IntN(max(1, c.n/50)))},
	})
	return c.record(calendar.KindEvent, CorpusEvent+calendar.ID(i), f)
}

// Fill writes the whole corpus to an index.
func (c *Corpus) Fill(write func(readmodel.Batch) error) error {
	if err := write(readmodel.Batch{Documents: c.Linked(), Mark: At(c.next)}); err != nil {
		return err
	}
	for i := 0; i < c.n; {
		var b readmodel.Batch
		for ; i < c.n && len(b.Documents) < 1000; i++ {
			b.Documents = append(b.Documents, c.Event(i))
		}
		b.Mark = At(c.next)
		if err := write(b); err != nil {
			return err
		}
	}
	return nil
}

func bound(t time.Time) *int64 {
	n := t.Unix()
	return &n
}

// Listed admits what anonymous lists show at Now.
func Listed() readmodel.And {
	return readmodel.And{
		readmodel.Or{
			readmodel.Term{Field: readmodel.FieldStatus, Value: "publish"},
			readmodel.And{
				readmodel.Term{Field: readmodel.FieldStatus, Value: "future"},
				readmodel.Range{Field: readmodel.FieldPublished, Max: bound(Now)},
			},
		},
		readmodel.Not{Filter: readmodel.Term{Field: readmodel.FieldHidden, Value: "true"}},
	}
}

// Window is the filter of the default list of events with its window moved by
// some days.
func Window(days int) readmodel.And {
	from := Now.AddDate(0, 0, days)
	return append(
		Listed(),
		readmodel.Range{Field: readmodel.FieldStart, Min: bound(from)},
		readmodel.Range{Field: readmodel.FieldEnd, Max: bound(from.AddDate(2, 0, 1))},
	)
}

// ByStart is the order of lists of events.
func ByStart() []readmodel.Sort {
	return []readmodel.Sort{{Field: readmodel.FieldStart}, {Field: readmodel.FieldDate}, {Field: readmodel.FieldID}}
}
