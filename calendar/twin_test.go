package calendar

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

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
	for _, c := range storedChanges(tb) {
		fields := c.Fields.Copy(nil)
		for name, v := range c.Fields {
			if v != nil {
				fields[name] = v
			}
		}
		b, err := EncodeRecord(&Record{ID: c.ID, Kind: c.Kind, Version: 1, Home: c.Home, Fields: fields})
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, string(b))
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

// compareRecord holds what is read of a text, and written again, against the old code.
func compareRecord(t interface {
	Helper()
	Errorf(format string, args ...any)
}, text string,
) {
	t.Helper()
	old, fault := oldDecodeText(text)
	got, err := DecodeText(text)
	if (fault == nil) != (err == nil) {
		if fault == nil || !strings.HasSuffix(fault.Error(), "nested too deeply") {
			t.Errorf("%q: got %v, before %v", text, err, fault)
		}
		return
	}
	some := []string{"title", "slug", "venue", "city", "start_date", "cost", "imports"}
	oldSome, faultSome := oldDecodeSome(text, some)
	gotSome, errSome := DecodeSome(text, some)
	if (faultSome == nil) != (errSome == nil) && (faultSome == nil || !strings.HasSuffix(faultSome.Error(), "nested too deeply")) || !cmp.Equal(oldSome, gotSome) {
		t.Errorf("some of %q: got %v, %v; before %v, %v", text, gotSome, errSome, oldSome, faultSome)
	}
	if err != nil {
		return
	}
	if d := cmp.Diff(old, got); d != "" || got.Sum != SumOf(text) {
		t.Errorf("%q: (-before +now):\n%s", text, d)
	}
	compareState(t, got)
	change := Change{Name: got.Kind.String() + "." + Created, Kind: got.Kind, ID: got.ID, Home: got.Home, Fields: got.Fields}
	fields, state, err := EncodeBoth(change, got)
	oldFields, oldState, fault := oldEncodeBoth(change, got)
	if (fault == nil) != (err == nil) || !bytes.Equal(fields, oldFields) || !bytes.Equal(state, oldState) {
		t.Errorf("both: got %s %s, %v; before %s %s, %v", fields, state, err, oldFields, oldState, fault)
	}
}

// compareState holds what is written of a record against the old code.
func compareState(t interface {
	Helper()
	Errorf(format string, args ...any)
}, r *Record,
) {
	t.Helper()
	want, fault := oldEncodeRecord(r)
	b, err := EncodeRecord(r)
	if (fault == nil) != (err == nil) || !bytes.Equal(b, want) || SumOf(b) != SumOf(want) {
		t.Errorf("encode: got %s, %v; before %s, %v", b, err, want, fault)
	}
}

func FuzzRecord(f *testing.F) {
	for _, text := range storedRecords(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { compareRecord(t, text) })
}

// FuzzChange holds stored changes against the old code.
func FuzzChange(f *testing.F) {
	for _, c := range storedChanges(f) {
		b, err := EncodeChange(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(c.Name, b)
	}
	f.Fuzz(func(t *testing.T, name string, in []byte) {
		old, fault := oldDecodeChange(name, 1, LangEN, in)
		got, err := DecodeChange(name, 1, LangEN, in)
		if (fault == nil) != (err == nil) || !cmp.Equal(old, got) {
			t.Fatalf("%q %q: got %v, %v; before %v, %v", name, in, got, err, old, fault)
		}
		if err != nil {
			return
		}
		want, fault := oldEncodeChange(got)
		b, err := EncodeChange(got)
		if (fault == nil) != (err == nil) || !bytes.Equal(b, want) {
			t.Errorf("encode: got %s, %v; before %s, %v", b, err, want, fault)
		}
	})
}

// TestTwinOfAnyFields: records and changes of any values have the bytes that the old code
// wrote, and are read as it read them.
func TestTwinOfAnyFields(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		k := drawKind(rt)
		r := &Record{ID: 7, Kind: k, Version: 3, Home: rapid.SampledFrom(Langs[:]).Draw(rt, "home"), Fields: drawFields(rt, k, false)}
		compareState(rt, r)
		if b, err := EncodeRecord(r); err == nil {
			compareRecord(rt, string(b))
		}
		c := Change{Name: k.String() + "." + Updated, Kind: k, Fields: drawFields(rt, k, true)}
		want, fault := oldEncodeChange(c)
		b, err := EncodeChange(c)
		if (fault == nil) != (err == nil) || !bytes.Equal(b, want) {
			rt.Errorf("change: got %s, %v; before %s, %v", b, err, want, fault)
		}
	})
}

func BenchmarkTwin(b *testing.B) {
	r := typicalEvent(b)
	state, err := EncodeRecord(r)
	if err != nil {
		b.Fatal(err)
	}
	text := string(state)
	for name, run := range map[string]func() error{
		"decode/old": func() error { _, err := oldDecodeText(text); return err },
		"decode/new": func() error { _, err := DecodeText(text); return err },
		"some/old":   func() error { _, err := oldDecodeSome(text, []string{"title", "slug"}); return err },
		"some/new":   func() error { _, err := DecodeSome(text, []string{"title", "slug"}); return err },
		"encode/old": func() error { _, err := oldEncodeRecord(r); return err },
		"encode/new": func() error { _, err := EncodeRecord(r); return err },
		"standard":   func() error { var v any; return json.Unmarshal(state, &v) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
