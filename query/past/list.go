package past

import (
	"context"
	"errors"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/query"
)

// errTooLarge says that an image would have more records than Options.Records.
var errTooLarge = errors.New("too many records for an image")

// List answers lists as of one point for one caller.
type List struct {
	image   *image
	key     imageKey
	queries *query.Service
	past    query.Past
}

// List gives the lists of a point, once there is an image of it: *calendar.Error with
// CodeAsOfTooLarge, or with CodeAsOfNotReady after the longest wait, while it goes on being
// filled.
func (s *Service) List(ctx context.Context, c calendar.Caller, then Then, asOf string) (*List, error) {
	wait, cancel := context.WithTimeout(ctx, s.o.Wait)
	defer cancel()
	for {
		m, key, err := s.imageAt(wait, then.Point)
		switch {
		case errors.Is(err, ErrMoved):
			continue
		case errors.Is(err, errTooLarge):
			return nil, &calendar.Error{Code: calendar.CodeAsOfTooLarge, Limit: s.o.Records}
		case err != nil && ctx.Err() == nil && errors.Is(wait.Err(), context.DeadlineExceeded):
			return nil, calendar.Fail(calendar.CodeAsOfNotReady, 0)
		case err != nil:
			return nil, err
		}
		q, err := m.queries(then.Moment)
		if err != nil {
			return nil, err
		}
		l := &List{image: m, key: key, queries: q, past: query.Past{AsOf: asOf, Now: then.Moment}}
		m.mu.RLock()
		l.past.Withdrawn = m.withdrawnFrom(c)
		m.mu.RUnlock()
		return l, nil
	}
}

// held holds the image while what it answers is of its entries, or gives ErrMoved.
func (l *List) held() (release func(), err error) {
	l.image.mu.RLock()
	if *l.image.key.Load() != l.key || l.image.gone.Load() {
		l.image.mu.RUnlock()
		return nil, ErrMoved
	}
	return l.image.mu.RUnlock, nil
}

// Parse is query.Service.Parse as of the point; ErrMoved says that List is asked anew.
func (l *List) Parse(ctx context.Context, r query.Request) (*query.Criteria, error) {
	release, err := l.held()
	if err != nil {
		return nil, err
	}
	defer release()
	r.Past = l.past
	return l.queries.Parse(ctx, r)
}

// Generation names the entries that lists are made from.
func (l *List) Generation(ctx context.Context) (query.Generation, error) {
	release, err := l.held()
	if err != nil {
		return query.Generation{}, err
	}
	defer release()
	return l.queries.Generation(ctx)
}

// Run is query.Service.Run as of the point; ErrMoved as in Parse.
func (l *List) Run(ctx context.Context, c *query.Criteria) (*query.List, error) {
	release, err := l.held()
	if err != nil {
		return nil, err
	}
	defer release()
	return l.queries.Run(ctx, c)
}

// refusedKey names what would be too large an image, in an epoch of the store.
type refusedKey struct {
	imageKey
	epoch uint64
}

// filling is an image that is wanted.
type filling struct {
	refusedKey
	seen    calendar.Position
	timed   bool          // a time wants it; under mu of the Service, as waiting
	waiting int           // requests
	asked   time.Time     // for the last time; as timed
	done    chan struct{} // closed when image or err is there
	image   *image
	err     error
}

// imageAt gives the image of a point as far as the log goes now.
func (s *Service) imageAt(ctx context.Context, p eventstore.Point) (*image, imageKey, error) {
	epoch := s.store.Epoch()
	key, head, err := s.countedAt(ctx, p)
	if err != nil {
		return nil, key, err
	}
	timed := p.Position == 0
	m, f, err := s.find(key, timed, epoch, head)
	if err != nil {
		return nil, key, err
	}
	if f != nil {
		select {
		case <-f.done:
		case <-ctx.Done():
		}
		s.mu.Lock()
		f.waiting--
		s.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return nil, key, err
		}
		if f.err != nil {
			return nil, key, f.err
		}
		m = f.image
	}
	if err := m.follow(ctx, head); err != nil {
		return nil, key, err
	}
	if *m.key.Load() != key || m.gone.Load() {
		return nil, key, ErrMoved
	}
	return m, key, nil
}

