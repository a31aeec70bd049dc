package query_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/testkit/engines"
	"daybook/query"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
	"daybook/query/readmodel/memindex"
)

// number gives that of a setting, or another one where it is not given.
func number(t *testing.T, setting string, other int) int {
	t.Helper()
	asked, given := os.LookupEnv(setting)
	if !given {
		return other
	}
	n, err := strconv.Atoi(asked)
	if err != nil {
		t.Fatalf("%s: %v", setting, err)
	}
	return n
}

// onEach runs a test on each index; local is the one in this process.
func onEach(t *testing.T, run func(t *testing.T, x readmodel.Index, local bool)) {
	t.Helper()
	t.Run("memory image", func(t *testing.T) {
		t.Parallel()
		x := memindex.New(memindex.Options{})
		run(t, x, true)
	})
	for flavour, server := range map[elastic.Flavour]func(testing.TB) (url, prefix string){
		elastic.Elasticsearch: engines.Elasticsearch, elastic.OpenSearch: engines.OpenSearch,
	} {
		t.Run(string(flavour), func(t *testing.T) {
			t.Parallel()
			url, prefix := server(t)
			x, err := elastic.Open(url, elastic.Options{Prefix: prefix, Flavour: flavour})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = x.Close() })
			err = x.Reach(t.Context())
			if err == nil {
				_, err = x.Next(t.Context())
			}
			if err == nil {
				err = x.Promote(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			run(t, x, false)
		})
	}
}

// TestRequests: random lists of random events, with every parameter of LISTINGS 2 and 3,
// are those of readmodel.Match: ids in order, totals, facets, steps of typos, groups of
// repeats, distances and cursors, and the whole selections of formats (LISTINGS 7, 8.44).
// DAYBOOK_REQUESTS is how many: 2,000 take minutes on search servers.
func TestRequests(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, x readmodel.Index, local bool) {
		t.Helper()
		g := asking{Rand: rand.New(rand.NewPCG(12, 2))}
		for _, line := range query.Lines(t, "requests.txt") {
			g.values = append(g.values, strings.Split(line, " | "))
		}
		records := g.records(t)
		meaning, over := query.Meaning(t, records)
		query.Fill(t, x, 0, records...)
		c := comparison{meaning: meaning, index: over(x), found: map[string]int{}}
		few := 50
		if local {
			few = 60
		}
		n := number(t, "DAYBOOK_REQUESTS", few)
		for range n {
			c.one(t, &g)
		}
		of := []string{"typos 0", "typos 1", "typos 2", "next", "sort=start", "sort=end", "sort=relevance", "sort=distance", "sort=published", "sort=modified"}
		for _, p := range query.Params(calendar.KindEvent) {
			if !slices.Contains(formOnly, p.Name) {
				of = append(of, p.Name)
			}
		}
		for _, name := range query.Facets {
			of = append(of, "facet "+name)
		}
		for _, name := range of {
			if c.found[name] < n/200 {
				t.Errorf("only %d lists with %s found something", c.found[name], name)
			}
		}
		t.Logf("%d lists, %d found something, %d were refused: %v", n, c.lists, c.refused, c.found)
	})
}

// TestLongWalk is LISTINGS 8.39: 25,000 events, while others are written; on search servers
// DAYBOOK_WALK are, as 25,000 take minutes there.
func TestLongWalk(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, x readmodel.Index, local bool) {
		t.Helper()
		n, size := 25_000, 100
		if !local {
			n = number(t, "DAYBOOK_WALK", 500)
		}
		records := make([]*calendar.Record, n)
		want := make([]calendar.ID, n)
		for i := range records {
			at := day(160).Add(minutes(i % 5000)).Format(time.DateTime)
			records[i] = query.Event(t, calendar.ID(1000+i), "Event", at, at, nil)
			want[i] = records[i].ID
		}
		slices.SortStableFunc(want, func(a, b calendar.ID) int { return int(a-1000)%5000 - int(b-1000)%5000 })
		_, over := query.Meaning(t, nil)
		s := over(x)
		var position calendar.Position
		for some := range slices.Chunk(records, 5000) {
			query.Fill(t, x, position, some...)
			position += calendar.Position(len(some))
		}
		var got []calendar.ID
		steps := 0
		var took []time.Duration
		for cursor := "*"; cursor != ""; steps++ {
			began := time.Now()
			l, _, err := query.Ask(t, s, fmt.Sprintf("per_page=%d&cursor=%s", size, cursor), calendar.LangEN, calendar.Caller{})
			if err != nil {
				t.Fatalf("step %d: %v", steps, err)
			}
			took = append(took, time.Since(began))
			for i := range l.Views {
				if id := l.Views[i].Record.ID; id < 100_000 {
					got = append(got, id)
				}
			}
			cursor = l.Next
			if steps > 0 && steps%(n/size/4) > 0 {
				continue
			}
			// One is written before the walk, one behind it.
			for i, at := range []time.Time{day(155), day(200)} {
				on := at.Format(time.DateTime)
				query.Fill(t, x, position, query.Event(t, calendar.ID(100_000+2*steps+i), "New", on, on, nil))
				position++
			}
		}
		if !slices.Equal(got, want) || steps <= n/size {
			t.Errorf("%d events in %d steps, want %d", len(got), steps, n)
		}
		t.Logf("%d events in %d steps: the first took %v, the last %v", n, steps, took[0], took[len(took)-1])
	})
}

