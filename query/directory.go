package query

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// directory has all live records of a kind that events link to, with what facets show of
// them. It is cached as long as the index shows them as they are.
type directory struct {
	records []*calendar.Record                  // by id, with some of their fields
	points  []point                             // by place
	options []option                            // by place: the record, and of categories those below it
	names   map[string]map[string][]calendar.ID // venues by detail and readmodel.PlaceKey

	shown readmodel.VisibleState // of the index
	stamp uint64                 // of readmodel.View
}

// point is where a venue lies, in degrees; others are known nowhere.
type point struct {
	latitude, longitude float64
	known               bool
}

// directoryFields are the fields that a directory holds of records.
var directoryFields = strings.Fields("name venue organizer slug parent city country author status date_utc geo_lat geo_lng")

// directory returns the directory of a kind, an empty one after an error.
func (plan *listPlan) directory(kind calendar.Kind) *directory {
	if plan.err != nil {
		return &directory{}
	}
	isCurrent := func(directory *directory) bool { return directory.shown == plan.generation.VisibleState }
	found, err := plan.directories[kind].get(plan.ctx, isCurrent, func(previous *directory) (*directory, error) {
		stamp, err := plan.view.Stamp(plan.ctx, kind)
		if err == nil && (previous == nil || previous.stamp != stamp) {
			previous, err = plan.readDirectory(kind)
		}
		if err != nil {
			return nil, err
		}
		next := *previous
		next.shown, next.stamp = plan.generation.VisibleState, stamp
		return &next, nil
	})
	if plan.err = err; err != nil {
		return &directory{}
	}
	return found
}

func (plan *listPlan) readDirectory(kind calendar.Kind) (*directory, error) {
	d := &directory{names: map[string]map[string][]calendar.ID{}}
	for _, detail := range placeDetails {
		d.names[detail] = map[string][]calendar.ID{}
	}
	query := readmodel.Query{Kind: kind, Sort: readmodel.By(false, readmodel.FieldID)}
	err := plan.view.Walk(plan.ctx, query, func(documents []readmodel.Document) error {
		for i := range documents {
			d.add(documents[i].Record)
		}
		return nil
	})
	for index := range d.records {
		for _, above := range d.above(index) {
			d.options[above].numbers = append(d.options[above].numbers, d.records[index].ID)
		}
	}
	return d, err
}

func (directory *directory) add(record *calendar.Record) {
	fields := record.Fields.Copy(directoryFields)
	directory.records = append(directory.records, &calendar.Record{ID: record.ID, Kind: record.Kind, Home: record.Home, Fields: fields})
	directory.options = append(directory.options, numbered(record.ID.String(), record.ID))
	latitude, hasLat := fields.Number("geo_lat")
	longitude, hasLng := fields.Number("geo_lng")
	directory.points = append(directory.points, point{latitude, longitude, hasLat && hasLng})
	for detail, names := range directory.names {
		if key := readmodel.PlaceKey(fields.String(detail)); key != "" {
			names[key] = append(names[key], record.ID)
		}
	}
}

// find returns the place of a record.
func (directory *directory) find(id calendar.ID) (int, bool) {
	return slices.BinarySearchFunc(directory.records, id, func(record *calendar.Record, id calendar.ID) int { return cmp.Compare(record.ID, id) })
}

// above returns the places of the live categories above one, the nearest first.
func (directory *directory) above(index int) (result []int) {
	for range directory.records { // a lagging model could show a cycle
		above, known := directory.find(directory.records[index].Fields.ID("parent"))
		if !known {
			break
		}
		result, index = append(result, above), above
	}
	return result
}

// withBelow adds to categories all that stand below them.
func (directory *directory) withBelow(ids []calendar.ID) []calendar.ID {
	result := slices.Clone(ids)
	for _, id := range ids {
		if index, known := directory.find(id); known {
			result = append(result, directory.options[index].numbers...)
		}
	}
	slices.Sort(result)
	return slices.Compact(result)
}

// placed returns the cities or countries of the venues that the caller sees.
func (plan *listPlan) placed(detail string) (options []option) {
	names := plan.directory(calendar.KindVenue).names[detail]
	for _, key := range slices.Sorted(maps.Keys(names)) {
		if ids := plan.among(calendar.KindVenue, names[key]); len(ids) > 0 {
			options = append(options, option{word: key, numbers: ids})
		}
	}
	return options
}
