package readmodel

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strings"

	"daybook/calendar"
)

// foldTitle returns a title in the form in which titles are compared: folded, with runs of
// white space as one blank. All signs stay.
func foldTitle(title string) string { return strings.Join(strings.Fields(Fold(title)), " ") }

// titleKey is a number of 63 bits that events share whose names in a language are equal,
// see foldTitle.
func titleKey(l calendar.Lang) Field {
	return Field{Name: FieldTitleKey(l), Type: TypeNumber, From: []string{"title"}, number: func(r *calendar.Record) (int64, bool) {
		name, _ := r.Name(l)
		return keyNumber(foldTitle(name))
	}}
}

// keyNumber is a number of 63 bits that stands for a text.
func keyNumber(text string) (int64, bool) {
	sum := sha256.Sum256([]byte(text))
	return int64(binary.BigEndian.Uint64(sum[:]) & math.MaxInt64), true
}
