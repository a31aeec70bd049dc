package pages

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/texts"
)

// locale is how a language writes numbers, dates and times (PAGES.md P4.4).
type locale struct {
	language calendar.Lang
	Twelve   bool // times of twelve hours
}

// Spaces and dashes of the texts.
const (
	noBreak       = "\u00a0"
	narrowNoBreak = "\u202f"
	dash          = "–"
)

// word returns a text of the pages (PAGES.md P4.4) with values filled in.
func word(key string, language calendar.Lang, values ...string) string {
	return texts.Pages.In(key, language, values...)
}

func (speech locale) text(key string, values ...string) string {
	return word(key, speech.language, values...)
}

// count writes how many there are of a thing, in the form of the number (CLDR, cardinals). Not
// all languages have all forms.
func (speech locale) count(thing string, count int) string {
	form := "other"
	switch {
	case count == 1, count == 0 && speech.language == calendar.LangFR:
		form = "one"
	case count != 0 && count%1_000_000 == 0:
		form = "many"
	}
	key := "count." + thing + "."
	return cmp.Or(speech.text(key+form, speech.number(count)), speech.text(key+"other", speech.number(count)))
}

// comma joins two parts of a sentence, colon stands between a name and its value.
func (speech locale) comma() string { return speech.text("comma") }
func (speech locale) colon() string { return speech.text("colon") }

// monthName and dayName return names as they stand inside a sentence; form is "" or "short.".
func (speech locale) monthName(form string, month time.Month) string {
	return speech.text("month." + form + strconv.Itoa(int(month)))
}

func (speech locale) dayName(form string, weekday time.Weekday) string {
	return speech.text("day." + form + strconv.Itoa(int(weekday)))
}

// number writes a whole number with the groups of the language; Spanish has them from
// five digits on.
func (speech locale) number(count int) string {
	digits := strconv.Itoa(count)
	between, least := ",", 4
	switch speech.language {
	case calendar.LangES:
		between, least = ".", 5
	case calendar.LangFR:
		between = narrowNoBreak
	case calendar.LangCN, calendar.LangEN:
	}
	if len(digits) < least {
		return digits
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + between + digits[i:]
	}
	return digits
}

// dayNumber is the day of the month in a date.
func (speech locale) dayNumber(instant time.Time) string {
	if instant.Day() == 1 && speech.language == calendar.LangFR {
		return "1er"
	}
	return strconv.Itoa(instant.Day())
}

// parts are the weekday, the day, the month and the year of a date; form is that of the names.
func (speech locale) parts(form string, instant time.Time) []string {
	return []string{speech.dayName(form, instant.Weekday()), speech.dayNumber(instant), speech.monthName(form, instant.Month()), strconv.Itoa(instant.Year())}
}

// date is a whole date: Saturday, July 4, 2026.
func (speech locale) date(instant time.Time) string {
	return speech.text("date.whole", speech.parts("", instant)...)
}

// dayInYear is a date without its year: Saturday, July 4.
func (speech locale) dayInYear(instant time.Time) string {
	return speech.text("date.in_year", speech.parts("", instant)...)
}

// month names a month of a year: July 2026.
func (speech locale) month(instant time.Time) string {
	return speech.text("date.month", speech.parts("", instant)...)
}

// shortDate is a date as lists have it: Sat, Jul 4. The year stands there when it is not
// the present one.
func (speech locale) shortDate(instant time.Time, presentYear int) string {
	key := "date.short"
	if instant.Year() != presentYear {
		key = "date.short_and_year"
	}
	return speech.text(key, speech.parts("short.", instant)...)
}

// dayOf is a date without its weekday: Jul 4, 2026.
func (speech locale) dayOf(instant time.Time, withYear bool) string {
	key := "date.day"
	if withYear {
		key = "date.day_and_year"
	}
	return speech.text(key, speech.parts("short.", instant)...)
}

// week names a week by its days.
func (speech locale) week(first time.Time) string { return speech.days(first, first.AddDate(0, 0, 6)) }

