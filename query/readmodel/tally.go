package readmodel

import "daybook/calendar"

// Tally asks what the documents that a query admits have in a field, each document counted
// once for each value.
type Tally struct {
	// Filter admits what is counted among them, nil for all.
	Filter Filter
	// Field is a field of numbers; "": no values are counted.
	Field string
	// Parts are counted by themselves: the documents that each of them admits. None has a
	// search in it.
	Parts []Filter
}

// TallyAnswer is the answer to a Tally.
type TallyAnswer struct {
	Values map[calendar.ID]int // how many documents have a value of the field; not those that none has
	Parts  []int               // by place
}

// Collapse has a query give one document for each group of those that are equal in a
// number, and count groups: the first of the group in the order of the query. Documents
// without the number, and those that Alone admits, are groups of their own.
type Collapse struct {
	Field string
	Alone Filter // has no search in it; nil: none is
}

// Repeats is a group of documents of an event, see Collapse.
type Repeats struct {
	Count       int
	IDs         []calendar.ID // the first MostRepeats of them, in the order of the query
	First, Last calendar.Wall // the earliest and the latest start; NoWall where none has one
}

// MostRepeats is how many ids of a group are told.
const MostRepeats = 100

// Add adds a document to the group, the next one in order, with the key of its start.
func (repeats *Repeats) Add(id calendar.ID, start Key) {
	if repeats.Count++; repeats.Count == 1 {
		repeats.First, repeats.Last = calendar.NoWall, calendar.NoWall // before all
	}
	if len(repeats.IDs) < MostRepeats {
		repeats.IDs = append(repeats.IDs, id)
	}
	if wall := calendar.Wall(start.N); start.Has {
		if repeats.First == calendar.NoWall || wall < repeats.First {
			repeats.First = wall
		}
		repeats.Last = max(repeats.Last, wall)
	}
}
