package history

import (
	"context"
	"fmt"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
)

// Cached facts take about factsBytes, and those of one record factsSize besides its texts.
const (
	factsBytes = 8 << 20
	factsSize  = 320
)

// facts are what the past asks of the present state of a record: the gate now and the
// name. A page of a large log asks for those of many records, and they are a small part of
// the states.
type facts struct {
	kind                       calendar.Kind
	version                    int64
	position                   calendar.Position
	deleted, erased, protected bool
	status                     string
	published                  calendar.Wall // UTC
	author                     calendar.ID
	home                       calendar.Lang
	texts                      calendar.Text // the name; of users in the home language
}

func factsOf(s *eventstore.State) (*facts, error) {
	r, err := calendar.DecodeRecord(s.Record)
	if err != nil {
		return nil, fmt.Errorf("decode %s %d at version %d: %w", s.Kind, s.ID, s.Version, err)
	}
	f := &facts{
		kind: s.Kind, version: s.Version, position: s.Position, deleted: r.Deleted, erased: r.Erased,
		protected: r.Fields.Bool("protected"), status: strings.Clone(r.Fields.String("status")), published: r.Fields.Wall("date_utc"),
		author: r.Author(), home: r.Home,
	}
	if f.kind == calendar.KindUser {
		f.texts[f.home] = r.Fields.String("name")
	} else {
		f.texts = r.Fields.Text(f.kind.NameField())
	}
	for l := range f.texts { // they lie in the JSON of the whole record
		f.texts[l] = strings.Clone(f.texts[l])
	}
	return f, nil
}

// record is as much of the record as gates look at.
func (f *facts) record() *calendar.Record {
	return &calendar.Record{Kind: f.kind, Deleted: f.deleted, Erased: f.erased, Fields: calendar.Fields{
		"status": f.status, "date_utc": f.published, "author": f.author, "protected": f.protected,
	}}
}

// size returns about how many bytes the facts take.
func (f *facts) size() int { return factsSize + len(strings.Join(f.texts[:], "")) }

// look returns the facts of records as they are now, nil of one that is unknown.
func (t *Teller) look(ctx context.Context, ids []calendar.ID) ([]*facts, error) {
	for {
		epoch := t.store.Epoch()
		states, err := t.store.Load(ctx, ids...)
		if err != nil {
			return nil, err
		}
		if t.store.Epoch().History != epoch.History { // versions of two histories say nothing of each other
			continue
		}
		out := make([]*facts, len(ids))
		for i := range states {
			s := &states[i]
			if s.Version == 0 {
				continue
			}
			if f, ok := t.facts.Get(epoch, s.ID); ok && f.version == s.Version {
				out[i] = f
				continue
			}
			if out[i], err = factsOf(s); err != nil {
				return nil, err
			}
			t.facts.Put(epoch, s.ID, out[i])
		}
		return out, nil
	}
}
