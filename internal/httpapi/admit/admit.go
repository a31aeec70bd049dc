// Package admit bounds what one client and all of them hold of the service: slots for work,
// waits, bodies and answers in bytes, streams, turns at long work, and tries of passwords.
package admit

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"daybook/calendar"
	"daybook/internal/ground/keylock"
)

// Stage is where a request is; it is at one stage at a time, and gives back what it
// has of one as soon as it has come to the next.
type Stage uint8

// The stages.
const (
	Nothing Stage = iota // it holds nothing
	Work                 // it is worked on: a slot
	Login                // its credentials are looked up
	Wait                 // it waits for a position or for another request
	Check                // its password is checked, or waits for that
	Body                 // its body is read; counted in bytes
	Answer               // its answer is sent; counted in bytes
	Stream               // it is an open stream
	Whole                // its answer over all pages is made, and sent where it fits no buffer
	stages
)

// group is who has room for himself: a flood of anonymous requests takes none from
// callers whose credentials are good.
type group uint8

const (
	groupAnonymous group = iota
	groupKnown
	groups
)

// room is how much there is at a stage, for all of a group and for one client of it.
type room struct{ all, one int64 }

// Control decides which requests come to which stage. There is no queue: what finds
// no room is refused at once.
//
// A client is a user, or an address without one. Clients are counted in two rows of
// counters by a secret hash, and the smaller count holds: neither their number nor
// their names take memory or a lock, and two of them hardly ever share both counters.
type Control struct {
	forwarded bool // the address is what the next proxy says
	rooms     [groups][stages]room
	taken     [groups][stages]atomic.Int64
	seed      maphash.Seed
	rows      [2][]counters
}

// counters are how much is taken of each stage.
type counters [stages]atomic.Int64

// client are the counters of one.
type client [2]*counters

// counted is the length of a row, a power of two.
const counted = 1 << 11

const (
	// leastOne is how many requests one client may always have at a stage.
	leastOne = 16
	// Password checks are slow, and only so many run at once: next to one client that
	// tries wrong ones, others are to have their turn within a second.
	allChecks = 32
	// ChecksOfOne is how many of them one client has.
	ChecksOfOne = 8
	// bodyBytes and answerBytes bound the bodies on their way.
	bodyBytes, answerBytes = 128 << 20, 128 << 20
	// BodyBytesOfOne bounds the bodies that one client sends.
	BodyBytesOfOne = 64 << 20
	// AnswerBytesOfOne bounds the answers that are sent to one client.
	AnswerBytesOfOne = 32 << 20
	// LeastBody is what a body counts at least: its buffers and its goroutine count too.
	LeastBody = 16 << 10
	// searchBytes bound the bodies of searches of callers without credentials.
	searchBytes, oneSearchBytes = 32 << 20, 8 << 20
	// SmallAnswer is what the kernel takes for a connection as a whole, about:
	// sending it holds nothing up.
	SmallAnswer = 64 << 10
)

// Limits are the settings of a Control.
type Limits struct {
	Slots                 int  // requests that are worked on at once, of callers without credentials and of those with them
	LargestAnswer         int  // bytes
	Streams, StreamsOfOne int  // a tenth of them is for callers with credentials
	Wholes                int  // answers over all pages, of each group
	Forwarded             bool // the address of a client is what the next proxy says
}

// New returns a Control that no one holds anything of.
func New(limits Limits) *Control {
	share := func(part int) room { // of which others get as many as part of them
		return room{int64(limits.Slots), int64(max(limits.Slots/part, min(limits.Slots, leastOne)))}
	}
	answers := room{int64(max(answerBytes, 4*limits.LargestAnswer)), int64(max(AnswerBytesOfOne, 2*limits.LargestAnswer))}
	checks := room{allChecks, ChecksOfOne}
	wholes := room{int64(limits.Wholes), int64(max(limits.Wholes/2, min(limits.Wholes, 2)))}
	return &Control{
		forwarded: limits.Forwarded,
		rooms: [groups][stages]room{
			groupAnonymous: {
				Work: share(4), Login: share(4), Wait: share(4), Check: checks, Answer: answers, Whole: wholes,
				Stream: {int64(limits.Streams - limits.Streams/10), int64(limits.StreamsOfOne)},
				Body:   {searchBytes, oneSearchBytes},
			},
			groupKnown: {
				Work: share(2), Wait: share(2), Check: checks, Answer: answers, Whole: wholes,
				Stream: {int64(limits.Streams), int64(limits.Streams)},
				Body:   {bodyBytes, BodyBytesOfOne},
			},
		},
		seed: maphash.MakeSeed(), rows: [2][]counters{make([]counters, counted), make([]counters, counted)},
	}
}

// Pass is what one request holds. It is used by the goroutine of the request alone.
type Pass struct {
	Address netip.Addr // of the client; one for a network of IPv6
	Stage   Stage      // where the request is

	control *Control
	client  client
	group   group
	size    int64
}

// Arrive returns the pass of a request whose caller is not known yet. It holds nothing.
func (control *Control) Arrive(request *http.Request) Pass {
	pass := Pass{control: control, Address: control.address(request)}
	name := pass.Address.As16()
	pass.client = control.client(name[:])
	return pass
}

func (control *Control) client(name []byte) client {
	h := maphash.Bytes(control.seed, name)
	return client{&control.rows[0][h%counted], &control.rows[1][h>>32%counted]}
}

