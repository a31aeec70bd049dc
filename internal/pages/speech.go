package pages

import (
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
)

// speech is how a language writes numbers, dates and times (PAGES.md P4.4).
type speech struct {
	lang   calendar.Lang
	twelve bool // times of twelve hours
}

// names of months and days, long and short, as they stand inside of a sentence.
type calendarNames struct {
	months, shortMonths [12]string
	days, shortDays     [7]string // Sunday first
}

var namesOf = [...]calendarNames{
	calendar.LangEN: {
		months:      [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
		shortMonths: [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
		days:        [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
		shortDays:   [7]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"},
	},
	calendar.LangCN: {
		months:      [12]string{"1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月"},
		shortMonths: [12]string{"1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月"},
		days:        [7]string{"星期日", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六"},
		shortDays:   [7]string{"周日", "周一", "周二", "周三", "周四", "周五", "周六"},
	},
	calendar.LangES: {
		months:      [12]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
		shortMonths: [12]string{"ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"},
		days:        [7]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"},
		shortDays:   [7]string{"dom", "lun", "mar", "mié", "jue", "vie", "sáb"},
	},
	calendar.LangFR: {
		months:      [12]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
		shortMonths: [12]string{"janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."},
		days:        [7]string{"dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"},
		shortDays:   [7]string{"dim.", "lun.", "mar.", "mer.", "jeu.", "ven.", "sam."},
	},
}

// Spaces and dashes of the texts.
const (
	noBreak       = "\u00a0"
	narrowNoBreak = "\u202f"
	dash          = "–"
)

func (s speech) names() *calendarNames { return &namesOf[s.lang] }

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

// plural is a class of numbers (CLDR, cardinals).
type plural int

const (
	other plural = iota
	one
	many
)

// plural gives the class of a number.
func (s speech) plural(n int) plural {
	switch s.lang {
	case calendar.LangCN:
		return other
	case calendar.LangEN:
	case calendar.LangES, calendar.LangFR:
		if n != 0 && n%1_000_000 == 0 {
			return many
		}
		if n == 0 && s.lang == calendar.LangFR {
			return one
		}
	}
	if n == 1 {
		return one
	}
	return other
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
	n, day, month, year := s.names(), s.dayNumber(t), int(t.Month()), strconv.Itoa(t.Year())
	weekday := n.days[t.Weekday()]
	switch s.lang {
	case calendar.LangCN:
		return year + "年" + strconv.Itoa(month) + "月" + day + "日" + weekday
	case calendar.LangES:
		return weekday + ", " + day + " de " + n.months[month-1] + " de " + year
	case calendar.LangFR:
		return weekday + " " + day + " " + n.months[month-1] + " " + year
	case calendar.LangEN:
	}
	return weekday + ", " + n.months[month-1] + " " + day + ", " + year
}

// dayInYear is a date without its year: Saturday, July 4.
func (s speech) dayInYear(t time.Time) string {
	n, day, month := s.names(), s.dayNumber(t), int(t.Month())
	weekday := n.days[t.Weekday()]
	switch s.lang {
	case calendar.LangCN:
		return strconv.Itoa(month) + "月" + day + "日" + weekday
	case calendar.LangES:
		return weekday + ", " + day + " de " + n.months[month-1]
	case calendar.LangFR:
		return weekday + " " + day + " " + n.months[month-1]
	case calendar.LangEN:
	}
	return weekday + ", " + n.months[month-1] + " " + day
}

// shortDate is a date as lists have it: Sat, Jul 4. The year stands there when it is not
// the present one.
func (s speech) shortDate(t time.Time, presentYear int) string {
	n := s.names()
	weekday, withYear := n.shortDays[t.Weekday()], t.Year() != presentYear
	day := s.dayOf(t, withYear)
	switch s.lang {
	case calendar.LangCN:
		return day + weekday
	case calendar.LangFR:
		return weekday + " " + day
	case calendar.LangEN, calendar.LangES:
	}
	return weekday + ", " + day
}

// dayOf is a date without its weekday: Jul 4, 2026.
func (s speech) dayOf(t time.Time, withYear bool) string {
	n, day, month := s.names(), s.dayNumber(t), int(t.Month())
	year := strconv.Itoa(t.Year())
	switch s.lang {
	case calendar.LangCN:
		if !withYear {
			year = ""
		} else {
			year += "年"
		}
		return year + strconv.Itoa(month) + "月" + day + "日"
	case calendar.LangES, calendar.LangFR:
		if withYear {
			return day + " " + n.shortMonths[month-1] + " " + year
		}
		return day + " " + n.shortMonths[month-1]
	case calendar.LangEN:
	}
	if withYear {
		return n.shortMonths[month-1] + " " + day + ", " + year
	}
	return n.shortMonths[month-1] + " " + day
}

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
	name, year := s.names().months[t.Month()-1], strconv.Itoa(t.Year())
	switch s.lang {
	case calendar.LangCN:
		return year + "年" + name
	case calendar.LangES:
		return name + " de " + year
	case calendar.LangEN, calendar.LangFR:
	}
	return name + " " + year
}

// time is a time of day: 6:30 PM.
func (s speech) time(t time.Time) string {
	if !s.twelve {
		return t.Format("15:04")
	}
	clock := t.Format("3:04")
	before := t.Hour() < 12
	switch s.lang {
	case calendar.LangCN:
		if before {
			return "上午" + clock
		}
		return "下午" + clock
	case calendar.LangES:
		if before {
			return clock + noBreak + "a." + noBreak + "m."
		}
		return clock + noBreak + "p." + noBreak + "m."
	case calendar.LangEN, calendar.LangFR:
	}
	return clock + noBreak + t.Format("PM")
}

// times are two times of one day.
func (s speech) times(from, to time.Time) string {
	if s.twelve || s.lang == calendar.LangEN {
		return s.time(from) + " " + dash + " " + s.time(to)
	}
	return s.time(from) + dash + s.time(to)
}

// at joins a date and what is told of its time.
func (s speech) at(date, time string) string {
	if s.lang == calendar.LangCN {
		return date + " " + time
	}
	return date + ", " + time
}

// when is how long somebody is told that an event lasts.
type when struct {
	start, end time.Time // in the zone they are told in; of all-day events the first and the last day, in UTC
	allDay     bool
	// zone and zoneEnd are the abbreviations at the start and the end; "" for none.
	zone, zoneEnd string
}

// whenText is when an event is, in the parts that a page marks: its start, its end ("" when
// one date tells both), and what stands between and behind them.
type whenText struct{ From, Between, To, After string }

// String is the whole text.
func (w whenText) String() string { return w.From + w.Between + w.To + w.After }

// whenText tells when an event is in whole: one date and its times, days, or both.
func (s speech) whenText(w when) (out whenText) {
	switch {
	case w.allDay && sameDay(w.start, w.end):
		out.From, out.After = s.date(w.start), " · "+word("event.all_day", s.lang)
		return out
	case w.allDay:
		out.From, out.Between, out.To = s.daysText(w.start, w.end)
		return out
	}
	out.From = s.at(s.date(w.start), s.time(w.start))
	if w.zoneEnd != "" {
		out.After = " " + w.zoneEnd
	}
	shift := !w.start.Equal(w.end) && w.zone != w.zoneEnd // a clock is changed meanwhile
	if shift {
		out.From += " " + w.zone
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
	out.Between, out.To = " "+dash+" ", s.at(s.date(w.end), s.time(w.end))
	if s.lang == calendar.LangCN {
		out.Between = " 至 "
	}
	return out
}

// when is the whole text.
func (s speech) when(w when) string { return s.whenText(w).String() }

func sameDay(a, b time.Time) bool {
	ay, am, ad := a.Date()
	by, bm, bd := b.Date()
	return ay == by && am == bm && ad == bd
}
