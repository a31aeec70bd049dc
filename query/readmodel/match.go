package readmodel

import (
	"cmp"
	"slices"
	"strings"

	"daybook/calendar"
)

// Match states the meaning of the filter tree: whether a live document is
// admitted. It reads d.Record only, and is simple rather than fast. A filter that
// Check refuses has no meaning; Match admits nothing by the part that is wrong.
func Match(f Filter, d *Document) bool {
	s := SchemaOf(d.Record.Kind)
	r := d.Record
	switch f := f.(type) {
	case nil:
		return true
	case And:
		for _, part := range f {
			if !Match(part, d) {
				return false
			}
		}
		return true
	case Or:
		return slices.ContainsFunc(f, func(part Filter) bool { return Match(part, d) })
	case Not:
		return !Match(f.Filter, d)
	}
	if s.check(f) != nil {
		return false
	}
	switch f := f.(type) {
	case Term:
		field := s.Field(f.Field)
		if field.Type == TypeBool {
			return field.Bool(r) == (f.Value == "true")
		}
		return f.Value != "" && field.Keyword(r) == f.Value
	case In:
		if field := s.Field(f.Field); field.Type == TypeComputed {
			n, ok := field.Number(r)
			return ok && slices.Contains(f.IDs, calendar.ID(n))
		}
		return slices.ContainsFunc(s.Field(f.Field).IDs(r), func(id calendar.ID) bool { return slices.Contains(f.IDs, id) })
	case Range:
		n, ok := s.Field(f.Field).Number(r)
		return ok && (f.Min == nil || n >= *f.Min) && (f.Max == nil || n <= *f.Max)
	case Contains:
		part := strings.ToLower(f.Value)
		return slices.ContainsFunc(f.Fields, func(name string) bool {
			v := s.Field(name).Keyword(r)
			return v != "" && strings.Contains(strings.ToLower(v), part)
		})
	case Text:
		return matchText(f, s, r)
	case Exists:
		return exists(s.Field(f.Field), r)
	}
	return false
}

func matchText(f Text, s *Schema, r *calendar.Record) bool {
	e := &f.Search
	if e.IsZero() {
		return false
	}
	texts := shownTexts(f, s, r)
	return !slices.ContainsFunc(e.Must, func(p Piece) bool { return texts.typos(p, f.Spelling) == never }) &&
		!slices.ContainsFunc(e.Not, func(p Piece) bool { return texts.typos(p, Spelling{}) == 0 })
}

// shownText is a text as a language shows it.
type shownText struct {
	tokens []string
	lang   calendar.Lang // that it is in
}

type texts []shownText

// shownTexts returns the texts in which a search looks.
func shownTexts(f Text, s *Schema, r *calendar.Record) texts {
	out := make(texts, 0, len(f.Fields))
	for _, name := range f.Fields {
		text, l := s.Field(name).Text(r).In(f.Search.Lang, r.Home)
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

func exists(f *Field, r *calendar.Record) bool {
	switch f.Type {
	case TypeKeyword:
		return f.Keyword(r) != ""
	case TypeIDs:
		return len(f.IDs(r)) > 0
	case TypeNumber, TypeComputed:
		_, ok := f.Number(r)
		return ok
	case TypeBool, TypeText:
	}
	return false
}

// Compare orders two documents of one kind by the keys of a query: -1, 0 or 1.
// Missing values come last whatever the direction; documents that are equal by
// all keys stand by id ascending. Keywords are compared by their UTF-8 bytes.
func Compare(order []Sort, a, b *Document) int {
	s := SchemaOf(a.Record.Kind)
	for _, k := range order {
		if f := s.Field(k.Field); f != nil && f.Type == TypeKeyword {
			x, y := f.Keyword(a.Record), f.Keyword(b.Record)
			if c := inOrder(cmp.Compare(x, y), x != "", y != "", k.Desc); c != 0 {
				return c
			}
			continue
		}
		x, y := k.Key(a.Record), k.Key(b.Record)
		if c := k.Compare(x, y); c != 0 {
			return c
		}
		if k.Tail && !x.Has {
			break
		}
	}
	return cmp.Compare(a.Record.ID, b.Record.ID)
}

// Key returns the key of a record, in an order that is not by keywords.
func (k *Sort) Key(r *calendar.Record) (out Key) {
	if k.Rank != nil {
		return Key{int64(k.Rank.Score(r)), true}
	}
	f := SchemaOf(r.Kind).Field(k.Field)
	if k.Least == nil {
		out.N, out.Has = f.Number(r)
		return out
	}
	for _, id := range f.IDs(r) {
		if n, ok := k.Least[id]; ok && (!out.Has || n < out.N) {
			out = Key{n, true}
		}
	}
	return out
}

// Place returns the place of a record in an order of numbers, as Query.After has it.
func Place(order []Sort, r *calendar.Record) []Key {
	out := make([]Key, len(order))
	for i := range order {
		out[i] = order[i].Key(r)
	}
	return out
}

// ComparePlaces is Compare of two places in an order that ends with FieldID.
func ComparePlaces(order []Sort, a, b []Key) int {
	last := len(order) - 1
	for i := range order {
		if c := order[i].Compare(a[i], b[i]); c != 0 {
			return c
		}
		if order[i].Tail && !a[i].Has {
			return cmp.Compare(a[last].N, b[last].N)
		}
	}
	return 0
}

// Compare orders two values of the key.
func (k *Sort) Compare(a, b Key) int { return inOrder(cmp.Compare(a.N, b.N), a.Has, b.Has, k.Desc) }

// inOrder is c, turned round for a descending order; missing values come last.
func inOrder(c int, hasA, hasB, desc bool) int {
	switch {
	case !hasA && !hasB:
		return 0
	case !hasA:
		return 1
	case !hasB:
		return -1
	case desc:
		return -c
	default:
		return c
	}
}
