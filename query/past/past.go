// Package past answers what was: single records and lists as of a point in time, and the
// versions of a record that a caller may open. Lists are made by images: the memory image
// of the read model, filled with the entries that count at the point.
package past

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/keylock"
	"daybook/internal/history"
	"daybook/query"
)

// Viewer makes the view of a record with what it embeds; query.Service is one.
type Viewer interface {
	View(ctx context.Context, c calendar.Caller, r *calendar.Record, l calendar.Lang, e query.Embeds, m query.Moment) (query.View, error)
}

// Options of a Service; the zero value works.
type Options struct {
	// Query are the options of present lists; those of images are the same, but for the
	// moment and the place of the index.
	Query query.Options
	// Records bounds the records in all kept images, and so in one; 0: 100,000.
	Records int
	// Images bounds the kept images; 0: 4.
	Images int
	// Wait is the longest wait for an image; 0: 30 s.
	Wait time.Duration
	// Idle is how long an image is kept that nobody asks for; 0: 5 minutes.
	Idle time.Duration
	Log  *slog.Logger // nil: slog.Default
}

// ErrMoved says that an image went over to other entries meanwhile: the list is asked for
// anew.
var ErrMoved = errors.New("the image of the past went over to other entries")

// Service answers what was. Single records are answered without Run; images are filled
// by it. It is safe for concurrent use.
type Service struct {
	store eventstore.Store
	views Viewer
	o     Options

	counted countedCache

	mu      sync.Mutex
	images  []*image   // kept, and asked for lately
	wanted  []*filling // in the order in which they were asked for
	refused map[refusedKey]bool
	// wake hold one when there may be something to fill: for everybody, and for callers with
	// credentials.
	wake [2]chan struct{}

	clients keylock.Locks[client] // held by requests that wait for what is filled

	filled, advanced uint64
}

// New makes a Service; it starts nothing.
func New(store eventstore.Store, views Viewer, o Options) (*Service, error) {
	switch {
	case store == nil:
		return nil, errors.New("past: a store is required")
	case views == nil:
		return nil, errors.New("past: views are required")
	case o.Records < 0 || o.Images < 0 || o.Wait < 0 || o.Idle < 0:
		return nil, errors.New("past: an option is negative")
	}
	if o.Records == 0 {
		o.Records = 100_000
	}
	if o.Images == 0 {
		o.Images = 4
	}
	if o.Wait == 0 {
		o.Wait = 30 * time.Second
	}
	if o.Idle == 0 {
		o.Idle = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Query.Now == nil {
		o.Query.Now = time.Now
	}
	return &Service{
		store: store, views: views, o: o, refused: map[refusedKey]bool{},
		wake: [2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}, clients: keylock.Locks[client]{AtOnce: maxWaits},
	}, nil
}

// Stats are figures of a Service.
type Stats struct {
	Images  int   // that are kept
	Records int64 // in all of them
	// Filled are the images that were made from the log, Advanced those that were made of
	// another one and the entries behind it.
	Filled, Advanced uint64
}

// Stats gives the figures of now.
func (s *Service) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Stats{Images: len(s.images), Filled: s.filled, Advanced: s.advanced}
	for _, m := range s.images {
		out.Records += m.size.Load()
	}
	return out
}

// Then is a point in time as answers need it: which entries count, and the moment that
// takes the place of now.
type Then struct {
	eventstore.Point
	Moment time.Time
}

// Resolve gives the moment of a point that has the form of a time or of a position up to
// the head.
func (s *Service) Resolve(ctx context.Context, p history.Point) (Then, error) {
	if p.Form == history.ByTime {
		return Then{eventstore.Point{Time: p.Time}, p.Time}, nil
	}
	entries, err := s.store.Read(ctx, eventstore.Range{After: uint64(p.Position) - 1, Limit: 1})
	if err != nil {
		return Then{}, err
	}
	if len(entries) == 0 || entries[0].Position != p.Position {
		return Then{}, eventstore.ErrAhead
	}
	return Then{eventstore.Point{Position: p.Position}, entries[0].Time}, nil
}

// countedCache holds what counts at a few points: at a time while nothing is appended, at
// a position for good. Finding it may cost a look at many entries.
type countedCache struct {
	mu    sync.Mutex
	epoch eventstore.Epoch
	head  calendar.Position
	of    map[eventstore.Point]imageKey
}

const maxCounted = 1024

// get returns what counts at a point while the log ends at head, if it is known.
func (k *countedCache) get(p eventstore.Point, epoch eventstore.Epoch, head calendar.Position) (imageKey, bool) {
	p.Time = p.Time.UTC()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.epoch != epoch || len(k.of) >= maxCounted {
		k.epoch, k.of = epoch, map[eventstore.Point]imageKey{}
	}
	if k.head != head {
		k.head = head
		maps.DeleteFunc(k.of, func(p eventstore.Point, _ imageKey) bool { return p.Position == 0 })
	}
	c, known := k.of[p]
	return c, known
}

// countedAt returns what counts at a point, and a position that all of it was seen after.
func (s *Service) countedAt(ctx context.Context, p eventstore.Point) (imageKey, calendar.Position, error) {
	p.Time = p.Time.UTC()
	epoch := s.store.Epoch()
	head, err := s.store.Head(ctx, eventstore.Point{})
	if err != nil {
		return imageKey{}, 0, err
	}
	k := &s.counted
	c, known := k.get(p, epoch, head.Position)
	if known {
		return c, head.Position, nil
	}
	at, err := s.store.Head(ctx, p)
	if err != nil {
		return c, 0, err
	}
	c = imageKey{at.Position, at.Time.UTC()}
	if now, err := s.store.Head(ctx, eventstore.Point{}); err == nil && now.Position == head.Position {
		k.mu.Lock()
		if k.epoch == epoch && k.head == head.Position {
			k.of[p] = c
		}
		k.mu.Unlock()
	}
	return c, head.Position, nil
}
