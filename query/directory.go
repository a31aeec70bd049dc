package query

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// directory has all live records of a kind that events link to, with what facets show of
// them. It is cached as long as the index shows them as they are.
type directory struct {
	records []*calendar.Record // by id, with some of their fields
	views   [viewAll + 1]atomic.Pointer[visibleRecords]
	points  []point         // of venues, by place
	trees   [][]calendar.ID // by place: the record, and of categories those below it
}

// currentDirectory is the directory of a state of the index.
type currentDirectory struct {
	*directory
	shown readmodel.VisibleState
	stamp uint64 // of readmodel.View
}

// point is the place of a venue, in degrees.
type point struct {
	lat, lng float64
	known    bool
}

// visibleRecords is what of a directory some callers see on events.
type visibleRecords struct {
	*directory
	due   int64
	seen  []bool                              // by place
	names map[string]map[string][]calendar.ID // venues by detail and readmodel.PlaceKey
}

// directoryFields are the fields that a directory holds of records.
var directoryFields = []string{"name", "venue", "organizer", "slug", "parent", "city", "country", "author", "status", "date_utc", "geo_lat", "geo_lng"}

// directory returns the directory of a kind.
func (state *state) directory(ctx context.Context, kind calendar.Kind) (*directory, error) {
	isCurrent := func(directory *currentDirectory) bool { return directory.shown == state.gen.VisibleState }
	d, err := state.directories[kind].get(ctx, isCurrent, func(previous *currentDirectory) (*currentDirectory, error) {
		stamp, err := state.view.Stamp(ctx, kind)
		if err != nil {
			return nil, err
		}
		if previous != nil && previous.stamp == stamp {
			return &currentDirectory{previous.directory, state.gen.VisibleState, stamp}, nil
		}
		fresh, err := state.readDirectory(ctx, kind)
		return &currentDirectory{fresh, state.gen.VisibleState, stamp}, err
	})
	if err != nil {
		return nil, err
	}
	return d.directory, nil
}

func (state *state) readDirectory(ctx context.Context, kind calendar.Kind) (*directory, error) {
	d := &directory{}
	query := readmodel.Query{Kind: kind, Sort: readmodel.By(false, readmodel.FieldID)}
	err := state.view.Walk(ctx, query, func(documents []readmodel.Document) error {
		for i := range documents {
			record := documents[i].Record
			d.records = append(d.records, &calendar.Record{ID: record.ID, Kind: record.Kind, Home: record.Home, Fields: record.Fields.Copy(directoryFields)})
			if kind == calendar.KindVenue {
				lat, hasLat := record.Fields.Number("geo_lat")
				lng, hasLng := record.Fields.Number("geo_lng")
				d.points = append(d.points, point{lat, lng, hasLat && hasLng})
			}
		}
		return nil
	})
	d.addTrees()
	return d, err
}

// find returns the place of a record.
func (directory *directory) find(id calendar.ID) (int, bool) {
	return slices.BinarySearchFunc(directory.records, id, func(record *calendar.Record, id calendar.ID) int { return cmp.Compare(record.ID, id) })
}

// above returns the places of the live categories above one, the nearest first.
func (directory *directory) above(at int) (out []int) {
	for range directory.records { // a lagging model could show a cycle
		above, known := directory.find(directory.records[at].Fields.ID("parent"))
		if !known {
			break
		}
		out, at = append(out, above), above
	}
	return out
}

// addTrees adds the trees.
func (directory *directory) addTrees() {
	directory.trees = make([][]calendar.ID, len(directory.records))
	for at, record := range directory.records {
		directory.trees[at] = append(directory.trees[at], record.ID)
		for _, above := range directory.above(at) {
			directory.trees[above] = append(directory.trees[above], record.ID)
		}
	}
}

// withBelow adds to categories all that stand below them.
func (directory *directory) withBelow(ids []calendar.ID) []calendar.ID {
	out := slices.Clone(ids)
	for _, id := range ids {
		if at, known := directory.find(id); known {
			out = append(out, directory.trees[at]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// visible returns what the caller of a list sees of a directory on events: what is not
// trashed and the caller could read singly.
func (state *state) visible(ctx context.Context, criteria *Criteria, kind calendar.Kind) (*visibleRecords, error) {
	directory, err := state.directory(ctx, kind)
	if err != nil {
		return nil, err
	}
	view := viewOf(criteria.Caller)
	shared := view != viewOwn && len(criteria.withdrawn) == 0
	if known := directory.views[view].Load(); shared && known != nil && known.due == state.gen.Due {
		return known, nil
	}
	out := &visibleRecords{directory: directory, due: state.gen.Due, seen: make([]bool, len(directory.records)), names: map[string]map[string][]calendar.ID{}}
	for _, detail := range placeDetails {
		out.names[detail] = map[string][]calendar.ID{}
	}
	for at, record := range directory.records {
		out.seen[at] = isShown(record, criteria.Caller, state.moment()) && !criteria.withdrawn.has(record.ID)
		for detail, names := range out.names {
			if key := readmodel.PlaceKey(record.Fields.String(detail)); out.seen[at] && key != "" {
				names[key] = append(names[key], record.ID)
			}
		}
	}
	if shared {
		directory.views[view].Store(out)
	}
	return out, nil
}

// among returns those of some records that the caller sees.
func (visible *visibleRecords) among(ids []calendar.ID) []calendar.ID {
	out := []calendar.ID{}
	for _, id := range ids {
		if at, known := visible.find(id); known && visible.seen[at] {
			out = append(out, id)
		}
	}
	return out
}
