package render

import (
	"bytes"
	"cmp"
	"strconv"

	"daybook/calendar"
	"daybook/internal/canonjson"
	"daybook/internal/formats"
	"daybook/query"
	"daybook/query/readmodel"
)

// What times and costs are in a blanked event.
const (
	blankWall = `"0000-00-00 00:00:00"`
	blankTime = `{"year":"0000","month":"00","day":"00","hour":"00","minutes":"00","seconds":"00"}`
	blankCost = `{"currency_symbol":"","currency_code":"","currency_position":"","values":[]}`
)

// way is what a way to show a field has besides a key: a second key with an ending, and the
// values of both in a blanked event; an empty text where it says none.
type way struct{ blank, ending, secondBlank string }

var ways = [...]way{
	calendar.ShownWall:       {blank: blankWall},
	calendar.ShownMoment:     {blankWall, "_details", blankTime},
	calendar.ShownZone:       {`""`, "_abbr", `""`},
	calendar.ShownBool:       {blank: `null`},
	calendar.ShownID:         {blank: `0`},
	calendar.ShownAuthor:     {blank: `"0"`},
	calendar.ShownCoordinate: {blank: `0`},
	calendar.ShownCost:       {`""`, "_details", blankCost},
	calendar.ShownImage:      {blank: `false`},
	calendar.ShownTerms:      {blank: `[]`},
	calendar.ShownPosts:      {blank: `[]`},
	calendar.ShownFirst:      {`[]`, "s", `[]`},
}

// computedEndings are those of keys that no field has.
var computedEndings = map[string]string{"global_id": "_lineage", "language": "s"}

// subject is a record that is written, with what several of its columns need.
type subject struct {
	query.LinkedView
	address string
	view    *query.View   // of events
	cost    calendar.Cost // of events, once its column is written
}

func (writer *Writer) subject(linked query.LinkedView) subject {
	return subject{LinkedView: linked, address: writer.Links.Page(linked.Record, linked.Status)}
}

// appendColumns writes a record but for the end of its object.
func (writer *Writer) appendColumns(data []byte, columns []Column, subject *subject) []byte {
	for i := range columns {
		column := &columns[i]
		if column.Blanks && subject.view.Blanked {
			data = append(data, column.blank...)
		} else {
			data = writer.appendColumn(data, column, subject)
		}
	}
	return data
}

