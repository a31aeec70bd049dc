package elastic

import (
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
)

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
		for _, kind := range []calendar.Kind{calendar.KindEvent, calendar.KindVenue, calendar.KindOrganizer} {
			c := &compiler{scan: func(query object, _ func([]readmodel.Document) error) error {
				if n := clausesOf(query); n > limit {
					t.Errorf("%s of %s: %d clauses to choose from", name, kind, n)
				}
				return nil
			}}
			text := readmodel.Text{Fields: readmodel.SchemaOf(kind).Texts, Search: readmodel.ParseSearch(query, calendar.LangEN), Spelling: readmodel.Spelling{Typos: readmodel.MaxTypos, Joined: true}}
			inName := text
			inName.Fields = text.Fields[:1] // as what is protected is searched
			list := readmodel.Query{Kind: kind, Filter: readmodel.And{text, inName}, Sort: []readmodel.Sort{{Desc: true, Rank: &readmodel.Relevance{
				Text: text, Title: readmodel.Term{Field: readmodel.FieldStatus, Value: "publish"},
			}}}}
			q := c.ranked(&list)
			if n := clausesOf(q); n > limit-50 { // the rest of a list has some 30
				t.Errorf("%s of %s: %d clauses", name, kind, n)
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
func clausesOf(value any) (n int) {
	switch v := value.(type) {
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

// TestParse: names of other installations are never taken for ours.
func TestParse(t *testing.T) {
	t.Parallel()
	n := names{"daybook"}
	for _, g := range []generation{{"0123abcd", 1}, {"ffffffff", 4711}} {
		for _, text := range collections {
			if got, of, ok := n.parse(n.index(text, g)); !ok || got != text || of != g {
				t.Errorf("%s: %s, %v, %v", n.index(text, g), got, of, ok)
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
