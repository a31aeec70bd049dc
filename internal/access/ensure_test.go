package access_test

import (
	"errors"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/access"
)

// TestEnsure: a user is made once, without a token, as what an import brings.
func TestEnsure(t *testing.T) {
	t.Parallel()
	users, store := setup(t)
	made, err := users.Ensure(t.Context(), "ann", calendar.Editor, 7)
	must(t, err)
	again, err := users.Ensure(t.Context(), "ann", calendar.Author, 7)
	if err != nil || again != made || made.Role != calendar.Editor {
		t.Errorf("second call gives %+v, %v; the first gave %+v", again, err, made)
	}
	history, err := store.Read(t.Context(), eventstore.Range{Record: made.ID, Limit: 10})
	if err != nil || len(history) != 1 || history[0].Actor != 7 || history[0].Secret != nil {
		t.Errorf("history %+v, %v", history, err)
	}
	if list, err := users.List(t.Context()); err != nil || len(list) != 1 || list[0].Active {
		t.Errorf("users %+v, %v", list, err)
	}
	if _, err := users.Authenticate(t.Context(), basic("ann", "")); codeOf(err) != calendar.CodeIncorrectPassword {
		t.Errorf("a user without a token: %v", err)
	}
	_, name := users.Ensure(t.Context(), "a:b", calendar.Editor, 0)
	if _, role := users.Ensure(t.Context(), "bob", calendar.Anonymous, 0); !errors.Is(name, access.ErrBadName) || !errors.Is(role, access.ErrBadRole) {
		t.Errorf("bad name: %v, bad role: %v", name, role)
	}
}