// appendColumn writes a column with its keys. Those without a way to show a field are computed.
func (writer *Writer) appendColumn(before []byte, column *Column, subject *subject) []byte {
	field, name, record := column.Field, column.Name, subject.Record
	fields, view := record.Fields, subject.view
	data := append(before, column.key...)
	text, form := "", plainText
	switch field.Shown {
	case calendar.ShownText, calendar.ShownName, calendar.ShownHTML:
		if field.Stored == calendar.TypeText {
			text, _ = fields.Text(name).In(writer.Lang, record.Home)
		} else {
			text = fields.String(name)
		}
		if field.Shown == calendar.ShownName {
			form = nameText
		}
	case calendar.ShownRegion:
		text, form = formats.StateProvince(fields), nameText
	case calendar.ShownWebsite:
		if text, form = fields.String(name), nameText; text == "" {
			text, form = subject.address, plainText
		}
	case calendar.ShownStatus:
		text = string(subject.Status)
	case calendar.ShownWord:
		text = cmp.Or(fields.String(name), field.Enum[0])
	case calendar.ShownWall:
		return appendWall(data, fields.Wall(name))
	case calendar.ShownMoment:
		return appendMoment(data, fields.Wall(name), column.more)
	case calendar.ShownZone:
		zone := writer.Zone(fields.String(name))
		data = append(formats.AppendString(data, zone.Name), column.more...)
		text = zone.Abbreviation(fields.Wall("utc_start_date").UTC())
	case calendar.ShownBool:
		return strconv.AppendBool(data, fields.BoolOr(name, field.Initial))
	case calendar.ShownID:
		return appendID(data, fields.ID(name))
	case calendar.ShownAuthor:
		text = fields.ID(name).String()
	case calendar.ShownCoordinate:
		if _, _, ok := formats.Point(fields); !ok {
			return before
		}
		degrees, _ := fields.Number(name)
		return formats.AppendJSON(data, degrees)
	case calendar.ShownCost:
		subject.cost = calendar.ReadCost(fields.Strings(name), writer.currency)
		data = append(appendText(data, subject.cost.Text, nameText), column.more...)
		return formats.AppendJSON(data, formats.Object{
			"currency_symbol", subject.cost.Symbol, "currency_code", "", "currency_position", subject.cost.Position,
			"values", formats.Whole(formats.ListOf(subject.cost.Values, func(value *string) any { return *value })),
		})
	case calendar.ShownImage:
		if address := fields.String("image_url"); address != "" {
			return formats.AppendJSON(data, formats.Object{"url", address, "id", fields.ID(name), "extension", formats.Extension(address)})
		}
		if field.Filled {
			return before
		}
		return append(data, "false"...)
	case calendar.ShownTerms:
		if name == "tags" {
			return writer.appendEmbedded(before, column.key, view.Tags)
		}
		return writer.appendEmbedded(before, column.key, view.Categories)
	case calendar.ShownPosts:
		return writer.appendEmbedded(before, column.key, view.Organizers)
	case calendar.ShownFirst:
		switch {
		case !writer.wants(column.key):
			data = before
		case len(view.Venues) == 0:
			data = append(data, "[]"...)
		default:
			data = writer.appendLinked(data, view.Venues[0])
		}
		return writer.appendEmbedded(data, column.more, view.Venues)
	default:
		switch name {
		case "id":
			return appendID(data, record.ID)
		case "parent": // of tags within an event
			return appendID(data, fields.ID(name))
		case "global_id":
			id := writer.Links.globalID(record.ID)
			return formats.AppendJSON(append(formats.AppendString(data, id), column.more...), formats.List{id})
		case "url":
			text = subject.address
		case "rest_url":
			text = writer.Links.Self(record)
		case "taxonomy":
			text = "event_" + record.Kind.String()
		case "custom_fields":
			return append(data, "[]"...)
		case "language":
			_, language := record.Name(writer.Lang)
			data = append(append(formats.AppendString(data, language.String()), column.more...), '[')
			for i, language := range record.Langs() {
				data = formats.AppendString(formats.AppendComma(data, i), language.String())
			}
			return append(data, ']')
		case "count":
			if subject.Count == query.NoCount { // in the past
				return before
			}
			return strconv.AppendInt(data, int64(subject.Count), 10)
		case "urls":
			collection, up := writer.Links.Collection(record.Kind), ""
			if parent := fields.ID("parent"); parent != 0 {
				up = collection + "/" + parent.String()
			}
			return formats.AppendJSON(data, formats.Object{"self", writer.Links.Self(record), "collection", collection, "up", formats.OptionalText(up)})
		case "collapsed": // of lists that collapse
			return appendRepeats(before, view.Repeats)
		}
	}
	if text == "" && field.Filled {
		return before
	}
	if field.Shown != calendar.ShownHTML {
		return appendText(data, text, form)
	}
	data = append(data, '"')
	for part := range paragraphs(text) {
		data = canonjson.AppendText(data, part, form)
	}
	return append(data, '"')
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

// appendMoment appends a time and its parts.
func appendMoment(data []byte, wall calendar.Wall, more string) []byte {
	data = appendWall(data, wall)
	text := data[len(data)-len(blankWall):]
	data = append(append(data, more...), blankTime...)
	parts := data[len(data)-len(blankTime):]
	for i, digit := range partDigits {
		parts[digit] = text[textDigits[i]]
	}
	return data
}

// appendRepeats appends the key collapsed of an event with a comma in front, nothing without
// repeats.
func appendRepeats(data []byte, repeats *readmodel.Repeats) []byte {
	if repeats == nil {
		return data
	}
	return formats.AppendJSON(append(data, `,"collapsed":`...), formats.Object{
		"count", repeats.Count, "ids", formats.Whole(formats.ListOf(repeats.IDs, func(id *calendar.ID) any { return *id })),
		"first_start", repeats.First.String(), "last_start", repeats.Last.String(),
	})
}

// fragment is a record as events embed it, in two parts: all of it but the brace at its end,
// and the json_ld of a post. It is never changed. There are few, and they stand in most answers.
type fragment struct {
	fragmentKey

	head, tail []byte
}

// fragmentKey is what a fragment depends on besides the record.
type fragmentKey struct {
	count    int    // terms
	links    uint64 // Links.Secret
	status   calendar.Status
	language calendar.Lang
}

// A record keeps so many fragments, of so many bytes each.
const maxFragments, maxFragment = 4, 8 << 10

// fragment returns a record as an event embeds it, the one that it keeps where there is one.
func (writer *Writer) fragment(linked query.LinkedView) *fragment {
	record, key := linked.Record, fragmentKey{linked.Count, writer.Links.Secret, linked.Status, writer.Lang}
	kept, _ := record.Rendered.Load().([]*fragment)
	for _, made := range kept {
		if made.fragmentKey == key && writer.keeps {
			return made
		}
	}
	layout := writer.Layouts.Of[record.Kind]
	if record.Kind.IsTerm() {
		layout = writer.Layouts.Nested[record.Kind]
	}
	subject := writer.subject(linked)
	data := writer.appendColumns(make([]byte, 0, 1024), layout, &subject)
	head := len(data)
	if record.Kind.IsPost() {
		data = writer.appendPostLD(data, &subject)
	}
	data = bytes.Clone(data)
	made := &fragment{key, data[:head:head], data[head:]}
	if writer.keeps && len(data) <= maxFragment {
		record.Rendered.Store(append([]*fragment{made}, kept[:min(len(kept), maxFragments-1)]...))
	}
	return made
}

// appendLinked writes a venue (3.2.2), an organizer (3.3.2) or a term that an event embeds.
func (writer *Writer) appendLinked(data []byte, linked query.LinkedView) []byte {
	fragment := writer.fragment(linked)
	data = append(data, fragment.head...)
	if writer.LD && linked.Record.Kind.IsPost() {
		data = append(append(data, `,"json_ld":`...), fragment.tail...)
	}
	return append(data, '}')
}

// appendEmbedded writes a key with records that an event embeds, until the answer is full.
func (writer *Writer) appendEmbedded(data []byte, key string, records []query.LinkedView) []byte {
	if !writer.wants(key) {
		return data
	}
	data = append(append(data, key...), '[')
	for i, linked := range records {
		if writer.full(data) {
			break
		}
		data = writer.appendLinked(formats.AppendComma(data, i), linked)
	}
	return append(data, ']')
}
