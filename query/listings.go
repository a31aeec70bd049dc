package query

import (
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// readEvents reads what only lists of events have (interface 4.5, LISTINGS 1 to 4).
func (parser *parser) readEvents() {
	parser.readCursor() // first: words and defaults of dates are of its moment
	parser.readSource()
	parser.includeOnly(parser.parameter("include").IDs())
	parser.readWindow()
	for i := range facets {
		parser.readFacet(&parser.facets[i])
	}
	if authors := parser.parameter("author").IDs(); authors != nil {
		parser.where(in(readmodel.FieldAuthor, authors...))
	}
	parser.readRecord("post_parent", calendar.KindEvent, readmodel.FieldPostParent)
	if words := parser.parameter("event_status").Words(); words != nil {
		either := make(readmodel.Or, len(words))
		for i, word := range words {
			either[i] = readmodel.Term{Field: readmodel.FieldEventStatus, Value: word}
		}
		parser.where(either)
	}
	shortest, limited := parser.parameter("duration_min").Whole() // in minutes
	if limited {
		parser.where(readmodel.AtLeast(readmodel.FieldDuration, shortest*60))
	}
	if longest, ok := parser.parameter("duration_max").Whole(); ok {
		if limited && shortest > longest {
			parser.value.Refuse(calendar.ReasonTooSmall, strconv.FormatInt(shortest, 10))
		}
		parser.where(readmodel.AtMost(readmodel.FieldDuration, longest*60))
	}
	parser.readPlace()
	parser.readOrder()
	parser.readTypos()
	if parser.Highlight, _ = parser.parameter("highlight").Bool(); parser.Highlight {
		parser.Cost++
	}
	parser.HighlightLength = parser.parameter("highlight_length").Int()
	parser.readFacets()
	if _, parser.collapse = parser.parameter("collapse").Word(); parser.collapse {
		parser.Cost += 2
	}
	parser.parameter("format").Word() // read before, as it says who encodes the list
	features, _ := parser.parameter("features").Word()
	parser.Venues = features == "venues"
	parser.BOM, _ = parser.parameter("csv_bom").Bool()
	parser.Raw, _ = parser.parameter("csv_raw").Bool()
	parser.zoom = parser.parameter("zoom").Int()
	parser.readTyped()
}

// readPlace reads the places of interface 4.8, and the box of LISTINGS 2.
func (parser *parser) readPlace() {
	if has, ok := parser.parameter("geoloc").Bool(); ok {
		parser.geoloc = &has
	}
	latitude, hasLat := parser.parameter("geoloc_lat").Number()
	longitude, hasLng := parser.parameter("geoloc_lng").Number()
	km, ok := parser.parameter("geoloc_radius").Number()
	if !ok {
		km = DefaultRadius
	}
	for name, other := range map[string]string{"geoloc_lat": "geoloc_lng", "geoloc_lng": "geoloc_lat"} {
		if parser.sent(name) && !parser.sent(other) {
			parser.bad.Add(other, calendar.ReasonPairMissing, name)
		}
	}
	switch {
	case !hasLat || !hasLng:
	case parser.geoloc != nil && !*parser.geoloc:
		parser.bad.Add("geoloc", calendar.ReasonGeolocConflict)
	default:
		parser.near = &circle{latitude: latitude, longitude: longitude, km: km}
	}
	if distances := parser.parameter("bbox").Numbers(); distances != nil {
		if len(distances) != 4 || !wholeWorld.holds(distances[1], distances[0]) || !wholeWorld.holds(distances[3], distances[2]) || distances[1] > distances[3] {
			parser.value.Refuse(calendar.ReasonBox)
			return
		}
		parser.box = &box{west: distances[0], south: distances[1], east: distances[2], north: distances[3]}
	}
}

// sortRelevance is the word of sort for the order of readmodel.Relevance.
const sortRelevance = "relevance"

// sortFields are the first keys of the orders that have no value in some events.
var sortFields = map[string]string{"published": readmodel.FieldPublished, "modified": readmodel.FieldModified}

// readOrder reads the order of events (LISTINGS 3.1).
func (parser *parser) readOrder() {
	value := parser.parameter("sort")
	if _, sent := value.Sent(); !sent {
		return
	}
	parser.sort, _ = value.Word()
	parser.desc = sortFields[parser.sort] != ""
	if parser.sort == "distance" || parser.sort == sortRelevance {
		parser.Cost++
	}
	if parser.sort == "distance" && (!parser.sent("geoloc_lat") || !parser.sent("geoloc_lng")) { // from nowhere
		value.Refuse(calendar.ReasonPairMissing, "geoloc_lat, geoloc_lng")
	}
	words := []string{"asc", "desc"}
	if parser.sort == sortRelevance { // best first, whatever is below it
		words = words[1:]
	}
	value = parser.parameter("order")
	if word, ok := value.Text(); ok {
		word = strings.ToLower(word)
		if !slices.Contains(words, word) {
			value.Refuse(calendar.ReasonWord, strings.Join(words, ", "))
		}
		parser.desc = word == "desc" && parser.sort != sortRelevance
	}
}