// TestLargeBox: a box may hold more venues than a search server takes values in one part of
// a query; on search servers DAYBOOK_VENUES are, as 70,000 take minutes there.
func TestLargeBox(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, x readmodel.Index, local bool) {
		t.Helper()
		n := 70_000
		if !local || testing.Short() {
			n = number(t, "DAYBOOK_VENUES", 700)
		}
		records := make([]*calendar.Record, n)
		for i := range records {
			records[i] = query.Venue(t, calendar.ID(1000+i), float64(i%80), float64(i%170))
		}
		of := func(id calendar.ID, venue int) *calendar.Record {
			return query.Event(t, id, "Event", "2030-05-10", "2030-05-10", calendar.Fields{"venue": []calendar.ID{calendar.ID(1000 + venue)}})
		}
		records = append(records, of(1, 0), of(2, n/2), of(3, n-1), query.Event(t, 4, "Nowhere", "2030-05-10", "2030-05-10", nil))
		_, over := query.Meaning(t, nil)
		s := over(x)
		var position calendar.Position
		for some := range slices.Chunk(records, 5000) {
			query.Fill(t, x, position, some...)
			position += calendar.Position(len(some))
		}
		for sent, want := range map[string]int{"bbox=-10,-10,175,85": 3, "bbox=170,-10,175,85": 0, "geoloc=false": 1} {
			if l, _, err := query.Ask(t, s, sent, calendar.LangEN, calendar.Caller{}); err != nil || l.Total != want {
				t.Errorf("%s: %+v, %v, want %d events", sent, l, err, want)
			}
		}
	})
}

// formOnly are the parameters that have no part in what is found.
var formOnly = []string{"multilang_language", "as_of", "_fields", "format", "features", "csv_bom", "csv_raw", "highlight", "highlight_length"}

// comparison asks two services the same.
type comparison struct {
	meaning, index *query.Service
	lists, refused int
	found          map[string]int // lists that found something, by parameter
}

// one compares the answers to one request, step by step where it is a walk.
func (c *comparison) one(t *testing.T, g *asking) {
	t.Helper()
	sent := g.request()
	l := calendar.Langs[g.IntN(len(calendar.Langs))]
	caller := []calendar.Caller{{}, {}, {ID: 8, Role: calendar.Author}, {ID: 9, Role: calendar.Editor}}[g.IntN(4)]
	for step := 0; ; step++ {
		want, _, wantErr := query.Ask(t, c.meaning, sent, l, caller)
		got, criteria, err := query.Ask(t, c.index, sent, l, caller)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%s in %s by %v: %v, want %v", sent, l, caller, err, wantErr)
		}
		if err != nil {
			c.refused++
			return
		}
		if diff := cmp.Diff(told(want), told(got)); diff != "" {
			t.Fatalf("%s in %s by %v (-want +got):\n%s", sent, l, caller, diff)
		}
		if got.Total > 0 && step == 0 {
			c.lists++
			c.count(sent, got)
		}
		if step == 0 && g.now(5) {
			wantWhole(t, c, sent, l, caller, criteria)
		}
		if got.Next == "" || step == 4 {
			return
		}
		before, _, _ := strings.Cut(sent, "cursor=")
		sent = before + "cursor=" + got.Next
	}
}

