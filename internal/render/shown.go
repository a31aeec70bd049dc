package render

import (
	"cmp"
	"strconv"

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
	calendar.ShownStatus:     {write: writeText, blank: `""`},
	calendar.ShownWord:       {write: writeText, blank: `""`},
	calendar.ShownZone:       {writeZone, `""`, "_abbr", `""`},
	calendar.ShownBool:       {write: writeBool, blank: `null`},
	calendar.ShownID:         {write: writeID, blank: `0`},
	calendar.ShownAuthor:     {write: writeAuthor, blank: `"0"`},
	calendar.ShownCoordinate: {write: writeCoordinate, blank: `0`},
	calendar.ShownRegion:     {write: writeName, blank: `""`},
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
	"url":           {write: writeText},
	"rest_url":      {write: writeText},
	"custom_fields": {write: writeNothing},
	"language":      {write: writeLanguages, ending: "s"},
	"taxonomy":      {write: writeText},
	"count":         {write: writeCount}, // not in the past
	"parent":        {write: writeID},    // of tags within an event
	"urls":          {write: writeTermURLs},
	"collapsed":     {write: writeRepeats}, // of lists that collapse
}

// text is the shown text of a column.
func (subject *subject) text(writer *Writer, column *Column) string {
	switch field := column.Field; {
	case field.Stored == calendar.TypeText:
		text, _ := subject.Fields.Text(column.Name).In(writer.Lang, subject.Home)
		return text
	case field.Shown == calendar.ShownStatus:
		return string(subject.status)
	case field.Shown == calendar.ShownWord:
		return cmp.Or(subject.Fields.String(column.Name), field.Enum[0])
	case field.Shown == calendar.ShownRegion:
		return stateProvince(subject.Fields)
	case field.Shown != 0:
		return subject.Fields.String(column.Name)
	case column.Name == "taxonomy":
		return "event_" + subject.Kind.String()
	case column.Name == "rest_url":
		return writer.Links.Self(subject.Record)
	default:
		return subject.address
	}
}

// append writes a column with a text.
func (column *Column) append(data []byte, text string, form *canonjson.Escapes) []byte {
	if column.Field.Filled && text == "" {
		return data
	}
	return appendText(append(data, column.key...), text, form)
}

func writeText(writer *Writer, data []byte, column *Column, subject *subject) []byte {
	return column.append(data, subject.text(writer, column), plainText)
}

func writeName(writer *Writer, data []byte, column *Column, subject *subject) []byte {
	return column.append(data, subject.text(writer, column), nameText)
}

func writeHTML(writer *Writer, data []byte, column *Column, subject *subject) []byte {
	return column.append(data, paragraphs(subject.text(writer, column)), plainText)
}

func writeWall(_ *Writer, data []byte, column *Column, subject *subject) []byte {
	return appendWall(data, column.key, subject.Fields.Wall(column.Name))
}

// The digits of a time in its text and in its parts.
var textDigits, partDigits = zeros(blankWall), zeros(blankTime)

// zeros returns where a text has the digit 0.
func zeros(text string) (result []int) {
	for i := range text {
		if text[i] == '0' {
			result = append(result, i)
		}
	}
	return result
}

func writeMoment(_ *Writer, data []byte, column *Column, subject *subject) []byte {
	data = appendWall(data, column.key, subject.Fields.Wall(column.Name))
	text := data[len(data)-len(blankWall):]
	data = append(append(data, column.more...), blankTime...)
	parts := data[len(data)-len(blankTime):]
	for i, digit := range partDigits {
		parts[digit] = text[textDigits[i]]
	}
	return data
}

func writeBool(_ *Writer, data []byte, column *Column, subject *subject) []byte {
	return strconv.AppendBool(append(data, column.key...), subject.Fields.BoolOr(column.Name, column.Field.Initial))
}

func writeID(_ *Writer, data []byte, column *Column, subject *subject) []byte {
	return appendID(append(data, column.key...), subject.Fields.ID(column.Name))
}

func writeAuthor(_ *Writer, data []byte, column *Column, subject *subject) []byte {
	data = append(append(data, column.key...), '"')
	return append(appendID(data, subject.Fields.ID(column.Name)), '"')
}

func writeImage(_ *Writer, data []byte, column *Column, subject *subject) []byte {
	switch address := subject.Fields.String("image_url"); {
	case address != "":
		return formats.AppendJSON(append(data, column.key...), formats.Object{"url", address, "id", subject.Fields.ID(column.Name), "extension", formats.Extension(address)})
	case column.Field.Filled:
		return data
	default:
		return append(append(data, column.key...), "false"...)
	}
}

func writeRecordID(_ *Writer, data []byte, column *Column, subject *subject) []byte {
	return appendID(append(data, column.key...), subject.ID)
}

func writeGlobalID(writer *Writer, data []byte, column *Column, subject *subject) []byte {
	id := writer.Links.globalID(subject.ID)
	data = formats.AppendString(append(data, column.key...), id)
	return formats.AppendJSON(append(data, column.more...), formats.List{id})
}

func writeNothing(_ *Writer, data []byte, column *Column, _ *subject) []byte {
	return append(append(data, column.key...), "[]"...)
}

func writeLanguages(writer *Writer, data []byte, column *Column, subject *subject) []byte {
	_, language := subject.Name(writer.Lang)
	data = append(append(formats.AppendString(append(data, column.key...), language.String()), column.more...), '[')
	for i, l := range subject.Langs() {
		data = formats.AppendString(formats.AppendComma(data, i), l.String())
	}
	return append(data, ']')
}
