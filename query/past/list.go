package past

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
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
	point   eventstore.Point
	key     imageKey // what counted at the point
	queries *query.Service
	past    query.Past
}

// List returns the lists of a point, once there is an image of it: *calendar.Error with
// CodeAsOfTooLarge, or with CodeAsOfNotReady after the longest wait, while it goes on being
// filled. from is the address of a caller without credentials.
func (s *Service) List(ctx context.Context, c calendar.Caller, from netip.Addr, then Then, asOf string) (*List, error) {
	wait, cancel := context.WithTimeout(ctx, s.o.Wait)
	defer cancel()
	of := client{user: c.ID}
	if c.Role == calendar.Anonymous {
		of = client{address: from}
	}
	for {
		m, key, err := s.imageAt(wait, of, then.Point)
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
		m.mu.RLock()
		defer m.mu.RUnlock()
		q, err := m.queries(then.Moment)
		if err != nil {
			return nil, err
		}
		return &List{
			image: m, point: then.Point, key: key, queries: q,
			past: query.Past{AsOf: asOf, Now: then.Moment, Withdrawn: m.withdrawnFrom(c)},
		}, nil
	}
}

// held holds the image while what it answers is of its entries, or gives ErrMoved.
func (l *List) held() (release func(), err error) {
	l.image.mu.RLock()
	if !l.image.reach.Load().answers(l.point, l.key) || l.image.gone.Load() {
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
	epoch eventstore.Epoch
}

// client is who waits for images: a user, or an address without credentials.
type client struct {
	user    calendar.ID // 0: none
	address netip.Addr
}

// maxWaits is how many requests of one client may wait for images that are filled.
const maxWaits = 2

// filling is an image that is wanted.
type filling struct {
	refusedKey
	seen   calendar.Position
	byTime bool          // the first that wanted it was a time
	done   chan struct{} // closed when image or err is there
	base   *image        // that it goes on from; nil: it is made from the log
	image  *image
	err    error

	// Under mu of the Service:
	timed   bool               // a time wants it
	live    time.Time          // as that of an image
	waiting int                // requests
	known   bool               // one of them came with credentials
	until   time.Time          // it stays until then without requests: one was asked to come again
	cancel  context.CancelFunc // ends the filling; nil: it has not begun
}

// imageAt returns the image of a point as far as the log goes now.
func (s *Service) imageAt(ctx context.Context, of client, p eventstore.Point) (*image, imageKey, error) {
	epoch := s.store.Epoch()
	now, err := s.store.Head(ctx, eventstore.Point{})
	if err != nil {
		return nil, imageKey{}, err
	}
	var m *image
	head := now.Position
	key, known := s.counted.get(p, epoch, head)
	if known {
		m, err = s.lookup(p, key, epoch)
	}
	if m == nil && err == nil {
		m, key, head, err = s.await(ctx, of, p, epoch)
	}
	if err != nil {
		return nil, key, err
	}
	if err := m.follow(ctx, head); err != nil {
		return nil, key, err
	}
	if !m.reach.Load().answers(p, key) || m.gone.Load() || s.store.Epoch() != epoch {
		return nil, key, ErrMoved
	}
	return m, key, nil
}

// fillAfter is how long a request waits before an image is filled for it: one that leaves
// within that time costs nothing.
const fillAfter = 25 * time.Millisecond

// await waits for an image that may have to be filled, first for the turn of the client,
// which also bounds how often it has entries counted.
func (s *Service) await(ctx context.Context, of client, p eventstore.Point, epoch eventstore.Epoch) (*image, imageKey, calendar.Position, error) {
	release, err := s.clients.Acquire(ctx, of)
	if err != nil {
		return nil, imageKey{}, 0, err
	}
	defer release()
	key, head, err := s.countedAt(ctx, p)
	if err != nil {
		return nil, key, 0, err
	}
	if m, err := s.lookup(p, key, epoch); m != nil || err != nil {
		return m, key, head, err
	}
	select {
	case <-time.After(fillAfter):
	case <-ctx.Done():
		return nil, key, 0, ctx.Err()
	}
	s.mu.Lock()
	if m, err := s.find(p, key, epoch); m != nil || err != nil { // filled meanwhile
		s.mu.Unlock()
		return m, key, head, err
	}
	f := s.join(of, p, refusedKey{key, epoch}, head)
	s.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
	}
	s.leave(f, errors.Is(ctx.Err(), context.DeadlineExceeded))
	if err := ctx.Err(); err != nil {
		return nil, key, 0, err
	}
	return f.image, key, head, f.err
}

