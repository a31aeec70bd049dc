package readmodel

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
)

// MonthOf returns the FieldMonth of a moment.
func MonthOf(moment time.Time) int64 { return 12*int64(moment.Year()) + int64(moment.Month()) - 1 }

// ofStart is a field that follows from the start on the event's own clock.
func ofStart(name string, number func(start time.Time) int64) Field {
	return Field{Name: name, Numbers: func(record *calendar.Record) []int64 {
		start := record.Fields.Wall("start_date")
		if start == calendar.NoWall || name == FieldMinute && record.Fields.Bool("all_day") {
			return nil
		}
		return []int64{number(start.UTC())}
	}}
}

func duration(record *calendar.Record) []int64 {
	from, until, allDay := "utc_start_date", "utc_end_date", record.Fields.Bool("all_day")
	if allDay {
		from, until = "start_date", "end_date"
	}
	start, end := record.Fields.Wall(from), record.Fields.Wall(until)
	if start == calendar.NoWall || end == calendar.NoWall {
		return nil
	}
	if allDay {
		start, end = start.Midnight(), end.Midnight()+24*60*60
	}
	return []int64{int64(end - start)}
}

// freeWords stand for a cost of nothing, folded.
var freeWords = strings.Fields("free gratis gratuit gratuite gratuito gratuita 免费 免費")

// lowestCost returns the FieldCost of an event.
func lowestCost(record *calendar.Record) []int64 {
	cost := calendar.ReadCost(record.Fields.Strings("cost"), calendar.Currency{})
	texts, numbers := cost.Values[:cost.Texts], cost.Values[cost.Texts:]
	isPaid := func(text string) bool { return !slices.Contains(freeWords, PlaceKey(text)) }
	switch {
	case len(cost.Values) > 0 && strings.Trim(strings.Join(numbers, ""), "0.") == "" && !slices.ContainsFunc(texts, isPaid):
		return []int64{CostFree}
	case len(numbers) > 0:
		return []int64{Hundredths(numbers[0])}
	}
	return nil
}

// Hundredths returns a decimal of digits, with a point or without, in hundredths, rounded
// down; what is too large for that is math.MaxInt64.
func Hundredths(decimal string) int64 {
	whole, frac, _ := strings.Cut(decimal, ".")
	number, err := strconv.ParseInt(whole+(frac + "00")[:2], 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return number
}

// languagesOf returns the FieldLanguages of an event.
func languagesOf(record *calendar.Record) (result []int64) {
	for _, language := range record.Langs() {
		result = append(result, int64(LanguageID(language)))
	}
	return result
}

// FoldTitle returns a title in the form in which titles are compared: folded, with runs of
// white space as one blank. All signs stay.
func FoldTitle(title string) string { return strings.Join(strings.Fields(Fold(title)), " ") }

// keyNumber is a number of 63 bits that stands for a text.
func keyNumber(text string) []int64 {
	digest := sha256.Sum256([]byte(text))
	return []int64{int64(binary.BigEndian.Uint64(digest[:]) & math.MaxInt64)}
}

// repeats returns the FieldRepeats of an event, of its title in its home language and its
// list of venues.
func repeats(record *calendar.Record) []int64 {
	key := FoldTitle(record.Fields.Text("title")[record.Home])
	for _, id := range record.Fields.IDs("venue") {
		key += "\n" + id.String() //nolint:modernize,perfsprint // most events have one venue; a line break is in no title
	}
	return keyNumber(key)
}

// PlaceKey is the form in which cities and countries are compared: without case and
// accents, each run of white space one blank, all apostrophes and all hyphens one.
func PlaceKey(text string) string {
	return placeSigns.Replace(FoldTitle(text))
}

var placeSigns = strings.NewReplacer("’", "'", "ʼ", "'", "‘", "'", "\u2010", "-", "\u2011", "-", "–", "-")