// days are the dates from the first to the last day: Jul 4 – 6, 2026.
func (speech locale) days(first, last time.Time) string {
	from, between, to := speech.daysText(first, last)
	return from + between + to
}

// daysText returns days in three parts. What the dates have in common stands there once.
func (speech locale) daysText(first, last time.Time) (from, between, to string) {
	key := "date.days"
	switch {
	case first.Year() != last.Year():
	case first.Month() != last.Month():
		key += ".year"
	default:
		key += ".month"
	}
	text := strings.Split(speech.text(key, append(speech.parts("short.", first), speech.parts("short.", last)...)...), "|")
	return text[0], text[1], text[2]
}

// time is a time of day: 6:30 PM.
func (speech locale) time(instant time.Time) string {
	if !speech.Twelve {
		return instant.Format("15:04")
	}
	key := "time.pm"
	if instant.Hour() < 12 {
		key = "time.am"
	}
	return speech.text(key, instant.Format("3:04"))
}

// hour is a full hour: 6 PM.
func (speech locale) hour(height int) string {
	return strings.Replace(speech.time(time.Date(2000, 1, 1, height, 0, 0, 0, time.UTC)), ":00"+noBreak, noBreak, 1)
}

// shortTime is a time in a month: 6:30p, 7p.
func (speech locale) shortTime(instant time.Time) string {
	if !speech.Twelve {
		return instant.Format("15:04")
	}
	return strings.TrimSuffix(strings.Replace(instant.Format("3:04pm"), ":00", "", 1), "m")
}

// at joins a date and what is told of its time.
func (speech locale) at(date, time string) string { return speech.text("date.at", date, time) }

// eventTimes is how long an event lasts, in the zone that it is told in.
type eventTimes struct {
	Begins, Ends  time.Time // of all-day events the first and the last day, in UTC
	AllDay        bool
	Zone, ZoneEnd string // abbreviations at the start and the end; "" for none
	away          bool   // the zone is not that of the site
}

// whenText is when an event is, in the parts that a page marks: the day and the clock of its
// start, its end ("" when one date tells both), and what stands between and behind them.
type whenText struct{ Day, Gap, Clock, Between, To, After string }

// From is the whole start.
func (whenText whenText) From() string { return whenText.Day + whenText.Gap + whenText.Clock }

// String is the whole text.
func (whenText whenText) String() string {
	return whenText.From() + whenText.Between + whenText.To + whenText.After
}

// whenText tells when an event is in whole: one date and its times, days, or both.
func (speech locale) whenText(when eventTimes) (whenText whenText) {
	switch {
	case when.AllDay && sameDay(when.Begins, when.Ends):
		whenText.Day, whenText.After = speech.date(when.Begins), " · "+speech.text("event.all_day")
		return whenText
	case when.AllDay:
		whenText.Day, whenText.Between, whenText.To = speech.daysText(when.Begins, when.Ends)
		return whenText
	}
	whenText.Day, whenText.Gap, whenText.Clock = speech.date(when.Begins), speech.at("", ""), speech.time(when.Begins)
	if when.ZoneEnd != "" {
		whenText.After = " " + when.ZoneEnd
	}
	shift := !when.Begins.Equal(when.Ends) && when.Zone != when.ZoneEnd // a clock is changed meanwhile
	if shift {
		whenText.Clock += " " + when.Zone
	}
	switch {
	case when.Begins.Equal(when.Ends):
		return whenText
	case sameDay(when.Begins, when.Ends):
		if whenText.Between, whenText.To = dash, speech.time(when.Ends); shift || speech.Twelve || speech.language == calendar.LangEN {
			whenText.Between = " " + dash + " "
		}
		return whenText
	}
	whenText.Between, whenText.To = speech.text("until"), speech.at(speech.date(when.Ends), speech.time(when.Ends))
	return whenText
}

func sameDay(a, b time.Time) bool {
	return midnight(a).Equal(midnight(b))
}