// liveFor is how old a moment may be to be one about the present.
const liveFor = 2 * time.Second

// liveAt returns the moment of a point about the present, else zero.
func (s *Service) liveAt(p eventstore.Point) (live time.Time) {
	if p.Position == 0 && s.o.Query.Now().Sub(p.Time) < liveFor {
		live = p.Time
	}
	return live
}

// lookup is find for callers that do not hold mu.
func (s *Service) lookup(p eventstore.Point, key imageKey, epoch eventstore.Epoch) (*image, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(p, key, epoch)
}

// find returns the image of a point; nil when there is none. It is called under mu.
func (s *Service) find(p eventstore.Point, key imageKey, epoch eventstore.Epoch) (*image, error) {
	s.images = slices.DeleteFunc(s.images, func(m *image) bool { return m.dropIf(m.epoch != epoch) })
	for _, m := range s.images {
		if m.reach.Load().answers(p, key) {
			if p.Position == 0 {
				m.timed.Store(true)
			}
			m.live = along(m.live, s.liveAt(p))
			m.used = s.o.Query.Now()
			return m, nil
		}
	}
	if s.refused[refusedKey{key, epoch}] {
		return nil, errTooLarge
	}
	return nil, nil //nolint:nilnil // both are looked at
}

// join adds a request to those that wait for an image. It is called under mu.
func (s *Service) join(of client, p eventstore.Point, key refusedKey, head calendar.Position) *filling {
	timed, live := p.Position == 0, s.liveAt(p)
	at := slices.IndexFunc(s.wanted, func(f *filling) bool { return f.refusedKey == key })
	if at < 0 {
		at = len(s.wanted)
		s.wanted = append(s.wanted, &filling{refusedKey: key, seen: head, byTime: timed, live: live, done: make(chan struct{})})
	}
	f := s.wanted[at]
	f.waiting++
	f.known = f.known || of.user != 0
	f.timed = f.timed || timed
	f.live = along(f.live, live)
	for _, wake := range s.wake {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	return f
}

// leave takes a request away from those that wait. What nobody waits for is dropped, unless
// the request waited for so long that it is asked to come again: it is to find the image.
func (s *Service) leave(f *filling, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.waiting--
	switch now := s.o.Query.Now(); {
	case again:
		f.until = now.Add(s.o.Wait)
	case f.waiting == 0 && !now.Before(f.until):
		s.wanted = slices.DeleteFunc(s.wanted, func(w *filling) bool { return w == f })
		if f.cancel != nil {
			f.cancel()
		}
	}
}

// along gives the last one of the moments about the present; zero when one of them is not.
func along(a, b time.Time) time.Time {
	if a.IsZero() || b.IsZero() {
		return time.Time{}
	}
	if a.Before(b) {
		return b
	}
	return a
}

// baseOf gives a kept image that leads to what is wanted, nil without one, and whether it
// may go there itself: those that go along with the present may. There are two of them
// where there is room, and the older one goes on to the next moment, so that who asked a
// moment ago still finds the other one. It is called under mu.
func (s *Service) baseOf(f *filling) (base *image, itself bool) {
	lives := 0
	var nearest, oldest *image
	for _, m := range s.images {
		if !m.live.IsZero() {
			lives++
		}
		is := m.reach.Load()
		if !is.leadsTo(f.imageKey) {
			continue
		}
		if nearest == nil || is.Position > nearest.reach.Load().Position {
			nearest = m
		}
		switch {
		case f.live.IsZero() || m.live.IsZero():
		case m.live.Equal(f.live):
			return m, true
		case oldest == nil || m.live.Before(oldest.live):
			oldest = m
		}
	}
	if oldest != nil && (lives > 1 || s.o.Images < 2 || 2*oldest.size.Load() > int64(s.o.Records)) {
		return oldest, true
	}
	return nearest, false
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

// Run fills the images that are wanted, keeps the others up to date, and drops those that
// nobody asks for, until the context ends. One is filled at a time for everybody, and one
// for callers with credentials.
func (s *Service) Run(ctx context.Context) error {
	var known sync.WaitGroup
	known.Go(func() {
		for {
			select {
			case <-s.wake[1]:
				s.fillWanted(ctx, true)
			case <-ctx.Done():
				return
			}
		}
	})
	for {
		turn, cancel := context.WithTimeout(ctx, followEvery)
		select {
		case <-s.wake[0]:
		case <-turn.Done():
		}
		cancel()
		if ctx.Err() != nil {
			known.Wait()
			s.dropAll()
			return ctx.Err()
		}
		s.fillWanted(ctx, false)
		s.tend(ctx)
	}
}

// A filling that was dropped is followed by a rest of some times its length.
const (
	restTimes = 3
	maxRest   = 500 * time.Millisecond
)

// fillWanted fills images until none is wanted, or none by callers with credentials.
func (s *Service) fillWanted(ctx context.Context, known bool) {
	for {
		f, work := s.next(ctx, known)
		if f == nil {
			return
		}
		begun := s.o.Query.Now()
		s.make(ctx, work, f)
		if errors.Is(f.err, context.Canceled) { // who leaves again and again takes a quarter of a processor
			select {
			case <-time.After(min(restTimes*s.o.Query.Now().Sub(begun), maxRest)):
			case <-ctx.Done():
			}
		}
	}
}

// next begins the first filling that somebody waits for, or was asked lately to come again
// for; those of callers with credentials come first. It stays among the wanted ones until it
// is made. work is its context, which ends when it is dropped.
func (s *Service) next(ctx context.Context, known bool) (f *filling, work context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Query.Now()
	s.wanted = slices.DeleteFunc(s.wanted, func(f *filling) bool {
		return f.cancel == nil && f.waiting == 0 && !now.Before(f.until)
	})
	at := slices.IndexFunc(s.wanted, func(f *filling) bool { return f.cancel == nil && f.known })
	if at < 0 && !known {
		at = slices.IndexFunc(s.wanted, func(f *filling) bool { return f.cancel == nil })
	}
	if at < 0 {
		return nil, nil
	}
	f = s.wanted[at]
	work, f.cancel = context.WithCancel(ctx)
	return f, work
}

// mostRefused bounds the keys of images that were too large.
const mostRefused = 1024

// make makes an image for those who wait.
func (s *Service) make(ctx, work context.Context, f *filling) {
	defer f.cancel()
	s.mu.Lock()
	base, itself := s.baseOf(f)
	s.mu.Unlock()
	if itself {
		if f.err = base.advance(ctx, f); f.err == nil { // to its end: it is short, and others use the image
			f.image = base
		} else if !errors.Is(f.err, ErrMoved) {
			s.drop(base)
		}
	} else {
		f.base = base
		f.image, f.err = s.fill(work, f)
	}
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
		if work.Err() == nil && !errors.Is(f.err, ErrMoved) {
			s.o.Log.WarnContext(ctx, "image of the past not filled", "error", f.err)
		}
	case itself:
		s.advanced++
		base.used, base.live = s.o.Query.Now(), along(base.live, f.live)
		base.timed.Store(true)
	default:
		if f.base != nil {
			s.advanced++
		} else {
			s.filled++
		}
		f.image.used, f.image.live = s.o.Query.Now(), f.live
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
	head, err := s.store.Head(ctx, eventstore.Point{})
	for _, m := range images {
		if err == nil {
			err = m.follow(ctx, head.Position)
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
