package past

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/history"
	"daybook/query"
)

// client is who waits for points: a user, or an address without credentials.
type client struct {
	user    calendar.ID // 0: none
	address netip.Addr
}

// maxWaits is how many points are under way for one client.
const maxWaits = 2

// List returns the lists of a point, once it is built, and what the caller gets no more:
// *calendar.Error with CodeAsOfTooLarge, or with CodeAsOfNotReady after the longest wait, while
// it goes on being built. from is the address of a caller without credentials.
//
// Without searches the lists of a point are there sooner.
func (service *Service) List(ctx context.Context, caller calendar.Caller, from netip.Addr, then PointInTime, searches bool) (*query.Service, query.Withdrawn, error) {
	wait, cancel := context.WithTimeout(ctx, service.options.Wait)
	defer cancel()
	of := client{user: caller.ID}
	if caller.Role == calendar.Anonymous {
		of.address = from
	}
	for {
		head, err := service.store.Head(wait, eventstore.Point{})
		if err != nil {
			return nil, nil, err
		}
		point, err := service.point(wait, of, pointKey{then.Point, head.Position, head.Epoch, searches})
		switch {
		case err != nil && ctx.Err() == nil && wait.Err() != nil:
			return nil, nil, calendar.Fail(calendar.CodeAsOfNotReady, 0)
		case err != nil:
			return nil, nil, err
		}
		lists, withdrawn, err := point.listsFor(wait, service, head.Position, caller, then.Moment)
		if err != nil || service.store.Epoch() == head.Epoch {
			return lists, withdrawn, err
		}
	}
}

// point returns a point, which may have to be built.
func (service *Service) point(ctx context.Context, client client, asked pointKey) (*point, error) {
	moment := service.find(func(p *point) bool { return p.asked == asked })
	if moment != nil {
		return moment, nil
	}
	release, err := service.clients.Acquire(ctx, client)
	if err != nil {
		return nil, err
	}
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*service.options.Wait)
	done := make(chan struct{})
	go func() {
		defer release()
		defer cancel()
		defer close(done)
		moment, err = service.make(work, asked, client.user != 0)
	}()
	select {
	case <-done:
		return moment, err
	case <-ctx.Done():
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) { // else it is asked to come again
			cancel()
		}
		return nil, ctx.Err()
	}
}

// make finds or builds the point of a request, when it has a place for that: equal requests
// wait for one building.
func (service *Service) make(ctx context.Context, asked pointKey, user bool) (moment *point, err error) {
	last, err := service.store.Head(ctx, asked.Point) // may look at many entries
	if err != nil {
		return nil, err
	}
	key := asked
	key.head, key.Position, key.Time = 0, last.Position, last.Time.UTC()
	release, err := service.building.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	defer release()
	known := service.find(func(p *point) bool { // one with texts serves all lists
		own := p.key
		own.texts = own.texts && key.texts
		return own == key
	})
	if moment = known; known == nil {
		var reserved chan struct{}
		if user {
			reserved = service.users
		}
		select {
		case service.anyone <- struct{}{}:
			defer func() { <-service.anyone }()
		case reserved <- struct{}{}:
			defer func() { <-reserved }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if moment, err = service.read(ctx, key); err != nil {
			if _, refused := errors.AsType[*calendar.Error](err); ctx.Err() == nil && !refused {
				service.options.Log.WarnContext(ctx, "point of the past not built", "error", err)
			}
			return nil, err
		}
	}
	service.mu.Lock()
	defer service.mu.Unlock()
	if moment.asked = asked; known != nil {
		return moment, nil
	}
	service.built++
	if service.store.Epoch() == key.epoch {
		for service.points = append(service.points, moment); len(service.points) > service.options.Points || service.bytes() > service.options.Memory; {
			service.points = slices.Delete(service.points, 0, 1)
		}
	}
	return moment, nil
}

// find returns a built point, nil if none exists.
func (service *Service) find(is func(*point) bool) *point {
	service.mu.Lock()
	defer service.mu.Unlock()
	service.idle.Reset(service.options.Idle)
	index := slices.IndexFunc(service.points, is)
	if index < 0 {
		return nil
	}
	point := service.points[index]
	service.points = append(slices.Delete(service.points, index, index+1), point)
	return point
}

func (service *Service) bytes() (count int) {
	for _, point := range service.points {
		count += point.bytes
	}
	return count
}

// Forget drops all points: they may hold what was erased.
func (service *Service) Forget() {
	service.mu.Lock()
	defer service.mu.Unlock()
	service.points = nil
}

// listsFor returns the lists of a point at a moment, when the log ends at head, and what a caller
// gets no more.
func (point *point) listsFor(ctx context.Context, service *Service, head calendar.Position, caller calendar.Caller, moment time.Time) (*query.Service, query.Withdrawn, error) {
	point.mu.Lock()
	defer point.mu.Unlock()
	if err := point.follow(ctx, service, head); err != nil {
		return nil, nil, err
	}
	now, options := service.options.Query.Now(), service.options.Query
	var withdrawn query.Withdrawn
	for _, id := range slices.Sorted(maps.Keys(point.closed)) {
		record := point.closed[id]
		if record.Fields.Bool("protected") {
			options.ProtectedNow = append(options.ProtectedNow, id)
		}
		if history.Gate(caller, record.Kind, record, now) != nil {
			withdrawn = append(withdrawn, id)
		}
	}
	if point.lists == nil || !point.moment.Equal(moment) {
		options.Now = func() time.Time { return moment }
		point.lists, point.moment = query.New(point.index, records{point.index}, options), moment
	}
	return point.lists, withdrawn, nil
}
