package eventstore_test

import (
	"errors"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
)

// TestCheck: what no store may take, whatever it holds.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(a *eventstore.Append){
		"":                 func(*eventstore.Append) {},
		"no change name":   func(a *eventstore.Append) { a.Drafts[0].Change = "" },
		"claim no space":   func(a *eventstore.Append) { a.Drafts[0].Claims = []calendar.Claim{{Key: "a"}} },
		"cause no text":    func(a *eventstore.Append) { a.Cause.Client = "\xff" },
		"NUL in a cause":   func(a *eventstore.Append) { a.Cause.Reason = "\x00" },
		"key no text":      func(a *eventstore.Append) { a.Receipt = &eventstore.Receipt{User: 7, Key: "\xff"} },
		"the second draft": func(a *eventstore.Append) { a.Drafts = append(a.Drafts, eventstore.Draft{}) },
	} {
		a := eventstore.Append{Drafts: []eventstore.Draft{{Kind: calendar.KindTag, ID: 1, Change: "tag.created", Fields: []byte(`{}`), State: []byte(`{}`)}}}
		edit(&a)
		if err := a.Check(); errors.Is(err, eventstore.ErrMalformed) == (name == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	note := []byte("note\n")
	for _, checkpoint := range []eventstore.Checkpoint{{Size: 1, Note: note}, {Size: 1, Origin: "\xff", Note: note}} {
		a := eventstore.Append{Checkpoint: &checkpoint}
		if err := a.Check(); !errors.Is(err, eventstore.ErrMalformed) {
			t.Errorf("%+v: %v", checkpoint, err)
		}
	}
}
