package readmodel

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
)

const (
	minuteSeconds = 60
	daySeconds    = 24 * 60 * minuteSeconds
)

// Times are what the computed numbers of an event follow from, NoWall for a time that it
// does not have.
type Times struct {
	Start, End, UTCStart, UTCEnd calendar.Wall
	AllDay                       bool
}

func timesOf(r *calendar.Record) Times {
	return Times{
		r.Fields.Wall("start_date"), r.Fields.Wall("end_date"),
		r.Fields.Wall("utc_start_date"), r.Fields.Wall("utc_end_date"), r.Fields.Bool("all_day"),
	}
}

func computedField(name string, compute func(Times) (int64, bool), from ...string) Field {
	return Field{Name: name, Type: TypeComputed, From: from, compute: compute}
}

// dayOf returns the number of the day since 1970 and the second in it.
func dayOf(w calendar.Wall) (day, second int64) {
	day, second = int64(w)/daySeconds, int64(w)%daySeconds
	if second < 0 {
		return day - 1, second + daySeconds
	}
	return day, second
}

// MonthOf returns the FieldMonth of a month of a year.
func MonthOf(year int, m time.Month) int64 { return 12*int64(year) + int64(m) - 1 }

func month(t Times) (int64, bool) {
	if t.Start == calendar.NoWall {
		return 0, false
	}
	year, m, _ := t.Start.UTC().Date()
	return MonthOf(year, m), true
}

func weekday(t Times) (int64, bool) {
	if t.Start == calendar.NoWall {
		return 0, false
	}
	day, _ := dayOf(t.Start)
	return ((day+3)%7+7)%7 + 1, true // 1 January 1970 was a Thursday
}

func minute(t Times) (int64, bool) {
	if t.AllDay || t.Start == calendar.NoWall {
		return 0, false
	}
	_, second := dayOf(t.Start)
	return second / minuteSeconds, true
}

func duration(t Times) (int64, bool) {
	if !t.AllDay {
		return int64(t.UTCEnd - t.UTCStart), t.UTCStart != calendar.NoWall && t.UTCEnd != calendar.NoWall
	}
	first, _ := dayOf(t.Start)
	last, _ := dayOf(t.End)
	return (last - first + 1) * daySeconds, t.Start != calendar.NoWall && t.End != calendar.NoWall
}

// freeWords stand for a cost of nothing, folded.
var freeWords = map[string]bool{
	"free": true, "gratis": true, "gratuit": true, "gratuite": true, "gratuito": true, "gratuita": true, "免费": true, "免費": true,
}

// IsFree reports whether an event has a cost, and all of it is nothing.
func IsFree(r *calendar.Record) bool {
	lowest, has := lowestCost(r)
	return has && lowest == CostFree
}

// lowestCost returns the FieldCost of an event.
func lowestCost(r *calendar.Record) (lowest int64, has bool) {
	texts, numbers := calendar.CostValues(r.Fields.Strings("cost"))
	free := !slices.ContainsFunc(texts, func(text string) bool { return !freeWords[PlaceKey(text)] }) &&
		!slices.ContainsFunc(numbers, func(n string) bool { return strings.Trim(n, "0.") != "" })
	if free && len(texts)+len(numbers) > 0 {
		return CostFree, true
	}
	lowest = math.MaxInt64
	for _, n := range numbers {
		lowest = min(lowest, Hundredths(n))
	}
	return lowest, len(numbers) > 0
}

func costField() Field {
	return Field{Name: FieldCost, Type: TypeNumber, From: []string{"cost"}, number: lowestCost}
}

// Hundredths returns a decimal of digits, with a point or without, in hundredths, rounded
// down; what is too large for that is math.MaxInt64.
func Hundredths(decimal string) int64 {
	whole, frac, _ := strings.Cut(decimal, ".")
	n, err := strconv.ParseInt(whole+(frac + "00")[:2], 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return n
}

func zoneField() Field {
	from := []string{"timezone", "start_date", "end_date", "utc_start_date", "utc_end_date"}
	return Field{Name: FieldZone, Type: TypeKeyword, From: from, keyword: func(r *calendar.Record) string {
		z, ok := calendar.ParseZone(r.Fields.String("timezone"))
		if t := timesOf(r); ok && z.Named() && z.Unambiguous(t.Start, t.UTCStart) && z.Unambiguous(t.End, t.UTCEnd) {
			return z.Name
		}
		return ""
	}}
}

func languagesField() Field {
	return Field{Name: FieldLanguages, Type: TypeIDs, From: []string{"title", "description", "excerpt"}, ids: func(r *calendar.Record) []calendar.ID {
		langs := r.Langs()
		out := make([]calendar.ID, len(langs))
		for i, l := range langs {
			out[i] = LanguageID(l)
		}
		return out
	}}
}

// PlaceKey is the form in which cities and countries are compared: without case and
// accents, each run of white space one blank, all apostrophes and all hyphens one.
func PlaceKey(text string) string {
	return placeSigns.Replace(strings.Join(strings.Fields(Fold(text)), " "))
}

var placeSigns = strings.NewReplacer("’", "'", "ʼ", "'", "‘", "'", "\u2010", "-", "\u2011", "-", "–", "-")
