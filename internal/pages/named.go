package pages

import "daybook/calendar"

// named is a record that a page names.
type named struct {
	*calendar.Record

	Label   string // the name in the language of the page
	Lang    string // its language, where that is not the one of the page
	Href    string // path of its page
	Count   int    // of the events with it
	builder *pageBuilder
}

func (builder *pageBuilder) named(record *calendar.Record, status calendar.Status) named {
	name, language := record.Name(builder.language)
	n := named{Record: record, Label: name, Lang: builder.other(language), builder: builder}
	if record.Slug() == "" || record.Kind.IsPost() && status != calendar.StatusPublish && status != calendar.StatusFuture && status != calendar.StatusPrivate {
		n.Href = builder.Path + "/?" + record.Kind.String() + "=" + record.ID.String()
	} else {
		n.Href = builder.Href(recordPath(record))
	}
	return n
}

// Field is a text of the record.
func (named named) Field(name string) string { return named.Fields.String(name) }

// Colour is the one that events of a category have.
func (named named) Colour() int { return int(named.ID % noColour) }

// URL is the whole address of its page.
func (named named) URL() string { return named.builder.URL(named.Href) }
