// Package access knows the users of the service: their names, tokens and roles,
// and what the credentials of a request name.
package access

import (
	"context"
	"errors"

	"daybook/calendar"
	"daybook/eventstore"
)

var errNotBuilt = errors.New("not built yet")

// Users keeps users as records in the event store.
type Users struct{ store eventstore.Store }

// User is one user.
type User struct {
	ID   calendar.ID
	Name string
	Role calendar.Role
	// Active tells whether the user has a token that is valid.
	Active bool
}

// New makes a Users.
func New(store eventstore.Store) *Users { return &Users{store: store} }

// Authenticate reads the value of an Authorization header (interface 6.2); ""
// is the anonymous caller. Refusals are *calendar.Error.
func (u *Users) Authenticate(ctx context.Context, authorization string) (calendar.Caller, error) {
	return calendar.Caller{}, errNotBuilt
}

// Add makes a user and gives the token, which is shown only here.
func (u *Users) Add(ctx context.Context, name string, role calendar.Role, actor calendar.ID) (User, string, error) {
	return User{}, "", errNotBuilt
}

// NewToken gives a user a new token; the old one is withdrawn.
func (u *Users) NewToken(ctx context.Context, name string, actor calendar.ID) (User, string, error) {
	return User{}, "", errNotBuilt
}

// Revoke withdraws the token of a user.
func (u *Users) Revoke(ctx context.Context, name string, actor calendar.ID) (User, error) {
	return User{}, errNotBuilt
}

// List gives all users by id.
func (u *Users) List(ctx context.Context) ([]User, error) { return nil, errNotBuilt }

// EnsureAdministrator makes the first administrator, named "admin", when the
// store has no user yet; the token is "" when nothing was made.
func (u *Users) EnsureAdministrator(ctx context.Context) (token string, err error) {
	return "", errNotBuilt
}
