package eventstore

// PageBytes is about the most that what a store gives at once holds: a page ends
// with the entry or state that passes it, whatever its limit.
const PageBytes = 4 << 20

// Size is how many bytes the JSON of an entry has.
func (e *Entry) Size() int { return len(e.Fields) + len(e.State) }

// Size is how many bytes the JSON of a state has.
func (s *State) Size() int { return len(s.Record) }

// Sized is a pointer to what pages hold.
type Sized[T any] interface {
	*T
	Size() int
}

// CutPage gives what PageBytes let into a page, one at least.
func CutPage[T any, P Sized[T]](page []T) []T {
	size := 0
	for i := range page {
		if size += P(&page[i]).Size(); size >= PageBytes {
			return page[:i+1]
		}
	}
	return page
}
