package calendar

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"daybook/internal/canonjson"
	"daybook/internal/testkit/golden"
)

// storedChanges has one change of each form that the store may hold.
func storedChanges(tb testing.TB) map[string]Change {
	tb.Helper()
	created := typicalEvent(tb).Fields
	// Its file names the rows of its day; one more row is no other form.
	var all Fields
	removals, err := os.ReadFile(filepath.Join("testdata", "changes", "event.updated.removals.golden"))
	if err == nil {
		err = json.Unmarshal(removals, &all)
	}
	if err != nil {
		tb.Fatal(err)
	}
	wall := Wall(1783189800)
	return map[string]Change{
		"event.created": {Name: "event.created", Kind: KindEvent, ID: 412, Home: LangEN, Fields: created},
		"event.updated": {Name: "event.updated", Kind: KindEvent, ID: 412, Fields: Fields{
			"title": Text{"音乐会", "Concert", "Concert à quai", "Concierto"}, "protected": true, "post_parent": ID(400),
			"excerpt": nil, "cost": nil, "modified": wall, "modified_utc": wall,
		}},
		"event.updated.removals": {Name: "event.updated", Kind: KindEvent, ID: 412, Fields: all},
		"event.trashed": {Name: "event.trashed", Kind: KindEvent, ID: 412, Fields: Fields{
			"status": "trash", "former_status": "draft", "slug": "x-2__trashed", "former_slug": "x", "modified": wall, "modified_utc": wall,
		}},
		"event.restored": {Name: "event.restored", Kind: KindEvent, ID: 412, Fields: Fields{
			"status": "draft", "former_status": nil, "slug": "x", "former_slug": nil, "date_utc": NoWall, "modified": wall, "modified_utc": wall,
		}},
		"venue.created": {Name: "venue.created", Kind: KindVenue, ID: 88, Home: LangCN, Fields: Fields{
			"author": ID(7), "status": "publish", "date": wall, "date_utc": wall, "modified": wall, "modified_utc": wall,
			"venue": Text{LangCN: "河边大厅"}, "slug": "he-bian-da-ting", "show_map": true, "show_map_link": false,
			"address": "12 Quay St", "city": "Boston", "country": "United States", "province": "p", "state": "MA", "zip": "02110",
			"phone": "+1 555 0100", "stateprovince": "MA", "website": "https://river.example", "geo_lat": 42.3554, "geo_lng": -71.0501,
			"image": ID(384), "image_url": "https://img.example/quay.jpg", "description": Text{LangCN: "<p>水边</p>"}, "excerpt": Text{LangCN: "水"},
		}},
		"organizer.created": {Name: "organizer.created", Kind: KindOrganizer, ID: 90, Home: LangES, Fields: Fields{
			"author": ID(7), "status": "pending", "date": wall, "date_utc": NoWall, "modified": wall, "modified_utc": NoWall,
			"organizer": Text{LangES: "Fundación"}, "phone": "1", "website": "https://arts.example", "email": "hello@arts.example",
		}},
		"category.created": {Name: "category.created", Kind: KindCategory, ID: 31, Home: LangFR, Fields: Fields{
			"name": Text{LangFR: "Jazz & blues"}, "slug": "jazz-blues", "parent": ID(30), "description": Text{LangFR: "Tout"},
		}},
		"category.deleted": {Name: "category.deleted", Kind: KindCategory, ID: 31, Fields: Fields{}},
		"tag.erased":       {Name: "tag.erased", Kind: KindTag, ID: 45, Fields: Fields{}},
		"tag.created":      {Name: "tag.created", Kind: KindTag, ID: 45, Home: LangEN, Fields: Fields{"name": Text{LangEN: "Open air"}, "slug": "open-air"}},
		"tag.updated":      {Name: "tag.updated", Kind: KindTag, ID: 45, Fields: Fields{}},
		"image.created":    NewImage(384, "https://img.example/a/quay.JPG?x=1", LangEN),
		"user.created":     {Name: "user.created", Kind: KindUser, ID: 7, Home: LangEN, Fields: Fields{"name": "ana", "role": "editor"}},
	}
}

