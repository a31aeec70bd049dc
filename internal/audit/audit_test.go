package audit

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// What the leaf of an entry is made from is there, but the secret only by its sum.
func TestWhole(t *testing.T) {
	t.Parallel()
	e := eventstore.Entry{
		Position: 9, Kind: calendar.KindTag, ID: 5, Version: 2, Time: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Actor: 7,
		Change: "tag.updated", Fields: json.RawMessage(`{}`), State: json.RawMessage(`{"v":1}`), Secret: []byte("hidden"),
	}
	b, err := json.Marshal(Whole(&e))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if strings.Contains(text, "hidden") || !strings.Contains(text, "secret_sha256") || !strings.Contains(text, `"position":9,"kind":"tag","id":5,"version":2`) {
		t.Errorf("got %s", text)
	}
}
