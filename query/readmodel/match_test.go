package readmodel_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/readmodeltest"
)

// documents makes documents of a kind with the ids 1, 2, 3 …
func documents(kind calendar.Kind, fields ...calendar.Fields) []readmodel.Document {
	out := make([]readmodel.Document, len(fields))
	for i, f := range fields {
		out[i].Record = &calendar.Record{ID: calendar.ID(1 + i), Kind: kind, Home: calendar.LangEN, Fields: f}
	}
	return out
}

func idsOf(docs []readmodel.Document) (ids []calendar.ID) {
	for i := range docs {
		ids = append(ids, docs[i].Record.ID)
	}
	return ids
}

func ids(list ...calendar.ID) []calendar.ID { return list }

// readLines returns the lines of a file in testdata without comments, which begin with "  #".
func readLines(t *testing.T, file string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut("  "+line, "  #")
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// eachRow reads the rows of a file in testdata, which are arrays in JSON, into columns, and
// calls do after each.
func eachRow(t *testing.T, file string, do func(), columns ...any) {
	t.Helper()
	lines := readLines(t, file)
	if len(lines) == 0 {
		t.Errorf("%s has no rows", file)
	}
	for _, line := range lines {
		row := slices.Clone(columns)
		if err := json.Unmarshal([]byte(line), &row); err != nil || len(row) != len(columns) {
			t.Fatalf("%s: %d columns, %v", line, len(row), err)
		}
		do()
	}
}

// decoded reads a filter from its fields in JSON.
func decoded[F readmodel.Filter](t *testing.T, fields []byte) (value F) {
	t.Helper()
	if err := json.Unmarshal(fields, &value); err != nil {
		t.Fatalf("%s: %v", fields, err)
	}
	return value
}

// filterOf reads a filter of testdata/matches.txt.
func filterOf(t *testing.T, kind string, fields []byte) readmodel.Filter {
	t.Helper()
	var parts []readmodel.Filter
	if fields[0] == '[' {
		var list [][2]json.RawMessage
		if err := json.Unmarshal(fields, &list); err != nil {
			t.Fatalf("%s: %v", fields, err)
		}
		for _, part := range list {
			parts = append(parts, filterOf(t, strings.Trim(string(part[0]), `"`), part[1]))
		}
	}
	switch kind {
	case "And":
		return readmodel.And(parts)
	case "Or":
		return readmodel.Or(parts)
	case "Not":
		return readmodel.Not{Filter: parts[0]}
	case "Term":
		return decoded[readmodel.Term](t, fields)
	case "In":
		return decoded[readmodel.In](t, fields)
	case "Range":
		numbers := readmodel.Range{Span: readmodel.AllNumbers}
		if err := json.Unmarshal(fields, &numbers); err != nil {
			t.Fatalf("%s: %v", fields, err)
		}
		return numbers
	case "Contains":
		return decoded[readmodel.Contains](t, fields)
	case "Text":
		var sent struct {
			Lang, Query string
			Fields      []string
		}
		if err := json.Unmarshal(fields, &sent); err != nil {
			t.Fatalf("%s: %v", fields, err)
		}
		lang, _ := calendar.ParseLang(sent.Lang)
		return readmodel.Text{Fields: sent.Fields, Search: readmodel.ParseSearch(sent.Query, lang)}
	case "Everything":
		return nil
	}
	t.Fatalf("%s is no filter", kind)
	return nil
}

// TestMatch: the filters of testdata/matches.txt admit the documents that it says.
func TestMatch(t *testing.T) {
	t.Parallel()
	var docs []readmodel.Document
	rows := 0
	for _, line := range readLines(t, "matches.txt") {
		row, want, isFilter := strings.Cut(line, " =>")
		kind, fields, _ := strings.Cut(row, " ")
		switch {
		case kind == "==":
			docs = nil
		case isFilter:
			filter := filterOf(t, kind, []byte(fields))
			got := idsOf(slices.DeleteFunc(slices.Clone(docs), func(document readmodel.Document) bool { return !readmodel.Match(filter, document.Record) }))
			if fmt.Sprint(got) != "["+strings.TrimSpace(want)+"]" {
				t.Errorf("%s admits %v, want%s", row, got, want)
			}
			rows++
		default:
			home, fields, _ := strings.Cut(fields, " ")
			record, err := calendar.DecodeRecord(fmt.Appendf(nil, `{"changed":"2030-01-01T00:00:00.000Z","fields":%s,"home":%q,"id":%d,"kind":%q,"version":1}`, fields, home, len(docs)+1, kind))
			if err != nil {
				t.Fatalf("%s: %v", row, err)
			}
			docs = append(docs, readmodel.Document{Record: record})
		}
	}
	if rows < 65 {
		t.Errorf("%d filters, want at least 65", rows)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	docs := documents(calendar.KindEvent,
		calendar.Fields{"date_utc": calendar.NoWall, "date": calendar.Wall(5), "venue": ids(3)},
		calendar.Fields{"date_utc": calendar.Wall(-30), "date": calendar.Wall(5), "venue": ids(2, 1)},
		calendar.Fields{"date": calendar.Wall(4), "venue": ids(9)},
		calendar.Fields{"date_utc": calendar.Wall(70), "date": calendar.Wall(1)},
	)
	published := readmodel.FieldPublished
	for _, c := range []struct {
		order []readmodel.Sort
		ids   []calendar.ID
	}{
		{nil, ids(1, 2, 3, 4)},
		{[]readmodel.Sort{{Field: readmodel.FieldID, Desc: true}}, ids(4, 3, 2, 1)},
		{[]readmodel.Sort{{Field: published}, {Field: readmodel.FieldDate}}, ids(2, 4, 3, 1)},
		{[]readmodel.Sort{{Field: published, Desc: true}, {Field: readmodel.FieldDate}}, ids(4, 2, 3, 1)}, // those without are last
		{[]readmodel.Sort{{Field: published}, {Field: readmodel.FieldLack(published)}, {Field: readmodel.FieldID, Desc: true}}, ids(2, 4, 1, 3)},
		{[]readmodel.Sort{{Field: readmodel.FieldVenue, Least: map[calendar.ID]int64{1: 4, 2: 7, 3: 5}}}, ids(2, 1, 3, 4)},
		{[]readmodel.Sort{{Field: readmodel.FieldVenue, Least: map[calendar.ID]int64{1: 4, 2: 7, 3: 5}, Desc: true}}, ids(1, 2, 3, 4)},
	} {
		sorted := slices.Clone(docs)
		slices.SortFunc(sorted, func(a, b readmodel.Document) int { return readmodeltest.Compare(c.order, &a, &b) })
		if got := idsOf(sorted); !slices.Equal(got, c.ids) {
			t.Errorf("%+v: %v, want %v", c.order, got, c.ids)
		}
	}
}
