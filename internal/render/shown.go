package render

import (
	"cmp"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/canonjson"
	"daybook/internal/formats"
)

// What times and costs are in a blanked event.
const (
	blankWall = `"0000-00-00 00:00:00"`
	blankTime = `{"year":"0000","month":"00","day":"00","hour":"00","minutes":"00","seconds":"00"}`
	blankCost = `{"currency_symbol":"","currency_code":"","currency_position":"","values":[]}`
)

// shown is how the fields of a way to show them are written: one key or two, the second
// with an ending; and the values of the keys in a blanked event.
type shown struct {
	write       writer
	blank       string
	ending      string
	secondBlank string
}

// fieldsShown are the ways to show a field.
var fieldsShown = [...]shown{
	calendar.ShownText:       {write: writeText, blank: `""`},
	calendar.ShownName:       {write: writeName, blank: `""`},
	calendar.ShownHTML:       {write: writeHTML, blank: `""`},
	calendar.ShownWall:       {write: writeWall, blank: blankWall},
	calendar.ShownMoment:     {writeMoment, blankWall, "_details", blankTime},
	calendar.ShownStatus:     {write: writeStatus, blank: `""`},
	calendar.ShownWord:       {write: writeWord, blank: `""`},
	calendar.ShownZone:       {writeZone, `""`, "_abbr", `""`},
	calendar.ShownBool:       {write: writeBool, blank: `null`},
	calendar.ShownID:         {write: writeID, blank: `0`},
	calendar.ShownAuthor:     {write: writeAuthor, blank: `"0"`},
	calendar.ShownCoordinate: {write: writeCoordinate, blank: `0`},
	calendar.ShownRegion:     {write: writeRegion, blank: `""`},
	calendar.ShownCost:       {writeCost, `""`, "_details", blankCost},
	calendar.ShownWebsite:    {write: writeWebsite, blank: `""`},
	calendar.ShownImage:      {write: writeImage, blank: `false`},
	calendar.ShownTerms:      {write: writeTerms, blank: `[]`},
	calendar.ShownPosts:      {write: writePosts, blank: `[]`},
	calendar.ShownFirst:      {writeFirst, `[]`, "s", `[]`},
}

// computed are the keys that no field has.
var computed = map[string]shown{
	"id":            {write: writeRecordID},
	"global_id":     {write: writeGlobalID, ending: "_lineage"},
	"url":           {write: writeURL},
	"rest_url":      {write: writeRestURL},
	"custom_fields": {write: writeNothing},
	"language":      {write: writeLanguages, ending: "s"},
	"taxonomy":      {write: writeTaxonomy},
	"count":         {write: writeCount}, // not in the past
	"parent":        {write: writeID},    // of tags within an event
	"urls":          {write: writeTermURLs},
	"collapsed":     {write: writeRepeats}, // of lists that collapse
}

// text is the shown text of a column.
func (s *subject) text(w *Writer, c *Column) string {
	if c.Field.Stored == calendar.TypeText {
		text, _ := s.f.Text(c.Name).In(w.Lang, s.r.Home)
		return text
	}
	return s.f.String(c.Name)
}

// append writes a column with a text.
func (c *Column) append(b []byte, text string, form *canonjson.Escapes) []byte {
	if c.Field.Filled && text == "" {
		return b
	}
	return appendText(append(b, c.key...), text, form)
}

func writeText(w *Writer, b []byte, c *Column, s *subject) []byte {
	return c.append(b, s.text(w, c), plainText)
}

func writeName(w *Writer, b []byte, c *Column, s *subject) []byte {
	return c.append(b, s.text(w, c), nameText)
}

func writeHTML(w *Writer, b []byte, c *Column, s *subject) []byte {
	text := s.text(w, c)
	if c.Field.Filled {
		return c.append(b, paragraphs(text), plainText)
	}
	return appendHTML(append(b, c.key...), text)
}

func writeWall(_ *Writer, b []byte, c *Column, s *subject) []byte {
	return appendWall(b, c.key, s.f.Wall(c.Name))
}

