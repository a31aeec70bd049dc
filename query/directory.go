package query

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// directory has all live records of a kind that events link to, with what facets show of
// them. It is kept as long as the index shows them as they are.
type directory struct {
	stamp   readmodel.Stamp
	records []*calendar.Record // by id, with some of their fields
	ranks   [len(calendar.Langs)]lazy[ranks]
	public  atomic.Pointer[circle]
	// Of categories: the parts of a tally, and the record of each.
	trees   []readmodel.Filter
	parents []int
}

// ranks are the labels of a directory in a language, by place: folded, and their order.
type ranks struct {
	folded []string
	at     []int32
}

// circle is what of a directory some callers see on events.
type circle struct {
	due  int64
	seen []bool // by place
	// Of venues.
	cities, countries places
}

// places are the cities or countries of venues.
type places struct {
	keys   []string
	groups [][]calendar.ID // by key, ascending
	index  map[string]int  // of keys, while they are gathered
}

// directoryFields are the fields of records that a directory keeps.
var directoryFields = []string{"name", "venue", "organizer", "slug", "parent", "city", "country", "author", "status", "date_utc", "geo_lat", "geo_lng"}

// directories are the last ones that a Service has read.
type directories [calendar.KindTag + 1]atomic.Pointer[directory]

// directory gives the directory of a kind as the generation shows it, or newer.
func (s *snapshot) directory(ctx context.Context, service *Service, k calendar.Kind) (*directory, error) {
	return s.directories[k].get(ctx, func(ctx context.Context) (*directory, error) {
		stamp, err := service.index.Stamp(ctx, k) // before the records: they may be newer
		if err != nil {
			return nil, err
		}
		last := &service.directories[k]
		if known := last.Load(); known != nil && known.stamp == stamp {
			return known, nil
		}
		fresh, err := service.readDirectory(ctx, k, stamp)
		if err == nil {
			last.Store(fresh)
		}
		return fresh, err
	})
}

func (s *Service) readDirectory(ctx context.Context, k calendar.Kind, stamp readmodel.Stamp) (*directory, error) {
	walk, err := s.index.Walk(ctx, readmodel.Query{Kind: k, Sort: []readmodel.Sort{{Field: readmodel.FieldID}}})
	if err != nil {
		return nil, err
	}
	defer walk.Close()
	d := &directory{stamp: stamp, records: make([]*calendar.Record, 0, walk.Total())}
	for l := range d.ranks {
		d.ranks[l] = newLazy[ranks]()
	}
	err = walk.Each(ctx, func(documents []readmodel.Document) error {
		for i := range documents {
			r := documents[i].Record
			d.records = append(d.records, &calendar.Record{ID: r.ID, Kind: r.Kind, Home: r.Home, Fields: r.Fields.Copy(directoryFields)})
		}
		return nil
	})
	if k == calendar.KindCategory {
		d.plant()
	}
	return d, err
}

// find gives the place of a record.
func (d *directory) find(id calendar.ID) (int, bool) {
	return slices.BinarySearchFunc(d.records, id, func(r *calendar.Record, id calendar.ID) int { return cmp.Compare(r.ID, id) })
}

// label is the plain shown name of a record.
func (d *directory) label(at int, l calendar.Lang) string {
	name, _ := d.records[at].Name(l)
	return name
}

// ranked gives the order of labels in a language: folded, then by the id as a text.
func (d *directory) ranked(ctx context.Context, l calendar.Lang) (ranks, error) {
	return d.ranks[l].get(ctx, func(context.Context) (ranks, error) {
		n := len(d.records)
		out := ranks{folded: make([]string, n), at: make([]int32, n)}
		order := make([]int, n)
		for i := range order {
			order[i] = i
			out.folded[i] = readmodel.Fold(d.label(i, l))
		}
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(out.folded[a], out.folded[b]), cmp.Compare(d.records[a].ID.String(), d.records[b].ID.String()))
		})
		for rank, at := range order {
			out.at[at] = int32(rank)
		}
		return out, nil
	})
}

// plant makes the parts of a tally that count the trees of categories.
func (d *directory) plant() {
	children := map[calendar.ID][]calendar.ID{}
	for _, r := range d.records {
		if p := r.Fields.ID("parent"); p != 0 {
			children[p] = append(children[p], r.ID)
		}
	}
	for at, r := range d.records {
		if children[r.ID] == nil {
			continue
		}
		tree, seen := []calendar.ID{r.ID}, map[calendar.ID]bool{r.ID: true} // a lagging model could show a cycle
		for i := 0; i < len(tree); i++ {
			for _, child := range children[tree[i]] {
				if !seen[child] {
					seen[child] = true
					tree = append(tree, child)
				}
			}
		}
		slices.Sort(tree)
		d.trees = append(d.trees, readmodel.In{Field: readmodel.FieldCategories, IDs: tree})
		d.parents = append(d.parents, at)
	}
}

// level is how many live categories stand above one.
func (d *directory) level(at int) int {
	level := 0
	for level <= len(d.records) { // a lagging model could show a cycle
		above, ok := d.find(d.records[at].Fields.ID("parent"))
		if !ok {
			break
		}
		at = above
		level++
	}
	return level
}

// circle gives what a caller sees of a directory on events.
func (d *directory) circle(c calendar.Caller, snap *snapshot, w *Withdrawn) *circle {
	shared := viewOf(c) == viewPublic && w == nil
	if known := d.public.Load(); shared && known != nil && known.due == snap.gen.Due {
		return known
	}
	out := &circle{due: snap.gen.Due, seen: make([]bool, len(d.records))}
	now := time.Unix(snap.now, 0)
	for at, r := range d.records {
		out.seen[at] = newLinkedRecord(r, now).shows(c, now) && !w.has(r.Kind, r.ID)
		if out.seen[at] && r.Kind == calendar.KindVenue {
			out.cities.add(r, "city")
			out.countries.add(r, "country")
		}
	}
	out.cities.index, out.countries.index = nil, nil
	if shared {
		d.public.Store(out)
	}
	return out
}

func (p *places) add(r *calendar.Record, detail string) {
	key := readmodel.PlaceKey(r.Fields.String(detail))
	if key == "" {
		return
	}
	at, known := p.index[key]
	if !known {
		if p.index == nil {
			p.index = map[string]int{}
		}
		at = len(p.keys)
		p.index[key] = at
		p.keys, p.groups = append(p.keys, key), append(p.groups, nil)
	}
	p.groups[at] = append(p.groups[at], r.ID)
}
