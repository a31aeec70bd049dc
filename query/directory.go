package query

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// directory has all live records of a kind that events link to, with what facets show of
// them. It is cached as long as the index shows them as they are.
type directory struct {
	options []option                            // by id: the record, and of categories those below it
	names   map[string]map[string][]calendar.ID // venues by the detail, a facet, and readmodel.PlaceKey

	shown readmodel.VisibleState // of the index
	stamp uint64                 // of readmodel.View
}

// directoryFields are the fields that a directory holds of records.
var directoryFields = strings.Fields("name venue organizer slug parent city country author status date_utc geo_lat geo_lng")

// directory returns the directory of a kind, an empty one after an error.
func (plan *listPlan) directory(kind calendar.Kind) *directory {
	found, isCurrent := &directory{}, func(directory *directory) bool { return directory.shown == plan.generation.VisibleState }
	if plan.err != nil {
		return found
	}
	found, plan.err = plan.directories[kind].get(plan.ctx, isCurrent, func(previous *directory) (*directory, error) {
		stamp, err := plan.view.Stamp(plan.ctx, kind)
		next := *previous
		if err == nil && next.stamp != stamp {
			next, err = plan.readDirectory(kind)
		}
		next.shown, next.stamp = plan.generation.VisibleState, stamp
		return &next, err
	})
	return found
}

func (plan *listPlan) readDirectory(kind calendar.Kind) (directory, error) {
	d := directory{names: map[string]map[string][]calendar.ID{"city": {}, "country": {}}}
	query := readmodel.Query{Kind: kind, Sort: readmodel.By(false, readmodel.FieldID)}
	err := plan.view.Walk(plan.ctx, query, func(documents []readmodel.Document) error {
		for i := range documents {
			record := documents[i].Record
			fields := record.Fields.Copy(directoryFields)
			latitude, hasLat := fields.Number("geo_lat")
			longitude, hasLng := fields.Number("geo_lng")
			option := numbered(record.ID.String(), record.ID)
			option.linked = &linked{&calendar.Record{ID: record.ID, Kind: record.Kind, Home: record.Home, Fields: fields}, latitude, longitude, hasLat && hasLng}
			d.options = append(d.options, option)
			for detail, names := range d.names {
				if key := readmodel.PlaceKey(fields.String(detail)); key != "" {
					names[key] = append(names[key], record.ID)
				}
			}
		}
		return nil
	})
	for i := range d.options {
		for _, above := range d.above(&d.options[i]) {
			above.numbers = append(above.numbers, d.options[i].record.ID)
		}
	}
	return d, err
}

// find returns the option of a record, nil for an unknown one.
func (directory *directory) find(id calendar.ID) *option {
	index, known := sort.Find(len(directory.options), func(i int) int { return cmp.Compare(id, directory.options[i].record.ID) })
	if !known {
		return nil
	}
	return &directory.options[index]
}

// above returns the live categories above one, the nearest first.
func (directory *directory) above(option *option) (result []*option) {
	for range directory.options { // a lagging model could show a cycle
		if option = directory.find(option.record.Fields.ID("parent")); option == nil {
			break
		}
		result = append(result, option)
	}
	return result
}

// placed returns the cities or countries of the venues that the caller sees.
func (plan *listPlan) placed(detail string) (options []option) {
	names := plan.directory(calendar.KindVenue).names[detail]
	for _, key := range slices.Sorted(maps.Keys(names)) {
		if ids := recordsOf(plan.among(calendar.KindVenue, names[key])); len(ids) > 0 {
			options = append(options, option{word: key, numbers: ids})
		}
	}
	return options
}
