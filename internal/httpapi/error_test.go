package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/httpapi/openapi"
	"daybook/internal/texts"
	"daybook/query/readmodel"
)

func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	var codes []calendar.Code // each has a message
	for key := range texts.Messages {
		if code, ok := strings.CutPrefix(key, "code."); ok && !strings.Contains(code, ".") {
			codes = append(codes, calendar.Code(code))
		}
	}
	if len(codes) != len(statuses) {
		t.Errorf("%d codes, %d statuses", len(codes), len(statuses))
	}
	documented := any(newDocuments(&Options{}, nil).Document(openapi.Root{}, calendar.LangEN))
	for _, name := range []string{"components", "schemas", "Error", "properties", "data", "properties"} {
		documented = documented.(object)[name]
	}
	for _, c := range codes {
		if _, ok := statuses[c]; !ok {
			t.Errorf("%s has no status", c)
		}
		e := &calendar.Error{Code: c, Kind: calendar.KindEvent}
		for _, l := range calendar.Langs {
			for _, b := range [][]byte{errorBody(e, statusOf(c), l, ""), errorBody(e, statusOf(c), l, "/x")} {
				if !json.Valid(b) {
					t.Errorf("%s: no JSON: %s", c, b)
				}
			}
		}
		var shown struct{ Data map[string]any }
		if err := json.Unmarshal(errorBody(e, statusOf(c), calendar.LangEN, ""), &shown); err != nil {
			t.Fatal(err)
		}
		for name := range shown.Data {
			if name != "status" && documented.(object)[name] == nil {
				t.Errorf("%s: the documentation does not know data.%s", c, name)
			}
		}
	}
	if statusOf("unheard_of") != http.StatusInternalServerError {
		t.Error("an unknown code is not 500")
	}
}

func TestShownCode(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]*calendar.Error{
		"rest_forbidden":                   calendar.Fail(calendar.CodeUnauthorized, calendar.KindEvent),
		"rest-event-not-found":             calendar.Fail(calendar.CodeNotFound, calendar.KindEvent),
		"venue-not-found":                  calendar.Fail(calendar.CodeNotFound, calendar.KindVenue),
		"category-not-found":               calendar.Fail(calendar.CodeNotFound, calendar.KindCategory),
		"tag-not-found":                    calendar.Fail(calendar.CodeNotFound, calendar.KindTag),
		"event-not-accessible":             calendar.Fail(calendar.CodeNotAccessible, calendar.KindEvent),
		"organizer-not-accessible":         calendar.Fail(calendar.CodeNotAccessible, calendar.KindOrganizer),
		"event-is-in-trash":                calendar.Fail(calendar.CodeInTrash, calendar.KindEvent),
		"venue-archive-page-not-found":     calendar.Fail(calendar.CodePageNotFound, calendar.KindVenue),
		"event-archive-page-not-found":     calendar.Fail(calendar.CodePageNotFound, calendar.KindEvent),
		"organizer-archive-page-not-found": calendar.Fail(calendar.CodePageNotFound, calendar.KindOrganizer),
		"event-no-longer-available":        calendar.Fail(calendar.CodeNoLongerAvailable, calendar.KindEvent),
		"event-password-protected":         calendar.Fail(calendar.CodePasswordProtected, calendar.KindEvent),
		"term_exists":                      calendar.Fail(calendar.CodeTermExists, calendar.KindTag),
	} {
		if got := shownCode(e); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestPublicError(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		want calendar.Code
	}{
		"public":         {fmt.Errorf("x: %w", calendar.Fail(calendar.CodeInTrash, calendar.KindEvent)), calendar.CodeInTrash},
		"store":          {fmt.Errorf("x: %w", eventstore.ErrUnavailable), calendar.CodeUnavailable},
		"store closed":   {eventstore.ErrClosed, calendar.CodeUnavailable},
		"read model":     {fmt.Errorf("x: %w", readmodel.ErrUnavailable), calendar.CodeUnavailable},
		"took too long":  {context.DeadlineExceeded, calendar.CodeUnavailable},
		"key":            {eventstore.ErrKeyReused, calendar.CodeKeyReused},
		"anything else":  {errors.New("pq: secret"), calendar.CodeInternal},
		"version beaten": {eventstore.ErrConflict, calendar.CodeInternal},
	} {
		if got := publicError(tc.err).Code; got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

// TestErrorShape holds the example of section 7.1.
func TestErrorShape(t *testing.T) {
	t.Parallel()
	e := &calendar.Error{Code: calendar.CodeInvalidParam, Fields: []calendar.FieldError{
		{Field: "website", Reason: calendar.ReasonURL}, {Field: "featured", Reason: calendar.ReasonTypeBool},
	}}
	want := `{"code":"rest_invalid_param","message":"Invalid parameters: website, featured",` +
		`"data":{"status":400,"params":{"website":"website: must be an absolute http or https URL","featured":"featured: must be true or false"},` +
		`"details":{"featured":{"code":"rest_invalid_type","message":"featured: must be true or false","data":{"param":"featured"}}}}}`
	if got := string(errorBody(e, 400, calendar.LangEN, "")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e = calendar.Fail(calendar.CodeInTrash, calendar.KindVenue)
	want = `{"type":"urn:daybook:error:venue-is-in-trash","title":"Gone","status":410,"detail":"The venue is in the trash already.",` +
		`"instance":"/api/calendar/events/v1/venues/88","code":"venue-is-in-trash"}`
	if got := string(errorBody(e, 410, calendar.LangEN, "/api/calendar/events/v1/venues/88")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e = &calendar.Error{Code: calendar.CodeMissingParam, Missing: []string{"title"}}
	if got := string(errorBody(e, 400, calendar.LangEN, "")); !json.Valid([]byte(got)) || !strings.Contains(got, `"params":["title"]`) {
		t.Errorf("got %s", got)
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"application/problem+json":                            true,
		"application/json, Application/Problem+JSON;q=0.5":    true,
		"application/problem+json;q=0, application/json":      false,
		"application/json":                                    false,
		"*/*":                                                 false,
		"application/problem+jsonx, text/application/problem": false,
	} {
		if got := accepts(http.Header{"Accept": {accept}}, "application/problem+json"); got != want {
			t.Errorf("%s: got %v", accept, got)
		}
	}
}
