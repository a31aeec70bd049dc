package pages

import "daybook/calendar"

// named is a record that a page tells of, by its name in the language of the page.
type named struct {
	*calendar.Record

	Status calendar.Status
	Count  int // of the events with it
	l      *look
}

func (l *look) named(r *calendar.Record, s calendar.Status) named {
	return named{Record: r, Status: s, l: l}
}

// Label is the name, Lang its language where that is not the one of the page.
func (n named) Label() string { name, _ := n.Name(n.l.lang); return name }
func (n named) Lang() string  { _, in := n.Name(n.l.lang); return n.l.other(in) }

// Field is a text of the record.
func (n named) Field(name string) string { return n.Fields.String(name) }

// Colour is the one that events of a category have.
func (n named) Colour() int { return int(n.ID % noColour) }

// Href is the path of its page, URL the whole address.
func (n named) Href() string {
	if n.Slug() == "" || n.Kind.IsPost() && n.Status != calendar.StatusPublish && n.Status != calendar.StatusFuture && n.Status != calendar.StatusPrivate {
		return n.l.Path + "/?" + n.Kind.String() + "=" + n.ID.String()
	}
	return n.l.Href(recordPath(n.Record))
}

func (n named) URL() string { return n.l.URL(n.Href()) }