// timeParts are the parts of a time, and where its text has them.
var timeParts = [...]struct {
	key      string
	from, to int
}{
	{`{"year":"`, 0, 4}, {`","month":"`, 5, 7}, {`","day":"`, 8, 10}, {`","hour":"`, 11, 13}, {`","minutes":"`, 14, 16}, {`","seconds":"`, 17, 19},
}

func writeMoment(_ *Writer, b []byte, c *Column, s *subject) []byte {
	b = appendWall(b, c.key, s.f.Wall(c.Name))
	text := b[len(b)-len(`0000-00-00 00:00:00"`):]
	b = append(b, c.more...)
	for i := range timeParts {
		part := &timeParts[i]
		b = append(append(b, part.key...), text[part.from:part.to]...)
	}
	return append(b, `"}`...)
}

func writeStatus(_ *Writer, b []byte, c *Column, s *subject) []byte {
	return c.append(b, string(s.status), plainText)
}

// appendHTML appends a description or excerpt.
func appendHTML(b []byte, s string) []byte {
	if s == "" || strings.Contains(s, "<") || strings.Contains(s, "\n") || strings.Contains(s, "\r") {
		return formats.AppendString(b, paragraphs(s))
	}
	if s = strings.TrimSpace(s); s == "" { // most texts are one paragraph
		return append(b, `""`...)
	}
	b = canonjson.AppendText(append(b, `"<p>`...), s, plainText)
	return append(b, `</p>"`...)
}

func writeWord(_ *Writer, b []byte, c *Column, s *subject) []byte {
	return c.append(b, cmp.Or(s.f.String(c.Name), c.Field.Enum[0]), plainText)
}

func writeBool(_ *Writer, b []byte, c *Column, s *subject) []byte {
	return strconv.AppendBool(append(b, c.key...), s.f.BoolOr(c.Name, c.Field.Initial))
}

func writeID(_ *Writer, b []byte, c *Column, s *subject) []byte {
	return appendID(append(b, c.key...), s.f.ID(c.Name))
}

func writeAuthor(_ *Writer, b []byte, c *Column, s *subject) []byte {
	b = append(append(b, c.key...), '"')
	return append(appendID(b, s.f.ID(c.Name)), '"')
}

func writeImage(_ *Writer, b []byte, c *Column, s *subject) []byte {
	switch url := s.f.String("image_url"); {
	case url != "":
		return formats.AppendJSON(append(b, c.key...), formats.Object{"url", url, "id", s.f.ID(c.Name), "extension", formats.Extension(url)})
	case c.Field.Filled:
		return b
	default:
		return append(append(b, c.key...), "false"...)
	}
}

func writeRecordID(_ *Writer, b []byte, c *Column, s *subject) []byte {
	return appendID(append(b, c.key...), s.r.ID)
}

func writeGlobalID(w *Writer, b []byte, c *Column, s *subject) []byte {
	id := w.Links.globalID(s.r.ID)
	b = formats.AppendString(append(b, c.key...), id)
	return formats.AppendJSON(append(b, c.more...), formats.List{id})
}

func writeURL(_ *Writer, b []byte, c *Column, s *subject) []byte {
	return c.append(b, s.url, plainText)
}

func writeRestURL(w *Writer, b []byte, c *Column, s *subject) []byte {
	return c.append(b, w.Links.Self(s.r), plainText)
}

func writeNothing(_ *Writer, b []byte, c *Column, _ *subject) []byte {
	return append(append(b, c.key...), "[]"...)
}

func writeLanguages(w *Writer, b []byte, c *Column, s *subject) []byte {
	_, lang := s.r.Name(w.Lang)
	b = append(append(formats.AppendString(append(b, c.key...), lang.String()), c.more...), '[')
	for i, l := range s.r.Langs() {
		b = formats.AppendString(formats.AppendComma(b, i), l.String())
	}
	return append(b, ']')
}
