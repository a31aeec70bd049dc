package render

import (
	"bytes"
	"cmp"
	"strings"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
)

// fragmentKey names a rendered record that events embed: everything that its bytes depend
// on. So a change of one record, or of the count of a term, invalidates no other fragment.
type fragmentKey struct {
	id       calendar.ID
	version  int64
	sum      uint64 // calendar.Record.Sum
	count    int    // terms
	links    uint64 // Links.Secret
	status   calendar.Status
	language calendar.Lang
}

// fragment is a rendered record, in two parts: all of it but the brace at its end, and the
// json_ld of a post. It is never changed. There are few, and they stand in most answers.
type fragment struct{ head, tail []byte }

// fragment returns a record as an event embeds it, a cached one where there is one.
func (writer *Writer) fragment(linked query.LinkedView) fragment {
	record := linked.Record
	key := fragmentKey{record.ID, record.Version, record.Sum, linked.Count, writer.Links.Secret, linked.Status, writer.Lang}
	made, cached := writer.fragments.Get(key)
	if cached {
		return made
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
	made = fragment{data[:head:head], data[head:]}
	writer.fragments.Set(key, made)
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

// stateProvince returns stateprovince as answered (3.2.1): the value sent, else the
// state of a place in the United States or in no country, else the province.
func stateProvince(fields calendar.Fields) string {
	state := ""
	switch strings.ToLower(fields.String("country")) {
	case "", "us", "united states":
		state = fields.String("state")
	}
	return cmp.Or(fields.String("stateprovince"), state, fields.String("province"))
}

// point returns the coordinates of a venue when both are stored.
func point(fields calendar.Fields) (latitude, longitude float64, ok bool) {
	latitude, hasLat := fields.Number("geo_lat")
	longitude, hasLng := fields.Number("geo_lng")
	return latitude, longitude, hasLat && hasLng
}
