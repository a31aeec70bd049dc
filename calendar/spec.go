package calendar

// Type is how a value is stored; see Fields for the Go types.
type Type uint8

// The types of stored values. The zero Type marks a row that no record stores
// (the language selector, the password).
const (
	TypeString Type = iota + 1
	TypeText
	TypeBool
	TypeNumber
	TypeID
	TypeIDs
	TypeStrings
	TypeWall
)

// Form is how a sent value is read and checked (interface 2.2, 2.4, 2.5, 3).
// The Go type of the decoded value in Attrs follows it.
type Form uint8

// The forms, with the Go type that Decode leaves in Attrs.
const (
	FormNone     Form = iota // cannot be sent: computed or stored by the service
	FormName                 // string: cleaned as a name
	FormDetail               // string: cleaned as a venue or organizer detail
	FormHTML                 // string: reduced to the safe subset
	FormSlug                 // string: as sent; made a slug by the decision
	FormDate                 // Date
	FormStatus               // Status
	FormWord                 // string: one of Enum; the first one is Clear, which is not stored
	FormZone                 // Zone
	FormBool                 // bool
	FormCost                 // []string: the costs as sent, trimmed and cleaned
	FormURL                  // string: website of venues and organizers
	FormEventURL             // string: website of events (&amp; read as &)
	FormEmail                // string
	FormImage                // []Ref of one; after resolving ID, and image_url
	FormTerms                // []Ref; after resolving []ID
	FormLinks                // []Ref; after resolving []ID
	FormAuthor               // ID
	FormParent               // ID: post_parent, parent of a category; 0 clears
	FormDegrees              // float64: from -Max to Max
	FormPassword             // string, plain; hashed by command
	FormLang                 // Lang: the language selector
)

// String returns the word of a form in the field tables.
func (form Form) String() string { return formWords[form] }

// Empty says what null and empty text mean for a field (interface 2.3).
type Empty uint8

// The meanings of empty.
const (
	EmptyRefused Empty = iota // 400
	EmptyClears               // as if not sent on create, cleared on update
	EmptyNull                 // null: not sent; empty text: 400 (organizer fields of 3.3.1)
)

// Display is how answers show a field. The keys are named after the row.
type Display uint8

// The ways to show a field.
const (
	ShownNever      Display = iota + 1 // in no answer
	ShownText                          // a text
	ShownName                          // a text with & < > escaped (interface 2.5)
	ShownHTML                          // a text with paragraphs (interface 2.5)
	ShownWall                          // a time (interface 1.5)
	ShownMoment                        // a time, its parts as <name>_details
	ShownStatus                        // the status that holds
	ShownWord                          // one of Enum, the first one where the record has none
	ShownZone                          // its name, the abbreviation as <name>_abbr
	ShownBool                          // true or false
	ShownID                            // a number, 0 for none
	ShownAuthor                        // an id as text
	ShownCoordinate                    // a number, where the other coordinate is there too
	ShownRegion                        // stateprovince: sent, or made of other rows
	ShownCost                          // a text, its parts as <name>_details
	ShownWebsite                       // that of an event, else its own page
	ShownImage                         // an object, false for none
	ShownTerms                         // list of terms
	ShownPosts                         // list of posts
	ShownFirst                         // the first of a list of posts, all of them as <name>s
)

// String returns the word of a way to show a field in the field tables.
func (shown Display) String() string { return shownWords[shown] }

// Field is one row of a field table of the interface: what the field is in requests,
// in records and in answers. It begins as the row of its Form, so it says what differs.
type Field struct {
	Name      string
	Stored    Type
	Form      Form
	Declared  string // type in the documentation: "string", "integer", "array of integer", "boolean", "number", "" for untyped
	Required  bool   // on create
	Default   string // declared default as JSON text, "" when none is declared
	Empty     Empty
	Extension bool
	Max       int  // characters (interface 9) or degrees, 0 no limit of its own
	NotBySlug bool // ignored in updates by slug (password)
	Enum      []string
	Initial   bool    // of booleans: the value of a new record, and of one that was made before the row
	Shown     Display // in answers
	Filled    bool    // answers leave it out while it is empty
	Links     Kind    // of the records that it names
	Stays     bool    // in blanked events, too (interface 6.3); what does not say so is blank there
}

// Spec is the field table of a kind. Rows with FormNone are stored but cannot be
// sent.
type Spec struct {
	Kind   Kind
	Fields []Field
	byName map[string]*Field
	stored []*Field // the rows that a record stores, by name
	texts  []string // the names of those that are translatable
}

// Field finds a row by name, nil if none exists.
func (spec *Spec) Field(name string) *Field {
	if spec == nil {
		return nil
	}
	return spec.byName[name]
}

// SpecOf returns the field table of a kind, nil for none; images and users have
// one too.
func SpecOf(kind Kind) *Spec { return specs[kind] }
