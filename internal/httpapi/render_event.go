package httpapi

import (
	"strings"
	"sync"

	"daybook/calendar"
	"daybook/internal/canonjson"
	"daybook/internal/formats"
	"daybook/internal/htmltext"
	"daybook/query"
	"daybook/query/readmodel"
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
	// highlighter marks what a search fits; nil: events have no such key. Parts of texts
	// have at most highlightLength characters.
	highlighter     *readmodel.Highlighter
	highlightLength int
	// limit is how long the answer may get; over tells that what it embeds was left
	// out above it. 0: no limit.
	limit int
	over  bool
	// The records on their way: an event, and another one alone or within it.
	event, other subject
}

// wants tells whether a key is written; it comes with its comma and colon.
func (p *renderer) wants(key string) bool {
	name := key[len(`,"`) : len(key)-len(`":`)]
	if p.bare && (name == "venue" || name == "venues" || name == "organizer") {
		return false
	}
	return p.fields == nil || p.fields[name]
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
		return p.appendTerm(b, query.TermView{Record: v.Record, Count: v.Count}, p.a.layouts.of[v.Record.Kind])
	}
}

// appendEvent writes an event (3.1.7), blanked where the view says so (6.3).
func (p *renderer) appendEvent(b []byte, v *query.View) []byte {
	s := &p.event
	*s = subject{
		r: v.Record, f: v.Record.Fields, status: v.Status, url: p.root.page(v.Record, v.Status),
		blanked: v.Blanked, view: v,
	}
	b = p.appendColumns(b, p.a.layouts.of[calendar.KindEvent], s)
	if v.Distance != nil {
		b = formats.AppendKm(append(b, `,"distance":`...), *v.Distance)
	}
	if p.highlighter != nil && p.wants(highlightKey) {
		b = p.appendHighlight(append(b, highlightKey...), s)
	}
	if p.ld && !v.Blanked {
		b = p.appendEventLD(append(b, `,"json_ld":`...), s.r, s.url)
		if len(v.Venues) > 0 {
			b = append(append(b, `,"location":`...), p.postFragment(v.Venues[0]).tail...)
		}
		if len(v.Organizers) > 0 {
			b = append(append(b, `,"organizer":`...), p.postFragment(v.Organizers[0]).tail...)
		}
		b = p.appendEventOffer(b, s.r, s.url, s.cost)
	}
	return append(b, '}')
}

const highlightKey = `,"highlight":`

// appendHighlight writes the texts of an event that a search fits, with marks (LISTINGS
// 3.4); of a blanked one the title alone is searched.
func (p *renderer) appendHighlight(b []byte, s *subject) []byte {
	b = append(b, '{')
	from := len(b)
	add := func(key, text string) {
		if text != "" {
			b = append(appendString(appendComma(b, len(b)-from), key), ':')
			b = appendString(b, text)
		}
	}
	title, l := s.r.Name(p.lang)
	add("title", p.highlighter.Name(title, l))
	for _, key := range [...]string{"excerpt", "description"} {
		if text, l := s.f.Text(key).In(p.lang, s.r.Home); text != "" && !s.blanked {
			add(key, p.highlighter.Snippet(htmltext.PlainText(paragraphs(text)), l, p.highlightLength))
		}
	}
	return append(b, '}')
}

func writeZone(p *renderer, b []byte, c *column, s *subject) []byte {
	zone := p.a.zones.zone(s.f.String(c.name))
	b = c.append(b, zone.Name, plainText)
	return appendString(append(b, c.more...), zone.Abbreviation(s.f.Wall("utc_start_date").UTC()))
}

func writeCost(p *renderer, b []byte, c *column, s *subject) []byte {
	s.cost = calendar.ReadCost(s.f.Strings(c.name), p.a.o.Currency)
	b = c.append(b, s.cost.Text, nameText)
	b = append(append(b, c.more...), `{"currency_symbol":`...)
	b = appendString(b, s.cost.Symbol)
	b = append(b, `,"currency_code":"","currency_position":`...)
	b = appendString(b, s.cost.Position)
	b = append(b, `,"values":`...)
	return append(appendStrings(b, s.cost.Values), '}')
}

func writeWebsite(_ *renderer, b []byte, c *column, s *subject) []byte {
	if website := s.f.String(c.name); website != "" {
		return c.append(b, website, nameText)
	}
	return c.append(b, s.url, plainText)
}

// What an event embeds is written until the answer is full.

func writeTerms(p *renderer, b []byte, c *column, s *subject) []byte {
	if !p.wants(c.key) {
		return b
	}
	terms := s.view.Categories
	if c.name == "tags" {
		terms = s.view.Tags
	}
	b = append(append(b, c.key...), '[')
	for i, t := range terms {
		if p.full(b) {
			break
		}
		b = p.appendNested(appendComma(b, i), t)
	}
	return append(b, ']')
}

func writePosts(p *renderer, b []byte, c *column, s *subject) []byte {
	return p.appendPosts(b, c.key, s.view.Organizers)
}

func writeFirst(p *renderer, b []byte, c *column, s *subject) []byte {
	if p.wants(c.key) {
		b = append(b, c.key...)
		if len(s.view.Venues) == 0 {
			b = append(b, `[]`...)
		} else {
			b = p.appendPost(b, s.view.Venues[0])
		}
	}
	return p.appendPosts(b, c.more, s.view.Venues)
}

func (p *renderer) appendPosts(b []byte, key string, posts []query.LinkedView) []byte {
	if !p.wants(key) {
		return b
	}
	b = append(append(b, key...), '[')
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
	b = p.appendTerm(b, t, p.a.layouts.nested[t.Record.Kind])
	n := len(b) - from
	p.a.fragments.set(key, b[from:], n)
	return b
}

// shownHTML is the shown text of a description or excerpt of a post, rendered.
func (p *renderer) shownHTML(r *calendar.Record, field string) string {
	s, _ := r.Fields.Text(field).In(p.lang, r.Home)
	return paragraphs(s)
}

// appendHTML writes a description or excerpt.
func appendHTML(b []byte, s string) []byte {
	if s == "" || strings.IndexByte(s, '<') >= 0 || strings.IndexByte(s, '\n') >= 0 || strings.IndexByte(s, '\r') >= 0 {
		return appendString(b, paragraphs(s))
	}
	if s = strings.TrimSpace(s); s == "" { // what most texts are: one paragraph
		return append(b, `""`...)
	}
	b = canonjson.AppendText(append(b, `"<p>`...), s, plainText)
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
