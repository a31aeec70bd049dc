// Package access knows the users of the service: their names, tokens and roles,
// and what the credentials of a request name. Users are records in the event
// store, so every act on them is an entry of the log.
package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/eventstore"
)

// The errors of acts on users.
var (
	ErrNoUser     = errors.New("no such user")
	ErrUserExists = errors.New("user exists")
	ErrBadName    = errors.New("bad user name")
	ErrBadRole    = errors.New("bad role")
)

// tokenPrefix makes tokens easy to recognise, by people and by scanners for
// leaked secrets.
const tokenPrefix = "daybook_"

// tokenBytes is the randomness of a token.
const tokenBytes = 32

// maxName is the longest user name, in characters.
const maxName = 60

// firstAdministrator is the name of the user that EnsureAdministrator makes.
const firstAdministrator = "admin"

// spaceName is the space of the names of users, see calendar.Claims.
const spaceName = "user"

// attempts is how often an act is tried when others change the same user.
const attempts = 10

// Users keeps users as records in the event store: a user has the fields name
// and role, the SHA-256 of its token as secret, and claims both.
type Users struct {
	// Now is the clock of entries, time.Now unless it is set before use.
	Now func() time.Time

	store  eventstore.Store
	tokens sync.Map // SHA-256 of those that were valid → calendar.ID of the user
}

// User is one user.
type User struct {
	ID   calendar.ID   `json:"id"`
	Name string        `json:"name"`
	Role calendar.Role `json:"role"`
	// Active reports whether the user has a token that is valid.
	Active bool `json:"active"`
}

// New makes a Users.
func New(store eventstore.Store) *Users { return &Users{Now: time.Now, store: store} }

// Add makes a user and returns the token, which is shown only here. actor is the
// user who does it, 0 the operator. The error is ErrBadName, ErrBadRole or
// ErrUserExists.
func (accounts *Users) Add(ctx context.Context, name string, role calendar.Role, actor calendar.ID) (User, string, error) {
	token, digest := newToken()
	user, err := accounts.add(ctx, name, role, digest, actor, "user added")
	if err != nil {
		return User{}, "", err
	}
	return user, token, nil
}

// add makes a user, without a token where digest is nil.
func (accounts *Users) add(ctx context.Context, name string, role calendar.Role, digest []byte, actor calendar.ID, reason string) (User, error) {
	if err := checkName(name); err != nil {
		return User{}, err
	}
	if role < calendar.Subscriber || role > calendar.Auditor {
		return User{}, fmt.Errorf("%w: must be subscriber, contributor, author, editor, administrator or auditor", ErrBadRole)
	}
	id, err := accounts.store.NewID(ctx)
	if err == nil {
		err = accounts.append(ctx, eventstore.Epoch{}, nil, calendar.Change{
			Name: userChange(calendar.Created), Kind: calendar.KindUser, ID: id, Home: calendar.LangEN,
			Fields: calendar.Fields{"name": name, "role": role.String()}, Secret: digest,
		}, actor, reason)
	}
	if claimError, ok := errors.AsType[*eventstore.ClaimError](err); ok && claimError.Claim.Space == spaceName {
		err = ErrUserExists
	}
	if err != nil {
		return User{}, fmt.Errorf("add user %q: %w", name, err)
	}
	return User{ID: id, Name: name, Role: role, Active: digest != nil}, nil
}

// Ensure returns the user of a name as a caller. When none exists it makes one
// with the role and without a token, so no one can log in by it until an
// operator gives it one. actor is the user who does it, 0 the operator. The
// error is ErrBadName or ErrBadRole.
func (accounts *Users) Ensure(ctx context.Context, name string, role calendar.Role, actor calendar.ID) (calendar.Caller, error) {
	for count := 1; ; count++ {
		state, err := accounts.byName(ctx, name)
		var user User
		switch {
		case err == nil:
			user, err = userOf(&state)
		case errors.Is(err, ErrNoUser):
			user, err = accounts.add(ctx, name, role, nil, actor, "user named by an import")
		}
		if errors.Is(err, ErrUserExists) && count < attempts {
			continue // another process was first
		}
		return caller(user), err
	}
}

// NewToken gives a user a new token; the old one is withdrawn. The error is
// ErrNoUser for an unknown name.
func (accounts *Users) NewToken(ctx context.Context, name string, actor calendar.ID) (User, string, error) {
	token, digest := newToken()
	user, err := accounts.setToken(ctx, name, digest, actor, "token made")
	if err != nil {
		return User{}, "", fmt.Errorf("new token of user %q: %w", name, err)
	}
	return user, token, nil
}

// Revoke withdraws the token of a user; one without a token stays so. The error
// is ErrNoUser for an unknown name.
func (accounts *Users) Revoke(ctx context.Context, name string, actor calendar.ID) (User, error) {
	user, err := accounts.setToken(ctx, name, []byte{}, actor, "token withdrawn")
	if err != nil {
		return User{}, fmt.Errorf("revoke token of user %q: %w", name, err)
	}
	return user, nil
}

