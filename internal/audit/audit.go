// Package audit gives the history of records to people and programs: the form
// in which an entry is shown, and the read-only HTTP paths that auditors use.
package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
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

// Users names the caller of a request.
type Users interface {
	Authenticate(ctx context.Context, authorization string) (calendar.Caller, error)
}

// Path is where the audit paths begin; they are not part of the interface.
const Path = "/history"

// The page sizes of the audit paths.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

type handler struct {
	store Store
	users Users
}

// Handler answers, to administrators and auditors:
//
//	GET /history?after=POSITION&limit=N           all entries in order
//	GET /history/KIND/ID?after=VERSION&limit=N    those of one record
//	GET /history/KIND/ID?at=TIME                  the last one up to a moment (RFC 3339)
//
// limit is 1 to 1000, 100 when not sent. "next" is the value of after for the
// next page; it is absent when there is nothing more.
func Handler(store Store, users Users) http.Handler {
	h := &handler{store, users}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path, h.guarded(h.all))
	mux.HandleFunc("GET "+Path+"/{kind}/{id}", h.guarded(h.one))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "not-found", "There is "+Path+" and "+Path+"/KIND/ID, for GET.")
	})
	return mux
}

type page struct {
	Entries []Entry `json:"entries"`
	Next    string  `json:"next,omitempty"`
}

func (h *handler) guarded(next func(http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := h.users.Authenticate(r.Context(), r.Header.Get("Authorization"))
		var e *calendar.Error
		switch {
		case errors.As(err, &e) || err == nil && c.Role == calendar.Anonymous:
			w.Header().Add("WWW-Authenticate", `Basic realm="daybook", charset="UTF-8"`)
			w.Header().Add("WWW-Authenticate", `Bearer realm="daybook"`)
			refuse(w, http.StatusUnauthorized, "unauthorized", "The history needs the token of an auditor or administrator.")
		case err != nil:
			broken(w, err)
		case c.Role != calendar.Auditor && c.Role != calendar.Administrator:
			refuse(w, http.StatusForbidden, "forbidden", "The history is open to auditors and administrators.")
		default:
			next(w, r)
		}
	}
}

func (h *handler) all(w http.ResponseWriter, r *http.Request) {
	after, limit, ok := h.paging(w, r)
	if !ok {
		return
	}
	entries, err := h.store.ReadAll(r.Context(), calendar.Position(after), limit)
	if err != nil {
		broken(w, err)
		return
	}
	p := shown(entries)
	if len(entries) > 0 && eventstore.FullPage(entries, limit) {
		p.Next = entries[len(entries)-1].Position.String()
	}
	answer(w, http.StatusOK, p)
}

func (h *handler) one(w http.ResponseWriter, r *http.Request) {
	kind, known := calendar.ParseKind(r.PathValue("kind"))
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if !known || err != nil || id < 1 {
		refuse(w, http.StatusNotFound, "not-found", "The path is "+Path+"/KIND/ID: a kind as event or venue, an id above 0.")
		return
	}
	after, limit, ok := h.paging(w, r)
	if !ok {
		return
	}
	if at := r.URL.Query().Get("at"); at != "" {
		h.asOf(w, r, kind, calendar.ID(id), at)
		return
	}
	entries, err := h.store.History(r.Context(), calendar.ID(id), after, limit)
	if err != nil {
		broken(w, err)
		return
	}
	if len(entries) == 0 && after == 0 || len(entries) > 0 && entries[0].Kind != kind {
		refuse(w, http.StatusNotFound, "not-found", "No "+kind.String()+" has the id "+strconv.FormatInt(id, 10)+".")
		return
	}
	p := shown(entries)
	if len(entries) > 0 && eventstore.FullPage(entries, limit) {
		p.Next = strconv.FormatInt(entries[len(entries)-1].Version, 10)
	}
	answer(w, http.StatusOK, p)
}

// asOf answers the last entry of a record up to a moment.
func (h *handler) asOf(w http.ResponseWriter, r *http.Request, kind calendar.Kind, id calendar.ID, at string) {
	moment, err := time.Parse(time.RFC3339, at)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid-parameter", "at: must be a moment as 2026-05-01T12:00:00Z")
		return
	}
	var found *eventstore.Entry
	for after := int64(0); ; {
		entries, err := h.store.History(r.Context(), id, after, maxLimit)
		if err != nil {
			broken(w, err)
			return
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
		refuse(w, http.StatusNotFound, "not-found", "There was no such "+kind.String()+" at that moment.")
		return
	}
	answer(w, http.StatusOK, page{Entries: []Entry{Of(found)}})
}

func (h *handler) paging(w http.ResponseWriter, r *http.Request) (after int64, limit int, ok bool) {
	q := r.URL.Query()
	limit = defaultLimit
	var bad []string
	if v := q.Get("after"); v != "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 0 {
			bad = append(bad, "after: must be a whole number from 0")
		}
		after = n
	}
	if v := q.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > maxLimit {
			bad = append(bad, "limit: must be a whole number from 1 to "+strconv.Itoa(maxLimit))
		}
		limit = n
	}
	if len(bad) > 0 {
		refuse(w, http.StatusBadRequest, "invalid-parameter", strings.Join(bad, "; "))
		return 0, 0, false
	}
	return after, limit, true
}

func shown(entries []eventstore.Entry) page {
	p := page{Entries: make([]Entry, len(entries))}
	for i := range entries {
		p.Entries[i] = Of(&entries[i])
	}
	return p
}

func broken(w http.ResponseWriter, err error) {
	if errors.Is(err, eventstore.ErrUnavailable) {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "unavailable", "The event store is out of reach. Try again.")
		return
	}
	refuse(w, http.StatusInternalServerError, "internal", "The service made a mistake.")
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	answer(w, status, map[string]any{"code": code, "message": message, "data": map[string]int{"status": status}})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store, private")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
}
