package elastic

import (
	"context"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// nameAlone is the name of the query of documents that are groups of their own.
const nameAlone = "alone"

// collapse has a walk read the group and the start of documents, as the last keys of its
// order.
func (c *compiler) collapse(ctx context.Context, r searchRequest, how *readmodel.Collapse) (searchRequest, error) {
	if how.Alone != nil {
		alone, err := c.compile(ctx, how.Alone)
		if err != nil {
			return r, err
		}
		// must, as the score may be a key of the order; a filter adds nothing to it.
		r.Query = object{"bool": object{"must": list{r.Query}, "should": list{object{"bool": object{"filter": list{alone}, "_name": nameAlone}}}}}
	}
	last := object{"order": "asc", "missing": "_last", "unmapped_type": "long"}
	r.Sort = append(r.Sort, object{how.Field: last}, object{readmodel.FieldStart: last})
	return r, nil
}

// readGroup reads them, from a key on.
func (p *placed) readGroup(h *hit, key int) (err error) {
	if p.group, err = keyAt(h, key); err != nil {
		return err
	}
	start, err := keyAt(h, key+1)
	p.start = calendar.Wall(start)
	if start == lacking(false) {
		p.start = calendar.NoWall
	}
	p.alone = p.group == lacking(false) || slices.Contains(h.Matched, nameAlone)
	return err
}

// collapsed returns the first place of each group, with the group.
func collapsed(places []placed) []placed {
	var out []placed
	groups := map[int64]*readmodel.Repeats{}
	for _, p := range places {
		group := groups[p.group]
		if p.alone || group == nil {
			group = &readmodel.Repeats{First: calendar.NoWall, Last: calendar.NoWall}
			p.repeats = group
			out = append(out, p)
		}
		if !p.alone {
			groups[p.group] = group
		}
		group.Add(p.id, p.start)
	}
	return out
}
