package memstore

import (
	"context"
	"fmt"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// Erase does eventstore.Eraser.
func (s *Store) Erase(ctx context.Context, e eventstore.Erasure) eventstore.Result {
	if err := e.Check(); err != nil {
		return eventstore.Result{Err: err}
	}
	if err := ctx.Err(); err != nil {
		return eventstore.Result{Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return eventstore.Result{Err: eventstore.ErrClosed}
	}
	all := e.All()
	var appends []eventstore.Append
	var ids []calendar.ID
	for i := range all {
		r := s.records[all[i].ID]
		if r == nil || r.Kind != all[i].Kind {
			return eventstore.Result{Err: fmt.Errorf("erase %s %d: %w", all[i].Kind, all[i].ID, eventstore.ErrNotFound)}
		}
		if ids = append(ids, r.ID); !r.Erased {
			appends = append(appends, all[i].Append())
		}
	}
	if len(appends) > 0 {
		l := toLog(appends...)
		l.erased = ids
		if res := s.decide(l, s.Epoch()); res.Err != nil {
			return res
		}
		s.signal.Move(calendar.Position(len(s.entries)))
	}
	for _, id := range ids {
		s.redact(id)
	}
	return eventstore.Result{Position: s.records[e.ID].Position}
}

// redact takes away what is left of a record whose last entry erased it.
func (s *Store) redact(id calendar.ID) {
	r := s.records[id]
	for _, at := range r.entries[:len(r.entries)-1] {
		if e := &s.entries[at]; e.Redacted == nil {
			e.Redact(r.Position)
		}
	}
	s.slugs = slices.DeleteFunc(slices.Clone(s.slugs), func(t eventstore.SlugTaken) bool { return t.Record == id })
	s.erased = append(s.erased, id)
	for _, receipt := range s.receipts {
		s.keep(receipt)
	}
}

// keep keeps a receipt, without an answer that names an erased record.
func (s *Store) keep(r *eventstore.Receipt) {
	if r != nil && slices.ContainsFunc(s.erased, func(id calendar.ID) bool { return r.Record == id || eventstore.NamesID(r.Answer, id) }) {
		without := *r
		without.Answer = nil
		r = &without
	}
	s.receipts[r.Name()] = r
}
