package httpapi_test

import (
	"net/http"
	"net/url"
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
