package storetest

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// EventAppend is a create of an event of the usual size as command makes it:
// with a slug and an idempotency key.
func EventAppend(b testing.TB, id calendar.ID, keyed bool) eventstore.Append {
	b.Helper()
	now := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	c := calendar.Change{
		Name: "event.created", Kind: calendar.KindEvent, ID: id, Home: calendar.LangEN,
		Fields: calendar.Fields{
			"title":       calendar.Text{calendar.LangEN: "Quay concert and picnic"},
			"description": calendar.Text{calendar.LangEN: strings.Repeat("Bring a chair. ", 20)},
			"slug":        fmt.Sprintf("quay-concert-and-picnic-%d", id),
			"status":      "publish", "author": calendar.ID(7),
		},
	}
	d, _ := Draft(b, nil, c, now)
	a := eventstore.Append{
		Drafts: []eventstore.Draft{d},
		Time:   now, Actor: 7, Cause: eventstore.Cause{Client: "bench", Request: "r"},
	}
	if keyed {
		key := fmt.Sprintf("key-%d", id)
		a.Receipt = &eventstore.Receipt{User: 7, Key: key, Fingerprint: sha256.Sum256([]byte(key)), Time: now, Record: id, Version: 1}
	}
	return a
}
