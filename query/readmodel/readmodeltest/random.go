package readmodeltest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// vocabulary are words that meet each other: common ones, forms of one stem,
// beginnings, accents, characters in a row and not in a row.
const vocabulary = `jazz jazzy the of music musical musician a b running runs ran concert concerts
	été fête fêtes musique musiques danser dansait cheval chevaux los música músico canción canciones niño bailando
	symphony symphonies symphany orchestra orchestre
	音乐 音乐会 会音 乐 北京 かんぱい カフェ 콘서트 2026 20 K-POP don't Øresund straße STRASSE x`

// spellings are ways to write the same.
const spellings = `hiphop|hip-hop|hip hop|Hip, Hop|10km|10 km|u.s.a.|USA|l'été|5月|ジョンレノン|ジョン・レノン|“hip hop”`

// values are those of strings that are no words.
var values = map[string]string{
	"status": "publish|publish|publish|future|draft|pending|private|trash", "former_status": "publish|draft",
	"slug": "jazz|Rock|folk|été", "city": "New  York|new york|L’Aquila|l'aquila|Córdoba|cordoba",
	"timezone": "Europe/Paris|Asia/Tokyo|America/New_York|UTC|UTC+5.5",
	"cost":     "0|Free|GRATÙIT|0,00|免費|0–30|$10|10.9999|25 €|pay what you want|1234.567|99999999999999999999",
}

const (
	idRange = 12 // ids of links and authors, so that they meet
	base    = calendar.Wall(1_900_000_000)
)

// generator makes random documents of a kind, and questions about them.
type generator struct {
	*rand.Rand
	schema *readmodel.Schema
	known  []readmodel.Document // those that were written, tombstones too
}

func newGenerator(seed uint64) generator { return generator{Rand: rand.New(rand.NewPCG(seed, 1))} }

func pick[T any](g generator, list []T) T { return list[g.IntN(len(list))] }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g generator) lang() calendar.Lang { return pick(g, calendar.Langs[:]) }

func (g generator) valueOf(name string) string { return pick(g, strings.Split(values[name], "|")) }

// word makes a word, some of few letters, so that most are near to others: an engine that
// has its own distance shows by it that it is the same.
func (g generator) word() string {
	switch n := g.IntN(100); {
	case n < 75:
		words := strings.Fields(vocabulary)
		return words[min(g.IntN(len(words)), g.IntN(len(words)))] // the first ones more often
	case n < 90:
		return pick(g, strings.Split(spellings, "|"))
	}
	w := make([]rune, 4+g.IntN(7))
	for i := range w {
		w[i] = pick(g, []rune("abéжжжж"))
	}
	return string(w)
}

func (g generator) words(limit int) string {
	out := make([]string, 1+g.IntN(limit))
	for i := range out {
		out[i] = g.word()
	}
	return strings.Join(out, pick(g, []string{" ", " ", ", ", "-", ""}))
}

func (g generator) ids() (out []calendar.ID) {
	for range g.IntN(4) {
		out = append(out, calendar.ID(1+g.IntN(idRange)))
	}
	return out
}

// value makes a value for a row of a field table.
func (g generator) value(row *calendar.Field) any {
	switch row.Stored {
	case calendar.TypeString:
		if values[row.Name] != "" {
			return g.valueOf(row.Name)
		}
		return g.words(2)
	case calendar.TypeText:
		var t calendar.Text
		for l := range t {
			if g.chance(35) {
				t[l] = g.words(8)
			}
			if row.Form == calendar.FormHTML {
				t[l] = strings.Replace(t[l], " ", pick(g, []string{" ", " ", "<b>", "</p><p>", " &amp; ", "<br />"}), 1)
			}
		}
		return t
	case calendar.TypeBool:
		return g.chance(50)
	case calendar.TypeNumber:
		limit := 90.0
		if row.Name == "geo_lng" {
			limit = 180
		}
		return pick(g, []float64{-limit, limit, 0.01 - limit, 48 + g.Float64()/100, (2*g.Float64() - 1) * limit})
	case calendar.TypeID:
		return calendar.ID(1 + g.IntN(idRange))
	case calendar.TypeIDs:
		return g.ids()
	case calendar.TypeStrings:
		return []string{g.valueOf("cost"), g.valueOf("cost")}[:g.IntN(3)]
	default:
		if g.chance(15) {
			return calendar.NoWall
		}
		return base + calendar.Wall(g.IntN(40))
	}
}

