package pages

import (
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/texts"
)

// speech is how a language writes numbers, dates and times (PAGES.md P4.4).
type speech struct {
	lang   calendar.Lang
	twelve bool // times of twelve hours
}

// Spaces and dashes of the texts.
const (
	noBreak       = "\u00a0"
	narrowNoBreak = "\u202f"
	dash          = "–"
)

// word returns a text of the pages (PAGES.md P4.4) with values filled in.
func word(key string, l calendar.Lang, values ...string) string {
	return texts.Pages.In(key, l, values...)
}

func (s speech) text(key string, values ...string) string { return word(key, s.lang, values...) }

// count writes how many there are of a thing.
func (s speech) count(thing string, n int) string {
	return s.text("count."+thing+"."+s.plural(n), s.number(n))
}

// comma joins two parts of a sentence, colon stands between a name and its value.
func (s speech) comma() string { return s.text("comma") }
func (s speech) colon() string { return s.text("colon") }

// monthName and dayName return names as they stand inside a sentence; form is "" or "short.".
func (s speech) monthName(form string, m time.Month) string {
	return s.text("month." + form + strconv.Itoa(int(m)))
}

func (s speech) dayName(form string, d time.Weekday) string {
	return s.text("day." + form + strconv.Itoa(int(d)))
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
	var b strings.Builder
	for i, d := range []byte(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteString(between)
		}
		b.WriteByte(d)
	}
	return b.String()
}

// plural gives the class of a number (CLDR, cardinals): "one", "many" or "other".
func (s speech) plural(n int) string {
	switch romance := s.lang == calendar.LangES || s.lang == calendar.LangFR; {
	case s.lang == calendar.LangCN:
		return "other"
	case romance && n != 0 && n%1_000_000 == 0:
		return "many"
	case n == 1, n == 0 && s.lang == calendar.LangFR:
		return "one"
	}
	return "other"
}

// dayNumber is the day of the month in a date.
func (s speech) dayNumber(t time.Time) string {
	if t.Day() == 1 && s.lang == calendar.LangFR {
		return "1er"
	}
	return strconv.Itoa(t.Day())
}

// date is a whole date: Saturday, July 4, 2026.
func (s speech) date(t time.Time) string {
	return s.text("date.whole", s.dayName("", t.Weekday()), s.dayNumber(t), s.monthName("", t.Month()), strconv.Itoa(t.Year()))
}

// dayInYear is a date without its year: Saturday, July 4.
func (s speech) dayInYear(t time.Time) string {
	return s.text("date.in_year", s.dayName("", t.Weekday()), s.dayNumber(t), s.monthName("", t.Month()))
}

// shortDate is a date as lists have it: Sat, Jul 4. The year stands there when it is not
// the present one.
func (s speech) shortDate(t time.Time, presentYear int) string {
	return s.text("date.short", s.dayName("short.", t.Weekday()), s.dayOf(t, t.Year() != presentYear))
}

// dayOf is a date without its weekday: Jul 4, 2026.
func (s speech) dayOf(t time.Time, withYear bool) string {
	key := "date.day"
	if withYear {
		key = "date.day_and_year"
	}
	return s.text(key, s.dayNumber(t), s.monthName("short.", t.Month()), strconv.Itoa(t.Year()))
}

// week names a week by its days.
func (s speech) week(first time.Time) string { return s.days(first, first.AddDate(0, 0, 6)) }

// days are the dates from the first to the last day: Jul 4 – 6, 2026.
func (s speech) days(first, last time.Time) string {
	from, between, to := s.daysText(first, last)
	return from + between + to
}

func (s speech) daysText(first, last time.Time) (from, between, to string) {
	between = " " + dash + " "
	sameYear := first.Year() == last.Year()
	sameMonth := sameYear && first.Month() == last.Month()
	switch s.lang {
	case calendar.LangCN:
		if sameMonth {
			return s.dayOf(first, true), "至", s.dayNumber(last) + "日"
		}
		return s.dayOf(first, true), "至", s.dayOf(last, !sameYear)
	case calendar.LangES, calendar.LangFR:
		if sameMonth {
			return s.dayNumber(first), dash, s.dayOf(last, true)
		}
		return s.dayOf(first, !sameYear), between, s.dayOf(last, true)
	case calendar.LangEN:
	}
	if sameMonth {
		return s.dayOf(first, false), between, s.dayNumber(last) + ", " + strconv.Itoa(last.Year())
	}
	return s.dayOf(first, !sameYear), between, s.dayOf(last, true)
}

// month names a month of a year: July 2026.
func (s speech) month(t time.Time) string {
	return s.text("date.month", s.monthName("", t.Month()), strconv.Itoa(t.Year()))
}

// time is a time of day: 6:30 PM.
func (s speech) time(t time.Time) string {
	if !s.twelve {
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
	if !s.twelve {
		return t.Format("15:04")
	}
	return strings.TrimSuffix(strings.Replace(t.Format("3:04pm"), ":00", "", 1), "m")
}

// at joins a date and what is told of its time.
func (s speech) at(date, time string) string { return s.text("date.at", date, time) }

// when is how long somebody is told that an event lasts.
type when struct {
	start, end time.Time // in the zone they are told in; of all-day events the first and the last day, in UTC
	allDay     bool
	// zone and zoneEnd are the abbreviations at the start and the end; "" for none.
	zone, zoneEnd string
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
	case w.allDay && sameDay(w.start, w.end):
		out.Day, out.After = s.date(w.start), " · "+s.text("event.all_day")
		return out
	case w.allDay:
		out.Day, out.Between, out.To = s.daysText(w.start, w.end)
		return out
	}
	out.Day, out.Gap, out.Clock = s.date(w.start), s.at("", ""), s.time(w.start)
	if w.zoneEnd != "" {
		out.After = " " + w.zoneEnd
	}
	shift := !w.start.Equal(w.end) && w.zone != w.zoneEnd // a clock is changed meanwhile
	if shift {
		out.Clock += " " + w.zone
	}
	switch {
	case w.start.Equal(w.end):
		return out
	case sameDay(w.start, w.end):
		if out.Between, out.To = dash, s.time(w.end); shift || s.twelve || s.lang == calendar.LangEN {
			out.Between = " " + dash + " "
		}
		return out
	}
	out.Between, out.To = s.text("until"), s.at(s.date(w.end), s.time(w.end))
	return out
}

// when is the whole text.
func (s speech) when(w when) string { return s.whenText(w).String() }

func sameDay(a, b time.Time) bool {
	ay, am, ad := a.Date()
	by, bm, bd := b.Date()
	return ay == by && am == bm && ad == bd
}
