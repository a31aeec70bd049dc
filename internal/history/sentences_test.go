package history

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/unicode/bidi"

	"daybook/calendar"
	"daybook/internal/texts"
)

var update = flag.Bool("update", false, "renew golden files")

// golden compares a text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s", path, got)
	}
}

func wallOf(t *testing.T, s string) calendar.Wall {
	t.Helper()
	w, err := calendar.ParseWall(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// named names the records 87 and 88.
func named(id calendar.ID) string {
	return map[calendar.ID]string{87: "Old Mill", 88: "River Hall", 31: strings.Repeat("é", 101)}[id]
}

// eachRow gives changes for every row of HISTORY 6.2 and 6.3.
func eachRow(t *testing.T) []struct {
	name          string
	kind          calendar.Kind
	before, after calendar.Fields
	password      bool
} {
	t.Helper()
	long := strings.Repeat("x", 100)
	en := func(s string) calendar.Text { return calendar.Text{calendar.LangEN: s} }
	return []struct {
		name          string
		kind          calendar.Kind
		before, after calendar.Fields
		password      bool
	}{
		{"text that came", calendar.KindVenue, nil, calendar.Fields{"city": "Boston"}, false},
		{"text that turned", calendar.KindVenue, calendar.Fields{"city": "Boston"}, calendar.Fields{"city": "Lowell"}, false},
		{"text that went", calendar.KindVenue, calendar.Fields{"city": "Boston"}, nil, false},
		{"name of a venue", calendar.KindVenue, calendar.Fields{"venue": en("A")}, calendar.Fields{"venue": en("B & B")}, false},
		{"name of an organizer", calendar.KindOrganizer, calendar.Fields{"organizer": en("A")}, calendar.Fields{"organizer": en("B")}, false},
		{"name of a tag", calendar.KindTag, calendar.Fields{"name": en("A")}, calendar.Fields{"name": en("B")}, false},
		{"title in another language", calendar.KindEvent, nil, calendar.Fields{"title": calendar.Text{calendar.LangFR: "Été"}}, false},
		{"title in all languages", calendar.KindEvent, nil, calendar.Fields{"title": calendar.Text{"cn", "en", "fr", "es"}}, false},
		{"description that came", calendar.KindEvent, nil, calendar.Fields{"description": en("a")}, false},
		{"excerpt that turned", calendar.KindEvent, calendar.Fields{"excerpt": en("a")}, calendar.Fields{"excerpt": en("b")}, false},
		{"description that went", calendar.KindTag, calendar.Fields{"description": en("a")}, nil, false},
		{"password that came", calendar.KindEvent, nil, calendar.Fields{"protected": true}, true},
		{"password that turned", calendar.KindEvent, calendar.Fields{"protected": true}, calendar.Fields{"protected": true}, true},
		{"password that went", calendar.KindEvent, calendar.Fields{"protected": true}, nil, true},
		{"venues of an event", calendar.KindEvent, calendar.Fields{"venue": []calendar.ID{87}}, calendar.Fields{"venue": []calendar.ID{88, 89}}, false},
		{"organizers that came", calendar.KindEvent, nil, calendar.Fields{"organizer": []calendar.ID{88}}, false},
		{"categories that went", calendar.KindEvent, calendar.Fields{"categories": []calendar.ID{88, 31}}, nil, false},
		{"tags in another order", calendar.KindEvent, calendar.Fields{"tags": []calendar.ID{88, 87}}, calendar.Fields{"tags": []calendar.ID{87, 88}}, false},
		{"parent event", calendar.KindEvent, calendar.Fields{"post_parent": calendar.ID(88)}, calendar.Fields{"post_parent": calendar.ID(90)}, false},
		{"parent category", calendar.KindCategory, nil, calendar.Fields{"parent": calendar.ID(88)}, false},
		{"one cost", calendar.KindEvent, nil, calendar.Fields{"cost": []string{"$5"}}, false},
		{"several costs", calendar.KindEvent, calendar.Fields{"cost": []string{"$5"}}, calendar.Fields{"cost": []string{"$5", "$12"}}, false},
		{"start", calendar.KindEvent, calendar.Fields{"start_date": wallOf(t, "2026-07-04 18:30:00")}, calendar.Fields{"start_date": wallOf(t, "2026-07-05 19:00:00")}, false},
		{"end with seconds", calendar.KindEvent, nil, calendar.Fields{"end_date": wallOf(t, "2026-08-31 23:59:59")}, false},
		{"boolean", calendar.KindEvent, calendar.Fields{"all_day": false}, calendar.Fields{"all_day": true}, false},
		{"status", calendar.KindEvent, calendar.Fields{"status": "draft"}, calendar.Fields{"status": "publish"}, false},
		{"status of a plan", calendar.KindEvent, calendar.Fields{"status": "future"}, calendar.Fields{"status": "trash"}, false},
		{"status in private", calendar.KindEvent, calendar.Fields{"status": "pending"}, calendar.Fields{"status": "private"}, false},
		{"image", calendar.KindEvent, nil, calendar.Fields{"image": calendar.ID(384)}, false},
		{"author", calendar.KindEvent, calendar.Fields{"author": calendar.ID(7)}, calendar.Fields{"author": calendar.ID(8)}, false},
		{"number", calendar.KindVenue, calendar.Fields{"geo_lat": 42.3554}, calendar.Fields{"geo_lat": -7.0}, false},
		{"zone", calendar.KindEvent, nil, calendar.Fields{"timezone": "Europe/Rome"}, false},
		{"hundred characters", calendar.KindVenue, nil, calendar.Fields{"address": long}, false},
		{"a hundred and one", calendar.KindVenue, nil, calendar.Fields{"address": long + "y"}, false},
		{"status as an address", calendar.KindVenue, nil, calendar.Fields{"address": "draft"}, false},
		{"field of a user", calendar.KindUser, calendar.Fields{"role": "author"}, calendar.Fields{"role": "editor"}, false},
		{"fields of an image", calendar.KindImage, nil, calendar.Fields{"url": "https://img.example/a.jpg", "extension": "jpg"}, false},
	}
}

// bare gives a record with these fields only.
func bare(k calendar.Kind, fields calendar.Fields) *calendar.Record {
	r := &calendar.Record{ID: 1, Kind: k, Home: calendar.LangEN, Fields: calendar.Fields{}}
	maps.Copy(r.Fields, fields)
	return r
}

// Each row of HISTORY 6.2 to 6.4, in the four languages.
func TestSentences(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, row := range eachRow(t) {
		fmt.Fprintf(&b, "%s\n", row.name)
		changes := Changes(bare(row.kind, row.before), bare(row.kind, row.after), row.password)
		for i := range changes {
			c := &changes[i]
			before, _ := json.Marshal(c.Before)
			after, _ := json.Marshal(c.After)
			fmt.Fprintf(&b, "  %s %s: %.60s -> %.60s\n", c.Field.Name, c.Lang, before, after)
			for _, l := range [...]calendar.Lang{calendar.LangEN, calendar.LangFR, calendar.LangES, calendar.LangCN} {
				fmt.Fprintf(&b, "    %s\n", c.Sentence(row.kind, l, named))
			}
		}
	}
	golden(t, "sentences.golden", b.String())
}

// Each row of HISTORY 6.1.
func TestSummaries(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, l := range [...]calendar.Lang{calendar.LangEN, calendar.LangFR, calendar.LangES, calendar.LangCN} {
		for _, a := range Actions {
			fmt.Fprintln(&b, Summary(a, "Quay & Co", []string{"one", "two"}, l))
		}
		fmt.Fprintln(&b, Summary(Updated, "Quay", nil, l))
		fmt.Fprintln(&b, Summary(Created, "", nil, l))
		fmt.Fprintln(&b, BlankSummary(l))
	}
	golden(t, "summaries.golden", b.String())
}

// TestQuotesOfOtherDirections: what turns the sentence around it is quoted between U+2068 and
// U+2069, its ellipsis too; what is left out of a quote does not count (HISTORY 6.3).
func TestQuotesOfOtherDirections(t *testing.T) {
	t.Parallel()
	latin, hebrew := strings.Repeat("x", 100), strings.Repeat("א", 100)
	for text, want := range map[string]string{
		"Quay": "“Quay”", "שירה": "“\u2068שירה\u2069”", "Jazz جاز": "“\u2068Jazz جاز\u2069”", "a\u200eb": "“\u2068a\u200eb\u2069”", "a\u200fb": "“\u2068a\u200fb\u2069”",
		"a\u061cb": "“\u2068a\u061cb\u2069”", "٢٠٢٦": "“٢٠٢٦”", "日本 👍": "“日本 👍”", hebrew: "“\u2068" + hebrew + "\u2069”", hebrew + "א": "“\u2068" + hebrew + "…\u2069”", latin + "א": "“" + latin + "…”",
	} {
		if got := quote(text, calendar.LangEN); got != want {
			t.Errorf("%q is quoted as %q, want %q", text, got, want)
		}
	}
	if got, want := quote("שירה", calendar.LangFR), "«\u00a0\u2068שירה\u2069\u00a0»"; got != want {
		t.Errorf("in French %q, want %q", got, want)
	}
	for r := range rune(unicode.MaxRune) {
		p, _ := bidi.LookupRune(r)
		turns := unicode.IsLetter(r) && (p.Class() == bidi.R || p.Class() == bidi.AL) || r == '\u200e' || r == '\u200f' || r == '\u061c'
		if got := calendar.Isolated(string(r)) != string(r); got != turns {
			t.Errorf("%U is isolated: %t, want %t", r, got, turns)
		}
	}
}

// Each row of HISTORY 6.4, of every field that is shown.
func TestLabels(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for k := calendar.KindEvent; k <= calendar.KindTag; k++ {
		for _, f := range shown[k] {
			if _, ok := texts.Sentences["field."+f.Name]; !ok {
				t.Errorf("%s of %s has no label", f.Name, k)
			}
			fmt.Fprintf(&b, "%s %s:", k, f.Name)
			for _, l := range [...]calendar.Lang{calendar.LangEN, calendar.LangFR, calendar.LangES, calendar.LangCN} {
				fmt.Fprintf(&b, " %s |", labelOf(k, f, l))
			}
			b.WriteByte('\n')
		}
	}
	golden(t, "labels.golden", b.String())
}

func TestMonths(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for m := time.January; m <= time.December; m++ {
		w := calendar.Wall(time.Date(2026, m, 1, 9, 5, 0, 0, time.UTC).Unix())
		for _, l := range calendar.Langs {
			fmt.Fprintf(&b, "%s | ", wall(w, l))
		}
		b.WriteByte('\n')
	}
	golden(t, "months.golden", b.String())
}

// HISTORY 20.3: the summary of a move in four languages.
func TestSummaryOfAMove(t *testing.T) {
	t.Parallel()
	before := bare(calendar.KindEvent, calendar.Fields{"start_date": wallOf(t, "2026-07-04 18:30:00"), "venue": []calendar.ID{87}})
	after := bare(calendar.KindEvent, calendar.Fields{"start_date": wallOf(t, "2026-07-05 19:00:00"), "venue": []calendar.ID{88}})
	for l, want := range map[calendar.Lang]string{
		calendar.LangEN: "Changed: start: from 4 July 2026 18:30 to 5 July 2026 19:00; venues: added “River Hall”, removed “Old Mill”",
		calendar.LangFR: "Modification : début : de 4 juillet 2026 18:30 à 5 juillet 2026 19:00; lieux : ajout de «\u00a0River Hall\u00a0», retrait de «\u00a0Old Mill\u00a0»",
		calendar.LangES: "Modificación: inicio: de 4 de julio de 2026 18:30 a 5 de julio de 2026 19:00; lugares: adición de «River Hall», retirada de «Old Mill»",
		calendar.LangCN: "修改：开始时间：由 2026年7月4日 18:30 改为 2026年7月5日 19:00；场地：添加 “River Hall”，移除 “Old Mill”",
	} {
		var sentences []string
		changes := Changes(before, after, false)
		for i := range changes {
			sentences = append(sentences, changes[i].Sentence(calendar.KindEvent, l, named))
		}
		if got := Summary(Updated, "", sentences, l); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", l, got, want)
		}
	}
}

// HISTORY 20.2: table order, and what the service keeps beside is not shown.
func TestChangesInTableOrder(t *testing.T) {
	t.Parallel()
	before := bare(calendar.KindEvent, calendar.Fields{
		"title": calendar.Text{calendar.LangEN: "A"}, "modified": calendar.Wall(1), "utc_start_date": calendar.Wall(1),
	})
	after := bare(calendar.KindEvent, calendar.Fields{
		"title": calendar.Text{calendar.LangEN: "B", calendar.LangFR: "C", calendar.LangCN: "D"}, "start_date": calendar.Wall(2),
		"modified": calendar.Wall(2), "modified_utc": calendar.Wall(2), "utc_start_date": calendar.Wall(2), "image_url": "x",
		"former_slug": "s", "former_status": "draft", "imports": []string{"k"}, "date_utc": calendar.Wall(3), "author": calendar.ID(7),
		"featured": true, "protected": true,
	})
	var got []string
	for _, c := range Changes(before, after, true) {
		got = append(got, c.Field.Name+" "+c.Lang.String())
	}
	want := []string{"author en", "title en", "title cn", "title fr", "start_date en", "featured en", "password en"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A new record shows every field that has a value; false is one, but not of password.
	got = nil
	for _, c := range Changes(nil, bare(calendar.KindTag, calendar.Fields{"name": calendar.Text{calendar.LangEN: "A"}, "slug": "a"}), false) {
		got = append(got, c.Field.Name)
	}
	if want := []string{"name", "slug"}; !slices.Equal(got, want) {
		t.Errorf("new tag: got %v, want %v", got, want)
	}
	got = nil
	for _, c := range Changes(nil, bare(calendar.KindVenue, calendar.Fields{"show_map": false}), false) {
		got = append(got, fmt.Sprint(c.Field.Name, c.After))
	}
	if want := []string{"show_mapfalse", "show_map_linktrue"}; !slices.Equal(got, want) {
		t.Errorf("new venue: got %v, want %v", got, want)
	}
}