// record makes a random record.
func (g generator) record(kind calendar.Kind, id calendar.ID) *calendar.Record {
	fields, home := calendar.Fields{}, g.lang()
	for _, row := range calendar.SpecOf(kind).Fields {
		if row.Stored != 0 && row.Name != "imports" && g.chance(75) {
			fields[row.Name] = g.value(&row)
		}
	}
	if name := fields.Text(kind.NameField()); kind.NameField() != "" && name[home] == "" {
		name[home] = g.words(3)
		fields[kind.NameField()] = name
	}
	if kind == calendar.KindEvent {
		g.times(fields)
		if g.chance(25) { // so that some are repeats
			same := pick(g, []string{"Jazz", "jazz!", "Concert"})
			fields["title"], fields["venue"] = calendar.Text{same, same, same, same}, pick(g, [][]calendar.ID{{1}, {1, 2}, {}})
		}
	}
	return &calendar.Record{ID: id, Kind: kind, Version: 1 + int64(g.IntN(5)), Home: home, Changed: Now, Fields: fields}
}

// times gives most events times that agree with each other.
func (g generator) times(fields calendar.Fields) {
	if g.chance(10) {
		for _, name := range []string{"start_date", "end_date", "utc_start_date", "utc_end_date", "timezone"} {
			delete(fields, name)
		}
		return
	}
	start := base + calendar.Wall(g.IntN(40))
	if g.chance(50) {
		start = calendar.Wall(g.Int64N(200*86_400) - 100*86_400)
	}
	end := start + calendar.Wall(pick(g, []int{g.IntN(10), 3600, 7200, g.IntN(300_000)}))
	name := g.valueOf("timezone")
	zone, _ := calendar.ParseZone(name)
	utc := func(wall calendar.Wall) calendar.Wall {
		return calendar.WallOf(calendar.WallToInstant(wall, zone.Location)) + calendar.Wall(max(0, g.IntN(10)-8))
	}
	fields["start_date"], fields["end_date"], fields["utc_start_date"], fields["utc_end_date"], fields["timezone"] = start, end, utc(start), utc(end), name
}

// change makes a newer state of a record: all new, some fields new, or gone.
func (g generator) change(record *calendar.Record) *calendar.Record {
	fresh := g.record(record.Kind, record.ID)
	fresh.Version = record.Version + 1
	switch {
	case g.chance(10):
		fresh.Deleted = true
	case g.chance(50) && !record.Deleted:
		fields := maps.Clone(record.Fields)
		for _, name := range slices.Sorted(maps.Keys(fresh.Fields)) { // in order: the same seed, the same records
			if g.chance(20) && name != record.Kind.NameField() {
				fields[name] = fresh.Fields[name]
			}
		}
		fresh.Fields, fresh.Home = fields, record.Home
	}
	return fresh
}

// document makes a document of a record as an index reads it.
func document(record *calendar.Record, position calendar.Position) readmodel.Document {
	body, err := calendar.EncodeRecord(record)
	if err == nil {
		record, err = calendar.DecodeRecord(body)
	}
	if err != nil {
		panic(fmt.Sprintf("readmodeltest made a record that cannot be stored: %v", err))
	}
	return readmodel.Document{Position: position, Record: record, Body: body}
}

// batch makes documents, some of them older than what is there, of other kinds or of no
// use, and what else a projector writes.
func (g generator) batch(p *pair) (b readmodel.Batch) {
	for range 10 + g.IntN(90) {
		kind := g.schema.Kind
		if g.chance(10) {
			kind = pick(g, calendar.Kinds[:])
		}
		id := calendar.ID(1000*int64(kind) + g.Int64N(150))
		record := g.record(kind, id)
		record.Deleted = g.chance(5)
		if d, known := p.plain.documents[id]; known {
			record = g.change(d.Record)
		}
		p.last++
		at := p.last
		if g.chance(10) {
			at -= calendar.Position(g.IntN(300))
		}
		b.Documents = append(b.Documents, document(record, at))
	}
	if g.chance(50) {
		b.Documents = append(b.Documents, readmodel.Document{Position: p.last}, readmodel.Document{Position: p.last + 1, Record: g.record(g.schema.Kind, 1)})
	}
	id := calendar.ID(1 + g.IntN(4))
	if g.chance(50) {
		b.Quarantined = []readmodel.Quarantined{{ID: id, Position: p.last, Reason: g.words(3)}}
	} else {
		b.Healed = []calendar.ID{id, 77}
	}
	b.Reach = pick(g, []calendar.Mark{{}, At(p.last)})
	b.Mark = pick(g, []calendar.Mark{{}, At(p.last - 300), At(p.last)})
	return b
}

// bound makes a value of a number, mostly of some document or next to it.
func (g generator) bound(field *readmodel.Field) int64 {
	numbers := append(field.Numbers(pick(g, g.known).Record), 0)
	return numbers[0] + int64(g.IntN(3)) - 1
}

