package readmodel

import (
	"cmp"
	"slices"
	"strings"

	"daybook/calendar"
)

// Match states the meaning of the filter tree: whether the live document of a
// record is admitted. It is simple rather than fast.
func Match(filter Filter, record *calendar.Record) bool {
	field := SchemaOf(record.Kind).Field
	switch f := filter.(type) {
	case And:
		return !slices.ContainsFunc(f, func(part Filter) bool { return !Match(part, record) })
	case Or:
		return slices.ContainsFunc(f, func(part Filter) bool { return Match(part, record) })
	case Not:
		return !Match(f.Filter, record)
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
		return textsOf(f, record).fit(f)
	}
	return true // nil
}

// shownText is a text as a language shows it.
type shownText struct {
	tokens   []string
	language calendar.Lang // that it is in
}

// places returns where a piece of a search fits, in tokens.
func (text shownText) places(piece Piece, spelling Spelling) (places []textSpan) {
	for _, piece := range piece.Spelled(spelling) {
		if piece.Whole && len(text.tokens) != len(piece.Tokens) {
			continue
		}
		most := piece.Most(spelling.Typos)
		for index, token := range text.tokens {
			if piece.begins(text.tokens[index:], text.language) || most > 0 && Typos([]rune(piece.Tokens[0]), []rune(token), most) <= most {
				places = append(places, textSpan{index, index + len(piece.Tokens)})
			}
		}
	}
	return places
}

// begins reports whether some tokens begin with those of the piece.
func (piece Piece) begins(tokens []string, language calendar.Lang) bool {
	if len(tokens) < len(piece.Tokens) {
		return false
	}
	for i, token := range piece.Tokens {
		text := tokens[i]
		begins := text == token || piece.Open && i == len(piece.Tokens)-1 && strings.HasPrefix(text, token)
		// A stem has the first letter of its word.
		if !begins && (piece.Exact || text[0] != token[0] || Stem(text, language) != Stem(token, language)) {
			return false
		}
	}
	return true
}

// shownTexts are those in which a search looks.
type shownTexts []shownText

// textsOf returns the texts of a record in which a search looks.
func textsOf(text Text, record *calendar.Record) shownTexts {
	texts := make(shownTexts, len(text.Fields))
	for i, name := range text.Fields {
		shown, language := SchemaOf(record.Kind).Field(name).Text(record).In(text.Search.Lang, record.Home)
		texts[i] = shownText{Tokens(shown), language}
	}
	return texts
}

// fit reports whether a search fits the texts.
func (texts shownTexts) fit(text Text) bool {
	have := func(piece Piece, spelling Spelling) bool {
		return slices.ContainsFunc(texts, func(shown shownText) bool { return shown.places(piece, spelling) != nil })
	}
	return !text.Search.IsZero() &&
		!slices.ContainsFunc(text.Search.Must, func(piece Piece) bool { return !have(piece, text.Spelling) }) &&
		!slices.ContainsFunc(text.Search.Not, func(piece Piece) bool { return have(piece, Spelling{}) })
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
		sort := &order[i]
		switch field := SchemaOf(record.Kind).Field(sort.Field); {
		case sort.Rank != nil:
			keys[i] = Key{N: int64(sort.Rank.Score(record)), Has: true}
		case field.Keyword != nil:
			text := field.Keyword(record)
			keys[i] = Key{Text: text, Has: text != ""}
		default:
			keys[i] = sort.KeyOf(field.Numbers(record))
		}
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
