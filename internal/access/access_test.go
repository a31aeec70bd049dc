package access_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/verify"
	"daybook/internal/access"
)

var _ command.Hasher = (*access.Hasher)(nil)

func setup(t *testing.T) (*access.Users, *memstore.Store) {
	t.Helper()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	users := access.New(store)
	users.Now = func() time.Time { return time.Date(2026, 5, 1, 9, 30, 0, 5_999, time.UTC) }
	return users, store
}

func add(t *testing.T, users *access.Users, name string, role calendar.Role) (access.User, string) {
	t.Helper()
	user, token, err := users.Add(t.Context(), name, role, 0)
	must(t, err)
	return user, token
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func basic(name, token string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+token))
}

func codeOf(err error) calendar.Code {
	if problem, ok := errors.AsType[*calendar.Error](err); ok {
		return problem.Code
	}
	return ""
}

// TestAuthenticate: whoever credentials are; e2e has the codes of those that are wrong.
func TestAuthenticate(t *testing.T) {
	t.Parallel()
	users, store := setup(t)
	ann, old := add(t, users, "ann", calendar.Editor)
	bob, bobToken := add(t, users, "Bob Müller", calendar.Contributor)
	if _, err := users.Authenticate(t.Context(), "Bearer "+old); err != nil {
		t.Error(err)
	}
	_, token, err := access.New(store).NewToken(t.Context(), "ann", 0) // by another process
	must(t, err)
	isAnn, isBob := calendar.Caller{ID: ann.ID, Role: calendar.Editor}, calendar.Caller{ID: bob.ID, Role: calendar.Contributor}
	for header, want := range map[string]any{
		"": calendar.Caller{}, "Bearer " + token: isAnn, "bEARER  " + bobToken + " ": isBob, basic("Bob Müller", bobToken): isBob, "bASIC" + basic("ann", token)[5:]: isAnn,
		"Bearer " + old: calendar.CodeIncorrectPassword, basic("ann", old): calendar.CodeIncorrectPassword, basic("ann", bobToken): calendar.CodeIncorrectPassword, basic("ann", ""): calendar.CodeIncorrectPassword,
		basic("Ann", token): calendar.CodeInvalidUsername, basic("", token): calendar.CodeInvalidUsername, basic("ann\x00", token): calendar.CodeInvalidUsername,
		"Basic   ": calendar.CodeInvalidCredentials, " ": calendar.CodeInvalidCredentials, basic("\xff", token): calendar.CodeInvalidCredentials,
	} {
		for range 2 { // the second time from memory
			got, err := users.Authenticate(t.Context(), header)
			if code, refused := want.(calendar.Code); refused && (codeOf(err) != code || got != calendar.Caller{}) || !refused && (got != want || err != nil) {
				t.Errorf("%q: got %+v, %v, want %+v", header, got, err, want)
			}
		}
	}
	if user, err := access.New(store).Revoke(t.Context(), "ann", 0); err != nil || user.Active {
		t.Errorf("Revoke: %+v, %v", user, err)
	}
	for _, header := range []string{"Bearer " + token, basic("ann", token)} {
		if _, err := users.Authenticate(t.Context(), header); codeOf(err) != calendar.CodeIncorrectPassword {
			t.Errorf("a withdrawn token: %v", err)
		}
	}
	must(t, store.Close())
	if _, err := users.Authenticate(t.Context(), "Bearer x"); !errors.Is(err, eventstore.ErrClosed) || codeOf(err) != "" {
		t.Errorf("on a closed store: %v", err)
	}
}

