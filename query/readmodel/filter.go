package readmodel

import (
	"math"

	"daybook/calendar"
)

// Filter is a node of the neutral filter tree; nil admits everything. Match states its meaning.
type Filter interface{ isFilter() }

// filter makes a struct a Filter.
type filter struct{}

func (filter) isFilter() {}
func (And) isFilter()    {}
func (Or) isFilter()     {}

// And admits what all of its parts admit; an empty And admits everything. A search is cheapest
// as the last part.
type And []Filter

// Or admits what one of its parts admits; an empty Or admits nothing.
type Or []Filter

// Not admits what its part does not.
type Not struct {
	filter

	Filter Filter
}

// Term admits documents of which the keyword is the value.
type Term struct {
	filter

	Field string
	Value string
}

// In admits documents of which a number is one of the values.
type In struct {
	filter

	Field string
	IDs   []calendar.ID
}

// Range admits documents of which a number lies in a span; of AllNumbers it admits those that have
// a number.
type Range struct {
	filter
	Span

	Field string
}

// Span is the numbers from Min to Max.
type Span struct{ Min, Max int64 }

// AllNumbers is the Span of all of them.
var AllNumbers = Span{math.MinInt64, math.MaxInt64}

// AtLeast admits documents of which a field is number or more.
func AtLeast(field string, number int64) Range {
	return Range{Field: field, Span: Span{number, math.MaxInt64}}
}

// AtMost admits documents of which a field is number or less.
func AtMost(field string, number int64) Range {
	return Range{Field: field, Span: Span{math.MinInt64, number}}
}

// Contains admits documents of which a keyword contains Value as a part (search of terms,
// interface 4.7).
type Contains struct {
	filter

	Fields []string
	Value  string
}

// Text admits documents that fit a search (interface 4.7) in the texts shown in
// a language. An Expression without any word admits nothing; it is within the limits.
type Text struct {
	filter
	Spelling

	Fields []string   // all text fields of the kind, or TextName alone
	Search Expression // of which Lang is the language
}
