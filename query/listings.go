package query

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// The filters of section 2 of the listings document.

const (
	maxDuration = 5_256_000 // minutes, ten years
	dayMinutes  = 24 * 60
	// mostBands is how many bands of costs that do not touch one list may ask for: a
	// search server takes 1,024 parts of a query.
	mostBands = 100
)

// set is some of the numbers below its length.
type set []bool

func (s set) put(from, to int) { // to is not in
	for i := from; i < to; i++ {
		s[i] = true
	}
}

func (s set) numbers() []int64 {
	out := []int64{}
	for i, in := range s {
		if in {
			out = append(out, int64(i))
		}
	}
	return out
}

// entries reads the elements of a list, each by read; one that read refuses is named.
func (q *parser) entries(v *param.Value, read func(entry string) bool) bool {
	list := v.List()
	for _, e := range list {
		if !read(e) {
			v.Refuse(calendar.ReasonEntry, e)
			return false
		}
	}
	return list != nil
}

func readMonths(q *parser, v *param.Value) {
	var months []int64
	if !q.entries(v, func(e string) bool {
		t, err := time.Parse("2006-01", e)
		months = append(months, readmodel.MonthOf(t.Year(), t.Month()))
		return err == nil && t.Year() > 0
	}) {
		return
	}
	slices.Sort(months)
	q.run.months = months
}

var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

func readWeekdays(q *parser, v *param.Value) {
	days := make(set, len(weekdays)+1)
	if q.entries(v, func(e string) bool {
		e = strings.ToLower(e)
		i := slices.IndexFunc(weekdays, func(name string) bool { return e == name || e == name[:3] })
		if i < 0 && len(e) == 1 {
			i = strings.Index("1234567", e)
		}
		if i < 0 {
			return false
		}
		days[i+1] = true
		return true
	}) {
		q.run.weekdays = days.numbers()
	}
}

var timesOfDay = map[string]int{"night": 0, "morning": 6 * 60, "afternoon": 12 * 60, "evening": 18 * 60}

func readTimesOfDay(q *parser, v *param.Value) {
	minutes, allDay := make(set, dayMinutes), false
	if !q.entries(v, func(e string) bool {
		if e == "all_day" {
			allDay = true
			return true
		}
		if from, ok := timesOfDay[e]; ok {
			minutes.put(from, from+6*60)
			q.run.times = append(q.run.times, dayTime{e, from, from + 6*60})
			return true
		}
		first, second, _ := strings.Cut(e, "-")
		from, okFrom := minuteOf(first)
		to, okTo := minuteOf(second)
		if !okFrom || !okTo || from == dayMinutes {
			return false
		}
		if to == 0 {
			to = dayMinutes
		}
		q.run.times = append(q.run.times, dayTime{e, from, to})
		if to <= from {
			minutes.put(0, to)
			to = dayMinutes
		}
		minutes.put(from, to)
		return true
	}) {
		return
	}
	q.run.minutes, q.run.allDay = minutes.numbers(), allDay
}

// dayTime is a time of the day, in minutes; over midnight where to is not after from.
type dayTime struct {
	word     string // as it was sent
	from, to int
}

// minuteOf reads HH:MM, up to 24:00.
func minuteOf(text string) (int, bool) {
	h, m, _ := strings.Cut(text, ":")
	if len(h) != 2 || len(m) != 2 || !calendar.IsDigits(h) || !calendar.IsDigits(m) {
		return 0, false
	}
	hour, _ := strconv.Atoi(h)
	minute, _ := strconv.Atoi(m)
	at := hour*60 + minute
	return at, minute < 60 && at <= dayMinutes
}

func readDuration(to func(*criteria) **int64) func(*parser, *param.Value) {
	return func(q *parser, v *param.Value) {
		n, ok := v.Whole(0, maxDuration)
		if !ok {
			return
		}
		*to(&q.run) = new(n * 60)
		if r := &q.run; r.shortest != nil && r.longest != nil && *r.shortest > *r.longest {
			v.Refuse(calendar.ReasonTooSmall, strconv.FormatInt(*r.shortest/60, 10))
		}
	}
}

func readInLanguage(q *parser, v *param.Value) {
	for _, e := range v.Words() {
		l, _ := calendar.ParseLang(e)
		q.run.languages = append(q.run.languages, readmodel.LanguageID(l))
	}
}

