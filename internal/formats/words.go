package formats

import "daybook/calendar"

// words are the texts of feeds in a language.
var words = [...]struct{ events, cancelled string }{
	calendar.LangCN: {"活动", "已取消"},
	calendar.LangEN: {"Events", "Cancelled"},
	calendar.LangFR: {"Événements", "Annulé"},
	calendar.LangES: {"Eventos", "Cancelado"},
}

// DefaultCalendar is the calendar name where none is set.
func DefaultCalendar(l calendar.Lang) string { return words[l].events }
