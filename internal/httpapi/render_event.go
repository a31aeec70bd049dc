package httpapi

import (
	"strings"
	"sync"

	"daybook/calendar"
	"daybook/query"
)

// renderer writes records for one root and language.
type renderer struct {
	a    *api
	root *root
	lang calendar.Lang
	ld   bool // with json_ld: single reads
	// fields are the keys that are kept of a record, nil for all. What an event embeds
	// under other keys is not written.
	fields map[string]bool
	bare   bool // events without the venues and organizers that they link to
	// limit is how long the answer may get; over tells that what it embeds was left
	// out above it. 0: no limit.
	limit int
	over  bool
}

// wants tells whether a key is written.
func (p *renderer) wants(key string) bool {
	if p.bare && (key == "venue" || key == "venues" || key == "organizer") {
		return false
	}
	return p.fields == nil || p.fields[key]
}

// full tells whether the answer is longer than it may get.
func (p *renderer) full(b []byte) bool {
	p.over = p.over || p.limit > 0 && len(b) > p.limit
	return p.over
}

// appendView writes a record.
func (p *renderer) appendView(b []byte, v *query.View) []byte {
	switch v.Record.Kind {
	case calendar.KindEvent:
		return p.appendEvent(b, v)
	case calendar.KindVenue, calendar.KindOrganizer:
		return p.appendPost(b, query.LinkedView{Record: v.Record, Status: v.Status})
	default:
		return p.appendTerm(b, query.TermView{Record: v.Record, Count: v.Count}, false)
	}
}

// appendPostHead writes the keys that all posts begin with, up to url.
func (p *renderer) appendPostHead(b []byte, r *calendar.Record, status calendar.Status, url string) []byte {
	global := p.root.globalID(r.ID)
	b = append(b, `{"id":`...)
	b = appendID(b, r.ID)
	b = append(b, `,"global_id":`...)
	b = appendString(b, global)
	b = append(b, `,"global_id_lineage":[`...)
	b = appendString(b, global)
	b = append(b, `],"author":"`...)
	b = appendID(b, r.Author())
	b = append(b, `","status":`...)
	b = appendString(b, string(status))
	b = appendWall(b, `,"date":`, r.Fields.Wall("date"))
	b = appendWall(b, `,"date_utc":`, r.Fields.Wall("date_utc"))
	b = appendWall(b, `,"modified":`, r.Fields.Wall("modified"))
	b = appendWall(b, `,"modified_utc":`, r.Fields.Wall("modified_utc"))
	b = append(b, `,"url":`...)
	return appendString(b, url)
}

// appendEvent writes an event (3.1.7), blanked where the view says so (6.3).
func (p *renderer) appendEvent(b []byte, v *query.View) []byte {
	r := v.Record
	f := r.Fields
	url := p.root.page(r, v.Status)
	title, shown := r.Name(p.lang)
	b = p.appendPostHead(b, r, v.Status, url)
	b = append(b, `,"rest_url":`...)
	b = appendString(b, p.root.self(r))
	b = append(b, `,"title":`...)
	b = appendName(b, title)
	if v.Blanked {
		b = append(b, `,"description":"","excerpt":""`...)
	} else {
		b = p.appendHTML(append(b, `,"description":`...), r, "description")
		b = p.appendHTML(append(b, `,"excerpt":`...), r, "excerpt")
	}
	b = append(b, `,"slug":`...)
	b = appendString(b, r.Slug())
	b = append(b, `,"image":`...)
	if image := f.String("image_url"); image != "" && !v.Blanked {
		b = appendImage(b, f.ID("image"), image)
	} else {
		b = append(b, "false"...)
	}
	if v.Blanked {
		b = append(b, `,"all_day":null`...)
	} else {
		b = appendBool(b, `,"all_day":`, f.Bool("all_day"))
	}
	start, end := f.Wall("start_date"), f.Wall("end_date")
	utcStart, utcEnd := f.Wall("utc_start_date"), f.Wall("utc_end_date")
	b = appendMoment(b, "start_date", start)
	b = appendMoment(b, "end_date", end)
	b = appendMoment(b, "utc_start_date", utcStart)
	b = appendMoment(b, "utc_end_date", utcEnd)
	zone := p.a.zones.zone(f.String("timezone"))
	b = append(b, `,"timezone":`...)
	b = appendString(b, zone.Name)
	b = append(b, `,"timezone_abbr":`...)
	b = appendString(b, zone.Abbreviation(utcStart.UTC()))
	cost := calendar.Cost{}
	if !v.Blanked {
		cost = calendar.ReadCost(f.Strings("cost"), p.a.o.Currency)
	}
	b = append(b, `,"cost":`...)
	b = appendName(b, cost.Text)
	b = append(b, `,"cost_details":{"currency_symbol":`...)
	b = appendString(b, cost.Symbol)
	b = append(b, `,"currency_code":"","currency_position":`...)
	b = appendString(b, cost.Position)
	b = append(b, `,"values":`...)
	b = appendStrings(b, cost.Values)
	b = append(b, `},"website":`...)
	switch website := f.String("website"); {
	case v.Blanked:
		b = append(b, `""`...)
	case website == "":
		b = appendString(b, url)
	default:
		b = appendName(b, website)
	}
	if v.Blanked {
		b = append(b, `,"show_map":null,"show_map_link":null,"hide_from_listings":null,"sticky":null,"featured":null,`+
			`"ticketed":null,"post_parent":0,"categories":[],"tags":[],"venue":[],"venues":[],"organizer":[]`...)
	} else {
		b = appendBool(b, `,"show_map":`, f.BoolOr("show_map", true))
		b = appendBool(b, `,"show_map_link":`, f.BoolOr("show_map_link", true))
		b = appendBool(b, `,"hide_from_listings":`, f.Bool("hide_from_listings"))
		b = appendBool(b, `,"sticky":`, f.Bool("sticky"))
		b = appendBool(b, `,"featured":`, f.Bool("featured"))
		b = appendBool(b, `,"ticketed":`, f.Bool("ticketed"))
		b = append(b, `,"post_parent":`...)
		b = appendID(b, f.ID("post_parent"))
		b = p.appendLinked(b, v)
	}
	b = append(b, `,"custom_fields":[]`...)
	b = appendLanguages(b, r, shown)
	if p.ld && !v.Blanked {
		b = p.appendEventLD(append(b, `,"json_ld":`...), r, url)
		if len(v.Venues) > 0 {
			b = append(append(b, `,"location":`...), p.postFragment(v.Venues[0]).tail...)
		}
		if len(v.Organizers) > 0 {
			b = append(append(b, `,"organizer":`...), p.postFragment(v.Organizers[0]).tail...)
		}
		b = p.appendEventOffer(b, r, url, cost)
	}
	return append(b, '}')
}

