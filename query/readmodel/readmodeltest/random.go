package readmodeltest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// vocabulary are words that meet each other: common ones, forms of one stem,
// beginnings, accents, characters in a row and not in a row.
var vocabulary = strings.Fields(`jazz jazzy the of music musical musician a b running runs ran concert concerts
	été fête fêtes musique musiques danser dansait cheval chevaux los música músico canción canciones niño bailando
	symphony symphonies symphany orchestra orchestre
	音乐 音乐会 会音 乐 北京 かんぱい カフェ 콘서트 2026 20 K-POP don't Øresund straße STRASSE x`)

// generator makes random documents and filters.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 1))} }

func pick[T any](g generator, list []T) T { return list[g.IntN(len(list))] }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g generator) words(most int) string {
	n := 1 + g.IntN(most)
	out := make([]string, n)
	for i := range out {
		out[i] = pick(g, vocabulary)
	}
	return strings.Join(out, pick(g, []string{" ", " ", ", ", "-", ""}))
}

func (g generator) text(html bool, most int) (t calendar.Text, home calendar.Lang) {
	home = pick(g, calendar.Langs[:])
	t = g.more(calendar.Text{}, html, most)
	if t[home] == "" {
		t[home] = g.words(most)
	}
	return t, home
}

func (g generator) more(t calendar.Text, html bool, most int) calendar.Text {
	for l := range t {
		if !g.chance(35) {
			continue
		}
		t[l] = g.words(most)
		if html && g.chance(50) {
			t[l] = "<p>" + strings.Replace(t[l], " ", pick(g, []string{"<b>", "</p><p>", " &amp; ", "<br />"}), 1) + "</p>"
		}
	}
	return t
}

const idRange = 12 // ids of links and authors, so that they meet

func (g generator) ids() []calendar.ID {
	out := make([]calendar.ID, 0, 3)
	for range g.IntN(4) {
		id := calendar.ID(1 + g.IntN(idRange))
		if len(out) == 0 || out[len(out)-1] != id {
			out = append(out, id)
		}
	}
	return out
}

const base = calendar.Wall(1_900_000_000)

func (g generator) wall() calendar.Wall { return base + calendar.Wall(g.IntN(40)-20) }

var costs = [][]string{
	{"0"},
	{"Free"},
	{"GRATÙIT", "0,00"},
	{"免費"},
	{"0–30"},
	{"$10"},
	{"10.9999"},
	{"25 €"},
	{"pay what you want"},
	{"Gratis", "12"},
	{"1234.567"},
	{"99999999999999999999"},
}

var statuses = []string{"publish", "publish", "publish", "future", "draft", "pending", "private", "trash"}

// record makes a random record.
func (g generator) record(k calendar.Kind, id calendar.ID) *calendar.Record {
	name, home := g.text(false, 3)
	f := calendar.Fields{k.NameField(): name}
	if g.chance(70) {
		f["description"] = g.more(calendar.Text{}, true, 8)
	}
	switch {
	case k.IsPost():
		g.post(k, f)
	default:
		f["slug"] = fmt.Sprintf("%s-%d", pick(g, []string{"jazz", "rock", "Folk", "été"}), g.IntN(20))
		if k == calendar.KindCategory && g.chance(50) {
			f["parent"] = calendar.ID(1 + g.IntN(idRange))
		}
	}
	return &calendar.Record{
		ID: id, Kind: k, Version: 1 + int64(g.IntN(5)), Home: home,
		Changed: time.Unix(int64(base), 0).UTC(), Fields: f,
	}
}

