package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	golang "github.com/arran4/golang-ical"
	emersion "github.com/emersion/go-ical"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/mmcdole/gofeed"

	"daybook/calendar"
	"daybook/internal/testkit/golden"
)

var store = uuid.MustParse("6f0c3f0a-6f0c-4f0a-8f0c-3f0a6f0c3f0a")

func zoneOf(tb testing.TB, name string) calendar.Zone {
	tb.Helper()
	zone, ok := calendar.ParseZone(name)
	if !ok {
		tb.Fatalf("no zone %s", name)
	}
	return zone
}

func wallOf(tb testing.TB, text string) calendar.Wall {
	tb.Helper()
	wall, err := calendar.ParseWall(text)
	if err != nil {
		tb.Fatal(err)
	}
	return wall
}

// timesOf gives times by their wall clocks.
func timesOf(tb testing.TB, zone, start, end string) Times {
	tb.Helper()
	z := zoneOf(tb, zone)
	out := Times{Zone: z, Start: wallOf(tb, start), End: wallOf(tb, end)}
	out.UTCStart = calendar.Wall(calendar.WallToInstant(out.Start, z.Location).Unix())
	out.UTCEnd = calendar.Wall(calendar.WallToInstant(out.End, z.Location).Unix())
	return out
}

// linkedTo is a record that an event links to.
func linkedTo(id calendar.ID, name, address string, fields calendar.Fields) Linked {
	return Linked{Record: &calendar.Record{ID: id, Fields: fields}, Name: name, URL: address}
}

// concert is an event that has everything.
func concert(tb testing.TB) *Event {
	tb.Helper()
	return &Event{
		Times: timesOf(tb, "America/New_York", "2026-07-04 18:30:00", "2026-07-04 21:00:00"),
		ID:    412, UID: UID(store, "412"), Status: calendar.StatusPublish, EventStatus: calendar.EventScheduled, Version: 3,
		Touched: time.Date(2026, 3, 5, 23, 0, 10, 0, time.UTC), Date: wallOf(tb, "2026-03-02 14:15:00"), Modified: wallOf(tb, "2026-03-05 23:00:10"),
		Title:       `Quay & <picnic>; bring, "all" \ 音乐会音乐会音乐会音乐会音乐会音乐会音乐会音乐会音乐会`,
		Description: "<p>Bring a chair;<br />and, maybe,  a &amp; hat.</p>\n<p>Second</p>",
		Excerpt:     "<p>Short</p>",
		URL:         "https://calendar.example.org/event/quay-concert/", RestURL: "https://calendar.example.org/api/calendar/events/v1/events/412",
		Website: "https://quay.example/?a=1&b=2", Cost: "$5 – $12", CostValues: []string{"5", "12"}, Featured: true,
		Categories: []Linked{
			linkedTo(30, "Music, old", "", calendar.Fields{"slug": "music"}), linkedTo(31, "Jazz & blues", "", calendar.Fields{"slug": "jazz"}),
		},
		Tags: []Linked{linkedTo(40, "Open air", "", calendar.Fields{"slug": "open-air"})},
		Venues: []Linked{
			linkedTo(88, "River Hall", "https://calendar.example.org/venue/river-hall/", calendar.Fields{"address": "1 Quay", "city": "Boston", "zip": "02110", "country": "US"}),
			linkedTo(87, "Lawn", "", calendar.Fields{"geo_lat": 42.3601234567, "geo_lng": -71.0589}),
		},
		Organizers: []Linked{
			linkedTo(91, "Friends", "https://calendar.example.org/organizer/friends/", calendar.Fields{"phone": "1 23", "website": "https://friends.example/"}),
			linkedTo(90, `Arts "Trust", Boston; MA`, "", calendar.Fields{"email": "trust@example.org"}),
		},
		Image: "https://img.example/quay.JPG?x=1", Parent: UID(store, "7"),
		Lang: calendar.LangEN, Langs: []calendar.Lang{calendar.LangEN, calendar.LangFR},
	}
}