// filter makes a random filter for a kind.
func (g generator) filter(depth int) readmodel.Filter {
	if depth > 0 && g.chance(55) {
		parts := make([]readmodel.Filter, g.IntN(4))
		for i := range parts {
			parts[i] = g.filter(depth - 1)
		}
		return pick(g, []readmodel.Filter{readmodel.And(parts), readmodel.Or(parts), readmodel.Not{Filter: g.filter(depth - 1)}})
	}
	n, some := len(g.schema.Fields), pick(g, g.known).Record
	field := &g.schema.Fields[min(g.IntN(n+4), n-1)]
	if field.Type == readmodel.TypeNumber && g.chance(10) {
		return readmodel.Range{Field: field.Name, Span: readmodel.AllNumbers}
	}
	switch field.Type {
	case readmodel.TypeKeyword:
		if g.schema.Kind.IsTerm() && g.chance(40) {
			fields := []string{readmodel.FieldSlug, readmodel.FieldNameLower(g.lang())}
			return readmodel.Contains{Fields: fields[g.IntN(3):], Value: pick(g, []string{"ja", "z", "é", "1", "usi", "音"})}
		}
		return readmodel.Term{Field: field.Name, Value: pick(g, []string{field.Keyword(some), field.Keyword(some), "Jazz"})}
	case readmodel.TypeNumber:
		if g.chance(50) {
			ids := append(g.ids(), calendar.ID(g.bound(field)))
			for _, n := range field.Numbers(some) {
				ids = append(ids, calendar.ID(n))
			}
			return readmodel.In{Field: field.Name, IDs: ids}
		}
		r := readmodel.Range{Field: field.Name, Span: readmodel.AllNumbers}
		if g.chance(70) {
			r.Min = g.bound(field)
		}
		if g.chance(70) {
			r.Max = g.bound(field)
		}
		return r
	default:
		text := g.text()
		if g.chance(30) {
			text.Fields = text.Fields[:1]
		}
		return text
	}
}

// text makes a search in all texts.
func (g generator) text() readmodel.Text {
	var builder strings.Builder
	for range 1 + g.IntN(2) {
		builder.WriteString(pick(g, []string{"", "", "", "", "-"}))
		word := g.word()
		beginning := []rune(word)
		builder.WriteString(pick(g, []string{
			pick(g, strings.Split(spellings, "|")), `"` + g.words(3) + `"`, string(beginning[:1+g.IntN(len(beginning))]), strings.ToUpper(word), g.misspelt(word), g.misspelt(word), g.misspelt(word), word,
		}))
		builder.WriteString(pick(g, []string{" ", " ", "  ", `"`, "-"}))
	}
	return readmodel.Text{
		Fields: g.schema.Texts(), Search: readmodel.ParseSearch(builder.String(), g.lang()),
		Spelling: readmodel.Spelling{Typos: g.IntN(readmodel.MaxTypos + 1), Joined: g.chance(50)},
	}
}

// misspelt makes a typo or two in a word.
func (g generator) misspelt(word string) string {
	r := []rune(word)
	for n := 1 + g.IntN(3)/2; n > 0 && len(r) > 0; n-- {
		i := min(g.IntN(len(r)), g.IntN(len(r)))
		if g.chance(30) {
			r[i], r[max(i-1, 0)] = r[max(i-1, 0)], r[i]
		} else {
			r = slices.Replace(r, i, i+g.IntN(2), []rune(pick(g, []string{"z", "q", ""}))...)
		}
	}
	return string(r)
}

// query makes a question.
func (g generator) query() readmodel.Query {
	event := g.schema.Kind == calendar.KindEvent
	q := readmodel.Query{Kind: g.schema.Kind, Filter: g.filter(2), Limit: g.IntN(60) * min(1, g.IntN(8)), Offset: g.IntN(3) * g.IntN(60)}
	numbers := true // the order is by numbers alone
	for range g.IntN(3) {
		field := pick(g, g.schema.Fields)
		if field.Sort && field.Name != readmodel.FieldID {
			numbers = numbers && field.Type == readmodel.TypeNumber
			q.Sort = append(q.Sort, readmodel.Sort{Field: field.Name, Desc: g.chance(50)})
		}
	}
	q.Sort = append(q.Sort, readmodel.Sort{Field: readmodel.FieldID, Desc: g.chance(50)})
	switch {
	case g.schema.Kind.IsPost() && g.chance(45):
		text := g.text()
		rank := &readmodel.Relevance{Text: text}
		q.Sort = append([]readmodel.Sort{{Rank: rank, Desc: true}}, q.Sort...)
		q.Filter, q.Offset = text, g.IntN(3) // few are found
		if g.chance(50) {
			rank.Title = readmodel.Not{Filter: readmodel.In{Field: readmodel.FieldAuthor, IDs: g.ids()}}
			text.Fields = text.Fields[:1]
			q.Filter = readmodel.Or{readmodel.And{readmodel.Not{Filter: rank.Title}, rank.Text}, readmodel.And{rank.Title, text}}
		}
	case event && g.chance(25):
		least := map[calendar.ID]int64{}
		for _, id := range append(g.ids(), g.ids()...) {
			least[id] = g.Int64N(9) - 2
		}
		q.Sort = append([]readmodel.Sort{{Field: readmodel.FieldVenue, Desc: g.chance(50), Least: least}}, q.Sort...)
	}
	if event && g.chance(20) {
		q.Collapse = g.collapse()
	} else if numbers && g.chance(40) {
		q.Offset, q.After = 0, readmodel.Place(q.Sort, pick(g, g.known).Record)
		if key := &q.After[g.IntN(len(q.After))]; key.Has && g.chance(30) { // nothing needs to stand at the place
			key.N++
		}
	}
	if event && g.chance(40) {
		q = g.withTallies(q)
	}
	return q
}

