package readmodel

import (
	"cmp"
	"slices"
	"strings"

	"daybook/calendar"
)

// Match states the meaning of the filter tree: whether a live document is
// admitted. It reads d.Record only, and is simple rather than fast.
func Match(f Filter, d *Document) bool {
	r := d.Record
	field := SchemaOf(r.Kind).Field
	switch f := f.(type) {
	case And:
		return !slices.ContainsFunc(f, func(part Filter) bool { return !Match(part, d) })
	case Or:
		return slices.ContainsFunc(f, func(part Filter) bool { return Match(part, d) })
	case Not:
		return !Match(f.Filter, d)
	case Term:
		return f.Value != "" && field(f.Field).Keyword(r) == f.Value
	case In:
		return slices.ContainsFunc(field(f.Field).Numbers(r), func(n int64) bool { return slices.Contains(f.IDs, calendar.ID(n)) })
	case Range:
		return slices.ContainsFunc(field(f.Field).Numbers(r), func(n int64) bool {
			return (f.Min == nil || n >= *f.Min) && (f.Max == nil || n <= *f.Max)
		})
	case Contains:
		return slices.ContainsFunc(f.Fields, func(name string) bool {
			v := field(name).Keyword(r)
			return v != "" && strings.Contains(v, f.Value)
		})
	case Text:
		return matchText(f, r)
	}
	return true // nil
}

func matchText(f Text, r *calendar.Record) bool {
	e, texts := &f.Search, shownTexts(f, r)
	return !e.IsZero() &&
		!slices.ContainsFunc(e.Must, func(p Piece) bool { return texts.typos(p, f.Spelling) == never }) &&
		!slices.ContainsFunc(e.Not, func(p Piece) bool { return texts.typos(p, Spelling{}) == 0 })
}

// shownText is a text as a language shows it.
type shownText struct {
	tokens []string
	lang   calendar.Lang // that it is in
}

type texts []shownText

// shownTexts returns the texts in which a search looks.
func shownTexts(f Text, r *calendar.Record) texts {
	out := make(texts, 0, len(f.Fields))
	for _, name := range f.Fields {
		text, l := SchemaOf(r.Kind).Field(name).Text(r).In(f.Search.Lang, r.Home)
		out = append(out, shownText{Tokens(text), l})
	}
	return out
}

// typos returns the fewest typos with which a piece fits in one of the texts, or never.
func (t texts) typos(p Piece, s Spelling) int {
	least := never
	for i := 0; i < len(t) && least > 0; i++ {
		least = min(least, p.typos(t[i].tokens, t[i].lang, s))
	}
	return least
}

// Compare orders two documents of one kind by the keys of a query: -1, 0 or 1.
// Documents that are equal by all keys stand by id ascending.
func Compare(order []Sort, a, b *Document) int {
	return cmp.Or(ComparePlaces(order, Place(order, a.Record), Place(order, b.Record)), cmp.Compare(a.Record.ID, b.Record.ID))
}

// key returns the key of a record.
func (k *Sort) key(r *calendar.Record) (out Key) {
	if k.Rank != nil {
		return Key{N: int64(k.Rank.Score(r)), Has: true}
	}
	f := SchemaOf(r.Kind).Field(k.Field)
	if f.Type == TypeKeyword {
		text := f.Keyword(r)
		return Key{Text: text, Has: text != ""}
	}
	return k.KeyOf(f.Numbers(r))
}

// KeyOf returns the key of a document that has some numbers in the field.
func (k *Sort) KeyOf(numbers []int64) (out Key) {
	for _, n := range numbers {
		has := true
		if k.Least != nil {
			n, has = k.Least[calendar.ID(n)]
		}
		if has && (!out.Has || n < out.N) {
			out = Key{N: n, Has: true}
		}
	}
	return out
}

// Place returns the place of a record in an order, as Query.After has it.
func Place(order []Sort, r *calendar.Record) []Key {
	out := make([]Key, len(order))
	for i := range order {
		out[i] = order[i].key(r)
	}
	return out
}

// ComparePlaces compares two places in an order.
func ComparePlaces(order []Sort, a, b []Key) int {
	for i := range order {
		if c := order[i].Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// Compare orders two values of the key: missing ones come last whatever the direction,
// texts by their UTF-8 bytes.
func (k *Sort) Compare(a, b Key) int {
	switch {
	case !a.Has && !b.Has:
		return 0
	case !b.Has:
		return -1
	case !a.Has:
		return 1
	}
	c := cmp.Or(cmp.Compare(a.N, b.N), strings.Compare(a.Text, b.Text))
	if k.Desc {
		return -c
	}
	return c
}
