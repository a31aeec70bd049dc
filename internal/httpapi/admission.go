package httpapi

import (
	"encoding/binary"
	"hash/maphash"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"

	"daybook/calendar"
)

// stage is where a request is; it is at one stage at a time, and gives back what it
// has of one as soon as it has come to the next.
type stage uint8

const (
	stageNone   stage = iota // it holds nothing
	stageWork                // it is worked on: a slot
	stageLogin               // its credentials are looked up
	stageWait                // it waits for a position or for another request
	stageCheck               // its password is checked, or waits for that
	stageBody                // its body is read; counted in bytes
	stageAnswer              // its answer is sent; counted in bytes
	stageStream              // it is an open stream
	stageWhole               // its answer over all pages is made, and sent where it fits no buffer
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

// admission says which requests come to which stage. There is no queue: what finds
// no room is refused at once.
//
// A client is a user, or an address without one. Clients are counted in two rows of
// counters by a secret hash, and the smaller count holds: neither their number nor
// their names take memory or a lock, and two of them hardly ever share both counters.
type admission struct {
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
	// Password checks are slow, and only so many run at once: beside one client that
	// tries wrong ones, others are to have their turn within a second.
	allChecks, oneChecks = 32, 8
	// bodyBytes and answerBytes bound the bodies on their way. No body counts less
	// than leastBody: its buffers and its goroutine count too.
	bodyBytes, oneBodyBytes     = 128 << 20, 64 << 20
	answerBytes, oneAnswerBytes = 128 << 20, 32 << 20
	leastBody                   = 16 << 10
	// searchBytes bound the bodies of searches of callers without credentials.
	searchBytes, oneSearchBytes = 32 << 20, 8 << 20
	// smallAnswer is what the kernel takes for a connection as a whole, about:
	// sending it holds nothing up.
	smallAnswer = 64 << 10
)

// newAdmission makes the rooms for a number of slots, the largest answer in bytes, and
// streams. A tenth of the streams is for callers with credentials.
func newAdmission(slots, largest, streams, streamsOfOne int, forwarded bool) *admission {
	share := func(part int) room { return room{int64(slots), shareOf(slots, part)} }
	answers := room{int64(max(answerBytes, 4*largest)), int64(max(oneAnswerBytes, 2*largest))}
	checks := room{allChecks, oneChecks}
	return &admission{
		forwarded: forwarded,
		rooms: [groups][stages]room{
			groupAnonymous: {
				stageWork: share(4), stageLogin: share(4), stageWait: share(4), stageCheck: checks, stageAnswer: answers,
				stageStream: {int64(streams - streams/10), int64(streamsOfOne)},
				stageBody:   {searchBytes, oneSearchBytes},
			},
			groupKnown: {
				stageWork: share(2), stageWait: share(2), stageCheck: checks, stageAnswer: answers,
				stageStream: {int64(streams), int64(streams)},
				stageBody:   {bodyBytes, oneBodyBytes},
			},
		},
		seed: maphash.MakeSeed(), rows: [2][]counters{make([]counters, counted), make([]counters, counted)},
	}
}

// limitWholes makes the rooms for answers over all pages: so many of each group, half of
// them, and two at least, of one client.
func (a *admission) limitWholes(places int) {
	for g := range a.rooms {
		a.rooms[g][stageWhole] = room{int64(places), int64(max(places/2, min(places, 2)))}
	}
}

// shareOf is what one client has of a number of places where others get as many as part
// of them.
func shareOf(places, part int) int64 { return int64(max(places/part, min(places, leastOne))) }

// pass is what a request has of the admission. A nil one is let in everywhere.
type pass struct {
	a      *admission
	client client
	group  group
	stage  stage
	size   int64
}

// arrive gives the pass of a request whose caller is not known yet. It holds nothing.
func (a *admission) arrive(r *http.Request) pass {
	address := a.address(r).As16()
	return pass{a: a, client: a.client(address[:])}
}

func (a *admission) client(name []byte) client {
	h := maphash.Bytes(a.seed, name)
	return client{&a.rows[0][h%counted], &a.rows[1][h>>32%counted]}
}

// add counts at a stage, and gives how much the client has there now.
func (c client) add(at stage, size int64) int64 {
	return min(c[0][at].Add(size), c[1][at].Add(size))
}

// address is the address of a client: what the proxy that stands next to the service
// saw where proxies are trusted, else the other end of the connection. One host has
// all of an IPv6 network of 64 bits.
func (a *admission) address(r *http.Request) netip.Addr {
	var ip netip.Addr
	if a.forwarded {
		if list := r.Header.Values("X-Forwarded-For"); len(list) > 0 {
			last := list[len(list)-1]
			last = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
			var err error
			if ip, err = netip.ParseAddr(last); err != nil {
				at, _ := netip.ParseAddrPort(last)
				ip = at.Addr()
			}
		}
	}
	if !ip.IsValid() {
		at, _ := netip.ParseAddrPort(r.RemoteAddr) // what is none is one client
		ip = at.Addr()
	}
	if ip = ip.Unmap(); ip.Is6() {
		network, _ := ip.WithZone("").Prefix(64)
		ip = network.Addr()
	}
	return ip
}

// enter brings a request to a stage and frees what it had before; where there is no
// room it stays as it is.
func (p *pass) enter(to stage, size int64) bool {
	return p == nil || p.move(p.group, p.client, to, size)
}

func (p *pass) move(g group, c client, to stage, size int64) bool {
	limit := &p.a.rooms[g][to]
	if all := &p.a.taken[g][to]; all.Add(size) > limit.all {
		all.Add(-size)
		return false
	}
	if c.add(to, size) > limit.one {
		c.add(to, -size)
		p.a.taken[g][to].Add(-size)
		return false
	}
	p.leave()
	p.group, p.client, p.stage, p.size = g, c, to, size
	return true
}

// crowded reports whether the client of a request has taken its whole share of a stage.
func (p *pass) crowded(at stage) bool {
	return min(p.client[0][at].Load(), p.client[1][at].Load()) >= p.a.rooms[p.group][at].one
}

// identify brings a request whose credentials are good to work, in the room of its
// user.
func (p *pass) identify(user calendar.ID) bool {
	var name [8]byte
	binary.LittleEndian.PutUint64(name[:], uint64(user))
	return p.move(groupKnown, p.a.client(name[:]), stageWork, 1)
}

// resume brings a request back to work. It has been let in before, so it is not
// turned away now.
func (p *pass) resume() {
	if p == nil || p.stage == stageWork {
		return
	}
	p.leave()
	p.a.taken[p.group][stageWork].Add(1)
	p.client.add(stageWork, 1)
	p.stage, p.size = stageWork, 1
}

// another returns a pass of the same client that holds nothing.
func (p *pass) another() pass { return pass{a: p.a, client: p.client, group: p.group} }

// leave gives back what a request has.
func (p *pass) leave() {
	if p == nil || p.stage == stageNone {
		return
	}
	p.a.taken[p.group][p.stage].Add(-p.size)
	p.client.add(p.stage, -p.size)
	p.stage = stageNone
}
