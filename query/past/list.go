package past

import (
	"context"
	"errors"
	"net/netip"
	"slices"
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
func (l *List) Parse(ctx context.Context, request query.Request) (*query.Criteria, error) {
	request.Past = l.past
	return l.Service.Parse(ctx, request)
}

// client is who waits for points: a user, or an address without credentials.
type client struct {
	user    calendar.ID // 0: none
	address netip.Addr
}

// maxWaits is how many points are under way for one client.
const maxWaits = 2

// asked is a point while the log ends at head.
type asked struct {
	point eventstore.Point
	head  calendar.Position
	epoch eventstore.Epoch
	texts bool
}

// List returns the lists of a point, once it is built: *calendar.Error with
// CodeAsOfTooLarge, or with CodeAsOfNotReady after the longest wait, while it goes on being
// built. from is the address of a caller without credentials.
//
// Without searches the lists of a point are there sooner.
func (s *Service) List(ctx context.Context, caller calendar.Caller, from netip.Addr, then Then, asOf string, searches bool) (*List, error) {
	wait, cancel := context.WithTimeout(ctx, s.o.Wait)
	defer cancel()
	of := client{user: caller.ID}
	if caller.Role == calendar.Anonymous {
		of = client{address: from}
	}
	for {
		head, err := s.store.Head(wait, eventstore.Point{})
		if err != nil {
			return nil, err
		}
		point, err := s.point(wait, of, asked{eventstore.Point{Position: then.Position, Time: then.Time.UTC()}, head.Position, head.Epoch, searches})
		switch {
		case errors.Is(err, errTooLarge):
			return nil, &calendar.Error{Code: calendar.CodeAsOfTooLarge, Limit: s.o.Memory}
		case err != nil && ctx.Err() == nil && wait.Err() != nil:
			return nil, calendar.Fail(calendar.CodeAsOfNotReady, 0)
		case err != nil:
			return nil, err
		}
		list, err := point.listOf(wait, s, head.Position, caller, then.Moment, asOf)
		if err != nil || s.store.Epoch() == head.Epoch {
			return list, err
		}
	}
}

// point returns a point, which may have to be built.
func (s *Service) point(ctx context.Context, of client, a asked) (*point, error) {
	if p := s.find(func(p *point) bool { return p.names[a] }); p != nil {
		return p, nil
	}
	release, err := s.clients.Acquire(ctx, of)
	if err != nil {
		return nil, err
	}
	last, err := s.store.Head(ctx, a.point) // may look at many entries
	if err != nil {
		release()
		return nil, err
	}
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*s.o.Wait)
	var p *point
	done := make(chan struct{})
	go func() {
		defer release()
		defer cancel()
		defer close(done)
		p, err = s.make(work, pointKey{last.Position, last.Time.UTC(), a.epoch, a.texts}, of.user != 0)
		if err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			cached(p.names)[a] = true
		}
	}()
	select {
	case <-done:
		return p, err
	case <-ctx.Done():
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) { // else it is asked to come again
			cancel()
		}
		return nil, ctx.Err()
	}
}

// make finds or builds the point of a key, when it has a place for that: equal requests wait
// for one building.
func (s *Service) make(ctx context.Context, k pointKey, user bool) (*point, error) {
	release, err := s.building.Acquire(ctx, k)
	if err != nil {
		return nil, err
	}
	defer release()
	same := func(p *point) bool { // one with texts serves all lists
		own := p.key
		own.Texts = own.Texts && k.Texts
		return own == k
	}
	if p := s.find(same); p != nil {
		return p, nil
	}
	var reserved chan struct{}
	if user {
		reserved = s.users
	}
	select {
	case s.anyone <- struct{}{}:
		defer func() { <-s.anyone }()
	case reserved <- struct{}{}:
		defer func() { <-reserved }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p, err := s.build(ctx, k)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, errTooLarge) {
			s.o.Log.WarnContext(ctx, "point of the past not built", "error", err)
		}
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.built++
	if s.store.Epoch() == k.Epoch {
		for s.points = append(s.points, p); len(s.points) > s.o.Points || s.bytes() > s.o.Memory; {
			s.points = slices.Delete(s.points, 0, 1)
		}
	}
	return p, nil
}

// find returns a built point, nil if none exists.
func (s *Service) find(is func(*point) bool) *point {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle.Reset(s.o.Idle)
	at := slices.IndexFunc(s.points, is)
	if at < 0 {
		return nil
	}
	p := s.points[at]
	s.points = append(slices.Delete(s.points, at, at+1), p)
	return p
}

func (s *Service) bytes() (n int) {
	for _, point := range s.points {
		n += point.bytes
	}
	return n
}

// Forget drops all points: they may hold what was erased.
func (s *Service) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.points = nil
}

// listOf returns the lists of a point, when the log ends at head.
func (p *point) listOf(ctx context.Context, s *Service, head calendar.Position, caller calendar.Caller, moment time.Time, asOf string) (*List, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.follow(ctx, s, head); err != nil {
		return nil, err
	}
	q, err := p.queries(s.o.Query, moment)
	return &List{q, query.Past{AsOf: asOf, Now: moment, Withdrawn: p.withdrawnFrom(caller, s.o.Query.Now())}}, err
}
