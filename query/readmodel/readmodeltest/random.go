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

func pick[T any](generator generator, list []T) T { return list[generator.IntN(len(list))] }

func (generator generator) chance(percent int) bool { return generator.IntN(100) < percent }

func (generator generator) lang() calendar.Lang { return pick(generator, calendar.Langs[:]) }

func (generator generator) valueOf(name string) string {
	return pick(generator, strings.Split(values[name], "|"))
}

// word makes a word, some of few letters, so that most are near to others: an engine that
// has its own distance shows by it that it is the same.
func (generator generator) word() string {
	switch count := generator.IntN(100); {
	case count < 75:
		words := strings.Fields(vocabulary)
		return words[min(generator.IntN(len(words)), generator.IntN(len(words)))] // the first ones more often
	case count < 90:
		return pick(generator, strings.Split(spellings, "|"))
	}
	w := make([]rune, 4+generator.IntN(7))
	for i := range w {
		w[i] = pick(generator, []rune("abéжжжж"))
	}
	return string(w)
}

func (generator generator) words(limit int) string {
	names := make([]string, 1+generator.IntN(limit))
	for i := range names {
		names[i] = generator.word()
	}
	return strings.Join(names, pick(generator, []string{" ", " ", ", ", "-", ""}))
}

func (generator generator) ids() (result []calendar.ID) {
	for range generator.IntN(4) {
		result = append(result, calendar.ID(1+generator.IntN(idRange)))
	}
	return result
}

// value makes a value for a row of a field table.
func (generator generator) value(row *calendar.Field) any {
	switch row.Stored {
	case calendar.TypeString:
		if values[row.Name] != "" {
			return generator.valueOf(row.Name)
		}
		return generator.words(2)
	case calendar.TypeText:
		var text calendar.Text
		for language := range text {
			if generator.chance(35) {
				text[language] = generator.words(8)
			}
			if row.Form == calendar.FormHTML {
				text[language] = strings.Replace(text[language], " ", pick(generator, []string{" ", " ", "<b>", "</p><p>", " &amp; ", "<br />"}), 1)
			}
		}
		return text
	case calendar.TypeBool:
		return generator.chance(50)
	case calendar.TypeNumber:
		limit := 90.0
		if row.Name == "geo_lng" {
			limit = 180
		}
		return pick(generator, []float64{-limit, limit, 0.01 - limit, 48 + generator.Float64()/100, (2*generator.Float64() - 1) * limit})
	case calendar.TypeID:
		return calendar.ID(1 + generator.IntN(idRange))
	case calendar.TypeIDs:
		return generator.ids()
	case calendar.TypeStrings:
		return []string{generator.valueOf("cost"), generator.valueOf("cost")}[:generator.IntN(3)]
	default:
		if generator.chance(15) {
			return calendar.NoWall
		}
		return base + calendar.Wall(generator.IntN(40))
	}
}

// record makes a random record.
func (generator generator) record(kind calendar.Kind, id calendar.ID) *calendar.Record {
	fields, home := calendar.Fields{}, generator.lang()
	for _, row := range calendar.SpecOf(kind).Fields {
		if row.Stored != 0 && row.Name != "imports" && generator.chance(75) {
			fields[row.Name] = generator.value(&row)
		}
	}
	if name := fields.Text(kind.NameField()); kind.NameField() != "" && name[home] == "" {
		name[home] = generator.words(3)
		fields[kind.NameField()] = name
	}
	if kind == calendar.KindEvent {
		generator.times(fields)
		if generator.chance(25) { // so that some are repeats
			same := pick(generator, []string{"Jazz", "jazz!", "Concert"})
			fields["title"], fields["venue"] = calendar.Text{same, same, same, same}, pick(generator, [][]calendar.ID{{1}, {1, 2}, {}})
		}
	}
	return &calendar.Record{ID: id, Kind: kind, Version: 1 + int64(generator.IntN(5)), Home: home, Changed: Now, Fields: fields}
}

// times gives most events times that agree with each other.
func (generator generator) times(fields calendar.Fields) {
	if generator.chance(10) {
		for _, name := range []string{"start_date", "end_date", "utc_start_date", "utc_end_date", "timezone"} {
			delete(fields, name)
		}
		return
	}
	start := base + calendar.Wall(generator.IntN(40))
	if generator.chance(50) {
		start = calendar.Wall(generator.Int64N(200*86_400) - 100*86_400)
	}
	end := start + calendar.Wall(pick(generator, []int{generator.IntN(10), 3600, 7200, generator.IntN(300_000)}))
	name := generator.valueOf("timezone")
	zone, _ := calendar.ParseZone(name)
	utc := func(wall calendar.Wall) calendar.Wall {
		return calendar.WallOf(calendar.WallToInstant(wall, zone.Location)) + calendar.Wall(max(0, generator.IntN(10)-8))
	}
	fields["start_date"], fields["end_date"], fields["utc_start_date"], fields["utc_end_date"], fields["timezone"] = start, end, utc(start), utc(end), name
}