// appendLinked writes the records that an event embeds, until the answer is full.
func (p *renderer) appendLinked(b []byte, v *query.View) []byte {
	b = p.appendTerms(b, "categories", v.Categories)
	b = p.appendTerms(b, "tags", v.Tags)
	if p.wants("venue") {
		b = append(b, `,"venue":`...)
		if len(v.Venues) == 0 {
			b = append(b, `[]`...)
		} else {
			b = p.appendPost(b, v.Venues[0])
		}
	}
	b = p.appendPosts(b, "venues", v.Venues)
	return p.appendPosts(b, "organizer", v.Organizers)
}

func (p *renderer) appendTerms(b []byte, key string, terms []query.TermView) []byte {
	if !p.wants(key) {
		return b
	}
	b = append(append(append(b, `,"`...), key...), `":[`...)
	for i, t := range terms {
		if p.full(b) {
			break
		}
		b = p.appendNested(appendComma(b, i), t)
	}
	return append(b, ']')
}

func (p *renderer) appendPosts(b []byte, key string, posts []query.LinkedView) []byte {
	if !p.wants(key) {
		return b
	}
	b = append(append(append(b, `,"`...), key...), `":[`...)
	for i, l := range posts {
		if p.full(b) {
			break
		}
		b = p.appendPost(appendComma(b, i), l)
	}
	return append(b, ']')
}

// appendNested writes a term that an event embeds.
func (p *renderer) appendNested(b []byte, t query.TermView) []byte {
	key := fragmentKey{
		id: t.Record.ID, version: t.Record.Version, sum: t.Record.Sum, count: t.Count, root: p.root.secret,
		form: formNested, lang: p.lang,
	}
	if known, ok := p.a.fragments.get(key); ok {
		return append(b, known.head...)
	}
	from := len(b)
	b = p.appendTerm(b, t, true)
	n := len(b) - from
	p.a.fragments.set(key, b[from:], n)
	return b
}

// shownHTML is the shown text of a description or excerpt of a post, rendered.
func (p *renderer) shownHTML(r *calendar.Record, field string) string {
	s, _ := r.Fields.Text(field).In(p.lang, r.Home)
	return paragraphs(s)
}

// appendHTML writes shownHTML.
func (p *renderer) appendHTML(b []byte, r *calendar.Record, field string) []byte {
	s, _ := r.Fields.Text(field).In(p.lang, r.Home)
	if s == "" || strings.IndexByte(s, '<') >= 0 || strings.IndexByte(s, '\n') >= 0 || strings.IndexByte(s, '\r') >= 0 {
		return appendString(b, paragraphs(s))
	}
	if s = strings.TrimSpace(s); s == "" { // what most texts are: one paragraph
		return append(b, `""`...)
	}
	b = appendInner(append(b, `"<p>`...), s, &plainSafe)
	return append(b, `</p>"`...)
}

// appendImage writes an image (3.5).
func appendImage(b []byte, id calendar.ID, url string) []byte {
	b = append(b, `{"url":`...)
	b = appendString(b, url)
	b = append(b, `,"id":`...)
	b = appendID(b, id)
	b = append(b, `,"extension":`...)
	b = appendString(b, extension(url))
	return append(b, '}')
}

// zoneTable keeps the zones that were read; stored names are good ones, so there
// are few.
type zoneTable struct{ m sync.Map }

func (t *zoneTable) zone(name string) calendar.Zone {
	if z, ok := t.m.Load(name); ok {
		return z.(calendar.Zone)
	}
	z, ok := calendar.ParseZone(name)
	if !ok {
		return calendar.Zone{Name: name}
	}
	t.m.Store(strings.Clone(name), z)
	return z
}
