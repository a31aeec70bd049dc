package audit

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// The secret is in no form of an entry; the whole form has what its leaf is made from.
func TestForms(t *testing.T) {
	t.Parallel()
	e := eventstore.Entry{
		Position: 9, Kind: calendar.KindTag, ID: 5, Version: 2, Time: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Actor: 7,
		Change: "tag.updated", Fields: json.RawMessage(`{}`), State: json.RawMessage(`{"v":1}`), Secret: []byte("hidden"),
	}
	for _, c := range []struct {
		form Entry
		sum  bool
	}{{Of(&e), false}, {Whole(&e), true}} {
		b, err := json.Marshal(c.form)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if strings.Contains(text, "hidden") || strings.Contains(text, "secret_sha256") != c.sum || !strings.Contains(text, `"position":9,"kind":"tag","id":5,"version":2`) {
			t.Errorf("got %s", text)
		}
	}
}
