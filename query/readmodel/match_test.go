package readmodel_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// documents makes documents of a kind with the ids 1, 2, 3 …
func documents(k calendar.Kind, fields ...calendar.Fields) []readmodel.Document {
	out := make([]readmodel.Document, len(fields))
	for i, f := range fields {
		out[i].Record = &calendar.Record{ID: calendar.ID(1 + i), Kind: k, Home: calendar.LangEN, Fields: f}
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

func is(field, value string) readmodel.Filter { return readmodel.Term{Field: field, Value: value} }

func in(field string, list ...calendar.ID) readmodel.Filter {
	return readmodel.In{Field: field, IDs: list}
}

// readLines gives the lines of a file in testdata without comments, which begin with "  #".
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
func decoded[F readmodel.Filter](t *testing.T, fields []byte) (f F) {
	t.Helper()
	if err := json.Unmarshal(fields, &f); err != nil {
		t.Fatalf("%s: %v", fields, err)
	}
	return f
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
		return decoded[readmodel.Range](t, fields)
	case "Exists":
		return decoded[readmodel.Exists](t, fields)
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
		l, _ := calendar.ParseLang(sent.Lang)
		return readmodel.Text{Fields: sent.Fields, Search: readmodel.ParseSearch(sent.Query, l)}
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
			f := filterOf(t, kind, []byte(fields))
			got := idsOf(slices.DeleteFunc(slices.Clone(docs), func(d readmodel.Document) bool { return !readmodel.Match(f, &d) }))
			if fmt.Sprint(got) != "["+strings.TrimSpace(want)+"]" {
				t.Errorf("%s admits %v, want%s", row, got, want)
			}
			rows++
		default:
			home, fields, _ := strings.Cut(fields, " ")
			r, err := calendar.DecodeRecord(fmt.Appendf(nil, `{"changed":"2030-01-01T00:00:00.000Z","fields":%s,"home":%q,"id":%d,"kind":%q,"version":1}`, fields, home, len(docs)+1, kind))
			if err != nil {
				t.Fatalf("%s: %v", row, err)
			}
			docs = append(docs, readmodel.Document{Record: r})
		}
	}
	if rows < 70 {
		t.Errorf("%d filters, want at least 70", rows)
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
		slices.SortFunc(sorted, func(a, b readmodel.Document) int { return readmodel.Compare(c.order, &a, &b) })
		if got := idsOf(sorted); !slices.Equal(got, c.ids) {
			t.Errorf("%+v: %v, want %v", c.order, got, c.ids)
		}
	}
	tags := documents(calendar.KindTag)
	for i, name := range []string{"Zebra", "éclair", "Echo", "apple", "Écho", "音乐", "Ähre"} {
		tags = append(tags, readmodel.Document{Record: &calendar.Record{ID: calendar.ID(1 + i), Kind: calendar.KindTag, Home: calendar.LangFR, Fields: calendar.Fields{"name": textIn(calendar.LangFR, name)}}})
	}
	byName := []readmodel.Sort{{Field: readmodel.FieldNameKey(calendar.LangEN)}}
	slices.SortFunc(tags, func(a, b readmodel.Document) int { return readmodel.Compare(byName, &a, &b) })
	if got, want := idsOf(tags), ids(7, 4, 3, 5, 2, 1, 6); !slices.Equal(got, want) {
		t.Errorf("by name: %v, want %v", got, want)
	}
}

