// Package past answers what was: single records and lists as of a point in time, and the
// versions of a record that a caller may open. For lists a point is built: a read model in
// memory of the entries that count.
package past

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

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
	// Query are the options of present lists; those of points are the same, but for the
	// moment and the place of the index.
	Query query.Options
	// Memory bounds what all cached points need, and so what one may need, in bytes; 0: 64 MiB.
	Memory int
	// Points bounds the cached points; 0: 4.
	Points int
	// Wait is the longest wait for a point; 0: 30 s.
	Wait time.Duration
	// Idle is how long a point is cached that nobody asks for; 0: 5 minutes.
	Idle time.Duration
	Log  *slog.Logger // nil: slog.Default
}

// Service answers what was. It is safe for concurrent use.
type Service struct {
	store eventstore.Store
	views Viewer
	o     Options

	clients       keylock.Locks[client] // held by requests that wait for points
	anyone, users chan struct{}         // hold one while a point is built, see place
	keys          *otter.Cache[asked, pointKey]

	mu        sync.Mutex
	points    []*point // the one that was asked for last stands last
	buildings map[pointKey]*building
	built     uint64
}

// maxKeys bounds the cached keys of points.
const maxKeys = 1024

// New makes a Service; it starts nothing.
func New(store eventstore.Store, views Viewer, o Options) (*Service, error) {
	switch {
	case store == nil:
		return nil, errors.New("past: a store is required")
	case views == nil:
		return nil, errors.New("past: views are required")
	case o.Memory < 0 || o.Points < 0 || o.Wait < 0 || o.Idle < 0:
		return nil, errors.New("past: an option is negative")
	}
	o.Memory = cmp.Or(o.Memory, 64<<20)
	o.Points = cmp.Or(o.Points, 4)
	o.Wait = cmp.Or(o.Wait, 30*time.Second)
	o.Idle = cmp.Or(o.Idle, 5*time.Minute)
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Query.Now == nil {
		o.Query.Now = time.Now
	}
	return &Service{
		store: store, views: views, o: o, clients: keylock.Locks[client]{AtOnce: maxWaits},
		anyone: make(chan struct{}, 1), users: make(chan struct{}, 1), buildings: map[pointKey]*building{},
		keys: otter.Must(&otter.Options[asked, pointKey]{MaximumSize: maxKeys}),
	}, nil
}

// Stats are figures of a Service.
type Stats struct {
	Points int // that are cached
	Bytes  int // that they need
	Built  uint64
}

// Stats returns the figures of now.
func (s *Service) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{len(s.points), s.bytes(), s.built}
}

// Then is a point in time as answers need it: which entries count, and the moment that
// takes the place of now.
type Then struct {
	eventstore.Point
	Moment time.Time
}

// Resolve returns the moment of a point that has the form of a time or of a position up to
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
