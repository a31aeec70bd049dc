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
// categories and 300 tags. The same seed yields the same records.
type Corpus struct {
	generator generator
	zipf      *rand.Zipf
	words     []string
	count     int
	next      calendar.Position
}

// Now is the day around which the events of a Corpus lie: half a year before to
// two and a half years after it.
var Now = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// The first ids of the kinds of a Corpus.
const (
	CorpusCategory  calendar.ID = 1
	CorpusTag       calendar.ID = 101
	corpusVenue     calendar.ID = 1_000
	corpusOrganizer calendar.ID = 500_000
	corpusEvent     calendar.ID = 1_000_000
)

// NewCorpus makes a Corpus of count events.
func NewCorpus(count int, seed uint64) *Corpus {
	generator := newGenerator(seed)
	corpus := &Corpus{generator: generator, zipf: rand.NewZipf(generator.Rand, 1.07, 8, 39_999), count: count}
	syllables := strings.Fields("ba co di fe gu ha jo ka li mo nu pe qua ri so ta ven wi yo za tion ing er ed ment s")
	seen := map[string]bool{}
	for len(corpus.words) < 40_000 {
		var builder strings.Builder
		for range 1 + generator.IntN(4) {
			builder.WriteString(pick(generator, syllables))
		}
		if text := builder.String(); !seen[text] && len(text) > 2 {
			seen[text] = true
			corpus.words = append(corpus.words, text)
		}
	}
	return corpus
}

// Word returns the word of a rank, 0 the most frequent one.
func (corpus *Corpus) Word(rank int) string { return corpus.words[rank] }

func (corpus *Corpus) text(count int) string {
	names := make([]string, count)
	for i := range names {
		names[i] = corpus.words[corpus.zipf.Uint64()]
	}
	return strings.Join(names, " ")
}

func (corpus *Corpus) english(count int) calendar.Text {
	return in(calendar.LangEN, corpus.text(count))
}

func (corpus *Corpus) document(kind calendar.Kind, first calendar.ID, i int, fields calendar.Fields) readmodel.Document {
	corpus.next++
	fields["slug"] = fmt.Sprintf("%s-%d", kind, i)
	record := &calendar.Record{ID: first + calendar.ID(i), Kind: kind, Version: 1, Home: calendar.LangEN, Changed: Now, Fields: fields}
	return document(record, corpus.next)
}

// Linked returns the venues, organizers, categories and tags.
func (corpus *Corpus) Linked() (documents []readmodel.Document) {
	add := func(kind calendar.Kind, first calendar.ID, count int, fields func() calendar.Fields) {
		for i := range count {
			documents = append(documents, corpus.document(kind, first, i, fields()))
		}
	}
	term := func() calendar.Fields { return calendar.Fields{"name": corpus.english(2)} }
	add(calendar.KindCategory, CorpusCategory, 40, term)
	add(calendar.KindTag, CorpusTag, 300, term)
	add(calendar.KindVenue, corpusVenue, corpus.count/50, func() calendar.Fields {
		f := corpus.post(calendar.Fields{
			"venue": corpus.english(3), "description": corpus.english(30), "address": corpus.text(3), "city": corpus.text(1),
			"country": "United States", "zip": "02110",
		})
		if corpus.generator.chance(90) {
			f["geo_lat"] = math.Round((40+5*corpus.generator.NormFloat64())*1e4) / 1e4
			f["geo_lng"] = math.Round((-75+9*corpus.generator.NormFloat64())*1e4) / 1e4
		}
		return f
	})
	add(calendar.KindOrganizer, corpusOrganizer, corpus.count/100, func() calendar.Fields {
		return corpus.post(calendar.Fields{"organizer": corpus.english(3), "description": corpus.english(30), "email": "hello@arts.example"})
	})
	return documents
}

func (corpus *Corpus) post(fields calendar.Fields) calendar.Fields {
	wall := calendar.Wall(Now.Unix() - corpus.generator.Int64N(365*86400))
	for _, name := range []string{"date", "date_utc", "modified", "modified_utc"} {
		fields[name] = wall
	}
	fields["author"] = calendar.ID(900_000 + corpus.generator.IntN(20))
	fields["status"] = "publish"
	if corpus.generator.chance(4) {
		fields["status"] = pick(corpus.generator, []string{"draft", "pending", "private"})
	}
	return fields
}

// Event returns an event by its number, new each time.
func (corpus *Corpus) Event(i int) readmodel.Document {
	generator := corpus.generator
	start := calendar.Wall(Now.Unix() + (generator.Int64N(3*365*96)-365*48)*900)
	end := start + calendar.Wall(3600*(1+generator.IntN(8)))
	link := func(first calendar.ID, count int) calendar.ID {
		return first + calendar.ID(generator.IntN(max(1, count)))
	}
	return corpus.document(calendar.KindEvent, corpusEvent, i, corpus.post(calendar.Fields{
		"title": corpus.english(5), "description": in(calendar.LangEN, "<p>"+corpus.text(36)+"</p>\n<p>"+corpus.text(26)+"</p>"),
		"excerpt": corpus.english(10), "timezone": "America/New_York",
		"start_date": start, "end_date": end, "utc_start_date": start + 4*3600, "utc_end_date": end + 4*3600,
		"cost": []string{"$5", "$12"}, "website": "https://quay.example/?a=1", "featured": generator.chance(10), "ticketed": generator.chance(30),
		"hide_from_listings": generator.chance(2), "all_day": false,
		"categories": []calendar.ID{link(CorpusCategory, 40)},
		"tags":       []calendar.ID{link(CorpusTag, 300), link(CorpusTag, 300)},
		"organizer":  []calendar.ID{link(corpusOrganizer, corpus.count/100)},
		"venue":      []calendar.ID{link(corpusVenue, corpus.count/50)},
	}))
}

// Fill writes the whole corpus to an index.
func (corpus *Corpus) Fill(write func(readmodel.Batch) error) error {
	documents := corpus.Linked()
	for i := range corpus.count {
		if i%1000 == 0 {
			if err := write(readmodel.Batch{Documents: documents, Mark: At(corpus.next)}); err != nil {
				return err
			}
			documents = nil
		}
		documents = append(documents, corpus.Event(i))
	}
	return write(readmodel.Batch{Documents: documents, Mark: At(corpus.next)})
}

// ByStart is the order of lists of events.
func ByStart() []readmodel.Sort {
	return []readmodel.Sort{{Field: readmodel.FieldStart}, {Field: readmodel.FieldDate}, {Field: readmodel.FieldID}}
}
