package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
)

// pointed gives the statement and the argument of a point: one for positions, one for
// times.
func pointed(p eventstore.Point, position, moment string) (string, int64) {
	if p.Position > 0 {
		return position, number(p.Position)
	}
	return moment, p.Time.UnixMilli()
}

// At does eventstore.Past.
func (s *Store) At(ctx context.Context, p eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := s.usable(ctx); err != nil || len(ids) == 0 {
		return nil, err
	}
	query, at := pointed(p, s.q.atPosition, s.q.atTime)
	found, err := all(ctx, s, scanEntry, query, at, numbersOf(ids))
	if err != nil {
		return nil, wrap(err, "past of records %d", ids)
	}
	byID := make(map[calendar.ID]*eventstore.Entry, len(found))
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	out := make([]eventstore.Entry, len(ids))
	for i, id := range ids {
		if e := byID[id]; e != nil {
			out[i] = *e
		}
	}
	return out, nil
}

// Counted does eventstore.Past.
func (s *Store) Counted(ctx context.Context, p eventstore.Point) (eventstore.Counted, error) {
	if err := p.Check(); err != nil {
		return eventstore.Counted{}, err
	}
	query, at := pointed(p, s.q.countedTo, s.q.countedUntil)
	found, err := all(ctx, s, func(r pgx.CollectableRow) (c eventstore.Counted, err error) {
		var millis int64
		err = r.Scan(&c.Position, &millis)
		c.Time = time.UnixMilli(millis).UTC()
		return c, err
	}, query, at)
	switch {
	case err != nil:
		return eventstore.Counted{}, wrap(err, "look what counts")
	case len(found) > 0:
		return found[0], nil
	case p.Position > 0:
		return eventstore.Counted{}, eventstore.ErrAhead
	default:
		return eventstore.Counted{}, nil
	}
}

// SlugAt does eventstore.Past.
func (s *Store) SlugAt(ctx context.Context, kind calendar.Kind, slug string, p eventstore.Point) (calendar.ID, error) {
	if err := p.Check(); err != nil {
		return 0, err
	}
	query, at := pointed(p, s.q.slugAtPosition, s.q.slugAtTime)
	digest := slugDigest(kind, slug)
	// States that may have it: what else their JSON says is looked at here.
	inside := []byte(`"slug":`)
	if plain(slug) {
		inside = append(append(append(inside, '"'), slug...), '"')
	}
	found, err := all(ctx, s, scanEntry, query, at, digest[:], kind.String(), slug, inside)
	if err != nil {
		return 0, wrap(err, "record of slug %q", slug)
	}
	for i := range found {
		has, err := found[i].HasSlug(slug)
		if err != nil {
			return 0, err
		}
		if has {
			return found[i].ID, nil
		}
	}
	return 0, nil
}

// Takings returns who took a slug with which entry, the last one first.
func (s *Store) Takings(ctx context.Context, kind calendar.Kind, slug string) ([]eventstore.SlugTaken, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	digest := slugDigest(kind, slug)
	out, err := all(ctx, s, func(r pgx.CollectableRow) (t eventstore.SlugTaken, err error) {
		return t, r.Scan(&t.Record, &t.Position)
	}, s.q.slugTakings, digest[:], kind.String(), slug)
	return out, wrap(err, "who had slug %q", slug)
}

// Former does eventstore.Past.
func (s *Store) Former(ctx context.Context, kind calendar.Kind, slug string) ([]calendar.ID, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	digest := slugDigest(kind, slug)
	out, err := all(ctx, s, pgx.RowTo[calendar.ID], s.q.former, digest[:], kind.String(), slug, eventstore.MaxFormer)
	return out, wrap(err, "who had slug %q", slug)
}

// plain tells whether a text is in JSON as it is.
func plain(s string) bool {
	text, err := json.Marshal(s)
	return err == nil && string(text) == `"`+s+`"`
}

// scanCheckpoint reads a checkpoint.
func scanCheckpoint(r pgx.CollectableRow) (c eventstore.Checkpoint, err error) {
	var millis int64
	err = r.Scan(&c.Size, &c.Origin, &c.Note, &millis, &c.Keys)
	c.Time = time.UnixMilli(millis).UTC()
	return c, err
}

// Checkpoint does eventstore.Checkpoints.
func (s *Store) Checkpoint(ctx context.Context, size calendar.Position) (eventstore.Checkpoint, error) {
	found, err := s.checkpoint(ctx, size)
	switch {
	case err != nil:
		return eventstore.Checkpoint{}, err
	case found == nil:
		return eventstore.Checkpoint{}, eventstore.ErrNotFound
	default:
		return *found, nil
	}
}