// count notes what a list that found something was asked for.
func (c *comparison) count(sent string, l *query.List) {
	searched := strings.Contains(sent, "search=")
	for p := range strings.SplitSeq(sent, "&") {
		name, value, _ := strings.Cut(p, "=")
		switch {
		case name == "typos" && !searched, value == "relevance" && !searched:
			continue
		case name == "sort":
			c.found[p]++
		case name == "facets":
			for facet := range strings.SplitSeq(value, ",") {
				c.found["facet "+facet]++
			}
		}
		c.found[name]++
	}
	if l.Joined {
		c.found["typos "+strconv.Itoa(l.Typos)]++
	}
	if l.Next != "" {
		c.found["next"]++
	}
}

// telling is what a list tells.
type telling struct {
	IDs               []calendar.ID
	Total, Pages      int
	Spelling          readmodel.Spelling
	Next              string
	Facets            []query.Facet
	Groups            []readmodel.Repeats
	Distances, Venues []int64
}

func told(l *query.List) telling {
	out := telling{Total: l.Total, Pages: l.TotalPages, Spelling: l.Spelling, Next: l.Next, Facets: l.Facets}
	for i := range l.Views {
		out.add(&l.Views[i])
	}
	return out
}

func (o *telling) add(v *query.View) {
	o.IDs = append(o.IDs, v.Record.ID)
	if v.Repeats != nil {
		o.Groups = append(o.Groups, *v.Repeats)
	}
	if v.Distance != nil {
		o.Distances = append(o.Distances, *v.Distance)
	}
	for _, venue := range v.Venues {
		o.Venues = append(o.Venues, int64(venue.Record.ID))
	}
}

// wantWhole compares the selections that formats give over all pages.
func wantWhole(t *testing.T, c *comparison, sent string, l calendar.Lang, caller calendar.Caller, criteria *query.Criteria) {
	t.Helper()
	var all [2]telling
	for i, s := range []*query.Service{c.meaning, c.index} {
		w, err := s.Whole(t.Context(), criteria)
		if err != nil {
			t.Fatalf("whole %s in %s by %v: %v", sent, l, caller, err)
		}
		all[i].Total, all[i].Spelling = w.Total(), w.Spelling()
		err = w.Each(t.Context(), func(v *query.View) error {
			all[i].add(v)
			return nil
		})
		if w.Close(); err != nil {
			t.Fatalf("whole %s in %s by %v: %v", sent, l, caller, err)
		}
	}
	if diff := cmp.Diff(all[0], all[1]); diff != "" {
		t.Fatalf("whole %s in %s by %v (-want +got):\n%s", sent, l, caller, diff)
	}
}

func day(n int) time.Time { return time.Date(2029, 12, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n) }

func minutes(n int) time.Duration { return time.Duration(n) * time.Minute }

// asking makes random records, and requests that find some of them.
type asking struct {
	*rand.Rand
	values [][]string // of parameters, behind their names
}

func (g *asking) now(one int) bool { return g.IntN(one) == 0 }

func (g *asking) oneOf(of ...string) string { return of[g.IntN(len(of))] }

var (
	titleWords = strings.Fields("jazz jazzy night nights symphony symphonies concert concerts orchestra music musique fête été 音乐会 北京 the of club rock 2026 K-POP hip-hop hiphop ジョン・レノン")
	cities     = []string{"München", "Munchen", "MÜNCHEN", "Paris", "Washington, D.C.", "New  York", "Suva", ""}
	countries  = []string{"Germany", "germany", "France", "USA", "", ""}
	priced     = []string{"", "", "0", "Free", "gratis", "10", "10.50", "0–30", "25 €", "99.99", "120", "ask"}
	points     = [][2]float64{{48.1, 11.5}, {48.13, 11.58}, {48.85, 2.35}, {38.9, -77}, {-18.1, 178.4}, {-13.8, -171.8}}
)

func (g *asking) words(most int) string {
	out := make([]string, 1+g.IntN(most))
	for i := range out {
		out[i] = titleWords[g.IntN(len(titleWords))]
	}
	return strings.Join(out, " ")
}

func (g *asking) text(most int) (text calendar.Text) {
	text[calendar.LangEN] = g.words(most)
	for _, l := range calendar.Langs {
		if g.now(4) {
			text[l] = g.words(most)
		}
	}
	return text
}

// linkedTo are ids that a field may have.
type linkedTo struct {
	field    string
	first, n calendar.ID
}

