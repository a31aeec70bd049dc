package conferences

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMendDate(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2019-03-05": "2019-03-05", "2019-03–05": "2019-03-05", "2021-10-5": "2021-10-05", " 2022-6-2 ": "2022-06-02",
		// Not to be read in one way only, or no day at all: left for the refusal.
		"2018-11": "2018-11", "y-04-Tu": "y-04-Tu", "2018-20-30": "2018-20-30", "": "",
	} {
		if got := mendDate(in); got != want {
			t.Errorf("mendDate(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMendURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://a.example/b?c=d": "https://a.example/b?c=d", "www.a.example": "http://www.a.example",
		"http://a.example/Austin, TX": "http://a.example/Austin,%20TX", "http://https:.//a.example": "https://a.example",
		"https//a.example": "https://a.example", "": "", " http://a.example ": "http://a.example",
	} {
		if got := mendURL(in); got != want {
			t.Errorf("mendURL(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		entry Entry
		key   string
		tags  string
	}{
		{"a city", Entry{City: "Cape Town ", Country: "South Africa"}, "venue:cape town|south africa", ""},
		{"another case", Entry{City: "CAPE TOWN", Country: "south africa", Locales: "en, fr,EN"}, "venue:cape town|south africa", "EN FR"},
		{"none", Entry{}, "", ""},
		{"online only", Entry{Online: true, Locales: "DE"}, "", "DE Online"},
		{"online too", Entry{Online: true, City: "Berlin", Country: "Germany"}, "venue:berlin|germany", "Online"},
		{"online as a city", Entry{City: "online ", Country: "U.S.A."}, "", "Online"},
		{"online as a country", Entry{City: "Twitch", Country: "Online"}, "", "Online"},
		{"a country alone", Entry{Country: "Germany"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			key := ""
			if p := c.entry.Place(); p != (Place{}) {
				key = p.Key()
			}
			if key != c.key {
				t.Errorf("place %q, want %q", key, c.key)
			}
			if got := strings.Join(c.entry.Tags(), " "); got != c.tags {
				t.Errorf("tags %q, want %q", got, c.tags)
			}
		})
	}
}

func TestConvert(t *testing.T) {
	t.Parallel()
	history := `{"seq":1,"at":1531784972,"author":7,"action":"created","id":3,"topic":"ruby","record":{"name":"c't <webdev>","url":"www.a.example","startDate":"2014-1-3","city":"Berlin","country":"Germany","locales":"DE,EN","cfpUrl":"https://a.example/?a=1&b=2","cfpEndDate":"2013-12-01"}}
{"seq":2,"at":1531784973,"author":8,"action":"updated","id":3,"topic":"ruby","record":{"name":"c't","url":"https://a.example","startDate":"2014-01-03","endDate":"2014-01-04","online":true,"locales":"EN","offersSignLanguageOrCC":true}}
{"seq":3,"at":1531784974,"author":7,"action":"removed","id":3,"topic":"ruby"}
`
	want := `{"action":"create","kind":"venue","key":"venue:berlin|germany","at":"2018-07-16T23:49:32Z","author":"author-7","fields":{"city":"Berlin","country":"Germany","venue":"Berlin, Germany"}}
{"action":"create","kind":"category","key":"category:ruby","at":"2018-07-16T23:49:32Z","author":"author-7","fields":{"name":"ruby"}}
{"action":"create","kind":"tag","key":"tag:DE","at":"2018-07-16T23:49:32Z","author":"author-7","fields":{"name":"DE"}}
{"action":"create","kind":"tag","key":"tag:EN","at":"2018-07-16T23:49:32Z","author":"author-7","fields":{"name":"EN"}}
{"action":"create","kind":"event","key":"event:3","at":"2018-07-16T23:49:32Z","author":"author-7","fields":{"all_day":true,"categories":[{"key":"category:ruby"}],"description":"<ul><li><a href=\"https://a.example/?a=1&amp;b=2\">Call for papers</a> until 2013-12-01</li></ul>","end_date":"2014-01-03","start_date":"2014-01-03","tags":[{"key":"tag:DE"},{"key":"tag:EN"}],"timezone":"UTC","title":"c&#39;t &lt;webdev&gt;","venue":{"key":"venue:berlin|germany"},"website":"http://www.a.example"}}
{"action":"create","kind":"tag","key":"tag:Online","at":"2018-07-16T23:49:33Z","author":"author-8","fields":{"name":"Online"}}
{"action":"put","kind":"event","key":"event:3","at":"2018-07-16T23:49:33Z","author":"author-8","fields":{"all_day":true,"categories":[{"key":"category:ruby"}],"description":"<ul><li>Sign language or closed captions</li></ul>","end_date":"2014-01-04","start_date":"2014-01-03","tags":[{"key":"tag:EN"},{"key":"tag:Online"}],"timezone":"UTC","title":"c&#39;t","venue":[],"website":"https://a.example"}}
{"action":"delete","kind":"event","key":"event:3","at":"2018-07-16T23:49:34Z","author":"author-7"}
`
	var out strings.Builder
	if err := Convert(&out, strings.NewReader(history)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(out.String(), "\n")); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
	if err := Convert(&out, strings.NewReader(`{"seq":1`)); err == nil {
		t.Error("a broken history was converted")
	}
}