// The golden files are what the event store holds: the names and forms in them
// are read for ever. A difference here means that stored changes can no longer
// be read, or are written in another form.
func TestStoredChangesAreFrozen(t *testing.T) {
	t.Parallel()
	changes := storedChanges(t)
	for name, change := range changes {
		data, err := EncodeChange(change)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden.Compare(t, "changes/"+name+".golden", string(data)+"\n")
		got, err := DecodeChange(change.Name, change.ID, change.Home, data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if text := cmp.Diff(change, got); text != "" {
			t.Errorf("%s: decoded change (-want +got):\n%s", name, text)
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "changes", "*.golden"))
	if err != nil || len(files) != len(changes) {
		t.Errorf("%d golden files for %d changes, %v", len(files), len(changes), err)
	}
}

func TestStoredRecordIsFrozen(t *testing.T) {
	t.Parallel()
	data, err := EncodeRecord(typicalEvent(t))
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "record.golden", string(data)+"\n")
	gone := &Record{ID: 31, Kind: KindTag, Version: 2, Home: LangFR, Changed: time.Unix(0, 0).UTC(), Deleted: true, Fields: Fields{"slug": "s"}}
	data, err = EncodeRecord(gone)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"changed":"1970-01-01T00:00:00.000Z","deleted":true,"fields":{"slug":"s"},"home":"fr","id":31,"kind":"tag","version":2}`
	if string(data) != want {
		t.Errorf("got %s, want %s", data, want)
	}
	if got, err := DecodeRecord(data); err != nil || !cmp.Equal(got, gone, ignoreSum) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestDecodeRecordRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range ReadRows(t, "stored.txt", "refused", 2) {
		stored := row[0]
		if fields, ok := strings.CutPrefix(stored, "fields "); ok {
			stored = `{"changed":"1970-01-01T00:00:00.000Z","fields":{` + fields + `},"home":"en","id":31,"kind":"venue","version":2}`
		}
		if record, err := DecodeRecord([]byte(stored)); err == nil || !strings.Contains(err.Error(), row[1]) {
			t.Errorf("%s: got %v, %v; want the error %q", row[0], record, err, row[1])
		}
	}
}

func TestDecodeReadsAnyJSONForm(t *testing.T) {
	t.Parallel()
	in := "{ \"version\" : 2, \"kind\":\"venue\",\n\"id\":31,\"home\":\"en\",\t\"fields\": { \"city\" : \"\\u00e9\\ud83d\\ude00\\/\\\"\\b\\f\\n\\r\\t\\\\\" ,\"geo_lat\":-1.5e+1},\"changed\":\"1970-01-01T00:00:00.001Z\", \"deleted\":false } "
	got, err := DecodeRecord([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	want := &Record{
		ID: 31, Kind: KindVenue, Version: 2, Home: LangEN, Changed: time.UnixMilli(1).UTC(),
		Fields: Fields{"city": "é😀/\"\b\f\n\r\t\\", "geo_lat": -15.0},
	}
	if text := cmp.Diff(want, got, ignoreSum); text != "" {
		t.Errorf("(-want +got):\n%s", text)
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		fields Fields
		want   string
	}{
		{"unknown field", Fields{"citty": "Rome"}, `unknown field "citty"`},
		{"field that is not kept", Fields{"multilang_language": "en"}, `unknown field "multilang_language"`},
		{"another Go type", Fields{"city": Text{}}, "field city"},
		{"removal in a record", Fields{"city": nil}, "field city"},
		{"year 10000", Fields{"date": maxWall + 1}, "field date"},
		{"year 0", Fields{"date": minWall - 1}, "field date"},
		{"not finite", Fields{"geo_lat": math.Inf(1)}, "field geo_lat"},
		{"no number", Fields{"geo_lat": math.NaN()}, "field geo_lat"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			data, err := EncodeRecord(&Record{ID: 1, Kind: KindVenue, Version: 1, Fields: tc.fields})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %s, %v; want %q", data, err, tc.want)
			}
		})
	}
	if _, err := EncodeRecord(&Record{ID: 1, Kind: 0}); err == nil {
		t.Error("a record without a kind was encoded")
	}
	for _, change := range []Change{{Name: "venue.moved", Kind: KindVenue}, {Name: "event.updated", Kind: KindVenue}, {Name: "updated", Kind: KindVenue}} {
		if _, err := EncodeChange(change); err == nil {
			t.Errorf("%s of a venue was encoded", change.Name)
		}
		if _, err := DecodeChange(change.Name, 1, LangEN, json.RawMessage(`{"city":"a"}`)); err == nil {
			t.Errorf("%s was decoded", change.Name)
		}
	}
}

// drawFields draws values for any fields of a kind; with removals also nil.
func drawFields(rt *rapid.T, kind Kind, removals bool) Fields {
	wall := rapid.OneOf(rapid.Just(NoWall), rapid.Map(rapid.Int64Range(int64(minWall), int64(maxWall)), func(n int64) Wall { return Wall(n) }))
	id := rapid.Map(rapid.Int64(), func(n int64) ID { return ID(n) })
	fields := Fields{}
	for _, field := range SpecOf(kind).stored {
		if !rapid.Bool().Draw(rt, "has "+field.Name) {
			continue
		}
		if removals && rapid.IntRange(0, 3).Draw(rt, "remove") == 0 {
			fields[field.Name] = nil
			continue
		}
		switch field.Stored {
		case TypeString:
			fields[field.Name] = rapid.String().Draw(rt, field.Name)
		case TypeText:
			fields[field.Name] = Text{
				rapid.String().Draw(rt, "cn"), rapid.String().Draw(rt, "en"), rapid.String().Draw(rt, "fr"), rapid.String().Draw(rt, "es"),
			}
		case TypeBool:
			fields[field.Name] = rapid.Bool().Draw(rt, field.Name)
		case TypeNumber:
			fields[field.Name] = rapid.Float64().Draw(rt, field.Name)
		case TypeID:
			fields[field.Name] = id.Draw(rt, field.Name)
		case TypeIDs:
			fields[field.Name] = rapid.SliceOf(id).Draw(rt, field.Name)
		case TypeStrings:
			fields[field.Name] = rapid.SliceOf(rapid.String()).Draw(rt, field.Name)
		case TypeWall:
			fields[field.Name] = wall.Draw(rt, field.Name)
		}
	}
	return fields
}

func drawKind(rt *rapid.T) Kind {
	return Kind(rapid.IntRange(int(KindEvent), int(KindUser)).Draw(rt, "kind"))
}

func TestStoredFormRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		kind := drawKind(rt)
		record := &Record{
			ID: ID(rapid.Int64Range(1, 1<<62).Draw(rt, "id")), Kind: kind, Version: rapid.Int64Range(1, 1<<62).Draw(rt, "version"),
			Home: rapid.SampledFrom(Langs[:]).Draw(rt, "home"), Deleted: rapid.Bool().Draw(rt, "deleted"),
			Changed: time.UnixMilli(rapid.Int64Range(-1e13, 1e14).Draw(rt, "changed")).UTC(),
			Fields:  drawFields(rt, kind, false),
		}
		data, err := EncodeRecord(record)
		if err != nil {
			rt.Fatal(err)
		}
		back, err := DecodeRecord(data)
		if err != nil {
			rt.Fatalf("%s: %v", data, err)
		}
		if text := cmp.Diff(record, back, ignoreSum); text != "" || back.Sum != SumOf(data) {
			rt.Fatalf("sum %d of %d, record (-want +got):\n%s", back.Sum, SumOf(data), text)
		}
		change := Change{Name: kind.String() + "." + Updated, Kind: kind, ID: record.ID, Fields: drawFields(rt, kind, true)}
		j, err := EncodeChange(change)
		if err != nil {
			rt.Fatal(err)
		}
		again, err := DecodeChange(change.Name, change.ID, record.Home, j)
		if err != nil {
			rt.Fatalf("%s: %v", j, err)
		}
		if text := cmp.Diff(change, again); text != "" {
			rt.Fatalf("change (-want +got):\n%s", text)
		}
	})
}

// marshal is json.Marshal without HTML escaping.
func marshal(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), err
}

// What encoding/json makes of the same values is the reference for the canonical
// form.
func TestEncodingIsCanonical(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		kind := drawKind(rt)
		fields := drawFields(rt, kind, true)
		for name, value := range fields {
			if n, ok := value.(float64); ok && n == 0 {
				fields[name] = 0.0 // -0 is written as 0
			}
		}
		got, err := EncodeChange(Change{Name: kind.String() + "." + Updated, Kind: kind, Fields: fields})
		if err != nil {
			rt.Fatal(err)
		}
		want, err := marshal(fields)
		if err != nil {
			rt.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			rt.Fatalf("got  %s\nwant %s", got, want)
		}
	})
	if data, err := canonjson.AppendNumber(nil, math.Copysign(0, -1)); err != nil || string(data) != "0" {
		t.Errorf("-0: got %s, %v", data, err)
	}
	for _, text := range []string{"<&>\u2028\u2029\x00\x1f\x7f\xff é😀\"\\\b\f\n\r\t", "\xed\xa0\x80", ""} {
		want, err := marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := canonjson.AppendString(nil, text); !bytes.Equal(got, want) {
			t.Errorf("text %q: got %s, want %s", text, got, want)
		}
	}
}

// storedRecords are records as the store holds them, and texts that are none: those of the
// golden files, one for each stored change, and the rows of refused ones.
func storedRecords(tb testing.TB) []string {
	tb.Helper()
	golden, err := os.ReadFile(filepath.Join("testdata", "record.golden"))
	if err != nil {
		tb.Fatal(err)
	}
	list := []string{
		string(bytes.TrimSpace(golden)),
		`{"changed":"1970-01-01T00:00:00.000Z","deleted":true,"fields":{"city":"\u00e9","geo_lat":-1e-7},"home":"fr","id":31,"kind":"venue","version":2}`,
		`{"changed":"1970-01-01T00:00:00.000Z","fields":{"city":"a"},"home":"en","fields":{"zip":"b"},"id":31,"kind":"venue","version":2,"home":"fr"}`,
	}
	for _, change := range storedChanges(tb) {
		fields := change.Fields.Copy(nil)
		for name, value := range change.Fields {
			if value != nil {
				fields[name] = value
			}
		}
		data, err := EncodeRecord(&Record{ID: change.ID, Kind: change.Kind, Version: 1, Home: change.Home, Fields: fields})
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, string(data))
	}
	rows, err := os.ReadFile(filepath.Join("testdata", "stored.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	_, refused, _ := strings.Cut(string(rows), "== refused")
	for row := range strings.Lines(refused) {
		stored, _, _ := strings.Cut(row, " |")
		if fields, ok := strings.CutPrefix(stored, "fields "); ok {
			stored = `{"changed":"1970-01-01T00:00:00.000Z","fields":{` + fields + `},"home":"en","id":31,"kind":"venue","version":2}`
		}
		list = append(list, stored)
	}
	return list
}

func FuzzDecodeRecord(f *testing.F) {
	for _, text := range storedRecords(f) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		record, err := DecodeRecord(in)
		if err != nil {
			return
		}
		if !json.Valid(in) {
			t.Fatalf("no JSON, but it was decoded: %q", in)
		}
		out, err := EncodeRecord(record)
		if err != nil {
			t.Fatalf("decoded, but not encoded: %v", err)
		}
		again, err := DecodeRecord(out)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if d := cmp.Diff(record, again, ignoreSum); d != "" {
			t.Fatalf("round trip (-want +got):\n%s", d)
		}
	})
}

func FuzzDecodeChange(f *testing.F) {
	for _, change := range storedChanges(f) {
		data, err := EncodeChange(change)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(change.Name, data)
	}
	f.Fuzz(func(t *testing.T, name string, in []byte) {
		change, err := DecodeChange(name, 1, LangEN, in)
		if err != nil {
			return
		}
		if !json.Valid(in) {
			t.Fatalf("no JSON, but it was decoded: %q", in)
		}
		out, err := EncodeChange(change)
		if err != nil {
			t.Fatalf("decoded, but not encoded: %v", err)
		}
		again, err := DecodeChange(name, 1, LangEN, out)
		if err != nil || !cmp.Equal(change, again) {
			t.Fatalf("round trip of %s: %v, %v", in, again, err)
		}
	})
}
