package calendar

import "time"

// Input is what was sent, by name, merged from body and query: string (JSON text,
// form or query text), json.Number, bool, nil (null), []any, map[string]any.
type Input map[string]any

// Op is what an input is for.
type Op uint8

// The operations.
const (
	OpCreate       Op = iota
	OpUpdate          // by numeric id
	OpUpdateBySlug    // by slug: no password
)

// Clear is the decoded value of a field that was sent empty and is to be
// cleared.
type Clear struct{}

// Attrs are the decoded values of an input; what was not sent is absent. See
// Form for the Go types.
type Attrs struct {
	Lang Lang // the language whose texts are written
	Set  map[string]any
}

// Ref is a record that an input names or describes: an image, or one element of venue,
// organizer, categories or tags (3.1.5, 3.1.6, 3.5).
type Ref struct {
	Entry  string // as sent, for messages: a slug or name of a term, the URL of an image
	ID     ID     // 0: none was sent, or one that no record has
	IsID   bool   // an id and nothing else
	Inline *Attrs // create fields of the linked kind, nil for images
}

// Cleaner does the text work that needs more than the standard library; the
// implementation is internal/htmltext.
type Cleaner interface {
	// Name reads s as HTML and returns a name: a space for every tag that is not
	// inline, other tags removed (script and style with their content), entities
	// that end in ";" decoded, control characters and characters of direction
	// removed, in normal form C, runs of white space one space, trimmed (2.5).
	Name(text string) string
	// HTML trims s and reduces it to the safe subset (2.5).
	HTML(text string) string
	// ASCII transliterates to ASCII, Chinese included (3.7).
	ASCII(text string) string
}

// Rules are the settings that rules depend on.
type Rules struct {
	Site  *time.Location // site zone
	Clean Cleaner
}

func (rules *Rules) site() Zone { return Zone{Name: rules.Site.String(), Location: rules.Site} }

// Decision is all that a decision may depend on besides the record and the
// attributes. Decode needs the first three fields only.
type Decision struct {
	Rules  *Rules
	Now    time.Time
	Caller Caller

	// Taken reports whether a record other than the one decided on holds the slug
	// in its kind.
	Taken func(kind Kind, id ID, slug string) bool
	// Parent returns the category with an id that a category names as its parent,
	// for cycles and slugs; nil if none exists.
	Parent func(ID) *Record
	// Password is the hash to store; used when Attrs set password.
	Password []byte
	// Err is set by Taken and Parent when they have no answer. It is that of the decision.
	Err error
}
