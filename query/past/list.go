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

// errTooLarge says that a point would need more than Options.Memory.
var errTooLarge = errors.New("too much memory for a point of the past")

// List answers lists as of one point for one caller.
type List struct {
	*query.Service

	past query.Past
}

// Parse is query.Service.Parse as of the point.
func (l *List) Parse(ctx context.Context, r query.Request) (*query.Criteria, error) {
	r.Past = l.past
	return l.Service.Parse(ctx, r)
}

// client is who waits for points: a user, or an address without credentials.
type client struct {
	user    calendar.ID // 0: none
	address netip.Addr
}

// maxWaits is how many requests of one client may wait for points.
const maxWaits = 2

// building is a point that is built while somebody waits for it.
type building struct {
	key     pointKey
	done    chan struct{} // closed when point or err is there
	point   *point
	err     error
	cancel  context.CancelFunc
	waiting int           // under mu of the Service
	user    chan struct{} // closed when somebody with credentials waits
	prefer  func()        // closes it, once
}

// List returns the lists of a point, once it is built: *calendar.Error with
// CodeAsOfTooLarge, or with CodeAsOfNotReady after the longest wait, while it goes on being
// built. from is the address of a caller without credentials.
//
// Without searches the lists of a point are there sooner.
func (s *Service) List(ctx context.Context, c calendar.Caller, from netip.Addr, then Then, asOf string, searches bool) (*List, error) {
	wait, cancel := context.WithTimeout(ctx, s.o.Wait)
	defer cancel()
	of := client{user: c.ID}
	if c.Role == calendar.Anonymous {
		of = client{address: from}
	}
	l, err := s.list(wait, of, c, then, asOf, searches)
	switch {
	case errors.Is(err, errTooLarge):
		err = &calendar.Error{Code: calendar.CodeAsOfTooLarge, Limit: s.o.Memory}
	case err != nil && ctx.Err() == nil && wait.Err() != nil:
		err = calendar.Fail(calendar.CodeAsOfNotReady, 0)
	}
	return l, err
}

func (s *Service) list(ctx context.Context, of client, c calendar.Caller, then Then, asOf string, searches bool) (*List, error) {
	for {
		head, err := s.store.Head(ctx, eventstore.Point{})
		if err != nil {
			return nil, err
		}
		at := asked{eventstore.Point{Position: then.Position, Time: then.Time.UTC()}, head.Position, head.Epoch, searches}
		key, known := s.keys.GetIfPresent(at)
		p := s.find(key)
		if !known || p == nil {
			if p, err = s.await(ctx, of, at); err != nil {
				return nil, err
			}
		}
		l, err := s.listOf(ctx, p, head.Position, c, then.Moment, asOf)
		if err != nil || s.store.Epoch() == head.Epoch {
			return l, err
		}
	}
}

// asked is a point while the log ends at head.
type asked struct {
	point eventstore.Point
	head  calendar.Position
	epoch eventstore.Epoch
	texts bool
}

// keyOf returns the key of a point.
func (s *Service) keyOf(ctx context.Context, a asked) (pointKey, error) {
	if k, known := s.keys.GetIfPresent(a); known {
		return k, nil
	}
	last, err := s.store.Head(ctx, a.point)
	k := pointKey{last.Position, last.Time.UTC(), a.epoch, a.texts}
	if err == nil {
		s.keys.Set(a, k)
	}
	return k, err
}

// listOf returns the lists of a built point, when the log ends at head.
func (s *Service) listOf(ctx context.Context, p *point, head calendar.Position, c calendar.Caller, moment time.Time, asOf string) (*List, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.follow(ctx, s, head); err != nil {
		return nil, err
	}
	q, err := p.queries(s.o.Query, moment)
	return &List{q, query.Past{AsOf: asOf, Now: moment, Withdrawn: p.withdrawnFrom(c, s.o.Query.Now())}}, err
}

