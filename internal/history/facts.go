package history

import (
	"context"
	"fmt"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
)

// Kept facts take about so many bytes, and one of them factsCost beside its texts.
const (
	factsBytes = 8 << 20
	factsCost  = 320
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

// look gives the facts of records as they are now, nil of one that is unknown. What is
// kept of a version is right as long as that is the present one, in the history of the
// store that it was read in.
func (t *Teller) look(ctx context.Context, ids []calendar.ID) ([]*facts, error) {
	for {
		epoch := t.store.Epoch()
		out, err := t.lookIn(ctx, epoch, ids)
		if err != nil || t.store.Epoch() == epoch { // versions of two histories say nothing of each other
			return out, err
		}
	}
}

func (t *Teller) lookIn(ctx context.Context, epoch uint64, ids []calendar.ID) ([]*facts, error) {
	out := make([]*facts, len(ids))
	var kept, missing []calendar.ID
	var keptAt, missingAt []int
	for i, id := range ids {
		if f, ok := t.facts.Get(epoch, id); ok {
			out[i], kept, keptAt = f, append(kept, id), append(keptAt, i)
		} else {
			missing, missingAt = append(missing, id), append(missingAt, i)
		}
	}
	if len(kept) > 0 {
		versions, err := t.store.Versions(ctx, kept...)
		if err != nil {
			return nil, err
		}
		for i, at := range keptAt {
			if out[at].version != versions[i] {
				t.facts.Drop(kept[i]) // the name of one that was erased goes at once
				out[at], missing, missingAt = nil, append(missing, kept[i]), append(missingAt, at)
			}
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	states, err := t.store.Load(ctx, missing...)
	if err != nil {
		return nil, err
	}
	for i := range states {
		if states[i].Version == 0 {
			continue
		}
		f, err := factsOf(&states[i])
		if err != nil {
			return nil, err
		}
		t.facts.Put(epoch, missing[i], f, factsCost+len(strings.Join(f.texts[:], "")))
		out[missingAt[i]] = f
	}
	return out, nil
}
