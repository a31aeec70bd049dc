package render

import (
	"cmp"
	"strings"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
)

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

// appendPost writes a venue (3.2.2) or an organizer (3.3.2).
func (writer *Writer) appendPost(data []byte, linkedView query.LinkedView) []byte {
	fragment := writer.postFragment(linkedView)
	data = append(data, fragment.head...)
	if writer.LD {
		data = append(append(data, `,"json_ld":`...), fragment.tail...)
	}
	return append(data, '}')
}

// postFragment returns a venue or organizer: all of it but the brace at its end, and its
// json_ld.
func (writer *Writer) postFragment(linkedView query.LinkedView) fragment {
	return writer.fragment(linkedView.Record, linkedView.Status, 0, func(data []byte) ([]byte, int) {
		s := &writer.other
		*s = subject{Record: linkedView.Record, status: linkedView.Status, address: writer.Links.Page(linkedView.Record, linkedView.Status)}
		data = writer.appendColumns(data, writer.Layouts.Of[s.Kind], s)
		return writer.appendPostLD(data, s), len(data)
	})
}

func writeCoordinate(_ *Writer, data []byte, column *Column, subject *subject) []byte {
	if _, _, ok := point(subject.Fields); !ok {
		return data
	}
	degrees, _ := subject.Fields.Number(column.Name)
	return formats.AppendJSON(append(data, column.key...), degrees)
}

// point returns the coordinates of a venue when both are stored.
func point(fields calendar.Fields) (latitude, longitude float64, ok bool) {
	latitude, hasLat := fields.Number("geo_lat")
	longitude, hasLng := fields.Number("geo_lng")
	return latitude, longitude, hasLat && hasLng
}
