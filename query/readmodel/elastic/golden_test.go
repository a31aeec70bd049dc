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
			readmodel.Or{readmodel.Term{Field: readmodel.FieldFeatured, Value: "false"}, readmodel.And{}, readmodel.Or{}},
		}},
		{"numbers", calendar.KindEvent, readmodel.Or{
			readmodel.Range{Field: readmodel.FieldStart, Min: &lo, Max: &hi},
			readmodel.Range{Field: readmodel.FieldStart, Min: &hi, Max: &lo},
			readmodel.Range{Field: readmodel.FieldEnd},
			readmodel.Range{Field: readmodel.FieldEnd, Max: &hi},
		}},
		{"ids", calendar.KindEvent, readmodel.And{readmodel.In{Field: readmodel.FieldVenue, IDs: []calendar.ID{1, 2}}, readmodel.In{Field: readmodel.FieldTags}}},
		{"exists", calendar.KindVenue, readmodel.And{
			readmodel.Exists{Field: readmodel.FieldStatus}, readmodel.Exists{Field: readmodel.TextCity}, readmodel.Exists{Field: readmodel.FieldID},
		}},
		{"weekdays", calendar.KindEvent, readmodel.In{Field: readmodel.FieldWeekday, IDs: []calendar.ID{1, 7}}},
		{"contains", calendar.KindTag, readmodel.Contains{Fields: []string{readmodel.FieldNameLower(calendar.LangFR), readmodel.FieldSlug}, Value: `A*b?\`}},
		{"words", calendar.KindEvent, text("running -jazz", all...)},
		{"words in one field", calendar.KindVenue, text("quay", readmodel.TextAddress)},
		{"quoted", calendar.KindEvent, text(`"jazz nights" "blues" -"a b"`, readmodel.TextName)},
		{"characters", calendar.KindEvent, text("音乐 会", readmodel.TextName, readmodel.TextExcerpt)},
		{"no word", calendar.KindEvent, text("!", all...)},
		{"typos", calendar.KindOrganizer, readmodel.Text{Fields: []string{readmodel.TextName, readmodel.TextPhone}, Search: readmodel.ParseSearch("jzaz sinphony -jzaz 2026", calendar.LangEN), Typos: 2}},
	} {
		q, err := (&compiler{schema: readmodel.SchemaOf(c.kind)}).query(t.Context(), c.f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "# %s\n%s", c.name, pretty(t, encode(q)))
	}
	f := readmodel.Text{Fields: all, Search: readmodel.ParseSearch(`the jzaz "night life" symphony`, calendar.LangEN), Typos: 2}
	q, err := (&compiler{schema: readmodel.SchemaOf(calendar.KindEvent)}).ranked(t.Context(), readmodel.Query{
		Kind: calendar.KindEvent, Filter: f, Sort: []readmodel.Sort{{Rank: &readmodel.Relevance{Text: f, Title: readmodel.Term{Field: readmodel.FieldProtected, Value: "true"}}, Desc: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "# relevance\n%s", pretty(t, encode(q)))
	golden.Compare(t, "queries.txt", out.String())
}

// TestManyIDs: more ids than a terms query takes are cut into several.
func TestManyIDs(t *testing.T) {
	t.Parallel()
	ids := make([]calendar.ID, 2*mostTerms+1)
	parts := in("venue", ids)["bool"].(object)["should"].(list)
	n := 0
	for _, p := range parts {
		n += len(p.(object)["terms"].(object)["venue"].([]calendar.ID))
	}
	if len(parts) != 3 || n != len(ids) {
		t.Errorf("%d ids in %d parts, want %d in 3", n, len(parts), len(ids))
	}
}

// TestWorstSearch: the largest search that is taken is one query of fewer parts
// than OpenSearch takes.
func TestWorstSearch(t *testing.T) {
	t.Parallel()
	const mostClauses = 1024
	var words []string
	for i := range readmodel.MaxRows {
		words = append(words, fmt.Sprintf(`-"musicals%d nationally acting"`, i)) // another stem in each language
	}
	for i := range readmodel.MaxWords - readmodel.MaxRows {
		words = append(words, "musicals"+string(rune('a'+i)))
	}
	without := strings.Join(words, " ")
	slices.Reverse(words) // the first ten have ranks: words cost most
	with := strings.ReplaceAll(strings.Join(words, " "), `-"`, `"`)
	for _, k := range []calendar.Kind{calendar.KindEvent, calendar.KindVenue, calendar.KindOrganizer} {
		for _, query := range []string{without, with} {
			c := &compiler{schema: readmodel.SchemaOf(k)}
			text := func(fields []string) readmodel.Filter {
				return readmodel.Text{Fields: fields, Search: readmodel.ParseSearch(query, calendar.LangEN), Typos: typosOf(k)}
			}
			f := readmodel.And{text(c.schema.Texts())}
			if k == calendar.KindEvent { // what is protected is searched by its title
				f = append(f, text(c.schema.Texts()[:1]))
			}
			list := readmodel.Query{Kind: k, Filter: f}
			if k == calendar.KindEvent {
				list.Sort = []readmodel.Sort{{Desc: true, Rank: &readmodel.Relevance{
					Text: f[0].(readmodel.Text), Title: readmodel.Term{Field: readmodel.FieldProtected, Value: "true"}, //nolint:forcetypeassert // made above
				}}}
			}
			if err := readmodel.Check(list); err != nil {
				t.Fatal(err)
			}
			q, err := c.ranked(t.Context(), list)
			if err != nil {
				t.Fatal(err)
			}
			// The rest of a list has some 30 parts.
			if n := leavesOf(q); n < 100 || n > mostClauses-100 {
				t.Errorf("%s: %d parts, want at most %d", k, n, mostClauses-100)
			}
		}
	}
}

// typosOf: only events are searched with typos.
func typosOf(k calendar.Kind) int {
	if k == calendar.KindEvent {
		return readmodel.MaxTypos
	}
	return 0
}

// leavesOf counts the parts of a query that have none themselves.
func leavesOf(v any) (n int) {
	switch v := v.(type) {
	case object:
		if c, ok := v["constant_score"].(object); ok {
			return leavesOf(c["filter"])
		}
		b, ok := v["bool"].(object)
		if !ok {
			return 1
		}
		for _, clauses := range b {
			n += leavesOf(clauses)
		}
	case list:
		for _, clause := range v {
			n += leavesOf(clause)
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
	if long := clip(strings.Repeat("音", 20_000)); len(long) != mostKeyword || !utf8.ValidString(long) {
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
