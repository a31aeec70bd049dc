package memstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
)

// TestRewind: a rewound store is the one of that time, in another epoch.
func TestRewind(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	write := func(id calendar.ID, version int64, text string) eventstore.Result {
		t.Helper()
		state := json.RawMessage(fmt.Sprintf(`{"text":%q}`, text))
		return s.Append(t.Context(), []eventstore.Append{{
			Time:    time.Unix(version, 0),
			Drafts:  []eventstore.Draft{{Kind: calendar.KindTag, ID: id, Expected: version - 1, Change: "tag.updated", Fields: state, State: state, Claims: []calendar.Claim{{Space: "x", Key: text}}}},
			Receipt: &eventstore.Receipt{User: 1, Key: text, Record: id, Version: version},
		}})[0]
	}
	for v, text := range []string{"one", "two", "three"} {
		if res := write(9, int64(v)+1, text); res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	lost, err := s.Mark(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := s.Mark(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	epoch := s.Epoch()
	s.Rewind(1)
	if got := s.Epoch(); got != epoch+1 {
		t.Errorf("epoch is %d after %d", got, epoch)
	}
	if head, err := s.Head(t.Context()); err != nil || head != 1 {
		t.Errorf("head is %d, %v", head, err)
	}
	if states, err := s.Load(t.Context(), 9); err != nil || states[0].Version != 1 || string(states[0].Record) != `{"text":"one"}` {
		t.Errorf("record is %+v, %v", states, err)
	}
	if err := eventstore.CheckMark(t.Context(), s, kept); err != nil {
		t.Errorf("what is kept: %v", err)
	}
	for v, text := range []string{"other", "three"} { // a claim and a key of what is lost are free
		if res := write(9, int64(v)+2, text); res.Err != nil || res.Receipt != nil {
			t.Fatal(res)
		}
	}
	if err := eventstore.CheckMark(t.Context(), s, lost); !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("what is lost: %v", err)
	}
	if res := write(9, 1, "one"); res.Receipt == nil {
		t.Errorf("the receipt of what is kept is gone: %+v", res)
	}
}
