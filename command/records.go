package command

import (
	"context"

	"daybook/calendar"
	"daybook/eventstore"
)

// Records reads single records from the store; it keeps decoded records by
// version. It implements query.Records.
type Records struct{ store eventstore.Store }

// NewRecords makes a Records.
func NewRecords(store eventstore.Store) *Records { return &Records{store: store} }

// Load gives records in the order of ids; nil for unknown and deleted ones.
func (r *Records) Load(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	return nil, errNotBuilt
}

// BySlug gives the record of a kind that holds the slug; nil when none does.
func (r *Records) BySlug(ctx context.Context, k calendar.Kind, slug string) (*calendar.Record, error) {
	return nil, errNotBuilt
}

// ByName gives the live records of a kind whose shown name in the language
// equals name, case aside, by id.
func (r *Records) ByName(ctx context.Context, k calendar.Kind, l calendar.Lang, name string) ([]*calendar.Record, error) {
	return nil, errNotBuilt
}

// Head gives the position of the last entry.
func (r *Records) Head(ctx context.Context) (calendar.Position, error) {
	return r.store.Head(ctx)
}
