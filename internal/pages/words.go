package pages

import (
	"daybook/calendar"
	"daybook/internal/texts"
)

// word returns a text of the pages (PAGES.md P4.4) with values filled in.
func word(key string, l calendar.Lang, values ...string) string {
	return texts.Pages.In(key, l, values...)
}

func (l *layout) text(key string, values ...string) string { return word(key, l.Lang, values...) }

// count writes how many there are of a thing.
func (l *layout) count(thing string, n int) string {
	return l.text("count."+thing+"."+l.say.plural(n), l.say.number(n))
}

// comma joins two parts of a sentence.
func (l *layout) comma() string { return word("comma", l.Lang) }
