package calendar

import (
	"encoding/json"
	"errors"
	"time"
)

// Stubs that the files of this package replace one by one.
var errNotBuilt = errors.New("not built yet")

var specs [KindUser + 1]*Spec

// ---- aggregate (aggregate.go) ----

// Create decides the change that makes a record. attrs are decoded and resolved.
func Create(k Kind, id ID, a *Attrs, d *Decision) (Change, error) { return Change{}, errNotBuilt }

// Update decides the change of a record; of a trashed post the change that
// restores it.
func Update(r *Record, a *Attrs, d *Decision) (Change, error) { return Change{}, errNotBuilt }

// Trash decides the change that moves a post to the trash; CodeInTrash when it
// is there already.
func Trash(r *Record, d *Decision) (Change, error) { return Change{}, errNotBuilt }

// Delete decides the change that ends a term.
func Delete(r *Record, d *Decision) (Change, error) { return Change{}, errNotBuilt }

// Apply folds a change made at a moment into a record (nil before the first).
// It does not change r.
func Apply(r *Record, c Change, at time.Time) (*Record, error) { return nil, errNotBuilt }

// Claims are all the claims that a record holds: its slug in the space
// "slug/<kind>", the URL of an image in "image".
func Claims(r *Record) []Claim { return nil }

// Names are the names that a record is found by: the lower-case texts of its
// name in the space "name/<kind>", each once; none for deleted records.
func Names(r *Record) []Name { return nil }

// Fold makes the form of a name that names are compared by, case aside.
func Fold(s string) string { return s }

// ---- stored form (encode.go) ----

// EncodeRecord gives the canonical JSON of a record.
func EncodeRecord(r *Record) ([]byte, error) { return nil, errNotBuilt }

// DecodeRecord reads EncodeRecord, and all older stored forms.
func DecodeRecord(b []byte) (*Record, error) { return nil, errNotBuilt }

// EncodeChange gives the canonical JSON of the fields of a change: values by
// name, null for removed ones.
func EncodeChange(c Change) ([]byte, error) { return nil, errNotBuilt }

// DecodeChange reads a stored change by its name.
func DecodeChange(name string, id ID, home Lang, fields json.RawMessage) (Change, error) {
	return Change{}, errNotBuilt
}

// ---- rights (rights.go) ----

// MayWrite tells whether a caller may ever do an act on a kind: create (true)
// or update and delete (false). It answers nil, CodeUnauthorized or
// CodeForbidden.
func MayWrite(c Caller, k Kind, create bool) error { return errNotBuilt }

// MayEdit tells whether a caller may update or delete this record: nil or
// CodeForbidden.
func MayEdit(c Caller, r *Record, now time.Time) error { return errNotBuilt }

// MayRead tells whether a caller may read a post singly, passwords aside; a
// trashed event is read by nobody. Terms are read by all.
func MayRead(c Caller, r *Record, now time.Time) bool { return false }

// NeedsPassword tells whether the event is protected and the caller is none of
// those who need no password.
func NeedsPassword(c Caller, r *Record) bool { return false }

// MayCreateTerm tells whether a caller may make a term of a kind by name.
func MayCreateTerm(c Caller, k Kind) bool { return false }

// ---- messages (messages.go) ----

// Message gives the text of an error in a language.
func (e *Error) Message(l Lang) string { return "" }

// Message gives the text of a refused field in a language: "<field>: …".
func (f FieldError) Message(l Lang) string { return "" }
