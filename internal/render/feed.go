package render

import (
	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/htmltext"
	"daybook/query"
)

// Times returns when an event is; one that is shown blanked is not all-day.
func (renderer *Renderer) Times(record *calendar.Record, blanked bool) formats.Times {
	fields := record.Fields
	return formats.Times{
		AllDay: fields.Bool("all_day") && !blanked, Zone: renderer.Zone(fields.String("timezone")),
		Start: fields.Wall("start_date"), End: fields.Wall("end_date"), UTCStart: fields.Wall("utc_start_date"), UTCEnd: fields.Wall("utc_end_date"),
	}
}

// Event makes an event of a view for other formats than JSON. What it held before is used again.
func (writer *Writer) Event(event *formats.Event, view *query.View) {
	record, links := view.Record, writer.Links
	fields := record.Fields
	title, shown := record.Name(writer.Lang)
	*event = formats.Event{
		Times: writer.Times(record, view.Blanked), ID: record.ID, UID: formats.UID(*writer.Store, record.ID.String()), Blanked: view.Blanked, Status: view.Status, Version: record.Version,
		Touched: view.Touched, Distance: view.Distance, Date: fields.Wall("date_utc"), Modified: fields.Wall("modified_utc"),
		Title: title, EventStatus: fields.EventStatus(), URL: links.Page(record, view.Status), RestURL: links.Self(record), Lang: shown, Langs: record.Langs(),
		Categories: event.Categories[:0], Tags: event.Tags[:0], Venues: event.Venues[:0], Organizers: event.Organizers[:0],
		More: writer.appendHighlight(appendRepeats(event.More[:0], view.Repeats), view),
	}
	if view.Blanked {
		return
	}
	event.Description, event.Excerpt = writer.text(event, record, "description"), writer.text(event, record, "excerpt")
	event.Website, event.Image = fields.String("website"), fields.String("image_url")
	cost := calendar.ReadCost(fields.Strings("cost"), writer.currency)
	event.Cost, event.CostValues = cost.Text, cost.Values
	event.Ticketed, event.Featured = fields.Bool("ticketed"), fields.Bool("featured")
	if parent := fields.ID("post_parent"); parent != 0 {
		event.Parent = formats.UID(*writer.Store, parent.String())
	}
	event.Categories, event.Tags = writer.linked(event.Categories, view.Categories), writer.linked(event.Tags, view.Tags)
	event.Venues, event.Organizers = writer.linked(event.Venues, view.Venues), writer.linked(event.Organizers, view.Organizers)
}

// text returns a text of an event with absolute links.
func (writer *Writer) text(event *formats.Event, record *calendar.Record, field string) string {
	text, _ := HTML(record, field, writer.Lang)
	return htmltext.AbsoluteLinks(text, event.URL)
}

// linked appends records that an event links to.
func (writer *Writer) linked(to []formats.Linked, views []query.LinkedView) []formats.Linked {
	for _, view := range views {
		linked := formats.Linked{Record: view.Record}
		linked.Name, _ = view.Record.Name(writer.Lang)
		if view.Record.Kind.IsPost() {
			linked.URL = writer.Links.Page(view.Record, view.Status)
		}
		to = append(to, linked)
	}
	return to
}
