package elastic

import (
	"context"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

const (
	// mostTerms is the limit of both engines for the values of one terms query.
	mostTerms = 65_536
	// mostPart is the longest text, in characters, that a wildcard query looks for;
	// engines refuse long ones that repeat themselves.
	mostPart = 64
)

var (
	matchAll  = object{"match_all": object{}}
	matchNone = object{"match_none": object{}}
)

// compiler makes queries of filters.
type compiler struct {
	schema *readmodel.Schema
	// scan goes through the documents that fit a query: for parts that no query can
	// ask for.
	scan func(ctx context.Context, query object, each func(*readmodel.Document)) error
}

// query gives the whole query: live documents of the kind that the filter admits.
func (c *compiler) query(ctx context.Context, f readmodel.Filter) (object, error) {
	q, err := c.compile(ctx, f)
	if err != nil {
		return nil, err
	}
	return c.live(q), nil
}

func (c *compiler) live(q object) object {
	filter := list{q}
	if collectionOf(c.schema.Kind) == stateName {
		filter = append(filter, term(fieldWhat, c.schema.Kind.String()))
	}
	return object{"bool": object{"filter": filter, "must_not": list{term(fieldDeleted, true)}}}
}

func term(field string, value any) object { return object{"term": object{field: value}} }
func not(q object) object                 { return object{"bool": object{"must_not": list{q}}} }

func all(parts list) object {
	if len(parts) == 1 {
		return parts[0].(object) //nolint:forcetypeassert // only objects are put in
	}
	return object{"bool": object{"filter": parts}}
}

func any1(parts list) object {
	switch len(parts) {
	case 0:
		return matchNone
	case 1:
		return parts[0].(object) //nolint:forcetypeassert // only objects are put in
	}
	return object{"bool": object{"should": parts, "minimum_should_match": 1}}
}

func (c *compiler) compile(ctx context.Context, f readmodel.Filter) (object, error) {
	switch f := f.(type) {
	case readmodel.And:
		return c.and(ctx, f)
	case readmodel.Or:
		parts := make(list, 0, len(f))
		for _, part := range f {
			q, err := c.compile(ctx, part)
			if err != nil {
				return nil, err
			}
			parts = append(parts, q)
		}
		return any1(parts), nil
	case readmodel.Not:
		q, err := c.compile(ctx, f.Filter)
		return not(q), err
	case readmodel.Contains:
		return c.contains(ctx, f)
	case readmodel.Text:
		return c.text(f), nil
	}
	switch f := f.(type) {
	case readmodel.Term:
		return c.term(f), nil
	case readmodel.In:
		return in(f.Field, f.IDs), nil
	case readmodel.Range:
		return between(f), nil
	case readmodel.Exists:
		if c.schema.Field(f.Field).Type == readmodel.TypeText {
			return term(fieldHas, f.Field), nil
		}
		return has(f.Field), nil
	}
	return matchAll, nil // nil
}

func (c *compiler) and(ctx context.Context, f readmodel.And) (object, error) {
	var filter, mustNot list
	for _, part := range f {
		n, negative := part.(readmodel.Not)
		if negative {
			part = n.Filter
		}
		q, err := c.compile(ctx, part)
		if err != nil {
			return nil, err
		}
		if negative {
			mustNot = append(mustNot, q)
		} else {
			filter = append(filter, q)
		}
	}
	b := object{}
	if len(filter) > 0 {
		b["filter"] = filter
	}
	if len(mustNot) > 0 {
		b["must_not"] = mustNot
	}
	if len(b) == 0 {
		return matchAll, nil
	}
	return object{"bool": b}, nil
}

func has(field string) object { return object{"exists": object{"field": field}} }

func (c *compiler) term(f readmodel.Term) object {
	switch {
	case c.schema.Field(f.Field).Type != readmodel.TypeBool:
		if f.Value == "" {
			return matchNone
		}
		return term(f.Field, clip(f.Value))
	case f.Value == "true":
		return term(f.Field, true)
	default:
		return not(term(f.Field, true)) // only true is kept
	}
}

func in(field string, ids []calendar.ID) object {
	var parts list
	for len(ids) > 0 {
		n := min(len(ids), mostTerms)
		parts = append(parts, object{"terms": object{field: ids[:n]}})
		ids = ids[n:]
	}
	return any1(parts)
}

func between(f readmodel.Range) object {
	bounds := object{}
	if f.Min != nil {
		bounds["gte"] = *f.Min
	}
	if f.Max != nil {
		bounds["lte"] = *f.Max
	}
	switch {
	case len(bounds) == 0:
		return has(f.Field)
	case f.Min != nil && f.Max != nil && *f.Min > *f.Max:
		return matchNone
	}
	return object{"range": object{f.Field: bounds}}
}

// contains looks for a part in keywords, case aside.
func (c *compiler) contains(ctx context.Context, f readmodel.Contains) (object, error) {
	runes := []rune(strings.ToLower(f.Value))
	if len(runes) <= mostPart {
		return c.wildcards(f.Fields, string(runes)), nil
	}
	// Few have its pieces; those are looked at here.
	var pieces list
	for from := 0; from < len(runes); from += mostPart {
		pieces = append(pieces, c.wildcards(f.Fields, string(runes[from:min(from+mostPart, len(runes))])))
	}
	var ids []calendar.ID
	err := c.scan(ctx, c.live(all(pieces)), func(d *readmodel.Document) {
		if readmodel.Match(f, d) {
			ids = append(ids, d.Record.ID)
		}
	})
	return in(readmodel.FieldID, ids), err
}

var escapeWildcard = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`)

func (c *compiler) wildcards(fields []string, part string) object {
	pattern := "*" + escapeWildcard.Replace(part) + "*"
	var parts list
	for _, name := range fields {
		for _, field := range []string{name, fieldLower + name} {
			parts = append(parts, object{"wildcard": object{field: object{"value": pattern}}})
		}
	}
	return any1(parts)
}

// text makes the query of a search; see the parts of readmodel.Expression. Its
// limits keep the whole query below the 1,024 parts that OpenSearch takes.
func (c *compiler) text(f readmodel.Text) object {
	e := &f.Search
	if e.IsZero() {
		return matchNone
	}
	t := &textCompiler{schema: c.schema, fields: f.Fields, slots: []string{slotAny, e.Lang.String()}}
	must := make(list, 0, len(e.Must))
	for _, p := range e.Must {
		must = append(must, t.piece(p, f.Spelling))
	}
	mustNot := make(list, 0, len(e.Not))
	for _, p := range e.Not {
		mustNot = append(mustNot, t.piece(p, readmodel.Spelling{}))
	}
	b := object{}
	if len(must) > 0 {
		b["filter"] = must
	}
	if len(mustNot) > 0 {
		b["must_not"] = mustNot
	}
	return object{"bool": b}
}

// textCompiler makes the queries of the pieces of a search.
type textCompiler struct {
	schema *readmodel.Schema
	fields []string
	slots  []string
}

// piece admits documents in whose shown texts a piece fits with a spelling.
func (t *textCompiler) piece(p readmodel.Piece, s readmodel.Spelling) object {
	typos := p.Most(s.Typos)
	var parts list
	for _, slot := range t.slots {
		switch {
		case len(t.fields) == 0:
		case p.IsWord():
			parts = append(parts, object{"regexp": object{fieldWords + slot: object{"value": t.beginning(p.Tokens[0]), "flags": "NONE"}}})
			if typos > 0 {
				parts = t.near(parts, slot, p.Tokens[0], typos)
			}
		case len(p.Tokens) == 1:
			parts = append(parts, object{"terms": object{fieldWords + slot: t.word(p.Tokens[0])}})
		default:
			for _, row := range rowsOf(p.Tokens) {
				for _, field := range t.fields {
					parts = append(parts, object{"match_phrase": object{fieldRows + field + "." + slot: row}})
				}
			}
		}
	}
	return any1(parts)
}

// near adds the queries of the words with typos. Each is whole: with a constant score no
// engine stops after some of the words.
func (t *textCompiler) near(parts list, slot, word string, typos int) list {
	for _, field := range t.fields {
		parts = append(parts, object{"fuzzy": object{fieldWords + slot: object{
			"value": string([]byte{fieldCode(t.schema, field), markWord}) + word, "prefix_length": 2, // the letter of the field and the mark
			"fuzziness": typos, "transpositions": true, "rewrite": "constant_score",
		}}})
	}
	return parts
}

// beginning is the regular expression of the words and stems that begin as a
// word, or its stem, in one of the fields. Words are letters and digits: nothing
// in them has to be escaped.
func (t *textCompiler) beginning(word string) string {
	var b strings.Builder
	b.WriteByte('[')
	for _, field := range t.fields {
		b.WriteByte(fieldCode(t.schema, field))
	}
	b.WriteString("](")
	b.WriteByte(markWord)
	b.WriteString(word)
	for _, l := range calendar.Langs {
		if stemMarks[l] != markWord {
			b.WriteByte('|')
			b.WriteByte(stemMarks[l])
			b.WriteString(readmodel.Stem(word, l))
		}
	}
	b.WriteString(").*")
	return b.String()
}

// word gives the words and stems that a quoted word fits.
func (t *textCompiler) word(word string) []string {
	out := make([]string, 0, len(t.fields)*len(calendar.Langs))
	for _, field := range t.fields {
		code := string(rune(fieldCode(t.schema, field)))
		for _, row := range rowsOf([]string{word}) {
			out = append(out, code+row)
		}
	}
	return out
}

// rowsOf gives tokens as they stand in rows: for each language of a text another
// one, where that makes a difference.
func rowsOf(tokens []string) []string {
	out := make([]string, 0, len(calendar.Langs))
	for _, l := range calendar.Langs {
		var b strings.Builder
		for i, t := range tokens {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(rowToken(t, l))
		}
		known := false
		for _, o := range out {
			known = known || o == b.String()
		}
		if !known {
			out = append(out, b.String())
		}
	}
	return out
}
