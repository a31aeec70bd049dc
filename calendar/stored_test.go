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
)

// goldenText returns what a golden file holds.
func goldenText(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.TrimSpace(data)
}

// storedChanges has the fields of one change of each form that the store may hold, by the name
// of the change and a word that tells it from others.
func storedChanges(tb testing.TB) map[string][]byte {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "changes", "*.golden"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("%d stored changes, %v", len(files), err)
	}
	changes := map[string][]byte{}
	for _, file := range files {
		changes[strings.TrimSuffix(filepath.Base(file), ".golden")] = goldenText(tb, file)
	}
	return changes
}

// changeName is that of a stored change.
func changeName(file string) string {
	parts := strings.SplitN(file, ".", 3)
	return parts[0] + "." + parts[1]
}

// The golden files are what the event store holds: the names and forms in them
// are read for ever. A difference here means that stored changes and records can no longer
// be read, or are written in another form.
func TestStoredFormIsFrozen(t *testing.T) {
	t.Parallel()
	for file, stored := range storedChanges(t) {
		change, err := DecodeChange(changeName(file), 412, LangEN, stored)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if again, err := EncodeChange(change); err != nil || !bytes.Equal(again, stored) {
			t.Errorf("%s: %v\ngot  %s\nwant %s", file, err, again, stored)
		}
	}
	for _, stored := range []string{
		string(goldenText(t, filepath.Join("testdata", "record.golden"))),
		`{"changed":"1970-01-01T00:00:00.000Z","deleted":true,"fields":{"slug":"s"},"home":"fr","id":31,"kind":"tag","version":2}`,
	} {
		record, err := DecodeRecord(stored)
		if err != nil {
			t.Fatalf("%s: %v", stored, err)
		}
		if again, err := EncodeRecord(record); err != nil || string(again) != stored {
			t.Errorf("%v\ngot  %s\nwant %s", err, again, stored)
		}
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

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for _, fields := range []Fields{
		{"citty": "Rome"}, {"multilang_language": "en"}, {"city": Text{}}, {"city": nil}, // nil: a removal
		{"date": maxWall + 1}, {"date": minWall - 1}, {"geo_lat": math.Inf(1)}, {"geo_lat": math.NaN()},
	} {
		if data, err := EncodeRecord(&Record{ID: 1, Kind: KindVenue, Version: 1, Fields: fields}); err == nil {
			t.Errorf("%v: got %s", fields, data)
		}
	}
	if _, err := EncodeRecord(&Record{ID: 1, Kind: 0}); err == nil {
		t.Error("a record without a kind was encoded")
	}
	for _, change := range []Change{
		{Name: "venue.updated", Kind: KindVenue, Fields: Fields{"citty": "Rome"}}, {Name: "venue.moved", Kind: KindVenue}, {Name: "event.updated", Kind: KindVenue}, {Name: "updated", Kind: KindVenue},
	} {
		if _, err := EncodeChange(change); err == nil {
			t.Errorf("%s of a venue was encoded", change.Name)
		}
		if _, err := DecodeChange(change.Name, 1, LangEN, json.RawMessage(`{"citty":"a"}`)); err == nil {
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
}

// storedRecords are records as the store holds them, and texts that are none: those of the
// golden files, one for each stored change, and the rows of refused ones.
func storedRecords(tb testing.TB) []string {
	tb.Helper()
	whole := func(kind, fields string) string {
		return `{"changed":"1970-01-01T00:00:00.000Z","fields":` + fields + `,"home":"en","id":31,"kind":"` + kind + `","version":2}`
	}
	list := []string{
		string(goldenText(tb, filepath.Join("testdata", "record.golden"))),
		`{"changed":"1970-01-01T00:00:00.000Z","deleted":true,"fields":{"city":"\u00e9","geo_lat":-1e-7},"home":"fr","id":31,"kind":"venue","version":2}`,
		`{"changed":"1970-01-01T00:00:00.000Z","fields":{"city":"a"},"home":"en","fields":{"zip":"b"},"id":31,"kind":"venue","version":2,"home":"fr"}`,
	}
	for file, fields := range storedChanges(tb) {
		kind, _, _ := strings.Cut(file, ".")
		list = append(list, whole(kind, string(fields)))
	}
	_, refused, _ := strings.Cut(string(goldenText(tb, filepath.Join("testdata", "stored.txt"))), "== refused")
	for row := range strings.Lines(refused) {
		stored, _, _ := strings.Cut(row, " |")
		if fields, ok := strings.CutPrefix(stored, "fields "); ok {
			stored = whole("venue", "{"+fields+"}")
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
	for file, fields := range storedChanges(f) {
		f.Add(changeName(file), fields)
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
