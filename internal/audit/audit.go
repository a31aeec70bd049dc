// Package audit gives the history of records to people and programs: the form
// in which an entry is shown, and the read-only HTTP paths that auditors use.
package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// Entry is an entry as export, history and the audit paths show it.
type Entry struct {
	Position calendar.Position `json:"position"`
	Kind     string            `json:"kind"`
	ID       calendar.ID       `json:"id"`
	Version  int64             `json:"version"`
	Time     time.Time         `json:"time"`
	Actor    calendar.ID       `json:"actor"` // user, 0 the service itself
	Cause    eventstore.Cause  `json:"cause"`
	Change   string            `json:"change"`
	Fields   json.RawMessage   `json:"fields"` // what changed
	State    json.RawMessage   `json:"state"`  // the record after it
	// SecretSum is the SHA-256 of the secret that the change set, in hexadecimal:
	// the form in which it takes part in the leaf of the entry.
	SecretSum string `json:"secret_sha256,omitempty"`
}

// Of gives an entry without its secret.
func Of(e *eventstore.Entry) Entry {
	return Entry{
		Position: e.Position, Kind: e.Kind.String(), ID: e.ID, Version: e.Version, Time: e.Time, Actor: e.Actor,
		Cause: e.Cause, Change: e.Change, Fields: e.Fields, State: e.State,
	}
}

// Whole gives all that the leaf of an entry is made from, so that a copy of the
// log can be checked against the chain. Hashes of passwords and tokens are not
// in it.
func Whole(e *eventstore.Entry) Entry {
	x := Of(e)
	if e.Secret != nil {
		sum := sha256.Sum256(e.Secret)
		x.SecretSum = hex.EncodeToString(sum[:])
	}
	return x
}

// Store is what the audit paths read.
type Store interface {
	History(ctx context.Context, id calendar.ID, after int64, limit int) ([]eventstore.Entry, error)
	ReadAll(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error)
	Head(ctx context.Context) (calendar.Position, error)
}

// Path is where the audit paths begin; they are not part of the interface.
const Path = "/history"

// The page sizes of the audit paths.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Handler gives the answers, to administrators and auditors, to
//
//	GET /history?after=POSITION&limit=N           all entries in order
//	GET /history/KIND/ID?after=VERSION&limit=N    those of one record
//	GET /history/KIND/ID?at=TIME                  the last one up to a moment (RFC 3339)
//
// limit is 1 to 1000, 100 when not sent. "next" is the value of after for the
// next page; it is absent when there is nothing more. The errors are *calendar.Error and
// those of the store.
func Handler(store Store) func(*http.Request, calendar.Caller) (status int, body any, err error) {
	return func(r *http.Request, c calendar.Caller) (int, any, error) {
		switch c.Role {
		case calendar.Auditor, calendar.Administrator:
		case calendar.Anonymous:
			return 0, nil, calendar.Fail(calendar.CodeUnauthorized, 0)
		default:
			return 0, nil, calendar.Fail(calendar.CodeForbidden, 0)
		}
		p, err := read(r, store)
		return http.StatusOK, p, err
	}
}

type page struct {
	Entries []Entry `json:"entries"`
	Next    string  `json:"next,omitempty"`
}

// read answers a request of who may ask.
func read(r *http.Request, store Store) (page, error) {
	q := r.URL.Query()
	after, limit, err := paging(q)
	if err != nil {
		return page{}, err
	}
	if r.URL.Path == Path {
		entries, err := store.ReadAll(r.Context(), calendar.Position(after), limit)
		return shown(entries, limit, func(e *eventstore.Entry) string { return e.Position.String() }), err
	}
	name, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Path+"/"), "/")
	kind, known := calendar.ParseKind(name)
	id, err := strconv.ParseInt(number, 10, 64)
	if !known || err != nil || id < 1 {
		return page{}, calendar.Fail(calendar.CodeNoRoute, 0)
	}
	if at := q.Get("at"); at != "" {
		return asOf(r.Context(), store, kind, calendar.ID(id), at)
	}
	entries, err := store.History(r.Context(), calendar.ID(id), after, limit)
	if err == nil && (len(entries) == 0 && after == 0 || len(entries) > 0 && entries[0].Kind != kind) {
		err = calendar.Fail(calendar.CodeNotFound, kind)
	}
	return shown(entries, limit, func(e *eventstore.Entry) string { return strconv.FormatInt(e.Version, 10) }), err
}

// asOf gives the last entry of a record up to a moment.
func asOf(ctx context.Context, store Store, kind calendar.Kind, id calendar.ID, at string) (page, error) {
	moment, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return page{}, invalid(calendar.FieldError{Field: "at", Reason: calendar.ReasonDate})
	}
	var found *eventstore.Entry
	for after := int64(0); ; {
		entries, err := store.History(ctx, id, after, maxLimit)
		if err != nil {
			return page{}, err
		}
		for i := range entries {
			if e := &entries[i]; e.Kind == kind && !e.Time.After(moment) {
				found = e
			}
			after = entries[i].Version
		}
		if len(entries) == 0 {
			break
		}
	}
	if found == nil {
		return page{}, calendar.Fail(calendar.CodeNotFound, kind)
	}
	return page{Entries: []Entry{Of(found)}}, nil
}

func paging(q url.Values) (after int64, limit int, err error) {
	limit = defaultLimit
	var bad []calendar.FieldError
	if v := q.Get("after"); v != "" {
		if after, err = strconv.ParseInt(v, 10, 64); err != nil || after < 0 {
			bad = append(bad, calendar.FieldError{Field: "after", Reason: calendar.ReasonTypeInteger})
		}
	}
	if v := q.Get("limit"); v != "" {
		if limit, err = strconv.Atoi(v); err != nil || limit < 1 || limit > maxLimit {
			bad = append(bad, calendar.FieldError{Field: "limit", Reason: calendar.ReasonRange, Args: []string{"1", strconv.Itoa(maxLimit)}})
		}
	}
	return after, limit, invalid(bad...)
}

// invalid refuses fields; nil for none.
func invalid(bad ...calendar.FieldError) error {
	if len(bad) == 0 {
		return nil
	}
	return &calendar.Error{Code: calendar.CodeInvalidParam, Fields: bad}
}

// shown makes a page of entries; next names the last one of a full page.
func shown(entries []eventstore.Entry, limit int, next func(*eventstore.Entry) string) page {
	p := page{Entries: make([]Entry, len(entries))}
	for i := range entries {
		p.Entries[i] = Of(&entries[i])
	}
	if len(entries) > 0 && eventstore.FullPage(entries, limit) {
		p.Next = next(&entries[len(entries)-1])
	}
	return p
}
