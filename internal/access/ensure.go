package access

import (
	"context"
	"errors"
	"fmt"

	"daybook/calendar"
	"daybook/eventstore"
)

// Ensure gives the user of a name as a caller. When there is none it makes one
// with the role and without a token, so nobody can log in by it until an
// operator gives it one. actor is the user who does it, 0 the operator. The
// error is ErrBadName or ErrBadRole.
func (u *Users) Ensure(ctx context.Context, name string, role calendar.Role, actor calendar.ID) (calendar.Caller, error) {
	if err := checkName(name); err != nil {
		return calendar.Caller{}, err
	}
	if role < calendar.Subscriber || role > calendar.Auditor {
		return calendar.Caller{}, fmt.Errorf("%w %q", ErrBadRole, role)
	}
	for n := 1; ; n++ {
		state, err := u.byName(ctx, name)
		if err == nil {
			user, err := userOfState(&state)
			return caller(user), err
		}
		if !errors.Is(err, ErrNoUser) {
			return calendar.Caller{}, fmt.Errorf("look for user %q: %w", name, err)
		}
		id, err := u.create(ctx, name, role, nil, nil, actor, "user named by an import")
		if _, taken := errors.AsType[*eventstore.ClaimError](err); taken && n < attempts {
			continue // another process was first
		}
		if err != nil {
			return calendar.Caller{}, fmt.Errorf("add user %q: %w", name, err)
		}
		return calendar.Caller{ID: id, Role: role}, nil
	}
}
