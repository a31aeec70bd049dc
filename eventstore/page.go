package eventstore

// PageBytes bounds about what a store returns in one call: a page ends with the entry or
// state that passes it, whatever its limit.
const PageBytes = 4 << 20

// Size returns how many bytes the JSON of an entry has.
func (e *Entry) Size() int { return len(e.Fields) + len(e.State) }

// Size returns how many bytes the JSON of a state has.
func (s *State) Size() int { return len(s.Record) }

// Sized is a pointer to what pages hold.
type Sized[T any] interface {
	*T
	Size() int
}

// CutPage returns the beginning of a page that PageBytes allows, one at least.
func CutPage[T any, P Sized[T]](page []T) []T {
	size := 0
	for i := range page {
		if size += P(&page[i]).Size(); size >= PageBytes {
			return page[:i+1]
		}
	}
	return page
}