// withoutSearch makes a filter that has no search in it.
func (g generator) withoutSearch() readmodel.Filter {
	for {
		if filter := g.filter(1); !readmodel.Searches(filter) {
			return filter
		}
	}
}

func (g generator) collapse() *readmodel.Collapse {
	c := &readmodel.Collapse{Field: readmodel.FieldRepeats}
	if g.chance(40) {
		c.Field = readmodel.FieldTitleKey(g.lang())
	}
	if g.chance(60) {
		c.Alone = g.withoutSearch()
	}
	return c
}

// withTallies has a query about events ask for random tallies.
func (g generator) withTallies(query readmodel.Query) readmodel.Query {
	if g.chance(40) {
		query.Narrow = g.filter(1)
	}
	query.Tallies = make([]readmodel.Tally, 1+g.IntN(4))
	for i := range query.Tallies {
		query.Tallies[i] = g.tally()
	}
	return query
}

func (g generator) tally() (out readmodel.Tally) {
	if g.chance(60) {
		out.Filter = g.filter(1)
	}
	for g.chance(40) {
		out.Parts = append(out.Parts, g.withoutSearch())
	}
	if out.Parts != nil && g.chance(30) {
		return out
	}
	field := pick(g, g.schema.Fields)
	for field.Type != readmodel.TypeNumber {
		field = pick(g, g.schema.Fields)
	}
	out.Field = field.Name
	for g.chance(50) { // one of them may be counted with the values
		out.Parts = append(out.Parts, readmodel.In{Field: field.Name, IDs: g.ids()})
	}
	return out
}

// random writes random documents of a kind, again and again, and compares random questions.
func random(p *pair, kind calendar.Kind, rounds, queries int) {
	p.Helper()
	generator := newGenerator(uint64(kind))
	generator.schema = readmodel.SchemaOf(kind)
	p.last = 1 << 40
	written := make([]readmodel.Batch, 0, rounds)
	var standing []readmodel.Query // asked again and again, as an index may cache what they find
	for range rounds {
		for range 2 + generator.IntN(2) {
			batch := generator.batch(p)
			p.apply(batch)
			for i, d := range batch.Documents {
				if d.Body != nil {
					batch.Documents[i] = document(generator.change(d.Record), d.Position)
				}
			}
			written = append(written, batch)
			if generator.chance(60) { // an entry that was written is not taken again
				p.apply(pick(generator, written))
			}
		}
		p.last++ // a new mark: only what is behind one can be waited for
		p.apply(readmodel.Batch{Mark: At(p.last)})
		p.state()
		generator.known = nil
		for _, id := range slices.Sorted(maps.Keys(p.plain.documents)) {
			if d := p.plain.documents[id]; d.Record.Kind == kind {
				generator.known = append(generator.known, d)
			}
		}
		for len(standing) < 6 {
			query := generator.query()
			standing = append(standing, readmodel.Query{Kind: kind, Filter: query.Filter, Sort: query.Sort, Limit: 1 + generator.IntN(60)})
		}
		for i := range queries {
			query := generator.query()
			p.search(query)
			if i%6 == 0 {
				p.walk(query)
			}
		}
		for _, query := range standing {
			query.Offset = generator.IntN(3) * generator.IntN(60)
			p.search(query)
			if kind == calendar.KindEvent {
				p.search(generator.withTallies(query))
				query.Collapse = generator.collapse()
				p.search(query)
			}
			for _, field := range generator.schema.Fields {
				if field.Type == readmodel.TypeNumber {
					p.counts(kind, field.Name, query.Filter)
				}
			}
		}
	}
}
