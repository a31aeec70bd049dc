package postgres_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
)

// TestObserveCommits: every group commit is told with its size and its end.
func TestObserveCommits(t *testing.T) {
	t.Parallel()
	var told []string
	begun := 0
	s := open(t, server(t), postgres.Options{Schema: schema(t), Observe: func() func(eventstore.Committed) {
		begun++
		return func(c eventstore.Committed) {
			told = append(told, fmt.Sprint(c.Appends, " ", c.Entries, " ", c.Head, " ", c.Err != nil))
		}
	}})
	add := func(ids ...calendar.ID) {
		t.Helper()
		var appends []eventstore.Append
		for _, id := range ids {
			appends = append(appends, eventstore.Append{Time: time.UnixMilli(1), Drafts: []eventstore.Draft{{
				Kind: calendar.KindTag, ID: id, Change: "tag.created", Fields: []byte(`{}`), State: []byte(`{}`),
			}}})
		}
		s.Append(t.Context(), appends)
	}
	add(1, 2)
	add(2, 3) // 2 is there already
	add(3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"2 2 2 false", "2 1 3 false", "1 0 0 false"}; !slices.Equal(told, want) || begun != len(told) {
		t.Errorf("told %q of %d begun, want %q", told, begun, want)
	}
}
