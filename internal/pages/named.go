package pages

import "daybook/calendar"

// named is a record that a page names.
type named struct {
	*calendar.Record

	Label string // the name in the language of the page
	Lang  string // its language, where that is not the one of the page
	Href  string // path of its page
	Count int    // of the events with it
	l     *look
}

func (l *look) named(r *calendar.Record, s calendar.Status) named {
	name, in := r.Name(l.lang)
	n := named{Record: r, Label: name, Lang: l.other(in), l: l}
	if r.Slug() == "" || r.Kind.IsPost() && s != calendar.StatusPublish && s != calendar.StatusFuture && s != calendar.StatusPrivate {
		n.Href = l.Path + "/?" + r.Kind.String() + "=" + r.ID.String()
	} else {
		n.Href = l.href(recordPath(r))
	}
	return n
}

// Field is a text of the record.
func (n named) Field(name string) string { return n.Fields.String(name) }

// Colour is the one that events of a category have.
func (n named) Colour() int { return int(n.ID % noColour) }

// URL is the whole address of its page.
func (n named) URL() string { return n.l.URL(n.Href) }
