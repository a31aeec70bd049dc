package pages

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/texts"
)

// speech is how a language writes numbers, dates and times (PAGES.md P4.4).
type speech struct {
	lang   calendar.Lang
	Twelve bool // times of twelve hours
}

// Spaces and dashes of the texts.
const (
	noBreak       = "\u00a0"
	narrowNoBreak = "\u202f"
	dash          = "–"
)

// word returns a text of the pages (PAGES.md P4.4) with values filled in.
func word(key string, lang calendar.Lang, values ...string) string {
	return texts.Pages.In(key, lang, values...)
}

func (s speech) text(key string, values ...string) string { return word(key, s.lang, values...) }

// count writes how many there are of a thing, in the form of the number (CLDR, cardinals). Not
// all languages have all forms.
func (s speech) count(thing string, n int) string {
	form := "other"
	switch {
	case n == 1, n == 0 && s.lang == calendar.LangFR:
		form = "one"
	case n != 0 && n%1_000_000 == 0:
		form = "many"
	}
	key := "count." + thing + "."
	return cmp.Or(s.text(key+form, s.number(n)), s.text(key+"other", s.number(n)))
}

// comma joins two parts of a sentence, colon stands between a name and its value.
func (s speech) comma() string { return s.text("comma") }
func (s speech) colon() string { return s.text("colon") }

// monthName and dayName return names as they stand inside a sentence; form is "" or "short.".
func (s speech) monthName(form string, month time.Month) string {
	return s.text("month." + form + strconv.Itoa(int(month)))
}

func (s speech) dayName(form string, weekday time.Weekday) string {
	return s.text("day." + form + strconv.Itoa(int(weekday)))
}

// number writes a whole number with the groups of the language; Spanish has them from
// five digits on.
func (s speech) number(n int) string {
	digits := strconv.Itoa(n)
	between, least := ",", 4
	switch s.lang {
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
func (s speech) dayNumber(t time.Time) string {
	if t.Day() == 1 && s.lang == calendar.LangFR {
		return "1er"
	}
	return strconv.Itoa(t.Day())
}

// parts are the weekday, the day, the month and the year of a date; form is that of the names.
func (s speech) parts(form string, t time.Time) []string {
	return []string{s.dayName(form, t.Weekday()), s.dayNumber(t), s.monthName(form, t.Month()), strconv.Itoa(t.Year())}
}

// date is a whole date: Saturday, July 4, 2026.
func (s speech) date(t time.Time) string { return s.text("date.whole", s.parts("", t)...) }

// dayInYear is a date without its year: Saturday, July 4.
func (s speech) dayInYear(t time.Time) string { return s.text("date.in_year", s.parts("", t)...) }

// month names a month of a year: July 2026.
func (s speech) month(t time.Time) string { return s.text("date.month", s.parts("", t)...) }

// shortDate is a date as lists have it: Sat, Jul 4. The year stands there when it is not
// the present one.
func (s speech) shortDate(t time.Time, presentYear int) string {
	key := "date.short"
	if t.Year() != presentYear {
		key = "date.short_and_year"
	}
	return s.text(key, s.parts("short.", t)...)
}

// dayOf is a date without its weekday: Jul 4, 2026.
func (s speech) dayOf(t time.Time, withYear bool) string {
	key := "date.day"
	if withYear {
		key = "date.day_and_year"
	}
	return s.text(key, s.parts("short.", t)...)
}

// week names a week by its days.
func (s speech) week(first time.Time) string { return s.days(first, first.AddDate(0, 0, 6)) }

// days are the dates from the first to the last day: Jul 4 – 6, 2026.
func (s speech) days(first, last time.Time) string {
	from, between, to := s.daysText(first, last)
	return from + between + to
}

// daysText returns days in three parts. What the dates have in common stands there once.
func (s speech) daysText(first, last time.Time) (from, between, to string) {
	key := "date.days"
	switch {
	case first.Year() != last.Year():
	case first.Month() != last.Month():
		key += ".year"
	default:
		key += ".month"
	}
	text := strings.Split(s.text(key, append(s.parts("short.", first), s.parts("short.", last)...)...), "|")
	return text[0], text[1], text[2]
}

// time is a time of day: 6:30 PM.
func (s speech) time(t time.Time) string {
	if !s.Twelve {
		return t.Format("15:04")
	}
	key := "time.pm"
	if t.Hour() < 12 {
		key = "time.am"
	}
	return s.text(key, t.Format("3:04"))
}

// hour is a full hour: 6 PM.
func (s speech) hour(h int) string {
	return strings.Replace(s.time(time.Date(2000, 1, 1, h, 0, 0, 0, time.UTC)), ":00"+noBreak, noBreak, 1)
}

// shortTime is a time in a month: 6:30p, 7p.
func (s speech) shortTime(t time.Time) string {
	if !s.Twelve {
		return t.Format("15:04")
	}
	return strings.TrimSuffix(strings.Replace(t.Format("3:04pm"), ":00", "", 1), "m")
}

// at joins a date and what is told of its time.
func (s speech) at(date, time string) string { return s.text("date.at", date, time) }

// when is how long an event lasts, in the zone that it is told in.
type when struct {
	Begins, Ends  time.Time // of all-day events the first and the last day, in UTC
	AllDay        bool
	Zone, ZoneEnd string // abbreviations at the start and the end; "" for none
	away          bool   // the zone is not that of the site
}

// whenText is when an event is, in the parts that a page marks: the day and the clock of its
// start, its end ("" when one date tells both), and what stands between and behind them.
type whenText struct{ Day, Gap, Clock, Between, To, After string }

// From is the whole start.
func (w whenText) From() string { return w.Day + w.Gap + w.Clock }

// String is the whole text.
func (w whenText) String() string { return w.From() + w.Between + w.To + w.After }

// whenText tells when an event is in whole: one date and its times, days, or both.
func (s speech) whenText(w when) (out whenText) {
	switch {
	case w.AllDay && sameDay(w.Begins, w.Ends):
		out.Day, out.After = s.date(w.Begins), " · "+s.text("event.all_day")
		return out
	case w.AllDay:
		out.Day, out.Between, out.To = s.daysText(w.Begins, w.Ends)
		return out
	}
	out.Day, out.Gap, out.Clock = s.date(w.Begins), s.at("", ""), s.time(w.Begins)
	if w.ZoneEnd != "" {
		out.After = " " + w.ZoneEnd
	}
	shift := !w.Begins.Equal(w.Ends) && w.Zone != w.ZoneEnd // a clock is changed meanwhile
	if shift {
		out.Clock += " " + w.Zone
	}
	switch {
	case w.Begins.Equal(w.Ends):
		return out
	case sameDay(w.Begins, w.Ends):
		if out.Between, out.To = dash, s.time(w.Ends); shift || s.Twelve || s.lang == calendar.LangEN {
			out.Between = " " + dash + " "
		}
		return out
	}
	out.Between, out.To = s.text("until"), s.at(s.date(w.Ends), s.time(w.Ends))
	return out
}

func sameDay(a, b time.Time) bool {
	return midnight(a).Equal(midnight(b))
}