// find gives the image of a key, or the filling that makes it.
func (s *Service) find(key imageKey, timed bool, epoch uint64, head calendar.Position) (*image, *filling, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images = slices.DeleteFunc(s.images, func(m *image) bool { return m.dropIf(m.epoch != epoch) })
	for _, m := range s.images {
		if *m.key.Load() == key {
			if timed {
				m.timed.Store(true)
			}
			m.used = s.o.Query.Now()
			return m, nil, nil
		}
	}
	if s.refused[refusedKey{key, epoch}] {
		return nil, nil, errTooLarge
	}
	at := slices.IndexFunc(s.wanted, func(f *filling) bool { return f.refusedKey == refusedKey{key, epoch} })
	if at < 0 {
		at = len(s.wanted)
		s.wanted = append(s.wanted, &filling{refusedKey: refusedKey{key, epoch}, seen: head, done: make(chan struct{})})
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	f := s.wanted[at]
	f.waiting++
	f.asked = s.o.Query.Now()
	f.timed = f.timed || timed
	return nil, f, nil
}

// dropIf marks an image that nobody may use any more.
func (m *image) dropIf(yes bool) bool {
	if yes {
		m.gone.Store(true)
	}
	return yes
}

// drop lets go of an image.
func (s *Service) drop(old *image) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images = slices.DeleteFunc(s.images, func(m *image) bool { return m.dropIf(m == old) })
}

// makeRoom drops the images that were not asked for longest, so that some more records
// fit.
func (s *Service) makeRoom(records int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fit(records, 1)
}

// fit keeps the images that were asked for last and have room beside others. It is called
// under mu.
func (s *Service) fit(records int64, images int) {
	slices.SortFunc(s.images, func(a, b *image) int { return b.used.Compare(a.used) })
	kept := s.images[:0]
	for _, m := range s.images {
		n := m.size.Load()
		if m.dropIf(images >= s.o.Images || records+n > int64(s.o.Records)) {
			continue
		}
		records, images = records+n, images+1
		kept = append(kept, m)
	}
	clear(s.images[len(kept):])
	s.images = kept
}

// followEvery is how often images read what is new while nobody asks.
const followEvery = 5 * time.Second

// Run fills the images that are wanted, one at a time, keeps the others up to date, and
// drops those that nobody asks for, until the context ends.
func (s *Service) Run(ctx context.Context) error {
	for {
		turn, cancel := context.WithTimeout(ctx, followEvery)
		select {
		case <-s.wake:
		case <-turn.Done():
		}
		cancel()
		if ctx.Err() != nil {
			s.dropAll()
			return ctx.Err()
		}
		for f := s.next(); f != nil; f = s.next() {
			s.make(ctx, f)
		}
		s.tend(ctx)
	}
}

// next gives the first filling that somebody waits for, or was told lately to come again
// for; it stays among the wanted ones until it is made.
func (s *Service) next() *filling {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Query.Now()
	s.wanted = slices.DeleteFunc(s.wanted, func(f *filling) bool { return f.waiting == 0 && now.Sub(f.asked) >= 2*s.o.Wait })
	if len(s.wanted) == 0 {
		return nil
	}
	return s.wanted[0]
}

// mostRefused bounds the keys of images that were too large.
const mostRefused = 1024

// make fills an image for those who wait.
func (s *Service) make(ctx context.Context, f *filling) {
	f.image, f.err = s.fill(ctx, f)
	if f.err == nil && s.store.Epoch() != f.epoch {
		f.err = ErrMoved
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(f.done)
	s.wanted = slices.DeleteFunc(s.wanted, func(w *filling) bool { return w == f })
	switch {
	case errors.Is(f.err, errTooLarge):
		if len(s.refused) >= mostRefused {
			clear(s.refused)
		}
		s.refused[f.refusedKey] = true
	case f.err != nil:
		if ctx.Err() == nil && !errors.Is(f.err, ErrMoved) {
			s.o.Log.WarnContext(ctx, "image of the past not filled", "error", f.err)
		}
	default:
		s.filled++
		f.image.used = s.o.Query.Now()
		f.image.timed.Store(f.timed)
		s.fit(f.image.size.Load(), 1)
		s.images = append(s.images, f.image)
	}
}

// tend lets go of images that nobody asks for, and has the others read what is new.
func (s *Service) tend(ctx context.Context) {
	s.mu.Lock()
	now := s.o.Query.Now()
	s.images = slices.DeleteFunc(s.images, func(m *image) bool { return m.dropIf(now.Sub(m.used) >= s.o.Idle) })
	images := slices.Clone(s.images)
	s.mu.Unlock()
	if len(images) == 0 {
		return
	}
	head, err := s.store.Head(ctx)
	for _, m := range images {
		if err == nil {
			err = m.follow(ctx, head)
		}
		if errors.Is(err, ErrMoved) {
			err = nil // it was let go of
		}
	}
}

// dropAll ends what is waited for, too.
func (s *Service) dropAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images = slices.DeleteFunc(s.images, func(m *image) bool { return m.dropIf(true) })
	for _, f := range s.wanted {
		f.err = eventstore.ErrClosed
		close(f.done)
	}
	s.wanted = nil
}
