package httpapi_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"daybook/calendar"
	"daybook/internal/testkit"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// multiGets counts the multi-gets of an index.
type multiGets struct {
	*memindex.Index

	asked atomic.Int64
}

func (x *multiGets) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	x.asked.Add(1)
	return x.Index.Get(ctx, ids)
}

// TestRecordsOfAListAreReadTogether: events whose heads are known, but which were
// not rendered in a language yet, cost a list one multi-get and not one each.
func TestRecordsOfAListAreReadTogether(t *testing.T) {
	t.Parallel()
	index, err := memindex.New(memindex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := &multiGets{Index: index}
	w := testkit.New(t, testkit.Options{Index: x})
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	for i := range 9 {
		editor.Event(fmt.Sprint("Concert ", i), nil)
	}
	list := "/events"
	shown := func(c *testkit.Client) int {
		t.Helper()
		before := x.asked.Load()
		if n := c.Get(list).Len("events"); n != 9 {
			t.Fatalf("%d events, want 9", n)
		}
		return int(x.asked.Load() - before)
	}
	if n := shown(nobody); n != 0 {
		t.Errorf("the first list asked for records %d times beside its search", n)
	}
	list += "?per_page=9" // another list with the same events
	if n := shown(nobody.Under(calendar.LangFR)); n != 1 {
		t.Errorf("a list in another language asked for records %d times, want once", n)
	}
	list += "&page=1"
	if n := shown(nobody.Under(calendar.LangFR)); n != 0 {
		t.Errorf("a list of rendered events asked for records %d times", n)
	}
}
