package render

import (
	"strconv"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/htmltext"
	"daybook/query"
	"daybook/query/readmodel"
)

// appendEvent writes an event (3.1.7), blanked where the view says so (6.3).
func (w *Writer) appendEvent(b []byte, v *query.View) []byte {
	s := &w.event
	*s = subject{
		r: v.Record, f: v.Record.Fields, status: v.Status, url: w.Links.Page(v.Record, v.Status),
		blanked: v.Blanked, view: v,
	}
	b = w.appendColumns(b, w.Layouts.Of[calendar.KindEvent], s)
	if v.Distance != nil {
		b = formats.AppendKm(append(b, `,"distance":`...), *v.Distance)
	}
	b = w.AppendHighlight(b, v)
	if w.LD && !v.Blanked {
		b = w.appendEventLD(append(b, `,"json_ld":`...), v, s)
	}
	return append(b, '}')
}

// AppendHighlight appends the key highlight of an event with a comma in front: its texts that
// a search matches, with marks (LISTINGS 3.4); of a blanked one the title alone is searched.
func (w *Writer) AppendHighlight(b []byte, v *query.View) []byte {
	const key = `,"highlight":`
	if w.Highlighter == nil || !w.wants(key) {
		return b
	}
	b = append(append(b, key...), '{')
	from := len(b)
	add := func(key, text string) {
		if text != "" {
			b = append(AppendString(AppendComma(b, len(b)-from), key), ':')
			b = AppendString(b, text)
		}
	}
	title, l := v.Record.Name(w.Lang)
	add("title", w.Highlighter.Name(title, l))
	for _, key := range [...]string{"excerpt", "description"} {
		if text, l := HTML(v.Record, key, w.Lang); text != "" && !v.Blanked {
			add(key, w.Highlighter.Snippet(htmltext.PlainText(text), l, w.HighlightLength))
		}
	}
	return append(b, '}')
}

// HTML returns a description or excerpt of a post as it is shown, and its language.
func HTML(r *calendar.Record, field string, l calendar.Lang) (string, calendar.Lang) {
	s, in := r.Fields.Text(field).In(l, r.Home)
	return paragraphs(s), in
}

func writeZone(w *Writer, b []byte, c *Column, s *subject) []byte {
	zone := w.Zone(s.f.String(c.Name))
	b = c.append(b, zone.Name, plainText)
	return AppendString(append(b, c.more...), zone.Abbreviation(s.f.Wall("utc_start_date").UTC()))
}

func writeCost(w *Writer, b []byte, c *Column, s *subject) []byte {
	s.cost = calendar.ReadCost(s.f.Strings(c.Name), w.currency)
	b = c.append(b, s.cost.Text, nameText)
	b = append(append(b, c.more...), `{"currency_symbol":`...)
	b = AppendString(b, s.cost.Symbol)
	b = append(b, `,"currency_code":"","currency_position":`...)
	b = AppendString(b, s.cost.Position)
	b = append(b, `,"values":`...)
	return append(AppendStrings(b, s.cost.Values), '}')
}

func writeWebsite(_ *Writer, b []byte, c *Column, s *subject) []byte {
	if website := s.f.String(c.Name); website != "" {
		return c.append(b, website, nameText)
	}
	return c.append(b, s.url, plainText)
}

func writeTerms(w *Writer, b []byte, c *Column, s *subject) []byte {
	terms := s.view.Categories
	if c.Name == "tags" {
		terms = s.view.Tags
	}
	return appendEmbedded(w, b, c.key, terms, w.appendNested)
}

func writePosts(w *Writer, b []byte, c *Column, s *subject) []byte {
	return appendEmbedded(w, b, c.key, s.view.Organizers, w.appendPost)
}

func writeFirst(w *Writer, b []byte, c *Column, s *subject) []byte {
	if w.wants(c.key) {
		b = append(b, c.key...)
		if len(s.view.Venues) == 0 {
			b = append(b, `[]`...)
		} else {
			b = w.appendPost(b, s.view.Venues[0])
		}
	}
	return appendEmbedded(w, b, c.more, s.view.Venues, w.appendPost)
}

// appendEmbedded writes a key with records that an event embeds, until the answer is full.
func appendEmbedded[T any](w *Writer, b []byte, key string, records []T, one func([]byte, T) []byte) []byte {
	if !w.wants(key) {
		return b
	}
	b = append(append(b, key...), '[')
	for i, r := range records {
		if w.full(b) {
			break
		}
		b = one(AppendComma(b, i), r)
	}
	return append(b, ']')
}

// appendNested writes a term that an event embeds.
func (w *Writer) appendNested(b []byte, t query.TermView) []byte {
	key := fragmentKey{
		id: t.Record.ID, version: t.Record.Version, sum: t.Record.Sum, count: t.Count, links: w.Links.Secret,
		form: formNested, lang: w.Lang,
	}
	if cached, ok := w.fragments.Get(key); ok {
		return append(b, cached.head...)
	}
	from := len(b)
	b = w.appendTerm(b, t, w.Layouts.Nested[t.Record.Kind])
	w.fragments.add(key, b[from:], len(b)-from)
	return b
}

func writeRepeats(_ *Writer, b []byte, _ *Column, s *subject) []byte {
	if s.view == nil {
		return b
	}
	return AppendRepeats(b, s.view.Repeats)
}

// AppendRepeats appends the key collapsed of an event with a comma in front, nothing without
// repeats.
func AppendRepeats(b []byte, r *readmodel.Repeats) []byte {
	if r == nil {
		return b
	}
	b = strconv.AppendInt(append(b, `,"collapsed":{"count":`...), int64(r.Count), 10)
	b = append(b, `,"ids":[`...)
	for i, id := range r.IDs {
		b = appendID(AppendComma(b, i), id)
	}
	b = appendWall(b, `],"first_start":`, r.First)
	return append(appendWall(b, `,"last_start":`, r.Last), '}')
}
