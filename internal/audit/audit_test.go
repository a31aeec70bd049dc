package audit

import (
	"encoding/json"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// TestLine: what the leaf of an entry is made from is in its line, but the secret only by
// its sum.
func TestLine(t *testing.T) {
	t.Parallel()
	entry := eventstore.Entry{
		Leaf: [32]byte{1}, Position: 9, Kind: calendar.KindTag, ID: 5, Version: 2, Time: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Actor: 7,
		Cause: eventstore.Cause{Reason: "why"}, Change: "tag.updated", Fields: []byte(`{}`), State: []byte(`{"v":1}`), Secret: []byte("hidden"),
	}
	entry.Secret, entry.SecretSum = nil, entry.SecretHash()
	for i := range 5 {
		for j := range entry.Salts.Of(i) {
			entry.Salts.Of(i)[j] = byte(i + 1)
		}
	}
	const want = `{"position":9,"kind":"tag","id":5,"version":2,"time":"2026-05-01T12:00:00Z","actor":7,"cause":{"reason":"why"},"change":"tag.updated","fields":{},"state":{"v":1},"secret_sha256":"e564b4081d7a9ea4b00dada53bdae70c99b87b6fce869f0c3dd4d2bfa1e53e1c","form":2,"leaf":"0100000000000000000000000000000000000000000000000000000000000000","salts":{"actor":"AQEBAQEBAQEBAQEBAQEBAQ==","cause":"AgICAgICAgICAgICAgICAg==","fields":"AwMDAwMDAwMDAwMDAwMDAw==","secret":"BQUFBQUFBQUFBQUFBQUFBQ==","state":"BAQEBAQEBAQEBAQEBAQEBA=="}}`
	if data, err := json.Marshal(lineOf(&entry)); err != nil || string(data) != want {
		t.Errorf("%v, got\n%s, want\n%s", err, data, want)
	}
}
