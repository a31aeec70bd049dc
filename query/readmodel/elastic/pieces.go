package elastic

import (
	"math"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// text compiles a search.
func (compiler *compiler) text(text readmodel.Text) object {
	if text.Search.IsZero() {
		return matchNone
	}
	must, mustNot := list{}, list{}
	for _, piece := range text.Search.Must {
		must = append(must, compiler.piece(piece, text))
	}
	text.Spelling = readmodel.Spelling{}
	for _, piece := range text.Search.Not {
		mustNot = append(mustNot, compiler.piece(piece, text))
	}
	return object{"bool": object{"filter": must, "must_not": mustNot}}
}

// fieldsOf returns the fields of the index in which a search looks.
func fieldsOf(text *readmodel.Text) []string {
	field := fieldRows
	if len(text.Fields) == 1 {
		field = fieldName
	}
	return []string{field + slotAny, field + text.Search.Lang.String()}
}

// piece admits documents in which a piece fits as the search allows.
func (compiler *compiler) piece(piece readmodel.Piece, text readmodel.Text) object {
	var terms, rows, beginnings []string
	last := len(piece.Tokens) - 1
	isOpen := piece.Open && isWord(piece.Tokens[last])
	for _, spelled := range piece.Spelled(text.Spelling) {
		switch tokens := spelled.Tokens; {
		case spelled.Whole:
			rows = append(rows, nameStart+" "+plainRow(tokens)+" "+nameEnd)
		case !spelled.Exact:
			for _, language := range calendar.Langs {
				row := rowOf(tokens, language, func(_ int, mark byte) bool { return mark == stemMarks[language] })
				if row = strings.TrimPrefix(row, hole+" "); last == 0 {
					terms = append(terms, row)
					continue
				}
				rows = append(rows, row)
				if isOpen {
					beginnings = append(beginnings, rowOf(tokens, language, func(i int, mark byte) bool {
						return i < last && mark == stemMarks[language] || i == last && mark == markPlain
					}))
				}
			}
			rows = slices.Compact(rows) // characters are the same in every language
		case len(tokens) == 1:
			terms = append(terms, string(markPlain)+tokens[0])
		case len(tokens) == 2 && isWord(tokens[0]) && isWord(tokens[1]):
			terms = append(terms, string(markJoined)+tokens[0]+tokens[1])
		default:
			rows = append(rows, plainRow(tokens))
		}
	}
	terms = slices.Compact(terms)
	var parts list
	for _, field := range fieldsOf(&text) {
		if terms != nil {
			parts = append(parts, object{"terms": object{field: terms}})
		}
		for _, row := range rows {
			parts = append(parts, object{"match_phrase": object{field: row}})
		}
		for _, row := range beginnings {
			parts = append(parts, object{"match_phrase_prefix": object{field: object{"query": row, "max_expansions": math.MaxInt32}}})
		}
		if isOpen && last == 0 {
			parts = append(parts, object{"prefix": object{field: string(markPlain) + piece.Tokens[0]}})
		}
		if typos := piece.Most(text.Typos); typos > 0 {
			// With a constant score no engine stops after some of the words.
			parts = append(parts, object{"fuzzy": object{field: object{
				"value": string(markPlain) + piece.Tokens[0], "prefix_length": 1, // the mark
				"fuzziness": typos, "transpositions": true, "rewrite": "constant_score",
			}}})
		}
	}
	clauses := len(parts) + 2*len(beginnings)*last // that of a beginning is one for each token
	if compiler.clauses+clauses > maxClauses && last > 0 && (isOpen || piece.IsRun()) {
		return compiler.chosen(piece, text)
	}
	compiler.clauses += clauses
	return anyOf(parts)
}

// plainRow returns words as they stand in a row without stems.
func plainRow(words []string) string {
	return rowOf(words, calendar.LangCN, func(_ int, mark byte) bool { return mark == markPlain })
}

// chosen is piece for one of too many clauses: it is looked for in the documents that have
// a part of it which it never fits without.
func (compiler *compiler) chosen(piece readmodel.Piece, text readmodel.Text) object {
	last := len(piece.Tokens) - 1
	parts := [][]string{piece.Tokens[:last]}
	if piece.IsRun() { // something may stand inside of one half
		parts = [][]string{piece.Tokens[:last/2], piece.Tokens[last/2:]}
	}
	for _, joined := range piece.Spelled(text.Spelling)[1:] {
		if len(joined.Tokens) == 1 {
			parts = append(parts, joined.Tokens)
		}
	}
	among := make(list, len(parts))
	for i, tokens := range parts {
		among[i] = compiler.piece(readmodel.Piece{Tokens: tokens}, text)
	}
	text.Search = readmodel.Expression{Lang: text.Search.Lang, Must: []readmodel.Piece{piece}}
	return compiler.choose(anyOf(among), text)
}