// some gives some ids from a first one on.
func (g *asking) some(first, n calendar.ID) (out []calendar.ID) {
	for range []int{0, 1, 1, 1, 2, 3}[g.IntN(6)] {
		if id := first + calendar.ID(g.IntN(int(n))); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

func (g *asking) records(t *testing.T) (out []*calendar.Record) {
	t.Helper()
	status := func() string {
		return g.oneOf("publish", "publish", "publish", "publish", "publish", "private", "draft", "trash")
	}
	post := func(k calendar.Kind, id calendar.ID, f calendar.Fields) {
		f["status"], f["author"] = status(), calendar.ID(7+g.IntN(3))
		if f["status"] == "trash" {
			f["former_status"] = "publish"
		}
		out = append(out, query.Record(t, k, id, "", f))
	}
	for i := range calendar.ID(10) {
		f := calendar.Fields{"name": g.text(2)}
		if i > 2 {
			f["parent"] = 30 + calendar.ID(g.IntN(int(i)))
		}
		out = append(out, query.Record(t, calendar.KindCategory, 30+i, "", f), query.Record(t, calendar.KindTag, 40+i, "", calendar.Fields{"name": g.text(2)}))
		post(calendar.KindOrganizer, 70+i, calendar.Fields{"organizer": g.text(2)})
	}
	for i := range calendar.ID(20) {
		f := calendar.Fields{"venue": g.text(2), "city": cities[g.IntN(len(cities))], "country": countries[g.IntN(len(countries))]}
		if !g.now(5) {
			p := points[g.IntN(len(points))]
			f["geo_lat"], f["geo_lng"] = p[0]+float64(g.IntN(3))/100, p[1]
		}
		post(calendar.KindVenue, 50+i, f)
	}
	for i := range calendar.ID(400) {
		id := 100 + i
		f := calendar.Fields{"title": g.text(3), "status": status(), "author": calendar.ID(7 + g.IntN(3)), "timezone": g.oneOf("UTC", "Europe/Paris", "America/New_York")}
		if f["status"] == "trash" {
			f["former_status"] = "publish"
		}
		if g.now(3) {
			f["description"] = g.text(8)
		}
		if g.now(5) {
			f["excerpt"] = g.text(4)
		}
		if c := priced[g.IntN(len(priced))]; c != "" {
			f["cost"] = []string{c}
		}
		for _, of := range []linkedTo{{"categories", 30, 10}, {"tags", 40, 10}, {"venue", 50, 20}, {"organizer", 70, 10}} {
			if ids := g.some(of.first, of.n); ids != nil {
				f[of.field] = ids
			}
		}
		for _, name := range []string{"featured", "ticketed", "all_day", "protected", "hide_from_listings"} {
			f[name] = g.now(map[string]int{"featured": 3, "ticketed": 3, "all_day": 5, "protected": 8, "hide_from_listings": 15}[name])
		}
		if g.now(5) {
			f["event_status"] = g.oneOf("cancelled", "postponed")
		}
		if g.now(8) {
			f["post_parent"] = calendar.ID(100 + g.IntN(20))
		}
		if g.now(4) { // a repeat
			f["title"], f["venue"] = query.English(g.oneOf("Jazz night", "jazz  NIGHT", "Jazz night!", "Concert")), []calendar.ID{50 + calendar.ID(g.IntN(2))}
		}
		date := calendar.WallOf(day(g.IntN(300)))
		f["date"], f["date_utc"], f["modified_utc"] = date, date, date+calendar.Wall(g.IntN(100_000))
		switch {
		case g.now(8):
			f["date_utc"] = calendar.NoWall
		case g.now(4):
			f["modified_utc"] = calendar.NoWall
		}
		start := day(100 + g.IntN(500)).Add(minutes(g.IntN(96) * 15))
		end := start.Add(minutes([]int{0, 60, 90, 180, 1440, 4000}[g.IntN(6)]))
		if f["all_day"] == true {
			start = start.Truncate(minutes(1440))
			end = start.Add(minutes(1440*(1+g.IntN(3)) - 1))
		}
		out = append(out, query.Event(t, id, "", start.Format("2006-01-02 15:04:05"), end.Format("2006-01-02 15:04:05"), f))
	}
	return out
}

// request makes a request; some are refused.
func (g *asking) request() string {
	var sent []string
	set := func(one int, name string, value func() string) {
		if g.now(one) {
			sent = append(sent, name+"="+value())
		}
	}
	fixed := func(of ...string) func() string { return func() string { return g.oneOf(of...) } }
	id := func(first, n, most int) func() string {
		return func() string {
			ids := make([]string, 1+g.IntN(most))
			for i := range ids {
				ids[i] = strconv.Itoa(first + g.IntN(n))
			}
			return strings.Join(ids, ",")
		}
	}
	set(20, "when", fixed(query.Days...))
	date := func() string { return day(80 + g.IntN(500)).Format(g.oneOf("2006-01-02", "2006-01-02 15:04:05")) }
	switch {
	case sent != nil && !g.now(10):
	case !g.now(3):
		sent = append(sent, "start_date=1970-01-01", "end_date=2050-01-01")
	default:
		set(2, "start_date", date)
		set(2, "end_date", date)
	}
	for _, name := range []string{"starts_before", "starts_after", "ends_before", "ends_after"} {
		set(40, name, date)
	}
	set(15, "strict_dates", fixed("true", "false"))
	set(3, "per_page", fixed("1", "3", "7", "20", "50", "100"))
	set(30, "categories", id(30, 10, 3))
	set(30, "tags", id(40, 10, 3))
	set(30, "venue", id(50, 20, 6))
	set(30, "organizer", id(70, 10, 4))
	set(30, "include", id(100, 400, 60))
	set(30, "post_parent", id(100, 20, 1))
	for _, row := range g.values {
		set(30, row[0], fixed(row[1:]...))
	}
	searched := 4
	near := func() {
		p := points[g.IntN(len(points))]
		sent = append(sent, fmt.Sprintf("geoloc_lat=%v", p[0]), fmt.Sprintf("geoloc_lng=%v", p[1]), "geoloc_radius="+g.oneOf("3", "800", "9000", "20000"))
	}
	switch sort := g.oneOf("", "", "start", "end", "relevance", "relevance", "distance", "published", "modified"); {
	case sort == "distance":
		near()
		fallthrough
	case sort != "":
		sent = append(sent, "sort="+sort)
		if sort == "relevance" && !g.now(8) {
			searched = 1
		}
		set(3, "order", fixed("asc", "desc"))
	case g.now(12):
		near()
	case g.now(12):
		sent = append(sent, "geoloc="+g.oneOf("true", "false"))
	}
	if g.now(searched) {
		sent = append(sent, "search="+g.search(), "typos="+g.oneOf("auto", "auto", "on", "off"))
	}
	if g.now(3) {
		facets := slices.Clone(query.Facets)
		g.Shuffle(len(facets), func(i, j int) { facets[i], facets[j] = facets[j], facets[i] })
		facets = facets[:1+g.IntN(len(facets))]
		sent = append(sent, "facets="+strings.Join(facets, ","))
		set(2, "facet_limit", fixed("1", "2", "5", "100"))
		if g.now(3) && slices.Contains(query.Facets[:6], facets[0]) {
			sent = append(sent, "facet_query="+facets[0]+":"+g.oneOf("j", "MÜ", "music", "e"))
		}
	}
	switch g.IntN(6) {
	case 0:
		sent = append(sent, "collapse=repeats")
		set(2, "page", fixed("1", "2", "3"))
	case 1, 2:
		sent = append(sent, "cursor=*")
	case 3:
		sent = append(sent, "page="+g.oneOf("1", "1", "2", "3"))
	}
	return strings.Join(sent, "&")
}

func (g *asking) search() string {
	parts := make([]string, 1+g.IntN(3))
	for i := range parts {
		w := titleWords[g.IntN(len(titleWords))]
		r := []rune(w)
		at := g.IntN(len(r))
		switch g.IntN(9) {
		case 0:
			r[at] = 'q'
		case 1:
			r = slices.Insert(r, at, 'x')
		case 2:
			r = slices.Delete(r, at, at+1)
		case 3:
			other := g.IntN(len(r))
			r[at], r[other] = r[other], r[at]
		case 4:
			r = r[:at+1]
		case 5:
			r = slices.Insert(r, at, []rune(g.oneOf(" ", "-", "・"))...)
		case 6:
			r = append(r, []rune(titleWords[g.IntN(len(titleWords))])...)
		}
		parts[i] = string(r)
		switch g.IntN(8) {
		case 0:
			parts[i] = `"` + g.words(2) + `"`
		case 1:
			parts[i] = "-" + parts[i]
		}
	}
	return strings.Join(parts, " ")
}
