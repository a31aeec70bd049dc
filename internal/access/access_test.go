package access_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
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
	u := access.New(store)
	u.Now = func() time.Time { return time.Date(2026, 5, 1, 9, 30, 0, 5_999, time.UTC) }
	return u, store
}

func add(t *testing.T, u *access.Users, name string, role calendar.Role) (access.User, string) {
	t.Helper()
	user, token, err := u.Add(t.Context(), name, role, 0)
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
	if e, ok := errors.AsType[*calendar.Error](err); ok {
		return e.Code
	}
	return ""
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	u, _ := setup(t)
	ann, annToken := add(t, u, "ann", calendar.Editor)
	bob, bobToken := add(t, u, "Bob Müller", calendar.Contributor)
	if _, err := u.Revoke(t.Context(), "ann", 0); err != nil {
		t.Fatal(err)
	}
	_, newToken, err := u.NewToken(t.Context(), "ann", 0)
	must(t, err)
	isAnn, isBob := calendar.Caller{ID: ann.ID, Role: calendar.Editor}, calendar.Caller{ID: bob.ID, Role: calendar.Contributor}
	for _, tt := range []struct {
		name, header string
		want         calendar.Caller
		code         calendar.Code
	}{
		{name: "anonymous"},
		{name: "bearer", header: "Bearer " + newToken, want: isAnn},
		{name: "bearer in another case", header: "bEARER  " + bobToken + " ", want: isBob},
		{name: "basic", header: basic("Bob Müller", bobToken), want: isBob},
		{name: "basic in another case", header: "bASIC" + strings.TrimPrefix(basic("ann", newToken), "Basic"), want: isAnn},
		{name: "withdrawn token", header: "Bearer " + annToken, code: calendar.CodeIncorrectPassword},
		{name: "withdrawn token with name", header: basic("ann", annToken), code: calendar.CodeIncorrectPassword},
		{name: "unknown token", header: "Bearer nothing", code: calendar.CodeIncorrectPassword},
		{name: "token of another", header: basic("ann", bobToken), code: calendar.CodeIncorrectPassword},
		{name: "empty token", header: basic("ann", ""), code: calendar.CodeIncorrectPassword},
		{name: "unknown name", header: basic("eve", newToken), code: calendar.CodeInvalidUsername},
		{name: "name in another case", header: basic("Ann", newToken), code: calendar.CodeInvalidUsername},
		{name: "empty name", header: basic("", newToken), code: calendar.CodeInvalidUsername},
		{name: "NUL in the name", header: basic("ann\x00", newToken), code: calendar.CodeInvalidUsername},
		{name: "other scheme", header: "Digest " + newToken, code: calendar.CodeInvalidCredentials},
		{name: "scheme alone", header: "Bearer", code: calendar.CodeInvalidCredentials},
		{name: "scheme and blanks", header: "Basic   ", code: calendar.CodeInvalidCredentials},
		{name: "token alone", header: newToken, code: calendar.CodeInvalidCredentials},
		{name: "blank", header: " ", code: calendar.CodeInvalidCredentials},
		{name: "no base64", header: "Basic %%%", code: calendar.CodeInvalidCredentials},
		{name: "no colon", header: "Basic " + base64.StdEncoding.EncodeToString([]byte(newToken)), code: calendar.CodeInvalidCredentials},
		{name: "no UTF-8", header: basic("\xff", newToken), code: calendar.CodeInvalidCredentials},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the second time from memory
				got, err := u.Authenticate(t.Context(), tt.header)
				if got != tt.want || codeOf(err) != tt.code || (err != nil) != (tt.code != "") {
					t.Errorf("got %+v, %v, want %+v, %q", got, err, tt.want, tt.code)
				}
			}
		})
	}
}

func TestTokensEndAtOnce(t *testing.T) {
	t.Parallel()
	u, store := setup(t)
	_, token := add(t, u, "ann", calendar.Author)
	// Another process changes the user.
	other := access.New(store)
	if _, err := u.Authenticate(t.Context(), "Bearer "+token); err != nil {
		t.Fatal(err)
	}
	_, second, err := other.NewToken(t.Context(), "ann", 0)
	must(t, err)
	if _, err := u.Authenticate(t.Context(), "Bearer "+token); codeOf(err) != calendar.CodeIncorrectPassword {
		t.Errorf("the old token after a new one: %v", err)
	}
	if _, err := u.Authenticate(t.Context(), "Bearer "+second); err != nil {
		t.Errorf("the new token: %v", err)
	}
	user, err := other.Revoke(t.Context(), "ann", 0)
	if err != nil || user.Active {
		t.Fatalf("Revoke: %+v, %v", user, err)
	}
	if _, err := u.Authenticate(t.Context(), "Bearer "+second); codeOf(err) != calendar.CodeIncorrectPassword {
		t.Errorf("the withdrawn token: %v", err)
	}
	if _, err := u.Authenticate(t.Context(), basic("ann", second)); codeOf(err) != calendar.CodeIncorrectPassword {
		t.Errorf("the withdrawn token with its name: %v", err)
	}
}

