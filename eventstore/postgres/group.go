package postgres

import (
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// group is a commit that is decided here, item by item, because some of them
// meet or lose, while the log is held. The secrets of its records are those that
// items set.
type group struct {
	*eventstore.Group

	written map[versionOf]place // entries that an attempt before this one may have written

	erased map[int64]bool // records that answers of items may name

	found    bool // something is answered because it is there
	accepted []*item
}

type versionOf struct {
	id      calendar.ID
	version int64
}

type place struct {
	position calendar.Position
	leaf     [32]byte
}

// decide takes an item into the group or refuses it.
func (g *group) decide(it *item) eventstore.Result {
	if p, there := g.alreadyWritten(it); there {
		g.found = true
		return eventstore.Result{Position: p}
	}
	if it.a.Settles() {
		g.found = true
		return eventstore.Result{Position: g.Head}
	}
	if slices.ContainsFunc(it.named, func(id int64) bool { return g.erased[id] }) {
		r := *it.a.Receipt
		r.Answer, it.a.Receipt = nil, &r // it is made again from what is left
	}
	res, accepted := g.Decide(&it.a)
	if accepted {
		g.accepted = append(g.accepted, it)
	}
	g.found = g.found || res.Receipt != nil
	return res
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
