package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/testkit/golden"
	"daybook/internal/texts"
)

// named names the records 87 and 88.
var named = map[calendar.ID]string{87: "Old Mill", 88: "River Hall", 31: strings.Repeat("é", 101)}

// bare gives a record with these fields only.
func bare(kind calendar.Kind, fields calendar.Fields) *calendar.Record {
	record := &calendar.Record{ID: 1, Kind: kind, Home: calendar.LangEN, Fields: calendar.Fields{}}
	maps.Copy(record.Fields, fields)
	return record
}

// tableLangs are languages in the order of the tables of HISTORY 6.
var tableLangs = [...]calendar.Lang{calendar.LangEN, calendar.LangFR, calendar.LangES, calendar.LangCN}

// eachRow calls use with the changes of each row of testdata/changes.txt.
func eachRow(t *testing.T, use func(name string, changes []Change)) {
	t.Helper()
	rows, err := os.ReadFile("testdata/changes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(rows)) {
		if line[0] == '#' {
			continue
		}
		row := strings.Split(line, " |")
		var states [2]*calendar.Record
		for i, fields := range row[2:] {
			text := fmt.Sprintf(`{"changed":"2026-03-02T14:15:00.000Z","fields":{%s},"home":"en","id":1,"kind":%q,"version":1}`, strings.TrimSpace(fields), strings.TrimSpace(row[1]))
			if states[i], err = calendar.DecodeRecord([]byte(text)); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
		}
		use(row[0], Changes(states[0], states[1], strings.HasPrefix(row[0], "password")))
	}
}

// languageOf is the language of the text that a change is of, else that of the record.
func languageOf(change *Change) string { return cmp.Or(change.Language, change.after.Home.String()) }

// Each row of HISTORY 6.2 to 6.4, in the four languages.
func TestSentences(t *testing.T) {
	t.Parallel()
	var builder strings.Builder
	eachRow(t, func(name string, changes []Change) {
		fmt.Fprintf(&builder, "%s\n", name)
		for i := range changes {
			change := &changes[i]
			before, _ := json.Marshal(change.Before)
			after, _ := json.Marshal(change.After)
			fmt.Fprintf(&builder, "  %s %s: %.60s -> %.60s\n", change.Field, languageOf(change), before, after)
			for _, lang := range tableLangs {
				change.names = named
				fmt.Fprintf(&builder, "    %s\n", change.sentence(phrasing{language: lang}))
			}
		}
	})
	golden.Compare(t, "sentences.golden", builder.String())
}

// The same rows as pages describe them (PAGES.md P2.6).
func TestSentencesOfPages(t *testing.T) {
	t.Parallel()
	var builder strings.Builder
	eachRow(t, func(name string, changes []Change) {
		fmt.Fprintf(&builder, "%s\n", name)
		for i := range changes {
			changes[i].names = named
		}
		entry := &Entry{Action: calendar.Updated, Changes: changes}
		for _, lang := range tableLangs {
			fmt.Fprintf(&builder, "    %s\n", entry.SummaryHTML(lang))
		}
	})
	for _, entry := range []*Entry{
		{Action: calendar.Created, Name: "Quay & Co"}, {Action: Published, Name: "Who?"}, {Action: calendar.Created}, {Action: calendar.Updated}, {Action: calendar.Restored}, {Action: calendar.Updated, Redacted: &Version{}},
	} {
		for _, lang := range tableLangs {
			fmt.Fprintf(&builder, "%s\n", entry.SummaryHTML(lang))
		}
	}
	golden.Compare(t, "pages.golden", builder.String())
}

// Each row of HISTORY 6.1.
func TestSummaries(t *testing.T) {
	t.Parallel()
	var builder strings.Builder
	for _, lang := range [...]calendar.Lang{calendar.LangEN, calendar.LangFR, calendar.LangES, calendar.LangCN} {
		for _, action := range Actions {
			fmt.Fprintln(&builder, phrasing{language: lang}.summary(&Entry{Action: action, Name: "Quay & Co", Changes: []Change{{Sentence: "one"}, {Sentence: "two"}}}))
		}
		fmt.Fprintln(&builder, phrasing{language: lang}.summary(&Entry{Action: calendar.Updated, Name: "Quay"}))
		fmt.Fprintln(&builder, phrasing{language: lang}.summary(&Entry{Action: calendar.Created}))
		fmt.Fprintln(&builder, word("blank", lang))
	}
	golden.Compare(t, "summaries.golden", builder.String())
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
		if got := (phrasing{language: calendar.LangEN}).quote(text); got != want {
			t.Errorf("%q is quoted as %q, want %q", text, got, want)
		}
	}
	if got, want := (phrasing{language: calendar.LangFR}).quote("שירה"), "«\u00a0\u2068שירה\u2069\u00a0»"; got != want {
		t.Errorf("in French %q, want %q", got, want)
	}
}

// Each row of HISTORY 6.4, of every field that is shown.
func TestLabels(t *testing.T) {
	t.Parallel()
	var builder strings.Builder
	for kind := calendar.KindEvent; kind <= calendar.KindTag; kind++ {
		for _, field := range shown[kind] {
			if _, ok := texts.Sentences["field."+field.Name]; !ok {
				t.Errorf("%s of %s has no label", field.Name, kind)
			}
			fmt.Fprintf(&builder, "%s %s:", kind, field.Name)
			for _, lang := range [...]calendar.Lang{calendar.LangEN, calendar.LangFR, calendar.LangES, calendar.LangCN} {
				fmt.Fprintf(&builder, " %s |", labelOf(kind, field, lang))
			}
			builder.WriteByte('\n')
		}
	}
	golden.Compare(t, "labels.golden", builder.String())
}

func TestMonths(t *testing.T) {
	t.Parallel()
	var builder strings.Builder
	for month := time.January; month <= time.December; month++ {
		w := calendar.Wall(time.Date(2026, month, 1, 9, 5, 0, 0, time.UTC).Unix())
		for _, lang := range calendar.Langs {
			fmt.Fprintf(&builder, "%s | ", wall(w, lang))
		}
		builder.WriteByte('\n')
	}
	golden.Compare(t, "months.golden", builder.String())
}

// HISTORY 20.2: table order, and internal fields are not shown.
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
	for _, change := range Changes(before, after, true) {
		got = append(got, change.Field+" "+languageOf(&change))
	}
	want := []string{"author en", "title en", "title cn", "title fr", "start_date en", "featured en", "password en"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A new record shows every field that has a value; false is one, but not of password.
	for want, record := range map[string]*calendar.Record{
		"[name slug]": bare(calendar.KindTag, calendar.Fields{"name": calendar.Text{calendar.LangEN: "A"}, "slug": "a"}), "[show_map show_map_link]": bare(calendar.KindVenue, calendar.Fields{"show_map": false}),
	} {
		got = nil
		for _, change := range Changes(nil, record, false) {
			got = append(got, change.Field)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("a new record: got %v, want %s", got, want)
		}
	}
}
