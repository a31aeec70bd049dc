package memindex

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// value is the value of one field of the schema in a document; which part counts
// follows from the type. Texts are kept as sections instead.
type value struct {
	has      bool
	text     string
	number   int64
	ids      []calendar.ID
	lat, lng float64
}

func (v *value) equal(w *value) bool {
	return v.has == w.has && v.text == w.text && v.number == w.number && v.lat == w.lat && v.lng == w.lng &&
		slices.Equal(v.ids, w.ids)
}

// valuesOf gives the values of a record by the place of the field in the schema.
func valuesOf(s *readmodel.Schema, r *calendar.Record) []value {
	out := make([]value, len(s.Fields))
	for i := range s.Fields {
		f, v := &s.Fields[i], &out[i]
		switch f.Type {
		case readmodel.TypeKeyword:
			v.text = strings.Clone(f.Keyword(r)) // kept, and it may lie in the text of the whole record
			v.has = v.text != ""
		case readmodel.TypeBool:
			v.has = f.Bool(r)
		case readmodel.TypeIDs:
			if f.Name != readmodel.FieldID {
				v.ids = f.IDs(r)
				v.has = len(v.ids) > 0
			}
		case readmodel.TypeNumber:
			v.number, v.has = f.Number(r)
			if !v.has {
				v.number = 0
			}
		case readmodel.TypePoint:
			v.lat, v.lng, v.has = f.Point(r)
			if !v.has {
				v.lat, v.lng = 0, 0
			}
		case readmodel.TypeText, readmodel.TypeComputed:
		}
	}
	return out
}

// appendRow keeps values beside the document, so that an update can take them
// out of the index again, and a snapshot needs no record decoded.
func appendRow(b []byte, s *readmodel.Schema, values []value) []byte {
	for i := range values {
		v := &values[i]
		switch s.Fields[i].Type {
		case readmodel.TypeKeyword:
			b = binary.AppendUvarint(b, uint64(len(v.text)))
			b = append(b, v.text...)
		case readmodel.TypeIDs:
			b = binary.AppendUvarint(b, uint64(len(v.ids)))
			for _, id := range v.ids {
				b = binary.AppendVarint(b, int64(id))
			}
		case readmodel.TypeBool:
			b = appendFlag(b, v.has)
		case readmodel.TypeNumber:
			if b = appendFlag(b, v.has); v.has {
				b = binary.AppendVarint(b, v.number)
			}
		case readmodel.TypePoint:
			if b = appendFlag(b, v.has); v.has {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v.lat))
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v.lng))
			}
		case readmodel.TypeText, readmodel.TypeComputed:
		}
	}
	return b
}

func appendFlag(b []byte, set bool) []byte {
	if set {
		return append(b, 1)
	}
	return append(b, 0)
}

var errRow = errors.New("damaged row")

// readRow reads appendRow into values, which is as long as the schema.
func readRow(b []byte, s *readmodel.Schema, values []value) error {
	r := reader{b: b}
	for i := range values {
		v := &values[i]
		*v = value{}
		switch s.Fields[i].Type {
		case readmodel.TypeKeyword:
			v.text = string(r.bytes(r.uvarint()))
			v.has = v.text != ""
		case readmodel.TypeIDs:
			n := r.uvarint()
			if n > uint64(len(r.b)) {
				return errRow
			}
			if v.has = n > 0; v.has {
				v.ids = make([]calendar.ID, n)
			}
			for j := range v.ids {
				v.ids[j] = calendar.ID(r.varint())
			}
		case readmodel.TypeBool:
			v.has = r.flag()
		case readmodel.TypeNumber:
			if v.has = r.flag(); v.has {
				v.number = r.varint()
			}
		case readmodel.TypePoint:
			if v.has = r.flag(); v.has {
				v.lat, v.lng = r.float(), r.float()
			}
		case readmodel.TypeText, readmodel.TypeComputed:
		}
	}
	if r.bad {
		return errRow
	}
	return nil
}

// reader reads binary values one after the other; bad is set once there were too
// few bytes.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) flag() bool {
	b := r.bytes(1)
	return len(b) == 1 && b[0] == 1
}

func (r *reader) float() float64 {
	b := r.bytes(8)
	if b == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}
