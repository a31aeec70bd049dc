package calendar

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Apply returns the record (nil before the first change) after a change made at a moment.
// It does not change record. A change that cannot follow is an error: a second ".created", any
// other first change, one of another record, all but an erasure after a deletion, and all
// after an erasure.
func Apply(record *Record, change Change, instant time.Time) (*Record, error) {
	verb, err := change.verb()
	switch {
	case err != nil:
		return nil, err
	case record == nil && verb != Created:
		return nil, fmt.Errorf("apply %s to record %d: it does not exist", change.Name, change.ID)
	case record != nil && verb == Created:
		return nil, fmt.Errorf("apply %s to record %d: it exists", change.Name, change.ID)
	case record == nil:
		record = &Record{ID: change.ID, Kind: change.Kind, Home: change.Home}
	case record.ID != change.ID || record.Kind != change.Kind:
		return nil, fmt.Errorf("apply %s of record %d to %s %d", change.Name, change.ID, record.Kind, record.ID)
	case record.Deleted && (verb != Erased || record.Erased):
		return nil, fmt.Errorf("apply %s to record %d: it is deleted", change.Name, change.ID)
	}
	next := &Record{
		ID: record.ID, Kind: record.Kind, Version: record.Version + 1, Home: record.Home, Changed: instant.UTC().Truncate(time.Millisecond),
		Deleted: verb == Deleted || verb == Erased, Erased: verb == Erased,
	}
	if next.Erased {
		next.Fields = erasedFields(record)
		return next, nil
	}
	next.Fields = make(Fields, len(record.Fields)+len(change.Fields))
	maps.Copy(next.Fields, record.Fields)
	for name, value := range change.Fields {
		set(next.Fields, name, value, value == nil)
	}
	return next, nil
}

// verb returns the last part of the name of a change, which must be one of the
// six for the kind of the change.
func (change Change) verb() (string, error) {
	kind, verb, _ := strings.Cut(change.Name, ".")
	switch verb {
	case Created, Updated, Trashed, Restored, Deleted, Erased:
		if kind != "" && kind == change.Kind.String() {
			return verb, nil
		}
	}
	return "", fmt.Errorf("unknown change %q of kind %q", change.Name, change.Kind)
}

// Claims are all the claims that a record holds: its slug in the space
// "slug/<kind>", the URL of an image in "image", the name of a user in "user",
// the keys by which imports name it in "import". A deleted record holds the
// last ones only, an erased one their hashes.
func Claims(record *Record) []Claim {
	claims := importClaims(record)
	if record.Deleted {
		return claims
	}
	space, key := "slug/"+record.Kind.String(), record.Slug()
	switch record.Kind {
	case KindImage:
		space, key = "image", record.Fields.String("url")
	case KindUser:
		space, key = "user", record.Fields.String("name")
	default:
	}
	if key == "" {
		return claims
	}
	return append([]Claim{{Space: space, Key: key}}, claims...)
}

// TokenClaim is the claim that a user with a token holds besides those of Claims: the user
// is found by it. digest is the SHA-256 of the token, the secret of the record.
func TokenClaim(digest []byte) Claim {
	return Claim{Space: "token", Key: hex.EncodeToString(digest)}
}

// Names are the names that a record is found by: the folded texts of its name in
// the space "name/<kind>", each once, in the order of Langs; none for deleted
// records. Venues, organizers and terms are found by name (interface 3.1.5,
// 3.1.6, 3.4.1); events are not, so they have none. A category is found by its
// PlaceName too, and by ChildrenName of its parent.
func Names(record *Record) []Name {
	if record.Deleted || record.Kind < KindVenue || record.Kind > KindTag {
		return nil
	}
	var names []Name
	for _, text := range record.Fields.Text(record.Kind.NameField()) {
		name := Name{Space: "name/" + record.Kind.String(), Key: Fold(text)}
		if name.Key != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if record.Kind == KindCategory {
		names = append(names, PlaceName(record))
		if parent := record.Fields.ID("parent"); parent != 0 {
			names = append(names, ChildrenName(parent))
		}
	}
	return names
}

// PlaceName is a name that a category alone has, as long as it exists and has
// the same parent, so that a decision about the tree can be guarded by it.
func PlaceName(record *Record) Name {
	return Name{Space: "place/category", Key: record.ID.String() + "/" + record.Fields.ID("parent").String()}
}

// ChildrenName is the name that the child categories of a category are found by.
func ChildrenName(parent ID) Name { return Name{Space: "parent/category", Key: parent.String()} }

// Fold returns the form of a name that names are compared by: trimmed of white
// space and in lower case by strings.ToLower. Accents stay: "Cafe" and "Café"
// are two names.
func Fold(text string) string { return strings.ToLower(strings.TrimSpace(text)) }
