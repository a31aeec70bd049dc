package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/httpapi/openapi"
	"daybook/internal/texts"
)

// TestEveryCodeHasAStatus: each code with a message has a status, and its answer is JSON that
// the documentation knows, in every language.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	var documented any
	documents := newDocuments(&Options{})
	if err := json.Unmarshal(documents.Fill("doc", openapi.Root{}, calendar.LangEN, documents.Routes), &documented); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"components", "schemas", "Error", "properties", "data", "properties"} {
		documented = documented.(object)[name] //nolint:forcetypeassert // else the test fails
	}
	codes := 0
	for key := range texts.Messages {
		code, ok := strings.CutPrefix(key, "code.")
		if !ok || strings.Contains(code, ".") {
			continue
		}
		codes++
		e := &calendar.Error{Code: calendar.Code(code), Kind: calendar.KindEvent}
		if _, ok := statuses[e.Code]; !ok {
			t.Errorf("%s has no status", code)
		}
		for _, lang := range calendar.Langs {
			var shown struct{ Data map[string]any }
			plain, problem := errorBody(e, statusOf(e.Code), lang, ""), errorBody(e, statusOf(e.Code), lang, "/x")
			if err := json.Unmarshal(plain, &shown); err != nil || !json.Valid(problem) {
				t.Errorf("%s: no JSON: %s, %s", code, plain, problem)
			}
			for name := range shown.Data {
				if name != "status" && documented.(object)[name] == nil {
					t.Errorf("%s: the documentation does not know data.%s", code, name)
				}
			}
		}
	}
	if codes != len(statuses) || statusOf("unheard_of") != http.StatusInternalServerError {
		t.Errorf("%d codes, %d statuses; an unknown code is %d", codes, len(statuses), statusOf("unheard_of"))
	}
}
