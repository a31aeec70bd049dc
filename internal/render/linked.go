package render

import (
	"bytes"

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
