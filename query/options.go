package query

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// option is a value of a parameter that a facet counts. It admits the events of which the
// facet's field has one of the numbers, or those that other admits.
type option struct {
	word, label string // label: "" where the value is a word
	numbers     []calendar.ID
	other       readmodel.Filter
	*linked     // of the value of a directory
}

// linked is a record that events link to.
type linked struct {
	record              *calendar.Record // with some of its fields
	latitude, longitude float64          // of venues
	located             bool
}

// is reports whether two options of a parameter mean the same, however they were sent.
func (option option) is(second option) bool {
	return option.word == second.word || option.other != nil && reflect.DeepEqual(option.other, second.other)
}

// minutes admits the events that start from one minute of the day to below another one; over
// midnight where that is not after it.
func minutes(from, below int64) readmodel.Filter {
	if below <= from {
		return readmodel.Or{readmodel.AtLeast(readmodel.FieldMinute, from), readmodel.AtMost(readmodel.FieldMinute, below-1)}
	}
	return readmodel.Range{Field: readmodel.FieldMinute, Span: readmodel.Span{Min: from, Max: below - 1}}
}

const dayMinutes = 24 * 60

// The options of facets, in their order.
var (
	weekdays   = inOrder("1", "2", "3", "4", "5", "6", "7")
	languages  = inOrder(calendar.LangNames()...) // as readmodel.LanguageID has them
	timesOfDay = []option{
		{word: "night", other: minutes(0, 6*60)},
		{word: "morning", other: minutes(6*60, 12*60)},
		{word: "afternoon", other: minutes(12*60, 18*60)},
		{word: "evening", other: minutes(18*60, dayMinutes)},
		{word: "all_day", other: isTrue(readmodel.FieldAllDay)},
	}
	isFree readmodel.Filter = readmodel.AtMost(readmodel.FieldCost, readmodel.CostFree)
)

// numbered is the option of one number.
func numbered(word string, number calendar.ID) option {
	return option{word: word, numbers: []calendar.ID{number}}
}

// inOrder are the options of the numbers from 1 on.
func inOrder(words ...string) (all []option) {
	for i, word := range words {
		all = append(all, numbered(word, calendar.ID(i+1)))
	}
	return all
}

// either are the options of a boolean.
func either(filter readmodel.Filter) []option {
	return []option{{word: "true", other: filter}, {word: "false", other: not(filter)}}
}

// CostBands are the bands that the costs of events are counted in.
type CostBands []option

// maxCostBounds is how many bounds bands of costs have at most.
const maxCostBounds = 20

// ReadCostBands reads the bounds of bands: rising decimals above 0, with up to two places,
// commas between them.
func ReadCostBands(text string) (CostBands, error) {
	bands, from, bounds := CostBands{{word: "free", other: isFree}}, "0", strings.Split(text, ",")
	for _, bound := range append(bounds, "") {
		bound = calendar.Trim(bound)
		band, ok := readCostBand(from + "-" + bound)
		if !ok || len(bounds) > maxCostBounds {
			return nil, fmt.Errorf("must be up to %d rising numbers above 0, as 10,25,50,100", maxCostBounds)
		}
		bands, from = append(bands, band), bound
	}
	return append(bands, option{word: "unknown", other: not(readmodel.Range{Field: readmodel.FieldCost, Span: readmodel.AllNumbers})}), nil
}

// readFacet filters by the parameter that a facet has the name of: a boolean, words, entries
// that the facet reads, or records.
func (parser *parser) readFacet(facet *facet) {
	value := parser.parameter(facet.name)
	var chosen []option
	var entries []string
	switch {
	case facet.kind != 0 && !facet.isPlace():
		for _, id := range parser.linkedTo(value, facet.kind) {
			chosen = append(chosen, numbered(id.String(), id))
		}
	case value.Type != "boolean":
		entries = value.List()
	default:
		if is, ok := value.Bool(); ok {
			entries = []string{strconv.FormatBool(is)}
		}
	}
	for _, text := range entries {
		index := slices.IndexFunc(facet.options, option{word: text}.is)
		switch {
		case index >= 0:
			chosen = append(chosen, facet.options[index])
		case facet.read == nil:
			value.Known(text)
			return
		default:
			option, ok := facet.read(text)
			if !ok {
				value.Refuse(calendar.ReasonEntry, text)
				return
			}
			chosen = append(chosen, option)
		}
	}
	if facet.name == "cost_band" && len(chosen) > maxBands {
		value.Refuse(calendar.ReasonTooMany, strconv.Itoa(maxBands))
	}
	if chosen != nil {
		parser.chosen[facet.name] = chosen
	}
}

// maxBands is how many bands of costs one list may ask for: a search server takes 1,024
// parts of a query.
const maxBands = 100

// anyOf admits what one of some options of a field does.
func anyOf(field string, options []option) readmodel.Filter {
	result, numbers := readmodel.Or{}, readmodel.In{Field: field}
	for _, option := range options {
		if option.other != nil {
			result = append(result, option.other)
		}
		numbers.IDs = append(numbers.IDs, option.numbers...)
	}
	if numbers.IDs != nil {
		result = append(result, numbers)
	}
	return result
}

// readPlace reads a city or country; which venues lie there is known when the list is made.
func readPlace(entry string) (option, bool) { return option{word: readmodel.PlaceKey(entry)}, true }

func readMonth(entry string) (option, bool) {
	instant, err := time.Parse("2006-01", entry)
	return month(calendar.ID(readmodel.MonthOf(instant))), err == nil && instant.Year() > 0
}

// month is the option of a number of readmodel.FieldMonth.
func month(number calendar.ID) option {
	option := numbered(firstOf(number).Format("2006-01"), number)
	option.label = option.word
	return option
}

func readWeekday(entry string) (option, bool) {
	for i, option := range weekdays {
		name := time.Weekday((i + 1) % 7).String()
		if strings.EqualFold(entry, name) || strings.EqualFold(entry, name[:3]) {
			return option, true
		}
	}
	return option{}, false
}

// readTime reads HH:MM-HH:MM.
func readTime(entry string) (option, bool) {
	first, second, _ := strings.Cut(entry, "-")
	from, okFrom := minuteOf(first)
	until, okTo := minuteOf(second)
	if until == 0 {
		until = dayMinutes
	}
	return option{word: entry, label: entry, other: minutes(from, until)}, okFrom && okTo && from < dayMinutes
}

// minuteOf reads HH:MM, up to 24:00.
func minuteOf(text string) (int64, bool) {
	if text == "24:00" {
		return dayMinutes, true
	}
	instant, err := time.Parse("15:04", text)
	return int64(instant.Hour()*60 + instant.Minute()), err == nil && len(text) == len("15:04")
}

// costBand is A-B or A-, of decimals with up to two places.
var costBand = regexp.MustCompile(`^([0-9]+(?:\.[0-9]{1,2})?)-([0-9]+(?:\.[0-9]{1,2})?)?$`)

// readCostBand reads the costs from A to below B.
func readCostBand(entry string) (option, bool) {
	bounds := costBand.FindStringSubmatch(entry)
	if bounds == nil {
		return option{}, false
	}
	within := readmodel.AtLeast(readmodel.FieldCost, readmodel.Hundredths(bounds[1]))
	if bounds[2] != "" {
		until := readmodel.Hundredths(bounds[2])
		if within.Min >= until {
			return option{}, false
		}
		if until < within.Max { // else it has no bound that a cost could reach
			within.Max = until - 1
		}
	}
	return option{word: entry, label: entry, other: within}, true
}