func feedOf(tb testing.TB, events ...*Event) *Feed {
	tb.Helper()
	feed := &Feed{
		Title: "Events & more", Calendar: "Events", Root: "https://calendar.example.org/api/calendar/events/v1", Home: "https://calendar.example.org/",
		Self: "https://calendar.example.org/api/calendar/events/v1/events.ics?search=a%26b", ID: "urn:uuid:" + UID(store, "/events"),
		Lang: calendar.LangEN, Modified: time.Date(2026, 3, 6, 1, 2, 3, 0, time.UTC), Refresh: time.Hour, Site: time.UTC,
		Total: len(events),
	}
	for _, event := range events {
		feed.Zones.Add(&event.Times)
	}
	return feed
}

// write writes a feed, in pieces as it is sent.
func write(writer Writer, events ...*Event) string {
	var out bytes.Buffer
	out.Write(writer.Begin(nil))
	for _, event := range events {
		out.Write(writer.Item(make([]byte, 0, 8), event))
	}
	out.Write(writer.End(nil))
	return out.String()
}

// lines returns the unfolded lines, and checks their form.
func lines(tb testing.TB, ics string) []string {
	tb.Helper()
	if !strings.HasSuffix(ics, "\r\n") || strings.Count(ics, "\n") != strings.Count(ics, "\r\n") || strings.Count(ics, "\r") != strings.Count(ics, "\n") {
		tb.Fatal("a line does not end in CRLF")
	}
	for line := range strings.SplitSeq(ics, "\r\n") {
		if len(line) > 75 || !utf8.ValidString(line) {
			tb.Fatalf("line of %d octets: %q", len(line), line)
		}
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(ics, "\r\n ", ""), "\r\n"), "\r\n")
}

// readICS reads a calendar by two independent readers.
func readICS(tb testing.TB, ics string) (*golang.Calendar, *emersion.Calendar) {
	tb.Helper()
	one, err := golang.ParseCalendar(strings.NewReader(ics))
	if err != nil {
		tb.Fatalf("golang-ical: %v\n%s", err, ics)
	}
	two, err := emersion.NewDecoder(strings.NewReader(ics)).Decode()
	if err != nil {
		tb.Fatalf("go-ical: %v\n%s", err, ics)
	}
	return one, two
}

// LISTINGS 8.10, 8.11
func TestICSOfAnEvent(t *testing.T) {
	t.Parallel()
	event := concert(t)
	event.Title += "\n" + strings.Repeat("音", 60)
	ics := write(ICS(feedOf(t, event)), event)
	got := lines(t, ics)
	from, to := 0, 0
	for i, line := range got {
		switch line {
		case "BEGIN:VEVENT":
			from = i
		case "END:VEVENT":
			to = i
		}
	}
	golden.Compare(t, "concert.ics", strings.Join(slices.Concat(got[:13], got[from:to+1]), "\n"))
	one, two := readICS(t, ics)
	if got := one.Events()[0].GetProperty(golang.ComponentPropertySummary).Value; got != event.Title {
		t.Errorf("golang-ical reads the title %q, want %q", got, event.Title)
	}
	summary, err := two.Events()[0].Props.Text(emersion.PropSummary)
	if err != nil || summary != event.Title {
		t.Errorf("go-ical reads the title %q, %v, want %q", summary, err, event.Title)
	}
	if names, err := two.Events()[0].Props.Get(emersion.PropCategories).TextList(); err != nil || len(names) != 3 || names[0] != "Music, old" {
		t.Errorf("categories %q, %v", names, err)
	}
}

