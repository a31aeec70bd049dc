package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/internal/htmltext"
	"daybook/internal/testkit/world"
)

// A name as it is typed, and as some systems send it: decomposed, with other blanks.
const (
	composed   = "Café Neu"
	decomposed = "CAFE\u0301\u00a0 NEU"
)

// INTERFACE 2.5, 3.1.5, 3.1.6, 3.4.1, 4.5, 4.11: names that look the same are the same.
func TestNamesInNormalForm(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	editor.Event("Cafe\u0301", obj{"venue": obj{"venue": "Bie\u0301r", "city": "Zu\u0308rich"}}).
		WantField("title", "Café").WantField("venue.venue", "Biér").WantField("venue.city", "Zürich")
	for first, second := range map[string]string{composed: decomposed, "Opera\u0308  Haus": "Operä haus"} {
		input := func(name string) obj {
			return obj{"venue": obj{"venue": name}, "organizer": obj{"organizer": name}, "categories": []string{name}, "tags": []string{name}}
		}
		a, b := editor.Event("First", input(first)), editor.Event("Second", input(second))
		for _, path := range []string{"venue.id", "organizer.0.id", "categories.0.id", "tags.0.id"} {
			b.WantField(path, a.Get(path))
		}
		for _, name := range []string{first, second} {
			for _, kind := range []calendar.Kind{calendar.KindCategory, calendar.KindTag} {
				editor.Post("/"+kind.Collection(), obj{"name": name}).WantCode(http.StatusBadRequest, "term_exists")
				list := nobody.Read("/" + kind.Collection() + "?search=" + url.QueryEscape(name))
				list.WantField("total", 1.0).WantField(kind.Collection()+".0.id", a.Get(kind.Collection()+".0.id"))
				nobody.Read("/events?"+kind.Collection()+"="+url.QueryEscape(name)).WantField("total", 2.0)
			}
			nobody.Read("/venues?search="+url.QueryEscape(name)).WantField("total", 1.0)
			editor.Create(calendar.KindVenue, obj{"venue": name}).WantField("id", a.Get("venue.id"))
			nobody.Read("/tags?search="+url.QueryEscape(name[2:])).WantField("total", 1.0)
		}
	}
}

// asSent is a Cleaner that leaves names as they were sent, as they were stored before
// they were brought into normal form.
type asSent struct{ calendar.Cleaner }

func (asSent) Name(s string) string { return calendar.Trim(s) }

// Names that were stored before as they were sent are found as before, and by their
// normal form.
func TestStoredNamesAreFound(t *testing.T) {
	t.Parallel()
	w, editor, nobody := newWorld(t)
	old, err := command.New(w.Store, &calendar.Rules{Site: time.UTC, Clean: asSent{htmltext.New()}}, world.PlainHasher{}, command.Options{Now: w.Clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	const stored = "Cafe\u0301 Neu"
	ids := map[string]any{}
	for _, k := range []calendar.Kind{calendar.KindVenue, calendar.KindOrganizer, calendar.KindCategory, calendar.KindTag} {
		r, err := old.Create(t.Context(), command.Request{Kind: k, Input: calendar.Input{k.NameField(): stored}, Lang: calendar.LangEN, Caller: calendar.Caller{ID: 4, Role: calendar.Editor}})
		if err != nil {
			t.Fatal(err)
		}
		if name, _ := r.Record.Name(calendar.LangEN); name != stored {
			t.Fatalf("stored %q", name)
		}
		ids[k.String()] = float64(r.Record.ID)
	}
	for i, name := range []string{stored, decomposed, composed} {
		event := editor.Event(name, obj{"venue": obj{"venue": name}, "organizer": obj{"organizer": name}, "categories": []string{name}, "tags": []string{name}})
		event.WantField("venue.id", ids["venue"]).WantField("organizer.0.id", ids["organizer"]).WantField("categories.0.id", ids["category"]).WantField("tags.0.id", ids["tag"])
		editor.Post("/tags", obj{"name": name}).WantCode(http.StatusBadRequest, "term_exists")
		nobody.Read("/tags?search="+url.QueryEscape(name)).WantField("total", 1.0)
		found := nobody.Read("/events?tags="+url.QueryEscape(name)).WantField("total", float64(i+1))
		nobody.Read("/events?tags="+url.QueryEscape(name)+"&as_of=position:"+found.Header.Get("Daybook-Position")).WantField("total", float64(i+1))
	}
	// An entry is what it was when it was written.
	nobody.Read("/tags").WantField("tags.0.name", stored)
}

// LISTINGS 2: cities and countries are compared without regard to the sort of their
// apostrophes and hyphens.
func TestPlacesAreFolded(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	for _, city := range []string{"L'Aquila", "L’Aquila", "Stoke-on-Trent", "Stoke–on\u2010Trent", "A\u0300  Coruña"} {
		editor.Event("In "+city, obj{"venue": obj{"venue": "Hall of " + city, "city": city, "country": "Côte d’" + city[:1]}})
	}
	for query, want := range map[string]float64{
		"city=L'Aquila": 2, "city=l’aquila": 2, "city=LʼAQUILA": 2, "city=L‘aquila": 2, "city=Laquila": 0,
		"city=stoke-on-trent": 2, "city=Stoke\u2011on–Trent": 2, "city=Stoke on Trent": 0, "city=À coruna": 1,
		"country=cote d'l": 2, "country=Cote dʼS": 2,
	} {
		name, value, _ := strings.Cut(query, "=")
		nobody.Read("/events?"+name+"="+url.QueryEscape(value)).WantField("total", want)
	}
	facets := nobody.Read("/events?facets=city")
	if n := facets.Len("facets.city.values"); n != 3 {
		t.Errorf("%d cities, want 3: %s", n, facets.Body)
	}
}