// checkpoint gives the one of a size, of 0 the newest, nil for none.
func (s *Store) checkpoint(ctx context.Context, size calendar.Position) (*eventstore.Checkpoint, error) {
	found, err := all(ctx, s, scanCheckpoint, s.q.checkpoint, number(size))
	if err != nil || len(found) == 0 {
		return nil, wrap(err, "checkpoint of size %d", size)
	}
	return &found[0], nil
}

// Checkpoints does eventstore.Checkpoints.
func (s *Store) Checkpoints(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Checkpoint, error) {
	out, err := all(ctx, s, scanCheckpoint, s.q.checkpoints, number(after), max(limit, 0))
	return out, wrap(err, "checkpoints after %d", after)
}

// PutCheckpoint does eventstore.Checkpoints. Others may put theirs meanwhile: then it
// looks again.
func (s *Store) PutCheckpoint(ctx context.Context, c eventstore.Checkpoint) error {
	if err := c.Check(); err != nil {
		return err
	}
	for {
		head, err := s.Head(ctx)
		if err != nil {
			return err
		}
		if c.Size > head {
			return eventstore.ErrAhead
		}
		newest, err := s.checkpoint(ctx, 0)
		if err != nil {
			return err
		}
		same, err := s.checkpoint(ctx, c.Size)
		if err != nil {
			return err
		}
		gains, err := c.Follows(newest, same)
		if err != nil || !gains {
			return err
		}
		var known []byte
		if same != nil {
			known = same.Note
		}
		var put bool
		err = s.use(ctx, s.o.ReadTimeout, func(ctx context.Context, conn *pgx.Conn) error {
			return heard(conn, func() error {
				return conn.QueryRow(ctx, s.q.putCheckpoint, number(c.Size), c.Origin, c.Note, c.Time.UnixMilli(), c.Keys, known).Scan(&put)
			})
		})
		if err != nil || put {
			return wrap(err, "put checkpoint of size %d", c.Size)
		}
	}
}

// Erase does eventstore.Eraser. It has no limit of time but that of ctx: appends wait
// meanwhile, a few seconds for a record of 100,000 versions.
func (s *Store) Erase(ctx context.Context, e eventstore.Erasure) eventstore.Result {
	if err := e.Check(); err != nil {
		return eventstore.Result{Err: err}
	}
	if err := s.usable(ctx); err != nil {
		return eventstore.Result{Err: err}
	}
	position, err := s.erase(ctx, e.All())
	if err != nil {
		return eventstore.Result{Err: wrap(err, "erase %s %d", e.Kind, e.ID)}
	}
	return eventstore.Result{Position: position}
}

func (s *Store) erase(ctx context.Context, all []eventstore.Erasure) (calendar.Position, error) {
	ids := make([]int64, len(all))
	for i := range all {
		ids[i] = int64(all[i].ID)
	}
	done, err := s.erased(ctx, ids)
	if err != nil {
		return 0, err
	}
	var items []*item
	for i := range all {
		switch last, there := done[all[i].ID]; {
		case !there || last.kind != all[i].Kind:
			return 0, eventstore.ErrNotFound
		case last.erased: // no change follows it
			continue
		}
		a := all[i].Append()
		it, err := newItem(&a)
		if err != nil {
			return 0, err
		}
		it.result = &eventstore.Result{}
		items = append(items, it)
	}
	lost, err := s.writeAnd(ctx, items, false, func(tx pgx.Tx, results []eventstore.Result) error {
		for i := range results {
			if results[i].Err != nil {
				return results[i].Err
			}
		}
		_, err := tx.Exec(ctx, s.q.erase, ids)
		return err
	})
	if err != nil {
		return 0, s.fault(ctx, err, lost)
	}
	if first := done[all[0].ID]; first.erased {
		return first.position, nil
	}
	return items[0].result.Position, nil
}

// lastOf is the last entry of a record.
type lastOf struct {
	kind     calendar.Kind
	position calendar.Position
	erased   bool
}

func (s *Store) erased(ctx context.Context, ids []int64) (map[calendar.ID]lastOf, error) {
	out := map[calendar.ID]lastOf{}
	_, err := all(ctx, s, func(r pgx.CollectableRow) (struct{}, error) {
		var (
			id           calendar.ID
			kind, change string
			last         lastOf
		)
		if err := r.Scan(&id, &kind, &change, &last.position); err != nil {
			return struct{}{}, err
		}
		var err error
		last.kind, err = parseKind(kind)
		last.erased = change == eventstore.ErasedChange(last.kind)
		out[id] = last
		return struct{}{}, err
	}, s.q.erased, ids)
	return out, err
}