// A place that has a point is one for Apple, too, and its texts are quoted.
func TestICSOfAPlace(t *testing.T) {
	t.Parallel()
	event := concert(t)
	event.Venues = []Linked{linkedTo(1, `The "Old" Hall`, "", calendar.Fields{"city": "Rome", "country": "Rome", "geo_lat": -0.0000001, "geo_lng": 12.5})}
	event.Organizers, event.Image = []Linked{linkedTo(0, "A", "", nil)}, "https://img.example/a.tiff"
	all := strings.Join(lines(t, write(ICS(feedOf(t, event)), event)), "\n")
	for _, want := range []string{
		`X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-ADDRESS="The 'Old' Hall, Rome";X-TITLE="The 'Old' Hall":geo:0,12.5`,
		"GEO:0;12.5", "CONTACT:A", "ATTACH:https://img.example/a.tiff", `LOCATION:The "Old" Hall\, Rome`,
	} {
		if !strings.Contains(all, "\n"+want+"\n") {
			t.Errorf("no line %s in\n%s", want, all)
		}
	}
}

// LISTINGS 8.12, 8.13
func TestICSTimes(t *testing.T) {
	t.Parallel()
	second := timesOf(t, "America/New_York", "2026-11-01 01:30:00", "2026-11-01 03:00:00")
	second.UTCStart += 3600
	first := timesOf(t, "America/New_York", "2026-11-01 01:30:00", "2026-11-01 03:00:00")
	ends := timesOf(t, "America/New_York", "2026-10-31 22:00:00", "2026-11-01 01:00:00")
	around := timesOf(t, "America/New_York", "2026-11-01 00:59:59", "2026-11-01 02:00:00")
	allDay := timesOf(t, "Europe/Paris", "2026-12-31 00:00:00", "2026-12-31 23:59:59")
	allDay.AllDay = true
	for _, tc := range []struct {
		name  string
		times Times
		want  []string
	}{
		{"named", timesOf(t, "Asia/Tokyo", "2026-05-10 09:00:00", "2026-05-10 10:00:00"), []string{"DTSTART;TZID=Asia/Tokyo:20260510T090000", "DTEND;TZID=Asia/Tokyo:20260510T100000"}},
		{"equal", timesOf(t, "Asia/Tokyo", "2026-05-10 09:00:00", "2026-05-10 09:00:00"), []string{"DTSTART;TZID=Asia/Tokyo:20260510T090000"}},
		{"UTC", timesOf(t, "UTC", "2026-05-10 09:00:00", "2026-05-10 10:00:00"), []string{"DTSTART:20260510T090000Z", "DTEND:20260510T100000Z"}},
		{"offset", timesOf(t, "UTC+5.5", "2026-05-10 09:00:00", "2026-05-10 10:00:00"), []string{"DTSTART:20260510T033000Z", "DTEND:20260510T043000Z"}},
		{"offset alone", timesOf(t, "+05:30", "2026-05-10 09:00:00", "2026-05-10 10:00:00"), []string{"DTSTART:20260510T033000Z", "DTEND:20260510T043000Z"}},
		{"second reading", second, []string{"DTSTART:20261101T063000Z", "DTEND:20261101T080000Z"}},
		{"first reading", first, []string{"DTSTART:20261101T053000Z", "DTEND:20261101T080000Z"}},
		{"end in an overlap", ends, []string{"DTSTART:20261101T020000Z", "DTEND:20261101T050000Z"}},
		{"around an overlap", around, []string{"DTSTART;TZID=America/New_York:20261101T005959", "DTEND;TZID=America/New_York:20261101T020000"}},
		{"local mean time", timesOf(t, "Europe/Amsterdam", "1850-05-10 09:00:00", "1850-05-10 10:00:00"), []string{"DTSTART:18500510T084230Z", "DTEND:18500510T094230Z"}},
		{"all-day", allDay, []string{"DTSTART;VALUE=DATE:20261231", "DTEND;VALUE=DATE:20270101"}},
	} {
		event := concert(t)
		event.Times = tc.times
		ics := write(ICS(feedOf(t, event)), event)
		var got []string
		inEvent := false
		for _, line := range lines(t, ics) {
			inEvent = inEvent || line == "BEGIN:VEVENT"
			if inEvent && (strings.HasPrefix(line, "DTSTART") || strings.HasPrefix(line, "DTEND")) {
				got = append(got, line)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" && tc.name != "local mean time" || len(got) == 0 || tc.name == "local mean time" && !strings.HasSuffix(got[0], "Z") {
			t.Errorf("%s: %s", tc.name, diff)
		}
		if tc.times.AllDay != strings.Contains(ics, "TRANSP:TRANSPARENT") {
			t.Errorf("%s: transparency", tc.name)
		}
		_, two := readICS(t, ics)
		if tc.times.AllDay {
			continue
		}
		start, err := two.Events()[0].DateTimeStart(nil)
		if err != nil || start.Unix() != int64(tc.times.UTCStart) {
			t.Errorf("%s: starts at %v, %v, want %v", tc.name, start.UTC(), err, tc.times.UTCStart)
		}
	}
}

// LISTINGS 8.15
func TestICSTombstones(t *testing.T) {
	t.Parallel()
	feed := feedOf(t)
	feed.Lang = calendar.LangFR
	stone := Tombstone{Times: timesOf(t, "Asia/Tokyo", "2026-05-10 09:00:00", "2026-05-10 10:00:00"), ID: 9, UID: UID(store, "9"), Version: 4, Touched: feed.Modified}
	feed.Zones.Add(&stone.Times)
	feed.Tombstones = []Tombstone{stone}
	got := strings.Join(lines(t, write(ICS(feed))), " ")
	want := " BEGIN:VEVENT UID:" + stone.UID + " DTSTAMP:20260306T010203Z LAST-MODIFIED:20260306T010203Z SEQUENCE:4 DTSTART;TZID=Asia/Tokyo:20260510T090000" +
		" DTEND;TZID=Asia/Tokyo:20260510T100000 SUMMARY:Annulé STATUS:CANCELLED TRANSP:TRANSPARENT X-DAYBOOK-WITHDRAWN:TRUE END:VEVENT END:VCALENDAR"
	if !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// LISTINGS 8.17: readers of feeds get out of RSS and Atom what went in.
func TestFeedsAreRead(t *testing.T) {
	t.Parallel()
	event := concert(t)
	plain := event.Title + "]]>"
	event.Title += "\x01\uFFFE]]>" // what XML cannot hold
	bare := &Event{Times: event.Times, ID: 5, UID: UID(store, "5"), Title: "Bare", Blanked: true, Date: calendar.NoWall, Touched: event.Touched, URL: "https://x.example/", RestURL: "https://x.example/5", Lang: calendar.LangCN}
	for name, w := range map[string]func(*Feed) Writer{"rss": RSS, "atom": Atom} {
		f := feedOf(t, event, bare)
		text := write(w(f), event, bare)
		feed, err := gofeed.NewParser().ParseString(text)
		if err != nil || len(feed.Items) != 2 {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		item := feed.Items[0]
		extension := func(space, key string) string { return item.Extensions[space][key][0].Value }
		got := []string{feed.Title, feed.Link, feed.FeedLink, item.GUID, item.Title, item.Link, fmt.Sprint(item.PublishedParsed.Unix()), extension("ev", "startdate"), extension("georss", "point"), extension("ev", "organizer")}
		want := []string{f.Title, f.Home, f.Self, "urn:uuid:" + event.UID, plain, event.URL, fmt.Sprint(int64(event.Date)), "2026-07-04T18:30:00-04:00", "42.3601234567 -71.0589", "Friends"}
		if name == "rss" { // of Atom the reader has terms, and gives updated for published
			got, want = append(got, item.Categories...), append(want, "Music, old", "Jazz & blues", "Open air")
			if feed.Items[1].PublishedParsed != nil {
				t.Errorf("published %s", feed.Items[1].Published)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// LISTINGS 8.18
func TestGeoJSONOfVenues(t *testing.T) {
	t.Parallel()
	at := func(id calendar.ID, ok bool) Linked {
		fields := calendar.Fields{"geo_lat": 1.0}
		if ok {
			fields["geo_lng"] = float64(id)
		}
		return linkedTo(id, "V", "", fields)
	}
	first := &Event{Times: timesOf(t, "UTC", "2026-05-10 09:00:00", "2026-05-10 10:00:00"), ID: 1, Title: "One", Venues: []Linked{at(9, true), at(7, true), at(3, false)}}
	var events []*Event
	for range venueEvents + 1 {
		events = append(events, first)
	}
	events = append(events, &Event{Times: first.Times, ID: 2, Venues: []Linked{at(8, true), at(9, true)}}, &Event{Times: first.Times, ID: 3, Venues: []Linked{at(3, false)}})
	feed := feedOf(t, events...)
	feed.Venues = true
	var got struct {
		Features []struct {
			ID         int
			Geometry   struct{ Coordinates []float64 }
			Properties struct {
				Count  int
				Events []map[string]any
			}
		}
		Total, Unplaced int
	}
	text := write(GeoJSON(feed), events...)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var shape []string
	for _, v := range got.Features {
		shape = append(shape, fmt.Sprint(v.ID, v.Geometry.Coordinates, v.Properties.Count, len(v.Properties.Events)))
	}
	if diff := cmp.Diff([]string{"7 [7 1] 101 100", "9 [9 1] 102 100", "8 [8 1] 1 1"}, shape); diff != "" {
		t.Error(diff)
	}
	if got.Total != 103 || got.Unplaced != 1 {
		t.Errorf("total %d, unplaced %d", got.Total, got.Unplaced)
	}
	if want := `"events":[{"id":2,"title":"","url":"","start":"2026-05-10T09:00:00+00:00","end":"2026-05-10T10:00:00+00:00","all_day":false}]`; !strings.Contains(text, want) {
		t.Errorf("no %s in %s", want, text)
	}
}

// Formats that people read say in the title that an event does not take place, in the
// language of the feed; those that programs read have a field for it (LISTINGS 1).
func TestEventStatus(t *testing.T) {
	t.Parallel()
	event := concert(t)
	feed := feedOf(t, event)
	event.Title = "Title {2}"
	for _, tc := range []struct {
		lang          calendar.Lang
		eventStatus   calendar.EventStatus
		status        calendar.Status
		prefix, inICS string
	}{
		{calendar.LangEN, calendar.EventScheduled, calendar.StatusPublish, "", "CONFIRMED\r\nCLASS:PUBLIC"},
		{calendar.LangEN, calendar.EventScheduled, calendar.StatusFuture, "", "TENTATIVE\r\nCLASS:PUBLIC"},
		{calendar.LangEN, calendar.EventScheduled, calendar.StatusTrash, "", "CANCELLED\r\nCLASS:PUBLIC"},
		{calendar.LangEN, calendar.EventPostponed, calendar.StatusPrivate, "Postponed: ", "TENTATIVE\r\nCLASS:PRIVATE"},
		{calendar.LangFR, calendar.EventCancelled, calendar.StatusDraft, "Annulé\u00a0: ", "TENTATIVE\r\nCLASS:PUBLIC"},
		{calendar.LangCN, calendar.EventCancelled, calendar.StatusPublish, "已取消：", "CANCELLED\r\nCLASS:PUBLIC"},
	} {
		feed.Lang, event.EventStatus, event.Status = tc.lang, tc.eventStatus, tc.status
		titled, field := tc.prefix+event.Title, `"event_status":"`+string(tc.eventStatus)+`"`
		for text, want := range map[string][2]string{
			write(ICS(feed), event): {"\r\nSUMMARY:" + titled + "\r\n", "\r\nSTATUS:" + tc.inICS + "\r\n"}, write(RSS(feed), event): {"<title>" + titled + "</title>"},
			write(Atom(feed), event): {`<title type="text">` + titled + "</title>"}, write(JSONFeed(feed), event): {`"title":"` + titled + `"`, field}, write(GeoJSON(feed), event): {`"title":"Title {2}"`, field},
			write(CSV(feed), event): {",Title {2},", "," + string(tc.status) + "," + string(tc.eventStatus) + ","}, write(Calendar.Open(feed), event): {`"title":"` + titled + `"`},
		} {
			if !strings.Contains(text, want[0]) || !strings.Contains(text, want[1]) {
				t.Errorf("%s, %s in %s: no %q in %s", tc.eventStatus, tc.status, tc.lang, want, text)
			}
		}
	}
}

// LISTINGS 8.20: cells that a spreadsheet would compute are marked, unless they are to be raw.
func TestCSV(t *testing.T) {
	t.Parallel()
	event := concert(t)
	event.Title, event.Cost, event.Categories = "a;=1+1;b=2", "-5; 2", []Linked{linkedTo(1, "-x", "", nil), linkedTo(2, "+y", "", nil)}
	event.Description, event.Venues[0].Fields["zip"] = "<table><tr><td>@a</td><td>=b</td><td>-c</td></tr></table>", "@1"
	feed := feedOf(t, event)
	written := func(want string, columns ...string) {
		t.Helper()
		feed.Columns = columns
		if got := write(CSV(feed), event); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	written("title,cost,categories,zip,description\r\n\"a;'=1+1;b=2\",\"'-5; 2\",\"'-x; +y\",'@1,\"'@a\t'=b\t'-c\"\r\n", "title", "cost", "categories", "description", "zip")
	feed.Raw = true
	written("title,cost,categories,description\r\n\"a;=1+1;b=2\",\"-5; 2\",\"-x; +y\",\"@a\t=b\t-c\"\r\n", "title", "cost", "categories", "description")
	written("id\r\n412\r\n", "nonsense")
	feed.BOM = true
	written("\uFEFFtitle,cost\r\n\"a;=1+1;b=2\",\"-5; 2\"\r\n", "cost", "title", "nonsense")
}

// LISTINGS 8.8
func TestUID(t *testing.T) {
	t.Parallel()
	one := UID(store, "412")
	if again := UID(store, "412"); one != again || UID(store, "412") == UID(store, "413") || UID(store, "412") == UID(uuid.Max, "412") {
		t.Error("one name in one store has one uid, and no other")
	}
	if u := uuid.MustParse(UID(store, "412")); u.Version() != 5 {
		t.Errorf("version %d", u.Version())
	}
}

// LISTINGS 8.10, 8.11, 8.16 to 8.18, 8.20: an event that has everything, and one that is
// blanked, in every format.
func TestFormatsGolden(t *testing.T) {
	t.Parallel()
	event := concert(t)
	bare := &Event{Times: event.Times, ID: 5, UID: UID(store, "5"), Title: "Bare", Blanked: true, Date: calendar.NoWall, Modified: calendar.NoWall, Status: "publish", EventStatus: "scheduled", URL: "https://x.example/", RestURL: "https://x.example/5", Langs: []calendar.Lang{calendar.LangCN}}
	feed := feedOf(t, event, bare)
	feed.Next = feed.Self + "&page=2"
	for name, w := range map[string]func(*Feed) Writer{"jsonfeed": JSONFeed, "geojson": GeoJSON, "csv": CSV} {
		text := write(w(feed), event, bare)
		if name != "csv" {
			var buffer bytes.Buffer
			if err := json.Indent(&buffer, []byte(text), "", " "); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			text = buffer.String()
		}
		golden.Compare(t, "concert."+name, text)
	}
	feed.Single = true
	if text := write(GeoJSON(feed), event); !strings.HasPrefix(text, `{"type":"Feature",`) {
		t.Errorf("single: %s", text)
	}
}

// TestExtension: interface 3.5.
func TestExtension(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"https://i.example/quay.jpg":      "jpg",
		"https://i.example/a.b/QUAY.JPeG": "jpeg",
		"https://i.example/quay.jpg?x=.z": "jpg",
		"https://i.example/quay":          "",
		"https://i.example/quay.":         "",
		"https://i.example/a.b/":          "",
		"https://i.example":               "",
		"https://i.example/x.j-pg":        "",
		"https://i.example/x.mp3":         "mp3",
		"::":                              "",
	} {
		if got := Extension(link); got != want {
			t.Errorf("%s: got %q, want %q", link, got, want)
		}
	}
}