// address is the address of a client: what the proxy that stands next to the service
// saw where proxies are trusted, else the other end of the connection. One host has
// all of an IPv6 network of 64 bits.
func (control *Control) address(request *http.Request) netip.Addr {
	addr := parseAddress(request.RemoteAddr) // what is none is one client
	if control.forwarded {
		seen := strings.Join(request.Header.Values("X-Forwarded-For"), ",")
		if last := parseAddress(strings.TrimSpace(seen[strings.LastIndexByte(seen, ',')+1:])); last.IsValid() {
			addr = last
		}
	}
	if addr = addr.Unmap(); addr.Is6() {
		network, _ := addr.WithZone("").Prefix(64)
		addr = network.Addr()
	}
	return addr
}

// parseAddress reads an address with or without a port.
func parseAddress(text string) netip.Addr {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr()
	}
	addr, _ := netip.ParseAddr(text)
	return addr
}

// Enter brings a request to a stage and frees what it had before; where there is no
// room it stays as it is, and the error says so.
func (pass *Pass) Enter(stage Stage, size int64) error {
	next := *pass
	next.Stage, next.size = stage, size
	return pass.become(next)
}

// Identify brings a request whose credentials are good to work, in the room of its
// user.
func (pass *Pass) Identify(user calendar.ID) error {
	var name [8]byte
	binary.LittleEndian.PutUint64(name[:], uint64(user))
	next := *pass
	next.group, next.client, next.Stage, next.size = groupKnown, pass.control.client(name[:]), Work, 1
	return pass.become(next)
}

var errFull = calendar.Fail(calendar.CodeUnavailable, 0)

func (pass *Pass) become(next Pass) error {
	control, limit, stream := pass.control, &pass.control.rooms[next.group][next.Stage], next.Stage == Stream
	all, own := next.add(next.size)
	if all <= limit.all && own <= limit.one && (!stream || control.Streams() <= control.rooms[groupKnown][Stream].all) {
		pass.Leave()
		*pass = next
		return nil
	}
	next.add(-next.size)
	switch {
	case !stream:
		return errFull
	case next.group == groupAnonymous && own > limit.one:
		return &calendar.Error{Code: calendar.CodeTooManyRequests, RetryAfter: 30}
	default:
		return &calendar.Error{Code: calendar.CodeUnavailable, RetryAfter: 5}
	}
}

// add counts at the stage of a request, and returns what all of its group and what its client
// have there now.
func (pass *Pass) add(size int64) (all, own int64) {
	return pass.control.taken[pass.group][pass.Stage].Add(size), min(pass.client[0][pass.Stage].Add(size), pass.client[1][pass.Stage].Add(size))
}

// Streams returns how many streams are open: both groups share their places.
func (control *Control) Streams() int64 {
	return control.taken[groupAnonymous][Stream].Load() + control.taken[groupKnown][Stream].Load()
}

// Resume brings a request back to work. It has been let in before, so it is not
// turned away now.
func (pass *Pass) Resume() {
	if pass.Stage != Work {
		pass.Leave()
		pass.Stage, pass.size = Work, 1
		pass.add(1)
	}
}

// Leave gives back what a request holds.
func (pass *Pass) Leave() {
	if pass.Stage != Nothing {
		pass.add(-pass.size)
		pass.Stage = Nothing
	}
}

// Turns are the turns at work that takes a processor for long: so many at once of one
// anonymous client, and so many of all.
type Turns struct {
	one *OfOne
	all *semaphore.Weighted // nil: any number
}

// NewTurns returns turns of which one client has so many at once and all have so many, any
// number for 0. Turns may share those of one client with others.
func NewTurns(one *OfOne, all int) *Turns {
	turns := &Turns{one: one}
	if all > 0 {
		turns.all = semaphore.NewWeighted(int64(all))
	}
	return turns
}

// OfOne are the turns of each client.
type OfOne = keylock.Locks[netip.Addr]

// Acquire waits for the turn of a client, unless it has that, and for that among all. It
// returns the function that ends both, to be called once.
func (turns *Turns) Acquire(ctx context.Context, client netip.Addr, has bool) (release func(), err error) {
	leave := func() {}
	if !has {
		leave, err = turns.one.Acquire(ctx, client)
	}
	if err != nil || turns.all == nil {
		return leave, err
	}
	if err = turns.all.Acquire(ctx, 1); err != nil {
		leave()
		return nil, err
	}
	return func() {
		turns.all.Release(1)
		leave()
	}, nil
}

// workAtOnce is how long the past is read for one client before others have a moment.
const workAtOnce = 5 * time.Millisecond

// Pace returns what rests the work on one page or piece of the past where it is time to: while
// others of the same anonymous client wait for their turns it rests for as long as it works, so
// many requests of one take half of a processor and not all of it.
func (pass *Pass) Pace(turns *Turns, now func() time.Time) (rest func(context.Context)) {
	if pass.group == groupKnown {
		return func(context.Context) {}
	}
	since := now()
	return func(ctx context.Context) {
		worked := now().Sub(since)
		if worked < workAtOnce {
			return
		}
		if turns.one.Waiting(pass.Address) {
			select {
			case <-time.After(worked):
			case <-ctx.Done(): // the work finds that by itself
			}
		}
		since = now()
	}
}

// Turn waits for the turn of the client of a request, without a slot, and returns the function
// that ends it. A request that has the turn of its client waits for that among all alone, or
// it could wait for itself; it is not refused, as most of its work is done. Callers with
// credentials take no turns, and without turns there are none.
func (pass *Pass) Turn(ctx context.Context, turns *Turns, has bool) (leave func(), err error) {
	if turns == nil || pass.group == groupKnown {
		return func() {}, nil
	}
	if err := pass.Enter(Wait, 1); err != nil && !has {
		return nil, err
	}
	defer pass.Resume()
	return turns.Acquire(ctx, pass.Address, has)
}
