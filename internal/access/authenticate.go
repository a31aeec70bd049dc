package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
)

// Authenticate reads the value of an Authorization header (interface 6.2); ""
// is the anonymous caller. Refusals are *calendar.Error with one of the codes
// CodeInvalidUsername, CodeIncorrectPassword and CodeInvalidCredentials; other
// errors are those of the store.
func (u *Users) Authenticate(ctx context.Context, authorization string) (calendar.Caller, error) {
	if authorization == "" {
		return calendar.Caller{}, nil
	}
	scheme, value, _ := strings.Cut(authorization, " ")
	value = strings.Trim(value, " ")
	switch {
	case value == "":
	case strings.EqualFold(scheme, "bearer"):
		user, err := u.byToken(ctx, value)
		if errors.Is(err, ErrNoUser) {
			return refuse(calendar.CodeIncorrectPassword)
		}
		return caller(user), err
	case strings.EqualFold(scheme, "basic"):
		pair, err := base64.StdEncoding.DecodeString(value)
		if err != nil || !utf8.Valid(pair) {
			break
		}
		if name, token, ok := strings.Cut(string(pair), ":"); ok {
			return u.basic(ctx, name, token)
		}
	}
	return refuse(calendar.CodeInvalidCredentials)
}

func (u *Users) basic(ctx context.Context, name, token string) (calendar.Caller, error) {
	user, err := u.byToken(ctx, token)
	if err != nil && !errors.Is(err, ErrNoUser) {
		return calendar.Caller{}, err
	}
	if err == nil && subtle.ConstantTimeCompare([]byte(user.Name), []byte(name)) == 1 {
		return caller(user), nil
	}
	switch _, err := u.byName(ctx, name); {
	case errors.Is(err, ErrNoUser):
		return refuse(calendar.CodeInvalidUsername)
	case err != nil:
		return calendar.Caller{}, err
	}
	return refuse(calendar.CodeIncorrectPassword)
}

func caller(user User) calendar.Caller { return calendar.Caller{ID: user.ID, Role: user.Role} }

func refuse(code calendar.Code) (calendar.Caller, error) {
	return calendar.Caller{}, calendar.Fail(code, 0)
}

// byToken returns the user of a token, or ErrNoUser.
func (u *Users) byToken(ctx context.Context, token string) (User, error) {
	sum := sha256.Sum256([]byte(token))
	known, _ := u.tokens.Load(sum)
	id, _ := known.(calendar.ID)
	state, err := u.state(ctx, id, calendar.TokenClaim(sum[:]))
	if err != nil {
		return User{}, err
	}
	// The user was found by the text of a claim, or had the token once; the secret decides.
	if subtle.ConstantTimeCompare(state.Secret, sum[:]) != 1 {
		return User{}, ErrNoUser
	}
	u.tokens.Store(sum, state.ID)
	return userOf(&state)
}
