package httpapi

import (
	"cmp"
	"strconv"

	"daybook/calendar"
	"daybook/internal/canonjson"
)

// What times and costs are in a blanked event.
const (
	blankWall = `"0000-00-00 00:00:00"`
	blankTime = `{"year":"0000","month":"00","day":"00","hour":"00","minutes":"00","seconds":"00"}`
	blankCost = `{"currency_symbol":"","currency_code":"","currency_position":"","values":[]}`
)

// fieldsShown are the ways to show a row.
var fieldsShown = [...]shown{
	calendar.ShownText:       {writeText, []key{{blank: `""`}}},
	calendar.ShownName:       {writeName, []key{{blank: `""`}}},
	calendar.ShownHTML:       {writeHTML, []key{{blank: `""`}}},
	calendar.ShownWall:       {writeWall, []key{{blank: blankWall}}},
	calendar.ShownMoment:     {writeMoment, []key{{blank: blankWall}, {end: "_details", blank: blankTime}}},
	calendar.ShownStatus:     {writeStatus, []key{{blank: `""`}}},
	calendar.ShownWord:       {writeWord, []key{{blank: `""`}}},
	calendar.ShownZone:       {writeZone, []key{{blank: `""`}, {end: "_abbr", blank: `""`}}},
	calendar.ShownBool:       {writeBool, []key{{blank: `null`}}},
	calendar.ShownID:         {writeID, []key{{blank: `0`}}},
	calendar.ShownAuthor:     {writeAuthor, []key{{blank: `"0"`}}},
	calendar.ShownCoordinate: {writeCoordinate, []key{{blank: `0`}}},
	calendar.ShownRegion:     {writeRegion, []key{{blank: `""`}}},
	calendar.ShownCost:       {writeCost, []key{{blank: `""`}, {end: "_details", blank: blankCost}}},
	calendar.ShownWebsite:    {writeWebsite, []key{{blank: `""`}}},
	calendar.ShownImage:      {writeImage, []key{{blank: `false`}}},
	calendar.ShownTerms:      {writeTerms, []key{{blank: `[]`}}},
	calendar.ShownPosts:      {writePosts, []key{{blank: `[]`}}},
	calendar.ShownFirst:      {writeFirst, []key{{blank: `[]`}, {end: "s", blank: `[]`}}},
}

// computed are the keys that no row stands for.
var computed = map[string]shown{
	"id":            {writeRecordID, []key{{}}},
	"global_id":     {writeGlobalID, []key{{}, {end: "_lineage"}}},
	"url":           {writeURL, []key{{}}},
	"rest_url":      {writeRestURL, []key{{}}},
	"custom_fields": {writeNothing, []key{{}}},
	"language":      {writeLanguages, []key{{}, {end: "s"}}},
	"taxonomy":      {writeTaxonomy, []key{{}}},
	"count":         {writeCount, []key{{}}}, // not in the past
	"parent":        {writeID, []key{{}}},    // of tags within an event
	"urls":          {writeTermURLs, []key{{}}},
	"collapsed":     {writeRepeats, []key{{}}}, // of lists that collapse
}

// text is the shown text of a column.
func (s *subject) text(p *renderer, c *column) string {
	if c.field.Translatable {
		text, _ := s.f.Text(c.name).In(p.lang, s.r.Home)
		return text
	}
	return s.f.String(c.name)
}

// append writes a column with a text.
func (c *column) append(b []byte, text string, form *canonjson.Escapes) []byte {
	if c.field.Filled && text == "" {
		return b
	}
	return appendText(append(b, c.key...), text, form)
}

func writeText(p *renderer, b []byte, c *column, s *subject) []byte {
	return c.append(b, s.text(p, c), plainText)
}

func writeName(p *renderer, b []byte, c *column, s *subject) []byte {
	return c.append(b, s.text(p, c), nameText)
}

func writeHTML(p *renderer, b []byte, c *column, s *subject) []byte {
	text := s.text(p, c)
	if c.field.Filled {
		return c.append(b, paragraphs(text), plainText)
	}
	return appendHTML(append(b, c.key...), text)
}

func writeWall(_ *renderer, b []byte, c *column, s *subject) []byte {
	return appendWall(b, c.key, s.f.Wall(c.name))
}

// timeParts are the parts of a time, and where its text has them.
var timeParts = [...]struct {
	key      string
	from, to int
}{
	{`{"year":"`, 0, 4}, {`","month":"`, 5, 7}, {`","day":"`, 8, 10}, {`","hour":"`, 11, 13}, {`","minutes":"`, 14, 16}, {`","seconds":"`, 17, 19},
}

func writeMoment(_ *renderer, b []byte, c *column, s *subject) []byte {
	b = appendWall(b, c.key, s.f.Wall(c.name))
	text := b[len(b)-len(`0000-00-00 00:00:00"`):]
	b = append(b, c.more...)
	for i := range timeParts {
		part := &timeParts[i]
		b = append(append(b, part.key...), text[part.from:part.to]...)
	}
	return append(b, `"}`...)
}

func writeStatus(_ *renderer, b []byte, c *column, s *subject) []byte {
	return c.append(b, string(s.status), plainText)
}

func writeWord(_ *renderer, b []byte, c *column, s *subject) []byte {
	return c.append(b, cmp.Or(s.f.String(c.name), c.field.Enum[0]), plainText)
}

func writeBool(_ *renderer, b []byte, c *column, s *subject) []byte {
	return strconv.AppendBool(append(b, c.key...), s.f.BoolOr(c.name, c.field.Initial))
}

func writeID(_ *renderer, b []byte, c *column, s *subject) []byte {
	return appendID(append(b, c.key...), s.f.ID(c.name))
}

func writeAuthor(_ *renderer, b []byte, c *column, s *subject) []byte {
	b = append(append(b, c.key...), '"')
	return append(appendID(b, s.f.ID(c.name)), '"')
}

func writeImage(_ *renderer, b []byte, c *column, s *subject) []byte {
	switch url := s.f.String("image_url"); {
	case url != "":
		return appendImage(append(b, c.key...), s.f.ID(c.name), url)
	case c.field.Filled:
		return b
	default:
		return append(append(b, c.key...), "false"...)
	}
}

func writeRecordID(_ *renderer, b []byte, c *column, s *subject) []byte {
	return appendID(append(b, c.key...), s.r.ID)
}

func writeGlobalID(p *renderer, b []byte, c *column, s *subject) []byte {
	id := p.root.globalID(s.r.ID)
	b = appendString(append(b, c.key...), id)
	b = append(append(b, c.more...), '[')
	return append(appendString(b, id), ']')
}

func writeURL(_ *renderer, b []byte, c *column, s *subject) []byte {
	return c.append(b, s.url, plainText)
}

func writeRestURL(p *renderer, b []byte, c *column, s *subject) []byte {
	return c.append(b, p.root.self(s.r), plainText)
}

func writeNothing(_ *renderer, b []byte, c *column, _ *subject) []byte {
	return append(append(b, c.key...), "[]"...)
}

func writeLanguages(p *renderer, b []byte, c *column, s *subject) []byte {
	_, lang := s.r.Name(p.lang)
	b = append(append(append(b, c.key...), '"'), lang.String()...)
	b = append(append(append(b, '"'), c.more...), '[')
	for i, l := range s.r.Langs() {
		b = appendComma(b, i)
		b = append(append(append(b, '"'), l.String()...), '"')
	}
	return append(b, ']')
}
