package readmodel

import (
	"cmp"
	"slices"
	"strings"

	"daybook/calendar"
)

// Match states the meaning of the filter tree: whether a live document is
// admitted. It reads document.Record only, and is simple rather than fast.
func Match(filter Filter, document *Document) bool {
	record := document.Record
	field := SchemaOf(record.Kind).Field
	switch f := filter.(type) {
	case And:
		return !slices.ContainsFunc(f, func(part Filter) bool { return !Match(part, document) })
	case Or:
		return slices.ContainsFunc(f, func(part Filter) bool { return Match(part, document) })
	case Not:
		return !Match(f.Filter, document)
	case Term:
		return f.Value != "" && field(f.Field).Keyword(record) == f.Value
	case In:
		return slices.ContainsFunc(field(f.Field).Numbers(record), func(number int64) bool { return slices.Contains(f.IDs, calendar.ID(number)) })
	case Range:
		return slices.ContainsFunc(field(f.Field).Numbers(record), func(number int64) bool {
			return number >= f.Min && number <= f.Max
		})
	case Contains:
		return slices.ContainsFunc(f.Fields, func(name string) bool {
			text := field(name).Keyword(record)
			return text != "" && strings.Contains(text, f.Value)
		})
	case Text:
		return shownTexts(f, record).fit(&f)
	}
	return true // nil
}

// displayedText is a text as a language shows it.
type displayedText struct {
	tokens   []string
	language calendar.Lang // that it is in
}

type texts []displayedText

// shownTexts returns the texts in which a search looks.
func shownTexts(f Text, record *calendar.Record) texts {
	result := make(texts, 0, len(f.Fields))
	for _, name := range f.Fields {
		text, language := SchemaOf(record.Kind).Field(name).Text(record).In(f.Search.Lang, record.Home)
		result = append(result, displayedText{Tokens(text), language})
	}
	return result
}

// fit reports whether the texts fit a search.
func (texts texts) fit(text *Text) bool {
	return !text.Search.IsZero() &&
		!slices.ContainsFunc(text.Search.Must, func(piece Piece) bool { return !texts.have(piece, text.Spelling) }) &&
		!slices.ContainsFunc(text.Search.Not, func(piece Piece) bool { return texts.have(piece, Spelling{}) })
}

// have reports whether a piece fits in one of the texts.
func (texts texts) have(piece Piece, spelling Spelling) bool {
	for _, text := range texts {
		for range piece.fits(text.tokens, text.language, spelling) {
			return true
		}
	}
	return false
}

// key returns the key of a record.
func (sort *Sort) key(record *calendar.Record) (result Key) {
	if sort.Rank != nil {
		return Key{N: int64(sort.Rank.Score(record)), Has: true}
	}
	field := SchemaOf(record.Kind).Field(sort.Field)
	if field.Type == TypeKeyword {
		text := field.Keyword(record)
		return Key{Text: text, Has: text != ""}
	}
	return sort.KeyOf(field.Numbers(record))
}

// KeyOf returns the key of a document that has some numbers in the field.
func (sort *Sort) KeyOf(numbers []int64) (result Key) {
	for _, number := range numbers {
		has := true
		if sort.Least != nil {
			number, has = sort.Least[calendar.ID(number)]
		}
		if has && (!result.Has || number < result.N) {
			result = Key{N: number, Has: true}
		}
	}
	return result
}

// Place returns the place of a record in an order, as Query.After has it.
func Place(order []Sort, record *calendar.Record) []Key {
	keys := make([]Key, len(order))
	for i := range order {
		keys[i] = order[i].key(record)
	}
	return keys
}

// ComparePlaces compares two places in an order.
func ComparePlaces(order []Sort, a, b []Key) int {
	for i := range order {
		if count := order[i].Compare(a[i], b[i]); count != 0 {
			return count
		}
	}
	return 0
}

// Compare orders two values of the key: missing ones come last whatever the direction,
// texts by their UTF-8 bytes.
func (sort *Sort) Compare(a, b Key) int {
	if a.Has != b.Has {
		if a.Has {
			return -1
		}
		return 1
	}
	count := cmp.Or(cmp.Compare(a.N, b.N), strings.Compare(a.Text, b.Text))
	if sort.Desc {
		return -count
	}
	return count
}
