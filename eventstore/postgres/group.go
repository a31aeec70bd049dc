package postgres

import (
	"fmt"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// group is a commit that is decided here, item by item, because some of them
// meet or lose. It holds what the database says about everything that they
// touch, while the log is held.
type group struct {
	head  calendar.Position
	epoch uint64 // of the store

	// What holds now, the accepted items included.
	states   map[calendar.ID]*held
	holders  map[[32]byte]calendar.ID          // of claims that items ask for; absent: free
	holding  map[calendar.ID][][32]byte        // the same by record
	named    map[[32]byte]map[calendar.ID]bool // of names that guards ask for
	receipts map[[32]byte]*eventstore.Receipt

	written map[versionOf]place // entries that an attempt before this one may have written

	found bool // something is answered because it is there

	accepted []*item
	kept     map[[32]byte]*eventstore.Receipt
}

// held is where a record stands.
type held struct {
	kind    calendar.Kind
	version int64
	stored  bool // by the database before the group
	secret  []byte
	claims  []pair
	names   []pair
}

type versionOf struct {
	id      calendar.ID
	version int64
}

type place struct {
	position calendar.Position
	leaf     [32]byte
}

func newGroup() *group {
	return &group{
		states:   map[calendar.ID]*held{},
		holders:  map[[32]byte]calendar.ID{},
		holding:  map[calendar.ID][][32]byte{},
		named:    map[[32]byte]map[calendar.ID]bool{},
		receipts: map[[32]byte]*eventstore.Receipt{},
		written:  map[versionOf]place{},
		kept:     map[[32]byte]*eventstore.Receipt{},
	}
}

// independent tells whether no item of a group has a bearing on another one: no
// two touch the same record, claim or key, and none has a name that another
// guards.
func independent(items []*item) bool {
	records := make(map[calendar.ID]struct{}, len(items))
	claims := make(map[[32]byte]struct{}, 2*len(items))
	receipts := make(map[[32]byte]struct{}, len(items))
	guarded := map[[32]byte]*item{}
	for _, it := range items {
		if it.a.LooksUp() || it.a.Settles() {
			return false
		}
		if it.a.Receipt != nil {
			if _, met := receipts[it.receipt]; met {
				return false
			}
			receipts[it.receipt] = struct{}{}
		}
		for _, g := range it.guards {
			if other := guarded[g]; other != nil && other != it {
				return false
			}
			guarded[g] = it
		}
		for i := range it.drafts {
			d := &it.drafts[i]
			if _, met := records[d.entry.ID]; met {
				return false
			}
			records[d.entry.ID] = struct{}{}
			for _, c := range d.claims {
				if _, met := claims[c.digest]; met {
					return false
				}
				claims[c.digest] = struct{}{}
			}
		}
	}
	if len(guarded) == 0 {
		return true
	}
	for _, it := range items {
		for i := range it.drafts {
			for _, n := range it.drafts[i].names {
				if other := guarded[n.digest]; other != nil && other != it {
					return false
				}
			}
		}
	}
	return true
}

// decide takes an item into the group or refuses it.
func (g *group) decide(it *item) eventstore.Result {
	if p, there := g.alreadyWritten(it); there {
		g.found = true
		return eventstore.Result{Position: p}
	}
	if it.a.Settles() {
		g.found = true
		return eventstore.Result{Position: g.head}
	}
	if it.a.Receipt != nil {
		if res, done := g.decideReceipt(it); done {
			return res
		}
	}
	if err := it.a.CheckEpoch(g.epoch); err != nil {
		return eventstore.Result{Err: err}
	}
	after, err := g.versions(it)
	if err == nil {
		err = g.guards(it)
	}
	if err == nil {
		err = g.claims(it, after)
	}
	if err != nil {
		return eventstore.Result{Err: err}
	}
	g.accept(it, after)
	return eventstore.Result{Position: g.head}
}

// alreadyWritten tells whether the entries of an item are there already, from an
// attempt whose answer was lost.
func (g *group) alreadyWritten(it *item) (calendar.Position, bool) {
	var last calendar.Position
	for i := range it.drafts {
		d := &it.drafts[i]
		p, there := g.written[versionOf{d.entry.ID, d.entry.Version}]
		if !there || p.leaf != d.leaf {
			return 0, false
		}
		last = p.position
	}
	return last, last > 0
}

// decideReceipt deals with the receipt of an Append; done tells that it decided
// alone.
func (g *group) decideReceipt(it *item) (res eventstore.Result, done bool) {
	a := &it.a
	there := g.receipts[it.receipt]
	switch {
	case there == nil:
		return eventstore.Result{Position: g.head}, a.LooksUp()
	case there.Fingerprint != a.Receipt.Fingerprint:
		return eventstore.Result{Err: keyReused(a.Receipt.Key)}, true
	case len(a.Drafts) == 0 && !a.LooksUp():
		r := *there
		r.Answer = a.Receipt.Answer
		g.receipts[it.receipt], g.kept[it.receipt] = &r, &r
		return eventstore.Result{Position: g.head}, true
	default:
		g.found = true
		return eventstore.Result{Position: g.head, Receipt: there}, true
	}
}

// versions checks the expected versions and gives the records after the item.
func (g *group) versions(it *item) (map[calendar.ID]*held, error) {
	after := make(map[calendar.ID]*held, len(it.drafts))
	for i := range it.drafts {
		d, e := &it.drafts[i], &it.drafts[i].entry
		before := after[e.ID]
		if before == nil {
			before = g.states[e.ID]
		}
		h := &held{kind: e.Kind, version: e.Version, secret: e.Secret, claims: d.claims, names: d.names}
		var version int64
		if before != nil {
			version = before.version
			h.stored = before.stored
			if h.secret == nil {
				h.secret = before.secret
			}
		}
		if version != e.Version-1 || (before != nil && before.kind != e.Kind) {
			return nil, fmt.Errorf("%s %d at version %d, not %d: %w", e.Kind, e.ID, version, e.Version-1, eventstore.ErrConflict)
		}
		after[e.ID] = h
	}
	return after, nil
}

func (g *group) guards(it *item) error {
	for i, guard := range it.a.Guards {
		if n := len(g.named[it.guards[i]]); n != guard.Count {
			return fmt.Errorf("name %s/%s is found %d times, not %d: %w",
				guard.Name.Space, guard.Name.Key, n, guard.Count, eventstore.ErrConflict)
		}
	}
	return nil
}

// claims checks that no claim would have two holders.
func (g *group) claims(it *item, after map[calendar.ID]*held) error {
	taken := map[[32]byte]calendar.ID{}
	for i := range it.drafts {
		id := it.drafts[i].entry.ID
		for _, c := range after[id].claims {
			holder := g.holders[c.digest]
			if after[holder] != nil {
				holder = 0 // that record releases it, or is checked with it
			}
			if other := taken[c.digest]; other != 0 {
				holder = other
			}
			if holder != 0 && holder != id {
				return &eventstore.ClaimError{Claim: c.Claim, Holder: holder}
			}
			taken[c.digest] = id
		}
	}
	return nil
}

func (g *group) accept(it *item, after map[calendar.ID]*held) {
	g.accepted = append(g.accepted, it)
	g.head += calendar.Position(len(it.drafts))
	for id := range after { // all releases first
		for _, c := range g.holding[id] {
			if g.holders[c] == id {
				delete(g.holders, c)
			}
		}
		delete(g.holding, id)
	}
	for id, h := range after {
		for _, c := range h.claims {
			g.hold(c.digest, id)
		}
		for digest, having := range g.named {
			if slices.ContainsFunc(h.names, func(n pair) bool { return n.digest == digest }) {
				having[id] = true
			} else {
				delete(having, id)
			}
		}
		g.states[id] = h
	}
	if it.a.Receipt == nil {
		return
	}
	r := *it.a.Receipt
	r.Time = eventstore.Moment(r.Time)
	if len(it.drafts) > 0 {
		r.Position = g.head
	}
	g.receipts[it.receipt], g.kept[it.receipt] = &r, &r
}

func (g *group) hold(claim [32]byte, id calendar.ID) {
	g.holders[claim] = id
	g.holding[id] = append(g.holding[id], claim)
}
