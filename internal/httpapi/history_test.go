package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// HISTORY 20.23: a page over entries that do not match is empty and has a next one.
func TestChangesOverMuchElse(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	w := world.New(t, world.Options{Store: store})
	nobody := w.As(calendar.Anonymous)
	tag := w.As(calendar.Editor).Create(calendar.KindTag, obj{"name": "Jazz"})
	found, err := w.Records.Load(t.Context(), tag.ID())
	if err != nil {
		t.Fatal(err)
	}
	record := found[0]
	for i := range 6000 {
		change := calendar.Change{Name: "tag.updated", Kind: calendar.KindTag, ID: record.ID, Fields: calendar.Fields{"slug": fmt.Sprint("jazz-", i)}}
		draft, next, err := eventstore.NewDraft(record, change, w.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		if res := store.Append(t.Context(), eventstore.Append{Drafts: []eventstore.Draft{draft}, Time: w.Clock.Now()}); res.Err != nil {
			t.Fatal(res.Err)
		}
		record = next
	}
	for _, filter := range []string{"kind=event", "field=title", "action=trashed", "order=asc&kind=event", "order=asc&field=title"} {
		first := nobody.Read("/changes?"+filter).WantField("entries", []any{})
		_, next, _ := strings.Cut(first.String("next_rest_url"), httpapi.Namespace)
		if last := nobody.Read(next).WantField("entries", []any{}); last.Has("next_rest_url") {
			t.Errorf("%s: the walk does not end", filter)
		}
	}
	path := tag.Path() + "/history?"
	nobody.Read(path+"action=created").WantField("looked_to", 1002).WantField("entries", []any{})
	nobody.Read(path+"action=created&before=1002").WantField("entries.0.version", 1)
	nobody.Read(path+"limit=2&after=4990&before=5001").WantField("entries.0.summary", "Changed: slug: from “jazz-4997” to “jazz-4998”").
		WantField("entries.1.summary", "Changed: slug: from “jazz-4996” to “jazz-4997”")
}
