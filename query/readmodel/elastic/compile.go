package elastic

import (
	"errors"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

const (
	// maxTerms is the limit of both engines for the values of one terms query.
	maxTerms = 65_536
	// maxPart is the longest text, in characters, that a wildcard query looks for;
	// engines refuse long ones that repeat themselves.
	maxPart = 64
	// maxClauses is how many clauses the searches of a query may have: OpenSearch takes
	// 1,024 in all.
	maxClauses = 740
)

var (
	matchAll  = object{"match_all": object{}}
	matchNone = object{"match_none": object{}}
)

// compiler makes queries of filters.
type compiler struct {
	// scan calls use with the documents that fit a query: for parts that no query can ask
	// for.
	scan    func(query object, use func([]readmodel.Document) error) error
	clauses int   // of searches, of the present query
	err     error // of scan
}

// query returns the query of a filter.
func (compiler *compiler) query(filter readmodel.Filter) object {
	compiler.clauses = 0
	return compiler.filter(filter)
}

// live returns the live documents that a query admits.
func live(q object) object {
	return object{"bool": object{"filter": list{q}, "must_not": list{term(fieldDeleted, true)}}}
}

// choose admits those of some documents that Match admits.
func (compiler *compiler) choose(among object, filter readmodel.Filter) object {
	var ids []calendar.ID
	compiler.err = errors.Join(compiler.err, compiler.scan(live(among), func(documents []readmodel.Document) error {
		for _, document := range documents {
			if readmodel.Match(filter, document.Record) {
				ids = append(ids, document.Record.ID)
			}
		}
		return nil
	}))
	return in(readmodel.FieldID, ids)
}

func term(field string, value any) object { return object{"term": object{field: value}} }
func not(q object) object                 { return object{"bool": object{"must_not": list{q}}} }
func allOf(parts list) object             { return object{"bool": object{"filter": parts}} }

func anyOf(parts list) object {
	if len(parts) == 0 {
		return matchNone
	}
	return object{"bool": object{"should": parts, "minimum_should_match": 1}}
}

func (compiler *compiler) filters(filters []readmodel.Filter) list {
	result := make(list, len(filters))
	for i, filter := range filters {
		result[i] = compiler.filter(filter)
	}
	return result
}

func (compiler *compiler) filter(filter readmodel.Filter) object {
	switch f := filter.(type) {
	case readmodel.And:
		return allOf(compiler.filters(f))
	case readmodel.Or:
		return anyOf(compiler.filters(f))
	case readmodel.Not:
		return not(compiler.filter(f.Filter))
	case readmodel.Contains:
		return compiler.contains(f)
	case readmodel.Text:
		return compiler.text(f)
	case readmodel.Term:
		if f.Value == "" {
			return matchNone
		}
		return term(f.Field, clip(f.Value))
	case readmodel.In:
		return in(f.Field, f.IDs)
	case readmodel.Range:
		return object{"range": object{f.Field: object{"gte": f.Min, "lte": f.Max}}}
	}
	return matchAll // nil
}

func in(field string, ids []calendar.ID) object {
	var parts list
	for subset := range slices.Chunk(ids, maxTerms) {
		parts = append(parts, object{"terms": object{field: subset}})
	}
	return anyOf(parts)
}

// contains looks for a part in keywords.
func (compiler *compiler) contains(contains readmodel.Contains) object {
	runes := []rune(contains.Value)
	if len(runes) <= maxPart {
		return wildcards(contains.Fields, contains.Value)
	}
	var parts list
	for part := range slices.Chunk(runes, maxPart) {
		parts = append(parts, wildcards(contains.Fields, string(part)))
	}
	return compiler.choose(allOf(parts), contains)
}

var escapeWildcard = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`)

func wildcards(fields []string, part string) object {
	parts := make(list, len(fields))
	for i, field := range fields {
		parts[i] = object{"wildcard": object{field: object{"value": "*" + escapeWildcard.Replace(part) + "*"}}}
	}
	return anyOf(parts)
}