func (g generator) post(k calendar.Kind, f calendar.Fields) {
	f["author"] = calendar.ID(1 + g.IntN(idRange))
	f["status"] = pick(g, statuses)
	if f["status"] == "trash" {
		f["former_status"] = pick(g, statuses[:7])
	}
	f["date"] = g.wall()
	f["date_utc"] = g.wall()
	if g.chance(15) {
		f["date_utc"] = calendar.NoWall
	}
	if g.chance(40) {
		f["excerpt"] = g.more(calendar.Text{}, true, 3)
	}
	switch k {
	case calendar.KindEvent:
		start := g.wall()
		if g.chance(50) {
			start = calendar.Wall(g.Int64N(200*86_400) - 100*86_400)
		}
		f["start_date"], f["end_date"] = start, start+calendar.Wall(pick(g, []int{g.IntN(10), g.IntN(300_000)}))
		f["utc_start_date"], f["utc_end_date"] = start+5, start+5+calendar.Wall(pick(g, []int{g.IntN(10), 3600, 7200}))
		f["modified_utc"] = pick(g, []calendar.Wall{g.wall(), g.wall(), calendar.NoWall})
		if g.chance(60) {
			f["cost"] = pick(g, costs)
		}
		for _, name := range []string{"categories", "tags", "venue", "organizer"} {
			if ids := g.ids(); len(ids) > 0 {
				f[name] = ids
			}
		}
		for _, name := range []string{"hide_from_listings", "featured", "ticketed", "protected", "all_day"} {
			if g.chance(60) {
				f[name] = g.chance(50)
			}
		}
		if g.chance(30) {
			f["post_parent"] = calendar.ID(1 + g.IntN(idRange))
		}
		if g.chance(25) { // so that some are repeats
			var same calendar.Text
			for l := range same {
				same[l] = pick(g, []string{"Jazz", "jazz!", "Concert"})
			}
			f["title"], f["venue"] = same, pick(g, [][]calendar.ID{{1}, {1, 2}, {}})
		}
	case calendar.KindVenue:
		for _, name := range []string{"address", "city", "country", "province", "state", "zip", "phone", "stateprovince", "website"} {
			if g.chance(30) {
				f[name] = g.words(2)
			}
		}
		if g.chance(70) {
			f["geo_lat"], f["geo_lng"] = g.lat(), g.lng()
		}
	default:
		for _, name := range []string{"phone", "website", "email"} {
			if g.chance(40) {
				f[name] = g.words(2)
			}
		}
	}
}

func (g generator) lat() float64 {
	return pick(g, []float64{-90, 90, 0, 48.85 + g.Float64(), -33.4 + g.Float64()/100, g.Float64()*180 - 90})
}

func (g generator) lng() float64 {
	return pick(g, []float64{-180, 180, 179.99, -179.99, 2.35 + g.Float64(), g.Float64()*360 - 180})
}

// document makes a document of a record.
func document(r *calendar.Record, p calendar.Position) readmodel.Document {
	body, err := calendar.EncodeRecord(r)
	if err != nil {
		panic(fmt.Sprintf("readmodeltest made a record that cannot be stored: %v", err))
	}
	r.Sum = calendar.SumOf(body)
	return readmodel.Document{Position: p, Record: r, Body: body}
}

// filter makes a random filter for a kind.
func (g generator) filter(s *readmodel.Schema, depth int) readmodel.Filter {
	if depth > 0 && g.chance(55) {
		parts := make([]readmodel.Filter, g.IntN(4))
		for i := range parts {
			parts[i] = g.filter(s, depth-1)
		}
		switch g.IntN(3) {
		case 0:
			return readmodel.Or(parts)
		case 1:
			return readmodel.Not{Filter: g.filter(s, depth-1)}
		default:
			return readmodel.And(parts)
		}
	}
	f := &s.Fields[g.IntN(len(s.Fields))]
	if f.Type == readmodel.TypeComputed {
		return g.computed(f)
	}
	if f.Type != readmodel.TypeBool && g.chance(10) {
		return readmodel.Exists{Field: f.Name}
	}
	switch f.Type {
	case readmodel.TypeKeyword:
		if g.chance(40) {
			return readmodel.Contains{
				Fields: []string{readmodel.FieldSlug, readmodel.FieldNameLower(pick(g, calendar.Langs[:]))}[:g.contains(s)],
				Value:  pick(g, []string{"JA", "z", "é", "1", "usi", "音"}),
			}
		}
		return readmodel.Term{Field: f.Name, Value: pick(g, append([]string{"jazz-1", "rock-2", "jazz", "musik", "musique"}, statuses...))}
	case readmodel.TypeBool:
		return readmodel.Term{Field: f.Name, Value: pick(g, []string{"true", "false"})}
	case readmodel.TypeIDs:
		return readmodel.In{Field: f.Name, IDs: g.ids()}
	case readmodel.TypeNumber:
		if f.Name == readmodel.FieldCost {
			return g.between(f.Name, func() int64 { return pick(g, []int64{readmodel.CostFree, 0, 1, 999, 1000, 1099, 2500, 1 << 40}) })
		}
		return g.between(f.Name, func() int64 { return int64(g.wall()) })
	case readmodel.TypePoint:
		if g.chance(50) {
			south, north := g.lat(), g.lat()
			return readmodel.Box{Field: f.Name, West: g.lng(), South: min(south, north), East: g.lng(), North: max(south, north)}
		}
		return readmodel.Near{Field: f.Name, Lat: g.lat(), Lng: g.lng(), Km: pick(g, []float64{0.5, 30, 120, 3000, 20000})}
	default:
		return readmodel.Text{Fields: g.texts(s), Search: readmodel.ParseSearch(g.search(), pick(g, calendar.Langs[:])), Typos: g.IntN(readmodel.MaxTypos + 1)}
	}
}

