package httpapi_test

import (
	"net/http"
	"net/url"
	"testing"

	"daybook/calendar"
)

// A name as it is typed, and as some systems send it: decomposed, with other blanks.
const (
	composed   = "Café Neu"
	decomposed = "CAFE\u0301\u00a0 NEU"
)

// A name that is sent decomposed is the same as the composed one.
func TestNamesAreComparedComposed(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	ids := map[string]any{}
	for _, k := range []calendar.Kind{calendar.KindVenue, calendar.KindOrganizer, calendar.KindCategory, calendar.KindTag} {
		ids[k.String()] = float64(editor.Create(k, obj{k.NameField(): decomposed}).ID())
	}
	for i, name := range []string{decomposed, composed} {
		event := editor.Event(name, obj{"venue": obj{"venue": name}, "organizer": obj{"organizer": name}, "categories": []string{name}, "tags": []string{name}})
		event.WantField("venue.id", ids["venue"]).WantField("organizer.0.id", ids["organizer"]).WantField("categories.0.id", ids["category"]).WantField("tags.0.id", ids["tag"])
		editor.Post("/tags", obj{"name": name}).WantCode(http.StatusBadRequest, "term_exists")
		nobody.Read("/tags?search="+url.QueryEscape(name)).WantField("total", 1.0)
		found := nobody.Read("/events?tags="+url.QueryEscape(name)).WantField("total", float64(i+1))
		nobody.Read("/events?tags="+url.QueryEscape(name)+"&as_of=position:"+found.Header.Get("Daybook-Position")).WantField("total", float64(i+1))
	}
}
