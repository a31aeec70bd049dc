package pages

import (
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// instantLayout is a moment with its offset.
const instantLayout = "2006-01-02T15:04:05-07:00"

// span is when an event is, in the zone that it is told in.
type span struct {
	start, end time.Time // of all-day events wall clocks in UTC
	allDay     bool
	zone       string // abbreviation at the start
	zoneEnd    string // and at the end
	away       bool   // the zone is not that of the site
}

// spanOf gives when an event is: by its own clock, or by that of a zone.
func (p *Pages) spanOf(r *calendar.Record, blanked bool, zone *calendar.Zone) span {
	f := r.Fields
	s := span{allDay: f.Bool("all_day") && !blanked}
	from, to := f.Wall("start_date"), f.Wall("end_date")
	if s.allDay { // own dates under every zone
		s.start, s.end = from.UTC(), to.UTC()
		return s
	}
	utcFrom, utcTo := f.Wall("utc_start_date"), f.Wall("utc_end_date")
	if zone != nil {
		s.start, s.end = time.Unix(int64(utcFrom), 0).In(zone.Location), time.Unix(int64(utcTo), 0).In(zone.Location)
		s.zone, s.zoneEnd, s.away = zone.Abbreviation(s.start), zone.Abbreviation(s.end), zone.Name != p.o.SiteZone
		return s
	}
	own, _ := calendar.ParseZone(f.String("timezone"))
	s.away = own.Name != p.o.SiteZone
	s.zone, s.zoneEnd = own.Abbreviation(time.Unix(int64(utcFrom), 0)), own.Abbreviation(time.Unix(int64(utcTo), 0))
	at := func(w, utc calendar.Wall) time.Time {
		t := time.Unix(int64(utc), 0)
		if own.Location != nil && calendar.WallOf(t.In(own.Location)) == w {
			return t.In(own.Location)
		}
		return t.In(time.FixedZone("", int(w-utc))) // the rules of the zone have changed since
	}
	s.start, s.end = at(from, utcFrom), at(to, utcTo)
	return s
}

// first and last are the days that the event is on, at midnight in UTC. It is not on a day
// that begins in the moment in which it ends, unless it starts there.
func (s *span) first() time.Time { first, _ := s.ends(); return first }
func (s *span) last() time.Time  { _, last := s.ends(); return last }

func (s *span) ends() (first, last time.Time) {
	first, last = midnight(s.start), midnight(s.end)
	if s.end.After(s.start) {
		last = midnight(s.end.Add(-time.Second))
	}
	if last.Before(first) { // the clock goes back over midnight meanwhile
		first, last = last, first
	}
	return first, last
}

// days are the days from one to another that the event is on: not those between its first
// and its last that the zone left out.
func (s *span) days(from, to time.Time) (out []time.Time) {
	first, last := s.ends()
	for day := later(first, from); !day.After(last) && !day.After(to); day = day.AddDate(0, 0, 1) {
		if day.Equal(first) || day.Equal(last) || s.has(day) {
			out = append(out, day)
		}
	}
	return out
}

// has reports whether the zone of the event has a day.
func (s *span) has(day time.Time) bool {
	begin, end := calendar.Day(calendar.WallOf(day), s.start.Location())
	return begin.Before(end)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// midnight is the day of a clock, as a time in UTC.
func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// from and to are the values of datetime and of data-start and data-end.
func (s *span) from() string { return s.attribute(s.start) }
func (s *span) to() string   { return s.attribute(s.end) }

func (s *span) attribute(t time.Time) string {
	if s.allDay {
		return t.Format(time.DateOnly)
	}
	text := t.Format(time.RFC3339) // is faster than instantLayout
	if clock, utc := strings.CutSuffix(text, "Z"); utc {
		return clock + "+00:00"
	}
	return text
}

// over tells whether the event has ended, running whether it is on.
func over(r *calendar.Record, now time.Time) bool {
	return r.Fields.Wall("utc_end_date") < calendar.Wall(now.Unix())
}

func running(r *calendar.Record, now time.Time) bool {
	return r.Fields.Wall("utc_start_date") <= calendar.Wall(now.Unix()) && !over(r, now)
}

// link is a text that leads somewhere.
type link struct {
	Href, Label string
	Value       string // what stands in Label for {1}, "" for nothing; of a preset its word
	Lang        string // of the label, where it is not that of the page
	Current     bool
	Title       string
	Count       string
}

// noColour is that of events without a category, after those of the categories.
const noColour = 8

// chip is a category.
type chip struct {
	link

	Colour int
}

// sign is a badge.
type sign struct{ Name, Label string }

// Told reports whether it stands in month, week and day, too.
func (s sign) Told() bool { return s.Name == "cancelled" || s.Name == "postponed" }

// card is an event in a list.
type card struct {
	ID                    calendar.ID
	Version               int64
	Href, Title, Language string // Language: of the title, where it is not that of the page
	Start, End            string
	// At and When are what stands first: a date, or a time in a section of its day. Lead stands
	// before it, Note below it.
	At, When, Lead, Note    string
	Zone                    string // abbreviation, where it is not the one of the site
	Day, Month              string // of its start
	Now, Past               bool
	Protected, AllDay, Long bool // Long: it lasts 24 hours or longer
	Badges                  []sign
	Venue, City, Cost       string
	VenueLang               string      // of the name of the venue, where it is not that of the page
	VenueID                 calendar.ID // 0: none
	Categories              []chip      // the first one by name
	Colour                  int
	Image                   string
	Marked                  template.HTML // title with marks, "" for none
	Snippet                 template.HTML // of the text in which a search was found
	SnippetLang             string        // as VenueLang
	Cancelled, Featured     bool

	span     span
	zoneName string // of the event
}

// Class are the classes of the row of an event.
func (c *card) Class() string {
	if c.Image != "" {
		return "card has-picture" + c.States()
	}
	return "card" + c.States()
}

// ZoneStart is the abbreviation at its start, where it is not the zone of the site.
func (c *card) ZoneStart() string { return c.span.zone }

// States are the classes that say whether an event takes place.
func (c *card) States() (out string) {
	if c.Past {
		out = " is-past"
	}
	if c.Cancelled {
		out += " is-cancelled"
	}
	return out
}

// card makes the card of a view.
func (l *look) card(v *query.View) card {
	now, f := l.o.Now(), v.Record.Fields
	s := l.spanOf(v.Record, v.Blanked, l.shownIn())
	l.moment(time.Unix(int64(f.Wall("utc_start_date")), 0), now)
	l.moment(time.Unix(int64(f.Wall("utc_end_date"))+1, 0), now)
	title, in := v.Record.Name(l.lang)
	status := f.EventStatus()
	c := card{
		ID: v.Record.ID, Version: v.Record.Version, Href: l.named(v.Record, v.Status).Href(), Title: title, Language: l.other(in),
		Start: s.from(), End: s.to(), Past: over(v.Record, now), Now: status == calendar.EventScheduled && running(v.Record, now),
		Protected: v.Blanked, AllDay: s.allDay, Long: s.end.Sub(s.start) >= 24*time.Hour, Cancelled: status == calendar.EventCancelled,
		Day: strconv.Itoa(s.start.Day()), Month: l.monthName("short.", s.start.Month()),
		zoneName: f.String("timezone"), Colour: noColour, span: s,
	}
	if !s.away || s.allDay {
		c.span.zone, c.span.zoneEnd = "", ""
	}
	c.Featured = f.Bool("featured") && !v.Blanked
	from, to := c.lasts(l.speech)
	c.At, c.When, c.Note, c.Zone = c.Start, l.shortDate(s.start, now.In(l.o.Site).Year()), spaced(from, to), c.span.zoneEnd
	for _, b := range []struct {
		name string
		is   bool
	}{
		{"cancelled", c.Cancelled},
		{"postponed", status == calendar.EventPostponed},
		{"now", c.Now},
		{"past", c.Past},
		{"featured", c.Featured},
		{"protected", v.Blanked},
	} {
		if b.is {
			c.Badges = append(c.Badges, sign{b.name, l.text("badge." + b.name)})
		}
	}
	if v.Blanked {
		return c
	}
	c.Cost = l.Shown.Cost(v.Record).Text
	if l.ShowsImage(f.String("image_url")) {
		c.Image = f.String("image_url")
	}
	if len(v.Venues) > 0 {
		place := v.Venues[0].Record
		name, in := place.Name(l.lang)
		c.Venue, c.VenueLang, c.VenueID, c.City = name, l.other(in), place.ID, place.Fields.String("city")
	}
	if len(v.Categories) > 0 {
		t := v.Categories[0].Record
		name, in := t.Name(l.lang)
		c.Colour = int(t.ID % 8)
		c.Categories = []chip{{link{Href: l.href(recordPath(t)), Label: name, Lang: l.other(in)}, c.Colour}}
	}
	return c
}

// lasts tells when an event begins within its day, and how long it lasts.
func (c *card) lasts(say speech) (from, to string) {
	s := &c.span
	if from = say.time(s.start); s.allDay {
		from = say.text("event.all_day")
	}
	if s.zone != s.zoneEnd { // a clock is changed meanwhile
		from = spaced(from, s.zone)
	}
	switch {
	case c.Long:
		to = say.text("until.day", say.dayOf(s.end, s.end.Year() != s.start.Year()))
	case !s.allDay && !s.start.Equal(s.end):
		to = dash + " " + say.time(s.end)
	}
	return from, to
}

// inDay has a card stand in the section of its day, or among what runs.
func (c *card) inDay(say speech, running bool) {
	c.When, c.Note = c.lasts(say)
	if running {
		c.Lead, c.At, c.When, c.Note = say.text("until.lead"), c.End, say.dayOf(c.span.end, c.span.end.Year() != c.span.start.Year()), ""
	}
}

// spaced puts blanks between what is not empty.
func spaced(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// other is the tag of a language that is not the one of the page, else "".
func (s speech) other(in calendar.Lang) string {
	if in == s.lang {
		return ""
	}
	return in.Tag()
}

// href makes the path of a link to a page in the language of the request.
func (r *Request) href(page string) string { return r.Path + segments[r.Route.lang] + page }

// today is the present day of a zone, of the site without one, at midnight in UTC.
func (p *Pages) today(zone *calendar.Zone) time.Time {
	in := p.o.Site
	if zone != nil {
		in = zone.Location
	}
	return midnight(p.o.Now().In(in))
}

// mostOnly is how many events a selection names one by one.
const mostOnly = 1000

// mostCards is how many events month, week and day take in.
const mostCards = 10_000

// allCards makes the cards of a whole period. Those that its window touches but that are on
// none of its days are not in it (all-day events of other zones, and what ends when the
// period begins), unless there are too many to name them one by one in other formats: then
// they count, on their own dates.
func (l *look) allCards() []card {
	if l.err != nil {
		return nil
	}
	s := l.sel
	whole, err := l.Lists.Whole(l.ctx, s.criteria, query.Calendar{})
	if err != nil {
		l.err = err
		return nil
	}
	defer whole.Close()
	if whole.Total() > mostCards {
		l.err = calendar.Fail(calendar.CodeSelectionTooLarge, calendar.KindEvent)
		return nil
	}
	out := make([]card, 0, whole.Total())
	var beside []card
	l.err = whole.Each(l.ctx, func(v *query.View) error {
		c := l.card(v)
		if len(c.span.days(s.over.first, s.over.last)) > 0 {
			out = append(out, c)
		} else {
			beside = append(beside, c)
		}
		return nil
	})
	l.Position = max(l.Position, whole.Position())
	switch {
	case len(beside) == 0:
	case len(out) > mostOnly:
		out = append(out, beside...)
	default:
		s.only = make([]string, len(out))
		for i := range out {
			s.only[i] = out[i].ID.String()
		}
	}
	return out
}