func TestActsAreInTheLog(t *testing.T) {
	t.Parallel()
	users, store := setup(t)
	admin, _ := add(t, users, "root", calendar.Administrator)
	ann, token, err := users.Add(t.Context(), "ann", calendar.Auditor, admin.ID)
	must(t, err)
	_, _, err = users.NewToken(t.Context(), "ann", admin.ID)
	must(t, err)
	_, err = users.Revoke(t.Context(), "ann", 0)
	must(t, err)
	entries, err := store.Read(t.Context(), eventstore.Range{Record: ann.ID, Limit: 10})
	must(t, err)
	sum := sha256.Sum256([]byte(token))
	var got []string
	for _, entry := range entries {
		got = append(got, fmt.Sprint(entry.Change, ", ", entry.Cause.Reason, " by ", entry.Actor, ", ", len(entry.Secret)))
		if strings.Contains(string(entry.Fields)+string(entry.State), token) || entry.Secret != nil && entry.Version == 1 && !slices.Equal(entry.Secret, sum[:]) {
			t.Errorf("entry %d shows the token, or has no SHA-256 of it", entry.Position)
		}
	}
	want := []string{fmt.Sprintf("user.created, user added by %d, 32", admin.ID), fmt.Sprintf("user.updated, token made by %d, 32", admin.ID), "user.updated, token withdrawn by 0, 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("history differs (-want +got):\n%s", diff)
	}
	if findings, err := verify.Store(t.Context(), store, nil); err != nil || findings.Err() != nil || findings.Entries != 4 {
		t.Errorf("Verify: %+v, %v", findings, err)
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	users, _ := setup(t)
	if _, token := add(t, users, "ann", calendar.Author); len(token) != len("daybook_")+43 || !strings.HasPrefix(token, "daybook_") {
		t.Errorf("token is %q", token)
	}
	for name, want := range map[string]error{
		"ann": access.ErrUserExists, "": access.ErrBadName, strings.Repeat("x", 61): access.ErrBadName, "a:b": access.ErrBadName, " a": access.ErrBadName, "a\nb": access.ErrBadName, "\xff": access.ErrBadName,
	} {
		if _, token, err := users.Add(t.Context(), name, calendar.Author, 0); !errors.Is(err, want) || token != "" {
			t.Errorf("Add(%q): %q, %v, want %v", name, token, err, want)
		}
	}
	for _, role := range []calendar.Role{calendar.Anonymous, calendar.Auditor + 1} {
		if _, _, err := users.Add(t.Context(), "bob", role, 0); !errors.Is(err, access.ErrBadRole) {
			t.Errorf("role %d: %v", role, err)
		}
	}
	_, _, err := users.NewToken(t.Context(), "nobody", 0)
	if _, revoke := users.Revoke(t.Context(), "nobody", 0); !errors.Is(err, access.ErrNoUser) || !errors.Is(revoke, access.ErrNoUser) {
		t.Errorf("of nobody: %v, %v", err, revoke)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	users, _ := setup(t)
	var want []access.User
	for i := range 250 { // more than a page
		user, _ := add(t, users, "user "+calendar.ID(i).String(), calendar.Subscriber)
		want = append(want, user)
	}
	var err error
	want[3], err = users.Revoke(t.Context(), want[3].Name, 0)
	must(t, err)
	got, err := users.List(t.Context())
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" || got[3].Active || !got[4].Active {
		t.Errorf("users differ (-want +got):\n%s", diff)
	}
}

// TestEnsureAdministrator: of several processes one makes the first administrator, and users of
// lower roles that have the name already do not leave the service without one.
func TestEnsureAdministrator(t *testing.T) {
	t.Parallel()
	users, store := setup(t)
	_, err := users.Ensure(t.Context(), "admin", calendar.Editor, 0)
	must(t, err)
	add(t, users, "admin-2", calendar.Author)
	var group sync.WaitGroup
	var made sync.Map
	for range 8 {
		group.Go(func() {
			name, token, err := access.New(store).EnsureAdministrator(t.Context())
			if err != nil {
				t.Error(err)
			}
			if token != "" {
				made.Store(token, name)
			}
		})
	}
	group.Wait()
	n := 0
	made.Range(func(token, name any) bool {
		n++
		caller, err := users.Authenticate(t.Context(), basic("admin-3", token.(string)))
		if err != nil || name != "admin-3" || caller.Role != calendar.Administrator {
			t.Errorf("the first administrator %s is %+v, %v", name, caller, err)
		}
		return true
	})
	if _, token, err := users.EnsureAdministrator(t.Context()); n != 1 || err != nil || token != "" {
		t.Errorf("%d were made, a second start gave %q, %v", n, token, err)
	}
}

// racing loses the first appends to another act on the same user.
type racing struct {
	*memstore.Store

	other *access.Users
	left  int
}

func (racing *racing) Append(ctx context.Context, addition eventstore.Append) eventstore.Result {
	if racing.left > 0 {
		racing.left--
		if _, _, err := racing.other.NewToken(ctx, "ann", 0); err != nil {
			return eventstore.Result{Err: err}
		}
	}
	return racing.Store.Append(ctx, addition)
}

func TestActsAtTheSameTime(t *testing.T) {
	t.Parallel()
	users, store := setup(t)
	add(t, users, "ann", calendar.Author)
	slow := access.New(&racing{Store: store, other: users, left: 3})
	_, token, err := slow.NewToken(t.Context(), "ann", 0)
	must(t, err)
	if _, err := users.Authenticate(t.Context(), "Bearer "+token); err != nil {
		t.Errorf("the last token: %v", err)
	}
	hopeless := access.New(&racing{Store: store, other: users, left: 1000})
	if _, _, err := hopeless.NewToken(t.Context(), "ann", 0); !errors.Is(err, eventstore.ErrConflict) {
		t.Errorf("an act that always loses: %v", err)
	}
}

// TestAfterAFailover: tokens that went with lost entries are refused, also where
// another user has the id and version of theirs now.
func TestAfterAFailover(t *testing.T) {
	t.Parallel()
	users, store := setup(t)
	add(t, users, "kept", calendar.Editor)
	gone, lost := add(t, users, "lost", calendar.Administrator)
	is := func(token string, want calendar.Caller) {
		t.Helper()
		if caller, err := users.Authenticate(t.Context(), "Bearer "+token); caller != want || (err == nil) != (want.ID != 0) {
			t.Errorf("the token is that of %+v, %v, want %+v", caller, err, want)
		}
	}
	is(lost, calendar.Caller{ID: gone.ID, Role: calendar.Administrator}) // and it is known
	store.Rewind(1)
	add(t, access.New(givenAgain{store, gone.ID}), "other", calendar.Administrator)
	is(lost, calendar.Caller{})
	again, token := add(t, users, "lost", calendar.Subscriber)
	is(lost, calendar.Caller{})
	is(token, calendar.Caller{ID: again.ID, Role: calendar.Subscriber})
}

// givenAgain is a store that gives one id.
type givenAgain struct {
	eventstore.Store

	id calendar.ID
}

func (givenAgain givenAgain) NewID(context.Context) (calendar.ID, error) {
	return givenAgain.id, nil
}
