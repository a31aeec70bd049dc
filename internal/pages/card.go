package pages

import (
	"html/template"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// instantLayout is a moment with its offset.
const instantLayout = "2006-01-02T15:04:05-07:00"

// whenOf gives when an event is: by its own clock, or by that of a zone.
func (builder *pageBuilder) whenOf(record *calendar.Record, blanked bool, zone *calendar.Zone) (times eventTimes) {
	fields := record.Fields
	from, to := fields.Wall("start_date"), fields.Wall("end_date")
	if fields.Bool("all_day") && !blanked { // own dates under every zone
		return eventTimes{Begins: from.UTC(), Ends: to.UTC(), AllDay: true}
	}
	told, _ := calendar.ParseZone(fields.String("timezone"))
	if zone != nil {
		told = *zone
	}
	at := func(wall, utc calendar.Wall) time.Time {
		instant := time.Unix(int64(utc), 0)
		if told.Location != nil && (zone != nil || calendar.WallOf(instant.In(told.Location)) == wall) {
			return instant.In(told.Location)
		}
		return instant.In(time.FixedZone("", int(wall-utc))) // the rules of the zone have changed since
	}
	times.Begins, times.Ends, times.away = at(from, fields.Wall("utc_start_date")), at(to, fields.Wall("utc_end_date")), told.Name != builder.options.SiteZone
	times.Zone, times.ZoneEnd = told.Abbreviation(times.Begins), told.Abbreviation(times.Ends)
	return times
}

// edges are the first and the last day that the event is on, at midnight in UTC. It is not on
// a day that begins in the moment in which it ends, unless it starts there.
func (when *eventTimes) edges() (first, last time.Time) {
	first, last = midnight(when.Begins), midnight(when.Ends)
	if when.Ends.After(when.Begins) {
		last = midnight(when.Ends.Add(-time.Second))
	}
	if last.Before(first) { // the clock goes back over midnight meanwhile
		first, last = last, first
	}
	return first, last
}

// days are the days from one to another that the event is on: not those between its first
// and its last that the zone left out.
func (when *eventTimes) days(from, to time.Time) (result []time.Time) {
	first, last := when.edges()
	day := first
	if day.Before(from) {
		day = from
	}
	for ; !day.After(last) && !day.After(to); day = day.AddDate(0, 0, 1) {
		if !day.Equal(first) && !day.Equal(last) {
			if begin, end := calendar.Day(calendar.WallOf(day), when.Begins.Location()); !begin.Before(end) {
				continue
			}
		}
		result = append(result, day)
	}
	return result
}

// midnight is the day of a clock, as a time in UTC.
func midnight(instant time.Time) time.Time {
	year, month, days := instant.Date()
	return time.Date(year, month, days, 0, 0, 0, 0, time.UTC)
}

// Start and End are the values of datetime and of data-start and data-end.
func (when *eventTimes) Start() string { return when.attribute(when.Begins) }
func (when *eventTimes) End() string   { return when.attribute(when.Ends) }

func (when *eventTimes) attribute(instant time.Time) string {
	if when.AllDay {
		return instant.Format(time.DateOnly)
	}
	return instant.Format(instantLayout)
}

// link is a text that leads somewhere.
type link struct {
	Href, Label string
	Current     bool
}

// noColour is that of events without a category, after those of the categories.
const noColour = 8

// card is an event in a list. What templates read of each one are fields of its own: they
// find those of embedded types slowly.
type card struct {
	eventTimes

	ID                calendar.ID
	Version           int64
	Label, Lang, Href string // as of a named record
	Start, End        string
	InZone            string // abbreviation of the zone at its end, "" for that of the site
	Date              string // of its start
	Time, Lasts       string // of the day, and how long from then on
	Until             string // date of its end
	InDay, Running    bool   // it stands in the section of its day, or among what runs
	Again             bool   // its link stands elsewhere on the page
	Now, Past         bool
	Cancelled         bool
	Long              bool // it lasts 24 hours or longer
	Badges            []string
	Venue             *named
	Category          *named // the first one by name
	Colour            int
	Cost, Image       string
	Marked            template.HTML // title with marks, "" for none
	Snippet           template.HTML // of the text in which a search was found
	SnippetLang       string        // where it is not that of the page

	timezone string
}

// card makes the card of a view.
func (builder *pageBuilder) card(view *query.View) card {
	record, fields, now := view.Record, view.Record.Fields, builder.options.Now()
	start, end, wall := fields.Wall("utc_start_date"), fields.Wall("utc_end_date"), calendar.WallOf(now.UTC())
	builder.moment(start.UTC(), now)
	builder.moment((end + 1).UTC(), now)
	status, name := fields.EventStatus(), builder.named(record, view.Status)
	c := card{
		eventTimes: builder.whenOf(record, view.Blanked, builder.zone), ID: record.ID, Version: record.Version, Label: name.Label, Lang: name.Lang, Href: name.Href,
		timezone: fields.String("timezone"), Colour: noColour,
		Past: end < wall, Now: status == calendar.EventScheduled && start <= wall && wall <= end, Cancelled: status == calendar.EventCancelled,
	}
	if !c.away {
		c.Zone, c.ZoneEnd = "", ""
	}
	c.Start, c.End, c.InZone = c.eventTimes.Start(), c.eventTimes.End(), c.ZoneEnd
	c.Long = c.Ends.Sub(c.Begins) >= 24*time.Hour
	c.Date, c.Until = builder.shortDate(c.Begins, now.In(builder.options.Site).Year()), builder.dayOf(c.Ends, c.Ends.Year() != c.Begins.Year())
	if c.Time = builder.time(c.Begins); c.AllDay {
		c.Time = builder.text("event.all_day")
	}
	if c.Zone != c.ZoneEnd { // a clock is changed meanwhile
		c.Time += " " + c.Zone
	}
	switch {
	case c.Long:
		c.Lasts = builder.text("until.day", c.Until)
	case !c.AllDay && !c.Begins.Equal(c.Ends):
		c.Lasts = dash + " " + builder.time(c.Ends)
	}
	for _, b := range []struct {
		name string
		is   bool
	}{
		{"cancelled", c.Cancelled},
		{"postponed", status == calendar.EventPostponed},
		{"now", c.Now},
		{"past", c.Past},
		{"featured", fields.Bool("featured") && !view.Blanked},
		{"protected", view.Blanked},
	} {
		if b.is {
			c.Badges = append(c.Badges, b.name)
		}
	}
	if view.Blanked {
		return c
	}
	c.Cost = builder.cost(record).Text
	if image := fields.String("image_url"); builder.ShowsImage(image) {
		c.Image = image
	}
	if len(view.Venues) > 0 {
		c.Venue = new(builder.named(view.Venues[0].Record, view.Venues[0].Status))
	}
	if len(view.Categories) > 0 {
		c.Category = new(builder.named(view.Categories[0].Record, ""))
		c.Colour = c.Category.Colour()
	}
	return c
}

// other is the tag of a language that is not the one of the page, else "".
func (speech locale) other(language calendar.Lang) string {
	if language == speech.language {
		return ""
	}
	return language.Tag()
}

// Href makes the path of a link to a page in the language of the request.
func (request *Request) Href(page string) string {
	return request.Path + segments[request.Route.language] + page
}

// today is the present day of a zone, of the site without one, at midnight in UTC.
func (pages *Pages) today(zone *calendar.Zone) time.Time {
	in := pages.options.Site
	if zone != nil {
		in = zone.Location
	}
	return midnight(pages.options.Now().In(in))
}

// mostOnly is how many events a selection names one by one.
const mostOnly = 1000

// mostCards is how many events month, week and day take in.
const mostCards = 10_000

// allCards makes the cards of a whole period. Those that its window touches but that are on
// none of its days are not in it (all-day events of other zones, and what ends when the
// period begins), unless there are too many to name them one by one in other formats: then
// they count, on their own dates.
func (builder *pageBuilder) allCards() (cards []card) {
	selection := builder.selection
	var beside []card
	builder.each(selection.criteria, mostCards, func(view *query.View) {
		c := builder.card(view)
		if len(c.days(selection.over.first, selection.over.last)) > 0 {
			cards = append(cards, c)
		} else {
			beside = append(beside, c)
		}
	})
	switch {
	case len(beside) == 0:
	case len(cards) > mostOnly:
		cards = append(cards, beside...)
	default:
		selection.only = make([]string, len(cards))
		for i := range cards {
			selection.only[i] = cards[i].ID.String()
		}
	}
	return cards
}
