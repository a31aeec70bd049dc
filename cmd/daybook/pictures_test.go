package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daybook/internal/testkit/engines"
)

var pictures = flag.String("pictures", "", "folder that TestPictures writes to")

// TestPictures takes a picture of every view for people to look at: `make pictures`. Names of
// subtests choose some: TestPictures/en/month/360/dark.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no -pictures")
	}
	t.Setenv("DAYBOOK_PICTURES", *pictures)
	for _, set := range []struct {
		name, lang string
		start      func(*testing.T) *looked
	}{{"en", "", look}, {"cn", "/cn", look}, {"long", "/fr", longTexts}, {"none", "", noEvents}} {
		t.Run(set.name, func(t *testing.T) {
			l := set.start(t)
			p := openPage(t, "about:blank")
			for _, page := range l.pages() {
				if !strings.HasPrefix(page.path, "/") { // of a record that is not there
					continue
				}
				t.Run(page.name, func(t *testing.T) {
					for _, width := range []int{360, 800, 1280, 1920} {
						t.Run(fmt.Sprint(width), func(t *testing.T) {
							p.Resize(width, 900)
							p.Goto(l.host + set.lang + page.path)
							drawn(p)
							for _, theme := range []string{"light", "dark"} {
								t.Run(theme, func(t *testing.T) {
									p.Prefer(inTheme(theme))
									keepPicture(t, p, fmt.Sprintf("%s-%s-%d-%s", page.name, set.name, width, theme))
								})
							}
						})
					}
				})
			}
		})
	}
}

// longTexts starts a calendar in which every text is about as long as texts get: 50 events
// with titles of 100 characters, and a name of 60.
func longTexts(t *testing.T) *looked {
	t.Helper()
	engines.URL(t, engines.Chromium)
	const word = "Veranstaltungskalenderverwaltungsgemeinschaft"
	of := func(n int, begin string) string {
		return (begin + strings.Repeat(" Sommernachtskonzert und "+word, 4))[:n]
	}
	today := time.Now().UTC()
	var lines recordLines
	for i := range 4 {
		lines.add("category", fmt.Sprint("c", i), fmt.Sprintf(`"name":%q`, of(40, fmt.Sprint("Kategorie ", i))))
		lines.add("venue", fmt.Sprint("v", i), fmt.Sprintf(`"venue":%q,"address":%q,"city":%q,"country":%q,"website":"https://%s.example/%s","geo_lat":%d,"geo_lng":%d,"phone":"+49 000 000000000"`,
			of(60, fmt.Sprint("Haus ", i)), of(60, "Straße "), of(30, "Sankt"), of(40, "Land"), word, word, 45+i, 4+i))
	}
	lines.add("organizer", "o", fmt.Sprintf(`"organizer":%q,"email":"%s@%s.example","website":"https://%s.example"`, of(80, "Verein"), word, word, word))
	for i := range 50 {
		start := today.AddDate(0, 0, i/6).Truncate(24 * time.Hour).Add(time.Duration(9+i%6*2) * time.Hour)
		length := 3 * time.Hour
		if i%10 == 9 {
			length = 60 * time.Hour
		}
		lines.add("event", fmt.Sprint("e", i), fmt.Sprintf(`"title":%q,"start_date":%q,"end_date":%q,"venue":{"key":"v%d"},"organizer":{"key":"o"},"categories":[{"key":"c%d"},{"key":"c%d"}],"tags":[%q],"cost":%q,"website":"https://%s.example","excerpt":%q,"description":%q,"featured":%t,"show_map":true,"show_map_link":true`,
			of(100, fmt.Sprint("Nr. ", i)), start.Format(clockLayout), start.Add(length).Format(clockLayout), i%4, i%4, (i+1)%4, of(30, "Schlagwort"), "1234,50 – 2345,50 je Person und Abend", word, of(120, "Auszug"), "<p>"+of(120, "Text")+"</p><p>"+of(120, "Mehr")+"</p>", i%9 == 3))
	}
	looked := lines.serve(t, "--brand-name", of(60, "Kalender"))
	looked.prepare(t, 1)
	return looked
}

const clockLayout = "2006-01-02 15:04"

// recordLines are lines to import: the records of a calendar.
type recordLines struct{ strings.Builder }

func (recordLines *recordLines) add(kind, key, fields string) {
	fmt.Fprintf(recordLines, `{"action":"create","kind":%q,"key":%q,"at":"2024-03-01T09:00:00Z","fields":{%s}}`+"\n", kind, key, fields)
}

// serve starts the calendar with settings.
func (recordLines *recordLines) serve(t *testing.T, args ...string) *looked {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	importText(t, strings.NewReader(recordLines.String()), "--data", dir)
	return &looked{server: startServer(t, append([]string{"serve", "--data", dir}, args...)...)}
}

// noEvents starts a calendar without any.
func noEvents(t *testing.T) *looked {
	t.Helper()
	return &looked{server: startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data")), day: time.Now().UTC().Format(time.DateOnly)}
}