// setToken changes the secret of a user; it tries again when another act came
// first.
func (accounts *Users) setToken(ctx context.Context, name string, digest []byte, actor calendar.ID, reason string) (User, error) {
	for count := 1; ; count++ {
		epoch := accounts.store.Epoch()
		state, err := accounts.byName(ctx, name)
		if err != nil {
			return User{}, err
		}
		record, err := calendar.DecodeRecord(state.Record)
		if err != nil {
			return User{}, err
		}
		err = accounts.append(ctx, epoch, record, calendar.Change{
			Name: userChange(calendar.Updated), Kind: calendar.KindUser, ID: record.ID, Fields: calendar.Fields{}, Secret: digest,
		}, actor, reason)
		if errors.Is(err, eventstore.ErrConflict) && count < attempts {
			continue
		}
		if err != nil {
			return User{}, err
		}
		user, err := userOf(&state)
		user.Active = len(digest) > 0
		return user, err
	}
}

// append writes one change of a user as an entry; epoch is that of the store from
// before it was read.
func (accounts *Users) append(ctx context.Context, epoch eventstore.Epoch, before *calendar.Record, change calendar.Change, actor calendar.ID, reason string) error {
	now := eventstore.Moment(accounts.Now())
	draft, _, err := eventstore.NewDraft(before, change, now)
	if err != nil {
		return err
	}
	return accounts.store.Append(ctx, eventstore.Append{
		Drafts: []eventstore.Draft{draft},
		Time:   now, Actor: actor, Cause: eventstore.Cause{Reason: reason}, Epoch: epoch,
	}).Err
}

// List returns all users by id, without those who were erased.
func (accounts *Users) List(ctx context.Context) ([]User, error) {
	var users []User
	for page, err := range eventstore.Records(ctx, accounts.store, calendar.KindUser) {
		if err != nil {
			return nil, fmt.Errorf("list users: %w", err)
		}
		for i := range page {
			user, err := userOf(&page[i].State)
			if errors.Is(err, ErrNoUser) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("list users: %w", err)
			}
			users = append(users, user)
		}
	}
	return users, nil
}

// EnsureAdministrator makes the first administrator when the store has none yet.
// It is named "admin", or "admin-2" and so on where users of other roles, whom an
// import may have named, have these names. The token is "" when nothing was made.
func (accounts *Users) EnsureAdministrator(ctx context.Context) (name, token string, err error) {
	for count := 1; ; count++ {
		users, err := accounts.List(ctx)
		if err != nil {
			return "", "", fmt.Errorf("look for administrators: %w", err)
		}
		if slices.ContainsFunc(users, func(user User) bool { return user.Role == calendar.Administrator }) {
			return "", "", nil
		}
		if name = firstAdministrator; count > 1 {
			name += "-" + strconv.Itoa(count)
		}
		if _, token, err = accounts.Add(ctx, name, calendar.Administrator, 0); !errors.Is(err, ErrUserExists) {
			return name, token, err
		}
	}
}

// byName returns the state of a user, or ErrNoUser.
func (accounts *Users) byName(ctx context.Context, name string) (eventstore.State, error) {
	if checkName(name) != nil {
		return eventstore.State{}, ErrNoUser
	}
	return accounts.state(ctx, 0, calendar.Claim{Space: spaceName, Key: name})
}

// state returns the state of the user with an id, for 0 of the one who holds a claim, or
// ErrNoUser.
func (accounts *Users) state(ctx context.Context, id calendar.ID, claim calendar.Claim) (none eventstore.State, err error) {
	if id == 0 {
		found, err := accounts.store.Find(ctx, eventstore.Lookup{Claims: []calendar.Claim{claim}})
		if err != nil {
			return none, err
		}
		id = found.Holders[0]
	}
	states, err := accounts.store.Load(ctx, id)
	if err != nil {
		return none, err
	}
	if states[0].Kind != calendar.KindUser {
		return none, ErrNoUser
	}
	return states[0], nil
}

// userOf returns the user of a state, ErrNoUser for one who was erased.
func userOf(state *eventstore.State) (User, error) {
	record, err := calendar.DecodeRecord(state.Record)
	if err != nil {
		return User{}, fmt.Errorf("user %d: %w", state.ID, err)
	}
	if record.Erased {
		return User{}, ErrNoUser
	}
	role, ok := calendar.ParseRole(record.Fields.String("role"))
	if !ok {
		return User{}, fmt.Errorf("user %d: %w %q", record.ID, ErrBadRole, record.Fields.String("role"))
	}
	return User{ID: record.ID, Name: record.Fields.String("name"), Role: role, Active: len(state.Secret) > 0}, nil
}

// checkName reports whether a name can be that of a user: what fits into a Basic
// header and on one line.
func checkName(name string) error {
	switch {
	case name == "" || utf8.RuneCountInString(name) > maxName:
		return fmt.Errorf("%w: must have 1 to %d characters", ErrBadName, maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(letter rune) bool { return !unicode.IsPrint(letter) }):
		return fmt.Errorf("%w: must have printable characters only", ErrBadName)
	case strings.Contains(name, ":"):
		return fmt.Errorf("%w: must not contain a colon", ErrBadName)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("%w: must not begin or end with a space", ErrBadName)
	}
	return nil
}

func userChange(verb string) string { return calendar.KindUser.String() + "." + verb }

func newToken() (token string, digest []byte) {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the program first
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
	hash := sha256.Sum256([]byte(token))
	return token, hash[:]
}

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