func TestActsAreInTheLog(t *testing.T) {
	t.Parallel()
	u, store := setup(t)
	admin, _ := add(t, u, "root", calendar.Administrator)
	ann, token, err := u.Add(t.Context(), "ann", calendar.Auditor, admin.ID)
	must(t, err)
	if _, _, err := u.NewToken(t.Context(), "ann", admin.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Revoke(t.Context(), "ann", 0); err != nil {
		t.Fatal(err)
	}
	entries, err := store.Read(t.Context(), eventstore.Range{Record: ann.ID, Limit: 10})
	must(t, err)
	type act struct {
		Change, Reason string
		Actor          calendar.ID
		Secret         int
	}
	var got []act
	for _, e := range entries {
		got = append(got, act{e.Change, e.Cause.Reason, e.Actor, len(e.Secret)})
		for _, text := range []string{string(e.Fields), string(e.State)} {
			if strings.Contains(text, token) {
				t.Errorf("entry %d shows the token", e.Position)
			}
		}
	}
	want := []act{
		{"user.created", "user added", admin.ID, 32},
		{"user.updated", "token made", admin.ID, 32},
		{"user.updated", "token withdrawn", 0, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("history differs (-want +got):\n%s", diff)
	}
	sum := sha256.Sum256([]byte(token))
	if !slices.Equal(entries[0].Secret, sum[:]) {
		t.Error("the secret is not the SHA-256 of the token")
	}
	if f, err := verify.Store(t.Context(), store, nil); err != nil || f.Err() != nil || f.Entries != 4 {
		t.Errorf("Verify: %+v, %v", f, err)
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	u, _ := setup(t)
	_, token := add(t, u, "ann", calendar.Author)
	if len(token) != len("daybook_")+43 || !strings.HasPrefix(token, "daybook_") {
		t.Errorf("token is %q", token)
	}
	for _, tt := range []struct {
		name string
		role calendar.Role
		want error
	}{
		{"ann", calendar.Author, access.ErrUserExists},
		{"", calendar.Author, access.ErrBadName},
		{strings.Repeat("x", 61), calendar.Author, access.ErrBadName},
		{"a:b", calendar.Author, access.ErrBadName},
		{" a", calendar.Author, access.ErrBadName},
		{"a\nb", calendar.Author, access.ErrBadName},
		{"\xff", calendar.Author, access.ErrBadName},
		{"bob", calendar.Anonymous, access.ErrBadRole},
		{"bob", calendar.Auditor + 1, access.ErrBadRole},
	} {
		if _, token, err := u.Add(t.Context(), tt.name, tt.role, 0); !errors.Is(err, tt.want) || token != "" {
			t.Errorf("Add(%q, %d): %q, %v, want %v", tt.name, tt.role, token, err, tt.want)
		}
	}
	if _, _, err := u.NewToken(t.Context(), "nobody", 0); !errors.Is(err, access.ErrNoUser) {
		t.Errorf("NewToken of nobody: %v", err)
	}
	if _, err := u.Revoke(t.Context(), "nobody", 0); !errors.Is(err, access.ErrNoUser) {
		t.Errorf("Revoke of nobody: %v", err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	u, store := setup(t)
	none, err := u.List(t.Context())
	if err != nil || len(none) != 0 {
		t.Errorf("an empty store has users %v, %v", none, err)
	}
	var want []access.User
	for i := range 250 { // more than a page
		user, _ := add(t, u, "user "+calendar.ID(i).String(), calendar.Subscriber)
		want = append(want, user)
	}
	if want[3], err = u.Revoke(t.Context(), want[3].Name, 0); err != nil {
		t.Fatal(err)
	}
	got, err := u.List(t.Context())
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("users differ (-want +got):\n%s", diff)
	}
	if got[3].Active || !got[4].Active {
		t.Errorf("active: %t, %t, want false, true", got[3].Active, got[4].Active)
	}
	must(t, store.Close())
	if _, err := u.List(t.Context()); !errors.Is(err, eventstore.ErrClosed) {
		t.Errorf("List of a closed store: %v", err)
	}
	if _, err := u.Authenticate(t.Context(), "Bearer x"); !errors.Is(err, eventstore.ErrClosed) || codeOf(err) != "" {
		t.Errorf("Authenticate on a closed store: %v", err)
	}
}

func TestEnsureAdministrator(t *testing.T) {
	t.Parallel()
	u, store := setup(t)
	tokens := make([]string, 8)
	var wg sync.WaitGroup
	for i := range tokens {
		wg.Go(func() {
			var err error
			if _, tokens[i], err = access.New(store).EnsureAdministrator(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	tokens = slices.DeleteFunc(tokens, func(s string) bool { return s == "" })
	if len(tokens) != 1 {
		t.Fatalf("%d administrators were made", len(tokens))
	}
	caller, err := u.Authenticate(t.Context(), basic("admin", tokens[0]))
	if err != nil || caller.Role != calendar.Administrator {
		t.Errorf("the first administrator is %+v, %v", caller, err)
	}
	if _, token, err := u.EnsureAdministrator(t.Context()); err != nil || token != "" {
		t.Errorf("a second start gave %q, %v", token, err)
	}
}

// TestEnsureAdministratorOfAnotherName: users of lower roles that have the name
// already do not leave the service without an administrator.
func TestEnsureAdministratorOfAnotherName(t *testing.T) {
	t.Parallel()
	u, _ := setup(t)
	if _, err := u.Ensure(t.Context(), "admin", calendar.Editor, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := u.Add(t.Context(), "admin-2", calendar.Author, 0); err != nil {
		t.Fatal(err)
	}
	name, token, err := u.EnsureAdministrator(t.Context())
	if err != nil || name != "admin-3" {
		t.Fatalf("made %q, %v", name, err)
	}
	if caller, err := u.Authenticate(t.Context(), basic(name, token)); err != nil || caller.Role != calendar.Administrator {
		t.Errorf("the first administrator is %+v, %v", caller, err)
	}
}

// racing loses the first appends to another act on the same user.
type racing struct {
	*memstore.Store

	other *access.Users
	left  int
}

func (r *racing) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	if r.left > 0 {
		r.left--
		if _, _, err := r.other.NewToken(ctx, "ann", 0); err != nil {
			return []eventstore.Result{{Err: err}}
		}
	}
	return r.Store.Append(ctx, appends)
}

func TestActsAtTheSameTime(t *testing.T) {
	t.Parallel()
	u, store := setup(t)
	add(t, u, "ann", calendar.Author)
	slow := access.New(&racing{Store: store, other: u, left: 3})
	_, token, err := slow.NewToken(t.Context(), "ann", 0)
	must(t, err)
	if _, err := u.Authenticate(t.Context(), "Bearer "+token); err != nil {
		t.Errorf("the last token: %v", err)
	}
	hopeless := access.New(&racing{Store: store, other: u, left: 1000})
	if _, _, err := hopeless.NewToken(t.Context(), "ann", 0); !errors.Is(err, eventstore.ErrConflict) {
		t.Errorf("an act that always loses: %v", err)
	}
}

// TestAfterAFailover: tokens that went with lost entries are refused, also where
// another user has the id and version of theirs now.
func TestAfterAFailover(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	users := access.New(store)
	if _, _, err := users.Add(t.Context(), "kept", calendar.Editor, 0); err != nil {
		t.Fatal(err)
	}
	gone, lost, err := users.Add(t.Context(), "lost", calendar.Administrator, 0)
	must(t, err)
	bearer := func(token string) (calendar.Caller, error) { return users.Authenticate(t.Context(), "Bearer "+token) }
	if _, err := bearer(lost); err != nil { // and it is known
		t.Fatal(err)
	}
	store.Rewind(1)
	if _, _, err := access.New(givenAgain{store, gone.ID}).Add(t.Context(), "other", calendar.Administrator, 0); err != nil {
		t.Fatal(err)
	}
	if c, err := bearer(lost); err == nil {
		t.Errorf("the token of a lost user is that of %+v", c)
	}
	again, token, err := users.Add(t.Context(), "lost", calendar.Subscriber, 0)
	must(t, err)
	if c, err := bearer(lost); err == nil {
		t.Errorf("the lost token is that of %+v", c)
	}
	if c, err := bearer(token); err != nil || c.ID != again.ID || c.Role != calendar.Subscriber {
		t.Errorf("the token of the user who was made again: %+v, %v", c, err)
	}
}

// givenAgain is a store that gives one id.
type givenAgain struct {
	eventstore.Store

	id calendar.ID
}

func (s givenAgain) NewIDs(context.Context, int) (calendar.ID, error) { return s.id, nil }