func readPlaces(to func(*criteria) *[]string) func(*parser, *param.Value) {
	return func(q *parser, v *param.Value) {
		for _, e := range v.List() {
			*to(&q.run) = append(*to(&q.run), readmodel.PlaceKey(e))
		}
	}
}

// readBox reads four numbers; equal ones stay, so it is no list as others are.
func readBox(q *parser, v *param.Value) {
	if v.List() == nil {
		return
	}
	var at []float64
	for _, e := range sentElements(q.in[v.Name]) {
		n, ok := calendar.ParseNumber(e)
		if !ok {
			v.Refuse(calendar.ReasonTypeNumber)
			return
		}
		at = append(at, n)
	}
	if len(at) != 4 {
		v.Refuse(calendar.ReasonBox)
		return
	}
	b := box{west: at[0], south: at[1], east: at[2], north: at[3]}
	within := func(n float64, limit float64) bool { return n >= -limit && n <= limit } // false for no number
	if !within(b.west, maxLng) || !within(b.east, maxLng) || !within(b.south, maxLat) || !within(b.north, maxLat) || b.south > b.north {
		v.Refuse(calendar.ReasonBox)
		return
	}
	q.run.box = &b
}

// linkBox keeps equal numbers.
func linkBox(_ *parser, v any, sent bool) (any, bool) {
	return strings.Join(sentElements(v), ","), sent
}

