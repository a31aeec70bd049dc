package elastic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/internal/canonjson"
	"daybook/internal/testkit/golden"
	"daybook/query/readmodel"
)

func pretty(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", " "); err != nil {
		t.Fatal(err)
	}
	return append(out.Bytes(), '\n')
}

// TestDefinitions: what an engine is told about each index, by flavour. A change
// of it is a change of layoutVersion.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	for _, flavour := range []Flavour{Elasticsearch, OpenSearch} {
		o := Options{Flavour: flavour}
		if err := o.fill(); err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		for _, c := range collections {
			fmt.Fprintf(&all, "# %s\n%s", c, pretty(t, definition(&o, c, "alias")))
		}
		golden.Compare(t, "definitions."+string(flavour)+".txt", all.String())
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	lo, hi := int64(10), int64(20)
	text := func(query string, fields ...string) readmodel.Filter {
		return readmodel.Text{Fields: fields, Search: readmodel.ParseSearch(query, calendar.LangEN)}
	}
	all := readmodel.SchemaOf(calendar.KindEvent).Texts()
	var out bytes.Buffer
	for _, c := range []struct {
		name string
		kind calendar.Kind
		f    readmodel.Filter
	}{
		{"everything", calendar.KindEvent, nil},
		{"images are kept with the state", calendar.KindImage, nil},
		{"and, or, not", calendar.KindEvent, readmodel.And{
			readmodel.Term{Field: readmodel.FieldStatus, Value: "publish"},
			readmodel.Not{Filter: readmodel.Term{Field: readmodel.FieldHidden, Value: "true"}},
			readmodel.Or{readmodel.Term{Field: readmodel.FieldFeatured, Value: "true"}, readmodel.And{}, readmodel.Or{}},
		}},
		{"numbers", calendar.KindEvent, readmodel.Or{
			readmodel.Range{Field: readmodel.FieldStart, Min: &lo, Max: &hi},
			readmodel.Range{Field: readmodel.FieldStart, Min: &hi, Max: &lo},
			readmodel.Range{Field: readmodel.FieldEnd},
			readmodel.Range{Field: readmodel.FieldEnd, Max: &hi},
		}},
		{"ids", calendar.KindEvent, readmodel.And{readmodel.In{Field: readmodel.FieldVenue, IDs: []calendar.ID{1, 2}}, readmodel.In{Field: readmodel.FieldTags}}},
		{"exists", calendar.KindVenue, readmodel.And{
			readmodel.Exists{Field: readmodel.FieldStatus}, readmodel.Exists{Field: readmodel.FieldID},
		}},
		{"weekdays", calendar.KindEvent, readmodel.In{Field: readmodel.FieldWeekday, IDs: []calendar.ID{1, 7}}},
		{"contains", calendar.KindTag, readmodel.Contains{Fields: []string{readmodel.FieldNameLower(calendar.LangFR), readmodel.FieldSlug}, Value: `A*b?\`}},
		{"words", calendar.KindEvent, text("running -jazz", all...)},
		{"words in the name", calendar.KindVenue, text("quay", readmodel.TextName)},
		{"quoted", calendar.KindEvent, text(`"jazz nights" "blues" -"a b"`, readmodel.TextName)},
		{"characters", calendar.KindEvent, text("音乐 会 5月 hip-hop", all...)},
		{"no word", calendar.KindEvent, text("!", all...)},
		{"joined spellings", calendar.KindVenue, readmodel.Text{
			Fields: readmodel.SchemaOf(calendar.KindVenue).Texts(), Spelling: readmodel.Spelling{Joined: true},
			Search: readmodel.ParseSearch("wi fi hip-hop ジョンレノン", calendar.LangEN),
		}},
		{"typos", calendar.KindOrganizer, readmodel.Text{Fields: readmodel.SchemaOf(calendar.KindOrganizer).Texts(), Search: readmodel.ParseSearch("jzaz sinphony -jzaz 2026", calendar.LangEN), Spelling: readmodel.Spelling{Typos: 2}}},
	} {
		compile := &compiler{schema: readmodel.SchemaOf(c.kind)}
		q := compile.live(compile.query(c.f))
		fmt.Fprintf(&out, "# %s\n%s", c.name, pretty(t, encode(q)))
	}
	f := readmodel.Text{Fields: all, Search: readmodel.ParseSearch(`the jzaz "night life" hip-hop`, calendar.LangEN), Spelling: readmodel.Spelling{Typos: 1, Joined: true}}
	q := (&compiler{schema: readmodel.SchemaOf(calendar.KindEvent)}).ranked(&readmodel.Query{
		Kind: calendar.KindEvent, Filter: f, Sort: []readmodel.Sort{{Rank: &readmodel.Relevance{Text: f, Title: readmodel.Term{Field: readmodel.FieldProtected, Value: "true"}}, Desc: true}},
	})
	fmt.Fprintf(&out, "# relevance\n%s", pretty(t, encode(q)))
	golden.Compare(t, "queries.txt", out.String())
}

// TestManyIDs: more ids than a terms query takes are cut into several.
func TestManyIDs(t *testing.T) {
	t.Parallel()
	ids := make([]calendar.ID, 2*maxTerms+1)
	parts := in("venue", ids)["bool"].(object)["should"].(list)
	n := 0
	for _, p := range parts {
		n += len(p.(object)["terms"].(object)["venue"].([]calendar.ID))
	}
	if len(parts) != 3 || n != len(ids) {
		t.Errorf("%d ids in %d parts, want %d in 3", n, len(parts), len(ids))
	}
}

// TestWorstSearch: the largest searches that are taken are queries of fewer clauses than
// OpenSearch takes.
func TestWorstSearch(t *testing.T) {
	t.Parallel()
	const limit = 1024
	words := make([]string, readmodel.MaxWords)
	for i := range words {
		words[i] = "musicals" + string(rune('a'+i%26)) + string(rune('a'+i/26)) // another stem in each language
	}
	characters := "音" + strings.Repeat("乐会", 100) + "jazz"
	for name, query := range map[string]string{
		"words": strings.Join(words, " "), "words after a minus": "-" + strings.Join(words, " -"),
		"quoted": `"` + strings.Join(words, " ") + `"`, "row": strings.Join(words, "-"),
		"pairs": inPairs(words, "-"), "quoted pairs": `"` + strings.ReplaceAll(inPairs(words, " "), " ", `" "`) + `"`,
		"characters": characters[:300], "rows of characters": characters + " " + characters[3:], "without characters": "jazz -" + characters,
	} {
		for _, k := range []calendar.Kind{calendar.KindEvent, calendar.KindVenue, calendar.KindOrganizer} {
			c := &compiler{schema: readmodel.SchemaOf(k), scan: func(query object, _ func([]readmodel.Document) error) error {
				if n := clausesOf(query); n > limit {
					t.Errorf("%s of %s: %d clauses to choose from", name, k, n)
				}
				return nil
			}}
			f := readmodel.Text{Fields: c.schema.Texts(), Search: readmodel.ParseSearch(query, calendar.LangEN), Spelling: readmodel.Spelling{Typos: readmodel.MaxTypos, Joined: true}}
			inName := f
			inName.Fields = f.Fields[:1] // as what is protected is searched
			list := readmodel.Query{Kind: k, Filter: readmodel.And{f, inName}, Sort: []readmodel.Sort{{Desc: true, Rank: &readmodel.Relevance{
				Text: f, Title: readmodel.Term{Field: readmodel.FieldStatus, Value: "publish"},
			}}}}
			q := c.ranked(&list)
			if n := clausesOf(q); n > limit-50 { // the rest of a list has some 30
				t.Errorf("%s of %s: %d clauses", name, k, n)
			}
		}
	}
}

func inPairs(words []string, between string) string {
	var out []string
	for pair := range slices.Chunk(words, 2) {
		out = append(out, strings.Join(pair, between))
	}
	return strings.Join(out, " ")
}

// clausesOf counts the clauses of a query as engines do.
func clausesOf(v any) (n int) {
	switch v := v.(type) {
	case object:
		for name, of := range v {
			switch name {
			case "bool", "filter", "should", "must_not", "constant_score":
				n += clausesOf(of)
			case "match_phrase_prefix":
				for _, row := range of.(object) {
					n += len(strings.Fields(strings.ReplaceAll(row.(object)["query"].(string), "_", " ")))
				}
			case "boost", "minimum_should_match":
			default:
				n++
			}
		}
	case list:
		for _, clause := range v {
			n += clausesOf(clause)
		}
	}
	return n
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain", "a \"quote\" \\ \n\t\x00 \x7f", "é 音 😀 \u2028", "bad \xff\xfe\xc3", "<p>&amp;</p>"} {
		var got string
		if err := json.Unmarshal(canonjson.AppendString(nil, s), &got); err != nil {
			t.Errorf("%q: %v", s, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && got != want {
			t.Errorf("%q came back as %q", s, got)
		}
		if !utf8.Valid(canonjson.AppendString(nil, s)) {
			t.Errorf("%q gives no UTF-8", s)
		}
	}
	if long := clip(strings.Repeat("音", 20_000)); len(long) != maxKeyword || !utf8.ValidString(long) {
		t.Errorf("a long keyword is cut to %d bytes", len(long))
	}
}

// TestParse: names of other installations are never taken for ours.
func TestParse(t *testing.T) {
	t.Parallel()
	n := names{"daybook"}
	for _, g := range []generation{{"0123abcd", 1}, {"ffffffff", 4711}} {
		for _, c := range collections {
			if got, of, ok := n.parse(n.index(c, g)); !ok || got != c || of != g {
				t.Errorf("%s: %s, %v, %v", n.index(c, g), got, of, ok)
			}
		}
	}
	for _, index := range []string{
		"daybook-test-events-0123abcd-1", "daybook-events", "daybook-events-0123abcd-1-write", "daybook-events-xyz-1", "other-events-0123abcd-1",
	} {
		if _, _, ok := n.parse(index); ok {
			t.Errorf("%s is taken for ours", index)
		}
	}
}
