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
func (accounts *Users) Authenticate(ctx context.Context, authorization string) (calendar.Caller, error) {
	if authorization == "" {
		return calendar.Caller{}, nil
	}
	scheme, value, _ := strings.Cut(authorization, " ")
	value = strings.Trim(value, " ")
	switch {
	case value == "":
	case strings.EqualFold(scheme, "bearer"):
		user, err := accounts.byToken(ctx, value)
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
			return accounts.basic(ctx, name, token)
		}
	}
	return refuse(calendar.CodeInvalidCredentials)
}

func (accounts *Users) basic(ctx context.Context, name, token string) (calendar.Caller, error) {
	user, err := accounts.byToken(ctx, token)
	if err != nil && !errors.Is(err, ErrNoUser) {
		return calendar.Caller{}, err
	}
	if err == nil && subtle.ConstantTimeCompare([]byte(user.Name), []byte(name)) == 1 {
		return caller(user), nil
	}
	switch _, err := accounts.byName(ctx, name); {
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
func (accounts *Users) byToken(ctx context.Context, token string) (User, error) {
	digest := sha256.Sum256([]byte(token))
	known, _ := accounts.tokens.Load(digest)
	id, _ := known.(calendar.ID)
	state, err := accounts.state(ctx, id, calendar.TokenClaim(digest[:]))
	if err != nil {
		return User{}, err
	}
	// The user was found by the text of a claim, or had the token once; the secret decides.
	if subtle.ConstantTimeCompare(state.Secret, digest[:]) != 1 {
		return User{}, ErrNoUser
	}
	accounts.tokens.Store(digest, state.ID)
	return userOf(&state)
}
