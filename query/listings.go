package query

import (
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// The filters and orders of sections 2 and 3 of the listings document.

// The bounds of the duration, in minutes; the lower one is read first.

func readShortest(parser *parser, value *param.Value) {
	if n, ok := value.Whole(0, value.Bound("maximum")); ok {
		parser.shorter = &n
		parser.where("", readmodel.AtLeast(readmodel.FieldDuration, n*60))
	}
}

func readLongest(parser *parser, value *param.Value) {
	n, ok := value.Whole(0, value.Bound("maximum"))
	if ok && parser.shorter != nil && *parser.shorter > n {
		value.Refuse(calendar.ReasonTooSmall, strconv.FormatInt(*parser.shorter, 10))
	}
	if ok {
		parser.where("", readmodel.AtMost(readmodel.FieldDuration, n*60))
	}
}

func readPlaces(parser *parser, value *param.Value) {
	for _, text := range value.List() {
		if parser.places == nil {
			parser.places = map[string][]string{}
		}
		if key := readmodel.PlaceKey(text); !slices.Contains(parser.places[value.Name], key) {
			parser.places[value.Name] = append(parser.places[value.Name], key)
		}
	}
}

// readBox reads four numbers; equal ones stay, so it is no list as others are.
func readBox(parser *parser, value *param.Value) {
	if value.List() == nil {
		return
	}
	var at []float64
	for _, text := range sentElements(parser.input[value.Name]) {
		n, ok := calendar.ParseNumber(text)
		if !ok {
			value.Refuse(calendar.ReasonTypeNumber)
			return
		}
		at = append(at, n)
	}
	world := box{west: -180, south: -90, east: 180, north: 90}
	if len(at) != 4 || !world.holds(at[1], at[0]) || !world.holds(at[3], at[2]) || at[1] > at[3] {
		value.Refuse(calendar.ReasonBox)
		return
	}
	parser.box = &box{west: at[0], south: at[1], east: at[2], north: at[3]}
}

// sentElements returns the elements of a list of texts, empty ones skipped and equal ones
// as often as they were sent.
func sentElements(value any) (out []string) {
	list, _ := value.([]any)
	if text, ok := value.(string); ok {
		for e := range strings.SplitSeq(text, ",") {
			list = append(list, e)
		}
	}
	for _, e := range list {
		text, _ := e.(string)
		if text = calendar.Trim(text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// sortRelevance is the word of sort for the order of readmodel.Relevance.
const sortRelevance = "relevance"

// sortFields are the first keys of the orders that have no value in some events.
var sortFields = map[string]string{"published": readmodel.FieldPublished, "modified": readmodel.FieldModified}

// readSort reads an order of events (listings, section 3.1).
func readSort(parser *parser, value *param.Value) {
	word, ok := value.Word()
	if !ok {
		return
	}
	parser.sort = word
	parser.desc = sortFields[word] != ""
	if word == "distance" || word == sortRelevance {
		parser.Cost++
	}
	if word == "distance" && (!parser.sent("geoloc_lat") || !parser.sent("geoloc_lng")) { // from nowhere
		value.Refuse(calendar.ReasonPairMissing, "geoloc_lat, geoloc_lng")
	}
}

// readDirection is without effect, and not looked at, where no order is asked for.
func readDirection(parser *parser, value *param.Value) {
	if !parser.sent("sort") {
		return
	}
	word, ok := value.Text(0)
	switch {
	case !ok:
	case parser.sort == sortRelevance: // best first, whatever is below it
		if !strings.EqualFold(word, "desc") {
			value.Refuse(calendar.ReasonWord, "desc")
		}
	case strings.EqualFold(word, "asc"):
		parser.desc = false
	case strings.EqualFold(word, "desc"):
		parser.desc = true
	default:
		value.Refuse(calendar.ReasonWord, "asc, desc")
	}
}