// sentElements gives the elements of a list of texts, empty ones skipped and equal ones
// as often as they were sent.
func sentElements(v any) []string {
	var list []string
	switch v := v.(type) {
	case string:
		list = strings.Split(v, ",")
	case []any:
		for _, e := range v {
			text, _ := e.(string)
			list = append(list, text)
		}
	}
	out := make([]string, 0, len(list))
	for _, e := range list {
		if e = calendar.Trim(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}

func readCostBands(q *parser, v *param.Value) {
	var bands []span
	unknown := false
	if !q.entries(v, func(e string) bool {
		switch e {
		case "free":
			bands = append(bands, span{readmodel.CostFree, readmodel.CostFree})
			q.run.bands = append(q.run.bands, band{e, bands[len(bands)-1]})
			return true
		case "unknown":
			unknown = true
			return true
		}
		least, below, ok := strings.Cut(e, "-")
		from, okFrom := price(least)
		if !ok || !okFrom {
			return false
		}
		within := span{readmodel.Hundredths(least), open.max}
		if below != "" {
			to, okTo := price(below)
			if !okTo || from.Cmp(to) >= 0 {
				return false
			}
			if to.IsInt64() {
				within.max = to.Int64() - 1
			}
		}
		bands = append(bands, within)
		q.run.bands = append(q.run.bands, band{e, within})
		return true
	}) {
		return
	}
	if bands = merged(bands); len(bands) > mostBands {
		v.Refuse(calendar.ReasonTooMany, strconv.Itoa(mostBands))
	}
	q.run.costs, q.run.costUnknown = bands, unknown
}

// mostCostBounds is how many bounds bands of costs have at most.
const mostCostBounds = 20

// ReadCostBands reads the bounds of bands: rising decimals above 0, with up to two places,
// commas between them.
func ReadCostBands(text string) ([]string, error) {
	bounds := strings.Split(text, ",")
	last := new(big.Int)
	for i, b := range bounds {
		bounds[i] = calendar.Trim(b)
		at, ok := price(bounds[i])
		if !ok || at.Cmp(last) <= 0 || i >= mostCostBounds {
			return nil, fmt.Errorf("must be up to %d rising numbers above 0, as 10,25,50,100", mostCostBounds)
		}
		last = at
	}
	return bounds, nil
}

// band is a band of costs, as it is written.
type band struct {
	word   string
	within span
}

// price reads a decimal with up to two places, in hundredths.
func price(text string) (*big.Int, bool) {
	whole, frac, point := strings.Cut(text, ".")
	if !calendar.IsDigits(whole) || point && !calendar.IsDigits(frac) || len(frac) > 2 {
		return nil, false
	}
	return new(big.Int).SetString(whole+(frac + "00")[:2], 10)
}

// merged joins spans that touch.
func merged(list []span) []span {
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.min, b.min) })
	var out []span
	for _, s := range list {
		if n := len(out); n > 0 && (out[n-1].max == open.max || s.min <= out[n-1].max+1) {
			out[n-1].max = max(out[n-1].max, s.max)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// moments adds the filters by start, duration and language.
func (r *criteria) moments(f *choice) {
	if months := r.months; months != nil {
		first, last := months[0], months[len(months)-1]
		if int(last-first) == len(months)-1 { // a window of its own
			f.add("month", readmodel.Range{Field: readmodel.FieldStart, Min: new(startOfMonth(first)), Max: new(startOfMonth(last+1) - 1)})
		} else {
			f.add("month", among(readmodel.FieldMonth, months))
		}
	}
	if r.weekdays != nil {
		f.add("weekday", among(readmodel.FieldWeekday, r.weekdays))
	}
	if r.minutes != nil {
		at := readmodel.Or{}
		if len(r.minutes) > 0 {
			at = append(at, among(readmodel.FieldMinute, r.minutes))
		}
		if r.allDay {
			at = append(at, readmodel.Term{Field: readmodel.FieldAllDay, Value: "true"})
		}
		f.add("time_of_day", at)
	}
	if r.shortest != nil || r.longest != nil {
		f.add("", readmodel.Range{Field: readmodel.FieldDuration, Min: r.shortest, Max: r.longest})
	}
	if r.languages != nil {
		f.add("in_language", readmodel.In{Field: readmodel.FieldLanguages, IDs: r.languages})
	}
}

func startOfMonth(m int64) int64 {
	return time.Date(int(m/12), time.Month(m%12+1), 1, 0, 0, 0, 0, time.UTC).Unix()
}

// among admits some ascending numbers.
func among(field string, numbers []int64) readmodel.Filter {
	first, last := numbers[0], numbers[len(numbers)-1]
	if int(last-first) == len(numbers)-1 {
		return readmodel.Range{Field: field, Min: &first, Max: &last}
	}
	in := readmodel.In{Field: field}
	for _, n := range numbers {
		in.IDs = append(in.IDs, calendar.ID(n))
	}
	return in
}

// costFilters adds free and cost_band.
func (r *criteria) costFilters(f *choice) {
	if r.free != swNone {
		free := isFree
		if r.free == swOff {
			free = readmodel.Not{Filter: free}
		}
		f.add("free", free)
	}
	if r.costs == nil && !r.costUnknown {
		return
	}
	in := readmodel.Or{}
	for i := range r.costs {
		in = append(in, costBand(r.costs[i]))
	}
	if r.costUnknown {
		in = append(in, costUnknown)
	}
	f.add("cost_band", in)
}

var (
	isFree      readmodel.Filter = readmodel.Range{Field: readmodel.FieldCost, Max: new(int64(readmodel.CostFree))}
	costUnknown readmodel.Filter = readmodel.Not{Filter: readmodel.Exists{Field: readmodel.FieldCost}}
)

func costBand(s span) readmodel.Filter { return appendRange(nil, readmodel.FieldCost, &s)[0] }

// sortRelevance is the word of sort for the order of readmodel.Relevance.
const sortRelevance = "relevance"

// sortFields are the first keys of the orders that have no value in some events.
var sortFields = map[string]string{"published": readmodel.FieldPublished, "modified": readmodel.FieldModified}

// readSort reads an order of events (listings, section 3.1).
func readSort(q *parser, v *param.Value) {
	word, ok := v.Word()
	if !ok {
		return
	}
	q.run.sort = word
	q.needsPlace()
	q.run.desc = sortFields[word] != ""
}

// readDirection is without effect, and not looked at, where no order is asked for.
func readDirection(q *parser, v *param.Value) {
	if !q.sent("sort") {
		return
	}
	word, ok := v.Text(0)
	switch {
	case !ok:
	case q.run.sort == sortRelevance: // best first, whatever is below it
		if !strings.EqualFold(word, "desc") {
			v.Refuse(calendar.ReasonWord, "desc")
		}
	case strings.EqualFold(word, "asc"):
		q.run.desc = false
	case strings.EqualFold(word, "desc"):
		q.run.desc = true
	default:
		v.Refuse(calendar.ReasonWord, "asc,desc")
	}
}

// needsPlace refuses an order by distance from nowhere.
func (q *parser) needsPlace() {
	if q.run.sort == "distance" && (!q.sent("geoloc_lat") || !q.sent("geoloc_lng")) {
		q.bad.Add("sort", calendar.ReasonPairMissing, "geoloc_lat, geoloc_lng")
	}
}

func costOfSort(q *parser) int {
	if q.run.sort == "distance" || q.run.sort == sortRelevance {
		return 1
	}
	return 0
}

func linkDirection(q *parser, v any, sent bool) (any, bool) { return v, sent && q.sent("sort") }