// change makes a newer state of a record: all new, some fields new, or gone.
func (generator generator) change(record *calendar.Record) *calendar.Record {
	fresh := generator.record(record.Kind, record.ID)
	fresh.Version = record.Version + 1
	switch {
	case generator.chance(10):
		fresh.Deleted = true
	case generator.chance(50) && !record.Deleted:
		fields := maps.Clone(record.Fields)
		for _, name := range slices.Sorted(maps.Keys(fresh.Fields)) { // in order: the same seed, the same records
			if generator.chance(20) && name != record.Kind.NameField() {
				fields[name] = fresh.Fields[name]
			}
		}
		fresh.Fields, fresh.Home = fields, record.Home
	}
	return fresh
}

// Random returns a random document of a kind.
func Random(dice *rand.Rand, kind calendar.Kind, id calendar.ID, position calendar.Position) readmodel.Document {
	return document(generator{Rand: dice}.record(kind, id), position)
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
func (generator generator) batch(pair *indexPair) (batch readmodel.Batch) {
	for range 10 + generator.IntN(90) {
		kind := generator.schema.Kind
		if generator.chance(10) {
			kind = pick(generator, calendar.Kinds[:])
		}
		id := calendar.ID(1000*int64(kind) + generator.Int64N(150))
		record := generator.record(kind, id)
		record.Deleted = generator.chance(5)
		if d, known := pair.plain.documents[id]; known {
			record = generator.change(d.Record)
		}
		pair.last++
		position := pair.last
		if generator.chance(10) {
			position -= calendar.Position(generator.IntN(300))
		}
		batch.Documents = append(batch.Documents, document(record, position))
	}
	if generator.chance(50) {
		batch.Documents = append(batch.Documents, readmodel.Document{Position: pair.last}, readmodel.Document{Position: pair.last + 1, Record: generator.record(generator.schema.Kind, 1)})
	}
	id := calendar.ID(1 + generator.IntN(4))
	if generator.chance(50) {
		batch.Quarantined = []readmodel.Quarantined{{ID: id, Position: pair.last, Reason: generator.words(3)}}
	} else {
		batch.Healed = []calendar.ID{id, 77}
	}
	batch.Reach = pick(generator, []calendar.Mark{{}, At(pair.last)})
	batch.Mark = pick(generator, []calendar.Mark{{}, At(pair.last - 300), At(pair.last)})
	return batch
}

// bound makes a value of a number, mostly of some document or next to it.
func (generator generator) bound(field *readmodel.Field) int64 {
	numbers := append(field.Numbers(pick(generator, generator.known).Record), 0)
	return numbers[0] + int64(generator.IntN(3)) - 1
}

// filter makes a random filter for a kind.
func (generator generator) filter(depth int) readmodel.Filter {
	if depth > 0 && generator.chance(55) {
		parts := make([]readmodel.Filter, generator.IntN(4))
		for i := range parts {
			parts[i] = generator.filter(depth - 1)
		}
		return pick(generator, []readmodel.Filter{readmodel.And(parts), readmodel.Or(parts), readmodel.Not{Filter: generator.filter(depth - 1)}})
	}
	count, some := len(generator.schema.Fields), pick(generator, generator.known).Record
	field := &generator.schema.Fields[min(generator.IntN(count+4), count-1)]
	if field.Numbers != nil && generator.chance(10) {
		return readmodel.Range{Field: field.Name, Span: readmodel.AllNumbers}
	}
	switch {
	case field.Keyword != nil:
		if generator.schema.Kind.IsTerm() && generator.chance(40) {
			fields := []string{readmodel.FieldSlug, readmodel.FieldNameLower.In(generator.lang())}
			return readmodel.Contains{Fields: fields[generator.IntN(3):], Value: pick(generator, []string{"ja", "z", "é", "1", "usi", "音"})}
		}
		return readmodel.Term{Field: field.Name, Value: pick(generator, []string{field.Keyword(some), field.Keyword(some), "Jazz"})}
	case field.Numbers != nil:
		if generator.chance(50) {
			ids := append(generator.ids(), calendar.ID(generator.bound(field)))
			for _, number := range field.Numbers(some) {
				ids = append(ids, calendar.ID(number))
			}
			return readmodel.In{Field: field.Name, IDs: ids}
		}
		r := readmodel.Range{Field: field.Name, Span: readmodel.AllNumbers}
		if generator.chance(70) {
			r.Min = generator.bound(field)
		}
		if generator.chance(70) {
			r.Max = generator.bound(field)
		}
		return r
	default:
		text := generator.text()
		if generator.chance(30) {
			text.Fields = text.Fields[:1]
		}
		return text
	}
}

// text makes a search in all texts.
func (generator generator) text() readmodel.Text {
	var builder strings.Builder
	for range 1 + generator.IntN(2) {
		builder.WriteString(pick(generator, []string{"", "", "", "", "-"}))
		word := generator.word()
		beginning := []rune(word)
		builder.WriteString(pick(generator, []string{
			pick(generator, strings.Split(spellings, "|")), `"` + generator.words(3) + `"`, string(beginning[:1+generator.IntN(len(beginning))]), strings.ToUpper(word), generator.misspelt(word), generator.misspelt(word), generator.misspelt(word), word,
		}))
		builder.WriteString(pick(generator, []string{" ", " ", "  ", `"`, "-"}))
	}
	return readmodel.Text{
		Fields: generator.schema.Texts, Search: readmodel.ParseSearch(builder.String(), generator.lang()),
		Spelling: readmodel.Spelling{Typos: generator.IntN(readmodel.MaxTypos + 1), Joined: generator.chance(50)},
	}
}

// misspelt makes a typo or two in a word.
func (generator generator) misspelt(word string) string {
	letters := []rune(word)
	for count := 1 + generator.IntN(3)/2; count > 0 && len(letters) > 0; count-- {
		i := min(generator.IntN(len(letters)), generator.IntN(len(letters)))
		if generator.chance(30) {
			letters[i], letters[max(i-1, 0)] = letters[max(i-1, 0)], letters[i]
		} else {
			letters = slices.Replace(letters, i, i+generator.IntN(2), []rune(pick(generator, []string{"z", "q", ""}))...)
		}
	}
	return string(letters)
}

// query makes a question.
func (generator generator) query() readmodel.Query {
	event := generator.schema.Kind == calendar.KindEvent
	query := readmodel.Query{Kind: generator.schema.Kind, Filter: generator.filter(2), Limit: generator.IntN(60) * min(1, generator.IntN(8)), Offset: generator.IntN(3) * generator.IntN(60)}
	numbers := true // the order is by numbers alone
	for range generator.IntN(3) {
		field := pick(generator, generator.schema.Fields)
		if field.Sort && field.Name != readmodel.FieldID {
			numbers = numbers && field.Numbers != nil
			query.Sort = append(query.Sort, readmodel.Sort{Field: field.Name, Desc: generator.chance(50)})
		}
	}
	query.Sort = append(query.Sort, readmodel.Sort{Field: readmodel.FieldID, Desc: generator.chance(50)})
	switch {
	case generator.schema.Kind.IsPost() && generator.chance(45):
		text := generator.text()
		rank := &readmodel.Relevance{Text: text}
		query.Sort = append([]readmodel.Sort{{Rank: rank, Desc: true}}, query.Sort...)
		query.Filter, query.Offset = text, generator.IntN(3) // few are found
		if generator.chance(50) {
			rank.Title = readmodel.Not{Filter: readmodel.In{Field: readmodel.FieldAuthor, IDs: generator.ids()}}
			text.Fields = text.Fields[:1]
			query.Filter = readmodel.Or{readmodel.And{readmodel.Not{Filter: rank.Title}, rank.Text}, readmodel.And{rank.Title, text}}
		}
	case numbers && generator.chance(25):
		field := readmodel.FieldID
		if event && generator.chance(70) {
			field = readmodel.FieldVenue
		}
		least := map[calendar.ID]int64{}
		for _, id := range append(generator.ids(), generator.ids()...) {
			least[id] = generator.Int64N(9) - 2
		}
		query.Sort = append([]readmodel.Sort{{Field: field, Desc: generator.chance(50), Least: least}}, query.Sort...)
	}
	if event && generator.chance(20) {
		query.Collapse = generator.collapse()
	} else if numbers && generator.chance(40) {
		query.Offset, query.After = 0, readmodel.Place(query.Sort, pick(generator, generator.known).Record)
		if key := &query.After[generator.IntN(len(query.After))]; key.Has && generator.chance(30) { // nothing needs to stand at the place
			key.N++
		}
	}
	if event && generator.chance(40) {
		query = generator.withTallies(query)
	}
	return query
}

// withoutSearch makes a filter that has no search in it.
func (generator generator) withoutSearch() readmodel.Filter {
	for {
		if filter := generator.filter(1); !searches(filter) {
			return filter
		}
	}
}

func (generator generator) collapse() *readmodel.Collapse {
	collapse := &readmodel.Collapse{Field: readmodel.FieldRepeats}
	if generator.chance(40) {
		collapse.Field = readmodel.FieldTitleKey.In(generator.lang())
	}
	if generator.chance(60) {
		collapse.Alone = generator.withoutSearch()
	}
	return collapse
}

// withTallies has a query about events ask for random tallies.
func (generator generator) withTallies(query readmodel.Query) readmodel.Query {
	if generator.chance(40) {
		query.Narrow = generator.filter(1)
	}
	query.Tallies = make([]readmodel.Tally, 1+generator.IntN(4))
	for i := range query.Tallies {
		tally := &query.Tallies[i]
		if generator.chance(60) {
			tally.Filter = generator.filter(1)
		}
		for generator.chance(40) {
			tally.Parts = append(tally.Parts, generator.withoutSearch())
		}
		if tally.Parts != nil && generator.chance(30) {
			continue
		}
		field := pick(generator, generator.schema.Fields)
		for field.Numbers == nil {
			field = pick(generator, generator.schema.Fields)
		}
		tally.Field = field.Name
		for generator.chance(50) { // one of them may be counted with the values
			tally.Parts = append(tally.Parts, readmodel.In{Field: field.Name, IDs: generator.ids()})
		}
	}
	return query
}

// random writes random documents of a kind, again and again, and compares random questions.
func random(pair *indexPair, kind calendar.Kind, rounds, queries int) {
	pair.Helper()
	generator := newGenerator(uint64(kind))
	generator.schema = readmodel.SchemaOf(kind)
	pair.last = 1 << 40
	written := make([]readmodel.Batch, 0, rounds)
	var standing []readmodel.Query // asked again and again, as an index may cache what they find
	for range rounds {
		for range 2 + generator.IntN(2) {
			batch := generator.batch(pair)
			pair.apply(batch)
			for i, d := range batch.Documents {
				if d.Body != nil {
					batch.Documents[i] = document(generator.change(d.Record), d.Position)
				}
			}
			written = append(written, batch)
			if generator.chance(60) { // an entry that was written is not taken again
				pair.apply(pick(generator, written))
			}
		}
		pair.last++ // a new mark: only what is behind one can be waited for
		pair.apply(readmodel.Batch{Mark: At(pair.last)})
		pair.state()
		generator.known = nil
		for _, id := range slices.Sorted(maps.Keys(pair.plain.documents)) {
			if d := pair.plain.documents[id]; d.Record.Kind == kind {
				generator.known = append(generator.known, d)
			}
		}
		for len(standing) < 6 {
			query := generator.query()
			standing = append(standing, readmodel.Query{Kind: kind, Filter: query.Filter, Sort: query.Sort, Limit: 1 + generator.IntN(60)})
		}
		for i := range queries {
			query := generator.query()
			pair.search(query)
			if i%6 == 0 {
				ask(pair, query, func(view readmodel.View) ([]readmodel.Document, error) { return walk(pair.Context(), view, query) })
			}
		}
		for _, query := range standing {
			query.Offset = generator.IntN(3) * generator.IntN(60)
			pair.search(query)
			if kind == calendar.KindEvent {
				pair.search(generator.withTallies(query))
				query.Collapse = generator.collapse()
				pair.search(query)
			}
			for _, field := range generator.schema.Fields {
				if field.Numbers != nil {
					pair.search(readmodel.Query{Kind: kind, Filter: query.Filter, Tallies: []readmodel.Tally{{Field: field.Name}}})
				}
			}
		}
	}
}

// searches reports whether a filter has a search in it.
func searches(filter readmodel.Filter) bool {
	switch f := filter.(type) {
	case readmodel.Text:
		return true
	case readmodel.Not:
		return searches(f.Filter)
	case readmodel.And:
		return slices.ContainsFunc(f, searches)
	case readmodel.Or:
		return slices.ContainsFunc(f, searches)
	}
	return false
}
