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
func named(id calendar.ID) string {
	return map[calendar.ID]string{87: "Old Mill", 88: "River Hall", 31: strings.Repeat("é", 101)}[id]
}

// bare gives a record with these fields only.
func bare(k calendar.Kind, fields calendar.Fields) *calendar.Record {
	r := &calendar.Record{ID: 1, Kind: k, Home: calendar.LangEN, Fields: calendar.Fields{}}
	maps.Copy(r.Fields, fields)
	return r
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
func languageOf(c *Change) string { return cmp.Or(c.Language, c.home.String()) }

// Each row of HISTORY 6.2 to 6.4, in the four languages.
func TestSentences(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	eachRow(t, func(name string, changes []Change) {
		fmt.Fprintf(&b, "%s\n", name)
		for i := range changes {
			c := &changes[i]
			before, _ := json.Marshal(c.Before)
			after, _ := json.Marshal(c.After)
			fmt.Fprintf(&b, "  %s %s: %.60s -> %.60s\n", c.Field, languageOf(c), before, after)
			for _, l := range tableLangs {
				c.describe(l, named)
				fmt.Fprintf(&b, "    %s\n", c.Sentence)
			}
		}
	})
	golden.Compare(t, "sentences.golden", b.String())
}

// The same rows as pages describe them (PAGES.md P2.6).
func TestSentencesOfPages(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	eachRow(t, func(name string, changes []Change) {
		fmt.Fprintf(&b, "%s\n", name)
		for i := range changes {
			changes[i].names = named
		}
		e := &Entry{Action: Updated, Changes: changes}
		for _, l := range tableLangs {
			fmt.Fprintf(&b, "    %s\n", e.SummaryHTML(l))
		}
	})
	for _, e := range []*Entry{
		{Action: Created, Name: "Quay & Co"}, {Action: Published, Name: "Who?"}, {Action: Created}, {Action: Updated}, {Action: Restored}, {Action: Updated, Redacted: &Erasure{}},
	} {
		for _, l := range tableLangs {
			fmt.Fprintf(&b, "%s\n", e.SummaryHTML(l))
		}
	}
	golden.Compare(t, "pages.golden", b.String())
}

// Each row of HISTORY 6.1.
func TestSummaries(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, l := range [...]calendar.Lang{calendar.LangEN, calendar.LangFR, calendar.LangES, calendar.LangCN} {
		for _, a := range Actions {
			fmt.Fprintln(&b, Summary(a, "Quay & Co", []Change{{Sentence: "one"}, {Sentence: "two"}}, l))
		}
		fmt.Fprintln(&b, Summary(Updated, "Quay", nil, l))
		fmt.Fprintln(&b, Summary(Created, "", nil, l))
		fmt.Fprintln(&b, BlankSummary(l))
	}
	golden.Compare(t, "summaries.golden", b.String())
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
		if got := (phrasing{lang: calendar.LangEN}).quote(text); got != want {
			t.Errorf("%q is quoted as %q, want %q", text, got, want)
		}
	}
	if got, want := (phrasing{lang: calendar.LangFR}).quote("שירה"), "«\u00a0\u2068שירה\u2069\u00a0»"; got != want {
		t.Errorf("in French %q, want %q", got, want)
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
	golden.Compare(t, "labels.golden", b.String())
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
	golden.Compare(t, "months.golden", b.String())
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
	for _, c := range Changes(before, after, true) {
		got = append(got, c.Field+" "+languageOf(&c))
	}
	want := []string{"author en", "title en", "title cn", "title fr", "start_date en", "featured en", "password en"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A new record shows every field that has a value; false is one, but not of password.
	for want, r := range map[string]*calendar.Record{
		"[name slug]": bare(calendar.KindTag, calendar.Fields{"name": calendar.Text{calendar.LangEN: "A"}, "slug": "a"}), "[show_map show_map_link]": bare(calendar.KindVenue, calendar.Fields{"show_map": false}),
	} {
		got = nil
		for _, c := range Changes(nil, r, false) {
			got = append(got, c.Field)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("a new record: got %v, want %s", got, want)
		}
	}
}
