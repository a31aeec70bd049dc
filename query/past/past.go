// Package past answers what was: single records and lists as of a point in time. For lists
// a point is built: a read model in memory of the entries that count.
package past

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/keylock"
	"daybook/internal/history"
	"daybook/internal/param"
	"daybook/query"
)

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
	// Idle is how long points are cached that no one asks for; 0: 5 minutes.
	Idle time.Duration
	Log  *slog.Logger // nil: slog.Default
}

// Service answers what was. It is safe for concurrent use.
type Service struct {
	store   eventstore.Store
	history *history.Reader
	views   *query.Service // makes the views of single records
	options Options

	clients       keylock.Locks[client]   // held by requests that wait for points
	anyone, users chan struct{}           // hold one while a point is built: for everybody, and for callers with credentials
	building      keylock.Locks[pointKey] // held while a point is built

	mu     sync.Mutex
	points []*point    // the one that was asked for last stands last
	idle   *time.Timer // drops them
	built  uint64
}

// New makes a Service; it starts nothing.
func New(store eventstore.Store, reader *history.Reader, views *query.Service, options Options) *Service {
	options.Memory = cmp.Or(options.Memory, 64<<20)
	options.Points = cmp.Or(options.Points, 4)
	options.Wait = cmp.Or(options.Wait, 30*time.Second)
	options.Idle = cmp.Or(options.Idle, 5*time.Minute)
	options.Log = cmp.Or(options.Log, slog.Default())
	options.Query = options.Query.WithDefaults()
	service := &Service{
		store: store, history: reader, views: views, options: options,
		clients: keylock.Locks[client]{AtOnce: maxWaits}, anyone: make(chan struct{}, 1), users: make(chan struct{}, 1),
	}
	service.idle = time.AfterFunc(options.Idle, service.Forget)
	return service
}

// Stats are figures of a Service.
type Stats struct {
	Points int // that are cached
	Bytes  int // that they need
	Built  uint64
}

// Stats returns the figures of now.
func (service *Service) Stats() Stats {
	service.mu.Lock()
	defer service.mu.Unlock()
	return Stats{len(service.points), service.bytes(), service.built}
}

// PointInTime is a point in time as answers need it: which entries count, and the moment that
// takes the place of now.
type PointInTime struct {
	eventstore.Point
	Moment time.Time
}

// Resolve returns the moment of a point that has the form of a time or of a position up to
// the head.
func (service *Service) Resolve(ctx context.Context, point param.Point) (PointInTime, error) {
	if point.Position == 0 {
		return PointInTime{eventstore.Point{Time: point.Time}, point.Time}, nil
	}
	entries, err := service.store.Read(ctx, eventstore.Range{After: uint64(point.Position) - 1, Limit: 1})
	if err != nil {
		return PointInTime{}, err
	}
	if len(entries) == 0 || entries[0].Position != point.Position {
		return PointInTime{}, eventstore.ErrAhead
	}
	return PointInTime{eventstore.Point{Position: point.Position}, entries[0].Time}, nil
}

// Request is a single read of the past.
type Request struct {
	Kind   calendar.Kind
	ID     calendar.ID
	Slug   string // in the place of ID when it is not empty, lower case
	Caller calendar.Caller
	Lang   calendar.Lang
	Embeds query.Embeds
	Point  param.Point
	// FromFirst makes the first open version of a time before it (Accept-Datetime).
	FromFirst bool
}

// Record is what was found.
type Record struct {
	View    query.View
	Version history.Version
	Moment  time.Time
	// Permanent reports that a version was asked for, or given in the place of a time.
	Permanent bool
	// Mementos are the open versions around the one that is shown; of records by id.
	Mementos history.Mementos
}

// Read answers a single read. The order of its errors is that of HISTORY 17: no such
// record, erased, gate now, no such version or none at the point, gate then.
func (service *Service) Read(ctx context.Context, request Request) (*Record, error) {
	var then PointInTime
	var err error
	if request.Point.Version == 0 {
		if then, err = service.Resolve(ctx, request.Point); err != nil {
			return nil, err
		}
	}
	if request.Slug != "" {
		if request.ID, err = eventstore.SlugAt(ctx, service.store, request.Kind, request.Slug, then.Point); err != nil {
			return nil, err
		}
	}
	versions, err := service.history.Versions(ctx, history.Viewer{Caller: request.Caller}, request.Kind, request.ID)
	if err != nil {
		return nil, err
	}
	number := request.Point.Version
	if request.FromFirst {
		first, err := versions.First(ctx)
		if err != nil {
			return nil, err
		}
		if then.Moment.Before(first.Time.Time) {
			number = first.Number
		}
	}
	shown, err := versions.At(ctx, number, then.Point, then.Moment)
	if err != nil {
		return nil, err
	}
	if number > 0 {
		then = PointInTime{eventstore.Point{Position: shown.Position}, shown.Time.Time}
	}
	record := &Record{Version: shown, Moment: then.Moment, Permanent: number > 0}
	record.View, err = service.views.View(ctx, request.Caller, shown.Record, request.Lang, request.Embeds, query.Moment{
		Now: then.Moment,
		Load: func(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
			return versions.Linked(ctx, then.Point, ids)
		},
	})
	if err == nil && request.Slug == "" {
		record.Mementos, err = versions.Around(ctx, shown)
	}
	return record, err
}