// find returns a built point, nil when there is none. One with texts serves all lists.
func (s *Service) find(k pointKey) *point {
	s.mu.Lock()
	defer s.mu.Unlock()
	with := k
	with.Texts = true
	at := slices.IndexFunc(s.points, func(p *point) bool { return p.key == k || p.key == with })
	if at < 0 {
		return nil
	}
	p := s.points[at]
	s.points = append(slices.Delete(s.points, at, at+1), p)
	p.idle.Reset(s.o.Idle)
	return p
}

// await waits for a point that may have to be built, first for the turn of the client:
// finding the key may take a look at many entries, too.
func (s *Service) await(ctx context.Context, of client, a asked) (*point, error) {
	release, err := s.clients.Acquire(ctx, of)
	if err != nil {
		return nil, err
	}
	defer release()
	k, err := s.keyOf(ctx, a)
	if err != nil {
		return nil, err
	}
	if p := s.find(k); p != nil {
		return p, nil
	}
	b := s.join(ctx, k, of.user != 0)
	select {
	case <-b.done:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) { // it is asked to come again
			time.AfterFunc(s.o.Wait, func() { s.leave(b) })
			return nil, ctx.Err()
		}
	}
	s.leave(b)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return b.point, b.err
}

// join adds a request to those that wait for a point, and begins to build it for the first.
func (s *Service) join(ctx context.Context, k pointKey, user bool) *building {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buildings[k]
	if b == nil {
		b = &building{key: k, done: make(chan struct{}), user: make(chan struct{})}
		b.prefer = sync.OnceFunc(func() { close(b.user) })
		s.buildings[k] = b
		ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
		go s.make(ctx, b)
	}
	if b.waiting++; user {
		b.prefer()
	}
	return b
}

// leave takes a request away from those that wait. What nobody waits for is dropped.
func (s *Service) leave(b *building) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.waiting--; b.waiting == 0 {
		b.cancel()
		if s.buildings[b.key] == b {
			delete(s.buildings, b.key)
		}
	}
}

// make builds a point for those who wait.
func (s *Service) make(ctx context.Context, b *building) {
	defer close(b.done)
	release, err := s.place(ctx, b)
	if err != nil {
		b.err = err
		return
	}
	defer release()
	b.point, b.err = s.build(ctx, b.key)
	if b.err != nil && ctx.Err() == nil && !errors.Is(b.err, errTooLarge) {
		s.o.Log.WarnContext(ctx, "point of the past not built", "error", b.err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buildings[b.key] != b { // it was dropped
		return
	}
	delete(s.buildings, b.key)
	if b.err == nil && s.store.Epoch() == b.key.Epoch {
		s.add(b.point)
	}
}

// place waits for one of the places where points are built: one for everybody, and one for
// callers with credentials.
func (s *Service) place(ctx context.Context, b *building) (release func(), err error) {
	user, reserved := b.user, chan struct{}(nil)
	for {
		select {
		case s.anyone <- struct{}{}:
			return func() { <-s.anyone }, nil
		case reserved <- struct{}{}:
			return func() { <-s.users }, nil
		case <-user:
			user, reserved = nil, s.users
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// add caches a point, and drops those that were not asked for longest and have no room any
// more. It is called under mu.
func (s *Service) add(p *point) {
	p.idle = time.AfterFunc(s.o.Idle, func() { s.drop(func(other *point) bool { return other == p }) })
	s.built++
	s.points = append(s.points, p)
	for len(s.points) > s.o.Points || s.bytes() > s.o.Memory {
		s.points[0].idle.Stop()
		s.points = slices.Delete(s.points, 0, 1)
	}
}

func (s *Service) bytes() (n int) {
	for _, p := range s.points {
		n += p.bytes
	}
	return n
}

// Forget drops all points: they may hold what was erased.
func (s *Service) Forget() { s.drop(func(*point) bool { return true }) }

func (s *Service) drop(which func(*point) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.points = slices.DeleteFunc(s.points, which)
}
