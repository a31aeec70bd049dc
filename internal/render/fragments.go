package render

import (
	"bytes"

	"daybook/calendar"
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

// fragment is a rendered record, in two parts. It is never changed. There are few, and they
// stand in most answers.
type fragment struct{ head, tail []byte }

// fragment returns a record as an event embeds it: the cached one, else what write appends,
// which returns the end of the head, too.
func (writer *Writer) fragment(record *calendar.Record, status calendar.Status, count int, write func(data []byte) (_ []byte, head int)) fragment {
	key := fragmentKey{id: record.ID, version: record.Version, sum: record.Sum, count: count, links: writer.Links.Secret, status: status, language: writer.Lang}
	if cached, ok := writer.fragments.Get(key); ok {
		return cached
	}
	data, head := write(make([]byte, 0, 1024))
	data = bytes.Clone(data)
	made := fragment{data[:head:head], data[head:]}
	writer.fragments.Set(key, made)
	return made
}