func TestTallyOf(t *testing.T) {
	t.Parallel()
	day := func(d calendar.Wall) calendar.Wall { return d * 86_400 }
	docs := documents(calendar.KindEvent,
		calendar.Fields{"venue": ids(10), "start_date": day(0), "featured": true},
		calendar.Fields{"venue": ids(11), "start_date": day(1), "featured": true},
		calendar.Fields{"venue": ids(10, 11, 12), "start_date": day(31), "featured": true},
		calendar.Fields{"venue": ids(12, 12), "start_date": day(31)},
		calendar.Fields{"start_date": day(365)},
	)
	january := readmodel.MonthOf(1970, 1)
	for _, c := range []struct {
		of   readmodel.Tally
		want readmodel.Tallied
	}{
		{readmodel.Tally{Field: readmodel.FieldMonth}, readmodel.Tallied{Values: []readmodel.Value{{january, 2}, {january + 1, 2}, {january + 12, 1}}}},
		{
			readmodel.Tally{Field: readmodel.FieldVenue, Groups: [][]calendar.ID{{10, 12}, {11}, {99}}},
			readmodel.Tallied{Values: []readmodel.Value{{10, 2}, {11, 2}, {12, 2}}, Groups: []int{3, 2, 0}},
		},
		{
			readmodel.Tally{Parts: []readmodel.Filter{is(readmodel.FieldFeatured, "true"), in(readmodel.FieldVenue, 10, 12), readmodel.Or{}, readmodel.And{}}},
			readmodel.Tallied{Parts: []int{3, 3, 0, 5}},
		},
	} {
		if diff := cmp.Diff(c.want, readmodel.TallyOf(&c.of, docs), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.of, diff)
		}
	}
}

// TestRepeated: what repeats are.
func TestRepeated(t *testing.T) {
	t.Parallel()
	event := func(title string, start calendar.Wall, venue ...calendar.ID) calendar.Fields {
		return calendar.Fields{"title": textIn(calendar.LangEN, title), "venue": venue, "start_date": start}
	}
	docs := documents(calendar.KindEvent,
		event("Open Mic", 30, 7, 8), event(" open \t MÍC", 10, 7, 8), event("Mic open", 20, 7, 8), event("Open mic", 40, 8, 7), event("Open mic", 50, 7, 8),
		event("Open mic", calendar.NoWall, 7, 8),
	)
	docs[4].Record.Fields["protected"] = true
	got := readmodel.Repeated(&readmodel.Collapse{Field: readmodel.FieldRepeats, Alone: is(readmodel.FieldProtected, "true")}, docs)
	if want := ids(1, 3, 4, 5); !slices.Equal(idsOf(got), want) {
		t.Errorf("groups of %v, want %v", idsOf(got), want)
	}
	if diff := cmp.Diff(&readmodel.Repeats{Count: 3, IDs: ids(1, 2, 6), First: 10, Last: 30}, got[0].Repeats); diff != "" {
		t.Errorf("group (-want +got):\n%s", diff)
	}
}

// Listings 3.6, 8.38: signs tell titles apart, spelling does not.
func TestRepeatedSigns(t *testing.T) {
	t.Parallel()
	var fields []calendar.Fields
	for _, title := range []string{"C", "C++", "C#", "★★★", "★★", "!!!", "♥", "c", "Ｃ＋＋", "★★★ "} {
		fields = append(fields, calendar.Fields{"title": textIn(calendar.LangEN, title)})
	}
	got := readmodel.Repeated(&readmodel.Collapse{Field: readmodel.FieldRepeats}, documents(calendar.KindEvent, fields...))
	if want := ids(1, 2, 3, 4, 5, 6, 7); !slices.Equal(idsOf(got), want) {
		t.Errorf("groups of %v, want %v", idsOf(got), want)
	}
}

// TestTitleKey: names that are shown alike have one key.
func TestTitleKey(t *testing.T) {
	t.Parallel()
	key := func(title string, l calendar.Lang) int64 {
		f := readmodel.SchemaOf(calendar.KindEvent).Field(readmodel.FieldTitleKey(l))
		return f.Numbers(documents(calendar.KindEvent, calendar.Fields{"title": textIn(calendar.LangEN, title)})[0].Record)[0]
	}
	for _, same := range []string{"jazz NIGHT", " Jazz \t night"} {
		if key(same, calendar.LangFR) != key("Jazz night", calendar.LangEN) {
			t.Errorf("%q has another key", same)
		}
	}
	for _, other := range []string{"Jazz night!", "Night jazz", "Jazz"} {
		if key(other, calendar.LangEN) == key("Jazz night", calendar.LangEN) {
			t.Errorf("%q has the same key", other)
		}
	}
}