func (g generator) between(field string, bound func() int64) readmodel.Filter {
	r := readmodel.Range{Field: field}
	if g.chance(70) {
		r.Min = new(bound())
	}
	if g.chance(70) {
		r.Max = new(bound())
	}
	return r
}

// computed makes a filter by a number that follows from others.
func (g generator) computed(f *readmodel.Field) readmodel.Filter {
	bound := func() int64 {
		switch f.Name {
		case readmodel.FieldMonth:
			return readmodel.MonthOf(pick(g, []int{1969, 1970, 2030}), time.Month(1+g.IntN(12)))
		case readmodel.FieldWeekday:
			return int64(1 + g.IntN(7))
		case readmodel.FieldMinute:
			return int64(g.IntN(1440))
		default:
			return pick(g, []int64{0, 5, 3600, 7200, 86_400, 2 * 86_400})
		}
	}
	switch {
	case g.chance(10):
		return readmodel.Exists{Field: f.Name}
	case g.chance(50):
		return g.between(f.Name, bound)
	}
	in := readmodel.In{Field: f.Name}
	for range g.IntN(6) {
		in.IDs = append(in.IDs, calendar.ID(bound()))
	}
	return in
}

// contains gives how many of the fields of a Contains a kind has.
func (g generator) contains(s *readmodel.Schema) int {
	if s.Kind.IsTerm() {
		return 1 + g.IntN(2)
	}
	return 0
}

func (g generator) texts(s *readmodel.Schema) []string {
	all := s.Texts()
	if g.chance(50) {
		return all
	}
	return all[:1+g.IntN(len(all))]
}

func (g generator) search() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(pick(g, []string{"", "", "", "-"}))
		word := pick(g, vocabulary)
		switch g.IntN(7) {
		case 5, 6:
			b.WriteString(g.misspelt(word))
		case 0:
			b.WriteString(`"` + g.words(3) + `"`)
		case 1:
			r := []rune(word)
			b.WriteString(string(r[:1+g.IntN(len(r))]))
		case 2:
			b.WriteString(strings.ToUpper(word))
		default:
			b.WriteString(word)
		}
		b.WriteString(pick(g, []string{" ", " ", "  ", `"`, "-"}))
	}
	return b.String()
}

// rank makes a query a search that is ordered by relevance.
func (g generator) rank(s *readmodel.Schema, q *readmodel.Query) {
	f := readmodel.Text{Fields: s.Texts(), Search: readmodel.ParseSearch(g.search(), pick(g, calendar.Langs[:])), Typos: g.IntN(readmodel.MaxTypos + 1)}
	rank := &readmodel.Relevance{Text: f}
	if q.Sort[0].Least != nil {
		q.Sort = q.Sort[1:]
	}
	q.Sort = append([]readmodel.Sort{{Rank: rank, Desc: true}}, q.Sort...)
	if g.chance(60) {
		q.Filter = f
		return
	}
	rank.Title = readmodel.In{Field: readmodel.FieldAuthor, IDs: g.ids()}
	name := f
	name.Fields = f.Fields[:1]
	q.Filter = readmodel.Or{
		readmodel.And{readmodel.Not{Filter: rank.Title}, f}, readmodel.And{rank.Title, name},
	}
}

// misspelt makes a typo or two in a word.
func (g generator) misspelt(word string) string {
	r := []rune(word)
	for range 1 + g.IntN(2) {
		i := g.IntN(len(r))
		switch g.IntN(4) {
		case 0:
			r = slices.Insert(r, i, 'z')
		case 1:
			r[i] = 'q'
		case 2:
			if i+1 < len(r) {
				r[i], r[i+1] = r[i+1], r[i]
			}
		default:
			if len(r) > 1 {
				r = slices.Delete(r, i, i+1)
			}
		}
	}
	return string(r)
}

// order makes a random order for a kind.
func (g generator) order(s *readmodel.Schema) []readmodel.Sort {
	var names []string
	for i := range s.Fields {
		if s.Fields[i].Sort && s.Fields[i].Name != readmodel.FieldID {
			names = append(names, s.Fields[i].Name)
		}
	}
	var out []readmodel.Sort
	if s.Kind == calendar.KindEvent && g.chance(25) {
		least := map[calendar.ID]int64{}
		for range g.IntN(idRange) {
			least[calendar.ID(1+g.IntN(idRange))] = g.Int64N(9) - 2
		}
		out = append(out, readmodel.Sort{Field: readmodel.FieldVenue, Desc: g.chance(50), Least: least})
	}
	for range g.IntN(3) {
		name := pick(g, names)
		out = append(out, readmodel.Sort{Field: name, Desc: g.chance(50), Tail: g.chance(30) && s.Field(name).Type == readmodel.TypeNumber})
	}
	return append(out, readmodel.Sort{Field: readmodel.FieldID, Desc: g.chance(50)})
}
